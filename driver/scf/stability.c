/* Internal stability of a solution: the lowest eigenvalue of the real orbital Hessian, of RHF that
 * of singlets
 *
 *     (A + B)_ai,bj = (e_a - e_i) d_ab d_ij + 4 (ai|bj) - (ab|ij) - (aj|bi)
 *
 * and of UHF with pairs of both spins, where pairs of unlike spin have 2 (ai|bj) alone, and those
 * of like spin 2 (ai|bj) - (ab|ij) - (aj|bi); by the Davidson method. Each product with it is one
 * Fock build of a symmetric transition density. R. Seeger, J. A. Pople, J. Chem. Phys. 66, 3045
 * (1977); E. R. Davidson, J. Comput. Phys. 17, 87 (1975). Called by scf.c. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"
#include "driver/scf/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lowest eigenvalue of the Hessian -------------------------------------------------------- */

enum { SUBSPACE = 32, STEPS = 80, START = 6 };
static const double residual_most =
    1e-4; /* the error of the eigenvalue is about the square of this */

typedef struct davidson {
    fmo_scf_state *s;
    int nocc[FMO_SCF_CHANNELS], nvir[FMO_SCF_CHANNELS], num;
    size_t begin[FMO_SCF_CHANNELS + 1]; /* of each channel's pairs in a vector */
    size_t size;                        /* of a vector: pairs of all channels */
    double *V, *AV;                     /* [SUBSPACE][size] trial vectors and their products */
    double *ritz, *residual;            /* [size] */
    double *transition;                 /* [channel][n][n] */
    double matrix[SUBSPACE][SUBSPACE];
} davidson;

/* Sets the sizes of the vectors of a state. */
static void count_pairs(davidson *d)
{
    const fmo_scf_state *const s = d->s;
    for (int c = 0; c < s->channels; c++) {
        d->nocc[c] = s->occupied[c];
        d->nvir[c] = s->m - s->occupied[c];
        d->begin[c + 1] = d->begin[c] + (size_t)d->nocc[c] * (size_t)d->nvir[c];
    }
    d->size = d->begin[s->channels];
}

/* y = x times, or divided by, the differences of orbital energies with a shift. */
static void apply_gaps(const davidson *d, double shift, int divide, const double *x, double *y)
{
    const fmo_scf_state *const s = d->s;
    for (int c = 0; c < s->channels; c++) {
        const double *const energy = s->orbital_energy + (size_t)c * (size_t)s->n;
        const fmo_orbital_gaps gaps = {energy + d->nocc[c], energy, d->nvir[c], d->nocc[c], shift};
        if (d->begin[c + 1] > d->begin[c])
            s->la->ops->gaps(s->la, &gaps, divide, x + d->begin[c], y + d->begin[c]);
    }
}

/* Returns the occupied orbitals of a channel; its virtual ones follow. */
static const double *orbitals_of(const fmo_scf_state *s, int channel)
{
    return s->orbitals + (size_t)channel * (size_t)s->m * (size_t)s->m;
}

/* out = (A + B) V: with d = C_vir V C_occ^T + transpose, (e_a - e_i) V + 2 C_vir^T G[d] C_occ. */
static void product(davidson *d, const double *V, double *out)
{
    fmo_scf_state *s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t nn = (size_t)s->n * (size_t)s->n;
    for (int c = 0; c < s->channels; c++) {
        const int nocc = d->nocc[c], nvir = d->nvir[c];
        const double *const occupied = orbitals_of(s, c);
        const double *const virtuals = occupied + (size_t)s->m * (size_t)nocc;
        double *const transition = d->transition + (size_t)c * nn;
        if (nocc == 0 || nvir == 0) {
            op->add(s->la, nn, 0.0, transition, 0.0, transition);
            continue;
        }
        /* work2 = C_vir V C_occ^T in the orthogonal basis */
        op->multiply(s->la, 1.0, fmo_matrix_of(virtuals, s->m, nvir),
                     fmo_matrix_of(V + d->begin[c], nvir, nocc), 0.0, s->work);
        op->multiply(s->la, 1.0, fmo_matrix_of(s->work, s->m, nocc),
                     fmo_transpose_of(occupied, s->m, nocc), 0.0, s->work2);
        op->fold(s->la, s->m, 1.0, 1.0, s->work2);
        fmo_scf_from_orthogonal(s, s->work2, transition);
    }
    fmo_scf_two_electron(s, d->transition, s->change);
    double trace = 0.0; /* NaN if the plan has to be adapted to larger elements */
    op->dots(s->la, nn, 1, d->transition, s->change, &trace);
    if (isnan(trace) && fmo_scf_fit_plan(s, d->transition))
        fmo_scf_two_electron(s, d->transition, s->change);
    apply_gaps(d, 0.0, 0, V, out);
    for (int c = 0; c < s->channels; c++) {
        const int nocc = d->nocc[c], nvir = d->nvir[c];
        const double *const occupied = orbitals_of(s, c);
        const double *const virtuals = occupied + (size_t)s->m * (size_t)nocc;
        if (nocc == 0 || nvir == 0) continue;
        fmo_scf_to_orthogonal(s, fmo_scf_of_channel(s, s->change, c), d->transition);
        op->multiply(s->la, 1.0, fmo_matrix_of(d->transition, s->m, s->m),
                     fmo_matrix_of(occupied, s->m, nocc), 0.0, s->work);
        op->multiply(s->la, 2.0, fmo_transpose_of(virtuals, s->m, nvir),
                     fmo_matrix_of(s->work, s->m, nocc), 1.0, out + d->begin[c]);
    }
}

/* Orthogonalises x against the subspace twice, and adds it with its product. @return 0 if nothing
 * linearly independent was left */
static int add_vector(davidson *d, double *x)
{
    const fmo_linalg_ops *op = d->s->la->ops;
    fmo_linalg *la = d->s->la;
    double c[SUBSPACE], square;
    for (int pass = 0; pass < 3; pass++) {
        op->dots(la, d->size, 1, x, x, &square);
        if (!(square > 1e-20)) return 0;
        op->add(la, d->size, 1.0 / sqrt(square), x, 0.0, x);
        if (pass == 2) break;
        op->dots(la, d->size, d->num, d->V, x, c);
        for (int v = 0; v < d->num; v++)
            op->add(la, d->size, -c[v], d->V + (size_t)v * d->size, 1.0, x);
    }
    double *V = d->V + (size_t)d->num * d->size, *AV = d->AV + (size_t)d->num * d->size;
    op->add(la, d->size, 1.0, x, 0.0, V);
    product(d, V, AV);
    d->num++;
    op->dots(la, d->size, d->num, d->V, AV, c);
    for (int v = 0; v < d->num; v++) d->matrix[d->num - 1][v] = d->matrix[v][d->num - 1] = c[v];
    return la->error.status == FMO_OK;
}

/* Returns the lowest eigenvalue in the subspace, and its coefficients. */
static double lowest_of(davidson *d, double *coefficient)
{
    double M[SUBSPACE * SUBSPACE], value[SUBSPACE];
    for (int i = 0; i < d->num; i++)
        for (int j = 0; j < d->num; j++) M[i * d->num + j] = d->matrix[i][j];
    if (!fmo_small_eigen(d->num, M, value)) return NAN;
    memcpy(coefficient, M, (size_t)d->num * sizeof *coefficient);
    return value[0];
}

/* Returns the difference of orbital energies of pair `at` of a vector. */
static double gap_of(const davidson *d, size_t at)
{
    const int c = d->s->channels > 1 && at >= d->begin[1];
    const double *const energy = d->s->orbital_energy + (size_t)c * (size_t)d->s->n;
    const size_t pair = at - d->begin[c], nvir = (size_t)d->nvir[c];
    return energy[(size_t)d->nocc[c] + pair % nvir] - energy[pair / nvir];
}

/* Adds start vectors: the pairs of smallest orbital energy differences, and a vector with
 * components in all pairs, so that every symmetry is represented. */
static int add_start_vectors(davidson *d)
{
    const fmo_scf_state *s = d->s;
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
        for (size_t at = 0; at < d->size; at++) {
            const double g = gap_of(d, at);
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
        add_vector(d, d->residual);
    }
    unsigned long long random = 1;
    for (size_t at = 0; at < d->size; at++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        const double gap = gap_of(d, at);
        x[at] = ((double)(random >> 11) * 0x1p-53 - 0.5) / (0.1 + gap * gap);
    }
    s->la->ops->upload(s->la, d->size, x, d->residual);
    add_vector(d, d->residual);
    free(x);
    return d->num > 0;
}

/* Reduces the subspace to its best vector, whose product is known. */
static void restart(davidson *d, const double *coefficient, double value)
{
    const fmo_linalg_ops *op = d->s->la->ops;
    op->combine(d->s->la, d->size, d->num, d->AV, coefficient, d->residual);
    op->add(d->s->la, d->size, 1.0, d->ritz, 0.0, d->V);
    op->add(d->s->la, d->size, 1.0, d->residual, 0.0, d->AV);
    d->matrix[0][0] = value;
    d->num = 1;
}

/* Returns the lowest eigenvalue (hartree) of the real orbital Hessian A + B, of RHF that of
 * singlets, at the orbitals of the state, and its eigenvector in `direction`, a backend array of
 * norm 1 with [m - occupied][occupied] (virtual, occupied) for each channel. NaN without virtual
 * orbitals. Davidson iterations until the residual is small, the subspace cannot grow, or STEPS
 * are done. */
static double lowest_eigenvalue(fmo_scf_state *s, double *direction)
{
    const fmo_linalg_ops *op = s->la->ops;
    davidson d = {.s = s};
    double value = NAN, coefficient[SUBSPACE];
    count_pairs(&d);
    if (d.size == 0) return NAN;
    d.V = op->allocate(s->la, SUBSPACE * d.size);
    d.AV = op->allocate(s->la, SUBSPACE * d.size);
    d.residual = op->allocate(s->la, d.size);
    d.transition = op->allocate(s->la, (size_t)s->channels * (size_t)s->n * (size_t)s->n);
    d.ritz = direction;
    if (add_start_vectors(&d)) {
        for (int step = 0; step < STEPS && s->la->error.status == FMO_OK; step++) {
            double square;
            value = lowest_of(&d, coefficient);
            op->combine(s->la, d.size, d.num, d.V, coefficient, d.ritz);
            if (d.num == SUBSPACE)
                restart(&d, coefficient, value);
            else
                op->combine(s->la, d.size, d.num, d.AV, coefficient, d.residual);
            op->add(s->la, d.size, -value, d.ritz, 1.0, d.residual);
            op->dots(s->la, d.size, 1, d.residual, d.residual, &square);
            if (!(square > residual_most * residual_most)) break;
            apply_gaps(&d, value, 1, d.residual, d.residual);
            if (!add_vector(&d, d.residual)) break;
        }
    }
    op->release(s->la, d.V);
    op->release(s->la, d.AV);
    op->release(s->la, d.residual);
    op->release(s->la, d.transition);
    return value;
}

/* ---- descent --------------------------------------------------------------------------------- */

/* Rotates the occupied orbitals by `angle` along a direction [virtual][occupied] of each channel.
 * The new density is that of the space spanned by Y = C_occ + angle C_vir V, the lowest
 * eigenvectors of -Y Y^T. */
static void rotate_orbitals(fmo_scf_state *s, const double *direction, double angle)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    for (int c = 0; c < s->channels; c++) {
        const int nocc = s->occupied[c], nvir = s->m - nocc;
        const double *const occupied = orbitals_of(s, c);
        double *const Y = s->work2, *const M = s->history_fock + (size_t)c * mm;
        op->add(s->la, mm, 0.0, M, 0.0, M);
        if (nocc == 0) continue;
        op->add(s->la, (size_t)s->m * (size_t)nocc, 1.0, occupied, 0.0, Y);
        if (nvir > 0)
            op->multiply(s->la, angle,
                         fmo_matrix_of(occupied + (size_t)s->m * (size_t)nocc, s->m, nvir),
                         fmo_matrix_of(direction, nvir, nocc), 1.0, Y);
        op->multiply(s->la, -1.0, fmo_matrix_of(Y, s->m, nocc), fmo_transpose_of(Y, s->m, nocc),
                     0.0, M);
        op->fold(s->la, s->m, 0.5, 1.0, M);
        direction += (size_t)nocc * (size_t)nvir;
    }
    fmo_scf_solve(s, s->history_fock, s->density_o);
    fmo_scf_density_from_orthogonal(s);
}

/* Returns to a converged density in a few more cycles. */
static fmo_status return_to(fmo_scf_state *s, const double *density, const fmo_scf_options *o,
                            fmo_scf_result *r, fmo_error *err)
{
    enum { CYCLES = 5 };
    fmo_scf_options few = *o;
    few.max_cycles = r->cycles + CYCLES;
    s->la->ops->add(s->la, (size_t)s->channels * (size_t)s->m * (size_t)s->m, 1.0, density, 0.0,
                    s->density_o);
    fmo_scf_density_from_orthogonal(s);
    return fmo_scf_converge(s, &few, 0, r, err);
}

/* Checks the stability of the converged state; if FOLLOW is requested, follows unstable directions
 * until the solution is stable, at most DESCENTS times. */
fmo_status fmo_scf_stabilise(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                             fmo_error *err)
{
    enum { DESCENTS = 10 };
    davidson d = {.s = s};
    fmo_status status = FMO_OK;
    count_pairs(&d);
    if (d.size == 0) return FMO_OK;
    const size_t size = (size_t)s->channels * (size_t)s->m * (size_t)s->m;
    double *direction = s->la->ops->allocate(s->la, d.size);
    double *converged_density =
        s->la->ops->allocate(s->la, size); /* the density before a descent */
    while (r->converged && s->la->error.status == FMO_OK && status == FMO_OK) {
        const double start = driver_seconds(), fock = s->fock_seconds, solve = s->solve_seconds;
        r->hessian_lowest = lowest_eigenvalue(s, direction);
        r->stability_seconds += driver_seconds() - start;
        s->fock_seconds = fock;
        s->solve_seconds = solve;
        if (!(r->hessian_lowest < FMO_SCF_UNSTABLE) || o->stability != FMO_SCF_STABILITY_FOLLOW ||
            r->descents == DESCENTS)
            break;
        s->la->ops->add(s->la, size, 1.0, s->density_o, 0.0, converged_density);
        rotate_orbitals(s, direction, 0.5);
        r->descents++;
        status = fmo_scf_converge(s, o, 1, r, err);
        const int failed = !r->converged && (status == FMO_OK || status == FMO_ERR_CHECK);
        if (failed) status = return_to(s, converged_density, o, r, err);
        if (status == FMO_OK) fmo_scf_canonical_orbitals(s);
        if (failed) break;
    }
    s->la->ops->release(s->la, converged_density);
    s->la->ops->release(s->la, direction);
    return status;
}
