/* Mode cpu on several ranks: what all ranks must agree on, and how tasks are distributed when
 * integrals are stored. */
#include <stdlib.h>

#include "accumulate/cpu/build.h"

static void mix(uint64_t *hash, const void *data, size_t bytes)
{
    const unsigned char *c = data;
    for (size_t k = 0; k < bytes; k++)
        *hash = (*hash ^ c[k]) * UINT64_C(1099511628211); /* FNV-1a */
}

/* Returns a hash of the list of pairs and tasks and, under `fixed`, of the numbers that the bits
 * of the result depend on. */
uint64_t fmo_cpu_fingerprint(const fmo_fock_plan *plan, const fmo_cpu_state *s)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &s->pairs.list[c];
        const size_t num = (size_t)list->num;
        mix(&hash, list->ao_i, num * sizeof *list->ao_i);
        mix(&hash, list->ao_j, num * sizeof *list->ao_j);
        if (plan->options.scatter == FMO_SCATTER_FIXED)
            mix(&hash, list->bound, num * sizeof *list->bound);
    }
    for (int n = 0; n < s->work.num; n++) {
        const fmo_task *task = &s->work.task[n];
        const int piece[] = {(int)task->eri_class, task->bra_begin, task->bra_end};
        mix(&hash, piece, sizeof piece);
    }
    if (plan->options.scatter == FMO_SCATTER_FIXED)
        mix(&hash, &s->kernels->width, sizeof s->kernels->width);
    return hash;
}

/* Returns the number of vectors of integrals in a task, which is its cost relative to others of
 * its class. */
static double vectors_in(const fmo_fock_plan *plan, const fmo_cpu_state *s, const fmo_task *task)
{
    double vectors = 0.0;
    for (int b = task->bra_begin; b < task->bra_end; b++)
        vectors += (double)fmo_cpu_count_vectors(plan, s, (int)task->eri_class, b);
    return vectors;
}

/* Distributes the tasks once, because stored integrals stay with one rank. Each task goes to the
 * rank with the least work of its class so far. All ranks compute the same distribution, and each
 * keeps its own tasks. */
fmo_status fmo_cpu_deal_work(const fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const fmo_ranks *ranks = plan->options.ranks;
    double *const load = calloc((size_t)ranks->size * FMO_ERI_CLASS_COUNT, sizeof *load);
    int kept = 0;
    if (!load)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to distribute work among %d ranks",
                             ranks->size);
    for (int n = 0; n < s->work.num; n++) {
        const fmo_task task = s->work.task[n];
        double *const of_class = load + (size_t)ranks->size * (size_t)task.eri_class;
        int least = 0;
        for (int k = 1; k < ranks->size; k++) {
            /* Classes begin with different ranks, because some have fewer tasks than there are
             * ranks. */
            const int r = (k + (int)task.eri_class) % ranks->size;
            if (of_class[r] < of_class[least]) least = r;
        }
        of_class[least] += vectors_in(plan, s, &task);
        if (least == ranks->rank) s->work.task[kept++] = task;
    }
    s->work.num = kept;
    s->dealt = 1;
    free(load);
    return FMO_OK;
}
