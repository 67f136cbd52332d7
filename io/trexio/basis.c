/* Reads the basis: its arrays, the component of its shell that each AO is, and names for messages.
 * Next: io/dataset/order.h. */
#include "io/trexio/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/dataset/order.h"

enum {
    DEPTH_MAX = 100, /* primitives of one shell; published basis sets have fewer than 40 */
    LABEL_SLOT = 16
};

typedef struct basis_arrays {
    double *charge, *coord, *shell_factor, *exponent, *coefficient, *prim_factor, *normalization;
    int *shell_nucleus, *shell_ang_mom, *prim_shell, *ao_shell, *ao_component;
    int *used; /* [shell_num] number of functions, then of primitives, found so far */
} basis_arrays;

static bool in_range(int value, int64_t count)
{
    return value >= 0 && value < count;
}

/* Returns "n s", " p", " Cartesian d", ..., to be preceded by "a". */
static const char *shell_in_words(int ang_mom, bool cartesian)
{
    static const char *const words[][2] = {{"n s", "n s"},
                                           {" p", " p"},
                                           {" spherical d", " Cartesian d"},
                                           {" spherical f", " Cartesian f"},
                                           {" spherical g", " Cartesian g"}};
    _Static_assert(sizeof words / sizeof *words == FMO_SHELL_KIND_COUNT, "a word for each kind");
    return words[ang_mom][cartesian];
}

/* Finds the component of each AO. The functions of a shell must be in TREXIO's order, but functions
 * of other shells may lie between them. */
static fmo_status find_components(fmo_reader *r, basis_arrays *b)
{
    for (int ao = 0; ao < r->d->nao; ao++) {
        const int shell = b->ao_shell[ao];
        int l = 0, component = 0;
        /* fmo_basis_create reports an index or an l out of range. */
        if (in_range(shell, r->store.count[DIM_SHELL]) &&
            in_range(b->shell_ang_mom[shell], FMO_SHELL_KIND_COUNT)) {
            l = b->shell_ang_mom[shell];
            const int functions = fmo_shell_functions_of(l, r->d->cartesian);
            component = b->used[shell]++;
            if (component >= functions) {
                char name[64];
                snprintf(name, sizeof name, "%s[%d] = %d", fmo_field_title(FIELD_ao_shell), ao,
                         shell);
                return INPUT(r, name,
                             "shell %d is a%s shell and has more than %d function%s; write "
                             "each function once",
                             shell, shell_in_words(l, r->d->cartesian), functions,
                             functions > 1 ? "s" : "");
            }
        }
        b->ao_component[ao] = fmo_file_component(l, component, r->d->cartesian);
    }
    return FMO_OK;
}

/* Combines the factors of each primitive: coefficient times shell_factor times prim_factor. */
static fmo_status multiply_factors(fmo_reader *r, basis_arrays *b)
{
    memset(b->used, 0, (size_t)r->store.count[DIM_SHELL] * sizeof *b->used);
    for (int64_t k = 0; k < r->store.count[DIM_PRIM]; k++) {
        int shell = b->prim_shell[k];
        b->coefficient[k] *= b->prim_factor[k];
        if (!in_range(shell, r->store.count[DIM_SHELL])) continue; /* fmo_basis_create reports it */
        b->coefficient[k] *= b->shell_factor[shell];
        if (b->coefficient[k] != 0.0 && ++b->used[shell] > DEPTH_MAX)
            return INPUT(r, fmo_field_title(FIELD_basis_shell_index),
                         "shell %d has more than %d primitives; split it or write the file again",
                         shell, DEPTH_MAX);
    }
    return FMO_OK;
}

/* Passes the arrays of the basis input to the data set, which owns them from here on. */
static void pass_to_dataset(fmo_reader *r, basis_arrays *b)
{
    r->d->input = (fmo_basis_input){.nucleus_num = r->d->nucleus_num,
                                    .nucleus_charge = b->charge,
                                    .nucleus_coord = b->coord,
                                    .shell_num = (int)r->store.count[DIM_SHELL],
                                    .shell_nucleus = b->shell_nucleus,
                                    .shell_ang_mom = b->shell_ang_mom,
                                    .prim_num = (int)r->store.count[DIM_PRIM],
                                    .prim_shell = b->prim_shell,
                                    .prim_exponent = b->exponent,
                                    .prim_coefficient = b->coefficient,
                                    .ao_num = r->d->nao,
                                    .ao_shell = b->ao_shell,
                                    .ao_component = b->ao_component,
                                    .ao_factor = b->normalization,
                                    .cartesian = r->d->cartesian};
}

static fmo_status create_basis(fmo_reader *r)
{
    fmo_error why = {FMO_OK, ""};
    fmo_status status = fmo_basis_create(&r->d->input, &r->d->basis, &why);
    if (status != FMO_OK) fmo_store_fail(&r->store, status, NULL, "%s", why.message);
    return status;
}

static fmo_status read_cartesian(fmo_reader *r)
{
    const fmo_attribute *attribute = &fmo_attributes[ATTR_ao_cartesian];
    int64_t value = 0;
    if (!fmo_store_has_attribute(&r->store, attribute))
        return INPUT(r, attribute->title,
                     "missing; write 1 (Cartesian functions: x y z, xx xy xz yy yz zz) or 0 "
                     "(spherical: z x y, "
                     "m = 0 +1 -1 +2 -2)");
    fmo_status status = fmo_store_read_integer(&r->store, attribute, &value);
    if (status == FMO_OK && value != 0 && value != 1)
        status =
            INPUT(r, attribute->title,
                  "%lld; expected 1 (Cartesian functions) or 0 (spherical ones)", (long long)value);
    r->d->cartesian = value == 1;
    return status;
}

/* Reads all arrays of the basis, also passing them to the data set on error, and creates the
 * basis. */
fmo_status fmo_trexio_read_basis(fmo_reader *r)
{
    basis_arrays b = {0};
    size_t nao = (size_t)r->d->nao, shells = (size_t)r->store.count[DIM_SHELL];
    const struct {
        fmo_field_id id;
        double **values;
    } reals[] = {
        {FIELD_nucleus_charge, &b.charge},           {FIELD_nucleus_coord, &b.coord},
        {FIELD_basis_shell_factor, &b.shell_factor}, {FIELD_basis_exponent, &b.exponent},
        {FIELD_basis_coefficient, &b.coefficient},   {FIELD_basis_prim_factor, &b.prim_factor},
        {FIELD_ao_normalization, &b.normalization}};
    const struct {
        fmo_field_id id;
        int **values;
    } ints[] = {{FIELD_basis_nucleus_index, &b.shell_nucleus},
                {FIELD_basis_shell_ang_mom, &b.shell_ang_mom},
                {FIELD_basis_shell_index, &b.prim_shell},
                {FIELD_ao_shell, &b.ao_shell}};
    fmo_status status = read_cartesian(r);
    for (size_t i = 0; status == FMO_OK && i < sizeof reals / sizeof reals[0]; i++)
        status = fmo_trexio_read_reals(r, reals[i].id, reals[i].values);
    for (size_t i = 0; status == FMO_OK && i < sizeof ints / sizeof ints[0]; i++)
        status = fmo_trexio_read_ints(r, ints[i].id, ints[i].values);
    b.used = calloc(shells, sizeof *b.used);
    b.ao_component = calloc(nao, sizeof *b.ao_component);
    if (status == FMO_OK && (!b.used || !b.ao_component))
        status = fmo_trexio_no_memory(r, "basis", (nao + shells) * sizeof(int));
    if (status == FMO_OK) status = find_components(r, &b);
    if (status == FMO_OK) status = multiply_factors(r, &b);
    pass_to_dataset(r, &b);
    if (status == FMO_OK) status = create_basis(r);
    free(b.shell_factor);
    free(b.prim_factor);
    free(b.used);
    return status;
}

/* Reads the labels of the nuclei, if any, determines their elements, and reads the name of the
 * basis set. */
fmo_status fmo_trexio_read_names(fmo_reader *r)
{
    const char *const title = fmo_field_title(FIELD_nucleus_label);
    const size_t bytes = (size_t)r->d->nucleus_num * LABEL_SLOT;
    char *labels = NULL;
    fmo_status status = FMO_OK;
    if (r->has[FIELD_nucleus_label]) {
        labels = calloc((size_t)r->d->nucleus_num, LABEL_SLOT);
        if (!labels) return fmo_trexio_no_memory(r, title, bytes);
        status =
            fmo_store_read_strings(&r->store, &fmo_fields[FIELD_nucleus_label], labels, LABEL_SLOT);
    }
    if (status == FMO_OK &&
        fmo_dataset_name_nuclei(r->d, r->d->input.nucleus_charge, labels, LABEL_SLOT) != FMO_OK)
        status = fmo_trexio_no_memory(r, title, bytes);
    free(labels);
    static const fmo_attribute_id names[] = {ATTR_fmo_basis_name, ATTR_fmo_basis};
    for (int i = 0; status == FMO_OK && i < 2 && !r->d->basis_name[0]; i++)
        if (fmo_store_is_short_string(&r->store, &fmo_attributes[names[i]],
                                      256)) /* anything else is ignored */
            status = fmo_store_read_string(&r->store, &fmo_attributes[names[i]], r->d->basis_name,
                                           sizeof r->d->basis_name);
    return status;
}
