/* Loads and operations of lanes for screening (screen.cuh), some with instructions that the
 * compiler would not choose. */
#ifndef FMO_GPU_SCREEN_LANES_CUH
#define FMO_GPU_SCREEN_LANES_CUH

#include "accumulate/gpu/types.cuh"

namespace {

/* Bit n of a row of bits. */
__device__ bool bit_of(const unsigned *row, int n)
{
    return __ldg(row + (n >> 5)) >> (n & 31) & 1u;
}

/* Mask of the lanes below the calling one. */
__device__ __forceinline__ unsigned lanes_below()
{
    unsigned lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
}

/* Screening data of a ket, read by one load, with its sets also as indices; the compiler would make
 * two loads and twice as many shifts of it. */
typedef struct screen_ket {
    fmo_gpu_screen_data screen;
    unsigned i, j;
} screen_ket;

__device__ __forceinline__ screen_ket read_ket(const fmo_gpu_screen_data *at)
{
    unsigned x, y, z, w, i, j;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
        : "l"(at));
    asm("prmt.b32 %0, %1, 0, 0x4410;" : "=r"(i) : "r"(z));
    asm("prmt.b32 %0, %1, 0, 0x4432;" : "=r"(j) : "r"(z));
    const ushort2 set = {(unsigned short)i, (unsigned short)j};
    return {{__uint_as_float(x), __uint_as_float(y), set, w}, i, j};
}

/* Reads the errors of a ket's nodes by one load. */
__device__ __forceinline__ fmo_far_fit read_fit(const fmo_far_fit *at)
{
    static_assert(sizeof *at == sizeof(float2), "the two of an fmo_far_fit");
    const float2 word = __ldg((const float2 *)at);
    return {word.x, word.y};
}

/* The number of the lane, hidden from the compiler. If the compiler sees that lanes add to one
 * address, it generates code that searches for such lanes, even for a single lane. */
__device__ __forceinline__ unsigned lane_unknown()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* Sum over all lanes of the warp. */
__device__ unsigned warp_sum(unsigned value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, value);
#else
    for (int offset = 16; offset; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
#endif
}

} // namespace

#endif
