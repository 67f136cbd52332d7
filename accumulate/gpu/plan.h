/* The inside of a plan on the GPU: device memory, streams, the pairs as the kernels want them, and
 * the steps that fused and split builds share. C++ only; plan.c sees gpu.h. */
#ifndef FMO_GPU_PLAN_H
#define FMO_GPU_PLAN_H

#include "accumulate/cpu/kernel.h"
#include "accumulate/gpu/gpu.h"
#include "accumulate/gpu/kernels/kernels.h"

/* One launch of the screening kernel covers up to this many parts, one per class. */
enum { FMO_GPU_PARTS = FMO_ERI_CLASS_COUNT };

/* Bra pairs [bra_begin, bra_end) of a class; its survivors start at list_at. */
typedef struct fmo_gpu_part {
    fmo_eri_class eri_class;
    int bra_begin, bra_end;
    size_t list_at, candidates;
    cudaEvent_t event[2]; /* around its quartet kernel */
} fmo_gpu_part;

/* Parts whose candidates fit the list together. */
typedef struct fmo_gpu_pass {
    int num;
    fmo_gpu_part part[FMO_GPU_PARTS];
} fmo_gpu_pass;

enum { FMO_GPU_BUFFERS_MAX = 96, FMO_GPU_COPIES_MAX = 64 };

typedef struct fmo_gpu_state {
    int device, processors;
    cudaStream_t stream;
    int own_stream;
    cudaEvent_t start, finished;                     /* of the kernels */
    cudaEvent_t class_event[FMO_ERI_CLASS_COUNT][2]; /* around the kernels of `tile` */
    cudaGraphExec_t graph;                           /* density to X, if it could be captured */
    int graph_tried;
    double begun;        /* when the running build was started */
    int timed_before[2]; /* full build, build without commits: their kernels are loaded */
    double work;         /* primitive quartets before screening */
    void *buffer[FMO_GPU_BUFFERS_MAX]; /* everything allocated, for release */
    int buffers;
    size_t bytes, bytes_most; /* their sum, and the largest that it has been */

    /* Shells as the kernels see them (gpu/types.cuh), and functions in that order. */
    int sp;           /* with sp pairs; else the sets are the basis's shells */
    int far;          /* far quartets have lists of their own */
    int sets, s_sets; /* all; those of one s function */
    int nao;
    int *set_of_shell; /* host */

    fmo_gpu_pairs pairs[FMO_PAIR_CLASS_COUNT];
    fmo_pair_ao *pair_ao[FMO_PAIR_CLASS_COUNT]; /* host: [pairs] where the shells start */
    const fmo_boys_table *boys;
    const int *ao_caller;         /* [nao] caller's function, -1 where a set is filled up */
    const double *ao_factor;      /* [nao] */
    double *density_in, *density; /* caller's; internal */
    float *density_max;           /* block maxima, rounded up, as all bounds here */
    /* X^J; X^K and the pairs' sums for X^J, `copies` of each; behind them counters and row maxima:
     * all that a build starts from zero. */
    double *coulomb, *exchange, *sums;
    float *row_max;
    size_t sums_size;           /* of a copy */
    size_t zeroed;              /* bytes from coulomb on */
    double *out;                /* J and K, caller's order */
    double *host_in, *host_out; /* pinned, one allocation: density; J and K; host_counters; or NULL
                                 * (fmo_gpu_make_pinned) */
    double *shell_bound;        /* `fixed`: [sets] largest Schwarz bound of a pair with this set */
    unsigned copies;
    fmo_gpu_counters *counters, *host_counters; /* pinned: of the last build */
    int2 *list;         /* of survivors, or of the tasks whose integrals are kept */
    int2 *far_K;        /* with far quartets, the list of those that count in K */
    size_t list_size;   /* of either */
    fmo_gpu_pass *pass; /* with kept integrals one, of whole classes */
    int passes;
    double *eri[FMO_ERI_CLASS_COUNT]; /* kept, as kernels/stored.cuh lays them out */
    int stored;
    cudaStream_t last; /* where the last build is queued; it ends with `finished` */
    int occurrences;   /* jobs of the running batch seen so far */
} fmo_gpu_state;

/* A build from density_in to out, on the plan's stream. */
static inline fmo_fock_job fmo_gpu_own_job(fmo_fock_plan *plan)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_fock_job job = {plan, g->density_in, g->out, g->out + n * n};
    return job;
}
static inline fmo_gpu_group fmo_gpu_group_of_one(const fmo_fock_job *job)
{
    const fmo_gpu_group group = {job, 1, job->plan->gpu->stream};
    return group;
}

/* Device memory that lives as long as the state. FMO_OK or FMO_ERR_MEMORY or FMO_ERR_DEVICE. */
fmo_status fmo_gpu_alloc(fmo_gpu_state *g, const char *what, size_t bytes, void **pointer,
                         fmo_error *err);

/* Gives it back before that. */
void fmo_gpu_free(fmo_gpu_state *g, void *pointer, size_t bytes);

/* The table of the Boys function on the current device. */
cudaError_t fmo_gpu_boys(const fmo_boys_table **at);

/* Pinned memory of the host, if there is none yet: host_in, host_out, host_counters. It takes half
 * a millisecond a megabyte, so that it is left out where all matrices are of the GPU. */
cudaError_t fmo_gpu_make_pinned(const fmo_fock_plan *plan);

/* Everything but the strategy: buffers, pairs, passes. */
fmo_status fmo_gpu_state_create(fmo_fock_plan *plan, unsigned copies, fmo_error *err);
void fmo_gpu_state_destroy(fmo_fock_plan *plan);

/* For fmo_fock_workspace: the most that the state has taken; there is nothing to take later. */
void fmo_gpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory);

/* The steps of a build, for each of a group. */

/* The density -> density, density_max, row_max, counters.density_largest, and of all pairs density,
 * coulomb and tile_coulomb; X, the pairs' sums and counters zeroed. */
cudaError_t fmo_gpu_take_density(const fmo_gpu_group *group);

/* The last part of it: all that is made pair by pair. */
cudaError_t fmo_gpu_take_pairs(const fmo_gpu_group *group);

/* Survivors of a pass into the lists, their numbers into counters.survivors. In a group of more
 * than one build the only pass of small systems, with or without far quartets. */
cudaError_t fmo_gpu_screen(const fmo_gpu_group *group, int pass);

/* Systems small enough for groups. */
bool fmo_gpu_is_small(const fmo_gpu_state *g);

/* Moments of the density for far quartets (far.h). */
cudaError_t fmo_gpu_make_moments(const fmo_gpu_group *group);

/* The pairs' sums into X^J. */
cudaError_t fmo_gpu_spread_coulomb(const fmo_gpu_group *group, bool fixed);

/* X -> J and K in the caller's order; `fixed`: X is in fixed point. */
cudaError_t fmo_gpu_finish(const fmo_gpu_group *group, bool fixed);

/* `fixed`: counters.fixed_scale, a power of two, from a bound on every element of X. */
cudaError_t fmo_gpu_fixed_scale(const fmo_gpu_group *group);

/* For far quartets: nodes of all pairs, once. */
cudaError_t fmo_gpu_make_nodes(fmo_fock_plan *plan);

/* Gives back what they take: integrals are kept, and there are no far quartets any more. */
void fmo_gpu_forget_far(fmo_gpu_state *g);

/* Takes new passes in place of the old ones, which are destroyed. */
void fmo_gpu_set_passes(fmo_gpu_state *g, fmo_gpu_pass *pass, int passes);

/* Events around the kernels of classes, where they are wanted: those that do not exist. */
cudaError_t fmo_gpu_make_timers(fmo_gpu_state *g);

/* options.integrals: computes and keeps all integrals that can matter to a density the pairs are
 * good for, if that is wanted and they fit; g->stored says whether it was done. */
fmo_status fmo_gpu_store(fmo_fock_plan *plan, fmo_error *err);

/* `fixed`: what came of it, from the host's counters: FMO_ERR_INPUT if the bound is not finite or
 * leaves less than 1e-13 hartree of resolution. */
fmo_status fmo_gpu_fixed_check(const fmo_gpu_counters *counters, fmo_error *err);

/* The schedule `tile`: one class, screened and digested by warps that own rows of K. Without
 * commits for the profile. */
cudaError_t fmo_gpu_tile_launch(const fmo_fock_plan *plan, fmo_gpu_state *g,
                                fmo_eri_class eri_class, bool commits);

/* The largest basis whose rows fit into so much shared memory of a block. */
int fmo_gpu_tile_ao_max(size_t shared_bytes);

/* Adds to elements of each matrix that one task of a class makes. */
typedef struct fmo_gpu_adds {
    int J, K;
} fmo_gpu_adds;
fmo_gpu_adds fmo_gpu_adds_per_quartet(const fmo_gpu_state *g, fmo_eri_class eri_class);

/* Adds of a class in the build that the counters are of. */
static inline int64_t fmo_gpu_adds_made(const fmo_gpu_state *g, const fmo_gpu_counters *counters,
                                        int eri_class)
{
    const fmo_gpu_adds adds = fmo_gpu_adds_per_quartet(g, (fmo_eri_class)eri_class);
    return (int64_t)counters->tasks[eri_class] * adds.J +
           (int64_t)counters->exchanges[eri_class] * adds.K;
}

fmo_gpu_class_view fmo_gpu_view(const fmo_fock_plan *plan, const fmo_gpu_state *g,
                                const fmo_gpu_part *part);
fmo_gpu_matrices fmo_gpu_matrix_view(const fmo_fock_plan *plan, const fmo_gpu_state *g,
                                     fmo_eri_class eri_class);
fmo_gpu_stored_args fmo_gpu_stored_view(const fmo_fock_plan *plan, const fmo_gpu_state *g,
                                        const fmo_gpu_part *part, int blocks);

/* A CUDA error as a status and a message. */
fmo_status fmo_gpu_error(cudaError_t code, const char *what, fmo_error *err);

#endif
