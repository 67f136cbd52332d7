/* The ERI classes against a long double reference of another algorithm, for every arrangement of
 * the kinds of shells over the four shells: |error| <= 1e-12 sqrt(max (ij|ij) max (kl|kl)), and
 * exact zeros where symmetry demands them. */
#define FMO_REF_REAL long double
#include "integrals/eri/eri_reference.inc"
#include "integrals/pairs/shell_pair.h"

#include <float.h>

#include "tests/support/check.h"

enum { DEPTH_MAX = 6, SETS = 60 };

static unsigned long long seed = 12345;
static double worst[FMO_ERI_CLASS_COUNT];
static long zeros;
static const double tolerance = 1e-12; /* of the Schwarz bound */

typedef struct test_shell {
    double exponent[DEPTH_MAX], coefficient[DEPTH_MAX], centre[3];
    int l, depth;
} test_shell;

static void make_shell(test_shell *s, int l, int depth, double log_min, double log_max)
{
    s->l = l;
    s->depth = depth;
    for (int k = 0; k < depth; k++) {
        s->exponent[k] = pow(10.0, random_between(&seed, log_min, log_max));
        s->coefficient[k] = random_between(&seed, -1.0, 1.0) * pow(s->exponent[k], 0.75 + 0.5 * l);
    }
}

/* A basis of four test shells on four nuclei, with Cartesian functions. */
static fmo_basis *basis_of(const test_shell *s)
{
    enum { AOS = 4 * FMO_SHELL_FUNCTIONS_MAX };
    int nucleus[4] = {0, 1, 2, 3}, l[4], prim_shell[4 * DEPTH_MAX], ao_shell[AOS], ao_comp[AOS];
    double charge[4] = {1, 1, 1, 1}, coord[12], a[4 * DEPTH_MAX], c[4 * DEPTH_MAX], factor[AOS];
    int prims = 0, aos = 0;
    for (int i = 0; i < 4; i++) {
        memcpy(coord + 3 * i, s[i].centre, 3 * sizeof(double));
        l[i] = s[i].l;
        for (int k = 0; k < s[i].depth; k++, prims++) {
            prim_shell[prims] = i;
            a[prims] = s[i].exponent[k];
            c[prims] = s[i].coefficient[k];
        }
        for (int k = 0; k < fmo_shell_functions(l[i]); k++, aos++) {
            ao_shell[aos] = i;
            ao_comp[aos] = k;
            factor[aos] = 1.0;
        }
    }
    fmo_basis_input in = {4, charge, coord, 4,        nucleus, l,      prims, prim_shell,
                          a, c,      aos,   ao_shell, ao_comp, factor, 1};
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_basis_create(&in, &basis, &err);
    CHECK(basis != NULL, "%s", err.message);
    return basis;
}

/* Internal index of the caller's shell i: s shells first. */
static int internal_shell(const test_shell *s, int i)
{
    int at = 0;
    for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++)
        for (int k = 0; k < 4; k++)
            if (s[k].l == l) {
                if (k == i) return at;
                at++;
            }
    return -1;
}

typedef struct pair {
    double prim[DEPTH_MAX * DEPTH_MAX * FMO_PAIR_FIELDS], AB[3];
    fmo_pair_view view;
    int i, j; /* internal shells in the library's order */
    int swapped;
    fmo_pair_class pair_class;
} pair;

static void make_pair(const fmo_basis *basis, const test_shell *s, int i, int j, pair *z)
{
    const int first = internal_shell(s, i);
    z->i = first;
    z->j = internal_shell(s, j);
    fmo_shell_pair_order(basis, &z->i, &z->j);
    z->swapped = z->i != first;
    z->pair_class = (fmo_pair_class)(s[i].l >= s[j].l ? fmo_pair_class_of(s[i].l, s[j].l)
                                                      : fmo_pair_class_of(s[j].l, s[i].l));
    fmo_shell_pair_primitives(basis, z->i, z->j, z->prim, z->AB);
    z->view = (fmo_pair_view){basis->shell[z->i].prim_num * basis->shell[z->j].prim_num, z->prim,
                              z->AB, basis->shell[z->i].centre};
}

static eri_reference_work work;

/* sqrt(max (ab|ab)); far pairs underflow a double. */
static long double schwarz(const test_shell *s, int i, int j)
{
    static long double eri[FMO_ERI_INTEGRALS_MAX];
    long double largest = 0;
    const eri_reference_shell a = {s[i].l,           s[i].depth,  s[i].exponent,
                                   s[i].coefficient, s[i].centre, NULL};
    const eri_reference_shell b = {s[j].l,           s[j].depth,  s[j].exponent,
                                   s[j].coefficient, s[j].centre, NULL};
    const eri_reference_shell four[4] = {a, b, a, b};
    const int n = fmo_shell_functions(s[i].l) * fmo_shell_functions(s[j].l);
    eri_reference(four, (fmo_operator){0}, 0, &work, eri);
    for (int k = 0; k < n; k++) largest = fmaxl(largest, eri[k * n + k]);
    return sqrtl(largest);
}

/* One quartet of shells in the caller's order, through the class that computes it. */
static void check_quartet(const test_shell *s, const char *what)
{
    fmo_basis *basis = basis_of(s);
    if (!basis) return;
    pair bra, ket;
    make_pair(basis, s, 0, 1, &bra);
    make_pair(basis, s, 2, 3, &ket);
    const int exchanged = bra.pair_class < ket.pair_class;
    const pair *first = exchanged ? &ket : &bra, *second = exchanged ? &bra : &ket;
    const fmo_eri_class c = (fmo_eri_class)fmo_eri_class_of(first->pair_class, second->pair_class);
    static double got[FMO_ERI_INTEGRALS_MAX];
    static long double expected[FMO_ERI_INTEGRALS_MAX];
    fmo_eri_quartet(c, &first->view, &second->view, got);
    double norm = 1.0; /* the library's shells are normalised */
    for (int i = 0; i < 4; i++)
        norm *= basis->ao_factor[basis->shell[internal_shell(s, i)].caller_begin];

    eri_reference_shell four[4];
    int n[4];
    for (int i = 0; i < 4; i++) {
        four[i] = (eri_reference_shell){s[i].l,           s[i].depth,  s[i].exponent,
                                        s[i].coefficient, s[i].centre, NULL};
        n[i] = fmo_shell_functions(s[i].l);
    }
    eri_reference(four, (fmo_operator){0}, 0, &work, expected);
    const double scale = (double)(schwarz(s, 0, 1) * schwarz(s, 2, 3)); /* may be subnormal */
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++)
                for (int l = 0; l < n[3]; l++) {
                    const int ab = bra.swapped ? j * n[0] + i : i * n[1] + j;
                    const int cd = ket.swapped ? l * n[2] + k : k * n[3] + l;
                    const int bra_size = n[0] * n[1], ket_size = n[2] * n[3];
                    const double g =
                        norm * (exchanged ? got[cd * bra_size + ab] : got[ab * ket_size + cd]);
                    const long double w = expected[((i * n[1] + j) * n[2] + k) * n[3] + l];
                    const double error = (double)fabsl(g - w);
                    CHECK(error <= tolerance * scale + DBL_MIN,
                          "%s %s (%d%d|%d%d): got %.17g, expected %.17Lg, error/bound %.3g", what,
                          fmo_eri_class_name(c), i, j, k, l, g, w, error / scale);
                    if (scale > 1e-280 && error / scale > worst[c]) worst[c] = error / scale;

                    /* Reflection symmetry: centres equal in x, x to an odd power: exactly 0. */
                    const int index[4] = {i, j, k, l};
                    for (int x = 0; x < 3; x++) {
                        int odd = 0, flat = 1;
                        for (int t = 0; t < 4; t++) {
                            odd ^= fmo_shell_power(s[t].l, index[t], x) & 1;
                            flat &= s[t].centre[x] == s[0].centre[x];
                        }
                        if (odd && flat) {
                            zeros++;
                            CHECK(g == 0.0, "%s %s: %.17g where symmetry makes it 0", what,
                                  fmo_eri_class_name(c), g);
                        }
                    }
                }
    fmo_basis_destroy(basis);
}

static void place(test_shell *s, const int *same, double spread, int planar)
{
    for (int i = 0; i < 4; i++)
        for (int x = 0; x < 3; x++)
            s[i].centre[x] = same[i] != i ? s[same[i]].centre[x]
                             : planar > x ? 0.3
                                          : random_between(&seed, -spread, spread);
}

/* The horizontal recursion makes (pp| from (ds| and (ps|; with the tight shell second they would be
 * larger than (pp| by about AB sqrt(b), and as many digits would be lost. fmo_shell_pair_order puts
 * it first. */
static void check_tight(void)
{
    static const int apart[4] = {0, 1, 2, 3};
    double before[FMO_ERI_CLASS_COUNT];
    memcpy(before, worst, sizeof before);
    for (double b = 1.0; b < 2e5; b *= 10.0) {
        memset(worst, 0, sizeof worst);
        for (int set = 0; set < SETS; set++) {
            test_shell s[4];
            for (int i = 0; i < 4; i++) make_shell(&s[i], 1, 1, -1.0, 0.0);
            s[set % 2].exponent[0] = s[3].exponent[0] = b;
            place(s, apart, 1.5, 0);
            check_quartet(s, "tight");
        }
        printf("pppp, exponents 0.1..1 and %g: largest error %.2e of the Schwarz bound\n", b,
               worst[FMO_ERI_PPPP]);
    }
    memcpy(worst, before, sizeof worst);
}

/* Compares integrals of all combinations of four shells with the reference: coincident centres,
 * several depths, exponents from 1e-2 to 1e5, and far from the origin. Without FMO_TEST_FULL=1
 * deep contractions, which take most of the time, have a quarter of the coincidences for each
 * combination, and all of them over the combinations. */
int main(void)
{
    static const int coincident[][4] = {{0, 1, 2, 3}, {0, 0, 2, 3}, {0, 1, 0, 3}, {0, 1, 1, 3},
                                        {0, 1, 2, 2}, {0, 0, 2, 2}, {0, 1, 0, 1}, {0, 1, 1, 0},
                                        {0, 0, 0, 3}, {0, 1, 1, 1}, {0, 0, 0, 0}};
    test_shell s[4];
    const int kinds = FMO_SHELL_KIND_COUNT;
    const int small = getenv("FMO_TEST_SMALL") != NULL, full = getenv("FMO_TEST_FULL") != NULL;
    for (int ang = 0; ang < kinds * kinds * kinds * kinds; ang++) {
        const int l[4] = {ang % kinds, ang / kinds % kinds, ang / kinds / kinds % kinds,
                          ang / kinds / kinds / kinds};
        /* The reference takes longest for many d shells, and far longer with f and g shells: with
         * these, combinations take turns at the coincidences. */
        const int sum = l[0] + l[1] + l[2] + l[3], many = sum > 4;
        int has_f = 0, has_g = 0;
        for (int i = 0; i < 4; i++) has_f |= l[i] > 2, has_g |= l[i] > 3;
        const int sets = has_g && !full ? 1 : has_f ? 2 : small ? DEPTH_MAX : many ? 12 : SETS;
        const int coincidences = (int)(sizeof coincident / sizeof *coincident);
        const int deepest = has_f ? (sum > 7 ? 1 : 2) : small && many ? 2 : DEPTH_MAX;
        for (int where = 0; where < coincidences; where++) {
            if (has_g && !full && (where + ang) % coincidences) continue;
            for (int set = 0; set < sets; set++) {
                const int depth = 1 + set % deepest;
                /* alternately exponents from 1e-2 to 1e5, and the usual ones */
                const double low = set % 2 ? -2.0 : -1.0, high = set % 2 ? 5.0 : 1.5;
                if (depth > 3 &&
                    (set >= (many ? DEPTH_MAX : SETS / 4) || (!full && (where + ang) % 4 != 0)))
                    continue;
                for (int i = 0; i < 4; i++)
                    make_shell(&s[i], l[i], i % 2 ? 1 + (depth + 1) / 2 : depth, low, high);
                for (int i = 0; i < 4; i++)
                    if (s[i].depth > deepest) s[i].depth = deepest;
                place(s, coincident[where], set % 3 ? 1.5 : 4.0, set % 4);
                check_quartet(s, "random");
            }
        }
        /* all four to depth 6 once, and far from the origin, where P - Q loses digits if formed
         * from coordinates */
        if (has_g && !full && ang % 3) continue;
        for (int i = 0; i < 4; i++) make_shell(&s[i], l[i], deepest, -2.0, 5.0);
        place(s, coincident[0], 1.0, 0);
        check_quartet(s, "depth 6");
        for (int i = 0; i < 4; i++) s[i].centre[0] += 200.0;
        check_quartet(s, "displaced");
    }
    check_tight();
    printf("%ld integrals were exactly zero by symmetry\n", zeros);
    CHECK(zeros > 1000, "too few symmetric cases");
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        printf("%s: largest error %.2e of the Schwarz bound\n",
               fmo_eri_class_name((fmo_eri_class)c), worst[c]);
    return check_summary();
}
