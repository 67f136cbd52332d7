/* Builds of shares of the work on a GPU: every schedule, small systems and those with far quartets
 * and several passes; and plans of another GPU than the thread's, where there are two. */
#include "work_checks.h"

int main(void)
{
    unsigned long long seed = 4711;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    static const fmo_scatter strategies[] = {FMO_SCATTER_AUTO, FMO_SCATTER_FIXED, FMO_SCATTER_TILE,
                                             FMO_SCATTER_REPLICATED};
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++)
        work_check_shares(FMO_MODE_FUSED, strategies[s], FMO_INTEGRALS_DIRECT, 8, 1e-11, &seed);
    work_check_shares(FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 24, 1e-11, &seed);
    work_check_shares(FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_STORED, 8, 1e-11, &seed);
    work_check_shares(FMO_MODE_SPLIT, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 8, 1e-11, &seed);
    return check_summary();
}
