/* Plans and builds shared by several ranks. Rank 0 makes all decisions and broadcasts command
 * messages, each followed by the basis of a plan or the density of a build. The other ranks, in
 * fmo_fock_serve, do their share and send the result back. After each step all ranks agree on
 * whether one of them failed, so that none waits for a rank that has stopped. See
 * docs/how-to/mpi.md. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/plan/plan.h"
#include "accumulate/rules/digest.h"
#include "accumulate/rules/rank_gpu.h"
#include "accumulate/tuning.h"
#include "base/arguments.h"
#include "integrals/basis_internal.h"
#include "integrals/tables.h"

typedef enum order_kind { ORDER_PLAN, ORDER_BUILD, ORDER_RELEASE, ORDER_END } order_kind;

/* The command message that rank 0 broadcasts. */
typedef struct order {
    order_kind kind;
    int wanted;               /* of a build: FMO_TERMS_... */
    int64_t number;           /* number of the plan */
    int pieces;               /* of a plan: pieces of work */
    size_t basis_bytes;       /* of a plan: size of the packed basis, which follows */
    double largest, cutoff;   /* of a build; the density follows */
    fmo_fock_options options; /* of a plan; pointers are not sent */
} order;

/* The error after a failure of the network: no rank can continue. */
static fmo_status no_network(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_DEVICE, "communication between the ranks failed");
}

/* Checks a network: numbers in range and no function that the library calls NULL. */
static fmo_status check_ranks(const char *call, const fmo_ranks *ranks, fmo_error *err)
{
    const fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(ranks));
    if (status != FMO_OK) return status;
    const struct {
        const char *name;
        int value, least, most;
    } number[] = {{"size", ranks->size, 1, INT_MAX},
                  {"rank", ranks->rank, 0, ranks->size - 1},
                  {"node_size", ranks->node_size, 1, ranks->size},
                  {"node_rank", ranks->node_rank, 0, ranks->node_size - 1},
                  {"cores", ranks->cores, 1, INT_MAX},
                  {"broadcast", ranks->broadcast != NULL, 1, 1},
                  {"first", ranks->first != NULL, 1, 1},
                  {"sum", ranks->sum != NULL, 1, 1},
                  {"send", ranks->send != NULL, 1, 1},
                  {"receive", ranks->receive != NULL, 1, 1},
                  {"restart", ranks->restart != NULL, 1, 1},
                  {"next", ranks->next != NULL, 1, 1}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k].value < number[k].least || number[k].value > number[k].most)
            return number[k].most == 1 && number[k].least == 1
                       ? fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: ranks->%s is NULL", call,
                                       number[k].name)
                       : fmo_error_set(
                             err, FMO_ERR_ARGUMENT, "%s: ranks->%s = %d: expected %d to %d", call,
                             number[k].name, number[k].value, number[k].least, number[k].most);
    return FMO_OK;
}

fmo_status fmo_ranks_check(const fmo_ranks *ranks, fmo_error *err)
{
    return check_ranks("options.ranks", ranks, err);
}

fmo_status fmo_ranks_agree(const fmo_ranks *ranks, fmo_status status, fmo_error *err)
{
    const fmo_status given = check_ranks("fmo_ranks_agree", ranks, err);
    fmo_error first = {FMO_OK, ""};
    int who = -1;
    if (given != FMO_OK) return given;
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
    fmo_status given = check_ranks("fmo_ranks_gpu", ranks, err);
    if (given == FMO_OK) given = FMO_CHECK_ARGUMENTS("fmo_ranks_gpu", err, FMO_GIVEN(device));
    if (given != FMO_OK) return given;
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
static const size_t most_bytes = (size_t)1 << 24;

static size_t some(size_t left)
{
    return left < most_bytes ? left : most_bytes;
}

static int broadcast(const fmo_ranks *ranks, void *data, size_t bytes)
{
    int fault = 0;
    for (size_t at = 0; at < bytes && !fault; at += most_bytes)
        fault = ranks->broadcast(ranks->user, (char *)data + at, some(bytes - at));
    return fault;
}

fmo_status fmo_ranks_broadcast(const fmo_ranks *ranks, void *data, size_t bytes, fmo_error *err)
{
    fmo_status status = check_ranks("fmo_ranks_broadcast", ranks, err);
    if (status == FMO_OK && bytes)
        status = FMO_CHECK_ARGUMENTS("fmo_ranks_broadcast", err, FMO_GIVEN(data));
    if (status != FMO_OK) return status;
    return broadcast(ranks, data, bytes) == 0 ? FMO_OK : no_network(err);
}

/* Rank 0: receives data from another rank into a buffer. */
static int receive(const fmo_ranks *ranks, int rank, char *buffer, size_t bytes)
{
    int fault = 0;
    for (size_t at = 0; at < bytes && !fault; at += most_bytes)
        fault = ranks->receive(ranks->user, rank, buffer + at, some(bytes - at));
    return fault;
}

static int send(const fmo_ranks *ranks, const void *data, size_t bytes)
{
    int fault = 0;
    for (size_t at = 0; at < bytes && !fault; at += most_bytes)
        fault = ranks->send(ranks->user, (const char *)data + at, some(bytes - at));
    return fault;
}

/* Rank 0: receives the number of bytes that each rank will send and allocates a buffer for the
 * largest. */
static fmo_status make_buffer(const fmo_ranks *ranks, size_t **bytes, char **buffer, fmo_error *err)
{
    size_t most = 1;
    int fault = 0;
    *bytes = calloc((size_t)ranks->size, sizeof **bytes);
    for (int r = 1; r < ranks->size && !fault; r++) {
        size_t of_it = 0;
        fault = ranks->receive(ranks->user, r, &of_it, sizeof of_it);
        if (*bytes) (*bytes)[r] = of_it;
        if (of_it > most) most = of_it;
    }
    if (fault) return no_network(err);
    *buffer = *bytes ? malloc(most) : NULL;
    return *buffer
               ? FMO_OK
               : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu bytes of the others", most);
}

/* Sends the sizes, agrees on errors, then sends the data, rank by rank. */
fmo_status fmo_ranks_collect(const fmo_ranks *ranks, fmo_status status, const void *data,
                             size_t bytes, fmo_ranks_take *take, void *user, fmo_error *err)
{
    fmo_status given = check_ranks("fmo_ranks_collect", ranks, err);
    size_t *sizes = NULL;
    char *buffer = NULL;
    int fault = 0;
    if (given != FMO_OK) return given;
    if (status == FMO_OK && ranks->rank == 0)
        status = FMO_CHECK_ARGUMENTS("fmo_ranks_collect", err, FMO_GIVEN(take));
    if (status == FMO_OK && ranks->rank > 0 && bytes)
        status = FMO_CHECK_ARGUMENTS("fmo_ranks_collect", err, FMO_GIVEN(data));
    if (status != FMO_OK) bytes = 0;
    if (ranks->rank == 0) {
        fmo_error own = {FMO_OK, ""};
        given = make_buffer(ranks, &sizes, &buffer, &own);
        if (status == FMO_OK && given != FMO_OK)
            status = fmo_error_set(err, given, "%s", own.message);
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
    const size_t most = (size_t)1 << 21;
    int fault = 0;
    for (size_t at = 0; at < count && !fault; at += most)
        fault = ranks->sum(ranks->user, data + at, count - at < most ? count - at : most, integers);
    return fault;
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* Allocates the matrices that only shared plans have. Returns 0 if there is no memory. */
static int make_capacity(fmo_fock_plan *plan, int rank)
{
    fmo_plan_ranks *const s = &plan->shared;
    const size_t bytes = fmo_plan_matrix_bytes(plan);
    const int on_device = !plan->mode->build;
    s->density = rank > 0 ? malloc(bytes) : NULL;
    s->coulomb = on_device ? malloc(bytes) : NULL;
    s->exchange = on_device ? malloc(bytes) : NULL;
    return (s->density || rank == 0) && ((s->coulomb && s->exchange) || !on_device);
}

/* Collective: makes this rank's plan if all ranks can make theirs. basis NULL: this rank had no
 * memory for it. */
static fmo_status create_part(fmo_ranks *ranks, const order *o, const fmo_basis *basis,
                              const fmo_fock_options *options, fmo_fock_plan **plan, fmo_error *err)
{
    const int fixed_share = o->pieces == 0;
    const fmo_plan_share part = {.share = fixed_share ? ranks->rank : 0,
                                 .shares = fixed_share ? ranks->size : 1,
                                 .ranks = ranks,
                                 .number = o->number,
                                 .pieces = o->pieces};
    fmo_error own = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    *plan = NULL;
    if (basis) status = fmo_plan_create_shared(basis, options, &part, plan, &own);
    if (status == FMO_OK && (!basis || !make_capacity(*plan, ranks->rank)))
        status = fmo_error_set(&own, FMO_ERR_MEMORY, "no memory for a part of a plan");
    status = fmo_ranks_agree(ranks, status, &own);
    if (status == FMO_OK) return FMO_OK;
    if (*plan) (*plan)->shared.ranks = NULL; /* the other ranks do not know of this plan */
    fmo_fock_plan_destroy(*plan);
    *plan = NULL;
    return fmo_error_set(err, status, "%s", own.message);
}

static fmo_status create_alone(const fmo_basis *basis, const fmo_fock_options *options,
                               fmo_fock_plan **plan, fmo_error *err)
{
    const fmo_plan_share whole = {.shares = 1};
    const fmo_status status = fmo_plan_create_shared(basis, options, &whole, plan, err);
    if (status == FMO_OK && options->ranks->size > 1)
        fmo_plan_note(*plan, "mode %s is not shared: rank 0 of %d builds alone",
                      fmo_mode_name((*plan)->options.mode), options->ranks->size);
    return status;
}

/* Rank 0: chooses the mode and the division of the work, broadcasts the basis and makes its plan.
 */
fmo_status fmo_shared_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                  fmo_fock_plan **plan, fmo_error *err)
{
    fmo_ranks *const ranks = options->ranks;
    order o = {.kind = ORDER_PLAN, .options = *options};
    fmo_status status = fmo_options_check(options, err);
    if (status != FMO_OK) return status;
    if (ranks->rank != 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "options.ranks: this is rank %d; rank 0 makes shared plans, the "
                             "others call fmo_fock_serve",
                             ranks->rank);
    /* All ranks get the mode chosen here. Rank 0 keeps auto, and with it the reason for the choice.
     */
    status = fmo_fock_choose_mode(basis, options, &o.options.mode, NULL, err);
    if (status != FMO_OK) return status;
    if (ranks->size == 1 || o.options.mode == FMO_MODE_REFERENCE)
        return create_alone(basis, options, plan, err);
    if (o.options.mode != FMO_MODE_CPU && fmo_scatter_sums_integers(options->scatter))
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "scatter = %s: ranks share it in mode cpu alone, as GPUs round before "
                             "ranks could add up; use another strategy, or one rank",
                             fmo_scatter_name(options->scatter));
    if (o.options.mode == FMO_MODE_CPU)
        o.pieces = fmo_tuning_rank_pieces * ranks->size * fmo_fock_threads(options->threads);
    o.number = ranks->plans++;
    o.basis_bytes = fmo_basis_pack(basis, NULL);
    char *const bytes = malloc(o.basis_bytes);
    if (!bytes) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a basis");
    fmo_basis_pack(basis, bytes);
    if (ranks->broadcast(ranks->user, &o, sizeof o) != 0) status = no_network(err);
    /* does every rank have memory for the basis? */
    if (status == FMO_OK) status = fmo_ranks_agree(ranks, FMO_OK, err);
    if (status == FMO_OK && broadcast(ranks, bytes, o.basis_bytes) != 0) status = no_network(err);
    free(bytes);
    return status == FMO_OK ? create_part(ranks, &o, basis, options, plan, err) : status;
}

void fmo_shared_plan_release(const fmo_fock_plan *plan)
{
    const fmo_ranks *ranks = plan->shared.ranks;
    order o = {.kind = ORDER_RELEASE, .number = plan->shared.number};
    (void)ranks->broadcast(ranks->user, &o, sizeof o);
}

/* ---- builds --------------------------------------------------------------------------------- */

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

/* Runs this rank's share of a build and puts the result into plan->matrices or plan->shared. */
static fmo_status run_part(const fmo_fock_job *job, double largest, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    const fmo_fock_job *const jobs[] = {job};
    fmo_start how = {.on_device = 0};
    fmo_status status = fmo_build_begin(jobs, 1, largest, err);
    if (status != FMO_OK) return status;
    if (plan->mode->build) return plan->mode->build(plan, NULL, err);
    status = plan->mode->start(jobs, 1, &how, err);
    if (status == FMO_OK) status = plan->mode->finish(plan, err);
    if (status == FMO_OK)
        plan->mode->give(plan, job->coulomb ? plan->shared.coulomb : NULL,
                         job->exchange ? plan->shared.exchange : NULL);
    return status;
}

/* Collective: runs this rank's share of a build and sums the results on rank 0. */
static fmo_status build_part(const fmo_fock_job *job, double largest, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    const fmo_ranks *ranks = plan->shared.ranks;
    const fmo_plan_matrices *m = &plan->matrices;
    const size_t count = fmo_plan_matrix_bytes(plan) / sizeof(double);
    fmo_error own = {FMO_OK, ""};
    fmo_status status = run_part(job, largest, &own);
    uint64_t first = plan->shared.fingerprint; /* fingerprint of rank 0 */
    if (ranks->broadcast(ranks->user, &first, sizeof first) != 0) return no_network(err);
    if (status == FMO_OK && first != plan->shared.fingerprint)
        status = fmo_error_set(&own, FMO_ERR_UNSUPPORTED,
                               "its pieces of work are not those of rank 0: ranks that share a "
                               "build need processors of one kind and the same fmo");
    status = fmo_ranks_agree(ranks, status, &own);
    if (status != FMO_OK) return fmo_error_set(err, status, "%s", own.message);
    const int here = plan->mode->build != NULL;
    int fault = 0;
    if (job->coulomb)
        fault = sum_matrix(ranks, here ? m->coulomb : plan->shared.coulomb, count,
                           here ? m->coulomb_unit : 0.0);
    if (job->exchange && !fault)
        fault = sum_matrix(ranks, here ? m->exchange : plan->shared.exchange, count,
                           here ? m->exchange_unit : 0.0);
    if (!fault) fault = sum_counts(ranks, &plan->profile);
    return fault ? no_network(err) : FMO_OK;
}

/* Rank 0: broadcasts the command and the density, does its share, and returns the sums. */
fmo_status fmo_shared_build(const fmo_fock_job *job, double largest, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    const fmo_ranks *ranks = plan->shared.ranks;
    const fmo_fock_job *const jobs[] = {job};
    const size_t bytes = fmo_plan_matrix_bytes(plan);
    order o = {.kind = ORDER_BUILD,
               .wanted = fmo_build_wanted(job),
               .number = plan->shared.number,
               .largest = largest,
               .cutoff = plan->cutoff};
    if (ranks->restart(ranks->user) != 0 || ranks->broadcast(ranks->user, &o, sizeof o) != 0 ||
        broadcast(ranks, (void *)(uintptr_t)job->density, bytes) != 0)
        return no_network(err);
    const fmo_status status = build_part(job, largest, err);
    if (status != FMO_OK) return status;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        plan->profile.classes[c].quartets_skipped =
            fmo_plan_quartets(plan, (fmo_eri_class)c) - plan->profile.classes[c].quartets;
    if (plan->mode->build) {
        fmo_build_end(jobs, 1);
        return FMO_OK;
    }
    if (job->coulomb) memcpy(job->coulomb, plan->shared.coulomb, bytes);
    if (job->exchange) memcpy(job->exchange, plan->shared.exchange, bytes);
    plan->profile.seconds = fmo_now() - plan->begun;
    plan->built = 1;
    return FMO_OK;
}

/* ---- the other ranks ------------------------------------------------------------------------ */

typedef struct server {
    fmo_ranks *ranks;
    const fmo_fock_options *own;
    int num, capacity;
    fmo_fock_plan **plan; /* [num] */
} server;

/* Finds the plan with that number; all ranks have the same plans. */
static fmo_fock_plan **find(const server *s, int64_t number)
{
    int k = 0;
    while (s->plan[k]->shared.number != number) k++;
    return &s->plan[k];
}

/* Makes space for one more plan. Returns 0 if there is no memory. */
static int grow(server *s)
{
    if (s->num < s->capacity) return 1;
    fmo_fock_plan **const more = realloc(s->plan, (size_t)(s->capacity + 8) * sizeof *more);
    if (!more) return 0;
    s->plan = more;
    s->capacity += 8;
    return 1;
}

/* Makes this rank's plan for rank 0's ORDER_PLAN. */
static void serve_plan(server *s, const order *o)
{
    fmo_ranks *const ranks = s->ranks;
    fmo_error said = {FMO_OK, ""}; /* reported by rank 0 */
    fmo_fock_plan *plan = NULL;
    fmo_fock_options options = o->options;
    char *const bytes = malloc(o->basis_bytes);
    fmo_status status = FMO_OK;
    options.threads = s->own->threads;
    options.device = s->own->device;
    options.stream = options.progress_user = NULL;
    options.progress = NULL;
    options.ranks = ranks;
    if (!bytes || !grow(s))
        status = fmo_error_set(&said, FMO_ERR_MEMORY, "no memory for a basis of %zu bytes",
                               o->basis_bytes);
    status = fmo_ranks_agree(ranks, status, &said);
    if (status == FMO_OK && broadcast(ranks, bytes, o->basis_bytes) == 0) {
        fmo_basis *const basis = fmo_basis_unpack(bytes);
        if (create_part(ranks, o, basis, &options, &plan, &said) == FMO_OK)
            s->plan[s->num++] = plan;
        fmo_basis_destroy(basis);
    }
    free(bytes);
}

static void serve_build(const server *s, const order *o)
{
    fmo_fock_plan **const place = find(s, o->number);
    fmo_fock_plan *const plan = *place;
    double *const D = plan->shared.density;
    fmo_error said = {FMO_OK, ""};
    plan->cutoff = o->cutoff;
    /* not NULL: the matrix is computed; the address is not used */
    const fmo_fock_job job = {.plan = plan,
                              .density = D,
                              .coulomb = o->wanted & FMO_TERMS_J ? D : NULL,
                              .exchange = o->wanted & FMO_TERMS_K ? D : NULL};
    if (broadcast(s->ranks, D, fmo_plan_matrix_bytes(plan)) == 0)
        (void)build_part(&job, o->largest, &said);
}

static void release(server *s, int64_t number)
{
    fmo_fock_plan **const place = find(s, number);
    fmo_fock_plan_destroy(*place);
    *place = s->plan[--s->num];
}

/* Executes the commands of rank 0 until ORDER_END or a failure of the network. */
fmo_status fmo_fock_serve(fmo_ranks *ranks, const fmo_fock_options *own, fmo_error *err)
{
    fmo_fock_options defaults;
    fmo_status status = check_ranks("fmo_fock_serve", ranks, err);
    if (status != FMO_OK) return status;
    if (ranks->rank == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_serve: rank 0 makes the plans");
    fmo_fock_options_init(&defaults);
    server s = {.ranks = ranks, .own = own ? own : &defaults};
    order o = {.kind = ORDER_PLAN};
    while (status == FMO_OK && o.kind != ORDER_END) {
        /* A network failure within a command persists, so the next broadcast reports it. */
        if (ranks->broadcast(ranks->user, &o, sizeof o) != 0)
            status = no_network(err);
        else if (o.kind == ORDER_PLAN)
            serve_plan(&s, &o);
        else if (o.kind == ORDER_BUILD)
            serve_build(&s, &o);
        else if (o.kind == ORDER_RELEASE)
            release(&s, o.number);
    }
    for (int k = 0; k < s.num; k++) fmo_fock_plan_destroy(s.plan[k]);
    free(s.plan);
    return status;
}

void fmo_fock_dismiss(const fmo_ranks *ranks)
{
    order o = {.kind = ORDER_END};
    if (ranks) (void)ranks->broadcast(ranks->user, &o, sizeof o);
}
