/* Readers of systems of fragments: one a format, each from an open text into a system
 * that has nothing yet but the unit and OpenFMO's thresholds.
 * read.c chooses; check.c says whether it can be computed. What readers share: system.c. */
#ifndef FMO_IO_FRAGMENT_READER_H
#define FMO_IO_FRAGMENT_READER_H

#include "io/text/text.h"
#include <fmo/fragment_system.h>

/* Coordinates that are read, angstrom: the basis takes 1e6 bohr. */
#define FMO_FRAGMENT_FARTHEST 5e5

/* FMO_OK, FMO_ERR_INPUT (the text's error is set) or FMO_ERR_MEMORY. */
fmo_status fmo_fragment_read_json(fmo_text *text, fmo_fragment_system *system);
fmo_status fmo_fragment_read_pdb(fmo_text *text, int residues, fmo_fragment_system *system);
fmo_status fmo_fragment_read_gamess(fmo_text *text, fmo_fragment_system *system);
fmo_status fmo_fragment_read_abinitmp(fmo_text *text, fmo_fragment_system *system);

/* Bytes of a file that is read. */
enum { FMO_FRAGMENT_BYTES_MOST = 1 << 26 };

/* Space for atoms and fragments. FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_fragment_make(const fmo_text *text, int atoms, int fragments,
                             fmo_fragment_system *system);
/* A fragment's name, once each; after their number is known. FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_fragment_set_name(const fmo_text *text, fmo_fragment_system *system, int fragment,
                                 const char *name);
/* Space for one more of `num` things of some size, *space of which there is space for. */
bool fmo_fragment_grow(void **things, int num, int *capacity, size_t size);
/* An integer with or without a sign, -most to most. */
bool fmo_fragment_integer(fmo_word word, long most, long *value);
fmo_status fmo_fragment_no_memory(const fmo_text *text);

#endif
