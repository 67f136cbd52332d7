/* The command line of fmo-bench: one table in options.c. */
#ifndef FMO_BENCH_OPTIONS_H
#define FMO_BENCH_OPTIONS_H

#include "bench.h"

typedef enum bench_action { BENCH_RUN, BENCH_HELP, BENCH_VERSION } bench_action;

/** Parse argv, options anywhere; permutes argv as getopt_long does.
 *  @return FMO_OK, or FMO_ERR_ARGUMENT with one line that names the option and what it takes */
fmo_status bench_options_parse(int argc, char **argv, bench_options *options, fmo_error *err);

/** The text of --help. */
void bench_options_help(FILE *stream);

#endif
