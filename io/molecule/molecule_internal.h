/* Shared by the readers of molecules and basis sets and the maker of data sets. */
#ifndef FMO_IO_MOLECULE_INTERNAL_H
#define FMO_IO_MOLECULE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <fmo/molecule.h>

enum {
    FMO_ELEMENT_MOST = 118,
    FMO_NUCLEUS_MOST = 46340 /* each has a shell, and fmo_basis_create takes no more of these */
};

/* Atomic number of a symbol in any case, `size` letters and nothing else; 0 if it is none. */
int fmo_element_number(const char *symbol, size_t size);

/* Nuclei closer than this, in bohr (0.3 angstrom), get a notice: no bond is as short. */
#define FMO_NUCLEUS_DISTANCE_NOTICE 0.5669

/* Do two of n places coord[n][3] (finite, below 1e9 distances from the origin), *i < *j, lie closer
 * than a distance? The first such *j is told. FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_find_close(const double *coord, int n, double distance, bool *found, int *i, int *j);

#endif
