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
FMO_STATIC_ASSERT((FMO_BOYS_ORDER_MAX + 1) * (FMO_BOYS_ORDER_MAX + 1) * (FMO_BOYS_ORDER_MAX + 1) <
                      1 << 12,
                  "warp.cuh: bits of a place")

/* A Hermite function of the recursion: its place, the place of the function with one power less
 * along an axis, the axis, and the power along it. */
typedef struct fmo_warp_function {
    int at, before, axis, power;
} fmo_warp_function;
static __device__ __forceinline__ fmo_warp_function fmo_warp_find(int code)
{
    return {code & 0xfff, code >> 12 & 0xfff, code >> 24 & 3, code >> 26};
}

/* Fills the table of the codes of Hermite functions up to an order, by all threads of a block. */
static __device__ void fmo_warp_begin(int order, int *hermite)
{
    const int side = order + 1;
    for (int k = threadIdx.x; k < FMO_HERMITE_COUNT(order); k += blockDim.x) {
        const int3 p = fmo_warp_powers(k);
        const int axis = p.x > 0 ? 0 : p.y > 0 ? 1 : 2;
        const int power = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
        const int at = fmo_warp_place(side, p);
        const int before = at - (axis == 0 ? 1 : axis == 1 ? side : side * side);
        hermite[k] = at | (k ? before : 0) << 12 | axis << 24 | power << 26;
    }
}

/* Of each order m: fmo_boys_far, and Gamma(m + 1/2) / 2 = sqrt(pi)/2 (2m-1)!!/2^m. */
constexpr double fmo_warp_gamma(int m)
{
    return m ? (m - 0.5) * fmo_warp_gamma(m - 1) : 0.88622692545275801365;
}
#define FMO_WARP_FAR_ROW(m, T) {T, fmo_warp_gamma(m)},
static __device__ const double fmo_warp_far[][2] = {FMO_BOYS_FAR_TABLE(FMO_WARP_FAR_ROW)};
#undef FMO_WARP_FAR_ROW

/* Returns x^m for small m. */
static __device__ __forceinline__ double fmo_warp_power(double x, int m)
{
    double power = 1.0;
    for (; m; m >>= 1) {
        if (m & 1) power *= x;
        x *= x;
    }
    return power;
}

/* Returns F_m(T) for m = lane, m <= order. All orders are interpolated, by one lane each, instead
 * of one order and a recursion, which would be serial. boys: the table of the highest order; those
 * of lower orders precede it. */
static __device__ __forceinline__ double fmo_warp_boys(const double *boys, int order, double T)
{
    const int m = (int)(threadIdx.x % 32) < order ? (int)(threadIdx.x % 32) : order;
    double exp_T;
    if (T < fmo_warp_far[m][0])
        return fmo_boys_interpolate(boys + (m - order) * (FMO_BOYS_ROWS * FMO_BOYS_ROW_SIZE), T,
                                    &exp_T);
    return fmo_warp_far[m][1] * fmo_rsqrt(T) * fmo_warp_power(1.0 / T, m);
}

/* Returns sqrt(p + q)^-1 (-2 rho)^m F_m(rho R^2) for m = lane <= order, of 1/r or of an operator
 * (operator_rules.h). op: NULL for 1/r. */
static __device__ double fmo_warp_start(const fmo_operator *op, const double *boys, int order,
                                        double p, double q, const double *PQ)
{
    const int m = threadIdx.x % 32;
    const double rs = fmo_rsqrt(p + q), rho = p * q * (rs * rs);
    const double R2 = PQ[0] * PQ[0] + PQ[1] * PQ[1] + PQ[2] * PQ[2];
    double F = op && op->full == 0.0 ? 0.0 : fmo_warp_boys(boys, order, rho * R2);
    if (op) {
        const double square = op->omega * op->omega;
        const double root = fmo_rsqrt(square + rho) * op->omega, theta = root * root;
        const double other = fmo_warp_boys(boys, order, theta * rho * R2);
        F = op->full * F + op->long_range * root * fmo_warp_power(theta, m) * other;
    }
    return rs * fmo_warp_power(-2.0 * rho, m) * F;
}

/* Reads the codes of Hermite functions from a table for fmo_warp_coulomb. */
struct fmo_warp_codes {
    const int *hermite;
    __device__ __forceinline__ int operator()(int n) const
    {
        return hermite[threadIdx.x % 32 + 32 * n];
    }
};

/* Computes R_tuv of a primitive quartet, by one warp, level by level. OWN: at least the number of
 * Hermite functions over 32. UNROLL: the levels that are unrolled at a time.
 * start: of the lane (fmo_warp_start); code(n): the code of Hermite function lane + 32 n. */
template <int OWN, int UNROLL = 1, class Code>
static __device__ __forceinline__ void fmo_warp_coulomb(double start, const double *PQ, int order,
                                                        const Code &code, double *R)
{
    const int lane = threadIdx.x % 32;
    if (lane == order) R[0] = start;
    __syncwarp();
#pragma unroll UNROLL
    for (int m = order - 1; m >= 0; m--) {
        const int num = FMO_HERMITE_COUNT(order - m);
        const double first = __shfl_sync(0xffffffffu, start, m);
        double value[OWN];
        FMO_UNROLL
        for (int n = 0; n < OWN; n++) {
            const int k = lane + 32 * n;
            if (32 * n >= num) break; /* the whole warp */
            if (k >= num) continue;
            const fmo_warp_function at = fmo_warp_find(code(n));
            if (k == 0)
                value[n] = first;
            else {
                value[n] = (at.axis == 0 ? PQ[0] : at.axis == 1 ? PQ[1] : PQ[2]) * R[at.before];
                if (at.power > 1) value[n] += (at.power - 1) * R[2 * at.before - at.at];
            }
        }
        __syncwarp();
        FMO_UNROLL
        for (int n = 0; n < OWN; n++) {
            if (32 * n >= num) break;
            if (lane + 32 * n < num) R[fmo_warp_find(code(n)).at] = value[n];
        }
        __syncwarp();
    }
}

#endif
