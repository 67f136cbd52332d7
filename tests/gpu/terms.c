/* J alone, K alone, several densities, J of another molecule's density: modes fused and split. */
#include "tests/support/terms_checks.h"

static unsigned long long seed = 2203;

static fmo_fock_options options_of(fmo_mode mode, fmo_scatter scatter, fmo_integrals integrals)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.scatter = scatter;
    o.integrals = integrals;
    o.threads = 2;
    return o;
}

/* Every way in which quartets are gone through. `source`: the plan takes another's density. */
static void check(const fmo_fock_options *o, const test_system *small, const test_system *other,
                  const test_system *large)
{
    fmo_fock_options exact = *o;
    exact.cutoff = 0.0;
    terms_check_alone(small, &exact, 1e-11, &seed);
    terms_check_densities(small, &exact, 1e-11, &seed);
    terms_check_alone(large, o, 1e-8, &seed);
    terms_check_densities(large, o, 1e-8, &seed);
    if (o->mode != FMO_MODE_FUSED) return;
    terms_check_source(small, other, &exact, 1e-11, &seed);
    terms_check_source(other, small, &exact, 1e-11, &seed);
    terms_check_source(small, other, o, 1e-9, &seed);
}

/* Molecules with sp sets, and far quartets between them. */
static void long_molecule(test_system *s, int atoms, double from, double step)
{
    memset(s, 0, sizeof *s);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, from + step * a, 0.7 * (a % 3), 0.4 * (a % 2));
        system_add_shell(s, 0, 6, &seed);
        system_add_shell(s, 0, 3, &seed);
        system_add_partner(s, &seed);
    }
}

int main(void)
{
    static test_system small, other, large, chain, chains[2];
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    const int few = getenv("FMO_TEST_SMALL") != NULL;
    system_random(&small, 5, 7, 6, 3, 6.0, &seed);
    system_random(&other, 3, 4, 5, 4, 5.0, &seed);
    system_random(&large, few ? 8 : 20, few ? 10 : 40, few ? 9 : 30, 3, 14.0, &seed);
    system_shuffle_functions(&small, &seed);
    system_shuffle_functions(&other, &seed);
    for (int scatter = 0; scatter < FMO_SCATTER_COUNT; scatter++) {
        if (few && scatter != FMO_SCATTER_AUTO && scatter != FMO_SCATTER_FIXED) continue;
        if (!fmo_scatter_is_built((fmo_scatter)scatter, FMO_COMMIT_NATIVE)) continue;
        if (scatter == FMO_SCATTER_BLOCK_SHARED) continue; /* for matrices smaller than these */
        const fmo_fock_options o =
            options_of(FMO_MODE_FUSED, (fmo_scatter)scatter, FMO_INTEGRALS_DIRECT);
        check(&o, &small, &other, &large);
    }
    const fmo_fock_options stored =
        options_of(FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_STORED);
    const fmo_fock_options split =
        options_of(FMO_MODE_SPLIT, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT);
    const fmo_fock_options fused =
        options_of(FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT);
    check(&stored, &small, &other, &large);
    check(&split, &small, &other, &large);
    static const int shells[3] = {4, 3, 3};
    static test_system small_d, other_d, large_d;
    system_random_d(&small_d, 0, 3, shells, 3, 5.0, &seed);
    system_random_d(&other_d, 1, 2, shells, 2, 5.0, &seed);
    system_random_d(&large_d, 0, few ? 3 : 6, (const int[3]){9, 7, 6}, 3, 9.0, &seed);
    check(&fused, &small_d, &small_d, &large_d);
    check(&fused, &other_d, &other, &large_d); /* d shells on one side alone */
    if (few) return check_summary();
    long_molecule(&chain, 24, 0.0, 3.0);
    long_molecule(&chains[0], 14, 0.0, 3.0);
    long_molecule(&chains[1], 12, 24.0, 3.0);
    terms_check_alone(&chain, &fused, 1e-8, &seed);
    terms_check_densities(&chain, &fused, 1e-8, &seed);
    terms_check_source(&chains[0], &chains[1], &fused, 1e-8, &seed);
    return check_summary();
}
