/* The work cut into passes whose candidates fit the lists of survivors. */
#include "accumulate/gpu/plan.h"

#include <stdlib.h>

static void sizes(const fmo_gpu_state *g, fmo_work_size *size)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        size[c].pairs = g->pairs[c].num;
        size[c].prims = 0.0;
    }
}

/* The largest end with candidates of [begin, end) <= room; begin if not even one fits. */
static size_t end_that_fits(int eri_class, const fmo_work_size *size, size_t begin, size_t bras,
                            size_t room)
{
    size_t low = begin, high = bras + 1; /* low fits, high does not */
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (fmo_work_candidates(eri_class, size, begin, middle) <= room)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether a pass has a task of the class already: survivors are counted by class. */
static bool has_class(const fmo_gpu_pass *pass, int tasks, int eri_class)
{
    for (int n = 0; n < tasks; n++)
        if (pass->task[n].task.eri_class == eri_class) return true;
    return false;
}

/* Cuts the tasks into passes whose candidates fit `room`, which holds at least those of one bra
 * pair; returns how many. Without passes it only counts. */
static int cut_passes(const fmo_gpu_state *g, size_t room, fmo_gpu_pass *passes)
{
    fmo_work_size size[FMO_PAIR_CLASS_COUNT];
    fmo_gpu_pass counted, *now = passes ? passes : &counted;
    int pass = 0, tasks = 0;
    size_t used = 0;
    sizes(g, size);
    for (int t = 0; t < g->work.num; t++) {
        const fmo_task *task = &g->work.task[t];
        const int c = task->eri_class;
        for (size_t begin = (size_t)task->bra_begin; begin < (size_t)task->bra_end;) {
            const size_t end =
                tasks == FMO_GPU_PASS_TASKS || has_class(now, tasks, c)
                    ? begin
                    : end_that_fits(c, size, begin, (size_t)task->bra_end, room - used);
            if (end == begin) {
                pass++;
                if (passes) now = &passes[pass];
                tasks = 0;
                used = 0;
                continue;
            }
            const size_t candidates = fmo_work_candidates(c, size, begin, end);
            now->task[tasks] = {{task->eri_class, (int)begin, (int)end, task->weight},
                                used,
                                candidates,
                                {NULL, NULL}};
            now->num = ++tasks;
            used += candidates;
            begin = end;
        }
    }
    return pass + 1;
}

void fmo_gpu_set_passes(fmo_gpu_state *g, fmo_gpu_pass *pass, int passes)
{
    fmo_gpu_lists *const l = &g->lists;
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

static fmo_status make_passes(fmo_gpu_state *g, size_t room, fmo_error *err)
{
    const int passes = cut_passes(g, room, NULL);
    fmo_gpu_pass *const pass = (fmo_gpu_pass *)calloc((size_t)passes, sizeof *pass);
    if (!pass) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d passes", passes);
    (void)cut_passes(g, room, pass);
    fmo_gpu_set_passes(g, pass, passes);
    return FMO_OK;
}

fmo_status fmo_gpu_make_pass(fmo_gpu_state *g, fmo_error *err)
{
    return make_passes(g, SIZE_MAX, err);
}

fmo_status fmo_gpu_make_lists(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    fmo_gpu_lists *const l = &g->lists;
    fmo_work_size size[FMO_PAIR_CLASS_COUNT];
    size_t all = 0, most = 1, available = 0;
    sizes(g, size);
    for (int t = 0; t < g->work.num; t++) {
        const fmo_task *task = &g->work.task[t];
        const size_t kets = (size_t)size[fmo_eri_class_ket(task->eri_class)].pairs;
        all += fmo_work_candidates(task->eri_class, size, (size_t)task->bra_begin,
                                   (size_t)task->bra_end);
        if (kets > most) most = kets; /* one bra pair must fit */
    }
    fmo_status status = fmo_gpu_available_memory(&available, err);
    if (status != FMO_OK) return status;
    size_t bytes = (size_t)(fmo_tuning_gpu_list_share * (double)available);
    if (plan->options.memory && plan->options.memory < bytes) bytes = plan->options.memory;
    size_t room = bytes / (sizeof *l->near + (g->far ? sizeof *l->far_K : 0));
    if (room > fmo_tuning_gpu_list_most) room = fmo_tuning_gpu_list_most;
    if (room < most) room = most;
    if (room > all) room = all ? all : 1;
    l->size = room;
    status = make_passes(g, room, err);
    if (status == FMO_OK && g->far)
        status = fmo_gpu_alloc(&g->device, "list of quartets", room * sizeof *l->far_K,
                               (void **)&l->far_K, err);
    if (status == FMO_OK)
        status = fmo_gpu_alloc(&g->device, "list of quartets", room * sizeof *l->near,
                               (void **)&l->near, err);
    return status;
}
