/* RHF of subsystems in the fields of the other fragments: F = H + U + P + G(D), E' = E - Tr D U.
 * Called by scc.c and pairs.c. */
#include "driver/fmo/internal.h"
#include "base/snake.h"
#include "driver/base/tuning.h"
#include "driver/scf/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solving {
    fmo_fragments *f;
    fmo_subsystem *subsystems;
    const int *number; /* [jobs] indices of subsystems; NULL: all of them */
    fmo_scf_job *jobs;
    char *mine;                               /* marks finished subsystems; may be NULL */
    const fmo_subsystem_callbacks *callbacks; /* may be NULL */
    double done, all; /* sums of cubed numbers of functions: of finished subsystems, of all */
    double running;   /* the same of running subsystems, each times the share that is done */
} solving;

/* Number of cycles after which half of an SCF counts as done, for the progress report only. */
enum { CYCLES_HALF = 6 };

static size_t number_of(const solving *s, size_t job)
{
    return s->number ? (size_t)s->number[job] : job;
}

static double work_of(const fmo_subsystem *subsystem)
{
    return (double)subsystem->nao * subsystem->nao * subsystem->nao;
}

/* Counts a running SCF as done up to this cycle; 0: as not running. */
static void count_cycle(solving *s, fmo_subsystem *subsystem, int cycle)
{
    const double before = subsystem->cycles / (double)(subsystem->cycles + CYCLES_HALF);
    s->running += work_of(subsystem) * (cycle / (double)(cycle + CYCLES_HALF) - before);
    subsystem->cycles = cycle;
}

static void tell(const solving *s)
{
    if (s->callbacks)
        s->callbacks->advanced(s->f, s->running, s->callbacks->user);
    else if (s->f->o.progress)
        s->f->o.progress((s->done + s->running) / s->all, s->f->o.user);
}

static void cycled(const fmo_scf_cycle *cycle, void *user)
{
    solving *const s = user;
    count_cycle(s, &s->subsystems[number_of(s, cycle->job)], cycle->cycle);
    tell(s);
}

/* Copies the results of an SCF to its subsystem and destroys the rest; reports progress. */
static void finished(size_t at, fmo_scf_job *job, void *user)
{
    solving *s = user;
    const size_t k = number_of(s, at);
    fmo_subsystem *subsystem = &s->subsystems[k];
    if (s->mine) s->mine[k] = 1;
    const fmo_scf_result *r = job->result;
    count_cycle(s, subsystem, 0);
    if (job->status == FMO_OK) {
        const size_t size = (size_t)subsystem->nao * (size_t)subsystem->nao;
        memcpy(subsystem->density, r->density, size * sizeof *subsystem->density);
        subsystem->field_energy = r->field_energy;
        subsystem->energy = r->energy - r->field_energy;
        subsystem->projector_energy = r->projector_energy;
        subsystem->homo = r->homo;
        subsystem->lumo = r->lumo;
        subsystem->cycles = r->cycles;
        if (s->callbacks) s->callbacks->solved(s->f, k, s->callbacks->user);
    }
    fmo_scf_result_destroy(job->result);
    job->result = NULL;
    s->done += work_of(subsystem);
    tell(s);
}

static fmo_status name_failure(const fmo_subsystem *subsystem, const fmo_scf_job *job,
                               fmo_error *err)
{
    if (subsystem->fragments == 2)
        return fmo_error_set(err, job->status, "fragments %d and %d: %s",
                             subsystem->fragment[0] + 1, subsystem->fragment[1] + 1,
                             job->err.message);
    return fmo_error_set(err, job->status, "fragment %d: %s", subsystem->fragment[0] + 1,
                         job->err.message);
}

/* In mode fused, if there is at least one SCF per thread, SCFs of at most CPU_FUNCTIONS functions
 * stay on the CPU, and those of up to CPU_FUNCTIONS_OF_FEW if there are fewer than FEW per thread,
 * because a GPU would wait for the host (docs/log/fmo.md, "How fast"). Fields and electrostatics
 * are still computed on the GPU. */
enum {
    CPU_FUNCTIONS = fmo_tuning_fragment_cpu_functions,
    CPU_FUNCTIONS_OF_FEW = fmo_tuning_fragment_cpu_functions_few,
    FEW = fmo_tuning_fragment_few
};

static int largest(const fmo_subsystem *subsystems, int count)
{
    int largest = 0;
    for (int k = 0; k < count; k++)
        if (subsystems[k].nao > largest) largest = subsystems[k].nao;
    return largest;
}

int fmo_subsystems_go_to_cpu(const fmo_fragments *f, const fmo_subsystem *subsystems, int count)
{
    const int limit = count < FEW * f->threads_cpu ? CPU_FUNCTIONS_OF_FEW : CPU_FUNCTIONS;
    return f->o.scf.fock.mode != FMO_MODE_FUSED ||
           (largest(subsystems, count) <= limit && count >= f->threads_cpu);
}

static fmo_scf_input input_of(const fmo_subsystem *subsystem)
{
    return (fmo_scf_input){.basis = subsystem->basis,
                           .electron_num = subsystem->electron_num,
                           .core_hamiltonian = subsystem->core,
                           .nuclear_repulsion = subsystem->nuclear_repulsion,
                           .density = subsystem->density,
                           .field = subsystem->field,
                           .projector = subsystem->projector};
}

static fmo_status prepare(const size_t *job, size_t num, const fmo_fock_options *fock, void *user,
                          fmo_error *err)
{
    const solving *s = user;
    const fmo_status status = s->callbacks->prepare(s->f, job, num, fock, s->callbacks->user, err);
    for (size_t k = 0; k < num && status == FMO_OK; k++)
        s->jobs[job[k]].input = input_of(&s->subsystems[job[k]]);
    return status;
}

static void release(size_t job, void *user)
{
    const solving *s = user;
    s->callbacks->release(job, s->callbacks->user);
}

static const double *overlap(size_t job, void *user)
{
    const solving *s = user;
    return s->subsystems[job].overlap;
}

/* Runs a batch that prepares subsystems as needed. If their SCFs stay on the CPU but their fields
 * are computed on a GPU, all are prepared at once beforehand, because single requests to the GPU
 * are slow. */
static fmo_status run_with_callbacks(solving *s, size_t count, const fmo_scf_options *o,
                                     fmo_error *err)
{
    const fmo_batch_callbacks callbacks = {prepare, release, overlap, s, s->callbacks->elements};
    if (o->fock.mode == s->f->o.scf.fock.mode)
        return fmo_scf_run_batch_of(s->jobs, count, o, &callbacks, NULL, err);
    size_t *const all = malloc(count * sizeof *all);
    if (!all) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCFs of fragments");
    for (size_t k = 0; k < count; k++) all[k] = k;
    fmo_status status = prepare(all, count, &s->f->o.scf.fock, s, err);
    free(all);
    if (status != FMO_OK) return status;
    status = fmo_scf_run_batch(s->jobs, count, o, err);
    for (size_t k = 0; k < count; k++) release(k, s);
    return status;
}

/* Runs `count` SCFs as one batch with the thresholds of this iteration; names the first subsystem
 * that failed. */
static fmo_status solve(solving *s, int count, const fmo_thresholds *thresholds, int orbitals,
                        fmo_error *err)
{
    const fmo_fragments *const f = s->f;
    fmo_scf_options o = f->o.scf;
    memset(s->jobs, 0, (size_t)count * sizeof *s->jobs);
    if (s->mine) memset(s->mine, 0, (size_t)f->system->fragment_num);
    if (!s->mine || s->number) o.deal = NULL;
    o.guess = FMO_SCF_GUESS_READ;
    o.guess_is_fixed = 1;
    o.stability = FMO_SCF_STABILITY_NONE;
    o.callback = f->o.progress ? cycled : NULL;
    o.finished = finished;
    o.user = s;
    o.energy_convergence = thresholds->energy;
    o.gradient_convergence = thresholds->gradient;
    o.gradient_aim = thresholds->aim;
    o.orbitals = orbitals;
    o.loose_fock = 1; /* the Fock matrix is not used */
    o.forces = 0;
    o.fock.threads = f->threads;
    o.fock.progress = NULL;
    if (o.fock.mode == FMO_MODE_FUSED && !s->number &&
        fmo_subsystems_go_to_cpu(f, s->subsystems, count)) {
        o.fock.mode = FMO_MODE_CPU;
        o.fock.threads = f->threads_cpu;
    }
    for (int k = 0; k < count; k++) {
        fmo_subsystem *const subsystem = &s->subsystems[number_of(s, (size_t)k)];
        subsystem->cycles = 0;
        s->jobs[k].input = input_of(subsystem);
        s->all += work_of(subsystem);
    }
    fmo_error why = {FMO_OK, ""};
    fmo_status status = s->callbacks
                            ? run_with_callbacks(s, (size_t)count, &o, &why)
                            : fmo_scf_run_batch_of(s->jobs, (size_t)count, &o, NULL, f->kept, &why);
    for (int k = 0; k < count && status != FMO_OK; k++)
        if (s->jobs[k].status != FMO_OK) {
            status = name_failure(&s->subsystems[number_of(s, (size_t)k)], &s->jobs[k], err);
            break;
        }
    if (status != FMO_OK) (void)fmo_error_set(err, status, "%s", why.message);
    return status;
}

/* Lists the monomers of this rank, whose plans stay there: monomers in order of size are
 * distributed over the ranks in boustrophedon order, so that all ranks have about the same work.
 * number: [fragment_num]. @return how many */
static int own_share(const fmo_fragments *f, int *number)
{
    const size_t ranks = (size_t)f->ranks->size, own = (size_t)f->ranks->rank;
    int num = 0;
    for (int at = 0; at < f->system->fragment_num; at++)
        if (fmo_snake((size_t)at, ranks) == own) number[num++] = f->order[at];
    return num;
}

static fmo_status solve_own(solving *s, const fmo_thresholds *thresholds, int orbitals,
                            fmo_error *err)
{
    int *const number = malloc((size_t)s->f->system->fragment_num * sizeof *number);
    if (!number) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCFs of fragments");
    s->number = number;
    const int count = own_share(s->f, number);
    const fmo_status status = solve(s, count, thresholds, orbitals, err);
    free(number);
    return status;
}

fmo_status fmo_subsystems_solve(fmo_fragments *f, fmo_subsystem *subsystems, int count,
                                const fmo_thresholds *thresholds, int orbitals,
                                const fmo_subsystem_callbacks *callbacks, fmo_error *err)
{
    const int dealt = subsystems == f->monomer;
    fmo_scf_job *const jobs = dealt ? f->job : malloc((size_t)count * sizeof *jobs);
    if (!jobs) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCFs of fragments");
    solving s = {f, subsystems, NULL, jobs, dealt ? f->mine : NULL, callbacks, 0.0, 0.0, 0.0};
    const fmo_status status = dealt && f->shares ? solve_own(&s, thresholds, orbitals, err)
                                                 : solve(&s, count, thresholds, orbitals, err);
    if (dealt) return fmo_fragment_share(f, status, fmo_subsystem_blocks, err);
    free(jobs);
    return status;
}
