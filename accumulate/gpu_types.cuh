/* What the kernels see: views of device memory, passed by value. gpu_quartet.cuh has the
 * arithmetic, gpu_fused_kernel.cuh the accumulation, gpu_screen.cu the survivors. */
#ifndef FMO_GPU_TYPES_CUH
#define FMO_GPU_TYPES_CUH

#include <cuda_runtime.h>

#include <fmo/eri_class.h>
#include "integrals/eri_common.h"

/* Threads of a block in the quartet kernels. 128: four warps, so that with 255 registers a thread
 * two blocks still fit a multiprocessor. */
#define FMO_GPU_THREADS 128

/* Pairs are screened in tiles of a warp. */
#define FMO_GPU_TILE_PAIRS 32

/* The fields of a primitive pair, read 16 bytes at a time: those of eri_common.h, then what s is
 * times in a sp pair, then the Schwarz bound, a float in the low half. Prefactors and ratios
 * contain the degeneracy of a pair with itself (digest.h). */
enum {
    FMO_GPU_PAIR_RATIO = FMO_PAIR_FIELDS,
    FMO_GPU_PAIR_BOUND,
    FMO_GPU_PAIR_FIELDS,
    FMO_GPU_PAIR_TWOS = FMO_GPU_PAIR_FIELDS / 2
};

/* Functions are counted in multiples of this, so that four functions of a set, in a row of a
 * matrix, are one 32-byte sector of memory. */
enum { FMO_GPU_ALIGN = 4 };
static __host__ __device__ inline int fmo_gpu_aligned(int functions)
{
    return (functions + FMO_GPU_ALIGN - 1) / FMO_GPU_ALIGN * FMO_GPU_ALIGN;
}

/* First function of a set: those of one s function come first, all others are `width` wide. */
static __host__ __device__ inline int fmo_gpu_set_begin(int set, int s_sets, int width)
{
    return set < s_sets ? set : fmo_gpu_aligned(s_sets) + width * (set - s_sets);
}

/* One class of shell pairs. Shells are numbered as the kernels see them: in a plan with sp pairs a
 * p shell and its partner are one set of four functions, s x y z, and s shells without partner come
 * first. Sorted by number of primitives (descending), then bound (in steps of 2^8), then i, then j:
 * lanes of a warp do equal work and meet equal rows in runs, and tiles of pairs too small to matter
 * are passed over at once. Primitives of pairs of equal depth lie [primitive][two fields][pair], so
 * that neighbouring pairs are read together; those of one pair are in descending order of their
 * bounds. */
typedef struct fmo_gpu_pairs {
    int num;
    const int4 *shell;           /* [num] first functions of i and j, primitives, stride in prim */
    const int2 *set;             /* [num] sets i, j */
    const unsigned *prim_at;     /* [num] first value in prim */
    const unsigned char *counts; /* [num] FMO_GPU_COUNTS_... */
    const double *bound;         /* [num] Schwarz bound */
    const double *tile_bound;    /* [num/FMO_GPU_TILE_PAIRS] largest bound of each tile of pairs */
    const double *center;        /* [6][num] A, A - B */
    const double2 *prim;
    const unsigned *record_at; /* [num] first primitive in record */
    const double2 *record;     /* the same primitives, [primitive][field] pair after pair */
} fmo_gpu_pairs;

enum {
    FMO_GPU_COUNTS_PAIR = 1,   /* the first part of a pair */
    FMO_GPU_COUNTS_CARRIED = 2 /* ... that carries an ss pair along */
};

/* A survivor: x the bra pair; y the ket pair and, above FMO_GPU_KET_BITS, how small the density
 * factor is, as FMO_GPU_FACTOR_TOP - log2 rounded down, and whether the quartet counts in K. */
enum {
    FMO_GPU_KET_BITS = 26,
    FMO_GPU_PAIRS_MAX = 1 << FMO_GPU_KET_BITS,
    FMO_GPU_FACTOR_MAX = 31, /* five bits */
    FMO_GPU_FACTOR_TOP = 6
};
#define FMO_GPU_EXCHANGE_BIT 0x80000000u

/* Counters in device memory, zeroed at the start of a build. */
typedef struct fmo_gpu_counters {
    unsigned survivors[FMO_ERI_CLASS_COUNT];           /* of the running pass */
    unsigned long long quartets[FMO_ERI_CLASS_COUNT];  /* contracted */
    unsigned long long tasks[FMO_ERI_CLASS_COUNT];     /* threads' work: pairs of parts of pairs */
    unsigned long long exchanges[FMO_ERI_CLASS_COUNT]; /* those that count in K */
    unsigned long long prim_quartets[FMO_ERI_CLASS_COUNT];
    unsigned long long issued[FMO_ERI_CLASS_COUNT];
    unsigned long long density_largest; /* bits of a double >= 0, which order like it */
    unsigned long long sink;
    double fixed_bound; /* of every element of X */
    double fixed_scale; /* units of the fixed-point integers per hartree */
} fmo_gpu_counters;

/* Adds to the numbers of shell quartets by class those of `pairs` pairs of pairs; in `carried` of
 * them the ket carries an ss pair along, in all of them the bra, if bra_carries. */
static __device__ inline void fmo_gpu_count(unsigned long long *quartets, int eri_class,
                                            bool bra_carries, unsigned long long pairs,
                                            unsigned long long carried)
{
    atomicAdd(&quartets[eri_class], pairs);
    if (eri_class == FMO_ERI_PSSS && bra_carries) atomicAdd(&quartets[FMO_ERI_SSSS], pairs);
    if (eri_class == FMO_ERI_PPPS && carried) atomicAdd(&quartets[FMO_ERI_PPSS], carried);
    if (eri_class == FMO_ERI_PSPS) {
        if (carried) atomicAdd(&quartets[FMO_ERI_PSSS], carried);
        if (bra_carries) atomicAdd(&quartets[FMO_ERI_PSSS], pairs);
        if (bra_carries && carried) atomicAdd(&quartets[FMO_ERI_SSSS], carried);
    }
}

/* Where such a pair meets itself, (ps|ss) and (ss|ps) are one quartet. */
static __device__ inline void fmo_gpu_count_diagonal(unsigned long long *quartets)
{
    atomicAdd(&quartets[FMO_ERI_PSSS], ~0ull);
}

/* One class of quartets of one pass: pairs, and the list of survivors. */
typedef struct fmo_gpu_class_view {
    fmo_gpu_pairs bra, ket;
    int same;          /* bra and ket are one list: ket <= bra */
    float prim_cutoff; /* on bound times bound times density factor of a primitive quartet */
    const int2 *list;
    const unsigned *count;
} fmo_gpu_class_view;

/* One class of kept integrals, whose tasks are the list of the class view, and what screening them
 * takes. */
typedef struct fmo_gpu_stored_args {
    const double *eri; /* as gpu_stored_kernel.cuh lays them out */
    size_t tasks;
    size_t piece; /* tasks that a warp screens in a row, a power of two from 32 on */
    const double *block_max;
    int sets;
    double cutoff;
    fmo_gpu_counters *counters;
} fmo_gpu_stored_args;

/* The matrices, in internal order. */
typedef struct fmo_gpu_matrices {
    const double *density;      /* [nao][nao] */
    double *coulomb, *exchange; /* X^J, X^K of digest.h; fixed point under `fixed` */
    size_t copy_stride;         /* values between copies under `replicated` */
    unsigned copies;
    int nao; /* functions, those that fill up sp sets included */
    const fmo_boys_table *boys;
    const double *fixed_scale;  /* for `fixed` */
    unsigned long long *sink;   /* for `none`: one word */
    unsigned long long *issued; /* atomics issued, added to; may be NULL */
} fmo_gpu_matrices;

#endif
