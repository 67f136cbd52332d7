/* fmo_scf_run_batch against fmo_scf_run: a mix of sizes, threads, a molecule that fails in the
 * middle, callbacks, memory; bits under `fixed`. And what a molecule may be put into: a field,
 * which is the same as a larger core Hamiltonian, and a projector, which takes an orbital away. The
 * test that ThreadSanitizer watches for the SCF. Argument: a mode; fused without a GPU is skipped.
 */
#include <fmo/dataset.h>
#include <fmo/one_electron.h>
#include <fmo/scf.h>

#include "tests/support/calls.h"
#include "tests/support/shipped.h"

static fmo_mode mode;

static fmo_scf_options with_threads(int threads)
{
    fmo_scf_options options;
    fmo_scf_options_init(&options);
    options.fock.mode = mode;
    options.fock.threads = threads;
    return options;
}

static fmo_scf_input input_of(const fmo_dataset *dataset)
{
    return (fmo_scf_input){.basis = fmo_dataset_basis(dataset),
                           .electron_num = fmo_dataset_electron_num(dataset),
                           .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset),
                           .density = fmo_dataset_density(dataset)};
}

static void free_results(fmo_scf_job *jobs, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        fmo_scf_result_destroy(jobs[k].result);
        jobs[k].result = NULL;
    }
}

/* ---- against single runs ------------------------------------------------------------------- */

enum { NAMES = 8, BAD = 5, COUNT = 2 * NAMES + 1, HEARD = 32 };
static const char *const names[NAMES] = {"he_sto-3g", "h2o_6-31g",           "hehp_sto-3g",
                                         "n2_3-21g",  "ch2o_6-31g_sph",      "h2o8_sto-3g",
                                         "he2_6-31g", "ch3oh_6-31g_shuffled"};

/* Every molecule twice, and in the middle one with an odd number of electrons. */
static void fill(fmo_dataset *const *dataset, fmo_scf_job *jobs)
{
    memset(jobs, 0, COUNT * sizeof *jobs);
    for (int k = 0; k < COUNT; k++) {
        const int which = (k < BAD ? k : k - 1) % NAMES;
        jobs[k].input = input_of(dataset[k == BAD ? 1 : which]);
        if (k == BAD) jobs[k].input.electron_num = 9;
        jobs[k].result = (fmo_scf_result *)&jobs; /* overwritten */
        jobs[k].status = FMO_ERR_DEVICE;
    }
}

static void check_job(const char *what, int k, const fmo_scf_job *job, const fmo_scf_result *single,
                      int fixed)
{
    CHECK(job->status == FMO_OK && job->result, "%s: job %d: %s", what, k, job->err.message);
    if (!job->result || !single) return;
    CHECK(fabs(job->result->energy - single->energy) < 1e-9, "%s: job %d: %.12f, alone %.12f", what,
          k, job->result->energy, single->energy);
    CHECK(job->result->converged && job->result->nao == single->nao, "%s: job %d", what, k);
    if (!fixed) return;
    const size_t n = (size_t)single->nao;
    CHECK(memcmp(&job->result->energy, &single->energy, sizeof(double)) == 0 &&
              memcmp(job->result->density, single->density, n * n * sizeof(double)) == 0 &&
              memcmp(job->result->coefficient, single->coefficient, n * n * sizeof(double)) == 0,
          "%s: job %d has other bits: %.17g, alone %.17g", what, k, job->result->energy,
          single->energy);
}

typedef struct recorded {
    int finished[HEARD], cycles[HEARD], inside, at_once;
    const fmo_scf_job *jobs;
} recorded;

static void record_cycle(const fmo_scf_cycle *cycle, void *user)
{
    recorded *h = user;
    h->at_once += h->inside++ != 0;
    CHECK(cycle->job < HEARD, "cycle of job %zu", cycle->job);
    if (cycle->job < HEARD) {
        CHECK(cycle->cycle == ++h->cycles[cycle->job], "cycle %d of job %zu", cycle->cycle,
              cycle->job);
        CHECK(!h->finished[cycle->job], "a cycle of job %zu, which has finished", cycle->job);
    }
    h->inside--;
}

static void record_finished(size_t index, fmo_scf_job *job, void *user)
{
    recorded *h = user;
    h->at_once += h->inside++ != 0;
    CHECK(index < HEARD && job == &h->jobs[index], "finished: job %zu", index);
    if (index < HEARD) h->finished[index]++;
    h->inside--;
}

/* A batch gives the energies of single runs for several numbers of threads, with `fixed` bit by
 * bit, and reports the one job that is wrong. */
static void test_against_single(int fixed)
{
    fmo_dataset *dataset[NAMES];
    fmo_scf_result *single[NAMES] = {NULL};
    fmo_scf_options options = with_threads(1);
    if (fixed) options.fock.scatter = FMO_SCATTER_FIXED;
    for (int k = 0; k < NAMES; k++) {
        fmo_error err = {FMO_OK, ""};
        dataset[k] = read_shipped(names[k]);
        if (!dataset[k]) return;
        const fmo_scf_input input = input_of(dataset[k]);
        CHECK(fmo_scf_run(&input, &options, &single[k], &err) == FMO_OK, "%s", err.message);
    }
    static const int threads[] = {1, 2, 3, 40};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        char what[64];
        fmo_scf_job jobs[COUNT];
        recorded h = {.jobs = jobs};
        fmo_error err = {FMO_OK, ""};
        snprintf(what, sizeof what, "%s%d threads", fixed ? "fixed, " : "", threads[t]);
        options = with_threads(threads[t]);
        if (fixed) options.fock.scatter = FMO_SCATTER_FIXED;
        options.callback = record_cycle;
        options.finished = record_finished;
        options.user = &h;
        fill(dataset, jobs);
        CHECK(fmo_scf_run_batch(jobs, COUNT, &options, &err) == FMO_ERR_INPUT, "%s: %s", what,
              err.message);
        CHECK(strstr(err.message, "job 5: 9 electrons: RHF needs an even number"), "%s: '%s'", what,
              err.message);
        CHECK(h.at_once == 0, "%s: %d callbacks inside another", what, h.at_once);
        for (int k = 0; k < COUNT; k++) {
            CHECK(h.finished[k] == 1, "%s: job %d finished %d times", what, k, h.finished[k]);
            if (k == BAD) {
                CHECK(jobs[k].status == FMO_ERR_INPUT && !jobs[k].result &&
                          strstr(jobs[k].err.message, "9 electrons"),
                      "%s: job %d: %d, '%s'", what, k, (int)jobs[k].status, jobs[k].err.message);
                continue;
            }
            check_job(what, k, &jobs[k], single[(k < BAD ? k : k - 1) % NAMES], fixed);
            if (jobs[k].result)
                CHECK(h.cycles[k] == jobs[k].result->cycles, "%s: job %d: %d cycles", what, k,
                      h.cycles[k]);
        }
        free_results(jobs, COUNT);
    }
    for (int k = 0; k < NAMES; k++) {
        fmo_scf_result_destroy(single[k]);
        fmo_dataset_destroy(dataset[k]);
    }
}

/* Small molecules alone, without OpenMP teams of several threads, for ThreadSanitizer, which does
 * not know libgomp. One fails, some are in a field. */
static void test_side_by_side(void)
{
    enum { KINDS = 4, JOBS = 6 * KINDS };
    static const char *const small[KINDS] = {"h2o_6-31g", "n2_3-21g", "ch2o_6-31g_sph",
                                             "h2_sto-3g"};
    fmo_dataset *dataset[KINDS];
    double energy[KINDS], *U[KINDS];
    for (int k = 0; k < KINDS; k++) {
        if (!(dataset[k] = read_shipped(small[k]))) return;
        const size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset[k]));
        U[k] = calloc(n * n, sizeof *U[k]);
        energy[k] = fmo_dataset_reference_energy(dataset[k]);
    }
    for (int threads = 2; threads <= 4; threads += 2) {
        fmo_scf_options options = with_threads(threads);
        fmo_scf_job jobs[JOBS] = {0};
        recorded h = {.jobs = jobs};
        options.callback = record_cycle;
        options.finished = record_finished;
        options.user = &h;
        for (int k = 0; k < JOBS; k++) {
            jobs[k].input = input_of(dataset[k % KINDS]);
            if (k / KINDS == 2) jobs[k].input.field = U[k % KINDS];
        }
        jobs[JOBS / 2 + 1].input.electron_num = 1;
        CHECK(fmo_scf_run_batch(jobs, JOBS, &options, NULL) == FMO_ERR_INPUT, "job %d", JOBS / 2);
        for (int k = 0; k < JOBS; k++) {
            CHECK(h.finished[k] == 1, "job %d finished %d times", k, h.finished[k]);
            if (k == JOBS / 2 + 1) continue;
            CHECK(jobs[k].result && fabs(jobs[k].result->energy - energy[k % KINDS]) < 1e-8,
                  "job %d: %s", k, jobs[k].err.message);
            if (jobs[k].result)
                CHECK(jobs[k].result->fock_profile.threads == 1, "job %d: %d threads", k,
                      jobs[k].result->fock_profile.threads);
        }
        CHECK(h.at_once == 0, "%d callbacks inside another", h.at_once);
        free_results(jobs, JOBS);
    }
    for (int k = 0; k < KINDS; k++) {
        free(U[k]);
        fmo_dataset_destroy(dataset[k]);
    }
}

/* A large molecule among small ones runs with all threads, and its result is the same. */
static void test_large(void)
{
    fmo_dataset *small = read_shipped("h2o_6-31g"), *large = read_shipped("h2o8_6-31g");
    fmo_scf_options options = with_threads(2);
    fmo_scf_job jobs[4] = {0};
    fmo_error err = {FMO_OK, ""};
    if (!small || !large) return;
    for (int k = 0; k < 4; k++) jobs[k].input = input_of(k == 2 ? large : small);
    CHECK(fmo_scf_run_batch(jobs, 4, &options, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < 4; k++) {
        const double expected = fmo_dataset_reference_energy(k == 2 ? large : small);
        if (!jobs[k].result) continue;
        CHECK(fabs(jobs[k].result->energy - expected) < 1e-8, "job %d: %.10f, expected %.10f", k,
              jobs[k].result->energy, expected);
        if (mode == FMO_MODE_CPU)
            CHECK(jobs[k].result->fock_profile.threads == (k == 2 ? 2 : 1), "job %d: %d threads", k,
                  jobs[k].result->fock_profile.threads);
    }
    free_results(jobs, 4);
    fmo_dataset_destroy(small);
    fmo_dataset_destroy(large);
}

/* Molecules with d shells, enough of them for groups of builds (gpu/batches.md), against single
 * runs on the CPU. */
static void test_d_shells(void)
{
    enum { SETS = 4, EACH = 6, JOBS = SETS * EACH };
    static const char *const set[SETS] = {"h2o_6-31gd", "ch2o_cc-pvdz_sph", "h2s_6-31gd_shuffled",
                                          "h2o_def2-svp_sph_shuffled"};
    fmo_scf_options options = with_threads(2), alone = with_threads(1);
    fmo_scf_job jobs[JOBS] = {0};
    fmo_dataset *dataset[SETS] = {NULL};
    double energy[SETS] = {0.0};
    fmo_error err = {FMO_OK, ""};
    alone.fock.mode = FMO_MODE_CPU;
    for (int k = 0; k < SETS; k++) {
        fmo_scf_result *result = NULL;
        dataset[k] = read_shipped(set[k]);
        const fmo_scf_input input = input_of(dataset[k]);
        CHECK(fmo_scf_run(&input, &alone, &result, &err) == FMO_OK, "%s: %s", set[k], err.message);
        if (result) energy[k] = result->energy;
        fmo_scf_result_destroy(result);
    }
    for (int k = 0; k < JOBS; k++) jobs[k].input = input_of(dataset[k % SETS]);
    CHECK(fmo_scf_run_batch(jobs, JOBS, &options, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < JOBS; k++) {
        if (!jobs[k].result) continue;
        CHECK(fabs(jobs[k].result->energy - energy[k % SETS]) < 1e-9, "%s: %.12f, alone %.12f",
              set[k % SETS], jobs[k].result->energy, energy[k % SETS]);
        CHECK(jobs[k].result->fock_profile.mode == mode, "%s: mode %s", set[k % SETS],
              fmo_mode_name(jobs[k].result->fock_profile.mode));
    }
    free_results(jobs, JOBS);
    for (int k = 0; k < SETS; k++) fmo_dataset_destroy(dataset[k]);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Takes the result and frees it, like a caller that writes it to a file. */
static void take_result(size_t index, fmo_scf_job *job, void *user)
{
    double *energy = user;
    energy[index] = job->result ? job->result->energy : NAN;
    fmo_scf_result_destroy(job->result);
    job->result = NULL;
}

/* Jobs that fail do not disturb the others; with little memory the jobs run one after the other. */
static void test_failures(void)
{
    fmo_dataset *water = read_shipped("h2o_6-31g");
    fmo_scf_options options = with_threads(2);
    fmo_scf_job jobs[4] = {0};
    fmo_error err = {FMO_OK, ""};
    double energy[4];
    if (!water) return;
    CHECK(fmo_scf_run_batch(NULL, 0, NULL, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_scf_run_batch(NULL, 1, NULL, &err) == FMO_ERR_ARGUMENT &&
              strcmp(err.message, "fmo_scf_run_batch: jobs is NULL") == 0,
          "'%s'", err.message);
    /* Two jobs do not converge, one has no basis, one has no density to read. */
    for (int k = 0; k < 4; k++) jobs[k].input = input_of(water);
    jobs[1].input.basis = NULL;
    jobs[2].input.density = NULL;
    options.guess = FMO_SCF_GUESS_READ;
    options.max_cycles = 1;
    options.finished = take_result;
    options.user = energy;
    CHECK_REFUSED(fmo_scf_run_batch(jobs, 4, &options, &err), &err, FMO_ERR_CHECK,
                  "job 0: SCF not converged in 1 cycle");
    CHECK(jobs[1].status == FMO_ERR_ARGUMENT &&
              strcmp(jobs[1].err.message, "fmo_scf_run_batch: input->basis is NULL") == 0,
          "'%s'", jobs[1].err.message);
    CHECK(jobs[2].status == FMO_ERR_INPUT && strstr(jobs[2].err.message, "guess read"), "'%s'",
          jobs[2].err.message);
    CHECK(jobs[3].status == FMO_ERR_CHECK, "'%s'", jobs[3].err.message);
    const double expected = fmo_dataset_reference_energy(water);
    CHECK(fabs(energy[0] - expected) < 1e-6 && fabs(energy[3] - expected) < 1e-6 &&
              isnan(energy[1]) && isnan(energy[2]),
          "taken: %g %g %g %g", energy[0], energy[1], energy[2], energy[3]);
    for (int k = 0; k < 4; k++) CHECK(!jobs[k].result, "job %d has a result that was taken", k);

    /* With memory for one job at a time the jobs run one after the other. */
    fmo_fock_plan *plan = NULL;
    fmo_fock_memory need = {0};
    options = with_threads(1);
    CHECK(fmo_fock_plan_create(jobs[0].input.basis, &options.fock, &plan, &err) == FMO_OK &&
              (mode != FMO_MODE_CPU ||
               fmo_fock_workspace(jobs[0].input.basis, &options.fock, &need, &err) == FMO_OK),
          "%s", err.message);
    fmo_fock_plan_destroy(plan);
    if (mode == FMO_MODE_CPU) {
        options = with_threads(4);
        options.fock.memory = need.host_bytes;
        for (int k = 0; k < 4; k++) jobs[k].input = input_of(water);
        err = (fmo_error){FMO_OK, ""};
        CHECK(fmo_scf_run_batch(jobs, 4, &options, &err) == FMO_OK, "%s", err.message);
        for (int k = 0; k < 4; k++)
            CHECK(jobs[k].result && fabs(jobs[k].result->energy - expected) < 1e-8, "job %d", k);
        free_results(jobs, 4);
        options.fock.memory = 1000;
        CHECK(fmo_scf_run_batch(jobs, 4, &options, NULL) == FMO_ERR_MEMORY &&
                  strstr(jobs[3].err.message, "may use only"),
              "'%s'", jobs[3].err.message);
    }
    fmo_dataset_destroy(water);
}

/* ---- field and projector ------------------------------------------------------------------- */

/* V of the molecule and of one more charge beside it, minus V of the molecule. */
static double *attraction(const fmo_dataset *dataset, double charge, const double at[3])
{
    fmo_basis_input more = *fmo_dataset_basis_input(dataset);
    const size_t nuclei = (size_t)more.nucleus_num,
                 n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    double coord[64 * 3], charges[64];
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    memcpy(coord, more.nucleus_coord, 3 * nuclei * sizeof *coord);
    memcpy(charges, more.nucleus_charge, nuclei * sizeof *charges);
    memcpy(coord + 3 * nuclei, at, 3 * sizeof *coord);
    charges[nuclei] = charge;
    more.nucleus_num++;
    more.nucleus_coord = coord;
    more.nucleus_charge = charges;
    double *V = malloc(n * n * sizeof *V), *own = malloc(n * n * sizeof *own);
    CHECK(fmo_basis_create(&more, &basis, &err) == FMO_OK &&
              fmo_nuclear_attraction(basis, V, &err) == FMO_OK &&
              fmo_nuclear_attraction(fmo_dataset_basis(dataset), own, &err) == FMO_OK,
          "%s", err.message);
    for (size_t i = 0; i < n * n; i++) V[i] -= own[i];
    fmo_basis_destroy(basis);
    free(own);
    return V;
}

static double trace(size_t n, const double *A, const double *B)
{
    double sum = 0.0;
    for (size_t i = 0; i < n * n; i++) sum += A[i] * B[i];
    return sum;
}

/* The attraction of a charge as a field, and added to H by the caller. */
static void test_field(void)
{
    fmo_dataset *dataset = read_shipped("ch3oh_6-31g_shuffled");
    const double at[3] = {3.0, -1.0, 2.5};
    fmo_scf_options options = with_threads(2);
    fmo_scf_job jobs[3] = {0};
    fmo_error err = {FMO_OK, ""};
    if (!dataset) return;
    const size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    double *U = attraction(dataset, 0.7, at), *H = malloc(n * n * sizeof *H);
    double *V = malloc(n * n * sizeof *V);
    CHECK(fmo_kinetic(fmo_dataset_basis(dataset), H, &err) == FMO_OK &&
              fmo_nuclear_attraction(fmo_dataset_basis(dataset), V, &err) == FMO_OK,
          "%s", err.message);
    for (size_t i = 0; i < n * n; i++) H[i] += V[i] + U[i];
    for (int k = 0; k < 3; k++) jobs[k].input = input_of(dataset);
    jobs[0].input.field = U;
    jobs[1].input.core_hamiltonian = H;
    CHECK(fmo_scf_run_batch(jobs, 3, &options, &err) == FMO_OK, "%s", err.message);
    if (jobs[0].result && jobs[1].result && jobs[2].result) {
        const fmo_scf_result *r = jobs[0].result;
        CHECK(fabs(r->energy - jobs[1].result->energy) < 1e-9, "%.12f in the field, %.12f by hand",
              r->energy, jobs[1].result->energy);
        CHECK(fabs(r->energy - jobs[2].result->energy) > 0.1, "the field changes nothing: %.12f",
              r->energy);
        CHECK(fabs(r->field_energy - trace(n, r->density, U)) < 1e-11 && r->projector_energy == 0.0,
              "tr D U: %.12f, %.12f", r->field_energy, r->projector_energy);
        CHECK(jobs[1].result->field_energy == 0.0 && jobs[2].result->field_energy == 0.0,
              "without a field: %g", jobs[2].result->field_energy);
        check_close("H", r->core_hamiltonian, H, n * n, n, 1e-12, 0.0);
        const double energy =
            jobs[0].input.nuclear_repulsion +
            0.5 * (trace(n, r->density, r->core_hamiltonian) + trace(n, r->density, r->fock));
        CHECK(fabs(energy - r->energy) < 1e-10, "energy of the matrices: %.12f", energy);
    }
    free_results(jobs, 3);

    U[3 * n + 1] += 1e-3;
    CHECK(
        fmo_scf_run_batch(jobs, 1, &options, NULL) == FMO_ERR_INPUT &&
            strstr(jobs[0].err.message, "field[3][1] - field[1][3] = 0.001: expected a symmetric"),
        "'%s'", jobs[0].err.message);
    U[5] = NAN;
    CHECK(fmo_scf_run_batch(jobs, 1, &options, NULL) == FMO_ERR_INPUT &&
              strcmp(jobs[0].err.message, "field[0][5] = nan: not finite") == 0,
          "'%s'", jobs[0].err.message);
    jobs[0].input.field = NULL;
    jobs[0].input.projector = U;
    CHECK(fmo_scf_run_batch(jobs, 1, &options, NULL) == FMO_ERR_INPUT &&
              strcmp(jobs[0].err.message, "projector[0][5] = nan: not finite") == 0,
          "'%s'", jobs[0].err.message);
    free(U);
    free(H);
    free(V);
    fmo_dataset_destroy(dataset);
}

/* Water without its 1s: with B S|phi><phi|S nothing of it is left in the density of 8 electrons,
 * and it is the only orbital that the bare Fock matrix would fill besides. */
static void test_projector(void)
{
    fmo_dataset *dataset = read_shipped("h2o_6-31g");
    fmo_scf_options options = with_threads(2);
    fmo_scf_result *whole = NULL;
    fmo_error err = {FMO_OK, ""};
    if (!dataset) return;
    fmo_scf_job jobs[2] = {0};
    jobs[0].input = jobs[1].input = input_of(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(jobs[0].input.basis);
    double *P = calloc(n * n, sizeof *P), *phi = calloc(n, sizeof *phi);
    CHECK(fmo_scf_run(&jobs[0].input, &options, &whole, &err) == FMO_OK, "%s", err.message);
    for (size_t i = 0; whole && i < n; i++)
        for (size_t j = 0; j < n; j++) phi[i] += whole->overlap[i * n + j] * whole->coefficient[j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) P[i * n + j] = 1e5 * phi[i] * phi[j];
    jobs[0].input.electron_num = jobs[1].input.electron_num = 8;
    jobs[0].input.projector = P;
    CHECK(fmo_scf_run_batch(jobs, 2, &options, &err) == FMO_OK, "%s", err.message);
    if (whole && jobs[0].result && jobs[1].result) {
        const fmo_scf_result *r = jobs[0].result;
        const double left = trace(n, r->density, P) / 1e5;
        const double without = trace(n, jobs[1].result->density, P) / 1e5;
        CHECK(left < 1e-6 && fabs(without - 2.0) < 1e-2, "electrons in 1s: %g, without %g", left,
              without);
        CHECK(fabs(r->projector_energy - 1e5 * left) < 1e-9 && r->field_energy == 0.0,
              "tr D P: %g, %g", r->projector_energy, 1e5 * left);
        /* H has P in it, whose elements of 1e5 leave their rounding */
        const double sum = jobs[0].input.nuclear_repulsion +
                           trace(n, r->density, r->core_hamiltonian) + r->two_electron_energy;
        CHECK(fabs(sum - r->energy) < 1e-8, "energy %.12f, its parts %.12f", r->energy, sum);
        /* 1s is gone, so the lowest orbital is another's, and the one above all is projected out.
         */
        CHECK(r->orbital_energy[0] > -10.0 && jobs[1].result->orbital_energy[0] < -10.0,
              "lowest orbitals: %g, without %g", r->orbital_energy[0],
              jobs[1].result->orbital_energy[0]);
        CHECK(r->orbital_energy[n - 1] > 9e4, "highest orbital: %g", r->orbital_energy[n - 1]);
    }
    free_results(jobs, 2);
    fmo_scf_result_destroy(whole);
    free(P);
    free(phi);
    fmo_dataset_destroy(dataset);
}

/* Adds projectors to P, low and mixed, [n][n] each: 1e6 and 1e3 on two orbitals, each a mixture of
 * the two lowest and the lowest empty one; 1e6 on one of them and -1 on the other. */
static void add_projectors(const fmo_scf_result *whole, double *P, double *low, double *mixed)
{
    const size_t n = (size_t)whole->nao;
    const double mixture[2][3] = {{0.9, 0.3, 0.2}, {0.4, -0.8, 0.3}};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < n * n; i++) {
            double phi[2] = {0.0, 0.0};
            for (int end = 0; end < 2; end++)
                for (size_t j = 0; j < n; j++)
                    for (int c = 0; c < 3; c++) /* the two lowest, and the lowest empty one */
                        phi[end] +=
                            whole->overlap[(end ? i % n : i / n) * n + j] * mixture[k][c] *
                            whole->coefficient[(c < 2 ? c : whole->occupied_num) * (int)n + (int)j];
            P[i] += 1e6 * phi[0] * phi[1];
            low[i] += 1e3 * phi[0] * phi[1];
            mixed[i] += (k ? -1.0 : 1e6) * phi[0] * phi[1];
        }
}

/* Two orbitals that overlap and mix with occupied ones, projected out by B: purification, which
 * takes them out, and diagonalisation of the whole; without orbitals; and with a B too small for
 * that. */
static void test_purified(void)
{
    enum { DIAGONALISE, PURIFY, BARE, LOW, INDEFINITE, RUNS };
    fmo_dataset *dataset = read_shipped("ch3oh_6-31g_shuffled");
    fmo_scf_options options = with_threads(2);
    fmo_scf_result *whole = NULL;
    fmo_error err = {FMO_OK, ""};
    if (!dataset) return;
    fmo_scf_input input = input_of(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(input.basis);
    double *P = calloc(n * n, sizeof *P), *low = calloc(n * n, sizeof *low);
    double *mixed = calloc(n * n, sizeof *mixed);
    const double *const other[] = {low, mixed};
    CHECK(fmo_scf_run(&input, &options, &whole, &err) == FMO_OK, "%s", err.message);
    if (whole) add_projectors(whole, P, low, mixed);
    input.electron_num -= 4;
    input.projector = P;
    options.gradient_convergence = 1e-7;
    fmo_scf_result *result[RUNS] = {NULL};
    for (int run = 0; run < RUNS; run++) {
        /* one of two, so that it advances with another on a GPU */
        fmo_scf_job jobs[2] = {{.input = input}, {.input = input}};
        for (int k = 0; k < 2 && run >= LOW; k++) jobs[k].input.projector = other[run - LOW];
        options.solver = run == DIAGONALISE ? FMO_SCF_SOLVER_DIAGONALISE : FMO_SCF_SOLVER_PURIFY;
        options.orbitals = run != BARE;
        CHECK(fmo_scf_run_batch(jobs, 2, &options, &err) == FMO_OK, "run %d: %s", run, err.message);
        result[run] = jobs[0].result;
        fmo_scf_result_destroy(jobs[1].result);
    }
    const fmo_scf_result *const r = result[DIAGONALISE];
    for (int run = PURIFY; run < LOW && r && result[run]; run++) {
        const fmo_scf_result *const q = result[run];
        CHECK(q->solver == FMO_SCF_SOLVER_PURIFY && q->converged, "run %d: %s", run, q->verdict);
        CHECK(fabs(q->energy - r->energy) < 1e-9, "run %d: %.11f, diagonalised %.11f", run,
              q->energy, r->energy);
        CHECK(fabs(q->two_electron_energy - r->two_electron_energy) < 1e-8,
              "two-electron energy: %.11f, diagonalised %.11f", q->two_electron_energy,
              r->two_electron_energy);
        CHECK(r->projector_energy > 1e-9 &&
                  fabs(q->projector_energy - r->projector_energy) < 1e-5 * r->projector_energy,
              "run %d: tr D P %.4e, diagonalised %.4e", run, q->projector_energy,
              r->projector_energy);
        CHECK(abs(q->cycles - r->cycles) <= 2, "run %d: %d cycles, diagonalised %d", run, q->cycles,
              r->cycles);
        check_close("density", q->density, r->density, n * n, n, 1e-7, 0.0);
    }
    if (result[BARE])
        CHECK(result[BARE]->mo_num == r->mo_num && isnan(result[BARE]->homo) &&
                  isnan(result[BARE]->lumo) && result[BARE]->orbital_energy[0] == 0.0,
              "no orbitals: %d, %g", result[BARE]->mo_num, result[BARE]->homo);
    /* A projector that is small, or not a sum of orbitals, is a part of H. */
    for (int run = LOW; run < RUNS; run++) {
        fmo_scf_result *with = NULL;
        if (!result[run]) continue;
        CHECK(result[run]->solver == FMO_SCF_SOLVER_DIAGONALISE, "run %d: solver %d", run,
              (int)result[run]->solver);
        fmo_scf_input by_hand = input;
        by_hand.projector = NULL;
        by_hand.core_hamiltonian = result[run]->core_hamiltonian;
        options.orbitals = 1;
        options.solver = FMO_SCF_SOLVER_DIAGONALISE;
        CHECK(fmo_scf_run(&by_hand, &options, &with, &err) == FMO_OK, "%s", err.message);
        if (with)
            CHECK(fabs(with->energy - result[run]->energy) < 1e-8, "run %d: %.11f, by hand %.11f",
                  run, result[run]->energy, with->energy);
        fmo_scf_result_destroy(with);
    }
    for (int run = 0; run < RUNS; run++) fmo_scf_result_destroy(result[run]);
    fmo_scf_result_destroy(whole);
    free(P);
    free(low);
    free(mixed);
    fmo_dataset_destroy(dataset);
}

/* Runs the checks in mode cpu, or in mode fused; "concurrent" runs the check of batches side by
 * side, for ThreadSanitizer. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    mode = argc > 1 && strcmp(argv[1], "fused") == 0 ? FMO_MODE_FUSED : FMO_MODE_CPU;
    if (mode == FMO_MODE_FUSED && fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
    if (argc > 1 && strcmp(argv[1], "concurrent") == 0) {
        test_side_by_side();
        return check_summary();
    }
    test_against_single(0);
    test_against_single(1);
    test_large();
    test_d_shells();
    test_failures();
    test_field();
    test_projector();
    test_purified();
    return check_summary();
}
