/* The hands of lockstep.h on a GPU: kernels that take an operation of many SCFs, each with sizes of
 * its own, cuBLAS for products of equal sizes, builds in one batch. Eigenproblems, Cholesky factors
 * and what only the beginning needs are left to LAPACK on the host's threads, a matrix each;
 * whether a GPU's batched solvers would be faster has not been measured. */
#include "driver/scf/lockstep.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

enum { BLOCK = 256 };
const size_t blocks_most = 64; /* of one matrix */

typedef struct gpu_hands {
    fmo_hands base;
    int before; /* the GPU that the thread used */
    cudaStream_t stream;
    cublasHandle_t blas;
    cudaMemPool_t pool; /* of the GPU; the memory of arrays and of plans */
    fmo_linalg **la;    /* [threads] backends of the host */
    char *args;         /* arguments of a launch, on the GPU, grown as needed */
    size_t args_bytes;
    double *results; /* numbers on their way to the host, on the GPU, grown as needed */
    size_t results_num;
    double *pinned; /* of the host, grown as needed */
    size_t pinned_num;
} gpu_hands;

gpu_hands *gpu_of(fmo_hands *hands)
{
    return (gpu_hands *)hands;
}

/* A fault of a launch is that of all whose work it was. */
void fail(const fmo_request *const *request, size_t num, fmo_status status, const char *what,
          const char *why)
{
    for (size_t k = 0; k < num; k++)
        if (request[k]->la->error.status == FMO_OK)
            (void)fmo_error_set(&request[k]->la->error, status, "SCFs on the GPU, %s: %s", what,
                                why);
}

bool cuda_ok(const fmo_request *const *request, size_t num, cudaError_t code, const char *what)
{
    if (code == cudaSuccess) return true;
    fail(request, num, code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE, what,
         cudaGetErrorString(code));
    return false;
}

/* ---- room ----------------------------------------------------------------------------------- */

cudaError_t grow_args(gpu_hands *g, size_t bytes)
{
    if (bytes <= g->args_bytes) return cudaSuccess;
    if (g->args) (void)cudaFreeAsync(g->args, g->stream);
    g->args = NULL;
    g->args_bytes = 0;
    const cudaError_t code = cudaMallocAsync((void **)&g->args, 2 * bytes, g->stream);
    if (code == cudaSuccess) g->args_bytes = 2 * bytes;
    return code;
}

cudaError_t grow_results(gpu_hands *g, size_t num)
{
    if (num <= g->results_num) return cudaSuccess;
    if (g->results) (void)cudaFreeAsync(g->results, g->stream);
    g->results = NULL;
    g->results_num = 0;
    const cudaError_t code =
        cudaMallocAsync((void **)&g->results, 2 * num * sizeof *g->results, g->stream);
    if (code == cudaSuccess) g->results_num = 2 * num;
    return code;
}

cudaError_t grow_pinned(gpu_hands *g, size_t num)
{
    if (num <= g->pinned_num) return cudaSuccess;
    if (g->pinned) (void)cudaFreeHost(g->pinned);
    g->pinned = NULL;
    g->pinned_num = 0;
    const cudaError_t code = cudaMallocHost((void **)&g->pinned, num * sizeof *g->pinned);
    if (code == cudaSuccess) g->pinned_num = num;
    return code;
}

/* The arguments of all into device memory. They are pageable, so the call has read them when it
 * returns; the device memory is used again in the order of the stream. */
template <class Args>
cudaError_t send_args(gpu_hands *g, const Args *args, size_t num, const Args **at)
{
    const cudaError_t code = grow_args(g, num * sizeof *args);
    *at = (const Args *)g->args;
    return code != cudaSuccess ? code
                               : cudaMemcpyAsync(g->args, args, num * sizeof *args,
                                                 cudaMemcpyHostToDevice, g->stream);
}

/* ---- kernels: y of the grid is the SCF ------------------------------------------------------- */

#define FOR_EACH(index, count)                                                          \
    for (size_t index = blockIdx.x * (size_t)blockDim.x + threadIdx.x; index < (count); \
         index += (size_t)gridDim.x * blockDim.x)

typedef struct add_args {
    size_t count;
    double a, b;
    const double *x;
    double *y;
} add_args;

__global__ void __launch_bounds__(BLOCK) add(const add_args *all)
{
    const add_args q = all[blockIdx.y];
    FOR_EACH(i, q.count) q.y[i] = q.b == 0.0 ? q.a * q.x[i] : q.a * q.x[i] + q.b * q.y[i];
}

typedef struct fold_args {
    size_t n;
    double scale, sign;
    double *A;
} fold_args;

__global__ void __launch_bounds__(BLOCK) fold(const fold_args *all)
{
    const fold_args q = all[blockIdx.y];
    FOR_EACH(at, q.n * q.n)
    {
        const size_t i = at % q.n, j = at / q.n;
        if (i > j) continue;
        const double value = q.scale * (q.A[i + j * q.n] + q.sign * q.A[j + i * q.n]);
        q.A[i + j * q.n] = value;
        q.A[j + i * q.n] = q.sign * value;
    }
}

__global__ void __launch_bounds__(BLOCK) add_to_diagonal(const fold_args *all)
{
    const fold_args q = all[blockIdx.y];
    FOR_EACH(i, q.n) q.A[i + i * q.n] += q.scale;
}

typedef struct dots_args {
    size_t count;
    int m, at; /* vectors; where the results begin */
    const double *V, *x;
} dots_args;

typedef struct combine_args {
    size_t count;
    const double *V;
    double *out;
    int m;
    double c[FMO_SCF_DIIS_MAX];
} combine_args;

/* A sum over the threads of a block, in one order. */
__device__ double block_sum(double value)
{
    __shared__ double part[BLOCK];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if ((int)threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    return part[0];
}

/* x of the grid: the vector. */
__global__ void __launch_bounds__(BLOCK) dots(const dots_args *all, double *results)
{
    const dots_args q = all[blockIdx.y];
    if ((int)blockIdx.x >= q.m) return;
    const double *const v = q.V + (size_t)blockIdx.x * q.count;
    double sum = 0.0;
    for (size_t i = threadIdx.x; i < q.count; i += BLOCK) sum += v[i] * q.x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) results[q.at + (int)blockIdx.x] = sum;
}

__global__ void __launch_bounds__(BLOCK) combine(const combine_args *all)
{
    const combine_args &q = all[blockIdx.y];
    FOR_EACH(i, q.count)
    {
        double sum = 0.0;
        for (int v = 0; v < q.m; v++)
            if (q.c[v] != 0.0) sum += q.c[v] * q.V[(size_t)v * q.count + i];
        q.out[i] = sum;
    }
}

typedef struct bounds_args {
    int n, at;
    const double *A;
} bounds_args;

/* x of the grid: the column; its diagonal element, and the sum of the sizes of the others. */
__global__ void __launch_bounds__(BLOCK) bounds(const bounds_args *all, double *results)
{
    const bounds_args q = all[blockIdx.y];
    const int j = (int)blockIdx.x;
    if (j >= q.n) return;
    const double *const column = q.A + (size_t)j * (size_t)q.n;
    double sum = 0.0;
    for (int i = (int)threadIdx.x; i < q.n; i += BLOCK)
        if (i != j) sum += fabs(column[i]);
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        results[q.at + 2 * j] = column[j];
        results[q.at + 2 * j + 1] = sum;
    }
}

/* ---- requests of one kind ------------------------------------------------------------------- */

unsigned blocks_for(size_t count)
{
    const size_t blocks = (count + BLOCK - 1) / BLOCK;
    return (unsigned)(blocks < 1 ? 1 : blocks > blocks_most ? blocks_most : blocks);
}

/* Launches `kernel` for all; fill(request, args) returns how many elements it has. */
template <class Args, class Fill>
void launch(gpu_hands *g, const fmo_request *const *request, size_t num, const char *what,
            void (*kernel)(const Args *), const Fill &fill)
{
    Args *const args = (Args *)malloc(num * sizeof *args);
    const Args *at = NULL;
    size_t most = 0;
    if (!args) {
        fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        const size_t count = fill(request[k], &args[k]);
        if (count > most) most = count;
    }
    if (most && cuda_ok(request, num, send_args(g, args, num, &at), what)) {
        kernel<<<dim3(blocks_for(most), (unsigned)num), BLOCK, 0, g->stream>>>(at);
        (void)cuda_ok(request, num, cudaGetLastError(), what);
    }
    free(args);
}

/* `total` numbers of a launch to host memory that lasts until the next call; NULL after a fault. */
const double *bring(gpu_hands *g, const fmo_request *const *request, size_t num, size_t total,
                    const char *what)
{
    cudaError_t code = grow_pinned(g, total);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(g->pinned, g->results, total * sizeof *g->pinned,
                               cudaMemcpyDeviceToHost, g->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
    return cuda_ok(request, num, code, what) ? g->pinned : NULL;
}

void run_dots(gpu_hands *g, const fmo_request *const *request, size_t num)
{
    static const char what[] = "dot products";
    dots_args *const args = (dots_args *)malloc(num * sizeof *args);
    const dots_args *at = NULL;
    size_t total = 0;
    int most = 0;
    if (!args) {
        fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        args[k] = {request[k]->count, request[k]->m, (int)total, request[k]->A, request[k]->B};
        total += (size_t)request[k]->m;
        if (request[k]->m > most) most = request[k]->m;
    }
    if (most && cuda_ok(request, num, grow_results(g, total), what) &&
        cuda_ok(request, num, send_args(g, args, num, &at), what)) {
        dots<<<dim3((unsigned)most, (unsigned)num), BLOCK, 0, g->stream>>>(at, g->results);
        const double *const sums = cuda_ok(request, num, cudaGetLastError(), what)
                                       ? bring(g, request, num, total, what)
                                       : NULL;
        for (size_t k = 0; k < num && sums; k++)
            memcpy(request[k]->out, sums + args[k].at, (size_t)args[k].m * sizeof *sums);
    }
    free(args);
}

/* Arguments have room for FMO_SCF_DIIS_MAX factors. Only a search for the lowest eigenvalue has
 * more vectors, which are added one by one. */
void run_combine(gpu_hands *g, const fmo_request *const *request, size_t num)
{
    for (size_t k = 0; k < num; k++) {
        if (request[k]->m <= FMO_SCF_DIIS_MAX) continue;
        for (int v = 0; v < request[k]->m; v++) {
            fmo_request one = *request[k];
            const fmo_request *const at = &one;
            one.kind = FMO_REQUEST_ADD;
            one.alpha = request[k]->in[v];
            one.beta = v ? 1.0 : 0.0;
            one.A = request[k]->A + (size_t)v * one.count;
            launch(g, &at, 1, "combining", add, [](const fmo_request *q, add_args *a) {
                *a = {q->count, q->alpha, q->beta, q->A, q->C};
                return q->count;
            });
        }
    }
    launch(g, request, num, "combining", combine, [](const fmo_request *q, combine_args *a) {
        a->count = q->m <= FMO_SCF_DIIS_MAX ? q->count : 0;
        a->m = q->m;
        a->V = q->A;
        a->out = q->C;
        for (int v = 0; v < q->m && q->m <= FMO_SCF_DIIS_MAX; v++) a->c[v] = q->in[v];
        return a->count;
    });
}

void run_bounds(gpu_hands *g, const fmo_request *const *request, size_t num)
{
    static const char what[] = "bounds of the eigenvalues";
    bounds_args *const args = (bounds_args *)malloc(num * sizeof *args);
    const bounds_args *at = NULL;
    size_t total = 0;
    int most = 0;
    if (!args) {
        fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        args[k] = {request[k]->n, (int)total, request[k]->A};
        total += 2 * (size_t)request[k]->n;
        if (request[k]->n > most) most = request[k]->n;
    }
    const double *both = NULL;
    if (cuda_ok(request, num, grow_results(g, total), what) &&
        cuda_ok(request, num, send_args(g, args, num, &at), what)) {
        bounds<<<dim3((unsigned)most, (unsigned)num), BLOCK, 0, g->stream>>>(at, g->results);
        if (cuda_ok(request, num, cudaGetLastError(), what))
            both = bring(g, request, num, total, what);
    }
    for (size_t k = 0; k < num && both; k++) {
        const double *const own = both + args[k].at;
        double low = NAN, high = NAN, trace = 0.0;
        for (int i = 0; i < args[k].n; i++) {
            trace += own[2 * i];
            if (!(low <= own[2 * i] - own[2 * i + 1])) low = own[2 * i] - own[2 * i + 1];
            if (!(high >= own[2 * i] + own[2 * i + 1])) high = own[2 * i] + own[2 * i + 1];
        }
        *request[k]->out = low;
        *request[k]->out2 = high;
        *request[k]->out3 = trace;
    }
    free(args);
}

/* Products of equal sizes and factors are one call of cuBLAS. */
int by_shape(const void *x, const void *y)
{
    const fmo_request *const a = *(const fmo_request *const *)x;
    const fmo_request *const b = *(const fmo_request *const *)y;
    if (a->op_a != b->op_a) return a->op_a < b->op_a ? -1 : 1;
    if (a->op_b != b->op_b) return a->op_b < b->op_b ? -1 : 1;
    if (a->m != b->m) return a->m < b->m ? -1 : 1;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    if (a->k != b->k) return a->k < b->k ? -1 : 1;
    if (a->alpha != b->alpha) return a->alpha < b->alpha ? -1 : 1;
    if (a->beta != b->beta) return a->beta < b->beta ? -1 : 1;
    return 0;
}

typedef struct product_pointers {
    const double *A, *B;
    double *C;
} product_pointers;

/* Pointers on the GPU: all A, all B, all C. */
bool multiply_alike(gpu_hands *g, const fmo_request *const *request, size_t num,
                    const double **pointers)
{
    static const char what[] = "multiplying matrices";
    const fmo_request *const q = request[0];
    const double **at = NULL;
    for (size_t k = 0; k < num; k++) {
        pointers[k] = request[k]->A;
        pointers[num + k] = request[k]->B;
        pointers[2 * num + k] = request[k]->C;
    }
    if (!cuda_ok(request, num, send_args(g, pointers, 3 * num, (const double *const **)&at), what))
        return false;
    const int rows_a = q->op_a == 'T' ? q->k : q->m, rows_b = q->op_b == 'T' ? q->n : q->k;
    const cublasStatus_t code =
        cublasDgemmBatched(g->blas, q->op_a == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N,
                           q->op_b == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N, q->m, q->n, q->k, &q->alpha,
                           at, rows_a ? rows_a : 1, at + num, rows_b ? rows_b : 1, &q->beta,
                           (double **)(at + 2 * num), q->m, (int)num);
    if (code != CUBLAS_STATUS_SUCCESS)
        fail(request, num, FMO_ERR_DEVICE, what, cublasGetStatusString(code));
    return code == CUBLAS_STATUS_SUCCESS;
}

void run_multiply(gpu_hands *g, const fmo_request *const *request, size_t num)
{
    const fmo_request **const sorted = (const fmo_request **)malloc(num * sizeof *sorted);
    const double **const pointers = (const double **)malloc(3 * num * sizeof *pointers);
    size_t count = 0;
    if (!sorted || !pointers) {
        fail(request, num, FMO_ERR_MEMORY, "multiplying matrices", "no memory");
        num = 0;
    }
    for (size_t k = 0; k < num; k++)
        if (request[k]->m && request[k]->n) sorted[count++] = request[k];
    if (count) qsort(sorted, count, sizeof *sorted, by_shape);
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = begin + 1;
        while (end < count && by_shape(&sorted[begin], &sorted[end]) == 0) end++;
        (void)multiply_alike(g, sorted + begin, end - begin, pointers);
    }
    free(sorted);
    free(pointers);
}

void run_fock(const fmo_request *const *request, size_t num)
{
    fmo_fock_job *const jobs = (fmo_fock_job *)calloc(num, sizeof *jobs);
    if (!jobs) {
        fail(request, num, FMO_ERR_MEMORY, "builds", "no memory");
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

/* Matrices to the host, to its threads, and back. */
void run_on_host(gpu_hands *g, const fmo_request *const *request, size_t num)
{
    static const char what[] = "matrices for the host";
    size_t total = 0;
    fmo_request *const own = (fmo_request *)malloc(num * sizeof *own);
    const fmo_request **const at = (const fmo_request **)malloc(num * sizeof *at);
    for (size_t k = 0; k < num; k++) {
        const fmo_request *const q = request[k];
        const int gaps = q->kind == FMO_REQUEST_GAPS, scale = q->kind == FMO_REQUEST_SCALE;
        total += gaps || scale ? (size_t)q->m * (size_t)q->n : (size_t)q->n * (size_t)q->n;
    }
    if (!own || !at) fail(request, num, FMO_ERR_MEMORY, what, "no memory");
    bool ok = own && at && cuda_ok(request, num, grow_pinned(g, total), what);
    size_t place = 0;
    for (size_t k = 0; k < num && ok; k++) {
        const fmo_request *const q = request[k];
        const int gaps = q->kind == FMO_REQUEST_GAPS, scale = q->kind == FMO_REQUEST_SCALE;
        const size_t size =
            gaps || scale ? (size_t)q->m * (size_t)q->n : (size_t)q->n * (size_t)q->n;
        own[k] = *q;
        at[k] = &own[k];
        own[k].C = g->pinned + place;
        own[k].A = gaps ? own[k].C : NULL;
        own[k].count = size;
        ok = cuda_ok(request, num,
                     cudaMemcpyAsync(own[k].C, gaps ? q->A : q->C, size * sizeof *own[k].C,
                                     cudaMemcpyDeviceToHost, g->stream),
                     what);
        place += size;
    }
    ok = ok && cuda_ok(request, num, cudaStreamSynchronize(g->stream), what);
    if (ok) fmo_hands_on_host(g->la, g->base.threads, at, num);
    for (size_t k = 0; k < num && ok; k++)
        ok = cuda_ok(request, num,
                     cudaMemcpyAsync(request[k]->C, own[k].C, own[k].count * sizeof *own[k].C,
                                     cudaMemcpyHostToDevice, g->stream),
                     what);
    if (ok) (void)cuda_ok(request, num, cudaStreamSynchronize(g->stream), what);
    free(own);
    free(at);
}

/* Through page-locked memory, which the host's threads fill and empty. */
void run_copies(gpu_hands *g, const fmo_request *const *request, size_t num)
{
    static const char what[] = "copying";
    const bool up = request[0]->kind == FMO_REQUEST_UPLOAD;
    size_t *const begin = (size_t *)malloc((num + 1) * sizeof *begin);
    if (!begin) {
        fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return;
    }
    begin[0] = 0;
    for (size_t k = 0; k < num; k++) begin[k + 1] = begin[k] + request[k]->count;
    bool ok = cuda_ok(request, num, grow_pinned(g, begin[num]), what);
    if (ok && up) fmo_hands_stage(g->base.threads, request, num, begin, g->pinned);
    for (size_t k = 0; k < num && ok; k++) {
        double *const place = g->pinned + begin[k];
        const size_t bytes = request[k]->count * sizeof *place;
        ok = cuda_ok(
            request, num,
            up ? cudaMemcpyAsync(request[k]->C, place, bytes, cudaMemcpyHostToDevice, g->stream)
               : cudaMemcpyAsync(place, request[k]->A, bytes, cudaMemcpyDeviceToHost, g->stream),
            what);
    }
    ok = ok && cuda_ok(request, num, cudaStreamSynchronize(g->stream), what);
    if (ok && !up) fmo_hands_stage(g->base.threads, request, num, begin, g->pinned);
    free(begin);
}

void gpu_run(fmo_hands *hands, const fmo_request *const *request, size_t num)
{
    gpu_hands *const g = gpu_of(hands);
    switch (request[0]->kind) {
    case FMO_REQUEST_RELEASE:
        for (size_t k = 0; k < num; k++) (void)cudaFreeAsync(request[k]->C, g->stream);
        break;
    case FMO_REQUEST_ADD:
        launch(g, request, num, "adding", add, [](const fmo_request *q, add_args *a) {
            *a = {q->count, q->alpha, q->beta, q->A, q->C};
            return q->count;
        });
        break;
    case FMO_REQUEST_MULTIPLY:
        run_multiply(g, request, num);
        break;
    case FMO_REQUEST_FOLD:
        launch(g, request, num, "making symmetric", fold, [](const fmo_request *q, fold_args *a) {
            *a = {(size_t)q->n, q->alpha, q->beta, q->C};
            return a->n * a->n;
        });
        break;
    case FMO_REQUEST_DIAGONAL:
        launch(g, request, num, "adding to a diagonal", add_to_diagonal,
               [](const fmo_request *q, fold_args *a) {
                   *a = {(size_t)q->n, q->alpha, 0.0, q->C};
                   return a->n;
               });
        break;
    case FMO_REQUEST_FOCK:
        run_fock(request, num);
        break;
    case FMO_REQUEST_UPLOAD:
    case FMO_REQUEST_DOWNLOAD:
        run_copies(g, request, num);
        break;
    case FMO_REQUEST_DOTS:
        run_dots(g, request, num);
        break;
    case FMO_REQUEST_COMBINE:
        run_combine(g, request, num);
        break;
    case FMO_REQUEST_BOUNDS:
        run_bounds(g, request, num);
        break;
    case FMO_REQUEST_SCALE:
    case FMO_REQUEST_EIGEN:
    case FMO_REQUEST_INVERSE:
    case FMO_REQUEST_GAPS:
        run_on_host(g, request, num);
        break;
    case FMO_REQUEST_FINISH:
        (void)cuda_ok(request, num, cudaStreamSynchronize(g->stream), "waiting");
        break;
    case FMO_REQUEST_APART:
    case FMO_REQUEST_COUNT:
        break;
    }
}

double *gpu_allocate(fmo_hands *hands, size_t count, fmo_error *err)
{
    gpu_hands *const g = gpu_of(hands);
    const size_t bytes = (count ? count : 1) * sizeof(double);
    double *array = NULL;
    cudaError_t code = cudaMallocAsync((void **)&array, bytes, g->stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(array, 0, bytes, g->stream);
    if (code == cudaSuccess) return array;
    (void)cudaGetLastError(); /* not sticky */
    (void)fmo_error_set(err, code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                        "no GPU memory for the matrices of an SCF (%.3g GB at once): %s",
                        1e-9 * (double)bytes, cudaGetErrorString(code));
    return NULL;
}

void gpu_close(fmo_hands *hands)
{
    gpu_hands *const g = gpu_of(hands);
    if (g->stream) (void)cudaStreamSynchronize(g->stream);
    if (g->blas) (void)cublasDestroy(g->blas);
    if (g->args) (void)cudaFree(g->args);
    if (g->results) (void)cudaFree(g->results);
    if (g->pinned) (void)cudaFreeHost(g->pinned);
    if (g->stream) (void)cudaStreamDestroy(g->stream);
    if (g->pool) (void)cudaMemPoolTrimTo(g->pool, 0); /* plain allocations want it, too */
    fmo_hands_close_backends(g->la, g->base.threads);
    (void)cudaSetDevice(g->before);
    free(g);
}

const fmo_hands_ops operations = {"cuBLAS, kernels and LAPACK", 1, gpu_close, gpu_allocate,
                                  gpu_run};

/* What is freed stays with the pool while there are hands: SCFs and plans come and go. */
cudaError_t keep_memory(gpu_hands *g, int device)
{
    unsigned long long all = ~0ull;
    const cudaError_t code = cudaDeviceGetDefaultMemPool(&g->pool, device);
    return code != cudaSuccess
               ? code
               : cudaMemPoolSetAttribute(g->pool, cudaMemPoolAttrReleaseThreshold, &all);
}

cudaError_t open(gpu_hands *g, int device)
{
    cudaDeviceProp properties;
    cudaError_t code = cudaGetDevice(&g->before);
    if (device < 0) device = g->before;
    if (code == cudaSuccess) code = cudaSetDevice(device);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, device);
    if (code == cudaSuccess) code = cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = keep_memory(g, device);
    if (code == cudaSuccess)
        (void)snprintf(g->base.device, sizeof g->base.device, "%.95s", properties.name);
    return code;
}

} // namespace

extern "C" int fmo_hands_thread_gpu(void)
{
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

extern "C" fmo_status fmo_hands_open_gpu(int device, int threads, fmo_hands **hands, fmo_error *err)
{
    gpu_hands *const g = (gpu_hands *)calloc(1, sizeof *g);
    if (!g) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    g->base.ops = &operations;
    g->base.threads = threads > 0 ? threads : 1;
    fmo_error failure = {FMO_OK, ""};
    const cudaError_t code = open(g, device);
    if (code != cudaSuccess)
        (void)fmo_error_set(&failure, FMO_ERR_DEVICE, "SCFs on the GPU, choosing it: %s",
                            cudaGetErrorString(code));
    cublasStatus_t blas = CUBLAS_STATUS_SUCCESS;
    if (code == cudaSuccess) blas = cublasCreate(&g->blas);
    if (code == cudaSuccess && blas == CUBLAS_STATUS_SUCCESS)
        blas = cublasSetStream(g->blas, g->stream);
    if (blas == CUBLAS_STATUS_SUCCESS && g->blas)
        blas = cublasSetAtomicsMode(g->blas, CUBLAS_ATOMICS_NOT_ALLOWED);
    if (blas != CUBLAS_STATUS_SUCCESS)
        (void)fmo_error_set(&failure, FMO_ERR_DEVICE, "SCFs on the GPU, starting cuBLAS: %s",
                            cublasGetStatusString(blas));
    if (failure.status == FMO_OK) g->la = fmo_hands_open_backends(g->base.threads, &failure);
    if (failure.status != FMO_OK) {
        gpu_close(&g->base);
        return fmo_error_set(err, failure.status, "%s", failure.message);
    }
    g->base.stream = g->stream;
    *hands = &g->base;
    return FMO_OK;
}
