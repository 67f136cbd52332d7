/* What the ranks of a shared plan exchange (ranks.c): rank 0's commands and the sums of builds.
 * create.c and build.c call these functions on rank 0, serve.c on the others. The public part is
 * fmo/ranks.h. */
#ifndef FMO_PLAN_RANKS_H
#define FMO_PLAN_RANKS_H

#include <fmo/ranks.h>
#include "accumulate/plan/plan.h"

typedef enum fmo_command_kind {
    FMO_COMMAND_PLAN,
    FMO_COMMAND_BUILD,
    FMO_COMMAND_RELEASE,
    FMO_COMMAND_END
} fmo_command_kind;

/* The message that rank 0 broadcasts. */
typedef struct fmo_command {
    fmo_command_kind kind;
    int requested;          /* of a build: FMO_TERMS_... */
    int64_t number;         /* number of the plan */
    int pieces;             /* of a plan: pieces of work */
    size_t basis_bytes;     /* of a plan: size of the packed basis, which follows */
    double largest, cutoff; /* of a build; the density follows */
    fmo_symmetry symmetry;  /* of a build */
    fmo_operator coulomb_operator, exchange_operator;
    fmo_fock_options options; /* of a plan; pointers are not sent */
} fmo_command;

/* Checks a network: FMO_OK or FMO_ERR_ARGUMENT. call: the start of the message. */
fmo_status fmo_ranks_check(const char *call, const fmo_ranks *ranks, fmo_error *err);

/* Broadcasts rank 0's command, or receives it on another rank. */
fmo_status fmo_ranks_command(const fmo_ranks *ranks, fmo_command *command, fmo_error *err);

/* Rank 0: broadcasts the command for a build and its density, which has been checked. */
fmo_status fmo_ranks_begin_build(const fmo_fock_job *job, double largest, fmo_error *err);

/* build.c. Rank 0: builds a job of a shared plan, whose request and density have been checked. Mode
 * cpu takes J and K of different operators one after the other. */
fmo_status fmo_build_shared(const fmo_fock_job *job, double largest, fmo_error *err);

/* Collective: agrees on whether all ranks have done their share, and adds the results up on rank 0:
 * those of plan->matrices or, for modes with `start`, of plan->shared.
 * requested: FMO_TERMS_...; status and err: of this rank's share. */
fmo_status fmo_ranks_end_build(fmo_fock_plan *plan, int requested, fmo_status status,
                               fmo_error *err);

/* create.c. Collective: makes this rank's plan for rank 0's command FMO_COMMAND_PLAN, if all ranks
 * can make theirs. basis NULL: this rank had no memory for it. */
fmo_status fmo_plan_create_part(const fmo_command *command, const fmo_basis *basis,
                                const fmo_fock_options *options, fmo_fock_plan **plan,
                                fmo_error *err);

#endif
