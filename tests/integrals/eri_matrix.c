/* Matrices of all two-electron integrals on the CPU: J and K that are summed from them against
 * builds of a plan; the effect of a cutoff; refused input. Overlap and core Hamiltonian by the code
 * that a GPU runs against those of the CPU. Links internal functions. */
#include <fmo/fock.h>
#include <fmo/one_electron.h>

#include "tests/support/calls.h"
#include "tests/support/eri_matrix_checks.h"
#include "integrals/eri/eri_matrix_body.inc"

static size_t pair(size_t i, size_t j)
{
    return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/* J and K made from the matrix of integrals agree with mode cpu, the matrix is symmetric, and a
 * cutoff changes it by less than 1e-12. */
static void check_system(const char *name)
{
    fmo_dataset *const dataset = read_shipped(name);
    if (!dataset) return;
    const fmo_basis *const basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis), pairs = eri_pairs(basis);
    double *const eri = eri_matrix_of(basis, 0.0), *const few = eri_matrix_of(basis, 1e-14);
    double *const D = malloc(n * n * sizeof *D), *const J = calloc(n * n, sizeof *J);
    double *const K = calloc(n * n, sizeof *K), *const expected_J = malloc(n * n * sizeof *J);
    double *const expected_K = malloc(n * n * sizeof *K);
    unsigned long long seed = 11;
    fmo_fock_options options;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) D[i * n + j] = D[j * n + i] = check_random(&seed) - 0.5;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                for (size_t l = 0; l < n; l++) {
                    J[i * n + j] += eri[pair(i, j) * pairs + pair(k, l)] * D[k * n + l];
                    K[i * n + k] += eri[pair(i, j) * pairs + pair(k, l)] * D[j * n + l];
                }
    fmo_fock_options_init(&options);
    options.mode = FMO_MODE_CPU;
    options.cutoff = 0.0;
    CHECK(fmo_fock_plan_create(basis, &options, &plan, &err) == FMO_OK &&
              fmo_fock_build(plan, D, expected_J, expected_K, &err) == FMO_OK,
          "%s: %s", name, err.message);
    check_close(name, J, expected_J, n * n, n, 1e-11, 1e-12);
    check_close(name, K, expected_K, n * n, n, 1e-11, 1e-12);
    check_close(name, few, eri, pairs * pairs, pairs, 1e-12, 0.0);
    for (size_t p = 0; p < pairs; p++)
        for (size_t q = 0; q < p; q++)
            CHECK(eri[p * pairs + q] == eri[q * pairs + p], "%s: (%zu|%zu)", name, p, q);
    fmo_fock_plan_destroy(plan);
    fmo_dataset_destroy(dataset);
    free(eri);
    free(few);
    free(D);
    free(J);
    free(K);
    free(expected_J);
    free(expected_K);
}

/* The overlap and core Hamiltonian that come with the matrix agree with the functions for them. */
static void check_core(const char *name)
{
    fmo_dataset *const dataset = read_shipped(name);
    if (!dataset) return;
    const fmo_basis *const basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis), pairs = eri_pairs(basis);
    double *const eri = malloc(pairs * pairs * sizeof *eri), *const S = malloc(n * n * sizeof *S);
    double *const H = malloc(n * n * sizeof *H), *const expected_S = malloc(n * n * sizeof *S);
    double *const expected_H = malloc(n * n * sizeof *S);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_eri_matrix_of(basis, 0.0, eri, S, H, &err) == FMO_OK, "%s: %s", name, err.message);
    eri_core_of(basis, expected_S, expected_H);
    check_close(name, S, expected_S, n * n, n, 1e-14, 1e-13);
    check_close(name, H, expected_H, n * n, n, 1e-13, 1e-13);
    fmo_dataset_destroy(dataset);
    free(eri);
    free(S);
    free(H);
    free(expected_S);
    free(expected_H);
}

static void check_refusals(void)
{
    fmo_dataset *const d_shells = read_shipped("h2o_6-31gd"), *const s_p =
                                                                  read_shipped("h2_sto-3g");
    if (!d_shells || !s_p) return;
    fmo_error err = {FMO_OK, ""};
    double eri[9];
    CHECK(!fmo_eri_matrix_can(fmo_dataset_basis(d_shells)), "d shells");
    CHECK(fmo_eri_matrix_can(fmo_dataset_basis(s_p)) && !fmo_eri_matrix_can(NULL), "s shells");
    CHECK_REFUSED(fmo_eri_matrix(fmo_dataset_basis(d_shells), 0.0, eri, &err), &err,
                  FMO_ERR_UNSUPPORTED, "s and p shells");
    CHECK(fmo_eri_matrix(NULL, 0.0, eri, &err) == FMO_ERR_ARGUMENT, "no basis");
    CHECK(fmo_eri_matrix(fmo_dataset_basis(s_p), 0.0, NULL, &err) == FMO_ERR_ARGUMENT, "no result");
    CHECK(fmo_eri_matrix(fmo_dataset_basis(s_p), 0.0, eri, &err) == FMO_OK, "%s", err.message);
    fmo_dataset_destroy(d_shells);
    fmo_dataset_destroy(s_p);
}

int main(void)
{
    for (int k = 0; k < ERI_SYSTEMS; k++) check_system(eri_systems[k]);
    for (int k = 0; k < ERI_SYSTEMS; k++) check_core(eri_systems[k]);
    check_refusals();
    return check_summary();
}
