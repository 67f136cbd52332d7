/* All two-electron integrals of small molecules as matrices over pairs of functions, for methods
 * that read each integral many times, such as SCFs of a few dozen functions. s and p shells only.
 *
 * A matrix is [pairs][pairs] with pairs = nao (nao + 1) / 2; the pair of functions i >= j has
 * number i (i + 1) / 2 + j, in the caller's AO order and normalisation:
 *
 *    eri[i (i + 1) / 2 + j][k (k + 1) / 2 + l] = (ij|kl), hartree, symmetric. */
#ifndef FMO_ERI_MATRIX_H
#define FMO_ERI_MATRIX_H

#include <stddef.h>

#include <fmo/basis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of functions of a molecule; larger matrices would not fit into GPU memory. */
enum { FMO_ERI_MATRIX_FUNCTIONS = 256 };

/** Returns 1 if the functions below support a basis: only s and p shells, not too many functions.
 */
FMO_API int fmo_eri_matrix_can(const fmo_basis *basis);

/** Computes the integrals of one molecule on the CPU, in the calling thread.
 *  @param[in] cutoff primitive quartets with a bound below it are skipped; 0: none
 *  @param[out] eri [pairs][pairs] hartree, pairs = nao (nao + 1) / 2; untouched on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (unsupported basis), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_eri_matrix(const fmo_basis *basis, double cutoff, double *eri,
                                  fmo_error *err);

/** Computes the integrals of many molecules on a GPU and waits for the results. They are bitwise
 *  the same in every run, and differ from those of the CPU by rounding. Optionally also computes
 *  the overlap matrix, as fmo_overlap, and the core Hamiltonian, the sum of fmo_kinetic and
 *  fmo_nuclear_attraction (fmo/one_electron.h).
 *  @param[in] count number of molecules, of any sizes
 *  @param[in] cutoff as for fmo_eri_matrix
 *  @param[out] eri [count] matrices as above, each in memory of that GPU
 *  @param[out] overlap [count] matrices [nao][nao] of S in GPU memory; NULL, with core: not
 *          computed
 *  @param[out] core [count] matrices [nao][nao] of T + V, hartree, in GPU memory
 *  @param[in] device CUDA device number; -1: the current device of the calling thread
 *  @param[in] stream cudaStream_t on that GPU to which work is submitted; NULL: the call creates
 *          one
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (unsupported basis), FMO_ERR_MEMORY,
 *          FMO_ERR_NO_DEVICE or FMO_ERR_DEVICE */
FMO_API fmo_status fmo_eri_matrices_on_gpu(const fmo_basis *const *basis, size_t count,
                                           double cutoff, double *const *eri,
                                           double *const *overlap, double *const *core, int device,
                                           void *stream, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
