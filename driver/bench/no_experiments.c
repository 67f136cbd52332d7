/* A build without FMO_EXPERIMENTS times Fock builds and SCFs; here the other experiments report
 * that they are not available. */
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
