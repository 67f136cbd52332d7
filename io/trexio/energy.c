/* Reads what an energy needs besides the density: core Hamiltonian, nuclear repulsion and number of
 * electrons; and the reference values of /fmo. Next: reader.h. */
#include "io/trexio/reader.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define REPULSION_TOLERANCE 1e-6 /* hartree */

static fmo_status add_matrix(fmo_reader *r, fmo_field_id id)
{
    size_t n = (size_t)r->d->nao;
    double *values = NULL;
    fmo_status status = fmo_trexio_read_reals(r, id, &values);
    if (status == FMO_OK) status = fmo_trexio_symmetrise(r, id, values);
    if (status == FMO_OK && !r->d->core) {
        r->d->core = values;
        return FMO_OK;
    }
    for (size_t i = 0; status == FMO_OK && i < n * n; i++) r->d->core[i] += values[i];
    free(values);
    return status;
}

fmo_status fmo_trexio_read_core(fmo_reader *r)
{
    static const fmo_field_id sum[] = {FIELD_ao_1e_int_kinetic, FIELD_ao_1e_int_potential_n_e,
                                       FIELD_ao_1e_int_ecp};
    if (r->has[FIELD_ao_1e_int_core_hamiltonian]) {
        r->d->core_source = FMO_CORE_FILE;
        return add_matrix(r, FIELD_ao_1e_int_core_hamiltonian);
    }
    if (!r->has[sum[0]] || !r->has[sum[1]]) {
        r->d->core_source = FMO_CORE_COMPUTED;
        return FMO_OK;
    }
    int parts = r->has[sum[2]] ? 3 : 2;
    r->d->core_source = parts == 3 ? FMO_CORE_FILE_SUM_ECP : FMO_CORE_FILE_SUM;
    fmo_status status = FMO_OK;
    for (int i = 0; status == FMO_OK && i < parts; i++) status = add_matrix(r, sum[i]);
    return status;
}

/* Reads the matrices of /fmo, which must be symmetric, and the energy. */
fmo_status fmo_trexio_read_references(fmo_reader *r)
{
    const struct {
        fmo_field_id id;
        double **values;
    } matrices[] = {{FIELD_fmo_coulomb, &r->d->coulomb},
                    {FIELD_fmo_exchange, &r->d->exchange},
                    {FIELD_fmo_fock_2e, &r->d->fock_2e}};
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < sizeof matrices / sizeof matrices[0]; i++)
        if (r->has[matrices[i].id]) {
            status = fmo_trexio_read_reals(r, matrices[i].id, matrices[i].values);
            if (status == FMO_OK)
                status = fmo_trexio_check_symmetric(r, matrices[i].id, *matrices[i].values);
        }
    if (status == FMO_OK && r->has[FIELD_fmo_energy]) {
        double *energy = NULL;
        status = fmo_trexio_read_reals(r, FIELD_fmo_energy, &energy);
        if (status == FMO_OK && *energy == 0.0) /* no density has it: never written */
            status = INPUT(r, fmo_field_title(FIELD_fmo_energy),
                           "0 hartree; write the energy, or copy the file again");
        if (status == FMO_OK) r->d->energy = *energy;
        free(energy);
    }
    return status;
}

/* Adds a notice if the orbitals are those of an SCF that did not converge, or of one in the field
 * of point charges, which the core Hamiltonian does not contain. */
fmo_status fmo_trexio_note_scf(fmo_reader *r)
{
    const fmo_attribute *converged = &fmo_attributes[ATTR_fmo_converged];
    const fmo_attribute *charges = &fmo_attributes[ATTR_fmo_point_charge_num];
    int64_t value = 1, num = 0;
    fmo_status status = FMO_OK;
    if (fmo_store_has_attribute(&r->store, converged))
        status = fmo_store_read_integer(&r->store, converged, &value);
    if (status == FMO_OK && fmo_store_has_attribute(&r->store, charges))
        status = fmo_store_read_integer(&r->store, charges, &num);
    if (status == FMO_OK && !value && r->d->density)
        fmo_dataset_note(r->d, "the orbitals are those of an SCF that did not converge");
    if (status == FMO_OK && num > 0 && r->d->density)
        fmo_dataset_note(r->d,
                         "the orbitals are those of an SCF beside %lld point charges, which are "
                         "not part of the molecule (--charges)",
                         (long long)num);
    return status;
}

/* Computes the nuclear repulsion and compares it with that of the file, if any, which is then
 * used. */
fmo_status fmo_trexio_read_repulsion(fmo_reader *r)
{
    const fmo_attribute *attribute = &fmo_attributes[ATTR_nucleus_repulsion];
    double ours = fmo_basis_nuclear_repulsion(r->d->basis), theirs = ours;
    if (!isfinite(ours))
        fmo_dataset_note(r->d, "nucleus/coord: two charged nuclei coincide, so there is no energy");
    if (fmo_store_has_attribute(&r->store, attribute)) {
        fmo_status status = fmo_store_read_real(&r->store, attribute, &theirs);
        if (status != FMO_OK) return status;
        if (!isfinite(theirs))
            return INPUT(r, attribute->title, "%g; expected a finite energy in hartree", theirs);
        if (fabs(theirs - ours) > REPULSION_TOLERANCE && isfinite(ours))
            fmo_dataset_doubt(r->d,
                              "nucleus/repulsion: %.9g hartree in the file, %.9g from its "
                              "charges and coordinates; the file's is used",
                              theirs, ours);
    }
    r->d->nuclear_repulsion = theirs;
    r->d->repulsion_known = true;
    fmo_status status = isfinite(ours) ? fmo_dataset_note_close(r->d) : FMO_OK;
    return status == FMO_OK ? FMO_OK
                            : fmo_trexio_no_memory(r, "nucleus/coord",
                                                   4 * sizeof(double) * (size_t)r->d->nucleus_num);
}

/* Reads the numbers of electrons, which must be consistent, and the multiplicity they give. */
fmo_status fmo_trexio_read_electrons(fmo_reader *r)
{
    enum { TOTAL, UP, DOWN };
    static const fmo_attribute_id ids[] = {ATTR_electron_num, ATTR_electron_up_num,
                                           ATTR_electron_dn_num};
    int64_t number[] = {-1, -1, -1};
    for (int i = TOTAL; i <= DOWN; i++) {
        const fmo_attribute *attribute = &fmo_attributes[ids[i]];
        if (!fmo_store_has_attribute(&r->store, attribute)) continue;
        fmo_status status = fmo_store_read_integer(&r->store, attribute, &number[i]);
        if (status != FMO_OK) return status;
        if (number[i] < (i == TOTAL) || number[i] > INT_MAX)
            return INPUT(r, attribute->title, "%lld electrons; write their true number",
                         (long long)number[i]);
    }
    const char *total = fmo_attributes[ATTR_electron_num].title;
    if (number[UP] >= 0 && number[DOWN] >= 0) {
        if (number[UP] < number[DOWN])
            return INPUT(r, fmo_attributes[ATTR_electron_up_num].title,
                         "%lld, and electron/dn_num is %lld: expected at least as many of spin up; "
                         "exchange the two spins",
                         (long long)number[UP], (long long)number[DOWN]);
        if (number[TOTAL] < 0) number[TOTAL] = number[UP] + number[DOWN];
        if (number[TOTAL] != number[UP] + number[DOWN])
            return INPUT(r, total, "%lld, but up_num and dn_num add up to %lld; correct one",
                         (long long)number[TOTAL], (long long)(number[UP] + number[DOWN]));
    }
    if (number[TOTAL] > INT_MAX)
        return INPUT(r, total, "%lld electrons; write their true number", (long long)number[TOTAL]);
    r->d->electron_num = number[TOTAL] < 0 ? -1 : (int)number[TOTAL];
    if (number[UP] >= 0 && number[DOWN] >= 0)
        r->d->multiplicity = (int)(number[UP] - number[DOWN]) + 1;
    return FMO_OK;
}
