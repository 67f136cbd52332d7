/* Reads inputs of ABINIT-MP (.ajf): groups "&NAME ... /" that hold "Key=value", the list of
 * fragments, or atoms. The format, as written and read by programs that support it, is in
 * docs/reference/fmo.md. Next: abinitmp_words.c, abinitmp_keys.c, abinitmp_system.c. */
#include "io/fragment/abinitmp.h"
#include "io/molecule/molecule_internal.h"

#include <stdlib.h>
#include <string.h>

#define LINE(a, line, ...) fmo_text_fail((a)->text, (line), FMO_ERR_INPUT, __VA_ARGS__)
#define INPUT(a, ...)      LINE(a, (a)->text->line, __VA_ARGS__)

/* ---- lists ----------------------------------------------------------------------------------- */

/* Reads the list of integers of &FRAGMENT; abinitmp_system.c interprets it. */
static fmo_status read_list(fmo_abinitmp *a)
{
    char quote[FMO_QUOTE_SIZE];
    fmo_word word = {NULL, 0};
    long value = 0;
    if (a->list_line) return INPUT(a, "&FRAGMENT is given twice; keep one");
    a->list_line = a->text->line;
    for (;;) {
        const fmo_abinitmp_token token = fmo_abinitmp_next(a, &word);
        if (token == FMO_ABINITMP_END) return FMO_OK;
        if (token == FMO_ABINITMP_FILE_END) return INPUT(a, "&FRAGMENT has no / behind its list");
        if (token != FMO_ABINITMP_WORD ||
            !fmo_fragment_integer(word, FMO_MOLECULE_NUCLEI_MAX, &value))
            return INPUT(a, "&FRAGMENT: '%s' is no integer up to %d", fmo_text_quote(word, quote),
                         FMO_MOLECULE_NUCLEI_MAX);
        if (a->list_num >= 8 * FMO_MOLECULE_NUCLEI_MAX)
            return INPUT(a, "&FRAGMENT has more than %d numbers", 8 * FMO_MOLECULE_NUCLEI_MAX);
        if (!fmo_fragment_grow((void **)&a->list, a->list_num, &a->list_capacity, sizeof *a->list))
            return fmo_fragment_no_memory(a->text);
        a->list[a->list_num++] = (fmo_abinitmp_number){(int)value, a->text->line};
    }
}

enum { ATOM_WORDS = 7 };

/* Adds an atom of &XYZ: "NUMBER ELEMENT 1 X Y Z 1"; the last word may be missing. */
static fmo_status take_atom(fmo_abinitmp *a, const fmo_word *words, int num, int line)
{
    char quote[FMO_QUOTE_SIZE];
    fmo_abinitmp_atom atom = {.residue = -1};
    long number = 0, one = 0, last = 1;
    bool good =
        num >= ATOM_WORDS - 1 && fmo_text_count(words[0], FMO_MOLECULE_NUCLEI_MAX, &number) &&
        fmo_fragment_integer(words[2], FMO_MOLECULE_NUCLEI_MAX, &one) &&
        (num < ATOM_WORDS || fmo_fragment_integer(words[6], FMO_MOLECULE_NUCLEI_MAX, &last));
    for (int x = 0; good && x < 3; x++)
        good = fmo_text_real(a->text, words[3 + x], &atom.angstrom[x]);
    if (!good)
        return LINE(a, line, "&XYZ: expected a number, an element, 1, x, y, z in angstrom, and 1");
    atom.number = fmo_element_number(words[1].at, words[1].size);
    if (!atom.number)
        return LINE(a, line, "&XYZ: '%s' is no element", fmo_text_quote(words[1], quote));
    if (number != a->atoms + 1)
        return LINE(
            a, line,
            "&XYZ: expected atom %d, but the line has atom %ld; number the atoms consecutively",
            a->atoms + 1, number);
    if (one != 1 || last != 1)
        return LINE(a, line,
                    "&XYZ: expected 1, not %ld; the meaning of other values is not documented",
                    one != 1 ? one : last);
    return fmo_abinitmp_add_atom(a->text, line, a, atom);
}

/* Reads the atoms of &XYZ, one per line. */
static fmo_status read_atoms(fmo_abinitmp *a)
{
    char quote[FMO_QUOTE_SIZE];
    fmo_word words[ATOM_WORDS], word = {NULL, 0};
    fmo_status status = FMO_OK;
    if (a->xyz_line) return INPUT(a, "&XYZ is given twice; keep one");
    a->xyz_line = a->text->line;
    for (int line = 0, num = 0; status == FMO_OK;) {
        const fmo_abinitmp_token token = fmo_abinitmp_next(a, &word);
        if (token == FMO_ABINITMP_FILE_END) return INPUT(a, "&XYZ has no / behind its atoms");
        if (token == FMO_ABINITMP_EQUALS || token == FMO_ABINITMP_QUOTED)
            return INPUT(a, "&XYZ: expected a number, not '%s'", fmo_text_quote(word, quote));
        if (num && (token == FMO_ABINITMP_END || a->text->line != line)) {
            status = take_atom(a, words, num, line);
            num = 0;
        }
        if (token == FMO_ABINITMP_END) break;
        line = a->text->line;
        if (num >= ATOM_WORDS) return INPUT(a, "&XYZ: more than %d words in a line", ATOM_WORDS);
        words[num++] = word;
    }
    return status;
}

/* ---- all groups ------------------------------------------------------------------------------ */

static fmo_status pass_over(fmo_abinitmp *a, const char *group)
{
    fmo_word word;
    for (;;) {
        const fmo_abinitmp_token token = fmo_abinitmp_next(a, &word);
        if (token == FMO_ABINITMP_END) return FMO_OK;
        if (token == FMO_ABINITMP_FILE_END) return INPUT(a, "&%s has no /", group);
    }
}

static fmo_status read_group(fmo_abinitmp *a, const char *name)
{
    if (strcmp(name, "FRAGMENT") == 0) return read_list(a);
    if (strcmp(name, "XYZ") == 0) return read_atoms(a);
    if (fmo_keys_pass_all(&fmo_abinitmp_keys_table, name)) return pass_over(a, name);
    if (fmo_keys_have(&fmo_abinitmp_keys_table, name)) return fmo_abinitmp_keys(a, name);
    if (strcmp(name, "OPTION") == 0)
        return INPUT(a, "the group &OPTION is of older versions of ABINIT-MP, which are not read; "
                        "write &CNTRL and &FMOCNTRL");
    return INPUT(a, "the group &%s is not known; remove it if the energy does not need it", name);
}

/* Reads all groups, then makes the system. */
fmo_status fmo_fragment_read_abinitmp(fmo_text *text, fmo_fragment_system *s)
{
    fmo_abinitmp a = {.text = text,
                      .path = s->path,
                      .atom_num = -1,
                      .fragment_num = -1,
                      .laoc = 0.0, /* defaults of ABINIT-MP */
                      .lptc = 2.0,
                      .ldimer = 2.0};
    char name[FMO_ABINITMP_NAME];
    fmo_status status = FMO_OK;
    while (status == FMO_OK && (a.waits || fmo_text_line(text, &a.rest))) {
        fmo_word word;
        a.waits = false;
        if (!fmo_abinitmp_group(&a, &word)) continue; /* text between groups is a comment */
        fmo_abinitmp_capitals(word, name);
        if (strcmp(name, "END") != 0) status = read_group(&a, name);
    }
    if (status == FMO_OK) status = fmo_abinitmp_system(&a, s);
    free(a.geometry);
    free(a.read);
    free(a.list);
    free(a.atom);
    return status;
}
