/* The weight of J in the screening rule: weight.h. */
#include "accumulate/rules/weight.h"

#include <math.h>
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
    double largest = 0.0;
    for (int s = 0; s < basis->shell_num; s += step)
        largest = fmax(largest, potential_at(basis, basis->shell[s].center));
    return largest;
}

double fmo_screen_coulomb_weight(const fmo_basis *basis)
{
    /* no potential is larger than that of all functions at once */
    if (basis->function_num <= FMO_SCREEN_POTENTIAL * FMO_SCREEN_NEAREST) return 1.0;
    return fmax(1.0, fmo_screen_potential(basis) / FMO_SCREEN_POTENTIAL);
}
