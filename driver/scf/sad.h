/* Atoms whose spherically averaged densities are known: those of one molecule, or of all molecules
 * of a batch, which find each kind of atom once. Several threads may use them at a time. */
#ifndef FMO_SCF_SAD_H
#define FMO_SCF_SAD_H

#include <fmo/scf.h>

typedef struct fmo_atoms fmo_atoms;

fmo_status fmo_atoms_create(fmo_atoms **atoms, fmo_error *err);
void fmo_atoms_destroy(fmo_atoms *atoms); /* NULL is fine */
/* How many kinds are known. */
int fmo_atoms_num(fmo_atoms *atoms);

/* fmo_scf_atomic_densities, with atoms that are known already; those that are not are then. */
fmo_status fmo_atoms_densities(fmo_atoms *atoms, const fmo_basis *basis, double *density,
                               fmo_error *err);

#endif
