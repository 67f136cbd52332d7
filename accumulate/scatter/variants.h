/* The strategies as kernel variants, from the table of scatter.h: an element strategy has the
 * variant <type> and, if it supports both kinds of update, <type>_cas. `none` has no updates; it is
 * used by the profile and cannot be selected. Without FMO_EXPERIMENTS only strategies for all
 * shells with native updates exist. Only for the preprocessor: CMake reads this file too. */
#ifndef FMO_SCATTER_VARIANTS_H
#define FMO_SCATTER_VARIANTS_H

#include <fmo/scatter.h>

/* X(name, strategy, commit, device type); the type is for blocks of FMO_GPU_THREADS threads. */
#define FMO_GPU_VARIANT_TABLE(X)                   \
    FMO_SCATTER_TABLE_WITH(FMO_GPU_VARIANTS_OF, X) \
    X(none, FMO_SCATTER_COUNT, FMO_COMMIT_NATIVE,  \
      fmo_scatter_none<fmo_commit_native, FMO_GPU_THREADS>)

/* The variants that have kernels for d shells. */
#define FMO_GPU_D_VARIANT_TABLE(X) FMO_SCATTER_TABLE_WITH(FMO_GPU_D_VARIANTS_OF, X)

#define FMO_GPU_VARIANTS_OF(X, e, name, kind, type, commits, sums, batches, shells, ...) \
    FMO_GPU_VARIANTS_OF_##kind(X, e, type, commits, shells)
#define FMO_GPU_VARIANTS_OF_FMO_SCATTER_ELEMENT(X, e, type, commits, shells) \
    FMO_GPU_VARIANTS_##shells(X, e, type, commits)
#define FMO_GPU_VARIANTS_OF_FMO_SCATTER_SCHEDULE(...)
#define FMO_GPU_VARIANTS_OF_FMO_SCATTER_CHOICE(...)
#define FMO_GPU_VARIANT_NATIVE(X, e, type) \
    X(type, e, FMO_COMMIT_NATIVE, fmo_scatter_##type<fmo_commit_native, FMO_GPU_THREADS>)

#if FMO_EXPERIMENTS
#define FMO_GPU_VARIANTS_FMO_ALL_SHELLS(X, e, type, commits) FMO_GPU_VARIANTS_##commits(X, e, type)
#define FMO_GPU_VARIANTS_FMO_LOW_L_SHELLS                    FMO_GPU_VARIANTS_FMO_ALL_SHELLS
#define FMO_GPU_VARIANTS_FMO_ONE_COMMIT                      FMO_GPU_VARIANT_NATIVE
#define FMO_GPU_VARIANTS_FMO_TAKES_COMMIT(X, e, type) \
    FMO_GPU_VARIANT_NATIVE(X, e, type)                \
    X(type##_cas, e, FMO_COMMIT_CAS, fmo_scatter_##type<fmo_commit_cas, FMO_GPU_THREADS>)
#else
#define FMO_GPU_VARIANTS_FMO_ALL_SHELLS(X, e, type, commits) FMO_GPU_VARIANT_NATIVE(X, e, type)
#define FMO_GPU_VARIANTS_FMO_LOW_L_SHELLS(...)
#endif

#define FMO_GPU_D_VARIANTS_OF(X, e, name, kind, type, commits, sums, batches, shells, ...) \
    FMO_GPU_D_VARIANTS_OF_##kind(X, e, type, shells)
#define FMO_GPU_D_VARIANTS_OF_FMO_SCATTER_ELEMENT(X, e, type, shells) \
    FMO_GPU_D_VARIANTS_##shells(X, e, type)
#define FMO_GPU_D_VARIANTS_OF_FMO_SCATTER_SCHEDULE(...)
#define FMO_GPU_D_VARIANTS_OF_FMO_SCATTER_CHOICE(...)
#define FMO_GPU_D_VARIANTS_FMO_ALL_SHELLS FMO_GPU_VARIANT_NATIVE
#define FMO_GPU_D_VARIANTS_FMO_LOW_L_SHELLS(...)

#endif
