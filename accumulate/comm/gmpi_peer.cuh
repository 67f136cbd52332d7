/* gmpi, transport peer: stores and flags into the memory of other ranks' devices. A message of at
 * most 8 bytes is in its entry, one of at most 2 KiB goes into a box beside the entry before it; a
 * longer one is announced, and fetched by its receiver, which then tells the sender. Messages that
 * no receive waits for stay in the inbox. Functions for one thread unless they say "block".
 */
#ifndef FMO_GMPI_PEER_CUH
#define FMO_GMPI_PEER_CUH

#include "gmpi_memory.cuh"

/* ---- requests ---------------------------------------------------------------------------------
 */

/* Has the send in this slot ended? */
FMO_GMPI_DEVICE bool fmo_gmpi_ended(fmo_gmpi_buf *b, unsigned slot, unsigned generation)
{
    if (b->transport == FMO_GMPI_PEER)
        return fmo_gmpi_peek(&b->segment[b->rank]->fetched[slot].value) != 0;
    unsigned long long word, data;
    fmo_gmpi_peek_entry(&b->page->done[slot].entry, &word, &data);
    return fmo_gmpi_done_is(word, generation) != 0;
}

/* A free slot, or one whose send has ended; -1 if there is none. */
FMO_GMPI_SLOW int fmo_gmpi_slot_take(fmo_gmpi_buf *b, unsigned *generation)
{
    const unsigned first = atomicAdd(&b->next_slot, 1u);
    for (unsigned k = 0; k < FMO_GMPI_SLOTS; k++) {
        const unsigned i = (first + k) % FMO_GMPI_SLOTS;
        const unsigned life = fmo_gmpi_get(b->slot[i].life), state = life & 7;
        if (state != FMO_GMPI_FREE &&
            !(state == FMO_GMPI_SENDING && fmo_gmpi_ended(b, i, life >> 3)))
            continue;
        *generation = ((life >> 3) + 1) & 0x1fffffff;
        if (atomicCAS(&b->slot[i].life, life, fmo_gmpi_life(*generation, FMO_GMPI_BUSY)) == life)
            return (int)i;
    }
    return -1;
}

/* ---- send -------------------------------------------------------------------------------------
 */

/* Block: all threads call, thread 0 keeps the request. */
FMO_GMPI_SLOW int fmo_gmpi_peer_isend(fmo_gmpi_buf *b, const void *data, unsigned long long bytes,
                                      int dest, int tag, int comm, fmo_gmpi_request *request)
{
    __shared__ unsigned long long number_shared;
    __shared__ int code_shared;
    const bool first = fmo_gmpi_thread() == 0;
    fmo_gmpi_segment *to = b->segment[dest];
    unsigned long long number = 0;
    int code = FMO_GMPI_OK;
    if (first) {
        const unsigned long long credit = fmo_gmpi_peek(&b->segment[b->rank]->credit[dest].value);
        if (b->concurrent) {
            number = atomicAdd(&b->sent[dest], 1ULL);
        } else {
            number = fmo_gmpi_get(b->sent[dest]);
            fmo_gmpi_set(b->sent[dest], number + 1);
        }
        if (number - credit >= FMO_GMPI_INBOX) { /* full: until the receiver has taken some */
            fmo_gmpi_wait_state w = fmo_gmpi_waiting();
            while (number - fmo_gmpi_peek(&b->segment[b->rank]->credit[dest].value) >=
                       FMO_GMPI_INBOX &&
                   (code = fmo_gmpi_turn(b, &w, FMO_GMPI_CALL_SEND, dest, tag, comm)) ==
                       FMO_GMPI_OK)
                ;
            fmo_gmpi_fence(); /* what it read was read before what is written now */
        }
    }
    fmo_gmpi_entry *entry = &to->inbox[b->rank][number % FMO_GMPI_INBOX];
    const unsigned long long valid = fmo_gmpi_lap(number, FMO_GMPI_INBOX);
    if (bytes <= FMO_GMPI_INLINE) {
        if (first && code == FMO_GMPI_OK) {
            fmo_gmpi_poke_entry(entry,
                                fmo_gmpi_envelope(valid, FMO_GMPI_IN_ENTRY, comm, tag, bytes),
                                fmo_gmpi_word(data, (unsigned)bytes));
            *request = FMO_GMPI_NULL;
        }
        return code; /* of thread 0; a failure is sticky */
    }
    if (bytes <= FMO_GMPI_EAGER) {
        if (first) number_shared = number, code_shared = code;
        __syncthreads();
        number = number_shared, code = code_shared;
        if (code == FMO_GMPI_OK)
            fmo_gmpi_copy(to->box[b->rank][number % FMO_GMPI_INBOX], data, bytes, fmo_gmpi_thread(),
                          fmo_gmpi_threads());
        __syncthreads();
        if (first && code == FMO_GMPI_OK) {
            fmo_gmpi_fence();
            fmo_gmpi_poke_entry(entry, fmo_gmpi_envelope(valid, FMO_GMPI_IN_BOX, comm, tag, bytes),
                                0);
            *request = FMO_GMPI_NULL;
        }
        return code;
    }
    if (first && code == FMO_GMPI_OK) {
        const unsigned long long at = (unsigned long long)data;
        const unsigned long long offset = at - (unsigned long long)b->heap[b->rank];
        const bool in_heap = offset < b->heap_bytes;
        unsigned generation = 0;
        const int slot = in_heap || b->one_process ? fmo_gmpi_slot_take(b, &generation) : -2;
        if (slot < 0) {
            code = fmo_gmpi_fail(b, slot == -1 ? FMO_GMPI_FULL : FMO_GMPI_UNREACHABLE,
                                 FMO_GMPI_CALL_SEND, dest, tag, comm);
        } else {
            fmo_gmpi_slot *s = &b->slot[slot];
            fmo_gmpi_poke(&b->segment[b->rank]->fetched[slot].value, 0);
            fmo_gmpi_set(s->peer, dest), fmo_gmpi_set(s->key, fmo_gmpi_key(comm, tag));
            fmo_gmpi_state_set(s, FMO_GMPI_SENDING);
            *request = fmo_gmpi_request_make((unsigned)slot, generation);
            fmo_gmpi_fence();
            fmo_gmpi_poke_entry(
                entry,
                fmo_gmpi_envelope(valid, in_heap ? FMO_GMPI_AT_OFFSET : FMO_GMPI_AT_ADDRESS, comm,
                                  tag, bytes),
                (in_heap ? offset : at) << 16 | (unsigned)slot);
        }
    }
    return code;
}

/* ---- receive ----------------------------------------------------------------------------------
 */

FMO_GMPI_DEVICE void fmo_gmpi_lock(fmo_gmpi_buf *b, int source)
{
    if (!b->concurrent) return;
    while (atomicCAS(&b->source[source].lock, 0u, 1u) != 0) __nanosleep(20); /* held shortly */
    fmo_gmpi_fence_gpu();
}
FMO_GMPI_DEVICE void fmo_gmpi_unlock(fmo_gmpi_buf *b, int source)
{
    if (!b->concurrent) return;
    fmo_gmpi_fence_gpu();
    atomicExch(&b->source[source].lock, 0u);
}

FMO_GMPI_DEVICE bool fmo_gmpi_here_is(const fmo_gmpi_buf *b, int source, unsigned long long number,
                                      unsigned long long *word, unsigned long long *data)
{
    fmo_gmpi_peek_entry(&b->segment[b->rank]->inbox[source][number % FMO_GMPI_INBOX], word, data);
    return (*word & 1) == fmo_gmpi_lap(number, FMO_GMPI_INBOX);
}
FMO_GMPI_DEVICE void fmo_gmpi_give(fmo_gmpi_slot *s, unsigned long long number,
                                   unsigned long long word, unsigned long long data)
{
    fmo_gmpi_set(s->message[0], word), fmo_gmpi_set(s->message[1], data);
    fmo_gmpi_set(s->index, number);
    __threadfence();
    fmo_gmpi_state_set(s, FMO_GMPI_MATCHED);
}

/* Look at what has arrived since; the lock is held. */
FMO_GMPI_SLOW void fmo_gmpi_match_new(fmo_gmpi_buf *b, int source)
{
    fmo_gmpi_source *q = &b->source[source];
    unsigned long long word, data, n = fmo_gmpi_get(q->edge);
    for (; fmo_gmpi_here_is(b, source, n, &word, &data); n++) {
        const unsigned key = fmo_gmpi_envelope_key(word);
        unsigned before = 0, p = fmo_gmpi_get(q->first);
        while (p && fmo_gmpi_get(b->slot[p - 1].key) != key)
            before = p, p = fmo_gmpi_get(b->slot[p - 1].next);
        if (p == 0) continue; /* nobody waits for it: it stays */
        const unsigned next = fmo_gmpi_get(b->slot[p - 1].next);
        if (before)
            fmo_gmpi_set(b->slot[before - 1].next, next);
        else
            fmo_gmpi_set(q->first, next);
        if (next == 0) fmo_gmpi_set(q->last, before);
        fmo_gmpi_set(q->taken[n % FMO_GMPI_INBOX], 1);
        fmo_gmpi_give(&b->slot[p - 1], n, word, data);
    }
    fmo_gmpi_set(q->edge, n);
}

/* A receive meets the messages that have come before it, or waits in order. */
FMO_GMPI_SLOW int fmo_gmpi_peer_irecv(fmo_gmpi_buf *b, void *data, unsigned long long bytes,
                                      int source, int tag, int comm, fmo_gmpi_request *request)
{
    unsigned generation = 0;
    const int slot = fmo_gmpi_slot_take(b, &generation);
    if (slot < 0) return fmo_gmpi_fail(b, FMO_GMPI_FULL, FMO_GMPI_CALL_RECV, source, tag, comm);
    fmo_gmpi_slot *s = &b->slot[slot];
    fmo_gmpi_source *q = &b->source[source];
    const unsigned key = fmo_gmpi_key(comm, tag);
    fmo_gmpi_set(s->peer, source), fmo_gmpi_set(s->key, key), fmo_gmpi_set(s->next, 0u);
    fmo_gmpi_set(s->address, (unsigned long long)data), fmo_gmpi_set(s->bytes, bytes);
    *request = fmo_gmpi_request_make((unsigned)slot, generation);

    fmo_gmpi_lock(b, source);
    const unsigned long long edge = fmo_gmpi_get(q->edge);
    unsigned long long word, data_word, n = fmo_gmpi_get(q->low);
    for (; n < edge; n++)
        if (fmo_gmpi_get(q->taken[n % FMO_GMPI_INBOX]) == 0 &&
            fmo_gmpi_here_is(b, source, n, &word, &data_word) && fmo_gmpi_envelope_key(word) == key)
            break;
    if (n < edge) {
        fmo_gmpi_set(q->taken[n % FMO_GMPI_INBOX], 1);
        fmo_gmpi_give(s, n, word, data_word);
    } else {
        const unsigned last = fmo_gmpi_get(q->last);
        fmo_gmpi_state_set(s, FMO_GMPI_POSTED);
        if (last)
            fmo_gmpi_set(b->slot[last - 1].next, (unsigned)slot + 1);
        else
            fmo_gmpi_set(q->first, (unsigned)slot + 1);
        fmo_gmpi_set(q->last, (unsigned)slot + 1);
    }
    fmo_gmpi_unlock(b, source);
    return FMO_GMPI_OK;
}

/* Message `number` has been copied: its place, and those before it that are free too, are given
 * back to the sender, an eighth of the inbox at a time. */
FMO_GMPI_DEVICE void fmo_gmpi_take_out(fmo_gmpi_buf *b, int source, unsigned long long number)
{
    fmo_gmpi_source *q = &b->source[source];
    fmo_gmpi_lock(b, source);
    unsigned long long low = fmo_gmpi_get(q->low);
    if (low != number) {
        fmo_gmpi_set(q->taken[number % FMO_GMPI_INBOX], 2);
    } else {
        const unsigned long long edge = fmo_gmpi_get(q->edge);
        fmo_gmpi_set(q->taken[number % FMO_GMPI_INBOX], 0);
        for (low++; low < edge && fmo_gmpi_get(q->taken[low % FMO_GMPI_INBOX]) == 2; low++)
            fmo_gmpi_set(q->taken[low % FMO_GMPI_INBOX], 0);
        fmo_gmpi_set(q->low, low);
        if (low - fmo_gmpi_get(q->credited) >= FMO_GMPI_INBOX / 8) {
            fmo_gmpi_set(q->credited, low);
            fmo_gmpi_fence(); /* what was in the boxes has been read */
            fmo_gmpi_poke(&b->segment[source]->credit[b->rank].value, low);
        }
    }
    fmo_gmpi_unlock(b, source);
}

/* ---- the end of a request ---------------------------------------------------------------------
 */

/* Wait for it, or only look; the job says what is to be copied. */
FMO_GMPI_SLOW void fmo_gmpi_peer_begin(fmo_gmpi_buf *b, fmo_gmpi_request request, bool wait,
                                       fmo_gmpi_job *job)
{
    const unsigned slot = fmo_gmpi_request_slot(request);
    fmo_gmpi_slot *s = &b->slot[slot];
    const int peer = fmo_gmpi_get(s->peer);
    const unsigned key = fmo_gmpi_get(s->key);
    fmo_gmpi_source *q = &b->source[peer];
    fmo_gmpi_wait_state w = fmo_gmpi_waiting();
    unsigned long long word = 0, data = 0;
    const unsigned generation = fmo_gmpi_request_generation(request);
    const unsigned life = fmo_gmpi_get(s->life);
    unsigned state = life & 7;
    job->slot = (int)slot, job->peer = peer, job->kind = FMO_GMPI_JOB_NONE, job->bytes = 0;
    job->code = FMO_GMPI_OK;

    if (state == FMO_GMPI_SENDING || life >> 3 != generation) {
        for (;;) { /* who sees the end of a send may use its slot again */
            const bool used = fmo_gmpi_get(s->life) != fmo_gmpi_life(generation, FMO_GMPI_SENDING);
            if (used || fmo_gmpi_ended(b, slot, generation)) {
                fmo_gmpi_fence();
                atomicCAS(&s->life, fmo_gmpi_life(generation, FMO_GMPI_SENDING),
                          fmo_gmpi_life(generation, FMO_GMPI_FREE));
                job->slot = -1;
                return;
            }
            if (!wait) {
                job->kind = FMO_GMPI_JOB_LATER;
                return;
            }
            job->code =
                fmo_gmpi_turn(b, &w, FMO_GMPI_CALL_SEND, peer, (int)(key >> 4), (int)(key & 15));
            if (job->code != FMO_GMPI_OK) return;
        }
    }
    /* With one caller at a time nothing changes meanwhile but the inbox: the usual case, a receive
     * that is first in order and the next message is its own, reads nothing else after it came. */
    unsigned long long edge = fmo_gmpi_get(q->edge);
    const bool alone = !b->concurrent && fmo_gmpi_get(q->first) == slot + 1;
    while (state != FMO_GMPI_MATCHED) {
        if (fmo_gmpi_here_is(b, peer, edge, &word, &data)) {
            if (alone && fmo_gmpi_envelope_key(word) == key) {
                const unsigned next = fmo_gmpi_get(s->next);
                fmo_gmpi_set(q->edge, edge + 1);
                fmo_gmpi_set(q->first, next);
                if (next == 0) fmo_gmpi_set(q->last, 0u);
                fmo_gmpi_set(q->taken[edge % FMO_GMPI_INBOX], 1);
                job->index = edge;
                break;
            }
            fmo_gmpi_lock(b, peer);
            fmo_gmpi_match_new(b, peer);
            fmo_gmpi_unlock(b, peer);
        } else if (!wait && (fmo_gmpi_get(s->life) & 7) != FMO_GMPI_MATCHED) {
            job->kind = FMO_GMPI_JOB_LATER;
            return;
        }
        job->code =
            fmo_gmpi_turn(b, &w, FMO_GMPI_CALL_RECV, peer, (int)(key >> 4), (int)(key & 15));
        if (job->code != FMO_GMPI_OK) return;
        state = fmo_gmpi_get(s->life) & 7;
        edge = fmo_gmpi_get(q->edge);
    }
    if (state == FMO_GMPI_MATCHED) {
        word = fmo_gmpi_get(s->message[0]), data = fmo_gmpi_get(s->message[1]);
        job->index = fmo_gmpi_get(s->index);
    }
    const unsigned long long bytes = fmo_gmpi_envelope_bytes(word);
    const unsigned long long to = fmo_gmpi_get(s->address);
    const int kind = fmo_gmpi_envelope_kind(word);
    if (bytes > fmo_gmpi_get(s->bytes)) {
        job->code = fmo_gmpi_fail(b, FMO_GMPI_TRUNCATED, FMO_GMPI_CALL_RECV, peer, (int)(key >> 4),
                                  (int)(key & 15));
        return;
    }
    if (kind == FMO_GMPI_IN_ENTRY) {
        fmo_gmpi_unword((void *)to, data, (unsigned)bytes);
        return;
    }
    fmo_gmpi_fence(); /* an acquire: what the sender wrote before the entry can be read */
    job->to = to, job->bytes = bytes;
    job->kind = kind == FMO_GMPI_IN_BOX ? FMO_GMPI_JOB_SMALL : FMO_GMPI_JOB_LARGE;
    job->from =
        kind == FMO_GMPI_IN_BOX
            ? (unsigned long long)b->segment[b->rank]->box[peer][job->index % FMO_GMPI_INBOX]
        : kind == FMO_GMPI_AT_OFFSET ? (unsigned long long)b->heap[peer] + (data >> 16)
                                     : data >> 16;
    fmo_gmpi_set(s->message[1], data);
}

/* After the copy: places given back, the sender told. */
FMO_GMPI_DEVICE void fmo_gmpi_peer_end(fmo_gmpi_buf *b, const fmo_gmpi_job *job)
{
    if (job->slot < 0) return; /* a send */
    fmo_gmpi_slot *s = &b->slot[job->slot];
    if (job->kind == FMO_GMPI_JOB_LARGE) {
        const unsigned theirs = (unsigned)(fmo_gmpi_get(s->message[1]) & 65535);
        fmo_gmpi_fence();
        fmo_gmpi_poke(&b->segment[job->peer]->fetched[theirs].value, 1);
    }
    fmo_gmpi_take_out(b, job->peer, job->index);
    fmo_gmpi_state_set(s, FMO_GMPI_FREE);
}

/* ---- allreduce --------------------------------------------------------------------------------
 */

FMO_GMPI_DEVICE unsigned long long fmo_gmpi_combine(int type, int op, unsigned long long a,
                                                    unsigned long long b)
{
#define FMO_GMPI_ONE(T, to, from)                           \
    {                                                       \
        const T x = from(a), y = from(b);                   \
        const T z = op == FMO_GMPI_SUM   ? x + y            \
                    : op == FMO_GMPI_MAX ? (x > y ? x : y)  \
                                         : (x < y ? x : y); \
        return (unsigned long long)to(z);                   \
    }
    switch (type) {
    case FMO_GMPI_DOUBLE:
        FMO_GMPI_ONE(double, __double_as_longlong, __longlong_as_double)
    case FMO_GMPI_FLOAT:
        FMO_GMPI_ONE(float, __float_as_uint, __uint_as_float)
    case FMO_GMPI_INT32:
        FMO_GMPI_ONE(int, (unsigned), (int))
    default:
        FMO_GMPI_ONE(long long, (unsigned long long), (long long))
    }
#undef FMO_GMPI_ONE
}

/* The first 32 threads: every rank gets every element of every rank and sums in their order, so
 * that all have the same bits. Two buffers: who is one reduction ahead has everybody's previous
 * one. send NULL: a barrier of the ranks. */
FMO_GMPI_SLOW int fmo_gmpi_peer_allreduce(fmo_gmpi_buf *b, const void *send, void *recv,
                                          unsigned long long count, int type, int op, int comm)
{
    const unsigned lane = fmo_gmpi_thread();
    const unsigned lanes = fmo_gmpi_threads() < 32 ? fmo_gmpi_threads() : 32;
    const unsigned mask = ~0u >> (32 - lanes);
    const unsigned size = send ? (unsigned)fmo_gmpi_type_bytes(type) : 0;
    unsigned long long number = fmo_gmpi_get(b->reductions[comm]);
    int code = FMO_GMPI_OK;
    __syncwarp(mask);
    if (send == nullptr) fmo_gmpi_fence(); /* a barrier is a release and an acquire */
    for (unsigned long long at = 0; at < count && code == FMO_GMPI_OK; at += lanes) {
        number++;
        if (at + lane < count) {
            const unsigned char *from = (const unsigned char *)send + (at + lane) * size;
            const unsigned long long mine = send ? fmo_gmpi_word(from, size) : 0;
            unsigned long long sum = 0;
            for (int k = 1; k < b->size; k++) { /* not all at the same rank first */
                const int r = (b->rank + k) % b->size;
                fmo_gmpi_poke_entry(&b->segment[r]->reduce[comm][number & 1][b->rank][lane], number,
                                    mine);
            }
            fmo_gmpi_wait_state w = fmo_gmpi_waiting();
            for (int r = 0; r < b->size && code == FMO_GMPI_OK; r++) {
                unsigned long long word = 0, data = mine;
                while (r != b->rank) {
                    fmo_gmpi_peek_entry(&b->segment[b->rank]->reduce[comm][number & 1][r][lane],
                                        &word, &data);
                    if (word == number) break;
                    code = fmo_gmpi_turn(b, &w, FMO_GMPI_CALL_REDUCE, r, 0, comm);
                    if (code != FMO_GMPI_OK) break;
                }
                sum = r == 0 ? data : fmo_gmpi_combine(type, op, sum, data);
            }
            if (send && code == FMO_GMPI_OK)
                fmo_gmpi_unword((unsigned char *)recv + (at + lane) * size, sum, size);
        }
        if (__any_sync(mask, code != FMO_GMPI_OK)) code = fmo_gmpi_code_of(b);
    }
    if (send == nullptr) fmo_gmpi_fence();
    __syncwarp(mask);
    if (lane == 0) fmo_gmpi_set(b->reductions[comm], number);
    return code;
}

#endif
