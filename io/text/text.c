/* Reads small text files; declared in text.h. */
#define _GNU_SOURCE /* strtod_l */
#include "io/text/text.h"
#include "io/text/file.h"
#include "io/text/sha256.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER_MAX = 127 /* characters of a number; more digits than any program writes */ };

fmo_status fmo_text_fail(const fmo_text *text, int line, fmo_status status, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    char frame[32] = "", place[32] = "";
    if (text->frame) snprintf(frame, sizeof frame, "frame %d: ", text->frame);
    if (line > 0) snprintf(place, sizeof place, "line %d: ", line);
    return fmo_error_set(text->err, status, "%s: %s%s%s", text->label, frame, place, message);
}

#define INPUT(text, ...) fmo_text_fail(text, 0, FMO_ERR_INPUT, __VA_ARGS__)

static fmo_status read_bytes(fmo_text *text, int descriptor)
{
    size_t done = 0;
    while (done < text->size) {
        ssize_t got = read(descriptor, text->bytes + done, text->size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return INPUT(text, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return INPUT(text, "became shorter while it was read; wait for the program that "
                               "writes it");
        done += (size_t)got;
    }
    text->bytes[text->size] = '\0';
    return FMO_OK;
}

/* Returns true if a UTF-8 byte order mark comes next. */
static bool begins_with_mark(const char *at, size_t size)
{
    return size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0;
}

/* Returns the program that unpacks a compressed file, by its first bytes; NULL if it is none. */
static const char *unpacker_of(const char *bytes, size_t size)
{
    static const struct {
        const char *head, *program;
    } known[] = {{"\x1f\x8b", "gunzip"},
                 {"BZh", "bunzip2"},
                 {"\xfd"
                  "7zXZ",
                  "unxz"},
                 {"\x28\xb5\x2f\xfd", "unzstd"},
                 {"PK\x03\x04", "unzip"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (size > strlen(known[k].head) &&
            memcmp(bytes, known[k].head, strlen(known[k].head)) == 0)
            return known[k].program;
    return NULL;
}

/* Opens the file, checks its size, reads and hashes it, and skips a byte order mark. */
static fmo_status read_file(fmo_text *text, const char *path, size_t max_bytes, const char *what,
                            int *descriptor)
{
    struct stat info;
    char directory[128], empty[128];
    snprintf(directory, sizeof directory, "is a directory; expected %s", what);
    snprintf(empty, sizeof empty, "the file is empty; expected %s", what);
    const fmo_file_hints hints = {directory, empty};
    fmo_status status = fmo_file_open(path, text->label, &hints, descriptor, &info, text->err);
    if (status != FMO_OK) return status;
    if ((unsigned long long)info.st_size > max_bytes)
        return INPUT(text, "%lld bytes are too many for %s (at most %zu are read)",
                     (long long)info.st_size, what, max_bytes);
    text->size = (size_t)info.st_size;
    text->bytes = malloc(text->size + 1);
    text->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!text->bytes || !text->plain)
        return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    status = read_bytes(text, *descriptor);
    if (status != FMO_OK) return status;
    const char *unpacker = unpacker_of(text->bytes, text->size);
    if (unpacker)
        return INPUT(text, "is compressed; unpack it first (%s), %s is plain text", unpacker, what);
    if (memchr(text->bytes, '\0', text->size))
        return INPUT(text, "holds binary data; expected %s, which is plain text", what);
    fmo_sha256_bytes(text->bytes, text->size, text->sha256);
    text->next = text->bytes;
    if (begins_with_mark(text->next, text->size)) text->next += 3;
    return FMO_OK;
}

fmo_status fmo_text_read(fmo_text *text, const char *path, size_t max_bytes, const char *what,
                         fmo_error *err)
{
    int descriptor = -1;
    *text = (fmo_text){.err = err};
    fmo_path_label(path, text->label, sizeof text->label);
    fmo_status status = read_file(text, path, max_bytes, what, &descriptor);
    if (descriptor >= 0) close(descriptor);
    return status;
}

void fmo_text_close(fmo_text *text)
{
    free(text->bytes);
    if (text->plain) freelocale(text->plain);
    text->bytes = NULL;
    text->plain = (locale_t)0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Files that were joined may have a byte order mark at the start of any line. */
bool fmo_text_line(fmo_text *text, fmo_word *line)
{
    const char *end = text->bytes + text->size;
    if (text->next >= end) return false;
    const char *stop = memchr(text->next, '\n', (size_t)(end - text->next));
    *line = (fmo_word){text->next, (size_t)((stop ? stop : end) - text->next)};
    text->next = stop ? stop + 1 : end;
    text->line++;
    if (begins_with_mark(line->at, line->size)) line->at += 3, line->size -= 3;
    while (line->size && is_blank(line->at[line->size - 1])) line->size--;
    return true;
}

bool fmo_text_word(fmo_word *line, fmo_word *word)
{
    while (line->size && is_blank(*line->at)) line->at++, line->size--;
    *word = (fmo_word){line->at, 0};
    while (line->size && !is_blank(*line->at)) line->at++, line->size--, word->size++;
    return word->size > 0;
}

const char *fmo_text_quote(fmo_word word, char quote[FMO_QUOTE_SIZE])
{
    size_t n = word.size < FMO_QUOTE_SIZE ? word.size : FMO_QUOTE_SIZE - 4;
    for (size_t i = 0; i < n; i++)
        quote[i] = word.at[i] < ' ' || word.at[i] > '~' ? '?' : word.at[i];
    strcpy(quote + n, n < word.size ? "..." : "");
    return quote;
}

static size_t digits(const char *at)
{
    return strspn(at, "0123456789");
}

/* Checks the syntax first, since strtod would also accept "inf", "nan" and hexadecimal numbers. */
bool fmo_text_real(const fmo_text *text, fmo_word word, double *value)
{
    char number[NUMBER_MAX + 1];
    if (!word.size || word.size > NUMBER_MAX) return false;
    memcpy(number, word.at, word.size);
    number[word.size] = '\0';
    char *at = number;
    at += *at == '+' || *at == '-';
    size_t before = digits(at), after = 0;
    at += before;
    if (*at == '.') {
        after = digits(++at);
        at += after;
    }
    if (!before && !after) return false;
    if (strncmp(at, "*^", 2) == 0) { /* Mathematica's 1.2*^-6 */
        memmove(at, at + 1, strlen(at));
        *at = 'e';
    }
    if (*at && strchr("eEdD", *at)) {
        *at++ = 'e';
        at += *at == '+' || *at == '-';
        size_t exponent = digits(at);
        if (!exponent) return false;
        at += exponent;
    }
    if (*at) return false;
    *value = strtod_l(number, NULL, text->plain);
    return isfinite(*value);
}

bool fmo_text_count(fmo_word word, long limit, long *value)
{
    long n = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] < '0' || word.at[i] > '9') return false;
        n = 10 * n + (word.at[i] - '0');
        if (n > limit) return false;
    }
    *value = n;
    return word.size > 0;
}
