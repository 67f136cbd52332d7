/* A program on the installed libfmo_scf and libfmo_io: the RHF energy of a data set against the
 * file's own. */
#include <math.h>
#include <stdio.h>

#include <fmo/dataset.h>
#include <fmo/scf.h>

/* Compares the energy of an SCF with that of the data set; the exit code is the status. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    fmo_scf_result *result = NULL;
    fmo_scf_options options;
    fmo_scf_options_init(&options);
    fmo_status status = fmo_dataset_read(argc > 1 ? argv[1] : "", &dataset, &err);
    if (status == FMO_OK) {
        fmo_scf_input input = {0};
        input.basis = fmo_dataset_basis(dataset);
        input.electron_num = fmo_dataset_electron_num(dataset);
        input.nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset);
        status = fmo_scf_run(&input, &options, &result, &err);
    }
    if (status == FMO_OK) {
        const double error = fabs(result->energy - fmo_dataset_reference_energy(dataset));
        printf("%s: %.9f hartree, off by %.1e\n", result->verdict, result->energy, error);
        if (!(error < 1e-7)) status = fmo_error_set(&err, FMO_ERR_CHECK, "off by %g", error);
    }
    if (status != FMO_OK) fprintf(stderr, "%s: %s\n", fmo_status_text(status), err.message);
    fmo_scf_result_destroy(result);
    fmo_dataset_destroy(dataset);
    return fmo_status_exit_code(status);
}
