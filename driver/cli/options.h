/* The command line of fmo-driver. One table in options.c lists every option; option.h is the
 * parser. */
#ifndef FMO_DRIVER_OPTIONS_H
#define FMO_DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <fmo/basis_set.h>
#include <fmo/fock.h>
#include <fmo/fragment.h>
#include <fmo/scf.h>

typedef enum driver_action { DRIVER_RUN, DRIVER_HELP, DRIVER_VERSION } driver_action;

typedef enum driver_profile_format {
    DRIVER_PROFILE_NONE,
    DRIVER_PROFILE_TABLE,
    DRIVER_PROFILE_JSON,
    DRIVER_PROFILE_FORMAT_COUNT
} driver_profile_format;

/* What --scf --batch writes for each molecule besides its energy. X(enumerator, name, text) */
#define DRIVER_KEEP_TABLE(X)                                                         \
    X(DRIVER_KEEP_ORBITALS, "orbitals", "energies and coefficients of the orbitals") \
    X(DRIVER_KEEP_DENSITY, "density", "the density matrix")
#define DRIVER_ENUM_ROW(e, name, text) e,
typedef enum driver_keep { DRIVER_KEEP_TABLE(DRIVER_ENUM_ROW) DRIVER_KEEP_COUNT } driver_keep;
#undef DRIVER_ENUM_ROW

typedef struct driver_options {
    driver_action action;
    fmo_fock_options fock; /**< progress is left NULL here */
    const char *gpus;      /**< "all" or a number, sets fock.devices; NULL: one */
    int repeat;            /**< timed builds of each data set, >= 1 */
    bool check;            /**< compare with reference values */
    bool batch;            /**< all data sets in one call */
    int64_t keep;          /**< bits of driver_keep */
    bool quiet;            /**< print only the check line and errors */
    driver_profile_format profile;
    bool force;                  /**< replace any output, run doubtful input */
    const char *output;          /**< result file or NULL */
    bool scf;                    /**< an SCF instead of builds of the data set's density */
    fmo_scf_options scf_options; /**< of the SCF; its `fock` is filled in from the one above */
    bool cutoff_given;           /**< an SCF has a different default */
    bool integrals_given;        /**< an SCF has a different default */
    uint64_t given;              /**< bit i: row i of the table was given */
    const char *basis;           /**< name or file of a basis set for .xyz files, or NULL */
    fmo_functions functions;     /**< of the basis set's shells of d and above */
    fmo_unit unit;               /**< of the coordinates in .xyz files and --charges */
    bool charge_given;
    int charge; /**< of the molecule, e */
    bool multiplicity_given;
    int multiplicity;                      /**< 2 S + 1 */
    const char *charges;                   /**< file of point charges, or NULL */
    const char *molden;                    /**< file for the orbitals or NULL */
    bool fragments;                        /**< FMO2 of fragmented systems */
    fmo_fragment_options fragment_options; /**< of FMO; its `scf` is filled in from the above */
    int per_fragment;                      /**< residues per fragment, for PDB files */
    bool exact_field;       /**< no approximation of the field of distant fragments */
    bool densities;         /**< also write the monomers' densities to --output */
    const char *pairs;      /**< file for a table of all pairs, or NULL */
    const char *map;        /**< file for their heat map or NULL */
    const char *page;       /**< file for a page for browsers, or NULL */
    const char *cpf;        /**< check point file in ABINIT-MP's format, or NULL */
    const char *ligands;    /**< file that describes residues of PDB files, or NULL */
    const char *ligand;     /**< residue whose pairs are reported, or NULL */
    bool resume;            /**< continue from the state file, or from the checkpoint of a batch */
    bool convergence_given; /**< fragments have a different default */
    bool gradient_given;    /**< fragments have a different default */
    bool max_cycles_given;  /**< fragments have a different default */
    char *const *datasets;  /**< [dataset_num] paths */
    int dataset_num;
} driver_options;

/** Parses argv; the data sets are moved to the front of argv.
 *  @return FMO_OK, or FMO_ERR_ARGUMENT with one line that names the option and what it expects */
fmo_status driver_options_parse(int argc, char **argv, driver_options *options, fmo_error *err);

/** Computes a hash of each option and, in the last entry, of the data sets; used to compare the
 *  command lines of ranks. --threads is left out, since it may differ between ranks. */
enum { DRIVER_OPTIONS_MAX = 64, DRIVER_DIGEST_MAX = DRIVER_OPTIONS_MAX + 1 };
void driver_options_digest(const driver_options *options, uint64_t digest[DRIVER_DIGEST_MAX]);
/** Returns what entry k belongs to: an option's name, or "data sets". */
const char *driver_options_digest_name(int k);

/** Returns the screening threshold in hartree; an SCF has a different default. */
double driver_cutoff(const driver_options *options);

/** Returns how integrals are handled; an SCF has a different default. */
fmo_integrals driver_integrals(const driver_options *options);

/** Lists the given options that have no effect in the mode that auto chose, in one line; "" if
 *  there are none. */
void driver_options_unused(const driver_options *options, fmo_mode mode, char *text, size_t size);

/** Refuses options that have no effect under mpirun. */
fmo_status driver_options_check_ranks(const driver_options *options, fmo_error *err);

/** Replaces folders by the files in them, for --scf --batch, and makes the standard input ("-")
 *  readable more than once.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (a folder without molecules), FMO_ERR_INPUT, FMO_ERR_MEMORY */
fmo_status driver_options_find_inputs(driver_options *options, fmo_error *err);

/** Whether a path is that of geometries: it ends in .xyz or .extxyz (in any case), or is the
 *  standard input and that is not HDF5. */
bool driver_is_xyz(const char *path);

/** Whether --output is extended .xyz, by the end of its name. */
bool driver_writes_xyz(const driver_options *options);

/** Returns the end of a name that --output refuses, such as ".npz", or NULL for .h5, .hdf5,
 *  .trexio, .xyz, .extxyz (in any case) and names without an end. */
const char *driver_unknown_end(const char *path);

/** Writes the options on which the results of a molecule depend, as lines "name=hash". */
enum { DRIVER_SETTINGS_SIZE = 4096 };
void driver_options_settings(const driver_options *options, char text[DRIVER_SETTINGS_SIZE]);

/** Whether a path ends like the name of a system of fragments: .json, .pdb, .ent, .inp, .ajf; or of
 *  mmCIF (.cif, .mmcif), which the reader of fragments refuses with an explanation. */
bool driver_is_system(const char *path);

/** Prints the text of --help. */
void driver_options_help(FILE *stream);

#endif
