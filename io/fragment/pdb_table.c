/* Residues of PDB files: their atoms and hydrogens, and the charges of their protonation states.
 * Atom names follow version 3 of the format. */
#include "io/fragment/pdb.h"
#include "io/molecule/molecule_internal.h"

#include <string.h>

#define ONE      \
    {            \
        {0, 0},  \
        {        \
            0, 0 \
        }        \
    }
#define TWO(h, q, i, p) \
    {                   \
        {h, q},         \
        {               \
            i, p        \
        }               \
    }

static const fmo_pdb_template templates[] = {
    {"ALA", FMO_PDB_AMINO, "CB:3", ONE},
    {"ARG", FMO_PDB_AMINO, "CB:2 CG:2 CD:2 NE:* CZ:0 NH1:* NH2:*", TWO(5, 1, 4, 0)},
    {"ASN", FMO_PDB_AMINO, "CB:2 CG:0 OD1:0 ND2:2", ONE},
    {"ASP", FMO_PDB_AMINO, "CB:2 CG:0 OD1:* OD2:*", TWO(0, -1, 1, 0)},
    {"CYS", FMO_PDB_AMINO, "CB:2 SG:*", TWO(1, 0, 0, -1)},
    {"GLN", FMO_PDB_AMINO, "CB:2 CG:2 CD:0 OE1:0 NE2:2", ONE},
    {"GLU", FMO_PDB_AMINO, "CB:2 CG:2 CD:0 OE1:* OE2:*", TWO(0, -1, 1, 0)},
    {"GLY", FMO_PDB_AMINO, "", ONE},
    {"HIS", FMO_PDB_AMINO, "CB:2 CG:0 ND1:* CD2:1 CE1:1 NE2:*", TWO(1, 0, 2, 1)},
    {"ILE", FMO_PDB_AMINO, "CB:1 CG1:2 CG2:3 CD1:3", ONE},
    {"LEU", FMO_PDB_AMINO, "CB:2 CG:1 CD1:3 CD2:3", ONE},
    {"LYS", FMO_PDB_AMINO, "CB:2 CG:2 CD:2 CE:2 NZ:*", TWO(3, 1, 2, 0)},
    {"MET", FMO_PDB_AMINO, "CB:2 CG:2 SD:0 CE:3", ONE},
    {"PHE", FMO_PDB_AMINO, "CB:2 CG:0 CD1:1 CD2:1 CE1:1 CE2:1 CZ:1", ONE},
    {"PRO", FMO_PDB_AMINO, "CB:2 CG:2 CD:2", ONE},
    {"SER", FMO_PDB_AMINO, "CB:2 OG:1", ONE},
    {"THR", FMO_PDB_AMINO, "CB:1 OG1:1 CG2:3", ONE},
    {"TRP", FMO_PDB_AMINO, "CB:2 CG:0 CD1:1 CD2:0 NE1:1 CE2:0 CE3:1 CZ2:1 CZ3:1 CH2:1", ONE},
    {"TYR", FMO_PDB_AMINO, "CB:2 CG:0 CD1:1 CD2:1 CE1:1 CE2:1 CZ:0 OH:*", TWO(1, 0, 0, -1)},
    {"VAL", FMO_PDB_AMINO, "CB:1 CG1:3 CG2:3", ONE},
    {"ACE", FMO_PDB_FIRST, "CH3:3 C:0 O:0", ONE},
    {"NME", FMO_PDB_LAST, "N:1 CH3:3", ONE},
    {"NH2", FMO_PDB_LAST, "N:2", ONE},
    {"HOH", FMO_PDB_WATER, "O:2", ONE},
    /* Ions: the element, and its charge for both states. */
    {"LI", FMO_PDB_ION, "LI", TWO(0, 1, 0, 1)},
    {"NA", FMO_PDB_ION, "NA", TWO(0, 1, 0, 1)},
    {"K", FMO_PDB_ION, "K", TWO(0, 1, 0, 1)},
    {"RB", FMO_PDB_ION, "RB", TWO(0, 1, 0, 1)},
    {"CS", FMO_PDB_ION, "CS", TWO(0, 1, 0, 1)},
    {"MG", FMO_PDB_ION, "MG", TWO(0, 2, 0, 2)},
    {"CA", FMO_PDB_ION, "CA", TWO(0, 2, 0, 2)},
    {"SR", FMO_PDB_ION, "SR", TWO(0, 2, 0, 2)},
    {"BA", FMO_PDB_ION, "BA", TWO(0, 2, 0, 2)},
    {"ZN", FMO_PDB_ION, "ZN", TWO(0, 2, 0, 2)},
    {"CD", FMO_PDB_ION, "CD", TWO(0, 2, 0, 2)},
    {"F", FMO_PDB_ION, "F", TWO(0, -1, 0, -1)},
    {"CL", FMO_PDB_ION, "CL", TWO(0, -1, 0, -1)},
    {"BR", FMO_PDB_ION, "BR", TWO(0, -1, 0, -1)},
    {"IOD", FMO_PDB_ION, "I", TWO(0, -1, 0, -1)},
};

/* Alternative names of residues, from protonation states and force fields; then of atoms. */
static const char *const same_residues[][2] = {
    {"HID", "HIS"},  {"HIE", "HIS"}, {"HIP", "HIS"}, {"HSD", "HIS"}, {"HSE", "HIS"}, {"HSP", "HIS"},
    {"CYX", "CYS"},  {"CYM", "CYS"}, {"ASH", "ASP"}, {"GLH", "GLU"}, {"LYN", "LYS"}, {"NMA", "NME"},
    {"WAT", "HOH"},  {"H2O", "HOH"}, {"DOD", "HOH"}, {"SOL", "HOH"}, {"TIP", "HOH"}, {"TP3", "HOH"},
    {"TIP3", "HOH"}, {"SPC", "HOH"}, {"NA+", "NA"},  {"SOD", "NA"},  {"K+", "K"},    {"POT", "K"},
    {"CL-", "CL"},   {"CLA", "CL"},  {"CAL", "CA"},  {"MG2", "MG"},  {"ZN2", "ZN"}};
static const struct {
    fmo_pdb_kind kind;
    const char *names[2];
} same_atoms[] = {{FMO_PDB_AMINO, {"OT1", "O"}},   {FMO_PDB_AMINO, {"OC1", "O"}},
                  {FMO_PDB_AMINO, {"OT2", "OXT"}}, {FMO_PDB_AMINO, {"OC2", "OXT"}},
                  {FMO_PDB_AMINO, {"OT", "OXT"}},  {FMO_PDB_LAST, {"C", "CH3"}},
                  {FMO_PDB_LAST, {"CA", "CH3"}},   {FMO_PDB_WATER, {"OW", "O"}},
                  {FMO_PDB_WATER, {"OH2", "O"}}};

const fmo_pdb_template *fmo_pdb_find_template(const char *name, fmo_pdb_kind *kind)
{
    for (size_t i = 0; i < sizeof same_residues / sizeof same_residues[0]; i++)
        if (strcmp(name, same_residues[i][0]) == 0) name = same_residues[i][1];
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        if (strcmp(name, templates[i].name) == 0) {
            *kind = templates[i].kind;
            return &templates[i];
        }
    return NULL;
}

int fmo_pdb_element(const fmo_pdb_template *known, fmo_pdb_kind kind, const char *name)
{
    if (kind == FMO_PDB_LIGAND) return 0; /* names of atoms are free */
    if (kind == FMO_PDB_ION) return fmo_element_number(known->atoms, strlen(known->atoms));
    name += strspn(name, "0123456789");
    if (*name == 'D') return 1;
    return *name && strchr("HCNOS", *name) ? fmo_element_number(name, 1) : 0;
}

const char *fmo_pdb_atom_name(const fmo_pdb_residue *r, const char *name)
{
    if (strcmp(r->template->name, "ILE") == 0 && strcmp(name, "CD") == 0) return "CD1";
    for (size_t i = 0; i < sizeof same_atoms / sizeof same_atoms[0]; i++)
        if (r->kind == same_atoms[i].kind && r->next < 0 &&
            strcmp(name, same_atoms[i].names[0]) == 0)
            return same_atoms[i].names[1];
    return name;
}
