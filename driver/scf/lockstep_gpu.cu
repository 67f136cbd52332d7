/* The executor of lockstep.h on a GPU: dispatch of requests, copies. Memory is in
 * lockstep_memory.cu, kernels for many SCFs are in lockstep_kernels.cu, products, purifications and
 * eigenproblems of equal size in lockstep_blas.cu; Fock builds form one batch. Other eigenproblems,
 * Cholesky factors and operations of the stability analysis run in threads of the host, one matrix
 * each. */
#include "driver/scf/lockstep_gpu.h"
#include "driver/scf/tuning.h"
#include "base/quiet_thread.h"

#include <stdio.h>
#include <stdlib.h>

namespace {

fmo_gpu_batch_linalg *gpu_of(fmo_batch_linalg *executor)
{
    return (fmo_gpu_batch_linalg *)executor;
}

/* Builds J and K of all requests in one batch; only failed jobs keep an error. */
void run_fock(const fmo_request *const *request, size_t num)
{
    fmo_fock_job *const jobs = (fmo_fock_job *)calloc(num, sizeof *jobs);
    if (!jobs) {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, "builds", "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        jobs[k].plan = request[k]->plan;
        jobs[k].density = request[k]->A;
        jobs[k].coulomb = request[k]->C;
        jobs[k].exchange = request[k]->D;
        jobs[k].err = &request[k]->la->error;
    }
    fmo_error first = {FMO_OK, ""};
    if (fmo_fock_build_batch_device(jobs, num, &first) != FMO_OK)
        for (size_t k = 0; k < num; k++)
            if (jobs[k].status == FMO_OK) request[k]->la->error = fmo_error{FMO_OK, ""};
    free(jobs);
}

/* Computes the gradients of all requests in one batch; only failed jobs keep an error. */
void run_gradients(const fmo_request *const *request, size_t num)
{
    fmo_gradient_job *const jobs = (fmo_gradient_job *)calloc(num, sizeof *jobs);
    if (!jobs) {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, "gradients", "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        jobs[k].plan = request[k]->plan;
        jobs[k].terms = request[k]->terms;
        jobs[k].term_num = request[k]->m;
        jobs[k].gradient = request[k]->out;
        jobs[k].err = &request[k]->la->error;
    }
    (void)fmo_fock_gradient_batch(jobs, num, NULL);
    free(jobs);
}

/* Uploads or downloads; threads of the host copy to and from pinned memory. */
bool copy_portion(fmo_gpu_batch_linalg *g, const fmo_request *const *request, size_t num,
                  const size_t *begin)
{
    static const char what[] = "copying";
    const bool up = request[0]->kind == FMO_REQUEST_UPLOAD;
    bool ok = fmo_gpu_batch_linalg_ok(request, num, fmo_gpu_batch_linalg_grow_pinned(g, begin[num]),
                                      what);
    if (ok && up) fmo_batch_linalg_stage(g->base.threads, request, num, begin, g->pinned);
    for (size_t k = 0; k < num && ok; k++) {
        double *const place = g->pinned + begin[k];
        const size_t bytes = request[k]->count * sizeof *place;
        ok = fmo_gpu_batch_linalg_ok(
            request, num,
            up ? cudaMemcpyAsync(request[k]->C, place, bytes, cudaMemcpyHostToDevice, g->stream)
               : cudaMemcpyAsync(place, request[k]->A, bytes, cudaMemcpyDeviceToHost, g->stream),
            what);
    }
    ok = ok && fmo_gpu_batch_linalg_ok(request, num, cudaStreamSynchronize(g->stream), what);
    if (ok && !up) fmo_batch_linalg_stage(g->base.threads, request, num, begin, g->pinned);
    return ok;
}

/* Dispatches requests of one kind. */
void gpu_run(fmo_batch_linalg *executor, const fmo_request *const *request, size_t num)
{
    fmo_gpu_batch_linalg *const g = gpu_of(executor);
    switch (request[0]->kind) {
    case FMO_REQUEST_RELEASE:
        for (size_t k = 0; k < num; k++) (void)cudaFreeAsync(request[k]->C, g->stream);
        break;
    case FMO_REQUEST_ADD:
        fmo_gpu_batch_linalg_add(g, request, num);
        break;
    case FMO_REQUEST_MULTIPLY:
        fmo_gpu_batch_linalg_multiply(g, request, num);
        break;
    case FMO_REQUEST_FOLD:
        fmo_gpu_batch_linalg_fold(g, request, num);
        break;
    case FMO_REQUEST_DIAGONAL:
        fmo_gpu_batch_linalg_diagonal(g, request, num);
        break;
    case FMO_REQUEST_FOCK:
        run_fock(request, num);
        break;
    case FMO_REQUEST_GRADIENT:
        run_gradients(request, num);
        break;
    case FMO_REQUEST_UPLOAD:
    case FMO_REQUEST_DOWNLOAD:
        fmo_gpu_batch_linalg_in_portions(g, request, num, "copying", copy_portion);
        break;
    case FMO_REQUEST_DOTS:
        fmo_gpu_batch_linalg_dots(g, request, num);
        break;
    case FMO_REQUEST_COMBINE:
        fmo_gpu_batch_linalg_combine(g, request, num);
        break;
    case FMO_REQUEST_BOUNDS:
        fmo_gpu_batch_linalg_bounds(g, request, num);
        break;
    case FMO_REQUEST_PURIFY:
        fmo_gpu_batch_linalg_purify(g, request, num);
        break;
    case FMO_REQUEST_EIGEN:
        fmo_gpu_batch_linalg_eigen(g, request, num);
        break;
    case FMO_REQUEST_SCALE:
        fmo_gpu_batch_linalg_scale(g, request, num);
        break;
    case FMO_REQUEST_INVERSE:
    case FMO_REQUEST_GAPS:
        fmo_gpu_batch_linalg_on_host(g, request, num);
        break;
    case FMO_REQUEST_FINISH:
        (void)fmo_gpu_batch_linalg_ok(request, num, cudaStreamSynchronize(g->stream), "waiting");
        break;
    case FMO_REQUEST_HOST:
    case FMO_REQUEST_COUNT:
        break;
    }
}

double *gpu_allocate(fmo_batch_linalg *executor, size_t count, fmo_error *err)
{
    fmo_gpu_batch_linalg *const g = gpu_of(executor);
    const size_t bytes = (count ? count : 1) * sizeof(double);
    double *array = NULL;
    cudaError_t code = cudaMallocAsync((void **)&array, bytes, g->stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(array, 0, bytes, g->stream);
    if (code == cudaSuccess) return array;
    (void)cudaGetLastError(); /* clears the error */
    (void)fmo_error_set(err, code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                        "no GPU memory for the matrices of an SCF (%.3g GB at once): %s",
                        1e-9 * (double)bytes, cudaGetErrorString(code));
    return NULL;
}

/* Number of open executors by GPU. */
struct {
    pthread_mutex_t lock;
    int num[FMO_DEVICES_MAX];
} users = {PTHREAD_MUTEX_INITIALIZER, {}};

/* @return the number of executors after the change; 0 for a GPU that is not counted */
int count_users(int device, int change)
{
    if (device < 0 || device >= FMO_DEVICES_MAX) return 0;
    pthread_mutex_lock(&users.lock);
    const int num = users.num[device] += change;
    pthread_mutex_unlock(&users.lock);
    return num;
}

/* Returns unused memory of the pool to the driver, except for a small share of the total: plain
 * cudaMalloc needs memory, too. Returning everything takes up to 25 ms after pairs of fragments,
 * and the next executor would need some of it again. */
const double kept_share = fmo_tuning_lockstep_kept_share;
void give_back_memory(const fmo_gpu_batch_linalg *g)
{
    (void)cudaMemPoolTrimTo(g->pool, (size_t)(kept_share * g->base.memory));
}

/* May be called in another thread than the one that opened the executor; that thread then keeps its
 * current GPU. */
void gpu_close(fmo_batch_linalg *executor)
{
    fmo_gpu_batch_linalg *const g = gpu_of(executor);
    int after = g->before;
    if (!pthread_equal(g->opener, pthread_self())) (void)cudaGetDevice(&after);
    (void)cudaSetDevice(g->device);
    if (g->stream) (void)cudaStreamSynchronize(g->stream);
    if (g->blas) (void)fmo_nvidia.cublasDestroy(g->blas);
    if (g->solver) (void)fmo_nvidia.cusolverDnDestroy(g->solver);
    if (g->args) (void)cudaFree(g->args);
    if (g->results) (void)cudaFree(g->results);
    fmo_gpu_batch_linalg_leave_pinned(g);
    if (g->stream) (void)cudaStreamDestroy(g->stream);
    if (g->pool && count_users(g->device, -1) <= 0) give_back_memory(g);
    fmo_batch_linalg_close_backends(g->la, g->base.threads);
    (void)cudaSetDevice(after);
    free(g);
}

void gpu_enter(fmo_batch_linalg *executor)
{
    (void)cudaSetDevice(gpu_of(executor)->device);
}

const fmo_batch_linalg_ops operations = {
    "cuBLAS, kernels and LAPACK", 1, gpu_close, gpu_enter, gpu_allocate, gpu_run};

/* Keeps freed memory in the pool while there are executors, because SCFs and plans allocate again
 * soon. */
cudaError_t keep_memory(fmo_gpu_batch_linalg *g, int device)
{
    unsigned long long all = ~0ull;
    const cudaError_t code = cudaDeviceGetDefaultMemPool(&g->pool, device);
    if (g->pool) (void)count_users(device, 1);
    return code != cudaSuccess
               ? code
               : cudaMemPoolSetAttribute(g->pool, cudaMemPoolAttrReleaseThreshold, &all);
}

cudaError_t open(fmo_gpu_batch_linalg *g, int device)
{
    cudaDeviceProp properties;
    cudaError_t code = cudaGetDevice(&g->before);
    if (device < 0) device = g->before;
    g->device = device;
    if (code == cudaSuccess) code = cudaSetDevice(device);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, device);
    if (code == cudaSuccess) code = cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = keep_memory(g, device);
    if (code == cudaSuccess)
        (void)snprintf(g->base.device, sizeof g->base.device, "%.95s", properties.name);
    if (code == cudaSuccess) g->base.memory = (double)properties.totalGlobalMem;
    return code;
}

} // namespace

extern "C" void *fmo_batch_linalg_begin_loading(void)
{
    fmo_nvidia_loading *const loading = (fmo_nvidia_loading *)calloc(1, sizeof *loading);
    if (loading) fmo_nvidia_begin(loading);
    return loading;
}

extern "C" void fmo_batch_linalg_end_loading(void *loading)
{
    if (loading) (void)fmo_nvidia_end((fmo_nvidia_loading *)loading, NULL);
    free(loading);
}

/* GPUs to be started, one after the other: the CUDA driver does not start two at a time. */
typedef struct starting_gpus {
    pthread_t thread;
    int started, num;
    int device[FMO_DEVICES_MAX];
} starting_gpus;

/* Thread function: creates contexts and memory pools. Errors occur again at the first use, and are
 * reported there. */
static void *start_gpus(void *user)
{
    const starting_gpus *const all = (const starting_gpus *)user;
    for (int k = 0; k < all->num; k++) {
        void *memory = NULL;
        if (cudaSetDevice(all->device[k]) == cudaSuccess &&
            cudaMallocAsync(&memory, 1, cudaStreamPerThread) == cudaSuccess)
            (void)cudaFreeAsync(memory, cudaStreamPerThread);
    }
    return NULL;
}

extern "C" void *fmo_batch_linalg_begin_gpus(const fmo_fock_options *fock)
{
    if (fock->device < 0 && !fock->device_num) return NULL;
    starting_gpus *const all = (starting_gpus *)calloc(1, sizeof *all);
    if (!all) return NULL;
    all->num = fock->device_num ? fock->device_num : 1;
    for (int k = 0; k < all->num; k++)
        all->device[k] = fock->device_num ? fock->devices[k] : fock->device;
    all->started = fmo_start_quiet_thread(&all->thread, start_gpus, all);
    return all;
}

extern "C" void fmo_batch_linalg_end_gpus(void *starting)
{
    starting_gpus *const all = (starting_gpus *)starting;
    if (all && all->started) pthread_join(all->thread, NULL);
    free(all);
}

extern "C" int fmo_batch_linalg_thread_gpu(void)
{
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

/* Opens the executor; loads the libraries and creates the CUDA context at the same time. */
extern "C" fmo_status fmo_batch_linalg_open_gpu(int device, int threads,
                                                fmo_batch_linalg **executor, fmo_error *err)
{
    fmo_gpu_batch_linalg *const g = (fmo_gpu_batch_linalg *)calloc(1, sizeof *g);
    if (!g) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    g->base.ops = &operations;
    g->opener = pthread_self();
    g->base.threads = threads > 0 ? threads : 1;
    fmo_error failure = {FMO_OK, ""};
    fmo_nvidia_loading libraries;
    fmo_nvidia_begin(&libraries);
    const cudaError_t code = open(g, device);
    const int loaded = fmo_nvidia_end(&libraries, &failure) == FMO_OK;
    if (code != cudaSuccess)
        (void)fmo_error_set(&failure, FMO_ERR_DEVICE, "SCFs on the GPU, choosing it: %s",
                            cudaGetErrorString(code));
    cublasStatus_t blas = CUBLAS_STATUS_SUCCESS;
    if (code == cudaSuccess && loaded) blas = fmo_nvidia.cublasCreate(&g->blas);
    if (g->blas && blas == CUBLAS_STATUS_SUCCESS)
        blas = fmo_nvidia.cublasSetStream(g->blas, g->stream);
    if (blas == CUBLAS_STATUS_SUCCESS && g->blas)
        blas = fmo_nvidia.cublasSetAtomicsMode(g->blas, CUBLAS_ATOMICS_NOT_ALLOWED);
    if (blas != CUBLAS_STATUS_SUCCESS)
        (void)fmo_error_set(&failure, FMO_ERR_DEVICE, "SCFs on the GPU, starting cuBLAS: %s",
                            fmo_nvidia.cublasGetStatusString(blas));
    if (failure.status == FMO_OK) g->la = fmo_batch_linalg_open_backends(g->base.threads, &failure);
    if (failure.status != FMO_OK) {
        gpu_close(&g->base);
        return fmo_error_set(err, failure.status, "%s", failure.message);
    }
    g->base.stream = g->stream;
    *executor = &g->base;
    return FMO_OK;
}
