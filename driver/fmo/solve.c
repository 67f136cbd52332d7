/* RHF of a part in the field of the others: F = H + U + P + G(D), E' = E - Tr D U. */
#include "driver/fmo/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fmo_status fmo_part_solve(const fmo_fragments *f, fmo_part *part, double energy_convergence,
                          double gradient_convergence, int threads, fmo_error *err)
{
    const size_t n = (size_t)part->nao;
    fmo_scf_options o = f->o.scf;
    fmo_scf_result *r = NULL;
    fmo_error why = {FMO_OK, ""};
    double *const H = malloc(n * n * sizeof *H);
    if (!H) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a fragment");
    for (size_t i = 0; i < n * n; i++)
        H[i] = part->core[i] + part->field[i] + (part->projector ? part->projector[i] : 0.0);
    const fmo_scf_input input = {.basis = part->basis,
                                 .electron_num = part->electron_num,
                                 .core_hamiltonian = H,
                                 .nuclear_repulsion = part->nuclear_repulsion,
                                 .density = part->density};
    o.guess = FMO_SCF_GUESS_READ;
    o.stability = FMO_SCF_STABILITY_NONE;
    o.callback = NULL;
    o.energy_convergence = energy_convergence;
    o.gradient_convergence = gradient_convergence;
    o.fock.threads = threads;
    /* The purification would have to resolve a gap of 1 beside B. */
    if (part->projector) o.solver = FMO_SCF_SOLVER_DIAGONALISE;
    fmo_status status = fmo_scf_run(&input, &o, &r, &why);
    free(H);
    if (status != FMO_OK) {
        char name[48];
        if (part->fragments == 2)
            snprintf(name, sizeof name, "fragments %d and %d", part->fragment[0] + 1,
                     part->fragment[1] + 1);
        else
            snprintf(name, sizeof name, "fragment %d", part->fragment[0] + 1);
        status = fmo_error_set(err, status, "%s: %s", name, why.message);
    } else {
        memcpy(part->density, r->density, n * n * sizeof *part->density);
        part->field_energy = fmo_trace(n, part->density, part->field);
        part->energy = r->energy - part->field_energy;
        part->homo = r->homo;
        part->lumo = r->lumo;
        part->cycles = r->cycles;
    }
    fmo_scf_result_destroy(r);
    return status;
}
