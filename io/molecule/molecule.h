/* A molecule: nuclei and where they are. Read from .xyz files, or filled in by the caller.
 * Next: basis_set.h, which makes a data set of a molecule and a basis set. */
#ifndef FMO_MOLECULE_H
#define FMO_MOLECULE_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Angstrom in a bohr: CODATA 2010, as PySCF has it, so that both see the same geometry. */
#define FMO_BOHR_IN_ANGSTROM 0.52917721092

/** Nuclei closer than this, in bohr, are taken for one written twice, and refused. */
#define FMO_NUCLEUS_DISTANCE_LEAST 1e-3

/** One that fmo_molecule_read_xyz made is freed with fmo_molecule_destroy; a caller may also fill
 *  in nucleus_num, number and coord of one of its own, the rest 0. */
typedef struct fmo_molecule {
    int nucleus_num;   /**< >= 1 */
    int *number;       /**< [nucleus_num] atomic numbers, 1 to 118 */
    double *coord;     /**< [nucleus_num][3] bohr */
    char comment[256]; /**< second line of the file, cut to fit */
    char *path;        /**< of the file; NULL without */
    char sha256[65];   /**< of the file, 64 hex digits; "" without */
    int frame;         /**< which of several in the file, from 1; 0: the only one */
    int charge;        /**< what the comment says, e: charge= or total_charge=, or the first of two
                            whole numbers that are all of it ("-2 1"); 0 without */
    int multiplicity;  /**< the same: multiplicity= or spin_multiplicity=, or the second of the two
                            numbers; 0 without */
    char notice[160];  /**< what else there is to say of the comment, in one line, or "" */
} fmo_molecule;

/** Read one molecule from a .xyz file: number of atoms, a comment, then a line for each atom with
 *  element (symbol in any case, or atomic number) and x, y, z in angstrom; columns beyond are
 *  ignored, as are the lines behind the atoms in files of the data set QM9. What is refused is
 * listed in docs/reference/basis-sets.md.
 *  @param[out] molecule  free with fmo_molecule_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, line and cure), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecule_read_xyz(const char *path, fmo_molecule **molecule, fmo_error *err);
FMO_API void fmo_molecule_destroy(fmo_molecule *molecule); /**< NULL is fine */

/** A .xyz file of any number of molecules, one behind the other, each as above; blank lines may
 *  stand between them. One that cannot be read does not hide those behind it: the next call of
 *  fmo_xyz_next goes on where the next number of atoms stands, and the failed one has its number
 *  among the frames. The file is in memory while it is open (at most 256 MiB are read), its
 *  molecules are made one at a time. */
typedef struct fmo_xyz fmo_xyz;

/** @param[out] xyz  close with fmo_xyz_close; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_xyz_open(const char *path, fmo_xyz **xyz, fmo_error *err);

/** The next molecule.
 *  @param[out] molecule  free with fmo_molecule_destroy; NULL after the last, with FMO_OK, and on
 *                        error; after FMO_ERR_INPUT there may be more
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, frame, line and cure), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_xyz_next(fmo_xyz *xyz, fmo_molecule **molecule, fmo_error *err);
FMO_API void fmo_xyz_close(fmo_xyz *xyz); /**< NULL is fine */

/** Element symbol ("Cl") of an atomic number; "X" for numbers that are none. */
FMO_API const char *fmo_element_symbol(int number);

#ifdef __cplusplus
}
#endif
#endif
