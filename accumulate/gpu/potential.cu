/* Potentials and energies of charge distributions on a GPU: a warp for a point, lanes take the
 * points of lists; a few blocks for a pair of distributions. What points are: potential/points.h.
 */
#include "accumulate/gpu/call.cuh"

#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/range.h"
#include "accumulate/potential/points.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = 128, WARPS = THREADS / 32 };

/* Blocks that share the energy of a pair of distributions: pairs may be few, and differ in size. */
enum { PIECES = 16 };

/* More points than this are put together by several threads of the host. */
enum { PARALLEL = 4096 };

/* Lists of one order of all distributions, one after the other. */
typedef struct list_columns {
    const double *at, *H, *norm; /* [4][num], [FMO_HERMITE_COUNT(order)][num], [num] */
    size_t num;
} list_columns;

/* A part of the lists, and how much it counts. */
typedef struct list_part {
    int begin, end;
    double weight;
} list_part;

/* Adds to V what points of a part do at a point, those of this lane. They descend in norm,
 * and end with the first below `least`. */
template <int NB, int NK>
__device__ __forceinline__ void meet(const double *P, double p, const list_columns &list,
                                     list_part from, double least, const double *boys, double *V)
{
    constexpr int L = NB + NK, own = FMO_HERMITE_COUNT(NB);
    const size_t num = list.num;
    for (int q = from.begin + (int)(threadIdx.x % 32); q < from.end; q += 32) {
        if (list.norm[q] < least) return;
        const double exponent = list.at[3 * num + q];
        fmo_prim_quartet z;
        double r[FMO_HERMITE_COUNT(L)], F[L + 1], R2 = 0.0;
        FMO_UNROLL
        for (int x = 0; x < 3; x++) {
            z.PQ[x] = P[x] - list.at[x * num + q];
            R2 += z.PQ[x] * z.PQ[x];
        }
        const double rs = fmo_rsqrt(p + exponent);
        z.alpha = p * exponent * (rs * rs);
        fmo_boys_eval(boys, z.alpha * R2, L, F);
        const double factor =
            1.1283791670955126 * from.weight * z.alpha * fmo_rsqrt(z.alpha); /* 2/sqrt(pi) */
        FMO_UNROLL
        for (int m = 0; m <= L; m++) z.S[m] = factor * F[m];
        fmo_slice_coulomb(L, &z, r);
        FMO_UNROLL
        for (int k = 0; k < FMO_HERMITE_COUNT(NK); k++) {
            const double h = list.H[k * num + q], d = fmo_slice_order(k) % 2 ? -h : h;
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

/* Points of one order of all jobs. */
typedef struct target_columns {
    const double *at, *bound; /* [4][num], [num] */
    const int *job;           /* [num] */
    double *V;                /* [num][FMO_HERMITE_COUNT(order)] */
    int num;
} target_columns;

typedef struct potential_args {
    target_columns target;
    list_columns list;
    const list_part *part;
    const int *begin; /* [jobs + 1] those of each job */
    const double *boys;
    double least;
} potential_args;

template <int NB, int NK>
__global__ void __launch_bounds__(THREADS) potential(const __grid_constant__ potential_args a)
{
    constexpr int own = FMO_HERMITE_COUNT(NB);
    const int n = blockIdx.x * WARPS + (int)(threadIdx.x / 32);
    if (n >= a.target.num) return;
    const size_t num = (size_t)a.target.num;
    const double P[3] = {a.target.at[n], a.target.at[num + n], a.target.at[2 * num + n]};
    const double p = a.target.at[3 * num + n], least = a.least / a.target.bound[n];
    const int job = a.target.job[n];
    double V[own];
    FMO_UNROLL
    for (int b = 0; b < own; b++) V[b] = 0.0;
    for (int s = a.begin[job]; s < a.begin[job + 1]; s++)
        meet<NB, NK>(P, p, a.list, a.part[s], least, a.boys, V);
    FMO_UNROLL
    for (int b = 0; b < own; b++) {
        const double sum = sum_lanes(V[b]);
        if (threadIdx.x % 32 == 0) a.target.V[(size_t)n * own + b] += sum;
    }
}

typedef void potential_kernel(potential_args);

/* ---- energies ------------------------------------------------------------------------------- */

typedef struct energy_args {
    list_columns bra, ket;
    const list_part *bra_part, *ket_part; /* [jobs] */
    double *energy;                       /* [jobs][PIECES], added to */
    const double *boys;
    double least;
} energy_args;

template <int NB, int NK>
__global__ void __launch_bounds__(THREADS) energy(const __grid_constant__ energy_args a)
{
    constexpr int own = FMO_HERMITE_COUNT(NB);
    __shared__ double of_warp[WARPS];
    const list_part bras = a.bra_part[blockIdx.x], kets = a.ket_part[blockIdx.x];
    const int warp = (int)(threadIdx.x / 32);
    const size_t num = a.bra.num;
    double sum = 0.0;
    for (int n = bras.begin + warp + WARPS * (int)blockIdx.y; n < bras.end; n += WARPS * PIECES) {
        const double P[3] = {a.bra.at[n], a.bra.at[num + n], a.bra.at[2 * num + n]};
        double V[own];
        FMO_UNROLL
        for (int b = 0; b < own; b++) V[b] = 0.0;
        meet<NB, NK>(P, a.bra.at[3 * num + n], a.ket, kets, a.least / a.bra.norm[n], a.boys, V);
        FMO_UNROLL
        for (int b = 0; b < own; b++) sum += a.bra.H[b * num + n] * V[b];
    }
    sum = sum_lanes(sum);
    if (threadIdx.x % 32 == 0) of_warp[warp] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < WARPS; w++) sum += of_warp[w];
    a.energy[(size_t)blockIdx.x * PIECES + blockIdx.y] += sum;
}

typedef void energy_kernel(energy_args);

/* By orders of both. */
#define ROW(kernel, a)                                                       \
    {                                                                        \
        kernel<a, 0>, kernel<a, 1>, kernel<a, 2>, kernel<a, 3>, kernel<a, 4> \
    }
#define TABLE(kernel)                                                                  \
    {                                                                                  \
        ROW(kernel, 0), ROW(kernel, 1), ROW(kernel, 2), ROW(kernel, 3), ROW(kernel, 4) \
    }
potential_kernel *const potential_kernels[FMO_POINT_ORDERS][FMO_POINT_ORDERS] = TABLE(potential);
energy_kernel *const energy_kernels[FMO_POINT_ORDERS][FMO_POINT_ORDERS] = TABLE(energy);
#undef TABLE
#undef ROW
static_assert(FMO_POINT_ORDERS == 5, "potential.cu: a row and a column for each order");

/* ---- distributions --------------------------------------------------------------------------
 */

/* Distributions that a call needs, each once, and where they begin in the columns of an order. */
typedef struct gathered {
    const fmo_distribution **of; /* [num] ascending addresses */
    size_t num;
    int *begin; /* [FMO_POINT_ORDERS][num + 1] */
    size_t total[FMO_POINT_ORDERS];
} gathered;

int by_address(const void *x, const void *y)
{
    const fmo_distribution *a = *(const fmo_distribution *const *)x;
    const fmo_distribution *b = *(const fmo_distribution *const *)y;
    return (a > b) - (a < b);
}

/* of: [num], with repetitions; taken over. */
fmo_status gather(const fmo_distribution **of, size_t num, gathered *g, fmo_error *err)
{
    qsort(of, num, sizeof *of, by_address);
    g->of = of;
    g->num = 0;
    for (size_t k = 0; k < num; k++)
        if (!k || of[k] != of[k - 1]) of[g->num++] = of[k];
    g->begin = (int *)malloc(FMO_POINT_ORDERS * (g->num + 1) * sizeof *g->begin);
    if (!g->begin) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for distributions");
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        int *const begin = g->begin + (size_t)N * (g->num + 1);
        size_t at = 0;
        for (size_t k = 0; k < g->num; k++) {
            begin[k] = (int)at;
            at += (size_t)of[k]->list[N].used;
        }
        begin[g->num] = (int)at;
        g->total[N] = at;
        if (at > INT32_MAX)
            return fmo_error_set(err, FMO_ERR_MEMORY, "%zu points are more than indices hold", at);
    }
    return FMO_OK;
}

void release(gathered *g)
{
    free(g->of);
    free(g->begin);
}

size_t place_of(const gathered *g, const fmo_distribution *d)
{
    return (
        size_t)((const fmo_distribution **)bsearch(&d, g->of, g->num, sizeof *g->of, by_address) -
                g->of);
}

/* Where a distribution stands in the columns of an order. */
list_part part_of(const gathered *g, size_t place, int N, double weight)
{
    const int *const begin = g->begin + (size_t)N * (g->num + 1) + place;
    return {begin[0], begin[1], weight};
}

/* Columns on the host and on the device. */
typedef struct columns {
    double *host[3];
    list_columns view;
} columns;

void list_arrays(const gathered *g, int N, columns *c, fmo_gpu_array *to)
{
    const size_t num = g->total[N];
    c->view.num = num;
    to[0] = {4 * num * sizeof(double), (void **)&c->view.at, (void **)&c->host[0]};
    to[1] = {(size_t)FMO_HERMITE_COUNT(N) * num * sizeof(double), (void **)&c->view.H,
             (void **)&c->host[1]};
    to[2] = {num * sizeof(double), (void **)&c->view.norm, (void **)&c->host[2]};
}

void fill_columns(const gathered *g, int N, const columns *c)
{
    const size_t num = g->total[N];
#pragma omp parallel for schedule(static) if (num > PARALLEL)
    for (size_t k = 0; k < g->num; k++) {
        const fmo_point_list *const list = &g->of[k]->list[N];
        const size_t own = (size_t)list->num, bytes = (size_t)list->used * sizeof(double);
        const size_t at = (size_t)g->begin[(size_t)N * (g->num + 1) + k];
        if (!bytes) continue;
        for (size_t x = 0; x < 4; x++) memcpy(c->host[0] + x * num + at, list->at + x * own, bytes);
        for (size_t h = 0; h < (size_t)FMO_HERMITE_COUNT(N); h++)
            memcpy(c->host[1] + h * num + at, list->H + h * own, bytes);
        memcpy(c->host[2] + at, list->norm, bytes);
    }
}

const double *boys_row(const fmo_boys_table *boys, int order)
{
    return boys->row[order][0];
}

/* Points of one order of all jobs, on the host and on the device. */
typedef struct targets {
    double *at, *bound;
    int *job;
    list_part *part; /* what jobs see of the lists of this order */
    target_columns view;
    const list_part *view_part;
    size_t values;
} targets;

/* Where a job's points of each order stand, and its parts. */
typedef struct job_place {
    int point[FMO_POINT_ORDERS], part;
} job_place;

/* Points and parts of a job. */
void fill_job(const fmo_potential_job *job, int number, const fmo_distribution *own,
              const job_place *place, const gathered *g, const targets *t)
{
    const fmo_products *const p = job->products;
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        const size_t points = (size_t)t[N].view.num;
        size_t at = (size_t)place->point[N];
        for (int n = p->begin[N]; n < p->begin[N + 1]; n++, at++) {
            for (size_t x = 0; x < 3; x++) t[N].at[x * points + at] = p->point[n].at[x];
            t[N].at[3 * points + at] = p->point[n].p;
            t[N].bound[at] = p->point[n].bound;
            t[N].job[at] = number;
        }
    }
    for (size_t s = 0; s <= job->source_num; s++) {
        const bool last = s == job->source_num;
        const size_t found = place_of(g, last ? own : job->source[s]);
        const double weight = last || !job->weight ? 1.0 : job->weight[s];
        for (int N = 0; N < FMO_POINT_ORDERS; N++)
            t[N].part[(size_t)place->part + s] = part_of(g, found, N, weight);
    }
}

/* All pairs of orders, one after the other: each adds to what the others have left. */
fmo_status queue_potentials(const columns *list, const targets *t, const int *part_begin,
                            double least, const fmo_gpu_device *device, fmo_error *err)
{
    const fmo_boys_table *boys = NULL;
    FMO_GPU_CHECK(fmo_gpu_boys(&boys), "the table of the Boys function", err);
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        if (!t[N].view.num) continue;
        FMO_GPU_CHECK(cudaMemsetAsync(t[N].view.V, 0, t[N].values * sizeof(double), device->stream),
                      "potentials", err);
        for (int K = 0; K < FMO_POINT_ORDERS; K++) {
            if (!list[K].view.num) continue;
            const potential_args a = {t[N].view,  list[K].view,          t[K].view_part,
                                      part_begin, boys_row(boys, N + K), least};
            potential_kernels
                [N][K]<<<(t[N].view.num + WARPS - 1) / WARPS, THREADS, 0, device->stream>>>(a);
            FMO_GPU_CHECK(cudaGetLastError(), "potentials", err);
        }
    }
    return FMO_OK;
}

/* Potentials to the jobs. */
fmo_status bring_back(const fmo_potential_job *jobs, size_t count, const targets *t,
                      const job_place *place, double *const *V, const fmo_gpu_device *device,
                      fmo_error *err)
{
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        if (!t[N].values) continue;
        double *const back = (double *)malloc(t[N].values * sizeof *back);
        if (!back) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
        const cudaError_t code = cudaMemcpyAsync(back, t[N].view.V, t[N].values * sizeof *back,
                                                 cudaMemcpyDeviceToHost, device->stream);
        const cudaError_t waited = cudaStreamSynchronize(device->stream);
        const bool good = code == cudaSuccess && waited == cudaSuccess;
#pragma omp parallel for schedule(static) if (good && count > 1)
        for (size_t k = 0; k < count; k++) {
            const fmo_products *const p = jobs[k].products;
            if (good)
                memcpy(V[k] + p->value_begin[N],
                       back + (size_t)place[k].point[N] * (size_t)FMO_HERMITE_COUNT(N),
                       (p->value_begin[N + 1] - p->value_begin[N]) * sizeof *back);
        }
        free(back);
        FMO_GPU_CHECK(code, "potentials", err);
        FMO_GPU_CHECK(waited, "potentials", err);
    }
    return FMO_OK;
}

/* Jobs whose distributions are gathered. */
fmo_status run_potentials(const fmo_potential_job *jobs, size_t count,
                          const fmo_distribution *const *own, double *const *V, double least,
                          fmo_gpu_device *device, job_place *place, gathered *g, fmo_error *err)
{
    columns list[FMO_POINT_ORDERS] = {};
    targets t[FMO_POINT_ORDERS] = {};
    fmo_gpu_array arrays[FMO_POINT_ORDERS * 8 + 1];
    int num = 0, *part_begin = NULL;
    const int *view_begin = NULL;
    size_t parts = 0;
    for (size_t k = 0; k < count; k++) {
        place[k].part = (int)parts;
        parts += jobs[k].source_num + 1;
    }
    if (parts > INT32_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY, "%zu sources are more than indices hold", parts);
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        size_t points = 0;
        for (size_t k = 0; k < count; k++) {
            place[k].point[N] = (int)points;
            points += (size_t)(jobs[k].products->begin[N + 1] - jobs[k].products->begin[N]);
        }
        if (points > INT32_MAX)
            return fmo_error_set(err, FMO_ERR_MEMORY, "%zu points are more than indices hold",
                                 points);
        t[N].view.num = (int)points;
        t[N].values = points * (size_t)FMO_HERMITE_COUNT(N);
        list_arrays(g, N, &list[N], arrays + num);
        num += 3;
        arrays[num++] = {4 * points * sizeof(double), (void **)&t[N].view.at, (void **)&t[N].at};
        arrays[num++] = {points * sizeof(double), (void **)&t[N].view.bound, (void **)&t[N].bound};
        arrays[num++] = {points * sizeof(int), (void **)&t[N].view.job, (void **)&t[N].job};
        arrays[num++] = {parts * sizeof(list_part), (void **)&t[N].view_part, (void **)&t[N].part};
    }
    arrays[num++] = {(count + 1) * sizeof(int), (void **)&view_begin, (void **)&part_begin};
    for (int N = 0; N < FMO_POINT_ORDERS; N++)
        arrays[num++] = {t[N].values * sizeof(double), (void **)&t[N].view.V, NULL};
    void *const staged = fmo_gpu_stage(arrays, num);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    for (int N = 0; N < FMO_POINT_ORDERS; N++) fill_columns(g, N, &list[N]);
#pragma omp parallel for schedule(dynamic) if (count > 1)
    for (size_t k = 0; k < count; k++) {
        part_begin[k] = place[k].part;
        fill_job(&jobs[k], (int)k, own[k], &place[k], g, t);
    }
    part_begin[count] = (int)parts;
    fmo_status status = fmo_gpu_place_arrays(device, "potentials", arrays, num, err);
    if (status == FMO_OK) status = fmo_gpu_upload(device, "potentials", staged, arrays, num, err);
    free(staged);
    if (status != FMO_OK) return status;
    status = queue_potentials(list, t, view_begin, least, device, err);
    return status == FMO_OK ? bring_back(jobs, count, t, place, V, device, err) : status;
}

} // namespace

fmo_status fmo_gpu_potentials(const fmo_potential_job *jobs, size_t count,
                              const fmo_distribution *const *own, double *const *V, double least,
                              const fmo_potential_options *options, fmo_error *err)
{
    const fmo_gpu_range range("potentials");
    fmo_gpu_call call(options->device, NULL, err);
    if (call.status != FMO_OK) return call.status;
    const fmo_gpu_inside inside(&call.device);
    size_t num = count, at = 0;
    for (size_t k = 0; k < count; k++) num += jobs[k].source_num;
    const fmo_distribution **const all = (const fmo_distribution **)malloc((num + 1) * sizeof *all);
    if (!all) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for distributions");
    for (size_t k = 0; k < count; k++) {
        for (size_t s = 0; s < jobs[k].source_num; s++) all[at++] = jobs[k].source[s];
        all[at++] = own[k];
    }
    gathered g = {};
    job_place *const place = (job_place *)malloc(count * sizeof *place);
    fmo_status status = gather(all, num, &g, err);
    if (status == FMO_OK && !place)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for potentials");
    if (status == FMO_OK)
        status = run_potentials(jobs, count, own, V, least, &call.device, place, &g, err);
    free(place);
    release(&g);
    return status;
}

/* Energies of jobs whose distributions are gathered. */
static fmo_status run_energies(fmo_electrostatics_job *jobs, size_t count, double least,
                               fmo_gpu_device *device, const gathered *g, fmo_error *err)
{
    columns list[FMO_POINT_ORDERS] = {};
    list_part *part[2][FMO_POINT_ORDERS], *view[2][FMO_POINT_ORDERS];
    double *energies = NULL;
    fmo_gpu_array arrays[FMO_POINT_ORDERS * 5 + 1];
    int num = 0;
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        list_arrays(g, N, &list[N], arrays + num);
        num += 3;
        for (int side = 0; side < 2; side++)
            arrays[num++] = {count * sizeof(list_part), (void **)&view[side][N],
                             (void **)&part[side][N]};
    }
    const size_t bytes = count * PIECES * sizeof *energies;
    arrays[num++] = {bytes, (void **)&energies, NULL};
    void *const staged = fmo_gpu_stage(arrays, num);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for energies");
    for (int N = 0; N < FMO_POINT_ORDERS; N++) fill_columns(g, N, &list[N]);
#pragma omp parallel for schedule(static) if (count > PARALLEL)
    for (size_t k = 0; k < count; k++) {
        const size_t a = place_of(g, jobs[k].a), b = place_of(g, jobs[k].b);
        for (int N = 0; N < FMO_POINT_ORDERS; N++) {
            part[0][N][k] = part_of(g, a, N, 1.0);
            part[1][N][k] = part_of(g, b, N, 1.0);
        }
    }
    fmo_status status = fmo_gpu_place_arrays(device, "energies", arrays, num, err);
    if (status == FMO_OK) status = fmo_gpu_upload(device, "energies", staged, arrays, num, err);
    free(staged);
    if (status != FMO_OK) return status;
    const fmo_boys_table *boys = NULL;
    FMO_GPU_CHECK(fmo_gpu_boys(&boys), "the table of the Boys function", err);
    FMO_GPU_CHECK(cudaMemsetAsync(energies, 0, bytes, device->stream), "energies", err);
    for (int N = 0; N < FMO_POINT_ORDERS; N++)
        for (int K = 0; K < FMO_POINT_ORDERS; K++) {
            if (!list[N].view.num || !list[K].view.num) continue;
            const energy_args a = {list[N].view, list[K].view,          view[0][N], view[1][K],
                                   energies,     boys_row(boys, N + K), least};
            energy_kernels[N][K]<<<dim3((unsigned)count, PIECES), THREADS, 0, device->stream>>>(a);
            FMO_GPU_CHECK(cudaGetLastError(), "energies", err);
        }
    double *const back = (double *)malloc(bytes);
    if (!back) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for energies");
    cudaError_t code =
        cudaMemcpyAsync(back, energies, bytes, cudaMemcpyDeviceToHost, device->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(device->stream);
    for (size_t k = 0; k < count && code == cudaSuccess; k++) {
        jobs[k].energy = 0.0;
        for (size_t p = 0; p < PIECES; p++) jobs[k].energy += back[k * PIECES + p];
    }
    free(back);
    FMO_GPU_CHECK(code, "energies", err);
    return FMO_OK;
}

fmo_status fmo_gpu_electrostatics(fmo_electrostatics_job *jobs, size_t count, double least,
                                  const fmo_potential_options *options, fmo_error *err)
{
    const fmo_gpu_range range("electrostatics");
    fmo_gpu_call call(options->device, NULL, err);
    if (call.status != FMO_OK) return call.status;
    const fmo_gpu_inside inside(&call.device);
    const fmo_distribution **const all =
        (const fmo_distribution **)malloc((2 * count + 1) * sizeof *all);
    if (!all) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for distributions");
    for (size_t k = 0; k < count; k++) {
        all[2 * k] = jobs[k].a;
        all[2 * k + 1] = jobs[k].b;
    }
    gathered g = {};
    fmo_status status = gather(all, 2 * count, &g, err);
    if (status == FMO_OK) status = run_energies(jobs, count, least, &call.device, &g, err);
    release(&g);
    return status;
}
