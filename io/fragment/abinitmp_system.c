/* Makes a fragmented molecule from the groups of an input of ABINIT-MP. */
#include "io/fragment/abinitmp.h"
#include "io/molecule/molecule_internal.h"

#include <stdlib.h>
#include <string.h>

#define LINE(a, line, ...) fmo_text_fail((a)->text, (line), FMO_ERR_INPUT, __VA_ARGS__)

/* Sections of the list in &FRAGMENT: for each fragment its number of atoms, its charge, and the
 * number of cut bonds whose electrons it has; then the atoms of all fragments, then a pair of atoms
 * for each cut bond. */
typedef struct parts {
    const fmo_abinitmp_number *atoms, *charge, *bonds, *members, *pairs;
    int bond_num;
} parts;

/* Checks that fragments and geometry are given, each in one way. */
static fmo_status check_groups(const fmo_abinitmp *a)
{
    if (a->automatic)
        return LINE(a, a->automatic_line,
                    "&FMOCNTRL: AutoFrag='ON': ABINIT-MP's automatic fragments are not made here; "
                    "compute the PDB file itself, or write AutoFrag='OFF' and the list that "
                    "ABINIT-MP prints");
    if (!a->by_hand)
        return LINE(a, 0,
                    "&FMOCNTRL: AutoFrag is missing; expected AutoFrag='OFF', NF and a list "
                    "in &FRAGMENT");
    if (a->fragment_num < 1)
        return LINE(a, a->fragment_num_line,
                    "&FMOCNTRL: NF is %s; expected the number of fragments",
                    a->fragment_num < 0 ? "missing" : "0");
    if (!a->list_num)
        return LINE(a, a->list_line, "&FRAGMENT is %s; expected the list of %ld fragments",
                    a->list_line ? "empty" : "missing", a->fragment_num);
    if (a->geometry && a->atoms)
        return LINE(a, a->geometry_line,
                    "ReadGeom and atoms in &XYZ; which of them count is not documented: keep one");
    if (!a->geometry && !a->atoms)
        return LINE(a, 0, "no geometry; expected ReadGeom='FILE.pdb' in &CNTRL, or atoms in &XYZ");
    return FMO_OK;
}

/* Finds the sections of the list, and checks that its length and the number of atoms are
 * consistent. */
static fmo_status find_parts(const fmo_abinitmp *a, parts *p)
{
    const int n = (int)a->fragment_num, heads = 3 * n;
    long atoms = 0, bonds = 0;
    if (n > a->list_num / 3)
        return LINE(a, a->list_line,
                    "&FRAGMENT has %d numbers; NF=%d: expected atoms, charge and bonds of each "
                    "fragment, its atoms, and a pair of atoms for each cut bond",
                    a->list_num, n);
    p->atoms = a->list;
    p->charge = a->list + n;
    p->bonds = a->list + 2 * (size_t)n;
    for (int f = 0; f < n; f++) {
        if (p->atoms[f].value < 1)
            return LINE(a, p->atoms[f].line, "&FRAGMENT: fragment %d has %d atoms", f + 1,
                        p->atoms[f].value);
        if (p->bonds[f].value < 0)
            return LINE(a, p->bonds[f].line, "&FRAGMENT: fragment %d has %d bonds", f + 1,
                        p->bonds[f].value);
        atoms += p->atoms[f].value, bonds += p->bonds[f].value;
    }
    if (heads + atoms + 2 * bonds != a->list_num)
        return LINE(a, a->list_line,
                    "&FRAGMENT has %d numbers; %d fragments with %ld atoms and %ld cut bonds have "
                    "%ld: check NF and the first %d numbers",
                    a->list_num, n, atoms, bonds, heads + atoms + 2 * bonds, heads);
    p->members = a->list + heads;
    p->pairs = p->members + atoms;
    p->bond_num = (int)bonds;
    if (atoms != a->atoms)
        return LINE(a, a->list_line, "&FRAGMENT has %ld atoms, %s %d", atoms,
                    a->geometry ? "the file of ReadGeom" : "&XYZ", a->atoms);
    if (a->atom_num > 0 && a->atom_num != a->atoms)
        return LINE(a, 0, "&CNTRL: Natom=%ld, but there are %d atoms", a->atom_num, a->atoms);
    return FMO_OK;
}

static fmo_status take_members(const fmo_abinitmp *a, const parts *p, fmo_fragment_system *s)
{
    const fmo_abinitmp_number *m = p->members;
    for (int k = 0; k < s->atom_num; k++) s->fragment[k] = -1;
    for (int f = 0; f < s->fragment_num; f++) {
        for (int k = 0; k < p->atoms[f].value; k++, m++) {
            if (m->value < 1 || m->value > s->atom_num)
                return LINE(a, m->line, "&FRAGMENT: atom %d in fragment %d; there are %d", m->value,
                            f + 1, s->atom_num);
            int *const fragment = &s->fragment[m->value - 1];
            if (*fragment >= 0)
                return LINE(a, m->line, "&FRAGMENT: atom %d is in fragments %d and %d", m->value,
                            *fragment + 1, f + 1);
            *fragment = f;
        }
    }
    return FMO_OK; /* the number is right and none occurs twice, so none is missing */
}

/* Stores the cut bonds: pairs of the detached and the attached atom, whose fragment has the
 * electrons of the bond. */
static fmo_status take_bonds(const fmo_abinitmp *a, const parts *p, fmo_fragment_system *s)
{
    int *found = calloc((size_t)s->fragment_num, sizeof *found);
    fmo_status status = found ? FMO_OK : fmo_fragment_no_memory(a->text);
    s->bond = malloc((2 * (size_t)p->bond_num + 1) * sizeof *s->bond);
    if (!s->bond) status = fmo_fragment_no_memory(a->text);
    for (int b = 0; b < 2 * p->bond_num && status == FMO_OK; b++) {
        const fmo_abinitmp_number *n = &p->pairs[b];
        if (n->value < 1 || n->value > s->atom_num) {
            status = LINE(a, n->line, "&FRAGMENT: a cut bond of atom %d; there are %d", n->value,
                          s->atom_num);
            break;
        }
        s->bond[b] = n->value - 1;
        if (b % 2) found[s->fragment[n->value - 1]]++;
    }
    s->bond_num = p->bond_num;
    for (int f = 0; f < s->fragment_num && status == FMO_OK; f++)
        if (found[f] != p->bonds[f].value)
            status = LINE(a, p->bonds[f].line,
                          "&FRAGMENT: fragment %d has the electrons of %d cut bonds, but %d of the "
                          "pairs have their second atom in it; write a pair as the detached atom, "
                          "then the one whose fragment has the electrons",
                          f + 1, p->bonds[f].value, found[f]);
    free(found);
    return status;
}

/* Stores the charges. In the list, the charge of a fragment counts +1 for each cut bond whose
 * electrons belong to the other fragment, and -1 for each whose electrons it has. In
 * fmo_fragment_system it is the charge of the fragment with whole bonds. */
static fmo_status take_charges(const fmo_abinitmp *a, const parts *p, fmo_fragment_system *s)
{
    fmo_status status = FMO_OK;
    long total = 0;
    int *protons = calloc((size_t)s->fragment_num, sizeof *protons);
    if (!protons) return fmo_fragment_no_memory(a->text);
    for (int k = 0; k < s->atom_num; k++) protons[s->fragment[k]] += s->number[k];
    for (int f = 0; f < s->fragment_num; f++) {
        const int charge = p->charge[f].value;
        s->charge[f] = charge;
        total += charge;
        if (status == FMO_OK && (protons[f] - charge) % 2)
            status =
                LINE(a, p->charge[f].line,
                     "&FRAGMENT: fragment %d has %d protons and charge %d, so an odd number "
                     "of electrons; only closed shells are supported. Its charge counts +1 for "
                     "each cut bond whose electrons are elsewhere, -1 for each that it has",
                     f + 1, protons[f], charge);
    }
    free(protons);
    for (int b = 0; b < s->bond_num; b++) {
        s->charge[s->fragment[s->bond[2 * b]]]--;
        s->charge[s->fragment[s->bond[2 * b + 1]]]++;
    }
    if (status == FMO_OK && a->charge_line && total != a->charge)
        return LINE(a, a->charge_line,
                    "&CNTRL: Charge=%ld, but the charges in &FRAGMENT sum up to %ld", a->charge,
                    total);
    return status;
}

/* Names each fragment after the residue with the longest run of atoms in it. */
static fmo_status name_fragments(const fmo_abinitmp *a, fmo_fragment_system *s)
{
    typedef struct best {
        int residue, count, best, best_atom;
    } best;
    best *names = calloc((size_t)s->fragment_num, sizeof *names);
    fmo_status status = names ? FMO_OK : fmo_fragment_no_memory(a->text);
    for (int k = 0; k < s->atom_num && names; k++) {
        best *b = &names[s->fragment[k]];
        if (!b->count || b->residue != a->atom[k].residue) b->count = 0;
        b->residue = a->atom[k].residue;
        if (++b->count > b->best) b->best = b->count, b->best_atom = k;
    }
    for (int f = 0; f < s->fragment_num && status == FMO_OK; f++) {
        const char *label = a->atom[names[f].best_atom].label;
        if (label[0] && label[2]) /* after "A:" */
            status = fmo_fragment_set_name(a->text, s, f, a->chains ? label : label + 2);
    }
    free(names);
    return status;
}

/* Checks and combines all groups, and reads the PDB file if there is one. */
fmo_status fmo_abinitmp_system(fmo_abinitmp *a, fmo_fragment_system *s)
{
    parts p = {0};
    fmo_status status = check_groups(a);
    if (status == FMO_OK && a->geometry) status = fmo_abinitmp_read_pdb(a);
    if (status == FMO_OK) status = find_parts(a, &p);
    if (status == FMO_OK) status = fmo_fragment_make(a->text, a->atoms, (int)a->fragment_num, s);
    if (status != FMO_OK) return status;
    s->geometry = a->read;
    a->read = NULL;
    s->bohr = FMO_ABINITMP_BOHR;
    s->label = s->geometry ? calloc((size_t)s->atom_num, sizeof *s->label) : NULL;
    if (s->geometry && !s->label) return fmo_fragment_no_memory(a->text);
    for (int k = 0; k < s->atom_num; k++) {
        if (s->label) s->label[k] = a->atom[k].names;
        s->number[k] = a->atom[k].number;
        for (int x = 0; x < 3; x++) s->coord[3 * k + x] = a->atom[k].angstrom[x] / s->bohr;
    }
    s->aoc_from = a->laoc;
    s->ptc_from = a->lptc;
    s->es_dimers_from = a->ldimer;
    if (*a->basis && !a->diffuse) {
        s->basis = strdup(a->basis);
        if (!s->basis) return fmo_fragment_no_memory(a->text);
    }
    status = take_members(a, &p, s);
    if (status == FMO_OK) status = take_bonds(a, &p, s);
    if (status == FMO_OK) status = take_charges(a, &p, s);
    return status == FMO_OK && a->geometry ? name_fragments(a, s) : status;
}
