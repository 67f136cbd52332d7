/* Communication between ranks, and functions that run for many fragments or pairs on all threads
 * and on all ranks. Rank 0's data are used by all, even data that every rank could have computed
 * itself, so that all ranks continue with the same bits. Called by all files of this module; see
 * internal.h. */
#include "driver/fmo/internal.h"
#include "driver/base/agree.h"
#include "driver/base/tuning.h"

#include <stdlib.h>
#include <string.h>

fmo_status fmo_fragment_agree(const fmo_fragments *f, fmo_status status, fmo_error *err)
{
    return driver_agree(f->ranks, status, err);
}

fmo_status fmo_fragment_no_network(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_DEVICE, "communication between the ranks failed");
}

int fmo_fragment_is_first(const fmo_fragments *f)
{
    return !f->ranks || f->ranks->rank == 0;
}

fmo_status fmo_fragment_restart(const fmo_fragments *f, fmo_error *err)
{
    const int fault = f->ranks && f->ranks->rank == 0 ? f->ranks->restart(f->ranks->user) : 0;
    return fmo_fragment_agree(f, fault ? fmo_fragment_no_network(err) : FMO_OK, err);
}

fmo_status fmo_fragment_broadcast(const fmo_fragments *f, void *data, size_t bytes, fmo_error *err)
{
    return f->ranks ? fmo_ranks_broadcast(f->ranks, data, bytes, err) : FMO_OK;
}

/* Lists the arrays of index k. */
static void list(fmo_fragments *f, int k, fmo_blocks *blocks, void *user, fmo_block b[FMO_BLOCKS])
{
    memset(b, 0, FMO_BLOCKS * sizeof *b);
    blocks(f, k, user, b);
}

static size_t size_of(fmo_fragments *f, int k, fmo_blocks *blocks, void *user)
{
    fmo_block b[FMO_BLOCKS];
    size_t bytes = 0;
    list(f, k, blocks, user, b);
    for (int i = 0; i < FMO_BLOCKS; i++) bytes += b[i].bytes;
    return bytes;
}

/* Copies the arrays of index k to or from a buffer; returns the number of bytes. */
static size_t copy(fmo_fragments *f, int k, fmo_blocks *blocks, void *user, char *bytes,
                   int to_bytes)
{
    fmo_block b[FMO_BLOCKS];
    size_t at = 0;
    list(f, k, blocks, user, b);
    for (int i = 0; i < FMO_BLOCKS; at += b[i++].bytes) {
        if (!b[i].bytes) continue;
        memcpy(to_bytes ? bytes + at : b[i].data, to_bytes ? b[i].data : bytes + at, b[i].bytes);
    }
    return at;
}

typedef struct arrival {
    fmo_fragments *f;
    fmo_blocks *blocks;
    void *user;
    char *arrived; /* marks received indices */
} arrival;

static void take(int rank, const void *data, size_t bytes, void *user)
{
    const arrival *a = user;
    (void)rank;
    for (size_t at = 0; at < bytes;) {
        int k;
        memcpy(&k, (const char *)data + at, sizeof k);
        at += sizeof k;
        at += copy(a->f, k, a->blocks, a->user, (char *)(uintptr_t)data + at, 0);
        a->arrived[k] = 1;
    }
}

/* Ranks other than 0 send (index, arrays) records; rank 0 stores them and marks the indices in
 * `mine`. */
fmo_status fmo_fragment_gather(fmo_fragments *f, fmo_status status, int count, fmo_blocks *blocks,
                               void *user, fmo_error *err)
{
    arrival a = {f, blocks, user, f->mine};
    char *bytes = NULL;
    size_t size = 0, at = 0;
    if (!f->ranks) return status;
    const fmo_error own = *err;
    if (f->ranks->rank > 0 && status == FMO_OK) {
        for (int k = 0; k < count; k++)
            if (f->mine[k]) size += sizeof k + size_of(f, k, blocks, user);
        bytes = malloc(size + 1);
        if (!bytes) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu bytes", size);
        for (int k = 0; k < count && status == FMO_OK; k++) {
            if (!f->mine[k]) continue;
            memcpy(bytes + at, &k, sizeof k);
            at += sizeof k;
            at += copy(f, k, blocks, user, bytes + at, 1);
        }
    }
    const fmo_status all = fmo_ranks_collect(f->ranks, status, bytes, size, take, &a, err);
    if (f->ranks->rank == 0 && status != FMO_OK) *err = own; /* as driver_agree */
    free(bytes);
    return all;
}

fmo_status fmo_fragment_allocate(fmo_fragments *f, fmo_error *err)
{
    size_t bytes = 0;
    if (!f->ranks) return FMO_OK;
    for (int k = 0; k < f->system->fragment_num; k++) {
        const size_t own = size_of(f, k, fmo_subsystem_blocks, f->monomer);
        const size_t field = size_of(f, k, fmo_subsystem_field_blocks, f->monomer);
        bytes += own > field ? own : field;
    }
    f->buffer = malloc(bytes);
    return f->buffer
               ? FMO_OK
               : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the fragments of all ranks");
}

fmo_status fmo_fragment_spread(fmo_fragments *f, fmo_blocks *blocks, fmo_error *err)
{
    const int count = f->system->fragment_num;
    size_t size = 0, at = 0;
    if (!f->ranks) return FMO_OK;
    for (int k = 0; k < count; k++) size += size_of(f, k, blocks, f->monomer);
    for (int k = 0; k < count && f->ranks->rank == 0; k++)
        at += copy(f, k, blocks, f->monomer, f->buffer + at, 1);
    const fmo_status status = fmo_fragment_broadcast(f, f->buffer, size, err);
    for (int k = 0; k < count && f->ranks->rank > 0 && status == FMO_OK; k++)
        at += copy(f, k, blocks, f->monomer, f->buffer + at, 0);
    return status;
}

fmo_status fmo_fragment_share(fmo_fragments *f, fmo_status status, fmo_blocks *blocks,
                              fmo_error *err)
{
    status = fmo_fragment_gather(f, status, f->system->fragment_num, blocks, f->monomer, err);
    return status == FMO_OK ? fmo_fragment_spread(f, blocks, err) : status;
}

void fmo_subsystem_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS])
{
    fmo_subsystem *subsystem = &((fmo_subsystem *)user)[k];
    (void)f;
    b[0] = (fmo_block){subsystem->density,
                       (size_t)subsystem->nao * (size_t)subsystem->nao * sizeof(double)};
    b[1] = (fmo_block){&subsystem->energy, sizeof subsystem->energy};
    b[2] = (fmo_block){&subsystem->field_energy, sizeof subsystem->field_energy};
    b[3] = (fmo_block){&subsystem->projector_energy, sizeof subsystem->projector_energy};
    b[4] = (fmo_block){&subsystem->homo, sizeof subsystem->homo};
    b[5] = (fmo_block){&subsystem->lumo, sizeof subsystem->lumo};
    b[6] = (fmo_block){&subsystem->cycles, sizeof subsystem->cycles};
}

void fmo_subsystem_field_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS])
{
    fmo_subsystem *subsystem = &((fmo_subsystem *)user)[k];
    const size_t bytes = (size_t)subsystem->nao * (size_t)subsystem->nao * sizeof(double);
    (void)f;
    b[0] = (fmo_block){subsystem->field, bytes};
}

/* ---- many fragments -------------------------------------------------------------------------- */

typedef struct numbers {
    const fmo_ranks *ranks; /* NULL: this process runs all of them */
    int count, next, fault;
    const int *order; /* [count] or NULL */
} numbers;

/* Returns the next index, or -1. */
static int next_index(numbers *n)
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
static fmo_status process_indices(fmo_fragments *f, numbers *n, int threads, int all,
                                  fmo_each *what, void *user, char *mine, fmo_error *err)
{
    fmo_status status = FMO_OK;
#pragma omp parallel num_threads(threads) if (threads > 1)
    for (int k = next_index(n); k >= 0; k = next_index(n)) {
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
 * threads, one at a time, with all threads for each. From CONCURRENT_FROM indices on they always
 * run concurrently: 64 threads wait longer for each other than a fragment takes. */
enum { CONCURRENT_FROM = fmo_tuning_fragment_concurrent_from };

static int concurrent_indices(int count, int threads)
{
    if (count < CONCURRENT_FROM && 2 * count < threads) return 1;
    return count < threads ? count : threads;
}

fmo_status fmo_fragment_each(fmo_fragments *f, int count, int threads, fmo_each *what, void *user,
                             fmo_error *err)
{
    numbers n = {.count = count};
    return process_indices(f, &n, concurrent_indices(count, threads), threads, what, user, NULL,
                           err);
}

fmo_status fmo_fragment_deal(fmo_fragments *f, int count, const int *order, int one_by_one,
                             fmo_each *what, void *user, fmo_error *err)
{
    numbers n = {.ranks = f->ranks, .count = count, .order = order};
    fmo_status status = FMO_OK;
    int threads = one_by_one ? 1 : concurrent_indices(count, f->threads);
    if (f->ranks) {
        /* With fewer indices than threads of all ranks, no rank may take them all. */
        const int share = (count + f->ranks->size - 1) / f->ranks->size;
        if (threads > share) threads = share > 0 ? share : 1;
        memset(f->mine, 0, (size_t)count);
        status = fmo_fragment_restart(f, err);
        if (status != FMO_OK) return status;
    }
    status = process_indices(f, &n, threads, f->threads, what, user, f->mine, err);
    return n.fault ? fmo_fragment_no_network(err) : status;
}
