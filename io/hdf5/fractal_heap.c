/* Fractal heaps (III.G of the HDF5 File Format Specification): links and attributes of objects with
 * more than 8 of them, in files written with libver='latest'. Declared in heap.h. */
#include "io/hdf5/heap.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 146, FLAG_SUMMED = 2, LEVELS_MAX = 8, BLOCKS_MAX = 1 << 16, WIDTH_MAX = 256 };

void fmo_h5_heap_free(fmo_h5_heap *heap)
{
    for (size_t i = 0; i < heap->block_num; i++) free(heap->block[i].bytes);
    free(heap->block);
    heap->block = NULL;
    heap->block_num = heap->block_capacity = 0;
}

static uint64_t row_size(const fmo_h5_heap *heap, uint64_t row)
{
    return row ? heap->start << (row - 1) : heap->start;
}

static uint64_t direct_rows(const fmo_h5_heap *heap)
{
    return fmo_log2(heap->largest) - fmo_log2(heap->start) + 2;
}

/* Returns true if a block has the signature, version, heap address and offset that it must have. */
static bool belongs(const fmo_h5_heap *heap, const unsigned char *bytes, const char *signature,
                    uint64_t offset)
{
    return memcmp(bytes, signature, 4) == 0 && bytes[4] == 0 &&
           fmo_little_endian(bytes + 5, 8) == heap->address &&
           fmo_little_endian(bytes + 13, heap->offset_bytes) == offset;
}

/* Loads a direct block, verifies it, and appends it to the list of blocks. */
static fmo_h5_code read_direct(fmo_h5_file *file, fmo_h5_heap *heap, uint64_t address,
                               uint64_t size, uint64_t offset)
{
    unsigned char *bytes = NULL;
    if (heap->block_num == BLOCKS_MAX)
        return FMO_H5_UNKNOWN(file, "a heap of very many blocks; h5repack IN OUT converts it");
    if (heap->block_num == heap->block_capacity) {
        size_t capacity = 2 * heap->block_capacity + 16;
        fmo_h5_block *block = realloc(heap->block, capacity * sizeof *block);
        if (!block) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        heap->block = block;
        heap->block_capacity = capacity;
    }
    fmo_h5_code code = fmo_h5_load(file, address, size, "a block of a heap", &bytes);
    if (code != FMO_H5_OK) return code;
    size_t sum = 13 + heap->offset_bytes; /* position of the checksum, computed with zeros there */
    bool good = size >= sum + 4 && belongs(heap, bytes, "FHDB", offset);
    if (good && heap->summed) {
        uint32_t stored = (uint32_t)fmo_little_endian(bytes + sum, 4);
        memset(bytes + sum, 0, 4);
        good = fmo_checksum(bytes, (size_t)size) == stored;
    }
    if (!good) {
        free(bytes);
        return FMO_H5_BAD(file, "a block of a heap is damaged");
    }
    heap->block[heap->block_num++] = (fmo_h5_block){offset, size, bytes}; /* offsets increase */
    return FMO_H5_OK;
}

/* Reads the blocks of an indirect block, row by row; offset: that of its first block in the
 * heap. */
static fmo_h5_code read_indirect(fmo_h5_file *file, fmo_h5_heap *heap, uint64_t address,
                                 uint64_t rows, uint64_t offset, int level)
{
    uint64_t direct = direct_rows(heap) < rows ? direct_rows(heap) : rows;
    uint64_t size = 13 + heap->offset_bytes + rows * heap->width * 8 + 4;
    unsigned char *bytes = NULL;
    if (level > LEVELS_MAX || rows > 64) return FMO_H5_BAD(file, "a heap is too deep");
    fmo_h5_code code = fmo_h5_load_checked(file, address, size, "FHIB", &bytes);
    if (code != FMO_H5_OK) return code;
    if (!belongs(heap, bytes, "FHIB", offset))
        code = FMO_H5_BAD(file, "a block of a heap is misplaced");
    fmo_bytes b = fmo_bytes_of(bytes, (size_t)size);
    fmo_bytes_skip(&b, 13 + heap->offset_bytes);
    for (uint64_t row = 0; code == FMO_H5_OK && row < rows; row++) {
        uint64_t child_size = row_size(heap, row);
        if (child_size > (uint64_t)1 << 40) {
            code = FMO_H5_BAD(file, "a heap is too large");
            break;
        }
        for (uint64_t column = 0; code == FMO_H5_OK && column < heap->width; column++) {
            uint64_t child = fmo_bytes_take(&b, 8);
            if (child != FMO_H5_NOWHERE && row < direct)
                code = read_direct(file, heap, child, child_size, offset);
            else if (child != FMO_H5_NOWHERE)
                code = read_indirect(file, heap, child,
                                     fmo_log2(child_size) - fmo_log2(heap->start * heap->width) + 1,
                                     offset, level + 1);
            offset += child_size;
        }
    }
    free(bytes);
    return code;
}

static bool is_power(uint64_t n)
{
    return n && (n & (n - 1)) == 0;
}

/* Reads the header of a heap, checks its parameters, and loads all blocks. */
fmo_h5_code fmo_h5_heap_read(fmo_h5_file *file, uint64_t address, fmo_h5_heap *heap)
{
    unsigned char *bytes = NULL;
    *heap = (fmo_h5_heap){.address = address};
    fmo_h5_code code = fmo_h5_load_checked(file, address, HEADER, "FRHP", &bytes);
    if (code != FMO_H5_OK) return code;
    fmo_bytes b = fmo_bytes_of(bytes, HEADER);
    fmo_bytes_skip(&b, 4);
    uint64_t version = fmo_bytes_take(&b, 1);
    heap->id_bytes = (unsigned)fmo_bytes_take(&b, 2);
    uint64_t filters = fmo_bytes_take(&b, 2);
    heap->summed = fmo_bytes_take(&b, 1) & FLAG_SUMMED;
    uint64_t object_max = fmo_bytes_take(&b, 4);
    fmo_bytes_skip(&b, 8 + 8 + 8 + 8 + 8 + 8 + 8); /* huge objects, free space, sizes */
    heap->managed = fmo_bytes_take(&b, 8);
    fmo_bytes_skip(&b, 8);
    uint64_t huge = fmo_bytes_take(&b, 8);
    fmo_bytes_skip(&b, 8);
    heap->tiny = fmo_bytes_take(&b, 8);
    heap->width = fmo_bytes_take(&b, 2);
    heap->start = fmo_bytes_take(&b, 8);
    heap->largest = fmo_bytes_take(&b, 8);
    unsigned bits = (unsigned)fmo_bytes_take(&b, 2);
    fmo_bytes_skip(&b, 2);
    uint64_t root = fmo_bytes_take(&b, 8), rows = fmo_bytes_take(&b, 2);
    free(bytes);
    if (version != 0 || filters || huge)
        return FMO_H5_UNKNOWN(file, "a heap that is compressed or holds huge attributes; h5repack "
                                    "IN OUT converts it");
    if (b.bad || !is_power(heap->width) || heap->width > WIDTH_MAX || !is_power(heap->start) ||
        !is_power(heap->largest) || heap->start > heap->largest || heap->largest > 1u << 26 ||
        heap->start < 64 || !bits || bits > 64 || heap->id_bytes < 3 || heap->id_bytes > 64)
        return FMO_H5_BAD(file, "the header of a heap is invalid");
    heap->offset_bytes = (bits + 7) / 8;
    unsigned by_block = (fmo_log2(heap->largest) + 7) / 8, by_object = fmo_bytes_width(object_max);
    heap->length_bytes = by_block < by_object ? by_block : by_object;
    if (1 + heap->offset_bytes + heap->length_bytes > heap->id_bytes)
        return FMO_H5_BAD(file, "the header of a heap is invalid");
    if (root == FMO_H5_NOWHERE) return FMO_H5_OK;
    return rows ? read_indirect(file, heap, root, rows, 0, 0)
                : read_direct(file, heap, root, heap->start, 0);
}

/* Finds an object in its id (tiny objects) or in the block that contains its offset. */
fmo_h5_code fmo_h5_heap_find(fmo_h5_file *file, const fmo_h5_heap *heap, const unsigned char *id,
                             fmo_bytes *object)
{
    fmo_bytes b = fmo_bytes_of(id, heap->id_bytes);
    uint64_t head = fmo_bytes_take(&b, 1), kind = head >> 4 & 3;
    if (head >> 6) return FMO_H5_BAD(file, "an object of a heap has a wrong name");
    if (kind == 2) { /* tiny object, stored in the id */
        if (heap->id_bytes > 17)
            return FMO_H5_UNKNOWN(file, "a heap with long names; h5repack IN OUT converts it");
        *object = fmo_bytes_cut(&b, (head & 15) + 1);
        return object->bad ? FMO_H5_BAD(file, "an object of a heap has a wrong name") : FMO_H5_OK;
    }
    uint64_t offset = fmo_bytes_take(&b, heap->offset_bytes);
    uint64_t length = fmo_bytes_take(&b, heap->length_bytes);
    size_t low = 0, high = heap->block_num; /* finds the first block beyond the offset */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (heap->block[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const fmo_h5_block *block = heap->block + low - 1;
    if (kind != 0 || low == 0 || offset - block->offset > block->size ||
        length > block->size - (offset - block->offset))
        return FMO_H5_BAD(file, "an object of a heap is not there");
    *object = fmo_bytes_of(block->bytes + (offset - block->offset), (size_t)length);
    return FMO_H5_OK;
}
