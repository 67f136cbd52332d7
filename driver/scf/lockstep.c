/* SCFs that advance in lockstep (lockstep.h): their stacks, the backend that queues operations, and
 * the scheduler that executes the queues. */
#include "driver/scf/lockstep.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define FMO_STACKS_ARE_WATCHED 1
#else
#define FMO_STACKS_ARE_WATCHED 0
#endif

/* Stack of an SCF; untouched pages take no memory. A protected page lies below it. */
enum { STACK_BYTES = 1 << 20 };

typedef struct lockstep_scf {
    fmo_linalg base;
    struct lockstep_batch *lockstep_batch;
    fmo_lockstep_job *job;
    ucontext_t context;
    char *stack; /* NULL: it could not start, or has ended */
    int ended;
    fmo_request *queue; /* [capacity], requests from `first` to `num` are pending */
    size_t first, num, capacity;
} lockstep_scf;

typedef struct lockstep_batch {
    fmo_batch_linalg *executor;
    lockstep_scf *lockstep_scf;
    size_t count;
    const fmo_request **same_kind; /* [count] requests of one kind */
    ucontext_t scheduler;
    lockstep_scf *running;
    const void *scheduler_stack; /* for AddressSanitizer */
    size_t scheduler_bytes;
} lockstep_batch;

static const char waits_for[FMO_REQUEST_COUNT] = {
#define ROW(e, waits) waits,
    FMO_REQUEST_TABLE(ROW)
#undef ROW
};

/* ---- stacks --------------------------------------------------------------------------------- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *allocate_stack(void)
{
    const size_t page = page_bytes();
    char *const at = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED) return NULL;
    if (mprotect(at, page, PROT_NONE) == 0) return at;
    munmap(at, STACK_BYTES + page);
    return NULL;
}

static void free_stack(lockstep_scf *m)
{
    if (m->stack) munmap(m->stack, STACK_BYTES + page_bytes());
    m->stack = NULL;
}

/* Switches from the scheduler to an SCF; returns when it waits or has ended. */
static void resume(lockstep_batch *c, lockstep_scf *m)
{
    c->running = m;
#if FMO_STACKS_ARE_WATCHED
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, m->stack + page_bytes(), STACK_BYTES);
#endif
    swapcontext(&c->scheduler, &m->context);
#if FMO_STACKS_ARE_WATCHED
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
    c->running = NULL;
}

/* Switches back to the scheduler until all queued requests are done. */
static void wait_for_queue(lockstep_scf *m)
{
    lockstep_batch *const c = m->lockstep_batch;
#if FMO_STACKS_ARE_WATCHED
    void *fake = NULL;
    __sanitizer_start_switch_fiber(m->ended ? NULL : &fake, c->scheduler_stack, c->scheduler_bytes);
#endif
    swapcontext(&m->context, &c->scheduler);
#if FMO_STACKS_ARE_WATCHED
    __sanitizer_finish_switch_fiber(fake, &c->scheduler_stack, &c->scheduler_bytes);
#endif
}

/* Entry function of a stack. makecontext passes ints, so a pointer is passed in two halves. */
static void run_scf(unsigned high, unsigned low)
{
    lockstep_scf *const m = (lockstep_scf *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);
#if FMO_STACKS_ARE_WATCHED
    __sanitizer_finish_switch_fiber(NULL, &m->lockstep_batch->scheduler_stack,
                                    &m->lockstep_batch->scheduler_bytes);
#endif
    fmo_lockstep_job *const job = m->job;
    job->status = fmo_scf_run_one("fmo_scf_run_batch", job->input, job->options, &job->shared,
                                  &job->result, &job->err);
    if (job->ended) job->ended(job, job->user);
    m->ended = 1;
    wait_for_queue(m);
}

static int start_scf(lockstep_batch *c, lockstep_scf *m)
{
    const uintptr_t at = (uintptr_t)m;
    m->stack = allocate_stack();
    if (!m->stack || getcontext(&m->context) != 0) return 0;
    m->context.uc_stack.ss_sp = m->stack + page_bytes();
    m->context.uc_stack.ss_size = STACK_BYTES;
    m->context.uc_link = &c->scheduler;
    makecontext(&m->context, (void (*)(void))run_scf, 2, (unsigned)(at >> 16 >> 16), (unsigned)at);
    return 1;
}

/* ---- the backend that queues ---------------------------------------------------------------- */

static int failed(const fmo_linalg *la)
{
    return la->error.status != FMO_OK;
}

/* Queues a request; if the SCF waits for this kind, returns when it is done. */
static void enqueue(fmo_linalg *la, fmo_request request)
{
    lockstep_scf *const m = (lockstep_scf *)la;
    if (m->num == m->capacity) {
        const size_t capacity = 2 * m->capacity + 32;
        fmo_request *const more = realloc(m->queue, capacity * sizeof *more);
        if (!more) {
            fmo_error_set(&la->error, FMO_ERR_MEMORY, "no memory for the tasks of an SCF");
            return;
        }
        m->queue = more;
        m->capacity = capacity;
    }
    request.la = la;
    m->queue[m->num++] = request;
    if (waits_for[request.kind]) wait_for_queue(m);
}

static void queue_close(fmo_linalg *la)
{
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_FINISH}); /* releases are queued before it */
}

static double *queue_allocate(fmo_linalg *la, size_t count)
{
    const lockstep_scf *const m = (const lockstep_scf *)la;
    if (failed(la)) return NULL;
    return m->lockstep_batch->executor->ops->allocate(m->lockstep_batch->executor, count,
                                                      &la->error);
}

static void queue_release(fmo_linalg *la, double *array)
{
    if (array) enqueue(la, (fmo_request){.kind = FMO_REQUEST_RELEASE, .C = array});
}

static void queue_upload(fmo_linalg *la, size_t count, const double *host, double *array)
{
    if (failed(la)) return;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_UPLOAD, .count = count, .in = host, .C = array});
}

static void queue_download(fmo_linalg *la, size_t count, const double *array, double *host)
{
    if (failed(la)) return;
    enqueue(la,
            (fmo_request){.kind = FMO_REQUEST_DOWNLOAD, .count = count, .A = array, .out = host});
}

static void queue_add(fmo_linalg *la, size_t count, double a, const double *x, double b, double *y)
{
    if (failed(la)) return;
    enqueue(la,
            (fmo_request){
                .kind = FMO_REQUEST_ADD, .count = count, .alpha = a, .beta = b, .A = x, .C = y});
}

static void queue_multiply(fmo_linalg *la, double alpha, fmo_matrix A, fmo_matrix B, double beta,
                           double *C)
{
    if (failed(la)) return;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_MULTIPLY,
                              .op_a = A.transposed ? 'T' : 'N',
                              .op_b = B.transposed ? 'T' : 'N',
                              .m = A.rows,
                              .n = B.columns,
                              .k = A.columns,
                              .alpha = alpha,
                              .beta = beta,
                              .A = A.at,
                              .B = B.at,
                              .C = C});
}

static void queue_fold(fmo_linalg *la, int n, double scale, double sign, double *A)
{
    if (failed(la)) return;
    enqueue(la,
            (fmo_request){.kind = FMO_REQUEST_FOLD, .n = n, .alpha = scale, .beta = sign, .C = A});
}

static void queue_add_to_diagonal(fmo_linalg *la, int n, double x, double *A)
{
    if (failed(la)) return;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_DIAGONAL, .n = n, .alpha = x, .C = A});
}

static void queue_scale_columns(fmo_linalg *la, int rows, int columns, const double *factor,
                                double *A)
{
    if (failed(la)) return;
    enqueue(la, (fmo_request){
                    .kind = FMO_REQUEST_SCALE, .m = rows, .n = columns, .in = factor, .C = A});
}

static void queue_dots(fmo_linalg *la, size_t count, int m, const double *V, const double *x,
                       double *dot)
{
    for (int v = 0; v < m; v++) dot[v] = NAN;
    if (failed(la)) return;
    enqueue(la, (fmo_request){
                    .kind = FMO_REQUEST_DOTS, .count = count, .m = m, .A = V, .B = x, .out = dot});
    for (int v = 0; v < m && failed(la); v++) dot[v] = NAN;
}

static void queue_combine(fmo_linalg *la, size_t count, int m, const double *V, const double *c,
                          double *out)
{
    if (failed(la)) return;
    enqueue(la,
            (fmo_request){
                .kind = FMO_REQUEST_COMBINE, .count = count, .m = m, .A = V, .in = c, .C = out});
}

static void queue_eigen(fmo_linalg *la, int n, double *A, double *values)
{
    for (int i = 0; i < n; i++) values[i] = NAN;
    if (failed(la)) return;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_EIGEN, .n = n, .C = A, .out = values});
}

static int queue_inverse_cholesky(fmo_linalg *la, int n, double *A)
{
    int positive = 0;
    if (failed(la)) return 0;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_INVERSE, .n = n, .C = A, .positive = &positive});
    return positive && !failed(la);
}

static void queue_bounds(fmo_linalg *la, int n, const double *A, double *low, double *high,
                         double *trace)
{
    *low = *high = *trace = NAN;
    if (failed(la)) return;
    enqueue(
        la,
        (fmo_request){
            .kind = FMO_REQUEST_BOUNDS, .n = n, .A = A, .out = low, .out2 = high, .out3 = trace});
}

static int queue_purify(fmo_linalg *la, int n, int occupied, double trace, double *P, double *work)
{
    int converged = 0;
    if (failed(la)) return 0;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_PURIFY,
                              .n = n,
                              .k = occupied,
                              .alpha = trace,
                              .C = P,
                              .D = work,
                              .positive = &converged});
    return converged && !failed(la);
}

static void queue_gaps(fmo_linalg *la, const fmo_orbital_gaps *gaps, int divide, const double *x,
                       double *y)
{
    if (failed(la)) return;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_GAPS,
                              .m = gaps->virtual_num,
                              .n = gaps->occupied_num,
                              .in = gaps->e_a,
                              .in2 = gaps->e_i,
                              .alpha = gaps->shift,
                              .divide = divide,
                              .A = x,
                              .C = y});
}

static void queue_fock(fmo_linalg *la, fmo_fock_plan *plan, const double *density, double *coulomb,
                       double *exchange)
{
    if (failed(la)) return;
    enqueue(la,
            (fmo_request){
                .kind = FMO_REQUEST_FOCK, .plan = plan, .A = density, .C = coulomb, .D = exchange});
}

static void queue_fock_of_spins(fmo_linalg *la, fmo_fock_plan *plan, int n, const double *total,
                                const double *spins, double *coulomb, double *exchange)
{
    const size_t size = (size_t)n * (size_t)n;
    queue_fock(la, plan, total, coulomb, NULL);
    queue_fock(la, plan, spins, NULL, exchange);
    queue_fock(la, plan, spins + size, NULL, exchange + size);
}

static void queue_on_host(fmo_linalg *la, void (*work)(void *user), void *user)
{
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_HOST, .work = work, .user = user});
}

static void queue_gradient(fmo_linalg *la, fmo_fock_plan *plan, const fmo_gradient_term *terms,
                           int term_num, double *gradient)
{
    if (failed(la)) return;
    enqueue(la, (fmo_request){.kind = FMO_REQUEST_GRADIENT,
                              .plan = plan,
                              .terms = terms,
                              .m = term_num,
                              .out = gradient});
}

static void queue_finish(fmo_linalg *la)
{
    if (!failed(la)) enqueue(la, (fmo_request){.kind = FMO_REQUEST_FINISH});
}

#define OPERATIONS(where)                                                                         \
    {                                                                                             \
        .name = "lockstep", .on_device = where, .close = queue_close, .allocate = queue_allocate, \
        .release = queue_release, .upload = queue_upload, .download = queue_download,             \
        .add = queue_add, .multiply = queue_multiply, .fold = queue_fold,                         \
        .add_to_diagonal = queue_add_to_diagonal, .scale_columns = queue_scale_columns,           \
        .dots = queue_dots, .combine = queue_combine, .eigen = queue_eigen,                       \
        .inverse_cholesky = queue_inverse_cholesky, .bounds = queue_bounds,                       \
        .purify = queue_purify, .gaps = queue_gaps, .fock = queue_fock,                           \
        .fock_of_spins = queue_fock_of_spins, .on_host = queue_on_host, .finish = queue_finish,   \
        .gradient = queue_gradient                                                                \
    }
static const fmo_linalg_ops host_ops = OPERATIONS(0), device_ops = OPERATIONS(1);
#undef OPERATIONS

/* ---- executing the queues ------------------------------------------------------------------- */

static const fmo_request *first_request(const lockstep_scf *m)
{
    return m->first < m->num ? &m->queue[m->first] : NULL;
}

/* Returns the kind that is first in the most queues; FMO_REQUEST_COUNT if all are empty. Kinds for
 * which SCFs wait come last, so that other SCFs can catch up. */
static int next_kind(const lockstep_batch *c)
{
    size_t heads[FMO_REQUEST_COUNT] = {0};
    int best = FMO_REQUEST_COUNT;
    for (size_t k = 0; k < c->count; k++) {
        const fmo_request *const head = first_request(&c->lockstep_scf[k]);
        if (head) heads[head->kind]++;
    }
    for (int kind = 0; kind < FMO_REQUEST_COUNT; kind++) {
        if (!heads[kind]) continue;
        if (best == FMO_REQUEST_COUNT || waits_for[kind] < waits_for[best] ||
            (waits_for[kind] == waits_for[best] && heads[kind] > heads[best]))
            best = kind;
    }
    return best;
}

/* Runs host functions, one SCF per thread. */
static void run_on_host(const lockstep_batch *c, size_t num)
{
    const int threads = (size_t)c->executor->threads < num ? c->executor->threads : (int)num;
    const int hold = fmo_linalg_one_thread();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t k = 0; k < num; k++) c->same_kind[k]->work(c->same_kind[k]->user);
    fmo_linalg_release_threads(hold);
}

/* Executes all queued requests. */
static void execute_queues(lockstep_batch *c)
{
    for (int kind = next_kind(c); kind < FMO_REQUEST_COUNT; kind = next_kind(c)) {
        size_t num = 0;
        for (size_t k = 0; k < c->count; k++) {
            lockstep_scf *const m = &c->lockstep_scf[k];
            const fmo_request *const head = first_request(m);
            if (!head || (int)head->kind != kind) continue;
            m->first++;
            if (!failed(&m->base) || kind == FMO_REQUEST_RELEASE || kind == FMO_REQUEST_HOST)
                c->same_kind[num++] = head;
        }
        if (kind == FMO_REQUEST_HOST)
            run_on_host(c, num);
        else if (num)
            c->executor->ops->run(c->executor, c->same_kind, num);
    }
    for (size_t k = 0; k < c->count; k++) c->lockstep_scf[k].first = c->lockstep_scf[k].num = 0;
}

/* Ends a job for which there is no memory. */
static void fail_without_memory(lockstep_scf *m)
{
    m->job->status = fmo_error_set(&m->job->err, FMO_ERR_MEMORY, "no memory for another SCF");
    if (!m->job->shared.plan_cached) fmo_fock_plan_destroy(m->job->shared.plan);
    if (m->job->ended) m->job->ended(m->job, m->job->user);
    m->ended = 1;
}

/* Starts an SCF per job on its own stack, then alternates between resuming all of them and
 * executing their requests, until all have ended. */
void fmo_lockstep_run(fmo_batch_linalg *executor, fmo_lockstep_job *jobs, size_t count)
{
    lockstep_batch c = {.executor = executor, .count = count};
    size_t left = count;
    c.lockstep_scf = calloc(count, sizeof *c.lockstep_scf);
    c.same_kind = malloc(count * sizeof *c.same_kind);
    for (size_t k = 0; k < count; k++) {
        jobs[k].err = (fmo_error){FMO_OK, ""};
        if (c.lockstep_scf && c.same_kind) continue;
        lockstep_scf none = {.job = &jobs[k]};
        fail_without_memory(&none);
        left = 0;
    }
    for (size_t k = 0; k < count && left; k++) {
        lockstep_scf *const m = &c.lockstep_scf[k];
        m->lockstep_batch = &c;
        m->job = &jobs[k];
        m->base.ops = executor->ops->on_device ? &device_ops : &host_ops;
        memcpy(m->base.device, executor->device, sizeof m->base.device);
        jobs[k].shared.la = &m->base;
        if (!start_scf(&c, m)) fail_without_memory(m);
    }
    while (left) {
        left = 0;
        for (size_t k = 0; k < count; k++) {
            lockstep_scf *const m = &c.lockstep_scf[k];
            if (!m->ended) resume(&c, m);
            if (!m->ended)
                left++;
            else
                free_stack(m);
        }
        execute_queues(&c);
    }
    for (size_t k = 0; k < count && c.lockstep_scf; k++) {
        free_stack(&c.lockstep_scf[k]);
        free(c.lockstep_scf[k].queue);
    }
    free(c.lockstep_scf);
    free(c.same_kind);
}
