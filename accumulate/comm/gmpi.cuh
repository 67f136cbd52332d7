/* gmpi in kernels: messages between ranks, sent and received by device code. Names, order of
 * arguments and meaning are those of the paper (GMPI, 2016), which follow MPI; the first argument
 * is the rank's fmo_gmpi_buf. The host creates the ranks: <fmo/gmpi.h>. CUDA C++17, sm_75 or
 * newer.
 *
 *      __global__ void ping_pong(fmo_gmpi_buf *bufs, double *data, double *other, int count)
 *      {
 *          fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
 *          fmo_gmpi_request request = FMO_GMPI_NULL;
 *          const int peer = 1 - b->rank;
 *          fmo_gmpi_isend<FMO_GMPI_GRID>(b, data, count, FMO_GMPI_DOUBLE, peer, 0, 0, &request);
 *          fmo_gmpi_irecv<FMO_GMPI_GRID>(b, other, count, FMO_GMPI_DOUBLE, peer, 0, 0, &request);
 *          if (fmo_gmpi_wait<FMO_GMPI_GRID>(b, &request) != FMO_GMPI_OK) return;
 *          fmo_gmpi_synchronize<FMO_GMPI_GRID>(b);    completes the send, whose request is lost
 *      }
 *
 * Scopes. FMO_GMPI_GRID: all threads of all blocks of the rank call together. Every call except
 * waits begins with a barrier of the blocks, so that what they wrote before it is sent.
 * FMO_GMPI_BLOCK: all threads of one block call together; other blocks may call at the same time
 * if the group was created with `concurrent`. Kernels must be launched cooperatively, because all
 * blocks must be resident.
 *
 * Data must be in global memory of the rank's own device. Between processes, messages longer than
 * 4 KiB must be in memory of fmo_gmpi_alloc (transport peer).
 *
 * A message makes only its own data visible to the receiver. Data written through fmo_gmpi_remote
 * are made visible by a barrier of the ranks or by a channel.
 *
 * Requests. Thread 0 of the (first) block holds a request, in a variable of its own or in shared
 * memory, initialised with FMO_GMPI_NULL. Wait for it in the same scope and block. The buffer of
 * an irecv must not be accessed until the wait returns; the data of an isend must not be changed
 * until its wait or fmo_gmpi_synchronize returns.
 *
 * Order. Messages from one rank with one tag on one communicator do not overtake each other, and
 * match receives in the order in which these were called. With the transport peer a send waits if
 * 448 messages to its receiver have been sent since the oldest one that has not been received.
 * Two ranks that both exceed this and receive nothing end by the timeout.
 *
 * Errors. A wait that takes longer than the group's timeout aborts all ranks: from then on their
 * calls return a fmo_gmpi_code other than FMO_GMPI_OK. Leave the kernel and call
 * fmo_gmpi_check(). */
#ifndef FMO_GMPI_CUH
#define FMO_GMPI_CUH

#include "gmpi_peer.cuh"
#include "gmpi_allreduce.cuh"
#include "gmpi_proxy.cuh"
#include "gmpi_channel.cuh"

/** Returns the rank that this block is part of. */
FMO_GMPI_DEVICE fmo_gmpi_buf *fmo_gmpi_this_rank(fmo_gmpi_buf *bufs)
{
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z / (unsigned)bufs->ranks_on_device;
    return bufs + fmo_gmpi_grid_block() / blocks;
}

/** Returns FMO_GMPI_OK, or the error that ended this rank. */
FMO_GMPI_DEVICE int fmo_gmpi_error(fmo_gmpi_buf *b)
{
    return fmo_gmpi_code_of(b);
}

/** Returns the address of an offset of fmo_gmpi_alloc in the heap of any rank; NULL if it cannot
 * be accessed. */
FMO_GMPI_DEVICE void *fmo_gmpi_remote(fmo_gmpi_buf *b, int rank, unsigned long long offset)
{
    return b->heap[rank] ? b->heap[rank] + offset : nullptr;
}

/** Barrier of all blocks of this rank; it also ends when a rank fails. */
FMO_GMPI_DEVICE int fmo_gmpi_grid_sync(fmo_gmpi_buf *b)
{
    return fmo_gmpi_blocks_barrier(b, nullptr);
}

/* Completes a request: waits for it or tests it, copies its data, and frees its slot. */
FMO_GMPI_SLOW int fmo_gmpi_finish(fmo_gmpi_buf *b, fmo_gmpi_request *request, bool wait, bool grid,
                                  int *flag)
{
    __shared__ fmo_gmpi_job job;
    const unsigned blocks = grid ? fmo_gmpi_blocks(b) : 1;
    const bool several = blocks > 1;
    const bool mine = !several || fmo_gmpi_block(b) == 0;
    const bool first = fmo_gmpi_thread() == 0;
    int code = FMO_GMPI_OK;
    __syncthreads(); /* all threads have read the previous job */
    if (mine) {
        if (first) {
            if (*request == FMO_GMPI_NULL) {
                job.slot = -1, job.kind = FMO_GMPI_JOB_NONE, job.bytes = 0;
                job.code = fmo_gmpi_code_of(b);
            } else if (b->transport == FMO_GMPI_PEER) {
                fmo_gmpi_peer_begin(b, *request, wait, &job);
                /* Acquires what the sender wrote. With several blocks their barrier does this. */
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
        code = fmo_gmpi_blocks_barrier(b, &job);
        if (code != FMO_GMPI_OK) return code;
    }
    if (code == FMO_GMPI_OK && job.kind == FMO_GMPI_JOB_LARGE) {
        const unsigned long long threads = fmo_gmpi_threads();
        fmo_gmpi_copy((void *)job.to, (const void *)job.from, job.bytes,
                      (several ? fmo_gmpi_block(b) : 0) * threads + fmo_gmpi_thread(),
                      threads * blocks);
        if (several)
            code = fmo_gmpi_blocks_barrier(b, nullptr);
        else
            __syncthreads();
    }
    const bool later = job.kind == FMO_GMPI_JOB_LATER;
    if (flag) *flag = code == FMO_GMPI_OK && !later;
    if (mine && first && !later && code == FMO_GMPI_OK) {
        if (job.slot >= 0) { /* a receive that did not complete at once */
            if (b->transport == FMO_GMPI_PEER)
                fmo_gmpi_peer_end(b, &job);
            else
                fmo_gmpi_proxy_end(b, &job);
        }
        *request = FMO_GMPI_NULL;
    }
    return code;
}

/* Begins a call: what the threads of the scope wrote before it will be sent. */
template <int S> FMO_GMPI_DEVICE int fmo_gmpi_enter(fmo_gmpi_buf *b)
{
    if (S == FMO_GMPI_GRID) return fmo_gmpi_blocks_barrier(b, nullptr);
    __syncthreads();
    return FMO_GMPI_OK;
}
/* True for the block that does the work of one block in a call. */
template <int S> FMO_GMPI_DEVICE bool fmo_gmpi_leads(const fmo_gmpi_buf *b)
{
    return S == FMO_GMPI_BLOCK || fmo_gmpi_block(b) == 0;
}
/* Checks the arguments of a message; `wild` allows wildcards. */
FMO_GMPI_DEVICE bool fmo_gmpi_good(fmo_gmpi_buf *b, int peer, int tag, int comm, bool wild,
                                   unsigned long long bytes)
{
    return peer < b->size && (peer >= 0 || (wild && peer == FMO_GMPI_ANY_SOURCE)) && tag >= 0 &&
           (tag <= FMO_GMPI_TAG_MAX || (wild && tag == FMO_GMPI_ANY_TAG)) && comm >= 0 &&
           comm < FMO_GMPI_COMMS_MAX && bytes >> 32 == 0;
}

/* A call that fails leaves no request, so that its wait returns the error. */
FMO_GMPI_DEVICE int fmo_gmpi_started(int code, fmo_gmpi_request *request)
{
    if (code != FMO_GMPI_OK && fmo_gmpi_thread() == 0) *request = FMO_GMPI_NULL;
    return code;
}

/** Sends `count` elements (less than 4 GiB) to rank dest. It does not wait for the receiver,
 * except if the receiver's inbox is full, see above.
 * @return in thread 0 of the first block: FMO_GMPI_OK or an error code; the other threads get it
 *          from their wait */
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

/** Receives at most `count` elements from rank `source`; wildcards work with transport proxy alone.
 *  The data are there after the request's wait.
 *  @return as fmo_gmpi_isend */
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

/** Wait for requests and set them to FMO_GMPI_NULL. Received data can then be read by all threads
 *  of the scope.
 *  @return in every thread: FMO_GMPI_OK or an error code */
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

/** Tests a request. Every thread gets *flag: 1 if the request is complete and set to
 * FMO_GMPI_NULL. */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_test(fmo_gmpi_buf *b, fmo_gmpi_request *request, int *flag)
{
    return fmo_gmpi_finish(b, request, false, S == FMO_GMPI_GRID, flag);
}

/* Completes all requests of the rank. Called by one block. */
FMO_GMPI_SLOW int fmo_gmpi_finish_all(fmo_gmpi_buf *b)
{
    __shared__ int found;
    for (;;) {
        __syncthreads();
        if (fmo_gmpi_thread() == 0) found = FMO_GMPI_SLOTS;
        __syncthreads();
        for (unsigned i = fmo_gmpi_thread(); i < FMO_GMPI_SLOTS; i += fmo_gmpi_threads()) {
            const unsigned state = fmo_gmpi_load_volatile(b->slot[i].life) & 7;
            if (state != FMO_GMPI_FREE && state != FMO_GMPI_BUSY) atomicMin(&found, (int)i);
        }
        __syncthreads();
        if (found == FMO_GMPI_SLOTS) return fmo_gmpi_code_of(b);
        fmo_gmpi_request request = fmo_gmpi_request_make(
            (unsigned)found, fmo_gmpi_load_volatile(b->slot[found].life) >> 3);
        const int code = fmo_gmpi_finish(b, &request, true, false, nullptr);
        if (code != FMO_GMPI_OK) return code;
    }
}

/** Waits until all calls of this rank are complete, including sends whose request is lost. No
 * other block may call meanwhile. */
template <int S = FMO_GMPI_GRID> FMO_GMPI_DEVICE int fmo_gmpi_synchronize(fmo_gmpi_buf *b)
{
    int code = fmo_gmpi_enter<S>(b);
    if (code == FMO_GMPI_OK && fmo_gmpi_leads<S>(b)) code = fmo_gmpi_finish_all(b);
    if (S == FMO_GMPI_GRID && code == FMO_GMPI_OK) code = fmo_gmpi_blocks_barrier(b, nullptr);
    return code;
}

/* Allreduce through the proxy, in chunks that can be staged. Called by one block. */
FMO_GMPI_SLOW int fmo_gmpi_proxy_allreduce(fmo_gmpi_buf *b, const void *send, void *recv,
                                           unsigned long long count, int type, int op, int comm)
{
    const unsigned size = (unsigned)fmo_gmpi_type_bytes(type);
    const unsigned long long chunk = FMO_GMPI_STAGE / size;
    int code = FMO_GMPI_OK;
    for (unsigned long long at = 0; at < count && code == FMO_GMPI_OK; at += chunk) {
        const unsigned long long n = count - at < chunk ? count - at : chunk;
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
    return fmo_gmpi_blocks_barrier(b, nullptr);
}

/** Computes recv[i] = sum, max or min of send[i] over all ranks. All ranks get the same bits;
 * elements are combined in the order of the ranks (proxy: by MPI). All ranks call, in the same
 * order on a communicator. FMO_GMPI_BYTE is not allowed; send and recv may be the same.
 * @return in every thread: FMO_GMPI_OK or an error code */
template <int S = FMO_GMPI_GRID>
FMO_GMPI_DEVICE int fmo_gmpi_allreduce(fmo_gmpi_buf *b, const void *send, void *recv,
                                       unsigned long long count, fmo_gmpi_type type, fmo_gmpi_op op,
                                       int comm)
{
    return fmo_gmpi_collective<S>(b, send, recv, count, type, op, comm);
}

/** Waits until all ranks have called it. With the transport peer, what they wrote to other ranks'
 * memory before the call can be read after it. */
template <int S = FMO_GMPI_GRID> FMO_GMPI_DEVICE int fmo_gmpi_barrier(fmo_gmpi_buf *b, int comm)
{
    void *nothing = b->transport == FMO_GMPI_PEER ? nullptr : &b->reductions[0];
    return fmo_gmpi_collective<S>(b, nothing, nothing, 1, FMO_GMPI_INT32, FMO_GMPI_SUM, comm);
}

#endif
