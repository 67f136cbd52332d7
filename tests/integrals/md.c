/* The McMurchie-Davidson recursion of classes with d shells (eri_md.h) and, in slices, with f
 * shells (eri_slice.h), applied to s and p shells as well, where it can be compared with other
 * code: quartets, bounds of primitive pairs, counts of terms. */
#include "integrals/eri/eri.h"
#define FMO_SLICE_ANG_MOM_MAX FMO_SLICE_ANG_MOM_LIMIT
#include "integrals/eri/eri_slice.h"
#include "integrals/pairs/prim_bound.h"

#include "tests/support/check.h"

static unsigned long long seed = 2024;

/* A primitive pair of exponents a and b on A and B. */
static void make_pair(double a, double b, const double *A, const double *B, double *prim,
                      double *AB)
{
    const double p = a + b;
    double r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = A[x] - B[x];
        r2 += AB[x] * AB[x];
        prim[FMO_PAIR_X + x] = -(b / p) * AB[x];
    }
    prim[FMO_PAIR_P] = p;
    prim[FMO_PAIR_K] = exp(-a * b / p * r2) * 5.9149671727956128778 / p;
    prim[FMO_PAIR_HALF] = 0.5 / p;
}

/* Two primitive pairs on four random centres. */
static void random_pairs(double *bra, double *ket, double *AB, double *CD, double *AC)
{
    double at[4][3];
    for (int s = 0; s < 4; s++)
        for (int x = 0; x < 3; x++) at[s][x] = random_between(&seed, -1.0, 1.0);
    make_pair(random_between(&seed, 0.1, 3.0), random_between(&seed, 0.1, 3.0), at[0], at[1], bra,
              AB);
    make_pair(random_between(&seed, 0.1, 3.0), random_between(&seed, 0.1, 3.0), at[2], at[3], ket,
              CD);
    for (int x = 0; x < 3; x++) AC[x] = at[0][x] - at[2][x];
}

static fmo_prim_quartet quartet_of(int M, const double *bra, const double *ket, const double *AB,
                                   const double *CD, const double *AC)
{
    const fmo_prim_pair b = {bra[FMO_PAIR_P],
                             bra[FMO_PAIR_K],
                             {bra[FMO_PAIR_X], bra[FMO_PAIR_Y], bra[FMO_PAIR_Z]},
                             bra[FMO_PAIR_HALF]};
    const fmo_prim_pair k = {ket[FMO_PAIR_P],
                             ket[FMO_PAIR_K],
                             {ket[FMO_PAIR_X], ket[FMO_PAIR_Y], ket[FMO_PAIR_Z]},
                             ket[FMO_PAIR_HALF]};
    fmo_prim_quartet z = fmo_prim_quartet_make(fmo_boys.row[M][0], M, &b, &k, AC);
    for (int x = 0; x < 3; x++) z.AB[x] = AB[x], z.CD[x] = CD[x];
    return z;
}

/* A class with hand-written code agrees with the recursion. */
#define CHECK_CLASS(e, name, li, lj, lk, ll, bra_class, ket_class)                               \
    static void check_##name(const double *bra, const double *ket, const double *AB,             \
                             const double *CD, const double *AC)                                 \
    {                                                                                            \
        enum {                                                                                   \
            SIZE = FMO_CARTESIAN(li) * FMO_CARTESIAN(lj) * FMO_CARTESIAN(lk) * FMO_CARTESIAN(ll) \
        };                                                                                       \
        const fmo_prim_quartet z = quartet_of(li + lj + lk + ll, bra, ket, AB, CD, AC);          \
        double acc[eri_##name##_acc] = {0}, expected[SIZE], got[SIZE] = {0};                     \
        double r[(li + lj + lk + ll + 1) * (li + lj + lk + ll + 1) * (li + lj + lk + ll + 1)];   \
        double term[FMO_MD_TERMS(lk, ll) + FMO_MD_TERMS(li, lj)];                                \
        double H[FMO_HERMITE_COUNT(li + lj) * FMO_CARTESIAN(lk) * FMO_CARTESIAN(ll)] = {0};      \
        eri_##name##_prim(&z, acc);                                                              \
        eri_##name##_finish(AB, CD, acc, expected);                                              \
        fmo_md_ket(li, lj, lk, ll, &z, r, term, H);                                              \
        fmo_md_bra(li, lj, lk, ll, &z, term, H, got);                                            \
        double largest = 0.0;                                                                    \
        for (int k = 0; k < SIZE; k++) largest = fmax(largest, fabs(expected[k]));               \
        for (int k = 0; k < SIZE; k++)                                                           \
            CHECK(fabs(got[k] - expected[k]) <= 1e-12 * largest,                                 \
                  #name " %d: by the rule %.17g, "                                               \
                        "by its own arithmetic %.17g",                                           \
                  k, got[k], expected[k]);                                                       \
    }
FMO_ERI_LOW_L_TABLE(CHECK_CLASS)

static void check_classes(void)
{
    for (int set = 0; set < 200; set++) {
        double bra[FMO_PAIR_FIELDS], ket[FMO_PAIR_FIELDS], AB[3], CD[3], AC[3];
        random_pairs(bra, ket, AB, CD, AC);
#define ROW(e, name, ...) check_##name(bra, ket, AB, CD, AC);
        FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
    }
}

/* The bound of a primitive pair is the largest of its integrals with itself, exactly. */
static void check_bounds(void)
{
    for (int set = 0; set < 300; set++) {
        double A[3], B[3], AB[3], prim[FMO_PAIR_FIELDS];
        const double a = pow(10.0, random_between(&seed, -2.0, 4.0)),
                     b = pow(10.0, random_between(&seed, -2.0, 2.0));
        for (int x = 0; x < 3; x++) {
            A[x] = random_between(&seed, -1.0, 1.0);
            B[x] = set % 5 == 0 ? A[x] : random_between(&seed, -1.0, 1.0);
        }
        make_pair(a, b, A, B, prim, AB);
#define ROW(P, name, li, lj, partner)                                                              \
    {                                                                                              \
        enum { SIZE = FMO_CARTESIAN(li) * FMO_CARTESIAN(lj) };                                     \
        static double eri[SIZE * SIZE];                                                            \
        const fmo_pair_view view = {1, prim, AB, A};                                               \
        double largest = 0.0;                                                                      \
        fmo_eri_quartet((fmo_eri_class)fmo_eri_class_of(FMO_PAIR_##P, FMO_PAIR_##P), &view, &view, \
                        eri);                                                                      \
        for (int k = 0; k < SIZE; k++) largest = fmax(largest, eri[k * SIZE + k]);                 \
        const double expected = sqrt(largest), own = fmo_prim_bound_##name(AB, prim);              \
        const double rule = fmo_prim_bound_md(li, lj, AB, prim);                                   \
        if (expected < 1e-150) continue;                                                           \
        CHECK(fabs(own / expected - 1.0) < 1e-10, #name ": bound %.17g, integrals %.17g", own,     \
              expected);                                                                           \
        CHECK(fabs(rule / expected - 1.0) < 1e-10, #name ": rule %.17g, integrals %.17g", rule,    \
              expected);                                                                           \
    }
        FMO_PAIR_TABLE(ROW)
#undef ROW
    }
}

/* A class computed in slices, with permuted axes, agrees with the whole. */
#define CHECK_SLICES(e, name, li, lj, lk, ll, bra_class, ket_class)                            \
    static void check_slices_##name(const fmo_prim_quartet *z)                                 \
    {                                                                                          \
        enum {                                                                                 \
            M = li + lj + lk + ll,                                                             \
            NB = FMO_CARTESIAN(lj),                                                            \
            NC = FMO_CARTESIAN(lk),                                                            \
            ND = FMO_CARTESIAN(ll)                                                             \
        };                                                                                     \
        static double expected[eri_##name##_acc];                                              \
        double r[FMO_HERMITE_COUNT(M)], largest = 0.0;                                         \
        memset(expected, 0, sizeof expected);                                                  \
        eri_##name##_prim(z, expected);                                                        \
        for (int k = 0; k < eri_##name##_acc; k++) largest = fmax(largest, fabs(expected[k])); \
        for (int slice = 0; slice < FMO_CARTESIAN(li); slice++) {                              \
            const int turn = slice % 3, a = fmo_slice_function(slice / 3);                     \
            const fmo_prim_quartet t = turned(z, turn);                                        \
            double got[NB * NC * ND] = {0};                                                    \
            fmo_slice_coulomb(M, &t, r);                                                       \
            fmo_slice_add(li, lj, lk, ll, a, 0, 1, &t, r, got, 1);                             \
            fmo_slice_add(li, lj, lk, ll, a, 1, NB - 1, &t, r, got + NC * ND, 1);              \
            for (int k = 0; k < NB * NC * ND; k++) {                                           \
                const int b = fmo_slice_outside(lj, turn, k / (NC * ND));                      \
                const int c = fmo_slice_outside(lk, turn, k / ND % NC);                        \
                const int d = fmo_slice_outside(ll, turn, k % ND);                             \
                const int at = ((fmo_slice_outside(li, turn, a) * NB + b) * NC + c) * ND + d;  \
                seen[at]++;                                                                    \
                CHECK(fabs(got[k] - expected[at]) <= 1e-12 * largest,                          \
                      #name " slice %d, %d: %.17g, by the rule %.17g", slice, k, got[k],       \
                      expected[at]);                                                           \
            }                                                                                  \
        }                                                                                      \
        for (int k = 0; k < eri_##name##_acc; k++, seen[k - 1] = 0)                            \
            CHECK(seen[k] == 1, #name ": integral %d is in %d slices", k, seen[k]);            \
    }

static fmo_prim_quartet turned(const fmo_prim_quartet *z, int turn)
{
    fmo_prim_quartet t = *z;
    for (int k = 0; k < 3; k++) {
        const int x = (k + turn) % 3;
        t.PA[k] = z->PA[x], t.QC[k] = z->QC[x], t.PQ[k] = z->PQ[x];
        t.AB[k] = z->AB[x], t.CD[k] = z->CD[x];
    }
    return t;
}

static int seen[FMO_ERI_INTEGRALS_MAX];
FMO_ERI_HIGH_L_TABLE(CHECK_SLICES)

static void check_slices(void)
{
    for (int set = 0; set < 20; set++) {
        double bra[FMO_PAIR_FIELDS], ket[FMO_PAIR_FIELDS], AB[3], CD[3], AC[3];
        random_pairs(bra, ket, AB, CD, AC);
#define ROW(e, name, li, lj, lk, ll, bra_class, ket_class)                              \
    {                                                                                   \
        const fmo_prim_quartet z = quartet_of(li + lj + lk + ll, bra, ket, AB, CD, AC); \
        check_slices_##name(&z);                                                        \
    }
        FMO_ERI_HIGH_L_TABLE(ROW)
#undef ROW
    }
}

/* The slices of a class with f shells, one function of the first shell each, agree with the whole.
 * The last one is xyz, which is permuted into itself. */
static void check_f_slices(fmo_eri_class e, const int *l, int set)
{
    const int order = l[0] + l[1] + l[2] + l[3], last = FMO_CARTESIAN(l[0]) - 1;
    const int NB = FMO_CARTESIAN(l[1]), NC = FMO_CARTESIAN(l[2]), ND = FMO_CARTESIAN(l[3]);
    const int slice_size = NB * NC * ND, size = (last + 1) * slice_size;
    static double expected[FMO_ERI_INTEGRALS_MAX], got[FMO_ERI_INTEGRALS_MAX];
    static double r[FMO_HERMITE_COUNT(FMO_SLICE_ORDER_LIMIT)];
    double bra[FMO_PAIR_FIELDS], ket[FMO_PAIR_FIELDS], AB[3], CD[3], AC[3], largest = 0.0;
    const double origin[3] = {0.0, 0.0, 0.0};
    if (order > FMO_SLICE_ORDER_LIMIT) return;
    random_pairs(bra, ket, AB, CD, AC);
    const fmo_prim_quartet z = quartet_of(order, bra, ket, AB, CD, AC);
    const fmo_pair_view bra_view = {1, bra, AB, AC}, ket_view = {1, ket, CD, origin};
    fmo_eri_quartet(e, &bra_view, &ket_view, expected);
    for (int k = 0; k < size; k++) largest = fmax(largest, fabs(expected[k]));
    for (int slice = 0; slice <= last; slice++) {
        const int turn = slice % 3, a = fmo_slice_function(slice / 3);
        const fmo_prim_quartet t = turned(&z, turn);
        memset(got, 0, (size_t)slice_size * sizeof *got);
        fmo_slice_coulomb(order, &t, r);
        fmo_slice_add(l[0], l[1], l[2], l[3], a, 0, NB, &t, r, got, 1);
        for (int k = 0; k < slice_size; k++) {
            const int b = fmo_slice_outside(l[1], turn, k / (NC * ND));
            const int c = fmo_slice_outside(l[2], turn, k / ND % NC);
            const int d = fmo_slice_outside(l[3], turn, k % ND);
            const int at = ((fmo_slice_outside(l[0], turn, a) * NB + b) * NC + c) * ND + d;
            seen[at]++;
            CHECK(fabs(got[k] - expected[at]) <= 1e-12 * largest,
                  "class %d set %d slice %d, %d: %.17g, whole %.17g", (int)e, set, slice, k, got[k],
                  expected[at]);
        }
    }
    for (int k = 0; k < size; k++, seen[k - 1] = 0)
        CHECK(seen[k] == 1, "class %d: integral %d is in %d slices", (int)e, k, seen[k]);
}

static void check_all_f_slices(void)
{
#define ROW(e, name, ...) {e, {__VA_ARGS__}},
    static const struct {
        fmo_eri_class e;
        int l[6]; /* four angular momenta, and the classes of pairs */
    } classes[] = {FMO_ERI_ANY_GPU_TABLE(ROW)};
#undef ROW
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
        for (int set = 0; set < 3; set++) check_f_slices(classes[k].e, classes[k].l, set);
}

/* The preprocessor's numbers of terms and places. */
static void check_counts(void)
{
#define ROW(P, name, la, lb, partner)                                                         \
    {                                                                                         \
        int terms = 0;                                                                        \
        for (int a = 0; a < fmo_shell_functions(la); a++)                                     \
            for (int b = 0; b < fmo_shell_functions(lb); b++) {                               \
                int product = 1;                                                              \
                for (int x = 0; x < 3; x++)                                                   \
                    product *= fmo_shell_power(la, a, x) + fmo_shell_power(lb, b, x) + 1;     \
                terms += product;                                                             \
                CHECK(product <= FMO_MD_TERMS_MAX, #name ": %d terms in a product", product); \
            }                                                                                 \
        CHECK(terms == FMO_MD_TERMS(la, lb), #name ": %d terms, not %d", terms,               \
              FMO_MD_TERMS(la, lb));                                                          \
    }
    FMO_PAIR_TABLE(ROW)
#undef ROW
    for (int l = 0; l <= FMO_ANG_MOM_MAX; l++)
        for (int c = 0; c < fmo_shell_functions(l); c++)
            for (int x = 0; x < 3; x++)
                CHECK(fmo_md_power(l, c, x) == fmo_shell_power(l, c, x), "power %d %d %d", l, c, x);
    for (int n = 0, at; n <= FMO_PAIR_ORDER_MAX; n++) {
        at = 0;
        for (int v = 0; v <= n; v++)
            for (int u = 0; u <= n - v; u++)
                for (int t = 0; t <= n - v - u; t++, at++)
                    CHECK(FMO_MD_HERMITE(n, t, u, v) == at, "place of %d %d %d", t, u, v);
        CHECK(at == FMO_HERMITE_COUNT(n), "%d Hermite functions", at);
    }
}

int main(void)
{
    check_counts();
    check_slices();
    check_all_f_slices();
    check_classes();
    check_bounds();
    return check_summary();
}
