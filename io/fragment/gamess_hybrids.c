/* Reads the hybrid orbitals of $FMOHYB or $FMOLMO. They are not used, but must agree with those
 * that a calculation uses (hybrids.c). */
#include "io/fragment/gamess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger than the rounding of published coefficients, smaller than the difference of two basis
 * sets. */
#define NEAR 2e-4

#define INPUT(g, ...) fmo_text_fail((g)->text, (g)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

/* Moves the orbital of the bond, which begins with "1 0", to the front of a complete set; all
 * others must begin with "0 1" and may be in any order. */
static fmo_status sort_rows(const fmo_gamess *g, const fmo_gamess_hybrids *h)
{
    const int size = h->function_num + 2;
    double *const first = h->coefficient;
    int bonds = 0;
    for (int k = 0; k < h->orbital_num; k++) {
        double *const row = first + (size_t)k * (size_t)size;
        const bool bond = row[0] == 1.0 && row[1] == 0.0;
        if (!bond && (row[0] != 0.0 || row[1] != 1.0))
            return INPUT(g,
                         "$FMOHYB: orbital %d of %s begins with %g %g; expected 1 0, the bond's "
                         "own, or 0 1",
                         k + 1, h->name, row[0], row[1]);
        bonds += bond;
        for (int i = 0; bond && i < size; i++) {
            const double other = first[i];
            first[i] = row[i];
            row[i] = other;
        }
    }
    if (bonds == 1) return FMO_OK;
    return INPUT(g, "$FMOHYB: %d orbitals of %s begin with 1 0; expected one, the bond's own",
                 bonds, h->name);
}

/* Reads sets, each with a line "NAME FUNCTIONS ORBITALS" followed by all coefficients. */
fmo_status fmo_gamess_hybrids_read(fmo_gamess *g)
{
    enum { WORDS = FMO_GAMESS_FUNCTIONS + 2 };
    fmo_word w[WORDS];
    fmo_gamess_hybrids *h = NULL;
    char quote[FMO_QUOTE_SIZE];
    int got = 0, all = 0;
    for (int n; (n = fmo_gamess_words(g, w, WORDS)) > 0;) {
        if (got == all) {
            long functions = 0, orbitals = 0;
            if (n != 3 || !fmo_text_count(w[1], FMO_GAMESS_FUNCTIONS, &functions) ||
                !fmo_text_count(w[2], FMO_GAMESS_ORBITALS, &orbitals) || !functions || !orbitals)
                return INPUT(g,
                             "$FMOHYB: expected a name, up to %d functions and up to %d orbitals",
                             FMO_GAMESS_FUNCTIONS, FMO_GAMESS_ORBITALS);
            if (g->hybrids_num == FMO_GAMESS_SETS)
                return INPUT(g, "$FMOHYB: more than %d sets", FMO_GAMESS_SETS);
            h = &g->hybrids[g->hybrids_num++];
            h->function_num = (int)functions;
            h->orbital_num = (int)orbitals;
            fmo_gamess_capitals(w[0], h->name);
            got = 0;
            all = h->orbital_num * (h->function_num + 2);
            h->coefficient = calloc((size_t)all, sizeof *h->coefficient);
            if (!h->coefficient) return fmo_fragment_no_memory(g->text);
            continue;
        }
        for (int i = 0; i < n; i++, got++)
            if (got >= all || !fmo_text_real(g->text, w[i], &h->coefficient[got]))
                return INPUT(g, "$FMOHYB: expected a coefficient of %s, not '%s'", h->name,
                             fmo_text_quote(w[i], quote));
        const fmo_status status = got == all ? sort_rows(g, h) : FMO_OK;
        if (status != FMO_OK) return status;
    }
    if (!g->at_end || got != all) return INPUT(g, "$FMOHYB ends before its orbitals do");
    return FMO_OK;
}

/* Returns the index of function `function` of fmo_hybrids (s shells before p shells) in GAMESS's
 * order of shells: s, sp, sp, ... */
static int place_of(int function, int functions)
{
    const int shells = 1 + (functions - 1) / 4; /* s shells */
    if (function < shells) return function ? 4 * function - 3 : 0;
    return 2 + 4 * ((function - shells) / 3) + (function - shells) % 3;
}

/* Returns the sum over orbitals from..to of the products of coefficients i and j. It depends only
 * on the space that the orbitals span, not on their rotation. h = NULL: of the file's orbitals. */
static double product(const fmo_gamess_hybrids *f, const fmo_hybrids *h, int from, int to, int i,
                      int j)
{
    double sum = 0.0;
    const int n = f->function_num;
    for (int k = from; k < to; k++) {
        const double *theirs = f->coefficient + (size_t)k * (size_t)(n + 2) + 2;
        const double *ours = h ? h->coefficient + (size_t)k * (size_t)n : NULL;
        sum += ours ? ours[i] * ours[j] : theirs[place_of(i, n)] * theirs[place_of(j, n)];
    }
    return sum;
}

static bool same(const fmo_gamess_hybrids *f, const fmo_hybrids *h)
{
    if (h->orbital_num != f->orbital_num || h->function_num != f->function_num) return false;
    for (int i = 0; i < h->function_num; i++)
        for (int j = 0; j <= i; j++) {
            const int n = h->orbital_num;
            if (fabs(product(f, h, 0, 1, i, j) - product(f, NULL, 0, 1, i, j)) > NEAR ||
                fabs(product(f, h, 1, n, i, j) - product(f, NULL, 1, n, i, j)) > NEAR)
                return false;
        }
    return true;
}

/* Compares the orbitals of the file with those of the installed hybrids, if both exist. */
fmo_status fmo_gamess_check_hybrids(const fmo_gamess *g, const fmo_fragment_system *s)
{
    const fmo_gamess_hybrids *f = NULL;
    fmo_hybrids *h = NULL;
    fmo_status status = FMO_OK;
    for (int i = 0; i < g->hybrids_num && !f; i++)
        if (!*g->used_name || strcmp(g->hybrids[i].name, g->used_name) == 0) f = &g->hybrids[i];
    if (!s->bond_num || !f || f->function_num % 4 != 1) return FMO_OK;
    const int bda = s->bond[0]; /* bonds are checked later */
    const int number = bda >= 0 && bda < s->atom_num ? s->number[bda] : 0;
    /* If there are none, the error is reported when the bond is cut, unless --hybrids provides
     * them. */
    if (fmo_hybrids_read(NULL, s->basis ? s->basis : f->name, number, &h, NULL) != FMO_OK)
        return FMO_OK;
    if (!same(f, h))
        status = fmo_text_fail(g->text, 0, FMO_ERR_INPUT,
                               "the hybrids %s of the file are not those that a calculation would "
                               "take; remove the group, or give yours with --hybrids and remove it",
                               f->name);
    fmo_hybrids_destroy(h);
    return status;
}
