/* fock: J and K of whole molecules by the library's default path, with figures of other programs
 * for comparison. Densities come from a few cycles of fmo's own SCF; every timed call gets a new
 * one. Next: fock.cu, the same with all matrices in GPU memory; growth.c, which uses the rows for
 * series. */
#define _GNU_SOURCE
#include "fock.h"
#include "base/harmless.h"
#include "molecules.h"
#include "driver/base/clock.h"
#include "driver/base/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <fmo/basis_set.h>
#include <fmo/scf.h>

/* Without a GPU, larger systems must be requested with --mode cpu. */
enum { SMALL_NAO = 104, CHECKED_FRAGMENTS = 5 };

/* Maximum number of primitive quartets for a reference without screening, which takes about ten
 * seconds on an H200 or 16 cores. The reference of larger systems is a build with cutoff
 * exact_screened. */
static const double unscreened_gpu = 2e11, unscreened_cpu = 2e10, exact_screened = 1e-15;

/* Maximum displacement of a fragment's nuclei, bohr. */
static const double displacement = 0.05;

/* ---- a case ---------------------------------------------------------------------------------- */

static double *matrices(bench_run *run, const fock_case *c, const char *what)
{
    return bench_alloc(run, (size_t)c->count * (size_t)c->nao * (size_t)c->nao, sizeof(double),
                       what);
}

static void destroy_plans(fock_case *c)
{
    for (int k = 0; k < c->count && c->plan; k++) fmo_fock_plan_destroy(c->plan[k]);
    free(c->plan);
    c->plan = NULL;
}

static void destroy_case(fock_case *c)
{
    destroy_plans(c);
    for (int k = 0; k < c->count && c->dataset; k++) fmo_dataset_destroy(c->dataset[k]);
    free(c->dataset);
    free(c->job);
    free(c->density);
    free(c->current);
    free(c->coulomb);
    free(c->exchange);
}

static bool failed(bench_run *run, const fock_case *c, fmo_status status, const fmo_error *err)
{
    if (status == FMO_OK) return false;
    bench_fail(run, status, "%s: %s", c->cell.row, err->message);
    return true;
}

fmo_status fock_make_dataset(const fmo_molecule *molecule, const char *basis, fmo_dataset **dataset,
                             fmo_error *err)
{
    fmo_basis_set *set = NULL;
    fmo_status status = fmo_basis_set_read(basis, &set, err);
    if (status == FMO_OK)
        status = fmo_dataset_create(molecule, set, molecule->charge, dataset, err);
    fmo_basis_set_destroy(set);
    return status;
}

/* Makes the data sets of the molecule, or of its displaced copies. */
static void make_datasets(bench_run *run, fock_case *c, const fock_item *item)
{
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_status status = fmo_basis_set_read(item->basis, &set, &err);
    for (int k = 0; k < c->count && status == FMO_OK; k++) {
        fmo_molecule *moved = NULL;
        if (c->count > 1)
            status = bench_displaced(item->molecule, displacement,
                                     (uint64_t)run->options->seed + (uint64_t)k, &moved, &err);
        if (status == FMO_OK)
            status = fmo_dataset_create(moved ? moved : item->molecule, set, item->molecule->charge,
                                        &c->dataset[k], &err);
        bench_molecule_destroy(moved);
    }
    fmo_basis_set_destroy(set);
    if (!failed(run, c, status, &err)) c->nao = fmo_basis_ao_num(fmo_dataset_basis(c->dataset[0]));
}

/* Runs an SCF of so many cycles, converged or not, and copies its density. */
fmo_status fock_scf_density(const fmo_dataset *dataset, const fmo_fock_options *fock, int cycles,
                            double *density, fmo_error *err)
{
    fmo_scf_options scf;
    fmo_scf_result *result = NULL;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const size_t nao = (size_t)fmo_basis_ao_num(basis);
    if (cycles == 0) return fmo_scf_atomic_densities(basis, density, err);
    const fmo_scf_input input = {.basis = basis,
                                 .electron_num = fmo_dataset_electron_num(dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
    fmo_scf_options_init(&scf);
    scf.fock = *fock;
    scf.fock.stream = NULL;
    scf.max_cycles = cycles;
    fmo_status status = fmo_scf_run(&input, &scf, &result, err);
    if (status == FMO_ERR_CHECK && result) status = FMO_OK; /* not converged, as intended */
    if (status == FMO_OK) memcpy(density, result->density, nao * nao * sizeof *density);
    fmo_scf_result_destroy(result);
    return status;
}

/* Computes the density of the first molecule; other fragments get altered copies. */
static void make_densities(bench_run *run, fock_case *c, int cycles)
{
    fmo_error err = {FMO_OK, ""};
    const int64_t one = (int64_t)c->nao * c->nao;
    const fmo_status status =
        fock_scf_density(c->dataset[0], &c->options, cycles, c->density, &err);
    if (failed(run, c, status, &err)) return;
    for (int64_t e = c->count * one - 1; e >= one; e--)
        c->density[e] =
            fock_density(c->density, c->nao, (uint64_t)run->options->seed + e / one, e % one);
}

/* Counts the quartets of all fragments; several fragments run in parallel, each on one thread. */
static void count_work(bench_run *run, fock_case *c)
{
    const size_t one = (size_t)c->nao * (size_t)c->nao;
    const int inner = c->count > 1 ? 1 : run->threads, outer = c->count > 1 ? run->threads : 1;
    double quartets = 0.0, prims = 0.0, flop = 0.0;
    fmo_error failure = {FMO_OK, ""};
#pragma omp parallel for num_threads(outer) reduction(+ : quartets, prims, flop)
    for (int k = 0; k < c->count; k++) {
        fmo_error err = {FMO_OK, ""};
        bench_work work;
        if (bench_work_count(fmo_dataset_basis(c->dataset[k]), c->density + (size_t)k * one,
                             c->options.cutoff, inner, &work, &err) == FMO_OK) {
            quartets += work.quartet_sum;
            prims += work.prim_quartet_sum;
            flop += work.flop;
            if (k == 0) c->work = work;
        } else {
#pragma omp critical(fock_count_work)
            failure = err;
        }
    }
    if (failed(run, c, failure.status, &failure)) return;
    c->work.quartet_sum = quartets;
    c->work.prim_quartet_sum = prims;
    c->work.flop = flop;
}

/* Makes the plans of all fragments, and records the time. */
static void make_plans(bench_run *run, fock_case *c)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options first = c->options;
    const double begin = driver_seconds();
    if (c->count > 1) first.device_num = first.device_num > 0; /* a fragment uses one GPU */
    if (failed(run, c,
               fmo_fock_plan_create(fmo_dataset_basis(c->dataset[0]), &first, &c->plan[0], &err),
               &err))
        return;
    if (c->count > 1) { /* they have their own streams; the first one's stream waits for all */
        const size_t others = (size_t)c->count - 1;
        const fmo_basis **basis = bench_alloc(run, others, sizeof *basis, "the molecules");
        fmo_error *errs = bench_alloc(run, others, sizeof *errs, "errors");
        fmo_fock_options options = c->options;
        fmo_status status = run->err.status;
        size_t bad = 0;
        options.stream = NULL;
        for (size_t k = 0; k < others && status == FMO_OK; k++)
            basis[k] = fmo_dataset_basis(c->dataset[k + 1]);
        if (status == FMO_OK) {
            status = fmo_fock_plan_create_batch(basis, others, &options, c->plan + 1, errs);
            while (bad + 1 < others && errs[bad].status == FMO_OK) bad++;
            (void)failed(run, c, status, &errs[bad]);
        }
        free(basis);
        free(errs);
        if (status != FMO_OK) return;
    }
    c->plan_seconds = driver_seconds() - begin;
}

/* Measures the share of accumulation in the kernels' time, by comparison with the same kernels
 * without their atomic updates. */
static void measure_accumulation(bench_run *run, fock_case *c)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options options = c->options;
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    double with = 0.0, without = 0.0;
    options.stream = NULL;
    options.measure_accumulation = 1;
    options.device_num = 0;
    fmo_status status =
        fmo_fock_plan_create(fmo_dataset_basis(c->dataset[0]), &options, &plan, &err);
    for (int k = 0; k < 3 && status == FMO_OK; k++)
        status = fmo_fock_build(plan, c->density, c->coulomb, c->exchange, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    fmo_fock_plan_destroy(plan);
    if (failed(run, c, status, &err)) return;
    for (int k = 0; k < FMO_ERI_CLASS_COUNT; k++) {
        if (profile.classes[k].quartets == 0) continue; /* classes of d shells, if there are none */
        with += profile.classes[k].seconds;
        without += profile.classes[k].compute_seconds;
    }
    c->accumulation_share = 1.0 - without / with;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Compares the last call's J, K and G of up to CHECKED_FRAGMENTS fragments with a build of cutoff 0
 * or exact_screened. */
void fock_check(bench_run *run, fock_case *c, bench_check *check)
{
    const size_t one = (size_t)c->nao * (size_t)c->nao;
    const double tolerance = fmax(1e-8, 100.0 * c->options.cutoff);
    const int checked = c->count < CHECKED_FRAGMENTS ? c->count : CHECKED_FRAGMENTS;
    double *J = bench_alloc(run, one, sizeof *J, "J to compare with");
    double *K = bench_alloc(run, one, sizeof *K, "K to compare with");
    fmo_fock_options options = c->options;
    fmo_error err = {FMO_OK, ""};
    options.stream = NULL;
    if (c->count > 1) options.device_num = 0;
    options.cutoff = c->exact_cutoff =
        c->work.unscreened_prims <= c->unscreened_max ? 0.0 : exact_screened;
    for (int s = 0; s < checked && run->err.status == FMO_OK; s++) {
        const int k = checked > 1 ? (int)((int64_t)s * (c->count - 1) / (checked - 1)) : 0;
        const double *coulomb = c->coulomb + (size_t)k * one;
        const double *exchange = c->exchange + (size_t)k * one;
        fmo_fock_plan *plan = NULL;
        fmo_status status =
            fmo_fock_plan_create(fmo_dataset_basis(c->dataset[k]), &options, &plan, &err);
        if (status == FMO_OK)
            status = fmo_fock_build(plan, c->current + (size_t)k * one, J, K, &err);
        fmo_fock_plan_destroy(plan);
        if (failed(run, c, status, &err)) break;
        for (size_t e = 0; e < one; e++) {
            const double error[3] = {coulomb[e] - J[e], exchange[e] - K[e],
                                     coulomb[e] - J[e] - 0.5 * (exchange[e] - K[e])};
            for (int m = 0; m < 3; m++) /* keeps NaN */
                if (!(fabs(error[m]) <= c->error[m])) c->error[m] = fabs(error[m]);
            bench_check_bound(check, error[2], 0.0, tolerance);
        }
    }
    free(J);
    free(K);
}

/* ---- the CPU --------------------------------------------------------------------------------- */

typedef struct cpu_task {
    bench_run *run;
    fock_case *c;
} cpu_task;

static void cpu_prepare(void *user, int64_t n)
{
    const cpu_task *t = user;
    fock_case *c = t->c;
    const int64_t size = (int64_t)c->count * c->nao * c->nao;
    (void)n;
    c->calls++;
    for (int64_t e = 0; e < size; e++) {
        c->current[e] = fock_density(c->density, c->nao, c->calls, e);
        c->coulomb[e] = c->exchange[e] = NAN;
    }
}

static double cpu_run(void *user, int64_t n)
{
    const cpu_task *t = user;
    fock_case *c = t->c;
    fmo_error err = {FMO_OK, ""};
    (void)n;
    const double begin = driver_seconds();
    const fmo_status status =
        c->count > 1 ? fmo_fock_build_batch(c->job, (size_t)c->count, &err)
                     : fmo_fock_build(c->plan[0], c->current, c->coulomb, c->exchange, &err);
    const double seconds = driver_seconds() - begin;
    if (failed(t->run, c, status, &err)) return -1.0;
    fock_call_done(c, seconds);
    return seconds;
}

static void cpu_check(void *user, int64_t n, bench_check *check)
{
    const cpu_task *t = user;
    (void)n;
    fock_check(t->run, t->c, check);
}

static void measure_cpu(bench_run *run, fock_case *c)
{
    cpu_task user = {run, c};
    const bench_task task = {&user,   1,        (int64_t)c->work.quartet_sum, 1, cpu_prepare,
                             cpu_run, cpu_check};
    const size_t one = (size_t)c->nao * (size_t)c->nao;
    for (int k = 0; k < c->count; k++)
        c->job[k] = (fmo_fock_job){.plan = c->plan[k],
                                   .density = c->current + (size_t)k * one,
                                   .coulomb = c->coulomb + (size_t)k * one,
                                   .exchange = c->exchange + (size_t)k * one};
    cpu_prepare(&user, 1);
    if (cpu_run(&user, 1) < 0.0) return;
    c->first_seconds = c->wall[0];
    c->waits = 0;
    bench_measure(run, &c->cell, &task);
}

void fock_call_done(fock_case *c, double wall)
{
    c->wall[c->waits++ % FOCK_WALL_MAX] = wall;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Median wall time of the repeats; the earlier calls were the warm-up. */
static double median_wall(fock_case *c, int repeat)
{
    const int kept = c->waits < FOCK_WALL_MAX ? c->waits : FOCK_WALL_MAX;
    const int count = repeat < kept ? repeat : kept;
    return driver_spread_of(c->wall + (kept - count), (size_t)count).median;
}

static double peak_percent(const bench_run *run, const fock_case *c, const bench_cell *cell)
{
    const double peak = c->options.mode == FMO_MODE_FUSED ? run->device.fp64_flops : 0.0;
    return peak > 0.0 ? 100.0 * c->work.flop / cell->median / peak : NAN;
}

/* Adds what was measured, and the figures of other programs, to a cell's parameters. */
static void add_parameters(const bench_run *run, fock_case *c, const fock_item *item,
                           bench_cell *cell)
{
    bench_cell_text(cell, "basis", item->basis); /* this string outlives the data set */
    bench_cell_number(cell, "atoms", item->molecule->nucleus_num);
    bench_cell_number(cell, "nao", c->nao);
    bench_cell_number(cell, "fragments", c->count);
    if (c->options.device_num > 1) bench_cell_number(cell, "gpus", c->options.device_num);
    bench_cell_number(cell, "cutoff", c->options.cutoff);
    bench_cell_number(cell, "plan_seconds", c->plan_seconds);
    bench_cell_number(cell, "first_seconds", c->first_seconds);
    bench_cell_number(cell, "wall_seconds", median_wall(c, cell->repeat));
    bench_cell_number(cell, "primitive_quartets", c->work.prim_quartet_sum);
    bench_cell_number(cell, "gflop", 1e-9 * c->work.flop);
    bench_cell_number(cell, "peak_percent", peak_percent(run, c, cell));
    bench_cell_number(cell, "accumulation_share", c->accumulation_share);
    bench_cell_number(cell, "error_coulomb", c->error[0]);
    bench_cell_number(cell, "error_exchange", c->error[1]);
    bench_cell_number(cell, "error_fock_2e", c->error[2]);
    bench_cell_number(cell, "exact_cutoff", c->exact_cutoff);
    if (item->peer) {
        bench_cell_text(cell, "peer", item->peer);
        bench_cell_number(cell, "peer_seconds", 1e-3 * item->peer_ms);
    }
    if (item->target_ms > 0.0) bench_cell_number(cell, "target_seconds", 1e-3 * item->target_ms);
}

void fock_print_head(const bench_run *run)
{
    const bench_options *o = run->options;
    if (o->quiet) return;
    printf("\n%s: J and K, cutoff %g; every call a new density; errors against cutoff 0, or with *"
           " %g; times in ms\n",
           bench_experiment_name(run->experiment), o->cutoff, exact_screened);
    printf("  %-22s %-5s %5s %9s %9s %9s %7s %8s %16s %6s %8s %8s %8s %9s %6s %6s\n", "system",
           "mode", "nao", "plan", "first", "median", "spread%", "target", "best of others",
           "faster", "error J", "error K", "error G", "GFLOP", "peak%", "accum%");
}

/* Prints a number, or "-" if it is not finite. */
static void print_number(int width, const char *format, double value)
{
    char text[32] = "-";
    if (isfinite(value)) snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

/* Prints one row of the table. */
static void print_row(const bench_run *run, const fock_case *c, const fock_item *item,
                      const bench_cell *cell)
{
    char peer[32] = "-";
    const double ms = 1e3 * cell->median;
    /* the others' figures and the targets are for a GPU */
    const bool comparable = item->peer && c->options.mode == FMO_MODE_FUSED;
    if (comparable) snprintf(peer, sizeof peer, "%.4g %s", item->peer_ms, item->peer);
    printf("  %-22s %-5s %5d", item->name, fmo_mode_name(c->options.mode), c->nao);
    print_number(9, "%.4g", 1e3 * c->plan_seconds);
    print_number(9, "%.4g", 1e3 * c->first_seconds);
    print_number(9, "%.4g", ms);
    print_number(7, "%.1f", 100.0 * cell->spread);
    print_number(8, "%.4g", comparable && item->target_ms > 0.0 ? item->target_ms : NAN);
    printf(" %16s", peer);
    print_number(6, "%.3g", comparable ? item->peer_ms / ms : NAN);
    for (int m = 0; m < 3; m++)
        printf(" %7.1e%s", c->error[m],
               m == 2 && cell->check.wrong ? "!"
               : c->exact_cutoff > 0.0     ? "*"
                                           : " ");
    print_number(8, "%.3g", 1e-9 * c->work.flop);
    print_number(6, "%.1f", peak_percent(run, c, cell));
    print_number(6, "%.1f", 100.0 * c->accumulation_share);
    putchar('\n');
    if (c->count != 1) printf("  %-22s %d fragments in a call\n", "", c->count);
    if (cell->check.wrong)
        printf("  %-22s WRONG: %lld elements of G beyond %g\n", "", (long long)cell->check.wrong,
               cell->check.bound);
    fflush(stdout);
}

/* Measures one row in one mode: data sets, densities, plans, timed builds, check. */
static void measure_mode(bench_run *run, const fock_item *item, fmo_mode mode, bool small)
{
    const bench_options *o = run->options;
    const bool gpu = mode == FMO_MODE_FUSED;
    fock_case *c = bench_alloc(run, 1, sizeof *c, "a row");
    if (!c) return;
    memset(c, 0, sizeof *c);
    c->cell = bench_cell_make(run, gpu ? BENCH_ON_GPU : BENCH_ON_CPU, fmo_mode_name(mode), NULL,
                              "quartets");
    snprintf(c->cell.table, sizeof c->cell.table, "%s", item->table);
    snprintf(c->cell.row, sizeof c->cell.row, "%s", item->name);
    snprintf(c->cell.column, sizeof c->cell.column, "%s",
             item->column ? item->column : fmo_mode_name(mode));
    fmo_fock_options_init(&c->options);
    c->options.mode = mode;
    c->options.threads = run->threads;
    c->options.cutoff = o->cutoff;
    c->options.device_num = gpu && o->gpus > 1 ? (int)o->gpus : 0;
    for (int k = 0; k < c->options.device_num; k++) c->options.devices[k] = k;
    c->accumulation_share = c->first_seconds = NAN;
    c->unscreened_max = gpu ? unscreened_gpu : unscreened_cpu;
    c->count = item->fragments;
    c->dataset = bench_alloc(run, (size_t)c->count, sizeof *c->dataset, "data sets");
    c->plan = bench_alloc(run, (size_t)c->count, sizeof *c->plan, "plans");
    c->job = bench_alloc(run, (size_t)c->count, sizeof *c->job, "jobs");
    if (c->dataset) memset(c->dataset, 0, (size_t)c->count * sizeof *c->dataset);
    if (c->plan) memset(c->plan, 0, (size_t)c->count * sizeof *c->plan);
    if (run->err.status == FMO_OK) make_datasets(run, c, item);
    if (run->err.status != FMO_OK) goto done;
    if (small && (c->nao > SMALL_NAO || c->count > 1)) {
        bench_leave_out(run, &c->cell, "large, and there is no GPU: use --mode cpu");
        if (!o->quiet)
            printf("  %-22s left out: %s\n", item->name, run->cell[run->cell_num - 1].left_out);
        goto done;
    }
    c->density = matrices(run, c, "densities");
    c->current = matrices(run, c, "altered densities");
    c->coulomb = matrices(run, c, "J");
    c->exchange = matrices(run, c, "K");
    if (run->err.status == FMO_OK) make_densities(run, c, (int)o->cycles);
    if (run->err.status == FMO_OK) count_work(run, c);
    if (run->err.status == FMO_OK && gpu) measure_accumulation(run, c);
    if (gpu) c->options.stream = fock_stream_create(run);
    if (run->err.status == FMO_OK) make_plans(run, c);
    if (run->err.status == FMO_OK) {
        if (gpu)
            bench_fock_gpu(run, c);
        else
            measure_cpu(run, c);
    }
    if (run->err.status == FMO_OK) {
        bench_cell *kept = &run->cell[run->cell_num - 1];
        add_parameters(run, c, item, kept);
        if (!o->quiet) print_row(run, c, item, kept);
    }
done:
    destroy_plans(c); /* they use the stream */
    fock_stream_destroy(c->options.stream);
    destroy_case(c);
    free(c);
}

void fock_measure(bench_run *run, const fock_item *item, bool small)
{
    const int64_t requested = run->options->modes;
    const fmo_mode automatic = run->gpu ? FMO_MODE_FUSED : FMO_MODE_CPU;
    const int64_t modes = requested >= 0 ? requested : (int64_t)1 << automatic;
    for (int mode = 0; mode < FMO_MODE_COUNT && run->err.status == FMO_OK; mode++)
        if (modes >> mode & 1)
            measure_mode(run, item, (fmo_mode)mode, small && requested < 0 && !run->gpu);
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct fock_system {
    const char *name, *geometry, *basis, *peer;
    double peer_ms, target_ms;
    int fragments;
} fock_system;

static const fock_system systems[] = {
#define ROW(name, geometry, basis, peer, peer_ms, target_ms, fragments) \
    {name, geometry, basis, peer, peer_ms, target_ms, fragments},
    FOCK_SYSTEM_TABLE(ROW)
#undef ROW
};
enum { SYSTEM_NUM = sizeof systems / sizeof systems[0] };

/* Whether a system's name begins with a word of --systems of the given length, in any case. */
static bool begins(const char *name, const char *word, size_t length)
{
    return length > 0 && strncasecmp(name, word, length) == 0;
}

bool bench_listed(const char *list, const char *name)
{
    for (const char *word = list; word; word = strchr(word, ',')) {
        word += *word == ',';
        if (begins(name, word, strcspn(word, ","))) return true;
    }
    return !list;
}

const char *bench_fock_system(int system)
{
    return system < SYSTEM_NUM ? systems[system].name : NULL;
}

/* Compares each word of the list with the beginnings of all names. */
fmo_status bench_check_systems(const char *list, const char *(*name)(int), fmo_error *err)
{
    for (const char *word = list; word; word = strchr(word, ',')) {
        bool known = false;
        word += *word == ',';
        const size_t length = strcspn(word, ",");
        for (int s = 0; name(s); s++) known |= begins(name(s), word, length);
        if (known) continue;
        char names[400] = "";
        for (int s = 0; name(s); s++) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", s ? ", " : "", name(s));
        }
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--systems '%.*s': expected a prefix of one of %s",
                             (int)(length < 64 ? length : 64), word, names);
    }
    return FMO_OK;
}

static void run_file(bench_run *run, const char *path, const fock_item *item, bool small)
{
    fmo_error err = {FMO_OK, ""};
    fmo_molecule *molecule = NULL;
    const fmo_status status = fmo_molecule_read_xyz(path, &molecule, &err);
    if (status != FMO_OK) {
        bench_fail(run, status, "%s%s", err.message,
                   run->options->geometry ? "" : "; --geometries names the folder");
        return;
    }
    fock_item own = *item;
    own.molecule = molecule;
    fock_measure(run, &own, small);
    fmo_molecule_destroy(molecule);
}

static void run_own(bench_run *run)
{
    const bench_options *o = run->options;
    char name[48];
    const char *slash = strrchr(o->geometry, '/');
    snprintf(name, sizeof name, "%.40s", slash ? slash + 1 : o->geometry);
    fmo_text_harmless(name);
    const fock_item item = {.name = name,
                            .table = "own geometry",
                            .basis = o->basis,
                            .fragments = o->fragments > 0 ? (int)o->fragments : 1};
    run_file(run, o->geometry, &item, false);
}

/* Runs the systems of the table that --systems selects, or the one of --geometry. */
void bench_fock(bench_run *run)
{
    const bench_options *o = run->options;
    fock_print_head(run);
    if (o->geometry) {
        run_own(run);
        return;
    }
    for (int s = 0; s < SYSTEM_NUM && run->err.status == FMO_OK; s++) {
        const fock_system *system = &systems[s];
        char path[4096];
        if (!bench_listed(o->systems, system->name)) continue;
        const bool resized = system->fragments > 1 && o->fragments > 0;
        const int fragments = resized ? (int)o->fragments : system->fragments;
        const double share = (double)fragments / system->fragments; /* scales the times */
        const fock_item item = {.name = system->name,
                                .table = "systems",
                                .basis = system->basis,
                                .peer = system->peer,
                                .peer_ms = share * system->peer_ms,
                                .target_ms = share * system->target_ms,
                                .fragments = fragments};
        bench_geometry_path(o, system->geometry, sizeof path, path);
        run_file(run, path, &item, !o->systems);
    }
}
