/* Derivatives of two-electron energies on a GPU (docs/explanation/gradients.md): data of a plan
 * and the steps of a call.
 *
 *   density   block maxima for K; Hermite densities of all primitive pairs for J (density.cu)
 *   J         Hermite potentials of one order more than the pairs', a warp for each primitive pair,
 *             contracted with the derivatives of its density (coulomb.cu)
 *   K         quartets that pass screening, each in the lanes of a warp, with the density folded in
 *             (exchange.cu; integrals/eri/eri_gradient.h)
 *
 * Sums are 64-bit integers, so that they have the same bits in any order. C++ only. */
#ifndef FMO_GPU_GRADIENT_H
#define FMO_GPU_GRADIENT_H

#include "accumulate/gpu/gradient/lists.h"
#include "accumulate/gpu/plan.h"

/* The pairs of a class, in GPU memory (lists.h). A point is a primitive pair as J sees it; points
 * are sorted by their bounds, and their number is a multiple of the tile size. */
typedef struct fmo_gradient_pairs {
    int num, prim_num, points;
    const fmo_gradient_pair *pair;
    const fmo_gradient_prim *prim;
    const int *pair_of;  /* [primitive pairs] */
    const int *point;    /* [points] primitive pairs; -1: padding */
    const double *place; /* [4][points] P, exponent */
    const float2 *tile;  /* [tiles of pairs] the largest bound and derivative bound */
    /* computed in every call: bound and derivative bound of each point times its density, with the
     * weight of J in screening, and the largest of a tile; Hermite densities with prefactors and
     * (-1)^q; potentials */
    float2 *strength, *tile_strength;
    double *density;   /* [FMO_HERMITE_COUNT(order)][points] */
    double *potential; /* [FMO_HERMITE_COUNT(order + 1)][points] */
} fmo_gradient_pairs;

/* Streams for the classes of K, beside that of J. */
enum { FMO_GRADIENT_STREAMS = 3 };

/* Sums in units of 1/scale. */
typedef struct fmo_gradient_sums {
    unsigned long long *sum; /* [nuclei][3] */
    unsigned *too_large;     /* 1: a value was not finite, or too large for an integer */
    double scale;
    int components;
} fmo_gradient_sums;

/* The state of a plan of mode fused (plan->state), made in its first call. */
typedef struct fmo_gpu_gradient {
    int sets, nao;
    const fmo_gradient_set *set;
    const fmo_gradient_tables *tables;
    fmo_gradient_pairs pairs[FMO_PAIR_UNROLLED_COUNT];
    float *block_max, *row_max; /* [sets][sets], [sets] of K */
    fmo_gradient_sums sums;
    unsigned *item; /* [FMO_ERI_UNROLLED_COUNT] next item of each class of K */
    cudaStream_t stream[FMO_GRADIENT_STREAMS];
    cudaEvent_t begun, ended[FMO_GRADIENT_STREAMS];
    /* internal functions as linear combinations of the caller's: [nao + 1], [in_begin[nao]] */
    int caller_nao;
    const int *in_begin, *in_from;
    const double *in_factor;
} fmo_gpu_gradient;

/* One operator's terms of J or K in a call. */
typedef struct fmo_gradient_pass {
    const fmo_gpu_gradient *h;
    const double *boys;
    fmo_operator op;
    fmo_gradient_density coulomb;         /* of J */
    const fmo_gradient_density *exchange; /* of K: in GPU memory */
    int term_num;
    double coulomb_weight; /* of J in screening */
    float cutoff, prim_cutoff;
    int processors;
    size_t shared_bytes;
    cudaStream_t stream;
} fmo_gradient_pass;

/* Adds a value to component `at`; `sum` is of->sum or a copy in shared memory. */
static __device__ __forceinline__ void
fmo_gradient_add(const fmo_gradient_sums &sums, unsigned long long *sum, int at, double value)
{
    const double scaled = value * sums.scale;
    if (!(fabs(scaled) < 0x1p56)) *sums.too_large = 1;
    atomicAdd(&sum[at], (unsigned long long)__double2ll_rn(scaled));
}

/* density.cu: D over internal functions from that over the caller's; the maxima of the terms of K;
 * the Hermite densities and strengths of J's term. */
cudaError_t fmo_gradient_order_density(const fmo_gpu_gradient *h, const double *in, double *out,
                                       cudaStream_t stream);
cudaError_t fmo_gradient_exchange_maxima(const fmo_gradient_pass *pass);
cudaError_t fmo_gradient_densities(const fmo_gradient_pass *pass);
/* coulomb.cu: adds the derivatives of J. */
cudaError_t fmo_gradient_coulomb(const fmo_gradient_pass *pass);
/* exchange.cu: adds the derivatives of K. */
cudaError_t fmo_gradient_exchange_all(const fmo_gradient_pass *pass);

/* state.cu: frees a plan's data; the GPU must have finished. */
void fmo_gpu_gradient_free(fmo_fock_plan *plan);

#endif
