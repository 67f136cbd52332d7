/* Runs the SCF of one data set or geometry: read, converge, write. See scf.h. */
#define _GNU_SOURCE
#include "driver/run/scf.h"
#include "driver/base/checkgoto.h"
#include "driver/base/interrupt.h"
#include "driver/run/files.h"
#include "driver/run/properties.h"
#include "driver/run/spin.h"
#include "base/free_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/basis_set.h>
#include <fmo/molecule.h>
#include <fmo/wavefunction.h>

/* Makes the data set of a molecule, with the charge of the command line or of its comment. */
fmo_status driver_scf_dataset(const driver_options *options, const fmo_molecule *molecule,
                              const fmo_basis_set *set, driver_result *result, fmo_error *err)
{
    if (!options->charge_given)
        snprintf(result->geometry_notice, sizeof result->geometry_notice, "%s", molecule->notice);
    result->singlet_is_meant = molecule->multiplicity == 1;
    fmo_molecule with = *molecule;
    if (options->multiplicity_given) with.multiplicity = options->multiplicity;
    result->multiplicity = with.multiplicity > 1 ? with.multiplicity : 1;
    const int charge = options->charge_given ? options->charge : molecule->charge;
    return fmo_dataset_create(&with, set, charge, &result->dataset, err);
}

/* Reads a geometry and a basis set, and makes the data set. */
static fmo_status read_geometry(const driver_options *options, const char *path,
                                driver_result *result, fmo_error *err)
{
    fmo_molecule *molecule = NULL;
    fmo_basis_set *set = NULL;
    fmo_status status = fmo_molecule_read_xyz_in(path, options->unit, &molecule, err);
    if (status == FMO_OK) {
        status = fmo_basis_set_read(options->basis, &set, err);
        result->named = status == FMO_OK;
    }
    fmo_basis_set_choose_functions(set, options->functions);
    if (status == FMO_OK) status = driver_scf_dataset(options, molecule, set, result, err);
    fmo_basis_set_destroy(set);
    fmo_molecule_destroy(molecule);
    return status;
}

/* Reads a data set, whose multiplicity the command line may replace. */
fmo_status driver_scf_read(const driver_options *options, const char *path, driver_result *result,
                           fmo_error *err)
{
    const fmo_status status = fmo_dataset_read_basis(path, &result->dataset, err);
    const int own = fmo_dataset_multiplicity(result->dataset);
    result->multiplicity = options->multiplicity_given || own == 0 ? options->multiplicity : own;
    return status;
}

/* Refuses a point charge on a nucleus, whose energy is infinite. */
static fmo_status check_charges(const driver_options *options, const driver_result *result,
                                fmo_error *err)
{
    const fmo_point_charges *const charges = result->charges;
    const fmo_basis_input *const in = fmo_dataset_basis_input(result->dataset);
    for (size_t c = 0; c < charges->num; c++) {
        for (int i = 0; i < in->nucleus_num; i++) {
            const double *const a = charges->coord + 3 * c, *const b = in->nucleus_coord + 3 * i;
            const double distance = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
            if (distance < FMO_NUCLEUS_DISTANCE_MIN && charges->charge[c] != 0.0 &&
                in->nucleus_charge[i] != 0.0)
                return fmo_error_set(
                    err, FMO_ERR_INPUT,
                    "%.300s: line %d: the charge is at the place of atom %d (%s) of the molecule, "
                    "closer than %g bohr; remove it, or correct its coordinates or their unit",
                    options->charges, charges->line[c], i + 1,
                    fmo_element_symbol(fmo_dataset_nucleus_number(result->dataset, i)),
                    FMO_NUCLEUS_DISTANCE_MIN);
        }
    }
    return FMO_OK;
}

/* Reads the point charges of --charges into the result, to which the input points. */
static fmo_status read_charges(const driver_options *options, driver_result *result,
                               fmo_scf_input *input, fmo_error *err)
{
    if (!options->charges) return FMO_OK;
    result->named = true;
    fmo_status status =
        fmo_point_charges_read(options->charges, options->unit, &result->charges, err);
    if (status == FMO_OK) status = check_charges(options, result, err);
    if (status != FMO_OK) return status;
    result->named = false;
    input->charge_num = result->charges->num;
    input->charge = result->charges->charge;
    input->charge_coord = result->charges->coord;
    return FMO_OK;
}

double driver_nuclear_charge(const fmo_basis *basis)
{
    double charge = 0.0;
    for (int i = 0; i < fmo_basis_nucleus_num(basis); i++)
        charge += fmo_basis_nucleus_charge(basis, i);
    return charge;
}

/* Number of electrons: the data set's or, with --charge, the nuclear charge minus the charge. */
static int electron_num(const driver_options *options, const fmo_dataset *dataset)
{
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    if (!options->charge_given) return fmo_dataset_electron_num(dataset);
    const double charge = driver_nuclear_charge(basis) - options->charge;
    return charge > 0.0 && charge < 1e9 ? (int)lround(charge) : 0;
}

/* A result alone has seven matrices; an SCF that cannot fit in memory is refused at once. */
static fmo_status check_size(int nao, fmo_error *err)
{
    const double bytes = 7.0 * sizeof(double) * nao * nao, there = (double)fmo_free_memory();
    if (bytes <= there) return FMO_OK;
    return fmo_error_set(
        err, FMO_ERR_MEMORY,
        "the matrices of an SCF of %d functions take %.3g GB or more, and %.3g are "
        "free; take a smaller part or basis set, or fragments (--fmo)",
        nao, 1e-9 * bytes, 1e-9 * there);
}

/* Sets the input of an SCF from the data set and notes a doubtful spin. */
fmo_status driver_scf_input(const driver_options *options, driver_result *result,
                            fmo_scf_input *input, fmo_error *err)
{
    const fmo_dataset *const dataset = result->dataset;
    result->nao = fmo_basis_ao_num(fmo_dataset_basis(dataset));
    const fmo_status status = check_size(result->nao, err);
    if (status != FMO_OK) return status;
    const int from_file = strcmp(fmo_dataset_core_hamiltonian_source(dataset), "computed") != 0;
    *input = (fmo_scf_input){.basis = fmo_dataset_basis(dataset),
                             .electron_num = electron_num(options, dataset),
                             .core_hamiltonian =
                                 from_file ? fmo_dataset_core_hamiltonian(dataset) : NULL,
                             .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset),
                             .density = fmo_dataset_density(dataset),
                             .multiplicity = result->multiplicity};
    if (result->multiplicity == fmo_dataset_multiplicity(dataset))
        input->spin_density = fmo_dataset_spin_density(dataset);
    if (input->electron_num < 0)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "the data set does not contain the number of electrons: add --charge");
    result->electrons = input->electron_num;
    if (!options->multiplicity_given && !result->singlet_is_meant && result->multiplicity == 1 &&
        result->electrons % 2 == 0)
        driver_note_spin(dataset, result->electrons, result->spin_notice,
                         sizeof result->spin_notice);
    return FMO_OK;
}

void driver_scf_settings(const driver_options *options, fmo_scf_options *scf)
{
    *scf = options->scf_options;
    scf->fock = options->fock;
    scf->fock.cutoff = driver_cutoff(options);
    scf->fock.integrals = driver_integrals(options);
    scf->auto_in_fused = options->integrals_given; /* only an explicit auto is used in mode fused */
}

typedef struct listener {
    const driver_options *options;
    driver_progress *progress;
    driver_result *result;
    const driver_watch *watch; /* or NULL */
    int out_of_memory;
} listener;

/* Callback after each cycle: stores it, reports it, and restarts the progress bar. */
static void take_cycle(const fmo_scf_cycle *cycle, void *user)
{
    listener *l = user;
    driver_result *result = l->result;
    fmo_scf_cycle *more =
        realloc(result->cycles, (size_t)(result->cycle_num + 1) * sizeof *result->cycles);
    driver_progress_end(l->progress);
    if (!more) l->out_of_memory = 1;
    if (more) {
        result->cycles = more;
        result->cycles[result->cycle_num] = *cycle;
        result->cycles[result->cycle_num++].so_far = NULL;
        result->profile = cycle->so_far->fock_profile;
        if (l->watch) l->watch->cycle(result, l->watch->user);
    }
    /* The label says what the next builds are for. */
    if (cycle->converged && l->options->scf_options.stability != FMO_SCF_STABILITY_NONE)
        driver_progress_begin(l->progress, "stability");
    else
        driver_progress_begin(l->progress, "cycle %d", cycle->cycle + 1);
}

/* Writes --output and --molden. */
static fmo_status write_files(const driver_options *options, const driver_result *result,
                              fmo_error *err)
{
    const fmo_scf_result *scf = result->scf;
    const fmo_point_charges *const charges = result->charges;
    /* With point charges the file has the core Hamiltonian of the molecule alone. */
    const fmo_wavefunction wavefunction = {
        .mo_num = scf->mo_num,
        .coefficient = scf->coefficient,
        .energy = scf->orbital_energy,
        .occupation = scf->occupation,
        .overlap = scf->overlap,
        .core_hamiltonian = charges ? NULL : scf->core_hamiltonian,
        .total_energy = scf->energy,
        .converged = scf->converged,
        .gradient = scf->nuclear_gradient,
        .mulliken_charge = driver_charges_of(result, DRIVER_MULLIKEN),
        .loewdin_charge = driver_charges_of(result, DRIVER_LOEWDIN),
        .mulliken_spin = driver_charges_of(result, DRIVER_MULLIKEN_SPIN),
        .loewdin_spin = driver_charges_of(result, DRIVER_LOEWDIN_SPIN),
        .dipole = result->dipole,
        .method = driver_scf_method(scf),
        .coefficient_beta = scf->coefficient_beta,
        .energy_beta = scf->orbital_energy_beta,
        .occupation_beta = scf->occupation_beta,
        .point_charge_num = charges ? charges->num : 0,
        .point_charge = charges ? charges->charge : NULL,
        .point_charge_coord = charges ? charges->coord : NULL,
        .point_charge_gradient = scf->charge_gradient};
    driver_interrupt_hold();
    fmo_status status = driver_check_run_files(options, fmo_dataset_path(result->dataset), err);
    if (status == FMO_OK && options->output)
        status =
            fmo_wavefunction_write_trexio(options->output, result->dataset, &wavefunction, err);
    if (status == FMO_OK && options->molden)
        status =
            fmo_wavefunction_write_molden(options->molden, result->dataset, &wavefunction, err);
    driver_interrupt_release();
    return status;
}

/* Copies the notices of an SCF that are known so far. */
static void take_notices(const driver_options *options, const fmo_scf_result *scf,
                         driver_result *result)
{
    snprintf(result->scf_notice, sizeof result->scf_notice, "%s", scf->notice);
    driver_options_unused(options, scf->mode, result->unused, sizeof result->unused);
}

/* Computes G = F - H, the energies, the notices and the properties of a finished SCF. */
fmo_status driver_scf_evaluate(const driver_options *options, driver_result *result, fmo_error *err)
{
    const fmo_scf_result *scf = result->scf;
    const size_t size = (size_t)result->nao * (size_t)result->nao;
    double *G = malloc(size * sizeof *G);
    if (!G) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for G");
    for (size_t i = 0; i < size; i++) { /* of open shells the mean of both spins */
        G[i] = scf->fock[i] - scf->core_hamiltonian[i];
        if (scf->fock_beta) G[i] = 0.5 * (G[i] + scf->fock_beta[i] - scf->core_hamiltonian[i]);
    }
    driver_result_evaluate(result, scf->density, G, NULL, 0.0);
    if (scf->fock_beta) result->energy_2e = scf->two_electron_energy;
    result->energy = scf->energy;
    result->no_energy = NULL;
    result->profile = scf->fock_profile;
    result->profile.plan_seconds = scf->plan_seconds;
    take_notices(options, scf, result);
    free(G);
    return driver_scf_properties(options, result, err);
}

static void take_begin(const fmo_scf_result *so_far, void *user)
{
    listener *l = user;
    driver_progress_end(l->progress);
    l->result->profile = so_far->fock_profile;
    take_notices(l->options, so_far, l->result);
    if (l->watch) l->watch->begun(l->result, l->watch->user);
    driver_progress_begin(l->progress, "cycle 1");
}

/* Runs one SCF: reads the input, converges it, and writes the files. */
fmo_status driver_run_scf(const driver_options *options, const char *path,
                          const driver_watch *watch, driver_result *result, fmo_error *err)
{
    fmo_status status = FMO_OK;
    fmo_scf_options scf;
    fmo_scf_input input;
    driver_progress progress;
    listener cycles = {options, &progress, result, watch, 0};

    memset(result, 0, sizeof *result);
    result->is_scf = true;
    driver_progress_init(&progress, stderr, !options->quiet);
    driver_scf_settings(options, &scf);
    scf.fock.progress = driver_progress_update;
    scf.fock.progress_user = &progress;
    scf.callback = take_cycle;
    scf.begun = take_begin;
    scf.user = &cycles;

    CHECKGOTO(driver_check_run_files(options, path, err));
    result->named = true;
    if (driver_is_xyz(path))
        CHECKGOTO(read_geometry(options, path, result, err));
    else
        CHECKGOTO(driver_scf_read(options, path, result, err));
    result->named = false;
    CHECKGOTO(driver_check_doubts(options, result->dataset, err));
    CHECKGOTO(driver_scf_input(options, result, &input, err));
    CHECKGOTO(read_charges(options, result, &input, err));
    driver_progress_begin(&progress, "cycle 1");
    status = fmo_scf_run(&input, &scf, &result->scf, &result->scf_verdict);
    driver_progress_end(&progress);
    if (!result->scf) {
        fmo_error_set(err, status, "%s", result->scf_verdict.message);
        goto done;
    }
    if (cycles.out_of_memory) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the list of cycles");
        goto done;
    }
    CHECKGOTO(driver_scf_evaluate(options, result, err));
    CHECKGOTO(write_files(options, result, err));
done:
    driver_progress_end(&progress);
    return status;
}
