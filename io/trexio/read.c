/* Reads a data set: a list of steps, each of which checks before it allocates and stops at the
 * first error. Conventions: docs/reference/dataset-format.md. Next: reader.h, fields.h. */
#include "io/trexio/reader.h"
#include "io/text/file.h"
#include "io/text/sha256.h"
#include "base/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { VERSION_MAX = 15 /* as in libtrexio, which stores the version in 16 bytes */ };

static fmo_status open_file(fmo_reader *r)
{
    const fmo_file_hints hints = {"is a directory; expected an HDF5 file (a TREXIO text directory: "
                                  "trexio convert-backend -b hdf5)",
                                  "the file is empty; copy it again"};
    fmo_status status =
        fmo_file_open(r->path, r->store.label, &hints, &r->descriptor, &r->before, r->store.err);
    r->store.size = (uint64_t)r->before.st_size;
    r->store.descriptor = r->descriptor;
    return status;
}

/* Rejects a file that is being written: HDF5 holds an exclusive lock meanwhile. A failure for
 * another reason, such as a file system without locks, is ignored. */
static fmo_status open_hdf5(fmo_reader *r)
{
    if (flock(r->descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return INPUT(r, NULL,
                     "another program is writing the file (it holds a lock); wait for it, "
                     "or copy the file elsewhere");
    return fmo_store_open(&r->store);
}

/* Checks that the file is one of TREXIO: it has the version of the package that wrote it. */
static fmo_status check_version(fmo_reader *r)
{
    const fmo_attribute *version = &fmo_attributes[ATTR_metadata_package_version];
    char text[VERSION_MAX + 1];
    int numbers[3];
    if (!fmo_store_has_attribute(&r->store, version))
        return INPUT(r, version->title,
                     "missing: HDF5, but not TREXIO; write the file with TREXIO 2 or newer");
    if (!fmo_store_is_short_string(&r->store, version, VERSION_MAX) ||
        fmo_store_read_string(&r->store, version, text, sizeof text) != FMO_OK ||
        sscanf(text, "%3d.%5d.%5d", &numbers[0], &numbers[1], &numbers[2]) != 3 || numbers[0] < 1)
        return INPUT(r, version->title,
                     "expected a version such as 2.6.0 as a string of fixed length; write the file "
                     "with TREXIO 2 or newer");
    return FMO_OK;
}

static fmo_status hash_file(fmo_reader *r)
{
    struct stat after, named;
    if (!fmo_sha256_file(r->descriptor, r->d->sha256) || fstat(r->descriptor, &after) != 0)
        return INPUT(r, NULL, "cannot be read to its end: %s", strerror(errno));
    if (stat(fmo_path_to_open(r->path), &named) != 0 || named.st_dev != r->before.st_dev ||
        named.st_ino != r->before.st_ino || after.st_size != r->before.st_size ||
        after.st_mtim.tv_sec != r->before.st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != r->before.st_mtim.tv_nsec)
        return INPUT(r, NULL, "changed while it was read; wait for the program that writes it");
    return FMO_OK;
}

/* Implements fmo_dataset_read and fmo_dataset_read_basis by running all steps; call: name of the
 * function, for messages. */
static fmo_status read_file(const char *call, const char *path, bool density_needed,
                            fmo_dataset **dataset, fmo_error *err)
{
    static fmo_status (*const steps[])(fmo_reader *) = {open_file,
                                                        open_hdf5,
                                                        check_version,
                                                        fmo_trexio_read_counts,
                                                        fmo_trexio_find_fields,
                                                        fmo_trexio_check_required,
                                                        fmo_trexio_check_memory,
                                                        fmo_trexio_refuse_by_name,
                                                        fmo_trexio_read_basis,
                                                        fmo_trexio_read_names,
                                                        fmo_trexio_check_overlap,
                                                        fmo_trexio_read_electrons,
                                                        fmo_trexio_read_density,
                                                        fmo_trexio_read_core,
                                                        fmo_trexio_doubt_energies,
                                                        fmo_trexio_read_references,
                                                        fmo_trexio_note_scf,
                                                        fmo_trexio_read_repulsion,
                                                        fmo_trexio_check_trace,
                                                        hash_file};
    if (dataset) *dataset = NULL;
    const fmo_status checked = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(dataset));
    if (checked != FMO_OK) return checked;
    if (!*path) return fmo_error_set(err, FMO_ERR_INPUT, "the path is empty; name a data set");
    fmo_reader r = {
        .path = path, .descriptor = -1, .density_needed = density_needed, .d = fmo_dataset_new()};
    r.store.err = err;
    fmo_path_label(path, r.store.label, sizeof r.store.label);
    if (r.d) r.d->path = strdup(path);
    if (!r.d || !r.d->path) {
        fmo_dataset_destroy(r.d);
        return fmo_error_set(err, FMO_ERR_MEMORY, "%s: no memory to read it", r.store.label);
    }
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&r);
    fmo_store_close(&r.store);
    if (r.descriptor >= 0) close(r.descriptor);
    free(r.overlap);
    if (status == FMO_OK)
        *dataset = r.d;
    else
        fmo_dataset_destroy(r.d);
    return status;
}

fmo_status fmo_dataset_read(const char *path, fmo_dataset **dataset, fmo_error *err)
{
    return read_file("fmo_dataset_read", path, true, dataset, err);
}

fmo_status fmo_dataset_read_basis(const char *path, fmo_dataset **dataset, fmo_error *err)
{
    return read_file("fmo_dataset_read_basis", path, false, dataset, err);
}
