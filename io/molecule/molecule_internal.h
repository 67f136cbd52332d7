/* Element numbers and the search for close nuclei, shared by the readers of molecules and basis
 * sets and by the code that creates data sets. Next: elements.c, distances.c, xyz.c. */
#ifndef FMO_IO_MOLECULE_INTERNAL_H
#define FMO_IO_MOLECULE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <fmo/molecule.h>

enum {
    FMO_ELEMENT_MAX = 118,
    FMO_MOLECULE_NUCLEI_MAX = 46340 /* each has at least one shell, the limit of fmo_basis_create */
};

/* Returns the atomic number of an element symbol (any case) of exactly `size` letters; 0 if there
 * is no such element. */
int fmo_element_number(const char *symbol, size_t size);

/* Reads the name of an atom of `size` characters: an element symbol, perhaps with the digits of a
 * label ("C12"), or an atomic number; or a ghost atom: Gh(O), @O (Psi4), ghost-O, X-O (PySCF), O-Bq
 * (Gaussian), BqO (NWChem), O: (ORCA), O_ghost (CP2K). Returns the atomic number, and sets *ghost;
 * returns 0 if it is neither. */
int fmo_atom_number(const char *name, size_t size, bool *ghost);

/* Returns true if the name is that of a ghost or dummy atom without an element ("Bq", "X", "Gh"),
 * which has no functions. */
bool fmo_atom_is_dummy(const char *name, size_t size);

/* Nuclei closer than this (bohr; 0.3 angstrom) cause a notice: no chemical bond is that short. */
#define FMO_NUCLEUS_DISTANCE_NOTICE 0.5669

/* Searches n positions coord[n][3] (finite, each coordinate below 1e9 distances in magnitude) for
 * two that are closer than `distance`. If there are any, sets *found and the indices *i < *j of the
 * pair with the smallest *j, and the smallest *i for it. Returns FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_find_close(const double *coord, int n, double distance, bool *found, int *i, int *j);

#endif
