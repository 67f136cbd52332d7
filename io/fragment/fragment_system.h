/* A molecule in fragments, as the fragment molecular orbital method takes it: atoms, whose fragment
 * each is, the bonds that were cut, and from which distance on a fragment is seen simplified; and
 * the hybrid orbitals at cut bonds. Read from a file, or filled in by the caller. Formats and
 * refusals: docs/reference/fmo.md. Next: fragment.h, which computes. */
#ifndef FMO_FRAGMENT_SYSTEM_H
#define FMO_FRAGMENT_SYSTEM_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Angstrom in a bohr in GAMESS and OpenFMO, with which published FMO energies were made; fragment
 *  files are read with it unless they say another. */
#define FMO_FRAGMENT_BOHR 0.52917724924

/** A threshold beyond the distance of any fragments: its approximation is off. */
#define FMO_FRAGMENT_NOWHERE 1e30

/** Distances are relative to the sum of two atoms' van der Waals radii: the least over all atoms of
 *  one fragment and of the other. */
typedef struct fmo_fragment_system {
    int atom_num;          /**< >= 1 */
    int *number;           /**< [atom_num] atomic numbers */
    double *coord;         /**< [atom_num][3] bohr */
    int *fragment;         /**< [atom_num] fragment of each atom, from 0 */
    int fragment_num;      /**< >= 1 */
    int *charge;           /**< [fragment_num] units of e */
    int bond_num;          /**< cut bonds */
    int *bond;             /**< [bond_num][2] bond-detached atom, bond-attached atom, from 0 */
    double aoc_from;       /**< nearer fragments have their exact field */
    double ptc_from;       /**< from here on they are point charges; between the two, one density
                                for each function (approximate orbital charges) */
    double es_dimers_from; /**< from here on pairs are electrostatic, without an SCF */
    double bohr;           /**< angstrom in a bohr, with which coord was made */
    double reference;      /**< energy that the file has for comparison, hartree; NaN: none */
    char *name;            /**< or NULL */
    char **fragment_name;  /**< [fragment_num] names for people, each a text or NULL; NULL: none */
    char *basis;           /**< name of the basis set that the file asks for, or NULL */
    int spherical;         /**< functions above p that the file asks for: 1 spherical, -1 Cartesian,
                                0: it does not say */
    char *path;            /**< of the file, or NULL */
    char *geometry;        /**< of another file that has its atoms, or NULL */
    char sha256[65];       /**< of the file, 64 hex digits; "" without */
    char *notice;          /**< a line on what of the file was left out, or NULL */
} fmo_fragment_system;

/** Read a system: a PDB file (.pdb, .ent), which is cut into fragments of a residue each, an input
 *  of GAMESS or OpenFMO (.inp) or of ABINIT-MP (.ajf), or JSON (any other name).
 *  @param[out] system  free with fmo_fragment_system_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, field or line, and cure), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_system_read(const char *path, fmo_fragment_system **system,
                                            fmo_error *err);

/** The same, with so many residues of a chain in each fragment; files that say their fragments
 *  themselves are read as they are.
 *  @param[in]  residues  >= 1
 *  @return also FMO_ERR_ARGUMENT */
FMO_API fmo_status fmo_fragment_system_read_pieces(const char *path, int residues,
                                                   fmo_fragment_system **system, fmo_error *err);
FMO_API void fmo_fragment_system_destroy(fmo_fragment_system *system); /**< NULL is fine */

/** Is a system one that can be computed? fmo_fragment_system_read and fmo_fragment_run ask.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL), FMO_ERR_INPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_system_check(const fmo_fragment_system *system, fmo_error *err);

/** Electrons of a fragment: a bond-detached atom leaves one charge and one electron with the
 *  fragment at the other end of the bond. -1 if there is no such fragment. */
FMO_API int fmo_fragment_electron_num(const fmo_fragment_system *system, int fragment);

/** Orbitals of an atom of which bonds were cut. Row 0 is the hybrid along the bond, which points
 *  along z; the others are the hybrids away from it and the core. Over the functions of the atom:
 *  its s shells, then its p shells, each x, y, z. */
typedef struct fmo_hybrids {
    int orbital_num;     /**< rows */
    int function_num;    /**< columns */
    double *coefficient; /**< [orbital_num][function_num] of normalised functions */
} fmo_hybrids;

/** Hybrid orbitals of an element in a basis set.
 *  @param[in]  path     a file as datasets/hybrids/hybrids.json; NULL: the shipped one
 *  @param[in]  basis    name of the basis set; case, '-', '_' and blanks do not count
 *  @param[out] hybrids  free with fmo_hybrids_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (not there: the message lists what is), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_hybrids_read(const char *path, const char *basis, int number,
                                    fmo_hybrids **hybrids, fmo_error *err);
FMO_API void fmo_hybrids_destroy(fmo_hybrids *hybrids); /**< NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
