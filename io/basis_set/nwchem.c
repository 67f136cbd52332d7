/* Reads basis sets in NWChem's format, which PySCF reads too: a line BASIS with SPHERICAL or
 * CARTESIAN, shells that begin with an element and a type ("O SP") and have a line for each
 * primitive with its exponent and one coefficient for each contraction, and END
 * (nwchemgit.github.io/Basis.html). "#" begins a comment. Of effective core potentials only the
 * elements that have one are recorded. Next: set.c. */
#include "io/basis_set/basis_set_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 64 };

typedef struct parser {
    fmo_basis_set *set;
    fmo_text *text;
    fmo_set_form form;
    fmo_word line; /* the line read last, without its comment */
    bool seen[FMO_ELEMENT_MAX + 1];
    /* the current shell; number is 0 if there is none */
    int number, ang_mom[FMO_TYPE_LETTERS], types, begin;
    int columns;       /* of coefficients */
    int n;             /* primitives */
    double *primitive; /* [capacity][1 + COLUMNS_MAX] */
    int capacity;
} parser;

#define INPUT(p, ...) fmo_text_fail((p)->text, (p)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

static bool is(fmo_word word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.at, text, word.size) == 0;
}

/* Reads the next line that is not empty apart from a comment; returns false at the end. */
static bool next_line(fmo_text *text, fmo_word *line)
{
    while (fmo_text_line(text, line)) {
        const char *comment = memchr(line->at, '#', line->size);
        if (comment) line->size = (size_t)(comment - line->at);
        fmo_word rest = *line, word;
        if (fmo_text_word(&rest, &word)) return true;
    }
    return false;
}

/* Returns the number of types if a line begins a shell: an element and a type, nothing else. */
static int shell_begins(fmo_word line, int *number, int ang_mom[FMO_TYPE_LETTERS])
{
    fmo_word element, type, more;
    if (!fmo_text_word(&line, &element) || !fmo_text_word(&line, &type) ||
        fmo_text_word(&line, &more))
        return 0;
    *number = fmo_element_number(element.at, element.size);
    return *number ? fmo_basis_shell_type(type, ang_mom) : 0;
}

bool fmo_basis_set_is_nwchem(const fmo_text *text)
{
    fmo_text ahead = *text;
    fmo_word line, word;
    int number, ang_mom[FMO_TYPE_LETTERS];
    if (!next_line(&ahead, &line)) return false;
    if (shell_begins(line, &number, ang_mom)) return true;
    return fmo_text_word(&line, &word) && (is(word, "basis") || is(word, "ecp"));
}

/* Adds the contractions of the shell read last. */
static fmo_status end_shell(parser *p)
{
    fmo_status status = FMO_OK;
    char where[32];
    if (!p->number) return FMO_OK;
    snprintf(where, sizeof where, "line %d", p->begin);
    if (!p->n)
        return fmo_text_fail(p->text, p->begin, FMO_ERR_INPUT,
                             "a shell of %s without primitives; get the file again",
                             fmo_element_symbol(p->number));
    double *const values = malloc(2 * (size_t)p->n * sizeof *values);
    if (!values) return fmo_text_fail(p->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    for (int c = 0; status == FMO_OK && c < p->columns; c++) {
        for (int k = 0; k < p->n; k++) {
            values[k] = p->primitive[(size_t)k * (1 + COLUMNS_MAX)];
            values[p->n + k] = p->primitive[(size_t)k * (1 + COLUMNS_MAX) + 1 + (size_t)c];
        }
        const fmo_file_shell shell = {
            p->number, p->ang_mom[p->types > 1 ? c : 0], p->form, p->n, values, values + p->n};
        status = fmo_basis_set_add_shell(p->set, p->text, where, &shell);
    }
    free(values);
    p->number = 0;
    return status;
}

/* Begins a shell; the shells of an element have to be together. */
static fmo_status begin_shell(parser *p, int number)
{
    const int last = p->number;
    const fmo_status status = end_shell(p);
    if (status != FMO_OK) return status;
    if (number != last && p->seen[number])
        return INPUT(p, "%s is defined a second time; remove one of the two, or move them together",
                     fmo_element_symbol(number));
    p->seen[number] = true;
    p->number = number;
    p->begin = p->text->line;
    p->n = p->columns = 0;
    return FMO_OK;
}

/* Reads a line with an exponent and its coefficients. */
static fmo_status read_primitive(parser *p)
{
    fmo_word word;
    char quote[FMO_QUOTE_SIZE];
    int n = 0;
    if (p->n == FMO_SHELL_LINES)
        return INPUT(p, "more than %d primitives in a shell; get the file again", FMO_SHELL_LINES);
    if (p->n == p->capacity) {
        const int capacity = 2 * p->capacity + 32;
        double *more = realloc(p->primitive, (size_t)capacity * (1 + COLUMNS_MAX) * sizeof *more);
        if (!more) return fmo_text_fail(p->text, 0, FMO_ERR_MEMORY, "no memory to read it");
        p->primitive = more;
        p->capacity = capacity;
    }
    double *const row = p->primitive + (size_t)p->n * (1 + COLUMNS_MAX);
    for (; fmo_text_word(&p->line, &word); n++) {
        if (n > COLUMNS_MAX)
            return INPUT(p, "more than %d coefficients in a line; split the shell", COLUMNS_MAX);
        if (!fmo_text_real(p->text, word, &row[n]))
            return INPUT(p,
                         "'%s': expected a finite number, or a shell such as 'O S', or END after "
                         "the last one",
                         fmo_text_quote(word, quote));
    }
    const int columns = p->types > 1 ? p->types : p->n ? p->columns : n - 1;
    if (n - 1 != columns || columns < 1)
        return INPUT(p, "%d number%s; expected an exponent and %d coefficient%s", n,
                     n == 1 ? "" : "s", columns < 1 ? 1 : columns, columns > 1 ? "s" : "");
    p->columns = columns;
    p->n++;
    return FMO_OK;
}

/* Reads the line BASIS. NWChem's default is Cartesian functions. */
static void read_head(parser *p)
{
    fmo_word word;
    p->form = FMO_FORM_CARTESIAN;
    while (fmo_text_word(&p->line, &word))
        if (is(word, "spherical")) p->form = FMO_FORM_SPHERICAL;
}

/* Records the elements of all potentials up to END. */
static void note_ecps(parser *p)
{
    while (next_line(p->text, &p->line)) {
        fmo_word element, word;
        fmo_text_word(&p->line, &element);
        if (is(element, "end")) return;
        const int number = fmo_element_number(element.at, element.size);
        if (fmo_text_word(&p->line, &word) && is(word, "nelec")) p->set->has_ecp[number] = true;
    }
}

/* Reads one line of the file. *open: whether a block BASIS is open. */
static fmo_status read_line(parser *p, bool *open)
{
    int number, ang_mom[FMO_TYPE_LETTERS];
    fmo_word rest = p->line, word, second = {NULL, 0};
    const int types = shell_begins(p->line, &number, ang_mom);
    fmo_status status = FMO_OK;
    if (types) {
        status = begin_shell(p, number);
        memcpy(p->ang_mom, ang_mom, sizeof ang_mom);
        p->types = types;
        return status;
    }
    fmo_text_word(&rest, &word);
    fmo_text_word(&rest, &second);
    if (is(word, "end") || is(word, "basis") || is(word, "ecp")) {
        status = end_shell(p);
        *open = is(word, "basis");
        if (is(word, "basis")) read_head(p);
        if (is(word, "ecp")) note_ecps(p);
        return status;
    }
    if (is(second, "library"))
        return INPUT(p, "names a set of NWChem's library; give its name as the basis set instead");
    if (!p->number)
        return INPUT(p, "expected an element and a shell, as in 'O S'; is it a basis set in "
                        "NWChem's format?");
    return read_primitive(p);
}

fmo_status fmo_basis_set_parse_nwchem(fmo_basis_set *set, fmo_text *text)
{
    parser p = {.set = set, .text = text};
    bool open = false;
    fmo_status status = FMO_OK;
    while (status == FMO_OK && next_line(text, &p.line)) status = read_line(&p, &open);
    if (status == FMO_OK && open)
        status = fmo_text_fail(text, 0, FMO_ERR_INPUT,
                               "ends within a block BASIS, without END; get it again");
    if (status == FMO_OK) status = end_shell(&p);
    free(p.primitive);
    return status;
}
