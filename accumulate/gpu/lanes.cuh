/* Operations on bits and on the lanes of a warp, for screening (screen.cuh). */
#ifndef FMO_GPU_LANES_CUH
#define FMO_GPU_LANES_CUH

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
