/* The basis as the rest of the library sees it: shells by angular momentum, s first, each kind in
 * the file's order; functions numbered shell by shell ("internal order"). A factor of each function
 * carries the caller's AO order and normalisation, so the integrals only know plain shells.
 * Internal functions are Cartesian, fmo_shell_functions(l) a shell; a caller's are spherical,
 * fmo_shell_spherical(l). Up to p shells that is the same, and one becomes the other by order and
 * factor; basis.c refuses to compile where it is not. */
#ifndef FMO_BASIS_INTERNAL_H
#define FMO_BASIS_INTERNAL_H

#include <fmo/basis.h>

#include "integrals/tables.h"

typedef struct fmo_shell {
    int ang_mom;
    int nucleus;    /* for messages only; the centre is copied below */
    int prim_begin; /* into exponent[] and coefficient[] */
    int prim_num;
    int ao_begin; /* first internal function */
    double center[3];
} fmo_shell;

struct fmo_basis {
    int nucleus_num, shell_num, prim_num, ao_num;
    int shell_num_l[FMO_SHELL_KIND_COUNT]; /* shells by angular momentum */
    double *charge;                        /* [nucleus_num] */
    double *coord;                         /* [nucleus_num][3] bohr */
    fmo_shell *shell;                      /* [shell_num] by angular momentum */
    double *exponent;                      /* [prim_num] shell by shell */
    double *coefficient; /* [prim_num], scaled so that the largest |ao_factor| of a shell is 1 */
    int *ao_caller;      /* [ao_num] internal function -> caller's */
    double *ao_factor;   /* [ao_num] by internal function, |f| <= 1 */
};

/* The first shell of an angular momentum. */
static inline int fmo_basis_shell_begin(const fmo_basis *basis, int ang_mom)
{
    int begin = 0;
    for (int l = 0; l < ang_mom; l++) begin += basis->shell_num_l[l];
    return begin;
}

/* A new basis with the same content, or NULL without memory. */
fmo_basis *fmo_basis_copy(const fmo_basis *from);

/* A basis as bytes, for another process of the same build, and back: the same to the last bit.
 * @param[out] bytes  or NULL: how many there are
 * @return how many; NULL without memory */
size_t fmo_basis_pack(const fmo_basis *basis, void *bytes);
fmo_basis *fmo_basis_unpack(const void *bytes);

/* out = factor (X + X^T), from internal to the caller's order and normalisation. */
void fmo_basis_matrix_to_caller(const fmo_basis *basis, const double *X, double factor,
                                double *out);

#endif
