/* J of pairs that are far from each other by boxes (tree/), on a GPU
 * (docs/explanation/gpu/boxes.md): the multipoles of all pairs interact box by box, and lists of
 * quartets are left with what is near, and with K. Who is near is known before screening; the rest
 * goes on beside it. C++ only. */
#ifndef FMO_GPU_BOXES_H
#define FMO_GPU_BOXES_H

#include "accumulate/gpu/plan.h"
#include "accumulate/tree/decide.h"

/* Expansions: complex numbers for m >= 0 (tree/expansion.h); of both signs of m. */
enum {
    FMO_GPU_BOX_ORDER = fmo_tuning_gpu_box_order,
    FMO_GPU_BOX_TERMS = FMO_HARMONIC_TERMS(FMO_GPU_BOX_ORDER),
    FMO_GPU_BOX_STRENGTHS = FMO_GPU_BOX_ORDER + 1,
    FMO_GPU_BOX_FULL = (FMO_GPU_BOX_ORDER + 1) * (FMO_GPU_BOX_ORDER + 1)
};
/* Chunks of lists of boxes. */
enum { FMO_GPU_BOX_CHUNK = 128 };
static_assert((int)FMO_GPU_BOX_ORDER <= (int)FMO_BOX_ORDER_MAX, "order of expansions");

/* What screening wants to know of a class of pairs besides. Bits are those of 32-bit words. */
typedef struct fmo_gpu_box_pairs {
    const int *leaf; /* [num] leaf of a pair */
    /* [FMO_GPU_TILE_PAIRS][tiles] the same of the pairs of each tile, -1 beyond the last */
    const int *tile_leaf;
    int tiles, words;
    unsigned *tile_near; /* [leaf][words] tiles with a pair that is near to the leaf */
    /* [sets][tiles] the largest bound of a pair kl of the tile times max(|D_ik|, |D_il|) */
    float *tile_exchange;
} fmo_gpu_box_pairs;

/* What kernels see. */
typedef struct fmo_gpu_box_view {
    const fmo_box *box;                           /* [boxes] */
    const double *largest_bound, *largest_moment; /* [boxes] */
    const int *item;                              /* [items] pairs, numbered class after class */
    const double *bound, *moment;                 /* [items] by number: fmo_box_load, of one pair */
    const int *of_leaf;                           /* [leaves] */
    fmo_box_load *log_load;                       /* [boxes] */
    double2 *multipole, *potential;               /* [boxes][FMO_GPU_BOX_TERMS] */
    float *strength; /* [boxes][FMO_GPU_BOX_STRENGTHS] of the multipoles */
    unsigned *near;  /* [leaves][words] bits: leaves */
    /* What boxes of some levels leave open, in chunks of `open`, each of which knows the next:
     * [boxes] the first and how many; where chunks ran out, -1. */
    int2 *opened;
    unsigned *open;
    int *next_open, *open_num; /* [chunks]; chunks in use */
    int open_chunks;
    int words, leaves, first[FMO_PAIR_LOW_L_COUNT + 1];
    fmo_gpu_box_pairs of[FMO_PAIR_LOW_L_COUNT];
    fmo_box_rule rule;
} fmo_gpu_box_view;

typedef struct fmo_gpu_boxes {
    fmo_boxes tree; /* host; its numbers and levels */
    fmo_gpu_box_view view;
} fmo_gpu_boxes;

/* Boxes of the plan's pairs, where they are asked for or repay it: sets g->boxes. */
fmo_status fmo_gpu_make_boxes(fmo_fock_plan *plan, fmo_error *err);
void fmo_gpu_forget_boxes(fmo_gpu_state *g);
/* Host memory that they keep; NULL: none. */
size_t fmo_gpu_box_host_bytes(const fmo_gpu_boxes *boxes);

/* Of the running density: who is near to whom, and what may exchange, on the stream. */
cudaError_t fmo_gpu_box_neighbours(const fmo_fock_plan *plan, cudaStream_t stream);
/* Then multipoles, potentials, and what they add to the pairs' sums. `fixed`: fixed point. */
cudaError_t fmo_gpu_box_potentials(const fmo_fock_plan *plan, bool fixed, cudaStream_t stream);

/* ---- device functions ------------------------------------------------------------------------ */

/* Order l and m >= 0 of term t. */
static __device__ __forceinline__ int2 fmo_gpu_box_term(int t)
{
    int l = (int)((sqrtf(8.0f * (float)t + 1.0f) - 1.0f) * 0.5f);
    if (fmo_harmonic(l + 1, 0) <= t) l++;
    if (fmo_harmonic(l, 0) > t) l--;
    return make_int2(l, t - fmo_harmonic(l, 0));
}

/* Number of (l, m), m of either sign, in an expansion of both. */
static __device__ __forceinline__ int fmo_gpu_box_both(int l, int m)
{
    return l * (l + 1) + m;
}

/* (l, m) and (l, -m) of harmonics R or I: R_l(-m) = (-1)^m conj R_lm. */
static __device__ __forceinline__ void fmo_gpu_put_both(double2 *to, int l, int m, double re,
                                                        double im)
{
    to[fmo_gpu_box_both(l, m)] = make_double2(re, im);
    to[fmo_gpu_box_both(l, -m)] = m & 1 ? make_double2(-re, im) : make_double2(re, -im);
}

/* Regular harmonics up to an order (at most 31), by the recursions of tree/expansion.h, a column of
 * one m to a lane of the warp; BOTH signs of m, or m >= 0. inverse[n] = 1/n. */
template <bool BOTH>
static __device__ __forceinline__ void fmo_gpu_box_regular(int order, const double *at,
                                                           const double *inverse, double2 *R)
{
    const int m = threadIdx.x % 32;
    const double x = at[0], y = at[1], z = at[2], r2 = x * x + y * y + z * z;
    double2 one = make_double2(1.0, 0.0), two = make_double2(0.0, 0.0);
    if (m > order) return;
    for (int k = 1; k <= m; k++) {
        const double under = -0.5 * inverse[k];
        one = make_double2(under * (x * one.x - y * one.y), under * (x * one.y + y * one.x));
    }
    for (int n = m; n <= order; n++) {
        if (BOTH)
            fmo_gpu_put_both(R, n, m, one.x, one.y);
        else
            R[fmo_harmonic(n, m)] = one;
        const double under = inverse[n + 1 + m] * inverse[n + 1 - m];
        const double up = (2 * n + 1) * under * z, down = under * r2;
        const double2 next = make_double2(up * one.x - down * two.x, up * one.y - down * two.y);
        two = one;
        one = next;
    }
}

/* The same of irregular ones, both signs. */
static __device__ __forceinline__ void fmo_gpu_box_irregular(int order, const double *at,
                                                             double2 *I)
{
    const int m = threadIdx.x % 32;
    const double x = at[0], y = at[1], z = at[2];
    const double root = fmo_rsqrt(x * x + y * y + z * z), over = root * root;
    const double xo = x * over, yo = y * over, zo = z * over;
    double2 one = make_double2(root, 0.0), two = make_double2(0.0, 0.0);
    if (m > order) return;
    for (int k = 1; k <= m; k++) {
        const double factor = -(2 * k - 1);
        one = make_double2(factor * (xo * one.x - yo * one.y), factor * (xo * one.y + yo * one.x));
    }
    for (int n = m; n <= order; n++) {
        fmo_gpu_put_both(I, n, m, one.x, one.y);
        const double up = (2 * n + 1) * zo, down = ((double)n * n - (double)m * m) * over;
        const double2 next = make_double2(up * one.x - down * two.x, up * one.y - down * two.y);
        two = one;
        one = next;
    }
}

/* Inverses for fmo_gpu_box_regular, by all threads of a block. */
enum { FMO_GPU_BOX_INVERSES = 2 * FMO_GPU_BOX_ORDER + 2 };
static __device__ __forceinline__ void fmo_gpu_box_invert(double *inverse)
{
    for (int n = threadIdx.x; n < FMO_GPU_BOX_INVERSES; n += blockDim.x)
        inverse[n] = n ? 1.0 / n : 0.0;
}

#endif
