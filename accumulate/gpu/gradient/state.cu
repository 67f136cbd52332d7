/* Gradients in mode fused: the data of one molecule or of a group, which are made on the host and
 * copied to the GPU. Next: call.cu. */
#include "accumulate/gpu/gradient/gradient.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"

namespace {

enum { CLASSES = FMO_PAIR_GPU_COUNT, TILE = FMO_GPU_TILE_PAIRS };

int padded(int num)
{
    return (num + TILE - 1) / TILE * TILE;
}

/* ---- sizes and places ----------------------------------------------------------------------- */

/* Sets the places of the data of all molecules, h->total and the largest numbers. */
void set_places(fmo_fock_plan *const *plan, const fmo_gradient_lists *lists, fmo_gpu_gradient *h)
{
    fmo_gradient_molecule *const all = &h->total;
    for (int m = 0; m < h->molecules; m++) {
        const fmo_basis *const basis = plan[m]->basis;
        fmo_gradient_molecule *const own = &h->host[m];
        *own = *all;
        own->nao = basis->function_num;
        own->caller_nao = basis->ao_num;
        own->sp_shells = lists[m].sp_shell_num;
        own->coulomb_weight = plan[m]->coulomb_weight;
        all->sp_shell += own->sp_shells;
        all->function += own->nao + 1;
        all->nucleus += basis->nucleus_num;
        all->matrix += (size_t)own->nao * (size_t)own->nao;
        all->given += (size_t)own->caller_nao * (size_t)own->caller_nao;
        all->block += (size_t)own->sp_shells * (size_t)own->sp_shells;
        h->sp_shells = own->sp_shells > h->sp_shells ? own->sp_shells : h->sp_shells;
        h->functions = own->nao > h->functions ? own->nao : h->functions;
        for (int c = 0; c < CLASSES; c++) {
            const fmo_gradient_list *const list = &lists[m].of[c];
            own->of[c].pairs = list->num;
            own->of[c].points = padded(list->prim_num);
            all->of[c].pair += padded(list->num);
            all->of[c].prim += list->prim_num;
            all->of[c].point += own->of[c].points;
            if (list->num > h->pairs[c].pairs_max) h->pairs[c].pairs_max = list->num;
        }
    }
    for (int c = 0; c < CLASSES; c++) {
        h->pairs[c].pairs = all->of[c].pair;
        h->pairs[c].prims = all->of[c].prim;
        h->pairs[c].points = all->of[c].point;
    }
    h->sums.components = 3 * all->nucleus;
}

/* ---- filling in ----------------------------------------------------------------------------- */

/* Host copies of the arrays of one class, and of those of all. */
typedef struct staged_pairs {
    fmo_gradient_pair *pair;
    fmo_gradient_prim *prim;
    int *pair_of, *point, *tile_molecule;
    double *place;
    float2 *tile;
} staged_pairs;
typedef struct staged_data {
    staged_pairs of[CLASSES];
    fmo_gradient_molecule *molecule;
    fmo_gradient_sp_shell *sp_shell;
    fmo_gradient_tables *tables;
    int *in_begin, *in_from;
    double *in_factor;
} staged_data;

/* Fills in the pairs of a class of molecule m. */
void fill_pairs(const fmo_gpu_gradient *h, int m, int c, const fmo_gradient_list *list,
                const staged_pairs *to)
{
    const auto &own = h->host[m].of[c];
    const size_t stride = (size_t)h->pairs[c].points;
    memcpy(to->prim + own.prim, list->prim, (size_t)list->prim_num * sizeof *to->prim);
    for (int n = 0; n < list->prim_num; n++)
        to->pair_of[own.prim + n] = own.pair + list->pair_of[n];
    for (int n = 0; n < list->num; n++) {
        fmo_gradient_pair *const pair = &to->pair[own.pair + n];
        float2 *const tile = &to->tile[(own.pair + n) / TILE];
        *pair = list->pair[n];
        pair->molecule = m;
        pair->begin += own.prim;
        for (int s = 0; s < 2; s++) pair->nucleus[s] += h->host[m].nucleus;
        tile->x = fmaxf(tile->x, pair->bound);
        tile->y = fmaxf(tile->y, pair->derivative_bound);
    }
    for (int n = 0; n < own.points; n++) {
        const int prim = n < list->prim_num ? list->point[n] : -1;
        const size_t at = (size_t)(own.point + n);
        to->tile_molecule[at / TILE] = m;
        to->point[at] = prim < 0 ? -1 : own.prim + prim;
        to->place[3 * stride + at] = prim < 0 ? 1.0 : list->prim[prim].p;
        for (int x = 0; x < 3 && prim >= 0; x++)
            to->place[x * stride + at] =
                list->pair[list->pair_of[prim]].A[x] + list->prim[prim].PA[x];
    }
}

/* Fills in the internal functions of a molecule as linear combinations of the caller's; `num`: its
 * first element of in_from. */
void fill_functions(const fmo_basis *b, int num, int *begin, int *from, double *factor)
{
    for (int s = 0; s < b->shell_num; s++) {
        const fmo_shell *const shell = &b->shell[s];
        fmo_shell_transform T;
        const int own = fmo_basis_shell_transform(b, shell, T);
        for (int c = 0; c < fmo_shell_functions(shell->ang_mom); c++) {
            begin[shell->ao_begin + c] = num;
            for (int m = 0; m < own; m++) {
                if (T[m][c] == 0.0) continue;
                from[num] = b->ao_caller[shell->caller_begin + m];
                factor[num++] = T[m][c];
            }
        }
    }
    begin[b->function_num] = num;
}

/* Fills in all data of molecule m. */
void fill_molecule(const fmo_fock_plan *plan, const fmo_gradient_lists *lists,
                   const fmo_gpu_gradient *h, int m, const staged_data *to)
{
    const fmo_gradient_molecule *const own = &h->host[m];
    for (int c = 0; c < CLASSES; c++) fill_pairs(h, m, c, &lists->of[c], &to->of[c]);
    memcpy(to->sp_shell + own->sp_shell, lists->sp_shell,
           (size_t)own->sp_shells * sizeof *to->sp_shell);
    fill_functions(plan->basis, own->function * FMO_GPU_FUNCTIONS_MAX, to->in_begin + own->function,
                   to->in_from, to->in_factor);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Arrays of a group: those that are copied to the GPU, then those that calls compute. */
enum { COPIED = 7, COMPUTED = 4, ARRAYS = (COPIED + COMPUTED) * CLASSES + 6 + 5 };

/* Lists the arrays; returns their number. */
int list_arrays(fmo_gpu_gradient *h, staged_data *to, fmo_gpu_array *arrays)
{
    const size_t molecules = (size_t)h->molecules, functions = (size_t)h->total.function;
    const size_t terms_max = functions * FMO_GPU_FUNCTIONS_MAX,
                 sp_shells = (size_t)h->total.sp_shell;
    int num = 0;
    for (int c = 0; c < CLASSES; c++) {
        fmo_gradient_pairs *const p = &h->pairs[c];
        staged_pairs *const s = &to->of[c];
        const size_t pairs = (size_t)p->pairs, prims = (size_t)p->prims, points = (size_t)p->points;
        arrays[num++] = {pairs * sizeof *s->pair, (void **)&p->pair, (void **)&s->pair};
        arrays[num++] = {prims * sizeof *s->prim, (void **)&p->prim, (void **)&s->prim};
        arrays[num++] = {prims * sizeof(int), (void **)&p->pair_of, (void **)&s->pair_of};
        arrays[num++] = {points * sizeof(int), (void **)&p->point, (void **)&s->point};
        arrays[num++] = {points / TILE * sizeof(int), (void **)&p->tile_molecule,
                         (void **)&s->tile_molecule};
        arrays[num++] = {4 * points * sizeof(double), (void **)&p->place, (void **)&s->place};
        arrays[num++] = {pairs / TILE * sizeof(float2), (void **)&p->tile, (void **)&s->tile};
    }
    arrays[num++] = {molecules * sizeof *to->molecule, (void **)&h->molecule,
                     (void **)&to->molecule};
    arrays[num++] = {sp_shells * sizeof *to->sp_shell, (void **)&h->sp_shell,
                     (void **)&to->sp_shell};
    arrays[num++] = {sizeof *to->tables, (void **)&h->tables, (void **)&to->tables};
    arrays[num++] = {functions * sizeof(int), (void **)&h->in_begin, (void **)&to->in_begin};
    arrays[num++] = {terms_max * sizeof(int), (void **)&h->in_from, (void **)&to->in_from};
    arrays[num++] = {terms_max * sizeof(double), (void **)&h->in_factor, (void **)&to->in_factor};
    for (int c = 0; c < CLASSES; c++) {
        fmo_gradient_pairs *const p = &h->pairs[c];
        const size_t points = (size_t)p->points, order = (size_t)fmo_pair_order(c);
        arrays[num++] = {points * sizeof(float2), (void **)&p->strength, NULL};
        arrays[num++] = {points / TILE * sizeof(float2), (void **)&p->tile_strength, NULL};
        arrays[num++] = {FMO_HERMITE_COUNT(order) * points * sizeof(double), (void **)&p->density,
                         NULL};
        arrays[num++] = {FMO_HERMITE_COUNT(order + 1) * points * sizeof(double),
                         (void **)&p->potential, NULL};
    }
    arrays[num++] = {h->total.block * sizeof(float), (void **)&h->block_max, NULL};
    arrays[num++] = {sp_shells * sizeof(float), (void **)&h->row_max, NULL};
    arrays[num++] = {FMO_ERI_GPU_COUNT * sizeof *h->item, (void **)&h->item, NULL};
    arrays[num++] = {molecules * sizeof *h->sums.scale, (void **)&h->sums.scale, NULL};
    arrays[num++] = {(size_t)h->sums.components * sizeof *h->sums.sum +
                         molecules * sizeof *h->sums.too_large,
                     (void **)&h->sums.sum, NULL};
    return num;
}

/* Allocates the arrays: of a plan's own molecule in its arena, of a group for one call. */
fmo_status allocate(fmo_gpu_device *device, const fmo_gpu_array *arrays, int num,
                    fmo_gpu_gradient *h, fmo_error *err)
{
    static const char what[] = "pairs of a gradient";
    if (h->molecules == 1) return fmo_gpu_place_arrays(device, what, arrays, num, err);
    h->bytes = fmo_gpu_arrays_bytes(arrays, num);
    const fmo_status status = fmo_gpu_alloc_temporary(device, what, h->bytes, &h->memory, err);
    if (status == FMO_OK) fmo_gpu_put_arrays(h->memory, arrays, num);
    return status;
}

/* Allocates the arrays, fills in the host's copies, each molecule in a thread, and copies them. */
fmo_status place(fmo_fock_plan *const *plan, const fmo_gradient_lists *lists, int threads,
                 fmo_gpu_gradient *h, fmo_error *err)
{
    fmo_gpu_device *const device = &plan[0]->gpu->device;
    fmo_gpu_array arrays[ARRAYS];
    staged_data to;
    const int num = list_arrays(h, &to, arrays);
    void *const staged = fmo_gpu_stage(arrays, num);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a gradient's pairs");
    fmo_status status = allocate(device, arrays, num, h, err);
    if (status == FMO_OK) {
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (h->molecules > 1)
        for (int m = 0; m < h->molecules; m++) fill_molecule(plan[m], &lists[m], h, m, &to);
        memcpy(to.molecule, h->host, (size_t)h->molecules * sizeof *h->host);
        fmo_gradient_make_tables(to.tables);
        h->sums.too_large = (unsigned *)(h->sums.sum + h->sums.components);
        status = fmo_gpu_upload(device, "pairs of a gradient", staged, arrays, num, err);
    }
    free(staged);
    return status;
}

/* Makes the streams and events by which the classes of K and J run concurrently. */
fmo_status make_streams(fmo_gpu_gradient *h, fmo_error *err)
{
    FMO_GPU_CHECK(cudaEventCreateWithFlags(&h->begun, cudaEventDisableTiming), "gradient", err);
    for (int s = 0; s < FMO_GRADIENT_STREAMS; s++) {
        FMO_GPU_CHECK(cudaStreamCreateWithFlags(&h->stream[s], cudaStreamNonBlocking), "gradient",
                      err);
        FMO_GPU_CHECK(cudaEventCreateWithFlags(&h->ended[s], cudaEventDisableTiming), "gradient",
                      err);
    }
    return FMO_OK;
}

/* Makes the pairs of all molecules: of one with all threads, of several with one thread each. */
fmo_status make_lists(fmo_fock_plan *const *plan, int num, int threads, fmo_gradient_lists *lists,
                      fmo_error *err)
{
    double primitives = 0.0;
    int failed = 0;
    for (int m = 0; m < num; m++) primitives += plan[m]->gpu->primitives;
    const int depth = fmo_gpu_contraction_depth(primitives);
    if (num == 1)
        return fmo_gradient_make_lists(plan[0]->basis, fmo_shell_pairs_threshold(&plan[0]->pairs),
                                       depth, threads, lists, err);
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : failed)
    for (int m = 0; m < num; m++)
        failed +=
            fmo_gradient_make_lists(plan[m]->basis, fmo_shell_pairs_threshold(&plan[m]->pairs),
                                    depth, 1, &lists[m], NULL) != FMO_OK;
    return failed
               ? fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the pairs of %d gradients", num)
               : FMO_OK;
}

} // namespace

fmo_status fmo_gradient_make(fmo_fock_plan *const *plan, int num, fmo_gpu_gradient **made,
                             fmo_error *err)
{
    const int threads = fmo_threads(plan[0]->options.threads);
    fmo_gradient_lists *const lists = (fmo_gradient_lists *)calloc((size_t)num, sizeof *lists);
    fmo_gpu_gradient *const h = (fmo_gpu_gradient *)calloc(1, sizeof *h);
    fmo_status status = FMO_ERR_MEMORY;
    if (h) h->host = (fmo_gradient_molecule *)calloc((size_t)num, sizeof *h->host);
    if (lists && h && h->host) {
        h->molecules = num;
        status = make_lists(plan, num, threads, lists, err);
        if (status == FMO_OK) set_places(plan, lists, h);
        if (status == FMO_OK) status = place(plan, lists, threads, h, err);
        if (status == FMO_OK) status = make_streams(h, err);
    } else {
        (void)fmo_error_set(err, status, "no memory for a gradient's pairs");
    }
    for (int m = 0; m < num && lists; m++) fmo_gradient_free_lists(&lists[m]);
    free(lists);
    if (status == FMO_OK)
        *made = h;
    else
        fmo_gradient_free(&plan[0]->gpu->device, h);
    return status;
}

void fmo_gradient_free(fmo_gpu_device *device, fmo_gpu_gradient *h)
{
    if (!h) return;
    for (int s = 0; s < FMO_GRADIENT_STREAMS; s++) {
        if (h->ended[s]) (void)cudaEventDestroy(h->ended[s]);
        if (h->stream[s]) (void)cudaStreamDestroy(h->stream[s]);
    }
    if (h->begun) (void)cudaEventDestroy(h->begun);
    if (h->memory) fmo_gpu_free_temporary(device, h->memory, h->bytes);
    free(h->host);
    free(h);
}
