/* Hermite functions and integrals R_tuv whose order is known when the program runs. A warp computes
 * R_tuv in shared memory at t + side (u + side v), side = order + 1, so that the place of R_(p+q)
 * is the sum of the places of p and q. C++ only. */
#ifndef FMO_GPU_HERMITE_WARP_CUH
#define FMO_GPU_HERMITE_WARP_CUH

#include "accumulate/gpu/hermite/hermite.h"
#include "integrals/eri/eri_common.h"

/* Powers of Hermite function k in the order of fmo_slice_at. */
static __device__ int3 fmo_warp_powers(int k)
{
    int order = 0, row = 0;
    while (k >= FMO_HERMITE_COUNT(order)) order++;
    k -= FMO_HERMITE_COUNT(order - 1);
    while (k > row) k -= ++row;
    return make_int3(order - row, row - k, k);
}

/* Place of a Hermite function in a cube of R_tuv. */
static __device__ __forceinline__ int fmo_warp_place(int side, int3 powers)
{
    return powers.x + side * (powers.y + side * powers.z);
}
FMO_STATIC_ASSERT((FMO_ERI_GPU_ORDER_MAX + 1) * (FMO_ERI_GPU_ORDER_MAX + 1) *
                          (FMO_ERI_GPU_ORDER_MAX + 1) <
                      1 << 12,
                  "warp.cuh: bits of a place")

/* Fills the table of Hermite functions up to an order, by all threads of a block: the place, and
 * the axis of the recursion and the power along it. */
static __device__ void fmo_warp_begin(int order, int *hermite)
{
    for (int k = threadIdx.x; k < FMO_HERMITE_COUNT(order); k += blockDim.x) {
        const int3 p = fmo_warp_powers(k);
        const int axis = p.x > 0 ? 0 : p.y > 0 ? 1 : 2;
        const int power = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
        hermite[k] = fmo_warp_place(order + 1, p) | axis << 16 | power << 20;
    }
}

/* Computes R_tuv of a primitive quartet, by one warp, level by level. OWN: at least the number of
 * Hermite functions over 32. start: [order + 1] for the caller. */
template <int OWN>
static __device__ void fmo_warp_coulomb(const fmo_prim_quartet &z, int order, const int *hermite,
                                        double *start, double *R)
{
    const int lane = threadIdx.x % 32, side = order + 1;
    if (lane == 0) {
        double power = 1.0;
        for (int m = 0; m <= order; m++) {
            start[m] = power * z.S[m];
            power *= -2.0 * z.alpha;
        }
        R[0] = start[order];
    }
    __syncwarp();
    for (int m = order - 1; m >= 0; m--) {
        const int num = FMO_HERMITE_COUNT(order - m);
        double value[OWN];
        FMO_UNROLL
        for (int n = 0; n < OWN; n++) {
            const int k = lane + 32 * n;
            if (32 * n >= num) break; /* the whole warp */
            if (k >= num) continue;
            const int code = hermite[k], at = code & 0xffff, axis = code >> 16 & 15;
            const int power = code >> 20;
            const int step = axis == 0 ? 1 : axis == 1 ? side : side * side;
            if (k == 0)
                value[n] = start[m];
            else {
                value[n] = (axis == 0 ? z.PQ[0] : axis == 1 ? z.PQ[1] : z.PQ[2]) * R[at - step];
                if (power > 1) value[n] += (power - 1) * R[at - 2 * step];
            }
        }
        __syncwarp();
        FMO_UNROLL
        for (int n = 0; n < OWN; n++) {
            if (32 * n >= num) break;
            if (lane + 32 * n < num) R[hermite[lane + 32 * n] & 0xffff] = value[n];
        }
        __syncwarp();
    }
}

#endif
