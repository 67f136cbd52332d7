/* Reads point charges beside a molecule from a text file. The format and what is rejected:
 * docs/reference/scf.md. Next: comment.c, which reads the unit. */
#include "io/molecule/comment.h"
#include "base/arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 28 };
#define COORDINATE_MAX 9.4e5 /* bohr, as in xyz.c */
#define CHARGE_MAX     1e5   /* e */

#define INPUT(text, line, ...) fmo_text_fail(text, line, FMO_ERR_INPUT, __VA_ARGS__)

/* What has been read so far. */
typedef struct reading {
    fmo_text text;
    fmo_unit unit; /* FMO_UNIT_FILE until a comment or the caller states it */
    fmo_point_charges *to;
    size_t capacity;
    long count; /* the number in the first line; -1: there is none */
    int count_line;
    int title_line; /* line that was taken as the comment after the number; 0: none */
} reading;

void fmo_point_charges_destroy(fmo_point_charges *charges)
{
    if (!charges) return;
    free(charges->charge);
    free(charges->coord);
    free(charges->line);
    free(charges);
}

/* Takes the unit that a comment states, unless the caller has given it. */
static fmo_status read_comment(reading *r, fmo_word comment)
{
    if (r->unit != FMO_UNIT_FILE) return FMO_OK;
    char *const words = strndup(comment.at, comment.size);
    if (!words) return fmo_text_fail(&r->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    const fmo_status status = fmo_comment_read_unit(&r->text, words, &r->unit);
    free(words);
    return status;
}

/* Cuts a comment, which begins with '#', off a line. */
static fmo_status cut_comment(reading *r, fmo_word *line)
{
    const char *const sign = memchr(line->at, '#', line->size);
    if (!sign) return FMO_OK;
    const fmo_word comment = {sign, (size_t)(line->at + line->size - sign)};
    line->size = (size_t)(sign - line->at);
    return read_comment(r, comment);
}

static bool make_space(reading *r)
{
    fmo_point_charges *const to = r->to;
    if (to->num < r->capacity) return true;
    const size_t more = 2 * r->capacity + 64;
    double *charge = realloc(to->charge, more * sizeof *charge);
    if (charge) to->charge = charge;
    double *coord = realloc(to->coord, 3 * more * sizeof *coord);
    if (coord) to->coord = coord;
    int *line = realloc(to->line, more * sizeof *line);
    if (line) to->line = line;
    if (charge && coord && line) r->capacity = more;
    return charge && coord && line;
}

/* Reads the four numbers of a line, in the units of the file. */
static fmo_status read_charge(reading *r, fmo_word line)
{
    static const char *const names[] = {"charge", "x", "y", "z"};
    const fmo_text *const text = &r->text;
    double value[4];
    char quote[FMO_QUOTE_SIZE];
    fmo_word word;
    for (int c = 0; c < 4; c++) {
        if (!fmo_text_word(&line, &word))
            return INPUT(text, text->line, "%d of 4 numbers; expected charge, x, y, z", c);
        if (!fmo_text_real(text, word, &value[c]))
            return INPUT(text, text->line,
                         "%s = '%s': expected a finite number; each line has charge, x, y, z",
                         names[c], fmo_text_quote(word, quote));
    }
    if (fmo_text_word(&line, &word))
        return INPUT(text, text->line,
                     "'%s' stands behind charge, x, y, z; remove it, or write # before it",
                     fmo_text_quote(word, quote));
    if (!(fabs(value[0]) <= CHARGE_MAX))
        return INPUT(text, text->line, "charge = %g: expected at most %g e; correct it", value[0],
                     CHARGE_MAX);
    if (!make_space(r)) return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory for its charges");
    fmo_point_charges *const to = r->to;
    to->charge[to->num] = value[0];
    memcpy(to->coord + 3 * to->num, value + 1, 3 * sizeof *value);
    to->line[to->num++] = text->line;
    return FMO_OK;
}

/* Returns true if a line is four numbers. */
static bool is_charge(const fmo_text *text, fmo_word line)
{
    fmo_word word;
    double value;
    for (int c = 0; c < 4; c++)
        if (!fmo_text_word(&line, &word) || !fmo_text_real(text, word, &value)) return false;
    return !fmo_text_word(&line, &word);
}

/* Returns true if the first line that is not empty is the number of charges. */
static bool is_count(reading *r, fmo_word line)
{
    fmo_word word, more;
    return r->count < 0 && r->to->num == 0 && fmo_text_word(&line, &word) &&
           !fmo_text_word(&line, &more) && fmo_text_count(word, 999999999999L, &r->count);
}

/* Reads a line: empty or a comment, the number of charges, the comment of a .xyz file after it, or
 * a charge. */
static fmo_status read_line(reading *r, fmo_word line)
{
    const bool second = r->count >= 0 && r->text.line == r->count_line + 1;
    fmo_word rest, word;
    fmo_status status = cut_comment(r, &line);
    rest = line;
    if (status != FMO_OK || !fmo_text_word(&rest, &word)) return status;
    if (is_count(r, line)) {
        r->count_line = r->text.line;
        return FMO_OK;
    }
    if (second && !is_charge(&r->text, line)) {
        r->title_line = r->text.line;
        return read_comment(r, line);
    }
    return read_charge(r, line);
}

/* Compares the number in the first line with the charges that follow. */
static fmo_status check_count(const reading *r)
{
    char title[80] = "";
    if (r->title_line)
        snprintf(title, sizeof title, " (line %d was taken as a comment)", r->title_line);
    if (r->count >= 0 && (size_t)r->count != r->to->num)
        return INPUT(&r->text, r->count_line,
                     "%ld charges, but %zu follow%s; correct the number, or remove it", r->count,
                     r->to->num, title);
    if (r->to->num == 0)
        return INPUT(&r->text, 0, "has no charges; write lines of charge, x, y, z");
    return FMO_OK;
}

/* Converts the coordinates to bohr, in the unit that is known at the end of the file. */
static fmo_status convert(const reading *r)
{
    const bool bohr = r->unit == FMO_UNIT_BOHR;
    r->to->unit = bohr ? FMO_UNIT_BOHR : FMO_UNIT_ANGSTROM;
    for (size_t k = 0; k < 3 * r->to->num; k++) {
        double *const x = &r->to->coord[k];
        if (!bohr) *x /= FMO_BOHR_IN_ANGSTROM;
        if (!(fabs(*x) <= COORDINATE_MAX))
            return INPUT(&r->text, r->to->line[k / 3],
                         "%c: a coordinate beyond %g bohr; move the origin", "xyz"[k % 3],
                         COORDINATE_MAX);
    }
    return FMO_OK;
}

/* Reads the file line by line, compares the number of charges, and converts coordinates. */
fmo_status fmo_point_charges_read(const char *path, fmo_unit unit, fmo_point_charges **charges,
                                  fmo_error *err)
{
    static const char call[] = "fmo_point_charges_read";
    if (charges) *charges = NULL;
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(charges));
    if (status != FMO_OK) return status;
    if ((unsigned)unit >= FMO_UNIT_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: unit is none of its enum", call);
    if (!*path)
        return fmo_error_set(err, FMO_ERR_INPUT, "the path is empty; name a file of charges");
    reading r = {.unit = unit, .count = -1, .to = calloc(1, sizeof *r.to)};
    fmo_word line;
    if (!r.to) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read %.200s", path);
    status = fmo_text_read(&r.text, path, BYTES_MAX, "a file of point charges", err);
    while (status == FMO_OK && fmo_text_line(&r.text, &line)) status = read_line(&r, line);
    if (status == FMO_OK) status = check_count(&r);
    if (status == FMO_OK) status = convert(&r);
    fmo_text_close(&r.text);
    if (status == FMO_OK)
        *charges = r.to;
    else
        fmo_point_charges_destroy(r.to);
    return status;
}
