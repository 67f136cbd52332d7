/* Superblock, loading of structures and claims on bytes of an HDF5 file; declared in file.h. */
#include "io/hdf5/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE_MAX = 1 << 26, /* bytes of one structure; does not limit data of datasets */
    BUDGET_RATIO = 3,
    BUDGET_SLACK = 1 << 20
};

fmo_h5_code fmo_h5_give_up(fmo_h5_file *file, fmo_h5_code code, const char *format, ...)
{
    if (file->why[0]) return code;
    va_list args;
    va_start(args, format);
    vsnprintf(file->why, sizeof file->why, format, args);
    va_end(args);
    return code;
}

/* Repeats pread until all bytes are read, in pieces of at most 1 GiB. */
fmo_h5_code fmo_h5_pread(fmo_h5_file *file, uint64_t address, void *bytes, size_t size)
{
    char *to = bytes;
    if (address > file->end || size > file->end - address)
        return FMO_H5_BAD(file, "an address is outside the file");
    uint64_t offset = file->base + address;
    while (size > 0) {
        ssize_t got =
            pread(file->descriptor, to, size < (1u << 30) ? size : 1u << 30, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fmo_h5_give_up(file, FMO_H5_UNREADABLE, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return fmo_h5_give_up(file, FMO_H5_UNREADABLE, "became shorter while it was read");
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return FMO_H5_OK;
}

fmo_h5_code fmo_h5_spend(fmo_h5_file *file, uint64_t size)
{
    if (size > file->budget)
        return FMO_H5_BAD(file, "its structures refer to each other in a loop");
    file->budget -= size;
    return FMO_H5_OK;
}

fmo_h5_code fmo_h5_peek(fmo_h5_file *file, uint64_t address, void *bytes, size_t size)
{
    fmo_h5_code code = fmo_h5_spend(file, size);
    return code == FMO_H5_OK ? fmo_h5_pread(file, address, bytes, size) : code;
}

/* --- claims on bytes ------------------------------------------------------------------------ */

fmo_h5_code fmo_h5_own(fmo_h5_file *file, uint64_t address, uint64_t size, const char *what)
{
    if (address > file->end || size > file->end - address)
        return FMO_H5_BAD(file, "%s of %llu bytes is outside the file", what,
                          (unsigned long long)size);
    if (!size) return FMO_H5_OK;
    if (file->claim_num == file->claim_capacity) {
        size_t capacity = 2 * file->claim_capacity + 256;
        fmo_h5_claim *claim = realloc(file->claim, capacity * sizeof *claim);
        if (!claim) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        file->claim = claim;
        file->claim_capacity = capacity;
    }
    file->claim[file->claim_num++] = (fmo_h5_claim){address, address + size, what};
    return FMO_H5_OK;
}

static int compare_claims(const void *a, const void *b)
{
    const fmo_h5_claim *p = a, *q = b;
    return p->begin < q->begin ? -1 : p->begin > q->begin;
}

fmo_h5_code fmo_h5_check_claims(fmo_h5_file *file)
{
    qsort(file->claim, file->claim_num, sizeof *file->claim, compare_claims);
    for (size_t i = 1; i < file->claim_num; i++)
        if (file->claim[i].begin < file->claim[i - 1].end)
            return FMO_H5_BAD(file, "%s and %s are in one place", file->claim[i - 1].what,
                              file->claim[i].what);
    return FMO_H5_OK;
}

bool fmo_h5_unclaimed(const fmo_h5_file *file, uint64_t address, uint64_t size)
{
    size_t low = 0, high = file->claim_num; /* finds the first claim that ends after address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->claim[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == file->claim_num || file->claim[low].begin >= address + size;
}

fmo_h5_code fmo_h5_load(fmo_h5_file *file, uint64_t address, uint64_t size, const char *what,
                        unsigned char **bytes)
{
    *bytes = NULL;
    if (size > PIECE_MAX)
        return FMO_H5_BAD(file, "%s has %llu bytes", what, (unsigned long long)size);
    fmo_h5_code code = fmo_h5_own(file, address, size, what);
    if (code != FMO_H5_OK) return code;
    unsigned char *piece = malloc(size ? (size_t)size : 1);
    if (!piece) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    code = fmo_h5_peek(file, address, piece, (size_t)size);
    if (code == FMO_H5_OK)
        *bytes = piece;
    else
        free(piece);
    return code;
}

fmo_h5_code fmo_h5_load_checked(fmo_h5_file *file, uint64_t address, uint64_t size,
                                const char *signature, unsigned char **bytes)
{
    fmo_h5_code code = fmo_h5_load(file, address, size, signature, bytes);
    if (code != FMO_H5_OK) return code;
    size_t n = (size_t)size;
    if (n >= 8 && memcmp(*bytes, signature, 4) == 0 &&
        fmo_checksum(*bytes, n - 4) == fmo_little_endian(*bytes + n - 4, 4))
        return FMO_H5_OK;
    free(*bytes);
    *bytes = NULL;
    return FMO_H5_BAD(file, "the checksum of a structure (%s) is wrong", signature);
}

/* --- superblock (II.A) -------------------------------------------------------------------------*/

enum { SUPERBLOCK_MAX = 128 };

/* Reads versions 0 and 1. */
static fmo_h5_code read_old(fmo_h5_file *file, fmo_bytes b, unsigned version, uint64_t *base,
                            uint64_t *end, uint64_t *size)
{
    fmo_bytes_skip(&b, 4); /* versions of components, and a reserved byte */
    unsigned offsets = (unsigned)fmo_bytes_take(&b, 1), lengths = (unsigned)fmo_bytes_take(&b, 1);
    fmo_bytes_skip(&b, 1);
    file->leaf_k = (unsigned)fmo_bytes_take(&b, 2);
    file->group_k = (unsigned)fmo_bytes_take(&b, 2);
    fmo_bytes_skip(&b, 4);
    if (version == 1) {
        file->chunk_k = (unsigned)fmo_bytes_take(&b, 2);
        fmo_bytes_skip(&b, 2);
    }
    *base = fmo_bytes_take(&b, 8);
    uint64_t free_space = fmo_bytes_take(&b, 8);
    *end = fmo_bytes_take(&b, 8);
    uint64_t driver = fmo_bytes_take(&b, 8);
    fmo_bytes_skip(&b, 8); /* offset of the name of the root, which has none */
    file->root = fmo_bytes_take(&b, 8);
    *size = version == 1 ? 100 : 96;
    if (b.bad) return FMO_H5_BAD(file, "its first bytes are cut short");
    if (offsets != 8 || lengths != 8)
        return FMO_H5_UNKNOWN(file,
                              "addresses of %u and lengths of %u bytes: only 8 are read; "
                              "h5repack IN OUT converts it",
                              offsets, lengths);
    if (free_space != FMO_H5_NOWHERE || driver != FMO_H5_NOWHERE)
        return FMO_H5_UNKNOWN(file,
                              "it is part of a file of several, or keeps free space; h5repack "
                              "IN OUT converts it");
    if (!file->leaf_k || !file->group_k || !file->chunk_k)
        return FMO_H5_BAD(file, "its superblock allows no entries in a node");
    return FMO_H5_OK;
}

/* Reads versions 2 and 3. The superblock extension is read in object.c. */
static fmo_h5_code read_new(fmo_h5_file *file, fmo_bytes b, const unsigned char *bytes,
                            unsigned version, uint64_t *base, uint64_t *end, uint64_t *size)
{
    unsigned offsets = (unsigned)fmo_bytes_take(&b, 1), lengths = (unsigned)fmo_bytes_take(&b, 1);
    unsigned flags = (unsigned)fmo_bytes_take(&b, 1);
    *base = fmo_bytes_take(&b, 8);
    uint64_t extension = fmo_bytes_take(&b, 8);
    *end = fmo_bytes_take(&b, 8);
    file->root = fmo_bytes_take(&b, 8);
    uint64_t checksum = fmo_bytes_take(&b, 4);
    *size = 48;
    if (b.bad) return FMO_H5_BAD(file, "its first bytes are cut short");
    if (fmo_checksum(bytes, 44) != checksum)
        return FMO_H5_BAD(file, "the checksum of its first bytes is wrong");
    if (offsets != 8 || lengths != 8)
        return FMO_H5_UNKNOWN(file,
                              "addresses of %u and lengths of %u bytes: only 8 are read; "
                              "h5repack IN OUT converts it",
                              offsets, lengths);
    if (version == 3 && flags & 5)
        return FMO_H5_UNKNOWN(file,
                              "a program is writing it, or ended without closing it; wait, or "
                              "h5clear -s FILE");
    file->extension = extension;
    return FMO_H5_OK;
}

/* Reads a superblock of any version, checks that it fits the file, and claims its bytes. */
static fmo_h5_code read_superblock(fmo_h5_file *file, const unsigned char *bytes, size_t left)
{
    uint64_t base = 0, end = 0, size = 0;
    fmo_bytes b = fmo_bytes_of(bytes, left);
    fmo_bytes_skip(&b, 8);
    unsigned version = (unsigned)fmo_bytes_take(&b, 1);
    fmo_h5_code code;
    if (version <= 1)
        code = read_old(file, b, version, &base, &end, &size);
    else if (version <= 3)
        code = read_new(file, b, bytes, version, &base, &end, &size);
    else
        code = FMO_H5_UNKNOWN(file,
                              "superblock version %u: a newer HDF5 wrote it; h5repack IN OUT "
                              "of an HDF5 1.10 to 1.14 converts it",
                              version);
    if (code != FMO_H5_OK) return code;
    if (base != file->base || end < base + size)
        return FMO_H5_BAD(file, "its first bytes contradict where they are");
    if (end > file->size)
        return fmo_h5_give_up(file, FMO_H5_TRUNCATED, "%llu of %llu bytes are there",
                              (unsigned long long)file->size, (unsigned long long)end);
    file->end = end - base;
    return fmo_h5_own(file, 0, size, "the superblock");
}

/* Initialises the file and searches for the signature; 4, 16 and 32 are HDF5's defaults. */
fmo_h5_code fmo_h5_file_open(fmo_h5_file *file, int descriptor, uint64_t size)
{
    static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    *file = (fmo_h5_file){.descriptor = descriptor,
                          .size = size,
                          .end = size,
                          .extension = FMO_H5_NOWHERE,
                          .leaf_k = 4,
                          .group_k = 16,
                          .chunk_k = 32};
    file->budget = BUDGET_SLACK + BUDGET_RATIO * (size < UINT64_MAX / 8 ? size : UINT64_MAX / 8);
    for (uint64_t at = 0; at < size && size - at >= 8; at = at ? 2 * at : 512) {
        unsigned char bytes[SUPERBLOCK_MAX] = {0};
        size_t left = size - at < sizeof bytes ? (size_t)(size - at) : sizeof bytes;
        fmo_h5_code code = fmo_h5_pread(file, at, bytes, left);
        if (code != FMO_H5_OK) return code;
        if (memcmp(bytes, signature, sizeof signature) != 0) continue;
        file->base = at;
        return read_superblock(file, bytes, left);
    }
    return FMO_H5_UNSUPPORTED;
}

void fmo_h5_file_free(fmo_h5_file *file)
{
    free(file->claim);
    file->claim = NULL;
    file->claim_num = file->claim_capacity = 0;
}
