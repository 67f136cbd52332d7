/* Builds J, K and G of one data set, using only what the public library offers to any program.
 * Next: result.c, check.c. */
#include "driver/run/build.h"
#include "driver/base/checkgoto.h"
#include "driver/base/interrupt.h"
#include "driver/run/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/result.h>

/* Computes the energies of a finished G, and F = H + G if H is known. */
static fmo_status evaluate(driver_result *result, fmo_error *err)
{
    size_t size = (size_t)result->nao * (size_t)result->nao;
    const double *H = fmo_dataset_core_hamiltonian(result->dataset);
    const double *G = result->matrices[DRIVER_FOCK_2E];
    driver_result_evaluate(result, fmo_dataset_density(result->dataset), G, H,
                           fmo_dataset_nuclear_repulsion(result->dataset));
    if (!H) return FMO_OK;
    result->fock = malloc(size * sizeof *result->fock);
    if (!result->fock)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for F (%d functions)", result->nao);
    for (size_t i = 0; i < size; i++) result->fock[i] = H[i] + G[i];
    return FMO_OK;
}

/* Checks the files, reads the data set and allocates J, K and G. */
fmo_status driver_build_begin(const driver_options *options, const char *path,
                              driver_result *result, fmo_error *err)
{
    fmo_status status = FMO_OK;
    CHECKGOTO(driver_check_run_files(options, path, err));
    result->named = true;
    CHECKGOTO(fmo_dataset_read(path, &result->dataset, err));
    result->named = false;
    CHECKGOTO(driver_check_doubts(options, result->dataset, err));
    result->nao = fmo_basis_ao_num(fmo_dataset_basis(result->dataset));
    result->electrons = fmo_dataset_electron_num(result->dataset);
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) {
        result->matrices[m] = malloc((size_t)result->nao * (size_t)result->nao * sizeof(double));
        if (!result->matrices[m])
            status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for J, K and G (%d functions)",
                                   result->nao);
    }
done:
    return status;
}

/* Computes the energy, runs the check and writes the output. */
fmo_status driver_build_finish(const driver_options *options, driver_progress *progress,
                               driver_result *result, fmo_error *err)
{
    fmo_status status = evaluate(result, err);
    if (fmo_dataset_multiplicity(result->dataset) > 1) {
        result->energy = NAN;
        result->no_energy = "J and K of the total density do not give that of an open shell: --scf "
                            "computes it";
    }
    driver_options_unused(options, result->profile.mode, result->unused, sizeof result->unused);
    if (status == FMO_OK && options->check)
        status = driver_check_run(result->dataset, &options->fock, result->profile.mode,
                                  result->matrices, result->energy, progress, &result->check, err);
    if (status == FMO_OK && options->output && result->check.status != DRIVER_CHECK_FAIL) {
        fmo_result file = {.nao = result->nao,
                           .coulomb = result->matrices[DRIVER_COULOMB],
                           .exchange = result->matrices[DRIVER_EXCHANGE],
                           .fock_2e = result->matrices[DRIVER_FOCK_2E],
                           .fock = result->fock,
                           .energy = result->energy,
                           .mode = fmo_mode_name(result->profile.mode),
                           .cutoff = options->fock.cutoff};
        driver_interrupt_hold();
        status = driver_check_run_files(options, fmo_dataset_path(result->dataset), err);
        if (status == FMO_OK)
            status = fmo_result_write(options->output, result->dataset, &file, err);
        driver_interrupt_release();
    }
    return status;
}

/* Runs one data set: reads it, makes a plan, builds, checks and writes. */
fmo_status driver_run_build(const driver_options *options, const char *path, driver_result *result,
                            fmo_error *err)
{
    fmo_status status = FMO_OK;
    fmo_fock_plan *plan = NULL;
    fmo_fock_options fock = options->fock;
    driver_progress progress;
    driver_repeats repeats = {0};

    memset(result, 0, sizeof *result);
    driver_progress_init(&progress, stderr, !options->quiet);
    fock.progress = driver_progress_update;
    fock.progress_user = &progress;
    fock.measure_classes = !options->quiet;
    fock.measure_accumulation = options->profile != DRIVER_PROFILE_NONE;

    CHECKGOTO(driver_build_begin(options, path, result, err));
    CHECKGOTO(fmo_fock_plan_create(fmo_dataset_basis(result->dataset), &fock, &plan, err));
    for (int n = 0; n < options->repeat; n++) {
        if (options->repeat > 1)
            driver_progress_begin(&progress, "build %d/%d", n + 1, options->repeat);
        else
            driver_progress_begin(&progress, "build");
        /* timed by the library, which excludes the extra run of measure_accumulation */
        CHECKGOTO(fmo_fock_build(plan, fmo_dataset_density(result->dataset),
                                 result->matrices[DRIVER_COULOMB],
                                 result->matrices[DRIVER_EXCHANGE], err));
        CHECKGOTO(driver_result_take_build(result, plan, err));
        if (options->repeat > 1)
            CHECKGOTO(driver_repeats_add(&repeats, options->repeat, result, err));
    }
    driver_repeats_end(&repeats, result);
    driver_progress_end(&progress);
    fmo_fock_plan_destroy(plan); /* the check needs its memory */
    plan = NULL;
    CHECKGOTO(driver_build_finish(options, &progress, result, err));
done:
    driver_progress_end(&progress);
    driver_repeats_free(&repeats);
    fmo_fock_plan_destroy(plan);
    return status;
}
