/* Many SCFs in one call. On a GPU the smallest molecules run in one thread block each (block/);
 * other small ones advance in lockstep (lockstep_batches.c), a few hundred at a time, while the
 * plans of the next are made. In mode cpu small molecules run concurrently, one per thread. Larger
 * molecules run one after the other with all threads. Every molecule takes the path of fmo_scf_run
 * or runs in a thread block, so its result does not depend on the other jobs. Ranks share one list:
 * each takes the next work item, a job or a lockstep batch, from a common counter. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/base/agree.h"
#include "driver/base/hash.h"
#include "driver/scf/block/block.h"
#include "driver/scf/input.h"
#include "driver/scf/lockstep_batches.h"
#include "driver/scf/tuning.h"
#include "base/arguments.h"
#include "base/free_memory.h"

static double cube(const fmo_scf_job *job)
{
    const double n = (double)fmo_scf_job_functions(job);
    return n * n * n;
}

static void take_cycle(const fmo_scf_cycle *cycle, void *user)
{
    batch *b = user;
    pthread_mutex_lock(&b->lock);
    b->options->callback(cycle, b->options->user);
    pthread_mutex_unlock(&b->lock);
}

/* Converts all molecules to functions of norm 1, in place of the caller's inputs until they end.
 * Jobs with prepare callbacks already have such functions. */
static fmo_status normalise_jobs(batch *b, fmo_error *err)
{
    fmo_status status = FMO_OK;
    if (b->callbacks) return FMO_OK;
    b->normal = calloc(b->count, sizeof *b->normal);
    if (!b->normal) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu jobs", b->count);
    for (size_t k = 0; k < b->count && status == FMO_OK; k++) {
        fmo_scf_input *const input = &b->jobs[k].input;
        const fmo_scf_input given = *input;
        status = fmo_scf_normalise(input, b->options, &b->normal[k], err);
        if (status != FMO_OK || !b->normal[k].norm) continue;
        *input = b->normal[k].input;
        b->normal[k].input = given;
    }
    return status;
}

/* Returns why mode auto left a job to the CPU, or NULL if the job itself says it. */
static const char *why_on_cpu(const batch *b, const fmo_scf_job *job, int concurrent)
{
    if (b->all_quick) return fmo_scf_quick_on_cpu_reason;
    return concurrent && cube(job) <= b->cpu_limit
               ? "many molecules of this size are faster on the CPU"
               : NULL;
}

/* Runs a prepared job. concurrent: 1 if others run concurrently. */
static void run_ready(batch *b, size_t k, const fmo_scf_options *options, int concurrent)
{
    fmo_scf_job *const job = &b->jobs[k];
    const fmo_scf_shared shared = {
        .job = k, .atoms = b->atoms, .overlap = fmo_scf_batch_overlap(b, k)};
    job->err = (fmo_error){FMO_OK, ""};
    job->status = fmo_scf_run_one("fmo_scf_run_batch", &job->input, options, &shared, &job->result,
                                  &job->err);
    const char *const why = job->result ? why_on_cpu(b, job, concurrent) : NULL;
    if (why)
        snprintf(job->result->fock_profile.mode_reason,
                 sizeof job->result->fock_profile.mode_reason, "%s", why);
    fmo_scf_batch_note_end(b, k, concurrent);
    fmo_scf_batch_release(b, k);
}

static void run_job(batch *b, size_t k, const fmo_scf_options *options, int concurrent)
{
    fmo_scf_job *const job = &b->jobs[k];
    job->err = (fmo_error){FMO_OK, ""};
    job->status = fmo_scf_batch_prepare(b, &k, 1, &options->fock, &job->err);
    if (job->status == FMO_OK)
        run_ready(b, k, options, concurrent);
    else
        fmo_scf_batch_note_end(b, k, concurrent);
}

/* Runs the jobs that found too little memory beside others. */
static void rerun_alone(batch *b, const fmo_scf_options *options)
{
    for (size_t k = 0; k < b->count; k++)
        if (b->rerun[k]) run_job(b, k, options, 0);
}

/* Thread function: runs jobs of `order` until none are left. */
static void *work(void *user)
{
    batch *b = user;
    omp_set_num_threads(1); /* for this POSIX thread only: integrals query OpenMP */
    (void)fmo_fock_reuse_memory(1);
    for (size_t t = fmo_scf_batch_take_item(b); t < work_items_num(&b->deal);
         t = fmo_scf_batch_take_item(b))
        run_job(b, b->order[work_items_place_of_one(&b->deal, t)], &b->concurrent, 1);
    (void)fmo_fock_reuse_memory(0);
    return NULL;
}

/* Runs the remaining jobs in `threads` threads, one job each. @return 0 if no thread could be
 * started */
static int run_concurrently(batch *b, int threads)
{
    pthread_t *const thread = malloc((size_t)threads * sizeof *thread);
    int started = 0;
    const int hold = fmo_linalg_one_thread();
    while (thread && started < threads && pthread_create(&thread[started], NULL, work, b) == 0)
        started++;
    for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
    fmo_linalg_release_threads(hold);
    free(thread);
    return started;
}

/* Returns how many jobs of `order`, from the front, must run alone with all `threads`: those in
 * other modes than cpu, those that would keep one thread busy for longer than its share of the
 * rest, and those of which `threads` at a time would need more than half of the free memory. The
 * cost of an SCF of n functions is taken as n^3. */
static size_t count_large(const batch *b, int threads)
{
    const fmo_ranks *ranks = b->options->deal;
    const double memory = (double)fmo_free_memory() / (ranks ? ranks->node_size : 1);
    const double all_threads = (double)threads * (ranks ? ranks->size : 1);
    double rest = 0.0;
    size_t large = b->deal.other_mode;
    for (size_t at = large; at < b->deal.count; at++) rest += cube(&b->jobs[b->order[at]]);
    for (; large < b->deal.count; large++) {
        const fmo_scf_job *const job = &b->jobs[b->order[large]];
        const double cost = cube(job);
        const double bytes = fmo_scf_batch_bytes(b, fmo_scf_job_functions(job)) *
                             fmo_scf_channels(&job->input, b->options);
        if (!(cost * all_threads > rest) && !(bytes * threads > 0.5 * memory)) break;
        rest -= cost;
    }
    return large;
}

/* Runs the jobs before position `end` with all threads. The first work item behind it has then been
 * taken, and is returned to the list. */
static void run_alone(batch *b, const fmo_scf_options *options, size_t end)
{
    size_t t = fmo_scf_batch_take_item(b);
    for (; t < work_items_num(&b->deal) && work_items_place_of_one(&b->deal, t) < end;
         t = fmo_scf_batch_take_item(b))
        run_job(b, b->order[work_items_place_of_one(&b->deal, t)], options, 0);
    fmo_scf_batch_return_item(b, t);
}

/* Returns 1 if a job runs in another mode than cpu. Errors are reported later, when it runs. */
static int runs_in_other_mode(const batch *b, const fmo_scf_job *job)
{
    fmo_mode mode = FMO_MODE_CPU;
    (void)fmo_fock_choose_mode(job->input.basis, &b->options->fock, &mode, NULL, NULL);
    return mode != FMO_MODE_CPU;
}

/* With mode auto, small molecules stay on the CPU: all of them if they finish soon
 * (fmo_scf_is_quick_on_cpu), otherwise, if there are at least two per thread, those whose cubed
 * number of functions is at most this times the number of threads: a GPU would wait for their plans
 * longer than the CPU takes (docs/log/scf.md, "Many molecules"). */
enum { CPU_CUBE = fmo_tuning_scf_cpu_cube };

/* Sets b->cpu_limit and b->all_quick. */
static void find_small(batch *b)
{
    const double threads = (double)fmo_fock_threads(b->options->fock.threads);
    const double limit = CPU_CUBE * threads;
    double small = 0.0, cubes = 0.0, largest = 0.0;
    for (size_t k = 0; k < b->count; k++) {
        if (b->done[k]) continue;
        const double own = cube(&b->jobs[k]);
        cubes += own;
        small += own <= limit;
        if (own > largest) largest = own;
    }
    if (!b->options->deal && fmo_scf_is_quick_on_cpu(&b->options->fock, cubes)) {
        b->cpu_limit = largest;
        b->all_quick = 1;
        return;
    }
    if (b->options->fock.mode != FMO_MODE_AUTO) return;
    if (b->options->deal || fmo_gpu_available(NULL) != FMO_OK) return;
    if (small >= 2.0 * threads) b->cpu_limit = limit;
}

/* Sorts the jobs that did not run in thread blocks: those not in mode cpu first, then by size. */
static fmo_status sort_jobs(batch *b, fmo_error *err)
{
    fmo_scf_sized *all = malloc(b->count * sizeof *all);
    size_t num = 0;
    b->order = malloc(b->count * sizeof *b->order);
    b->rerun = calloc(b->count, 1);
    if (!all || !b->order || !b->rerun) {
        free(all);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu jobs", b->count);
    }
    find_small(b);
    for (size_t k = 0; k < b->count; k++) {
        if (b->done[k]) continue;
        const int other_mode =
            cube(&b->jobs[k]) > b->cpu_limit && runs_in_other_mode(b, &b->jobs[k]);
        all[num++] = (fmo_scf_sized){other_mode, fmo_scf_job_functions(&b->jobs[k]), k};
        b->deal.other_mode += (size_t)other_mode;
    }
    b->deal.count = num;
    fmo_scf_batch_sort(all, num);
    for (size_t k = 0; k < num; k++) b->order[k] = all[k].job;
    free(all);
    return FMO_OK;
}

/* Returns how many jobs of `order` in [next, end) may be prepared at a time; at least one. */
static size_t count_at_once(const batch *b, size_t end)
{
    double elements = 0.0;
    size_t num = 0;
    for (; b->next + num < end; num++) {
        const double n = (double)fmo_scf_job_functions(&b->jobs[b->order[b->next + num]]);
        elements += n * n;
        if (num && (!b->callbacks || elements > b->callbacks->elements)) break;
    }
    return num;
}

/* Runs jobs of `order` up to `end` one after the other; several are prepared at a time, so that a
 * GPU computes what they need together. */
static void run_one_by_one(batch *b, const fmo_scf_options *options, size_t end)
{
    for (size_t num = 0; b->next < end; b->next += num) {
        const size_t *const job = &b->order[b->next];
        num = count_at_once(b, end);
        const int ready =
            num > 1 && fmo_scf_batch_prepare(b, job, num, &options->fock, NULL) == FMO_OK;
        for (size_t k = 0; k < num; k++)
            if (ready)
                run_ready(b, job[k], options, 0);
            else
                run_job(b, job[k], options, 0);
    }
}

/* Runs all jobs that are not in mode cpu: large ones one by one, small ones in lockstep. */
static void run_other_modes(batch *b, const fmo_scf_options *options)
{
    const int gpus = options->fock.device_num > 1 ? options->fock.device_num : 1;
    const size_t single_num = fmo_lockstep_single_num(b);
    run_one_by_one(b, options, single_num);
    if (b->next == b->deal.other_mode) return;
    size_t max_size = 0;
    const size_t jobs = b->deal.other_mode - single_num;
    const int lockstep_batches = fmo_lockstep_batch_count(jobs, gpus, &max_size);
    const size_t first = fmo_scf_job_functions(&b->jobs[b->order[single_num]]); /* the largest */
    fmo_lockstep_batches_mix(b->order + single_num, jobs, lockstep_batches,
                             fmo_lockstep_batch_size(b, first, max_size, lockstep_batches));
    fmo_lockstep_batches_run(b, options, lockstep_batches, max_size);
}

/* Runs all jobs of this process: those on GPUs, then large ones with all threads, then small ones
 * with one thread each, and finally those that found too little memory. */
static void run(batch *b)
{
    const fmo_ranks *ranks = b->options->deal;
    fmo_scf_options alone = *b->options;
    alone.begun = NULL; /* the callback would not know which job it is about */
    if (b->all_quick) alone.fock.mode = FMO_MODE_CPU;
    /* Half of the free memory is left to other programs, as a single SCF does with stored
     * integrals; ranks of a host share it. */
    const size_t free_memory = fmo_free_memory() / 2 / (size_t)(ranks ? ranks->node_size : 1);
    const size_t memory = alone.fock.memory ? alone.fock.memory : free_memory;
    if (ranks && b->deal.other_mode == 0)
        alone.fock.memory = memory; /* otherwise it may mean GPU memory */
    if (alone.callback) {
        alone.callback = take_cycle;
        alone.user = b;
    }
    if (!ranks && b->deal.other_mode) run_other_modes(b, &alone);
    if (b->deal.lockstep_batch) {
        run_alone(b, &alone, b->deal.large);
        fmo_lockstep_batches_run(b, &alone, LOCKSTEP_BATCHES, b->deal.lockstep_batch);
    }
    const int threads = fmo_fock_threads(alone.fock.threads);
    if (threads < 2 || b->deal.other_mode == b->deal.count) {
        run_alone(b, &alone, b->deal.count);
        rerun_alone(b, &alone);
        return;
    }
    run_alone(b, &alone, count_large(b, threads));
    const size_t small =
        b->returned_num
            ? b->deal.count -
                  work_items_place_of_one(&b->deal, b->returned[fmo_scf_batch_first_returned(b)])
            : 0;
    int workers = small < (size_t)threads ? (int)small : threads;
    while (workers > 1 && !fmo_memory_for_blas(workers)) workers /= 2;
    b->concurrent = alone;
    b->concurrent.fock.threads = 1;
    if (b->cpu_limit > 0.0)
        b->concurrent.fock.mode = FMO_MODE_CPU; /* all remaining jobs are in mode cpu */
    b->concurrent.fock.memory = memory / (size_t)(workers > 0 ? workers : 1);
    b->concurrent.fock.progress = NULL; /* the callback would not know which job it is about */
    if (workers > 0 && !run_concurrently(b, workers)) run_alone(b, &alone, b->deal.count);
    rerun_alone(b, &alone);
}

static fmo_status no_network(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_DEVICE, "communication between the ranks failed");
}

/* Collective: agrees that all ranks can start, distributes rank 0's list and lockstep batches, and
 * resets the counter. */
static fmo_status begin_deal(batch *b, fmo_status status, fmo_error *err)
{
    const fmo_ranks *const ranks = b->options->deal;
    const int fault = ranks->rank == 0 ? ranks->restart(ranks->user) : 0;
    if (fault) status = no_network(err);
    status = fmo_ranks_agree(ranks, status, err);
    if (status != FMO_OK) return status;
    /* A rank without a GPU would take all lockstep batches at once and run their jobs one by
     * one. */
    const int gpus = fmo_gpu_num();
    int64_t without = gpus == 0 || b->options->fock.device >= gpus;
    if (ranks->sum(ranks->user, &without, 1, 1) != 0) return no_network(err);
    b->deal.large = fmo_lockstep_single_num(b);
    if (b->deal.large < b->deal.other_mode && !without) { /* rank 0's numbers are used by all */
        const size_t first = fmo_scf_job_functions(&b->jobs[b->order[b->deal.large]]);
        const size_t jobs = b->deal.other_mode - b->deal.large;
        const int lockstep_batches =
            fmo_lockstep_batch_count(jobs, ranks->size, &b->deal.lockstep_batch);
        b->deal.lockstep_batch =
            fmo_lockstep_batch_size(b, first, b->deal.lockstep_batch, LOCKSTEP_BATCHES);
        fmo_lockstep_batches_mix(b->order + b->deal.large, jobs, lockstep_batches,
                                 b->deal.lockstep_batch);
    }
    size_t numbers[] = {b->deal.other_mode, b->deal.large, b->deal.lockstep_batch};
    status = fmo_ranks_broadcast(ranks, numbers, sizeof numbers, err);
    b->deal.other_mode = numbers[0], b->deal.large = numbers[1],
    b->deal.lockstep_batch = numbers[2];
    if (status == FMO_OK)
        status = fmo_ranks_broadcast(ranks, b->order, b->deal.count * sizeof *b->order, err);
    return status;
}

/* Sets a status for all jobs that have not ended. */
static void fail_all(batch *b, fmo_status status, const fmo_error *why)
{
    for (size_t k = 0; k < b->count; k++) {
        if (b->done && b->done[k]) continue;
        b->jobs[k].err = (fmo_error){FMO_OK, ""};
        b->jobs[k].status = fmo_error_set(&b->jobs[k].err, status, "%s", why->message);
    }
}

/* Returns a hash of what the calls of all ranks must have in common. */
static uint64_t call_digest(const fmo_scf_job *jobs, size_t count, const fmo_scf_options *o)
{
    uint64_t sum = fmo_scf_options_digest(o);
    driver_hash(&sum, &count, sizeof count);
    for (size_t k = 0; k < count; k++) {
        const int64_t one[] = {(int64_t)fmo_scf_job_functions(&jobs[k]), jobs[k].input.electron_num,
                               jobs[k].input.multiplicity, (int64_t)jobs[k].input.charge_num};
        driver_hash(&sum, one, sizeof one);
    }
    return sum;
}

/* Checks the arguments of a call; with options->deal collectively on all ranks. */
static fmo_status check_call(const fmo_scf_job *jobs, size_t count, const fmo_scf_options *options,
                             fmo_error *err)
{
    const fmo_ranks *const deal = options ? options->deal : NULL;
    fmo_status status = FMO_OK;
    if (count > 0) status = FMO_CHECK_ARGUMENTS("fmo_scf_run_batch", err, FMO_GIVEN(jobs));
    if (!deal) return status;
    if (status == FMO_OK && options->fock.ranks)
        status = fmo_error_set(err, FMO_ERR_ARGUMENT,
                               "fmo_scf_run_batch: options.deal distributes whole SCFs among the "
                               "ranks: set options.fock.ranks to NULL");
    return driver_agree_on(deal, status, status == FMO_OK ? call_digest(jobs, count, options) : 0,
                           FMO_SCF_OTHER_OPTIONS, err);
}

fmo_status fmo_scf_run_batch(fmo_scf_job *jobs, size_t count, const fmo_scf_options *options,
                             fmo_error *err)
{
    fmo_error own = {FMO_OK, ""};
    const fmo_status status = check_call(jobs, count, options, &own);
    if (status != FMO_OK) return fmo_error_set(err, status, "%s", own.message);
    return fmo_scf_run_batch_of(jobs, count, options, NULL, NULL, err);
}

/* Runs a batch: thread blocks first, then the other jobs; restores the caller's inputs and returns
 * the status of the first failed job. */
fmo_status fmo_scf_run_batch_of(fmo_scf_job *jobs, size_t count, const fmo_scf_options *options,
                                const fmo_batch_callbacks *callbacks, fmo_batch_cache *cache,
                                fmo_error *err)
{
    fmo_scf_options own_options;
    fmo_scf_options_init(&own_options);
    if (count == 0) return FMO_OK;
    if (options) own_options = *options;
    if (own_options.solver == FMO_SCF_SOLVER_NEWTON && own_options.fock.mode == FMO_MODE_AUTO)
        own_options.fock.mode = FMO_MODE_CPU;
    fmo_status status;
    batch b = {.jobs = jobs,
               .count = count,
               .options = &own_options,
               .callbacks = callbacks,
               .cache = cache};
    const fmo_ranks *const ranks = b.options->deal;
    fmo_error own = {FMO_OK, ""};
    for (size_t k = 0; k < count; k++) {
        jobs[k].result = NULL;
        jobs[k].status = FMO_OK;
        jobs[k].err = own;
    }
    pthread_mutex_init(&b.lock, NULL);
    pthread_mutex_init(&b.plans, NULL);
    status = fmo_atoms_create(&b.atoms, &own);
    b.done = calloc(count, 1);
    if (status == FMO_OK && !b.done)
        status = fmo_error_set(&own, FMO_ERR_MEMORY, "no memory for %zu jobs", count);
    if (status == FMO_OK) status = normalise_jobs(&b, &own);
    if (status == FMO_OK && count >= FMO_BLOCKS_MIN) fmo_blocks_run(&b);
    if (status == FMO_OK) status = sort_jobs(&b, &own);
    if (ranks) status = begin_deal(&b, status, &own);
    if (status == FMO_OK)
        run(&b);
    else
        fail_all(&b, status, &own);
    if (status != FMO_OK) fmo_error_set(err, status, "%s", own.message);
    if (b.fault) status = no_network(err);
    for (size_t k = 0; k < count; k++) fmo_scf_batch_give_back(&b, k);
    free(b.normal);
    fmo_atoms_destroy(b.atoms);
    pthread_mutex_destroy(&b.lock);
    pthread_mutex_destroy(&b.plans);
    free(b.order);
    free(b.rerun);
    free(b.done);
    for (size_t k = 0; k < count && status == FMO_OK; k++)
        if (jobs[k].status != FMO_OK)
            status = fmo_error_set(err, jobs[k].status, "job %zu: %s", k, jobs[k].err.message);
    return status;
}
