/* The fused kernels of one strategy: compiled once per row of FMO_GPU_VARIANT_TABLE with
 * FMO_VARIANT set to the row's name. */
#include "accumulate/gpu_kernels.h"

#include "accumulate/gpu_fused_kernel.cuh"
#include "accumulate/gpu_stored_kernel.cuh"

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

#define VARIANT_TYPE(name, scatter, commit, ...)         \
    struct variant_##name {                              \
        typedef __VA_ARGS__ type;                        \
        static constexpr const char *label = #name;      \
        static constexpr fmo_scatter strategy = scatter; \
        static constexpr fmo_commit form = commit;       \
    };
FMO_GPU_VARIANT_TABLE(VARIANT_TYPE)
#undef VARIANT_TYPE

typedef CAT(variant_, FMO_VARIANT) variant;
typedef variant::type strategy;

template <class C>
static cudaError_t launch(const fmo_gpu_class_view *view, const fmo_gpu_matrices *matrices,
                          int blocks, cudaStream_t stream)
{
    fmo_gpu_fused<C, strategy><<<blocks, FMO_GPU_THREADS, 0, stream>>>(*view, *matrices);
    return cudaGetLastError();
}

template <class C> static cudaError_t resident(int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, fmo_gpu_fused<C, strategy>,
                                                         FMO_GPU_THREADS, 0);
}

template <class C>
static cudaError_t launch_stored(const fmo_gpu_class_view *view, const fmo_gpu_matrices *matrices,
                                 const fmo_gpu_stored_args *args, int blocks, cudaStream_t stream)
{
    fmo_gpu_stored<C, strategy><<<blocks, FMO_GPU_THREADS, 0, stream>>>(*view, *matrices, *args);
    return cudaGetLastError();
}

template <class C> static cudaError_t resident_stored(int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, fmo_gpu_stored<C, strategy>,
                                                         FMO_GPU_THREADS, 0);
}

extern const fmo_gpu_variant CAT(fmo_gpu_variant_, FMO_VARIANT) = {variant::label,
                                                                   variant::strategy,
                                                                   variant::form,
                                                                   {
#define ROW(e, name, ...) launch<fmo_sp_class_##name>,
                                                                       FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
                                                                   },
                                                                   {
#define ROW(e, name, ...) resident<fmo_sp_class_##name>,
                                                                       FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
                                                                   },
                                                                   {
#define ROW(e, name, ...) launch_stored<fmo_sp_class_##name>,
                                                                       FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
                                                                   },
                                                                   {
#define ROW(e, name, ...) resident_stored<fmo_sp_class_##name>,
                                                                       FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
                                                                   }};
