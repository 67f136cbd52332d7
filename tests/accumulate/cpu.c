/* Mode cpu through internal functions: the kernels of every instruction set of this processor
 * against mode reference; scatter fixed, whose J and K are equal bit by bit for any number of
 * threads, any reduction and every run; integrals stored in memory. */
#include "accumulate/cpu/kernel.h"
#include "accumulate/plan/plan.h"

#include "tests/support/calls.h"
#include "tests/accumulate/cpu_kernels.h"
#include "tests/support/system.h"

static unsigned long long seed = 12;

typedef struct setting {
    fmo_mode mode;
    fmo_scatter scatter;
    int threads;
    fmo_reduce reduce;
    double cutoff;
    const fmo_cpu_kernels *kernels; /* NULL: the best */
} setting;

static int build(const fmo_basis *basis, const setting *how, const double *D, double *J, double *K)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = how->mode;
    o.scatter = how->scatter;
    o.threads = how->threads;
    o.reduce = how->reduce;
    o.cutoff = how->cutoff;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    if (status == FMO_OK && how->kernels) ((fmo_cpu_state *)plan->state)->kernels = how->kernels;
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    CHECK(status == FMO_OK, "%s: %s", fmo_mode_name(how->mode), err.message);
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK;
}

typedef struct matrices {
    size_t n, size;
    double *D, *J0, *K0, *J, *K;
} matrices;

static matrices matrices_of(const fmo_basis *basis, double density)
{
    matrices m = {.n = (size_t)fmo_basis_ao_num(basis)};
    m.size = m.n * m.n;
    m.D = random_density((int)m.n, density, &seed);
    m.J0 = malloc(4 * m.size * sizeof *m.J0);
    m.K0 = m.J0 + m.size;
    m.J = m.K0 + m.size;
    m.K = m.J + m.size;
    return m;
}

static void matrices_free(matrices *m)
{
    free(m->D);
    free(m->J0);
}

static double largest_of(const matrices *m)
{
    double largest = 1.0;
    for (size_t x = 0; x < m->size; x++)
        largest = fmax(largest, fmax(fabs(m->J0[x]), fabs(m->K0[x])));
    return largest;
}

/* Every instruction set with every strategy and reduction agrees with mode reference. */
static void check_kernels(const char *name, const fmo_basis *basis)
{
    const fmo_cpu_kernels *kernels[3];
    const int count = kernels_here(kernels);
    matrices m = matrices_of(basis, 1.0);
    const setting reference = {FMO_MODE_REFERENCE, FMO_SCATTER_AUTO, 2, FMO_REDUCE_TREE, 0.0, NULL};
    if (build(basis, &reference, m.D, m.J0, m.K0)) {
        const double scale = fmax(1.0, 1e-2 * largest_of(&m));
        for (int k = 0; k < count; k++) {
            const setting runs[] = {
                {FMO_MODE_CPU, FMO_SCATTER_AUTO, 1, FMO_REDUCE_TREE, 0.0, kernels[k]},
                {FMO_MODE_CPU, FMO_SCATTER_AUTO, 2, FMO_REDUCE_ATOMIC, 0.0, kernels[k]},
                {FMO_MODE_CPU, FMO_SCATTER_FIXED, 2, FMO_REDUCE_TREE, 0.0, kernels[k]},
                {FMO_MODE_CPU, FMO_SCATTER_AUTO, 2, FMO_REDUCE_TREE, 1e-10, kernels[k]}};
            for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
                char label[160];
                snprintf(label, sizeof label, "%s, %s, scatter %s, %s, cutoff %g", name,
                         kernels[k]->name, fmo_scatter_name(runs[r].scatter),
                         fmo_reduce_name(runs[r].reduce), runs[r].cutoff);
                memset(m.J, 0xff, 2 * m.size * sizeof *m.J);
                if (!build(basis, &runs[r], m.D, m.J, m.K)) continue;
                const double tolerance = runs[r].cutoff > 0 ? 1e-8 : 1e-10 * scale;
                check_close(label, m.J, m.J0, m.size, m.n, tolerance, 0.0);
                check_close(label, m.K, m.K0, m.size, m.n, tolerance, 0.0);
            }
        }
    }
    matrices_free(&m);
}

/* With `fixed` the bits do not depend on threads, reduction or run. */
static void check_fixed(const char *name, const fmo_basis *basis, double density)
{
    static const int threads[] = {1, 2, 3, 5, 2};
    static const double cutoffs[] = {0.0, 1e-10};
    matrices m = matrices_of(basis, density);
    for (size_t c = 0; c < sizeof cutoffs / sizeof *cutoffs; c++) {
        setting how = {FMO_MODE_CPU, FMO_SCATTER_FIXED, 1, FMO_REDUCE_TREE, cutoffs[c], NULL};
        if (!build(basis, &how, m.D, m.J0, m.K0)) break;
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            for (int atomic = 0; atomic < 2; atomic++) {
                how.threads = threads[t];
                how.reduce = atomic ? FMO_REDUCE_ATOMIC : FMO_REDUCE_TREE;
                memset(m.J, 0xff, 2 * m.size * sizeof *m.J);
                if (!build(basis, &how, m.D, m.J, m.K)) continue;
                CHECK(memcmp(m.J, m.J0, 2 * m.size * sizeof *m.J) == 0,
                      "%s: fixed with %d threads, %s, cutoff %g differs from 1 thread", name,
                      how.threads, fmo_reduce_name(how.reduce), how.cutoff);
            }
        }
        /* and the result agrees with one without `fixed`, but for the rounding to fixed point */
        how.scatter = FMO_SCATTER_AUTO;
        how.threads = 1;
        how.reduce = FMO_REDUCE_TREE;
        if (build(basis, &how, m.D, m.J, m.K)) {
            const double tolerance = 1e-12 * largest_of(&m);
            check_close(name, m.J, m.J0, m.size, m.n, tolerance, 0.0);
            check_close(name, m.K, m.K0, m.size, m.n, tolerance, 0.0);
        }
    }
    matrices_free(&m);
}

/* Builds from stored integrals agree with direct builds for several densities; a density that is
 * too large for the pairs makes the plan compute them again. */
static void check_stored(const char *name, const fmo_basis *basis, double cutoff,
                         const fmo_cpu_kernels *kernels, int threads, fmo_scatter scatter)
{
    static const double sizes[] = {1.0, 0.01, 7.0, 100.0, 3.0, 0.0};
    char label[160];
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.cutoff = cutoff;
    o.threads = threads;
    o.scatter = scatter;
    o.integrals = FMO_INTEGRALS_STORED;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    if (status == FMO_OK) {
        ((fmo_cpu_state *)plan->state)->kernels = kernels;
        status = plan->mode->new_pairs(plan, &err); /* space for vectors of this width */
    }
    for (size_t k = 0; status == FMO_OK && k < sizeof sizes / sizeof *sizes; k++) {
        const setting direct = {FMO_MODE_CPU, FMO_SCATTER_AUTO, 1, FMO_REDUCE_TREE, 0.0, NULL};
        matrices m = matrices_of(basis, sizes[k]);
        snprintf(label, sizeof label,
                 "%s, %s, %d threads, scatter %s, stored, cutoff %g, density %zu", name,
                 kernels->name, threads, fmo_scatter_name(scatter), cutoff, k);
        if (build(basis, &direct, m.D, m.J0, m.K0)) {
            memset(m.J, 0xff, 2 * m.size * sizeof *m.J);
            status = fmo_fock_build(plan, m.D, m.J, m.K, &err);
            if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
            CHECK(profile.integrals == FMO_INTEGRALS_STORED, "%s: %s", label,
                  fmo_integrals_name(profile.integrals));
            const double tolerance = cutoff > 0 ? 1e-8 : 1e-12 * largest_of(&m);
            check_close(label, m.J, m.J0, m.size, m.n, tolerance, 0.0);
            check_close(label, m.K, m.K0, m.size, m.n, tolerance, 0.0);
            /* and once more: the same bits if the sums have a fixed order */
            if (threads == 1 || scatter == FMO_SCATTER_FIXED) {
                memcpy(m.J0, m.J, 2 * m.size * sizeof *m.J);
                if (status == FMO_OK) status = fmo_fock_build(plan, m.D, m.J, m.K, &err);
                CHECK(memcmp(m.J, m.J0, 2 * m.size * sizeof *m.J) == 0, "%s: not the same again",
                      label);
            }
        }
        matrices_free(&m);
    }
    CHECK(status == FMO_OK, "%s: %s", name, err.message);
    fmo_fock_plan_destroy(plan);
}

/* Densities near the limits of a double are built right or refused, and never give 0. */
static void check_fixed_ends(const fmo_basis *basis)
{
    static const double sizes[] = {1e306, 1.7e308, 1e290, 1e200, 1e-200, 1e-290, 1e-300};
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL, *plain = NULL;
    fmo_error err = {FMO_OK, ""};
    int refused = 0;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 2;
    o.cutoff = 0.0;
    CHECK(fmo_fock_plan_create(basis, &o, &plain, &err) == FMO_OK, "%s", err.message);
    o.scatter = FMO_SCATTER_FIXED;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    for (size_t k = 0; plan && plain && k < sizeof sizes / sizeof *sizes; k++) {
        matrices m = matrices_of(basis, sizes[k]);
        char label[64];
        err = (fmo_error){FMO_OK, ""};
        for (size_t x = 0; x < 2 * m.size; x++) m.J[x] = -7.0;
        const fmo_status status = fmo_fock_build(plan, m.D, m.J, m.K, &err);
        snprintf(label, sizeof label, "fixed, a density of %g", sizes[k]);
        if (status == FMO_OK) {
            double largest = 0.0;
            CHECK(fmo_fock_build(plain, m.D, m.J0, m.K0, &err) == FMO_OK, "%s", err.message);
            for (size_t x = 0; x < 2 * m.size; x++) largest = fmax(largest, fabs(m.J0[x]));
            CHECK(largest > 0.0 && isfinite(largest), "%s: J and K up to %g", label, largest);
            /* numbers below 1e-308 have few digits in either form */
            check_close(label, m.J, m.J0, 2 * m.size, m.n, 1e-12 * largest + 1e-305, 0.0);
        } else {
            refused++;
            CHECK(status == FMO_ERR_INPUT && strstr(err.message, "scatter = fixed") &&
                      strstr(err.message, "no finite bound"),
                  "%s: %d, %s", label, status, err.message);
            CHECK(m.J[0] == -7.0 && m.K[0] == -7.0, "%s: written on error", label);
            CHECK(sizes[k] >= 1e300, "%s is refused", label);
        }
        matrices_free(&m);
    }
    CHECK(refused >= 1, "nothing was refused");
    fmo_fock_plan_destroy(plan);
    fmo_fock_plan_destroy(plain);
}

/* Lists that vectors cannot index are refused with one line. */
static void check_indices(void)
{
    const size_t limit = 536870911;
    fmo_error err = {FMO_OK, ""};
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        CHECK(fmo_cpu_pairs_check(c, limit, limit, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_cpu_pairs_check(0, 7, limit + 1, &err) == FMO_ERR_UNSUPPORTED &&
              strstr(err.message, "mode cpu: 536870912 primitive pairs of s and s shells") &&
              strstr(err.message, "mode fused"),
          "%s", err.message);
    CHECK_REFUSED(fmo_cpu_pairs_check(1, limit + 1, 7, &err), &err, FMO_ERR_UNSUPPORTED,
                  "shell pairs of p and s shells");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_cpu_pairs_check(0, 7, (size_t)1 << 40, &err) == FMO_ERR_UNSUPPORTED, "2^40 rows");
}

/* A list with too large a count is refused by the plan's own check before anything is allocated. */
static void check_indices_of_lists(const fmo_basis *basis)
{
    fmo_shell_pairs pairs;
    fmo_cpu_pairs made;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_shell_pairs_make(basis, 0.0, 1, &pairs, &err) == FMO_OK, "%s", err.message);
    const int64_t real = pairs.list[0].prim_num;
    pairs.list[0].prim_num = (int64_t)1 << 29;
    CHECK(fmo_cpu_pairs_make(basis, &pairs, &made, &err) == FMO_ERR_UNSUPPORTED &&
              strstr(err.message, "primitive pairs") && !made.list[0].prim,
          "%s", err.message);
    pairs.list[0].prim_num = real;
    fmo_shell_pairs_free(&pairs);
}

/* With a memory limit that is too small, `stored` is refused with the memory it needs, and `auto`
 * uses direct integrals. */
static void check_stored_limits(const fmo_basis *basis)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    matrices m = matrices_of(basis, 1.0);
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 1;
    size_t least = 1000; /* the least that a build needs */
    o.memory = least;
    while (fmo_fock_plan_create(basis, &o, &plan, NULL) == FMO_ERR_MEMORY)
        o.memory = least += least / 4;
    fmo_fock_plan_destroy(plan);
    for (int small = 0; small < 2; small++) {
        o.memory = small ? least : (size_t)1 << 30;
        o.integrals = FMO_INTEGRALS_AUTO;
        const fmo_integrals expected = small ? FMO_INTEGRALS_DIRECT : FMO_INTEGRALS_STORED;
        CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK &&
                  fmo_fock_build(plan, m.D, m.J, m.K, &err) == FMO_OK &&
                  fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK,
              "%s", err.message);
        CHECK(profile.integrals == expected, "auto with %zu bytes: %s", o.memory,
              fmo_integrals_name(profile.integrals));
        fmo_fock_plan_destroy(plan);
        plan = NULL;
    }
    o.integrals = FMO_INTEGRALS_STORED;
    const fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    CHECK(status == FMO_ERR_MEMORY && strstr(err.message, "MB") && strstr(err.message, "auto"),
          "%d: %s", status, err.message);
    CHECK(!plan, "a plan in spite of the error");
    matrices_free(&m);
}

/* Runs the checks on random molecules and on equal shells in boxes of several sizes, from
 * overlapping to well separated pairs. */
int main(void)
{
    static test_system s;
    const int few = getenv("FMO_TEST_SMALL") != NULL;
    char name[64];
    for (int shells = 1; shells <= (few ? 5 : 9); shells += 2) {
        system_random(&s, shells, shells, shells / 2, 3, 4.0, &seed);
        snprintf(name, sizeof name, "%d s, %d p", shells, shells / 2);
        fmo_basis *basis = system_basis(&s);
        if (basis) check_kernels(name, basis);
        fmo_basis_destroy(basis);
    }

    /* Equal shells on many atoms: groups of many pairs, near and far. */
    for (int box = 3; box <= 30; box += few ? 27 : 9) {
        memset(&s, 0, sizeof s);
        for (int a = 0; a < (few ? 5 : 9); a++) {
            unsigned long long same = 3;
            system_add_atom(&s, box * check_random(&seed), box * check_random(&seed),
                            box * check_random(&seed));
            system_add_shell(&s, 0, 3, &same);
            system_add_shell(&s, 0, 1, &same);
            system_add_shell(&s, 1, 2, &same);
        }
        snprintf(name, sizeof name, "equal shells in a box of %d", box);
        fmo_basis *basis = system_basis(&s);
        if (basis) {
            check_kernels(name, basis);
            check_fixed(name, basis, 1.0);
            if (box == 3) check_fixed("a large density", basis, 1e6);
            if (box == 3) check_fixed("a tiny density", basis, 1e-9);
            const fmo_cpu_kernels *kernels[3];
            const int count = kernels_here(kernels);
            for (int k = 0; k < count; k++) {
                check_stored(name, basis, 0.0, kernels[k], 1, FMO_SCATTER_AUTO);
                check_stored(name, basis, 1e-10, kernels[k], 2, FMO_SCATTER_AUTO);
                check_stored(name, basis, 1e-10, kernels[k], 2, FMO_SCATTER_FIXED);
            }
            check_stored_limits(basis);
            check_fixed_ends(basis);
            check_indices_of_lists(basis);
        }
        fmo_basis_destroy(basis);
    }

    check_indices();
    system_random(&s, 1, 1, 0, 1, 1.0, &seed);
    fmo_basis *one = system_basis(&s);
    if (one) check_fixed("no density", one, 0.0);
    fmo_basis_destroy(one);
    return check_summary();
}
