/* Potentials and energies of distributions on the CPU, where threads take pieces of all jobs, and
 * the distribution of jobs over GPUs. See points.h. */
#include "accumulate/potential/points.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/tuning.h"
#include "base/threads.h"
#include "base/vector.h"

/* PIECE: points of a job that a thread takes at a time. share: products with a bound below this
 * share of the cutoff are skipped; it is below 1 because many such contributions add up at a point.
 */
enum { PIECE = fmo_tuning_potential_points };
static const double share = 0.1;

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* Executes jobs [first, first + num) on the GPU o->device. */
typedef fmo_status work_on_gpu(void *user, size_t first, size_t num, const fmo_potential_options *o,
                               fmo_error *err);

/* One GPU's share of a call. */
typedef struct gpu_share {
    work_on_gpu *work;
    void *user;
    size_t first, num;
    fmo_potential_options o;
    pthread_t thread;
    int started, threads;
    fmo_status status;
    fmo_error err;
} gpu_share;

static void *do_share(void *user)
{
    gpu_share *const s = user;
    const int before = omp_get_max_threads();
    omp_set_num_threads(s->threads); /* affects this POSIX thread only */
    s->status = s->num ? s->work(s->user, s->first, s->num, &s->o, &s->err) : FMO_OK;
    omp_set_num_threads(before);
    return NULL;
}

/* Distributes all jobs, equal numbers of consecutive ones, over the GPUs and runs them in parallel.
 */
static fmo_status run_on_gpus(size_t count, const fmo_potential_options *o, work_on_gpu *work,
                              void *user, fmo_error *err)
{
    gpu_share share_of[FMO_DEVICES_MAX];
    const size_t gpus = o->device_num > 1 ? (size_t)o->device_num : 1;
    for (size_t g = 0; g < gpus; g++) {
        gpu_share *const s = &share_of[g];
        *s = (gpu_share){.work = work, .user = user, .o = *o, .first = count * g / gpus};
        s->num = count * (g + 1) / gpus - s->first;
        if (gpus > 1) s->o.device = o->devices[g];
        s->threads = fmo_threads(o->threads) / (int)gpus;
        if (s->threads < 1) s->threads = 1;
    }
    for (size_t g = 1; g < gpus; g++) {
        share_of[g].started = 1;
        if (pthread_create(&share_of[g].thread, NULL, do_share, &share_of[g]) != 0)
            share_of[g].started = 0;
    }
    for (size_t g = 0; g < gpus; g++)
        if (!share_of[g].started) (void)do_share(&share_of[g]);
    const gpu_share *failed = NULL;
    for (size_t g = 0; g < gpus; g++) {
        if (share_of[g].started) pthread_join(share_of[g].thread, NULL);
        if (share_of[g].status != FMO_OK && !failed) failed = &share_of[g];
    }
    return failed ? fmo_error_set(err, failed->status, "%s", failed->err.message) : FMO_OK;
}

/* ---- potentials ------------------------------------------------------------------------------ */

/* A job in progress. */
typedef struct running {
    const fmo_potential_job *job;
    fmo_point_source *source; /* [FMO_POINT_ORDERS][capacity] */
    size_t capacity;
    int lists[FMO_POINT_ORDERS];
    int first; /* number of its first piece */
    double *V;
    fmo_distribution own; /* its further charges */
} running;

static fmo_status begin(const fmo_potential_job *job, running *r, fmo_error *err)
{
    const fmo_point_densities charges = {
        .charge_num = job->charge_num, .charge = job->charge, .coord = job->coord};
    r->job = job;
    r->capacity = job->source_num + 1;
    return fmo_point_lists_make(&charges, &r->own, err);
}

/* Collects the lists of a job's sources and allocates its potentials, on the CPU. */
static fmo_status begin_on_cpu(running *r, fmo_error *err)
{
    const fmo_potential_job *const job = r->job;
    fmo_status status = FMO_OK;
    r->source = malloc(FMO_POINT_ORDERS * r->capacity * sizeof *r->source);
    r->V = calloc(job->products->value_begin[FMO_POINT_ORDERS] + 1, sizeof *r->V);
    if (!r->source || !r->V) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a potential");
    for (size_t s = 0; s < r->capacity && status == FMO_OK; s++) {
        const fmo_distribution *const from = s < job->source_num ? job->source[s] : &r->own;
        const double weight = s < job->source_num && job->weight ? job->weight[s] : 1.0;
        status = fmo_distribution_ready(from, err);
        for (int N = 0; N < FMO_POINT_ORDERS; N++)
            if (from->list[N].used)
                r->source[(size_t)N * r->capacity + (size_t)r->lists[N]++] =
                    (fmo_point_source){&from->list[N], weight};
    }
    return status;
}

static fmo_status begin_all_on_cpu(running *all, size_t count, int threads, fmo_error *err)
{
    fmo_status status = FMO_OK;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (count > 1)
    for (size_t k = 0; k < count; k++) {
        fmo_error why = {FMO_OK, ""};
        const fmo_status one = begin_on_cpu(&all[k], &why);
        if (one == FMO_OK) continue;
#pragma omp critical(fmo_potentials)
        if (status == FMO_OK) status = fmo_error_set(err, one, "%s", why.message);
    }
    return status;
}

static void end(running *r)
{
    free(r->own.memory);
    free(r->source);
    free(r->V);
}

/* Computes the potentials at points [from, to) of a job. */
static void run_piece(const fmo_point_kernels *kernels, const running *r, int from, int to,
                      double least)
{
    const fmo_products *const p = r->job->products;
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        const int first = from > p->begin[N] ? from : p->begin[N];
        const int last = to < p->begin[N + 1] ? to : p->begin[N + 1];
        for (int n = first; n < last; n++) {
            const fmo_point *const at = &p->point[n];
            double *const V = r->V + fmo_point_values(p->begin, p->value_begin, N, n);
            for (int K = 0; K < FMO_POINT_ORDERS; K++)
                if (r->lists[K])
                    kernels->kernel[N][K](at, r->source + (size_t)K * r->capacity, r->lists[K],
                                          least / at->bound, V);
        }
    }
}

/* Returns the job to which a piece belongs: the last one whose first piece is not after it. */
static size_t job_of(const running *all, size_t count, int piece)
{
    size_t low = 0, high = count;
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (all[middle].first <= piece)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static fmo_status run_on_cpu(running *all, size_t count, int pieces, const fmo_potential_options *o,
                             int threads, fmo_error *err)
{
    const fmo_point_kernels *const kernels = FMO_VECTOR_TABLE(fmo_point_kernels);
    const fmo_status status = begin_all_on_cpu(all, count, threads, err);
    if (status != FMO_OK) return status;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (int piece = 0; piece < pieces; piece++) {
        const running *const r = &all[job_of(all, count, piece)];
        const int from = (piece - r->first) * PIECE;
        run_piece(kernels, r, from, from + PIECE, share * o->cutoff);
    }
    return FMO_OK;
}

/* Number of jobs sent to a GPU together. */
enum { GPU_JOBS = fmo_tuning_gpu_potential_jobs, GPU_ENERGIES = fmo_tuning_gpu_energy_jobs };

typedef struct potentials_call {
    running *all;
    const fmo_potential_job *jobs;
} potentials_call;

/* Runs jobs [begin, begin + count) on a GPU, GPU_JOBS at a time. */
static fmo_status potentials_on_gpu(void *user, size_t begin, size_t count,
                                    const fmo_potential_options *o, fmo_error *err)
{
    const potentials_call *const call = user;
    const fmo_distribution **const own = malloc(GPU_JOBS * sizeof *own);
    double **const V = malloc(GPU_JOBS * sizeof *V);
    fmo_status status = FMO_OK;
    if (!own || !V) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    for (size_t first = begin; first < begin + count && status == FMO_OK; first += GPU_JOBS) {
        const size_t left = begin + count - first, num = left < GPU_JOBS ? left : GPU_JOBS;
        for (size_t k = 0; k < num; k++) {
            own[k] = &call->all[first + k].own;
            V[k] = NULL;
        }
        status = fmo_gpu_potentials(call->jobs + first, num, own, V, share * o->cutoff, o, err);
        for (size_t k = 0; k < num; k++) call->all[first + k].V = V[k];
    }
    free(own);
    free(V);
    return status;
}

/* Converts potentials at points to matrices, for jobs whose matrix has not been written. */
static fmo_status give_all(const running *all, size_t count, int threads, fmo_error *err)
{
    int good = 1;
    size_t largest = 1;
    for (size_t k = 0; k < count; k++) {
        const size_t own = (size_t)fmo_centres_largest(&all[k].job->products->centres);
        if (own > largest) largest = own;
    }
#pragma omp parallel num_threads(threads)
    {
        double *const block = malloc(largest * largest * sizeof *block);
        if (!block) {
#pragma omp atomic write
            good = 0;
        }
#pragma omp for schedule(dynamic)
        for (size_t k = 0; k < count; k++)
            if (block && all[k].V)
                fmo_points_contract(all[k].job->products, all[k].V, block, all[k].job->potential);
        free(block);
    }
    return good ? FMO_OK : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
}

static fmo_status check_job(const char *call, size_t k, const fmo_potential_job *job,
                            fmo_error *err)
{
    enum { NUM_MAX = 1 << 28 };
    int good = job->products && job->potential && (job->source || !job->source_num) &&
               ((job->charge && job->coord) || !job->charge_num) && job->charge_num <= NUM_MAX &&
               job->source_num <= NUM_MAX;
    for (size_t s = 0; good && s < job->source_num; s++)
        good = job->source[s] && (!job->weight || isfinite(job->weight[s]));
    if (good) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "%s: jobs[%zu]: expected products, a potential, and as many sources, "
                         "charges and places as source_num and charge_num say, %d at most",
                         call, k, NUM_MAX);
}

/* Checks the jobs, computes potentials at points on the CPU or on GPUs, and converts them. */
fmo_status fmo_potentials(const fmo_potential_job *jobs, size_t count,
                          const fmo_potential_options *options, fmo_error *err)
{
    static const char call[] = "fmo_potentials";
    fmo_potential_options o;
    fmo_status status = fmo_potential_begin(call, jobs, count, options, &o, err);
    for (size_t k = 0; k < count && status == FMO_OK; k++)
        status = check_job(call, k, &jobs[k], err);
    for (size_t k = 0; k < count && status == FMO_OK; k++) {
        status = fmo_potential_check_shells(call, &o, jobs[k].products, NULL, err);
        for (size_t s = 0; s < jobs[k].source_num && status == FMO_OK; s++)
            status = fmo_potential_check_shells(call, &o, NULL, jobs[k].source[s], err);
    }
    if (status != FMO_OK || !count) return status;
    const int threads = fmo_threads(o.threads);
    running *const all = calloc(count, sizeof *all);
    if (!all) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu potentials", count);
    int pieces = 0;
    for (size_t k = 0; k < count && status == FMO_OK; k++) {
        all[k].first = pieces;
        pieces += (jobs[k].products->num + PIECE - 1) / PIECE;
        status = begin(&jobs[k], &all[k], err);
    }
    if (status == FMO_OK && o.mode == FMO_MODE_FUSED)
        status = run_on_gpus(count, &o, potentials_on_gpu, &(potentials_call){all, jobs}, err);
    else if (status == FMO_OK)
        status = run_on_cpu(all, count, pieces, &o, threads, err);
    if (status == FMO_OK) status = give_all(all, count, threads, err);
    for (size_t k = 0; k < count; k++) end(&all[k]);
    free(all);
    return status;
}

/* ---- energies -------------------------------------------------------------------------------- */

/* Sum over the points of a of H times the potential of b. */
static double interaction(const fmo_point_kernels *kernels, const fmo_distribution *a,
                          const fmo_distribution *b, double least)
{
    double sum = 0.0;
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        const fmo_point_list *const own = &a->list[N];
        const size_t num = (size_t)own->num;
        for (size_t n = 0; n < (size_t)own->used; n++) {
            const fmo_point at = {
                {own->at[n], own->at[num + n], own->at[2 * num + n]}, own->at[3 * num + n], 0.0};
            double V[FMO_HERMITE_MAX] = {0.0};
            for (int K = 0; K < FMO_POINT_ORDERS; K++) {
                const fmo_point_source from = {&b->list[K], 1.0};
                if (from.list->used) kernels->kernel[N][K](&at, &from, 1, least / own->norm[n], V);
            }
            for (int k = 0; k < FMO_HERMITE_COUNT(N); k++)
                sum += own->H[(size_t)k * num + n] * V[k];
        }
    }
    return sum;
}

static fmo_status energies_on_gpu(void *user, size_t first, size_t num,
                                  const fmo_potential_options *o, fmo_error *err)
{
    fmo_electrostatics_job *const jobs = user;
    fmo_status status = FMO_OK;
    for (size_t at = 0; at < num && status == FMO_OK; at += GPU_ENERGIES) {
        const size_t some = num - at < GPU_ENERGIES ? num - at : GPU_ENERGIES;
        status = fmo_gpu_electrostatics(jobs + first + at, some, share * o->cutoff, o, err);
    }
    return status;
}

/* Checks the jobs and computes their energies on the CPU or on GPUs. */
fmo_status fmo_electrostatics(fmo_electrostatics_job *jobs, size_t count,
                              const fmo_potential_options *options, fmo_error *err)
{
    static const char call[] = "fmo_electrostatics";
    fmo_potential_options o;
    fmo_status status = fmo_potential_begin(call, jobs, count, options, &o, err);
    for (size_t k = 0; k < count && status == FMO_OK; k++)
        if (!jobs[k].a || !jobs[k].b)
            status = fmo_error_set(err, FMO_ERR_ARGUMENT,
                                   "%s: jobs[%zu]: expected two distributions", call, k);
        else if (fmo_potential_check_shells(call, &o, NULL, jobs[k].a, err) != FMO_OK ||
                 fmo_potential_check_shells(call, &o, NULL, jobs[k].b, err) != FMO_OK)
            status = FMO_ERR_UNSUPPORTED;
    if (status != FMO_OK || !count) return status;
    if (o.mode == FMO_MODE_FUSED) return run_on_gpus(count, &o, energies_on_gpu, jobs, err);
    for (size_t k = 0; k < count && status == FMO_OK; k++) {
        status = fmo_distribution_ready(jobs[k].a, err);
        if (status == FMO_OK) status = fmo_distribution_ready(jobs[k].b, err);
    }
    if (status != FMO_OK) return status;
    const fmo_point_kernels *const kernels = FMO_VECTOR_TABLE(fmo_point_kernels);
#pragma omp parallel for schedule(dynamic) num_threads(fmo_threads(o.threads))
    for (size_t k = 0; k < count; k++)
        jobs[k].energy = interaction(kernels, jobs[k].a, jobs[k].b, share * o.cutoff);
    return FMO_OK;
}
