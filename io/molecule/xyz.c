/* Molecules from .xyz files, one a file or frame by frame. A file is read whole and checked line by
 * line; what is refused, and why, is in docs/basis-sets.md. Extended .xyz files are read where
 * their columns and their cell mean a molecule: see check_comment. */
#include "io/molecule/molecule_internal.h"
#include "base/harmless.h"
#include "io/text/text.h"
#include "base/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COORDINATE_MOST 5e5 /* angstrom; the basis takes 1e6 bohr */

enum {
    BYTES_MOST = 1 << 28,
    CHARGE_MOST = 100000, /* of a comment */
    LINE_LEAST = 7        /* bytes of an atom: "H 0 0 0" */
};

#define INPUT(text, line, ...) fmo_text_fail(text, line, FMO_ERR_INPUT, __VA_ARGS__)

void fmo_molecule_destroy(fmo_molecule *molecule)
{
    if (!molecule) return;
    free(molecule->number);
    free(molecule->coord);
    free(molecule->path);
    free(molecule);
}

/* first: number of the line, the molecule's first. */
static fmo_status read_count(fmo_text *text, int *first, long *count)
{
    fmo_word line = {NULL, 0}, word, more;
    char quote[FMO_QUOTE_SIZE];
    fmo_text_line(text, &line);
    *first = text->line;
    if (!fmo_text_word(&line, &word))
        return INPUT(text, *first, "is empty; expected the number of atoms");
    if (fmo_text_word(&line, &more) || !fmo_text_count(word, 999999999999L, count))
        return INPUT(text, *first, "'%s%s': expected the number of atoms alone in this line",
                     fmo_text_quote(word, quote), more.size ? " ..." : "");
    if (*count < 1 || *count > FMO_NUCLEUS_MOST)
        return INPUT(text, *first,
                     "%ld atoms: expected 1 to %d, as a basis can have shells; correct the number, "
                     "or take a smaller part",
                     *count, FMO_NUCLEUS_MOST);
    return FMO_OK;
}

/* May the character stand in a name? */
static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Where the value of a key begins, from `from` in the comment on ("pbc=", in any case, not behind a
 * letter; quotes may stand around the key, blanks around the sign, which may be a colon); NULL
 * without. */
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

/* Does a value begin with a number, perhaps in quotes or brackets? */
static bool begins_with_number(const char *value)
{
    value += strspn(value, "\"'{[( \t");
    if (!isdigit((unsigned char)value[strspn(value, "+-.")])) return false;
    char *end;
    (void)strtod(value, &end);
    return end != value && !is_name(*end);
}

/* Does a comment give a lattice, or a cell by its lengths or vectors? In the words of ASE, OVITO
 * and CP2K (Lattice), and of others; i-PI's is "CELL(abcH): 9 9 9 90 90 90". A "cell" that is no
 * number is a word of a title. */
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

/* Is no direction of "F F F", "0 0 0", "false,false,false" periodic? Anything else is. */
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

/* Extended .xyz: columns other than the usual ones, and crystals, are refused. */
static fmo_status check_comment(const fmo_text *text, const char *comment)
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

/* The whole number that a value is, perhaps in quotes, with its sign in front or behind ("2-") or
 * zeros behind a point. Returns 1; 0 for words; -1 for what begins as a number and is none. */
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

/* The number that keys say, wherever they stand; other values are words of a title, and so is what
 * is no whole number behind a colon. */
static fmo_status read_number(const fmo_text *text, const char *comment, const char *const *keys,
                              int least, int *number)
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
            if (whole == 0 || (whole < 0 && colon)) continue;
            if (whole < 0 || !(is >= least && is <= CHARGE_MOST))
                return INPUT(text, text->line,
                             "%s= '%s': expected a whole number from %d to %d; correct the comment",
                             keys[k], fmo_text_quote(word, quote), least, CHARGE_MOST);
            if (found && *number != (int)is)
                return INPUT(text, text->line, "%s= is %d and %d; keep one in the comment", keys[0],
                             *number, (int)is);
            *number = (int)is;
            found = true;
        }
    return FMO_OK;
}

static fmo_status read_state(const fmo_text *text, const char *comment, fmo_molecule *molecule)
{
    static const char *const charge[] = {"charge", "total_charge", NULL};
    static const char *const multiplicity[] = {"multiplicity", "spin_multiplicity", NULL};
    fmo_status status = read_number(text, comment, charge, -CHARGE_MOST, &molecule->charge);
    if (status == FMO_OK)
        status = read_number(text, comment, multiplicity, 1, &molecule->multiplicity);
    return status;
}

static fmo_status read_comment(fmo_text *text, fmo_molecule *molecule)
{
    fmo_word line;
    if (!fmo_text_line(text, &line))
        return INPUT(text, 0, "ends after %s first line; a comment and the atoms have to follow",
                     text->frame ? "this frame's" : "its");
    size_t n = line.size < sizeof molecule->comment ? line.size : sizeof molecule->comment - 1;
    memcpy(molecule->comment, line.at, n);
    fmo_text_harmless(molecule->comment);
    char *comment = strndup(line.at, line.size);
    if (!comment) return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    fmo_status status = check_comment(text, comment);
    if (status == FMO_OK) status = read_state(text, comment, molecule);
    free(comment);
    return status;
}

/* A symbol, perhaps with a label's digits behind it ("C12"), or an atomic number. */
static int element_of(fmo_word word)
{
    long number = 0;
    if (fmo_text_count(word, FMO_ELEMENT_MOST, &number)) return (int)number;
    while (word.size > 1 && word.at[word.size - 1] >= '0' && word.at[word.size - 1] <= '9')
        word.size--;
    return fmo_element_number(word.at, word.size);
}

static fmo_status read_atom(const fmo_text *text, fmo_word line, int *number, double coord[3])
{
    fmo_word word;
    char quote[FMO_QUOTE_SIZE];
    if (!fmo_text_word(&line, &word))
        return INPUT(text, text->line, "is empty; expected element, x, y, z");
    *number = element_of(word);
    if (!*number)
        return INPUT(text, text->line,
                     "'%s': not an element; write a symbol such as O or an atomic number from 1 to "
                     "%d (dummy and ghost atoms are not supported, isotopes are written as their "
                     "element)",
                     fmo_text_quote(word, quote), FMO_ELEMENT_MOST);
    for (int c = 0; c < 3; c++) {
        double angstrom;
        if (!fmo_text_word(&line, &word))
            return INPUT(text, text->line, "%d of 3 coordinates; expected element, x, y, z", c);
        if (!fmo_text_real(text, word, &angstrom))
            return INPUT(text, text->line, "%c = '%s': expected a finite number in angstrom",
                         "xyz"[c], fmo_text_quote(word, quote));
        if (!(fabs(angstrom) <= COORDINATE_MOST))
            return INPUT(text, text->line, "%c = %g: expected at most %g angstrom; move the origin",
                         "xyz"[c], angstrom, COORDINATE_MOST);
        coord[c] = angstrom / FMO_BOHR_IN_ANGSTROM;
    }
    return FMO_OK;
}

static fmo_status read_atoms(fmo_text *text, int first, fmo_molecule *molecule)
{
    fmo_word line;
    for (int i = 0; i < molecule->nucleus_num; i++) {
        if (!fmo_text_line(text, &line))
            return INPUT(text, 0,
                         "ends after %d of the %d atoms of line %d (line %d is a comment); correct "
                         "the number or add the rest",
                         i, molecule->nucleus_num, first, first + 1);
        fmo_status status = read_atom(text, line, &molecule->number[i], molecule->coord + 3 * i);
        if (status != FMO_OK) return status;
    }
    return FMO_OK;
}

static fmo_status read_rest(fmo_text *text, const fmo_molecule *molecule)
{
    fmo_word line, word, more;
    long count;
    while (fmo_text_line(text, &line)) {
        if (!fmo_text_word(&line, &word)) continue;
        if (fmo_text_count(word, FMO_NUCLEUS_MOST, &count) && !fmo_text_word(&line, &more))
            return INPUT(text, text->line,
                         "another molecule begins; keep one in the file, or split it");
        return INPUT(text, text->line, "more atoms than the %d of line 1; correct the number",
                     molecule->nucleus_num);
    }
    return FMO_OK;
}

/* Behind the atoms of a frame blank lines may follow, and the number of atoms of the next. */
static fmo_status find_next(fmo_text *text, int first, const fmo_molecule *molecule, bool *more)
{
    fmo_word line, word, other;
    long count;
    *more = false;
    for (;;) {
        const char *const here = text->next;
        const int number = text->line;
        if (!fmo_text_line(text, &line)) return FMO_OK;
        if (!fmo_text_word(&line, &word)) continue;
        if (!fmo_text_count(word, 999999999999L, &count) || fmo_text_word(&line, &other))
            return INPUT(text, text->line,
                         "more atoms than the %d of line %d; correct the number, or begin the next "
                         "molecule with its number of atoms, alone in a line",
                         molecule->nucleus_num, first);
        text->next = here;
        text->line = number;
        *more = true;
        return FMO_OK;
    }
}

static fmo_status check_distances(const fmo_text *text, int first, const fmo_molecule *molecule)
{
    bool found;
    int i = 0, j = 0;
    if (fmo_find_close(molecule->coord, molecule->nucleus_num, FMO_NUCLEUS_DISTANCE_LEAST, &found,
                       &i, &j) != FMO_OK)
        return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (found)
        return INPUT(text, first + j + 2,
                     "%s is at the place of %s in line %d (closer than %g bohr); remove one of "
                     "them",
                     fmo_element_symbol(molecule->number[j]),
                     fmo_element_symbol(molecule->number[i]), first + i + 2,
                     FMO_NUCLEUS_DISTANCE_LEAST);
    return FMO_OK;
}

/* The next molecule of a text. more: NULL, and nothing may follow; else whether another does. */
static fmo_status read_molecule(fmo_text *text, const char *path, fmo_molecule *molecule,
                                bool *more)
{
    const size_t left = (size_t)(text->bytes + text->size - text->next);
    long count = 0;
    int first = 0;
    fmo_status status = read_count(text, &first, &count);
    if (status == FMO_OK) status = read_comment(text, molecule);
    if (status != FMO_OK) return status;
    if ((size_t)count > left / LINE_LEAST)
        return INPUT(text, first, "%ld atoms do not fit in a file of %zu bytes; correct the number",
                     count, text->size);
    molecule->nucleus_num = (int)count;
    molecule->number = calloc((size_t)count, sizeof *molecule->number);
    molecule->coord = calloc(3 * (size_t)count, sizeof *molecule->coord);
    molecule->path = strdup(path);
    if (!molecule->number || !molecule->coord || !molecule->path)
        return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory for its %ld atoms", count);
    memcpy(molecule->sha256, text->sha256, sizeof molecule->sha256);
    status = read_atoms(text, first, molecule);
    if (status == FMO_OK)
        status = more ? find_next(text, first, molecule, more) : read_rest(text, molecule);
    if (status == FMO_OK) status = check_distances(text, first, molecule);
    return status;
}

fmo_status fmo_molecule_read_xyz(const char *path, fmo_molecule **molecule, fmo_error *err)
{
    if (molecule) *molecule = NULL;
    const fmo_status given =
        FMO_CHECK_ARGUMENTS("fmo_molecule_read_xyz", err, FMO_GIVEN(path), FMO_GIVEN(molecule));
    if (given != FMO_OK) return given;
    if (!*path) return fmo_error_set(err, FMO_ERR_INPUT, "the path is empty; name an .xyz file");
    fmo_text text;
    fmo_molecule *made = calloc(1, sizeof *made);
    fmo_status status = fmo_text_read(&text, path, BYTES_MOST, "an .xyz file", err);
    if (status == FMO_OK && !made)
        status = fmo_text_fail(&text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (status == FMO_OK) status = read_molecule(&text, path, made, NULL);
    fmo_text_close(&text);
    if (status == FMO_OK)
        *molecule = made;
    else
        fmo_molecule_destroy(made);
    return status;
}

/* ---- files of several molecules -------------------------------------------------------------- */

struct fmo_xyz {
    fmo_text text;
    char *path;
    int frames; /* taken so far */
    bool more;
};

fmo_status fmo_xyz_open(const char *path, fmo_xyz **xyz, fmo_error *err)
{
    if (xyz) *xyz = NULL;
    const fmo_status given =
        FMO_CHECK_ARGUMENTS("fmo_xyz_open", err, FMO_GIVEN(path), FMO_GIVEN(xyz));
    if (given != FMO_OK) return given;
    if (!*path) return fmo_error_set(err, FMO_ERR_INPUT, "the path is empty; name an .xyz file");
    fmo_xyz *made = calloc(1, sizeof *made);
    if (!made) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read %.200s", path);
    made->path = strdup(path);
    made->more = true;
    fmo_status status = fmo_text_read(&made->text, path, BYTES_MOST, "an .xyz file", err);
    if (status == FMO_OK && !made->path)
        status = fmo_text_fail(&made->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (status == FMO_OK)
        *xyz = made;
    else
        fmo_xyz_close(made);
    return status;
}

fmo_status fmo_xyz_next(fmo_xyz *xyz, fmo_molecule **molecule, fmo_error *err)
{
    if (molecule) *molecule = NULL;
    const fmo_status given =
        FMO_CHECK_ARGUMENTS("fmo_xyz_next", err, FMO_GIVEN(xyz), FMO_GIVEN(molecule));
    if (given != FMO_OK || !xyz->more) return given;
    fmo_molecule *made = calloc(1, sizeof *made);
    xyz->text.err = err;
    xyz->text.frame = ++xyz->frames;
    xyz->more = false; /* after an error nobody knows where the next one begins */
    fmo_status status =
        made ? FMO_OK : fmo_text_fail(&xyz->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (status == FMO_OK) status = read_molecule(&xyz->text, xyz->path, made, &xyz->more);
    if (status == FMO_OK) {
        made->frame = xyz->frames > 1 || xyz->more ? xyz->frames : 0;
        *molecule = made;
    } else {
        xyz->more = false;
        fmo_molecule_destroy(made);
    }
    return status;
}

void fmo_xyz_close(fmo_xyz *xyz)
{
    if (!xyz) return;
    fmo_text_close(&xyz->text);
    free(xyz->path);
    free(xyz);
}
