/* Shared by the readers of molecules and basis sets and the maker of data sets. */
#ifndef FMO_IO_MOLECULE_INTERNAL_H
#define FMO_IO_MOLECULE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <fmo/molecule.h>

enum { FMO_ELEMENT_MOST = 118 };

/* Atomic number of a symbol in any case, `size` letters and nothing else; 0 if it is none. */
int fmo_element_number(const char *symbol, size_t size);

/* Do two nuclei, *i < *j, lie closer than FMO_NUCLEUS_DISTANCE_LEAST? FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_molecule_find_close(const fmo_molecule *molecule, bool *found, int *i, int *j);

#endif
