/* RHF of parts in the fields of the others: F = H + U + P + G(D), E' = E - Tr D U. */
#include "driver/fmo/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a finished SCF leaves in its part; the result is not kept. */
static void finished(size_t k, fmo_scf_job *job, void *user)
{
    fmo_part *part = &((fmo_part *)user)[k];
    const fmo_scf_result *r = job->result;
    if (job->status == FMO_OK) {
        const size_t size = (size_t)part->nao * (size_t)part->nao;
        memcpy(part->density, r->density, size * sizeof *part->density);
        part->field_energy = r->field_energy;
        part->energy = r->energy - r->field_energy;
        part->homo = r->homo;
        part->lumo = r->lumo;
        part->cycles = r->cycles;
    }
    fmo_scf_result_destroy(job->result);
    job->result = NULL;
}

static fmo_status name_failure(const fmo_part *part, const fmo_scf_job *job, fmo_error *err)
{
    if (part->fragments == 2)
        return fmo_error_set(err, job->status, "fragments %d and %d: %s", part->fragment[0] + 1,
                             part->fragment[1] + 1, job->err.message);
    return fmo_error_set(err, job->status, "fragment %d: %s", part->fragment[0] + 1,
                         job->err.message);
}

fmo_status fmo_parts_solve(const fmo_fragments *f, fmo_part *parts, int count,
                           double energy_convergence, double gradient_convergence, fmo_error *err)
{
    fmo_scf_options o = f->o.scf;
    fmo_scf_job *const jobs = calloc((size_t)count, sizeof *jobs);
    if (!jobs) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCFs of fragments");
    o.guess = FMO_SCF_GUESS_READ;
    o.stability = FMO_SCF_STABILITY_NONE;
    o.callback = NULL;
    o.finished = finished;
    o.user = parts;
    o.energy_convergence = energy_convergence;
    o.gradient_convergence = gradient_convergence;
    o.fock.threads = f->threads;
    o.fock.progress = NULL;
    for (int k = 0; k < count; k++) {
        jobs[k].input = (fmo_scf_input){.basis = parts[k].basis,
                                        .electron_num = parts[k].electron_num,
                                        .core_hamiltonian = parts[k].core,
                                        .nuclear_repulsion = parts[k].nuclear_repulsion,
                                        .density = parts[k].density,
                                        .field = parts[k].field,
                                        .projector = parts[k].projector};
        /* A purification would have to resolve a gap of 1 hartree beside B. */
        if (parts[k].projector) o.solver = FMO_SCF_SOLVER_DIAGONALISE;
    }
    fmo_status status = fmo_scf_run_batch(jobs, (size_t)count, &o, NULL);
    for (int k = 0; k < count && status != FMO_OK; k++)
        if (jobs[k].status != FMO_OK) {
            status = name_failure(&parts[k], &jobs[k], err);
            break;
        }
    free(jobs);
    return status;
}
