/* The derivative of a converged SCF energy with respect to the nuclei (Pulay, Mol. Phys. 17, 197
 * (1969)): one-electron and two-electron parts at the density of the result, and the overlap's with
 * the energy-weighted density W = D F D, which is sum e C C^T without orbitals, and belongs to
 * exactly this density; of both spins it is the sum, for ROHF, too, where F_b does not couple
 * closed and open orbitals. docs/explanation/gradients.md. */
#include <fmo/gradient.h>
#include <fmo/one_electron.h>
#include <fmo/one_electron_gradient.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "driver/base/clock.h"
#include "driver/scf/input.h"
#include "driver/scf/scf_internal.h"
#include "integrals/shell_from.h"

/* A core Hamiltonian of the caller's is taken for that of the basis if it differs by at most this
 * much, relative to its largest element: files have it to about ten digits. */
static const double core_tolerance = 1e-8;

/* Refuses what has no derivative that is known here: matrices of the caller's. */
fmo_status fmo_scf_check_forces(const fmo_scf_input *in, fmo_error *err)
{
    if (in->field || in->projector)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "forces with a %s: its derivative is not known; leave out forces",
                             in->field ? "field" : "projector");
    if (!in->core_hamiltonian) return FMO_OK;
    const size_t n = (size_t)fmo_basis_ao_num(in->basis), size = n * n;
    double *const T = malloc(2 * size * sizeof *T), *const V = T + size;
    double largest = 0.0, difference = 0.0;
    if (!T) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the core Hamiltonian");
    fmo_status status = fmo_kinetic(in->basis, T, err);
    if (status == FMO_OK) status = fmo_nuclear_attraction(in->basis, V, err);
    for (size_t k = 0; status == FMO_OK && k < size; k++) {
        largest = fmax(largest, fabs(T[k] + V[k]));
        difference = fmax(difference, fabs(in->core_hamiltonian[k] - T[k] - V[k]));
    }
    free(T);
    if (status != FMO_OK || difference <= core_tolerance * largest) return status;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "forces with a core Hamiltonian of the input's own (it differs from that "
                         "of basis and nuclei by %.1e hartree): its derivative is not known; leave "
                         "out forces",
                         difference);
}

/* Memory of a gradient: densities of one or two spins and W, [n][n] each; parts of the gradient. */
typedef struct gradient_work {
    size_t size; /* n n */
    int spins;
    double *spin[FMO_SCF_CHANNELS]; /* of RHF the whole density */
    double *weighted, *product;
    double *two_electron; /* [nucleus_num][3] */
} gradient_work;

/* Adds factor D F D to W. */
static void add_weighted(fmo_linalg *la, int n, double factor, const double *F, double *D,
                         const gradient_work *w)
{
    const fmo_matrix density = fmo_matrix_of(D, n, n);
    la->ops->multiply(la, factor, fmo_matrix_of(F, n, n), density, 0.0, w->product);
    la->ops->multiply(la, 1.0, density, fmo_matrix_of(w->product, n, n), 1.0, w->weighted);
}

/* Computes W and the densities of both spins; of RHF D F D / 2. */
static fmo_status make_weighted(const fmo_scf_options *o, const fmo_scf_result *r,
                                const gradient_work *w, fmo_error *err)
{
    fmo_linalg *la = NULL;
    const double *const fock[] = {r->fock, r->fock_beta};
    const int threads =
        o->fock.scatter == FMO_SCATTER_FIXED ? 1 : fmo_fock_threads(o->fock.threads);
    fmo_status status = fmo_linalg_open_cpu(threads, &la, err);
    if (status != FMO_OK) return status;
    memset(w->weighted, 0, w->size * sizeof *w->weighted);
    for (size_t k = 0; k < w->size && w->spins == 1; k++) w->spin[0][k] = r->density[k];
    for (size_t k = 0; k < w->size && w->spins > 1; k++) {
        w->spin[0][k] = 0.5 * (r->density[k] + r->spin_density[k]);
        w->spin[1][k] = 0.5 * (r->density[k] - r->spin_density[k]);
    }
    for (int s = 0; s < w->spins; s++)
        add_weighted(la, r->nao, w->spins == 1 ? 0.5 : 1.0, fock[s], w->spin[s], w);
    status = la->error.status;
    if (status != FMO_OK) fmo_error_set(err, status, "%s", la->error.message);
    la->ops->close(la);
    return status;
}

/* Computes the two-electron part in mode fused if that is the result's and the basis has no f
 * shells, else on the CPU, with a plan of its own that keeps no integrals. */
static fmo_status two_electron(const fmo_scf_input *in, const fmo_scf_options *o,
                               const fmo_scf_result *r, const gradient_work *w, fmo_error *err)
{
    fmo_fock_plan *plan = NULL;
    fmo_fock_options fock;
    fmo_fock_options_init(&fock);
    const int high_l = fmo_basis_shell_from(in->basis, FMO_UNROLLED_ANG_MOM_MAX + 1);
    fock.mode = r->mode == FMO_MODE_FUSED && high_l < 0 ? FMO_MODE_FUSED : FMO_MODE_CPU;
    fock.coulomb = FMO_COULOMB_DIRECT;
    if (fock.mode == FMO_MODE_FUSED) {
        fock.device = o->fock.device_num ? o->fock.devices[0] : o->fock.device;
        fock.stream = o->fock.stream;
    }
    fock.cutoff = o->fock.cutoff;
    fock.threads = o->fock.threads;
    fock.memory = o->fock.memory;
    fock.integrals = FMO_INTEGRALS_DIRECT;
    fmo_gradient_term terms[3] = {
        {.density = r->density, .coulomb_weight = 1.0, .exchange_weight = w->spins == 1},
        {.density = w->spin[0], .exchange_weight = 2.0},
        {.density = w->spin[1], .exchange_weight = 2.0}};
    fmo_status status = fmo_fock_plan_create(in->basis, &fock, &plan, err);
    if (status == FMO_OK)
        status = fmo_fock_gradient(plan, terms, 2 * w->spins - 1, w->two_electron, err);
    fmo_fock_plan_destroy(plan);
    return status;
}

/* Returns the number of densities and Fock matrices of a result. */
static int spins_of(const fmo_scf_result *r)
{
    return r->unrestricted || r->restricted ? 2 : 1;
}

/* Checks the result, and adds up the parts. */
fmo_status fmo_scf_gradient(const fmo_scf_input *input, const fmo_scf_options *options,
                            const fmo_scf_result *result, double *gradient, double *charge_gradient,
                            fmo_error *err)
{
    static const char call[] = "fmo_scf_gradient";
    fmo_scf_options defaults;
    fmo_scf_options_init(&defaults);
    const fmo_scf_options *const o = options ? options : &defaults;
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(input), FMO_GIVEN(result), FMO_GIVEN(gradient));
    if (status == FMO_OK) status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(input->basis));
    if (status == FMO_OK)
        status =
            FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(result->density), FMO_GIVEN(result->fock));
    if (status == FMO_OK && spins_of(result) > 1)
        status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(result->spin_density),
                                     FMO_GIVEN(result->fock_beta));
    if (status != FMO_OK) return status;
    if (result->nao != fmo_basis_ao_num(input->basis))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%s: nao = %d of the result: expected %d, those of the basis", call,
                             result->nao, fmo_basis_ao_num(input->basis));
    if (!result->converged)
        return fmo_error_set(err, FMO_ERR_CHECK,
                             "no forces: the SCF has not converged, so its energy has no gradient");
    status = fmo_scf_check_forces(input, err);
    if (status != FMO_OK) return status;
    const size_t components = 3 * (size_t)fmo_basis_nucleus_num(input->basis);
    gradient_work w = {.size = (size_t)result->nao * (size_t)result->nao,
                       .spins = spins_of(result)};
    const size_t of_charges = 3 * input->charge_num;
    double *const memory = malloc((4 * w.size + 3 * components + of_charges) * sizeof *memory);
    if (!memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for forces");
    w.spin[0] = memory;
    w.spin[1] = memory + w.size;
    w.weighted = memory + 2 * w.size;
    w.product = memory + 3 * w.size;
    w.two_electron = memory + 4 * w.size;
    double *const one_electron = w.two_electron + components;
    double *const attraction = one_electron + components, *const charges = attraction + components;
    memset(attraction, 0, components * sizeof *attraction);
    status = make_weighted(o, result, &w, err);
    if (status == FMO_OK)
        status =
            fmo_one_electron_gradient(input->basis, result->density, w.weighted, one_electron, err);
    if (status == FMO_OK && input->charge_num)
        status = fmo_charge_attraction_gradient(input->basis, result->density, input->charge_num,
                                                input->charge, input->charge_coord, attraction,
                                                charges, err);
    if (status == FMO_OK) status = two_electron(input, o, result, &w, err);
    for (size_t k = 0; status == FMO_OK && k < components; k++)
        gradient[k] = one_electron[k] + attraction[k] + w.two_electron[k];
    if (status == FMO_OK && charge_gradient)
        memcpy(charge_gradient, charges, of_charges * sizeof *charges);
    free(memory);
    return status;
}

/* Computes the forces of a result that has converged, if they are requested; without them there is
 * no result. */
fmo_status fmo_scf_add_forces(const fmo_scf_input *in, const fmo_scf_options *o,
                              fmo_scf_result **result, fmo_error *err)
{
    fmo_scf_result *const r = *result;
    if (!o || !o->forces || !r || !r->converged) return FMO_OK;
    const double start = driver_seconds();
    const size_t nuclei = (size_t)fmo_basis_nucleus_num(in->basis);
    double *const gradient = malloc(3 * nuclei * sizeof *gradient);
    double *const charges = in->charge_num ? malloc(3 * in->charge_num * sizeof *charges) : NULL;
    const fmo_status status = gradient && (charges || !in->charge_num)
                                  ? fmo_scf_gradient(in, o, r, gradient, charges, err)
                                  : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for forces");
    if (status == FMO_OK) {
        r->charge_num = in->charge_num;
        r->charge_gradient = charges;
        r->nucleus_num = (int)nuclei;
        r->nuclear_gradient = gradient;
        r->forces_seconds = driver_seconds() - start;
        r->seconds += r->forces_seconds;
        return FMO_OK;
    }
    free(gradient);
    free(charges);
    fmo_scf_result_destroy(r);
    *result = NULL;
    return status;
}
