/* Copies many arrays from a GPU to the host through page-locked memory. Direct copies to memory
 * that was just allocated reach only 1 GB/s, because the driver maps each page on first use
 * (docs/results/2026-11-26-4869633/gaps.txt). */
#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/potential/lists.h"
#include "accumulate/tuning.h"

#include <pthread.h>
#include <string.h>

namespace {

/* stage_num: doubles of a page-locked buffer. STAGES: the largest number of buffers, one for each
 * concurrent call; they are kept until the process ends, because allocating 16 MB takes 8 ms.
 * PARALLEL: number of arrays above which several threads copy. */
const size_t stage_num = fmo_tuning_gpu_back_doubles;
enum { STAGES = fmo_tuning_gpu_back_buffers, PARALLEL = fmo_tuning_gpu_back_parallel };

struct {
    pthread_mutex_t lock;
    double *unused[STAGES];
    int num, made;
} stages = {PTHREAD_MUTEX_INITIALIZER, {}, 0, 0};

/* Returns an unused buffer, or NULL if all are in use or page-locked memory is exhausted. */
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
    (void)cudaGetLastError(); /* clears the error, which is not sticky */
    (void)pthread_mutex_lock(&stages.lock);
    stages.made--;
    (void)pthread_mutex_unlock(&stages.lock);
    return NULL;
}

/* Makes a buffer available again; NULL is allowed. */
void return_stage(double *stage)
{
    if (!stage) return;
    (void)pthread_mutex_lock(&stages.lock);
    stages.unused[stages.num++] = stage;
    (void)pthread_mutex_unlock(&stages.lock);
}

/* Copies arrays that fit into the buffer together: to their places there, arrays that are
 * contiguous on the GPU in one copy, and from there to their destinations. */
cudaError_t bring_some(const fmo_gpu_returned *returned, size_t num, double *stage,
                       cudaStream_t stream)
{
    for (size_t k = 0; k < num;) {
        const fmo_gpu_returned *const first = &returned[k];
        size_t numbers = 0;
        while (k < num && returned[k].from == first->from + numbers) numbers += returned[k++].num;
        FMO_GPU_TRY(cudaMemcpyAsync(stage + first->place, first->from, numbers * sizeof *stage,
                                    cudaMemcpyDeviceToHost, stream));
    }
    FMO_GPU_TRY(cudaStreamSynchronize(stream));
#pragma omp parallel for schedule(static) if (num > PARALLEL)
    for (size_t k = 0; k < num; k++)
        memcpy(returned[k].to, stage + returned[k].place, returned[k].num * sizeof *stage);
    return cudaSuccess;
}

} // namespace

/* Fills the buffer with as many arrays as fit, again and again. */
cudaError_t fmo_gpu_bring_back(fmo_gpu_returned *returned, size_t num, cudaStream_t stream)
{
    double *const stage = num > 1 ? take_stage() : NULL;
    cudaError_t code = cudaSuccess;
    for (size_t k = 0; k < num && code == cudaSuccess;) {
        size_t some = 0, used = 0;
        while (stage && k + some < num && used + returned[k + some].num <= stage_num) {
            returned[k + some].place = used;
            used += returned[k + some++].num;
        }
        code = some ? bring_some(returned + k, some, stage, stream)
                    : fmo_gpu_bring(returned[k].to, returned[k].from,
                                    returned[k].num * sizeof *returned[k].to, stream);
        k += some ? some : 1; /* one that is too large, or there is no buffer */
    }
    /* no copy into the buffer may be pending when another call takes it */
    if (code != cudaSuccess) (void)cudaStreamSynchronize(stream);
    return_stage(stage);
    return code;
}
