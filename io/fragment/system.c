/* Memory of a fragmented molecule, and small functions shared by all readers; declared in
 * reader.h. */
#include "io/fragment/reader.h"

#include <stdlib.h>
#include <string.h>

/* Frees a system and its arrays; NULL is allowed. */
void fmo_fragment_system_destroy(fmo_fragment_system *system)
{
    if (!system) return;
    free(system->number);
    free(system->coord);
    free(system->fragment);
    free(system->charge);
    free(system->bond);
    free(system->name);
    for (int f = 0; system->fragment_name && f < system->fragment_num; f++)
        free(system->fragment_name[f]);
    free(system->fragment_name);
    free(system->basis);
    free(system->path);
    free(system->geometry);
    free(system->label);
    free(system->notice);
    free(system);
}

fmo_status fmo_fragment_no_memory(const fmo_text *text)
{
    return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
}

fmo_status fmo_fragment_make(const fmo_text *text, int atoms, int fragments, fmo_fragment_system *s)
{
    const size_t n = (size_t)atoms;
    s->atom_num = atoms;
    s->fragment_num = fragments;
    s->number = calloc(n + 1, sizeof *s->number);
    s->coord = calloc(3 * n + 1, sizeof *s->coord);
    s->fragment = calloc(n + 1, sizeof *s->fragment);
    s->charge = calloc((size_t)fragments + 1, sizeof *s->charge);
    return s->number && s->coord && s->fragment && s->charge ? FMO_OK
                                                             : fmo_fragment_no_memory(text);
}

fmo_status fmo_fragment_set_name(const fmo_text *text, fmo_fragment_system *s, int fragment,
                                 const char *name)
{
    if (!s->fragment_name)
        s->fragment_name = calloc((size_t)s->fragment_num, sizeof *s->fragment_name);
    if (!s->fragment_name) return fmo_fragment_no_memory(text);
    s->fragment_name[fragment] = strdup(name);
    return s->fragment_name[fragment] ? FMO_OK : fmo_fragment_no_memory(text);
}

bool fmo_fragment_grow(void **things, int num, int *capacity, size_t size)
{
    if (num < *capacity) return true;
    const int more = *capacity ? 2 * *capacity : 256;
    void *grown = realloc(*things, (size_t)more * size);
    if (!grown) return false;
    *things = grown;
    *capacity = more;
    return true;
}

bool fmo_fragment_integer(fmo_word word, long limit, long *value)
{
    const bool negative = word.size && *word.at == '-';
    if (word.size && (negative || *word.at == '+')) word.at++, word.size--;
    if (!fmo_text_count(word, limit, value)) return false;
    if (negative) *value = -*value;
    return true;
}
