/* Derivatives of two-electron energies on a GPU (docs/explanation/gradients.md): the data of a
 * group of molecules, which share all launches, and the steps of a call.
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
#include "accumulate/tuning.h"

/* A molecule of a group: where its data are in the arrays of all, and their numbers. Pairs and
 * points begin at multiples of the tile size. */
typedef struct fmo_gradient_molecule {
    int nao, caller_nao, sp_shells;
    int sp_shell, function,
        nucleus;                 /* its first: of h->sp_shell, row_max, of in_begin, of the sums */
    size_t matrix, given, block; /* first elements: of a density over internal functions and over
                                    the caller's, of block_max */
    double coulomb_weight;       /* weight of J in screening */
    struct {
        int pair, pairs, prim, point, points;
    } of[FMO_PAIR_GPU_COUNT];
} fmo_gradient_molecule;

/* The pairs of a class, in GPU memory (lists.h), molecule by molecule. A point is a primitive pair
 * as J sees it; those of a molecule are sorted by their bounds. */
typedef struct fmo_gradient_pairs {
    int pairs, prims, points; /* with padding: pairs without primitives, points -1 */
    int pairs_max;            /* largest number of pairs of a molecule */
    const fmo_gradient_pair *pair;
    const fmo_gradient_prim *prim;
    const int *pair_of;       /* [prims] */
    const int *point;         /* [points] primitive pairs */
    const int *tile_molecule; /* [tiles of points] */
    const double *place;      /* [4][points] P, exponent */
    const float2 *tile;       /* [tiles of pairs] the largest bound and derivative bound */
    /* computed in every call: bound and derivative bound of each point times its density, with the
     * weight of J in screening, and the largest of a tile; Hermite densities with prefactors and
     * (-1)^q; potentials */
    float2 *strength, *tile_strength;
    double *density;   /* [FMO_HERMITE_COUNT(order)][points] */
    double *potential; /* [FMO_HERMITE_COUNT(order + 1)][points] */
} fmo_gradient_pairs;

/* Streams for the classes of K, beside that of J. */
enum { FMO_GRADIENT_STREAMS = fmo_tuning_gpu_gradient_streams };

/* Sums of all molecules, those of a molecule in units of 1/scale. */
typedef struct fmo_gradient_sums {
    unsigned long long *sum; /* [nuclei][3] */
    unsigned *too_large; /* [molecules] 1: a value was not finite, or too large for an integer */
    double *scale;       /* [molecules], set by every call */
    int components;
} fmo_gradient_sums;

/* The data of a group. A plan of mode fused keeps those of its molecule, made in its first call, in
 * plan->state; those of several molecules belong to one call. */
typedef struct fmo_gpu_gradient {
    int molecules, sp_shells, functions; /* sp_shells, functions: largest numbers of one molecule */
    const fmo_gradient_molecule *molecule;
    const fmo_gradient_sp_shell *sp_shell;
    const fmo_gradient_tables *tables;
    fmo_gradient_pairs pairs[FMO_PAIR_GPU_COUNT];
    float *block_max, *row_max; /* [sp_shells][sp_shells] of each molecule, [sp_shells] of all */
    fmo_gradient_sums sums;
    unsigned *item; /* [FMO_ERI_GPU_COUNT] next item of each class of K */
    cudaStream_t stream[FMO_GRADIENT_STREAMS];
    cudaEvent_t begun, ended[FMO_GRADIENT_STREAMS];
    /* internal functions as linear combinations of the caller's, for each molecule: [nao + 1],
     * [in_begin[nao]] */
    const int *in_begin, *in_from;
    const double *in_factor;
    /* on the host */
    fmo_gradient_molecule total, *host; /* sums of all numbers above; [molecules] */
    void *memory;                       /* of a group on the GPU; NULL: of the plan's arena */
    size_t bytes;
} fmo_gpu_gradient;

/* One operator's terms of J or K in a call. */
typedef struct fmo_gradient_pass {
    const fmo_gpu_gradient *h;
    const double *boys;
    fmo_operator op;
    const fmo_gradient_density *term; /* [molecules][term_num], in GPU memory; of J one */
    int term_num;
    float cutoff, prim_cutoff;
    int processors;
    size_t shared_bytes;   /* of a block, at most */
    size_t *lacking_bytes; /* set if a class needs more */
    cudaStream_t stream;
} fmo_gradient_pass;

/* Adds a value to component `at` of a molecule; `sum` is of->sum or a copy in shared memory. */
static __device__ __forceinline__ void fmo_gradient_add(const fmo_gradient_sums &sums,
                                                        unsigned long long *sum, int molecule,
                                                        int at, double value)
{
    const double scaled = value * sums.scale[molecule];
    if (!(fabs(scaled) < 0x1p56)) sums.too_large[molecule] = 1;
    atomicAdd(&sum[at], (unsigned long long)__double2ll_rn(scaled));
}

/* state.cu: the data of the molecules of `num` plans on one GPU, which a group's caller frees. */
fmo_status fmo_gradient_make(fmo_fock_plan *const *plan, int num, fmo_gpu_gradient **made,
                             fmo_error *err);
void fmo_gradient_free(fmo_gpu_device *device, fmo_gpu_gradient *h); /* NULL is allowed */

/* density.cu: D over internal functions from that over the caller's, of all molecules; the maxima
 * of the terms of K; the Hermite densities and strengths of J's term. */
cudaError_t fmo_gradient_order_density(const fmo_gpu_gradient *h, const double *in, double *out,
                                       cudaStream_t stream);
cudaError_t fmo_gradient_exchange_maxima(const fmo_gradient_pass *pass);
cudaError_t fmo_gradient_densities(const fmo_gradient_pass *pass);
/* coulomb.cu: adds the derivatives of J. */
cudaError_t fmo_gradient_coulomb(const fmo_gradient_pass *pass);
/* exchange.cu: adds the derivatives of K. */
cudaError_t fmo_gradient_exchange_all(const fmo_gradient_pass *pass);

/* call.cu: frees a plan's data; the GPU must have finished. */
void fmo_gpu_gradient_free(fmo_fock_plan *plan);

#endif
