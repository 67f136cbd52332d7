/* J and K of mode cpu, every thread count and reduction, against mode reference: random molecules
 * and densities, with d shells of both forms, sizes around the vector width, empty classes, one
 * shell, coincident atoms, near-linear dependence, a far-apart system, shuffled and scaled
 * functions. */
#include <fmo/potential.h>

#include "tests/support/calls.h"
#include "tests/support/system.h"

static unsigned long long seed = 99;

/* J and K of mode cpu agree with mode reference for several numbers of threads, reductions and
 * cutoffs, and screened-in and skipped quartets add up to all quartets. */
static void compare(const char *name, const fmo_basis *basis, double density_size)
{
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, density_size, &seed);
    double *m = malloc(4 * size * sizeof *m), *J0 = m, *K0 = m + size, *J = m + 2 * size,
           *K = m + 3 * size;
    double largest = 1.0;
    const fmo_fock_options reference = fock_options(FMO_MODE_REFERENCE, 2, 0.0);
    if (fock_build(basis, &reference, D, J0, K0, NULL)) {
        for (size_t x = 0; x < size; x++) largest = fmax(largest, fmax(fabs(J0[x]), fabs(K0[x])));
        static const struct {
            int threads;
            fmo_reduce reduce;
            double cutoff, tolerance;
        } runs[] = {{1, FMO_REDUCE_TREE, 0.0, 1e-10},  {2, FMO_REDUCE_TREE, 0.0, 1e-10},
                    {3, FMO_REDUCE_TREE, 0.0, 1e-10},  {2, FMO_REDUCE_ATOMIC, 0.0, 1e-10},
                    {1, FMO_REDUCE_TREE, 1e-10, 1e-8}, {2, FMO_REDUCE_ATOMIC, 1e-10, 1e-8},
                    {2, FMO_REDUCE_TREE, 1e-12, 1e-9}};
        for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            char label[128];
            fmo_fock_profile profile;
            snprintf(label, sizeof label, "%s, %d threads, %s, cutoff %g", name, runs[r].threads,
                     fmo_reduce_name(runs[r].reduce), runs[r].cutoff);
            memset(J, 0xff, 2 * size * sizeof *J); /* NaN: every element must be written */
            fmo_fock_options o = fock_options(FMO_MODE_CPU, runs[r].threads, runs[r].cutoff);
            o.reduce = runs[r].reduce;
            if (!fock_build(basis, &o, D, J, K, &profile)) continue;
            /* relative to the largest element, which random densities make large */
            const double tolerance =
                runs[r].tolerance * (runs[r].cutoff > 0 ? 1.0 : fmax(1.0, largest * 1e-2));
            check_close(label, J, J0, size, (size_t)n, tolerance, 0.0);
            check_close(label, K, K0, size, (size_t)n, tolerance, 0.0);
            int64_t all = 0;
            int64_t shells = 0;
            for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) shells += fmo_basis_shell_num(basis, l);
            const int64_t pairs = shells * (shells + 1) / 2;
            for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
                all += profile.classes[c].quartets + profile.classes[c].quartets_skipped;
                if (runs[r].cutoff == 0)
                    CHECK(profile.classes[c].quartets_skipped == 0, "%s: skipped at cutoff 0",
                          label);
            }
            CHECK(all == pairs * (pairs + 1) / 2, "%s: %lld quartets counted, %lld there are",
                  label, (long long)all, (long long)(pairs * (pairs + 1) / 2));
        }
    }
    free(D);
    free(m);
}

static void compare_system(const char *name, const test_system *s)
{
    fmo_basis *basis = system_basis(s);
    if (basis) compare(name, basis, 1.0);
    fmo_basis_destroy(basis);
}

/* s, p and d shells with Cartesian and spherical functions, shuffled and with different factors. */
static void check_d(void)
{
    static test_system s;
    static const int shells[][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 3},
                                    {2, 2, 2}, {5, 3, 2}, {1, 1, 4}};
    for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
        for (int cartesian = 0; cartesian < 2; cartesian++) {
            char name[64];
            const int atoms = k < 3 ? 1 : 2;
            system_random_d(&s, cartesian, atoms, shells[k], k == 4 ? 4 : 2, 4.0, &seed);
            if (k % 2) system_shuffle_functions(&s, &seed);
            snprintf(name, sizeof name, "%d s, %d p, %d %s d", shells[k][0], shells[k][1],
                     shells[k][2], cartesian ? "Cartesian" : "spherical");
            compare_system(name, &s);
        }
    }
}

/* The same with f shells, in all combinations with lower ones. */
static void check_f(void)
{
    static test_system s;
    static const int shells[][4] = {{0, 0, 0, 1}, {2, 0, 0, 1}, {0, 1, 0, 2},
                                    {1, 1, 1, 2}, {3, 2, 2, 2}, {0, 0, 1, 3}};
    for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
        for (int cartesian = 0; cartesian < 2; cartesian++) {
            char name[64];
            system_random_kinds(&s, cartesian, k < 2 ? 1 : 2, 4, shells[k], k == 3 ? 3 : 1, 4.0,
                                &seed);
            if (k % 2) system_shuffle_functions(&s, &seed);
            snprintf(name, sizeof name, "%d s, %d p, %d d, %d %s f", shells[k][0], shells[k][1],
                     shells[k][2], shells[k][3], cartesian ? "Cartesian" : "spherical");
            compare_system(name, &s);
        }
    }
}

/* The same with g shells, up to four of them in a quartet. */
static void check_g(void)
{
    static test_system s;
    static const int shells[][5] = {
        {0, 0, 0, 0, 1}, {1, 0, 0, 0, 2}, {0, 1, 1, 1, 1}, {1, 1, 0, 1, 2}};
    for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
        for (int cartesian = 0; cartesian < 2; cartesian++) {
            char name[64];
            system_random_kinds(&s, cartesian, k < 1 ? 1 : 2, 5, shells[k], k == 1 ? 2 : 1, 3.0,
                                &seed);
            if (k % 2) system_shuffle_functions(&s, &seed);
            snprintf(name, sizeof name, "%d s, %d p, %d d, %d f, %d %s g", shells[k][0],
                     shells[k][1], shells[k][2], shells[k][3], shells[k][4],
                     cartesian ? "Cartesian" : "spherical");
            compare_system(name, &s);
        }
    }
}

/* g shells are refused by name on a GPU, and mode auto leaves them to the CPU. */
static void check_g_on_gpu(void)
{
    static test_system s;
    static const int shells[] = {1, 0, 0, 0, 1};
    system_random_kinds(&s, 0, 1, 5, shells, 1, 3.0, &seed);
    fmo_basis *basis = system_basis(&s);
    for (int k = 0; basis && k < 3; k++) {
        static const fmo_mode modes[] = {FMO_MODE_FUSED, FMO_MODE_SPLIT, FMO_MODE_AUTO};
        fmo_fock_options o;
        fmo_fock_plan *plan = NULL;
        fmo_mode mode;
        char reason[sizeof((fmo_fock_profile *)0)->mode_reason];
        fmo_error err = {FMO_OK, ""};
        fmo_fock_options_init(&o);
        o.mode = modes[k];
        const fmo_status status = modes[k] == FMO_MODE_AUTO
                                      ? fmo_fock_choose_mode(basis, &o, &mode, reason, &err)
                                      : fmo_fock_plan_create(basis, &o, &plan, &err);
        if (modes[k] == FMO_MODE_AUTO)
            CHECK(status == FMO_OK && mode == FMO_MODE_CPU &&
                      !strcmp(reason, "modes fused and split have no kernels for g shells, which "
                                      "the basis has"),
                  "%d: %s", (int)mode, reason);
        else
            CHECK(status == FMO_ERR_UNSUPPORTED &&
                      strstr(err.message, "g shells, which the basis has; use mode cpu or auto"),
                  "%d: %s", (int)status, err.message);
        fmo_fock_plan_destroy(plan);
    }
    fmo_basis_destroy(basis);
}

/* Potentials of f shells are refused on a GPU by name. */
static void check_potentials_of_f(void)
{
    static test_system s;
    static const int shells[] = {1, 1, 1, 2};
    fmo_error err = {FMO_OK, ""};
    system_random_kinds(&s, 0, 1, 4, shells, 2, 4.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (!basis) return;
    fmo_products *products = NULL;
    fmo_potential_options on_gpu;
    const double charge = 1.0, at[3] = {0.0, 0.0, 9.0};
    fmo_potential_options_init(&on_gpu);
    on_gpu.mode = FMO_MODE_FUSED;
    static double potential[64 * 64];
    fmo_potential_job job = {
        .charge_num = 1, .charge = &charge, .coord = at, .potential = potential};
    CHECK(fmo_products_create(basis, &products, &err) == FMO_OK, "%s", err.message);
    job.products = products;
    CHECK(fmo_potentials(&job, 1, &on_gpu, &err) == FMO_ERR_UNSUPPORTED &&
              strstr(err.message, "f shells are computed in mode cpu"),
          "%s", err.message);
    on_gpu.mode = FMO_MODE_CPU;
    CHECK(fmo_potentials(&job, 1, &on_gpu, &err) == FMO_OK, "%s", err.message);
    fmo_products_destroy(products);
    fmo_basis_destroy(basis);
}

/* Mode auto sends what the GPU's kernels do not support to the CPU, and reports it. */
static void check_modes_of(int kinds)
{
    static test_system s;
    static const int shells[] = {1, 1, 1, 1};
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_mode mode = FMO_MODE_COUNT;
    char reason[160] = "";
    system_random_kinds(&s, 0, 1, kinds, shells, 2, 4.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (!basis) return;
    fmo_fock_options_init(&o);
    const fmo_status gpu = fmo_gpu_available(NULL);
    CHECK(fmo_fock_choose_mode(basis, &o, &mode, reason, &err) == FMO_OK &&
              mode == (gpu == FMO_OK ? FMO_MODE_FUSED : FMO_MODE_CPU) &&
              !strstr(reason, "d shells"),
          "auto became %s: %s%s", fmo_mode_name(mode), reason, err.message);
    o.scatter = FMO_SCATTER_TILE; /* it has no kernels for d shells */
    CHECK(fmo_fock_choose_mode(basis, &o, &mode, reason, &err) == FMO_OK && mode == FMO_MODE_CPU &&
              strstr(reason, "scatter = tile") && strstr(reason, "d shells"),
          "auto became %s: %s%s", fmo_mode_name(mode), reason, err.message);
    o.scatter = FMO_SCATTER_AUTO;
    o.mode = FMO_MODE_SPLIT;
    CHECK(fmo_fock_choose_mode(basis, &o, &mode, reason, &err) == FMO_OK &&
              mode == FMO_MODE_SPLIT && !*reason,
          "split became %s: %s", fmo_mode_name(mode), reason);
    check_plan_refused(basis, &o, FMO_ERR_UNSUPPORTED, "mode split has no kernels for d shells");
    o.mode = FMO_MODE_FUSED;
    o.scatter = FMO_SCATTER_TILE;
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_UNSUPPORTED && !plan, "%s",
          err.message);
    const char *const use = strstr(err.message, "; use ");
    for (int k = 0; k < FMO_SCATTER_COUNT && use;
         k++) { /* it names the strategies that support d shells */
        const char *const there = strstr(use, fmo_scatter_name((fmo_scatter)k));
        CHECK(!there == !fmo_scatter_takes_all_shells((fmo_scatter)k, FMO_COMMIT_NATIVE), "%s: %s",
              fmo_scatter_name((fmo_scatter)k), err.message);
    }
    CHECK(use && strstr(use, " or ") && strstr(use, ", commit = native"), "%s", err.message);
    fmo_basis_destroy(basis);
}

/* Runs the comparison on random molecules around the vector widths and on special geometries, and
 * checks that the result stays linear when a large density makes the plan prune again. */
int main(void)
{
    static test_system s;
    char name[64];
    check_d();
    check_modes_of(3);
    check_modes_of(4);
    check_potentials_of_f();
    check_f();
    check_g();
    check_g_on_gpu();
    for (int shells = 1; shells <= 9; shells++) { /* around the vector widths 2, 4, 8 */
        system_random(&s, shells, shells, 0, 3, 4.0, &seed);
        snprintf(name, sizeof name, "%d s", shells);
        compare_system(name, &s);
        if (shells > 5) continue;
        system_random(&s, shells, 0, shells, 3, 4.0, &seed);
        snprintf(name, sizeof name, "%d p", shells);
        compare_system(name, &s);
        system_random(&s, shells, shells, shells, 2, 5.0, &seed);
        snprintf(name, sizeof name, "%d s and p", shells);
        compare_system(name, &s);
    }
    system_random(&s, 4, 9, 7, 6, 5.0, &seed);
    compare_system("deep contractions", &s);

    system_random(&s, 5, 8, 5, 3, 5.0, &seed);
    system_shuffle_functions(&s, &seed);
    compare_system("shuffled functions", &s);

    memset(&s, 0, sizeof s); /* coincident atoms */
    for (int a = 0; a < 3; a++) {
        system_add_atom(&s, 0.1, 0.2, a == 2 ? 2.0 : 0.3);
        system_add_shell(&s, 0, 3, &seed);
        system_add_shell(&s, 1, 2, &seed);
    }
    compare_system("coincident atoms", &s);

    memset(&s, 0, sizeof s); /* the same functions twice, 1e-7 bohr apart */
    for (int a = 0; a < 4; a++) {
        unsigned long long same = 5;
        system_add_atom(&s, 1e-7 * (a % 2), 0.0, a / 2 * 2.0);
        system_add_shell(&s, 0, 2, &same);
        system_add_shell(&s, 1, 2, &same);
    }
    compare_system("near-linear dependence", &s);

    memset(&s, 0, sizeof s); /* far apart: most pairs vanish */
    for (int a = 0; a < 6; a++) {
        system_add_atom(&s, 60.0 * a, -35.0 * a, 0.0);
        system_add_shell(&s, 0, 3, &seed);
        system_add_shell(&s, 1, 2, &seed);
    }
    compare_system("far apart", &s);

    /* A huge density makes the plan prune again; the result stays linear in D. */
    system_random(&s, 4, 5, 4, 4, 6.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (basis) {
        const int n = fmo_basis_ao_num(basis);
        const size_t size = (size_t)n * (size_t)n;
        double *D = random_density(n, 1.0, &seed), *m = malloc(4 * size * sizeof *m);
        const fmo_fock_options o = fock_options(FMO_MODE_CPU, 1, 1e-10);
        if (fock_build(basis, &o, D, m, m + size, NULL)) {
            for (size_t x = 0; x < size; x++) D[x] *= 1e6;
            if (fock_build(basis, &o, D, m + 2 * size, m + 3 * size, NULL)) {
                for (size_t x = 0; x < 2 * size; x++) m[2 * size + x] *= 1e-6;
                check_close("large density", m + 2 * size, m, 2 * size, (size_t)n, 1e-8, 0.0);
            }
        }
        free(D);
        free(m);
    }
    fmo_basis_destroy(basis);
    return check_summary();
}
