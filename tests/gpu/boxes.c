/* J of far pairs by the octree in mode fused (gpu/boxes) against builds without it: long, flat and
 * compact molecules, every strategy that has kernels for it, J and K alone, shares of the work, a
 * zero density; the same bits with `fixed`; refused options. */
#include "tests/support/molecule.h"
#include "tests/support/work_checks.h"

static unsigned long long seed = 20261124;

enum { CUTOFFS = 40 }; /* allowed error of J: errors of many cells and quartets add up */

/* Atoms with SP shells on a grid. */
static void grid(test_system *s, int atoms, int columns, double step)
{
    memset(s, 0, sizeof *s);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, step * (a / columns) + check_random(&seed),
                        step * (a % columns) + check_random(&seed), 2.0 * check_random(&seed));
        system_add_shell(s, 0, 4, &seed);
        system_add_shell(s, 0, 3, &seed);
        system_add_partner(s, &seed);
    }
}

/* A density that decays with the distance between the functions, as that of a molecule does. */
static double *density_of(const fmo_basis *basis)
{
    const int n = fmo_basis_ao_num(basis);
    double *const D = random_density(n, 1.0, &seed);
    const double **const place = (const double **)calloc((size_t)n, sizeof *place);
    for (int s = 0; s < basis->shell_num; s++) {
        const fmo_shell *shell = &basis->shell[s];
        for (int k = 0; k < fmo_shell_functions(shell->ang_mom); k++)
            place[basis->ao_caller[shell->ao_begin + k]] = shell->centre;
    }
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++) {
            double R2 = 0.0;
            for (int k = 0; k < 3; k++)
                R2 += (place[x][k] - place[y][k]) * (place[x][k] - place[y][k]);
            D[(size_t)x * (size_t)n + (size_t)y] *= exp(-0.7 * sqrt(R2));
        }
    free(place);
    return D;
}

static fmo_fock_options options_of(fmo_coulomb coulomb, fmo_scatter scatter)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    o.coulomb = coulomb;
    o.scatter = scatter;
    o.threads = 2;
    return o;
}

/* J and K, or one of them; returns quartets, -1 if it failed. */
static int64_t build(const fmo_basis *basis, const fmo_fock_options *o, const double *D, double *J,
                     double *K)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    int64_t quartets = 0;
    fmo_status status = fmo_fock_plan_create(basis, o, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    if (status == FMO_OK) {
        CHECK(profile.coulomb == (J ? o->coulomb : FMO_COULOMB_DIRECT), "J was %s",
              fmo_coulomb_name(profile.coulomb));
        for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) quartets += profile.classes[c].quartets;
    }
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK ? quartets : -1;
}

static double largest(const double *a, const double *b, size_t size)
{
    double largest = 0.0;
    for (size_t x = 0; x < size; x++) largest = fmax(largest, fabs(a[x] - b[x]));
    return largest;
}

/* far: some cells are well separated. */
static void compare(const char *name, const fmo_basis *basis, int few, int far)
{
    static const fmo_scatter strategies[] = {FMO_SCATTER_AUTO, FMO_SCATTER_FIXED,
                                             FMO_SCATTER_NATIVE, FMO_SCATTER_REPLICATED};
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    double *const D = density_of(basis);
    double *const memory = (double *)calloc(8 * size, sizeof *memory);
    double *const J = memory, *const K = J + size, *const J2 = K + size, *const K2 = J2 + size;
    double *const J3 = K2 + size, *const K3 = J3 + size, *const zero = K3 + size;
    fmo_fock_options direct = options_of(FMO_COULOMB_DIRECT, FMO_SCATTER_AUTO);
    const double off_J = CUTOFFS * direct.cutoff, off_K = CUTOFFS * direct.cutoff;
    const int64_t all = build(basis, &direct, D, J, K);
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies && all >= 0; s++) {
        if (few && s > 1) break;
        fmo_fock_options o = options_of(FMO_COULOMB_BOXES, strategies[s]);
        const int64_t near = build(basis, &o, D, J2, K2);
        if (near < 0) continue;
        printf("%-22s %-10s %5zu functions: quartets %11lld, of %11lld; J off by %8.2g, K by "
               "%8.2g\n",
               name, fmo_scatter_name(strategies[s]), n, (long long)near, (long long)all,
               largest(J, J2, size), largest(K, K2, size));
        CHECK(near < all || (!far && near == all), "%s: nothing is far", name);
        check_close("J by boxes", J2, J, size, n, off_J, 0.0);
        check_close("K beside boxes", K2, K, size, n, off_K, 0.0);
        if (build(basis, &o, D, J3, NULL) >= 0)
            check_close("J alone by boxes", J3, J, size, n, off_J, 0.0);
        if (build(basis, &o, D, NULL, K3) >= 0)
            check_close("K alone beside boxes", K3, K, size, n, off_K, 0.0);
        if (build(basis, &o, zero, J3, K3) >= 0)
            CHECK(largest(J3, zero, size) == 0.0 && largest(K3, zero, size) == 0.0,
                  "J or K of no density");
        if (strategies[s] != FMO_SCATTER_FIXED) continue;
        if (build(basis, &o, D, J3, K3) >= 0)
            CHECK(!memcmp(J2, J3, 2 * size * sizeof *J2), "fixed: other bits the second time");
        int64_t quartets = 0;
        memset(J3, 0, 2 * size * sizeof *J3);
        for (int share = 0; share < 3; share++) { /* J2 and K2 are no longer needed */
            if (!work_build(basis, &o, share, 3, D, J2, K2, &quartets)) break;
            for (size_t x = 0; x < 2 * size; x++) J3[x] += J2[x];
        }
        CHECK(quartets == near, "shares have %lld quartets, all of them %lld", (long long)quartets,
              (long long)near);
        check_close("J of all shares", J3, J, size, n, off_J, 0.0);
        check_close("K of all shares", K3, K, size, n, off_K, 0.0);
    }
    free(D);
    free(memory);
}

static void compare_grid(const char *name, int atoms, int columns, double step, int few)
{
    static test_system s;
    grid(&s, atoms, columns, step);
    fmo_basis *basis = system_basis(&s);
    if (basis) compare(name, basis, few, atoms > 9);
    fmo_basis_destroy(basis);
}

static void compare_molecule(const char *xyz, const char *set)
{
    char name[64];
    fmo_dataset *dataset = molecule_dataset(xyz, set);
    snprintf(name, sizeof name, "%.15s %.15s", xyz, set);
    if (dataset) compare(name, fmo_dataset_basis(dataset), 1, 1);
    fmo_dataset_destroy(dataset);
}

static void check_refused(const fmo_basis *basis, const fmo_fock_options *o, fmo_status status,
                          const char *word)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    const fmo_status got = fmo_fock_plan_create(basis, o, &plan, &err);
    CHECK(got == status && strstr(err.message, "coulomb = boxes") && strstr(err.message, word),
          "%s: %d, %s", word, got, err.message);
    fmo_fock_plan_destroy(plan);
}

/* Strategies, modes and cutoffs with which the far field cannot be combined are refused. */
static void check_refusals(void)
{
    static test_system s;
    grid(&s, 6, 3, 5.0);
    fmo_basis *basis = system_basis(&s);
    fmo_fock_options o = options_of(FMO_COULOMB_BOXES, FMO_SCATTER_TILE);
    if (basis) {
        check_refused(basis, &o, FMO_ERR_UNSUPPORTED, "tile");
        o.scatter = FMO_SCATTER_WARP_MATCH;
        check_refused(basis, &o, FMO_ERR_UNSUPPORTED, "warp-match");
        o.scatter = FMO_SCATTER_NATIVE;
        o.commit = FMO_COMMIT_CAS;
        check_refused(basis, &o, FMO_ERR_UNSUPPORTED, "cas");
        o = options_of(FMO_COULOMB_BOXES, FMO_SCATTER_AUTO);
        o.mode = FMO_MODE_SPLIT;
        check_refused(basis, &o, FMO_ERR_UNSUPPORTED, "split");
        o.mode = FMO_MODE_FUSED;
        o.cutoff = 0.0;
        check_refused(basis, &o, FMO_ERR_ARGUMENT, "cutoff");
    }
    fmo_basis_destroy(basis);
}

int main(void)
{
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    const int few = getenv("FMO_TEST_SMALL") != NULL;
    compare_grid("a chain", few ? 24 : 80, 1, 4.0, few);
    if (!few) {
        compare_grid("a plane", 81, 9, 9.0, few);
        compare_grid("a small plane", 9, 3, 3.0, 1);
        compare_molecule("alkane_C20H42", "6-31g");
        compare_molecule("alkane_C60H122", "6-31g");
        compare_molecule("alkane_C20H42", "6-31g(d)"); /* pairs of s and p shells beside others */
        compare_molecule("gly30", "sto-3g");
        compare_molecule("water064", "6-31g");
    }
    check_refusals();
    return check_summary();
}
