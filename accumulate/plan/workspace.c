/* fmo_fock_workspace: the memory of a plan and of a build on it, added up from the sizes of a plan
 * made for this basis. */
#include <stdint.h>

#include "accumulate/plan/plan.h"
#include "base/arguments.h"

/* Bytes of a pair candidate before sorting (shell_pair.c) and of its copy in glibc's qsort. */
enum { CANDIDATE_BYTES = 2 * 24 };

static size_t basis_bytes(const fmo_basis *b)
{
    return sizeof *b + 4 * (size_t)b->nucleus_num * sizeof(double) +
           (size_t)b->shell_num * sizeof *b->shell + 2 * (size_t)b->prim_num * sizeof(double) +
           (size_t)b->ao_num * (sizeof(int) + sizeof(double));
}

static size_t list_bytes(const fmo_pair_list *list)
{
    const size_t pair = sizeof *list->i + sizeof *list->j + sizeof *list->bound +
                        3 * sizeof *list->AB + sizeof *list->begin;
    const size_t prim =
        sizeof *list->prim_bound + sizeof *list->ratio + FMO_PAIR_FIELDS * sizeof *list->prim;
    return ((size_t)list->num + 1) * pair + ((size_t)list->prim_num + 1) * prim;
}

/* Makes a plan, adds up the sizes of its parts and of the mode's buffers, and destroys it. */
fmo_status fmo_fock_workspace(const fmo_basis *basis, const fmo_fock_options *options,
                              fmo_fock_memory *memory, fmo_error *err)
{
    fmo_fock_options own;
    fmo_fock_plan *plan = NULL;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_fock_workspace", err, FMO_GIVEN(basis), FMO_GIVEN(memory));
    if (status != FMO_OK) return status;
    if (options)
        own = *options;
    else
        fmo_fock_options_init(&own);
    /* the memory of this process alone */
    own.ranks = NULL;
    /* otherwise the plan might be refused */
    if (own.mode == FMO_MODE_REFERENCE) own.memory = SIZE_MAX;
    status = fmo_fock_plan_create(basis, &own, &plan, err);
    if (status != FMO_OK) return status;
    if (!plan->mode->workspace) {
        fmo_fock_plan_destroy(plan);
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_workspace: mode %s cannot tell; give options.memory a limit",
                             fmo_mode_name(plan->options.mode));
    }

    const size_t n = (size_t)basis->function_num, ns = (size_t)basis->shell_num;
    const size_t matrices = plan->mode->build ? (3 * n * n + ns * ns + ns) * sizeof(double) : 0;
    size_t lists = 0, making = 0;
    const int has_lists = plan->mode->needs_pairs && !plan->mode->makes_pairs;
    for (int c = 0; has_lists && c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_pair_list *list = &plan->pairs.list[c];
        const size_t candidates = (size_t)(list->all + 1) * CANDIDATE_BYTES;
        lists += list_bytes(list);
        if (candidates > making) making = candidates;
    }
    fmo_fock_memory build = {0, 0};
    plan->mode->workspace(plan, &build);
    memory->host_bytes = sizeof *plan + basis_bytes(plan->basis) + matrices + lists +
                         (build.host_bytes > making ? build.host_bytes : making);
    memory->device_bytes = build.device_bytes;
    fmo_fock_plan_destroy(plan);
    return FMO_OK;
}
