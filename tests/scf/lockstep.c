/* SCFs in lockstep (driver/scf/lockstep.h) against single ones: with the host's executor bit for
 * bit, with that of a GPU (argument "fused") to rounding. Molecules of several sizes, guesses,
 * shifts, stability, Newton steps, forces; some fail: bad input, too few cycles, no memory for a
 * plan. Links internal functions. */
#include "driver/scf/lockstep.h"

#include <fmo/one_electron.h>
#include <string.h>

#include "tests/support/shipped.h"

enum { NAMES = 8, KINDS = 8, PROJECTED = 6, MAX = 240 };
static const char *const names[NAMES] = {"he_sto-3g", "h2o_6-31g",   "hehp_sto-3g",
                                         "n2_3-21g",  "h2o8_sto-3g", "ch2o_6-31g_sph",
                                         "he2_6-31g", "h4_sto-3g"};
static int on_gpu;

typedef struct kind {
    fmo_scf_options options;
    const char *what;
} kind;

/* The options of each kind of SCF that the batch mixes. */
static void make_kinds(kind *kinds)
{
    static const char *const what[KINDS] = {
        "forces",        "core guess, shift", "diagonalise",           "stability",
        "density given", "too few cycles",    "orbital projected out", "newton"};
    for (int k = 0; k < KINDS; k++) {
        fmo_scf_options *const o = &kinds[k].options;
        fmo_scf_options_init(o);
        o->fock.mode = on_gpu ? FMO_MODE_FUSED : FMO_MODE_CPU;
        o->fock.threads = 1;
        kinds[k].what = what[k];
    }
    kinds[0].options.forces = 1;
    kinds[1].options.guess = FMO_SCF_GUESS_CORE;
    kinds[1].options.level_shift = 0.2;
    kinds[2].options.solver = FMO_SCF_SOLVER_DIAGONALISE;
    kinds[2].options.diis_size = 3;
    kinds[2].options.linear_dependence = 0.05; /* leaves some functions out */
    kinds[3].options.stability = FMO_SCF_STABILITY_FOLLOW;
    kinds[3].options.solver = FMO_SCF_SOLVER_PURIFY;
    kinds[3].options.forces = 1;
    kinds[4].options.guess = FMO_SCF_GUESS_READ;
    kinds[5].options.max_cycles = 2;
    kinds[PROJECTED].options.solver = FMO_SCF_SOLVER_PURIFY;
    kinds[7].options.solver = FMO_SCF_SOLVER_NEWTON;
}

typedef struct ended {
    int num[MAX];
} ended;

static void note(fmo_lockstep_job *job, void *user)
{
    ended *const e = user;
    e->num[job->shared.job]++;
}

static int same_numbers(const double *a, const double *b, size_t num, double tolerance)
{
    if (!on_gpu) return memcmp(a, b, num * sizeof *a) == 0;
    for (size_t k = 0; k < num; k++)
        if (!(fabs(a[k] - b[k]) <= tolerance)) return 0;
    return 1;
}

/* A result against that of the same SCF alone. */
static void check_result(const char *what, const fmo_lockstep_job *job, fmo_status status,
                         const fmo_error *err, const fmo_scf_result *alone)
{
    const fmo_scf_result *const r = job->result;
    CHECK(job->status == status, "%s: status %d, alone %d: %s, alone %s", what, job->status, status,
          job->err.message, err->message);
    if (!on_gpu)
        CHECK(strcmp(job->err.message, err->message) == 0, "%s: %s, alone %s", what,
              job->err.message, err->message);
    CHECK(!r == !alone, "%s: only one has a result", what);
    if (!r || !alone) return;
    const size_t n = (size_t)r->nao;
    const int sure = alone->converged; /* bits of a GPU are not compared after two cycles */
    CHECK(r->converged == alone->converged && (on_gpu || r->cycles == alone->cycles),
          "%s: %d cycles, alone %d", what, r->cycles, alone->cycles);
    CHECK(same_numbers(&r->energy, &alone->energy, 1, sure ? 1e-9 : 1e-6),
          "%s: energy %.12f, alone %.12f", what, r->energy, alone->energy);
    CHECK(same_numbers(r->density, alone->density, n * n, 1e-4), "%s: another density", what);
    CHECK(same_numbers(r->orbital_energy, alone->orbital_energy, (size_t)r->mo_num, 1e-4),
          "%s: other orbital energies", what);
    CHECK(r->solver == alone->solver && r->solver != FMO_SCF_SOLVER_AUTO, "%s: solver %d, alone %d",
          what, (int)r->solver, (int)alone->solver);
    if (job->input->projector && n > 1)
        CHECK(r->solver == FMO_SCF_SOLVER_PURIFY, "%s: solver %d", what, (int)r->solver);
    CHECK(same_numbers(&r->projector_energy, &alone->projector_energy, 1, 1e-9),
          "%s: tr D P %g, alone %g", what, r->projector_energy, alone->projector_energy);
    CHECK(same_numbers(r->overlap, alone->overlap, n * n, 0.0), "%s: another overlap", what);
    CHECK(r->nucleus_num == alone->nucleus_num && !r->nuclear_gradient == !alone->nuclear_gradient,
          "%s: forces on %d nuclei, alone %d", what, r->nucleus_num, alone->nucleus_num);
    if (alone->nuclear_gradient && r->nuclear_gradient)
        CHECK(same_numbers(r->nuclear_gradient, alone->nuclear_gradient,
                           3 * (size_t)alone->nucleus_num, 1e-6),
              "%s: other forces", what);
    if (!isnan(alone->hessian_lowest))
        CHECK(same_numbers(&r->hessian_lowest, &alone->hessian_lowest, 1, 1e-3),
              "%s: lowest %g, alone %g", what, r->hessian_lowest, alone->hessian_lowest);
}

/* 1e6 S|f><f|S of the first function, normalised. */
static double *project_first(const fmo_basis *basis)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const S = malloc(n * n * sizeof *S), *const P = malloc(n * n * sizeof *P);
    CHECK(fmo_overlap(basis, S, NULL) == FMO_OK, "no overlap");
    for (size_t i = 0; i < n * n; i++) P[i] = 1e6 * S[i / n] * S[i % n] / S[0];
    free(S);
    return P;
}

/* `num` SCFs, among them some that fail; threads of the host. */
static void check_lockstep(fmo_dataset *const *dataset, size_t num, int threads)
{
    static kind kinds[KINDS];
    static fmo_lockstep_job jobs[MAX];
    static fmo_scf_input input[MAX];
    static ended finished;
    static double *projector[MAX];
    fmo_error err = {FMO_OK, ""};
    fmo_batch_linalg *executor = NULL;
    fmo_atoms *atoms = NULL;
    make_kinds(kinds);
    memset(jobs, 0, sizeof jobs);
    memset(&finished, 0, sizeof finished);
    CHECK(fmo_atoms_create(&atoms, &err) == FMO_OK, "%s", err.message);
    const fmo_status opened = on_gpu ? fmo_batch_linalg_open_gpu(-1, threads, &executor, &err)
                                     : fmo_batch_linalg_open_host(threads, &executor, &err);
    CHECK(opened == FMO_OK, "%s", err.message);
    if (opened != FMO_OK) return;
    for (size_t k = 0; k < num; k++) {
        const fmo_dataset *const d = dataset[k % NAMES];
        const fmo_scf_options *const o = &kinds[k / NAMES % KINDS].options;
        const fmo_basis *const basis = fmo_dataset_basis(d);
        fmo_fock_options fock = o->fock;
        input[k] = (fmo_scf_input){.basis = basis,
                                   .electron_num = fmo_dataset_electron_num(d),
                                   .nuclear_repulsion = fmo_dataset_nuclear_repulsion(d),
                                   .density = fmo_dataset_density(d)};
        double *P = NULL;
        if (k / NAMES % KINDS == PROJECTED) {
            input[k].projector = P = project_first(basis);
            input[k].electron_num -= input[k].electron_num > 2 ? 2 : 0;
        }
        projector[k] = P;
        if (k % 17 == 5) input[k].electron_num = 9;    /* odd */
        if (k % 19 == 7) input[k].electron_num = 2000; /* more than fit */
        fock.integrals = fmo_scf_integrals(o, fock.mode);
        fock.stream = executor->stream;
        jobs[k] = (fmo_lockstep_job){.input = &input[k],
                                     .options = o,
                                     .shared = {.job = k, .atoms = atoms},
                                     .ended = note,
                                     .user = &finished};
        if (on_gpu)
            CHECK(fmo_fock_plan_create_batch(&basis, 1, &fock, &jobs[k].shared.plan, &err) ==
                      FMO_OK,
                  "%s", err.message);
        else
            CHECK(fmo_fock_plan_create(basis, &fock, &jobs[k].shared.plan, &err) == FMO_OK, "%s",
                  err.message);
    }
    int dropped = 0;
    fmo_lockstep_run(executor, jobs, num);
    for (size_t k = 0; k < num; k++) {
        char what[80];
        fmo_scf_result *alone = NULL;
        fmo_error own = {FMO_OK, ""};
        CHECK(finished.num[k] == 1, "job %zu ended %d times", k, finished.num[k]);
        snprintf(what, sizeof what, "%zu of %zu, %s, %s", k, num, names[k % NAMES],
                 kinds[k / NAMES % KINDS].what);
        const fmo_status status = fmo_scf_run(&input[k], jobs[k].options, &alone, &own);
        check_result(what, &jobs[k], status, &own, alone);
        if (jobs[k].result) dropped += jobs[k].result->dropped;
        fmo_scf_result_destroy(alone);
        fmo_scf_result_destroy(jobs[k].result);
        free(projector[k]);
    }
    CHECK(dropped > 0 || num < 3 * NAMES, "no functions were left out");
    executor->ops->close(executor);
    fmo_atoms_destroy(atoms);
}

/* An atom is computed once, however often it occurs and whatever its functions: formaldehyde has
 * three kinds. */
static void check_atoms(const char *name)
{
    fmo_dataset *const dataset = read_shipped(name);
    fmo_atoms *atoms = NULL;
    fmo_error err = {FMO_OK, ""};
    if (dataset) CHECK(fmo_atoms_create(&atoms, &err) == FMO_OK, "%s", err.message);
    if (atoms) {
        const fmo_basis *const basis = fmo_dataset_basis(dataset);
        const size_t n = (size_t)fmo_basis_ao_num(basis);
        double *const density = calloc(2 * n * n, sizeof *density);
        for (int k = 0; k < 2; k++) {
            CHECK(fmo_atoms_densities(atoms, basis, density + (size_t)k * n * n, &err) == FMO_OK,
                  "%s", err.message);
            CHECK(fmo_atoms_num(atoms) == 3, "%s: %d kinds of atoms", name, fmo_atoms_num(atoms));
        }
        CHECK(memcmp(density, density + n * n, n * n * sizeof *density) == 0,
              "%s: known atoms have another density", name);
        free(density);
    }
    fmo_atoms_destroy(atoms);
    fmo_dataset_destroy(dataset);
}

int main(int argc, char **argv)
{
    fmo_dataset *dataset[NAMES];
    fmo_error err = {FMO_OK, ""};
    on_gpu = argc > 1 && strcmp(argv[1], "fused") == 0;
    if (on_gpu && fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
    const int few = getenv("FMO_TEST_SMALL") != NULL;
    for (int k = 0; k < NAMES; k++) dataset[k] = read_shipped(names[k]);
    check_atoms("ch2o_6-31g_sph");
    check_atoms("ch2o_cc-pvdz_sph");
    check_lockstep(dataset, 1, 1);
    check_lockstep(dataset, 2, 2);
    check_lockstep(dataset, few ? 20 : NAMES * KINDS, 2);
    if (!few) check_lockstep(dataset, MAX, 3);
    for (int k = 0; k < NAMES; k++) fmo_dataset_destroy(dataset[k]);
    return check_summary();
}
