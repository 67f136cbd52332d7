/* Internal stability of a solution: the lowest eigenvalue of the real orbital Hessian (hessian.h)
 * by the Davidson method. R. Seeger, J. A. Pople, J. Chem. Phys. 66, 3045 (1977); E. R. Davidson,
 * J. Comput. Phys. 17, 87 (1975). Called by scf.c. */
#include "driver/base/clock.h"
#include "driver/scf/hessian.h"
#include "driver/scf/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lowest eigenvalue of the Hessian -------------------------------------------------------- */

enum { SUBSPACE = FMO_HESSIAN_SUBSPACE, STEPS = 80, START = 6 };
static const double residual_most =
    1e-4; /* the error of the eigenvalue is about the square of this */

/* Returns the lowest eigenvalue in the subspace, and its coefficients. */
static double lowest_of(fmo_hessian *h, double *coefficient)
{
    double M[SUBSPACE * SUBSPACE], value[SUBSPACE];
    for (int i = 0; i < h->num; i++)
        for (int j = 0; j < h->num; j++) M[i * h->num + j] = h->matrix[i][j];
    if (!fmo_small_eigen(h->num, M, value)) return NAN;
    memcpy(coefficient, M, (size_t)h->num * sizeof *coefficient);
    return value[0];
}

/* Returns the difference of orbital energies of pair `at` of a vector. */
static double gap_of(const fmo_hessian *h, size_t at)
{
    const int c = h->s->channels > 1 && at >= h->begin[1];
    const double *const energy = h->energies + (size_t)c * (size_t)h->s->n;
    const size_t pair = at - h->begin[c], nvir = (size_t)h->nvir[c];
    return energy[(size_t)h->nocc[c] + pair % nvir] - energy[pair / nvir];
}

/* Adds start vectors: the pairs of smallest orbital energy differences, and a vector with
 * components in all pairs, so that every symmetry is represented. */
static int add_start_vectors(fmo_hessian *h)
{
    const fmo_scf_state *s = h->s;
    const int starts = h->size < START ? (int)h->size : START;
    double *x, last = -INFINITY;
    size_t last_at = 0;
    if (s->la->error.status != FMO_OK) return 0;
    x = malloc(h->size * sizeof *x);
    if (!x) {
        fmo_error_set(&s->la->error, FMO_ERR_MEMORY, "no memory for the orbital Hessian");
        return 0;
    }
    for (int k = 0; k < starts; k++) { /* the next larger gap; ties are ordered by position */
        size_t best = 0;
        double gap = INFINITY;
        for (size_t at = 0; at < h->size; at++) {
            const double g = gap_of(h, at);
            if ((g > last || (g == last && k > 0 && at > last_at)) && g < gap) {
                gap = g;
                best = at;
            }
        }
        last = gap;
        last_at = best;
        memset(x, 0, h->size * sizeof *x);
        x[best] = 1.0;
        s->la->ops->upload(s->la, h->size, x, h->residual);
        fmo_hessian_add(h, h->residual);
    }
    unsigned long long random = 1;
    for (size_t at = 0; at < h->size; at++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        const double gap = gap_of(h, at);
        x[at] = ((double)(random >> 11) * 0x1p-53 - 0.5) / (0.1 + gap * gap);
    }
    s->la->ops->upload(s->la, h->size, x, h->residual);
    fmo_hessian_add(h, h->residual);
    free(x);
    return h->num > 0;
}

/* Reduces the subspace to its best vector, whose product becomes the residual. */
static void restart(fmo_hessian *h, const double *coefficient, double value, const double *ritz)
{
    const fmo_linalg_ops *op = h->s->la->ops;
    op->combine(h->s->la, h->size, h->num, h->AV, coefficient, h->residual);
    op->add(h->s->la, h->size, 1.0, ritz, 0.0, h->V);
    op->add(h->s->la, h->size, 1.0, h->residual, 0.0, h->AV);
    h->matrix[0][0] = value;
    h->num = 1;
}

/* Returns the lowest eigenvalue (hartree) of the real orbital Hessian A + B, of RHF that of
 * singlets, at the orbitals of the state, and its eigenvector in `direction`, a backend array of
 * norm 1 as in hessian.h. NaN without virtual
 * orbitals. Davidson iterations until the residual is small, the subspace cannot grow, or STEPS
 * are done. */
static double lowest_eigenvalue(fmo_scf_state *s, double *direction)
{
    const fmo_linalg_ops *op = s->la->ops;
    fmo_hessian h = fmo_hessian_of(s);
    double value = NAN, coefficient[SUBSPACE];
    if (h.size == 0) return NAN;
    fmo_hessian_open(&h);
    fmo_hessian_update(&h);
    if (add_start_vectors(&h)) {
        for (int step = 0; step < STEPS && s->la->error.status == FMO_OK; step++) {
            double square;
            value = lowest_of(&h, coefficient);
            op->combine(s->la, h.size, h.num, h.V, coefficient, direction);
            if (h.num == SUBSPACE)
                restart(&h, coefficient, value, direction);
            else
                op->combine(s->la, h.size, h.num, h.AV, coefficient, h.residual);
            op->add(s->la, h.size, -value, direction, 1.0, h.residual);
            op->dots(s->la, h.size, 1, h.residual, h.residual, &square);
            if (!(square > residual_most * residual_most)) break;
            fmo_hessian_gaps(&h, value, 1, h.residual, h.residual);
            if (!fmo_hessian_add(&h, h.residual)) break;
        }
    }
    fmo_hessian_close(&h);
    return value;
}

/* ---- descent --------------------------------------------------------------------------------- */

/* Returns to the stationary state before a descent that did not converge. */
static void return_to(fmo_scf_state *s, const double *density, const fmo_scf_result *before,
                      fmo_scf_result *r)
{
    s->la->ops->add(s->la, (size_t)s->channels * (size_t)s->m * (size_t)s->m, 1.0, density, 0.0,
                    s->density_o);
    fmo_scf_density_from_orthogonal(s);
    r->energy = fmo_scf_build(s, FMO_SCF_FULL);
    r->energy_change = before->energy_change;
    r->gradient = before->gradient;
    r->energy_error = before->energy_error;
    r->converged = 1;
    r->cycles++;
    r->full_builds++;
    fmo_scf_density_orbitals(s);
}

/* Checks the stability of the converged state; if FOLLOW is requested, follows unstable directions
 * until the solution is stable, at most DESCENTS times. */
fmo_status fmo_scf_stabilise(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                             fmo_error *err)
{
    enum { DESCENTS = 10 };
    fmo_status status = FMO_OK;
    const fmo_hessian h = fmo_hessian_of(s);
    if (h.size == 0) return FMO_OK;
    const size_t size = (size_t)s->channels * (size_t)s->m * (size_t)s->m;
    double *vector = s->la->ops->allocate(s->la, h.size);
    double *direction = s->la->ops->allocate(s->la, size);
    double *converged_density =
        s->la->ops->allocate(s->la, size); /* the density before a descent */
    while (r->converged && s->la->error.status == FMO_OK && status == FMO_OK) {
        const double start = driver_seconds(), fock = s->fock_seconds, solve = s->solve_seconds;
        r->hessian_lowest = lowest_eigenvalue(s, vector);
        r->stability_seconds += driver_seconds() - start;
        s->fock_seconds = fock;
        s->solve_seconds = solve;
        if (!(r->hessian_lowest < FMO_SCF_UNSTABLE) || o->stability != FMO_SCF_STABILITY_FOLLOW ||
            r->descents == DESCENTS)
            break;
        const fmo_scf_result before = *r;
        s->la->ops->add(s->la, size, 1.0, s->density_o, 0.0, converged_density);
        fmo_hessian_keep(&h, vector, direction);
        r->descents++;
        status = fmo_scf_descend(s, o, direction, r, err);
        if (status != FMO_OK || r->converged || s->la->error.status != FMO_OK) continue;
        return_to(s, converged_density, &before, r);
        break;
    }
    s->la->ops->release(s->la, converged_density);
    s->la->ops->release(s->la, direction);
    s->la->ops->release(s->la, vector);
    return status;
}
