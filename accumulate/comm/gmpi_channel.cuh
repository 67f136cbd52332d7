/* gmpi: persistent channels, for halos. A channel leads from one rank to another, is matched when
 * the host creates it, and holds two messages. With the transport peer the sender writes directly
 * into the receiver's memory, so that packing a halo also sends it:
 *
 *      fmo_gmpi_channel out = fmo_gmpi_channel_open(b, number);
 *      double *there = (double *)fmo_gmpi_channel_begin<S>(&out);    sender: buffer of the next
 * message there[...] = ...;                                             any thread of the scope
 *      fmo_gmpi_channel_send<S>(&out);
 *
 *      const double *here = (const double *)fmo_gmpi_channel_recv<S>(&in);   receiver: next message
 *      ... = here[...];
 *      fmo_gmpi_channel_release<S>(&in); */
#ifndef FMO_GMPI_CHANNEL_CUH
#define FMO_GMPI_CHANNEL_CUH

#include "gmpi_proxy.cuh"

enum fmo_gmpi_scope { FMO_GMPI_BLOCK, FMO_GMPI_GRID };

FMO_GMPI_SLOW int fmo_gmpi_finish(fmo_gmpi_buf *b, fmo_gmpi_request *request, bool wait, bool grid,
                                  int *flag);

/** An end of a channel, in a variable of every thread of the scope. All of them make the same
 * calls. */
struct fmo_gmpi_channel {
    fmo_gmpi_buf *b;
    int number;
    unsigned long long count; /* messages so far */
};

FMO_GMPI_DEVICE fmo_gmpi_channel fmo_gmpi_channel_open(fmo_gmpi_buf *b, int number)
{
    fmo_gmpi_channel c = {b, number, fmo_gmpi_load_volatile(b->channel[number].count)};
    return c;
}

/* True for the last block of the scope that calls it, by one thread per block. Some blocks may be
 * one message ahead; none can be two ahead, because that requires the flag, which is set after
 * the counter has been cleared. */
template <int S> FMO_GMPI_DEVICE bool fmo_gmpi_channel_last(fmo_gmpi_channel *c)
{
    const unsigned blocks = S == FMO_GMPI_BLOCK ? 1 : fmo_gmpi_blocks(c->b);
    if (blocks == 1) return true;
    /* Releases what this block wrote or read. The last block acquires all of it and stores the
     * flag with a release at system scope, so that other ranks see it. */
    unsigned *came = &c->b->channel[c->number].blocks[c->count & 1];
    if (fmo_gmpi_add_acq_rel(came, 1u) != blocks - 1) return false;
    fmo_gmpi_store_volatile(*came, 0u);
    return true;
}

/* Thread 0 of every block waits until a counter in the memory of its own device is at least
 * `least`. Returns nonzero after an error. */
FMO_GMPI_DEVICE int fmo_gmpi_channel_wait(fmo_gmpi_buf *b, int number, const fmo_gmpi_flag *flag,
                                          unsigned long long least, int peer)
{
    int code = FMO_GMPI_OK;
    if (fmo_gmpi_thread() == 0) {
        fmo_gmpi_wait_state w = fmo_gmpi_waiting();
        for (;;) {
            const unsigned long long abort_word = fmo_gmpi_abort_word(b);
            if (fmo_gmpi_load_acquire(&flag->value) >= least) break;
            code = fmo_gmpi_turn(b, &w, abort_word, FMO_GMPI_CALL_CHANNEL, peer, number, 0);
            if (code != FMO_GMPI_OK) break;
        }
    }
    return __syncthreads_or(code != FMO_GMPI_OK);
}

/** Returns the buffer for the next message; NULL after an error. */
template <int S> FMO_GMPI_DEVICE void *fmo_gmpi_channel_begin(fmo_gmpi_channel *c)
{
    fmo_gmpi_buf *b = c->b;
    fmo_gmpi_row *row = &b->channel[c->number];
    const unsigned long long half = (c->count & 1) * row->bytes;
    if (b->transport == FMO_GMPI_PEER) {
        unsigned char *there = row->data + half;
        return c->count >= 2 &&
                       fmo_gmpi_channel_wait(b, c->number, row->watch, c->count - 1, row->dest)
                   ? nullptr
                   : there;
    }
    fmo_gmpi_request *before = &row->request[c->count & 1];
    if (fmo_gmpi_finish(b, before, true, S == FMO_GMPI_GRID, nullptr) != FMO_GMPI_OK)
        return nullptr;
    return b->heap[b->rank] + row->offset + 2 * row->bytes + half;
}

/** Sends the message, which all threads of the scope have written before the call. */
template <int S> FMO_GMPI_DEVICE int fmo_gmpi_channel_send(fmo_gmpi_channel *c)
{
    fmo_gmpi_buf *b = c->b;
    fmo_gmpi_row *row = &b->channel[c->number];
    int code = FMO_GMPI_OK;
    if (b->transport == FMO_GMPI_PEER) {
        fmo_gmpi_flag *tell = row->tell; /* loaded before the barrier, so that both overlap */
        __syncthreads();
        if (fmo_gmpi_thread() == 0 && fmo_gmpi_channel_last<S>(c)) {
            fmo_gmpi_store_release(&tell->value, c->count + 1);
            fmo_gmpi_store_cached(row->count, c->count + 1);
        }
    } else {
        if (S == FMO_GMPI_GRID) code = fmo_gmpi_blocks_barrier(b, nullptr);
        if (S == FMO_GMPI_BLOCK || fmo_gmpi_block(b) == 0) {
            const unsigned char *from =
                b->heap[b->rank] + row->offset + (2 + (c->count & 1)) * row->bytes;
            if (code == FMO_GMPI_OK)
                code = fmo_gmpi_proxy_start(b, FMO_GMPI_CALL_SEND, from, row->bytes, FMO_GMPI_BYTE,
                                            0, row->dest, c->number, FMO_GMPI_COMM_CHANNELS,
                                            nullptr, &row->request[c->count & 1]);
            if (fmo_gmpi_thread() == 0) fmo_gmpi_store_volatile(row->count, c->count + 1);
        }
    }
    c->count++;
    return code;
}

/** Returns the next message, valid until it is released; NULL after an error. */
template <int S> FMO_GMPI_DEVICE const void *fmo_gmpi_channel_recv(fmo_gmpi_channel *c)
{
    fmo_gmpi_buf *b = c->b;
    fmo_gmpi_row *row = &b->channel[c->number];
    const unsigned long long half = (c->count & 1) * row->bytes;
    if (b->transport == FMO_GMPI_PEER) {
        const unsigned char *message = row->data + half;
        return fmo_gmpi_channel_wait(b, c->number, row->watch, c->count + 1, row->source) ? nullptr
                                                                                          : message;
    }
    unsigned char *here = b->heap[b->rank] + row->offset + half;
    fmo_gmpi_request *request = &row->request[0];
    int code = FMO_GMPI_OK;
    if (S == FMO_GMPI_BLOCK || fmo_gmpi_block(b) == 0)
        code = fmo_gmpi_proxy_start(b, FMO_GMPI_CALL_RECV, nullptr, row->bytes, FMO_GMPI_BYTE, 0,
                                    row->source, c->number, FMO_GMPI_COMM_CHANNELS, here, request);
    const int end = fmo_gmpi_finish(b, request, true, S == FMO_GMPI_GRID, nullptr);
    return code != FMO_GMPI_OK || end != FMO_GMPI_OK ? nullptr : here;
}

/** Releases the message, which all threads of the scope have read before the call. */
template <int S> FMO_GMPI_DEVICE void fmo_gmpi_channel_release(fmo_gmpi_channel *c)
{
    fmo_gmpi_buf *b = c->b;
    fmo_gmpi_row *row = &b->channel[c->number];
    fmo_gmpi_flag *tell = row->tell;
    /* A warp other than that of thread 0 does this, so that thread 0 can wait and send
     * meanwhile. */
    const unsigned who = fmo_gmpi_threads() > 32 ? 32 : 0;
    __syncthreads();
    if (fmo_gmpi_thread() == who && fmo_gmpi_channel_last<S>(c)) {
        if (b->transport == FMO_GMPI_PEER) fmo_gmpi_store_release(&tell->value, c->count + 1);
        fmo_gmpi_store_cached(row->count, c->count + 1);
    }
    c->count++;
}

#endif
