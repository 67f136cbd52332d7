/* Reads the dimensions, finds the fields of the file, and checks that they are plausible for its
 * size and for the memory of this machine. Next: fields.h. */
#include "io/trexio/reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads the dimensions of FMO_COUNT_TABLE, each of which has a largest accepted value. */
fmo_status fmo_trexio_read_counts(fmo_reader *r)
{
    r->store.count[DIM_3] = 3;
    for (int d = DIM_NUCLEUS; d < DIM_3; d++) {
        const fmo_attribute *attribute = &fmo_attributes[fmo_counts[d].attribute];
        int64_t count;
        if (!fmo_store_has_attribute(&r->store, attribute)) {
            if (d == DIM_MO) continue; /* needed for orbitals only: see fmo_trexio_find_fields */
            return INPUT(r, attribute->title, "missing; write the group %s with TREXIO",
                         attribute->group);
        }
        fmo_status status = fmo_store_read_integer(&r->store, attribute, &count);
        if (status != FMO_OK) return status;
        if (count < 1 || count > fmo_counts[d].largest) {
            char name[64];
            snprintf(name, sizeof name, "%s = %lld", attribute->title, (long long)count);
            return INPUT(r, name, "expected 1 to %lld; write the group %s again",
                         (long long)fmo_counts[d].largest, attribute->group);
        }
        r->store.count[d] = count;
    }
    r->d->nao = (int)r->store.count[DIM_AO];
    r->d->nucleus_num = (int)r->store.count[DIM_NUCLEUS];
    return FMO_OK;
}

/* Finds every known field and checks its type, shape, storage and units, even if it will not be
 * used. */
fmo_status fmo_trexio_find_fields(fmo_reader *r)
{
    fmo_status named = fmo_store_check_names(&r->store);
    if (named != FMO_OK) return named;
    for (int id = 0; id < FIELD_COUNT; id++) {
        const fmo_field *field = &fmo_fields[id];
        fmo_status status = fmo_store_find(&r->store, field, &r->has[id]);
        if (status != FMO_OK) return status;
        if (!r->has[id]) continue;
        for (int d = 0; d < 2; d++)
            if (field->dim[d] == DIM_MO && !r->store.count[DIM_MO])
                return INPUT(r, fmo_attributes[ATTR_mo_num].title,
                             "missing, and %s is there; write the group mo with TREXIO",
                             field->title);
        status = fmo_store_check(&r->store, field);
        if (status == FMO_OK && strcmp(field->group, FMO_GROUP) == 0)
            status = fmo_store_check_units(&r->store, field);
        if (status != FMO_OK) return status;
    }
    return FMO_OK;
}

/* Checks that all fields of the basis, and those of the density if it is required, are present. */
fmo_status fmo_trexio_check_required(fmo_reader *r)
{
    static const struct {
        fmo_field_id id;
        const char *cure;
    } required[] = {
        {FIELD_nucleus_charge, "write the nuclear charges"},
        {FIELD_nucleus_coord, "write the coordinates in bohr"},
        {FIELD_basis_nucleus_index, "write the nucleus of each shell"},
        {FIELD_basis_shell_ang_mom, "write the angular momentum of each shell"},
        {FIELD_basis_shell_factor, "a missing factor is never taken as 1; write it"},
        {FIELD_basis_shell_index, "write the shell of each primitive"},
        {FIELD_basis_exponent, "write the exponents"},
        {FIELD_basis_coefficient, "write the contraction coefficients"},
        {FIELD_basis_prim_factor, "a missing factor is never taken as 1; write it"},
        {FIELD_ao_shell, "write the shell of each function"},
        {FIELD_ao_normalization, "a missing factor is never taken as 1; write it"},
    };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (!r->has[required[i].id])
            return INPUT(r, fmo_field_title(required[i].id), "missing; %s", required[i].cure);
    if (r->has[FIELD_fmo_density] || !r->density_needed) return FMO_OK;
    if (!r->has[FIELD_mo_coefficient])
        return INPUT(r, fmo_field_title(FIELD_mo_coefficient),
                     "missing; write orbitals with occupations, or /fmo/density");
    if (!r->has[FIELD_mo_occupation])
        return INPUT(r, fmo_field_title(FIELD_mo_occupation),
                     "missing; write the occupations, or /fmo/density");
    return FMO_OK;
}

/* Checks that the arrays are plausible for the size of the file, and fit into the memory of this
 * machine. */
fmo_status fmo_trexio_check_memory(fmo_reader *r)
{
    uint64_t square = (uint64_t)r->d->nao * (uint64_t)r->d->nao * sizeof(double);
    if (!fmo_store_plausible(square, r->store.size)) {
        char name[64];
        snprintf(name, sizeof name, "%s = %d", fmo_attributes[ATTR_ao_num].title, r->d->nao);
        return INPUT(r, name, "not plausible in a file of %llu bytes; write the file again",
                     (unsigned long long)r->store.size);
    }
    /* density, that of the spin, and computed overlap */
    double need = (r->has[FIELD_mo_spin] ? 3.0 : 2.0) * (double)square;
    for (int id = 0; id < FIELD_COUNT; id++)
        if (r->has[id] && fmo_fields[id].dim[1])
            need += (double)fmo_store_values(&r->store, &fmo_fields[id]) * sizeof(double);
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (have > 0.0 && need > have)
        return fmo_store_fail(&r->store, FMO_ERR_MEMORY, NULL,
                              "reading it needs %.1f GiB of memory and this machine has %.1f GiB",
                              need / 1073741824.0, have / 1073741824.0);
    return FMO_OK;
}
