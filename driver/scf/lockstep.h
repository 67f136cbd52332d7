/* Many SCFs of one host thread that advance together: what each wants of its backend next is done
 * for all of them at once, so that a GPU has work for thousands of small matrices in a launch.
 *
 * An SCF is the same code as one alone (scf.c), on a stack of its own. Its backend queues what it
 * is asked for, and where a number must come back to the host, the next SCF has its turn. When all
 * wait or have ended, the the executor do what is queued: of the operations that are first in their
 * queues, those of one kind together. An SCF that has converged leaves; one that fails, fails
 * alone. */
#ifndef FMO_SCF_LOCKSTEP_H
#define FMO_SCF_LOCKSTEP_H

#include "driver/scf/inner.h"
#include "driver/scf/scf_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations of linalg.h, and X(enumerator, whether the SCF waits for it). */
#define FMO_REQUEST_TABLE(X)   \
    X(FMO_REQUEST_RELEASE, 0)  \
    X(FMO_REQUEST_ADD, 0)      \
    X(FMO_REQUEST_MULTIPLY, 0) \
    X(FMO_REQUEST_FOLD, 0)     \
    X(FMO_REQUEST_DIAGONAL, 0) \
    X(FMO_REQUEST_FOCK, 0)     \
    X(FMO_REQUEST_UPLOAD, 1)   \
    X(FMO_REQUEST_DOWNLOAD, 1) \
    X(FMO_REQUEST_SCALE, 1)    \
    X(FMO_REQUEST_DOTS, 1)     \
    X(FMO_REQUEST_COMBINE, 1)  \
    X(FMO_REQUEST_EIGEN, 1)    \
    X(FMO_REQUEST_INVERSE, 1)  \
    X(FMO_REQUEST_BOUNDS, 1)   \
    X(FMO_REQUEST_PURIFY, 1)   \
    X(FMO_REQUEST_GAPS, 1)     \
    X(FMO_REQUEST_HOST, 1)     \
    X(FMO_REQUEST_FINISH, 1)

#define FMO_REQUEST_ROW(e, waits) e,
typedef enum fmo_request_kind {
    FMO_REQUEST_TABLE(FMO_REQUEST_ROW) FMO_REQUEST_COUNT
} fmo_request_kind;
#undef FMO_REQUEST_ROW

/* One operation of one SCF: the arguments of its function in linalg.h by their names there. Host
 * memory is there until it is done, since the SCF waits. */
typedef struct fmo_request {
    fmo_request_kind kind;
    fmo_linalg *la; /* the SCF's, whose error it may set */
    char op_a, op_b;
    int m, n, k, divide; /* k: also occupied */
    size_t count;
    double alpha, beta;        /* also: a and b; scale and sign; x; shift; trace */
    const double *A, *B;       /* arrays of the backend: also x, V and x, density */
    double *C, *D;             /* those that are written: also y, out; coulomb, exchange; P, work */
    const double *in, *in2;    /* of the host: also row and column, c, e_a and e_i */
    double *out, *out2, *out3; /* of the host: also values, dot; low, high, trace */
    int *positive;
    fmo_fock_plan *plan;
    void (*work)(void *user);
    void *user;
} fmo_request;

/* Who does it. Results are those of linalg.h's functions. */
typedef struct fmo_batch_linalg fmo_batch_linalg;
typedef struct fmo_batch_linalg_ops {
    const char *name;
    int on_device;
    void (*close)(fmo_batch_linalg *executor);
    void (*enter)(fmo_batch_linalg *executor); /* they are used from this thread now */
    double *(*allocate)(fmo_batch_linalg *executor, size_t count, fmo_error *err); /* zero-filled */
    /* Requests of one kind, each of another SCF; none is APART, which is nobody's. */
    void (*run)(fmo_batch_linalg *executor, const fmo_request *const *request, size_t num);
} fmo_batch_linalg_ops;

struct fmo_batch_linalg {
    const fmo_batch_linalg_ops *ops;
    char device[96]; /* model of the GPU, or "" */
    void *stream;    /* cudaStream_t that all work goes to, or NULL */
    int threads;     /* of the host */
    double memory;   /* of the GPU, bytes; 0 without one */
};

/* LAPACK and OpenBLAS, one request a thread: what tests compare with, and what the GPU's the
 * executor leave to the host. */
fmo_status fmo_batch_linalg_open_host(int threads, fmo_batch_linalg **executor, fmo_error *err);
/* cuBLAS and kernels that take many matrices; on GPU number `device`, or -1, the thread's, which
 * the thread uses until it closes them; another thread may do that, too. Without CUDA:
 * FMO_ERR_UNSUPPORTED. */
fmo_status fmo_batch_linalg_open_gpu(int device, int threads, fmo_batch_linalg **executor,
                                     fmo_error *err);

/* What opening them loads first, beside what the caller does meanwhile. Whoever has begun ends it;
 * NULL if there is nothing to be loaded. */
void *fmo_batch_linalg_begin_loading(void);
void fmo_batch_linalg_end_loading(void *loading); /* NULL is fine */

/* Starts the GPUs that options name, beside what the caller does meanwhile: CUDA takes a tenth of a
 * second and more for each. Whoever has begun ends it; NULL if none is named, or without memory:
 * they start where they are wanted then. */
FMO_INNER void *fmo_batch_linalg_begin_gpus(const fmo_fock_options *fock);
FMO_INNER void fmo_batch_linalg_end_gpus(void *starting); /* NULL is fine */

/* The number of the GPU that the thread has chosen; -1 without one. */
FMO_INNER int fmo_batch_linalg_thread_gpu(void);

/* Requests whose arrays are host memory, with backends of the host, one a thread. */
void fmo_batch_linalg_on_host(fmo_linalg *const *la, int threads, const fmo_request *const *request,
                              size_t num);
/* Copies of the host, side by side: what uploads bring from where it is to stage + begin[k], or
 * what downloads want from there to where it goes. */
void fmo_batch_linalg_stage(int threads, const fmo_request *const *request, size_t num,
                            const size_t *begin, double *stage);
fmo_linalg **fmo_batch_linalg_open_backends(int threads, fmo_error *err); /* NULL without memory */
void fmo_batch_linalg_close_backends(fmo_linalg **la, int num);           /* NULL is fine */

/* An SCF of the lockstep batch: fmo_scf_run_one with these arguments, and what it returned. */
typedef struct fmo_lockstep_job {
    const fmo_scf_input *input;
    const fmo_scf_options *options;
    fmo_scf_shared shared; /* plan and la are filled in */
    fmo_scf_result *result;
    fmo_status status;
    fmo_error err;
    void (*ended)(struct fmo_lockstep_job *job, void *user); /* called as it ends; NULL: nobody */
    void *user;
} fmo_lockstep_job;

/* Runs them all. Plans are the caller's, one a job in jobs[k].shared.plan, and gone afterwards,
 * unless shared.plan_cached says otherwise. */
void fmo_lockstep_run(fmo_batch_linalg *executor, fmo_lockstep_job *jobs, size_t count);

#ifdef __cplusplus
}
#endif
#endif
