/* A build without FMO_EXPERIMENTS: Fock builds and SCFs are timed; each of the others says why it
 * is not here. */
#include "bench.h"

#define NONE(name)                                                                        \
    void bench_##name(bench_run *run)                                                     \
    {                                                                                     \
        bench_fail(run, FMO_ERR_UNSUPPORTED,                                              \
                   "built without FMO_EXPERIMENTS; configure with -DFMO_EXPERIMENTS=ON"); \
    }
#define NONE_BUILDS(name)
#define NONE_PUBLISHED        NONE
#define NONE_MESSAGES         NONE
#define ROW(name, kind, text) NONE_##kind(name)
BENCH_EXPERIMENT_TABLE(ROW)
