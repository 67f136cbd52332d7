/* Fields of data sets by their names in TREXIO: written, read and deleted. */
#include "tests/io/bad_changes.h"

#include <stdbool.h>
#include <string.h>

hid_t attribute_group(hid_t file, const char *what, char name[160])
{
    char group[64];
    const char *slash = strchr(what, '/');
    snprintf(group, sizeof group, "%.*s", (int)(slash - what), what);
    bool own = strcmp(group, "fmo") == 0;
    snprintf(name, 160, "%s%s%s", own ? "" : group, own ? "" : "_", slash + 1);
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0)
        return GET(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return GET(H5Gopen2(file, group, H5P_DEFAULT));
}

const char *dataset_path(const char *what, char path[128])
{
    const char *slash = strchr(what, '/');
    if (strncmp(what, "fmo/", 4) == 0)
        snprintf(path, 128, "/%s", what);
    else
        snprintf(path, 128, "/%.*s/%.*s_%s", (int)(slash - what), what, (int)(slash - what), what,
                 slash + 1);
    return path;
}

void delete_dataset(hid_t file, const char *what)
{
    char path[128];
    dataset_path(what, path);
    char group[128];
    snprintf(group, sizeof group, "%s", path);
    *strrchr(group, '/') = '\0';
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0) {
        hid_t made = GET(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Gclose(made);
    }
    if (H5Lexists(file, path, H5P_DEFAULT) > 0) MUST(H5Ldelete(file, path, H5P_DEFAULT));
}

void delete_attribute(hid_t file, const char *what)
{
    char name[160];
    hid_t group = attribute_group(file, what, name);
    if (H5Aexists(group, name) > 0) MUST(H5Adelete(group, name));
    H5Gclose(group);
}

void put_attribute(hid_t file, const char *what, hid_t type, const void *value)
{
    char name[160];
    delete_attribute(file, what);
    hid_t group = attribute_group(file, what, name), space = GET(H5Screate(H5S_SCALAR));
    hid_t attribute = GET(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Awrite(attribute, type, value));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Gclose(group);
}

void put_number(hid_t file, const char *what, int64_t value)
{
    put_attribute(file, what, H5T_NATIVE_INT64, &value);
}

void put_text(hid_t file, const char *what, const char *text)
{
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, strlen(text) + 1));
    put_attribute(file, what, type, text);
    H5Tclose(type);
}

void put_dataset(hid_t file, const char *what, hid_t type, int rank, const hsize_t *dims,
                 hid_t properties, hid_t memory_type, const void *values)
{
    char path[128];
    delete_dataset(file, what);
    hid_t space = rank ? GET(H5Screate_simple(rank, dims, NULL)) : GET(H5Screate(H5S_SCALAR));
    hid_t dataset = GET(H5Dcreate2(file, dataset_path(what, path), type, space, H5P_DEFAULT,
                                   properties, H5P_DEFAULT));
    if (values) MUST(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(dataset);
    H5Sclose(space);
}

void fill_reals(hid_t file, const char *what, hsize_t n, hsize_t m, double value)
{
    hsize_t dims[2] = {n, m};
    size_t count = (size_t)(n * (m ? m : 1));
    double *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = value;
    put_dataset(file, what, H5T_IEEE_F64LE, m ? 2 : 1, dims, H5P_DEFAULT, H5T_NATIVE_DOUBLE,
                values);
    free(values);
}

void fill_integers(hid_t file, const char *what, hsize_t n, int64_t value)
{
    int64_t *values = malloc((size_t)n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = value;
    put_dataset(file, what, H5T_STD_I64LE, 1, &n, H5P_DEFAULT, H5T_NATIVE_INT64, values);
    free(values);
}

shape shape_of(hid_t file, const char *what)
{
    char path[128];
    shape s = {0, {1, 1}, 1};
    hid_t dataset = GET(H5Dopen2(file, dataset_path(what, path), H5P_DEFAULT));
    hid_t space = GET(H5Dget_space(dataset));
    s.rank = H5Sget_simple_extent_dims(space, s.dims, NULL);
    s.count = (size_t)(s.dims[0] * s.dims[1]);
    H5Sclose(space);
    H5Dclose(dataset);
    return s;
}

double *get_reals(hid_t file, const char *what, shape *s)
{
    char path[128];
    *s = shape_of(file, what);
    double *values = malloc(s->count * sizeof *values);
    hid_t dataset = GET(H5Dopen2(file, dataset_path(what, path), H5P_DEFAULT));
    MUST(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(dataset);
    return values;
}

void write_reals(hid_t file, const char *what, const double *values)
{
    char path[128];
    hid_t dataset = GET(H5Dopen2(file, dataset_path(what, path), H5P_DEFAULT));
    MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(dataset);
}
