/* Divides the chains of a PDB file into fragments by cutting bonds CA-C: the fragment of residue k
 * holds C and O of residue k - 1. Next: docs/reference/fmo.md. */
#include "io/fragment/pdb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest bonds that are recognised, in angstrom; a peptide bond is 1.33, a disulfide bridge
 * 2.05. */
#define PEPTIDE_MAX 2.0
#define BRIDGE_MAX  2.5

/* A complete cysteine has at least 10 atoms; an incomplete one gets no bridge and is rejected
 * later. */
enum { CYSTEINE_MIN = 8 };

#define INPUT(pdb, line, ...) fmo_text_fail((pdb)->text, (line), FMO_ERR_INPUT, __VA_ARGS__)

/* Returns the first atom with this name that is not a hydrogen, or -1. */
static int find_atom(const fmo_pdb *pdb, const fmo_pdb_residue *r, const char *name)
{
    for (int a = r->first; a < r->first + r->count; a++)
        if (pdb->atom[a].number != 1 && strcmp(pdb->atom[a].name, name) == 0) return a;
    return -1;
}

static bool in_chain(const fmo_pdb_residue *r)
{
    return r->kind == FMO_PDB_AMINO || r->kind == FMO_PDB_FIRST || r->kind == FMO_PDB_LAST;
}

/* Adds the peptide bond between two consecutive residues, unless one chain ends and another
 * begins. */
static fmo_status link_peptide(fmo_pdb *pdb, int i, int j)
{
    fmo_pdb_residue *a = &pdb->residue[i], *b = &pdb->residue[j];
    char one[FMO_PDB_LABEL], other[FMO_PDB_LABEL];
    if (a->chain != b->chain || a->segment != b->segment || a->kind == FMO_PDB_LAST ||
        b->kind == FMO_PDB_FIRST)
        return FMO_OK;
    if (a->c < 0 || b->n < 0)
        return INPUT(pdb, a->c < 0 ? a->line : b->line,
                     "%s has no %s, an atom of the backbone; complete it",
                     fmo_pdb_label(a->c < 0 ? a : b, one), a->c < 0 ? "C" : "N");
    const double distance = fmo_pdb_distance(pdb, a->c, b->n);
    if (distance > PEPTIDE_MAX)
        return INPUT(pdb, b->line,
                     "the chain is broken: C of %s and N of %s are %.2f angstrom apart; add what "
                     "is missing, or a TER line between them if each is a chain with its ends",
                     fmo_pdb_label(a, one), fmo_pdb_label(b, other), distance);
    a->next = j;
    b->previous = i;
    return FMO_OK;
}

/* Finds disulfide bridges among the `n` residues of a list. */
static fmo_status link_bridges(fmo_pdb *pdb, const int *list, int n)
{
    char label[FMO_PDB_LABEL];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            fmo_pdb_residue *a = &pdb->residue[list[i]], *b = &pdb->residue[list[j]];
            if (fmo_pdb_distance(pdb, a->sg, b->sg) > BRIDGE_MAX) continue;
            if (a->partner >= 0 || b->partner >= 0)
                return INPUT(pdb, a->line, "SG of %s is within %g angstrom of two others",
                             fmo_pdb_label(a->partner >= 0 ? a : b, label), BRIDGE_MAX);
            a->partner = list[j];
            b->partner = list[i];
        }
    return FMO_OK;
}

/* Finds the peptide bonds and disulfide bridges, and checks that each cap is bound to a chain. */
fmo_status fmo_pdb_link(fmo_pdb *pdb)
{
    fmo_status status = FMO_OK;
    int last = -1, n = 0;
    int *cysteines = malloc((size_t)pdb->residue_num * sizeof *cysteines);
    if (!cysteines) return fmo_fragment_no_memory(pdb->text);
    for (int k = 0; k < pdb->residue_num && status == FMO_OK; k++) {
        fmo_pdb_residue *r = &pdb->residue[k];
        r->n = find_atom(pdb, r, "N");
        r->c = find_atom(pdb, r, "C");
        r->sg = r->kind == FMO_PDB_AMINO && r->count >= CYSTEINE_MIN ? find_atom(pdb, r, "SG") : -1;
        if (r->sg >= 0) cysteines[n++] = k;
        if (!in_chain(r)) continue;
        if (last >= 0) status = link_peptide(pdb, last, k);
        last = k;
    }
    if (status == FMO_OK) status = link_bridges(pdb, cysteines, n);
    for (int k = 0; k < pdb->residue_num && status == FMO_OK; k++) {
        const fmo_pdb_residue *r = &pdb->residue[k];
        char label[FMO_PDB_LABEL];
        if ((r->kind == FMO_PDB_FIRST && r->next < 0) ||
            (r->kind == FMO_PDB_LAST && r->previous < 0))
            status = INPUT(pdb, r->line, "%s caps no chain; remove it", fmo_pdb_label(r, label));
    }
    free(cysteines);
    return status;
}

/* ---- fragments ------------------------------------------------------------------------------- */

/* Returns the representative (first) residue of a joined set, halving the path to it
 * (union-find). */
static int root(int *joined, int k)
{
    while (joined[k] != k) k = joined[k] = joined[joined[k]];
    return k;
}

/* Joins the residues of each fragment, then numbers the fragments. Returns the number of
 * fragments. */
static int number_fragments(fmo_pdb *pdb, int residues, int *joined)
{
    int count = 0, fragments = 0;
    for (int k = 0; k < pdb->residue_num; k++) joined[k] = k;
    for (int k = 0; k < pdb->residue_num; k++) {
        const fmo_pdb_residue *r = &pdb->residue[k];
        if (!in_chain(r)) continue;
        const bool capped = r->previous >= 0 && pdb->residue[r->previous].kind == FMO_PDB_FIRST;
        if (r->previous < 0 || count >= residues) count = 0;
        if (r->previous >= 0 && (count || capped)) joined[k] = root(joined, r->previous);
        count += r->kind != FMO_PDB_FIRST;
    }
    for (int k = 0; k < pdb->residue_num; k++) {
        const int partner = pdb->residue[k].partner;
        if (partner < 0 || partner > k) continue;
        const int a = root(joined, k), b = root(joined, partner);
        joined[a < b ? b : a] = a < b ? a : b;
    }
    for (int k = 0; k < pdb->residue_num; k++) {
        const int first = root(joined, k);
        pdb->residue[k].fragment = first == k ? fragments++ : pdb->residue[first].fragment;
    }
    return fragments;
}

/* Returns true if the bond from CA to C of this residue is cut. */
static bool is_cut(const fmo_pdb *pdb, const fmo_pdb_residue *r)
{
    return r->kind == FMO_PDB_AMINO && r->next >= 0 &&
           pdb->residue[r->next].fragment != r->fragment;
}

/* Name of a fragment under construction: consecutive residues are written "GLY2-ALA4", others
 * "CYS3+CYS40". */
typedef struct name {
    char text[FMO_PDB_LABEL];
    size_t base; /* length of the text without the end of the current run */
    int last;    /* residue added last */
    bool full;
} name;

static void grow_name(name *n, const fmo_pdb *pdb, int k, bool chains)
{
    const fmo_pdb_residue *r = &pdb->residue[k];
    const bool run = n->base && n->last == k - 1;
    char label[24], more[] = "+...";
    snprintf(label, sizeof label, "%s%.*s%s%s%s", n->base ? run ? "-" : "+" : "",
             chains && !run ? 1 : 0, &r->chain, chains && !run ? ":" : "", r->name, r->place);
    n->last = k;
    if (n->full) return;
    if (!run) n->base = strlen(n->text);
    n->full = n->base + strlen(label) + sizeof more > sizeof n->text;
    strcpy(n->text + n->base, n->full ? more : label);
    if (!run) n->base += strlen(label);
}

static fmo_status name_fragments(const fmo_pdb *pdb, fmo_fragment_system *s)
{
    name *names = calloc((size_t)s->fragment_num, sizeof *names);
    fmo_status status = names ? FMO_OK : fmo_fragment_no_memory(pdb->text);
    bool chains = false;
    for (int k = 1; k < pdb->residue_num; k++)
        if (pdb->residue[k].chain != pdb->residue[0].chain) chains = true;
    for (int k = 0; k < pdb->residue_num && status == FMO_OK; k++)
        grow_name(&names[pdb->residue[k].fragment], pdb, k, chains);
    for (int f = 0; f < s->fragment_num && status == FMO_OK; f++)
        status = fmo_fragment_set_name(pdb->text, s, f, names[f].text);
    free(names);
    return status;
}

static fmo_atom_label label_of(const fmo_pdb_residue *r, const fmo_pdb_atom *atom)
{
    fmo_atom_label label = {.chain = r->chain, .is_hetero = atom->hetero};
    memcpy(label.name, atom->name, sizeof label.name);
    memcpy(label.residue, r->name, sizeof label.residue);
    memcpy(label.place, r->place, sizeof label.place);
    return label;
}

/* Assigns atoms to fragments, moves C and O at cut bonds to the next fragment, and lists the cut
 * bonds. */
fmo_status fmo_pdb_cut(fmo_pdb *pdb, int residues, fmo_fragment_system *s)
{
    int *joined = malloc((size_t)pdb->residue_num * sizeof *joined);
    if (!joined) return fmo_fragment_no_memory(pdb->text);
    const int fragments = number_fragments(pdb, residues, joined);
    free(joined);
    fmo_status status = fmo_fragment_make(pdb->text, pdb->atom_num, fragments, s);
    s->bond = malloc(2 * (size_t)pdb->residue_num * sizeof *s->bond);
    s->label = calloc((size_t)pdb->atom_num, sizeof *s->label);
    if (status == FMO_OK && (!s->bond || !s->label)) status = fmo_fragment_no_memory(pdb->text);
    if (status != FMO_OK) return status;
    for (int k = 0; k < pdb->residue_num; k++) {
        const fmo_pdb_residue *r = &pdb->residue[k];
        s->charge[r->fragment] += r->charge;
        for (int a = r->first; a < r->first + r->count; a++) {
            s->number[a] = pdb->atom[a].number;
            s->fragment[a] = r->fragment;
            s->label[a] = label_of(r, &pdb->atom[a]);
            for (int x = 0; x < 3; x++) s->coord[3 * a + x] = pdb->atom[a].angstrom[x] / s->bohr;
        }
        if (!is_cut(pdb, r)) continue;
        const int fragment = pdb->residue[r->next].fragment;
        s->fragment[r->c] = s->fragment[find_atom(pdb, r, "O")] = fragment;
        s->bond[2 * s->bond_num] = find_atom(pdb, r, "CA");
        s->bond[2 * s->bond_num++ + 1] = r->c;
    }
    return name_fragments(pdb, s);
}
