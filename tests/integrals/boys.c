/* Boys function of all orders against the long double series: 1e-14 relative, from T = 0 to 1e6,
 * on and around every interval boundary of the table. */
#define FMO_REF_REAL long double
#include "integrals/boys/boys_reference.inc"
#include "integrals/boys/boys.h"

#include "tests/support/check.h"

static double worst[FMO_BOYS_ORDER_MAX + 1];

#define ORDER(M) ((M) < FMO_BOYS_ORDER_MAX ? (M) : FMO_BOYS_ORDER_MAX)

/* Boys functions of all orders at T are within 1e-14 (relative) of the reference in long double. */
static void check_at(double T)
{
    for (int M = 0; M <= FMO_BOYS_ORDER_MAX; M++) {
        long double expected[FMO_BOYS_ORDER_MAX + 1];
        double got[FMO_BOYS_ORDER_MAX + 1];
        boys_reference(T, M, expected);
        switch (M) { /* the order is a compile-time constant in the classes */
#define ROW(order, far)                                                         \
    case order:                                                                 \
        if (order <= FMO_BOYS_ORDER_MAX)                                        \
            fmo_boys_eval(fmo_boys.row[ORDER(order)][0], T, ORDER(order), got); \
        break;
            FMO_BOYS_FAR_TABLE(ROW)
#undef ROW
        }
        for (int m = 0; m <= M; m++) {
            double error = (double)fabsl((got[m] - expected[m]) / expected[m]);
            CHECK(error <= 1e-14,
                  "F_%d(%.17g) of order %d: got %.17g, expected %.17Lg, relative %.3g", m, T, M,
                  got[m], expected[m], error);
            if (error > worst[M]) worst[M] = error;
        }
    }
}

/* The reference itself, against values that do not come from it: closed forms and the two branches
 * against each other. */
static void check_reference(void)
{
    long double F[6];
    boys_reference(0.0L, 5, F);
    for (int m = 0; m <= 5; m++)
        CHECK(fabsl(F[m] - 1.0L / (2 * m + 1)) < 1e-18L, "F_%d(0) = %.20Lg", m, F[m]);
    for (long double T = 0.5L; T < 49.0L; T += 0.37L) {
        boys_reference(T, 0, F);
        long double erf_form = sqrtl(acosl(-1.0L) / T) / 2 * erfl(sqrtl(T));
        CHECK(fabsl(F[0] / erf_form - 1) < 4e-18L, "F_0(%Lg): series %.20Lg, erf %.20Lg", T, F[0],
              erf_form);
    }
    /* F_2(1) from F_0(1) = sqrt(pi)/2 erf(1), upwards */
    const long double e = expl(-1.0L), F0 = sqrtl(acosl(-1.0L)) / 2 * erfl(1.0L);
    boys_reference(1.0L, 2, F);
    CHECK(fabsl(F[2] - (3 * (F0 - e) / 2 - e) / 2) < 1e-18L, "F_2(1) = %.20Lg", F[2]);
}

int main(void)
{
    unsigned long long seed = 1;
    check_reference();
    for (int k = 0; k <= 2 * FMO_BOYS_ROWS + 4; k++) {
        double T = k * 0.5 / FMO_BOYS_PER_UNIT;
        check_at(T);
        check_at(nextafter(T, INFINITY));
        if (T > 0) check_at(nextafter(T, 0));
    }
    for (int k = 0; k < 100000; k++) check_at(60.0 * check_random(&seed));
    for (double T = 1e-300; T < 1e-3; T *= 7.3) check_at(T);
    for (double T = 45.0; T < 1e6; T *= 1.01) check_at(T);
    for (int M = 0; M <= FMO_BOYS_ORDER_MAX; M++)
        printf("order %d: largest relative error %.2e\n", M, worst[M]);
    return check_summary();
}
