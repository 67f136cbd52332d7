/* The input of an SCF (input.c): checks, functions of norm 1, and the notice about a loose cutoff.
 */
#ifndef FMO_SCF_INPUT_H
#define FMO_SCF_INPUT_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

/* ---- checks ---- */

/* Returns FMO_ERR_ARGUMENT, and names the field, if a number in the options is out of range. */
FMO_INNER fmo_status fmo_scf_check_options(const fmo_scf_options *options, fmo_error *err);
/* Returns a hash of all options that must agree on ranks that share SCFs; threads, memory, GPUs and
 * callbacks may differ. The text below is the error message if they do not agree. */
FMO_INNER uint64_t fmo_scf_options_digest(const fmo_scf_options *options);
#define FMO_SCF_OTHER_OPTIONS                                                                  \
    "its options or molecules differ from those of rank 0: make the same call on every rank, " \
    "except for threads, memory and GPUs"

/* Returns FMO_OK, or FMO_ERR_ARGUMENT or FMO_ERR_INPUT with the cure in err. */
fmo_status fmo_scf_check_input(const fmo_scf_input *in, const fmo_scf_options *o, fmo_error *err);

/* Number of channels of an SCF: 2 for UHF and ROHF. */
static inline int fmo_scf_channels(const fmo_scf_input *in, const fmo_scf_options *o)
{
    return in->multiplicity > 1 || o->unrestricted ? 2 : 1;
}

/* Energy of the nuclei with each other and with point charges, hartree; infinite if two of them
 * coincide. */
double fmo_scf_nuclear_energy(const fmo_scf_input *in);

/* ---- functions of norm 1 ----
 * SCFs use functions of norm 1, whatever the norms of the caller's functions, so that thresholds do
 * not depend on the normalisation: chi_i = norm_i times the normalised function i. */

/* A molecule in a basis of functions of norm 1. */
typedef struct fmo_scf_normal {
    fmo_scf_input input; /* the caller's, if its functions have norm 1 or it is not valid */
    double *norm;        /* [nao] norms of the caller's functions; NULL: nothing was changed */
    fmo_basis *basis;
    double *core, *field, *projector, *density, *spin_density;
} fmo_scf_normal;

/* Converts a molecule. An invalid input stays as it is: the SCF will report its error.
 * @return FMO_OK, FMO_ERR_MEMORY; after an error there is nothing to free */
fmo_status fmo_scf_normalise(const fmo_scf_input *input, const fmo_scf_options *options,
                             fmo_scf_normal *to, fmo_error *err);
/* Converts the result's matrices and orbitals to the caller's functions. NULL is allowed. */
void fmo_scf_from_normal(const fmo_scf_normal *from, fmo_scf_result *result);
void fmo_scf_normal_free(fmo_scf_normal *normal);

/* ---- cutoff ---- */

/* The error of the energy is below this factor times the cutoff and the number of functions, in all
 * measured cases: for an SCF up to a cutoff of 1e-2 (largest factor 0.044), for FMO2, where errors
 * of pairs with cut bonds add up, up to 1e-4 (0.78). Beyond these cutoffs there is no bound. */
#define FMO_SCF_CUTOFF_ERROR      0.05
#define FMO_FRAGMENT_CUTOFF_ERROR 1.0

/* Writes "" to `notice` if the expected error is below the requested `accuracy` (hartree),
 * otherwise one line with the possible error and the cure. error_share: one of the factors above.
 * beyond: cutoff above which there is no bound. nao: number of functions. */
FMO_INNER void fmo_scf_note_cutoff(double cutoff, double error_share, double beyond, int nao,
                                   double accuracy, char *notice, size_t size);

#endif
