/* Reads basis sets in the JSON of the Basis Set Exchange, schema "component" or "complete" (B. P.
 * Pritchard, D. Altarawy, B. Didier, T. D. Gibson, T. L. Windus, J. Chem. Inf. Model. 59, 4814
 * (2019)). Numbers are strings there. A shell has one array of coefficients for each angular
 * momentum of a shared (sp) shell, or for each function of a general contraction. Next: set.c. */
#include "io/basis_set/basis_set_internal.h"
#include "base/harmless.h"
#include "io/text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    fmo_basis_set *set;
    const fmo_text *text;
    int number;      /* atomic number */
    char where[128]; /* "elements/8 (O)/electron_shells[0]" */
} parser;

#define INPUT(p, ...) fmo_text_fail((p)->text, 0, FMO_ERR_INPUT, __VA_ARGS__)

/* Reads a number, which is a string or, in files written by other programs, a JSON number. */
static bool real_of(const fmo_text *text, const json_t *value, double *real)
{
    if (json_is_string(value))
        return fmo_text_real(text, (fmo_word){json_string_value(value), json_string_length(value)},
                             real);
    *real = json_number_value(value);
    return json_is_number(value) && isfinite(*real);
}

static fmo_status read_reals(const parser *p, const char *name, const json_t *array, int n,
                             double *values)
{
    if (!json_is_array(array) || json_array_size(array) != (size_t)n)
        return INPUT(
            p, "%s/%s: expected an array of %d numbers, one for each exponent; get the file again",
            p->where, name, n);
    for (int i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        char quote[FMO_QUOTE_SIZE] = "";
        if (real_of(p->text, value, &values[i])) continue;
        if (json_is_string(value))
            fmo_text_quote((fmo_word){json_string_value(value), json_string_length(value)}, quote);
        return INPUT(p, "%s/%s[%d] = '%s': expected a finite number; get the file again", p->where,
                     name, i, quote);
    }
    return FMO_OK;
}

/* Reads the 1 to 8 angular momenta of a shell. */
static fmo_status read_ang_moms(const parser *p, const json_t *shell, int ang_mom[8], int *n)
{
    const json_t *array = json_object_get(shell, "angular_momentum");
    size_t size = json_array_size(array); /* 0 if it is not an array */
    if (size < 1 || size > 8)
        return INPUT(p, "%s/angular_momentum: expected an array such as [0] (s) or [0, 1] (sp)",
                     p->where);
    for (size_t i = 0; i < size; i++) {
        const json_t *value = json_array_get(array, i);
        json_int_t l = json_integer_value(value);
        if (!json_is_integer(value) || l < 0 || l > FMO_SET_ANG_MOM_MAX)
            return INPUT(p, "%s/angular_momentum[%zu]: expected an integer from 0 to %d", p->where,
                         i, FMO_SET_ANG_MOM_MAX);
        ang_mom[i] = (int)l;
    }
    *n = (int)size;
    return FMO_OK;
}

static fmo_status read_function_type(const parser *p, const json_t *shell, fmo_set_form *form)
{
    static const char *const gaussian[] = {[FMO_FORM_OPEN] = "gto",
                                           [FMO_FORM_CARTESIAN] = "gto_cartesian",
                                           [FMO_FORM_SPHERICAL] = "gto_spherical"};
    const json_t *type = json_object_get(shell, "function_type");
    *form = FMO_FORM_OPEN;
    if (!type) return FMO_OK;
    const char *text = json_string_value(type);
    for (size_t i = 0; text && i < sizeof gaussian / sizeof gaussian[0]; i++) {
        *form = (fmo_set_form)i;
        if (strcmp(text, gaussian[i]) == 0) return FMO_OK;
    }
    char quote[FMO_QUOTE_SIZE];
    return INPUT(p, "%s/function_type = '%s': only Gaussians ('gto') are supported", p->where,
                 fmo_text_quote((fmo_word){text ? text : "", text ? strlen(text) : 0}, quote));
}

/* Reads a shell and adds one contracted shell for each array of coefficients. */
static fmo_status read_shell(parser *p, const json_t *shell)
{
    int ang_mom[8], shared = 0;
    fmo_set_form form;
    const json_t *exponents = json_object_get(shell, "exponents");
    const json_t *coefficients = json_object_get(shell, "coefficients");
    size_t n = json_array_size(exponents), rows = json_array_size(coefficients);
    fmo_status status = read_function_type(p, shell, &form);
    if (status == FMO_OK) status = read_ang_moms(p, shell, ang_mom, &shared);
    if (status != FMO_OK) return status;
    if (n < 1 || n > FMO_SHELL_LINES)
        return INPUT(p, "%s/exponents: expected an array of 1 to %d numbers", p->where,
                     FMO_SHELL_LINES);
    if (rows < 1 || (shared > 1 && rows != (size_t)shared))
        return INPUT(p, "%s/coefficients: expected %s", p->where,
                     shared > 1 ? "one array for each angular momentum" : "an array of arrays");
    double *const exponent = malloc(2 * n * sizeof *exponent), *const coefficient = exponent + n;
    if (!exponent) return fmo_text_fail(p->text, 0, FMO_ERR_MEMORY, "no memory to read it");
    status = read_reals(p, "exponents", exponents, (int)n, exponent);
    for (size_t row = 0; status == FMO_OK && row < rows; row++) {
        char name[48];
        snprintf(name, sizeof name, "coefficients[%zu]", row);
        status = read_reals(p, name, json_array_get(coefficients, row), (int)n, coefficient);
        if (status == FMO_OK)
            status =
                fmo_basis_set_add_shell(p->set, p->text, p->where,
                                        &(fmo_file_shell){p->number, ang_mom[shared > 1 ? row : 0],
                                                          form, (int)n, exponent, coefficient});
    }
    free(exponent);
    return status;
}

/* Reads all shells of an element, and records whether it has an effective core potential. */
static fmo_status read_element(parser *p, const char *key, const json_t *element)
{
    long number = 0;
    char quote[FMO_QUOTE_SIZE];
    if (!fmo_text_count((fmo_word){key, strlen(key)}, FMO_ELEMENT_MAX, &number) || number < 1 ||
        *key == '0')
        return INPUT(p, "elements/%s: expected an atomic number from 1 to %d",
                     fmo_text_quote((fmo_word){key, strlen(key)}, quote), FMO_ELEMENT_MAX);
    const json_t *shells = json_object_get(element, "electron_shells");
    p->number = (int)number;
    p->set->has_ecp[number] = json_array_size(json_object_get(element, "ecp_potentials")) > 0;
    if (!json_is_object(element) || (shells && !json_is_array(shells)))
        return INPUT(p, "elements/%ld (%s): expected an object with electron_shells", number,
                     fmo_element_symbol(p->number));
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < json_array_size(shells); i++) {
        snprintf(p->where, sizeof p->where, "elements/%ld (%s)/electron_shells[%zu]", number,
                 fmo_element_symbol(p->number), i);
        status = read_shell(p, json_array_get(shells, i));
    }
    return status;
}

static fmo_status read_document(parser *p, json_t *document)
{
    const char *name = json_string_value(json_object_get(document, "name"));
    json_t *elements = json_object_get(document, "elements");
    const char *key;
    json_t *element;
    fmo_status status = FMO_OK;
    if (!json_is_object(elements))
        return INPUT(p, "elements: missing; expected a basis set in the JSON of the Basis Set "
                        "Exchange (basissetexchange.org)");
    if (name) snprintf(p->set->name, sizeof p->set->name, "%s", name);
    fmo_text_harmless(p->set->name);
    json_object_foreach(elements, key, element)
    {
        if (status == FMO_OK) status = read_element(p, key, element);
    }
    return status;
}

fmo_status fmo_basis_set_parse_json(fmo_basis_set *set, const fmo_text *text)
{
    parser p = {.set = set, .text = text};
    json_t *document;
    fmo_status status = fmo_text_json(text, "; get the file again", &document);
    if (status == FMO_OK) status = read_document(&p, document);
    json_decref(document);
    return status;
}
