/* A basis of contracted Gaussian shells, of the kinds in shells.h, as specified by the caller.
 * Conventions follow TREXIO: chi_i = ao_factor_i * P_i(r-R) * sum_k c_k exp(-a_k |r-R|^2), where
 * P_i is 1, x, y, z, a product of two of these, or a real solid harmonic sqrt(4 pi / 5) r^2 Y_2m:
 *
 *    m = 0, +1, -1, +2, -2:
 *    zz - (xx + yy)/2, sqrt(3) xz, sqrt(3) yz, sqrt(3)/2 (xx - yy), sqrt(3) xy
 *
 * All matrices refer to these functions, whatever their norms; thresholds refer to functions of
 * norm 1. Read next: one_electron.h, fock.h. */
#ifndef FMO_BASIS_H
#define FMO_BASIS_H

#include <stddef.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The data that define a basis. Arrays belong to the caller and are copied. */
typedef struct fmo_basis_input {
    int nucleus_num;              /**< >= 1 */
    const double *nucleus_charge; /**< [nucleus_num] in units of e (for nuclear attraction) */
    const double *nucleus_coord;  /**< [nucleus_num][3] bohr */
    int shell_num;                /**< >= 1 */
    const int *shell_nucleus;     /**< [shell_num] 0-based nucleus of each shell */
    const int *shell_ang_mom; /**< [shell_num] angular momentum, fmo_shell_kind in shells.h: 0 (s),
                                 1 (p), 2 (d), 3 (f), 4 (g) */
    int prim_num;             /**< >= shell_num */
    const int *prim_shell;    /**< [prim_num] shell of each primitive, any order */
    const double *prim_exponent;    /**< [prim_num] > 0, bohr^-2 */
    const double *prim_coefficient; /**< [prim_num] all shell and primitive factors included */
    int ao_num; /**< number of functions: 1 per s shell, 3 per p shell, 5 or 6 per d shell, 7 or 10
                   per f shell, 9 or 15 per g shell */
    const int *ao_shell;     /**< [ao_num] shell of each function, any order */
    const int *ao_component; /**< [ao_num] 0 in an s shell; 0, 1, 2 = x, y, z in a p shell; in a d
                                  shell 0 .. 5 = xx xy xz yy yz zz if `cartesian`, else
                                  0 .. 4 = m = 0, +1, -1, +2, -2; in an f shell xxx xxy xxz
                                  xyy xyz xzz yyy yyz yzz zzz, or m = 0, +1, -1, ... -3;
                                  in a g shell xxxx xxxy xxxz xxyy ... zzzz, or m = 0 ... -4 */
    const double *ao_factor; /**< [ao_num] factor of each function (TREXIO ao_normalization) */
    int cartesian; /**< 1: d (f, g) shells have 6 (10, 15) Cartesian functions; 0: 5 (7, 9)
                      spherical functions */
} fmo_basis_input;

/** A basis that has been checked; made by fmo_basis_create. */
typedef struct fmo_basis fmo_basis;

/** Checks and copies a basis.
 *  @param[out] basis a new basis, to be freed with fmo_basis_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL), FMO_ERR_INPUT (a value out of range: the message names
 *          it in TREXIO's terms), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_basis_create(const fmo_basis_input *input, fmo_basis **basis,
                                    fmo_error *err);
FMO_API void fmo_basis_destroy(fmo_basis *basis); /**< NULL is allowed */

/* Sizes of a basis; 0 if basis is NULL. */
FMO_API int fmo_basis_ao_num(const fmo_basis *basis);      /**< number of functions */
FMO_API int fmo_basis_nucleus_num(const fmo_basis *basis); /**< number of nuclei */
FMO_API int
fmo_basis_shell_num(const fmo_basis *basis,
                    int ang_mom); /**< shells of s (0), p (1), d (2), f (3); 0 for others */
FMO_API int
fmo_basis_prim_num(const fmo_basis *basis); /**< primitives with a nonzero coefficient */

/** Charge of a nucleus in units of e; NaN if there is no nucleus of that number. */
FMO_API double fmo_basis_nucleus_charge(const fmo_basis *basis, int nucleus);

/** Compares two nuclei: do they have the same charge and the same shells, at any positions?
 *  @return 1 or 0 */
FMO_API int fmo_basis_nuclei_equal(const fmo_basis *basis, int a, int b);

/** As fmo_basis_nuclei_equal, for nucleus a of one basis and nucleus b of another.
 *  @return 1 or 0 */
FMO_API int fmo_basis_atoms_equal(const fmo_basis *basis, int a, const fmo_basis *other, int b);

/** The norm of each function, the square root of its overlap with itself.
 *  @return [fmo_basis_ao_num(basis)], owned by the basis; NULL if basis is NULL */
FMO_API const double *fmo_basis_ao_norm(const fmo_basis *basis);

/** Makes the same basis with functions of norm 1: function i of `basis` is
 *  fmo_basis_ao_norm(basis)[i] times function i of `normalised`.
 *  @param[out] normalised free with fmo_basis_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_basis_normalised(const fmo_basis *basis, fmo_basis **normalised,
                                        fmo_error *err);

/** Makes a basis of one nucleus with its shells. Its functions are ordered by shell, by angular
 * momentum, then by ao_component, with a factor of 1: function ao[i] of `basis` is factor[i] times
 * its function i, to rounding.
 *  @param[out] atom free with fmo_basis_destroy; NULL on error and for a nucleus without shells
 *  @param[out] ao [fmo_basis_ao_num(*atom)], at most the number of functions of `basis`
 *  @param[out] factor the same size
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_basis_atom(const fmo_basis *basis, int nucleus, fmo_basis **atom, int *ao,
                                  double *factor, fmo_error *err);

/** Repulsion energy of the nuclei, sum_{A<B} Z_A Z_B / R_AB, hartree. Infinite if nuclei coincide.
 */
FMO_API double fmo_basis_nuclear_repulsion(const fmo_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
