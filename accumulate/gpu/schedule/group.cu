/* Batches of mode fused. Launches cost more than small systems' work, so that builds of such
 * systems share them: plans with the same kernels, sorted by size, in groups of up to
 * FMO_GPU_GROUP_MAX, each group on one stream. All other plans build one by one, on streams of
 * their own. */
#include "accumulate/gpu/schedule/fused.h"
#include "accumulate/gpu/range.h"

#include <stdlib.h>

/* No fewer groups than this, so that one fills the GPU where another ends, as long as they have
 * group_min builds. Measured on an H200, docs/performance.md. */
static const size_t groups_wanted = 4, group_min = 8;

/* Blocks of a quartet kernel for a group: so many times what fits the GPU. */
enum { GROUP_WAVES = 4 };

static const fmo_gpu_part *part_of(const fmo_gpu_state *g, int eri_class)
{
    for (int n = 0; n < g->pass[0].num; n++)
        if (g->pass[0].part[n].eri_class == eri_class) return &g->pass[0].part[n];
    return NULL;
}

static size_t candidates_of(const fmo_gpu_state *g, int eri_class)
{
    const fmo_gpu_part *part = part_of(g, eri_class);
    return part ? part->candidates : 0;
}

/* One list of one class of all builds. */
static cudaError_t launch_list(const fmo_gpu_group *group, const fmo_gpu_variant *variant, int list,
                               int c)
{
    int resident = 0;
    size_t all = 0;
    fmo_gpu_group_kernel *const kernel = variant->group[list][c];
    if (!kernel) return cudaSuccess;
    const cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, (const void *)kernel, FMO_GPU_THREADS, 0);
    if (code != cudaSuccess) return code;
    for (int k = 0; k < group->num; k++) all += candidates_of(group->job[k].plan->gpu, c);
    const int most = fmo_gpu_many_max<fmo_gpu_quartet_args>;
    const int launches = (group->num + most - 1) / most;
    const size_t blocks = (size_t)launches * (size_t)resident *
                          (size_t)group->job->plan->gpu->processors * GROUP_WAVES;
    if (!blocks) return cudaErrorLaunchOutOfResources;
    const size_t piece = (all / blocks / FMO_GPU_THREADS + 1) * FMO_GPU_THREADS;
    return fmo_gpu_launch_group<fmo_gpu_quartet_args>(
        group, NULL, kernel, FMO_GPU_THREADS, 0,
        [&](const fmo_fock_job *job, fmo_gpu_quartet_args *args) {
            const fmo_gpu_state *g = job->plan->gpu;
            const fmo_gpu_part *part = part_of(g, c);
            if (!part) return dim3(0);
            args->view = fmo_gpu_view(job->plan, g, part);
            args->matrices = fmo_gpu_matrix_view(job->plan, g, part->eri_class);
            return dim3((unsigned)((part->candidates + piece - 1) / piece));
        });
}

/* All lists of one class. */
static cudaError_t launch_class(const fmo_gpu_group *group, const fmo_gpu_variant *variant, int c)
{
    const fmo_gpu_range range(fmo_eri_class_name((fmo_eri_class)c));
    const int lists = group->job->plan->gpu->far ? FMO_GPU_LISTS : FMO_GPU_NEAR + 1;
    cudaError_t code = cudaSuccess;
    for (int list = FMO_GPU_NEAR; list < lists && code == cudaSuccess; list++)
        code = launch_list(group, variant, list, c);
    return code;
}

/* Densities to J and K, everything queued on the group's stream. */
static cudaError_t queue_group(const fmo_gpu_group *group, const fmo_gpu_variant *variant)
{
    const bool fixed = variant->scatter == FMO_SCATTER_FIXED;
    cudaError_t code = fmo_gpu_take_density(group);
    if (code == cudaSuccess && fixed) code = fmo_gpu_fixed_scale(group);
    if (code == cudaSuccess && group->job->plan->gpu->far) code = fmo_gpu_make_moments(group);
    if (code == cudaSuccess) code = fmo_gpu_screen(group, 0);
    for (int c = FMO_ERI_CLASS_COUNT - 1; c >= 0 && code == cudaSuccess; c--)
        code = launch_class(group, variant, c);
    if (code == cudaSuccess) code = fmo_gpu_spread_coulomb(group, fixed);
    return code == cudaSuccess ? fmo_gpu_finish(group, fixed) : code;
}

/* What must be equal in a group, then the order of its builds. */
typedef struct batch_key {
    int occurrence;                 /* of the plan among the jobs so far */
    const fmo_gpu_variant *variant; /* NULL: builds alone */
    int far;
    cudaStream_t stream; /* the caller's; NULL for a plan's own */
    double work;
    size_t job;
} batch_key;

static int compare(const void *x, const void *y)
{
    const batch_key *a = (const batch_key *)x, *b = (const batch_key *)y;
    if (a->occurrence != b->occurrence) return a->occurrence < b->occurrence ? -1 : 1;
    if (a->variant != b->variant) return a->variant < b->variant ? -1 : 1;
    if (a->far != b->far) return a->far < b->far ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    if (a->work != b->work) return a->work > b->work ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

static bool together(const batch_key *a, const batch_key *b)
{
    return a->variant && a->occurrence == b->occurrence && a->variant == b->variant &&
           a->far == b->far && a->stream == b->stream;
}

bool fmo_gpu_joins_groups(const fmo_fock_plan *plan)
{
    const fmo_gpu_state *g = plan->gpu;
    return plan->options.scatter != FMO_SCATTER_TILE &&
           fmo_gpu_plan_variant(plan)->group[FMO_GPU_NEAR][0] && fmo_gpu_is_small(g) &&
           g->passes == 1 && !g->stored;
}

static batch_key key_of(const fmo_fock_job *jobs, size_t k)
{
    const fmo_fock_plan *plan = jobs[k].plan;
    fmo_gpu_state *g = plan->gpu;
    batch_key key;
    key.occurrence = g->occurrences++;
    key.variant = fmo_gpu_joins_groups(plan) ? fmo_gpu_plan_variant(plan) : NULL;
    key.far = g->far;
    key.stream = g->own_stream ? NULL : g->stream;
    key.work = g->work;
    key.job = k;
    return key;
}

/* Builds that go together from key[0] on, of `rest` jobs. */
static size_t alike(const batch_key *key, size_t rest)
{
    size_t all = 1;
    while (all < rest && together(&key[0], &key[all])) all++;
    return all;
}

/* Builds of each group of so many; 1: they are faster alone, side by side. */
static size_t group_size(size_t all)
{
    size_t groups = (all + FMO_GPU_GROUP_MAX - 1) / FMO_GPU_GROUP_MAX;
    if (all < group_min) return 1;
    if (groups < groups_wanted)
        groups = all / group_min < groups_wanted ? all / group_min : groups_wanted;
    return (all + groups - 1) / groups;
}

/* A group of two or more builds. */
static cudaError_t run_group(const fmo_fock_job *jobs, int num, bool of_host, cudaStream_t stream,
                             const fmo_gpu_variant *variant)
{
    fmo_fock_job own[FMO_GPU_GROUP_MAX];
    const fmo_gpu_group group = {of_host ? own : jobs, num, stream};
    cudaError_t code = cudaSuccess;
    for (int k = 0; k < num && code == cudaSuccess; k++) {
        fmo_gpu_state *g = jobs[k].plan->gpu;
        code = fmo_gpu_enter(g, stream);
        if (!of_host) continue;
        own[k] = fmo_gpu_own_job(jobs[k].plan);
        if (code == cudaSuccess) code = fmo_gpu_copy_in(&jobs[k], stream);
    }
    for (int k = 0; k < num && of_host && code == cudaSuccess; k++)
        code = cudaEventRecord(jobs[k].plan->gpu->start, stream);
    if (code == cudaSuccess) code = queue_group(&group, variant);
    for (int k = 0; k < num && code == cudaSuccess; k++)
        code = cudaEventRecord(jobs[k].plan->gpu->finished, stream);
    for (int k = 0; k < num && of_host && code == cudaSuccess; k++)
        code = fmo_gpu_copy_out(jobs[k].plan, stream);
    return code;
}

static fmo_status run_batch(const fmo_fock_job *jobs, size_t count, bool of_host, fmo_error *err)
{
    const fmo_gpu_range range("batch");
    fmo_gpu_state *const first = jobs[0].plan->gpu;
    batch_key *key = (batch_key *)malloc(count * sizeof *key);
    fmo_status status = FMO_OK;
    cudaError_t code = cudaSuccess;
    if (!key) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a batch of %zu", count);
    for (size_t k = 0; k < count; k++) jobs[k].plan->gpu->occurrences = 0;
    for (size_t k = 0; k < count; k++) key[k] = key_of(jobs, k);
    qsort(key, count, sizeof *key, compare);
    if (!of_host) code = cudaEventRecord(first->start, first->stream);
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = begin + alike(&key[begin], count - begin);
        const size_t most = group_size(end - begin);
        for (size_t k = begin; k < end && status == FMO_OK && code == cudaSuccess; k += most) {
            fmo_fock_job members[FMO_GPU_GROUP_MAX];
            const size_t size = end - k < most ? end - k : most;
            const cudaStream_t stream = jobs[key[k].job].plan->gpu->stream;
            for (size_t n = 0; n < size; n++) members[n] = jobs[key[k + n].job];
            if (!of_host && stream != first->stream)
                code = cudaStreamWaitEvent(stream, first->start, 0);
            if (code != cudaSuccess) break;
            if (size > 1)
                code = run_group(members, (int)size, of_host, stream, key[k].variant);
            else
                status =
                    of_host ? fmo_gpu_start_one(members, err) : fmo_gpu_device_one(members, err);
            if (!of_host && stream != first->stream && code == cudaSuccess && status == FMO_OK)
                code = cudaStreamWaitEvent(first->stream, members[size - 1].plan->gpu->finished, 0);
        }
    }
    free(key);
    return code == cudaSuccess ? status : fmo_gpu_error(code, "batch", err);
}

fmo_status fmo_gpu_start_many(const fmo_fock_job *jobs, size_t count, fmo_error *err)
{
    const fmo_status status = run_batch(jobs, count, true, err);
    for (size_t k = 0; k < count && status != FMO_OK; k++) /* whatever has been queued */
        (void)cudaStreamSynchronize(jobs[k].plan->gpu->last);
    return status;
}

fmo_status fmo_gpu_device_many(const fmo_fock_job *jobs, size_t count, fmo_error *err)
{
    return run_batch(jobs, count, false, err);
}
