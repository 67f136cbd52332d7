/* Products of tiles on the tensor cores, and expansions of products in Hermite functions, for
 * kernels in which a warp computes a quartet as products of matrices: K (matrix.cuh) and its
 * derivative (gradient/matrix.cuh). C++ only. */
#ifndef FMO_GPU_HERMITE_TILES_CUH
#define FMO_GPU_HERMITE_TILES_CUH

#include "accumulate/gpu/hermite/warp.cuh"

/* Expansions of a pair are E[axis][i][j][t], with eight t, the last of which is zero. */
enum { FMO_MATRIX_TERMS = 8 };
FMO_STATIC_ASSERT(FMO_PAIR_GPU_ORDER_MAX < FMO_MATRIX_TERMS - 1, "tiles.cuh: expansions")

/* D = A B + D for tiles of 8 x 4, 4 x 8 and 8 x 8: a lane has element [lane / 4][lane % 4] of A,
 * [lane % 4][lane / 4] of B, and [lane / 4][2 (lane % 4)] of D with its right neighbour. */
static __device__ __forceinline__ void fmo_matrix_multiply(double a, double b, double *d)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
#else
    const int lane = threadIdx.x % 32;
    FMO_UNROLL
    for (int k = 0; k < 4; k++) {
        const double row = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k);
        FMO_UNROLL
        for (int n = 0; n < 2; n++)
            d[n] += row * __shfl_sync(0xffffffffu, b, (2 * (lane % 4) + n) * 4 + k);
    }
#endif
}

/* The same for the tiles of two blocks of rows with one tile of B. */
static __device__ __forceinline__ void fmo_matrix_multiply_two(double a, double other, double b,
                                                               double *d, double *e)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(e[0]), "+d"(e[1])
        : "d"(a), "d"(other), "d"(b));
#else
    fmo_matrix_multiply(a, b, d);
    fmo_matrix_multiply(other, b, e);
#endif
}

/* The powers of a Hermite function, and its place in the cube. For numbers behind the last of
 * `terms` functions a power for which all expansions are zero, and place 0. */
static __device__ int4 fmo_matrix_powers(int side, int hermite, int terms)
{
    if (hermite >= terms) return make_int4(FMO_MATRIX_TERMS - 1, 0, 0, 0);
    const int3 p = fmo_warp_powers(hermite);
    return make_int4(p.x, p.y, p.z, fmo_warp_place(side, p));
}

/* What the expansions of a primitive pair are made from. PA: centre of the pair from that of the
 * first shell; AB: A - B; half: 1/2p; sign: -1 multiplies those of odd t by -1. */
typedef struct fmo_matrix_expansion {
    const double *PA, *AB;
    double half, sign;
} fmo_matrix_expansion;

/* Computes the expansions e[i][j] of one axis and one t, lane = 8 axis + t, which are zero from t =
 * i
 * + j + 1 on. Lanes from 24 on take part for the others. */
template <int LA, int LB>
static __device__ __forceinline__ void fmo_matrix_expand_lane(const fmo_matrix_expansion &pair,
                                                              double e[LA + 1][LB + 1])
{
    const int lane = threadIdx.x % 32, axis = lane / FMO_MATRIX_TERMS, t = lane % FMO_MATRIX_TERMS;
    const double PA = axis == 0 ? pair.PA[0] : axis == 1 ? pair.PA[1] : pair.PA[2];
    const double PB = PA + (axis == 0 ? pair.AB[0] : axis == 1 ? pair.AB[1] : pair.AB[2]);
    const double half = t ? pair.sign * pair.half : 0.0, raised = pair.sign * (t + 1);
    FMO_UNROLL
    for (int i = 0; i <= LA; i++) {
        FMO_UNROLL
        for (int j = 0; j <= LB; j++) {
            if (i + j == 0) {
                e[0][0] = t == 0 ? 1.0 : 0.0;
                continue;
            }
            const double from = j ? e[i][j ? j - 1 : 0] : e[i ? i - 1 : 0][0];
            const double below = __shfl_up_sync(0xffffffffu, from, 1, FMO_MATRIX_TERMS);
            const double above = __shfl_down_sync(0xffffffffu, from, 1, FMO_MATRIX_TERMS);
            e[i][j] = (j ? PB : PA) * from + half * below + raised * above;
        }
    }
}

/* Computes the expansions E[axis][i][j][t] of a primitive pair, by one warp. */
template <int LA, int LB>
static __device__ __forceinline__ void fmo_matrix_expand(const fmo_matrix_expansion &pair,
                                                         double *E)
{
    const int lane = threadIdx.x % 32, axis = lane / FMO_MATRIX_TERMS, t = lane % FMO_MATRIX_TERMS;
    double e[LA + 1][LB + 1];
    fmo_matrix_expand_lane<LA, LB>(pair, e);
    if (axis < 3) {
        FMO_UNROLL
        for (int i = 0; i <= LA; i++) {
            FMO_UNROLL
            for (int j = 0; j <= LB; j++)
                E[((axis * (LA + 1) + i) * (LB + 1) + j) * FMO_MATRIX_TERMS + t] = e[i][j];
        }
    }
    __syncwarp();
}

#endif
