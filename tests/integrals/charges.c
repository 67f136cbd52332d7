/* Sums over point charges of every instruction set of this CPU, and of one charge at a time,
 * against their definition in long double; the tables of hermite.h; one-electron matrices have the
 * same bits with any number of threads. */
#define FMO_REF_REAL long double
#include "integrals/boys/boys_reference.inc"

#include <omp.h>

#include <fmo/one_electron.h>

#include "integrals/one_electron/charge_sums.h"
#include "base/vector.h"
#include "tests/support/system.h"

extern const fmo_charge_kernels fmo_charge_kernels_one; /* compiled for this test */

static unsigned long long seed = 918;

typedef long double real;

/* ---- tables --------------------------------------------------------------------------------- */

/* The tables of Hermite terms and of pairings agree with their definitions. */
static void check_tables(void)
{
    int place = 0;
    for (int degree = 0; degree <= FMO_PAIR_ORDER_MAX; degree++) {
        CHECK(FMO_HERMITE_COUNT(degree - 1) == place, "degree %d begins at %d", degree, place);
        for (int c = 0; c < FMO_CARTESIAN(degree); c++, place++) {
            int power[3], sum = 0;
            for (int x = 0; x < 3; x++) {
                power[x] = degree ? fmo_shell_power(degree, c, x) : 0;
                sum += power[x];
                CHECK(fmo_hermite_term[place][x] == power[x], "term %d, axis %d", place, x);
            }
            CHECK(sum == degree && FMO_HERMITE_DEGREE(place) == degree, "degree of %d", place);
            CHECK(fmo_hermite_index(power[0], power[1], power[2]) == place, "place %d", place);
            if (degree == 0) continue;
            power[fmo_hermite_term[place][4]]--;
            CHECK(fmo_hermite_index(power[0], power[1], power[2]) == fmo_hermite_term[place][3],
                  "parent of %d", place);
        }
    }
    CHECK(place == FMO_HERMITE_MAX, "%d places of %d", place, FMO_HERMITE_MAX);
    for (int t = 0; t <= FMO_PAIR_ORDER_MAX; t++) {
        /* sum over i of pairs: involutions of t things, a(t) = a(t-1) + (t-1) a(t-2) */
        static const double involutions[] = {1, 1, 2, 4, 10, 26, 76, 232, 764};
        double sum = 0.0;
        for (int i = 0; i <= t / 2; i++) sum += fmo_hermite_pairs[t][i];
        CHECK(sum == involutions[t], "pairs among %d: %g", t, sum);
    }
}

/* ---- sums ----------------------------------------------------------------------------------- */

enum { MAX = 64 };

typedef struct cloud {
    size_t num; /* filled up to a group */
    double charge[MAX], coord[3][MAX], offset[3], p;
} cloud;

/* A group of point charges around a product of functions: near and far ones (kind 0), near ones (1)
 * or far ones (2). The last charges may be zero. */
static cloud random_cloud(int kind)
{
    cloud c = {.num = FMO_CHARGE_GROUP * (1 + (size_t)(check_random(&seed) * 7))};
    c.p = pow(10.0, -2.0 + 7.0 * check_random(&seed));
    for (int x = 0; x < 3; x++) c.offset[x] = check_random(&seed) - 0.5;
    for (size_t k = 0; k < c.num; k++) {
        /* kind 0: near and far mixed, 1: all near, 2: all far; in units of the product's size */
        const double smallest = kind == 2 ? 12.0 : 0.0, largest = kind == 1 ? 3.0 : 30.0;
        const double r = (smallest + (largest - smallest) * check_random(&seed)) / sqrt(c.p);
        double direction[3], norm = 0.0;
        for (int x = 0; x < 3; x++) {
            direction[x] = check_random(&seed) - 0.5;
            norm += direction[x] * direction[x];
        }
        c.charge[k] = k + 3 > c.num ? 0.0 : 4.0 * check_random(&seed) - 2.0;
        for (int x = 0; x < 3; x++)
            c.coord[x][k] =
                c.offset[x] + (kind != 2 && k % 11 == 5 ? 0.0 : r * direction[x] / sqrt(norm));
    }
    return c;
}

/* Returns one sum over the charges by its definition; *size becomes the sum of the absolute values
 * of its terms. */
static real definition(const cloud *c, int degree, int s, const uint8_t *power, real *size)
{
    const real p = c->p, pi = acosl(-1.0L);
    real sum = 0;
    *size = 0;
    for (size_t k = 0; k < c->num; k++) {
        real F[FMO_PAIR_ORDER_MAX + 1], r2 = 0, term = c->charge[k] * 2 * sqrtl(p / pi);
        for (int x = 0; x < 3; x++) {
            const real d = (real)c->coord[x][k] - c->offset[x];
            r2 += d * d;
            for (int n = 0; n < power[x]; n++) term *= d;
        }
        boys_reference(p * r2, FMO_PAIR_ORDER_MAX, F);
        for (int n = 0; n < degree + s; n++) term *= 2 * p;
        term *= F[degree + s];
        sum += term;
        *size += fabsl(term);
    }
    return sum;
}

/* The sums over charges of every class agree with their definition in long double and with the sums
 * of one charge at a time; returns the largest error. */
static double check_sums(const fmo_charge_kernels *kernels)
{
    double worst = 0.0;
    for (int test = 0; test < 300; test++) {
        const cloud c = random_cloud(test % 3);
        const fmo_charge_view view = {c.num, c.charge, c.coord[0], c.coord[1], c.coord[2]};
        for (int pair = 0; pair < FMO_PAIR_CLASS_COUNT; pair++) {
            const int L = fmo_pair_order(pair);
            double sums[FMO_CHARGE_SUMS_MAX], one[FMO_CHARGE_SUMS_MAX];
            for (int k = 0; k < FMO_CHARGE_SUMS_MAX; k++) sums[k] = NAN;
            kernels->sums[pair](&view, c.offset, c.p, sums);
            fmo_charge_kernels_one.sums[pair](&view, c.offset, c.p, one);
            for (int s = 0; s <= L / 2; s++) {
                for (int k = 0; k < FMO_HERMITE_COUNT(L - 2 * s); k++) {
                    real size;
                    const int at = FMO_CHARGE_SUMS_BEGIN(L, s) + k;
                    const real expected =
                        definition(&c, FMO_HERMITE_DEGREE(k), s, fmo_hermite_term[k], &size);
                    const double error = (double)(fabsl(sums[at] - expected) / (size + 1e-300L));
                    CHECK(error <= 3e-14, "%s: order %d, s = %d, place %d: %.17g, expected %.17Lg",
                          kernels->name, L, s, k, sums[at], expected);
                    CHECK(fabs(sums[at] - one[at]) <= 3e-14 * (double)size,
                          "%s: order %d, s = %d, place %d: %.17g, one at a time %.17g",
                          kernels->name, L, s, k, sums[at], one[at]);
                    if (error > worst) worst = error;
                }
            }
        }
    }
    printf("%-13s largest error of a sum of charges, of the sizes of its terms: %.1e\n",
           kernels->name, worst);
    return worst;
}

static void check_instruction_sets(void)
{
    check_sums(&fmo_charge_kernels_one);
    check_sums(&fmo_charge_kernels_baseline);
#if defined(__x86_64__)
    if (fmo_vector_best() >= FMO_VECTOR_AVX2) check_sums(&fmo_charge_kernels_avx2);
    if (fmo_vector_best() >= FMO_VECTOR_AVX512) check_sums(&fmo_charge_kernels_avx512);
#endif
}

/* ---- threads -------------------------------------------------------------------------------- */

/* All matrices, one after the other: overlap, kinetic energy, nuclei, charges, two bases. */
static void matrices(const fmo_basis *basis, const fmo_basis *other, size_t num,
                     const double *charge, const double *coord, double *M)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_overlap(basis, M, &err) == FMO_OK && fmo_kinetic(basis, M + n * n, &err) == FMO_OK &&
              fmo_nuclear_attraction(basis, M + 2 * n * n, &err) == FMO_OK &&
              fmo_charge_attraction(basis, num, charge, coord, M + 3 * n * n, &err) == FMO_OK &&
              fmo_overlap_between(basis, other, M + 4 * n * n, &err) == FMO_OK,
          "%s", err.message);
}

/* `shells` of each kind on so many atoms, and so many charges. */
static void check_threads(int atoms, int shells, double box, size_t num)
{
    static test_system s, t;
    system_random(&s, atoms, shells, shells, 3, box, &seed);
    system_shuffle_functions(&s, &seed);
    system_random(&t, 5, 5, 5, 3, box, &seed);
    fmo_basis *const basis = system_basis(&s), *const other = system_basis(&t);
    double *const charge = malloc(4 * num * sizeof *charge), *const coord = charge + num;
    for (size_t k = 0; k < num; k++) {
        charge[k] = check_random(&seed) - 0.5;
        for (size_t x = 0; x < 3; x++) coord[3 * k + x] = 2.0 * box * check_random(&seed);
    }
    const size_t n = (size_t)s.aos, size = 4 * n * n + n * (size_t)t.aos;
    double *const one = malloc(2 * size * sizeof *one), *const more = one + size;
    const int was = omp_get_max_threads();
    omp_set_num_threads(1);
    memset(one, 0xff, size * sizeof *one);
    matrices(basis, other, num, charge, coord, one);
    for (size_t k = 0; k < size; k++) CHECK(isfinite(one[k]), "element %zu: %g", k, one[k]);
    for (int threads = 2; threads <= 7; threads += threads < 4 ? 1 : 3) {
        omp_set_num_threads(threads);
        memset(more, 0xff, size * sizeof *more);
        matrices(basis, other, num, charge, coord, more);
        CHECK(!memcmp(one, more, size * sizeof *one),
              "%d atoms, %zu charges: other bits with %d threads", atoms, num, threads);
    }
    omp_set_num_threads(was);

    /* The nuclei as charges: the same bits. */
    CHECK(fmo_charge_attraction(basis, (size_t)s.nuclei, s.charge, s.coord, more, NULL) == FMO_OK &&
              !memcmp(more, one + 2 * n * n, n * n * sizeof *more),
          "nuclei as charges");
    free(charge);
    free(one);
    fmo_basis_destroy(basis);
    fmo_basis_destroy(other);
}

int main(void)
{
    check_tables();
    check_instruction_sets();
    check_threads(70, 70, 20.0, 300); /* tasks of many kets */
    check_threads(2, 4, 3.0, 40000);  /* charges in parts */
    check_threads(20, 20, 8.0, 3000); /* charges in pieces */
    check_threads(1, 1, 3.0, 1);
    return check_summary();
}
