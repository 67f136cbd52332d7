/* An input of GAMESS or OpenFMO on its way to a system of fragments: groups and their keys
 * (gamess.c, gamess_keys.c, gamess_table.c), hybrids (gamess_hybrids.c), the system of what they
 * say (gamess_system.c); words: gamess_words.c. */
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

/* How a key is taken: into a double, an int from 0 to 9, an int of 0 or 1, a list; or as its name
 * says. */
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
    int num, room;
} fmo_gamess_list;

/* Hybrid orbitals as $FMOHYB gives them. */
typedef struct fmo_gamess_hybrids {
    char name[FMO_GAMESS_WORD];
    int function_num, orbital_num, line;
    double *coefficient; /* [orbital_num][2 + function_num], the two sides in front */
} fmo_gamess_hybrids;

typedef struct fmo_gamess {
    fmo_text *text;
    fmo_word rest; /* of the line that is being read */
    bool at_end;   /* $END was read in a group of lines */
    unsigned seen; /* groups of keys that have been read, a bit each */
    /* $FMO */
    long fragment_num;
    fmo_gamess_list charge, indat, bond, number;
    char (*name)[FMO_GAMESS_WORD]; /* [name_num] of fragments */
    int name_num, name_room;
    double *place;  /* [number.num][3], in the file's unit */
    int label_line; /* of the first atom whose label is the symbol of another element; 0: none */
    int place_room;
    double respap, resppc, resdim; /* NaN: not given */
    /* $CONTRL, $DATA */
    bool bohr, has_data, spherical, has_charge;
    long whole_charge;
    char title[81];
    /* $BASIS, or the same words of $DATA */
    char gbasis[FMO_GAMESS_WORD], polar[FMO_GAMESS_WORD]; /* polar: exponents of ndfunc, npfunc */
    int ngauss, ndfunc, npfunc, diffsp, diffs;
    bool other_basis; /* one that has no name here */
    fmo_gamess_hybrids hybrids[FMO_GAMESS_SETS];
    int hybrids_num, used; /* the set that bonds use */
    char used_name[FMO_GAMESS_WORD];
} fmo_gamess;

/* A word in capitals, cut to fit; is it this one, whatever its case? */
void fmo_gamess_capitals(fmo_word word, char capitals[FMO_GAMESS_WORD]);
bool fmo_gamess_is(fmo_word word, const char *capitals);
/* One more integer. FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_gamess_push(const fmo_gamess *g, fmo_gamess_list *list, long value);

/* The next line without its comment; false at the end of the file. */
bool fmo_gamess_line(fmo_gamess *g);
/* The next word of the group, "=" by itself; false at the end of the file. */
bool fmo_gamess_word(fmo_gamess *g, fmo_word *word);
/* Up to `most` words of the next line that has any; 0 at $END or the end of the file. */
int fmo_gamess_words(fmo_gamess *g, fmo_word *words, int most);

/* Groups, to behind their $END. */
fmo_status fmo_gamess_keys(fmo_gamess *g, const char *group);
fmo_status fmo_gamess_hybrids_read(fmo_gamess *g);

/* The system of all groups. */
fmo_status fmo_gamess_system(fmo_gamess *g, fmo_fragment_system *system);
/* Are the hybrids of the file those that a calculation would take? */
fmo_status fmo_gamess_check_hybrids(const fmo_gamess *g, const fmo_fragment_system *system);

#endif
