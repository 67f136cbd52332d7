/* Makes lists of points on a GPU from densities, in three steps: blocks of the density for pairs of
 * centres, Hermite densities at the points of their products, and lists of points sorted by norm.
 * lists.h describes the data, potential/points.h the lists. Next: potentials.cu. */
#include "accumulate/gpu/potential/lists.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/tuning.h"
#include "integrals/eri/eri_slice.h"

namespace {

/* One lock for each GPU (by its number, modulo 8): only one thread at a time makes cached data, so
 * that no other makes the same. */
pthread_mutex_t making[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
const int makers = (int)(sizeof making / sizeof making[0]);

/* ---- lists ---------------------------------------------------------------------------------- */

enum { THREADS = fmo_tuning_gpu_potential_threads, WARPS = THREADS / 32 };

/* The arguments of the kernels for one distribution. */
typedef struct maker {
    const fmo_gpu_products *products;
    fmo_gpu_points *to;
    const double *D, *charge, *coord;
    int charges;
    double *block; /* blocks of D, pair after pair of centres */
    double *H;     /* [FMO_HERMITE_COUNT(order)][points] for each order */
    double *norm;  /* [points] */
    size_t H_begin[FMO_GPU_POINT_ORDERS];
} maker;

/* Computes the block of D over the functions of two centres, both triangles added; for a centre
 * with itself, their mean. One warp for each pair of centres. */
__global__ void __launch_bounds__(THREADS) make_blocks(const maker *from)
{
    const maker &m = from[blockIdx.y];
    const fmo_gpu_products &p = *m.products;
    const int c = (int)(blockIdx.x * WARPS + threadIdx.x / 32);
    if (c >= p.pair_num) return;
    const fmo_point_pair pair = p.pair[c];
    const int columns = p.centre[pair.B].functions, size = p.centre[pair.A].functions * columns;
    const double both = pair.A == pair.B ? 0.5 : 1.0;
    const size_t n = (size_t)p.ao_num;
    double *const block = m.block + p.block_begin[c];
    for (int e = (int)(threadIdx.x % 32); e < size; e += 32) {
        const int f = p.function_begin[pair.A] + e / columns;
        const int g = p.function_begin[pair.B] + e % columns;
        double sum = 0.0;
        for (int r = p.function_term_begin[f]; r < p.function_term_begin[f + 1]; r++)
            for (int s = p.function_term_begin[g]; s < p.function_term_begin[g + 1]; s++) {
                const size_t x = (size_t)p.function_term[r].ao, y = (size_t)p.function_term[s].ao;
                sum += p.function_term[r].factor * p.function_term[s].factor * both *
                       (m.D[x * n + y] + m.D[y * n + x]);
            }
        block[e] = sum;
    }
}

/* Adds a product's contribution to the Hermite density of its point, of order N. */
template <int N> __device__ __forceinline__ void expand_product(const maker &m, int k, double *H)
{
    const fmo_gpu_products &p = *m.products;
    const fmo_gpu_product own = p.product[k];
    const fmo_product made = fmo_gpu_product_of(p, k), *const z = &made;
    const double *const block = m.block + p.block_begin[own.pair];
    const int columns = p.centre[p.pair[own.pair].B].functions;
    const fmo_centre_prim *const a = &p.prim[own.prim_a], *const b = &p.prim[own.prim_b];
#define CALL(la, lb)                                            \
    {                                                           \
        if constexpr ((la) + (lb) == N) {                       \
            double d[fmo_blocks_size(la, lb)];                  \
            fmo_blocks_collect(p.use, a, b, columns, block, d); \
            fmo_blocks_expand(la, lb, z, d, H);                 \
        }                                                       \
    }
    FMO_PAIR_UNROLLED_TABLE(FMO_WITH_ANG_MOM) {}
#undef CALL
}

/* Computes the Hermite density of a point of order N, and its norm; one thread for each point. */
template <int N> __global__ void __launch_bounds__(THREADS) expand(const maker *from)
{
    constexpr int terms = FMO_HERMITE_COUNT(N);
    const maker &m = from[blockIdx.y];
    const fmo_gpu_products &p = *m.products;
    const int n = (int)(blockIdx.x * THREADS + threadIdx.x), first = p.begin[N];
    const int num = p.begin[N + 1] - first;
    if (n >= num) return;
    double H[terms], norm = 0.0;
    for (int k = 0; k < terms; k++) H[k] = 0.0;
    for (int i = 0; i < 2; i++) {
        const int k = p.product_of[2 * (first + n) + i];
        if (k >= 0) expand_product<N>(m, k, H);
    }
    const double exponent = p.at[4 * (size_t)first + 3 * (size_t)num + (size_t)n];
    for (int k = 0; k < terms; k++) {
        m.H[m.H_begin[N] + (size_t)k * (size_t)num + (size_t)n] = H[k];
        norm += fabs(H[k]) * fmo_point_norm(fmo_slice_power(k, 0), fmo_slice_power(k, 1),
                                            fmo_slice_power(k, 2), exponent);
    }
    m.norm[first + n] = norm;
}

typedef void expand_kernel(const maker *);
expand_kernel *const expand_kernels[] = {expand<0>, expand<1>, expand<2>, expand<3>, expand<4>};
static_assert(FMO_GPU_POINT_ORDERS == 5, "lists.cu: a kernel for each order");

/* Steps of norms: three for each factor of 2, downwards from 2^16; the last one extends to
 * FMO_POINT_NOTHING. */
enum { STEPS = 256, STEPS_THREADS = 256, STEPS_WARPS = STEPS_THREADS / 32 };
const double step_highest = 16.0, steps_octave = 3.0;

/* Returns the step of a norm; -1 if the point is negligible. */
__device__ __forceinline__ int step_of(double norm)
{
    if (!(norm > FMO_POINT_NOTHING)) return -1;
    const double step = (step_highest - log2(norm)) * steps_octave;
    return step <= 0.0 ? 0 : step >= STEPS - 1 ? STEPS - 1 : (int)step;
}
/* Returns an upper limit of the norms of a step. */
__device__ __forceinline__ double step_limit(int step)
{
    return step == 0 ? 1e300 : exp2(step_highest - step / steps_octave) * (1.0 + 1e-9);
}

/* Copies point n of order N to its place in the list. */
__device__ void put_point(const maker &m, int N, int n, int place, double norm,
                          const fmo_gpu_point_list &to)
{
    const fmo_gpu_products &p = *m.products;
    const size_t first = (size_t)p.begin[N], from = (size_t)n, at = (size_t)place;
    const size_t num = (size_t)p.begin[N + 1] - first, capacity = (size_t)to.num;
    for (size_t x = 0; x < 4; x++)
        ((double *)to.at)[x * capacity + at] = p.at[4 * first + x * num + from];
    for (size_t k = 0; k < (size_t)FMO_HERMITE_COUNT(N); k++)
        ((double *)to.H)[k * capacity + at] = m.H[m.H_begin[N] + k * num + from];
    ((double *)to.norm)[at] = norm;
}

/* Copies point charge c to the list. Its norm is infinite, so that screening never leaves it out.
 */
__device__ void put_charge(const maker &m, int c, const fmo_gpu_point_list &to)
{
    const size_t capacity = (size_t)to.num;
    for (int x = 0; x < 3; x++)
        ((double *)to.at)[(size_t)x * capacity + (size_t)c] = m.coord[3 * c + x];
    ((double *)to.at)[3 * capacity + (size_t)c] = FMO_POINT_CHARGE;
    ((double *)to.H)[c] = -m.charge[c];
    ((double *)to.norm)[c] = INFINITY;
}

/* Makes the list of one order of one distribution by one block: point charges first, then the
 * points, sorted by steps of norms (a stable counting sort). */
__global__ void __launch_bounds__(STEPS_THREADS) make_lists(const maker *from)
{
    __shared__ int place[STEPS], of_warp[STEPS_WARPS][STEPS];
    static_assert((int)STEPS == (int)STEPS_THREADS, "lists.cu: a thread for each step");
    const maker &m = from[blockIdx.x];
    const int N = (int)blockIdx.y, t = (int)threadIdx.x, warp = t / 32, lane = t % 32;
    const int first = m.products->begin[N], num = m.products->begin[N + 1] - first;
    const int charges = N ? 0 : m.charges;
    fmo_gpu_point_list &to = m.to->of[N];
    for (int c = t; c < charges; c += STEPS_THREADS) put_charge(m, c, to);
    place[t] = 0;
    for (int w = 0; w < STEPS_WARPS; w++) of_warp[w][t] = 0;
    __syncthreads();
    for (int n = t; n < num; n += STEPS_THREADS) {
        const int step = step_of(m.norm[first + n]);
        if (step >= 0) atomicAdd(&place[step], 1);
    }
    __syncthreads();
    if (t == 0) {
        int at = charges;
        for (int s = 0; s < STEPS; s++) {
            const int here = place[s];
            place[s] = at;
            at += here;
        }
        to.used = at;
    }
    __syncthreads();
    for (int begin = 0; begin < num; begin += STEPS_THREADS) {
        const int n = begin + t, step = n < num ? step_of(m.norm[first + n]) : -1;
        const unsigned same = __match_any_sync(0xffffffffu, step);
        const int before = __popc(same & ((1u << lane) - 1));
        if (step >= 0 && before == 0) of_warp[warp][step] = __popc(same);
        __syncthreads();
        if (step >= 0) {
            int at = place[step] + before;
            for (int w = 0; w < warp; w++) at += of_warp[w][step];
            put_point(m, N, n, at, step_limit(step), to);
        }
        __syncthreads();
        for (int w = 0; w < STEPS_WARPS; w++) {
            place[t] += of_warp[w][t];
            of_warp[w][t] = 0;
        }
        __syncthreads();
    }
}

/* Sets the number of points of each order, point charges included. */
void list_lengths(const fmo_distribution *d, int num[FMO_GPU_POINT_ORDERS])
{
    const fmo_products *const p = d->origin.products;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++)
        num[N] = p->begin[N + 1] - p->begin[N] + (N ? 0 : (int)d->origin.charge_num);
}

/* Number of doubles of the lists. */
size_t lists_size(const int num[FMO_GPU_POINT_ORDERS])
{
    size_t size = 0;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++)
        size += (size_t)num[N] * (size_t)(5 + FMO_HERMITE_COUNT(N));
    return size;
}

/* Sizes of the arrays of several distributions, in doubles, except for `pairs` and points_max,
 * which are maxima. */
typedef struct sizes {
    size_t lists, D, charges, block, H, points;
    int pairs, points_max[FMO_GPU_POINT_ORDERS];
} sizes;

/* Number of elements of the blocks of all pairs of centres. */
size_t block_size(const fmo_products *p)
{
    size_t size = 0;
    for (int c = 0; c < p->pair_num; c++)
        size += (size_t)(p->centres.centre[p->pair[c].A].functions *
                         p->centres.centre[p->pair[c].B].functions);
    return size;
}

/* Adds the sizes of a distribution. */
void add_sizes(const fmo_distribution *d, sizes *z)
{
    const fmo_products *const p = d->origin.products;
    int num[FMO_GPU_POINT_ORDERS];
    list_lengths(d, num);
    z->lists += lists_size(num);
    z->D += (size_t)p->centres.ao_num * (size_t)p->centres.ao_num;
    z->charges += d->origin.charge_num;
    z->block += block_size(p);
    z->H += p->value_begin[FMO_GPU_POINT_ORDERS];
    z->points += (size_t)p->num;
    if (p->pair_num > z->pairs) z->pairs = p->pair_num;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++)
        if (p->begin[N + 1] - p->begin[N] > z->points_max[N])
            z->points_max[N] = p->begin[N + 1] - p->begin[N];
}

/* The arrays of the distributions that are made together, on the host or in GPU memory. */
typedef struct making_arrays {
    maker *make;
    fmo_gpu_points *lists;
    double *D, *charge, *coord, *block, *H, *norm;
} making_arrays;

/* Fills in the kernels' arguments and the input data of distribution k; advances `at` by its
 * sizes. */
void fill_maker(const fmo_distribution *d, size_t k, int device, const making_arrays *host,
                const making_arrays *view, fmo_gpu_points *to, double *list_memory, sizes *at)
{
    const fmo_distribution_origin *const o = &d->origin;
    const fmo_products *const p = o->products;
    const size_t n = (size_t)p->centres.ao_num;
    maker *const m = &host->make[k];
    int num[FMO_GPU_POINT_ORDERS];
    list_lengths(d, num);
    host->lists[k] = fmo_gpu_lay_lists(num, list_memory + at->lists);
    memcpy(host->D + at->D, o->density, n * n * sizeof *o->density);
    if (o->charge_num) {
        memcpy(host->charge + at->charges, o->charge, o->charge_num * sizeof *o->charge);
        memcpy(host->coord + 3 * at->charges, o->coord, 3 * o->charge_num * sizeof *o->coord);
    }
    m->products = fmo_gpu_products_of(p, device)->self;
    m->to = to + k;
    m->D = view->D + at->D;
    m->charge = view->charge + at->charges;
    m->coord = view->coord + 3 * at->charges;
    m->charges = (int)o->charge_num;
    m->block = view->block + at->block;
    m->H = view->H + at->H;
    m->norm = view->norm + at->points;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) m->H_begin[N] = p->value_begin[N];
    add_sizes(d, at);
}

/* Queues the kernels for `num` distributions of total sizes z. */
cudaError_t queue(const maker *make, size_t num, const sizes *z, cudaStream_t stream)
{
    const auto blocks = [](int of, int each) { return (unsigned)((of + each - 1) / each); };
    if (z->pairs) {
        make_blocks<<<dim3(blocks(z->pairs, WARPS), (unsigned)num), THREADS, 0, stream>>>(make);
        FMO_GPU_TRY(cudaGetLastError());
    }
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) {
        if (!z->points_max[N]) continue;
        expand_kernels
            [N]<<<dim3(blocks(z->points_max[N], THREADS), (unsigned)num), THREADS, 0, stream>>>(
                make);
        FMO_GPU_TRY(cudaGetLastError());
    }
    make_lists<<<dim3((unsigned)num, FMO_GPU_POINT_ORDERS), STEPS_THREADS, 0, stream>>>(make);
    return cudaGetLastError();
}

/* Makes the lists of some distributions, whose products are cached on the GPU, and waits for
 * them. */
fmo_status make_some(const fmo_distribution *const *of, size_t num, fmo_gpu_device *device,
                     fmo_error *err)
{
    sizes all = {}, at = {};
    fmo_gpu_cached_memory *memory = NULL;
    making_arrays host = {}, view = {};
    for (size_t k = 0; k < num; k++) add_sizes(of[k], &all);
    const size_t header = (num * sizeof(fmo_gpu_points) + 255) / 256 * 256;
#define STAGED(name, num)                                                   \
    {                                                                       \
        (num) * sizeof *host.name, (void **)&view.name, (void **)&host.name \
    }
#define THERE(name, num)                                     \
    {                                                        \
        (num) * sizeof *view.name, (void **)&view.name, NULL \
    }
    const fmo_gpu_array arrays[] = {STAGED(make, num),
                                    STAGED(lists, num),
                                    STAGED(D, all.D),
                                    STAGED(charge, all.charges),
                                    STAGED(coord, 3 * all.charges),
                                    THERE(block, all.block),
                                    THERE(H, all.H),
                                    THERE(norm, all.points)};
#undef THERE
#undef STAGED
    enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
    struct fmo_gpu_cache **const entry = (struct fmo_gpu_cache **)calloc(num, sizeof *entry);
    void *const staged = fmo_gpu_stage(arrays, ARRAYS);
    fmo_status status = FMO_OK;
    if (!staged || !entry)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for distributions");
    if (status == FMO_OK)
        status = fmo_gpu_place_arrays(device, "distributions", arrays, ARRAYS, err);
    if (status == FMO_OK)
        status =
            fmo_gpu_cache_objects(device, "charge distributions",
                                  header + all.lists * sizeof(double), num, 0, &memory, entry, err);
    if (status == FMO_OK) {
        fmo_gpu_points *const to = (fmo_gpu_points *)memory->at;
        double *const list_memory = (double *)((char *)memory->at + header);
        for (size_t k = 0; k < num; k++)
            fill_maker(of[k], k, device->number, &host, &view, to, list_memory, &at);
        status = fmo_gpu_upload(device, "distributions", staged, arrays, ARRAYS, err);
        cudaError_t code = status == FMO_OK ? cudaSuccess : cudaErrorUnknown;
        if (code == cudaSuccess)
            code = cudaMemcpyAsync(to, view.lists, num * sizeof *to, cudaMemcpyDeviceToDevice,
                                   device->stream);
        if (code == cudaSuccess) code = queue(view.make, num, &all, device->stream);
        const cudaError_t waited = cudaStreamSynchronize(device->stream);
        if (code == cudaSuccess) code = waited;
        if (status == FMO_OK && code != cudaSuccess)
            status = fmo_gpu_error(code, "distributions", err);
        for (size_t k = 0; k < num; k++) {
            entry[k]->at = to + k;
            fmo_gpu_settle(entry[k], &of[k]->on_gpu, status == FMO_OK);
        }
    }
    fmo_gpu_free(device, view.make); /* the first array, and with it the whole piece */
    free(staged);
    free(entry);
    return status;
}

/* ---- what is missing ------------------------------------------------------------------------- */

/* Limits of what is made at a time: doubles, and distributions. */
const size_t made_max = fmo_tuning_gpu_potential_made_doubles;
enum { MADE_MAX = fmo_tuning_gpu_potential_made };

/* Makes the lists of all distributions, up to the limits at a time. */
fmo_status make_all(const fmo_distribution *const *of, size_t num, fmo_gpu_device *device,
                    fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (size_t k = 0; k < num && status == FMO_OK;) {
        sizes z = {};
        size_t some = 0;
        while (k + some < num && some < MADE_MAX && z.H + z.lists < made_max)
            add_sizes(of[k + some++], &z);
        status = make_some(of + k, some, device, err);
        k += some;
    }
    return status;
}

/* Whether the kernels can handle products: their indices and shared memory suffice. */
bool has_capacity(const fmo_products *p)
{
    return fmo_gpu_matrix_shared(p) <= FMO_GPU_MATRIX_SHARED && p->num < 1 << 29 &&
           block_size(p) <= INT32_MAX;
}

/* Caches those products that the GPU lacks; overwrites the list. */
fmo_status cache_missing(const void **of, size_t num, fmo_gpu_device *device, fmo_error *err)
{
    size_t without = 0;
    for (size_t k = 0; k < num; k++) {
        const fmo_products *const p = (const fmo_products *)of[k];
        if (has_capacity(p) && !fmo_gpu_products_of(p, device->number)) of[without++] = p;
    }
    without = fmo_gpu_each_once(of, without);
    if (!without) return FMO_OK;
    return fmo_gpu_keep_products((const fmo_products *const *)of, without, device, err);
}

} // namespace

int fmo_gpu_by_address(const void *x, const void *y)
{
    const void *const a = *(const void *const *)x, *const b = *(const void *const *)y;
    return (a > b) - (a < b);
}

size_t fmo_gpu_each_once(const void **of, size_t num)
{
    size_t kept = 0;
    qsort(of, num, sizeof *of, fmo_gpu_by_address);
    for (size_t k = 0; k < num; k++)
        if (!k || of[k] != of[k - 1]) of[kept++] = of[k];
    return kept;
}

fmo_status fmo_gpu_products_need(const fmo_products **of, size_t num, fmo_gpu_device *device,
                                 fmo_error *err)
{
    pthread_mutex_t *const mine = &making[device->number % makers];
    (void)pthread_mutex_lock(mine);
    const fmo_status status = cache_missing((const void **)of, num, device, err);
    (void)pthread_mutex_unlock(mine);
    return status;
}

fmo_gpu_points fmo_gpu_lay_lists(const int num[FMO_GPU_POINT_ORDERS], double *memory)
{
    fmo_gpu_points lists;
    for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) {
        fmo_gpu_point_list *const list = &lists.of[N];
        list->num = num[N];
        list->used = 0;
        list->at = memory;
        list->H = memory += 4 * (size_t)num[N];
        list->norm = memory += (size_t)FMO_HERMITE_COUNT(N) * (size_t)num[N];
        memory += num[N];
    }
    return lists;
}

/* Collects the distributions without lists on the GPU and makes these under the GPU's lock. */
fmo_status fmo_gpu_lists_need(const fmo_distribution *const *of, size_t num, fmo_gpu_device *device,
                              fmo_error *err)
{
    const void **const lack = (const void **)malloc((2 * num + 1) * sizeof *lack);
    const void **const products = lack ? lack + num : NULL;
    pthread_mutex_t *const mine = &making[device->number % makers];
    size_t lacking = 0, product_num = 0;
    if (!lack) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for distributions");
    (void)pthread_mutex_lock(mine);
    for (size_t k = 0; k < num; k++) {
        const fmo_products *const p = of[k]->origin.products;
        if (!p || fmo_gpu_lists_of(of[k], device->number)) continue;
        if (!has_capacity(p)) continue;
        lack[lacking++] = of[k];
        products[product_num++] = p;
    }
    fmo_status status = cache_missing(products, product_num, device, err);
    if (status == FMO_OK)
        status = make_all((const fmo_distribution *const *)lack, lacking, device, err);
    (void)pthread_mutex_unlock(mine);
    free(lack);
    return status;
}
