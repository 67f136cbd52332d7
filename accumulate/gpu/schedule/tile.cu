/* Launches the kernels of schedule `tile`, with updates of the matrices or, for the profile,
 * without (`none`). The kernels are in kernels/tile.cuh. */
#include "accumulate/gpu/schedule/schedule.h"

#include "accumulate/gpu/kernels/tile.cuh"

template <class C, class S>
static cudaError_t launch(const fmo_gpu_class_view *view, const fmo_gpu_matrices *m,
                          const fmo_gpu_tile_args *args, const S &scatter, cudaStream_t stream)
{
    const size_t bytes = fmo_gpu_tile_rows<C>() * (size_t)m->nao * sizeof(double);
    const cudaError_t code = cudaFuncSetAttribute(
        fmo_gpu_tile<C, S>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (code != cudaSuccess) return code;
    fmo_gpu_tile<C, S><<<(unsigned)args->bras *(unsigned)args->chunks, 32, bytes, stream>>>(
        *view, *m, *args, scatter);
    return cudaGetLastError();
}

template <class C>
static cudaError_t launch_either(const fmo_gpu_class_view *view, const fmo_gpu_matrices *m,
                                 const fmo_gpu_tile_args *args, bool commits,
                                 unsigned long long *sink, cudaStream_t stream)
{
    fmo_scatter_none<fmo_commit_native> none;
    none.sink = sink;
    none.bits = 0;
    return commits ? launch<C>(view, m, args, fmo_scatter_native<fmo_commit_native>(), stream)
                   : launch<C>(view, m, args, none, stream);
}

/* Launches the kernel of a task, with a warp for each bra pair and chunk of its kets. */
static cudaError_t run_task(const fmo_fock_plan *plan, const fmo_gpu_variant *variant,
                            const fmo_gpu_task *task, cudaStream_t stream)
{
    static cudaError_t (*const launcher[FMO_ERI_LOW_L_COUNT])(
        const fmo_gpu_class_view *, const fmo_gpu_matrices *, const fmo_gpu_tile_args *, bool,
        unsigned long long *, cudaStream_t) = {
#define ROW(e, name, ...) launch_either<fmo_sp_class_##name>,
        FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
    };
    const fmo_gpu_state *g = plan->gpu;
    const int c = task->task.eri_class, bras = fmo_gpu_task_bras(task);
    const fmo_gpu_class_view view = fmo_gpu_view(plan, task);
    const fmo_gpu_matrices m = fmo_gpu_matrix_view(plan, c);
    /* Enough warps to keep the GPU busy to the end, but not too few kets for each. */
    int chunks = (fmo_tuning_gpu_tile_warps * g->device.processors + bras - 1) / bras;
    const int max_chunks =
        (view.ket.num + fmo_tuning_gpu_tile_kets_least - 1) / fmo_tuning_gpu_tile_kets_least;
    if (chunks > max_chunks) chunks = max_chunks;
    const fmo_gpu_exchange_max exchange = fmo_gpu_find_exchange_max(g);
    const fmo_gpu_tile_args args = {
        exchange.block,      exchange.row, exchange.stride, task->task.bra_begin,
        task->task.bra_step, bras,         chunks,          fmo_gpu_screen_cutoff(plan),
        g->arrays.counters};
    return launcher[c](&view, &m, &args, variant->commits, &g->arrays.counters->sink, stream);
}

static fmo_status make_lists(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    (void)plan;
    return fmo_gpu_make_pass(g, err);
}

extern const fmo_gpu_schedule fmo_gpu_schedule_tile = {"tile", make_lists, NULL,  run_task,
                                                       false,  false,      false, false};

/* Shared memory of a block besides its rows, in bytes. */
enum { STATIC_SHARED = 1024 };

fmo_status fmo_gpu_tile_check(const fmo_gpu_device *device, size_t nao, fmo_error *err)
{
    size_t rows = 0;
#define ROW(e, name, ...)                                \
    if (fmo_gpu_tile_rows<fmo_sp_class_##name>() > rows) \
        rows = fmo_gpu_tile_rows<fmo_sp_class_##name>();
    FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
    const size_t max_functions = (device->shared_bytes - STATIC_SHARED) / (rows * sizeof(double));
    if (nao <= max_functions) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "scatter = tile keeps rows in shared memory, here up to %zu functions; "
                         "this basis has %zu: use segmented",
                         max_functions, nao);
}
