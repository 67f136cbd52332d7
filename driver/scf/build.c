/* J and K of a density of the state, its Fock matrix and energy. */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"

void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const fmo_status status = fmo_fock_plan_loosen(s->plan, s->cutoff, &s->la->error);
    if (status == FMO_OK) op->fock(s->la, s->plan, density, s->coulomb, s->exchange);
    op->add(s->la, size, 1.0, s->coulomb, 0.0, out);
    op->add(s->la, size, -0.5, s->exchange, 1.0, out);
}

/* F of the density, and its energy. G of a full build, or G of before plus that of the change. */
double fmo_scf_build(fmo_scf_state *s, int full)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const double start = driver_seconds();
    if (full) {
        fmo_scf_two_electron(s, s->density, s->fock_2e);
    } else {
        op->add(s->la, size, 1.0, s->density, -1.0, s->built);
        fmo_scf_two_electron(s, s->built, s->work);
        op->add(s->la, size, 1.0, s->work, 1.0, s->fock_2e);
    }
    op->finish(s->la);
    s->fock_seconds += driver_seconds() - start;
    op->add(s->la, size, 1.0, s->density, 0.0, s->built);
    op->add(s->la, size, 1.0, s->core, 0.0, s->fock);
    op->add(s->la, size, 1.0, s->fock_2e, 1.0, s->fock);
    double energy[2];
    op->dots(s->la, size, 2, s->core_and_fock, s->density, energy);
    return s->nuclear_repulsion + 0.5 * (energy[0] + energy[1]) + fmo_scf_lifted_energy(s);
}
