/* Makes a fragmented molecule from the groups of an input of GAMESS or OpenFMO. */
#include "io/fragment/gamess.h"
#include "io/molecule/molecule_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(g, ...) fmo_text_fail((g)->text, 0, FMO_ERR_INPUT, __VA_ARGS__)

/* Writes the name of the basis set; "" if it is not a known one. */
static void name_basis(const fmo_gamess *g, char *name, size_t size)
{
    static const struct {
        const char *gbasis;
        int ngauss;
        const char *name, *plus;
    } table[] = {{"STO", 3, "STO-3G", NULL}, {"STO", 6, "STO-6G", NULL},
                 {"N21", 3, "3-21%sG", ""},  {"N31", 4, "4-31%sG", ""},
                 {"N31", 6, "6-31%sG", ""},  {"N311", 6, "6-311%sG", ""}};
    const char *plus = g->diffsp ? g->diffs ? "++" : "+" : "";
    name[0] = '\0';
    if (g->other_basis || g->ndfunc > 1 || g->npfunc > 1 || g->npfunc > g->ndfunc ||
        (g->diffs && !g->diffsp))
        return;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].gbasis, g->gbasis) != 0 || table[i].ngauss != g->ngauss) continue;
        if (!table[i].plus && (*plus || g->ndfunc)) return;
        const char *star = g->npfunc ? "(d,p)" : g->ndfunc ? "(d)" : "";
        const char *format = table[i].name, *hole = strstr(format, "%s");
        snprintf(name, size, "%.*s%s%s%s", (int)(hole ? hole - format : (long)strlen(format)),
                 format, plus, hole ? hole + 2 : "", star);
    }
}

/* Sets a notice where GAMESS has other parameters under the basis set's name than those that are
 * shipped: N31 of Si, K, Ca, Ga to Kr (J. Comput. Chem. Jpn. Int. Ed. 7, 2020-0010), and the scale
 * factors of STO for Na to Cl. */
static fmo_status note_basis(const fmo_gamess *g, fmo_fragment_system *s)
{
    const bool n31 = strcmp(g->gbasis, "N31") == 0, sto = strcmp(g->gbasis, "STO") == 0;
    int differs = 0;
    for (int a = 0; a < s->atom_num; a++) {
        const int z = s->number[a];
        differs |= (n31 && (z == 14 || z == 19 || z == 20 || (z >= 31 && z <= 36))) ||
                   (sto && z >= 11 && z <= 17);
    }
    if (!differs) return FMO_OK;
    char line[160];
    snprintf(line, sizeof line,
             "the basis set %s is that of the Basis Set Exchange; GAMESS has other parameters for "
             "%s",
             s->basis, n31 ? "Si, K, Ca and Ga to Kr" : "Na to Cl");
    s->notice = strdup(line);
    return s->notice ? FMO_OK : fmo_fragment_no_memory(g->text);
}

/* Checks that POLAR, which selects the exponents of polarisation functions, is the default of
 * GBASIS. */
static fmo_status check_polarisation(const fmo_gamess *g)
{
    const char *const own = strcmp(g->gbasis, "N31") == 0    ? "POPN31"
                            : strcmp(g->gbasis, "N311") == 0 ? "POPN311"
                                                             : "COMMON";
    if (!*g->polar || strcmp(g->polar, own) == 0) return FMO_OK;
    return INPUT(g, "$BASIS: POLAR=%s; only %s is done with GBASIS=%s: remove it", g->polar, own,
                 g->gbasis);
}

/* Reads INDAT as atoms and ranges: "1 -6" means 1 to 6, and a 0 ends each fragment. */
static fmo_status take_ranges(const fmo_gamess *g, fmo_fragment_system *s)
{
    const fmo_gamess_list *list = &g->indat;
    int fragment = 0, from = 0;
    for (int a = 0; a < s->atom_num; a++) s->fragment[a] = -1;
    for (int i = 1; i < list->num; i++) {
        const int v = list->value[i];
        if (!v) {
            if (!list->value[i - 1]) return INPUT(g, "INDAT: fragment %d is empty", fragment + 1);
            fragment++;
            from = 0;
            continue;
        }
        const int first = v > 0 ? v : from + 1, last = v > 0 ? v : -v;
        if (v < 0 && (!from || last < from))
            return INPUT(g, "INDAT: %d in fragment %d ends no range", v, fragment + 1);
        if (last > s->atom_num)
            return INPUT(g, "INDAT: atom %d in fragment %d; $FMOXYZ has %d", last, fragment + 1,
                         s->atom_num);
        for (int a = first - 1; a < last; a++) {
            if (s->fragment[a] >= 0)
                return INPUT(g, "INDAT: atom %d is in fragments %d and %d", a + 1,
                             s->fragment[a] + 1, fragment + 1);
            s->fragment[a] = fragment;
        }
        from = v > 0 ? v : 0;
    }
    if (list->value[list->num - 1]) fragment++; /* the last 0 is missing */
    if (fragment != s->fragment_num)
        return INPUT(g, "INDAT has %d fragments, NFRAG=%d", fragment, s->fragment_num);
    for (int a = 0; a < s->atom_num; a++)
        if (s->fragment[a] < 0) return INPUT(g, "INDAT: atom %d is in no fragment", a + 1);
    return FMO_OK;
}

static fmo_status take_charges(const fmo_gamess *g, fmo_fragment_system *s)
{
    long sum = 0;
    if (g->charge.num && g->charge.num != s->fragment_num)
        return INPUT(g, "ICHARG has %d values, NFRAG=%d", g->charge.num, s->fragment_num);
    for (int f = 0; f < g->charge.num; f++) sum += s->charge[f] = g->charge.value[f];
    if (g->has_charge && g->whole_charge != sum)
        return INPUT(g,
                     "$CONTRL: ICHARG=%ld, but the charges of $FMO sum up to %ld, which are those "
                     "that count: remove it",
                     g->whole_charge, sum);
    return FMO_OK;
}

static fmo_status take_fragments(const fmo_gamess *g, fmo_fragment_system *s)
{
    if (g->name_num && g->name_num != s->fragment_num)
        return INPUT(g, "FRGNAM has %d names, NFRAG=%d", g->name_num, s->fragment_num);
    for (int f = 0; f < g->name_num; f++) {
        const fmo_status status = fmo_fragment_set_name(g->text, s, f, g->name[f]);
        if (status != FMO_OK) return status;
    }
    if (!g->indat.num) return INPUT(g, "$FMO: INDAT is missing: whose fragment each atom is");
    if (g->indat.value[0] == 0) return take_ranges(g, s);
    if (g->indat.num != s->atom_num)
        return INPUT(g,
                     "INDAT has %d values, $FMOXYZ %d atoms; begin it with 0 if it is a list of "
                     "ranges",
                     g->indat.num, s->atom_num);
    for (int a = 0; a < s->atom_num; a++) s->fragment[a] = g->indat.value[a] - 1;
    return FMO_OK;
}

/* Stores the thresholds. Inputs of GAMESS, unlike those of OpenFMO, have a $DATA; there, 0 turns an
 * approximation off, and RESPAP is off by default. */
static void take_thresholds(const fmo_gamess *g, fmo_fragment_system *s)
{
    const double pap = isnan(g->respap) ? g->has_data ? 0.0 : s->aoc_from : g->respap;
    const double ppc = isnan(g->resppc) ? s->ptc_from : g->resppc;
    const double dim = isnan(g->resdim) ? s->es_dimers_from : g->resdim;
    s->ptc_from = g->has_data && ppc == 0.0 ? FMO_FRAGMENT_NOWHERE : ppc;
    s->aoc_from = g->has_data && pap == 0.0 ? s->ptc_from : pap;
    s->es_dimers_from = g->has_data && dim == 0.0 ? FMO_FRAGMENT_NOWHERE : dim;
}

/* Checks and combines the content of all groups; the hybrid orbitals are checked later. */
fmo_status fmo_gamess_system(fmo_gamess *g, fmo_fragment_system *s)
{
    char basis[32];
    const int atoms = g->number.num;
    if (!atoms)
        return INPUT(g, "no $FMOXYZ with atoms; expected an FMO input of GAMESS or OpenFMO");
    if (!g->fragment_num) return INPUT(g, "$FMO: NFRAG is missing");
    if (g->label_line && !g->has_data) /* GAMESS uses the charge, OpenFMO the label */
        return fmo_text_fail(g->text, g->label_line, FMO_ERR_INPUT,
                             "$FMOXYZ: the label is the symbol of another element than the charge "
                             "says, and OpenFMO goes by the label: make them agree");
    fmo_status status = fmo_fragment_make(g->text, atoms, (int)g->fragment_num, s);
    if (status != FMO_OK) return status;
    for (int a = 0; a < atoms; a++) {
        s->number[a] = g->number.value[a];
        for (int x = 0; x < 3; x++)
            s->coord[3 * a + x] = g->place[3 * a + x] / (g->bohr ? 1.0 : s->bohr);
    }
    s->spherical = g->spherical ? 1 : -1; /* Cartesian, unless ISPHER=1 */
    status = take_charges(g, s);
    if (status == FMO_OK) status = take_fragments(g, s);
    if (status == FMO_OK) status = check_polarisation(g);
    if (status != FMO_OK) return status;
    s->bond_num = g->bond.num / 2;
    s->bond = g->bond.value;
    g->bond = (fmo_gamess_list){0};
    take_thresholds(g, s);
    name_basis(g, basis, sizeof basis);
    if (*basis) s->basis = strdup(basis);
    if (*g->title) s->name = strdup(g->title);
    if ((*basis && !s->basis) || (*g->title && !s->name)) return fmo_fragment_no_memory(g->text);
    return s->basis ? note_basis(g, s) : FMO_OK;
}
