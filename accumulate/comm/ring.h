/* The ring between a rank and its proxy (gmpi_wire.h): entries of 16 bytes, two a command, with a
 * bit that flips each lap. One thread takes; any number put: kernels (gmpi_proxy.cuh) or host
 * threads. C11 atomics alone, so that ThreadSanitizer sees all of it.
 */
#ifndef FMO_COMM_RING_H
#define FMO_COMM_RING_H

#include <stdatomic.h>
#include <fmo/gmpi_wire.h>

/* Words of a page, which kernels write with scopes of their own. */
static inline uint64_t fmo_ring_get(const uint64_t *word)
{
    return atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire);
}
static inline void fmo_ring_set(uint64_t *word, uint64_t value)
{
    atomic_store_explicit((_Atomic uint64_t *)word, value, memory_order_release);
}
/* The second word of an entry first, the one with the valid bit last. */
void fmo_ring_write(fmo_gmpi_entry *entry, uint64_t word0, uint64_t word1);

/** The next command, if there is one: 1; else 0. `*next` counts entries, from 0. */
int fmo_ring_take(fmo_gmpi_page *page, uint64_t *next, fmo_gmpi_command *command);

/** Put a command; `*tail` is common to all threads that put.
 *  @return 1, or 0 if `give_up` (may be NULL) said so while the ring was full */
int fmo_ring_put(fmo_gmpi_page *page, _Atomic uint64_t *tail, const fmo_gmpi_command *command,
                 int (*give_up)(void *user), void *user);

#endif
