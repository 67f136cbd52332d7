/* Bytes taken apart without leaving them, and the checksums of HDF5. */
#ifndef FMO_IO_HDF5_BYTES_H
#define FMO_IO_HDF5_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A position in a structure. Reading past its end gives 0 and sets `bad`, which stays. */
typedef struct fmo_bytes {
    const unsigned char *at, *end;
    bool bad;
} fmo_bytes;

fmo_bytes fmo_bytes_of(const unsigned char *bytes, size_t size);
size_t fmo_bytes_left(const fmo_bytes *b);
void fmo_bytes_skip(fmo_bytes *b, uint64_t n);

/* The next n (0 to 8) bytes as a little-endian number. */
uint64_t fmo_bytes_take(fmo_bytes *b, unsigned n);

/* The next n bytes as a structure of their own; an empty bad one when there are fewer. */
fmo_bytes fmo_bytes_cut(fmo_bytes *b, uint64_t n);

/* Are the next bytes this text? They are taken. */
bool fmo_bytes_match(fmo_bytes *b, const char *text);

/* A text of known length: zero bytes in it are refused (NULL). Taken. */
const char *fmo_bytes_text(fmo_bytes *b, uint64_t n);

uint64_t fmo_little_endian(const unsigned char *bytes, unsigned n);

/* Bytes that a number up to `limit` takes, as HDF5 counts them: log2(limit)/8 + 1. */
unsigned fmo_bytes_width(uint64_t limit);

/* log2, rounded down; 0 for 0 */
unsigned fmo_log2(uint64_t n);

/* Metadata: Bob Jenkins' lookup3 (public domain, 2006), hashlittle with initial value 0. */
uint32_t fmo_checksum(const unsigned char *bytes, size_t size);

/* Filter fletcher32, on 16-bit big-endian words. */
uint32_t fmo_fletcher32(const unsigned char *bytes, size_t size);

#endif
