/* gmpi, transport peer: stores and flags into the memory of other ranks' devices. A message of at
 * most 8 bytes is in its entry. One of at most 4 KiB goes into a box beside the entry, 8 bytes at
 * a time, each with the message's number, so that no fence is needed. A longer one is announced
 * and fetched by its receiver, which then notifies the sender. Messages without a matching
 * receive stay in the inbox. Functions are called by one thread, except where noted.
 *
 * The time of a call is that of memory accesses that depend on each other. State of the rank
 * itself is therefore cached, what a wait needs is loaded before it, and independent loads are
 * issued together. */
#ifndef FMO_GMPI_PEER_CUH
#define FMO_GMPI_PEER_CUH

#include "gmpi_slots.cuh"

/* ---- send ------------------------------------------------------------------------------------ */

/* Waits until the receiver has taken messages out of its full inbox. */
FMO_GMPI_SLOW int fmo_gmpi_inbox_space(fmo_gmpi_buf *b, unsigned long long number, int dest,
                                       int tag, int comm)
{
    fmo_gmpi_wait_state w = fmo_gmpi_waiting();
    unsigned long long credit;
    for (;;) {
        const unsigned long long abort_word = fmo_gmpi_abort_word(b);
        credit = fmo_gmpi_load(&b->mine->credit[dest].value);
        if (number - credit < FMO_GMPI_INBOX) break;
        const int code = fmo_gmpi_turn(b, &w, abort_word, FMO_GMPI_CALL_SEND, dest, tag, comm);
        if (code != FMO_GMPI_OK) return code;
    }
    fmo_gmpi_fence(); /* the receiver's reads happen before the writes that follow */
    fmo_gmpi_store_volatile(b->target[dest].credit, credit); /* an older value, stored by another
                                                              * block, does no harm */
    return FMO_GMPI_OK;
}

/* Announces a message that its receiver fetches. The entry is stored after a fence, so that the
 * data are visible. */
FMO_GMPI_SLOW int fmo_gmpi_announce(fmo_gmpi_buf *b, fmo_gmpi_entry *entry, const void *data,
                                    unsigned long long bytes, unsigned long long valid, int dest,
                                    int tag, int comm, fmo_gmpi_request *request)
{
    const unsigned long long at = (unsigned long long)data;
    const unsigned long long offset = at - (unsigned long long)b->heap[b->rank];
    const bool in_heap = offset < b->heap_bytes;
    if (!in_heap && !b->one_process)
        return fmo_gmpi_fail(b, FMO_GMPI_UNREACHABLE, FMO_GMPI_CALL_SEND, dest, tag, comm);
    const bool several_blocks = b->concurrent != 0;
    const fmo_gmpi_request mine = fmo_gmpi_slot_take(b, several_blocks);
    if (mine == FMO_GMPI_NULL)
        return fmo_gmpi_fail(b, FMO_GMPI_FULL, FMO_GMPI_CALL_SEND, dest, tag, comm);
    const unsigned slot = fmo_gmpi_request_slot(mine);
    fmo_gmpi_slot *s = &b->slot[slot];
    fmo_gmpi_store(&b->mine->fetched[slot].value, 0);
    if (several_blocks) fmo_gmpi_fence_gpu(); /* before others see that the slot is sending */
    fmo_gmpi_store_cached(s->peer, dest), fmo_gmpi_store_cached(s->key, fmo_gmpi_key(comm, tag));
    fmo_gmpi_life_set(several_blocks, s, fmo_gmpi_request_generation(mine), FMO_GMPI_SENDING);
    *request = mine;
    fmo_gmpi_fence();
    fmo_gmpi_store_entry(entry,
                         fmo_gmpi_envelope(valid,
                                           in_heap ? FMO_GMPI_AT_OFFSET : FMO_GMPI_AT_ADDRESS, comm,
                                           tag, bytes),
                         (in_heap ? offset : at) << 16 | slot);
    return FMO_GMPI_OK;
}

/* Starts a send. Called by all threads of a block; thread 0 holds the request. */
FMO_GMPI_SLOW int fmo_gmpi_peer_isend(fmo_gmpi_buf *b, const void *data, unsigned long long bytes,
                                      int dest, int tag, int comm, fmo_gmpi_request *request)
{
    __shared__ unsigned long long number_shared;
    __shared__ int code_shared;
    const bool boxed = bytes > FMO_GMPI_INLINE && bytes <= FMO_GMPI_EAGER;
    int code = FMO_GMPI_OK;
    if (fmo_gmpi_thread() == 0) {
        const bool several_blocks = b->concurrent != 0;
        const int rank = b->rank;
        fmo_gmpi_segment *to = b->segment[dest];
        fmo_gmpi_target *target = &b->target[dest];
        const unsigned long long small =
            bytes <= FMO_GMPI_INLINE ? fmo_gmpi_word(data, (unsigned)bytes) : 0;
        unsigned long long number, credit;
        if (several_blocks) {
            number = atomicAdd(&target->sent, 1ULL);
            credit = fmo_gmpi_load_volatile(target->credit);
        } else {
            number = fmo_gmpi_load_cached(target->sent);
            credit = fmo_gmpi_load_cached(target->credit);
            fmo_gmpi_store_cached(target->sent, number + 1);
        }
        /* The receiver's credit is loaded only if the last known value does not suffice. */
        if (number - credit >= FMO_GMPI_INBOX)
            code = fmo_gmpi_inbox_space(b, number, dest, tag, comm);
        if (code == FMO_GMPI_OK) {
            fmo_gmpi_entry *entry = &to->inbox[rank][number % FMO_GMPI_INBOX];
            const unsigned long long valid = fmo_gmpi_lap(number, FMO_GMPI_INBOX);
            if (bytes <= FMO_GMPI_EAGER) {
                const int kind = boxed ? FMO_GMPI_IN_BOX : FMO_GMPI_IN_ENTRY;
                fmo_gmpi_store_entry(entry, fmo_gmpi_envelope(valid, kind, comm, tag, bytes),
                                     small);
                *request = FMO_GMPI_NULL;
            } else {
                code = fmo_gmpi_announce(b, entry, data, bytes, valid, dest, tag, comm, request);
            }
        }
        if (boxed) number_shared = number, code_shared = code;
    }
    if (!boxed) return code; /* of thread 0; a failure is sticky */
    __syncthreads();
    const unsigned long long number = number_shared;
    code = code_shared;
    if (code != FMO_GMPI_OK) return code;
    fmo_gmpi_entry *box = b->segment[dest]->box[b->rank][number % FMO_GMPI_INBOX];
    const unsigned threads = fmo_gmpi_threads();
    for (unsigned i = fmo_gmpi_thread(); 8 * i < bytes; i += threads) {
        const unsigned rest = (unsigned)bytes - 8 * i;
        fmo_gmpi_store_entry(
            box + i, fmo_gmpi_word((const unsigned char *)data + 8 * i, rest < 8 ? rest : 8),
            number + 1);
    }
    return code;
}

/* ---- receive --------------------------------------------------------------------------------- */

FMO_GMPI_DEVICE void fmo_gmpi_lock(bool several_blocks, fmo_gmpi_source *q)
{
    if (!several_blocks) return;
    while (atomicCAS(&q->lock, 0u, 1u) != 0) __nanosleep(20); /* held for a short time */
    fmo_gmpi_fence_gpu();
}
FMO_GMPI_DEVICE void fmo_gmpi_unlock(bool several_blocks, fmo_gmpi_source *q)
{
    if (!several_blocks) return;
    fmo_gmpi_fence_gpu();
    atomicExch(&q->lock, 0u);
}

/* Loads the entry of a message; true if it has arrived. */
FMO_GMPI_DEVICE bool fmo_gmpi_entry_arrived(const fmo_gmpi_entry *inbox, unsigned long long number,
                                            unsigned long long *word, unsigned long long *data)
{
    fmo_gmpi_load_entry(inbox + number % FMO_GMPI_INBOX, word, data);
    return (*word & 1) == fmo_gmpi_lap(number, FMO_GMPI_INBOX);
}
/* Assigns message `number`, with the entry (word, data), to the receive of a slot. */
FMO_GMPI_DEVICE void fmo_gmpi_match_slot(bool several_blocks, fmo_gmpi_slot *s,
                                         unsigned long long number, unsigned long long word,
                                         unsigned long long data)
{
    const unsigned life = fmo_gmpi_life_of(several_blocks, s);
    fmo_gmpi_store_cached(s->message[0], word), fmo_gmpi_store_cached(s->message[1], data);
    fmo_gmpi_store_cached(s->index, number);
    if (several_blocks) fmo_gmpi_fence_gpu();
    fmo_gmpi_life_set(several_blocks, s, life >> 3, FMO_GMPI_MATCHED);
}

/* Matches messages that have arrived since the last call with receives. The caller holds the
 * lock. */
FMO_GMPI_SLOW void fmo_gmpi_match_new(fmo_gmpi_buf *b, int source)
{
    const bool several_blocks = b->concurrent != 0;
    const fmo_gmpi_entry *inbox = b->mine->inbox[source];
    fmo_gmpi_source *q = &b->source[source];
    unsigned long long word, data, n = fmo_gmpi_load_cached(q->edge);
    for (; fmo_gmpi_entry_arrived(inbox, n, &word, &data); n++) {
        const unsigned key = fmo_gmpi_envelope_key(word);
        unsigned before = 0, p = fmo_gmpi_load_cached(q->first);
        while (p && fmo_gmpi_load_cached(b->slot[p - 1].key) != key)
            before = p, p = fmo_gmpi_load_cached(b->slot[p - 1].next);
        if (p == 0) continue; /* no receive matches: it stays in the inbox */
        const unsigned next = fmo_gmpi_load_cached(b->slot[p - 1].next);
        if (before)
            fmo_gmpi_store_cached(b->slot[before - 1].next, next);
        else
            fmo_gmpi_store_cached(q->first, next);
        if (next == 0) fmo_gmpi_store_cached(q->last, before);
        fmo_gmpi_store_cached(q->taken[n % FMO_GMPI_INBOX], 1);
        fmo_gmpi_match_slot(several_blocks, &b->slot[p - 1], n, word, data);
    }
    fmo_gmpi_store_cached(q->edge, n);
}

/* Starts a receive: matches it with a message that has arrived, or appends it to the list of
 * receives. */
FMO_GMPI_SLOW int fmo_gmpi_peer_irecv(fmo_gmpi_buf *b, void *data, unsigned long long bytes,
                                      int source, int tag, int comm, fmo_gmpi_request *request)
{
    const bool several_blocks = b->concurrent != 0;
    const fmo_gmpi_request mine = fmo_gmpi_slot_take(b, several_blocks);
    if (mine == FMO_GMPI_NULL)
        return fmo_gmpi_fail(b, FMO_GMPI_FULL, FMO_GMPI_CALL_RECV, source, tag, comm);
    const unsigned slot = fmo_gmpi_request_slot(mine);
    fmo_gmpi_slot *s = &b->slot[slot];
    fmo_gmpi_source *q = &b->source[source];
    const unsigned key = fmo_gmpi_key(comm, tag);

    fmo_gmpi_lock(several_blocks, q);
    const unsigned long long edge = fmo_gmpi_load_cached(q->edge);
    const unsigned last = fmo_gmpi_load_cached(q->last);
    unsigned long long word, data_word, n = fmo_gmpi_load_cached(q->low);
    fmo_gmpi_store_cached(s->key, key), fmo_gmpi_store_cached(s->next, 0u),
        fmo_gmpi_store_cached(s->peer, source);
    fmo_gmpi_store_cached(s->address, (unsigned long long)data),
        fmo_gmpi_store_cached(s->bytes, bytes);
    *request = mine;
    for (; n < edge; n++)
        if (fmo_gmpi_load_cached(q->taken[n % FMO_GMPI_INBOX]) == 0 &&
            fmo_gmpi_entry_arrived(b->mine->inbox[source], n, &word, &data_word) &&
            fmo_gmpi_envelope_key(word) == key)
            break;
    fmo_gmpi_life_set(several_blocks, s, fmo_gmpi_request_generation(mine), FMO_GMPI_POSTED);
    if (n < edge) {
        fmo_gmpi_store_cached(q->taken[n % FMO_GMPI_INBOX], 1);
        fmo_gmpi_match_slot(several_blocks, s, n, word, data_word);
    } else {
        if (last)
            fmo_gmpi_store_cached(b->slot[last - 1].next, slot + 1);
        else
            fmo_gmpi_store_cached(q->first, slot + 1);
        fmo_gmpi_store_cached(q->last, slot + 1);
    }
    fmo_gmpi_unlock(several_blocks, q);
    return FMO_GMPI_OK;
}

/* Tells the sender that it may reuse the entries before `low`. This is done for an eighth of the
 * inbox at a time. */
FMO_GMPI_SLOW void fmo_gmpi_credit(fmo_gmpi_buf *b, int source, unsigned long long low)
{
    fmo_gmpi_store_cached(b->source[source].credited, low);
    fmo_gmpi_fence(); /* the boxes have been read */
    fmo_gmpi_store(&b->segment[source]->credit[b->rank].value, low);
}

/* Takes message `number` out of the inbox after it has been copied. If it is the oldest one, `low`
 * moves past it and past the following messages that are already out. */
FMO_GMPI_DEVICE void fmo_gmpi_take_out(fmo_gmpi_buf *b, bool several_blocks, int source,
                                       unsigned long long number)
{
    fmo_gmpi_source *q = &b->source[source];
    fmo_gmpi_lock(several_blocks, q);
    unsigned long long low = fmo_gmpi_load_cached(q->low);
    const unsigned long long edge = fmo_gmpi_load_cached(q->edge),
                             credited = fmo_gmpi_load_cached(q->credited);
    if (low != number) {
        fmo_gmpi_store_cached(q->taken[number % FMO_GMPI_INBOX], 2);
    } else {
        fmo_gmpi_store_cached(q->taken[number % FMO_GMPI_INBOX], 0);
        for (low++; low < edge && fmo_gmpi_load_cached(q->taken[low % FMO_GMPI_INBOX]) == 2; low++)
            fmo_gmpi_store_cached(q->taken[low % FMO_GMPI_INBOX], 0);
        fmo_gmpi_store_cached(q->low, low);
        if (low - credited >= FMO_GMPI_INBOX / 8) fmo_gmpi_credit(b, source, low);
    }
    fmo_gmpi_unlock(several_blocks, q);
}

/* ---- the end of a request -------------------------------------------------------------------- */

/* Waits for a send, or tests it: its receiver has fetched it, or its slot has been reused. */
FMO_GMPI_SLOW void fmo_gmpi_peer_sent(fmo_gmpi_buf *b, fmo_gmpi_request request, bool wait,
                                      fmo_gmpi_job *job)
{
    const unsigned slot = fmo_gmpi_request_slot(request);
    const unsigned generation = fmo_gmpi_request_generation(request);
    fmo_gmpi_slot *s = &b->slot[slot];
    const int peer = fmo_gmpi_load_cached(s->peer);
    const unsigned key = fmo_gmpi_load_cached(s->key);
    fmo_gmpi_wait_state w = fmo_gmpi_waiting();
    for (;;) { /* another block that sees the end of a send may reuse its slot */
        const unsigned long long abort_word = fmo_gmpi_abort_word(b);
        const bool ended = fmo_gmpi_ended(b, slot, generation);
        const bool used =
            fmo_gmpi_life_of(b->concurrent != 0, s) != fmo_gmpi_life(generation, FMO_GMPI_SENDING);
        if (used || ended) {
            fmo_gmpi_fence();
            fmo_gmpi_send_over(b, s, generation);
            job->slot = -1;
            return;
        }
        if (!wait) {
            fmo_gmpi_not_yet(b, job, FMO_GMPI_CALL_SEND, peer, key);
            return;
        }
        job->code = fmo_gmpi_turn(b, &w, abort_word, FMO_GMPI_CALL_SEND, peer, (int)(key >> 4),
                                  (int)(key & 15));
        if (job->code != FMO_GMPI_OK) return;
    }
}

/* A posted receive. */
typedef struct fmo_gmpi_posted {
    unsigned slot, generation, key;
    int peer;
    unsigned long long to, capacity; /* address and bytes of the caller's memory */
} fmo_gmpi_posted;

/* A message for it: entry, number, and whether it has been taken out of the inbox. */
typedef struct fmo_gmpi_arrived {
    unsigned long long word, data, number;
    bool out;
} fmo_gmpi_arrived;

/* The state of a source, loaded before a wait; with several callers only `edge`. */
typedef struct fmo_gmpi_front {
    unsigned long long edge, low, credited;
    unsigned next; /* slot + 1 of the receive after this one */
    bool alone;    /* this receive is first in order */
} fmo_gmpi_front;

FMO_GMPI_DEVICE fmo_gmpi_front fmo_gmpi_front_of(bool several_blocks, const fmo_gmpi_source *q,
                                                 const fmo_gmpi_slot *s, unsigned slot)
{
    fmo_gmpi_front f = {0, 0, 0, 0, false};
    if (several_blocks) {
        f.edge = fmo_gmpi_load_volatile(q->edge);
    } else {
        f.edge = fmo_gmpi_load_cached(q->edge), f.low = fmo_gmpi_load_cached(q->low);
        f.credited = fmo_gmpi_load_cached(q->credited), f.next = fmo_gmpi_load_cached(s->next);
        f.alone = fmo_gmpi_load_cached(q->first) == slot + 1;
    }
    return f;
}

/* Gives message `edge` to the receive that is first in order. Returns true if the message is out of
 * the inbox. */
FMO_GMPI_DEVICE bool fmo_gmpi_match_first(fmo_gmpi_buf *b, int peer, const fmo_gmpi_front *f,
                                          unsigned long long word)
{
    fmo_gmpi_source *q = &b->source[peer];
    fmo_gmpi_store_cached(q->edge, f->edge + 1);
    fmo_gmpi_store_cached(q->first, f->next);
    if (f->next == 0) fmo_gmpi_store_cached(q->last, 0u);
    const bool out = f->low == f->edge && fmo_gmpi_envelope_kind(word) == FMO_GMPI_IN_ENTRY;
    if (out) {
        fmo_gmpi_store_cached(q->low, f->edge + 1);
        if (f->edge + 1 - f->credited >= FMO_GMPI_INBOX / 8) fmo_gmpi_credit(b, peer, f->edge + 1);
    } else {
        fmo_gmpi_store_cached(q->taken[f->edge % FMO_GMPI_INBOX], 1);
    }
    return out;
}

/* Completes a receive whose message is in its entry; of other messages the job tells what is to be
 * copied. */
FMO_GMPI_DEVICE void fmo_gmpi_peer_take(fmo_gmpi_buf *b, bool several_blocks,
                                        const fmo_gmpi_posted *p, const fmo_gmpi_arrived *m,
                                        fmo_gmpi_job *job)
{
    const unsigned long long bytes = fmo_gmpi_envelope_bytes(m->word);
    const int kind = fmo_gmpi_envelope_kind(m->word);
    if (bytes > p->capacity) {
        job->code = fmo_gmpi_fail(b, FMO_GMPI_TRUNCATED, FMO_GMPI_CALL_RECV, p->peer,
                                  (int)(p->key >> 4), (int)(p->key & 15));
        return;
    }
    if (kind == FMO_GMPI_IN_ENTRY) {
        fmo_gmpi_unword((void *)p->to, m->data, (unsigned)bytes);
        if (!m->out) fmo_gmpi_take_out(b, several_blocks, p->peer, m->number);
        fmo_gmpi_slot_free(b, several_blocks, p->slot, p->generation);
        job->slot = -1;
        return;
    }
    job->to = p->to, job->bytes = bytes, job->index = m->number;
    if (kind == FMO_GMPI_IN_BOX) {
        job->kind = FMO_GMPI_JOB_BOX;
        job->from = (unsigned long long)b->mine->box[p->peer][m->number % FMO_GMPI_INBOX];
        return;
    }
    job->kind = FMO_GMPI_JOB_LARGE;
    job->theirs = (unsigned)(m->data & 65535);
    job->from = kind == FMO_GMPI_AT_OFFSET ? (unsigned long long)b->heap[p->peer] + (m->data >> 16)
                                           : m->data >> 16;
}

/* Waits for a request, or tests it; the job tells what is to be copied. */
FMO_GMPI_SLOW void fmo_gmpi_peer_begin(fmo_gmpi_buf *b, fmo_gmpi_request request, bool wait,
                                       fmo_gmpi_job *job)
{
    const unsigned slot = fmo_gmpi_request_slot(request);
    const unsigned generation = fmo_gmpi_request_generation(request);
    fmo_gmpi_slot *s = &b->slot[slot];
    const bool several_blocks = b->concurrent != 0;
    const fmo_gmpi_segment *mine = b->mine;
    const unsigned life = fmo_gmpi_life_of(several_blocks, s);
    const int peer = fmo_gmpi_load_cached(s->peer);
    const unsigned key = fmo_gmpi_load_cached(s->key);
    const unsigned long long to = fmo_gmpi_load_cached(s->address),
                             capacity = fmo_gmpi_load_cached(s->bytes);
    job->slot = (int)slot, job->peer = peer, job->kind = FMO_GMPI_JOB_NONE, job->bytes = 0;
    job->code = FMO_GMPI_OK, job->generation = generation, job->key = key;
    unsigned state = life & 7;
    /* free: fmo_gmpi_synchronize has completed it */
    if (state == FMO_GMPI_SENDING || state == FMO_GMPI_FREE || life >> 3 != generation) {
        fmo_gmpi_peer_sent(b, request, wait, job);
        return;
    }

    /* With one caller at a time only the inbox changes meanwhile. In the usual case the receive
     * is first in order and the next message is its own; then nothing else is loaded after the
     * message has arrived. */
    fmo_gmpi_source *q = &b->source[peer];
    fmo_gmpi_wait_state w = fmo_gmpi_waiting();
    fmo_gmpi_arrived m = {0, 0, 0, false};
    while (state != FMO_GMPI_MATCHED) {
        const fmo_gmpi_front f = fmo_gmpi_front_of(several_blocks, q, s, slot);
        bool arrived;
        for (;;) {
            arrived = fmo_gmpi_entry_arrived(mine->inbox[peer], f.edge, &m.word, &m.data);
            const unsigned long long abort_word = fmo_gmpi_load(&mine->abort.value);
            if (arrived) break;
            if (!wait) {
                if (several_blocks && (fmo_gmpi_load_volatile(s->life) & 7) == FMO_GMPI_MATCHED)
                    break;
                fmo_gmpi_not_yet(b, job, FMO_GMPI_CALL_RECV, peer, key);
                return;
            }
            job->code = fmo_gmpi_turn(b, &w, abort_word, FMO_GMPI_CALL_RECV, peer, (int)(key >> 4),
                                      (int)(key & 15));
            if (job->code != FMO_GMPI_OK) return;
            if (several_blocks) break; /* other blocks examine the inbox, too */
        }
        if (arrived && f.alone && fmo_gmpi_envelope_key(m.word) == key) {
            m.number = f.edge;
            m.out = fmo_gmpi_match_first(b, peer, &f, m.word);
            break;
        }
        if (arrived) {
            fmo_gmpi_lock(several_blocks, q);
            fmo_gmpi_match_new(b, peer);
            fmo_gmpi_unlock(several_blocks, q);
        }
        state = fmo_gmpi_life_of(several_blocks, s) & 7;
    }
    if (state == FMO_GMPI_MATCHED) {
        if (several_blocks) fmo_gmpi_fence_gpu(); /* another block may have matched it */
        m.word = fmo_gmpi_load_cached(s->message[0]), m.data = fmo_gmpi_load_cached(s->message[1]);
        m.number = fmo_gmpi_load_cached(s->index);
    }
    const fmo_gmpi_posted p = {slot, generation, key, peer, to, capacity};
    fmo_gmpi_peer_take(b, several_blocks, &p, &m, job);
}

/* Copies a message from its box. Its words may arrive late and in any order. Called by one
 * block. */
FMO_GMPI_SLOW int fmo_gmpi_unbox(fmo_gmpi_buf *b, const fmo_gmpi_job *job)
{
    enum { ONCE = 2 };
    const fmo_gmpi_entry *box = (const fmo_gmpi_entry *)job->from;
    unsigned char *to = (unsigned char *)job->to;
    const unsigned bytes = (unsigned)job->bytes, threads = fmo_gmpi_threads();
    const unsigned long long expected = job->index + 1;
    fmo_gmpi_wait_state w = fmo_gmpi_waiting();
    int code = FMO_GMPI_OK;
    for (unsigned at = fmo_gmpi_thread(); 8 * at < bytes && code == FMO_GMPI_OK;
         at += ONCE * threads) {
        unsigned long long data[ONCE], number[ONCE];
        for (;;) {
            bool all = true;
#pragma unroll
            for (int k = 0; k < ONCE; k++)
                if (8 * (at + k * threads) < bytes)
                    fmo_gmpi_load_entry(box + at + k * threads, &data[k], &number[k]);
                else
                    number[k] = expected;
#pragma unroll
            for (int k = 0; k < ONCE; k++) all = all && number[k] == expected;
            if (all) break;
            code = fmo_gmpi_turn(b, &w, fmo_gmpi_abort_word(b), FMO_GMPI_CALL_RECV, job->peer,
                                 (int)(job->key >> 4), (int)(job->key & 15));
            if (code != FMO_GMPI_OK) break;
        }
        if (code != FMO_GMPI_OK) break;
#pragma unroll
        for (int k = 0; k < ONCE; k++) {
            const unsigned i = 8 * (at + k * threads);
            if (i < bytes) fmo_gmpi_unword(to + i, data[k], bytes - i < 8 ? bytes - i : 8);
        }
    }
    return __syncthreads_or(code != FMO_GMPI_OK) ? fmo_gmpi_code_of(b) : FMO_GMPI_OK;
}

/* After the copy: notifies the sender, takes the message out, and frees the slot. */
FMO_GMPI_DEVICE void fmo_gmpi_peer_end(fmo_gmpi_buf *b, const fmo_gmpi_job *job)
{
    if (job->kind == FMO_GMPI_JOB_LARGE)
        fmo_gmpi_store_release(&b->segment[job->peer]->fetched[job->theirs].value, 1);
    const bool several_blocks = b->concurrent != 0;
    fmo_gmpi_take_out(b, several_blocks, job->peer, job->index);
    fmo_gmpi_slot_free(b, several_blocks, (unsigned)job->slot, job->generation);
}

#endif
