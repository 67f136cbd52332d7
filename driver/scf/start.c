/* Everything before the first cycle: plan and backend, arrays, one-electron matrices, orthogonal
 * functions, initial density; and the release of the arrays after the last cycle. Called by
 * scf.c. */
#include "base/free_memory.h"
#include "driver/base/clock.h"
#include "driver/scf/input.h"
#include "driver/scf/scf_internal.h"
#include "driver/scf/small.h"
#include "driver/scf/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/one_electron.h>

/* Number of functions from which purification is faster than the eigenproblem on a GPU. */
enum { PURIFY_FROM = fmo_tuning_scf_purify_from };

const char fmo_scf_quick_on_cpu_reason[] = "too few functions for a GPU";

int fmo_scf_is_quick_on_cpu(const fmo_fock_options *f, double cubes)
{
    return f->mode == FMO_MODE_AUTO && f->device < 0 && !f->device_num && !f->stream && !f->ranks &&
           f->scatter == FMO_SCATTER_AUTO && f->commit == FMO_COMMIT_NATIVE &&
           cubes <= fmo_tuning_scf_soon_cubes * (double)fmo_fock_threads(f->threads);
}

/* Chooses the mode and records the reason. alone: 1 for a single SCF; a batch has already decided
 * which molecules stay on the CPU. */
static fmo_status choose_mode(const fmo_scf_input *in, int alone, fmo_fock_options *fock,
                              fmo_scf_state *s, fmo_error *err)
{
    const double n = (double)fmo_basis_ao_num(in->basis), cube = n * n * n;
    fmo_status status = FMO_OK;
    if (alone && fmo_scf_is_quick_on_cpu(fock, cube)) {
        fock->mode = FMO_MODE_CPU;
        snprintf(s->mode_reason, sizeof s->mode_reason, "%s", fmo_scf_quick_on_cpu_reason);
    } else {
        status = fmo_fock_choose_mode(in->basis, fock, &fock->mode, s->mode_reason, err);
    }
    return status;
}

/* Opens the backend of the mode, and makes a plan. */
static fmo_status open_own(const fmo_scf_input *in, fmo_fock_options fock, fmo_scf_state *s,
                           fmo_scf_result *r, fmo_error *err)
{
    fmo_status status;
    const int threads = fmo_fock_threads(fock.threads);
    /* `fixed` promises results that do not depend on the number of threads; OpenBLAS ensures that
     * only with one thread. */
    const int blas_threads = fock.scatter == FMO_SCATTER_FIXED ? 1 : threads;
    /* Ranks share builds on matrices in host memory. */
    const int ranks = fock.ranks && fock.ranks->size > 1;
    if (fock.mode == FMO_MODE_FUSED && fmo_gpu_available(NULL) == FMO_OK)
        status = fmo_linalg_open_gpu(fock.device_num > 0 ? fock.devices[0] : fock.device,
                                     &fock.stream, &s->la, err);
    else if (s->n <= FMO_SMALL_MAX || (status = fmo_check_blas_memory(blas_threads, err)) == FMO_OK)
        status = fmo_linalg_open_cpu(blas_threads, &s->la, err);
    if (status == FMO_OK && ranks) s->la->host_functions = s->n;
    const double start = driver_seconds();
    if (status == FMO_OK) status = fmo_fock_plan_create(in->basis, &fock, &s->plan, err);
    r->plan_seconds = driver_seconds() - start;
    return status;
}

/* Chooses the mode, takes the shared backend and plan or opens its own, and chooses the solver. */
fmo_status fmo_scf_open(const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_shared *shared, fmo_scf_state *s, fmo_scf_result *r,
                        fmo_error *err)
{
    fmo_fock_options fock = o->fock;
    fmo_status status = choose_mode(in, !shared->atoms, &fock, s, err);
    if (status != FMO_OK) return status;
    fock.integrals = fmo_scf_integrals(o, fock.mode);
    if (shared->la)
        r->plan_seconds = shared->plan_seconds;
    else
        status = open_own(in, fock, s, r, err);
    r->mode = fock.mode;
    s->threads = fmo_fock_threads(fock.threads);
    s->devices = fock.mode != FMO_MODE_FUSED ? 0 : fock.device_num > 1 ? fock.device_num : 1;
    if (status != FMO_OK) return status;
    r->device = s->la->ops->on_device;
    s->solver = o->solver;
    if (s->solver == FMO_SCF_SOLVER_AUTO)
        s->solver =
            r->device && s->n >= PURIFY_FROM ? FMO_SCF_SOLVER_PURIFY : FMO_SCF_SOLVER_DIAGONALISE;
    return FMO_OK;
}

/* Aligns the arrays of the state as separate allocations would be. */
static size_t padded(size_t count)
{
    const size_t line = 32; /* doubles, 256 bytes */
    return (count + line - 1) / line * line;
}

/* Allocates all arrays of the state at once. */
void fmo_scf_allocate(fmo_scf_state *s, int diis_size)
{
    if (diis_size < FMO_SCF_HISTORY_MIN) diis_size = FMO_SCF_HISTORY_MIN;
    const size_t size = (size_t)s->n * (size_t)s->n, all_of = (size_t)s->channels * size;
    const size_t past = (size_t)diis_size * all_of;
    const size_t past_one = (size_t)diis_size * size;
    const struct {
        double **array;
        size_t count;
    } all[] = {{&s->X, size},
               {&s->density, all_of},
               {&s->built_density, all_of},
               {&s->fock, all_of},
               {&s->coulomb, size},
               {&s->work, size},
               {&s->work2, size},
               {&s->exchange, all_of},
               {&s->density_o, all_of},
               {&s->orbitals, all_of},
               {&s->core, 3 * all_of},
               {&s->history_fock, past},
               {&s->history_error, s->restricted ? past_one : past},
               {&s->history_density, past},
               {&s->history_effective, s->restricted ? past : 0}};
    size_t total = 0, at = 0;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) total += padded(all[k].count);
    s->memory = s->la->ops->allocate(s->la, total);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; at += padded(all[k++].count))
        *all[k].array = s->memory ? s->memory + at : NULL;
    s->fock_2e = s->memory ? s->core + size : NULL;
    s->change = s->memory ? s->fock_2e + size : NULL;
}

void fmo_scf_release(fmo_scf_state *s)
{
    if (!s->la) return;
    s->la->ops->release(s->la, s->memory);
    fmo_scf_release_projected(s);
}

/* Copies the core Hamiltonian without the field, or computes it. */
static fmo_status core_hamiltonian(const fmo_scf_input *in, size_t size, double *H, fmo_error *err)
{
    if (in->core_hamiltonian) {
        memcpy(H, in->core_hamiltonian, size * sizeof *H);
        return FMO_OK;
    }
    double *V = malloc(size * sizeof *V);
    if (!V) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the core Hamiltonian");
    fmo_status status = fmo_kinetic(in->basis, H, err);
    if (status == FMO_OK) status = fmo_nuclear_attraction(in->basis, V, err);
    for (size_t i = 0; i < size && status == FMO_OK; i++) H[i] += V[i];
    free(V);
    return status;
}

void fmo_scf_add_matrix(size_t n, const double *M, double *H)
{
    for (size_t i = 0; M && i < n; i++)
        for (size_t j = 0; j < n; j++) H[i * n + j] += 0.5 * (M[i * n + j] + M[j * n + i]);
}

/* Adds the potential of the point charges. */
static fmo_status add_charges(const fmo_scf_input *in, size_t n, double *H, fmo_error *err)
{
    double *V = malloc(n * n * sizeof *V);
    if (!V) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the field of point charges");
    const fmo_status status =
        fmo_charge_attraction(in->basis, in->charge_num, in->charge, in->charge_coord, V, err);
    if (status == FMO_OK) fmo_scf_add_matrix(n, V, H);
    free(V);
    return status;
}

/* Arguments of functions that run on the host. */
typedef struct host_work {
    const fmo_scf_input *in;
    fmo_atoms *atoms;
    fmo_scf_result *r;
    const double *overlap; /* may be NULL */
    fmo_status status;
    fmo_error err;
} host_work;

static void one_electron(void *user)
{
    host_work *const w = user;
    const fmo_scf_input *const in = w->in;
    const size_t n = (size_t)w->r->nao;
    double *const H = w->r->core_hamiltonian;
    if (!w->overlap)
        w->status = fmo_overlap(in->basis, w->r->overlap, &w->err);
    else if (w->overlap != w->r->overlap)
        memcpy(w->r->overlap, w->overlap, n * n * sizeof *w->overlap);
    if (w->status == FMO_OK) w->status = core_hamiltonian(in, n * n, H, &w->err);
    if (w->status == FMO_OK && in->charge_num) w->status = add_charges(in, n, H, &w->err);
    if (w->status != FMO_OK) return;
    fmo_scf_add_matrix(n, in->field, H);
}

fmo_status fmo_scf_one_electron(fmo_scf_state *s, const fmo_scf_input *in, const double *overlap,
                                fmo_scf_result *r, fmo_error *err)
{
    host_work w = {.in = in, .r = r, .overlap = overlap};
    s->la->ops->on_host(s->la, one_electron, &w);
    return w.status == FMO_OK ? FMO_OK : fmo_error_set(err, w.status, "%s", w.err.message);
}

/* Writes the superposition of atomic densities into r->density. */
static void atomic_densities(void *user)
{
    host_work *const w = user;
    w->status = w->atoms ? fmo_atoms_densities(w->atoms, w->in->basis, w->r->density, &w->err)
                         : fmo_scf_atomic_densities(w->in->basis, w->r->density, &w->err);
}

/* Computes X with X^T S X = 1. X is the inverse Cholesky factor if that proves that nothing has to
 * be dropped: the smallest eigenvalue is at least 1 / ||U^-1||_F^2. Otherwise canonical
 * orthogonalisation: eigenvectors over the roots of their eigenvalues, without those of small
 * eigenvalues. */
fmo_status fmo_scf_orthogonalise(fmo_scf_state *s, fmo_scf_result *r, double threshold,
                                 fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t n = (size_t)s->n;
    double *value = malloc(n * sizeof *value), square = NAN;
    if (!value) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    op->upload(s->la, n * n, r->overlap, s->exchange); /* stays there until the first build */
    op->add(s->la, n * n, 1.0, s->exchange, 0.0, s->X);
    if (op->inverse_cholesky(s->la, s->n, s->X)) op->dots(s->la, n * n, 1, s->X, s->X, &square);
    r->overlap_smallest = 1.0 / square;
    s->m = s->n;
    if (!(r->overlap_smallest > threshold)) {
        op->add(s->la, n * n, 1.0, s->exchange, 0.0, s->work);
        op->fold(s->la, s->n, 0.5, 1.0, s->work);
        op->eigen(s->la, s->n, s->work, value);
        r->overlap_smallest = value[0];
        while (r->dropped < s->n && !(value[r->dropped] > threshold)) r->dropped++;
        s->m = s->n - r->dropped;
        for (int k = r->dropped; k < s->n; k++) value[k] = 1.0 / sqrt(value[k]);
        op->add(s->la, n * (size_t)s->m, 1.0, s->work + n * (size_t)r->dropped, 0.0, s->X);
        op->scale_columns(s->la, s->n, s->m, value + r->dropped, s->X);
    }
    free(value);
    if (s->la->error.status == FMO_OK && s->occupied[0] > s->m)
        return fmo_error_set(
            err, FMO_ERR_INPUT,
            "%d electrons do not fit into the %d linearly independent functions "
            "of %d: choose a larger basis or a lower multiplicity",
            s->channels == 1 ? 2 * s->occupied[0] : s->occupied[0] + s->occupied[1], s->m, s->n);
    return FMO_OK;
}

/* Transforms the densities of all channels from density to density_o: X^-1 D X^-T = X^T S D S X; S
 * was left in s->exchange by fmo_scf_orthogonalise. */
static void density_to_orthogonal(fmo_scf_state *s)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    for (size_t c = 0; c < (size_t)s->channels; c++) {
        op->fold(s->la, s->n, 0.5, 1.0, s->density + c * nn);
        op->multiply(s->la, 1.0, fmo_matrix_of(s->density + c * nn, s->n, s->n),
                     fmo_matrix_of(s->exchange, s->n, s->n), 0.0, s->work2);
        op->multiply(s->la, 1.0, fmo_matrix_of(s->exchange, s->n, s->n),
                     fmo_matrix_of(s->work2, s->n, s->n), 0.0, s->coulomb);
        fmo_scf_to_orthogonal(s, s->coulomb, s->density_o + c * mm);
    }
}

/* Rotates the highest occupied and the lowest virtual orbital of each channel by 45 degrees into
 * each other, with opposite signs for the two spins, where both spins have the same orbitals. The
 * orbitals are those of the last diagonalisation. */
static void mix_frontier(fmo_scf_state *s)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t m = (size_t)s->m, mm = m * m;
    for (size_t c = 0; c < (size_t)s->channels; c++) {
        const size_t occupied = (size_t)s->occupied[c];
        double *const C = s->history_fock + c * mm;
        if (occupied == 0 || occupied == m) continue;
        double *const homo = C + (occupied - 1) * m;
        op->add(s->la, m, c == 0 ? 1.0 : -1.0, homo + m, 1.0, homo);
        op->add(s->la, m, 0.0, homo, sqrt(0.5), homo);
        op->multiply(s->la, 2.0, fmo_matrix_of(C, s->m, (int)occupied),
                     fmo_transpose_of(C, s->m, (int)occupied), 0.0, s->density_o + c * mm);
        op->fold(s->la, s->m, 0.5, 1.0, s->density_o + c * mm);
    }
    fmo_scf_density_from_orthogonal(s);
}

/* Computes the first density from the orbitals of Fock matrices, those of H or of the density of
 * atoms, and breaks its symmetry if that is requested. */
static void density_of_orbitals(fmo_scf_state *s, const fmo_scf_options *o)
{
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    const fmo_scf_solver solver = s->solver;
    const double *const F = o->guess == FMO_SCF_GUESS_CORE ? NULL : s->fock;
    if (o->guess_mix) s->solver = FMO_SCF_SOLVER_DIAGONALISE; /* orbitals are needed */
    for (size_t c = 0; c < (size_t)s->channels; c++)
        fmo_scf_fock_to_orthogonal(s, F ? F + c * nn : s->core, s->history_fock + c * mm);
    fmo_scf_solve(s, s->history_fock, s->density_o);
    fmo_scf_density_from_orthogonal(s);
    if (o->guess_mix) mix_frontier(s);
    s->solver = solver;
}

/* Splits the density among two channels: each spin has its share of that of the atoms, or D + S and
 * D - S of the input's density and spin density. */
static void split_by_spin(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                          fmo_scf_result *r)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const double electrons = s->occupied[0] + s->occupied[1];
    const double *const S = o->guess == FMO_SCF_GUESS_READ ? in->spin_density : NULL;
    if (S) memcpy(r->spin_density, S, size * sizeof *S);
    for (int c = 0; c < s->channels; c++) {
        double *const D = s->density + (size_t)c * size;
        op->upload(s->la, size, r->density, D);
        if (S) {
            op->upload(s->la, size, r->spin_density, s->work);
            op->add(s->la, size, c == 0 ? 1.0 : -1.0, s->work, 1.0, D);
        } else {
            op->add(s->la, size, 0.0, D, 2.0 * s->occupied[c] / electrons, D);
        }
    }
}

/* Computes the initial density in the AO basis and in the orthogonal basis. */
fmo_status fmo_scf_first_density(fmo_scf_state *s, const fmo_scf_input *in,
                                 const fmo_scf_options *o, fmo_atoms *atoms, fmo_scf_result *r,
                                 fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    if (o->guess == FMO_SCF_GUESS_CORE) {
        density_of_orbitals(s, o);
        return FMO_OK;
    }
    host_work w = {.in = in, .atoms = atoms, .r = r};
    if (o->guess == FMO_SCF_GUESS_SAD)
        op->on_host(s->la, atomic_densities, &w);
    else
        memcpy(r->density, in->density, size * sizeof *r->density);
    if (w.status != FMO_OK) return fmo_error_set(err, w.status, "%s", w.err.message);
    if (s->channels == 1)
        op->upload(s->la, size, r->density, s->density);
    else
        split_by_spin(s, in, o, r);
    density_to_orthogonal(s);
    if (o->guess_mix && s->channels > 1) {
        s->cutoff = o->fock.cutoff;
        (void)fmo_scf_build(s, FMO_SCF_FULL);
        density_of_orbitals(s, o);
    }
    return FMO_OK;
}

/* ---- cache ----------------------------------------------------------------------------------- */

enum { OVERLAP, PROJECTOR, DENSITY, MATRICES };

static size_t matrix_bytes(int n)
{
    return (size_t)n * (size_t)n * sizeof(double);
}

static double *matrix(const fmo_scf_cache *cache, int which)
{
    return cache->host + (size_t)which * (size_t)cache->state.n * (size_t)cache->state.n;
}

/* 1 if a matrix is equal to the cached one, bit for bit. */
static int is_same(const double *now, const double *before, size_t bytes)
{
    return now && memcmp(now, before, bytes) == 0;
}

void fmo_scf_free_cached(fmo_scf_cache *cache)
{
    free(cache->host);
    *cache = (fmo_scf_cache){0};
}

/* Moves the cached state into *s if molecule, projector and the relevant options are the same. */
int fmo_scf_take_cached(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        fmo_scf_cache *cache, fmo_scf_result *r)
{
    const fmo_scf_state *const from = &cache->state;
    const size_t bytes = matrix_bytes(s->n);
    if (!cache->host || from->n != s->n || s->channels > 1 || from->occupied[0] != s->occupied[0] ||
        cache->diis_size != o->diis_size || cache->linear_dependence != o->linear_dependence ||
        (in->projector ? !is_same(in->projector, matrix(cache, PROJECTOR), bytes)
                       : from->projected.num > 0))
        return 0;
    memcpy(r->overlap, matrix(cache, OVERLAP), bytes);
    r->dropped = cache->dropped;
    r->overlap_smallest = cache->overlap_smallest;
    fmo_scf_state now = *from;
    now.la = s->la;
    now.plan = s->plan;
    now.job = s->job;
    now.solver = s->solver;
    now.devices = s->devices;
    memcpy(now.mode_reason, s->mode_reason, sizeof now.mode_reason);
    now.nuclear_repulsion = s->nuclear_repulsion;
    now.orbital_energy = s->orbital_energy;
    now.fock_seconds = now.solve_seconds = 0.0;
    now.descended = now.builds = 0;
    now.fock_2e_known =
        o->guess == FMO_SCF_GUESS_READ && is_same(in->density, matrix(cache, DENSITY), bytes);
    *s = now;
    fmo_scf_free_cached(cache); /* the arrays belong to the SCF again */
    return 1;
}

/* Copies the state and the matrices that identify it into the cache. */
int fmo_scf_cache_state(const fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_result *r, fmo_scf_cache *cache)
{
    const size_t bytes = matrix_bytes(s->n);
    *cache = (fmo_scf_cache){.host = malloc(MATRICES * bytes),
                             .state = *s,
                             .diis_size = o->diis_size,
                             .dropped = r->dropped,
                             .linear_dependence = o->linear_dependence,
                             .overlap_smallest = r->overlap_smallest};
    if (!cache->host) {
        *cache = (fmo_scf_cache){0};
        return 0;
    }
    memcpy(matrix(cache, OVERLAP), r->overlap, bytes);
    if (in->projector)
        memcpy(matrix(cache, PROJECTOR), in->projector, bytes);
    else
        memset(matrix(cache, PROJECTOR), 0, bytes);
    memcpy(matrix(cache, DENSITY), r->density, bytes);
    return 1;
}
