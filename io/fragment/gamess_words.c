/* Splits an input of GAMESS or OpenFMO into words and lines; declared in gamess.h. */
#include "io/fragment/gamess.h"

#include <string.h>

void fmo_gamess_capitals(fmo_word word, char capitals[FMO_GAMESS_WORD])
{
    size_t n = word.size < FMO_GAMESS_WORD - 1 ? word.size : FMO_GAMESS_WORD - 1;
    for (size_t i = 0; i < n; i++) {
        const char c = word.at[i];
        capitals[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c < ' ' || c > '~' ? '?' : c;
    }
    capitals[n] = '\0';
}

fmo_status fmo_gamess_push(const fmo_gamess *g, fmo_gamess_list *list, long value)
{
    if (!fmo_fragment_grow((void **)&list->value, list->num, &list->capacity, sizeof *list->value))
        return fmo_fragment_no_memory(g->text);
    list->value[list->num++] = (int)value;
    return FMO_OK;
}

bool fmo_gamess_line(fmo_gamess *g)
{
    if (!fmo_text_line(g->text, &g->rest)) return false;
    const char *comment = memchr(g->rest.at, '!', g->rest.size);
    if (comment) g->rest.size = (size_t)(comment - g->rest.at);
    return true;
}

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

bool fmo_gamess_word(fmo_gamess *g, fmo_word *word)
{
    for (;;) {
        while (g->rest.size && separates(*g->rest.at)) g->rest.at++, g->rest.size--;
        if (g->rest.size) break;
        if (!fmo_gamess_line(g)) return false;
    }
    *word = (fmo_word){g->rest.at, 0};
    do {
        g->rest.at++, g->rest.size--, word->size++;
    } while (g->rest.size && *word->at != '=' && *g->rest.at != '=' && !separates(*g->rest.at));
    return true;
}

bool fmo_gamess_is(fmo_word word, const char *name)
{
    char capitals[FMO_GAMESS_WORD];
    fmo_gamess_capitals(word, capitals);
    return strcmp(capitals, name) == 0;
}

int fmo_gamess_words(fmo_gamess *g, fmo_word *words, int max_num)
{
    int n = 0;
    while (!g->at_end && !n) {
        fmo_word word;
        while (fmo_text_word(&g->rest, &word)) {
            if (fmo_gamess_is(word, "$END")) {
                g->at_end = true;
                break;
            }
            if (n < max_num) words[n++] = word;
        }
        if (!g->at_end && !n && !fmo_gamess_line(g)) break;
    }
    return n;
}
