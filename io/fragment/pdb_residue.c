/* Determines the charge of a residue of a PDB file by comparing its atoms with the table
 * (pdb_table.c). Hydrogens have many naming schemes; each is counted at the nearest other atom
 * instead. */
#include "io/fragment/pdb.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 20 };

/* Longest bond to a hydrogen, in angstrom; S-H is 1.34. */
#define HYDROGEN_MAX 1.5

/* ---- one residue ----------------------------------------------------------------------------- */

typedef enum role { FIXED, SIDE, AMINE, ACID } role;

typedef struct slot {
    char name[5];
    int hydrogens; /* expected number, for role FIXED */
    int found;
    role role;
    int atom; /* index of the atom; -1: not found yet */
} slot;

typedef struct form {
    slot slot[SLOTS];
    int slot_num;
} form;

static void add_slot(form *f, const char *name, size_t size, int hydrogens, role part)
{
    slot *s = &f->slot[f->slot_num++];
    *s = (slot){.hydrogens = hydrogens, .role = part, .atom = -1};
    memcpy(s->name, name, size);
}

/* Lists the atoms that a residue has at its position: at an end of the chain, or inside. */
static void fill_form(const fmo_pdb_residue *r, form *f)
{
    const fmo_pdb_template *t = r->template;
    f->slot_num = 0;
    if (t->kind == FMO_PDB_AMINO) {
        add_slot(f, "N", 1, strcmp(t->name, "PRO") != 0, r->previous < 0 ? AMINE : FIXED);
        add_slot(f, "CA", 2, strcmp(t->name, "GLY") == 0 ? 2 : 1, FIXED);
        add_slot(f, "C", 1, 0, FIXED);
        add_slot(f, "O", 1, 0, r->next < 0 ? ACID : FIXED);
        if (r->next < 0) add_slot(f, "OXT", 3, 0, ACID);
    }
    for (const char *at = t->atoms; *at;) {
        const size_t size = strcspn(at, ":");
        const char count = at[size + 1];
        add_slot(f, at, size, count == '*' ? 0 : count - '0', count == '*' ? SIDE : FIXED);
        at += size + 2;
        at += *at == ' ';
    }
}

static slot *find_slot(form *f, const fmo_pdb_residue *r, const char *name)
{
    name = fmo_pdb_atom_name(r, name);
    for (int i = 0; i < f->slot_num; i++)
        if (strcmp(f->slot[i].name, name) == 0) return &f->slot[i];
    return NULL;
}

#define INPUT(pdb, line, ...) fmo_text_fail((pdb)->text, (line), FMO_ERR_INPUT, __VA_ARGS__)

/* Assigns the heavy (non-hydrogen) atoms to their slots, which must all be filled. */
static fmo_status take_atoms(const fmo_pdb *pdb, const fmo_pdb_residue *r, form *f)
{
    char label[FMO_PDB_LABEL];
    for (int a = r->first; a < r->first + r->count; a++) {
        const fmo_pdb_atom *atom = &pdb->atom[a];
        if (atom->number == 1) continue;
        slot *s = find_slot(f, r, atom->name);
        if (!s || fmo_pdb_element(r->template, r->kind, s->name) != atom->number)
            return INPUT(pdb, atom->line,
                         "atom %s (%s) of %s is not one of such a residue%s; name it as the PDB "
                         "does, or remove it",
                         atom->name, fmo_element_symbol(atom->number), fmo_pdb_label(r, label),
                         strcmp(atom->name, "OXT") == 0 ? " inside a chain" : "");
        if (s->atom >= 0)
            return INPUT(pdb, atom->line, "atom %s of %s is given twice; remove one", atom->name,
                         fmo_pdb_label(r, label));
        s->atom = a;
    }
    for (int i = 0; i < f->slot_num; i++)
        if (f->slot[i].atom < 0)
            return INPUT(pdb, r->line, "%s has no %s%s; complete it", fmo_pdb_label(r, label),
                         f->slot[i].name,
                         strcmp(f->slot[i].name, "OXT") == 0 ? ", and its chain ends there"
                         : i < 4 && r->kind == FMO_PDB_AMINO ? ", an atom of the backbone"
                                                             : "");
    return FMO_OK;
}

/* Counts each hydrogen at its nearest atom. */
static fmo_status take_hydrogens(const fmo_pdb *pdb, const fmo_pdb_residue *r, form *f)
{
    char label[FMO_PDB_LABEL];
    for (int a = r->first; a < r->first + r->count; a++) {
        if (pdb->atom[a].number != 1) continue;
        slot *nearest = NULL;
        double least = HYDROGEN_MAX;
        for (int i = 0; i < f->slot_num; i++) {
            const double distance = fmo_pdb_distance(pdb, a, f->slot[i].atom);
            if (distance < least) nearest = &f->slot[i], least = distance;
        }
        if (!nearest)
            return INPUT(pdb, pdb->atom[a].line,
                         "hydrogen %s of %s is farther than %g angstrom from all other atoms of "
                         "it; put it right",
                         pdb->atom[a].name, fmo_pdb_label(r, label), HYDROGEN_MAX);
        nearest->found++;
    }
    return FMO_OK;
}

/* Adds the charge of the atoms of a role, whose number of hydrogens must be that of one of two
 * states. */
static fmo_status find_state(const fmo_pdb *pdb, const fmo_pdb_residue *r, const form *f, role part,
                             const fmo_pdb_state states[FMO_PDB_STATES], int *charge)
{
    char label[FMO_PDB_LABEL], names[40] = "";
    int found = 0;
    for (int i = 0; i < f->slot_num; i++) {
        if (f->slot[i].role != part) continue;
        const size_t used = strlen(names);
        found += f->slot[i].found;
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", f->slot[i].name);
    }
    for (int k = 0; k < FMO_PDB_STATES && *names; k++)
        if (found == states[k].hydrogens) {
            *charge += states[k].charge;
            return FMO_OK;
        }
    if (!*names) return FMO_OK;
    const int low = states[0].hydrogens < states[1].hydrogens ? 0 : 1;
    if (states[0].hydrogens == states[1].hydrogens)
        return INPUT(pdb, r->line, "%s has %d hydrogens at %s; expected %d: put hydrogens right",
                     fmo_pdb_label(r, label), found, names, states[0].hydrogens);
    return INPUT(pdb, r->line, "%s has %d hydrogens at %s; expected %d or %d: %s",
                 fmo_pdb_label(r, label), found, names, states[low].hydrogens,
                 states[!low].hydrogens,
                 found < states[low].hydrogens ? "add hydrogens" : "remove hydrogens");
}

/* Checks that there are hydrogens, and that atoms of role FIXED have the expected number. */
static fmo_status check_hydrogens(const fmo_pdb *pdb, const fmo_pdb_residue *r, const form *f)
{
    char label[FMO_PDB_LABEL];
    int found = 0, expected = 0;
    for (int i = 0; i < f->slot_num; i++) {
        found += f->slot[i].found;
        expected += f->slot[i].hydrogens;
    }
    if (!found && expected)
        return INPUT(pdb, r->line,
                     "%s has no hydrogens; add them with a program that prepares structures",
                     fmo_pdb_label(r, label));
    for (int i = 0; i < f->slot_num; i++) {
        const slot *s = &f->slot[i];
        if (s->role == FIXED && s->found != s->hydrogens)
            return INPUT(pdb, r->line, "%s has %d hydrogens at %s; expected %d: %s hydrogens",
                         fmo_pdb_label(r, label), s->found, s->name, s->hydrogens,
                         s->found < s->hydrogens ? "add" : "remove");
    }
    return FMO_OK;
}

static fmo_status check_ion(const fmo_pdb *pdb, fmo_pdb_residue *r)
{
    char label[FMO_PDB_LABEL];
    const char *element = r->template->atoms;
    r->charge = r->template->states[0].charge;
    if (r->count != 1 || pdb->atom[r->first].number != fmo_element_number(element, strlen(element)))
        return INPUT(pdb, r->line, "%s: expected one atom of an ion, %s; give each ion a number",
                     fmo_pdb_label(r, label), r->template->name);
    return FMO_OK;
}

/* Assigns atoms and hydrogens, and adds the charges of side chain, amino and carboxyl end. */
fmo_status fmo_pdb_find_charge(const fmo_pdb *pdb, fmo_pdb_residue *r)
{
    static const fmo_pdb_state acid[FMO_PDB_STATES] = {{0, -1}, {1, 0}},
                               bridge[FMO_PDB_STATES] = {{0, 0}, {0, 0}};
    char label[FMO_PDB_LABEL];
    form f;
    if (r->kind == FMO_PDB_ION) return check_ion(pdb, r);
    if (r->kind == FMO_PDB_LIGAND) return fmo_pdb_check_ligand(pdb, r);
    const fmo_pdb_template *const t = r->template;
    fill_form(r, &f);
    r->charge = 0;
    const int amine = 2 + (strcmp(t->name, "PRO") != 0);
    const fmo_pdb_state ammonium[FMO_PDB_STATES] = {{amine, 1}, {amine - 1, 0}};
    fmo_status status = take_atoms(pdb, r, &f);
    if (status == FMO_OK) status = take_hydrogens(pdb, r, &f);
    if (status == FMO_OK) status = check_hydrogens(pdb, r, &f);
    if (status == FMO_OK)
        status = find_state(pdb, r, &f, SIDE, r->partner < 0 ? t->states : bridge, &r->charge);
    if (status == FMO_OK) status = find_state(pdb, r, &f, AMINE, ammonium, &r->charge);
    if (status == FMO_OK) status = find_state(pdb, r, &f, ACID, acid, &r->charge);
    if (status == FMO_OK && strcmp(r->name, "CYX") == 0 && r->partner < 0)
        return INPUT(pdb, r->line,
                     "%s has no other SG within 2.5 angstrom of its own; name it CYS "
                     "with a hydrogen, or put the bridge right",
                     fmo_pdb_label(r, label));
    return status;
}
