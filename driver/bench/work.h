/* How much arithmetic a Fock build is, whatever the algorithm: the quartets of a plain list that
 * survive the design's density screening, times the operations of a good Obara-Saika code. */
#ifndef FMO_BENCH_WORK_H
#define FMO_BENCH_WORK_H

#include <stdint.h>
#include <fmo/basis.h>
#include <fmo/eri_class.h>

/* Floating-point operations of a primitive quartet, and of the horizontal recursion of a contracted
 * one, counted by hand (add, multiply, divide and square root as one each): docs/bench.md.
 * X(class, per primitive quartet, per contracted quartet) */
#define BENCH_FLOP_TABLE(X)  \
    X(FMO_ERI_SSSS, 36, 0)   \
    X(FMO_ERI_PSSS, 70, 0)   \
    X(FMO_ERI_PSPS, 132, 0)  \
    X(FMO_ERI_PPSS, 120, 18) \
    X(FMO_ERI_PPPS, 293, 54) \
    X(FMO_ERI_PPPP, 830, 324)

typedef struct bench_work {
    double quartets[FMO_ERI_CLASS_COUNT];      /* contracted, ij >= kl, each once */
    double prim_quartets[FMO_ERI_CLASS_COUNT]; /* of the survivors */
    double quartet_sum, prim_quartet_sum;
    double unscreened_prims; /* primitive quartets of a build at cutoff 0 */
    double flop;
} bench_work;

/** Count the quartets ij|kl with Q_ij Q_kl max(4|D_ij|, 4|D_kl|, |D_ik|, ...) >= cutoff; primitive
 *  pairs are left out as a plan does. One thread per core.
 *  @param[in] density [nao][nao], caller's order
 *  @return FMO_OK, FMO_ERR_INPUT, FMO_ERR_MEMORY */
fmo_status bench_work_count(const fmo_basis *basis, const double *density, double cutoff,
                            int threads, bench_work *work, fmo_error *err);

#endif
