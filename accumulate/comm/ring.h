/* The ring between a rank and its proxy (gmpi_wire.h): entries of 16 bytes, two per command, with
 * a bit that flips in each turn. One thread reads; kernels (gmpi_proxy.cuh) or any number of host
 * threads write. It uses C11 atomics only, so that ThreadSanitizer can check all accesses. */
#ifndef FMO_COMM_RING_H
#define FMO_COMM_RING_H

#include <stdatomic.h>
#include <fmo/gmpi_wire.h>

/* Access to words of a page, which kernels access with scopes of their own. */
static inline uint64_t fmo_ring_get(const uint64_t *word)
{
    return atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire);
}
static inline void fmo_ring_set(uint64_t *word, uint64_t value)
{
    atomic_store_explicit((_Atomic uint64_t *)word, value, memory_order_release);
}
/* Writes the second word of an entry first, and the one with the valid bit last. */
void fmo_ring_write(fmo_gmpi_entry *entry, uint64_t word0, uint64_t word1);

/** Reads the next command if there is one. `*next` counts entries, from 0.
 * @return 1, or 0 if there is none */
int fmo_ring_take(fmo_gmpi_page *page, uint64_t *next, fmo_gmpi_command *command);

/** Writes a command; `*tail` is shared by all threads that write.
 * @return 1, or 0 if `give_up` (may be NULL) returned nonzero while the ring was full */
int fmo_ring_put(fmo_gmpi_page *page, _Atomic uint64_t *tail, const fmo_gmpi_command *command,
                 int (*give_up)(void *user), void *user);

#endif
