/* Molecules with an even number of electrons whose ground state is known not to be a closed
 * shell. */
#ifndef FMO_RUN_SPIN_H
#define FMO_RUN_SPIN_H

#include <stddef.h>
#include <fmo/dataset.h>
#include <fmo/fragment_system.h>

/** Writes a notice about the spin of an SCF, in one line; "" if a closed shell is expected.
 *  @param[in] electrons  an even number */
void driver_note_spin(const fmo_dataset *dataset, int electrons, char *text, size_t size);

/** The same for fragments of a few atoms without a cut bond, such as metal ions; names the first
 *  one and says how many others there are. */
void driver_note_fragment_spins(const fmo_fragment_system *system, char *text, size_t size);

#endif
