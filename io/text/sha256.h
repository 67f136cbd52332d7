/* SHA-256 of bytes and files (FIPS 180-4): which bytes a data set was made of. */
#ifndef FMO_IO_TEXT_SHA256_H
#define FMO_IO_TEXT_SHA256_H

#include <stdbool.h>
#include <stddef.h>

/* 64 hexadecimal digits and a zero. */
void fmo_sha256_bytes(const void *bytes, size_t size, char hex[65]);

/* Of an open file from its beginning; its position stays. No memory is allocated. False if it
 * cannot be read: errno. */
bool fmo_sha256_file(int descriptor, char hex[65]);

#endif
