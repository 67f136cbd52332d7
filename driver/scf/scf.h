/* Closed-shell self-consistent field (RHF) over Fock plans: guess, DIIS, incremental builds,
 * canonical orthogonalisation, stability. One algorithm for the CPU and the GPU; in mode fused the
 * matrices of a cycle never leave the GPU. What is done and why is in
 * docs/explanation/scf-method.md. Sources: Roothaan, Rev. Mod. Phys. 23, 69 (1951); Pulay, J.
 * Comput. Chem. 3, 556 (1982). */
#ifndef FMO_SCF_H
#define FMO_SCF_H

#include <fmo/basis.h>
#include <fmo/fock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the first density comes from. X(enumerator, name, what it is) */
#define FMO_SCF_GUESS_TABLE(X)                                                 \
    X(FMO_SCF_GUESS_SAD, "sad", "superposition of spherically averaged atoms") \
    X(FMO_SCF_GUESS_CORE, "core", "orbitals of the core Hamiltonian")          \
    X(FMO_SCF_GUESS_READ, "read", "a density that is given (the one in the data set)")

/* How a Fock matrix becomes a density. X(enumerator, name, what it does) */
#define FMO_SCF_SOLVER_TABLE(X)                                                                \
    X(FMO_SCF_SOLVER_AUTO, "auto", "purify on the GPU from 48 functions on, else diagonalise") \
    X(FMO_SCF_SOLVER_DIAGONALISE, "diagonalise", "all orbitals in every cycle")                \
    X(FMO_SCF_SOLVER_PURIFY, "purify",                                                         \
      "density by matrix products, orbitals at the end; diagonalise where that fails")

/* What is done about the internal stability of the solution. X(enumerator, name, what it does) */
#define FMO_SCF_STABILITY_TABLE(X)                                                               \
    X(FMO_SCF_STABILITY_NONE, "none", "nothing")                                                 \
    X(FMO_SCF_STABILITY_CHECK, "check", "the lowest eigenvalue of the orbital Hessian is found") \
    X(FMO_SCF_STABILITY_FOLLOW, "follow", "and its direction followed down until it is positive")

#define FMO_ENUM_ROW(e, name, text) e,
/** Sources of the first density. */
typedef enum fmo_scf_guess { FMO_SCF_GUESS_TABLE(FMO_ENUM_ROW) FMO_SCF_GUESS_COUNT } fmo_scf_guess;
/** Ways from a Fock matrix to a density. */
typedef enum fmo_scf_solver {
    FMO_SCF_SOLVER_TABLE(FMO_ENUM_ROW) FMO_SCF_SOLVER_COUNT
} fmo_scf_solver;
/** What is done about stability. */
typedef enum fmo_scf_stability {
    FMO_SCF_STABILITY_TABLE(FMO_ENUM_ROW) FMO_SCF_STABILITY_COUNT
} fmo_scf_stability;
#undef FMO_ENUM_ROW

FMO_API const char *fmo_scf_guess_name(fmo_scf_guess guess);    /**< "sad"; NULL if out of range */
FMO_API const char *fmo_scf_guess_text(fmo_scf_guess guess);    /**< one line for --help */
FMO_API const char *fmo_scf_solver_name(fmo_scf_solver solver); /**< as fmo_scf_guess_name */
FMO_API const char *fmo_scf_solver_text(fmo_scf_solver solver); /**< as fmo_scf_guess_text */
FMO_API const char *
fmo_scf_stability_name(fmo_scf_stability stability); /**< as fmo_scf_guess_name */
FMO_API const char *
fmo_scf_stability_text(fmo_scf_stability stability); /**< as fmo_scf_guess_text */

enum { FMO_SCF_DIIS_MAX = 16 /**< largest diis_size */ };

/** A solution whose hessian_lowest is below this (hartree) is unstable; rounding makes zeros of
 *  either sign. */
#define FMO_SCF_UNSTABLE (-1e-5)

/** A cutoff above this is a slip: energies are off by millihartrees and more
 * (docs/reference/scf.md). The library computes and says so in result.notice; fmo-driver refuses.
 */
#define FMO_SCF_CUTOFF_MOST 1e-4

/** One finished cycle: what the callback gets. */
typedef struct fmo_scf_cycle {
    size_t job;           /**< number of the molecule in fmo_scf_run_batch; 0 in fmo_scf_run */
    int cycle;            /**< 1, 2, ... */
    double energy;        /**< hartree, of this cycle's density */
    double energy_change; /**< since the cycle before; NaN in the first */
    double gradient;      /**< norm of the orbital gradient, hartree: 2 |F_ai| over all i, a */
    int full_build;       /**< 1: J and K of the whole density; 0: of its change, or none, as they
                               were there */
    int energy_diis;      /**< 1: extrapolated by EDIIS, in part or wholly; 0: by DIIS alone */
    int converged; /**< 1: the last cycle, unless an unstable direction is followed from here */
    double fock_seconds;  /**< J and K */
    double solve_seconds; /**< density from the Fock matrix */
    double other_seconds; /**< the rest of the cycle: transformations, DIIS, energy */
    /** The result so far: nao, occupied_num, mode, device and fock_profile; orbitals and matrices
     *  come after the last cycle. Not to be kept. */
    const struct fmo_scf_result *so_far;
} fmo_scf_cycle;

struct fmo_scf_job;

/** How to iterate; fmo_scf_options_init fills it in. */
typedef struct fmo_scf_options {
    fmo_fock_options fock;       /**< mode (auto leaves few functions to the CPU), strategy,
                                      threads, cutoff (default here 1e-12), memory, integrals
                                      (default here FMO_INTEGRALS_AUTO; in mode fused see
                                      auto_in_fused); its stream is used as it is in mode fused */
    fmo_scf_guess guess;         /**< default FMO_SCF_GUESS_SAD */
    int guess_is_fixed;          /**< 1: users have no other guess to choose, so a verdict advises
                                      none; default 0 */
    int max_cycles;              /**< Fock matrices allowed, default 100; a few more to go back to
                                      a state that following an instability has lost */
    double energy_convergence;   /**< hartree, default 1e-9: change from one cycle to the next, or
                                      what the energy is estimated to be above its end */
    double gradient_convergence; /**< hartree, default 3e-5: norm of the orbital gradient */
    double gradient_aim;         /**< hartree; 0, the default: none. Else cycles go on where the
                                      gradient is small enough, until it is below this as well, or
                                      falls by less than a half in a cycle */
    double level_shift;          /**< hartree added to empty orbitals, default 0 */
    int diis_size;               /**< Fock matrices kept, default 8, at most
                                FMO_SCF_DIIS_MAX; 1: no extrapolation */
    int rebuild_cycles;          /**< incremental builds in a row, at most; default 12; 0: none */
    double linear_dependence;    /**< eigenvectors of the overlap matrix (functions normalised)
                                      with eigenvalues below are dropped, default 1e-7 */
    fmo_scf_solver solver;       /**< default FMO_SCF_SOLVER_AUTO; with a projector that does not
                                      lift a few orbitals by 1e5 hartree it is always DIAGONALISE */
    fmo_scf_stability stability; /**< default FMO_SCF_STABILITY_NONE */
    int orbitals;                /**< 1, the default, or 0: none are wanted, which saves an
                                      eigenproblem: coefficient, orbital_energy and occupation of
                                      the result are then zeros, homo and lumo NaN. With
                                      `stability` there are orbitals all the same */
    int auto_in_fused;           /**< what FMO_INTEGRALS_AUTO means in mode fused: 0, the default,
                                      direct; 1 what it means to a plan, kept where they fit */
    int loose_fock;              /**< 1: the Fock matrix of the result, and with it orbitals, is
                                      known as well as the threshold of the gradient asks for, and
                                      not to the cutoff, which saves time; the energy is, so it is
                                      not 1/2 Tr D (H + F) to the last digits. 0, the default: both
                                      are. Nothing to SCFs by blocks of a GPU's threads, which have
                                      all integrals */
    /** Called after each cycle; NULL: never. */
    void (*callback)(const fmo_scf_cycle *cycle, void *user);
    void *user; /**< handed to callback, finished and begun */
    /** fmo_scf_run_batch alone: called as soon as a job is done, well or not; NULL: never. The job
     * is number `index` and has its status, result and err. The result may be taken out of it
     *  (job->result = NULL; free it with fmo_scf_result_destroy), so that a batch need not keep
     *  them all. In a batch both callbacks may come from any thread, but under a lock, one at a
     *  time: what they do needs no lock of its own, and should be short. */
    void (*finished)(size_t index, struct fmo_scf_job *job, void *user);
    /** fmo_scf_run_batch and fmo_fragment_run alone: several processes share the molecules; NULL,
     *  the default: this one runs them all. Each rank makes the same call, with fock.ranks NULL. */
    fmo_ranks *deal;
    /** fmo_scf_run alone: called once, when the mode is chosen and the plan made, before anything
     * long; NULL: never. so_far has nao, occupied_num, mode, device, notice, and of fock_profile
     * mode, mode_reason, threads and ranks. */
    void (*begun)(const struct fmo_scf_result *so_far, void *user);
    /** A number of the caller's, which any thread may set while SCFs run: from the end of the cycle
     * in which it is no longer 0 they fail with FMO_ERR_CHECK. NULL, the default: none. Not looked
     * at where several processes share an SCF or a batch, and by SCFs of one block of a GPU's
     * threads. */
    const volatile int *stop;
} fmo_scf_options;

/** Fill in the defaults; call it before setting fields, so that new fields get theirs. */
FMO_API void fmo_scf_options_init(fmo_scf_options *options);

/** The molecule. Arrays belong to the caller. Zero it before setting fields, so that new fields get
 *  their defaults. */
typedef struct fmo_scf_input {
    const fmo_basis *basis;         /**< of the molecule */
    int electron_num;               /**< even, at least 2 */
    const double *core_hamiltonian; /**< [nao][nao] hartree; NULL: computed from the basis */
    double nuclear_repulsion;       /**< hartree; fmo_basis_nuclear_repulsion(basis) as a rule */
    const double *density;          /**< [nao][nao] for FMO_SCF_GUESS_READ, else not looked at */
    const double *field;     /**< [nao][nao] hartree, symmetric, caller's AO order; NULL: none.
                                  U, a potential that is added to the core Hamiltonian, such
                                  as that of other molecules */
    const double *projector; /**< likewise P, such as B S|phi><phi|S, which lifts an orbital
                                  out of the occupied ones */
} fmo_scf_input;

/** The last state, converged or not. Matrices row-major, in the caller's AO order, hartree. */
typedef struct fmo_scf_result {
    int nao;                 /**< functions */
    int mo_num;              /**< orbitals, nao - dropped */
    int occupied_num;        /**< doubly occupied orbitals */
    int dropped;             /**< eigenvectors of the overlap left out */
    double overlap_smallest; /**< smallest eigenvalue of the overlap; of a well-conditioned one only
                                  a lower bound */
    int converged;           /**< 1 or 0 */
    int cycles;              /**< Fock matrices of the SCF, stability excluded */
    int full_builds;         /**< of them, from builds of the whole density */
    double energy;           /**< hartree, of the last full build and the changes since; with a
                                  field and a projector, both energies below are part of it */
    double field_energy;     /**< sum_ij D_ij U_ij, hartree; 0 without a field */
    double projector_energy; /**< sum_ij D_ij P_ij, hartree; 0 without a projector. Of one of up to
                                  64 orbitals not by that sum, so without its rounding */
    double two_electron_energy; /**< 1/2 sum_ij D_ij (J - K/2)_ij, hartree, as `energy` has it; with
                                     it E can be summed up without a projector's large elements */
    double energy_change;       /**< since the cycle before, hartree */
    double gradient;            /**< of the last cycle */
    double energy_error;        /**< estimate of what the energy is above its end, hartree, from
                                     the gradient and how energies fell with it in this run; NaN
                                     where that is not known */
    double homo;                /**< energy of the highest occupied orbital, hartree */
    double lumo;                /**< that of the lowest empty one; NaN without */
    double *coefficient;        /**< [mo_num][nao], ascending in energy */
    double *orbital_energy;     /**< [mo_num] of the last Fock matrix, not shifted */
    double *occupation;         /**< [mo_num] 2 or 0 */
    double *density;            /**< [nao][nao] that the energy belongs to */
    double *fock;               /**< [nao][nao] of that density */
    double *overlap;            /**< [nao][nao] */
    double *core_hamiltonian;   /**< [nao][nao], field and projector added */
    double hessian_lowest;      /**< lowest eigenvalue of the real, singlet orbital Hessian (A + B),
                                     hartree; NaN if not asked for or nothing to mix */
    char notice[240];           /**< "", or one line: the cutoff is too loose for
                                     energy_convergence, by how much the energy may be off, the cure */
    int descents;               /**< times an unstable direction was followed */
    int device;                 /**< 1: the matrices of the cycles were in GPU memory */
    fmo_scf_solver solver;      /**< what was taken */
    fmo_mode mode;              /**< what auto became */
    fmo_fock_profile fock_profile; /**< of the last build on the CPU or in mode split; in mode fused
                                        only its mode, mode_reason and threads */
    double seconds;                /**< all of fmo_scf_run */
    double one_electron_seconds;   /**< of it: overlap, kinetic energy, attraction */
    double plan_seconds;           /**< of it: fmo_fock_plan_create */
    double guess_seconds;          /**< of it: the first density */
    double fock_seconds;           /**< of it: J and K; with a block of a GPU's threads for a whole
                                        SCF (fmo_scf_run_batch) its share of all that */
    double solve_seconds;          /**< of it: densities from Fock matrices */
    double stability_seconds;      /**< of it: the orbital Hessian */
    char verdict[256]; /**< one line: "converged in 9 cycles", or why not and what may help */
} fmo_scf_result;

/** Run an SCF.
 *  @param[out] result  the last state, also with FMO_ERR_CHECK; else NULL on error. Free it with
 *                      fmo_scf_result_destroy
 *  @return FMO_OK, FMO_ERR_CHECK (not converged, or stopped by a number that is none: err has the
 *          verdict and *result the last state), FMO_ERR_ARGUMENT, FMO_ERR_INPUT (odd or too many
 *          electrons, coinciding nuclei, a field or projector that is not finite or not symmetric
 * to 1e-10 of its largest element), and what fmo_fock_plan_create and fmo_fock_build return
 */
FMO_API fmo_status fmo_scf_run(const fmo_scf_input *input, const fmo_scf_options *options,
                               fmo_scf_result **result, fmo_error *err);
FMO_API void fmo_scf_result_destroy(fmo_scf_result *result); /**< NULL is fine */

/** One molecule of a batch, and what came of it. Zero it before setting fields. */
typedef struct fmo_scf_job {
    fmo_scf_input input;    /**< molecules may share arrays and bases */
    fmo_scf_result *result; /**< written by the call: as fmo_scf_run's; the caller's to free */
    fmo_status status;      /**< of this molecule alone, written by the call, as fmo_scf_run's */
    fmo_error err;          /**< its details, written by the call */
} fmo_scf_job;

/** Many SCFs in one call, any mix of sizes, with the same options. A molecule that fails leaves the
 *  others alone. Energies are those of fmo_scf_run within 1e-9 hartree, and under
 *  FMO_SCATTER_FIXED, bit for bit, whatever the threads and the order.
 *
 *  Mode cpu: small molecules side by side, one a thread, the largest first; those that are too
 *  large for that (one alone would take longer than a thread's share of the rest, or so many at a
 *  time would not fit the memory) one after the other with all threads. Atoms that occur in several
 *  molecules have their SCF for the guess once. Mode fused (docs/reference/scf.md):
 *  molecules of s and p shells with up to 56 functions, where there are 64 of them, have a block of
 *  a GPU's threads each, others of up to 512 functions advance together, larger ones and the other
 *  modes one after the other.
 *
 *  Memory: while it runs a molecule takes some 8 (14 + 3 diis_size) nao^2 bytes, what its plan
 * takes (fmo_fock_workspace), and integrals that are kept; options.fock.memory, or what is free, is
 *  shared by the molecules that run at the same time. Those with blocks have up to 2 nao^4 bytes of
 *  integrals each on a GPU, in pieces of at most two fifths of what is free. A result keeps 40
 * nao^2 bytes until it is freed, which options.finished may do. With options.deal the call is
 * collective. Each molecule is run by one rank, which alone has its result and hears of it; on the
 * others its status is FMO_OK and its result NULL. Ranks take the next molecule from a counter, in
 * the order of one process.
 *  @param[in,out] jobs [count] the same molecules on all ranks
 *  @return FMO_OK, or the status of the first job (lowest number) of this rank that failed,
 *          FMO_ERR_CHECK of one that did not converge included; err names the job, counted from 0.
 *          With options.deal also FMO_ERR_MEMORY, on all ranks and before any molecule, and
 *          FMO_ERR_DEVICE after a fault of the network */
FMO_API fmo_status fmo_scf_run_batch(fmo_scf_job *jobs, size_t count,
                                     const fmo_scf_options *options, fmo_error *err);

/** Superposition of atomic densities: each distinct atom by a spherically averaged, fractionally
 *  occupied SCF of its own (shells s, p and d filled as in the neutral ground state).
 *  @param[out] density  [nao][nao], block-diagonal, caller's AO order
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY
 *  Source: Almlof, Faegri and Korsell (1982); Van Lenthe et al., J. Comput. Chem. 27, 926 (2006) */
FMO_API fmo_status fmo_scf_atomic_densities(const fmo_basis *basis, double *density,
                                            fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
