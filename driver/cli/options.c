/* The options of fmo-driver: one table, which the option engine (option.h) reads, and what of one
 * option has to do with another. A new option is a row; a new value of --mode or --scatter is a row
 * in fock.h or scatter.h and nothing here. */
#define _GNU_SOURCE
#include "driver/cli/options.h"
#include "driver/base/hash.h"
#include "driver/cli/option.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *profile_name(driver_profile_format format)
{
    static const char *const names[DRIVER_PROFILE_FORMAT_COUNT] = {"none", "table", "json"};
    return names[format];
}
static const char *profile_text(driver_profile_format format)
{
    static const char *const texts[DRIVER_PROFILE_FORMAT_COUNT] = {
        "no profile", "lines for people, after the report (as --profile alone)",
        "only JSON on stdout (docs/profile-json.md)"};
    return texts[format];
}

CLI_CHOICES(modes, FMO_MODE_COUNT, fmo_mode, fmo_mode);
CLI_CHOICES(reduces, FMO_REDUCE_COUNT, fmo_reduce, fmo_reduce);
CLI_CHOICES(scatters, FMO_SCATTER_COUNT, fmo_scatter, fmo_scatter);
CLI_CHOICES(commits, FMO_COMMIT_COUNT, fmo_commit, fmo_commit);
CLI_CHOICES(integrals, FMO_INTEGRALS_COUNT, fmo_integrals, fmo_integrals);
CLI_CHOICES(coulombs, FMO_COULOMB_COUNT, fmo_coulomb, fmo_coulomb);
CLI_CHOICES(functions, FMO_FUNCTIONS_COUNT, fmo_functions, fmo_functions);
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
    fputs("what is free", stream);
}
static void show_charge(const cli_option *row, const void *defaults, FILE *stream)
{
    (void)row, (void)defaults;
    fputs("what a data set or a comment (charge=) says, else 0", stream);
}
static void show_convergence(const cli_option *row, const void *defaults, FILE *stream)
{
    const driver_options *options = defaults;
    cli_show_field(row, defaults, stream);
    fprintf(stream, "; --fmo %g", options->fragment_options.scf.energy_convergence);
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
    fprintf(stream, "; %s where no value is given", row->without);
}

/* ---- the table ----------------------------------------------------------------------------- */

/* Commands: builds of a data set's density, an SCF, and fragments. */
enum { BUILD = 1u << 0, SCF = 1u << 1, FRAGMENTS = 1u << 2 };

#define MODE(name) (1u << FMO_MODE_##name)
#define AT(field)  offsetof(driver_options, field)

static const cli_option option_table[] = {
    {"mode", 'm', CLI_CHOICE, "MODE", AT(fock.mode), .choices = &modes, .show = cli_show_field,
     .section = "Fock builds", .help = "where and how to build"},
    /* Above 1 hartree nothing would be left: that is a slip such as "10" for "1e-10". */
    {"cutoff", 'c', CLI_REAL, "X", AT(fock.cutoff), .high = 1.0, .what = "1e-10",
     .given = AT(cutoff_given), .show = show_cutoff, .modes = MODE(CPU) | MODE(FUSED) | MODE(SPLIT),
     .help = "drop quartets estimated below X; 0: none"},
    {"threads", 't', CLI_COUNT, "N", AT(fock.threads), .low = 1, .high = 4096, .show = show_threads,
     .help = "CPU threads"},
    {"reduce", 0, CLI_CHOICE, "HOW", AT(fock.reduce), .choices = &reduces, .show = cli_show_field,
     .modes = MODE(CPU) | MODE(SPLIT), .help = "how CPU threads add into J and K"},
    {"scatter", 's', CLI_CHOICE, "HOW", AT(fock.scatter), .choices = &scatters,
     .show = cli_show_field, .modes = MODE(FUSED) | MODE(CPU),
     .help = "how GPU threads add into J and K (fused; fixed: cpu, too)"},
    {"commit", 0, CLI_CHOICE, "HOW", AT(fock.commit), .choices = &commits, .show = cli_show_field,
     .modes = MODE(FUSED), .help = "how one atomic is done (fused)"},
    {"integrals", 0, CLI_CHOICE, "HOW", AT(fock.integrals), .choices = &integrals,
     .given = AT(integrals_given), .show = show_integrals, .modes = MODE(CPU) | MODE(FUSED),
     .help = "whether integrals are kept between builds (cpu, fused)"},
    {"coulomb", 0, CLI_CHOICE, "HOW", AT(fock.coulomb), .choices = &coulombs,
     .show = cli_show_field, .modes = MODE(CPU) | MODE(FUSED),
     .help = "how J of far pairs is made (cpu, fused)"},
    {"no-overlap", 0, CLI_SWITCH, NULL, AT(fock.no_overlap), .modes = MODE(SPLIT),
     .help = "GPU and CPU take turns (split)"},
    {"gpus", 0, CLI_TEXT, "N", AT(gpus), .what = "a number, or all",
     .modes = MODE(FUSED) | MODE(SPLIT),
     .help = "GPUs that share every build, or whose the data sets of a batch are; all: all of them"
             " (fused, split)"},
    {"memory", 0, CLI_SIZE, "SIZE", AT(fock.memory), .show = show_memory,
     .help = "work space a build may take, such as 500M or 8G"},

    {"repeat", 'n', CLI_COUNT, "N", AT(repeat), .low = 1, .high = 100000, .commands = BUILD,
     .show = cli_show_field, .section = "Builds of a data set's density",
     .help = "build N times; report min, median and max"},
    {"batch", 0, CLI_FLAG, NULL, AT(batch),
     .help = "build all data sets in one call: side by side on the GPU (fused); with --scf all "
             "molecules side by side on the CPU"},
    {"check", 0, CLI_FLAG, NULL, AT(check), .commands = BUILD,
     .help = "compare with the file's reference values, else with --mode reference"},

    {"output", 'o', CLI_TEXT, "FILE", AT(output), .what = "the name of a file",
     .section = "Results",
     .help = "write J, K, G, F = H + G (HDF5); with --scf the orbitals (TREXIO); with --batch, "
             "too, all molecules (HDF5); with --fmo energies, charges and pairs (HDF5)"},
    {"keep", 0, CLI_SET, "SET", AT(keep), .choices = &keeps, .commands = SCF,
     .help = "what --scf --batch --output writes of a molecule beside its energy"},
    {"force", 0, CLI_FLAG, NULL, AT(force),
     .help = "replace a file that fmo did not write; run a data set that contradicts itself"},
    {"profile", 'p', CLI_CHOICE, "FORMAT", AT(profile), .choices = &profiles, .without = "table",
     .help = "say where the time went"},

    {"scf", 0, CLI_FLAG, NULL, AT(scf), .section = "SCF",
     .help = "converge the closed-shell SCF (RHF) of each data set or .xyz file"},
    {"basis", 'b', CLI_TEXT, "NAME", AT(basis), .commands = SCF | FRAGMENTS,
     .help = "basis set of .xyz files, or another one for fragments: a name such as 6-31g, or a "
             ".json or .gbs file"},
    {"functions", 0, CLI_CHOICE, "FORM", AT(functions), .choices = &functions,
     .commands = SCF | FRAGMENTS, .show = cli_show_field,
     .help = "what d functions of .xyz files are"},
    {"charge", 0, CLI_SIGNED, "Q", AT(charge), .high = 100000, .given = AT(charge_given),
     .commands = SCF, .show = show_charge, .help = "charge of the molecule"},
    {"multiplicity", 0, CLI_COUNT, "M", AT(multiplicity), .low = 1, .high = 1000, .commands = SCF,
     .show = cli_show_field, .help = "2 S + 1; only 1 can be done"},
    {"guess", 'g', CLI_CHOICE, "HOW", AT(scf_options.guess), .choices = &guesses, .commands = SCF,
     .show = cli_show_field, .help = "the first density"},
    {"max-cycles", 0, CLI_COUNT, "N", AT(scf_options.max_cycles), .low = 1, .high = 100000,
     .commands = SCF | FRAGMENTS, .show = cli_show_field, .help = "Fock builds allowed"},
    {"convergence", 0, CLI_REAL, "X", AT(scf_options.energy_convergence), .low = 1e-14, .high = 1.0,
     .what = "1e-9", .commands = SCF | FRAGMENTS, .given = AT(convergence_given),
     .show = show_convergence,
     .help = "of the energy, hartree: its last change, or what is estimated to be left"},
    {"gradient-convergence", 0, CLI_REAL, "X", AT(scf_options.gradient_convergence), .low = 1e-10,
     .high = 1.0, .what = "3e-5", .commands = SCF | FRAGMENTS, .given = AT(gradient_given),
     .show = show_gradient, .help = "norm of the orbital gradient, hartree"},
    {"level-shift", 0, CLI_REAL, "X", AT(scf_options.level_shift), .high = 100.0, .what = "0.3",
     .commands = SCF | FRAGMENTS, .show = cli_show_field,
     .help = "added to empty orbitals, hartree"},
    {"diis-size", 0, CLI_COUNT, "N", AT(scf_options.diis_size), .low = 1, .high = FMO_SCF_DIIS_MAX,
     .commands = SCF | FRAGMENTS, .show = cli_show_field,
     .help = "Fock matrices kept for extrapolation; 1: none"},
    {"rebuild-cycles", 0, CLI_COUNT, "N", AT(scf_options.rebuild_cycles), .high = 100000,
     .commands = SCF | FRAGMENTS, .show = cli_show_field,
     .help = "builds in a row from the change of the density; 0: none"},
    {"linear-dependence", 0, CLI_REAL, "X", AT(scf_options.linear_dependence), .high = 0.1,
     .what = "1e-7", .commands = SCF | FRAGMENTS, .show = cli_show_field,
     .help = "least eigenvalue of the overlap that is kept"},
    {"solver", 0, CLI_CHOICE, "HOW", AT(scf_options.solver), .choices = &solvers, .commands = SCF,
     .show = cli_show_field, .help = "from the Fock matrix to the density"},
    {"stability", 0, CLI_CHOICE, "WHAT", AT(scf_options.stability), .choices = &stabilities,
     .without = "follow", .commands = SCF, .show = show_stability, .help = "is it a minimum?"},
    {"molden", 0, CLI_TEXT, "FILE", AT(molden), .what = "the name of a file", .commands = SCF,
     .help = "write the orbitals for viewers (Molden)"},

    {"fmo", 0, CLI_FLAG, NULL, AT(fragments), .section = "Fragments",
     .help = "FMO2-RHF of each system of fragments (.json, .inp, .ajf, .pdb)"},
    {"per-fragment", 0, CLI_COUNT, "N", AT(per_fragment), .low = 1, .high = 1000,
     .commands = FRAGMENTS, .show = cli_show_field, .help = "residues a fragment, of PDB files"},
    {"exact-field", 0, CLI_FLAG, NULL, AT(exact_field), .commands = FRAGMENTS,
     .help = "exact fields of far fragments, too, and an SCF of every pair"},
    {"iterations", 0, CLI_COUNT, "N", AT(fragment_options.max_iterations), .low = 1, .high = 100000,
     .commands = FRAGMENTS, .show = cli_show_field, .help = "iterations of the monomers allowed"},
    {"field-convergence", 0, CLI_REAL, "X", AT(fragment_options.convergence), .low = 1e-14,
     .high = 1.0, .what = "1e-8", .commands = FRAGMENTS, .show = cli_show_field,
     .help = "change of the monomers' energy, hartree; fields within ten times that"},
    {"hybrids", 0, CLI_TEXT, "FILE", AT(fragment_options.hybrids), .what = "the name of a file",
     .commands = FRAGMENTS, .help = "hybrid orbitals at cut bonds, in place of the shipped ones"},
    {"state", 0, CLI_TEXT, "FILE", AT(fragment_options.state), .what = "the name of a file",
     .commands = FRAGMENTS, .help = "keep the state of every iteration of the monomers"},
    {"resume", 0, CLI_FLAG, NULL, AT(resume), .commands = FRAGMENTS,
     .help = "go on from the state in --state"},
    {"densities", 0, CLI_FLAG, NULL, AT(densities), .commands = FRAGMENTS,
     .help = "densities of the fragments into --output, too"},
    {"pairs", 0, CLI_TEXT, "FILE", AT(pairs), .what = "the name of a file", .commands = FRAGMENTS,
     .help = "write the energies of all pairs as a table (tab-separated)"},
    {"heat-map", 0, CLI_TEXT, "FILE", AT(map), .what = "the name of a file", .commands = FRAGMENTS,
     .help = "draw the energies of all pairs (SVG)"},

    {"quiet", 'q', CLI_FLAG, NULL, AT(quiet), .section = "Other",
     .help = "print only the check line, or the energy, and errors"},
    {"help", 'h', CLI_ACTION, NULL, AT(action), .low = DRIVER_HELP, .help = "print this text"},
    {"version", 'V', CLI_ACTION, NULL, AT(action), .low = DRIVER_VERSION,
     .help = "print the version"},
};
enum { OPTION_NUM = sizeof option_table / sizeof option_table[0] };
_Static_assert(OPTION_NUM <= 64, "driver_options.given has a bit for each");

static const cli_program program = {"fmo-driver", option_table, OPTION_NUM, 0, NULL};

static void set_defaults(driver_options *options)
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

bool driver_is_xyz(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".xyz") == 0;
}

bool driver_is_system(const char *path)
{
    static const char *const ends[] = {".json", ".pdb", ".ent",   ".inp",
                                       ".ajf",  ".cif", ".mmcif", NULL};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && ends[i]; i++)
        if (strcasecmp(dot, ends[i]) == 0) return true;
    return false;
}

static bool is_pdb(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".pdb") == 0 || strcasecmp(dot, ".ent") == 0);
}

/* ---- what options have to do with each other --------------------------------------------------
 */

/* --gpus into the plan's options: a number from 1 on, or all there are; of none the first is asked
 * for, which says why there is none. */
static fmo_status set_gpus(driver_options *options, fmo_error *err)
{
    const char *const text = options->gpus;
    if (!text) return FMO_OK;
    const size_t digits = strspn(text, "0123456789");
    int num = digits > 0 && digits < 4 && !text[digits] ? atoi(text) : 0;
    if (strcmp(text, "all") == 0) {
        num = fmo_gpu_num();
        num = num < 1 ? 1 : num > FMO_DEVICES_MAX ? FMO_DEVICES_MAX : num;
    }
    if (num < 1 || num > FMO_DEVICES_MAX)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--gpus %.40s: expected a number from 1 to %d, or all", text,
                             FMO_DEVICES_MAX);
    options->fock.device_num = num;
    for (int k = 0; k < num; k++) options->fock.devices[k] = k;
    return FMO_OK;
}

/* "cpu, fused and split" */
static void list_modes(unsigned set, char *list, size_t size)
{
    int left = 0;
    size_t used = 0;
    for (int m = 0; m < FMO_MODE_COUNT; m++) left += (int)(set >> m & 1u);
    for (int m = 0; m < FMO_MODE_COUNT; m++) {
        if (!(set >> m & 1u)) continue;
        const char *between = --left ? (left == 1 ? " and " : ", ") : "";
        used +=
            (size_t)snprintf(list + used, size - used, "%s%s", fmo_mode_name((fmo_mode)m), between);
    }
}

/* Whether a strategy was asked for that mode cpu has not. */
static bool is_gpu_scatter(const driver_options *options)
{
    return options->fock.scatter != FMO_SCATTER_AUTO && options->fock.scatter != FMO_SCATTER_FIXED;
}

void driver_options_unused(const driver_options *options, fmo_mode mode, char *text, size_t size)
{
    size_t used = 0;
    int count = 0;
    text[0] = '\0';
    for (int i = 0; i < OPTION_NUM && options->fock.mode == FMO_MODE_AUTO; i++) {
        const cli_option *row = &option_table[i];
        const bool scatter = row->at == AT(fock.scatter) && mode == FMO_MODE_CPU;
        if (!(options->given >> i & 1u) || !row->modes || used >= size) continue;
        if (row->modes >> mode & 1u && !(scatter && is_gpu_scatter(options))) continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s--%s", count++ ? ", " : "", row->name);
    }
    if (count && used < size)
        snprintf(text + used, size - used,
                 ": nothing comes of %s in mode %s, which auto has chosen",
                 count > 1 ? "them" : "it", fmo_mode_name(mode));
}

/* A cutoff that leaves nothing of an energy is a slip, such as "1" for "1e-10". */
static fmo_status check_cutoff(const driver_options *options, fmo_error *err)
{
    const double most = options->fragments ? FMO_FRAGMENT_CUTOFF_MOST : FMO_SCF_CUTOFF_MOST;
    const double cutoff = driver_cutoff(options);
    if (!(options->scf || options->fragments) || cutoff <= most || options->force) return FMO_OK;
    return fmo_error_set(
        err, FMO_ERR_ARGUMENT,
        "--cutoff %g: too loose for %s, whose energy would be wrong: choose one of "
        "at most %g (default %g), or add --force",
        cutoff, options->fragments ? "--fmo" : "--scf", most, options->scf_options.fock.cutoff);
}

/* Options that nothing comes of in what is to be run. */
static fmo_status check_use(const driver_options *options, const bool *given, fmo_error *err)
{
    const fmo_mode mode = options->fock.mode;
    const unsigned command = options->fragments ? FRAGMENTS : options->scf ? SCF : BUILD;
    /* auto takes cpu or fused */
    const unsigned possible = mode == FMO_MODE_AUTO ? MODE(CPU) | MODE(FUSED) : 1u << mode;
    const cli_option *row = cli_misplaced(&program, given, command);
    if (options->scf && options->fragments)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--scf does not go with --fmo: a system of fragments or one molecule");
    if (row && command == BUILD && row->commands & SCF)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s belongs to an SCF: add --scf", row->name);
    if (row && row->commands == FRAGMENTS)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s belongs to fragments: add --fmo",
                             row->name);
    if (row)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s does not go with --%s", row->name,
                             options->fragments ? "fmo" : "scf");
    if (options->resume && !options->fragment_options.state)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--resume goes on from a state: add --state FILE");
    if (options->densities && !options->output)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--densities go into the result: add --output FILE");
    if (options->fragments && options->fock.mode != FMO_MODE_AUTO &&
        options->fock.mode != FMO_MODE_CPU && options->fock.mode != FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--mode %s does not go with --fmo: it takes cpu and fused",
                             fmo_mode_name(options->fock.mode));
    for (int i = 0; i < OPTION_NUM; i++) {
        row = &option_table[i];
        if (!given[i] || !row->modes || row->modes & possible) continue;
        if (row->at == AT(fock.cutoff) && options->fock.cutoff == 0.0) continue; /* it has none */
        char list[64] = "";
        list_modes(row->modes, list, sizeof list);
        if (mode == FMO_MODE_AUTO)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "--%s belongs to mode %s, which auto never takes: add --mode %s",
                                 row->name, list, list);
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s does not go with --mode %s: it belongs to mode %s", row->name,
                             fmo_mode_name(mode), list);
    }
    if (mode == FMO_MODE_CPU && is_gpu_scatter(options))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--scatter %s does not go with --mode cpu: it belongs to mode fused; "
                             "mode cpu takes fixed alone",
                             fmo_scatter_name(options->fock.scatter));
    return FMO_OK;
}

/* "--profile json": an optional value is taken only after "=", so this one became a file. */
static fmo_status check_stray_value(const bool *given, const char *word, fmo_error *err)
{
    for (int i = 0; i < OPTION_NUM; i++) {
        const cli_option *row = &option_table[i];
        if (!given[i] || !row->without || !row->choices) continue;
        for (int k = 0; k < row->choices->count; k++)
            if (strcmp(word, row->choices->name(k)) == 0 && access(word, F_OK) != 0)
                return fmo_error_set(err, FMO_ERR_ARGUMENT, "did you mean --%s=%s?", row->name,
                                     word);
    }
    return FMO_OK;
}

/* Whether a file's first line is a whole number, as that of a .xyz file is. */
static bool looks_like_xyz(const char *path)
{
    struct stat status;
    char line[80] = "";
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const bool got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    const char *number = line + strspn(line, " \t");
    const size_t digits = strspn(number, "0123456789");
    return got && digits > 0 && number[digits + strspn(number + digits, " \t\r\n")] == '\0';
}

/* Geometries need a basis set, data sets have theirs. */
static fmo_status check_kind(const driver_options *options, const char *path, fmo_error *err)
{
    const bool xyz = driver_is_xyz(path), fragments = driver_is_system(path);
    if (options->fragments && !fragments)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: --fmo takes systems of fragments, whose names end in .json, "
                             ".pdb, .ent, .inp or .ajf (docs/fmo.md)",
                             path);
    if (options->fragments && options->per_fragment > 1 && !is_pdb(path))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: --per-fragment is for PDB files; this one says its fragments "
                             "itself",
                             path);
    if (options->fragments) return FMO_OK;
    if (fragments)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: this looks like a system of fragments: add --fmo", path);
    if (xyz && !options->scf)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a geometry has no density: add --scf --basis NAME", path);
    if (xyz && !options->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a geometry needs a basis set: add --basis NAME, such as "
                             "--basis 6-31g",
                             path);
    if (!xyz && looks_like_xyz(path))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: this looks like a geometry: give it a name that ends in .xyz",
                             path);
    if (!xyz && options->functions != FMO_FUNCTIONS_SET)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a data set has its own basis functions: leave out "
                             "--functions, which is for .xyz files",
                             path);
    if (!xyz && options->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a data set has its own basis functions: leave out --basis, "
                             "which is for .xyz files",
                             path);
    return FMO_OK;
}

static fmo_status check_data_sets(const driver_options *options, const bool *given, fmo_error *err)
{
    fmo_status status = FMO_OK;
    if (options->dataset_num == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "no data set given: fmo-driver DATASET.h5... (see fmo-driver --help)");
    for (int i = 0; i < options->dataset_num && status == FMO_OK; i++) {
        const char *path = options->datasets[i];
        if (*path == '\0')
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "data set %d has an empty name", i + 1);
        status = check_stray_value(given, path, err);
        if (status == FMO_OK) status = check_kind(options, path, err);
    }
    if (status != FMO_OK) return status;
    if (options->molden && options->batch)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--molden does not go with --batch");
    if (options->keep && !(options->batch && options->output))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--keep belongs to --scf --batch --output FILE: add what is missing");
    if (options->output && options->scf && options->batch) return FMO_OK;
    const char *const file = options->output                   ? "output"
                             : options->molden                 ? "molden"
                             : options->fragment_options.state ? "state"
                             : options->pairs                  ? "pairs"
                             : options->map                    ? "heat-map"
                                                               : NULL;
    if (file && options->dataset_num > 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s takes one data set, not %d: run them one by one", file,
                             options->dataset_num);
    return FMO_OK;
}

fmo_status driver_options_parse(int argc, char **argv, driver_options *options, fmo_error *err)
{
    bool given[OPTION_NUM];
    set_defaults(options);
    fmo_status status = cli_parse(&program, argc, argv, options, given, &options->dataset_num, err);
    options->datasets = argv + 1;
    if (status != FMO_OK || options->action != DRIVER_RUN) return status;
    for (int i = 0; i < OPTION_NUM; i++) options->given |= (uint64_t)given[i] << i;
    status = check_use(options, given, err);
    if (status == FMO_OK) status = set_gpus(options, err);
    if (status == FMO_OK) status = check_cutoff(options, err);
    return status == FMO_OK ? check_data_sets(options, given, err) : status;
}

void driver_options_digest(const driver_options *options, uint64_t digest[DRIVER_DIGEST_MOST])
{
    memset(digest, 0, DRIVER_DIGEST_MOST * sizeof *digest);
    for (int i = 0; i < OPTION_NUM; i++)
        if (option_table[i].at != AT(fock.threads))
            digest[i] = cli_digest(&option_table[i], options) + (options->given >> i & 1u);
    for (int k = 0; k < options->dataset_num; k++)
        driver_hash(&digest[DRIVER_DIGEST_MOST - 1], options->datasets[k],
                    strlen(options->datasets[k]) + 1);
}

const char *driver_options_digest_name(int k)
{
    return k < OPTION_NUM ? option_table[k].name : "data sets";
}

void driver_options_help(FILE *stream)
{
    driver_options defaults;
    set_defaults(&defaults);
    fputs("Usage: fmo-driver DATASET.h5... [--batch] [OPTION]...\n"
          "       fmo-driver DATASET.h5... --scf [OPTION]...\n"
          "       fmo-driver MOLECULE.xyz... --basis NAME --scf [--batch] [OPTION]...\n"
          "       fmo-driver SYSTEM.json... --fmo [OPTION]...\n"
          "       fmo-driver INPUT.inp... --fmo [OPTION]...\n"
          "       fmo-driver INPUT.ajf... --fmo [OPTION]...\n"
          "       fmo-driver PROTEIN.pdb... --fmo --basis NAME [OPTION]...\n"
          "Build the two-electron Fock matrix G = J - K/2 of each data set (a TREXIO file with a\n"
          "density; docs/dataset-format.md), report it, its cost and the energy; or converge the\n"
          "closed-shell SCF of each data set or geometry (docs/scf.md), or the energy of each\n"
          "system of fragments by FMO2-RHF (docs/fmo.md).\n\n"
          "Options may stand anywhere on the line.\n",
          stream);
    cli_print_options(&program, BUILD | SCF | FRAGMENTS, false, &defaults, stream);
    fputs("\nExit codes: 0 done, 1 check failed or not possible, or SCF not converged, 2 usage,\n"
          "3 unusable input or output, 4 no GPU or a GPU fault, 5 out of memory; the worst one of\n"
          "several data sets.\n\n"
          "Examples: fmo-driver datasets/h2o8_6-31g.h5 --check\n"
          "          fmo-driver datasets/xyz/water008.xyz --basis 6-31g --scf\n"
          "          fmo-driver datasets/fmo2/water3_sto-3g.json --fmo\n",
          stream);
}
