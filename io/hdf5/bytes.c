/* Decoding of bytes and checksums; declared in bytes.h. */
#include "io/hdf5/bytes.h"

#include <string.h>

fmo_bytes fmo_bytes_of(const unsigned char *bytes, size_t size)
{
    return (fmo_bytes){bytes, bytes + size, false};
}

size_t fmo_bytes_left(const fmo_bytes *b)
{
    return (size_t)(b->end - b->at);
}

void fmo_bytes_skip(fmo_bytes *b, uint64_t n)
{
    if (b->bad || n > fmo_bytes_left(b)) {
        b->bad = true;
        b->at = b->end;
    } else
        b->at += n;
}

uint64_t fmo_little_endian(const unsigned char *bytes, unsigned n)
{
    uint64_t value = 0;
    while (n-- > 0) value = value << 8 | bytes[n];
    return value;
}

uint64_t fmo_bytes_take(fmo_bytes *b, unsigned n)
{
    const unsigned char *from = b->at;
    fmo_bytes_skip(b, n);
    return b->bad ? 0 : fmo_little_endian(from, n);
}

fmo_bytes fmo_bytes_cut(fmo_bytes *b, uint64_t n)
{
    const unsigned char *from = b->at;
    fmo_bytes_skip(b, n);
    return b->bad ? (fmo_bytes){b->end, b->end, true} : (fmo_bytes){from, from + n, false};
}

bool fmo_bytes_match(fmo_bytes *b, const char *text)
{
    const unsigned char *from = b->at;
    size_t n = strlen(text);
    fmo_bytes_skip(b, n);
    return !b->bad && memcmp(from, text, n) == 0;
}

const char *fmo_bytes_text(fmo_bytes *b, uint64_t n)
{
    const unsigned char *from = b->at;
    fmo_bytes_skip(b, n);
    return b->bad || memchr(from, 0, (size_t)n) ? NULL : (const char *)from;
}

unsigned fmo_log2(uint64_t n)
{
    return n ? 63u - (unsigned)__builtin_clzll(n) : 0u;
}

unsigned fmo_bytes_width(uint64_t limit)
{
    return fmo_log2(limit) / 8 + 1;
}

static uint32_t rotate(uint32_t x, unsigned k)
{
    return x << k | x >> (32 - k);
}

/* Mixes blocks of 12 bytes into three words; the last block is padded with zeros. */
uint32_t fmo_checksum(const unsigned char *k, size_t size)
{
    uint32_t a = 0xdeadbeefu + (uint32_t)size, b = a, c = a;
    while (size > 12) {
        a += (uint32_t)fmo_little_endian(k, 4);
        b += (uint32_t)fmo_little_endian(k + 4, 4);
        c += (uint32_t)fmo_little_endian(k + 8, 4);
        a = (a - c) ^ rotate(c, 4), c += b;
        b = (b - a) ^ rotate(a, 6), a += c;
        c = (c - b) ^ rotate(b, 8), b += a;
        a = (a - c) ^ rotate(c, 16), c += b;
        b = (b - a) ^ rotate(a, 19), a += c;
        c = (c - b) ^ rotate(b, 4), b += a;
        k += 12;
        size -= 12;
    }
    if (!size) return c;
    unsigned char last[12] = {0};
    memcpy(last, k, size);
    a += (uint32_t)fmo_little_endian(last, 4);
    b += (uint32_t)fmo_little_endian(last + 4, 4);
    c += (uint32_t)fmo_little_endian(last + 8, 4);
    c = (c ^ b) - rotate(b, 14);
    a = (a ^ c) - rotate(c, 11);
    b = (b ^ a) - rotate(a, 25);
    c = (c ^ b) - rotate(b, 16);
    a = (a ^ c) - rotate(c, 4);
    b = (b ^ a) - rotate(a, 14);
    return (c ^ b) - rotate(b, 24);
}

/* Sums words and partial sums modulo 65535, reducing both sums after each block. */
uint32_t fmo_fletcher32(const unsigned char *bytes, size_t size)
{
    uint32_t sum1 = 0, sum2 = 0;
    size_t words = size / 2;
    while (words) {
        size_t block = words < 360 ? words : 360; /* 32-bit sums do not overflow within 360 words */
        words -= block;
        while (block--) {
            sum1 += (uint32_t)bytes[0] << 8 | bytes[1];
            sum2 += sum1;
            bytes += 2;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (size % 2) {
        sum1 += (uint32_t)*bytes << 8;
        sum2 += sum1;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}
