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
static const double residual_max =
    1e-4; /* the error of the eigenvalue is about the square of this */

/* Below this (hartree) an eigenvalue may be that of a rotation that leaves the energy as it is, as
 * among degenerate states: Davidson's method often finds it exactly before lower ones of other
 * symmetries, and then continues for the second eigenvalue. */
static const double zero_max = 1e-3;

/* The two lowest eigenvalues in the subspace, and their coefficients. @return 0 if it fails */
static int lowest_of(fmo_hessian *h, double value[2], double coefficient[2][SUBSPACE])
{
    double M[SUBSPACE * SUBSPACE], all[SUBSPACE];
    for (int i = 0; i < h->num; i++)
        for (int j = 0; j < h->num; j++) M[i * h->num + j] = h->matrix[i][j];
    if (!fmo_small_eigen(h->num, M, all)) return 0;
    for (int k = 0; k < 2 && k < h->num; k++) {
        value[k] = all[k];
        memcpy(coefficient[k], M + k * h->num, (size_t)h->num * sizeof *M);
    }
    return 1;
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

/* Reduces the subspace to its two lowest vectors, and updates their coefficients. */
static void restart(fmo_hessian *h, const double value[2], double coefficient[2][SUBSPACE])
{
    const fmo_linalg_ops *op = h->s->la->ops;
    double *const kept = h->transition; /* room for four vectors */
    for (int k = 0; k < 4; k++)
        op->combine(h->s->la, h->size, h->num, k < 2 ? h->V : h->AV, coefficient[k % 2],
                    kept + (size_t)k * h->size);
    op->add(h->s->la, 2 * h->size, 1.0, kept, 0.0, h->V);
    op->add(h->s->la, 2 * h->size, 1.0, kept + 2 * h->size, 0.0, h->AV);
    h->num = 2;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            h->matrix[i][j] = i == j ? value[i] : 0.0;
            coefficient[i][j] = i == j;
        }
}

/* Computes the residual of an eigenvector of the subspace, which becomes `vector`. @return its
 * norm */
static double residual_of(fmo_hessian *h, double value, const double *coefficient, double *vector)
{
    fmo_linalg *const la = h->s->la;
    double square;
    la->ops->combine(la, h->size, h->num, h->V, coefficient, vector);
    la->ops->combine(la, h->size, h->num, h->AV, coefficient, h->residual);
    la->ops->add(la, h->size, -value, vector, 1.0, h->residual);
    la->ops->dots(la, h->size, 1, h->residual, h->residual, &square);
    return sqrt(square);
}

/* Returns the lowest eigenvalue (hartree) of the real orbital Hessian A + B, of RHF that of
 * singlets, at the orbitals of the state, and its eigenvector in `direction`, a backend array of
 * norm 1 as in hessian.h. NaN without virtual orbitals. Davidson iterations until the residual is
 * small, the subspace cannot grow, or STEPS are done. */
static double lowest_eigenvalue(fmo_scf_state *s, double *direction)
{
    fmo_hessian h = fmo_hessian_of(s);
    double value[2] = {NAN, NAN}, coefficient[2][SUBSPACE];
    if (h.size == 0) return NAN;
    fmo_hessian_open(&h);
    fmo_hessian_update(&h);
    if (add_start_vectors(&h)) {
        for (int step = 0; step < STEPS && s->la->error.status == FMO_OK; step++) {
            int k = 0;
            if (!lowest_of(&h, value, coefficient)) break;
            if (h.num == SUBSPACE) restart(&h, value, coefficient);
            double norm = residual_of(&h, value[0], coefficient[0], direction);
            if (norm <= residual_max && fabs(value[0]) < zero_max && h.num > 1) {
                k = 1;
                norm = residual_of(&h, value[1], coefficient[1], h.transition);
            }
            if (!(norm > residual_max)) break;
            fmo_hessian_gaps(&h, value[k], 1, h.residual, h.residual);
            if (!fmo_hessian_add(&h, h.residual)) break;
        }
    }
    fmo_hessian_close(&h);
    return value[0];
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
