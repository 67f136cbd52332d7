/* Colour scale of the heat map (map.c). */
#ifndef FMO_FRAGMENT_MAP_SCALE_H
#define FMO_FRAGMENT_MAP_SCALE_H

#include <fmo/fragment.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct fmo_map_scale {
    double range;           /* colours cover -range to range, kcal/mol */
    double lowest, highest; /* of all coloured pairs and 0, kcal/mol */
    int strongest;          /* index of the pair with the largest absolute energy, or -1 */
} fmo_map_scale;

/* Returns the contribution of a pair to the FMO2 energy in kcal/mol. */
double fmo_pair_kcal(const fmo_fragment_pair *pair);

/* Returns true if a pair is coloured: no cut bond joins it, and its energy is finite. */
bool fmo_pair_is_shown(const fmo_fragment_pair *pair);

/* Computes the scale; false if there is no memory. */
bool fmo_map_scale_find(const fmo_fragment_result *result, fmo_map_scale *scale);

/* Writes "#rrggbb" for an energy divided by the range; values beyond -1 and 1 get the colours at
 * the ends. */
void fmo_map_put_colour(FILE *stream, double energy);

enum { FMO_MAP_COLOURS = 11 }; /* interpolated linearly */

#endif
