/* Lists of tasks: their content, shares of them, and builds of shares on the CPU. */
#include "tests/support/work_checks.h"

#include "integrals/tables.h"

enum { BRAS_MAX = 64 };

typedef int seen_bras[FMO_ERI_CLASS_COUNT][BRAS_MAX];

/* Every bra of every class that has kets is in one of `parts`, once. */
static void check_seen(const fmo_work_size *size, seen_bras seen, int parts)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const int bras = size[fmo_eri_class_bra(c)].pairs, kets = size[fmo_eri_class_ket(c)].pairs;
        for (int b = 0; b < BRAS_MAX; b++)
            CHECK(seen[c][b] == (kets && b < bras), "class %d, bra %d of %d: in %d of %d parts", c,
                  b, bras, seen[c][b], parts);
    }
}

/* Weights add up, and a share is at most one bra of each class above the mean. */
static void check_even(const fmo_work_size *size, const fmo_work *all, int shares, double sum,
                       double largest)
{
    const double weight = fmo_work_weight(all);
    double bra = 0.0;
    CHECK(fabs(sum - weight) <= 1e-12 * weight, "%d shares weigh %g, all %g", shares, sum, weight);
    for (int n = 0; n < all->num; n++) {
        const fmo_task *t = &all->task[n];
        const size_t last = (size_t)t->bra_end;
        bra += t->weight * (double)fmo_work_candidates(t->eri_class, size, last - 1, 1, 1) /
               (double)fmo_work_candidates(t->eri_class, size, 0, last, 1);
    }
    CHECK(largest <= weight / shares + bra * (1.0 + 1e-12), "%d shares: the largest %g of %g",
          shares, largest, weight);
}

/* fmo_work_share or fmo_work_every */
typedef fmo_status divide(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err);

/* Every bra of every class is in one share, once; weights are about equal and add up: they differ
 * by at most one bra of each class. */
static void check_lists(const fmo_work_size *size, int shares, divide *make)
{
    static seen_bras seen;
    fmo_error err = {FMO_OK, ""};
    fmo_work all, part;
    double sum = 0.0, largest = 0.0;
    memset(seen, 0, sizeof seen);
    CHECK(fmo_work_all(size, &all, &err) == FMO_OK, "%s", err.message);
    for (int n = 1; n < all.num; n++)
        CHECK(all.task[n].eri_class < all.task[n - 1].eri_class, "the heaviest classes first");
    for (int s = 0; s < shares; s++) {
        CHECK(make(&all, size, s, shares, &part, &err) == FMO_OK, "%s", err.message);
        for (int n = 0; n < part.num; n++) {
            const fmo_task *t = &part.task[n];
            size_t candidates = 0, bras = 0;
            for (int b = t->bra_begin; b < t->bra_end; b += t->bra_step, bras++) {
                seen[t->eri_class][b]++;
                candidates += fmo_work_candidates(t->eri_class, size, (size_t)b, 1, 1);
            }
            CHECK(bras == fmo_work_bras((size_t)t->bra_begin, (size_t)t->bra_end,
                                        (size_t)t->bra_step) &&
                      candidates == fmo_work_candidates(t->eri_class, size, (size_t)t->bra_begin,
                                                        bras, (size_t)t->bra_step),
                  "%zu bras from %d in steps of %d", bras, t->bra_begin, t->bra_step);
        }
        sum += fmo_work_weight(&part);
        largest = fmax(largest, fmo_work_weight(&part));
        fmo_work_free(&part);
    }
    check_even(size, &all, shares, sum, largest);
    check_seen(size, seen, shares);
    fmo_work_free(&all);
}

/* Pieces contain every bra of every class once; there are as many as requested or a few more, the
 * heaviest first, and none is much heavier than the mean. */
static void check_pieces(const fmo_work_size *size, int pieces)
{
    static seen_bras seen;
    fmo_error err = {FMO_OK, ""};
    fmo_work all, cut;
    memset(seen, 0, sizeof seen);
    CHECK(fmo_work_all(size, &all, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_work_cut(&all, size, pieces, &cut, &err) == FMO_OK, "%s", err.message);
    CHECK(cut.num <= all.num + pieces, "%d tasks for %d pieces", cut.num, pieces);
    for (int n = 0; n < cut.num; n++) {
        const fmo_task *t = &cut.task[n];
        for (int b = t->bra_begin; b < t->bra_end; b++) seen[t->eri_class][b]++;
        CHECK(n == 0 || t->weight <= cut.task[n - 1].weight, "piece %d is heavier", n);
        CHECK(t->bra_end - t->bra_begin < 2 || t->weight <= 3.0 * fmo_work_weight(&all) / pieces,
              "piece %d of %d weighs %g of %g", n, pieces, t->weight, fmo_work_weight(&all));
    }
    const double weight = fmo_work_weight(&all);
    CHECK(fabs(fmo_work_weight(&cut) - weight) <= 1e-12 * weight, "%d pieces", pieces);
    check_seen(size, seen, pieces);
    fmo_work_free(&cut);
    fmo_work_free(&all);
}

/* Runs the checks of task lists for several numbers of shares and sizes of pair classes, and
 * compares the sum of builds of shares with one build. */
int main(void)
{
    unsigned long long seed = 815;
    for (int shares = 1; shares <= 70; shares = shares * 3 / 2 + 1)
        for (int pairs_max = 1; pairs_max <= BRAS_MAX; pairs_max *= 4) {
            fmo_work_size size[FMO_PAIR_CLASS_COUNT];
            for (int p = 0; p < FMO_PAIR_CLASS_COUNT; p++) {
                size[p].pairs =
                    (p + 1) * pairs_max / FMO_PAIR_CLASS_COUNT; /* the first may be empty */
                size[p].prims = 3.0 * size[p].pairs;
            }
            check_lists(size, shares, fmo_work_share);
            check_lists(size, shares, fmo_work_every);
            check_pieces(size, shares);
        }
    work_check_shares(FMO_MODE_CPU, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 8, 1e-11, &seed);
    work_check_shares(FMO_MODE_CPU, FMO_SCATTER_FIXED, FMO_INTEGRALS_DIRECT, 5, 1e-11, &seed);
    work_check_shares(FMO_MODE_CPU, FMO_SCATTER_AUTO, FMO_INTEGRALS_STORED, 6, 1e-11, &seed);
    return check_summary();
}
