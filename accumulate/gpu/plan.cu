/* The GPU state of a plan: how it is made and destroyed. What kernels read of it is in views.cu.
 * The functions are described in plan.h. */
#include "accumulate/gpu/plan.h"
#include "accumulate/cpu/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "accumulate/gpu/boxes/boxes.h"
#include "accumulate/gpu/gradient/gradient.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/tuning.h"

cudaError_t fmo_gpu_make_pinned(const fmo_fock_plan *plan)
{
    fmo_gpu_pinned *const p = &plan->gpu->pinned;
    const size_t size = (size_t)plan->basis->ao_num * (size_t)plan->basis->ao_num;
    if (plan->gpu->hermite) FMO_GPU_TRY(fmo_hermite_make_pinned(plan->gpu->hermite));
    if (p->in) return cudaSuccess;
    FMO_GPU_TRY(cudaMallocHost((void **)&p->in, 3 * size * sizeof *p->in + sizeof *p->counters));
    p->out = p->in + size;
    p->counters = (fmo_gpu_counters *)(p->out + 2 * size);
    return cudaSuccess;
}

/* For fixed-point sums: computes the largest Schwarz bound of a pair with each SP shell from the
 * pairs on the host, and copies these bounds to the device. */
static fmo_status make_shell_bounds(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    double *bound = NULL;
    const fmo_gpu_array array = {(size_t)g->functions.sp_shells * sizeof *bound,
                                 (void **)&g->arrays.shell_bound, (void **)&bound};
    void *const staged = fmo_gpu_stage(&array, 1);
    if (!staged)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d shells",
                             g->functions.sp_shells);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const fmo_pair_list *list = &plan->pairs.list[c];
        for (int n = 0; n < list->num; n++) {
            double *const i = &bound[g->functions.sp_shell_of[list->i[n]]];
            double *const j = &bound[g->functions.sp_shell_of[list->j[n]]];
            *i = fmax(*i, list->bound[n]);
            *j = fmax(*j, list->bound[n]);
        }
    }
    fmo_status status = fmo_gpu_place_arrays(&g->device, "Schwarz bounds", &array, 1, err);
    if (status == FMO_OK)
        status = fmo_gpu_upload(&g->device, "Schwarz bounds", staged, &array, 1, err);
    free(staged);
    return status;
}

/* Arrays in one piece of memory: input density, density and its block maxima in the kernels' order,
 * all that each build sets to zero (array number ZEROED), J and K, an operator. */
enum { MATRIX_ARRAYS = 6, ZEROED = 3 };
typedef struct matrix_arrays {
    fmo_gpu_array array[MATRIX_ARRAYS];
} matrix_arrays;

/* Sizes of these arrays and the pointers to be set. */
static matrix_arrays find_matrix_arrays(const fmo_fock_plan *plan, fmo_gpu_arrays *a)
{
    const fmo_gpu_functions *const f = &plan->gpu->functions;
    const size_t n = (size_t)plan->basis->ao_num, matrix = n * n * sizeof(double);
    const size_t sp_shells = (size_t)f->sp_shells, inner = (size_t)f->nao * (size_t)f->nao;
    const size_t num = (size_t)a->densities;
    const size_t zeroed = (inner + a->copies * (num * inner + a->sums_size)) * sizeof(double) +
                          sizeof *a->counters + 2 * sp_shells * sizeof *a->row_max;
    const matrix_arrays arrays = {
        {{(2 * num - 1) * matrix, (void **)&a->density_in, NULL},
         {num * inner * sizeof(double), (void **)&a->density, NULL},
         {sp_shells * sp_shells * sizeof(float), (void **)&a->density_max, NULL},
         {zeroed, (void **)&a->coulomb, NULL},
         {(1 + num) * matrix, (void **)&a->out, NULL},
         {sizeof *a->op, (void **)&a->op, NULL}}};
    return arrays;
}

void fmo_gpu_place_sums(fmo_gpu_state *g)
{
    double *sums = g->arrays.sums;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT && g->functions.sp; c++) {
        g->pairs[c].sums = sums;
        sums += (size_t)g->pairs[c].num * (size_t)fmo_pair_products(c, g->functions.sp);
    }
}

/* Allocates arrays of a state, whose copies, densities and sums_size are set, and sets the pointers
 * into the zeroed one. */
static fmo_status make_arrays(const fmo_fock_plan *plan, fmo_gpu_arrays *a, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    const size_t sp_shells = (size_t)g->functions.sp_shells;
    const size_t inner = (size_t)g->functions.nao * (size_t)g->functions.nao;
    const unsigned copies = a->copies;
    const matrix_arrays arrays = find_matrix_arrays(plan, a);
    const fmo_status status =
        fmo_gpu_place_arrays(&g->device, "density, J and K", arrays.array, MATRIX_ARRAYS, err);
    if (status != FMO_OK) return status;
    a->zeroed = fmo_gpu_arrays_bytes(&arrays.array[ZEROED], 1); /* including its padding */
    a->exchange = a->coulomb + inner;
    a->sums = a->exchange + (size_t)a->densities * copies * inner;
    a->counters = (fmo_gpu_counters *)(a->sums + copies * a->sums_size);
    a->row_max = (float *)(a->counters + 1);
    a->no_exchange = a->row_max + sp_shells;
    return FMO_OK;
}

/* The arrays of builds with K of two densities, with those of classes with d shells. */
fmo_status fmo_gpu_make_two_arrays(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    fmo_status status = FMO_OK;
    if (!g->two.arrays.coulomb) {
        fmo_gpu_arrays arrays = g->arrays; /* copies and sizes */
        arrays.densities = 2;
        status = make_arrays(plan, &arrays, err);
        if (status == FMO_OK) g->two.arrays = arrays;
    }
    return status == FMO_OK && g->hermite ? fmo_hermite_make_two(plan, err) : status;
}

fmo_status fmo_gpu_make_work(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    fmo_work_size size[FMO_PAIR_CLASS_COUNT] = {}; /* zero for classes with d shells */
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        size[c].pairs = g->pairs[c].num;
        size[c].prims = (double)g->prim_num[c];
    }
    return fmo_plan_make_work(plan, size, 1, &g->work, err);
}

fmo_status fmo_gpu_state_open(fmo_fock_plan *plan, fmo_error *err)
{
    return fmo_gpu_state_open_like(plan, NULL, err);
}

fmo_status fmo_gpu_state_open_like(fmo_fock_plan *plan, const fmo_gpu_state *like, fmo_error *err)
{
    fmo_gpu_state *g = (fmo_gpu_state *)calloc(1, sizeof *g);
    if (!g) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a GPU plan");
    plan->gpu = g;
    g->requested = FMO_TERMS_ALL;
    g->densities = 1;
    g->density_factor = 1.0;
    const fmo_status status = fmo_gpu_device_open_like(&g->device, &plan->options, plan->in_batch,
                                                       like ? &like->device : NULL, err);
    if (status != FMO_OK) return status;
    if (like) g->available = like->available;
    (void)snprintf(plan->profile.device, sizeof plan->profile.device, "%s", g->device.name);
    return FMO_OK;
}

/* Factor on the shares of the cutoff below which primitive quartets and sums are left out
 * (screen.h). The shares hold for shells of up to 6 primitives. In deeper contractions an element
 * of a matrix loses more such terms, since its quartets have more primitives and segments, so each
 * must be smaller. */
static double deep_share(const fmo_basis *basis)
{
    int depth = 6;
    for (int i = 0; i < basis->shell_num; i++)
        if (basis->shell[i].prim_num > depth) depth = basis->shell[i].prim_num;
    return pow(6.0 / depth, 4);
}

fmo_status fmo_gpu_state_begin(fmo_fock_plan *plan, const fmo_gpu_schedule *schedule,
                               unsigned copies, fmo_error *err)
{
    plan->gpu->deep_share = deep_share(plan->basis);
    plan->gpu->schedule = schedule;
    plan->gpu->arrays.copies = copies;
    plan->gpu->arrays.densities = 1;
    return fmo_gpu_number_functions(plan, plan->gpu, err);
}

size_t fmo_gpu_state_bytes(const fmo_fock_plan *plan)
{
    const fmo_gpu_state *const g = plan->gpu;
    fmo_gpu_arrays arrays = g->arrays;
    const bool integers = fmo_scatter_sums_integers(plan->options.scatter);
    size_t bytes = fmo_gpu_functions_bytes(g) + fmo_gpu_pairs_bytes(g) +
                   fmo_gpu_arrays_bytes(find_matrix_arrays(plan, &arrays).array, MATRIX_ARRAYS) +
                   (integers ? ((size_t)g->functions.sp_shells + 32) * sizeof(double) : 0);
    /* stored integrals may need the space for the rest */
    if (plan->options.integrals != FMO_INTEGRALS_DIRECT) return bytes;
    size_t far = fmo_gpu_far_bytes(plan);
    if ((double)far > fmo_tuning_gpu_far_share * (double)g->available) far = 0;
    return bytes + far + fmo_gpu_lists_bytes(plan, far > 0);
}

fmo_status fmo_gpu_state_make(fmo_fock_plan *plan, const fmo_gpu_schedule *schedule,
                              unsigned copies, fmo_error *err)
{
    fmo_status status = fmo_gpu_state_begin(plan, schedule, copies, err);
    if (status == FMO_OK) status = fmo_gpu_make_pairs(plan, plan->gpu, err);
    if (status == FMO_OK) status = fmo_gpu_make_work(plan, plan->gpu, err);
    return status == FMO_OK ? fmo_gpu_state_end(plan, err) : status;
}

/* Makes, in this order: functions, matrices, classes with d shells, bounds for fixed-point sums,
 * nodes of far quartets, cells of far pairs, and lists. */
fmo_status fmo_gpu_state_end(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_schedule *const schedule = g->schedule;
    fmo_status status = fmo_gpu_make_functions(plan, g, err);
    if (status == FMO_OK) status = make_arrays(plan, &g->arrays, err);
    if (status == FMO_OK) fmo_gpu_place_sums(g);
    if (status == FMO_OK && fmo_plan_high_l_shell(plan->basis) >= 0)
        status = fmo_hermite_make(plan, err);
    if (status != FMO_OK) return status;
    FMO_GPU_CHECK(fmo_gpu_boys(&g->boys), "the table of the Boys function", err);
    if (fmo_scatter_sums_integers(plan->options.scatter) && !g->arrays.shell_bound)
        status = make_shell_bounds(plan, g, err);
    if (status == FMO_OK && !g->far && fmo_gpu_far_bytes(plan))
        status = fmo_gpu_make_far(plan, err);
    /* leave the rest of the stock to the lists, not to the cells */
    char *const left = g->device.stock_at;
    g->device.stock_at = g->device.stock_end;
    if (status == FMO_OK) status = fmo_gpu_make_boxes(plan, err);
    g->device.stock_at = left;
    if (status == FMO_OK) status = schedule->make_lists(plan, g, err);
    g->available = 0; /* no longer valid */
    if (status != FMO_OK) return status;
    /* builds on other streams wait for this event */
    FMO_GPU_CHECK(cudaEventRecord(g->device.finished, g->device.stream), "preparing the GPU", err);
    return FMO_OK;
}

/* Destroys the graphs. */
static void destroy_graphs(fmo_gpu_graphs *graphs)
{
    for (int n = 0; n < FMO_GPU_GRAPHS; n++) {
        if (graphs->graph[n]) (void)cudaGraphExecDestroy(graphs->graph[n]);
        graphs->graph[n] = NULL;
        graphs->tried[n] = 0;
    }
}

void fmo_gpu_destroy_graphs(fmo_gpu_state *g)
{
    destroy_graphs(&g->graphs);
    destroy_graphs(&g->loose);
}

fmo_gpu_graphs *fmo_gpu_graphs_of(const fmo_fock_plan *plan)
{
    fmo_gpu_state *const g = plan->gpu;
    if (plan->cutoff == plan->options.cutoff) return &g->graphs;
    if (g->loose_cutoff != plan->cutoff) destroy_graphs(&g->loose);
    g->loose_cutoff = plan->cutoff;
    return &g->loose;
}

/* Waits for the last build, then frees everything on the GPU and on the host. */
extern "C" void fmo_gpu_state_destroy(fmo_fock_plan *plan)
{
    fmo_gpu_state *g = plan->gpu;
    if (!g) return;
    {
        const fmo_gpu_device_guard guard(&g->device);
        fmo_gpu_device_wait(&g->device);
        fmo_gpu_set_passes(&g->lists, NULL, 0);
        fmo_gpu_set_passes(&g->between, NULL, 0);
        if (g->pinned.in) (void)cudaFreeHost(g->pinned.in);
        if (g->two.in) (void)cudaFreeHost(g->two.in);
        if (g->others.counters) (void)cudaFreeHost(g->others.counters);
        if (g->others.summed) (void)cudaEventDestroy(g->others.summed);
        fmo_gpu_destroy_graphs(g);
        fmo_gpu_free_boxes(g);
        fmo_hermite_free(g);
        if (plan->options.mode == FMO_MODE_FUSED) fmo_gpu_gradient_free(plan);
        fmo_gpu_device_close(&g->device);
    }
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) free(g->pair_ao[c]);
    free(g->functions.sp_shell_of);
    fmo_work_free(&g->work);
    free(g);
    plan->gpu = NULL;
}

extern "C" void fmo_gpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    memory->device_bytes += g->device.arena.bytes_max;
    memory->host_bytes += fmo_gpu_box_host_bytes(g->boxes) + fmo_hermite_host_bytes(g->hermite) +
                          3 * n * n * sizeof(double) + sizeof *g + sizeof *g->pinned.counters +
                          (size_t)g->lists.passes * sizeof *g->lists.pass +
                          (size_t)g->work.num * sizeof *g->work.task +
                          (size_t)g->device.arena.capacity * sizeof *g->device.arena.piece +
                          (size_t)plan->basis->shell_num * sizeof *g->functions.sp_shell_of;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++)
        memory->host_bytes += (size_t)g->pairs[c].num * sizeof *g->pair_ao[c];
}

/* Copies the counts of each class to the profile; quartets that were screened out are the
 * difference to all quartets of the plan. */
void fmo_gpu_profile_counts(fmo_fock_plan *plan, const fmo_gpu_counters *counters)
{
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) {
        fmo_class_profile *p = &plan->profile.classes[c];
        p->quartets = (int64_t)counters->quartets[c];
        p->prim_quartets = (int64_t)counters->prim_quartets[c];
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
        p->adds = fmo_gpu_adds_made(plan->gpu, counters, c);
        p->adds_issued = (int64_t)counters->issued[c];
    }
    if (plan->gpu->hermite) fmo_hermite_profile_counts(plan);
}
