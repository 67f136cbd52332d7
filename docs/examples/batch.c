/* Several densities of several molecules in one call, as an unrestricted calculation on each would
 * ask for them: J of the whole density, K of that of one spin. batch DATASET.h5 DATASET.h5 */
#include <stdio.h>
#include <stdlib.h>

#include <fmo/dataset.h>
#include <fmo/fock.h>

enum { MOLECULES = 2, JOBS = 2 * MOLECULES };

static double trace_of_product(const double *A, const double *B, size_t size)
{
    double sum = 0.0;
    for (size_t x = 0; x < size; x++) sum += A[x] * B[x];
    return sum;
}

/* Builds J and K of each density, and prints energies. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""}, errs[MOLECULES];
    fmo_status status = FMO_OK;
    fmo_dataset *dataset[MOLECULES] = {NULL};
    const fmo_basis *basis[MOLECULES];
    fmo_fock_plan *plan[MOLECULES] = {NULL};
    fmo_fock_job jobs[JOBS]; /* plan, density, coulomb, exchange */
    double *memory[JOBS] = {NULL};
    size_t size[MOLECULES];

    for (int m = 0; m < MOLECULES; m++) {
        status = fmo_dataset_read(m + 1 < argc ? argv[m + 1] : "", &dataset[m], &err);
        if (status != FMO_OK) goto done;
        basis[m] = fmo_dataset_basis(dataset[m]);
    }
    status = fmo_fock_plan_create_batch(basis, MOLECULES, NULL, plan, errs); /* NULL: defaults */
    for (int m = 0; m < MOLECULES && err.status == FMO_OK; m++) err = errs[m];
    if (status != FMO_OK) goto done;

    for (int m = 0; m < MOLECULES; m++) {
        size[m] = (size_t)fmo_basis_ao_num(basis[m]) * (size_t)fmo_basis_ao_num(basis[m]);
        for (int spin = 0; spin < 2; spin++) { /* the whole density, then one spin's */
            const int k = 2 * m + spin;
            memory[k] = malloc(3 * size[m] * sizeof *memory[k]);
            if (!memory[k]) {
                status = fmo_error_set(&err, FMO_ERR_MEMORY, "no memory for job %d", k);
                goto done;
            }
            for (size_t x = 0; x < size[m]; x++)
                memory[k][x] = fmo_dataset_density(dataset[m])[x] / (spin + 1);
            jobs[k] = (fmo_fock_job){.plan = plan[m],
                                     .density = memory[k],
                                     .coulomb = memory[k] + size[m],
                                     .exchange = memory[k] + 2 * size[m]};
        }
    }
    status = fmo_fock_build_batch(jobs, JOBS, &err); /* on a GPU they run side by side */
    if (status != FMO_OK) goto done;

    for (int m = 0; m < MOLECULES; m++) {
        const fmo_fock_job *whole = &jobs[2 * m], *alpha = &jobs[2 * m + 1];
        printf("%s: Coulomb energy %.6f, exchange energy %.6f hartree\n",
               fmo_dataset_formula(dataset[m]),
               0.5 * trace_of_product(whole->density, whole->coulomb, size[m]),
               -trace_of_product(alpha->density, alpha->exchange, size[m]));
    }
done:
    if (status != FMO_OK) fprintf(stderr, "%s: %s\n", fmo_status_text(status), err.message);
    for (int k = 0; k < JOBS; k++) free(memory[k]);
    for (int m = 0; m < MOLECULES; m++) {
        fmo_fock_plan_destroy(plan[m]);
        fmo_dataset_destroy(dataset[m]);
    }
    return fmo_status_exit_code(status);
}
