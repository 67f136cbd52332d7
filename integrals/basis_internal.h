/* The basis as the rest of the library sees it: shells by angular momentum, s first, each kind in
 * the file's order; functions numbered shell by shell ("internal order"), Cartesian,
 * fmo_shell_functions(l) a shell. Integrals and all matrices inside the library are over these and
 * only know plain, normalised shells, whatever the norms of the caller's functions are, so that
 * thresholds mean the same for everybody. A caller's function is a factor times one of them, or of
 * a spherical d shell a factor times a sum; matrices are translated on the way in and on the way
 * out. */
#ifndef FMO_BASIS_INTERNAL_H
#define FMO_BASIS_INTERNAL_H

#include <fmo/basis.h>

#include "integrals/tables.h"

typedef struct fmo_shell {
    int ang_mom;
    int nucleus;    /* for messages only; the centre is copied below */
    int prim_begin; /* into exponent[] and coefficient[] */
    int prim_num;
    int ao_begin;     /* first internal function */
    int caller_begin; /* first of the caller's, in ao_caller */
    double center[3];
} fmo_shell;

struct fmo_basis {
    int nucleus_num, shell_num, prim_num;
    int ao_num;                            /* the caller's functions */
    int function_num;                      /* internal, Cartesian ones; no fewer */
    int cartesian;                         /* the caller's functions of d shells are */
    int shell_num_l[FMO_SHELL_KIND_COUNT]; /* shells by angular momentum */
    double *charge;                        /* [nucleus_num] */
    double *coord;                         /* [nucleus_num][3] bohr */
    fmo_shell *shell;                      /* [shell_num] by angular momentum */
    double *exponent;                      /* [prim_num] shell by shell */
    double *coefficient;                   /* [prim_num] of shells that are normalised: those
                                              Cartesian functions have the norm 1 whose powers of
                                              x, y and z are 0 or 1 */
    /* The caller's functions shell by shell, in the order of components. Where there are as many
     * internal ones, each is one of these, in the same place. */
    int *ao_caller;    /* [ao_num] which of the caller's */
    double *ao_factor; /* [ao_num] of the caller's function over normalised shells */
    double *ao_norm;   /* [ao_num] norm of each of the caller's functions, in the caller's order */
};

/* The first shell of an angular momentum. */
static inline int fmo_basis_shell_begin(const fmo_basis *basis, int ang_mom)
{
    int begin = 0;
    for (int l = 0; l < ang_mom; l++) begin += basis->shell_num_l[l];
    return begin;
}

#ifdef __cplusplus
extern "C" {
#endif

/* A new basis with the same content, or NULL without memory. */
fmo_basis *fmo_basis_copy(const fmo_basis *from);

/* A basis as bytes, for another process of the same build, and back: the same to the last bit.
 * @param[out] bytes  or NULL: how many there are
 * @return how many; NULL without memory */
size_t fmo_basis_pack(const fmo_basis *basis, void *bytes);
fmo_basis *fmo_basis_unpack(const void *bytes);

/* Is every function of the caller's a factor times an internal one? */
static inline int fmo_basis_one_to_one(const fmo_basis *basis)
{
    return basis->function_num == basis->ao_num;
}

/* The caller's functions of a shell over its internal ones, T[m][c] with factors; returns how many
 * those are. */
typedef double fmo_shell_transform[FMO_SHELL_FUNCTIONS_MAX][FMO_SHELL_FUNCTIONS_MAX];
int fmo_basis_shell_transform(const fmo_basis *basis, const fmo_shell *shell,
                              fmo_shell_transform T);

/* out[function_num][function_num] = a symmetric matrix of the caller's, (D + D^T)/2, over internal
 * functions, as a density is: chi_p = sum_a T_pa phi_a gives sum_pq T_pa T_qb D_pq. */
void fmo_basis_matrix_from_caller(const fmo_basis *basis, const double *D, double *out);

/* out[ao_num][ao_num] = factor (X + X^T), from internal functions to the caller's, as an operator
 * is: sum_ab T_pa T_qb X_ab. */
void fmo_basis_matrix_to_caller(const fmo_basis *basis, const double *X, double factor,
                                double *out);

#ifdef __cplusplus
}
#endif
#endif
