/* The bound for erfc(omega r)/r (integrals/far/attenuation.h) against integrals of contracted
 * quartets of all angular momenta, at all distances: none may exceed it, and it must be useful. */
#define FMO_REF_REAL double
#include "integrals/eri/eri_reference.inc"
#include "integrals/far/attenuation.h"

#include "tests/support/check.h"

enum { PRIMS = 2, EACH = FMO_SHELL_FUNCTIONS_MAX };

static unsigned long long seed = 77;

typedef struct side {
    double exponent[2][PRIMS], coefficient[2][PRIMS], centre[2][3];
    eri_reference_shell shell[2];
    double sum, spread; /* of the primitives' Schwarz bounds; largest 1/p */
} side;

static eri_reference_work work;

/* Returns the Schwarz bound of primitives i and j. */
static double bound_of(const side *s, int i, int j)
{
    static double eri[EACH * EACH * EACH * EACH];
    eri_reference_shell a = s->shell[0], b = s->shell[1];
    const int num = fmo_shell_functions(a.l) * fmo_shell_functions(b.l);
    double largest = 0.0;
    a.prim_num = b.prim_num = 1;
    a.exponent += i, a.coefficient += i;
    b.exponent += j, b.coefficient += j;
    eri_reference((eri_reference_shell[]){a, b, a, b}, (fmo_operator){0}, 0, &work, eri);
    for (int k = 0; k < num; k++) largest = fmax(largest, eri[(size_t)k * (size_t)(num + 1)]);
    return sqrt(largest);
}

/* A pair of random shells, the first at `at`. */
static void make_side(side *s, int la, int lb, const double *at)
{
    const double far = random_between(&seed, 0.0, 1.0) < 0.3 ? 0.0 : 2.0;
    for (int k = 0; k < 2; k++) {
        for (int m = 0; m < PRIMS; m++) {
            s->exponent[k][m] = pow(10.0, random_between(&seed, -1.0, 1.0));
            s->coefficient[k][m] = random_between(&seed, -1.0, 1.0);
        }
        for (int x = 0; x < 3; x++)
            s->centre[k][x] = at[x] + (k ? random_between(&seed, -far, far) : 0.0);
        s->shell[k] = (eri_reference_shell){k ? lb : la,       PRIMS,        s->exponent[k],
                                            s->coefficient[k], s->centre[k], NULL};
    }
    s->sum = s->spread = 0.0;
    for (int i = 0; i < PRIMS; i++)
        for (int j = 0; j < PRIMS; j++) {
            s->sum += bound_of(s, i, j);
            s->spread = fmax(s->spread, 1.0 / (s->exponent[0][i] + s->exponent[1][j]));
        }
}

/* Returns the smallest distance of two primitives' centres. */
static double gap_of(const side *bra, const side *ket)
{
    double least = INFINITY;
    for (int k = 0; k < PRIMS * PRIMS * PRIMS * PRIMS; k++) {
        double square = 0.0;
        for (int x = 0; x < 3; x++) {
            double at[2];
            for (int e = 0; e < 2; e++) {
                const side *const s = e ? ket : bra;
                const int n = e ? k / (PRIMS * PRIMS) : k % (PRIMS * PRIMS);
                const double a = s->exponent[0][n % PRIMS], b = s->exponent[1][n / PRIMS];
                at[e] = (a * s->centre[0][x] + b * s->centre[1][x]) / (a + b);
            }
            square += (at[1] - at[0]) * (at[1] - at[0]);
        }
        least = fmin(least, sqrt(square));
    }
    return least;
}

int main(void)
{
    static double eri[EACH * EACH * EACH * EACH];
    const char *const small = getenv("FMO_TEST_SMALL");
    const int quartets = small && strcmp(small, "0") != 0 ? 100 : 1500;
    int useful = 0, apart = 0;
    double worst = 0.0;
    for (int q = 0; q < quartets; q++) {
        int l[4], num = 1;
        side bra, ket;
        for (int s = 0; s < 4; s++) {
            l[s] = (int)random_between(&seed, 0.0, q % 4 ? 2.99 : FMO_ANG_MOM_MAX + 0.99);
            num *= fmo_shell_functions(l[s]);
        }
        const double omega = pow(10.0, random_between(&seed, -1.0, 1.0));
        const double R = random_between(&seed, 0.0, 6.0 + 8.0 / fmin(omega, 1.0));
        make_side(&bra, l[0], l[1], (double[]){0.0, 0.0, 0.0});
        make_side(&ket, l[2], l[3], (double[]){0.6 * R, 0.64 * R, 0.48 * R});
        eri_reference(
            (eri_reference_shell[]){bra.shell[0], bra.shell[1], ket.shell[0], ket.shell[1]},
            (fmo_operator){1.0, -1.0, omega}, 0, &work, eri);
        double largest = 0.0;
        for (int k = 0; k < num; k++) largest = fmax(largest, fabs(eri[k]));
        const fmo_attenuation_side own = {0.0f, 0.0f, 0.0f, 0.0f, (float)bra.spread, l[0] + l[1]};
        const fmo_attenuation_side other = {(float)gap_of(&bra, &ket), 0.0f,       0.0f, 0.0f,
                                            (float)ket.spread,         l[2] + l[3]};
        const float log =
            fmo_attenuation(own, other, fmo_attenuation_range((fmo_operator){1.0, -1.0, omega}));
        const double schwarz = bra.sum * ket.sum, bound = schwarz * exp2((double)log);
        CHECK(largest <= bound * 1.00001 + 1e-13 * schwarz,
              "(%d%d|%d%d), omega %g, %.3f bohr: an integral of %.6e, bound %.6e", l[0], l[1], l[2],
              l[3], omega, R, largest, bound);
        if (largest > 1e-11 * schwarz) worst = fmax(worst, largest / bound);
        apart += largest < 1e-9 * schwarz;
        useful += largest < 1e-9 * schwarz && bound < 1e-4 * schwarz;
    }
    printf("largest integral %.3f of its bound; %d of %d negligible ones recognised\n", worst,
           useful, apart);
    CHECK(useful > 0.7 * apart && apart > 0.2 * quartets, "the bound is of no use");
    return check_summary();
}
