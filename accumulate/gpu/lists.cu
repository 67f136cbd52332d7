/* Divides the tasks of a build into passes whose candidates fit the lists of screened-in quartets,
 * and allocates the lists (docs/explanation/gpu/memory.md). */
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of pairs of each class. */
static void sizes(const fmo_gpu_state *g, fmo_work_size *size)
{
    memset(size, 0, FMO_PAIR_CLASS_COUNT * sizeof *size);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        size[c].pairs = g->pairs[c].num;
        size[c].prims = 0.0;
    }
}

/* A list of tasks with the numbers of their bra and ket pairs. */
typedef struct cutting {
    const fmo_work *work;
    const fmo_gpu_state *bra, *ket; /* as in fmo_gpu_task */
    fmo_work_size bras[FMO_PAIR_CLASS_COUNT], kets[FMO_PAIR_CLASS_COUNT];
} cutting;

/* Sets `cut` for tasks within one plan. */
static void find_cutting(const fmo_gpu_state *g, const fmo_work *work, cutting *cut)
{
    cut->work = work;
    cut->bra = cut->ket = NULL;
    sizes(g, cut->bras);
    sizes(g, cut->kets);
}

/* Number of candidates of `bras` bra pairs of a task, starting with number `begin`. */
static size_t candidates_of(const cutting *cut, const fmo_task *task, size_t begin, size_t bras)
{
    if (!cut->bra && !cut->ket)
        return fmo_work_candidates(task->eri_class, cut->kets, begin, bras, (size_t)task->bra_step);
    return bras * (size_t)cut->kets[fmo_eri_class_ket(task->eri_class)].pairs;
}

/* Number of bra pairs of a task from number `begin` on. */
static size_t bras_of(const fmo_task *task, size_t begin)
{
    return fmo_work_bras(begin, (size_t)task->bra_end, (size_t)task->bra_step);
}

/* Number of candidates of all tasks. *max_kets becomes the largest number of candidates of one bra
 * pair, if that is larger. */
static size_t all_candidates(const cutting *cut, size_t *max_kets)
{
    size_t all = 0;
    for (int t = 0; t < cut->work->num; t++) {
        const fmo_task *task = &cut->work->task[t];
        const size_t kets = (size_t)cut->kets[fmo_eri_class_ket(task->eri_class)].pairs;
        all += candidates_of(cut, task, (size_t)task->bra_begin,
                             bras_of(task, (size_t)task->bra_begin));
        if (kets > *max_kets) *max_kets = kets;
    }
    return all;
}

/* Largest number of bra pairs of a task from `begin` on whose candidates are at most `capacity`. */
static size_t bras_that_fit(const cutting *cut, const fmo_task *task, size_t begin, size_t capacity)
{
    size_t low = 0, high = bras_of(task, begin) + 1; /* low fits, high does not */
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (candidates_of(cut, task, begin, middle) <= capacity)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* True if the pass has a task of the class already; quartets are counted by class, so each class
 * may occur once. */
static bool has_class(const fmo_gpu_pass *pass, int tasks, int eri_class)
{
    for (int n = 0; n < tasks; n++)
        if (pass->task[n].task.eri_class == eri_class) return true;
    return false;
}

/* Divides the tasks into passes with at most `capacity` candidates, which must be enough for one
 * bra pair. Returns the number of passes. passes: NULL to count only. */
static int cut_passes(const cutting *cut, size_t capacity, fmo_gpu_pass *passes)
{
    fmo_gpu_pass counted, *now = passes ? passes : &counted;
    int pass = 0, tasks = 0;
    size_t used = 0;
    for (int t = 0; t < cut->work->num; t++) {
        const fmo_task *task = &cut->work->task[t];
        const int c = task->eri_class;
        for (size_t begin = (size_t)task->bra_begin; begin < (size_t)task->bra_end;) {
            const size_t bras = tasks == FMO_GPU_PASS_TASKS || has_class(now, tasks, c)
                                    ? 0
                                    : bras_that_fit(cut, task, begin, capacity - used);
            if (!bras) {
                pass++;
                if (passes) now = &passes[pass];
                tasks = 0;
                used = 0;
                continue;
            }
            const size_t candidates = candidates_of(cut, task, begin, bras);
            const size_t after = begin + bras * (size_t)task->bra_step; /* may be beyond the end */
            const int end = after < (size_t)task->bra_end ? (int)after : task->bra_end;
            now->task[tasks] = {{task->eri_class, (int)begin, end, task->bra_step, task->weight},
                                cut->bra,
                                cut->ket,
                                used,
                                candidates,
                                {NULL, NULL}};
            now->num = ++tasks;
            used += candidates;
            begin = after;
        }
    }
    return pass + 1;
}

void fmo_gpu_set_passes(fmo_gpu_lists *l, fmo_gpu_pass *pass, int passes)
{
    for (int p = 0; p < l->passes; p++)
        for (int n = 0; n < 2 * FMO_GPU_PASS_TASKS; n++)
            if (l->pass[p].task[n / 2].event[n % 2])
                (void)cudaEventDestroy(l->pass[p].task[n / 2].event[n % 2]);
    free(l->pass);
    l->pass = pass;
    l->passes = passes;
}

cudaError_t fmo_gpu_make_timers(fmo_gpu_state *g)
{
    for (int p = 0; p < g->lists.passes; p++)
        for (int n = 0; n < 2 * g->lists.pass[p].num; n++) {
            cudaEvent_t *const event = &g->lists.pass[p].task[n / 2].event[n % 2];
            if (!*event) FMO_GPU_TRY(cudaEventCreate(event));
        }
    return cudaSuccess;
}

cudaError_t fmo_gpu_class_seconds(const fmo_gpu_state *g, double *seconds)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) seconds[c] = 0.0;
    for (int p = 0; p < g->lists.passes; p++)
        for (int n = 0; n < g->lists.pass[p].num; n++) {
            const fmo_gpu_task *task = &g->lists.pass[p].task[n];
            float ms = 0.0f;
            FMO_GPU_TRY(cudaEventElapsedTime(&ms, task->event[0], task->event[1]));
            seconds[task->task.eri_class] += 1e-3 * ms;
        }
    return cudaSuccess;
}

/* Makes the passes for `cuts` lists of tasks, one list after the other. */
static fmo_status make_passes(const cutting *cut, int cuts, size_t capacity, fmo_gpu_lists *to,
                              fmo_error *err)
{
    int passes = 0;
    for (int k = 0; k < cuts; k++) passes += cut_passes(&cut[k], capacity, NULL);
    fmo_gpu_pass *const pass = (fmo_gpu_pass *)calloc((size_t)passes, sizeof *pass);
    if (!pass) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d passes", passes);
    for (int k = 0, begin = 0; k < cuts; k++) begin += cut_passes(&cut[k], capacity, pass + begin);
    fmo_gpu_set_passes(to, pass, passes);
    return FMO_OK;
}

fmo_status fmo_gpu_make_pass(fmo_gpu_state *g, fmo_error *err)
{
    cutting cut;
    find_cutting(g, &g->work, &cut);
    return make_passes(&cut, 1, SIZE_MAX, &g->lists, err);
}

/* Sets *capacity to the number of quartets of a list, `entry` bytes each: what memory allows, at
 * least the `max_kets` of one bra pair, at most `all` candidates. */
static fmo_status find_capacity(const fmo_fock_plan *plan, size_t entry, size_t max_kets,
                                size_t all, size_t *capacity, fmo_error *err)
{
    size_t available = 0;
    const fmo_status status = fmo_gpu_state_available(plan->gpu, &available, err);
    if (status != FMO_OK) return status;
    size_t bytes = (size_t)(fmo_tuning_gpu_list_share * (double)available);
    if (plan->options.memory && plan->options.memory < bytes) bytes = plan->options.memory;
    *capacity = bytes / entry;
    if (*capacity > fmo_tuning_gpu_list_max) *capacity = fmo_tuning_gpu_list_max;
    if (*capacity < max_kets) *capacity = max_kets;
    if (*capacity > all) *capacity = all ? all : 1;
    return FMO_OK;
}

/* The same for the lists of a plan. */
static fmo_status find_size(const fmo_fock_plan *plan, bool far, size_t *capacity, fmo_error *err)
{
    const fmo_gpu_state *const g = plan->gpu;
    cutting cut;
    find_cutting(g, &g->work, &cut);
    size_t max_kets = 1;
    const size_t all = all_candidates(&cut, &max_kets);
    const size_t entry = sizeof *g->lists.near + (far ? sizeof *g->lists.far_K : 0);
    return find_capacity(plan, entry, max_kets, all, capacity, err);
}

size_t fmo_gpu_lists_bytes(const fmo_fock_plan *plan, bool far)
{
    const fmo_gpu_lists *const l = &plan->gpu->lists;
    fmo_gpu_array near = {}, far_K = {};
    size_t capacity = 0;
    if (plan->gpu->schedule->make_lists != fmo_gpu_make_lists ||
        find_size(plan, far, &capacity, NULL) != FMO_OK)
        return 0;
    near.bytes = capacity * sizeof *l->near;
    far_K.bytes = far ? capacity * sizeof *l->far_K : 0;
    return fmo_gpu_arrays_bytes(&near, 1) + fmo_gpu_arrays_bytes(&far_K, 1);
}

fmo_status fmo_gpu_make_lists(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    fmo_gpu_lists *const l = &g->lists;
    cutting cut;
    size_t capacity = 0;
    find_cutting(g, &g->work, &cut);
    fmo_status status = find_size(plan, g->far, &capacity, err);
    if (status != FMO_OK) return status;
    l->size = capacity;
    status = make_passes(&cut, 1, capacity, l, err);
    if (status == FMO_OK && g->far)
        status = fmo_gpu_alloc(&g->device, "list of quartets", capacity * sizeof *l->far_K,
                               (void **)&l->far_K, err);
    if (status == FMO_OK)
        status = fmo_gpu_alloc(&g->device, "list of quartets", capacity * sizeof *l->near,
                               (void **)&l->near, err);
    return status;
}

/* Makes tasks, list and passes for quartets between two plans: first those whose bra pairs belong
 * to `plan`, then those whose ket pairs do. */
fmo_status fmo_gpu_make_lists_between(const fmo_fock_plan *plan, fmo_gpu_state *g,
                                      const fmo_gpu_state *other, fmo_gpu_lists *to, fmo_error *err)
{
    const fmo_gpu_state *const side[2] = {g, other};
    cutting cut[2];
    fmo_work work[2] = {{0, NULL}, {0, NULL}};
    fmo_status status = FMO_OK;
    size_t max_kets = 1, all = 0, capacity = 0;
    /* the plan's pairs are first bras, then kets */
    for (int k = 0; k < 2 && status == FMO_OK; k++) {
        cut[k].work = &work[k];
        cut[k].bra = side[k];
        cut[k].ket = side[1 - k];
        sizes(side[k], cut[k].bras);
        sizes(side[1 - k], cut[k].kets);
        status = fmo_work_between(cut[k].bras, cut[k].kets, k == 1, &work[k], err);
        if (status == FMO_OK) all += all_candidates(&cut[k], &max_kets);
    }
    if (status == FMO_OK)
        status = find_capacity(plan, sizeof *to->near, max_kets, all, &capacity, err);
    if (status == FMO_OK && capacity > to->size) {
        fmo_gpu_free(&g->device, to->near);
        to->near = NULL;
        to->size = 0;
        status = fmo_gpu_alloc(&g->device, "list of quartets", capacity * sizeof *to->near,
                               (void **)&to->near, err);
        if (status == FMO_OK) to->size = capacity;
    }
    if (status == FMO_OK) status = make_passes(cut, 2, to->size, to, err);
    fmo_work_free(&work[0]);
    fmo_work_free(&work[1]);
    return status;
}
