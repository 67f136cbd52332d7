/* The amount of arithmetic of a Fock build, independent of the algorithm: the number of quartets of
 * a plain list that pass the density screening, times the operations of an efficient Obara-Saika
 * code (given for each class in integrals/eri/eri_common.h). */
#ifndef FMO_BENCH_WORK_H
#define FMO_BENCH_WORK_H

#include <stdint.h>
#include <fmo/basis.h>
#include <fmo/eri_class.h>

typedef struct bench_work {
    double quartets[FMO_ERI_CLASS_COUNT];      /* contracted, ij >= kl, each counted once */
    double prim_quartets[FMO_ERI_CLASS_COUNT]; /* of the screened-in quartets */
    double quartet_sum, prim_quartet_sum;
    double unscreened_prims; /* primitive quartets of a build at cutoff 0 */
    double flop;
} bench_work;

/** Counts the quartets ij|kl with Q_ij Q_kl max(4|D_ij|, 4|D_kl|, |D_ik|, ...) >= cutoff;
 *  negligible pairs of primitives are left out, as in a plan. Uses `threads` threads.
 *  @param[in] density  [nao][nao] in the caller's order of functions
 *  @return FMO_OK, FMO_ERR_INPUT, FMO_ERR_MEMORY */
fmo_status bench_work_count(const fmo_basis *basis, const double *density, double cutoff,
                            int threads, bench_work *work, fmo_error *err);

#endif
