/* A program on the installed libfmo_io, valid C11 and C++17, GPU if there is one: J and K against
 * the reference values of a data set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fmo/dataset.h>
#include <fmo/fock.h>
#include <fmo/one_electron.h>
#include <fmo/result.h>
#include <fmo/version.h>

static double largest_difference(const double *a, const double *b, size_t size)
{
    double largest = 0.0;
    for (size_t x = 0; x < size; x++)
        if (!(fabs(a[x] - b[x]) <= largest)) largest = fabs(a[x] - b[x]);
    return largest;
}

/* Compares J and K of a data set with its reference values; the exit code is the status. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    fmo_fock_plan *plan = NULL;
    fmo_fock_options options;
    if (argc != 2 || strcmp(fmo_version(), FMO_VERSION_STRING) != 0) {
        fprintf(stderr, "usage: consumer DATASET.h5, or headers %s with a library %s\n",
                FMO_VERSION_STRING, fmo_version());
        return 2;
    }
    fmo_fock_options_init(&options);
    fmo_status status = fmo_dataset_read(argv[1], &dataset, &err);
    if (status == FMO_OK)
        status = fmo_fock_plan_create(fmo_dataset_basis(dataset), &options, &plan, &err);
    if (status == FMO_OK) {
        const size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset)), size = n * n;
        double *J = (double *)calloc(2 * size, sizeof *J), *K = J + size;
        status = fmo_fock_build(plan, fmo_dataset_density(dataset), J, K, &err);
        const double error =
            fmax(largest_difference(J, fmo_dataset_reference_coulomb(dataset), size),
                 largest_difference(K, fmo_dataset_reference_exchange(dataset), size));
        if (status == FMO_OK && !(error < 1e-8))
            status = fmo_error_set(&err, FMO_ERR_CHECK, "J and K are off by %g", error);
        if (status == FMO_OK)
            printf("fmo %s: J and K of %s agree to %.1e\n", fmo_version(), argv[1], error);
        free(J);
    }
    if (status != FMO_OK) fprintf(stderr, "%s: %s\n", fmo_status_text(status), err.message);
    fmo_fock_plan_destroy(plan);
    fmo_dataset_destroy(dataset);
    return fmo_status_exit_code(status);
}
