/* Reads groups of keys and values of an input of GAMESS, using the table of gamess_table.c. */
#include "io/fragment/gamess.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(g, ...) fmo_text_fail((g)->text, (g)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

/* The key being read, and the number of its values so far. */
typedef struct at {
    const char *group;
    char key[FMO_GAMESS_WORD]; /* "": no key yet */
    const fmo_key_row *row;
    int values;
} at;

/* Splits "KEY" or "KEY(3)". Returns the number, 1 if there is none, 0 if it is invalid. */
static long split_key(fmo_word word, char key[FMO_GAMESS_WORD])
{
    const char *open = memchr(word.at, '(', word.size);
    long from = 1;
    fmo_word name = word;
    if (open) {
        const size_t size = (size_t)(open - word.at);
        fmo_word number = {open + 1, word.size - size - 1};
        name.size = size;
        if (!number.size || number.at[--number.size] != ')' ||
            !fmo_text_count(number, 4L * FMO_MOLECULE_NUCLEI_MAX, &from))
            from = 0;
    }
    fmo_gamess_capitals(name, key);
    return from;
}

static fmo_status take_integer(const fmo_gamess *g, const at *a, fmo_word word,
                               fmo_gamess_list *list)
{
    char quote[FMO_QUOTE_SIZE];
    long value = 0;
    if (!fmo_fragment_integer(word, FMO_MOLECULE_NUCLEI_MAX, &value))
        return INPUT(g, "%s: '%s' is no integer up to %d", a->key, fmo_text_quote(word, quote),
                     FMO_MOLECULE_NUCLEI_MAX);
    if (list->num >= 4 * FMO_MOLECULE_NUCLEI_MAX) return INPUT(g, "%s has too many values", a->key);
    return fmo_gamess_push(g, list, value);
}

/* Appends the name of a fragment, truncated to fit. */
static fmo_status take_name(fmo_gamess *g, fmo_word word)
{
    if (g->name_num >= FMO_MOLECULE_NUCLEI_MAX) return INPUT(g, "FRGNAM has too many values");
    if (!fmo_fragment_grow((void **)&g->name, g->name_num, &g->name_capacity, sizeof *g->name))
        return fmo_fragment_no_memory(g->text);
    const int size = word.size < FMO_GAMESS_WORD ? (int)word.size : FMO_GAMESS_WORD - 1;
    snprintf(g->name[g->name_num++], sizeof *g->name, "%.*s", size, word.at);
    return FMO_OK;
}

static fmo_status expected(const fmo_gamess *g, const at *a, fmo_word word, const char *what)
{
    char quote[FMO_QUOTE_SIZE];
    return INPUT(g, "%s: %s=%s: expected %s", a->group, a->key, fmo_text_quote(word, quote), what);
}

static fmo_status take_flag(const fmo_gamess *g, const at *a, fmo_word word, int *flag)
{
    *flag = fmo_gamess_is(word, ".TRUE.") || fmo_gamess_is(word, ".T.");
    return *flag || fmo_gamess_is(word, ".FALSE.") || fmo_gamess_is(word, ".F.")
               ? FMO_OK
               : expected(g, a, word, ".TRUE. or .FALSE.");
}

/* Stores the value of a key according to its row. */
static fmo_status take_row(fmo_gamess *g, const at *a, fmo_word word)
{
    void *const into = (char *)g + a->row->at;
    long number = 0;
    switch ((fmo_gamess_kind)a->row->kind) {
    case FMO_GAMESS_REAL:
        if (fmo_text_real(g->text, word, into) && *(double *)into >= 0.0) return FMO_OK;
        return expected(g, a, word, "a number from 0 on");
    case FMO_GAMESS_DIGIT:
        if (!fmo_text_count(word, 9, &number)) return expected(g, a, word, "a number");
        *(int *)into = (int)number;
        return FMO_OK;
    case FMO_GAMESS_FLAG:
        return take_flag(g, a, word, into);
    case FMO_GAMESS_LIST:
        return take_integer(g, a, word, into);
    case FMO_GAMESS_NAMES:
        return take_name(g, word);
    case FMO_GAMESS_NFRAG:
        if (fmo_text_count(word, FMO_MOLECULE_NUCLEI_MAX, &g->fragment_num) && g->fragment_num > 0)
            return FMO_OK;
        return expected(g, a, word, "1 or more fragments");
    case FMO_GAMESS_UNITS:
        g->bohr = fmo_gamess_is(word, "BOHR");
        if (g->bohr || fmo_gamess_is(word, "ANGS") || fmo_gamess_is(word, "ANGSTROM"))
            return FMO_OK;
        return expected(g, a, word, "ANGS or BOHR");
    case FMO_GAMESS_ISPHER:
        if (!fmo_fragment_integer(word, 1, &number)) return expected(g, a, word, "-1, 0 or 1");
        g->spherical = number == 1;
        return FMO_OK;
    case FMO_GAMESS_CHARGE:
        g->has_charge = true;
        if (fmo_fragment_integer(word, FMO_MOLECULE_NUCLEI_MAX, &g->whole_charge)) return FMO_OK;
        return expected(g, a, word, "an integer");
    case FMO_GAMESS_GBASIS:
        fmo_gamess_capitals(word, g->gbasis);
        return FMO_OK;
    case FMO_GAMESS_POLAR:
        fmo_gamess_capitals(word, g->polar);
        return FMO_OK;
    }
    return FMO_OK;
}

static bool is_taken_as(const at *a, fmo_gamess_kind kind)
{
    return a->row->treatment == FMO_KEY_READ && a->row->kind == (int)kind;
}

static fmo_status take_value(fmo_gamess *g, at *a, fmo_word word)
{
    const bool taken = a->row->treatment == FMO_KEY_READ;
    const bool many = !taken || is_taken_as(a, FMO_GAMESS_LIST) || is_taken_as(a, FMO_GAMESS_NAMES);
    if (a->values++ && !many) return INPUT(g, "%s: %s has two values; keep one", a->group, a->key);
    return taken ? take_row(g, a, word)
                 : fmo_keys_allow(g->text, &fmo_gamess_keys_table, a->row, a->key, word);
}

static fmo_status has_value(const fmo_gamess *g, const at *a)
{
    if (!*a->key || a->values) return FMO_OK;
    return INPUT(g, "%s: %s has no value; write one, or remove it", a->group, a->key);
}

/* Begins a new key: "KEY" or "KEY(3)", which continues a list at that element. */
static fmo_status begin_key(const fmo_gamess *g, at *a, fmo_word word)
{
    char quote[FMO_QUOTE_SIZE];
    fmo_status status = has_value(g, a);
    const long from = split_key(word, a->key);
    a->values = 0;
    if (status == FMO_OK)
        status = fmo_keys_find(g->text, &fmo_gamess_keys_table, a->group, a->key, &a->row);
    if (status != FMO_OK) return status;
    const fmo_gamess_list *const list = (const void *)((const char *)g + a->row->at);
    const long next = is_taken_as(a, FMO_GAMESS_LIST)     ? list->num + 1
                      : is_taken_as(a, FMO_GAMESS_NAMES)  ? g->name_num + 1
                      : a->row->treatment == FMO_KEY_READ ? 1
                                                          : from;
    if (from >= 1 && from == next) return FMO_OK;
    return INPUT(g, "%s: %s goes on at element %ld; expected %ld", a->group,
                 fmo_text_quote(word, quote), from, from < 1 ? 1 : next);
}

/* Reads the keys and values of a group, including its $END. */
fmo_status fmo_gamess_keys(fmo_gamess *g, const char *group)
{
    enum { KEYS = 64 }; /* more than all groups have */
    char seen[KEYS][FMO_GAMESS_WORD];
    int keys = 0;
    at a = {.group = group};
    char quote[FMO_QUOTE_SIZE];
    fmo_word word;
    fmo_status status = FMO_OK;
    while (status == FMO_OK && fmo_gamess_word(g, &word)) {
        if (fmo_gamess_is(word, "$END")) return has_value(g, &a);
        fmo_word behind = g->rest;
        while (behind.size && (*behind.at == ' ' || *behind.at == '\t')) behind.at++, behind.size--;
        if (!behind.size || *behind.at != '=') {
            if (!*a.key || *word.at == '=')
                return INPUT(g, "%s: expected KEY = VALUE, not '%s'", group,
                             fmo_text_quote(word, quote));
            status = take_value(g, &a, word);
            continue;
        }
        status = begin_key(g, &a, word);
        if (status != FMO_OK) return status;
        const bool once = !memchr(word.at, '(', word.size); /* an index continues a list */
        for (int k = 0; once && k < keys; k++)
            if (strcmp(seen[k], a.key) == 0)
                return INPUT(g, "%s: %s is given twice; keep one", group, a.key);
        if (once && keys < KEYS) memcpy(seen[keys++], a.key, sizeof a.key);
        fmo_gamess_word(g, &word); /* the "=" */
    }
    return status != FMO_OK ? status : INPUT(g, "%s has no $END", group);
}
