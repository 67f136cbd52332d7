/* Generates molecules: water clusters, alkanes, and displaced copies of a molecule. */
#ifndef FMO_BENCH_MOLECULES_H
#define FMO_BENCH_MOLECULES_H

#include <stdint.h>
#include <fmo/molecule.h>

/** Makes edge^3 waters on a cubic grid with a spacing of 3.1 angstrom, with r(OH) = 0.9572 angstrom
 *  and an HOH angle of 104.52 degrees. The oxygens are on the grid points, the last grid coordinate
 *  varies fastest, and each water has a random orientation that depends on the seed and its number.
 *  The clusters of datasets/xyz were made in the same way with other orientations.
 *  @param[out] molecule  free with bench_molecule_destroy */
fmo_status bench_water_cluster(int edge, uint64_t seed, fmo_molecule **molecule, fmo_error *err);

/** Makes the all-trans C_n H_(2n+2) along z: CC = 1.53 and CH = 1.09 angstrom, CCC = 112 and HCH =
 *  107 degrees; the terminal hydrogens are in the direction of the next carbons. alkane_C20H42 and
 *  alkane_C60H122 of datasets/xyz were made in this way. */
fmo_status bench_alkane(int carbons, fmo_molecule **molecule, fmo_error *err);

/** Makes a copy with each coordinate displaced by up to `max_displacement` bohr, uniformly
 * distributed. */
fmo_status bench_displaced(const fmo_molecule *from, double max_displacement, uint64_t seed,
                           fmo_molecule **molecule, fmo_error *err);

void bench_molecule_destroy(fmo_molecule *molecule); /**< of the functions above; may be NULL */

#endif
