/* Data of host objects that are kept in GPU memory from call to call (fmo_gpu_cache, lists.h), and
 * the layout of products there. */
#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/potential/lists.h"

#include <stdlib.h>
#include <string.h>

const void *fmo_gpu_cached_of(struct fmo_gpu_cache *const *list, int device)
{
    const struct fmo_gpu_cache *kept = __atomic_load_n(list, __ATOMIC_ACQUIRE);
    while (kept && kept->memory->device != device) kept = kept->next;
    return kept ? kept->at : NULL;
}

void fmo_gpu_release_cache(struct fmo_gpu_cache *kept)
{
    while (kept) {
        struct fmo_gpu_cache *const next = kept->next;
        fmo_gpu_cached_memory *const memory = kept->memory;
        if (__atomic_sub_fetch(&memory->users, 1, __ATOMIC_ACQ_REL) == 0) {
            fmo_gpu_free_cached(memory->device, memory->pools, memory->at);
            free(memory);
        }
        free(kept->host);
        free(kept);
        kept = next;
    }
}

/* Allocates the entries first, then the GPU memory that they share. */
fmo_status fmo_gpu_cache_objects(fmo_gpu_device *device, const char *what, size_t bytes, size_t num,
                                 size_t host_bytes, fmo_gpu_cached_memory **memory,
                                 struct fmo_gpu_cache **entry, fmo_error *err)
{
    fmo_gpu_cached_memory *const m = (fmo_gpu_cached_memory *)calloc(1, sizeof *m);
    bool good = m != NULL;
    for (size_t k = 0; k < num && good; k++) {
        entry[k] = (struct fmo_gpu_cache *)calloc(1, sizeof **entry);
        if (entry[k]) entry[k]->memory = m;
        if (entry[k] && host_bytes) entry[k]->host = malloc(host_bytes);
        good = entry[k] && (!host_bytes || entry[k]->host);
    }
    fmo_status status = FMO_OK;
    if (!good) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %s", what);
    if (status == FMO_OK) status = fmo_gpu_alloc_cached(device, what, bytes, &m->at, err);
    if (status == FMO_OK) {
        m->device = device->number;
        m->pools = device->pools;
        m->users = (int)num;
        *memory = m;
        return FMO_OK;
    }
    for (size_t k = 0; k < num; k++) { /* [num], zeroed by the caller */
        if (entry[k]) free(entry[k]->host);
        free(entry[k]);
        entry[k] = NULL;
    }
    free(m);
    return status;
}

void fmo_gpu_settle(struct fmo_gpu_cache *entry, struct fmo_gpu_cache *const *of, int good)
{
    struct fmo_gpu_cache **const list = (struct fmo_gpu_cache **)(uintptr_t)of;
    if (!good) return fmo_gpu_release_cache(entry);
    entry->next = __atomic_load_n(list, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(list, &entry->next, entry, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}

/* ---- products ------------------------------------------------------------------------------- */

namespace {

/* A piece of memory that is filled in from its beginning, with addresses on the host and on the
 * device. host = NULL: only its length is counted. */
typedef struct piece {
    char *host, *device;
    size_t at;
} piece;

/* Reserves `num` elements; returns their host address (NULL: only counting) and sets *view to that
 * on the device. */
template <class T> T *place(piece *to, size_t num, const T **view)
{
    T *const host = to->host ? (T *)(to->host + to->at) : NULL;
    *view = (const T *)(to->device + to->at);
    to->at += (num * sizeof(T) + 15) / 16 * 16;
    return host;
}

/* Reserves `num` elements and copies them. */
template <class T> void copy_into(piece *to, const T *from, size_t num, const T **view)
{
    T *const host = place(to, num, view);
    if (host && num) memcpy(host, from, num * sizeof *from);
}

/* Stores each function of the centres as a linear combination of the caller's functions: the
 * transpose of fmo_centre_caller. */
void place_function_terms(piece *to, const fmo_centres *cs, int functions, fmo_gpu_products *view)
{
    int terms = 0, first = 0;
    for (int c = 0; c < cs->num; c++)
        for (int i = cs->centre[c].caller_begin; i < cs->centre[c].caller_end; i++)
            terms += cs->caller[i].term_end - cs->caller[i].term_begin;
    int *const function_begin = place(to, (size_t)cs->num, &view->function_begin);
    int *const begin = place(to, (size_t)functions + 1, &view->function_term_begin);
    fmo_gpu_term *const term = place(to, (size_t)terms, &view->function_term);
    if (!to->host) return;
    for (int c = 0, at = 0; c < cs->num; first += cs->centre[c++].functions) {
        function_begin[c] = first;
        for (int f = 0; f < cs->centre[c].functions; f++) {
            begin[first + f] = at;
            for (int i = cs->centre[c].caller_begin; i < cs->centre[c].caller_end; i++)
                for (int t = cs->caller[i].term_begin; t < cs->caller[i].term_end; t++)
                    if (cs->term[t].function == f)
                        term[at++] = {cs->caller[i].index, cs->term[t].factor};
        }
    }
    begin[functions] = terms;
}

/* Stores the products, and for each point the one or two products that belong to it. */
void place_products(piece *to, const fmo_products *p, fmo_gpu_products *view)
{
    int *const block_begin = place(to, (size_t)p->pair_num + 1, &view->block_begin);
    fmo_gpu_product *const product = place(to, (size_t)p->product_num, &view->product);
    int *const product_of = place(to, 2 * (size_t)p->num, &view->product_of);
    if (!to->host) return;
    for (int n = 0; n < 2 * p->num; n++) product_of[n] = -1;
    for (int c = 0, at = 0; c <= p->pair_num; c++) {
        block_begin[c] = at;
        if (c == p->pair_num) break;
        at += p->centres.centre[p->pair[c].A].functions * p->centres.centre[p->pair[c].B].functions;
        for (int k = p->pair[c].begin; k < p->pair[c + 1].begin; k++) {
            int *const of = product_of + 2 * p->point_of[k];
            product[k] = {p->product[k].prim_a, p->product[k].prim_b, c, p->point_of[k]};
            of[of[0] >= 0] = k;
        }
    }
}

/* Stores centres, exponents and bounds of the points. */
void place_points(piece *to, const fmo_products *p, fmo_gpu_products *view)
{
    double *const at = place(to, 4 * (size_t)p->num, &view->at);
    double *const bound = place(to, (size_t)p->num, &view->bound);
    for (int N = 0; to->host && N < FMO_GPU_POINT_ORDERS; N++) {
        const size_t num = (size_t)(p->begin[N + 1] - p->begin[N]);
        double *const own = at + 4 * (size_t)p->begin[N];
        for (size_t n = 0; n < num; n++) {
            const fmo_point *const point = &p->point[(size_t)p->begin[N] + n];
            for (size_t x = 0; x < 3; x++) own[x * num + n] = point->at[x];
            own[3 * num + n] = point->p;
            bound[(size_t)p->begin[N] + n] = point->bound;
        }
    }
}

/* Number of functions of all centres. */
int functions_of(const fmo_centres *cs)
{
    int functions = 0;
    for (int c = 0; c < cs->num; c++) functions += cs->centre[c].functions;
    return functions;
}

/* Lays out products in a piece of memory and fills it in if host is not NULL; returns its length in
 * bytes. addresses: receives them for use on the host; may be NULL. */
size_t place_all(const fmo_products *p, char *host, char *device, fmo_gpu_products *addresses)
{
    const fmo_centres *const cs = &p->centres;
    const fmo_centre *const last = cs->num ? &cs->centre[cs->num - 1] : NULL;
    piece to = {host, device, 0};
    const fmo_gpu_products *there = NULL;
    fmo_gpu_products *const first = place(&to, 1, &there), view = {};
    const size_t prims = last ? (size_t)last->prim_end : 0;
    const size_t uses = prims ? (size_t)cs->prim[prims - 1].use_end : 0;
    const size_t callers = last ? (size_t)last->caller_end : 0;
    const size_t terms = callers ? (size_t)cs->caller[callers - 1].term_end : 0;
    view.ao_num = cs->ao_num;
    view.pair_num = p->pair_num;
    view.product_num = p->product_num;
    memcpy(view.begin, p->begin, sizeof view.begin);
    copy_into(&to, cs->centre, (size_t)cs->num, &view.centre);
    copy_into(&to, cs->prim, prims, &view.prim);
    copy_into(&to, cs->use, uses, &view.use);
    copy_into(&to, cs->caller, callers, &view.caller);
    copy_into(&to, cs->term, terms, &view.term);
    copy_into(&to, p->pair, (size_t)p->pair_num + 1, &view.pair);
    place_function_terms(&to, cs, functions_of(cs), &view);
    place_products(&to, p, &view);
    place_points(&to, p, &view);
    view.self = there;
    if (first) *first = view;
    if (addresses) *addresses = view;
    return to.at;
}

} // namespace

/* Determines the length of each, allocates one piece of memory for all, fills it in on the host and
 * copies it. */
fmo_status fmo_gpu_keep_products(const fmo_products *const *of, size_t num, fmo_gpu_device *device,
                                 fmo_error *err)
{
    size_t *const begin = (size_t *)malloc((num + 1) * sizeof *begin);
    struct fmo_gpu_cache **const entry = (struct fmo_gpu_cache **)calloc(num + 1, sizeof *entry);
    fmo_gpu_cached_memory *memory = NULL;
    char *staged = NULL;
    fmo_status status = FMO_OK;
    if (!begin || !entry) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for products");
    for (size_t k = 0, at = 0; k <= num && status == FMO_OK; k++) {
        begin[k] = at;
        if (k < num) at += (place_all(of[k], NULL, NULL, NULL) + 255) / 256 * 256;
    }
    if (status == FMO_OK) {
        staged = (char *)malloc(begin[num] + 1);
        status = staged ? fmo_gpu_cache_objects(device, "products", begin[num], num,
                                                sizeof(fmo_gpu_products), &memory, entry, err)
                        : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for products");
    }
    if (status == FMO_OK) {
#pragma omp parallel for schedule(dynamic) if (num > 1)
        for (size_t k = 0; k < num; k++)
            (void)place_all(of[k], staged + begin[k], (char *)memory->at + begin[k],
                            (fmo_gpu_products *)entry[k]->host);
        cudaError_t code = fmo_gpu_send(memory->at, staged, begin[num], device->stream);
        if (code == cudaSuccess) code = cudaStreamSynchronize(device->stream);
        if (code != cudaSuccess) status = fmo_gpu_error(code, "products", err);
        for (size_t k = 0; k < num; k++) {
            entry[k]->at = entry[k]->host;
            fmo_gpu_settle(entry[k], &of[k]->on_gpu, status == FMO_OK);
        }
    }
    free(staged);
    free(entry);
    free(begin);
    return status;
}
