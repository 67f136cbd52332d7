/* J and K of a density of the state, its Fock matrix and energy. Called by iterate.c. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdlib.h>

void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const fmo_status status = fmo_fock_plan_loosen(s->plan, s->cutoff, &s->la->error);
    if (status == FMO_OK) op->fock(s->la, s->plan, density, s->coulomb, s->exchange);
    op->add(s->la, size, 1.0, s->coulomb, 0.0, out);
    op->add(s->la, size, -0.5, s->exchange, 1.0, out);
}

/* Arguments of fit. */
typedef struct fitting {
    fmo_fock_plan *plan;
    const double *density;
    size_t size;
    int fitted;
    fmo_error err;
} fitting;

static void fit(void *user)
{
    fitting *const f = user;
    double largest = 0.0;
    for (size_t k = 0; k < f->size; k++) {
        if (!isfinite(f->density[k])) return;
        largest = fmax(largest, fabs(f->density[k]));
    }
    f->fitted = fmo_fock_plan_expect(f->plan, largest, &f->err) == FMO_OK;
}

int fmo_scf_fit_plan(fmo_scf_state *s, const double *density)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    double *const host = s->la->ops->on_device ? malloc(size * sizeof *host) : NULL;
    if (!host) return 0; /* builds on host matrices adapt the plan themselves */
    fitting f = {.plan = s->plan, .density = host, .size = size};
    op->download(s->la, size, density, host);
    op->finish(s->la);
    if (s->la->error.status == FMO_OK) op->on_host(s->la, fit, &f);
    if (f.err.status != FMO_OK && s->la->error.status == FMO_OK) s->la->error = f.err;
    free(host);
    return f.fitted;
}

/* The energy of a changed density is updated: with the change d, Tr D G(D) / 2 changes by Tr d (G +
 * G(d) / 2). Errors of builds then contribute in proportion to d and not to D. If the result is
 * NaN, the plan is adapted to the density and the build repeated once. */
double fmo_scf_build(fmo_scf_state *s, fmo_scf_how how)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    double start = driver_seconds();
    const int terms = how == FMO_SCF_CHANGE ? 3 : 2;
    const double *const built = how == FMO_SCF_CHANGE ? s->built : s->density;
    double sum[3];
    if (how == FMO_SCF_CHANGE) op->add(s->la, size, 1.0, s->density, -1.0, s->built);
    for (int again = 0; again < 2; again++) {
        if (how != FMO_SCF_KNOWN)
            fmo_scf_two_electron(s, built, how == FMO_SCF_CHANGE ? s->change : s->fock_2e);
        op->finish(s->la);
        s->fock_seconds += driver_seconds() - start;
        start = driver_seconds();
        op->dots(s->la, size, terms, s->core, built, sum);
        if (again || !isnan(sum[terms - 1]) || !fmo_scf_fit_plan(s, built)) break;
    }
    if (how == FMO_SCF_CHANGE) {
        s->one_electron_energy += sum[0];
        s->two_electron_energy += sum[1] + 0.5 * sum[2];
        op->add(s->la, size, 1.0, s->change, 1.0, s->fock_2e);
    } else {
        s->one_electron_energy = sum[0];
        if (how == FMO_SCF_FULL) s->two_electron_energy = 0.5 * sum[1];
    }
    op->add(s->la, size, 1.0, s->density, 0.0, s->built);
    op->add(s->la, size, 1.0, s->core, 0.0, s->fock);
    op->add(s->la, size, 1.0, s->fock_2e, 1.0, s->fock);
    s->changes = how == FMO_SCF_FULL ? 0 : s->changes + (how == FMO_SCF_CHANGE);
    if (how != FMO_SCF_KNOWN)
        s->widest = how == FMO_SCF_FULL ? s->cutoff : fmax(s->widest, s->cutoff);
    return s->nuclear_repulsion + s->one_electron_energy + s->two_electron_energy +
           fmo_scf_projected_energy(s);
}
