/* Launching the schedule `tile` and its form without commits; see kernels/tile.cuh. */
#include "accumulate/gpu/plan.h"

#include "accumulate/gpu/kernels/tile.cuh"

/* Measured on an H200: docs/results. */
enum { TASKS_PER_PROCESSOR = 256, SHARE_MIN = 128 };

template <class C, class S>
static cudaError_t launch(const fmo_gpu_class_view *view, const fmo_gpu_matrices *m,
                          const fmo_gpu_tile_args *args, const S &scatter, cudaStream_t stream)
{
    const size_t bytes = fmo_gpu_tile_rows<C>() * (size_t)m->nao * sizeof(double);
    const cudaError_t code = cudaFuncSetAttribute(
        fmo_gpu_tile<C, S>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (code != cudaSuccess) return code;
    fmo_gpu_tile<C, S><<<(unsigned)view->bra.num *(unsigned)args->chunks, 32, bytes, stream>>>(
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

cudaError_t fmo_gpu_tile_launch(const fmo_fock_plan *plan, fmo_gpu_state *g,
                                fmo_eri_class eri_class, bool commits)
{
    static cudaError_t (*const launcher[FMO_ERI_CLASS_COUNT])(
        const fmo_gpu_class_view *, const fmo_gpu_matrices *, const fmo_gpu_tile_args *, bool,
        unsigned long long *, cudaStream_t) = {
#define ROW(e, name, ...) launch_either<fmo_sp_class_##name>,
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    };
    const fmo_gpu_part part = {eri_class, 0, 0, 0, 0, {NULL, NULL}};
    const fmo_gpu_class_view view = fmo_gpu_view(plan, g, &part);
    const fmo_gpu_matrices m = fmo_gpu_matrix_view(plan, g, eri_class);
    if (!view.bra.num || !view.ket.num) return cudaSuccess;
    /* Enough warps to keep the GPU busy to the end, but no share shorter than SHARE_MIN kets. */
    int chunks = (TASKS_PER_PROCESSOR * g->processors + view.bra.num - 1) / view.bra.num;
    const int most = (view.ket.num + SHARE_MIN - 1) / SHARE_MIN;
    if (chunks > most) chunks = most;
    const fmo_gpu_tile_args args = {g->density_max, g->row_max,           g->sets,
                                    chunks,         plan->options.cutoff, g->counters};
    return launcher[eri_class](&view, &m, &args, commits, &g->counters->sink, g->stream);
}

int fmo_gpu_tile_ao_max(size_t shared_bytes)
{
    return (int)(shared_bytes / (fmo_gpu_tile_rows<fmo_sp_class_pppp>() * sizeof(double)));
}
