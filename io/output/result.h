/* Results in HDF5: group /fmo of a new file, [nao][nao] float64 in the input's AO order; which
 * files are results of ours; and the way in which all of them are written. */
#ifndef FMO_RESULT_H
#define FMO_RESULT_H

#include <stddef.h>
#include <fmo/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What to write; matrices are [nao][nao] float64 in hartree, NULL ones are left out. */
typedef struct fmo_result {
    int nao;                /**< functions */
    const double *coulomb;  /**< /fmo/coulomb */
    const double *exchange; /**< /fmo/exchange */
    const double *fock_2e;  /**< /fmo/fock_2e: G = J - K/2 */
    const double *fock;     /**< /fmo/fock: H_core + G */
    double energy;          /**< /fmo/energy, hartree; NaN: left out */
    const char *mode;       /**< attribute of /fmo */
    double cutoff;          /**< attribute of /fmo */
} fmo_result;

/** Write a result file: under a temporary name beside it, synced, then renamed, so that path holds
 *  the old or the new content whatever happens. Provenance (input path, its SHA-256, fmo version)
 *  goes into attributes of /fmo.
 *  Texts that become attributes have at most 60000 bytes.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, nao, a text too long), FMO_ERR_OUTPUT (cannot write;
 * path is the data set itself), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_result_write(const char *path, const fmo_dataset *dataset,
                                    const fmo_result *result, fmo_error *err);

/** One array of a result of fragments: a dataset of group /fmo. Zero it before setting its fields:
 *  it may grow. */
typedef struct fmo_result_array {
    const char *name;   /**< of the dataset */
    const char *units;  /**< attribute; NULL: none */
    int rank;           /**< 0: one number, 1 or 2 */
    size_t size[2];     /**< [rank] */
    const double *real; /**< values, row by row; NULL: */
    const int *integer; /**< these; NULL: */
    const char *const
        *text; /**< [size[0]] of rank 1: UTF-8, stored with the length of the longest */
} fmo_result_array;

/** Write arrays as group /fmo of an HDF5 file, as fmo_result_write does.
 *  @param[in] input, sha256  the file that they come of; NULL: left out
 *  @param[in] basis, mode    attributes of /fmo; NULL: left out
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, a text too long), FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_result_write_arrays(const char *path, const char *input, const char *sha256,
                                           const char *basis, const char *mode,
                                           const fmo_result_array *arrays, int count,
                                           fmo_error *err);

/** What became of one molecule of many; arrays that are NULL are left out. */
typedef struct fmo_molecule_result {
    const char *input;            /**< path of the file it came from; not NULL */
    int frame;                    /**< which of several in that file, from 1; 0: the only one */
    const char *mode;             /**< how it ran; NULL: left out */
    const char *status;           /**< one line: "converged in 9 cycles", or why not; not NULL */
    int converged;                /**< 1 or 0 */
    int cycles;                   /**< Fock builds */
    double energy;                /**< hartree; NaN without */
    int nao;                      /**< functions; 0 without a result */
    int mo_num;                   /**< orbitals; 0 likewise */
    int occupied_num;             /**< doubly occupied ones; 0 likewise */
    const double *orbital_energy; /**< [mo_num] hartree */
    const double *coefficient;    /**< [mo_num][nao] */
    const double *density;        /**< [nao][nao] */
} fmo_molecule_result;

/** A file of many molecules, in memory until it is written: /molecules/0, /molecules/1, ... and
 *  tables of all in /summary (docs/reference/results.md). One thread at a time uses one of
 * them. */
typedef struct fmo_molecules_file fmo_molecules_file;

/** @param[in] mode, cutoff  attributes of /fmo; the mode that was asked for
 *  @param[out] file  free with fmo_molecules_file_destroy
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecules_file_create(const char *mode, double cutoff,
                                             fmo_molecules_file **file, fmo_error *err);

/** Add the next molecule; everything is copied.
 *  @param[in] dataset  for nuclei and basis; NULL where it could not be made
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY (the molecule is not in the file) */
FMO_API fmo_status fmo_molecules_file_add(fmo_molecules_file *file, const fmo_dataset *dataset,
                                          const fmo_molecule_result *molecule, fmo_error *err);

/** Write it as fmo_result_write does. More may be added and written again afterwards.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_molecules_file_write(fmo_molecules_file *file, const char *path,
                                            fmo_error *err);
FMO_API void fmo_molecules_file_destroy(fmo_molecules_file *file); /**< NULL is fine */

/* What a file is, by what its content says of who wrote it (docs/reference/results.md).
 * X(enumerator, what messages call it) */
#define FMO_FILE_TABLE(X)                                        \
    X(FMO_FILE_NONE, "no file")                                  \
    X(FMO_FILE_EMPTY, "an empty file")                           \
    X(FMO_FILE_MATRICES, "a result with J and K")                \
    X(FMO_FILE_ORBITALS, "a TREXIO file with orbitals from fmo") \
    X(FMO_FILE_MOLECULES, "a file of many molecules from fmo")   \
    X(FMO_FILE_MOLDEN, "a Molden file from fmo")                 \
    X(FMO_FILE_JSON, "JSON from an fmo program")                 \
    X(FMO_FILE_FRAGMENTS, "a result of fragments")               \
    X(FMO_FILE_STATE, "the state of a fragment calculation")     \
    X(FMO_FILE_PAIRS, "a table of pairs of fragments")           \
    X(FMO_FILE_MAP, "a heat map of pairs of fragments")          \
    X(FMO_FILE_OTHER, "not written by fmo, or added to since")

#define FMO_FILE_ROW(e, text) e,
/** Kinds of files, for whoever is about to replace one. */
typedef enum fmo_file_kind { FMO_FILE_TABLE(FMO_FILE_ROW) FMO_FILE_KIND_COUNT } fmo_file_kind;
#undef FMO_FILE_ROW

FMO_API const char *fmo_file_kind_text(fmo_file_kind kind); /**< NULL if out of range */

/** What stands at a path. Whatever cannot be read, is damaged or is no regular file is
 *  FMO_FILE_OTHER, and so is an HDF5 file with a group, dataset or attribute that we do not write.
 *  fmo_result_write and its like replace any regular file: a program that does not want that asks
 *  here first, as fmo-driver does. */
FMO_API fmo_file_kind fmo_file_kind_of(const char *path);

/** Write any bytes as results are written: whole or not at all.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL), FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_file_write(const char *path, const void *bytes, size_t size, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
