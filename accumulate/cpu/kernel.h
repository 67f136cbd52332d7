/* Inner kernels of the host: one bra pair with all ket pairs of a class, several quartets at a
 * time in vector lanes; and the digestion of integrals that a GPU computed (mode split). One
 * source is compiled for several instruction sets, and a build picks one at run time. Read next:
 * kernel.c. */
#ifndef FMO_CPU_KERNEL_H
#define FMO_CPU_KERNEL_H

#include "accumulate/cpu/far.h"
#include "accumulate/cpu/pairs.h"
#include "accumulate/plan/plan.h"
#include "accumulate/tuning.h"
#include "accumulate/work/work.h"
#include "integrals/operator_rules.h"

enum { FMO_CPU_WIDTH_MAX = 8 };

/* Doubles per pair in fmo_cpu_side.density and in the sums of J: the pair's block, padded to a
 * multiple of 4 where it has more than one element. */
FMO_TABLE_FUNCTION int fmo_cpu_stride(int pair_class)
{
    const int products = fmo_pair_products(pair_class, 0);
    return products > 1 ? (products + 3) / 4 * 4 : 1;
}

/* Columns of the rows of D and X^K that a bra works with: at most the functions of its two
 * shells, padded to a multiple of 4. */
enum {
    FMO_CPU_STRIDE_MAX = (FMO_PAIR_PRODUCTS_MAX + 3) / 4 * 4,
    FMO_CPU_ROW_MAX = (2 * FMO_SHELL_FUNCTIONS_MAX + 3) / 4 * 4
};

/* How values are added to the sums. */
typedef struct fmo_cpu_adding {
    int atomic; /* 1: other threads add to the same sums */
    int fixed;  /* 1: sums are int64_t, and values are rounded to multiples of 1/scale */
    double coulomb_scale, exchange_scale;
} fmo_cpu_adding;

/* The two sides of a quartet. */
enum { FMO_CPU_BRA, FMO_CPU_KET };

/* The sums of each density: X^K in internal order, and X^J pair by pair. With adding.fixed the
 * doubles are int64_t. If bra and ket belong to the same molecule, both sides share their sums. */
typedef struct fmo_cpu_sums {
    double *exchange;                         /* [densities][nao][nao]; NULL: no K */
    double *coulomb[2][FMO_PAIR_CLASS_COUNT]; /* [side]: [densities][pair][stride]; NULL: J of
                                               * this side's pairs is not computed */
} fmo_cpu_sums;

/* Integrals of a class that stay in memory, in the order in which they were computed. */
typedef struct fmo_cpu_store {
    size_t *begin; /* [bra + 1] first vector of each bra */
    int *ket;      /* [vector][lane] index of the ket pair */
    double *eri;   /* [vector][component][lane], 0 in unused lanes */
    float *bound;  /* [vector] largest Schwarz bound of its kets, rounded up */
    size_t ket_bytes, eri_bytes;
    int64_t quartets, prim_quartets;
} fmo_cpu_store;

/* The pairs of one side, with the densities from which J of the other side is computed. */
typedef struct fmo_cpu_side {
    const fmo_cpu_pairs *pairs;
    const double *density[FMO_PAIR_CLASS_COUNT]; /* [densities][pair][stride] */
    /* [pair] largest |D| over all densities, times the weight of J (rules/weight.h); 0 if J is
     * not requested */
    const double *largest[FMO_PAIR_CLASS_COUNT];
} fmo_cpu_side;

/* What all threads of a build read. */
typedef struct fmo_cpu_build {
    const fmo_basis *basis;
    fmo_cpu_side side[2];
    int densities;
    double cutoff;
    double coulomb_largest; /* largest element of side[..].largest */
    /* For K. If density is NULL, there is no K, and the other two are not read. */
    const double *density;     /* [densities][nao][nao] */
    const double *density_max; /* [nshell][nshell] largest |D| of a shell pair, over all
                                * densities */
    const double *row_max;     /* [nshell] largest element of density_max in the shell's row */
    fmo_cpu_adding adding;
    /* Quartets of pairs whose leaves are not near each other contribute to K only. NULL: all
     * quartets contribute to J as well. */
    const fmo_cpu_near *near;                 /* [leaf] */
    const int *leaf_of[FMO_PAIR_CLASS_COUNT]; /* [pair] */
    /* Stored integrals are screened with store_factor instead of the density when they are
     * computed. NULL without a store. */
    const fmo_cpu_store *store; /* [FMO_ERI_CLASS_COUNT] */
    double store_factor;
    fmo_operator op; /* read by the kernels `other` */
    float range;     /* fmo_attenuation_range of op */
} fmo_cpu_build;

/* The working memory of one thread. */
typedef struct fmo_cpu_worker {
    fmo_cpu_sums sums;
    double *density_rows, *exchange_rows; /* [densities][nao][FMO_CPU_ROW_MAX]: rows i and j of D
                                           * and X^K, by function */
    double *shell_max;                    /* [nshell] max(|D_ik|, |D_jk|); 0 without K */
    int *ket, *ordered, *left, *key, *key_count;
    double *packed;    /* primitives of the ket pairs in the lanes */
    double *table;     /* see FMO_CPU_RHO */
    double *hermite;   /* working memory of cpu/coulomb_kernel.c; H(p|cd) of cpu/kernel.c */
    double *integrals; /* of one vector of quartets; for classes with d to g shells */
    double *bra_sums;  /* [densities][product][lane] X^J of the bra, for pairs with d to g shells */
    int *table_of;     /* [ket family] the bra family that its section of the table belongs to, or
                        * -1 */
    double *near;      /* [leaf] 1 if it is near leaf near_of, else 0 */
    int near_of;       /* -1: none, and `near` is all 0 */
    size_t vector;     /* index in the store of the next vector */
    int64_t quartets, prim_quartets;
} fmo_cpu_worker;

/* packed[m][field][lane]: prefactor and Q-A; Q-C if the class needs it; the exponent sum q if the
 * kets are of several families. */
enum {
    FMO_CPU_PACK_K,
    FMO_CPU_PACK_X,
    FMO_CPU_PACK_QC = FMO_CPU_PACK_X + 3,
    FMO_CPU_PACK_Q = FMO_CPU_PACK_QC + 3,
    FMO_CPU_PACK_FIELDS
};

/* table[bra primitive][exponent of the ket list][field]: factors of a primitive quartet that
 * depend on its exponents alone. Classes with M = 0 have the first two fields only. */
enum {
    FMO_CPU_RHO,
    FMO_CPU_NEAR, /* sqrt(rho) 2/sqrt(pi) */
    FMO_CPU_HALF_RHO,
    FMO_CPU_Q_OVER,
    FMO_CPU_P_OVER,
    FMO_CPU_HALF_PQ,
    FMO_CPU_TABLE_FIELDS
};

/* Kets are sorted by number of primitives, then by squared distance in steps of a factor of about
 * sqrt(2). */
enum { FMO_CPU_DISTANCES = 24 };

/* Returns the end of the pairs, beginning with `begin`, for which bra_bound * bound * factor >=
 * cutoff. */
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

/* Number of the `num` kets of a family that fill vectors of their own; the rest, too few for a
 * vector, is combined with kets of other families. */
static inline int fmo_cpu_kets_in_own_vectors(int num, int width)
{
    const int rest = num % width;
    return 4 * rest > width ? num : num - rest;
}

/* Screens the kets of bra pair `bra`, computes the quartets and digests them, and stores the
 * integrals if there is a store. A replay kernel digests the stored integrals instead. */
typedef void fmo_cpu_kernel(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra);

/* Digestion of integrals that were computed on the GPU (mode split). */
typedef struct fmo_cpu_task {
    const fmo_basis *basis;
    const double *density;      /* [nao][nao] internal order */
    double *coulomb, *exchange; /* X^J, X^K to add to, [nao][nao] */
    int atomic;                 /* 1: other threads add to the same matrices */
} fmo_cpu_task;

/* A shell pair, given by the first function of each shell. */
typedef struct fmo_pair_ao {
    int first, second;
} fmo_pair_ao;

/* Quartets as indices of pairs, and their integrals eri[component][quartet] with `stride` between
 * components; degeneracy factors are included. */
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
    const char *name; /* name of the instruction set, e.g. "AVX-512" */
    int width;        /* quartets in a vector */
    fmo_cpu_kernel *kernel[FMO_ERI_CLASS_COUNT];
    fmo_cpu_kernel *other[FMO_ERI_CLASS_COUNT]; /* operators other than 1/r; without a store */
    fmo_cpu_kernel *replay[FMO_ERI_CLASS_COUNT];
    fmo_cpu_kernel *coulomb[FMO_ERI_CLASS_COUNT]; /* J alone, without a store */
    fmo_cpu_digest *const *digest;                /* [FMO_ERI_CLASS_COUNT] */
} fmo_cpu_kernels;

/* True if J alone of a class is computed without integrals. s,p classes of lower order are faster
 * with them: they have so few Hermite functions that nothing is saved, and potentials of primitive
 * kets take more memory than integrals. */
#define FMO_CPU_SWEEPS_CLASS(e, order) \
    ((int)(e) >= (int)FMO_ERI_LOW_L_COUNT || (order) >= fmo_tuning_cpu_coulomb_order)

/* Each is compiled from cpu/kernel.c, cpu/coulomb_kernel.c and cpu/split_digest.c. */
extern const fmo_cpu_kernels fmo_cpu_kernels_baseline;
extern const fmo_cpu_kernels fmo_cpu_kernels_avx2;   /* x86-64 */
extern const fmo_cpu_kernels fmo_cpu_kernels_avx512; /* x86-64 */

/* Data of a plan of mode cpu that persist between builds (plan->state). */
typedef struct fmo_cpu_state {
    fmo_cpu_pairs pairs;
    fmo_work work; /* tasks of a build */
    int dealt;     /* 1: the work is distributed over several ranks, and `work` is the share of
                    * this one */
    const fmo_cpu_kernels *kernels;
    int threads;     /* threads of a build: options.threads, or fewer if memory is short */
    int copies;      /* copies of the sums; thread t uses copy t % copies */
    fmo_cpu_far far; /* boxes of far pairs, if J uses them (goes_far) */
    int goes_far;
    /* stored: options.integrals is "stored", or "auto" and the integrals fit; filled: they are in
     * memory */
    int stored, filled;
    fmo_cpu_store store[FMO_ERI_CLASS_COUNT];
    size_t store_bytes;
} fmo_cpu_state;

#ifdef __cplusplus
extern "C" {
#endif
/* Returns the best kernels for this processor. */
const fmo_cpu_kernels *fmo_cpu_kernels_choose(void);

/* Adds the private matrices own[threads][2][size] to coulomb and exchange, pairwise over threads.
 * The order of additions depends on the number of threads only. */
void fmo_cpu_reduce_tree(double *const *own, int threads, size_t size, double *coulomb,
                         double *exchange);
#ifdef __cplusplus
}
#endif

#endif
