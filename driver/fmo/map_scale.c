/* See map_scale.h. Colours are ColorBrewer's RdBu (C. A. Brewer): red is attractive, as is usual in
 * maps of pair interactions. */
#include "driver/fmo/map_scale.h"

#include <math.h>
#include <stdlib.h>

/* The range is the smallest of 0.1, 0.2, 0.5, 1, ... kcal/mol that contains this share of the pairs
 * with an SCF and without a cut bond. */
static const double share = 0.9, least_range = 0.1;

static const unsigned char colours[FMO_MAP_COLOURS][3] = {
    {103, 0, 31},    {178, 24, 43},   {214, 96, 77},   {244, 165, 130},
    {253, 219, 199}, {247, 247, 247}, {209, 229, 240}, {146, 197, 222},
    {67, 147, 195},  {33, 102, 172},  {5, 48, 97}};

double fmo_pair_kcal(const fmo_fragment_pair *p)
{
    return FMO_KCAL_PER_MOL * p->total;
}

bool fmo_pair_is_shown(const fmo_fragment_pair *p)
{
    return !p->is_bonded && isfinite(fmo_pair_kcal(p));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double round_up(double value)
{
    static const double steps[] = {1.0, 2.0, 5.0};
    const double power = pow(10.0, floor(log10(value)));
    for (int i = 0; i < 3; i++)
        if (steps[i] * power >= value * (1.0 - 1e-9)) return steps[i] * power;
    return 10.0 * power;
}

/* Finds the range, the extreme energies and the strongest pair. */
bool fmo_map_scale_find(const fmo_fragment_result *r, fmo_map_scale *scale)
{
    double *size = malloc(((size_t)r->pair_num + 1) * sizeof *size);
    int count = 0;
    if (!size) return false;
    *scale = (fmo_map_scale){.strongest = -1};
    for (int scf = 1; scf >= 0 && !count; scf--) /* all pairs if there are none with an SCF */
        for (int k = 0; k < r->pair_num; k++)
            if (fmo_pair_is_shown(&r->pair[k]) && r->pair[k].is_scf >= scf)
                size[count++] = fabs(fmo_pair_kcal(&r->pair[k]));
    for (int k = 0; k < r->pair_num; k++) {
        if (!fmo_pair_is_shown(&r->pair[k])) continue;
        const double energy = fmo_pair_kcal(&r->pair[k]);
        scale->lowest = fmin(scale->lowest, energy);
        scale->highest = fmax(scale->highest, energy);
        if (scale->strongest < 0 || fabs(energy) > fabs(fmo_pair_kcal(&r->pair[scale->strongest])))
            scale->strongest = k;
    }
    qsort(size, (size_t)count, sizeof *size, compare);
    scale->range = round_up(fmax(count ? size[(int)ceil(share * count) - 1] : 0.0, least_range));
    free(size);
    return true;
}

void fmo_map_put_colour(FILE *stream, double energy)
{
    const double place = (fmin(1.0, fmax(-1.0, energy)) + 1.0) / 2.0 * (FMO_MAP_COLOURS - 1);
    const int k = place >= FMO_MAP_COLOURS - 1 ? FMO_MAP_COLOURS - 2 : (int)place;
    putc('#', stream);
    for (int c = 0; c < 3; c++) {
        const double from = colours[k][c], to = colours[k + 1][c];
        fprintf(stream, "%02x", (unsigned)lround(from + (place - k) * (to - from)));
    }
}
