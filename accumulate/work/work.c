/* Lists of tasks: all work of a build, and shares of it; see work.h. */
#include "accumulate/work/work.h"

#include <stdlib.h>
#include <string.h>

#include "integrals/tables.h"

/* Approximate cost of the quartets of a class: primitive quartets times a factor that grows with
 * the square of the order of the Boys function, as recursions do. */
static double weight_of(int eri_class, const fmo_work_size *bra, const fmo_work_size *ket)
{
    const int order = fmo_eri_class_order(eri_class);
    return bra[fmo_eri_class_bra(eri_class)].prims * ket[fmo_eri_class_ket(eri_class)].prims *
           (1 + 2 * order * order);
}

static fmo_status no_memory(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a list of tasks");
}

fmo_status fmo_work_between(const fmo_work_size *bra, const fmo_work_size *ket, int unlike_only,
                            fmo_work *work, fmo_error *err)
{
    work->num = 0;
    work->task = calloc(FMO_ERI_CLASS_COUNT, sizeof *work->task);
    if (!work->task) return no_memory(err);
    for (int c = FMO_ERI_CLASS_COUNT - 1; c >= 0; c--) {
        const int bras = bra[fmo_eri_class_bra(c)].pairs;
        if (unlike_only && fmo_eri_class_bra(c) == fmo_eri_class_ket(c)) continue;
        if (bras && ket[fmo_eri_class_ket(c)].pairs)
            work->task[work->num++] =
                (fmo_task){(fmo_eri_class)c, 0, bras, 1, weight_of(c, bra, ket)};
    }
    return FMO_OK;
}

fmo_status fmo_work_all(const fmo_work_size *size, fmo_work *work, fmo_error *err)
{
    return fmo_work_between(size, size, 0, work, err);
}

/* Number of pairs of pairs of bras begin, begin + step, ... below end. */
static double candidates_of(int eri_class, const fmo_work_size *size, int begin, int end, int step)
{
    const size_t bras = fmo_work_bras((size_t)begin, (size_t)end, (size_t)step);
    return (double)fmo_work_candidates(eri_class, size, (size_t)begin, bras, (size_t)step);
}

/* Returns the first bra from bra_begin on that has at least `candidates` pairs of pairs before it.
 */
static int bra_after(const fmo_task *task, const fmo_work_size *size, double candidates)
{
    int low = task->bra_begin, high = task->bra_end;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (candidates_of(task->eri_class, size, task->bra_begin, middle, 1) < candidates)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Cuts each task at the bras between which the share's part of the pairs of pairs lies. */
fmo_status fmo_work_share(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err)
{
    work->num = 0;
    work->task = calloc((size_t)from->num + 1, sizeof *work->task);
    if (!work->task) return no_memory(err);
    for (int n = 0; n < from->num; n++) {
        const fmo_task *task = &from->task[n];
        const double all = candidates_of(task->eri_class, size, task->bra_begin, task->bra_end, 1);
        const int begin = bra_after(task, size, all * share / shares);
        const int end =
            share + 1 == shares ? task->bra_end : bra_after(task, size, all * (share + 1) / shares);
        if (begin >= end) continue;
        const double own = candidates_of(task->eri_class, size, begin, end, 1);
        work->task[work->num++] =
            (fmo_task){task->eri_class, begin, end, 1, all > 0.0 ? task->weight * own / all : 0.0};
    }
    return FMO_OK;
}

/* Gives each task every shares-th bra, beginning with number `share`. */
fmo_status fmo_work_every(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err)
{
    work->num = 0;
    work->task = calloc((size_t)from->num + 1, sizeof *work->task);
    if (!work->task) return no_memory(err);
    for (int n = 0; n < from->num; n++) {
        fmo_task own = from->task[n];
        const double all = candidates_of(own.eri_class, size, own.bra_begin, own.bra_end, 1);
        own.bra_begin += share;
        own.bra_step = shares;
        if (own.bra_begin >= own.bra_end) continue;
        own.weight *= candidates_of(own.eri_class, size, own.bra_begin, own.bra_end, shares) / all;
        work->task[work->num++] = own;
    }
    return FMO_OK;
}

/* Orders tasks by descending weight; those of equal weight by class and bra. */
static int compare_tasks(const void *x, const void *y)
{
    const fmo_task *a = x, *b = y;
    if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
    if (a->eri_class != b->eri_class) return a->eri_class < b->eri_class ? 1 : -1;
    return (a->bra_begin > b->bra_begin) - (a->bra_begin < b->bra_begin);
}

/* Cuts each task into a number of pieces in proportion to its weight, and sorts the pieces. */
fmo_status fmo_work_cut(const fmo_work *from, const fmo_work_size *size, int pieces, fmo_work *work,
                        fmo_error *err)
{
    const double all = fmo_work_weight(from);
    work->num = 0;
    work->task = calloc((size_t)(from->num + pieces) + 1, sizeof *work->task);
    if (!work->task) return no_memory(err);
    for (int n = 0; n < from->num; n++) {
        const fmo_task *task = &from->task[n];
        const fmo_work one = {1, &from->task[n]};
        /* rounded down, so that all pieces fit into the list */
        const int cuts = all > 0.0 ? 1 + (int)(pieces * (task->weight / all) * (1.0 - 1e-9)) : 1;
        for (int k = 0; k < cuts; k++) {
            fmo_work piece;
            const fmo_status status = fmo_work_share(&one, size, k, cuts, &piece, err);
            if (status != FMO_OK) {
                fmo_work_free(work);
                return status;
            }
            if (piece.num) work->task[work->num++] = piece.task[0];
            fmo_work_free(&piece);
        }
    }
    qsort(work->task, (size_t)work->num, sizeof *work->task, compare_tasks);
    return FMO_OK;
}

void fmo_work_free(fmo_work *work)
{
    free(work->task);
    work->task = NULL;
    work->num = 0;
}

double fmo_work_weight(const fmo_work *work)
{
    double weight = 0.0;
    for (int n = 0; n < work->num; n++) weight += work->task[n].weight;
    return weight;
}
