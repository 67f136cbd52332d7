/* SCFs use functions of norm 1, whatever the norms of the caller's functions, so that thresholds do
 * not depend on the normalisation: chi_i = norm_i times the normalised function i. */
#ifndef FMO_SCF_NORMALISE_H
#define FMO_SCF_NORMALISE_H

#include <fmo/scf.h>

/* A molecule in a basis of functions of norm 1. */
typedef struct fmo_scf_normal {
    fmo_scf_input input; /* the caller's, if its functions have norm 1 or it is not valid */
    double *norm;        /* [nao] norms of the caller's functions; NULL: nothing was changed */
    fmo_basis *basis;
    double *core, *field, *projector, *density;
} fmo_scf_normal;

/* Converts a molecule. An invalid input stays as it is: the SCF will report its error.
 * @return FMO_OK, FMO_ERR_MEMORY; after an error there is nothing to free */
fmo_status fmo_scf_normalise(const fmo_scf_input *input, const fmo_scf_options *options,
                             fmo_scf_normal *to, fmo_error *err);
/* Converts the result's matrices and orbitals to the caller's functions. NULL is allowed. */
void fmo_scf_from_normal(const fmo_scf_normal *from, fmo_scf_result *result);
void fmo_scf_normal_free(fmo_scf_normal *normal);

#endif
