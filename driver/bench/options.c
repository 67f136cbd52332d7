/* The options of fmo-bench: one table, which the option parser (driver/cli/option.h) reads, and
 * checks of options against each other. The experiments are the commands. */
#define _GNU_SOURCE
#include "options.h"
#include "driver/cli/option.h"

#include <stddef.h>
#include <string.h>
#include <fmo/fock.h>

/* Names of the strategies that can add to any element of an array. */
static const char *scatter_name(int value)
{
    const fmo_scatter scatter = (fmo_scatter)value;
    return fmo_scatter_kind(scatter) == FMO_SCATTER_ELEMENT ? fmo_scatter_name(scatter) : NULL;
}
static const char *scatter_text(int value)
{
    return fmo_scatter_text((fmo_scatter)value);
}

/* Names of the modes in which builds can be timed. */
static const char *mode_name(int value)
{
    return value == FMO_MODE_CPU || value == FMO_MODE_FUSED ? fmo_mode_name((fmo_mode)value) : NULL;
}
static const char *mode_text(int value)
{
    return fmo_mode_text((fmo_mode)value);
}

static const cli_choices modes = {FMO_MODE_COUNT, mode_name, mode_text};
static const cli_choices scatters = {FMO_SCATTER_COUNT, scatter_name, scatter_text};
CLI_CHOICES(commits, FMO_COMMIT_COUNT, fmo_commit, fmo_commit);
static const cli_choices types = {BENCH_TYPE_COUNT, bench_type_name, NULL};
static const cli_choices inputs = {BENCH_INPUT_COUNT, bench_input_name, NULL};
static const cli_choices patterns = {BENCH_PATTERN_COUNT, bench_pattern_name, NULL};
static const cli_choices grids = {BENCH_GRID_COUNT, bench_grid_name, NULL};
static const cli_choices places = {BENCH_PLACE_COUNT, bench_place_name, NULL};

#define BIT(name) (1u << BENCH_##name)
enum {
    ALL = (1u << BENCH_EXPERIMENT_COUNT) - 1u,
    BUILDS = BIT(fock) | BIT(growth),
    MESSAGES = BIT(pingpong),
    PLANS = BIT(forces) | BIT(requests), /* of single molecules */
    PUBLISHED = ALL & ~BUILDS & ~PLANS & ~MESSAGES & ~BIT(scf)
};

static void show_repeat(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fprintf(stream, "%d; fock, forces, requests and growth %d", BENCH_REPEAT, BENCH_REPEAT_BUILDS);
}
static void show_seconds(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fprintf(stream, "%g; fock, forces, requests, growth and scf %g", BENCH_SECONDS,
            BENCH_SECONDS_BUILDS);
}

static void show_sweeps(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fprintf(stream, "%d; with --gpus 10 to 1000", BENCH_SWEEPS);
}
static void show_grid(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fputs("XS,S,M,L; with --gpus all but XS", stream);
}

#define AT(field) offsetof(bench_options, field)
static const cli_option option_table[] = {
    {"where", 'w', CLI_SET, "SET", AT(places), .choices = &places, .commands = PUBLISHED | MESSAGES,
     .value = "cpu,gpu", .section = "What runs",
     .help = "run the CPU parts, the GPU parts, or both"},
    {"scatter", 's', CLI_SET, "SET", AT(scatters), .choices = &scatters, .commands = PUBLISHED,
     .value = "all", .help = "strategies of the GPU parts"},
    {"commit", 0, CLI_SET, "SET", AT(commits), .choices = &commits, .commands = PUBLISHED,
     .value = "all", .help = "how an atomic update is made"},
    {"items", 'N', CLI_WHOLE, "N", AT(items), .high = 1e12,
     .commands = BIT(histogram) | BIT(reduction) | BIT(strip),
     .section = "Sizes and forms of the published experiments", .help = "items"},
    {"bins", 'b', CLI_LIST, "LIST", AT(bins), .low = 1, .high = 1e9, .commands = BIT(histogram),
     .value = "1,10,100,1000,1e4,1e5,1e6,1e7",
     .help = "bins; replay takes the data set's matrix elements instead"},
    {"type", 0, CLI_SET, "SET", AT(types), .choices = &types,
     .commands = BIT(histogram) | BIT(himeno) | BIT(reduction), .help = "type of the sums"},
    {"input", 0, CLI_SET, "SET", AT(inputs), .choices = &inputs, .commands = BIT(histogram),
     .value = "doubles", .help = "items: numbers in [0,1) or bin numbers (int32)"},
    {"pattern", 'p', CLI_SET, "SET", AT(patterns), .choices = &patterns, .commands = BIT(histogram),
     .value = "uniform", .help = "distribution of the items over the bins; replay needs --dataset"},
    {"zipf", 0, CLI_REAL, "S", AT(zipf), .high = 10, .commands = BIT(histogram), .value = "1",
     .help = "zipf: the probability of bin k is proportional to 1/(k+1)^S"},
    {"run-length", 0, CLI_WHOLE, "N", AT(run_length), .low = 1, .high = 1e9,
     .commands = BIT(histogram), .value = "8", .help = "runs: consecutive items in the same bin"},
    {"dataset", 'd', CLI_TEXT, "FILE", AT(dataset), .commands = BIT(histogram),
     .what = "the name of a file", .help = "replay: data set whose Fock build is replayed"},
    {"blocks", 0, CLI_LIST, "LIST", AT(blocks), .high = 1e9,
     .commands = BIT(histogram) | BIT(reduction),
     .help = "GPU grid in blocks; 0: as many as are resident"},
    {"batch", 0, CLI_LIST, "LIST", AT(batches), .low = 1, .high = 1e9, .commands = BIT(reduction),
     .value = "16,256", .help = "items that a thread sums before its atomic"},
    {"grid", 'g', CLI_SET, "SET", AT(grids), .choices = &grids, .commands = BIT(himeno),
     .show = show_grid, .help = "grid sizes; S64 and XL only with --gpus"},
    {"sweeps", 0, CLI_WHOLE, "N", AT(sweeps), .high = 1e6, .commands = BIT(himeno) | BIT(kmeans),
     .show = show_sweeps,
     .help = "sweeps (iterations) before the timed one; with --gpus the number of timed sweeps"},
    {"strip", 0, CLI_LIST, "LIST", AT(strips), .low = 1, .high = 1e6,
     .commands = BIT(strip) | BIT(kmeans) | BIT(median), .value = "5,10,20,50,100,200,500,1000",
     .help = "strip lengths"},
    {"edge", 0, CLI_LIST, "LIST", AT(edges), .high = 1e6, .commands = BIT(interchange),
     .value = "1000,11585", .help = "edges of the square matrix; 11585: 1 GB"},
    {"samples", 0, CLI_WHOLE, "N", AT(samples), .high = 1e8, .commands = BIT(kmeans),
     .value = "29696", .help = "samples"},
    {"clusters", 0, CLI_WHOLE, "N", AT(clusters), .low = 1, .high = 1e6, .commands = BIT(kmeans),
     .value = "1000", .help = "clusters"},
    {"dimensions", 0, CLI_WHOLE, "N", AT(dimensions), .low = 1, .high = 256,
     .commands = BIT(kmeans), .value = "32", .help = "coordinates of a sample"},
    {"image", 0, CLI_WHOLE, "N", AT(image), .high = 32768, .commands = BIT(median), .value = "1024",
     .help = "edge of the image, pixels"},
    {"window", 0, CLI_WHOLE, "N", AT(window), .low = 1, .high = 127, .commands = BIT(median),
     .value = "49", .help = "edge of the window, odd"},
    {"bytes", 0, CLI_LIST, "LIST", AT(bytes), .low = 1, .high = 1 << 30, .commands = MESSAGES,
     .value = "4,8,64,256,1024,2048,4096,8192,16384,32768,65536,2^20,2^23,2^26",
     .section = "Messages", .help = "lengths of messages"},
    {"mode", 'm', CLI_SET, "SET", AT(modes), .choices = &modes, .commands = BUILDS | BIT(scf),
     .section = "Fock builds",
     .help = "where to build; default: fused if there is a GPU, else cpu without large systems"},
    {"gpus", 0, CLI_WHOLE, "N", AT(gpus), .low = 1, .high = FMO_DEVICES_MAX,
     .commands = BIT(fock) | BIT(himeno),
     .help = "fock: number of GPUs that share each build, or among which a batch is distributed "
             "[1]; himeno: sweeps by 1, 2, 4 to N GPUs"},
    {"systems", 0, CLI_TEXT, "LIST", AT(systems), .commands = BIT(fock) | PLANS | BIT(scf),
     .what = "names of systems", .help = "prefixes of system names, such as water008,batch"},
    {"geometry", 0, CLI_TEXT, "FILE", AT(geometry), .commands = BIT(fock),
     .what = "the name of a file", .help = "a .xyz file instead of the systems; needs --basis"},
    {"basis", 0, CLI_TEXT, "NAME", AT(basis), .commands = BUILDS, .what = "a name",
     .help =
         "basis set of --geometry, a name such as 6-31g, or a file; for growth [STO-3G and 6-31G]"},
    {"geometries", 0, CLI_TEXT, "DIR", AT(geometries), .commands = BIT(fock) | PLANS | BIT(scf),
     .what = "the name of a folder",
     .help = "where the systems' .xyz files are [those installed with fmo-bench]"},
    {"fragments", 0, CLI_WHOLE, "N", AT(fragments), .low = 1, .high = 1e5,
     .commands = BIT(fock) | BIT(scf),
     .help = "displaced copies in one call: for the batch [1000], --geometry [1], or scf [1000 and "
             "10000, cpu 200 and 400]"},
    {"python", 0, CLI_TEXT, "FILE", AT(python), .commands = BIT(scf), .value = "python3",
     .what = "the name of a program", .help = "Python with PySCF, for comparison"},
    {"waters", 0, CLI_LIST, "LIST", AT(waters), .low = 1, .high = 10, .commands = BIT(growth),
     .value = "1,2,3,4,5,6,8", .help = "edges of the cubes of waters"},
    {"carbons", 0, CLI_LIST, "LIST", AT(carbons), .low = 1, .high = 1000, .commands = BIT(growth),
     .value = "5,10,20,40,60,80,100,120", .help = "lengths of the alkanes"},
    {"cutoff", 'c', CLI_REAL, "X", AT(cutoff), .high = 1, .commands = BUILDS | PLANS,
     .value = "1e-10", .help = "drop quartets estimated below X hartree"},
    {"cycles", 0, CLI_WHOLE, "N", AT(cycles), .high = 100, .commands = BUILDS | PLANS, .value = "3",
     .help = "SCF cycles to obtain the densities; 0: atomic densities"},
    {"threads", 't', CLI_WHOLE, "N", AT(threads), .low = 1, .high = 4096, .section = "Measuring",
     .help = "CPU threads"},
    {"repeat", 'n', CLI_WHOLE, "N", AT(repeat), .low = 1, .high = 1000, .show = show_repeat,
     .help = "timed runs of a cell; more if a run takes microseconds"},
    {"seconds", 0, CLI_REAL, "X", AT(seconds), .low = 1e-3, .high = 1e6, .show = show_seconds,
     .help = "time for a cell; longer cells of the other experiments are extrapolated, and marked"},
    {"seed", 0, CLI_WHOLE, "N", AT(seed), .high = 1e15, .value = "2013",
     .help = "seed of the random numbers"},
    {"json", 'j', CLI_TEXT, "FILE", AT(json), .what = "the name of a file", .section = "Results",
     .help = "write the results as JSON (docs/reference/bench.md)"},
    {"force", 0, CLI_FLAG, NULL, AT(force), .help = "replace a file that fmo did not write"},
    {"quiet", 'q', CLI_FLAG, NULL, AT(quiet), .help = "no tables"},
    {"help", 'h', CLI_ACTION, NULL, AT(action), .low = BENCH_HELP, .section = "Other",
     .help = "print this text"},
    {"version", 'V', CLI_ACTION, NULL, AT(action), .low = BENCH_VERSION,
     .help = "print the version"},
};
enum { OPTION_NUM = sizeof option_table / sizeof option_table[0] };

static const cli_program program = {
    "fmo-bench", option_table, OPTION_NUM, BENCH_EXPERIMENT_COUNT, bench_experiment_name, NULL};

/* Sets the defaults of the table; -1 if the default depends on the experiment. */
static fmo_status set_defaults(bench_options *options, fmo_error *err)
{
    memset(options, 0, sizeof *options);
    for (int i = 0; i < OPTION_NUM; i++) {
        const cli_option *row = &option_table[i];
        void *field = (char *)options + row->at;
        if (row->kind == CLI_WHOLE || row->kind == CLI_SET) *(int64_t *)field = -1;
        if (row->kind == CLI_REAL) *(double *)field = -1.0;
    }
    return cli_defaults(&program, options, err);
}

/* Sets the experiment from its name, the only operand. */
static fmo_status set_experiment(int argc, char **argv, bench_options *options, fmo_error *err)
{
    char list[256] = "all";
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ", %s", bench_experiment_name(e));
    }
    if (argc == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "no experiment given: expected one of %s (see fmo-bench --help)",
                             list);
    if (argc > 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "one experiment at a time, not also '%.64s'",
                             argv[1]);
    options->experiment = -1;
    if (strcmp(argv[0], "all") == 0) options->experiment = BENCH_EXPERIMENT_COUNT;
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++)
        if (strcmp(argv[0], bench_experiment_name(e)) == 0) options->experiment = e;
    if (options->experiment < 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "unknown experiment '%.64s': expected one of %s", argv[0], list);
    return FMO_OK;
}

/* Sets the grids and sweeps of himeno, whose defaults depend on --gpus. */
static fmo_status set_himeno(bench_options *options, fmo_error *err)
{
    const int64_t all = (1 << BENCH_GRID_COUNT) - 1;
    const int64_t ranks = 1 << BENCH_GRID_S64 | 1 << BENCH_GRID_XL;
    if (bench_himeno_ranks(options)) {
        if (options->grids < 0) options->grids = all & ~(1 << BENCH_GRID_XS);
        if (!(options->places >> BENCH_ON_GPU & 1))
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "himeno --gpus measures only GPUs: leave out --where cpu");
        return FMO_OK;
    }
    if (options->sweeps < 0) options->sweeps = BENCH_SWEEPS;
    if (options->grids < 0 || options->grids == all) options->grids = all & ~ranks;
    if (options->grids & ranks)
        return fmo_error_set(
            err, FMO_ERR_ARGUMENT, "--grid %s requires --gpus",
            bench_grid_name(options->grids >> BENCH_GRID_XL & 1 ? BENCH_GRID_XL : BENCH_GRID_S64));
    return FMO_OK;
}

/* Refuses options that have an effect only with a certain value of another one. */
static fmo_status check_companions(const bench_options *o, const bool *given, fmo_error *err)
{
    const bool gpu = o->places >> BENCH_ON_GPU & 1;
    const struct {
        const char *name, *needs;
        bool there;
    } companions[] = {{"zipf", "--pattern zipf", o->patterns >> BENCH_ZIPF & 1},
                      {"run-length", "--pattern runs", o->patterns >> BENCH_RUNS & 1},
                      {"dataset", "--pattern replay", o->patterns >> BENCH_REPLAY & 1},
                      {"scatter", "--where gpu", gpu},
                      {"commit", "--where gpu", gpu},
                      {"blocks", "--where gpu", gpu}};
    for (size_t k = 0; k < sizeof companions / sizeof *companions; k++)
        for (int i = 0; i < OPTION_NUM; i++)
            if (given[i] && !companions[k].there &&
                strcmp(option_table[i].name, companions[k].name) == 0)
                return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                     "--%s has no effect without %s: add it, or leave out --%s",
                                     companions[k].name, companions[k].needs, companions[k].name);
    return FMO_OK;
}

/* Refuses options that do not belong to the experiment, and combinations without a meaning. */
static fmo_status check_options(const bench_options *options, const bool *given, fmo_error *err)
{
    const int e = options->experiment;
    const bool all = e == BENCH_EXPERIMENT_COUNT;
    const cli_option *row =
        cli_misplaced(&program, given, all ? (unsigned)PUBLISHED : 1u << (unsigned)e);
    if (row)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s has no effect in %s: leave it out",
                             row->name, all ? "all" : bench_experiment_name(e));
    if (check_companions(options, given, err) != FMO_OK) return err->status;
    const bool histogram = e == BENCH_histogram || e == BENCH_EXPERIMENT_COUNT;
    if (histogram && (options->patterns >> BENCH_REPLAY & 1) && !options->dataset)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--pattern replay needs --dataset FILE");
    if (e == BENCH_histogram && options->types == 1 << BENCH_FLOAT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--type float: a histogram counts in int32 or double (floats stop "
                             "counting at 2^24)");
    if (e != BENCH_growth && !options->geometry != !options->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--geometry FILE and --basis NAME go together");
    if (bench_check_systems(options->systems,
                            e == BENCH_scf        ? bench_scf_system
                            : e == BENCH_requests ? bench_requests_system
                                                  : bench_fock_system,
                            err) != FMO_OK)
        return err->status;
    if (strchr(options->python, '\''))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--python: the name must not contain quotes");
    if (options->geometry && options->systems)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--geometry and --systems exclude each other");
    if (options->window % 2 == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--window %d: expected an odd number",
                             (int)options->window);
    return FMO_OK;
}

/* Parses the options and the experiment, and sets the defaults that depend on it. */
fmo_status bench_options_parse(int argc, char **argv, bench_options *options, fmo_error *err)
{
    bool given[OPTION_NUM];
    int operands = 0;
    if (set_defaults(options, err) != FMO_OK) return err->status;
    if (cli_parse(&program, argc, argv, options, given, &operands, err) != FMO_OK)
        return err->status;
    options->experiment = BENCH_EXPERIMENT_COUNT;
    if (options->action == BENCH_VERSION || (options->action == BENCH_HELP && operands == 0))
        return FMO_OK;
    if (set_experiment(operands, argv + 1, options, err) != FMO_OK) return err->status;
    if (options->action != BENCH_RUN) return FMO_OK;
    const bool builds = options->experiment < BENCH_EXPERIMENT_COUNT &&
                        bench_experiment_kind(options->experiment) == BENCH_BUILDS;
    if (options->repeat < 0) options->repeat = builds ? BENCH_REPEAT_BUILDS : BENCH_REPEAT;
    if (options->seconds < 0.0) options->seconds = builds ? BENCH_SECONDS_BUILDS : BENCH_SECONDS;
    if (check_options(options, given, err) != FMO_OK) return err->status;
    return set_himeno(options, err);
}

/* ---- --help -------------------------------------------------------------------------------- */

static void print_experiments(FILE *stream)
{
    fputs("Experiments:\n", stream);
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++)
        fprintf(stream, "  %-12s %s\n", bench_experiment_name(e), bench_experiment_text(e));
    fputs(
        "  all          all of them but fock, forces, requests, growth, scf and pingpong, in this\n"
        "               order\n",
        stream);
}

/* Prints the usage, the experiments and the options. */
void bench_options_help(int experiment, FILE *stream)
{
    const bool one = experiment < BENCH_EXPERIMENT_COUNT;
    if (one)
        fprintf(stream,
                "Usage: fmo-bench %s [OPTION]...\n%s.\n"
                "Options of this experiment; fmo-bench --help has all (docs/reference/bench.md).\n",
                bench_experiment_name(experiment), bench_experiment_text(experiment));
    else
        fputs("Usage: fmo-bench EXPERIMENT [OPTION]...\n       fmo-bench EXPERIMENT --help\nRepeat "
              "a published experiment on conflicting updates, or time Fock builds: check "
              "the\nresults, print tables (docs/reference/bench.md).\n\n",
              stream);
    if (!one) print_experiments(stream);
    cli_print_options(&program, one ? 1u << experiment : ALL, !one, NULL, stream);
    fputs("\nThe values of a LIST or SET are separated by commas; a number may be written 1e7 or "
          "2^28.\nExit codes: 0 done, 1 a result was wrong, 2 usage, 3 unusable input or output, 4 "
          "no GPU where\nonly GPU parts were requested, or a GPU error, 5 out of memory.\n",
          stream);
    if (one) return;
    fputs("\nExamples: fmo-bench histogram --items 1e6 --bins 1,1000,1e6 --json histogram.json\n"
          "          fmo-bench fock --systems water001,water008 --mode cpu\n",
          stream);
}
