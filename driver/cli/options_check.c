/* Parses a command line, and checks that every option given has an effect in the kind of run, the
 * mode, on the files and with the other options, as the columns of the table (options.c) say. An
 * option without an effect is refused with one line. */
#define _GNU_SOURCE
#include "driver/cli/options_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFUSE(...) fmo_error_set(err, FMO_ERR_ARGUMENT, __VA_ARGS__)

/* ---- what is run ----------------------------------------------------------------------------- */

static unsigned command_of(const driver_options *options)
{
    if (options->fragments) return FRAGMENTS;
    if (options->scf) return options->batch ? SCF_BATCH : SCF;
    return options->batch ? BUILD_BATCH : BUILD;
}

/* Returns the modes in which the run can end up. */
static unsigned possible_modes(const driver_options *options)
{
    const fmo_mode mode = options->fock.mode;
    return mode == FMO_MODE_AUTO ? MODE(CPU) | MODE(FUSED) : 1u << mode;
}

static fmo_status refuse_command(const cli_option *row, unsigned command, fmo_error *err)
{
    static const char *const runs[] = {"in a build", "with --batch", "with --scf",
                                       "with --scf --batch", "with --fmo"};
    char list[96], run[32];
    driver_list_bits(command, runs, 5, "", run, sizeof run);
    driver_list_commands(row->commands, list, sizeof list);
    return REFUSE("--%s has no effect %s: leave it out, or use it with %s", row->name, run, list);
}

static fmo_status refuse_mode(const driver_options *options, const cli_option *row, fmo_error *err)
{
    char list[64], taken[64];
    driver_list_modes(row->modes, list, sizeof list);
    if (options->fragments && !(row->modes & (MODE(CPU) | MODE(FUSED))))
        return REFUSE(
            "--%s has no effect with --fmo, which supports only modes cpu and fused: leave it out",
            row->name);
    if (options->fock.mode != FMO_MODE_AUTO)
        return REFUSE("--%s has no effect in mode %s: leave it out, or use it with --mode %s",
                      row->name, fmo_mode_name(options->fock.mode), list);
    driver_list_modes(possible_modes(options), taken, sizeof taken);
    return REFUSE("--%s has no effect in mode %s, one of which auto chooses: leave it out, or use "
                  "it with --mode %s",
                  row->name, taken, list);
}

static bool is_given(const bool *given, const char *name)
{
    for (int i = 0; i < driver_program.option_num; i++)
        if (strcmp(driver_program.option[i].name, name) == 0) return given[i];
    return false;
}

/* Whether a scatter strategy was requested that mode cpu does not have. */
static bool is_gpu_scatter(const driver_options *options)
{
    return options->fock.scatter != FMO_SCATTER_AUTO && options->fock.scatter != FMO_SCATTER_FIXED;
}

/* Checks one option that was given: kind of run, other options that it needs, modes. */
static fmo_status check_row(const driver_options *options, const bool *given, const cli_option *row,
                            fmo_error *err)
{
    const unsigned command = command_of(options);
    if (row->commands && !(row->commands & command)) return refuse_command(row, command, err);
    if (row->needs && !is_given(given, row->needs))
        return REFUSE("--%s has no effect without --%s: add it, or leave out --%s", row->name,
                      row->needs, row->name);
    /* in mode reference, a cutoff of 0 is allowed: it screens nothing */
    const bool nothing = row->at == AT(fock.cutoff) && options->fock.cutoff == 0.0;
    if (row->modes && !(row->modes & possible_modes(options)) && !nothing)
        return refuse_mode(options, row, err);
    return FMO_OK;
}

/* Checks the kind of run and mode, and refuses options without an effect there. */
static fmo_status check_use(const driver_options *options, const bool *given, fmo_error *err)
{
    if (options->scf && options->fragments)
        return REFUSE("--scf and --fmo exclude each other: leave out one of them");
    if (options->scf_options.restricted &&
        (options->scf_options.unrestricted || options->scf_options.guess_mix))
        return REFUSE("--rohf and --%s, which is for UHF, exclude each other: leave out one of "
                      "them",
                      options->scf_options.unrestricted ? "uhf" : "guess-mix");
    if (options->fragments && options->fock.mode != FMO_MODE_AUTO &&
        options->fock.mode != FMO_MODE_CPU && options->fock.mode != FMO_MODE_FUSED)
        return REFUSE("--mode %s cannot be used with --fmo: use cpu or fused",
                      fmo_mode_name(options->fock.mode));
    for (int i = 0; i < driver_program.option_num; i++) {
        const cli_option *row = &driver_program.option[i];
        const fmo_status status = given[i] ? check_row(options, given, row, err) : FMO_OK;
        if (status != FMO_OK) return status;
    }
    const char *const from = options->fragments ? "state" : "output";
    if (options->resume && !is_given(given, from))
        return REFUSE("--resume has no effect without --%s: add it, or leave out --resume", from);
    if (driver_writes_xyz(options) && !(options->scf && options->batch))
        return REFUSE(
            "--output %.200s: extended .xyz is written by --scf --batch alone: add it, or "
            "choose a name that ends in .h5",
            options->output);
    const char *const end = options->output ? driver_unknown_end(options->output) : NULL;
    if (end)
        return REFUSE("--output %.200s: fmo writes no %.40s: choose a name that ends in .h5%s",
                      options->output, end,
                      options->scf && options->batch ? ", .xyz or .extxyz" : "");
    if (options->keep && driver_writes_xyz(options))
        return REFUSE("--keep has no effect on extended .xyz: leave it out, or choose an --output "
                      "that ends in .h5");
    if (options->fock.mode == FMO_MODE_CPU && is_gpu_scatter(options))
        return REFUSE("--scatter %s has no effect in mode cpu, which supports only fixed: leave it "
                      "out, or use it with --mode fused",
                      fmo_scatter_name(options->fock.scatter));
    if (options->quiet && options->profile == DRIVER_PROFILE_TABLE)
        return REFUSE("--profile has no effect with --quiet: leave out one of them, or use "
                      "--profile=json");
    return FMO_OK;
}

/* If auto chose the mode, lists the options of the command line that have no effect in `mode`. */
void driver_options_unused(const driver_options *options, fmo_mode mode, char *text, size_t size)
{
    size_t used = 0;
    int count = 0;
    text[0] = '\0';
    for (int i = 0; i < driver_program.option_num && options->fock.mode == FMO_MODE_AUTO; i++) {
        const cli_option *row = &driver_program.option[i];
        const bool scatter = row->at == AT(fock.scatter) && mode == FMO_MODE_CPU;
        if (!(options->given >> i & 1u) || !row->modes || used >= size) continue;
        if (row->modes >> mode & 1u && !(scatter && is_gpu_scatter(options))) continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s--%s", count++ ? ", " : "", row->name);
    }
    if (count && used < size)
        snprintf(text + used, size - used, ": no effect in mode %s, which auto has chosen",
                 fmo_mode_name(mode));
}

fmo_status driver_options_check_ranks(const driver_options *options, fmo_error *err)
{
    for (int i = 0; i < driver_program.option_num; i++)
        if (options->given >> i & 1u && driver_program.option[i].alone)
            return REFUSE("--%s has no effect under mpirun, where each process has a GPU of its "
                          "own: leave it out",
                          driver_program.option[i].name);
    for (int i = 0; i < options->dataset_num; i++)
        if (strcmp(options->datasets[i], "-") == 0)
            return REFUSE("the standard input reaches only one process of mpirun: name a file");
    return FMO_OK;
}

/* ---- values that mean something only together ------------------------------------------------ */

/* Sets the devices of the plan from --gpus: a number, or "all". If there is no GPU, "all" requests
 * the first one, so that the error says why there is none. */
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
        return REFUSE("--gpus %.40s: expected a number from 1 to %d, or all", text,
                      FMO_DEVICES_MAX);
    options->fock.device_num = num;
    for (int k = 0; k < num; k++) options->fock.devices[k] = k;
    return FMO_OK;
}

/* Refuses a cutoff with which the energy would be meaningless, probably a typing error such as "1"
 * for "1e-10". */
static fmo_status check_cutoff(const driver_options *options, fmo_error *err)
{
    const double limit = options->fragments ? FMO_FRAGMENT_CUTOFF_MAX : FMO_SCF_CUTOFF_MAX;
    const double cutoff = driver_cutoff(options);
    if (!(options->scf || options->fragments) || cutoff <= limit || options->force) return FMO_OK;
    return REFUSE("--cutoff %g: too loose for %s, whose energy would be wrong: choose one of "
                  "at most %g (default %g), or add --force",
                  cutoff, options->fragments ? "--fmo" : "--scf", limit,
                  options->scf_options.fock.cutoff);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Detects "--profile json": an optional value must follow "=", so this word was taken as a file. */
static fmo_status check_stray_value(const bool *given, const char *word, fmo_error *err)
{
    for (int i = 0; i < driver_program.option_num; i++) {
        const cli_option *row = &driver_program.option[i];
        if (!given[i] || !row->without || !row->choices) continue;
        for (int k = 0; k < row->choices->count; k++)
            if (strcmp(word, row->choices->name(k)) == 0 && access(word, F_OK) != 0)
                return REFUSE("did you mean --%s=%s?", row->name, word);
    }
    return FMO_OK;
}

/* Checks that a file fits the kind of run, and that the options which it needs are given. */
static fmo_status check_kind(const driver_options *options, const char *path, fmo_error *err)
{
    const bool xyz = driver_is_xyz(path), system = driver_is_system(path);
    const char *const basis = options->basis ? "" : " --basis NAME";
    if (options->scf && !options->batch && options->basis && driver_is_folder(path))
        return REFUSE("%.200s: is a folder: add --batch to run all geometries in it", path);
    if (driver_unpacker_of(path))
        return REFUSE("%.200s: is compressed: unpack it, or pipe it: %s %.200s | fmo-driver - ...",
                      path, driver_unpacker_of(path), path);
    if (options->fragments && !system)
        return REFUSE("%.200s: --fmo takes systems of fragments, whose names end in .json, "
                      ".pdb, .ent, .inp or .ajf (docs/reference/fmo.md)",
                      path);
    if (options->fragments) return FMO_OK;
    if (system)
        return REFUSE("%.200s: this looks like a system of fragments: add --fmo%s%s", path,
                      driver_is_pdb(path) ? basis : "",
                      options->scf ? ", and leave out --scf" : "");
    if (xyz && !options->scf)
        return REFUSE("%.200s: a geometry has no density: add --scf%s", path, basis);
    if (xyz && !options->basis)
        return REFUSE("%.200s: a geometry needs a basis set: add --basis NAME, such as "
                      "--basis 6-31g",
                      path);
    if (!xyz && driver_looks_like_xyz(path))
        return REFUSE("%.200s: this looks like a geometry: give it a name that ends in .xyz", path);
    return FMO_OK;
}

/* Refuses options that have no effect on a file. */
static fmo_status check_inputs(const driver_options *options, const bool *given, const char *path,
                               fmo_error *err)
{
    if (strcmp(path, "-") != 0 && access(path, F_OK) != 0) return FMO_OK; /* the reader says so */
    static const char *const one[] = {"a data set, which has its own basis functions", "a geometry",
                                      "this system of fragments", "a PDB file"};
    const unsigned kind = driver_is_xyz(path)      ? GEOMETRY
                          : driver_is_pdb(path)    ? PDB
                          : driver_is_system(path) ? SYSTEM
                                                   : DATASET;
    for (int i = 0; i < driver_program.option_num; i++) {
        const cli_option *row = &driver_program.option[i];
        char list[80], what[64];
        if (!given[i] || !row->inputs || row->inputs & kind) continue;
        if (row->at == AT(unit) && options->charges) continue; /* it is also theirs */
        driver_list_bits(kind, one, 4, "", what, sizeof what);
        driver_list_inputs(row->inputs, list, sizeof list);
        return REFUSE("%.200s: --%s has no effect on %s: leave it out, or use it with %s", path,
                      row->name, what, list);
    }
    return FMO_OK;
}

/* Refuses several data sets with an output file that can hold only one. */
static fmo_status check_outputs(const driver_options *options, fmo_error *err)
{
    if (options->output && options->scf && options->batch) return FMO_OK;
    const char *const file = options->output                   ? "output"
                             : options->molden                 ? "molden"
                             : options->fragment_options.state ? "state"
                             : options->pairs                  ? "pairs"
                             : options->map                    ? "heat-map"
                             : options->page                   ? "html"
                             : options->cpf                    ? "cpf"
                                                               : NULL;
    if (file && options->dataset_num > 1)
        return REFUSE("--%s takes one data set, not %d: run them one by one", file,
                      options->dataset_num);
    return FMO_OK;
}

/* Checks the files first, then the options, and last the options together with the files. */
static fmo_status check_all(driver_options *options, const bool *given, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int i = 0; i < options->dataset_num && status == FMO_OK; i++) {
        const char *path = options->datasets[i];
        if (*path == '\0') return REFUSE("data set %d has an empty name", i + 1);
        status = check_stray_value(given, path, err);
        if (status == FMO_OK && !(options->scf && options->fragments))
            status = check_kind(options, path, err);
    }
    if (status == FMO_OK) status = check_use(options, given, err);
    for (int i = 0; i < options->dataset_num && status == FMO_OK; i++)
        status = check_inputs(options, given, options->datasets[i], err);
    if (status == FMO_OK) status = set_gpus(options, err);
    if (status == FMO_OK) status = check_cutoff(options, err);
    if (status == FMO_OK && options->dataset_num == 0)
        return REFUSE("no data set given: fmo-driver DATASET.h5... (see fmo-driver --help)");
    return status == FMO_OK ? check_outputs(options, err) : status;
}

fmo_status driver_options_parse(int argc, char **argv, driver_options *options, fmo_error *err)
{
    bool given[DRIVER_OPTIONS_MAX];
    driver_options_defaults(options);
    fmo_status status =
        cli_parse(&driver_program, argc, argv, options, given, &options->dataset_num, err);
    options->datasets = argv + 1;
    if (status != FMO_OK || options->action != DRIVER_RUN) return status;
    for (int i = 0; i < driver_program.option_num; i++) options->given |= (uint64_t)given[i] << i;
    status = driver_options_find_inputs(options, err);
    return status == FMO_OK ? check_all(options, given, err) : status;
}
