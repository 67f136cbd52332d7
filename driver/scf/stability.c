/* Internal stability of an RHF solution: the lowest eigenvalue of the real singlet orbital Hessian
 *
 *     (A + B)_ai,bj = (e_a - e_i) d_ab d_ij + 4 (ai|bj) - (ab|ij) - (aj|bi)
 *
 * by the Davidson method; each product with it is one Fock build of a symmetric transition density.
 * R. Seeger, J. A. Pople, J. Chem. Phys. 66, 3045 (1977); E. R. Davidson, J. Comput. Phys. 17, 87
 * (1975). Called by descent.c. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"
#include "driver/scf/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lowest eigenvalue of the Hessian -------------------------------------------------------- */

enum { SPACE = 32, STEPS = 80, START = 6 };
static const double residual_wanted =
    1e-4; /* the error of the eigenvalue is about the square of this */

typedef struct davidson {
    fmo_scf_state *s;
    int nocc, nvir, held;
    size_t size;             /* nvir nocc */
    double *V, *AV;          /* [SPACE][size] trial vectors and their products */
    double *ritz, *residual; /* [size] */
    double *transition;      /* [n][n] */
    double matrix[SPACE][SPACE];
} davidson;

/* Returns the orbital energies, with a shift of their differences. */
static fmo_orbital_gaps gaps_of(const davidson *d, double shift)
{
    const double *const energy = d->s->orbital_energy;
    return (fmo_orbital_gaps){energy + d->nocc, energy, d->nvir, d->nocc, shift};
}

/* out = (A + B) V: with d = C_vir V C_occ^T + transpose, (e_a - e_i) V + 2 C_vir^T G[d] C_occ. */
static void product(davidson *d, const double *V, double *out)
{
    fmo_scf_state *s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const double *occupied = s->orbitals, *virtuals = s->orbitals + (size_t)s->m * (size_t)d->nocc;
    /* work2 = C_vir V C_occ^T in the orthogonal basis */
    op->multiply(s->la, 1.0, fmo_matrix_of(virtuals, s->m, d->nvir),
                 fmo_matrix_of(V, d->nvir, d->nocc), 0.0, s->work);
    op->multiply(s->la, 1.0, fmo_matrix_of(s->work, s->m, d->nocc),
                 fmo_transpose_of(occupied, s->m, d->nocc), 0.0, s->work2);
    op->fold(s->la, s->m, 1.0, 1.0, s->work2);
    fmo_scf_from_orthogonal(s, s->work2, d->transition);
    fmo_scf_two_electron(s, d->transition, s->work2);
    double trace = 0.0; /* NaN if the plan has to be adapted to larger elements */
    op->dots(s->la, (size_t)s->n * (size_t)s->n, 1, d->transition, s->work2, &trace);
    if (isnan(trace) && fmo_scf_fit_plan(s, d->transition))
        fmo_scf_two_electron(s, d->transition, s->work2);
    fmo_scf_to_orthogonal(s, s->work2, d->transition);
    const fmo_orbital_gaps gaps = gaps_of(d, 0.0);
    op->gaps(s->la, &gaps, 0, V, out);
    op->multiply(s->la, 1.0, fmo_matrix_of(d->transition, s->m, s->m),
                 fmo_matrix_of(occupied, s->m, d->nocc), 0.0, s->work);
    op->multiply(s->la, 2.0, fmo_transpose_of(virtuals, s->m, d->nvir),
                 fmo_matrix_of(s->work, s->m, d->nocc), 1.0, out);
}

/* Orthogonalises x against the subspace twice, and adds it with its product. @return 0 if nothing
 * linearly independent was left */
static int take(davidson *d, double *x)
{
    const fmo_linalg_ops *op = d->s->la->ops;
    fmo_linalg *la = d->s->la;
    double c[SPACE], square;
    for (int pass = 0; pass < 3; pass++) {
        op->dots(la, d->size, 1, x, x, &square);
        if (!(square > 1e-20)) return 0;
        op->add(la, d->size, 1.0 / sqrt(square), x, 0.0, x);
        if (pass == 2) break;
        op->dots(la, d->size, d->held, d->V, x, c);
        for (int v = 0; v < d->held; v++)
            op->add(la, d->size, -c[v], d->V + (size_t)v * d->size, 1.0, x);
    }
    double *V = d->V + (size_t)d->held * d->size, *AV = d->AV + (size_t)d->held * d->size;
    op->add(la, d->size, 1.0, x, 0.0, V);
    product(d, V, AV);
    d->held++;
    op->dots(la, d->size, d->held, d->V, AV, c);
    for (int v = 0; v < d->held; v++) d->matrix[d->held - 1][v] = d->matrix[v][d->held - 1] = c[v];
    return la->error.status == FMO_OK;
}

/* Returns the lowest eigenvalue in the subspace, and its coefficients. */
static double lowest_of(davidson *d, double *coefficient)
{
    double M[SPACE * SPACE], value[SPACE];
    for (int i = 0; i < d->held; i++)
        for (int j = 0; j < d->held; j++) M[i * d->held + j] = d->matrix[i][j];
    if (!fmo_small_eigen(d->held, M, value)) return NAN;
    memcpy(coefficient, M, (size_t)d->held * sizeof *coefficient);
    return value[0];
}

/* Adds start vectors: the pairs of smallest orbital energy differences, and a vector with
 * components in all pairs, so that every symmetry is represented. */
static int start(davidson *d)
{
    const fmo_scf_state *s = d->s;
    const double *e_i = s->orbital_energy, *e_a = s->orbital_energy + d->nocc;
    const int starts = d->size < START ? (int)d->size : START;
    double *x = malloc(d->size * sizeof *x), last = -INFINITY;
    size_t last_at = 0;
    if (!x) {
        fmo_error_set(&s->la->error, FMO_ERR_MEMORY, "no memory for the orbital Hessian");
        return 0;
    }
    for (int k = 0; k < starts; k++) { /* the next larger gap; ties are ordered by position */
        size_t best = 0;
        double gap = INFINITY;
        for (size_t i = 0; i < (size_t)d->nocc; i++)
            for (size_t a = 0; a < (size_t)d->nvir; a++) {
                const double g = e_a[a] - e_i[i];
                const size_t at = a + i * (size_t)d->nvir;
                if ((g > last || (g == last && k > 0 && at > last_at)) && g < gap) {
                    gap = g;
                    best = at;
                }
            }
        last = gap;
        last_at = best;
        memset(x, 0, d->size * sizeof *x);
        x[best] = 1.0;
        s->la->ops->upload(s->la, d->size, x, d->residual);
        take(d, d->residual);
    }
    unsigned long long random = 1;
    for (size_t at = 0; at < d->size; at++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        const double gap = e_a[at % (size_t)d->nvir] - e_i[at / (size_t)d->nvir];
        x[at] = ((double)(random >> 11) * 0x1p-53 - 0.5) / (0.1 + gap * gap);
    }
    s->la->ops->upload(s->la, d->size, x, d->residual);
    take(d, d->residual);
    free(x);
    return d->held > 0;
}

/* Reduces the subspace to its best vector, whose product is known. */
static void restart(davidson *d, const double *coefficient, double value)
{
    const fmo_linalg_ops *op = d->s->la->ops;
    op->combine(d->s->la, d->size, d->held, d->AV, coefficient, d->residual);
    op->add(d->s->la, d->size, 1.0, d->ritz, 0.0, d->V);
    op->add(d->s->la, d->size, 1.0, d->residual, 0.0, d->AV);
    d->matrix[0][0] = value;
    d->held = 1;
}

/* Davidson iterations until the residual is small, the subspace cannot grow, or STEPS are done. */
double fmo_scf_hessian_lowest(fmo_scf_state *s, double *direction)
{
    const fmo_linalg_ops *op = s->la->ops;
    davidson d = {.s = s, .nocc = s->occupied, .nvir = s->m - s->occupied};
    double value = NAN, coefficient[SPACE];
    d.size = (size_t)d.nocc * (size_t)d.nvir;
    if (d.size == 0) return NAN;
    d.V = op->allocate(s->la, SPACE * d.size);
    d.AV = op->allocate(s->la, SPACE * d.size);
    d.residual = op->allocate(s->la, d.size);
    d.transition = op->allocate(s->la, (size_t)s->n * (size_t)s->n);
    d.ritz = direction;
    if (start(&d)) {
        for (int step = 0; step < STEPS && s->la->error.status == FMO_OK; step++) {
            double square;
            value = lowest_of(&d, coefficient);
            op->combine(s->la, d.size, d.held, d.V, coefficient, d.ritz);
            if (d.held == SPACE)
                restart(&d, coefficient, value);
            else
                op->combine(s->la, d.size, d.held, d.AV, coefficient, d.residual);
            op->add(s->la, d.size, -value, d.ritz, 1.0, d.residual);
            op->dots(s->la, d.size, 1, d.residual, d.residual, &square);
            if (!(square > residual_wanted * residual_wanted)) break;
            const fmo_orbital_gaps gaps = gaps_of(&d, value);
            op->gaps(s->la, &gaps, 1, d.residual, d.residual);
            if (!take(&d, d.residual)) break;
        }
    }
    op->release(s->la, d.V);
    op->release(s->la, d.AV);
    op->release(s->la, d.residual);
    op->release(s->la, d.transition);
    return value;
}

/* ---- descent --------------------------------------------------------------------------------- */

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
