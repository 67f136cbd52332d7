/* The table of fused kernels. kernels/instance.cu fills it once for each variant (strategy and form
 * of update) of accumulate/scatter/variants.h; queue.cu and group.cu choose from it. */
#ifndef FMO_GPU_KERNELS_H
#define FMO_GPU_KERNELS_H

#include <fmo/scatter.h>
#include "accumulate/gpu/many.cuh"
#include "accumulate/gpu/types.cuh"
#include "accumulate/scatter/variants.h"

/* Kernels for one build, for a group of builds, and for stored integrals. */
typedef void fmo_gpu_kernel(fmo_gpu_one<fmo_gpu_quartet_args>);
typedef void fmo_gpu_group_kernel(fmo_gpu_full_group<fmo_gpu_quartet_args>);
typedef void fmo_gpu_stored_kernel(fmo_gpu_class_view, fmo_gpu_matrices, fmo_gpu_stored_args);

/* Properties of a strategy in the table of scatter.h; index FMO_SCATTER_COUNT is `none`. integers:
 * it sums fixed-point integers; groups: small builds may share launches; all_shells: it supports d
 * and f shells. */
typedef struct fmo_gpu_traits {
    bool integers, groups, all_shells;
} fmo_gpu_traits;
static constexpr fmo_gpu_traits fmo_gpu_strategy_traits[FMO_SCATTER_COUNT + 1] = {
#define FMO_GPU_TRAITS(e, name, kind, type, commits, sums, batches, shells, ...) \
    {(sums) != 0, (batches) != 0, (shells) != 0},
    FMO_SCATTER_TABLE(FMO_GPU_TRAITS)
#undef FMO_GPU_TRAITS
        {false, false, true}};

/* True if the variant has kernels for groups; builds of others have launches of their own. */
static constexpr bool fmo_gpu_builds_groups(fmo_scatter scatter, fmo_commit commit)
{
    return commit == FMO_COMMIT_NATIVE && fmo_gpu_strategy_traits[scatter].groups;
}

/* True if the variant has kernels for lists that contain quartets for K alone (gpu/boxes). */
static constexpr bool fmo_gpu_has_exchange_only(fmo_scatter scatter, fmo_commit commit)
{
    return commit == FMO_COMMIT_NATIVE && fmo_gpu_strategy_traits[scatter].all_shells;
}

/* True if the variant has kernels for K of operators other than 1/r. */
static constexpr bool fmo_gpu_has_operators(fmo_scatter scatter, fmo_commit commit)
{
    return commit == FMO_COMMIT_NATIVE &&
           (scatter == FMO_SCATTER_NATIVE || scatter == FMO_SCATTER_FIXED);
}

/* True if the variant has kernels for K of two densities: those that `auto` chooses. Under `fixed`
 * each density must give the bits that it gives alone, which depend on its own screening. */
static constexpr bool fmo_gpu_takes_two(fmo_scatter scatter, fmo_commit commit)
{
    return commit == FMO_COMMIT_NATIVE &&
           (scatter == FMO_SCATTER_NATIVE || scatter == FMO_SCATTER_SEGMENTED);
}

/* The kernels of a variant, by list and class. NULL if a list has no quartets of the class, or if
 * there is no such kernel. */
typedef struct fmo_gpu_variant {
    const char *name;
    fmo_scatter scatter;
    fmo_commit commit;
    bool commits;     /* false: `none`, without updates of the matrices */
    bool fixed_point; /* the matrices contain fixed-point integers until the end of the build */
    fmo_gpu_kernel *kernel[FMO_GPU_KERNELS][FMO_ERI_LOW_L_COUNT];
    fmo_gpu_kernel *two[FMO_GPU_KERNELS][FMO_ERI_LOW_L_COUNT]; /* J, and K of two densities */
    fmo_gpu_group_kernel *group[FMO_GPU_LISTS][FMO_ERI_LOW_L_COUNT];
    fmo_gpu_stored_kernel *stored[FMO_ERI_LOW_L_COUNT];
} fmo_gpu_variant;

#define FMO_GPU_VARIANT_EXTERN(name, scatter, commit, ...) \
    extern const fmo_gpu_variant fmo_gpu_variant_##name;
FMO_GPU_VARIANT_TABLE(FMO_GPU_VARIANT_EXTERN)
#undef FMO_GPU_VARIANT_EXTERN

#endif
