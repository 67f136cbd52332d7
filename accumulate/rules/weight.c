/* The weight of J in the screening rule: weight.h. */
#include "accumulate/rules/weight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrals/tables.h"

/* Nuclei at which the potential is worked out: these many, evenly among all shells, so that 1e5
 * nuclei take a fraction of a second. It changes little from one to the next. */
enum { PLACES = 512 };

/* The shells of one nucleus that stand side by side count as one: returns the end of those that
 * begin with shell s, and how many functions they have. */
static int run_of(const fmo_basis *basis, int s, double *functions)
{
    const double *center = basis->shell[s].center;
    int end = s;
    *functions = 0.0;
    for (; end < basis->shell_num &&
           memcmp(basis->shell[end].center, center, sizeof basis->shell[end].center) == 0;
         end++)
        *functions += fmo_shell_functions(basis->shell[end].ang_mom);
    return end;
}

/* What one nucleus's shells that stand side by side have. */
typedef struct run {
    double center[3], functions;
} run;

/* All of them; returns how many. */
static int find_runs(const fmo_basis *basis, run *runs)
{
    int num = 0;
    for (int s = 0, end; s < basis->shell_num; s = end, num++) {
        memcpy(runs[num].center, basis->shell[s].center, sizeof runs[num].center);
        end = run_of(basis, s, &runs[num].functions);
    }
    return num;
}

/* The sum of potential_at, in the same order; the terms, which take longest, some at a time. */
static double potential_of(const run *runs, int num, const double *at)
{
    enum { SOME = 64 };
    double sum = 0.0, term[SOME];
    for (int begin = 0; begin < num; begin += SOME) {
        const int some = num - begin < SOME ? num - begin : SOME;
        for (int n = 0; n < some; n++) {
            const run *const r = &runs[begin + n];
            const double x = r->center[0] - at[0], y = r->center[1] - at[1];
            const double z = r->center[2] - at[2], R = sqrt(x * x + y * y + z * z);
            term[n] = r->functions / (R > FMO_SCREEN_NEAREST ? R : FMO_SCREEN_NEAREST);
        }
        for (int n = 0; n < some; n++) sum += term[n];
    }
    return sum;
}

static double potential_at(const fmo_basis *basis, const double *at)
{
    double sum = 0.0, functions;
    for (int s = 0, end; s < basis->shell_num; s = end) {
        const double *center = basis->shell[s].center;
        const double x = center[0] - at[0], y = center[1] - at[1], z = center[2] - at[2];
        end = run_of(basis, s, &functions);
        sum += functions / fmax(sqrt(x * x + y * y + z * z), FMO_SCREEN_NEAREST);
    }
    return sum;
}

double fmo_screen_potential(const fmo_basis *basis)
{
    const int step = (basis->shell_num + PLACES - 1) / PLACES;
    const double *before = NULL;
    double largest = 0.0;
    run *const runs = malloc((size_t)basis->shell_num * sizeof *runs);
    const int num = runs ? find_runs(basis, runs) : 0;
    for (int s = 0; s < basis->shell_num; s += step) {
        const double *const at = basis->shell[s].center;
        if (before && memcmp(before, at, 3 * sizeof *at) == 0) continue;
        before = at;
        largest = fmax(largest, runs ? potential_of(runs, num, at) : potential_at(basis, at));
    }
    free(runs);
    return largest;
}

double fmo_screen_coulomb_weight(const fmo_basis *basis)
{
    /* no potential is larger than that of all functions at once */
    if (basis->function_num <= FMO_SCREEN_POTENTIAL * FMO_SCREEN_NEAREST) return 1.0;
    return fmax(1.0, fmo_screen_potential(basis) / FMO_SCREEN_POTENTIAL);
}
