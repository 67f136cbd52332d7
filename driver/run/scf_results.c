/* The results of --scf --batch: checkpoint and output. See scf_results.h. */
#define _GNU_SOURCE
#include "driver/run/scf_results.h"
#include "driver/base/interrupt.h"
#include "driver/run/files.h"
#include "driver/run/properties.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fmo/result.h>

#define CHECKPOINT ".checkpoint"

struct driver_scf_results {
    const driver_options *options;
    char settings[DRIVER_SETTINGS_SIZE];
    char *path; /* of the checkpoint */
    fmo_checkpoint *checkpoint;
    fmo_molecules_file *file;
    fmo_error err; /* of the checkpoint */
    char advice[512];
};

/* Refuses to replace what an interrupted run has left, or a file of somebody else. */
static fmo_status check_checkpoint(const driver_scf_results *r, fmo_error *err)
{
    const fmo_file_kind kind = fmo_file_kind_of(r->path);
    const bool none = kind == FMO_FILE_NONE || kind == FMO_FILE_EMPTY;
    if (none || (kind == FMO_FILE_CHECKPOINT && (r->options->resume || r->options->force)))
        return FMO_OK;
    if (kind != FMO_FILE_CHECKPOINT)
        return fmo_error_set(err, FMO_ERR_OUTPUT,
                             "%.300s: is not a checkpoint: move it, or choose another --output",
                             r->path);
    return fmo_error_set(err, FMO_ERR_OUTPUT,
                         "%.300s: holds the results of an interrupted run: add --resume to "
                         "continue it, or --force to start again",
                         r->path);
}

/* Opens the checkpoint; if there is none, --resume begins with the results in --output. */
static fmo_status open_checkpoint(driver_scf_results *r, fmo_error *err)
{
    const driver_options *o = r->options;
    fmo_status status = check_checkpoint(r, err);
    if (status != FMO_OK) return status;
    const fmo_file_kind before = fmo_file_kind_of(r->path);
    const fmo_file_kind output = fmo_file_kind_of(o->output);
    const bool anew = o->resume && (before == FMO_FILE_NONE || before == FMO_FILE_EMPTY);
    if (anew && output == FMO_FILE_EXTXYZ)
        return fmo_error_set(err, FMO_ERR_OUTPUT,
                             "--resume: %.300s is complete, and extended .xyz cannot be continued: "
                             "leave out --resume to compute it again",
                             o->output);
    status = fmo_checkpoint_open(r->path, r->settings, o->resume, &r->checkpoint, err);
    if (status != FMO_OK || !anew || output != FMO_FILE_MOLECULES) return status;
    status = fmo_checkpoint_import(r->checkpoint, o->output, err);
    if (status != FMO_OK) { /* what was copied is in the output still */
        fmo_checkpoint_close(r->checkpoint, 1);
        r->checkpoint = NULL;
    }
    return status;
}

/* Tells, when a signal ends the program, how to go on. */
static void advise(driver_scf_results *r)
{
    snprintf(
        r->advice, sizeof r->advice,
        "fmo-driver: interrupted: the results so far are in %.300s: add --resume to continue\n",
        r->path);
    driver_interrupt_advise(r->advice);
}

/* Opens the checkpoint first, because it may refuse to be replaced. */
fmo_status driver_scf_results_open(const driver_options *options, driver_scf_results **results,
                                   fmo_error *err)
{
    *results = NULL;
    if (!options->output) return FMO_OK;
    driver_scf_results *r = calloc(1, sizeof *r);
    if (!r) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a batch");
    *results = r;
    r->options = options;
    driver_options_settings(options, r->settings);
    if (asprintf(&r->path, "%s" CHECKPOINT, options->output) < 0) r->path = NULL;
    if (!r->path) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a batch");
    fmo_status status = open_checkpoint(r, err);
    if (status == FMO_OK)
        status = driver_writes_xyz(options)
                     ? fmo_molecules_file_create_extxyz(&r->file, err)
                     : fmo_molecules_file_create(fmo_mode_name(options->fock.mode),
                                                 driver_cutoff(options), &r->file, err);
    if (status == FMO_OK) status = fmo_molecules_file_set_settings(r->file, r->settings, err);
    if (status == FMO_OK) advise(r);
    return status;
}

void driver_scf_results_close(driver_scf_results *r)
{
    if (!r) return;
    driver_interrupt_advise(NULL);
    fmo_checkpoint_close(r->checkpoint, fmo_checkpoint_num(r->checkpoint) == 0);
    fmo_molecules_file_destroy(r->file);
    free(r->path);
    free(r);
}

fmo_status driver_scf_results_restore(driver_scf_results *r, driver_scf_one *one, fmo_error *err)
{
    fmo_molecule_result found;
    fmo_status status = fmo_molecule_key(one->result.dataset, one->result.electrons, one->key, err);
    if (status == FMO_OK) status = fmo_checkpoint_find(r->checkpoint, one->key, &found, err);
    if (status != FMO_OK || !found.key) return status;
    if (r->options->scf_options.forces && found.converged && !found.gradient) return FMO_OK;
    one->restored = true;
    one->result.energy = found.energy;
    if (!found.converged)
        fmo_error_set(&one->result.scf_verdict, FMO_ERR_CHECK, "SCF %s", found.status);
    return FMO_OK;
}

/* Describes the result of an SCF of this run. */
static fmo_molecule_result describe(const driver_scf_results *r, const driver_scf_one *one)
{
    const fmo_scf_result *scf = one->err.status == FMO_OK ? one->result.scf : NULL;
    const int64_t keep = r->options->keep;
    const bool orbitals = scf && keep >> DRIVER_KEEP_ORBITALS & 1;
    fmo_molecule_result m = {.status = scf ? scf->verdict : one->err.message, .energy = NAN};
    m.key = *one->key ? one->key : NULL;
    m.multiplicity = one->result.multiplicity;
    if (!scf) return m;
    m.mode = fmo_mode_name(scf->mode);
    m.converged = scf->converged;
    m.cycles = scf->cycles;
    m.energy = scf->energy;
    m.nao = scf->nao;
    m.mo_num = scf->mo_num;
    m.occupied_num = scf->occupied_num;
    m.occupied_beta_num = one->result.electrons - scf->occupied_num;
    m.method = driver_scf_method(scf);
    m.spin_square = scf->spin_square;
    m.orbital_energy = orbitals ? scf->orbital_energy : NULL;
    m.coefficient = orbitals ? scf->coefficient : NULL;
    m.orbital_energy_beta = orbitals ? scf->orbital_energy_beta : NULL;
    m.coefficient_beta = orbitals ? scf->coefficient_beta : NULL;
    m.density = keep >> DRIVER_KEEP_DENSITY & 1 ? scf->density : NULL;
    m.spin_density = keep >> DRIVER_KEEP_DENSITY & 1 ? scf->spin_density : NULL;
    m.gradient = scf->nuclear_gradient;
    m.mulliken_charge = driver_charges_of(&one->result, DRIVER_MULLIKEN);
    m.mulliken_spin = driver_charges_of(&one->result, DRIVER_MULLIKEN_SPIN);
    m.nucleus_num = one->result.charge_num;
    return m;
}

void driver_scf_results_keep(driver_scf_results *r, const driver_scf_one *one)
{
    if (one->err.status != FMO_OK || one->restored || r->err.status != FMO_OK) return;
    const fmo_molecule_result molecule = describe(r, one);
    (void)fmo_checkpoint_add(r->checkpoint, &molecule, &r->err);
}

/* Adds the result of this run or of an earlier one. */
fmo_status driver_scf_results_add(driver_scf_results *r, const driver_scf_one *one, fmo_error *err)
{
    const fmo_dataset *dataset = one->result.dataset;
    fmo_molecule_result molecule = describe(r, one);
    fmo_status status = r->err.status;
    if (status != FMO_OK) return fmo_error_set(err, status, "%s", r->err.message);
    if (one->restored) status = fmo_checkpoint_find(r->checkpoint, one->key, &molecule, err);
    if (status == FMO_OK && one->restored && !molecule.key)
        status = fmo_error_set(err, FMO_ERR_INPUT, "%.300s: has changed; run again with --resume",
                               r->path);
    if (status != FMO_OK) return status;
    if (!r->options->scf_options.forces) molecule.gradient = NULL; /* of an earlier run */
    molecule.input = one->path;
    molecule.frame = one->result.frame;
    molecule.comment = one->comment;
    if (dataset)
        molecule.charge =
            (int)lround(driver_nuclear_charge(fmo_dataset_basis(dataset))) - one->result.electrons;
    return fmo_molecules_file_add(r->file, dataset, &molecule, err);
}

/* Checks again that no file would be lost, and writes. */
fmo_status driver_scf_results_write(driver_scf_results *r, fmo_error *err)
{
    const driver_options *o = r->options;
    driver_interrupt_hold();
    fmo_status status = driver_check_all_run_files(o, err);
    if (status == FMO_OK) status = fmo_molecules_file_write(r->file, o->output, err);
    if (status == FMO_OK) {
        fmo_checkpoint_close(r->checkpoint, 1);
        r->checkpoint = NULL;
        driver_interrupt_advise(NULL);
    }
    driver_interrupt_release();
    return status;
}
