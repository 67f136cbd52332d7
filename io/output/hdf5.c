/* HDF5 files in memory; declared in hdf5.h. */
#include "io/output/hdf5.h"
#include "base/free_memory.h"
#include <fmo/version.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CORE_INCREMENT = 4096,
    RESERVE = 40 << 20, /* for HDF5's tables and buffers, and for an image that is copied to grow */
    TEXT_MAX = 60000    /* an object header holds at most 64 KiB */
};

/* HDF5 has global state and is usually not built thread-safe: a lock admits one thread at a
 * time. */
static pthread_mutex_t h5_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns true if this much memory could be allocated now. */
static bool is_available(size_t bytes)
{
    return bytes <= SIZE_MAX / 4 &&
           fmo_memory_to_map(2 * bytes + RESERVE, PROT_READ | PROT_WRITE, 0);
}

bool fmo_h5_quiet_begin(fmo_h5_quiet *quiet, size_t bytes)
{
    *quiet = (fmo_h5_quiet){.is_2 = 0};
    pthread_mutex_lock(&h5_lock);
    if (!is_available(bytes)) {
        pthread_mutex_unlock(&h5_lock);
        return false;
    }
    if (H5Eauto_is_v2(H5E_DEFAULT, &quiet->is_2) >= 0 && quiet->is_2)
        H5Eget_auto2(H5E_DEFAULT, &quiet->function_2, &quiet->data);
    else
        H5Eget_auto1(&quiet->function_1, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return true;
}

void fmo_h5_quiet_end(const fmo_h5_quiet *quiet)
{
    H5Eclear2(H5E_DEFAULT);
    if (quiet->is_2)
        H5Eset_auto2(H5E_DEFAULT, quiet->function_2, quiet->data);
    else
        H5Eset_auto1(quiet->function_1, quiet->data);
    pthread_mutex_unlock(&h5_lock);
}

fmo_status fmo_h5_check_text(const char *function, const char *field, const char *text,
                             fmo_error *err)
{
    const size_t size = text ? strlen(text) : 0;
    if (size <= TEXT_MAX) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: %s has %zu bytes; at most %d are stored",
                         function, field, size, TEXT_MAX);
}

hid_t fmo_h5_image_create(void)
{
    hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, CORE_INCREMENT, 0) >= 0)
        file = H5Fcreate("fmo-result", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0) H5Pclose(access);
    return file;
}

bool fmo_h5_image_bytes(hid_t file, const void **bytes, size_t *size)
{
    void **image = NULL;
    hsize_t image_size = 0;
    /* The handle of the core driver points to its buffer, so the matrices are not copied. */
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ||
        H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&image) < 0 || !image || !*image ||
        H5Fget_filesize(file, &image_size) < 0)
        return false;
    *bytes = *image;
    *size = (size_t)image_size;
    return true;
}

hid_t fmo_h5_put_group(hid_t file, const char *name)
{
    return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static bool put_attribute(hid_t object, const char *name, hid_t type, hid_t from, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, from, value) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return good;
}

bool fmo_h5_put_integer(hid_t group, const char *name, hid_t type, int64_t value)
{
    return put_attribute(group, name, type, H5T_NATIVE_INT64, &value);
}

bool fmo_h5_put_real(hid_t group, const char *name, double value)
{
    return put_attribute(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

/* The type of a string has its length, including the final zero. */
bool fmo_h5_put_text(hid_t group, const char *name, const char *text, H5T_cset_t set)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                H5Tset_cset(type, set) >= 0 && put_attribute(group, name, type, type, text);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool put_dataset(hid_t group, const char *name, hid_t type, hid_t from, int rank,
                        const hsize_t *dims, const void *values, const char *units)
{
    hid_t space = rank ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
    /* do not store the time, so that equal content gives equal bytes */
    if (space >= 0 && properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0)
        dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    bool good = dataset >= 0 &&
                H5Dwrite(dataset, from, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                (!units || fmo_h5_put_text(dataset, FMO_UNITS, units, H5T_CSET_UTF8));
    if (dataset >= 0) H5Dclose(dataset);
    if (properties >= 0) H5Pclose(properties);
    if (space >= 0) H5Sclose(space);
    return good;
}

bool fmo_h5_put_values(hid_t group, fmo_field_id id, const int64_t count[DIM_COUNT],
                       const void *values)
{
    const fmo_field *field = &fmo_fields[id];
    bool real = field->kind == KIND_REAL, ours = strcmp(field->group, FMO_GROUP) == 0;
    hsize_t dims[2] = {0};
    int rank = 0;
    for (; rank < 2 && field->dim[rank] != DIM_NONE; rank++)
        dims[rank] = (hsize_t)count[field->dim[rank]];
    return put_dataset(group, field->name, real ? H5T_IEEE_F64LE : H5T_STD_I64LE,
                       real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, rank, dims, values,
                       ours ? field->note : NULL);
}

bool fmo_h5_put_array(hid_t group, const char *name, bool real, int rank, const size_t *count,
                      const void *values, const char *units)
{
    hsize_t dims[2] = {0};
    for (int k = 0; k < rank; k++) dims[k] = count[k];
    return put_dataset(group, name, real ? H5T_IEEE_F64LE : H5T_STD_I64LE,
                       real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, rank, dims, values, units);
}

bool fmo_h5_put_strings(hid_t group, const char *name, size_t n, const char *const *strings)
{
    hsize_t dims[1] = {n};
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                put_dataset(group, name, type, type, 1, dims, strings, NULL);
    if (type >= 0) H5Tclose(type);
    return good;
}

bool fmo_h5_put_texts(hid_t group, const char *name, size_t n, const char *const *texts)
{
    size_t size = 1;
    for (size_t i = 0; i < n; i++)
        if (strlen(texts[i]) >= size) size = strlen(texts[i]) + 1;
    hsize_t dims[1] = {n};
    hid_t type = H5Tcopy(H5T_C_S1);
    char *values = calloc(n + 1, size);
    for (size_t i = 0; values && i < n; i++) strcpy(values + i * size, texts[i]);
    bool good = values && type >= 0 && H5Tset_size(type, size) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                put_dataset(group, name, type, type, 1, dims, values, NULL);
    free(values);
    if (type >= 0) H5Tclose(type);
    return good;
}

bool fmo_h5_put_provenance(hid_t group, const fmo_dataset *dataset)
{
    const fmo_attribute *a = fmo_attributes;
    if (!fmo_h5_put_integer(group, a[ATTR_fmo_format_version].name, H5T_STD_I32LE,
                            FMO_FORMAT_VERSION) ||
        !fmo_h5_put_text(group, a[ATTR_fmo_fmo_version].name, FMO_VERSION_STRING, H5T_CSET_UTF8))
        return false;
    return !dataset || (fmo_h5_put_text(group, a[ATTR_fmo_input].name, fmo_dataset_path(dataset),
                                        H5T_CSET_UTF8) &&
                        fmo_h5_put_text(group, a[ATTR_fmo_input_sha256].name,
                                        fmo_dataset_sha256(dataset), H5T_CSET_UTF8));
}
