/* A molecule divided into fragments for the fragment molecular orbital (FMO) method: its atoms, the
 * fragment of each atom, the cut bonds, the distances beyond which the field of a fragment is
 * approximated, and the hybrid orbitals at cut bonds. Read from a file, or filled in by the caller.
 * Formats and rejected inputs: docs/reference/fmo.md. Next: fragment.h, which runs the
 * calculation. */
#ifndef FMO_FRAGMENT_SYSTEM_H
#define FMO_FRAGMENT_SYSTEM_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One bohr in angstrom as in GAMESS and OpenFMO, with which published FMO energies were computed;
 *  used for fragment files that do not specify another value. */
#define FMO_FRAGMENT_BOHR 0.52917724924

/** A threshold larger than the distance of any two fragments: turns its approximation off. */
#define FMO_FRAGMENT_NOWHERE 1e30

/** Names of an atom in a PDB file, without surrounding blanks. */
typedef struct fmo_atom_label {
    char name[5];    /**< of the atom, such as "CA" */
    char residue[5]; /**< of its residue, such as "ASP" */
    char place[6];   /**< number of the residue, with insertion code, such as "9" or "9A" */
    char chain;      /**< ' ' if the file has none */
    char is_hetero;  /**< 1: the line is a HETATM line */
} fmo_atom_label;

/** A fragmented molecule. The distance of two fragments is the smallest distance of an atom of one
 *  from an atom of the other, relative to the sum of the van der Waals radii of the two atoms. */
typedef struct fmo_fragment_system {
    int atom_num;     /**< >= 1 */
    int *number;      /**< [atom_num] atomic numbers */
    double *coord;    /**< [atom_num][3] bohr */
    int *fragment;    /**< [atom_num] fragment of each atom, from 0 */
    int fragment_num; /**< >= 1 */
    int *charge;      /**< [fragment_num] units of e */
    int bond_num;     /**< number of cut bonds */
    int *bond;        /**< [bond_num][2] bond-detached atom, bond-attached atom, from 0 */
    double aoc_from;  /**< nearer fragments contribute their exact electrostatic potential */
    double ptc_from;  /**< from here on fragments are point charges; between aoc_from and ptc_from
                         their density is represented by one population per AO (approximate orbital
                         charges, AOC) */
    double es_dimers_from; /**< from here on pairs have an electrostatic energy without an SCF */
    double bohr;           /**< angstrom per bohr, used to convert coord */
    double reference;      /**< reference energy in the file, hartree; NaN if there is none */
    char *name;            /**< name of the molecule, or NULL */
    char **fragment_name;  /**< [fragment_num] names for output, each may be NULL; NULL: none */
    char *basis;           /**< name of the basis set requested by the file, or NULL */
    int spherical;  /**< form of functions above p requested by the file: 1 spherical, -1 Cartesian,
                       0 not specified */
    char *path;     /**< path of the file, or NULL */
    char *geometry; /**< path of a second file with the atoms, or NULL */
    fmo_atom_label *label; /**< [atom_num] names in the PDB file, or NULL */
    char sha256[65];       /**< SHA-256 of the file, 64 hex digits; "" if there is no file */
    char *notice;          /**< one line about content of the file that was ignored, or NULL */
} fmo_fragment_system;

/** Reads a fragmented molecule: a PDB file (.pdb, .ent), which is cut into one fragment per
 *  residue, an input of GAMESS or OpenFMO (.inp) or of ABINIT-MP (.ajf), or JSON (any other name).
 *  @param[out] system  free with fmo_fragment_system_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, field or line, and cure), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_system_read(const char *path, fmo_fragment_system **system,
                                            fmo_error *err);

/** Like fmo_fragment_system_read, with several residues of a chain per fragment, and with ligands;
 *  neither has an effect on files that define their fragments.
 *  @param[in]  residues  residues per fragment, >= 1
 *  @param[in]  ligands   JSON file with charges and bonds of residues that fmo does not know
 *                        (docs/reference/fmo.md), or NULL
 *  @return also FMO_ERR_ARGUMENT */
FMO_API fmo_status fmo_fragment_system_read_pieces(const char *path, int residues,
                                                   const char *ligands,
                                                   fmo_fragment_system **system, fmo_error *err);
FMO_API void fmo_fragment_system_destroy(fmo_fragment_system *system); /**< NULL is allowed */

/** Checks that a system can be computed; called by fmo_fragment_system_read and fmo_fragment_run.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL), FMO_ERR_INPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_system_check(const fmo_fragment_system *system, fmo_error *err);

/** Returns the number of electrons of a fragment, or -1 if there is no such fragment. At each cut
 *  bond, one unit of nuclear charge of the bond-detached atom and one electron belong to the
 *  fragment of the bond-attached atom. */
FMO_API int fmo_fragment_electron_num(const fmo_fragment_system *system, int fragment);

/** Hybrid orbitals of an atom at cut bonds. Row 0 is the hybrid along the bond, which lies along z;
 *  the other rows are the remaining hybrids and the core. Columns are the functions of the atom:
 *  its s shells, then its p shells, each x, y, z. */
typedef struct fmo_hybrids {
    int orbital_num;     /**< number of rows */
    int function_num;    /**< number of columns */
    double *coefficient; /**< [orbital_num][function_num] coefficients of normalised functions */
} fmo_hybrids;

/** Reads the hybrid orbitals of an element in a basis set.
 *  @param[in]  path     a file like datasets/hybrids/hybrids.json; NULL: the installed one
 *  @param[in]  basis    name of the basis set; case, '-', '_' and blanks are ignored
 *  @param[in]  number   atomic number of the element
 *  @param[out] hybrids  free with fmo_hybrids_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (not found; the message lists the known sets), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_hybrids_read(const char *path, const char *basis, int number,
                                    fmo_hybrids **hybrids, fmo_error *err);
FMO_API void fmo_hybrids_destroy(fmo_hybrids *hybrids); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
