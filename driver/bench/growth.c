/* growth: build time as a function of size, for water clusters (edge^3 waters) and all-trans
 * alkanes from molecules.c, in STO-3G and 6-31G or another basis set. Rows as in `fock`; plot.py
 * draws them. Next: fock.c. */
#include "fock.h"
#include "molecules.h"

static void run_size(bench_run *run, const char *family, const char *basis, int number,
                     const fmo_molecule *molecule)
{
    char table[64], name[64], column[16];
    snprintf(table, sizeof table, "%s, %s", family, basis);
    snprintf(name, sizeof name, "%.40s/%s", molecule->comment, basis);
    snprintf(column, sizeof column, "%d", number);
    const fock_item item = {.name = name,
                            .table = table,
                            .column = column,
                            .molecule = molecule,
                            .basis = basis,
                            .fragments = 1};
    fock_measure(run, &item, true);
}

/* Measures all sizes of both families in each basis set. */
void bench_growth(bench_run *run)
{
    static const char *const bases[] = {"STO-3G", "6-31G"};
    const bench_options *o = run->options;
    fmo_error err = {FMO_OK, ""};
    fock_print_head(run);
    for (int family = 0; family < 2; family++) {
        const cli_list *sizes = family ? &o->carbons : &o->waters;
        for (int b = 0; b < (o->basis ? 1 : 2); b++)
            for (int s = 0; s < sizes->count && run->err.status == FMO_OK; s++) {
                const int size = (int)sizes->value[s];
                fmo_molecule *molecule = NULL;
                const fmo_status status =
                    family ? bench_alkane(size, &molecule, &err)
                           : bench_water_cluster(size, (uint64_t)o->seed, &molecule, &err);
                if (status != FMO_OK)
                    bench_fail(run, status, "%s", err.message);
                else
                    run_size(run, family ? "alkanes" : "water clusters",
                             o->basis ? o->basis : bases[b], family ? size : size * size * size,
                             molecule);
                bench_molecule_destroy(molecule);
            }
    }
}
