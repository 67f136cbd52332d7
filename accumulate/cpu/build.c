/* Mode cpu: a build with the kernels of cpu/kernel.c. The bra pairs of each task are distributed
 * over threads. Strategy `tree` gives each thread its own sums; `fixed` uses integer sums, which
 * do not depend on the order of additions. Read next: build.h, job.c. */
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/build.h"
#include "accumulate/rules/digest.h"
#include "integrals/far/attenuation.h"
#include "accumulate/tuning.h"
#include "base/vector.h"

const fmo_cpu_kernels *fmo_cpu_kernels_choose(void)
{
    return FMO_VECTOR_TABLE(fmo_cpu_kernels);
}

static void sizes_of(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs, fmo_work_size *size)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        size[c].pairs = pairs->list[c].num;
        size[c].prims = (double)plan->pairs.list[c].prim_num;
    }
}

/* Decides whether J of far pairs is computed with boxes, because it was requested or because it
 * saves time, and makes the boxes. All ranks must decide alike. Ranks that may store integrals,
 * which depends on the memory of each, therefore use no boxes. */
static fmo_status choose_far(const fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const fmo_fock_options *o = &plan->options;
    const int requested = o->coulomb == FMO_COULOMB_BOXES;
    const int alone = o->integrals == FMO_INTEGRALS_DIRECT || plan->shared.pieces == 0;
    int num = 0;
    s->goes_far = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) num += s->pairs.list[c].num;
    if (o->coulomb == FMO_COULOMB_DIRECT || o->cutoff == 0.0 || s->stored) return FMO_OK;
    if (!requested && (!alone || num < fmo_tuning_cpu_far_pairs)) return FMO_OK;
    const fmo_status status = fmo_cpu_far_make(&s->pairs, o->cutoff, o->threads, &s->far, err);
    if (status != FMO_OK) return status;
    s->far.near_share =
        fmo_cpu_far_near_share(&s->far, plan->coulomb_weight, o->cutoff, o->threads);
    s->goes_far = requested || s->far.near_share <= fmo_tuning_cpu_far_near_share;
    if (!requested && o->memory && fmo_cpu_far_bytes(&s->far, &s->pairs, 1) > o->memory / 2)
        s->goes_far = 0;
    if (!s->goes_far) fmo_cpu_far_free(&s->far);
    return FMO_OK;
}

/* Makes the data that depend on the plan's pairs. */
static fmo_status make_state(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    fmo_work_size size[FMO_PAIR_CLASS_COUNT];
    fmo_status status = fmo_cpu_pairs_make(plan->basis, &plan->pairs, &s->pairs, err);
    if (status != FMO_OK) return status;
    sizes_of(plan, &s->pairs, size);
    status = fmo_plan_make_work(plan, size, 0, &s->work, err);
    s->dealt = 0;
    if (status == FMO_OK && plan->shared.pieces > 0) {
        plan->shared.fingerprint = fmo_cpu_fingerprint(plan, s);
        if (plan->options.integrals != FMO_INTEGRALS_DIRECT)
            status = fmo_cpu_deal_work(plan, s, err);
    }
    if (status == FMO_OK && plan->options.coulomb != FMO_COULOMB_BOXES)
        status = fmo_cpu_store_prepare(plan, s, err);
    if (status == FMO_OK) status = choose_far(plan, s, err);
    /* The choice of far boxes depends on the last bits of numbers, which agree on ranks with the
     * same kind of processor. */
    if (s->goes_far) plan->shared.fingerprint += (uint64_t)s->kernels->width;
    return status == FMO_OK ? fmo_cpu_choose_copies(plan, s, err) : status;
}

static void free_state(fmo_cpu_state *s)
{
    fmo_cpu_store_free(s);
    fmo_work_free(&s->work);
    if (s->goes_far) fmo_cpu_far_free(&s->far);
    fmo_cpu_pairs_free(&s->pairs);
}

static fmo_status cpu_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_cpu_state *s = calloc(1, sizeof *s);
    if (!s) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a cpu plan");
    plan->state = s;
    s->kernels = fmo_cpu_kernels_choose();
    return make_state(plan, s, err);
}

static void cpu_release(fmo_fock_plan *plan)
{
    fmo_cpu_state *s = plan->state;
    if (!s) return;
    free_state(s);
    free(s);
    plan->state = NULL;
}

static fmo_status cpu_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_cpu_state *s = plan->state;
    free_state(s);
    return make_state(plan, s, err);
}

/* What one pass over all quartets computes. */
typedef struct pass {
    int requested; /* FMO_TERMS_... */
    fmo_operator op;
    int coulomb;         /* 1: the operator is 1/r */
    double begun, share; /* fractions of the build: completed before the pass, and of the pass */
} pass;

static pass pass_of(int requested, fmo_operator op)
{
    return (pass){requested, op, fmo_operator_is_coulomb(op), 0.0, 1.0};
}

/* Returns the cutoff of a pass. Integrals are stored for all later densities and cutoffs, and all
 * stored integrals are used, except if the caller's cutoff for this build is looser than the
 * plan's. Under `fixed` all builds of a density return the same bits. */
static double cutoff_of_pass(const fmo_fock_plan *plan, const pass *p, int fixed)
{
    const fmo_cpu_state *const s = plan->state;
    if (!s->stored || !p->coulomb) return plan->cutoff / fmo_operator_bound(p->op);
    if (!s->filled) return plan->options.cutoff;
    return fixed || plan->cutoff == plan->options.cutoff ? 0.0 : plan->cutoff;
}

/* Returns the members that all workloads of a pass have in common. */
static fmo_cpu_build common_build(const fmo_fock_plan *plan, const pass *p, int densities,
                                  int fixed, int atomic)
{
    const fmo_cpu_build build = {.basis = plan->basis,
                                 .densities = densities,
                                 .cutoff = cutoff_of_pass(plan, p, fixed),
                                 .op = p->op,
                                 .range = fmo_attenuation_range(p->op),
                                 .adding = {atomic, fixed, 1.0, 1.0}};
    return build;
}

/* Returns the kernels of a pass; `stored`: the pass stores its integrals, or uses stored ones. */
static fmo_cpu_kernel *const *kernels_of(const fmo_cpu_state *s, const pass *p, int stored)
{
    if (!p->coulomb) return s->kernels->other;
    if (stored) return s->filled ? s->kernels->replay : s->kernels->kernel;
    return p->requested & FMO_TERMS_K ? s->kernels->kernel : s->kernels->coulomb;
}

/* Computes X^J of far pairs, and which leaves are near each other. */
static fmo_status build_far(fmo_fock_plan *plan, fmo_cpu_build *build, fmo_cpu_far_build *far,
                            fmo_error *err)
{
    const fmo_cpu_state *s = plan->state;
    const fmo_ranks *ranks = plan->shared.pieces > 0 ? plan->options.ranks : NULL;
    const fmo_cpu_side *side = &build->side[FMO_CPU_BRA];
    const fmo_cpu_far_input input = {.pairs = &s->pairs,
                                     .density = side->density,
                                     .largest = side->largest,
                                     .densities = build->densities,
                                     .weight = plan->coulomb_weight,
                                     .cutoff = plan->options.cutoff,
                                     .threads = s->threads,
                                     .share = ranks ? ranks->rank : plan->share,
                                     .shares = ranks ? ranks->size : plan->shares};
    const double begun = fmo_now();
    const fmo_status status = fmo_cpu_far_build_coulomb(&s->far, &input, far, err);
    plan->profile.far_seconds = fmo_now() - begun;
    if (status != FMO_OK) return status;
    build->near = far->near;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        build->leaf_of[c] = s->far.boxes.leaf_of + s->far.first[c];
    return FMO_OK;
}

/* Counts the quartets of a pass; integrals that the pass has stored are counted once. */
static void count_quartets(fmo_fock_plan *plan, const fmo_class_profile *before, int stored)
{
    fmo_cpu_state *const s = plan->state;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &plan->profile.classes[c];
        if (stored && s->filled) {
            p->quartets += s->store[c].quartets;
            p->prim_quartets += s->store[c].prim_quartets;
        } else if (stored) {
            s->store[c].quartets = p->quartets - before[c].quartets;
            s->store[c].prim_quartets = p->prim_quartets - before[c].prim_quartets;
        }
        p->quartets_skipped +=
            fmo_plan_quartets(plan, (fmo_eri_class)c) - (p->quartets - before[c].quartets);
    }
}

/* Adds the requested X^J and X^K of the plan's own densities and of one operator. */
static fmo_status run_pass(fmo_fock_plan *plan, const pass *p, fmo_error *err)
{
    fmo_cpu_state *s = plan->state;
    const fmo_plan_matrices *m = &plan->matrices;
    const int fixed = plan->options.scatter == FMO_SCATTER_FIXED;
    const int with_J = (p->requested & FMO_TERMS_J) != 0,
              with_K = (p->requested & FMO_TERMS_K) != 0;
    const int stored = s->stored && p->coulomb;
    fmo_class_profile before[FMO_ERI_CLASS_COUNT];
    fmo_cpu_workload part = {.work = &s->work, .adds = {1, 1}};
    fmo_cpu_job j = {.plan = plan,
                     .shape = {plan, &s->pairs, &s->pairs, 0, (size_t)m->num, with_K},
                     .part = &part,
                     .parts = 1,
                     .kernels = kernels_of(s, p, stored),
                     .fixed = fixed,
                     .threads = s->threads,
                     .copies = s->copies,
                     .ranks = plan->shared.pieces > 0 && !s->dealt ? plan->shared.ranks : NULL,
                     .begun = p->begun,
                     .share = p->share};
    const size_t by_pair = fmo_cpu_by_pair_size(&s->pairs, (size_t)m->num);
    double *const memory = fmo_cpu_vector_alloc(by_pair + (size_t)plan->basis->shell_num);
    if (!memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d densities", m->num);
    memcpy(before, plan->profile.classes, sizeof before);
    part.build = common_build(plan, p, m->num, fixed, j.copies < j.threads);
    part.build.side[FMO_CPU_BRA] = part.build.side[FMO_CPU_KET] =
        fmo_cpu_side_with_density(plan, &s->pairs, with_J, memory);
    part.build.coulomb_largest = with_J ? plan->coulomb_weight * plan->density_largest : 0.0;
    if (with_K) {
        part.build.density = m->density;
        part.build.density_max = m->density_max;
        part.build.row_max = m->row_max;
    }
    part.build.store = stored ? s->store : NULL;
    part.build.store_factor = fmo_cpu_store_factor(plan);
    fmo_status status = FMO_OK;
    fmo_cpu_far_build far = {.near = NULL};
    if (fixed)
        status = fmo_cpu_set_scales(plan, &s->pairs, &s->pairs, fmo_operator_bound(p->op),
                                    memory + by_pair, &part.build.adding, err);
    if (with_J)
        plan->profile.coulomb = s->goes_far && p->coulomb ? FMO_COULOMB_BOXES : FMO_COULOMB_DIRECT;
    if (status == FMO_OK && with_J && plan->profile.coulomb == FMO_COULOMB_BOXES) {
        status = build_far(plan, &part.build, &far, err);
        j.far = &far;
    }
    if (status == FMO_OK) status = fmo_cpu_run_job(&j, err);
    if (j.far) fmo_cpu_far_build_free(&s->far, &far);
    free(memory);
    if (status != FMO_OK) return status;
    count_quartets(plan, before, stored);
    if (stored) s->filled = 1;
    return FMO_OK;
}

/* Builds J and K of the plan's own densities: in one pass, or if their operators differ, K and then
 * J. The pass for K adds to X^J what is of no use. */
static fmo_status build_own(fmo_fock_plan *plan, fmo_error *err)
{
    const fmo_cpu_state *const s = plan->state;
    const fmo_plan_matrices *m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num;
    const int both = m->requested == FMO_TERMS_ALL &&
                     fmo_operator_same(m->coulomb_operator, m->exchange_operator);
    const int of_K = m->requested & FMO_TERMS_K, of_J = m->requested & FMO_TERMS_J;
    pass first = pass_of(both ? FMO_TERMS_ALL : of_K, m->exchange_operator);
    pass second = pass_of(both ? 0 : of_J, m->coulomb_operator);
    fmo_status status = FMO_OK;
    if (first.requested && second.requested) first.share = second.begun = second.share = 0.5;
    plan->profile.coulomb = FMO_COULOMB_DIRECT;
    if (first.requested) status = run_pass(plan, &first, err);
    if (first.requested && second.requested)
        memset(m->coulomb, 0, (size_t)m->num * n * n * sizeof *m->coulomb);
    if (status == FMO_OK && second.requested) status = run_pass(plan, &second, err);
    plan->profile.integrals = s->filled && (first.requested ? first.coulomb : second.coulomb)
                                  ? FMO_INTEGRALS_STORED
                                  : FMO_INTEGRALS_DIRECT;
    return status;
}

/* Builds J from the density of another plan. The plan's pairs are the bras of some tasks and the
 * kets of others, because the first pair of a class has the higher angular momentum. */
static fmo_status build_from_source(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err)
{
    fmo_cpu_state *s = plan->state, *from = source->state;
    const int fixed = plan->options.scatter == FMO_SCATTER_FIXED, num = source->matrices.num;
    const pass p_J = pass_of(FMO_TERMS_J, plan->matrices.coulomb_operator);
    const size_t by_pair = fmo_cpu_by_pair_size(&from->pairs, (size_t)num);
    const size_t zeros = fmo_cpu_by_pair_size(&s->pairs, (size_t)num);
    fmo_work work[2] = {{0, NULL}, {0, NULL}};
    fmo_work_size size[2][FMO_PAIR_CLASS_COUNT];
    fmo_cpu_workload part[2];
    fmo_cpu_job j = {
        .plan = plan,
        .shape = {plan, &s->pairs, &from->pairs, (size_t)source->basis->shell_num, (size_t)num, 0},
        .part = part,
        .parts = 2,
        .kernels = kernels_of(s, &p_J, 0),
        .fixed = fixed,
        .threads = s->threads,
        .copies = s->copies,
        .share = p_J.share};
    double *const memory = fmo_cpu_vector_alloc(by_pair + zeros + (size_t)source->basis->shell_num);
    fmo_status status = FMO_OK;
    if (!memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d densities", num);
    memset(memory + by_pair, 0, zeros * sizeof *memory);
    sizes_of(plan, &s->pairs, size[0]);
    sizes_of(source, &from->pairs, size[1]);
    const fmo_cpu_side sides[2] = {fmo_cpu_side_without_density(&s->pairs, memory + by_pair),
                                   fmo_cpu_side_with_density(source, &from->pairs, 1, memory)};
    for (int p = 0; p < 2 && status == FMO_OK; p++) {
        const int other = 1 - p; /* the plan's pairs are bras (p = 0), then kets (p = 1) */
        part[p].work = &work[p];
        part[p].adds[FMO_CPU_BRA] = p == 0;
        part[p].adds[FMO_CPU_KET] = p == 1;
        part[p].build = common_build(plan, &p_J, num, fixed, j.copies < j.threads);
        part[p].build.side[FMO_CPU_BRA] = sides[p];
        part[p].build.side[FMO_CPU_KET] = sides[other];
        part[p].build.coulomb_largest = source->coulomb_weight * source->density_largest;
        if (fixed)
            status = fmo_cpu_set_scales(source, &from->pairs, &s->pairs, fmo_operator_bound(p_J.op),
                                        memory + by_pair + zeros, &part[p].build.adding, err);
        if (status == FMO_OK)
            status = fmo_work_between(size[p], size[other], p == 1, &work[p], err);
    }
    if (status == FMO_OK) status = fmo_cpu_run_job(&j, err);
    plan->profile.integrals = FMO_INTEGRALS_DIRECT;
    fmo_work_free(&work[0]);
    fmo_work_free(&work[1]);
    free(memory);
    return status;
}

static fmo_status cpu_build(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err)
{
    const fmo_status status = source ? build_from_source(plan, source, err) : build_own(plan, err);
    if (status == FMO_OK) fmo_plan_progress(plan, 1.0);
    return status;
}

const fmo_mode_implementation fmo_mode_cpu = {.prepare = cpu_prepare,
                                              .build = cpu_build,
                                              .densities = fmo_cpu_densities,
                                              .takes_symmetries = 1,
                                              .takes_operators = FMO_TERMS_ALL,
                                              .takes_source = 1,
                                              .new_pairs = cpu_new_pairs,
                                              .release = cpu_release,
                                              .needs_pairs = 1,
                                              .workspace = fmo_cpu_workspace};
