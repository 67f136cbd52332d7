/* Fragment molecular orbitals with two-body terms, FMO2-RHF: monomers to self-consistency in the
 * field of all others, pairs of them, and the energy of the whole. Equations, defaults and limits:
 * docs/explanation/fmo-method.md.
 * Sources: Kitaura et al., Chem. Phys. Lett. 313, 701 (1999); Nakano et al., Chem. Phys. Lett. 318,
 * 614 (2000) and 351, 475 (2002); Fedorov and Kitaura, J. Chem. Phys. 120, 6832 (2004). */
#ifndef FMO_FRAGMENT_H
#define FMO_FRAGMENT_H

#include <fmo/basis_set.h>
#include <fmo/fragment_system.h>
#include <fmo/scf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One finished iteration of the monomers: what the callback gets. */
typedef struct fmo_fragment_iteration {
    int iteration;        /**< 1, 2, ... */
    double energy;        /**< sum of E'_I, hartree */
    double energy_change; /**< since the iteration before; NaN in the first */
    double residual; /**< how far the field of the densities was from the one that they came of,
                          hartree, a fragment; NaN in the first */
    int cycles;      /**< Fock builds of all monomers */
    int converged;   /**< 1 or 0 */
    double field_seconds; /**< the fields of all monomers */
    double scf_seconds;   /**< their SCFs */
} fmo_fragment_iteration;

/** kcal/mol in a hartree, CODATA 2018. */
#define FMO_KCAL_PER_MOL 627.5094740631

/** How to compute; fmo_fragment_options_init fills it in. */
typedef struct fmo_fragment_options {
    fmo_scf_options scf; /**< of monomers and dimers; default 1e-9 hartree and a gradient of 1e-7;
                              guess, stability, loose_fock and callbacks of its own are not looked
                              at. With scf.deal several processes share fragments and pairs */
    int max_iterations;  /**< of the monomers, default 60 */
    double convergence;  /**< change of the sum of E'_I, hartree, default 1e-8; fields are to
                              be within ten times that */
    double projector;    /**< B of P = B sum S|chi><chi|S, hartree, default 1e6 */
    const char *hybrids; /**< file with hybrid orbitals; NULL: the shipped one */
    const char *state;   /**< file that keeps the state of every iteration and of pairs; NULL:
                              none */
    int resume;          /**< 1: go on from that file */
    /** Called after each iteration of the monomers; NULL: never. */
    void (*iteration)(const fmo_fragment_iteration *iteration, void *user);
    /** Called with the finished share of an iteration, or of the pairs, 0..1; NULL: never. May come
     *  from any thread, one at a time. */
    void (*progress)(double fraction, void *user);
    void *user; /**< handed to both */
} fmo_fragment_options;

/** Fill in the defaults; call it before setting fields, so that new fields get theirs. */
FMO_API void fmo_fragment_options_init(fmo_fragment_options *options);

/** A cutoff above this is a slip: pairs with cut bonds are off by some 1e-4 hartree
 * (docs/reference/scf.md). The library computes and says so in result.notice; fmo-driver refuses.
 */
#define FMO_FRAGMENT_CUTOFF_MOST 1e-6

/** Two fragments, i < j. Energies in hartree. */
typedef struct fmo_fragment_pair {
    int i;           /**< the first fragment, from 0 */
    int j;           /**< the second */
    int is_scf;      /**< 1: an SCF of the pair; 0: electrostatics of its monomers */
    int cycles;      /**< Fock builds */
    int is_bonded;   /**< 1: a cut bond joins them, which is subsystem of their energy */
    double distance; /**< relative to van der Waals radii */
    double internal; /**< E'_IJ - E'_I - E'_J; of an electrostatic pair all of its energy */
    double transfer; /**< Tr(dD^IJ U^IJ); 0 of an electrostatic pair */
    double total;    /**< their sum: the pair's subsystem of the FMO2 energy */
    /** Electrostatics of the two monomers as they are in their fields, unchanged by each other: of
     *  an electrostatic pair all of its energy; NaN where both have nuclei of one atom, a cut
     *  bond's. total - electrostatic: exchange repulsion, charge transfer and what mixes them. */
    double electrostatic;
} fmo_fragment_pair;

/** A fragment in the field of the others. */
typedef struct fmo_fragment_monomer {
    int nao;             /**< functions, those of attached ghosts included */
    int electron_num;    /**< of the fragment */
    double energy;       /**< E'_I, without the field, hartree */
    double field_energy; /**< Tr D^I U^I, hartree */
    double homo;         /**< highest occupied orbital, hartree */
    double lumo;         /**< lowest empty one, hartree */
    double *density;     /**< [nao][nao] */
    int atom_num;        /**< nuclei, ghosts included */
    int *atom;           /**< [atom_num] their numbers in the system, ascending */
} fmo_fragment_monomer;

/** What came of a system. */
typedef struct fmo_fragment_result {
    int fragment_num;              /**< fragments */
    int atom_num;                  /**< atoms of the system */
    int nao;                       /**< functions of the whole system */
    int electron_num;              /**< of the whole system */
    fmo_fragment_monomer *monomer; /**< [fragment_num] */
    int pair_num;                  /**< fragment_num (fragment_num - 1) / 2 */
    fmo_fragment_pair *pair;       /**< [pair_num], (0, 1), (0, 2), (1, 2), (0, 3), ... */
    int scf_pairs;                 /**< pairs with an SCF of their own */
    int es_pairs;                  /**< electrostatic ones */
    int iterations;                /**< of the monomers */
    int resumed;                   /**< of them, from the state file */
    int resumed_pairs;             /**< SCFs of pairs from it */
    double energy_change;          /**< of the last, hartree */
    double energy1;                /**< FMO1: sum of E'_I, hartree */
    double energy2;                /**< FMO2, hartree */
    double *charge1;               /**< [atom_num] Mulliken charges of monomers, e */
    double *charge2;               /**< [atom_num] the same with pairs, e */
    fmo_mode mode;                 /**< what auto became */
    char mode_reason[160];         /**< why, or "" */
    int threads;                   /**< CPU threads used, on rank 0; in mode fused beside GPUs, 16
                                      of a host at most if scf.fock.threads is 0, but 4 of each
                                      rank; SCFs that stay on the CPU have all */
    int ranks;                     /**< that shared the work; 1: one process */
    char notice[240];              /**< "", or the cutoff is too loose for convergence, in one
                                        line: by how much the energy may be off, and the cure */
    double seconds;                /**< all */
    double setup_seconds;          /**< of it: bases, plans, one-electron matrices, guess */
    double field_seconds;          /**< the monomers' fields */
    double scf_seconds;            /**< the monomers' SCFs */
    double pair_seconds;           /**< pairs */
} fmo_fragment_result;

/** Compute a system of fragments. With options.scf.deal the call is collective: every rank makes
 *  it with the same system, basis and options; rank 0 alone hears of iterations, reads and writes
 *  the state and gets the result. Energies are those of one process to rounding, and where each
 *  rank has one thread bit for bit.
 *  @param[in]  system   as fmo_fragment_system_read or the caller made it
 *  @param[in]  set      basis functions of all atoms
 *  @param[in]  options  NULL: the defaults
 *  @param[out] result   free with fmo_fragment_result_destroy; NULL on error, and on other ranks
 *                       than 0
 *  @return FMO_OK, FMO_ERR_CHECK (a fragment, a pair or the iterations do not converge: the message
 *          says which), FMO_ERR_INPUT (a system that cannot be computed, no hybrids for a cut bond,
 *          a state file of something else), FMO_ERR_OUTPUT (the state cannot be written), and what
 *          fmo_fock_plan_create and fmo_scf_run return; with options.scf.deal the same on all
 *          ranks, FMO_ERR_DEVICE after a fault of the network among them */
FMO_API fmo_status fmo_fragment_run(const fmo_fragment_system *system, const fmo_basis_set *set,
                                    const fmo_fragment_options *options,
                                    fmo_fragment_result **result, fmo_error *err);
FMO_API void fmo_fragment_result_destroy(fmo_fragment_result *result); /**< NULL is fine */

/** Write all pairs as a table, columns with tabs between them, a header with names and units in
 *  front (docs/reference/fmo.md). A file at path is replaced, whole or not at all.
 *  @param[in] system  of which the result is; names of its fragments go into the table
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL; a result that is not of this system), FMO_ERR_OUTPUT,
 *          FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_write_pairs(const char *path, const fmo_fragment_system *system,
                                            const fmo_fragment_result *result, fmo_error *err);

/** Draw the energies of all pairs, kcal/mol, as a heat map in SVG (docs/reference/fmo.md); as
 *  fmo_fragment_write_pairs.
 *  @param[in] basis  its name in the title; NULL: left out */
FMO_API fmo_status fmo_fragment_write_map(const char *path, const fmo_fragment_system *system,
                                          const fmo_fragment_result *result, const char *basis,
                                          fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
