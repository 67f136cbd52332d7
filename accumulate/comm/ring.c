/* The ring between a rank and its proxy: see ring.h. */
#define _GNU_SOURCE
#include "ring.h"

#include <sched.h>

void fmo_ring_write(fmo_gmpi_entry *entry, uint64_t word0, uint64_t word1)
{
    atomic_store_explicit((_Atomic uint64_t *)&entry->word[1], word1, memory_order_relaxed);
    fmo_ring_set(&entry->word[0], word0);
}

int fmo_ring_take(fmo_gmpi_page *page, uint64_t *next, fmo_gmpi_command *command)
{
    fmo_gmpi_entry entry[2];
    const uint64_t valid = fmo_gmpi_lap(*next, FMO_GMPI_RING);
    for (int e = 0; e < 2; e++) {
        const fmo_gmpi_entry *from = &page->ring[(*next + (uint64_t)e) % FMO_GMPI_RING];
        entry[e].word[0] = fmo_ring_get(&from->word[0]);
        if ((entry[e].word[0] & 1) != valid) return 0;
        entry[e].word[1] = fmo_ring_get(&from->word[1]);
    }
    *next += 2;
    fmo_ring_set(&page->taken.value, *next);
    fmo_gmpi_command_unpack(entry, command);
    return 1;
}

int fmo_ring_put(fmo_gmpi_page *page, _Atomic uint64_t *tail, const fmo_gmpi_command *command,
                 int (*give_up)(void *user), void *user)
{
    fmo_gmpi_entry entry[2];
    const uint64_t at = atomic_fetch_add_explicit(tail, 2, memory_order_relaxed);
    while (at + 2 - fmo_ring_get(&page->taken.value) > FMO_GMPI_RING) {
        if (give_up && give_up(user)) return 0;
        sched_yield();
    }
    fmo_gmpi_command_pack(command, fmo_gmpi_lap(at, FMO_GMPI_RING), entry);
    for (int e = 0; e < 2; e++)
        fmo_ring_write(&page->ring[(at + (uint64_t)e) % FMO_GMPI_RING], entry[e].word[0],
                       entry[e].word[1]);
    return 1;
}
