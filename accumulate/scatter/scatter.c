/* Names and properties of the scatter strategies and atomic updates, from the tables of scatter.h.
 */
#include <fmo/scatter.h>
#include <stddef.h>

#include "base/names.h"

/* The element strategy of each type; a row that names an unknown type does not compile. */
enum {
#define TYPE(e, n, kind, type, ...)       TYPE_##kind(e, type)
#define TYPE_FMO_SCATTER_ELEMENT(e, type) type_##type = e,
#define TYPE_FMO_SCATTER_SCHEDULE(e, type)
#define TYPE_FMO_SCATTER_CHOICE(e, type)
    FMO_SCATTER_TABLE(TYPE)
#undef TYPE
};

static const struct {
    const char *name, *determinism, *text;
    fmo_strategy_kind kind;
    fmo_scatter kernels;
    int takes_commit, integers, all_shells;
} scatter_row[] = {
#define ROW(e, n, k, type, commits, sums, batches, shells, d, t) \
    [e] = {.name = n,                                            \
           .determinism = d,                                     \
           .text = t,                                            \
           .kind = k,                                            \
           .kernels = (fmo_scatter)type_##type,                  \
           .takes_commit = commits,                              \
           .integers = sums,                                     \
           .all_shells = shells},
    FMO_SCATTER_TABLE(ROW)
#undef ROW
};

static int scatter_known(fmo_scatter scatter)
{
    return (int)scatter >= 0 && (int)scatter < FMO_SCATTER_COUNT;
}
const char *fmo_scatter_name(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].name : NULL;
}
const char *fmo_scatter_text(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].text : NULL;
}
const char *fmo_scatter_determinism(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].determinism : NULL;
}
int fmo_scatter_takes_commit(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].takes_commit : 0;
}
int fmo_scatter_sums_integers(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].integers : 0;
}
int fmo_scatter_takes_all_shells(fmo_scatter scatter, fmo_commit commit)
{
    return scatter_known(scatter) && scatter_row[scatter].all_shells && commit == FMO_COMMIT_NATIVE;
}
int fmo_scatter_is_built(fmo_scatter scatter, fmo_commit commit)
{
    return FMO_EXPERIMENTS ? scatter_known(scatter) : fmo_scatter_takes_all_shells(scatter, commit);
}
fmo_scatter fmo_scatter_kernels(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].kernels : FMO_SCATTER_COUNT;
}
fmo_strategy_kind fmo_scatter_kind(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].kind : FMO_SCATTER_CHOICE;
}

FMO_NAMES(fmo_commit, fmo_commit, FMO_COMMIT_TABLE)
