/* RHF as short as it gets: core guess, Roothaan's iteration with damping. scf DATASET.h5 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/dataset.h>
#include <fmo/fock.h>
#include <fmo/one_electron.h>
/* Iterates until the energy is stable, and prints it. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *molecule = NULL;
    fmo_fock_plan *plan = NULL;
    double *memory = NULL;
    fmo_status status = fmo_dataset_read(argc > 1 ? argv[1] : "", &molecule, &err);
    if (status != FMO_OK) goto done;
    const fmo_basis *basis = fmo_dataset_basis(molecule);
    const int n = fmo_basis_ao_num(basis), occupied = fmo_dataset_electron_num(molecule) / 2;
    const size_t size = (size_t)n * (size_t)n;
    status = fmo_fock_plan_create(basis, NULL, &plan, &err);
    if (status != FMO_OK) goto done;

    memory = calloc(7 * size, sizeof *memory);
    const double *H = fmo_dataset_core_hamiltonian(molecule);
    if (!memory || !H)
        status = fmo_error_set(&err, FMO_ERR_ARGUMENT, "no core Hamiltonian, or no memory");
    if (status != FMO_OK) goto done;
    double *S = memory, *C = S + size, *metric = C + size, *D = metric + size, *J = D + size;
    double *K = J + size, *level = K + size, energy = INFINITY, change = INFINITY;
    status = fmo_overlap(basis, S, &err);
    for (int cycle = 1; status == FMO_OK && cycle <= 100 && fabs(change) > 1e-9; cycle++) {
        /* F = H + J - K/2; in the first cycle D, J and K are 0. F C = S C e */
        const double before = energy;
        energy = fmo_dataset_nuclear_repulsion(molecule);
        for (size_t x = 0; x < size; x++) {
            C[x] = H[x] + J[x] - 0.5 * K[x];
            energy += 0.5 * D[x] * (H[x] + C[x]);
        }
        change = energy - before;
        memcpy(metric, S, size * sizeof *S);
        if (LAPACKE_dsygvd(LAPACK_ROW_MAJOR, 1, 'V', 'U', n, C, n, metric, n, level) != 0)
            status = fmo_error_set(&err, FMO_ERR_CHECK, "the eigenproblem has no solution");
        /* Half of the old density and half of the new one, 2 C C^T over the occupied orbitals. */
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, occupied, cycle > 1 ? 1.0 : 2.0,
                    C, n, C, n, 0.5, D, n);
        if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    }
    if (status == FMO_OK && !(fabs(change) <= 1e-9))
        status = fmo_error_set(&err, FMO_ERR_CHECK, "not converged in 100 cycles");
    if (status == FMO_OK) printf("%s: %.6f hartree\n", fmo_dataset_formula(molecule), energy);
done:
    if (status != FMO_OK) fprintf(stderr, "%s: %s\n", fmo_status_text(status), err.message);
    free(memory);
    fmo_fock_plan_destroy(plan);
    fmo_dataset_destroy(molecule);
    return fmo_status_exit_code(status);
}
