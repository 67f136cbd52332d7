/* The inside of a Fock plan, and what a mode has to provide. */
#ifndef FMO_PLAN_H
#define FMO_PLAN_H

#include <fmo/fock.h>
#include "integrals/shell_pair.h"

/* Primitive pairs whose Schwarz bound times the molecule's largest is below this share of the
 * cutoff are pruned, for densities up to FMO_PRUNE_DENSITY; larger ones make the plan prune again.
 * Chosen by tests/accumulate_accuracy (docs/accuracy.md). */
#define FMO_PRUNE_SHARE   1e-3
#define FMO_PRUNE_DENSITY 8.0

typedef struct fmo_mode_implementation {
    /* Called once; may put its state into plan->state. */
    fmo_status (*prepare)(fmo_fock_plan *plan, fmo_error *err);
    /* plan->density -> plan->coulomb, plan->exchange: X^J and X^K of digest.h, zero on entry. */
    fmo_status (*build)(fmo_fock_plan *plan, fmo_error *err);
    void (*release)(fmo_fock_plan *plan);
    int needs_pairs;
} fmo_mode_implementation;

extern const fmo_mode_implementation fmo_mode_cpu;
extern const fmo_mode_implementation fmo_mode_reference;

struct fmo_fock_plan {
    fmo_basis *basis;
    fmo_fock_options options;
    const fmo_mode_implementation *mode;
    void *state;
    fmo_shell_pairs pairs;
    double density_limit; /* pairs are pruned for |D| up to this */
    /* In internal order, [nao][nao]. */
    double *density, *coulomb, *exchange;
    double *density_max; /* [nshell][nshell] block maxima of |D| */
    double *row_max;     /* [nshell] maximum of a row of density_max */
    double density_largest;
    int built;
    fmo_fock_profile profile;
};

/* Seconds on a monotonic clock. */
double fmo_now(void);

/* Calls the progress callback, if there is one. */
void fmo_plan_progress(const fmo_fock_plan *plan, double fraction);

/* Bytes of host memory that a build may take: options.memory, else what the system has free. */
size_t fmo_plan_memory(const fmo_fock_plan *plan);

#endif
