/* What a cutoff may cost an energy, as it was measured: docs/reference/scf.md. */
#ifndef FMO_SCF_CUTOFF_H
#define FMO_SCF_CUTOFF_H

#include <stddef.h>

#include "driver/scf/inner.h"

/* Energies are off by less than this times the cutoff and the number of functions, as far as was
 * found: those of an SCF up to a cutoff of 1e-2 (0.044 and less), those of FMO2, where errors of
 * pairs with cut bonds add up, up to 1e-4 (0.78). Beyond there is no telling. */
#define FMO_SCF_CUTOFF_ERROR      0.05
#define FMO_FRAGMENT_CUTOFF_ERROR 1.0

/* "" where the energy of so many functions is good to what is wanted (hartree), else one line that
 * says by how much it may be off, and the cure. beyond: cutoff from which there is no telling. */
FMO_INNER void fmo_scf_note_cutoff(double cutoff, double error_share, double beyond, int nao,
                                   double wanted, char *notice, size_t size);

#endif
