/* The inside of a Fock plan, and what a mode has to provide. */
#ifndef FMO_PLAN_H
#define FMO_PLAN_H

#include <fmo/fock.h>
#include "integrals/pairs/shell_pair.h"

/* Primitive pairs whose Schwarz bound times the molecule's largest is below this share of the
 * cutoff are pruned, for densities up to FMO_PRUNE_DENSITY; larger ones make the plan prune again.
 * Chosen by tests/accumulate_accuracy (docs/accuracy.md). */
#define FMO_PRUNE_SHARE   1e-3
#define FMO_PRUNE_DENSITY 8.0

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_mode_implementation {
    /* Called once; may put its state into plan->state. */
    fmo_status (*prepare)(fmo_fock_plan *plan, fmo_error *err);
    /* host_matrices: plan->density -> plan->coulomb, plan->exchange, which are X^J and X^K of
     * digest.h in internal order, zero on entry; the plan does the rest. Otherwise: the caller's
     * density -> J and K in the caller's order in plan->coulomb, plan->exchange. */
    fmo_status (*build)(fmo_fock_plan *plan, const double *density, fmo_error *err);
    /* After a build with options.measure_...: fills seconds and compute_seconds by class. */
    fmo_status (*measure)(fmo_fock_plan *plan, fmo_error *err);
    /* GPU pointers, queued on the plan's stream; NULL where the mode has no such form. */
    fmo_status (*build_device)(fmo_fock_plan *plan, const double *density, double *coulomb,
                               double *exchange, fmo_error *err);
    /* The pairs were made again. */
    fmo_status (*new_pairs)(fmo_fock_plan *plan, fmo_error *err);
    void (*release)(fmo_fock_plan *plan);
    /* `build` in two steps, so that builds of several plans, all different, run at once: start only
     * queues, finish waits for one and writes J and K in the caller's order. NULL where the mode
     * has no such form. */
    fmo_status (*start)(const fmo_fock_job *jobs, size_t count, fmo_error *err);
    fmo_status (*finish)(fmo_fock_plan *plan, double *coulomb, double *exchange, fmo_error *err);
    /* build_device of many plans of this mode. */
    fmo_status (*batch_device)(const fmo_fock_job *jobs, size_t count, fmo_error *err);
    int needs_pairs, host_matrices;
    int sp_pairs; /* the pairs are to be sp pairs (shell_pair.h) */
    /* Adds what a build takes on top of the plan; NULL where the mode cannot tell. */
    void (*workspace)(const fmo_fock_plan *plan, fmo_fock_memory *memory);
} fmo_mode_implementation;

extern const fmo_mode_implementation fmo_mode_cpu;
extern const fmo_mode_implementation fmo_mode_reference;

/* Quartets of a class before any screening, pairs without primitives included. */
int64_t fmo_plan_quartets(const fmo_fock_plan *plan, fmo_eri_class eri_class);

struct fmo_fock_plan {
    fmo_basis *basis;
    fmo_fock_options options;
    const fmo_mode_implementation *mode;
    void *state;               /* of the mode */
    struct fmo_gpu_state *gpu; /* of the modes that use a GPU */
    fmo_shell_pairs pairs;
    int in_batch;         /* made by fmo_fock_plan_create_batch */
    size_t round;         /* of the running batch, in which it had a job */
    double density_limit; /* pairs are pruned for |D| up to this */
    /* In internal order, [nao][nao]. */
    double *density, *coulomb, *exchange;
    double *density_max; /* [nshell][nshell] block maxima of |D| */
    double *row_max;     /* [nshell] maximum of a row of density_max */
    double density_largest;
    int scatter_open; /* auto chose by structure and has not seen a build's duplication yet */
    int built;
    double begun;                /* when the last build was */
    const fmo_fock_job *running; /* of a batch, not finished, perhaps not started; NULL: none */
    fmo_fock_profile profile;
};

/* Seconds on a monotonic clock. */
double fmo_now(void);

/* Calls the progress callback, if there is one. */
void fmo_plan_progress(const fmo_fock_plan *plan, double fraction);

/* Bytes of host memory that a build may take: options.memory, else what the system has free. */
size_t fmo_plan_memory(const fmo_fock_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
