/* What becomes of the keys of another program's input: one table a program (gamess_table.c,
 * abinitmp_table.c), which its reader, and the tests, go by. A key that no row has is refused.
 * Next: keys.c. */
#ifndef FMO_IO_FRAGMENT_KEYS_H
#define FMO_IO_FRAGMENT_KEYS_H

#include "io/fragment/reader.h"

typedef enum fmo_key_fate {
    FMO_KEY_PASSED, /* any value: none changes an energy that is computed here */
    FMO_KEY_MUST,   /* one of `values`: with others it would be another energy */
    FMO_KEY_TAKEN   /* the reader takes it, as `kind` says */
} fmo_key_fate;

typedef struct fmo_key_row {
    const char *group;
    const char *keys; /* with blanks between them; "*": all others; "": there are none */
    fmo_key_fate fate;
    const char *values; /* of MUST, with blanks between them; "": an empty text */
    const char *cure;   /* of MUST, or NULL */
    int kind;           /* of TAKEN, of the reader's own */
    size_t at;          /* of some kinds: where in the reader's struct */
} fmo_key_row;

/* Rows of a table. FMO_ONLY: FMO_MUST with a cure of its own. */
#define FMO_PASSED(group, keys)                       \
    {                                                 \
        group, keys, FMO_KEY_PASSED, NULL, NULL, 0, 0 \
    }
#define FMO_MUST(group, keys, values)                 \
    {                                                 \
        group, keys, FMO_KEY_MUST, values, NULL, 0, 0 \
    }
#define FMO_ONLY(group, key, value, cure)           \
    {                                               \
        group, key, FMO_KEY_MUST, value, cure, 0, 0 \
    }

typedef struct fmo_key_table {
    const char *mark;  /* in front of a group's name in messages: "" or "&" */
    const char *quote; /* around values: "" or "'" */
    const fmo_key_row *row;
    size_t num;
} fmo_key_table;

extern const fmo_key_table fmo_gamess_keys_table, fmo_abinitmp_keys_table;

/* Whether a table has the group; and only as one whose keys are all passed over. */
bool fmo_keys_have(const fmo_key_table *table, const char *group);
bool fmo_keys_pass_all(const fmo_key_table *table, const char *group);

/* The row of a key in capitals: FMO_OK, or FMO_ERR_INPUT, as the key is not known. */
fmo_status fmo_keys_find(const fmo_text *text, const fmo_key_table *table, const char *group,
                         const char *key, const fmo_key_row **row);
/* Whether a key can have this value: FMO_OK, or FMO_ERR_INPUT, as another energy would be asked
 * for. */
fmo_status fmo_keys_allow(const fmo_text *text, const fmo_key_table *table, const fmo_key_row *row,
                          const char *key, fmo_word value);

#endif
