/* Writes result files: group /fmo of a new HDF5 file, which is built in memory (hdf5.h) and written
 * by file.c. Declared in result.h. */
#include <fmo/result.h>
#include "io/output/file.h"
#include "io/output/hdf5.h"
#include "base/arguments.h"

#include <math.h>
#include <string.h>

/* Puts the content into the file; data is that passed to write_image. */
typedef bool (*put_function)(hid_t file, const void *data);

/* Builds an HDF5 image of about `bytes` bytes with `put` and writes it to path. */
static fmo_status write_image(const char *path, const fmo_dataset *dataset, size_t bytes,
                              put_function put, const void *data, fmo_error *err)
{
    fmo_output output;
    fmo_h5_quiet quiet;
    const void *image = NULL;
    size_t size = 0;
    fmo_status status = fmo_output_open(&output, path, dataset, err);
    if (status == FMO_OK && !fmo_h5_quiet_begin(&quiet, bytes))
        status = fmo_output_fail(&output, FMO_ERR_MEMORY, "no memory to write it");
    else if (status == FMO_OK) {
        hid_t file = fmo_h5_image_create();
        if (file < 0 || !put(file, data) ||
            !fmo_h5_image_bytes(file, &image, &size)) /* only lack of memory can fail here */
            status = fmo_output_fail(&output, FMO_ERR_MEMORY, "no memory to write it");
        if (status == FMO_OK) status = fmo_output_write(&output, image, size);
        if (file >= 0) H5Fclose(file);
        fmo_h5_quiet_end(&quiet);
    }
    fmo_output_close(&output);
    return status;
}

static bool put_provenance(hid_t group, const fmo_dataset *dataset, const fmo_result *result)
{
    const fmo_attribute *a = fmo_attributes;
    return fmo_h5_put_provenance(group, dataset) &&
           fmo_h5_put_text(group, a[ATTR_fmo_mode].name, result->mode ? result->mode : "",
                           H5T_CSET_UTF8) &&
           fmo_h5_put_real(group, a[ATTR_fmo_cutoff].name, result->cutoff);
}

typedef struct matrices {
    const fmo_dataset *dataset;
    const fmo_result *result;
} matrices;

/* Writes the matrices and the energy that are present (fmo_result_write). */
static bool put_matrices(hid_t file, const void *data)
{
    const matrices *m = data;
    const fmo_result *result = m->result;
    const struct {
        fmo_field_id id;
        const double *values;
    } parts[] = {{FIELD_fmo_coulomb, result->coulomb},
                 {FIELD_fmo_exchange, result->exchange},
                 {FIELD_fmo_fock_2e, result->fock_2e},
                 {FIELD_fmo_fock, result->fock},
                 {FIELD_fmo_energy, isnan(result->energy) ? NULL : &result->energy}};
    int64_t count[DIM_COUNT] = {[DIM_AO] = result->nao};
    hid_t group = fmo_h5_put_group(file, FMO_GROUP);
    bool good = group >= 0 && put_provenance(group, m->dataset, result);
    for (size_t i = 0; good && i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].values) good = fmo_h5_put_values(group, parts[i].id, count, parts[i].values);
    if (group >= 0) H5Gclose(group);
    return good;
}

fmo_status fmo_result_write(const char *path, const fmo_dataset *dataset, const fmo_result *result,
                            fmo_error *err)
{
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_result_write", err, FMO_GIVEN(path), FMO_GIVEN(result));
    if (status != FMO_OK) return status;
    if (!*path || result->nao < 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_result_write: no path or no result");
    if (dataset && fmo_basis_ao_num(fmo_dataset_basis(dataset)) != result->nao)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_result_write: nao is %d and the data set has %d functions",
                             result->nao, fmo_basis_ao_num(fmo_dataset_basis(dataset)));
    status = fmo_h5_check_text("fmo_result_write", "mode", result->mode, err);
    if (status != FMO_OK) return status;
    const matrices m = {dataset, result};
    const size_t nao = (size_t)result->nao;
    return write_image(path, dataset, 4 * nao * nao * sizeof(double), put_matrices, &m, err);
}

/* Arguments of put_fragments: arrays, and texts that become attributes of /fmo. */
typedef struct fragments {
    struct {
        fmo_attribute_id id;
        const char *field, *text;
    } text[4];
    const fmo_result_array *array;
    int count;
} fragments;

/* Writes the attributes and arrays of an FMO result (fmo_result_write_arrays). */
static bool put_fragments(hid_t file, const void *data)
{
    const fragments *f = data;
    const fmo_attribute *a = fmo_attributes;
    hid_t group = fmo_h5_put_group(file, FMO_GROUP);
    bool good = group >= 0 && fmo_h5_put_provenance(group, NULL) &&
                fmo_h5_put_integer(group, a[ATTR_fmo_fragments].name, H5T_STD_I32LE, 1);
    for (size_t i = 0; good && i < sizeof f->text / sizeof f->text[0]; i++)
        if (f->text[i].text && *f->text[i].text)
            good = fmo_h5_put_text(group, a[f->text[i].id].name, f->text[i].text, H5T_CSET_UTF8);
    for (int i = 0; good && i < f->count; i++) {
        const fmo_result_array *array = &f->array[i];
        const void *const values = array->real ? (const void *)array->real : array->integer;
        good = values ? fmo_h5_put_array(group, array->name, array->real != NULL, array->rank,
                                         array->size, values, array->units)
                      : fmo_h5_put_texts(group, array->name, array->size[0], array->text);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

/* Upper bound of the size of an array in the file, in bytes. */
static size_t bytes_of(const fmo_result_array *array)
{
    size_t n = 1, size = sizeof(double);
    for (int k = 0; k < array->rank; k++) n *= array->size[k];
    if (array->real || array->integer) return n * size;
    for (size_t i = 0; i < n; i++)
        if (strlen(array->text[i]) >= size) size = strlen(array->text[i]) + 1;
    return n * size;
}

/* Checks that an array has a name, values, a valid rank and a size that does not overflow. */
static fmo_status check_array(const fmo_result_array *array, int k, fmo_error *err)
{
    static const size_t limit = (size_t)1 << 40; /* elements */
    if (!array->name || (!array->real && !array->integer && !array->text))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_result_write_arrays: arrays[%d]: expected a name, and real, "
                             "integer or text",
                             k);
    const int of_text = !array->real && !array->integer;
    if (array->rank < of_text || array->rank > (of_text ? 1 : 2))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_result_write_arrays: arrays[%d].rank = %d: expected %s", k,
                             array->rank, of_text ? "1 of texts" : "0, 1 or 2");
    for (int d = 0; d < array->rank; d++)
        if (array->size[d] > limit ||
            (d && array->size[d] && array->size[0] > limit / array->size[d]))
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "fmo_result_write_arrays: arrays[%d].size[%d] = %zu: more than "
                                 "there can be",
                                 k, d, array->size[d]);
    for (size_t t = 0; of_text && t < array->size[0]; t++)
        if (!array->text[t])
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "fmo_result_write_arrays: arrays[%d].text[%zu] is NULL", k, t);
    return FMO_OK;
}

/* Checks all texts and arrays, then writes the file. */
fmo_status fmo_result_write_arrays(const char *path, const char *input, const char *sha256,
                                   const char *basis, const char *mode,
                                   const fmo_result_array *arrays, int count, fmo_error *err)
{
    static const char function[] = "fmo_result_write_arrays";
    fmo_status status = FMO_CHECK_ARGUMENTS(function, err, FMO_GIVEN(path), FMO_GIVEN(arrays));
    const fragments f = {{{ATTR_fmo_input, "input", input},
                          {ATTR_fmo_input_sha256, "sha256", sha256},
                          {ATTR_fmo_basis_name, "basis", basis},
                          {ATTR_fmo_mode, "mode", mode}},
                         arrays,
                         count};
    size_t bytes = 0;
    for (size_t i = 0; status == FMO_OK && i < sizeof f.text / sizeof f.text[0]; i++)
        status = fmo_h5_check_text(function, f.text[i].field, f.text[i].text, err);
    if (status == FMO_OK && count < 0)
        status = fmo_error_set(err, FMO_ERR_ARGUMENT,
                               "fmo_result_write_arrays: count = %d: expected 0 or more", count);
    for (int i = 0; status == FMO_OK && i < count; i++) {
        status = check_array(&arrays[i], i, err);
        if (status != FMO_OK) break;
        status = fmo_h5_check_text(function, "units", arrays[i].units, err);
        bytes += bytes_of(&arrays[i]);
    }
    return status == FMO_OK ? write_image(path, NULL, bytes, put_fragments, &f, err) : status;
}
