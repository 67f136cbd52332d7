/* The README's example, word for word (start.py compares), used on a real data set. */
/* example begin */
#include <fmo/fock.h>

/* J and K of one density; all matrices [nao][nao], in the caller's order of functions. */
fmo_status coulomb_exchange(const fmo_basis *basis, const double *D, double *J, double *K,
                            fmo_error *err)
{
    fmo_fock_plan *plan = NULL;
    fmo_fock_options options;
    fmo_fock_options_init(&options); /* mode auto, cutoff 1e-10, all cores */
    fmo_status status = fmo_fock_plan_create(basis, &options, &plan, err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, err);
    fmo_fock_plan_destroy(plan); /* or keep it for the next density */
    return status;
}
/* example end */
#include "tests/support/check.h"
#include <fmo/dataset.h>

int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    CHECK(argc == 2, "usage: driver_readme_example DATASET.h5");
    fmo_status status = argc == 2 ? fmo_dataset_read(argv[1], &dataset, &err) : FMO_ERR_ARGUMENT;
    CHECK(status == FMO_OK, "%s", err.message);
    if (status == FMO_OK) {
        const fmo_basis *basis = fmo_dataset_basis(dataset);
        size_t nao = (size_t)fmo_basis_ao_num(basis), size = nao * nao;
        double *J = calloc(size, sizeof *J), *K = calloc(size, sizeof *K);
        CHECK(J && K, "no memory");
        if (J && K) status = coulomb_exchange(basis, fmo_dataset_density(dataset), J, K, &err);
        CHECK(status == FMO_OK, "%s", err.message);
        CHECK(fmo_dataset_reference_coulomb(dataset) && fmo_dataset_reference_exchange(dataset),
              "the data set has no reference values");
        if (status == FMO_OK && fmo_dataset_reference_coulomb(dataset))
            check_close("J", J, fmo_dataset_reference_coulomb(dataset), size, nao, 1e-8, 0.0);
        if (status == FMO_OK && fmo_dataset_reference_exchange(dataset))
            check_close("K", K, fmo_dataset_reference_exchange(dataset), size, nao, 1e-8, 0.0);
        free(J), free(K);
    }
    fmo_dataset_destroy(dataset);
    return check_summary();
}
