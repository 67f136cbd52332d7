/* The state of a running SCF and its steps, file by file. Calls go one way: batch.c ->
 * lockstep_batches.c -> lockstep.c -> scf.c, and batch.c -> block/block.c -> scf.c, with jobs.c
 * below all three of a batch; scf.c -> stability.c -> newton.c -> hessian.c, and these and start.c
 * -> cycle.c -> note.c, history.c -> rohf.c, projected.c -> linalg.h. */
#ifndef FMO_SCF_INTERNAL_H
#define FMO_SCF_INTERNAL_H

#include <fmo/scf.h>

#include "driver/scf/criteria.h"
#include "driver/scf/diis.h"
#include "driver/scf/linalg.h"
#include "driver/scf/sad.h"

enum { FMO_SCF_CHANNELS = 2 };

#define FMO_SCF_CUTOFF 1e-12 /* default cutoff: docs/reference/scf.md */

/* Orbitals that a projector projects out (projected.c): the last `num` orthogonal functions if the
 * projector has few orbitals, otherwise num = 0. `separate`: their level shift is large enough for
 * purification to treat them separately. Arrays are in the memory of the backend. */
typedef struct fmo_projected {
    int num, separate;
    double *memory; /* one allocation that contains the arrays below */
    double *L;      /* m x num: P = L L^T */
    double *T;      /* m x num: columns m - num, ... of the unit matrix */
    double *Z;      /* m x num: Z of the last Fock matrix; its rows t of projected-out functions are
                         zero */
    double *scratch;       /* two of m x num */
    double *scratch_small; /* num x num */
} fmo_projected;

/* n basis functions; m orthogonal functions and orbitals. RHF has one channel, whose `occupied`
 * lowest orbitals are doubly occupied; UHF has one for each spin, alpha first. The density of a
 * channel is twice that of its orbitals, D_c = 2 C C^T, so that each channel of two looks like one
 * of RHF: F_c = H + J(D) - K(D_c)/2 with D the mean of the channels, and energy, gradient, and the
 * products that DIIS and EDIIS need are means over channels. ROHF has the two channels of UHF with
 * the same orbitals in both, closed, open and virtual ones in this order; DIIS extrapolates its
 * effective Fock matrix (rohf.c). Matrices are in the memory of la:
 * [n][n] in the AO basis, [m][m] in the orthogonal basis ("_o"), one for each channel where
 * noted. */
typedef struct fmo_scf_state {
    fmo_linalg *la;
    fmo_fock_plan *plan;
    size_t job;             /* index of the molecule in a batch */
    fmo_scf_solver solver;  /* never AUTO */
    char mode_reason[160];  /* why auto chose the mode, or "" */
    double cutoff;          /* cutoff of the next build */
    int incremental_builds; /* number of incremental builds of G since the last full one */
    double largest_cutoff;  /* largest cutoff of the builds that G consists of */
    int fock_2e_known;      /* 1: G of the initial density is known */
    int caches_fock_2e;     /* 1: G is cached for later SCFs */
    int descended;          /* 1: the Newton solver made the density; its occupied orbitals need not
                               be the lowest ones of the Fock matrix */
    int builds;             /* number of Fock builds so far, whatever their density */
    int threads;            /* threads of the host */
    int devices;            /* number of GPUs that share builds; 0: builds run on the CPU */
    int n, m, channels, occupied[FMO_SCF_CHANNELS];
    int restricted; /* 1: ROHF */
    double nuclear_repulsion;

    double *memory; /* one allocation that contains all backend arrays below */
    /* H, G, and G of the last change of the density; contiguous, and so are the three of each
     * channel (fmo_scf_of_channel) */
    double *core, *fock_2e, *change;
    double *fock; /* [channel] H + G; H and G are without P of projected-out orbitals */
    double *X;    /* n x m: orthogonal functions as columns */
    double *density, *built_density; /* [channel] D, and the density to which fock_2e belongs */
    double *coulomb, *exchange, *work, *work2; /* [n][n]; exchange [channel] */
    double *density_o;                         /* [channel] X^-1 D X^-T, with trace 2 occupied */

    double *history_fock, *history_error,
        *history_density;      /* [size][channel][m][m] in the orthogonal basis; the error of ROHF:
                                  [size][m][m] */
    double *history_effective; /* [size][2][m][m] of ROHF: effective, and that of alpha electrons */

    double *orbitals;       /* [channel] m x m: eigenvectors of the last Fock matrix as columns */
    double *orbital_energy; /* [channel][n], m of them used, in host memory */
    double gap; /* lowest virtual minus highest occupied energy of the last diagonalisation, the
                   smaller one of two channels, hartree; infinite without virtual orbitals or after
                   a purification */
    fmo_projected projected;
    double one_electron_energy,
        two_electron_energy; /* of the last build: Tr D H, Tr D G / 2, hartree */
    double fock_seconds, solve_seconds;
} fmo_scf_state;

/* Returns the place of a channel in core, fock_2e or change. */
static inline double *fmo_scf_of_channel(const fmo_scf_state *s, double *array, int channel)
{
    return array + 3 * (size_t)channel * (size_t)s->n * (size_t)s->n;
}

/* Returns how integrals are treated in a mode other than auto. In mode fused, builds take
 * milliseconds, so auto does not store integrals unless auto_in_fused is set. */
static inline fmo_integrals fmo_scf_integrals(const fmo_scf_options *o, fmo_mode mode)
{
    return mode == FMO_MODE_FUSED && o->fock.integrals == FMO_INTEGRALS_AUTO && !o->auto_in_fused
               ? FMO_INTEGRALS_DIRECT
               : o->fock.integrals;
}
/* Returns whether `auto` leaves SCFs with this total of cubed numbers of functions to the CPU,
 * which finishes them before a GPU has started. */
int fmo_scf_is_quick_on_cpu(const fmo_fock_options *fock, double cubes);
extern const char fmo_scf_quick_on_cpu_reason[]; /* reason for the report */
/* Limit of the orbital gradient with forces, whose error is proportional to it. */
#define FMO_SCF_FORCES_AIM 1e-6
/* Returns the orbital gradient that a converged SCF continues to, or 0. */
static inline double fmo_scf_aim(const fmo_scf_options *o)
{
    return o->gradient_aim > 0.0 || !o->forces ? o->gradient_aim : FMO_SCF_FORCES_AIM;
}
/* Returns 1 if the Fock matrix of the result may be less accurate than the cutoff. */
static inline int fmo_scf_fock_is_loose(const fmo_scf_options *o)
{
    return o->loose_fock && !o->forces;
}
/* Returns 1 if orbitals are requested or needed for the stability analysis. */
static inline int fmo_scf_wants_orbitals(const fmo_scf_options *o)
{
    return o->orbitals || o->stability != FMO_SCF_STABILITY_NONE;
}

/* What an SCF leaves in its backend for the next SCF of the same molecule, such as that of a
 * fragment in the next iteration: orthogonal functions, D and G. Zeroed: empty. */
typedef struct fmo_scf_cache {
    double *host; /* [3][n][n]: overlap, projector, density */
    fmo_scf_state state;
    int diis_size, dropped;
    double linear_dependence, overlap_smallest;
} fmo_scf_cache;

/* ---- scf.c ---- */

/* What the molecules of a batch share; all zero for a single molecule. */
typedef struct fmo_scf_shared {
    size_t job;            /* index of this molecule */
    fmo_atoms *atoms;      /* cache of atomic densities; NULL: none */
    const double *overlap; /* overlap matrix of this molecule, [n][n]; NULL: not known */
    /* Backend and plan of an SCF in a lockstep batch (lockstep.h); NULL: the SCF opens its own. */
    fmo_linalg *la;
    fmo_fock_plan *plan;
    double plan_seconds;  /* time that the plan took */
    int plan_cached;      /* 1: the plan is cached and must not be destroyed */
    fmo_scf_cache *cache; /* cache of this molecule, with this backend; NULL: nothing is cached */
} fmo_scf_shared;

/* Runs fmo_scf_run; error messages name the function `call`. */
fmo_status fmo_scf_run_one(const char *call, const fmo_scf_input *input,
                           const fmo_scf_options *options, const fmo_scf_shared *shared,
                           fmo_scf_result **result, fmo_error *err);

/* Returns sum_ij D_ij M_ij over `size` elements; 0 if M is NULL. */
double fmo_scf_expectation(size_t size, const double *density, const double *M);
/* Writes r->verdict. */
void fmo_scf_give_verdict(const fmo_scf_options *o, fmo_scf_result *r);

/* ---- result.c ---- */

/* NULL if there is no memory. channels: 2 for UHF and ROHF; restricted: 1 for ROHF */
fmo_scf_result *fmo_scf_new_result(int nao, int channels, int restricted);

/* ---- start.c ---- */

/* Opens the plan and the backend of the chosen mode, or takes the shared ones. */
fmo_status fmo_scf_open(const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_shared *shared, fmo_scf_state *s, fmo_scf_result *r,
                        fmo_error *err);
/* Allocates all arrays of the state; errors are recorded in the backend. The history has diis_size
 * entries, but at least FMO_SCF_HISTORY_MIN: the current and the previous one. */
enum { FMO_SCF_HISTORY_MIN = 2 };
void fmo_scf_allocate(fmo_scf_state *s, int diis_size);
void fmo_scf_release(fmo_scf_state *s); /* does nothing without a backend */
/* H += the symmetric part of M, [n][n] in host memory; NULL: no change. */
void fmo_scf_add_matrix(size_t n, const double *M, double *H);
/* Computes overlap and core Hamiltonian including the field, into the result. overlap: the matrix
 * if it is known (it may be the result's own), otherwise NULL. */
fmo_status fmo_scf_one_electron(fmo_scf_state *s, const fmo_scf_input *in, const double *overlap,
                                fmo_scf_result *r, fmo_error *err);
/* Computes X and m, and the number of dropped functions in the result; leaves S in s->exchange,
 * where it stays until the first build. */
fmo_status fmo_scf_orthogonalise(fmo_scf_state *s, fmo_scf_result *r, double threshold,
                                 fmo_error *err);
/* Computes the initial density. atoms: cache of atomic densities, or NULL. */
fmo_status fmo_scf_first_density(fmo_scf_state *s, const fmo_scf_input *in,
                                 const fmo_scf_options *o, fmo_atoms *atoms, fmo_scf_result *r,
                                 fmo_error *err);

/* Restores the cached state and the fields of the result that belong to it; s->fock_2e_known tells
 * whether the cached G is that of the input density.
 * @return 0 if nothing is cached for this input and these options */
int fmo_scf_take_cached(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        fmo_scf_cache *cache, fmo_scf_result *r);
/* Caches the state of a converged SCF, whose backend arrays must then not be released.
 * @return 0 if there is no host memory */
int fmo_scf_cache_state(const fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_result *r, fmo_scf_cache *cache);
/* Empties the cache. The caller releases the two backend arrays state.memory and
 * state.projected.memory. */
void fmo_scf_free_cached(fmo_scf_cache *cache);

/* ---- projected.c ---- */

/* out = X^T F X, with P of the projected-out orbitals added. */
void fmo_scf_fock_to_orthogonal(fmo_scf_state *s, const double *F, double *out);
/* out = X^T A X: from [n][n] to [m][m], symmetric. */
void fmo_scf_to_orthogonal(fmo_scf_state *s, const double *A, double *out);
/* out = X A X^T: from [m][m] to [n][n], exactly symmetric. */
void fmo_scf_from_orthogonal(fmo_scf_state *s, const double *A, double *out);

/* Rotates X so that the orbitals that the projector projects out are its last columns. Does nothing
 * without a projector or if the projector has too many orbitals. */
fmo_status fmo_scf_project_out(fmo_scf_state *s, const fmo_scf_input *in, fmo_error *err);
void fmo_scf_release_projected(fmo_scf_state *s);
/* F += P of the projected-out orbitals, both [m][m]. */
void fmo_scf_add_projected(fmo_scf_state *s, double *F);
/* M = F restricted to the other orbitals, with zeros in the rows and columns of the projected-out
 * ones; both [m][m].
 * @return 0 if F does not raise the projected-out orbitals */
int fmo_scf_remove_projected(fmo_scf_state *s, const double *F, double *M);
/* Adds x to the diagonal elements of the projected-out functions. */
void fmo_scf_shift_projected(fmo_scf_state *s, double x, double *A);
/* Transforms a density of the restricted matrix back to the density of the F last passed to
 * fmo_scf_remove_projected; it is idempotent up to the square of the norm of Z. */
void fmo_scf_restore_projected(fmo_scf_state *s, double *D);
/* Returns Tr D P of the state's density and the projected-out orbitals, hartree. It is computed in
 * the orthogonal basis from small numbers; in the AO basis large elements of D and P would
 * cancel. */
double fmo_scf_projected_energy(fmo_scf_state *s);

/* ---- cycle.c ---- */

/* Computes the densities of the lowest orbitals of the Fock matrices of all channels, both
 * [channel][m][m]; overwrites work and work2, and fock_o if it diagonalises. Of ROHF fock_o has the
 * effective Fock matrix and that of alpha electrons. */
void fmo_scf_solve(fmo_scf_state *s, double *fock_o, double *density_o);
/* Transforms the densities of all channels from density_o to density. */
void fmo_scf_density_from_orthogonal(fmo_scf_state *s);

/* Computes the canonical orbitals of the last Fock matrices, neither extrapolated nor shifted. */
void fmo_scf_canonical_orbitals(fmo_scf_state *s);

/* out = J - K/2 of a density [channel][n][n]; out: fock_2e or change. Overwrites coulomb, exchange
 * and with two channels work2. In GPU memory the result is NaN if elements of the density are
 * larger than the plan expects. */
void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out);
/* After a build that gave NaN: adapts the plan to the elements of this density. @return 0 if they
 * were not the cause */
int fmo_scf_fit_plan(fmo_scf_state *s, const double *density);

/* How G is obtained: from the whole density, from its change, or reused. */
typedef enum fmo_scf_how { FMO_SCF_FULL, FMO_SCF_CHANGE, FMO_SCF_REUSED } fmo_scf_how;

/* Computes F of the density, and returns the energy in hartree. */
double fmo_scf_build(fmo_scf_state *s, fmo_scf_how how);

/* Returns the cutoff of builds that matches a gradient; at most FMO_SCF_CUTOFF_MAX. */
double fmo_scf_loose_cutoff(const fmo_scf_state *s, double gradient);

/* Iterates to convergence, to `max_cycles` in total, or until the Newton solver is to continue
 * (fmo_scf_descend), starting from the density of the state. Returns FMO_OK, also if it does not
 * converge, or FMO_ERR_CHECK if a number is not finite or the caller stops it. The caller checks
 * the backend for errors. */
fmo_status fmo_scf_converge(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                            fmo_error *err);

/* ---- note.c ---- */

/* Copies the plan's profile of its last build and the reason of the mode into the result. */
void fmo_scf_take_profile(const fmo_scf_state *s, fmo_scf_result *r);
/* Returns what is known of a cycle before it begins: with seconds and builds of the state. */
fmo_scf_cycle fmo_scf_begin_cycle(const fmo_scf_state *s, fmo_scf_how how);
/* Enters energy and gradient of a cycle into the result. first: no cycle precedes it.
 * @return 0, 1 if both are within their thresholds, 2 if gradient_aim needs no further cycle,
 * either */
int fmo_scf_note_cycle(fmo_scf_result *r, const fmo_scf_options *o, fmo_scf_error_ratio *ratio,
                       int first, double energy, double gradient);
/* Calls the callback, if there is one. start: when the cycle began, s */
void fmo_scf_report_cycle(const fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                          fmo_scf_cycle cycle, double start);
/* Returns FMO_ERR_CHECK if the energy is not a finite number or the caller stops the SCF. */
fmo_status fmo_scf_may_go_on(const fmo_scf_result *r, const fmo_scf_options *o, fmo_error *err);

/* ---- newton.c ---- */

/* Descends by Newton steps from the density of the state, which must consist of occupied orbitals,
 * to convergence or to `max_cycles` in total; the energy never rises. direction: an unstable
 * direction of a stationary density to leave along, kept by fmo_hessian_keep because orbitals may
 * change even if the density does not, or NULL. Returns as fmo_scf_converge; the orbitals are then
 * those of the density. */
fmo_status fmo_scf_descend(fmo_scf_state *s, const fmo_scf_options *o, const double *direction,
                           fmo_scf_result *r, fmo_error *err);
/* Computes the canonical orbitals of the density, if it is stationary: its occupied ones first,
 * even if they are not the lowest ones of the Fock matrix. */
void fmo_scf_density_orbitals(fmo_scf_state *s);

/* ---- gradient.c ---- */

/* Refuses forces where a matrix of the caller's has no derivative that is known. */
fmo_status fmo_scf_check_forces(const fmo_scf_input *in, fmo_error *err);
/* Adds the forces to a result that has converged, if they are requested and it has none. The result
 * may be NULL, and is freed and NULL after an error. */
fmo_status fmo_scf_add_forces(const fmo_scf_input *in, const fmo_scf_options *o,
                              fmo_scf_result **result, fmo_error *err);
/* Adds the forces to the result of an SCF whose backend computes those of several together
 * (linalg.h), with the plan of its builds. */
fmo_status fmo_scf_add_batch_forces(fmo_scf_state *s, const fmo_scf_input *in,
                                    const fmo_scf_options *o, fmo_scf_result *r, fmo_error *err);
/* Adds the forces to the results of jobs that have converged in mode fused, those of GPU number
 * `device` together; threads: of the host. A job that fails gets status and error, and no
 * result. */
void fmo_scf_add_forces_of_all(fmo_scf_job *const *jobs, size_t num, const fmo_scf_options *o,
                               int device, int threads);

/* ---- history.c ---- */

/* History of Fock matrices. Slots are filled cyclically; B and T are indexed by slot. */
typedef struct fmo_scf_history {
    int size, num, newest;
    int guess; /* slot of an initial density that does not come from doubly occupied orbitals, or -1
                */
    double energy[FMO_DIIS_MAX], B[FMO_DIIS_MAX][FMO_DIIS_MAX], T[FMO_DIIS_MAX][FMO_DIIS_MAX];
} fmo_scf_history;

/* Stores F and D of this cycle in the orthogonal basis, and the error F D - D F.
 * @return the norm of the gradient, hartree */
double fmo_scf_history_add(fmo_scf_state *s, fmo_scf_history *h, double energy);
/* Returns 1 if the last density differs much from the one before (criteria.h). */
int fmo_scf_changed_abruptly(const fmo_scf_history *h);
/* Computes the extrapolated Fock matrices by DIIS or EDIIS, of ROHF the effective one and that of
 * alpha electrons; plain: the last ones without extrapolation. */
void fmo_scf_extrapolate(fmo_scf_state *s, const fmo_scf_history *h, int ediis, int plain,
                         double *fock_o);

/* ---- rohf.c ---- */

/* Computes the effective Fock matrix [m][m] of the state's density_o and the Fock matrices of both
 * spins, [channel][m][m]; overwrites work and work2. */
void fmo_scf_effective_fock(fmo_scf_state *s, const double *fock_o, double *effective);
/* Computes the density of all electrons, [m][m], from density_o. */
void fmo_scf_total_density(fmo_scf_state *s, double *total);
/* energy[k] = C_k^T F C_k of `num` orbitals, in host memory; F is [m][m]; overwrites work2. */
void fmo_scf_energies_in(fmo_scf_state *s, const double *F, const double *C, int num,
                         double *energy);
/* Returns the smaller gap of both spins, that of beta electrons between open and closed orbitals,
 * from the mean energies of closed, open and virtual orbitals and those of alpha electrons. */
double fmo_scf_restricted_gap(const fmo_scf_state *s, const double *energy, const double *alpha);
/* Diagonalises the effective Fock matrix, and chooses the occupied orbitals. fock_o: that matrix
 * and the one of alpha electrons, both overwritten by the orbitals; overwrites work and work2. */
void fmo_scf_diagonalise_effective(fmo_scf_state *s, double *fock_o);
/* Sorts the orbitals of a result by energy. */
void fmo_scf_sort_orbitals(fmo_scf_result *r);

/* ---- stability.c ---- */

/* Checks the stability of the converged state; if it is unstable and options.stability is FOLLOW,
 * follows the unstable direction to a lower solution. */
fmo_status fmo_scf_stabilise(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                             fmo_error *err);

#endif
