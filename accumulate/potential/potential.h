/* Electrostatic potentials of charge distributions, as matrices over other molecules' functions,
 * and energies between distributions: embedding, fragments, all that needs J of many densities on
 * the pairs of others, and no K. Densities are expanded in Hermite Gaussians, those of one place
 * and exponent together: McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978); Ahmadi and
 * Almlof, Chem. Phys. Lett. 246, 364 (1995). docs/explanation/one-electron.md, "Potentials of
 * distributions".
 *
 *     fmo_products_create(basis, &products, &err);
 *     fmo_distribution_create(products, D, nuclei, Z, R, &a, &err);
 *     fmo_potential_job job = {.products = of_another, .source = &a, .source_num = 1,
 *                              .potential = U};
 *     fmo_potentials(&job, 1, NULL, &err);
 *
 * All atomic units. Matrices [nao][nao] in the caller's AO order and normalisation. Objects are not
 * changed by what reads them: any number of threads may. */
#ifndef FMO_POTENTIAL_H
#define FMO_POTENTIAL_H

#include <stddef.h>

#include <fmo/basis.h>
#include <fmo/fock.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The products of primitives of a basis. */
typedef struct fmo_products fmo_products;

/** Products of a basis, which may go afterwards.
 *  @return FMO_OK, FMO_ERR_ARGUMENT or FMO_ERR_MEMORY, with *products NULL */
FMO_API fmo_status fmo_products_create(const fmo_basis *basis, fmo_products **products,
                                       fmo_error *err);
/** Products of functions of different groups of nuclei, as two molecules are that are computed as
 *  one: those of two nuclei that are in one group are left out. Potentials in them have zeros
 *  there, and distributions are made of the other elements of a density.
 *  @param[in] group  [nucleus_num] of each nucleus the groups that it is in, as 32 bits; 0: none
 *  @return as fmo_products_create */
FMO_API fmo_status fmo_products_create_between(const fmo_basis *basis, const unsigned *group,
                                               fmo_products **products, fmo_error *err);
FMO_API void fmo_products_destroy(fmo_products *products); /**< NULL is fine */

/** Electrons and point charges. */
typedef struct fmo_distribution fmo_distribution;

/** Electrons with a density matrix, and positive point charges such as nuclei. What is made does
 *  not need `products` any longer.
 *  @param[in] density  [nao][nao], of which the symmetric part counts; NULL: no electrons
 *  @param[in] charge   [charge_num], in units of e
 *  @param[in] coord    [charge_num][3] bohr
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (the message names a number that is not finite)
 *          or FMO_ERR_MEMORY, with *distribution NULL */
FMO_API fmo_status fmo_distribution_create(const fmo_products *products, const double *density,
                                           size_t charge_num, const double *charge,
                                           const double *coord, fmo_distribution **distribution,
                                           fmo_error *err);
FMO_API void fmo_distribution_destroy(fmo_distribution *distribution); /**< NULL is fine */

/** Where and how exactly. */
typedef struct fmo_potential_options {
    fmo_mode mode; /**< FMO_MODE_CPU, or FMO_MODE_FUSED: on a GPU */
    int threads;   /**< of the CPU; 0: as many as OpenMP would use */
    int device;    /**< a GPU by its number; -1: the one that the thread has chosen */
    double cutoff; /**< interactions with a bound below a tenth of this are left out */
    /** Mode fused: how many GPUs the jobs of a call are dealt to; 0 or 1: one. Results are the same
     * to rounding: bits depend on whether a GPU has met a job's products before. */
    int device_num;
    int devices[FMO_DEVICES_MAX]; /**< [device_num] CUDA's numbers; `device` stays -1 */
} fmo_potential_options;

/** Mode cpu, all threads, cutoff 1e-12. */
FMO_API void fmo_potential_options_init(fmo_potential_options *options);

/** A distribution of several that are made together; as fmo_distribution_create. */
typedef struct fmo_distribution_job {
    const fmo_products *products;   /**< may go after the call */
    const double *density;          /**< [nao][nao]; NULL: no electrons */
    size_t charge_num;              /**< any number up to 2^28 */
    const double *charge;           /**< [charge_num], in units of e */
    const double *coord;            /**< [charge_num][3] bohr */
    fmo_distribution *distribution; /**< written by the call: NULL if it fails */
} fmo_distribution_job;

/** All of them, side by side. With FMO_MODE_FUSED they are made on GPUs, of densities that this
 *  call copies, when a call for that GPU first meets them, and stay there until all that were made
 *  together have gone; and products whose distributions a GPU has made give potentials as matrices
 *  there, too: nothing but densities and matrices is copied. What has no density, or more functions
 *  at a nucleus than a block of a GPU's threads has space for, and all where the GPU has no memory
 *  left, is made on the host. Such a distribution can be used in mode cpu as well.
 *  @param[in] options  NULL: the defaults; mode and threads count
 *  @return as fmo_distribution_create, none of them if one fails */
FMO_API fmo_status fmo_distributions_create(fmo_distribution_job *jobs, size_t count,
                                            const fmo_potential_options *options, fmo_error *err);

/** U_mn = sum over sources of weight [ sum_ls D_ls (mn|ls) - sum_C q_C (m|1/r_C|n) ], hartree: what
 *  an electron in the functions of `products` feels of them, and of further point charges. With
 *  weights of -1 a few can be taken out of what many jobs share. Zero it before setting fields. */
typedef struct fmo_potential_job {
    const fmo_products *products;          /**< of the molecule that feels it */
    const fmo_distribution *const *source; /**< [source_num] */
    const double *weight;                  /**< [source_num]; NULL: all 1 */
    size_t source_num;                     /**< any number */
    const double *charge;                  /**< [charge_num] further charges, in units of e */
    const double *coord;                   /**< [charge_num][3] bohr */
    size_t charge_num;                     /**< any number */
    double *potential;                     /**< [nao][nao], overwritten; undefined on error */
} fmo_potential_job;

/** All jobs; on the CPU pieces of them side by side. Bits do not depend on threads. With
 *  FMO_MODE_FUSED products of 2048 points or more (about 64 bytes each) stay on the GPU until they
 *  are destroyed, or their matrices come from the host where it has no memory for them; results
 *  pass through page-locked memory, 16 MB for each of at most 8 calls at a time, which the process
 *  keeps.
 *  @param[in] options  NULL: the defaults
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY, FMO_ERR_NO_DEVICE or FMO_ERR_DEVICE */
FMO_API fmo_status fmo_potentials(const fmo_potential_job *jobs, size_t count,
                                  const fmo_potential_options *options, fmo_error *err);

/** Two distributions and their Coulomb energy with each other, charges and electrons of both. */
typedef struct fmo_electrostatics_job {
    const fmo_distribution *a; /**< one */
    const fmo_distribution *b; /**< another, none of whose charges stands where one of a does */
    double energy;             /**< hartree, written by the call */
} fmo_electrostatics_job;

/** All of their energies; as fmo_potentials. */
FMO_API fmo_status fmo_electrostatics(fmo_electrostatics_job *jobs, size_t count,
                                      const fmo_potential_options *options, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
