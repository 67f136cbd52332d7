#include "tests/support/system.h"

#include <math.h>

/* A plan with another cutoff for some of its builds. */
int main(void)
{
    static test_system s;
    unsigned long long seed = 271828;
    const double cutoff = 1e-12, loose = 1e-5;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 2;
    system_random(&s, 20, 24, 16, 3, 18.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (!basis) return check_summary();
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    double *const D = random_density((int)n, 1.0, &seed);
    double *const J = malloc(6 * size * sizeof *J);
    for (int integrals = FMO_INTEGRALS_DIRECT; integrals <= FMO_INTEGRALS_STORED; integrals++) {
        fmo_fock_plan *plan = NULL;
        int64_t quartets[3] = {0};
        o.cutoff = cutoff;
        o.integrals = (fmo_integrals)integrals;
        CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
        for (int turn = 0; turn < 3 && plan; turn++) {
            double *const to = J + 2 * (size_t)turn * size;
            fmo_fock_profile profile;
            CHECK(fmo_fock_plan_loosen(plan, turn == 1 ? loose : cutoff, &err) == FMO_OK &&
                      fmo_fock_build(plan, D, to, to + size, &err) == FMO_OK &&
                      fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK,
                  "%s", err.message);
            for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
                quartets[turn] += profile.classes[c].quartets;
        }
        check_close("J and K as before", J + 4 * size, J, 2 * size, n, 1e-12, 0.0);
        check_close("loosened", J + 2 * size, J, 2 * size, n, 100.0 * loose, 0.0);
        CHECK(quartets[2] == quartets[0], "%lld and %lld quartets", (long long)quartets[0],
              (long long)quartets[2]);
        if (integrals == FMO_INTEGRALS_DIRECT)
            CHECK(quartets[1] < quartets[0] - quartets[0] / 10, "%lld of %lld quartets",
                  (long long)quartets[1], (long long)quartets[0]);
        /* also where integrals are kept, of which the profile counts all */
        double left_out = 0.0;
        for (size_t k = 0; k < 2 * size; k++)
            left_out = fmax(left_out, fabs(J[2 * size + k] - J[k]));
        CHECK(left_out > 1e-3 * loose, "no more than %.1e was left out", left_out);
        if (integrals == FMO_INTEGRALS_STORED)
            CHECK(quartets[1] == quartets[0], "kept integrals: %lld of %lld quartets",
                  (long long)quartets[1], (long long)quartets[0]);
        static const double bad[] = {1e-13, 1.5, NAN};
        for (size_t k = 0; k < sizeof bad / sizeof *bad && plan; k++) {
            err = (fmo_error){FMO_OK, ""};
            CHECK(fmo_fock_plan_loosen(plan, bad[k], &err) == FMO_ERR_ARGUMENT &&
                      strstr(err.message, "expected 1e-12, the plan's, to 1"),
                  "%g: %s", bad[k], err.message);
        }
        fmo_fock_plan_destroy(plan);
    }
    free(D);
    free(J);
    fmo_basis_destroy(basis);
    return check_summary();
}
