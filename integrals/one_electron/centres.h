/* The basis as used by one-electron integrals: the primitives of each nucleus sorted by exponent.
 * An exponent used by several shells of a nucleus (s and p of an SP (L) shell, general
 * contractions) occurs once, with a list of its uses, so that everything that depends on a product
 * of two primitives is computed once. Also the criterion by which products are neglected. */
#ifndef FMO_CENTRES_H
#define FMO_CENTRES_H

#include "integrals/basis_internal.h"

/* Use of an exponent by a shell. */
typedef struct fmo_centre_use {
    int ang_mom;
    int function; /* first function of the shell among the centre's */
    double coefficient;
} fmo_centre_use;

typedef struct fmo_centre_prim {
    double exponent;
    /* size: ln of an upper bound of this primitive's contribution to the size of a product,
     * relative to the norms of the functions; rest: the largest size of this primitive and those
     * after it. */
    double size, rest;
    int use_begin, use_end;
    int ang_mom;    /* largest angular momentum of the uses */
    unsigned kinds; /* bit l: a shell of angular momentum l uses it */
} fmo_centre_prim;

/* A function of the caller's: a linear combination of the centre's Cartesian functions. */
typedef struct fmo_centre_caller {
    int index; /* number in the caller's order */
    int term_begin, term_end;
} fmo_centre_caller;

typedef struct fmo_centre_term {
    int function;
    double factor;
} fmo_centre_term;

/* The shells of one nucleus; a nucleus with very many functions is divided into several centres. */
typedef struct fmo_centre {
    double at[3];
    int nucleus;
    int prim_begin, prim_end; /* sorted by exponent, smallest first */
    int caller_begin, caller_end;
    int functions, ang_mom;
} fmo_centre;

/* Largest number of functions of a centre, unless a single shell has more. */
enum { FMO_CENTRE_FUNCTIONS = 64 };
FMO_STATIC_ASSERT((int)FMO_CENTRE_FUNCTIONS >= (int)FMO_SHELL_FUNCTIONS_MAX,
                  "centres.h: a centre has no space for a shell")

typedef struct fmo_centres {
    const fmo_basis *basis;
    int ao_num; /* number of the caller's functions */
    int num;
    fmo_centre *centre;
    fmo_centre_prim *prim; /* [basis->prim_num] at most */
    fmo_centre_use *use;   /* [basis->prim_num] */
    fmo_centre_caller *caller;
    fmo_centre_term *term;
} fmo_centres;

/* Makes the centres. Returns FMO_OK or FMO_ERR_MEMORY; call fmo_centres_free in both cases. */
fmo_status fmo_centres_make(const fmo_basis *basis, fmo_centres *centres, fmo_error *err);
void fmo_centres_free(fmo_centres *centres);

/* ln(1e-18). A product of primitives is neglected if its overlap, and the overlap times p, are
 * below this fraction of the norms of all functions to which it contributes.
 * docs/explanation/accuracy.md gives the resulting errors. */
#define FMO_PRODUCT_NEGLIGIBLE_LN (-41.4465316738928)

/* Returns 1 if the product of two primitives with these sizes at distance R is negligible. powers:
 * l_i + l_j; ln_R: ln(1 + R). Uses an upper bound, derived in docs/explanation/one-electron.md. */
static inline int fmo_product_negligible(double a, double size_a, double b, double size_b,
                                         int powers, double ln_R, double R2)
{
    return size_a + size_b + powers * ln_R - a * b / (a + b) * R2 < FMO_PRODUCT_NEGLIGIBLE_LN;
}

#endif
