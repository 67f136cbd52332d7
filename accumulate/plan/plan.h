/* The inside of a Fock plan, and what a mode has to provide. */
#ifndef FMO_PLAN_H
#define FMO_PLAN_H

#include <fmo/fock.h>
#include "accumulate/work/work.h"
#include "integrals/pairs/shell_pair.h"

/* Primitive pairs whose Schwarz bound times the molecule's largest is below this share of the
 * cutoff are pruned, for densities up to FMO_PRUNE_DENSITY; larger ones make the plan prune again.
 * Chosen by tests/accumulate_accuracy (docs/explanation/accuracy.md). */
#define FMO_PRUNE_SHARE   1e-3
#define FMO_PRUNE_DENSITY 8.0

#ifdef __cplusplus
extern "C" {
#endif

/* Where the matrices of builds that are started together are. */
typedef struct fmo_start {
    int on_device; /* in GPU memory, nothing comes back; else of the host, and `finish` follows */
    /* on_device: the plan whose stream the work comes after, and which comes after the work; marked
     * once that stream's state at the beginning has been recorded. */
    fmo_fock_plan *lead;
    int marked;
} fmo_start;

/* Densities of one plan that are built together, at most. */
enum { FMO_PLAN_DENSITIES_MAX = 8 };

/* What modes with `build` work with, in internal order. Matrices of several densities stand one
 * behind the other, what screening wants to know is that of all of them. */
typedef struct fmo_plan_matrices {
    int capacity;                         /* densities that there is memory for */
    int num;                              /* of the running build */
    int wanted;                           /* of it: FMO_TERMS_... */
    const double *given;                  /* its first density as the caller has it */
    double *density, *coulomb, *exchange; /* [num][n][n], n = function_num of the basis */
    double *density_max;                  /* [nshell][nshell] block maxima of |D| */
    double *row_max;                      /* [nshell] maximum of a row of density_max */
    /* With ranks and `fixed`: coulomb and exchange are int64_t, in these units; else 0. */
    double coulomb_unit, exchange_unit;
} fmo_plan_matrices;

/* Plans of a batch that are made together, at most. */
enum { FMO_PLANS_TOGETHER = 64 };

/* A mode has `build`, or `start` with what belongs to it. */
typedef struct fmo_mode_implementation {
    /* Called once; may put its state into plan->state. */
    fmo_status (*prepare)(fmo_fock_plan *plan, fmo_error *err);
    /* The pairs were made again. */
    fmo_status (*new_pairs)(fmo_fock_plan *plan, fmo_error *err);
    void (*release)(fmo_fock_plan *plan);
    /* Adds what a build takes on top of the plan; NULL where the mode cannot tell. */
    void (*workspace)(const fmo_fock_plan *plan, fmo_fock_memory *memory);

    /* plan->matrices: densities -> X^J and X^K of digest.h, zero on entry, as far as they are
     * wanted; the plan does the rest. With a source the densities are the source's, in its own
     * matrices. */
    fmo_status (*build)(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err);
    /* Densities that `build` takes at a time, up to FMO_PLAN_DENSITIES_MAX; NULL: one. */
    int (*densities)(const fmo_fock_plan *plan);

    /* Queues builds of plans of this mode, all different. */
    fmo_status (*start)(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                        fmo_error *err);
    /* Waits for a build that was started with matrices of the host, and fills in the profile. */
    fmo_status (*finish)(fmo_fock_plan *plan, fmo_error *err);
    /* J and K of the finished build, in the caller's order. */
    void (*give)(const fmo_fock_plan *plan, double *coulomb, double *exchange);
    /* After a build with options.measure_...: fills seconds and compute_seconds by class. */
    fmo_status (*measure)(fmo_fock_plan *plan, fmo_error *err);

    /* The plans of the other GPUs are there (options.devices); called again after new_pairs. NULL:
     * the mode is of one GPU. */
    fmo_status (*join)(fmo_fock_plan *plan, fmo_error *err);

    int needs_pairs;
    int takes_source; /* J of another plan's density (fmo_fock_job.source) */
    int makes_pairs;  /* sp pairs, by itself: the plan has no lists of them (shell_pair.h) */
    /* `prepare` of plans on one GPU together, up to FMO_PLANS_TOGETHER; errs[k]: what came of plan
     * k. NULL: one by one. */
    void (*prepare_some)(fmo_fock_plan *const *plans, int num, fmo_error *errs);
} fmo_mode_implementation;

extern const fmo_mode_implementation fmo_mode_cpu;
extern const fmo_mode_implementation fmo_mode_reference;

/* What a plan has to do with other ranks (plan/shared.c). */
typedef struct fmo_plan_ranks {
    fmo_ranks *ranks; /* NULL: builds are not shared */
    int64_t number;   /* of the plan, the same on all ranks */
    int pieces;       /* that mode cpu cuts the work into, about; 0: the plan has a fixed share */
    /* Of the work's pieces and what they are numbers of: the same on all ranks, or they cannot
     * share it. */
    uint64_t fingerprint;
    double *density;            /* [nao][nao]; NULL on rank 0 */
    double *coulomb, *exchange; /* [nao][nao] of modes that `start` builds */
} fmo_plan_ranks;

/* A plan that is one of several, each with a part of the work; all 0: a plan with all of it. */
typedef struct fmo_plan_share {
    int share, shares; /* a fixed share; 0 of 0 or 1: all */
    fmo_ranks *ranks;
    int64_t number;
    int pieces;
    const fmo_fock_plan *lead; /* whose pairs are the plan's, too; NULL: it makes its own */
} fmo_plan_share;

/* Plans like this one on other GPUs, with the other shares of the work. */
typedef struct fmo_plan_others {
    int num;
    fmo_fock_plan *plan[FMO_DEVICES_MAX - 1];
} fmo_plan_others;

struct fmo_fock_plan {
    fmo_basis *basis;
    fmo_fock_options options;
    const fmo_mode_implementation *mode;
    void *state;               /* of the mode */
    struct fmo_gpu_state *gpu; /* of the modes that use a GPU */
    fmo_shell_pairs pairs;
    const fmo_fock_plan *lead; /* who frees them, if it is not this plan */
    fmo_plan_others others;
    int in_batch;          /* made by fmo_fock_plan_create_batch */
    int share, shares;     /* of all work, what builds do: share 0 of 1 is all of it */
    fmo_plan_ranks shared; /* with other ranks */
    double coulomb_weight; /* of J in the screening rule (rules/weight.h) */
    double density_limit;  /* pairs are pruned for |D| of normalised functions up to this */
    double density_largest;
    fmo_plan_matrices matrices; /* of modes with `build` */
    int scatter_open; /* auto chose by structure and has not seen a build's duplication yet */
    int built;
    double begun;          /* when the last build was */
    int in_use;            /* some call works with the plan; set and tested atomically */
    const void *batch;     /* the call of fmo_fock_build_batch that does */
    size_t round;          /* of that call, in which the plan had a job */
    size_t last_job;       /* of that call, of this plan */
    fmo_fock_job *running; /* started, not finished; NULL: none */
    fmo_fock_profile profile;
    double cutoff; /* of builds: options.cutoff or larger */
};

/* ---- options.c ---- */

/* FMO_OK or FMO_ERR_ARGUMENT. */
/* Whether a network can be used: FMO_OK, or FMO_ERR_ARGUMENT. */
fmo_status fmo_ranks_check(const fmo_ranks *ranks, fmo_error *err);
fmo_status fmo_options_check(const fmo_fock_options *options, fmo_error *err);

/* ---- mode.c ---- */

/* plan->mode and what of plan->options goes with it; refuses what does not. */
fmo_status fmo_plan_choose_mode(fmo_fock_plan *plan, const fmo_basis *basis, fmo_error *err);

/* The lightest kind of shell of a basis beyond those that all kernels of a GPU know, or -1. Such
 * shells are for mode fused, and what else is asked for has to go with them. */
int fmo_plan_high_l_shell(const fmo_basis *basis);

/* ---- plan.c ---- */

/* A plan whose builds do one of `shares` shares of the work (work/work.h): the J and K of all
 * shares add up to those of a whole plan. For modes that go through a list of tasks. */
fmo_status fmo_plan_create_share(const fmo_basis *basis, const fmo_fock_options *options, int share,
                                 int shares, fmo_fock_plan **plan, fmo_error *err);

/* One of several plans that together do the work. */
fmo_status fmo_plan_create_shared(const fmo_basis *basis, const fmo_fock_options *options,
                                  const fmo_plan_share *part, fmo_fock_plan **plan, fmo_error *err);

/* The plan's work: all of what lists of these sizes have, or its share of it, or all in pieces.
 * steps: the executor takes steps between bras, so that shares are those of fmo_work_every. */
fmo_status fmo_plan_make_work(const fmo_fock_plan *plan, const fmo_work_size *size, int steps,
                              fmo_work *work, fmo_error *err);

/* Bytes of the density, J or K of a plan. */
size_t fmo_plan_matrix_bytes(const fmo_fock_plan *plan);

/* Seconds on a monotonic clock. */
double fmo_now(void);

/* Adds to profile.notice, unless it is there already. */
void fmo_plan_note(fmo_fock_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Calls the progress callback, if there is one. */
void fmo_plan_progress(const fmo_fock_plan *plan, double fraction);

/* Bytes of host memory that a build may take: options.memory, else what the system has free. */
size_t fmo_plan_memory(const fmo_fock_plan *plan);

/* Quartets of a class before any screening, pairs without primitives included. */
int64_t fmo_plan_quartets(const fmo_fock_plan *plan, fmo_eri_class eri_class);

/* Pairs for densities up to `largest`; made again only when a density is larger than any before. */
fmo_status fmo_plan_make_pairs(fmo_fock_plan *plan, double largest, fmo_error *err);

/* Takes a plan for a call: 0 if another has it. */
int fmo_plan_enter(fmo_fock_plan *plan);
void fmo_plan_leave(fmo_fock_plan *plan);

/* Memory for the matrices of so many densities; 0 without. */
int fmo_plan_make_matrices(fmo_fock_plan *plan, int densities);

/* ---- shared.c: plans and builds of several ranks; rank 0's calls ---- */

/* fmo_fock_plan_create with options->ranks. */
fmo_status fmo_shared_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                  fmo_fock_plan **plan, fmo_error *err);
/* Before a shared plan is destroyed. */
void fmo_shared_plan_release(const fmo_fock_plan *plan);
/* fmo_build of a shared plan, whose density is good. */
fmo_status fmo_shared_build(const fmo_fock_job *job, double largest, fmo_error *err);

/* ---- build.c: the steps of fmo_fock_build ---- */

/* What a job wants: FMO_TERMS_... */
int fmo_build_wanted(const fmo_fock_job *job);
/* The plan whose density a job has. */
fmo_fock_plan *fmo_build_owner(const fmo_fock_job *job);
/* Begins with a job: is its density finite and symmetric? Gives the largest element of the density
 * of normalised functions, which those over internal functions do not exceed. */
fmo_status fmo_build_check(const fmo_fock_job *job, double *largest, fmo_error *err);
/* Gets the plan ready for jobs of it that want the same, with densities that are good, of elements
 * up to `largest`. */
fmo_status fmo_build_begin(const fmo_fock_job *const *jobs, int num, double largest,
                           fmo_error *err);
/* The executor J and K over: the only step that writes them. */
void fmo_build_end(const fmo_fock_job *const *jobs, int num);
/* All of it; modes that `start` builds take one job. */
fmo_status fmo_build(const fmo_fock_job *const *jobs, int num, double largest, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
