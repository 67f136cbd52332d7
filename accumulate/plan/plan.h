/* Internals of a Fock plan, and the functions that a mode implements. The public interface is
 * fmo/fock.h; each section below names the file that implements it. */
#ifndef FMO_PLAN_H
#define FMO_PLAN_H

#include <fmo/fock.h>
#include "accumulate/rules/digest.h"
#include "accumulate/tuning.h"
#include "accumulate/work/work.h"
#include "base/clock.h"
#include "integrals/pairs/shell_pair.h"

/* Primitive pairs are pruned if their Schwarz bound times the molecule's largest is below this
 * share of the cutoff, for density elements up to FMO_PRUNE_DENSITY; for larger ones the pairs are
 * made again. Chosen by tests/accumulate_accuracy (docs/explanation/accuracy.md). */
#define FMO_PRUNE_SHARE   1e-3
#define FMO_PRUNE_DENSITY 8.0

#ifdef __cplusplus
extern "C" {
#endif

/* How a group of builds is started. */
typedef struct fmo_start {
    int on_device; /* 1: matrices are in GPU memory, nothing is copied back; 0: they are in host
                      memory, and `finish` follows */
    /* on_device: the plan with whose stream the builds synchronise, before and after; marked is 1
     * once the initial state of that stream has been recorded in an event. */
    fmo_fock_plan *lead;
    int marked;
} fmo_start;

/* Largest number of densities of one plan that are built together. */
enum { FMO_PLAN_DENSITIES_MAX = fmo_tuning_plan_densities };

/* Largest number of jobs that a mode with `start` builds in one pass with another one. */
enum { FMO_PLAN_COMPANIONS_MAX = 3 };

/* Matrices for modes with `build`, in internal order. Matrices of several densities are stored
 * consecutively; block maxima are those over all densities. A job's density is one of them, or if K
 * of a general density is requested two: its symmetric part, then its antisymmetric part. K of
 * either is computed by the same terms (rules/digest.h); with X^K of the antisymmetric part, K =
 * X^K - X^K^T. */
typedef struct fmo_plan_matrices {
    int capacity;  /* densities for which memory is allocated */
    int num;       /* densities of the running build */
    int requested; /* matrices it computes: FMO_TERMS_... */
    fmo_operator coulomb_operator, exchange_operator;
    const double *given; /* the caller's first density, which mode split reads */
    signed char part[FMO_PLAN_DENSITIES_MAX]; /* of each density: FMO_SYMMETRIC_PART ... */
    double *density, *coulomb, *exchange;     /* [num][n][n], n = function_num of the basis */
    double *density_max;                      /* [nshell][nshell] block maxima of |D| */
    double *row_max;                          /* [nshell] row maxima of density_max */
    /* With ranks and `fixed`: coulomb and exchange contain int64_t in these units; else 0. */
    double coulomb_unit, exchange_unit;
} fmo_plan_matrices;

/* Largest number of plans of a batch that are made together. */
enum { FMO_PLANS_TOGETHER = fmo_tuning_plans_together };

/* Functions of a mode. A mode has either `build`, or `start`, `finish` and `copy_result`. */
typedef struct fmo_mode_implementation {
    /* Called once for a plan; may allocate plan->state. */
    fmo_status (*prepare)(fmo_fock_plan *plan, fmo_error *err);
    /* Called after the pairs have been made again. */
    fmo_status (*new_pairs)(fmo_fock_plan *plan, fmo_error *err);
    void (*release)(fmo_fock_plan *plan);
    /* Adds the memory that a build needs beyond the plan; NULL if the mode has no estimate. */
    void (*workspace)(const fmo_fock_plan *plan, fmo_fock_memory *memory);

    /* From the densities of plan->matrices, adds the requested X^J and X^K (rules/digest.h), which
     * are zero on entry; plan/build.c does the rest. With a source, the densities are those in the
     * source's matrices. */
    fmo_status (*build)(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err);
    /* Number of densities that `build` takes together, up to FMO_PLAN_DENSITIES_MAX; NULL: one. */
    int (*densities)(const fmo_fock_plan *plan);

    /* Queues builds of different plans of this mode. */
    fmo_status (*start)(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                        fmo_error *err);
    /* Waits for a build that was started with matrices in host memory, and fills the profile. */
    fmo_status (*finish)(fmo_fock_plan *plan, fmo_error *err);
    /* Copies J and K of a job of the finished build, by its number there, to the caller, in the
     * caller's order. */
    void (*copy_result)(const fmo_fock_plan *plan, int job, double *coulomb, double *exchange);
    /* Modes with `start`: whether jobs of a plan, the first of which is started with the others in
     * plan->also, can be built in one pass: 0: no; 1: yes, but that saves nothing; 2: it saves
     * time. alone: no other plan has jobs in this call. NULL: they are built one by one. */
    int (*shares_pass)(const fmo_fock_job *const *jobs, int num, int alone);
    /* After a build with options.measure_...: fills seconds and compute_seconds of the classes. */
    fmo_status (*measure)(fmo_fock_plan *plan, fmo_error *err);

    /* Called when the plans of the other GPUs (options.devices) are complete, and again after
     * new_pairs. NULL: the mode uses only one GPU. */
    fmo_status (*join)(fmo_fock_plan *plan, fmo_error *err);

    int needs_pairs;
    int takes_symmetries; /* 1: takes densities that are not symmetric */
    int takes_operators;  /* FMO_TERMS_...: matrices that it computes of other operators too */
    int takes_source;     /* 1: can build J of another plan's density (fmo_fock_job.source) */
    int makes_pairs; /* 1: makes the sp pairs itself; the plan has no lists of them (shell_pair.h)
                      */
    /* `prepare` for up to FMO_PLANS_TOGETHER plans on one GPU; errs[k] is the result for plan k.
     * NULL: they are prepared one by one. */
    void (*prepare_some)(fmo_fock_plan *const *plans, int num, fmo_error *errs);
} fmo_mode_implementation;

extern const fmo_mode_implementation fmo_mode_cpu;
extern const fmo_mode_implementation fmo_mode_reference;

/* State of a plan that is shared with other ranks (plan/ranks.h). */
typedef struct fmo_plan_ranks {
    fmo_ranks *ranks; /* NULL: builds are not shared */
    int64_t number;   /* number of the plan, the same on all ranks */
    int pieces;       /* approximate number of pieces into which mode cpu cuts the work; 0: fixed
                         share */
    /* Hash of the list of pieces of work; it must be the same on all ranks. */
    uint64_t fingerprint;
    double *density;            /* [nao][nao]; NULL on rank 0 */
    double *coulomb, *exchange; /* [nao][nao], for modes with `start` */
} fmo_plan_ranks;

/* Describes one of several plans that share the work; {.shares = 1}: a plan that does all of it. */
typedef struct fmo_plan_share {
    int share, shares; /* a fixed share; share 0 of 0 or 1: all */
    fmo_ranks *ranks;
    int64_t number;
    int pieces;
    const fmo_fock_plan *lead; /* the plan whose pairs are used; NULL: the plan makes its own */
} fmo_plan_share;

/* Plans of the same basis on other GPUs, with the other shares of the work. */
typedef struct fmo_plan_others {
    int num;
    fmo_fock_plan *plan[FMO_DEVICES_MAX - 1];
} fmo_plan_others;

struct fmo_fock_plan {
    fmo_basis *basis;
    fmo_fock_options options;
    const fmo_mode_implementation *mode;
    void *state;               /* of the mode */
    struct fmo_gpu_state *gpu; /* of modes that use a GPU */
    fmo_shell_pairs pairs;
    const fmo_fock_plan *lead; /* the plan that owns the pairs; NULL: this plan */
    fmo_plan_others others;
    int in_batch;          /* 1: made by fmo_fock_plan_create_batch */
    int share, shares;     /* builds do this share of all work; 0 of 1: all */
    fmo_plan_ranks shared; /* state shared with other ranks */
    double coulomb_weight; /* weight of J in screening (rules/weight.h) */
    double density_limit;  /* pairs are pruned for |D| up to this (normalised functions) */
    double density_largest;
    fmo_plan_matrices matrices; /* for modes with `build` */
    int scatter_open;           /* 1: auto chose the strategy by structure, before a build measured
                                   duplication */
    int built;
    double begun;          /* start time of the last build */
    int in_use;            /* 1: a call uses the plan; set and tested atomically */
    const void *batch;     /* the fmo_fock_build_batch call that uses it, or NULL */
    size_t round;          /* last round of that call with a job of this plan */
    size_t last_job;       /* last job of this plan found by that call */
    fmo_fock_job *running; /* started but not finished; NULL: none */
    /* jobs that are built in one pass with the one that is started or running */
    fmo_fock_job *also[FMO_PLAN_COMPANIONS_MAX];
    int also_num;
    fmo_fock_profile profile;
    double cutoff; /* of builds: options.cutoff or larger */
};

/* ---- options.c ---- */

/* Checks the options of a plan: FMO_OK or FMO_ERR_ARGUMENT. */
fmo_status fmo_options_check(const fmo_fock_options *options, fmo_error *err);

/* ---- options.c: modes ---- */

/* Sets plan->mode and adapts plan->options to it; rejects unsupported combinations. */
fmo_status fmo_plan_choose_mode(fmo_fock_plan *plan, const fmo_basis *basis, fmo_error *err);

/* Returns the lowest angular momentum in the basis that not all GPU kernels support, or -1. Only
 * mode fused supports such shells, with some of its options. */
int fmo_plan_high_l_shell(const fmo_basis *basis);

/* ---- create.c ---- */

/* Makes a plan whose builds do one of `shares` shares of the work (work/work.h); J and K of all
 * shares add up to those of a whole plan. For modes that execute a list of tasks. */
fmo_status fmo_plan_create_share(const fmo_basis *basis, const fmo_fock_options *options, int share,
                                 int shares, fmo_fock_plan **plan, fmo_error *err);

/* ---- plan.c: what creation, builds and modes use; it calls them only through plan->mode ---- */

/* Makes the plan's list of tasks for pair lists of these sizes: all work, or the plan's share, or
 * all of it cut into pieces. steps: 1 if the executor supports a step between bras; shares are then
 * those of fmo_work_every. */
fmo_status fmo_plan_make_work(const fmo_fock_plan *plan, const fmo_work_size *size, int steps,
                              fmo_work *work, fmo_error *err);

/* Bytes of one matrix (density, J or K) in the caller's order. */
static inline size_t fmo_plan_matrix_bytes(const fmo_fock_plan *plan)
{
    return (size_t)plan->basis->ao_num * (size_t)plan->basis->ao_num * sizeof(double);
}

/* Appends to profile.notice, unless the text is already in it. */
void fmo_plan_note(fmo_fock_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Calls the progress callback, if there is one. */
void fmo_plan_progress(const fmo_fock_plan *plan, double fraction);

/* Bytes of host memory that a build may use: options.memory, else the free memory. */
size_t fmo_plan_memory(const fmo_fock_plan *plan);

/* Number of quartets of a class before screening, including pairs whose primitives were pruned. */
int64_t fmo_plan_quartets(const fmo_fock_plan *plan, fmo_eri_class eri_class);

/* Makes the pairs for densities with elements up to `largest`. Called again only if a density is
 * larger than all before. */
fmo_status fmo_plan_make_pairs(fmo_fock_plan *plan, double largest, fmo_error *err);

/* Shares the lead plan's pairs and their density limit. */
void fmo_plan_take_pairs(fmo_fock_plan *plan, const fmo_fock_plan *lead);

/* Reserves a plan for a call. Returns 0 if another call uses it. */
static inline int fmo_plan_enter(fmo_fock_plan *plan)
{
    return !__atomic_exchange_n(&plan->in_use, 1, __ATOMIC_ACQUIRE);
}
static inline void fmo_plan_leave(fmo_fock_plan *plan)
{
    __atomic_store_n(&plan->in_use, 0, __ATOMIC_RELEASE);
}

/* Allocates the matrices for that many densities. Returns 0 if there is no memory. */
int fmo_plan_make_matrices(fmo_fock_plan *plan, int densities);

/* ---- build.c: the steps of fmo_fock_build ---- */

/* Matrices that a job computes: FMO_TERMS_... */
static inline int fmo_build_requested(const fmo_fock_job *job)
{
    return (job->coulomb ? FMO_TERMS_J : 0) | (job->exchange ? FMO_TERMS_K : 0);
}
/* Number of densities in plan->matrices that a job takes. */
static inline int fmo_build_parts(const fmo_fock_job *job)
{
    return job->symmetry == FMO_GENERAL && job->exchange ? 2 : 1;
}
/* The plan in whose functions the job's density is: the source, or the plan itself. */
static inline fmo_fock_plan *fmo_build_owner(const fmo_fock_job *job)
{
    return job->source ? job->source : job->plan;
}
/* Returns 1 if two jobs of a plan can be built together: they compute the same matrices. */
int fmo_build_alike(const fmo_fock_job *a, const fmo_fock_job *b);
/* Checks the symmetry and the operators that a job specifies, and that the plan can use them. */
fmo_status fmo_build_check_request(const fmo_fock_job *job, fmo_error *err);
/* Copies a matrix, by several of the plan's threads if it is large. */
void fmo_plan_copy(const fmo_fock_plan *plan, void *to, const void *from, size_t bytes);
/* Checks that a job's density is finite and as symmetric as it should be. *largest: largest element
 * of the density of normalised functions, which those in internal functions do not exceed. */
fmo_status fmo_build_check(const fmo_fock_job *job, double *largest, fmo_error *err);
/* Prepares a build of `num` jobs of one plan that compute the same matrices, with checked densities
 * of elements up to `largest`. */
fmo_status fmo_build_begin(const fmo_fock_job *const *jobs, int num, double largest,
                           fmo_error *err);
/* Copies J and K to the caller: the only step that writes the caller's matrices. */
void fmo_build_end(const fmo_fock_job *const *jobs, int num);
/* Runs a whole build; modes with `start` take one job. */
fmo_status fmo_build(const fmo_fock_job *const *jobs, int num, double largest, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
