/* Batches on the GPU: fmo_fock_build_batch with fused and split plans, and
 * fmo_fock_build_batch_device with streams of the caller's and of the plans' own; hundreds of
 * molecules in groups. Under `fixed` every bit is that of single builds. FMO_TEST_SMALL=1: fewer
 * molecules, for compute-sanitizer. */
#include <cuda_runtime.h>

#include "tests/support/batch_checks.h"
#include "tests/gpu/call.h"

static unsigned long long seed = 61;

static void read_back(batch_case *b, double *const *at)
{
    for (int k = 0; k < BATCH_JOBS; k++) {
        const size_t bytes = batch_size(b, k) * sizeof(double);
        CUDA(cudaMemcpy(b->coulomb[k], at[k] + batch_size(b, k), bytes, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(b->exchange[k], at[k] + 2 * batch_size(b, k), bytes,
                        cudaMemcpyDeviceToHost));
    }
}

/* Calls that are queued one after the other; densities arrive on the first plan's stream just
 * before, and only that stream is waited for. */
static void check_device(fmo_scatter scatter, double tolerance, int streams_given)
{
    enum { CALLS = 3 };
    batch_case b;
    fmo_error err = {FMO_OK, ""};
    void *streams[BATCH_PLANS] = {NULL};
    double *at[BATCH_JOBS];
    for (int p = 0; p < streams_given; p++) {
        cudaStream_t stream = NULL;
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        streams[p] = stream;
    }
    const cudaStream_t first = (cudaStream_t)streams[0];
    if (batch_begin(&b, FMO_MODE_FUSED, scatter, streams, &seed)) {
        fmo_fock_job jobs[BATCH_JOBS];
        for (int k = 0; k < BATCH_JOBS; k++) {
            const size_t size = batch_size(&b, k);
            CUDA(cudaMalloc((void **)&at[k], 3 * size * sizeof(double)));
            jobs[k].plan = b.job[k].plan;
            jobs[k].density = at[k];
            jobs[k].coulomb = at[k] + size;
            jobs[k].exchange = at[k] + 2 * size;
            jobs[k].err = NULL;
        }
        for (int call = 0; call < CALLS; call++) {
            for (int k = 0; k < BATCH_JOBS; k++) {
                const size_t size = batch_size(&b, k);
                if (call > 0) { /* a new density: a value of the last call would be seen */
                    free(b.density[k]);
                    b.density[k] = random_density(b.nao[batch_plan_of[k]], 1.0, &seed);
                    b.job[k].density = b.density[k];
                }
                if (first) {
                    CUDA(cudaMemcpyAsync(at[k], b.density[k], size * sizeof(double),
                                         cudaMemcpyHostToDevice, first));
                    CUDA(cudaMemsetAsync(at[k] + size, 0xff, 2 * size * sizeof(double), first));
                } else {
                    CUDA(cudaMemcpy(at[k], b.density[k], size * sizeof(double),
                                    cudaMemcpyHostToDevice));
                    CUDA(cudaMemset(at[k] + size, 0xff, 2 * size * sizeof(double)));
                    CUDA(cudaDeviceSynchronize());
                }
            }
            CHECK(fmo_fock_build_batch_device(jobs, BATCH_JOBS, &err) == FMO_OK, "%s", err.message);
            if (first)
                CUDA(cudaStreamSynchronize(first));
            else
                CUDA(cudaDeviceSynchronize());
            read_back(&b, at);
            for (int k = 0; k < BATCH_JOBS; k++)
                batch_compare(&b, k, FMO_MODE_FUSED, scatter, tolerance);
        }
        jobs[5].coulomb = jobs[5].exchange = NULL;
        CHECK(fmo_fock_build_batch_device(jobs, BATCH_JOBS, &err) == FMO_ERR_ARGUMENT &&
                  strstr(err.message, "job 5"),
              "NULL: %s", err.message);
        CHECK(fmo_fock_build_batch_device(jobs, 0, NULL) == FMO_OK, "count 0");
        CUDA(cudaDeviceSynchronize());
        for (int k = 0; k < BATCH_JOBS; k++) CUDA(cudaFree(at[k]));
    }
    batch_end(&b);
    for (int p = 0; p < streams_given; p++) CUDA(cudaStreamDestroy((cudaStream_t)streams[p]));
}

/* Many molecules with matrices in GPU memory: batches and single builds of the same plans queued
 * one behind the other, on the plans' own streams. */
static void check_device_lockstep(fmo_scatter scatter, double tolerance)
{
    enum { COUNT = 120, CALLS = 2 };
    const fmo_fock_options o = batch_options(FMO_MODE_FUSED, scatter);
    batch_lockstep c;
    fmo_error err = {FMO_OK, ""};
    if (lockstep_begin(&c, COUNT, &o, &seed)) {
        fmo_fock_job jobs[COUNT];
        for (size_t k = 0; k < COUNT; k++) {
            const size_t size = lockstep_size(&c, k);
            double *at = NULL;
            CUDA(cudaMalloc((void **)&at, 3 * size * sizeof *at));
            CUDA(cudaMemcpy(at, c.density[k], size * sizeof *at, cudaMemcpyHostToDevice));
            CUDA(cudaMemset(at + size, 0xff, 2 * size * sizeof *at));
            fmo_fock_job job = {};
            job.plan = c.plan[k];
            job.density = at;
            job.coulomb = at + size;
            job.exchange = at + 2 * size;
            jobs[k] = job;
        }
        CUDA(cudaDeviceSynchronize());
        for (int call = 0; call < CALLS; call++) {
            CHECK(fmo_fock_build_batch_device(jobs, COUNT, &err) == FMO_OK, "%s", err.message);
            for (int k = call; k < COUNT; k += 4)
                CHECK(fmo_fock_build_device(jobs[k].plan, jobs[k].density, jobs[k].coulomb,
                                            jobs[k].exchange, &err) == FMO_OK,
                      "%s", err.message);
            /* a part of the jobs, which form other groups */
            CHECK(fmo_fock_build_batch_device(jobs + 40, 60, &err) == FMO_OK, "%s", err.message);
        }
        CUDA(cudaDeviceSynchronize());
        for (size_t k = 0; k < COUNT; k++)
            CUDA(cudaMemcpy(c.result[k], jobs[k].coulomb, 2 * lockstep_size(&c, k) * sizeof(double),
                            cudaMemcpyDeviceToHost));
        lockstep_compare(&c, &o, tolerance, "on the GPU,");
        for (size_t k = 0; k < COUNT; k++) CUDA(cudaFree((void *)jobs[k].density));
    }
    lockstep_end(&c);
}

/* Half of the plans with a looser cutoff: in groups and alone, through graphs of its own; then all
 * as they were made. */
static void check_loosened(void)
{
    enum { COUNT = 70 };
    const double loose = 1e-8;
    fmo_fock_options o = batch_options(FMO_MODE_FUSED, FMO_SCATTER_AUTO);
    batch_lockstep c;
    fmo_error err = {FMO_OK, ""};
    int64_t quartets[2] = {0, 0};
    if (lockstep_begin(&c, COUNT, &o, &seed)) {
        fmo_fock_job jobs[COUNT];
        for (size_t k = 0; k < COUNT; k++) {
            const fmo_fock_job job = {
                c.plan[k], c.density[k], c.result[k], c.result[k] + lockstep_size(&c, k),
                FMO_OK,    NULL,         NULL};
            jobs[k] = job;
        }
        for (int turn = 0; turn < 4; turn++) {
            const bool loosened = turn % 2 == 0, alone = turn >= 2;
            for (size_t k = 0; k < COUNT; k += 2)
                CHECK(fmo_fock_plan_loosen(c.plan[k], loosened ? loose : o.cutoff, &err) == FMO_OK,
                      "%s", err.message);
            for (size_t k = 0; k < COUNT && alone; k++)
                CHECK(fmo_fock_build(c.plan[k], c.density[k], jobs[k].coulomb, jobs[k].exchange,
                                     &err) == FMO_OK,
                      "%s", err.message);
            if (!alone) CHECK(fmo_fock_build_batch(jobs, COUNT, &err) == FMO_OK, "%s", err.message);
            for (size_t k = 0; k < COUNT; k += 2) {
                fmo_fock_profile profile;
                CHECK(fmo_fock_plan_profile(c.plan[k], &profile, &err) == FMO_OK, "%s",
                      err.message);
                for (int e = 0; e < FMO_ERI_CLASS_COUNT; e++)
                    quartets[loosened] += profile.classes[e].quartets;
            }
            lockstep_compare(&c, &o, loosened ? 1000.0 * loose : 1e-9, "with looser cutoffs,");
        }
        CHECK(quartets[1] < quartets[0], "%lld quartets, and loosened %lld", (long long)quartets[0],
              (long long)quartets[1]);
    }
    lockstep_end(&c);
}

/* Seconds of a single build: the least of a few, because a busy host may delay one. */
static double time_alone(const fmo_fock_job *job)
{
    double fastest = INFINITY;
    for (int n = 0; n < 5; n++) {
        fmo_fock_profile profile;
        fmo_error err = {FMO_OK, ""};
        profile.gpu_seconds = NAN;
        CHECK(fmo_fock_build(job->plan, job->density, job->coulomb, job->exchange, &err) == FMO_OK,
              "%s", err.message);
        CHECK(fmo_fock_plan_profile(job->plan, &profile, &err) == FMO_OK, "%s", err.message);
        fastest = fmin(fastest, profile.gpu_seconds);
    }
    return fastest;
}

/* Builds that were in one group have its time, which none would take alone: every second one, as
 * those with far quartets are not together with the others. */
static void check_groups(fmo_fock_plan *const *plans, const fmo_fock_job *jobs, size_t count)
{
    double fastest[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}}, slowest[2][2] = {};
    fmo_error err = {FMO_OK, ""};
    for (int alone = 0; alone < 2; alone++)
        for (size_t k = 0; k < count; k++) {
            fmo_fock_profile profile;
            profile.gpu_seconds = NAN;
            CHECK(fmo_fock_plan_profile(plans[k], &profile, &err) == FMO_OK, "%s", err.message);
            const double seconds = alone ? time_alone(&jobs[k]) : profile.gpu_seconds;
            double *const low = &fastest[alone][k % 2], *const high = &slowest[alone][k % 2];
            *low = fmin(*low, seconds);
            *high = fmax(*high, seconds);
        }
    for (int odd = 0; odd < 2; odd++) {
        CHECK(slowest[0][odd] < 1.2 * fastest[0][odd] && fastest[0][odd] > 1.2 * slowest[1][odd],
              "larger molecules: %.3g to %.3g s in a group, %.3g to %.3g s alone", fastest[0][odd],
              slowest[0][odd], fastest[1][odd], slowest[1][odd]);
        if (getenv("FMO_TEST_VERBOSE"))
            printf("larger molecules: %.3g to %.3g s in a group, %.3g to %.3g s alone\n",
                   fastest[0][odd], slowest[0][odd], fastest[1][odd], slowest[1][odd]);
    }
}

/* Molecules of some 4e8 primitive quartets, which are in groups, too (tuning.h). Nodes of far
 * quartets are made together where plans have one stream: in the lockstep batches of scf_batch. */
static void check_larger(fmo_scatter scatter, double tolerance)
{
    enum { COUNT = 20 }; /* ten of each kind: a group has eight or more */
    static const int shells[3] = {60, 35, 0};
    static test_system s;
    const fmo_fock_options o = batch_options(FMO_MODE_FUSED, scatter);
    const fmo_basis *requested[COUNT] = {NULL};
    fmo_fock_plan *plans[COUNT] = {NULL};
    fmo_error err = {FMO_OK, ""}, errs[COUNT];
    batch_lockstep c;
    memset(errs, 0, sizeof errs);
    c.count = COUNT;
    c.basis = (fmo_basis **)calloc(COUNT, sizeof(fmo_basis *));
    c.plan = (fmo_fock_plan **)calloc(COUNT, sizeof(fmo_fock_plan *));
    c.nao = (int *)calloc(COUNT, sizeof *c.nao);
    c.density = (double **)calloc(COUNT, sizeof(double *));
    c.result = (double **)calloc(COUNT, sizeof(double *));
    fmo_fock_job jobs[COUNT];
    for (size_t k = 0; k < COUNT; k++) {
        system_random_d(&s, 1, 24, shells, 4, k % 2 ? 40.0 : 15.0, &seed);
        requested[k] = c.basis[k] = system_basis(&s);
        c.nao[k] = s.aos;
        c.density[k] = random_density(s.aos, 1.0, &seed);
        c.result[k] = (double *)malloc(2 * lockstep_size(&c, k) * sizeof(double));
    }
    const bool made = fmo_fock_plan_create_batch(requested, COUNT, &o, plans, errs) == FMO_OK;
    CHECK(made, "there are larger molecules without a plan");
    for (size_t k = 0; k < COUNT; k++) {
        CHECK(errs[k].status == FMO_OK, "larger molecule %zu: %s", k, errs[k].message);
        c.plan[k] = plans[k];
        const fmo_fock_job job = {
            c.plan[k], c.density[k], c.result[k], c.result[k] + lockstep_size(&c, k),
            FMO_OK,    NULL,         NULL};
        jobs[k] = job;
    }
    if (made) {
        CHECK(fmo_fock_build_batch(jobs, COUNT, &err) == FMO_OK, "%s", err.message);
        check_groups(plans, jobs, COUNT);
        lockstep_compare(&c, &o, tolerance, "larger molecules,");
    }
    lockstep_end(&c);
}

/* cpu, split and fused plans in one call. */
static void check_mixed_modes(void)
{
    static const fmo_mode modes[] = {FMO_MODE_CPU, FMO_MODE_FUSED, FMO_MODE_SPLIT};
    batch_case b[3];
    fmo_fock_job jobs[3 * BATCH_JOBS];
    fmo_error err = {FMO_OK, ""};
    bool fine = true;
    for (int m = 0; m < 3; m++) {
        fine = batch_begin(&b[m], modes[m], FMO_SCATTER_AUTO, NULL, &seed) && fine;
        batch_poison(&b[m]);
        for (int k = 0; k < BATCH_JOBS; k++) jobs[3 * k + m] = b[m].job[k];
    }
    if (fine) {
        CHECK(fmo_fock_build_batch(jobs, 3 * BATCH_JOBS, &err) == FMO_OK, "%s", err.message);
        for (int m = 0; m < 3; m++)
            for (int k = 0; k < BATCH_JOBS; k++)
                batch_compare(&b[m], k, modes[m], FMO_SCATTER_AUTO, 1e-9);
        jobs[0] = b[1].job[0];
        CHECK(fmo_fock_build_batch_device(jobs, 3 * BATCH_JOBS, &err) == FMO_ERR_ARGUMENT &&
                  strstr(err.message, "job 2") && strstr(err.message, "fused"),
              "a split plan: %s", err.message);
    }
    for (int m = 0; m < 3; m++) batch_end(&b[m]);
}

/* Runs the checks of batches with every strategy that is built, in GPU memory, in lockstep, and
 * with larger molecules. */
int main(void)
{
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    for (int s = 0; s < FMO_SCATTER_COUNT; s++) {
        const fmo_scatter scatter = (fmo_scatter)s;
        if (!fmo_scatter_is_built(scatter, FMO_COMMIT_NATIVE)) continue;
        batch_check_results(FMO_MODE_FUSED, scatter, scatter == FMO_SCATTER_FIXED ? 0.0 : 1e-9,
                            &seed);
    }
    batch_check_results(FMO_MODE_SPLIT, FMO_SCATTER_AUTO, 1e-9, &seed);
    batch_check_errors(FMO_MODE_FUSED, &seed);
    batch_check_errors(FMO_MODE_SPLIT, &seed);
    for (int given = 0; given <= BATCH_PLANS; given += given ? BATCH_PLANS - 1 : 1) {
        check_device(FMO_SCATTER_AUTO, 1e-9, given);
        check_device(FMO_SCATTER_FIXED, 0.0, given);
    }
    check_mixed_modes();
    const bool small = getenv("FMO_TEST_SMALL") != NULL;
    batch_check_lockstep(FMO_MODE_FUSED, FMO_SCATTER_AUTO, small ? 40 : 300, 1e-9, &seed);
    batch_check_lockstep(FMO_MODE_FUSED, FMO_SCATTER_NATIVE, 40, 1e-9, &seed);
    batch_check_lockstep(FMO_MODE_FUSED, FMO_SCATTER_WARP_MATCH, 40, 1e-9, &seed);
    batch_check_lockstep(FMO_MODE_FUSED, FMO_SCATTER_FIXED, small ? 40 : 150, 0.0, &seed);
    check_device_lockstep(FMO_SCATTER_AUTO, 1e-9);
    check_device_lockstep(FMO_SCATTER_FIXED, 0.0);
    check_loosened();
    if (!small) {
        check_larger(FMO_SCATTER_AUTO, 1e-9);
        check_larger(FMO_SCATTER_FIXED, 0.0);
    }
    return check_summary();
}
