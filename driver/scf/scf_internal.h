/* The state of a running SCF and the steps of one, by file. Arrows go one way: batch.c, with
 * lockstep batches.c and block/, which has steps of its own -> scf.c -> descent.c -> iterate.c,
 * stability.c
 * -> build.c, solve.c -> projected out.c -> linalg.h; scf.c -> start.c -> solve.c; scf.c -> kept.c.
 */
#ifndef FMO_SCF_INTERNAL_H
#define FMO_SCF_INTERNAL_H

#include <fmo/scf.h>

#include "driver/scf/diis.h"
#include "driver/scf/linalg.h"
#include "driver/scf/sad.h"

#define FMO_SCF_CUTOFF 1e-12 /* by default: docs/reference/scf.md */

/* What a projector projects out (projected out.c): the last `num` of the orthogonal functions, if
 * it is one of few orbitals, else 0. `apart`: they are far enough above the others for what is
 * below. Arrays of the backend. */
typedef struct fmo_projected {
    int num, separate;
    double *memory; /* of those below */
    double *root;   /* m x num: P = root root^T */
    double *unit;   /* m x num: 1 where a column meets its function */
    double *mix;    /* m x num: Z of the last Fock matrix, rows t zero */
    double *narrow; /* 2 of m x num */
    double *little; /* num x num */
} fmo_projected;

/* n functions, m orthogonal functions and orbitals, occupied of them doubly occupied. Matrices in
 * the memory of la: [n][n] in the AOs, [m][m] in the orthogonal functions ("_o"). */
typedef struct fmo_scf_state {
    fmo_linalg *la;
    fmo_fock_plan *plan;
    size_t job;            /* of a batch */
    fmo_scf_solver solver; /* not AUTO */
    char mode_reason[160]; /* what auto went by, or "" */
    double cutoff;         /* of builds */
    int changes;           /* that G has had since a full build; */
    double widest;         /* the largest cutoff of these builds */
    int known;             /* G of the first density is there */
    int keeps;             /* G is for SCFs to come, too */
    int threads;           /* of the host */
    int devices;           /* GPUs that share builds; 0: on the CPU */
    int n, m, occupied;
    double nuclear_repulsion;

    double *memory;                            /* of all arrays below of the backend */
    double *core, *fock_2e, *change;           /* H, G, and G of the last change, one behind the
                                                  other */
    double *fock;                              /* H + G; both without P of what is projected out */
    double *X;                                 /* n x m: orthogonal functions by columns */
    double *density, *built;                   /* D, and the density that fock_2e belongs to */
    double *coulomb, *exchange, *work, *work2; /* [n][n] */
    double *density_o;                         /* X^-1 D X^-T, trace 2 occupied */

    double *past_fock, *past_error, *past_density; /* [size][m][m] in the orthogonal functions */

    double *orbitals;       /* m x m eigenvectors of the last Fock matrix, by columns */
    double *orbital_energy; /* [m], on the host */
    fmo_projected projected;
    double one_electron_energy, two_electron_energy; /* of the last build: Tr D H, Tr D G / 2 */
    double fock_seconds, solve_seconds;
} fmo_scf_state;

/* What becomes of integrals in a mode that is not auto. In mode fused builds take milliseconds, and
 * what a store costs beside them is not measured: it is for those who ask. */
static inline fmo_integrals fmo_scf_integrals(const fmo_scf_options *o, fmo_mode mode)
{
    return mode == FMO_MODE_FUSED && o->fock.integrals == FMO_INTEGRALS_AUTO && !o->auto_in_fused
               ? FMO_INTEGRALS_DIRECT
               : o->fock.integrals;
}
/* Whether `auto` leaves SCFs to the CPU, of which the cubes of the functions are so many together:
 * it has done them before a GPU has started. */
int fmo_scf_soon_done(const fmo_fock_options *fock, double cubes);
extern const char fmo_scf_soon_reason[]; /* in a few words */
/* Stability is that of orbitals. */
static inline int fmo_scf_wants_orbitals(const fmo_scf_options *o)
{
    return o->orbitals || o->stability != FMO_SCF_STABILITY_NONE;
}

/* ---- kept.c ---- */

/* What an SCF leaves in its backend for the next one of the same molecule, such as a fragment's
 * from iteration to iteration: orthogonal functions, D, G. Zeroed: nothing. */
typedef struct fmo_scf_cache {
    double *host; /* [3][n][n] overlap, projector, density */
    fmo_scf_state state;
    int diis_size, dropped;
    double linear_dependence, overlap_smallest;
} fmo_scf_cache;

/* The state as it was left, with what of the result belongs to it, and whether its G is that of the
 * density given. @return 0 if there is none for this input and these options */
int fmo_scf_take_cached(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        fmo_scf_cache *kept, fmo_scf_result *r);
/* Leaves the state of an SCF that has converged, whose arrays are not to be released then.
 * @return 0 without memory of the host */
int fmo_scf_cache_state(const fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_result *r, fmo_scf_cache *kept);
/* Of arrays in the backend there are two: state.memory and state.projected out.memory, whoever has
 * it. */
void fmo_scf_forget_cached(fmo_scf_cache *kept);

/* ---- scf.c ---- */

/* What the molecules of a batch share; zeroed for one alone. */
typedef struct fmo_scf_shared {
    size_t job;            /* number of this molecule */
    fmo_atoms *atoms;      /* whose densities are known; NULL: none */
    const double *overlap; /* of this molecule, [n][n]; NULL: not known */
    /* Of an SCF that advances with others (lockstep.h), which takes both; NULL: it opens its own.
     */
    fmo_linalg *la;
    fmo_fock_plan *plan;
    double plan_seconds; /* what it took */
    int plan_cached;     /* it is not to be destroyed */
    fmo_scf_cache *kept; /* of this molecule, with that backend; NULL: nothing is to be kept */
} fmo_scf_shared;

/* fmo_scf_run, as `call`. */
fmo_status fmo_scf_run_one(const char *call, const fmo_scf_input *input,
                           const fmo_scf_options *options, const fmo_scf_shared *shared,
                           fmo_scf_result **result, fmo_error *err);

/* ---- settings.c ---- */

/* FMO_OK, FMO_ERR_ARGUMENT or FMO_ERR_INPUT with what to change. */
fmo_status fmo_scf_check_input(const fmo_scf_input *in, const fmo_scf_options *o, fmo_error *err);

/* ---- start.c ---- */

/* The plan and the backend that its mode works with, or those that are shared. */
fmo_status fmo_scf_open(const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_shared *shared, fmo_scf_state *s, fmo_scf_result *r,
                        fmo_error *err);
/* Every array of the state; errors stick to the backend. The past is as large as DIIS wants it, and
 * has the density before in any case. */
enum { FMO_SCF_PAST_LEAST = 2 };
void fmo_scf_allocate(fmo_scf_state *s, int diis_size);
void fmo_scf_release(fmo_scf_state *s); /* without a backend nothing */
/* H += the symmetric part of M, [n][n] on the host; NULL is nothing. */
void fmo_scf_add_matrix(size_t n, const double *M, double *H);
/* Overlap and core Hamiltonian, field added, into the result. overlap: if it is known, also the
 * result's own, or NULL. */
fmo_status fmo_scf_one_electron(fmo_scf_state *s, const fmo_scf_input *in, const double *overlap,
                                fmo_scf_result *r, fmo_error *err);
/* X, m, and in the result what was dropped; S, of which s->exchange has the place, until the first
 * build. */
fmo_status fmo_scf_orthogonalise(fmo_scf_state *s, fmo_scf_result *r, double threshold,
                                 fmo_error *err);
/* atoms: known ones, or NULL. */
fmo_status fmo_scf_first_density(fmo_scf_state *s, const fmo_scf_input *in,
                                 const fmo_scf_options *o, fmo_atoms *atoms, fmo_scf_result *r,
                                 fmo_error *err);

/* ---- projected out.c ---- */

/* Turns X so that what a projector projects out are its last columns; nothing without one, and
 * where it is not one of few orbitals. */
fmo_status fmo_scf_project_out(fmo_scf_state *s, const fmo_scf_input *in, fmo_error *err);
void fmo_scf_release_projected(fmo_scf_state *s);
/* F += P of what is projected out, both [m][m]. */
void fmo_scf_add_projected(fmo_scf_state *s, double *F);
/* M = F as it is for the others, zeros in the rows and columns of what is projected out; both
 * [m][m].
 * @return 0 if F does not lift them */
int fmo_scf_remove_projected(fmo_scf_state *s, const double *F, double *M);
/* Adds x to the diagonal elements of what is projected out. */
void fmo_scf_shift_projected(fmo_scf_state *s, double x, double *A);
/* From the density of the others to that of the F that was last taken apart, which is idempotent up
 * to the norm of Z squared. */
void fmo_scf_restore_projected(fmo_scf_state *s, double *D);
/* Tr D P of the density of the state and what is projected out, hartree: of small numbers, where
 * elements of D and P in the AOs would leave the difference of large ones. */
double fmo_scf_projected_energy(fmo_scf_state *s);

/* ---- solve.c ---- */

/* A Fock matrix in the orthogonal functions, P of what is projected out added. */
void fmo_scf_fock_to_orthogonal(fmo_scf_state *s, const double *F, double *out);
/* out = X^T A X: from [n][n] to [m][m], symmetric. */
void fmo_scf_to_orthogonal(fmo_scf_state *s, const double *A, double *out);
/* out = X A X^T: back again, symmetric to the last bit. */
void fmo_scf_from_orthogonal(fmo_scf_state *s, const double *A, double *out);

/* The density of the lowest orbitals of a Fock matrix, both [m][m]; overwrites work and work2, and
 * fock_o when it diagonalises. */
void fmo_scf_solve(fmo_scf_state *s, double *fock_o, double *density_o);

/* Canonical orbitals of the last Fock matrix, neither extrapolated nor shifted. */
void fmo_scf_canonical_orbitals(fmo_scf_state *s);

/* ---- build.c ---- */

/* J - K/2 of a density [n][n] into out; overwrites coulomb and exchange. In GPU memory it is NaN
 * where the elements of the density are larger than the plan expects. */
void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out);
/* After such a build: gets the plan ready for this density. @return 0 if that was not the cause */
int fmo_scf_fit_plan(fmo_scf_state *s, const double *density);

/* G of the density, of a change that is added to G of before, or as it is there. */
typedef enum fmo_scf_how { FMO_SCF_FULL, FMO_SCF_CHANGE, FMO_SCF_KNOWN } fmo_scf_how;

/* F of the density, and its energy. */
double fmo_scf_build(fmo_scf_state *s, fmo_scf_how how);

/* ---- iterate.c ---- */

/* Cycles until convergence or `max_cycles` in all; the density of the state is the first.
 * ediis: EDIIS from the start. FMO_OK, also when it does not converge; FMO_ERR_CHECK after a number
 * that is none. Errors of the backend are left to the caller. */
fmo_status fmo_scf_converge(fmo_scf_state *s, const fmo_scf_options *o, int ediis,
                            fmo_scf_result *r, fmo_error *err);

/* ---- stability.c ---- */

/* Lowest eigenvalue of the real singlet orbital Hessian A + B at the orbitals of the state, and
 * its direction as a matrix [m - occupied][occupied] (virtual, occupied; of norm 1) in `direction`,
 * an array of the backend. NaN without virtual orbitals. */
double fmo_scf_hessian_lowest(fmo_scf_state *s, double *direction);

/* ---- descent.c ---- */

/* Checks the converged state; where it is unstable and that is wanted, goes down from there. */
fmo_status fmo_scf_stabilise(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                             fmo_error *err);

/* ---- result.c ---- */

fmo_scf_result *fmo_scf_new_result(int nao); /* NULL without memory */
/* What the plan knows of its last build, and what auto chose. */
void fmo_scf_take_profile(const fmo_scf_state *s, fmo_scf_result *r);
/* Orbitals, matrices, energies of field and projector, and profile of the last state. */
void fmo_scf_collect(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                     fmo_scf_result *r);
/* sum_ij D_ij M_ij of so many elements; 0 without M. */
double fmo_scf_expectation(size_t size, const double *density, const double *M);
void fmo_scf_give_verdict(const fmo_scf_options *o, fmo_scf_result *r);
/* Converged, and unstable though a stable solution was asked for. */
int fmo_scf_stays_unstable(const fmo_scf_options *o, const fmo_scf_result *r);

#endif
