/* See repack.h. */
#include "tests/io/repack.h"

#include <string.h>

#include "tests/io/must.h"

typedef struct copy {
    hid_t from, to;
    const io_storage *how;
} copy;

/* Copies one attribute, for H5Aiterate. */
static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *data)
{
    const copy *c = data;
    hid_t old = GET(H5Aopen(from, name, H5P_DEFAULT)), type = GET(H5Aget_type(old));
    hid_t space = GET(H5Aget_space(old));
    size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    char *value = calloc(n + 1, H5Tget_size(type));
    (void)info;
    MUST(H5Aread(old, type, value));
    hid_t made = GET(H5Acreate2(c->to, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Awrite(made, type, value));
    if (H5Tis_variable_str(type) > 0) MUST(H5Dvlen_reclaim(type, space, H5P_DEFAULT, value));
    free(value);
    H5Aclose(made);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(old);
    return 0;
}

static void copy_attributes(hid_t from, hid_t to, const io_storage *how)
{
    copy c = {from, to, how};
    MUST(H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, copy_attribute, &c));
}

/* Copies a dataset with the storage that `how` describes. */
static void copy_dataset(hid_t from, hid_t group, const char *name, const io_storage *how)
{
    hid_t type = GET(H5Dget_type(from)), space = GET(H5Dget_space(from));
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK], max_dims[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    char *values = calloc(n + 1, H5Tget_size(type));
    MUST(H5Dread(from, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    MUST(H5Pset_obj_track_times(properties, 0));
    if (rank > 0 && how->chunk && H5Tis_variable_str(type) <= 0) {
        for (int d = 0; d < rank; d++) {
            chunk[d] = dims[d] < how->chunk ? dims[d] : how->chunk;
            max_dims[d] = d < how->grow ? H5S_UNLIMITED : dims[d];
        }
        MUST(H5Pset_chunk(properties, rank, chunk));
        if (how->shuffle) MUST(H5Pset_shuffle(properties));
        if (how->deflate) MUST(H5Pset_deflate(properties, (unsigned)how->deflate));
        if (how->fletcher) MUST(H5Pset_fletcher32(properties));
        MUST(H5Sset_extent_simple(space, rank, dims, max_dims));
    }
    hid_t to = GET(H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    MUST(H5Dwrite(to, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    copy_attributes(from, to, how);
    if (H5Tis_variable_str(type) > 0) MUST(H5Dvlen_reclaim(type, space, H5P_DEFAULT, values));
    free(values);
    H5Dclose(to);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
}

/* Copies one member of a group, for H5Literate; the group fmo gets further attributes. */
static herr_t copy_member(hid_t from, const char *name, const H5L_info_t *info, void *data)
{
    const copy *c = data;
    hid_t object = GET(H5Oopen(from, name, H5P_DEFAULT));
    (void)info;
    if (H5Iget_type(object) == H5I_GROUP) {
        hid_t group = GET(H5Gcreate2(c->to, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        copy inner = {object, group, c->how};
        copy_attributes(object, group, c->how);
        MUST(H5Literate(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, copy_member, &inner));
        for (int i = 0; strcmp(name, "fmo") == 0 && i < c->how->attributes; i++) {
            char extra[32];
            snprintf(extra, sizeof extra, "extra_%d", i);
            hid_t space = GET(H5Screate(H5S_SCALAR));
            hid_t made =
                GET(H5Acreate2(group, extra, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
            MUST(H5Awrite(made, H5T_NATIVE_INT, &i));
            H5Aclose(made);
            H5Sclose(space);
        }
        H5Gclose(group);
    } else
        copy_dataset(object, c->to, name, c->how);
    H5Oclose(object);
    return 0;
}

void io_repack(const char *in, const char *out, const io_storage *how)
{
    hid_t access = GET(H5Pcreate(H5P_FILE_ACCESS)), create = GET(H5Pcreate(H5P_FILE_CREATE));
    if (how->latest) MUST(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    if (how->user_block) MUST(H5Pset_userblock(create, how->user_block));
    hid_t from = GET(H5Fopen(in, H5F_ACC_RDONLY, H5P_DEFAULT));
    hid_t to = GET(H5Fcreate(out, H5F_ACC_TRUNC, create, access));
    copy c = {from, to, how};
    MUST(H5Literate(from, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, copy_member, &c));
    H5Fclose(to);
    H5Fclose(from);
    H5Pclose(create);
    H5Pclose(access);
}
