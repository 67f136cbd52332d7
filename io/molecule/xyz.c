/* Reads molecules from .xyz files, one per file or frame by frame. A file is read whole and checked
 * line by line; inputs that are rejected, and why, are listed in docs/reference/basis-sets.md.
 * Next: comment.c, the comment line. */
#include "io/molecule/comment.h"
#include "base/harmless.h"
#include "io/text/text.h"
#include "base/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COORDINATE_MAX 9.4e5 /* bohr; fmo_basis_create accepts 1e6 */

enum {
    BYTES_MAX = 1 << 28,
    LINE_MIN = 7 /* least number of bytes of an atom's line: "H 0 0 0" */
};

#define INPUT(text, line, ...) fmo_text_fail(text, line, FMO_ERR_INPUT, __VA_ARGS__)

void fmo_molecule_destroy(fmo_molecule *molecule)
{
    if (!molecule) return;
    free(molecule->number);
    free(molecule->coord);
    free(molecule->ghost);
    free(molecule->title);
    free(molecule->path);
    free(molecule);
}

/* Reads the line with the number of atoms. *first: its line number. */
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
    if (*count < 1 || *count > FMO_MOLECULE_NUCLEI_MAX)
        return INPUT(text, *first,
                     "%ld atoms: expected 1 to %d, as a basis can have shells; correct the number, "
                     "or take a smaller part",
                     *count, FMO_MOLECULE_NUCLEI_MAX);
    return FMO_OK;
}

/* Reads and checks the comment line; molecule->comment holds what fits. *unit becomes that of the
 * comment if it is FMO_UNIT_FILE. */
static fmo_status read_comment(fmo_text *text, fmo_molecule *molecule, fmo_unit *unit)
{
    fmo_word line;
    if (!fmo_text_line(text, &line))
        return INPUT(text, 0, "ends after %s first line; a comment and the atoms have to follow",
                     text->frame ? "this frame's" : "its");
    size_t n = line.size < sizeof molecule->comment ? line.size : sizeof molecule->comment - 1;
    memcpy(molecule->comment, line.at, n);
    fmo_text_harmless(molecule->comment);
    molecule->title = strndup(line.at, line.size);
    if (!molecule->title) return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    fmo_status status = fmo_comment_check(text, molecule->title);
    if (*unit != FMO_UNIT_FILE) return status;
    *unit = FMO_UNIT_ANGSTROM;
    return status == FMO_OK ? fmo_comment_read_unit(text, molecule->title, unit) : status;
}

/* Removes the name of an atom from the front of a line, with a ":" that follows it (a ghost atom of
 * ORCA). Returns the atomic number; 0 if the name is not that of an atom. */
static int take_name(fmo_word *line, fmo_word *name, bool *ghost)
{
    fmo_word rest, next;
    *ghost = false;
    if (!fmo_text_word(line, name)) return 0;
    const int number = fmo_atom_number(name->at, name->size, ghost);
    rest = *line;
    if (fmo_text_word(&rest, &next) && next.size == 1 && *next.at == ':') {
        *line = rest;
        *ghost = true;
    }
    return number;
}

/* Returns true if a line describes an atom: an element and three numbers. */
static bool is_atom(const fmo_text *text, fmo_word line)
{
    fmo_word word;
    double value;
    bool ghost;
    if (!take_name(&line, &word, &ghost)) return false;
    for (int c = 0; c < 3; c++)
        if (!fmo_text_word(&line, &word) || !fmo_text_real(text, word, &value)) return false;
    return true;
}

static fmo_status refuse_name(const fmo_text *text, fmo_word name)
{
    char quote[FMO_QUOTE_SIZE];
    if (fmo_atom_is_dummy(name.at, name.size))
        return INPUT(text, text->line,
                     "'%s': a ghost atom without an element, so without functions; write Gh(O) for "
                     "those of oxygen, or remove the line",
                     fmo_text_quote(name, quote));
    return INPUT(text, text->line,
                 "'%s': not an element; write a symbol such as O, an atomic number from 1 to %d, "
                 "or Gh(O) for a ghost atom (isotopes are written as their element)",
                 fmo_text_quote(name, quote), FMO_ELEMENT_MAX);
}

/* Reads atom i of the molecule: its element, and x, y, z in units of `bohr` bohr. Further columns
 * are ignored. */
static fmo_status read_atom(const fmo_text *text, fmo_word line, double bohr, int i,
                            fmo_molecule *molecule)
{
    const char *const unit = bohr == 1.0 ? "bohr" : "angstrom";
    fmo_word word = {NULL, 0};
    char quote[FMO_QUOTE_SIZE];
    bool ghost;
    molecule->number[i] = take_name(&line, &word, &ghost);
    molecule->ghost[i] = ghost;
    if (!word.size) return INPUT(text, text->line, "is empty; expected element, x, y, z");
    if (!molecule->number[i]) return refuse_name(text, word);
    for (int c = 0; c < 3; c++) {
        double value;
        if (!fmo_text_word(&line, &word))
            return INPUT(text, text->line, "%d of 3 coordinates; expected element, x, y, z", c);
        if (!fmo_text_real(text, word, &value))
            return INPUT(text, text->line, "%c = '%s': expected a finite number in %s", "xyz"[c],
                         fmo_text_quote(word, quote), unit);
        if (!(fabs(value) * bohr <= COORDINATE_MAX))
            return INPUT(text, text->line, "%c = %g: expected at most %.3g %s; move the origin",
                         "xyz"[c], value, COORDINATE_MAX / bohr, unit);
        molecule->coord[3 * i + c] = bohr == 1.0 ? value : value / FMO_BOHR_IN_ANGSTROM;
    }
    return FMO_OK;
}

/* Reads all atoms; molecule->ghost stays only if there are ghost atoms. */
static fmo_status read_atoms(fmo_text *text, int first, fmo_unit unit, fmo_molecule *molecule)
{
    const double bohr = unit == FMO_UNIT_BOHR ? 1.0 : 1.0 / FMO_BOHR_IN_ANGSTROM;
    fmo_word line;
    int ghosts = 0;
    for (int i = 0; i < molecule->nucleus_num; i++) {
        if (!fmo_text_line(text, &line))
            return INPUT(text, 0,
                         "ends after %d of the %d atoms of line %d (line %d is a comment); correct "
                         "the number or add the rest",
                         i, molecule->nucleus_num, first, first + 1);
        fmo_status status = read_atom(text, line, bohr, i, molecule);
        if (status != FMO_OK) return status;
        ghosts += molecule->ghost[i];
    }
    if (ghosts == molecule->nucleus_num)
        return INPUT(text, first, "all %d atoms are ghost atoms; at least one has to be a nucleus",
                     ghosts);
    if (!ghosts) {
        free(molecule->ghost);
        molecule->ghost = NULL;
    }
    return FMO_OK;
}

/* Returns true if a line is a whole number alone, as the first line of a molecule is. */
static bool is_count(fmo_word line, long *count)
{
    fmo_word word, more;
    return fmo_text_word(&line, &word) && fmo_text_count(word, 999999999999L, count) &&
           !fmo_text_word(&line, &more);
}

/* A position in a text. */
typedef struct place {
    const char *next;
    int line;
} place;

static place position_of(const fmo_text *text)
{
    return (place){text->next, text->line};
}

static void return_to(fmo_text *text, place there)
{
    text->next = there.next;
    text->line = there.line;
}

/* Finds the next line that is not blank, without consuming it; returns false if there is none. */
static bool look_ahead(fmo_text *text, fmo_word *line)
{
    for (;;) {
        const place before = position_of(text);
        fmo_word rest, word;
        if (!fmo_text_line(text, line)) return false;
        rest = *line;
        if (!fmo_text_word(&rest, &word)) continue;
        return_to(text, before);
        return true;
    }
}

/* Skips the lines that follow the atoms in files of the QM9 data set (comment "gdb N ..."):
 * frequencies, SMILES and InChI. Lines that do not fit this pattern are not consumed. */
static void skip_qm9(fmo_text *text, const char *comment)
{
    static const char inchi[] = "InChI=";
    const place before = position_of(text);
    fmo_word line, word;
    double frequency;
    if (strncmp(comment, "gdb", 3) != 0 || !isspace((unsigned char)comment[3])) return;
    bool fits = fmo_text_line(text, &line);
    while (fits && fmo_text_word(&line, &word)) fits = fmo_text_real(text, word, &frequency);
    fits = fits && fmo_text_line(text, &line) && fmo_text_line(text, &line) &&
           fmo_text_word(&line, &word) && word.size > sizeof inchi &&
           strncmp(word.at, inchi, sizeof inchi - 1) == 0;
    if (!fits) return_to(text, before);
}

static fmo_status refuse_more(const fmo_text *text, int first, const fmo_molecule *molecule)
{
    return INPUT(text, text->line + 1, "more atoms than the %d of line %d; correct the number%s",
                 molecule->nucleus_num, first,
                 text->frame ? ", or begin the next molecule with its number of atoms, alone in a "
                               "line"
                             : "");
}

/* Checks that nothing follows the atoms of the only molecule of a file. */
static fmo_status check_end(fmo_text *text, int first, const fmo_molecule *molecule)
{
    fmo_word line, word;
    long count;
    char quote[FMO_QUOTE_SIZE];
    if (!look_ahead(text, &line)) return FMO_OK;
    if (is_count(line, &count))
        return INPUT(text, text->line + 1,
                     "another molecule begins; keep one in the file, or run all of them with "
                     "--scf --batch");
    if (is_atom(text, line)) return refuse_more(text, first, molecule);
    fmo_text_word(&line, &word);
    return INPUT(text, text->line + 1,
                 "'%s%s' stands behind the %d atoms of line %d; correct the number, or remove what "
                 "is no atom",
                 fmo_text_quote(word, quote), line.size ? " ..." : "", molecule->nucleus_num,
                 first);
}

/* Finds the next frame: after the atoms of a frame, any line that is not blank and not an atom
 * begins another frame. */
static fmo_status find_next(fmo_text *text, int first, const fmo_molecule *molecule, bool *more)
{
    fmo_word line;
    *more = look_ahead(text, &line);
    return *more && is_atom(text, line) ? refuse_more(text, first, molecule) : FMO_OK;
}

/* How much of a frame has to be right for it to be recognised. */
typedef enum trust {
    BY_COUNT, /* the number of lines: none of the declared atoms is a number alone, and another
                 number, or the end, follows them */
    BY_ATOMS  /* also each of these lines: they describe atoms */
} trust;

/* Skips a frame that begins here; consumes nothing and returns false if there is none. */
static bool skip_frame(fmo_text *text, trust by)
{
    const place begin = position_of(text);
    fmo_word line;
    long count, other;
    bool there = fmo_text_line(text, &line) && is_count(line, &count) &&
                 count <= FMO_MOLECULE_NUCLEI_MAX && fmo_text_line(text, &line);
    for (long k = 0; there && k < count; k++)
        there = fmo_text_line(text, &line) &&
                (by == BY_COUNT ? !is_count(line, &other) : is_atom(text, line));
    if (there && count && (!look_ahead(text, &line) || is_count(line, &other))) return true;
    return_to(text, begin);
    return false;
}

/* Returns true if a frame begins here: it can be skipped, or a number of atoms, a comment and an
 * atom come next. Consumes nothing. */
static bool looks_like_frame(fmo_text *text)
{
    const place begin = position_of(text);
    fmo_word line;
    long count;
    const bool looks =
        skip_frame(text, BY_COUNT) ||
        (fmo_text_line(text, &line) && is_count(line, &count) && count &&
         fmo_text_line(text, &line) && fmo_text_line(text, &line) && is_atom(text, line));
    return_to(text, begin);
    return looks;
}

/* Moves from the first line of a frame that could not be read to the next frame; returns false if
 * there is none. If the comment of the failed frame is a whole number, it counts as the beginning
 * of a frame only if that many valid atoms follow. */
static bool find_again(fmo_text *text, place first)
{
    fmo_word line;
    return_to(text, first);
    if (skip_frame(text, BY_COUNT)) return look_ahead(text, &line);
    if (!fmo_text_line(text, &line)) return false;
    const place comment = position_of(text);
    if (skip_frame(text, BY_ATOMS)) {
        return_to(text, comment);
        return true;
    }
    while (fmo_text_line(text, &line))
        if (looks_like_frame(text)) return true;
    return false;
}

/* Adds the lines of a frame that could not be read to its error, as far as there is space. */
static void name_skipped(fmo_text *text, place first, bool more, fmo_error *err)
{
    fmo_word line;
    const int last = text->line;
    if (!more)
        while (fmo_text_line(text, &line)) continue;
    const size_t used = err ? strlen(err->message) : 0;
    if (err && used + 64 < sizeof err->message)
        snprintf(err->message + used, sizeof err->message - used, " (lines %d to %d are skipped)",
                 first.line + 1, more ? last : text->line);
}

static fmo_status check_distances(const fmo_text *text, int first, const fmo_molecule *molecule)
{
    bool found;
    int i = 0, j = 0;
    if (fmo_find_close(molecule->coord, molecule->nucleus_num, FMO_NUCLEUS_DISTANCE_MIN, &found, &i,
                       &j) != FMO_OK)
        return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (found)
        return INPUT(text, first + j + 2,
                     "%s is at the place of %s in line %d (closer than %g bohr); remove one of "
                     "them",
                     fmo_element_symbol(molecule->number[j]),
                     fmo_element_symbol(molecule->number[i]), first + i + 2,
                     FMO_NUCLEUS_DISTANCE_MIN);
    return FMO_OK;
}

static fmo_status make_capacity(const fmo_text *text, long count, const char *path,
                                fmo_molecule *molecule)
{
    molecule->nucleus_num = (int)count;
    molecule->number = calloc((size_t)count, sizeof *molecule->number);
    molecule->coord = calloc(3 * (size_t)count, sizeof *molecule->coord);
    molecule->ghost = calloc((size_t)count, sizeof *molecule->ghost);
    molecule->path = strdup(path);
    if (!molecule->number || !molecule->coord || !molecule->ghost || !molecule->path)
        return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory for its %ld atoms", count);
    memcpy(molecule->sha256, text->sha256, sizeof molecule->sha256);
    return FMO_OK;
}

static fmo_status check_place(const char *call, const char *path, fmo_unit unit, fmo_error *err)
{
    if (!*path) return fmo_error_set(err, FMO_ERR_INPUT, "the path is empty; name an .xyz file");
    if ((unsigned)unit >= FMO_UNIT_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: unit is none of its enum", call);
    return FMO_OK;
}

/* Reads the next molecule of a text. more: NULL if nothing may follow the molecule; otherwise set
 * to whether another frame follows. */
static fmo_status read_molecule(fmo_text *text, const char *path, fmo_unit unit,
                                fmo_molecule *molecule, bool *more)
{
    const size_t left = (size_t)(text->bytes + text->size - text->next);
    long count = 0;
    int first = 0;
    fmo_status status = read_count(text, &first, &count);
    if (status == FMO_OK) status = read_comment(text, molecule, &unit);
    if (status == FMO_OK && (size_t)count > left / LINE_MIN)
        status =
            INPUT(text, first, "%ld atoms do not fit in a file of %zu bytes; correct the number",
                  count, text->size);
    if (status == FMO_OK) status = make_capacity(text, count, path, molecule);
    if (status == FMO_OK) status = read_atoms(text, first, unit, molecule);
    if (status == FMO_OK) {
        skip_qm9(text, molecule->title);
        status = more ? find_next(text, first, molecule, more) : check_end(text, first, molecule);
    }
    if (status == FMO_OK)
        status = fmo_comment_read_state(text, first + 1, molecule->title, molecule);
    if (status == FMO_OK) status = check_distances(text, first, molecule);
    return status;
}

/* Implements fmo_molecule_read_xyz and fmo_molecule_read_xyz_in: reads a file that holds exactly
 * one molecule. */
static fmo_status read_one(const char *call, const char *path, fmo_unit unit,
                           fmo_molecule **molecule, fmo_error *err)
{
    if (molecule) *molecule = NULL;
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(molecule));
    if (status == FMO_OK) status = check_place(call, path, unit, err);
    if (status != FMO_OK) return status;
    fmo_text text;
    fmo_molecule *made = calloc(1, sizeof *made);
    status = fmo_text_read(&text, path, BYTES_MAX, "an .xyz file", err);
    if (status == FMO_OK && !made)
        status = fmo_text_fail(&text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (status == FMO_OK) status = read_molecule(&text, path, unit, made, NULL);
    fmo_text_close(&text);
    if (status == FMO_OK)
        *molecule = made;
    else
        fmo_molecule_destroy(made);
    return status;
}

fmo_status fmo_molecule_read_xyz(const char *path, fmo_molecule **molecule, fmo_error *err)
{
    return read_one("fmo_molecule_read_xyz", path, FMO_UNIT_FILE, molecule, err);
}

fmo_status fmo_molecule_read_xyz_in(const char *path, fmo_unit unit, fmo_molecule **molecule,
                                    fmo_error *err)
{
    return read_one("fmo_molecule_read_xyz_in", path, unit, molecule, err);
}

/* ---- files of several molecules -------------------------------------------------------------- */

struct fmo_xyz {
    fmo_text text;
    char *path;
    fmo_unit unit;
    int frames; /* number of frames read so far */
    bool more;
};

/* Implements fmo_xyz_open and fmo_xyz_open_in: reads the whole file into memory, which fmo_xyz_next
 * parses. */
static fmo_status open_xyz(const char *call, const char *path, fmo_unit unit, fmo_xyz **xyz,
                           fmo_error *err)
{
    if (xyz) *xyz = NULL;
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(xyz));
    if (status == FMO_OK) status = check_place(call, path, unit, err);
    if (status != FMO_OK) return status;
    fmo_xyz *made = calloc(1, sizeof *made);
    if (!made) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read %.200s", path);
    made->path = strdup(path);
    made->unit = unit;
    made->more = true;
    status = fmo_text_read(&made->text, path, BYTES_MAX, "an .xyz file", err);
    if (status == FMO_OK && !made->path)
        status = fmo_text_fail(&made->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (status == FMO_OK)
        *xyz = made;
    else
        fmo_xyz_close(made);
    return status;
}

fmo_status fmo_xyz_open(const char *path, fmo_xyz **xyz, fmo_error *err)
{
    return open_xyz("fmo_xyz_open", path, FMO_UNIT_FILE, xyz, err);
}

fmo_status fmo_xyz_open_in(const char *path, fmo_unit unit, fmo_xyz **xyz, fmo_error *err)
{
    return open_xyz("fmo_xyz_open_in", path, unit, xyz, err);
}

/* Parses one frame. If it is invalid, moves to the next frame, so that the following call can
 * continue. */
fmo_status fmo_xyz_next(fmo_xyz *xyz, fmo_molecule **molecule, fmo_error *err)
{
    if (molecule) *molecule = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_xyz_next", err, FMO_GIVEN(xyz), FMO_GIVEN(molecule));
    if (checked != FMO_OK || !xyz->more) return checked;
    fmo_molecule *made = calloc(1, sizeof *made);
    xyz->text.err = err;
    xyz->text.frame = ++xyz->frames;
    const place first = {xyz->text.next, xyz->text.line};
    fmo_status status =
        made ? FMO_OK : fmo_text_fail(&xyz->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    if (status == FMO_OK)
        status = read_molecule(&xyz->text, xyz->path, xyz->unit, made, &xyz->more);
    if (status == FMO_OK) {
        made->frame = xyz->frames > 1 || xyz->more ? xyz->frames : 0;
        *molecule = made;
    } else {
        xyz->more = status == FMO_ERR_INPUT && find_again(&xyz->text, first);
        if (status == FMO_ERR_INPUT) name_skipped(&xyz->text, first, xyz->more, err);
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
