/* Result files in HDF5: group /fmo of a new file, with [nao][nao] float64 matrices in the AO order
 * of the input; the recognition of files written by fmo; and the safe writing of any file. Next:
 * docs/reference/results.md. */
#ifndef FMO_RESULT_H
#define FMO_RESULT_H

#include <stddef.h>
#include <fmo/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Contents of a result file; matrices are [nao][nao] float64 in hartree, and NULL ones are left
 *  out. */
typedef struct fmo_result {
    int nao;                /**< number of AOs */
    const double *coulomb;  /**< /fmo/coulomb */
    const double *exchange; /**< /fmo/exchange */
    const double *fock_2e;  /**< /fmo/fock_2e: G = J - K/2 */
    const double *fock;     /**< /fmo/fock: H_core + G */
    double energy;          /**< /fmo/energy, hartree; NaN: left out */
    const char *mode;       /**< attribute of /fmo: name of the mode of the calculation; NULL: "" */
    double cutoff;          /**< attribute of /fmo: screening threshold */
} fmo_result;

/** Writes a result file under a temporary name beside its destination, syncs it and renames it, so
 *  that path always holds either the old or the complete new content. Provenance (input path, its
 *  SHA-256, fmo version) is stored in attributes of /fmo; such texts have at most 60000 bytes.
 *  @param[in] dataset  source of the provenance, with nao functions; NULL: not recorded
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, nao, a text too long), FMO_ERR_OUTPUT (cannot write, or
 *          path is the data set itself), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_result_write(const char *path, const fmo_dataset *dataset,
                                    const fmo_result *result, fmo_error *err);

/** One array of an FMO result: a dataset of group /fmo. Initialise the struct to 0, since members
 *  may be added. */
typedef struct fmo_result_array {
    const char *name;   /**< name of the dataset */
    const char *units;  /**< attribute "units"; NULL: none */
    int rank;           /**< 0: a scalar; 1 or 2 */
    size_t size[2];     /**< extents; the first [rank] are used */
    const double *real; /**< values, row-major; NULL: integer is used */
    const int *integer; /**< values, row-major; NULL: text is used */
    const char *const
        *text; /**< [size[0]] strings, rank 1 only: UTF-8, stored with the length of the longest */
} fmo_result_array;

/** Writes arrays as group /fmo of an HDF5 file, in the way of fmo_result_write.
 *  @param[in] input, sha256  path and SHA-256 of the input file; NULL: left out
 *  @param[in] basis, mode    attributes of /fmo; NULL: left out
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, a text too long), FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_result_write_arrays(const char *path, const char *input, const char *sha256,
                                           const char *basis, const char *mode,
                                           const fmo_result_array *arrays, int count,
                                           fmo_error *err);

/** Result of one molecule in a file of many; arrays that are NULL are left out. */
typedef struct fmo_molecule_result {
    const char *input;  /**< path of the file it came from; not NULL */
    int frame;          /**< number of the molecule in that file, from 1; 0: the only one */
    const char *mode;   /**< mode in which it was computed; NULL: left out */
    const char *status; /**< "converged in 9 cycles", or why not, in one line; not NULL */
    int converged;      /**< 1 or 0 */
    int cycles;         /**< number of Fock builds */
    double energy;      /**< hartree; NaN if there is none */
    int nao;            /**< number of AOs; 0 if there is no result */
    int mo_num;         /**< number of orbitals; 0 if there is no result */
    int occupied_num;   /**< number of orbitals with alpha electrons; 0 if there is no result */
    const double *orbital_energy; /**< [mo_num] hartree */
    const double *coefficient;    /**< [mo_num][nao] */
    const double *density;        /**< [nao][nao] */
    int nucleus_num; /**< number of nuclei of the arrays with [nucleus_num]; 0 without them */
    const double *gradient; /**< [nucleus_num][3] hartree/bohr, derivative of the energy */
    const char *comment;    /**< comment of its .xyz file; NULL: left out */
    int charge;             /**< of the molecule, e */
    const char *key;        /**< of fmo_molecule_key; NULL: left out */
    const char *method;     /**< "RHF", "UHF" or "ROHF"; NULL: "RHF" */
    int multiplicity;       /**< 2S + 1; 0 means 1 */
    int occupied_beta_num;  /**< number of orbitals with beta electrons */
    double spin_square;     /**< <S^2> */
    const double *orbital_energy_beta; /**< [mo_num] hartree, and then those above are of alpha */
    const double *coefficient_beta;    /**< [mo_num][nao], likewise */
    const double *spin_density;        /**< [nao][nao], D_alpha - D_beta */
    const double *mulliken_charge;     /**< [nucleus_num] e */
    const double *mulliken_spin;       /**< [nucleus_num] of open shells */
} fmo_molecule_result;

/** A file of many molecules, in memory until it is written: groups /molecules/0, /molecules/1, ...
 *  and tables of all molecules in /summary (docs/reference/results.md). Not thread-safe: only one
 *  thread at a time may use an object. */
typedef struct fmo_molecules_file fmo_molecules_file;

/** Creates an empty file in memory.
 *  @param[in] mode, cutoff  attributes of /fmo; the requested mode
 *  @param[out] file  free with fmo_molecules_file_destroy
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecules_file_create(const char *mode, double cutoff,
                                             fmo_molecules_file **file, fmo_error *err);

/** Adds the next molecule; everything is copied.
 *  @param[in] dataset  its nuclei and basis; NULL if no data set could be made
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY (the molecule is not in the file) */
FMO_API fmo_status fmo_molecules_file_add(fmo_molecules_file *file, const fmo_dataset *dataset,
                                          const fmo_molecule_result *molecule, fmo_error *err);

/** Writes the file in the way of fmo_result_write. Further molecules may be added and the file
 *  written again afterwards.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecules_file_write(fmo_molecules_file *file, const char *path,
                                            fmo_error *err);
/** Creates an empty file of extended .xyz, with which the functions above work as well: a frame for
 *  each molecule that converged, with its energy in eV and, if it has them, forces in eV/angstrom
 * and Mulliken charges in e; others are left out.
 *  @param[out] file  free with fmo_molecules_file_destroy
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecules_file_create_extxyz(fmo_molecules_file **file, fmo_error *err);

/** Stores the settings of the calculations, with which a later run may continue the file
 *  (fmo_checkpoint_import): lines "name=value", at most 60000 bytes. Extended .xyz has none.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecules_file_set_settings(fmo_molecules_file *file, const char *settings,
                                                   fmo_error *err);
FMO_API void fmo_molecules_file_destroy(fmo_molecules_file *file); /**< NULL is allowed */

/** Computes what identifies a molecule in a checkpoint: a hash of its nuclei, its functions, its
 *  density if it has one, and its number of electrons.
 *  @param[out] key  [65] 64 hex digits and a zero
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecule_key(const fmo_dataset *dataset, int electron_num, char *key,
                                    fmo_error *err);

/** Results of a batch of molecules in a file to which each is appended as it comes, so that nothing
 *  is lost if the process ends, and a later one can go on. Not thread-safe. The format is for the
 *  same machine and version only. */
typedef struct fmo_checkpoint fmo_checkpoint;

/** Opens a checkpoint and locks it until it is closed.
 *  @param[in] settings  of the calculations, lines "name=value": a checkpoint of others is refused
 *  @param[in] resume  0: an existing checkpoint is replaced; 1: it is continued, if there is one;
 *                     what a killed process left incomplete at its end is removed
 *  @param[out] checkpoint  close with fmo_checkpoint_close; NULL on error
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (of other settings; not a checkpoint; locked),
 *          FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_checkpoint_open(const char *path, const char *settings, int resume,
                                       fmo_checkpoint **checkpoint, fmo_error *err);

/** Copies all results of a complete file of molecules (HDF5) into a checkpoint.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (of other settings, or unreadable),
 *          FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_checkpoint_import(fmo_checkpoint *checkpoint, const char *path,
                                         fmo_error *err);

/** Appends a result by its key. Its input, frame, comment and charge are not stored.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_OUTPUT (the result is not stored), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_checkpoint_add(fmo_checkpoint *checkpoint,
                                      const fmo_molecule_result *molecule, fmo_error *err);

/** Finds a result that was in the checkpoint when it was opened, or that was imported.
 *  @param[out] molecule  its arrays and texts are valid until the next call; key is NULL if the
 *                        checkpoint does not have it
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (cannot be read), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_checkpoint_find(fmo_checkpoint *checkpoint, const char *key,
                                       fmo_molecule_result *molecule, fmo_error *err);

/** Number of results that fmo_checkpoint_find can find. */
FMO_API size_t fmo_checkpoint_num(const fmo_checkpoint *checkpoint);

/** Closes a checkpoint; NULL is allowed. remove: 1: its file is removed, too. */
FMO_API void fmo_checkpoint_close(fmo_checkpoint *checkpoint, int remove);

/* Kinds of files, recognised by content that only fmo writes (docs/reference/results.md).
 * X(enumerator, description for messages) */
#define FMO_FILE_TABLE(X)                                        \
    X(FMO_FILE_NONE, "no file")                                  \
    X(FMO_FILE_EMPTY, "an empty file")                           \
    X(FMO_FILE_MATRICES, "a result with J and K")                \
    X(FMO_FILE_ORBITALS, "a TREXIO file with orbitals from fmo") \
    X(FMO_FILE_MOLECULES, "a file of many molecules from fmo")   \
    X(FMO_FILE_MOLDEN, "a Molden file from fmo")                 \
    X(FMO_FILE_JSON, "JSON from an fmo program")                 \
    X(FMO_FILE_FRAGMENTS, "a result of fragments")               \
    X(FMO_FILE_EXTXYZ, "extended .xyz from fmo")                 \
    X(FMO_FILE_CHECKPOINT, "the checkpoint of a batch")          \
    X(FMO_FILE_STATE, "the state of a fragment calculation")     \
    X(FMO_FILE_PAIRS, "a table of pairs of fragments")           \
    X(FMO_FILE_MAP, "a heat map of pairs of fragments")          \
    X(FMO_FILE_PAGE, "a page of pairs of fragments")             \
    X(FMO_FILE_CPF, "a check point file of fragments")           \
    X(FMO_FILE_OTHER, "not written by fmo, or added to since")

#define FMO_FILE_ROW(e, text) e,
/** Kinds of files, for a program that is about to replace one. */
typedef enum fmo_file_kind { FMO_FILE_TABLE(FMO_FILE_ROW) FMO_FILE_KIND_COUNT } fmo_file_kind;
#undef FMO_FILE_ROW

FMO_API const char *fmo_file_kind_text(fmo_file_kind kind); /**< NULL if out of range */

/** Returns the kind of the file at a path. A file that cannot be read, is damaged or is not regular
 *  is FMO_FILE_OTHER, and so is an HDF5 file with a group, dataset or attribute that fmo does not
 *  write. fmo_result_write and similar functions replace any regular file; a program that wants to
 *  protect the files of others calls this function first, as fmo-driver does. */
FMO_API fmo_file_kind fmo_file_kind_of(const char *path);

/** Writes any bytes to a file, so that path always holds either the old or the complete new
 *  content.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL), FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_file_write(const char *path, const void *bytes, size_t size, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
