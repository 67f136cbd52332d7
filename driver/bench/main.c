/* fmo-bench: repeats published experiments on conflicting updates on this machine, and times Fock
 * builds and SCFs for comparison with other programs. Next: options.c (options), bench.h (the
 * harness), one file per experiment; docs/reference/bench.md. */
#define _GNU_SOURCE
#include "options.h"
#include "driver/base/clock.h"
#include "driver/base/files.h"
#include "driver/base/interrupt.h"
#include "driver/report/host.h"

#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fmo/fock.h>
#include <fmo/version.h>

static int say(const fmo_error *err)
{
    fprintf(stderr, "fmo-bench: %s\n", err->message);
    return fmo_status_exit_code(err->status);
}

/* Checks the files before anything is measured, and again before results are written. */
static fmo_status check_files(const bench_options *o, fmo_error *err)
{
    struct stat info;
    const char *basis = o->basis && stat(o->basis, &info) == 0 ? o->basis : NULL;
    const driver_file files[] = {{"data set", o->dataset, false, FMO_FILE_OTHER},
                                 {"geometry", o->geometry, false, FMO_FILE_OTHER},
                                 {"basis set", basis, false, FMO_FILE_OTHER},
                                 {"--json", o->json, true, FMO_FILE_JSON}};
    return driver_check_files(files, sizeof files / sizeof files[0], o->force, err);
}

static void print_head(const bench_run *run)
{
    char cpu[128];
    const char *revision = driver_host_revision();
    driver_host_cpu(cpu, sizeof cpu);
    printf("fmo-bench %s (%s)\nCPU: %s, %d threads%s\n", FMO_VERSION_STRING,
           revision ? revision : "revision not known", cpu, run->threads,
           run->cpu ? "" : "; CPU parts not requested");
    if (run->gpu)
        printf("GPU: %s, %d multiprocessors, driver %d, CUDA %d\n", run->device.name,
               run->device.sms, run->device.driver, run->device.runtime);
    else
        printf("GPU parts left out: %s\n", *run->no_gpu ? run->no_gpu : "not requested");
}

/* Runs the requested experiments, and prints their tables. */
static void run_experiments(bench_run *run)
{
    static void (*const experiment[])(bench_run *) = {
#define ROW(name, kind, text) bench_##name,
        BENCH_EXPERIMENT_TABLE(ROW)
#undef ROW
    };
    const bench_options *o = run->options;
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT && run->err.status == FMO_OK; e++) {
        /* These experiments print their own rows. */
        const bool printed = bench_experiment_kind(e) != BENCH_PUBLISHED || bench_himeno_ranks(o);
        if (o->experiment == BENCH_EXPERIMENT_COUNT ? printed : o->experiment != e) continue;
        const int first = run->cell_num;
        const double begin = driver_seconds();
        run->experiment = (bench_experiment)e;
        experiment[e](run);
        bench_ratios(run, first);
        if (!o->quiet) {
            if (!printed) bench_print(run, first, stdout);
            printf("  %s took %.1f s\n", bench_experiment_name(e), driver_seconds() - begin);
            fflush(stdout);
        }
    }
}

/* Writes everything that was measured, also after an error; returns the exit code. */
static int finish(bench_run *run)
{
    const bench_options *o = run->options;
    int code = 0;
    fmo_error err = {FMO_OK, ""};
    if (run->err.status != FMO_OK) code = say(&run->err);
    driver_interrupt_hold();
    if (o->json &&
        (check_files(o, &err) != FMO_OK || bench_json_write(run, o->json, &err) != FMO_OK)) {
        const int failed = say(&err);
        if (code == 0) code = failed;
    }
    driver_interrupt_release();
    const int failures = bench_failures(run);
    if (failures) {
        fprintf(stderr, "fmo-bench: %d of %d results are wrong\n", failures, run->cell_num);
        if (code == 0) code = fmo_status_exit_code(FMO_ERR_CHECK);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "fmo-bench: standard output: write error\n");
        if (code == 0) code = fmo_status_exit_code(FMO_ERR_OUTPUT);
    }
    return code;
}

/* Parses the options, opens the GPU, runs the experiments and writes the results. */
int main(int argc, char **argv)
{
    bench_options options;
    bench_run run = {.options = &options, .err = {FMO_OK, ""}};
    fmo_error err = {FMO_OK, ""};

    driver_interrupt_init();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes a write error */
    if (bench_options_parse(argc, argv, &options, &err) != FMO_OK) return say(&err);
    if (options.action == BENCH_HELP) {
        bench_options_help(options.experiment, stdout);
        options.json = NULL;
        return finish(&run);
    }
    if (options.action == BENCH_VERSION) {
        printf("fmo-bench %s\n", FMO_VERSION_STRING);
        options.json = NULL;
        return finish(&run);
    }
    if (!bench_is_first()) { /* another process of mpirun */
        options.quiet = true;
        options.json = NULL;
    }
    /* Check now, before minutes of measuring, that results can be written. */
    if (check_files(&options, &err) != FMO_OK) return say(&err);
    run.threads = fmo_fock_threads(options.threads > 0 ? (int)options.threads : 0);
    omp_set_num_threads(run.threads);
    run.cpu = options.places >> BENCH_ON_CPU & 1;
    run.gpu = options.places >> BENCH_ON_GPU & 1;
    if (run.gpu && bench_gpu_open(&run) != FMO_OK) return finish(&run);
    if (!run.gpu && !run.cpu) { /* only the GPU was requested, and there is none */
        fmo_error_set(&err, FMO_ERR_NO_DEVICE, "%s", run.no_gpu);
        return say(&err);
    }
    if (options.modes >= 0 && (options.modes >> FMO_MODE_FUSED & 1) && !run.gpu) {
        fmo_error_set(&err, FMO_ERR_NO_DEVICE, "mode %s needs a GPU: %s; use --mode %s",
                      fmo_mode_name(FMO_MODE_FUSED), run.no_gpu, fmo_mode_name(FMO_MODE_CPU));
        return say(&err);
    }
    if (!options.quiet) print_head(&run);
    run_experiments(&run);
    const int code = finish(&run);
    free(run.cell);
    return code;
}
