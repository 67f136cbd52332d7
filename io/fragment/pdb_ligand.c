/* Ligands of PDB files: residues that are not in the table (pdb_table.c), whose charges, and bonds
 * by names of atoms, a JSON file gives (docs/reference/fmo.md):
 *     {"LIG": {"charge": -1, "bonds": [["C1", "O1"], ["C1", "O2"], ...]}, ...}
 * A ligand is one fragment. Bonds are not cut; they tell which atoms belong to it. */
#include "io/fragment/fragment_json.h"
#include "io/fragment/pdb.h"
#include "io/molecule/molecule_internal.h"

#include <stdlib.h>
#include <string.h>

enum { CHARGE_MAX = 100, BONDS_MAX = 10000 };

/* Longest bond of a hydrogen and between two other atoms, in angstrom; and the distance from which
 * on atoms of a ligand and of another residue have no bond. Hydrogen bonds are longer than 2.3
 * angstrom between heavy atoms. */
#define HYDROGEN_MAX 1.8
#define BOND_MAX     3.0
#define STRANGER     2.0

/* ---- the file ------------------------------------------------------------------------------- */

#define FILE_FAIL(text, ...) fmo_text_fail((text), 0, FMO_ERR_INPUT, __VA_ARGS__)

/* Copies a name of 1 to 4 printable characters without blanks; returns false if it is not one. */
static bool take_name(const char *text, char name[5])
{
    const size_t size = text ? strlen(text) : 0;
    if (size < 1 || size > 4) return false;
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~') return false;
    memcpy(name, text, size + 1);
    return true;
}

/* Reads one bond, which may not repeat an earlier one. */
static fmo_status read_bond(const fmo_text *text, const json_t *pair, int b, fmo_pdb_ligand *l)
{
    char(*const atom)[5] = l->bond[b].atom;
    if (json_array_size(pair) != 2 ||
        !take_name(json_string_value(json_array_get(pair, 0)), atom[0]) ||
        !take_name(json_string_value(json_array_get(pair, 1)), atom[1]))
        return FILE_FAIL(text,
                         "%s: bonds[%d]: expected two names of atoms, such as [\"C1\", \"O1\"]",
                         l->name, b);
    if (strcmp(atom[0], atom[1]) == 0)
        return FILE_FAIL(text, "%s: bonds[%d]: %s is bound to itself; expected two atoms", l->name,
                         b, atom[0]);
    for (int c = 0; c < b; c++)
        for (int turned = 0; turned < 2; turned++)
            if (strcmp(l->bond[c].atom[turned], atom[0]) == 0 &&
                strcmp(l->bond[c].atom[!turned], atom[1]) == 0)
                return FILE_FAIL(text,
                                 "%s: bonds[%d]: %s and %s are bound by bonds[%d], too; "
                                 "remove one",
                                 l->name, b, atom[0], atom[1], c);
    return FMO_OK;
}

/* Reads the description of one ligand. */
static fmo_status read_ligand(const fmo_text *text, const char *name, const json_t *entry,
                              fmo_pdb_ligand *l)
{
    static const char *const known[] = {"charge", "bonds", "note", NULL};
    char quote[FMO_QUOTE_SIZE];
    fmo_pdb_kind kind;
    if (!take_name(name, l->name))
        return FILE_FAIL(text, "'%s': expected the name of a residue, 1 to 4 characters",
                         fmo_json_quote(name, quote));
    if (fmo_pdb_find_template(l->name, &kind))
        return FILE_FAIL(text,
                         "%s is a residue that fmo knows; give the ligand another name in "
                         "both files, or remove it here",
                         l->name);
    if (!json_is_object(entry))
        return FILE_FAIL(text, "%s: expected an object with charge and bonds", l->name);
    const char *unknown = fmo_json_unknown(entry, known);
    if (unknown)
        return FILE_FAIL(text, "%s: %s is not known; expected charge, bonds or note", l->name,
                         fmo_json_quote(unknown, quote));
    const json_t *charge = json_object_get(entry, "charge"),
                 *bonds = json_object_get(entry, "bonds");
    const json_int_t value = json_integer_value(charge);
    if (!json_is_integer(charge) || value < -CHARGE_MAX || value > CHARGE_MAX)
        return FILE_FAIL(text, "%s: charge: expected an integer from -%d to %d", l->name,
                         CHARGE_MAX, CHARGE_MAX);
    l->charge = (int)value;
    if (!bonds) return FMO_OK;
    const size_t count = json_array_size(bonds);
    if (count < 1 || count > BONDS_MAX)
        return FILE_FAIL(text, "%s: bonds: expected an array of 1 to %d pairs of names of atoms",
                         l->name, BONDS_MAX);
    l->bond = calloc(count, sizeof *l->bond);
    if (!l->bond) return fmo_fragment_no_memory(text);
    l->bond_num = (int)count;
    fmo_status status = FMO_OK;
    for (int b = 0; b < l->bond_num && status == FMO_OK; b++)
        status = read_bond(text, json_array_get(bonds, (size_t)b), b, l);
    return status;
}

static fmo_status read_document(const fmo_text *text, json_t *document, fmo_pdb *pdb)
{
    const size_t count = json_object_size(document);
    const char *name;
    json_t *entry;
    fmo_status status = FMO_OK;
    if (!count)
        return FILE_FAIL(text, "expected an object with the names of residues, such as "
                               "{\"LIG\": {\"charge\": -1}}");
    pdb->ligand = calloc(count, sizeof *pdb->ligand);
    if (!pdb->ligand) return fmo_fragment_no_memory(text);
    json_object_foreach(document, name, entry)
    {
        if (status == FMO_OK)
            status = read_ligand(text, name, entry, &pdb->ligand[pdb->ligand_num++]);
    }
    return status;
}

fmo_status fmo_pdb_read_ligands(fmo_pdb *pdb)
{
    fmo_text text;
    json_t *document = NULL;
    fmo_status status = fmo_text_read(&text, pdb->ligand_path, FMO_FRAGMENT_BYTES_MAX,
                                      "ligands in JSON", pdb->text->err);
    if (status == FMO_OK) status = fmo_text_json(&text, "", &document);
    if (status == FMO_OK) status = read_document(&text, document, pdb);
    json_decref(document);
    fmo_text_close(&text);
    return status;
}

void fmo_pdb_free_ligands(fmo_pdb *pdb)
{
    for (int k = 0; k < pdb->ligand_num; k++) free(pdb->ligand[k].bond);
    free(pdb->ligand);
}

const fmo_pdb_ligand *fmo_pdb_find_ligand(fmo_pdb *pdb, const char *name)
{
    for (int k = 0; k < pdb->ligand_num; k++)
        if (strcmp(pdb->ligand[k].name, name) == 0) {
            pdb->ligand[k].found = true;
            return &pdb->ligand[k];
        }
    return NULL;
}

/* ---- a residue ------------------------------------------------------------------------------ */

#define INPUT(pdb, line, ...) fmo_text_fail((pdb)->text, (line), FMO_ERR_INPUT, __VA_ARGS__)

static int find_atom(const fmo_pdb *pdb, const fmo_pdb_residue *r, const char *name)
{
    for (int a = r->first; a < r->first + r->count; a++)
        if (strcmp(pdb->atom[a].name, name) == 0) return a;
    return -1;
}

/* Finds both atoms of a bond and checks their distance. */
static fmo_status check_bond(const fmo_pdb *pdb, const fmo_pdb_residue *r, int b, int atom[2])
{
    char label[FMO_PDB_LABEL];
    for (int side = 0; side < 2; side++) {
        const char *const name = r->ligand->bond[b].atom[side];
        atom[side] = find_atom(pdb, r, name);
        if (atom[side] < 0)
            return INPUT(pdb, r->line,
                         "%s has no atom %s, which bonds[%d] of %s has; add the atom, or put the "
                         "bonds right",
                         fmo_pdb_label(r, label), name, b, pdb->ligand_path);
    }
    const fmo_pdb_atom *const one = &pdb->atom[atom[0]], *const other = &pdb->atom[atom[1]];
    const double distance = fmo_pdb_distance(pdb, atom[0], atom[1]);
    if (distance > (one->number == 1 || other->number == 1 ? HYDROGEN_MAX : BOND_MAX))
        return INPUT(pdb, other->line,
                     "%s and %s of %s are %.2f angstrom apart, too far for the bond that %s has "
                     "between them; put one of the files right",
                     one->name, other->name, fmo_pdb_label(r, label), distance, pdb->ligand_path);
    return FMO_OK;
}

/* Checks that the bonds join all atoms of the residue into one molecule. joined: [r->count]
 * workspace */
static fmo_status check_bonds(const fmo_pdb *pdb, const fmo_pdb_residue *r, int *joined)
{
    char label[FMO_PDB_LABEL];
    for (int i = 0; i < r->count; i++) {
        const fmo_pdb_atom *atom = &pdb->atom[r->first + i];
        joined[i] = i;
        if (find_atom(pdb, r, atom->name) != r->first + i)
            return INPUT(pdb, atom->line,
                         "atom %s of %s is given twice; names of a ligand's atoms "
                         "must differ",
                         atom->name, fmo_pdb_label(r, label));
    }
    for (int b = 0; b < r->ligand->bond_num; b++) {
        int atom[2];
        const fmo_status status = check_bond(pdb, r, b, atom);
        if (status != FMO_OK) return status;
        const int from = joined[atom[1] - r->first], to = joined[atom[0] - r->first];
        for (int i = 0; i < r->count; i++)
            if (joined[i] == from) joined[i] = to;
    }
    for (int i = 1; i < r->count; i++)
        if (joined[i] != joined[0])
            return INPUT(pdb, pdb->atom[r->first + i].line,
                         "the bonds of %s do not join atom %s of %s to %s; add what is missing, or "
                         "remove the atom",
                         pdb->ligand_path, pdb->atom[r->first + i].name, fmo_pdb_label(r, label),
                         pdb->atom[r->first].name);
    return FMO_OK;
}

/* Checks that the number of electrons is even. */
static fmo_status check_electrons(const fmo_pdb *pdb, const fmo_pdb_residue *r)
{
    char label[FMO_PDB_LABEL];
    int electrons = -r->charge, hydrogens = 0;
    for (int a = r->first; a < r->first + r->count; a++) {
        electrons += pdb->atom[a].number;
        hydrogens += pdb->atom[a].number == 1;
    }
    if (electrons > 0 && electrons % 2 == 0) return FMO_OK;
    return INPUT(pdb, r->line,
                 "%s has %d electrons with the charge %d of %s and %d hydrogens; expected an even "
                 "number: put hydrogens or charge right",
                 fmo_pdb_label(r, label), electrons, r->charge, pdb->ligand_path, hydrogens);
}

/* Checks that no heavy atom of another residue is as near as a bond. Ions may be: their bonds to a
 * ligand are not cut, either. */
static fmo_status check_strangers(const fmo_pdb *pdb, const fmo_pdb_residue *r)
{
    char label[FMO_PDB_LABEL], other[FMO_PDB_LABEL];
    for (int b = 0; b < pdb->atom_num; b++) {
        const fmo_pdb_residue *const residue = &pdb->residue[pdb->atom[b].residue];
        if (residue == r || residue->kind == FMO_PDB_ION || pdb->atom[b].number == 1) continue;
        for (int a = r->first; a < r->first + r->count; a++) {
            if (pdb->atom[a].number == 1 || fmo_pdb_distance(pdb, a, b) > STRANGER) continue;
            return INPUT(pdb, pdb->atom[a].line,
                         "%s of %s is %.2f angstrom from %s of %s: bonds between a ligand and "
                         "another residue cannot be cut; write the fragments as JSON "
                         "(docs/reference/fmo.md)",
                         pdb->atom[a].name, fmo_pdb_label(r, label), fmo_pdb_distance(pdb, a, b),
                         pdb->atom[b].name, fmo_pdb_label(residue, other));
        }
    }
    return FMO_OK;
}

fmo_status fmo_pdb_check_ligand(const fmo_pdb *pdb, fmo_pdb_residue *r)
{
    fmo_status status = FMO_OK;
    r->charge = r->ligand->charge;
    if (r->ligand->bond_num) {
        int *const joined = malloc((size_t)r->count * sizeof *joined);
        status = joined ? check_bonds(pdb, r, joined) : fmo_fragment_no_memory(pdb->text);
        free(joined);
    }
    if (status == FMO_OK) status = check_electrons(pdb, r);
    return status == FMO_OK ? check_strangers(pdb, r) : status;
}
