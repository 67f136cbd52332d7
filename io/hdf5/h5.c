/* HDF5 reading with every check before every allocation. See h5.h; the storage rule and the reasons
 * for refusal are explained to users in docs/dataset-format.md. */
#include "io/hdf5/h5.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The storage rule. Real matrices shrink by 1 to 10 when compressed, ones full of exact zeros by at
 * most 1032 (deflate); what claims to be larger is not a data set of ours but a bomb. */
#define PLAUSIBLE_RATIO 100u
#define PLAUSIBLE_SLACK ((uint64_t)1 << 20)
#define BYTES_PER_CHUNK 64u /* an index entry and some data; fewer cannot be an honest file */
#define CHUNKS_ALWAYS   1024u
#define STRING_MOST     65536u /* bytes of one string attribute */

/* HDF5 has globals of its own and is seldom built thread-safe: one thread at a time uses it. */
static pthread_mutex_t h5_lock = PTHREAD_MUTEX_INITIALIZER;

void fmo_h5_quiet_begin(fmo_h5_quiet *quiet)
{
    pthread_mutex_lock(&h5_lock);
    H5Eget_auto2(H5E_DEFAULT, &quiet->function, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void fmo_h5_quiet_end(const fmo_h5_quiet *quiet)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
    pthread_mutex_unlock(&h5_lock);
}

fmo_status fmo_h5_fail(const fmo_h5 *h5, fmo_status status, const char *title, const char *format,
                       ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!title) return fmo_error_set(h5->err, status, "%s: %s", h5->label, message);
    return fmo_error_set(h5->err, status, "%s: %s: %s", h5->label, title, message);
}

typedef struct reason {
    char *text;
    size_t size;
} reason;

static herr_t keep_first(unsigned n, const H5E_error2_t *error, void *data)
{
    reason *r = data;
    if (n == 0 && error->desc) snprintf(r->text, r->size, "%s", error->desc);
    return 0;
}

void fmo_h5_reason(char *text, size_t size)
{
    reason r = {text, size};
    text[0] = '\0';
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &r);
}

/* A failure for which HDF5 has the reason. */
static fmo_status damaged(const fmo_h5 *h5, const char *title, const char *what)
{
    char why[160];
    fmo_h5_reason(why, sizeof why);
    return fmo_h5_fail(h5, FMO_ERR_INPUT, title, "%s%s%s%s; the file is damaged: copy it again",
                       what, why[0] ? " (HDF5 says: " : "", why, why[0] ? ")" : "");
}

static fmo_status refuse_link(const fmo_h5 *h5, const char *title)
{
    return fmo_h5_fail(h5, FMO_ERR_INPUT, title,
                       "a soft or external link, which is not followed; store the data itself");
}

/* --- the file ----------------------------------------------------------------------------------*/

typedef enum object_type { OBJECT_BROKEN, OBJECT_GROUP, OBJECT_DATASET, OBJECT_OTHER } object_type;

/* What an object is, by its header alone, without opening it. (In a damaged header HDF5 1.10 loses
 * some memory here or there and then says "infinite loop closing library" when the process ends, if
 * its error printing is on then.) */
static object_type type_of(const fmo_h5 *h5, hid_t place, const char *name, const H5L_info_t *link)
{
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    if (H5Oget_info_by_name3(place, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return OBJECT_BROKEN;
    (void)h5, (void)link; /* these releases look themselves */
#else
    H5O_info_t info;
    if (!fmo_h5_header_fits(h5, link->u.address)) return OBJECT_BROKEN;
    if (H5Oget_info_by_name2(place, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return OBJECT_BROKEN;
#endif
    return info.type == H5O_TYPE_GROUP     ? OBJECT_GROUP
           : info.type == H5O_TYPE_DATASET ? OBJECT_DATASET
                                           : OBJECT_OTHER;
}

typedef struct root_scan {
    const fmo_h5 *h5;
    fmo_status status;
} root_scan;

static herr_t check_root_member(hid_t root, const char *name, const H5L_info_t *info, void *data)
{
    root_scan *scan = data;
    char title[64];
    snprintf(title, sizeof title, "/%s", name);
    if (info->type != H5L_TYPE_HARD) {
        scan->status = refuse_link(scan->h5, title);
        return 1;
    }
    object_type type = type_of(scan->h5, root, name, info);
    if (type == OBJECT_BROKEN)
        scan->status = damaged(scan->h5, title, "cannot be opened");
    else if (type != OBJECT_GROUP)
        scan->status =
            fmo_h5_fail(scan->h5, FMO_ERR_INPUT, title,
                        "expected a group: the root of a TREXIO file has no data itself; "
                        "delete it or move it into a group");
    return scan->status == FMO_OK ? 0 : 1;
}

/* Addresses and lengths of 8 bytes, counted from the beginning of the file? All but exotic files.
 */
static bool is_plain(hid_t file)
{
    size_t address_size = 0, length_size = 0;
    hsize_t user_block = 1;
    hid_t properties = H5Fget_create_plist(file);
    bool plain = properties >= 0 && H5Pget_sizes(properties, &address_size, &length_size) >= 0 &&
                 address_size == 8 && length_size == 8 &&
                 H5Pget_userblock(properties, &user_block) >= 0 && user_block == 0;
    if (properties >= 0) H5Pclose(properties);
    return plain;
}

fmo_status fmo_h5_open(fmo_h5 *h5, const char *path)
{
    h5->file = -1;
    htri_t is_hdf5 = H5Fis_hdf5(path);
    if (is_hdf5 == 0)
        return fmo_h5_fail(h5, FMO_ERR_INPUT, NULL,
                           "not an HDF5 file; expected TREXIO with the HDF5 back end");
    char why[160];
    h5->file = is_hdf5 > 0 ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    if (h5->file < 0) {
        fmo_h5_reason(why, sizeof why);
        if (strstr(why, "truncated"))
            return fmo_h5_fail(h5, FMO_ERR_INPUT, NULL,
                               "the file is truncated (HDF5 says: %s); copy it again", why);
        if (strstr(why, "lock"))
            return fmo_h5_fail(h5, FMO_ERR_INPUT, NULL,
                               "HDF5 says: %s; another program is writing the file, or its file "
                               "system has no locks: copy it elsewhere",
                               why);
        return damaged(h5, NULL, "HDF5 cannot open it");
    }
    h5->plain = is_plain(h5->file);
    fmo_status status = fmo_h5_check_local_heaps(h5);
    if (status != FMO_OK) return status;
    root_scan scan = {h5, FMO_OK};
    if (H5Literate(h5->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, check_root_member, &scan) < 0 &&
        scan.status == FMO_OK)
        scan.status = damaged(h5, "/", "the root group cannot be read");
    return scan.status;
}

void fmo_h5_close(fmo_h5 *h5)
{
    if (h5->file >= 0) H5Fclose(h5->file);
    h5->file = -1;
}

/* --- datasets ----------------------------------------------------------------------------------*/

fmo_status fmo_h5_find(const fmo_h5 *h5, const fmo_field *field, bool *found)
{
    *found = false;
    htri_t there = H5Lexists(h5->file, field->group, H5P_DEFAULT);
    if (there == 0) return FMO_OK;
    hid_t group = there > 0 ? H5Gopen2(h5->file, field->group, H5P_DEFAULT) : -1;
    if (group < 0) return damaged(h5, field->title, "its group cannot be opened");
    fmo_status status = FMO_OK;
    H5L_info_t info;
    there = H5Lexists(group, field->name, H5P_DEFAULT);
    if (there < 0 || (there > 0 && H5Lget_info(group, field->name, &info, H5P_DEFAULT) < 0))
        status = damaged(h5, field->title, "its group cannot be read");
    else if (there > 0 && info.type != H5L_TYPE_HARD)
        status = refuse_link(h5, field->title);
    else
        *found = there > 0;
    if (*found) {
        object_type type = type_of(h5, group, field->name, &info);
        if (type == OBJECT_BROKEN)
            status = damaged(h5, field->title, "cannot be opened");
        else if (type != OBJECT_DATASET)
            status = fmo_h5_fail(h5, FMO_ERR_INPUT, field->title,
                                 "expected a dataset, found %s; write it with TREXIO",
                                 type == OBJECT_GROUP ? "a group" : "something else");
    }
    H5Gclose(group);
    return status;
}

size_t fmo_h5_values(const fmo_h5 *h5, const fmo_field *field)
{
    size_t values = 1; /* the caps of FMO_COUNT_TABLE keep this below 2^63 */
    for (int d = 0; d < 2 && field->dim[d] != DIM_NONE; d++)
        values *= (size_t)h5->count[field->dim[d]];
    return values;
}

bool fmo_h5_plausible(uint64_t bytes, uint64_t stored)
{
    return bytes <= PLAUSIBLE_SLACK || (bytes - PLAUSIBLE_SLACK) / PLAUSIBLE_RATIO <= stored;
}

static const char *const kind_text[] = {
    [KIND_REAL] = "real numbers (float64)", [KIND_INTEGER] = "integers", [KIND_STRING] = "strings"};

/* Is it a plain type of this kind that HDF5 converts exactly? */
static bool type_fits(hid_t type, fmo_kind kind)
{
    H5T_class_t class = H5Tget_class(type);
    if (kind == KIND_STRING) return class == H5T_STRING;
    if (kind == KIND_REAL)
        return class == H5T_FLOAT &&
               (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0);
    size_t size = H5Tget_size(type);
    return class == H5T_INTEGER && (size == 1 || size == 2 || size == 4 || size == 8) &&
           H5Tget_precision(type) == 8 * size && H5Tget_offset(type) == 0;
}

static fmo_status check_type(const fmo_h5 *h5, const char *title, hid_t type, fmo_kind kind)
{
    if (type_fits(type, kind)) return FMO_OK;
    H5T_class_t class = H5Tget_class(type);
    const char *found = class == H5T_FLOAT     ? "floating-point numbers"
                        : class == H5T_INTEGER ? "integers"
                        : class == H5T_STRING  ? "strings"
                                               : "another type";
    return fmo_h5_fail(h5, FMO_ERR_INPUT, title,
                       "expected %s, found %s of %zu bytes each; write it with TREXIO",
                       kind_text[kind], found, H5Tget_size(type));
}

/* "[7][3]" */
static void shape_text(int rank, const hsize_t *dims, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    if (rank == 0) snprintf(text, size, "a single number");
    for (int d = 0; d < rank && at < size; d++)
        at += (size_t)snprintf(text + at, size - at, "[%llu]", (unsigned long long)dims[d]);
}

static fmo_status check_shape(const fmo_h5 *h5, const fmo_field *field, hid_t space)
{
    int rank = 0;
    hsize_t want[2], have[H5S_MAX_RANK];
    while (rank < 2 && field->dim[rank] != DIM_NONE) {
        want[rank] = (hsize_t)h5->count[field->dim[rank]];
        rank++;
    }
    int have_rank = H5Sget_simple_extent_ndims(space);
    bool fits = H5Sget_simple_extent_type(space) == (rank ? H5S_SIMPLE : H5S_SCALAR) &&
                have_rank == rank && H5Sget_simple_extent_dims(space, have, NULL) == rank;
    for (int d = 0; fits && d < rank; d++) fits = have[d] == want[d];
    if (fits) return FMO_OK;
    char want_text[64], have_text[96] = "nothing";
    shape_text(rank, want, want_text, sizeof want_text);
    if (have_rank >= 0 && H5Sget_simple_extent_type(space) != H5S_NULL &&
        H5Sget_simple_extent_dims(space, have, NULL) == have_rank)
        shape_text(have_rank, have, have_text, sizeof have_text);
    return fmo_h5_fail(
        h5, FMO_ERR_INPUT, field->title,
        "expected the shape %s, found %s; the file contradicts itself: write it again", want_text,
        have_text);
}

/* Deflate, shuffle and checksums only: any other filter might load a plug-in. */
static fmo_status check_filters(const fmo_h5 *h5, const char *title, hid_t properties)
{
    int filters = H5Pget_nfilters(properties);
    for (int i = 0; i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        char name[32] = "";
        H5Z_filter_t filter = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL,
                                             sizeof name, name, &config);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
            filter != H5Z_FILTER_FLETCHER32)
            return fmo_h5_fail(h5, FMO_ERR_INPUT, title,
                               "filter %d (%.31s): only gzip, shuffle and fletcher32 are read; "
                               "h5repack -f NONE IN OUT removes it",
                               (int)filter, name);
    }
    return filters < 0 ? damaged(h5, title, "its filters cannot be read") : FMO_OK;
}

static fmo_status check_chunks(const fmo_h5 *h5, const char *title, hid_t properties, int rank,
                               const hsize_t *dims, uint64_t item)
{
    hsize_t chunk[H5S_MAX_RANK];
    uint64_t bytes = item, total = item, chunks = 1;
    if (H5Pget_chunk(properties, H5S_MAX_RANK, chunk) != rank)
        return damaged(h5, title, "its chunks cannot be read");
    for (int d = 0; d < rank; d++) {
        if (!chunk[d] || chunk[d] > UINT32_MAX || bytes > UINT32_MAX)
            return damaged(h5, title, "chunk size out of range");
        bytes *= chunk[d]; /* below 2^64 */
        total *= dims[d];
        chunks *= (dims[d] - 1) / chunk[d] + 1;
    }
    if (bytes > total + PLAUSIBLE_SLACK || chunks > CHUNKS_ALWAYS + h5->size / BYTES_PER_CHUNK)
        return fmo_h5_fail(h5, FMO_ERR_INPUT, title,
                           "%llu chunks of %llu bytes are not plausible in a file of %llu bytes; "
                           "h5repack -l CONTI IN OUT stores it plainly",
                           (unsigned long long)chunks, (unsigned long long)bytes,
                           (unsigned long long)h5->size);
    return FMO_OK;
}

/* Where the data are: in this file, written, and not absurdly larger than what is stored. */
static fmo_status check_storage(const fmo_h5 *h5, const char *title, hid_t dataset, int rank,
                                const hsize_t *dims, uint64_t item)
{
    hid_t properties = H5Dget_create_plist(dataset);
    if (properties < 0) return damaged(h5, title, "cannot be read");
    fmo_status status = FMO_OK;
    H5D_layout_t layout = H5Pget_layout(properties);
    uint64_t stored = 0, bytes = item;
    for (int d = 0; d < rank; d++) bytes *= dims[d]; /* capped: see fmo_h5_values */
    if (layout == H5D_VIRTUAL || H5Pget_external_count(properties) > 0)
        status = fmo_h5_fail(h5, FMO_ERR_INPUT, title,
                             "its data are in another file (%s storage), which is not followed; "
                             "store the data itself",
                             layout == H5D_VIRTUAL ? "virtual" : "external");
    else if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
        status = damaged(h5, title, "unknown storage layout");
    else if (layout == H5D_CHUNKED)
        status = check_chunks(h5, title, properties, rank, dims, item);
    if (status == FMO_OK) status = check_filters(h5, title, properties);
    if (status != FMO_OK) goto done;
    stored = H5Dget_storage_size(dataset);
    if (!stored)
        status =
            fmo_h5_fail(h5, FMO_ERR_INPUT, title, "declared but never written; write its values");
    else if (stored > h5->size || !fmo_h5_plausible(bytes, stored))
        status = fmo_h5_fail(h5, FMO_ERR_INPUT, title,
                             "%llu bytes of data from %llu stored in a file of %llu bytes are not "
                             "plausible; if they are right, h5repack -f NONE IN OUT stores them "
                             "uncompressed",
                             (unsigned long long)bytes, (unsigned long long)stored,
                             (unsigned long long)h5->size);
done:
    H5Pclose(properties);
    return status;
}

/* Datasets are opened through their group, so that a name cannot lead elsewhere. */
static hid_t open_dataset(const fmo_h5 *h5, const fmo_field *field)
{
    hid_t group = H5Gopen2(h5->file, field->group, H5P_DEFAULT);
    if (group < 0) return -1;
    hid_t dataset = H5Dopen2(group, field->name, H5P_DEFAULT);
    H5Gclose(group);
    return dataset;
}

fmo_status fmo_h5_check(const fmo_h5 *h5, const fmo_field *field)
{
    fmo_status status = FMO_OK;
    hid_t dataset = open_dataset(h5, field);
    if (dataset < 0) return damaged(h5, field->title, "cannot be opened as a dataset");
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    if (type < 0 || space < 0) {
        status = damaged(h5, field->title, "its type or shape cannot be read");
        goto done;
    }
    status = check_type(h5, field->title, type, field->kind);
    if (status == FMO_OK) status = check_shape(h5, field, space);
    if (status == FMO_OK) {
        hsize_t dims[2] = {0};
        int rank = H5Sget_simple_extent_dims(space, dims, NULL);
        status = check_storage(h5, field->title, dataset, rank, dims, H5Tget_size(type));
    }
done:
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(dataset);
    return status;
}

fmo_status fmo_h5_read(const fmo_h5 *h5, const fmo_field *field, void *values)
{
    hid_t dataset = open_dataset(h5, field);
    hid_t type = field->kind == KIND_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    fmo_status status = FMO_OK;
    if (dataset < 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        status = damaged(h5, field->title, "its data cannot be read");
    if (dataset >= 0) H5Dclose(dataset);
    return status;
}

/* --- strings -----------------------------------------------------------------------------------*/

static fmo_status read_fixed_strings(const fmo_h5 *h5, const fmo_field *field, hid_t dataset,
                                     hid_t type, size_t n, char *slots, size_t slot)
{
    size_t size = H5Tget_size(type); /* n * size passed check_storage */
    char *text = calloc(n, size);
    if (!text) return fmo_h5_fail(h5, FMO_ERR_MEMORY, field->title, "no memory to read it");
    fmo_status status = FMO_OK;
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0)
        status = damaged(h5, field->title, "its strings cannot be read");
    else
        for (size_t i = 0; i < n; i++)
            fmo_h5_copy_text(slots + i * slot, slot, text + i * size, size);
    free(text);
    return status;
}

fmo_status fmo_h5_read_strings(const fmo_h5 *h5, const fmo_field *field, char *slots, size_t slot)
{
    hid_t dataset = open_dataset(h5, field);
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    size_t n = fmo_h5_values(h5, field);
    fmo_status status;
    if (type < 0)
        status = damaged(h5, field->title, "cannot be opened");
    else if (H5Tis_variable_str(type) > 0)
        status = fmo_h5_read_heap_strings(h5, field, dataset, slots, slot);
    else
        status = read_fixed_strings(h5, field, dataset, type, n, slots, slot);
    if (type >= 0) H5Tclose(type);
    if (dataset >= 0) H5Dclose(dataset);
    return status;
}

/* --- attributes --------------------------------------------------------------------------------*/

bool fmo_h5_has_attribute(const fmo_h5 *h5, const fmo_attribute *attribute)
{
    return H5Lexists(h5->file, attribute->group, H5P_DEFAULT) > 0 &&
           H5Aexists_by_name(h5->file, attribute->group, attribute->name, H5P_DEFAULT) > 0;
}

static bool is_short_string(hid_t attribute, size_t most)
{
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool fits = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                H5Tis_variable_str(type) == 0 && H5Tget_size(type) <= most &&
                H5Sget_simple_extent_npoints(space) == 1;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return fits;
}

bool fmo_h5_is_short_string(const fmo_h5 *h5, const fmo_attribute *what, size_t most)
{
    hid_t attribute = H5Aopen_by_name(h5->file, what->group, what->name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return false;
    bool fits = is_short_string(attribute, most);
    H5Aclose(attribute);
    return fits;
}

/* Read one attribute of an object; kind decides what values points at. */
static fmo_status read_attribute(const fmo_h5 *h5, const char *title, hid_t attribute,
                                 fmo_kind kind, void *value, size_t size)
{
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    fmo_status status = FMO_OK;
    if (type < 0 || space < 0) {
        status = damaged(h5, title, "its type or shape cannot be read");
        goto done;
    }
    status = check_type(h5, title, type, kind);
    if (status != FMO_OK) goto done;
    if (H5Sget_simple_extent_npoints(space) != 1) {
        status = fmo_h5_fail(h5, FMO_ERR_INPUT, title, "expected one value; write it with TREXIO");
        goto done;
    }
    herr_t read;
    if (kind == KIND_REAL)
        read = H5Aread(attribute, H5T_NATIVE_DOUBLE, value);
    else if (kind == KIND_INTEGER)
        read = H5Aread(attribute, H5T_NATIVE_INT64, value);
    else {
        size_t length = H5Tget_size(type);
        char *text = length <= STRING_MOST ? calloc(1, length + 1) : NULL;
        read = text ? H5Aread(attribute, type, text) : -1;
        if (read >= 0) fmo_h5_copy_text(value, size, text, length);
        free(text);
    }
    if (read < 0) status = damaged(h5, title, "cannot be read");
done:
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}

static fmo_status read_group_attribute(const fmo_h5 *h5, const fmo_attribute *what, fmo_kind kind,
                                       void *value, size_t size)
{
    hid_t attribute = H5Aopen_by_name(h5->file, what->group, what->name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return damaged(h5, what->title, "cannot be opened");
    fmo_status status = read_attribute(h5, what->title, attribute, kind, value, size);
    H5Aclose(attribute);
    return status;
}

fmo_status fmo_h5_read_integer(const fmo_h5 *h5, const fmo_attribute *attribute, int64_t *value)
{
    return read_group_attribute(h5, attribute, KIND_INTEGER, value, sizeof *value);
}

fmo_status fmo_h5_read_real(const fmo_h5 *h5, const fmo_attribute *attribute, double *value)
{
    return read_group_attribute(h5, attribute, KIND_REAL, value, sizeof *value);
}

fmo_status fmo_h5_read_string(const fmo_h5 *h5, const fmo_attribute *attribute, char *text,
                              size_t size)
{
    return read_group_attribute(h5, attribute, KIND_STRING, text, size);
}

fmo_status fmo_h5_check_units(const fmo_h5 *h5, const fmo_field *field)
{
    char units[32] = "";
    fmo_status status = FMO_OK;
    hid_t dataset = open_dataset(h5, field);
    hid_t attribute = dataset >= 0 && H5Aexists(dataset, FMO_UNITS) > 0
                          ? H5Aopen(dataset, FMO_UNITS, H5P_DEFAULT)
                          : -1;
    if (attribute >= 0 && is_short_string(attribute, sizeof units - 1)) {
        status = read_attribute(h5, field->title, attribute, KIND_STRING, units, sizeof units);
        if (status == FMO_OK && strcmp(units, field->note) != 0)
            status = fmo_h5_fail(h5, FMO_ERR_INPUT, field->title,
                                 "units are '%s', expected '%s'; convert the values", units,
                                 field->note);
    }
    if (attribute >= 0) H5Aclose(attribute);
    if (dataset >= 0) H5Dclose(dataset);
    return status;
}
