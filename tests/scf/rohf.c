/* ROHF: what its result guarantees, guesses and options that must not change the energy, closed
 * shells and batches, and what it refuses. Energies against PySCF's are in energies.c. */
#include <fmo/scf.h>

#include "tests/support/check.h"
#include "tests/support/molecule.h"

static fmo_scf_options defaults(void)
{
    fmo_scf_options options;
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_CPU;
    options.fock.threads = 2;
    options.energy_convergence = 1e-10;
    options.gradient_convergence = 1e-6;
    options.restricted = 1;
    return options;
}

static fmo_scf_input input_of(const fmo_dataset *dataset, int charge, int multiplicity)
{
    const fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                                 .electron_num = fmo_dataset_electron_num(dataset) - charge,
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset),
                                 .multiplicity = multiplicity};
    return input;
}

static fmo_scf_result *run(const char *what, const fmo_scf_input *input,
                           const fmo_scf_options *options)
{
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_scf_run(input, options, &r, &err) == FMO_OK, "%s: %s", what, err.message);
    return r;
}

/* Orbitals are orthonormal and in the order of their energies; the densities are those of the
 * occupied ones, and the energy that of the densities and their Fock matrices. */
static void check_result(const char *what, const fmo_scf_input *in, const fmo_scf_result *r)
{
    const size_t n = (size_t)r->nao, m = (size_t)r->mo_num;
    double worst = 0.0, electrons = 0.0, energy = 0.0, overlap_error = 0.0;
    CHECK(r->restricted && !r->unrestricted && !r->coefficient_beta && !r->orbital_energy_beta,
          "%s: flags or arrays of UHF", what);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double total = 0.0, spin = 0.0;
            for (size_t k = 0; k < m; k++) {
                const double o = r->occupation[k];
                const double cc = r->coefficient[k * n + i] * r->coefficient[k * n + j];
                total += o * cc;
                spin += o == 1.0 ? cc : 0.0;
            }
            const size_t x = i * n + j;
            worst = fmax(worst, fmax(fabs(total - r->density[x]), fabs(spin - r->spin_density[x])));
            energy +=
                0.25 *
                ((r->density[x] + r->spin_density[x]) * (r->core_hamiltonian[x] + r->fock[x]) +
                 (r->density[x] - r->spin_density[x]) * (r->core_hamiltonian[x] + r->fock_beta[x]));
        }
    for (size_t k = 0; k < m; k++) {
        electrons += r->occupation[k];
        CHECK(k == 0 || r->orbital_energy[k] >= r->orbital_energy[k - 1], "%s: orbital %zu", what,
              k);
        for (size_t l = 0; l < m; l++) {
            double S = 0.0;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    S += r->coefficient[k * n + i] * r->overlap[i * n + j] *
                         r->coefficient[l * n + j];
            overlap_error = fmax(overlap_error, fabs(S - (k == l)));
        }
    }
    const double S = 0.5 * (in->multiplicity - 1);
    CHECK(worst < 1e-5 && overlap_error < 1e-10, "%s: densities %g, overlap %g", what, worst,
          overlap_error);
    CHECK(electrons == in->electron_num, "%s: %g electrons", what, electrons);
    CHECK(fabs(energy + in->nuclear_repulsion - r->energy) < 1e-9, "%s: energy %.12f, %.12f", what,
          energy + in->nuclear_repulsion, r->energy);
    CHECK(fabs(r->spin_square - S * (S + 1.0)) < 1e-10, "%s: <S^2> %.12f", what, r->spin_square);
    CHECK(r->solver != FMO_SCF_SOLVER_PURIFY, "%s: solver", what);
}

/* Every guess and option leads to the same energy, between those of UHF and, for the guesses, from
 * the densities of UHF too. */
static void test_options(const char *name, const fmo_dataset *dataset, int charge, int multiplicity)
{
    fmo_scf_options o = defaults();
    fmo_scf_input input = input_of(dataset, charge, multiplicity);
    fmo_scf_result *const expected = run(name, &input, &o);
    o.restricted = 0;
    fmo_scf_result *const uhf = run(name, &input, &o);
    if (!expected || !uhf) return;
    check_result(name, &input, expected);
    CHECK(expected->energy > uhf->energy + 1e-5, "%s: ROHF %.9f, UHF %.9f", name, expected->energy,
          uhf->energy);
    enum { CORE, SHIFT, SHORT, FULL, PURIFY, NEWTON, CHECKED, FIXED, READ, TOTAL, WAYS };
    for (int way = 0; way < WAYS; way++) {
        char what[80];
        snprintf(what, sizeof what, "%s, way %d", name, way);
        o = defaults();
        input = input_of(dataset, charge, multiplicity);
        o.guess = way == CORE ? FMO_SCF_GUESS_CORE : o.guess;
        o.level_shift = way == SHIFT ? 0.3 : 0.0;
        o.diis_size = way == SHORT ? 3 : o.diis_size;
        o.rebuild_cycles = way == FULL ? 0 : o.rebuild_cycles;
        o.solver = way == PURIFY ? FMO_SCF_SOLVER_PURIFY : o.solver;
        o.solver = way == NEWTON ? FMO_SCF_SOLVER_NEWTON : o.solver;
        o.stability = way == CHECKED ? FMO_SCF_STABILITY_CHECK : o.stability;
        o.fock.scatter = way == FIXED ? FMO_SCATTER_FIXED : o.fock.scatter;
        if (way == READ || way == TOTAL) {
            o.guess = FMO_SCF_GUESS_READ;
            input.density = uhf->density;
            input.spin_density = way == READ ? uhf->spin_density : NULL;
        }
        fmo_scf_result *const r = run(what, &input, &o);
        if (r) {
            CHECK(fabs(r->energy - expected->energy) < 1e-8, "%s: %.10f, expected %.10f", what,
                  r->energy, expected->energy);
            check_result(what, &input, r);
            CHECK((r->newton_cycles > 0) == (way == NEWTON), "%s: %d cycles of newton", what,
                  r->newton_cycles);
            CHECK(way != CHECKED || r->hessian_lowest > 0.01, "%s: Hessian %g", what,
                  r->hessian_lowest);
        }
        fmo_scf_result_destroy(r);
    }
    fmo_scf_result_destroy(expected);
    fmo_scf_result_destroy(uhf);
}

/* In a batch closed shells are RHF, bit for bit, and open ones as alone. */
static void test_batch(const fmo_dataset *dataset)
{
    fmo_scf_options o = defaults();
    o.fock.scatter = FMO_SCATTER_FIXED;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_job job[3] = {{.input = input_of(dataset, 0, 1)},
                          {.input = input_of(dataset, 1, 2)},
                          {.input = input_of(dataset, 0, 0)}};
    fmo_scf_result *alone[2];
    alone[1] = run("cation", &job[1].input, &o);
    const fmo_scf_options rohf = o;
    o.restricted = 0;
    alone[0] = run("molecule", &job[0].input, &o);
    CHECK(fmo_scf_run_batch(job, 3, &rohf, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < 3; k++) {
        const fmo_scf_result *const r = job[k].result, *const expected = alone[k == 1];
        if (!r || !expected) continue;
        CHECK(r->energy == expected->energy && r->cycles == expected->cycles,
              "job %d: %.12f, alone %.12f", k, r->energy, expected->energy);
        CHECK(r->restricted == (k == 1) && !r->unrestricted && !r->fock_beta == (k != 1),
              "job %d: method", k);
        fmo_scf_result_destroy(job[k].result);
    }
    fmo_scf_result_destroy(alone[0]);
    fmo_scf_result_destroy(alone[1]);
}

static void refused(const fmo_dataset *dataset, const fmo_scf_options *options, fmo_status status,
                    const char *words)
{
    const fmo_scf_input input = input_of(dataset, 1, 2);
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_scf_run(&input, options, &r, &err) == status && !r && strstr(err.message, words),
          "'%s' does not have '%s'", err.message, words);
    fmo_scf_result_destroy(r);
}

static void test_refusals(const fmo_dataset *dataset)
{
    fmo_scf_options o = defaults();
    o.unrestricted = 1;
    refused(dataset, &o, FMO_ERR_ARGUMENT, "unrestricted = 1");
    o = defaults();
    o.guess_mix = 1;
    refused(dataset, &o, FMO_ERR_ARGUMENT, "guess_mix = 1");
    o.guess_mix = 0;
    o.restricted = 2;
    refused(dataset, &o, FMO_ERR_ARGUMENT, "restricted = 2");
}

int main(void)
{
    fmo_dataset *const water = molecule_dataset("water001", "6-31g(d)");
    fmo_dataset *const sulfide = molecule_dataset("h2s", "6-31g");
    if (water && sulfide) {
        test_options("H2O+", water, 1, 2);
        test_options("H2O, triplet", water, 0, 3);
        test_options("H2S+", sulfide, 1, 2);
        test_batch(water);
        test_refusals(water);
    }
    fmo_dataset_destroy(water);
    fmo_dataset_destroy(sulfide);
    return check_summary();
}
