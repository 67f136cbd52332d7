/* The basis as one-electron integrals see it: what stands on a nucleus, by exponent. An exponent
 * that several shells of a nucleus use (s and p of an sp set, general contractions) is there once,
 * with its users, so that what depends on a product of two primitives is computed once. And the
 * rule by which a product is left out. */
#ifndef FMO_CENTRES_H
#define FMO_CENTRES_H

#include "integrals/basis_internal.h"

/* A shell that uses an exponent. */
typedef struct fmo_centre_use {
    int ang_mom;
    int function; /* first function of the shell among the centre's */
    double coefficient;
} fmo_centre_use;

typedef struct fmo_centre_prim {
    double exponent;
    /* ln of what this primitive contributes at most to the size of a product, relative to the norms
     * of the functions; `rest`: the largest of this one and those after it. */
    double size, rest;
    int use_begin, use_end;
    int ang_mom;    /* the largest of the uses */
    unsigned kinds; /* bit l: a shell of angular momentum l uses it */
} fmo_centre_prim;

/* A function of the caller's: a sum over the centre's functions, which are Cartesian. */
typedef struct fmo_centre_caller {
    int index; /* in the caller's order */
    int term_begin, term_end;
} fmo_centre_caller;

typedef struct fmo_centre_term {
    int function;
    double factor;
} fmo_centre_term;

/* Shells of one nucleus; of nuclei with very many functions a part of them. */
typedef struct fmo_centre {
    double at[3];
    int nucleus;
    int prim_begin, prim_end; /* by exponent, smallest first */
    int caller_begin, caller_end;
    int functions, ang_mom;
} fmo_centre;

/* So many functions a centre has at most, or those of one shell. */
enum { FMO_CENTRE_FUNCTIONS = 64 };
FMO_STATIC_ASSERT((int)FMO_CENTRE_FUNCTIONS >= (int)FMO_SHELL_FUNCTIONS_MAX,
                  "centres.h: a centre has no space for a shell")

typedef struct fmo_centres {
    const fmo_basis *basis;
    int ao_num; /* functions of the caller's */
    int num;
    fmo_centre *centre;
    fmo_centre_prim *prim; /* [basis->prim_num] at most */
    fmo_centre_use *use;   /* [basis->prim_num] */
    fmo_centre_caller *caller;
    fmo_centre_term *term;
} fmo_centres;

/* FMO_OK or FMO_ERR_MEMORY. What was made is freed with fmo_centres_free, also after an error. */
fmo_status fmo_centres_make(const fmo_basis *basis, fmo_centres *centres, fmo_error *err);
void fmo_centres_free(fmo_centres *centres);

/* A product of primitives is left out where its overlap, and this times p, are below this part of
 * the norms of all functions that it belongs to: 1e-18. docs/explanation/accuracy.md says what that
 * means. */
#define FMO_PRODUCT_NEGLIGIBLE_LN (-41.4465316738928)

/* Whether that holds of two primitives with these sizes, R apart; `powers` is l_i + l_j and ln_R is
 * ln(1 + R). An upper bound, docs/explanation/one-electron.md has its derivation. */
static inline int fmo_product_negligible(double a, double size_a, double b, double size_b,
                                         int powers, double ln_R, double R2)
{
    return size_a + size_b + powers * ln_R - a * b / (a + b) * R2 < FMO_PRODUCT_NEGLIGIBLE_LN;
}

#endif
