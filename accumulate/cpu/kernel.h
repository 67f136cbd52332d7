/* The host's inner kernels: one bra pair against all ket pairs of a class, quartets in vector
 * lanes; and the digestion of integrals that a GPU computed. The same source is compiled for
 * several instruction sets; the build picks one at run time. */
#ifndef FMO_CPU_KERNEL_H
#define FMO_CPU_KERNEL_H

#include "accumulate/cpu/far.h"
#include "accumulate/cpu/pairs.h"
#include "accumulate/plan/plan.h"
#include "accumulate/work/work.h"

enum { FMO_CPU_WIDTH_MAX = 8 };

/* Doubles a pair takes in pair_density and in the sums of J: its block, in whole rows of 4 where it
 * has several elements. */
FMO_TABLE_FUNCTION int fmo_cpu_stride(int pair_class)
{
    const int products = fmo_pair_products(pair_class, 0);
    return products > 1 ? (products + 3) / 4 * 4 : 1;
}

/* Columns of the rows of D and X^K that a bra works with: the functions of its two shells, at
 * most. */
enum { FMO_CPU_STRIDE_MAX = (FMO_PAIR_PRODUCTS_MAX + 3) / 4 * 4, FMO_CPU_ROW_MAX = 12 };
FMO_STATIC_ASSERT(
    2 * FMO_SHELL_FUNCTIONS_MAX <= FMO_CPU_ROW_MAX,
    "cpu/kernel_digest.inc: rows of D and X^K have too few columns for two such shells")

/* How adds reach the sums. */
typedef struct fmo_cpu_adding {
    int atomic; /* other threads add to the same sums */
    int fixed;  /* sums are int64_t, values are rounded to multiples of 1/scale */
    double coulomb_scale, exchange_scale;
} fmo_cpu_adding;

/* The two sides of a quartet. */
enum { FMO_CPU_BRA, FMO_CPU_KET };

/* X^K in internal order and X^J pair by pair, of each density. With adding.fixed the doubles are
 * int64_t. Where bra and ket are of one molecule, the two sides have the same sums. */
typedef struct fmo_cpu_sums {
    double *exchange;                         /* [densities][nao][nao]; NULL: no K */
    double *coulomb[2][FMO_PAIR_CLASS_COUNT]; /* [side]: [densities][pair][stride]; NULL: no J for
                                                 this side's pairs */
} fmo_cpu_sums;

/* Integrals of a class that stay in memory, in the order in which they were computed. */
typedef struct fmo_cpu_store {
    size_t *begin; /* [bra + 1] first vector of each bra */
    int *ket;      /* [vector][lane] */
    double *eri;   /* [vector][component][lane], 0 in lanes not in use */
    float *bound;  /* [vector] the largest Schwarz bound of its kets, rounded up */
    size_t ket_bytes, eri_bytes;
    int64_t quartets, prim_quartets;
} fmo_cpu_store;

/* The pairs of one side, with the densities that the other side's J is made from. */
typedef struct fmo_cpu_side {
    const fmo_cpu_pairs *pairs;
    const double *density[FMO_PAIR_CLASS_COUNT]; /* [densities][pair][stride] */
    /* [pair] of |D|, all densities, times the weight of J (rules/weight.h); 0: not in J */
    const double *largest[FMO_PAIR_CLASS_COUNT];
} fmo_cpu_side;

/* What all threads of a build read. */
typedef struct fmo_cpu_build {
    const fmo_basis *basis;
    fmo_cpu_side side[2];
    int densities;
    double cutoff;
    double coulomb_largest; /* of side[..].largest */
    /* For K; density NULL: no K, and the others are not read. */
    const double *density;     /* [densities][nao][nao] */
    const double *density_max; /* [nshell][nshell], of all densities */
    const double *row_max;     /* [nshell] */
    fmo_cpu_adding adding;
    /* Quartets of pairs whose leaves are not near to each other count in K alone; NULL: all are. */
    const fmo_cpu_near *near;                 /* [leaf] */
    const int *leaf_of[FMO_PAIR_CLASS_COUNT]; /* [pair] */
    /* Stored integrals: screened with this factor, not with the density, when they are computed;
     * NULL without a store. */
    const fmo_cpu_store *store; /* [FMO_ERI_CLASS_COUNT] */
    double store_factor;
} fmo_cpu_build;

/* What one thread works with. */
typedef struct fmo_cpu_worker {
    fmo_cpu_sums sums;
    double *density_rows, *exchange_rows; /* [densities][nao][FMO_CPU_ROW_MAX]: rows i and j of D
                                             and X^K, by function */
    double *shell_max;                    /* [nshell] max(|D_ik|, |D_jk|); 0 without K */
    int *ket, *ordered, *left, *key, *key_count;
    double *packed;  /* primitives of the ket pairs in the lanes */
    double *table;   /* see below */
    double *hermite; /* of cpu/coulomb_kernel.c */
    int *table_of;   /* [ket family] the bra family that its part of the table is for, or -1 */
    double *near;    /* [leaf] 1 where it is near to leaf near_of, else 0 */
    int near_of;     /* -1: none, and all of them are 0 */
    size_t vector;   /* of the store, where the next one goes */
    int64_t quartets, prim_quartets;
} fmo_cpu_worker;

/* packed[m][field][lane]: prefactor, Q-A; Q-C if the class needs it; q if kets are of several
 * families. */
enum {
    FMO_CPU_PACK_K,
    FMO_CPU_PACK_X,
    FMO_CPU_PACK_QC = FMO_CPU_PACK_X + 3,
    FMO_CPU_PACK_Q = FMO_CPU_PACK_QC + 3,
    FMO_CPU_PACK_FIELDS
};

/* table[bra primitive][exponent of the ket list][field]: what a primitive quartet takes from its
 * exponents; the first two fields are all there are for M = 0. */
enum {
    FMO_CPU_RHO,
    FMO_CPU_NEAR, /* sqrt(rho) 2/sqrt(pi) */
    FMO_CPU_HALF_RHO,
    FMO_CPU_Q_OVER,
    FMO_CPU_P_OVER,
    FMO_CPU_HALF_PQ,
    FMO_CPU_TABLE_FIELDS
};

/* Kets are ordered by their primitives, then by distance in steps of a factor of sqrt(2). */
enum { FMO_CPU_DISTANCES = 24 };

/* Pairs [begin, return value) of a list have bra_bound * bound * factor >= cutoff. */
static inline int fmo_cpu_kets_end(const fmo_cpu_pair_list *kets, int begin, int end,
                                   double bra_bound, double factor, double cutoff)
{
    while (begin < end) { /* bounds descend */
        const int middle = begin + (end - begin) / 2;
        if (bra_bound * kets->bound[middle] * factor < cutoff)
            end = middle;
        else
            begin = middle + 1;
    }
    return end;
}

/* How many of `num` kets of a family go into vectors of their own; the others, too few for one, are
 * put together with those of other families. */
static inline int fmo_cpu_kets_in_own_vectors(int num, int width)
{
    const int rest = num % width;
    return 4 * rest > width ? num : num - rest;
}

/* Screens, computes and adds everything of bra pair `bra` of a class, and stores the integrals if
 * there is a store; or adds what is in the store. */
typedef void fmo_cpu_kernel(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra);

/* For integrals that somebody else computed (mode split): */
typedef struct fmo_cpu_task {
    const fmo_basis *basis;
    const double *density;      /* [nao][nao] internal order */
    double *coulomb, *exchange; /* X^J, X^K to add to, [nao][nao] */
    int atomic;                 /* other threads add to the same matrices */
} fmo_cpu_task;

/* A shell pair by the first functions of its shells. */
typedef struct fmo_pair_ao {
    int first, second;
} fmo_pair_ao;

/* Pairs by index, integrals as eri[component][quartet] with `stride` between components,
 * degeneracy factors included. */
typedef struct fmo_cpu_batch {
    const fmo_pair_ao *bra_ao, *ket_ao;
    const int *quartet; /* [num][2] bra, ket */
    const double *eri;
    size_t stride;
} fmo_cpu_batch;

/* Digests quartets [begin, end) of a batch. */
typedef void fmo_cpu_digest(const fmo_cpu_task *task, const fmo_cpu_batch *batch, size_t begin,
                            size_t end);

typedef struct fmo_cpu_kernels {
    const char *name; /* "AVX-512" */
    int width;        /* quartets at a time */
    fmo_cpu_kernel *kernel[FMO_ERI_CLASS_COUNT];
    fmo_cpu_kernel *replay[FMO_ERI_CLASS_COUNT];
    fmo_cpu_kernel *const *coulomb; /* [FMO_ERI_CLASS_COUNT] without K and without a store */
    fmo_cpu_digest *const *digest;  /* [FMO_ERI_CLASS_COUNT] */
} fmo_cpu_kernels;

/* Each compiled from cpu/kernel.c, cpu/coulomb_kernel.c and cpu/split_digest.c. */
extern const fmo_cpu_kernels fmo_cpu_kernels_baseline;
extern const fmo_cpu_kernels fmo_cpu_kernels_avx2;   /* x86-64 */
extern const fmo_cpu_kernels fmo_cpu_kernels_avx512; /* x86-64 */

/* What a plan of mode cpu keeps from build to build (plan->state). */
typedef struct fmo_cpu_state {
    fmo_cpu_pairs pairs;
    fmo_work work; /* what a build has to do */
    int dealt;     /* of pieces of several ranks: `work` are those of this one */
    const fmo_cpu_kernels *kernels;
    int threads;     /* of a build: options.threads, or fewer, for want of memory */
    int copies;      /* sets of sums, each for every copies-th thread */
    fmo_cpu_far far; /* where J goes by boxes */
    int goes_far;
    /* options.integrals = stored, or auto and they fit: */
    int stored, filled;
    fmo_cpu_store store[FMO_ERI_CLASS_COUNT];
    size_t store_bytes;
} fmo_cpu_state;

#ifdef __cplusplus
extern "C" {
#endif
/* The best kernels for this processor. */
const fmo_cpu_kernels *fmo_cpu_kernels_choose(void);

/* private matrices [threads][2][size] -> coulomb and exchange += their sums, pairwise over threads;
 * the order depends on the number of threads only. */
void fmo_cpu_reduce_tree(double *const *own, int threads, size_t size, double *coulomb,
                         double *exchange);
#ifdef __cplusplus
}
#endif

#endif
