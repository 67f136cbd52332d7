/* What the kernels see: views of device memory, passed by value. gpu_quartet.cuh has the
 * arithmetic, gpu_fused_kernel.cuh the accumulation, gpu_screen.cu the survivors. */
#ifndef FMO_GPU_TYPES_CUH
#define FMO_GPU_TYPES_CUH

#include <cuda_runtime.h>

#include <fmo/eri_class.h>
#include "integrals/boys.h"

/* Threads of a block in the quartet kernels. 128: four warps, so that with 255 registers a thread
 * two blocks still fit a multiprocessor. */
#define FMO_GPU_THREADS 128

/* Pairs are screened in tiles of a warp. */
#define FMO_GPU_TILE_PAIRS 32

/* One class of shell pairs. Sorted by number of primitives (descending), then i, then j: lanes of a
 * warp do equal work and meet equal rows in runs. Primitives of pairs of equal depth lie
 * [primitive][field][pair], so that neighbouring pairs are read together. */
typedef struct fmo_gpu_pairs {
    int num;
    const int4 *shell;       /* [num] i, j (internal shells), primitives, stride between fields */
    const unsigned *prim_at; /* [num] first value in prim */
    const unsigned char *counts; /* [num] 1 for the first part of a pair, 0 for further parts */
    const double *bound;         /* [num] Schwarz bound */
    const double *tile_bound;    /* [num/FMO_GPU_TILE_PAIRS] largest bound of each tile of pairs */
    const double *center;        /* [6][num] A, A - B */
    const double *prim;
    const unsigned *record_at; /* [num] first primitive in record */
    const double2 *record;     /* the same primitives, [primitive][field] pair after pair */
} fmo_gpu_pairs;

/* One class of quartets of one pass: pairs, and the list of survivors as (bra, ket). */
typedef struct fmo_gpu_class_view {
    fmo_gpu_pairs bra, ket;
    int same; /* bra and ket are one list: ket <= bra */
    const int2 *list;
    const unsigned *count;
} fmo_gpu_class_view;

/* The matrices, in internal order. */
typedef struct fmo_gpu_matrices {
    const double *density;      /* [nao][nao] */
    double *coulomb, *exchange; /* X^J, X^K of digest.h; fixed point under `fixed` */
    size_t copy_stride;         /* values between copies under `replicated` */
    unsigned copies;
    int nao, s_shells;
    const fmo_boys_table *boys;
    unsigned long long *issued; /* atomics issued, added to; may be NULL */
} fmo_gpu_matrices;

#endif
