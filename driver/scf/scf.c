/* Runs one RHF calculation on the matrices of a backend (linalg.h). The steps are in settings.c,
 * start.c, iterate.c, descent.c and result.c. */
#include "driver/base/checkgoto.h"
#include "driver/base/clock.h"
#include "driver/scf/criteria.h"
#include "driver/scf/cutoff.h"
#include "driver/scf/normalise.h"
#include "driver/scf/scf_internal.h"
#include "base/arguments.h"

#include <math.h>
#include <stdlib.h>

/* Calls options.begun with what is known before the first build. */
static void begin(const fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r)
{
    fmo_scf_take_profile(s, r);
    r->fock_profile.threads = s->threads;
    r->fock_profile.ranks = o->fock.ranks ? o->fock.ranks->size : 1;
    o->begun(r, o->user);
}

/* Work of the host before the backend is used: checks the input and allocates the result. */
typedef struct preparation {
    const fmo_scf_input *input;
    const fmo_scf_options *options;
    fmo_scf_result *result;
    fmo_status status;
    fmo_error err;
} preparation;

static void prepare(void *user)
{
    preparation *const p = user;
    p->status = fmo_scf_check_input(p->input, p->options, &p->err);
    if (p->status != FMO_OK) return;
    const int n = fmo_basis_ao_num(p->input->basis);
    p->result = fmo_scf_new_result(n);
    if (!p->result)
        p->status =
            fmo_error_set(&p->err, FMO_ERR_MEMORY, "no memory for the SCF of %d functions", n);
}

/* Arguments of a function that reads or writes the cache on the host. */
typedef struct keeping {
    fmo_scf_state *s;
    const fmo_scf_input *input;
    const fmo_scf_options *options;
    fmo_scf_cache *kept;
    fmo_scf_result *result;
    int done;
} keeping;

static void take_kept(void *user)
{
    keeping *const k = user;
    k->done = fmo_scf_take_cached(k->s, k->input, k->options, k->kept, k->result);
}

static void keep(void *user)
{
    keeping *const k = user;
    k->done = fmo_scf_cache_state(k->s, k->input, k->options, k->result, k->kept);
}

/* Runs an SCF step by step: check and open, one-electron matrices and orthogonalisation (or the
 * cached state), initial density, cycles, stability, result; then releases or caches everything,
 * also after an error. shared: what a batch provides, all zero for a single molecule. */
fmo_status fmo_scf_run_one(const char *call, const fmo_scf_input *input,
                           const fmo_scf_options *options, const fmo_scf_shared *shared,
                           fmo_scf_result **result, fmo_error *err)
{
    const double start = driver_seconds();
    fmo_scf_options defaults, followed;
    fmo_scf_state s = {.job = shared->job, .la = shared->la, .plan = shared->plan, .gap = INFINITY};
    fmo_scf_result *r = NULL;
    keeping k = {.s = &s, .kept = shared->kept};
    double lap;
    if (result) *result = NULL;
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(input), FMO_GIVEN(result));
    if (status == FMO_OK) status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(input->basis));
    fmo_scf_options_init(&defaults);
    const fmo_scf_options *o = options ? options : &defaults;
    CHECKGOTO(status);
    preparation p = {.input = input, .options = o};
    if (s.la)
        s.la->ops->on_host(s.la, prepare, &p);
    else
        prepare(&p);
    r = p.result;
    if (p.status != FMO_OK) status = fmo_error_set(err, p.status, "%s", p.err.message);
    CHECKGOTO(status);
    if (s.la) CHECKGOTO(s.la->error.status); /* there was no memory for the request itself */
    s.n = fmo_basis_ao_num(input->basis);
    s.occupied = input->electron_num / 2;
    s.nuclear_repulsion = input->nuclear_repulsion;
    s.orbital_energy = malloc((size_t)s.n * sizeof *s.orbital_energy);
    if (!s.orbital_energy) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCF of %d functions", s.n);
        goto done;
    }
    r->occupied_num = s.occupied;
    fmo_scf_note_cutoff(o->fock.cutoff, FMO_SCF_CUTOFF_ERROR, 1e-2, s.n, o->energy_convergence,
                        r->notice, sizeof r->notice);
    CHECKGOTO(fmo_scf_open(input, o, shared, &s, r, err));
    if (o->begun) begin(&s, o, r);
    k.input = input;
    k.options = o;
    k.result = r;
    if (k.kept) s.la->ops->on_host(s.la, take_kept, &k);
    if (k.kept && !k.done) { /* the cached state belongs to another input */
        s.la->ops->release(s.la, k.kept->state.memory);
        s.la->ops->release(s.la, k.kept->state.projected.memory);
        fmo_scf_forget_cached(k.kept);
    }
    s.keeps = k.kept != NULL;
    lap = driver_seconds();
    CHECKGOTO(fmo_scf_one_electron(&s, input, k.done ? r->overlap : shared->overlap, r, err));
    r->one_electron_seconds = driver_seconds() - lap;
    if (k.done && !s.known) {
        s.la->ops->upload(s.la, (size_t)s.n * (size_t)s.n, r->overlap, s.exchange);
    } else if (!k.done) {
        fmo_scf_allocate(&s, o->diis_size);
        CHECKGOTO(s.la->error.status);
        CHECKGOTO(fmo_scf_orthogonalise(&s, r, o->linear_dependence, err));
        CHECKGOTO(fmo_scf_project_out(&s, input, err));
    }
    if (!s.projected.num) fmo_scf_add_matrix((size_t)s.n, input->projector, r->core_hamiltonian);
    if (input->projector && !s.projected.separate) s.solver = FMO_SCF_SOLVER_DIAGONALISE;
    r->solver = s.solver;
    s.la->ops->upload(s.la, (size_t)s.n * (size_t)s.n, r->core_hamiltonian, s.core);
    lap = driver_seconds();
    if (!s.known) CHECKGOTO(fmo_scf_first_density(&s, input, o, shared->atoms, r, err));
    r->guess_seconds = driver_seconds() - lap;
    s.solve_seconds = 0.0;
    CHECKGOTO(s.la->error.status);
    status = fmo_scf_converge(&s, o, 0, r, err);
    CHECKGOTO(s.la->error.status);
    if (status == FMO_OK) {
        if (fmo_scf_wants_orbitals(o) || s.gap - o->level_shift < FMO_SCF_SMALL_GAP)
            fmo_scf_canonical_orbitals(&s);
        if (o->stability == FMO_SCF_STABILITY_NONE && s.gap < FMO_SCF_SMALL_GAP) {
            followed = *o;
            followed.stability = FMO_SCF_STABILITY_FOLLOW;
            o = &followed;
        }
        if (o->stability != FMO_SCF_STABILITY_NONE) status = fmo_scf_stabilise(&s, o, r, err);
    }
    CHECKGOTO(s.la->error.status);
    fmo_scf_collect(&s, input, o, r);
    fmo_scf_give_verdict(o, r);
    if (!r->converged || fmo_scf_stays_unstable(o, r))
        status = fmo_error_set(err, FMO_ERR_CHECK, "SCF %s", r->verdict);
done:
    if (s.la && s.la->error.status != FMO_OK) {
        status = s.la->error.status;
        fmo_error_set(err, status, "%s", s.la->error.message);
    }
    if (s.la) s.la->ops->finish(s.la); /* waits for builds of the plan */
    if (k.kept && status == FMO_OK && s.la->error.status == FMO_OK &&
        o->stability == FMO_SCF_STABILITY_NONE) {
        k.done = 0;
        s.la->ops->on_host(s.la, keep, &k);
        if (k.done) s.memory = s.projected.memory = NULL; /* they now belong to the cache */
    }
    fmo_scf_release(&s);
    if (!shared->plan_cached) fmo_fock_plan_destroy(s.plan);
    if (s.la) s.la->ops->close(s.la);
    free(s.orbital_energy);
    if (r) {
        r->fock_seconds = s.fock_seconds;
        r->solve_seconds = s.solve_seconds;
        r->seconds = driver_seconds() - start;
    }
    if (status == FMO_OK || (status == FMO_ERR_CHECK && r && r->verdict[0]))
        *result = r;
    else
        fmo_scf_result_destroy(r);
    return status;
}

fmo_status fmo_scf_run(const fmo_scf_input *input, const fmo_scf_options *options,
                       fmo_scf_result **result, fmo_error *err)
{
    const fmo_scf_shared alone = {0};
    fmo_scf_options defaults;
    fmo_scf_normal normal;
    if (result) *result = NULL;
    fmo_scf_options_init(&defaults);
    fmo_status status = fmo_scf_normalise(input, options ? options : &defaults, &normal, err);
    if (status != FMO_OK) return status;
    status =
        fmo_scf_run_one("fmo_scf_run", input ? &normal.input : NULL, options, &alone, result, err);
    if (result) fmo_scf_from_normal(&normal, *result);
    fmo_scf_normal_free(&normal);
    return status;
}
