/* Keys of $FMO, $CONTRL and $BASIS: what is taken, what must be as FMO2-RHF has it, what is passed
 * over; others are refused. */
#include "io/fragment/gamess.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(g, ...) fmo_text_fail((g)->text, (g)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

/* Keys with the one value that they may have, or NULL: any. */
static const struct {
    const char *group, *key, *must;
} others[] = {
    {"$FMO", "NBODY", "2"},        {"$FMO", "NLAYER", "1"},       {"$FMO", "IEFMO", "0"},
    {"$FMO", "SCFTYP", "RHF"},     {"$FMO", "DFTTYP", "NONE"},    {"$FMO", "MPLEVL", "0"},
    {"$FMO", "MULT", "1"},         {"$FMO", "MODESP", "0"},       {"$FMO", "LAYER", "1"},
    {"$FMO", "RCORSD", NULL},      {"$FMO", "MODGRD", NULL},      {"$FMO", "NOPFRG", NULL},
    {"$FMO", "RITRIM", NULL},      {"$CONTRL", "SCFTYP", "RHF"},  {"$CONTRL", "MPLEVL", "0"},
    {"$CONTRL", "DFTTYP", "NONE"}, {"$CONTRL", "CITYP", "NONE"},  {"$CONTRL", "CCTYP", "NONE"},
    {"$CONTRL", "TDDFT", "NONE"},  {"$CONTRL", "MULT", "1"},      {"$CONTRL", "RUNTYP", "ENERGY"},
    {"$CONTRL", "METHOD", "RHF"},  {"$CONTRL", "RELWFN", "NONE"}, {"$CONTRL", "PP", "NONE"},
    {"$CONTRL", "EXETYP", NULL},   {"$CONTRL", "NPRINT", NULL},   {"$CONTRL", "MAXIT", NULL},
    {"$CONTRL", "ICUT", NULL},     {"$CONTRL", "ITOL", NULL},     {"$CONTRL", "INTTYP", NULL},
    {"$CONTRL", "ICHARG", NULL},   {"$CONTRL", "NOSYM", NULL},    {"$CONTRL", "LOCAL", NULL},
    {"$CONTRL", "COORD", NULL},    {"$CONTRL", "ISPHER", NULL},   {"$CONTRL", "QMTTOL", NULL},
    {"$CONTRL", "MOLPLT", NULL},   {"$CONTRL", "PLTORB", NULL},   {"$CONTRL", "GRDTYP", NULL},
    {"$BASIS", "POLAR", NULL}};

/* What is being read: a key, how many values it had, where an array goes on. */
typedef struct at {
    const char *group;
    char key[FMO_GAMESS_WORD];
    int values;
} at;

/* "KEY" or "KEY(3)". The number, 1 without one; 0: no key. */
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
            !fmo_text_count(number, 4L * FMO_NUCLEUS_MOST, &from))
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
    if (!fmo_fragment_integer(word, FMO_NUCLEUS_MOST, &value))
        return INPUT(g, "%s: '%s' is no integer up to %d", a->key, fmo_text_quote(word, quote),
                     FMO_NUCLEUS_MOST);
    if (list->num >= 4 * FMO_NUCLEUS_MOST) return INPUT(g, "%s has too many values", a->key);
    return fmo_gamess_push(g, list, value);
}

/* The array that a key is, or NULL. */
static fmo_gamess_list *list_of(fmo_gamess *g, const at *a)
{
    if (strcmp(a->group, "$FMO") != 0) return NULL;
    if (strcmp(a->key, "ICHARG") == 0) return &g->charge;
    return strcmp(a->key, "INDAT") == 0 ? &g->indat : NULL;
}

/* A fragment's name, cut to fit. */
static fmo_status take_name(fmo_gamess *g, fmo_word word)
{
    if (g->name_num >= FMO_NUCLEUS_MOST) return INPUT(g, "FRGNAM has too many values");
    if (!fmo_fragment_grow((void **)&g->name, g->name_num, &g->name_room, sizeof *g->name))
        return fmo_fragment_no_memory(g->text);
    const int size = word.size < FMO_GAMESS_WORD ? (int)word.size : FMO_GAMESS_WORD - 1;
    snprintf(g->name[g->name_num++], sizeof *g->name, "%.*s", size, word.at);
    return FMO_OK;
}

static fmo_status take_other(const fmo_gamess *g, const at *a, fmo_word word)
{
    char value[FMO_GAMESS_WORD], quote[FMO_QUOTE_SIZE];
    fmo_gamess_capitals(word, value);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].group, a->group) != 0 || strcmp(others[i].key, a->key) != 0) continue;
        if (!others[i].must || strcmp(others[i].must, value) == 0) return FMO_OK;
        return INPUT(g, "%s: %s=%s; only %s is done here: energies of FMO2-RHF", a->group, a->key,
                     fmo_text_quote(word, quote), others[i].must);
    }
    return INPUT(g, "%s: the key %s is not known; remove it if the energy does not need it",
                 a->group, a->key);
}

static fmo_status take_value(fmo_gamess *g, const at *a, fmo_word word)
{
    const struct {
        const char *group, *key;
        double *real;
        int *integer, *flag;
    } known[] = {
        {"$FMO", "RESPAP", &g->respap, NULL, NULL},   {"$FMO", "RESPPC", &g->resppc, NULL, NULL},
        {"$FMO", "RESDIM", &g->resdim, NULL, NULL},   {"$BASIS", "NGAUSS", NULL, &g->ngauss, NULL},
        {"$BASIS", "NDFUNC", NULL, &g->ndfunc, NULL}, {"$BASIS", "NPFUNC", NULL, &g->npfunc, NULL},
        {"$BASIS", "DIFFSP", NULL, NULL, &g->diffsp}, {"$BASIS", "DIFFS", NULL, NULL, &g->diffs}};
    char value[FMO_GAMESS_WORD], quote[FMO_QUOTE_SIZE];
    long number = 0;
    fmo_gamess_list *list = list_of(g, a);
    if (list) return take_integer(g, a, word, list);
    if (strcmp(a->group, "$FMO") == 0 && strcmp(a->key, "FRGNAM") == 0) return take_name(g, word);
    fmo_gamess_capitals(word, value);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].group, a->group) != 0 || strcmp(known[i].key, a->key) != 0) continue;
        if (known[i].real && fmo_text_real(g->text, word, known[i].real)) return FMO_OK;
        if (known[i].integer && fmo_text_count(word, 9, &number))
            *known[i].integer = (int)number;
        else if (known[i].flag && (strcmp(value, ".TRUE.") == 0 || strcmp(value, ".T.") == 0))
            *known[i].flag = 1;
        else if (!known[i].flag || (strcmp(value, ".FALSE.") != 0 && strcmp(value, ".F.") != 0))
            return INPUT(g, "%s: %s=%s: expected %s", a->group, a->key, fmo_text_quote(word, quote),
                         known[i].flag ? ".TRUE. or .FALSE." : "a number");
        return FMO_OK;
    }
    if (strcmp(a->group, "$FMO") == 0 && strcmp(a->key, "NFRAG") == 0)
        return fmo_text_count(word, FMO_NUCLEUS_MOST, &g->fragment_num) && g->fragment_num > 0
                   ? FMO_OK
                   : INPUT(g, "$FMO: NFRAG=%s: expected 1 to %d", fmo_text_quote(word, quote),
                           FMO_NUCLEUS_MOST);
    if (strcmp(a->group, "$CONTRL") == 0 && strcmp(a->key, "UNITS") == 0) {
        g->bohr = strcmp(value, "BOHR") == 0;
        return g->bohr || strncmp(value, "ANGS", 4) == 0
                   ? FMO_OK
                   : INPUT(g, "$CONTRL: UNITS=%s: expected ANGS or BOHR",
                           fmo_text_quote(word, quote));
    }
    if (strcmp(a->group, "$BASIS") == 0 && strcmp(a->key, "GBASIS") == 0) {
        memcpy(g->gbasis, value, sizeof value);
        return FMO_OK;
    }
    return take_other(g, a, word);
}

fmo_status fmo_gamess_keys(fmo_gamess *g, const char *group)
{
    enum { KEYS = 64 }; /* more than there are */
    char seen[KEYS][FMO_GAMESS_WORD];
    int keys = 0;
    at a = {.group = group};
    char quote[FMO_QUOTE_SIZE], end[FMO_GAMESS_WORD];
    fmo_word word;
    fmo_status status = FMO_OK;
    while (status == FMO_OK && fmo_gamess_word(g, &word)) {
        fmo_gamess_capitals(word, end);
        if (strcmp(end, "$END") == 0) return FMO_OK;
        fmo_word behind = g->rest;
        while (behind.size && (*behind.at == ' ' || *behind.at == '\t')) behind.at++, behind.size--;
        if (!behind.size || *behind.at != '=') {
            if (!*a.key || *word.at == '=')
                return INPUT(g, "%s: '%s' where a key and = should stand", group,
                             fmo_text_quote(word, quote));
            status = take_value(g, &a, word);
            continue;
        }
        const long from = split_key(word, a.key);
        const fmo_gamess_list *list = list_of(g, &a);
        if (from < 1 || (list && from != list->num + 1))
            return INPUT(g, "%s: %s goes on at element %ld; expected %d", group,
                         fmo_text_quote(word, quote), from, list ? list->num + 1 : 1);
        const bool once = !list && from == 1 && strcmp(a.key, "FRGNAM") != 0; /* others go on */
        for (int k = 0; once && k < keys; k++)
            if (strcmp(seen[k], a.key) == 0)
                return INPUT(g, "%s: %s is there twice; keep one", group, a.key);
        if (once && keys < KEYS) memcpy(seen[keys++], a.key, sizeof a.key);
        fmo_gamess_word(g, &word); /* the = */
    }
    return status != FMO_OK ? status : INPUT(g, "%s has no $END", group);
}
