/* Fragment molecular orbitals with two-body terms, FMO2-RHF: monomers, converged in the field of
 * all others; pairs; total energy. Equations, defaults and limits: docs/explanation/fmo-method.md.
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

/** One finished iteration of the monomers, as passed to fmo_fragment_options.iteration. */
typedef struct fmo_fragment_iteration {
    int iteration;        /**< counted from 1 */
    double energy;        /**< sum of E'_I, hartree */
    double energy_change; /**< since the previous iteration, hartree; NaN in the first */
    double residual; /**< norm of the difference between the field of the last densities and the
                        field in which they were computed, hartree per fragment; NaN in the first */
    int cycles;      /**< Fock builds of all monomers */
    int converged;   /**< 1 or 0 */
    double field_seconds; /**< time for the fields of all monomers */
    double scf_seconds;   /**< time for their SCFs */
} fmo_fragment_iteration;

/** kcal/mol per hartree, CODATA 2018. */
#define FMO_KCAL_PER_MOL 627.5094740631

/** Options of a calculation; fmo_fragment_options_init sets the defaults. */
typedef struct fmo_fragment_options {
    fmo_scf_options scf; /**< for monomers and pairs; default 1e-9 hartree and a gradient of 1e-7;
                            its guess, stability, loose_fock, forces and callbacks are ignored. With
                            scf.deal several processes share fragments and pairs */
    int max_iterations;  /**< largest number of iterations of the monomers, default 60 */
    double convergence;  /**< hartree, default 1e-8: limit of the change of the sum of E'_I; ten
                            times that is the limit of the residual of the fields */
    double projector;    /**< B of P = B sum S|chi><chi|S, hartree, default 1e6 */
    const char *hybrids; /**< file of hybrid orbitals; NULL: the installed one */
    const char *state;   /**< file to which the state is written in every iteration and during the
                            pairs; NULL: none */
    int resume;          /**< 1: continue from that file */
    /** Called after each iteration of the monomers; NULL: never. */
    void (*iteration)(const fmo_fragment_iteration *iteration, void *user);
    /** Called with the finished fraction of an iteration or of the pairs, 0 to 1; NULL: never. May
     * be called from any thread, but one call at a time. */
    void (*progress)(double fraction, void *user);
    void *user; /**< passed to both */
} fmo_fragment_options;

/** Sets the defaults. Call it before setting fields, so that fields added in later versions get
 * theirs. */
FMO_API void fmo_fragment_options_init(fmo_fragment_options *options);

/** Cutoffs above this are probably mistakes: energies of pairs with cut bonds are wrong by about
 * 1e-4 hartree (docs/reference/scf.md). The library computes all the same and warns in
 * result.notice; fmo-driver refuses the value. */
#define FMO_FRAGMENT_CUTOFF_MAX 1e-6

/** Two fragments, i < j. Energies in hartree. */
typedef struct fmo_fragment_pair {
    int i;           /**< first fragment, counted from 0 */
    int j;           /**< second fragment */
    int is_scf;      /**< 1: the pair has an SCF; 0: electrostatic energy of its monomers */
    int cycles;      /**< Fock builds; 0 for an electrostatic pair */
    int is_bonded;   /**< 1: a cut bond joins the fragments; their energy contains it */
    double distance; /**< shortest distance of their atoms relative to the sum of van der Waals
                        radii */
    double internal; /**< E'_IJ - E'_I - E'_J; for an electrostatic pair its whole energy */
    double transfer; /**< Tr(dD^IJ U^IJ); 0 for an electrostatic pair */
    double total;    /**< sum of both: contribution of the pair to the FMO2 energy */
    /** Electrostatic energy of the two monomers with the densities of their own SCFs; for an
     * electrostatic pair its whole energy; NaN if both contain the same atom, at a cut bond. The
     * difference total - electrostatic is exchange repulsion, charge transfer and mixed terms. */
    double electrostatic;
} fmo_fragment_pair;

/** A fragment in the field of the others. */
typedef struct fmo_fragment_monomer {
    int nao;             /**< number of functions, including those of ghost atoms */
    int electron_num;    /**< number of electrons */
    double energy;       /**< E'_I, without the energy in the field, hartree */
    double field_energy; /**< Tr D^I U^I, hartree */
    double homo;         /**< energy of the highest occupied orbital, hartree */
    double lumo;         /**< energy of the lowest virtual orbital, hartree */
    double *density;     /**< [nao][nao] */
    int atom_num;        /**< number of nuclei, including ghost atoms */
    int *atom;           /**< [atom_num] their indices in the system, ascending */
    double *charge;      /**< [atom_num] nuclear charges, e: less than the atomic number, or 1 for a
                            ghost atom, at cut bonds */
    double dipole[3];    /**< dipole moment about the origin of the coordinates, e bohr */
} fmo_fragment_monomer;

/** Result of a calculation. */
typedef struct fmo_fragment_result {
    int fragment_num;              /**< number of fragments */
    int atom_num;                  /**< number of atoms of the system */
    int nao;                       /**< number of functions of the whole system */
    int electron_num;              /**< number of electrons of the whole system */
    fmo_fragment_monomer *monomer; /**< [fragment_num] */
    int pair_num;                  /**< fragment_num (fragment_num - 1) / 2 */
    fmo_fragment_pair *pair;       /**< [pair_num], (0, 1), (0, 2), (1, 2), (0, 3), ... */
    int scf_pairs;                 /**< number of pairs with an SCF */
    int es_pairs;                  /**< number of electrostatic pairs */
    int iterations;                /**< number of iterations of the monomers */
    int resumed;                   /**< how many of them were read from the state file */
    int resumed_pairs;             /**< number of SCFs of pairs read from the state file */
    double energy_change;          /**< of the last iteration, hartree */
    double energy1;                /**< FMO1 energy: sum of E'_I, hartree */
    double energy2;                /**< FMO2 energy, hartree */
    double *charge1;               /**< [atom_num] Mulliken charges of the monomers, e */
    double *charge2;               /**< [atom_num] Mulliken charges with pair corrections, e */
    fmo_mode mode;                 /**< mode that was used; never auto */
    char mode_reason[160];         /**< why auto chose it, or "" */
    int threads; /**< CPU threads used on rank 0. In mode fused, if scf.fock.threads is 0, at most
                    16 per host beside its GPUs, but at least 4 per rank; SCFs that stay on the CPU
                    use all threads */
    int ranks;   /**< number of processes that shared the work; 1: a single process */
    char notice[240]; /**< "", or one line that says that the cutoff is too loose for convergence,
                         how large the error of the energy may be, and the cure */
    double seconds;   /**< total wall time; it contains the times below */
    double setup_seconds; /**< bases, plans, one-electron matrices, guess */
    double field_seconds; /**< fields of the monomers */
    double scf_seconds;   /**< SCFs of the monomers */
    double pair_seconds;  /**< pairs */
} fmo_fragment_result;

/** Computes a system of fragments. With options.scf.deal the call is collective: every rank makes
 * it with the same system, basis and options; only rank 0 calls the callbacks, reads and writes
 * the state and gets the result. Energies agree with those of a single process to rounding, and
 * bit for bit if each rank has one thread.
 * @param[in]  system   read by fmo_fragment_system_read or made by the caller
 * @param[in]  set      basis functions of all atoms
 * @param[in]  options  NULL: the defaults
 * @param[out] result   free it with fmo_fragment_result_destroy; NULL on error, and on ranks other
 *   than 0
 * @return FMO_OK, FMO_ERR_CHECK (a fragment, a pair or the iterations do not converge: the message
 *   says which), FMO_ERR_INPUT (a system that cannot be computed, no hybrids for a cut bond, a
 *   state file of another calculation), FMO_ERR_OUTPUT (the state cannot be written), and the
 *   errors of fmo_fock_plan_create and fmo_scf_run; with options.scf.deal the same on all ranks,
 *   including FMO_ERR_DEVICE after a network error */
FMO_API fmo_status fmo_fragment_run(const fmo_fragment_system *system, const fmo_basis_set *set,
                                    const fmo_fragment_options *options,
                                    fmo_fragment_result **result, fmo_error *err);
FMO_API void fmo_fragment_result_destroy(fmo_fragment_result *result); /**< NULL is allowed */

/** Writes all pairs as a table with tab-separated columns and a header of names and units
 * (docs/reference/fmo.md). An existing file is replaced, completely or not at all.
 * @param[in] system  the system of the result; the names of its fragments are written
 * @return FMO_OK, FMO_ERR_ARGUMENT (NULL, or a result of another system), FMO_ERR_OUTPUT,
 *   FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_write_pairs(const char *path, const fmo_fragment_system *system,
                                            const fmo_fragment_result *result, fmo_error *err);

/** Draws the energies of all pairs in kcal/mol as a heat map in SVG (docs/reference/fmo.md);
 * otherwise as fmo_fragment_write_pairs.
 * @param[in] basis  name of the basis set for the title; NULL: none */
FMO_API fmo_status fmo_fragment_write_map(const char *path, const fmo_fragment_system *system,
                                          const fmo_fragment_result *result, const char *basis,
                                          fmo_error *err);

/** Writes one HTML page for browsers: heat map, sortable tables of pairs and fragments. It contains
 *  its data and loads nothing (docs/reference/fmo.md); otherwise as fmo_fragment_write_map. The
 *  system must be one that can be computed.
 * @param[in] ligand  fragment, from 0, whose pairs the page shows at first; -1: all pairs */
FMO_API fmo_status fmo_fragment_write_page(const char *path, const fmo_fragment_system *system,
                                           const fmo_fragment_result *result, const char *basis,
                                           int ligand, fmo_error *err);

/** Writes a check point file of ABINIT-MP, "CPF Open1.0 rev23", for its viewers
 *  (docs/reference/fmo.md); otherwise as fmo_fragment_write_page. */
FMO_API fmo_status fmo_fragment_write_cpf(const char *path, const fmo_fragment_system *system,
                                          const fmo_fragment_result *result, const char *basis,
                                          fmo_error *err);

/** Finds a fragment by the name of one of its residues as users of PDB files write it: "LIG",
 *  "LIG 401", "LIG401", "401", "A:LIG401", "A:LIG:401", "A:401", in any case; or by its own name,
 *  or as "#7" by its number. A residue that is cut belongs to the fragment of most of its atoms.
 * @param[out] fragment  from 0; untouched on error
 * @return FMO_OK, FMO_ERR_ARGUMENT (NULL), FMO_ERR_INPUT (no fragment or several of this name; the
 *   message lists names) */
FMO_API fmo_status fmo_fragment_find(const fmo_fragment_system *system, const char *name,
                                     int *fragment, fmo_error *err);

/** Lists the pairs of a fragment, the strongest first; pairs with a cut bond come last.
 * @param[out] pair  [fragment_num - 1] indices in result->pair
 * @return FMO_OK, FMO_ERR_ARGUMENT (NULL, or no such fragment), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_fragment_pairs_of(const fmo_fragment_result *result, int fragment, int *pair,
                                         fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
