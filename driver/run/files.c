/* Checks before and after a run. See files.h. */
#include "driver/run/files.h"
#include "driver/base/files.h"

#include <string.h>
#include <sys/stat.h>

/* Collects the files of the run and checks them with driver_check_files. */
fmo_status driver_check_run_files(const driver_options *options, const char *path, fmo_error *err)
{
    struct stat info;
    /* The argument of --basis may be the name of a basis set instead of a file. */
    const char *basis = options->basis && stat(options->basis, &info) == 0 ? options->basis : NULL;
    const char *const input = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    const driver_file files[] = {
        {driver_is_xyz(path) ? "geometry" : "data set", input, false, FMO_FILE_OTHER},
        {"basis set", basis, false, FMO_FILE_OTHER},
        {"--charges", options->charges, false, FMO_FILE_OTHER},
        {"--output", options->output, true,
         !options->scf                ? FMO_FILE_MATRICES
         : driver_writes_xyz(options) ? FMO_FILE_EXTXYZ
         : options->batch             ? FMO_FILE_MOLECULES
                                      : FMO_FILE_ORBITALS},
        {"--molden", options->molden, true, FMO_FILE_MOLDEN}};
    return driver_check_files(files, sizeof files / sizeof files[0], options->force, err);
}

fmo_status driver_check_all_run_files(const driver_options *options, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int k = 0; k < options->dataset_num && status == FMO_OK; k++)
        status = driver_check_run_files(options, options->datasets[k], err);
    return status;
}

fmo_status driver_check_doubts(const driver_options *options, const fmo_dataset *dataset,
                               fmo_error *err)
{
    for (int i = 0; fmo_dataset_notice(dataset, i) && !options->force; i++)
        if (fmo_dataset_is_doubtful(dataset, i))
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "%.300s; correct it, or add --force to run it as it is",
                                 fmo_dataset_notice(dataset, i));
    return FMO_OK;
}
