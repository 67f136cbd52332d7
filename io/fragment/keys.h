/* Treatment of the keys of another program's input: one table per program (gamess_table.c,
 * abinitmp_table.c), which its reader and the tests use. A key without a row is rejected. Next:
 * keys.c. */
#ifndef FMO_IO_FRAGMENT_KEYS_H
#define FMO_IO_FRAGMENT_KEYS_H

#include "io/fragment/reader.h"

typedef enum fmo_key_treatment {
    FMO_KEY_IGNORED, /* any value is accepted, since none changes an energy computed here */
    FMO_KEY_CHECKED, /* must have one of `values`, since others request another energy */
    FMO_KEY_READ     /* the reader uses the value according to `kind` */
} fmo_key_treatment;

typedef struct fmo_key_row {
    const char *group;
    const char *keys; /* separated by blanks; "*": all other keys; "": the group has none */
    fmo_key_treatment treatment;
    const char *values; /* for CHECKED: separated by blanks; "": an empty text */
    const char *cure;   /* for CHECKED; NULL: the general one */
    int kind;           /* for READ: a kind of this reader */
    size_t at;          /* for some kinds: offset in the struct of the reader */
} fmo_key_row;

/* Rows of a table. FMO_CHECKED_CURE is FMO_CHECKED with a specific cure. */
#define FMO_IGNORED(group, keys)                       \
    {                                                  \
        group, keys, FMO_KEY_IGNORED, NULL, NULL, 0, 0 \
    }
#define FMO_CHECKED(group, keys, values)                 \
    {                                                    \
        group, keys, FMO_KEY_CHECKED, values, NULL, 0, 0 \
    }
#define FMO_CHECKED_CURE(group, key, value, cure)      \
    {                                                  \
        group, key, FMO_KEY_CHECKED, value, cure, 0, 0 \
    }

typedef struct fmo_key_table {
    const char *mark;  /* precedes the name of a group in messages: "" or "&" */
    const char *quote; /* encloses values in messages: "" or "'" */
    const fmo_key_row *row;
    size_t num;
} fmo_key_table;

extern const fmo_key_table fmo_gamess_keys_table, fmo_abinitmp_keys_table;

/* Return true if the table has the group, and if it accepts all keys of the group with any
 * value. */
bool fmo_keys_have(const fmo_key_table *table, const char *group);
bool fmo_keys_pass_all(const fmo_key_table *table, const char *group);

/* Finds the row of a key in capitals. Returns FMO_OK, or FMO_ERR_INPUT if the key is not known. */
fmo_status fmo_keys_find(const fmo_text *text, const fmo_key_table *table, const char *group,
                         const char *key, const fmo_key_row **row);
/* Checks that a key may have this value. Returns FMO_OK, or FMO_ERR_INPUT if it requests an energy
 * that is not computed here. */
fmo_status fmo_keys_allow(const fmo_text *text, const fmo_key_table *table, const fmo_key_row *row,
                          const char *key, fmo_word value);

#endif
