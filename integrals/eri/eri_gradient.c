/* Tables of monomials and Hermite functions for eri_gradient.h. */
#include "integrals/eri/eri_gradient.h"

/* Writes the expansion of monomial m in Hermite functions, and returns its number of terms: along
 * each axis x^n, in units of 1/2p, is the sum over k of n!/(k! (n-2k)! 2^k) (2p)^k times the
 * Hermite function of order n - 2k. */
static int expand(const fmo_gradient_tables *t, int m, fmo_gradient_expansion *to)
{
    static const int factor[5][3] = {{1}, {1}, {1, 1}, {1, 3}, {1, 6, 3}};
    const unsigned char *const n = t->power[m];
    int num = 0;
    for (int i = 0; 2 * i <= n[0]; i++)
        for (int j = 0; 2 * j <= n[1]; j++)
            for (int k = 0; 2 * k <= n[2]; k++)
                to[num++] = (fmo_gradient_expansion){
                    (unsigned char)fmo_slice_at(n[0] - 2 * i, n[1] - 2 * j, n[2] - 2 * k),
                    (unsigned char)(factor[n[0]][i] * factor[n[1]][j] * factor[n[2]][k]),
                    (unsigned char)(i + j + k)};
    return num;
}
FMO_STATIC_ASSERT(FMO_PAIR_UNROLLED_ORDER_MAX <= 4, "eri_gradient.c: powers go to 4")

/* Finds how the monomials of the pairs of a class are divided over the two shells. */
static void make_splits(int pair_class, fmo_gradient_tables *t)
{
    const int na = FMO_HERMITE_COUNT(fmo_pair_ang_mom(pair_class, 0));
    const int nb = FMO_HERMITE_COUNT(fmo_pair_ang_mom(pair_class, 1));
    int num = 0;
    for (int m = 0; m < FMO_GRADIENT_PAIR_MAX; m++) {
        t->split_begin[pair_class][m] = (unsigned char)num;
        for (int a = 0; a < na; a++)
            for (int b = 0; b < nb; b++) {
                if (t->product[a][b] != m) continue;
                t->split[pair_class][num][0] = (unsigned char)a;
                t->split[pair_class][num++][1] = (unsigned char)b;
            }
    }
    t->split_begin[pair_class][FMO_GRADIENT_PAIR_MAX] = (unsigned char)num;
}

/* Fills all tables from the powers of monomials and Hermite functions. */
void fmo_gradient_make_tables(fmo_gradient_tables *t)
{
    memset(t, 0, sizeof *t);
    for (int k = 1; k < FMO_GRADIENT_R_MAX; k++) {
        const int n[3] = {fmo_slice_power(k, 0), fmo_slice_power(k, 1), fmo_slice_power(k, 2)};
        const int x = n[0] ? 0 : n[1] ? 1 : 2, is[3] = {x == 0, x == 1, x == 2};
        t->step[k].axis = (unsigned char)x;
        t->step[k].below = (unsigned char)(n[x] - 1);
        t->step[k].one = (unsigned char)fmo_slice_at(n[0] - is[0], n[1] - is[1], n[2] - is[2]);
        if (n[x] > 1)
            t->step[k].two =
                (unsigned char)fmo_slice_at(n[0] - 2 * is[0], n[1] - 2 * is[1], n[2] - 2 * is[2]);
    }
    for (int p = 0; p < FMO_GRADIENT_RAISED_MAX; p++)
        for (int q = 0; q < FMO_GRADIENT_PAIR_MAX; q++)
            t->product[p][q] =
                (unsigned char)fmo_slice_at(fmo_slice_power(p, 0) + fmo_slice_power(q, 0),
                                            fmo_slice_power(p, 1) + fmo_slice_power(q, 1),
                                            fmo_slice_power(p, 2) + fmo_slice_power(q, 2));
    int num = 0;
    for (int m = 0; m < FMO_GRADIENT_PAIR_MAX; m++) {
        t->order[m] = (unsigned char)fmo_slice_order(m);
        for (int x = 0; x < 3; x++) t->power[m][x] = (unsigned char)fmo_slice_power(m, x);
        for (int x = 0; x < 3; x++)
            t->raised[m][x] = (unsigned char)fmo_slice_at(
                t->power[m][0] + (x == 0), t->power[m][1] + (x == 1), t->power[m][2] + (x == 2));
        t->expansion_begin[m] = (unsigned char)num;
        num += expand(t, m, t->expansion + num);
    }
    t->expansion_begin[FMO_GRADIENT_PAIR_MAX] = (unsigned char)num;
    for (int c = 0; c < FMO_PAIR_UNROLLED_COUNT; c++) make_splits(c, t);
}
