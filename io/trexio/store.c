/* Access to fields and attributes of a data set; declared in store.h. The plausibility limits and
 * the reasons for rejection are explained to users in docs/reference/dataset-format.md. */
#include "io/trexio/store.h"
#include "io/hdf5/attribute.h"
#include "io/hdf5/heap.h"
#include "base/harmless.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of fmo_store_plausible. Compression reduces real matrices by a factor of 1 to 10, and
 * deflate reduces zeros by at most 1032; a dataset that claims a larger ratio than this is
 * rejected, since it would exhaust memory. */
#define PLAUSIBLE_RATIO 100u
#define PLAUSIBLE_SLACK ((uint64_t)1 << 20)
#define STRING_MAX      65536u /* bytes of one string attribute */

fmo_status fmo_store_fail(const fmo_store *store, fmo_status status, const char *title,
                          const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!title) return fmo_error_set(store->err, status, "%s: %s", store->label, message);
    return fmo_error_set(store->err, status, "%s: %s: %s", store->label, title, message);
}

/* Turns an error of io/hdf5 into a message, and clears its text. */
static fmo_status complain(fmo_store *store, const char *title, fmo_h5_code code)
{
    char *why = store->tree.file.why;
    fmo_status status = FMO_ERR_INPUT;
    switch (code) {
    case FMO_H5_OK:
        return FMO_OK;
    case FMO_H5_MEMORY:
        status = fmo_store_fail(store, FMO_ERR_MEMORY, title, "%s", why);
        break;
    case FMO_H5_UNSUPPORTED:
        status = fmo_store_fail(store, FMO_ERR_INPUT, title, "%s", why);
        break;
    case FMO_H5_UNREADABLE:
        status = fmo_store_fail(store, FMO_ERR_INPUT, title, "%s; copy it again", why);
        break;
    case FMO_H5_TRUNCATED:
        status = fmo_store_fail(store, FMO_ERR_INPUT, title,
                                "the file is truncated (%s); copy it again", why);
        break;
    case FMO_H5_DAMAGED:
        status = fmo_store_fail(store, FMO_ERR_INPUT, title,
                                "%s; the file is damaged: copy it again", why);
        break;
    }
    why[0] = '\0';
    return status;
}

static fmo_status refuse_link(const fmo_store *store, const char *title)
{
    return fmo_store_fail(store, FMO_ERR_INPUT, title,
                          "a soft or external link, which is not followed; store the data itself");
}

/* --- the file ----------------------------------------------------------------------------------*/

static fmo_status check_root(fmo_store *store)
{
    const fmo_h5_node *root = &store->tree.node[0];
    for (size_t i = 0; i < root->link_num; i++) {
        char title[64];
        snprintf(title, sizeof title, "/%.60s", root->link[i].name);
        fmo_text_harmless(title);
        if (!root->link[i].hard) return refuse_link(store, title);
        if (store->tree.node[root->link[i].node].kind != FMO_H5_GROUP)
            return fmo_store_fail(store, FMO_ERR_INPUT, title,
                                  "expected a group: the root of a TREXIO file has no data itself; "
                                  "delete it or move it into a group");
    }
    return FMO_OK;
}

fmo_status fmo_store_open(fmo_store *store)
{
    fmo_h5_code code = fmo_h5_tree_read(&store->tree, store->descriptor, store->size);
    if (code == FMO_H5_UNSUPPORTED && !store->tree.file.why[0])
        return fmo_store_fail(store, FMO_ERR_INPUT, NULL,
                              "not an HDF5 file; expected TREXIO with the HDF5 back end");
    if (code != FMO_H5_OK) return complain(store, store->tree.where, code);
    return check_root(store);
}

void fmo_store_close(fmo_store *store)
{
    fmo_h5_tree_free(&store->tree);
}

/* --- datasets ----------------------------------------------------------------------------------*/

static const fmo_h5_node *group_of(const fmo_store *store, const char *name)
{
    const fmo_h5_link *link = fmo_h5_tree_link(&store->tree.node[0], name);
    return link ? &store->tree.node[link->node] : NULL; /* check_root: a hard link to a group */
}

static const fmo_h5_link *link_of(const fmo_store *store, const fmo_field *field)
{
    const fmo_h5_node *group = group_of(store, field->group);
    return group ? fmo_h5_tree_link(group, field->name) : NULL;
}

fmo_status fmo_store_find(fmo_store *store, const fmo_field *field, bool *found)
{
    const fmo_h5_link *link = link_of(store, field);
    *found = false;
    if (!link) return FMO_OK;
    if (!link->hard) return refuse_link(store, field->title);
    fmo_h5_kind kind = store->tree.node[link->node].kind;
    if (kind != FMO_H5_DATASET)
        return fmo_store_fail(store, FMO_ERR_INPUT, field->title,
                              "expected a dataset, found %s; write it with TREXIO",
                              kind == FMO_H5_GROUP ? "a group" : "something else");
    *found = true;
    return FMO_OK;
}

/* Returns true if two names of equal length differ in exactly one character. */
static bool is_near(const char *a, const char *b)
{
    int off = 0;
    for (; *a && *b; a++, b++) off += *a != *b;
    return !*a && !*b && off == 1;
}

static fmo_status misspelt(const fmo_store *store, const char *title, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%.60s", name);
    fmo_text_harmless(text);
    return fmo_store_fail(store, FMO_ERR_INPUT, title,
                          "missing, and there is '%s': misspelt, or the file is damaged; rename "
                          "it, or copy the file again",
                          text);
}

static fmo_status check_field_name(const fmo_store *store, const fmo_field *field)
{
    const fmo_h5_node *group = group_of(store, field->group);
    if (!group || link_of(store, field)) return FMO_OK;
    for (size_t i = 0; i < group->link_num; i++)
        if (is_near(group->link[i].name, field->name))
            return misspelt(store, field->title, group->link[i].name);
    return FMO_OK;
}

static fmo_status check_attribute_name(fmo_store *store, const fmo_attribute *what)
{
    const fmo_h5_node *group = group_of(store, what->group);
    if (!group || fmo_store_has_attribute(store, what)) return FMO_OK;
    for (size_t i = 0; i < group->object.message_num; i++) {
        const char *name = fmo_h5_attribute_name(&group->object.message[i]);
        if (name && is_near(name, what->name)) return misspelt(store, what->title, name);
    }
    return FMO_OK;
}

/* Searches for a misspelt group, if a group is missing. others: TREXIO's groups with short names,
 * which are not taken for a misspelling. */
static fmo_status check_group_name(const fmo_store *store, const char *group)
{
    static const char *const others[] = {"ao",        "mo",        "ao_1e_int", "mo_1e_int",
                                         "ao_2e_int", "mo_2e_int", "pbc",       "ecp",
                                         "qmc",       "rdm",       "csf"};
    const fmo_h5_node *root = &store->tree.node[0];
    if (group_of(store, group)) return FMO_OK;
    for (size_t i = 0; i < root->link_num; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            known |= strcmp(root->link[i].name, others[k]) == 0;
        if (!known && is_near(root->link[i].name, group))
            return misspelt(store, group, root->link[i].name);
    }
    return FMO_OK;
}

fmo_status fmo_store_check_names(fmo_store *store)
{
    fmo_status status = FMO_OK;
    for (int i = 0; status == FMO_OK && i < ATTR_COUNT; i++) {
        status = check_group_name(store, fmo_attributes[i].group);
        if (status == FMO_OK) status = check_attribute_name(store, &fmo_attributes[i]);
    }
    for (int i = 0; status == FMO_OK && i < FIELD_COUNT; i++) {
        status = check_group_name(store, fmo_fields[i].group);
        if (status == FMO_OK) status = check_field_name(store, &fmo_fields[i]);
    }
    return status;
}

/* Returns the node of a field that was found. */
static const fmo_h5_node *node_of(const fmo_store *store, const fmo_field *field)
{
    return &store->tree.node[link_of(store, field)->node];
}

size_t fmo_store_values(const fmo_store *store, const fmo_field *field)
{
    size_t values = 1; /* the limits of FMO_COUNT_TABLE keep this below 2^63 */
    for (int d = 0; d < 2 && field->dim[d] != DIM_NONE; d++)
        values *= (size_t)store->count[field->dim[d]];
    return values;
}

bool fmo_store_plausible(uint64_t bytes, uint64_t stored)
{
    return bytes <= PLAUSIBLE_SLACK || (bytes - PLAUSIBLE_SLACK) / PLAUSIBLE_RATIO <= stored;
}

static const char *const kind_text[] = {
    [KIND_REAL] = "real numbers (float64)", [KIND_INTEGER] = "integers", [KIND_STRING] = "strings"};

static fmo_status check_type(const fmo_store *store, const char *title, const fmo_h5_type *type,
                             fmo_kind kind)
{
    static const char *const found[] = {[FMO_H5_INTEGER] = "integers",
                                        [FMO_H5_REAL] = "floating-point numbers",
                                        [FMO_H5_TEXT] = "strings",
                                        [FMO_H5_TEXT_HEAP] = "strings",
                                        [FMO_H5_CLASS_OTHER] = "another type"};
    bool fits = kind == KIND_REAL ? type->class == FMO_H5_REAL
                : kind == KIND_INTEGER
                    ? type->class == FMO_H5_INTEGER
                    : type->class == FMO_H5_TEXT || type->class == FMO_H5_TEXT_HEAP;
    if (fits && type->plain) return FMO_OK;
    return fmo_store_fail(store, FMO_ERR_INPUT, title,
                          "expected %s, found %s of %zu bytes each; write it with TREXIO",
                          kind_text[kind], found[type->class], type->size);
}

/* Writes a shape as "[7][3]". */
static void shape_text(unsigned rank, const uint64_t *dims, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    if (rank == 0) snprintf(text, size, "a single number");
    for (unsigned d = 0; d < rank && at < size; d++)
        at += (size_t)snprintf(text + at, size - at, "[%" PRIu64 "]", dims[d]);
}

/* Compares the shape of a dataset with the dimensions of its field. */
static fmo_status check_shape(const fmo_store *store, const fmo_field *field,
                              const fmo_h5_space *space)
{
    unsigned rank = 0;
    uint64_t expected[2];
    while (rank < 2 && field->dim[rank] != DIM_NONE) {
        expected[rank] = (uint64_t)store->count[field->dim[rank]];
        rank++;
    }
    bool fits = !space->null && space->rank == rank;
    for (unsigned d = 0; fits && d < rank; d++) fits = space->dim[d] == expected[d];
    if (fits) return FMO_OK;
    char expected_text[64], have_text[96] = "nothing";
    shape_text(rank, expected, expected_text, sizeof expected_text);
    if (!space->null) shape_text(space->rank, space->dim, have_text, sizeof have_text);
    return fmo_store_fail(
        store, FMO_ERR_INPUT, field->title,
        "expected the shape %s, found %s; the file contradicts itself: write it again",
        expected_text, have_text);
}

/* Checks that there are no more chunks than the file can hold, that none is much larger than the
 * array, and that the filters are among deflate, shuffle and checksum. */
static fmo_status check_chunks(const fmo_store *store, const char *title, const fmo_h5_dataset *d)
{
    uint64_t total = d->space.values * d->type.size;
    if (d->storage == FMO_H5_CHUNKED && (!d->plausible || d->chunk_bytes > total + PLAUSIBLE_SLACK))
        return fmo_store_fail(store, FMO_ERR_INPUT, title,
                              "%" PRIu64 " chunks of %" PRIu64
                              " bytes are not plausible in a file of %" PRIu64
                              " bytes; h5repack -l CONTI IN OUT stores it plainly",
                              d->chunk_num, d->chunk_bytes, store->size);
    if (d->odd_filter >= 0)
        return fmo_store_fail(store, FMO_ERR_INPUT, title,
                              "filter %d (%s): only gzip, shuffle and fletcher32 are read; "
                              "h5repack -f NONE IN OUT removes it",
                              d->odd_filter, d->odd_filter_name);
    return FMO_OK;
}

/* Checks that all data are stored in this file, in an amount that is plausible for the array. */
static fmo_status check_storage(const fmo_store *store, const char *title, const fmo_h5_dataset *d)
{
    uint64_t bytes = d->space.values * d->type.size; /* limited: see fmo_store_values */
    if (d->storage == FMO_H5_ELSEWHERE_VIRTUAL || d->storage == FMO_H5_ELSEWHERE_EXTERNAL)
        return fmo_store_fail(store, FMO_ERR_INPUT, title,
                              "its data are in another file (%s storage), which is not followed; "
                              "store the data itself",
                              d->storage == FMO_H5_ELSEWHERE_VIRTUAL ? "virtual" : "external");
    fmo_status status = check_chunks(store, title, d);
    if (status != FMO_OK) return status;
    if (!d->stored)
        return fmo_store_fail(store, FMO_ERR_INPUT, title,
                              "declared but never written; write its values");
    if (d->stored > store->size || !fmo_store_plausible(bytes, d->stored))
        return fmo_store_fail(
            store, FMO_ERR_INPUT, title,
            "%" PRIu64 " bytes of data from %" PRIu64 " stored in a file of %" PRIu64
            " bytes are not plausible; if they are right, h5repack -f NONE IN OUT "
            "stores them uncompressed",
            bytes, d->stored, store->size);
    if (d->storage == FMO_H5_CHUNKED && d->chunks_there != d->chunk_num)
        return fmo_store_fail(store, FMO_ERR_INPUT, title,
                              "only %" PRIu64 " of its %" PRIu64
                              " chunks are there; the file is damaged, or was never written whole: "
                              "write it again",
                              d->chunks_there, d->chunk_num);
    return FMO_OK;
}

fmo_status fmo_store_check(fmo_store *store, const fmo_field *field)
{
    const fmo_h5_dataset *d = &node_of(store, field)->dataset;
    if (d->code != FMO_H5_OK)
        return fmo_store_fail(store, FMO_ERR_INPUT, field->title, "%s", d->why);
    fmo_status status = check_type(store, field->title, &d->type, field->kind);
    if (status == FMO_OK) status = check_shape(store, field, &d->space);
    if (status == FMO_OK) status = check_storage(store, field->title, d);
    return status;
}

/* --- values ------------------------------------------------------------------------------------*/

static uint64_t word(const unsigned char *bytes, const fmo_h5_type *type)
{
    uint64_t value = 0;
    if (!type->big) return fmo_little_endian(bytes, (unsigned)type->size);
    for (size_t i = 0; i < type->size; i++) value = value << 8 | bytes[i];
    return value;
}

/* Converts as HDF5 does: an unsigned value that is too large becomes INT64_MAX. */
static int64_t integer_of(const unsigned char *bytes, const fmo_h5_type *type)
{
    uint64_t value = word(bytes, type);
    unsigned unused = 64 - 8 * (unsigned)type->size;
    if (!type->is_signed) return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return (int64_t)(value << unused) >> unused;
}

static double real_of(const unsigned char *bytes, const fmo_h5_type *type)
{
    uint64_t value = word(bytes, type);
    double real;
    memcpy(&real, &value, sizeof real);
    return real;
}

/* Converts n values in place to 8 bytes each; the input values are at the end of the buffer. */
static void convert(const fmo_h5_type *type, fmo_kind kind, size_t n, void *values)
{
    const unsigned char *from = (const unsigned char *)values + n * (8 - type->size);
    for (size_t i = 0; i < n; i++, from += type->size) {
        if (kind == KIND_REAL)
            ((double *)values)[i] = real_of(from, type);
        else
            ((int64_t *)values)[i] = integer_of(from, type);
    }
}

fmo_status fmo_store_read(fmo_store *store, const fmo_field *field, void *values)
{
    const fmo_h5_dataset *d = &node_of(store, field)->dataset;
    size_t n = fmo_store_values(store, field);
    fmo_h5_code code =
        fmo_h5_dataset_read(&store->tree.file, d, (char *)values + n * (8 - d->type.size));
    if (code != FMO_H5_OK) return complain(store, field->title, code);
    convert(&d->type, field->kind, n, values);
    return FMO_OK;
}

/* Copies a text of from_size bytes, or up to its first zero, truncated to fit, without the trailing
 * blanks of Fortran. */
static void copy_text(char *to, size_t size, const char *from, size_t from_size)
{
    size_t n = 0;
    while (from && n + 1 < size && n < from_size && from[n]) {
        to[n] = from[n];
        n++;
    }
    while (n > 0 && to[n - 1] == ' ') n--;
    to[n] = '\0';
    fmo_text_harmless(to);
}

/* Copies n strings of variable length, to which the bytes of the file refer. */
static fmo_status copy_heap_strings(fmo_store *store, const char *title, size_t n,
                                    const unsigned char *bytes, char *slots, size_t slot)
{
    fmo_h5_strings strings = {.bytes = NULL};
    const unsigned char **order = malloc(n * sizeof *order);
    fmo_h5_code code = FMO_H5_OK;
    size_t i = 0;
    if (!order) return fmo_store_fail(store, FMO_ERR_MEMORY, title, "no memory to read it");
    fmo_h5_strings_order(bytes, n, order);
    for (size_t k = 0; code == FMO_H5_OK && k < n; k++) {
        const char *text = NULL;
        size_t size = 0;
        i = (size_t)(order[k] - bytes) / FMO_H5_REFERENCE;
        code = fmo_h5_strings_find(&store->tree.file, &strings, order[k], &text, &size);
        if (code == FMO_H5_OK) copy_text(slots + i * slot, slot, text, size);
    }
    fmo_h5_strings_free(&strings);
    free(order);
    if (code != FMO_H5_DAMAGED) return complain(store, title, code);
    return fmo_store_fail(store, FMO_ERR_INPUT, title,
                          "string %zu cannot be read (%s); the file is damaged: copy it again", i,
                          store->tree.file.why);
}

/* Copies n strings, given the bytes of the file. */
static fmo_status copy_strings(fmo_store *store, const char *title, const fmo_h5_type *type,
                               size_t n, const unsigned char *bytes, char *slots, size_t slot)
{
    if (type->class == FMO_H5_TEXT_HEAP)
        return copy_heap_strings(store, title, n, bytes, slots, slot);
    for (size_t i = 0; i < n; i++)
        copy_text(slots + i * slot, slot, (const char *)bytes + i * type->size, type->size);
    return FMO_OK;
}

fmo_status fmo_store_read_strings(fmo_store *store, const fmo_field *field, char *slots,
                                  size_t slot)
{
    const fmo_h5_dataset *d = &node_of(store, field)->dataset;
    size_t n = fmo_store_values(store, field);
    unsigned char *bytes = malloc(n * d->type.size); /* size limited by check_storage */
    if (!bytes) return fmo_store_fail(store, FMO_ERR_MEMORY, field->title, "no memory to read it");
    fmo_status status =
        complain(store, field->title, fmo_h5_dataset_read(&store->tree.file, d, bytes));
    if (status == FMO_OK)
        status = copy_strings(store, field->title, &d->type, n, bytes, slots, slot);
    free(bytes);
    return status;
}

/* --- attributes --------------------------------------------------------------------------------*/

static bool find_attribute(fmo_store *store, const fmo_h5_object *object, const char *name,
                           fmo_h5_attribute *attribute, fmo_h5_code *code)
{
    bool found = false;
    *code = fmo_h5_attribute_find(&store->tree.file, object, name, &found, attribute);
    return found;
}

/* Also returns true for a damaged attribute, so that reading it reports the damage. */
bool fmo_store_has_attribute(fmo_store *store, const fmo_attribute *what)
{
    const fmo_h5_node *group = group_of(store, what->group);
    fmo_h5_attribute attribute;
    fmo_h5_code code;
    return group && (find_attribute(store, &group->object, what->name, &attribute, &code) ||
                     code != FMO_H5_OK);
}

bool fmo_store_is_short_string(fmo_store *store, const fmo_attribute *what, size_t max_bytes)
{
    const fmo_h5_node *group = group_of(store, what->group);
    fmo_h5_attribute a;
    fmo_h5_code code;
    bool found = group && find_attribute(store, &group->object, what->name, &a, &code);
    if (group) store->tree.file.why[0] = '\0';
    return found && code == FMO_H5_OK && a.type.class == FMO_H5_TEXT && a.type.size <= max_bytes &&
           a.space.values == 1;
}

/* Reads one attribute of an object; kind determines the type of *value. */
static fmo_status read_attribute(fmo_store *store, const char *title, const fmo_h5_object *object,
                                 const char *name, fmo_kind kind, void *value, size_t size)
{
    fmo_h5_attribute a;
    fmo_h5_code code;
    bool found = find_attribute(store, object, name, &a, &code);
    if (code != FMO_H5_OK || !found)
        return complain(store, title,
                        code != FMO_H5_OK ? code
                                          : FMO_H5_BAD(&store->tree.file, "it is not there"));
    fmo_status status = check_type(store, title, &a.type, kind);
    if (status != FMO_OK) return status;
    if (a.space.values != 1)
        return fmo_store_fail(store, FMO_ERR_INPUT, title,
                              "expected one value; write it with TREXIO");
    if (a.type.size > STRING_MAX)
        return fmo_store_fail(store, FMO_ERR_INPUT, title, "%zu bytes are too many; shorten it",
                              a.type.size);
    if (kind == KIND_REAL)
        *(double *)value = real_of(a.value.at, &a.type);
    else if (kind == KIND_INTEGER)
        *(int64_t *)value = integer_of(a.value.at, &a.type);
    else
        status = copy_strings(store, title, &a.type, 1, a.value.at, value, size);
    return status;
}

static fmo_status read_group_attribute(fmo_store *store, const fmo_attribute *what, fmo_kind kind,
                                       void *value, size_t size)
{
    return read_attribute(store, what->title, &group_of(store, what->group)->object, what->name,
                          kind, value, size);
}

fmo_status fmo_store_read_integer(fmo_store *store, const fmo_attribute *attribute, int64_t *value)
{
    return read_group_attribute(store, attribute, KIND_INTEGER, value, sizeof *value);
}

fmo_status fmo_store_read_real(fmo_store *store, const fmo_attribute *attribute, double *value)
{
    return read_group_attribute(store, attribute, KIND_REAL, value, sizeof *value);
}

fmo_status fmo_store_read_string(fmo_store *store, const fmo_attribute *attribute, char *text,
                                 size_t size)
{
    return read_group_attribute(store, attribute, KIND_STRING, text, size);
}

fmo_status fmo_store_check_units(fmo_store *store, const fmo_field *field)
{
    const fmo_h5_object *object = &node_of(store, field)->object;
    char units[32] = "";
    fmo_h5_attribute a;
    fmo_h5_code code;
    bool found = find_attribute(store, object, FMO_UNITS, &a, &code);
    if (code != FMO_H5_OK) return complain(store, field->title, code);
    if (!found || (a.type.class != FMO_H5_TEXT && a.type.class != FMO_H5_TEXT_HEAP)) return FMO_OK;
    fmo_status status =
        read_attribute(store, field->title, object, FMO_UNITS, KIND_STRING, units, sizeof units);
    if (status == FMO_OK && strcmp(units, field->note) != 0)
        status =
            fmo_store_fail(store, FMO_ERR_INPUT, field->title,
                           "units are '%s', expected '%s'; convert the values", units, field->note);
    return status;
}
