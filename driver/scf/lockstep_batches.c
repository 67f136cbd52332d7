/* Small molecules that advance in lockstep on GPUs (lockstep.h), while the plans of the next batch
 * are made; and the cache between batches (batch.h). Called by batch.c. */
#include "driver/scf/lockstep_batches.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "driver/base/clock.h"
#include "driver/scf/lockstep.h"
#include "driver/scf/tuning.h"
#include "base/snake.h"

/* Molecules of at most LOCKSTEP_FUNCTIONS functions advance in lockstep: at most LOCKSTEP_MAX per
 * batch, whose matrices take at most fmo_tuning_lockstep_bytes; at least LOCKSTEP_MIN per batch
 * before there are several batches. */
enum {
    LOCKSTEP_FUNCTIONS = fmo_tuning_lockstep_functions,
    LOCKSTEP_MAX = fmo_tuning_lockstep_max,
    LOCKSTEP_MIN = fmo_tuning_lockstep_least
};

/* A thread that runs lockstep batches on one GPU. */
typedef struct gpu_worker {
    batch *b;
    const fmo_scf_options *options;
    int device;
    size_t max_size; /* largest number of molecules at a time */
    int number,
        lockstep_batches; /* number: of this worker; lockstep_batches: number of all workers */
    fmo_batch_linalg *executor;
    const size_t *own_jobs; /* [own_jobs_num] the jobs of this worker, and no others; NULL: it takes
                            jobs from the list */
    size_t own_jobs_num;
    pthread_t thread;
    int started;
} gpu_worker;

struct fmo_batch_cache {
    void *loading; /* libraries that are being loaded */
    size_t count, reused;
    int lockstep_batches;
    fmo_batch_linalg
        *executor[LOCKSTEP_BATCHES * FMO_DEVICES_MAX]; /* [lockstep_batches], or NULL */
    struct cached_plan {
        fmo_fock_plan *plan;    /* may be NULL */
        const fmo_basis *basis; /* the basis for which it was made */
        int lockstep_batch;     /* number of the worker whose stream it uses */
        fmo_scf_cache scf; /* of the last SCF with this plan, in memory of that worker's executor */
    } * plan;              /* [count] by job */
};

fmo_batch_cache *fmo_batch_cache_create(int fused)
{
    fmo_batch_cache *const cache = calloc(1, sizeof *cache);
    if (cache && fused) cache->loading = fmo_batch_linalg_begin_loading();
    return cache;
}

/* Destroys a cached plan and the cached state of its SCF. */
static void free_plan(fmo_batch_cache *cache, struct cached_plan *at)
{
    fmo_batch_linalg *const executor = cache->executor[at->lockstep_batch];
    double *const memory[] = {at->scf.state.memory, at->scf.state.projected.memory};
    for (int k = 0; k < 2 && at->scf.host; k++) {
        const fmo_request release = {.kind = FMO_REQUEST_RELEASE, .C = memory[k]}, *one = &release;
        if (memory[k]) executor->ops->run(executor, &one, 1);
    }
    fmo_scf_free_cached(&at->scf);
    fmo_fock_plan_destroy(at->plan);
    *at = (struct cached_plan){0};
}

/* Empties the cache. */
static void empty_cache(fmo_batch_cache *cache)
{
    for (size_t k = 0; k < cache->count; k++) free_plan(cache, &cache->plan[k]);
    for (int c = cache->lockstep_batches - 1; c >= 0; c--)
        if (cache->executor[c]) cache->executor[c]->ops->close(cache->executor[c]);
    free(cache->plan);
    *cache = (fmo_batch_cache){.loading = cache->loading};
}

void fmo_batch_cache_destroy(fmo_batch_cache *cache)
{
    if (!cache) return;
    empty_cache(cache);
    fmo_batch_linalg_end_loading(cache->loading);
    free(cache);
}

size_t fmo_batch_cache_reused(const fmo_batch_cache *cache)
{
    return cache->reused;
}

static void end_in_lockstep(fmo_lockstep_job *from, void *user)
{
    batch *const b = user;
    fmo_scf_job *const job = &b->jobs[from->shared.job];
    job->result = from->result;
    job->status = from->status;
    job->err = from->err;
    fmo_scf_batch_note_end(b, from->shared.job, 1);
    fmo_scf_batch_release(b, from->shared.job);
}

/* Prepares the jobs of a lockstep batch with the number of threads in `fock`, even if the callbacks
 * do not set one. */
static fmo_status prepare_for_lockstep(const batch *b, const size_t *number, size_t num,
                                       const fmo_fock_options *fock)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(fmo_fock_threads(fock->threads)); /* for this POSIX thread only */
    const fmo_status status = fmo_scf_batch_prepare(b, number, num, fock, NULL);
    omp_set_num_threads(before);
    return status;
}

/* Plans of the jobs `number`; cached ones are reused, the others made together. */
typedef struct plan_making {
    const gpu_worker *w;
    const size_t *number;
    const fmo_basis **basis; /* [num], read before the jobs are prepared concurrently; then those of
                                the plans to be made */
    size_t num;
    fmo_fock_options fock;
    fmo_fock_plan **plan; /* [num]; NULL if a plan could not be made */
    double seconds;       /* time per plan */
} plan_making;

/* Makes the plans that are not cached, one lockstep batch at a time, and adds them to the cache. */
static void *make_plans(void *user)
{
    plan_making *const m = user;
    batch *const b = m->w->b;
    struct cached_plan *const cache = m->w->own_jobs ? b->cache->plan : NULL;
    fmo_fock_plan **const made = calloc(m->num, sizeof *made);
    size_t missing = 0;
    if (!made) return NULL;
    for (size_t k = 0; k < m->num; k++) {
        struct cached_plan *const at = cache ? &cache[m->number[k]] : NULL;
        if (at && at->plan && at->basis == m->basis[k] && at->lockstep_batch == m->w->number)
            m->plan[k] = at->plan;
        else
            m->basis[missing++] = m->basis[k];
    }
    pthread_mutex_lock(&b->plans); /* otherwise lockstep batches would make plans at the same time,
                                      and then compute at the same time */
    const double start = driver_seconds();
    if (missing) (void)fmo_fock_plan_create_batch(m->basis, missing, &m->fock, made, NULL);
    m->seconds = (driver_seconds() - start) / (double)m->num;
    if (cache) b->cache->reused += m->num - missing;
    pthread_mutex_unlock(&b->plans);
    for (size_t k = 0, n = 0; k < m->num && n < missing; k++) {
        if (m->plan[k]) continue;
        const fmo_basis *const basis = m->basis[n];
        m->plan[k] = made[n++];
        if (!cache) continue;
        free_plan(b->cache, &cache[m->number[k]]);
        cache[m->number[k]] = (struct cached_plan){m->plan[k], basis, m->w->number, {0}};
    }
    free(made);
    return NULL;
}

/* Prepares jobs and makes their plans. If preparation takes long, both happen concurrently, because
 * the GPU computes fields meanwhile and the host's threads are nearly idle; plans get half of them.
 * @return 1 if the jobs are prepared; otherwise there are no plans */
static int make_ready(plan_making *m)
{
    batch *const b = m->w->b;
    const fmo_fock_options fock = m->fock;
    const int threads = fmo_fock_threads(fock.threads),
              takes_long = b->callbacks && !m->w->own_jobs;
    pthread_t thread;
    for (size_t k = 0; k < m->num; k++) m->basis[k] = b->jobs[m->number[k]].input.basis;
    if (takes_long) m->fock.threads = threads > 1 ? threads / 2 : 1;
    const int beside = takes_long && pthread_create(&thread, NULL, make_plans, m) == 0;
    const int ready = prepare_for_lockstep(b, m->number, m->num, &fock) == FMO_OK;
    if (beside)
        pthread_join(thread, NULL);
    else if (ready)
        (void)make_plans(m);
    for (size_t k = 0; k < m->num && beside && !ready; k++) {
        fmo_fock_plan_destroy(m->plan[k]);
        m->plan[k] = NULL;
    }
    return ready;
}

/* Runs the jobs `number` in lockstep. Jobs without a plan run later, one by one, and so do all if
 * they cannot be prepared together. */
static void run_in_lockstep(const gpu_worker *w, const size_t *number, size_t num)
{
    batch *const b = w->b;
    fmo_batch_linalg *const executor = w->executor;
    fmo_fock_options fock = w->options->fock;
    fmo_lockstep_job *const jobs = calloc(num, sizeof *jobs);
    size_t lockstep_num = 0;
    fock.mode = FMO_MODE_FUSED;
    fock.integrals = fmo_scf_integrals(w->options, FMO_MODE_FUSED);
    fock.device = w->device;
    fock.device_num = 0;
    fock.stream = executor->stream;
    fock.progress = NULL; /* the callback would not know which job it is about */
    plan_making m = {.w = w,
                     .number = number,
                     .basis = calloc(num, sizeof(*m.basis)),
                     .num = num,
                     .fock = fock,
                     .plan = calloc(num, sizeof(*m.plan))};
    const int ready = m.basis && m.plan && jobs && make_ready(&m);
    for (size_t k = 0; k < num; k++) {
        if (!ready || !m.plan[k]) {
            b->rerun[number[k]] = 1; /* the later run reports the error */
            if (ready) fmo_scf_batch_release(b, number[k]);
            continue;
        }
        const fmo_scf_shared shared = {.job = number[k],
                                       .atoms = b->atoms,
                                       .overlap = fmo_scf_batch_overlap(b, number[k]),
                                       .plan = m.plan[k],
                                       .plan_seconds = m.seconds,
                                       .plan_cached = w->own_jobs != NULL,
                                       .cache =
                                           w->own_jobs ? &b->cache->plan[number[k]].scf : NULL};
        jobs[lockstep_num++] = (fmo_lockstep_job){.input = &b->jobs[number[k]].input,
                                                  .options = w->options,
                                                  .shared = shared,
                                                  .ended = end_in_lockstep,
                                                  .user = b};
    }
    if (lockstep_num) fmo_lockstep_run(executor, jobs, lockstep_num);
    free(m.basis);
    free(m.plan);
    free(jobs);
}

size_t fmo_lockstep_batch_size(const batch *b, size_t n, size_t max_size, int lockstep_batches)
{
    const double bytes = fmo_scf_batch_bytes(b, n), square = (double)n * (double)n;
    double fit = fmo_tuning_lockstep_bytes / (bytes > 1.0 ? bytes : 1.0);
    if (b->callbacks && fit * square * lockstep_batches > b->callbacks->elements)
        fit = b->callbacks->elements / (square * lockstep_batches);
    return fit < (double)max_size ? (size_t)fit + 1 : max_size;
}

/* Takes the next jobs for a lockstep batch. The first, as large as any of them, determines how many
 * they are. */
static size_t take_for_lockstep(const gpu_worker *w, const size_t **number)
{
    batch *const b = w->b;
    size_t num = 0;
    if (b->deal.lockstep_batch) { /* ranks have agreed on the number */
        const size_t t = fmo_scf_batch_take_item(b), at = work_items_place(&b->deal, t, &num);
        if (t < b->deal.large + work_items_lockstep(&b->deal)) {
            *number = &b->order[at];
            return num;
        }
        fmo_scf_batch_return_item(b, t);
        return 0;
    }
    pthread_mutex_lock(&b->lock);
    *number = &b->order[b->next];
    if (b->next < b->deal.other_mode) {
        num = fmo_lockstep_batch_size(b, fmo_scf_job_functions(&b->jobs[b->order[b->next]]),
                                      w->max_size, w->lockstep_batches);
        if (num > b->deal.other_mode - b->next) num = b->deal.other_mode - b->next;
        b->next += num;
    }
    pthread_mutex_unlock(&b->lock);
    return num;
}

static void run_or_rerun_later(const gpu_worker *w, const size_t *number, size_t num)
{
    if (!num) return;
    if (w->executor)
        run_in_lockstep(w, number, num);
    else
        for (size_t k = 0; k < num; k++) w->b->rerun[number[k]] = 1;
}

static void *work_in_lockstep(void *user)
{
    gpu_worker *const w = user;
    const size_t *number = NULL;
    const int threads = fmo_fock_threads(w->options->fock.threads);
    if (w->executor)
        w->executor->ops->enter(w->executor);
    else
        (void)fmo_batch_linalg_open_gpu(w->device, threads, &w->executor, NULL);
    if (w->own_jobs) {
        run_or_rerun_later(w, w->own_jobs, w->own_jobs_num);
        return NULL;
    }
    for (size_t num = take_for_lockstep(w, &number); num; num = take_for_lockstep(w, &number))
        run_or_rerun_later(w, number, num);
    return NULL;
}

size_t fmo_lockstep_single_num(const batch *b)
{
    const fmo_fock_options *const fock = &b->options->fock;
    size_t large = 0;
    while (large < b->deal.other_mode &&
           fmo_scf_job_functions(&b->jobs[b->order[large]]) > LOCKSTEP_FUNCTIONS)
        large++;
    const int single = fock->stream ||
                       fmo_scatter_sums_integers(
                           fock->scatter) || /* integer sums must be reproducible bit for bit */
                       fock->mode == FMO_MODE_SPLIT ||
                       fock->mode == FMO_MODE_REFERENCE || b->deal.other_mode - large < 2;
    return single ? b->deal.other_mode : large;
}

/* Chooses the number of lockstep batches: if there are many jobs, each GPU has LOCKSTEP_BATCHES of
 * them, with two turns each, so that plans of one are made while another computes. */
int fmo_lockstep_batch_count(size_t jobs, int gpus, size_t *max_size)
{
    const int lockstep_batches =
        gpus * (jobs >= LOCKSTEP_BATCHES * LOCKSTEP_MIN ? LOCKSTEP_BATCHES : 1);
    const size_t turns = jobs >= (size_t)(4 * lockstep_batches * LOCKSTEP_MIN) ? 2 : 1;
    const size_t share =
        (jobs + turns * (size_t)lockstep_batches - 1) / (turns * (size_t)lockstep_batches);
    *max_size = share > LOCKSTEP_MAX ? LOCKSTEP_MAX : share;
    return lockstep_batches;
}

void fmo_lockstep_batches_mix(size_t *order, size_t jobs, int lockstep_batches, size_t max_size)
{
    const size_t num = (size_t)lockstep_batches;
    if (lockstep_batches < 2 || num * max_size < jobs) return;
    size_t *const mixed = malloc(jobs * sizeof *mixed);
    size_t to = 0;
    if (!mixed) return; /* the order stays as it is */
    for (size_t c = 0; c < num; c++)
        for (size_t at = 0; at < jobs; at++)
            if (fmo_snake(at, num) == c) mixed[to++] = order[at];
    memcpy(order, mixed, jobs * sizeof *order);
    free(mixed);
}

/* Estimates the bytes that the jobs of `order` from b->next on would keep on GPUs: matrices and
 * mainly quartet lists, which for (H2O)8, C20H42 and (H2O)27 in 6-31G are 0.75, 0.22 and 0.34 of
 * this estimate. */
static double cached_bytes(const batch *b)
{
    double bytes = 0.0;
    for (size_t at = b->next; at < b->deal.other_mode; at++) {
        const double n = (double)fmo_scf_job_functions(&b->jobs[b->order[at]]);
        bytes += 0.3 * n * n * n * n + fmo_scf_batch_bytes(b, (size_t)n);
    }
    return bytes;
}

/* Returns 1 if plans and states of these jobs can be cached: all jobs run at once, none runs alone,
 * and enough memory is left. Empties the cache if it belongs to other jobs. */
static int can_cache_all(const batch *b, int lockstep_batches, size_t max_size)
{
    fmo_batch_cache *const cache = b->cache;
    const size_t jobs = b->deal.other_mode - b->next;
    if (cache) cache->reused = 0;
    if (!cache || b->deal.lockstep_batch || b->next || !jobs) return 0;
    const size_t largest = fmo_scf_job_functions(&b->jobs[b->order[b->next]]);
    const int fit = max_size * (size_t)lockstep_batches >= jobs &&
                    fmo_lockstep_batch_size(b, largest, max_size, lockstep_batches) >= max_size &&
                    cached_bytes(b) <= fmo_tuning_lockstep_bytes;
    if (cache->count != b->count || cache->lockstep_batches != lockstep_batches || !fit)
        empty_cache(cache);
    if (!fit) return 0;
    if (!cache->plan) cache->plan = calloc(b->count, sizeof *cache->plan);
    if (!cache->plan) return 0;
    cache->count = b->count;
    cache->lockstep_batches = lockstep_batches;
    return 1;
}

/* Empties the cache if a job found too little memory, or if it would occupy more than a quarter of
 * the GPU's memory. */
static void limit_cache(const batch *b, double bytes)
{
    double memory = 0.0;
    int short_of_it = 0;
    for (int c = 0; c < b->cache->lockstep_batches; c++)
        if (b->cache->executor[c]) memory = fmax(memory, b->cache->executor[c]->memory);
    for (size_t k = 0; k < b->count; k++) short_of_it |= b->rerun[k];
    if (short_of_it || bytes > 0.25 * memory) empty_cache(b->cache);
}

/* Assigns a worker its share of the jobs; with cached plans it is the same in every batch. */
static void assign_share(gpu_worker *w)
{
    batch *const b = w->b;
    const size_t left = b->deal.other_mode - b->next;
    w->own_jobs = &b->order[b->next];
    w->own_jobs_num = left < w->max_size ? left : w->max_size;
    w->executor = b->cache->executor[w->number];
    b->next += w->own_jobs_num;
}

/* Runs lockstep batches of this process, `lockstep_batches` at a time, until no jobs are left for
 * them. If other ranks run on this host, if jobs are prepared by callbacks (one batch is prepared
 * while another computes), or if plans are cached (all batches compute at once), the batches
 * together use no more threads than there are processors: waiting OpenMP threads spin unless their
 * own process has too many (docs/log/several.md). */
void fmo_lockstep_batches_run(batch *b, const fmo_scf_options *options_of_batch,
                              int lockstep_batches, size_t max_size)
{
    const fmo_ranks *const ranks = b->options->deal;
    fmo_scf_options own = *options_of_batch;
    const fmo_scf_options *const options = &own;
    const int threads = fmo_fock_threads(options->fock.threads);
    const int caches = can_cache_all(b, lockstep_batches, max_size);
    if (b->callbacks || caches || (ranks && ranks->node_size > 1))
        own.fock.threads = threads > lockstep_batches ? threads / lockstep_batches : 1;
    const fmo_fock_options *const fock = &options->fock;
    const int gpus = fock->device_num > 1 ? fock->device_num : 1;
    const int device = fock->device >= 0 ? fock->device : fmo_batch_linalg_thread_gpu();
    gpu_worker worker[LOCKSTEP_BATCHES * FMO_DEVICES_MAX];
    const double bytes = caches ? cached_bytes(b) : 0.0;
    for (int c = 0; c < lockstep_batches; c++) {
        worker[c] = (gpu_worker){.b = b,
                                 .options = options,
                                 .device = device,
                                 .max_size = max_size,
                                 .number = c,
                                 .lockstep_batches = lockstep_batches};
        if (fock->device_num > 0) worker[c].device = fock->devices[c % gpus];
        if (caches) assign_share(&worker[c]);
    }
    for (int c = 0; c < lockstep_batches; c++)
        worker[c].started =
            c > 0 && pthread_create(&worker[c].thread, NULL, work_in_lockstep, &worker[c]) == 0;
    (void)work_in_lockstep(&worker[0]);
    for (int c = 1; c < lockstep_batches; c++)
        if (worker[c].started)
            pthread_join(worker[c].thread, NULL);
        else if (caches) /* no other thread runs its share */
            (void)work_in_lockstep(&worker[c]);
    for (int c = 0; c < lockstep_batches && caches; c++) {
        b->cache->executor[c] = worker[c].executor;
        worker[c].executor = NULL;
    }
    if (caches) limit_cache(b, bytes);
    /* Closes the executors after all threads have ended. This thread's is closed last, and restores
     * the GPU that was current. */
    for (int c = lockstep_batches - 1; c >= 0; c--)
        if (worker[c].executor) worker[c].executor->ops->close(worker[c].executor);
}
