/* Many SCFs of one host thread that advance in lockstep: their next operations are executed
 * together, so that one GPU launch processes thousands of small matrices.
 *
 * Each SCF runs the code of a single SCF (scf.c) on a stack of its own. Its backend queues
 * operations; when a number must be returned to the host, the next SCF continues. When all are
 * waiting or have ended, the executor runs the queued operations: those of one kind that are first
 * in their queues are run together. An SCF that has converged leaves the batch; an error of one
 * does not affect the others. */
#ifndef FMO_SCF_LOCKSTEP_H
#define FMO_SCF_LOCKSTEP_H

#include "driver/scf/inner.h"
#include "driver/scf/scf_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations of linalg.h: X(enumerator, 1 if the SCF waits for the result). */
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
    X(FMO_REQUEST_GRADIENT, 1) \
    X(FMO_REQUEST_HOST, 1)     \
    X(FMO_REQUEST_FINISH, 1)

#define FMO_REQUEST_ROW(e, waits) e,
typedef enum fmo_request_kind {
    FMO_REQUEST_TABLE(FMO_REQUEST_ROW) FMO_REQUEST_COUNT
} fmo_request_kind;
#undef FMO_REQUEST_ROW

/* One operation of one SCF: the arguments of its function in linalg.h, named as there. Host arrays
 * stay valid until it is done, since the SCF waits. */
typedef struct fmo_request {
    fmo_request_kind kind;
    fmo_linalg *la; /* backend of the SCF, whose error may be set */
    char op_a, op_b;
    int m, n, k, divide; /* k also: occupied; m also: number of terms */
    size_t count;
    double alpha, beta;  /* also: a and b; scale and sign; x; shift; trace */
    const double *A, *B; /* input arrays of the backend; also x; V and x; density */
    double *C, *D; /* output arrays of the backend; also y; out; coulomb and exchange; P and work */
    const double *in, *in2;    /* host input; also factor; c; e_a and e_i */
    double *out, *out2, *out3; /* host output; also values; dot; low, high, trace; gradient */
    const fmo_gradient_term *terms;
    int *positive;
    fmo_fock_plan *plan;
    void (*work)(void *user);
    void *user;
} fmo_request;

/* Batched linear-algebra executor: runs requests of many SCFs together. Its results are those of
 * the functions in linalg.h. */
typedef struct fmo_batch_linalg fmo_batch_linalg;
typedef struct fmo_batch_linalg_ops {
    const char *name;
    int on_device;
    void (*close)(fmo_batch_linalg *executor);
    void (*enter)(
        fmo_batch_linalg *executor); /* the calling thread uses the executor from now on */
    double *(*allocate)(fmo_batch_linalg *executor, size_t count, fmo_error *err); /* zero-filled */
    /* Runs requests of one kind, each of another SCF. The kinds HOST and FINISH never get here. */
    void (*run)(fmo_batch_linalg *executor, const fmo_request *const *request, size_t num);
} fmo_batch_linalg_ops;

struct fmo_batch_linalg {
    const fmo_batch_linalg_ops *ops;
    char device[96]; /* model of the GPU, or "" */
    void *stream;    /* cudaStream_t of all work, or NULL */
    int threads;     /* threads of the host */
    double memory;   /* memory of the GPU, bytes; 0 without one */
};

/* Executor on the host: LAPACK and OpenBLAS, one request per thread. The reference in tests; the
 * GPU executor uses it for requests that it leaves to the host. */
fmo_status fmo_batch_linalg_open_host(int threads, fmo_batch_linalg **executor, fmo_error *err);
/* Executor on GPU number `device`, -1: the current GPU of the thread: cuBLAS and kernels that
 * process many matrices. The thread uses that GPU until it closes the executor; another thread may
 * close it, too. Without CUDA: FMO_ERR_UNSUPPORTED. */
fmo_status fmo_batch_linalg_open_gpu(int device, int threads, fmo_batch_linalg **executor,
                                     fmo_error *err);

/* Starts loading the libraries that the GPU executor needs, in a thread of its own. The caller ends
 * it with fmo_batch_linalg_end_loading; NULL if nothing needs to be loaded. */
void *fmo_batch_linalg_begin_loading(void);
void fmo_batch_linalg_end_loading(void *loading); /* NULL is allowed */

/* Starts the GPUs that the options name in threads of their own: CUDA takes a tenth of a second or
 * more for each. The caller ends it with fmo_batch_linalg_end_gpus. Returns NULL if none is named
 * or there is no memory: GPUs then start at their first use. */
FMO_INNER void *fmo_batch_linalg_begin_gpus(const fmo_fock_options *fock);
FMO_INNER void fmo_batch_linalg_end_gpus(void *starting); /* NULL is allowed */

/* Returns the number of the thread's current GPU; -1 without one. */
FMO_INNER int fmo_batch_linalg_thread_gpu(void);

/* Runs requests whose arrays are in host memory, on host backends, one per thread. */
void fmo_batch_linalg_on_host(fmo_linalg *const *la, int threads, const fmo_request *const *request,
                              size_t num);
/* Copies in host memory, in parallel: for uploads from the source to stage + begin[k], for
 * downloads from there to the destination. */
void fmo_batch_linalg_stage(int threads, const fmo_request *const *request, size_t num,
                            const size_t *begin, double *stage);
fmo_linalg **fmo_batch_linalg_open_backends(int threads,
                                            fmo_error *err);    /* NULL if there is no memory */
void fmo_batch_linalg_close_backends(fmo_linalg **la, int num); /* NULL is allowed */

/* An SCF of the lockstep batch: arguments of fmo_scf_run_one, and what it returned. */
typedef struct fmo_lockstep_job {
    const fmo_scf_input *input;
    const fmo_scf_options *options;
    fmo_scf_shared shared; /* plan: by the caller; la: filled in by fmo_lockstep_run */
    fmo_scf_result *result;
    fmo_status status;
    fmo_error err;
    void (*ended)(struct fmo_lockstep_job *job, void *user); /* called when it ends; NULL: never */
    void *user;
} fmo_lockstep_job;

/* Runs all jobs. The caller makes a plan for each in jobs[k].shared.plan; it is destroyed unless
 * shared.plan_cached is set. */
void fmo_lockstep_run(fmo_batch_linalg *executor, fmo_lockstep_job *jobs, size_t count);

#ifdef __cplusplus
}
#endif
#endif
