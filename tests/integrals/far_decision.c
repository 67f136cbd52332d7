/* Far quartets: the decision that a quartet is far, for contractions that nearly cancel. */
#include "tests/integrals/far_pairs.h"

/* The error of an element of X^J, in cutoffs: overlap of pairs whose primitives cancel by up to
 * FMO_FAR_CANCELS each, and the quadrature of both pairs (integrals/far/decide.h). */
static double claimed(double distance)
{
    const double nodes = 2.0 * 0.25 * ESTIMATE_SHARE * fmax(1.0, distance / 10.0);
    return nodes + 0.25 * 40.0 * exp(-FMO_FAR_T) * FMO_FAR_CANCELS * FMO_FAR_CANCELS;
}

/* Exponents in ratios near 1, with the signs and sizes of a difference of some order, exactly or
 * more or less; then one in four has a primitive that is much tighter or more diffuse than the
 * others. */
static void cancel(test_system *s, int begin, int l, double first, double ratio, int exact)
{
    const int num = s->prims - begin;
    const double jitter = exact ? 0.0 : pow(10.0, random_between(&seed, -4.0, 0.0));
    double binomial = 1.0;
    for (int k = 0; k < num; k++) {
        const double a = first * pow(ratio, k);
        s->exponent[begin + k] = a;
        s->coefficient[begin + k] = (k % 2 ? -1.0 : 1.0) * binomial *
                                    (1.0 + jitter * random_between(&seed, -1.0, 1.0)) *
                                    pow(a, 0.75 + 0.5 * l);
        binomial *= (double)(num - 1 - k) / (k + 1);
    }
    if (!exact && num > 1 && check_random(&seed) < 0.25) {
        const double a = check_random(&seed) < 0.5
                             ? pow(10.0, random_between(&seed, 0.0, 6.0))
                             : 0.03 * pow(10.0, random_between(&seed, 0.0, 1.0));
        s->exponent[s->prims - 1] = a;
        s->coefficient[s->prims - 1] = random_between(&seed, -1.0, 1.0) * pow(a, 0.75 + 0.5 * l);
    }
    double overlap = 0.0;
    for (int j = begin; j < s->prims; j++)
        for (int k = begin; k < s->prims; k++) {
            const double p = s->exponent[j] + s->exponent[k];
            overlap +=
                s->coefficient[j] * s->coefficient[k] * pow(M_PI / p, 1.5) * (l ? 0.5 / p : 1.0);
        }
    for (int k = begin; k < s->prims; k++) s->coefficient[k] /= sqrt(fmax(overlap, 1e-12));
}

/* Two atoms, each with an sp set, an s and a p shell of such contractions, 1 to 6 long; in every
 * second case all shells are alike. */
static int adversary_make(fragment *f, double AB, int alike)
{
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    double v[3], first = 0.0, ratio = 0.0;
    memset(&s, 0, sizeof s);
    direction(v);
    for (int a = 0; a < 2; a++) {
        int begin = s.prims;
        system_add_atom(&s, a * AB * v[0], a * AB * v[1], a * AB * v[2]);
        for (int shell = 0; shell < 3; shell++) {
            begin = s.prims;
            if (!alike || s.prims == 0) {
                first = 0.05 * pow(10.0, random_between(&seed, 0.0, 3.5));
                ratio = random_between(&seed, 1.05, 1.5);
            }
            system_add_shell(&s, shell == 0,
                             alike ? 3 : 1 + (int)random_between(&seed, 0, SYSTEM_DEPTH_MAX),
                             &seed);
            /* not a partner of the p shell */
            cancel(&s, begin, shell == 0, shell == 1 ? 1.3 * first : first, ratio, alike);
        }
        const int partner = s.prims;
        system_add_partner(&s, &seed);
        for (int k = partner; k < s.prims; k++) /* the same exponents */
            s.coefficient[k] = s.coefficient[k - (partner - begin)] *
                               random_between(&seed, 0.5, 1.5) * sqrt(s.exponent[k]);
    }
    f->basis = system_basis(&s);
    if (!f->basis) return 0;
    const fmo_status status = fmo_sp_pairs_make(f->basis, 1e-13, 1, &f->pairs, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

/* A pair with its screening data; old_decision: cancellation is ignored. */
static fmo_far_reach reach_of(const far_pair *p, int old_decision)
{
    double at[3];
    for (int x = 0; x < 3; x++) at[x] = p->view.A[x] + p->middle[x];
    const fmo_far_reach reach = {
        {(float)at[0], (float)at[1], (float)at[2], (float)p->half},
        fmo_far_extent((float)(1.0 / p->p_min), p->cap,
                       old_decision ? 0 : fmo_far_cancellation(p->prim_bounds, p->bound)),
        p->fit};
    return reach;
}

static int decide_at(far_pair pair[2], const double *v, double distance, double log_size,
                     int old_decision, double *centre)
{
    float gap;
    for (int x = 0; x < 3; x++)
        centre[x] = pair[0].view.A[x] + pair[0].middle[x] + distance * v[x] - pair[1].middle[x];
    pair[1].view.A = pair[1].carried.A = centre;
    return fmo_far_decide(reach_of(&pair[0], old_decision), reach_of(&pair[1], old_decision),
                          (float)log_size, &gap);
}

/* The error in cutoffs where two pairs are first far, `size` cutoffs large; NAN if they never are.
 * `noise` is taken for rounding. */
static double error_at_first(far_pair pair[2], const double *v, double size, int old_decision,
                             double D[2][PRODUCTS_MAX], double noise, double *distance)
{
    double low = 0.0, high = 1e3, centre[3], J[2][PRODUCTS_MAX], far[2][PRODUCTS_MAX];
    const double log_size = log2(size);
    if (decide_at(pair, v, high, log_size, old_decision, centre) < 0) return NAN;
    for (int step = 0; step < 40; step++) {
        const double middle = 0.5 * (low + high);
        if (decide_at(pair, v, middle, log_size, old_decision, centre) < 0)
            low = middle;
        else
            high = middle;
    }
    *distance = high;
    const int choices = decide_at(pair, v, high, log_size, old_decision, centre);
    exact_coulomb(&pair[0], &pair[1], D, J);
    far_coulomb(&pair[0], FMO_FAR_NODES(choices / FMO_FAR_CHOICES), &pair[1],
                FMO_FAR_NODES(choices % FMO_FAR_CHOICES), D, far);
    const double error = largest_difference(&pair[0], &pair[1], far, J) - noise;
    return fmax(0.0, error) * size / (4.0 * pair[0].bound * pair[1].bound);
}

/* Quartets that are just far enough to be taken as far have errors below the claimed bound, also
 * where large primitives cancel; the decision without cancellation fails. */
static void test_decision(void)
{
    static far_pair pair[2];
    enum { FRAGMENTS = 600, TRIES = 20 };
    long cases = 0, cancelled = 0, wrong_before = 0;
    double worst = 0.0, before = 0.0;
    for (int f = 0; f < FRAGMENTS; f++) {
        fragment fragments[2];
        for (int k = 0; k < 2; k++)
            if (!adversary_make(&fragments[k], random_between(&seed, 0.0, 5.0), f % 2)) return;
        for (int q = 0; q < TRIES; q++) {
            double D[2][PRODUCTS_MAX], v[3], centre[3], distance = 0.0;
            (void)place_pairs(fragments, 1e3, pair, centre);
            direction(v);
            random_densities(D);
            const double sums = pair[0].prim_bounds * pair[1].prim_bounds;
            const double schwarz = pair[0].bound * pair[1].bound, noise = 1e-15 * sums;
            /* so that rounding is no more than a hundredth of a cutoff */
            const double largest = fmin(1e8, 0.04 * schwarz / noise);
            if (!(largest >= 1.0)) continue;
            const double size = pow(largest, check_random(&seed));
            const double error = error_at_first(pair, v, size, 0, D, noise, &distance);
            CHECK(!(error > claimed(distance)),
                  "pairs %d %d, %g times the cutoff, primitives %g and %g times the bounds, at %g "
                  "bohr: %g cutoffs",
                  pair[0].pair_class, pair[1].pair_class, size, pair[0].prim_bounds / pair[0].bound,
                  pair[1].prim_bounds / pair[1].bound, distance, error);
            cases += !isnan(error);
            cancelled += sums > 100.0 * schwarz;
            worst = fmax(worst, error / claimed(distance));
            const double then = error_at_first(pair, v, size, 1, D, noise, &distance);
            wrong_before += then > claimed(distance);
            before = fmax(before, then);
        }
        for (int k = 0; k < 2; k++) fragment_free(&fragments[k]);
    }
    printf(
        "decision: %ld cases, %ld of them cancel; largest error %.2f of what is claimed; without "
        "cancellation %g cutoffs, %ld beyond\n",
        cases, cancelled, worst, before, wrong_before);
    CHECK(cases > 5000 && cancelled > 1000, "%ld cases, %ld cancel", cases, cancelled);
    CHECK(worst > 0.02, "the claim is far too large: %g", worst);
    CHECK(before > 2.0 && wrong_before > 50, "the old rule passes: %g cutoffs, %ld", before,
          wrong_before);
}

/* Pairs of the steepest functions, exponents of 1e12, that have one place are not far. */
static void test_one_place(void)
{
    for (double exponent = 1e-10; exponent <= 1e12; exponent *= 10.0) {
        float gap;
        fmo_far_reach reach = {{1.0f, 2.0f, 3.0f, 0.0f},
                               fmo_far_extent((float)(0.5 / exponent), 0, 0),
                               {.log_rho = -100.0f, .log_A = -100.0f}};
        CHECK(fmo_far_decide(reach, reach, 0.0f, &gap) < 0, "exponent %g: far", exponent);
    }
}

int main(void)
{
    test_one_place();
    seed = 12771727731635205683ULL;
    test_decision();
    return check_summary();
}
