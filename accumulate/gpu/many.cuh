/* Kernels that process several builds in one launch: their argument is an array with an element for
 * each build, and blockIdx.z selects the build. See docs/explanation/gpu/batches.md. C++ only. */
#ifndef FMO_GPU_MANY_CUH
#define FMO_GPU_MANY_CUH

#include <cuda_runtime.h>

#include <fmo/fock.h>
#include "accumulate/gpu/check.h"
#include "accumulate/tuning.h"

/* A build whose matrices are in GPU memory. */
typedef struct fmo_gpu_build {
    fmo_fock_plan *plan;
    const double *density;      /* [nao][nao] in the caller's order */
    double *coulomb, *exchange; /* the same; NULL: not requested */
    bool add_exchange;          /* K is added to `exchange` instead of replacing it */
    /* Builds with K of two densities (two.cu): then `density` is three matrices, of J and of the
     * two K; K of the second, and whether it is added to what is there. */
    double *second;
    bool add_second;
} fmo_gpu_build;

/* Builds that are queued together: a single one, or several of different plans that share their
 * launches. */
typedef struct fmo_gpu_group {
    const fmo_gpu_build *build;
    int num;
    cudaStream_t stream;
} fmo_gpu_group;

enum { FMO_GPU_GROUP_MAX = fmo_tuning_gpu_group_max };

/* Most bytes of a kernel's arguments. */
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12010
enum { FMO_GPU_ARGUMENT_BYTES = 32764 };
#else
enum { FMO_GPU_ARGUMENT_BYTES = 4096 };
#endif

/* Number of builds in a launch: as many as their arguments allow, at most FMO_GPU_GROUP_MAX. */
constexpr int fmo_gpu_many_of(size_t bytes)
{
    const size_t fit = FMO_GPU_ARGUMENT_BYTES / bytes, limit = FMO_GPU_GROUP_MAX;
    return (int)(fit < limit ? fit : limit);
}
template <class Args> constexpr int fmo_gpu_many_max = fmo_gpu_many_of(sizeof(Args));

/* Arguments of N builds; own() returns those of the calling block. */
template <class Args, int N> struct fmo_gpu_many {
    Args of[N];
    __device__ __forceinline__ const Args &own() const { return of[N > 1 ? blockIdx.z : 0]; }
};
template <class Args> using fmo_gpu_one = fmo_gpu_many<Args, 1>;
template <class Args> using fmo_gpu_full_group = fmo_gpu_many<Args, fmo_gpu_many_max<Args>>;

/* The instances of a kernel for a single build, and for several. */
template <class Args> struct fmo_gpu_kernels {
    void (*one)(fmo_gpu_one<Args>);
    void (*many)(fmo_gpu_full_group<Args>);
};

/* Launches a kernel for the builds of a group: `one`, if there is such a kernel, for a single
 * build, otherwise `many`, in as many launches as the size of the arguments requires. fill(build,
 * args) sets the arguments of a build and returns its grid; a build with an empty grid is left out.
 */
template <class Args, class Fill>
cudaError_t fmo_gpu_launch_group(const fmo_gpu_group *group, void (*one)(fmo_gpu_one<Args>),
                                 void (*many)(fmo_gpu_full_group<Args>), dim3 threads,
                                 size_t shared, const Fill &fill)
{
    if (group->num == 1 && one) {
        fmo_gpu_one<Args> args;
        const dim3 grid = fill(&group->build[0], &args.of[0]);
        if (!grid.x) return cudaSuccess;
        one<<<grid, threads, shared, group->stream>>>(args);
        return cudaGetLastError();
    }
    fmo_gpu_full_group<Args> args;
    dim3 all(0, 0, 0);
    for (int k = 0; k < group->num; k++) {
        const dim3 grid = fill(&group->build[k], &args.of[all.z]);
        if (grid.x) {
            all.x = grid.x > all.x ? grid.x : all.x;
            all.y = grid.y > all.y ? grid.y : all.y;
            all.z++;
        }
        if (!all.z || (all.z < fmo_gpu_many_max<Args> && k + 1 < group->num)) continue;
        many<<<all, threads, shared, group->stream>>>(args);
        const cudaError_t code = cudaGetLastError();
        if (code != cudaSuccess) return code;
        all = dim3(0, 0, 0);
    }
    return cudaSuccess;
}

#endif
