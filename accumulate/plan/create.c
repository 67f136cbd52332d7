/* Makes and destroys plans: everything that depends on the basis alone. A plan may have plans on
 * other GPUs (options.devices), or be the share of a rank (options.ranks). See plan.h. */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/plan/ranks.h"
#include "accumulate/rules/weight.h"
#include "accumulate/tuning.h"
#include "base/arguments.h"
#include "base/snake.h"
#include "base/stack.h"
#include "base/threads.h"
#include "integrals/shell_from.h"

int fmo_fock_threads(int requested)
{
    return fmo_threads(requested);
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
    const int requested = plan->options.threads > 0 ? plan->options.threads : omp_get_max_threads();
    plan->options.threads = possible ? possible : fmo_threads(requested);
    if (plan->options.threads < requested)
        fmo_plan_note(plan,
                      "%d thread%s instead of %d: more are of no use on this machine, or cannot be "
                      "started (ulimit -u, -v, control groups), or have too little stack "
                      "(OMP_STACKSIZE, 640K at least)",
                      plan->options.threads, plan->options.threads > 1 ? "s" : "", requested);
    if (plan->options.mode == FMO_MODE_CPU || plan->options.mode == FMO_MODE_REFERENCE)
        plan->options.threads =
            fmo_threads_for(plan->options.threads, build_work(basis) / fmo_tuning_cpu_thread_work);
}

/* Frees a plan and its plans on other GPUs. Ranks that share it are told to free theirs. */
void fmo_fock_plan_destroy(fmo_fock_plan *plan)
{
    if (!plan) return;
    if (plan->shared.ranks && plan->shared.ranks->rank == 0) {
        fmo_command command = {.kind = FMO_COMMAND_RELEASE, .number = plan->shared.number};
        (void)fmo_ranks_command(plan->shared.ranks, &command, NULL);
    }
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
    status = fmo_stack_check(fmo_basis_shell_from(basis, FMO_UNROLLED_ANG_MOM_MAX + 1) >= 0, err);
    if (status != FMO_OK) return status;

    plan->basis = fmo_basis_copy(basis);
    if (!plan->basis || (plan->mode->build && !plan->lead && !fmo_plan_make_matrices(plan, 1)))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the matrices of %d functions",
                             basis->ao_num);
    if (plan->lead) {
        plan->coulomb_weight = plan->lead->coulomb_weight;
        fmo_plan_take_pairs(plan, plan->lead);
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

fmo_status fmo_plan_create_share(const fmo_basis *basis, const fmo_fock_options *options, int share,
                                 int shares, fmo_fock_plan **plan, fmo_error *err)
{
    const fmo_plan_share part = {.share = share, .shares = shares};
    *plan = NULL;
    return create(basis, options, 0, &part, plan, err);
}

/* ---- plans of several ranks ----------------------------------------------------------------- */

/* Allocates the matrices that only shared plans have. Returns 0 if there is no memory. */
static int make_capacity(fmo_fock_plan *plan, int rank)
{
    fmo_plan_ranks *const s = &plan->shared;
    const size_t bytes = fmo_plan_matrix_bytes(plan);
    const int on_device = !plan->mode->build;
    s->density = rank > 0 ? malloc(bytes) : NULL;
    s->coulomb = on_device ? malloc(bytes) : NULL;
    s->exchange = on_device ? malloc(bytes) : NULL;
    return (s->density || rank == 0) && ((s->coulomb && s->exchange) || !on_device);
}

/* Makes this rank's share of a plan; if a rank fails, none keeps its own. */
fmo_status fmo_plan_create_part(const fmo_command *command, const fmo_basis *basis,
                                const fmo_fock_options *options, fmo_fock_plan **plan,
                                fmo_error *err)
{
    fmo_ranks *const ranks = options->ranks;
    const int fixed_share = command->pieces == 0;
    const fmo_plan_share part = {.share = fixed_share ? ranks->rank : 0,
                                 .shares = fixed_share ? ranks->size : 1,
                                 .ranks = ranks,
                                 .number = command->number,
                                 .pieces = command->pieces};
    fmo_error own = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    *plan = NULL;
    if (basis) status = create(basis, options, 0, &part, plan, &own);
    if (status == FMO_OK && (!basis || !make_capacity(*plan, ranks->rank)))
        status = fmo_error_set(&own, FMO_ERR_MEMORY, "no memory for a part of a plan");
    status = fmo_ranks_agree(ranks, status, &own);
    if (status == FMO_OK) return FMO_OK;
    if (*plan) (*plan)->shared.ranks = NULL; /* the other ranks do not know of this plan */
    fmo_fock_plan_destroy(*plan);
    *plan = NULL;
    return fmo_error_set(err, status, "%s", own.message);
}

/* Rank 0: chooses the mode and the division of the work, broadcasts the basis and makes its plan.
 */
static fmo_status create_shared(const fmo_basis *basis, const fmo_fock_options *options,
                                fmo_fock_plan **plan, fmo_error *err)
{
    fmo_ranks *const ranks = options->ranks;
    fmo_command command = {.kind = FMO_COMMAND_PLAN, .options = *options};
    fmo_status status = fmo_options_check(options, err);
    if (status != FMO_OK) return status;
    if (ranks->rank != 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "options.ranks: this is rank %d; rank 0 makes shared plans, the "
                             "others call fmo_fock_serve",
                             ranks->rank);
    /* All ranks get the mode chosen here. Rank 0 keeps auto, and with it the reason for the choice.
     */
    status = fmo_fock_choose_mode(basis, options, &command.options.mode, NULL, err);
    if (status != FMO_OK) return status;
    if (ranks->size == 1 || command.options.mode == FMO_MODE_REFERENCE) {
        status = create(basis, options, 0, &whole, plan, err);
        if (status == FMO_OK && ranks->size > 1)
            fmo_plan_note(*plan, "mode %s is not shared: rank 0 of %d builds alone",
                          fmo_mode_name((*plan)->options.mode), ranks->size);
        return status;
    }
    if (command.options.mode != FMO_MODE_CPU && fmo_scatter_sums_integers(options->scatter))
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "scatter = %s: ranks share it in mode cpu alone, as GPUs round before "
                             "ranks could add up; use another strategy, or one rank",
                             fmo_scatter_name(options->scatter));
    if (command.options.mode == FMO_MODE_CPU)
        command.pieces = (int)fmin((double)fmo_tuning_rank_pieces * ranks->size *
                                       fmo_fock_threads(options->threads),
                                   INT_MAX / 2);
    command.number = ranks->plans++;
    command.basis_bytes = fmo_basis_pack(basis, NULL);
    char *const bytes = malloc(command.basis_bytes);
    if (!bytes) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a basis");
    fmo_basis_pack(basis, bytes);
    status = fmo_ranks_command(ranks, &command, err);
    /* does every rank have memory for the basis? */
    if (status == FMO_OK) status = fmo_ranks_agree(ranks, FMO_OK, err);
    if (status == FMO_OK) status = fmo_ranks_broadcast(ranks, bytes, command.basis_bytes, err);
    free(bytes);
    return status == FMO_OK ? fmo_plan_create_part(&command, basis, options, plan, err) : status;
}

fmo_status fmo_fock_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                fmo_fock_plan **plan, fmo_error *err)
{
    if (plan) *plan = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_fock_plan_create", err, FMO_GIVEN(basis), FMO_GIVEN(plan));
    if (checked != FMO_OK) return checked;
    if (options && options->ranks) return create_shared(basis, options, plan, err);
    return create(basis, options, 0, &whole, plan, err);
}

/* ---- batches of plans ----------------------------------------------------------------------- */

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
