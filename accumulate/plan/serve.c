/* The other ranks of shared plans: they wait for the commands of rank 0, make the plans it makes,
 * and do their share of its builds. See ranks.h and docs/how-to/mpi.md. */
#include <stdlib.h>

#include "accumulate/plan/ranks.h"
#include "integrals/basis_internal.h"

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

/* Makes this rank's plan for rank 0's command. */
static void serve_plan(server *s, const fmo_command *command)
{
    fmo_ranks *const ranks = s->ranks;
    fmo_error reported = {FMO_OK, ""}; /* by rank 0 */
    fmo_fock_plan *plan = NULL;
    fmo_fock_options options = command->options;
    char *const bytes = malloc(command->basis_bytes);
    fmo_status status = FMO_OK;
    options.threads = s->own->threads;
    options.device = s->own->device;
    options.stream = options.progress_user = NULL;
    options.progress = NULL;
    options.ranks = ranks;
    if (!bytes || !grow(s))
        status = fmo_error_set(&reported, FMO_ERR_MEMORY, "no memory for a basis of %zu bytes",
                               command->basis_bytes);
    status = fmo_ranks_agree(ranks, status, &reported);
    if (status == FMO_OK &&
        fmo_ranks_broadcast(ranks, bytes, command->basis_bytes, &reported) == FMO_OK) {
        fmo_basis *const basis = fmo_basis_unpack(bytes);
        if (fmo_plan_create_part(command, basis, &options, &plan, &reported) == FMO_OK)
            s->plan[s->num++] = plan;
        fmo_basis_destroy(basis);
    }
    free(bytes);
}

/* Does this rank's share of a build. */
static void serve_build(const server *s, const fmo_command *command)
{
    fmo_fock_plan *const plan = *find(s, command->number);
    double *const density = plan->shared.density;
    fmo_error reported = {FMO_OK, ""}; /* by rank 0 */
    plan->cutoff = command->cutoff;
    /* not NULL: the matrix is computed; the address is not used */
    const fmo_fock_job job = {.plan = plan,
                              .density = density,
                              .coulomb = command->requested & FMO_TERMS_J ? density : NULL,
                              .exchange = command->requested & FMO_TERMS_K ? density : NULL,
                              .symmetry = command->symmetry,
                              .coulomb_operator = command->coulomb_operator,
                              .exchange_operator = command->exchange_operator};
    const fmo_fock_job *const jobs[] = {&job};
    if (fmo_ranks_broadcast(s->ranks, density, fmo_plan_matrix_bytes(plan), &reported) == FMO_OK)
        (void)fmo_build(jobs, 1, command->largest, &reported);
}

static void release(server *s, int64_t number)
{
    fmo_fock_plan **const place = find(s, number);
    fmo_fock_plan_destroy(*place);
    *place = s->plan[--s->num];
}

/* Executes the commands of rank 0 until FMO_COMMAND_END or a failure of the network. */
fmo_status fmo_fock_serve(fmo_ranks *ranks, const fmo_fock_options *own, fmo_error *err)
{
    fmo_fock_options defaults;
    fmo_status status = fmo_ranks_check("fmo_fock_serve", ranks, err);
    if (status != FMO_OK) return status;
    if (ranks->rank == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_fock_serve: rank 0 makes the plans");
    fmo_fock_options_init(&defaults);
    server s = {.ranks = ranks, .own = own ? own : &defaults};
    fmo_command command = {.kind = FMO_COMMAND_PLAN};
    while (status == FMO_OK && command.kind != FMO_COMMAND_END) {
        /* A network failure within a command persists, so the next command reports it. */
        status = fmo_ranks_command(ranks, &command, err);
        if (status != FMO_OK) break;
        if (command.kind == FMO_COMMAND_PLAN)
            serve_plan(&s, &command);
        else if (command.kind == FMO_COMMAND_BUILD)
            serve_build(&s, &command);
        else if (command.kind == FMO_COMMAND_RELEASE)
            release(&s, command.number);
    }
    for (int k = 0; k < s.num; k++) fmo_fock_plan_destroy(s.plan[k]);
    free(s.plan);
    return status;
}

void fmo_fock_dismiss(const fmo_ranks *ranks)
{
    fmo_command command = {.kind = FMO_COMMAND_END};
    if (ranks) (void)fmo_ranks_command(ranks, &command, NULL);
}
