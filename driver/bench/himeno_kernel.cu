/* himeno on several GPUs, with all sweeps in one persistent kernel per GPU; halos and residual are
 * sent by gmpi. Transport peer: outer planes are written directly into the neighbour's memory, in
 * the halves of a channel, where the neighbour's sweep reads them. Transport proxy: messages from
 * and to p, as published. See himeno_ranks.cuh. */
#include "gpu.cuh"
#include "himeno_ranks.cuh"
#include "driver/base/clock.h"

#include <fmo/gmpi.cuh>

namespace {

struct work {
    himeno_slab slab[BENCH_RANKS_MAX]; /* of the ranks on this GPU */
    int channel[2][BENCH_RANKS_MAX];
    int sweeps;
    bool halo, residual, late;
};

/* Adds up the residual of this rank's blocks and of all ranks; called by the first block. Two
 * buffers, because other blocks may be one sweep ahead. */
__device__ int converge(fmo_gmpi_buf *b, const himeno_slab &s, int turn, int blocks)
{
    double *total = s.sum + 2 * blocks;
    const double sum = himeno_add_up(s.sum + turn * blocks, blocks);
    if (threadIdx.x == 0) total[0] = sum;
    return fmo_gmpi_allreduce<FMO_GMPI_BLOCK>(b, &total[0], &total[1], 1, FMO_GMPI_DOUBLE,
                                              FMO_GMPI_SUM, 0);
}

/* Does all sweeps with transport peer. */
__global__ void __launch_bounds__(HIMENO_THREADS, HIMENO_RESIDENT)
    peer(fmo_gmpi_buf *bufs, const __grid_constant__ work w)
{
    __shared__ himeno_slab s;
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    const int blocks = (int)fmo_gmpi_blocks(b), block = (int)fmo_gmpi_block(b);
    if (threadIdx.x == 0) s = w.slab[b->local];
    __syncthreads();
    const int edges = himeno_edge_items(s), items = himeno_items(s);
    fmo_gmpi_channel in[2], out[2];
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const int other = b->rank + (side == HIMENO_BELOW ? -1 : 1);
        if (!s.neighbour[side]) continue;
        out[side] = fmo_gmpi_channel_open(b, w.channel[side][b->rank]);
        in[side] = fmo_gmpi_channel_open(b, w.channel[1 - side][other]);
    }
    for (int k = 0; k < w.sweeps; k++) {
#pragma unroll
        for (int side = 0; side < 2; side++) {
            if (!w.halo || !s.neighbour[side]) continue;
            const void *from = nullptr; /* first sweep: initial values, known to all ranks */
            if (k > 0 && !(from = fmo_gmpi_channel_recv<FMO_GMPI_GRID>(&in[side]))) return;
            void *to = fmo_gmpi_channel_begin<FMO_GMPI_GRID>(&out[side]);
            if (!to) return;
            if (threadIdx.x == 0)
                s.halo.from[side] = (const float *)from, s.halo.to[side] = (float *)to;
        }
        __syncthreads();
        /* In reverse order: the first block also adds up the residual, so it must not have more
         * items than others. */
        const int item = blocks - 1 - block;
        double sum = himeno_sweep(&s, k & 1, item, edges, blocks);
#pragma unroll
        for (int side = 0; side < 2; side++) {
            if (!w.halo || !s.neighbour[side]) continue;
            if (fmo_gmpi_channel_send<FMO_GMPI_GRID>(&out[side]) != FMO_GMPI_OK) return;
            if (k > 0) fmo_gmpi_channel_release<FMO_GMPI_GRID>(&in[side]);
        }
        sum += himeno_sweep(&s, k & 1, himeno_next(item, edges, blocks), items, blocks);
        if (w.residual) {
            sum = himeno_block_sum(sum);
            if (threadIdx.x == 0) s.sum[(k & 1) * blocks + block] = sum;
        }
        if (fmo_gmpi_grid_sync(b) != FMO_GMPI_OK) return;
        if (!w.residual) continue;
        if (block == 0 && converge(b, s, k & 1, blocks) != FMO_GMPI_OK) return;
        if (!w.late && fmo_gmpi_grid_sync(b) != FMO_GMPI_OK) return;
    }
#pragma unroll
    for (int side = 0; side < 2; side++) { /* the last sweep's messages must leave the channels */
        if (!w.halo || !s.neighbour[side]) continue;
        if (!fmo_gmpi_channel_recv<FMO_GMPI_GRID>(&in[side])) return;
        fmo_gmpi_channel_release<FMO_GMPI_GRID>(&in[side]);
    }
}

/* Does all sweeps with transport proxy. */
__global__ void __launch_bounds__(HIMENO_THREADS, HIMENO_RESIDENT)
    proxy(fmo_gmpi_buf *bufs, const __grid_constant__ work w)
{
    __shared__ himeno_slab s;
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    const int blocks = (int)fmo_gmpi_blocks(b), block = (int)fmo_gmpi_block(b);
    if (threadIdx.x == 0) s = w.slab[b->local];
    __syncthreads();
    const int edges = himeno_edge_items(s), items = himeno_items(s);
    const int64_t plane = (int64_t)s.nj * s.nk;
    for (int k = 0; k < w.sweeps; k++) {
        fmo_gmpi_request request[4] = {};
        float *next = s.p[1 - (k & 1)];
        if (w.halo && block == 0)
            for (int side = 0; side < 2; side++)
                if (s.neighbour[side])
                    fmo_gmpi_irecv<FMO_GMPI_BLOCK>(
                        b, next + (side == HIMENO_BELOW ? 0 : s.planes + 1) * plane, plane,
                        FMO_GMPI_FLOAT, b->rank + (side == HIMENO_BELOW ? -1 : 1), 1 - side, 0,
                        &request[side]);
        const int item = blocks - 1 - block;
        double sum = himeno_sweep(&s, k & 1, item, edges, blocks);
        if (w.halo) {
            if (fmo_gmpi_grid_sync(b) != FMO_GMPI_OK) return;
            for (int side = 0; side < 2 && block == 0; side++)
                if (s.neighbour[side])
                    fmo_gmpi_isend<FMO_GMPI_BLOCK>(
                        b, next + (side == HIMENO_BELOW ? 1 : s.planes) * plane, plane,
                        FMO_GMPI_FLOAT, b->rank + (side == HIMENO_BELOW ? -1 : 1), side, 0,
                        &request[2 + side]);
        }
        sum += himeno_sweep(&s, k & 1, himeno_next(item, edges, blocks), items, blocks);
        if (w.residual) {
            sum = himeno_block_sum(sum);
            if (threadIdx.x == 0) s.sum[(k & 1) * blocks + block] = sum;
        }
        if (w.halo && block == 0 && fmo_gmpi_waitall<FMO_GMPI_BLOCK>(b, 4, request) != FMO_GMPI_OK)
            return;
        if (fmo_gmpi_grid_sync(b) != FMO_GMPI_OK) return;
        if (!w.residual) continue;
        if (block == 0 && converge(b, s, k & 1, blocks) != FMO_GMPI_OK) return;
        if (!w.late && fmo_gmpi_grid_sync(b) != FMO_GMPI_OK) return;
    }
}

/* ---- the host's side ----------------------------------------------------------------------- */

/* Loads the kernels, creates the gmpi group and, for peer, the channels between neighbours. */
bool open_group(himeno_team *t, fmo_gmpi_transport transport, char *why, size_t size)
{
    /* No kernel may be loaded while a kernel that waits for it is running. */
    for (int r = 0; r < t->local_ranks; r++) {
        cudaFuncAttributes unused;
        BENCH_CUDA(t->run, cudaSetDevice(t->device[r]));
        BENCH_CUDA(t->run, cudaFuncGetAttributes(&unused, transport == FMO_GMPI_PEER
                                                              ? (const void *)peer
                                                              : (const void *)proxy));
    }
    fmo_gmpi_options options;
    fmo_error err = {FMO_OK, ""};
    const size_t plane = himeno_plane_bytes(t);
    fmo_gmpi_options_init(&options);
    options.transport = transport;
    options.ranks = t->local_ranks, options.devices = t->device;
    options.concurrent = 0; /* one context: the grid or the first block calls. During an allreduce
                             * others use channels, which share nothing with it. */
    options.heap_bytes = ((size_t)1 << 20) + 4 * (size_t)t->ranks * (plane + 512);
    fmo_status status = t->world.processes > 1 ? bench_world_group(&options, &t->group, &err)
                                               : fmo_gmpi_create(&options, &t->group, &err);
    for (int r = 0; r + 1 < t->ranks && status == FMO_OK && transport == FMO_GMPI_PEER; r++) {
        status =
            fmo_gmpi_channel_create(t->group, r, r + 1, plane, &t->channel[HIMENO_ABOVE][r], &err);
        if (status == FMO_OK)
            status = fmo_gmpi_channel_create(t->group, r + 1, r, plane,
                                             &t->channel[HIMENO_BELOW][r + 1], &err);
    }
    snprintf(why, size, "%s", err.message);
    /* Without peer access, or with two processes on one GPU, the form is left out. */
    if (status != FMO_OK && status != FMO_ERR_UNSUPPORTED)
        bench_fail(t->run, status, "%s", err.message);
    return status == FMO_OK;
}
bool open_peer(himeno_team *t, char *why, size_t size)
{
    return open_group(t, FMO_GMPI_PEER, why, size);
}
bool open_proxy(himeno_team *t, char *why, size_t size)
{
    return open_group(t, FMO_GMPI_PROXY, why, size);
}
void close_group(himeno_team *t)
{
    fmo_gmpi_destroy(t->group);
    t->group = nullptr;
}

/* Runs one kernel per GPU; ranks that share a GPU are groups of its blocks. */
double run_kernels(himeno_team *t, const void *kernel)
{
    bench_run *run = t->run;
    fmo_error err = {FMO_OK, ""};
    const int on_each = t->one_gpu ? t->local_ranks : 1;
    work w = {};
    memcpy(w.channel, t->channel, sizeof w.channel);
    w.sweeps = t->sweeps, w.halo = t->halo, w.residual = t->residual, w.late = t->late;
    bench_world_barrier(&t->world);
    const double begin = driver_seconds();
    for (int r = 0; r < t->local_ranks; r += on_each) {
        fmo_gmpi_buf *bufs = (fmo_gmpi_buf *)fmo_gmpi_bufs(t->group, t->first + r);
        for (int k = 0; k < on_each; k++) w.slab[k] = t->slab[r + k];
        void *args[] = {&bufs, &w};
        BENCH_CUDA(run, cudaSetDevice(t->device[r]));
        BENCH_CUDA(run, cudaLaunchCooperativeKernel(kernel, dim3((unsigned)(on_each * t->blocks)),
                                                    dim3(HIMENO_THREADS), args, 0, t->stream[r]));
    }
    for (int r = 0; r < t->local_ranks; r += on_each) {
        BENCH_CUDA(run, cudaSetDevice(t->device[r]));
        BENCH_CUDA(run, cudaStreamSynchronize(t->stream[r]));
    }
    const double seconds = driver_seconds() - begin;
    if (run->err.status == FMO_OK && fmo_gmpi_check(t->group, &err) != FMO_OK)
        bench_fail(run, err.status, "%s", err.message);
    if (t->residual) bench_gpu_read<double>(run, &t->result, t->slab[0].sum + 2 * t->blocks + 1, 1);
    return run->err.status == FMO_OK ? seconds : -1.0;
}
double run_peer(himeno_team *t)
{
    return run_kernels(t, (const void *)peer);
}
double run_proxy(himeno_team *t)
{
    return run_kernels(t, (const void *)proxy);
}

} // namespace

const himeno_form himeno_in_kernel_peer = {"in kernel, peer", (const void *)peer, open_peer,
                                           run_peer, close_group};
const himeno_form himeno_in_kernel_proxy = {"in kernel, proxy", (const void *)proxy, open_proxy,
                                            run_proxy, close_group};
