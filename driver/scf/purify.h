/* SP2 purification: x^2 and 2x - x^2 drive the eigenvalues of P, between 0 and 1, to 0 or 1; each
 * step uses the polynomial that brings the trace closer to the number of occupied orbitals. A. M.
 * N. Niklasson, Phys. Rev. B 66, 155115 (2002). Called by cycle.c through linalg.h. */
#ifndef FMO_SCF_PURIFY_H
#define FMO_SCF_PURIFY_H

#include "driver/scf/linalg.h"

#include <math.h>

#if defined(__CUDACC__)
#define FMO_SP2_FUNCTION __host__ __device__ static inline
#else
#define FMO_SP2_FUNCTION static inline
#endif

/* State of a purification: tr P, tr P^2. */
typedef struct fmo_sp2 {
    double trace, square;
    int occupied, steps;
} fmo_sp2;

typedef enum fmo_sp2_next {
    FMO_SP2_FAILED, /* for instance with degenerate frontier orbitals */
    FMO_SP2_DONE,
    FMO_SP2_SQUARE, /* P <- P^2 */
    FMO_SP2_DOUBLE  /* P <- 2 P - P^2 */
} fmo_sp2_next;

/* Chooses the next step from tr P^2; `trace` becomes that of the next P. */
FMO_SP2_FUNCTION fmo_sp2_next fmo_sp2_decide(fmo_sp2 *s)
{
    enum { STEPS = 80 };
    const double idempotent = 1e-9; /* limit of tr(P - P^2); one McWeeny step squares the error */
    if (!isfinite(s->square)) return FMO_SP2_FAILED;
    if (fabs(s->trace - s->square) < idempotent)
        return fabs(s->trace - s->occupied) < 1e-6 ? FMO_SP2_DONE : FMO_SP2_FAILED;
    if (s->steps++ == STEPS) return FMO_SP2_FAILED;
    const double doubled = 2.0 * s->trace - s->square;
    if (fabs(s->square - s->occupied) < fabs(doubled - s->occupied)) {
        s->trace = s->square;
        return FMO_SP2_SQUARE;
    }
    s->trace = doubled;
    return FMO_SP2_DOUBLE;
}

/* fmo_linalg_ops.purify in terms of the other operations of a backend. */
static inline int fmo_linalg_purify(fmo_linalg *la, int n, int occupied, double trace, double *P,
                                    double *work)
{
    const fmo_linalg_ops *const op = la->ops;
    const size_t size = (size_t)n * (size_t)n;
    fmo_sp2 s = {trace, 0.0, occupied, 0};
    for (;;) {
        op->dots(la, size, 1, P, P, &s.square);
        const fmo_sp2_next next = fmo_sp2_decide(&s);
        if (next == FMO_SP2_DONE || next == FMO_SP2_FAILED) return next == FMO_SP2_DONE;
        op->multiply(la, 1.0, fmo_matrix_of(P, n, n), fmo_matrix_of(P, n, n), 0.0, work);
        if (next == FMO_SP2_SQUARE)
            op->add(la, size, 1.0, work, 0.0, P);
        else
            op->add(la, size, -1.0, work, 2.0, P);
    }
}

#endif
