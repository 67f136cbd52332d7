/* Reads a PDB file into a fragmented molecule: atoms and residues (pdb.c), charge and protonation
 * state of each residue (pdb_table.c, pdb_residue.c), ligands described in a file of their own
 * (pdb_ligand.c), fragments (pdb_cut.c). pdb_atom.c has functions shared by these files and
 * abinitmp_pdb.c, which reads only atoms. */
#ifndef FMO_IO_FRAGMENT_PDB_H
#define FMO_IO_FRAGMENT_PDB_H

#include "io/fragment/reader.h"

typedef struct fmo_pdb_atom {
    char name[5];
    bool hetero; /* the line is a HETATM line */
    int number, line, residue;
    double angstrom[3];
} fmo_pdb_atom;

typedef enum fmo_pdb_kind {
    FMO_PDB_AMINO,
    FMO_PDB_FIRST, /* a cap before the first residue of a chain: ACE */
    FMO_PDB_LAST,  /* a cap after the last residue of a chain: NME, NH2 */
    FMO_PDB_WATER,
    FMO_PDB_ION,
    FMO_PDB_LIGAND /* described by the file of ligands */
} fmo_pdb_kind;

enum { FMO_PDB_STATES = 2 };

/* Number of hydrogens of a group of atoms in a protonation state, and the charge of that state. */
typedef struct fmo_pdb_state {
    int hydrogens, charge;
} fmo_pdb_state;

/* Composition of a residue; the table is in pdb_table.c. Atoms: "NAME:HYDROGENS", or "NAME:*" for
 * the atoms whose total number of hydrogens determines the state. */
typedef struct fmo_pdb_template {
    const char *name;
    fmo_pdb_kind kind;
    const char *atoms;
    fmo_pdb_state states[FMO_PDB_STATES]; /* two equal states: there is only one */
} fmo_pdb_template;

/* A residue described by the file of ligands. */
typedef struct fmo_pdb_bond {
    char atom[2][5];
} fmo_pdb_bond;
typedef struct fmo_pdb_ligand {
    char name[5];
    int charge;
    int bond_num; /* 0: bonds were not given */
    fmo_pdb_bond *bond;
    bool found; /* the PDB file has such a residue */
} fmo_pdb_ligand;

typedef struct fmo_pdb_residue {
    char name[5], place[6], chain; /* as in the file; place: number and insertion code */
    int segment;                   /* number of TER lines before it */
    int first, count, line;        /* first atom, number of atoms, line of the first atom */
    const fmo_pdb_template *template;
    const fmo_pdb_ligand *ligand; /* NULL for all others */
    fmo_pdb_kind kind;
    int n, c, sg;       /* index of the atom of this name, or -1 */
    int previous, next; /* residues bound by peptide bonds, or -1 */
    int partner;        /* residue bound by a disulfide bridge, or -1 */
    int charge;
    int fragment;
} fmo_pdb_residue;

typedef struct fmo_pdb {
    fmo_text *text;
    fmo_pdb_atom *atom;
    int atom_num, atom_capacity;
    fmo_pdb_residue *residue;
    int residue_num, residue_capacity;
    int alternatives;        /* number of atoms left out because they are alternative locations */
    int segment, models;     /* number of TER and MODEL lines so far */
    const char *ligand_path; /* the file of ligands, or NULL */
    fmo_pdb_ligand *ligand;
    int ligand_num;
} fmo_pdb;

enum { FMO_PDB_LABEL = 48 };

/* Writes "ASP 9 of chain A", for messages. Returns label. */
const char *fmo_pdb_label(const fmo_pdb_residue *residue, char label[FMO_PDB_LABEL]);

/* Copies columns from..to (counted from 1) of a line into `size` bytes, without surrounding blanks
 * and with unprintable characters replaced. */
void fmo_pdb_columns(fmo_word line, size_t from, size_t to, char *field, size_t size);
/* Returns true if a line begins with the name of a record. */
bool fmo_pdb_is_record(fmo_word line, const char *name);

/* Returns the distance of two atoms in angstrom. */
double fmo_pdb_distance(const fmo_pdb *pdb, int a, int b);

/* Returns the template of a residue and its kind; NULL if the residue is not known. */
const fmo_pdb_template *fmo_pdb_find_template(const char *name, fmo_pdb_kind *kind);

/* Returns the atomic number of an atom whose line has no element, from its name in this residue; 0
 * if unknown. */
int fmo_pdb_element(const fmo_pdb_template *known, fmo_pdb_kind kind, const char *name);

/* Returns the name that the table uses for an atom of a residue. */
const char *fmo_pdb_atom_name(const fmo_pdb_residue *residue, const char *name);

/* Determines the charge of a residue from its hydrogens. Returns FMO_OK, or FMO_ERR_INPUT if atoms
 * or hydrogens are missing or do not belong to the residue. */
fmo_status fmo_pdb_find_charge(const fmo_pdb *pdb, fmo_pdb_residue *residue);

/* Reads the file of ligands; frees what it holds. */
fmo_status fmo_pdb_read_ligands(fmo_pdb *pdb);
void fmo_pdb_free_ligands(fmo_pdb *pdb);
/* Returns the ligand of this name and marks it as found, or NULL. */
const fmo_pdb_ligand *fmo_pdb_find_ligand(fmo_pdb *pdb, const char *name);
/* Checks that the atoms of a residue are those of its bonds, at distances of bonds, that it has an
 * even number of electrons and no bond to another residue; sets its charge. */
fmo_status fmo_pdb_check_ligand(const fmo_pdb *pdb, fmo_pdb_residue *residue);

/* fmo_pdb_link finds the bonds between residues; fmo_pdb_cut then makes fragments of `residues`
 * residues each. */
fmo_status fmo_pdb_link(fmo_pdb *pdb);
fmo_status fmo_pdb_cut(fmo_pdb *pdb, int residues, fmo_fragment_system *system);

#endif
