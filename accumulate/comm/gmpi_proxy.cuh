/* gmpi, transport proxy, device side: commands of two 16-byte entries go into a ring in pinned
 * host memory, which a host thread polls (proxy.c); it answers each request with one entry. The
 * kernel itself writes messages of at most 32 KiB to pinned memory, and reads them there; longer
 * ones are copied by the host. This follows the paper except that the ring is in host memory: the
 * host polls its own memory at no cost, and a store over PCIe costs the kernel less than a read
 * by the host would. */
#ifndef FMO_GMPI_PROXY_CUH
#define FMO_GMPI_PROXY_CUH

#include "gmpi_slots.cuh"

/* One thread puts a command into the ring; the host sees what its block wrote before. */
FMO_GMPI_SLOW int fmo_gmpi_command_push(fmo_gmpi_buf *b, const fmo_gmpi_command *command)
{
    const unsigned long long at = atomicAdd(&b->ring_tail, 2ULL);
    if (at + 2 - fmo_gmpi_load_volatile(b->ring_taken) > FMO_GMPI_RING) {
        fmo_gmpi_wait_state w = fmo_gmpi_waiting();
        unsigned long long taken;
        while (at + 2 - (taken = fmo_gmpi_load(&b->page->taken.value)) > FMO_GMPI_RING) {
            const int code = fmo_gmpi_turn(b, &w, fmo_gmpi_abort_word(b), command->call,
                                           command->peer, command->tag, command->comm);
            if (code != FMO_GMPI_OK) return code;
        }
        fmo_gmpi_store_volatile(b->ring_taken, taken);
    }
    fmo_gmpi_entry entry[2];
    fmo_gmpi_command_pack(command, fmo_gmpi_lap(at, FMO_GMPI_RING), entry);
    fmo_gmpi_fence();
    for (int e = 0; e < 2; e++)
        fmo_gmpi_store_entry(&b->page->ring[(at + e) % FMO_GMPI_RING], entry[e].word[0],
                             entry[e].word[1]);
    return FMO_GMPI_OK;
}

/* Starts a command in a slot of its own, and stages its data if they are short. Called by one
 * block. */
FMO_GMPI_SLOW int fmo_gmpi_proxy_start(fmo_gmpi_buf *b, int call, const void *data,
                                       unsigned long long bytes, int type, int op, int peer,
                                       int tag, int comm, void *result, fmo_gmpi_request *request)
{
    __shared__ int slot_shared, code_shared;
    fmo_gmpi_request mine = FMO_GMPI_NULL; /* thread 0 */
    const bool first = fmo_gmpi_thread() == 0;
    const bool staged = bytes <= FMO_GMPI_STAGE;
    __syncthreads();
    if (first) {
        mine = fmo_gmpi_slot_take(b, b->concurrent != 0);
        slot_shared = (int)fmo_gmpi_request_slot(mine);
        code_shared = mine == FMO_GMPI_NULL ? fmo_gmpi_fail(b, FMO_GMPI_FULL, call, peer, tag, comm)
                                            : fmo_gmpi_code_of(b);
    }
    __syncthreads();
    const int slot = slot_shared;
    int code = code_shared;
    if (code != FMO_GMPI_OK) return code;
    if (call != FMO_GMPI_CALL_RECV && staged)
        fmo_gmpi_copy(b->page->stage[slot].data, data, bytes, fmo_gmpi_thread(),
                      fmo_gmpi_threads());
    __syncthreads();
    if (!first) return FMO_GMPI_OK;
    fmo_gmpi_slot *s = &b->slot[slot];
    fmo_gmpi_command c;
    c.call = call, c.type = type, c.op = op, c.comm = comm, c.tag = tag, c.peer = peer;
    c.staged = staged, c.slot = (unsigned)slot;
    c.generation = fmo_gmpi_request_generation(mine);
    c.bytes = bytes;
    c.address = (unsigned long long)(call == FMO_GMPI_CALL_RECV ? result : data);
    fmo_gmpi_store_volatile(s->peer, peer),
        fmo_gmpi_store_volatile(s->key, fmo_gmpi_key(comm, tag));
    fmo_gmpi_store_volatile(s->call, call),
        fmo_gmpi_store_volatile(s->address, (unsigned long long)result);
    fmo_gmpi_store_volatile(s->bytes, bytes);
    fmo_gmpi_state_set(s, call == FMO_GMPI_CALL_SEND ? FMO_GMPI_SENDING : FMO_GMPI_POSTED);
    *request = mine;
    return fmo_gmpi_command_push(b, &c);
}

/* Waits for the host's answer, or tests for it. */
FMO_GMPI_SLOW void fmo_gmpi_proxy_begin(fmo_gmpi_buf *b, fmo_gmpi_request request, bool wait,
                                        fmo_gmpi_job *job)
{
    const unsigned slot = fmo_gmpi_request_slot(request);
    const unsigned generation = fmo_gmpi_request_generation(request);
    fmo_gmpi_slot *s = &b->slot[slot];
    const int peer = fmo_gmpi_load_volatile(s->peer), call = fmo_gmpi_load_volatile(s->call);
    const unsigned key = fmo_gmpi_load_volatile(s->key);
    fmo_gmpi_wait_state w = fmo_gmpi_waiting();
    unsigned long long word, data;
    job->slot = (int)slot, job->peer = peer, job->kind = FMO_GMPI_JOB_NONE, job->bytes = 0;
    job->code = FMO_GMPI_OK;
    for (;;) {
        fmo_gmpi_load_entry(&b->page->done[slot].entry, &word, &data);
        if (fmo_gmpi_load_volatile(s->life) >> 3 !=
            generation) { /* a send whose slot has been reused */
            job->slot = -1;
            return;
        }
        if (fmo_gmpi_done_is(word, generation)) break;
        if (!wait) {
            fmo_gmpi_not_yet(b, job, call, peer, key);
            return;
        }
        job->code = fmo_gmpi_turn(b, &w, fmo_gmpi_abort_word(b), call, peer, (int)(key >> 4),
                                  (int)(key & 15));
        if (job->code != FMO_GMPI_OK) return;
    }
    if (fmo_gmpi_done_code(word) != FMO_GMPI_OK) {
        job->code = fmo_gmpi_fail(b, fmo_gmpi_done_code(word), call, peer, (int)(key >> 4),
                                  (int)(key & 15));
        return;
    }
    if (call == FMO_GMPI_CALL_SEND) {
        fmo_gmpi_send_over(b, s, generation);
        job->slot = -1;
        return;
    }
    const unsigned long long bytes = fmo_gmpi_done_bytes(word);
    const unsigned long long to = fmo_gmpi_load_volatile(s->address);
    if (bytes <= FMO_GMPI_INLINE) {
        fmo_gmpi_unword((void *)to, data, (unsigned)bytes);
        return;
    }
    fmo_gmpi_fence();
    if (bytes > FMO_GMPI_STAGE) return; /* the host has copied the data */
    job->kind = FMO_GMPI_JOB_SMALL;
    job->from = (unsigned long long)b->page->stage[slot].data;
    job->to = to, job->bytes = bytes;
}

FMO_GMPI_DEVICE void fmo_gmpi_proxy_end(fmo_gmpi_buf *b, const fmo_gmpi_job *job)
{
    fmo_gmpi_state_set(&b->slot[job->slot], FMO_GMPI_FREE);
}

#endif
