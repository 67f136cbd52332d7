/* Basis sets: shells by element, from Basis Set Exchange JSON or Gaussian's .gbs format, and data
 * sets made of a molecule and a basis set. Formats, names and places: docs/reference/basis-sets.md.
 */
#ifndef FMO_BASIS_SET_H
#define FMO_BASIS_SET_H

#include <fmo/dataset.h>
#include <fmo/molecule.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A basis set in memory. */
typedef struct fmo_basis_set fmo_basis_set;

/** Read a basis set by name or from a file.
 *  A text with a '/', or that ends in .json, .gbs, .g94 or .bas, is a path. Anything else is a name
 *  ("6-31G", "sto3g": case, '-', '_' and blanks do not count), looked up in the directories of the
 *  environment variable FMO_BASIS_PATH (separated by ':'), in datasets/basis of the source tree the
 *  library was built from, and in the installed fmo/basis, in this order.
 *  @param[out] set  free with fmo_basis_set_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, line or element and shell, and the cure; an
 *          unknown name lists the known ones), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_basis_set_read(const char *name_or_path, fmo_basis_set **set,
                                      fmo_error *err);
FMO_API void fmo_basis_set_destroy(fmo_basis_set *set); /**< NULL is fine */

/* What a set holds. Of a set that is NULL: NULL and 0. */
FMO_API const char *fmo_basis_set_name(const fmo_basis_set *set); /**< "6-31G", as the file says */
FMO_API const char *fmo_basis_set_path(const fmo_basis_set *set); /**< of the file it came from */

/** Shells of an element; 0 when the set does not define it. */
FMO_API int fmo_basis_set_shell_num(const fmo_basis_set *set, int number);

/** Names that fmo_basis_set_read finds, sorted, as "3-21g, 6-31g, sto-3g", cut to fit.
 *  @param[out] text  of size bytes */
FMO_API void fmo_basis_set_list(char *text, size_t size);

/* X(enumerator, name, what it means), for options of programs */
#define FMO_FUNCTIONS_TABLE(X)                                           \
    X(FMO_FUNCTIONS_SET, "set", "as the basis set has them")             \
    X(FMO_FUNCTIONS_CARTESIAN, "cartesian", "xx xy xz yy yz zz: 6 of d") \
    X(FMO_FUNCTIONS_SPHERICAL, "spherical", "m = 0 +1 -1 +2 -2: 5 of d")

#define FMO_FUNCTIONS_ROW(e, name, text) e,
/** What the functions of shells above p are in a data set made with a basis set. FMO_FUNCTIONS_SET:
 *  what its file says; of d shells of which it says nothing (Gaussian's format) spherical, as in
 *  Gaussian; Cartesian in a data set without such shells. */
typedef enum fmo_functions {
    FMO_FUNCTIONS_TABLE(FMO_FUNCTIONS_ROW) FMO_FUNCTIONS_COUNT
} fmo_functions;
#undef FMO_FUNCTIONS_ROW

/** "set", "cartesian", "spherical"; NULL for what is none. */
FMO_API const char *fmo_functions_name(fmo_functions functions);
FMO_API const char *fmo_functions_text(fmo_functions functions); /**< a line about it, or NULL */

/** Other functions than the set's. A set that is NULL is left alone. */
FMO_API void fmo_basis_set_choose_functions(fmo_basis_set *set, fmo_functions functions);

/** A data set without a density: the molecule's nuclei, on each the shells of its element.
 *  Primitives are normalised, then every function. AO order: nucleus by nucleus, the s shells of
 *  the set, then its p shells, then its d shells; the functions of a shell as TREXIO has them: x y
 * z and xx xy xz yy yz zz if Cartesian, z x y and m = 0 +1 -1 +2 -2 if spherical
 *  (fmo_basis_set_choose_functions). fmo_dataset_density() is NULL,
 *  fmo_dataset_path() and sha256 are those of the molecule's file ("" without).
 *  @param[in] charge  of the molecule, in units of e; the electrons must be even in number
 *  @return FMO_OK, FMO_ERR_INPUT (element not in the set, shells above d, d shells partly Cartesian
 * and partly spherical, odd electron number, a molecule that makes no sense), FMO_ERR_ARGUMENT
 * (NULL), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_dataset_create(const fmo_molecule *molecule, const fmo_basis_set *set,
                                      int charge, fmo_dataset **dataset, fmo_error *err);

/** The same with functions of a shell above p that are not the set's, and with the order of
 *  functions that goes with them. Molecules that are parts of another need that one's: in a data
 *  set without d shells the order is else the Cartesian one, whatever the other has.
 *  @param[in] functions  FMO_FUNCTIONS_SET: fmo_dataset_create */
FMO_API fmo_status fmo_dataset_create_with(const fmo_molecule *molecule, const fmo_basis_set *set,
                                           fmo_functions functions, int charge,
                                           fmo_dataset **dataset, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
