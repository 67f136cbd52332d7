/* Reads all values of a dataset. Chunks are unpacked one at a time, and each must yield exactly its
 * nominal size. Declared in layout.h. */
#include "io/hdf5/layout.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Inflates all of `from` into exactly `size` bytes; returns false if this is not possible. */
static bool inflate_exactly(const unsigned char *from, size_t from_size, unsigned char *to,
                            size_t size)
{
    z_stream z = {.next_in = (unsigned char *)from, .next_out = to};
    if (from_size > UINT32_MAX || size > UINT32_MAX || inflateInit(&z) != Z_OK) return false;
    z.avail_in = (unsigned)from_size;
    z.avail_out = (unsigned)size;
    int code = inflate(&z, Z_FINISH);
    bool good = code == Z_STREAM_END && z.avail_in == 0 && z.avail_out == 0;
    inflateEnd(&z);
    return good;
}

/* Undoes the shuffle filter, which stores the first bytes of all values, then their second bytes,
 * ... */
static void unshuffle(const unsigned char *from, unsigned char *to, size_t size, size_t item)
{
    size_t n = size / item;
    for (size_t k = 0; k < item; k++)
        for (size_t i = 0; i < n; i++) to[i * item + k] = from[k * n + i];
    memcpy(to + n * item, from + n * item, size - n * item);
}

static bool checksum_fits(const unsigned char *bytes, size_t size)
{
    uint32_t stored = (uint32_t)fmo_little_endian(bytes + size, 4);
    uint32_t sum = fmo_fletcher32(bytes, size);
    /* HDF5 before 1.6.3 swapped the bytes of the checksum in pairs */
    return sum == stored || ((sum & 0x00ff00ffu) << 8 | (sum >> 8 & 0x00ff00ffu)) == stored;
}

/* Undoes the filters of a chunk. On return *a holds the values. *a and *b are buffers of
 * chunk_bytes plus a checksum for each filter, and may be exchanged. */
static fmo_h5_code unpack(fmo_h5_file *file, const fmo_h5_dataset *d, const fmo_h5_chunk *chunk,
                          unsigned char **a, unsigned char **b, unsigned char *packed)
{
    size_t size_before[FMO_H5_FILTERS_MAX], size = (size_t)d->chunk_bytes;
    bool deflated = false;
    for (unsigned i = 0; i < d->filter_num; i++) { /* sizes before each filter was applied */
        size_before[i] = size;
        if (chunk->mask >> i & 1) {
            /* HDF5 omits gzip if it does not make a chunk smaller, and shuffle if it does not know
             * the size of a value (strings of variable length), but no other filter. An error here
             * would give wrong values of the right size. */
            if (d->filter[i] != FMO_H5_DEFLATE && !(d->idle >> i & 1))
                return FMO_H5_UNKNOWN(
                    file,
                    "a chunk was stored without one of its filters, and that filter is not gzip; "
                    "rewrite the file with h5repack -f NONE IN OUT");
            continue;
        }
        if (d->filter[i] == FMO_H5_DEFLATE && deflated)
            return FMO_H5_UNKNOWN(
                file, "it is compressed twice; rewrite the file with h5repack -f NONE IN OUT");
        deflated |= d->filter[i] == FMO_H5_DEFLATE;
        size += d->filter[i] == FMO_H5_FLETCHER32 ? 4 : 0;
    }
    if (chunk->mask >> d->filter_num)
        return FMO_H5_BAD(file, "a chunk skips filters that do not exist");
    unsigned char *from = packed;
    size_t have = (size_t)chunk->size;
    if (!deflated && have != size) return FMO_H5_BAD(file, "a chunk has a wrong size");
    for (unsigned i = d->filter_num; i-- > 0;) {
        if (chunk->mask >> i & 1) continue;
        if (d->filter[i] == FMO_H5_FLETCHER32) {
            if (have < 4 || !checksum_fits(from, have - 4))
                return FMO_H5_BAD(file, "the checksum of a chunk is wrong");
            have -= 4;
            continue;
        }
        unsigned char *to = from == *a ? *b : *a;
        if (d->filter[i] == FMO_H5_DEFLATE) {
            if (!inflate_exactly(from, have, to, size_before[i]))
                return FMO_H5_BAD(file, "a chunk does not inflate to its %zu bytes",
                                  size_before[i]);
            have = size_before[i];
        } else
            unshuffle(from, to, have, d->type.size);
        from = to;
    }
    if (have != d->chunk_bytes) return FMO_H5_BAD(file, "a chunk has a wrong size");
    if (from == packed)
        memcpy(*a, from, have);
    else if (from == *b) {
        *b = *a;
        *a = from;
    }
    return FMO_H5_OK;
}

/* Copies the part of a chunk that is inside the shape, row by row. */
static void scatter(const fmo_h5_dataset *d, const uint64_t *origin, const unsigned char *chunk,
                    unsigned char *values)
{
    unsigned rank = d->space.rank, last = rank - 1;
    uint64_t at[FMO_H5_RANK_MAX] = {0}, count[FMO_H5_RANK_MAX];
    for (unsigned i = 0; i < rank; i++) {
        uint64_t left = d->space.dim[i] - origin[i];
        count[i] = left < d->chunk_dim[i] ? left : d->chunk_dim[i];
    }
    for (bool more = true; more;) {
        uint64_t from = 0, to = 0;
        for (unsigned i = 0; i < rank; i++) {
            from = from * d->chunk_dim[i] + at[i];
            to = to * d->space.dim[i] + origin[i] + at[i];
        }
        memcpy(values + to * d->type.size, chunk + from * d->type.size,
               (size_t)count[last] * d->type.size);
        more = false;
        for (unsigned i = last; i-- > 0 && !more;) {
            more = ++at[i] < count[i];
            if (!more) at[i] = 0;
        }
    }
}

/* Reads, unpacks and copies each chunk. */
static fmo_h5_code read_chunks(fmo_h5_file *file, const fmo_h5_dataset *d, unsigned char *values)
{
    size_t capacity = (size_t)d->chunk_bytes + 4 * FMO_H5_FILTERS_MAX, packed_capacity = 0;
    unsigned char *a = malloc(capacity), *b = malloc(capacity), *packed = NULL;
    fmo_h5_code code = FMO_H5_OK;
    if (!a || !b) code = fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    for (size_t k = 0; code == FMO_H5_OK && k < d->chunks_there; k++) {
        const fmo_h5_chunk *chunk = &d->chunk[k];
        uint64_t origin[FMO_H5_RANK_MAX], rest = chunk->at;
        for (unsigned i = d->space.rank; i-- > 0; rest /= d->grid[i])
            origin[i] = rest % d->grid[i] * d->chunk_dim[i];
        if (chunk->size > packed_capacity) {
            free(packed);
            packed_capacity = (size_t)chunk->size; /* claimed, so at most the size of the file */
            packed = malloc(packed_capacity);
            if (!packed) code = fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        }
        if (code == FMO_H5_OK)
            code = fmo_h5_pread(file, chunk->address, packed, (size_t)chunk->size);
        if (code == FMO_H5_OK) code = unpack(file, d, chunk, &a, &b, packed);
        if (code == FMO_H5_OK) scatter(d, origin, a, values);
    }
    free(a);
    free(b);
    free(packed);
    return code;
}

fmo_h5_code fmo_h5_dataset_read(fmo_h5_file *file, const fmo_h5_dataset *d, void *values)
{
    uint64_t bytes = d->space.values * d->type.size;
    if (d->storage == FMO_H5_COMPACT) {
        memcpy(values, d->compact, (size_t)bytes);
        return FMO_H5_OK;
    }
    if (d->storage == FMO_H5_CONTIGUOUS) {
        if (d->stored != bytes) return FMO_H5_BAD(file, "its values were never written");
        return fmo_h5_pread(file, d->address, values, (size_t)bytes);
    }
    if (d->storage != FMO_H5_CHUNKED || d->chunks_there != d->chunk_num)
        return FMO_H5_BAD(file, "%llu of its %llu chunks are there",
                          (unsigned long long)d->chunks_there, (unsigned long long)d->chunk_num);
    return read_chunks(file, d, values);
}
