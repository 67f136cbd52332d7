/* Lookup of keys in the tables of other programs' inputs; declared in keys.h. */
#include "io/fragment/keys.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INPUT(text, ...) fmo_text_fail((text), (text)->line, FMO_ERR_INPUT, __VA_ARGS__)

/* Reads the next word of a list separated by blanks; returns false at its end. */
static bool next_of(const char **list, fmo_word *word)
{
    *list += strspn(*list, " ");
    *word = (fmo_word){*list, strcspn(*list, " ")};
    *list += word->size;
    return word->size > 0;
}

static bool same(fmo_word a, fmo_word b)
{
    return a.size == b.size && strncasecmp(a.at, b.at, a.size) == 0;
}

static bool lists(const char *list, const char *key)
{
    const fmo_word name = {key, strlen(key)};
    for (fmo_word word; next_of(&list, &word);)
        if (same(word, name)) return true;
    return false;
}

bool fmo_keys_have(const fmo_key_table *table, const char *group)
{
    for (size_t i = 0; i < table->num; i++)
        if (strcmp(table->row[i].group, group) == 0) return true;
    return false;
}

bool fmo_keys_pass_all(const fmo_key_table *table, const char *group)
{
    bool all = fmo_keys_have(table, group);
    for (size_t i = 0; i < table->num; i++)
        if (strcmp(table->row[i].group, group) == 0) all &= strcmp(table->row[i].keys, "*") == 0;
    return all;
}

/* Returns "F" for a Fortran constant that is false, else the word itself. */
static fmo_word flag(fmo_word word)
{
    static const char *const no[] = {".FALSE.", ".F.", "F", "FALSE"};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (same(word, (fmo_word){no[i], strlen(no[i])})) return (fmo_word){"F", 1};
    return word;
}

/* Returns true if two values are the same word in any case, or the same number. */
static bool same_value(const fmo_text *text, fmo_word a, fmo_word b)
{
    double x = 0.0, y = 0.0;
    if (same(flag(a), flag(b))) return true;
    return fmo_text_real(text, a, &x) && fmo_text_real(text, b, &y) && x == y;
}

static bool allows(const fmo_text *text, const char *values, fmo_word value)
{
    if (!*values) return value.size == 0;
    for (fmo_word word; next_of(&values, &word);)
        if (same_value(text, word, value)) return true;
    return false;
}

fmo_status fmo_keys_find(const fmo_text *text, const fmo_key_table *table, const char *group,
                         const char *key, const fmo_key_row **found)
{
    *found = NULL;
    for (size_t i = 0; i < table->num; i++) {
        const fmo_key_row *const row = &table->row[i];
        if (strcmp(row->group, group) != 0) continue;
        const bool all = strcmp(row->keys, "*") == 0;
        if (all && !*found) *found = row;
        if (all || !lists(row->keys, key)) continue;
        *found = row;
        break;
    }
    if (*found) return FMO_OK;
    return INPUT(text, "%s%s: the key %s is not known; remove it if the energy does not need it",
                 table->mark, group, key);
}

fmo_status fmo_keys_allow(const fmo_text *text, const fmo_key_table *table, const fmo_key_row *row,
                          const char *key, fmo_word value)
{
    char quote[FMO_QUOTE_SIZE], allowed[64] = "";
    if (row->treatment != FMO_KEY_CHECKED || allows(text, row->values, value)) return FMO_OK;
    const char *list = row->values, *const q = table->quote;
    for (fmo_word word; next_of(&list, &word);) {
        const size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s%.*s%s", used ? " or " : "", q,
                 (int)word.size, word.at, q);
    }
    return INPUT(text, "%s%s: %s=%s%s%s; only %s is done here: %s", table->mark, row->group, key, q,
                 fmo_text_quote(value, quote), q, *allowed ? allowed : "''",
                 row->cure ? row->cure : "energies of FMO2-RHF; write that, or remove it");
}
