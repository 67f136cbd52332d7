/* The list of chunks of a dataset, filled by the readers of chunk indexes (layout.c,
 * chunk_index.c). Declared in layout.h. */
#include "io/hdf5/layout.h"

#include <stdlib.h>

/* Checks the coordinates and size of a chunk before adding it. */
fmo_h5_code fmo_h5_note_chunk(fmo_h5_file *file, fmo_h5_dataset *d, const uint64_t *scaled,
                              fmo_h5_chunk chunk)
{
    chunk.at = 0;
    for (unsigned i = 0; i < d->space.rank; i++) {
        if (scaled[i] >= d->grid[i]) return FMO_H5_BAD(file, "a chunk is outside the shape");
        chunk.at = chunk.at * d->grid[i] + scaled[i];
    }
    if (!d->filtered && chunk.size != d->chunk_bytes)
        return FMO_H5_BAD(file, "chunk %llu has %llu bytes of %llu", (unsigned long long)chunk.at,
                          (unsigned long long)chunk.size, (unsigned long long)d->chunk_bytes);
    if (!chunk.size) return FMO_H5_BAD(file, "chunk %llu is empty", (unsigned long long)chunk.at);
    if (d->chunks_there == d->chunk_capacity) {
        size_t capacity = 2 * d->chunk_capacity + 16;
        fmo_h5_chunk *more = realloc(d->chunk, capacity * sizeof *more);
        if (!more) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        d->chunk = more;
        d->chunk_capacity = capacity;
    }
    d->chunk[d->chunks_there++] = chunk;
    d->stored += chunk.size;
    return fmo_h5_own(file, chunk.address, chunk.size, "a chunk");
}

static int compare_places(const void *a, const void *b)
{
    const fmo_h5_chunk *p = a, *q = b;
    return p->at < q->at ? -1 : p->at > q->at;
}

fmo_h5_code fmo_h5_sort_chunks(fmo_h5_file *file, fmo_h5_dataset *d)
{
    if (!d->chunks_there) return FMO_H5_OK;
    qsort(d->chunk, d->chunks_there, sizeof *d->chunk, compare_places);
    for (size_t i = 1; i < d->chunks_there; i++)
        if (d->chunk[i].at == d->chunk[i - 1].at)
            return FMO_H5_BAD(file, "chunk %llu is stored twice",
                              (unsigned long long)d->chunk[i].at);
    return FMO_H5_OK;
}
