/* Far quartets: quadrature points of a pair, their number, and derivatives of 1/R. */
#include "tests/integrals/far_pairs.h"

/* Derivative of 1/|R| by McMurchie and Davidson's recursion: from those of r^-(2n+1). */
static long double derivative(int n, int nx, int ny, int nz, const double *R)
{
    const int power[3] = {nx, ny, nz};
    for (int x = 0; x < 3; x++) {
        if (power[x] == 0) continue;
        int less[3] = {nx, ny, nz};
        less[x]--;
        long double t = R[x] * derivative(n + 1, less[0], less[1], less[2], R);
        if (less[x]-- > 0) t += (less[x] + 1) * derivative(n + 1, less[0], less[1], less[2], R);
        return t;
    }
    const long double r2 =
        (long double)R[0] * R[0] + (long double)R[1] * R[1] + (long double)R[2] * R[2];
    long double t = 1 / sqrtl(r2);
    for (int k = 0; k < n; k++) t *= -(2 * k + 1) / r2;
    return t;
}

/* Derivatives of 1/r agree with their definition, and their Laplacian is zero. */
static void test_derivatives(void)
{
    for (int i = 0; i < 100; i++) {
        const double r = random_between(&seed, 5.0, 60.0);
        double R[3], T[FMO_FAR_TERMS_MAX], size = 1.0;
        direction(R);
        for (int x = 0; x < 3; x++) R[x] *= r;
        fmo_far_derivatives(4, R, T);
        for (int order = 0; order <= 4; order++) {
            size *= (order ? 2 * order - 1 : 1) / r;
            for (int nx = 0; nx <= order; nx++)
                for (int ny = 0; ny <= order - nx; ny++) {
                    const int nz = order - nx - ny;
                    const double got = T[fmo_far_index(nx, ny, nz)];
                    const double expected = (double)derivative(0, nx, ny, nz, R);
                    CHECK(fabs(got - expected) <= 4e-15 * size,
                          "x%d y%d z%d: got %.17g, expected %.17g", nx, ny, nz, got, expected);
                    if (order > 2) continue;
                    const double laplace = T[fmo_far_index(nx + 2, ny, nz)] +
                                           T[fmo_far_index(nx, ny + 2, nz)] +
                                           T[fmo_far_index(nx, ny, nz + 2)];
                    CHECK(fabs(laplace) <= 2e-13 * size / (r * r), "Laplacian of x%d y%d z%d: %g",
                          nx, ny, nz, laplace);
                }
        }
    }
}

static int line_nodes(int pair_class, int num, const double *prim, const double *AB, int n,
                      double *place, double *coefficient)
{
    static const double ratio[PRIMS_MAX];
    double prim_place[PRIMS_MAX], prim_coefficient[PRIMS_MAX * FMO_FAR_COEFFICIENTS_MAX];
    fmo_far_line line;
    fmo_far_primitives(pair_class, num, prim, ratio, AB, prim_place, prim_coefficient);
    fmo_far_find_line(pair_class, num, prim_place, prim_coefficient, AB, &line);
    return fmo_far_nodes(pair_class, num, prim_place, prim_coefficient, &line, n, place,
                         coefficient);
}

/* The quadrature points of an ss pair with positive prefactors are those of Gauss quadrature:
 * polynomials of degree 2n - 1 are exact, others not. */
static void test_gauss(void)
{
    for (int i = 0; i < 200; i++) {
        const int num = 2 + (int)random_between(&seed, 0, 12);
        const double AB[3] = {random_between(&seed, 0.2, 4.0), random_between(&seed, -1.0, 1.0),
                              random_between(&seed, -1.0, 1.0)};
        double prim[14][FMO_PAIR_FIELDS], charge[14], s[14];
        double place[FMO_FAR_NODES_MAX], coefficient[FMO_FAR_NODES_MAX];
        for (int m = 0; m < num; m++) {
            const double p = pow(10.0, random_between(&seed, -1.0, 2.0)),
                         k = pow(10.0, random_between(&seed, -2.0, 0.0));
            s[m] = random_between(&seed, -1.0, 0.0);
            const double record[FMO_PAIR_FIELDS] = {
                p, k, s[m] * AB[0], s[m] * AB[1], s[m] * AB[2], 0.5 / p};
            memcpy(prim[m], record, sizeof record);
            charge[m] = fmo_far_charge(p, k);
        }
        for (int n = 1; n <= FMO_FAR_NODES_MAX; n++) {
            const int used = line_nodes(0, num, prim[0], AB, n, place, coefficient);
            CHECK(used == (num < n ? num : n), "%d nodes of %d for %d primitives", used, n, num);
            for (int power = 0; power <= 2 * n; power++) {
                double got = 0.0, expected = 0.0, size = 0.0;
                for (int j = 0; j < used; j++) got += coefficient[j] * pow(place[j] + 0.5, power);
                for (int m = 0; m < num; m++) {
                    expected += charge[m] * pow(s[m] + 0.5, power);
                    size += charge[m] * pow(0.5, power);
                }
                const int exact = power < 2 * n || num <= n;
                CHECK(!exact || fabs(got - expected) <= 1e-12 * size,
                      "%d nodes for %d primitives, s^%d: %.17g, not %.17g", n, num, power, got,
                      expected);
                CHECK(exact || n > 2 || num == n + 1 || fabs(got - expected) > 1e-9 * size,
                      "%d nodes for %d primitives: s^%d is exact", n, num, power);
            }
        }
    }
}

/* One quadrature point where all centres coincide, as many as primitives where there are few, and
 * else as many as requested; any n points are exact to degree n - 1. */
static void test_node_numbers(void)
{
    double prim[3][FMO_PAIR_FIELDS], place[4], coefficient[4 * FMO_FAR_COEFFICIENTS_MAX];
    const double none[3] = {0}, AB[3] = {0.5, -2.0, 1.0};
    for (int m = 0; m < 3; m++) {
        const double p = 1.0 + m, s = -0.25 * (m + 1);
        const double record[FMO_PAIR_FIELDS] = {p, 1.0, s * AB[0], s * AB[1], s * AB[2], 0.5 / p};
        memcpy(prim[m], record, sizeof record);
    }
    for (int n = 1; n <= 4; n++) {
        const int num = line_nodes(2, 3, prim[0], AB, n, place, coefficient);
        CHECK(num == (n < 3 ? n : 3), "%d nodes of %d", num, n);
        for (int j = 0; j < num; j++)
            CHECK(place[j] >= -0.75 && place[j] <= -0.25 &&
                      (!j || place[j] > place[j - 1] || n > 2),
                  "node at %g", place[j]);
        for (int power = 0; power < num; power++) {
            double got = 0.0, expected = 0.0;
            for (int j = 0; j < num; j++)
                got += coefficient[j * FMO_FAR_COEFFICIENTS_MAX + FMO_FAR_PP_SAME] *
                       pow(place[j], power);
            for (int m = 0; m < 3; m++)
                expected += prim[m][FMO_PAIR_HALF] * fmo_far_charge(prim[m][FMO_PAIR_P], 1.0) *
                            pow(-0.25 * (m + 1), power);
            CHECK(fabs(got - expected) <= 1e-14 * fabs(expected), "s^%d: %.17g, not %.17g", power,
                  got, expected);
        }
    }
    for (int m = 0; m < 3; m++) memcpy(prim[m] + FMO_PAIR_X, none, sizeof none);
    CHECK(line_nodes(1, 3, prim[0], none, 4, place, coefficient) == 1 && place[0] == 0.0,
          "node at %g", place[0]);
    for (int m = 0; m < 3; m++)
        for (int x = 0; x < 3; x++) prim[m][FMO_PAIR_X + x] = -(0.3 + m * 1e-17) * AB[x];
    CHECK(line_nodes(0, 3, prim[0], AB, 4, place, coefficient) == 1 && fabs(place[0] + 0.3) < 1e-15,
          "node at %.17g", place[0]);
    /* the third has no weight: two points are exact */
    for (int m = 0; m < 3; m++) {
        for (int x = 0; x < 3; x++) prim[m][FMO_PAIR_X + x] = -0.25 * (m + 1) * AB[x];
        prim[m][FMO_PAIR_K] = m < 2 ? 1.0 : 1e-32;
    }
    CHECK(line_nodes(0, 3, prim[0], AB, 2, place, coefficient) == 2 &&
              fabs(place[0] + 0.5) < 1e-14 && fabs(place[1] + 0.25) < 1e-14,
          "nodes at %.17g and %.17g", place[0], place[1]);
}

/* Errors of choices become A x^n, which is below none of them. */
static void test_fit(void)
{
    for (int i = 0; i < 1000; i++) {
        const int cap = (int)random_between(&seed, 0, FMO_FAR_CHOICES + 1);
        const double d = random_between(&seed, 1.0, 50.0);
        double error[FMO_FAR_CHOICES], now = pow(10.0, random_between(&seed, -5.0, 1.0));
        for (int c = 0; c < FMO_FAR_CHOICES;
             c++, now *= pow(10.0, random_between(&seed, -4.0, 0.5)))
            error[c] = c < cap ? now : 0.0;
        const fmo_far_fit fit = fmo_far_fit_errors(cap, d, error);
        double least = INFINITY;
        for (int c = 0; c < cap; c++) {
            const double fitted = exp2(fit.log_A + FMO_FAR_NODES(c) * (fit.log_rho - log2(d)));
            CHECK(fitted >= error[c] * (1.0 - 1e-5), "choice %d of %d: %g for %g", c, cap, fitted,
                  error[c]);
            least = fmin(least, fitted / error[c]);
        }
        CHECK(!cap || least < 1.0 + 1e-5, "all of %d choices are at least %g too large", cap,
              least);
    }
}

/* The number of quadrature points is the smallest that meets the tolerance, also for infinite
 * arguments and NaN. */
static void test_nodes_needed(void)
{
    for (int i = 0; i < 1000; i++) {
        const float log_x = log2f((float)random_between(&seed, 0.001, 0.7));
        const float log_tolerance = log2f((float)pow(10, random_between(&seed, -10, 0)));
        int first = 0;
        while (first < FMO_FAR_CHOICES && (float)FMO_FAR_NODES(first) * log_x > log_tolerance)
            first++;
        const int choice = fmo_far_nodes_needed(log_x, log_tolerance);
        CHECK(choice == first, "x 2^%g, tolerance 2^%g: choice %d, not %d", log_x, log_tolerance,
              choice, first);
    }
    CHECK(fmo_far_nodes_needed(-2.0f, 3.0f) == 0, "any error will do");
    CHECK(fmo_far_nodes_needed(-INFINITY, -100.0f) == 0, "a point needs one node");
    CHECK(fmo_far_nodes_needed(-INFINITY, -INFINITY) == FMO_FAR_CHOICES,
          "a point without any error: its own nodes are exact, and say so");
    CHECK(fmo_far_nodes_needed(-2.0f, -INFINITY) == FMO_FAR_CHOICES, "no error at all");
    CHECK(fmo_far_nodes_needed(-0.4f, -1.0f) == FMO_FAR_CHOICES, "too close");
    CHECK(fmo_far_nodes_needed(NAN, 0.0f) == FMO_FAR_CHOICES, "beyond the other's middle");
    CHECK(fmo_far_nodes_needed(-3.0f, NAN) == FMO_FAR_CHOICES, "NaN");
}

int main(void)
{
    seed = 20261207;
    test_derivatives();
    test_gauss();
    test_node_numbers();
    test_fit();
    test_nodes_needed();
    return check_summary();
}
