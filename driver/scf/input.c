/* The input of an SCF: names, defaults, checks and hash of its options, checks of the molecule,
 * functions of norm 1, and the notice about a loose cutoff. */
#include <fmo/one_electron.h>

#include "base/names.h"
#include "driver/base/hash.h"
#include "driver/scf/input.h"
#include "driver/scf/scf_internal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FMO_NAMES(fmo_scf_guess, fmo_scf_guess, FMO_SCF_GUESS_TABLE)
FMO_NAMES(fmo_scf_solver, fmo_scf_solver, FMO_SCF_SOLVER_TABLE)
FMO_NAMES(fmo_scf_stability, fmo_scf_stability, FMO_SCF_STABILITY_TABLE)

void fmo_scf_options_init(fmo_scf_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
    fmo_fock_options_init(&options->fock);
    options->fock.cutoff = FMO_SCF_CUTOFF;
    options->fock.integrals = FMO_INTEGRALS_AUTO;
    options->guess = FMO_SCF_GUESS_SAD;
    options->max_cycles = 100;
    options->energy_convergence = 1e-9;
    options->gradient_convergence = 3e-5;
    options->diis_size = 8;
    options->rebuild_cycles = 12;
    options->linear_dependence = 1e-7;
    options->orbitals = 1;
}

/* Checks that a one-electron matrix of the caller is finite and symmetric; name: for the message;
 * NULL is allowed. */
static fmo_status check_matrix(const char *name, const double *M, size_t n, fmo_error *err)
{
    double largest = 0.0;
    for (size_t i = 0; M && i < n * n; i++) {
        if (!isfinite(M[i]))
            return fmo_error_set(err, FMO_ERR_INPUT, "%s[%zu][%zu] = %g: not finite", name, i / n,
                                 i % n, M[i]);
        largest = fmax(largest, fabs(M[i]));
    }
    for (size_t i = 0; M && i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(M[i * n + j] - M[j * n + i]) > 1e-10 * largest)
                return fmo_error_set(
                    err, FMO_ERR_INPUT,
                    "%s[%zu][%zu] - %s[%zu][%zu] = %g: expected a symmetric matrix", name, i, j,
                    name, j, i, M[i * n + j] - M[j * n + i]);
    return FMO_OK;
}

/* Checks that every number in the options is in its range. */
fmo_status fmo_scf_check_options(const fmo_scf_options *o, fmo_error *err)
{
    const struct {
        const char *name;
        int64_t value, min, max;
    } whole[] = {{"guess", o->guess, 0, FMO_SCF_GUESS_COUNT - 1},
                 {"solver", o->solver, 0, FMO_SCF_SOLVER_COUNT - 1},
                 {"stability", o->stability, 0, FMO_SCF_STABILITY_COUNT - 1},
                 {"unrestricted", o->unrestricted, 0, 1},
                 {"restricted", o->restricted, 0, 1},
                 {"guess_mix", o->guess_mix, 0, 1},
                 {"forces", o->forces, 0, 1},
                 {"max_cycles", o->max_cycles, 1, INT_MAX},
                 {"diis_size", o->diis_size, 1, FMO_DIIS_MAX},
                 {"rebuild_cycles", o->rebuild_cycles, 0, INT_MAX}};
    const struct {
        const char *name, *expected;
        double value;
        int good;
    } real[] = {{"energy_convergence", "a positive number", o->energy_convergence,
                 o->energy_convergence > 0.0},
                {"gradient_convergence", "a positive number", o->gradient_convergence,
                 o->gradient_convergence > 0.0},
                {"gradient_aim", "0 or more", o->gradient_aim, o->gradient_aim >= 0.0},
                {"level_shift", "0 or more, and finite", o->level_shift,
                 o->level_shift >= 0.0 && isfinite(o->level_shift)},
                {"linear_dependence", "0 or more, and less than 1", o->linear_dependence,
                 o->linear_dependence >= 0.0 && o->linear_dependence < 1.0}};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        if (whole[k].value < whole[k].min || whole[k].value > whole[k].max)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "fmo_scf_run: %s = %lld: expected %lld to %lld", whole[k].name,
                                 (long long)whole[k].value, (long long)whole[k].min,
                                 (long long)whole[k].max);
    for (size_t k = 0; k < sizeof real / sizeof *real; k++)
        if (!real[k].good)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_scf_run: %s = %g: expected %s",
                                 real[k].name, real[k].value, real[k].expected);
    if (o->restricted && (o->unrestricted || o->guess_mix))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_scf_run: restricted = 1 with %s = 1, which is for UHF: set one "
                             "of them to 0",
                             o->unrestricted ? "unrestricted" : "guess_mix");
    return FMO_OK;
}

/* Hashes the options that must agree on all ranks. */
uint64_t fmo_scf_options_digest(const fmo_scf_options *o)
{
    const fmo_fock_options *const f = &o->fock;
    const double numbers[] = {f->mode,
                              f->reduce,
                              f->cutoff,
                              f->integrals,
                              f->coulomb,
                              f->scatter,
                              f->commit,
                              f->no_overlap,
                              o->guess,
                              o->max_cycles,
                              o->energy_convergence,
                              o->gradient_convergence,
                              o->gradient_aim,
                              o->level_shift,
                              o->diis_size,
                              o->rebuild_cycles,
                              o->linear_dependence,
                              o->solver,
                              o->stability,
                              o->orbitals,
                              o->auto_in_fused,
                              o->loose_fock,
                              o->unrestricted,
                              o->restricted,
                              o->guess_mix,
                              o->forces};
    uint64_t sum = driver_hash_of_nothing;
    driver_hash(&sum, numbers, sizeof numbers);
    return sum;
}

/* Checks that the multiplicity is one that the electrons can have, and that UHF or ROHF does what
 * is requested. */
static fmo_status check_spin(const fmo_scf_input *in, const fmo_scf_options *o, fmo_error *err)
{
    const int multiplicity = in->multiplicity > 0 ? in->multiplicity : 1;
    if (in->multiplicity < 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "multiplicity = %d: expected 1 or more",
                             in->multiplicity);
    if (multiplicity == 1 && in->electron_num % 2)
        return fmo_error_set(
            err, FMO_ERR_INPUT,
            "%d electrons: RHF needs an even number; choose another --charge, or a "
            "multiplicity of 2 or more (open shells)",
            in->electron_num);
    if (multiplicity - 1 > in->electron_num || (in->electron_num - multiplicity + 1) % 2)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%d electrons cannot have multiplicity %d: expected %s of at most %d",
                             in->electron_num, multiplicity,
                             in->electron_num % 2 ? "an even number" : "an odd number",
                             in->electron_num + 1);
    if (fmo_scf_channels(in, o) == 1) return FMO_OK;
    if (in->projector)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "a projector with open shells: only RHF has projectors");
    return FMO_OK;
}

double fmo_scf_nuclear_energy(const fmo_scf_input *in)
{
    return in->nuclear_repulsion +
           fmo_charge_repulsion(in->basis, in->charge_num, in->charge, in->charge_coord);
}

/* Checks options, number of electrons, nuclear repulsion, point charges, field and projector of an
 * input. */
fmo_status fmo_scf_check_input(const fmo_scf_input *in, const fmo_scf_options *o, fmo_error *err)
{
    const int n = fmo_basis_ao_num(in->basis);
    const fmo_status wrong = fmo_scf_check_options(o, err);
    if (wrong != FMO_OK) return wrong;
    if (o->guess == FMO_SCF_GUESS_READ && !in->density)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "guess read needs a density, and there is none; use guess sad");
    if (in->electron_num < 0)
        return fmo_error_set(err, FMO_ERR_INPUT, "the number of electrons is not known");
    if (in->electron_num == 0)
        return fmo_error_set(err, FMO_ERR_INPUT, "no electrons: choose a lower --charge");
    const fmo_status spin = check_spin(in, o, err);
    if (spin != FMO_OK) return spin;
    if (in->electron_num + in->multiplicity - (in->multiplicity > 0) > 2 * n)
        return fmo_error_set(
            err, FMO_ERR_INPUT,
            "%d electrons do not fit into %d functions with this multiplicity: choose a larger "
            "basis or a higher --charge",
            in->electron_num, n);
    if (!isfinite(in->nuclear_repulsion))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "no finite nuclear repulsion: do two nuclei coincide?");
    if (in->charge_num && (!in->charge || !in->charge_coord))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%zu point charges without values or places: charge and charge_coord "
                             "must not be NULL",
                             in->charge_num);
    if (!isfinite(fmo_scf_nuclear_energy(in)))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "no finite energy of nuclei and point charges: is a charge on a "
                             "nucleus?");
    const fmo_status status = check_matrix("field", in->field, (size_t)n, err);
    return status == FMO_OK ? check_matrix("projector", in->projector, (size_t)n, err) : status;
}

/* ---- functions of norm 1 --------------------------------------------------------------------- */

/* Norms within this distance of 1 are left as they are: rounding, and digits of published basis
 * sets. */
static const double norm_tolerance = 1e-9;

static int is_normalised(const fmo_basis *basis)
{
    const double *const norm = fmo_basis_ao_norm(basis);
    for (int i = 0; i < fmo_basis_ao_num(basis); i++)
        if (!(fabs(norm[i] - 1.0) <= norm_tolerance)) return 0;
    return 1;
}

/* M_ij (norm_i norm_j)^power in place: -1 converts operators from the caller's functions to
 * normalised ones, 1 converts densities. */
static void scale_matrix(size_t n, const double *norm, int power, double *M)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            M[i * n + j] =
                power > 0 ? M[i * n + j] * norm[i] * norm[j] : M[i * n + j] / norm[i] / norm[j];
}

/* Makes a scaled copy of a matrix, unless it is NULL. @return 0 if there is no memory */
static int copy_matrix(size_t n, const double *norm, int power, const double *from, double **to,
                       const double **field)
{
    if (!from) return 1;
    *to = malloc(n * n * sizeof **to);
    if (!*to) return 0;
    memcpy(*to, from, n * n * sizeof **to);
    scale_matrix(n, norm, power, *to);
    *field = *to;
    return 1;
}

/* Makes a basis of normalised functions and copies of the matrices in it, if a norm differs from
 * 1. */
fmo_status fmo_scf_normalise(const fmo_scf_input *input, const fmo_scf_options *options,
                             fmo_scf_normal *to, fmo_error *err)
{
    *to = (fmo_scf_normal){0};
    if (input) to->input = *input;
    if (!input || !input->basis || is_normalised(input->basis) ||
        fmo_scf_check_input(input, options, NULL) != FMO_OK)
        return FMO_OK;
    const size_t n = (size_t)fmo_basis_ao_num(input->basis);
    const double *const density = options->guess == FMO_SCF_GUESS_READ ? input->density : NULL;
    to->norm = malloc(n * sizeof *to->norm);
    if (to->norm) memcpy(to->norm, fmo_basis_ao_norm(input->basis), n * sizeof *to->norm);
    if (to->norm && fmo_basis_normalised(input->basis, &to->basis, err) == FMO_OK &&
        copy_matrix(n, to->norm, -1, input->core_hamiltonian, &to->core,
                    &to->input.core_hamiltonian) &&
        copy_matrix(n, to->norm, -1, input->field, &to->field, &to->input.field) &&
        copy_matrix(n, to->norm, -1, input->projector, &to->projector, &to->input.projector) &&
        copy_matrix(n, to->norm, 1, density, &to->density, &to->input.density) &&
        copy_matrix(n, to->norm, 1, input->spin_density, &to->spin_density,
                    &to->input.spin_density)) {
        to->input.basis = to->basis;
        return FMO_OK;
    }
    fmo_scf_normal_free(to);
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCF of %zu functions", n);
}

/* Scales matrices and orbitals of a result over functions of norm 1 to the caller's functions. */
void fmo_scf_from_normal(const fmo_scf_normal *from, fmo_scf_result *r)
{
    const double *const norm = from->norm;
    if (!norm || !r) return;
    const size_t n = (size_t)r->nao;
    scale_matrix(n, norm, -1, r->density);
    scale_matrix(n, norm, 1, r->fock);
    scale_matrix(n, norm, 1, r->overlap);
    scale_matrix(n, norm, 1, r->core_hamiltonian);
    if (r->spin_density) {
        scale_matrix(n, norm, -1, r->spin_density);
        scale_matrix(n, norm, 1, r->fock_beta);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            r->coefficient[k * n + i] /= norm[i];
            if (r->coefficient_beta) r->coefficient_beta[k * n + i] /= norm[i];
        }
}

void fmo_scf_normal_free(fmo_scf_normal *normal)
{
    free(normal->norm);
    fmo_basis_destroy(normal->basis);
    free(normal->core);
    free(normal->field);
    free(normal->projector);
    free(normal->density);
    free(normal->spin_density);
    *normal = (fmo_scf_normal){0};
}

/* ---- cutoff ---------------------------------------------------------------------------------- */

void fmo_scf_note_cutoff(double cutoff, double error_share, double beyond, int nao, double accuracy,
                         char *notice, size_t size)
{
    const double share = error_share * nao, error = share * cutoff;
    char off[48] = "any size";
    notice[0] = '\0';
    if (!(error > accuracy)) return;
    if (cutoff <= beyond) snprintf(off, sizeof off, "%.0e hartree", error);
    snprintf(notice, size,
             "cutoff %g: the energy may have an error of %s (threshold %.0e); choose a cutoff of "
             "at most %.0e",
             cutoff, off, accuracy, pow(10.0, floor(log10(accuracy / share))));
}
