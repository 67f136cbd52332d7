/* Classes with d shells on a GPU (docs/explanation/gpu.md): what a plan has for them, and the steps
 * of a build. Everything here is over plain shells of Cartesian functions in the basis's internal
 * order, with matrices of its own: the kernels of s and p shells, and all that they read, do not
 * know of d shells, and what both have found is put together at the end.
 *
 *   density   the caller's D over internal functions; Hermite densities of all primitive pairs
 *   J         from Hermite densities to Hermite potentials, a warp or more for each primitive of
 *             the bra: no integrals, no atomics (coulomb.cu). Ahmadi and Almlof, Chem. Phys. Lett.
 *             246, 364 (1995); White and Head-Gordon, J. Chem. Phys. 104, 2620 (1996)
 *   K         quartets that count there are listed (screen.cu), computed in slices
 *             (integrals/eri/eri_slice.h) and scattered by a strategy (exchange.cu, one object for
 *             each segment of each variant that takes d shells)
 *
 * C++ only. */
#ifndef FMO_GPU_HERMITE_H
#define FMO_GPU_HERMITE_H

#include "accumulate/gpu/schedule/schedule.h"
#include "integrals/far/separation.h"

/* ---- what a plan has ------------------------------------------------------------------------ */

/* One class of shell pairs, all of a basis. Pairs, or segments of them, are in the order of
 * fmo_pair_rank_compare. */
typedef struct fmo_hermite_pairs {
    int num;                 /* segments of pairs */
    const int4 *at;          /* [num] first functions of i and j, the shells, 1: first segment */
    const float *bound;      /* [num] Schwarz bound, rounded up */
    const float *tile_bound; /* [tiles of num] the largest */
    const double *center;    /* [6][num] A and A - B */
    const int4 *prims;       /* [num] first two fields in prim, primitives, stride there */
    /* For the bound that knows distance (integrals/far/separation.h): */
    const float4 *sphere;    /* [num] centre and radius */
    const float *separation; /* [2 + FMO_SEPARATION_ORDERS][num] spread, log_size, moments */
    const double2 *prim;     /* fields of types.cuh, [primitive][two fields][segment] of segments of
                              * equal     depth, in descending order of bounds */
    const double2 *record;   /* the same primitives pair after pair, [records][FMO_GPU_PAIR_TWOS] */
    /* Pairs whole, for J: */
    int whole, records;
    const int *segment_of;          /* [whole] a segment of the pair */
    const int2 *records_of;         /* [whole] its records */
    const int *record_segment;      /* [records] a segment of the record's pair */
    const int2 *point_of;           /* [records] class and number of the record's point */
    float *record_coulomb_estimate; /* [records] as below; made in every build, like */
    double *record_density;         /* [FMO_HERMITE_COUNT(order)][records] */
    /* Points of Hermite functions: primitives of one place and exponent together, whatever their
     * pairs, those of s,p classes or those of the others; with the heaviest of them, in steps of
     * 2^8 of their bounds, descending. So the primitives of sp sets, and those that general
     * contractions share, are met once. */
    int points;               /* in whole tiles; those that fill up have bounds of 0 */
    const int *entry_begin;   /* [points+1] into entry */
    const int2 *entry;        /* class, record */
    const double *place;      /* [4][points] P, exponent */
    const float *point_bound; /* [points] */
    /* made in every build: */
    float *coulomb_estimate,
        *tile_coulomb_estimate; /* [points], [tiles of points] what it can do to J */
    double *density;   /* [FMO_HERMITE_COUNT(order)][points], prefactors and (-1)^q included */
    int chunks;        /* of kets, where there are few bras */
    double *potential; /* [chunks] of the same size, of what others do to it */
} fmo_hermite_pairs;

/* The shells of a segment, from its `at`. */
static __device__ __forceinline__ unsigned fmo_hermite_first_shell(int4 at)
{
    return (unsigned)at.z & 0xffff;
}
static __device__ __forceinline__ unsigned fmo_hermite_second_shell(int4 at)
{
    return (unsigned)at.z >> 16;
}

/* A task (docs/reference/glossary.md): bras of a class with all kets. Passes come one after the
 * other; what is in a pass has places of its own in the list. */
typedef struct fmo_hermite_task {
    int eri_class, bra_begin, bra_end, pass;
    size_t list_at, candidates;
    cudaEvent_t event[2]; /* timers, where they are wanted */
} fmo_hermite_task;

/* In device memory, zeroed at the start of a build. */
typedef struct fmo_hermite_counters {
    unsigned long long quartets[FMO_ERI_CLASS_COUNT];        /* contracted, that count in K */
    unsigned long long screened_in_num[FMO_ERI_CLASS_COUNT]; /* pairs of segments */
    unsigned long long prim_quartets[FMO_ERI_CLASS_COUNT];   /* of them */
    unsigned long long issued[FMO_ERI_CLASS_COUNT];          /* atomics */
    unsigned long long sink;
    double fixed_bound, fixed_scale; /* as fmo_gpu_counters has them */
} fmo_hermite_counters;

typedef struct fmo_gpu_hermite {
    int nao, caller_nao, shells;
    /* Segments of an internal function, and of a caller's: [nao+1], [caller_nao+1] into numbers of
     * functions and factors. */
    const int *in_begin, *in_from, *out_begin, *out_from;
    const double *in_factor, *out_factor;
    const int *out_low_l;     /* [caller_nao] 1: of a shell that the other kernels know too */
    const int2 *shell;        /* [shells] first function, number of them */
    const float *shell_bound; /* [shells] largest bound of a pair with this shell */
    fmo_hermite_pairs pairs[FMO_PAIR_CLASS_COUNT];
    double *density;            /* [nao][nao] */
    float *block_max, *row_max; /* [shells][shells], [shells]; rounded up */
    double *coulomb, *exchange; /* [nao][nao] J; X^K, fixed point under `fixed` */
    size_t zeroed;              /* bytes from coulomb on that start from zero */
    unsigned *screened_in;      /* [tasks] */
    fmo_hermite_counters *counters, *host_counters; /* the latter pinned */
    int2 *list;
    fmo_hermite_task *task;
    int tasks, passes;
    int planes[FMO_ERI_CLASS_COUNT]; /* of the grid: threads for a quartet */
    int share, shares;               /* the plan's */
    /* The running build is in a group, which keeps the GPU busy: no bra of J and no quartet of K
     * has several threads for that. Not under `fixed`, whose bits are those of a build alone. */
    int grouped;
} fmo_gpu_hermite;

/* state.cu: what the plan needs for its d shells, if it has any: plan->gpu->hermite. Inside of the
 * device, with its stream. */
fmo_status fmo_hermite_make(fmo_fock_plan *plan, fmo_error *err);
/* separation.cu: what the bound that knows distance takes of each segment of a pair, from lists
 * that are on their way. fmo_hermite_make does it, unless g->separation_later. */
cudaError_t fmo_hermite_make_separation(const fmo_gpu_group *group);
void fmo_hermite_free(fmo_gpu_state *g);
/* Pinned memory for its counters, if there is none yet. */
cudaError_t fmo_hermite_make_pinned(fmo_gpu_hermite *h);
/* Host memory, bytes. */
size_t fmo_hermite_host_bytes(const fmo_gpu_hermite *h);
/* What the last build counted, after it has ended, into the profile. */
void fmo_hermite_profile_counts(fmo_fock_plan *plan);

/* How the kernels for K go through a quartet, X(class, rows, shared, warps, forget, segment):
 *
 *   rows     functions of the first shell in a pass: all 6; 2, those of one turn of the axes
 *            (integrals/eri/eri_slice.h); or 1
 *   shared   1: their integrals stand in shared memory while primitives are summed
 *   warps    of a multiprocessor, which registers leave space for
 *   forget   1: expansions of the pairs are made anew for each row
 *   segment     exchange.cu is compiled segment by segment, which take about as long as each other
 *
 * What was measured: docs/log/ladder.md, 68 and 70. */
#define FMO_HERMITE_EXCHANGE_TABLE(X) \
    X(DSSS, 6, 0, 16, 0, 4)           \
    X(DSPS, 6, 0, 16, 0, 4)           \
    X(DSPP, 6, 1, 8, 0, 4)            \
    X(DSDS, 6, 1, 12, 1, 4)           \
    X(DPSS, 6, 1, 12, 1, 4)           \
    X(DPPS, 6, 1, 12, 1, 4)           \
    X(DPPP, 2, 1, 8, 1, 3)            \
    X(DPDS, 2, 1, 12, 1, 4)           \
    X(DPDP, 2, 1, 8, 1, 3)            \
    X(DDSS, 6, 1, 8, 1, 4)            \
    X(DDPS, 2, 1, 8, 1, 3)            \
    X(DDPP, 2, 1, 8, 1, 2)            \
    X(DDDS, 2, 1, 8, 1, 2)            \
    X(DDDP, 1, 1, 8, 1, 1)            \
    X(DDDD, 1, 1, 8, 1, 0)
enum { FMO_HERMITE_PARTS = 5 };
typedef struct fmo_hermite_form {
    int rows, shared, warps, forget, segment;
} fmo_hermite_form;
static __host__ __device__ constexpr fmo_hermite_form fmo_hermite_form_of(int eri_class)
{
    switch (eri_class) {
#define ROW(e, rows, shared, warps, forget, segment) \
    case FMO_ERI_##e:                                \
        return fmo_hermite_form{rows, shared, warps, forget, segment};
        FMO_HERMITE_EXCHANGE_TABLE(ROW)
#undef ROW
    default:
        return fmo_hermite_form{};
    }
}
static __host__ __device__ constexpr int fmo_hermite_passes(int eri_class)
{
    return fmo_pair_functions(fmo_eri_class_bra(eri_class), 0, 0) /
           fmo_hermite_form_of(eri_class).rows;
}
/* Bytes of shared memory of a thread, and threads of a block, of which GPUs of 64 KiB hold one. */
static __host__ __device__ constexpr int fmo_hermite_bytes(int eri_class)
{
    return fmo_hermite_form_of(eri_class).shared
               ? (int)sizeof(double) * fmo_eri_class_integrals(eri_class, 0) /
                     fmo_hermite_passes(eri_class)
               : 0;
}
static __host__ __device__ constexpr int fmo_hermite_threads(int eri_class)
{
    const int bytes = fmo_hermite_bytes(eri_class), most = 64 << 10;
    return bytes * FMO_GPU_THREADS <= most ? FMO_GPU_THREADS : bytes * 64 <= most ? 64 : 32;
}
/* Adds that one quartet of a class makes to K, in so many planes. */
int fmo_hermite_adds(int eri_class, int planes);

/* ---- the kernels for K of one variant ------------------------------------------------------- */

/* What they read of a class of pairs. */
typedef struct fmo_hermite_exchange_pairs {
    const int4 *at, *prims;
    const double *center;
    const double2 *prim;
    int num;
} fmo_hermite_exchange_pairs;

typedef struct fmo_hermite_exchange_args {
    fmo_hermite_exchange_pairs bra, ket;
    bool same;        /* bra and ket are one list */
    int planes;       /* of the grid (y): threads for a quartet */
    const int2 *list; /* bra; ket, and what FMO_GPU_KET_BITS says */
    const unsigned *count;
    float prim_cutoff; /* on bound times bound times density factor of a primitive quartet */
    const double *boys;
    unsigned long long *prim_quartets; /* added to */
    fmo_gpu_matrices matrices;
} fmo_hermite_exchange_args;

/* For one build, and for a group. */
typedef void fmo_hermite_exchange_kernel(fmo_gpu_one<fmo_hermite_exchange_args>);
typedef void fmo_hermite_group_kernel(fmo_gpu_most<fmo_hermite_exchange_args>);

/* What one object of exchange.cu has, by class; NULL: another segment's. */
typedef struct fmo_hermite_kernels {
    fmo_hermite_exchange_kernel *kernel[FMO_ERI_CLASS_COUNT];
    fmo_hermite_group_kernel *group[FMO_ERI_CLASS_COUNT];
} fmo_hermite_kernels;

typedef struct fmo_hermite_variant {
    fmo_scatter scatter;
    fmo_commit commit;
    const fmo_hermite_kernels *segment[FMO_HERMITE_PARTS];
} fmo_hermite_variant;

/* The variant with the strategy and commit of the other kernels' one; NULL: there is none. */
const fmo_hermite_variant *fmo_hermite_find_variant(const fmo_gpu_variant *variant);

/* ---- the steps of a build, for each of a group ---------------------------------------------- */

/* The task of a class in a pass; NULL: there is none, or K is not wanted. */
const fmo_hermite_task *fmo_hermite_find_task(const fmo_gpu_build *build, int pass, int eri_class);

/* Chunks of kets in J, threads for a quartet in K, of the running build. */
static inline int fmo_hermite_chunks_now(const fmo_gpu_hermite *h, int pair_class)
{
    return h->grouped ? 1 : h->pairs[pair_class].chunks;
}
static inline int fmo_hermite_planes_now(const fmo_gpu_hermite *h, int eri_class)
{
    return h->grouped ? 1 : h->planes[eri_class];
}

/* density.cu: D and what is made from it, Hermite densities where J is wanted; all that starts from
 * zero is zeroed. */
cudaError_t fmo_hermite_order_density(const fmo_gpu_group *group);
/* coulomb.cu, where J is wanted: potentials of a class of the plans' pairs in the field of all
 * pairs of `from`; NULL: each plan's own. */
cudaError_t fmo_hermite_coulomb(const fmo_gpu_group *group, const fmo_gpu_hermite *from, int bra);
/* finish.cu: from these, all of them made, to J. A step of fmo_hermite_queue, or, where GPUs share
 * a build, whose potentials are summed first, of fmo_hermite_finish. */
cudaError_t fmo_hermite_contract(const fmo_gpu_group *group);
/* screen.cu: the quartets of a class in a pass that count in K. */
cudaError_t fmo_hermite_screen(const fmo_gpu_group *group, int pass, int eri_class);
/* J and K in the caller's order, added to what is there already where other kernels have written.
 */
cudaError_t fmo_hermite_finish(const fmo_gpu_group *group, bool fixed);

/* Timers around tasks: those that do not exist; and seconds by class, added to what is there. */
cudaError_t fmo_hermite_make_timers(fmo_gpu_hermite *h);
cudaError_t fmo_hermite_class_seconds(const fmo_gpu_hermite *h, double *seconds);

/* All of it but `finish`; with side streams or timers, a group of one. */
cudaError_t fmo_hermite_queue(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                              const fmo_gpu_side_streams *side, bool timed);

#endif
