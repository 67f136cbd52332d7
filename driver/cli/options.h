/* The command line of fmo-driver: what is to be run. One table in options.c lists every option;
 * option.h is the engine. */
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

/* What --scf --batch keeps of each molecule in its file, beside its energy. X(enumerator, name,
 * text) */
#define DRIVER_KEEP_TABLE(X)                                                         \
    X(DRIVER_KEEP_ORBITALS, "orbitals", "energies and coefficients of the orbitals") \
    X(DRIVER_KEEP_DENSITY, "density", "the density matrix")
#define DRIVER_ENUM_ROW(e, name, text) e,
typedef enum driver_keep { DRIVER_KEEP_TABLE(DRIVER_ENUM_ROW) DRIVER_KEEP_COUNT } driver_keep;
#undef DRIVER_ENUM_ROW

typedef struct driver_options {
    driver_action action;
    fmo_fock_options fock; /**< progress is left NULL here */
    const char *gpus;      /**< "all", or how many: into fock.devices; NULL: one */
    int repeat;            /**< timed builds of each data set, >= 1 */
    bool check;            /**< compare with reference values */
    bool batch;            /**< all data sets in one call */
    int64_t keep;          /**< bits of driver_keep */
    bool quiet;            /**< only the check line and errors */
    driver_profile_format profile;
    bool force;                  /**< replace any output, run what is doubtful */
    const char *output;          /**< result file or NULL */
    bool scf;                    /**< an SCF instead of builds of the data set's density */
    fmo_scf_options scf_options; /**< of it; its `fock` is filled in from the one above */
    bool cutoff_given;           /**< an SCF has a default of its own */
    bool integrals_given;        /**< the same */
    uint64_t given;              /**< rows of the table that were given, by bits */
    const char *basis;           /**< name or file of a basis set, for .xyz files, or NULL */
    fmo_functions functions;     /**< of its shells above p */
    bool charge_given;
    int charge; /**< of the molecule, e */
    bool multiplicity_given;
    int multiplicity;                      /**< 2 S + 1 */
    const char *molden;                    /**< file for the orbitals or NULL */
    bool fragments;                        /**< FMO2 of systems of fragments */
    fmo_fragment_options fragment_options; /**< of it; its `scf` is filled in from the above */
    int per_fragment;                      /**< residues a fragment, of PDB files */
    bool exact_field;                      /**< leave out approximations of far fields */
    bool densities;                        /**< of the monomers into --output, too */
    const char *pairs;                     /**< file for all pairs as a table, or NULL */
    const char *map;                       /**< file for their heat map or NULL */
    bool resume;                           /**< go on from the state file */
    bool convergence_given;                /**< fragments have a default of their own */
    bool gradient_given;                   /**< the same */
    bool max_cycles_given;                 /**< the same */
    char *const *datasets;                 /**< [dataset_num] paths, in argv */
    int dataset_num;
} driver_options;

/** Parse argv, options anywhere; puts data sets in front of argv.
 *  @return FMO_OK, or FMO_ERR_ARGUMENT with one line that names the option and what it takes */
fmo_status driver_options_parse(int argc, char **argv, driver_options *options, fmo_error *err);

/** Of each option, and of the data sets behind them: equal if what was asked for is. --threads is
 *  left out, which is a rank's own. */
enum { DRIVER_DIGEST_MOST = 65 };
void driver_options_digest(const driver_options *options, uint64_t digest[DRIVER_DIGEST_MOST]);
/** What entry k is of: an option's name, or "data sets". */
const char *driver_options_digest_name(int k);

/** The screening threshold: an SCF has a default of its own. */
double driver_cutoff(const driver_options *options);

/** What becomes of integrals: an SCF has a default of its own, here too. */
fmo_integrals driver_integrals(const driver_options *options);

/** What was asked for and nothing comes of in a mode that auto has chosen, in one line; "" without.
 */
void driver_options_unused(const driver_options *options, fmo_mode mode, char *text, size_t size);

/** What was asked for and has no effect in one of several processes is refused. */
fmo_status driver_options_check_ranks(const driver_options *options, fmo_error *err);

/** Whether a path names a .xyz file, by its last letters. */
bool driver_is_xyz(const char *path);

/** Whether a path names a system of fragments, by its last letters: .json, .pdb, .ent, .inp, .ajf;
 *  or a structure in mmCIF (.cif, .mmcif), which the reader of fragments refuses with its cure. */
bool driver_is_system(const char *path);

/** The text of --help. */
void driver_options_help(FILE *stream);

#endif
