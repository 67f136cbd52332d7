/* linalg.h on the GPU: cuBLAS, cuSOLVER and a few kernels, all on one stream. Only single numbers,
 * eigenvalues and scaling factors are copied between host and GPU. In the modes set here cuBLAS and
 * cuSOLVER give the same bits in every run; sums over matrices are cuBLAS dot products. */
#include "driver/scf/linalg.h"
#include "driver/scf/nvidia.h"
#include "driver/scf/purify.h"
#include "driver/scf/tuning.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = fmo_tuning_scf_gpu_threads };
static const size_t grid_max = fmo_tuning_scf_gpu_blocks;

typedef struct gpu_linalg {
    fmo_linalg base;
    int before; /* the GPU that was current in the thread */
    cudaStream_t stream;
    int own_stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    double *dot;    /* [FMO_LINALG_VECTORS] results on the GPU */
    double *factor; /* factors and eigenvalues on the GPU, grown as needed */
    size_t factor_num;
    double *work; /* work space of cuSOLVER, grown as needed */
    size_t work_num;
    int *info;    /* devInfo of cuSOLVER */
    double *host; /* pinned: density, J, K for builds on host matrices; NULL until the first */
} gpu_linalg;

static gpu_linalg *gpu_of(fmo_linalg *la)
{
    return (gpu_linalg *)la;
}

static int failed(const fmo_linalg *la)
{
    return la->error.status != FMO_OK;
}

static int cuda_ok(fmo_linalg *la, cudaError_t code, const char *what)
{
    if (failed(la)) return 0;
    if (code == cudaSuccess) return 1;
    fmo_error_set(&la->error, code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                  "SCF on the GPU, %s: %s", what, cudaGetErrorString(code));
    return 0;
}

static int blas_ok(fmo_linalg *la, cublasStatus_t code, const char *what)
{
    if (failed(la)) return 0;
    if (code == CUBLAS_STATUS_SUCCESS) return 1;
    fmo_error_set(&la->error, code == CUBLAS_STATUS_ALLOC_FAILED ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                  "SCF on the GPU, %s: cuBLAS: %s", what, fmo_nvidia.cublasGetStatusString(code));
    return 0;
}

static int solver_ok(fmo_linalg *la, cusolverStatus_t code, const char *what)
{
    if (failed(la)) return 0;
    if (code == CUSOLVER_STATUS_SUCCESS) return 1;
    fmo_error_set(&la->error,
                  code == CUSOLVER_STATUS_ALLOC_FAILED ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                  "SCF on the GPU, %s: cuSOLVER status %d", what, (int)code);
    return 0;
}

/* ---- kernels ------------------------------------------------------------------------------- */

#define FOR_EACH(index, count)                                                          \
    for (size_t index = blockIdx.x * (size_t)blockDim.x + threadIdx.x; index < (count); \
         index += (size_t)gridDim.x * blockDim.x)

static unsigned blocks_for(size_t count)
{
    const size_t blocks = (count + BLOCK - 1) / BLOCK;
    return (unsigned)(blocks < 1 ? 1 : blocks > grid_max ? grid_max : blocks);
}

__global__ void add_kernel(size_t count, double a, const double *x, double b, double *y)
{
    FOR_EACH(i, count) y[i] = b == 0.0 ? a * x[i] : a * x[i] + b * y[i];
}

__global__ void fold_kernel(size_t n, double scale, double sign, double *A)
{
    FOR_EACH(at, n * n)
    {
        const size_t i = at % n, j = at / n;
        if (i > j) continue;
        const double value = scale * (A[i + j * n] + sign * A[j + i * n]);
        A[i + j * n] = value;
        A[j + i * n] = sign * value;
    }
}

__global__ void diagonal_kernel(size_t n, double x, double *A)
{
    FOR_EACH(i, n) A[i + i * n] += x;
}

__global__ void upper_kernel(size_t n, double *A)
{
    FOR_EACH(at, n * n) if (at % n > at / n) A[at] = 0.0;
}

__global__ void scale_kernel(size_t rows, size_t columns, const double *factor, double *A)
{
    FOR_EACH(at, rows * columns) A[at] *= factor[at / rows];
}

__global__ void gaps_kernel(size_t rows, size_t columns, const double *e_a, const double *e_i,
                            double shift, int divide, const double *x, double *y)
{
    FOR_EACH(at, rows * columns)
    {
        const double d = e_a[at % rows] - e_i[at / rows] - shift;
        y[at] = divide ? x[at] / copysign(fmax(fabs(d), 1e-2), d) : x[at] * d;
    }
}

/* One thread block per column: its diagonal element, and the sum of the absolute values of the
 * others. */
__global__ void bounds_kernel(int n, const double *A, double *diagonal, double *radius)
{
    __shared__ double part[BLOCK];
    const double *column = A + (size_t)blockIdx.x * (size_t)n;
    double sum = 0.0;
    for (int i = (int)threadIdx.x; i < n; i += BLOCK)
        if (i != (int)blockIdx.x) sum += fabs(column[i]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if ((int)threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        diagonal[blockIdx.x] = column[blockIdx.x];
        radius[blockIdx.x] = part[0];
    }
}

/* ---- operations ---------------------------------------------------------------------------- */

static void gpu_close(fmo_linalg *la)
{
    gpu_linalg *g = gpu_of(la);
    if (g->stream) cudaStreamSynchronize(g->stream);
    if (g->solver) fmo_nvidia.cusolverDnDestroy(g->solver);
    if (g->blas) fmo_nvidia.cublasDestroy(g->blas);
    cudaFree(g->dot);
    cudaFree(g->factor);
    cudaFree(g->work);
    cudaFree(g->info);
    cudaFreeHost(g->host);
    if (g->own_stream && g->stream) cudaStreamDestroy(g->stream);
    (void)cudaSetDevice(g->before);
    free(g);
}

static double *gpu_allocate(fmo_linalg *la, size_t count)
{
    double *array = NULL;
    const size_t bytes = (count ? count : 1) * sizeof(double);
    if (failed(la)) return NULL;
    if (cudaMalloc((void **)&array, bytes) != cudaSuccess) {
        cudaGetLastError(); /* clears the error */
        fmo_error_set(&la->error, FMO_ERR_MEMORY,
                      "no GPU memory for the matrices of the SCF (%.3g GB at once); fewer DIIS "
                      "vectors or mode cpu take less",
                      1e-9 * (double)bytes);
        return NULL;
    }
    cuda_ok(la, cudaMemsetAsync(array, 0, bytes, gpu_of(la)->stream), "clearing");
    return array;
}

static void gpu_release(fmo_linalg *la, double *array)
{
    (void)la;
    cudaFree(array);
}

static void gpu_finish(fmo_linalg *la)
{
    if (!failed(la)) cuda_ok(la, cudaStreamSynchronize(gpu_of(la)->stream), "waiting");
}

/* Host memory may be pageable and may be freed after the call, so both copies wait. */
static void gpu_upload(fmo_linalg *la, size_t count, const double *host, double *array)
{
    if (failed(la)) return;
    cuda_ok(la,
            cudaMemcpyAsync(array, host, count * sizeof *array, cudaMemcpyHostToDevice,
                            gpu_of(la)->stream),
            "copying to the GPU");
    gpu_finish(la);
}

static void gpu_download(fmo_linalg *la, size_t count, const double *array, double *host)
{
    if (failed(la)) return;
    cuda_ok(la,
            cudaMemcpyAsync(host, array, count * sizeof *array, cudaMemcpyDeviceToHost,
                            gpu_of(la)->stream),
            "copying from the GPU");
    gpu_finish(la);
}

static void gpu_add(fmo_linalg *la, size_t count, double a, const double *x, double b, double *y)
{
    if (failed(la) || count == 0) return;
    add_kernel<<<blocks_for(count), BLOCK, 0, gpu_of(la)->stream>>>(count, a, x, b, y);
    cuda_ok(la, cudaGetLastError(), "adding matrices");
}

static void gpu_multiply(fmo_linalg *la, double alpha, fmo_matrix A, fmo_matrix B, double beta,
                         double *C)
{
    const int m = A.rows, n = B.columns, k = A.columns, inner = k ? k : 1;
    if (failed(la) || m == 0 || n == 0) return;
    blas_ok(la,
            fmo_nvidia.cublasDgemm(gpu_of(la)->blas, A.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   B.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, A.at,
                                   A.transposed ? inner : m, B.at, B.transposed ? n : inner, &beta,
                                   C, m),
            "multiplying matrices");
}

static void gpu_fold(fmo_linalg *la, int n, double scale, double sign, double *A)
{
    if (failed(la)) return;
    const size_t size = (size_t)n * (size_t)n;
    fold_kernel<<<blocks_for(size), BLOCK, 0, gpu_of(la)->stream>>>((size_t)n, scale, sign, A);
    cuda_ok(la, cudaGetLastError(), "making a matrix symmetric");
}

static void gpu_add_to_diagonal(fmo_linalg *la, int n, double x, double *A)
{
    if (failed(la)) return;
    diagonal_kernel<<<blocks_for((size_t)n), BLOCK, 0, gpu_of(la)->stream>>>((size_t)n, x, A);
    cuda_ok(la, cudaGetLastError(), "adding to a diagonal");
}

/* Returns GPU memory for `count` factors or eigenvalues. */
static double *factors(fmo_linalg *la, size_t count)
{
    gpu_linalg *g = gpu_of(la);
    if (g->factor_num < count && !failed(la)) {
        cudaFree(g->factor);
        g->factor = gpu_allocate(la, count);
        g->factor_num = g->factor ? count : 0;
    }
    return failed(la) ? NULL : g->factor;
}

static void gpu_scale_columns(fmo_linalg *la, int rows, int columns, const double *factor,
                              double *A)
{
    const size_t nr = (size_t)rows, nc = (size_t)columns;
    double *own = factors(la, nc);
    if (!own || nr * nc == 0) return;
    gpu_upload(la, nc, factor, own);
    if (failed(la)) return;
    scale_kernel<<<blocks_for(nr * nc), BLOCK, 0, gpu_of(la)->stream>>>(nr, nc, own, A);
    cuda_ok(la, cudaGetLastError(), "scaling a matrix");
}

/* cuBLAS takes int counts; longer arrays are processed in pieces, whose results are added on the
 * host in order. */
enum { PIECE = 1 << 30 };

/* Dot products into GPU memory, downloaded together. */
static void gpu_dots(fmo_linalg *la, size_t count, int m, const double *V, const double *x,
                     double *dot)
{
    gpu_linalg *g = gpu_of(la);
    double part[FMO_LINALG_VECTORS];
    for (int v = 0; v < m; v++) dot[v] = failed(la) ? NAN : 0.0;
    if (failed(la)) return;
    blas_ok(la, fmo_nvidia.cublasSetPointerMode(g->blas, CUBLAS_POINTER_MODE_DEVICE), "setting up");
    for (size_t begin = 0; begin < count && !failed(la); begin += PIECE) {
        const size_t rest = count - begin;
        const int here = rest < PIECE ? (int)rest : PIECE;
        for (int v = 0; v < m && !failed(la); v++)
            blas_ok(la,
                    fmo_nvidia.cublasDdot(g->blas, here, V + (size_t)v * count + begin, 1,
                                          x + begin, 1, g->dot + v),
                    "dot products");
        gpu_download(la, (size_t)m, g->dot, part);
        for (int v = 0; v < m; v++) dot[v] += failed(la) ? NAN : part[v];
    }
    if (failed(la))
        fmo_nvidia.cublasSetPointerMode(g->blas, CUBLAS_POINTER_MODE_HOST);
    else
        blas_ok(la, fmo_nvidia.cublasSetPointerMode(g->blas, CUBLAS_POINTER_MODE_HOST),
                "setting up");
}

static void gpu_combine(fmo_linalg *la, size_t count, int m, const double *V, const double *c,
                        double *out)
{
    if (failed(la)) return;
    cuda_ok(la, cudaMemsetAsync(out, 0, count * sizeof *out, gpu_of(la)->stream), "clearing");
    for (int v = 0; v < m; v++)
        if (c[v] != 0.0) gpu_add(la, count, c[v], V + (size_t)v * count, 1.0, out);
}

/* Grows the work space of cuSOLVER. @return 0 after an error */
static int work_space(fmo_linalg *la, int count)
{
    gpu_linalg *g = gpu_of(la);
    if (g->work_num < (size_t)count && !failed(la)) {
        cudaFree(g->work);
        g->work = gpu_allocate(la, (size_t)count);
        g->work_num = g->work ? (size_t)count : 0;
    }
    return !failed(la);
}

/* Waits for the last call of cuSOLVER and returns its devInfo. */
static int solver_info(fmo_linalg *la)
{
    int info = 0;
    cuda_ok(la,
            cudaMemcpyAsync(&info, gpu_of(la)->info, sizeof info, cudaMemcpyDeviceToHost,
                            gpu_of(la)->stream),
            "copying from the GPU");
    gpu_finish(la);
    return info;
}

/* Eigenvalues and eigenvectors by cuSOLVER's dsyevd. */
static void gpu_eigen(fmo_linalg *la, int n, double *A, double *values)
{
    gpu_linalg *g = gpu_of(la);
    double *device_values = factors(la, (size_t)n);
    int size = 0, info;
    for (int i = 0; i < n; i++) values[i] = NAN;
    if (failed(la)) return;
    solver_ok(la,
              fmo_nvidia.cusolverDnDsyevd_bufferSize(g->solver, CUSOLVER_EIG_MODE_VECTOR,
                                                     CUBLAS_FILL_MODE_UPPER, n, A, n, device_values,
                                                     &size),
              "sizing the eigenproblem");
    if (!work_space(la, size)) return;
    solver_ok(la,
              fmo_nvidia.cusolverDnDsyevd(g->solver, CUSOLVER_EIG_MODE_VECTOR,
                                          CUBLAS_FILL_MODE_UPPER, n, A, n, device_values, g->work,
                                          size, g->info),
              "the eigenproblem");
    if (failed(la)) return;
    info = solver_info(la);
    if (info != 0)
        fmo_error_set(&la->error, FMO_ERR_CHECK, "cuSOLVER's dsyevd failed with info = %d", info);
    gpu_download(la, (size_t)n, device_values, values);
}

/* Cholesky factor by cuSOLVER, its inverse by a triangular solve. */
static int gpu_inverse_cholesky(fmo_linalg *la, int n, double *A)
{
    gpu_linalg *g = gpu_of(la);
    const double one = 1.0;
    int size = 0;
    const size_t count = (size_t)n * (size_t)n;
    if (failed(la)) return 0;
    double *inverse = gpu_allocate(la, count);
    solver_ok(
        la,
        fmo_nvidia.cusolverDnDpotrf_bufferSize(g->solver, CUBLAS_FILL_MODE_UPPER, n, A, n, &size),
        "sizing Cholesky's factor");
    int positive = 0;
    if (work_space(la, size)) {
        solver_ok(la,
                  fmo_nvidia.cusolverDnDpotrf(g->solver, CUBLAS_FILL_MODE_UPPER, n, A, n, g->work,
                                              size, g->info),
                  "Cholesky's factor");
        positive = !failed(la) && solver_info(la) == 0;
    }
    if (positive && !failed(la)) { /* U X = 1 */
        gpu_add_to_diagonal(la, n, 1.0, inverse);
        blas_ok(la,
                fmo_nvidia.cublasDtrsm(g->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER,
                                       CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, n, &one, A, n, inverse,
                                       n),
                "inverting Cholesky's factor");
        gpu_add(la, count, 1.0, inverse, 0.0, A);
        if (!failed(la)) {
            upper_kernel<<<blocks_for(count), BLOCK, 0, g->stream>>>((size_t)n, A);
            cuda_ok(la, cudaGetLastError(), "clearing a triangle");
        }
    }
    gpu_finish(la);
    gpu_release(la, inverse);
    return positive && !failed(la);
}

/* Sums of the columns on the GPU, bounds and trace on the host. */
static void gpu_bounds(fmo_linalg *la, int n, const double *A, double *low, double *high,
                       double *trace)
{
    const size_t size = (size_t)n;
    double *both = factors(la, 2 * size);
    double *host = (double *)malloc(2 * size * sizeof *host);
    *low = *high = *trace = NAN;
    if (!host) fmo_error_set(&la->error, FMO_ERR_MEMORY, "no memory");
    if (!failed(la)) {
        bounds_kernel<<<(unsigned)n, BLOCK, 0, gpu_of(la)->stream>>>(n, A, both, both + size);
        cuda_ok(la, cudaGetLastError(), "bounds of the eigenvalues");
        gpu_download(la, 2 * size, both, host);
    }
    if (!failed(la)) {
        *trace = 0.0;
        for (size_t i = 0; i < size; i++) {
            *trace += host[i];
            if (!(*low <= host[i] - host[size + i])) *low = host[i] - host[size + i];
            if (!(*high >= host[i] + host[size + i])) *high = host[i] + host[size + i];
        }
    }
    free(host);
}

static void gpu_gaps(fmo_linalg *la, const fmo_orbital_gaps *gaps, int divide, const double *x,
                     double *y)
{
    const size_t nr = (size_t)gaps->virtual_num, nc = (size_t)gaps->occupied_num;
    double *both = factors(la, nr + nc);
    gpu_upload(la, nr, gaps->e_a, both);
    gpu_upload(la, nc, gaps->e_i, both + nr);
    if (failed(la) || nr * nc == 0) return;
    gaps_kernel<<<blocks_for(nr * nc), BLOCK, 0, gpu_of(la)->stream>>>(nr, nc, both, both + nr,
                                                                       gaps->shift, divide, x, y);
    cuda_ok(la, cudaGetLastError(), "orbital energy differences");
}

/* Symmetrises a density as builds on GPU matrices do; it is symmetric up to rounding. */
static void take_symmetric(size_t n, double *A)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i]);
}

/* Builds in GPU memory, or in host memory if ranks share the build. */
static void gpu_fock(fmo_linalg *la, fmo_fock_plan *plan, const double *density, double *coulomb,
                     double *exchange)
{
    gpu_linalg *g = gpu_of(la);
    const size_t n = (size_t)la->host_functions, size = n * n;
    if (!failed(la) && !size) fmo_fock_build_device(plan, density, coulomb, exchange, &la->error);
    if (failed(la) || !size) return;
    if (!g->host)
        cuda_ok(la, cudaMallocHost((void **)&g->host, 3 * size * sizeof *g->host), "allocating");
    double *const J = coulomb ? g->host + size : NULL;
    double *const K = exchange ? g->host + 2 * size : NULL;
    gpu_download(la, size, density, g->host);
    if (!failed(la)) {
        take_symmetric(n, g->host);
        fmo_fock_build(plan, g->host, J, K, &la->error);
    }
    if (coulomb) gpu_upload(la, size, J, coulomb);
    if (exchange) gpu_upload(la, size, K, exchange);
}

static void gpu_fock_of_spins(fmo_linalg *la, fmo_fock_plan *plan, int n, const double *total,
                              const double *spins, double *coulomb, double *exchange)
{
    const size_t size = (size_t)n * (size_t)n;
    fmo_fock_job jobs[3] = {};
    const double *const density[] = {total, spins, spins + size};
    for (int k = 0; k < 3; k++) {
        jobs[k].plan = plan;
        jobs[k].density = density[k];
    }
    jobs[0].coulomb = coulomb;
    jobs[1].exchange = exchange;
    jobs[2].exchange = exchange + size;
    if (!failed(la) && !la->host_functions) (void)fmo_fock_build_batch_device(jobs, 3, &la->error);
    for (int k = 0; k < 3 && la->host_functions; k++)
        gpu_fock(la, plan, jobs[k].density, jobs[k].coulomb, jobs[k].exchange);
}

static void gpu_on_host(fmo_linalg *la, void (*work)(void *user), void *user)
{
    (void)la;
    work(user);
}

/* C++ has no designated initialisers before C++20: the order is that of fmo_linalg_ops. */
static const fmo_linalg_ops *gpu_operations(void)
{
    static const fmo_linalg_ops ops = {"cuSOLVER and cuBLAS",
                                       1,
                                       gpu_close,
                                       gpu_allocate,
                                       gpu_release,
                                       gpu_upload,
                                       gpu_download,
                                       gpu_add,
                                       gpu_multiply,
                                       gpu_fold,
                                       gpu_add_to_diagonal,
                                       gpu_scale_columns,
                                       gpu_dots,
                                       gpu_combine,
                                       gpu_eigen,
                                       gpu_inverse_cholesky,
                                       gpu_bounds,
                                       fmo_linalg_purify,
                                       gpu_gaps,
                                       gpu_fock,
                                       gpu_fock_of_spins,
                                       gpu_on_host,
                                       gpu_finish,
                                       NULL};
    return &ops;
}

/* Opens the GPU backend; loads the libraries and creates the CUDA context at the same time. */
extern "C" fmo_status fmo_linalg_open_gpu(int device, void **stream, fmo_linalg **la,
                                          fmo_error *err)
{
    gpu_linalg *g = (gpu_linalg *)calloc(1, sizeof *g);
    cudaDeviceProp properties;
    fmo_nvidia_loading libraries;
    if (!g) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    fmo_nvidia_begin(&libraries);
    fmo_linalg *base = &g->base;
    base->ops = gpu_operations();
    g->stream = (cudaStream_t)*stream;
    g->own_stream = !g->stream;
    cuda_ok(base, cudaGetDevice(&g->before), "choosing the GPU");
    if (device < 0) device = g->before;
    if (!failed(base)) cuda_ok(base, cudaSetDevice(device), "choosing the GPU");
    if (!failed(base) && cuda_ok(base, cudaGetDeviceProperties(&properties, device), "its name"))
        snprintf(base->device, sizeof base->device, "%.95s", properties.name);
    if (g->own_stream && !failed(base))
        cuda_ok(base, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking),
                "making a stream");
    fmo_error missing = {FMO_OK, ""};
    if (fmo_nvidia_end(&libraries, &missing) != FMO_OK && !failed(base)) base->error = missing;
    if (!failed(base)) blas_ok(base, fmo_nvidia.cublasCreate(&g->blas), "starting cuBLAS");
    if (!failed(base))
        blas_ok(base, fmo_nvidia.cublasSetStream(g->blas, g->stream), "starting cuBLAS");
    if (!failed(base))
        blas_ok(base, fmo_nvidia.cublasSetAtomicsMode(g->blas, CUBLAS_ATOMICS_NOT_ALLOWED),
                "starting cuBLAS");
    if (!failed(base))
        solver_ok(base, fmo_nvidia.cusolverDnCreate(&g->solver), "starting cuSOLVER");
    if (!failed(base))
        solver_ok(base, fmo_nvidia.cusolverDnSetStream(g->solver, g->stream), "starting cuSOLVER");
    if (!failed(base))
        solver_ok(
            base,
            fmo_nvidia.cusolverDnSetDeterministicMode(g->solver, CUSOLVER_DETERMINISTIC_RESULTS),
            "starting cuSOLVER");
    if (!failed(base)) cuda_ok(base, cudaMalloc((void **)&g->info, sizeof *g->info), "allocating");
    g->dot = gpu_allocate(base, FMO_LINALG_VECTORS);
    gpu_finish(base);
    if (failed(base)) {
        const fmo_status status = fmo_error_set(err, base->error.status, "%s", base->error.message);
        gpu_close(base);
        return status;
    }
    *stream = g->stream;
    *la = base;
    return FMO_OK;
}
