/* Many builds in one call. Jobs go in rounds in which every plan has at most one: those of a round
 * can be on their way together. Modes with `start` queue them, a few hundred at a time, and are
 * waited for when their plan's turn comes again, or at the end; others build one by one. Each job
 * has its own status. */
#include <stdio.h>
#include <stdlib.h>

#include "accumulate/plan/plan.h"
#include "accumulate/tuning.h"
#include "integrals/arguments.h"

/* Jobs that are started together (gpu/group.cu). Those that are on the GPU meanwhile are others. */
enum { WAITING_MAX = fmo_tuning_batch_waiting };

typedef struct batch {
    fmo_fock_job *jobs;
    size_t count;
    fmo_start how;
    fmo_fock_job **waiting; /* [count] not started yet */
    size_t waiting_num;
    /* The failure with the lowest number. */
    size_t failed;
    fmo_error failure;
} batch;

/* What came of a job. */
static void note(batch *b, fmo_fock_job *job, const fmo_error *err)
{
    const size_t number = (size_t)(job - b->jobs);
    job->status = err->status;
    if (job->err) *job->err = *err;
    if (err->status == FMO_OK || number >= b->failed) return;
    b->failed = number;
    b->failure = *err;
}

/* Waits for the build that runs on a plan and hands its matrices over. */
static void finish(batch *b, fmo_fock_plan *plan)
{
    fmo_fock_job *const job = plan->running;
    fmo_error err = {FMO_OK, ""};
    plan->running = NULL;
    if (plan->mode->finish(plan, &err) == FMO_OK) fmo_build_end(plan, job->coulomb, job->exchange);
    note(b, job, &err);
}

static void start_waiting(batch *b)
{
    fmo_error err = {FMO_OK, ""};
    if (!b->waiting_num) return;
    const fmo_mode_implementation *mode = b->waiting[0]->plan->mode; /* one mode has `start` */
    const fmo_status status = mode->start(b->waiting, b->waiting_num, &b->how, &err);
    for (size_t k = 0; k < b->waiting_num; k++) {
        if (status == FMO_OK && !b->how.on_device)
            b->waiting[k]->plan->running = b->waiting[k];
        else
            note(b, b->waiting[k], &err);
    }
    b->waiting_num = 0;
}

/* One job: built, or waiting. */
static void take(batch *b, fmo_fock_job *job)
{
    fmo_fock_plan *const plan = job->plan;
    fmo_error err = {FMO_OK, ""};
    if (plan->running) finish(b, plan);
    if (!b->how.on_device && fmo_build_begin(plan, job->density, &err) == FMO_OK &&
        plan->mode->build && plan->mode->build(plan, job->density, &err) == FMO_OK)
        fmo_build_end(plan, job->coulomb, job->exchange);
    if (plan->mode->build || err.status != FMO_OK) {
        note(b, job, &err);
        return;
    }
    if (!b->how.on_device && b->waiting_num == WAITING_MAX) start_waiting(b);
    b->waiting[b->waiting_num++] = job;
}

/* Takes all plans for this call; jobs whose plan another call has are noted. */
static size_t enter(batch *b)
{
    size_t left = b->count;
    for (size_t k = 0; k < b->count; k++) {
        fmo_fock_plan *const plan = b->jobs[k].plan;
        fmo_error err = {FMO_OK, ""};
        b->jobs[k].status = FMO_OK;
        if (__atomic_load_n(&plan->batch, __ATOMIC_ACQUIRE) == b) continue;
        if (fmo_plan_enter(plan)) {
            plan->round = 0;
            __atomic_store_n(&plan->batch, b, __ATOMIC_RELEASE);
            continue;
        }
        (void)fmo_error_set(&err, FMO_ERR_ARGUMENT,
                            "another thread is building with this plan: make a plan for each "
                            "thread");
        note(b, &b->jobs[k], &err);
        left--;
    }
    return left;
}

static void leave(batch *b)
{
    for (size_t k = 0; k < b->count; k++) {
        fmo_fock_plan *const plan = b->jobs[k].plan;
        if (__atomic_load_n(&plan->batch, __ATOMIC_ACQUIRE) != b) continue;
        __atomic_store_n(&plan->batch, NULL, __ATOMIC_RELEASE);
        fmo_plan_leave(plan);
    }
}

static void run(batch *b, char *taken)
{
    size_t left = enter(b);
    for (size_t k = 0; k < b->count; k++) taken[k] = b->jobs[k].status != FMO_OK;
    for (size_t round = 1; left > 0; round++) {
        for (size_t k = 0; k < b->count; k++) {
            fmo_fock_plan *const plan = b->jobs[k].plan;
            if (taken[k] || plan->round == round) continue;
            plan->round = round;
            taken[k] = 1;
            left--;
            take(b, &b->jobs[k]);
        }
        start_waiting(b);
    }
    for (size_t k = 0; k < b->count; k++)
        if (b->jobs[k].plan->batch == b && b->jobs[k].plan->running) finish(b, b->jobs[k].plan);
    leave(b);
}

/* Refuses the whole call: nothing has been touched. */
static fmo_status refuse(fmo_fock_job *jobs, size_t count, size_t job, const char *call,
                         const char *why, fmo_error *err)
{
    fmo_error own = {FMO_OK, ""};
    (void)fmo_error_set(&own, FMO_ERR_ARGUMENT, "%s: job %zu: %s", call, job, why);
    for (size_t k = 0; k < count; k++) {
        jobs[k].status = own.status;
        if (jobs[k].err) *jobs[k].err = own;
    }
    return fmo_error_set(err, own.status, "%s", own.message);
}

/* A matrix of a job. */
typedef struct matrix {
    fmo_argument is;
    size_t job;
    int place; /* among the matrices of its job */
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

/* FMO_ERR_ARGUMENT if a matrix that is written shares memory with another, and which; or
 * FMO_ERR_MEMORY. In order of addresses a matrix overlaps one before it if it overlaps the one of
 * those that ends last. */
static fmo_status check_overlaps(const fmo_fock_job *jobs, size_t count, size_t *job, char *why,
                                 size_t size)
{
    matrix *const all = malloc(3 * count * sizeof *all);
    if (!all) return FMO_ERR_MEMORY;
    for (size_t k = 0; k < count; k++) {
        const size_t bytes = fmo_plan_matrix_bytes(jobs[k].plan);
        all[3 * k] = (matrix){{"density", jobs[k].density, bytes, 0}, k, 0};
        all[3 * k + 1] = (matrix){{"coulomb", jobs[k].coulomb, bytes, 1}, k, 1};
        all[3 * k + 2] = (matrix){{"exchange", jobs[k].exchange, bytes, 1}, k, 2};
    }
    qsort(all, 3 * count, sizeof *all, by_address);
    const matrix *last = NULL, *last_written = NULL; /* that end last */
    fmo_status status = FMO_OK;
    for (size_t k = 0; status == FMO_OK && k < 3 * count; k++) {
        const matrix *m = &all[k], *other = m->is.written ? last : last_written;
        if (other && fmo_arguments_overlap(&other->is, &m->is)) {
            const int later = m->job != other->job ? m->job > other->job : m->place < other->place;
            const matrix *const a = later ? m : other, *const b = later ? other : m;
            *job = a->job;
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

static fmo_status build_batch(const char *call, fmo_fock_job *jobs, size_t count, int on_device,
                              fmo_error *err)
{
    char why[160];
    if (count == 0) return FMO_OK;
    const fmo_status given = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(jobs));
    if (given != FMO_OK) return given;
    for (size_t k = 0; k < count; k++) {
        const fmo_fock_job *job = &jobs[k];
        const char *const missing = !job->plan       ? "plan is NULL"
                                    : !job->density  ? "density is NULL"
                                    : !job->coulomb  ? "coulomb is NULL"
                                    : !job->exchange ? "exchange is NULL"
                                                     : NULL;
        if (missing) return refuse(jobs, count, k, call, missing, err);
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
               .waiting = malloc(count * sizeof *b.waiting),
               .failed = count};
    char *const taken = calloc(count, 1);
    if (status == FMO_OK && b.waiting && taken)
        run(&b, taken);
    else
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu jobs", count);
    free(b.waiting);
    free(taken);
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
