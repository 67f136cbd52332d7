/* fmo_scf_run on the data sets: their energies from every guess and solver, and without incremental
 * builds; what the result guarantees; failure to converge; instability; the same bits in every run
 * and for any number of threads with `fixed`. Argument: a mode; fused without a GPU is skipped. */
#include <fmo/dataset.h>
#include <fmo/scf.h>

#include "tests/support/shipped.h"

static fmo_mode mode;

static fmo_scf_options defaults(void)
{
    fmo_scf_options options;
    fmo_scf_options_init(&options);
    options.fock.mode = mode;
    return options;
}

static fmo_status run(const fmo_dataset *dataset, const fmo_scf_options *options,
                      fmo_scf_result **result, fmo_error *err)
{
    const fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                                 .electron_num = fmo_dataset_electron_num(dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset),
                                 .density = fmo_dataset_density(dataset)};
    return fmo_scf_run(&input, options, result, err);
}

/* ---- energies ------------------------------------------------------------------------------ */

static void check_energy(const char *what, const fmo_dataset *dataset,
                         const fmo_scf_options *options)
{
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(run(dataset, options, &r, &err) == FMO_OK, "%s: %s", what, err.message);
    if (!r) return;
    const double expected = fmo_dataset_reference_energy(dataset);
    CHECK(r->converged && fabs(r->energy - expected) < 1e-8, "%s: got %.10f, expected %.10f", what,
          r->energy, expected);
    CHECK(r->gradient < options->gradient_convergence &&
              (fabs(r->energy_change) < options->energy_convergence ||
               r->energy_error < options->energy_convergence),
          "%s: converged at a gradient of %g and a change of %g", what, r->gradient,
          r->energy_change);
    fmo_scf_result_destroy(r);
}

/* Every guess and solver gives the data sets' energies, and so do full builds, a level shift and a
 * short DIIS. */
static void test_energies(void)
{
    static const char *const names[] = {"h2o_6-31g",

                                        "ch2o_6-31g_sph",
                                        "h2s_hcl_6-31g",
                                        "ch3oh_6-31g_shuffled",
                                        "n2_3-21g",
                                        "hehp_sto-3g",
                                        "nh3_3-21g_sph_shuffled",
                                        "he_sto-3g",
                                        "he2_6-31g",
                                        "h2_cc-pvdz",
                                        "h2s_6-31gd_shuffled",
                                        "h2o_def2-svp_sph_shuffled"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char what[128];
        fmo_dataset *dataset = read_shipped(names[k]);
        if (!dataset) continue;
        for (int guess = 0; guess < FMO_SCF_GUESS_COUNT; guess++)
            for (int solver = 0; solver < FMO_SCF_SOLVER_COUNT; solver++) {
                fmo_scf_options options = defaults();
                options.guess = (fmo_scf_guess)guess;
                options.solver = (fmo_scf_solver)solver;
                if (solver == FMO_SCF_SOLVER_NEWTON) {
                    if (mode == FMO_MODE_FUSED) continue;         /* refused there */
                    options.stability = FMO_SCF_STABILITY_FOLLOW; /* it keeps the symmetry of N2 */
                }
                snprintf(what, sizeof what, "%s, guess %s, solver %s", names[k],
                         fmo_scf_guess_name(options.guess), fmo_scf_solver_name(options.solver));
                check_energy(what, dataset, &options);
            }
        fmo_scf_options options = defaults();
        options.rebuild_cycles = 0;
        check_energy("full builds", dataset, &options);
        options.rebuild_cycles = 2;
        check_energy("a full build after two", dataset, &options);
        options.level_shift = 0.3;
        check_energy("level shift", dataset, &options);
        options = defaults();
        options.diis_size = 3;
        check_energy("three Fock matrices", dataset, &options);
        fmo_dataset_destroy(dataset);
    }
}

/* The estimate of the error of an energy is at least a third of it, and the energy is within its
 * threshold; further cycles reduce the gradient as long as it falls. */
static void test_estimate(void)
{
    static const char *const names[] = {"ch2o_6-31g_sph", "ch3oh_6-31g_shuffled", "h2s_hcl_6-31g",
                                        "h2o8_sto-3g", "h2s_6-31gd_shuffled"};
    int by_estimate = 0;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        fmo_dataset *const dataset = read_shipped(names[k]);
        fmo_scf_options options = defaults();
        fmo_scf_result *r = NULL, *end = NULL;
        fmo_error err = {FMO_OK, ""};
        if (!dataset) continue;
        CHECK(run(dataset, &options, &r, &err) == FMO_OK, "%s: %s", names[k], err.message);
        options.gradient_aim = 1e-7;
        CHECK(run(dataset, &options, &end, &err) == FMO_OK, "%s: %s", names[k], err.message);
        if (r && end) {
            const double left = r->energy - end->energy;
            by_estimate += fabs(r->energy_change) >= options.energy_convergence;
            CHECK(left > -1e-11 && left < 3.0 * r->energy_error + 1e-11 && r->energy_error < 1e-8 &&
                      left < options.energy_convergence,
                  "%s: %.2e above the end, estimated %.2e", names[k], left, r->energy_error);
            CHECK(end->gradient < 1e-6 && end->cycles > r->cycles,
                  "%s: gradient %.1e in %d cycles, then %.1e in %d", names[k], r->gradient,
                  r->cycles, end->gradient, end->cycles);
        }
        fmo_scf_result *short_of = NULL; /* the aimed gradient is not a condition of convergence */
        if (r) options.max_cycles = r->cycles;
        CHECK(run(dataset, &options, &short_of, &err) == FMO_OK, "%s in %d cycles: %s", names[k],
              options.max_cycles, err.message);
        fmo_scf_result_destroy(r);
        fmo_scf_result_destroy(end);
        fmo_scf_result_destroy(short_of);
        fmo_dataset_destroy(dataset);
    }
    CHECK(by_estimate > 0, "nothing converged by the estimate");
}

/* ---- the result ---------------------------------------------------------------------------- */

static void count_cycle(const fmo_scf_cycle *cycle, void *user)
{
    int *count = user;
    ++*count;
    CHECK(cycle->cycle == *count && cycle->fock_seconds >= 0.0 && cycle->solve_seconds >= 0.0,
          "cycle %d is called %d", *count, cycle->cycle);
}

/* The matrices, orbitals and counts of a result are consistent with each other. */
static void test_result(void)
{
    fmo_dataset *dataset = read_shipped("ch3oh_6-31g_shuffled");
    if (!dataset) return;
    fmo_scf_options options = defaults();
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    int cycles = 0;
    options.callback = count_cycle;
    options.user = &cycles;
    options.gradient_convergence = 1e-7;
    CHECK(run(dataset, &options, &r, &err) == FMO_OK, "%s", err.message);
    if (r) {
        const size_t n = (size_t)r->nao, m = (size_t)r->mo_num;
        CHECK(cycles == r->cycles, "%d calls in %d cycles", cycles, r->cycles);
        CHECK(r->device == (mode == FMO_MODE_FUSED), "device %d", r->device);
        CHECK(r->full_builds >= 2 && r->full_builds < r->cycles, "%d full builds in %d cycles",
              r->full_builds, r->cycles);
        double energy = fmo_dataset_nuclear_repulsion(dataset);
        for (size_t i = 0; i < n * n; i++)
            energy += 0.5 * r->density[i] * (r->core_hamiltonian[i] + r->fock[i]);
        CHECK(fabs(energy - r->energy) < 1e-10, "energy of the result's matrices: %.12f", energy);
        double *density = calloc(n * n, sizeof *density);
        for (size_t p = 0; p < m; p++) {
            /* F C = S C e, in the AOs */
            const double *c = r->coefficient + p * n;
            double worst = 0.0;
            for (size_t i = 0; i < n; i++) {
                double left = 0.0, right = 0.0;
                for (size_t j = 0; j < n; j++) {
                    left += r->fock[i * n + j] * c[j];
                    right += r->overlap[i * n + j] * c[j];
                    density[i * n + j] += r->occupation[p] * c[i] * c[j];
                }
                worst = fmax(worst, fabs(left - r->orbital_energy[p] * right));
            }
            CHECK(worst < 1e-9, "orbital %zu: F C - S C e = %g", p, worst);
            CHECK(p == 0 || r->orbital_energy[p] >= r->orbital_energy[p - 1], "orbital %zu", p);
            CHECK(r->occupation[p] == (p < (size_t)r->occupied_num ? 2.0 : 0.0), "orbital %zu", p);
        }
        check_close("density of the orbitals", density, r->density, n * n, n, 1e-6, 0.0);
        check_close("density of the data set", r->density, fmo_dataset_density(dataset), n * n, n,
                    1e-6, 0.0);
        CHECK(r->homo == r->orbital_energy[r->occupied_num - 1] &&
                  r->lumo == r->orbital_energy[r->occupied_num] && r->homo < r->lumo,
              "HOMO %g, LUMO %g", r->homo, r->lumo);
        free(density);
    }
    fmo_scf_result_destroy(r);
    fmo_dataset_destroy(dataset);
}

/* The callback before the first cycle, and notices about a cutoff. */
typedef struct beginning {
    int begun, cycles;
} beginning;

static void record_begin(const fmo_scf_result *so_far, void *user)
{
    beginning *b = user;
    b->begun++;
    CHECK(b->cycles == 0, "begun after %d cycles", b->cycles);
    CHECK(so_far->nao == 13 && so_far->occupied_num == 5 && so_far->mode == mode &&
              so_far->fock_profile.mode == mode && so_far->fock_profile.threads >= 1 &&
              strstr(so_far->notice, "cutoff 1e-06"),
          "nao %d, %d occupied, '%s'", so_far->nao, so_far->occupied_num, so_far->notice);
}

static void record_cycle(const fmo_scf_cycle *cycle, void *user)
{
    beginning *b = user;
    b->cycles = cycle->cycle;
}

/* A cutoff that is too loose for the convergence threshold gives a notice with the expected error.
 */
static void test_cutoff(void)
{
    fmo_dataset *dataset = read_shipped("h2o_6-31g");
    if (!dataset) return;
    const struct {
        double cutoff, threshold;
        const char *notice;
    } cases[] = {{1e-12, 1e-9, ""},
                 {1e-10, 1e-9, ""},
                 {0.0, 1e-12, ""},
                 {1e-6, 1e-6, ""},
                 {1e-6, 1e-9,
                  "an error of 7e-07 hartree (threshold 1e-09); choose a cutoff of at "
                  "most 1e-09"},
                 {1e-4, 1e-7, "an error of 7e-05 hartree"},
                 {0.1, 1e-3, "an error of any size"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        /* sums on a GPU differ from build to build: by more than 1e-12, and where a cutoff is too
         * loose by what it leaves out, so that an SCF may not end */
        if (mode == FMO_MODE_FUSED && (cases[k].threshold < 1e-9 || *cases[k].notice)) continue;
        fmo_scf_options options = defaults();
        fmo_scf_result *r = NULL;
        fmo_error err = {FMO_OK, ""};
        beginning recorded = {0, 0};
        options.fock.cutoff = cases[k].cutoff;
        options.energy_convergence = cases[k].threshold;
        options.callback = record_cycle;
        options.user = &recorded;
        if (k == 4) options.begun = record_begin;
        CHECK(run(dataset, &options, &r, &err) == FMO_OK, "%g: %s", cases[k].cutoff, err.message);
        CHECK(recorded.begun == (k == 4), "begun %d times", recorded.begun);
        if (r)
            CHECK(*cases[k].notice ? strstr(r->notice, cases[k].notice) != NULL : !*r->notice,
                  "cutoff %g, %g: '%s'", cases[k].cutoff, cases[k].threshold, r->notice);
        fmo_scf_result_destroy(r);
    }
    fmo_dataset_destroy(dataset);
}

typedef struct stopping {
    volatile int stop;
    int at, last; /* the cycle that stops, which is the last one reported */
} stopping;

static void record_and_stop(const fmo_scf_cycle *cycle, void *user)
{
    stopping *s = user;
    s->last = cycle->cycle;
    if (cycle->cycle == s->at) s->stop = 1;
}

/* An SCF ends with the cycle in which its caller stops it. */
static void test_stopped(void)
{
    fmo_dataset *dataset = read_shipped("h2o_6-31g");
    if (!dataset) return;
    for (int at = 1; at <= 3; at++) {
        stopping s = {.stop = 0, .at = at};
        fmo_scf_options options = defaults();
        fmo_scf_result *r = NULL;
        fmo_error err = {FMO_OK, ""};
        options.callback = record_and_stop;
        options.user = &s;
        options.stop = &s.stop;
        const fmo_status status = run(dataset, &options, &r, &err);
        CHECK(status == FMO_ERR_CHECK && s.last == at &&
                  strstr(err.message, "stopped by the caller"),
              "stopped after cycle %d: status %d after cycle %d, '%s'", at, status, s.last,
              err.message);
        fmo_scf_result_destroy(r);
    }
    fmo_dataset_destroy(dataset);
}

/* What test_loosened records of the cycles. */
typedef struct loosened {
    int first_changes, full_before_end;
    int64_t quartets; /* of the changes before the second full build; mode cpu */
} loosened;

static void record_loosened(const fmo_scf_cycle *cycle, void *user)
{
    loosened *const l = user;
    if (cycle->full_build) {
        l->full_before_end = cycle->cycle;
        return;
    }
    if (l->full_before_end > 1) return;
    l->first_changes++;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        l->quartets += cycle->so_far->fock_profile.classes[c].quartets;
}

/* Changes come with a looser cutoff until the gradient is small, unless the thresholds leave no
 * space for that; the energy is as good. */
static void test_loosened(void)
{
    fmo_dataset *const dataset = read_shipped("h2o8_sto-3g");
    fmo_scf_options options = defaults();
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    double energy[2] = {0.0, 0.0};
    loosened seen[2] = {{0, 0, 0}, {0, 0, 0}};
    options.callback = record_loosened;
    options.fock.integrals = FMO_INTEGRALS_DIRECT;
    const int runs = mode == FMO_MODE_CPU ? 2 : 1; /* quartets are counted there */
    for (int tight = 0; tight < runs && dataset; tight++) {
        options.user = &seen[tight];
        if (tight) options.gradient_convergence = 1e-9;
        CHECK(run(dataset, &options, &r, &err) == FMO_OK, "%s", err.message);
        if (!r) break;
        energy[tight] = r->energy;
        CHECK(r->full_builds >= 2 && seen[tight].full_before_end > r->cycles / 2,
              "the last full build of %d is cycle %d of %d", r->full_builds,
              seen[tight].full_before_end, r->cycles);
        fmo_scf_result_destroy(r);
        r = NULL;
    }
    if (runs == 2) {
        CHECK(fabs(energy[1] - energy[0]) < 1e-9, "energies %.11f and %.11f", energy[0], energy[1]);
        CHECK((double)seen[0].quartets / seen[0].first_changes <
                  0.8 * (double)seen[1].quartets / seen[1].first_changes,
              "%lld quartets in %d changes, %lld in %d", (long long)seen[0].quartets,
              seen[0].first_changes, (long long)seen[1].quartets, seen[1].first_changes);
    }
    fmo_dataset_destroy(dataset);
}

/* If the final Fock matrix may be loose, the one full build with the requested cutoff comes
 * earlier, and the energy is as good; also from a given density. */
static void test_loose_fock(void)
{
    fmo_dataset *const dataset = read_shipped("h2o8_sto-3g");
    fmo_scf_options options = defaults();
    fmo_error err = {FMO_OK, ""};
    fmo_scf_result *r[3] = {NULL, NULL, NULL};
    options.callback = record_loosened;
    options.fock.integrals = FMO_INTEGRALS_DIRECT;
    options.energy_convergence = 1e-10;
    options.gradient_convergence = 1e-6;
    for (int k = 0; k < 3 && dataset; k++) {
        loosened seen = {0, 0, 0};
        fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                               .electron_num = fmo_dataset_electron_num(dataset),
                               .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
        options.user = &seen;
        options.loose_fock = k > 0;
        options.guess = k == 2 ? FMO_SCF_GUESS_READ : FMO_SCF_GUESS_SAD;
        input.density = k == 2 && r[0] ? r[0]->density : NULL;
        CHECK(fmo_scf_run(&input, &options, &r[k], &err) == FMO_OK, "%s", err.message);
        if (!r[k] || !r[0]) break;
        CHECK(fabs(r[k]->energy - r[0]->energy) < 3e-10, "energies %.11f and %.11f", r[k]->energy,
              r[0]->energy);
        CHECK(k != 1 || (seen.full_before_end > 1 && seen.full_before_end < r[k]->cycles - 1),
              "the last full build is cycle %d of %d", seen.full_before_end, r[k]->cycles);
        double largest = 0.0;
        for (int i = 0; i < r[k]->nao * r[k]->nao; i++)
            largest = fmax(largest, fabs(r[k]->fock[i] - r[0]->fock[i]));
        CHECK(largest < options.gradient_convergence, "Fock matrices differ by %g", largest);
    }
    for (int k = 0; k < 3; k++) fmo_scf_result_destroy(r[k]);
    fmo_dataset_destroy(dataset);
}

static void test_not_converged(void)
{
    fmo_dataset *dataset = read_shipped("h2o_6-31g");
    if (!dataset) return;
    fmo_scf_options options = defaults();
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    options.max_cycles = 3;
    CHECK(run(dataset, &options, &r, &err) == FMO_ERR_CHECK, "three cycles are not enough");
    CHECK(strstr(err.message, "not converged in 3 cycles"), "'%s'", err.message);
    CHECK(r && !r->converged && r->cycles == 3 && strstr(err.message, r->verdict), "no last state");
    if (r)
        CHECK(fabs(r->energy + 75.97) < 0.05 && r->homo < r->lumo, "the last state: %g, %g, %g",
              r->energy, r->homo, r->lumo);
    fmo_scf_result_destroy(r);
    fmo_dataset_destroy(dataset);
}

/* N2 stretched to 3.6 bohr: a symmetric guess leads to a saddle point (PySCF: -108.36004590, and
 * below it -108.47039058 in its own 6-31G). Checked, not followed, it must be called unstable. */
static void test_instability(void)
{
    fmo_dataset *dataset = read_shipped("n2_3-21g");
    if (!dataset) return;
    const fmo_basis_input *from = fmo_dataset_basis_input(dataset);
    fmo_basis_input stretched = *from;
    const double coord[] = {0.0, 0.0, -1.8, 0.0, 0.0, 1.8};
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    double energy[2] = {NAN, NAN};
    stretched.nucleus_coord = coord;
    CHECK(fmo_basis_create(&stretched, &basis, &err) == FMO_OK, "%s", err.message);
    const fmo_scf_input input = {.basis = basis,
                                 .electron_num = 14,
                                 .nuclear_repulsion = fmo_basis_nuclear_repulsion(basis)};
    for (int follow = 0; follow < 2; follow++) {
        fmo_scf_options options = defaults();
        fmo_scf_result *r = NULL;
        err = (fmo_error){FMO_OK, ""};
        options.stability = follow ? FMO_SCF_STABILITY_FOLLOW : FMO_SCF_STABILITY_CHECK;
        CHECK(fmo_scf_run(&input, &options, &r, &err) == FMO_OK, "%s", err.message);
        if (r) {
            energy[follow] = r->energy;
            if (follow)
                CHECK(r->descents > 0 && r->hessian_lowest > -1e-5, "%d descents, Hessian %g",
                      r->descents, r->hessian_lowest);
            else
                CHECK(r->hessian_lowest < -0.01 && strstr(r->verdict, "unstable"), "%g: %s",
                      r->hessian_lowest, r->verdict);
        }
        fmo_scf_result_destroy(r);
    }
    CHECK(energy[1] < energy[0] - 0.01, "following leads from %.8f to %.8f", energy[0], energy[1]);
    fmo_basis_destroy(basis);
    fmo_dataset_destroy(dataset);
}

/* ---- reproducibility ----------------------------------------------------------------------- */

/* With `fixed` the energy has the same bits for any number of threads. */
static void test_fixed(void)
{
    fmo_dataset *dataset = read_shipped("h2o8_sto-3g");
    if (!dataset) return;
    static const int threads[] = {1, 1, 2, 3, 4};
    double first = NAN, first_loose = NAN;
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        for (int fixed = 0; fixed < 2; fixed++) {
            fmo_scf_options options = defaults();
            fmo_scf_result *r = NULL;
            fmo_error err = {FMO_OK, ""};
            options.fock.threads = threads[k];
            if (fixed) options.fock.scatter = FMO_SCATTER_FIXED;
            CHECK(run(dataset, &options, &r, &err) == FMO_OK, "%s", err.message);
            double *at = fixed ? &first : &first_loose;
            if (r && k == 0) *at = r->energy;
            if (r && fixed)
                CHECK(memcmp(&r->energy, at, sizeof *at) == 0,
                      "fixed, %d threads, run %zu: %.17g, first %.17g", threads[k], k, r->energy,
                      *at);
            else if (r)
                CHECK(fabs(r->energy - *at) < 1e-10, "%d threads: %.17g, first %.17g", threads[k],
                      r->energy, *at);
            fmo_scf_result_destroy(r);
        }
    }
    fmo_dataset_destroy(dataset);
}

/* Integrals are stored where the mode chooses it, or where the caller requests it. */
static void test_integrals(void)
{
    fmo_dataset *dataset = read_shipped("h2s_hcl_6-31g");
    for (int by_name = 0; by_name < 2 && dataset; by_name++) {
        fmo_scf_options options = defaults();
        fmo_scf_result *r = NULL;
        fmo_error err = {FMO_OK, ""};
        options.auto_in_fused = by_name;
        check_energy(by_name ? "integrals auto by name" : "integrals by default", dataset,
                     &options);
        CHECK(run(dataset, &options, &r, &err) == FMO_OK, "%s", err.message);
        /* builds with all matrices on the GPU keep no profile */
        CHECK(r && (r->fock_profile.integrals == FMO_INTEGRALS_STORED || mode == FMO_MODE_FUSED),
              "by name: %d, integrals are %s", by_name,
              r ? fmo_integrals_name(r->fock_profile.integrals) : "unknown");
        fmo_scf_result_destroy(r);
    }
    fmo_dataset_destroy(dataset);
}

int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    mode = argc > 1 && strcmp(argv[1], "fused") == 0 ? FMO_MODE_FUSED : FMO_MODE_CPU;
    if (mode == FMO_MODE_FUSED && fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
    test_energies();
    test_estimate();
    test_result();
    test_cutoff();
    test_stopped();
    test_loosened();
    test_loose_fock();
    test_not_converged();
    test_instability();
    test_fixed();
    test_integrals();
    return check_summary();
}
