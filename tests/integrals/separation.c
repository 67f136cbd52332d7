/* The bound for separated charge distributions (integrals/far/separation.h) against integrals:
 * contracted pairs of all classes, tight and diffuse, near and far. No integral may exceed the
 * bound by more than a fifth of what may be neglected, and the bound must be useful. */
#include "integrals/eri/eri.h"
#include "integrals/far/separation.h"
#include "integrals/pairs/prim_bound.h"

#include "tests/support/check.h"

enum { PRIMS = 6, TWOS = FMO_PAIR_FIELDS / 2 + 1, FIELDS = 2 * TWOS, BOUND = FMO_PAIR_FIELDS };

static unsigned long long seed = 31;

typedef struct pair {
    int l_i, l_j;
    double A[3], AB[3];
    double prim[PRIMS * FMO_PAIR_FIELDS], wide[PRIMS * FIELDS];
    fmo_pair_view view;
    fmo_separation separation;
    double size; /* sum of the primitives' bounds */
} pair;

/* A contracted pair of random exponents and coefficients, the first shell at `at`. */
static void make_pair(int pair_class, const double *at, pair *to)
{
    const int prims = 1 + (int)random_between(&seed, 0.0, PRIMS - 0.01),
              together = random_between(&seed, 0.0, 1.0) < 0.3;
    to->size = 0.0;
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) to->l_i = li, to->l_j = lj;
    FMO_PAIR_TABLE(ROW)
#undef ROW
    for (int x = 0; x < 3; x++) {
        to->A[x] = at[x];
        to->AB[x] = together ? 0.0 : random_between(&seed, -2.0, 2.0);
    }
    for (int m = 0; m < prims; m++) {
        const double a = pow(10.0, random_between(&seed, -1.0, 2.0)),
                     b = pow(10.0, random_between(&seed, -1.0, 2.0));
        const double p = a + b, *const AB = to->AB;
        double *const prim = to->prim + m * FMO_PAIR_FIELDS;
        const double r2 = AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2];
        prim[FMO_PAIR_P] = p;
        prim[FMO_PAIR_K] =
            random_between(&seed, -1.0, 1.0) * exp(-a * b / p * r2) * 5.9149671727956128778 / p;
        prim[FMO_PAIR_HALF] = 0.5 / p;
        for (int x = 0; x < 3; x++) prim[FMO_PAIR_X + x] = -(b / p) * AB[x];
        const float bound = (float)(fmo_prim_bound_md(to->l_i, to->l_j, AB, prim) * 1.000001);
        double *const wide = to->wide + m * FIELDS;
        memcpy(wide, prim, FMO_PAIR_FIELDS * sizeof *prim);
        memcpy(wide + BOUND, &bound, sizeof bound);
        to->size += (double)bound;
    }
    const fmo_pair_view view = {prims, to->prim, to->AB, to->A};
    const fmo_separation_prims wide = {to->wide, prims, TWOS, BOUND, 1};
    to->view = view;
    double place[3];
    fmo_separation_place(to->A, &wide, place, &to->separation);
    fmo_separation_find_moments(to->l_i, to->l_j, to->AB, 1.0, &wide, place, &to->separation);
}

static double largest_integral(const pair *bra, const pair *ket, int eri_class)
{
    static double eri[FMO_ERI_INTEGRALS_MAX];
    const int num = fmo_eri_class_integrals(eri_class, 0);
    double largest = 0.0;
    fmo_eri_quartet((fmo_eri_class)eri_class, &bra->view, &ket->view, eri);
    for (int k = 0; k < num; k++) largest = fmax(largest, fabs(eri[k]));
    return largest;
}

/* Counts of one class. */
typedef struct tally {
    int quartets, separation, useful; /* a tenth of the Schwarz bounds at most */
    double worst, tightest; /* largest excess over the bound, relative to what may be neglected;
                               largest share of the bound */
} tally;

/* A random quartet: its largest integral must be below the bound for separated charge
 * distributions, as far as more than a neglected rest is left. */
static void try_quartet(int eri_class, tally *t)
{
    const double origin[3] = {random_between(&seed, -30.0, 30.0),
                              random_between(&seed, -30.0, 30.0),
                              random_between(&seed, -30.0, 30.0)};
    const double R = random_between(&seed, 1.0, 25.0), z = random_between(&seed, -1.0, 1.0),
                 phi = random_between(&seed, 0.0, 6.2831853);
    const double r = sqrt(1.0 - z * z);
    const double other[3] = {origin[0] + R * r * cos(phi), origin[1] + R * r * sin(phi),
                             origin[2] + R * z};
    pair bra, ket;
    /* smaller pairs are in no list, and their integrals underflow single precision */
    do make_pair(fmo_eri_class_bra(eri_class), origin, &bra);
    while (bra.size < 1e-14);
    do make_pair(fmo_eri_class_ket(eri_class), other, &ket);
    while (ket.size < 1e-14);
    const double neglected = bra.size * ket.size * pow(10.0, -random_between(&seed, 0.0, 9.0));
    const double bound =
        (double)fmo_separation_bound(&bra.separation, &ket.separation, (float)-log2(neglected));
    t->quartets++;
    if (isinf(bound)) return;
    t->separation++;
    t->useful += bound < 0.1 * bra.size * ket.size;
    const double largest = largest_integral(&bra, &ket, eri_class);
    t->worst = fmax(t->worst, (largest - bound) / neglected);
    if (bound > neglected) t->tightest = fmax(t->tightest, largest / bound);
    CHECK(
        largest <= bound * (1.0 + 1e-5) + 0.2 * neglected,
        "%s, %.3f bohr separation: an integral of %.6e, bound %.6e, of which %.1e may be neglected",
        fmo_eri_class_name((fmo_eri_class)eri_class), R, largest, bound, neglected);
}

int main(void)
{
    const char *const small = getenv("FMO_TEST_SMALL");
    const int quartets = small && strcmp(small, "0") != 0 ? 200 : 4000;
    for (int c = 0; c < FMO_ERI_UNROLLED_COUNT; c++) { /* it is a bound of the GPU */
        tally t = {0, 0, 0, 0.0, 0.0};
        for (int q = 0; q < quartets; q++) try_quartet(c, &t);
        printf("%s: %d of %d separation, %d useful; beyond the bound by %.1e, largest %.3f of it\n",
               fmo_eri_class_name((fmo_eri_class)c), t.separation, t.quartets, t.useful, t.worst,
               t.tightest);
        CHECK(3 * t.useful > t.separation && 5 * t.separation > t.quartets,
              "%s: the bound is of no use", fmo_eri_class_name((fmo_eri_class)c));
    }
    return check_summary();
}
