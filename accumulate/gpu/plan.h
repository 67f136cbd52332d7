/* The inside of a plan on a GPU, and the steps of a build, which schedules put together. C++ only;
 * plan/plan.c sees gpu.h.
 *
 * From a density to J and K (docs/explanation/gpu.md): order_density, [fixed_scale],
 * [make_moments], the schedule's quartets, spread_sums, finish. Each step works for a group of
 * builds. */
#ifndef FMO_GPU_PLAN_H
#define FMO_GPU_PLAN_H

#include "accumulate/gpu/device.h"
#include "accumulate/gpu/gpu.h"
#include "accumulate/gpu/kernels/kernels.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/rules/digest.h"
#include "accumulate/work/work.h"

struct fmo_pair_ao; /* cpu/kernel.h */

/* ---- what a plan has ------------------------------------------------------------------------ */

/* Functions in the kernels' order, set by set (types.cuh). */
typedef struct fmo_gpu_functions {
    int sp;                  /* with sp pairs; else the sets are the basis's shells */
    int sets, s_sets;        /* all; those of one s function */
    int width;               /* functions of the others */
    int nao;                 /* with those that fill up */
    int *set_of_shell;       /* host */
    const int *ao_caller;    /* [nao] caller's function, -1 where a set is filled up */
    const double *ao_factor; /* [nao] */
} fmo_gpu_functions;

/* Matrices and what is made from them. */
typedef struct fmo_gpu_arrays {
    double *density_in, *density; /* caller's; in the kernels' order */
    float *density_max;           /* block maxima, rounded up, as all bounds here */
    /* X^J; X^K and the pairs' sums for X^J, `copies` of each; behind them counters and row maxima:
     * all that a build starts from zero. */
    double *coulomb, *exchange, *sums;
    fmo_gpu_counters *counters;
    float *row_max;
    float *no_exchange; /* [sets] zeros, a row for all of density_max where K is not wanted */
    size_t sums_size;   /* of a copy */
    size_t zeroed;      /* bytes from coulomb on */
    unsigned copies;
    double *out; /* J and K, caller's order */
    double
        *shell_bound; /* fixed-point sums: [sets] largest Schwarz bound of a pair with this set */
} fmo_gpu_arrays;

/* Pinned memory of the host, one piece: a density; J and K; counters. NULL until it is wanted
 * (fmo_gpu_make_pinned). */
typedef struct fmo_gpu_pinned {
    double *in, *out;
    fmo_gpu_counters *counters;
} fmo_gpu_pinned;

/* A task on its way: whose pairs its bras and kets are, where its candidates are listed, and timers
 * around its quartet kernels. */
typedef struct fmo_gpu_task {
    fmo_task task;
    const struct fmo_gpu_state *bra, *ket; /* NULL: the plan's own */
    size_t list_at, candidates;            /* screened-in quartets start at list_at */
    cudaEvent_t event[2];
} fmo_gpu_task;

static inline int fmo_gpu_task_bras(const fmo_gpu_task *task)
{
    const fmo_task *const t = &task->task;
    return (int)fmo_work_bras((size_t)t->bra_begin, (size_t)t->bra_end, (size_t)t->bra_step);
}

/* Tasks whose candidates fit the list together: up to one a class, screened by one launch. */
enum { FMO_GPU_PASS_TASKS = FMO_ERI_LOW_L_COUNT };
typedef struct fmo_gpu_pass {
    int num;
    fmo_gpu_task task[FMO_GPU_PASS_TASKS];
} fmo_gpu_pass;

/* Lists of screened-in quartets, or of the quartets whose integrals are kept. */
typedef struct fmo_gpu_lists {
    int2 *near;
    int2 *far_K; /* with far quartets, those that count in K */
    size_t size; /* of either */
    fmo_gpu_pass *pass;
    int passes;
} fmo_gpu_lists;

/* What the first of several GPUs has of the others (several.cu). */
typedef struct fmo_gpu_others {
    /* Of those whose memory it cannot read: space for a copy of their sums, and of hermite's. */
    double *staged[FMO_DEVICES_MAX - 1], *staged_hermite[FMO_DEVICES_MAX - 1];
    struct fmo_gpu_others_counters *counters; /* [others], pinned */
    cudaEvent_t summed;                       /* the first's own sums are there */
    int shared;                               /* the running build is shared with them */
} fmo_gpu_others;

/* By what is wanted: density to X, if it could be captured. */
typedef struct fmo_gpu_graphs {
    cudaGraphExec_t graph[FMO_TERMS_ALL + 1];
    int tried[FMO_TERMS_ALL + 1];
} fmo_gpu_graphs;

typedef struct fmo_gpu_state {
    fmo_gpu_device device;
    fmo_gpu_others others;
    fmo_gpu_functions functions;
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    fmo_pair_ao *pair_ao[FMO_PAIR_LOW_L_COUNT]; /* host: [pairs] where the shells start */
    const fmo_boys_table *boys;
    double primitives; /* primitive quartets before screening: "work" in tuning.h */
    double deep_share; /* of what is left out below a share of the cutoff (plan.cu) */
    int far;           /* far quartets have lists of their own */
    fmo_work work;     /* what a build has to do */
    fmo_gpu_arrays arrays;
    fmo_gpu_pinned pinned;
    fmo_gpu_lists lists;
    double *eri[FMO_ERI_LOW_L_COUNT]; /* kept integrals, as kernels/stored.cuh lays them out */
    const struct fmo_gpu_schedule *schedule;
    struct fmo_gpu_boxes *boxes;     /* of far pairs (boxes/); NULL: J is direct */
    int wanted;                      /* of the running build: FMO_TERMS_... */
    fmo_gpu_graphs graphs;           /* with the plan's cutoff */
    struct fmo_gpu_hermite *hermite; /* classes with d shells (hermite/); NULL: there are none */
    fmo_gpu_lists between;           /* of pairs of two molecules (source.cu), made when wanted */
    double begun;                    /* when the running build was started */
    int timed_before[2]; /* full build, build without commits: their kernels are loaded */
    int64_t prim_num[FMO_PAIR_LOW_L_COUNT]; /* primitive pairs */
    size_t available;     /* free memory, asked once for plans that are made together; 0: ask */
    fmo_gpu_graphs loose; /* with a looser cutoff, the last such */
    double loose_cutoff;
    bool separation_later; /* fmo_hermite_make_separation comes for all plans of a batch on its
                              stream */
} fmo_gpu_state;

/* A build from density_in to out, on the plan's stream. */
static inline fmo_gpu_build fmo_gpu_own_build(fmo_fock_plan *plan)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_build build = {plan, g->arrays.density_in, g->arrays.out, g->arrays.out + n * n};
    return build;
}
static inline fmo_gpu_group fmo_gpu_group_of_one(const fmo_gpu_build *build)
{
    const fmo_gpu_group group = {build, 1, build->plan->gpu->device.stream};
    return group;
}

/* An empty state on the device of the options; fmo_gpu_state_destroy (modes.h) also where making
 * it failed. */
fmo_status fmo_gpu_state_open(fmo_fock_plan *plan, fmo_error *err);
/* The same, beside one on the same GPU with which the plan is made together; or NULL. */
fmo_status fmo_gpu_state_open_like(fmo_fock_plan *plan, const fmo_gpu_state *like, fmo_error *err);
/* Everything but the strategy, inside of the device: functions; then pairs (fmo_gpu_make_pairs or
 * fmo_gpu_make_sp_pairs); then matrices, far quartets' nodes, and the lists of the schedule
 * (lists.cu). */
fmo_status fmo_gpu_state_begin(fmo_fock_plan *plan, const struct fmo_gpu_schedule *schedule,
                               unsigned copies, fmo_error *err);
fmo_status fmo_gpu_state_end(fmo_fock_plan *plan, fmo_error *err);

/* What the plan is to do, once the numbers of its pairs are known; and bytes of all that it asks
 * for from then on and keeps to its end, about. */
fmo_status fmo_gpu_make_work(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
size_t fmo_gpu_state_bytes(const fmo_fock_plan *plan);
/* All of it, with pairs of the host. */
fmo_status fmo_gpu_state_make(fmo_fock_plan *plan, const struct fmo_gpu_schedule *schedule,
                              unsigned copies, fmo_error *err);

/* Free memory, bytes. */
fmo_status fmo_gpu_state_available(const fmo_gpu_state *g, size_t *bytes, fmo_error *err);

/* Graphs are made again by the builds that want them. */
void fmo_gpu_forget_graphs(fmo_gpu_state *g);
/* Those of the plan's builds as their cutoff is now. */
fmo_gpu_graphs *fmo_gpu_graphs_of(const fmo_fock_plan *plan);

/* Pinned memory, if there is none yet. It takes half a millisecond a megabyte, so that it is left
 * out where all matrices are of the GPU. */
cudaError_t fmo_gpu_make_pinned(const fmo_fock_plan *plan);

/* The table of the Boys function on the current device. */
cudaError_t fmo_gpu_boys(const fmo_boys_table **at);

/* ---- pairs/ --------------------------------------------------------------------------------- */

/* Sets; then, in GPU memory, which functions of the caller they hold, and the bytes of that. */
fmo_status fmo_gpu_number_functions(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
fmo_status fmo_gpu_make_functions(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
size_t fmo_gpu_functions_bytes(const fmo_gpu_state *g);

/* Bytes of the pairs' lists, which have their numbers. */
size_t fmo_gpu_pairs_bytes(const fmo_gpu_state *g);

/* All shell pairs of the host's lists as the kernels want them. */
fmo_status fmo_gpu_make_pairs(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);

/* Sp pairs of plans on one GPU, made there (pairs/make.cu); errs[k]: what came of plan k. */
void fmo_gpu_make_sp_pairs(fmo_fock_plan *const *plan, int num, fmo_error *errs);

/* g->primitives, from what is known of the pairs. */
void fmo_gpu_count_primitive_quartets(fmo_gpu_state *g);

/* Primitives of a pair that one thread walks, by the work of a build. */
int fmo_gpu_contraction_depth(double work);

/* Nodes of far quartets, where there is memory for them: sets g->far. */
fmo_status fmo_gpu_make_far(fmo_fock_plan *plan, fmo_error *err);
/* The same in two steps, for plans whose nodes are made together: those of a batch on one stream of
 * the caller's, where they would come one after the other. On streams of their own they are made
 * beside the pairs of others, each on a few multiprocessors: all at once they would be in the way.
 */
bool fmo_gpu_nodes_go_together(const fmo_fock_plan *plan);
fmo_status fmo_gpu_place_far(fmo_fock_plan *plan, fmo_error *err);
cudaError_t fmo_gpu_make_nodes(const fmo_gpu_group *group);
/* Bytes of them; 0 if there are to be none, but for memory. */
size_t fmo_gpu_far_bytes(const fmo_fock_plan *plan);
/* Gives back what they take. */
void fmo_gpu_forget_far(fmo_gpu_state *g);

/* ---- lists.cu ------------------------------------------------------------------------------- */

/* Cuts the work into passes, and makes lists that hold each of them. */
fmo_status fmo_gpu_make_lists(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
/* Bytes of these lists; far: there are far quartets. 0: not known. */
size_t fmo_gpu_lists_bytes(const fmo_fock_plan *plan, bool far);
/* The same for pairs of the plan and of another one, into `to`, of which a list that is there
 * already is used if it will do. */
fmo_status fmo_gpu_make_lists_between(const fmo_fock_plan *plan, fmo_gpu_state *g,
                                      const fmo_gpu_state *other, fmo_gpu_lists *to,
                                      fmo_error *err);
/* One pass of all tasks, without lists. */
fmo_status fmo_gpu_make_pass(fmo_gpu_state *g, fmo_error *err);
/* Takes new passes in place of the old ones, which are destroyed. */
void fmo_gpu_set_passes(fmo_gpu_lists *lists, fmo_gpu_pass *pass, int passes);
/* Timers around tasks, where they are wanted: those that do not exist. */
cudaError_t fmo_gpu_make_timers(fmo_gpu_state *g);
/* Seconds by class of the run that has just finished. */
cudaError_t fmo_gpu_class_seconds(const fmo_gpu_state *g, double *seconds);

/* |D| that quartets interact in K, as screening reads it: element [s * stride + t]; of rows [s]. */
typedef struct fmo_gpu_exchange_max {
    const float *block, *row;
    int stride;
} fmo_gpu_exchange_max;
fmo_gpu_exchange_max fmo_gpu_find_exchange_max(const fmo_gpu_state *g);
/* The cutoff of screening. What is not wanted reads as 0 there and must be below it, also where
 * nothing is to be left out: a quartet of two molecules has no place in K. */
float fmo_gpu_screen_cutoff(const fmo_fock_plan *plan);

/* A share of the plan's cutoff (rules/screen.h), less where contractions are deep; what primitive
 * quartets are left out below, on bound times bound times density factor. */
double fmo_gpu_cutoff_share(const fmo_fock_plan *plan, double share);
float fmo_gpu_prim_cutoff(const fmo_fock_plan *plan);

/* What the kernels see. */
fmo_gpu_class_view fmo_gpu_view(const fmo_fock_plan *plan, const fmo_gpu_task *task);
fmo_gpu_matrices fmo_gpu_matrix_view(const fmo_fock_plan *plan, int eri_class);

/* Systems whose builds join groups. */
bool fmo_gpu_is_small(const fmo_gpu_state *g);

/* ---- the steps of a build, for each of a group ---------------------------------------------- */

/* density.cu: what each build names is zeroed, a multiple of 16 bytes. */
typedef struct fmo_gpu_zeroed {
    void *at;
    size_t bytes;
} fmo_gpu_zeroed;
cudaError_t fmo_gpu_zero(const fmo_gpu_group *group, fmo_gpu_zeroed (*of)(const fmo_gpu_state *));

/* The density -> density, density_max, row_max, and of all pairs density and, if J is
 * wanted, Coulomb estimate; all that starts from zero is zeroed. */
cudaError_t fmo_gpu_order_density(const fmo_gpu_group *group);

/* fixed.cu: counters.fixed_scale, a power of two, from a bound on every element of X. */
cudaError_t fmo_gpu_fixed_scale(const fmo_gpu_group *group);
/* The same for sums that are made from another plan's density. */
cudaError_t fmo_gpu_fixed_scale_of(const fmo_gpu_group *density, const fmo_gpu_state *sums);
/* What came of it, from the host's counters: FMO_ERR_INPUT if the bound is not finite or leaves
 * less than 1e-13 hartree of resolution. */
fmo_status fmo_gpu_fixed_check(double bound, double scale, fmo_error *err);

/* pairs/far.cu: moments of the density for far quartets. */
cudaError_t fmo_gpu_make_moments(const fmo_gpu_group *group);

/* screen.cu: screened-in quartets of a pass into the lists, their numbers into counters.screened-in
 * quartets. In a group of more than one build the only pass of small systems, with or without far
 * quartets. */
cudaError_t fmo_gpu_screen(const fmo_gpu_group *group, int pass);

/* finish.cu: the pairs' sums into X^J; X -> J and K in the caller's order. `fixed`: fixed point. */
cudaError_t fmo_gpu_spread_sums(const fmo_gpu_group *group, bool fixed);
cudaError_t fmo_gpu_finish(const fmo_gpu_group *group, bool fixed);

/* ---- counts --------------------------------------------------------------------------------- */

/* Adds to elements of each matrix that one quartet of a class makes. */
typedef struct fmo_gpu_adds {
    int J, K;
} fmo_gpu_adds;
fmo_gpu_adds fmo_gpu_adds_per_quartet(const fmo_gpu_state *g, int eri_class);

/* Adds of a class in the build that the counters are of. */
static inline int64_t fmo_gpu_adds_made(const fmo_gpu_state *g, const fmo_gpu_counters *counters,
                                        int eri_class)
{
    const fmo_gpu_adds adds = fmo_gpu_adds_per_quartet(g, eri_class);
    return (int64_t)(counters->screened_in_num[eri_class] - counters->exchange_only[eri_class]) *
               adds.J +
           (int64_t)counters->exchanges[eri_class] * adds.K;
}

/* Quartets and adds of the last build into the profile. */
void fmo_gpu_profile_counts(fmo_fock_plan *plan, const fmo_gpu_counters *counters);

#endif
