/* Builds that several GPUs share (options.devices; docs/how-to/several-gpus.md). The plan on each
 * GPU is like the first one's, with every n-th bra pair of n GPUs. The first plan gets the density
 * and copies it to the others; all compute their shares of X; the first adds the other shares to
 * its own, reading the other GPU's memory over NVLink or PCIe, or a copy where it cannot, and
 * finishes the build alone. Shares are added in the order of the GPUs, so that results do not
 * depend on which GPU finishes first; under `fixed` they are integers. */
#include "accumulate/gpu/boxes/boxes.h"
#include "accumulate/gpu/fused.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/gpu/range.h"
#include "accumulate/tuning.h"

/* Counters of one of the other plans. */
typedef struct fmo_gpu_others_counters {
    fmo_gpu_counters low_l;
    fmo_hermite_counters high_l;
} fmo_gpu_others_counters;

namespace {

enum { ADD_THREADS = fmo_tuning_gpu_add_threads, ADD_BLOCKS = fmo_tuning_gpu_add_blocks };

/* Sums of the other GPUs. */
typedef struct other_sums {
    int num;
    const double *of[FMO_DEVICES_MAX - 1];
} other_sums;

/* Adds these sums to `to`. The first `integers` of the `size` elements are fixed-point integers. */
__global__ void __launch_bounds__(ADD_THREADS)
    add(double *to, const __grid_constant__ other_sums from, size_t size, size_t integers)
{
    const size_t step = (size_t)gridDim.x * ADD_THREADS;
    for (size_t n = (size_t)blockIdx.x * ADD_THREADS + threadIdx.x; n < size; n += step) {
        if (n < integers) {
            long long sum = __double_as_longlong(to[n]);
            for (int k = 0; k < from.num; k++) sum += __double_as_longlong(from.of[k][n]);
            to[n] = __longlong_as_double(sum);
        } else {
            double sum = to[n];
            for (int k = 0; k < from.num; k++) sum += from.of[k][n];
            to[n] = sum;
        }
    }
}

/* Number of elements to be added: X^J, X^K and the pairs' sums; for classes with d shells X^K
 * (exchange_of), and X^K with the potentials. */
size_t sums_of(const fmo_gpu_state *g)
{
    return (size_t)((const double *)g->arrays.counters - g->arrays.coulomb);
}
size_t exchange_of(const fmo_gpu_hermite *h)
{
    return (size_t)h->nao * (size_t)h->nao;
}
size_t sums_of(const fmo_gpu_hermite *h)
{
    return (size_t)((const double *)h->counters - h->exchange);
}

/* Adds the sums at from->of to `to`. staged[k] is a buffer for sums that this GPU cannot read
 * directly, or NULL. */
cudaError_t add_sums(const fmo_gpu_device *device, double *to, other_sums *from,
                     double *const *staged, size_t size, size_t integers)
{
    for (int k = 0; k < from->num; k++) {
        if (!staged[k]) continue;
        FMO_GPU_TRY(cudaMemcpyAsync(staged[k], from->of[k], size * sizeof(double),
                                    cudaMemcpyDefault, device->stream));
        from->of[k] = staged[k];
    }
    const size_t blocks = (size + ADD_THREADS - 1) / ADD_THREADS;
    const size_t max_blocks = (size_t)ADD_BLOCKS * (size_t)device->processors;
    add<<<(unsigned)(blocks < max_blocks ? blocks : max_blocks), ADD_THREADS, 0, device->stream>>>(
        to, *from, size, integers);
    return cudaGetLastError();
}

/* Queues the copy of the density and the share of X of another plan on its stream. lead: the state
 * of the first plan for the running build. */
cudaError_t queue_other(fmo_fock_plan *other, const fmo_gpu_state *lead, size_t bytes,
                        const fmo_gpu_variant *variant, bool timed)
{
    fmo_gpu_state *const g = other->gpu;
    const fmo_gpu_inside inside(&g->device);
    const fmo_gpu_build build = fmo_gpu_own_build(other);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    const cudaStream_t stream = g->device.stream;
    g->requested = lead->requested;
    g->antisymmetric = lead->antisymmetric;
    FMO_GPU_TRY(cudaStreamWaitEvent(stream, lead->device.start, 0));
    FMO_GPU_TRY(cudaEventRecord(g->device.start, stream));
    FMO_GPU_TRY(cudaMemcpyAsync(g->arrays.density_in, lead->arrays.density_in, bytes,
                                cudaMemcpyDefault, stream));
    if (lead->with_operator) {
        FMO_GPU_TRY(cudaMemcpyAsync(g->arrays.op, lead->arrays.op, sizeof *g->arrays.op,
                                    cudaMemcpyDefault, stream));
        fmo_gpu_state own =
            fmo_gpu_state_of_operator(g, lead->density_factor, lead->operator_range);
        other->gpu = &own;
        const cudaError_t code = fmo_gpu_queue_single(&group, variant);
        other->gpu = g;
        FMO_GPU_TRY(code);
    } else {
        FMO_GPU_TRY(fmo_gpu_queue_sums(&build, variant, timed));
    }
    return cudaEventRecord(g->device.finished, stream);
}

/* Enables direct access of the current GPU to the memory of another; *can is 0 if that is
 * impossible. */
cudaError_t reach(int own, int other, int *can)
{
    *can = 1;
    if (own == other) return cudaSuccess;
    FMO_GPU_TRY(cudaDeviceCanAccessPeer(can, own, other));
    if (!*can) return cudaSuccess;
    const cudaError_t code = cudaDeviceEnablePeerAccess(other, 0);
    /* not a sticky error */
    if (code == cudaErrorPeerAccessAlreadyEnabled) (void)cudaGetLastError();
    return code == cudaErrorPeerAccessAlreadyEnabled ? cudaSuccess : code;
}

/* Enables access between two GPUs in both directions; if the first cannot read the other's memory,
 * it gets buffers for copies. */
fmo_status connect(fmo_gpu_state *g, const fmo_gpu_state *other, int k, fmo_error *err)
{
    int can = 0, other_can = 0;
    const int own_number = g->device.number, number = other->device.number;
    FMO_GPU_CHECK(reach(own_number, number, &can), "reaching another GPU's memory", err);
    {
        const fmo_gpu_inside inside(&other->device);
        FMO_GPU_CHECK(reach(number, own_number, &other_can), "reaching another GPU's memory", err);
    }
    if (can) return FMO_OK;
    fmo_status status =
        fmo_gpu_alloc(&g->device, "sums of another GPU", sums_of(g) * sizeof(double),
                      (void **)&g->others.staged[k], err);
    if (status == FMO_OK && g->hermite)
        status =
            fmo_gpu_alloc(&g->device, "sums of another GPU", sums_of(g->hermite) * sizeof(double),
                          (void **)&g->others.staged_hermite[k], err);
    return status;
}

/* True if two GPUs are of one kind. Grids, copies and chunks depend on properties of the GPU, so
 * that the sums of different kinds have different layouts. */
bool alike(const fmo_gpu_state *a, const fmo_gpu_state *b)
{
    return a->device.processors == b->device.processors &&
           a->device.cache_bytes == b->device.cache_bytes && sums_of(a) == sums_of(b) &&
           !a->hermite == !b->hermite &&
           (!a->hermite || sums_of(a->hermite) == sums_of(b->hermite));
}

/* Makes all plans agree on multipole expansions. Each has decided by the memory of its own GPU; if
 * some used them and others did not, the J of some far pairs would be missing or counted twice. If
 * not all have them, all do without; FMO_ERR_MEMORY if options.coulomb requires them. */
fmo_status agree_on_boxes(fmo_fock_plan *plan, fmo_error *err)
{
    bool all = plan->gpu->boxes != NULL, some = all;
    for (int k = 0; k < plan->others.num; k++) {
        const bool has = plan->others.plan[k]->gpu->boxes != NULL;
        all = all && has;
        some = some || has;
    }
    if (all == some) return FMO_OK;
    if (plan->options.coulomb == FMO_COULOMB_BOXES)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "coulomb = boxes: they do not fit the memory of all %d GPUs; use "
                             "coulomb = direct",
                             plan->others.num + 1);
    for (int k = -1; k < plan->others.num; k++) {
        fmo_gpu_state *const g = k < 0 ? plan->gpu : plan->others.plan[k]->gpu;
        const fmo_gpu_inside inside(&g->device);
        fmo_gpu_device_wait(&g->device);
        fmo_gpu_forget_graphs(g);
        fmo_gpu_forget_boxes(g);
    }
    return FMO_OK;
}

} // namespace

/* Connects the plans on all GPUs after they were made: checks that the GPUs are of one kind, and
 * makes buffers, counters and events. */
extern "C" fmo_status fmo_fused_join(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_inside inside(&g->device);
    const size_t num = (size_t)plan->others.num;
    const fmo_status agreed = agree_on_boxes(plan, err);
    if (agreed != FMO_OK) return agreed;
    for (int k = 0; k < plan->others.num; k++) {
        const fmo_gpu_state *const other = plan->others.plan[k]->gpu;
        if (!alike(g, other))
            return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                                 "GPU %d (%s) and GPU %d (%s) are not of one kind: builds are "
                                 "shared by equal GPUs",
                                 g->device.number, g->device.name, other->device.number,
                                 other->device.name);
        const fmo_status status = connect(g, other, k, err);
        if (status != FMO_OK) return status;
    }
    FMO_GPU_CHECK(cudaMallocHost((void **)&g->others.counters, num * sizeof *g->others.counters),
                  "counters", err);
    FMO_GPU_CHECK(cudaEventCreate(&g->others.summed), "events", err);
    return FMO_OK;
}

cudaError_t fmo_gpu_queue_others(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                                 bool timed)
{
    const fmo_fock_plan *const plan = build->plan;
    fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    g->others.shared = 1;
    for (int k = 0; k < plan->others.num; k++)
        FMO_GPU_TRY(queue_other(plan->others.plan[k], g, n * n * sizeof(double), variant, timed));
    return cudaSuccess;
}

/* Adds the shares of the other GPUs, including those of classes with d shells. */
cudaError_t fmo_gpu_add_others(const fmo_gpu_build *build, bool fixed)
{
    const fmo_fock_plan *const plan = build->plan;
    fmo_gpu_state *const g = plan->gpu;
    other_sums low_l = {}, high_l = {};
    FMO_GPU_TRY(cudaEventRecord(g->others.summed, g->device.stream));
    const fmo_gpu_range range("sums of other GPUs");
    for (int k = 0; k < plan->others.num; k++) {
        const fmo_gpu_state *const other = plan->others.plan[k]->gpu;
        FMO_GPU_TRY(cudaStreamWaitEvent(g->device.stream, other->device.finished, 0));
        low_l.of[low_l.num++] = other->arrays.coulomb;
        if (other->hermite) high_l.of[high_l.num++] = other->hermite->exchange;
    }
    FMO_GPU_TRY(add_sums(&g->device, g->arrays.coulomb, &low_l, g->others.staged, sums_of(g),
                         fixed ? sums_of(g) : 0));
    if (!g->hermite || !high_l.num) return cudaSuccess; /* hermite was made for a source alone */
    return add_sums(&g->device, g->hermite->exchange, &high_l, g->others.staged_hermite,
                    sums_of(g->hermite), fixed ? exchange_of(g->hermite) : 0);
}

cudaError_t fmo_gpu_copy_others_counters(const fmo_fock_plan *plan, cudaStream_t stream)
{
    fmo_gpu_others *const o = &plan->gpu->others;
    for (int k = 0; k < plan->others.num; k++) {
        const fmo_gpu_state *const other = plan->others.plan[k]->gpu;
        FMO_GPU_TRY(cudaMemcpyAsync(&o->counters[k].low_l, other->arrays.counters,
                                    sizeof o->counters[k].low_l, cudaMemcpyDefault, stream));
        if (!other->hermite) continue;
        FMO_GPU_TRY(cudaMemcpyAsync(&o->counters[k].high_l, other->hermite->counters,
                                    sizeof o->counters[k].high_l, cudaMemcpyDefault, stream));
    }
    return cudaSuccess;
}

cudaError_t fmo_gpu_others_seconds(const fmo_fock_plan *plan, double *seconds)
{
    const fmo_gpu_state *const g = plan->gpu;
    float ms = 0.0f;
    FMO_GPU_TRY(cudaEventElapsedTime(&ms, g->device.start, g->others.summed));
    seconds[0] = 1e-3 * ms;
    for (int k = 0; k < plan->others.num; k++) {
        const fmo_gpu_device *const device = &plan->others.plan[k]->gpu->device;
        const fmo_gpu_inside inside(device);
        FMO_GPU_TRY(cudaEventElapsedTime(&ms, device->start, device->finished));
        seconds[1 + k] = 1e-3 * ms;
    }
    return cudaSuccess;
}

static void add_counts(unsigned long long *to, const unsigned long long *from, int num)
{
    for (int n = 0; n < num; n++) to[n] += from[n];
}

void fmo_gpu_add_counts(fmo_gpu_counters *to, const fmo_gpu_counters *from)
{
    add_counts(to->quartets, from->quartets, FMO_ERI_LOW_L_COUNT);
    add_counts(to->screened_in_num, from->screened_in_num, FMO_ERI_LOW_L_COUNT);
    add_counts(to->exchanges, from->exchanges, FMO_ERI_LOW_L_COUNT);
    add_counts(to->exchange_only, from->exchange_only, FMO_ERI_LOW_L_COUNT);
    add_counts(to->prim_quartets, from->prim_quartets, FMO_ERI_LOW_L_COUNT);
    add_counts(to->issued, from->issued, FMO_ERI_LOW_L_COUNT);
}

void fmo_gpu_add_others_counters(const fmo_fock_plan *plan)
{
    fmo_gpu_state *const g = plan->gpu;
    for (int k = 0; k < plan->others.num; k++) {
        fmo_gpu_add_counts(g->pinned.counters, &g->others.counters[k].low_l);
        if (!g->hermite || !plan->others.plan[k]->gpu->hermite) continue;
        const fmo_hermite_counters *const high_l = &g->others.counters[k].high_l;
        fmo_hermite_counters *const h = g->hermite->host_counters;
        add_counts(h->quartets, high_l->quartets, FMO_ERI_GPU_COUNT);
        add_counts(h->screened_in_num, high_l->screened_in_num, FMO_ERI_GPU_COUNT);
        add_counts(h->prim_quartets, high_l->prim_quartets, FMO_ERI_GPU_COUNT);
        add_counts(h->issued, high_l->issued, FMO_ERI_GPU_COUNT);
    }
    g->others.shared = 0;
}
