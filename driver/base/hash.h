/* 64-bit FNV-1a hash, used to compare data between ranks. */
#ifndef FMO_BASE_HASH_H
#define FMO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t driver_hash_of_nothing = 14695981039346656037u;

static inline void driver_hash(uint64_t *sum, const void *bytes, size_t size)
{
    const unsigned char *b = (const unsigned char *)bytes;
    for (size_t i = 0; i < size; i++) *sum = (*sum ^ b[i]) * 1099511628211u;
}

#endif
