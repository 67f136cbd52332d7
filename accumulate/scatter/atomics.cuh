/* Atomic additions that first combine equal addresses within a warp: the element strategies of
 * fmo/scatter.h for use inside kernels, for int, float and double. At the end of this file they are
 * functions with the signature of atomicAdd; the strategies as types are in the included files.
 * Guarantees: docs/reference/atomics.md. CUDA C++17. */
#ifndef FMO_ATOMICS_CUH
#define FMO_ATOMICS_CUH

#include <fmo/scatter_strategies.cuh> /* one scatter_NAME.cuh for each row of fmo/scatter.h */

/** Adds value to *address atomically, for any set of calling threads, and returns the previous
 *  value of *address. Lanes of a warp that call together with one address share one hardware
 *  atomic.
 *
 *    T fmo_atomic_add_warp_shared(T *address, T value)    16 KB of shared memory per kernel
 *    T fmo_atomic_add_warp_shuffle(T *address, T value)
 *    T fmo_atomic_add_warp_match(T *address, T value)     the fastest for scattered addresses
 *    T fmo_atomic_add_segmented(T *address, T value)      ... for equal addresses in adjacent lanes
 *
 *  T: int (exact mod 2^32), float, double (the order of summation differs: errors are within 32 eps
 *  of the sum of absolute terms). address: global or shared memory. If the previous value is not
 *  needed, the strategies' add() with a mask is faster. */
#define FMO_ATOMIC_ADD(name, T)                                                                   \
    FMO_DEVICE T fmo_atomic_add_##name(T *address, T value)                                       \
    {                                                                                             \
        return fmo_scatter_##name<fmo_commit_native>().fetch_add(__activemask(), address, value); \
    }
#define FMO_ATOMIC_ADD_TYPES(name) \
    FMO_ATOMIC_ADD(name, int)      \
    FMO_ATOMIC_ADD(name, float)    \
    FMO_ATOMIC_ADD(name, double)

FMO_ATOMIC_ADD_TYPES(warp_shared)
FMO_ATOMIC_ADD_TYPES(warp_shuffle)
FMO_ATOMIC_ADD_TYPES(warp_match)
FMO_ATOMIC_ADD_TYPES(segmented)

#undef FMO_ATOMIC_ADD_TYPES
#undef FMO_ATOMIC_ADD

#endif
