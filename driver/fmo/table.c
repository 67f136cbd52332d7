/* All pairs as a table: a header with units, one line per pair, tab-separated columns. */
#include "driver/fmo/text.h"
#include "base/arguments.h"
#include "io/output/kind.h"

#include <math.h>

/* Writes a name. It contains no tabs or line ends; a quotation mark would start a quoted field in
 * many programs and is replaced. */
static void put_name(FILE *stream, const fmo_fragment_system *s, int k)
{
    char name[FMO_FRAGMENT_NAME];
    for (const char *c = fmo_fragment_name(s, k, name); *c; c++)
        putc(*c == '"' ? '\'' : *c, stream);
    putc('\t', stream);
}

/* Writes the header and a line for each pair. */
static bool put_table(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_result *r = source->result;
    fputs(FMO_PAIRS_HEAD, stream);
    for (int k = 0; k < r->pair_num; k++) {
        const fmo_fragment_pair *p = &r->pair[k];
        fprintf(stream, "%d\t%d\t", p->i + 1, p->j + 1);
        put_name(stream, source->system, p->i);
        put_name(stream, source->system, p->j);
        fprintf(stream, "%s\t%d\t%.6f\t%.12f\t%.12f\t%.12f\t%.8f\t", p->is_scf ? "scf" : "es",
                p->is_bonded, p->distance, p->internal, p->transfer, p->total,
                FMO_KCAL_PER_MOL * p->total);
        if (isnan(p->electrostatic))
            fputs("\t\n", stream);
        else
            fprintf(stream, "%.8f\t%.8f\n", FMO_KCAL_PER_MOL * p->electrostatic,
                    FMO_KCAL_PER_MOL * (p->total - p->electrostatic));
    }
    return true;
}

fmo_status fmo_fragment_write_pairs(const char *path, const fmo_fragment_system *system,
                                    const fmo_fragment_result *result, fmo_error *err)
{
    static const char call[] = "fmo_fragment_write_pairs";
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(system), FMO_GIVEN(result));
    const fmo_text_source source = {system, result, NULL, -1};
    return checked == FMO_OK ? fmo_fragment_write_text(path, &source, put_table, call, err)
                             : checked;
}
