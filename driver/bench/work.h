/* How much arithmetic a Fock build is, whatever the algorithm: the quartets of a plain list that
 * survive the design's density screening, times the operations of a good Obara-Saika code (those of
 * each class stand with its arithmetic, integrals/eri/eri_common.h). */
#ifndef FMO_BENCH_WORK_H
#define FMO_BENCH_WORK_H

#include <stdint.h>
#include <fmo/basis.h>
#include <fmo/eri_class.h>

typedef struct bench_work {
    double quartets[FMO_ERI_CLASS_COUNT];      /* contracted, ij >= kl, each once */
    double prim_quartets[FMO_ERI_CLASS_COUNT]; /* of the screened-in quartets */
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
