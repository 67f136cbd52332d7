/* Builds of shares of the work on a GPU: every schedule, small systems and those with far quartets;
 * and plans on a GPU that is not the thread's. */
#include "tests/support/work_checks.h"

#include <cuda_runtime_api.h>

static unsigned long long seed = 4711;

/* Plans on all GPUs give the same J and K, and leave the thread's current GPU as it was. A GPU that
 * does not exist is refused. */
static void check_devices(void)
{
    static const fmo_mode modes[] = {FMO_MODE_FUSED, FMO_MODE_SPLIT};
    static test_system s;
    int devices = 0, now = -1;
    int64_t quartets = 0;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_options o;
    system_random(&s, 6, 7, 5, 3, 6.0, &seed);
    fmo_basis *basis = system_basis(&s);
    CHECK(cudaGetDeviceCount(&devices) == cudaSuccess && cudaSetDevice(0) == cudaSuccess, "%d GPUs",
          devices);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *const D = random_density(n, 1.0, &seed);
    double *const first = (double *)calloc(4 * size, sizeof *first), *const got = first + 2 * size;
    fmo_fock_options_init(&o);
    o.threads = 1;
    o.scatter = FMO_SCATTER_FIXED;
    for (int m = 0; m < 2; m++) {
        o.mode = modes[m];
        if (m) o.scatter = FMO_SCATTER_AUTO;
        for (int d = 0; d < devices; d++) {
            double *const to = d ? got : first;
            o.device = d;
            if (!work_build(basis, &o, 0, 1, D, to, to + size, &quartets)) break;
            CHECK(cudaGetDevice(&now) == cudaSuccess && now == 0, "the thread's GPU is %d now",
                  now);
            if (d)
                check_close("J and K of another GPU", got, first, 2 * size, (size_t)n,
                            m ? 1e-12 : 0.0, 0.0);
        }
        o.device = devices;
        CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_NO_DEVICE &&
                  strstr(err.message, "there are"),
              "a GPU that is not there: %s", err.message);
        err.status = FMO_OK;
    }
    o.mode = FMO_MODE_AUTO; /* a GPU requested by number: no other mode replaces it */
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_NO_DEVICE && !plan, "%s",
          err.message);
    printf("%d GPUs\n", devices);
    free(D);
    free(first);
    fmo_basis_destroy(basis);
}

/* Sums of shares agree with whole builds for several strategies, modes and d shells; GPUs that do
 * not exist are refused. */
int main(void)
{
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    static const fmo_scatter strategies[] = {FMO_SCATTER_AUTO, FMO_SCATTER_FIXED, FMO_SCATTER_TILE,
                                             FMO_SCATTER_REPLICATED};
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++)
        if (fmo_scatter_is_built(strategies[s], FMO_COMMIT_NATIVE))
            work_check_shares(FMO_MODE_FUSED, strategies[s], FMO_INTEGRALS_DIRECT, 8, 1e-11, &seed);
    work_check_shares(FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 24, 1e-11, &seed);
    work_check_shares(FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_STORED, 8, 1e-11, &seed);
    work_check_shares(FMO_MODE_SPLIT, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 8, 1e-11, &seed);
    static const int shells[3] = {6, 4, 4};
    static test_system d;
    system_random_d(&d, 0, 4, shells, 3, 6.0, &seed);
    work_check_system(&d, FMO_MODE_FUSED, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 1e-11, &seed);
    work_check_system(&d, FMO_MODE_FUSED, FMO_SCATTER_FIXED, FMO_INTEGRALS_DIRECT, 1e-11, &seed);
    check_devices();
    return check_summary();
}
