/* Copies the results of a complete file of molecules (HDF5, written by molecules.c) into a
 * checkpoint, so that a batch can be continued with more molecules. The file is read by libhdf5
 * after fmo's own reader has found it whole and without foreign content (kind.c). */
#include "io/output/checkpoint.h"
#include "base/arguments.h"
#include "io/output/hdf5.h"
#include "io/text/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 60001 };

static bool get_number(hid_t object, const char *name, hid_t type, void *value)
{
    if (H5Aexists(object, name) <= 0) return false;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Aread(attribute, type, value) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    return good;
}

/* Reads a string of fixed length into TEXT_SIZE bytes. */
static bool get_text(hid_t object, const char *name, char *text)
{
    if (H5Aexists(object, name) <= 0) return false;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    bool good = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                size > 0 && size < TEXT_SIZE;
    memset(text, 0, TEXT_SIZE);
    good = good && H5Aread(attribute, type, text) >= 0;
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    return good;
}

/* Reads an array of doubles of exactly *count elements, or, if *count is 0, of those that it has;
 * NULL if there is none. */
static double *get_array_of(hid_t group, const char *name, size_t *count)
{
    if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return NULL;
    const hid_t data = H5Dopen2(group, name, H5P_DEFAULT);
    const hid_t space = data >= 0 ? H5Dget_space(data) : -1;
    double *values = NULL;
    const hssize_t there = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (there > 0 && (!*count || (size_t)there == *count))
        values = malloc((size_t)there * sizeof *values);
    if (values) *count = (size_t)there;
    if (values && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        free(values);
        values = NULL;
    }
    if (space >= 0) H5Sclose(space);
    if (data >= 0) H5Dclose(data);
    return values;
}

static double *get_array(hid_t group, const char *name, size_t count)
{
    return count ? get_array_of(group, name, &count) : NULL;
}

typedef struct texts {
    char key[TEXT_SIZE], status[TEXT_SIZE], mode[TEXT_SIZE], method[TEXT_SIZE];
} texts;

/* Copies one molecule; those without a result or a key are passed over. */
static fmo_status copy_molecule(fmo_checkpoint *c, hid_t group, texts *t, fmo_error *err)
{
    fmo_molecule_result m = {.key = t->key, .status = t->status, .mode = t->mode};
    const struct {
        const char *name;
        int *value;
    } numbers[] = {{"converged", &m.converged},
                   {"cycles", &m.cycles},
                   {"ao_num", &m.nao},
                   {"mo_num", &m.mo_num},
                   {"occupied_num", &m.occupied_num}};
    bool good = get_text(group, "key", t->key) && get_text(group, "status", t->status) &&
                get_text(group, "mode", t->mode) &&
                get_number(group, "energy", H5T_NATIVE_DOUBLE, &m.energy);
    for (size_t k = 0; good && k < sizeof numbers / sizeof *numbers; k++)
        good = get_number(group, numbers[k].name, H5T_NATIVE_INT, numbers[k].value);
    /* files of closed shells alone did not have these */
    if (!get_number(group, "occupied_beta_num", H5T_NATIVE_INT, &m.occupied_beta_num))
        m.occupied_beta_num = m.occupied_num;
    (void)get_number(group, "multiplicity", H5T_NATIVE_INT, &m.multiplicity);
    (void)get_number(group, "spin_square", H5T_NATIVE_DOUBLE, &m.spin_square);
    if (get_text(group, "method", t->method)) m.method = t->method;
    if (!good || m.nao < 1 || m.mo_num < 0 || strlen(t->key) != 64) return FMO_OK;
    const size_t n = (size_t)m.nao, mo = (size_t)m.mo_num;
    size_t nuclei = 0;
    free(get_array_of(group, "nucleus_charge", &nuclei));
    m.nucleus_num = (int)nuclei;
    const struct {
        const char *name;
        size_t count;
        const double **values;
    } arrays[] = {{"mo_energy", mo, &m.orbital_energy},
                  {"mo_coefficient", mo * n, &m.coefficient},
                  {"mo_energy_beta", mo, &m.orbital_energy_beta},
                  {"mo_coefficient_beta", mo * n, &m.coefficient_beta},
                  {"density", n * n, &m.density},
                  {"spin_density", n * n, &m.spin_density},
                  {"gradient", 3 * nuclei, &m.gradient},
                  {"mulliken_charge", nuclei, &m.mulliken_charge},
                  {"mulliken_spin", nuclei, &m.mulliken_spin}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k].values = get_array(group, arrays[k].name, arrays[k].count);
    const fmo_status status = fmo_checkpoint_add_found(c, &m, err);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free((void *)*arrays[k].values);
    return status;
}

/* Copies all molecules of an open file. */
static fmo_status copy_all(fmo_checkpoint *c, const char *label, hid_t file, texts *t,
                           fmo_error *err)
{
    int count = 0;
    const hid_t own = H5Gopen2(file, FMO_GROUP, H5P_DEFAULT);
    bool good = own >= 0 && get_number(own, "molecule_num", H5T_NATIVE_INT, &count);
    const bool known = good && get_text(own, "settings", t->status);
    if (own >= 0) H5Gclose(own);
    fmo_status status =
        known ? fmo_settings_compare(label, t->status, fmo_checkpoint_settings(c), err)
              : fmo_error_set(err, FMO_ERR_INPUT,
                              "%s: was written by an earlier version, without its settings; leave "
                              "out --resume",
                              label);
    for (int k = 0; status == FMO_OK && k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "molecules/%d", k);
        const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
        if (group < 0)
            status = fmo_error_set(err, FMO_ERR_INPUT, "%s: %s cannot be read; remove the file",
                                   label, name);
        if (status == FMO_OK) status = copy_molecule(c, group, t, err);
        if (group >= 0) H5Gclose(group);
    }
    return status;
}

/* Opens the file for libhdf5, if it is one that fmo wrote. */
fmo_status fmo_checkpoint_import(fmo_checkpoint *checkpoint, const char *path, fmo_error *err)
{
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_checkpoint_import", err, FMO_GIVEN(checkpoint), FMO_GIVEN(path));
    if (checked != FMO_OK) return checked;
    char label[256];
    fmo_h5_quiet quiet;
    fmo_path_label(path, label, sizeof label);
    if (fmo_file_kind_of(path) != FMO_FILE_MOLECULES)
        return fmo_error_set(err, FMO_ERR_INPUT, "%s: is not %s", label,
                             fmo_file_kind_text(FMO_FILE_MOLECULES));
    texts *t = malloc(sizeof *t);
    if (!t || !fmo_h5_quiet_begin(&quiet, 0)) {
        free(t);
        return fmo_error_set(err, FMO_ERR_MEMORY, "%s: no memory to read it", label);
    }
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const fmo_status status = file >= 0
                                  ? copy_all(checkpoint, label, file, t, err)
                                  : fmo_error_set(err, FMO_ERR_INPUT, "%s: cannot be read", label);
    if (file >= 0) H5Fclose(file);
    fmo_h5_quiet_end(&quiet);
    free(t);
    return status;
}
