/* SCFs of small molecules by a thread block (driver/scf/block). Without an argument: one thread of
 * the host, molecule by molecule, against fmo_scf_run, and its linear algebra. "fused": batches of
 * small molecules on a GPU, some of which fail, are in a field, or need the usual way. Links
 * internal functions. */
#include <fmo/dataset.h>
#include <fmo/eri_matrix.h>
#include <fmo/one_electron.h>

#include "tests/support/calls.h"
#include "tests/support/shipped.h"
#include "driver/scf/block/block.h"
#include "driver/scf/block/cycles.h"
#include "integrals/eri/eri_matrix_body.inc"

enum { NAMES = 9 };
static const char *const names[NAMES] = {
    "h2o_6-31g", "he_sto-3g", "hehp_sto-3g",          "n2_3-21g", "ch2o_6-31g_sph",
    "he2_6-31g", "h4_sto-3g", "ch3oh_6-31g_shuffled", "h2_sto-3g"};

static fmo_scf_input input_of(const fmo_dataset *dataset)
{
    return (fmo_scf_input){.basis = fmo_dataset_basis(dataset),
                           .electron_num = fmo_dataset_electron_num(dataset),
                           .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
}

/* ---- linear algebra -------------------------------------------------------------------------- */

/* Eigenvectors, products and the inverse Cholesky factor of a thread block have small residuals. */
static void check_linear_algebra(int n)
{
    unsigned long long seed = 7 + (unsigned long long)n;
    const size_t size = (size_t)n * (size_t)n;
    double sums[FMO_TEAM_WARPS_MAX];
    const fmo_team t = fmo_team_make(sums);
    double *const A = malloc(size * sizeof *A), *const V = calloc(size, sizeof *V);
    double *const work = malloc(size * sizeof *A), *const B = malloc(size * sizeof *B);
    fmo_jacobi_rotation *const rotations = malloc((size_t)(n + 1) / 2 * sizeof *rotations);
    double *const value = malloc((size_t)n * sizeof *value);
    double *const sorted = malloc(size * sizeof *sorted);
    for (int i = 0; i < n; i++) {
        V[i * n + i] = 1.0;
        for (int j = 0; j <= i; j++) A[i * n + j] = A[j * n + i] = check_random(&seed) - 0.5;
    }
    memcpy(B, A, size * sizeof *B);
    fmo_team_jacobi(&t, n, A, V, rotations);
    fmo_team_sort(&t, n, A, V, sorted, value);
    fmo_team_multiply(&t, n, n, 1.0, fmo_plain(B, n), fmo_plain(sorted, n), work);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            CHECK(fabs(work[i * n + k] - value[k] * sorted[i * n + k]) < 1e-12 &&
                      (k == 0 || value[k] >= value[k - 1]),
                  "n = %d: eigenvector %d", n, k);
    fmo_team_multiply(&t, n, n, 1.0, fmo_transposed(sorted, n), fmo_plain(sorted, n), work);
    for (int e = 0; e < n * n; e++)
        CHECK(fabs(work[e] - (e / n == e % n)) < 1e-13, "n = %d: not orthogonal", n);
    /* B^2 + 1 is positive definite */
    fmo_team_multiply(&t, n, n, 1.0, fmo_plain(B, n), fmo_plain(B, n), A);
    for (int i = 0; i < n; i++) A[i * n + i] += 1.0;
    memcpy(work, A, size * sizeof *A);
    CHECK(fmo_team_inverse_cholesky(&t, n, work, sorted), "n = %d", n);
    fmo_team_multiply(&t, n, n, 1.0, fmo_plain(A, n), fmo_plain(sorted, n), work);
    fmo_team_multiply(&t, n, n, 1.0, fmo_transposed(sorted, n), fmo_plain(work, n), V);
    for (int e = 0; e < n * n; e++)
        CHECK(fabs(V[e] - (e / n == e % n)) < 1e-12 && (e / n <= e % n || sorted[e] == 0.0),
              "n = %d: X^T A X", n);
    A[0] = -1.0;
    CHECK(!fmo_team_inverse_cholesky(&t, n, A, sorted), "n = %d: not positive definite", n);
    free(A);
    free(V);
    free(work);
    free(B);
    free(rotations);
    free(value);
    free(sorted);
}

/* ---- one thread of the host ----------------------------------------------------------------- */

/* An SCF as the GPU runs it. @return its outcome; matrices go to r */
static fmo_block_outcome run_on_host(const fmo_scf_input *in, const fmo_block_settings *o,
                                     fmo_scf_result *r)
{
    const int n = fmo_basis_ao_num(in->basis);
    const size_t pairs = (size_t)n * (size_t)(n + 1) / 2;
    fmo_error err = {FMO_OK, ""};
    fmo_block_outcome outcome = {0};
    double *const eri = malloc(pairs * pairs * sizeof *eri);
    double *const memory = malloc(fmo_block_memory(n, o->diis_size) * sizeof *memory);
    void *const shared = malloc(fmo_block_shared(n, 1));
    CHECK(fmo_eri_matrix_of(in->basis, 0.0, eri, r->overlap, r->core_hamiltonian, &err) == FMO_OK &&
              fmo_scf_atomic_densities(in->basis, r->density, &err) == FMO_OK,
          "%s", err.message);
    const fmo_block_molecule m = {.n = n,
                                  .occupied = in->electron_num / 2,
                                  .nuclear_repulsion = in->nuclear_repulsion,
                                  .eri = eri,
                                  .overlap = r->overlap,
                                  .core = r->core_hamiltonian,
                                  .density = r->density,
                                  .fock = r->fock,
                                  .coefficient = r->coefficient,
                                  .orbital_energy = r->orbital_energy,
                                  .memory = memory,
                                  .outcome = &outcome};
    fmo_block_run(&m, o, shared);
    free(eri);
    free(memory);
    free(shared);
    return outcome;
}

/* A result of a thread block agrees with a single SCF, and its orbitals are orthonormal. */
static void check_against(const char *what, const fmo_scf_result *got,
                          const fmo_scf_result *expected)
{
    const size_t n = (size_t)expected->nao;
    CHECK(fabs(got->energy - expected->energy) < 1e-9, "%s: %.12f, alone %.12f", what, got->energy,
          expected->energy);
    CHECK(abs(got->cycles - expected->cycles) <= 2, "%s: %d cycles, alone %d", what, got->cycles,
          expected->cycles);
    check_close(what, got->density, expected->density, n * n, n, 1e-4, 0.0);
    check_close(what, got->fock, expected->fock, n * n, n, 1e-4, 0.0);
    check_close(what, got->overlap, expected->overlap, n * n, n, 1e-12, 0.0);
    check_close(what, got->orbital_energy, expected->orbital_energy, n, n, 1e-4, 0.0);
    CHECK(fabs(got->two_electron_energy - expected->two_electron_energy) < 1e-4,
          "%s: two electrons", what);
    for (size_t a = 0; a < n; a++) /* orbitals by themselves: C S C^T = 1 */
        for (size_t b = 0; b < n; b++) {
            double sum = a == b ? -1.0 : 0.0;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    sum += got->coefficient[a * n + i] * got->overlap[i * n + j] *
                           got->coefficient[b * n + j];
            CHECK(fabs(sum) < 1e-10, "%s: orbitals %zu and %zu: %g", what, a, b, sum);
        }
}

/* The SCF of a thread block, run on the host, agrees with a single SCF, and reports if it does not
 * converge. */
static void check_on_host(const char *name)
{
    fmo_dataset *const dataset = read_shipped(name);
    if (!dataset) return;
    const fmo_scf_input in = input_of(dataset);
    fmo_scf_options options;
    fmo_scf_result *single = NULL, *const r = fmo_scf_new_result(fmo_basis_ao_num(in.basis), 1, 0);
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_CPU;
    CHECK(fmo_scf_run(&in, &options, &single, &err) == FMO_OK, "%s", err.message);
    fmo_block_settings o = {options.energy_convergence, options.gradient_convergence,
                            options.linear_dependence, options.diis_size, options.max_cycles};
    fmo_scf_normal normal;
    CHECK(fmo_scf_normalise(&in, &options, &normal, &err) == FMO_OK, "%s", err.message);
    const fmo_block_outcome out = run_on_host(&normal.input, &o, r);
    fmo_scf_from_normal(&normal, r);
    CHECK(out.converged && single, "%s: has not converged", name);
    r->energy = out.energy;
    r->cycles = out.cycles;
    r->two_electron_energy = out.two_electron_energy;
    if (single) {
        check_against(name, r, single);
        CHECK(fabs(out.overlap_smallest - single->overlap_smallest) < 1e-10, "%s: overlap", name);
    }
    if (out.cycles > 2) { /* it reports what it cannot solve */
        o.max_cycles = 2;
        CHECK(!run_on_host(&normal.input, &o, r).converged, "%s: two cycles", name);
        o.max_cycles = 100;
    }
    o.linear_dependence = 0.9;
    if (fmo_basis_ao_num(in.basis) > 1)
        CHECK(!run_on_host(&normal.input, &o, r).converged, "%s: linear dependence", name);
    fmo_scf_normal_free(&normal);
    fmo_scf_result_destroy(single);
    fmo_scf_result_destroy(r);
    fmo_dataset_destroy(dataset);
}

/* ---- batches on a GPU ------------------------------------------------------------------------ */

enum { JOBS = 20 * NAMES, ODD = 31, FIELD = 50 };

/* Only a thread block reports no solver. */
static int by_a_block(const fmo_scf_job *job)
{
    return job->result && job->result->fock_seconds > 0.0 && job->result->solve_seconds == 0.0;
}

/* Many molecules in one call, one of them with an odd number of electrons and one in a field, agree
 * with single SCFs. */
static void check_batch(fmo_mode mode, double field_size)
{
    fmo_dataset *dataset[NAMES];
    fmo_scf_result *single[NAMES] = {NULL};
    fmo_scf_job *const jobs = calloc(JOBS, sizeof *jobs);
    fmo_scf_options options;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_CPU;
    for (int k = 0; k < NAMES; k++) {
        dataset[k] = read_shipped(names[k]);
        if (!dataset[k]) return;
        const fmo_scf_input in = input_of(dataset[k]);
        CHECK(fmo_scf_run(&in, &options, &single[k], &err) == FMO_OK, "%s", err.message);
    }
    options.fock.mode = mode;
    for (int k = 0; k < JOBS; k++) jobs[k].input = input_of(dataset[k % NAMES]);
    jobs[ODD].input.electron_num = 3;
    const size_t n = (size_t)single[FIELD % NAMES]->nao;
    double *const U = malloc(n * n * sizeof *U);
    for (size_t e = 0; e < n * n; e++) U[e] = field_size * single[FIELD % NAMES]->overlap[e];
    jobs[FIELD].input.field = U;
    CHECK_REFUSED(fmo_scf_run_batch(jobs, JOBS, &options, &err), &err, FMO_ERR_INPUT,
                  "job 31: 3 electrons");
    int blocks = 0;
    for (int k = 0; k < JOBS; k++) {
        if (k == ODD) {
            CHECK(!jobs[k].result && jobs[k].status == FMO_ERR_INPUT, "job %d", k);
            continue;
        }
        CHECK(jobs[k].status == FMO_OK && jobs[k].result, "job %d: %s", k, jobs[k].err.message);
        if (!jobs[k].result) continue;
        blocks += by_a_block(&jobs[k]);
        if (k == FIELD) { /* U = x S moves all electrons */
            const double moved = field_size * jobs[k].input.electron_num;
            CHECK(fabs(jobs[k].result->energy - single[k % NAMES]->energy - moved) < 1e-8 &&
                      fabs(jobs[k].result->field_energy - moved) < 1e-8,
                  "job %d: %.12f", k, jobs[k].result->energy);
            continue;
        }
        check_against(names[k % NAMES], jobs[k].result, single[k % NAMES]);
        CHECK(jobs[k].result->homo ==
                  jobs[k].result->orbital_energy[jobs[k].result->occupied_num - 1],
              "job %d: homo", k);
    }
    if (mode == FMO_MODE_FUSED) CHECK(blocks >= JOBS - 2, "%d of %d by blocks", blocks, JOBS);
    CHECK(mode == FMO_MODE_AUTO || !jobs[0].result || !jobs[0].result->fock_profile.mode_reason[0],
          "a reason for what was requested");
    for (int k = 0; k < JOBS; k++) fmo_scf_result_destroy(jobs[k].result);
    for (int k = 0; k < NAMES; k++) {
        fmo_scf_result_destroy(single[k]);
        fmo_dataset_destroy(dataset[k]);
    }
    free(jobs);
    free(U);
}

/* With too few cycles each molecule fails by itself. No orbitals are made unless they are
 * requested. */
static void check_few_cycles(void)
{
    fmo_dataset *const dataset = read_shipped("n2_3-21g");
    fmo_scf_job *const jobs = calloc(JOBS, sizeof *jobs);
    fmo_scf_options options;
    fmo_error err = {FMO_OK, ""};
    if (!dataset || !jobs) return;
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_FUSED;
    options.orbitals = 0;
    for (int k = 0; k < JOBS; k++) jobs[k].input = input_of(dataset);
    CHECK(fmo_scf_run_batch(jobs, JOBS, &options, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < JOBS; k++) {
        CHECK(by_a_block(&jobs[k]) && jobs[k].result->coefficient[0] == 0.0 &&
                  isnan(jobs[k].result->homo),
              "job %d has orbitals", k);
        CHECK(jobs[k].result && jobs[k].result->energy == jobs[0].result->energy,
              "job %d has another energy than job 0", k);
        fmo_scf_result_destroy(jobs[k].result);
    }
    options.max_cycles = 3;
    CHECK(fmo_scf_run_batch(jobs, JOBS, &options, &err) == FMO_ERR_CHECK, "%s", err.message);
    for (int k = 0; k < JOBS; k++) {
        CHECK(jobs[k].status == FMO_ERR_CHECK && jobs[k].result && !by_a_block(&jobs[k]) &&
                  strstr(jobs[k].result->verdict, "not converged in 3 cycles"),
              "job %d: %s", k, jobs[k].err.message);
        fmo_scf_result_destroy(jobs[k].result);
    }
    free(jobs);
    fmo_dataset_destroy(dataset);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "fused") == 0) {
        fmo_error err = {FMO_OK, ""};
        if (fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
        check_batch(FMO_MODE_FUSED, 0.01);
        check_batch(FMO_MODE_AUTO, 0.02);
        check_few_cycles();
        return check_summary();
    }
    for (int n = 1; n <= 14; n++) check_linear_algebra(n);
    check_linear_algebra(37);
    for (int k = 0; k < NAMES; k++) check_on_host(names[k]);
    return check_summary();
}
