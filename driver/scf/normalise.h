/* SCFs run over functions of norm 1, whatever the caller's are, so that every threshold means the
 * same for everybody: chi_i = norm_i times the normalised function i. */
#ifndef FMO_SCF_NORMALISE_H
#define FMO_SCF_NORMALISE_H

#include <fmo/scf.h>

/* A molecule over functions of norm 1. */
typedef struct fmo_scf_normal {
    fmo_scf_input input; /* the caller's own where its functions have the norm 1, or nothing can be
                            said of it */
    double *norm;        /* [nao] of the caller's functions; NULL: nothing was changed */
    fmo_basis *basis;
    double *core, *field, *projector, *density;
} fmo_scf_normal;

/* An input that these options cannot take stays as it is: whoever runs it will say why.
 * @return FMO_OK, FMO_ERR_MEMORY; after an error there is nothing to free */
fmo_status fmo_scf_normalise(const fmo_scf_input *input, const fmo_scf_options *options,
                             fmo_scf_normal *to, fmo_error *err);
/* The result's matrices and orbitals over the caller's functions. NULL is fine. */
void fmo_scf_from_normal(const fmo_scf_normal *from, fmo_scf_result *result);
void fmo_scf_normal_free(fmo_scf_normal *normal);

#endif
