/* Reads layout and filter messages, and chunks listed by a B-tree of version 1. Declared in
 * layout.h; next: chunk_index.c. */
#include "io/hdf5/layout.h"
#include "io/hdf5/btree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_CHUNK = 64 /* an index entry and some data */, CHUNKS_ALWAYS = 1024 };

#define CURE "; h5repack IN OUT converts it"

uint64_t fmo_h5_chunks_max(const fmo_h5_file *file)
{
    return CHUNKS_ALWAYS + file->size / BYTES_PER_CHUNK;
}

void fmo_h5_dataset_free(fmo_h5_dataset *dataset)
{
    free(dataset->chunk);
    dataset->chunk = NULL;
}

/* --- filters (IV.A.2.l) ------------------------------------------------------------------------*/

/* Records an unsupported filter. Names of HDF5's own filters are not stored by HDF5 1.10. */
static void note_odd_filter(fmo_h5_dataset *d, unsigned id, const fmo_bytes *name)
{
    static const char *const own[] = {"none", "deflate", "shuffle",    "fletcher32",
                                      "szip", "nbit",    "scaleoffset"};
    size_t size = fmo_bytes_left(name), longest = sizeof d->odd_filter_name - 1;
    d->odd_filter = (int)id;
    if (id < sizeof own / sizeof *own)
        strcpy(d->odd_filter_name, own[id]);
    else
        for (size_t k = 0; k < longest && k < size && name->at[k]; k++)
            d->odd_filter_name[k] =
                name->at[k] < ' ' || name->at[k] > '~' ? '?' : (char)name->at[k];
}

/* Reads the filter message; stops at the first unsupported filter. */
static fmo_h5_code read_filters(fmo_h5_file *file, fmo_h5_dataset *d, const fmo_h5_message *message)
{
    d->odd_filter = -1;
    if (!message) return FMO_H5_OK;
    fmo_bytes b = fmo_bytes_of(message->bytes, message->size);
    unsigned version = (unsigned)fmo_bytes_take(&b, 1), n = (unsigned)fmo_bytes_take(&b, 1);
    if (version == 1) fmo_bytes_skip(&b, 6);
    if (b.bad || message->shared || version < 1 || version > 2 || n > 32)
        return FMO_H5_BAD(file, "its filters cannot be read");
    d->filtered = n > 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned id = (unsigned)fmo_bytes_take(&b, 2);
        uint64_t name = version == 1 || id >= 256 ? fmo_bytes_take(&b, 2) : 0;
        fmo_bytes_skip(&b, 2); /* flags */
        uint64_t values = fmo_bytes_take(&b, 2);
        fmo_bytes text = fmo_bytes_cut(&b, version == 1 ? (name + 7) / 8 * 8 : name);
        fmo_bytes_skip(&b, 4 * values + (version == 1 && values % 2 ? 4 : 0));
        if (b.bad || !id) return FMO_H5_BAD(file, "its filters cannot be read");
        if (id > FMO_H5_FLETCHER32 || i >= FMO_H5_FILTERS_MAX) {
            note_odd_filter(d, id, &text);
            return FMO_H5_OK;
        }
        if (id == FMO_H5_SHUFFLE && !values) d->idle |= 1u << i;
        d->filter[d->filter_num++] = id;
    }
    return FMO_H5_OK;
}

/* --- chunks ------------------------------------------------------------------------------------*/

/* Reads a key: 4 bytes size, 4 bytes mask, 8 bytes per offset, and an additional offset of 0. */
static fmo_h5_code visit_chunk(fmo_h5_file *file, uint64_t child, const unsigned char *left,
                               const unsigned char *right, void *data)
{
    fmo_h5_dataset *d = data;
    uint64_t scaled[FMO_H5_RANK_MAX];
    (void)right;
    for (unsigned i = 0; i < d->space.rank; i++) {
        uint64_t offset = fmo_little_endian(left + 8 + 8 * i, 8);
        if (offset % d->chunk_dim[i]) return FMO_H5_BAD(file, "a chunk is out of its grid");
        scaled[i] = offset / d->chunk_dim[i];
    }
    if (fmo_little_endian(left + 8 + 8 * d->space.rank, 8))
        return FMO_H5_BAD(file, "a chunk is out of its grid");
    fmo_h5_chunk chunk = {.address = child,
                          .size = fmo_little_endian(left, 4),
                          .mask = (uint32_t)fmo_little_endian(left + 4, 4)};
    return fmo_h5_note_chunk(file, d, scaled, chunk);
}

static fmo_h5_code find_chunks(fmo_h5_file *file, fmo_h5_dataset *d)
{
    d->chunk_num = 1;
    for (unsigned i = 0; i < d->space.rank; i++) {
        if (!d->chunk_dim[i] || d->chunk_dim[i] > UINT32_MAX || d->chunk_bytes > UINT32_MAX)
            return FMO_H5_BAD(file, "chunk size out of range");
        d->chunk_bytes *= d->chunk_dim[i];
        d->grid[i] = d->space.dim[i] ? (d->space.dim[i] - 1) / d->chunk_dim[i] + 1 : 0;
        d->chunk_num *= d->grid[i]; /* at most the number of values */
    }
    d->plausible = d->chunk_num <= fmo_h5_chunks_max(file);
    if (d->address == FMO_H5_NOWHERE || !d->chunk_num || !d->plausible) return FMO_H5_OK;
    fmo_h5_code code =
        d->index ? fmo_h5_list_chunks(file, d)
                 : fmo_h5_btree1_walk(file, d->address, 1, 8 + 8 * ((size_t)d->space.rank + 1),
                                      file->chunk_k, visit_chunk, d);
    return code == FMO_H5_OK ? fmo_h5_sort_chunks(file, d) : code;
}

/* --- layouts (IV.A.2.i) ------------------------------------------------------------------------*/

/* Records an unsupported feature, which is an error only if the dataset is used. */
static fmo_h5_code mark_unsupported(fmo_h5_dataset *d, const char *why)
{
    if (d->code == FMO_H5_OK) snprintf(d->why, sizeof d->why, "%s", why);
    d->code = FMO_H5_UNSUPPORTED;
    return FMO_H5_OK;
}

/* Reads the extents of a chunk, followed by the size of a value. */
static fmo_h5_code read_chunk_shape(fmo_h5_file *file, fmo_h5_dataset *d, fmo_bytes *b,
                                    unsigned rank, unsigned width)
{
    if (rank != d->space.rank + 1 || rank < 2 || width < 1 || width > 8)
        return FMO_H5_BAD(file, "its chunks have another shape than it");
    for (unsigned i = 0; i < d->space.rank; i++) d->chunk_dim[i] = fmo_bytes_take(b, width);
    d->chunk_bytes = fmo_bytes_take(b, width);
    if (b->bad || d->chunk_bytes != d->type.size)
        return FMO_H5_BAD(file, "its chunks have another type than it");
    return FMO_H5_OK;
}

static fmo_h5_code read_chunked_3(fmo_h5_file *file, fmo_h5_dataset *d, fmo_bytes b)
{
    unsigned rank = (unsigned)fmo_bytes_take(&b, 1);
    d->address = fmo_bytes_take(&b, 8);
    fmo_h5_code code = read_chunk_shape(file, d, &b, rank, 4);
    return code == FMO_H5_OK ? find_chunks(file, d) : code;
}

/* Reads the chunk layout of version 4 or 5, with the kind of index. */
static fmo_h5_code read_chunked_4(fmo_h5_file *file, fmo_h5_dataset *d, fmo_bytes b)
{
    enum { UNFILTERED_EDGES = 1, SINGLE_FILTERED = 2 };
    static const unsigned parameters[] = {0, 0, 0, 1, 5, 6};
    unsigned flags = (unsigned)fmo_bytes_take(&b, 1), rank = (unsigned)fmo_bytes_take(&b, 1);
    unsigned width = (unsigned)fmo_bytes_take(&b, 1);
    fmo_h5_code code = read_chunk_shape(file, d, &b, rank, width);
    if (code != FMO_H5_OK) return code;
    d->index = (unsigned)fmo_bytes_take(&b, 1);
    if (b.bad || flags & ~3u || d->index < 1 || d->index > FMO_H5_INDEX_BTREE2)
        return FMO_H5_BAD(file, "unknown storage layout");
    if (d->index == FMO_H5_INDEX_SINGLE && flags & SINGLE_FILTERED) {
        d->single_size = fmo_bytes_take(&b, 8);
        d->single_mask = (uint32_t)fmo_bytes_take(&b, 4);
    }
    fmo_bytes_skip(&b, parameters[d->index]);
    d->address = fmo_bytes_take(&b, 8);
    if (b.bad) return FMO_H5_BAD(file, "unknown storage layout");
    if (flags & UNFILTERED_EDGES)
        return mark_unsupported(
            d, "chunks at its edge are stored in another way than the others" CURE);
    return find_chunks(file, d);
}

static fmo_h5_code read_compact(fmo_h5_file *file, fmo_h5_dataset *d, fmo_bytes b, uint64_t bytes)
{
    d->stored = fmo_bytes_take(&b, 2);
    fmo_bytes values = fmo_bytes_cut(&b, d->stored);
    d->storage = FMO_H5_COMPACT;
    d->compact = values.at;
    if (b.bad || d->stored != bytes)
        return FMO_H5_BAD(file, "%llu of its %llu bytes are there", (unsigned long long)d->stored,
                          (unsigned long long)bytes);
    return FMO_H5_OK;
}

static fmo_h5_code read_contiguous(fmo_h5_file *file, fmo_h5_dataset *d, fmo_bytes b,
                                   uint64_t bytes)
{
    d->storage = FMO_H5_CONTIGUOUS;
    d->address = fmo_bytes_take(&b, 8);
    uint64_t size = fmo_bytes_take(&b, 8);
    if (b.bad) return FMO_H5_BAD(file, "unknown storage layout");
    if (d->address == FMO_H5_NOWHERE) return FMO_H5_OK; /* never written */
    if (size != bytes)
        return FMO_H5_BAD(file, "%llu of its %llu bytes are there", (unsigned long long)size,
                          (unsigned long long)bytes);
    d->stored = size;
    return fmo_h5_own(file, d->address, size, "the values of a dataset");
}

/* Reads the layout message: compact, contiguous, chunked or virtual. */
static fmo_h5_code read_layout(fmo_h5_file *file, const fmo_h5_message *message, fmo_h5_dataset *d)
{
    enum { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL };
    fmo_bytes b = fmo_bytes_of(message->bytes, message->size);
    unsigned version = (unsigned)fmo_bytes_take(&b, 1), class = (unsigned)fmo_bytes_take(&b, 1);
    uint64_t bytes = d->space.values * d->type.size;
    if (b.bad || message->shared || version < 1) return FMO_H5_BAD(file, "unknown storage layout");
    if (d->space.values > (uint64_t)INT64_MAX / d->type.size)
        return FMO_H5_BAD(file, "its shape is invalid");
    if (version < 3 || version > 5)
        return mark_unsupported(d, version < 3 ? "a storage layout older than HDF5 1.6.3" CURE
                                                 ", if it is not damaged"
                                               : "a storage layout of a newer HDF5" CURE);
    switch (class) {
    case COMPACT:
        return read_compact(file, d, b, bytes);
    case CONTIGUOUS:
        return read_contiguous(file, d, b, bytes);
    case CHUNKED:
        d->storage = FMO_H5_CHUNKED;
        return version == 3 ? read_chunked_3(file, d, b) : read_chunked_4(file, d, b);
    case VIRTUAL:
        d->storage = FMO_H5_ELSEWHERE_VIRTUAL;
        return FMO_H5_OK;
    default:
        return FMO_H5_BAD(file, "unknown storage layout");
    }
}

/* Reads shape, type, filters and layout from the messages of an object. */
fmo_h5_code fmo_h5_dataset_of(fmo_h5_file *file, const fmo_h5_object *object, fmo_h5_dataset *d)
{
    *d = (fmo_h5_dataset){.code = FMO_H5_OK, .odd_filter = -1, .plausible = true};
    fmo_h5_code code = fmo_h5_space_of(file, fmo_h5_object_find(object, FMO_H5_SPACE), &d->space);
    if (code == FMO_H5_OK)
        code = fmo_h5_type_of(file, fmo_h5_object_find(object, FMO_H5_TYPE), &d->type);
    if (code == FMO_H5_UNSUPPORTED) {
        mark_unsupported(d, file->why);
        file->why[0] = '\0';
        return FMO_H5_OK;
    }
    if (code == FMO_H5_OK) code = read_filters(file, d, fmo_h5_object_find(object, FMO_H5_FILTERS));
    if (code != FMO_H5_OK) return code;
    if (fmo_h5_object_find(object, FMO_H5_EXTERNAL)) {
        d->storage = FMO_H5_ELSEWHERE_EXTERNAL;
        return FMO_H5_OK;
    }
    return read_layout(file, fmo_h5_object_find(object, FMO_H5_LAYOUT), d);
}
