/* Molecules made on the spot: water clusters, alkanes, and displaced copies of a molecule. */
#ifndef FMO_BENCH_MOLECULES_H
#define FMO_BENCH_MOLECULES_H

#include <stdint.h>
#include <fmo/molecule.h>

/** edge^3 waters on a cubic grid of 3.1 angstrom, each with r(OH) = 0.9572 angstrom, HOH = 104.52
 *  degrees, and an orientation of its own (random, by the seed and the water's number): oxygen on
 *  the grid point, the last grid coordinate fastest. The clusters of datasets/xyz are made alike
 *  with other orientations.
 *  @param[out] molecule  free with bench_molecule_destroy */
fmo_status bench_water_cluster(int edge, uint64_t seed, fmo_molecule **molecule, fmo_error *err);

/** All-trans C_n H_(2n+2) along z: CC = 1.53 and CH = 1.09 angstrom, CCC = 112 and HCH = 107
 *  degrees, the last hydrogens where the next carbons would be. alkane_C20H42 and alkane_C60H122 of
 *  datasets/xyz are these. */
fmo_status bench_alkane(int carbons, fmo_molecule **molecule, fmo_error *err);

/** A copy with each coordinate displaced by up to `most` bohr, uniformly. */
fmo_status bench_displaced(const fmo_molecule *from, double most, uint64_t seed,
                           fmo_molecule **molecule, fmo_error *err);

void bench_molecule_destroy(fmo_molecule *molecule); /**< of those above; NULL is fine */

#endif
