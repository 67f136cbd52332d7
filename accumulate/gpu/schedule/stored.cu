/* Integrals that a plan keeps on the GPU from build to build: which ones, whether they fit, and
 * computing them. kernels/stored.cuh reads them. */
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/range.h"

#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/kernels/stored.cuh"

/* Integrals and their list take at most this share of the free memory, if options.memory sets no
 * limit. */
#define STORED_SHARE 0.9

/* The rule of integrals = auto: stored if they take no more than this share of it, the rest is left
 * to other plans. Time says nothing against it: docs/results/2026-11-22-77b1cb3/h200-stored.txt. */
#define AUTO_SHARE 0.5

/* Tasks that a warp screens in a row: as many as leave each warp some pieces, so that survivors
 * stay next to those they share rows with, but no warp is left with all of them. */
enum { PIECE_MIN = 32, PIECE_MAX = 256, PIECES_OF_A_WARP = 8 };

namespace {

template <class C>
__global__ void __launch_bounds__(FMO_GPU_THREADS, C::resident)
    fill(fmo_gpu_class_view view, const fmo_boys_table *boys, size_t tasks, double *to)
{
    const size_t task = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= tasks) return;
    double eri[C::size];
    (void)fmo_gpu_quartet<C>(view, boys->row[C::order][0], view.list[task], eri);
    fmo_gpu_store_integrals<C>(to, task, eri);
}

template <class C>
cudaError_t launch_fill(const fmo_gpu_class_view *view, const fmo_gpu_state *g, size_t tasks)
{
    const unsigned blocks = (unsigned)((tasks + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
    fill<C><<<blocks, FMO_GPU_THREADS, 0, g->stream>>>(*view, g->boys, tasks, g->eri[C::id]);
    return cudaGetLastError();
}

const struct {
    cudaError_t (*fill)(const fmo_gpu_class_view *, const fmo_gpu_state *, size_t);
    size_t (*size)(size_t);
} classes[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, ...) \
    {launch_fill<fmo_sp_class_##name>, fmo_gpu_stored_size<fmo_sp_class_##name>},
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
};

/* The largest density that the pairs are good for, as fmo_gpu_take_density makes it: whatever stays
 * under a density of smaller elements stays under this one, and its codes hold for all. */
cudaError_t take_largest_density(const fmo_gpu_group *group)
{
    const fmo_fock_plan *plan = group->job->plan;
    fmo_gpu_state *g = plan->gpu;
    const size_t size = (size_t)plan->basis->ao_num * (size_t)plan->basis->ao_num;
    cudaError_t code = fmo_gpu_make_pinned(plan);
    if (code != cudaSuccess) return code;
    for (size_t x = 0; x < size; x++) g->host_in[x] = plan->density_limit;
    code = cudaMemcpyAsync(g->density_in, g->host_in, size * sizeof(double), cudaMemcpyHostToDevice,
                           g->stream);
    return code == cudaSuccess ? fmo_gpu_take_density(group) : code;
}

/* Screens all passes and counts the survivors of each class. With list_at they stand in the list
 * one after the other, each class where list_at says; else passes overwrite each other. */
cudaError_t screen_all(const fmo_gpu_group *group, const size_t *list_at, size_t *tasks)
{
    fmo_gpu_state *g = group->job->plan->gpu;
    cudaError_t code = cudaSuccess;
    memset(tasks, 0, FMO_ERI_CLASS_COUNT * sizeof *tasks);
    for (int p = 0; p < g->passes && code == cudaSuccess; p++) {
        fmo_gpu_pass *pass = &g->pass[p];
        for (int n = 0; n < pass->num && list_at; n++) {
            const fmo_eri_class c = pass->part[n].eri_class;
            pass->part[n].list_at = list_at[c] + tasks[c];
        }
        code = fmo_gpu_screen(group, p);
        if (code == cudaSuccess)
            code = cudaMemcpyAsync(g->host_counters, g->counters, sizeof *g->counters,
                                   cudaMemcpyDeviceToHost, g->stream);
        if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
        for (int n = 0; n < pass->num && code == cudaSuccess; n++) {
            const fmo_eri_class c = pass->part[n].eri_class;
            tasks[c] += g->host_counters->survivors[FMO_GPU_NEAR][c];
        }
    }
    return code;
}

/* Whether so many bytes are to be kept; FMO_ERR_MEMORY if they are asked for and do not fit. */
fmo_status decide(const fmo_fock_plan *plan, size_t bytes, bool *store, fmo_error *err)
{
    const bool automatic = plan->options.integrals == FMO_INTEGRALS_AUTO;
    size_t available = 0, total = 0, allowed = plan->options.memory;
    if (!allowed) {
        const cudaError_t code = cudaMemGetInfo(&available, &total);
        if (code != cudaSuccess) return fmo_gpu_error(code, "asking for free memory", err);
        allowed = (size_t)((automatic ? AUTO_SHARE : STORED_SHARE) * (double)available);
    }
    *store = bytes <= allowed;
    if (*store || automatic) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "integrals = stored needs %.1f MB of GPU memory, %.1f may be used; use "
                         "integrals = auto or direct, a larger cutoff or more memory",
                         1e-6 * (double)bytes, 1e-6 * (double)allowed);
}

/* One pass of whole classes, the heaviest first. */
void whole_classes(const fmo_fock_plan *plan, const fmo_gpu_state *g, const size_t *list_at,
                   const size_t *tasks, fmo_gpu_pass *pass)
{
    for (int c = FMO_ERI_CLASS_COUNT - 1; c >= 0; c--) {
        fmo_gpu_part part = {(fmo_eri_class)c, 0, 0, list_at[c], tasks[c], {NULL, NULL}};
        part.bra_end = fmo_gpu_view(plan, g, &part).bra.num;
        if (tasks[c]) pass->part[pass->num++] = part;
    }
}

} // namespace

fmo_status fmo_gpu_store(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_fock_job job = fmo_gpu_own_job(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&job);
    size_t tasks[FMO_ERI_CLASS_COUNT], list_at[FMO_ERI_CLASS_COUNT], eri_at[FMO_ERI_CLASS_COUNT];
    size_t list_size = 0, eri_size = 0;
    int2 *list = NULL;
    double *eri = NULL;
    bool store = false;
    fmo_error failure = {FMO_OK, ""};
    if (plan->options.integrals == FMO_INTEGRALS_DIRECT) return FMO_OK;
    const fmo_gpu_range range("stored integrals");
    const int far = g->far;
    g->far = 0; /* all tasks in one list */
    cudaError_t code = take_largest_density(&group);
    if (code == cudaSuccess) code = screen_all(&group, NULL, tasks);
    if (code != cudaSuccess) return fmo_gpu_error(code, "counting the integrals to keep", err);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        list_at[c] = list_size;
        eri_at[c] = eri_size;
        list_size += tasks[c];
        eri_size += classes[c].size(tasks[c]);
    }
    fmo_status status =
        decide(plan, list_size * sizeof *list + eri_size * sizeof *eri, &store, err);
    if (!store) g->far = far;
    if (status != FMO_OK || !store) return status;

    fmo_gpu_pass *pass = (fmo_gpu_pass *)calloc(1, sizeof *pass);
    if (!pass) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a pass");
    status =
        fmo_gpu_alloc(g, "list of integrals", list_size * sizeof *list, (void **)&list, &failure);
    if (status == FMO_OK)
        status = fmo_gpu_alloc(g, "integrals", eri_size * sizeof *eri, (void **)&eri, &failure);
    if (status != FMO_OK) { /* somebody else was faster, or memory is in pieces */
        if (list) fmo_gpu_free(g, list, list_size * sizeof *list);
        free(pass);
        g->far = far;
        return status == FMO_ERR_MEMORY && plan->options.integrals == FMO_INTEGRALS_AUTO
                   ? FMO_OK
                   : fmo_error_set(err, status, "%s", failure.message);
    }
    fmo_gpu_forget_far(g);
    int2 *const candidates = g->list;
    const size_t candidates_size = g->list_size;
    g->list = list;
    g->list_size = list_size;
    code = fmo_gpu_take_density(&group); /* counters from zero again */
    if (code == cudaSuccess) code = screen_all(&group, list_at, tasks);
    whole_classes(plan, g, list_at, tasks, pass);
    fmo_gpu_set_passes(g, pass, 1);
    for (int n = 0; n < pass->num && code == cudaSuccess; n++) {
        const fmo_gpu_part *part = &pass->part[n];
        const fmo_gpu_class_view view = fmo_gpu_view(plan, g, part);
        g->eri[part->eri_class] = eri + eri_at[part->eri_class];
        code = classes[part->eri_class].fill(&view, g, part->candidates);
    }
    if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, "computing the integrals to keep", err);
    fmo_gpu_free(g, candidates, candidates_size * sizeof *candidates);
    g->stored = 1;
    return FMO_OK;
}

fmo_gpu_stored_args fmo_gpu_stored_view(const fmo_fock_plan *plan, const fmo_gpu_state *g,
                                        const fmo_gpu_part *part, int blocks)
{
    const size_t warps = (size_t)blocks * (FMO_GPU_THREADS / 32);
    size_t piece = PIECE_MIN;
    while (piece < PIECE_MAX && PIECES_OF_A_WARP * warps * 2 * piece <= part->candidates)
        piece *= 2;
    const fmo_gpu_stored_args args = {
        g->eri[part->eri_class],     part->candidates, piece, g->density_max, g->sets,
        (float)plan->options.cutoff, g->counters};
    return args;
}
