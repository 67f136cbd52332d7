/* Kernels of lockstep_gpu.h that run one operation for many SCFs, each with its own sizes, and
 * their launches. */
#include "driver/scf/lockstep_gpu.h"
#include "driver/scf/tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace {

enum { BLOCK = fmo_tuning_scf_gpu_threads };
const size_t blocks_max = fmo_tuning_lockstep_matrix_blocks;

/* ---- kernels: blockIdx.y is the request ---------------------------------------------------- */

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

/* factor: position of the first factor in the array of all factors. */
typedef struct scale_args {
    size_t rows, columns, factor;
    double *A;
} scale_args;

__global__ void __launch_bounds__(BLOCK) scale_columns(const scale_args *all, const double *factors)
{
    const scale_args q = all[blockIdx.y];
    FOR_EACH(at, q.rows * q.columns) q.A[at] *= factors[q.factor + at / q.rows];
}

typedef struct dots_args {
    size_t count;
    int m, at; /* number of vectors; position of the results */
    const double *V, *x;
} dots_args;

typedef struct combine_args {
    size_t count;
    const double *V;
    double *out;
    int m;
    double c[FMO_SCF_DIIS_MAX];
} combine_args;

/* Sum over the threads of a block, in a fixed order. */
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

/* blockIdx.x is the vector. */
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

/* blockIdx.x is the column: its diagonal element, and the sum of the absolute values of the
 * others. */
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

/* One SP2 step: every block computes the trace of P^2 and from it the next step (purify.h), then
 * updates its elements of P. */
__global__ void __launch_bounds__(BLOCK)
    sp2_step(const fmo_gpu_sp2_args *all, const fmo_gpu_sp2 *before, fmo_gpu_sp2 *after)
{
    const fmo_gpu_sp2_args q = all[blockIdx.y];
    const size_t n = (size_t)q.n;
    fmo_gpu_sp2 s = before[q.at];
    if (s.next == FMO_SP2_SQUARE || s.next == FMO_SP2_DOUBLE) {
        double sum = 0.0;
        for (size_t i = threadIdx.x; i < n; i += BLOCK) sum += q.square[i + i * n];
        s.sp2.square = block_sum(sum);
        s.next = fmo_sp2_decide(&s.sp2);
        if (s.next == FMO_SP2_SQUARE)
            FOR_EACH(i, n * n) q.P[i] = q.square[i];
        else if (s.next == FMO_SP2_DOUBLE)
            FOR_EACH(i, n * n) q.P[i] = 2.0 * q.P[i] - q.square[i];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) after[q.at] = s;
}

/* ---- launches ------------------------------------------------------------------------------- */

unsigned blocks_for(size_t count)
{
    const size_t blocks = (count + BLOCK - 1) / BLOCK;
    return (unsigned)(blocks < 1 ? 1 : blocks > blocks_max ? blocks_max : blocks);
}

/* Launches `kernel` for all requests; fill(request, args) sets the arguments and returns the number
 * of elements. */
template <class Args, class Fill>
void launch(fmo_gpu_batch_linalg *g, const fmo_request *const *request, size_t num,
            const char *what, void (*kernel)(const Args *), const Fill &fill)
{
    Args *const args = (Args *)malloc(num * sizeof *args);
    const void *at = NULL;
    size_t largest = 0;
    if (!args) {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        const size_t count = fill(request[k], &args[k]);
        if (count > largest) largest = count;
    }
    if (largest &&
        fmo_gpu_batch_linalg_ok(
            request, num, fmo_gpu_batch_linalg_send(g, args, num * sizeof *args, &at), what)) {
        kernel<<<dim3(blocks_for(largest), (unsigned)num), BLOCK, 0, g->stream>>>((const Args *)at);
        (void)fmo_gpu_batch_linalg_ok(request, num, cudaGetLastError(), what);
    }
    free(args);
}

/* Copies `total` numbers of a launch to host memory, which is valid until the next call; NULL after
 * an error. */
const double *copy_to_host(fmo_gpu_batch_linalg *g, const fmo_request *const *request, size_t num,
                           size_t total, const char *what)
{
    cudaError_t code = fmo_gpu_batch_linalg_grow_pinned(g, total);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(g->pinned, g->results, total * sizeof *g->pinned,
                               cudaMemcpyDeviceToHost, g->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
    return fmo_gpu_batch_linalg_ok(request, num, code, what) ? g->pinned : NULL;
}

/* Launches `kernel` for all requests, with blockIdx.x up to the largest count that fill(request,
 * first, args) returns, and copies the results to the host: `each` numbers per blockIdx.x, those of
 * a request consecutively from index `first`. NULL if there are none, or after an error. */
template <class Args, class Fill>
const double *launch_and_copy(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                              size_t num, const char *what, size_t each,
                              void (*kernel)(const Args *, double *), const Fill &fill)
{
    Args *const args = (Args *)malloc(num * sizeof *args);
    const void *at = NULL;
    const double *found = NULL;
    size_t total = 0;
    int largest = 0;
    if (!args) {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return NULL;
    }
    for (size_t k = 0; k < num; k++) {
        const int count = fill(request[k], (int)total, &args[k]);
        total += each * (size_t)count;
        if (count > largest) largest = count;
    }
    if (largest &&
        fmo_gpu_batch_linalg_ok(request, num, fmo_gpu_batch_linalg_grow_results(g, total), what) &&
        fmo_gpu_batch_linalg_ok(
            request, num, fmo_gpu_batch_linalg_send(g, args, num * sizeof *args, &at), what)) {
        kernel<<<dim3((unsigned)largest, (unsigned)num), BLOCK, 0, g->stream>>>((const Args *)at,
                                                                                g->results);
        if (fmo_gpu_batch_linalg_ok(request, num, cudaGetLastError(), what))
            found = copy_to_host(g, request, num, total, what);
    }
    free(args);
    return found;
}

size_t add_of(const fmo_request *q, add_args *a)
{
    *a = {q->count, q->alpha, q->beta, q->A, q->C};
    return q->count;
}

} // namespace

void fmo_gpu_batch_linalg_add(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                              size_t num)
{
    launch(g, request, num, "adding", add, add_of);
}

void fmo_gpu_batch_linalg_fold(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                               size_t num)
{
    launch(g, request, num, "making symmetric", fold, [](const fmo_request *q, fold_args *a) {
        *a = {(size_t)q->n, q->alpha, q->beta, q->C};
        return a->n * a->n;
    });
}

void fmo_gpu_batch_linalg_diagonal(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                   size_t num)
{
    launch(g, request, num, "adding to a diagonal", add_to_diagonal,
           [](const fmo_request *q, fold_args *a) {
               *a = {(size_t)q->n, q->alpha, 0.0, q->C};
               return a->n;
           });
}

/* Sends arguments and factors in one copy, and scales all matrices. */
void fmo_gpu_batch_linalg_scale(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                size_t num)
{
    static const char what[] = "scaling";
    size_t factors = 0, largest = 0, used = 0;
    for (size_t k = 0; k < num; k++) factors += (size_t)request[k]->n;
    const size_t args_bytes = num * sizeof(scale_args);
    scale_args *const args = (scale_args *)malloc(args_bytes + factors * sizeof(double));
    double *const all = (double *)(args + num);
    const void *at = NULL;
    if (!args) {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        return;
    }
    for (size_t k = 0; k < num; k++) {
        const fmo_request *const q = request[k];
        args[k].rows = (size_t)q->m;
        args[k].columns = (size_t)q->n;
        args[k].factor = used;
        args[k].A = q->C;
        memcpy(all + used, q->in, args[k].columns * sizeof *all);
        used += args[k].columns;
        if (args[k].rows * args[k].columns > largest) largest = args[k].rows * args[k].columns;
    }
    if (largest &&
        fmo_gpu_batch_linalg_ok(
            request, num, fmo_gpu_batch_linalg_send(g, args, args_bytes + used * sizeof *all, &at),
            what)) {
        scale_columns<<<dim3(blocks_for(largest), (unsigned)num), BLOCK, 0, g->stream>>>(
            (const scale_args *)at, (const double *)((const char *)at + args_bytes));
        (void)fmo_gpu_batch_linalg_ok(request, num, cudaGetLastError(), what);
    }
    free(args);
}

void fmo_gpu_batch_linalg_dots(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                               size_t num)
{
    const double *sums = launch_and_copy(g, request, num, "dot products", 1, dots,
                                         [](const fmo_request *q, int first, dots_args *a) {
                                             *a = {q->count, q->m, first, q->A, q->B};
                                             return q->m;
                                         });
    for (size_t k = 0; k < num && sums; sums += request[k]->m, k++)
        memcpy(request[k]->out, sums, (size_t)request[k]->m * sizeof *sums);
}

/* Arguments hold up to FMO_SCF_DIIS_MAX factors. Only the stability analysis has more vectors,
 * which are added one by one. */
void fmo_gpu_batch_linalg_combine(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                  size_t num)
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
            launch(g, &at, 1, "combining", add, add_of);
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

/* Bounds of the eigenvalues (Gershgorin's circles) and trace of each matrix: sums of columns on the
 * GPU, the rest on the host. */
void fmo_gpu_batch_linalg_bounds(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                 size_t num)
{
    const double *own = launch_and_copy(g, request, num, "bounds of the eigenvalues", 2, bounds,
                                        [](const fmo_request *q, int first, bounds_args *a) {
                                            *a = {q->n, first, q->A};
                                            return q->n;
                                        });
    for (size_t k = 0; k < num && own; own += 2 * request[k]->n, k++) {
        double low = NAN, high = NAN, trace = 0.0;
        for (int i = 0; i < request[k]->n; i++) {
            trace += own[2 * i];
            if (!(low <= own[2 * i] - own[2 * i + 1])) low = own[2 * i] - own[2 * i + 1];
            if (!(high >= own[2 * i] + own[2 * i + 1])) high = own[2 * i] + own[2 * i + 1];
        }
        *request[k]->out = low;
        *request[k]->out2 = high;
        *request[k]->out3 = trace;
    }
}

cudaError_t fmo_gpu_batch_linalg_sp2(const fmo_gpu_batch_linalg *g, const fmo_gpu_sp2_args *args,
                                     size_t num, int n, const fmo_gpu_sp2 *before,
                                     fmo_gpu_sp2 *after)
{
    const size_t each =
        16; /* elements per thread; the loop over them then dominates that over the diagonal */
    const unsigned blocks = blocks_for((size_t)n * (size_t)n / each);
    sp2_step<<<dim3(blocks, (unsigned)num), BLOCK, 0, g->stream>>>(args, before, after);
    return cudaGetLastError();
}
