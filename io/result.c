/* Writing a result file so that the path holds the old or the new content whatever happens.
 *
 * HDF5 builds the file in memory (core driver, no backing store), and plain POSIX calls write it
 * beside its destination, sync it and rename it. HDF5 never touches the disk here, because it
 * cannot close a file cleanly on a disk that is full. Names: fields.h. */
#include <fmo/result.h>
#include <fmo/version.h>
#include "io/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CORE_INCREMENT = 4096, TEMPORARY_TRIES = 100 };

typedef struct writer {
    fmo_h5 h5; /* for messages; h5.file is the image in memory */
    const fmo_dataset *dataset;
    const fmo_result *result;
    char *target;    /* the destination, symbolic links resolved */
    char *directory; /* that holds it */
    char *temporary; /* beside it; NULL while there is none */
    mode_t mode;     /* permissions of the file to be replaced, 0 without one */
} writer;

#define OUTPUT(w, ...) fmo_h5_fail(&(w)->h5, FMO_ERR_OUTPUT, NULL, __VA_ARGS__)

static fmo_status no_memory(const writer *w)
{
    return fmo_h5_fail(&w->h5, FMO_ERR_MEMORY, NULL, "no memory to write it");
}

/* --- the content, in memory --------------------------------------------------------------------*/

/* Write an attribute of fixed type; text attributes have their length as type. */
static bool put_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0 && put_attribute(object, name, type, text);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool put_values(hid_t group, fmo_field_id id, int nao, const double *values)
{
    const fmo_field *field = &fmo_fields[id];
    hsize_t dims[2] = {(hsize_t)nao, (hsize_t)nao};
    hid_t space = field->dim[0] ? H5Screate_simple(2, dims, NULL) : H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(group, field->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
    bool good = dataset >= 0 &&
                H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                put_text(dataset, FMO_UNITS, field->note);
    if (dataset >= 0) H5Dclose(dataset);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool put_provenance(const writer *w, hid_t group)
{
    int32_t format = FMO_FORMAT_VERSION;
    const fmo_attribute *a = fmo_attributes;
    if (!put_attribute(group, a[ATTR_fmo_format_version].name, H5T_NATIVE_INT32, &format) ||
        !put_text(group, a[ATTR_fmo_fmo_version].name, FMO_VERSION_STRING) ||
        !put_text(group, a[ATTR_fmo_mode].name, w->result->mode ? w->result->mode : "") ||
        !put_attribute(group, a[ATTR_fmo_cutoff].name, H5T_NATIVE_DOUBLE, &w->result->cutoff))
        return false;
    return !w->dataset ||
           (put_text(group, a[ATTR_fmo_input].name, fmo_dataset_path(w->dataset)) &&
            put_text(group, a[ATTR_fmo_input_sha256].name, fmo_dataset_sha256(w->dataset)));
}

static bool put_all(const writer *w)
{
    const fmo_result *result = w->result;
    const struct {
        fmo_field_id id;
        const double *values;
    } parts[] = {{FIELD_fmo_coulomb, result->coulomb},
                 {FIELD_fmo_exchange, result->exchange},
                 {FIELD_fmo_fock_2e, result->fock_2e},
                 {FIELD_fmo_fock, result->fock},
                 {FIELD_fmo_energy, isnan(result->energy) ? NULL : &result->energy}};
    hid_t group = H5Gcreate2(w->h5.file, FMO_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && put_provenance(w, group);
    for (size_t i = 0; good && i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].values) good = put_values(group, parts[i].id, result->nao, parts[i].values);
    if (group >= 0) H5Gclose(group);
    return good;
}

static fmo_status build_image(writer *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, CORE_INCREMENT, 0) >= 0)
        w->h5.file = H5Fcreate("fmo-result", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0) H5Pclose(access);
    if (w->h5.file < 0 || !put_all(w) || H5Fflush(w->h5.file, H5F_SCOPE_GLOBAL) < 0)
        return no_memory(w); /* nothing else can fail here */
    return FMO_OK;
}

/* --- the file ----------------------------------------------------------------------------------*/

static fmo_status find_target(writer *w, const char *path)
{
    struct stat link, target;
    w->target = strdup(path);
    if (!w->target) return no_memory(w);
    if (lstat(path, &link) == 0) {
        if (stat(path, &target) != 0)
            return OUTPUT(w, "a symbolic link that leads nowhere (%s); remove it", strerror(errno));
        if (S_ISDIR(target.st_mode)) return OUTPUT(w, "is a directory; give a file name");
        if (!S_ISREG(target.st_mode))
            return OUTPUT(w, "is not a regular file and will not be replaced; give a file name");
        if (access(path, W_OK) != 0)
            return OUTPUT(w, "cannot be replaced: %s; give another name", strerror(errno));
        w->mode = target.st_mode & 07777;
        struct stat input;
        if (w->dataset && stat(fmo_dataset_path(w->dataset), &input) == 0 &&
            input.st_dev == target.st_dev && input.st_ino == target.st_ino)
            return OUTPUT(w, "is the data set itself; give another name");
        free(w->target);
        w->target = realpath(path, NULL);
        if (!w->target) return OUTPUT(w, "cannot be resolved: %s", strerror(errno));
    } else if (errno != ENOENT)
        return OUTPUT(w, "cannot be written: %s", strerror(errno));
    const char *slash = strrchr(w->target, '/');
    if (slash && !slash[1]) return OUTPUT(w, "ends in '/'; give a file name");
    w->directory = slash ? strndup(w->target, (size_t)(slash - w->target) + 1) : strdup("./");
    return w->directory ? FMO_OK : no_memory(w);
}

/* A new file beside the target; short names, so that any legal target name will do. */
static fmo_status open_temporary(writer *w, int *descriptor)
{
    size_t size = strlen(w->directory) + 64;
    char *name = malloc(size);
    if (!name) return no_memory(w);
    *descriptor = -1;
    for (int i = 0; i < TEMPORARY_TRIES && *descriptor < 0; i++) {
        snprintf(name, size, "%s.fmo-result-%ld-%d.tmp", w->directory, (long)getpid(), i);
        *descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*descriptor < 0 && errno != EEXIST) break;
    }
    if (*descriptor < 0) {
        int error = errno;
        free(name);
        return OUTPUT(w,
                      "cannot create a file in its directory: %s; choose a directory that exists "
                      "and can be written",
                      strerror(error));
    }
    w->temporary = name;
    return FMO_OK;
}

static fmo_status write_bytes(writer *w, int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(descriptor, bytes, size < INT_MAX ? size : INT_MAX);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            return OUTPUT(w, "cannot be written: %s; %.1f MiB are needed there",
                          done < 0 ? strerror(errno) : "no progress", (double)size / 1048576.0);
        bytes += done;
        size -= (size_t)done;
    }
    return FMO_OK;
}

static fmo_status write_temporary(writer *w)
{
    void **image = NULL;
    hsize_t size = 0;
    /* The handle of the core driver is a pointer to its buffer: no copy of the matrices is made. */
    if (H5Fget_vfd_handle(w->h5.file, H5P_DEFAULT, (void **)&image) < 0 || !image || !*image ||
        H5Fget_filesize(w->h5.file, &size) < 0)
        return no_memory(w);
    int descriptor = -1;
    fmo_status status = open_temporary(w, &descriptor);
    if (status != FMO_OK) return status;
    status = write_bytes(w, descriptor, *image, (size_t)size);
    if (status == FMO_OK && w->mode && fchmod(descriptor, w->mode) != 0)
        status = OUTPUT(w, "its permissions cannot be kept: %s", strerror(errno));
    if (status == FMO_OK && fsync(descriptor) != 0)
        status = OUTPUT(w, "cannot be written: %s", strerror(errno));
    if (close(descriptor) != 0 && status == FMO_OK)
        status = OUTPUT(w, "cannot be written: %s", strerror(errno));
    return status;
}

static fmo_status move_into_place(writer *w)
{
    if (rename(w->temporary, w->target) != 0)
        return OUTPUT(w, "cannot be replaced: %s; give another name", strerror(errno));
    free(w->temporary);
    w->temporary = NULL;
    /* The new content is in place; a directory that cannot be synced is no reason to deny it. */
    int directory = open(w->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        (void)fsync(directory);
        close(directory);
    }
    return FMO_OK;
}

fmo_status fmo_result_write(const char *path, const fmo_dataset *dataset, const fmo_result *result,
                            fmo_error *err)
{
    if (!path || !*path || !result || result->nao < 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_result_write: no path or no result");
    if (dataset && fmo_basis_ao_num(fmo_dataset_basis(dataset)) != result->nao)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_result_write: nao is %d and the data set has %d functions",
                             result->nao, fmo_basis_ao_num(fmo_dataset_basis(dataset)));
    writer w = {.dataset = dataset, .result = result};
    w.h5.file = -1;
    w.h5.err = err;
    fmo_h5_label(path, w.h5.label, sizeof w.h5.label);
    fmo_h5_quiet quiet;
    fmo_h5_quiet_begin(&quiet);
    fmo_status status = find_target(&w, path);
    if (status == FMO_OK) status = build_image(&w);
    if (status == FMO_OK) status = write_temporary(&w);
    if (status == FMO_OK) status = move_into_place(&w);
    if (w.temporary) unlink(w.temporary);
    fmo_h5_close(&w.h5);
    fmo_h5_quiet_end(&quiet);
    free(w.temporary);
    free(w.directory);
    free(w.target);
    return status;
}
