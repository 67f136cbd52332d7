/* Small molecules of a batch in thread blocks of a GPU: which ones, their preparation by the host
 * (mainly the initial density), and their results. See block.h. */
#include "driver/scf/block/block.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/eri_matrix.h>

#include "driver/base/clock.h"
#include "driver/scf/block/cycles.h"
#include "driver/scf/input.h"
#include "driver/scf/lockstep.h"
#include "driver/scf/tuning.h"

/* Each GPU has WORKERS threads: one prepares molecules while the other waits for the GPU. Each
 * takes a quarter of the molecules at a time, but CHUNK_MIN to CHUNK_MAX. */
enum {
    CHUNK_MIN = fmo_tuning_block_chunk_least,
    CHUNK_MAX = fmo_tuning_block_chunk_max,
    WORKERS = fmo_tuning_block_workers
};

/* Primitive quartets with a bound below this share of the cutoff are neglected: all primitives of
 * an integral together are then below the cutoff. */
static const double prim_share = 1e-3;

/* ---- selection of molecules ------------------------------------------------------------------ */

/* Returns 1 if thread blocks support all options of the batch. */
static int options_allow(const batch *b)
{
    const fmo_scf_options *const o = b->options;
    const fmo_fock_options *const f = &o->fock;
    fmo_mode mode = FMO_MODE_CPU;
    if (o->deal || b->callbacks || o->callback || o->guess != FMO_SCF_GUESS_SAD ||
        o->level_shift != 0.0 || o->gradient_aim > 0.0 || o->solver == FMO_SCF_SOLVER_PURIFY ||
        o->solver == FMO_SCF_SOLVER_NEWTON || o->stability != FMO_SCF_STABILITY_NONE ||
        o->auto_in_fused || f->scatter != FMO_SCATTER_AUTO || f->commit != FMO_COMMIT_NATIVE ||
        f->integrals != FMO_INTEGRALS_AUTO || f->coulomb == FMO_COULOMB_BOXES || f->memory ||
        f->stream || f->ranks || f->progress || f->measure_classes || f->measure_accumulation)
        return 0;
    return fmo_fock_choose_mode(NULL, f, &mode, NULL, NULL) == FMO_OK && mode == FMO_MODE_FUSED &&
           fmo_gpu_available(NULL) == FMO_OK;
}

/* Returns the largest number of functions that all requested GPUs support. */
static int functions_allowed(const fmo_fock_options *f)
{
    int functions = fmo_block_workspace_functions(f->device_num > 0 ? f->devices[0] : f->device);
    for (int k = 1; k < f->device_num; k++) {
        const int own = fmo_block_workspace_functions(f->devices[k]);
        if (own < functions) functions = own;
    }
    return functions;
}

/* Lists the jobs that run in thread blocks, the largest first, in order[count]; returns their
 * number. */
static size_t choose(const batch *b, fmo_scf_sized *order)
{
    const double threads = (double)fmo_fock_threads(b->options->fock.threads);
    double seconds = 0.0;
    size_t num = 0;
    if (!options_allow(b)) return 0;
    const size_t max_functions = (size_t)functions_allowed(&b->options->fock);
    for (size_t k = 0; k < b->count; k++) {
        const fmo_scf_input *const in = &b->jobs[k].input;
        const size_t n = fmo_scf_job_functions(&b->jobs[k]);
        if (!n || n > max_functions || fmo_scf_channels(in, b->options) > 1 || in->projector ||
            in->charge_num || in->core_hamiltonian || !fmo_eri_matrix_can(in->basis))
            continue;
        order[num++] = (fmo_scf_sized){0, n, k};
        seconds += fmo_tuning_block_cpu_seconds * pow((double)n / 13.0, fmo_tuning_block_cpu_power);
    }
    if (num < FMO_BLOCKS_MIN) return 0;
    if (b->options->fock.mode == FMO_MODE_AUTO && seconds / threads < fmo_tuning_block_gpu_begins)
        return 0;
    fmo_scf_batch_sort(order, num);
    return num;
}

/* ---- one molecule ---------------------------------------------------------------------------- */

/* A job of a worker. */
typedef struct block_job {
    size_t number;
    fmo_scf_result *result; /* NULL: the preparation failed */
    fmo_block_outcome outcome;
} block_job;

/* Checks the input of a job, allocates its result and computes the initial density. */
static fmo_status make_ready(const batch *b, const fmo_scf_options *o, block_job *j, fmo_error *err)
{
    const fmo_scf_input *const in = &b->jobs[j->number].input;
    fmo_status status = fmo_scf_check_input(in, o, err);
    if (status != FMO_OK) return status;
    const int n = fmo_basis_ao_num(in->basis);
    const double start = driver_seconds();
    fmo_scf_result *const r = fmo_scf_new_result(n, 1, 0);
    if (!r) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCF of %d functions", n);
    status = fmo_atoms_densities(b->atoms, in->basis, r->density, err);
    r->guess_seconds = driver_seconds() - start;
    if (status == FMO_OK)
        j->result = r;
    else
        fmo_scf_result_destroy(r);
    return status;
}

static fmo_block_task task_of(const fmo_scf_input *in, block_job *j)
{
    fmo_scf_result *const r = j->result;
    return (fmo_block_task){.basis = in->basis,
                            .n = r->nao,
                            .occupied = in->electron_num / 2,
                            .nuclear_repulsion = in->nuclear_repulsion,
                            .field = in->field,
                            .overlap = r->overlap,
                            .core = r->core_hamiltonian,
                            .density = r->density,
                            .fock = r->fock,
                            .coefficient = r->coefficient,
                            .orbital_energy = r->orbital_energy,
                            .outcome = &j->outcome};
}

/* Fills in the result of a converged SCF. */
static void complete(const fmo_scf_input *in, const fmo_scf_options *o, const char *device,
                     double seconds, const block_job *j)
{
    fmo_scf_result *const r = j->result;
    const fmo_block_outcome *const out = &j->outcome;
    const size_t n = (size_t)r->nao;
    r->mo_num = r->nao;
    r->occupied_num = in->electron_num / 2;
    r->overlap_smallest = out->overlap_smallest;
    r->converged = 1;
    r->cycles = r->full_builds = out->cycles;
    r->energy = out->energy;
    r->energy_change = out->energy_change;
    r->gradient = out->gradient;
    r->energy_error = out->energy_error;
    r->two_electron_energy = out->two_electron_energy;
    r->field_energy = fmo_scf_expectation(n * n, r->density, in->field);
    if (fmo_scf_wants_orbitals(o)) {
        for (int k = 0; k < r->occupied_num; k++) r->occupation[k] = 2.0;
        r->homo = r->orbital_energy[r->occupied_num - 1];
        if (r->occupied_num < r->nao) r->lumo = r->orbital_energy[r->occupied_num];
    } else {
        memset(r->coefficient, 0, n * n * sizeof *r->coefficient);
        memset(r->orbital_energy, 0, n * sizeof *r->orbital_energy);
    }
    r->device = 1;
    r->solver = FMO_SCF_SOLVER_DIAGONALISE;
    r->mode = FMO_MODE_FUSED;
    r->fock_profile.mode = FMO_MODE_FUSED;
    r->fock_profile.threads = r->fock_profile.devices = 1;
    r->fock_profile.coulomb = FMO_COULOMB_DIRECT;
    r->fock_profile.far_seconds = NAN;
    snprintf(r->fock_profile.device, sizeof r->fock_profile.device, "%s", device);
    if (o->fock.mode == FMO_MODE_AUTO)
        snprintf(r->fock_profile.mode_reason, sizeof r->fock_profile.mode_reason,
                 "many small molecules, each with a block of the GPU's threads");
    r->fock_seconds = seconds;
    r->seconds = seconds + r->guess_seconds;
    fmo_scf_note_cutoff(o->fock.cutoff, FMO_SCF_CUTOFF_ERROR, 1e-2, r->nao, o->energy_convergence,
                        r->notice, sizeof r->notice);
    fmo_scf_give_verdict(o, r);
}

/* ---- all molecules --------------------------------------------------------------------------- */

/* Data shared by the workers. */
typedef struct block_work {
    batch *b;
    const fmo_scf_options *options;
    fmo_block_settings settings;
    const fmo_scf_sized *order; /* [num] jobs, the largest first */
    size_t num, next;           /* protected by b->lock */
    int workers;
} block_work;

typedef struct block_worker {
    block_work *work;
    int device, started, threads; /* threads: of the host */
    fmo_block_workspace *workspace;
    pthread_t thread;
} block_worker;

/* Takes the next jobs: as many as fit into `bytes`, and few enough to leave some to the other
 * workers. */
static size_t take_jobs(block_work *w, size_t bytes, const fmo_scf_sized **number)
{
    size_t num = 0, sum = 0;
    pthread_mutex_lock(&w->b->lock);
    const size_t left = w->num - w->next, share = w->num / (2 * (size_t)w->workers) + 1;
    const size_t max_chunk = share < CHUNK_MIN ? CHUNK_MIN : share > CHUNK_MAX ? CHUNK_MAX : share;
    *number = w->order + w->next;
    while (num < left && num < max_chunk) {
        sum += fmo_block_task_bytes((int)(*number)[num].functions, w->settings.diis_size);
        if (num && sum > bytes) break;
        num++;
    }
    w->next += num;
    pthread_mutex_unlock(&w->b->lock);
    return num;
}

/* Moves the results of SCFs that have converged to their jobs, and computes the forces if they are
 * requested. */
static void complete_all(const block_worker *own, double seconds, block_job *all, size_t num)
{
    const block_work *const w = own->work;
    const char *const device = fmo_block_workspace_device(own->workspace);
    fmo_scf_job **const done = calloc(num, sizeof(*done));
    size_t done_num = 0;
#pragma omp parallel for num_threads(own->threads) schedule(static)
    for (size_t k = 0; k < num; k++)
        if (all[k].result && all[k].outcome.converged)
            complete(&w->b->jobs[all[k].number].input, w->options, device, seconds, &all[k]);
    for (size_t k = 0; k < num; k++) {
        if (!all[k].result || !all[k].outcome.converged) continue;
        fmo_scf_job *const job = &w->b->jobs[all[k].number];
        job->result = all[k].result;
        all[k].result = NULL;
        if (done) done[done_num++] = job;
    }
    if (w->options->forces && done) /* without memory they follow one by one */
        fmo_scf_add_forces_of_all(done, done_num, w->options, own->device, own->threads);
    free(done);
}

/* Ends the jobs that have converged or failed; the others are left to batch.c. */
static void end_jobs(const block_worker *own, double seconds, block_job *all, size_t num)
{
    batch *const b = own->work->b;
    complete_all(own, seconds, all, num);
    for (size_t k = 0; k < num; k++) {
        fmo_scf_job *const job = &b->jobs[all[k].number];
        const int short_of_memory = job->status == FMO_ERR_MEMORY;
        if (short_of_memory || all[k].result) {
            fmo_scf_result_destroy(all[k].result);
            continue;
        }
        b->done[all[k].number] = 1;
        fmo_scf_batch_note_end(b, all[k].number, 0);
    }
}

/* Prepares jobs, runs them on the GPU and hands over their results. */
static void run_jobs(const block_worker *own, const fmo_scf_sized *number, size_t num)
{
    const block_work *const w = own->work;
    batch *const b = w->b;
    block_job *const all = calloc(num, sizeof *all);
    fmo_block_task *const task = calloc(num, sizeof *task);
    size_t tasks = 0;
    if (!all || !task) {
        free(all);
        free(task);
        return;
    }
#pragma omp parallel for num_threads(own->threads) schedule(dynamic, 16)
    for (size_t k = 0; k < num; k++) {
        fmo_scf_job *const job = &b->jobs[number[k].job];
        all[k].number = number[k].job;
        job->status = make_ready(b, w->options, &all[k], &job->err);
    }
    for (size_t k = 0; k < num; k++)
        if (all[k].result) task[tasks++] = task_of(&b->jobs[all[k].number].input, &all[k]);
    const double start = driver_seconds();
    if (tasks &&
        fmo_block_workspace_run(own->workspace, task, tasks, &w->settings,
                                prim_share * w->options->fock.cutoff, own->threads, NULL) != FMO_OK)
        for (size_t k = 0; k < num; k++)
            all[k].outcome.converged = 0; /* batch.c runs them again and reports errors */
    const double seconds = tasks ? (driver_seconds() - start) / (double)tasks : 0.0;
    end_jobs(own, seconds, all, num);
    free(all);
    free(task);
}

/* Thread function: opens a workspace and runs jobs until none are left. */
static void *work_in_workspace(void *user)
{
    block_worker *const own = user;
    block_work *const w = own->work;
    const int all = fmo_fock_threads(w->options->fock.threads);
    const int before = omp_get_max_threads();
    const fmo_scf_sized *number = NULL;
    own->threads = all > w->workers ? all / w->workers : 1;
    if (fmo_block_workspace_open(own->device, &own->workspace, NULL) != FMO_OK) return NULL;
    omp_set_num_threads(own->threads); /* for this POSIX thread only: integrals query OpenMP */
    const size_t bytes = fmo_block_workspace_bytes(own->workspace);
    for (size_t num = take_jobs(w, bytes, &number); num; num = take_jobs(w, bytes, &number))
        run_jobs(own, number, num);
    fmo_block_workspace_close(own->workspace);
    omp_set_num_threads(before);
    return NULL;
}

/* The threshold of the orbital gradient, which includes that of forces. */
static double gradient_threshold(const fmo_scf_options *o)
{
    return o->forces ? fmin(o->gradient_convergence, fmo_scf_aim(o)) : o->gradient_convergence;
}

/* Chooses the jobs and runs them in WORKERS threads per GPU. */
void fmo_blocks_run(batch *b)
{
    const fmo_scf_options *const o = b->options;
    const fmo_fock_options *const fock = &o->fock;
    /* a number out of range is refused later, by the first plan */
    const int in_range = fock->device_num >= 0 && fock->device_num <= FMO_DEVICES_MAX;
    const int gpus = in_range && fock->device_num > 1 ? fock->device_num : 1;
    block_worker worker[WORKERS * FMO_DEVICES_MAX];
    fmo_scf_sized *const order = malloc(b->count * sizeof *order);
    block_work w = {.b = b,
                    .options = o,
                    .settings = {.energy_convergence = o->energy_convergence,
                                 .gradient_convergence = gradient_threshold(o),
                                 .linear_dependence = o->linear_dependence,
                                 .diis_size = o->diis_size,
                                 .max_cycles = o->max_cycles},
                    .order = order,
                    .num = order && in_range ? choose(b, order) : 0,
                    .workers = WORKERS * gpus};
    const int device = fock->device >= 0 ? fock->device : fmo_batch_linalg_thread_gpu();
    for (int k = 0; k < w.workers && w.num; k++) {
        worker[k] = (block_worker){.work = &w, .device = device};
        if (fock->device_num > 0) worker[k].device = fock->devices[k % gpus];
        worker[k].started =
            k > 0 && pthread_create(&worker[k].thread, NULL, work_in_workspace, &worker[k]) == 0;
    }
    if (w.num) (void)work_in_workspace(&worker[0]);
    for (int k = 1; k < w.workers && w.num; k++)
        if (worker[k].started) pthread_join(worker[k].thread, NULL);
    free(order);
}
