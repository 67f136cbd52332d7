/* The Coulomb matrix J of well-separated shell pairs from multipole expansions, on a GPU. The cells
 * ("boxes" in names) and the far criterion are those of accumulate/tree/, equations are in
 * docs/explanation/multipoles.md, the steps of a build in docs/explanation/gpu/boxes.md. Cells that
 * are far from each other interact through their multipoles; the lists of quartets then hold only
 * what is near, or contributes to K. Which leaves are near to each other is determined before
 * screening; the interactions run concurrently with the quartets. C++ only. */
#ifndef FMO_GPU_BOXES_H
#define FMO_GPU_BOXES_H

#include "accumulate/gpu/plan.h"
#include "accumulate/tree/decide.h"
#include "accumulate/tuning.h"

/* Highest order l of an expansion, and its number of complex terms (l, m): TERMS has m >= 0
 * (tree/expansion.h), FULL has both signs of m. STRENGTHS: orders 0 to the highest. */
enum {
    FMO_GPU_BOX_ORDER = fmo_tuning_gpu_box_order,
    FMO_GPU_BOX_TERMS = FMO_HARMONIC_TERMS(FMO_GPU_BOX_ORDER),
    FMO_GPU_BOX_STRENGTHS = FMO_GPU_BOX_ORDER + 1,
    FMO_GPU_BOX_FULL = (FMO_GPU_BOX_ORDER + 1) * (FMO_GPU_BOX_ORDER + 1)
};
/* Entries of a chunk of fmo_gpu_box_view.open. */
enum { FMO_GPU_BOX_CHUNK = fmo_tuning_gpu_box_chunk };
static_assert((int)FMO_GPU_BOX_ORDER <= (int)FMO_BOX_ORDER_MAX, "order of expansions");

/* Additional screening data of a class of pairs. Bit sets are stored in 32-bit words. SP shells:
 * types.cuh. */
typedef struct fmo_gpu_box_pairs {
    const int *leaf; /* [num] number of the leaf that holds the pair */
    /* [FMO_GPU_TILE_PAIRS][tiles] the same for the pairs of each tile, -1 beyond the last pair */
    const int *tile_leaf;
    int tiles, words;
    unsigned *tile_near; /* [leaf][words] bits: 1 if a pair of the tile is near to the leaf */
    /* [sp_shells][tiles] the largest Schwarz bound of a pair kl of the tile times max(|D_ik|,
     * |D_il|) */
    float *tile_exchange;
} fmo_gpu_box_pairs;

/* The arguments of kernels: the tree, and arrays in GPU memory. */
typedef struct fmo_gpu_box_view {
    const fmo_box *box;                           /* [boxes] */
    const double *largest_bound, *largest_moment; /* [boxes] */
    const int *item;                /* [items] pairs, numbered class after class, cell by cell */
    const double *bound, *moment;   /* [items] by pair: see fmo_box_load */
    const int *of_leaf;             /* [leaves] the cell of each leaf */
    fmo_box_load *log_load;         /* [boxes] */
    double2 *multipole, *potential; /* [boxes][FMO_GPU_BOX_TERMS] */
    float *strength;                /* [boxes][FMO_GPU_BOX_STRENGTHS] fmo_box_strength by order */
    unsigned *near;                 /* [leaves][words] a bit for each leaf: 1 if it is near */
    /* For cells of every STEPS-th level (interact.cu): the other cells of the pairs that are left
     * to the children, in linked chunks of `open`. opened: [boxes] the first chunk and the number
     * of entries; that number is -1 where nothing is stored because the chunks did not suffice. */
    int2 *opened;
    unsigned *open;
    int *next_open, *open_num; /* [chunks] the following chunk; the number of chunks requested */
    int open_chunks;
    int words, leaves, first[FMO_PAIR_LOW_L_COUNT + 1];
    fmo_gpu_box_pairs of[FMO_PAIR_LOW_L_COUNT];
    fmo_box_criterion criterion;
} fmo_gpu_box_view;

typedef struct fmo_gpu_boxes {
    fmo_boxes tree; /* on the host; after plan creation only its numbers and levels */
    fmo_gpu_box_view view;
} fmo_gpu_boxes;

/* Makes the cells of the plan's pairs and sets g->boxes, if they are requested or expected to save
 * time; leaves it NULL otherwise. */
fmo_status fmo_gpu_make_boxes(fmo_fock_plan *plan, fmo_error *err);
void fmo_gpu_free_boxes(fmo_gpu_state *g);
/* Bytes of host memory in use; 0 for NULL. */
size_t fmo_gpu_box_host_bytes(const fmo_gpu_boxes *boxes);

/* Determines, for the running build's density, which leaves are near to each other (for J) and the
 * exchange bound of each tile (for K). Asynchronous, on the stream. */
cudaError_t fmo_gpu_box_neighbours(const fmo_fock_plan *plan, cudaStream_t stream);
/* Afterwards computes multipoles and potentials and adds X^J to the pairs' sums. `fixed`: these are
 * fixed-point numbers. */
cudaError_t fmo_gpu_box_potentials(const fmo_fock_plan *plan, bool fixed, cudaStream_t stream);

/* ---- device functions ------------------------------------------------------------------------ */

/* Returns order l and m >= 0 of term t of an expansion. */
static __device__ __forceinline__ int2 fmo_gpu_box_term(int t)
{
    int l = (int)((sqrtf(8.0f * (float)t + 1.0f) - 1.0f) * 0.5f);
    if (fmo_harmonic(l + 1, 0) <= t) l++;
    if (fmo_harmonic(l, 0) > t) l--;
    return make_int2(l, t - fmo_harmonic(l, 0));
}

/* Returns the index of (l, m) in an expansion with both signs of m. */
static __device__ __forceinline__ int fmo_gpu_box_both(int l, int m)
{
    return l * (l + 1) + m;
}

/* Stores (l, m) and (l, -m) of harmonics R or I, which satisfy R_l(-m) = (-1)^m conj R_lm. */
static __device__ __forceinline__ void fmo_gpu_put_both(double2 *to, int l, int m, double re,
                                                        double im)
{
    to[fmo_gpu_box_both(l, m)] = make_double2(re, im);
    to[fmo_gpu_box_both(l, -m)] = m & 1 ? make_double2(-re, im) : make_double2(re, -im);
}

/* Computes the regular solid harmonics at the point `at` up to an order (at most 31) by the
 * recursions of tree/expansion.h; each lane of the warp computes all l of one m. BOTH: both signs
 * of m are stored, otherwise m >= 0. inverse[n] = 1/n. */
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

/* Computes the irregular solid harmonics in the same way, both signs of m. */
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

/* Fills in inverse[n] = 1/n for fmo_gpu_box_regular, by all threads of a block. The caller
 * synchronises. */
enum { FMO_GPU_BOX_INVERSES = 2 * FMO_GPU_BOX_ORDER + 2 };
static __device__ __forceinline__ void fmo_gpu_box_invert(double *inverse)
{
    for (int n = threadIdx.x; n < FMO_GPU_BOX_INVERSES; n += blockDim.x)
        inverse[n] = n ? 1.0 / n : 0.0;
}

#endif
