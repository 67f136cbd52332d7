/* The GPU state of a plan and the steps of a build, which the schedules call. C++ only; plan/plan.c
 * uses gpu.h instead.
 * The steps from a density to J and K (docs/explanation/gpu.md) are order_density, [fixed_scale],
 * [make_moments], the schedule's quartet kernels, spread_sums, finish; those in brackets are
 * optional. Every step processes a group of one or more builds. Data structures of the kernels are
 * in types.cuh. */
#ifndef FMO_GPU_PLAN_H
#define FMO_GPU_PLAN_H

#include "accumulate/gpu/device.h"
#include "accumulate/gpu/gpu.h"
#include "accumulate/gpu/kernels/kernels.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/rules/digest.h"
#include "accumulate/work/work.h"

struct fmo_pair_ao; /* cpu/kernel.h */

/* ---- data of a plan ------------------------------------------------------------------------- */

/* Functions in the kernels' order. The kernels number padded SP shells: one s function,
 * or a p shell with or without the s shell of the same exponents (types.cuh). */
typedef struct fmo_gpu_functions {
    int sp;           /* 1 if s and p shells are joined to SP shells; 0: every shell by itself */
    int sp_shells;    /* number of SP shells */
    int single_s;     /* of those with a single s function, which come first */
    int width;        /* functions of each of the others */
    int nao;          /* functions, including padding */
    int *sp_shell_of; /* host: [shells] number of the SP shell that contains it */
    const int *ao_caller;    /* [nao] the caller's function, -1 for padding */
    const double *ao_factor; /* [nao] normalisation factor of the function */
} fmo_gpu_functions;

/* Matrices on the GPU and quantities derived from them. */
typedef struct fmo_gpu_arrays {
    double *density_in, *density; /* in the caller's order; in the kernels' order */
    float *density_max; /* [sp_shells][sp_shells] largest |D| of each block, rounded up like all
                           bounds */
    /* X^J; then X^K and the pairs' sums for X^J, `copies` of each; then the counters and the row
     * maxima. All of this is one piece of memory that each build sets to zero. */
    double *coulomb, *exchange, *sums;
    fmo_gpu_counters *counters;
    float *row_max;
    /* 1; or 2: there are two of density and X^K, three of density_in (J's comes first) and K of the
     * second density follows in `out` */
    int densities;
    /* [sp_shells] zeros, read in place of every row of density_max if K is not requested */
    float *no_exchange;
    size_t sums_size; /* doubles in one copy of the sums */
    size_t zeroed;    /* bytes to be set to zero, starting at coulomb */
    unsigned copies;
    double *out;      /* J and K in the caller's order */
    fmo_operator *op; /* for builds with an operator other than 1/r */
    /* [sp_shells] largest Schwarz bound of a pair that contains this SP shell; NULL unless sums are
     * fixed point */
    double *shell_bound;
} fmo_gpu_arrays;

/* Pinned host memory, one allocation: a density; J and K; counters. NULL until fmo_gpu_make_pinned
 * allocates it. */
typedef struct fmo_gpu_pinned {
    double *in, *out;
    fmo_gpu_counters *counters;
} fmo_gpu_pinned;

/* A task with its place in the list of quartets: the plans that its bra and ket pairs belong to,
 * the range of the list reserved for its candidates, and timers around its quartet kernels. */
typedef struct fmo_gpu_task {
    fmo_task task;
    const struct fmo_gpu_state *bra, *ket; /* NULL: the plan itself */
    size_t list_at, candidates;            /* start in the list, and size */
    cudaEvent_t event[2];
} fmo_gpu_task;

/* Number of bra pairs of a task. */
static inline int fmo_gpu_task_bras(const fmo_gpu_task *task)
{
    const fmo_task *const t = &task->task;
    return (int)fmo_work_bras((size_t)t->bra_begin, (size_t)t->bra_end, (size_t)t->bra_step);
}

/* A pass: tasks whose candidates fit the list together, at most one per class. One launch screens
 * all of them. */
enum { FMO_GPU_PASS_TASKS = FMO_ERI_LOW_L_COUNT };
typedef struct fmo_gpu_pass {
    int num;
    fmo_gpu_task task[FMO_GPU_PASS_TASKS];
} fmo_gpu_pass;

/* Lists of screened-in quartets or, with stored integrals, of the quartets whose integrals are
 * stored. */
typedef struct fmo_gpu_lists {
    int2 *near;
    int2 *far_K; /* far quartets that contribute to K; NULL without far quartets */
    size_t size; /* entries of each list */
    fmo_gpu_pass *pass;
    int passes;
} fmo_gpu_lists;

/* What the plan on the first of several GPUs holds for the plans on the others (several.cu). */
typedef struct fmo_gpu_others {
    /* Buffers for the sums of those GPUs whose memory the first cannot read directly, of s and p
     * shells and of classes with d shells; NULL for the others. */
    double *staged[FMO_DEVICES_MAX - 1], *staged_hermite[FMO_DEVICES_MAX - 1];
    struct fmo_gpu_others_counters *counters; /* [others] pinned host memory */
    cudaEvent_t summed; /* recorded when the sums of the first GPU are complete */
    int shared;         /* the running build is distributed over all GPUs */
} fmo_gpu_others;

/* What builds with K of two densities have besides (two.cu); made by the first of them. */
enum { FMO_GPU_TWO_JOBS = 1 + FMO_PLAN_COMPANIONS_MAX };
typedef struct fmo_gpu_two {
    fmo_gpu_arrays arrays;
    double *in, *out; /* pinned: densities; J, both K, J of a second density; its counters */
    fmo_gpu_counters *counters;
    /* Of the last build, if it was one of these and its matrices are on the host: its jobs, whether
     * J of a second density has counters, and J and K of each job in `out`; NULL: a matrix of
     * zeros, or none. */
    int jobs, counted;
    const double *result[FMO_GPU_TWO_JOBS][2];
} fmo_gpu_two;

/* CUDA graphs from the density to X, one for each combination of FMO_TERMS_..., one for K of the
 * antisymmetric part of a density and those of two densities (fmo_gpu_graph_number); NULL if none
 * was captured. tried: a capture was attempted. */
enum {
    FMO_GPU_GRAPH_ANTISYMMETRIC = FMO_TERMS_ALL + 1,
    FMO_GPU_GRAPH_TWO,
    FMO_GPU_GRAPHS = FMO_GPU_GRAPH_TWO + 8
};
typedef struct fmo_gpu_graphs {
    cudaGraphExec_t graph[FMO_GPU_GRAPHS];
    int tried[FMO_GPU_GRAPHS];
} fmo_gpu_graphs;

typedef struct fmo_gpu_state {
    fmo_gpu_device device;
    fmo_gpu_others others;
    fmo_gpu_functions functions;
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    /* host: [pairs] first functions of the two shells */
    fmo_pair_ao *pair_ao[FMO_PAIR_LOW_L_COUNT];
    const fmo_boys_table *boys;
    /* number of primitive quartets before screening, called "work" in tuning.h */
    double primitives;
    double deep_share; /* factor on shares of the cutoff for deeply contracted shells (plan.cu) */
    int far;           /* far quartets have lists of their own */
    fmo_work work;     /* the tasks of a build */
    fmo_gpu_arrays arrays;
    fmo_gpu_pinned pinned;
    fmo_gpu_lists lists;
    double *eri[FMO_ERI_LOW_L_COUNT]; /* stored integrals, in the layout of kernels/stored.cuh */
    const struct fmo_gpu_schedule *schedule;
    /* cells for J of far pairs (boxes/); NULL: J is computed directly */
    struct fmo_gpu_boxes *boxes;
    int requested;     /* matrices of the running build: FMO_TERMS_... */
    int antisymmetric; /* bit d: its K is of the antisymmetric part of density d of K */
    int densities;     /* of K, in one pass: 1 or 2 */
    fmo_gpu_two two;
    int with_operator;               /* it is J or K of arrays.op (hermite/use.h) */
    float operator_range;            /* fmo_attenuation_range of arrays.op, if with_operator */
    double density_factor;           /* its density is multiplied by this; 1 in most builds */
    fmo_gpu_graphs graphs;           /* graphs for the plan's cutoff */
    struct fmo_gpu_hermite *hermite; /* classes with d shells (hermite/); NULL: there are none */
    fmo_gpu_lists between; /* lists for pairs of two plans (source.cu), made when first needed */
    double begun;          /* time when the running build was started, in seconds */
    int timed_before[2];   /* kernels of a full build, and of one without updates, are loaded */
    int64_t prim_num[FMO_PAIR_LOW_L_COUNT]; /* number of primitive pairs */
    /* free memory in bytes, queried once for plans that are made together; 0: query it */
    size_t available;
    fmo_gpu_graphs loose; /* graphs for the last looser cutoff, loose_cutoff */
    double loose_cutoff;
    /* fmo_hermite_make_separation will be called for all plans of the batch on this stream */
    bool separation_later;
} fmo_gpu_state;

/* Factors of an element D_pq and of D_qp in the symmetric or antisymmetric part that the running
 * build computes with; d: number of the density in K, or -1: of J. */
static inline double fmo_gpu_own_factor(const fmo_gpu_state *g)
{
    return 0.5 * g->density_factor;
}
static inline bool fmo_gpu_is_antisymmetric(const fmo_gpu_state *g, int d)
{
    return d >= 0 && (g->antisymmetric >> d & 1);
}
static inline double fmo_gpu_other_factor(const fmo_gpu_state *g, int d)
{
    return fmo_gpu_is_antisymmetric(g, d) ? -0.5 * g->density_factor : 0.5 * g->density_factor;
}

/* Index of the running build's graph in fmo_gpu_graphs. */
static inline int fmo_gpu_graph_number(const fmo_gpu_state *g)
{
    if (g->densities > 1)
        return FMO_GPU_GRAPH_TWO + 2 * g->antisymmetric + (g->requested & FMO_TERMS_J ? 1 : 0);
    return g->antisymmetric ? FMO_GPU_GRAPH_ANTISYMMETRIC : g->requested;
}

/* Returns a build from arrays.density_in to arrays.out. */
static inline fmo_gpu_build fmo_gpu_own_build(fmo_fock_plan *plan)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_build build = {
        plan,  g->arrays.density_in,      g->arrays.out, g->arrays.out + n * n,
        false, g->arrays.out + 2 * n * n, false};
    return build;
}
/* Returns a group of one build, on the stream of its plan. */
static inline fmo_gpu_group fmo_gpu_group_of_one(const fmo_gpu_build *build)
{
    const fmo_gpu_group group = {build, 1, build->plan->gpu->device.stream};
    return group;
}

/* Allocates an empty state on the device that the options name. The caller must call
 * fmo_gpu_state_destroy (modes.h), also after an error. */
fmo_status fmo_gpu_state_open(fmo_fock_plan *plan, fmo_error *err);
/* The same, taking the device's properties and free memory from `like`, a plan on the same GPU that
 * is being made at the same time; NULL: they are queried. */
fmo_status fmo_gpu_state_open_like(fmo_fock_plan *plan, const fmo_gpu_state *like, fmo_error *err);
/* Make everything but the choice of the strategy; the current GPU must be the plan's. _begin
 * numbers the functions; the caller then makes the pairs (fmo_gpu_make_pairs or
 * fmo_gpu_make_sp_pairs); _end makes matrices, nodes of far quartets, cells of far pairs, and the
 * lists of the schedule (lists.cu). */
fmo_status fmo_gpu_state_begin(fmo_fock_plan *plan, const struct fmo_gpu_schedule *schedule,
                               unsigned copies, fmo_error *err);
fmo_status fmo_gpu_state_end(fmo_fock_plan *plan, fmo_error *err);

/* Makes the plan's tasks, once the numbers of its pairs are known. */
fmo_status fmo_gpu_make_work(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
/* Estimate of the bytes that the plan will allocate after this and keep until it is destroyed. */
size_t fmo_gpu_state_bytes(const fmo_fock_plan *plan);
/* Makes the whole state from the pairs on the host: _begin, fmo_gpu_make_pairs, fmo_gpu_make_work
 * and _end. */
fmo_status fmo_gpu_state_make(fmo_fock_plan *plan, const struct fmo_gpu_schedule *schedule,
                              unsigned copies, fmo_error *err);

/* Writes the free memory in bytes, as queried when the plan was begun or, if it was not, now. */
fmo_status fmo_gpu_state_available(const fmo_gpu_state *g, size_t *bytes, fmo_error *err);

/* Destroys all graphs; later builds capture them again when they need them. */
void fmo_gpu_forget_graphs(fmo_gpu_state *g);
/* Returns the graphs for the plan's present cutoff. */
fmo_gpu_graphs *fmo_gpu_graphs_of(const fmo_fock_plan *plan);

/* Allocates `two.arrays` if that has not been done. */
fmo_status fmo_gpu_make_two_arrays(fmo_fock_plan *plan, fmo_error *err);
/* Sets where the pairs of the state are summed, from its arrays. */
void fmo_gpu_place_sums(fmo_gpu_state *g);

/* Allocates pinned memory if there is none yet. This takes 0.5 ms per MB, so plans whose matrices
 * are all in GPU memory do without. */
cudaError_t fmo_gpu_make_pinned(const fmo_fock_plan *plan);

/* Writes the address of the Boys function's table on the current device. */
cudaError_t fmo_gpu_boys(const fmo_boys_table **at);

/* ---- pairs/ --------------------------------------------------------------------------------- */

/* Numbers the SP shells of the basis. */
fmo_status fmo_gpu_number_functions(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
/* Makes ao_caller and ao_factor in GPU memory. */
fmo_status fmo_gpu_make_functions(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
/* Bytes of ao_caller and ao_factor. */
size_t fmo_gpu_functions_bytes(const fmo_gpu_state *g);

/* Bytes of the lists of pairs; the numbers of pairs must be known. */
size_t fmo_gpu_pairs_bytes(const fmo_gpu_state *g);

/* Copies all shell pairs from the lists on the host, in the order and layout of the kernels. */
fmo_status fmo_gpu_make_pairs(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);

/* Makes the SP pairs of `num` plans on one GPU, in GPU memory (pairs/make.cu). errs[k] gets the
 * error of plan k. */
void fmo_gpu_make_sp_pairs(fmo_fock_plan *const *plan, int num, fmo_error *errs);

/* Sets g->primitives from the numbers of primitive pairs. */
void fmo_gpu_count_primitive_quartets(fmo_gpu_state *g);

/* Largest number of primitive pairs in a segment of a pair, by the number of primitive quartets of
 * a build. */
int fmo_gpu_contraction_depth(double work);

/* Makes the nodes (quadrature points) of far quartets if there is enough memory, and then sets
 * g->far. */
fmo_status fmo_gpu_make_far(fmo_fock_plan *plan, fmo_error *err);
/* The same in two steps for batches on one stream of the caller's, where the plans' kernels would
 * run one after the other: place_far allocates the nodes of each plan that nodes_go_together
 * returns true for, and make_nodes computes those of all plans in one launch. Plans with streams of
 * their own make their nodes concurrently with the pairs of other plans. */
bool fmo_gpu_nodes_go_together(const fmo_fock_plan *plan);
fmo_status fmo_gpu_place_far(fmo_fock_plan *plan, fmo_error *err);
cudaError_t fmo_gpu_make_nodes(const fmo_gpu_group *group);
/* Bytes of the nodes; 0 if the plan uses no far quartets, whatever memory is free. */
size_t fmo_gpu_far_bytes(const fmo_fock_plan *plan);
/* Frees the nodes. */
void fmo_gpu_forget_far(fmo_gpu_state *g);

/* ---- lists.cu ------------------------------------------------------------------------------- */

/* Divides the tasks into passes, and allocates lists large enough for each of them. */
fmo_status fmo_gpu_make_lists(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
/* Bytes of these lists; far: with a list of far quartets. 0 if they are not known. */
size_t fmo_gpu_lists_bytes(const fmo_fock_plan *plan, bool far);
/* The same for quartets of one pair of the plan and one of `other`, into `to`; a list that is
 * already there is reused if it is large enough. */
fmo_status fmo_gpu_make_lists_between(const fmo_fock_plan *plan, fmo_gpu_state *g,
                                      const fmo_gpu_state *other, fmo_gpu_lists *to,
                                      fmo_error *err);
/* Makes a single pass of all tasks, without lists. */
fmo_status fmo_gpu_make_pass(fmo_gpu_state *g, fmo_error *err);
/* Destroys the passes of the lists and replaces them by `pass`, which the lists then own; NULL and
 * 0: none. */
void fmo_gpu_set_passes(fmo_gpu_lists *lists, fmo_gpu_pass *pass, int passes);
/* Creates the timers of all tasks that do not have them yet. */
cudaError_t fmo_gpu_make_timers(fmo_gpu_state *g);
/* Writes the seconds of each class in the timed build that has just finished,
 * [FMO_ERI_LOW_L_COUNT]. */
cudaError_t fmo_gpu_class_seconds(const fmo_gpu_state *g, double *seconds);

/* Largest |D| of blocks and of rows as screening reads them for K: block[s * stride + t], row[s];
 * all zero, with stride 0, if K is not requested. */
typedef struct fmo_gpu_exchange_max {
    const float *block, *row;
    int stride;
} fmo_gpu_exchange_max;
fmo_gpu_exchange_max fmo_gpu_find_exchange_max(const fmo_gpu_state *g);
/* The cutoff for screening. If J or K is not requested, it is at least the smallest positive float,
 * because the estimates of that matrix are 0 and must be below the cutoff even if the plan's is 0.
 */
float fmo_gpu_screen_cutoff(const fmo_fock_plan *plan);

/* `share` times the plan's cutoff (rules/screen.h), reduced for deeply contracted shells. */
double fmo_gpu_cutoff_share(const fmo_fock_plan *plan, double share);
/* Threshold for primitive quartets, on the product of their two Schwarz bounds and the density
 * factor. */
float fmo_gpu_prim_cutoff(const fmo_fock_plan *plan);

/* The kernels' views of a task's pairs and lists, and of the matrices. */
fmo_gpu_class_view fmo_gpu_view(const fmo_fock_plan *plan, const fmo_gpu_task *task);
fmo_gpu_matrices fmo_gpu_matrix_view(const fmo_fock_plan *plan, int eri_class);

/* True if the system is small enough for its builds to share launches with others. */
bool fmo_gpu_is_small(const fmo_gpu_state *g);

/* ---- the steps of a build; each processes all builds of a group ----------------------------- */

/* density.cu: fmo_gpu_zero sets to zero the memory that `of` returns for each build; the number of
 * bytes must be a multiple of 16. */
typedef struct fmo_gpu_zeroed {
    void *at;
    size_t bytes;
} fmo_gpu_zeroed;
cudaError_t fmo_gpu_zero(const fmo_gpu_group *group, fmo_gpu_zeroed (*of)(const fmo_gpu_state *));

/* Converts the densities to the kernels' order and computes density_max, row_max, the density of
 * every pair and, if J is requested, its Coulomb estimate. First sets arrays.coulomb and all that
 * follows it to zero. */
cudaError_t fmo_gpu_order_density(const fmo_gpu_group *group);

/* fixed.cu: sets counters.fixed_scale, a power of two, from a bound on all elements of X. */
cudaError_t fmo_gpu_fixed_scale(const fmo_gpu_group *group);
/* The same for the sums of `sums`, which are made from the density of another plan. */
cudaError_t fmo_gpu_fixed_scale_of(const fmo_gpu_group *density, const fmo_gpu_state *sums);
/* Checks these values after the build, from the counters on the host: returns FMO_ERR_INPUT if the
 * bound is not finite or the resolution would be coarser than 1e-13 hartree. */
fmo_status fmo_gpu_fixed_check(double bound, double scale, fmo_error *err);

/* pairs/far.cu: computes the moments of the density for far quartets. */
cudaError_t fmo_gpu_make_moments(const fmo_gpu_group *group);

/* screen.cu: writes the screened-in quartets of a pass to the lists, and their numbers to
 * counters.screened_in. Groups of several builds must be of small systems with one pass, either all
 * with far quartets or all without. */
cudaError_t fmo_gpu_screen(const fmo_gpu_group *group, int pass);

/* finish.cu: adds the pairs' sums to X^J; computes J and K in the caller's order from X. fixed: X
 * and the sums are fixed-point integers. */
cudaError_t fmo_gpu_spread_sums(const fmo_gpu_group *group, bool fixed);
cudaError_t fmo_gpu_finish(const fmo_gpu_group *group, bool fixed);

/* ---- counts --------------------------------------------------------------------------------- */

/* Number of additions to elements of each matrix that one quartet of a class makes. */
typedef struct fmo_gpu_adds {
    int J, K;
} fmo_gpu_adds;
fmo_gpu_adds fmo_gpu_adds_per_quartet(const fmo_gpu_state *g, int eri_class);

/* Number of additions of a class in the build that the counters belong to. */
static inline int64_t fmo_gpu_adds_made(const fmo_gpu_state *g, const fmo_gpu_counters *counters,
                                        int eri_class)
{
    const fmo_gpu_adds adds = fmo_gpu_adds_per_quartet(g, eri_class);
    return (int64_t)(counters->screened_in_num[eri_class] - counters->exchange_only[eri_class]) *
               adds.J +
           (int64_t)counters->exchanges[eri_class] * adds.K * (g->two.jobs ? 2 : 1);
}

/* Writes the numbers of quartets and additions of the last build to the profile. */
void fmo_gpu_profile_counts(fmo_fock_plan *plan, const fmo_gpu_counters *counters);

#endif
