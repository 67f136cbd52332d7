/* Products of the orbital Hessian with vectors: each is one Fock build of a symmetric transition
 * density. R. Seeger, J. A. Pople, J. Chem. Phys. 66, 3045 (1977). See hessian.h. */
#include "driver/scf/hessian.h"
#include "driver/base/clock.h"

#include <math.h>

fmo_hessian fmo_hessian_of(fmo_scf_state *s)
{
    fmo_hessian h = {.s = s};
    for (int c = 0; c < s->channels; c++) {
        h.nocc[c] = s->occupied[c];
        h.nvir[c] = s->m - s->occupied[c];
        h.begin[c + 1] = h.begin[c] + (size_t)h.nocc[c] * (size_t)h.nvir[c];
    }
    h.size = h.begin[s->channels];
    return h;
}

void fmo_hessian_open(fmo_hessian *h)
{
    fmo_linalg *const la = h->s->la;
    h->V = la->ops->allocate(la, FMO_HESSIAN_SUBSPACE * h->size);
    h->AV = la->ops->allocate(la, FMO_HESSIAN_SUBSPACE * h->size);
    h->residual = la->ops->allocate(la, h->size);
    h->transition =
        la->ops->allocate(la, (size_t)h->s->channels * (size_t)h->s->n * (size_t)h->s->n);
}

void fmo_hessian_close(fmo_hessian *h)
{
    fmo_linalg *const la = h->s->la;
    la->ops->release(la, h->V);
    la->ops->release(la, h->AV);
    la->ops->release(la, h->residual);
    la->ops->release(la, h->transition);
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
        const double *const energy = s->orbital_energy + (size_t)c * (size_t)s->n;
        const fmo_orbital_gaps gaps = {energy + h->nocc[c], energy, h->nvir[c], h->nocc[c], shift};
        if (h->begin[c + 1] > h->begin[c])
            s->la->ops->gaps(s->la, &gaps, divide, x + h->begin[c], y + h->begin[c]);
    }
}

void fmo_hessian_expand(const fmo_hessian *h, int channel, const double *V, double *M)
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
    op->multiply(s->la, scale, fmo_transpose_of(fmo_hessian_virtual(h, channel), m, nvir),
                 fmo_matrix_of(s->work, m, nocc), beta, V + h->begin[channel]);
}

/* out = (A + B) V: with d = C_vir V C_occ^T + transpose, (e_a - e_i) V + 2 C_vir^T G[d] C_occ. */
static void product(fmo_hessian *h, const double *V, double *out)
{
    fmo_scf_state *s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t nn = (size_t)s->n * (size_t)s->n;
    for (int c = 0; c < s->channels; c++) {
        fmo_hessian_expand(h, c, V, s->work2);
        op->fold(s->la, s->m, 1.0, 1.0, s->work2);
        fmo_scf_from_orthogonal(s, s->work2, h->transition + (size_t)c * nn);
    }
    const double start = driver_seconds();
    fmo_scf_two_electron(s, h->transition, s->change);
    double trace = 0.0; /* NaN if the plan has to be adapted to larger elements */
    op->dots(s->la, nn, 1, h->transition, s->change, &trace);
    if (isnan(trace) && fmo_scf_fit_plan(s, h->transition))
        fmo_scf_two_electron(s, h->transition, s->change);
    s->fock_seconds += driver_seconds() - start;
    fmo_hessian_gaps(h, 0.0, 0, V, out);
    for (int c = 0; c < s->channels; c++) {
        fmo_scf_to_orthogonal(s, fmo_scf_of_channel(s, s->change, c), h->transition);
        fmo_hessian_project(h, c, 2.0, h->transition, 1.0, out);
    }
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
    product(h, V, AV);
    h->num++;
    op->dots(la, h->size, h->num, h->V, AV, c);
    for (int v = 0; v < h->num; v++) h->matrix[h->num - 1][v] = h->matrix[v][h->num - 1] = c[v];
    return la->error.status == FMO_OK;
}
