/* The fused kernels of one strategy: compiled once per row of FMO_GPU_VARIANT_TABLE with
 * FMO_VARIANT set to the row's name. */
#include "accumulate/gpu_kernels.h"

#include "accumulate/gpu_far_kernel.cuh"
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

template <class C>
static cudaError_t launch_far_J(const fmo_gpu_class_view *view, const fmo_gpu_matrices *matrices,
                                int blocks, cudaStream_t stream)
{
    fmo_gpu_far_J<C, strategy><<<blocks, FMO_GPU_THREADS, 0, stream>>>(*view, *matrices);
    return cudaGetLastError();
}

template <class C>
static cudaError_t launch_far_K(const fmo_gpu_class_view *view, const fmo_gpu_matrices *matrices,
                                int blocks, cudaStream_t stream)
{
    if constexpr (fmo_gpu_far_exchanges(C::id))
        fmo_gpu_far_K<C, strategy><<<blocks, FMO_GPU_THREADS, 0, stream>>>(*view, *matrices);
    return cudaGetLastError();
}

/* The kernel for groups, if this variant builds them. */
template <class C> static constexpr fmo_gpu_group_kernel *group_kernel(void)
{
    if constexpr (fmo_gpu_builds_groups(variant::strategy, variant::form))
        return fmo_gpu_all<C, strategy, fmo_gpu_many_max<fmo_gpu_quartet_args>>;
    return NULL;
}

template <class C> static cudaError_t resident(int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, fmo_gpu_fused<C, strategy>,
                                                         FMO_GPU_THREADS, 0);
}

template <class C> static cudaError_t resident_far_J(int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, fmo_gpu_far_J<C, strategy>,
                                                         FMO_GPU_THREADS, 0);
}

template <class C> static cudaError_t resident_far_K(int *blocks)
{
    if constexpr (fmo_gpu_far_exchanges(C::id))
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, fmo_gpu_far_K<C, strategy>,
                                                             FMO_GPU_THREADS, 0);
    *blocks = 0;
    return cudaSuccess;
}

template <class C> static cudaError_t resident_all(int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, fmo_gpu_all<C, strategy, 1>,
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

#define LAUNCH(e, name, ...)          launch<fmo_sp_class_##name>,
#define RESIDENT(e, name, ...)        resident<fmo_sp_class_##name>,
#define LAUNCH_FAR_J(e, name, ...)    launch_far_J<fmo_sp_class_##name>,
#define LAUNCH_FAR_K(e, name, ...)    launch_far_K<fmo_sp_class_##name>,
#define RESIDENT_FAR_J(e, name, ...)  resident_far_J<fmo_sp_class_##name>,
#define RESIDENT_FAR_K(e, name, ...)  resident_far_K<fmo_sp_class_##name>,
#define ALL(e, name, ...)             fmo_gpu_all<fmo_sp_class_##name, strategy, 1>,
#define GROUP(e, name, ...)           group_kernel<fmo_sp_class_##name>(),
#define RESIDENT_ALL(e, name, ...)    resident_all<fmo_sp_class_##name>,
#define LAUNCH_STORED(e, name, ...)   launch_stored<fmo_sp_class_##name>,
#define RESIDENT_STORED(e, name, ...) resident_stored<fmo_sp_class_##name>,

extern const fmo_gpu_variant CAT(fmo_gpu_variant_, FMO_VARIANT) = {
    variant::label,
    variant::strategy,
    variant::form,
    {{FMO_ERI_CLASS_TABLE(LAUNCH)},
     {FMO_ERI_CLASS_TABLE(LAUNCH_FAR_J)},
     {FMO_ERI_CLASS_TABLE(LAUNCH_FAR_K)}},
    {FMO_ERI_CLASS_TABLE(ALL)},
    {FMO_ERI_CLASS_TABLE(GROUP)},
    {{FMO_ERI_CLASS_TABLE(RESIDENT)},
     {FMO_ERI_CLASS_TABLE(RESIDENT_FAR_J)},
     {FMO_ERI_CLASS_TABLE(RESIDENT_FAR_K)},
     {FMO_ERI_CLASS_TABLE(RESIDENT_ALL)}},
    {FMO_ERI_CLASS_TABLE(LAUNCH_STORED)},
    {FMO_ERI_CLASS_TABLE(RESIDENT_STORED)},
};
