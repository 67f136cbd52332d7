/* Converts the text of a value and stores it in its field. Strict: trailing characters are refused.
 * See option.h. */
#include "driver/cli/option.h"
#include "driver/base/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(const cli_option *row, void *options)
{
    return (char *)options + row->at;
}

void cli_choice_list(const cli_choices *choices, const char *last, char *text, size_t size)
{
    int left = 0;
    for (int i = 0; i < choices->count; i++) left += choices->name(i) != NULL;
    size_t used = 0;
    const char *between = "";
    for (int i = 0; i < choices->count && used < size; i++) {
        const char *name = choices->name(i);
        if (!name) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", between, name);
        between = --left == 1 ? last : ", ";
    }
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Reads digits only, with low <= number <= high. */
static bool read_count(const char *text, double low, double high, int *count)
{
    const size_t digits = strspn(text, "0123456789");
    errno = 0;
    const long number = strtol(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno != 0 || (double)number < low ||
        (double)number > high)
        return false;
    *count = (int)number;
    return true;
}

static fmo_status set_count(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    if (read_count(value, row->low, row->high, field_of(row, options))) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "--%s '%.64s': expected a whole number from %.0f to %.0f", row->name,
                         value, row->low, row->high);
}

static fmo_status set_signed(const cli_option *row, const char *value, void *options,
                             fmo_error *err)
{
    const bool negative = *value == '-';
    int size = 0;
    if (!read_count(value + (negative || *value == '+'), 0.0, row->high, &size))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected a whole number such as 1 or -1", row->name,
                             value);
    *(int *)field_of(row, options) = negative ? -size : size;
    return FMO_OK;
}

/* Reads a non-negative whole number, which may be written as 1e7 or 2^28. Returns -1 on failure;
 * *end points to the first character that was not read. */
static int64_t whole(const char *text, const char **end)
{
    const double limit = 9e15; /* doubles represent whole numbers exactly up to here */
    size_t digits = strspn(text, "0123456789");
    *end = text + digits;
    if (digits == 0 || digits > 15) return -1;
    double number = 0.0;
    for (size_t i = 0; i < digits; i++) number = 10.0 * number + (text[i] - '0');
    if (**end == 'e' || **end == '^') {
        const bool power = **end == '^';
        const char *exponent = *end + 1;
        digits = strspn(exponent, "0123456789");
        if (digits == 0 || digits > 2) return -1;
        const int e = atoi(exponent);
        *end = exponent + digits;
        number = power ? pow(number, e) : number * pow(10.0, e);
    }
    return number <= limit ? (int64_t)number : -1;
}

static fmo_status refuse_whole(const cli_option *row, const char *value, fmo_error *err)
{
    return fmo_error_set(
        err, FMO_ERR_ARGUMENT, "--%s '%.64s': expected %s from %g to %g, such as 1000, 1e7 or 2^28",
        row->name, value,
        row->kind == CLI_LIST ? "whole numbers, separated by commas," : "a whole number", row->low,
        row->high);
}

static fmo_status set_whole(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    const char *end;
    const int64_t number = whole(value, &end);
    if (number < 0 || *end || (double)number < row->low || (double)number > row->high)
        return refuse_whole(row, value, err);
    *(int64_t *)field_of(row, options) = number;
    return FMO_OK;
}

/* Reads comma-separated whole numbers. */
static fmo_status set_list(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    cli_list read = {.count = 0};
    for (const char *word = value;;) {
        const char *end;
        const int64_t number = whole(word, &end);
        if (number < 0 || (*end && *end != ',') || (double)number < row->low ||
            (double)number > row->high)
            return refuse_whole(row, value, err);
        if (read.count == CLI_LIST_MAX)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s: at most %d numbers", row->name,
                                 CLI_LIST_MAX);
        read.value[read.count++] = number;
        if (!*end) break;
        word = end + 1;
    }
    *(cli_list *)field_of(row, options) = read;
    return FMO_OK;
}

static fmo_status set_real(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    char *end = NULL;
    errno = 0;
    const double number = strtod(value, &end);
    if (strspn(value, "0123456789.") == 0 || strpbrk(value, "xX") || end == value || *end != '\0' ||
        errno != 0 || !(number >= row->low && number <= row->high))
        return fmo_error_set(
            err, FMO_ERR_ARGUMENT, "--%s '%.64s': expected a number from %g to %g%s%s", row->name,
            value, row->low, row->high, row->what ? ", such as " : "", row->what ? row->what : "");
    *(double *)field_of(row, options) = number;
    return FMO_OK;
}

/* Reads a number of bytes; the suffixes K, M, G and T multiply it by powers of 1024. */
static fmo_status set_size(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    static const char suffixes[] = "KMGT";
    const size_t digits = strspn(value, "0123456789");
    errno = 0;
    const unsigned long long bytes = strtoull(value, NULL, 10);
    const char *rest = value + digits;
    int shift = 0;
    if (digits > 0 && errno == 0 && *rest != '\0') {
        const char *suffix = strchr(suffixes, *rest);
        if (suffix && rest[1] == '\0') shift = 10 * (int)(suffix - suffixes + 1);
    }
    if (digits == 0 || errno != 0 || (*rest != '\0' && shift == 0) || bytes == 0 ||
        bytes > SIZE_MAX >> shift)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected bytes, or a whole number with K, M, G or T",
                             row->name, value);
    *(size_t *)field_of(row, options) = (size_t)bytes << shift;
    return FMO_OK;
}

/* ---- names --------------------------------------------------------------------------------- */

static fmo_status set_text(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    if (*value == '\0')
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s: expected %s", row->name,
                             row->what ? row->what : "a name");
    *(const char **)field_of(row, options) = value;
    return FMO_OK;
}

static fmo_status set_choice(const cli_option *row, const char *value, void *options,
                             fmo_error *err)
{
    char list[256] = "";
    for (int i = 0; i < row->choices->count; i++) {
        const char *name = row->choices->name(i);
        if (!name || strcmp(value, name) != 0) continue;
        memcpy(field_of(row, options), &i, sizeof i);
        return FMO_OK;
    }
    cli_choice_list(row->choices, " or ", list, sizeof list);
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s '%.64s': expected %s", row->name, value,
                         list);
}

/* Returns the bits of the choices that match a word of the given length. */
static int64_t bits_of(const cli_choices *choices, const char *word, size_t length)
{
    const bool all = length == 3 && strncmp(word, "all", 3) == 0;
    int64_t bits = 0;
    for (int i = 0; i < choices->count; i++) {
        const char *name = choices->name(i);
        if (name && (all || (strlen(name) == length && strncmp(word, name, length) == 0)))
            bits |= (int64_t)1 << i;
    }
    return bits;
}

/* Sets an option whose value is a set: comma-separated names of choices. */
static fmo_status set_set(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    int64_t read = 0;
    for (const char *word = value;;) {
        const size_t length = strcspn(word, ",");
        const int64_t found = bits_of(row->choices, word, length);
        if (!found) {
            char list[256] = "";
            cli_choice_list(row->choices, ", ", list, sizeof list);
            return fmo_error_set(
                err, FMO_ERR_ARGUMENT,
                "--%s '%.64s': expected one or more of all, %s, separated by commas", row->name,
                value, list);
        }
        read |= found;
        if (!word[length]) break;
        word += length + 1;
    }
    *(int64_t *)field_of(row, options) = read;
    return FMO_OK;
}

/* ---- any ----------------------------------------------------------------------------------- */

/* Calls the conversion of the row's kind. */
fmo_status cli_set(const cli_option *row, const char *value, void *options, fmo_error *err)
{
    if (!value) value = row->without;
    switch (row->kind) {
    case CLI_FLAG:
        *(bool *)field_of(row, options) = true;
        break;
    case CLI_SWITCH:
        *(int *)field_of(row, options) = 1;
        break;
    case CLI_ACTION:
        *(int *)field_of(row, options) = (int)row->low;
        break;
    case CLI_COUNT:
        return set_count(row, value, options, err);
    case CLI_SIGNED:
        return set_signed(row, value, options, err);
    case CLI_WHOLE:
        return set_whole(row, value, options, err);
    case CLI_LIST:
        return set_list(row, value, options, err);
    case CLI_REAL:
        return set_real(row, value, options, err);
    case CLI_SIZE:
        return set_size(row, value, options, err);
    case CLI_TEXT:
        return set_text(row, value, options, err);
    case CLI_CHOICE:
        return set_choice(row, value, options, err);
    case CLI_SET:
        return set_set(row, value, options, err);
    }
    return FMO_OK;
}

/* Hashes the bytes of a field or, for CLI_TEXT, its string. */
uint64_t cli_digest(const cli_option *row, const void *options)
{
    static const size_t bytes[] = {
        [CLI_FLAG] = sizeof(bool),     [CLI_SWITCH] = sizeof(int),  [CLI_ACTION] = sizeof(int),
        [CLI_COUNT] = sizeof(int),     [CLI_SIGNED] = sizeof(int),  [CLI_WHOLE] = sizeof(int64_t),
        [CLI_LIST] = sizeof(cli_list), [CLI_REAL] = sizeof(double), [CLI_SIZE] = sizeof(size_t),
        [CLI_CHOICE] = sizeof(int),    [CLI_SET] = sizeof(int64_t)};
    const char *const field = (const char *)options + row->at;
    uint64_t sum = driver_hash_of_nothing;
    const char *text;
    if (row->kind != CLI_TEXT) {
        driver_hash(&sum, field, bytes[row->kind]);
        return sum;
    }
    memcpy(&text, field, sizeof text);
    if (text) driver_hash(&sum, text, strlen(text) + 1);
    return sum;
}
