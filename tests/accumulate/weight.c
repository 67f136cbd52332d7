/* The weight of J in the screening rule (rules/weight.h): 1 in systems that are small or thin,
 * growing as the potential of all functions; and mode cpu keeps the quartets that the weighted rule
 * keeps, no fewer and no more. */
#include "tests/support/check.h"
#include "tests/support/system.h"

#include "accumulate/rules/screen.h"
#include "accumulate/rules/weight.h"
#include "integrals/pairs/shell_pair.h"

static unsigned long long seed = 20261122;

/* nx x ny x nz s functions, one on each point of a grid. */
static fmo_basis *grid(int nx, int ny, int nz, double step, double exponent)
{
    static double coord[3 * 30000], charge[30000], one[30000], alpha[30000];
    static int nucleus[30000], zero[30000], shell[30000];
    const int n = nx * ny * nz;
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    for (int k = 0; k < n; k++) {
        coord[3 * k] = step * (k / nz / ny);
        coord[3 * k + 1] = step * (k / nz % ny);
        coord[3 * k + 2] = step * (k % nz);
        charge[k] = one[k] = 1.0;
        alpha[k] = exponent;
        nucleus[k] = shell[k] = k;
        zero[k] = 0;
    }
    const fmo_basis_input in = {n,     charge, coord, n,     nucleus, zero, n, shell,
                                alpha, one,    n,     shell, zero,    one,  0};
    fmo_basis_create(&in, &basis, &err);
    CHECK(basis != NULL, "%s", err.message);
    return basis;
}

static double potential_by_hand(int n, double step)
{
    double largest = 0.0;
    for (int a = 0; a < n * n * n; a++) {
        double sum = 0.0;
        for (int b = 0; b < n * n * n; b++) {
            const double x = a / n / n - b / n / n, y = a / n % n - b / n % n, z = a % n - b % n;
            sum += 1.0 / fmax(step * sqrt(x * x + y * y + z * z), FMO_SCREEN_NEAREST);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

/* The potential and the weight of cubic grids agree with a direct sum, grow with the system, and
 * the weight of a long chain is 1. */
static void test_values(void)
{
    double before = 0.0;
    for (int n = 2; n <= 10; n++) {
        fmo_basis *basis = grid(n, n, n, 2.5, 1.0);
        const double weight = fmo_screen_coulomb_weight(basis),
                     expected = potential_by_hand(n, 2.5);
        const double got = fmo_screen_potential(basis);
        /* beyond 512 shells not all places are looked at */
        CHECK(got <= expected * (1.0 + 1e-12) &&
                  got >= expected * (n * n * n <= 512 ? 1.0 - 1e-12 : 0.99),
              "%d^3: potential %.15g, not %.15g", n, got, expected);
        CHECK(expected > FMO_SCREEN_POTENTIAL ? fabs(weight - got / FMO_SCREEN_POTENTIAL) <= 1e-15
                                              : weight == 1.0,
              "%d^3: weight %.17g", n, weight);
        CHECK(got > before, "%d^3: %g after %g", n, got, before);
        before = got;
        fmo_basis_destroy(basis);
    }
    CHECK(before > 1.5 * FMO_SCREEN_POTENTIAL, "no large system: %g", before);
    fmo_basis *chain = grid(30000, 1, 1, 2.5, 1.0); /* 2/2.5 ln(15000) */
    CHECK(fmo_screen_coulomb_weight(chain) == 1.0, "a chain: %g", fmo_screen_potential(chain));
    fmo_basis_destroy(chain);
}

/* Returns the number of quartets of s functions that screening with this weight of J keeps. */
static int64_t count(const fmo_basis *basis, const double *D, double cutoff, double weight)
{
    fmo_shell_pairs pairs;
    fmo_error err = {FMO_OK, ""};
    int64_t kept = 0;
    CHECK(fmo_shell_pairs_make(basis, 0.0, 2, &pairs, &err) == FMO_OK, "%s", err.message);
    const fmo_pair_list *list = &pairs.list[FMO_PAIR_SS];
    double *largest = malloc((size_t)basis->ao_num * (size_t)basis->ao_num * sizeof *largest);
    const int n = basis->ao_num;
    for (int k = 0; k < n * n; k++)
        largest[k] = fabs(D[k]) * basis->ao_norm[k / n] * basis->ao_norm[k % n];
    for (int p = 0; p < list->num; p++)
        for (int q = 0; q <= p; q++)
            kept += list->bound[p] * list->bound[q] *
                        fmo_screen_density(largest, basis->shell_num, weight, list->i[p],
                                           list->j[p], list->i[q], list->j[q]) >=
                    cutoff;
    free(largest);
    fmo_shell_pairs_free(&pairs);
    return kept;
}

/* Mode cpu keeps exactly the quartets that the weighted screening keeps when it is applied quartet
 * by quartet. */
static void test_build(void)
{
    const double cutoff = 1e-4;
    fmo_basis *basis = grid(6, 6, 6, 1.2, 1.5);
    const double weight = fmo_screen_coulomb_weight(basis);
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 0.1, &seed), *J = malloc(2 * size * sizeof *J), *K = J + size;
    fmo_fock_options options;
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile = {0};
    fmo_error err = {FMO_OK, ""};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            D[i * n + j] *=
                exp(-0.2 * abs(i - j)); /* so that J decides whether many quartets are kept */
    fmo_fock_options_init(&options);
    options.mode = FMO_MODE_CPU;
    options.threads = 2;
    options.cutoff = cutoff;
    options.coulomb = FMO_COULOMB_DIRECT; /* all of J by quartets */
    fmo_status status = fmo_fock_plan_create(basis, &options, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    const int64_t plain = count(basis, D, cutoff, 1.0), expected = count(basis, D, cutoff, weight);
    int64_t got = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) got += profile.classes[c].quartets;
    printf("weight %g: %lld quartets, without %lld\n", weight, (long long)expected,
           (long long)plain);
    CHECK(weight > 1.05 && expected > plain + plain / 1000,
          "the weight changes nothing: %lld of %lld", (long long)plain, (long long)expected);
    CHECK(got == expected, "%lld quartets, not %lld", (long long)got, (long long)expected);
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
    free(D);
    free(J);
}

int main(void)
{
    test_values();
    test_build();
    return check_summary();
}
