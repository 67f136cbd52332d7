/* Reads inputs of GAMESS and OpenFMO: groups "$NAME ... $END" that hold "KEY=VALUES" or lines.
 * Accepted and rejected inputs: docs/reference/fmo.md. Next: gamess_keys.c, gamess_system.c. */
#include "io/fragment/gamess.h"
#include "io/molecule/molecule_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(g, ...) fmo_text_fail((g)->text, (g)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

/* ---- groups of lines ------------------------------------------------------------------------- */

static fmo_status unfinished(const fmo_gamess *g, const char *group)
{
    return g->at_end ? FMO_OK : INPUT(g, "%s has no $END", group);
}

/* Reads $FMOXYZ: "LABEL CHARGE X Y Z"; the charge may also be an element symbol. A label that is
 * the symbol of another element is recorded (label_line). */
static fmo_status read_atoms(fmo_gamess *g)
{
    fmo_word w[6];
    char quote[FMO_QUOTE_SIZE];
    for (int n; (n = fmo_gamess_words(g, w, 6)) > 0;) {
        double charge = 0.0, xyz[3];
        if (n != 5) return INPUT(g, "$FMOXYZ: expected a label, an element or charge, x, y and z");
        const bool number = fmo_text_real(g->text, w[1], &charge);
        int z = fmo_element_number(w[1].at, w[1].size);
        if (number && charge >= 1.0 && charge <= FMO_ELEMENT_MAX && charge == floor(charge))
            z = (int)charge;
        if (z < 1)
            return INPUT(g, "$FMOXYZ: '%s' is no element and no charge of a nucleus",
                         fmo_text_quote(w[1], quote));
        const int label = fmo_element_number(w[0].at, w[0].size);
        if (label && label != z && !g->label_line) g->label_line = g->text->line;
        for (int x = 0; x < 3; x++)
            if (!fmo_text_real(g->text, w[2 + x], &xyz[x]) || fabs(xyz[x]) > FMO_FRAGMENT_FARTHEST)
                return INPUT(g, "$FMOXYZ: '%s' is no coordinate", fmo_text_quote(w[2 + x], quote));
        if (g->number.num >= FMO_MOLECULE_NUCLEI_MAX)
            return INPUT(g, "$FMOXYZ: more than %d atoms", FMO_MOLECULE_NUCLEI_MAX);
        if (!fmo_fragment_grow((void **)&g->place, g->number.num, &g->place_capacity, sizeof xyz))
            return fmo_fragment_no_memory(g->text);
        memcpy(g->place + 3 * (size_t)g->number.num, xyz, sizeof xyz);
        const fmo_status status = fmo_gamess_push(g, &g->number, z);
        if (status != FMO_OK) return status;
    }
    return unfinished(g, "$FMOXYZ");
}

/* Reads $FMOBND: "-BDA BAA NAME ...", the detached atom, the attached atom, the set of hybrid
 * orbitals. */
static fmo_status read_bonds(fmo_gamess *g)
{
    fmo_word w[4];
    for (int n; (n = fmo_gamess_words(g, w, 4)) > 0;) {
        long bda = 0, baa = 0;
        char name[FMO_GAMESS_WORD] = "";
        if (n < 2 || !fmo_fragment_integer(w[0], FMO_MOLECULE_NUCLEI_MAX, &bda) ||
            !fmo_fragment_integer(w[1], FMO_MOLECULE_NUCLEI_MAX, &baa) || bda >= 0 || baa <= 0)
            return INPUT(g, "$FMOBND: expected minus the detached atom, the attached atom and the "
                            "name of hybrids");
        if (n > 2) fmo_gamess_capitals(w[2], name);
        if (g->bond.num && n > 2 && strcmp(name, g->used_name) != 0)
            return INPUT(g, "$FMOBND: hybrids %s and %s; all bonds have those of one basis set",
                         g->used_name, name);
        if (n > 2) memcpy(g->used_name, name, sizeof name);
        if (g->bond.num >= 2 * FMO_MOLECULE_NUCLEI_MAX) return INPUT(g, "$FMOBND: too many bonds");
        fmo_status status = fmo_gamess_push(g, &g->bond, -bda - 1);
        if (status == FMO_OK) status = fmo_gamess_push(g, &g->bond, baa - 1);
        if (status != FMO_OK) return status;
    }
    return unfinished(g, "$FMOBND");
}

/* Checks a kind of atom, "O-1 8": element symbol, "-" and layer, nuclear charge. */
static fmo_status check_kind(const fmo_gamess *g, fmo_word name, fmo_word charge)
{
    char quote[2][FMO_QUOTE_SIZE];
    size_t letters = 0;
    double value = 0.0;
    while (letters < name.size && isalpha((unsigned char)name.at[letters])) letters++;
    const int z = memchr(name.at, '-', name.size) ? fmo_element_number(name.at, letters) : 0;
    if (!z || !fmo_text_real(g->text, charge, &value) || value == z) return FMO_OK;
    return INPUT(g, "$DATA: '%s' with a charge of %s; expected %d", fmo_text_quote(name, quote[0]),
                 fmo_text_quote(charge, quote[1]), z);
}

/* Reads $DATA: the title, C1, and for each kind of atom its line and, if there is no $BASIS, its
 * basis set. */
static fmo_status read_data(fmo_gamess *g)
{
    fmo_word w[3];
    char name[FMO_GAMESS_WORD];
    long ngauss = 0;
    g->has_data = true;
    if (!fmo_gamess_line(g)) return INPUT(g, "$DATA has no $END");
    snprintf(g->title, sizeof g->title, "%.*s", (int)(g->rest.size < 80 ? g->rest.size : 80),
             g->rest.at);
    g->rest.size = 0;
    if (fmo_gamess_words(g, w, 3) < 1 || !fmo_gamess_is(w[0], "C1"))
        return INPUT(g, "$DATA: expected C1 behind the title; there is no symmetry in FMO");
    for (int n; (n = fmo_gamess_words(g, w, 3)) > 0;) {
        fmo_gamess_capitals(w[0], name);
        const bool basis = strcmp(name, "STO") == 0 || strcmp(name, "N21") == 0 ||
                           strcmp(name, "N31") == 0 || strcmp(name, "N311") == 0;
        if (n == 2 && basis && fmo_text_count(w[1], 9, &ngauss)) {
            if (*g->gbasis && (strcmp(g->gbasis, name) != 0 || g->ngauss != ngauss))
                g->other_basis = true;
            memcpy(g->gbasis, name, sizeof name);
            g->ngauss = (int)ngauss;
        } else if (n != 2 || basis || name[0] < 'A')
            g->other_basis = true; /* explicit functions, or a set with another name */
        const fmo_status status = n == 2 ? check_kind(g, w[0], w[1]) : FMO_OK;
        if (status != FMO_OK) return status;
    }
    return unfinished(g, "$DATA");
}

/* ---- all groups ------------------------------------------------------------------------------ */

/* Reads a group of keys; each may occur once. */
static fmo_status read_keys(fmo_gamess *g, const char *name)
{
    static const char *const once[] = {"$FMO", "$CONTRL", "$BASIS",  "$SYSTEM", "$GDDI",
                                       "$SCF", "$INTGRL", "$FMOPRP", "$GUESS",  NULL};
    for (int i = 0; once[i]; i++) {
        if (strcmp(name, once[i]) != 0) continue;
        if (g->seen >> i & 1u) return INPUT(g, "%s is given twice; keep one", name);
        g->seen |= 1u << i;
    }
    return fmo_gamess_keys(g, name);
}

static fmo_status read_group(fmo_gamess *g, const char *name)
{
    fmo_word word;
    g->at_end = false;
    if (strcmp(name, "$FMOXYZ") == 0) return read_atoms(g);
    if (strcmp(name, "$FMOBND") == 0) return read_bonds(g);
    if (strcmp(name, "$DATA") == 0) return read_data(g);
    if (strcmp(name, "$FMOHYB") == 0 || strcmp(name, "$FMOLMO") == 0)
        return fmo_gamess_hybrids_read(g);
    if (fmo_keys_pass_all(&fmo_gamess_keys_table, name)) {
        while (fmo_gamess_word(g, &word))
            if (fmo_gamess_is(word, "$END")) return FMO_OK;
        return INPUT(g, "%s has no $END", name);
    }
    if (fmo_keys_have(&fmo_gamess_keys_table, name)) return read_keys(g, name);
    return INPUT(g, "the group %s is not known; remove it if the energy does not need it", name);
}

/* Reads all groups, makes the system, and checks the hybrid orbitals. */
fmo_status fmo_fragment_read_gamess(fmo_text *text, fmo_fragment_system *s)
{
    fmo_gamess g = {.text = text, .respap = NAN, .resppc = NAN, .resdim = NAN};
    char name[FMO_GAMESS_WORD];
    fmo_word word;
    fmo_status status = FMO_OK;
    while (status == FMO_OK && fmo_gamess_word(&g, &word)) {
        if (*word.at != '$') continue; /* text between groups is a comment */
        fmo_gamess_capitals(word, name);
        status = read_group(&g, name);
    }
    if (status == FMO_OK) status = fmo_gamess_system(&g, s);
    if (status == FMO_OK) status = fmo_gamess_check_hybrids(&g, s);
    free(g.charge.value);
    free(g.indat.value);
    free(g.bond.value);
    free(g.name);
    free(g.number.value);
    free(g.place);
    for (int i = 0; i < g.hybrids_num; i++) free(g.hybrids[i].coefficient);
    return status;
}
