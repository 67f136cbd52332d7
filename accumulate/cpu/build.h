/* Interfaces between the files of a build of mode cpu. Calls go build.c -> job.c, deal.c,
 * by_pair.c, memory.c, store.c; job.c -> memory.c, by_pair.c; memory.c -> by_pair.c; deal.c ->
 * store.c. */
#ifndef FMO_CPU_BUILD_H
#define FMO_CPU_BUILD_H

#include "accumulate/cpu/kernel.h"

/* What determines the memory of a build. */
typedef struct fmo_cpu_shape {
    const fmo_fock_plan *plan;
    const fmo_cpu_pairs *pairs;  /* pairs of the plan */
    const fmo_cpu_pairs *source; /* pairs of the density: the plan's or another plan's */
    size_t source_shells;
    size_t densities;
    int exchange; /* 1: K is requested */
} fmo_cpu_shape;

/* ---- by_pair.c: sums ---- */

/* Returns the number of doubles in a copy of the sums: X^K, then X^J by pair class. */
size_t fmo_cpu_sums_size(const fmo_cpu_shape *s);
/* Returns pointers into a copy of the sums; both sides share the plan's X^J. */
fmo_cpu_sums fmo_cpu_sums_at(const fmo_cpu_shape *s, double *memory);

/* Sets the powers of two by which values are scaled before they are rounded to integers. `bound` is
 * that of the operator (fmo_operator_bound). `pairs`,
 * the density and `row` (working memory, a double per shell) belong to the owner of the density,
 * `of_sums` to the owner of the sums. Returns FMO_ERR_INPUT if there are no finite bounds. */
fmo_status fmo_cpu_set_scales(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                              const fmo_cpu_pairs *of_sums, double bound, double *row,
                              fmo_cpu_adding *adding, fmo_error *err);

/* own[0] += own[1] + ..., pairwise. */
void fmo_cpu_reduce_sums(double *const *own, int threads, size_t size, int fixed);
/* Adds X^J of the far pairs to the sums. */
void fmo_cpu_add_far(const fmo_cpu_shape *s, const fmo_cpu_far_build *far,
                     const fmo_cpu_adding *adding, const fmo_cpu_sums *to);
/* Converts the sums to plan->matrices. */
void fmo_cpu_give_sums(fmo_fock_plan *plan, const fmo_cpu_shape *shape, const fmo_cpu_sums *sums,
                       const fmo_cpu_adding *adding);

/* ---- by_pair.c: densities ---- */

/* Returns the number of doubles of the densities by pair and their maxima. */
size_t fmo_cpu_by_pair_size(const fmo_cpu_pairs *pairs, size_t densities);
/* Returns a side with the plan's densities, which are written to `memory`
 * (fmo_cpu_by_pair_size(pairs, densities) doubles). */
fmo_cpu_side fmo_cpu_side_with_density(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                                       int with_J, double *memory);
/* Returns a side without a density: D is zero everywhere. `zeros` has the size of the densities
 * of the largest class. */
fmo_cpu_side fmo_cpu_side_without_density(const fmo_cpu_pairs *pairs, const double *zeros);

/* ---- memory.c ---- */

double *fmo_cpu_vector_alloc(size_t doubles);
/* Lays out the arrays of a worker in `memory` and returns their size in bytes. With NULL it only
 * computes the size. */
size_t fmo_cpu_worker_arrays(const fmo_cpu_shape *s, char *memory, fmo_cpu_worker *w);
/* Chooses the numbers of threads and of copies of the sums that fit in memory. Copies are reduced
 * before threads. */
fmo_status fmo_cpu_choose_copies(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err);
/* Members of fmo_mode_implementation. */
int fmo_cpu_densities(const fmo_fock_plan *plan);
void fmo_cpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory);

/* ---- store.c ---- */

/* Returns an upper bound on the density factor (screen.h) of all densities for which the plan's
 * pairs are valid. */
double fmo_cpu_store_factor(const fmo_fock_plan *plan);
/* Returns the number of vectors of bra `bra` of a class in the store. */
size_t fmo_cpu_count_vectors(const fmo_fock_plan *plan, const fmo_cpu_state *s, int c, int bra);
/* Allocates the store for all integrals that can be significant, if options.integrals asks for it
 * and memory suffices. */
fmo_status fmo_cpu_store_prepare(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err);
void fmo_cpu_store_free(fmo_cpu_state *s);

/* ---- deal.c ---- */

/* Returns a hash of what all ranks must have in common: the list of tasks and, where results are
 * reproducible bit by bit, the numbers that the bits depend on. */
uint64_t fmo_cpu_fingerprint(const fmo_fock_plan *plan, const fmo_cpu_state *s);
/* Reduces s->work to the tasks of this rank. */
fmo_status fmo_cpu_deal_work(const fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err);

/* ---- job.c ---- */

/* A list of tasks with the pairs and densities of its two sides. */
typedef struct fmo_cpu_workload {
    const fmo_work *work;
    fmo_cpu_build build;
    int adds[2]; /* [side] whether its sums belong to the plan */
} fmo_cpu_workload;

/* A build as executed by a team of threads: one workload, or two with another plan's density. */
typedef struct fmo_cpu_job {
    fmo_fock_plan *plan;
    fmo_cpu_shape shape;
    const fmo_cpu_workload *part;
    int parts;
    fmo_cpu_kernel *const *kernels;
    int fixed;
    int threads, copies;     /* copies of the sums; thread t uses copy t % copies */
    fmo_cpu_worker *workers; /* [threads] */
    char **arrays;           /* [threads] memory of their arrays */
    double **own;            /* [copies] sums */
    int team;                /* threads granted by OpenMP, perhaps fewer than `threads` */
    double ended;
    const fmo_ranks *ranks;       /* network whose counter assigns tasks; NULL: `next` does */
    int64_t next;                 /* next task to assign */
    int fault;                    /* not 0: the network of the ranks failed */
    const fmo_cpu_far_build *far; /* X^J of far pairs, to be added to the sums; NULL: none */
    double begun, share; /* fractions of the build: completed before this job, and of this job */
} fmo_cpu_job;

/* Executes all workloads on all threads and converts the sums to plan->matrices. */
fmo_status fmo_cpu_run_job(fmo_cpu_job *j, fmo_error *err);

#endif
