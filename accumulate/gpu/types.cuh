/* Data structures of the kernels: views of device memory, passed by value. kernels/quartet.cuh
 * computes the integrals, kernels/near.cuh accumulates them, and gpu/screen.cuh lists the
 * screened-in quartets. The layout of pairs is explained in docs/explanation/gpu/pairs.md.
 * The kernels number padded SP (L) shells: one s function, or four functions s x y z
 * of a p shell and the s shell of the same centre and exponents. A p shell without such a partner
 * is padded to four functions. In plans without SP pairs every shell is numbered by itself. */
#ifndef FMO_GPU_TYPES_CUH
#define FMO_GPU_TYPES_CUH

#include <cuda_runtime.h>

#include <fmo/eri_class.h>
#include "accumulate/tuning.h"
#include "integrals/far/far.h"
#include "integrals/tables.h"

/* Threads per block of the quartet kernels; most primitive pairs in a segment of a pair. */
enum { FMO_GPU_THREADS = fmo_tuning_gpu_threads, FMO_GPU_DEPTH_MAX = fmo_tuning_gpu_depth_large };

/* Pairs are screened in tiles of this many neighbours, one per lane of a warp. */
#define FMO_GPU_TILE_PAIRS 32

/* The fields of a primitive pair, read 16 bytes at a time: those of eri_common.h, then the ratio of
 * the s coefficient in an SP pair, then the Schwarz bound as a float in the low half. Prefactors
 * and ratios contain the degeneracy factor of a pair of equal shells (digest.h). */
enum {
    FMO_GPU_PAIR_RATIO = FMO_PAIR_FIELDS,
    FMO_GPU_PAIR_BOUND,
    FMO_GPU_PAIR_FIELDS,
    FMO_GPU_PAIR_TWOS = FMO_GPU_PAIR_FIELDS / 2
};

/* The number of single s functions is padded to a multiple of this, so that the four functions of
 * an SP shell in a row of a matrix are one 32-byte sector of memory. */
enum { FMO_GPU_ALIGN = 4 };
static __host__ __device__ constexpr int fmo_gpu_aligned(int functions)
{
    return (functions + FMO_GPU_ALIGN - 1) / FMO_GPU_ALIGN * FMO_GPU_ALIGN;
}

/* Number of functions of an SP shell with a p shell; sp: with the s function of its partner. */
static __host__ __device__ constexpr int fmo_gpu_sp_shell_width(int sp)
{
    return fmo_shell_functions(1) + (sp ? fmo_shell_functions(0) : 0);
}

/* First function of an SP shell: single s functions come first, the others have `width` functions.
 */
static __host__ __device__ inline int fmo_gpu_sp_shell_begin(int sp_shell, int single_s, int width)
{
    return sp_shell < single_s ? sp_shell
                               : fmo_gpu_aligned(single_s) + width * (sp_shell - single_s);
}

/* The Schwarz bound of a primitive pair, from its last two fields. */
static __device__ __forceinline__ float fmo_gpu_prim_bound(double2 ratio_bound)
{
    return __int_as_float(__double2loint(ratio_bound.y));
}

/* Screening data of a pair, read 16 bytes at a time. */
typedef struct fmo_gpu_screen_data {
    alignas(16) float bound; /* Schwarz bound, rounded up */
    /* bound times 4 |D| times the weight of J; estimates the effect of D of this pair on J, set in
     * every build */
    float coulomb_estimate;
    ushort2 sp_shell; /* SP shells that contain shells i and j */
    unsigned counts;  /* what the pair adds to a tally (below) */
} fmo_gpu_screen_data;

/* The estimates of a quartet for J and for K that screen.h compares with the cutoff, in floats.
 * exchange: the largest |D| that the quartet is multiplied with in K. */
static __device__ inline float fmo_gpu_in_J(const fmo_gpu_screen_data &bra,
                                            const fmo_gpu_screen_data &ket)
{
    return fmaxf(bra.coulomb_estimate * ket.bound, bra.bound * ket.coulomb_estimate);
}
static __device__ inline float fmo_gpu_in_K(const fmo_gpu_screen_data &bra,
                                            const fmo_gpu_screen_data &ket, float exchange)
{
    return bra.bound * ket.bound * exchange;
}

/* A tally: the counts of a thread in one word. Primitives of ket pairs, up to 1023, and, up to 127
 * each, pairs (only the first segment counts), pairs that include an ss pair, and quartets that
 * contribute to K. Values are the positions of the fields. */
enum {
    FMO_GPU_TALLY_PRIMS = 0,
    FMO_GPU_TALLY_PAIRS = 10,
    FMO_GPU_TALLY_CARRIED = 17,
    FMO_GPU_TALLY_EXCHANGES = 24
};
/* Returns one of these counts. */
static __host__ __device__ inline unsigned fmo_gpu_tally(unsigned word, int what)
{
    return word >> what & (what == FMO_GPU_TALLY_PRIMS ? 1023u : 127u);
}

/* One class of shell pairs, or their segments. SP shells of one s function come first, then those
 * with p functions; both are in descending order of the number of primitives, so that neighbouring
 * pairs have neighbouring SP shells. Pairs are sorted by number of primitives (descending), then
 * bound (in steps of 2^8), then i, then j. Lanes of a warp thus do equal work and add to equal rows
 * of the matrices in runs, and tiles of negligible pairs are skipped at once. The primitives of
 * pairs of equal depth are stored as [primitive][two fields][pair], so that the loads of
 * neighbouring lanes coalesce; those of one pair are in descending order of their bounds. */
typedef struct fmo_gpu_pairs {
    int num;
    const int4 *first; /* [num] first functions of i and j; number of primitives; stride in prim */
    fmo_gpu_screen_data *screen; /* [num] screening data */
    const unsigned *prim_at;     /* [num] index of the first value in prim */
    /* [num/FMO_GPU_TILE_PAIRS, rounded up] maxima over the pairs of each tile: bounds; Coulomb
     * estimates */
    const float *tile_bound;
    float *tile_coulomb_estimate;
    double *density; /* [products][num] D of the pair, set in every build; with SP pairs only */
    /* [products][num] sums for X^J; fixed-point integers under `fixed`; with SP pairs only */
    double *sums;
    const double *centre; /* [6][num] A, A - B */
    const double2 *prim;
    const unsigned *record_at; /* [num] index of the first primitive in record */
    const double2 *record;     /* the same primitives as [pair][primitive][field] */
    /* For far quartets (integrals/far/far.h); NULL without them: */
    float4 *sphere; /* [num] centre and radius of a sphere that contains the primitives' centres */
    /* [num] largest moments of order 0, 1, 2 of a product of functions, divided by the bound;
     * fmo_far_extent */
    float4 *reach;
    fmo_far_fit *fit; /* [num] errors of the nodes, relative to the bound */
    float *log_prims; /* [num] binary logarithm of the sum of the primitives' bounds */
    /* [FMO_GPU_FAR_SLOTS][fmo_gpu_far_twos][num] centre and coefficients of the nodes; for pp pairs
     * also the moments of D, set in every build */
    double2 *far;
    double *far_line; /* [num] AB times D of pairs of a p and an s shell, set in every build */
} fmo_gpu_pairs;

/* The nodes of choice 0 (1 node), then those of choice 1 (2 nodes), and so on. */
enum { FMO_GPU_FAR_SLOTS = 1 + 2 + 3 + 4 + FMO_FAR_NODES_MAX };
/* Slot of the first node of a choice. */
static __host__ __device__ inline int fmo_gpu_far_slot(int choice)
{
    return choice * (choice + 1) / 2;
}

/* Far quartets of class pppp that contribute to K are treated as near, because a thread has too few
 * registers for their sums (FMO_FAR_BLOCKS). */
enum { FMO_GPU_FAR_EXCHANGE_ORDER_MAX = 3 };
static __host__ __device__ constexpr bool fmo_gpu_far_exchanges(int eri_class)
{
    return fmo_eri_class_order(eri_class) <= FMO_GPU_FAR_EXCHANGE_ORDER_MAX;
}

/* Contents of a node of a pair class in `far`: centre and coefficients. For pairs of two p shells
 * the moments of D are stored, too, since they are fewer numbers than those they are computed from;
 * for pairs of a p and an s shell there is far_line. Sizes are in pairs of doubles. */
static __host__ __device__ constexpr bool fmo_gpu_far_keeps_line(int pair_class)
{
    return fmo_pair_order(pair_class) == 1;
}
static __host__ __device__ constexpr bool fmo_gpu_far_keeps_moments(int pair_class)
{
    return fmo_pair_order(pair_class) == 2;
}
static __host__ __device__ constexpr int fmo_gpu_far_geometry_twos(int pair_class)
{
    return (3 + FMO_FAR_COEFFICIENTS(pair_class)) / 2;
}
static __host__ __device__ constexpr int fmo_gpu_far_twos(int pair_class)
{
    return fmo_gpu_far_geometry_twos(pair_class) +
           (fmo_gpu_far_keeps_moments(pair_class) ? FMO_FAR_TERMS(2) / 2 : 0);
}

/* An entry of the lists of screened-in quartets. x: number of the bra pair. y: number of the ket
 * pair; above FMO_GPU_KET_BITS a five-bit code of the density factor, which is at most
 * 2^(FMO_GPU_FACTOR_TOP - code); in the sign bit whether the quartet contributes to K. Far quartets
 * have the choices of nodes in place of the code: FMO_FAR_CHOICES * bra + ket. */
enum {
    FMO_GPU_KET_BITS = 26,
    FMO_GPU_PAIRS_MAX = 1 << FMO_GPU_KET_BITS,
    FMO_GPU_FACTOR_MAX = 31, /* five bits */
    FMO_GPU_FACTOR_TOP = 6
};
#define FMO_GPU_EXCHANGE_BIT 0x80000000u
/* Set in x if the quartet does not contribute to J, since J of these pairs comes from multipole
 * expansions (gpu/boxes). */
#define FMO_GPU_EXCHANGE_ONLY_BIT (1 << 30)

/* The lists of screened-in quartets: those whose charge distributions may overlap (all quartets, in
 * systems without far ones); far ones that contribute to J alone; far ones that contribute to K. */
enum {
    FMO_GPU_NEAR,
    FMO_GPU_FAR_J,
    FMO_GPU_FAR_K,
    FMO_GPU_LISTS,
    /* Kernels: one for each list; one for all lists; those for lists in which entries may have
     * FMO_GPU_EXCHANGE_ONLY_BIT; and one for K of an operator other than 1/r, of the first list. */
    FMO_GPU_ALL = FMO_GPU_LISTS,
    FMO_GPU_NEAR_EXCHANGE_ONLY,
    FMO_GPU_FAR_K_EXCHANGE_ONLY,
    FMO_GPU_NEAR_OPERATOR,
    FMO_GPU_KERNELS
};

/* Counters in device memory, zeroed at the start of a build. */
typedef struct fmo_gpu_counters {
    unsigned screened_in[FMO_GPU_LISTS][FMO_ERI_LOW_L_COUNT]; /* of the running pass, by list */
    unsigned long long quartets[FMO_ERI_LOW_L_COUNT];         /* contracted quartets */
    /* quartets of segments, each the work of one thread */
    unsigned long long screened_in_num[FMO_ERI_LOW_L_COUNT];
    unsigned long long exchanges[FMO_ERI_LOW_L_COUNT]; /* of these, those that contribute to K */
    /* of these, those that do not contribute to J */
    unsigned long long exchange_only[FMO_ERI_LOW_L_COUNT];
    unsigned long long prim_quartets[FMO_ERI_LOW_L_COUNT];
    unsigned long long issued[FMO_ERI_LOW_L_COUNT];
    /* largest |D| of a block of a pair, times the weight of J; the bits of a non-negative double,
     * which compare like the number itself */
    unsigned long long density_largest;
    unsigned long long sink;
    double fixed_bound; /* bound on all elements of X */
    double fixed_scale; /* units of the fixed-point integers per hartree */
} fmo_gpu_counters;

/* The class of the quartet in which the bra pair (of_bra), the ket pair (of_ket) or both are
 * replaced by the ss pair that they include; FMO_ERI_CLASS_COUNT if there is none. */
static __host__ __device__ constexpr int fmo_gpu_carried_class(int eri_class, bool of_bra,
                                                               bool of_ket)
{
    const int bra = fmo_eri_class_bra(eri_class), ket = fmo_eri_class_ket(eri_class);
    return fmo_eri_class_of(of_bra ? fmo_pair_partner(bra) : bra,
                            of_ket ? fmo_pair_partner(ket) : ket);
}

/* Adds `pairs` quartets of SP pairs to the numbers of shell quartets by class, with the quartets
 * that these include. bra_carries: the bras include an ss pair; carried: number of those whose ket
 * includes one. */
static __device__ inline void fmo_gpu_count(unsigned long long *quartets, int eri_class,
                                            bool bra_carries, unsigned long long pairs,
                                            unsigned long long carried)
{
    atomicAdd(&quartets[eri_class], pairs);
    if (bra_carries) atomicAdd(&quartets[fmo_gpu_carried_class(eri_class, true, false)], pairs);
    if (!carried) return;
    atomicAdd(&quartets[fmo_gpu_carried_class(eri_class, false, true)], carried);
    if (bra_carries) atomicAdd(&quartets[fmo_gpu_carried_class(eri_class, true, true)], carried);
}

/* Corrects these counts for the quartet of an SP pair with itself, where the two quartets of one
 * pair and its included ss pair are the same. */
static __device__ inline void fmo_gpu_count_diagonal(unsigned long long *quartets, int eri_class)
{
    atomicAdd(&quartets[fmo_gpu_carried_class(eri_class, true, false)], ~0ull);
}

/* Largest |D| that a quartet is multiplied with in K, from block maxima; as fmo_screen_exchange, in
 * floats. stride: elements from one row to the next; 0 if one row of zeros replaces all (J alone).
 */
static __device__ inline float fmo_gpu_exchange_of(const float *block_max, int stride, ushort2 ij,
                                                   ushort2 kl)
{
    const float *const i = block_max + (size_t)ij.x * stride;
    const float *const j = block_max + (size_t)ij.y * stride;
    return fmaxf(fmaxf(i[kl.x], j[kl.x]), fmaxf(i[kl.y], j[kl.y]));
}

/* One class of quartets of one pass: its pairs and its lists of screened-in quartets. */
typedef struct fmo_gpu_class_view {
    fmo_gpu_pairs bra, ket;
    int same; /* bra and ket are the same list of pairs: ket <= bra */
    /* threshold on bound times bound times density factor of a primitive quartet */
    float prim_cutoff;
    const int2 *list;      /* list FMO_GPU_NEAR */
    const int2 *far_J_end; /* end of list FMO_GPU_FAR_J, which grows downwards */
    const int2 *far_K;
    const unsigned *count[FMO_GPU_LISTS];
} fmo_gpu_class_view;

/* One class of stored integrals, whose quartets are the list of the class view, with the data for
 * screening them. */
typedef struct fmo_gpu_stored_args {
    const double *eri; /* in the layout of kernels/stored.cuh */
    size_t kept;
    size_t piece; /* consecutive quartets that a warp screens, a power of two of at least 32 */
    const float *block_max; /* as in fmo_gpu_exchange_of, like stride */
    int stride;
    float cutoff;
    fmo_gpu_counters *counters;
} fmo_gpu_stored_args;

/* The matrices, in the kernels' order. X^J is summed pair by pair in fmo_gpu_pairs.sums, where the
 * sums of neighbouring lanes are adjacent; only `tile` adds to coulomb itself. */
typedef struct fmo_gpu_matrices {
    const double *density;      /* [nao][nao] */
    double *coulomb, *exchange; /* X^J, X^K of digest.h; fixed-point integers under `fixed` */
    /* elements from one copy to the next, of the pairs' sums and of X^K */
    size_t sums_stride, copy_stride;
    unsigned copies;
    int nao;               /* functions, including padding */
    double exchange_least; /* strategies that sum over runs add nothing smaller to X^K */
    const fmo_boys_table *boys;
    const fmo_operator *op;    /* for kernels of operators other than 1/r */
    const double *fixed_scale; /* for `fixed` */
    /* for `none`: one word, so that the compiler does not remove the integrals */
    unsigned long long *sink;
    unsigned long long *issued; /* number of atomics issued, added to; may be NULL */
    /* elements from one density to the next, and from the X^K of one to that of the next, for
     * kernels of two densities */
    size_t density_step, exchange_step;
} fmo_gpu_matrices;

typedef struct fmo_gpu_quartet_args {
    fmo_gpu_class_view view;
    fmo_gpu_matrices matrices;
} fmo_gpu_quartet_args;

#endif
