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

/* A gradient that is being computed: densities of one or two spins and W, [n][n] each; parts of the
 * gradient, [nucleus_num][3] each, and forces on point charges. */
typedef struct gradient_work {
    size_t size, components; /* n n; 3 nucleus_num */
    int spins;
    double *spin[FMO_SCF_CHANNELS]; /* of RHF the whole density */
    double *weighted, *product;
    double *two_electron, *one_electron, *attraction, *charges;
    double *memory;             /* of all these */
    fmo_gradient_term terms[3]; /* of the two-electron part */
    int term_num;
} gradient_work;

/* Adds factor D F D to W. */
static void add_weighted(fmo_linalg *la, int n, double factor, const double *F, double *D,
                         const gradient_work *w)
{
    const fmo_matrix density = fmo_matrix_of(D, n, n);
    la->ops->multiply(la, factor, fmo_matrix_of(F, n, n), density, 0.0, w->product);
    la->ops->multiply(la, 1.0, density, fmo_matrix_of(w->product, n, n), 1.0, w->weighted);
}

/* Subtracts Z + Z^T from W, where eigenvectors d of the overlap S of normalised functions were
 * dropped: with the nuclei the space of the others, k, turns towards them by u_d^T S' u_k / (s_k -
 * s_d), and the energy is not stationary in that direction. Z = sum u_d u_k^T (u_d^T F D u_k) /
 * (s_k - s_d), FD summed over spins. S: [n][n] memory, vectors: [3][n]. */
static void subtract_dropped(fmo_linalg *la, const double *norm, const fmo_scf_result *r, double *S,
                             double *vectors, const gradient_work *w)
{
    const int n = r->nao;
    double *const value = vectors, *const row = vectors + n, *const z = row + n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) S[(size_t)i * n + j] /= norm[i] * norm[j];
    la->ops->eigen(la, n, S, value);
    for (int d = 0; d < r->dropped && la->error.status == FMO_OK; d++) {
        const double *const u = S + (size_t)d * n;
        for (int j = 0; j < n; j++) {
            row[j] = z[j] = 0.0; /* row: u_d^T F D of normalised functions */
            for (int i = 0; i < n; i++)
                row[j] += u[i] / norm[i] * w->product[i + (size_t)j * n] * norm[j];
        }
        for (int k = r->dropped; k < n; k++) {
            const double *const kept = S + (size_t)k * n, gap = value[k] - value[d];
            double projection = 0.0;
            for (int j = 0; j < n; j++) projection += row[j] * kept[j];
            if (gap > 1e-12) /* else there is no derivative */
                for (int j = 0; j < n; j++) z[j] += projection / gap * kept[j] / norm[j];
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                w->weighted[i + (size_t)j * n] -= u[i] / norm[i] * z[j] + z[i] * u[j] / norm[j];
    }
}

/* Computes the overlap, and corrects W for dropped functions. */
static fmo_status correct_dropped(fmo_linalg *la, const fmo_basis *basis, const fmo_scf_result *r,
                                  const gradient_work *w, fmo_error *err)
{
    const double *const fock[] = {r->fock, r->fock_beta};
    const int n = r->nao;
    double *const S = malloc((w->size + 3 * (size_t)n) * sizeof *S);
    if (!S) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for forces");
    for (int s = 0; s < w->spins; s++)
        la->ops->multiply(la, 1.0, fmo_matrix_of(fock[s], n, n), fmo_matrix_of(w->spin[s], n, n),
                          s ? 1.0 : 0.0, w->product);
    const fmo_status status = fmo_overlap(basis, S, err);
    if (status == FMO_OK) subtract_dropped(la, fmo_basis_ao_norm(basis), r, S, S + w->size, w);
    free(S);
    return status;
}

/* Computes W and the densities of both spins; of RHF D F D / 2. */
static fmo_status make_weighted(const fmo_basis *basis, const fmo_scf_options *o,
                                const fmo_scf_result *r, const gradient_work *w, fmo_error *err)
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
    if (r->dropped) status = correct_dropped(la, basis, r, w, err);
    if (la->error.status != FMO_OK)
        status = fmo_error_set(err, la->error.status, "%s", la->error.message);
    la->ops->close(la);
    return status;
}

/* Returns the mode of the two-electron part: fused if that is the result's and the GPU computes all
 * shells of the basis, else cpu. */
static fmo_mode mode_of(const fmo_scf_input *in, const fmo_scf_result *r)
{
    const int high_l = fmo_basis_shell_from(in->basis, FMO_GPU_ANG_MOM_MAX + 1);
    return r->mode == FMO_MODE_FUSED && high_l < 0 ? FMO_MODE_FUSED : FMO_MODE_CPU;
}

/* Returns the options of a plan for a gradient, which keeps no integrals. */
static fmo_fock_options plan_options(const fmo_scf_options *o, fmo_mode mode)
{
    fmo_fock_options fock;
    fmo_fock_options_init(&fock);
    fock.mode = mode;
    fock.coulomb = FMO_COULOMB_DIRECT;
    if (mode == FMO_MODE_FUSED) {
        fock.device = o->fock.device_num ? o->fock.devices[0] : o->fock.device;
        fock.stream = o->fock.stream;
    }
    fock.cutoff = o->fock.cutoff;
    fock.threads = o->fock.threads;
    fock.memory = o->fock.memory;
    fock.integrals = FMO_INTEGRALS_DIRECT;
    return fock;
}

/* Computes the two-electron part with a plan of its own. */
static fmo_status two_electron(const fmo_scf_input *in, const fmo_scf_options *o,
                               const fmo_scf_result *r, const gradient_work *w, fmo_error *err)
{
    fmo_fock_plan *plan = NULL;
    const fmo_fock_options fock = plan_options(o, mode_of(in, r));
    fmo_status status = fmo_fock_plan_create(in->basis, &fock, &plan, err);
    if (status == FMO_OK)
        status = fmo_fock_gradient(plan, w->terms, w->term_num, w->two_electron, err);
    fmo_fock_plan_destroy(plan);
    return status;
}

/* Returns the number of densities and Fock matrices of a result. */
static int spins_of(const fmo_scf_result *r)
{
    return r->unrestricted || r->restricted ? 2 : 1;
}

/* Allocates the work of a gradient; free w->memory. */
static fmo_status allocate(const fmo_scf_input *in, const fmo_scf_result *r, gradient_work *w,
                           fmo_error *err)
{
    *w = (gradient_work){.size = (size_t)r->nao * (size_t)r->nao,
                         .components = 3 * (size_t)fmo_basis_nucleus_num(in->basis),
                         .spins = spins_of(r)};
    w->memory = calloc(4 * w->size + 3 * w->components + 3 * in->charge_num, sizeof *w->memory);
    if (!w->memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for forces");
    w->spin[0] = w->memory;
    w->spin[1] = w->spin[0] + w->size;
    w->weighted = w->spin[1] + w->size;
    w->product = w->weighted + w->size;
    w->two_electron = w->product + w->size;
    w->one_electron = w->two_electron + w->components;
    w->attraction = w->one_electron + w->components;
    w->charges = w->attraction + w->components;
    w->terms[0] = (fmo_gradient_term){
        .density = r->density, .coulomb_weight = 1.0, .exchange_weight = w->spins == 1};
    for (int s = 0; s < 2; s++)
        w->terms[1 + s] = (fmo_gradient_term){.density = w->spin[s], .exchange_weight = 2.0};
    w->term_num = 2 * w->spins - 1;
    return FMO_OK;
}

/* Checks the input, and computes all but the two-electron part. */
static fmo_status begin(const fmo_scf_input *in, const fmo_scf_options *o, const fmo_scf_result *r,
                        gradient_work *w, fmo_error *err)
{
    *w = (gradient_work){0};
    fmo_status status = fmo_scf_check_forces(in, err);
    if (status == FMO_OK) status = allocate(in, r, w, err);
    if (status == FMO_OK) status = make_weighted(in->basis, o, r, w, err);
    if (status == FMO_OK)
        status =
            fmo_one_electron_gradient(in->basis, r->density, w->weighted, w->one_electron, err);
    if (status == FMO_OK && in->charge_num)
        status = fmo_charge_attraction_gradient(in->basis, r->density, in->charge_num, in->charge,
                                                in->charge_coord, w->attraction, w->charges, err);
    return status;
}

/* Adds up the parts. */
static void add_up(const gradient_work *w, const fmo_scf_input *in, double *gradient,
                   double *charge_gradient)
{
    for (size_t k = 0; k < w->components; k++)
        gradient[k] = w->one_electron[k] + w->attraction[k] + w->two_electron[k];
    if (charge_gradient)
        memcpy(charge_gradient, w->charges, 3 * in->charge_num * sizeof *charge_gradient);
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
    gradient_work w;
    status = begin(input, o, result, &w, err);
    if (status == FMO_OK) status = two_electron(input, o, result, &w, err);
    if (status == FMO_OK) add_up(&w, input, gradient, charge_gradient);
    free(w.memory);
    return status;
}

/* Allocates the arrays of a result's forces, which it does not have yet. */
static fmo_status allocate_forces(const fmo_scf_input *in, fmo_scf_result *r, fmo_error *err)
{
    const size_t nuclei = (size_t)fmo_basis_nucleus_num(in->basis);
    r->nuclear_gradient = malloc(3 * nuclei * sizeof *r->nuclear_gradient);
    if (in->charge_num)
        r->charge_gradient = malloc(3 * in->charge_num * sizeof *r->charge_gradient);
    if (!r->nuclear_gradient || (in->charge_num && !r->charge_gradient))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for forces");
    r->charge_num = in->charge_num;
    r->nucleus_num = (int)nuclei;
    return FMO_OK;
}

/* Computes the forces of a result that has converged, if they are requested and it has none;
 * without them there is no result. */
fmo_status fmo_scf_add_forces(const fmo_scf_input *in, const fmo_scf_options *o,
                              fmo_scf_result **result, fmo_error *err)
{
    fmo_scf_result *const r = *result;
    if (!o || !o->forces || !r || !r->converged || r->nuclear_gradient) return FMO_OK;
    const double start = driver_seconds();
    fmo_status status = allocate_forces(in, r, err);
    if (status == FMO_OK)
        status = fmo_scf_gradient(in, o, r, r->nuclear_gradient, r->charge_gradient, err);
    if (status == FMO_OK) {
        r->forces_seconds = driver_seconds() - start;
        r->seconds += r->forces_seconds;
        return FMO_OK;
    }
    fmo_scf_result_destroy(r);
    *result = NULL;
    return status;
}

/* ---- with other SCFs ------------------------------------------------------------------------ */

/* The forces of one of several SCFs. */
typedef struct batch_forces {
    const fmo_scf_input *in;
    fmo_scf_options options; /* with one thread */
    fmo_scf_result *r;
    gradient_work w;
    fmo_status status;
    fmo_error err;
} batch_forces;

/* Computes what belongs to the host: all but the two-electron part, and this too if it is one of
 * mode cpu. */
static void on_host(void *user)
{
    batch_forces *const f = user;
    f->status = allocate_forces(f->in, f->r, &f->err);
    if (f->status == FMO_OK) f->status = begin(f->in, &f->options, f->r, &f->w, &f->err);
    if (f->status == FMO_OK && mode_of(f->in, f->r) != f->r->mode)
        f->status = two_electron(f->in, &f->options, f->r, &f->w, &f->err);
}

/* Computes the forces together with those of other SCFs, whose host parts have a thread each. */
fmo_status fmo_scf_add_batch_forces(fmo_scf_state *s, const fmo_scf_input *in,
                                    const fmo_scf_options *o, fmo_scf_result *r, fmo_error *err)
{
    const double start = driver_seconds();
    fmo_linalg *const la = s->la;
    batch_forces f = {.in = in, .options = *o, .r = r};
    f.options.fock.threads = 1;
    la->ops->on_host(la, on_host, &f);
    if (f.status == FMO_OK) f.status = la->error.status;
    if (f.status == FMO_OK && mode_of(in, r) == r->mode) {
        f.status = fmo_fock_plan_loosen(s->plan, o->fock.cutoff, &f.err); /* its own cutoff again */
        if (f.status == FMO_OK)
            la->ops->gradient(la, s->plan, f.w.terms, f.w.term_num, f.w.two_electron);
        if (f.status == FMO_OK) f.status = la->error.status;
    }
    if (f.status == FMO_OK) add_up(&f.w, in, r->nuclear_gradient, r->charge_gradient);
    free(f.w.memory);
    r->forces_seconds = driver_seconds() - start;
    if (f.status != FMO_OK && f.err.status != FMO_OK)
        fmo_error_set(err, f.status, "%s", f.err.message);
    return f.status;
}

/* Computes the two-electron parts of all molecules without errors on one GPU, with plans that are
 * made for them. basis, plan, jobs: [num] memory. */
static void two_electron_of_all(batch_forces *f, size_t num, const fmo_fock_options *fock,
                                const fmo_basis **basis, fmo_fock_plan **plan,
                                fmo_gradient_job *jobs)
{
    size_t used = 0, made = 0;
    for (size_t k = 0; k < num; k++)
        if (f[k].status == FMO_OK) basis[used++] = f[k].in->basis;
    if (used) (void)fmo_fock_plan_create_batch(basis, used, fock, plan, NULL);
    for (size_t k = 0, n = 0; k < num; k++) {
        if (f[k].status != FMO_OK) continue;
        if (plan[n])
            jobs[made++] = (fmo_gradient_job){.plan = plan[n],
                                              .terms = f[k].w.terms,
                                              .term_num = f[k].w.term_num,
                                              .gradient = f[k].w.two_electron,
                                              .err = &f[k].err};
        else
            f[k].status = fmo_error_set(&f[k].err, FMO_ERR_MEMORY, "no memory for forces");
        n++;
    }
    (void)fmo_fock_gradient_batch(jobs, made, NULL);
    for (size_t k = 0; k < num; k++)
        if (f[k].status == FMO_OK) f[k].status = f[k].err.status;
    for (size_t n = 0; n < used; n++) fmo_fock_plan_destroy(plan[n]);
}

/* Computes the parts of all molecules, those of the host by a thread for each. */
void fmo_scf_add_forces_of_all(fmo_scf_job *const *jobs, size_t num, const fmo_scf_options *o,
                               int device, int threads)
{
    const double start = driver_seconds();
    batch_forces *const f = calloc(num, sizeof *f);
    const fmo_basis **const basis = calloc(num, sizeof(*basis));
    fmo_fock_plan **const plan = calloc(num, sizeof(*plan));
    fmo_gradient_job *const gradient = calloc(num, sizeof *gradient);
    const int ready = f && basis && plan && gradient, hold = fmo_linalg_one_thread();
    fmo_fock_options fock = plan_options(o, FMO_MODE_FUSED);
    fock.device = device;
    fock.threads = threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t k = 0; k < num * (size_t)ready; k++) {
        f[k] = (batch_forces){.in = &jobs[k]->input, .options = *o, .r = jobs[k]->result};
        f[k].options.fock.threads = 1;
        on_host(&f[k]);
    }
    fmo_linalg_release_threads(hold);
    if (ready && num) two_electron_of_all(f, num, &fock, basis, plan, gradient);
    for (size_t k = 0; k < num; k++) {
        fmo_scf_result *const r = jobs[k]->result;
        const fmo_error none = {FMO_ERR_MEMORY, "no memory for forces"};
        jobs[k]->err = ready ? f[k].err : none;
        jobs[k]->status = jobs[k]->err.status;
        if (jobs[k]->status == FMO_OK) {
            add_up(&f[k].w, f[k].in, r->nuclear_gradient, r->charge_gradient);
            r->forces_seconds = (driver_seconds() - start) / (double)num;
            r->seconds += r->forces_seconds;
        } else {
            fmo_scf_result_destroy(r);
            jobs[k]->result = NULL;
        }
        if (ready) free(f[k].w.memory);
    }
    free(f);
    free(basis);
    free(plan);
    free(gradient);
}
