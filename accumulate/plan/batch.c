/* Builds many jobs in one call. Jobs are processed in rounds with at most one job of each plan, so
 * that the jobs of a round can be in progress together. Modes with `start` queue them, a few
 * hundred at a time, and are waited for before the plan's next job or at the end. Other modes build
 * one by one, or several densities of one plan together. Jobs with a source, and those of plans
 * that ranks share, build alone. Each job has its own status. See plan.h, and gpu/group.cu for the
 * queued builds. */
#include <stdio.h>
#include <stdlib.h>

#include "accumulate/plan/ranks.h"
#include "accumulate/tuning.h"
#include "base/arguments.h"

/* Jobs that are started together (gpu/group.cu), not counting those already in progress on the GPU.
 */
enum { WAITING_MAX = fmo_tuning_batch_waiting };

typedef struct batch {
    fmo_fock_job *jobs;
    size_t count;
    fmo_start how;
    size_t *next;           /* [count] the next job of the same plan; count if there is none */
    char *taken;            /* [count] 1: the job has been taken */
    int one_plan;           /* 1: all jobs have the same plan */
    size_t left;            /* jobs not taken */
    fmo_fock_job **waiting; /* [count] jobs not started yet */
    size_t waiting_num;
    /* The failing job with the lowest number (count: none failed) and its error. */
    size_t failed;
    fmo_error failure;
} batch;

/* Records the result of a job. */
static void note(batch *b, fmo_fock_job *job, const fmo_error *err)
{
    const size_t number = (size_t)(job - b->jobs);
    job->status = err->status;
    if (job->err) *job->err = *err;
    if (err->status == FMO_OK || number >= b->failed) return;
    b->failed = number;
    b->failure = *err;
}

/* Records the result of a job and of those that were built in one pass with it. */
static void note_all(batch *b, fmo_fock_job *job, const fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    note(b, job, err);
    for (int k = 0; k < plan->also_num; k++) note(b, plan->also[k], err);
    plan->also_num = 0;
}

/* Waits for the build in progress on a plan and writes its matrices to the caller. */
static void finish(batch *b, fmo_fock_plan *plan)
{
    fmo_fock_job *const job = plan->running;
    const fmo_fock_job *jobs[1 + FMO_PLAN_COMPANIONS_MAX] = {job};
    fmo_error err = {FMO_OK, ""};
    plan->running = NULL;
    for (int k = 0; k < plan->also_num; k++) jobs[1 + k] = plan->also[k];
    if (plan->mode->finish(plan, &err) == FMO_OK) fmo_build_end(jobs, 1 + plan->also_num);
    note_all(b, job, &err);
}

/* Starts all waiting jobs together; the plans remember their running jobs until finish(). */
static void start_waiting(batch *b)
{
    fmo_error err = {FMO_OK, ""};
    if (!b->waiting_num) return;
    const fmo_mode_implementation *mode = b->waiting[0]->plan->mode; /* only one mode has `start` */
    const fmo_status status =
        mode->start((const fmo_fock_job *const *)b->waiting, b->waiting_num, &b->how, &err);
    for (size_t k = 0; k < b->waiting_num; k++) {
        if (status == FMO_OK && !b->how.on_device)
            b->waiting[k]->plan->running = b->waiting[k];
        else
            note_all(b, b->waiting[k], &err);
    }
    b->waiting_num = 0;
}

/* Marks job k as taken. */
static void mark_taken(batch *b, size_t k)
{
    b->taken[k] = 1;
    b->left--;
}

/* Returns how many densities of a job's plan can be built together. With `fixed` each density must
 * give the bits that it gives alone, which depend on its own screening: one. */
static int max_group_size(const fmo_fock_job *job)
{
    const fmo_fock_plan *plan = job->plan;
    if (job->source || plan->shared.ranks || fmo_scatter_sums_integers(plan->options.scatter))
        return 1;
    return plan->mode->densities ? plan->mode->densities(plan) : 1;
}

/* Collects jobs, from job k on, that have the same plan, no source, the same matrices to compute,
 * and a valid density, up to the allowed number of densities. Returns their number; *largest is the
 * largest density element. */
static int collect(batch *b, size_t k, fmo_fock_job **jobs, double *largest)
{
    const int limit = max_group_size(&b->jobs[k]);
    int num = 0, parts = 0;
    *largest = 0.0;
    for (size_t n = k; n < b->count && parts < limit; n = b->next[n]) {
        fmo_fock_job *const job = &b->jobs[n];
        fmo_error err = {FMO_OK, ""};
        double own = 0.0;
        if (n != k && (b->taken[n] || job->source || !fmo_build_alike(job, &b->jobs[k]) ||
                       parts + fmo_build_parts(job) > limit))
            continue;
        mark_taken(b, n);
        if (fmo_build_check(job, &own, &err) != FMO_OK) {
            note(b, job, &err);
            if (limit == 1) return 0;
            continue;
        }
        *largest = own > *largest ? own : *largest;
        jobs[num++] = job;
        parts += fmo_build_parts(job);
    }
    return num;
}

/* Finds jobs, from job k on, that are built in one pass with job k, and marks them as taken; those
 * with invalid densities fail. *largest: the largest density element so far. */
static void find_companions(batch *b, size_t k, double *largest)
{
    fmo_fock_plan *const plan = b->jobs[k].plan;
    const fmo_fock_job *jobs[1 + FMO_PLAN_COMPANIONS_MAX] = {&b->jobs[k]};
    size_t number[FMO_PLAN_COMPANIONS_MAX];
    double maximum = *largest;
    int num = 0, shares = 0;
    plan->also_num = 0;
    if (!plan->mode->shares_pass || b->jobs[k].source) return;
    for (size_t n = b->next[k]; n < b->count && num < FMO_PLAN_COMPANIONS_MAX; n = b->next[n]) {
        fmo_error err = {FMO_OK, ""};
        double own = 0.0;
        jobs[1 + num] = &b->jobs[n];
        const int fits = b->taken[n] || b->jobs[n].source
                             ? 0
                             : plan->mode->shares_pass(jobs, 2 + num, b->one_plan);
        if (!fits) continue;
        if (!b->how.on_device && fmo_build_check(&b->jobs[n], &own, &err) != FMO_OK) {
            mark_taken(b, n);
            note(b, &b->jobs[n], &err);
            continue;
        }
        maximum = own > maximum ? own : maximum;
        number[num++] = n;
        shares = fits;
    }
    if (shares > 1) *largest = maximum;
    for (int m = 0; m < num && shares > 1; m++) {
        mark_taken(b, number[m]);
        plan->also[plan->also_num++] = &b->jobs[number[m]];
    }
}

/* Takes job k, with others of its plan: builds them, or puts job k on the waiting list. */
static void take(batch *b, size_t k)
{
    fmo_fock_job *jobs[FMO_PLAN_DENSITIES_MAX];
    fmo_fock_plan *const plan = b->jobs[k].plan, *const owner = fmo_build_owner(&b->jobs[k]);
    fmo_error err = {FMO_OK, ""};
    double largest = 0.0;
    int num = 1;
    if (plan->running) finish(b, plan);
    if (owner->running) finish(b, owner);
    if (b->how.on_device) {
        mark_taken(b, k);
        find_companions(b, k, &largest);
        b->waiting[b->waiting_num++] = &b->jobs[k];
        return;
    }
    num = collect(b, k, jobs, &largest);
    if (!num) return;
    if (plan->shared.ranks) {
        (void)fmo_build_shared(jobs[0], largest, &err);
        note(b, jobs[0], &err);
        return;
    }
    if (plan->mode->build || owner != plan) {
        if (owner != plan) start_waiting(b); /* the owner may itself be on the waiting list */
        if (plan->running) finish(b, plan);
        if (owner->running) finish(b, owner);
        (void)fmo_build((const fmo_fock_job *const *)jobs, num, largest, &err);
        for (int n = 0; n < num; n++) note(b, jobs[n], &err);
        return;
    }
    find_companions(b, k, &largest);
    for (int n = 0; n < plan->also_num; n++) jobs[num++] = plan->also[n];
    if (fmo_build_begin((const fmo_fock_job *const *)jobs, num, largest, &err) != FMO_OK) {
        note_all(b, jobs[0], &err);
        return;
    }
    if (b->waiting_num == WAITING_MAX) start_waiting(b);
    b->waiting[b->waiting_num++] = jobs[0];
}

/* Reserves a plan for this call. Returns 0 if another call uses it. */
static int enter_plan(batch *b, fmo_fock_plan *plan)
{
    if (__atomic_load_n(&plan->batch, __ATOMIC_ACQUIRE) == b) return 1;
    if (!fmo_plan_enter(plan)) return 0;
    plan->round = 0;
    plan->last_job = b->count;
    __atomic_store_n(&plan->batch, b, __ATOMIC_RELEASE);
    return 1;
}

static void leave_plan(batch *b, fmo_fock_plan *plan)
{
    if (__atomic_load_n(&plan->batch, __ATOMIC_ACQUIRE) != b) return;
    __atomic_store_n(&plan->batch, NULL, __ATOMIC_RELEASE);
    fmo_plan_leave(plan);
}

/* Reserves all plans for this call; jobs whose plan another call uses fail. */
static void enter(batch *b)
{
    b->left = b->count;
    b->one_plan = 1;
    for (size_t k = 0; k < b->count; k++)
        if (b->jobs[k].plan != b->jobs[0].plan) b->one_plan = 0;
    for (size_t k = 0; k < b->count; k++) {
        fmo_fock_plan *const plan = b->jobs[k].plan;
        fmo_error err = {FMO_OK, ""};
        b->jobs[k].status = FMO_OK;
        b->next[k] = b->count;
        if (enter_plan(b, plan) && enter_plan(b, fmo_build_owner(&b->jobs[k]))) {
            if (plan->last_job < b->count) b->next[plan->last_job] = k;
            plan->last_job = k;
            continue;
        }
        (void)fmo_error_set(&err, FMO_ERR_ARGUMENT,
                            "another thread is building with this plan: make a plan for each "
                            "thread");
        note(b, &b->jobs[k], &err);
        mark_taken(b, k);
    }
}

/* Processes all jobs in rounds, waits for those in progress, and releases the plans. */
static void run(batch *b)
{
    enter(b);
    for (size_t round = 1; b->left > 0; round++) {
        for (size_t k = 0; k < b->count; k++) {
            fmo_fock_plan *const plan = b->jobs[k].plan;
            if (b->taken[k] || plan->round == round) continue;
            plan->round = round;
            take(b, k);
        }
        start_waiting(b);
    }
    for (size_t k = 0; k < b->count; k++)
        if (b->jobs[k].plan->batch == b && b->jobs[k].plan->running) finish(b, b->jobs[k].plan);
    for (size_t k = 0; k < b->count; k++) {
        leave_plan(b, b->jobs[k].plan);
        leave_plan(b, fmo_build_owner(&b->jobs[k]));
    }
}

/* Returns 1 if a job's plan can use its source; otherwise writes the reason to `why`. */
static int source_fits(const fmo_fock_job *job, int on_device, char *why, size_t size)
{
    const fmo_fock_plan *plan = job->plan, *source = job->source;
    if (on_device)
        (void)snprintf(why, size, "source: not with matrices in GPU memory");
    else if (!plan->mode->takes_source)
        (void)snprintf(why, size, "source: the plan's mode is %s, expected cpu or fused",
                       fmo_mode_name(plan->options.mode));
    else if (source->mode != plan->mode || source->options.device != plan->options.device)
        (void)snprintf(why, size, "source: expected a plan of the same mode and GPU");
    else if (fmo_scatter_sums_integers(source->options.scatter) !=
             fmo_scatter_sums_integers(plan->options.scatter))
        (void)snprintf(why, size, "source: scatter = fixed in one plan and not in the other");
    else if (plan->shared.ranks || source->shared.ranks)
        (void)snprintf(why, size, "source: a plan is shared by ranks");
    else if (job->exchange)
        (void)snprintf(why, size, "source: exchange must be NULL, only J has another's density");
    else
        return 1;
    return 0;
}

/* Rejects the whole call because of one job: sets the status of all jobs; no matrix has been
 * written. */
static fmo_status refuse_with(fmo_fock_job *jobs, size_t count, size_t job, const char *call,
                              const fmo_error *why, fmo_error *err)
{
    fmo_error own = {FMO_OK, ""};
    (void)fmo_error_set(&own, why->status, "%s: job %zu: %s", call, job, why->message);
    for (size_t k = 0; k < count; k++) {
        jobs[k].status = own.status;
        if (jobs[k].err) *jobs[k].err = own;
    }
    return fmo_error_set(err, own.status, "%s", own.message);
}

static fmo_status refuse(fmo_fock_job *jobs, size_t count, size_t job, const char *call,
                         const char *why, fmo_error *err)
{
    fmo_error reason = {FMO_OK, ""};
    (void)fmo_error_set(&reason, FMO_ERR_ARGUMENT, "%s", why);
    return refuse_with(jobs, count, job, call, &reason, err);
}

/* A matrix of a job. */
typedef struct matrix {
    fmo_argument is;
    size_t job;
    int place; /* position among the matrices of its job */
} matrix;

static int by_address(const void *x, const void *y)
{
    const uintptr_t a = (uintptr_t)((const matrix *)x)->is.at;
    const uintptr_t b = (uintptr_t)((const matrix *)y)->is.at;
    return (a > b) - (a < b);
}

static uintptr_t end_of(const matrix *m)
{
    return (uintptr_t)m->is.at + m->is.bytes;
}

/* Returns FMO_ERR_ARGUMENT if a matrix that is written overlaps another one, with the job's number
 * and the reason, or FMO_ERR_MEMORY. In order of addresses, a matrix overlaps an earlier one if and
 * only if it overlaps the earlier one with the largest end address. */
static fmo_status check_overlaps(const fmo_fock_job *jobs, size_t count, size_t *number, char *why,
                                 size_t size)
{
    matrix *const all = malloc(3 * count * sizeof *all);
    if (!all) return FMO_ERR_MEMORY;
    for (size_t k = 0; k < count; k++) {
        const fmo_fock_job *job = &jobs[k];
        const size_t bytes = fmo_plan_matrix_bytes(job->plan);
        const size_t density_bytes = fmo_plan_matrix_bytes(fmo_build_owner(job));
        all[3 * k] = (matrix){{"density", job->density, density_bytes, 0}, k, 0};
        all[3 * k + 1] = (matrix){{"coulomb", job->coulomb, job->coulomb ? bytes : 0, 1}, k, 1};
        all[3 * k + 2] = (matrix){{"exchange", job->exchange, job->exchange ? bytes : 0, 1}, k, 2};
    }
    qsort(all, 3 * count, sizeof *all, by_address);
    const matrix *last = NULL, *last_written = NULL; /* those with the largest end address */
    fmo_status status = FMO_OK;
    for (size_t k = 0; status == FMO_OK && k < 3 * count; k++) {
        const matrix *m = &all[k], *other = m->is.written ? last : last_written;
        if (other && fmo_arguments_overlap(&other->is, &m->is)) {
            const int later = m->job != other->job ? m->job > other->job : m->place < other->place;
            const matrix *const a = later ? m : other, *const b = later ? other : m;
            *number = a->job;
            if (a->job == b->job)
                (void)snprintf(why, size, "%s and %s overlap: give each an array of its own",
                               a->is.name, b->is.name);
            else
                (void)snprintf(why, size,
                               "%s overlaps %s of job %zu: give each an array of its own",
                               a->is.name, b->is.name, b->job);
            status = FMO_ERR_ARGUMENT;
        }
        if (!last || end_of(m) > end_of(last)) last = m;
        if (m->is.written && (!last_written || end_of(m) > end_of(last_written))) last_written = m;
    }
    free(all);
    return status;
}

/* Checks all jobs, then builds them; the body of both public functions. */
static fmo_status build_batch(const char *call, fmo_fock_job *jobs, size_t count, int on_device,
                              fmo_error *err)
{
    char why[160];
    if (count == 0) return FMO_OK;
    const fmo_status checked = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(jobs));
    if (checked != FMO_OK) return checked;
    for (size_t k = 0; k < count; k++) {
        const fmo_fock_job *job = &jobs[k];
        const char *const missing = !job->plan                  ? "plan is NULL"
                                    : !job->density             ? "density is NULL"
                                    : !fmo_build_requested(job) ? "coulomb and exchange are NULL"
                                    : job->plan->shared.ranks && on_device
                                        ? "the plan is shared by ranks: give matrices on the host"
                                        : NULL;
        if (missing) return refuse(jobs, count, k, call, missing, err);
        fmo_error reason = {FMO_OK, ""};
        if (fmo_build_check_request(job, &reason) != FMO_OK)
            return refuse_with(jobs, count, k, call, &reason, err);
        if (job->source) {
            if (source_fits(job, on_device, why, sizeof why)) continue;
            return refuse(jobs, count, k, call, why, err);
        }
        if (!on_device || job->plan->mode->start) continue;
        (void)snprintf(why, sizeof why, "the plan's mode is %s, expected fused",
                       fmo_mode_name(job->plan->options.mode));
        return refuse(jobs, count, k, call, why, err);
    }
    size_t job = 0;
    fmo_status status = check_overlaps(jobs, count, &job, why, sizeof why);
    if (status == FMO_ERR_ARGUMENT) return refuse(jobs, count, job, call, why, err);
    batch b = {.jobs = jobs,
               .count = count,
               .how = {.on_device = on_device, .lead = jobs[0].plan},
               .next = malloc(count * sizeof *b.next),
               .taken = calloc(count, 1),
               .waiting = malloc(count * sizeof *b.waiting),
               .failed = count};
    if (status == FMO_OK && b.next && b.taken && b.waiting)
        run(&b);
    else
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu jobs", count);
    free(b.next);
    free(b.taken);
    free(b.waiting);
    if (b.failed == count) return status;
    return fmo_error_set(err, b.failure.status, "job %zu: %s", b.failed, b.failure.message);
}

fmo_status fmo_fock_build_batch(fmo_fock_job *jobs, size_t count, fmo_error *err)
{
    return build_batch("fmo_fock_build_batch", jobs, count, 0, err);
}

fmo_status fmo_fock_build_batch_device(fmo_fock_job *jobs, size_t count, fmo_error *err)
{
    return build_batch("fmo_fock_build_batch_device", jobs, count, 1, err);
}
