/* Reads an input of ABINIT-MP into a fragmented molecule: groups "&NAME ... /" (abinitmp.c), their
 * keys (abinitmp_keys.c, abinitmp_table.c), the atoms of the PDB file that it names
 * (abinitmp_pdb.c), and the system that results (abinitmp_system.c). Accepted and rejected inputs:
 * docs/reference/fmo.md. */
#ifndef FMO_IO_FRAGMENT_ABINITMP_H
#define FMO_IO_FRAGMENT_ABINITMP_H

#include "io/fragment/keys.h"

/* One bohr in angstrom in ABINIT-MP, derived from the nuclear repulsion energies that it prints. */
#define FMO_ABINITMP_BOHR 0.52917720859

enum { FMO_ABINITMP_NAME = 32, FMO_ABINITMP_LABEL = 16 };

typedef enum fmo_abinitmp_token {
    FMO_ABINITMP_WORD,
    FMO_ABINITMP_QUOTED,
    FMO_ABINITMP_EQUALS,
    FMO_ABINITMP_END, /* of the group */
    FMO_ABINITMP_FILE_END
} fmo_abinitmp_token;

/* How the value of a key is used: stored as a double, or as the name says. */
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

/* A number of the list of fragments, and its line in the file. */
typedef struct fmo_abinitmp_number {
    int value, line;
} fmo_abinitmp_number;

typedef struct fmo_abinitmp_atom {
    int number;
    double angstrom[3];
    int residue;                    /* residue in a PDB file, from 0; -1 for atoms of &XYZ */
    char label[FMO_ABINITMP_LABEL]; /* chain, name and number of the residue */
    fmo_atom_label names;           /* of a PDB file */
} fmo_abinitmp_atom;

typedef struct fmo_abinitmp {
    fmo_text *text;
    const char *path;
    fmo_word rest; /* rest of the line being read */
    bool waits;    /* rest is an unread line, with which the next group begins */
    /* &CNTRL, &FMOCNTRL, &BASIS */
    long atom_num, fragment_num; /* -1: not given */
    int fragment_num_line;
    long charge;
    int charge_line; /* 0: not given */
    char *geometry;  /* value of ReadGeom, or NULL */
    char *read;      /* path of that file after it has been read, or NULL */
    int geometry_line;
    bool automatic, by_hand; /* AutoFrag='ON', AutoFrag='OFF' */
    int automatic_line;
    double laoc, lptc, ldimer;
    char basis[FMO_ABINITMP_NAME];
    bool diffuse;
    /* &FRAGMENT */
    fmo_abinitmp_number *list;
    int list_num, list_capacity, list_line;
    /* &XYZ, or the PDB file */
    fmo_abinitmp_atom *atom;
    int atoms, atom_capacity, xyz_line;
    bool chains; /* the PDB file has several chains */
} fmo_abinitmp;

/* Reads the name of a group if the current line begins one; otherwise returns false. */
bool fmo_abinitmp_group(fmo_abinitmp *a, fmo_word *name);
/* Reads the next word, text in quotation marks (without them), "=", or the end of the group, which
 * is "/" or, as in ABINIT-MP, the line with which the next group begins. */
fmo_abinitmp_token fmo_abinitmp_next(fmo_abinitmp *a, fmo_word *word);
/* Copies a word in capitals, truncated to fit and with unprintable characters replaced. */
void fmo_abinitmp_capitals(fmo_word word, char capitals[FMO_ABINITMP_NAME]);

/* Reads the keys of a group of the table, including its end. */
fmo_status fmo_abinitmp_keys(fmo_abinitmp *a, const char *group);

/* Adds an atom; line: its line in `text`, for messages. Returns FMO_OK, FMO_ERR_INPUT (too many
 * atoms, or too far from the origin) or FMO_ERR_MEMORY. */
fmo_status fmo_abinitmp_add_atom(const fmo_text *text, int line, fmo_abinitmp *a,
                                 fmo_abinitmp_atom atom);

/* Reads the atoms of the file named by ReadGeom. */
fmo_status fmo_abinitmp_read_pdb(fmo_abinitmp *a);

/* Makes the system from the content of all groups. */
fmo_status fmo_abinitmp_system(fmo_abinitmp *a, fmo_fragment_system *system);

#endif
