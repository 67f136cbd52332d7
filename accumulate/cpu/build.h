/* What the files of a build of mode cpu share. Who calls whom: build.c -> job.c, deal.c, density.c,
 * memory.c, store.c, sums.c; job.c -> memory.c, sums.c; memory.c -> density.c, sums.c; deal.c ->
 * store.c. */
#ifndef FMO_CPU_BUILD_H
#define FMO_CPU_BUILD_H

#include "accumulate/cpu/kernel.h"

/* What decides how much memory a build takes. */
typedef struct fmo_cpu_shape {
    const fmo_fock_plan *plan;
    const fmo_cpu_pairs *pairs;  /* the plan's */
    const fmo_cpu_pairs *source; /* of which the density is; the same or another's */
    size_t source_shells;
    size_t densities;
    int exchange; /* K is wanted */
} fmo_cpu_shape;

/* ---- sums.c ---- */

/* Doubles in a set of sums: X^K, then X^J by pair class. */
size_t fmo_cpu_sums_size(const fmo_cpu_shape *s);
/* The plan's sums as those of both sides. */
fmo_cpu_sums fmo_cpu_sums_at(const fmo_cpu_shape *s, double *memory);

/* Powers of two by which sums become integers. Pairs, density and `row`, a number for each shell,
 * are those of the owner of the density. Without finite bounds there are no scales, and
 * FMO_ERR_INPUT. */
fmo_status fmo_cpu_set_scales(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                              const fmo_cpu_pairs *of_sums, double *row, fmo_cpu_adding *adding,
                              fmo_error *err);

/* own[0] += own[1] + ..., pairwise. */
void fmo_cpu_reduce_sums(double *const *own, int threads, size_t size, int fixed);
/* Adds X^J of far pairs. */
void fmo_cpu_add_far(const fmo_cpu_shape *s, const fmo_cpu_far_build *far,
                     const fmo_cpu_adding *adding, const fmo_cpu_sums *to);
/* Sums -> plan->matrices. */
void fmo_cpu_give_sums(fmo_fock_plan *plan, const fmo_cpu_shape *shape, const fmo_cpu_sums *sums,
                       const fmo_cpu_adding *adding);

/* ---- density.c ---- */

/* Doubles of the densities by pair and their maxima. */
size_t fmo_cpu_by_pair_size(const fmo_cpu_pairs *pairs, size_t densities);
/* A side with the plan's densities; they go to `memory`, by_pair_size of it. */
fmo_cpu_side fmo_cpu_side_with_density(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                                       int with_J, double *memory);
/* A side without: D is zero everywhere. `zeros` holds one density of the largest class. */
fmo_cpu_side fmo_cpu_side_without_density(const fmo_cpu_pairs *pairs, const double *zeros);

/* ---- memory.c ---- */

double *fmo_cpu_vector_alloc(size_t doubles);
/* Bytes of a worker's arrays, which lie in one piece of memory; NULL: just count. */
size_t fmo_cpu_worker_arrays(const fmo_cpu_shape *s, char *memory, fmo_cpu_worker *w);
/* How many threads and sets of sums there is memory for: fewer sets before fewer threads. */
fmo_status fmo_cpu_choose_copies(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err);
/* Of fmo_mode_implementation: */
int fmo_cpu_densities(const fmo_fock_plan *plan);
void fmo_cpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory);

/* ---- store.c ---- */

/* No density that the plan's pairs are good for has a larger density factor (screen.h). */
double fmo_cpu_store_factor(const fmo_fock_plan *plan);
/* Vectors that bra `bra` of a class will have in the store. */
size_t fmo_cpu_count_vectors(const fmo_fock_plan *plan, const fmo_cpu_state *s, int c, int bra);
/* Makes space for all integrals that can matter, if there is enough memory and they are wanted. */
fmo_status fmo_cpu_store_prepare(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err);
void fmo_cpu_store_free(fmo_cpu_state *s);

/* ---- deal.c ---- */

/* Of what pieces are numbers of, and where bits count, of what bits come from. */
uint64_t fmo_cpu_fingerprint(const fmo_fock_plan *plan, const fmo_cpu_state *s);
/* Leaves s->work the pieces of this rank. */
fmo_status fmo_cpu_deal_work(const fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err);

/* ---- job.c ---- */

/* A list of tasks, and what its bras and kets are. */
typedef struct fmo_cpu_workload {
    const fmo_work *work;
    fmo_cpu_build build;
    int adds[2]; /* whether the sums of each side are the plan's */
} fmo_cpu_workload;

/* Parts of a build, gone through by a team of threads. */
typedef struct fmo_cpu_job {
    fmo_fock_plan *plan;
    fmo_cpu_shape shape;
    const fmo_cpu_workload *part;
    int parts;
    fmo_cpu_kernel *const *kernels;
    int fixed;
    int threads, copies;     /* and sets of sums, each for every copies-th thread */
    fmo_cpu_worker *workers; /* [threads] */
    char **arrays;           /* [threads] */
    double **own;            /* [copies] sums */
    int team;                /* OpenMP may grant fewer threads than asked for */
    double ended;
    const fmo_ranks *ranks;       /* the work's pieces come from their counter; NULL: see `next` */
    int64_t next;                 /* piece of the work that nobody has yet */
    int fault;                    /* of the ranks' network */
    const fmo_cpu_far_build *far; /* X^J of far pairs, added to the sums; NULL: none */
} fmo_cpu_job;

/* All parts on all threads, and the sums to plan->matrices. */
fmo_status fmo_cpu_run_job(fmo_cpu_job *j, fmo_error *err);

#endif
