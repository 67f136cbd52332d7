/* The table, the heat map and the page of a made-up chain of fragments, for tables.py.
 *     fragment_draw FRAGMENTS SEED PAIRS.tsv MAP.svg PAGE.html [NAME]...
 * Neighbours have a cut bond; every ninth fragment is charged, so that a few pairs are strong and
 * most are weak. Names are dealt out in turn; "" is none. SEED 0: energies that are no numbers. */
#include "tests/support/check.h"
#include <fmo/fragment.h>

#include <math.h>
#include <stdlib.h>

static double energy(int i, int j, const double *place, unsigned long long *seed)
{
    double r = 0.0;
    for (int x = 0; x < 3; x++) r += pow(place[3 * i + x] - place[3 * j + x], 2);
    r = sqrt(r) + 2.0;
    const double q = i % 9 == 4 && j % 9 == 4 ? ((i ^ j) & 1 ? -1.0 : 1.0) : 0.0;
    return q / r * 0.5 + 0.3 * (check_random(seed) - 0.6) * exp(-0.6 * r);
}

int main(int argc, char **argv)
{
    if (argc < 6) return 2;
    const int n = atoi(argv[1]), names = argc - 6;
    unsigned long long seed = (unsigned long long)atoll(argv[2]);
    const bool broken = seed == 0;
    fmo_error err = {FMO_OK, ""};
    double *place = calloc(3 * (size_t)n, sizeof *place);
    char **name = calloc((size_t)n, sizeof *name);
    int *number = calloc(3 * (size_t)n, sizeof *number), *fragment = number + n,
        *charge = fragment + n;
    double *zero = calloc((size_t)n, sizeof *zero);
    fmo_fragment_monomer *monomer = calloc((size_t)n, sizeof *monomer);
    fmo_fragment_pair *pair = calloc((size_t)n * (size_t)n, sizeof *pair);
    for (int k = 0; k < n; k++) {
        place[3 * k] = 3.0 * cos(0.6 * k) + 0.1 * k * sin(0.03 * k);
        place[3 * k + 1] = 3.0 * sin(0.6 * k) + 0.1 * k * cos(0.03 * k);
        place[3 * k + 2] = 4.0 * cos(0.11 * k);
        if (names && *argv[6 + k % names]) name[k] = argv[6 + k % names];
        number[k] = 2;
        fragment[k] = k;
        monomer[k] =
            (fmo_fragment_monomer){.nao = 2, .electron_num = 2, .energy = -2.75 - k, .homo = -0.9};
    }
    int pairs = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) {
            fmo_fragment_pair *p = &pair[pairs++];
            double r = 0.0;
            for (int x = 0; x < 3; x++) r += pow(place[3 * i + x] - place[3 * j + x], 2);
            *p = (fmo_fragment_pair){
                .i = i, .j = j, .distance = sqrt(r) / 3.0, .is_bonded = j == i + 1};
            p->is_scf = p->is_bonded || p->distance < 2.0;
            p->internal = p->is_bonded ? -14.8 : broken ? NAN : energy(i, j, place, &seed);
            p->transfer = p->is_scf ? 1e-3 : 0.0;
            p->total = p->internal + p->transfer;
            p->electrostatic = p->is_bonded ? NAN : 0.5 * p->internal;
        }
    const fmo_fragment_system system = {.atom_num = n,
                                        .number = number,
                                        .coord = place,
                                        .fragment = fragment,
                                        .charge = charge,
                                        .aoc_from = 1.0,
                                        .ptc_from = 2.0,
                                        .es_dimers_from = 2.0,
                                        .fragment_num = n,
                                        .fragment_name = names ? name : NULL,
                                        .path = "made/up.json",
                                        .name = names ? argv[6] : NULL};
    const fmo_fragment_result result = {.fragment_num = n,
                                        .atom_num = n,
                                        .monomer = monomer,
                                        .charge2 = zero,
                                        .pair_num = pairs,
                                        .pair = pair,
                                        .energy2 = -1.5};
    fmo_status status = fmo_fragment_write_pairs(argv[3], &system, &result, &err);
    if (status == FMO_OK)
        status = fmo_fragment_write_map(argv[4], &system, &result, "6-31G(d)", &err);
    if (status == FMO_OK)
        status = fmo_fragment_write_page(argv[5], &system, &result, "6-31G(d)", -1, &err);
    if (status != FMO_OK) fprintf(stderr, "%s\n", err.message);
    free(place);
    free(name);
    free(number);
    free(zero);
    free(monomer);
    free(pair);
    return (int)status;
}
