/* Runs one data set through the public library: everything here a user's own program could do. */
#define _GNU_SOURCE
#include "driver/run/run.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fmo/result.h>

#define CHECKGOTO(call)                  \
    do {                                 \
        status = (call);                 \
        if (status != FMO_OK) goto done; \
    } while (0)

fmo_status driver_check_output(const char *option, const char *output, const char *input,
                               fmo_error *err)
{
    struct stat out, in, folder_stat;
    if (stat(output, &out) == 0) {
        if (!S_ISREG(out.st_mode))
            return fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: not a regular file", option,
                                 output);
        if (stat(input, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return fmo_error_set(err, FMO_ERR_OUTPUT, "--%s is the %s itself: choose another name",
                                 option, driver_is_xyz(input) ? "geometry" : "data set");
    }
    char *copy = strdup(output);
    if (!copy) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    fmo_status status = FMO_OK;
    const char *folder = dirname(copy);
    size_t length = strlen(output);
    if (stat(folder, &folder_stat) != 0)
        status = fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: folder %.100s: %s", option,
                               output, folder, strerror(errno));
    else if (output[length - 1] == '/')
        status = fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: expected the name of a file",
                               option, output);
    else if (access(folder, W_OK | X_OK) != 0)
        status = fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: folder %.100s: %s", option,
                               output, folder, strerror(errno));
    free(copy);
    return status;
}

static int compare_builds(const void *a, const void *b)
{
    double x = ((const fmo_fock_profile *)a)->seconds, y = ((const fmo_fock_profile *)b)->seconds;
    return (x > y) - (x < y);
}

static double max_difference(const double *a, const double *b, size_t size)
{
    double largest = 0.0;
    for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

fmo_status driver_repeats_begin(driver_repeats *repeats, int count, const driver_result *result,
                                fmo_error *err)
{
    const size_t size = (size_t)result->nao * (size_t)result->nao;
    memset(repeats, 0, sizeof *repeats);
    repeats->count = (size_t)count;
    repeats->profile = malloc(repeats->count * sizeof *repeats->profile);
    repeats->first = count > 1 ? malloc(size * sizeof *repeats->first) : NULL;
    if (!repeats->profile || (count > 1 && !repeats->first))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d builds", count);
    return FMO_OK;
}

fmo_status driver_repeats_take(driver_repeats *repeats, const fmo_fock_plan *plan,
                               driver_result *result, fmo_error *err)
{
    const size_t size = (size_t)result->nao * (size_t)result->nao, n = repeats->done;
    const double *J = result->matrices[DRIVER_COULOMB], *K = result->matrices[DRIVER_EXCHANGE];
    double *G = result->matrices[DRIVER_FOCK_2E];
    const fmo_status status = fmo_fock_plan_profile(plan, &repeats->profile[n], err);
    if (status != FMO_OK) return status;
    for (size_t i = 0; i < size; i++) G[i] = J[i] - 0.5 * K[i];
    if (n == 0) result->repeat_difference = repeats->first ? 0.0 : NAN;
    if (n == 0 && repeats->first) memcpy(repeats->first, G, size * sizeof *G);
    if (n > 0)
        result->repeat_difference =
            fmax(result->repeat_difference, max_difference(G, repeats->first, size));
    repeats->done++;
    return FMO_OK;
}

void driver_repeats_end(driver_repeats *repeats, driver_result *result)
{
    const size_t count = repeats->done;
    fmo_fock_profile *profiles = repeats->profile;
    qsort(profiles, count, sizeof *profiles, compare_builds);
    result->profile = profiles[(count - 1) / 2];
    result->seconds_min = profiles[0].seconds;
    result->seconds_max = profiles[count - 1].seconds;
    result->seconds_median =
        0.5 * (profiles[(count - 1) / 2].seconds + profiles[count / 2].seconds);
}

void driver_repeats_free(driver_repeats *repeats)
{
    free(repeats->first);
    free(repeats->profile);
}

/* `repeat` builds; their spread in time and in G. */
static fmo_status build(const driver_options *options, fmo_fock_plan *plan,
                        driver_progress *progress, driver_result *result, fmo_error *err)
{
    driver_repeats repeats;
    fmo_status status = FMO_OK;
    CHECKGOTO(driver_repeats_begin(&repeats, options->repeat, result, err));
    for (int n = 0; n < options->repeat; n++) {
        if (options->repeat > 1)
            driver_progress_begin(progress, "build %d/%d", n + 1, options->repeat);
        else
            driver_progress_begin(progress, "build");
        /* timed by the library, which leaves out the extra run of measure_accumulation */
        CHECKGOTO(fmo_fock_build(plan, fmo_dataset_density(result->dataset),
                                 result->matrices[DRIVER_COULOMB],
                                 result->matrices[DRIVER_EXCHANGE], err));
        CHECKGOTO(driver_repeats_take(&repeats, plan, result, err));
    }
    driver_repeats_end(&repeats, result);
done:
    driver_progress_end(progress);
    driver_repeats_free(&repeats);
    return status;
}

void driver_evaluate(driver_result *result, const double *density, const double *fock_2e,
                     const double *core, double repulsion)
{
    size_t nao = (size_t)result->nao, size = nao * nao;
    double trace = 0.0, square = 0.0, dg = 0.0, dh = 0.0;
    for (size_t i = 0; i < nao; i++) trace += fock_2e[i * nao + i];
    for (size_t i = 0; i < size; i++) {
        square += fock_2e[i] * fock_2e[i];
        dg += density[i] * fock_2e[i];
        if (core) dh += density[i] * core[i];
    }
    result->trace_g = trace;
    result->norm_g = sqrt(square);
    result->energy_2e = 0.5 * dg;
    result->energy = NAN;
    if (!core)
        result->no_energy = "no core Hamiltonian in the file, and none can be computed";
    else if (!isfinite(repulsion))
        result->no_energy = "two nuclei coincide";
    else
        result->energy = dh + 0.5 * dg + repulsion;
}

/* Numbers of a finished G; F where H is known. */
static fmo_status evaluate(driver_result *result, fmo_error *err)
{
    size_t size = (size_t)result->nao * (size_t)result->nao;
    const double *H = fmo_dataset_core_hamiltonian(result->dataset);
    const double *G = result->matrices[DRIVER_FOCK_2E];
    driver_evaluate(result, fmo_dataset_density(result->dataset), G, H,
                    fmo_dataset_nuclear_repulsion(result->dataset));
    if (!H) return FMO_OK;
    result->fock = malloc(size * sizeof *result->fock);
    if (!result->fock)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for F (%d functions)", result->nao);
    for (size_t i = 0; i < size; i++) result->fock[i] = H[i] + G[i];
    return FMO_OK;
}

fmo_status driver_begin(const driver_options *options, const char *path, driver_result *result,
                        fmo_error *err)
{
    fmo_status status = FMO_OK;
    if (options->output) CHECKGOTO(driver_check_output("output", options->output, path, err));
    CHECKGOTO(fmo_dataset_read(path, &result->dataset, err));
    result->nao = fmo_basis_ao_num(fmo_dataset_basis(result->dataset));
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) {
        result->matrices[m] = malloc((size_t)result->nao * (size_t)result->nao * sizeof(double));
        if (!result->matrices[m])
            status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for J, K and G (%d functions)",
                                   result->nao);
    }
done:
    return status;
}

fmo_status driver_finish(const driver_options *options, driver_progress *progress,
                         driver_result *result, fmo_error *err)
{
    fmo_status status = evaluate(result, err);
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
        status = fmo_result_write(options->output, result->dataset, &file, err);
    }
    return status;
}

fmo_status driver_run(const driver_options *options, const char *path, driver_result *result,
                      fmo_error *err)
{
    fmo_status status = FMO_OK;
    fmo_fock_plan *plan = NULL;
    fmo_fock_options fock = options->fock;
    driver_progress progress;

    if (options->scf) return driver_run_scf(options, path, result, err);
    memset(result, 0, sizeof *result);
    driver_progress_init(&progress, stderr, !options->quiet);
    fock.progress = driver_progress_update;
    fock.progress_user = &progress;
    fock.measure_classes = !options->quiet;
    fock.measure_accumulation = options->profile != DRIVER_PROFILE_NONE;

    CHECKGOTO(driver_begin(options, path, result, err));
    CHECKGOTO(fmo_fock_plan_create(fmo_dataset_basis(result->dataset), &fock, &plan, err));
    CHECKGOTO(build(options, plan, &progress, result, err));
    fmo_fock_plan_destroy(plan); /* its memory is wanted for the check */
    plan = NULL;
    CHECKGOTO(driver_finish(options, &progress, result, err));
done:
    driver_progress_end(&progress);
    fmo_fock_plan_destroy(plan);
    return status;
}

bool driver_mode_reduces(fmo_mode mode)
{
    return mode == FMO_MODE_CPU || mode == FMO_MODE_SPLIT;
}

bool driver_profile_has_classes(const fmo_fock_profile *profile)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        if (profile->classes[c].quartets > 0 || profile->classes[c].quartets_skipped > 0)
            return true;
    return false;
}

void driver_result_free(driver_result *result)
{
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) free(result->matrices[m]);
    free(result->fock);
    free(result->cycles);
    fmo_scf_result_destroy(result->scf);
    fmo_dataset_destroy(result->dataset);
    memset(result, 0, sizeof *result);
}
