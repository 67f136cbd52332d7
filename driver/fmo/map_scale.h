/* Which colour an energy has in a heat map. */
#ifndef FMO_FRAGMENT_MAP_SCALE_H
#define FMO_FRAGMENT_MAP_SCALE_H

#include <fmo/fragment.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct fmo_map_scale {
    double range;       /* of colours, -range to range, kcal/mol */
    double least, most; /* of what has a colour, and of 0, kcal/mol */
    int strongest;      /* pair of them, or -1 */
} fmo_map_scale;

double fmo_pair_kcal(const fmo_fragment_pair *pair);

/* Whether a pair has a place in the range: no cut bond joins it, and its energy is a number. */
bool fmo_pair_is_shown(const fmo_fragment_pair *pair);

/* false: no memory. */
bool fmo_map_scale_find(const fmo_fragment_result *result, fmo_map_scale *scale);

/* "#rrggbb" of an energy by the range; beyond -1 and 1 the colours at the ends. */
void fmo_map_put_colour(FILE *stream, double energy);

enum { FMO_MAP_COLOURS = 11 }; /* linear in between */

#endif
