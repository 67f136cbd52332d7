/* Bounds-checked decoding of bytes, and the checksums of HDF5. Next: bytes.c. */
#ifndef FMO_IO_HDF5_BYTES_H
#define FMO_IO_HDF5_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A position in a structure. Reading past the end returns 0 and sets `bad`, which is never
 * cleared. */
typedef struct fmo_bytes {
    const unsigned char *at, *end;
    bool bad;
} fmo_bytes;

fmo_bytes fmo_bytes_of(const unsigned char *bytes, size_t size);
size_t fmo_bytes_left(const fmo_bytes *b);
void fmo_bytes_skip(fmo_bytes *b, uint64_t n);

/* Reads the next n (0 to 8) bytes as a little-endian number. */
uint64_t fmo_bytes_take(fmo_bytes *b, unsigned n);

/* Splits off the next n bytes as a structure; if there are fewer, returns an empty one with `bad`
 * set. */
fmo_bytes fmo_bytes_cut(fmo_bytes *b, uint64_t n);

/* Consumes as many bytes as the text has, and returns true if they are equal to it. */
bool fmo_bytes_match(fmo_bytes *b, const char *text);

/* Consumes and returns a text of n bytes; NULL if it contains a zero byte. */
const char *fmo_bytes_text(fmo_bytes *b, uint64_t n);

uint64_t fmo_little_endian(const unsigned char *bytes, unsigned n);

/* Returns the number of bytes that HDF5 uses for a number up to `limit`: log2(limit)/8 + 1. */
unsigned fmo_bytes_width(uint64_t limit);

/* Returns log2(n), rounded down; 0 for n = 0. */
unsigned fmo_log2(uint64_t n);

/* Checksum of metadata: Bob Jenkins's lookup3 (public domain, 2006), hashlittle with initial value
 * 0. */
uint32_t fmo_checksum(const unsigned char *bytes, size_t size);

/* Checksum of the filter fletcher32, over 16-bit big-endian words. */
uint32_t fmo_fletcher32(const unsigned char *bytes, size_t size);

#endif
