/* Makes plans: everything that depends on the basis alone. See plan.h. */
#include "accumulate/plan/plan.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/rules/weight.h"
#include "accumulate/tuning.h"
#include "base/arguments.h"
#include "base/free_memory.h"
#include "base/snake.h"
#include "base/stack.h"
#include "integrals/tables.h"
#include "base/threads.h"

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
    const fmo_ranks *ranks = plan->options.ranks; /* each rank of a host gets an equal share of its
                                                     free memory */
    return fmo_free_memory() / (ranks && ranks->node_size > 1 ? (size_t)ranks->node_size : 1);
}

void fmo_plan_note(fmo_fock_plan *plan, const char *format, ...)
{
    char *const notice = plan->profile.notice, text[sizeof plan->profile.notice];
    const size_t used = strlen(notice);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!strstr(notice, text))
        (void)snprintf(notice + used, sizeof plan->profile.notice - used, "%s%s", used ? "; " : "",
                       text);
}

int fmo_fock_threads(int asked)
{
    return fmo_threads(asked);
}

/* Estimates the work of a build without screening: primitive quartets, each weighted by its number
 * of functions. */
static double build_work(const fmo_basis *basis)
{
    double one = 0.0;
    for (int s = 0; s < basis->shell_num; s++)
        one += (double)basis->shell[s].prim_num * fmo_shell_functions(basis->shell[s].ang_mom);
    const double pairs = 0.5 * one * (one + 1.0);
    return 0.5 * pairs * (pairs + 1.0);
}

/* Sets the number of threads: as many as the system allows and, on the CPU, as the work justifies.
 * `possible` is the number the system allows, or 0 if it is not known yet. */
static void choose_threads(fmo_fock_plan *plan, const fmo_basis *basis, int possible)
{
    const int asked = plan->options.threads > 0 ? plan->options.threads : omp_get_max_threads();
    plan->options.threads = possible ? possible : fmo_threads(asked);
    if (plan->options.threads < asked)
        fmo_plan_note(plan,
                      "%d thread%s instead of %d: more are of no use on this machine, or cannot be "
                      "started (ulimit -u, -v, control groups), or have too little stack "
                      "(OMP_STACKSIZE, 640K at least)",
                      plan->options.threads, plan->options.threads > 1 ? "s" : "", asked);
    if (plan->options.mode == FMO_MODE_CPU || plan->options.mode == FMO_MODE_REFERENCE)
        plan->options.threads =
            fmo_threads_for(plan->options.threads, build_work(basis) / fmo_tuning_cpu_thread_work);
}

size_t fmo_plan_matrix_bytes(const fmo_fock_plan *plan)
{
    return (size_t)plan->basis->ao_num * (size_t)plan->basis->ao_num * sizeof(double);
}

int64_t fmo_plan_quartets(const fmo_fock_plan *plan, fmo_eri_class eri_class)
{
    const int bra = fmo_eri_class_bra(eri_class), ket = fmo_eri_class_ket(eri_class);
    const int64_t bras = plan->pairs.list[bra].all, kets = plan->pairs.list[ket].all;
    return bra == ket ? bras * (bras + 1) / 2 : bras * kets;
}

/* Shares the lead plan's pairs and their density limit. */
static void take_pairs(fmo_fock_plan *plan, const fmo_fock_plan *lead)
{
    plan->lead = lead;
    plan->pairs = lead->pairs;
    plan->density_limit = lead->density_limit;
}

/* Lets the mode process new pairs with the plan's own cutoff, even if a larger one is set now. */
static fmo_status new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    const double cutoff = plan->cutoff;
    plan->cutoff = plan->options.cutoff;
    const fmo_status status = plan->mode->new_pairs(plan, err);
    plan->cutoff = cutoff;
    return status;
}

/* Updates the plans of the other GPUs after the lead's pairs have been made again. */
static fmo_status renew_others(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int k = 0; k < plan->others.num; k++) take_pairs(plan->others.plan[k], plan);
    for (int k = 0; k < plan->others.num && status == FMO_OK; k++)
        status = new_pairs(plan->others.plan[k], err);
    return status == FMO_OK ? plan->mode->join(plan, err) : status;
}

fmo_status fmo_plan_make_pairs(fmo_fock_plan *plan, double largest, fmo_error *err)
{
    fmo_shell_pairs pairs;
    const double limit = largest > FMO_PRUNE_DENSITY ? 2.0 * largest : FMO_PRUNE_DENSITY;
    const double prune = plan->options.cutoff * FMO_PRUNE_SHARE * (FMO_PRUNE_DENSITY / limit);
    fmo_status status =
        plan->mode->makes_pairs
            ? fmo_sp_pairs_begin(plan->basis, prune, &pairs, err)
            : fmo_shell_pairs_make(plan->basis, prune, plan->options.threads, &pairs, err);
    if (status != FMO_OK) return status;
    fmo_shell_pairs_free(&plan->pairs);
    plan->pairs = pairs;
    plan->density_limit = limit;
    if ((plan->state || plan->gpu) && plan->mode->new_pairs) status = new_pairs(plan, err);
    return status == FMO_OK && plan->others.num ? renew_others(plan, err) : status;
}

int fmo_plan_enter(fmo_fock_plan *plan)
{
    return !__atomic_exchange_n(&plan->in_use, 1, __ATOMIC_ACQUIRE);
}

void fmo_plan_leave(fmo_fock_plan *plan)
{
    __atomic_store_n(&plan->in_use, 0, __ATOMIC_RELEASE);
}

void fmo_fock_plan_destroy(fmo_fock_plan *plan)
{
    if (!plan) return;
    if (plan->shared.ranks && plan->shared.ranks->rank == 0) fmo_shared_plan_release(plan);
    if (plan->mode && plan->mode->release) plan->mode->release(plan);
    for (int k = 0; k < plan->others.num; k++) fmo_fock_plan_destroy(plan->others.plan[k]);
    if (!plan->lead) fmo_shell_pairs_free(&plan->pairs);
    fmo_basis_destroy(plan->basis);
    free(plan->matrices.density);
    free(plan->matrices.coulomb);
    free(plan->matrices.exchange);
    free(plan->matrices.density_max);
    free(plan->matrices.row_max);
    free(plan->shared.density);
    free(plan->shared.coulomb);
    free(plan->shared.exchange);
    free(plan);
}

/* Enlarges the matrices for that many densities if necessary. */
int fmo_plan_make_matrices(fmo_fock_plan *plan, int densities)
{
    fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num, ns = (size_t)plan->basis->shell_num;
    const size_t bytes = (size_t)densities * n * n * sizeof(double);
    if (densities <= m->capacity) return 1;
    m->capacity = 0;
    free(m->density);
    free(m->coulomb);
    free(m->exchange);
    m->density = malloc(bytes);
    m->coulomb = malloc(bytes);
    m->exchange = malloc(bytes);
    if (!m->density_max) m->density_max = malloc(ns * ns * sizeof *m->density_max);
    if (!m->row_max) m->row_max = malloc(ns * sizeof *m->row_max);
    if (!m->density || !m->coulomb || !m->exchange || !m->density_max || !m->row_max) return 0;
    m->capacity = densities;
    return 1;
}

static const fmo_plan_share whole = {.shares = 1};

static fmo_status create(const fmo_basis *basis, const fmo_fock_options *options, int possible,
                         const fmo_plan_share *part, fmo_fock_plan **plan_out, fmo_error *err);

/* One of the plans of a build on several GPUs; number 0 is the lead itself. */
typedef struct device_plan {
    fmo_fock_plan *lead;
    int number;
    fmo_fock_options options; /* of the other plans: copied before the lead's mode changes its own
                               */
    fmo_status status;
    fmo_error err;
} device_plan;

static void *prepare_one(void *user)
{
    device_plan *const p = user;
    fmo_fock_plan *const lead = p->lead;
    const fmo_plan_share part = {
        .share = p->number, .shares = lead->options.device_num, .lead = lead};
    if (p->number == 0) {
        p->status = lead->mode->prepare(lead, &p->err);
        return NULL;
    }
    p->status =
        create(lead->basis, &p->options, 0, &part, &lead->others.plan[p->number - 1], &p->err);
    return NULL;
}

/* Prepares the lead's mode and makes the plans of the other GPUs, in parallel threads. */
static fmo_status prepare_devices(fmo_fock_plan *plan, fmo_error *err)
{
    const int num = plan->options.device_num;
    device_plan part[FMO_DEVICES_MAX];
    pthread_t thread[FMO_DEVICES_MAX];
    int started[FMO_DEVICES_MAX] = {0}, threads = plan->options.threads / num, failed = -1;
    for (int k = 0; k < num; k++) {
        fmo_fock_options *const own = &part[k].options;
        part[k] = (device_plan){.lead = plan, .number = k, .options = plan->options};
        own->device = plan->options.devices[k];
        own->device_num = 0;
        own->threads = threads > 0 ? threads : 1;
        own->stream = NULL;
        own->progress = NULL;
    }
    for (int k = 0; k < num; k++)
        started[k] = k > 0 && pthread_create(&thread[k], NULL, prepare_one, &part[k]) == 0;
    for (int k = 0; k < num; k++)
        if (!started[k]) (void)prepare_one(&part[k]);
    for (int k = 0; k < num; k++) {
        if (started[k]) pthread_join(thread[k], NULL);
        if (part[k].status != FMO_OK && failed < 0) failed = k;
    }
    if (failed >= 0) {
        for (int k = 1; k < num; k++) fmo_fock_plan_destroy(plan->others.plan[k - 1]);
        return fmo_error_set(err, part[failed].status, "GPU %d: %s", plan->options.devices[failed],
                             part[failed].err.message);
    }
    plan->others.num = num - 1;
    return plan->mode->join(plan, err);
}

/* Makes a plan up to the preparation by its mode; on error *plan_out may need to be destroyed.
 * possible: number of threads that the system allows, for a plan of a batch; 0 for other plans. */
static fmo_status begin(const fmo_basis *basis, const fmo_fock_options *options, int possible,
                        const fmo_plan_share *part, fmo_fock_plan **plan_out, fmo_error *err)
{
    fmo_fock_plan *plan = *plan_out = calloc(1, sizeof *plan);
    if (!plan) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a plan");
    plan->in_batch = possible > 0;
    plan->share = part->share;
    plan->shares = part->shares;
    plan->lead = part->lead;
    plan->shared.number = part->number;
    plan->shared.pieces = part->pieces;
    if (options)
        plan->options = *options;
    else
        fmo_fock_options_init(&plan->options);

    fmo_status status = fmo_options_check(&plan->options, err);
    if (status == FMO_OK) status = fmo_plan_choose_mode(plan, basis, err);
    if (status != FMO_OK) return status;
    plan->cutoff = plan->options.cutoff;
    choose_threads(plan, basis, possible);
    status = fmo_stack_check(err);
    if (status != FMO_OK) return status;

    plan->basis = fmo_basis_copy(basis);
    if (!plan->basis || (plan->mode->build && !plan->lead && !fmo_plan_make_matrices(plan, 1)))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the matrices of %d functions",
                             basis->ao_num);
    if (plan->lead) {
        plan->coulomb_weight = plan->lead->coulomb_weight;
        take_pairs(plan, plan->lead);
    } else {
        plan->coulomb_weight = fmo_screen_coulomb_weight(plan->basis);
        if (plan->mode->needs_pairs) status = fmo_plan_make_pairs(plan, 0.0, err);
    }
    if (plan->options.device_num > 1) plan->shares = plan->options.device_num;
    return status;
}

/* Completes a plan after the preparation by its mode, or destroys it if that failed. */
static fmo_status end(fmo_fock_plan *plan, fmo_status status, double start,
                      const fmo_plan_share *part, fmo_fock_plan **plan_out)
{
    if (status != FMO_OK) {
        fmo_fock_plan_destroy(plan);
        return status;
    }
    plan->shared.ranks = part->ranks;
    plan->profile.mode = plan->options.mode;
    plan->profile.threads = plan->options.threads;
    plan->profile.ranks = part->ranks ? part->ranks->size : 1;
    plan->profile.devices = plan->others.num + (plan->gpu ? 1 : 0);
    plan->profile.plan_seconds = fmo_now() - start;
    *plan_out = plan;
    return FMO_OK;
}

static fmo_status create(const fmo_basis *basis, const fmo_fock_options *options, int possible,
                         const fmo_plan_share *part, fmo_fock_plan **plan_out, fmo_error *err)
{
    const double start = fmo_now();
    fmo_fock_plan *plan = NULL;
    fmo_status status = begin(basis, options, possible, part, &plan, err);
    if (status == FMO_OK && plan->options.device_num > 1)
        status = prepare_devices(plan, err);
    else if (status == FMO_OK && plan->mode->prepare)
        status = plan->mode->prepare(plan, err);
    return end(plan, status, start, part, plan_out);
}

fmo_status fmo_fock_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                fmo_fock_plan **plan, fmo_error *err)
{
    if (plan) *plan = NULL;
    const fmo_status given =
        FMO_CHECK_ARGUMENTS("fmo_fock_plan_create", err, FMO_GIVEN(basis), FMO_GIVEN(plan));
    if (given != FMO_OK) return given;
    if (options && options->ranks) return fmo_shared_plan_create(basis, options, plan, err);
    return create(basis, options, 0, &whole, plan, err);
}

fmo_status fmo_plan_create_shared(const fmo_basis *basis, const fmo_fock_options *options,
                                  const fmo_plan_share *part, fmo_fock_plan **plan, fmo_error *err)
{
    *plan = NULL;
    return create(basis, options, 0, part, plan, err);
}

fmo_status fmo_plan_create_share(const fmo_basis *basis, const fmo_fock_options *options, int share,
                                 int shares, fmo_fock_plan **plan, fmo_error *err)
{
    const fmo_plan_share part = {.share = share, .shares = shares};
    return fmo_plan_create_shared(basis, options, &part, plan, err);
}

fmo_status fmo_plan_make_work(const fmo_fock_plan *plan, const fmo_work_size *size, int steps,
                              fmo_work *work, fmo_error *err)
{
    fmo_work all;
    fmo_status status = fmo_work_all(size, &all, err);
    if (status == FMO_OK && plan->shares > 1) {
        status = (steps ? fmo_work_every : fmo_work_share)(&all, size, plan->share, plan->shares,
                                                           work, err);
        fmo_work_free(&all);
    } else if (status == FMO_OK && plan->shared.pieces > 0) {
        status = fmo_work_cut(&all, size, plan->shared.pieces, work, err);
        fmo_work_free(&all);
    } else {
        *work = all;
    }
    return status;
}

/* A plan of a batch with its size. */
typedef struct sized_plan {
    size_t functions, number;
} sized_plan;

static int larger_first(const void *x, const void *y)
{
    const sized_plan *a = x, *b = y;
    if (a->functions != b->functions) return a->functions < b->functions ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Distributes the plans of a batch over the GPUs in snake order, the largest first. Returns the GPU
 * of each, or NULL without memory. */
static int *deal_devices(const fmo_basis *const *basis, size_t count, const fmo_fock_options *o)
{
    const size_t num = (size_t)o->device_num;
    sized_plan *const all = malloc(count * sizeof *all);
    int *const device = malloc(count * sizeof *device);
    for (size_t k = 0; k < count && all && device; k++)
        all[k] = (sized_plan){basis[k] ? (size_t)basis[k]->function_num : 0, k};
    if (all && device) qsort(all, count, sizeof *all, larger_first);
    for (size_t k = 0; k < count && all && device; k++)
        device[all[k].number] = o->devices[fmo_snake(k, num)];
    free(all);
    return device;
}

/* Number of plans that a thread makes together: about half of its share, because plans differ in
 * cost. */
static size_t plans_together(size_t count, int threads)
{
    const size_t some = (count + 2 * (size_t)threads - 1) / (2 * (size_t)threads);
    return some < FMO_PLANS_TOGETHER ? some : FMO_PLANS_TOGETHER;
}

/* Makes plans first .. first + num - 1 of a batch; failure[n] is the result for plan first + n. */
static void create_some(const fmo_basis *const *basis, size_t first, int num,
                        const fmo_fock_options *options, int possible, const int *device,
                        fmo_fock_plan **plans, fmo_error *failure)
{
    const double start = fmo_now();
    fmo_fock_plan *made[FMO_PLANS_TOGETHER] = {NULL};
    int waiting[FMO_PLANS_TOGETHER], left = 0;
    for (int n = 0; n < num; n++) {
        const size_t k = first + (size_t)n;
        fmo_fock_options own = *options;
        failure[n] = (fmo_error){FMO_OK, ""};
        plans[k] = NULL;
        if (device) own.device = device[k];
        if (!basis[k])
            (void)fmo_error_set(&failure[n], FMO_ERR_ARGUMENT,
                                "fmo_fock_plan_create_batch: basis[%zu] is NULL", k);
        else if (begin(basis[k], &own, possible, &whole, &made[n], &failure[n]) == FMO_OK)
            waiting[left++] = n;
    }
    while (left > 0) { /* plans of one mode and GPU are prepared together */
        const fmo_fock_plan *const one = made[waiting[0]];
        fmo_fock_plan *alike[FMO_PLANS_TOGETHER];
        fmo_error errs[FMO_PLANS_TOGETHER];
        int number[FMO_PLANS_TOGETHER], alike_num = 0, others = 0;
        for (int w = 0; w < left; w++) {
            fmo_fock_plan *const plan = made[waiting[w]];
            const int same = plan->mode == one->mode && plan->options.device == one->options.device;
            if (!same || (alike_num && !plan->mode->prepare_some)) {
                waiting[others++] = waiting[w];
                continue;
            }
            errs[alike_num] = (fmo_error){FMO_OK, ""};
            number[alike_num] = waiting[w];
            alike[alike_num++] = plan;
        }
        left = others;
        if (one->mode->prepare_some)
            one->mode->prepare_some(alike, alike_num, errs);
        else if (one->mode->prepare)
            (void)one->mode->prepare(alike[0], &errs[0]);
        for (int a = 0; a < alike_num; a++) failure[number[a]] = errs[a];
    }
    for (int n = 0; n < num; n++)
        if (made[n])
            (void)end(made[n], failure[n].status, start, &whole, &plans[first + (size_t)n]);
}

/* Chooses threads and GPUs for the batch, then makes its plans in groups, in parallel. */
fmo_status fmo_fock_plan_create_batch(const fmo_basis *const *basis, size_t count,
                                      const fmo_fock_options *options, fmo_fock_plan **plans,
                                      fmo_error *errs)
{
    size_t failed = count;
    fmo_status status = FMO_OK;
    fmo_fock_options own;
    if (count == 0) return FMO_OK;
    fmo_error refused = {FMO_OK, ""};
    if (FMO_CHECK_ARGUMENTS("fmo_fock_plan_create_batch", &refused, FMO_GIVEN(basis),
                            FMO_GIVEN(plans)) != FMO_OK) {
        for (size_t k = 0; k < count; k++) {
            if (plans) plans[k] = NULL;
            if (errs) errs[k] = refused;
        }
        return refused.status;
    }
    if (options)
        own = *options;
    else
        fmo_fock_options_init(&own);
    /* Called once for all plans; options out of range are rejected plan by plan. */
    const int possible = fmo_threads(own.threads);
    double work = 0.0;
    for (size_t k = 0; k < count; k++) work += basis[k] ? build_work(basis[k]) : 0.0;
    const int useful = fmo_threads_for(possible, work / fmo_tuning_cpu_thread_work);
    const int threads = (size_t)useful < count ? useful : (int)count;
    const int dealt = own.device_num > 1 && fmo_options_check(&own, NULL) == FMO_OK;
    int *const device = dealt ? deal_devices(basis, count, &own) : NULL;
    if (dealt) own.device_num = own.device = 0; /* without memory all go to the first GPU */
    if (dealt && !device) own.device = own.devices[0];
    /* Use the current GPU of this thread, as that of the other threads may differ; the call also
     * starts the driver, once. */
    if (own.device < 0 && own.mode != FMO_MODE_CPU && own.mode != FMO_MODE_REFERENCE)
        (void)fmo_gpu_probe(&own.device, NULL);
    const size_t some = plans_together(count, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t k = 0; k < count; k += some) {
        const size_t num = k + some < count ? some : count - k;
        fmo_error failure[FMO_PLANS_TOGETHER];
        create_some(basis, k, (int)num, &own, possible, device, plans, failure);
        for (size_t n = 0; n < num; n++) {
            if (errs) errs[k + n] = failure[n];
#pragma omp critical(fmo_plan_batch)
            if (failure[n].status != FMO_OK && k + n < failed) {
                failed = k + n;
                status = failure[n].status;
            }
        }
    }
    free(device);
    return status;
}

fmo_status fmo_fock_plan_loosen(fmo_fock_plan *plan, double cutoff, fmo_error *err)
{
    const fmo_status given = FMO_CHECK_ARGUMENTS("fmo_fock_plan_loosen", err, FMO_GIVEN(plan));
    if (given != FMO_OK) return given;
    if (!(cutoff >= plan->options.cutoff && cutoff <= 1.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_loosen: cutoff = %g: expected %g, the plan's, to 1",
                             cutoff, plan->options.cutoff);
    plan->cutoff = cutoff;
    for (int k = 0; k < plan->others.num; k++) plan->others.plan[k]->cutoff = cutoff;
    return FMO_OK;
}

fmo_status fmo_fock_plan_expect(fmo_fock_plan *plan, double largest, fmo_error *err)
{
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_fock_plan_expect", err, FMO_GIVEN(plan));
    if (status != FMO_OK) return status;
    if (!(largest >= 0.0) || !isfinite(largest))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_expect: largest = %g: expected a finite number, at "
                             "least 0",
                             largest);
    if (!plan->mode->needs_pairs || largest <= plan->density_limit) return FMO_OK;
    if (!fmo_plan_enter(plan))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_expect: another thread is building with this plan");
    status = fmo_plan_make_pairs(plan, largest, err);
    fmo_plan_leave(plan);
    return status;
}

int fmo_fock_plan_device(const fmo_fock_plan *plan)
{
    return plan && plan->gpu ? plan->options.device : -1;
}

fmo_status fmo_fock_plan_profile(const fmo_fock_plan *plan, fmo_fock_profile *profile,
                                 fmo_error *err)
{
    const fmo_status given =
        FMO_CHECK_ARGUMENTS("fmo_fock_plan_profile", err, FMO_GIVEN(plan), FMO_GIVEN(profile));
    if (given != FMO_OK) return given;
    if (!plan->built)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_profile: nothing has been built with this plan yet");
    *profile = plan->profile;
    return FMO_OK;
}
