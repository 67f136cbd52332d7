/* Replaces characters that are not printable; see harmless.h. */
#include "base/harmless.h"

#include <stdbool.h>
#include <stdint.h>

/* Decodes the UTF-8 character at `at` into *number. Returns its length in bytes; for an invalid
 * character returns 1 and sets *number to 0. */
static int decode(const unsigned char *at, uint32_t *number)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    *number = 0;
    if (!length) return 1;
    uint32_t value = length == 1 ? *at : *at & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) return 1; /* also the terminating zero */
        value = value << 6 | (at[i] & 0x3fu);
    }
    if (value < least[length] || value > 0x10ffff) return 1;
    *number = value;
    return length;
}

static bool is_printable(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) &&        /* control characters */
           !(c >= 0x200b && c <= 0x200f) &&                /* zero width, direction marks */
           !(c >= 0x2028 && c <= 0x202e) &&                /* line separators, direction */
           !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff && /* invisible, direction */
           c != 0xfffe && c != 0xffff &&                   /* noncharacters, not valid in XML */
           !(c >= 0xd800 && c < 0xe000);                   /* surrogates */
}

/* Copies valid printable characters forward in the same buffer and replaces the others by '?'. */
void fmo_text_harmless(char *text)
{
    unsigned char *from = (unsigned char *)text, *to = from;
    while (*from) {
        uint32_t c;
        int length = decode(from, &c);
        if (!is_printable(c)) {
            *to++ = '?';
            from += length;
        } else
            while (length--) *to++ = *from++;
    }
    *to = '\0';
}
