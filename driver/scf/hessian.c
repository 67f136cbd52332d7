/* Products of the orbital Hessian with vectors: each is one Fock build of a symmetric transition
 * density. R. Seeger, J. A. Pople, J. Chem. Phys. 66, 3045 (1977). See hessian.h. */
#include "driver/scf/hessian.h"
#include "driver/base/clock.h"

#include <math.h>
#include <stdlib.h>

fmo_hessian fmo_hessian_of(fmo_scf_state *s)
{
    fmo_hessian h = {.s = s};
    for (int c = 0; c < s->channels; c++) {
        h.nocc[c] = s->occupied[c];
        h.nvir[c] = (s->restricted && c == 1 ? s->occupied[0] : s->m) - s->occupied[c];
        h.begin[c + 1] = h.begin[c] + (size_t)h.nocc[c] * (size_t)h.nvir[c];
    }
    h.size = h.begin[s->channels];
    return h;
}

void fmo_hessian_open(fmo_hessian *h)
{
    fmo_scf_state *const s = h->s;
    fmo_linalg *const la = s->la;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    h->V = la->ops->allocate(la, FMO_HESSIAN_SUBSPACE * h->size);
    h->AV = la->ops->allocate(la, FMO_HESSIAN_SUBSPACE * h->size);
    h->residual = la->ops->allocate(la, h->size);
    h->transition = la->ops->allocate(la, (size_t)s->channels * (size_t)s->n * (size_t)s->n);
    h->energies = s->orbital_energy;
    if (!s->restricted) return;
    h->fock = la->ops->allocate(la, 2 * mm);
    h->error = la->ops->allocate(la, mm);
    h->rotation = la->ops->allocate(la, mm);
    h->energies = calloc(2 * (size_t)s->n, sizeof *h->energies);
    if (!h->energies)
        fmo_error_set(&la->error, FMO_ERR_MEMORY, "no memory for the orbital Hessian");
}

void fmo_hessian_close(fmo_hessian *h)
{
    fmo_linalg *const la = h->s->la;
    la->ops->release(la, h->V);
    la->ops->release(la, h->AV);
    la->ops->release(la, h->residual);
    la->ops->release(la, h->transition);
    if (!h->s->restricted) return;
    la->ops->release(la, h->fock);
    la->ops->release(la, h->error);
    la->ops->release(la, h->rotation);
    free(h->energies);
}

const double *fmo_hessian_occupied(const fmo_hessian *h, int channel)
{
    const size_t m = (size_t)h->s->m;
    return h->s->orbitals + (size_t)channel * m * m;
}

const double *fmo_hessian_virtual(const fmo_hessian *h, int channel)
{
    return fmo_hessian_occupied(h, channel) + (size_t)h->s->m * (size_t)h->nocc[channel];
}

void fmo_hessian_gaps(const fmo_hessian *h, double shift, int divide, const double *x, double *y)
{
    const fmo_scf_state *const s = h->s;
    for (int c = 0; c < s->channels; c++) {
        const double *const energy = h->energies + (size_t)c * (size_t)s->n;
        const fmo_orbital_gaps gaps = {energy + h->nocc[c], energy, h->nvir[c], h->nocc[c], shift};
        if (h->begin[c + 1] > h->begin[c])
            s->la->ops->gaps(s->la, &gaps, divide, x + h->begin[c], y + h->begin[c]);
    }
}

/* Multiplies the closed columns of the pairs vc of ROHF, in s->work, by a factor. */
static void scale_closed(const fmo_hessian *h, int channel, double factor)
{
    fmo_scf_state *const s = h->s;
    if (s->restricted && channel == 0)
        s->la->ops->add(s->la, (size_t)s->m * (size_t)h->nocc[1], factor, s->work, 0.0, s->work);
}

/* M = C_vir V C_occ^T of a channel, [m][m]; of ROHF pairs vc are multiplied by a factor. */
static void expand(const fmo_hessian *h, int channel, double closed, const double *V, double *M)
{
    fmo_scf_state *const s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const int nocc = h->nocc[channel], nvir = h->nvir[channel], m = s->m;
    if (nocc == 0 || nvir == 0) {
        op->add(s->la, (size_t)m * (size_t)m, 0.0, M, 0.0, M);
        return;
    }
    op->multiply(s->la, 1.0, fmo_matrix_of(fmo_hessian_virtual(h, channel), m, nvir),
                 fmo_matrix_of(V + h->begin[channel], nvir, nocc), 0.0, s->work);
    scale_closed(h, channel, closed);
    op->multiply(s->la, 1.0, fmo_matrix_of(s->work, m, nocc),
                 fmo_transpose_of(fmo_hessian_occupied(h, channel), m, nocc), 0.0, M);
}

void fmo_hessian_project(const fmo_hessian *h, int channel, double scale, const double *M,
                         double beta, double *V)
{
    fmo_scf_state *const s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const int nocc = h->nocc[channel], nvir = h->nvir[channel], m = s->m;
    if (nocc == 0 || nvir == 0) return;
    op->multiply(s->la, 1.0, fmo_matrix_of(M, m, m),
                 fmo_matrix_of(fmo_hessian_occupied(h, channel), m, nocc), 0.0, s->work);
    scale_closed(h, channel, sqrt(0.5));
    op->multiply(s->la, scale, fmo_transpose_of(fmo_hessian_virtual(h, channel), m, nvir),
                 fmo_matrix_of(s->work, m, nocc), beta, V + h->begin[channel]);
}

void fmo_hessian_keep(const fmo_hessian *h, const double *V, double *M)
{
    const size_t mm = (size_t)h->s->m * (size_t)h->s->m;
    for (int c = 0; c < h->s->channels; c++) expand(h, c, sqrt(2.0), V, M + (size_t)c * mm);
}

void fmo_hessian_take(const fmo_hessian *h, const double *M, double *V)
{
    const size_t mm = (size_t)h->s->m * (size_t)h->s->m;
    for (int c = 0; c < h->s->channels; c++)
        fmo_hessian_project(h, c, 1.0, M + (size_t)c * mm, 0.0, V);
}

void fmo_hessian_rotation(fmo_hessian *h, const double *V)
{
    fmo_scf_state *const s = h->s;
    expand(h, 0, sqrt(0.5), V, h->rotation);
    expand(h, 1, 1.0, V, s->work2);
    s->la->ops->add(s->la, (size_t)s->m * (size_t)s->m, 1.0, s->work2, 1.0, h->rotation);
    s->la->ops->fold(s->la, s->m, 1.0, -1.0, h->rotation);
}

/* The Fock matrices F and g = [F_a, P_a] + [F_b, P_b] in the orthogonal basis, and the energies of
 * the orbitals for either spin. */
void fmo_hessian_update(fmo_hessian *h)
{
    fmo_scf_state *const s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t n = (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    if (!s->restricted || h->size == 0) return;
    for (size_t c = 0; c < 2; c++) {
        fmo_scf_fock_to_orthogonal(s, s->fock + c * n * n, h->fock + c * mm);
        op->multiply(s->la, 0.5, fmo_matrix_of(h->fock + c * mm, s->m, s->m),
                     fmo_matrix_of(s->density_o + c * mm, s->m, s->m), c == 0 ? 0.0 : 1.0,
                     h->error);
    }
    op->fold(s->la, s->m, 1.0, -1.0, h->error);
    if (!h->energies) return;
    fmo_scf_energies_in(s, h->fock, s->orbitals, s->m, h->energies);
    for (int k = 0; k < s->m; k++) h->energies[n + k] = 2.0 * s->orbital_energy[k] - h->energies[k];
}

/* s->change = G of the transition densities. */
static void respond(fmo_hessian *h)
{
    fmo_scf_state *const s = h->s;
    const double start = driver_seconds();
    fmo_scf_two_electron(s, h->transition, s->change);
    double trace = 0.0; /* NaN if the plan has to be adapted to larger elements */
    s->la->ops->dots(s->la, (size_t)s->n * (size_t)s->n, 1, h->transition, s->change, &trace);
    if (isnan(trace) && fmo_scf_fit_plan(s, h->transition))
        fmo_scf_two_electron(s, h->transition, s->change);
    s->fock_seconds += driver_seconds() - start;
}

/* out = (A + B) V: with d = C_vir V C_occ^T + transpose, (e_a - e_i) V + 2 C_vir^T G[d] C_occ. */
static void product(fmo_hessian *h, const double *V, double *out)
{
    fmo_scf_state *s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t nn = (size_t)s->n * (size_t)s->n;
    for (int c = 0; c < s->channels; c++) {
        expand(h, c, 1.0, V, s->work2);
        op->fold(s->la, s->m, 1.0, 1.0, s->work2);
        fmo_scf_from_orthogonal(s, s->work2, h->transition + (size_t)c * nn);
    }
    respond(h);
    fmo_hessian_gaps(h, 0.0, 0, V, out);
    for (int c = 0; c < s->channels; c++) {
        fmo_scf_to_orthogonal(s, fmo_scf_of_channel(s, s->change, c), h->transition);
        fmo_hessian_project(h, c, 2.0, h->transition, 1.0, out);
    }
}

/* The same of ROHF, as in hessian.h; k, in h->rotation, is overwritten. G is that of D = 2 P, and
 * therefore counts twice. */
static void restricted_product(fmo_hessian *h, const double *V, double *out)
{
    fmo_scf_state *s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    double *const T = h->transition, *const sum = s->change; /* free after their use */
    fmo_hessian_rotation(h, V);
    const fmo_matrix k = fmo_matrix_of(h->rotation, s->m, s->m);
    for (size_t c = 0; c < 2; c++) {
        op->multiply(s->la, 0.5, k, fmo_matrix_of(s->density_o + c * mm, s->m, s->m), 0.0,
                     s->work2);
        op->fold(s->la, s->m, 1.0, 1.0, s->work2);
        fmo_scf_from_orthogonal(s, s->work2, h->transition + c * nn);
    }
    respond(h);
    for (int c = 0; c < 2; c++) {
        double *const G = fmo_scf_of_channel(s, s->change, c);
        fmo_scf_to_orthogonal(s, G, T);
        op->multiply(s->la, 1.0, fmo_matrix_of(h->fock + (size_t)c * mm, s->m, s->m), k, 0.0,
                     s->work2);
        op->fold(s->la, s->m, 1.0, 1.0, s->work2);
        op->add(s->la, mm, 1.0, s->work2, 2.0, T);
        op->multiply(s->la, 0.5, fmo_matrix_of(T, s->m, s->m),
                     fmo_matrix_of(s->density_o + (size_t)c * mm, s->m, s->m), c == 0 ? 0.0 : 1.0,
                     sum);
    }
    op->multiply(s->la, -0.5, fmo_matrix_of(h->error, s->m, s->m), k, 1.0, sum);
    op->fold(s->la, s->m, 1.0, -1.0, sum);
    for (int c = 0; c < 2; c++) fmo_hessian_project(h, c, 1.0, sum, 0.0, out);
}

/* Orthogonalises x against the subspace twice, and adds it with its product. */
int fmo_hessian_add(fmo_hessian *h, double *x)
{
    const fmo_linalg_ops *op = h->s->la->ops;
    fmo_linalg *la = h->s->la;
    double c[FMO_HESSIAN_SUBSPACE], square;
    for (int pass = 0; pass < 3; pass++) {
        op->dots(la, h->size, 1, x, x, &square);
        if (!(square > 1e-20)) return 0;
        op->add(la, h->size, 1.0 / sqrt(square), x, 0.0, x);
        if (pass == 2) break;
        op->dots(la, h->size, h->num, h->V, x, c);
        for (int v = 0; v < h->num; v++)
            op->add(la, h->size, -c[v], h->V + (size_t)v * h->size, 1.0, x);
    }
    double *V = h->V + (size_t)h->num * h->size, *AV = h->AV + (size_t)h->num * h->size;
    op->add(la, h->size, 1.0, x, 0.0, V);
    (h->s->restricted ? restricted_product : product)(h, V, AV);
    h->num++;
    op->dots(la, h->size, h->num, h->V, AV, c);
    for (int v = 0; v < h->num; v++) h->matrix[h->num - 1][v] = h->matrix[v][h->num - 1] = c[v];
    return la->error.status == FMO_OK;
}
