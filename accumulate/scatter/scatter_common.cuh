/* Parts shared by the element strategies: the two kinds of atomic update, lane arithmetic, sums. A
 * strategy is
 *
 *    template <class Commit, int BlockThreads = 1024> struct fmo_scatter_NAME { ... };
 *
 * with the members described in docs/reference/atomics.md ("Strategies: types with a mask");
 * example: docs/how-to/add-a-strategy.md. mask: the lanes that call together, all with the same
 * mask; any non-empty subset of the warp. BlockThreads: the largest block in which it will run.
 * Returned previous values are those of the serial order "highest lane first" among the lanes with
 * one address. Tabaru and Nakahira, 2013. */
#ifndef FMO_SCATTER_COMMON_CUH
#define FMO_SCATTER_COMMON_CUH

#define FMO_DEVICE      static __device__ __forceinline__
#define FMO_DEVICE_CALL static __device__ __noinline__

/* Sums; for int (mod 2^32) and long long they wrap, where plain + would be undefined. */
FMO_DEVICE int fmo_sum(int a, int b)
{
    return (int)((unsigned)a + (unsigned)b);
}
FMO_DEVICE long long fmo_sum(long long a, long long b)
{
    return (long long)((unsigned long long)a + (unsigned long long)b);
}
FMO_DEVICE float fmo_sum(float a, float b)
{
    return a + b;
}
FMO_DEVICE double fmo_sum(double a, double b)
{
    return a + b;
}

FMO_DEVICE unsigned fmo_lane(void)
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
FMO_DEVICE unsigned fmo_lanes_below(void)
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
FMO_DEVICE unsigned fmo_lanes_above(void)
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(mask));
    return mask;
}
/* Lowest lane of a non-empty mask. */
FMO_DEVICE unsigned fmo_lowest(unsigned mask)
{
    return (unsigned)__ffs((int)mask) - 1u;
}
/* Number of the calling thread in its block, x fastest; threads 32 w .. 32 w + 31 are warp w. */
FMO_DEVICE unsigned fmo_thread(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/* Update by the hardware's atomic add. If the result is unused it compiles to RED, which returns
 * nothing. float in global memory flushes subnormal numbers to zero, as atomicAdd does. */
struct fmo_commit_native {
    template <typename T> FMO_DEVICE void add(T *address, T value)
    {
        (void)atomicAdd(address, value);
    }
    template <typename T> FMO_DEVICE T fetch_add(T *address, T value)
    {
        return atomicAdd(address, value);
    }
};

/* Update by a compare-and-swap loop. It compares bits, since a NaN never equals itself and the loop
 * would not end. Not inlined, as it is long and slow anyway. */
struct fmo_commit_cas {
    template <typename T> FMO_DEVICE void add(T *address, T value)
    {
        (void)fetch_add(address, value);
    }
    FMO_DEVICE_CALL int fetch_add(int *address, int value)
    {
        int old = *(volatile int *)address, seen;
        do {
            seen = old;
            old = atomicCAS(address, seen, fmo_sum(seen, value));
        } while (old != seen);
        return old;
    }
    FMO_DEVICE_CALL float fetch_add(float *address, float value)
    {
        int *bits = (int *)address;
        int old = *(volatile int *)bits, seen;
        do {
            seen = old;
            old = atomicCAS(bits, seen, __float_as_int(__int_as_float(seen) + value));
        } while (old != seen);
        return __int_as_float(old);
    }
    FMO_DEVICE_CALL double fetch_add(double *address, double value)
    {
        unsigned long long *bits = (unsigned long long *)address;
        unsigned long long old = *(volatile unsigned long long *)bits, seen;
        do {
            seen = old;
            const double sum = __longlong_as_double((long long)seen) + value;
            old = atomicCAS(bits, seen, (unsigned long long)__double_as_longlong(sum));
        } while (old != seen);
        return __longlong_as_double((long long)old);
    }
};

/* Result of the strategies that are functions of their own. */
template <typename T> struct fmo_scattered {
    T old;           /* the previous value, if requested */
    unsigned issued; /* number of atomics issued by this lane, 0 or 1 */
};

/* Called once by every thread at the end of a kernel; only fmo_scatter_none does anything. */
template <class Strategy> FMO_DEVICE void fmo_scatter_finish(const Strategy &) {}

/* Adds a block of sums, value[r * Columns + c] to address[r * stride + c]. */
template <class Commit, int Rows, int Columns, typename T>
FMO_DEVICE void fmo_commit_block(T *address, size_t stride, const T *value)
{
#pragma unroll
    for (int r = 0; r < Rows; r++) {
#pragma unroll
        for (int c = 0; c < Columns; c++)
            Commit::add(address + r * stride + c, value[r * Columns + c]);
    }
}

/* add_block() of strategies without a special form: one add() per value. */
template <int Rows, int Columns, class Strategy, typename T>
FMO_DEVICE unsigned fmo_add_each(const Strategy &scatter, unsigned mask, T *address, size_t stride,
                                 const T *value)
{
    unsigned issued = 0;
#pragma unroll
    for (int r = 0; r < Rows; r++) {
#pragma unroll
        for (int c = 0; c < Columns; c++) {
            T *element = address + r * stride + c;
            if (Strategy::block_wide && !address) element = nullptr;
            issued += scatter.add(mask, element, value[r * Columns + c]);
        }
    }
    return issued;
}

/* Shared memory of the strategies that exchange values through it, one allocation per kernel: 16
 * bytes per thread. [thread] addresses, then [thread] values of up to 8 bytes. */
template <int BlockThreads> struct fmo_scatter_scratch {
    unsigned long long address[BlockThreads];
    unsigned long long value[BlockThreads];
};
template <int BlockThreads> FMO_DEVICE fmo_scatter_scratch<BlockThreads> *fmo_scatter_shared(void)
{
    __shared__ fmo_scatter_scratch<BlockThreads> scratch;
    return &scratch;
}

/* Conversion of a value of any of the types to 8 bytes and back. */
FMO_DEVICE unsigned long long fmo_pack(int v)
{
    return (unsigned)v;
}
FMO_DEVICE unsigned long long fmo_pack(float v)
{
    return __float_as_uint(v);
}
FMO_DEVICE unsigned long long fmo_pack(double v)
{
    return (unsigned long long)__double_as_longlong(v);
}
FMO_DEVICE void fmo_unpack(unsigned long long bits, int *v)
{
    *v = (int)(unsigned)bits;
}
FMO_DEVICE void fmo_unpack(unsigned long long bits, float *v)
{
    *v = __uint_as_float((unsigned)bits);
}
FMO_DEVICE void fmo_unpack(unsigned long long bits, double *v)
{
    *v = __longlong_as_double((long long)bits);
}

#endif
