/* The check of the caller's density (plan/matrices.c): a wrong element of a density of several
 * tiles is found wherever it is, by several threads. */
#include "tests/support/system.h"

enum { N_MAX = 64 };

int main(void)
{
    static test_system tall;
    static double J[N_MAX * N_MAX];
    unsigned long long seed = 4712;
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 3;
    system_random(&tall, 4, 20, 10, 2, 9.0, &seed);
    fmo_basis *const basis = system_basis(&tall);
    const int n = tall.aos;
    double *const D = random_density(n, 1.0, &seed);
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    CHECK(n > 32 && n <= N_MAX, "%d functions", n); /* tiles have 32 (plan/matrices.c) */
    for (int x = 0; x < n * n && plan; x++) {
        const double own = D[x];
        for (int c = 0; c < 2; c++) {
            D[x] = c ? NAN : own + 1e-6;
            if (c || x / n != x % n)
                CHECK(fmo_fock_build(plan, D, J, NULL, &err) == FMO_ERR_INPUT,
                      "%g for %g in element %d accepted", D[x], own, x);
        }
        D[x] = own;
    }
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
    free(D);
    return check_summary();
}
