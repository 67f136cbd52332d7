/* RHF of parts in the fields of the others: F = H + U + P + G(D), E' = E - Tr D U. */
#include "driver/fmo/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solving {
    fmo_part *parts;
    char *mine; /* or NULL */
} solving;

/* What a finished SCF leaves in its part; the result is not kept. */
static void finished(size_t k, fmo_scf_job *job, void *user)
{
    const solving *s = user;
    fmo_part *part = &s->parts[k];
    if (s->mine) s->mine[k] = 1;
    const fmo_scf_result *r = job->result;
    if (job->status == FMO_OK) {
        const size_t size = (size_t)part->nao * (size_t)part->nao;
        memcpy(part->density, r->density, size * sizeof *part->density);
        part->field_energy = r->field_energy;
        part->energy = r->energy - r->field_energy;
        part->projector_energy = r->projector_energy;
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

/* Where fields and electrostatics go to a GPU, SCFs of parts of at most so many functions stay with
 * the CPU's threads; of more functions where they are fewer than so many for each thread, as a GPU
 * would wait for the host (docs/fmo.md, "How fast"). */
enum { CPU_FUNCTIONS = 20, CPU_FUNCTIONS_OF_FEW = 64, FEW = 4 };

static int largest(const fmo_part *parts, int count)
{
    int most = 0;
    for (int k = 0; k < count; k++)
        if (parts[k].nao > most) most = parts[k].nao;
    return most;
}

static fmo_status solve(fmo_fragments *f, fmo_part *parts, fmo_scf_job *jobs, int count, int dealt,
                        double energy_convergence, double gradient_convergence, int orbitals,
                        fmo_error *err)
{
    fmo_scf_options o = f->o.scf;
    solving s = {parts, dealt ? f->mine : NULL};
    memset(jobs, 0, (size_t)count * sizeof *jobs);
    if (dealt) memset(s.mine, 0, (size_t)count);
    if (!dealt) o.deal = NULL;
    o.guess = FMO_SCF_GUESS_READ;
    o.stability = FMO_SCF_STABILITY_NONE;
    o.callback = NULL;
    o.finished = finished;
    o.user = &s;
    o.energy_convergence = energy_convergence;
    o.gradient_convergence = gradient_convergence;
    o.orbitals = orbitals;
    o.fock.threads = f->threads;
    o.fock.progress = NULL;
    const int most = count < FEW * f->threads ? CPU_FUNCTIONS_OF_FEW : CPU_FUNCTIONS;
    if (o.fock.mode == FMO_MODE_FUSED && largest(parts, count) <= most && count >= f->threads)
        o.fock.mode = FMO_MODE_CPU;
    for (int k = 0; k < count; k++) {
        jobs[k].input = (fmo_scf_input){.basis = parts[k].basis,
                                        .electron_num = parts[k].electron_num,
                                        .core_hamiltonian = parts[k].core,
                                        .nuclear_repulsion = parts[k].nuclear_repulsion,
                                        .density = parts[k].density,
                                        .field = parts[k].field,
                                        .projector = parts[k].projector};
    }
    fmo_error why = {FMO_OK, ""};
    fmo_status status = fmo_scf_run_batch(jobs, (size_t)count, &o, &why);
    for (int k = 0; k < count && status != FMO_OK; k++)
        if (jobs[k].status != FMO_OK) {
            status = name_failure(&parts[k], &jobs[k], err);
            break;
        }
    if (status != FMO_OK) (void)fmo_error_set(err, status, "%s", why.message);
    return status;
}

fmo_status fmo_parts_solve(fmo_fragments *f, fmo_part *parts, int count, double energy_convergence,
                           double gradient_convergence, int orbitals, fmo_error *err)
{
    const int dealt = parts == f->monomer;
    fmo_scf_job *const jobs = dealt ? f->job : malloc((size_t)count * sizeof *jobs);
    if (!jobs) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCFs of fragments");
    const fmo_status status = solve(f, parts, jobs, count, dealt, energy_convergence,
                                    gradient_convergence, orbitals, err);
    if (dealt) return fmo_fragment_share(f, status, fmo_part_blocks, err);
    free(jobs);
    return status;
}
