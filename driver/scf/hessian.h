/* Products of the real orbital Hessian with vectors, and subspaces of them: of RHF that of singlets
 *
 *     (A + B)_ai,bj = (e_a - e_i) d_ab d_ij + 4 (ai|bj) - (ab|ij) - (aj|bi)
 *
 * and of UHF with pairs of both spins, where pairs of unlike spin have 2 (ai|bj) alone, and those
 * of like spin 2 (ai|bj) - (ab|ij) - (aj|bi). The orbitals must diagonalise the occupied and the
 * virtual block of the Fock matrix; the solution need not be stationary. If the occupied orbitals
 * become C_occ + C_vir X, the energy changes by 4 (F_ai X_ai + X (A + B) X / 2) over the number of
 * channels, and by terms of third order. Used by stability.c, for eigenvalues, and by newton.c, for
 * steps.
 *
 * ROHF rotates its orbitals by exp(k), k antisymmetric with pairs of closed (c), open (o) and
 * virtual (v) ones. Its vectors have two blocks as those of UHF, of the pairs vc and vo, and of oc;
 * the pairs vc count as sqrt 2 k_vc. With P of the occupied orbitals of a spin, the gradient and
 * the product with k are the pairs of
 *
 *     g = sum [F, P]  and  sum [[F, k] + G[d], P] - [g, k] / 2,  d = [k, P],
 *
 * for any orbitals of the three spaces (docs/explanation/scf-method.md). C. C. J. Roothaan, Rev.
 * Mod. Phys. 32, 179 (1960). */
#ifndef FMO_SCF_HESSIAN_H
#define FMO_SCF_HESSIAN_H

#include "driver/scf/scf_internal.h"

enum { FMO_HESSIAN_SUBSPACE = 32 };

/* A subspace of vectors [virtual][occupied] of each channel, of ROHF of each block. Arrays of
 * vectors are in the memory of the backend. */
typedef struct fmo_hessian {
    fmo_scf_state *s;
    int nocc[FMO_SCF_CHANNELS], nvir[FMO_SCF_CHANNELS], num;
    size_t begin[FMO_SCF_CHANNELS + 1]; /* of each channel's pairs in a vector */
    size_t size;                        /* of a vector: pairs of all channels */
    double *V, *AV;                     /* [SUBSPACE][size] trial vectors and their products */
    double *residual;                   /* [size], for the caller */
    double *transition;                 /* [channel][n][n] */
    double *energies;                   /* [channel][n] of orbitals, in host memory */
    double *fock, *error, *rotation;    /* of ROHF: [2][m][m], [m][m] and [m][m]: F, g, k */
    double matrix[FMO_HESSIAN_SUBSPACE][FMO_HESSIAN_SUBSPACE]; /* V^T (A + B) V */
} fmo_hessian;

/* Sets the sizes of the vectors of a state; without arrays, size may be 0. */
fmo_hessian fmo_hessian_of(fmo_scf_state *s);
/* Allocates the arrays; errors are recorded in the backend. */
void fmo_hessian_open(fmo_hessian *h);
void fmo_hessian_close(fmo_hessian *h);

/* Takes over orbitals and Fock matrices of ROHF, if they have changed; nothing for RHF and UHF. */
void fmo_hessian_update(fmo_hessian *h);

/* Returns the occupied orbitals of a channel, [m] each; its virtual ones follow. */
const double *fmo_hessian_occupied(const fmo_hessian *h, int channel);
const double *fmo_hessian_virtual(const fmo_hessian *h, int channel);
/* V = scale C_vir^T M C_occ + beta V of a channel; of ROHF pairs vc are divided by sqrt 2. */
void fmo_hessian_project(const fmo_hessian *h, int channel, double scale, const double *M,
                         double beta, double *V);
/* Keeps a vector as M = C_vir V C_occ^T, [channel][m][m], from which fmo_hessian_take returns it
 * even if orbitals are rotated within their spaces. */
void fmo_hessian_keep(const fmo_hessian *h, const double *V, double *M);
void fmo_hessian_take(const fmo_hessian *h, const double *M, double *V);
/* Sets h->rotation to k of a vector of ROHF. */
void fmo_hessian_rotation(fmo_hessian *h, const double *V);
/* y = x times, or divided by, the differences of orbital energies minus a shift. */
void fmo_hessian_gaps(const fmo_hessian *h, double shift, int divide, const double *x, double *y);
/* Orthogonalises x against the subspace and adds it with its product, which is one build with the
 * cutoff of the state. @return 0 if nothing linearly independent was left */
int fmo_hessian_add(fmo_hessian *h, double *x);

#endif
