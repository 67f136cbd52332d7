/* Mode split (`--mode split`): the GPU computes batches of integrals, and the CPU digests them. Two
 * buffers on two streams let the GPU fill one while the CPU processes the other. With no_overlap
 * there is one buffer, and GPU and CPU never work at the same time, as in the paper of 2013
 * (docs/explanation/accumulation.md). With several GPUs (options.devices) each has its buffers,
 * which the CPU processes in turn. */
#include "accumulate/cpu/kernel.h"
#include "accumulate/gpu/fused.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/gpu/range.h"
#include "accumulate/gpu/schedule/schedule.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/kernels/quartet.cuh"

namespace {

/* Pinned host memory for all buffers, in bytes, unless options.memory is set; the GPU needs as
 * much. */
const size_t default_bytes = fmo_tuning_split_bytes, least_bytes = fmo_tuning_split_bytes_least;

enum { BUFFERS = 2 };

typedef struct buffer {
    cudaStream_t stream;
    cudaEvent_t kernel[2], copied[2]; /* begin and end of the kernel; of the copies */
    double *device_eri, *eri;         /* [component][quartet] on the GPU; pinned copy */
    int *quartet;                     /* [quartet][2] bra and ket, pinned */
    /* the batch that is being computed or copied */
    int busy;
    fmo_eri_class eri_class;
    size_t num;
} buffer;

typedef struct split_state {
    buffer buffers[BUFFERS];
    int used; /* number of buffers: 1 with no_overlap */
    size_t bytes;
    double **own; /* with reduce = tree: [threads] J and K of each thread */
    int threads;
} split_state;

/* Computes the integrals of quartets [begin, begin + num) of a list, out[component][num]. */
template <class C>
__global__ void __launch_bounds__(FMO_GPU_THREADS)
    compute(fmo_gpu_class_view view, const fmo_boys_table *boys, size_t begin, size_t num,
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
cudaError_t launch_compute(const fmo_gpu_class_view *view, const fmo_gpu_state *g, size_t begin,
                           size_t num, double *out, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((num + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
    compute<C><<<blocks, FMO_GPU_THREADS, 0, stream>>>(*view, g->boys, begin, num, out);
    return cudaGetLastError();
}

/* Loads the kernel: CUDA does so when its attributes are queried, here before the first build. */
template <class C> cudaError_t load_compute()
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, compute<C>);
}

struct {
    cudaError_t (*load)();
    cudaError_t (*launch)(const fmo_gpu_class_view *, const fmo_gpu_state *, size_t, size_t,
                          double *, cudaStream_t);
    size_t size;
} const classes[FMO_ERI_LOW_L_COUNT] = {
#define ROW(e, name, ...) \
    {load_compute<fmo_class_##name>, launch_compute<fmo_class_##name>, fmo_class_##name::size},
    FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
};

/* Waits for all copies and frees the buffers. */
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

} // namespace

extern "C" void fmo_split_release(fmo_fock_plan *plan)
{
    split_state *s = (split_state *)plan->state;
    const fmo_gpu_device_guard guard(plan->options.device);
    fmo_gpu_state_destroy(plan);
    if (!s) return;
    release_buffers(s);
    for (int t = 0; s->own && t < s->threads; t++) free(s->own[t]);
    free(s->own);
    free(s);
    plan->state = NULL;
}

namespace {

/* Number of quartets of a class that fit into a buffer. */
size_t batch_size(const split_state *s, int c)
{
    return s->bytes / (classes[c].size * sizeof(double) + 2 * sizeof(int));
}

/* Bytes of the largest possible batch, which contains all candidates of one task. */
size_t max_bytes(const fmo_gpu_state *g)
{
    size_t largest = least_bytes;
    for (int p = 0; p < g->lists.passes; p++) {
        for (int n = 0; n < g->lists.pass[p].num; n++) {
            const fmo_gpu_task *task = &g->lists.pass[p].task[n];
            const size_t size = classes[task->task.eri_class].size;
            const size_t bytes = task->candidates * (size * sizeof(double) + 2 * sizeof(int));
            if (bytes > largest) largest = bytes;
        }
    }
    return largest;
}

/* Creates stream and events and allocates the memory of a buffer. */
cudaError_t make_buffer(const split_state *s, size_t quartets, buffer *f)
{
    FMO_GPU_TRY(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking));
    for (int e = 0; e < 2; e++) {
        FMO_GPU_TRY(cudaEventCreate(&f->kernel[e]));
        FMO_GPU_TRY(cudaEventCreate(&f->copied[e]));
    }
    FMO_GPU_TRY(cudaMalloc((void **)&f->device_eri, s->bytes));
    FMO_GPU_TRY(cudaMallocHost((void **)&f->eri, s->bytes));
    return cudaMallocHost((void **)&f->quartet, quartets * 2 * sizeof(int));
}

/* Largest number of quartets in a buffer, over all classes. */
size_t max_quartets(const split_state *s)
{
    size_t largest = 0;
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++)
        if (batch_size(s, c) > largest) largest = batch_size(s, c);
    return largest;
}

/* Determines the size of the buffers from the available memory, and makes them. */
fmo_status make_buffers(const fmo_fock_plan *plan, split_state *s, fmo_error *err)
{
    /* options.memory is the limit for the buffers of all GPUs */
    const size_t gpus = plan->lead || plan->options.device_num > 1 ? (size_t)plan->shares : 1;
    const size_t total = plan->options.memory ? plan->options.memory / gpus : default_bytes;
    /* all GPUs copy the density from the first plan's pinned memory */
    cudaError_t code = plan->lead ? cudaSuccess : fmo_gpu_make_pinned(plan);
    FMO_GPU_CHECK(code, "pinned memory", err);
    s->bytes = total / (size_t)s->used;
    if (s->bytes > max_bytes(plan->gpu))
        s->bytes = max_bytes(plan->gpu);
    else if (s->bytes < least_bytes)
        return fmo_error_set(
            err, FMO_ERR_MEMORY,
            "mode split needs at least %.1f MB of buffers; increase options.memory from %.1f MB",
            1e-6 * (double)(gpus * (size_t)s->used * least_bytes), 1e-6 * (double)(gpus * total));
    for (int b = 0; b < s->used && code == cudaSuccess; b++)
        code = make_buffer(s, max_quartets(s), &s->buffers[b]);
    if (code == cudaSuccess) return FMO_OK;
    (void)cudaGetLastError();
    return fmo_gpu_error(code, "split buffers; reduce options.memory", err);
}

} // namespace

/* Makes the GPU state, the buffers and the threads' matrices, and loads the kernels. */
extern "C" fmo_status fmo_split_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_device_guard guard(plan->options.device);
    split_state *s = (split_state *)calloc(1, sizeof *s);
    if (!s) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a split plan");
    plan->state = s;
    s->used = plan->options.no_overlap ? 1 : BUFFERS;
    s->threads = plan->options.reduce == FMO_REDUCE_SERIAL ? 1 : plan->options.threads;
    fmo_status status = fmo_gpu_state_open(plan, err);
    if (status == FMO_OK) status = fmo_gpu_state_make(plan, &fmo_gpu_schedule_direct, 1, err);
    if (status == FMO_OK) status = make_buffers(plan, s, err);
    if (status != FMO_OK) return status;
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++)
        FMO_GPU_CHECK(classes[c].load(), "loading kernels", err);
    if (plan->options.reduce == FMO_REDUCE_TREE && s->threads > 1 && !plan->lead) {
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

namespace {

/* The share of one GPU in a build, processed batch by batch. */
typedef struct feed {
    fmo_fock_plan *plan;
    split_state *s;
    fmo_gpu_counters counters; /* of the pass; at the end, of the whole build */
    int pass, task, screened, next, done;
    size_t begin; /* number of quartets of the task whose batches have been queued */
} feed;

typedef struct split_run {
    fmo_fock_plan *plan; /* the plan with the matrices, threads and profile */
    const split_state *s;
    feed feeds[FMO_DEVICES_MAX];
    int num;
    double gpu, transfer, reduce; /* seconds of kernels, copies and digestion */
    float screening_ms;
} split_run;

void add_feed(split_run *r, fmo_fock_plan *plan)
{
    feed *const f = &r->feeds[r->num++];
    f->plan = plan;
    f->s = (split_state *)plan->state;
}

/* Digests a batch that has been copied to the host, with all threads. */
void reduce_batch(const split_run *r, const fmo_gpu_state *g, const buffer *f)
{
    const fmo_cpu_kernels *kernels = fmo_cpu_kernels_choose();
    const fmo_fock_plan *const plan = r->plan;
    const split_state *const s = r->s;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_cpu_batch batch = {g->pair_ao[fmo_eri_class_bra(f->eri_class)],
                                 g->pair_ao[fmo_eri_class_ket(f->eri_class)], f->quartet, f->eri,
                                 f->num};
    const int atomic = plan->options.reduce == FMO_REDUCE_ATOMIC && s->threads > 1;
#pragma omp parallel num_threads(s->threads)
    {
        const int t = omp_get_thread_num(), all = omp_get_num_threads();
        double *const own = s->own ? s->own[t] : NULL;
        const fmo_plan_matrices *m = &plan->matrices;
        const fmo_cpu_task task = {plan->basis, m->density, own ? own : m->coulomb,
                                   own ? own + n * n : m->exchange, atomic};
        kernels->digest[f->eri_class](&task, &batch, f->num * (size_t)t / (size_t)all,
                                      f->num * (size_t)(t + 1) / (size_t)all);
    }
}

/* Waits for the batch in a buffer, digests it, and adds its times to those of the build. */
cudaError_t drain(split_run *r, const feed *from, buffer *f)
{
    float kernel = 0.0f, copied = 0.0f;
    if (!f->busy) return cudaSuccess;
    f->busy = 0;
    FMO_GPU_TRY(cudaEventSynchronize(f->copied[1]));
    FMO_GPU_TRY(cudaEventElapsedTime(&kernel, f->kernel[0], f->kernel[1]));
    FMO_GPU_TRY(cudaEventElapsedTime(&copied, f->copied[0], f->copied[1]));
    r->gpu += 1e-3 * kernel;
    if (r->num > 1) r->plan->profile.device_seconds[from - r->feeds] += 1e-3 * kernel;
    r->transfer += 1e-3 * copied;
    r->plan->profile.classes[f->eri_class].seconds += 1e-3 * kernel;
    const fmo_gpu_range range("reduce on the CPU");
    const double start = fmo_now();
    reduce_batch(r, from->plan->gpu, f);
    r->reduce += fmo_now() - start;
    return cudaSuccess;
}

/* Queues the kernel and the copies for quartets [begin, begin + num) of a task on a buffer's
 * stream. */
cudaError_t fill(const fmo_fock_plan *plan, buffer *f, const fmo_gpu_task *task, size_t begin,
                 size_t num)
{
    const fmo_gpu_class_view view = fmo_gpu_view(plan, task);
    const int c = task->task.eri_class;
    const fmo_gpu_range range(fmo_eri_class_name(task->task.eri_class));
    f->busy = 1;
    f->eri_class = task->task.eri_class;
    f->num = num;
    FMO_GPU_TRY(cudaEventRecord(f->kernel[0], f->stream));
    FMO_GPU_TRY(classes[c].launch(&view, plan->gpu, begin, num, f->device_eri, f->stream));
    FMO_GPU_TRY(cudaEventRecord(f->kernel[1], f->stream));
    FMO_GPU_TRY(cudaEventRecord(f->copied[0], f->stream));
    FMO_GPU_TRY(cudaMemcpyAsync(f->eri, f->device_eri, num * classes[c].size * sizeof(double),
                                cudaMemcpyDeviceToHost, f->stream));
    FMO_GPU_TRY(cudaMemcpyAsync(f->quartet, view.list + begin, num * 2 * sizeof(int),
                                cudaMemcpyDeviceToHost, f->stream));
    return cudaEventRecord(f->copied[1], f->stream);
}

/* Screens the next pass. Its list overwrites that of the previous pass, whose batches are therefore
 * processed first. */
cudaError_t screen_pass(split_run *r, feed *f)
{
    const fmo_gpu_state *const g = f->plan->gpu;
    const fmo_gpu_build build = fmo_gpu_own_build(f->plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    for (int b = 0; b < f->s->used; b++) /* oldest first */
        FMO_GPU_TRY(drain(r, f, &f->s->buffers[(f->next + b) % f->s->used]));
    FMO_GPU_TRY(fmo_gpu_screen(&group, f->pass));
    FMO_GPU_TRY(cudaMemcpyAsync(&f->counters, g->arrays.counters, sizeof f->counters,
                                cudaMemcpyDeviceToHost, group.stream));
    FMO_GPU_TRY(cudaStreamSynchronize(group.stream));
    f->screened = 1;
    f->task = 0;
    f->begin = 0;
    return cudaSuccess;
}

/* Finds the task of the next batch and its number of remaining quartets; *task is NULL at the end.
 */
cudaError_t next_task(split_run *r, feed *f, const fmo_gpu_task **task, size_t *left)
{
    const fmo_gpu_lists *const lists = &f->plan->gpu->lists;
    *task = NULL;
    while (f->pass < lists->passes) {
        const fmo_gpu_pass *const pass = &lists->pass[f->pass];
        if (!f->screened) FMO_GPU_TRY(screen_pass(r, f));
        for (; f->task < pass->num; f->task++, f->begin = 0) {
            const fmo_gpu_task *const t = &pass->task[f->task];
            const size_t all = f->counters.screened_in[FMO_GPU_NEAR][t->task.eri_class];
            if (f->begin >= all) continue;
            *task = t;
            *left = all - f->begin;
            return cudaSuccess;
        }
        f->screened = 0;
        f->pass++;
        if (f == r->feeds) fmo_plan_progress(r->plan, (double)f->pass / lists->passes);
    }
    return cudaSuccess;
}

/* Processes the batch in one buffer of a GPU and starts the next batch in it. */
cudaError_t turn(split_run *r, feed *f)
{
    const fmo_gpu_task *task;
    size_t left = 0;
    const fmo_gpu_device_guard guard(&f->plan->gpu->device);
    FMO_GPU_TRY(next_task(r, f, &task, &left));
    if (!task) {
        for (int b = 0; b < f->s->used; b++)
            FMO_GPU_TRY(drain(r, f, &f->s->buffers[(f->next + b) % f->s->used]));
        f->done = 1;
        return cudaMemcpy(&f->counters, f->plan->gpu->arrays.counters, sizeof f->counters,
                          cudaMemcpyDeviceToHost);
    }
    buffer *const b = &f->s->buffers[f->next];
    const size_t batch = batch_size(f->s, task->task.eri_class), num = left < batch ? left : batch;
    FMO_GPU_TRY(drain(r, f, b));
    FMO_GPU_TRY(fill(f->plan, b, task, f->begin, num));
    if (f->s->used == 1) FMO_GPU_TRY(drain(r, f, b));
    f->begin += num;
    f->next = (f->next + 1) % f->s->used;
    return cudaSuccess;
}

/* Copies the density to a GPU and converts it to the kernels' order. */
cudaError_t begin_feed(const split_run *r, feed *f)
{
    fmo_gpu_state *const g = f->plan->gpu;
    const size_t n = (size_t)f->plan->basis->ao_num;
    const fmo_gpu_device_guard guard(&g->device);
    const fmo_gpu_build build = fmo_gpu_own_build(f->plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    g->requested = r->plan->gpu->requested;
    for (int b = 0; b < f->s->used; b++) f->s->buffers[b].busy = 0;
    FMO_GPU_TRY(cudaMemcpyAsync(g->arrays.density_in, r->plan->gpu->pinned.in,
                                n * n * sizeof(double), cudaMemcpyHostToDevice, group.stream));
    FMO_GPU_TRY(cudaEventRecord(g->device.start, group.stream));
    FMO_GPU_TRY(fmo_gpu_order_density(&group));
    return cudaEventRecord(g->device.finished, group.stream);
}

/* Runs the whole build; at the end the first feed has the counts of all GPUs. */
cudaError_t run(split_run *r)
{
    const size_t n = (size_t)r->plan->basis->ao_num;
    memcpy(r->plan->gpu->pinned.in, r->plan->matrices.given, n * n * sizeof(double));
    for (int k = 0; k < r->num; k++) FMO_GPU_TRY(begin_feed(r, &r->feeds[k]));
    for (int open = r->num; open > 0;) {
        open = 0;
        for (int k = 0; k < r->num; k++) {
            if (!r->feeds[k].done) FMO_GPU_TRY(turn(r, &r->feeds[k]));
            open += !r->feeds[k].done;
        }
    }
    for (int k = 0; k < r->num; k++) {
        const fmo_gpu_device *const device = &r->feeds[k].plan->gpu->device;
        const fmo_gpu_device_guard guard(device);
        float ms = 0.0f;
        if (k > 0) fmo_gpu_add_counts(&r->feeds[0].counters, &r->feeds[k].counters);
        FMO_GPU_TRY(cudaEventElapsedTime(&ms, device->start, device->finished));
        if (ms > r->screening_ms) r->screening_ms = ms;
    }
    return cudaSuccess;
}

} // namespace

extern "C" fmo_status fmo_split_join(fmo_fock_plan *plan, fmo_error *err)
{
    (void)plan, (void)err; /* GPUs need no access to each other: all batches go to the host */
    return FMO_OK;
}

/* Builds J and K with all GPUs, adds up the threads' matrices, and fills in the profile. */
extern "C" fmo_status fmo_split_build(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err)
{
    split_state *s = (split_state *)plan->state;
    const size_t n = (size_t)plan->basis->ao_num, matrix = n * n * sizeof(double);
    const fmo_gpu_device_guard guard(&plan->gpu->device);
    (void)source; /* this mode does not support a source */
    split_run r = {};
    r.plan = plan;
    r.s = s;
    add_feed(&r, plan);
    const fmo_gpu_range range("split build");
    for (int k = 0; k < plan->others.num; k++) add_feed(&r, plan->others.plan[k]);
    for (int t = 0; s->own && t < s->threads; t++) memset(s->own[t], 0, 2 * matrix);
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) plan->profile.classes[c].seconds = 0.0;
    for (int k = 0; k < r.num && r.num > 1; k++) plan->profile.device_seconds[k] = 0.0;
    FMO_GPU_CHECK(run(&r), "split build", err);
    if (s->own) {
        const double start = fmo_now();
        fmo_cpu_reduce_tree(s->own, s->threads, n * n, plan->matrices.coulomb,
                            plan->matrices.exchange);
        r.reduce += fmo_now() - start;
    }
    plan->profile.screening_seconds = 1e-3 * r.screening_ms;
    plan->profile.gpu_seconds = r.gpu;
    plan->profile.transfer_seconds = r.transfer;
    plan->profile.reduce_seconds = r.reduce;
    fmo_gpu_profile_counts(plan, &r.feeds[0].counters);
    return FMO_OK;
}

extern "C" fmo_status fmo_split_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_split_release(plan);
    return fmo_split_prepare(plan, err);
}

extern "C" void fmo_split_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const split_state *s = (const split_state *)plan->state;
    const size_t n = (size_t)plan->basis->ao_num;
    fmo_gpu_workspace(plan, memory);
    /* the host's buffers for all GPUs */
    const size_t buffers = (size_t)(1 + plan->others.num) * (size_t)s->used;
    memory->device_bytes += (size_t)s->used * s->bytes;
    memory->host_bytes += buffers * (s->bytes + max_quartets(s) * 2 * sizeof(int));
    if (s->own) memory->host_bytes += (size_t)s->threads * 2 * n * n * sizeof(double);
}
