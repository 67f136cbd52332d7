/* himeno on several GPUs, controlled by the host: two kernels per sweep, for the outer planes and
 * the rest. During the second one the outer planes are sent by copies between GPUs, by NCCL, or by
 * MPI through pinned host memory. See himeno_ranks.cuh. */
#include "gpu.cuh"
#include "himeno_ranks.cuh"
#include "driver/base/clock.h"

namespace {

/* Sweeps items first .. last - 1, and computes the residual of each block unless sums is NULL. */
__global__ void __launch_bounds__(HIMENO_THREADS, HIMENO_RESIDENT)
    part(const __grid_constant__ himeno_slab s, int turn, int first, int last, double *sums)
{
    double sum = himeno_sweep(&s, turn, first + (int)blockIdx.x, last, (int)gridDim.x);
    if (!sums) return;
    sum = himeno_block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
__global__ void add_up(const double *sums, int count, double *total)
{
    const double sum = himeno_add_up(sums, count);
    if (threadIdx.x == 0) *total = sum;
}

int edge_blocks(const himeno_team *t, int r)
{
    const int items = himeno_edge_items(t->slab[r]);
    return items < t->blocks ? items : t->blocks;
}
double *total_of(const himeno_team *t, int r, int k)
{
    return t->slab[r].sum + 4 * t->blocks + (k & 1);
}
/* Sweep the outer planes of rank r, and then the rest, in its stream. */
void edges(himeno_team *t, int r, int k)
{
    const himeno_slab &s = t->slab[r];
    double *sums = t->residual ? s.sum + (k & 1) * 2 * t->blocks : nullptr;
    if (edge_blocks(t, r) > 0)
        part<<<edge_blocks(t, r), HIMENO_THREADS, 0, t->stream[r]>>>(s, k & 1, 0,
                                                                     himeno_edge_items(s), sums);
    BENCH_CUDA(t->run, cudaEventRecord(t->edged[r], t->stream[r]));
}
void inside(himeno_team *t, int r, int k)
{
    const himeno_slab &s = t->slab[r];
    double *sums = t->residual ? s.sum + (k & 1) * 2 * t->blocks : nullptr;
    part<<<t->blocks, HIMENO_THREADS, 0, t->stream[r]>>>(
        s, k & 1, himeno_edge_items(s), himeno_items(s), sums ? sums + edge_blocks(t, r) : sums);
    if (sums)
        add_up<<<1, HIMENO_THREADS, 0, t->stream[r]>>>(sums, edge_blocks(t, r) + t->blocks,
                                                       total_of(t, r, k));
    BENCH_CUDA(t->run, cudaGetLastError());
}
void wait_for(himeno_team *t, cudaStream_t stream, cudaEvent_t event)
{
    BENCH_CUDA(t->run, cudaStreamWaitEvent(stream, event, 0));
}
void use(himeno_team *t, int r)
{
    BENCH_CUDA(t->run, cudaSetDevice(t->device[r]));
}
/* Address of a plane of the array that sweep k writes. */
float *plane_of(const himeno_team *t, int r, int k, int plane)
{
    return t->slab[r].p[1 - (k & 1)] + (size_t)plane * himeno_plane_bytes(t) / sizeof(float);
}
int outer(const himeno_team *t, int r, int side)
{
    return side == HIMENO_BELOW ? 1 : t->slab[r].planes;
}
int halo(const himeno_team *t, int r, int side)
{
    return side == HIMENO_BELOW ? 0 : t->slab[r].planes + 1;
}
int neighbour(int r, int side)
{
    return side == HIMENO_BELOW ? r - 1 : r + 1;
}
double finish(himeno_team *t, double begin)
{
    for (int r = 0; r < t->local_ranks; r++) {
        use(t, r);
        BENCH_CUDA(t->run, cudaStreamSynchronize(t->stream[r]));
        BENCH_CUDA(t->run, cudaStreamSynchronize(t->comm[r]));
    }
    return t->run->err.status == FMO_OK ? driver_seconds() - begin : -1.0;
}
/* Copy the residuals of sweep k from the GPUs, and add them up over all ranks. */
void send_sum(himeno_team *t, int r, int k)
{
    BENCH_CUDA(t->run,
               cudaMemcpyAsync(t->added_up + (k & 1) * t->local_ranks + r, total_of(t, r, k),
                               sizeof(double), cudaMemcpyDeviceToHost, t->stream[r]));
    BENCH_CUDA(t->run, cudaEventRecord(t->added[k & 1][r], t->stream[r]));
}
void read_sum(himeno_team *t, int k)
{
    double sum = 0.0;
    if (!t->residual || k < 0) return;
    for (int r = 0; r < t->local_ranks; r++) {
        BENCH_CUDA(t->run, cudaEventSynchronize(t->added[k & 1][r]));
        sum += t->added_up[(k & 1) * t->local_ranks + r];
    }
    t->result = bench_world_sum(&t->world, sum);
}

/* ---- copies between GPUs of one process; the host adds up the residual ---------------------- */

/* Sweeps with copies between the GPUs of one process. */
double run_copies(himeno_team *t)
{
    const size_t bytes = himeno_plane_bytes(t);
    const double begin = driver_seconds();
    for (int k = 0; k < t->sweeps && t->run->err.status == FMO_OK; k++) {
        for (int r = 0; r < t->local_ranks; r++) {
            use(t, r);
            for (int side = 0; side < 2 && t->halo && k > 0; side++)
                if (t->slab[r].neighbour[side])
                    wait_for(t, t->stream[r], t->copied[(k - 1) & 1][neighbour(r, side)]);
            edges(t, r, k);
            wait_for(t, t->comm[r], t->edged[r]);
            for (int side = 0; side < 2 && t->halo; side++) {
                const int n = neighbour(r, side);
                if (t->slab[r].neighbour[side])
                    BENCH_CUDA(t->run, cudaMemcpyPeerAsync(plane_of(t, n, k, halo(t, n, 1 - side)),
                                                           t->device[n],
                                                           plane_of(t, r, k, outer(t, r, side)),
                                                           t->device[r], bytes, t->comm[r]));
            }
            BENCH_CUDA(t->run, cudaEventRecord(t->copied[k & 1][r], t->comm[r]));
            inside(t, r, k);
            if (t->residual) send_sum(t, r, k);
        }
        read_sum(t, t->late ? k - 1 : k);
    }
    if (t->late) read_sum(t, t->sweeps - 1);
    return finish(t, begin);
}

bool open_copies(himeno_team *t, char *why, size_t size)
{
    snprintf(why, size, "GPUs of one process alone");
    if (t->world.processes > 1) return false;
    for (int r = 0; r < t->local_ranks; r++)
        for (int n = 0; n < t->local_ranks; n++) {
            if (t->device[n] == t->device[r]) continue;
            use(t, r);
            if (cudaDeviceEnablePeerAccess(t->device[n], 0) != cudaSuccess)
                (void)cudaGetLastError(); /* enabled already, or copies go through the host */
        }
    return true;
}
void close_copies(himeno_team *) {}

/* ---- NCCL ------------------------------------------------------------------------------------ */

/* Sweeps with NCCL for planes and residual. */
double run_nccl(himeno_team *t)
{
    const size_t bytes = himeno_plane_bytes(t);
    bool good = true;
    bench_world_barrier(&t->world);
    const double begin = driver_seconds();
    for (int k = 0; k < t->sweeps && good && t->run->err.status == FMO_OK; k++) {
        for (int r = 0; r < t->local_ranks; r++) {
            use(t, r);
            if (t->halo && k > 0) wait_for(t, t->stream[r], t->copied[(k - 1) & 1][r]);
            edges(t, r, k);
            wait_for(t, t->comm[r], t->edged[r]);
        }
        if (t->halo) {
            bench_nccl_begin(t->nccl);
            for (int r = 0; r < t->local_ranks; r++)
                for (int side = 0; side < 2; side++) {
                    const int rank = t->first + r, n = neighbour(rank, side);
                    if (!t->slab[r].neighbour[side]) continue;
                    bench_nccl_send(t->nccl, rank, plane_of(t, r, k, outer(t, r, side)), bytes, n,
                                    t->comm[r]);
                    bench_nccl_recv(t->nccl, rank, plane_of(t, r, k, halo(t, r, side)), bytes, n,
                                    t->comm[r]);
                }
            good = bench_nccl_end(t->nccl);
        }
        for (int r = 0; r < t->local_ranks; r++) {
            use(t, r);
            BENCH_CUDA(t->run, cudaEventRecord(t->copied[k & 1][r], t->comm[r]));
            inside(t, r, k);
            if (!t->residual) continue;
            BENCH_CUDA(t->run, cudaEventRecord(t->added[k & 1][r], t->stream[r]));
            wait_for(t, t->comm[r], t->added[k & 1][r]);
        }
        if (!t->residual || !good) continue;
        bench_nccl_begin(t->nccl);
        for (int r = 0; r < t->local_ranks; r++)
            bench_nccl_sum(t->nccl, t->first + r, total_of(t, r, k), total_of(t, r, k), t->comm[r]);
        good = bench_nccl_end(t->nccl);
        for (int r = 0; r < t->local_ranks && !t->late;
             r++) { /* the next sweep needs the residual */
            use(t, r);
            BENCH_CUDA(t->run, cudaEventRecord(t->added[k & 1][r], t->comm[r]));
            wait_for(t, t->stream[r], t->added[k & 1][r]);
        }
    }
    const double seconds = finish(t, begin);
    if (!good) bench_fail(t->run, FMO_ERR_DEVICE, "NCCL failed");
    if (t->residual) bench_gpu_read<double>(t->run, &t->result, total_of(t, 0, t->sweeps - 1), 1);
    return seconds;
}

bool open_nccl(himeno_team *t, char *why, size_t size)
{
    snprintf(why, size, "one GPU");
    if (t->one_gpu) return false;
    t->nccl = bench_nccl_open(&t->world, t->ranks, t->device, why, size);
    return t->nccl != nullptr;
}
void close_nccl(himeno_team *t)
{
    bench_nccl_close(t->nccl);
    t->nccl = nullptr;
}

/* ---- MPI, through pinned host memory --------------------------------------------------------- */

/* Sweeps with MPI, one rank per process. */
double run_mpi(himeno_team *t)
{
    const size_t bytes = himeno_plane_bytes(t), plane = bytes / sizeof(float);
    const himeno_slab &s = t->slab[0];
    use(t, 0);
    bench_world_barrier(&t->world);
    const double begin = driver_seconds();
    for (int k = 0; k < t->sweeps; k++) { /* after errors too: others wait for messages */
        if (t->halo && k > 0) wait_for(t, t->stream[0], t->copied[(k - 1) & 1][0]);
        edges(t, 0, k);
        wait_for(t, t->comm[0], t->edged[0]);
        for (int side = 0; side < 2 && t->halo; side++)
            if (s.neighbour[side])
                BENCH_CUDA(t->run, cudaMemcpyAsync(t->pinned + side * plane,
                                                   plane_of(t, 0, k, outer(t, 0, side)), bytes,
                                                   cudaMemcpyDeviceToHost, t->comm[0]));
        inside(t, 0, k);
        if (t->residual) send_sum(t, 0, k);
        if (t->halo) BENCH_CUDA(t->run, cudaStreamSynchronize(t->comm[0]));
        for (int n = 0; n < 2 && t->halo; n++) { /* even ranks begin above */
            const int side = (t->first + n) % 2 == 0 ? HIMENO_ABOVE : HIMENO_BELOW;
            if (!s.neighbour[side]) continue;
            float *in = t->pinned + (2 + side) * plane;
            bench_world_swap(&t->world, t->pinned + side * plane, in, bytes,
                             neighbour(t->first, side));
            BENCH_CUDA(t->run, cudaMemcpyAsync(plane_of(t, 0, k, halo(t, 0, side)), in, bytes,
                                               cudaMemcpyHostToDevice, t->comm[0]));
        }
        BENCH_CUDA(t->run, cudaEventRecord(t->copied[k & 1][0], t->comm[0]));
        read_sum(t, t->late ? k - 1 : k);
    }
    if (t->late) read_sum(t, t->sweeps - 1);
    return finish(t, begin);
}

bool open_mpi(himeno_team *t, char *why, size_t size)
{
    snprintf(why, size, "not started by mpirun");
    if (t->world.processes < 2) return false;
    return BENCH_CUDA(t->run, cudaHostAlloc((void **)&t->pinned, 4 * himeno_plane_bytes(t),
                                            cudaHostAllocDefault));
}
void close_mpi(himeno_team *t)
{
    cudaFreeHost(t->pinned);
    t->pinned = nullptr;
}

} // namespace

const himeno_form himeno_host_copies = {"host, copies", (const void *)part, open_copies, run_copies,
                                        close_copies};
const himeno_form himeno_host_nccl = {"host, NCCL", (const void *)part, open_nccl, run_nccl,
                                      close_nccl};
const himeno_form himeno_host_mpi = {"host, MPI", (const void *)part, open_mpi, run_mpi, close_mpi};
