/* The same for many fragments or pairs, on the threads there are. */
#include "driver/fmo/internal.h"

fmo_status fmo_fragment_each(fmo_fragments *f, int count, fmo_each *what, void *user,
                             fmo_error *err)
{
    const int together =
        f->o.scf.fock.mode == FMO_MODE_CPU && f->threads > 1 && count >= f->threads;
    fmo_status status = FMO_OK;
#pragma omp parallel for schedule(dynamic) num_threads(f->threads) if (together)
    for (int k = 0; k < count; k++) {
        fmo_error own = {FMO_OK, ""};
        fmo_status before;
#pragma omp atomic read
        before = status;
        if (before != FMO_OK) continue;
        const fmo_status got = what(f, k, together ? 1 : f->threads, user, &own);
        if (got == FMO_OK) continue;
#pragma omp critical(fmo_fragment_error)
        {
            (void)fmo_error_set(err, got, "%s", own.message);
#pragma omp atomic write
            status = got;
        }
    }
    return status;
}
