/* The basis as the rest of the library sees it: s shells first, then p shells, each in the file's
 * order; functions numbered shell by shell ("internal order"). A factor of each function carries
 * the caller's AO order and normalisation, so the integrals only know plain s and p shells. */
#ifndef FMO_BASIS_INTERNAL_H
#define FMO_BASIS_INTERNAL_H

#include <fmo/basis.h>

typedef struct fmo_shell {
    int ang_mom;    /* 0 or 1 */
    int nucleus;    /* for messages only; the centre is copied below */
    int prim_begin; /* into exponent[] and coefficient[] */
    int prim_num;
    int ao_begin; /* first internal function; 2 ang_mom + 1 of them */
    double center[3];
} fmo_shell;

struct fmo_basis {
    int nucleus_num, shell_num, prim_num, ao_num;
    int shell_num_l[2];  /* s shells, p shells */
    double *charge;      /* [nucleus_num] */
    double *coord;       /* [nucleus_num][3] bohr */
    fmo_shell *shell;    /* [shell_num], s before p */
    double *exponent;    /* [prim_num] shell by shell */
    double *coefficient; /* [prim_num], scaled so that the largest |ao_factor| of a shell is 1 */
    int *ao_caller;      /* [ao_num] internal function -> caller's */
    double *ao_factor;   /* [ao_num] by internal function, |f| <= 1 */
};

/* A new basis with the same content, or NULL without memory. */
fmo_basis *fmo_basis_copy(const fmo_basis *from);

/* out = factor (X + X^T), from internal to the caller's order and normalisation. */
void fmo_basis_matrix_to_caller(const fmo_basis *basis, const double *X, double factor,
                                double *out);

#endif
