/* J alone, K alone, several densities at a time, J of another molecule's density: modes cpu and
 * reference. */
#include "tests/support/terms_checks.h"

/* Runs the checks of terms for direct and stored integrals, both strategies, several threads and
 * reductions, with and without a cutoff, and for mode reference. */
int main(void)
{
    static test_system small, other, large;
    unsigned long long seed = 1711;
    fmo_fock_options o;
    if (getenv("FMO_TEST_SMALL")) {
        system_random(&small, 3, 4, 4, 2, 6.0, &seed);
        system_random(&other, 2, 3, 2, 2, 5.0, &seed);
        system_random(&large, 6, 8, 6, 2, 14.0, &seed);
    } else {
        system_random(&small, 5, 7, 6, 3, 6.0, &seed);
        system_random(&other, 3, 4, 5, 4, 5.0, &seed);
        system_random(&large, 12, 20, 18, 3, 14.0, &seed);
    }
    system_shuffle_functions(&small, &seed);
    system_shuffle_functions(&other, &seed);
    for (int integrals = FMO_INTEGRALS_DIRECT; integrals <= FMO_INTEGRALS_STORED; integrals++)
        for (int scatter = 0; scatter < 2; scatter++)
            for (int threads = 1; threads <= 3; threads += 2)
                for (int reduce = FMO_REDUCE_TREE; reduce <= FMO_REDUCE_ATOMIC; reduce++) {
                    /* half of the combinations, with each pair of values */
                    if (!getenv("FMO_TEST_FULL") &&
                        (integrals + scatter + threads / 2 + reduce) % 2 != 0)
                        continue;
                    fmo_fock_options_init(&o);
                    o.mode = FMO_MODE_CPU;
                    o.integrals = (fmo_integrals)integrals;
                    o.scatter = scatter ? FMO_SCATTER_FIXED : FMO_SCATTER_AUTO;
                    o.threads = threads;
                    o.reduce = (fmo_reduce)reduce;
                    o.cutoff = 0.0;
                    terms_check_alone(&small, &o, 1e-11, &seed);
                    terms_check_densities(&small, &o, 1e-11, &seed);
                    terms_check_source(&small, &other, &o, 1e-11, &seed);
                    if (getenv("FMO_TEST_SMALL") && reduce != FMO_REDUCE_TREE) continue;
                    o.cutoff = 1e-10;
                    terms_check_alone(&large, &o, 1e-8, &seed);
                    terms_check_densities(&large, &o, 1e-8, &seed);
                    terms_check_source(&small, &other, &o, 1e-8, &seed);
                }
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_REFERENCE;
    terms_check_alone(&small, &o, 1e-12, &seed);
    terms_check_densities(&small, &o, 1e-12, &seed);
    return check_summary();
}
