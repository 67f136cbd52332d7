/* Extended .xyz of many molecules with their energies, as ASE reads it and programs that train
 * potentials take it. Next: extxyz.c; molecules.c, which calls it. */
#ifndef FMO_IO_OUTPUT_EXTXYZ_H
#define FMO_IO_OUTPUT_EXTXYZ_H

#include <fmo/result.h>

/* One hartree in eV, as in ase.units (CODATA 2014). */
#define FMO_HARTREE_IN_EV 27.211386024367243

typedef struct fmo_extxyz fmo_extxyz;

/* The method of a molecule: "RHF" if none is named. */
const char *fmo_molecule_method(const fmo_molecule_result *molecule);

/* Returns 1 if a result has arrays by nuclei, and so nucleus_num. */
static inline int fmo_molecule_has_nuclei(const fmo_molecule_result *molecule)
{
    return molecule->gradient || molecule->mulliken_charge || molecule->mulliken_spin;
}

fmo_extxyz *fmo_extxyz_create(void); /* NULL if there is no memory */
void fmo_extxyz_destroy(fmo_extxyz *text);

/* Adds a frame, if the molecule has converged and has a data set. Returns FMO_OK or
 * FMO_ERR_MEMORY. */
fmo_status fmo_extxyz_add(fmo_extxyz *text, const fmo_dataset *dataset,
                          const fmo_molecule_result *molecule, fmo_error *err);

/* Writes all frames in the way of fmo_file_write. */
fmo_status fmo_extxyz_write(fmo_extxyz *text, const char *path, fmo_error *err);

#endif
