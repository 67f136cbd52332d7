/* The inside of a Fock plan, and what a mode has to provide. */
#ifndef FMO_PLAN_H
#define FMO_PLAN_H

#include <fmo/fock.h>
#include "accumulate/work/work.h"
#include "integrals/pairs/shell_pair.h"

/* Primitive pairs whose Schwarz bound times the molecule's largest is below this share of the
 * cutoff are pruned, for densities up to FMO_PRUNE_DENSITY; larger ones make the plan prune again.
 * Chosen by tests/accumulate_accuracy (docs/accuracy.md). */
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

/* A mode has `build`, or `start` with what belongs to it. */
typedef struct fmo_mode_implementation {
    /* Called once; may put its state into plan->state. */
    fmo_status (*prepare)(fmo_fock_plan *plan, fmo_error *err);
    /* The pairs were made again. */
    fmo_status (*new_pairs)(fmo_fock_plan *plan, fmo_error *err);
    void (*release)(fmo_fock_plan *plan);
    /* Adds what a build takes on top of the plan; NULL where the mode cannot tell. */
    void (*workspace)(const fmo_fock_plan *plan, fmo_fock_memory *memory);

    /* plan->density (`density` is the caller's) -> plan->coulomb, plan->exchange, which are X^J and
     * X^K of digest.h in internal order, zero on entry; the plan does the rest. */
    fmo_status (*build)(fmo_fock_plan *plan, const double *density, fmo_error *err);

    /* Queues builds of plans of this mode, all different. */
    fmo_status (*start)(fmo_fock_job *const *jobs, size_t count, fmo_start *how, fmo_error *err);
    /* Waits for a build that was started with matrices of the host, and fills in the profile. */
    fmo_status (*finish)(fmo_fock_plan *plan, fmo_error *err);
    /* J and K of the finished build, in the caller's order. */
    void (*give)(const fmo_fock_plan *plan, double *coulomb, double *exchange);
    /* After a build with options.measure_...: fills seconds and compute_seconds by class. */
    fmo_status (*measure)(fmo_fock_plan *plan, fmo_error *err);

    int needs_pairs;
    int sp_pairs; /* the pairs are to be sp pairs (shell_pair.h) */
} fmo_mode_implementation;

extern const fmo_mode_implementation fmo_mode_cpu;
extern const fmo_mode_implementation fmo_mode_reference;

struct fmo_fock_plan {
    fmo_basis *basis;
    fmo_fock_options options;
    const fmo_mode_implementation *mode;
    void *state;               /* of the mode */
    struct fmo_gpu_state *gpu; /* of the modes that use a GPU */
    fmo_shell_pairs pairs;
    int in_batch;          /* made by fmo_fock_plan_create_batch */
    int share, shares;     /* of all work, what builds do: share 0 of 1 is all of it */
    double coulomb_weight; /* of J in the screening rule (rules/weight.h) */
    double density_limit;  /* pairs are pruned for |D| up to this */
    double density_largest;
    /* Of modes with `build`, in internal order, [nao][nao]. */
    double *density, *coulomb, *exchange;
    double *density_max; /* [nshell][nshell] block maxima of |D| */
    double *row_max;     /* [nshell] maximum of a row of density_max */
    int scatter_open;    /* auto chose by structure and has not seen a build's duplication yet */
    int built;
    double begun;          /* when the last build was */
    int in_use;            /* some call works with the plan; set and tested atomically */
    const void *batch;     /* the call of fmo_fock_build_batch that does */
    size_t round;          /* of that call, in which the plan had a job */
    fmo_fock_job *running; /* started, not finished; NULL: none */
    fmo_fock_profile profile;
};

/* ---- options.c ---- */

/* FMO_OK or FMO_ERR_ARGUMENT. */
fmo_status fmo_options_check(const fmo_fock_options *options, fmo_error *err);

/* ---- plan.c ---- */

/* A plan whose builds do one of `shares` shares of the work (work/work.h): the J and K of all
 * shares add up to those of a whole plan. For modes that go through a list of tasks. */
fmo_status fmo_plan_create_share(const fmo_basis *basis, const fmo_fock_options *options, int share,
                                 int shares, fmo_fock_plan **plan, fmo_error *err);

/* The plan's work: all of what lists of these sizes have, or its share of it. */
fmo_status fmo_plan_make_work(const fmo_fock_plan *plan, const fmo_work_size *size, fmo_work *work,
                              fmo_error *err);

/* Seconds on a monotonic clock. */
double fmo_now(void);

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

/* ---- build.c: the steps of fmo_fock_build ---- */

/* Checks the density and gets the plan ready for it. */
fmo_status fmo_build_begin(fmo_fock_plan *plan, const double *density, fmo_error *err);
/* Hands J and K over: the only step that writes them. */
void fmo_build_end(fmo_fock_plan *plan, double *coulomb, double *exchange);

#ifdef __cplusplus
}
#endif
#endif
