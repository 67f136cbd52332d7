/* J alone in mode cpu, which computes no integrals, through internal functions: every instruction
 * set of this processor, all classes, one density and several, and J of another molecule's density,
 * against J from builds of J and K; equal bits with scatter = fixed. */
#include "accumulate/cpu/kernel.h"
#include "accumulate/plan/plan.h"

#include "tests/accumulate/cpu_kernels.h"
#include "tests/support/system.h"

enum { DENSITIES = 3 };

static unsigned long long seed = 4711;

static fmo_fock_plan *plan_of(const fmo_basis *basis, fmo_scatter scatter, int threads,
                              fmo_reduce reduce, double cutoff, const fmo_cpu_kernels *kernels)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.integrals = FMO_INTEGRALS_DIRECT;
    o.scatter = scatter;
    o.threads = threads;
    o.reduce = reduce;
    o.cutoff = cutoff;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    if (plan && kernels) ((fmo_cpu_state *)plan->state)->kernels = kernels;
    return plan;
}

static void quartets_of(const fmo_fock_plan *plan, int64_t *quartets)
{
    fmo_fock_profile profile;
    memset(&profile, 0, sizeof profile);
    CHECK(fmo_fock_plan_profile(plan, &profile, NULL) == FMO_OK, "no profile");
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) quartets[c] = profile.classes[c].quartets;
}

/* all: every class must occur */
static void check_alone(const char *name, const fmo_basis *basis, int all)
{
    const fmo_cpu_kernels *kernels[3];
    const int count = kernels_here(kernels), n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D[DENSITIES], *J0 = malloc(3 * size * sizeof *J0), *J = J0 + size, *K = J + size;
    fmo_error err = {FMO_OK, ""};
    for (int d = 0; d < DENSITIES; d++) D[d] = random_density(n, 1.0 + d, &seed);
    for (int k = 0; k < 2 * count; k++) {
        const int threads = 1 + k % 2;
        int64_t with_K[FMO_ERI_CLASS_COUNT], alone[FMO_ERI_CLASS_COUNT];
        char label[160];
        double largest = 1.0;
        fmo_fock_plan *plan =
            plan_of(basis, FMO_SCATTER_AUTO, threads,
                    threads > 1 ? FMO_REDUCE_ATOMIC : FMO_REDUCE_TREE, 0.0, kernels[k / 2]);
        if (!plan) continue;
        snprintf(label, sizeof label, "%s, %s, %d threads", name, kernels[k / 2]->name, threads);
        CHECK(fmo_fock_build(plan, D[0], J0, K, &err) == FMO_OK, "%s", err.message);
        quartets_of(plan, with_K);
        memset(J, 0xff, size * sizeof *J);
        CHECK(fmo_fock_build(plan, D[0], J, NULL, &err) == FMO_OK, "%s", err.message);
        quartets_of(plan, alone);
        for (size_t x = 0; x < size; x++) largest = fmax(largest, fabs(J0[x]));
        check_close(label, J, J0, size, (size_t)n, 1e-12 * largest, 0.0);
        for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
            CHECK(alone[c] == with_K[c] && (alone[c] > 0 || !all),
                  "%s, class %d: %lld quartets for J alone, %lld for J and K", label, c,
                  (long long)alone[c], (long long)with_K[c]);

        /* several densities at a time; and the plan as its own source, where bra and ket are of one
         * list but only one side's J is required */
        fmo_fock_job job[DENSITIES];
        double *several = malloc(DENSITIES * size * sizeof *several);
        memset(several, 0xff, DENSITIES * size * sizeof *several);
        memset(job, 0, sizeof job);
        for (int d = 0; d < DENSITIES; d++) {
            job[d].plan = plan;
            job[d].density = D[d];
            job[d].coulomb = several + (size_t)d * size;
        }
        CHECK(fmo_fock_build_batch(job, DENSITIES, &err) == FMO_OK, "%s", err.message);
        for (int d = 0; d < DENSITIES; d++) {
            CHECK(fmo_fock_build(plan, D[d], J0, K, &err) == FMO_OK, "%s", err.message);
            check_close(label, several + (size_t)d * size, J0, size, (size_t)n,
                        1e-12 * (1 + d) * largest, 0.0);
        }
        free(several);
        fmo_fock_plan *other =
            plan_of(basis, FMO_SCATTER_AUTO, threads, FMO_REDUCE_TREE, 0.0, kernels[k / 2]);
        memset(job, 0, sizeof job);
        job[0].plan = plan;
        job[0].source = other;
        job[0].density = D[0];
        job[0].coulomb = J;
        memset(J, 0xff, size * sizeof *J);
        CHECK(fmo_fock_build_batch(job, 1, &err) == FMO_OK, "%s", err.message);
        CHECK(fmo_fock_build(plan, D[0], J0, K, &err) == FMO_OK, "%s", err.message);
        check_close("of another plan", J, J0, size, (size_t)n, 1e-12 * largest, 0.0);
        fmo_fock_plan_destroy(other);
        fmo_fock_plan_destroy(plan);
    }
    for (int d = 0; d < DENSITIES; d++) free(D[d]);
    free(J0);
}

/* With `fixed` the bits do not depend on the number of threads, the partition of the sums or the
 * run. */
static void check_bits(const char *name, const fmo_basis *basis)
{
    static const int threads[] = {1, 2, 3, 2};
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 1.0, &seed), *J0 = malloc(2 * size * sizeof *J0), *J = J0 + size;
    fmo_error err = {FMO_OK, ""};
    for (int t = 0; t < 4; t++) {
        fmo_fock_plan *plan = plan_of(basis, FMO_SCATTER_FIXED, threads[t],
                                      t == 3 ? FMO_REDUCE_ATOMIC : FMO_REDUCE_TREE, 1e-10, NULL);
        if (!plan) continue;
        CHECK(fmo_fock_build(plan, D, t ? J : J0, NULL, &err) == FMO_OK, "%s", err.message);
        if (t)
            CHECK(memcmp(J, J0, size * sizeof *J) == 0, "%s: other bits with %d threads", name,
                  threads[t]);
        fmo_fock_plan_destroy(plan);
    }
    free(D);
    free(J0);
}

/* Runs the checks on random molecules with d, f and g shells and on molecules of equal shells,
 * whose families of pairs fill several vectors. */
int main(void)
{
    static test_system s;
    static const int shells[5] = {3, 3, 3, 2, 2};
    const int small = getenv("FMO_TEST_SMALL") != NULL;
    char name[64];
    for (int cartesian = small; cartesian < 2; cartesian++)
        for (int box = 2; box <= (small ? 2 : 14); box += 12) {
            system_random_kinds(&s, cartesian, 3, 5, shells, 2, box, &seed);
            snprintf(name, sizeof name, "%s d, f and g shells in a box of %d",
                     cartesian ? "Cartesian" : "spherical", box);
            fmo_basis *basis = system_basis(&s);
            if (basis) check_alone(name, basis, 1);
            if (basis) check_bits(name, basis);
            fmo_basis_destroy(basis);
        }
    /* equal shells on many atoms: families of several vectors, near and far */
    for (int box = 4; box <= 24; box += 20) {
        memset(&s, 0, sizeof s);
        for (int a = 0; a < (small ? 3 : 6); a++) {
            unsigned long long same = 3;
            system_add_atom(&s, box * check_random(&seed), box * check_random(&seed),
                            box * check_random(&seed));
            system_add_shell(&s, 0, 2, &same);
            system_add_partner(&s, &same);
            if (a % 2) system_add_shell(&s, 2, 1, &same);
        }
        snprintf(name, sizeof name, "equal shells in a box of %d", box);
        fmo_basis *basis = system_basis(&s);
        if (basis) check_alone(name, basis, 0);
        if (basis) check_bits(name, basis);
        fmo_basis_destroy(basis);
    }
    return check_summary();
}
