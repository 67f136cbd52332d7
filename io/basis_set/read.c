/* Reads a basis set: finds the file of a name and calls the reader of its format. Next: names.c,
 * json.c, gaussian.c and nwchem.c, set.c. */
#include "io/basis_set/basis_set_internal.h"
#include "io/basis_set/names.h"
#include "base/arguments.h"
#include "base/harmless.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 26 };

static fmo_status parse(fmo_basis_set *set, fmo_text *text)
{
    const char *at = text->next + strspn(text->next, " \t\r\n");
    const char *file = strrchr(set->path, '/');
    file = file ? file + 1 : set->path;
    size_t stem = fmo_basis_file_stem(file);
    snprintf(set->name, sizeof set->name, "%.*s", (int)(stem ? stem : strlen(file)), file);
    fmo_text_harmless(set->name);
    fmo_status status = *at == '{'                      ? fmo_basis_set_parse_json(set, text)
                        : fmo_basis_set_is_nwchem(text) ? fmo_basis_set_parse_nwchem(set, text)
                                                        : fmo_basis_set_parse_gaussian(set, text);
    if (status == FMO_OK && !set->shell_num)
        status =
            fmo_text_fail(text, 0, FMO_ERR_INPUT,
                          "holds no shells; expected a basis set as Basis Set Exchange JSON or "
                          "in the format of Gaussian, Psi4 or NWChem");
    return status;
}

/* Finds, reads and parses the file; frees everything on error. */
fmo_status fmo_basis_set_read(const char *name_or_path, fmo_basis_set **set, fmo_error *err)
{
    if (set) *set = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_basis_set_read", err, FMO_GIVEN(name_or_path), FMO_GIVEN(set));
    if (checked != FMO_OK) return checked;
    fmo_basis_set *made = calloc(1, sizeof *made);
    if (!made) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read a basis set");
    fmo_status status = fmo_basis_file_find(name_or_path, &made->path, err);
    if (status == FMO_OK) {
        fmo_text text;
        status = fmo_text_read(&text, made->path, BYTES_MAX, "a basis set", err);
        if (status == FMO_OK) status = parse(made, &text);
        fmo_text_close(&text);
    }
    if (status == FMO_OK)
        *set = made;
    else
        fmo_basis_set_destroy(made);
    return status;
}
