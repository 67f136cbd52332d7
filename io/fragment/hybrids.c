/* Reads hybrid orbitals at cut bonds from a JSON file: {"source": ..., "sets": [{"basis",
 * "element", "orbitals": [[...], ...]}]}, written by datasets/hybrids/make_hybrids.py. Declared in
 * fragment_system.h. */
#include <fmo/fragment_system.h>
#include "base/arguments.h"
#include "base/data_path.h"
#include "io/fragment/fragment_json.h"
#include "io/molecule/molecule_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 24, ORBITALS_MAX = 16, FUNCTIONS_MAX = 100 };
#define COEFFICIENT_MAX 100.0

#define INPUT(text, ...) fmo_text_fail((text), 0, FMO_ERR_INPUT, __VA_ARGS__)

void fmo_hybrids_destroy(fmo_hybrids *hybrids)
{
    if (!hybrids) return;
    free(hybrids->coefficient);
    free(hybrids);
}

/* Returns the next character of the normalised name of a basis set, 0 at the end: blanks, '-' and
 * '_' are skipped, and "*" and "**" become "(d)" and "(d,p)". */
static int next_character(const char **name, const char **rest)
{
    if (!**rest) {
        *name += strspn(*name, "-_ ");
        const size_t stars = strspn(*name, "*");
        if (!stars) return **name ? tolower((unsigned char)*(*name)++) : 0;
        *name += stars > 2 ? 2 : stars;
        *rest = stars > 1 ? "(d,p)" : "(d)";
    }
    return *(*rest)++;
}

/* Returns 1 if two names denote the same basis set, as "STO-3G" and "sto3g" do. */
static int same_name(const char *a, const char *b)
{
    const char *rest_a = "", *rest_b = "";
    for (;;) {
        const int c = next_character(&a, &rest_a), d = next_character(&b, &rest_b);
        if (c != d) return 0;
        if (!c) return 1;
    }
}

/* Reads the coefficients of an entry: rows of equal length. */
static fmo_status read_orbitals(const fmo_text *text, const json_t *entry, fmo_hybrids *h)
{
    const json_t *rows = json_object_get(entry, "orbitals");
    const size_t orbitals = json_array_size(rows);
    const size_t functions = json_array_size(json_array_get(rows, 0));
    fmo_status status = FMO_OK;
    if (orbitals < 1 || orbitals > ORBITALS_MAX || functions < 1 || functions > FUNCTIONS_MAX)
        return INPUT(text, "orbitals: expected an array of arrays of numbers");
    h->orbital_num = (int)orbitals;
    h->function_num = (int)functions;
    h->coefficient = calloc(orbitals * functions, sizeof *h->coefficient);
    if (!h->coefficient) return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    for (size_t k = 0; k < orbitals && status == FMO_OK; k++) {
        char name[32];
        snprintf(name, sizeof name, "orbitals[%zu]", k);
        status = fmo_json_reals(text, name, json_array_get(rows, k), h->function_num,
                                COEFFICIENT_MAX, h->coefficient + k * functions);
    }
    return status;
}

/* Finds the entry of a basis set and an element; otherwise sets a message that lists the basis sets
 * of the element. */
static fmo_status find(const fmo_text *text, const json_t *document, const char *basis, int number,
                       const json_t **found)
{
    const json_t *sets = json_object_get(document, "sets");
    char known[300] = "", quote[FMO_QUOTE_SIZE];
    for (size_t k = 0; k < json_array_size(sets); k++) {
        const json_t *entry = json_array_get(sets, k);
        const char *name = json_string_value(json_object_get(entry, "basis"));
        const char *element = json_string_value(json_object_get(entry, "element"));
        if (!name || !element)
            return INPUT(text, "sets[%zu]: expected basis, element and orbitals", k);
        if (fmo_element_number(element, strlen(element)) != number) continue;
        *found = entry;
        if (same_name(name, basis)) return FMO_OK;
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                 fmo_json_quote(name, quote));
    }
    const char *const symbol = fmo_element_symbol(number);
    if (!*known)
        return INPUT(text,
                     "no hybrid orbitals of %s in basis set %s, and a bond of such an atom is cut; "
                     "there are none of %s in any basis set: cut another bond",
                     symbol, fmo_json_quote(basis, quote), symbol);
    return INPUT(text, "no hybrid orbitals of %s in basis set %s; there are: %s", symbol,
                 fmo_json_quote(basis, quote), known);
}

/* Reads the given file, or the installed one. */
fmo_status fmo_hybrids_read(const char *path, const char *basis, int number, fmo_hybrids **hybrids,
                            fmo_error *err)
{
    if (hybrids) *hybrids = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_hybrids_read", err, FMO_GIVEN(basis), FMO_GIVEN(hybrids));
    if (checked != FMO_OK) return checked;
    fmo_text text;
    json_t *document = NULL;
    const json_t *entry = NULL;
    char *const shipped = path ? NULL : fmo_data_path("hybrids/hybrids.json");
    if (!path && !shipped)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "no hybrid orbitals: there is no share/fmo/hybrids/hybrids.json "
                             "beside the library: install it there, or give the path of a file");
    fmo_hybrids *h = calloc(1, sizeof *h);
    if (!h) {
        free(shipped);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for hybrid orbitals");
    }
    fmo_status status = fmo_text_read(&text, path ? path : shipped, BYTES_MAX,
                                      "a file with hybrid orbitals in JSON", err);
    if (status == FMO_OK) status = fmo_text_json(&text, "", &document);
    if (status == FMO_OK) status = find(&text, document, basis, number, &entry);
    if (status == FMO_OK) status = read_orbitals(&text, entry, h);
    json_decref(document);
    fmo_text_close(&text);
    free(shipped);
    if (status == FMO_OK)
        *hybrids = h;
    else
        fmo_hybrids_destroy(h);
    return status;
}
