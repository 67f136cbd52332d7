/* The weight of J in screening; see weight.h. */
#include "accumulate/rules/weight.h"

#include <math.h>
#include <string.h>

#include "accumulate/tuning.h"
#include "integrals/tables.h"

/* Number of nuclei at which the potential is evaluated, evenly spaced among all shells, so that 1e5
 * nuclei take a fraction of a second. The potential changes little between neighbours. */
enum { PLACES = fmo_tuning_screen_weight_places };
/* Number of runs whose terms are computed together. */
enum { RUNS = fmo_tuning_screen_weight_runs };

/* Consecutive shells of one nucleus form a run: returns the end of the run that begins with shell
 * s, and its number of functions. */
static int run_of(const fmo_basis *basis, int s, double *functions)
{
    const double *centre = basis->shell[s].centre;
    int end = s;
    *functions = 0.0;
    for (; end < basis->shell_num &&
           memcmp(basis->shell[end].centre, centre, sizeof basis->shell[end].centre) == 0;
         end++)
        *functions += fmo_shell_functions(basis->shell[end].ang_mom);
    return end;
}

/* A run: consecutive shells of one nucleus. */
typedef struct run {
    double centre[3], functions;
} run;

/* Adds the terms of some runs, in their order, to the potential at a place. */
static double add_runs(double sum, const run *runs, int num, const double *at)
{
    double term[RUNS];
    for (int n = 0; n < num; n++) { /* the expensive part; iterations are independent */
        const run *const r = &runs[n];
        const double x = r->centre[0] - at[0], y = r->centre[1] - at[1];
        const double z = r->centre[2] - at[2], R = sqrt(x * x + y * y + z * z);
        term[n] = r->functions / (R > FMO_SCREEN_NEAREST ? R : FMO_SCREEN_NEAREST);
    }
    for (int n = 0; n < num; n++) sum += term[n];
    return sum;
}

/* Selects the places: the centre of every step-th shell, skipping repeated ones. Returns their
 * number. */
static int find_places(const fmo_basis *basis, const double **place)
{
    const int step = (basis->shell_num + PLACES - 1) / PLACES;
    int num = 0;
    for (int s = 0; s < basis->shell_num; s += step) {
        const double *const at = basis->shell[s].centre;
        if (num == 0 || memcmp(place[num - 1], at, 3 * sizeof *at) != 0) place[num++] = at;
    }
    return num;
}

/* Sums the potential of all runs at each place and returns the largest. */
double fmo_screen_potential(const fmo_basis *basis)
{
    const double *place[PLACES];
    double sum[PLACES] = {0.0}, largest = 0.0;
    const int places = find_places(basis, place);
    for (int s = 0; s < basis->shell_num;) {
        run runs[RUNS];
        int num = 0;
        for (; num < RUNS && s < basis->shell_num; num++) {
            memcpy(runs[num].centre, basis->shell[s].centre, sizeof runs[num].centre);
            s = run_of(basis, s, &runs[num].functions);
        }
        for (int p = 0; p < places; p++) sum[p] = add_runs(sum[p], runs, num, place[p]);
    }
    for (int p = 0; p < places; p++) largest = fmax(largest, sum[p]);
    return largest;
}

double fmo_screen_coulomb_weight(const fmo_basis *basis)
{
    /* upper limit: the potential of all functions at the smallest distance */
    if (basis->function_num <= FMO_SCREEN_POTENTIAL * FMO_SCREEN_NEAREST) return 1.0;
    return fmax(1.0, fmo_screen_potential(basis) / FMO_SCREEN_POTENTIAL);
}
