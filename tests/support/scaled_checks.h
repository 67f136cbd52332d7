/* What must not depend on the scaling of functions: if function i is replaced by f_i times itself
 * and everything else follows, J_ij and K_ij are multiplied by f_i f_j, and energies and numbers of
 * cycles stay. Random molecules for builds, data sets for SCFs. */
#ifndef FMO_TESTS_SCALED_CHECKS_H
#define FMO_TESTS_SCALED_CHECKS_H

#include <fmo/scf.h>

#include "tests/support/calls.h"
#include "tests/support/molecule.h"
#include "tests/support/system.h"

/* How functions are scaled. */
enum { SCALED_ALL_SMALL, SCALED_ALL_LARGE, SCALED_ONE, SCALED_EACH, SCALED_NUM };

/* Powers of ten from 1e-8 to 1e8. */
static inline void scaled_factors(int how, int n, double *f, unsigned long long *seed)
{
    const int one = (int)(check_random(seed) * n);
    for (int i = 0; i < n; i++) {
        const double each = pow(10.0, 16.0 * check_random(seed) - 8.0);
        f[i] = how == SCALED_ALL_SMALL   ? 1e-8
               : how == SCALED_ALL_LARGE ? 1e8
               : how == SCALED_EACH      ? each
               : i == one                ? 1e-4
                                         : 1.0;
    }
}

/* A molecule with s, p and, if requested, d shells, some with the exponents of another, as in
 * general contractions. */
static inline void scaled_system(test_system *s, int with_d, int cartesian,
                                 unsigned long long *seed)
{
    const int shells[3] = {5, 4, with_d ? 2 : 0};
    system_random_d(s, cartesian, 3, shells, 4, 4.0, seed);
    system_add_shell(s, 0, 4, seed);
    system_add_partner(s, seed);
    system_add_partner(s, seed); /* a second contraction of the same primitives */
    if (with_d) system_add_shell(s, 2, 2, seed);
}

/* J and K, one after the other, of a density; 0 after a failed check. */
typedef int (*scaled_build)(const fmo_basis *basis, const fmo_fock_options *o, const double *D,
                            double *JK);

static inline int scaled_build_host(const fmo_basis *basis, const fmo_fock_options *o,
                                    const double *D, double *JK)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    return fock_build(basis, o, D, JK, JK + n * n, NULL);
}

/* Builds with these options, made by `build`; factors go into ao_factor, or, where all are equal,
 * into the primitives. `largest`: of the density of the functions as they are. */
static inline void check_scaled_builds(const char *name, const fmo_fock_options *o, int with_d,
                                       double largest, scaled_build build)
{
    static test_system s, scaled;
    static unsigned long long seed = 2026;
    scaled_system(&s, with_d, with_d && check_random(&seed) < 0.5, &seed);
    fmo_basis *const basis = system_basis(&s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *const D = random_density(n, largest, &seed);
    double *const expected = (double *)malloc(2 * size * sizeof *expected);
    double *const got = (double *)malloc(2 * size * sizeof *got);
    double *const own = (double *)malloc(size * sizeof *own);
    double *const f = (double *)malloc((size_t)n * sizeof *f);
    const int built = build(basis, o, D, expected);
    for (int how = 0; how < SCALED_NUM && built; how++) {
        char label[160];
        snprintf(label, sizeof label, "%s, %s, scaled in way %d", name, with_d ? "spd" : "sp", how);
        scaled = s;
        scaled_factors(how, n, f, &seed);
        if (how == SCALED_ALL_LARGE)
            for (int k = 0; k < s.prims; k++) scaled.coefficient[k] *= f[0];
        else
            for (int i = 0; i < n; i++) scaled.ao_factor[i] *= f[i];
        for (size_t x = 0; x < size; x++) own[x] = D[x] / (f[x / (size_t)n] * f[x % (size_t)n]);
        fmo_basis *const other = system_basis(&scaled);
        if (other && build(other, o, own, got)) {
            for (size_t x = 0; x < 2 * size; x++)
                got[x] /= f[x % size / (size_t)n] * f[x % (size_t)n];
            /* rounding, and at most a quartet whose bound is just the cutoff */
            check_close(label, got, expected, 2 * size, (size_t)n, 2.0 * o->cutoff + 1e-11, 1e-12);
        }
        fmo_basis_destroy(other);
    }
    fmo_basis_destroy(basis);
    free(D);
    free(expected);
    free(got);
    free(own);
    free(f);
}

/* The basis of a data set with its functions scaled. */
static inline fmo_basis *scaled_basis(const fmo_dataset *dataset, const double *f)
{
    fmo_basis_input in = *fmo_dataset_basis_input(dataset);
    double *const factor = (double *)malloc((size_t)in.ao_num * sizeof *factor);
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    for (int i = 0; i < in.ao_num; i++) factor[i] = f[i] * in.ao_factor[i];
    in.ao_factor = factor;
    CHECK(fmo_basis_create(&in, &basis, &err) == FMO_OK, "%s", err.message);
    free(factor);
    return basis;
}

/* Compares an SCF over functions that are scaled by f with the one over the basis set's own: energy
 * and cycles are the same, and matrices follow the functions. */
static inline void check_scaled_result(const char *label, const fmo_scf_result *expected,
                                       const fmo_scf_result *got, const double *f)
{
    const int n = expected->nao;
    const size_t size = (size_t)n * (size_t)n;
    double *const m = (double *)malloc(6 * size * sizeof *m);
    CHECK(got->converged && fabs(got->energy - expected->energy) <= 1e-9,
          "%s: energy %.12f, not %.12f", label, got->energy, expected->energy);
    CHECK(got->cycles == expected->cycles, "%s: %d cycles, not %d", label, got->cycles,
          expected->cycles);
    for (size_t x = 0; x < size; x++) {
        const double ff = f[x / (size_t)n] * f[x % (size_t)n];
        m[x] = got->density[x] * ff;
        m[size + x] = got->fock[x] / ff;
        m[2 * size + x] = got->overlap[x] / ff;
        m[3 * size + x] = got->core_hamiltonian[x] / ff;
        m[4 * size + x] = got->spin_density ? got->spin_density[x] * ff : 0.0;
        m[5 * size + x] = got->spin_density ? got->fock_beta[x] / ff : 0.0;
    }
    check_close(label, m, expected->density, size, (size_t)n, 1e-5, 0.0);
    check_close(label, m + size, expected->fock, size, (size_t)n, 1e-5, 0.0);
    check_close(label, m + 2 * size, expected->overlap, size, (size_t)n, 1e-12, 0.0);
    check_close(label, m + 3 * size, expected->core_hamiltonian, size, (size_t)n, 1e-10, 1e-12);
    if (expected->spin_density) {
        check_close(label, m + 4 * size, expected->spin_density, size, (size_t)n, 1e-5, 0.0);
        check_close(label, m + 5 * size, expected->fock_beta, size, (size_t)n, 1e-5, 0.0);
    }
    free(m);
}

/* A field that is small, symmetric and the same whatever the scale. */
static inline double *scaled_field(int n, const double *f)
{
    double *const U = (double *)malloc((size_t)n * (size_t)n * sizeof *U);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) U[i * n + j] = 1e-3 * cos(i + j) * f[i] * f[j];
    return U;
}

/* SCFs of a data set, of ROHF its triplet, alone and in a batch of `copies` scaled ones. */
static inline void check_scaled_scf(const char *name, const fmo_dataset *dataset,
                                    const fmo_scf_options *options, int copies)
{
    static unsigned long long seed = 7;
    const int n = fmo_basis_ao_num(fmo_dataset_basis(dataset));
    fmo_scf_result *expected = NULL;
    fmo_error err = {FMO_OK, ""};
    double *const f = (double *)malloc((size_t)(copies + 1) * (size_t)n * sizeof *f);
    double **const field = (double **)calloc((size_t)copies + 1, sizeof *field);
    fmo_basis **const basis = (fmo_basis **)calloc((size_t)copies, sizeof *basis);
    fmo_scf_job *const job = (fmo_scf_job *)calloc((size_t)copies, sizeof *job);
    for (int i = 0; i < n; i++) f[copies * n + i] = 1.0;
    field[copies] = scaled_field(n, f + copies * n);
    fmo_scf_input in = {0};
    in.basis = fmo_dataset_basis(dataset);
    in.electron_num = fmo_dataset_electron_num(dataset);
    in.nuclear_repulsion = fmo_basis_nuclear_repulsion(in.basis);
    in.field = field[copies];
    in.multiplicity = options->restricted ? 3 : 0;
    CHECK(fmo_scf_run(&in, options, &expected, &err) == FMO_OK, "%s: %s", name, err.message);
    for (int k = 0; k < copies && expected; k++) {
        scaled_factors(k % SCALED_NUM, n, f + k * n, &seed);
        basis[k] = scaled_basis(dataset, f + k * n);
        field[k] = scaled_field(n, f + k * n);
        job[k].input = in;
        job[k].input.basis = basis[k];
        job[k].input.field = field[k];
    }
    if (expected) {
        CHECK(fmo_scf_run_batch(job, (size_t)copies, options, &err) == FMO_OK, "%s: %s", name,
              err.message);
        for (int k = 0; k < copies; k++) {
            char label[160];
            fmo_scf_result *one = NULL;
            snprintf(label, sizeof label, "%s, number %d of a batch", name, k);
            CHECK(job[k].input.basis == basis[k] && job[k].input.field == field[k],
                  "%s: the caller's input is not as it was", label);
            if (job[k].result) check_scaled_result(label, expected, job[k].result, f + k * n);
            if (k >= SCALED_NUM) continue;
            snprintf(label, sizeof label, "%s, scaled in way %d", name, k);
            const fmo_scf_input input = job[k].input;
            CHECK(fmo_scf_run(&input, options, &one, &err) == FMO_OK, "%s: %s", label, err.message);
            if (one) check_scaled_result(label, expected, one, f + k * n);
            fmo_scf_result_destroy(one);
        }
    }
    for (int k = 0; k < copies; k++) {
        fmo_scf_result_destroy(job[k].result);
        fmo_basis_destroy(basis[k]);
    }
    for (int k = 0; k <= copies; k++) free(field[k]);
    fmo_scf_result_destroy(expected);
    free(f);
    free(field);
    free(basis);
    free(job);
}

#endif
