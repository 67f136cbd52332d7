/* J and K of a density of the state, its Fock matrix and energy. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"

#include <math.h>

void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const fmo_status status = fmo_fock_plan_loosen(s->plan, s->cutoff, &s->la->error);
    if (status == FMO_OK) op->fock(s->la, s->plan, density, s->coulomb, s->exchange);
    op->add(s->la, size, 1.0, s->coulomb, 0.0, out);
    op->add(s->la, size, -0.5, s->exchange, 1.0, out);
}

/* With the change d of the density Tr D G(D) / 2 changes by Tr d (G + G(d) / 2), in which what
 * builds leave out counts as much as the changes that it meets, and not as much as D. */
double fmo_scf_build(fmo_scf_state *s, fmo_scf_how how)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const double start = driver_seconds();
    if (how == FMO_SCF_FULL) {
        fmo_scf_two_electron(s, s->density, s->fock_2e);
    } else if (how == FMO_SCF_CHANGE) {
        op->add(s->la, size, 1.0, s->density, -1.0, s->built);
        fmo_scf_two_electron(s, s->built, s->change);
    }
    op->finish(s->la);
    s->fock_seconds += driver_seconds() - start;
    double sum[3];
    op->dots(s->la, size, how == FMO_SCF_CHANGE ? 3 : 2, s->core,
             how == FMO_SCF_CHANGE ? s->built : s->density, sum);
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
           fmo_scf_lifted_energy(s);
}
