/* Products of two primitives on two centres, and blocks of integrals over them: common parts of all
 * integrals computed product by product (one_electron.c, potentials of charge distributions). */
#ifndef FMO_PRODUCTS_H
#define FMO_PRODUCTS_H

#include "integrals/one_electron/centres.h"
#include "integrals/one_electron/hermite.h"

/* A product of two primitives. */
typedef struct fmo_product {
    double a, b, p, half;
    double scale; /* exp(-ab/p |AB|^2) (pi/p)^(3/2) */
    double PA[3], PB[3];
    int la, lb;                /* largest angular momenta that use it */
    unsigned kinds_a, kinds_b; /* bit l: angular momentum l uses it */
    int prim_a, prim_b;        /* numbers of the primitives in their lists */
} fmo_product;

/* Makes the product of two primitives with centres A and B, from A - B and its square R2. The
 * caller sets prim_a and prim_b. */
FMO_HD fmo_product fmo_product_make(const fmo_centre_prim *a, const fmo_centre_prim *b,
                                    const double AB[3], double R2)
{
    fmo_product z;
    z.a = a->exponent;
    z.b = b->exponent;
    z.p = z.a + z.b;
    z.half = 0.5 / z.p;
    const double root = sqrt(3.14159265358979323846 / z.p);
    z.scale = exp(-z.a * z.b / z.p * R2) * root * root * root;
    for (int x = 0; x < 3; x++) {
        z.PA[x] = -(z.b / z.p) * AB[x];
        z.PB[x] = (z.a / z.p) * AB[x];
    }
    z.la = a->ang_mom;
    z.lb = b->ang_mom;
    z.kinds_a = a->kinds;
    z.kinds_b = b->kinds;
    z.prim_a = z.prim_b = -1;
    return z;
}

/* Integrals of a product by angular momenta, without contraction coefficients. */
typedef double fmo_product_blocks[FMO_SHELL_KIND_COUNT][FMO_SHELL_KIND_COUNT]
                                 [FMO_PAIR_PRODUCTS_MAX];

#ifdef __cplusplus
extern "C" {
#endif

/* Calls visit for every product of two centres that is not negligible; returns their number. */
typedef void fmo_product_visit(void *user, const fmo_product *z);
int fmo_products_each(const fmo_centres *bra, const fmo_centre *A, const fmo_centres *ket,
                      const fmo_centre *B, fmo_product_visit *visit, void *user);

/* Adds the blocks of a product, times the contraction coefficients, to the block of its centres. */
void fmo_product_contract(const fmo_centres *bra, const fmo_centres *ket, const fmo_product *z,
                          int ket_functions, fmo_product_blocks blocks, double *out);

/* Adds the block of two centres to a matrix in the caller's order and normalisation; if bra and ket
 * are the same basis also its transpose, and for a centre with itself only the lower triangle of
 * the block. */
void fmo_centres_add_block(const fmo_centres *bra, const fmo_centres *ket, const fmo_centre *A,
                           const fmo_centre *B, const double *block, double *out);

/* Number of functions of the largest centre. */
int fmo_centres_largest(const fmo_centres *cs);

/* Computes the blocks that the shells of a product use from the derivatives R_tuv of a potential at
 * its centre: scale sum_tuv E E E R_tuv. */
void fmo_product_potential(const fmo_product *z, double scale, const double *R,
                           fmo_product_blocks out);

#ifdef __cplusplus
}
#endif

/* Expands CALL(la, lb) with constant angular momenta, for each pair of the table in both orders;
 * FMO_WITH_ANY_ANG_MOM, which the library's CPU code uses, for pairs up to d shells, and once with
 * variables for all others. */
#define FMO_WITH_ANY_ANG_MOM FMO_PAIR_UNROLLED_TABLE(FMO_WITH_ANG_MOM) CALL(z->la, z->lb)
#define FMO_WITH_ANG_MOM(P, name, li, lj, partner) \
    if (z->la == li && z->lb == lj)                \
        CALL(li, lj) /* the exchanged order: */    \
    else if (z->la == lj && z->lb == li)           \
        CALL(lj, li)                               \
    else

#endif
