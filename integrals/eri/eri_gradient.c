/* Tables of monomials and Hermite functions for eri_gradient.h. */
#include "integrals/eri/eri_gradient.h"

/* Writes the expansion of monomial m in Hermite functions, and returns its number of terms: along
 * each axis x^n, in units of 1/2p, is the sum over k of n!/(k! (n-2k)! 2^k) (2p)^k times the
 * Hermite function of order n - 2k. */
static int expand(const fmo_gradient_tables *t, int m, fmo_gradient_expansion *to)
{
    static const int factor[7][4] = {{1},       {1},         {1, 1},         {1, 3},
                                     {1, 6, 3}, {1, 10, 15}, {1, 15, 45, 15}};
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
FMO_STATIC_ASSERT(FMO_PAIR_GPU_ORDER_MAX <= 6, "eri_gradient.c: powers go to 6")

/* Fills all tables from the powers of monomials and Hermite functions. */
void fmo_gradient_make_tables(fmo_gradient_tables *t)
{
    memset(t, 0, sizeof *t);
    for (int p = 0; p < FMO_GRADIENT_SHELL_MAX; p++)
        for (int q = 0; q < FMO_GRADIENT_SHELL_MAX; q++)
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
        t->expansion_begin[m] = (unsigned short)num;
        num += expand(t, m, t->expansion + num);
    }
    t->expansion_begin[FMO_GRADIENT_PAIR_MAX] = (unsigned short)num;
}
