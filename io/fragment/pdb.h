/* A PDB file on its way to a system of fragments: atoms and residues (pdb.c), what state each
 * residue is in (pdb_table.c, pdb_residue.c), where chains are cut (pdb_cut.c); pdb_atom.c: what
 * these share, and abinitmp_pdb.c, which reads no more than atoms. */
#ifndef FMO_IO_FRAGMENT_PDB_H
#define FMO_IO_FRAGMENT_PDB_H

#include "io/fragment/reader.h"

typedef struct fmo_pdb_atom {
    char name[5];
    int number, line, residue;
    double angstrom[3];
} fmo_pdb_atom;

typedef enum fmo_pdb_kind {
    FMO_PDB_AMINO,
    FMO_PDB_FIRST, /* a cap in front of a chain: ACE */
    FMO_PDB_LAST,  /* a cap behind a chain: NME, NH2 */
    FMO_PDB_WATER,
    FMO_PDB_ION
} fmo_pdb_kind;

enum { FMO_PDB_STATES = 2 };

/* How many hydrogens a group of atoms has in a state, and the charge of it. */
typedef struct fmo_pdb_state {
    int hydrogens, charge;
} fmo_pdb_state;

/* What a residue is made of; the table is in pdb_table.c. Atoms: "NAME:HYDROGENS", or "NAME:*" for
 * those whose hydrogens together tell the state. */
typedef struct fmo_pdb_template {
    const char *name;
    fmo_pdb_kind kind;
    const char *atoms;
    fmo_pdb_state states[FMO_PDB_STATES]; /* the same twice: one */
} fmo_pdb_template;

typedef struct fmo_pdb_residue {
    char name[5], place[6], chain; /* as in the file; place: number and insertion code */
    int segment;                   /* TER lines in front of it */
    int first, count, line;        /* atoms, and the line of the first */
    const fmo_pdb_template *template;
    fmo_pdb_kind kind;
    int n, c, sg;       /* atoms of these names, or -1 */
    int previous, next; /* residues that peptide bonds lead to, or -1 */
    int partner;        /* residue at the other end of a disulfide bridge, or -1 */
    int charge;
    int fragment;
} fmo_pdb_residue;

typedef struct fmo_pdb {
    fmo_text *text;
    fmo_pdb_atom *atom;
    int atom_num, atom_capacity;
    fmo_pdb_residue *residue;
    int residue_num, residue_capacity;
    int alternatives;    /* atoms left out, of other places than the first */
    int segment, models; /* TER and MODEL lines so far */
} fmo_pdb;

enum { FMO_PDB_LABEL = 48 };

/* "ASP 9 of chain A", for messages. */
const char *fmo_pdb_label(const fmo_pdb_residue *residue, char label[FMO_PDB_LABEL]);

/* Columns from..to of a line, from 1, without blanks around them, printable, in `size` bytes. */
void fmo_pdb_columns(fmo_word line, size_t from, size_t to, char *field, size_t size);
/* Does a line begin with the name of a record? */
bool fmo_pdb_is_record(fmo_word line, const char *name);

/* Distance of two atoms in angstrom. */
double fmo_pdb_distance(const fmo_pdb *pdb, int a, int b);

/* The template of a residue and its kind; NULL: a residue that is not known. */
const fmo_pdb_template *fmo_pdb_find_template(const char *name, fmo_pdb_kind *kind);

/* Atomic number of an atom whose line has no element: of its name, in this residue. 0: unknown. */
int fmo_pdb_element(const fmo_pdb_template *known, fmo_pdb_kind kind, const char *name);

/* The name in the table of an atom of a residue. */
const char *fmo_pdb_atom_name(const fmo_pdb_residue *residue, const char *name);

/* The charge of a residue, from its hydrogens. FMO_OK, or FMO_ERR_INPUT: not whole, too few
 * hydrogens, or atoms that are not its own. */
fmo_status fmo_pdb_find_charge(const fmo_pdb *pdb, fmo_pdb_residue *residue);

/* Bonds between residues; then fragments of `residues` residues each. */
fmo_status fmo_pdb_link(fmo_pdb *pdb);
fmo_status fmo_pdb_cut(fmo_pdb *pdb, int residues, fmo_fragment_system *system);

#endif
