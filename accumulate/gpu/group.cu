/* Batches of mode fused. For small systems kernel launches take longer than the work, so their
 * builds share launches: plans with the same kernels, sorted by size, form groups, each on one
 * stream. All other plans build one by one, on streams of their own
 * (docs/explanation/gpu/batches.md). */
#include "accumulate/gpu/fused.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"
#include "accumulate/gpu/range.h"
#include "integrals/operator_rules.h"

#include <stdlib.h>

/* The plan's task of a class; NULL if it has none. Plans in groups have one pass. */
static const fmo_gpu_task *task_of(const fmo_gpu_state *g, int eri_class)
{
    const fmo_gpu_pass *pass = &g->lists.pass[0];
    for (int n = 0; n < pass->num; n++)
        if (pass->task[n].task.eri_class == eri_class) return &pass->task[n];
    return NULL;
}

/* Number of candidates of that task. */
static size_t candidates_of(const fmo_gpu_state *g, int eri_class)
{
    const fmo_gpu_task *task = task_of(g, eri_class);
    return task ? task->candidates : 0;
}

/* Launches the kernel for one list of one class for all builds. The grids of the builds are
 * proportional to their candidates and together fill the GPU a few times. */
static cudaError_t launch_list(const fmo_gpu_group *group, const fmo_gpu_variant *variant, int list,
                               int c)
{
    int resident = 0;
    size_t all = 0;
    fmo_gpu_group_kernel *const kernel = variant->group[list][c];
    if (!kernel) return cudaSuccess;
    FMO_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, (const void *)kernel,
                                                              FMO_GPU_THREADS, 0));
    for (int k = 0; k < group->num; k++) all += candidates_of(group->build[k].plan->gpu, c);
    const int per_launch = fmo_gpu_many_max<fmo_gpu_quartet_args>;
    const int launches = (group->num + per_launch - 1) / per_launch;
    const size_t blocks = (size_t)launches * (size_t)resident *
                          (size_t)group->build->plan->gpu->device.processors *
                          fmo_tuning_gpu_group_waves;
    if (!blocks) return cudaErrorLaunchOutOfResources;
    const size_t piece = (all / blocks / FMO_GPU_THREADS + 1) * FMO_GPU_THREADS;
    return fmo_gpu_launch_group<fmo_gpu_quartet_args>(
        group, NULL, kernel, FMO_GPU_THREADS, 0,
        [&](const fmo_gpu_build *build, fmo_gpu_quartet_args *args) {
            const fmo_gpu_task *task = task_of(build->plan->gpu, c);
            if (!task) return dim3(0);
            args->view = fmo_gpu_view(build->plan, task);
            args->matrices = fmo_gpu_matrix_view(build->plan, c);
            return dim3((unsigned)((task->candidates + piece - 1) / piece));
        });
}

/* Launches all lists of one class. */
static cudaError_t launch_class(const fmo_gpu_group *group, const fmo_gpu_variant *variant, int c)
{
    const fmo_gpu_range range(fmo_eri_class_name((fmo_eri_class)c));
    const int lists = group->build->plan->gpu->far ? FMO_GPU_LISTS : FMO_GPU_NEAR + 1;
    for (int list = FMO_GPU_NEAR; list < lists; list++)
        FMO_GPU_TRY(launch_list(group, variant, list, c));
    return cudaSuccess;
}

/* Queues the builds from densities to J and K on the group's stream. */
static cudaError_t queue_group(const fmo_gpu_group *group, const fmo_gpu_variant *variant)
{
    FMO_GPU_TRY(fmo_gpu_queue_density(group, variant));
    FMO_GPU_TRY(fmo_gpu_screen(group, 0));
    for (int c = FMO_ERI_LOW_L_COUNT - 1; c >= 0; c--) FMO_GPU_TRY(launch_class(group, variant, c));
    if (fmo_gpu_uses_hermite(group->build->plan))
        FMO_GPU_TRY(fmo_hermite_queue(group, variant, NULL, false));
    return fmo_gpu_queue_finish(group, variant);
}

/* Sort key of a job: members up to `stream` must be equal within a group, the others determine the
 * order. */
typedef struct batch_key {
    const fmo_gpu_variant *variant; /* NULL: the job builds alone */
    int device, far, hermite;
    cudaStream_t stream; /* the caller's; NULL: a stream of the plan's own */
    double primitives;
    size_t job;
} batch_key;

/* Order of keys for qsort. */
static int compare(const void *x, const void *y)
{
    const batch_key *a = (const batch_key *)x, *b = (const batch_key *)y;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->variant != b->variant) return a->variant < b->variant ? -1 : 1;
    if (a->far != b->far) return a->far < b->far ? -1 : 1;
    if (a->hermite != b->hermite) return a->hermite < b->hermite ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    if (a->primitives != b->primitives) return a->primitives > b->primitives ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

/* True if the two jobs may be in one group. */
static bool together(const batch_key *a, const batch_key *b)
{
    return a->variant && a->device == b->device && a->variant == b->variant && a->far == b->far &&
           a->hermite == b->hermite && a->stream == b->stream;
}

/* True for a job of 1/r and a symmetric density, which a group can build. */
static bool is_plain(const fmo_fock_job *job)
{
    return job->symmetry == FMO_SYMMETRIC &&
           (!job->coulomb || fmo_operator_is_coulomb(job->coulomb_operator)) &&
           (!job->exchange || fmo_operator_is_coulomb(job->exchange_operator));
}

/* The key of job k. */
static batch_key key_of(const fmo_fock_job *const *jobs, size_t k)
{
    const fmo_fock_plan *plan = jobs[k]->plan;
    const fmo_gpu_state *g = plan->gpu;
    batch_key key;
    const bool joins = is_plain(jobs[k]) && !plan->also_num && fmo_gpu_joins_groups(plan);
    key.variant = joins ? fmo_gpu_plan_variant(plan) : NULL;
    key.device = g->device.number;
    key.far = g->far;
    key.hermite = fmo_gpu_uses_hermite(plan);
    key.stream = g->device.own_stream ? NULL : g->device.stream;
    key.primitives = g->primitives;
    key.job = k;
    return key;
}

/* Number of jobs, of the `rest` jobs from key[0] on, that may be in one group with the first. */
static size_t alike(const batch_key *key, size_t rest)
{
    size_t all = 1;
    while (all < rest && together(&key[0], &key[all])) all++;
    return all;
}

/* Number of builds in each group, out of `all` that may share launches; 1: single builds on their
 * own streams are faster. Groups on one stream of the caller's run in sequence, so they are as few
 * as possible. */
static size_t group_size(size_t all, bool one_stream)
{
    const size_t least = one_stream ? 1 : fmo_tuning_gpu_group_least;
    const size_t least_groups = one_stream ? 1 : fmo_tuning_gpu_batch_groups;
    size_t groups = (all + FMO_GPU_GROUP_MAX - 1) / FMO_GPU_GROUP_MAX;
    if (all < least) return 1;
    if (groups < least_groups) groups = all / least < least_groups ? all / least : least_groups;
    return (all + groups - 1) / groups;
}

/* Queues a group of two or more builds. on_device: the matrices are in GPU memory. */
static cudaError_t run_group(const fmo_fock_job *const *jobs, int num, bool on_device,
                             cudaStream_t stream, const fmo_gpu_variant *variant)
{
    fmo_gpu_build builds[FMO_GPU_GROUP_MAX];
    const fmo_gpu_group group = {builds, num, stream};
    for (int k = 0; k < num; k++) {
        const fmo_fock_job *job = jobs[k];
        FMO_GPU_TRY(fmo_gpu_follow(&job->plan->gpu->device, stream));
        job->plan->gpu->requested = fmo_build_requested(job);
        job->plan->gpu->antisymmetric = 0;
        if (job->plan->gpu->hermite) job->plan->gpu->hermite->grouped = !variant->fixed_point;
        builds[k] = on_device ? fmo_gpu_build{job->plan, job->density, job->coulomb, job->exchange,
                                              false,     NULL,         false}
                              : fmo_gpu_own_build(job->plan);
        if (!on_device) FMO_GPU_TRY(fmo_gpu_copy_in(job->plan, job->density, stream));
    }
    for (int k = 0; k < num && !on_device; k++)
        FMO_GPU_TRY(cudaEventRecord(jobs[k]->plan->gpu->device.start, stream));
    FMO_GPU_TRY(queue_group(&group, variant));
    for (int k = 0; k < num; k++)
        FMO_GPU_TRY(cudaEventRecord(jobs[k]->plan->gpu->device.finished, stream));
    for (int k = 0; k < num && !on_device; k++)
        FMO_GPU_TRY(fmo_gpu_copy_out(jobs[k]->plan, stream));
    return cudaSuccess;
}

/* Queues the builds of one group, or a single build. If the matrices are in GPU memory, the work
 * starts after what is on the lead plan's stream, and later work on that stream waits for it. */
static fmo_status run_members(const fmo_fock_job *const *jobs, size_t num, const batch_key *key,
                              const fmo_start *how, fmo_error *err)
{
    const fmo_gpu_device *device = &jobs[0]->plan->gpu->device;
    const fmo_gpu_device *lead = how->on_device ? &how->lead->gpu->device : device;
    const fmo_gpu_device_guard guard(device);
    const cudaStream_t stream = device->stream;
    if (stream != lead->stream)
        FMO_GPU_CHECK(cudaStreamWaitEvent(stream, lead->start, 0), "batch", err);
    if (num > 1) {
        FMO_GPU_CHECK(run_group(jobs, (int)num, how->on_device, stream, key->variant), "batch",
                      err);
    } else {
        const fmo_status status = fmo_gpu_start_one(jobs[0], how->on_device, err);
        if (status != FMO_OK) return status;
    }
    if (stream != lead->stream)
        FMO_GPU_CHECK(
            cudaStreamWaitEvent(lead->stream, jobs[num - 1]->plan->gpu->device.finished, 0),
            "batch", err);
    return FMO_OK;
}

/* Records, once per call, the event on the lead's stream that the work must wait for. */
static fmo_status mark(fmo_start *how, fmo_error *err)
{
    if (!how->on_device || how->marked) return FMO_OK;
    const fmo_gpu_device *lead = &how->lead->gpu->device;
    const fmo_gpu_device_guard guard(lead);
    FMO_GPU_CHECK(cudaEventRecord(lead->start, lead->stream), "batch", err);
    how->marked = 1;
    return FMO_OK;
}

/* The jobs of one call of run_members. */
typedef struct batch_piece {
    size_t first, num; /* range of keys */
    size_t turn;       /* number of pieces before it on the same GPU */
} batch_piece;

/* Order of pieces for qsort. */
static int by_turn(const void *x, const void *y)
{
    const batch_piece *a = (const batch_piece *)x, *b = (const batch_piece *)y;
    if (a->turn != b->turn) return a->turn < b->turn ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Divides the jobs into pieces, in the order in which they are queued. Pieces of several GPUs
 * alternate, because the host waits if the queue of one GPU is full, and the other GPUs would be
 * idle meanwhile. Returns the number of pieces. */
static size_t make_pieces(const batch_key *key, size_t count, batch_piece *piece)
{
    size_t pieces = 0, turn = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = begin + alike(&key[begin], count - begin);
        const size_t max_size = group_size(end - begin, key[begin].stream != NULL);
        if (begin > 0 && key[begin].device != key[begin - 1].device) turn = 0;
        for (size_t k = begin; k < end; k += max_size)
            piece[pieces++] = {k, end - k < max_size ? end - k : max_size, turn++};
    }
    qsort(piece, pieces, sizeof *piece, by_turn);
    return pieces;
}

/* Sorts the jobs, forms groups, and queues all of them. */
static fmo_status run_many(const fmo_fock_job *const *jobs, size_t count, const fmo_start *how,
                           fmo_error *err)
{
    const fmo_gpu_range range("batch");
    batch_key *key = (batch_key *)malloc(count * sizeof *key);
    batch_piece *piece = (batch_piece *)malloc(count * sizeof *piece);
    fmo_status status = FMO_OK;
    if (!key || !piece)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a batch of %zu", count);
    for (size_t k = 0; k < count && status == FMO_OK; k++) key[k] = key_of(jobs, k);
    if (status == FMO_OK) qsort(key, count, sizeof *key, compare);
    const size_t pieces = status == FMO_OK ? make_pieces(key, count, piece) : 0;
    for (size_t p = 0; p < pieces && status == FMO_OK; p++) {
        const fmo_fock_job *members[FMO_GPU_GROUP_MAX];
        for (size_t n = 0; n < piece[p].num; n++) members[n] = jobs[key[piece[p].first + n].job];
        status = run_members(members, piece[p].num, &key[piece[p].first], how, err);
    }
    free(piece);
    free(key);
    return status;
}

fmo_status fmo_gpu_start_groups(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                                fmo_error *err)
{
    fmo_status status = mark(how, err);
    if (status == FMO_OK) status = run_many(jobs, count, how, err);
    for (size_t k = 0; k < count && status != FMO_OK; k++) /* wait for what has been queued */
        (void)cudaStreamSynchronize(jobs[k]->plan->gpu->device.last);
    return status;
}
