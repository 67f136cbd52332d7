/* Matrices of all two-electron integrals of many molecules of several sizes on a GPU against those
 * of the CPU, and their bits against each other. */
#include <cuda_runtime.h>
#include <fmo/fock.h>

#include "tests/support/eri_matrix_checks.h"

enum { COPIES = 5, COUNT = COPIES * ERI_SYSTEMS };

static double *bring_back(const double *from, size_t num)
{
    double *const to = (double *)malloc(num * sizeof *to);
    CHECK(cudaMemcpy(to, from, num * sizeof *to, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    return to;
}

/* Matrices of integrals, overlaps and core Hamiltonians of many molecules in one call agree with
 * the CPU, and a second call gives the same bits. */
int main(void)
{
    fmo_error err = {FMO_OK, ""};
    if (fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
    fmo_dataset *dataset[ERI_SYSTEMS];
    const fmo_basis *basis[COUNT];
    double *eri[2][COUNT], *S[COUNT], *H[COUNT];
    for (int k = 0; k < ERI_SYSTEMS; k++)
        if (!(dataset[k] = read_shipped(eri_systems[k]))) return 1;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess, "stream");
    for (int again = 0; again < 2; again++) {
        for (int k = 0; k < COUNT; k++) {
            basis[k] = fmo_dataset_basis(dataset[k % ERI_SYSTEMS]);
            const size_t pairs = eri_pairs(basis[k]), bytes = pairs * pairs * sizeof(double);
            CHECK(cudaMalloc((void **)&eri[again][k], bytes) == cudaSuccess &&
                      cudaMemset(eri[again][k], 0xff, bytes) == cudaSuccess,
                  "memory");
            if (again) continue;
            const size_t n = (size_t)fmo_basis_ao_num(basis[k]), square = n * n * sizeof(double);
            CHECK(cudaMalloc((void **)&S[k], square) == cudaSuccess &&
                      cudaMalloc((void **)&H[k], square) == cudaSuccess,
                  "memory");
        }
        CHECK(fmo_eri_matrices_on_gpu(basis, COUNT, 0.0, eri[again], again ? NULL : S,
                                      again ? NULL : H, -1, again ? stream : NULL, &err) == FMO_OK,
              "%s", err.message);
    }
    for (int k = 0; k < COUNT; k++) {
        const size_t pairs = eri_pairs(basis[k]);
        double *const expected = eri_matrix_of(basis[k], 0.0);
        double *const got = bring_back(eri[0][k], pairs * pairs);
        double *const again = bring_back(eri[1][k], pairs * pairs);
        check_close(eri_systems[k % ERI_SYSTEMS], got, expected, pairs * pairs, pairs, 1e-13,
                    1e-13);
        CHECK(memcmp(got, again, pairs * pairs * sizeof *got) == 0, "other bits");
        const size_t n = (size_t)fmo_basis_ao_num(basis[k]);
        double *const own_S = bring_back(S[k], n * n), *const own_H = bring_back(H[k], n * n);
        double *const expected_S = (double *)malloc(n * n * sizeof *expected_S);
        double *const expected_H = (double *)malloc(n * n * sizeof *expected_H);
        eri_core_of(basis[k], expected_S, expected_H);
        check_close("overlap", own_S, expected_S, n * n, n, 1e-14, 1e-13);
        check_close("core Hamiltonian", own_H, expected_H, n * n, n, 1e-13, 1e-13);
        free(own_S);
        free(own_H);
        free(expected_S);
        free(expected_H);
        (void)cudaFree(S[k]);
        (void)cudaFree(H[k]);
        free(expected);
        free(got);
        free(again);
        (void)cudaFree(eri[0][k]);
        (void)cudaFree(eri[1][k]);
    }
    fmo_dataset *const d_shells = read_shipped("h2o_6-31gd");
    basis[0] = fmo_dataset_basis(d_shells);
    CHECK(fmo_eri_matrices_on_gpu(basis, 1, 0.0, eri[0], NULL, NULL, -1, NULL, &err) ==
              FMO_ERR_UNSUPPORTED,
          "d shells");
    CHECK(fmo_eri_matrices_on_gpu(NULL, 1, 0.0, eri[0], NULL, NULL, -1, NULL, &err) ==
              FMO_ERR_ARGUMENT,
          "NULL");
    CHECK(fmo_eri_matrices_on_gpu(NULL, 0, 0.0, NULL, NULL, NULL, -1, NULL, &err) == FMO_OK,
          "nothing");
    basis[0] = fmo_dataset_basis(dataset[0]);
    CHECK(fmo_eri_matrices_on_gpu(basis, 1, 0.0, eri[0], S, NULL, -1, NULL, &err) ==
              FMO_ERR_ARGUMENT,
          "core is NULL");
    for (int k = 0; k < ERI_SYSTEMS; k++) fmo_dataset_destroy(dataset[k]);
    fmo_dataset_destroy(d_shells);
    (void)cudaStreamDestroy(stream);
    return check_summary();
}
