/* Reads groups of keys and values of an input of ABINIT-MP, using the table of abinitmp_table.c. */
#include "io/fragment/abinitmp.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(a, ...) fmo_text_fail((a)->text, (a)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

static fmo_status take_threshold(const fmo_abinitmp *a, const char *key, fmo_word word,
                                 double *value)
{
    char quote[FMO_QUOTE_SIZE];
    const bool may_be_0 = value == &a->laoc;
    if (fmo_text_real(a->text, word, value) && (may_be_0 ? *value >= 0.0 : *value > 0.0))
        return FMO_OK;
    return INPUT(a, "&FMOCNTRL: %s=%s: expected a number %s", key, fmo_text_quote(word, quote),
                 may_be_0 ? "from 0 on" : "above 0; what others mean is not documented");
}

static fmo_status take_geometry(fmo_abinitmp *a, fmo_word word)
{
    free(a->geometry);
    a->geometry_line = a->text->line;
    a->geometry = word.size ? strndup(word.at, word.size) : NULL;
    return a->geometry || !word.size ? FMO_OK : fmo_fragment_no_memory(a->text);
}

static fmo_status take_fragmentation(fmo_abinitmp *a, fmo_word word)
{
    char value[FMO_ABINITMP_NAME], quote[FMO_QUOTE_SIZE];
    fmo_abinitmp_capitals(word, value);
    a->automatic_line = a->text->line;
    a->by_hand = strcmp(value, "OFF") == 0;
    a->automatic = strcmp(value, "ON") == 0;
    if (a->by_hand || a->automatic) return FMO_OK;
    return INPUT(a, "&FMOCNTRL: AutoFrag='%s': expected 'OFF'", fmo_text_quote(word, quote));
}

static fmo_status take_basis(fmo_abinitmp *a, fmo_word word)
{
    char quote[FMO_QUOTE_SIZE];
    fmo_text_quote(word, quote);
    if (word.size >= sizeof a->basis)
        return INPUT(a, "&BASIS: BasisSet='%s' is too long for a name", quote);
    memcpy(a->basis, quote, word.size);
    a->basis[word.size] = '\0';
    return FMO_OK;
}

static fmo_status take_diffuse(fmo_abinitmp *a, fmo_word word)
{
    char value[FMO_ABINITMP_NAME], quote[FMO_QUOTE_SIZE];
    fmo_abinitmp_capitals(word, value);
    a->diffuse = strcmp(value, "YES") == 0;
    if (a->diffuse || strcmp(value, "NO") == 0) return FMO_OK;
    return INPUT(a, "&BASIS: DiffuseOn='%s': expected 'YES' or 'NO'", fmo_text_quote(word, quote));
}

/* Stores the value of a key according to its row. */
static fmo_status take_row(fmo_abinitmp *a, const fmo_key_row *row, const char *key, fmo_word word)
{
    char quote[FMO_QUOTE_SIZE];
    switch ((fmo_abinitmp_kind)row->kind) {
    case FMO_ABINITMP_THRESHOLD:
        return take_threshold(a, key, word, (double *)(void *)((char *)a + row->at));
    case FMO_ABINITMP_READGEOM:
        return take_geometry(a, word);
    case FMO_ABINITMP_NATOM:
        if (fmo_text_count(word, FMO_MOLECULE_NUCLEI_MAX, &a->atom_num)) return FMO_OK;
        return INPUT(a, "&CNTRL: Natom=%s: expected 0 to %d", fmo_text_quote(word, quote),
                     FMO_MOLECULE_NUCLEI_MAX);
    case FMO_ABINITMP_CHARGE:
        a->charge_line = a->text->line;
        if (fmo_fragment_integer(word, FMO_MOLECULE_NUCLEI_MAX, &a->charge)) return FMO_OK;
        return INPUT(a, "&CNTRL: Charge=%s: expected an integer", fmo_text_quote(word, quote));
    case FMO_ABINITMP_NF:
        a->fragment_num_line = a->text->line;
        if (fmo_text_count(word, FMO_MOLECULE_NUCLEI_MAX, &a->fragment_num)) return FMO_OK;
        return INPUT(a, "&FMOCNTRL: NF=%s: expected 1 to %d", fmo_text_quote(word, quote),
                     FMO_MOLECULE_NUCLEI_MAX);
    case FMO_ABINITMP_AUTOFRAG:
        return take_fragmentation(a, word);
    case FMO_ABINITMP_BASISSET:
        return take_basis(a, word);
    case FMO_ABINITMP_DIFFUSEON:
        return take_diffuse(a, word);
    }
    return FMO_OK;
}

/* Reads the keys and values of a group, including its end; each key may occur once. */
fmo_status fmo_abinitmp_keys(fmo_abinitmp *a, const char *group)
{
    enum { KEYS = 96 }; /* more than all tables have */
    const fmo_key_table *const table = &fmo_abinitmp_keys_table;
    char key[FMO_ABINITMP_NAME], seen[KEYS][FMO_ABINITMP_NAME];
    int keys = 0;
    const fmo_key_row *row = NULL;
    fmo_word word = {"", 0};
    for (fmo_status status = FMO_OK; status == FMO_OK;) {
        fmo_abinitmp_token token = fmo_abinitmp_next(a, &word);
        if (token == FMO_ABINITMP_END) return FMO_OK;
        if (token == FMO_ABINITMP_FILE_END) return INPUT(a, "&%s has no /", group);
        fmo_abinitmp_capitals(word, key);
        if (token != FMO_ABINITMP_WORD || fmo_abinitmp_next(a, &word) != FMO_ABINITMP_EQUALS)
            return INPUT(a, "&%s: expected KEY = VALUE, not '%s'", group, key);
        token = fmo_abinitmp_next(a, &word);
        fmo_word behind = a->rest;
        while (behind.size && (*behind.at == ' ' || *behind.at == '\t')) behind.at++, behind.size--;
        const bool is_key = token == FMO_ABINITMP_WORD && behind.size && *behind.at == '=';
        if (is_key || (token != FMO_ABINITMP_WORD && token != FMO_ABINITMP_QUOTED))
            return INPUT(a, "&%s: %s has no value; write one, or remove it", group, key);
        for (int k = 0; k < keys; k++)
            if (strcmp(seen[k], key) == 0)
                return INPUT(a, "&%s: %s is given twice; keep one", group, key);
        if (keys < KEYS) memcpy(seen[keys++], key, sizeof key);
        status = fmo_keys_find(a->text, table, group, key, &row);
        if (status == FMO_OK)
            status = row->treatment == FMO_KEY_READ
                         ? take_row(a, row, key, word)
                         : fmo_keys_allow(a->text, table, row, key, word);
        if (status != FMO_OK) return status;
    }
    return FMO_OK;
}
