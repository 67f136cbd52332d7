/* Products of two primitives; see products.h. */
#include "integrals/one_electron/products.h"

#include <math.h>

/* Primitives are sorted by exponent with the tightest last, so that loops end at the first one
 * after which all products are negligible. */
int fmo_products_each(const fmo_centres *bra, const fmo_centre *A, const fmo_centres *ket,
                      const fmo_centre *B, fmo_product_visit *visit, void *user)
{
    double AB[3], R2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = A->at[x] - B->at[x];
        R2 += AB[x] * AB[x];
    }
    const double ln_R = log1p(sqrt(R2));
    const int powers = A->ang_mom + B->ang_mom;
    const fmo_centre_prim *const first = &ket->prim[B->prim_begin];
    int found = 0;
    for (int k = A->prim_begin; k < A->prim_end; k++) {
        const fmo_centre_prim *const a = &bra->prim[k];
        /* the following primitives are tighter */
        if (fmo_product_negligible(a->exponent, a->rest, first->exponent, first->rest, powers, ln_R,
                                   R2))
            break;
        for (int l = B->prim_begin; l < B->prim_end; l++) {
            const fmo_centre_prim *const b = &ket->prim[l];
            if (fmo_product_negligible(a->exponent, a->size, b->exponent, b->rest, powers, ln_R,
                                       R2))
                break;
            if (fmo_product_negligible(a->exponent, a->size, b->exponent, b->size,
                                       a->ang_mom + b->ang_mom, ln_R, R2))
                continue;
            fmo_product z = fmo_product_make(a, b, AB, R2);
            if (z.scale == 0.0) continue;
            z.prim_a = k;
            z.prim_b = l;
            found++;
            visit(user, &z);
        }
    }
    return found;
}

void fmo_product_contract(const fmo_centres *bra, const fmo_centres *ket, const fmo_product *z,
                          int ket_functions, fmo_product_blocks blocks, double *out)
{
    const fmo_centre_prim *const a = &bra->prim[z->prim_a], *const b = &ket->prim[z->prim_b];
    for (int i = a->use_begin; i < a->use_end; i++) {
        const fmo_centre_use *const A = &bra->use[i];
        const int na = fmo_shell_functions(A->ang_mom);
        for (int j = b->use_begin; j < b->use_end; j++) {
            const fmo_centre_use *const B = &ket->use[j];
            const int nb = fmo_shell_functions(B->ang_mom);
            const double c = A->coefficient * B->coefficient;
            const double *from = blocks[A->ang_mom][B->ang_mom];
            double *to = out + A->function * ket_functions + B->function;
            for (int m = 0; m < na; m++, to += ket_functions)
                for (int n = 0; n < nb; n++) to[n] += c * *from++;
        }
    }
}

/* Element (i, j) in the caller's functions, from the block of their centres. */
static double caller_element(const fmo_centres *bra, const fmo_centres *ket,
                             const fmo_centre_caller *i, const fmo_centre_caller *j,
                             int ket_functions, const double *block)
{
    double sum = 0.0;
    for (int m = i->term_begin; m < i->term_end; m++) {
        const fmo_centre_term *const a = &bra->term[m];
        for (int n = j->term_begin; n < j->term_end; n++) {
            const fmo_centre_term *const b = &ket->term[n];
            sum += a->factor * b->factor * block[a->function * ket_functions + b->function];
        }
    }
    return sum;
}

void fmo_centres_add_block(const fmo_centres *bra, const fmo_centres *ket, const fmo_centre *A,
                           const fmo_centre *B, const double *block, double *out)
{
    const int symmetric = bra == ket, same = symmetric && A == B;
    const size_t n = (size_t)ket->ao_num;
    for (int i = A->caller_begin; i < A->caller_end; i++) {
        const fmo_centre_caller *const row = &bra->caller[i];
        const size_t p = (size_t)row->index;
        for (int j = B->caller_begin; j < (same ? i + 1 : B->caller_end); j++) {
            const fmo_centre_caller *const column = &ket->caller[j];
            const size_t q = (size_t)column->index;
            const double value = caller_element(bra, ket, row, column, B->functions, block);
            out[p * n + q] += value;
            if (symmetric && p != q) out[q * n + p] += value;
        }
    }
}

int fmo_centres_largest(const fmo_centres *cs)
{
    int functions = 0;
    for (int c = 0; c < cs->num; c++)
        if (cs->centre[c].functions > functions) functions = cs->centre[c].functions;
    return functions;
}

FMO_HD void potential_of(int la, int lb, const fmo_product *z, double scale, const double *R,
                         fmo_product_blocks out)
{
    fmo_hermite_1d E[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) fmo_hermite_expand(la, lb, z->PA[x], z->PB[x], z->half, E[x]);
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++)
            if ((z->kinds_a >> i & 1) && (z->kinds_b >> j & 1))
                fmo_hermite_block(i, j, scale, E, R, out[i][j]);
    }
}

void fmo_product_potential(const fmo_product *z, double scale, const double *R,
                           fmo_product_blocks out)
{
#define CALL(la, lb) potential_of(la, lb, z, scale, R, out);
    FMO_WITH_ANY_ANG_MOM
#undef CALL
}
