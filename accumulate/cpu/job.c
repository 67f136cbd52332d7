/* Executes a build of mode cpu on its threads. They process the workloads task by task and share
 * the bras of each task; if several ranks share the build, each thread takes whole tasks
 * instead. */
#include <omp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/build.h"
#include "accumulate/tuning.h"
#include "base/threads.h"

/* How much of a build a thread has done. */
typedef struct progress {
    double done, all; /* weights of tasks */
} progress;

/* Reports the progress of the build; fraction: that of the job. */
static void report(const fmo_cpu_job *j, double fraction)
{
    fmo_plan_progress(j->plan, j->begun + j->share * fraction);
}

/* Executes one task with all threads of the team, which share its bras. */
static void run_task(fmo_cpu_job *j, const fmo_cpu_build *build, const fmo_task *task,
                     fmo_cpu_worker *w, const progress *at)
{
    const int c = task->eri_class, bras = task->bra_end - task->bra_begin;
    fmo_class_profile *profile = &j->plan->profile.classes[c];
    w->quartets = w->prim_quartets = 0;
    for (int f = 0; f < build->side[FMO_CPU_KET].pairs->list[fmo_eri_class_ket(c)].family_num; f++)
        w->table_of[f] = -1;
#pragma omp for schedule(dynamic, fmo_tuning_cpu_bras)
    for (int n = 0; n < bras; n++) {
        j->kernels[c](build, w, task->bra_end - 1 - n); /* the longest lists of kets first */
        if (omp_get_thread_num() == 0 && n % 16 == 0)
            report(j, (at->done + task->weight * n / bras) / at->all);
    }
#pragma omp atomic
    profile->quartets += w->quartets;
#pragma omp atomic
    profile->prim_quartets += w->prim_quartets;
}

/* Allocates one thread's memory; returns 0 if memory is short. */
static int make_worker(fmo_cpu_job *j, int t)
{
    const size_t size = fmo_cpu_sums_size(&j->shape);
    fmo_cpu_worker *w = &j->workers[t];
    j->arrays[t] = aligned_alloc(64, fmo_cpu_worker_arrays(&j->shape, NULL, w) + 64);
    if (j->arrays[t]) fmo_cpu_worker_arrays(&j->shape, j->arrays[t], w);
    if (t >= j->copies) return j->arrays[t] != NULL;
    j->own[t] = fmo_cpu_vector_alloc(size);
    if (j->own[t]) memset(j->own[t], 0, size * sizeof **j->own); /* also the integer 0 */
    return j->arrays[t] && j->own[t];
}

/* Executes one thread's share of all tasks, those of the lowest angular momentum first. */
static void run_parts(fmo_cpu_job *j, int t)
{
    fmo_fock_plan *plan = j->plan;
    fmo_cpu_worker *w = &j->workers[t];
    progress at = {0.0, 1.0};
    double begun = fmo_now();
    for (int p = 0; p < j->parts; p++) at.all += fmo_work_weight(j->part[p].work);
    for (int p = 0; p < j->parts; p++) {
        const fmo_cpu_workload *part = &j->part[p];
        w->sums = fmo_cpu_sums_at(&j->shape, j->own[t % j->copies]);
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < FMO_PAIR_CLASS_COUNT && !part->adds[side]; c++)
                w->sums.coulomb[side][c] = NULL;
        for (int n = part->work->num - 1; n >= 0; n--) {
            const fmo_task *task = &part->work->task[n];
#pragma omp master
            report(j, at.done / at.all);
            run_task(j, &part->build, task, w, &at);
            at.done += task->weight;
#pragma omp master
            {
                const double now = fmo_now();
                plan->profile.classes[task->eri_class].seconds += now - begun;
                begun = now;
            }
        }
    }
}

/* Returns the next task for a thread and its number, or NULL if there is none left. */
static const fmo_task *next_piece(fmo_cpu_job *j, int64_t *number)
{
    const fmo_work *work = j->part[0].work;
    int fault = 0;
#pragma omp critical(fmo_cpu_next_piece)
    {
        *number = j->next;
        if (!j->ranks)
            j->next++;
        else if (!j->fault)
            j->fault = j->ranks->next(j->ranks->user, number);
        fault = j->fault;
    }
    return fault || *number >= work->num ? NULL : &work->task[*number];
}

/* Executes whole tasks on one thread, which takes the next one as soon as it has finished one,
 * without barriers. */
static void run_pieces(fmo_cpu_job *j, int t)
{
    fmo_fock_plan *plan = j->plan;
    const fmo_cpu_workload *part = &j->part[0];
    fmo_cpu_worker *w = &j->workers[t];
    const fmo_task *task;
    int64_t number;
    double begun = fmo_now();
    w->sums = fmo_cpu_sums_at(&j->shape, j->own[t % j->copies]);
    while ((task = next_piece(j, &number)) != NULL) {
        const int c = (int)task->eri_class;
        const fmo_cpu_pair_list *kets =
            &part->build.side[FMO_CPU_KET].pairs->list[fmo_eri_class_ket(c)];
        fmo_class_profile *profile = &plan->profile.classes[c];
        w->quartets = w->prim_quartets = 0;
        for (int g = 0; g < kets->family_num; g++) w->table_of[g] = -1;
        for (int b = task->bra_end - 1; b >= task->bra_begin; b--)
            j->kernels[c](&part->build, w, b);
#pragma omp atomic
        profile->quartets += w->quartets;
#pragma omp atomic
        profile->prim_quartets += w->prim_quartets;
#pragma omp master
        {
            const double now = fmo_now();
            profile->seconds += now - begun;
            begun = now;
            report(j, (double)number / part->work->num);
        }
    }
}

/* Body of the parallel region, executed by each thread of the team. */
static void run_team(fmo_cpu_job *j, int *failed)
{
#pragma omp master
    j->team = omp_get_num_threads();
    if (!make_worker(j, omp_get_thread_num())) {
#pragma omp atomic write
        *failed = 1;
    }
#pragma omp barrier
    if (!*failed && j->plan->shared.pieces > 0) {
        run_pieces(j, omp_get_thread_num());
#pragma omp barrier
    } else if (!*failed) {
        run_parts(j, omp_get_thread_num());
    }
#pragma omp master
    j->ended = fmo_now();
}

/* Allocates the memory of the threads, runs the team, adds up the copies of the sums and X^J of far
 * pairs, and converts the result to plan->matrices. */
fmo_status fmo_cpu_run_job(fmo_cpu_job *j, fmo_error *err)
{
    fmo_fock_plan *plan = j->plan;
    const int threads = j->threads;
    fmo_status status = FMO_OK;
    int failed = 0;
    j->workers = calloc((size_t)threads, sizeof *j->workers);
    j->arrays = calloc((size_t)threads, sizeof *j->arrays);
    j->own = calloc((size_t)threads, sizeof *j->own);
    if (!j->workers || !j->arrays || !j->own) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads; use fewer", threads);
        goto done;
    }
    /* NaN before the first job of a build */
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        if (isnan(plan->profile.classes[c].seconds)) plan->profile.classes[c].seconds = 0.0;

    if (fmo_threads_alone(threads)) {
        run_team(j, &failed);
    } else {
#pragma omp parallel num_threads(threads)
        run_team(j, &failed);
    }
    if (j->fault)
        status = fmo_error_set(err, FMO_ERR_DEVICE,
                               "the work counter that the ranks share failed; check that all ranks "
                               "are running");
    if (failed) {
        status = fmo_error_set(err, FMO_ERR_MEMORY,
                               "no memory for %d copies of the Fock matrix and %d threads; set "
                               "options.memory to a limit, or use fewer threads",
                               j->copies, threads);
    }
    if (status != FMO_OK) goto done;
    const int used = j->team < j->copies ? j->team : j->copies;
    if (used > 1) fmo_cpu_reduce_sums(j->own, used, fmo_cpu_sums_size(&j->shape), j->fixed);
    const fmo_cpu_sums sums = fmo_cpu_sums_at(&j->shape, j->own[0]);
    if (j->far) fmo_cpu_add_far(&j->shape, j->far, &j->part[0].build.adding, &sums);
    fmo_cpu_give_sums(plan, &j->shape, &sums, &j->part[0].build.adding);
    plan->profile.threads = j->team;
    if (isnan(plan->profile.reduce_seconds)) plan->profile.reduce_seconds = 0.0;
    plan->profile.reduce_seconds += fmo_now() - j->ended;
done:
    for (int t = 0; t < threads; t++) {
        if (j->arrays) free(j->arrays[t]);
        if (j->own) free(j->own[t]);
    }
    free(j->workers);
    free(j->arrays);
    free(j->own);
    return status;
}
