/* Electrostatic potentials of charge distributions, as matrices over other molecules' functions,
 * and interaction energies of distributions: for embedding, fragments and other uses of J of many
 * densities in other molecules' functions without K. Densities are expanded in Hermite Gaussians,
 * combining those with equal centre and exponent: McMurchie and Davidson, J. Comput. Phys. 26, 218
 * (1978); Ahmadi and Almlof, Chem. Phys. Lett. 246, 364 (1995). docs/explanation/one-electron.md,
 * "Potentials of distributions".
 *
 *    fmo_products_create(basis, &products, &err);
 *    fmo_distribution_create(products, D, nuclei, Z, R, &a, &err);
 *    fmo_potential_job job = {.products = of_another, .source = &a, .source_num = 1,
 *                             .potential = U};
 *    fmo_potentials(&job, 1, NULL, &err);
 *
 * All values are in atomic units. Matrices are [nao][nao] in the caller's AO order and
 * normalisation. Calls do not modify their input objects, so any number of threads may use them at
 * once. */
#ifndef FMO_POTENTIAL_H
#define FMO_POTENTIAL_H

#include <stddef.h>

#include <fmo/basis.h>
#include <fmo/fock.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All products of two primitives of a basis. */
typedef struct fmo_products fmo_products;

/** Makes the products of a basis, which may be destroyed afterwards.
 *  @return FMO_OK, FMO_ERR_ARGUMENT or FMO_ERR_MEMORY, with *products NULL on error */
FMO_API fmo_status fmo_products_create(const fmo_basis *basis, fmo_products **products,
                                       fmo_error *err);
/** Makes only the products of functions on nuclei of different groups, for instance of two
 *  molecules in one basis: products of two nuclei with a common group are left out. The
 *  corresponding elements of potentials are zero and those of densities are ignored.
 *  @param[in] group [nucleus_num] 32-bit mask of the groups of each nucleus; 0: none
 *  @return as fmo_products_create */
FMO_API fmo_status fmo_products_create_between(const fmo_basis *basis, const unsigned *group,
                                               fmo_products **products, fmo_error *err);
FMO_API void fmo_products_destroy(fmo_products *products); /**< NULL is allowed */

/** A charge distribution: electrons and point charges. */
typedef struct fmo_distribution fmo_distribution;

/** Makes a distribution of electrons with a density matrix and of positive point charges such as
 *  nuclei. It does not depend on `products` afterwards.
 *  @param[in] density [nao][nao], whose symmetric part is used; NULL: no electrons
 *  @param[in] charge [charge_num], in units of e
 *  @param[in] coord [charge_num][3] bohr
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (the message names a number that is not finite)
 *          or FMO_ERR_MEMORY, with *distribution NULL on error */
FMO_API fmo_status fmo_distribution_create(const fmo_products *products, const double *density,
                                           size_t charge_num, const double *charge,
                                           const double *coord, fmo_distribution **distribution,
                                           fmo_error *err);
FMO_API void fmo_distribution_destroy(fmo_distribution *distribution); /**< NULL is allowed */

/** The dipole moment of a distribution, sum over its charges and electrons of q r, about the origin
 *  of the coordinates.
 *  @param[out] dipole [3] e bohr; untouched on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT or FMO_ERR_MEMORY */
FMO_API fmo_status fmo_distribution_dipole(const fmo_distribution *distribution, double *dipole,
                                           fmo_error *err);

/** Where to compute, and the accuracy. */
typedef struct fmo_potential_options {
    fmo_mode mode; /**< FMO_MODE_CPU, or FMO_MODE_FUSED for a GPU */
    int threads;   /**< CPU threads; 0: as many as OpenMP would use */
    int device;    /**< CUDA device number; -1: the current device of the calling thread */
    double cutoff; /**< interactions with a bound below a tenth of this are skipped */
    /** Mode fused: number of GPUs over which the jobs of a call are distributed; 0 or 1: one.
     *  Results agree to rounding: the last bits depend on whether a GPU has processed a job's
     *  products before. */
    int device_num;
    int devices[FMO_DEVICES_MAX]; /**< [device_num] CUDA device numbers; leave `device` at -1 */
} fmo_potential_options;

/** Sets the defaults: mode cpu, all threads, cutoff 1e-12. */
FMO_API void fmo_potential_options_init(fmo_potential_options *options);

/** One of several distributions made together; fields as the arguments of fmo_distribution_create.
 */
typedef struct fmo_distribution_job {
    const fmo_products *products;   /**< may be destroyed after the call */
    const double *density;          /**< [nao][nao]; NULL: no electrons */
    size_t charge_num;              /**< at most 2^28 */
    const double *charge;           /**< [charge_num], in units of e */
    const double *coord;            /**< [charge_num][3] bohr */
    fmo_distribution *distribution; /**< output: NULL if it fails */
} fmo_distribution_job;

/** Makes distributions in parallel. With FMO_MODE_FUSED this call only copies the densities; a GPU
 *  makes the distributions when a call first uses them on it, and keeps them until all
 *  distributions made together have been destroyed. For products of which a GPU has made
 *  distributions, potentials become matrices on the GPU too, so that only densities and matrices
 *  are copied. Distributions without a density, those with more functions at a nucleus than fit
 *  into a thread block, and all others when GPU memory is full are made on the host. The
 *  distributions can also be used in mode cpu.
 *  @param[in] options NULL: the defaults; only mode and threads are used
 *  @return as fmo_distribution_create; on error no distribution is made */
FMO_API fmo_status fmo_distributions_create(fmo_distribution_job *jobs, size_t count,
                                            const fmo_potential_options *options, fmo_error *err);

/** One potential, U_mn = sum over sources of weight [ sum_ls D_ls (mn|ls) - sum_C q_C (m|1/r_C|n) ]
 *  in hartree: the potential energy of an electron, in the functions of `products`, in the field of
 *  the sources and of further point charges. A weight of -1 subtracts a source that is part of
 *  another one. Set it to zero before setting fields. */
typedef struct fmo_potential_job {
    const fmo_products *products;          /**< products in whose functions the potential is
                                                computed */
    const fmo_distribution *const *source; /**< [source_num] */
    const double *weight;                  /**< [source_num]; NULL: all 1 */
    size_t source_num;                     /**< any number */
    const double *charge;                  /**< [charge_num] further charges, in units of e */
    const double *coord;                   /**< [charge_num][3] bohr */
    size_t charge_num;                     /**< at most 2^28 */
    double *potential;                     /**< [nao][nao], overwritten; undefined on error */
} fmo_potential_job;

/** Computes the potentials of all jobs; on the CPU, pieces of them in parallel. Results do not
 *  depend on the number of threads. With FMO_MODE_FUSED, products with 2048 points or more (about
 *  64 bytes each) stay in GPU memory until they are destroyed; if they do not fit, the host forms
 *  their matrices. Results are copied through page-locked buffers, 16 MB for each of at most 8
 *  concurrent calls, which the process keeps.
 *  @param[in] options NULL: the defaults
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY, FMO_ERR_NO_DEVICE or FMO_ERR_DEVICE */
FMO_API fmo_status fmo_potentials(const fmo_potential_job *jobs, size_t count,
                                  const fmo_potential_options *options, fmo_error *err);

/** The Coulomb interaction energy of two distributions, with charges and electrons of both. */
typedef struct fmo_electrostatics_job {
    const fmo_distribution *a; /**< the first */
    const fmo_distribution *b; /**< the second; none of its charges may coincide with one of a */
    double energy;             /**< output: hartree */
} fmo_electrostatics_job;

/** Computes the energies of all jobs; otherwise as fmo_potentials. */
FMO_API fmo_status fmo_electrostatics(fmo_electrostatics_job *jobs, size_t count,
                                      const fmo_potential_options *options, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
