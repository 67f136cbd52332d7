/* Self-consistent field, RHF, UHF and ROHF, on top of Fock plans: initial guess, DIIS, incremental
 * builds, canonical orthogonalisation, stability analysis. The algorithm is the same on the CPU and
 * the GPU; in mode fused all matrices stay in GPU memory during a cycle. The method is described in
 * docs/explanation/scf-method.md. Sources: Roothaan, Rev. Mod. Phys. 23, 69 (1951); Pulay, J.
 * Comput. Chem. 3, 556 (1982). */
#ifndef FMO_SCF_H
#define FMO_SCF_H

#include <fmo/basis.h>
#include <fmo/fock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Source of the initial density. X(enumerator, name, description) */
#define FMO_SCF_GUESS_TABLE(X)                                                 \
    X(FMO_SCF_GUESS_SAD, "sad", "superposition of spherically averaged atoms") \
    X(FMO_SCF_GUESS_CORE, "core", "orbitals of the core Hamiltonian")          \
    X(FMO_SCF_GUESS_READ, "read", "density of the input (that of the data set)")

/* How a density is computed from a Fock matrix. X(enumerator, name, description) */
#define FMO_SCF_SOLVER_TABLE(X)                                                                \
    X(FMO_SCF_SOLVER_AUTO, "auto", "purify on the GPU from 48 functions on, else diagonalise") \
    X(FMO_SCF_SOLVER_DIAGONALISE, "diagonalise", "all orbitals in every cycle")                \
    X(FMO_SCF_SOLVER_PURIFY, "purify",                                                         \
      "density by matrix products, orbitals at the end; diagonalise where that fails")         \
    X(FMO_SCF_SOLVER_NEWTON, "newton",                                                         \
      "second-order steps that never raise the energy (mode auto: on CPUs)")

/* Treatment of the internal stability of the solution. X(enumerator, name, description) */
#define FMO_SCF_STABILITY_TABLE(X)                                                              \
    X(FMO_SCF_STABILITY_NONE, "none", "no test unless the orbital gap is below 0.05 hartree")   \
    X(FMO_SCF_STABILITY_CHECK, "check", "compute the lowest eigenvalue of the orbital Hessian") \
    X(FMO_SCF_STABILITY_FOLLOW, "follow",                                                       \
      "also follow its direction to lower energies until it is not negative")

#define FMO_ENUM_ROW(e, name, text) e,
/** Source of the initial density. */
typedef enum fmo_scf_guess { FMO_SCF_GUESS_TABLE(FMO_ENUM_ROW) FMO_SCF_GUESS_COUNT } fmo_scf_guess;
/** How a density is computed from a Fock matrix. */
typedef enum fmo_scf_solver {
    FMO_SCF_SOLVER_TABLE(FMO_ENUM_ROW) FMO_SCF_SOLVER_COUNT
} fmo_scf_solver;
/** Treatment of the internal stability of the solution. */
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

enum { FMO_SCF_DIIS_MAX = 16 /**< largest value of fmo_scf_options.diis_size */ };

/** A solution whose hessian_lowest (hartree) is below this is reported as unstable. The margin
 * allows for rounding, which gives zero eigenvalues either sign. */
#define FMO_SCF_UNSTABLE (-1e-5)

/** Cutoffs above this are probably mistakes: energies are then wrong by millihartrees or more
 * (docs/reference/scf.md). The library computes all the same and warns in result.notice; fmo-driver
 * refuses the value. */
#define FMO_SCF_CUTOFF_MAX 1e-4

/** One finished cycle, as passed to fmo_scf_options.callback. */
typedef struct fmo_scf_cycle {
    size_t job;           /**< index of the molecule in fmo_scf_run_batch; 0 in fmo_scf_run */
    int cycle;            /**< counted from 1 */
    double energy;        /**< energy of this cycle's density, hartree */
    double energy_change; /**< change since the previous cycle, hartree; NaN in the first */
    double gradient;      /**< norm of the orbital gradient, hartree: of 2 F_ai over all i, a */
    int full_build; /**< 1: J and K were built from the whole density; 0: from its change, or reused
                       without a build */
    int energy_diis; /**< 1: the Fock matrix was extrapolated by EDIIS; 0: by DIIS, or newton */
    int newton;      /**< 1: cycle of the Newton solver, which extrapolates nothing */
    int builds;    /**< number of builds: 1, or 0 if J and K were reused; of the Newton solver also
                      those of products with the orbital Hessian and of rejected steps */
    int converged; /**< 1: this is the last cycle, unless an unstable direction is followed from
                      here */
    double fock_seconds;  /**< time for J and K */
    double solve_seconds; /**< time from the Fock matrix to the next density */
    double other_seconds; /**< time for the rest of the cycle: transformations, DIIS, energy */
    /** The result so far: nao, occupied_num, mode, device and fock_profile are set; orbitals and
     * matrices are filled in after the last cycle. Valid only during the callback. */
    const struct fmo_scf_result *so_far;
} fmo_scf_cycle;

struct fmo_scf_job;

/** Options of an SCF; fmo_scf_options_init sets the defaults. */
typedef struct fmo_scf_options {
    /** Mode (auto leaves small molecules to the CPU), strategy, threads, cutoff (default here
     * 1e-12), memory, integrals (default here FMO_INTEGRALS_AUTO; for mode fused see
     * auto_in_fused). Its stream is used in mode fused. */
    fmo_fock_options fock;
    fmo_scf_guess guess; /**< default FMO_SCF_GUESS_SAD */
    int unrestricted;    /**< 1: UHF also for multiplicity 1; 0, the default: UHF for open shells
                            alone. UHF runs in modes cpu, split and reference; auto becomes cpu */
    int restricted; /**< 1: ROHF for open shells, in the same modes; with multiplicity 1 it is RHF.
                       Not with unrestricted. 0, the default: UHF */
    int guess_mix;  /**< 1: UHF begins with orbitals of broken symmetry: the highest occupied and
                       the lowest virtual orbital are rotated by 45 degrees, in opposite
                       directions for the two spins; default 0 */
    int guess_is_fixed; /**< 1: users cannot choose another guess, so the verdict does not suggest
                           one; default 0 */
    int max_cycles;     /**< largest number of cycles, default 100; one more is allowed for
                           returning from a descent that does not converge. From 40 on the Newton
                           solver takes over for the last quarter of them, on the CPU */
    double energy_convergence; /**< hartree, default 1e-9: limit of the energy change between cycles
                                  or of the estimated error of the energy */
    double gradient_convergence; /**< hartree, default 3e-5: limit of the norm of the orbital
                                    gradient */
    double gradient_aim; /**< hartree; 0, the default: none. Otherwise a converged SCF continues
                            until the gradient is below this value, too, or falls by less than a
                            factor of 2 in a cycle */
    double level_shift;  /**< hartree, added to the virtual orbitals; default 0 */
    int diis_size;       /**< number of Fock matrices in the DIIS history, default 8, at most
                            FMO_SCF_DIIS_MAX; 1: no extrapolation */
    int rebuild_cycles;  /**< largest number of consecutive incremental builds, default 12; 0: every
                            build is full */
    double linear_dependence; /**< eigenvectors of the overlap matrix of normalised functions with
                                 eigenvalues below this are dropped; default 1e-7 */
    fmo_scf_solver solver;    /**< default FMO_SCF_SOLVER_AUTO; always DIAGONALISE with a projector
                                 unless it raises a few orbitals by at least 1e5 hartree */
    fmo_scf_stability stability; /**< default FMO_SCF_STABILITY_NONE */
    int orbitals; /**< 1, the default: compute orbitals; 0: skip them, which saves an eigenproblem:
                     coefficient, orbital_energy and occupation of the result are then zeros, homo
                     and lumo NaN. With `stability` they are always computed */
    int auto_in_fused; /**< meaning of FMO_INTEGRALS_AUTO in mode fused: 0, the default: direct; 1:
                          as for a plan, stored if they fit */
    int loose_fock; /**< 1: the Fock matrix and orbitals of the result are only as accurate as the
                       gradient threshold requires, which saves time. The energy is still accurate
                       to the cutoff, so it differs from 1/2 Tr D (H + F) in the last digits. 0, the
                       default: both are accurate to the cutoff. No effect on SCFs that run in one
                       thread block of a GPU, which keep all integrals */
    int forces; /**< 1: also compute the derivative of the energy with respect to the nuclei, its
                   two-electron part on the GPU in mode fused and all else on the CPU in every mode;
                   the orbital gradient is then reduced to 1e-6 hartree unless
                   gradient_aim is set, and loose_fock has no effect. 0, the default: not. Not with
                   a field, a projector or a core Hamiltonian other than the basis':
                   FMO_ERR_UNSUPPORTED */
    /** Called after each cycle; NULL: never. */
    void (*callback)(const fmo_scf_cycle *cycle, void *user);
    void *user; /**< passed to callback, finished and begun */
    /** fmo_scf_run_batch only: called when a job has ended, successfully or not; NULL: never. The
     * job has the index `index` and contains its status, result and err. The callback may take the
     * result (set job->result = NULL and free it later with fmo_scf_result_destroy), so that a
     * batch need not keep all of them. In a batch both callbacks may be called from any thread, but
     * one at a time under a lock: they need no lock of their own and should be short. */
    void (*finished)(size_t index, struct fmo_scf_job *job, void *user);
    /** fmo_scf_run_batch and fmo_fragment_run only: the processes that share the molecules; NULL,
     * the default: this process runs them all. Each rank makes the same call, with fock.ranks
     * NULL. */
    fmo_ranks *deal;
    /** fmo_scf_run only: called once, after the mode has been chosen and the plan made, before the
     * computation starts; NULL: never. so_far contains nao, occupied_num, mode, device, notice, and
     * of fock_profile mode, mode_reason, threads and ranks. */
    void (*begun)(const struct fmo_scf_result *so_far, void *user);
    /** Points to a flag of the caller, which any thread may set while SCFs run: if it is not 0 at
     * the end of a cycle, the SCF fails with FMO_ERR_CHECK. NULL, the default: no flag. Ignored if
     * several processes share an SCF or a batch, and by SCFs that run in one thread block of a
     * GPU. */
    const volatile int *stop;
} fmo_scf_options;

/** Sets the defaults. Call it before setting fields, so that fields added in later versions get
 * theirs. */
FMO_API void fmo_scf_options_init(fmo_scf_options *options);

/** A molecule. Its arrays belong to the caller. Zero the structure before setting fields, so that
 * fields added in later versions get their defaults. */
typedef struct fmo_scf_input {
    const fmo_basis *basis;         /**< of the molecule */
    int electron_num;               /**< at least 1; with multiplicity 1 even */
    const double *core_hamiltonian; /**< [nao][nao] hartree; NULL: computed from the basis */
    double nuclear_repulsion;       /**< hartree; usually fmo_basis_nuclear_repulsion(basis) */
    const double *density;          /**< [nao][nao] for FMO_SCF_GUESS_READ; otherwise ignored */
    /** U, [nao][nao] hartree, symmetric, in the caller's AO order; NULL: none. A potential that is
     * added to the core Hamiltonian, such as that of other molecules. */
    const double *field;
    const double *projector; /**< P, likewise, such as B S|phi><phi|S, which keeps the orbital phi
                                out of the occupied space; RHF only */
    /** 2S + 1, the number of unpaired electrons plus 1; 0 means 1. Above 1: UHF or ROHF. */
    int multiplicity;
    const double
        *spin_density; /**< open shells with FMO_SCF_GUESS_READ: D_alpha - D_beta, [nao][nao];
                          NULL: the density is divided among the spins in proportion */
    /** Point charges in whose field the molecule is, not of its nuclei: their energy with electrons
     * and nuclei is part of the energy, that among themselves is not. */
    size_t charge_num;          /**< number of charges; 0: none */
    const double *charge;       /**< [charge_num] e */
    const double *charge_coord; /**< [charge_num][3] bohr */
} fmo_scf_input;

/** The last state, converged or not. Matrices are row-major, in the caller's AO order, in
 * hartree. */
typedef struct fmo_scf_result {
    int nao;                 /**< number of basis functions */
    int mo_num;              /**< number of orbitals, nao - dropped */
    int occupied_num;        /**< number of occupied orbitals; UHF: of alpha electrons */
    int dropped;             /**< number of dropped eigenvectors of the overlap */
    double overlap_smallest; /**< smallest eigenvalue of the overlap of normalised functions; a
                                lower bound if the overlap is well conditioned */
    int converged;           /**< 1 or 0 */
    int cycles;              /**< number of densities whose energy was accepted */
    int full_builds; /**< how many of their Fock matrices came from a build of the whole density */
    double energy; /**< hartree, from the last full build and the changes since; with a field and a
                      projector both energies below are included */
    double field_energy;     /**< sum_ij D_ij U_ij, hartree; 0 without a field */
    double projector_energy; /**< sum_ij D_ij P_ij, hartree; 0 without a projector. For a projector
                                of up to 64 orbitals it is computed without the cancellation of that
                                sum */
    /** 1/2 sum_ij D_ij (J - K/2)_ij, hartree, as included in `energy`; it allows E to be summed
     * without the large elements of a projector. */
    double two_electron_energy;
    double energy_change; /**< since the previous cycle, hartree */
    double gradient;      /**< norm of the orbital gradient in the last cycle, hartree */
    double energy_error;  /**< estimate of how far the energy is above its limit, hartree, from the
                             gradient and the energy changes of this run; NaN if it is not known */
    double homo; /**< energy of the highest occupied orbital of either spin, hartree; NaN without
                    orbitals */
    double lumo; /**< energy of the lowest virtual orbital, hartree; NaN without one */
    double *coefficient;      /**< [mo_num][nao], in ascending order of energy */
    double *orbital_energy;   /**< [mo_num] eigenvalues of the last Fock matrix, hartree, without
                                 level shift; ROHF: of Roothaan's effective one */
    double *occupation;       /**< [mo_num], 2 or 0; UHF: 1 or 0; ROHF: 2, 1 or 0, and an orbital
                                 with 1 may be above one with 0 */
    double *density;          /**< [nao][nao], the density to which the energy belongs */
    double *fock;             /**< [nao][nao], the Fock matrix of that density */
    double *overlap;          /**< [nao][nao] */
    double *core_hamiltonian; /**< [nao][nao], including field, projector and point charges */
    /** UHF: 1, and then the arrays above are those of alpha orbitals, fock is that of alpha
     * electrons, and those below belong to beta; density is the sum. Otherwise 0 and NULL. */
    int unrestricted;
    /** ROHF: 1, and then fock is that of alpha electrons, fock_beta and spin_density are set as of
     * UHF, and occupied_beta_num orbitals are doubly occupied. Otherwise 0. */
    int restricted;
    int multiplicity;            /**< 2S + 1 of the input */
    int occupied_beta_num;       /**< number of orbitals occupied by beta electrons */
    double spin_square;          /**< <S^2>; S(S + 1) without contamination by higher spins */
    double *coefficient_beta;    /**< [mo_num][nao] */
    double *orbital_energy_beta; /**< [mo_num], hartree */
    double *occupation_beta;     /**< [mo_num], 1 or 0 */
    double *spin_density;        /**< [nao][nao], D_alpha - D_beta */
    double *fock_beta;           /**< [nao][nao], hartree */
    int nucleus_num;             /**< number of nuclei of nuclear_gradient; 0 without forces */
    double *nuclear_gradient; /**< [nucleus_num][3] hartree/bohr, with options.forces if the SCF has
                                 converged; otherwise NULL. Forces are its negative */
    size_t charge_num;        /**< number of point charges of charge_gradient; 0 without forces */
    double *charge_gradient; /**< [charge_num][3] hartree/bohr, likewise, with respect to the places
                                of the point charges; NULL without any */
    /** Lowest eigenvalue of the real orbital Hessian (A + B), hartree: of RHF that of singlets, of
     * UHF that of rotations of both spins. NaN if the stability was not checked or there are no
     * virtual orbitals. */
    double hessian_lowest;
    /** "", or one line that says that the cutoff is too loose for energy_convergence, how large the
     * error of the energy may be, and the cure. */
    char notice[240];
    int descents;      /**< number of unstable directions followed */
    int builds;        /**< number of all Fock builds: those of cycles, of products with the orbital
                          Hessian        (stability, Newton solver), and of steps that were rejected */
    int newton_cycles; /**< number of cycles of the Newton solver */
    int rescued; /**< 1: DIIS and EDIIS did not converge, and the Newton solver took over; else 0 */
    int device;  /**< 1: the matrices of the cycles were in GPU memory */
    fmo_scf_solver solver;         /**< solver that was used */
    fmo_mode mode;                 /**< mode that was used; never auto */
    fmo_fock_profile fock_profile; /**< of the last build on the CPU or in mode split; in mode fused
                                      only its mode, mode_reason and threads */
    double seconds;                /**< wall time of fmo_scf_run, s; it contains the times below */
    double one_electron_seconds;   /**< overlap, kinetic energy, nuclear attraction */
    double plan_seconds;           /**< fmo_fock_plan_create */
    double guess_seconds;          /**< initial density */
    double fock_seconds;  /**< J and K; for an SCF in one thread block of a GPU (fmo_scf_run_batch)
                             its share of the whole time */
    double solve_seconds; /**< from Fock matrices to densities */
    double stability_seconds; /**< orbital Hessian */
    double forces_seconds;    /**< nuclear_gradient */
    char verdict[320]; /**< one line: "converged in 9 cycles", or why it did not converge and what
                          may help */
} fmo_scf_result;

/** Runs an SCF.
 * @param[out] result  the last state, also with FMO_ERR_CHECK; NULL after other errors. Free it
 *   with fmo_scf_result_destroy
 * @return FMO_OK, FMO_ERR_CHECK (not converged, stopped by the caller or by a number that is not
 *   finite: err has the verdict and *result the last state if there is one), FMO_ERR_ARGUMENT,
 *   FMO_ERR_INPUT (a number of electrons that the
 *   multiplicity or the basis cannot have, coinciding nuclei, a field or projector that is not
 *   finite or not symmetric to 1e-10 of its largest element), and the errors of
 *   fmo_fock_plan_create and fmo_fock_build */
FMO_API fmo_status fmo_scf_run(const fmo_scf_input *input, const fmo_scf_options *options,
                               fmo_scf_result **result, fmo_error *err);
FMO_API void fmo_scf_result_destroy(fmo_scf_result *result); /**< NULL is allowed */

/** Computes the derivative of the energy of a converged SCF with respect to the nuclei, as with
 * options.forces, from the result's density and Fock matrix (of UHF those of both spins) and
 * `dropped`. Its error is proportional to the orbital gradient of the result. The two-electron part
 * runs on the GPU if the result's mode is fused.
 * @param[in] options cutoff, threads, memory, device and stream count; NULL: defaults
 * @param[out] gradient [nucleus_num of the basis][3] hartree/bohr; untouched on error
 * @param[out] charge_gradient [charge_num of the input][3], with respect to the places of the point
 *   charges, likewise; NULL: not returned
 * @return FMO_OK, FMO_ERR_CHECK (the SCF has not converged), FMO_ERR_UNSUPPORTED (a field, a
 *   projector or a core Hamiltonian other than the basis'), FMO_ERR_ARGUMENT, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_scf_gradient(const fmo_scf_input *input, const fmo_scf_options *options,
                                    const fmo_scf_result *result, double *gradient,
                                    double *charge_gradient, fmo_error *err);

/** Computes charges and spin populations of the atoms from the density, spin density and overlap of
 * a result, converged or not: Z_A - sum_i in A (D S)_ii (R. S. Mulliken, J. Chem. Phys. 23, 1833
 * (1955)) and Z_A - sum_i in A (S^1/2 D S^1/2)_ii (P.-O. Loewdin, J. Chem. Phys. 18, 365 (1950)),
 * and these sums for D_alpha - D_beta. Z of a ghost atom is 0, and point charges are no atoms. The
 * charges add up to that of the molecule, the spin populations to the number of unpaired electrons.
 * Loewdin's are those of functions of norm 1, but of x^a y^b z^c with one factor for the whole
 * shell in Cartesian d, f and g shells (as in PySCF): there they depend on the orientation. They
 * need the eigenvectors of S, computed on the CPU with the threads of the SCF.
 * @param[in] basis that of the input
 * @param[out] mulliken, loewdin [nucleus_num of the basis] e; NULL: not computed; untouched on
 * error
 * @param[out] mulliken_spin, loewdin_spin likewise; zeros for closed shells
 * @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY, FMO_ERR_CHECK (the eigenvectors did not
 *   converge) */
FMO_API fmo_status fmo_scf_charges(const fmo_basis *basis, const fmo_scf_result *result,
                                   double *mulliken, double *loewdin, double *mulliken_spin,
                                   double *loewdin_spin, fmo_error *err);

/** One molecule of a batch and its result. Zero it before setting fields. */
typedef struct fmo_scf_job {
    fmo_scf_input input;    /**< molecules may share arrays and bases */
    fmo_scf_result *result; /**< written by the call as by fmo_scf_run; freed by the caller */
    fmo_status status; /**< written by the call: the status of this molecule, as fmo_scf_run's */
    fmo_error err;     /**< written by the call: details of the status */
} fmo_scf_job;

/** Runs many SCFs with the same options in one call, in any mix of sizes. An error of one molecule
 * does not affect the others. Energies agree with those of fmo_scf_run within 1e-9 hartree, and bit
 * for bit with FMO_SCATTER_FIXED, for any number of threads and any order.
 *
 * Mode cpu: small molecules run concurrently, one per thread, the largest first. Molecules that are
 * too large for that (one alone would take longer than a thread's share of the rest, or the memory
 * would not hold one per thread) run one after the other with all threads. The guess computes each
 * kind of atom once for the whole batch. Mode fused (docs/reference/scf.md): if there are at least
 * 64 molecules of s and p shells with up to 56 functions, each of them runs in one thread block of
 * a GPU; others of up to 512 functions advance in lockstep; larger molecules run one after the
 * other, and so do all molecules in the other modes.
 *
 * Memory: a running molecule needs about 8 (14 + 3 diis_size) nao^2 bytes, the memory of its plan
 * (fmo_fock_workspace) and of stored integrals; molecules that run at the same time share
 * options.fock.memory or the free memory. Molecules in thread blocks have up to 2 nao^4 bytes of
 * integrals each on a GPU, in batches that use at most two fifths of the free memory. A result
 * occupies 40 nao^2 bytes until it is freed, which options.finished may do. With options.deal the
 * call is collective: each molecule runs on one rank, and only that rank gets its result and
 * callbacks; on the others its status is FMO_OK and its result NULL. Ranks take the next molecule
 * from a shared counter, in the order of a single process.
 * @param[in,out] jobs [count] the same molecules on all ranks
 * @return FMO_OK, or the status of the first job (lowest index) of this rank that failed,
 *   including FMO_ERR_CHECK of one that did not converge; err names the job, counted from 0. With
 *   options.deal also FMO_ERR_MEMORY, on all ranks and before any molecule, and FMO_ERR_DEVICE
 *   after a network error */
FMO_API fmo_status fmo_scf_run_batch(fmo_scf_job *jobs, size_t count,
                                     const fmo_scf_options *options, fmo_error *err);

/** Computes the superposition of atomic densities: each distinct atom has a spherically averaged,
 * fractionally occupied SCF of its own (shells filled as in the neutral ground state).
 * @param[out] density  [nao][nao], block-diagonal, caller's AO order
 * @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY
 * Source: Almlof, Faegri and Korsell (1982); Van Lenthe et al., J. Comput. Chem. 27, 926 (2006) */
FMO_API fmo_status fmo_scf_atomic_densities(const fmo_basis *basis, double *density,
                                            fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
