/* Rejects unsupported content with a specific message: other basis functions, spins, k-points,
 * periodic systems. Next: FMO_ZERO_ARRAY_TABLE in fields.h. */
#include "io/trexio/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static fmo_status check_basis_type(fmo_reader *r)
{
    const fmo_attribute *type = &fmo_attributes[ATTR_basis_type];
    char text[64];
    if (!fmo_store_has_attribute(&r->store, type))
        return INPUT(r, type->title, "missing; expected 'Gaussian'");
    fmo_status status = fmo_store_read_string(&r->store, type, text, sizeof text);
    if (status == FMO_OK && strcasecmp(text, "Gaussian") != 0)
        status =
            INPUT(r, type->title, "'%s': only 'Gaussian' is supported; choose another basis", text);
    return status;
}

/* Rejects an array of FMO_ZERO_ARRAY_TABLE that contains a value other than 0. */
static fmo_status check_zero_array(fmo_reader *r, fmo_field_id id)
{
    const fmo_field *field = &fmo_fields[id];
    size_t n = fmo_store_values(&r->store, field), columns = 0;
    if (field->dim[1]) columns = (size_t)r->store.count[field->dim[1]];
    void *values = NULL;
    fmo_status status = fmo_trexio_read_array(r, id, &values);
    for (size_t i = 0; status == FMO_OK && i < n; i++) {
        double value =
            field->kind == KIND_REAL ? ((double *)values)[i] : (double)((int64_t *)values)[i];
        if (value == 0.0) continue;
        char name[96];
        if (columns)
            snprintf(name, sizeof name, "%s[%zu][%zu] = %g", field->title, i / columns, i % columns,
                     value);
        else
            snprintf(name, sizeof name, "%s[%zu] = %g", field->title, i, value);
        status = INPUT(r, name, "%s; %s", field->note, field->cure);
    }
    free(values);
    return status;
}

/* Rejects orbitals of a spin other than up (0) and down (1). */
static fmo_status check_spins(fmo_reader *r)
{
    const fmo_field *field = &fmo_fields[FIELD_mo_spin];
    void *values = NULL;
    if (!r->has[FIELD_mo_spin]) return FMO_OK;
    fmo_status status = fmo_trexio_read_array(r, FIELD_mo_spin, &values);
    for (int64_t m = 0; status == FMO_OK && m < r->store.count[DIM_MO]; m++) {
        const long long spin = (long long)((int64_t *)values)[m];
        if (spin == 0 || spin == 1) continue;
        char name[96];
        snprintf(name, sizeof name, "%s[%lld] = %lld", field->title, (long long)m, spin);
        status = INPUT(r, name, "expected 0 (spin up) or 1 (spin down); write it again");
    }
    free(values);
    return status;
}

/* Rejects a periodic system, recognised by pbc/periodic, or else by lattice vectors. */
static fmo_status check_periodic(fmo_reader *r)
{
    const fmo_attribute *periodic = &fmo_attributes[ATTR_pbc_periodic];
    int64_t value = -1;
    if (fmo_store_has_attribute(&r->store, periodic)) {
        fmo_status status = fmo_store_read_integer(&r->store, periodic, &value);
        if (status != FMO_OK) return status;
        if (value != 0)
            return INPUT(r, periodic->title,
                         "periodic systems are not supported; cut out a molecule");
        return FMO_OK;
    }
    static const fmo_field cell = {.group = FMO_CELL_GROUP, .name = FMO_CELL_A, .title = "cell/a"};
    bool found = false;
    fmo_status status = fmo_store_find(&r->store, &cell, &found);
    if (status == FMO_OK && found)
        status = INPUT(r, cell.title,
                       "periodic systems are not supported; if this one is a molecule in a box, "
                       "write pbc/periodic = 0");
    return status;
}

static fmo_status check_ecp(fmo_reader *r)
{
    r->has_ecp = fmo_store_has_attribute(&r->store, &fmo_attributes[ATTR_ecp_num]);
    bool sum = r->has[FIELD_ao_1e_int_kinetic] && r->has[FIELD_ao_1e_int_potential_n_e] &&
               r->has[FIELD_ao_1e_int_ecp];
    if (r->has_ecp && !r->has[FIELD_ao_1e_int_core_hamiltonian] && !sum)
        return INPUT(r, fmo_attributes[ATTR_ecp_num].title,
                     "integrals over an effective core potential are not computed here; write "
                     "ao_1e_int/core_hamiltonian");
    return FMO_OK;
}

static fmo_status check_format(fmo_reader *r)
{
    const fmo_attribute *format = &fmo_attributes[ATTR_fmo_format_version];
    int64_t version = FMO_FORMAT_VERSION;
    if (!fmo_store_has_attribute(&r->store, format)) return FMO_OK;
    fmo_status status = fmo_store_read_integer(&r->store, format, &version);
    if (status == FMO_OK && version != FMO_FORMAT_VERSION)
        status = INPUT(r, format->title, "%lld, and this build reads %d; use a matching fmo",
                       (long long)version, FMO_FORMAT_VERSION);
    return status;
}

fmo_status fmo_trexio_refuse_by_name(fmo_reader *r)
{
    static fmo_status (*const checks[])(fmo_reader *) = {check_format, check_basis_type,
                                                         check_periodic, check_ecp, check_spins};
    static const fmo_field_id zero[] = {
#define ROW(group, name, ...) FIELD_##group##_##name,
        FMO_ZERO_ARRAY_TABLE(ROW)
#undef ROW
    };
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < sizeof checks / sizeof checks[0]; i++)
        status = checks[i](r);
    for (size_t i = 0; status == FMO_OK && i < sizeof zero / sizeof zero[0]; i++)
        if (r->has[zero[i]]) status = check_zero_array(r, zero[i]);
    return status;
}
