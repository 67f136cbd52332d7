/* gmpi: the request slots of a rank, which both transports allocate and free. Read before:
 * gmpi_memory.cuh. */
#ifndef FMO_GMPI_SLOTS_CUH
#define FMO_GMPI_SLOTS_CUH

#include "gmpi_memory.cuh"

/* True if the send in this slot has completed. */
FMO_GMPI_DEVICE bool fmo_gmpi_ended(fmo_gmpi_buf *b, unsigned slot, unsigned generation)
{
    if (b->transport == FMO_GMPI_PEER) return fmo_gmpi_load(&b->mine->fetched[slot].value) != 0;
    unsigned long long word, data;
    fmo_gmpi_load_entry(&b->page->done[slot].entry, &word, &data);
    return fmo_gmpi_done_is(word, generation) != 0;
}

/* Returns state and generation, which other blocks may change if they call at the same time. */
FMO_GMPI_DEVICE unsigned fmo_gmpi_life_of(bool several_blocks, const fmo_gmpi_slot *s)
{
    return several_blocks ? fmo_gmpi_load_volatile(s->life) : fmo_gmpi_load_cached(s->life);
}
/* Called by the owner of the slot. */
FMO_GMPI_DEVICE void fmo_gmpi_life_set(bool several_blocks, fmo_gmpi_slot *s, unsigned generation,
                                       unsigned state)
{
    if (several_blocks)
        fmo_gmpi_store_volatile(s->life, fmo_gmpi_life(generation, state));
    else
        fmo_gmpi_store_cached(s->life, fmo_gmpi_life(generation, state));
}
/* Frees the slot of a completed send, unless another block has already done so. */
FMO_GMPI_DEVICE void fmo_gmpi_send_over(fmo_gmpi_buf *b, fmo_gmpi_slot *s, unsigned generation)
{
    const unsigned sending = fmo_gmpi_life(generation, FMO_GMPI_SENDING);
    const unsigned over = fmo_gmpi_life(generation, FMO_GMPI_FREE);
    if (b->concurrent)
        atomicCAS(&s->life, sending, over);
    else if (fmo_gmpi_load_cached(s->life) == sending)
        fmo_gmpi_store_cached(s->life, over);
}

/* Searches for a slot that is free or whose send has completed, and reserves it; FMO_GMPI_NULL if
 * there is none. */
FMO_GMPI_SLOW fmo_gmpi_request fmo_gmpi_slot_search(fmo_gmpi_buf *b)
{
    const bool several_blocks = b->concurrent != 0;
    unsigned first;
    if (several_blocks) {
        first = atomicAdd(&b->next_slot, 1u);
    } else {
        first = fmo_gmpi_load_cached(b->next_slot);
        fmo_gmpi_store_cached(b->next_slot, first + 1);
    }
    for (unsigned k = 0; k < FMO_GMPI_SLOTS; k++) {
        const unsigned i = (first + k) % FMO_GMPI_SLOTS;
        fmo_gmpi_slot *s = &b->slot[i];
        const unsigned life = fmo_gmpi_life_of(several_blocks, s), state = life & 7;
        if (state != FMO_GMPI_FREE &&
            !(state == FMO_GMPI_SENDING && fmo_gmpi_ended(b, i, life >> 3)))
            continue;
        const unsigned generation = ((life >> 3) + 1) & 0x1fffffff;
        const unsigned busy = fmo_gmpi_life(generation, FMO_GMPI_BUSY);
        if (!several_blocks)
            fmo_gmpi_store_cached(s->life, busy);
        else if (atomicCAS(&s->life, life, busy) != life)
            continue;
        return fmo_gmpi_request_make(i, generation);
    }
    return FMO_GMPI_NULL;
}
/* Returns a request in a free slot, or in one whose send has completed; FMO_GMPI_NULL if there is
 * none. The caller must set state and generation at once, because a spare slot still has the old
 * ones. The transport proxy has no spare slots. */
FMO_GMPI_DEVICE fmo_gmpi_request fmo_gmpi_slot_take(fmo_gmpi_buf *b, bool several_blocks)
{
    const unsigned spare = several_blocks ? 0 : fmo_gmpi_load_cached(b->spare);
    if (spare == 0) return fmo_gmpi_slot_search(b);
    fmo_gmpi_store_cached(b->spare, 0u);
    const unsigned life = fmo_gmpi_load_cached(b->slot[spare - 1].life);
    return fmo_gmpi_request_make(spare - 1, ((life >> 3) + 1) & 0x1fffffff);
}
/* Frees the slot of a completed receive. */
FMO_GMPI_DEVICE void fmo_gmpi_slot_free(fmo_gmpi_buf *b, bool several_blocks, unsigned slot,
                                        unsigned generation)
{
    fmo_gmpi_life_set(several_blocks, &b->slot[slot], generation, FMO_GMPI_FREE);
    if (!several_blocks) fmo_gmpi_store_cached(b->spare, slot + 1);
}

#endif
