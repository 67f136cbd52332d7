/* Runs a function for many fragments or pairs on all threads and on all ranks. See internal.h. */
#include "driver/fmo/internal.h"
#include "driver/base/agree.h"

#include <string.h>

typedef struct numbers {
    const fmo_ranks *ranks; /* NULL: this process runs all of them */
    int count, next, fault;
    const int *order; /* [count] or NULL */
} numbers;

/* Returns the next index, or -1. */
static int take(numbers *n)
{
    int64_t at = -1;
#pragma omp critical(fmo_fragment_numbers)
    {
        if (!n->ranks)
            at = n->next++;
        else if (!n->fault)
            n->fault = n->ranks->next(n->ranks->user, &at);
        if (n->fault) at = -1;
    }
    if (at < 0 || at >= n->count) return -1;
    return n->order ? n->order[at] : (int)at;
}

/* Processes indices with `threads` concurrent threads; a single one passes all threads to each
 * call. mine: marks finished indices; NULL: none. */
static fmo_status go_through(fmo_fragments *f, numbers *n, int threads, int all, fmo_each *what,
                             void *user, char *mine, fmo_error *err)
{
    fmo_status status = FMO_OK;
#pragma omp parallel num_threads(threads) if (threads > 1)
    for (int k = take(n); k >= 0; k = take(n)) {
        fmo_error own = {FMO_OK, ""};
        fmo_status before;
#pragma omp atomic read
        before = status;
        if (before != FMO_OK) continue;
        const fmo_status got = what(f, k, threads > 1 ? 1 : all, user, &own);
        if (got == FMO_OK) {
            if (mine) mine[k] = 1;
            continue;
        }
#pragma omp critical(fmo_fragment_error)
        {
            (void)fmo_error_set(err, got, "%s", own.message);
#pragma omp atomic write
            status = got;
        }
    }
    return status;
}

/* Number of indices processed concurrently: one per thread; or, if there are few indices and many
 * threads, one at a time, with all threads for each. From NOT_FEW indices on they always run
 * concurrently: 64 threads wait longer for each other than a fragment takes. */
enum { NOT_FEW = 8 };

static int side_by_side(int count, int threads)
{
    if (count < NOT_FEW && 2 * count < threads) return 1;
    return count < threads ? count : threads;
}

fmo_status fmo_fragment_each(fmo_fragments *f, int count, int threads, fmo_each *what, void *user,
                             fmo_error *err)
{
    numbers n = {.count = count};
    return go_through(f, &n, side_by_side(count, threads), threads, what, user, NULL, err);
}

fmo_status fmo_fragment_deal(fmo_fragments *f, int count, const int *order, int one_by_one,
                             fmo_each *what, void *user, fmo_error *err)
{
    numbers n = {.ranks = f->ranks, .count = count, .order = order};
    fmo_status status = FMO_OK;
    int threads = one_by_one ? 1 : side_by_side(count, f->threads);
    if (f->ranks) {
        /* With fewer indices than threads of all ranks, no rank may take them all. */
        const int share = (count + f->ranks->size - 1) / f->ranks->size;
        if (threads > share) threads = share > 0 ? share : 1;
        memset(f->mine, 0, (size_t)count);
        status = fmo_fragment_restart(f, err);
        if (status != FMO_OK) return status;
    }
    status = go_through(f, &n, threads, f->threads, what, user, f->mine, err);
    return n.fault ? fmo_fragment_no_network(err) : status;
}
