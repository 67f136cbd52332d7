/* Far quartets: J of pairs that do not overlap, from the moments of quadrature points, and their
 * integrals from quadrature points, against integrals. */
#include "tests/integrals/far_pairs.h"

static void add_shells(test_system *s, double exponent_max)
{
    const int begin = s->prims;
    system_add_shell(s, 0, 1 + (int)random_between(&seed, 0, SYSTEM_DEPTH_MAX), &seed);
    for (int k = begin; k < s->prims; k++) {
        const double a = 0.1 * pow(10.0 * exponent_max, check_random(&seed)), was = s->exponent[k];
        s->exponent[k] = a;
        s->coefficient[k] *= pow(a / was, 0.75);
    }
    if (s->prims - begin > 2) s->coefficient[begin] *= -0.3; /* as in a 2s function */
    system_add_partner(s, &seed);
    system_add_shell(s, 0, 1 + (int)random_between(&seed, 0, 3), &seed);
    system_add_shell(s, 1, 1 + (int)random_between(&seed, 0, 3), &seed);
}

/* Two atoms with a contracted SP shell, an s and a p shell each: pairs of all kinds, with and
 * without an SP partner, of one atom and of two. */
static int fragment_make(fragment *f, double exponent_max, double AB)
{
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    double v[3];
    memset(&s, 0, sizeof s);
    direction(v);
    for (int a = 0; a < 2; a++) {
        system_add_atom(&s, a * AB * v[0], a * AB * v[1], a * AB * v[2]);
        add_shells(&s, exponent_max);
    }
    f->basis = system_basis(&s);
    if (!f->basis) return 0;
    const fmo_status status = fmo_sp_pairs_make(f->basis, 1e-13, 1, &f->pairs, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

/* One primitive of a pair, as a pair. */
static far_pair one_primitive(const far_pair *p, int m)
{
    far_pair one = *p;
    one.view.prim_num = 1;
    one.view.prim += m * FMO_PAIR_FIELDS;
    one.carried.prim_num = p->carried.prim_num > 0;
    one.carried.prim = p->carried_prim + m * FMO_PAIR_FIELDS;
    return one;
}

/* Sums of the sizes of all terms of integrals X[ab][cd]. */
static void integral_sizes(const far_pair *bra, const far_pair *ket, double *X)
{
    for (int b = 0; b < bra->view.prim_num; b++) {
        const far_pair one = one_primitive(bra, b);
        for (int k = 0; k < ket->view.prim_num; k++) {
            const far_pair other = one_primitive(ket, k);
            add_integrals(&one, &other, 1, X);
        }
    }
}

/* And of J, from those of the integrals. */
static void coulomb_sizes(const far_pair *bra, const far_pair *ket, const double *X,
                          double D[2][PRODUCTS_MAX], double J[2][PRODUCTS_MAX])
{
    double sizes[2][PRODUCTS_MAX];
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < PRODUCTS_MAX; i++) sizes[p][i] = fabs(D[p][i]);
    contract(bra, ket, X, sizes, J);
}

/* Integrals X[ab][cd] from n and m quadrature points. */
static void far_integrals(far_pair *bra, int n, far_pair *ket, int m, double *X)
{
    static node_pair b, k;
    static const double none[PRODUCTS_MAX];
    double blocks[FMO_FAR_BLOCKS_MAX] = {0};
    make_nodes(bra, n, none, &b);
    make_nodes(ket, m, none, &k);
    for (int i = 0; i < b.num; i++)
        for (int j = 0; j < k.num; j++) {
            double R[3];
            for (int x = 0; x < 3; x++)
                R[x] = bra->view.A[x] - ket->view.A[x] +
                       (b.place[i] * bra->view.AB[x] - k.place[j] * ket->view.AB[x]);
            fmo_far_add_nodes(bra->pair_class, ket->pair_class, R,
                              b.coefficient + i * FMO_FAR_COEFFICIENTS(bra->pair_class),
                              k.coefficient + j * FMO_FAR_COEFFICIENTS(ket->pair_class), blocks);
        }
    fmo_far_integrals(bra->pair_class, ket->pair_class, bra->view.AB, ket->view.AB, blocks, X);
}

/* The bound of fmo_far_largest on all integrals of two pairs at least gap apart. */
static double largest_integral(const far_pair *bra, const far_pair *ket, double gap)
{
    const far_pair *pair[2] = {bra, ket};
    double moment[2][3], bound = 0.0, factor = 1.0 / gap;
    for (int p = 0; p < 2; p++) {
        const fmo_pair_view *view = &pair[p]->view;
        fmo_far_largest(pair[p]->pair_class, view->prim_num, view->prim, pair[p]->ratio, view->AB,
                        moment[p]);
    }
    for (int order = 0; order <= 4; order++) {
        for (int a = 0; a <= 2; a++)
            if (order - a >= 0 && order - a <= 2)
                bound += moment[0][a] * moment[1][order - a] * factor;
        factor *= (order + 1) / gap;
    }
    return bound;
}

/* Integrals with all primitives as quadrature points are those of the classes; with n points they
 * give the J of the moments of n points; and none exceeds the bound. */
static void check_integrals(far_pair *bra, far_pair *ket, double gap, const double *size_of,
                            double D[2][PRODUCTS_MAX], double sizes[2][PRODUCTS_MAX],
                            double *tightest)
{
    const int size = FMO_FAR_PRODUCTS(bra->pair_class) * FMO_FAR_PRODUCTS(ket->pair_class);
    const double bound = largest_integral(bra, ket, gap);
    double exact[FMO_ERI_INTEGRALS_MAX] = {0}, X[FMO_ERI_INTEGRALS_MAX];
    double J[2][PRODUCTS_MAX], far[2][PRODUCTS_MAX];
    add_integrals(bra, ket, 0, exact);
    far_integrals(bra, PRIMS_MAX, ket, PRIMS_MAX, X);
    for (int i = 0; i < size; i++) {
        CHECK(fabs(X[i] - exact[i]) <= 1e-12 * size_of[i],
              "pairs %d %d, integral %d: got %.17g, expected %.17g", bra->pair_class,
              ket->pair_class, i, X[i], exact[i]);
        CHECK(fabs(exact[i]) <= bound * (1.0 + 1e-13),
              "pairs %d %d, integral %d: %g above the bound %g", bra->pair_class, ket->pair_class,
              i, exact[i], bound);
        *tightest = fmax(*tightest, fabs(exact[i]) / bound);
    }
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        far_integrals(bra, FMO_FAR_NODES(c), ket, FMO_FAR_NODES(c), X);
        contract(bra, ket, X, D, J);
        far_coulomb(bra, FMO_FAR_NODES(c), ket, FMO_FAR_NODES(c), D, far);
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < FMO_FAR_PRODUCTS((p ? ket : bra)->pair_class); i++)
                CHECK(fabs(far[p][i] - J[p][i]) <= 1e-11 * sizes[p][i],
                      "pairs %d %d, %d nodes, J[%d][%d]: %.17g from integrals, %.17g from moments",
                      bra->pair_class, ket->pair_class, FMO_FAR_NODES(c), p, i, J[p][i], far[p][i]);
    }
}

/* The error of J with n quadrature points, relative to the Schwarz bounds, by the pair's fit. */
static double estimate(const far_pair *p, double distance, double other_half, int n)
{
    const double d = distance - other_half;
    return exp2(p->fit.log_A + n * (p->fit.log_rho - log2(d))) * fmin(1.0, 10.0 / distance);
}

/* Pairs that screening may take as far: the error of the quadrature is within the estimate. */
static void check_errors(far_pair pair[2], double distance, double D[2][PRODUCTS_MAX],
                         double all[2][PRODUCTS_MAX], long *errors, double *worst)
{
    const double schwarz = pair[0].bound * pair[1].bound;
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        const int n = FMO_FAR_NODES(c);
        double far[2][PRODUCTS_MAX], bound = 0.0;
        for (int p = 0; p < 2; p++)
            if (pair[p].view.prim_num > n && pair[p].half > 0.0)
                bound += estimate(&pair[p], distance, pair[1 - p].half, n);
        far_coulomb(&pair[0], n, &pair[1], n, D, far);
        const double error = largest_difference(&pair[0], &pair[1], far, all) / schwarz;
        CHECK(error <= ESTIMATE_SHARE * bound + 6e-14,
              "pairs %d %d, %d nodes: error %.3g, estimate %.3g", pair[0].pair_class,
              pair[1].pair_class, n, error, bound);
        if (bound < 1e-11) continue;
        worst[c] = fmax(worst[c], error / bound);
        errors[c]++;
    }
}

/* J from n quadrature points of each pair is exact where these are all primitives and the pairs do
 * not overlap, and else within the estimates. */
static void test_nodes(void)
{
    static far_pair pair[2];
    static double worst[FMO_FAR_CHOICES];
    static long errors[FMO_FAR_CHOICES];
    long cases[3][3] = {{0}}, carried = 0, one_centre = 0;
    double tightest = 0.0;
    for (int f = 0; f < 300; f++) {
        fragment fragments[2];
        for (int k = 0; k < 2; k++)
            if (!fragment_make(&fragments[k], 1e3, random_between(&seed, 0.5, 6.0))) return;
        for (int q = 0; q < 40; q++) {
            const double distance =
                q % 2 ? random_between(&seed, 15.0, 60.0) : random_between(&seed, 2.0, 20.0);
            double D[2][PRODUCTS_MAX], J[2][PRODUCTS_MAX], sizes[2][PRODUCTS_MAX], centre[3];
            double far[2][PRODUCTS_MAX], size_of[FMO_ERI_INTEGRALS_MAX] = {0};
            const double T = place_pairs(fragments, distance, pair, centre);
            far_pair *bra = &pair[0], *ket = &pair[1];
            const double gap = distance - bra->half - ket->half;
            if (!(T >= FMO_FAR_T && gap >= fmax(bra->half, ket->half))) continue;
            random_densities(D);
            far_coulomb(bra, PRIMS_MAX, ket, PRIMS_MAX, D, far);
            check_errors(pair, distance, D, far, errors, worst);
            if (T < 45.0) continue;
            cases[bra->pair_class][ket->pair_class]++;
            carried += bra->carried.prim_num > 0 && bra->pair_class == FMO_PAIR_PS;
            one_centre += bra->half == 0.0 && bra->view.prim_num > 1;
            exact_coulomb(bra, ket, D, J);
            integral_sizes(bra, ket, size_of);
            coulomb_sizes(bra, ket, size_of, D, sizes);
            check_integrals(bra, ket, gap, size_of, D, sizes, &tightest);
            for (int p = 0; p < 2; p++)
                for (int i = 0; i < FMO_FAR_PRODUCTS(pair[p].pair_class); i++)
                    CHECK(fabs(far[p][i] - J[p][i]) <= 3e-13 * sizes[p][i],
                          "pairs %d %d, J[%d][%d]: got %.17g, expected %.17g", bra->pair_class,
                          ket->pair_class, p, i, far[p][i], J[p][i]);
        }
        for (int k = 0; k < 2; k++) fragment_free(&fragments[k]);
    }
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 3; k++) CHECK(cases[b][k] > 100, "%ld of %d %d", cases[b][k], b, k);
    CHECK(carried > 100 && one_centre > 100, "%ld carry, %ld on one atom", carried, one_centre);
    printf("largest integral %.2f of its bound\n", tightest);
    CHECK(tightest > 0.5, "the bound is far too large");
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        printf("%d nodes, %ld cases: largest error %.2f of the estimate\n", FMO_FAR_NODES(c),
               errors[c], worst[c]);
        CHECK(errors[c] > 100 && worst[c] > 0.1 * ESTIMATE_SHARE, "%d nodes: %ld cases, %g",
              FMO_FAR_NODES(c), errors[c], worst[c]);
    }
}

/* Overlap: the error of the far form is below 40 exp(-T) of the Schwarz bounds, with the T of the
 * closest primitives. */
static void test_overlap(void)
{
    static far_pair pair[2];
    double worst = 0.0;
    for (int f = 0; f < 300; f++) {
        fragment fragments[2];
        for (int k = 0; k < 2; k++)
            if (!fragment_make(&fragments[k], 1e3, random_between(&seed, 0.5, 6.0))) return;
        for (int q = 0; q < 40; q++) {
            double D[2][PRODUCTS_MAX], J[2][PRODUCTS_MAX], far[2][PRODUCTS_MAX], centre[3];
            /* the same pairs again, at the distance that has this T */
            const unsigned long long state = seed;
            const double T = random_between(&seed, 10.0, 30.0),
                         start = place_pairs(fragments, 1e3, pair, centre);
            const double halves = pair[0].half + pair[1].half;
            seed = state;
            (void)random_between(&seed, 10.0, 30.0);
            const double again =
                place_pairs(fragments, halves + (1e3 - halves) * sqrt(T / start), pair, centre);
            CHECK(fabs(again - T) <= 1e-10 * T, "T %g, not %g", again, T);
            random_densities(D);
            exact_coulomb(&pair[0], &pair[1], D, J);
            far_coulomb(&pair[0], PRIMS_MAX, &pair[1], PRIMS_MAX, D, far);
            const double error =
                largest_difference(&pair[0], &pair[1], far, J) / (pair[0].bound * pair[1].bound);
            CHECK(error <= 40.0 * exp(-T) + 3e-14, "pairs %d %d, T = %g: error %.3g",
                  pair[0].pair_class, pair[1].pair_class, T, error);
            worst = fmax(worst, (error - 3e-14) * exp(T));
        }
        for (int k = 0; k < 2; k++) fragment_free(&fragments[k]);
    }
    printf("overlap: largest error %.1f exp(-T)\n", worst);
    CHECK(worst > 2.0, "no overlap to be seen: %g", worst);
}

/* Packed extents give back the values that were packed. */
static void test_extent(void)
{
    for (int i = 0; i < 1000; i++) {
        const int cap = (int)random_between(&seed, 0, FMO_FAR_CHOICES + 1),
                  c = (int)random_between(&seed, 0, 62.9);
        const float spread = (float)pow(10.0, random_between(&seed, -6.0, 3.0));
        const float plain = fmo_far_extent(spread, cap, 0), word = fmo_far_extent(spread, cap, c);
        CHECK(fmo_far_cap(word) == cap && fmo_far_cap(plain) == cap, "cap %d of %g", cap, word);
        CHECK(fmo_far_cancelled(word) == (float)c && fmo_far_cancelled(plain) == 0.0f,
              "cancellation %g, not %d", fmo_far_cancelled(word), c);
        CHECK(plain > spread && plain <= spread * 1.00001f, "%g for %g", plain, spread);
        CHECK(fabsf(word) > spread && fabsf(word) <= spread * 1.0002f, "%g for %g", word, spread);
    }
    CHECK(fabsf(fmo_far_extent(1.0f, 0, FMO_FAR_CANCELLED)) >= 1e30f, "noise is never far");
    CHECK(fmo_far_cancellation(4.0, 1.0) == 0 && fmo_far_cancellation(4.1, 1.0) == 3 &&
              fmo_far_cancellation(1024.0, 1.0) == 10,
          "cancellation is rounded up");
    CHECK(fmo_far_cancellation(1.0, 0.0) == FMO_FAR_CANCELLED &&
              fmo_far_cancellation(NAN, 1.0) == FMO_FAR_CANCELLED,
          "no bound");
}

int main(void)
{
    seed = 1489875182006778041ULL;
    test_nodes();
    test_overlap();
    test_extent();
    return check_summary();
}
