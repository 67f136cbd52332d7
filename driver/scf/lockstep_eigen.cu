/* Eigenproblems of many SCFs: many of one size in one call of cuSOLVER, the others in the threads
 * of the host. See lockstep_gpu.h. */
#include "driver/scf/lockstep_gpu.h"

#include "accumulate/gpu/check.h"

#include <stdlib.h>
#include <string.h>

namespace {

/* Smallest number of matrices of one size, and smallest size, for cuSOLVER: 250 matrices of 104
 * functions take cuSOLVER 2.6 ms and 16 threads of a host 68 ms, but a few matrices take cuSOLVER
 * as long as many, and its start-up takes longer than small matrices take on the host
 * (docs/log/scf.md, "Many molecules"). */
enum { ALIKE_LEAST = 16, FUNCTIONS_LEAST = 48 };

#if CUDART_VERSION >= 12080

/* GPU and host memory of one call, in stream order. */
typedef struct scratch {
    double *A, *values;
    int *info;
    void *work;
    size_t work_bytes;
    void *host_work;
    size_t host_bytes;
} scratch;

/* Returns the address of matrix k of size n. */
double *matrix(const scratch *s, int n, size_t k)
{
    return s->A + k * (size_t)n * (size_t)n;
}

cudaError_t allocate(fmo_gpu_batch_linalg *g, int n, size_t num, scratch *s)
{
    const size_t size = (size_t)n * (size_t)n * sizeof *s->A;
    FMO_GPU_TRY(cudaMallocAsync((void **)&s->A, num * size, g->stream));
    FMO_GPU_TRY(
        cudaMallocAsync((void **)&s->values, num * (size_t)n * sizeof *s->values, g->stream));
    FMO_GPU_TRY(cudaMallocAsync((void **)&s->info, num * sizeof *s->info, g->stream));
    FMO_GPU_TRY(cudaMallocAsync(&s->work, s->work_bytes + 1, g->stream));
    s->host_work = malloc(s->host_bytes + 1);
    return s->host_work ? cudaSuccess : cudaErrorMemoryAllocation;
}

void release(fmo_gpu_batch_linalg *g, scratch *s)
{
    void *const all[] = {s->A, s->values, s->info, s->work};
    for (void *at : all)
        if (at) (void)cudaFreeAsync(at, g->stream);
    free(s->host_work);
}

/* Writes eigenvectors into the matrices of the requests, and eigenvalues to host memory. @return 0
 * on failure; the matrices are then unchanged */
int solve(fmo_gpu_batch_linalg *g, cusolverDnParams_t how, const fmo_request *const *request,
          size_t num, scratch *s)
{
    const int n = request[0]->n;
    const size_t values = num * (size_t)n, matrices = (size_t)n * (size_t)n * sizeof *s->A;
    const int64_t batch = (int64_t)num;
    if (fmo_nvidia.cusolverDnXsyevBatched_bufferSize(
            g->solver, how, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F, s->A,
            n, CUDA_R_64F, s->values, CUDA_R_64F, &s->work_bytes, &s->host_bytes,
            batch) != CUSOLVER_STATUS_SUCCESS ||
        allocate(g, n, num, s) != cudaSuccess)
        return 0;
    cudaError_t code = fmo_gpu_batch_linalg_grow_pinned(g, values + num);
    for (size_t k = 0; k < num && code == cudaSuccess; k++)
        code = cudaMemcpyAsync(matrix(s, n, k), request[k]->C, matrices, cudaMemcpyDeviceToDevice,
                               g->stream);
    if (code != cudaSuccess ||
        fmo_nvidia.cusolverDnXsyevBatched(
            g->solver, how, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F, s->A,
            n, CUDA_R_64F, s->values, CUDA_R_64F, s->work, s->work_bytes, s->host_work,
            s->host_bytes, s->info, batch) != CUSOLVER_STATUS_SUCCESS)
        return 0;
    int *const info = (int *)(g->pinned + values);
    code = cudaMemcpyAsync(g->pinned, s->values, values * sizeof *g->pinned, cudaMemcpyDeviceToHost,
                           g->stream);
    if (code == cudaSuccess)
        code =
            cudaMemcpyAsync(info, s->info, num * sizeof *info, cudaMemcpyDeviceToHost, g->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
    for (size_t k = 0; k < num && code == cudaSuccess; k++)
        if (info[k]) return 0;
    for (size_t k = 0; k < num && code == cudaSuccess; k++) {
        memcpy(request[k]->out, g->pinned + k * (size_t)n, (size_t)n * sizeof *g->pinned);
        code = cudaMemcpyAsync(request[k]->C, matrix(s, n, k), matrices, cudaMemcpyDeviceToDevice,
                               g->stream);
    }
    return code == cudaSuccess;
}

/* Solves requests of one size. @return 0: the host must solve them */
int solve_alike(fmo_gpu_batch_linalg *g, const fmo_request *const *request, size_t num)
{
    cusolverDnParams_t how = NULL;
    scratch s = {};
    int ok = g->solver || fmo_nvidia.cusolverDnCreate(&g->solver) == CUSOLVER_STATUS_SUCCESS;
    ok = ok && fmo_nvidia.cusolverDnSetStream(g->solver, g->stream) == CUSOLVER_STATUS_SUCCESS &&
         fmo_nvidia.cusolverDnCreateParams(&how) == CUSOLVER_STATUS_SUCCESS &&
         solve(g, how, request, num, &s);
    release(g, &s);
    if (how) (void)fmo_nvidia.cusolverDnDestroyParams(how);
    (void)cudaGetLastError(); /* clears the error; the host solves them */
    return ok;
}

#else

int solve_alike(fmo_gpu_batch_linalg *g, const fmo_request *const *request, size_t num)
{
    (void)g, (void)request, (void)num;
    return 0;
}

#endif

} // namespace

/* Groups requests by size; solves large groups by cuSOLVER and all others on the host. */
void fmo_gpu_batch_linalg_eigen(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                size_t num)
{
    const fmo_request **const sorted = (const fmo_request **)malloc(num * sizeof *sorted);
    if (!sorted) {
        fmo_gpu_batch_linalg_on_host(g, request, num);
        return;
    }
    size_t left = 0; /* requests for the host, at the front */
    memcpy(sorted, request, num * sizeof *sorted);
    fmo_gpu_batch_linalg_sort(sorted, num);
    for (size_t begin = 0, end; begin < num; begin = end) {
        for (end = begin + 1; end < num && sorted[end]->n == sorted[begin]->n;) end++;
        if (end - begin >= ALIKE_LEAST && sorted[begin]->n >= FUNCTIONS_LEAST &&
            solve_alike(g, sorted + begin, end - begin))
            continue;
        for (size_t k = begin; k < end; k++) sorted[left++] = sorted[k];
    }
    if (left) fmo_gpu_batch_linalg_on_host(g, sorted, left);
    free(sorted);
}
