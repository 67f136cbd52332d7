/* The state of a running SCF, shared by scf.c (the cycles), solve.c (density from a Fock matrix)
 * and stability.c (the orbital Hessian). */
#ifndef FMO_SCF_INTERNAL_H
#define FMO_SCF_INTERNAL_H

#include <fmo/scf.h>

#include "driver/scf/diis.h"
#include "driver/scf/linalg.h"

/* n functions, m orthogonal functions and orbitals, occupied of them doubly occupied. Matrices in
 * the memory of la: [n][n] in the AOs, [m][m] in the orthogonal functions ("_o"). */
typedef struct fmo_scf_state {
    fmo_linalg *la;
    fmo_fock_plan *plan;
    fmo_scf_solver solver; /* not AUTO */
    int n, m, occupied;
    double nuclear_repulsion;

    double *core_and_fock;                     /* [2][n][n]: H, and F of `density` */
    double *core, *fock;                       /* its halves */
    double *X;                                 /* n x m: orthogonal functions by columns */
    double *density, *built;                   /* D, and the density that fock_2e belongs to */
    double *fock_2e;                           /* G */
    double *coulomb, *exchange, *work, *work2; /* [n][n] */
    double *density_o;                         /* X^-1 D X^-T, trace 2 occupied */

    double *past_fock, *past_error, *past_density; /* [size][m][m] in the orthogonal functions */

    double *orbitals;       /* m x m eigenvectors of the last Fock matrix, by columns */
    double *orbital_energy; /* [m], on the host */
    double fock_seconds, solve_seconds;
} fmo_scf_state;

/* out = X^T A X: from [n][n] to [m][m], symmetric. */
void fmo_scf_to_orthogonal(fmo_scf_state *s, const double *A, double *out);
/* out = X A X^T: back again, symmetric to the last bit. */
void fmo_scf_from_orthogonal(fmo_scf_state *s, const double *A, double *out);

/* The density of the lowest orbitals of a Fock matrix, both [m][m]; overwrites work and work2, and
 * fock_o when it diagonalises. */
void fmo_scf_solve(fmo_scf_state *s, double *fock_o, double *density_o);

/* J - K/2 of a density [n][n] into out; overwrites coulomb and exchange. */
void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out);

/* Lowest eigenvalue of the real singlet orbital Hessian A + B at the orbitals of the state, and
 * its direction as a matrix [m - occupied][occupied] (virtual, occupied; of norm 1) in `direction`,
 * an array of the backend. NaN without virtual orbitals. */
double fmo_scf_hessian_lowest(fmo_scf_state *s, double *direction);

#endif
