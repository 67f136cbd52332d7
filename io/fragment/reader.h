/* Readers of fragmented molecules, one per format. Each reads an open text into a system whose
 * members are 0 except for the unit and OpenFMO's thresholds. read.c selects the reader, check.c
 * checks the result, system.c has functions shared by the readers. */
#ifndef FMO_IO_FRAGMENT_READER_H
#define FMO_IO_FRAGMENT_READER_H

#include "io/text/text.h"
#include <fmo/fragment_system.h>

/* Largest coordinate that is read, in angstrom; fmo_basis_create accepts 1e6 bohr. */
#define FMO_FRAGMENT_FARTHEST 5e5

/* How a PDB file is read: residues per fragment; file that describes ligands, or NULL. */
typedef struct fmo_pdb_reading {
    int residues;
    const char *ligands;
} fmo_pdb_reading;

/* Return FMO_OK, FMO_ERR_INPUT (the message is set) or FMO_ERR_MEMORY. */
fmo_status fmo_fragment_read_json(fmo_text *text, fmo_fragment_system *system);
fmo_status fmo_fragment_read_pdb(fmo_text *text, const fmo_pdb_reading *how,
                                 fmo_fragment_system *system);
fmo_status fmo_fragment_read_gamess(fmo_text *text, fmo_fragment_system *system);
fmo_status fmo_fragment_read_abinitmp(fmo_text *text, fmo_fragment_system *system);

/* Largest size of a file that is read, in bytes. */
enum { FMO_FRAGMENT_BYTES_MAX = 1 << 26 };

/* Allocates the arrays for atoms and fragments. Returns FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_fragment_make(const fmo_text *text, int atoms, int fragments,
                             fmo_fragment_system *system);
/* Sets the name of a fragment, at most once each, when fragment_num is known. Returns FMO_OK or
 * FMO_ERR_MEMORY. */
fmo_status fmo_fragment_set_name(const fmo_text *text, fmo_fragment_system *system, int fragment,
                                 const char *name);
/* Ensures that an array of `num` items of `size` bytes has space for one more; *capacity: number of
 * items for which there is space. Returns false if there is no memory. */
bool fmo_fragment_grow(void **things, int num, int *capacity, size_t size);
/* Parses an integer with or without a sign, from -limit to limit; returns false if the word is not
 * one. */
bool fmo_fragment_integer(fmo_word word, long limit, long *value);
fmo_status fmo_fragment_no_memory(const fmo_text *text);

#endif
