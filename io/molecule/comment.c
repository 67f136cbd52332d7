/* Reads the comment line of a molecule in a .xyz file: keys of extended .xyz, charge and
 * multiplicity. Inputs that are rejected, and why, are listed in docs/reference/basis-sets.md.
 * Called by xyz.c. */
#include "io/molecule/comment.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CHARGE_MAX = 100000 };

#define INPUT(text, line, ...) fmo_text_fail(text, line, FMO_ERR_INPUT, __VA_ARGS__)

/* Returns true if the character can be part of a key. */
static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Returns the start of the value of the next occurrence of `key` at or after `from`, or NULL.
 * Matches "pbc=" in any case, if no letter precedes it; the key may be quoted, and blanks may
 * surround the sign, which is '=' or ':'. */
static const char *find_key_from(const char *comment, const char *from, const char *key)
{
    size_t size = strlen(key);
    for (const char *at = from; *at; at++) {
        if (strncasecmp(at, key, size) != 0 || (at > comment && is_name(at[-1]))) continue;
        const char *sign = at + size;
        if (at > comment && strchr("\"'", at[-1])) sign += *sign == at[-1];
        sign += strspn(sign, " \t");
        if (*sign == '=' || *sign == ':') return sign + 1 + strspn(sign + 1, " \t");
    }
    return NULL;
}
static const char *find_key(const char *comment, const char *key)
{
    return find_key_from(comment, comment, key);
}

/* Returns true if a value begins with a number, perhaps in quotes or brackets. */
static bool begins_with_number(const char *value)
{
    value += strspn(value, "\"'{[( \t");
    if (!isdigit((unsigned char)value[strspn(value, "+-.")])) return false;
    char *end;
    (void)strtod(value, &end);
    return end != value && !is_name(*end);
}

/* Returns true if a comment gives a lattice or a unit cell by lengths or vectors, with the keys of
 * ASE, OVITO and CP2K (Lattice) and of other programs, such as i-PI ("CELL(abcH): 9 9 9 90 90 90").
 * A "cell" whose value is not a number is a word of a title. */
static bool has_cell(const char *comment)
{
    static const char *const cells[] = {"cell",         "unit_cell",  "unitcell",
                                        "unit cell",    "cell_vec",   "cellpar",
                                        "cell(abcABC)", "cell(abcH)", "cell(H)"};
    if (find_key(comment, "Lattice")) return true;
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
        const char *value = find_key(comment, cells[k]);
        if (value && begins_with_number(value)) return true;
    }
    return false;
}

/* Returns true if a pbc value ("F F F", "0 0 0", "false,false,false") has no periodic direction.
 * Any other word counts as periodic. */
static bool says_false(const char *value)
{
    bool quoted = *value && strchr("\"'{[", *value), any = false;
    const char *end = value + quoted + strcspn(value + quoted, quoted ? "\"'}]" : " \t");
    for (const char *at = value + quoted; at < end;) {
        size_t skip = strspn(at, " \t,[]"), size = strcspn(at + skip, " \t,\"'{}[]");
        at += skip;
        if (at >= end) break;
        bool no = (size == 1 && strchr("Ff0", *at)) ||
                  (size == 5 && strncasecmp(at, "false", size) == 0) ||
                  (size == 2 && strncasecmp(at, "no", size) == 0);
        if (!no) return false;
        any = true;
        at += size;
    }
    return any;
}

/* Checks the keys Properties (columns), pbc and Lattice or cell. */
fmo_status fmo_comment_check(const fmo_text *text, const char *comment)
{
    const char *columns = find_key(comment, "Properties");
    if (columns) columns += *columns == '"';
    if (columns && strncasecmp(columns, "species:S:1:pos:R:3", 19) != 0)
        return INPUT(text, text->line,
                     "Properties= does not begin with species:S:1:pos:R:3; write element, x, y, z "
                     "as the first columns");
    const char *periodic = find_key(comment, "pbc");
    if (periodic ? !says_false(periodic) : has_cell(comment))
        return INPUT(text, text->line,
                     "periodic systems are not supported; if this one is a molecule in a box, "
                     "write pbc=\"F F F\" or leave out Lattice=, cell= or the like");
    return FMO_OK;
}

/* Words that may mean another unit of length are refused; others, such as eV, are not about
 * coordinates. */
fmo_status fmo_comment_read_unit(const fmo_text *text, const char *comment, fmo_unit *unit)
{
    static const struct {
        const char *word;
        fmo_unit unit;
    } words[] = {{"bohr", FMO_UNIT_BOHR},
                 {"angstrom", FMO_UNIT_ANGSTROM},
                 {"angstroms", FMO_UNIT_ANGSTROM},
                 {"ang", FMO_UNIT_ANGSTROM},
                 {"au", FMO_UNIT_COUNT},
                 {"a.u.", FMO_UNIT_COUNT},
                 {"atomic", FMO_UNIT_COUNT},
                 {"nm", FMO_UNIT_COUNT},
                 {"pm", FMO_UNIT_COUNT}};
    const char *value = find_key(comment, "unit");
    if (!value) value = find_key(comment, "units");
    if (!value) return FMO_OK;
    char quote[FMO_QUOTE_SIZE];
    value += strspn(value, "\"'");
    const fmo_word is = {value, strcspn(value, "\"' \t\r,;}")};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k].word) == is.size && strncasecmp(is.at, words[k].word, is.size) == 0) {
            if (words[k].unit == FMO_UNIT_COUNT)
                return INPUT(text, text->line,
                             "unit= '%s': expected bohr or angstrom; correct the comment, or give "
                             "the unit (fmo-driver: --unit)",
                             fmo_text_quote(is, quote));
            *unit = words[k].unit;
        }
    return FMO_OK;
}

/* Parses a value that is a whole number, perhaps in quotes, with its sign before or after the
 * digits ("2-") or with zeros after a decimal point. Returns 1 and *number; 0 if the value is a
 * word; -1 if it begins like a number but is not a whole number. */
static int whole_number(const char *value, fmo_word *word, double *number)
{
    const char quote = *value == '"' || *value == '\'' ? *value : '\0';
    const char *const begin = value + (quote != '\0');
    word->at = begin;
    word->size = strcspn(begin, quote ? "\"'" : " \t,;\"'}])");
    if (!strchr("+-.[({=:0123456789", *begin) && strncmp(begin, "\xE2\x88\x92", 3) != 0) return 0;
    if (!word->size) return 0;
    const char after = begin[word->size];
    if (quote ? after != quote : after == ',' && isdigit((unsigned char)begin[word->size + 1]))
        return -1;
    const size_t front = strchr("+-", *begin) ? 1 : 0;
    const size_t digits = strspn(begin + front, "0123456789");
    size_t end = front + digits;
    if (begin[end] == '.') end += 1 + strspn(begin + end + 1, "0");
    const bool behind = !front && (begin[end] == '+' || begin[end] == '-');
    if (!digits || end + behind != word->size) return -1;
    const double size = strtod(begin + front, NULL);
    *number = begin[front ? 0 : end] == '-' ? -size : size;
    return 1;
}

/* Returns true if a key has no value: nothing, the next key, or a word that programs write for a
 * missing value. */
static bool is_missing(fmo_word word, const char *value)
{
    static const char *const missing[] = {"none", "null", "nan", "na", "n/a"};
    const bool blank = value[-1] == ' ' || value[-1] == '\t';
    if (!word.size || (blank && word.at == value && value[strcspn(value, "=: \t")] == '='))
        return true;
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
        if (strlen(missing[k]) == word.size && strncasecmp(missing[k], word.at, word.size) == 0)
            return true;
    return false;
}

/* Reads the number that any of the keys gives, at any place in the comment. After a colon a value
 * that is not a whole number is part of a title and is skipped; after '=' only a missing one is. */
static fmo_status read_number(const fmo_text *text, int line, const char *comment,
                              const char *const *keys, int least, int *number)
{
    bool found = false;
    for (int k = 0; keys[k]; k++)
        for (const char *at = comment; (at = find_key_from(comment, at, keys[k]));) {
            fmo_word word;
            char quote[FMO_QUOTE_SIZE];
            double is = 0.0;
            const char *sign = at - 1;
            while (*sign == ' ' || *sign == '\t') sign--;
            const bool colon = *sign == ':';
            const int whole = whole_number(at, &word, &is);
            if (whole <= 0 && (colon || is_missing(word, at))) continue;
            if (whole <= 0 || !(is >= least && is <= CHARGE_MAX))
                return INPUT(text, line,
                             "%s= '%s': expected a whole number from %d to %d; correct the comment",
                             keys[k], fmo_text_quote(word, quote), least, CHARGE_MAX);
            if (found && *number != (int)is)
                return INPUT(text, line, "%s= is %d and %d; keep one in the comment", keys[0],
                             *number, (int)is);
            *number = (int)is;
            found = true;
        }
    return FMO_OK;
}

/* Returns true if the comment consists of two whole numbers ("-2 1") and nothing else. */
static bool is_pair(const char *comment, long pair[2])
{
    char *end = NULL;
    const char *at = comment + strspn(comment, " \t");
    for (int k = 0; k < 2; k++) {
        const size_t sign = strchr("+-", *at) && *at;
        const size_t digits = strspn(at + sign, "0123456789");
        if (digits < 1 || digits > 6) return false;
        pair[k] = strtol(at, &end, 10);
        at = end + strspn(end, " \t\r");
        if (k == 0 && at == end) return false;
    }
    return !*at;
}

/* Uses a comment of two whole numbers if the multiplicity is possible for that many electrons;
 * otherwise reads the keys. */
fmo_status fmo_comment_read_state(const fmo_text *text, int line, const char *comment,
                                  fmo_molecule *molecule)
{
    static const char *const charge[] = {"charge", "total_charge", NULL};
    static const char *const multiplicity[] = {"multiplicity", "spin_multiplicity", NULL};
    long pair[2];
    if (is_pair(comment, pair)) {
        long electrons = -pair[0];
        for (int i = 0; i < molecule->nucleus_num; i++)
            if (!molecule->ghost || !molecule->ghost[i]) electrons += molecule->number[i];
        const long unpaired = pair[1] - 1;
        if (electrons > 0 && unpaired >= 0 && unpaired <= electrons &&
            (electrons - unpaired) % 2 == 0) {
            molecule->charge = (int)pair[0];
            molecule->multiplicity = (int)pair[1];
            return FMO_OK;
        }
        snprintf(molecule->notice, sizeof molecule->notice,
                 "line %d, '%ld %ld', was taken as a title and the charge as 0: as a charge and a "
                 "multiplicity the two numbers do not fit the electrons",
                 line, pair[0], pair[1]);
        return FMO_OK;
    }
    fmo_status status = read_number(text, line, comment, charge, -CHARGE_MAX, &molecule->charge);
    if (status == FMO_OK)
        status = read_number(text, line, comment, multiplicity, 1, &molecule->multiplicity);
    return status;
}
