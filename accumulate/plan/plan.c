/* Plans: checking options, choosing the mode, preparing the density and the results. */
#include "accumulate/plan/plan.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accumulate/rules/digest.h"
#include "accumulate/gpu/gpu.h"
#include "integrals/names.h"

FMO_NAMES(fmo_mode, fmo_mode, FMO_MODE_TABLE)
FMO_NAMES(fmo_reduce, fmo_reduce, FMO_REDUCE_TABLE)
FMO_NAMES(fmo_integrals, fmo_integrals, FMO_INTEGRALS_TABLE)

void fmo_fock_options_init(fmo_fock_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
    options->mode = FMO_MODE_AUTO;
    options->reduce = FMO_REDUCE_TREE;
    options->cutoff = 1e-10;
}

double fmo_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fmo_plan_progress(const fmo_fock_plan *plan, double fraction)
{
    if (plan->options.progress) plan->options.progress(fraction, plan->options.progress_user);
}

size_t fmo_plan_memory(const fmo_fock_plan *plan)
{
    if (plan->options.memory) return plan->options.memory;
    unsigned long long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    if (f) {
        while (!kib && fgets(line, sizeof line, f)) sscanf(line, "MemAvailable: %llu", &kib);
        fclose(f);
    }
    return kib ? (size_t)kib * 1024 : SIZE_MAX;
}

static fmo_status check_options(const fmo_fock_options *o, fmo_error *err)
{
    if ((unsigned)o->mode >= FMO_MODE_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.mode = %d: no such mode", o->mode);
    if ((unsigned)o->reduce >= FMO_REDUCE_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.reduce = %d: no such form", o->reduce);
    if ((unsigned)o->scatter >= FMO_SCATTER_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.scatter = %d: no such strategy",
                             o->scatter);
    if ((unsigned)o->commit >= FMO_COMMIT_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.commit = %d: no such form", o->commit);
    if ((unsigned)o->integrals >= FMO_INTEGRALS_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.integrals = %d: no such form",
                             o->integrals);
    if (o->threads < 0 || o->threads > 65536)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.threads = %d: expected 0 to 65536",
                             o->threads);
    if (!(o->cutoff >= 0.0 && o->cutoff <= 1.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.cutoff = %g: expected 0 to 1",
                             o->cutoff);
    return FMO_OK;
}

static const fmo_mode_implementation *const implementation[FMO_MODE_COUNT] = {
    [FMO_MODE_CPU] = &fmo_mode_cpu,
    [FMO_MODE_REFERENCE] = &fmo_mode_reference,
    [FMO_MODE_FUSED] = &fmo_mode_fused,
    [FMO_MODE_SPLIT] = &fmo_mode_split,
};

fmo_status fmo_gpu_available(fmo_error *err)
{
    return fmo_gpu_probe(err);
}

static fmo_status choose_mode(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_fock_options *o = &plan->options;
    char *reason = plan->profile.mode_reason;
    const size_t size = sizeof plan->profile.mode_reason;
    if (o->mode == FMO_MODE_AUTO) {
        fmo_error no_gpu = {FMO_OK, ""};
        const fmo_status status = fmo_gpu_probe(&no_gpu);
        if (status != FMO_OK && status != FMO_ERR_NO_DEVICE) {
            if (err && err->status == FMO_OK) *err = no_gpu;
            return status;
        }
        o->mode = status == FMO_OK ? FMO_MODE_FUSED : FMO_MODE_CPU;
        if (status == FMO_OK)
            snprintf(reason, size, "a GPU answers");
        else
            snprintf(reason, size, "no GPU: %.140s", no_gpu.message);
    } else if (o->mode == FMO_MODE_FUSED || o->mode == FMO_MODE_SPLIT) {
        fmo_error no_gpu = {FMO_OK, ""};
        const fmo_status status = fmo_gpu_probe(&no_gpu);
        if (status != FMO_OK)
            return fmo_error_set(err, status, "mode %s needs a GPU: %s; use mode cpu",
                                 fmo_mode_name(o->mode), no_gpu.message);
    }
    if (o->reduce == FMO_REDUCE_SERIAL && o->mode != FMO_MODE_SPLIT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "reduce = serial belongs to mode split; for mode %s use tree or "
                             "atomic (or 1 thread)",
                             fmo_mode_name(o->mode));
    if (o->mode == FMO_MODE_FUSED && o->commit != FMO_COMMIT_NATIVE &&
        !fmo_scatter_takes_commit(o->scatter))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "commit = %s: scatter = %s has a commit of its own; leave commit out",
                             fmo_commit_name(o->commit), fmo_scatter_name(o->scatter));
    if (o->integrals == FMO_INTEGRALS_STORED && o->mode != FMO_MODE_CPU &&
        o->mode != FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "integrals = stored belongs to modes cpu and fused; mode %s computes "
                             "them in every build: use direct or auto",
                             fmo_mode_name(o->mode));
    plan->mode = implementation[o->mode];
    if (!plan->mode->build)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "mode %s is not in this build; use cpu or reference",
                             fmo_mode_name(o->mode));
    return FMO_OK;
}

int64_t fmo_plan_quartets(const fmo_fock_plan *plan, fmo_eri_class eri_class)
{
    static const fmo_pair_class pair_class[FMO_ERI_CLASS_COUNT][2] = {
#define ROW(e, name, li, lj, lk, ll, bra, ket) [e] = {bra, ket},
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    };
    const fmo_pair_class bra = pair_class[eri_class][0], ket = pair_class[eri_class][1];
    const int64_t bras = plan->pairs.list[bra].all, kets = plan->pairs.list[ket].all;
    return bra == ket ? bras * (bras + 1) / 2 : bras * kets;
}

/* Pairs for densities up to `largest`; made again only when a density is larger than any before. */
static fmo_status make_pairs(fmo_fock_plan *plan, double largest, fmo_error *err)
{
    fmo_shell_pairs pairs;
    const double limit = largest > FMO_PRUNE_DENSITY ? 2.0 * largest : FMO_PRUNE_DENSITY;
    const double prune = plan->options.cutoff * FMO_PRUNE_SHARE * (FMO_PRUNE_DENSITY / limit);
    fmo_status status = (plan->mode->sp_pairs ? fmo_sp_pairs_make : fmo_shell_pairs_make)(
        plan->basis, prune, plan->options.threads, &pairs, err);
    if (status != FMO_OK) return status;
    fmo_shell_pairs_free(&plan->pairs);
    plan->pairs = pairs;
    plan->density_limit = limit;
    return (plan->state || plan->gpu) && plan->mode->new_pairs ? plan->mode->new_pairs(plan, err)
                                                               : FMO_OK;
}

void fmo_fock_plan_destroy(fmo_fock_plan *plan)
{
    if (!plan) return;
    if (plan->mode && plan->mode->release) plan->mode->release(plan);
    fmo_shell_pairs_free(&plan->pairs);
    fmo_basis_destroy(plan->basis);
    free(plan->density);
    free(plan->coulomb);
    free(plan->exchange);
    free(plan->density_max);
    free(plan->row_max);
    free(plan);
}

static fmo_status create(const fmo_basis *basis, const fmo_fock_options *options, int in_batch,
                         fmo_fock_plan **plan_out, fmo_error *err)
{
    const double start = fmo_now();
    fmo_fock_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a plan");
    plan->in_batch = in_batch;
    if (options)
        plan->options = *options;
    else
        fmo_fock_options_init(&plan->options);

    fmo_status status = check_options(&plan->options, err);
    if (status == FMO_OK) status = choose_mode(plan, err);
    if (status != FMO_OK) goto done;
    if (!plan->options.threads) plan->options.threads = omp_get_max_threads();

    const size_t n = (size_t)basis->ao_num, ns = (size_t)basis->shell_num;
    plan->basis = fmo_basis_copy(basis);
    plan->density = malloc(n * n * sizeof *plan->density);
    plan->coulomb = malloc(n * n * sizeof *plan->coulomb);
    plan->exchange = malloc(n * n * sizeof *plan->exchange);
    plan->density_max = malloc(ns * ns * sizeof *plan->density_max);
    plan->row_max = malloc(ns * sizeof *plan->row_max);
    if (!plan->basis || !plan->density || !plan->coulomb || !plan->exchange || !plan->density_max ||
        !plan->row_max) {
        status =
            fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the matrices of %zu functions", n);
        goto done;
    }
    if (plan->mode->needs_pairs) status = make_pairs(plan, 0.0, err);
    if (status == FMO_OK && plan->mode->prepare) status = plan->mode->prepare(plan, err);
done:
    if (status != FMO_OK) {
        fmo_fock_plan_destroy(plan);
        return status;
    }
    plan->profile.mode = plan->options.mode;
    plan->profile.threads = plan->options.threads;
    plan->profile.plan_seconds = fmo_now() - start;
    *plan_out = plan;
    return FMO_OK;
}

fmo_status fmo_fock_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                fmo_fock_plan **plan, fmo_error *err)
{
    if (!basis || !plan) return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_plan_create: NULL");
    *plan = NULL;
    return create(basis, options, 0, plan, err);
}

fmo_status fmo_fock_plan_create_batch(const fmo_basis *const *basis, size_t count,
                                      const fmo_fock_options *options, fmo_fock_plan **plans,
                                      fmo_error *errs)
{
    const int asked = options && options->threads ? options->threads : omp_get_max_threads();
    const int threads = (size_t)asked < count ? asked : (int)count;
    const int on_cpu =
        options && (options->mode == FMO_MODE_CPU || options->mode == FMO_MODE_REFERENCE);
    const int device = on_cpu ? -1 : fmo_gpu_current_device(); /* which starts the driver */
    size_t failed = count;
    fmo_status status = FMO_OK;
    if (count == 0) return FMO_OK;
    if (!basis || !plans) return FMO_ERR_ARGUMENT;
#pragma omp parallel num_threads(threads > 0 ? threads : 1)
    {
        fmo_gpu_use_device(device);
#pragma omp for schedule(dynamic)
        for (size_t k = 0; k < count; k++) {
            fmo_error own = {FMO_OK, ""};
            plans[k] = NULL;
            if (basis[k])
                (void)create(basis[k], options, 1, &plans[k], &own);
            else
                (void)fmo_error_set(&own, FMO_ERR_ARGUMENT, "fmo_fock_plan_create_batch: NULL");
            if (errs) errs[k] = own;
#pragma omp critical(fmo_plan_batch)
            if (own.status != FMO_OK && k < failed) {
                failed = k;
                status = own.status;
            }
        }
    }
    return status;
}

/* Finite, symmetric; its largest element is noted. */
static fmo_status check_density(fmo_fock_plan *plan, const double *D, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    double largest = 0.0;
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(D[i]))
            return fmo_error_set(err, FMO_ERR_INPUT, "density[%zu][%zu] = %g: not finite", i / n,
                                 i % n, D[i]);
        largest = fmax(largest, fabs(D[i]));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(D[i * n + j] - D[j * n + i]) > 1e-10 * largest)
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "density[%zu][%zu] - density[%zu][%zu] = %g: expected a "
                                     "symmetric density",
                                     i, j, j, i, D[i * n + j] - D[j * n + i]);
    plan->density_largest = largest; /* factors are at most 1 */
    return FMO_OK;
}

/* The caller's density in internal order, with its block maxima. */
static void take_density(fmo_fock_plan *plan, const double *D)
{
    const fmo_basis *b = plan->basis;
    const size_t n = (size_t)b->ao_num, ns = (size_t)b->shell_num;
    for (size_t a = 0; a < n; a++) {
        const size_t p = (size_t)b->ao_caller[a];
        for (size_t c = 0; c < n; c++) {
            const size_t q = (size_t)b->ao_caller[c];
            plan->density[a * n + c] =
                b->ao_factor[a] * b->ao_factor[c] * (0.5 * D[p * n + q] + 0.5 * D[q * n + p]);
        }
    }
    plan->density_largest = 0.0;
    for (size_t s = 0; s < ns; s++) {
        plan->row_max[s] = 0.0;
        for (size_t t = 0; t < ns; t++) {
            const fmo_shell *A = &b->shell[s], *B = &b->shell[t];
            double block = 0.0;
            for (int x = 0; x <= 2 * A->ang_mom; x++)
                for (int y = 0; y <= 2 * B->ang_mom; y++)
                    block = fmax(block, fabs(plan->density[(size_t)(A->ao_begin + x) * n +
                                                           (size_t)(B->ao_begin + y)]));
            plan->density_max[s * ns + t] = block;
            plan->row_max[s] = fmax(plan->row_max[s], block);
        }
        plan->density_largest = fmax(plan->density_largest, plan->row_max[s]);
    }
}

/* Everything before the mode's work. */
static fmo_status begin_build(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    plan->built = 0;
    plan->begun = fmo_now();
    memset(plan->profile.classes, 0, sizeof plan->profile.classes);
    plan->profile.screening_seconds = plan->profile.reduce_seconds = NAN;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        plan->profile.classes[c].seconds = plan->profile.classes[c].compute_seconds = NAN;
    plan->profile.transfer_seconds = plan->profile.gpu_seconds = NAN;
    fmo_status status = check_density(plan, density, err);
    if (status == FMO_OK && plan->mode->needs_pairs && plan->density_largest > plan->density_limit)
        status = make_pairs(plan, plan->density_largest, err);
    if (status != FMO_OK) return status;
    if (plan->mode->host_matrices) {
        take_density(plan, density);
        memset(plan->coulomb, 0, n * n * sizeof *plan->coulomb);
        memset(plan->exchange, 0, n * n * sizeof *plan->exchange);
    }
    return FMO_OK;
}

fmo_status fmo_fock_build(fmo_fock_plan *plan, const double *density, double *coulomb,
                          double *exchange, fmo_error *err)
{
    if (!plan || !density || !coulomb || !exchange)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_build: NULL");
    const size_t n = (size_t)plan->basis->ao_num;
    fmo_status status = begin_build(plan, density, err);
    if (status == FMO_OK) status = plan->mode->build(plan, density, err);
    if (status != FMO_OK) return status;
    const double built = fmo_now();
    if ((plan->options.measure_classes || plan->options.measure_accumulation) &&
        plan->mode->measure)
        status = plan->mode->measure(plan, err);
    if (status != FMO_OK) return status; /* outputs still untouched */
    const double measured = fmo_now();
    if (plan->mode->host_matrices) {
        fmo_basis_matrix_to_caller(plan->basis, plan->coulomb, FMO_DIGEST_FINAL_J, coulomb);
        fmo_basis_matrix_to_caller(plan->basis, plan->exchange, FMO_DIGEST_FINAL_K, exchange);
    } else {
        memcpy(coulomb, plan->coulomb, n * n * sizeof *coulomb);
        memcpy(exchange, plan->exchange, n * n * sizeof *exchange);
    }
    plan->profile.seconds = fmo_now() - plan->begun - (measured - built);
    plan->built = 1;
    return FMO_OK;
}

/* Puts the job's number in front of its message. */
static void name_job(size_t job, const fmo_error *failure, fmo_error *err)
{
    if (failure->status != FMO_OK)
        (void)fmo_error_set(err, failure->status, "job %zu: %s", job, failure->message);
}

/* Waits for the build that runs on a plan. */
static fmo_status finish_job(fmo_fock_plan *plan, const fmo_fock_job *jobs, fmo_error *err)
{
    const fmo_fock_job *job = plan->running;
    fmo_error failure = {FMO_OK, ""};
    plan->running = NULL;
    const fmo_status status = plan->mode->finish(plan, job->coulomb, job->exchange, &failure);
    plan->profile.seconds = fmo_now() - plan->begun;
    plan->built = status == FMO_OK;
    name_job((size_t)(job - jobs), &failure, err);
    return status;
}

/* Jobs whose densities are checked and that are not started yet: of plans of one mode, each once.
 */
enum { WAITING_MAX = 256 };
typedef struct waiting_jobs {
    fmo_fock_job job[WAITING_MAX];
    size_t count;
} waiting_jobs;

static fmo_status start_waiting(waiting_jobs *w, const fmo_fock_job *jobs, fmo_error *err)
{
    fmo_error failure = {FMO_OK, ""};
    if (w->count == 0) return FMO_OK;
    const fmo_status status = w->job[0].plan->mode->start(w->job, w->count, &failure);
    if (status != FMO_OK) {
        const fmo_fock_job *first = w->job[0].plan->running;
        const fmo_fock_job *last = w->job[w->count - 1].plan->running;
        (void)fmo_error_set(err, failure.status, "jobs %zu to %zu: %s", (size_t)(first - jobs),
                            (size_t)(last - jobs), failure.message);
        for (size_t k = 0; k < w->count; k++) w->job[k].plan->running = NULL;
    }
    w->count = 0;
    return status;
}

/* One job: built, or waiting. */
static fmo_status take_job(const fmo_fock_job *job, waiting_jobs *w, fmo_error *err)
{
    fmo_fock_plan *plan = job->plan;
    if (!plan->mode->start)
        return fmo_fock_build(plan, job->density, job->coulomb, job->exchange, err);
    const fmo_status status = begin_build(plan, job->density, err);
    if (status != FMO_OK) return status;
    plan->running = job;
    w->job[w->count++] = *job;
    return FMO_OK;
}

fmo_status fmo_fock_build_batch(const fmo_fock_job *jobs, size_t count, fmo_error *err)
{
    fmo_status status = FMO_OK;
    waiting_jobs waiting;
    waiting.count = 0;
    if (!jobs && count > 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_build_batch: NULL");
    for (size_t k = 0; k < count; k++)
        if (!jobs[k].plan || !jobs[k].density || !jobs[k].coulomb || !jobs[k].exchange)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_build_batch: job %zu: NULL", k);
    if (count == 0) return FMO_OK;
    char *const taken = calloc(count, 1);
    if (!taken) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu jobs", count);
    for (size_t k = 0; k < count; k++) jobs[k].plan->round = 0;
    /* In rounds of one job a plan, which can be on their way together. */
    size_t left = count;
    for (size_t round = 1; left > 0 && status == FMO_OK; round++) {
        for (size_t k = 0; k < count && status == FMO_OK; k++) {
            fmo_error failure = {FMO_OK, ""};
            fmo_fock_plan *plan = jobs[k].plan;
            if (taken[k] || plan->round == round) continue;
            plan->round = round;
            taken[k] = 1;
            left--;
            const int again = plan->running != NULL;
            if (again || waiting.count == WAITING_MAX) status = start_waiting(&waiting, jobs, err);
            if (again && status == FMO_OK) status = finish_job(plan, jobs, err);
            if (status == FMO_OK) status = take_job(&jobs[k], &waiting, &failure);
            name_job(k, &failure, err);
        }
    }
    free(taken);
    if (status == FMO_OK) status = start_waiting(&waiting, jobs, err);
    for (size_t k = 0; k < waiting.count; k++) waiting.job[k].plan->running = NULL;
    for (size_t k = 0; k < count; k++) { /* also after an error: nothing is left running */
        if (!jobs[k].plan->running) continue;
        const fmo_status finished = finish_job(jobs[k].plan, jobs, err);
        if (status == FMO_OK) status = finished;
    }
    return status;
}

fmo_status fmo_fock_build_device(fmo_fock_plan *plan, const double *density, double *coulomb,
                                 double *exchange, fmo_error *err)
{
    if (!plan || !density || !coulomb || !exchange)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_build_device: NULL");
    if (!plan->mode->build_device)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_build_device: the plan's mode is %s, expected fused",
                             fmo_mode_name(plan->options.mode));
    return plan->mode->build_device(plan, density, coulomb, exchange, err);
}

fmo_status fmo_fock_build_batch_device(const fmo_fock_job *jobs, size_t count, fmo_error *err)
{
    if (!jobs && count > 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_build_batch_device: NULL");
    for (size_t k = 0; k < count; k++) {
        const fmo_fock_job *job = &jobs[k];
        if (!job->plan || !job->density || !job->coulomb || !job->exchange)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "fmo_fock_build_batch_device: job %zu: NULL", k);
        if (!job->plan->mode->batch_device)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "fmo_fock_build_batch_device: job %zu: the plan's mode is %s, "
                                 "expected fused",
                                 k, fmo_mode_name(job->plan->options.mode));
    }
    return count ? jobs[0].plan->mode->batch_device(jobs, count, err) : FMO_OK;
}

fmo_status fmo_fock_plan_profile(const fmo_fock_plan *plan, fmo_fock_profile *profile,
                                 fmo_error *err)
{
    if (!plan || !profile)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_plan_profile: NULL");
    if (!plan->built)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_profile: nothing has been built with this plan yet");
    *profile = plan->profile;
    return FMO_OK;
}
