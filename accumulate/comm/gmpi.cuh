/* gmpi in kernels: messages between ranks, sent and received by device code. Names, order of
 * arguments and meaning as in the paper (GMPI, 2016), which has MPI's; the first argument is the
 * rank's fmo_gmpi_buf. The host makes the ranks: <fmo/gmpi.h>. CUDA C++17, sm_75 or newer.
 *
 *      __global__ void ping_pong(fmo_gmpi_buf *bufs, double *data, double *other, int count)
 *      {
 *          fmo_gmpi_buf *b = fmo_gmpi_here(bufs);
 *          fmo_gmpi_request request = FMO_GMPI_NULL;
 *          const int peer = 1 - b->rank;
 *          fmo_gmpi_isend<FMO_GMPI_GRID>(b, data, count, FMO_GMPI_DOUBLE, peer, 0, 0, &request);
 *          fmo_gmpi_irecv<FMO_GMPI_GRID>(b, other, count, FMO_GMPI_DOUBLE, peer, 0, 0, &request);
 *          if (fmo_gmpi_wait<FMO_GMPI_GRID>(b, &request) != FMO_GMPI_OK) return;
 *          fmo_gmpi_synchronize<FMO_GMPI_GRID>(b);    the send has no request any more
 *      }
 *
 * Scopes. FMO_GMPI_GRID: all threads of all blocks of the rank call together; every call but a wait
 * begins with a barrier of the blocks, so what they wrote before is what is sent. FMO_GMPI_BLOCK:
 * all threads of one block call together; other blocks may call at the same time if the group was
 * made with `concurrent`. Kernels are launched cooperatively, since all blocks must be resident.
 *
 * Data stand in global memory, of the rank's own device; between processes, what is longer than 4
 * KiB, in memory of fmo_gmpi_alloc (transport peer).
 *
 * A message brings its own data. What was written through fmo_gmpi_remote is ordered by a barrier
 * of the ranks, or by a channel.
 *
 * Requests. Thread 0 of the (first) block keeps a request; its variable may be that thread's own,
 * or shared, and begins as FMO_GMPI_NULL. Wait for it in the same scope and block. Data handed to
 * an irecv belong to it until the wait; data of an isend until its wait, or fmo_gmpi_synchronize.
 *
 * Order. Messages from one rank with one tag on one communicator do not overtake each other, and
 * meet receives in the order in which these were called. With the transport peer a send waits when
 * 448 messages have gone to its receiver since the oldest one that has not been received there: two
 * ranks that flood each other so, and receive nothing, end by the timeout.
 *
 * Errors. A wait that lasts longer than the group's timeout ends all ranks: their calls return a
 * fmo_gmpi_code other than FMO_GMPI_OK from then on; leave the kernel and ask fmo_gmpi_check().
 */
#ifndef FMO_GMPI_CUH
#define FMO_GMPI_CUH

#include "gmpi_peer.cuh"
#include "gmpi_allreduce.cuh"
#include "gmpi_proxy.cuh"
#include "gmpi_channel.cuh"

/** The rank that this block is part of. */
FMO_GMPI_DEVICE fmo_gmpi_buf *fmo_gmpi_here(fmo_gmpi_buf *bufs)
{
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z / (unsigned)bufs->ranks_on_device;
    return bufs + fmo_gmpi_grid_block() / blocks;
}

/** FMO_GMPI_OK, or what ended this rank. */
FMO_GMPI_DEVICE int fmo_gmpi_error(fmo_gmpi_buf *b)
{
    return fmo_gmpi_code_of(b);
}

/** Address of an offset of fmo_gmpi_alloc in the heap of any rank; NULL if it is out of reach. */
FMO_GMPI_DEVICE void *fmo_gmpi_remote(fmo_gmpi_buf *b, int rank, unsigned long long offset)
{
    return b->heap[rank] ? b->heap[rank] + offset : nullptr;
}

/** Barrier of all blocks of this rank, which ends when a rank fails. */
FMO_GMPI_DEVICE int fmo_gmpi_grid_sync(fmo_gmpi_buf *b)
{
    return fmo_gmpi_synchronise(b, nullptr);
}

/* The end of a request: waited for or looked at, copied, given back. */
FMO_GMPI_SLOW int fmo_gmpi_finish(fmo_gmpi_buf *b, fmo_gmpi_request *request, bool wait, bool grid,
                                  int *flag)
{
    __shared__ fmo_gmpi_job job;
    const unsigned blocks = grid ? fmo_gmpi_blocks(b) : 1;
    const bool several = blocks > 1;
    const bool mine = !several || fmo_gmpi_block(b) == 0;
    const bool first = fmo_gmpi_thread() == 0;
    int code = FMO_GMPI_OK;
    __syncthreads(); /* everybody has read the job before this one */
    if (mine) {
        if (first) {
            if (*request == FMO_GMPI_NULL) {
                job.slot = -1, job.kind = FMO_GMPI_JOB_NONE, job.bytes = 0;
                job.code = fmo_gmpi_code_of(b);
            } else if (b->transport == FMO_GMPI_PEER) {
                fmo_gmpi_peer_begin(b, *request, wait, &job);
                /* An acquire of what its sender wrote. Several blocks: in their barrier. */
                if (job.kind == FMO_GMPI_JOB_LARGE && !several) fmo_gmpi_fence();
            } else {
                fmo_gmpi_proxy_begin(b, *request, wait, &job);
            }
        }
        __syncthreads();
        code = job.code;
        if (code == FMO_GMPI_OK && job.kind == FMO_GMPI_JOB_BOX) {
            code = fmo_gmpi_unbox(b, &job);
        } else if (code == FMO_GMPI_OK && job.kind == FMO_GMPI_JOB_SMALL) {
            fmo_gmpi_copy((void *)job.to, (const void *)job.from, job.bytes, fmo_gmpi_thread(),
                          fmo_gmpi_threads());
            __syncthreads();
        }
    }
    if (several && code == FMO_GMPI_OK) {
        code = fmo_gmpi_synchronise(b, &job);
        if (code != FMO_GMPI_OK) return code;
    }
    if (code == FMO_GMPI_OK && job.kind == FMO_GMPI_JOB_LARGE) {
        const unsigned long long threads = fmo_gmpi_threads();
        fmo_gmpi_copy((void *)job.to, (const void *)job.from, job.bytes,
                      (several ? fmo_gmpi_block(b) : 0) * threads + fmo_gmpi_thread(),
                      threads * blocks);
        if (several)
            code = fmo_gmpi_synchronise(b, nullptr);
        else
            __syncthreads();
    }
    const bool later = job.kind == FMO_GMPI_JOB_LATER;
    if (flag) *flag = code == FMO_GMPI_OK && !later;
    if (mine && first && !later && code == FMO_GMPI_OK) {
        if (job.slot >= 0) { /* a receive that has not ended at once */
            if (b->transport == FMO_GMPI_PEER)
                fmo_gmpi_peer_end(b, &job);
            else
                fmo_gmpi_proxy_end(b, &job);
        }
        *request = FMO_GMPI_NULL;
    }
    return code;
}

/* The beginning of a call: what the scope wrote before is what is sent. */
template <int S> FMO_GMPI_DEVICE int fmo_gmpi_enter(fmo_gmpi_buf *b)
{
    if (S == FMO_GMPI_GRID) return fmo_gmpi_synchronise(b, nullptr);
    __syncthreads();
    return FMO_GMPI_OK;
}
/* Is this block the one of the scope that does what one block does? */
template <int S> FMO_GMPI_DEVICE bool fmo_gmpi_leads(const fmo_gmpi_buf *b)
{
    return S == FMO_GMPI_BLOCK || fmo_gmpi_block(b) == 0;
}
FMO_GMPI_DEVICE bool fmo_gmpi_good(fmo_gmpi_buf *b, int peer, int tag, int comm, bool wild,
                                   unsigned long long bytes)
{
    return peer < b->size && (peer >= 0 || (wild && peer == FMO_GMPI_ANY_SOURCE)) && tag >= 0 &&
           (tag <= FMO_GMPI_TAG_MAX || (wild && tag == FMO_GMPI_ANY_TAG)) && comm >= 0 &&
           comm < FMO_GMPI_COMMS_MAX && bytes >> 32 == 0;
}

/* A call that fails leaves no request, so that its wait gives the error. */
FMO_GMPI_DEVICE int fmo_gmpi_started(int code, fmo_gmpi_request *request)
{
    if (code != FMO_GMPI_OK && fmo_gmpi_thread() == 0) *request = FMO_GMPI_NULL;
    return code;
}

/** Send `count` elements (fewer than 4 GiB) to rank dest. Does not wait for the receiver, except as
 *  said above.
 *  @return the first block's thread 0: FMO_GMPI_OK or a code; the others learn it from their wait
 */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_isend(fmo_gmpi_buf *b, const void *data, unsigned long long count,
                                   fmo_gmpi_type type, int dest, int tag, int comm,
                                   fmo_gmpi_request *request)
{
    const int code = fmo_gmpi_enter<S>(b);
    if (!fmo_gmpi_leads<S>(b)) return code;
    if (code != FMO_GMPI_OK) return fmo_gmpi_started(code, request);
    const unsigned long long bytes = count * fmo_gmpi_type_bytes(type);
    if (!fmo_gmpi_good(b, dest, tag, comm, false, bytes))
        return fmo_gmpi_started(
            fmo_gmpi_fail(b, FMO_GMPI_ARGUMENT, FMO_GMPI_CALL_SEND, dest, tag, comm), request);
    if (b->transport == FMO_GMPI_PEER)
        return fmo_gmpi_started(fmo_gmpi_peer_isend(b, data, bytes, dest, tag, comm, request),
                                request);
    return fmo_gmpi_started(fmo_gmpi_proxy_start(b, FMO_GMPI_CALL_SEND, data, bytes, type, 0, dest,
                                                 tag, comm, nullptr, request),
                            request);
}

/** Receive at most `count` elements from rank source; with the transport proxy also from
 *  FMO_GMPI_ANY_SOURCE, with FMO_GMPI_ANY_TAG. */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_irecv(fmo_gmpi_buf *b, void *data, unsigned long long count,
                                   fmo_gmpi_type type, int source, int tag, int comm,
                                   fmo_gmpi_request *request)
{
    int code = fmo_gmpi_enter<S>(b);
    if (!fmo_gmpi_leads<S>(b)) return code;
    if (code != FMO_GMPI_OK) return fmo_gmpi_started(code, request);
    const unsigned long long bytes = count * fmo_gmpi_type_bytes(type);
    const bool peer = b->transport == FMO_GMPI_PEER;
    if (!fmo_gmpi_good(b, source, tag, comm, !peer, bytes))
        return fmo_gmpi_started(
            fmo_gmpi_fail(b, FMO_GMPI_ARGUMENT, FMO_GMPI_CALL_RECV, source, tag, comm), request);
    if (!peer)
        return fmo_gmpi_started(fmo_gmpi_proxy_start(b, FMO_GMPI_CALL_RECV, nullptr, bytes, type, 0,
                                                     source, tag, comm, data, request),
                                request);
    if (fmo_gmpi_thread() == 0)
        code = fmo_gmpi_peer_irecv(b, data, bytes, source, tag, comm, request);
    return fmo_gmpi_started(code, request);
}

/** Wait for a request; afterwards it is FMO_GMPI_NULL, and data received can be read by the scope.
 *  @return every thread: FMO_GMPI_OK or a code */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_wait(fmo_gmpi_buf *b, fmo_gmpi_request *request)
{
    return fmo_gmpi_finish(b, request, true, S == FMO_GMPI_GRID, nullptr);
}

template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_waitall(fmo_gmpi_buf *b, int count, fmo_gmpi_request *requests)
{
    int code = FMO_GMPI_OK;
    for (int r = 0; r < count && code == FMO_GMPI_OK; r++)
        code = fmo_gmpi_finish(b, requests + r, true, S == FMO_GMPI_GRID, nullptr);
    return code;
}

/** *flag, of every thread: 1 if the request is complete, and now FMO_GMPI_NULL. */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_test(fmo_gmpi_buf *b, fmo_gmpi_request *request, int *flag)
{
    return fmo_gmpi_finish(b, request, false, S == FMO_GMPI_GRID, flag);
}

/* Block: all requests of the rank. */
FMO_GMPI_SLOW int fmo_gmpi_finish_all(fmo_gmpi_buf *b)
{
    __shared__ int found;
    for (;;) {
        __syncthreads();
        if (fmo_gmpi_thread() == 0) found = FMO_GMPI_SLOTS;
        __syncthreads();
        for (unsigned i = fmo_gmpi_thread(); i < FMO_GMPI_SLOTS; i += fmo_gmpi_threads()) {
            const unsigned state = fmo_gmpi_get(b->slot[i].life) & 7;
            if (state != FMO_GMPI_FREE && state != FMO_GMPI_BUSY) atomicMin(&found, (int)i);
        }
        __syncthreads();
        if (found == FMO_GMPI_SLOTS) return fmo_gmpi_code_of(b);
        fmo_gmpi_request request =
            fmo_gmpi_request_make((unsigned)found, fmo_gmpi_get(b->slot[found].life) >> 3);
        const int code = fmo_gmpi_finish(b, &request, true, false, nullptr);
        if (code != FMO_GMPI_OK) return code;
    }
}

/** Wait until all that this rank has asked for is complete, sends whose request is gone included.
 *  No other block may call meanwhile. */
template <int S = FMO_GMPI_GRID> FMO_GMPI_DEVICE int fmo_gmpi_synchronize(fmo_gmpi_buf *b)
{
    int code = fmo_gmpi_enter<S>(b);
    if (code == FMO_GMPI_OK && fmo_gmpi_leads<S>(b)) code = fmo_gmpi_finish_all(b);
    if (S == FMO_GMPI_GRID && code == FMO_GMPI_OK) code = fmo_gmpi_synchronise(b, nullptr);
    return code;
}

/* Block: through the proxy, as much at a time as can be staged. */
FMO_GMPI_SLOW int fmo_gmpi_proxy_allreduce(fmo_gmpi_buf *b, const void *send, void *recv,
                                           unsigned long long count, int type, int op, int comm)
{
    const unsigned size = (unsigned)fmo_gmpi_type_bytes(type);
    const unsigned long long most = FMO_GMPI_STAGE / size;
    int code = FMO_GMPI_OK;
    for (unsigned long long at = 0; at < count && code == FMO_GMPI_OK; at += most) {
        const unsigned long long n = count - at < most ? count - at : most;
        fmo_gmpi_request request = FMO_GMPI_NULL;
        code = fmo_gmpi_proxy_start(b, FMO_GMPI_CALL_REDUCE,
                                    (const unsigned char *)send + at * size, n * size, type, op, -1,
                                    0, comm, (unsigned char *)recv + at * size, &request);
        const int end = fmo_gmpi_finish(b, &request, true, false, nullptr);
        if (code == FMO_GMPI_OK) code = end;
    }
    return __syncthreads_or(code != FMO_GMPI_OK) ? fmo_gmpi_code_of(b) : FMO_GMPI_OK;
}

template <int S>
FMO_GMPI_DEVICE int fmo_gmpi_collective(fmo_gmpi_buf *b, const void *send, void *recv,
                                        unsigned long long count, int type, int op, int comm)
{
    int code = fmo_gmpi_enter<S>(b);
    if (code != FMO_GMPI_OK) return code;
    if (fmo_gmpi_leads<S>(b)) {
        if (comm < 0 || comm >= FMO_GMPI_COMMS_MAX || type == FMO_GMPI_BYTE)
            code = fmo_gmpi_fail(b, FMO_GMPI_ARGUMENT, FMO_GMPI_CALL_REDUCE, -1, 0, comm);
        else if (b->transport != FMO_GMPI_PEER)
            code = fmo_gmpi_proxy_allreduce(b, send, recv, count, type, op, comm);
        else if (fmo_gmpi_thread() < 32)
            code = fmo_gmpi_peer_allreduce(b, send, recv, count, type, op, comm);
        if (S == FMO_GMPI_BLOCK || fmo_gmpi_blocks(b) == 1)
            return __syncthreads_or(code != FMO_GMPI_OK) ? fmo_gmpi_code_of(b) : FMO_GMPI_OK;
    }
    return fmo_gmpi_synchronise(b, nullptr);
}

/** recv[i] = sum, max or min of send[i] over all ranks: the same bits on every rank, summed in the
 *  order of the ranks (proxy: by MPI). All ranks call, in the same order on one communicator; not
 *  for FMO_GMPI_BYTE; send may be recv.
 *  @return every thread: FMO_GMPI_OK or a code */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_allreduce(fmo_gmpi_buf *b, const void *send, void *recv,
                                       unsigned long long count, fmo_gmpi_type type, fmo_gmpi_op op,
                                       int comm)
{
    return fmo_gmpi_collective<S>(b, send, recv, count, type, op, comm);
}

/** Wait until all ranks are here; with the transport peer what they wrote to other ranks' memory
 *  before can be read afterwards. */
template <int S = FMO_GMPI_GRID> FMO_GMPI_DEVICE int fmo_gmpi_barrier(fmo_gmpi_buf *b, int comm)
{
    void *nothing = b->transport == FMO_GMPI_PEER ? nullptr : &b->reductions[0];
    return fmo_gmpi_collective<S>(b, nothing, nothing, 1, FMO_GMPI_INT32, FMO_GMPI_SUM, comm);
}

#endif
