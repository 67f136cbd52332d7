/* Gradients in mode fused: the data that a plan keeps on its GPU for them, made when first needed,
 * and the steps of a call. See gradient.h. */
#include "accumulate/gpu/gradient/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/range.h"
#include "accumulate/plan/gradient.h"
#include "accumulate/rules/screen.h"
#include "base/threads.h"
#include "integrals/operator_rules.h"

namespace {

enum { CLASSES = FMO_PAIR_UNROLLED_COUNT, TILE = FMO_GPU_TILE_PAIRS };

/* ---- data of a plan ------------------------------------------------------------------------- */

/* Host copies of the arrays of one class. */
typedef struct staged_pairs {
    fmo_gradient_pair *pair;
    fmo_gradient_prim *prim;
    int *pair_of, *point;
    double *place;
    float2 *tile;
} staged_pairs;

size_t tiles_of(int num)
{
    return ((size_t)num + TILE - 1) / TILE;
}

/* Fills in the arrays of a class. */
void fill_pairs(const fmo_gradient_list *list, int points, const staged_pairs *to)
{
    const size_t stride = (size_t)points;
    memcpy(to->pair, list->pair, (size_t)list->num * sizeof *to->pair);
    memcpy(to->prim, list->prim, (size_t)list->prim_num * sizeof *to->prim);
    memcpy(to->pair_of, list->pair_of, (size_t)list->prim_num * sizeof *to->pair_of);
    for (int n = 0; n < list->num; n++) {
        float2 *const tile = &to->tile[n / TILE];
        tile->x = fmaxf(tile->x, list->pair[n].bound);
        tile->y = fmaxf(tile->y, list->pair[n].derivative_bound);
    }
    for (int n = 0; n < points; n++) {
        const int prim = n < list->prim_num ? list->point[n] : -1;
        to->point[n] = prim;
        to->place[3 * stride + n] = prim < 0 ? 1.0 : list->prim[prim].p;
        for (int x = 0; x < 3 && prim >= 0; x++)
            to->place[x * stride + n] =
                list->pair[list->pair_of[prim]].A[x] + list->prim[prim].PA[x];
    }
}

/* Fills in the internal functions as linear combinations of the caller's. */
void fill_functions(const fmo_basis *b, int *begin, int *from, double *factor)
{
    int num = 0;
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

/* Copies the lists to the GPU and allocates what calls compute. */
fmo_status place(const fmo_fock_plan *plan, const fmo_gradient_lists *lists, fmo_gpu_gradient *h,
                 fmo_error *err)
{
    enum { STAGED = 6, COMPUTED = 4 };
    const size_t functions = (size_t)h->nao, most = functions * FMO_UNROLLED_FUNCTIONS_MAX;
    fmo_gpu_array arrays[STAGED * CLASSES + 5 + COMPUTED * CLASSES + 3];
    staged_pairs to[CLASSES];
    fmo_gradient_set *set = NULL;
    fmo_gradient_tables *tables = NULL;
    int *in_begin = NULL, *in_from = NULL, num = 0;
    double *in_factor = NULL;
    for (int c = 0; c < CLASSES; c++) {
        const fmo_gradient_list *const from = &lists->of[c];
        fmo_gradient_pairs *const p = &h->pairs[c];
        const size_t pairs = (size_t)from->num, prims = (size_t)from->prim_num;
        p->num = from->num;
        p->prim_num = from->prim_num;
        p->points = (int)(tiles_of(from->prim_num) * TILE);
        const size_t points = (size_t)p->points;
        arrays[num++] = {pairs * sizeof *p->pair, (void **)&p->pair, (void **)&to[c].pair};
        arrays[num++] = {prims * sizeof *p->prim, (void **)&p->prim, (void **)&to[c].prim};
        arrays[num++] = {prims * sizeof(int), (void **)&p->pair_of, (void **)&to[c].pair_of};
        arrays[num++] = {points * sizeof(int), (void **)&p->point, (void **)&to[c].point};
        arrays[num++] = {4 * points * sizeof(double), (void **)&p->place, (void **)&to[c].place};
        arrays[num++] = {tiles_of(from->num) * sizeof(float2), (void **)&p->tile,
                         (void **)&to[c].tile};
    }
    arrays[num++] = {(size_t)h->sets * sizeof *set, (void **)&h->set, (void **)&set};
    arrays[num++] = {sizeof *tables, (void **)&h->tables, (void **)&tables};
    arrays[num++] = {(functions + 1) * sizeof(int), (void **)&h->in_begin, (void **)&in_begin};
    arrays[num++] = {most * sizeof(int), (void **)&h->in_from, (void **)&in_from};
    arrays[num++] = {most * sizeof(double), (void **)&h->in_factor, (void **)&in_factor};
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
    const size_t sets = (size_t)h->sets;
    arrays[num++] = {sets * sets * sizeof(float), (void **)&h->block_max, NULL};
    arrays[num++] = {sets * sizeof(float), (void **)&h->row_max, NULL};
    arrays[num++] = {(size_t)h->sums.components * sizeof *h->sums.sum +
                         (FMO_ERI_UNROLLED_COUNT + 1) * sizeof(unsigned),
                     (void **)&h->sums.sum, NULL};
    void *const staged = fmo_gpu_stage(arrays, num);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a gradient's pairs");
    fmo_status status =
        fmo_gpu_place_arrays(&plan->gpu->device, "pairs of a gradient", arrays, num, err);
    if (status == FMO_OK) {
        for (int c = 0; c < CLASSES; c++) fill_pairs(&lists->of[c], h->pairs[c].points, &to[c]);
        memcpy(set, lists->set, sets * sizeof *set);
        fill_functions(plan->basis, in_begin, in_from, in_factor);
        fmo_gradient_make_tables(tables);
        h->sums.too_large = (unsigned *)(h->sums.sum + h->sums.components);
        h->item = h->sums.too_large + 1;
        status =
            fmo_gpu_upload(&plan->gpu->device, "pairs of a gradient", staged, arrays, num, err);
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

/* Makes the data, if the plan does not have them yet. */
fmo_status make(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gradient_lists lists;
    if (plan->state) return FMO_OK;
    fmo_status status =
        fmo_gradient_make_lists(plan->basis, fmo_shell_pairs_threshold(&plan->pairs),
                                fmo_gpu_contraction_depth(plan->gpu->primitives),
                                fmo_threads(plan->options.threads), &lists, err);
    if (status != FMO_OK) return status;
    fmo_gpu_gradient *const h = (fmo_gpu_gradient *)calloc(1, sizeof *h);
    if (h) {
        h->sets = lists.set_num;
        h->nao = plan->basis->function_num;
        h->caller_nao = plan->basis->ao_num;
        h->sums.components = 3 * plan->basis->nucleus_num;
        status = place(plan, &lists, h, err);
        if (status == FMO_OK) status = make_streams(h, err);
    } else {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a gradient's pairs");
    }
    fmo_gradient_free_lists(&lists);
    plan->state = h;
    if (status != FMO_OK) fmo_gpu_gradient_free(plan);
    return status;
}

/* ---- a call --------------------------------------------------------------------------------- */

/* The densities of a call in GPU memory, and the terms of K by operator. */
typedef struct call_densities {
    void *memory;
    size_t bytes, matrix; /* doubles of a density */
    double *D;
    fmo_gradient_density *term;
} call_densities;

/* True if a term's K has this operator and no earlier term's does, or the term itself does. */
bool has_operator(const fmo_gradient_term *term, fmo_operator op)
{
    return term->exchange_weight != 0.0 && fmo_operator_same(term->exchange_operator, op);
}

/* Copies the densities to the GPU, and converts them to internal functions there. */
fmo_status copy_in(const fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                   call_densities *d, fmo_error *err)
{
    fmo_gpu_device *const device = &plan->gpu->device;
    const size_t n = (size_t)plan->basis->function_num, num = (size_t)term_num;
    const size_t m = (size_t)plan->basis->ao_num;
    d->matrix = n * n;
    d->bytes = (num * d->matrix + m * m) * sizeof *d->D + num * sizeof *d->term;
    fmo_status status =
        fmo_gpu_alloc_passing(device, "densities of a gradient", d->bytes, &d->memory, err);
    if (status != FMO_OK) return status;
    d->D = (double *)d->memory;
    double *const given = d->D + num * d->matrix;
    d->term = (fmo_gradient_density *)(given + m * m);
    for (int t = 0; t < term_num; t++) {
        FMO_GPU_CHECK(fmo_gpu_send(given, terms[t].density, m * m * sizeof *given, device->stream),
                      "densities of a gradient", err);
        FMO_GPU_CHECK(fmo_gradient_order_density((const fmo_gpu_gradient *)plan->state, given,
                                                 d->D + (size_t)t * d->matrix, device->stream),
                      "densities of a gradient", err);
    }
    return FMO_OK;
}

/* Returns the power of two by which the largest product of density elements of a term becomes at
 * most 2^48, so that sums of 2^15 times that product fit. */
double scale_of(const fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num)
{
    const double D = plan->density_largest;
    double weight = 0.0;
    for (int t = 0; t < term_num; t++)
        weight = fmax(weight, fabs(terms[t].coulomb_weight) + fabs(terms[t].exchange_weight));
    const double largest = D * D * weight;
    return largest > 0.0 ? ldexp(1.0, (int)fmin(48 - ilogb(largest), 1000)) : 1.0;
}

/* Sets the operator of a pass, and its cutoffs. */
void set_operator(const fmo_fock_plan *plan, fmo_operator op, fmo_gradient_pass *pass)
{
    const double share = FMO_GRADIENT_CUTOFF_SHARE / fmo_operator_bound(op);
    pass->op = fmo_operator_given(op);
    pass->cutoff = (float)(share * plan->cutoff);
    pass->prim_cutoff = (float)(share * fmo_gpu_cutoff_share(plan, FMO_SCREEN_PRIM_SHARE));
}

/* Queues J of each term that has it. */
cudaError_t queue_coulomb(const fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                          const call_densities *d, fmo_gradient_pass *pass)
{
    for (int t = 0; t < term_num; t++) {
        if (terms[t].coulomb_weight == 0.0) continue;
        set_operator(plan, terms[t].coulomb_operator, pass);
        pass->coulomb = {d->D + (size_t)t * d->matrix, terms[t].coulomb_weight};
        FMO_GPU_TRY(fmo_gradient_densities(pass));
        FMO_GPU_TRY(fmo_gradient_coulomb(pass));
    }
    return cudaSuccess;
}

/* Makes the stream of a pass wait for K. */
cudaError_t join_exchange(const fmo_gradient_pass *pass)
{
    const fmo_gpu_gradient *const h = pass->h;
    for (int s = 0; s < FMO_GRADIENT_STREAMS; s++) {
        FMO_GPU_TRY(cudaEventRecord(h->ended[s], h->stream[s]));
        FMO_GPU_TRY(cudaStreamWaitEvent(pass->stream, h->ended[s], 0));
    }
    return cudaSuccess;
}

/* Queues K, all terms with the same operator together. */
cudaError_t queue_exchange(const fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                           const call_densities *d, fmo_gradient_pass *pass)
{
    int used = 0;
    for (int t = 0; t < term_num; t++) {
        const fmo_operator op = terms[t].exchange_operator;
        bool first = has_operator(&terms[t], op);
        for (int s = 0; s < t; s++) first = first && !has_operator(&terms[s], op);
        if (!first) continue;
        pass->exchange = d->term + used;
        pass->term_num = 0;
        for (int s = t; s < term_num; s++) {
            if (!has_operator(&terms[s], op)) continue;
            const fmo_gradient_density own = {d->D + (size_t)s * d->matrix,
                                              -terms[s].exchange_weight};
            FMO_GPU_TRY(fmo_gpu_send(d->term + used++, &own, sizeof own, pass->stream));
            pass->term_num++;
        }
        set_operator(plan, op, pass);
        FMO_GPU_TRY(join_exchange(pass)); /* of another operator */
        FMO_GPU_TRY(cudaMemsetAsync(pass->h->item, 0,
                                    FMO_ERI_UNROLLED_COUNT * sizeof *pass->h->item, pass->stream));
        FMO_GPU_TRY(fmo_gradient_exchange_maxima(pass));
        FMO_GPU_TRY(fmo_gradient_exchange_all(pass));
    }
    return cudaSuccess;
}

/* Queues all kernels of a call, and brings the sums back. */
cudaError_t queue(const fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                  const call_densities *d, void *sums, size_t bytes)
{
    const fmo_gpu_state *const g = plan->gpu;
    fmo_gpu_gradient *const h = (fmo_gpu_gradient *)plan->state;
    fmo_gradient_pass pass = {};
    pass.h = h;
    pass.boys = g->boys->row[0][0];
    pass.coulomb_weight = plan->coulomb_weight;
    pass.processors = g->device.processors;
    pass.stream = g->device.stream;
    h->sums.scale = scale_of(plan, terms, term_num);
    FMO_GPU_TRY(cudaMemsetAsync(h->sums.sum, 0, bytes, pass.stream));
    FMO_GPU_TRY(queue_exchange(plan, terms, term_num, d, &pass));
    FMO_GPU_TRY(queue_coulomb(plan, terms, term_num, d, &pass));
    FMO_GPU_TRY(join_exchange(&pass));
    return fmo_gpu_bring(sums, h->sums.sum, bytes, pass.stream);
}

} // namespace

void fmo_gpu_gradient_free(fmo_fock_plan *plan)
{
    fmo_gpu_gradient *const h = (fmo_gpu_gradient *)plan->state;
    for (int s = 0; h && s < FMO_GRADIENT_STREAMS; s++) {
        if (h->ended[s]) (void)cudaEventDestroy(h->ended[s]);
        if (h->stream[s]) (void)cudaStreamDestroy(h->stream[s]);
    }
    if (h && h->begun) (void)cudaEventDestroy(h->begun);
    free(h);
    plan->state = NULL;
}

typedef cudaError_t exchange_part(const fmo_gradient_pass *pass, cudaStream_t stream);
exchange_part fmo_gradient_exchange_0, fmo_gradient_exchange_1, fmo_gradient_exchange_2,
    fmo_gradient_exchange_3, fmo_gradient_exchange_4, fmo_gradient_exchange_5;

/* Each class of bras on one of the side streams, which wait for what was queued before. */
cudaError_t fmo_gradient_exchange_all(const fmo_gradient_pass *pass)
{
    static exchange_part *const part[] = {fmo_gradient_exchange_1, fmo_gradient_exchange_0,
                                          fmo_gradient_exchange_2, fmo_gradient_exchange_3,
                                          fmo_gradient_exchange_4, fmo_gradient_exchange_5};
    static_assert(CLASSES == sizeof part / sizeof *part,
                  "a part of exchange.cu for each bra class");
    const fmo_gpu_range range("gradient of K");
    const fmo_gpu_gradient *const h = pass->h;
    FMO_GPU_TRY(cudaEventRecord(h->begun, pass->stream));
    for (int s = 0; s < FMO_GRADIENT_STREAMS; s++)
        FMO_GPU_TRY(cudaStreamWaitEvent(h->stream[s], h->begun, 0));
    for (int c = 0; c < CLASSES; c++)
        FMO_GPU_TRY(part[c](pass, h->stream[c % FMO_GRADIENT_STREAMS]));
    return cudaSuccess;
}

/* Makes the data if needed, runs the kernels, and gives the result to the caller. */
extern "C" fmo_status fmo_fused_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms,
                                         int term_num, double *gradient, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_inside inside(&g->device);
    const size_t components = 3 * (size_t)plan->basis->nucleus_num;
    const size_t bytes = components * sizeof(long long) + sizeof(unsigned);
    call_densities d = {};
    FMO_GPU_CHECK(fmo_gpu_follow(&g->device, g->device.stream), "gradient", err);
    fmo_status status = make(plan, err);
    if (status != FMO_OK) return status;
    long long *const sums = (long long *)calloc(1, bytes);
    if (!sums) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a gradient");
    status = copy_in(plan, terms, term_num, &d, err);
    if (status == FMO_OK) {
        const cudaError_t code = queue(plan, terms, term_num, &d, sums, bytes);
        if (code != cudaSuccess) status = fmo_gpu_error(code, "gradient", err);
    }
    (void)cudaStreamSynchronize(g->device.stream);
    fmo_gpu_free_passing(&g->device, d.memory, d.bytes);
    unsigned too_large = 0;
    memcpy(&too_large, sums + components, sizeof too_large);
    if (status == FMO_OK && too_large)
        status = fmo_error_set(err, FMO_ERR_INPUT,
                               "fmo_fock_gradient: densities or weights are so large that the "
                               "derivatives are not finite; use smaller ones");
    for (size_t x = 0; status == FMO_OK && x < components; x++)
        gradient[x] = (double)sums[x] / ((const fmo_gpu_gradient *)plan->state)->sums.scale;
    free(sums);
    return status;
}
