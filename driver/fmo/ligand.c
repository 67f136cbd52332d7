/* The fragment of a residue named as in a PDB file, and its pairs; declared in fragment.h. */
#include "driver/fmo/text.h"
#include "base/arguments.h"
#include "base/harmless.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Space for a name in messages, and for a list of them. */
enum { NAME = 64, LIST = 330 };

/* ---- lists of names for messages ------------------------------------------------------------- */

typedef struct list {
    char text[LIST];
    size_t used;
    int left_out;
} list;

/* Adds a name while there is space. */
static void add_name(list *l, const char *name)
{
    const size_t size = strlen(name);
    if (l->left_out || l->used + size + 2 >= sizeof l->text) {
        l->left_out++;
        return;
    }
    l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s",
                                l->used ? ", " : "", name);
}

static const char *end_of(const list *l, char more[32])
{
    *more = '\0';
    if (l->left_out) snprintf(more, 32, " and %d more", l->left_out);
    return more;
}

/* Returns a fragment's name, or "#7". */
static const char *name_or_number(const fmo_fragment_system *s, int k, char name[FMO_FRAGMENT_NAME])
{
    if (!*fmo_fragment_name(s, k, name)) snprintf(name, FMO_FRAGMENT_NAME, "#%d", k + 1);
    return name;
}

/* The order in which fragments are listed: 0 ligands and ions, 1 others, 2 waters. */
static int rank_of(const fmo_fragment_system *s, int k)
{
    int atoms = 0, protons = 0, hetero = 0;
    for (int a = 0; a < s->atom_num; a++)
        if (s->fragment[a] == k) {
            atoms++;
            protons += s->number[a];
            hetero |= s->label && s->label[a].is_hetero;
        }
    return atoms == 3 && protons == 10 ? 2 : !hetero;
}

/* Lists all fragments; false if there is no memory. */
static bool list_all(const fmo_fragment_system *s, list *l)
{
    char name[FMO_FRAGMENT_NAME];
    char *const rank = malloc((size_t)s->fragment_num);
    if (!rank) return false;
    for (int k = 0; k < s->fragment_num; k++) rank[k] = (char)rank_of(s, k);
    for (int now = 0; now < 3; now++)
        for (int k = 0; k < s->fragment_num; k++)
            if (rank[k] == now) add_name(l, name_or_number(s, k, name));
    free(rank);
    return true;
}

/* ---- a name ---------------------------------------------------------------------------------- */

/* A residue by its name: "A:LIG 401" is chain A and "LIG401". */
typedef struct residue_query {
    char chain; /* 0: any */
    char rest[NAME];
} residue_query;

static residue_query parse(const char *name)
{
    residue_query w = {0, ""};
    size_t used = 0;
    if (*name && name[1] == ':') w.chain = *name, name += 2;
    for (; *name && used + 1 < sizeof w.rest; name++)
        if (*name != ' ' && *name != ':') w.rest[used++] = *name;
    return w;
}

static bool matches(const residue_query *w, const fmo_atom_label *l)
{
    char both[16];
    if (w->chain && w->chain != l->chain) return false;
    snprintf(both, sizeof both, "%.4s%.5s", l->residue, l->place);
    return strcasecmp(w->rest, both) == 0 || strcasecmp(w->rest, l->residue) == 0 ||
           strcasecmp(w->rest, l->place) == 0;
}

static bool same_residue(const fmo_atom_label *a, const fmo_atom_label *b)
{
    return a->chain == b->chain && strcmp(a->residue, b->residue) == 0 &&
           strcmp(a->place, b->place) == 0;
}

/* Returns the fragment with most atoms of begin .. end - 1, the first of several. */
static int fragment_of(const fmo_fragment_system *s, int begin, int end)
{
    int found = s->fragment[begin], largest = 0;
    for (int a = begin; a < end; a++) {
        int count = 0;
        for (int b = begin; b < end; b++) count += s->fragment[b] == s->fragment[a];
        if (count > largest) largest = count, found = s->fragment[a];
    }
    return found;
}

/* Finds the residues of that name. Returns their number of fragments, 2 for several, with the
 * last one in *fragment and all in `names`. */
static int find_residues(const fmo_fragment_system *s, const residue_query *w, int *fragment,
                         list *names)
{
    int found = 0;
    for (int a = 0, end = 0; s->label && a < s->atom_num; a = end) {
        const fmo_atom_label *const l = &s->label[a];
        for (end = a + 1; end < s->atom_num && same_residue(l, &s->label[end]);) end++;
        if (!matches(w, l)) continue;
        char name[NAME];
        const int of = fragment_of(s, a, end);
        snprintf(name, sizeof name, "%.1s%s%.4s%.5s", l->chain == ' ' ? "" : &l->chain,
                 l->chain == ' ' ? "" : ":", l->residue, l->place);
        fmo_text_harmless(name);
        add_name(names, name);
        found = found && of == *fragment ? 1 : found + 1;
        *fragment = of;
    }
    return found;
}

/* Finds fragments by their own names, and numbers "#7"; otherwise as find_residues. */
static int find_names(const fmo_fragment_system *s, const char *name, int *fragment, list *names)
{
    int found = 0;
    for (int k = 0; k < s->fragment_num; k++) {
        char own[FMO_FRAGMENT_NAME], number[NAME];
        snprintf(number, sizeof number, "#%d", k + 1);
        if (strcasecmp(name, number) != 0 &&
            (!*fmo_fragment_name(s, k, own) || strcasecmp(name, own) != 0))
            continue;
        found++;
        *fragment = k;
        add_name(names, number);
    }
    return found;
}

/* Checks the arguments; looks for fragments, then for residues of this name. */
fmo_status fmo_fragment_find(const fmo_fragment_system *system, const char *name, int *fragment,
                             fmo_error *err)
{
    static const char call[] = "fmo_fragment_find";
    char shown[FMO_FRAGMENT_NAME], more[32];
    list names = {.used = 0}, all = {.used = 0};
    int which = -1;
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(system), FMO_GIVEN(name), FMO_GIVEN(fragment));
    if (status == FMO_OK) status = fmo_fragment_system_check(system, err);
    if (status != FMO_OK) return status;
    const residue_query w = parse(name);
    int found = find_names(system, name, &which, &names);
    if (!found && *w.rest) found = find_residues(system, &w, &which, &names);
    if (found == 1) {
        *fragment = which;
        return FMO_OK;
    }
    snprintf(shown, sizeof shown, "%s", name);
    fmo_text_harmless(shown);
    if (found)
        return fmo_error_set(err, FMO_ERR_INPUT, "'%s' is the name of several: %s%s; name one",
                             shown, names.text, end_of(&names, more));
    if (!list_all(system, &all))
        return fmo_error_set(err, FMO_ERR_MEMORY, "%s: no memory for names", call);
    return fmo_error_set(err, FMO_ERR_INPUT, "no fragment or residue is named '%s'; there are %s%s",
                         shown, all.text, end_of(&all, more));
}

/* ---- its pairs ------------------------------------------------------------------------------- */

typedef struct ranked {
    int bonded, pair;
    double size;
} ranked;

static int strongest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->bonded != y->bonded) return x->bonded - y->bonded;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : x->pair - y->pair;
}

/* Collects the pairs that contain the fragment, with the absolute value of their interaction
 * energy, and sorts them. */
fmo_status fmo_fragment_pairs_of(const fmo_fragment_result *result, int fragment, int *pair,
                                 fmo_error *err)
{
    static const char call[] = "fmo_fragment_pairs_of";
    const fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(result), FMO_GIVEN(pair));
    if (status != FMO_OK) return status;
    const int n = result->fragment_num;
    if (fragment < 0 || fragment >= n || !result->pair ||
        result->pair_num != (long long)n * (n - 1) / 2)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%s: fragment = %d of %d, pair_num = %d: expected a fragment from 0, "
                             "and all pairs",
                             call, fragment, n, result->pair_num);
    ranked *const all = malloc((size_t)n * sizeof *all);
    if (!all) return fmo_error_set(err, FMO_ERR_MEMORY, "%s: no memory", call);
    for (int k = 0, at = 0; k < n; k++) {
        if (k == fragment) continue;
        const int i = k < fragment ? k : fragment, j = k < fragment ? fragment : k;
        const int index = j * (j - 1) / 2 + i;
        const fmo_fragment_pair *const p = &result->pair[index];
        all[at++] = (ranked){p->is_bonded != 0, index, isnan(p->total) ? -1.0 : fabs(p->total)};
    }
    qsort(all, (size_t)(n - 1), sizeof *all, strongest_first);
    for (int k = 0; k < n - 1; k++) pair[k] = all[k].pair;
    free(all);
    return FMO_OK;
}
