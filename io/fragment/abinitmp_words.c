/* Words of inputs of ABINIT-MP, and the list of atoms, which &XYZ or the PDB file fills. */
#include "io/fragment/abinitmp.h"
#include "io/molecule/molecule_internal.h"

#include <math.h>
#include <string.h>

void fmo_abinitmp_capitals(fmo_word word, char capitals[FMO_ABINITMP_NAME])
{
    const size_t n = word.size < FMO_ABINITMP_NAME - 1 ? word.size : FMO_ABINITMP_NAME - 1;
    for (size_t i = 0; i < n; i++) {
        const char c = word.at[i];
        capitals[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c < ' ' || c > '~' ? '?' : c;
    }
    capitals[n] = '\0';
}

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

static void skip_blanks(fmo_word *rest)
{
    while (rest->size && separates(*rest->at)) rest->at++, rest->size--;
}

bool fmo_abinitmp_group(fmo_abinitmp *a, fmo_word *name)
{
    skip_blanks(&a->rest);
    if (!a->rest.size || *a->rest.at != '&') return false;
    *name = (fmo_word){a->rest.at + 1, 0};
    while (name->size + 1 < a->rest.size && !separates(name->at[name->size]) &&
           name->at[name->size] != '/' && name->at[name->size] != '!')
        name->size++;
    a->rest.at += name->size + 1, a->rest.size -= name->size + 1;
    return true;
}

/* Skips comments and empty lines. A line that begins with '&' ends the group and remains unread. */
fmo_abinitmp_token fmo_abinitmp_next(fmo_abinitmp *a, fmo_word *word)
{
    for (;;) {
        skip_blanks(&a->rest);
        if (a->rest.size && *a->rest.at != '!') break;
        if (!fmo_text_line(a->text, &a->rest)) return FMO_ABINITMP_FILE_END;
        fmo_word begin = a->rest;
        skip_blanks(&begin);
        a->waits = begin.size && *begin.at == '&';
        if (a->waits) return FMO_ABINITMP_END;
    }
    *word = (fmo_word){a->rest.at, 1};
    a->rest.at++, a->rest.size--;
    const char first = *word->at;
    if (first == '/') {
        a->rest.size = 0; /* text after the / is a comment */
        return FMO_ABINITMP_END;
    }
    if (first == '=') return FMO_ABINITMP_EQUALS;
    if (first == '\'' || first == '"') {
        const char *end = memchr(a->rest.at, first, a->rest.size);
        const size_t size = end ? (size_t)(end - a->rest.at) : a->rest.size;
        *word = (fmo_word){a->rest.at, size};
        a->rest.at += size + (end != NULL), a->rest.size -= size + (end != NULL);
        return FMO_ABINITMP_QUOTED;
    }
    while (a->rest.size && !separates(*a->rest.at) && !strchr("=/!'\"", *a->rest.at))
        word->size++, a->rest.at++, a->rest.size--;
    return FMO_ABINITMP_WORD;
}

fmo_status fmo_abinitmp_add_atom(const fmo_text *text, int line, fmo_abinitmp *a,
                                 fmo_abinitmp_atom atom)
{
    static const char *const axis[] = {"x", "y", "z"};
    for (int x = 0; x < 3; x++)
        if (fabs(atom.angstrom[x]) > FMO_FRAGMENT_FARTHEST)
            return fmo_text_fail(text, line, FMO_ERR_INPUT,
                                 "%s = %g is too far away; expected angstroms", axis[x],
                                 atom.angstrom[x]);
    if (a->atoms >= FMO_MOLECULE_NUCLEI_MAX)
        return fmo_text_fail(text, line, FMO_ERR_INPUT, "more than %d atoms",
                             FMO_MOLECULE_NUCLEI_MAX);
    if (!fmo_fragment_grow((void **)&a->atom, a->atoms, &a->atom_capacity, sizeof *a->atom))
        return fmo_fragment_no_memory(a->text);
    a->atom[a->atoms++] = atom;
    return FMO_OK;
}
