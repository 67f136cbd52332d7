/* The command line of fmo-bench: one table in options.c. */
#ifndef FMO_BENCH_OPTIONS_H
#define FMO_BENCH_OPTIONS_H

#include "bench.h"

/* Defaults: sweeps, timed runs of a cell, and seconds for a cell. */
enum { BENCH_SWEEPS = 2, BENCH_REPEAT = 5, BENCH_REPEAT_BUILDS = 20 };
#define BENCH_SECONDS        0.5
#define BENCH_SECONDS_BUILDS 3.0

typedef enum bench_action { BENCH_RUN, BENCH_HELP, BENCH_VERSION } bench_action;

/** Parses argv; the experiment is moved to the front of argv.
 *  @return FMO_OK, or FMO_ERR_ARGUMENT with one line that names the option and what it expects */
fmo_status bench_options_parse(int argc, char **argv, bench_options *options, fmo_error *err);

/** Prints the text of --help.
 *  @param[in] experiment  prints only its options; BENCH_EXPERIMENT_COUNT: all */
void bench_options_help(int experiment, FILE *stream);

#endif
