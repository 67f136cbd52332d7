/* The part of the GPU executor (lockstep_gpu.h) that uses cuBLAS and cuSOLVER: products of many
 * SCFs of any sizes in one call; purifications, which are products and steps that the GPU chooses;
 * and eigenproblems, many of one size in one call, the others in the threads of the host. */
#include "driver/scf/lockstep_gpu.h"
#include "driver/scf/tuning.h"

#include "accumulate/gpu/check.h"

#include <stdlib.h>
#include <string.h>

/* ---- products and purification --------------------------------------------------------------- */

namespace {

/* Sorts products so that those of equal sizes and factors, which form a group in cuBLAS, are
 * adjacent. */
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

cublasOperation_t operation(char op)
{
    return op == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* Arguments of a group in cuBLAS. */
typedef struct group {
    cublasOperation_t op_a, op_b;
    int m, n, k, rows_a, rows_b, count;
    double alpha, beta;
} group;

group group_of(const fmo_request *q, size_t count)
{
    group g = {operation(q->op_a), operation(q->op_b), q->m,   q->n, q->k, 0, 0,
               (int)count,         q->alpha,           q->beta};
    g.rows_a = q->op_a == 'T' ? q->k : q->m;
    g.rows_b = q->op_b == 'T' ? q->n : q->k;
    if (g.rows_a < 1) g.rows_a = 1;
    if (g.rows_b < 1) g.rows_b = 1;
    return g;
}

/* Groups of at least this size use cublasDgemmBatched if there is only one. */
enum { BATCHED_MIN = fmo_tuning_lockstep_product_group };

/* Multiplies one group. at: pointers to all A, then all B, then all C, `total` of each. */
cublasStatus_t multiply_alike(fmo_gpu_batch_linalg *h, const group *g, const double **at,
                              size_t total)
{
    return fmo_nvidia.cublasDgemmBatched(h->blas, g->op_a, g->op_b, g->m, g->n, g->k, &g->alpha, at,
                                         g->rows_a, at + total, g->rows_b, &g->beta,
                                         (double **)(at + 2 * total), g->m, g->count);
}

/* Multiplies all groups in one call, which runs products of different sizes concurrently: 6 to 9
 * times faster than one call per group if nearly all sizes differ (docs/log/scf.md, "Mode fused").
 * A single small group, as remains when other SCFs have ended, uses it too: the first use of the
 * other call loads kernels, which takes 45 ms. */
cublasStatus_t multiply_groups(fmo_gpu_batch_linalg *h, const group *all, size_t num,
                               const double **at, size_t total)
{
#if CUBLAS_VER_MAJOR * 100 + CUBLAS_VER_MINOR >= 1205
    if (num > 1 || all[0].count < BATCHED_MIN) {
        enum { INTS = 7 };
        int *const ints = (int *)malloc(num * INTS * sizeof *ints);
        double *const factors = (double *)malloc(num * 2 * sizeof *factors);
        cublasOperation_t *const ops = (cublasOperation_t *)malloc(num * 2 * sizeof *ops);
        cublasStatus_t code = CUBLAS_STATUS_ALLOC_FAILED;
        for (size_t g = 0; g < num && ints && factors && ops; g++) {
            const int own[INTS] = {all[g].m,      all[g].n, all[g].k,    all[g].rows_a,
                                   all[g].rows_b, all[g].m, all[g].count};
            for (size_t i = 0; i < INTS; i++) ints[i * num + g] = own[i];
            factors[g] = all[g].alpha;
            factors[num + g] = all[g].beta;
            ops[g] = all[g].op_a;
            ops[num + g] = all[g].op_b;
        }
        if (ints && factors && ops)
            code = fmo_nvidia.cublasDgemmGroupedBatched(
                h->blas, ops, ops + num, ints, ints + num, ints + 2 * num, factors, at,
                ints + 3 * num, at + total, ints + 4 * num, factors + num,
                (double **)(at + 2 * total), ints + 5 * num, (int)num, ints + 6 * num);
        free(ints);
        free(factors);
        free(ops);
        return code;
    }
#endif
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
    for (size_t g = 0, first = 0; g < num && code == CUBLAS_STATUS_SUCCESS; g++) {
        code = multiply_alike(h, &all[g], at + first, total);
        first += (size_t)all[g].count;
    }
    return code;
}

} // namespace

/* Sorts the products by shape, and multiplies all groups. */
void fmo_gpu_batch_linalg_multiply(fmo_gpu_batch_linalg *h, const fmo_request *const *request,
                                   size_t num)
{
    static const char what[] = "multiplying matrices";
    const fmo_request **const sorted = (const fmo_request **)malloc(num * sizeof *sorted);
    const double **const pointers = (const double **)malloc(3 * num * sizeof *pointers);
    group *const groups = (group *)malloc(num * sizeof *groups);
    size_t count = 0, group_num = 0;
    if (!sorted || !pointers || !groups) {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
        num = 0;
    }
    for (size_t k = 0; k < num; k++)
        if (request[k]->m && request[k]->n) sorted[count++] = request[k];
    if (count) qsort(sorted, count, sizeof *sorted, by_shape);
    for (size_t k = 0; k < count; k++) {
        pointers[k] = sorted[k]->A;
        pointers[count + k] = sorted[k]->B;
        pointers[2 * count + k] = sorted[k]->C;
    }
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = begin + 1;
        while (end < count && by_shape(&sorted[begin], &sorted[end]) == 0) end++;
        groups[group_num++] = group_of(sorted[begin], end - begin);
    }
    const void *sent = NULL;
    if (count &&
        fmo_gpu_batch_linalg_ok(
            sorted, count,
            fmo_gpu_batch_linalg_send(h, pointers, 3 * count * sizeof *pointers, &sent), what)) {
        const cublasStatus_t code =
            multiply_groups(h, groups, group_num, (const double **)sent, count);
        if (code != CUBLAS_STATUS_SUCCESS)
            fmo_gpu_batch_linalg_fail(
                sorted, count, code == CUBLAS_STATUS_ALLOC_FAILED ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                what, fmo_nvidia.cublasGetStatusString(code));
    }
    free(sorted);
    free(pointers);
    free(groups);
}

namespace {

/* Purifications whose steps the GPU chooses. The host checks them only after STEPS_FIRST steps, as
 * many as nearly all need, and then after every STEPS_NEXT. Some products are wasted, but checking
 * after each step, with its launches and copies, takes longer. */
enum {
    STEPS_FIRST = fmo_tuning_lockstep_purify_first,
    STEPS_NEXT = fmo_tuning_lockstep_purify_next
};

typedef struct purifying {
    const fmo_request **left;    /* [num] unfinished requests; equal sizes are adjacent */
    fmo_gpu_sp2 *state;          /* [requests] in host memory, by index */
    size_t *place;               /* [num] indices of the unfinished requests */
    group *groups;               /* [num] */
    char *sent;                  /* pointers for the products, then arguments of the steps */
    fmo_gpu_sp2 *before, *after; /* [requests] in GPU memory */
} purifying;

/* Runs `steps` steps of the `num` unfinished purifications. */
cudaError_t purify_steps(fmo_gpu_batch_linalg *g, purifying *p, size_t num, int steps,
                         cublasStatus_t *status)
{
    const double **const pointers = (const double **)p->sent;
    fmo_gpu_sp2_args *const args = (fmo_gpu_sp2_args *)(p->sent + 3 * num * sizeof *pointers);
    size_t group_num = 0;
    int largest = 0;
    for (size_t k = 0; k < num; k++) {
        const fmo_request *const q = p->left[k];
        pointers[k] = pointers[num + k] = q->C;
        pointers[2 * num + k] = q->D;
        args[k] = {q->C, q->D, q->n, (int)p->place[k]};
        if (q->n > largest) largest = q->n;
        if (!k || q->n != p->left[k - 1]->n) {
            fmo_request square = *q;
            square.op_a = square.op_b = 'N';
            square.m = square.k = q->n;
            square.alpha = 1.0;
            square.beta = 0.0;
            p->groups[group_num++] = group_of(&square, 0);
        }
        p->groups[group_num - 1].count++;
    }
    const void *sent = NULL;
    cudaError_t code =
        fmo_gpu_batch_linalg_send(g, p->sent, num * (3 * sizeof *pointers + sizeof *args), &sent);
    const fmo_gpu_sp2_args *const at =
        (const fmo_gpu_sp2_args *)((const char *)sent + 3 * num * sizeof *pointers);
    for (int step = 0; step < steps && code == cudaSuccess; step++) {
        *status = multiply_groups(g, p->groups, group_num, (const double **)sent, num);
        if (*status != CUBLAS_STATUS_SUCCESS) return cudaSuccess;
        code = fmo_gpu_batch_linalg_sp2(g, at, num, largest, p->before, p->after);
        fmo_gpu_sp2 *const swap = p->before;
        p->before = p->after;
        p->after = swap;
    }
    return code;
}

/* Repeats steps until no purification is unfinished. */
cudaError_t purify_all(fmo_gpu_batch_linalg *g, purifying *p, size_t num, cublasStatus_t *status)
{
    const size_t all = num, bytes = num * sizeof *p->state;
    FMO_GPU_TRY(fmo_gpu_batch_linalg_grow_results(g, 2 * bytes / sizeof(double) + 1));
    FMO_GPU_TRY(fmo_gpu_batch_linalg_grow_pinned(g, bytes / sizeof(double) + 1));
    p->before = (fmo_gpu_sp2 *)g->results;
    p->after = p->before + all;
    FMO_GPU_TRY(cudaMemcpyAsync(p->before, p->state, bytes, cudaMemcpyHostToDevice, g->stream));
    for (int steps = STEPS_FIRST; num; steps = STEPS_NEXT) {
        FMO_GPU_TRY(purify_steps(g, p, num, steps, status));
        if (*status != CUBLAS_STATUS_SUCCESS) return cudaSuccess;
        FMO_GPU_TRY(
            cudaMemcpyAsync(g->pinned, p->before, bytes, cudaMemcpyDeviceToHost, g->stream));
        FMO_GPU_TRY(cudaStreamSynchronize(g->stream));
        memcpy(p->state, g->pinned, bytes);
        size_t left = 0;
        for (size_t k = 0; k < num; k++) {
            const fmo_sp2_next next = p->state[p->place[k]].next;
            *p->left[k]->positive = next == FMO_SP2_DONE;
            if (next != FMO_SP2_SQUARE && next != FMO_SP2_DOUBLE) continue;
            p->left[left] = p->left[k];
            p->place[left++] = p->place[k];
        }
        num = left;
    }
    return cudaSuccess;
}

} // namespace

/* Runs all purifications step by step together; finished ones are removed at the next check. */
void fmo_gpu_batch_linalg_purify(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                 size_t num)
{
    static const char what[] = "purification";
    purifying p = {};
    p.left = (const fmo_request **)malloc(num * sizeof *p.left);
    p.state = (fmo_gpu_sp2 *)malloc(num * sizeof *p.state);
    p.place = (size_t *)malloc(num * sizeof *p.place);
    p.groups = (group *)malloc(num * sizeof *p.groups);
    p.sent = (char *)malloc(num * (3 * sizeof(double *) + sizeof(fmo_gpu_sp2_args)));
    for (size_t k = 0; k < num; k++) *request[k]->positive = 0;
    if (p.left && p.state && p.place && p.groups && p.sent) {
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
        for (size_t k = 0; k < num; k++) p.left[k] = request[k];
        fmo_gpu_batch_linalg_sort(p.left, num);
        for (size_t k = 0; k < num; k++) {
            p.place[k] = k;
            p.state[k] = {{p.left[k]->alpha, 0.0, p.left[k]->k, 0}, FMO_SP2_SQUARE};
        }
        const cudaError_t code = purify_all(g, &p, num, &status);
        (void)fmo_gpu_batch_linalg_ok(request, num, code, what);
        if (status != CUBLAS_STATUS_SUCCESS)
            fmo_gpu_batch_linalg_fail(request, num,
                                      status == CUBLAS_STATUS_ALLOC_FAILED ? FMO_ERR_MEMORY
                                                                           : FMO_ERR_DEVICE,
                                      what, fmo_nvidia.cublasGetStatusString(status));
    } else {
        fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
    }
    free(p.left);
    free(p.state);
    free(p.place);
    free(p.groups);
    free(p.sent);
}

/* ---- eigenproblems --------------------------------------------------------------------------- */

namespace {

/* Smallest number of matrices of one size, and smallest size, for cuSOLVER: 250 matrices of 104
 * functions take cuSOLVER 2.6 ms and 16 threads of a host 68 ms, but a few matrices take cuSOLVER
 * as long as many, and its start-up takes longer than small matrices take on the host
 * (docs/log/scf.md, "Many molecules"). */
enum {
    ALIKE_MIN = fmo_tuning_lockstep_eigen_alike,
    FUNCTIONS_MIN = fmo_tuning_lockstep_eigen_functions
};

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
        if (end - begin >= ALIKE_MIN && sorted[begin]->n >= FUNCTIONS_MIN &&
            solve_alike(g, sorted + begin, end - begin))
            continue;
        for (size_t k = begin; k < end; k++) sorted[left++] = sorted[k];
    }
    if (left) fmo_gpu_batch_linalg_on_host(g, sorted, left);
    free(sorted);
}
