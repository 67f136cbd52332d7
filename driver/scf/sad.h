/* Cache of spherically averaged atomic densities for one molecule or all molecules of a batch; each
 * kind of atom is computed once. Several threads may use it at a time. The method is in sad.c. */
#ifndef FMO_SCF_SAD_H
#define FMO_SCF_SAD_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

typedef struct fmo_atoms fmo_atoms;

FMO_INNER fmo_status fmo_atoms_create(fmo_atoms **atoms, fmo_error *err);
FMO_INNER void fmo_atoms_destroy(fmo_atoms *atoms); /* NULL is allowed */
/* Returns the number of kinds of atoms in the cache. */
int fmo_atoms_num(fmo_atoms *atoms);

/* Computes fmo_scf_atomic_densities with the cache; atoms that are not in it are added. */
FMO_INNER fmo_status fmo_atoms_densities(fmo_atoms *atoms, const fmo_basis *basis, double *density,
                                         fmo_error *err);

#endif
