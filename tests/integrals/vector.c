/* The vector forms of integrals/real.h: reciprocal square root, selection, Boys function and the
 * six ERI classes, 2, 4 and 8 quartets at a time, lane by lane against one at a time. Lanes are
 * unlike each other on purpose: coincident and far centres, Boys arguments on both sides of the
 * table's end, empty (zero) prefactors. */
#define FMO_REF_REAL long double
#include "integrals/boys/boys_reference.inc"
#include "integrals/eri/eri.h"

#include <float.h>

#include "tests/support/check.h"
#include "tests/integrals/vector_forms.h"

enum { W_MAX = VECTOR_WIDTH_MAX, PRIMS = 3, TURNS = 60 };

static unsigned long long seed = 31;

/* Sets of random quartets for each form. */
static int sets(void)
{
    return getenv("FMO_TEST_FULL") ? 5 * TURNS : getenv("FMO_TEST_SMALL") ? TURNS / 5 : TURNS;
}

/* Vectors of random arguments for a function of one variable. */
static int numbers(void)
{
    return getenv("FMO_TEST_SMALL") ? 2000 : 20000;
}

static void check_rsqrt(const vector_forms *v)
{
    double x[W_MAX], y[W_MAX], worst = 0.0;
    for (int turn = 0; turn < numbers(); turn++) {
        for (int l = 0; l < v->width; l++) x[l] = pow(10.0, random_between(&seed, -40.0, 40.0));
        v->rsqrt(x, y);
        for (int l = 0; l < v->width; l++) {
            const double error = (double)fabsl(y[l] * sqrtl((long double)x[l]) - 1);
            worst = fmax(worst, error);
            CHECK(error <= 1e-15, "%s, lane %d: rsqrt(%.17g) = %.17g, relative %.3g", v->name, l,
                  x[l], y[l], error);
        }
    }
    printf("%-16s rsqrt %.1e", v->name, worst);
}

static void check_select(const vector_forms *v)
{
    double x[W_MAX], y[W_MAX], z[W_MAX];
    for (int turn = 0; turn < 300; turn++) {
        for (int l = 0; l < v->width; l++)
            x[l] = random_between(&seed, -1, 1), y[l] = random_between(&seed, -1, 1);
        if (turn % 5 == 0)
            x[turn % v->width] = NAN; /* NaN is not less than anything: the other is taken */
        v->select(x, y, z);
        int below = 0;
        for (int l = 0; l < v->width; l++) {
            CHECK(z[l] == (x[l] < y[l] ? x[l] : y[l]), "%s, lane %d: select", v->name, l);
            below |= x[l] < -0.5;
        }
        CHECK(!v->any_below(x, -0.5) == !below, "%s: any", v->name);
    }
}

/* A Boys argument of one of the kinds that occur together in a vector. */
static double boys_argument(int kind)
{
    switch (kind) {
    case 0:
        return 0.0;
    case 1:
        return random_between(&seed, 0.0, 45.0);
    case 2:
        return random_between(&seed, 45.0, 60.0);
    case 3:
        return pow(10.0, random_between(&seed, 2.0, 20.0));
    case 4:
        return nextafter(45.0, check_random(&seed) < 0.5 ? 0.0 : 99.0);
    default:
        return floor(random_between(&seed, 0.0, 360.0)) / 8 + 0.0625; /* between two intervals */
    }
}

/* Boys functions in vector lanes are within 1e-14 (relative) of the reference. */
static void check_boys(const vector_forms *v)
{
    double T[W_MAX], F[VECTOR_ORDERS * W_MAX], worst = 0.0;
    for (int turn = 0; turn < numbers(); turn++) {
        for (int l = 0; l < v->width; l++)
            T[l] = boys_argument(turn % 7 ? (int)random_between(&seed, 0, 6) : turn % 6);
        const int M = turn % VECTOR_ORDERS;
        v->boys[M](T, F);
        for (int l = 0; l < v->width; l++) {
            long double expected[VECTOR_ORDERS];
            boys_reference(T[l], M, expected);
            for (int m = 0; m <= M; m++) {
                /* numbers that are not normal have fewer digits */
                const double error = (double)(fabsl(F[m * v->width + l] - expected[m]) /
                                              fmaxl(expected[m], (long double)DBL_MIN));
                worst = fmax(worst, error);
                CHECK(error <= 1e-14, "%s, lane %d: F_%d(%.17g) = %.17g, relative %.3g", v->name, l,
                      m, T[l], F[m * v->width + l], error);
            }
        }
    }
    printf("  boys %.1e", worst);
}

/* One contracted pair of one lane. */
typedef struct lane_pair {
    double prim[PRIMS * FMO_PAIR_FIELDS], A[3], AB[3];
    fmo_pair_view view;
} lane_pair;

/* A random contracted pair of shells at A and B; primitives beyond `prims`, or all if it is empty,
 * have coefficient zero. */
static void make_pair(lane_pair *z, const double *A, const double *B, int prims, int empty)
{
    for (int x = 0; x < 3; x++) z->A[x] = A[x], z->AB[x] = A[x] - B[x];
    for (int m = 0; m < PRIMS; m++) {
        /* Not tighter: the horizontal recursion loses digits with AB sqrt(p), see
         * docs/explanation/accuracy.md, and then two correct forms differ by more than a few
         * roundings. */
        const double a = pow(10.0, random_between(&seed, -1.0, 1.0)),
                     b = pow(10.0, random_between(&seed, -1.0, 1.0));
        double *prim = z->prim + m * FMO_PAIR_FIELDS, r2 = 0.0;
        for (int x = 0; x < 3; x++) {
            prim[FMO_PAIR_X + x] = -(b / (a + b)) * z->AB[x];
            r2 += z->AB[x] * z->AB[x];
        }
        prim[FMO_PAIR_P] = a + b;
        prim[FMO_PAIR_HALF] = 0.5 / (a + b);
        prim[FMO_PAIR_K] = empty || m >= prims
                               ? 0.0
                               : random_between(&seed, -1.0, 1.0) * pow(a * b, 0.75) *
                                     exp(-a * b / (a + b) * r2) / (a + b);
    }
    z->view = (fmo_pair_view){PRIMS, z->prim, z->AB, z->A};
}

static double schwarz(const lane_pair *z, int li, int lj)
{
    double eri[FMO_ERI_INTEGRALS_MAX], largest = 0.0;
    const int n = fmo_shell_functions(li) * fmo_shell_functions(lj);
    const int pair_class = fmo_pair_class_of(li, lj);
    fmo_eri_quartet((fmo_eri_class)fmo_eri_class_of(pair_class, pair_class), &z->view, &z->view,
                    eri);
    for (int k = 0; k < n; k++) largest = fmax(largest, eri[k * n + k]);
    return sqrt(largest);
}

/* Centres of a quartet: on top of each other, near, far, in a plane. */
static void make_centres(double centre[4][3])
{
    const int kind = (int)random_between(&seed, 0, 5);
    const double far = kind == 2 ? 200.0 : 0.0;
    for (int s = 0; s < 4; s++)
        for (int x = 0; x < 3; x++) {
            centre[s][x] = random_between(&seed, -1.0, 1.0) + (s >= 2 ? far : 0.0);
            if (kind == 0) centre[s][x] = 0.25;
            if (kind == 1 && x == 0) centre[s][x] = 0.25;
            if (kind == 3 && s > 1) centre[s][x] = centre[s - 2][x];
        }
}

static double worst_eri;
static long beyond, empty_lanes;

/* Quartets of one class in all lanes agree with one quartet at a time; empty lanes and integrals
 * that symmetry makes zero are exactly zero. */
static void check_quartets(const vector_forms *v, fmo_eri_class c, const char *name, int li, int lj,
                           int lk, int ll)
{
    static double bra[PRIMS * FMO_PAIR_FIELDS * W_MAX], ket[PRIMS * FMO_PAIR_FIELDS * W_MAX];
    static lane_pair bras[W_MAX], kets[W_MAX];
    double AB[3 * W_MAX] = {0}, CD[3 * W_MAX] = {0}, AC[3 * W_MAX] = {0};
    static double got[FMO_ERI_INTEGRALS_MAX * W_MAX], expected[FMO_ERI_INTEGRALS_MAX];
    const int W = v->width, n = fmo_shell_functions(li) * fmo_shell_functions(lj) *
                                fmo_shell_functions(lk) * fmo_shell_functions(ll);
    int flat[W_MAX], empty[W_MAX];
    for (int l = 0; l < W; l++) {
        double centre[4][3];
        empty[l] = check_random(&seed) < 0.15;
        make_centres(centre);
        flat[l] = centre[0][0] == centre[1][0] && centre[0][0] == centre[2][0] &&
                  centre[0][0] == centre[3][0];
        make_pair(&bras[l], centre[0], centre[1], 1 + (int)random_between(&seed, 0, PRIMS), 0);
        make_pair(&kets[l], centre[2], centre[3], 1 + (int)random_between(&seed, 0, PRIMS),
                  empty[l]);
        empty_lanes += empty[l];
        for (int x = 0; x < 3; x++) {
            AB[x * W + l] = bras[l].AB[x];
            CD[x * W + l] = kets[l].AB[x];
            AC[x * W + l] = bras[l].A[x] - kets[l].A[x];
            beyond += fabs(AC[x * W + l]) > 100.0;
        }
        for (int f = 0; f < PRIMS * FMO_PAIR_FIELDS; f++) {
            bra[f * W + l] = bras[l].prim[f];
            ket[f * W + l] = kets[l].prim[f];
        }
    }
    v->eri[c](PRIMS, bra, PRIMS, ket, AB, CD, AC, got);
    for (int l = 0; l < W; l++) {
        /* squares of very small integrals underflow in the bound */
        const double scale = schwarz(&bras[l], li, lj) * schwarz(&kets[l], lk, ll);
        const int size[4] = {fmo_shell_functions(li), fmo_shell_functions(lj),
                             fmo_shell_functions(lk), fmo_shell_functions(ll)};
        fmo_eri_quartet(c, &bras[l].view, &kets[l].view, expected);
        for (int k = 0; k < n; k++) {
            const double g = got[k * W + l], error = fabs(g - expected[k]);
            CHECK(error <= 5e-13 * scale + 1e-150,
                  "%s, lane %d, %s[%d]: got %.17g, expected %.17g, error/bound %.3g", v->name, l,
                  name, k, g, expected[k], error / scale);
            if (scale > 1e-130) worst_eri = fmax(worst_eri, error / scale);
            if (empty[l]) CHECK(g == 0.0, "%s, empty lane %d, %s: %g", v->name, l, name, g);
            int odd = 0; /* powers of x in this element */
            const int kind[4] = {li, lj, lk, ll};
            for (int s = 3, rest = k; s >= 0; rest /= size[s--])
                odd ^= fmo_shell_power(kind[s], rest % size[s], 0) & 1;
            if (flat[l] && odd)
                CHECK(g == 0.0, "%s, lane %d, %s[%d]: %g where symmetry makes it 0", v->name, l,
                      name, k, g);
        }
    }
}

static void check_forms(const vector_forms *v)
{
    worst_eri = 0.0;
    check_rsqrt(v);
    check_select(v);
    check_boys(v);
    const int turns = sets(), small = getenv("FMO_TEST_SMALL") != NULL;
    for (int turn = 0; turn < turns; turn++) {
/* The classes with f and g shells, which share their code, take as long as all others in fewer
 * turns; under sanitizers each is in vectors of one width. */
#define ROW(e, name, li, lj, lk, ll, bra_class, ket_class)                 \
    if ((int)(e) < (int)FMO_ERI_GPU_COUNT ||                               \
        (turn % 20 == 0 && (!small || (1 << ((int)(e) % 4)) == v->width))) \
        check_quartets(v, e, #name, li, lj, lk, ll);
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    }
    printf("  integrals %.1e of the Schwarz bound\n", worst_eri);
}

/* Runs the checks for every vector width that this processor has. */
int main(void)
{
    check_forms(&vector_forms_1);
    check_forms(&vector_forms_2);
#if defined(VECTOR_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_forms(&vector_forms_4);
    else
        printf("no AVX2: not run\n");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        check_forms(&vector_forms_8);
    else
        printf("no AVX-512: not run\n");
#endif
    CHECK(beyond > 3 * sets() && empty_lanes > 3 * sets(), "too few special lanes: %ld, %ld",
          beyond, empty_lanes);
    return check_summary();
}
