/* The result as one HTML page (page/page.html, page/page.js) that contains its data as JSON and
 * loads nothing. The fields of the data are listed in docs/reference/fmo.md. */
#include "driver/fmo/map_scale.h"
#include "driver/fmo/text.h"
#include "base/arguments.h"
#include "base/harmless.h"
#include <fmo/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page_text.h" /* page_head, page_tail; made from page/ */

/* Largest number of pairs in a page, about 45 bytes each; with more than 447 fragments the weakest
 * are left out. */
enum { PAGE_PAIRS_MAX = 100000 };

/* Pairs that a page leaves out. */
typedef struct omitted {
    int pairs;
    double below;  /* hartree: what is left out is weaker */
    double energy; /* hartree: its sum */
} omitted;

static double strength(const fmo_fragment_pair *p)
{
    return isfinite(p->total) ? fabs(p->total) : INFINITY;
}

static bool is_left_out(const omitted *o, const fmo_fragment_pair *p)
{
    return strength(p) < o->below;
}

static int strongest_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Finds which pairs are left out; false if there is no memory. */
static bool find_omitted(const fmo_fragment_result *r, omitted *o)
{
    *o = (omitted){0, 0.0, 0.0};
    if (r->pair_num <= PAGE_PAIRS_MAX) return true;
    double *const size = malloc((size_t)r->pair_num * sizeof *size);
    if (!size) return false;
    for (int k = 0; k < r->pair_num; k++) size[k] = strength(&r->pair[k]);
    qsort(size, (size_t)r->pair_num, sizeof *size, strongest_first);
    o->below = size[PAGE_PAIRS_MAX - 1];
    free(size);
    for (int k = 0; k < r->pair_num; k++)
        if (is_left_out(o, &r->pair[k])) {
            o->pairs++;
            o->energy += r->pair[k].total;
        }
    return true;
}

/* Writes a text without control characters as a JSON string that cannot end the HTML element. */
static void put_string(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text; text++)
        if (strchr("<>&\"\\", *text))
            fprintf(stream, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            putc(*text, stream);
    putc('"', stream);
}

/* Writes a number with these decimals, or null; then what follows. */
static void put_number(FILE *stream, double value, int decimals, const char *after)
{
    if (isfinite(value))
        fprintf(stream, "%.*f%s", decimals, value, after);
    else
        fprintf(stream, "null%s", after);
}

/* Returns the sum of all interactions of each fragment, without pairs with a cut bond, to be freed;
 * NULL if there is no memory. */
static double *sums_of(const fmo_fragment_result *r)
{
    double *const sum = calloc((size_t)r->fragment_num, sizeof *sum);
    for (int k = 0; sum && k < r->pair_num; k++) {
        const fmo_fragment_pair *const p = &r->pair[k];
        if (p->is_bonded || !isfinite(p->total)) continue;
        sum[p->i] += p->total;
        sum[p->j] += p->total;
    }
    return sum;
}

/* Writes the table of fragments as rows of a JavaScript array: name, charge, charge from the
 * populations, numbers of atoms, electrons and functions, energy, HOMO and sum of interactions. */
static void put_fragments(FILE *stream, const fmo_text_source *source, const double *sum)
{
    const fmo_fragment_system *s = source->system;
    const fmo_fragment_result *r = source->result;
    for (int k = 0; k < r->fragment_num; k++) {
        const fmo_fragment_monomer *const m = &r->monomer[k];
        char name[FMO_FRAGMENT_NAME];
        double charge = 0.0;
        int atoms = 0;
        for (int a = 0; a < s->atom_num; a++)
            if (s->fragment[a] == k) charge += r->charge2[a], atoms++;
        fputs(k ? ",\n[" : "[", stream);
        put_string(stream, fmo_fragment_name(s, k, name));
        fprintf(stream, ",%d,", s->charge[k]);
        put_number(stream, charge, 6, ",");
        fprintf(stream, "%d,%d,%d,", atoms, m->electron_num, m->nao);
        put_number(stream, m->energy, 10, ",");
        put_number(stream, m->homo, 6, ",");
        put_number(stream, sum[k], 10, "]");
    }
}

static void put_pairs(FILE *stream, const fmo_fragment_result *r, const omitted *o)
{
    bool first = true;
    for (int k = 0; k < r->pair_num; k++) {
        const fmo_fragment_pair *const p = &r->pair[k];
        if (is_left_out(o, p)) continue;
        fprintf(stream, "%s[%d,%d,%d,%d,", first ? "" : ",\n", p->i + 1, p->j + 1, p->is_scf,
                p->is_bonded);
        put_number(stream, p->distance, 4, ",");
        put_number(stream, p->total, 10, ",");
        put_number(stream, p->electrostatic, 10, "]");
        first = false;
    }
}

/* Writes the whole page. */
static bool put_page(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_system *s = source->system;
    const fmo_fragment_result *r = source->result;
    const char *slash = s->path ? strrchr(s->path, '/') : NULL;
    fmo_map_scale scale;
    omitted o;
    char name[200], basis[64];
    if (!fmo_map_scale_find(r, &scale) || !find_omitted(r, &o)) return false;
    double *const sum = sums_of(r);
    if (!sum) return false;
    snprintf(name, sizeof name, "%s",
             s->name   ? s->name
             : slash   ? slash + 1
             : s->path ? s->path
                       : "");
    snprintf(basis, sizeof basis, "%s", source->basis ? source->basis : "");
    fmo_text_harmless(name);
    fmo_text_harmless(basis);
    fwrite(page_head, 1, sizeof page_head, stream);
    fputs("{\"format\":\"fmo-fragments-page\",\"version\":1,\"fmo\":\"" FMO_VERSION_STRING
          "\",\"name\":",
          stream);
    put_string(stream, name);
    fputs(",\"basis\":", stream);
    put_string(stream, basis);
    fputs(",\"energy_fmo1\":", stream);
    put_number(stream, r->energy1, 10, ",\"energy_fmo2\":");
    put_number(stream, r->energy2, 10, ",\"kcal_per_hartree\":");
    fprintf(stream, "%.10f,\"range_kcal\":%g,\"colours\":[", FMO_KCAL_PER_MOL, scale.range);
    for (int k = 0; k < FMO_MAP_COLOURS; k++) {
        fputs(k ? ",\"" : "\"", stream);
        fmo_map_put_colour(stream, 2.0 * k / (FMO_MAP_COLOURS - 1) - 1.0);
        putc('"', stream);
    }
    fprintf(stream, "],\"ligand\":%d,\"omitted\":{\"pairs\":%d,\"below\":", source->ligand + 1,
            o.pairs);
    fprintf(stream, "%.10e,\"energy\":%.10e},\n\"fragments\":[", o.below, o.energy);
    put_fragments(stream, source, sum);
    free(sum);
    fputs("],\n\"pairs\":[", stream);
    put_pairs(stream, r, &o);
    fputs("]}", stream);
    fwrite(page_tail, 1, sizeof page_tail, stream);
    return true;
}

fmo_status fmo_fragment_write_page(const char *path, const fmo_fragment_system *system,
                                   const fmo_fragment_result *result, const char *basis, int ligand,
                                   fmo_error *err)
{
    static const char call[] = "fmo_fragment_write_page";
    const fmo_text_source source = {system, result, basis, ligand};
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(system), FMO_GIVEN(result));
    if (status == FMO_OK) status = fmo_fragment_check_whole(&source, call, err);
    if (status == FMO_OK && (ligand < -1 || ligand >= system->fragment_num))
        status = fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: ligand = %d: expected -1 to %d", call,
                               ligand, system->fragment_num - 1);
    return status == FMO_OK ? fmo_fragment_write_text(path, &source, put_page, call, err) : status;
}
