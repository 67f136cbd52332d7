/* Reads an input of GAMESS or OpenFMO into a fragmented molecule: groups and their keys (gamess.c,
 * gamess_keys.c, gamess_table.c), hybrid orbitals (gamess_hybrids.c), the system that results
 * (gamess_system.c), and words (gamess_words.c). */
#ifndef FMO_IO_FRAGMENT_GAMESS_H
#define FMO_IO_FRAGMENT_GAMESS_H

#include "io/fragment/keys.h"

#include <stddef.h>

enum {
    FMO_GAMESS_WORD = 16,
    FMO_GAMESS_SETS = 8,
    FMO_GAMESS_ORBITALS = 16,
    FMO_GAMESS_FUNCTIONS = 64
};

/* How the value of a key is used: stored as a double, an int from 0 to 9, an int that is 0 or 1, or
 * in a list; or as the name says. */
typedef enum fmo_gamess_kind {
    FMO_GAMESS_REAL,
    FMO_GAMESS_DIGIT,
    FMO_GAMESS_FLAG,
    FMO_GAMESS_LIST,
    FMO_GAMESS_NAMES,
    FMO_GAMESS_NFRAG,
    FMO_GAMESS_UNITS,
    FMO_GAMESS_ISPHER,
    FMO_GAMESS_CHARGE,
    FMO_GAMESS_GBASIS,
    FMO_GAMESS_POLAR
} fmo_gamess_kind;

typedef struct fmo_gamess_list {
    int *value;
    int num, capacity;
} fmo_gamess_list;

/* Hybrid orbitals in $FMOHYB. */
typedef struct fmo_gamess_hybrids {
    char name[FMO_GAMESS_WORD];
    int function_num, orbital_num, line;
    double *coefficient; /* [orbital_num][2 + function_num]; a row begins with 1 0 or 0 1 */
} fmo_gamess_hybrids;

typedef struct fmo_gamess {
    fmo_text *text;
    fmo_word rest; /* rest of the line being read */
    bool at_end;   /* $END was read in a group of lines */
    unsigned seen; /* bit set of the groups of keys that have been read */
    /* $FMO */
    long fragment_num;
    fmo_gamess_list charge, indat, bond, number;
    char (*name)[FMO_GAMESS_WORD]; /* [name_num] names of fragments */
    int name_num, name_capacity;
    double *place;  /* [number.num][3] coordinates, in the unit of the file */
    int label_line; /* first atom whose label is the symbol of another element; 0: none */
    int place_capacity;
    double respap, resppc, resdim; /* NaN: not given */
    /* $CONTRL, $DATA */
    bool bohr, has_data, spherical, has_charge;
    long whole_charge;
    char title[81];
    /* $BASIS, or the corresponding words of $DATA */
    char gbasis[FMO_GAMESS_WORD], polar[FMO_GAMESS_WORD]; /* polar: exponents of ndfunc, npfunc */
    int ngauss, ndfunc, npfunc, diffsp, diffs;
    bool other_basis; /* a basis set whose name is not known here */
    fmo_gamess_hybrids hybrids[FMO_GAMESS_SETS];
    int hybrids_num;
    char used_name[FMO_GAMESS_WORD];
} fmo_gamess;

/* fmo_gamess_capitals copies a word in capitals, truncated to fit; fmo_gamess_is returns true if a
 * word, in any case, is the given one. */
void fmo_gamess_capitals(fmo_word word, char capitals[FMO_GAMESS_WORD]);
bool fmo_gamess_is(fmo_word word, const char *capitals);
/* Appends an integer. Returns FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_gamess_push(const fmo_gamess *g, fmo_gamess_list *list, long value);

/* Reads the next line without its comment; returns false at the end of the file. */
bool fmo_gamess_line(fmo_gamess *g);
/* Reads the next word of the group; "=" is a word by itself. Returns false at the end of the
 * file. */
bool fmo_gamess_word(fmo_gamess *g, fmo_word *word);
/* Reads up to `max_num` words of the next line that is not empty; returns their number, 0 at $END
 * or the end of the file. */
int fmo_gamess_words(fmo_gamess *g, fmo_word *words, int max_num);

/* Read a group, including its $END. */
fmo_status fmo_gamess_keys(fmo_gamess *g, const char *group);
fmo_status fmo_gamess_hybrids_read(fmo_gamess *g);

/* Makes the system from the content of all groups. */
fmo_status fmo_gamess_system(fmo_gamess *g, fmo_fragment_system *system);
/* Checks that the hybrid orbitals of the file are those that a calculation would use. */
fmo_status fmo_gamess_check_hybrids(const fmo_gamess *g, const fmo_fragment_system *system);

#endif
