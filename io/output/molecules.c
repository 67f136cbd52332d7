/* A file of many molecules: an HDF5 file with one group per molecule and tables of all molecules.
 * It is built in memory and written by file.c. Next: docs/reference/results.md. */
#include <limits.h>
#include <fmo/result.h>
#include "io/output/extxyz.h"
#include "io/output/file.h"
#include "io/output/hdf5.h"
#include "base/arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fmo_molecules_file {
    char mode[32];
    double cutoff;
    char method[64];        /* those of the molecules, separated by commas */
    char *settings;         /* or NULL */
    fmo_extxyz *text;       /* extended .xyz, or NULL: HDF5 */
    hid_t image, molecules; /* the file and its group /molecules */
    size_t num, capacity;
    double *energy; /* [capacity] of all molecules so far */
    int *converged, *cycles;
};

/* Creates the empty file. Call between fmo_h5_quiet_begin and fmo_h5_quiet_end. */
static bool make_image(fmo_molecules_file *file)
{
    hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    file->image = fmo_h5_image_create();
    /* list groups in order of creation, not "10" before "2" */
    if (file->image >= 0 && properties >= 0 &&
        H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        file->molecules =
            H5Gcreate2(file->image, "molecules", H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0) H5Pclose(properties);
    return file->molecules >= 0;
}

/* Allocates the object and its HDF5 image. */
fmo_status fmo_molecules_file_create(const char *mode, double cutoff, fmo_molecules_file **file,
                                     fmo_error *err)
{
    if (file) *file = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_molecules_file_create", err, FMO_GIVEN(mode), FMO_GIVEN(file));
    if (checked != FMO_OK) return checked;
    fmo_molecules_file *made = calloc(1, sizeof *made);
    if (!made) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a file of molecules");
    made->image = made->molecules = -1;
    made->cutoff = cutoff;
    snprintf(made->mode, sizeof made->mode, "%s", mode);
    fmo_h5_quiet quiet;
    const bool begun = fmo_h5_quiet_begin(&quiet, 0), good = begun && make_image(made);
    if (begun) fmo_h5_quiet_end(&quiet);
    if (!good) {
        fmo_molecules_file_destroy(made);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a file of molecules");
    }
    *file = made;
    return FMO_OK;
}

/* Allocates the object and its text. */
fmo_status fmo_molecules_file_create_extxyz(fmo_molecules_file **file, fmo_error *err)
{
    if (file) *file = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_molecules_file_create_extxyz", err, FMO_GIVEN(file));
    if (checked != FMO_OK) return checked;
    fmo_molecules_file *made = calloc(1, sizeof *made);
    if (made) made->image = made->molecules = -1;
    if (made) made->text = fmo_extxyz_create();
    if (!made || !made->text) {
        fmo_molecules_file_destroy(made);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a file of molecules");
    }
    *file = made;
    return FMO_OK;
}

fmo_status fmo_molecules_file_set_settings(fmo_molecules_file *file, const char *settings,
                                           fmo_error *err)
{
    static const char call[] = "fmo_molecules_file_set_settings";
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(file), FMO_GIVEN(settings));
    if (status == FMO_OK) status = fmo_h5_check_text(call, "settings", settings, err);
    if (status != FMO_OK) return status;
    char *copy = strdup(settings);
    if (!copy) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for settings");
    free(file->settings);
    file->settings = copy;
    return FMO_OK;
}

void fmo_molecules_file_destroy(fmo_molecules_file *file)
{
    if (!file) return;
    fmo_h5_quiet quiet;
    /* If there is no memory, the image leaks instead of crashing HDF5. */
    if (file->image >= 0 && fmo_h5_quiet_begin(&quiet, 0)) {
        if (file->molecules >= 0) H5Gclose(file->molecules);
        H5Fclose(file->image);
        fmo_h5_quiet_end(&quiet);
    }
    free(file->energy);
    free(file->converged);
    free(file->cycles);
    free(file->settings);
    fmo_extxyz_destroy(file->text);
    free(file);
}

static bool put_nuclei(hid_t group, const fmo_dataset *dataset)
{
    const fmo_basis_input *in = fmo_dataset_basis_input(dataset);
    const size_t count[2] = {(size_t)in->nucleus_num, 3};
    return fmo_h5_put_array(group, "nucleus_charge", true, 1, count, in->nucleus_charge, "e") &&
           fmo_h5_put_array(group, "nucleus_coord", true, 2, count, in->nucleus_coord, "bohr") &&
           fmo_h5_put_text(group, "formula", fmo_dataset_formula(dataset), H5T_CSET_UTF8) &&
           fmo_h5_put_text(group, "basis", fmo_dataset_basis_name(dataset), H5T_CSET_UTF8) &&
           fmo_h5_put_text(group, "input_sha256", fmo_dataset_sha256(dataset), H5T_CSET_UTF8) &&
           fmo_h5_put_real(group, "nuclear_repulsion", fmo_dataset_nuclear_repulsion(dataset));
}

/* Writes a molecule's numbers and texts: input, status, method, energy and the counts of a
 * result. */
static bool put_numbers(hid_t group, const fmo_molecule_result *m)
{
    const struct {
        const char *name;
        int value;
    } numbers[] = {{"frame", m->frame},
                   {"converged", m->converged},
                   {"cycles", m->cycles},
                   {"ao_num", m->nao},
                   {"mo_num", m->mo_num},
                   {"occupied_num", m->occupied_num},
                   {"charge", m->charge},
                   {"occupied_beta_num", m->occupied_beta_num},
                   {"multiplicity", m->multiplicity > 0 ? m->multiplicity : 1}};
    bool good =
        fmo_h5_put_text(group, "input", m->input, H5T_CSET_UTF8) &&
        (!m->mode || fmo_h5_put_text(group, "mode", m->mode, H5T_CSET_UTF8)) &&
        fmo_h5_put_text(group, "status", m->status, H5T_CSET_UTF8) &&
        (!m->comment || fmo_h5_put_text(group, "comment", m->comment, H5T_CSET_UTF8)) &&
        (!m->key || fmo_h5_put_text(group, "key", m->key, H5T_CSET_UTF8)) &&
        (!m->nao || fmo_h5_put_text(group, "method", fmo_molecule_method(m), H5T_CSET_UTF8)) &&
        (!m->nao || fmo_h5_put_real(group, "spin_square", m->spin_square)) &&
        fmo_h5_put_real(group, "energy", m->energy);
    for (size_t k = 0; good && k < sizeof numbers / sizeof numbers[0]; k++)
        good = fmo_h5_put_integer(group, numbers[k].name, H5T_STD_I64LE, numbers[k].value);
    return good;
}

/* Writes the arrays of a molecule's result that are not NULL. */
static bool put_arrays(hid_t group, const fmo_molecule_result *m)
{
    const size_t n = (size_t)m->nao, mo = (size_t)m->mo_num;
    const size_t nuclei[2] = {(size_t)m->nucleus_num, 3};
    const size_t orbitals[2] = {mo, n}, functions[2] = {n, n};
    const struct {
        const char *name;
        int rank;
        const size_t *size;
        const double *values;
        const char *units;
    } arrays[] = {{"mo_energy", 1, orbitals, m->orbital_energy, "hartree"},
                  {"mo_coefficient", 2, orbitals, m->coefficient, NULL},
                  {"mo_energy_beta", 1, orbitals, m->orbital_energy_beta, "hartree"},
                  {"mo_coefficient_beta", 2, orbitals, m->coefficient_beta, NULL},
                  {"density", 2, functions, m->density, NULL},
                  {"spin_density", 2, functions, m->spin_density, NULL},
                  {"gradient", 2, nuclei, m->gradient, "hartree/bohr"},
                  {"mulliken_charge", 1, nuclei, m->mulliken_charge, "e"},
                  {"mulliken_spin", 1, nuclei, m->mulliken_spin, NULL}};
    bool good = true;
    for (size_t k = 0; good && k < sizeof arrays / sizeof *arrays; k++)
        good = !arrays[k].values ||
               fmo_h5_put_array(group, arrays[k].name, true, arrays[k].rank, arrays[k].size,
                                arrays[k].values, arrays[k].units);
    return good;
}

/* Ensures space for one more entry in the tables. */
static bool grow(fmo_molecules_file *file)
{
    if (file->num < file->capacity) return true;
    const size_t capacity = file->capacity ? 2 * file->capacity : 64;
    double *energy = realloc(file->energy, capacity * sizeof *energy);
    if (energy) file->energy = energy;
    int *converged = realloc(file->converged, capacity * sizeof *converged);
    if (converged) file->converged = converged;
    int *cycles = realloc(file->cycles, capacity * sizeof *cycles);
    if (cycles) file->cycles = cycles;
    if (!energy || !converged || !cycles) return false;
    file->capacity = capacity;
    return true;
}

enum { FUNCTIONS_MAX = 1 << 20 }; /* limit for a molecule without a data set */

/* Checks the counts, which determine the sizes of the arrays. */
static fmo_status check_counts(const fmo_dataset *dataset, const fmo_molecule_result *m,
                               fmo_error *err)
{
    const int max = dataset ? fmo_basis_ao_num(fmo_dataset_basis(dataset)) : FUNCTIONS_MAX;
    const int min = m->density || m->spin_density || m->coefficient || m->coefficient_beta;
    const int orbitals =
        m->orbital_energy || m->orbital_energy_beta || m->coefficient || m->coefficient_beta;
    const int nuclei = dataset ? fmo_basis_nucleus_num(fmo_dataset_basis(dataset)) : 0;
    const struct {
        const char *name;
        int value, min, max;
    } count[] = {{"frame", m->frame, 0, INT_MAX},
                 {"cycles", m->cycles, 0, INT_MAX},
                 {"nao", m->nao, min, max},
                 {"mo_num", m->mo_num, orbitals, m->nao},
                 {"occupied_num", m->occupied_num, 0, m->mo_num},
                 {"occupied_beta_num", m->occupied_beta_num, 0, m->mo_num},
                 {"multiplicity", m->multiplicity, 0, 2 * FUNCTIONS_MAX},
                 {"nucleus_num", m->nucleus_num, fmo_molecule_has_nuclei(m) ? nuclei : 0, nuclei}};

    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        if (count[k].value < count[k].min || count[k].value > count[k].max)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "fmo_molecules_file_add: %s = %d: expected %d to %d",
                                 count[k].name, count[k].value, count[k].min, count[k].max);
    return FMO_OK;
}

/* Writes the group of the next molecule; on failure the group is removed again. */
static bool put_molecule(fmo_molecules_file *file, const fmo_dataset *dataset,
                         const fmo_molecule_result *molecule)
{
    const size_t nao = (size_t)molecule->nao, mo = (size_t)molecule->mo_num;
    const size_t nuclei = dataset ? (size_t)fmo_dataset_basis_input(dataset)->nucleus_num : 0;
    char name[32];
    fmo_h5_quiet quiet;
    snprintf(name, sizeof name, "%zu", file->num);
    if (!grow(file) ||
        !fmo_h5_quiet_begin(&quiet, sizeof(double) * 2 * (nao * nao + mo * nao + mo + 6 * nuclei)))
        return false;
    hid_t group = fmo_h5_put_group(file->molecules, name);
    bool good = group >= 0 && put_numbers(group, molecule) && put_arrays(group, molecule) &&
                (!dataset || put_nuclei(group, dataset));
    if (group >= 0) H5Gclose(group);
    if (group >= 0 && !good) (void)H5Ldelete(file->molecules, name, H5P_DEFAULT);
    fmo_h5_quiet_end(&quiet);
    return good;
}

/* Adds the method of a molecule with a result to those of the file. */
static void add_method(fmo_molecules_file *file, const fmo_molecule_result *molecule)
{
    const char *const name = fmo_molecule_method(molecule);
    const size_t used = strlen(file->method), size = strlen(name);
    if (!molecule->nao) return;
    for (const char *at = file->method; *at; at += strspn(at, ", ")) {
        const size_t word = strcspn(at, ",");
        if (word == size && strncmp(at, name, size) == 0) return;
        at += word;
    }
    if (used + size + 3 <= sizeof file->method)
        snprintf(file->method + used, sizeof file->method - used, "%s%s", used ? ", " : "", name);
}

/* Checks all arguments, then adds the group of the molecule and its entries in the tables. */
fmo_status fmo_molecules_file_add(fmo_molecules_file *file, const fmo_dataset *dataset,
                                  const fmo_molecule_result *molecule, fmo_error *err)
{
    fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_molecules_file_add", err, FMO_GIVEN(file), FMO_GIVEN(molecule));
    if (checked == FMO_OK)
        checked = FMO_CHECK_ARGUMENTS("fmo_molecules_file_add", err, FMO_GIVEN(molecule->input),
                                      FMO_GIVEN(molecule->status));
    if (checked == FMO_OK) checked = check_counts(dataset, molecule, err);
    const struct {
        const char *field, *text;
    } texts[] = {{"molecule->input", checked == FMO_OK ? molecule->input : NULL},
                 {"molecule->status", checked == FMO_OK ? molecule->status : NULL},
                 {"molecule->mode", checked == FMO_OK ? molecule->mode : NULL},
                 {"molecule->method", checked == FMO_OK ? molecule->method : NULL},
                 {"molecule->comment", checked == FMO_OK ? molecule->comment : NULL},
                 {"molecule->key", checked == FMO_OK ? molecule->key : NULL}};
    for (size_t k = 0; checked == FMO_OK && k < sizeof texts / sizeof *texts; k++)
        checked = fmo_h5_check_text("fmo_molecules_file_add", texts[k].field, texts[k].text, err);
    if (checked != FMO_OK) return checked;
    if (file->text) return fmo_extxyz_add(file->text, dataset, molecule, err);
    if (!put_molecule(file, dataset, molecule))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for molecule %zu of a file",
                             file->num);
    add_method(file, molecule);
    file->energy[file->num] = molecule->energy;
    file->converged[file->num] = molecule->converged;
    file->cycles[file->num++] = molecule->cycles;
    return FMO_OK;
}

/* Writes /fmo and /summary, after deleting those of an earlier write. */
static bool put_summary(fmo_molecules_file *file)
{
    const fmo_attribute *a = fmo_attributes;
    static const char *const groups[] = {FMO_GROUP, "summary"};
    for (size_t k = 0; k < 2; k++)
        if (H5Lexists(file->image, groups[k], H5P_DEFAULT) > 0)
            (void)H5Ldelete(file->image, groups[k], H5P_DEFAULT);
    const hid_t group = fmo_h5_put_group(file->image, FMO_GROUP);
    const hid_t summary = fmo_h5_put_group(file->image, "summary");
    bool good =
        group >= 0 && summary >= 0 && fmo_h5_put_provenance(group, NULL) &&
        fmo_h5_put_text(group, a[ATTR_fmo_mode].name, file->mode, H5T_CSET_UTF8) &&
        fmo_h5_put_text(group, a[ATTR_fmo_method].name, *file->method ? file->method : "RHF",
                        H5T_CSET_UTF8) &&
        fmo_h5_put_real(group, a[ATTR_fmo_cutoff].name, file->cutoff) &&
        (!file->settings || fmo_h5_put_text(group, "settings", file->settings, H5T_CSET_UTF8)) &&
        fmo_h5_put_integer(group, a[ATTR_fmo_molecule_num].name, H5T_STD_I64LE, (int64_t)file->num);
    if (good && file->num > 0)
        good =
            fmo_h5_put_array(summary, "energy", true, 1, &file->num, file->energy, "hartree") &&
            fmo_h5_put_array(summary, "converged", false, 1, &file->num, file->converged, NULL) &&
            fmo_h5_put_array(summary, "cycles", false, 1, &file->num, file->cycles, NULL);
    if (group >= 0) H5Gclose(group);
    if (summary >= 0) H5Gclose(summary);
    return good;
}

/* Completes the image and writes its bytes; more molecules may follow. */
fmo_status fmo_molecules_file_write(fmo_molecules_file *file, const char *path, fmo_error *err)
{
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_molecules_file_write", err, FMO_GIVEN(file), FMO_GIVEN(path));
    if (checked != FMO_OK) return checked;
    if (!*path)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_molecules_file_write: path is empty");
    if (file->text) return fmo_extxyz_write(file->text, path, err);
    fmo_output output;
    fmo_h5_quiet quiet;
    const void *bytes = NULL;
    size_t size = 0;
    fmo_status status = fmo_output_open(&output, path, NULL, err);
    if (status == FMO_OK && !fmo_h5_quiet_begin(&quiet, 3 * file->num * sizeof(double)))
        status = fmo_output_fail(&output, FMO_ERR_MEMORY, "no memory to write it");
    else if (status == FMO_OK) {
        if (!put_summary(file) || !fmo_h5_image_bytes(file->image, &bytes, &size))
            status = fmo_output_fail(&output, FMO_ERR_MEMORY, "no memory to write it");
        if (status == FMO_OK) status = fmo_output_write(&output, bytes, size);
        fmo_h5_quiet_end(&quiet);
    }
    fmo_output_close(&output);
    return status;
}
