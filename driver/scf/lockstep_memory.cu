/* Memory of the executor of lockstep.h on a GPU: arguments and results of launches, a pool of
 * pinned memory, and requests whose numbers pass through it, in portions. */
#include "driver/scf/lockstep_gpu.h"
#include "driver/scf/tuning.h"

#include <stdlib.h>

void fmo_gpu_batch_linalg_fail(const fmo_request *const *request, size_t num, fmo_status status,
                               const char *what, const char *why)
{
    for (size_t k = 0; k < num; k++)
        if (request[k]->la->error.status == FMO_OK)
            (void)fmo_error_set(&request[k]->la->error, status, "SCFs on the GPU, %s: %s", what,
                                why);
}

bool fmo_gpu_batch_linalg_ok(const fmo_request *const *request, size_t num, cudaError_t code,
                             const char *what)
{
    if (code == cudaSuccess) return true;
    fmo_gpu_batch_linalg_fail(request, num,
                              code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                              what, cudaGetErrorString(code));
    return false;
}

static cudaError_t grow_args(fmo_gpu_batch_linalg *g, size_t bytes)
{
    if (bytes <= g->args_bytes) return cudaSuccess;
    if (g->args) (void)cudaFreeAsync(g->args, g->stream);
    g->args = NULL;
    g->args_bytes = 0;
    const cudaError_t code = cudaMallocAsync((void **)&g->args, 2 * bytes, g->stream);
    if (code == cudaSuccess) g->args_bytes = 2 * bytes;
    return code;
}

cudaError_t fmo_gpu_batch_linalg_grow_results(fmo_gpu_batch_linalg *g, size_t num)
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

/* Numbers in a portion, 16 MB. */
static const size_t portion = fmo_tuning_lockstep_portion;

/* Pinned memory that closed executors leave to later ones, until the process ends: allocating 16 MB
 * takes the driver 8 ms and blocks all threads. Larger pieces are freed. */
enum { SPARES = fmo_tuning_lockstep_spares };
static struct {
    pthread_mutex_t lock;
    double *memory[SPARES]; /* entries may be NULL */
    size_t num[SPARES];
} spare = {PTHREAD_MUTEX_INITIALIZER, {}, {}};

/* Puts the pinned memory into the pool; nothing queued may use it any more. If the pool is full,
 * the smallest piece is freed. */
void fmo_gpu_batch_linalg_leave_pinned(fmo_gpu_batch_linalg *g)
{
    double *left = g->pinned;
    size_t num = g->pinned_num;
    if (num <= portion) {
        (void)pthread_mutex_lock(&spare.lock);
        for (int k = 0; k < SPARES && left; k++) {
            if (spare.memory[k] && spare.num[k] >= num) continue;
            double *const other = spare.memory[k];
            const size_t other_num = spare.num[k];
            spare.memory[k] = left;
            spare.num[k] = num;
            left = other;
            num = other_num;
        }
        (void)pthread_mutex_unlock(&spare.lock);
    }
    if (left) (void)cudaFreeHost(left);
    g->pinned = NULL;
    g->pinned_num = 0;
}

/* Takes the smallest sufficient piece from the pool, if there is one. */
static void take_pinned(fmo_gpu_batch_linalg *g, size_t num)
{
    int best = -1;
    (void)pthread_mutex_lock(&spare.lock);
    for (int k = 0; k < SPARES; k++)
        if (spare.memory[k] && spare.num[k] >= num && (best < 0 || spare.num[k] < spare.num[best]))
            best = k;
    if (best >= 0) {
        g->pinned = spare.memory[best];
        g->pinned_num = spare.num[best];
        spare.memory[best] = NULL;
    }
    (void)pthread_mutex_unlock(&spare.lock);
}

static void free_spares(void)
{
    (void)pthread_mutex_lock(&spare.lock);
    for (int k = 0; k < SPARES; k++) {
        if (spare.memory[k]) (void)cudaFreeHost(spare.memory[k]);
        spare.memory[k] = NULL;
    }
    (void)pthread_mutex_unlock(&spare.lock);
}

static cudaError_t alloc_pinned(fmo_gpu_batch_linalg *g, size_t num)
{
    const cudaError_t code =
        cudaHostAlloc((void **)&g->pinned, num * sizeof *g->pinned, cudaHostAllocPortable);
    if (code == cudaSuccess)
        g->pinned_num = num;
    else
        (void)cudaGetLastError(); /* clears the error: the next call must not see it */
    return code;
}

/* Makes sure that g->pinned holds `num` numbers: from the pool, by a new allocation that is larger
 * than needed, or after emptying the pool. */
cudaError_t fmo_gpu_batch_linalg_grow_pinned(fmo_gpu_batch_linalg *g, size_t num)
{
    if (num <= g->pinned_num) return cudaSuccess;
    const cudaError_t code = g->pinned ? cudaStreamSynchronize(g->stream) : cudaSuccess;
    if (code != cudaSuccess) return code;
    fmo_gpu_batch_linalg_leave_pinned(g);
    take_pinned(g, num);
    if (g->pinned) return cudaSuccess;
    /* a later request may be larger */
    const size_t more = num > portion / 8 && num < portion / 2 ? 2 * num : portion;
    if (num > portion / 8 && num < portion && alloc_pinned(g, more) == cudaSuccess)
        return cudaSuccess;
    if (alloc_pinned(g, num) == cudaSuccess) return cudaSuccess;
    free_spares();
    return alloc_pinned(g, num);
}

cudaError_t fmo_gpu_batch_linalg_send(fmo_gpu_batch_linalg *g, const void *args, size_t bytes,
                                      const void **at)
{
    const cudaError_t code = grow_args(g, bytes);
    *at = g->args;
    return code != cudaSuccess
               ? code
               : cudaMemcpyAsync(g->args, args, bytes, cudaMemcpyHostToDevice, g->stream);
}

static int by_functions(const void *x, const void *y)
{
    const fmo_request *const a = *(const fmo_request *const *)x;
    const fmo_request *const b = *(const fmo_request *const *)y;
    return (a->n > b->n) - (a->n < b->n);
}

void fmo_gpu_batch_linalg_sort(const fmo_request **request, size_t num)
{
    qsort(request, num, sizeof *request, by_functions);
}

/* Returns how many numbers a request copies between GPU and host, in one direction or both. */
static size_t moved_count(const fmo_request *q)
{
    if (q->kind == FMO_REQUEST_UPLOAD || q->kind == FMO_REQUEST_DOWNLOAD) return q->count;
    if (q->kind == FMO_REQUEST_GAPS) return (size_t)q->m * (size_t)q->n;
    return (size_t)q->n * (size_t)q->n;
}

/* Runs requests of one kind in portions of up to 16 MB, which are quickly allocated and stay in the
 * host's caches, or of one request. After a failed portion the remaining requests get the same
 * error. */
void fmo_gpu_batch_linalg_in_portions(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                      size_t num, const char *what, fmo_portion_work *work)
{
    size_t *const begin = (size_t *)malloc((num + 1) * sizeof *begin);
    if (!begin) return fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
    size_t done = 0;
    for (bool ok = true; done < num && ok;) {
        const fmo_request *const *const first = request + done;
        size_t some = 0;
        begin[0] = 0;
        while (done + some < num &&
               (some == 0 || begin[some] + moved_count(first[some]) <= portion)) {
            begin[some + 1] = begin[some] + moved_count(first[some]);
            some++;
        }
        ok = work(g, first, some, begin);
        done += some;
    }
    for (size_t k = done; k < num; k++)
        if (request[k]->la->error.status == FMO_OK)
            request[k]->la->error = request[done - 1]->la->error;
    free(begin);
}

/* Runs requests on the host: copies their matrices to pinned memory, runs them in host threads, and
 * copies the results back. */
static bool portion_on_host(fmo_gpu_batch_linalg *g, const fmo_request *const *request, size_t num,
                            const size_t *begin)
{
    static const char what[] = "matrices for the host";
    fmo_request *const own = (fmo_request *)malloc(num * sizeof *own);
    const fmo_request **const at = (const fmo_request **)malloc(num * sizeof *at);
    bool ok = own && at;
    if (!ok) fmo_gpu_batch_linalg_fail(request, num, FMO_ERR_MEMORY, what, "no memory");
    ok = ok && fmo_gpu_batch_linalg_ok(request, num,
                                       fmo_gpu_batch_linalg_grow_pinned(g, begin[num]), what);
    for (size_t k = 0; k < num && ok; k++) {
        const fmo_request *const q = request[k];
        const bool gaps = q->kind == FMO_REQUEST_GAPS;
        own[k] = *q;
        at[k] = &own[k];
        own[k].C = g->pinned + begin[k];
        own[k].A = gaps ? own[k].C : NULL;
        own[k].count = begin[k + 1] - begin[k];
        ok = fmo_gpu_batch_linalg_ok(request, num,
                                     cudaMemcpyAsync(own[k].C, gaps ? q->A : q->C,
                                                     own[k].count * sizeof *own[k].C,
                                                     cudaMemcpyDeviceToHost, g->stream),
                                     what);
    }
    ok = ok && fmo_gpu_batch_linalg_ok(request, num, cudaStreamSynchronize(g->stream), what);
    if (ok) fmo_batch_linalg_on_host(g->la, g->base.threads, at, num);
    for (size_t k = 0; k < num && ok; k++)
        ok = fmo_gpu_batch_linalg_ok(request, num,
                                     cudaMemcpyAsync(request[k]->C, own[k].C,
                                                     own[k].count * sizeof *own[k].C,
                                                     cudaMemcpyHostToDevice, g->stream),
                                     what);
    ok = ok && fmo_gpu_batch_linalg_ok(request, num, cudaStreamSynchronize(g->stream), what);
    free(own);
    free(at);
    return ok;
}

void fmo_gpu_batch_linalg_on_host(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                  size_t num)
{
    fmo_gpu_batch_linalg_in_portions(g, request, num, "matrices for the host", portion_on_host);
}
