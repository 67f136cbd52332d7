/* The executor of lockstep.h on the host: each request runs in the backend of a single SCF, so that
 * results are bit for bit those of an SCF alone. Requests other than Fock builds run in parallel,
 * one per thread. The GPU executor uses these functions, too. */
#include "driver/scf/lockstep.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct host_executor {
    fmo_batch_linalg base;
    fmo_linalg **la; /* [threads] */
} host_executor;

static void host_close(fmo_batch_linalg *executor)
{
    host_executor *const h = (host_executor *)executor;
    fmo_batch_linalg_close_backends(h->la, h->base.threads);
    free(h);
}

/* Moves an error of a backend of the executor to the SCF that made the request. */
static void move_error(fmo_linalg *la, fmo_error *err)
{
    if (la->error.status == FMO_OK) return;
    *err = la->error;
    la->error = (fmo_error){FMO_OK, ""};
}

static double *host_allocate(fmo_batch_linalg *executor, size_t count, fmo_error *err)
{
    const host_executor *const h = (const host_executor *)executor;
    double *const array = h->la[0]->ops->allocate(h->la[0], count);
    move_error(h->la[0], err);
    return array;
}

/* Runs one request in a backend; HOST and FINISH need no work. */
static void do_one(fmo_linalg *la, const fmo_request *q)
{
    const fmo_linalg_ops *const op = la->ops;
    switch (q->kind) {
    case FMO_REQUEST_RELEASE:
        op->release(la, q->C);
        break;
    case FMO_REQUEST_ADD:
        op->add(la, q->count, q->alpha, q->A, q->beta, q->C);
        break;
    case FMO_REQUEST_MULTIPLY:
        op->multiply(la, q->alpha, (fmo_matrix){q->A, q->m, q->k, q->op_a == 'T'},
                     (fmo_matrix){q->B, q->k, q->n, q->op_b == 'T'}, q->beta, q->C);
        break;
    case FMO_REQUEST_FOLD:
        op->fold(la, q->n, q->alpha, q->beta, q->C);
        break;
    case FMO_REQUEST_DIAGONAL:
        op->add_to_diagonal(la, q->n, q->alpha, q->C);
        break;
    case FMO_REQUEST_FOCK:
        op->fock(la, q->plan, q->A, q->C, q->D);
        break;
    case FMO_REQUEST_UPLOAD:
        op->upload(la, q->count, q->in, q->C);
        break;
    case FMO_REQUEST_DOWNLOAD:
        op->download(la, q->count, q->A, q->out);
        break;
    case FMO_REQUEST_SCALE:
        op->scale_columns(la, q->m, q->n, q->in, q->C);
        break;
    case FMO_REQUEST_DOTS:
        op->dots(la, q->count, q->m, q->A, q->B, q->out);
        break;
    case FMO_REQUEST_COMBINE:
        op->combine(la, q->count, q->m, q->A, q->in, q->C);
        break;
    case FMO_REQUEST_EIGEN:
        op->eigen(la, q->n, q->C, q->out);
        break;
    case FMO_REQUEST_INVERSE:
        *q->positive = op->inverse_cholesky(la, q->n, q->C);
        break;
    case FMO_REQUEST_BOUNDS:
        op->bounds(la, q->n, q->A, q->out, q->out2, q->out3);
        break;
    case FMO_REQUEST_PURIFY:
        *q->positive = op->purify(la, q->n, q->k, q->alpha, q->C, q->D);
        break;
    case FMO_REQUEST_GAPS:
        op->gaps(la, &(fmo_orbital_gaps){q->in, q->in2, q->m, q->n, q->alpha}, q->divide, q->A,
                 q->C);
        break;
    case FMO_REQUEST_GRADIENT:
        (void)fmo_fock_gradient(q->plan, q->terms, q->m, q->out, &la->error);
        break;
    case FMO_REQUEST_HOST:
    case FMO_REQUEST_FINISH:
    case FMO_REQUEST_COUNT:
        break;
    }
}

void fmo_batch_linalg_on_host(fmo_linalg *const *la, int threads, const fmo_request *const *request,
                              size_t num)
{
    if ((size_t)threads > num) threads = (int)num;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t k = 0; k < num; k++) {
        fmo_linalg *const own = la[omp_get_thread_num()];
        do_one(own, request[k]);
        move_error(own, &request[k]->la->error);
    }
}

void fmo_batch_linalg_stage(int threads, const fmo_request *const *request, size_t num,
                            const size_t *begin, double *stage)
{
    if ((size_t)threads > num) threads = (int)num;
#pragma omp parallel for num_threads(threads)
    for (size_t k = 0; k < num; k++) {
        const fmo_request *const q = request[k];
        if (q->kind == FMO_REQUEST_UPLOAD)
            memcpy(stage + begin[k], q->in, q->count * sizeof *stage);
        else
            memcpy(q->out, stage + begin[k], q->count * sizeof *stage);
    }
}

static void host_run(fmo_batch_linalg *executor, const fmo_request *const *request, size_t num)
{
    const host_executor *const h = (const host_executor *)executor;
    const int kind = request[0]->kind; /* builds and gradients use all threads themselves */
    const int builds = kind == FMO_REQUEST_FOCK || kind == FMO_REQUEST_GRADIENT;
    fmo_batch_linalg_on_host(h->la, builds ? 1 : executor->threads, request, num);
}

fmo_linalg **fmo_batch_linalg_open_backends(int threads, fmo_error *err)
{
    fmo_linalg **const la = calloc((size_t)threads, sizeof *la);
    int num = 0;
    while (la && num < threads && fmo_linalg_open_cpu(1, &la[num], err) == FMO_OK) num++;
    if (la && num == threads) return la;
    fmo_batch_linalg_close_backends(la, num);
    fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d backends", threads);
    return NULL;
}

void fmo_batch_linalg_close_backends(fmo_linalg **la, int num)
{
    for (int k = 0; k < num && la; k++) la[k]->ops->close(la[k]);
    free(la);
}

static void host_enter(fmo_batch_linalg *executor)
{
    (void)executor;
}

static const fmo_batch_linalg_ops host_operations = {
    "LAPACK and BLAS", 0, host_close, host_enter, host_allocate, host_run};

fmo_status fmo_batch_linalg_open_host(int threads, fmo_batch_linalg **executor, fmo_error *err)
{
    host_executor *const h = calloc(1, sizeof *h);
    if (!h) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    h->base.ops = &host_operations;
    h->base.threads = threads > 0 ? threads : 1;
    h->la = fmo_batch_linalg_open_backends(h->base.threads, err);
    if (!h->la) {
        free(h);
        return FMO_ERR_MEMORY;
    }
    *executor = &h->base;
    return FMO_OK;
}
