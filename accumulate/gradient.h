/* Derivatives of two-electron energies with respect to the positions of the nuclei, for gradients
 * of SCF energies. The rest of such a gradient, that of one-electron integrals, is in
 * one_electron.h. The method is described in docs/explanation/gradients.md. */
#ifndef FMO_GRADIENT_H
#define FMO_GRADIENT_H

#include <fmo/fock.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A part of a two-electron energy,
 *
 *    coulomb_weight/2 sum D_ij D_kl (ij|kl) - exchange_weight/4 sum D_ik D_jl (ij|kl)
 *
 *  RHF is one term, {.density = 2 C C^T, 1, 1}; UHF is three: {Da + Db, 1, 0}, {Da, 0, 2} and
 *  {Db, 0, 2}. Set it to zero before setting fields, so that fields added later get their defaults.
 */
typedef struct fmo_gradient_term {
    const double *density;          /**< [nao][nao] symmetric, in the caller's functions */
    double coulomb_weight;          /**< 1: all of J; 0: none */
    double exchange_weight;         /**< 1: all of K for the density of both spins; 0: none */
    fmo_operator coulomb_operator;  /**< zero: 1/r */
    fmo_operator exchange_operator; /**< zero: 1/r. Terms and parts with equal operators share their
                                         integrals */
} fmo_gradient_term;

/** Computes the derivative of the sum of the terms with respect to the nuclei, at fixed densities:
 *  the centres of the basis functions move. Modes cpu and fused (s, p and d shells; on one GPU).
 *  Quartets are left out if their bound is below a quarter of the cutoff of the plan's builds;
 * boxes and stored integrals are not used. In each mode the bits of the result are always the same.
 * A plan with `ranks` computes it on rank 0 alone.
 *  @param[in] terms [term_num]
 *  @param[out] gradient [nucleus_num][3] hartree/bohr, nuclei in the order of the basis; untouched
 *          on error
 *  @return FMO_OK; FMO_ERR_ARGUMENT (NULL, no terms, arrays that overlap, a weight or an operator
 *          that is not valid); FMO_ERR_INPUT (a density that is not finite or not symmetric to
 *          1e-10 of its largest element); FMO_ERR_UNSUPPORTED (a plan of another mode);
 *          FMO_ERR_MEMORY
 *
 *  Source: Helgaker and Taylor, Theor. Chim. Acta 83, 177 (1992) */
FMO_API fmo_status fmo_fock_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms,
                                     int term_num, double *gradient, fmo_error *err);

/** One derivative of a batch: the arguments of fmo_fock_gradient, and its result. Set it to zero
 *  before setting fields, so that fields added later get their defaults. */
typedef struct fmo_gradient_job {
    fmo_fock_plan *plan;            /**< another one in each job */
    const fmo_gradient_term *terms; /**< [term_num] */
    int term_num;                   /**< number of terms */
    double *gradient;  /**< [nucleus_num][3] hartree/bohr; untouched if this job failed */
    fmo_status status; /**< output: status of this job, as returned by fmo_fock_gradient */
    fmo_error *err;    /**< details of its error; may be NULL */
} fmo_gradient_job;

/** Computes the derivatives of many molecules in one call. A failing job does not affect the
 *  others.
 *  @param[in,out] jobs [count]; the gradients may not overlap other arrays of any job
 *  @return FMO_OK, or the status of the first job (lowest number) that failed; err names the job,
 *          counted from 0 */
FMO_API fmo_status fmo_fock_gradient_batch(fmo_gradient_job *jobs, size_t count, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
