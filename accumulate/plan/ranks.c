/* What ranks exchange: the checked calls of fmo/ranks.h, the command messages of rank 0, and the
 * sums of a shared build. Rank 0 makes all decisions and broadcasts a command, followed by the
 * basis of a plan or the density of a build; the other ranks wait for it in serve.c. After each
 * step all ranks agree on whether one of them failed, so that none waits for a rank that has
 * stopped. See ranks.h and docs/how-to/mpi.md. */
#include "accumulate/plan/ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/rules/rank_gpu.h"
#include "accumulate/tuning.h"
#include "base/arguments.h"

/* The error after a failure of the network: no rank can continue. */
static fmo_status no_network(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_DEVICE, "communication between the ranks failed");
}

/* Checks a network: numbers in range and no function that the library calls NULL. */
fmo_status fmo_ranks_check(const char *call, const fmo_ranks *ranks, fmo_error *err)
{
    const fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(ranks));
    if (status != FMO_OK) return status;
    const struct {
        const char *name;
        int64_t value, min, max;
    } number[] = {{"size", ranks->size, 1, INT_MAX},
                  {"rank", ranks->rank, 0, (int64_t)ranks->size - 1},
                  {"node_size", ranks->node_size, 1, ranks->size},
                  {"node_rank", ranks->node_rank, 0, (int64_t)ranks->node_size - 1},
                  {"cores", ranks->cores, 1, INT_MAX},
                  {"broadcast", ranks->broadcast != NULL, 1, 1},
                  {"first", ranks->first != NULL, 1, 1},
                  {"sum", ranks->sum != NULL, 1, 1},
                  {"send", ranks->send != NULL, 1, 1},
                  {"receive", ranks->receive != NULL, 1, 1},
                  {"restart", ranks->restart != NULL, 1, 1},
                  {"next", ranks->next != NULL, 1, 1}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k].value < number[k].min || number[k].value > number[k].max)
            return number[k].max == 1 && number[k].min == 1
                       ? fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: ranks->%s is NULL", call,
                                       number[k].name)
                       : fmo_error_set(err, FMO_ERR_ARGUMENT,
                                       "%s: ranks->%s = %d: expected %d to %d", call,
                                       number[k].name, (int)number[k].value, (int)number[k].min,
                                       (int)number[k].max);
    return FMO_OK;
}

fmo_status fmo_ranks_agree(const fmo_ranks *ranks, fmo_status status, fmo_error *err)
{
    const fmo_status checked = fmo_ranks_check("fmo_ranks_agree", ranks, err);
    fmo_error first = {FMO_OK, ""};
    int who = -1;
    if (checked != FMO_OK) return checked;
    if (status != FMO_OK)
        fmo_error_set(&first, status, "rank %d on %s: %.400s", ranks->rank, ranks->host,
                      err && err->message[0] ? err->message : fmo_status_text(status));
    if (ranks->first(ranks->user, status != FMO_OK, &first, sizeof first, &who) != 0)
        return no_network(err);
    if (who < 0) return FMO_OK;
    if (err) *err = first;
    return first.status;
}

/* Sums the identity of each rank's first GPU over all ranks; rank_gpu.h chooses from these. */
fmo_status fmo_ranks_gpu(const fmo_ranks *ranks, int *device, fmo_error *err)
{
    fmo_status checked = fmo_ranks_check("fmo_ranks_gpu", ranks, err);
    if (checked == FMO_OK) checked = FMO_CHECK_ARGUMENTS("fmo_ranks_gpu", err, FMO_GIVEN(device));
    if (checked != FMO_OK) return checked;
    const size_t num = (size_t)ranks->size;
    int64_t *const first = calloc(num, sizeof *first);
    fmo_status status = FMO_OK;
    if (!first) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu ranks", num);
    status = fmo_ranks_agree(ranks, status, err);
    if (status == FMO_OK) {
        first[ranks->rank] = fmo_gpu_identity();
        if (ranks->sum(ranks->user, first, num, 1) != 0 ||
            ranks->broadcast(ranks->user, first, num * sizeof *first) != 0)
            status = no_network(err);
        else
            *device = fmo_rank_gpu(first, ranks->rank);
    }
    free(first);
    return status;
}

/* Largest message in bytes, since networks such as MPI count in int. */
static const size_t max_bytes = fmo_tuning_rank_message_bytes;

static size_t some(size_t left)
{
    return left < max_bytes ? left : max_bytes;
}

static int broadcast(const fmo_ranks *ranks, void *data, size_t bytes)
{
    int fault = 0;
    for (size_t at = 0; at < bytes && !fault; at += max_bytes)
        fault = ranks->broadcast(ranks->user, (char *)data + at, some(bytes - at));
    return fault;
}

fmo_status fmo_ranks_broadcast(const fmo_ranks *ranks, void *data, size_t bytes, fmo_error *err)
{
    fmo_status status = fmo_ranks_check("fmo_ranks_broadcast", ranks, err);
    if (status == FMO_OK && bytes)
        status = FMO_CHECK_ARGUMENTS("fmo_ranks_broadcast", err, FMO_GIVEN(data));
    if (status != FMO_OK) return status;
    return broadcast(ranks, data, bytes) == 0 ? FMO_OK : no_network(err);
}

/* Rank 0: receives data from another rank into a buffer. */
static int receive(const fmo_ranks *ranks, int rank, char *buffer, size_t bytes)
{
    int fault = 0;
    for (size_t at = 0; at < bytes && !fault; at += max_bytes)
        fault = ranks->receive(ranks->user, rank, buffer + at, some(bytes - at));
    return fault;
}

static int send(const fmo_ranks *ranks, const void *data, size_t bytes)
{
    int fault = 0;
    for (size_t at = 0; at < bytes && !fault; at += max_bytes)
        fault = ranks->send(ranks->user, (const char *)data + at, some(bytes - at));
    return fault;
}

/* Rank 0: receives the number of bytes that each rank will send and allocates a buffer for the
 * largest. */
static fmo_status make_buffer(const fmo_ranks *ranks, size_t **bytes, char **buffer, fmo_error *err)
{
    size_t largest = 1;
    int fault = 0;
    *bytes = calloc((size_t)ranks->size, sizeof **bytes);
    for (int r = 1; r < ranks->size && !fault; r++) {
        size_t of_it = 0;
        fault = ranks->receive(ranks->user, r, &of_it, sizeof of_it);
        if (*bytes) (*bytes)[r] = of_it;
        if (of_it > largest) largest = of_it;
    }
    if (fault) return no_network(err);
    *buffer = *bytes ? malloc(largest) : NULL;
    return *buffer ? FMO_OK
                   : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu bytes of the others",
                                   largest);
}

/* Sends the sizes, agrees on errors, then sends the data, rank by rank. */
fmo_status fmo_ranks_collect(const fmo_ranks *ranks, fmo_status status, const void *data,
                             size_t bytes, fmo_ranks_take *take, void *user, fmo_error *err)
{
    fmo_status checked = fmo_ranks_check("fmo_ranks_collect", ranks, err);
    size_t *sizes = NULL;
    char *buffer = NULL;
    int fault = 0;
    if (checked != FMO_OK) return checked;
    if (status == FMO_OK && ranks->rank == 0)
        status = FMO_CHECK_ARGUMENTS("fmo_ranks_collect", err, FMO_GIVEN(take));
    if (status == FMO_OK && ranks->rank > 0 && bytes)
        status = FMO_CHECK_ARGUMENTS("fmo_ranks_collect", err, FMO_GIVEN(data));
    if (status != FMO_OK) bytes = 0;
    if (ranks->rank == 0) {
        fmo_error own = {FMO_OK, ""};
        checked = make_buffer(ranks, &sizes, &buffer, &own);
        if (status == FMO_OK && checked != FMO_OK)
            status = fmo_error_set(err, checked, "%s", own.message);
    } else if (send(ranks, &bytes, sizeof bytes) != 0) {
        status = no_network(err);
    }
    status = fmo_ranks_agree(ranks, status, err);
    if (status == FMO_OK && ranks->rank > 0) fault = send(ranks, data, bytes);
    for (int r = 1; status == FMO_OK && ranks->rank == 0 && r < ranks->size && !fault; r++) {
        fault = receive(ranks, r, buffer, sizes[r]);
        if (!fault) take(r, buffer, sizes[r], user);
    }
    free(buffer);
    free(sizes);
    return fault ? no_network(err) : status;
}

static int sum(const fmo_ranks *ranks, double *data, size_t count, int integers)
{
    const size_t chunk = fmo_tuning_rank_sum_elements;
    int fault = 0;
    for (size_t at = 0; at < count && !fault; at += chunk)
        fault =
            ranks->sum(ranks->user, data + at, count - at < chunk ? count - at : chunk, integers);
    return fault;
}

/* ---- shared builds -------------------------------------------------------------------------- */

fmo_status fmo_ranks_command(const fmo_ranks *ranks, fmo_command *command, fmo_error *err)
{
    return ranks->broadcast(ranks->user, command, sizeof *command) == 0 ? FMO_OK : no_network(err);
}

fmo_status fmo_ranks_begin_build(const fmo_fock_job *job, double largest, fmo_error *err)
{
    const fmo_fock_plan *const plan = job->plan;
    const fmo_ranks *const ranks = plan->shared.ranks;
    fmo_command command = {.kind = FMO_COMMAND_BUILD,
                           .requested = fmo_build_requested(job),
                           .number = plan->shared.number,
                           .largest = largest,
                           .cutoff = plan->cutoff,
                           .symmetry = job->symmetry,
                           .coulomb_operator = job->coulomb_operator,
                           .exchange_operator = job->exchange_operator};
    if (ranks->restart(ranks->user) != 0) return no_network(err);
    const fmo_status status = fmo_ranks_command(ranks, &command, err);
    if (status != FMO_OK) return status;
    return broadcast(ranks, (void *)(uintptr_t)job->density, fmo_plan_matrix_bytes(plan)) == 0
               ? FMO_OK
               : no_network(err);
}

/* Sums the counts of all ranks on rank 0. */
static int sum_counts(const fmo_ranks *ranks, fmo_fock_profile *profile)
{
    int64_t count[FMO_ERI_CLASS_COUNT][4];
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const fmo_class_profile *p = &profile->classes[c];
        const int64_t row[] = {p->quartets, p->prim_quartets, p->adds, p->adds_issued};
        memcpy(count[c], row, sizeof row);
    }
    if (ranks->sum(ranks->user, count, sizeof count / sizeof **count, 1) != 0) return 1;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &profile->classes[c];
        p->quartets = count[c][0];
        p->prim_quartets = count[c][1];
        p->adds = count[c][2];
        p->adds_issued = count[c][3];
    }
    return 0;
}

/* Sums a matrix over all ranks on rank 0. unit: of integer sums; 0 for floating-point matrices. */
static int sum_matrix(const fmo_ranks *ranks, double *matrix, size_t count, double unit)
{
    if (sum(ranks, matrix, count, unit > 0.0) != 0) return 1;
    for (size_t x = 0; x < count && unit > 0.0; x++) {
        int64_t integer;
        memcpy(&integer, matrix + x, sizeof integer);
        matrix[x] = (double)integer * unit;
    }
    return 0;
}

/* Agrees on errors and on the list of pieces of work, then adds up matrices and counts. */
fmo_status fmo_ranks_end_build(fmo_fock_plan *plan, int requested, fmo_status status,
                               fmo_error *err)
{
    const fmo_ranks *const ranks = plan->shared.ranks;
    const fmo_plan_matrices *const m = &plan->matrices;
    const int here = plan->mode->build != NULL;
    /* plan->matrices are of internal functions, plan->shared of the caller's */
    const size_t n = (size_t)(here ? plan->basis->function_num : plan->basis->ao_num);
    const size_t size = n * n * (size_t)(here ? m->num : 1);
    uint64_t first = plan->shared.fingerprint; /* fingerprint of rank 0 */
    fmo_error own = {FMO_OK, ""};
    int fault = 0;
    if (status != FMO_OK && err) own = *err;
    if (ranks->broadcast(ranks->user, &first, sizeof first) != 0) return no_network(err);
    if (status == FMO_OK && first != plan->shared.fingerprint)
        status = fmo_error_set(&own, FMO_ERR_UNSUPPORTED,
                               "its pieces of work are not those of rank 0: ranks that share a "
                               "build need processors of one kind and the same fmo");
    status = fmo_ranks_agree(ranks, status, &own);
    if (status != FMO_OK) {
        if (err) *err = own;
        return status;
    }
    if (requested & FMO_TERMS_J)
        fault = sum_matrix(ranks, here ? m->coulomb : plan->shared.coulomb, size,
                           here ? m->coulomb_unit : 0.0);
    if (requested & FMO_TERMS_K && !fault)
        fault = sum_matrix(ranks, here ? m->exchange : plan->shared.exchange, size,
                           here ? m->exchange_unit : 0.0);
    if (!fault) fault = sum_counts(ranks, &plan->profile);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        plan->profile.classes[c].quartets_skipped =
            fmo_plan_quartets(plan, (fmo_eri_class)c) - plan->profile.classes[c].quartets;
    return fault ? no_network(err) : FMO_OK;
}
