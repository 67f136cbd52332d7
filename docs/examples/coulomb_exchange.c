/* J and K for the density of a data set: coulomb_exchange DATASET.h5 */
#include <stdio.h>
#include <stdlib.h>

#include <fmo/dataset.h>
#include <fmo/fock.h>

/* Builds J and K, and prints their energies. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    fmo_dataset *dataset = NULL;
    fmo_fock_plan *plan = NULL;
    double *J = NULL, *K = NULL;

    status = fmo_dataset_read(argc > 1 ? argv[1] : "", &dataset, &err);
    if (status != FMO_OK) goto done;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const double *D = fmo_dataset_density(dataset);
    const size_t nao = (size_t)fmo_basis_ao_num(basis), size = nao * nao;

    /* Once for a molecule: shell pairs, Schwarz bounds, buffers. Mode auto takes a GPU if there is
     * one. */
    fmo_fock_options options;
    fmo_fock_options_init(&options);
    status = fmo_fock_plan_create(basis, &options, &plan, &err);
    if (status != FMO_OK) goto done;

    /* As often as there are densities. */
    J = malloc(size * sizeof *J);
    K = malloc(size * sizeof *K);
    status = fmo_fock_build(plan, D, J, K, &err); /* NULL would be an error like any other */
    if (status != FMO_OK) goto done;

    double coulomb = 0.0, exchange = 0.0;
    for (size_t x = 0; x < size; x++) {
        coulomb += 0.5 * D[x] * J[x];
        exchange -= 0.25 * D[x] * K[x];
    }
    printf("%s: Coulomb energy %.6f, exchange energy %.6f hartree\n", fmo_dataset_formula(dataset),
           coulomb, exchange);
done:
    if (status != FMO_OK) fprintf(stderr, "%s: %s\n", fmo_status_text(status), err.message);
    free(J);
    free(K);
    fmo_fock_plan_destroy(plan);
    fmo_dataset_destroy(dataset);
    return fmo_status_exit_code(status);
}
