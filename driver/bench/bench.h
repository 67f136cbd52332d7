/* The harness of fmo-bench: cells, timing, tables, JSON. An experiment consists of a pair of files,
 * NAME.c (data, CPU parts, reference) and NAME.cu (GPU parts), and a row of the table below; growth
 * uses the GPU part of fock.
 *
 * A cell is one number of a table: a method (row) at one size (column). bench_measure() measures
 * it: it warms up, repeats, limits the time and checks the result. */
#ifndef FMO_BENCH_H
#define FMO_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <fmo/scatter.h>
#include <fmo/status.h>
#include "driver/cli/option.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds: published experiments, which `all` runs and the harness prints; Fock builds and messages
 * between ranks, which print their own rows. X(name, kind, line for --help) */
#define BENCH_EXPERIMENT_TABLE(X)                                                                 \
    X(histogram, PUBLISHED,                                                                       \
      "N items into bins: strategies, atomic updates, private bins, CUB; conflict patterns")      \
    X(himeno, PUBLISHED,                                                                          \
      "Poisson equation by Jacobi sweeps in float: six ways to reduce the residual")              \
    X(reduction, PUBLISHED, "one sum of N items: an atomic per item, batches, trees, CUB")        \
    X(strip, PUBLISHED, "strip mining: a loop cut into strips, inner loop serial or parallel")    \
    X(interchange, PUBLISHED, "b[j] += a[i][j]: both loop orders, both storage orders")           \
    X(kmeans, PUBLISHED, "k-means: centroids staged in strips, centroid update as a scatter-add") \
    X(median, PUBLISHED,                                                                          \
      "median filter: window read directly, staged in shared memory, sliding in strips")          \
    X(fock, BUILDS, "J and K of molecules and of a batch, compared with other programs")          \
    X(forces, BUILDS, "derivatives of the two-electron energy, compared with J and K")            \
    X(requests, BUILDS, "spins, general densities, operators, compared with J and K")             \
    X(growth, BUILDS, "J and K against size: water clusters and alkanes")                         \
    X(scf, BUILDS, "RHF of many molecules: one by one, in one call, by PySCF")                    \
    X(pingpong, MESSAGES,                                                                         \
      "messages between two ranks, sent in kernels and from the host, by size; costs of calls")

typedef enum bench_kind { BENCH_PUBLISHED, BENCH_BUILDS, BENCH_MESSAGES } bench_kind;

#define BENCH_ENUM_ROW(name, kind, text) BENCH_##name,
typedef enum bench_experiment {
    BENCH_EXPERIMENT_TABLE(BENCH_ENUM_ROW) BENCH_EXPERIMENT_COUNT
} bench_experiment;
#undef BENCH_ENUM_ROW

enum { BENCH_PARAM_MAX = 24 };

/* Element types of sums. X(enumerator, name) */
#define BENCH_TYPE_TABLE(X) \
    X(BENCH_INT32, "int32") \
    X(BENCH_FLOAT, "float") \
    X(BENCH_DOUBLE, "double")
/* Kinds of items of a histogram: numbers in [0,1) or bin numbers. */
#define BENCH_INPUT_TABLE(X)    \
    X(BENCH_DOUBLES, "doubles") \
    X(BENCH_IDS, "ids")
/* Distributions of the items over the bins, which determine how often updates conflict. */
#define BENCH_PATTERN_TABLE(X)  \
    X(BENCH_UNIFORM, "uniform") \
    X(BENCH_ZIPF, "zipf")       \
    X(BENCH_RUNS, "runs")       \
    X(BENCH_REPLAY, "replay")
/* Grid sizes of the published benchmark, i x j x k including boundaries; S64 is called SMALL in the
 * paper on GMPI. X(name, i, j, k) */
#define BENCH_GRID_TABLE(X) \
    X(XS, 32, 32, 64)       \
    X(S, 64, 64, 128)       \
    X(M, 128, 128, 256)     \
    X(L, 256, 256, 512)     \
    X(S64, 64, 64, 64)      \
    X(XL, 512, 512, 1024)
#define BENCH_PLACE_TABLE(X) \
    X(BENCH_ON_CPU, "cpu")   \
    X(BENCH_ON_GPU, "gpu")

#define BENCH_ENUM_ROW(e, name) e,
typedef enum bench_type { BENCH_TYPE_TABLE(BENCH_ENUM_ROW) BENCH_TYPE_COUNT } bench_type;
typedef enum bench_input { BENCH_INPUT_TABLE(BENCH_ENUM_ROW) BENCH_INPUT_COUNT } bench_input;
typedef enum bench_pattern {
    BENCH_PATTERN_TABLE(BENCH_ENUM_ROW) BENCH_PATTERN_COUNT
} bench_pattern;
typedef enum bench_place { BENCH_PLACE_TABLE(BENCH_ENUM_ROW) BENCH_PLACE_COUNT } bench_place;
#undef BENCH_ENUM_ROW
#define BENCH_ENUM_ROW(name, i, j, k) BENCH_GRID_##name,
typedef enum bench_grid { BENCH_GRID_TABLE(BENCH_ENUM_ROW) BENCH_GRID_COUNT } bench_grid;
#undef BENCH_ENUM_ROW

const char *bench_experiment_name(int experiment);
const char *bench_experiment_text(int experiment);
bench_kind bench_experiment_kind(int experiment);
const char *bench_type_name(int type);
const char *bench_input_name(int input);
const char *bench_pattern_name(int pattern);
const char *bench_grid_name(int grid);
const char *bench_place_name(int place);

/* Set by options.c. A set of choices is a bit mask; -1 selects the experiment's default. */
typedef struct bench_options {
    int action;     /**< bench_action of options.h */
    int experiment; /**< BENCH_EXPERIMENT_COUNT: all published ones */
    int64_t items;
    cli_list bins, blocks, strips, batches, edges, waters, carbons, bytes;
    int64_t types, inputs, patterns, grids, places, scatters, commits, modes;
    int64_t gpus;
    int64_t run_length, samples, clusters, dimensions, sweeps, image, window;
    int64_t threads, repeat, seed, cycles, fragments;
    double zipf, seconds, cutoff;
    const char *dataset, *json, *systems, *geometries, *geometry, *basis, *python;
    bool quiet, force;
} bench_options;

typedef struct bench_device {
    char name[256];
    int sms, shared_bytes, l2_bytes, window_bytes, driver, runtime, capability;
    int64_t memory;
    double fp64_flops; /* peak operations per second of the vector units; 0: not known */
} bench_device;

/* How a result is compared with the CPU's: exactly, or within an error bound. */
typedef enum bench_check_kind { BENCH_CHECK_NONE, BENCH_EXACT, BENCH_BOUND } bench_check_kind;
typedef struct bench_check {
    bench_check_kind kind;
    int64_t wrong;       /* number of values that differ or exceed the bound */
    double error, bound; /* BENCH_BOUND: of the value with the largest error/bound */
} bench_check;

/* A parameter of a cell, for the JSON. If text is NULL, it is the number. */
typedef struct bench_param {
    const char *name, *text;
    double number;
} bench_param;

typedef struct bench_cell {
    bench_experiment experiment;
    bench_place place;
    char table[112], row[64], column[32];
    char method[40];
    const char *commit; /* NULL if there is none */
    char against[64];   /* row by which the ratio divides; "" for none */
    const char *unit;   /* unit of the items, e.g. "updates" */
    bench_param param[BENCH_PARAM_MAX];
    int param_num;
    /* set by bench_measure */
    int64_t items, items_run;
    bool extrapolated;
    int repeat;
    double median, min, max; /* seconds for all items; scaled up if extrapolated */
    double spread;           /* of the repeats, divided by the median; NaN for one run */
    double first, spare; /* first: time of the first or warm-up run; spare: for the experiment */
    double ratio;        /* NaN until the table is printed, or if there is none */
    bench_check check;
    char left_out[160]; /* why there is no measurement; "" if there is one */
    char note[160];
} bench_cell;

typedef struct bench_run {
    const bench_options *options;
    bench_experiment experiment;
    bool cpu, gpu; /* which parts run */
    int threads;   /* number of CPU threads */
    bench_device device;
    char no_gpu[512]; /* why the GPU parts are left out, or "" */
    bench_cell *cell;
    int cell_num, cell_max;
    fmo_error err; /* first error; everything after it is skipped */
} bench_run;

/* The work of a cell, divided into units of which the first n can be done. run() returns seconds;
 * negative after bench_fail(). */
typedef struct bench_task {
    void *user;
    int64_t units;                          /* number of all units */
    int64_t weight;                         /* items per unit */
    int64_t representative;                 /* minimum number of units from which to extrapolate */
    void (*prepare)(void *user, int64_t n); /* called before each run, not timed; may be NULL */
    double (*run)(void *user, int64_t n);
    void (*check)(void *user, int64_t n, bench_check *check); /* of the last run; may be NULL */
} bench_task;

/** Returns a new cell of the run's experiment. */
bench_cell bench_cell_make(const bench_run *run, bench_place place, const char *method,
                           const char *commit, const char *unit);
void bench_cell_number(bench_cell *cell, const char *name, double value);
void bench_cell_text(bench_cell *cell, const char *name, const char *value);

/** Times the task, checks its result, and stores the cell. Does nothing after an error. */
void bench_measure(bench_run *run, bench_cell *cell, const bench_task *task);

/** Stores the cell without a measurement, with the reason. */
void bench_leave_out(bench_run *run, bench_cell *cell, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Stores a cell that the experiment has measured itself. */
void bench_keep(bench_run *run, const bench_cell *cell);

/** Number of processes that mpirun has started together, 1 without it; and whether this process is
 *  the first of them. The others take part in measurements, but neither print nor write. */
int bench_processes(void);
bool bench_is_first(void);

/** Records an error of the run; only the first one is kept. Returns -1.0, an invalid time. */
double bench_fail(bench_run *run, fmo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Allocates at least one byte; returns NULL after an error, which names `what`. */
void *bench_alloc(bench_run *run, size_t count, size_t size, const char *what);

/** Adds the comparison of one value to a check. */
void bench_check_exact(bench_check *check, bool same);
void bench_check_bound(bench_check *check, double got, double want, double bound);

/** Computes the ratios and prints the tables of the cells from index `first` on, with lines for
 *  cells that are wrong or left out. */
void bench_ratios(bench_run *run, int first);
void bench_print(const bench_run *run, int first, FILE *stream);

/** Returns the number of cells that failed their check. */
int bench_failures(const bench_run *run);

fmo_status bench_json_write(const bench_run *run, const char *path, fmo_error *err);

/** Opens the GPU: sets device, or no_gpu to the reason. Returns FMO_OK also without a GPU,
 *  FMO_ERR_DEVICE if it is faulty. */
fmo_status bench_gpu_open(bench_run *run);

/* Entry points of the experiments. `what` is the experiment's own description of a case. */
#define BENCH_EXPERIMENT_ROW(name, kind, text) \
    void bench_##name(bench_run *run);         \
    void bench_##name##_gpu(bench_run *run, const void *what);
BENCH_EXPERIMENT_TABLE(BENCH_EXPERIMENT_ROW)
#undef BENCH_EXPERIMENT_ROW

/** Names of the systems of `fock`, `scf` and `requests` by index; NULL after the last. */
const char *bench_fock_system(int system);
const char *bench_scf_system(int system);
const char *bench_requests_system(int system);

/** Whether a name begins with a word of the list (of --systems); true if the list is NULL. */
bool bench_listed(const char *list, const char *name);

/** Writes the path of a system's geometry: NAME.xyz in the folder of --geometries, or in
 * share/fmo/xyz beside the program. */
void bench_geometry_path(const bench_options *options, const char *name, size_t size, char *path);

/** Checks that every word in the list of --systems begins a system's name; NULL: all systems.
 *  @return FMO_OK, FMO_ERR_ARGUMENT with one line that lists the names */
fmo_status bench_check_systems(const char *list, const char *(*name)(int), fmo_error *err);

/** himeno with --gpus: sweeps by several GPUs, instead of ways to reduce the residual. */
static inline bool bench_himeno_ranks(const bench_options *o)
{
    return o->experiment == BENCH_himeno && o->gpus > 0;
}

/** Formats powers of ten (times a digit) from 1e4 on as "1e7", other numbers with all digits. */
void bench_format_count(int64_t count, char *text, size_t size);

/** Whether --scatter and --commit select this pair. */
static inline bool bench_selected(const bench_options *o, fmo_scatter scatter, fmo_commit commit)
{
    if (!(o->scatters >> scatter & 1)) return false;
    return !fmo_scatter_takes_commit(scatter) || (o->commits >> commit & 1);
}

/* Returns the value of an option, or the fallback if it was not given (-1). */
static inline int64_t bench_or(int64_t value, int64_t fallback)
{
    return value >= 0 ? value : fallback;
}

#ifdef __cplusplus
}
#endif
#endif
