/* Potentials and energies of charge distributions on a GPU. For potentials a warp handles one point
 * and its lanes the points of the lists; a few blocks share the energy of a pair of distributions.
 * Equations: docs/explanation/one-electron.md, "Potentials of distributions". Next: lists.h. */
#include "accumulate/gpu/call.cuh"

#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/potential/lists.h"
#include "accumulate/gpu/range.h"
#include "accumulate/tuning.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = fmo_tuning_gpu_potential_threads, WARPS = THREADS / 32 };

/* Blocks that share the energy of a pair of distributions: pairs may be few, and differ in size. */
enum { PIECES = fmo_tuning_gpu_potential_pieces };

/* Adds to V the potential at P, exponent p, of this lane's points of a list, times a weight. Norms
 * descend; points below `least` are left out. NB, NK: orders at P and in the list. */
template <int NB, int NK>
__device__ __forceinline__ void interact(const double *P, double p, const fmo_gpu_point_list &list,
                                         double weight, double least, const double *boys, double *V)
{
    constexpr int L = NB + NK, own = FMO_HERMITE_COUNT(NB);
    const size_t num = (size_t)list.num;
    const int used = list.used;
    const double *const at = list.at, *const H = list.H, *const norm = list.norm;
    for (int q = (int)(threadIdx.x % 32); q < used; q += 32) {
        if (norm[q] < least) return;
        const double exponent = at[3 * num + q];
        fmo_prim_quartet z;
        double r[FMO_HERMITE_COUNT(L)], F[L + 1], R2 = 0.0;
        FMO_UNROLL
        for (int x = 0; x < 3; x++) {
            z.PQ[x] = P[x] - at[x * num + q];
            R2 += z.PQ[x] * z.PQ[x];
        }
        const double rs = fmo_rsqrt(p + exponent);
        z.alpha = p * exponent * (rs * rs);
        fmo_boys_eval(boys, z.alpha * R2, L, F);
        const double factor =
            1.1283791670955126 * weight * z.alpha * fmo_rsqrt(z.alpha); /* 2/sqrt(pi) */
        FMO_UNROLL
        for (int m = 0; m <= L; m++) z.S[m] = factor * F[m];
        fmo_slice_coulomb(L, &z, r);
        FMO_UNROLL
        for (int k = 0; k < FMO_HERMITE_COUNT(NK); k++) {
            const double h = H[k * num + q], d = fmo_slice_order(k) % 2 ? -h : h;
            FMO_UNROLL
            for (int b = 0; b < own; b++)
                V[b] += d * r[fmo_slice_at(fmo_slice_power(k, 0) + fmo_slice_power(b, 0),
                                           fmo_slice_power(k, 1) + fmo_slice_power(b, 1),
                                           fmo_slice_power(k, 2) + fmo_slice_power(b, 2))];
        }
    }
}

__device__ __forceinline__ double sum_lanes(double x)
{
    for (int offset = 16; offset; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
    return x;
}

/* ---- potentials ----------------------------------------------------------------------------- */

typedef struct target {
    const double *at, *bound; /* [x y z p][num], [num] */
    double *V;                /* [num][FMO_HERMITE_COUNT(order)] */
    int num, first;           /* number of the first among the points of all jobs */
} target;

/* A source of a job: the lists of a distribution, and its weight. */
typedef struct weighted_lists {
    const fmo_gpu_points *lists;
    double weight;
} weighted_lists;

typedef struct potential_args {
    const target *of; /* [jobs] points of one order */
    int jobs, points; /* points of all jobs together */
    const weighted_lists *source;
    const int *begin; /* [jobs + 1] first source of each job */
    const double *boys;
    double least;
} potential_args;

/* Returns the job of point n: the last one whose first point is not after it. */
__device__ __forceinline__ int job_of(const target *to, int jobs, int n)
{
    int low = 0, high = jobs;
    while (low + 1 < high) {
        const int middle = (low + high) / 2;
        if (to[middle].first <= n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds the potentials of sources' points of order NK at a point of order NB; a warp for each
 * point. */
template <int NB, int NK>
__global__ void __launch_bounds__(THREADS) potential(const __grid_constant__ potential_args a)
{
    constexpr int own = FMO_HERMITE_COUNT(NB);
    const int number = blockIdx.x * WARPS + (int)(threadIdx.x / 32);
    if (number >= a.points) return;
    const int job = job_of(a.of, a.jobs, number);
    const target &t = a.of[job];
    const size_t num = (size_t)t.num, n = (size_t)(number - t.first);
    const double P[3] = {t.at[n], t.at[num + n], t.at[2 * num + n]};
    const double p = t.at[3 * num + n], least = a.least / t.bound[n];
    double V[own];
    FMO_UNROLL
    for (int b = 0; b < own; b++) V[b] = 0.0;
    for (int s = a.begin[job]; s < a.begin[job + 1]; s++)
        interact<NB, NK>(P, p, a.source[s].lists->of[NK], a.source[s].weight, least, a.boys, V);
    FMO_UNROLL
    for (int b = 0; b < own; b++) {
        const double sum = sum_lanes(V[b]);
        if (threadIdx.x % 32 == 0) t.V[n * own + b] += sum;
    }
}

typedef void potential_kernel(potential_args);

/* ---- energies ------------------------------------------------------------------------------- */

typedef struct energy_pair {
    const fmo_gpu_points *bra, *ket;
} energy_pair;

typedef struct energy_args {
    const energy_pair *of; /* [jobs] */
    double *energy;        /* [jobs][PIECES], added to by each launch */
    const double *boys;
    double least;
} energy_args;

/* Adds the interaction of points of order NB with points of order NK for a pair of distributions
 * (blockIdx.x), one piece of it (blockIdx.y). */
template <int NB, int NK>
__global__ void __launch_bounds__(THREADS) energy(const __grid_constant__ energy_args a)
{
    constexpr int own = FMO_HERMITE_COUNT(NB);
    __shared__ double of_warp[WARPS];
    const fmo_gpu_point_list &bra = a.of[blockIdx.x].bra->of[NB],
                             &ket = a.of[blockIdx.x].ket->of[NK];
    const int warp = (int)(threadIdx.x / 32);
    const size_t num = (size_t)bra.num;
    double sum = 0.0;
    for (int n = warp + WARPS * (int)blockIdx.y; n < bra.used; n += WARPS * PIECES) {
        const double P[3] = {bra.at[n], bra.at[num + n], bra.at[2 * num + n]};
        double V[own];
        FMO_UNROLL
        for (int b = 0; b < own; b++) V[b] = 0.0;
        interact<NB, NK>(P, bra.at[3 * num + n], ket, 1.0, a.least / bra.norm[n], a.boys, V);
        FMO_UNROLL
        for (int b = 0; b < own; b++) sum += bra.H[b * num + n] * V[b];
    }
    sum = sum_lanes(sum);
    if (threadIdx.x % 32 == 0) of_warp[warp] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < WARPS; w++) sum += of_warp[w];
    a.energy[(size_t)blockIdx.x * PIECES + blockIdx.y] += sum;
}

typedef void energy_kernel(energy_args);

/* Kernels by the orders of both. */
#define ROW(kernel, a)                                                       \
    {                                                                        \
        kernel<a, 0>, kernel<a, 1>, kernel<a, 2>, kernel<a, 3>, kernel<a, 4> \
    }
#define TABLE(kernel)                                                                  \
    {                                                                                  \
        ROW(kernel, 0), ROW(kernel, 1), ROW(kernel, 2), ROW(kernel, 3), ROW(kernel, 4) \
    }
potential_kernel *const potential_kernels[FMO_GPU_POINT_ORDERS][FMO_GPU_POINT_ORDERS] =
    TABLE(potential);
energy_kernel *const energy_kernels[FMO_GPU_POINT_ORDERS][FMO_GPU_POINT_ORDERS] = TABLE(energy);
#undef TABLE
#undef ROW
static_assert(FMO_GPU_POINT_ORDERS == 5, "potentials.cu: a row and a column for each order");

const double *boys_row(const fmo_boys_table *boys, int order)
{
    return boys->row[order][0];
}

/* ---- potentials of a call ------------------------------------------------------------------- */

typedef struct call_arrays {
    target *of[FMO_GPU_POINT_ORDERS]; /* [jobs] */
    weighted_lists *source;
    int *begin;     /* [jobs + 1] */
    double *points; /* points of jobs without cached products */
    double *V;      /* potentials of all jobs; first those that are copied to the host */
    double *matrix; /* matrices of jobs whose products are cached */
    fmo_gpu_potential_matrix *write;
} call_arrays;

/* Where the data of a job begin in the arrays of the call. */
typedef struct job_place {
    const fmo_gpu_products *cached; /* cached products, or NULL */
    int first[FMO_GPU_POINT_ORDERS];
    size_t source, points, V, matrix, write;
} job_place;

/* Products with fewer points are not cached: the host computes their matrices in less time. */
enum { CACHED_POINTS = fmo_tuning_gpu_potential_kept_points };

/* Caches large products of jobs, so that the GPU converts their potentials to matrices. If its
 * memory does not suffice the host does that, which is not an error. */
fmo_status cache_products(const fmo_potential_job *jobs, size_t count, fmo_gpu_device *device,
                          fmo_error *err)
{
    const fmo_products **const of = (const fmo_products **)malloc((count + 1) * sizeof *of);
    size_t num = 0;
    fmo_error why = {FMO_OK, ""};
    if (!of) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    for (size_t k = 0; k < count; k++)
        if (jobs[k].products->num >= CACHED_POINTS) of[num++] = jobs[k].products;
    const fmo_status status = fmo_gpu_products_need(of, num, device, &why);
    free(of);
    if (status == FMO_OK || status == FMO_ERR_MEMORY) return FMO_OK;
    return fmo_error_set(err, status, "%s", why.message);
}

/* Determines where the potentials of each job begin, those that are copied to the host first. */
void place_values(const fmo_potential_job *jobs, size_t count, job_place *place)
{
    size_t at = 0;
    for (int cached = 0; cached < 2; cached++)
        for (size_t k = 0; k < count; k++) {
            if ((place[k].cached != NULL) != cached) continue;
            place[k].V = at;
            at += jobs[k].products->value_begin[FMO_GPU_POINT_ORDERS];
        }
    place[count].V = at;
}

/* Determines where the data of each job begin; place: [count + 1], totals in the last one. */
fmo_status place_jobs(const fmo_potential_job *jobs, size_t count, int device, job_place *place,
                      fmo_error *err)
{
    job_place at = {};
    for (size_t k = 0; k < count; k++) {
        const fmo_products *const p = jobs[k].products;
        const size_t n = (size_t)p->centres.ao_num;
        place[k] = at;
        place[k].cached = fmo_gpu_products_of(p, device);
        at.source += jobs[k].source_num + 1;
        if (place[k].cached)
            at.matrix += n * n, at.write++;
        else
            at.points += 5 * (size_t)p->num;
        for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) {
            const long next = (long)at.first[N] + p->begin[N + 1] - p->begin[N];
            if (next > INT32_MAX)
                return fmo_error_set(err, FMO_ERR_MEMORY, "%ld points are more than indices hold",
                                     next);
            at.first[N] = (int)next;
        }
    }
    place[count] = at;
    if (at.source > INT32_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY, "%zu sources are more than indices hold",
                             at.source);
    return FMO_OK;
}

/* Fills in points, sources and the arguments for the matrix (if products are cached) of job k. own:
 * the distribution of the job's further charges. */
void fill_job(const fmo_potential_job *job, size_t k, const fmo_distribution *own,
              const job_place *place, const fmo_gpu_gathered *g, const call_arrays *host,
              const call_arrays *view)
{
    const fmo_products *const p = job->products;
    size_t at = place->points;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) {
        const size_t num = (size_t)(p->begin[N + 1] - p->begin[N]);
        target *const t = &host->of[N][k];
        t->num = (int)num;
        t->first = place->first[N];
        t->V = view->V + place->V + p->value_begin[N];
        if (place->cached) {
            t->at = place->cached->at + 4 * (size_t)p->begin[N];
            t->bound = place->cached->bound + p->begin[N];
            continue;
        }
        double *const to = host->points + at;
        t->at = view->points + at;
        t->bound = t->at + 4 * num;
        for (size_t n = 0; n < num; n++) {
            const fmo_point *const point = &p->point[(size_t)p->begin[N] + n];
            for (size_t x = 0; x < 3; x++) to[x * num + n] = point->at[x];
            to[3 * num + n] = point->p;
            to[4 * num + n] = point->bound;
        }
        at += 5 * num;
    }
    host->begin[k] = (int)place->source;
    for (size_t s = 0; s <= job->source_num; s++) {
        const bool last = s == job->source_num;
        host->source[place->source + s] = {fmo_gpu_gathered_lists(g, last ? own : job->source[s]),
                                           last || !job->weight ? 1.0 : job->weight[s]};
    }
    if (!place->cached) return;
    fmo_gpu_potential_matrix *const write = &host->write[place->write];
    write->products = place->cached->self;
    write->V = view->V + place->V;
    write->potential = view->matrix + place->matrix;
    memcpy(write->value_begin, p->value_begin, sizeof write->value_begin);
}

/* Queues the kernels for all pairs of orders in one stream, as all of them add to the same
 * potentials. */
cudaError_t queue_potentials(const call_arrays *view, const job_place *all, size_t count,
                             const fmo_gpu_gathered *g, double least, cudaStream_t stream)
{
    const fmo_boys_table *boys = NULL;
    FMO_GPU_TRY(fmo_gpu_boys(&boys));
    if (!all->V) return cudaSuccess;
    FMO_GPU_TRY(cudaMemsetAsync(view->V, 0, all->V * sizeof *view->V, stream));
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) {
        if (!all->first[N]) continue;
        for (int K = 0; K < FMO_GPU_POINT_ORDERS; K++) {
            if (!g->has[K]) continue;
            const potential_args a = {view->of[N],  (int)count,  all->first[N],
                                      view->source, view->begin, boys_row(boys, N + K),
                                      least};
            potential_kernels[N][K]<<<(all->first[N] + WARPS - 1) / WARPS, THREADS, 0, stream>>>(a);
            FMO_GPU_TRY(cudaGetLastError());
        }
    }
    return cudaSuccess;
}

/* Queues the computation of the matrices of jobs whose products are cached. */
cudaError_t queue_matrices(const fmo_potential_job *jobs, size_t count, const call_arrays *view,
                           const job_place *place, cudaStream_t stream)
{
    size_t shared = 0;
    int pairs = 0;
    if (!place[count].write) return cudaSuccess;
    for (size_t k = 0; k < count; k++) {
        const fmo_products *const p = jobs[k].products;
        if (!place[k].cached) continue;
        if (p->pair_num > pairs) pairs = p->pair_num;
        if (fmo_gpu_matrix_shared(p) > shared) shared = fmo_gpu_matrix_shared(p);
    }
    FMO_GPU_TRY(
        cudaMemsetAsync(view->matrix, 0, place[count].matrix * sizeof *view->matrix, stream));
    return fmo_gpu_write_matrices(view->write, place[count].write, pairs, shared, stream);
}

/* Copies matrices to the jobs, and the potentials of the others to newly allocated V[k]. */
fmo_status bring_back(const fmo_potential_job *jobs, size_t count, const call_arrays *view,
                      const job_place *place, double **V, const fmo_gpu_device *device,
                      fmo_error *err)
{
    fmo_gpu_returned *const back = (fmo_gpu_returned *)malloc((count + 1) * sizeof *back);
    bool has_memory = back != NULL;
    size_t num = 0;
    for (int cached = 0; cached < 2; cached++)
        for (size_t k = 0; k < count && has_memory; k++) {
            const size_t n = (size_t)jobs[k].products->centres.ao_num;
            const size_t values = jobs[k].products->value_begin[FMO_GPU_POINT_ORDERS];
            if ((place[k].cached != NULL) != cached) continue;
            if (cached) {
                back[num++] = {view->matrix + place[k].matrix, jobs[k].potential, n * n, 0};
                continue;
            }
            V[k] = (double *)malloc((values + 1) * sizeof *V[k]);
            has_memory = V[k] != NULL;
            if (values) back[num++] = {view->V + place[k].V, V[k], values, 0};
        }
    cudaError_t code = cudaSuccess;
    if (has_memory) code = fmo_gpu_bring_back(back, num, device->stream);
    free(back);
    if (!has_memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    FMO_GPU_CHECK(code, "potentials", err);
    return FMO_OK;
}

/* The arguments of fmo_gpu_potentials. */
typedef struct potentials_call {
    const fmo_potential_job *jobs;
    size_t count;
    const fmo_distribution *const *own;
    double **V, least;
} potentials_call;

/* Computes the potentials of jobs whose distributions have been gathered. */
fmo_status run_potentials(const potentials_call *c, fmo_gpu_device *device, job_place *place,
                          fmo_gpu_gathered *g, fmo_error *err)
{
    const fmo_potential_job *const jobs = c->jobs;
    const size_t count = c->count;
    call_arrays host = {}, view = {};
    fmo_status status = place_jobs(jobs, count, g->device, place, err);
    if (status != FMO_OK) return status;
    const job_place *const all = &place[count];
    place_values(jobs, count, place);
#define STAGED(name, num, bytes) {(num) * (bytes), (void **)&view.name, (void **)&host.name}
    fmo_gpu_array arrays[FMO_GPU_POINT_ORDERS + 8];
    int num = 0;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++)
        arrays[num++] = STAGED(of[N], count, sizeof(target));
    arrays[num++] = STAGED(source, all->source, sizeof(weighted_lists));
    arrays[num++] = STAGED(begin, count + 1, sizeof(int));
    arrays[num++] = STAGED(points, all->points, sizeof(double));
    arrays[num++] = STAGED(write, all->write, sizeof(fmo_gpu_potential_matrix));
#undef STAGED
    arrays[num++] = {g->num * sizeof *g->lists, (void **)&g->view_lists, (void **)&g->lists};
    arrays[num++] = {g->size * sizeof *g->memory, (void **)&g->view_memory, (void **)&g->memory};
    arrays[num++] = {all->V * sizeof *view.V, (void **)&view.V, NULL};
    arrays[num++] = {all->matrix * sizeof *view.matrix, (void **)&view.matrix, NULL};
    void *const staged = fmo_gpu_stage(arrays, num);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    status = fmo_gpu_place_arrays(device, "potentials", arrays, num, err);
    if (status == FMO_OK) {
        fmo_gpu_fill_gathered(g);
#pragma omp parallel for schedule(dynamic) if (count > 1)
        for (size_t k = 0; k < count; k++)
            fill_job(&jobs[k], k, c->own[k], &place[k], g, &host, &view);
        host.begin[count] = (int)all->source;
        status = fmo_gpu_upload(device, "potentials", staged, arrays, num, err);
    }
    free(staged);
    if (status != FMO_OK) return status;
    FMO_GPU_CHECK(queue_potentials(&view, all, count, g, c->least, device->stream), "potentials",
                  err);
    FMO_GPU_CHECK(queue_matrices(jobs, count, &view, place, device->stream), "potentials", err);
    return bring_back(jobs, count, &view, place, c->V, device, err);
}

} // namespace

/* Gathers the sources of all jobs, then computes the potentials. */
fmo_status fmo_gpu_potentials(const fmo_potential_job *jobs, size_t count,
                              const fmo_distribution *const *own, double **V, double least,
                              const fmo_potential_options *options, fmo_error *err)
{
    const fmo_gpu_range range("potentials");
    fmo_gpu_call call(options->device, NULL, err);
    if (call.status != FMO_OK) return call.status;
    const fmo_gpu_device_guard guard(&call.device);
    size_t num = count, at = 0;
    for (size_t k = 0; k < count; k++) num += jobs[k].source_num;
    const fmo_distribution **const all = (const fmo_distribution **)malloc((num + 1) * sizeof *all);
    job_place *const place = (job_place *)malloc((count + 1) * sizeof *place);
    fmo_gpu_gathered g = {};
    fmo_status status = FMO_OK;
    if (!all || !place) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    for (size_t k = 0; k < count && status == FMO_OK; k++) {
        for (size_t s = 0; s < jobs[k].source_num; s++) all[at++] = jobs[k].source[s];
        all[at++] = own[k];
    }
    if (status == FMO_OK) status = cache_products(jobs, count, &call.device, err);
    if (status == FMO_OK) status = fmo_gpu_gather(all, num, &g, &call.device, err);
    if (status == FMO_OK) {
        const potentials_call c = {jobs, count, own, V, least};
        status = run_potentials(&c, &call.device, place, &g, err);
    }
    free(place);
    free(all);
    return status;
}

/* Computes the energies of jobs whose distributions have been gathered. */
static fmo_status run_energies(fmo_electrostatics_job *jobs, size_t count, double least,
                               fmo_gpu_device *device, fmo_gpu_gathered *g, fmo_error *err)
{
    energy_pair *pair = NULL, *view = NULL;
    double *energies = NULL;
    const size_t bytes = count * PIECES * sizeof *energies;
    const fmo_gpu_array arrays[] = {
        {count * sizeof *pair, (void **)&view, (void **)&pair},
        {g->num * sizeof *g->lists, (void **)&g->view_lists, (void **)&g->lists},
        {g->size * sizeof *g->memory, (void **)&g->view_memory, (void **)&g->memory},
        {bytes, (void **)&energies, NULL}};
    enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
    void *const staged = fmo_gpu_stage(arrays, ARRAYS);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for energies");
    fmo_status status = fmo_gpu_place_arrays(device, "energies", arrays, ARRAYS, err);
    if (status == FMO_OK) {
        fmo_gpu_fill_gathered(g);
        for (size_t k = 0; k < count; k++)
            pair[k] = {fmo_gpu_gathered_lists(g, jobs[k].a), fmo_gpu_gathered_lists(g, jobs[k].b)};
        status = fmo_gpu_upload(device, "energies", staged, arrays, ARRAYS, err);
    }
    free(staged);
    if (status != FMO_OK) return status;
    const fmo_boys_table *boys = NULL;
    FMO_GPU_CHECK(fmo_gpu_boys(&boys), "the table of the Boys function", err);
    FMO_GPU_CHECK(cudaMemsetAsync(energies, 0, bytes, device->stream), "energies", err);
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++)
        for (int K = 0; K < FMO_GPU_POINT_ORDERS; K++) {
            if (!g->has[N] || !g->has[K]) continue;
            const energy_args a = {view, energies, boys_row(boys, N + K), least};
            energy_kernels[N][K]<<<dim3((unsigned)count, PIECES), THREADS, 0, device->stream>>>(a);
            FMO_GPU_CHECK(cudaGetLastError(), "energies", err);
        }
    double *const back = (double *)malloc(bytes);
    if (!back) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for energies");
    const cudaError_t code = fmo_gpu_bring(back, energies, bytes, device->stream);
    for (size_t k = 0; k < count && code == cudaSuccess; k++) {
        jobs[k].energy = 0.0;
        for (size_t p = 0; p < PIECES; p++) jobs[k].energy += back[k * PIECES + p];
    }
    free(back);
    FMO_GPU_CHECK(code, "energies", err);
    return FMO_OK;
}

/* Gathers the distributions of all jobs, then computes the energies. */
fmo_status fmo_gpu_electrostatics(fmo_electrostatics_job *jobs, size_t count, double least,
                                  const fmo_potential_options *options, fmo_error *err)
{
    const fmo_gpu_range range("electrostatics");
    fmo_gpu_call call(options->device, NULL, err);
    if (call.status != FMO_OK) return call.status;
    const fmo_gpu_device_guard guard(&call.device);
    const fmo_distribution **const all =
        (const fmo_distribution **)malloc((2 * count + 1) * sizeof *all);
    if (!all) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for distributions");
    for (size_t k = 0; k < count; k++) {
        all[2 * k] = jobs[k].a;
        all[2 * k + 1] = jobs[k].b;
    }
    fmo_gpu_gathered g = {};
    fmo_status status = fmo_gpu_gather(all, 2 * count, &g, &call.device, err);
    if (status == FMO_OK) status = run_energies(jobs, count, least, &call.device, &g, err);
    free(all);
    return status;
}
