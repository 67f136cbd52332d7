/* An input of ABINIT-MP on its way to a system of fragments: groups "&NAME ... /" (abinitmp.c),
 * what their keys say (abinitmp_keys.c, abinitmp_table.c), the atoms of the PDB file that it names
 * (abinitmp_pdb.c), the system of what they say together (abinitmp_system.c). What is read and
 * refused: docs/reference/fmo.md.
 */
#ifndef FMO_IO_FRAGMENT_ABINITMP_H
#define FMO_IO_FRAGMENT_ABINITMP_H

#include "io/fragment/keys.h"

/* Angstrom in a bohr in ABINIT-MP: that of the nuclear repulsion energies it prints. */
#define FMO_ABINITMP_BOHR 0.52917720859

enum { FMO_ABINITMP_NAME = 32, FMO_ABINITMP_LABEL = 16 };

typedef enum fmo_abinitmp_token {
    FMO_ABINITMP_WORD,
    FMO_ABINITMP_QUOTED,
    FMO_ABINITMP_EQUALS,
    FMO_ABINITMP_END, /* of the group */
    FMO_ABINITMP_FILE_END
} fmo_abinitmp_token;

/* How a key is taken: into a double, or as its name says. */
typedef enum fmo_abinitmp_kind {
    FMO_ABINITMP_THRESHOLD,
    FMO_ABINITMP_READGEOM,
    FMO_ABINITMP_NATOM,
    FMO_ABINITMP_CHARGE,
    FMO_ABINITMP_NF,
    FMO_ABINITMP_AUTOFRAG,
    FMO_ABINITMP_BASISSET,
    FMO_ABINITMP_DIFFUSEON
} fmo_abinitmp_kind;

/* A number of the list of fragments and the line that it stands in. */
typedef struct fmo_abinitmp_number {
    int value, line;
} fmo_abinitmp_number;

typedef struct fmo_abinitmp_atom {
    int number;
    double angstrom[3];
    int residue;                    /* of a PDB file, from 0; neighbours in the file */
    char label[FMO_ABINITMP_LABEL]; /* of the residue */
} fmo_abinitmp_atom;

typedef struct fmo_abinitmp {
    fmo_text *text;
    const char *path;
    fmo_word rest; /* of the line that is being read */
    bool waits;    /* rest is a whole line, of which nothing was read */
    /* &CNTRL, &FMOCNTRL, &BASIS */
    long atom_num, fragment_num; /* -1: not given */
    int fragment_num_line;
    long charge;
    int charge_line; /* 0: not given */
    char *geometry;  /* ReadGeom, or NULL */
    char *read;      /* that file, once it is read */
    int geometry_line;
    bool automatic, by_hand; /* AutoFrag='ON', 'OFF' */
    int automatic_line;
    double laoc, lptc, ldimer;
    char basis[FMO_ABINITMP_NAME];
    bool diffuse;
    /* &FRAGMENT */
    fmo_abinitmp_number *list;
    int list_num, list_room, list_line;
    /* &XYZ, or the PDB file */
    fmo_abinitmp_atom *atom;
    int atoms, atom_room, xyz_line;
    bool chains; /* the PDB file has several */
} fmo_abinitmp;

/* The next word, text in quotation marks (without them), "=", or the end of the group, which is a
 * "/" or, as ABINIT-MP takes it, the line where the next group begins. */
fmo_abinitmp_token fmo_abinitmp_next(fmo_abinitmp *a, fmo_word *word);
/* In capitals, cut to fit, harmless. */
void fmo_abinitmp_capitals(fmo_word word, char capitals[FMO_ABINITMP_NAME]);

/* The keys of a group of the table, to behind its end. */
fmo_status fmo_abinitmp_keys(fmo_abinitmp *a, const char *group);

/* One more atom, of that line of a text. FMO_OK, FMO_ERR_INPUT (too many, too far) or
 * FMO_ERR_MEMORY. */
fmo_status fmo_abinitmp_add_atom(const fmo_text *text, int line, fmo_abinitmp *a,
                                 fmo_abinitmp_atom atom);

/* The atoms of the file that ReadGeom names. */
fmo_status fmo_abinitmp_read_pdb(fmo_abinitmp *a);

/* The system of all groups. */
fmo_status fmo_abinitmp_system(fmo_abinitmp *a, fmo_fragment_system *system);

#endif
