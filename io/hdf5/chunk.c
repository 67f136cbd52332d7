/* Where a chunk is, noted by whoever reads an index over chunks (layout.c, chunk_index.c). */
#include "io/hdf5/layout.h"

fmo_h5_code fmo_h5_note_chunk(fmo_h5_file *file, fmo_h5_dataset *d, const uint64_t *scaled,
                              fmo_h5_chunk chunk)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < d->space.rank; i++) {
        if (scaled[i] >= d->grid[i]) return FMO_H5_BAD(file, "a chunk is out of its shape");
        at = at * d->grid[i] + scaled[i];
    }
    if (d->chunk[at].address != FMO_H5_NOWHERE)
        return FMO_H5_BAD(file, "chunk %llu is there twice", (unsigned long long)at);
    if (!d->filter_num && d->odd_filter < 0 && chunk.size != d->chunk_bytes)
        return FMO_H5_BAD(file, "chunk %llu has %llu bytes of %llu", (unsigned long long)at,
                          (unsigned long long)chunk.size, (unsigned long long)d->chunk_bytes);
    if (!chunk.size) return FMO_H5_BAD(file, "chunk %llu is empty", (unsigned long long)at);
    d->chunk[at] = chunk;
    d->chunks_there++;
    d->stored += chunk.size;
    return fmo_h5_own(file, chunk.address, chunk.size, "a chunk");
}
