/* Error of the energy that a screening cutoff may cause, from measurements:
 * docs/reference/scf.md. */
#ifndef FMO_SCF_CUTOFF_H
#define FMO_SCF_CUTOFF_H

#include <stddef.h>

#include "driver/scf/inner.h"

/* The error of the energy is below this factor times the cutoff and the number of functions, in all
 * measured cases: for an SCF up to a cutoff of 1e-2 (largest factor 0.044), for FMO2, where errors
 * of pairs with cut bonds add up, up to 1e-4 (0.78). Beyond these cutoffs there is no bound. */
#define FMO_SCF_CUTOFF_ERROR      0.05
#define FMO_FRAGMENT_CUTOFF_ERROR 1.0

/* Writes "" to `notice` if the expected error is below the requested accuracy `wanted` (hartree),
 * otherwise one line with the possible error and the cure. error_share: one of the factors above.
 * beyond: cutoff above which there is no bound. nao: number of functions. */
FMO_INNER void fmo_scf_note_cutoff(double cutoff, double error_share, double beyond, int nao,
                                   double wanted, char *notice, size_t size);

#endif
