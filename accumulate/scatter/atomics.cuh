/* Atomic adds that combine equal addresses first: the element strategies of fmo/scatter.h for use
 * inside kernels, for int, float and double. Functions with atomicAdd's signature at the end of
 * this file; strategies as types in the files below. Guarantees: docs/reference/atomics.md. CUDA
 * C++17.
 */
#ifndef FMO_ATOMICS_CUH
#define FMO_ATOMICS_CUH

#include <fmo/scatter_strategies.cuh> /* one scatter_NAME.cuh for each row of fmo/scatter.h */

/** *address += value, atomically, for any set of calling threads; returns what *address held
 * before. Lanes of a warp that call together and share an address pay for one hardware atomic.
 *
 *      T fmo_atomic_add_warp_shared(T *address, T value)    16 KB of shared memory a kernel
 *      T fmo_atomic_add_warp_shuffle(T *address, T value)
 *      T fmo_atomic_add_warp_match(T *address, T value)     the fastest if addresses are scattered
 *      T fmo_atomic_add_segmented(T *address, T value)      ... if equal ones are neighbours
 *
 *  T: int (exact mod 2^32), float, double (sums in another order: within 32 eps of the serial sum's
 *  absolute terms). address: global or shared memory. Where the old value is not needed, the
 *  strategies' add() with a mask is faster. */
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
