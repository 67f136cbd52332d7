/* From a Fock matrix to a density: by diagonalisation, or by purification, which needs matrix
 * products only and is many times faster than the eigenproblem on a GPU. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"

#include <math.h>

void fmo_scf_to_orthogonal(fmo_scf_state *s, const double *A, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    op->multiply(s->la, 1.0, fmo_matrix_of(A, s->n, s->n), fmo_matrix_of(s->X, s->n, s->m), 0.0,
                 s->work);
    op->multiply(s->la, 1.0, fmo_transpose_of(s->X, s->n, s->m), fmo_matrix_of(s->work, s->n, s->m),
                 0.0, out);
    op->fold(s->la, s->m, 0.5, 1.0, out);
}

void fmo_scf_fock_to_orthogonal(fmo_scf_state *s, const double *F, double *out)
{
    fmo_scf_to_orthogonal(s, F, out);
    fmo_scf_add_projected(s, out);
}

void fmo_scf_from_orthogonal(fmo_scf_state *s, const double *A, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    op->multiply(s->la, 1.0, fmo_matrix_of(s->X, s->n, s->m), fmo_matrix_of(A, s->m, s->m), 0.0,
                 s->work);
    op->multiply(s->la, 1.0, fmo_matrix_of(s->work, s->n, s->m), fmo_transpose_of(s->X, s->n, s->m),
                 0.0, out);
    op->fold(s->la, s->n, 0.5, 1.0, out);
}

/* Purifies P = (high - F) / (high - low) by SP2 (purify.h), followed by one McWeeny step 3x^2 -
 * 2x^3. @return 0 if it does not converge */
static int purify(fmo_scf_state *s, const double *fock_o, double *P)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->m * (size_t)s->m;
    const int projected = s->projected.num;
    double low, high, trace;
    if (projected && !fmo_scf_remove_projected(s, fock_o, s->work2)) return 0;
    const double *const F = projected ? s->work2 : fock_o;
    op->bounds(s->la, s->m, F, &low, &high, &trace);
    const double width = high - low;
    if (!(width > 0.0)) return 0;
    op->add(s->la, size, -1.0 / width, F, 0.0, P);
    op->add_to_diagonal(s->la, s->m, high / width, P);
    if (projected) fmo_scf_shift_projected(s, -high / width, P);
    trace = ((s->m - projected) * high - trace) / width;
    if (!op->purify(s->la, s->m, s->occupied, trace, P, s->work)) return 0;
    if (projected) fmo_scf_restore_projected(s, P);
    op->multiply(s->la, 1.0, fmo_matrix_of(P, s->m, s->m), fmo_matrix_of(P, s->m, s->m), 0.0,
                 s->work);
    op->multiply(s->la, -2.0, fmo_matrix_of(P, s->m, s->m), fmo_matrix_of(s->work, s->m, s->m), 0.0,
                 s->work2);
    op->add(s->la, size, 3.0, s->work, 1.0, s->work2);
    op->add(s->la, size, 2.0, s->work2, 0.0, P); /* two electrons per orbital */
    op->fold(s->la, s->m, 0.5, 1.0, P);
    return s->la->error.status == FMO_OK;
}

/* Diagonalises a Fock matrix [m][m], which is overwritten by its orbitals. */
static void diagonalise(fmo_scf_state *s, double *fock_o)
{
    s->la->ops->eigen(s->la, s->m, fock_o, s->orbital_energy);
    if (s->occupied < s->m)
        s->gap = s->orbital_energy[s->occupied] - s->orbital_energy[s->occupied - 1];
}

void fmo_scf_solve(fmo_scf_state *s, double *fock_o, double *density_o)
{
    const fmo_linalg_ops *op = s->la->ops;
    const double start = driver_seconds();
    s->gap = INFINITY;
    if (s->solver != FMO_SCF_SOLVER_PURIFY || !purify(s, fock_o, density_o)) {
        diagonalise(s, fock_o);
        op->multiply(s->la, 2.0, fmo_matrix_of(fock_o, s->m, s->occupied),
                     fmo_transpose_of(fock_o, s->m, s->occupied), 0.0, density_o);
        op->fold(s->la, s->m, 0.5, 1.0, density_o);
    }
    op->finish(s->la);
    s->solve_seconds += driver_seconds() - start;
}

void fmo_scf_canonical_orbitals(fmo_scf_state *s)
{
    const double start = driver_seconds();
    fmo_scf_fock_to_orthogonal(s, s->fock, s->orbitals);
    diagonalise(s, s->orbitals);
    s->solve_seconds += driver_seconds() - start;
}
