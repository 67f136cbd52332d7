/* --batch: builds all data sets in one call of fmo_fock_build_batch. A data set that cannot be
 * read, planned or built is left out, and the others continue without it. Next: build.c. */
#include "driver/run/batch.h"
#include "driver/base/clock.h"
#include "driver/run/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A data set that takes part in the call. */
typedef struct member {
    int index; /* in options->datasets */
    fmo_fock_plan *plan;
    driver_repeats repeats;
} member;

typedef struct call {
    const driver_options *options;
    driver_batch *batch;
    int member_num;
    member *member;    /* [count], of which the first member_num are in use */
    fmo_fock_job *job; /* [count] */
} call;

static void remove_member(call *c, int k)
{
    fmo_fock_plan_destroy(c->member[k].plan);
    driver_repeats_free(&c->member[k].repeats);
    c->member_num--;
    memmove(&c->member[k], &c->member[k + 1], (size_t)(c->member_num - k) * sizeof *c->member);
}

/* Reads all data sets; those that cannot be read get their error and are left out. */
static void read_all(call *c)
{
    const driver_options *o = c->options;
    for (int i = 0; i < c->batch->count; i++) {
        driver_result *result = &c->batch->result[i];
        member *m = &c->member[c->member_num++];
        memset(m, 0, sizeof *m);
        m->index = i;
        fmo_error *err = &c->batch->err[i];
        const fmo_status status = driver_build_begin(o, o->datasets[i], result, err);
        if (status != FMO_OK) {
            fmo_error_set(err, status, "%s", fmo_status_text(status));
            remove_member(c, c->member_num - 1);
        }
    }
}

/* Makes the plans of all data sets; those without a plan get their error and are left out. */
static fmo_status plan_all(call *c, fmo_error *err)
{
    const size_t count = (size_t)c->member_num;
    const fmo_basis **basis = calloc(count + 1, sizeof *basis);
    fmo_fock_plan **plan = calloc(count + 1, sizeof *plan);
    fmo_error *errs = calloc(count + 1, sizeof *errs);
    fmo_status status = FMO_OK;
    if (!basis || !plan || !errs) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu plans", count);
        goto done;
    }
    for (size_t k = 0; k < count; k++)
        basis[k] = fmo_dataset_basis(c->batch->result[c->member[k].index].dataset);
    (void)fmo_fock_plan_create_batch(basis, count, &c->options->fock, plan, errs);
    for (int k = (int)count - 1; k >= 0; k--) {
        c->member[k].plan = plan[k];
        if (plan[k]) continue;
        c->batch->err[c->member[k].index] = errs[k];
        remove_member(c, k);
    }
done:
    free(basis);
    free(plan);
    free(errs);
    return status;
}

/* Makes one call and returns its time in seconds, or NaN if it failed; the data sets that failed
 * have then been left out. */
static double build_once(call *c)
{
    fmo_error err = {FMO_OK, ""};
    for (int k = 0; k < c->member_num; k++) {
        const driver_result *result = &c->batch->result[c->member[k].index];
        c->job[k] = (fmo_fock_job){.plan = c->member[k].plan,
                                   .density = fmo_dataset_density(result->dataset),
                                   .coulomb = result->matrices[DRIVER_COULOMB],
                                   .exchange = result->matrices[DRIVER_EXCHANGE],
                                   .err = &c->batch->err[c->member[k].index]};
    }
    const double begin = driver_seconds();
    const fmo_status status = fmo_fock_build_batch(c->job, (size_t)c->member_num, &err);
    const double seconds = driver_seconds() - begin;
    if (status == FMO_OK) return seconds;
    for (int k = c->member_num - 1; k >= 0; k--) {
        if (c->job[k].status == FMO_OK) continue;
        remove_member(c, k);
    }
    return NAN;
}

/* Makes `repeat` calls, all with the same data sets: if one fails, all start again without it. */
static void build_all(call *c, double *seconds)
{
    const int repeat = c->options->repeat;
    int done = 0;
    while (done < repeat && c->member_num > 0) {
        seconds[done] = build_once(c);
        if (isnan(seconds[done])) { /* start again with the remaining data sets */
            for (int k = 0; k < c->member_num; k++) c->member[k].repeats.done = 0;
            done = 0;
            continue;
        }
        for (int k = c->member_num - 1; k >= 0; k--) {
            member *m = &c->member[k];
            driver_result *const result = &c->batch->result[m->index];
            fmo_error *const err = &c->batch->err[m->index];
            fmo_status status = driver_result_take_build(result, m->plan, err);
            if (status == FMO_OK && repeat > 1)
                status = driver_repeats_add(&m->repeats, repeat, result, err);
            if (status != FMO_OK) remove_member(c, k);
        }
        done++;
    }
    c->batch->seconds = driver_spread_of(seconds, (size_t)done);
}

/* Finishes all results. All plans have been destroyed by now, since the check needs their
 * memory. */
static void finish_all(call *c)
{
    driver_progress progress;
    driver_progress_init(&progress, stderr, !c->options->quiet);
    for (int i = 0; i < c->batch->count; i++)
        if (c->batch->err[i].status == FMO_OK)
            driver_build_finish(c->options, &progress, &c->batch->result[i], &c->batch->err[i]);
    driver_progress_end(&progress);
}

/* Reads, plans, builds and finishes all data sets of the options. */
fmo_status driver_run_batch(const driver_options *options, driver_batch *batch, fmo_error *err)
{
    const size_t count = (size_t)options->dataset_num;
    call c = {options, batch, 0, calloc(count, sizeof *c.member), calloc(count, sizeof *c.job)};
    double *seconds = calloc((size_t)options->repeat, sizeof *seconds);
    fmo_status status = FMO_OK;
    memset(batch, 0, sizeof *batch);
    batch->seconds = driver_spread_of(NULL, 0);
    batch->result = calloc(count, sizeof *batch->result);
    batch->err = calloc(count, sizeof *batch->err);
    if (!batch->result || !batch->err || !c.member || !c.job || !seconds) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu data sets", count);
        goto done;
    }
    batch->count = options->dataset_num;
    read_all(&c);
    status = plan_all(&c, err);
    if (status == FMO_OK) build_all(&c, seconds);
    batch->built = c.member_num;
    for (int k = 0; k < c.member_num; k++)
        driver_repeats_end(&c.member[k].repeats, &batch->result[c.member[k].index]);
    while (c.member_num > 0) remove_member(&c, c.member_num - 1);
    finish_all(&c);
done:
    free(seconds);
    free(c.member);
    free(c.job);
    return status;
}

void driver_batch_free(driver_batch *batch)
{
    for (int i = 0; i < batch->count; i++) driver_result_free(&batch->result[i]);
    free(batch->result);
    free(batch->err);
}
