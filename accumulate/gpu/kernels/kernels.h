/* The fused kernels by name: which strategy types are instantiated, and the table of kernels that
 * kernels/instance.cu fills, once per row. CMake reads the row names from this file. */
#ifndef FMO_GPU_KERNELS_H
#define FMO_GPU_KERNELS_H

#include <fmo/scatter.h>
#include "accumulate/gpu/many.cuh"
#include "accumulate/gpu/types.cuh"

/* X(name, strategy, commit, device type). `replicated` runs native's kernels on several copies;
 * `none` leaves the commits out, for the profile. */
#define FMO_GPU_VARIANT_TABLE(X)                                                            \
    X(native, FMO_SCATTER_NATIVE, FMO_COMMIT_NATIVE, fmo_scatter_native<fmo_commit_native>) \
    X(native_cas, FMO_SCATTER_NATIVE, FMO_COMMIT_CAS, fmo_scatter_native<fmo_commit_cas>)   \
    X(warp_shared, FMO_SCATTER_WARP_SHARED, FMO_COMMIT_NATIVE,                              \
      fmo_scatter_warp_shared<fmo_commit_native, FMO_GPU_THREADS>)                          \
    X(warp_shared_cas, FMO_SCATTER_WARP_SHARED, FMO_COMMIT_CAS,                             \
      fmo_scatter_warp_shared<fmo_commit_cas, FMO_GPU_THREADS>)                             \
    X(block_shared, FMO_SCATTER_BLOCK_SHARED, FMO_COMMIT_NATIVE,                            \
      fmo_scatter_block_shared<fmo_commit_native, FMO_GPU_THREADS>)                         \
    X(block_shared_cas, FMO_SCATTER_BLOCK_SHARED, FMO_COMMIT_CAS,                           \
      fmo_scatter_block_shared<fmo_commit_cas, FMO_GPU_THREADS>)                            \
    X(warp_shuffle, FMO_SCATTER_WARP_SHUFFLE, FMO_COMMIT_NATIVE,                            \
      fmo_scatter_warp_shuffle<fmo_commit_native>)                                          \
    X(warp_shuffle_cas, FMO_SCATTER_WARP_SHUFFLE, FMO_COMMIT_CAS,                           \
      fmo_scatter_warp_shuffle<fmo_commit_cas>)                                             \
    X(warp_match, FMO_SCATTER_WARP_MATCH, FMO_COMMIT_NATIVE,                                \
      fmo_scatter_warp_match<fmo_commit_native>)                                            \
    X(warp_match_cas, FMO_SCATTER_WARP_MATCH, FMO_COMMIT_CAS,                               \
      fmo_scatter_warp_match<fmo_commit_cas>)                                               \
    X(segmented, FMO_SCATTER_SEGMENTED, FMO_COMMIT_NATIVE,                                  \
      fmo_scatter_segmented<fmo_commit_native, FMO_GPU_THREADS>)                            \
    X(segmented_cas, FMO_SCATTER_SEGMENTED, FMO_COMMIT_CAS,                                 \
      fmo_scatter_segmented<fmo_commit_cas, FMO_GPU_THREADS>)                               \
    X(fixed, FMO_SCATTER_FIXED, FMO_COMMIT_NATIVE, fmo_scatter_fixed<fmo_commit_native>)    \
    X(none, FMO_SCATTER_COUNT, FMO_COMMIT_NATIVE, fmo_scatter_none<fmo_commit_native>)

/* Kernels for one build, for a group, and for kept integrals. */
typedef void fmo_gpu_kernel(fmo_gpu_one<fmo_gpu_quartet_args>);
typedef void fmo_gpu_group_kernel(fmo_gpu_most<fmo_gpu_quartet_args>);
typedef void fmo_gpu_stored_kernel(fmo_gpu_class_view, fmo_gpu_matrices, fmo_gpu_stored_args);

/* Which variants build groups: what `auto` may take, and `fixed`. Others build one by one. */
static constexpr bool fmo_gpu_builds_groups(fmo_scatter scatter, fmo_commit commit)
{
    return commit == FMO_COMMIT_NATIVE &&
           (scatter == FMO_SCATTER_SEGMENTED || scatter == FMO_SCATTER_NATIVE ||
            scatter == FMO_SCATTER_FIXED);
}

/* NULL where there is nothing to do, or no such kernel. */
typedef struct fmo_gpu_variant {
    const char *name;
    fmo_scatter scatter;
    fmo_commit commit;
    fmo_gpu_kernel *kernel[FMO_GPU_KERNELS][FMO_ERI_CLASS_COUNT];
    fmo_gpu_group_kernel *group[FMO_GPU_LISTS][FMO_ERI_CLASS_COUNT];
    fmo_gpu_stored_kernel *stored[FMO_ERI_CLASS_COUNT];
} fmo_gpu_variant;

#define FMO_GPU_VARIANT_EXTERN(name, scatter, commit, ...) \
    extern const fmo_gpu_variant fmo_gpu_variant_##name;
FMO_GPU_VARIANT_TABLE(FMO_GPU_VARIANT_EXTERN)
#undef FMO_GPU_VARIANT_EXTERN

#endif
