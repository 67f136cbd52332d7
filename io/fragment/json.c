/* Reads fragmented molecules from JSON; the fields are listed in docs/reference/fmo.md. Next:
 * fragment_json.h. */
#include "io/fragment/fragment_json.h"
#include "io/fragment/reader.h"
#include "io/molecule/molecule_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 200, FRAGMENT_NAME_MAX = 60 };

#define INPUT(text, ...) fmo_text_fail((text), 0, FMO_ERR_INPUT, __VA_ARGS__)

/* Reads an optional text; *value stays NULL if it is absent. */
static fmo_status read_name(const fmo_text *text, const json_t *document, const char *name,
                            char **value)
{
    const json_t *string = json_object_get(document, name);
    if (!string) return FMO_OK;
    if (!json_is_string(string) || !json_string_length(string) ||
        json_string_length(string) > NAME_BYTES_MAX)
        return INPUT(text, "%s: expected a text of 1 to %d bytes", name, NAME_BYTES_MAX);
    *value = strdup(json_string_value(string));
    return *value ? FMO_OK : fmo_fragment_no_memory(text);
}

/* Reads the unit of length, the element symbols and the coordinates. */
static fmo_status read_atoms(const fmo_text *text, const json_t *document, fmo_fragment_system *s)
{
    const json_t *symbols = json_object_get(document, "symbols");
    const json_t *rows = json_object_get(document, "angstrom");
    const json_t *bohr = json_object_get(document, "bohr_in_angstrom");
    const size_t count = json_array_size(symbols);
    char quote[FMO_QUOTE_SIZE], name[32];
    if (bohr) s->bohr = json_number_value(bohr);
    if (!(s->bohr > 0.529 && s->bohr < 0.5293))
        return INPUT(text, "bohr_in_angstrom: expected a number such as %.11f", FMO_FRAGMENT_BOHR);
    if (count < 1 || count > FMO_MOLECULE_NUCLEI_MAX)
        return INPUT(text, "symbols: expected an array of 1 to %d element symbols",
                     FMO_MOLECULE_NUCLEI_MAX);
    if (json_array_size(rows) != count)
        return INPUT(text, "angstrom: expected %zu rows of x, y, z, one for each symbol", count);
    s->atom_num = (int)count;
    s->number = calloc(count, sizeof *s->number);
    s->coord = calloc(3 * count, sizeof *s->coord);
    s->fragment = calloc(count, sizeof *s->fragment);
    if (!s->number || !s->coord || !s->fragment) return fmo_fragment_no_memory(text);
    for (size_t a = 0; a < count; a++) {
        const json_t *symbol = json_array_get(symbols, a);
        const char *letters = json_string_value(symbol);
        s->number[a] = fmo_element_number(letters ? letters : "", json_string_length(symbol));
        if (s->number[a] < 1)
            return INPUT(text, "symbols[%zu] = '%s': expected an element symbol such as C", a,
                         fmo_json_quote(letters, quote));
        snprintf(name, sizeof name, "angstrom[%zu]", a);
        const fmo_status status = fmo_json_reals(text, name, json_array_get(rows, a), 3,
                                                 FMO_FRAGMENT_FARTHEST, s->coord + 3 * a);
        if (status != FMO_OK) return status;
        for (int x = 0; x < 3; x++) s->coord[3 * a + (size_t)x] /= s->bohr;
    }
    return FMO_OK;
}

/* Reads the charges, whose number is that of the fragments, and the fragment of each atom. */
static fmo_status read_fragments(const fmo_text *text, const json_t *document,
                                 fmo_fragment_system *s)
{
    const json_t *charges = json_object_get(document, "charge");
    const size_t count = json_array_size(charges);
    if (count < 1 || count > (size_t)s->atom_num)
        return INPUT(text,
                     "charge: expected an array with the charge of each fragment, 1 to %d of "
                     "them",
                     s->atom_num);
    s->fragment_num = (int)count;
    s->charge = calloc(count, sizeof *s->charge);
    if (!s->charge) return fmo_fragment_no_memory(text);
    fmo_status status =
        fmo_json_integers(text, "charge", charges, s->fragment_num, -1000, 1000, s->charge);
    if (status == FMO_OK)
        status = fmo_json_integers(text, "fragment", json_object_get(document, "fragment"),
                                   s->atom_num, 1, s->fragment_num, s->fragment);
    for (int a = 0; a < s->atom_num; a++) s->fragment[a]--;
    return status;
}

/* Reads the optional array of cut bonds. */
static fmo_status read_bonds(const fmo_text *text, const json_t *document, fmo_fragment_system *s)
{
    const json_t *bonds = json_object_get(document, "bonds");
    const size_t count = json_array_size(bonds);
    fmo_status status = FMO_OK;
    if (!bonds) return FMO_OK;
    if (!json_is_array(bonds) || count > 4 * (size_t)s->atom_num)
        return INPUT(text, "bonds: expected an array of pairs [detached atom, attached atom]");
    s->bond_num = (int)count;
    s->bond = calloc(2 * count + 1, sizeof *s->bond);
    if (!s->bond) return fmo_fragment_no_memory(text);
    for (size_t b = 0; b < count && status == FMO_OK; b++) {
        char name[32];
        snprintf(name, sizeof name, "bonds[%zu]", b);
        status = fmo_json_integers(text, name, json_array_get(bonds, b), 2, 1, s->atom_num,
                                   s->bond + 2 * b);
        s->bond[2 * b]--, s->bond[2 * b + 1]--;
    }
    return status;
}

/* Reads the optional names of the fragments. */
static fmo_status read_fragment_names(const fmo_text *text, const json_t *document,
                                      fmo_fragment_system *s)
{
    const json_t *names = json_object_get(document, "fragment_name");
    fmo_status status = FMO_OK;
    if (!names) return FMO_OK;
    if (json_array_size(names) != (size_t)s->fragment_num)
        return INPUT(text, "fragment_name: expected an array of %d texts, one for each fragment",
                     s->fragment_num);
    for (int f = 0; f < s->fragment_num && status == FMO_OK; f++) {
        const json_t *name = json_array_get(names, (size_t)f);
        if (!json_is_string(name) || !json_string_length(name) ||
            json_string_length(name) > FRAGMENT_NAME_MAX)
            return INPUT(text, "fragment_name[%d]: expected a text of 1 to %d bytes", f,
                         FRAGMENT_NAME_MAX);
        status = fmo_fragment_set_name(text, s, f, json_string_value(name));
    }
    return status;
}

/* Reads the optional thresholds. */
static fmo_status read_thresholds(const fmo_text *text, const json_t *document,
                                  fmo_fragment_system *s)
{
    static const char *const known[] = {"aoc_from", "ptc_from", "es_dimers_from", NULL};
    double *const value[] = {&s->aoc_from, &s->ptc_from, &s->es_dimers_from};
    const json_t *esp = json_object_get(document, "esp");
    char quote[FMO_QUOTE_SIZE];
    if (!esp) return FMO_OK;
    if (!json_is_object(esp))
        return INPUT(text, "esp: expected an object with aoc_from, ptc_from and es_dimers_from");
    const char *unknown = fmo_json_unknown(esp, known);
    if (unknown)
        return INPUT(text, "esp/%s is not known; expected aoc_from, ptc_from or es_dimers_from",
                     fmo_json_quote(unknown, quote));
    for (int k = 0; known[k]; k++) {
        const json_t *number = json_object_get(esp, known[k]);
        if (number && !json_is_number(number))
            return INPUT(text, "esp/%s: expected a number", known[k]);
        if (number) *value[k] = json_number_value(number);
    }
    return FMO_OK;
}

/* Returns the reference energy: energy_fmo2 if it is a number, or the first number in it; NaN if
 * absent. */
static double reference_of(const json_t *document)
{
    const json_t *energy = json_object_get(document, "energy_fmo2");
    if (json_is_number(energy)) return json_number_value(energy);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)energy, key, value)
    {
        if (json_is_number(value)) return json_number_value(value);
    }
    return NAN;
}

/* Rejects unknown fields, then reads all fields. */
static fmo_status read_document(const fmo_text *text, const json_t *document,
                                fmo_fragment_system *s)
{
    static const char *const known[] = {
        "name", "note",    "energy_fmo2", "basis",  "charge",           "fragment",      "bonds",
        "esp",  "symbols", "angstrom",    "source", "bohr_in_angstrom", "fragment_name", NULL};
    char quote[FMO_QUOTE_SIZE];
    if (!json_is_object(document))
        return INPUT(text, "expected an object with symbols, angstrom, fragment and charge");
    const char *unknown = fmo_json_unknown(document, known);
    if (unknown)
        return INPUT(text, "%s: a field that is not known; docs/reference/fmo.md lists them",
                     fmo_json_quote(unknown, quote));
    fmo_status status = read_name(text, document, "name", &s->name);
    if (status == FMO_OK) status = read_name(text, document, "basis", &s->basis);
    if (status == FMO_OK) status = read_atoms(text, document, s);
    if (status == FMO_OK) status = read_fragments(text, document, s);
    if (status == FMO_OK) status = read_fragment_names(text, document, s);
    if (status == FMO_OK) status = read_bonds(text, document, s);
    if (status == FMO_OK) status = read_thresholds(text, document, s);
    s->reference = reference_of(document);
    return status;
}

fmo_status fmo_fragment_read_json(fmo_text *text, fmo_fragment_system *s)
{
    json_t *document;
    fmo_status status = fmo_text_json(text, "", &document);
    if (status == FMO_OK) status = read_document(text, document, s);
    json_decref(document);
    return status;
}
