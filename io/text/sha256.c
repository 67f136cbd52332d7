/* SHA-256; declared in sha256.h. Names follow FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1 and 6.2. */
#include "io/text/sha256.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64, PIECE = 256 * BLOCK /* bytes read from a file at once */ };

typedef struct sha256 {
    uint32_t H[8];
    uint64_t size;             /* number of bytes hashed so far */
    unsigned char rest[BLOCK]; /* the last size % BLOCK of them */
} sha256;

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* Hash computation of one block (section 6.2.2). */
static void compress_block(uint32_t H[8], const unsigned char *block)
{
    uint32_t W[64];
    for (int t = 0; t < 16; t++)
        W[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        const uint32_t x = W[t - 15], y = W[t - 2];
        W[t] = W[t - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + W[t - 7] +
               (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
    for (int t = 0; t < 64; t++) {
        const uint32_t T1 =
            h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + W[t];
        const uint32_t T2 =
            (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + T1;
        d = c, c = b, b = a, a = T1 + T2;
    }
    const uint32_t v[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) H[i] += v[i];
}

static void update(sha256 *s, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const size_t at = s->size % BLOCK, n = size < BLOCK - at ? size : BLOCK - at;
        memcpy(s->rest + at, bytes, n);
        if (at + n == BLOCK) compress_block(s->H, s->rest);
        s->size += n;
        bytes += n;
        size -= n;
    }
}

static void finish(sha256 *s, char hex[65])
{
    static const unsigned char padding[BLOCK] = {0x80};
    const uint64_t bits = 8 * s->size;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    update(s, padding, 1 + (2 * BLOCK - 9 - s->size % BLOCK) % BLOCK);
    update(s, length, sizeof length);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->H[i]);
}

/* First 32 bits of the fractional parts of the square roots of the first 8 primes. */
static const sha256 beginning = {.H = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                       0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

void fmo_sha256_bytes(const void *bytes, size_t size, char hex[65])
{
    sha256 s = beginning;
    update(&s, bytes, size);
    finish(&s, hex);
}

bool fmo_sha256_file(int descriptor, char hex[65])
{
    unsigned char piece[PIECE];
    sha256 s = beginning;
    ssize_t got;
    do {
        got = pread(descriptor, piece, sizeof piece, (off_t)s.size);
        if (got > 0) update(&s, piece, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got == 0) finish(&s, hex);
    return got == 0;
}
