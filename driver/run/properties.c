/* Properties of an SCF's density, for the report and the files. See properties.h. */
#include "driver/run/properties.h"

#include <math.h>
#include <stdlib.h>
#include <fmo/one_electron.h>

/* Largest number of functions for Loewdin's charges after an SCF on a GPU: their eigenproblem on
 * the CPU then takes a small part of the time that CUDA takes to start (docs/reference/scf.md). */
enum { LOEWDIN_AFTER_GPU = 500 };

/* Charges of the nuclei times their coordinates, minus Tr D <x>, about the origin of the
 * coordinates. */
static fmo_status find_dipole(driver_result *result, fmo_error *err)
{
    static const double origin[3] = {0.0, 0.0, 0.0};
    const fmo_basis_input *const in = fmo_dataset_basis_input(result->dataset);
    const size_t size = (size_t)result->nao * (size_t)result->nao;
    double *const M = malloc(3 * size * sizeof *M);
    if (!M) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the dipole moment");
    const fmo_status status = fmo_dipole(fmo_dataset_basis(result->dataset), origin, M, err);
    for (size_t x = 0; x < 3 && status == FMO_OK; x++) {
        double sum = 0.0;
        for (int a = 0; a < in->nucleus_num; a++)
            sum += in->nucleus_charge[a] * in->nucleus_coord[3 * (size_t)a + x];
        for (size_t i = 0; i < size; i++) sum -= M[x * size + i] * result->scf->density[i];
        result->dipole[x] = sum;
    }
    free(M);
    return status;
}

/* Allocates all charges, and computes those of open shells and Loewdin's only where they belong. */
fmo_status driver_scf_properties(const driver_options *options, driver_result *result,
                                 fmo_error *err)
{
    const fmo_scf_result *const scf = result->scf;
    const fmo_basis *const basis = fmo_dataset_basis(result->dataset);
    const size_t atoms = (size_t)fmo_basis_nucleus_num(basis);
    const bool in_a_file = options->output || options->profile == DRIVER_PROFILE_JSON;
    const bool open = scf->spin_density;
    const bool loewdin = !options->batch && (!scf->device || scf->nao <= LOEWDIN_AFTER_GPU);
    result->dipole[0] = result->dipole[1] = result->dipole[2] = NAN;
    if (!in_a_file && (options->quiet || options->batch)) return FMO_OK;
    double *const q = malloc(DRIVER_CHARGES * atoms * sizeof *q);
    if (!q) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for charges");
    for (size_t i = 0; i < DRIVER_CHARGES * atoms; i++) q[i] = NAN;
    result->charges_of_atoms = q;
    result->charge_num = (int)atoms;
    const fmo_status status = fmo_scf_charges(
        basis, scf, q + DRIVER_MULLIKEN * atoms, loewdin ? q + DRIVER_LOEWDIN * atoms : NULL,
        open ? q + DRIVER_MULLIKEN_SPIN * atoms : NULL,
        open && loewdin ? q + DRIVER_LOEWDIN_SPIN * atoms : NULL, err);
    return status == FMO_OK && !options->batch ? find_dipole(result, err) : status;
}

const double *driver_charges_of(const driver_result *result, driver_charges kind)
{
    const double *const q = result->charges_of_atoms + (size_t)kind * (size_t)result->charge_num;
    return result->charge_num && !isnan(*q) ? q : NULL;
}
