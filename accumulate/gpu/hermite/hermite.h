/* Quartets with d or f shells on a GPU (docs/explanation/gpu/d-shells.md): the data of a plan and
 * the steps of a build. Everything here uses plain shells of Cartesian functions in the basis's
 * internal order and has matrices of its own. The kernels of s and p shells and their data are
 * independent of it; the last step (finish.cu) adds the results of both.
 *
 *   density   the caller's D transformed to internal functions; Hermite densities of all primitive
 *             pairs (density.cu)
 *   J         from Hermite densities to Hermite potentials, one or more warps for each primitive of
 *             the bra, without integrals or atomics (coulomb.cu). Ahmadi and Almlof, Chem. Phys.
 *             Lett. 246, 364 (1995); White and Head-Gordon, J. Chem. Phys. 104, 2620 (1996)
 *   K         quartets that contribute to K are listed (screen.cu), computed in slices
 *             (integrals/eri/eri_slice.h) and scattered by a strategy (exchange.cu, compiled once
 *             for each segment of each variant that supports d shells)
 *
 * C++ only. */
#ifndef FMO_GPU_HERMITE_H
#define FMO_GPU_HERMITE_H

#include "accumulate/gpu/schedule/schedule.h"
#include "integrals/far/separation.h"

/* ---- data of a plan -------------------------------------------------------------------------- */

/* All shell pairs of one class of a basis. Pairs, or segments of them, are in the order of
 * fmo_pair_rank_compare. A segment is a range of a pair's primitives that is treated as a pair of
 * its own; a record is the data of one primitive pair. */
typedef struct fmo_hermite_pairs {
    int num;                 /* segments of pairs */
    const int4 *at;          /* [num] first functions of i and j, shells, 1: first segment */
    const float *bound;      /* [num] Schwarz bound, rounded up */
    const float *tile_bound; /* [tiles of num] the largest of each tile */
    const double *centre;    /* [6][num] A and A - B */
    const int4 *prims;       /* [num] index of its first fields in prim, primitives, stride */
    /* For the bound that depends on distance (integrals/far/separation.h): */
    const float4 *sphere;    /* [num] centre and radius */
    const float *separation; /* [2 + FMO_SEPARATION_ORDERS][num] spread, log_size, moments */
    const double2 *prim;     /* [primitive][two fields][segment], see types.cuh */
    const double2 *record;   /* the same primitives pair after pair, [records][FMO_GPU_PAIR_TWOS] */
    /* Whole pairs and their records, for J: */
    int whole, records;
    const int *segment_of;     /* [whole] one segment of the pair */
    const int2 *records_of;    /* [whole] first record and number of records */
    const int *record_segment; /* [records] one segment of the record's pair */
    const int2 *point_of; /* [records] class and number of the point that contains the record */
    float *record_coulomb_estimate; /* [records] see below */
    double *record_density;         /* [FMO_HERMITE_COUNT(order)][records] */
    /* Points of Hermite functions. All primitives with one centre and one exponent form a point,
     * whatever their pairs; those of s,p classes and those of the other classes form separate
     * points. A point belongs to the class of highest order among its primitives, and points are
     * sorted by their bounds in steps of 2^8, descending. The primitives of SP shells, and those
     * that general contractions share, are thus evaluated once. */
    int points;               /* a multiple of the tile size; padding has bounds of 0 */
    const int *entry_begin;   /* [points+1] into entry */
    const int2 *entry;        /* class and number of a record */
    const double *place;      /* [4][points] P, exponent */
    const float *point_bound; /* [points] */
    /* computed in every build: */
    float *coulomb_estimate, *tile_coulomb_estimate; /* [points], [tiles]: 4 w |D| Q */
    double *density; /* [FMO_HERMITE_COUNT(order)][points], with prefactors and (-1)^q */
    int chunks;      /* of kets, computed by different blocks; more than 1 if there are few bras */
    double *potential; /* [chunks][FMO_HERMITE_COUNT(order)][points] potentials V_p */
} fmo_hermite_pairs;

/* Return the two shells of a segment from its `at`. */
static __device__ __forceinline__ unsigned fmo_hermite_first_shell(int4 at)
{
    return (unsigned)at.z & 0xffff;
}
static __device__ __forceinline__ unsigned fmo_hermite_second_shell(int4 at)
{
    return (unsigned)at.z >> 16;
}

/* A task (docs/reference/glossary.md): a range of bras of a class, with all kets. Passes run one
 * after the other and reuse the list; the tasks of one pass have separate regions of it. */
typedef struct fmo_hermite_task {
    int eri_class, bra_begin, bra_end, pass;
    size_t list_at, candidates;
    cudaEvent_t event[2]; /* timers; NULL unless requested */
} fmo_hermite_task;

/* In device memory, zeroed at the start of a build. */
typedef struct fmo_hermite_counters {
    unsigned long long quartets[FMO_ERI_GPU_COUNT];        /* contracted ones in K */
    unsigned long long screened_in_num[FMO_ERI_GPU_COUNT]; /* the same, counted by segments */
    unsigned long long prim_quartets[FMO_ERI_GPU_COUNT];   /* primitive quartets computed */
    unsigned long long issued[FMO_ERI_GPU_COUNT];          /* atomics */
    unsigned long long sink;
    double fixed_bound, fixed_scale; /* as in fmo_gpu_counters */
} fmo_hermite_counters;

typedef struct fmo_gpu_hermite {
    int nao, caller_nao, shells;
    /* Internal functions as linear combinations of the caller's (in) and the reverse (out):
     * [nao+1], [caller_nao+1] begin of each row in the arrays of function numbers and factors. */
    const int *in_begin, *in_from, *out_begin, *out_from;
    const double *in_factor, *out_factor;
    const int *out_low_l;     /* [caller_nao] 1: a function of an s or p shell */
    const int2 *shell;        /* [shells] first function, number of them */
    const float *shell_bound; /* [shells] largest bound of a pair with this shell */
    fmo_hermite_pairs pairs[FMO_PAIR_GPU_COUNT];
    double *density;            /* [nao][nao] */
    float *block_max, *row_max; /* [shells][shells], [shells]; rounded up */
    double *coulomb, *exchange; /* [nao][nao] J; X^K, fixed point under `fixed` */
    size_t zeroed;              /* bytes from coulomb on that a build sets to zero first */
    unsigned *screened_in;      /* [tasks] */
    fmo_hermite_counters *counters, *host_counters; /* the latter pinned */
    int2 *list;
    fmo_hermite_task *task;
    int tasks, passes;
    int planes[FMO_ERI_GPU_COUNT]; /* of the grid (y): threads for a quartet */
    int share, shares;             /* as in the plan: number of this share, and of all */
    /* 1 if the running build is one of a group, which keeps the GPU busy: then no bra of J and no
     * quartet of K is shared by several threads. 0 under `fixed`, so that results are bit-equal to
     * those of a build alone. */
    int grouped;
    struct fmo_gpu_hermite *two; /* for builds with K of two densities; NULL until the first */
} fmo_gpu_hermite;

/* state.cu: makes plan->gpu->hermite, if the plan has d or f shells. The device must be current;
 * its stream is used. */
fmo_status fmo_hermite_make(fmo_fock_plan *plan, fmo_error *err);
/* separation.cu: computes the data of the bound that depends on distance for each segment, from
 * lists whose copies are queued on the stream. Called by fmo_hermite_make, unless
 * g->separation_later. */
cudaError_t fmo_hermite_make_separation(const fmo_gpu_group *group);
/* Makes g->hermite->two if that has not been done. */
fmo_status fmo_hermite_make_two(const fmo_fock_plan *plan, fmo_error *err);
void fmo_hermite_free(fmo_gpu_state *g);
/* Allocates pinned memory for the counters, if there is none yet. */
cudaError_t fmo_hermite_make_pinned(fmo_gpu_hermite *h);
/* Bytes of host memory in use; 0 for NULL. */
size_t fmo_hermite_host_bytes(const fmo_gpu_hermite *h);
/* Copies the counters of the last build, which must have ended, to the profile. */
void fmo_hermite_profile_counts(fmo_fock_plan *plan);

/* How the kernels for K process a quartet,
 * X(class, rows, shared, warps, recompute, segment, matrix):
 *
 *   rows     functions of the first shell in a pass: all; 2 of d, 3 of f, which differ by a
 *            permutation of the axes (integrals/eri/eri_slice.h); or 1
 *   shared   1: integrals are held in shared memory while primitives are summed
 *   warps    resident warps of a multiprocessor, for which the number of registers is limited
 *   recompute   1: expansions of the pairs are recomputed for each row
 *   segment  the object file of exchange.cu that contains the class; all take about equally long to
 *            compile
 *   matrix   1: one or several warps compute a quartet together (matrix.cuh); rows is then the
 *            number of functions of the first shell, segment FMO_HERMITE_MATRIX_PART, and the other
 *            columns are 0. Classes with f shells that have no row here are computed so.
 *
 * Measurements: docs/log/ladder.md, steps 68, 70 and 79. */
#define FMO_HERMITE_EXCHANGE_TABLE(X) \
    X(DSSS, 6, 0, 16, 0, 5, 0)        \
    X(DSPS, 6, 0, 16, 0, 7, 0)        \
    X(DSPP, 6, 1, 8, 0, 6, 0)         \
    X(DSDS, 6, 1, 12, 1, 7, 0)        \
    X(DPSS, 6, 1, 12, 1, 5, 0)        \
    X(DPPS, 6, 1, 12, 1, 6, 0)        \
    X(DPPP, 2, 1, 8, 1, 3, 0)         \
    X(DPDS, 2, 1, 12, 1, 7, 0)        \
    X(DPDP, 2, 1, 8, 1, 3, 0)         \
    X(DDSS, 6, 1, 8, 1, 4, 0)         \
    X(DDPS, 2, 1, 8, 1, 3, 0)         \
    X(DDPP, 2, 1, 8, 1, 2, 0)         \
    X(DDDS, 2, 1, 8, 1, 2, 0)         \
    X(DDDP, 1, 1, 8, 1, 1, 0)         \
    X(DDDD, 6, 0, 0, 0, 0, 1)         \
    X(FSSS, 10, 0, 16, 0, 9, 0)       \
    X(FSPS, 10, 1, 12, 0, 9, 0)       \
    X(FSPP, 10, 1, 8, 0, 9, 0)        \
    X(FSDS, 10, 1, 12, 1, 9, 0)       \
    X(FSDP, 3, 1, 12, 1, 11, 0)       \
    X(FSDD, 3, 1, 8, 1, 11, 0)        \
    X(FSFS, 10, 1, 8, 1, 10, 0)       \
    X(FPSS, 10, 1, 12, 1, 10, 0)      \
    X(FPPS, 10, 1, 8, 1, 10, 0)       \
    X(FPPP, 3, 1, 8, 1, 12, 0)        \
    X(FPDS, 3, 1, 12, 1, 12, 0)       \
    X(FPDP, 1, 1, 8, 1, 13, 0)        \
    X(FPFS, 3, 1, 8, 1, 13, 0)        \
    X(FDSS, 3, 1, 12, 1, 14, 0)       \
    X(FDPS, 3, 1, 8, 1, 14, 0)        \
    X(FDPP, 1, 1, 8, 1, 15, 0)        \
    X(FDDS, 3, 1, 8, 1, 15, 0)        \
    X(FDDP, 1, 1, 8, 1, 16, 0)        \
    X(FDFS, 1, 1, 8, 1, 17, 0)        \
    X(FFSS, 3, 1, 8, 1, 17, 0)        \
    X(FFPS, 3, 1, 8, 1, 18, 0)        \
    X(FFPP, 1, 1, 8, 1, 18, 0)        \
    X(FFDS, 1, 1, 8, 1, 8, 0)
enum {
    FMO_HERMITE_PARTS = 19,
    FMO_HERMITE_MATRIX_PART = 0,
    FMO_HERMITE_F_PART = 8 /* the first segment with f shells in slices; those before have none */
};
typedef struct fmo_hermite_form {
    int rows, shared, warps, recompute, segment, matrix;
} fmo_hermite_form;
static __host__ __device__ constexpr fmo_hermite_form fmo_hermite_form_of(int eri_class)
{
    switch (eri_class) {
#define ROW(e, rows, shared, warps, recompute, segment, matrix) \
    case FMO_ERI_##e:                                           \
        return fmo_hermite_form{rows, shared, warps, recompute, segment, matrix};
        FMO_HERMITE_EXCHANGE_TABLE(ROW)
#undef ROW
    default: /* the first shell of a class with f shells is one */
        if (eri_class < FMO_ERI_UNROLLED_COUNT) return fmo_hermite_form{};
        return fmo_hermite_form{fmo_pair_functions(fmo_eri_class_bra(eri_class), 0, 0),
                                0,
                                0,
                                0,
                                FMO_HERMITE_MATRIX_PART,
                                1};
    }
}
static __host__ __device__ constexpr int fmo_hermite_passes(int eri_class)
{
    const int rows = fmo_hermite_form_of(eri_class).rows;
    return (fmo_pair_functions(fmo_eri_class_bra(eri_class), 0, 0) + rows - 1) / rows;
}
/* Bytes of shared memory of a thread, and threads of a block: as many as 64 KiB of shared memory
 * hold. */
static __host__ __device__ constexpr int fmo_hermite_bytes(int eri_class)
{
    return fmo_hermite_form_of(eri_class).shared
               ? (int)sizeof(double) * fmo_hermite_form_of(eri_class).rows *
                     (fmo_eri_class_integrals(eri_class, 0) /
                      fmo_pair_functions(fmo_eri_class_bra(eri_class), 0, 0))
               : 0;
}
static __host__ __device__ constexpr int fmo_hermite_threads(int eri_class)
{
    const int bytes = fmo_hermite_bytes(eri_class), bytes_max = 64 << 10;
    return bytes * FMO_GPU_THREADS <= bytes_max ? FMO_GPU_THREADS
           : bytes * 64 <= bytes_max            ? 64
                                                : 32;
}
/* Returns the number of adds to K of one quartet, which `planes` threads share. */
int fmo_hermite_adds(int eri_class, int planes);

/* ---- the kernels for K of one variant ------------------------------------------------------- */

/* The data of a class of pairs that they read. */
typedef struct fmo_hermite_exchange_pairs {
    const int4 *at, *prims;
    const double *centre;
    const double2 *prim;
    int num;
} fmo_hermite_exchange_pairs;

typedef struct fmo_hermite_exchange_args {
    fmo_hermite_exchange_pairs bra, ket;
    bool same;        /* bra and ket are the same list */
    int planes;       /* of the grid (y): threads for a quartet */
    const int2 *list; /* bra; ket and code of the density factor (FMO_GPU_KET_BITS) */
    const unsigned *count;
    float prim_cutoff; /* for the product of both bounds and the density factor of a primitive
                          quartet */
    const double *boys;
    unsigned long long *prim_quartets; /* added to */
    fmo_gpu_matrices matrices;
} fmo_hermite_exchange_args;

/* The kernels for one build, and for a group of builds. */
typedef void fmo_hermite_exchange_kernel(fmo_gpu_one<fmo_hermite_exchange_args>);
typedef void fmo_hermite_group_kernel(fmo_gpu_full_group<fmo_hermite_exchange_args>);

/* Threads of a block, its bytes of shared memory, and quartets that it computes at a time. A block
 * may have fewer quartets, with their threads and `quartet_bytes` each less; 0: it may not. */
typedef struct fmo_hermite_block {
    int threads, shared, quartets, quartet_bytes;
} fmo_hermite_block;

/* The kernels of one object file of exchange.cu, by class; NULL: in another one, or there is none.
 * of_operator: K of an operator other than 1/r, for one build. group: for several builds, and for
 * one where there is no other kernel. of_two: K of two densities, for one build; NULL: each by
 * itself. */
typedef struct fmo_hermite_kernels {
    fmo_hermite_block block[FMO_ERI_GPU_COUNT];
    fmo_hermite_exchange_kernel *kernel[FMO_ERI_GPU_COUNT];
    fmo_hermite_exchange_kernel *of_operator[FMO_ERI_GPU_COUNT];
    fmo_hermite_group_kernel *group[FMO_ERI_GPU_COUNT];
    fmo_hermite_block block_of_two[FMO_ERI_GPU_COUNT];
    fmo_hermite_exchange_kernel *of_two[FMO_ERI_GPU_COUNT];
} fmo_hermite_kernels;

typedef struct fmo_hermite_variant {
    fmo_scatter scatter;
    fmo_commit commit;
    const fmo_hermite_kernels *segment[FMO_HERMITE_PARTS];
} fmo_hermite_variant;

/* Returns the variant with the strategy and commit of a variant for s and p shells; NULL if there
 * is none. */
const fmo_hermite_variant *fmo_hermite_find_variant(const fmo_gpu_variant *variant);

/* ---- the steps of a build, for each of a group ---------------------------------------------- */

/* Returns the task of a class in a pass; NULL if there is none or K is not requested. */
const fmo_hermite_task *fmo_hermite_find_task(const fmo_gpu_build *build, int pass, int eri_class);

/* Number of chunks of kets in J, and of threads that share a quartet in K, in the running build. */
static inline int fmo_hermite_chunks_now(const fmo_gpu_hermite *h, int pair_class)
{
    return h->grouped ? 1 : h->pairs[pair_class].chunks;
}
static inline int fmo_hermite_planes_now(const fmo_gpu_hermite *h, int eri_class)
{
    return h->grouped ? 1 : h->planes[eri_class];
}

/* density.cu: D over internal functions, its block maxima and, if J is requested, Hermite
 * densities. Also sets to zero all arrays that a build adds to. */
cudaError_t fmo_hermite_order_density(const fmo_gpu_group *group);
/* coulomb.cu, if J is requested: adds the potentials at the points of a class of the plans' pairs
 * of all points of `from`; NULL: of each plan itself. */
cudaError_t fmo_hermite_coulomb(const fmo_gpu_group *group, const fmo_gpu_hermite *from, int bra);
/* finish.cu: J from the potentials of all classes. Part of fmo_hermite_queue or, where GPUs share a
 * build and their potentials are summed first, of fmo_hermite_finish. */
cudaError_t fmo_hermite_contract(const fmo_gpu_group *group);
/* screen.cu: lists the quartets of a class in a pass that contribute to K. */
cudaError_t fmo_hermite_screen(const fmo_gpu_group *group, int pass, int eri_class);
/* finish.cu: J and K in the caller's order; they are added where the kernels of s and p shells have
 * written. */
cudaError_t fmo_hermite_finish(const fmo_gpu_group *group, bool fixed);

/* Creates the timers of tasks that do not exist yet; adds the seconds of each class. */
cudaError_t fmo_hermite_make_timers(fmo_gpu_hermite *h);
cudaError_t fmo_hermite_class_seconds(const fmo_gpu_hermite *h, double *seconds);

/* Queues all steps but fmo_hermite_finish. With side streams or timers the group must have one
 * build. */
cudaError_t fmo_hermite_queue(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                              const fmo_gpu_side_streams *side, bool timed);

#endif
