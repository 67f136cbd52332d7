/* Reads basis sets in Gaussian's format (.gbs, .g94), which Psi4 uses too, with a line "spherical"
 * or "cartesian" before the blocks: blocks for one or several elements, each
 * ended by "****"; a shell has a type (S, P, SP, ...), a number of primitives and a scale factor,
 * whose square multiplies the exponents (gaussian.com/gen). "!" begins a comment. Of effective core
 * potentials that follow, only the elements that have one are recorded. Next: set.c. */
#include "io/basis_set/basis_set_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct parser {
    fmo_basis_set *set;
    fmo_text *text;
    fmo_set_form form;
    fmo_word line;                /* rest of the line read last */
    int element[FMO_ELEMENT_MAX]; /* atomic numbers of the current block */
    int element_num;
    bool seen[FMO_ELEMENT_MAX + 1];
} parser;

#define INPUT(p, ...) fmo_text_fail((p)->text, (p)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

/* Reads the next line that is not empty apart from a comment; returns false at the end. */
static bool next_line(parser *p)
{
    while (fmo_text_line(p->text, &p->line)) {
        const char *comment = memchr(p->line.at, '!', p->line.size);
        if (comment) p->line.size = (size_t)(comment - p->line.at);
        fmo_word rest = p->line, word;
        if (fmo_text_word(&rest, &word)) return true;
    }
    return false;
}

static bool is_end(fmo_word word)
{
    return word.size >= 4 && strncmp(word.at, "****", 4) == 0;
}

/* Reads the first line of a block, "H 0" or "C N O 0". Gaussian's "-H" (use it if the element is
 * present) is read as "H". */
static fmo_status read_elements(parser *p)
{
    fmo_word word;
    char quote[FMO_QUOTE_SIZE];
    bool ended = false;
    p->element_num = 0;
    while (!ended && fmo_text_word(&p->line, &word)) {
        if (word.size == 1 && *word.at == '0' && p->element_num) {
            ended = true;
            break;
        }
        int minus = *word.at == '-';
        int number = fmo_element_number(word.at + minus, word.size - (size_t)minus);
        if (!number)
            return INPUT(p,
                         "'%s': expected the element symbols of a block, as in 'O 0'; is it a "
                         "basis set in Gaussian's format?",
                         fmo_text_quote(word, quote));
        if (p->seen[number])
            return INPUT(p, "%s is defined a second time; remove one block",
                         fmo_element_symbol(number));
        p->seen[number] = true;
        p->element[p->element_num++] = number;
    }
    if (!ended || fmo_text_word(&p->line, &word))
        return INPUT(p, "expected element symbols and a 0 at the end, as in 'O 0'");
    return FMO_OK;
}

/* Reads one line of a shell: an exponent and one coefficient for each of `columns` angular
 * momenta. */
static fmo_status read_primitive(parser *p, int columns, double *exponent, double **coefficient)
{
    fmo_word word;
    char quote[FMO_QUOTE_SIZE];
    double values[1 + FMO_TYPE_LETTERS];
    int n = 0;
    while (fmo_text_word(&p->line, &word)) {
        if (n > columns)
            return INPUT(p, "'%s': more than an exponent and %d coefficient%s",
                         fmo_text_quote(word, quote), columns, columns > 1 ? "s" : "");
        if (!fmo_text_real(p->text, word, &values[n++]))
            return INPUT(p, "'%s': expected a finite number", fmo_text_quote(word, quote));
    }
    if (n <= columns)
        return INPUT(p, "%d number%s; expected an exponent and %d coefficient%s", n,
                     n == 1 ? "" : "s", columns, columns > 1 ? "s" : "");
    *exponent = values[0];
    for (int c = 0; c < columns; c++) *coefficient[c] = values[c + 1];
    return FMO_OK;
}

/* Reads a shell of the given type and adds one shell for each of its angular momenta to the first
 * element of the block. */
static fmo_status read_shell(parser *p, fmo_word type)
{
    double scale = 1.0;
    int ang_mom[FMO_TYPE_LETTERS], columns = fmo_basis_shell_type(type, ang_mom),
                                   line = p->text->line;
    fmo_word word;
    char quote[FMO_QUOTE_SIZE], where[32];
    long n = 0;
    if (!columns)
        return INPUT(p, "'%s': expected a shell such as S, P or SP, or **** after the last one",
                     fmo_text_quote(type, quote));
    if (!fmo_text_word(&p->line, &word) || !fmo_text_count(word, FMO_SHELL_LINES, &n) || n < 1)
        return INPUT(p, "expected a number of primitives from 1 to %d after '%s'", FMO_SHELL_LINES,
                     fmo_text_quote(type, quote));
    if (fmo_text_word(&p->line, &word) &&
        (!fmo_text_real(p->text, word, &scale) || !(scale >= 1e-3 && scale <= 1e3)))
        return INPUT(p, "'%s': expected a scale factor from 0.001 to 1000",
                     fmo_text_quote(word, quote));
    if (fmo_text_word(&p->line, &word))
        return INPUT(p, "'%s': expected a type, a number of primitives and one scale factor",
                     fmo_text_quote(word, quote));
    double *const values = malloc((size_t)n * (size_t)(1 + columns) * sizeof *values);
    double *const exponent = values; /* followed by coefficients [columns][n] */
    fmo_status status = FMO_OK;
    if (!values) return fmo_text_fail(p->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    for (long k = 0; status == FMO_OK && k < n; k++) {
        double *row[FMO_TYPE_LETTERS];
        for (int c = 0; c < columns; c++) row[c] = values + (1 + c) * n + k;
        if (!next_line(p)) {
            status = INPUT(p, "the file ends within a shell of %s; get it again",
                           fmo_element_symbol(p->element[0]));
            break;
        }
        status = read_primitive(p, columns, &exponent[k], row);
        if (status == FMO_OK) exponent[k] *= scale * scale;
    }
    snprintf(where, sizeof where, "line %d", line);
    for (int c = 0; status == FMO_OK && c < columns; c++)
        status = fmo_basis_set_add_shell(p->set, p->text, where,
                                         &(fmo_file_shell){p->element[0], ang_mom[c], p->form,
                                                           (int)n, exponent, values + (1 + c) * n});
    free(values);
    return status;
}

/* Copies the shells added since `first` to the other elements of the block. */
static fmo_status repeat_shells(parser *p, int first)
{
    fmo_status status = FMO_OK;
    int end = p->set->shell_num;
    for (int e = 1; e < p->element_num; e++)
        for (int s = first; status == FMO_OK && s < end; s++)
            status = fmo_basis_set_repeat_shell(p->set, p->text, s, p->element[e]);
    return status;
}

static fmo_status read_block(parser *p)
{
    int first = p->set->shell_num;
    fmo_status status = read_elements(p);
    while (status == FMO_OK) {
        fmo_word word;
        if (!next_line(p))
            return INPUT(p, "the file ends within the block of %s, without ****; get it again",
                         fmo_element_symbol(p->element[0]));
        fmo_text_word(&p->line, &word);
        if (is_end(word)) return repeat_shells(p, first);
        status = read_shell(p, word);
    }
    return status;
}

/* Returns the atomic number of an ECP header such as "O-ECP 2 10"; 0 for any other word. */
static int ecp_element(fmo_word word)
{
    if (word.size < 5 || strncasecmp(word.at + word.size - 4, "-ecp", 4) != 0) return 0;
    return fmo_element_number(word.at, word.size - 4);
}

/* Records the elements of all potentials from here to the end of the file. */
static void note_ecps(parser *p)
{
    do {
        fmo_word word;
        if (fmo_text_word(&p->line, &word)) p->set->has_ecp[ecp_element(word)] = true;
    } while (next_line(p));
}

/* Returns true if the next line is an ECP header ("Zn 0", then "ZN-ECP 2 18"). Consumes nothing. */
static bool ecps_begin(parser *p)
{
    parser ahead = *p;
    fmo_text text = *p->text;
    fmo_word word;
    ahead.text = &text;
    return next_line(&ahead) && fmo_text_word(&ahead.line, &word) && ecp_element(word);
}

/* Sets the form of the functions from the line "spherical" or "cartesian" of Psi4. */
static bool read_form(parser *p, fmo_word word)
{
    if (word.size == 9 && strncasecmp(word.at, "spherical", 9) == 0)
        p->form = FMO_FORM_SPHERICAL;
    else if (word.size == 9 && strncasecmp(word.at, "cartesian", 9) == 0)
        p->form = FMO_FORM_CARTESIAN;
    else
        return false;
    return true;
}

fmo_status fmo_basis_set_parse_gaussian(fmo_basis_set *set, fmo_text *text)
{
    parser p = {.set = set, .text = text};
    fmo_status status = FMO_OK;
    while (status == FMO_OK && next_line(&p)) {
        fmo_word rest = p.line, word;
        fmo_text_word(&rest, &word);
        if (is_end(word) || read_form(&p, word)) continue;
        if (ecps_begin(&p)) {
            note_ecps(&p);
            break;
        }
        status = read_block(&p);
    }
    return status;
}
