/* fmo_fock_reuse_memory: memory of kept integrals goes from a plan of mode cpu to the thread's next
 * one, whose integrals are its own. */
#include "accumulate/cpu/build.h"
#include "accumulate/plan/plan.h"
#include "tests/support/system.h"

static unsigned long long seed = 77;

/* J and K of two builds of a plan that keeps its integrals, the second from them; where those of
 * the last class that has any are. */
static const void *build(const fmo_basis *basis, const double *density, double *out)
{
    const size_t size = (size_t)fmo_basis_ao_num(basis) * (size_t)fmo_basis_ao_num(basis);
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    const void *at = NULL;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.integrals = FMO_INTEGRALS_STORED;
    o.scatter = FMO_SCATTER_FIXED;
    o.threads = 1;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < 2 && plan; k++)
        CHECK(fmo_fock_build(plan, density, out, out + size, &err) == FMO_OK, "%s", err.message);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && plan; c++) {
        const fmo_cpu_store *const store = &((const fmo_cpu_state *)plan->state)->store[c];
        if (store->eri_bytes > 0) at = store->eri;
    }
    fmo_fock_plan_destroy(plan);
    return at;
}

int main(void)
{
    enum { MOLECULES = 3 };
    static const int shells[MOLECULES][3] = {{7, 5, 2}, {6, 5, 2}, {1, 1, 0}}; /* the last: small */
    static test_system s;
    fmo_basis *basis[MOLECULES];
    double *density[MOLECULES], *alone[MOLECULES], *handed[MOLECULES];
    const void *at[MOLECULES];
    for (int k = 0; k < MOLECULES; k++) {
        system_random_d(&s, 1, 3, shells[k], 2, 4.0, &seed);
        const size_t size = (size_t)s.aos * (size_t)s.aos;
        basis[k] = system_basis(&s);
        density[k] = random_density(s.aos, 1.0, &seed);
        alone[k] = (double *)malloc(2 * size * sizeof(double));
        handed[k] = (double *)malloc(2 * size * sizeof(double));
        (void)build(basis[k], density[k], alone[k]);
    }
    CHECK(fmo_fock_reuse_memory(1) == 0, "off at first");
    CHECK(fmo_fock_reuse_memory(1) == 1, "on");
    for (int round = 0; round < 2; round++) /* then after a small one */
        for (int k = 0; k < MOLECULES; k++) {
            const size_t size =
                (size_t)fmo_basis_ao_num(basis[k]) * (size_t)fmo_basis_ao_num(basis[k]);
            at[k] = build(basis[k], density[k], handed[k]);
            CHECK(!memcmp(alone[k], handed[k], 2 * size * sizeof(double)),
                  "molecule %d, round %d: other bits than alone", k, round);
        }
    CHECK(at[0] && at[0] == at[1], "the second plan has memory of its own");
    CHECK(fmo_fock_reuse_memory(0) == 1 && fmo_fock_reuse_memory(0) == 0, "off");
    for (int k = 0; k < MOLECULES; k++) {
        fmo_basis_destroy(basis[k]);
        free(density[k]);
        free(alone[k]);
        free(handed[k]);
    }
    return check_summary();
}
