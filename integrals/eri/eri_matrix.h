/* All two-electron integrals of small molecules, as matrices over pairs of functions: for what
 * reads each of them many times, such as SCFs of a few dozen functions. s and p shells.
 *
 * A matrix is [pairs][pairs] with pairs = nao (nao + 1) / 2; the pair of functions i >= j is number
 * i (i + 1) / 2 + j, in the caller's AO order and normalisation:
 *     eri[i (i + 1) / 2 + j][k (k + 1) / 2 + l] = (ij|kl), hartree, symmetric. */
#ifndef FMO_ERI_MATRIX_H
#define FMO_ERI_MATRIX_H

#include <stddef.h>

#include <fmo/basis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Functions of a molecule, at most: of more, a matrix would not fit a GPU. */
enum { FMO_ERI_MATRIX_FUNCTIONS = 256 };

/** Whether a basis is one that the functions below take: s and p shells, not too many functions. */
FMO_API int fmo_eri_matrix_can(const fmo_basis *basis);

/** The integrals of one molecule, on the CPU, in the calling thread.
 *  @param[in]  cutoff  primitive quartets with a bound below it are left out; 0: none
 *  @param[out] eri     [pairs][pairs] hartree, pairs = nao (nao + 1) / 2; untouched on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (another basis), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_eri_matrix(const fmo_basis *basis, double cutoff, double *eri,
                                  fmo_error *err);

/** The integrals of many molecules, on a GPU; it returns when they are there. They are the same
 *  bits in every run, and differ by rounding from those of the CPU. Overlap and core Hamiltonian
 *  come along where they are wanted, as fmo_overlap, and fmo_kinetic and fmo_nuclear_attraction
 *  together, have them (fmo/one_electron.h).
 *  @param[in]  count   molecules, of any sizes
 *  @param[in]  cutoff  as above
 *  @param[out] eri     [count] matrices as above, each in memory of that GPU
 *  @param[out] overlap [count] matrices [nao][nao] of S, likewise; NULL, with core: not wanted
 *  @param[out] core    [count] matrices [nao][nao] of T + V, hartree, likewise
 *  @param[in]  device  CUDA's number of the GPU; -1: the one that the thread has chosen
 *  @param[in]  stream  cudaStream_t of that GPU that work goes to; NULL: one of the call's own
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (another basis), FMO_ERR_MEMORY,
 *          FMO_ERR_NO_DEVICE or FMO_ERR_DEVICE */
FMO_API fmo_status fmo_eri_matrices_on_gpu(const fmo_basis *const *basis, size_t count,
                                           double cutoff, double *const *eri,
                                           double *const *overlap, double *const *core, int device,
                                           void *stream, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
