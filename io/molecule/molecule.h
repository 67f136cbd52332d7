/* A molecule: the atomic numbers and positions of its nuclei, read from a .xyz file or filled in by
 * the caller. Next: basis_set.h, which makes a data set from a molecule and a basis set. */
#ifndef FMO_MOLECULE_H
#define FMO_MOLECULE_H

#include <stddef.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One bohr in angstrom: the CODATA 2010 value, which PySCF also uses, so that both programs see
 *  the same geometry. */
#define FMO_BOHR_IN_ANGSTROM 0.52917721092

/** Two nuclei closer than this (bohr) are taken for one nucleus written twice; the input is
 *  rejected. */
#define FMO_NUCLEUS_DISTANCE_MIN 1e-3

/* X(enumerator, name, description), for options of programs */
#define FMO_UNIT_TABLE(X)                                                                  \
    X(FMO_UNIT_FILE, "file", "as the comment states (unit=bohr), angstrom if it does not") \
    X(FMO_UNIT_ANGSTROM, "angstrom", "angstrom, whatever the comment states")              \
    X(FMO_UNIT_BOHR, "bohr", "bohr, whatever the comment states")

#define FMO_UNIT_ROW(e, name, text) e,
/** Unit of the coordinates in a .xyz file. */
typedef enum fmo_unit { FMO_UNIT_TABLE(FMO_UNIT_ROW) FMO_UNIT_COUNT } fmo_unit;
#undef FMO_UNIT_ROW

FMO_API const char *fmo_unit_name(fmo_unit unit); /**< "bohr"; NULL for an invalid value */
FMO_API const char *fmo_unit_text(fmo_unit unit); /**< description; NULL for an invalid value */

/** A molecule made by fmo_molecule_read_xyz or fmo_xyz_next is freed with fmo_molecule_destroy. A
 *  caller may also fill in nucleus_num, number and coord of its own structure and set the other
 *  members to 0. */
typedef struct fmo_molecule {
    int nucleus_num; /**< number of nuclei, ghost atoms included, >= 1 */
    int *number;     /**< [nucleus_num] atomic numbers, 1 to 118; of a ghost atom that of the
                        element whose functions it has */
    double *coord;   /**< [nucleus_num][3] bohr */
    int *ghost;      /**< [nucleus_num] 1: a ghost atom, which has functions but neither charge nor
                        electrons; NULL: there is none */
    char *title;     /**< the whole second line of the file; NULL if there is none */
    char comment[256]; /**< second line of the file, truncated to fit */
    char *path;        /**< path of the file; NULL if there is none */
    char sha256[65];   /**< SHA-256 of the file, 64 hex digits; "" if there is no file */
    int frame;         /**< number of this molecule in a file of several, from 1; 0: the only one */
    int charge; /**< from the comment, in units of e: charge= or total_charge=, or the first number
                   of a comment that consists of two whole numbers ("-2 1"); 0 if not given */
    int multiplicity; /**< from the comment: multiplicity= or spin_multiplicity=, or
                         the second of the two numbers; 0 if not given */
    char notice[160]; /**< a warning about the comment, in one line; "" if there is none */
} fmo_molecule;

/** Reads one molecule from a .xyz file: the number of atoms, a comment, then one line for each atom
 *  with its element (symbol in any case, or atomic number) and x, y, z in angstrom, or in bohr if
 *  the comment contains unit=bohr. Ghost atoms are written Gh(O), \@O, ghost-O, X-O, O-Bq, BqO or
 *  O: . Further columns are ignored, and so are the lines that follow the atoms in files of the QM9
 *  data set. Inputs that are rejected are listed in docs/reference/basis-sets.md.
 *  @param[in] path  "-": the standard input, if it is redirected from a regular file
 *  @param[out] molecule  free with fmo_molecule_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, line and cure), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecule_read_xyz(const char *path, fmo_molecule **molecule, fmo_error *err);
/** Like fmo_molecule_read_xyz, with the unit of the coordinates. */
FMO_API fmo_status fmo_molecule_read_xyz_in(const char *path, fmo_unit unit,
                                            fmo_molecule **molecule, fmo_error *err);
FMO_API void fmo_molecule_destroy(fmo_molecule *molecule); /**< NULL is allowed */

/** An open .xyz file with any number of molecules, each in the format above, one after the other;
 *  blank lines may separate them. After a molecule that cannot be read, the next call of
 *  fmo_xyz_next continues behind its atoms if their number is right, else at the next line that
 *  holds a number of atoms and is followed by a molecule; the message ends in the lines that are
 *  skipped. The failed molecule still counts as a frame. The whole file (at most 256 MiB) is in
 * memory while it is open; molecules are made one at a time. */
typedef struct fmo_xyz fmo_xyz;

/** Opens a .xyz file.
 *  @param[out] xyz  close with fmo_xyz_close; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_xyz_open(const char *path, fmo_xyz **xyz, fmo_error *err);
/** Like fmo_xyz_open, with the unit of the coordinates. */
FMO_API fmo_status fmo_xyz_open_in(const char *path, fmo_unit unit, fmo_xyz **xyz, fmo_error *err);

/** Reads the next molecule.
 *  @param[out] molecule  free with fmo_molecule_destroy; NULL with FMO_OK after the last molecule,
 *                        and NULL on error; after FMO_ERR_INPUT further molecules may follow
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, frame, line and cure), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_xyz_next(fmo_xyz *xyz, fmo_molecule **molecule, fmo_error *err);
FMO_API void fmo_xyz_close(fmo_xyz *xyz); /**< NULL is allowed */

/** Point charges beside a molecule, which are not among its nuclei. */
typedef struct fmo_point_charges {
    size_t num;     /**< number of charges, >= 1 */
    double *charge; /**< [num] e */
    double *coord;  /**< [num][3] bohr */
    int *line;      /**< [num] line of the file that each stands in, from 1 */
    fmo_unit unit;  /**< of the coordinates in the file: FMO_UNIT_ANGSTROM or FMO_UNIT_BOHR */
} fmo_point_charges;

/** Reads point charges from a text file: a line "charge x y z" for each. Empty lines, and what
 *  follows a '#', are comments, of which one may give the unit (unit=bohr). The number of charges
 *  may stand alone in the first line, with or without a comment in the second as in a .xyz file.
 *  @param[in] unit  FMO_UNIT_FILE: as a comment states, angstrom if none does
 *  @param[out] charges  free with fmo_point_charges_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (message names file, line and cure),
 *          FMO_ERR_MEMORY */
FMO_API fmo_status fmo_point_charges_read(const char *path, fmo_unit unit,
                                          fmo_point_charges **charges, fmo_error *err);
FMO_API void fmo_point_charges_destroy(fmo_point_charges *charges); /**< NULL is allowed */

/** Element symbol ("Cl") of an atomic number; "X" outside 1 to 118. */
FMO_API const char *fmo_element_symbol(int number);

#ifdef __cplusplus
}
#endif
#endif
