/* The table of the options of fmo-driver, which the option parser (option.h) reads. A new option is
 * a new row, which says for which runs, modes and files it has an effect; a new value of --mode or
 * --scatter is a new row in fock.h or scatter.h, with no change here. Next: options_check.c. */
#include "driver/cli/options_internal.h"
#include "driver/base/hash.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <fmo/version.h>

static const char *profile_name(driver_profile_format format)
{
    static const char *const names[DRIVER_PROFILE_FORMAT_COUNT] = {"none", "table", "json"};
    return names[format];
}
static const char *profile_text(driver_profile_format format)
{
    static const char *const texts[DRIVER_PROFILE_FORMAT_COUNT] = {
        "no profile", "text after the report (same as --profile)",
        "only JSON on stdout (docs/reference/profile-json.md)"};
    return texts[format];
}

CLI_CHOICES(modes, FMO_MODE_COUNT, fmo_mode, fmo_mode);
CLI_CHOICES(reduces, FMO_REDUCE_COUNT, fmo_reduce, fmo_reduce);
CLI_CHOICES(scatters, FMO_SCATTER_COUNT, fmo_scatter, fmo_scatter);
CLI_CHOICES(commits, FMO_COMMIT_COUNT, fmo_commit, fmo_commit);
CLI_CHOICES(integrals, FMO_INTEGRALS_COUNT, fmo_integrals, fmo_integrals);
CLI_CHOICES(coulombs, FMO_COULOMB_COUNT, fmo_coulomb, fmo_coulomb);
CLI_CHOICES(functions, FMO_FUNCTIONS_COUNT, fmo_functions, fmo_functions);
CLI_CHOICES(units, FMO_UNIT_COUNT, fmo_unit, fmo_unit);
CLI_CHOICES(guesses, FMO_SCF_GUESS_COUNT, fmo_scf_guess, fmo_scf_guess);
CLI_CHOICES(solvers, FMO_SCF_SOLVER_COUNT, fmo_scf_solver, fmo_scf_solver);
CLI_CHOICES(stabilities, FMO_SCF_STABILITY_COUNT, fmo_scf_stability, fmo_scf_stability);
static const char *keep_name(driver_keep keep)
{
#define ROW(e, name, text) name,
    static const char *const names[DRIVER_KEEP_COUNT] = {DRIVER_KEEP_TABLE(ROW)};
#undef ROW
    return names[keep];
}
static const char *keep_text(driver_keep keep)
{
#define ROW(e, name, text) text,
    static const char *const texts[DRIVER_KEEP_COUNT] = {DRIVER_KEEP_TABLE(ROW)};
#undef ROW
    return texts[keep];
}

CLI_CHOICES(keeps, DRIVER_KEEP_COUNT, driver_keep, keep);
CLI_CHOICES(profiles, DRIVER_PROFILE_FORMAT_COUNT, driver_profile_format, profile);

/* ---- defaults that are more than a field ---------------------------------------------------- */

static void show_cutoff(const cli_option *row, const void *defaults, FILE *stream)
{
    const driver_options *options = defaults;
    (void)row;
    fprintf(stream, "%g; --scf, --fmo %g", options->fock.cutoff, options->scf_options.fock.cutoff);
}
static void show_integrals(const cli_option *row, const void *defaults, FILE *stream)
{
    const driver_options *options = defaults;
    cli_show_field(row, defaults, stream);
    fprintf(stream, "; --scf, --fmo %s, in mode fused %s",
            fmo_integrals_name(options->scf_options.fock.integrals),
            fmo_integrals_name(FMO_INTEGRALS_DIRECT)); /* fmo_scf_options.auto_in_fused */
}
static void show_threads(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fputs("OMP_NUM_THREADS, else all cores; --fmo on GPUs at most 16", stream);
}
static void show_memory(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fputs("all free memory", stream);
}
static void show_charge(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fputs("from the data set or the comment (charge=), else 0", stream);
}
static void show_convergence(const cli_option *row, const void *defaults, FILE *stream)
{
    const driver_options *options = defaults;
    cli_show_field(row, defaults, stream);
    fprintf(stream, "; --fmo %g", options->fragment_options.scf.energy_convergence);
}
static void show_max_cycles(const cli_option *row, const void *defaults, FILE *stream)
{
    const driver_options *options = defaults;
    cli_show_field(row, defaults, stream);
    fprintf(stream, "; --fmo %d", options->fragment_options.scf.max_cycles);
}
static void show_gradient(const cli_option *row, const void *defaults, FILE *stream)
{
    const driver_options *options = defaults;
    cli_show_field(row, defaults, stream);
    fprintf(stream, "; --fmo %g", options->fragment_options.scf.gradient_convergence);
}
static void show_stability(const cli_option *row, const void *defaults, FILE *stream)
{
    cli_show_field(row, defaults, stream);
    fprintf(stream, "; %s if no value is given", row->without);
}

/* ---- the table ----------------------------------------------------------------------------- */

static const cli_option option_table[] = {
    {"mode", 'm', CLI_CHOICE, "MODE", AT(fock.mode), .choices = &modes, .show = cli_show_field,
     .section = "Fock builds", .help = "where and how to build"},
    /* A cutoff above 1 hartree would drop all quartets; it is probably a typing error such as "10"
     * for "1e-10". */
    {"cutoff", 'c', CLI_REAL, "X", AT(fock.cutoff), .high = 1.0, .what = "1e-10",
     .given = AT(cutoff_given), .show = show_cutoff, .modes = MODE(CPU) | MODE(FUSED) | MODE(SPLIT),
     .help = "drop quartets estimated below X hartree; 0: drop none"},
    {"threads", 't', CLI_COUNT, "N", AT(fock.threads), .low = 1, .high = 4096, .show = show_threads,
     .help = "CPU threads"},
    {"reduce", 0, CLI_CHOICE, "HOW", AT(fock.reduce), .choices = &reduces, .show = cli_show_field,
     .modes = MODE(CPU) | MODE(SPLIT), .help = "how CPU threads accumulate J and K"},
    {"scatter", 's', CLI_CHOICE, "HOW", AT(fock.scatter), .choices = &scatters,
     .show = cli_show_field, .modes = MODE(FUSED) | MODE(CPU),
     .help = "how GPU threads accumulate J and K; fixed: CPU threads also"},
    {"commit", 0, CLI_CHOICE, "HOW", AT(fock.commit), .choices = &commits, .show = cli_show_field,
     .modes = MODE(FUSED), .help = "how an atomic update is made"},
    {"integrals", 0, CLI_CHOICE, "HOW", AT(fock.integrals), .choices = &integrals,
     .given = AT(integrals_given), .show = show_integrals, .modes = MODE(CPU) | MODE(FUSED),
     .help = "whether integrals are stored between builds"},
    {"coulomb", 0, CLI_CHOICE, "HOW", AT(fock.coulomb), .choices = &coulombs,
     .show = cli_show_field, .modes = MODE(CPU) | MODE(FUSED),
     .help = "how J of well-separated pairs is computed"},
    {"no-overlap", 0, CLI_SWITCH, NULL, AT(fock.no_overlap), .modes = MODE(SPLIT),
     .help = "do not run GPU and CPU concurrently"},
    {"gpus", 0, CLI_TEXT, "N", AT(gpus), .what = "a number, or all", .alone = true,
     .modes = MODE(FUSED) | MODE(SPLIT),
     .help = "number of GPUs that share each build, or among which a batch is distributed; all: "
             "all GPUs"},
    {"memory", 0, CLI_SIZE, "SIZE", AT(fock.memory), .show = show_memory,
     .help = "maximum workspace of a build, such as 500M or 8G"},

    {"repeat", 'n', CLI_COUNT, "N", AT(repeat), .low = 1, .high = 100000, .commands = ANY_BUILD,
     .show = cli_show_field, .section = "Builds of a data set's density",
     .help = "build N times; report min, median and max"},
    {"batch", 0, CLI_FLAG, NULL, AT(batch), .commands = ANY_BUILD | ANY_SCF,
     .help =
         "build all data sets in one call: concurrently on the GPU (fused); with --scf the SCFs of "
         "many molecules"},
    {"check", 0, CLI_FLAG, NULL, AT(check), .commands = ANY_BUILD,
     .help = "compare with the file's reference values or, if it has none, with --mode reference"},

    {"output", 'o', CLI_TEXT, "FILE", AT(output), .what = "the name of a file",
     .section = "Results",
     .help = "write J, K, G, F = H + G (HDF5); with --scf the orbitals (TREXIO); with --scf "
             "--batch all molecules (HDF5, or extended .xyz if FILE ends in .xyz or .extxyz); with "
             "--fmo energies, charges and pairs (HDF5)"},
    {"keep", 0, CLI_SET, "SET", AT(keep), .choices = &keeps, .commands = SCF_BATCH,
     .needs = "output", .help = "what to write for each molecule besides its energy"},
    {"force", 0, CLI_FLAG, NULL, AT(force),
     .help = "replace a file that fmo did not write; run an inconsistent data set; accept a cutoff "
             "that is too loose"},
    {"profile", 'p', CLI_CHOICE, "FORMAT", AT(profile), .choices = &profiles, .without = "table",
     .help = "report where the time was spent"},

    {"scf", 0, CLI_FLAG, NULL, AT(scf), .section = "SCF",
     .help = "converge the SCF of each data set or .xyz file: RHF, or UHF of open shells"},
    {"uhf", 0, CLI_FLAG, NULL, AT(scf_options.unrestricted), .commands = ANY_SCF,
     .help = "UHF also of closed shells"},
    {"rohf", 0, CLI_FLAG, NULL, AT(scf_options.restricted), .commands = ANY_SCF,
     .help = "ROHF of open shells: one set of orbitals for both spins"},
    {"guess-mix", 0, CLI_FLAG, NULL, AT(scf_options.guess_mix), .commands = ANY_SCF,
     .help = "UHF: begin with orbitals of broken symmetry"},
    {"forces", 0, CLI_SWITCH, NULL, AT(scf_options.forces), .commands = ANY_SCF,
     .help = "also compute the forces on the nuclei"},
    {"charges", 0, CLI_TEXT, "FILE", AT(charges), .what = "the name of a file", .commands = SCF,
     .help = "point charges beside the molecule, a line \"charge x y z\" for each; --forces also "
             "computes the forces on them"},
    {"basis", 'b', CLI_TEXT, "NAME", AT(basis), .commands = ANY_SCF | FRAGMENTS,
     .inputs = GEOMETRY | SYSTEM | PDB,
     .help = "basis set of .xyz files, or to replace the basis set of a system of fragments: a "
             "name such as 6-31g, or a file of the Basis Set Exchange, Gaussian, NWChem or Psi4"},
    {"functions", 0, CLI_CHOICE, "FORM", AT(functions), .choices = &functions,
     .commands = ANY_SCF | FRAGMENTS, .inputs = GEOMETRY | SYSTEM | PDB, .show = cli_show_field,
     .help = "form of the d functions of the basis set"},
    {"unit", 0, CLI_CHOICE, "UNIT", AT(unit), .choices = &units, .commands = ANY_SCF,
     .inputs = GEOMETRY, .show = cli_show_field, .help = "unit of the coordinates"},
    {"charge", 0, CLI_SIGNED, "Q", AT(charge), .high = 100000, .given = AT(charge_given),
     .commands = ANY_SCF, .show = show_charge, .help = "charge of the molecule"},
    {"multiplicity", 0, CLI_COUNT, "M", AT(multiplicity), .low = 1, .high = 1000,
     .commands = ANY_SCF, .given = AT(multiplicity_given), .show = cli_show_field,
     .help = "2 S + 1, above 1: UHF or ROHF; 1 states that a closed shell is intended"},
    {"guess", 'g', CLI_CHOICE, "HOW", AT(scf_options.guess), .choices = &guesses,
     .commands = ANY_SCF, .show = cli_show_field, .help = "initial density"},
    {"max-cycles", 0, CLI_COUNT, "N", AT(scf_options.max_cycles), .low = 1, .high = 100000,
     .commands = ANY_SCF | FRAGMENTS, .given = AT(max_cycles_given), .show = show_max_cycles,
     .help = "maximum number of cycles"},
    {"convergence", 0, CLI_REAL, "X", AT(scf_options.energy_convergence), .low = 1e-14, .high = 1.0,
     .what = "1e-9", .commands = ANY_SCF | FRAGMENTS, .given = AT(convergence_given),
     .show = show_convergence,
     .help = "threshold of the energy, hartree: its last change, or the estimated remaining error"},
    {"gradient-convergence", 0, CLI_REAL, "X", AT(scf_options.gradient_convergence), .low = 1e-10,
     .high = 1.0, .what = "3e-5", .commands = ANY_SCF | FRAGMENTS, .given = AT(gradient_given),
     .show = show_gradient, .help = "threshold of the norm of the orbital gradient, hartree"},
    {"level-shift", 0, CLI_REAL, "X", AT(scf_options.level_shift), .high = 100.0, .what = "0.3",
     .commands = ANY_SCF | FRAGMENTS, .show = cli_show_field,
     .help = "shift of the virtual orbitals, hartree"},
    {"diis-size", 0, CLI_COUNT, "N", AT(scf_options.diis_size), .low = 1, .high = FMO_SCF_DIIS_MAX,
     .commands = ANY_SCF | FRAGMENTS, .show = cli_show_field,
     .help = "Fock matrices used in extrapolation; 1: no extrapolation"},
    {"rebuild-cycles", 0, CLI_COUNT, "N", AT(scf_options.rebuild_cycles), .high = 100000,
     .commands = ANY_SCF | FRAGMENTS, .show = cli_show_field,
     .help = "consecutive builds from the change of the density before a full build; 0: only full "
             "builds"},
    {"linear-dependence", 0, CLI_REAL, "X", AT(scf_options.linear_dependence), .high = 0.1,
     .what = "1e-7", .commands = ANY_SCF | FRAGMENTS, .show = cli_show_field,
     .help = "smallest eigenvalue of the overlap matrix that is not dropped"},
    {"solver", 0, CLI_CHOICE, "HOW", AT(scf_options.solver), .choices = &solvers,
     .commands = ANY_SCF, .show = cli_show_field,
     .help = "how to obtain the density from the Fock matrix"},
    {"stability", 0, CLI_CHOICE, "WHAT", AT(scf_options.stability), .choices = &stabilities,
     .without = "follow", .commands = ANY_SCF, .show = show_stability,
     .help = "test whether the solution is a minimum"},
    {"molden", 0, CLI_TEXT, "FILE", AT(molden), .what = "the name of a file", .commands = SCF,
     .help = "write the orbitals for viewers (Molden)"},

    {"fmo", 0, CLI_FLAG, NULL, AT(fragments), .section = "Fragments",
     .help = "FMO2-RHF of each system of fragments (.json, .pdb, .ent, .inp, .ajf)"},
    {"per-fragment", 0, CLI_COUNT, "N", AT(per_fragment), .low = 1, .high = 1000,
     .commands = FRAGMENTS, .inputs = PDB, .show = cli_show_field,
     .help = "residues per fragment, for PDB files"},
    {"ligands", 0, CLI_TEXT, "FILE", AT(ligands), .what = "the name of a file",
     .commands = FRAGMENTS, .inputs = PDB,
     .help = "charges and bonds of residues that fmo does not know (.json), for PDB files"},
    {"exact-field", 0, CLI_FLAG, NULL, AT(exact_field), .commands = FRAGMENTS,
     .help = "exact fields also of distant fragments, and an SCF of every pair"},
    {"iterations", 0, CLI_COUNT, "N", AT(fragment_options.max_iterations), .low = 1, .high = 100000,
     .commands = FRAGMENTS, .show = cli_show_field, .help = "maximum number of monomer iterations"},
    {"field-convergence", 0, CLI_REAL, "X", AT(fragment_options.convergence), .low = 1e-14,
     .high = 1.0, .what = "1e-8", .commands = FRAGMENTS, .show = cli_show_field,
     .help =
         "threshold of the change of the monomers' energy, hartree; ten times that for the fields"},
    {"hybrids", 0, CLI_TEXT, "FILE", AT(fragment_options.hybrids), .what = "the name of a file",
     .commands = FRAGMENTS, .help = "hybrid orbitals at cut bonds, instead of the shipped ones"},
    {"state", 0, CLI_TEXT, "FILE", AT(fragment_options.state), .what = "the name of a file",
     .commands = FRAGMENTS, .help = "write the state after every monomer iteration"},
    {"resume", 0, CLI_FLAG, NULL, AT(resume), .commands = FRAGMENTS | SCF_BATCH,
     .help = "continue from the state in --state, or a batch from the results in --output or its "
             "checkpoint"},
    {"densities", 0, CLI_FLAG, NULL, AT(densities), .commands = FRAGMENTS, .needs = "output",
     .help = "also write the fragments' densities to --output"},
    {"pairs", 0, CLI_TEXT, "FILE", AT(pairs), .what = "the name of a file", .commands = FRAGMENTS,
     .help = "write the energies of all pairs as a table (tab-separated)"},
    {"heat-map", 0, CLI_TEXT, "FILE", AT(map), .what = "the name of a file", .commands = FRAGMENTS,
     .help = "draw the energies of all pairs (SVG)"},
    {"html", 0, CLI_TEXT, "FILE", AT(page), .what = "the name of a file", .commands = FRAGMENTS,
     .help = "write map and tables of pairs and fragments as one page for browsers"},
    {"cpf", 0, CLI_TEXT, "FILE", AT(cpf), .what = "the name of a file", .commands = FRAGMENTS,
     .help = "write the result as ABINIT-MP does (CPF Open1.0 rev23), for its viewers"},
    {"ligand", 0, CLI_TEXT, "NAME", AT(ligand), .what = "a residue, such as LIG, A:LIG401 or 401",
     .commands = FRAGMENTS, .help = "report all pairs of the fragment of this residue"},

    {"quiet", 'q', CLI_FLAG, NULL, AT(quiet), .section = "Other",
     .help = "print only the check line, or the energy, and errors"},
    {"help", 'h', CLI_ACTION, NULL, AT(action), .low = DRIVER_HELP, .help = "print this text"},
    {"version", 'V', CLI_ACTION, NULL, AT(action), .low = DRIVER_VERSION,
     .help = "print the version"},
};
enum { OPTION_NUM = sizeof option_table / sizeof option_table[0] };
_Static_assert(OPTION_NUM <= (int)DRIVER_OPTIONS_MAX, "driver_options.given has a bit for each");

const cli_program driver_program = {"fmo-driver", option_table,    OPTION_NUM, 0,
                                    NULL,         driver_list_uses};

void driver_options_defaults(driver_options *options)
{
    memset(options, 0, sizeof *options);
    fmo_fock_options_init(&options->fock);
    options->repeat = 1;
    options->multiplicity = 1;
    options->per_fragment = 1;
    fmo_scf_options_init(&options->scf_options);
    fmo_fragment_options_init(&options->fragment_options);
}

double driver_cutoff(const driver_options *options)
{
    return (options->scf || options->fragments) && !options->cutoff_given
               ? options->scf_options.fock.cutoff
               : options->fock.cutoff;
}

fmo_integrals driver_integrals(const driver_options *options)
{
    return (options->scf || options->fragments) && !options->integrals_given
               ? options->scf_options.fock.integrals
               : options->fock.integrals;
}

/* Leaves out options that say how a result is computed or shown, not what it is. */
void driver_options_settings(const driver_options *options, char text[DRIVER_SETTINGS_SIZE])
{
    static const size_t others[] = {
        AT(fock.threads),
        AT(fock.no_overlap),
        AT(gpus),
        AT(fock.memory),
        AT(output),
        AT(force),
        AT(profile),
        AT(resume),
        AT(quiet),
        AT(batch),
        AT(scf),
        AT(action),
        AT(charge),
        AT(unit),                /* these are in the key */
        AT(scf_options.forces)}; /* a result without them is computed again */
    size_t used = (size_t)snprintf(text, DRIVER_SETTINGS_SIZE, "fmo=%s\n", FMO_VERSION_STRING);
    for (int i = 0; i < OPTION_NUM && used < DRIVER_SETTINGS_SIZE; i++) {
        const cli_option *row = &option_table[i];
        bool counts = !row->commands || row->commands & SCF_BATCH;
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            counts = counts && row->at != others[k];
        if (counts)
            used += (size_t)snprintf(text + used, DRIVER_SETTINGS_SIZE - used,
                                     "--%s=%016" PRIx64 "\n", row->name, cli_digest(row, options));
    }
}

void driver_options_digest(const driver_options *options, uint64_t digest[DRIVER_DIGEST_MAX])
{
    memset(digest, 0, DRIVER_DIGEST_MAX * sizeof *digest);
    for (int i = 0; i < OPTION_NUM; i++)
        if (option_table[i].at != AT(fock.threads))
            digest[i] = cli_digest(&option_table[i], options) + (options->given >> i & 1u);
    for (int k = 0; k < options->dataset_num; k++)
        driver_hash(&digest[DRIVER_DIGEST_MAX - 1], options->datasets[k],
                    strlen(options->datasets[k]) + 1);
}

const char *driver_options_digest_name(int k)
{
    return k < OPTION_NUM ? option_table[k].name : "data sets";
}

/* Prints the usage, all options, exit codes and examples. */
void driver_options_help(FILE *stream)
{
    driver_options defaults;
    driver_options_defaults(&defaults);
    fputs("Usage: fmo-driver DATASET.h5... [--batch] [OPTION]...\n"
          "       fmo-driver DATASET.h5... --scf [OPTION]...\n"
          "       fmo-driver MOLECULE.xyz... --basis NAME --scf [--batch] [OPTION]...\n"
          "       fmo-driver FOLDER... --basis NAME --scf --batch --output FILE [OPTION]...\n"
          "       fmo-driver SYSTEM.json... --fmo [OPTION]...\n"
          "       fmo-driver INPUT.inp... --fmo [OPTION]...\n"
          "       fmo-driver INPUT.ajf... --fmo [OPTION]...\n"
          "       fmo-driver PROTEIN.pdb... --fmo --basis NAME [OPTION]...\n"
          "Build the two-electron Fock matrix G = J - K/2 of each data set (a TREXIO file with a\n"
          "density; docs/reference/dataset-format.md), report it, its cost and the energy; or\n"
          "converge the SCF (RHF, UHF, ROHF) of each data set or geometry\n"
          "(docs/reference/scf.md);\n"
          "or compute the energy of each system of fragments by FMO2-RHF\n"
          "(docs/reference/fmo.md).\n\n"
          "Options may appear anywhere; - is the standard input.\n",
          stream);
    cli_print_options(&driver_program, ~0u, true, &defaults, stream);
    fputs("\nExit codes: 0 done, 1 check failed or not possible, or SCF not converged, 2 usage,\n"
          "3 unusable input or output, 4 no GPU or a GPU error, 5 out of memory; the worst one of\n"
          "several data sets.\n\n"
          "Examples: fmo-driver datasets/h2o8_6-31g.h5 --check\n"
          "          fmo-driver datasets/xyz/water008.xyz --basis 6-31g --scf\n"
          "          fmo-driver datasets/fmo2/water3_sto-3g.json --fmo\n",
          stream);
}
