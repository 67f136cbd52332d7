/* Names and texts of the scatter strategies and commits, from the tables of scatter.h. */
#include <fmo/scatter.h>
#include <stddef.h>

#include "integrals/names.h"

static const struct {
    const char *name, *determinism, *text;
    fmo_strategy_kind kind;
    int takes_commit;
} scatter_row[] = {
#define ROW(e, n, k, c, d, t) \
    [e] = {.name = n, .determinism = d, .text = t, .kind = k, .takes_commit = c},
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
fmo_strategy_kind fmo_scatter_kind(fmo_scatter scatter)
{
    return scatter_known(scatter) ? scatter_row[scatter].kind : FMO_SCATTER_CHOICE;
}

FMO_NAMES(fmo_commit, fmo_commit, FMO_COMMIT_TABLE)
