/* Implements --check: compares J, K, G and the energy with reference values. NaN never passes. */
#include "driver/run/check.h"

#include "driver/base/shown.h"
#include "integrals/tables.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest tolerance that a loose cutoff or a large density can lead to, hartree. */
static const double tolerance_max = 1e-6;

double driver_check_tolerance(double cutoff, double scale)
{
    return fmin(scale * fmax(1e-10, 100.0 * cutoff), tolerance_max);
}

double driver_check_energy_tolerance(double cutoff, double scale)
{
    return fmin(scale * scale * fmax(1e-9, 1000.0 * cutoff), tolerance_max);
}

double driver_check_scale(const double *density, const double *norm, size_t nao)
{
    const double usual = 8.0;
    double largest = usual;
    for (size_t i = 0; i < nao; i++)
        for (size_t j = 0; j < nao; j++)
            largest = fmax(largest, fabs(density[i * nao + j]) * norm[i] * norm[j]);
    return largest / usual;
}

const char *driver_check_status_name(driver_check_status status)
{
#define ROW(e, name) [e] = name,
    static const char *const names[] = {DRIVER_CHECK_TABLE(ROW)};
#undef ROW
    return names[status];
}

const char *driver_matrix_symbol(driver_matrix matrix)
{
#define ROW(e, symbol, name) [e] = symbol,
    static const char *const symbols[] = {DRIVER_MATRIX_TABLE(ROW)};
#undef ROW
    return symbols[matrix];
}

const char *driver_matrix_name(driver_matrix matrix)
{
#define ROW(e, symbol, name) [e] = name,
    static const char *const names[] = {DRIVER_MATRIX_TABLE(ROW)};
#undef ROW
    return names[matrix];
}

/* Whether an error is larger than another; NaN counts as larger than any number. */
static bool worse(double error, double than)
{
    return !(error <= than) && !isnan(than);
}

/* Returns the largest error of a matrix, in terms of normalised functions. */
static driver_deviation deviation_of(const double *got, const double *want, const double *norm,
                                     int nao)
{
    driver_deviation worst = {.compared = true, .error = -1.0};
    for (int i = 0; i < nao; i++) {
        for (int j = 0; j < nao; j++) {
            size_t ij = (size_t)i * (size_t)nao + (size_t)j;
            double error = fabs(got[ij] - want[ij]) / norm[i] / norm[j];
            if (!worse(error, worst.error)) continue;
            worst.error = error;
            worst.row = i, worst.column = j;
            worst.got = got[ij], worst.want = want[ij];
        }
    }
    return worst;
}

/* Estimates the time of a build without screening, in seconds. It is proportional to the square of
 * the number of pairs of primitives, weighted with the number of functions. The estimate was within
 * a factor of four of builds of the data sets on one core of an Intel Xeon
 * (docs/results/2026-11-22-52d2a0b/cpu-check-time.txt). */
static double seconds_of(const fmo_basis_input *in, fmo_mode mode, int threads)
{
    const double second =
        mode == FMO_MODE_REFERENCE ? 1e-7 : 1e-9; /* seconds for a pair of pairs */
    double *prims = calloc((size_t)in->shell_num, sizeof *prims), sum = 0.0, squares = 0.0;
    if (!prims) return NAN;
    for (int k = 0; k < in->prim_num; k++) prims[in->prim_shell[k]] += 1.0;
    for (int s = 0; s < in->shell_num; s++) {
        const double one = prims[s] * fmo_shell_functions(in->shell_ang_mom[s]);
        sum += one;
        squares += one * one;
    }
    free(prims);
    const double pairs = 0.5 * (sum * sum + squares);
    return second * pairs * pairs / threads;
}

/* Number of Cartesian functions; mode reference stores its integrals over these. */
static double cartesian_functions(const fmo_basis_input *in)
{
    double sum = 0.0;
    for (int s = 0; s < in->shell_num; s++) sum += fmo_shell_functions(in->shell_ang_mom[s]);
    return sum;
}

/* Formats a size in memory: "79 MB", "2.1 GB". */
static void format_bytes(double bytes, char text[32])
{
    snprintf(text, 32, bytes < 1e9 ? "%.3g MB" : "%.3g GB", bytes * (bytes < 1e9 ? 1e-6 : 1e-9));
}

/* Formats a time with one significant digit: "0.05 s", "20 s", "3 min", "5 h". */
static void format_seconds(double seconds, char text[32])
{
    const bool hours = seconds >= 5400.0, minutes = !hours && seconds >= 90.0;
    const double in_units = hours ? seconds / 3600.0 : minutes ? seconds / 60.0 : seconds;
    const double digit = pow(10.0, floor(log10(fmax(in_units, 0.01))));
    snprintf(text, 32, "%g %s", digit * fmax(1.0, round(in_units / digit)),
             hours     ? "h"
             : minutes ? "min"
                       : "s");
}

/* Tells the user before a check of minutes what is computed, and the memory and time it needs. */
static void announce(const fmo_dataset *dataset, const fmo_fock_options *options,
                     driver_progress *progress)
{
    const int threads = fmo_fock_threads(options->threads);
    const double n = cartesian_functions(fmo_dataset_basis_input(dataset));
    double bytes = 5.0 * n * n * sizeof(double); /* J, K, G, and the workspace of a build */
    char memory[32], time[32];
    if (options->mode == FMO_MODE_REFERENCE) bytes += pow(n, 4.0) * sizeof(double);
    format_bytes(bytes, memory);
    format_seconds(seconds_of(fmo_dataset_basis_input(dataset), options->mode, threads), time);
    driver_progress_line(progress,
                         "fmo-driver: %s: no reference values in the file: --check builds once "
                         "more, with --mode %s and cutoff 0: %s, about %s on %d thread%s\n",
                         driver_shown(fmo_dataset_path(dataset)), fmo_mode_name(options->mode),
                         memory, time, threads, threads == 1 ? "" : "s");
}

/* Builds again in another mode with cutoff 0. If this fails, the check could not be made, but the
 * first build is not considered wrong. */
static fmo_status build_again(const fmo_dataset *dataset, fmo_fock_options options, double *want[],
                              driver_progress *progress, fmo_error *why)
{
    fmo_fock_plan *plan = NULL;
    options.cutoff = 0.0;
    options.reduce = FMO_REDUCE_TREE;
    options.integrals = FMO_INTEGRALS_DIRECT;
    options.progress = driver_progress_update;
    options.progress_user = progress;
    driver_progress_begin(progress, "check (%s)", fmo_mode_name(options.mode));
    fmo_status status = fmo_fock_plan_create(fmo_dataset_basis(dataset), &options, &plan, why);
    if (status == FMO_OK) { /* the plan was accepted, so it fits into memory */
        announce(dataset, &options, progress);
        status = fmo_fock_build(plan, fmo_dataset_density(dataset), want[DRIVER_COULOMB],
                                want[DRIVER_EXCHANGE], why);
    }
    driver_progress_end(progress);
    fmo_fock_plan_destroy(plan);
    return status;
}

/* Finds the matrix with the largest error and decides between pass and fail. */
static void judge(driver_check *check)
{
    double worst = -1.0;
    bool pass = true;
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) {
        if (!check->matrix[m].compared) continue;
        if (worse(check->matrix[m].error, worst)) {
            worst = check->matrix[m].error;
            check->worst = (driver_matrix)m;
        }
        if (!(check->matrix[m].error <= check->tolerance)) pass = false;
    }
    if (check->energy.compared && !(check->energy.error <= check->energy_tolerance)) pass = false;
    check->status = pass ? DRIVER_CHECK_PASS : DRIVER_CHECK_FAIL;
}

/* Obtains reference values, from the file or by a second build, and compares the build with
 * them. */
fmo_status driver_check_run(const fmo_dataset *dataset, const fmo_fock_options *options,
                            fmo_mode mode, double *const matrices[DRIVER_MATRIX_COUNT],
                            double energy, driver_progress *progress, driver_check *check,
                            fmo_error *err)
{
    int nao = fmo_basis_ao_num(fmo_dataset_basis(dataset));
    size_t size = (size_t)nao * (size_t)nao;
    double *built[DRIVER_MATRIX_COUNT] = {NULL};
    const double *want[DRIVER_MATRIX_COUNT] = {
        [DRIVER_COULOMB] = fmo_dataset_reference_coulomb(dataset),
        [DRIVER_EXCHANGE] = fmo_dataset_reference_exchange(dataset),
        [DRIVER_FOCK_2E] = fmo_dataset_reference_fock_2e(dataset)};
    fmo_status status = FMO_OK;

    memset(check, 0, sizeof *check);
    const double *const norm = fmo_basis_ao_norm(fmo_dataset_basis(dataset));
    const double scale = driver_check_scale(fmo_dataset_density(dataset), norm, (size_t)nao);
    check->tolerance = driver_check_tolerance(options->cutoff, scale);
    check->energy_tolerance = driver_check_energy_tolerance(options->cutoff, scale);
    check->cutoff = options->cutoff;
    check->loose = 100.0 * options->cutoff > tolerance_max;
    check->against = "the file's values";

    /* J alone or K alone does not determine the other, or G. */
    if (!want[DRIVER_FOCK_2E] && !(want[DRIVER_COULOMB] && want[DRIVER_EXCHANGE])) {
        fmo_fock_options again = *options;
        fmo_error why = {FMO_OK, ""};
        again.mode = mode == FMO_MODE_REFERENCE ? FMO_MODE_CPU : FMO_MODE_REFERENCE;
        check->against =
            mode == FMO_MODE_REFERENCE ? "--mode cpu, cutoff 0" : "--mode reference, cutoff 0";
        for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) {
            built[m] = malloc(size * sizeof(double));
            if (!built[m]) {
                status = fmo_error_set(err, FMO_ERR_MEMORY,
                                       "no memory for the check (%d functions)", nao);
                goto done;
            }
        }
        if (build_again(dataset, again, built, progress, &why) != FMO_OK) {
            check->status = DRIVER_CHECK_IMPOSSIBLE;
            snprintf(check->reason, sizeof check->reason,
                     "no reference values in the file, and --mode %s: %s",
                     fmo_mode_name(again.mode),
                     why.message[0] ? why.message : fmo_status_text(why.status));
            goto done;
        }
        for (size_t i = 0; i < size; i++)
            built[DRIVER_FOCK_2E][i] = built[DRIVER_COULOMB][i] - 0.5 * built[DRIVER_EXCHANGE][i];
        for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) want[m] = built[m];
    }

    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++)
        if (want[m]) check->matrix[m] = deviation_of(matrices[m], want[m], norm, nao);
    double want_energy = fmo_dataset_reference_energy(dataset);
    if (!isnan(want_energy) && !isnan(energy))
        check->energy = (driver_deviation){.compared = true,
                                           .error = fabs(energy - want_energy),
                                           .got = energy,
                                           .want = want_energy};
    judge(check);
done:
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) free(built[m]);
    return status;
}

/* Prints the result of a check; for a failure, the worst element or the energy. */
void driver_check_print(const driver_check *check, const fmo_dataset *dataset, FILE *stream)
{
    fprintf(stream, "check: %s", driver_check_status_name(check->status));
    if (check->status == DRIVER_CHECK_IMPOSSIBLE) {
        fprintf(stream, " (%s)", check->reason);
        return;
    }
    const driver_deviation *worst = &check->matrix[check->worst];
    const char *symbol = driver_matrix_symbol(check->worst);
    if (check->status == DRIVER_CHECK_PASS) {
        fprintf(stream, " (against %s:", check->against);
        for (int m = 0; m < DRIVER_MATRIX_COUNT; m++)
            if (check->matrix[m].compared)
                fprintf(stream, " |d%s| %.1e,", driver_matrix_symbol((driver_matrix)m),
                        check->matrix[m].error);
        fprintf(stream, " all <= %.0e", check->tolerance);
        if (check->energy.compared)
            fprintf(stream, "; |dE| %.1e <= %.0e", check->energy.error, check->energy_tolerance);
        fputc(')', stream);
        return;
    }
    if (!(worst->error <= check->tolerance)) {
        char row[64], column[64];
        fmo_dataset_ao_label(dataset, worst->row, row, sizeof row);
        fmo_dataset_ao_label(dataset, worst->column, column, sizeof column);
        fprintf(stream,
                ", worst element %s[%d][%d] (%s; %s): got %.12g, want %.12g, off by %.1e > %.0e",
                symbol, worst->row, worst->column, row, column, worst->got, worst->want,
                worst->error, check->tolerance);
    } else {
        fprintf(stream, ", energy: got %.12f, want %.12f, off by %.1e > %.0e (J, K and G agree)",
                check->energy.got, check->energy.want, check->energy.error,
                check->energy_tolerance);
    }
    fprintf(stream, "; against %s", check->against);
    if (check->loose)
        fprintf(stream, "; the cutoff %g is too loose to pass a check: %g at most", check->cutoff,
                0.01 * tolerance_max);
}
