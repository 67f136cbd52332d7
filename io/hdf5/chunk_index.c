/* Reads the chunk indexes of layout version 4: single chunk, implicit index, fixed arrays,
 * extensible arrays, B-trees of version 2 (format specification, appendix C and VII). Declared in
 * layout.h. */
#include "io/hdf5/btree.h"
#include "io/hdf5/layout.h"

#include <stdlib.h>
#include <string.h>

enum { BTREE_PLAIN = 10, BTREE_FILTERED = 11 };

/* An array with one entry per chunk: its address, and if filtered also its size and mask. */
typedef struct array {
    fmo_h5_dataset *d;
    uint64_t header; /* address of the header, which every block repeats */
    unsigned entry;  /* size of an entry in bytes */
    bool filtered;
    unsigned page_bits;
    uint64_t next; /* index of the next entry */
    /* for extensible arrays only: */
    unsigned offset_bytes, block_least, slow; /* slow: the unlimited dimension */
} array;

/* Returns the number of chunks along dimension i in the maximum shape of the dataset; 0: no
 * limit. */
static uint64_t max_chunks(const fmo_h5_dataset *d, unsigned i)
{
    return d->space.max_dim[i] == UINT64_MAX ? 0 : (d->space.max_dim[i] - 1) / d->chunk_dim[i] + 1;
}

/* Computes the coordinates of chunk `index` of an array, which is row-major in the maximum shape
 * with the unlimited dimension (if any) first. Returns false if the chunk is outside the shape. */
static bool place(const array *a, uint64_t index, uint64_t *scaled)
{
    const fmo_h5_dataset *d = a->d;
    for (unsigned i = d->space.rank; i-- > 0;) {
        if (i == a->slow) continue;
        uint64_t chunks = max_chunks(d, i);
        if (!chunks) return false;
        scaled[i] = index % chunks;
        index /= chunks;
    }
    if (a->slow >= FMO_H5_RANK_MAX) return !index;
    scaled[a->slow] = index;
    return true;
}

static fmo_h5_code note(fmo_h5_file *file, array *a, fmo_bytes *b)
{
    uint64_t scaled[FMO_H5_RANK_MAX];
    fmo_h5_chunk chunk = {.address = fmo_bytes_take(b, 8), .size = a->d->chunk_bytes};
    if (a->filtered) {
        chunk.size = fmo_bytes_take(b, a->entry - 12);
        chunk.mask = (uint32_t)fmo_bytes_take(b, 4);
    }
    uint64_t index = a->next++;
    if (b->bad) return FMO_H5_BAD(file, "its chunk index is inconsistent");
    if (chunk.address == FMO_H5_NOWHERE) return FMO_H5_OK;
    if (!place(a, index, scaled)) return FMO_H5_BAD(file, "a chunk is outside the shape");
    return fmo_h5_note_chunk(file, a->d, scaled, chunk);
}

static fmo_h5_code note_all(fmo_h5_file *file, array *a, fmo_bytes b, uint64_t n)
{
    fmo_h5_code code = FMO_H5_OK;
    for (uint64_t i = 0; code == FMO_H5_OK && i < n; i++) code = note(file, a, &b);
    return code;
}

/* Checks the beginning of a block: signature, version 0, filtered or not, address of the header. */
static bool begins(const array *a, fmo_bytes *b, const char *signature)
{
    return fmo_bytes_match(b, signature) && fmo_bytes_take(b, 1) == 0 &&
           fmo_bytes_take(b, 1) == a->filtered && fmo_bytes_take(b, 8) == a->header;
}

/* Reads n entries in pages, each with a checksum. map: bits, from number `bit` on, of the pages
 * that have been written. */
static fmo_h5_code read_pages(fmo_h5_file *file, array *a, uint64_t address, uint64_t n,
                              const unsigned char *map, uint64_t bit)
{
    uint64_t page = (uint64_t)1 << a->page_bits;
    for (uint64_t first = 0; first < n; first += page, bit++) {
        uint64_t count = n - first < page ? n - first : page;
        uint64_t size = count * a->entry + 4;
        if (!(map[bit / 8] & 0x80 >> bit % 8)) { /* never written */
            a->next += count;
            address += size;
            continue;
        }
        unsigned char *bytes = NULL;
        fmo_h5_code code = fmo_h5_load(file, address, size, "a page of an index", &bytes);
        if (code != FMO_H5_OK) return code;
        if (fmo_checksum(bytes, (size_t)size - 4) == fmo_little_endian(bytes + size - 4, 4))
            code = note_all(file, a, fmo_bytes_of(bytes, (size_t)size - 4), count);
        else
            code = FMO_H5_BAD(file, "the checksum of its index is wrong");
        free(bytes);
        if (code != FMO_H5_OK) return code;
        address += size;
    }
    return FMO_H5_OK;
}

static bool entry_fits(const array *a)
{
    return a->filtered ? a->entry > 12 && a->entry <= 20 : a->entry == 8;
}

/* --- fixed arrays ------------------------------------------------------------------------------*/

static fmo_h5_code read_fixed_block(fmo_h5_file *file, array *a, uint64_t address, uint64_t n)
{
    uint64_t page = (uint64_t)1 << a->page_bits, pages = n > page ? (n + page - 1) / page : 0;
    uint64_t map = (pages + 7) / 8, size = 14 + map + (pages ? 0 : n * a->entry) + 4;
    unsigned char *bytes = NULL;
    if (n > file->size) return FMO_H5_BAD(file, "its chunk index is inconsistent");
    fmo_h5_code code = fmo_h5_load_checked(file, address, size, "FADB", &bytes);
    if (code != FMO_H5_OK) return code;
    fmo_bytes b = fmo_bytes_of(bytes, (size_t)size);
    if (!begins(a, &b, "FADB"))
        code = FMO_H5_BAD(file, "its chunk index is inconsistent");
    else if (pages)
        code = read_pages(file, a, address + size, n, b.at, 0);
    else
        code = note_all(file, a, b, n);
    free(bytes);
    return code;
}

static fmo_h5_code list_fixed(fmo_h5_file *file, fmo_h5_dataset *d)
{
    unsigned char *bytes = NULL;
    array a = {.d = d, .header = d->address, .slow = FMO_H5_RANK_MAX};
    fmo_h5_code code = fmo_h5_load_checked(file, d->address, 28, "FAHD", &bytes);
    if (code != FMO_H5_OK) return code;
    fmo_bytes b = fmo_bytes_of(bytes, 28);
    fmo_bytes_skip(&b, 5);
    a.filtered = fmo_bytes_take(&b, 1) == 1;
    a.entry = (unsigned)fmo_bytes_take(&b, 1);
    a.page_bits = (unsigned)fmo_bytes_take(&b, 1);
    uint64_t n = fmo_bytes_take(&b, 8), block = fmo_bytes_take(&b, 8);
    free(bytes);
    if (!entry_fits(&a) || a.page_bits > 32 || a.filtered != d->filtered)
        return FMO_H5_BAD(file, "its chunk index is inconsistent");
    return block == FMO_H5_NOWHERE ? FMO_H5_OK : read_fixed_block(file, &a, block, n);
}

/* --- extensible arrays -------------------------------------------------------------------------*/

/* Super block s has 2^(s/2) data blocks with block_least * 2^((s+1)/2) entries each (integer
 * divisions). */
static uint64_t blocks_of(unsigned s)
{
    return (uint64_t)1 << s / 2;
}
static uint64_t entries_of(const array *a, unsigned s)
{
    return ((uint64_t)1 << (s + 1) / 2) * a->block_least;
}

static uint64_t pages_of(const array *a, unsigned s)
{
    uint64_t page = (uint64_t)1 << a->page_bits, n = entries_of(a, s);
    return n > page ? n / page : 0;
}

/* Reads data block of super block s, with or without pages; an undefined address skips its
 * entries. */
static fmo_h5_code read_data_block(fmo_h5_file *file, array *a, uint64_t address, unsigned s,
                                   const unsigned char *map, uint64_t bit)
{
    uint64_t n = entries_of(a, s), first = a->next;
    unsigned char *bytes = NULL;
    fmo_h5_code code = FMO_H5_OK;
    if (address != FMO_H5_NOWHERE) {
        bool paged = pages_of(a, s) > 0;
        uint64_t size = 14 + a->offset_bytes + (paged ? 0 : n * a->entry) + 4;
        code = fmo_h5_load_checked(file, address, size, "EADB", &bytes);
        if (code != FMO_H5_OK) return code;
        fmo_bytes b = fmo_bytes_of(bytes, (size_t)size);
        bool good = begins(a, &b, "EADB");
        fmo_bytes_skip(&b, a->offset_bytes);
        if (!good)
            code = FMO_H5_BAD(file, "its chunk index is inconsistent");
        else if (paged)
            code = map ? read_pages(file, a, address + size, n, map, bit)
                       : FMO_H5_BAD(file, "its chunk index is inconsistent");
        else
            code = note_all(file, a, b, n);
        free(bytes);
    }
    a->next = first + n;
    return code;
}

/* Reads super block s: a bitmap of pages and the addresses of its data blocks. */
static fmo_h5_code read_super_block(fmo_h5_file *file, array *a, uint64_t address, unsigned s)
{
    uint64_t blocks = blocks_of(s), maps = (pages_of(a, s) + 7) / 8;
    uint64_t size = 14 + a->offset_bytes + blocks * (maps + 8) + 4, first = a->next;
    unsigned char *bytes = NULL;
    fmo_h5_code code = FMO_H5_OK;
    if (address != FMO_H5_NOWHERE) {
        code = fmo_h5_load_checked(file, address, size, "EASB", &bytes);
        if (code != FMO_H5_OK) return code;
        fmo_bytes b = fmo_bytes_of(bytes, (size_t)size);
        if (!begins(a, &b, "EASB")) code = FMO_H5_BAD(file, "its chunk index is inconsistent");
        fmo_bytes_skip(&b, a->offset_bytes);
        fmo_bytes map = fmo_bytes_cut(&b, blocks * maps);
        for (uint64_t i = 0; code == FMO_H5_OK && i < blocks; i++)
            code = read_data_block(file, a, fmo_bytes_take(&b, 8), s, maps ? map.at : NULL,
                                   i * pages_of(a, s));
        free(bytes);
    }
    a->next = first + blocks * entries_of(a, s);
    return code;
}

/* Reads the index block: entries, addresses of the data blocks of the first super blocks, and
 * addresses of the other super blocks. */
static fmo_h5_code read_index_block(fmo_h5_file *file, array *a, uint64_t address,
                                    unsigned in_index, unsigned pointers, unsigned supers)
{
    unsigned direct = 2 * fmo_log2(pointers); /* super blocks with data blocks listed here */
    uint64_t size = 14 + (uint64_t)in_index * a->entry + 8 * (2 * ((uint64_t)pointers - 1)) +
                    8 * (uint64_t)(supers > direct ? supers - direct : 0) + 4;
    unsigned char *bytes = NULL;
    fmo_h5_code code = fmo_h5_load_checked(file, address, size, "EAIB", &bytes);
    if (code != FMO_H5_OK) return code;
    fmo_bytes b = fmo_bytes_of(bytes, (size_t)size);
    if (!begins(a, &b, "EAIB")) code = FMO_H5_BAD(file, "its chunk index is inconsistent");
    fmo_bytes entries = fmo_bytes_cut(&b, (uint64_t)in_index * a->entry);
    if (code == FMO_H5_OK) code = note_all(file, a, entries, in_index);
    for (unsigned s = 0; code == FMO_H5_OK && s < direct && s < supers; s++)
        for (uint64_t i = 0; code == FMO_H5_OK && i < blocks_of(s); i++)
            code = read_data_block(file, a, fmo_bytes_take(&b, 8), s, NULL, 0);
    for (unsigned s = direct; code == FMO_H5_OK && s < supers; s++)
        code = read_super_block(file, a, fmo_bytes_take(&b, 8), s);
    free(bytes);
    return code;
}

/* Reads the header of an extensible array, checks its parameters, and reads the index block. */
static fmo_h5_code list_extensible(fmo_h5_file *file, fmo_h5_dataset *d)
{
    enum { HEADER = 72 };
    unsigned char *bytes = NULL;
    array a = {.d = d, .header = d->address, .slow = FMO_H5_RANK_MAX};
    for (unsigned i = 0; i < d->space.rank; i++)
        if (!max_chunks(d, i)) a.slow = i;
    fmo_h5_code code = fmo_h5_load_checked(file, d->address, HEADER, "EAHD", &bytes);
    if (code != FMO_H5_OK) return code;
    fmo_bytes b = fmo_bytes_of(bytes, HEADER);
    fmo_bytes_skip(&b, 5);
    a.filtered = fmo_bytes_take(&b, 1) == 1;
    a.entry = (unsigned)fmo_bytes_take(&b, 1);
    unsigned bits = (unsigned)fmo_bytes_take(&b, 1);
    unsigned in_index = (unsigned)fmo_bytes_take(&b, 1);
    a.block_least = (unsigned)fmo_bytes_take(&b, 1);
    unsigned pointers = (unsigned)fmo_bytes_take(&b, 1);
    a.page_bits = (unsigned)fmo_bytes_take(&b, 1);
    fmo_bytes_skip(&b, 6 * 8);
    uint64_t block = fmo_bytes_take(&b, 8);
    free(bytes);
    a.offset_bytes = (bits + 7) / 8;
    if (!entry_fits(&a) || a.filtered != d->filtered || !bits || bits > 62 || !a.block_least ||
        (a.block_least & (a.block_least - 1)) || pointers < 2 || (pointers & (pointers - 1)) ||
        a.page_bits > 32 || bits < fmo_log2(a.block_least))
        return FMO_H5_BAD(file, "its chunk index is inconsistent");
    if (block == FMO_H5_NOWHERE) return FMO_H5_OK;
    return read_index_block(file, &a, block, in_index, pointers,
                            1 + bits - fmo_log2(a.block_least));
}

/* --- the others --------------------------------------------------------------------------------*/

static fmo_h5_code list_single(fmo_h5_file *file, fmo_h5_dataset *d)
{
    uint64_t scaled[FMO_H5_RANK_MAX] = {0};
    fmo_h5_chunk chunk = {.address = d->address,
                          .size = d->filtered ? d->single_size : d->chunk_bytes,
                          .mask = d->single_mask};
    return fmo_h5_note_chunk(file, d, scaled, chunk);
}

/* Lists the chunks of an implicit index: those of the maximum shape are stored one after the other,
 * and those inside the current shape are listed. Since the index takes no space in the file, its
 * entries are deducted from the budget here. */
static fmo_h5_code list_implicit(fmo_h5_file *file, fmo_h5_dataset *d)
{
    const uint64_t paid = d->chunk_num * sizeof d->address; /* as for any other index */
    fmo_h5_code code = FMO_H5_OK;
    d->plausible = paid <= file->budget;
    if (!d->plausible) return FMO_H5_OK;
    file->budget -= paid;
    for (uint64_t k = 0; code == FMO_H5_OK && k < d->chunk_num; k++) {
        uint64_t scaled[FMO_H5_RANK_MAX], rest = k, index = 0;
        for (unsigned i = d->space.rank; i-- > 0; rest /= d->grid[i]) scaled[i] = rest % d->grid[i];
        bool fits = !d->filtered;
        for (unsigned i = 0; fits && i < d->space.rank; i++) {
            const uint64_t chunks = max_chunks(d, i), last = file->end / d->chunk_bytes;
            fits = chunks && (!index || chunks <= last / index);
            index = index * chunks + scaled[i];
        }
        if (!fits) return FMO_H5_BAD(file, "its chunk index is inconsistent");
        const fmo_h5_chunk chunk = {.address = d->address + index * d->chunk_bytes,
                                    .size = d->chunk_bytes};
        code = fmo_h5_note_chunk(file, d, scaled, chunk);
    }
    return code;
}

/* Reads a record: address, if filtered size and mask, then the coordinates in the grid. */
static fmo_h5_code visit_record(fmo_h5_file *file, const unsigned char *record, size_t size,
                                void *data)
{
    fmo_h5_dataset *d = data;
    uint64_t scaled[FMO_H5_RANK_MAX];
    size_t fixed = 8 + 8 * (size_t)d->space.rank + (d->filtered ? 4 : 0);
    if (d->filtered ? size <= fixed || size > fixed + 8 : size != fixed)
        return FMO_H5_BAD(file, "its chunk index is inconsistent");
    fmo_bytes b = fmo_bytes_of(record, size);
    fmo_h5_chunk chunk = {.address = fmo_bytes_take(&b, 8), .size = d->chunk_bytes};
    if (d->filtered) {
        chunk.size = fmo_bytes_take(&b, (unsigned)(size - fixed));
        chunk.mask = (uint32_t)fmo_bytes_take(&b, 4);
    }
    for (unsigned i = 0; i < d->space.rank; i++) scaled[i] = fmo_bytes_take(&b, 8);
    return fmo_h5_note_chunk(file, d, scaled, chunk);
}

fmo_h5_code fmo_h5_list_chunks(fmo_h5_file *file, fmo_h5_dataset *d)
{
    switch (d->index) {
    case FMO_H5_INDEX_SINGLE:
        return list_single(file, d);
    case FMO_H5_INDEX_IMPLICIT:
        return list_implicit(file, d);
    case FMO_H5_INDEX_FIXED:
        return list_fixed(file, d);
    case FMO_H5_INDEX_EXTENSIBLE:
        return list_extensible(file, d);
    default:
        return fmo_h5_btree2_walk(file, d->address, d->filtered ? BTREE_FILTERED : BTREE_PLAIN,
                                  visit_record, d);
    }
}
