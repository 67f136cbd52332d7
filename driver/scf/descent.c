/* After convergence: checks the stability of the solution and, if requested, follows an unstable
 * direction to a lower solution. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"

/* Rotates the occupied orbitals by `angle` along a direction [virtual][occupied]. The new density
 * is that of the space spanned by Y = C_occ + angle C_vir V, the lowest eigenvectors of -Y Y^T. */
static void turn_orbitals(fmo_scf_state *s, const double *direction, double angle)
{
    const fmo_linalg_ops *op = s->la->ops;
    const int nocc = s->occupied, nvir = s->m - nocc;
    const double *virtuals = s->orbitals + (size_t)s->m * (size_t)nocc;
    double *Y = s->work2, *M = s->past_fock;
    op->add(s->la, (size_t)s->m * (size_t)nocc, 1.0, s->orbitals, 0.0, Y);
    op->multiply(s->la, angle, fmo_matrix_of(virtuals, s->m, nvir),
                 fmo_matrix_of(direction, nvir, nocc), 1.0, Y);
    op->multiply(s->la, -1.0, fmo_matrix_of(Y, s->m, nocc), fmo_transpose_of(Y, s->m, nocc), 0.0,
                 M);
    op->fold(s->la, s->m, 0.5, 1.0, M);
    fmo_scf_solve(s, M, s->density_o);
    fmo_scf_from_orthogonal(s, s->density_o, s->density);
}

/* Returns to a converged density in a few more cycles. */
static fmo_status go_back(fmo_scf_state *s, const double *density, const fmo_scf_options *o,
                          fmo_scf_result *r, fmo_error *err)
{
    enum { CYCLES = 5 };
    fmo_scf_options few = *o;
    few.max_cycles = r->cycles + CYCLES;
    s->la->ops->add(s->la, (size_t)s->m * (size_t)s->m, 1.0, density, 0.0, s->density_o);
    fmo_scf_from_orthogonal(s, s->density_o, s->density);
    return fmo_scf_converge(s, &few, 0, r, err);
}

/* Checks the stability of the converged state; if FOLLOW is requested, follows unstable directions
 * until the solution is stable, at most DESCENTS times. */
fmo_status fmo_scf_stabilise(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                             fmo_error *err)
{
    enum { DESCENTS = 10 };
    const int nocc = s->occupied, nvir = s->m - nocc;
    fmo_status status = FMO_OK;
    if (nvir == 0) return FMO_OK;
    const size_t size = (size_t)s->m * (size_t)s->m;
    double *direction = s->la->ops->allocate(s->la, (size_t)nvir * (size_t)nocc);
    double *stood = s->la->ops->allocate(s->la, size); /* the density before a descent */
    while (r->converged && s->la->error.status == FMO_OK && status == FMO_OK) {
        const double start = driver_seconds(), fock = s->fock_seconds, solve = s->solve_seconds;
        r->hessian_lowest = fmo_scf_hessian_lowest(s, direction);
        r->stability_seconds += driver_seconds() - start;
        s->fock_seconds = fock;
        s->solve_seconds = solve;
        if (!(r->hessian_lowest < FMO_SCF_UNSTABLE) || o->stability != FMO_SCF_STABILITY_FOLLOW ||
            r->descents == DESCENTS)
            break;
        s->la->ops->add(s->la, size, 1.0, s->density_o, 0.0, stood);
        turn_orbitals(s, direction, 0.5);
        r->descents++;
        status = fmo_scf_converge(s, o, 1, r, err);
        const int lost = !r->converged && (status == FMO_OK || status == FMO_ERR_CHECK);
        if (lost) status = go_back(s, stood, o, r, err);
        if (status == FMO_OK) fmo_scf_canonical_orbitals(s);
        if (lost) break;
    }
    s->la->ops->release(s->la, stood);
    s->la->ops->release(s->la, direction);
    return status;
}
