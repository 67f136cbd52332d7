/* Basis sets: shells by element, from Basis Set Exchange JSON or the formats of Gaussian, Psi4 and
 * NWChem, and data sets made from a molecule and a basis set. Formats, names and directories:
 * docs/reference/basis-sets.md. */
#ifndef FMO_BASIS_SET_H
#define FMO_BASIS_SET_H

#include <fmo/dataset.h>
#include <fmo/molecule.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A basis set in memory. */
typedef struct fmo_basis_set fmo_basis_set;

/** Reads a basis set by name or from a file. A text that contains '/' or ends in .json, .gbs, .g94,
 *  .bas, .nw or .nwchem is a path. Anything else is a name ("6-31G", "sto3g": case, '-', '_' and
 *  blanks are ignored), looked up in the directories of the environment variable FMO_BASIS_PATH
 *  (separated by ':') and then in share/fmo/basis, which is found relative to the library's own
 * file.
 *  @param[out] set  free with fmo_basis_set_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, line or element and shell, and the cure; for
 *          an unknown name it lists the known ones), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_basis_set_read(const char *name_or_path, fmo_basis_set **set,
                                      fmo_error *err);
FMO_API void fmo_basis_set_destroy(fmo_basis_set *set); /**< NULL is allowed */

/* Contents of a basis set. For set = NULL these return NULL or 0. */
FMO_API const char *fmo_basis_set_name(const fmo_basis_set *set); /**< "6-31G", as in the file */
FMO_API const char *fmo_basis_set_path(const fmo_basis_set *set); /**< path of the file */

/** Number of shells of an element; 0 if the set does not define it. */
FMO_API int fmo_basis_set_shell_num(const fmo_basis_set *set, int number);

/** Writes the names that fmo_basis_set_read finds, sorted, as "3-21g, 6-31g, sto-3g", truncated to
 *  fit.
 *  @param[out] text  of size bytes */
FMO_API void fmo_basis_set_list(char *text, size_t size);

/* X(enumerator, name, description), for options of programs */
#define FMO_FUNCTIONS_TABLE(X)                                           \
    X(FMO_FUNCTIONS_SET, "set", "as the basis set has them")             \
    X(FMO_FUNCTIONS_CARTESIAN, "cartesian", "xx xy xz yy yz zz: 6 of d") \
    X(FMO_FUNCTIONS_SPHERICAL, "spherical", "m = 0 +1 -1 +2 -2: 5 of d")

#define FMO_FUNCTIONS_ROW(e, name, text) e,
/** Form of the functions of shells above p in a data set made with a basis set. FMO_FUNCTIONS_SET:
 *  the form that the file of the set specifies; where it specifies none (Gaussian's format), d
 *  shells are spherical, as in Gaussian; in NWChem's format they are Cartesian. A data set without
 * shells above p is Cartesian. */
typedef enum fmo_functions {
    FMO_FUNCTIONS_TABLE(FMO_FUNCTIONS_ROW) FMO_FUNCTIONS_COUNT
} fmo_functions;
#undef FMO_FUNCTIONS_ROW

/** "set", "cartesian", "spherical"; NULL for an invalid value. */
FMO_API const char *fmo_functions_name(fmo_functions functions);
/** One-line description of a form; NULL for an invalid value. */
FMO_API const char *fmo_functions_text(fmo_functions functions);

/** Overrides the form of the functions of a set. Does nothing if set is NULL. */
FMO_API void fmo_basis_set_choose_functions(fmo_basis_set *set, fmo_functions functions);

/** Creates a data set without a density: the nuclei of the molecule, each with the shells of its
 *  element; a ghost atom becomes a nucleus of charge 0. Primitives are normalised, then every
 * function. AO order: nucleus by nucleus, first its s shells, then p, then d, each in the order of
 * the set; the functions of a shell are in TREXIO's order, x y z and xx xy xz yy yz zz if
 * Cartesian, z x y and m = 0 +1 -1 +2 -2 if spherical (fmo_basis_set_choose_functions).
 * fmo_dataset_density() is NULL; fmo_dataset_path() and fmo_dataset_sha256() are those of the
 * molecule's file ("" if there is none).
 *  @param[in] charge  of the molecule, in units of e; the number of electrons must be even
 *  @return FMO_OK, FMO_ERR_INPUT (element not in the set, shells above d, d shells partly Cartesian
 *          and partly spherical, odd number of electrons, impossible molecule), FMO_ERR_ARGUMENT
 *          (NULL), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_dataset_create(const fmo_molecule *molecule, const fmo_basis_set *set,
                                      int charge, fmo_dataset **dataset, fmo_error *err);

/** Like fmo_dataset_create, with the form of the functions chosen by the caller instead of the set.
 *  The form also decides the order of p functions: choose the same form for a molecule and for its
 *  fragments, since a fragment without d shells would otherwise be Cartesian.
 *  @param[in] functions  FMO_FUNCTIONS_SET: as fmo_dataset_create */
FMO_API fmo_status fmo_dataset_create_with(const fmo_molecule *molecule, const fmo_basis_set *set,
                                           fmo_functions functions, int charge,
                                           fmo_dataset **dataset, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
