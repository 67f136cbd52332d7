/* gmpi: persistent channels, for halos. A channel goes from one rank to another, is matched when
 * the host makes it, and holds two messages. With the transport peer its sender writes straight
 * into the receiver's memory, and who packs a halo has sent it:
 *
 *      fmo_gmpi_channel out = fmo_gmpi_channel_open(b, number);
 *      double *there = (double *)fmo_gmpi_channel_begin<S>(&out);    sender: space for the next
 *      there[...] = ...;                                             any thread of the scope
 *      fmo_gmpi_channel_send<S>(&out);
 *
 *      const double *here = (const double *)fmo_gmpi_channel_recv<S>(&in);   receiver: the next
 *      ... = here[...];
 *      fmo_gmpi_channel_release<S>(&in);
 */
#ifndef FMO_GMPI_CHANNEL_CUH
#define FMO_GMPI_CHANNEL_CUH

#include "gmpi_proxy.cuh"

enum fmo_gmpi_scope { FMO_GMPI_BLOCK, FMO_GMPI_GRID };

FMO_GMPI_SLOW int fmo_gmpi_finish(fmo_gmpi_buf *b, fmo_gmpi_request *request, bool wait, bool grid,
                                  int *flag);

/** An end of a channel, in a variable of every thread of the scope; all of them call alike. */
struct fmo_gmpi_channel {
    fmo_gmpi_buf *b;
    int number;
    unsigned long long count; /* messages so far */
};

FMO_GMPI_DEVICE fmo_gmpi_channel fmo_gmpi_channel_open(fmo_gmpi_buf *b, int number)
{
    fmo_gmpi_channel c = {b, number, fmo_gmpi_get(b->channel[number].count)};
    return c;
}

/* Is this block the last of its scope to come here? One thread of each asks. Blocks that are ahead
 * may be at the next message; nobody is two ahead, since that waits for the flag, which comes after
 * the counter was cleared. */
template <int S> FMO_GMPI_DEVICE bool fmo_gmpi_channel_last(fmo_gmpi_channel *c)
{
    const unsigned blocks = S == FMO_GMPI_BLOCK ? 1 : fmo_gmpi_blocks(c->b);
    if (blocks == 1) return true;
    /* A release of what this block wrote or read; the last takes all of it along to the flag, which
     * it stores with a release that other ranks see. */
    unsigned *came = &c->b->channel[c->number].blocks[c->count & 1];
    if (fmo_gmpi_add_both(came, 1u) != blocks - 1) return false;
    fmo_gmpi_set(*came, 0u);
    return true;
}

/* Every block's thread 0 waits until a counter in its own device's memory has reached `least`. */
FMO_GMPI_DEVICE int fmo_gmpi_channel_wait(fmo_gmpi_buf *b, int number, const fmo_gmpi_flag *flag,
                                          unsigned long long least, int peer)
{
    int code = FMO_GMPI_OK;
    if (fmo_gmpi_thread() == 0) {
        fmo_gmpi_wait_state w = fmo_gmpi_waiting();
        for (;;) {
            const unsigned long long said = fmo_gmpi_said(b);
            if (fmo_gmpi_peek_acquire(&flag->value) >= least) break;
            code = fmo_gmpi_turn(b, &w, said, FMO_GMPI_CALL_CHANNEL, peer, number, 0);
            if (code != FMO_GMPI_OK) break;
        }
    }
    return __syncthreads_or(code != FMO_GMPI_OK);
}

/** Where the next message is to be written; NULL after an error. */
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

/** It has been written by all threads of the scope. */
template <int S> FMO_GMPI_DEVICE int fmo_gmpi_channel_send(fmo_gmpi_channel *c)
{
    fmo_gmpi_buf *b = c->b;
    fmo_gmpi_row *row = &b->channel[c->number];
    int code = FMO_GMPI_OK;
    if (b->transport == FMO_GMPI_PEER) {
        fmo_gmpi_flag *tell = row->tell; /* before the barrier, which it overlaps */
        __syncthreads();
        if (fmo_gmpi_thread() == 0 && fmo_gmpi_channel_last<S>(c)) {
            fmo_gmpi_poke_release(&tell->value, c->count + 1);
            fmo_gmpi_keep(row->count, c->count + 1);
        }
    } else {
        if (S == FMO_GMPI_GRID) code = fmo_gmpi_synchronise(b, nullptr);
        if (S == FMO_GMPI_BLOCK || fmo_gmpi_block(b) == 0) {
            const unsigned char *from =
                b->heap[b->rank] + row->offset + (2 + (c->count & 1)) * row->bytes;
            if (code == FMO_GMPI_OK)
                code = fmo_gmpi_proxy_start(b, FMO_GMPI_CALL_SEND, from, row->bytes, FMO_GMPI_BYTE,
                                            0, row->dest, c->number, FMO_GMPI_COMM_CHANNELS,
                                            nullptr, &row->request[c->count & 1]);
            if (fmo_gmpi_thread() == 0) fmo_gmpi_set(row->count, c->count + 1);
        }
    }
    c->count++;
    return code;
}

/** The next message, valid until it is released; NULL after an error. */
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

/** All threads of the scope have read it. */
template <int S> FMO_GMPI_DEVICE void fmo_gmpi_channel_release(fmo_gmpi_channel *c)
{
    fmo_gmpi_buf *b = c->b;
    fmo_gmpi_row *row = &b->channel[c->number];
    fmo_gmpi_flag *tell = row->tell;
    /* By another warp than the one whose thread 0 waits and sends: that goes on meanwhile. */
    const unsigned who = fmo_gmpi_threads() > 32 ? 32 : 0;
    __syncthreads();
    if (fmo_gmpi_thread() == who && fmo_gmpi_channel_last<S>(c)) {
        if (b->transport == FMO_GMPI_PEER) fmo_gmpi_poke_release(&tell->value, c->count + 1);
        fmo_gmpi_keep(row->count, c->count + 1);
    }
    c->count++;
}

#endif
