/* Pairs of padded SP shells against plain pairs: together they hold the same products of functions,
 * with bounds that cover them. Also the exponential and the sort that making pairs needs. */
#include "tests/support/check.h"
#include "tests/support/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrals/pairs/key_sort.h"
#include "integrals/pairs/prim_pair.h"
#include "integrals/pairs/shell_pair.h"

static unsigned long long seed = 20261120;

/* SP shells, shells without a partner, a nucleus with two s shells that could both be partners. */
static void make_system(test_system *s)
{
    memset(s, 0, sizeof *s);
    for (int a = 0; a < 3; a++) {
        system_add_atom(s, 1.1 * a, 0.4 * a * a, -0.3 * a);
        system_add_shell(s, 0, 3, &seed);
        if (a != 1) system_add_partner(s, &seed);
        system_add_shell(s, 0, 1 + a, &seed);
        if (a == 2) system_add_partner(s, &seed);
        if (a == 1) system_add_shell(s, 1, 2, &seed);
    }
}

static int find(const fmo_pair_list *list, int i, int j)
{
    for (int n = 0; n < list->num; n++)
        if ((list->i[n] == i && list->j[n] == j) || (list->i[n] == j && list->j[n] == i)) return n;
    return -1;
}

/* (s_i s_j | s_i s_j) of primitives begin .. end - 1 of pair n, times their ratios if there are
 * any.
 */
static double self_repulsion(const fmo_basis *basis, const fmo_pair_list *list, int n,
                             int64_t begin, int64_t end, int included)
{
    double sum = 0.0;
    for (int64_t b = begin; b < end; b++) {
        for (int64_t k = begin; k < end; k++) {
            const fmo_pair_view bra = {1, list->prim + b * FMO_PAIR_FIELDS, list->AB + 3 * n,
                                       basis->shell[list->i[n]].centre};
            const fmo_pair_view ket = {1, list->prim + k * FMO_PAIR_FIELDS, list->AB + 3 * n,
                                       basis->shell[list->i[n]].centre};
            double eri;
            fmo_eri_quartet(FMO_ERI_SSSS, &bra, &ket, &eri);
            sum += included ? list->ratio[b] * list->ratio[k] * eri : eri;
        }
    }
    return sum;
}

/* sqrt(max_ab (ab|ab)) of some primitives of pair n by a whole quartet, with the included pair.
 */
static double quartet_bound(const fmo_basis *basis, const fmo_pair_list *list, int pair_class,
                            int n, int begin, int num)
{
    static const fmo_eri_class eri_class[FMO_PAIR_CLASS_COUNT] = {
        [FMO_PAIR_SS] = FMO_ERI_SSSS, [FMO_PAIR_PS] = FMO_ERI_PSPS, [FMO_PAIR_PP] = FMO_ERI_PPPP};
    static const int products[FMO_PAIR_CLASS_COUNT] = {
        [FMO_PAIR_SS] = 1, [FMO_PAIR_PS] = 3, [FMO_PAIR_PP] = 9};
    const int64_t at = list->begin[n] + begin;
    const int size = products[pair_class];
    const fmo_pair_view view = {num, list->prim + at * FMO_PAIR_FIELDS, list->AB + 3 * n,
                                basis->shell[list->i[n]].centre};
    double eri[FMO_ERI_INTEGRALS_MAX], largest = self_repulsion(basis, list, n, at, at + num, 1);
    fmo_eri_quartet(eri_class[pair_class], &view, &view, eri);
    for (int ab = 0; ab < size; ab++) largest = fmax(largest, eri[ab * size + ab]);
    return sqrt(largest);
}

/* Compares the bounds of primitive pairs, of whole pairs and of a segment with those by quartets.
 */
static void check_bounds(const fmo_basis *basis, const fmo_shell_pairs *pairs)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_pair_list *list = &pairs->list[c];
        for (int n = 0; n < list->num; n++) {
            const int num = (int)(list->begin[n + 1] - list->begin[n]);
            const double whole = quartet_bound(basis, list, c, n, 0, num);
            CHECK(fabs(list->bound[n] - whole) <= 1e-12 * whole,
                  "class %d: bound of pair %d is %.15g, not %.15g", c, n, list->bound[n], whole);
            for (int m = 0; m < num; m++) {
                const double one = quartet_bound(basis, list, c, n, m, 1);
                const double found = list->prim_bound[list->begin[n] + m];
                CHECK(fabs(found - one) <= 1e-12 * one,
                      "class %d: bound of primitive %d of pair %d is %.15g, not %.15g", c, m, n,
                      found, one);
                CHECK(m == 0 || found <= list->prim_bound[list->begin[n] + m - 1],
                      "class %d: order of the primitives of pair %d", c, n);
            }
            if (num < 3) continue;
            const double rest = quartet_bound(basis, list, c, n, 1, num - 2);
            const double segment =
                fmo_shell_pair_segment_bound(basis, (fmo_pair_class)c, list, n, 1, num - 2);
            CHECK(fabs(segment - rest) <= 1e-12 * rest,
                  "class %d: bound of a segment of pair %d is %.15g, not %.15g", c, n, segment,
                  rest);
        }
    }
}

/* exp as the GPU computes it (prim_pair.h): the bits of glibc, or at most the neighbouring number
 * of other libraries. */
static void check_exponential(void)
{
    static const double table[128][2] = {
#include "integrals/pairs/exp_table.inc"
    };
    int other = 0;
    for (int n = 0; n < 200000; n++) {
        const double x = -pow(10.0, -8.0 + 10.7 * check_random(&seed));
        const double got = fmo_exp_by_table(table, x), reference = exp(x);
        other += got != reference;
        CHECK(fabs(got - reference) <= 2.3e-16 * reference, "exp(%a): %a, expected %a", x, got,
              reference);
    }
    CHECK(fmo_exp_by_table(table, -0.0) == 1.0, "exp(0)");
    printf("exp: %d of 200000 with other bits than the library's\n", other);
}

static int by_key(const void *x, const void *y)
{
    const uint64_t a = ((const uint64_t *)x)[0], b = ((const uint64_t *)y)[0];
    if (a != b) return a < b ? -1 : 1;
    return (((const uint64_t *)x)[1] > ((const uint64_t *)y)[1]) -
           (((const uint64_t *)x)[1] < ((const uint64_t *)y)[1]);
}

/* Sorts few and many keys, some of them equal, by all digits and by some. */
static void check_sort(void)
{
    enum { MAX = 5000 };
    static uint64_t key[MAX], reference[MAX][2];
    static uint32_t order[MAX];
    const int sizes[] = {0, 1, 2, 63, 64, 65, 1000, MAX};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int bits = 3; bits <= 64; bits += 61) {
            const size_t num = (size_t)sizes[k];
            size_t wrong = 0;
            for (size_t n = 0; n < num; n++) {
                key[n] = (uint64_t)(check_random(&seed) * 0x1p32) << 32 |
                         (uint64_t)(check_random(&seed) * 0x1p32);
                key[n] >>= 64 - bits;
                reference[n][0] = key[n];
                reference[n][1] = n;
            }
            qsort(reference, num, sizeof *reference, by_key);
            CHECK(fmo_sort_keys(key, num, order), "no memory");
            for (size_t n = 0; n < num; n++) wrong += order[n] != reference[n][1];
            CHECK(!wrong, "%zu keys of %d bits: %zu in other places", num, bits, wrong);
        }
}

/* Padded SP shells are found; each pair of s shells is in its own list or part of one SP pair, with
 * the right self-repulsion and bounds. */
int main(void)
{
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    fmo_shell_pairs plain, sp;
    make_system(&s);
    check_exponential();
    check_sort();
    fmo_basis *basis = system_basis(&s);
    if (!basis) return check_summary();
    int partner[SYSTEM_SHELL_MAX], sets = 0;
    fmo_sp_partners(basis, partner);
    for (int i = 0; i < basis->shell_num; i++) {
        if (partner[i] < 0) continue;
        const fmo_shell *a = &basis->shell[i], *b = &basis->shell[partner[i]];
        CHECK(partner[partner[i]] == i && a->ang_mom != b->ang_mom && a->nucleus == b->nucleus &&
                  a->prim_num == b->prim_num,
              "shell %d and %d are no partners", i, partner[i]);
        sets += a->ang_mom;
    }
    CHECK(sets == 3, "%d sp sets, expected 3", sets);
    CHECK(fmo_shell_pairs_make(basis, 0.0, 1, &plain, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_sp_pairs_make(basis, 0.0, 1, &sp, &err) == FMO_OK, "%s", err.message);
    CHECK(!plain.sp && sp.sp, "flags %d %d", plain.sp, sp.sp);

    for (int c = FMO_PAIR_PS; c <= FMO_PAIR_PP; c++)
        CHECK(plain.list[c].num == sp.list[c].num && plain.list[c].prim_num == sp.list[c].prim_num,
              "class %d: %d pairs, expected %d", c, sp.list[c].num, plain.list[c].num);
    /* each ss pair occurs once: in its own list, or as a part of an SP pair with the right
     * self-repulsion and a bound */
    const fmo_pair_list *ss = &plain.list[FMO_PAIR_SS], *ps = &sp.list[FMO_PAIR_PS];
    int included = 0;
    for (int n = 0; n < ss->num; n++) {
        const int i = ss->i[n], j = ss->j[n], own = find(&sp.list[FMO_PAIR_SS], i, j) >= 0;
        int times = own;
        for (int m = 0; m < ps->num; m++) {
            const int p = partner[ps->i[m]], q = ps->j[m];
            if (ps->ratio[ps->begin[m]] == 0.0 || !((p == i && q == j) || (p == j && q == i)))
                continue;
            const double expected = self_repulsion(basis, ss, n, ss->begin[n], ss->begin[n + 1], 0);
            const double value = self_repulsion(basis, ps, m, ps->begin[m], ps->begin[m + 1], 1);
            times++;
            CHECK(fabs(value - expected) <= 1e-12 * expected, "(%d %d|%d %d) is %.15g, not %.15g",
                  i, j, i, j, value, expected);
            CHECK(ps->bound[m] >= (1.0 - 1e-12) * sqrt(expected), "bound of pair %d", m);
            double norms = 0.0;
            for (int64_t k = ps->begin[m]; k < ps->begin[m + 1]; k++) norms += ps->prim_bound[k];
            CHECK(norms >= (1.0 - 1e-12) * ps->bound[m], "primitive bounds of pair %d", m);
            const int half = (int)(ps->begin[m + 1] - ps->begin[m]) / 2;
            if (half)
                CHECK(fmo_shell_pair_segment_bound(basis, FMO_PAIR_PS, ps, m, 0, half) > 0.0,
                      "part of pair %d", m);
        }
        CHECK(times == 1, "ss pair (%d,%d) occurs %d times", i, j, times);
        included += !own;
    }
    CHECK(included > 0 && included < ss->num, "%d of %d ss pairs are included", included, ss->num);
    check_bounds(basis, &plain);
    check_bounds(basis, &sp);
    fmo_shell_pairs_free(&plain);
    fmo_shell_pairs_free(&sp);
    fmo_basis_destroy(basis);
    return check_summary();
}
