/* What the kernels see: views of device memory, passed by value. kernels/quartet.cuh has the
 * arithmetic, kernels/near.cuh the accumulation, gpu/screen.cu the screened-in quartets. */
#ifndef FMO_GPU_TYPES_CUH
#define FMO_GPU_TYPES_CUH

#include <cuda_runtime.h>

#include <fmo/eri_class.h>
#include "accumulate/tuning.h"
#include "integrals/far/far.h"
#include "integrals/tables.h"

/* Threads of a block in the quartet kernels; primitives of the longest segment of a pair. */
enum { FMO_GPU_THREADS = fmo_tuning_gpu_threads, FMO_GPU_DEPTH_MAX = fmo_tuning_gpu_depth_large };

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
static __host__ __device__ constexpr int fmo_gpu_aligned(int functions)
{
    return (functions + FMO_GPU_ALIGN - 1) / FMO_GPU_ALIGN * FMO_GPU_ALIGN;
}

/* Functions of a set that is not of one s alone: those of the next kind of shell, and of its sp
 * partner. */
static __host__ __device__ constexpr int fmo_gpu_set_width(int sp)
{
    return fmo_shell_functions(1) + (sp ? fmo_shell_functions(0) : 0);
}

/* First function of a set: those of one s function come first, all others are `width` wide. */
static __host__ __device__ inline int fmo_gpu_set_begin(int set, int s_sets, int width)
{
    return set < s_sets ? set : fmo_gpu_aligned(s_sets) + width * (set - s_sets);
}

/* The Schwarz bound of a primitive pair, from its last two fields. */
static __device__ __forceinline__ float fmo_gpu_prim_bound(double2 ratio_bound)
{
    return __int_as_float(__double2loint(ratio_bound.y));
}

/* What the screening rule wants to know of a pair, read 16 bytes at a time. */
typedef struct fmo_gpu_screen_data {
    alignas(16) float bound; /* Schwarz bound, rounded up */
    float coulomb_estimate;  /* the same times 4 |D| and the weight of J: what it can do to J, made
                              * in every build */
    ushort2 set;             /* sets i, j */
    unsigned counts;         /* what it adds to a tally */
} fmo_gpu_screen_data;

/* The rule of screen.h for J, and for K with what a quartet interacts there, in floats. */
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

/* What a thread counts, in one word: primitives of kets, up to 1023, and, up to 127 each, pairs
 * (not their further segments), those that carry an ss pair along, quartets that count in K. */
enum {
    FMO_GPU_TALLY_PRIMS = 0,
    FMO_GPU_TALLY_PAIRS = 10,
    FMO_GPU_TALLY_CARRIED = 17,
    FMO_GPU_TALLY_EXCHANGES = 24
};
static __host__ __device__ inline unsigned fmo_gpu_tally(unsigned word, int what)
{
    return word >> what & (what == FMO_GPU_TALLY_PRIMS ? 1023u : 127u);
}

/* One class of shell pairs. Shells are numbered as the kernels see them: in a plan with sp pairs a
 * p shell and its partner are one set of four functions, s x y z; s shells without partner come
 * first, and both kinds stand in descending order of primitives, so that the sets of neighbouring
 * pairs are neighbours. Pairs are sorted by number of primitives (descending), then bound (in steps
 * of 2^8), then i, then j: lanes of a warp do equal work and interact equal rows in runs, and tiles
 * of pairs too small to matter are passed over at once. Primitives of pairs of equal depth lie
 * [primitive][two fields][pair], so that neighbouring pairs are read together; those of one pair
 * are in descending order of their bounds. */
typedef struct fmo_gpu_pairs {
    int num;
    const int4 *first;         /* [num] first functions of i and j, primitives, stride in prim */
    fmo_gpu_screen_data *rule; /* [num] */
    const unsigned *prim_at;   /* [num] first value in prim */
    /* [num/FMO_GPU_TILE_PAIRS] the largest of each tile of pairs: bounds, and rule.Coulomb estimate
     */
    const float *tile_bound;
    float *tile_coulomb_estimate;
    double *density; /* [products][num] D of the pair, made in every build; with sp pairs */
    double *sums;    /* [products][num] what X^J gets; fixed point under `fixed`; with sp pairs */
    const double *center; /* [6][num] A, A - B */
    const double2 *prim;
    const unsigned *record_at; /* [num] first primitive in record */
    const double2 *record;     /* the same primitives, [primitive][field] pair after pair */
    /* For far quartets (far.h), NULL without them: */
    float4 *sphere;   /* [num] middle of the primitives' centres, and how far they are from it */
    float4 *reach;    /* [num] largest moments of order 0, 1, 2 of a product, over the bound, and
                       * fmo_far_extent */
    fmo_far_fit *fit; /* [num] errors of nodes, relative to the bound */
    double2 *far; /* [FMO_GPU_FAR_SLOTS][fmo_gpu_far_twos][num] centre, coefficients; of pp pairs
                   * the moments of D, made in every build */
    double *far_line; /* [num] AB times D of a pair of a p and an s shell, made in every build */
} fmo_gpu_pairs;

/* The nodes of choice 0, then those of choice 1, ... */
enum { FMO_GPU_FAR_SLOTS = 1 + 2 + 3 + 4 + FMO_FAR_NODES_MAX };
static __host__ __device__ inline int fmo_gpu_far_slot(int choice)
{
    return choice * (choice + 1) / 2;
}

/* Far quartets of the heaviest class that count in K stay near: no thread has registers for their
 * sums (FMO_FAR_BLOCKS). */
enum { FMO_GPU_FAR_EXCHANGE_ORDER_MAX = 3 };
static __host__ __device__ constexpr bool fmo_gpu_far_exchanges(int eri_class)
{
    return fmo_eri_class_order(eri_class) <= FMO_GPU_FAR_EXCHANGE_ORDER_MAX;
}

/* What a node of a pair class takes in `far`: centre and coefficients, and of pairs of two p
 * shells, whose moments are fewer than what they are made from, the moments. */
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

/* A screened-in quartet: x the bra pair; y the ket pair and, above FMO_GPU_KET_BITS, how small the
 * density factor is, so that it is at most 2^(FMO_GPU_FACTOR_TOP - code), and whether the quartet
 * counts in K. Far quartets have the choices of nodes in place of the factor, FMO_FAR_CHOICES bra +
 * ket. */
enum {
    FMO_GPU_KET_BITS = 26,
    FMO_GPU_PAIRS_MAX = 1 << FMO_GPU_KET_BITS,
    FMO_GPU_FACTOR_MAX = 31, /* five bits */
    FMO_GPU_FACTOR_TOP = 6
};
#define FMO_GPU_EXCHANGE_BIT 0x80000000u
/* In x, where J of far pairs comes from boxes (gpu/boxes): the quartet does not count in J. */
#define FMO_GPU_EXCHANGE_ONLY_BIT (1 << 30)

/* The lists of screened-in quartets: quartets whose pairs may overlap, in systems without far
 * quartets all; far ones that count in J alone; far ones that count in K. */
enum {
    FMO_GPU_NEAR,
    FMO_GPU_FAR_J,
    FMO_GPU_FAR_K,
    FMO_GPU_LISTS,
    /* Kernels: one for each list, and one for all of them; and for the lists whose quartets may
     * count in K alone, as FMO_GPU_EXCHANGE_ONLY_BIT says. */
    FMO_GPU_ALL = FMO_GPU_LISTS,
    FMO_GPU_NEAR_EXCHANGE_ONLY,
    FMO_GPU_FAR_K_EXCHANGE_ONLY,
    FMO_GPU_KERNELS
};

/* Counters in device memory, zeroed at the start of a build. */
typedef struct fmo_gpu_counters {
    unsigned screened_in[FMO_GPU_LISTS][FMO_ERI_LOW_L_COUNT]; /* of the running pass */
    unsigned long long quartets[FMO_ERI_LOW_L_COUNT];         /* contracted */
    unsigned long long
        screened_in_num[FMO_ERI_LOW_L_COUNT]; /* pairs of segments of pairs: threads' work */
    unsigned long long exchanges[FMO_ERI_LOW_L_COUNT];     /* those that count in K */
    unsigned long long exchange_only[FMO_ERI_LOW_L_COUNT]; /* those that keep out of J */
    unsigned long long prim_quartets[FMO_ERI_LOW_L_COUNT];
    unsigned long long issued[FMO_ERI_LOW_L_COUNT];
    unsigned long long density_largest; /* of pairs, times the weight of J; bits of a double >= 0,
                                         * which order like it */
    unsigned long long sink;
    double fixed_bound; /* of every element of X */
    double fixed_scale; /* units of the fixed-point integers per hartree */
} fmo_gpu_counters;

/* The class of two pairs where one, both or none stand for what they carry along;
 * FMO_ERI_CLASS_COUNT where there is no such class. */
static __host__ __device__ constexpr int fmo_gpu_carried_class(int eri_class, bool of_bra,
                                                               bool of_ket)
{
    const int bra = fmo_eri_class_bra(eri_class), ket = fmo_eri_class_ket(eri_class);
    return fmo_eri_class_of(of_bra ? fmo_pair_partner(bra) : bra,
                            of_ket ? fmo_pair_partner(ket) : ket);
}

/* Adds to the numbers of shell quartets by class those of `pairs` pairs of pairs; in `carried` of
 * them the ket carries a pair along, in all of them the bra, if bra_carries. */
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

/* Where a pair that carries another along interacts itself, the two mixed quartets are one. */
static __device__ inline void fmo_gpu_count_diagonal(unsigned long long *quartets, int eri_class)
{
    atomicAdd(&quartets[fmo_gpu_carried_class(eri_class, true, false)], ~0ull);
}

/* What a quartet interacts in K, from block maxima: fmo_screen_exchange of its rows, in floats.
 * Rows are `stride` exchange_only, 0 where one row of zeros stands for all (J alone). */
static __device__ inline float fmo_gpu_exchange_of(const float *block_max, int stride, ushort2 ij,
                                                   ushort2 kl)
{
    const float *const i = block_max + (size_t)ij.x * stride;
    const float *const j = block_max + (size_t)ij.y * stride;
    return fmaxf(fmaxf(i[kl.x], j[kl.x]), fmaxf(i[kl.y], j[kl.y]));
}

/* One class of quartets of one pass: pairs, and the list of screened-in quartets. */
typedef struct fmo_gpu_class_view {
    fmo_gpu_pairs bra, ket;
    int same;              /* bra and ket are one list: ket <= bra */
    float prim_cutoff;     /* on bound times bound times density factor of a primitive quartet */
    const int2 *list;      /* FMO_GPU_NEAR */
    const int2 *far_J_end; /* downwards from here */
    const int2 *far_K;
    const unsigned *count[FMO_GPU_LISTS];
} fmo_gpu_class_view;

/* One class of kept integrals, whose quartets are the list of the class view, and what screening
 * them takes. */
typedef struct fmo_gpu_stored_args {
    const double *eri; /* as kernels/stored.cuh lays them out */
    size_t kept;
    size_t piece;           /* quartets that a warp screens in a row, a power of two from 32 on */
    const float *block_max; /* as fmo_gpu_exchange_of has it */
    int stride;
    float cutoff;
    fmo_gpu_counters *counters;
} fmo_gpu_stored_args;

/* The matrices, in internal order. X^J is summed pair by pair (fmo_gpu_pairs.sums), where the pairs
 * of neighbouring lanes are neighbours, but under `tile`. */
typedef struct fmo_gpu_matrices {
    const double *density;      /* [nao][nao] */
    double *coulomb, *exchange; /* X^J, X^K of digest.h; fixed point under `fixed` */
    /* values between copies of sums and of X^K under `replicated` */
    size_t sums_stride, copy_stride;
    unsigned copies;
    int nao;               /* functions, those that fill up sp sets included */
    double exchange_least; /* less is not added to X^K, by strategies that sum over runs */
    const fmo_boys_table *boys;
    const double *fixed_scale;  /* for `fixed` */
    unsigned long long *sink;   /* for `none`: one word */
    unsigned long long *issued; /* atomics issued, added to; may be NULL */
} fmo_gpu_matrices;

typedef struct fmo_gpu_quartet_args {
    fmo_gpu_class_view view;
    fmo_gpu_matrices matrices;
} fmo_gpu_quartet_args;

#endif
