/* SHA-256 of bytes and files (FIPS 180-4), which identifies the input of a calculation. */
#ifndef FMO_IO_TEXT_SHA256_H
#define FMO_IO_TEXT_SHA256_H

#include <stdbool.h>
#include <stddef.h>

/* Writes 64 hexadecimal digits and a terminating zero. */
void fmo_sha256_bytes(const void *bytes, size_t size, char hex[65]);

/* Hashes an open file from its beginning, without changing its position or allocating memory.
 * Returns false if it cannot be read; errno is set. */
bool fmo_sha256_file(int descriptor, char hex[65]);

#endif
