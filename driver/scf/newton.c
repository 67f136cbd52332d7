/* Second-order SCF: Newton steps in the orbital rotations with a trust radius, which never raise
 * the energy. The step minimises the quadratic model of the energy within the radius, exactly in a
 * subspace of trial vectors that grows by preconditioned residuals until the step is accurate
 * enough (micro-iterations); each trial vector costs one build. A step that raises the energy is
 * rejected, and a shorter one taken from the same subspace. B. Helmich-Paris, J. Chem. Phys. 154,
 * 164104 (2021); J. J. More, D. C. Sorensen, SIAM J. Sci. Stat. Comput. 4, 553 (1983). See
 * docs/explanation/scf-method.md and hessian.h. */
#include "driver/base/clock.h"
#include "driver/scf/criteria.h"
#include "driver/scf/hessian.h"
#include "driver/scf/input.h"
#include "driver/scf/small.h"

#include <math.h>

enum { SUBSPACE = FMO_HESSIAN_SUBSPACE, REJECTED_MAX = 16 };

/* Norms of the rotations of a step: in the first cycle, and at most. */
static const double first_radius = 0.4, largest_radius = 2.0;

/* The residual of a step is at most this share of the gradient. */
static const double residual_share = 0.1;

/* Preconditioners divide by orbital energy differences that are at least this (hartree). */
static const double least_gap = 0.1;

typedef struct descent {
    fmo_scf_state *s;
    const fmo_scf_options *o;
    fmo_scf_result *r;
    fmo_hessian h;
    double *gradient;       /* [size] F_ai */
    double *step;           /* [size] X */
    double slope[SUBSPACE]; /* V^T F_ai */
    double norm;            /* of F_ai, hartree */
    double radius, predicted, shift;
    fmo_scf_error_ratio error_ratio;
    int first; /* 1: no cycle of this descent has ended */
} descent;

/* ---- orbitals of a density ------------------------------------------------------------------- */

/* A = P A P + Q A Q + shift Q with the projectors P = D / 2 and Q = 1 - P; A, D are [m][m]. */
static void separate(fmo_scf_state *s, const double *D, double shift, double *A)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    op->multiply(s->la, 1.0, fmo_matrix_of(A, s->m, s->m), fmo_matrix_of(D, s->m, s->m), 0.0,
                 s->work);
    op->multiply(s->la, 0.5, fmo_matrix_of(D, s->m, s->m), fmo_matrix_of(s->work, s->m, s->m), 0.0,
                 s->work2);
    op->fold(s->la, s->m, 0.5, 1.0, s->work);
    op->add(s->la, mm, -1.0, s->work, 1.0, A);
    op->add(s->la, mm, 1.0, s->work2, 1.0, A);
    op->add(s->la, mm, -0.5 * shift, D, 1.0, A);
    op->add_to_diagonal(s->la, s->m, shift, A);
    op->fold(s->la, s->m, 0.5, 1.0, A);
}

/* Overwrites the Fock matrix A, [m][m], by the orbitals that diagonalise its blocks: those of the
 * occupied and the virtual orbitals of `last`, and if that is not `first` of the latter, too. The
 * shift separates the blocks. */
static void diagonalise_blocks(fmo_scf_state *s, int first, int last, double *A)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    double *const energy = s->orbital_energy + (size_t)first * (size_t)s->n;
    double low, high, trace;
    op->bounds(s->la, s->m, A, &low, &high, &trace);
    const double shift = high - low + 1.0;
    for (int c = first; c <= last; c++) separate(s, s->density_o + (size_t)c * mm, shift, A);
    op->eigen(s->la, s->m, A, energy);
    for (int c = first; c <= last; c++)
        for (int a = s->occupied[c]; a < s->m; a++) energy[a] -= shift;
}

/* Computes the orbitals of ROHF from the Fock matrices of both spins, [channel][m][m]. */
static void restricted_orbitals(fmo_scf_state *s, const double *F)
{
    const size_t m = (size_t)s->m;
    double *const energy = s->orbital_energy, *const second = energy + s->n;
    fmo_scf_effective_fock(s, F, s->orbitals);
    diagonalise_blocks(s, 0, 1, s->orbitals);
    s->la->ops->add(s->la, m * m, 1.0, s->orbitals, 0.0, s->orbitals + m * m);
    fmo_scf_energies_in(s, F, s->orbitals, s->m, second);
    s->gap = fmo_scf_restricted_gap(s, energy, second);
    for (size_t k = 0; k < m; k++) second[k] = energy[k];
}

/* Computes the orbitals of all channels; returns the Fock matrices [channel][m][m]. */
static const double *block_orbitals(fmo_scf_state *s)
{
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    const double start = driver_seconds();
    double *const F = s->history_error; /* not needed here */
    s->gap = INFINITY;
    for (int c = 0; c < s->channels; c++) {
        const int occupied = s->occupied[c];
        const double *const energy = s->orbital_energy + (size_t)c * (size_t)s->n;
        double *const A = s->orbitals + (size_t)c * mm;
        fmo_scf_fock_to_orthogonal(s, s->fock + (size_t)c * nn, F + (size_t)c * mm);
        if (s->restricted) continue;
        s->la->ops->add(s->la, mm, 1.0, F + (size_t)c * mm, 0.0, A);
        diagonalise_blocks(s, c, c, A);
        if (occupied > 0 && occupied < s->m)
            s->gap = fmin(s->gap, energy[occupied] - energy[occupied - 1]);
    }
    if (s->restricted) restricted_orbitals(s, F);
    s->solve_seconds += driver_seconds() - start;
    return F;
}

/* Above this gap (hartree) the occupied orbitals of a stationary density are the lowest
 * eigenvectors of the Fock matrix; not of ROHF, whose open orbitals may be below closed ones. */
static const double certain_gap = 1e-2;

void fmo_scf_density_orbitals(fmo_scf_state *s)
{
    (void)block_orbitals(s);
    if (s->gap > certain_gap && !s->restricted) fmo_scf_canonical_orbitals(s);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Computes orbitals and gradient of the density of the state. @return the norm of the gradient
 * 2 F_ai as DIIS has it: a mean over channels, hartree */
static double find_gradient(descent *d)
{
    fmo_scf_state *const s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    const double *const F = block_orbitals(s);
    double square = 0.0, error = 0.0;
    fmo_hessian_update(&d->h);
    for (int c = 0; c < s->channels; c++)
        fmo_hessian_project(&d->h, c, 1.0, s->restricted ? d->h.error : F + (size_t)c * mm, 0.0,
                            d->gradient);
    if (d->h.size) op->dots(s->la, d->h.size, 1, d->gradient, d->gradient, &square);
    d->norm = sqrt(square);
    if (!s->restricted) return 2.0 * d->norm / sqrt((double)s->channels);
    if (d->h.size) op->dots(s->la, mm, 1, d->h.error, d->h.error, &error);
    return sqrt(0.5 * error);
}

/* Returns the norm of x_k = -g_k / (value_k + shift). */
static double norm_at(int num, const double *g, const double *value, double shift)
{
    double square = 0.0;
    for (int k = 0; k < num; k++)
        if (g[k] != 0.0) square += (g[k] / (value[k] + shift)) * (g[k] / (value[k] + shift));
    return sqrt(square);
}

/* Minimises g x + x M x / 2 with |x| <= radius in the subspace: x solves (M + shift) x = -g with a
 * shift of 0 or more for which M + shift is positive definite. If g has no component along the
 * lowest eigenvector and the eigenvalue is negative, x is extended along it. Sets shift and
 * `predicted`, the minimum.
 * @return 0 if the eigenproblem fails */
static int minimise_model(descent *d, double *x)
{
    const int num = d->h.num;
    double M[SUBSPACE * SUBSPACE], value[SUBSPACE], g[SUBSPACE] = {0.0}, y[SUBSPACE], square = 0.0;
    for (int i = 0; i < num; i++)
        for (int j = 0; j < num; j++) M[i * num + j] = d->h.matrix[i][j];
    if (num == 0 || !fmo_small_eigen(num, M, value)) return 0;
    double size = 0.0;
    for (int k = 0; k < num; k++) {
        for (int i = 0; i < num; i++) g[k] += M[k * num + i] * d->slope[i];
        size += g[k] * g[k];
    }
    double low = fmax(0.0, -value[0]), high = low + sqrt(size) / d->radius;
    d->shift = low;
    if (value[0] <= 0.0 || norm_at(num, g, value, 0.0) > d->radius) {
        for (int step = 0; step < 200 && high > low; step++) {
            const double middle = 0.5 * (low + high);
            if (middle == low || middle == high) break;
            *(norm_at(num, g, value, middle) > d->radius ? &low : &high) = middle;
        }
        d->shift = high;
    }
    for (int k = 0; k < num; k++) {
        const double denominator = value[k] + d->shift;
        y[k] = g[k] != 0.0 && denominator > 0.0 ? -g[k] / denominator : 0.0;
        square += y[k] * y[k];
    }
    const double rest = d->radius * d->radius - square;
    if (value[0] < 0.0 && rest > 0.0) {
        const double along = sqrt(y[0] * y[0] + rest);
        y[0] = g[0] > 0.0 ? -along : along;
    }
    d->predicted = 0.0;
    for (int k = 0; k < num; k++) d->predicted += y[k] * (g[k] + 0.5 * value[k] * y[k]);
    for (int i = 0; i < num; i++) {
        x[i] = 0.0;
        for (int k = 0; k < num; k++) x[i] += M[k * num + i] * y[k];
    }
    return 1;
}

/* Adds a vector, which is overwritten, to the subspace. @return 0 if it depends on the others */
static int extend(descent *d, double *x)
{
    fmo_linalg *const la = d->s->la;
    double square;
    la->ops->dots(la, d->h.size, 1, x, x, &square);
    if (!(square > 0.0)) return 0;
    la->ops->add(la, d->h.size, 0.0, x, 1.0 / sqrt(square), x);
    if (!fmo_hessian_add(&d->h, x)) return 0;
    la->ops->dots(la, d->h.size, d->h.num, d->h.V, d->gradient, d->slope);
    return 1;
}

/* Divides x by the differences of orbital energies plus a shift, raised so that all are
 * positive. */
static void precondition(descent *d, double shift, double *x)
{
    fmo_hessian_gaps(&d->h, fmin(-shift, d->s->gap - least_gap), 1, x, x);
}

/* Computes the step of the model's minimum from the coefficients of the subspace. */
static void take_step(descent *d, const double *x)
{
    d->s->la->ops->combine(d->s->la, d->h.size, d->h.num, d->h.V, x, d->step);
}

/* Builds the subspace and the step: micro-iterations until the residual of the step is small.
 * direction: a further vector of the subspace as in fmo_scf_descend, or NULL.
 * @return 0 if there is no step */
static int find_step(descent *d, const double *direction)
{
    fmo_scf_state *const s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const double threshold = 0.5 * d->o->gradient_convergence * sqrt((double)s->channels);
    const double max_residual =
        fmin(residual_share * d->norm, fmax(d->norm * d->norm, residual_share * threshold));
    double x[SUBSPACE], square;
    int found = 0;
    d->h.num = 0;
    if (d->o->fock.cutoff > 0.0) /* an error of a product is that of the residual over |X| */
        s->cutoff =
            fmax(d->o->fock.cutoff,
                 fmo_scf_loose_cutoff(s, max_residual / fmin(d->radius, d->norm / least_gap)));
    op->add(s->la, d->h.size, 1.0, d->gradient, 0.0, d->h.residual);
    precondition(d, 0.0, d->h.residual);
    int more = extend(d, d->h.residual);
    if (direction) {
        fmo_hessian_take(&d->h, direction, d->h.residual);
        more |= extend(d, d->h.residual);
    }
    while (more && minimise_model(d, x)) {
        found = 1;
        take_step(d, x);
        if (d->h.num == SUBSPACE) break;
        op->combine(s->la, d->h.size, d->h.num, d->h.AV, x, d->h.residual);
        op->add(s->la, d->h.size, d->shift, d->step, 1.0, d->h.residual);
        op->add(s->la, d->h.size, 1.0, d->gradient, 1.0, d->h.residual);
        op->dots(s->la, d->h.size, 1, d->h.residual, d->h.residual, &square);
        if (!(square > max_residual * max_residual)) break;
        precondition(d, d->shift, d->h.residual);
        more = extend(d, d->h.residual);
    }
    s->cutoff = d->o->fock.cutoff;
    return found && s->la->error.status == FMO_OK;
}

/* Y = C_occ + C_vir X of a channel; of ROHF (1 + k + k k / 2) C_occ with the rotation k. */
static void rotated_orbitals(descent *d, int channel, double *Y)
{
    fmo_scf_state *const s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const int nocc = d->h.nocc[channel], nvir = d->h.nvir[channel];
    const size_t size = (size_t)s->m * (size_t)nocc;
    const double *const C = fmo_hessian_occupied(&d->h, channel);
    if (!s->restricted) {
        op->add(s->la, size, 1.0, C, 0.0, Y);
        op->multiply(s->la, 1.0, fmo_matrix_of(fmo_hessian_virtual(&d->h, channel), s->m, nvir),
                     fmo_matrix_of(d->step + d->h.begin[channel], nvir, nocc), 1.0, Y);
        return;
    }
    fmo_hessian_rotation(&d->h, d->step);
    const fmo_matrix k = fmo_matrix_of(d->h.rotation, s->m, s->m);
    op->multiply(s->la, 1.0, k, fmo_matrix_of(C, s->m, nocc), 0.0, s->work);
    op->add(s->la, size, 1.0, C, 0.0, Y);
    op->add(s->la, size, 1.0, s->work, 1.0, Y);
    op->multiply(s->la, 0.5, k, fmo_matrix_of(s->work, s->m, nocc), 1.0, Y);
}

/* Sets the density to that of the rotated orbitals Y: with Y^T Y = U^T U they are Y U^-1 if
 * orthonormalised. U is triangular, so that the first ones, closed in ROHF, remain a space. */
static void rotate(descent *d)
{
    fmo_scf_state *const s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    const double start = driver_seconds();
    for (int c = 0; c < s->channels; c++) {
        const int nocc = d->h.nocc[c];
        double *const Y = s->work2, *const U = s->work, *const orbitals = s->history_fock;
        if (nocc == 0 || (d->h.nvir[c] == 0 && !s->restricted)) continue;
        if (c == 0 || !s->restricted) {
            rotated_orbitals(d, c, Y);
            op->multiply(s->la, 1.0, fmo_transpose_of(Y, s->m, nocc), fmo_matrix_of(Y, s->m, nocc),
                         0.0, U);
            op->fold(s->la, nocc, 0.5, 1.0, U);
            (void)op->inverse_cholesky(s->la, nocc, U); /* Y^T Y >= 1 is positive definite */
            op->multiply(s->la, 1.0, fmo_matrix_of(Y, s->m, nocc), fmo_matrix_of(U, nocc, nocc),
                         0.0, orbitals);
        }
        op->multiply(s->la, 2.0, fmo_matrix_of(orbitals, s->m, nocc),
                     fmo_transpose_of(orbitals, s->m, nocc), 0.0, s->density_o + (size_t)c * mm);
        op->fold(s->la, s->m, 0.5, 1.0, s->density_o + (size_t)c * mm);
    }
    fmo_scf_density_from_orthogonal(s);
    s->solve_seconds += driver_seconds() - start;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

/* Changes of the energy below this (hartree) are rounding and neglected integrals. */
static double noise_of(const descent *d)
{
    return 4e-15 * fabs(d->r->energy) + FMO_SCF_CUTOFF_ERROR * d->o->fock.cutoff * d->s->n;
}

/* Adapts the radius to what a step of this norm achieved, as a share of its prediction. */
static void adapt_radius(descent *d, double norm, double share)
{
    if (share < 0.25)
        d->radius = 0.5 * norm;
    else if (share > 0.75 && norm > 0.8 * d->radius)
        d->radius = fmin(2.0 * d->radius, largest_radius);
}

/* Moves to a density of lower energy and builds its Fock matrix. @return its energy; if there is
 * none along the steps of the model, the state has the density before, and the energy is the same
 * if the density is stationary, otherwise INFINITY */
static double lower_energy(descent *d, const double *direction)
{
    fmo_scf_state *const s = d->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->channels * (size_t)s->m * (size_t)s->m;
    double *const before = s->history_density; /* not needed here */
    op->add(s->la, size, 1.0, s->density_o, 0.0, before);
    int found = find_step(d, direction);
    for (int rejected = 0; found && rejected < REJECTED_MAX; rejected++) {
        double x[SUBSPACE], square;
        op->dots(s->la, d->h.size, 1, d->step, d->step, &square);
        rotate(d);
        const double energy = fmo_scf_build(s, FMO_SCF_FULL), change = energy - d->r->energy;
        const double predicted = 4.0 / s->channels * d->predicted;
        if (!isfinite(energy)) return energy;
        if (change <= noise_of(d)) {
            if (-predicted > 10.0 * noise_of(d)) adapt_radius(d, sqrt(square), change / predicted);
            return energy;
        }
        d->radius = 0.4 * sqrt(square);
        found = minimise_model(d, x);
        if (found) take_step(d, x);
    }
    op->add(s->la, size, 1.0, before, 0.0, s->density_o);
    fmo_scf_density_from_orthogonal(s);
    (void)fmo_scf_build(s, FMO_SCF_FULL);
    return d->r->gradient < d->o->gradient_convergence ? d->r->energy : INFINITY;
}

/* Allocates what a descent needs, and sets the radius. */
static descent begin_descent(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r)
{
    descent d = {.s = s,
                 .o = o,
                 .r = r,
                 .h = fmo_hessian_of(s),
                 .radius = first_radius,
                 .error_ratio = fmo_scf_error_ratio_begin(o->gradient_convergence),
                 .first = 1};
    if (d.h.size == 0) return d;
    fmo_hessian_open(&d.h);
    d.gradient = s->la->ops->allocate(s->la, d.h.size);
    d.step = s->la->ops->allocate(s->la, d.h.size);
    return d;
}

static void end_descent(descent *d)
{
    if (d->h.size == 0) return;
    d->s->la->ops->release(d->s->la, d->gradient);
    d->s->la->ops->release(d->s->la, d->step);
    fmo_hessian_close(&d->h);
}

/* One cycle: a density of lower energy, except in the first cycle, and its orbitals and gradient.
 * @return 0 if there is none, or a number is not finite (with an error) */
static int descend_once(descent *d, const double *direction, fmo_error *err)
{
    fmo_scf_state *const s = d->s;
    fmo_scf_result *const r = d->r;
    const double start = driver_seconds();
    fmo_scf_cycle cycle = fmo_scf_begin_cycle(s, FMO_SCF_FULL);
    cycle.newton = 1;
    const double energy = d->first ? fmo_scf_build(s, FMO_SCF_FULL) : lower_energy(d, direction);
    if (s->la->error.status != FMO_OK || energy == INFINITY) return 0;
    const double gradient = find_gradient(d);
    const int within = fmo_scf_note_cycle(r, d->o, &d->error_ratio, d->first, energy, gradient);
    r->newton_cycles++;
    r->full_builds++;
    r->converged = within > 1 && !(d->first && direction);
    d->first = 0;
    fmo_scf_report_cycle(s, d->o, r, cycle, start);
    return fmo_scf_may_go_on(r, d->o, err) == FMO_OK;
}

fmo_status fmo_scf_descend(fmo_scf_state *s, const fmo_scf_options *o, const double *direction,
                           fmo_scf_result *r, fmo_error *err)
{
    descent d = begin_descent(s, o, r);
    fmo_error own = {FMO_OK, ""};
    s->descended = 1;
    s->cutoff = o->fock.cutoff;
    s->fock_2e_known = 0;
    r->converged = 0;
    int goes_on = 1;
    while (goes_on && !r->converged && r->cycles < o->max_cycles && s->la->error.status == FMO_OK) {
        const int makes_step = !d.first;
        goes_on = descend_once(&d, direction, &own);
        if (makes_step) direction = NULL; /* it has led away from the saddle point */
    }
    end_descent(&d);
    if (s->la->error.status == FMO_OK && own.status == FMO_OK) fmo_scf_density_orbitals(s);
    return own.status == FMO_OK ? FMO_OK : fmo_error_set(err, own.status, "%s", own.message);
}
