/* Atoms whose spherically averaged densities are known: those of one molecule, or of all molecules
 * of a batch, which find each kind of atom once. Several threads may use them at a time. */
#ifndef FMO_SCF_SAD_H
#define FMO_SCF_SAD_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

typedef struct fmo_atoms fmo_atoms;

FMO_INNER fmo_status fmo_atoms_create(fmo_atoms **atoms, fmo_error *err);
FMO_INNER void fmo_atoms_destroy(fmo_atoms *atoms); /* NULL is fine */
/* How many kinds are known. */
int fmo_atoms_num(fmo_atoms *atoms);

/* fmo_scf_atomic_densities, with atoms that are known already; those that are not are then. */
FMO_INNER fmo_status fmo_atoms_densities(fmo_atoms *atoms, const fmo_basis *basis, double *density,
                                         fmo_error *err);

#endif
