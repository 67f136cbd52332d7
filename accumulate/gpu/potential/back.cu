/* Numbers of many arrays from a GPU to the host through page-locked memory. Straight into memory
 * that was just allocated they went at 1 GB/s, as the driver interacts each of its pages for the
 * first time (docs/results/2026-11-26-4869633/gaps.txt). */
#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/potential/lists.h"

#include <pthread.h>
#include <string.h>

namespace {

/* Doubles of a piece of page-locked memory, and how many pieces calls use side by side at most.
 * They are kept to the end of the process, as they are dear to make: 16 MB take 8 ms. */
const size_t stage_num = (size_t)2 << 20;
enum { STAGES = 8, PARALLEL = 16 };

struct {
    pthread_mutex_t lock;
    double *unused[STAGES];
    int num, made;
} stages = {PTHREAD_MUTEX_INITIALIZER, {}, 0, 0};

/* NULL: there is none. */
double *take_stage(void)
{
    double *stage = NULL;
    (void)pthread_mutex_lock(&stages.lock);
    const bool make = stages.num == 0 && stages.made < STAGES;
    if (stages.num) stage = stages.unused[--stages.num];
    if (make) stages.made++;
    (void)pthread_mutex_unlock(&stages.lock);
    if (!make) return stage;
    if (cudaHostAlloc((void **)&stage, stage_num * sizeof *stage, cudaHostAllocPortable) ==
        cudaSuccess)
        return stage;
    (void)cudaGetLastError(); /* not sticky */
    (void)pthread_mutex_lock(&stages.lock);
    stages.made--;
    (void)pthread_mutex_unlock(&stages.lock);
    return NULL;
}

void return_stage(double *stage)
{
    if (!stage) return;
    (void)pthread_mutex_lock(&stages.lock);
    stages.unused[stages.num++] = stage;
    (void)pthread_mutex_unlock(&stages.lock);
}

/* Arrays that fit into the stage, each to its place there; neighbours on the GPU are one copy. */
cudaError_t bring_some(const fmo_gpu_returned *of, size_t num, double *stage, cudaStream_t stream)
{
    for (size_t k = 0; k < num;) {
        const fmo_gpu_returned *const first = &of[k];
        size_t numbers = 0;
        while (k < num && of[k].from == first->from + numbers) numbers += of[k++].num;
        FMO_GPU_TRY(cudaMemcpyAsync(stage + first->place, first->from, numbers * sizeof *stage,
                                    cudaMemcpyDeviceToHost, stream));
    }
    FMO_GPU_TRY(cudaStreamSynchronize(stream));
#pragma omp parallel for schedule(static) if (num > PARALLEL)
    for (size_t k = 0; k < num; k++)
        memcpy(of[k].to, stage + of[k].place, of[k].num * sizeof *stage);
    return cudaSuccess;
}

} // namespace

cudaError_t fmo_gpu_bring_back(fmo_gpu_returned *of, size_t num, cudaStream_t stream)
{
    double *const stage = num > 1 ? take_stage() : NULL;
    cudaError_t code = cudaSuccess;
    for (size_t k = 0; k < num && code == cudaSuccess;) {
        size_t some = 0, used = 0;
        while (stage && k + some < num && used + of[k + some].num <= stage_num) {
            of[k + some].place = used;
            used += of[k + some++].num;
        }
        code = some ? bring_some(of + k, some, stage, stream)
                    : fmo_gpu_bring(of[k].to, of[k].from, of[k].num * sizeof *of[k].to, stream);
        k += some ? some : 1; /* one that is too large, or there is no stage */
    }
    /* nothing may still come into a stage that another call takes */
    if (code != cudaSuccess) (void)cudaStreamSynchronize(stream);
    return_stage(stage);
    return code;
}
