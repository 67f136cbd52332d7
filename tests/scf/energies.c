/* Energies of the molecules of energies.json, energies_d.json, energies_f.json, energies_uhf.json
 * and energies_rohf.json against PySCF's, to 1e-8 hartree, at stable minima; of open shells also
 * <S^2>, of ROHF S(S + 1). Arguments: the file, a mode, [words that names must contain, or with -
 * in front must not]. Mode fused without a GPU: skipped. Molecules run with the solver and options
 * of the mode's default; those that are not large are followed down where they are unstable. */
#include <fmo/scf.h>

#include "tests/scf/list.h"

static const double tolerance = 1e-8;

static void print_cycle(const fmo_scf_cycle *c, void *user)
{
    (void)user;
    if (getenv("FMO_TEST_VERBOSE"))
        printf("  %3d %18.10f %10.2e %9.2e %s%s\n", c->cycle, c->energy, c->energy_change,
               c->gradient, c->full_build ? "full" : "change", c->energy_diis ? " EDIIS" : "");
}

/* The SCF energy of one molecule agrees with PySCF's, and the solution is stable. */
static void run(const scf_entry *entry, fmo_mode mode)
{
    fmo_scf_options options;
    fmo_scf_result *result = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options_init(&options);
    options.fock.mode = mode;
    options.energy_convergence = 1e-10;
    options.gradient_convergence = 1e-6;
    options.unrestricted = entry->multiplicity > 0 && !entry->restricted;
    options.restricted = entry->restricted;
    options.guess_mix = entry->multiplicity == 1;
    const int without = entry->large;
    options.stability = without ? FMO_SCF_STABILITY_NONE : FMO_SCF_STABILITY_FOLLOW;
    options.callback = print_cycle;
    if (getenv("FMO_TEST_VERBOSE")) printf("%s %s\n", entry->name, entry->basis);
    const fmo_scf_input input = {.basis = fmo_dataset_basis(entry->dataset),
                                 .electron_num = fmo_dataset_electron_num(entry->dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(entry->dataset),
                                 .multiplicity = entry->multiplicity};
    const fmo_status status = fmo_scf_run(&input, &options, &result, &err);
    CHECK(status == FMO_OK && result, "%s %s: %s", entry->name, entry->basis, err.message);
    if (!result) return;
    printf("%-14s %-7s %18.10f %+.1e %3d cycles, gap %.3f, Hessian %.4f, %d descents, %.2f s\n",
           entry->name, entry->basis, result->energy, result->energy - entry->energy,
           result->cycles, result->lumo - result->homo, result->hessian_lowest, result->descents,
           result->seconds);
    fflush(stdout);
    CHECK(fabs(result->energy - entry->energy) < tolerance, "%s %s: got %.10f, expected %.10f",
          entry->name, entry->basis, result->energy, entry->energy);
    const double S = 0.5 * (entry->multiplicity - 1);
    if (options.restricted)
        CHECK(fabs(result->spin_square - S * (S + 1.0)) < 1e-10, "%s: <S^2> %.12f", entry->name,
              result->spin_square);
    else if (options.unrestricted)
        CHECK(fabs(result->spin_square - entry->spin_square) < 1e-4,
              "%s: <S^2> %.7f, expected %.7f", entry->name, result->spin_square,
              entry->spin_square);
    CHECK(without || !(result->hessian_lowest < -1e-5), "%s %s: unstable, %g", entry->name,
          entry->basis, result->hessian_lowest);
    CHECK(result->device == (mode == FMO_MODE_FUSED), "%s: device %d in mode %s", entry->name,
          result->device, fmo_mode_name(mode));
    fmo_scf_result_destroy(result);
}

/* Runs the molecules of a list in a mode: LIST.json MODE [NAME...]. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    if (argc < 3) return 2;
    const fmo_mode mode = scf_mode_of(argv[2]);
    if (!scf_mode_runs(mode, &err)) return check_skip(err.message);
    json_t *root = scf_list_read(argv[1]);
    scf_entry entry;
    for (size_t k = 0; root && scf_list_entry(root, k, &entry); k++) {
        int selected = argc < 4 || argv[3][0] == '-';
        for (int word = 3; word < argc; word++) {
            const int without = argv[word][0] == '-';
            if (strstr(entry.name, argv[word] + without)) selected = !without;
        }
        if (selected && entry.dataset) run(&entry, mode);
        fmo_dataset_destroy(entry.dataset);
    }
    json_decref(root);
    return check_summary();
}
