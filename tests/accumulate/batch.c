/* fmo_fock_build_batch on the CPU: mixed sizes, plans that occur several times, a mix of modes,
 * errors; bit-equal to single builds under `fixed`. tests/gpu/batch.cu does the same on the GPU. */
#include "tests/support/batch_checks.h"

static unsigned long long seed = 60;

/* Plans of two modes in a call give what each gives alone. */
static void check_mixed_modes(void)
{
    batch_case cpu, reference;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_job jobs[2];
    if (batch_begin(&cpu, FMO_MODE_CPU, FMO_SCATTER_AUTO, NULL, &seed) &&
        batch_begin(&reference, FMO_MODE_REFERENCE, FMO_SCATTER_AUTO, NULL, &seed)) {
        jobs[0] = cpu.job[0];
        jobs[1] = reference.job[5];
        batch_poison(&cpu);
        batch_poison(&reference);
        CHECK(fmo_fock_build_batch(jobs, 2, &err) == FMO_OK, "%s", err.message);
        batch_compare(&cpu, 0, FMO_MODE_CPU, FMO_SCATTER_AUTO, 1e-9);
        batch_compare(&reference, 5, FMO_MODE_REFERENCE, FMO_SCATTER_AUTO, 1e-12);
        CHECK(batch_untouched(&cpu, 1) && batch_untouched(&reference, 0), "others were written");
        CHECK(fmo_fock_build_batch_device(jobs, 2, &err) == FMO_ERR_ARGUMENT &&
                  strstr(err.message, "job 0") && strstr(err.message, "fused"),
              "GPU pointers for a cpu plan: %s", err.message);
    }
    batch_end(&cpu);
    batch_end(&reference);
}

int main(void)
{
    /* densities that build together keep what matters to any of them */
    batch_check_results(FMO_MODE_CPU, FMO_SCATTER_AUTO, 1e-9, &seed);
    batch_check_results(FMO_MODE_CPU, FMO_SCATTER_FIXED, 0.0, &seed);
    batch_check_errors(FMO_MODE_CPU, &seed);
    check_mixed_modes();
    batch_check_lockstep(FMO_MODE_CPU, FMO_SCATTER_AUTO, 15, 1e-11, &seed);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_fock_build_batch_device(NULL, 0, &err) == FMO_OK, "no jobs: %s", err.message);
    CHECK(fmo_fock_build_batch_device(NULL, 1, &err) == FMO_ERR_ARGUMENT, "NULL jobs");
    return check_summary();
}
