/* `--mode split`: the GPU computes integrals into batches, the CPU reduces them. Two buffers on two
 * streams, so that the GPU fills one while the CPU empties the other; with no_overlap one buffer
 * and no work at the same time, the form of the 2013 paper. */
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/range.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/kernels/quartet.cuh"

namespace {

/* Pinned host memory (and as much on the GPU) for all buffers, unless options.memory says less. */
const size_t default_bytes = (size_t)512 << 20;
const size_t least_bytes = (size_t)1 << 20;

enum { BUFFERS = 2 };

typedef struct buffer {
    cudaStream_t stream;
    cudaEvent_t kernel[2], copied[2]; /* begin and end */
    double *device_eri, *eri;         /* [component][quartet]; pinned copy */
    int *quartet;                     /* [quartet][2] pinned */
    /* what is in flight */
    int busy;
    fmo_eri_class eri_class;
    size_t num;
} buffer;

typedef struct split_state {
    buffer buffers[BUFFERS];
    int used; /* 1 with no_overlap */
    size_t bytes;
    double **own; /* tree: J and K of each thread */
    int threads;
} split_state;

template <class C>
__global__ void __launch_bounds__(FMO_GPU_THREADS)
    store(fmo_gpu_class_view view, const fmo_boys_table *boys, size_t begin, size_t num,
          double *out)
{
    const size_t q = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= num) return;
    double eri[C::size];
    (void)fmo_gpu_quartet<C>(view, boys->row[C::order][0], view.list[begin + q], eri);
    FMO_UNROLL
    for (int x = 0; x < C::size; x++) out[x * num + q] = eri[x];
}

template <class C>
cudaError_t launch_store(const fmo_gpu_class_view *view, const fmo_gpu_state *g, size_t begin,
                         size_t num, double *out, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((num + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
    store<C><<<blocks, FMO_GPU_THREADS, 0, stream>>>(*view, g->boys, begin, num, out);
    return cudaGetLastError();
}

struct {
    cudaError_t (*launch)(const fmo_gpu_class_view *, const fmo_gpu_state *, size_t, size_t,
                          double *, cudaStream_t);
    size_t size;
    fmo_pair_class bra, ket;
} const classes[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, li, lj, lk, ll, bra, ket) \
    {launch_store<fmo_class_##name>, fmo_class_##name::size, bra, ket},
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
};

void release_buffers(split_state *s)
{
    for (int b = 0; b < BUFFERS; b++) {
        buffer *f = &s->buffers[b];
        if (f->stream) (void)cudaStreamSynchronize(f->stream);
        for (int e = 0; e < 2; e++) {
            if (f->kernel[e]) (void)cudaEventDestroy(f->kernel[e]);
            if (f->copied[e]) (void)cudaEventDestroy(f->copied[e]);
        }
        if (f->device_eri) (void)cudaFree(f->device_eri);
        if (f->eri) (void)cudaFreeHost(f->eri);
        if (f->quartet) (void)cudaFreeHost(f->quartet);
        if (f->stream) (void)cudaStreamDestroy(f->stream);
    }
}

void split_release(fmo_fock_plan *plan)
{
    split_state *s = (split_state *)plan->state;
    fmo_gpu_state_destroy(plan);
    if (!s) return;
    release_buffers(s);
    for (int t = 0; s->own && t < s->threads; t++) free(s->own[t]);
    free(s->own);
    free(s);
    plan->state = NULL;
}

/* Quartets of a class that a buffer holds. */
size_t batch_size(const split_state *s, int c)
{
    return s->bytes / (classes[c].size * sizeof(double) + 2 * sizeof(int));
}

/* No batch can be larger than the candidates of a part. */
size_t most_bytes(const fmo_gpu_state *g)
{
    size_t most = least_bytes;
    for (int p = 0; p < g->passes; p++) {
        for (int n = 0; n < g->pass[p].num; n++) {
            const fmo_gpu_part *part = &g->pass[p].part[n];
            const size_t bytes = part->candidates *
                                 (classes[part->eri_class].size * sizeof(double) + 2 * sizeof(int));
            if (bytes > most) most = bytes;
        }
    }
    return most;
}

fmo_status split_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    const int reduce_threads =
        plan->options.reduce == FMO_REDUCE_SERIAL ? 1 : plan->options.threads;
    size_t total = plan->options.memory ? plan->options.memory : default_bytes;
    split_state *s = (split_state *)calloc(1, sizeof *s);
    if (!s) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a split plan");
    plan->state = s;
    s->used = plan->options.no_overlap ? 1 : BUFFERS;
    s->threads = reduce_threads;
    fmo_status status = fmo_gpu_state_create(plan, 1, err);
    if (status != FMO_OK) return status;
    cudaError_t code = fmo_gpu_make_pinned(plan);
    if (code != cudaSuccess) return fmo_gpu_error(code, "pinned memory", err);
    s->bytes = total / (size_t)s->used;
    if (s->bytes > most_bytes(plan->gpu))
        s->bytes = most_bytes(plan->gpu);
    else if (s->bytes < least_bytes)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "mode split needs at least %.1f MB of buffers, memory allows %.1f",
                             1e-6 * (double)(s->used * least_bytes), 1e-6 * (double)total);
    size_t largest = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        if (batch_size(s, c) > largest) largest = batch_size(s, c);
    for (int b = 0; b < s->used && code == cudaSuccess; b++) {
        buffer *f = &s->buffers[b];
        code = cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking);
        for (int e = 0; e < 2 && code == cudaSuccess; e++) {
            code = cudaEventCreate(&f->kernel[e]);
            if (code == cudaSuccess) code = cudaEventCreate(&f->copied[e]);
        }
        if (code == cudaSuccess) code = cudaMalloc((void **)&f->device_eri, s->bytes);
        if (code == cudaSuccess) code = cudaMallocHost((void **)&f->eri, s->bytes);
        if (code == cudaSuccess)
            code = cudaMallocHost((void **)&f->quartet, largest * 2 * sizeof(int));
    }
    if (code != cudaSuccess) {
        (void)cudaGetLastError();
        return fmo_gpu_error(code, "split buffers; --memory makes them smaller", err);
    }
    if (plan->options.reduce == FMO_REDUCE_TREE && s->threads > 1) {
        s->own = (double **)calloc((size_t)s->threads, sizeof *s->own);
        for (int t = 0; s->own && t < s->threads; t++) {
            s->own[t] = (double *)malloc(2 * n * n * sizeof(double));
            if (!s->own[t])
                return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads", t);
        }
        if (!s->own) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a split plan");
    }
    return FMO_OK;
}

/* The CPU's part: digest one batch that has arrived. */
void reduce_batch(const fmo_fock_plan *plan, const split_state *s, const buffer *f)
{
    const fmo_cpu_kernels *kernels = fmo_cpu_kernels_choose();
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_cpu_batch batch = {plan->gpu->pair_ao[classes[f->eri_class].bra],
                                 plan->gpu->pair_ao[classes[f->eri_class].ket], f->quartet, f->eri,
                                 f->num};
    const int atomic = plan->options.reduce == FMO_REDUCE_ATOMIC && s->threads > 1;
#pragma omp parallel num_threads(s->threads)
    {
        const int t = omp_get_thread_num(), all = omp_get_num_threads();
        double *const own = s->own ? s->own[t] : NULL;
        const fmo_cpu_task task = {plan->basis, plan->density, own ? own : plan->coulomb,
                                   own ? own + n * n : plan->exchange, atomic};
        kernels->digest[f->eri_class](&task, &batch, f->num * (size_t)t / (size_t)all,
                                      f->num * (size_t)(t + 1) / (size_t)all);
    }
}

typedef struct busy_times {
    double gpu, transfer, reduce;
} busy_times;

/* Waits for a buffer's batch, reduces it, adds up the times. */
cudaError_t drain(fmo_fock_plan *plan, const split_state *s, buffer *f, busy_times *busy)
{
    float kernel = 0.0f, copied = 0.0f;
    if (!f->busy) return cudaSuccess;
    f->busy = 0;
    cudaError_t code = cudaEventSynchronize(f->copied[1]);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&kernel, f->kernel[0], f->kernel[1]);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&copied, f->copied[0], f->copied[1]);
    if (code != cudaSuccess) return code;
    busy->gpu += 1e-3 * kernel;
    busy->transfer += 1e-3 * copied;
    plan->profile.classes[f->eri_class].seconds += 1e-3 * kernel;
    const fmo_gpu_range range("reduce on the CPU");
    const double start = fmo_now();
    reduce_batch(plan, s, f);
    busy->reduce += fmo_now() - start;
    return cudaSuccess;
}

/* Queues kernel and copies of quartets [begin, begin+num) of a part on a buffer's stream. */
cudaError_t fill(const fmo_fock_plan *plan, buffer *f, const fmo_gpu_part *part, size_t begin,
                 size_t num)
{
    const fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_class_view view = fmo_gpu_view(plan, g, part);
    const int c = part->eri_class;
    const fmo_gpu_range range(fmo_eri_class_name(part->eri_class));
    f->busy = 1;
    f->eri_class = part->eri_class;
    f->num = num;
    cudaError_t code = cudaEventRecord(f->kernel[0], f->stream);
    if (code == cudaSuccess)
        code = classes[c].launch(&view, g, begin, num, f->device_eri, f->stream);
    if (code == cudaSuccess) code = cudaEventRecord(f->kernel[1], f->stream);
    if (code == cudaSuccess) code = cudaEventRecord(f->copied[0], f->stream);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(f->eri, f->device_eri, num * classes[c].size * sizeof(double),
                               cudaMemcpyDeviceToHost, f->stream);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(f->quartet, view.list + begin, num * 2 * sizeof(int),
                               cudaMemcpyDeviceToHost, f->stream);
    if (code == cudaSuccess) code = cudaEventRecord(f->copied[1], f->stream);
    return code;
}

cudaError_t split_pass(const fmo_gpu_group *group, split_state *s, int number, busy_times *busy)
{
    fmo_fock_plan *plan = group->job->plan;
    fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_pass *pass = &g->pass[number];
    fmo_gpu_counters counters;
    int next = 0;
    cudaError_t code = fmo_gpu_screen(group, number);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(&counters, g->counters, sizeof counters, cudaMemcpyDeviceToHost,
                               g->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
    for (int n = 0; n < pass->num && code == cudaSuccess; n++) {
        const fmo_gpu_part *part = &pass->part[n];
        const size_t all = counters.survivors[FMO_GPU_NEAR][part->eri_class];
        const size_t batch = batch_size(s, part->eri_class);
        for (size_t begin = 0; begin < all && code == cudaSuccess; begin += batch) {
            buffer *f = &s->buffers[next];
            code = drain(plan, s, f, busy);
            if (code == cudaSuccess)
                code = fill(plan, f, part, begin, all - begin < batch ? all - begin : batch);
            if (code == cudaSuccess && s->used == 1) code = drain(plan, s, f, busy);
            next = (next + 1) % s->used;
        }
    }
    /* oldest first */
    for (int b = 0; b < s->used && code == cudaSuccess; b++)
        code = drain(plan, s, &s->buffers[(next + b) % s->used], busy);
    return code;
}

fmo_status split_build(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    split_state *s = (split_state *)plan->state;
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num, matrix = n * n * sizeof(double);
    fmo_gpu_counters counters;
    busy_times busy = {0.0, 0.0, 0.0};
    float screening = 0.0f;
    const fmo_fock_job job = fmo_gpu_own_job(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&job);
    const fmo_gpu_range range("split build");
    for (int t = 0; s->own && t < s->threads; t++) memset(s->own[t], 0, 2 * matrix);
    for (int b = 0; b < s->used; b++) s->buffers[b].busy = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) plan->profile.classes[c].seconds = 0.0;
    memcpy(g->host_in, density, matrix);
    cudaError_t code =
        cudaMemcpyAsync(g->density_in, g->host_in, matrix, cudaMemcpyHostToDevice, g->stream);
    if (code == cudaSuccess) code = cudaEventRecord(g->start, g->stream);
    if (code == cudaSuccess) code = fmo_gpu_take_density(&group);
    if (code == cudaSuccess) code = cudaEventRecord(g->finished, g->stream);
    for (int p = 0; p < g->passes && code == cudaSuccess; p++) {
        code = split_pass(&group, s, p, &busy);
        fmo_plan_progress(plan, (double)(p + 1) / g->passes);
    }
    if (code == cudaSuccess)
        code = cudaMemcpy(&counters, g->counters, sizeof counters, cudaMemcpyDeviceToHost);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&screening, g->start, g->finished);
    if (code != cudaSuccess) return fmo_gpu_error(code, "split build", err);
    if (s->own) {
        const double start = fmo_now();
        fmo_cpu_reduce_tree(s->own, s->threads, n * n, plan->coulomb, plan->exchange);
        busy.reduce += fmo_now() - start;
    }
    plan->profile.screening_seconds = 1e-3 * screening;
    plan->profile.gpu_seconds = busy.gpu;
    plan->profile.transfer_seconds = busy.transfer;
    plan->profile.reduce_seconds = busy.reduce;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &plan->profile.classes[c];
        p->quartets = (int64_t)counters.quartets[c];
        p->prim_quartets = (int64_t)counters.prim_quartets[c];
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
        p->adds = fmo_gpu_adds_made(g, &counters, c);
    }
    return FMO_OK;
}

fmo_status split_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    split_release(plan);
    return split_prepare(plan, err);
}

void split_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const split_state *s = (const split_state *)plan->state;
    const size_t n = (size_t)plan->basis->ao_num;
    size_t largest = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        largest =
            batch_size(s, (fmo_eri_class)c) > largest ? batch_size(s, (fmo_eri_class)c) : largest;
    fmo_gpu_workspace(plan, memory);
    memory->device_bytes += (size_t)s->used * s->bytes;
    memory->host_bytes += (size_t)s->used * (s->bytes + largest * 2 * sizeof(int));
    if (s->own) memory->host_bytes += (size_t)s->threads * 2 * n * n * sizeof(double);
}

} // namespace

/* In the order of fmo_mode_implementation. */
extern "C" const fmo_mode_implementation fmo_mode_split = {
    split_prepare, split_build, NULL, NULL, split_new_pairs, split_release, NULL, NULL,
    NULL,          1,           1,    0,    split_workspace};
