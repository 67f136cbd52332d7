/* The basis as used inside the library: shells sorted by angular momentum, s first, otherwise in
 * the input order; functions numbered shell by shell ("internal order"), Cartesian,
 * fmo_shell_functions(l) per shell. Integrals and all matrices inside the library refer to these
 * functions of normalised shells, so that thresholds have the same meaning for any norms of the
 * caller's functions. A caller's function is a factor times an internal function, or, for a
 * spherical d shell, a factor times a linear combination of them; translate.c converts matrices on
 * input and output. */
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
    int caller_begin; /* first function of the caller's, in ao_caller */
    double centre[3];
} fmo_shell;

struct fmo_basis {
    int nucleus_num, shell_num, prim_num;
    int ao_num;                            /* number of the caller's functions */
    int function_num;                      /* number of internal (Cartesian) functions; at least
                                              ao_num */
    int cartesian;                         /* 1: the caller's functions of d shells are Cartesian */
    int shell_num_l[FMO_SHELL_KIND_COUNT]; /* shells by angular momentum */
    double *charge;                        /* [nucleus_num] */
    double *coord;                         /* [nucleus_num][3] bohr */
    fmo_shell *shell;                      /* [shell_num] by angular momentum */
    double *exponent;                      /* [prim_num] shell by shell */
    double *coefficient;                   /* [prim_num] for normalised shells: those Cartesian
                                              functions have norm 1 whose powers of x, y and z are 0
                                              or 1 */
    /* The caller's functions shell by shell, by component. If ao_num = function_num, the function
     * at each position is a multiple of the internal function of the same number. */
    int *ao_caller;    /* [ao_num] number of the function in the caller's order */
    double *ao_factor; /* [ao_num] factor of the caller's function relative to normalised shells */
    double *ao_norm;   /* [ao_num] norm of each of the caller's functions, in the caller's order */
};

/* Returns the first shell of an angular momentum. */
static inline int fmo_basis_shell_begin(const fmo_basis *basis, int ang_mom)
{
    int begin = 0;
    for (int l = 0; l < ang_mom; l++) begin += basis->shell_num_l[l];
    return begin;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Copies a basis; returns NULL if there is no memory. */
fmo_basis *fmo_basis_copy(const fmo_basis *from);

/* Convert a basis to bytes, for another process of the same build, and back, exactly.
 * @param[out] bytes NULL: only return the number of bytes
 * @return the number of bytes; fmo_basis_unpack returns NULL if there is no memory */
size_t fmo_basis_pack(const fmo_basis *basis, void *bytes);
fmo_basis *fmo_basis_unpack(const void *bytes);

/* Returns 1 if every function of the caller's is a multiple of one internal function. */
static inline int fmo_basis_one_to_one(const fmo_basis *basis)
{
    return basis->function_num == basis->ao_num;
}

/* Computes the coefficients T[m][c], factors included, of a shell's functions in the caller's form
 * over its internal ones; returns the number of the caller's functions. */
typedef double fmo_shell_transform[FMO_SHELL_FUNCTIONS_MAX][FMO_SHELL_FUNCTIONS_MAX];
int fmo_basis_shell_transform(const fmo_basis *basis, const fmo_shell *shell,
                              fmo_shell_transform T);

/* The two parts of a matrix, as the sign of its transpose: (D + D^T)/2 and (D - D^T)/2. */
enum { FMO_ANTISYMMETRIC_PART = -1, FMO_SYMMETRIC_PART = 1 };

/* internal[function_num][function_num] = a part (D + sign D^T)/2 of the caller's density matrix D,
 * over internal functions: chi_p = sum_a T_pa phi_a gives sum_pq T_pa T_qb D_pq. */
void fmo_basis_matrix_from_caller(const fmo_basis *basis, const double *density, int sign,
                                  double *internal);

/* out[ao_num][ao_num] = factor (X + sign X^T), the matrix of an operator, from internal functions
 * to the caller's: sum_ab T_pa T_qb X_ab. */
void fmo_basis_matrix_to_caller(const fmo_basis *basis, const double *X, double factor, int sign,
                                double *out);

#ifdef __cplusplus
}
#endif
#endif
