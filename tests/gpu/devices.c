/* Builds that several GPUs share: options.devices. One GPU is taken several times, with a plan and
 * a share for each time; if there are more, all of them are taken, too. */
#include "tests/support/system.h"

#include <math.h>
#include <string.h>

static unsigned long long seed = 161803;

/* Two matrices of a build, or of any number of GPUs. */
typedef struct built {
    double *J, *K;
    int64_t quartets, adds, prim_quartets;
    int devices;
    double seconds, device_seconds[FMO_DEVICES_MAX];
} built;

static fmo_fock_options options_of(int devices, const int *device, fmo_scatter scatter,
                                   fmo_integrals integrals, double cutoff)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    o.threads = 2;
    o.scatter = scatter;
    o.integrals = integrals;
    o.cutoff = cutoff;
    o.device_num = devices;
    for (int k = 0; k < devices; k++) o.devices[k] = device[k];
    return o;
}

/* Two builds of one plan, because what a build leaves behind must not matter. J, K may be NULL. */
static int build(const fmo_basis *basis, const fmo_fock_options *o, const double *D, built *b)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_status status = fmo_fock_plan_create(basis, o, &plan, &err);
    for (int n = 0; n < 2 && status == FMO_OK; n++)
        status = fmo_fock_build(plan, D, b->J, b->K, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    CHECK(status == FMO_OK, "%d GPUs: %s", o->device_num, err.message);
    b->quartets = b->adds = b->prim_quartets = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && status == FMO_OK; c++) {
        b->quartets += profile.classes[c].quartets;
        b->prim_quartets += profile.classes[c].prim_quartets;
        b->adds += profile.classes[c].adds;
    }
    b->devices = status == FMO_OK ? profile.devices : 0;
    if (status == FMO_OK) {
        b->seconds = profile.seconds;
        memcpy(b->device_seconds, profile.device_seconds, sizeof b->device_seconds);
    }
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK;
}

/* Each of several GPUs has a share of the build's time, which a single one does not report. The
 * kernels of mode split's two buffers run at the same time, so their sum may exceed the whole. */
static void check_seconds(const char *what, const built *b)
{
    const int shares = b->devices > 1 ? b->devices : 0;
    for (int k = 0; k < shares; k++)
        CHECK(b->device_seconds[k] > 0.0 && b->device_seconds[k] <= 2.0 * b->seconds,
              "%s: GPU %d took %g of %g s", what, k, b->device_seconds[k], b->seconds);
    for (int k = shares; k < FMO_DEVICES_MAX; k++)
        CHECK(isnan(b->device_seconds[k]), "%s: %g s of GPU %d", what, b->device_seconds[k], k);
}

/* The counts of several GPUs add up to those of one. */
static void check_counts(const char *what, const built *one, const built *all, int devices)
{
    CHECK(one->devices == 1 && all->devices == devices, "%s: %d and %d GPUs", what, one->devices,
          all->devices);
    CHECK(one->quartets == all->quartets && one->prim_quartets == all->prim_quartets,
          "%s: %lld quartets on one GPU, %lld on %d", what, (long long)one->quartets,
          (long long)all->quartets, devices);
    CHECK(one->adds == all->adds, "%s: %lld adds, %lld on %d GPUs", what, (long long)one->adds,
          (long long)all->adds, devices);
    check_seconds(what, one);
    check_seconds(what, all);
}

/* All strategies that can share a build: `fixed` bit for bit, others to a tolerance. */
static void check_system(const test_system *s, const int *device, int devices, double size)
{
    static const struct {
        fmo_scatter scatter;
        fmo_integrals integrals;
    } kinds[] = {{FMO_SCATTER_FIXED, FMO_INTEGRALS_DIRECT},
                 {FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT},
                 {FMO_SCATTER_REPLICATED, FMO_INTEGRALS_DIRECT},
                 {FMO_SCATTER_TILE, FMO_INTEGRALS_DIRECT},
                 {FMO_SCATTER_AUTO, FMO_INTEGRALS_STORED}};
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t num = (size_t)n * (size_t)n;
    double *const D = random_density(n, size, &seed);
    double *const memory = calloc(4 * num, sizeof *memory);
    const int high_l = fmo_basis_shell_num(basis, 2) > 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && memory && D; k++) {
        const int fixed = kinds[k].scatter == FMO_SCATTER_FIXED;
        if (!fmo_scatter_is_built(kinds[k].scatter, FMO_COMMIT_NATIVE)) continue;
        if (high_l &&
            (kinds[k].scatter == FMO_SCATTER_TILE || kinds[k].integrals == FMO_INTEGRALS_STORED))
            continue;
        built one = {.J = memory, .K = memory + num};
        built all = {.J = memory + 2 * num, .K = memory + 3 * num};
        fmo_fock_options o =
            options_of(1, device, kinds[k].scatter, kinds[k].integrals, fixed ? 1e-10 : 1e-13);
        if (!build(basis, &o, D, &one)) break;
        o.device_num = devices;
        for (int d = 0; d < devices; d++) o.devices[d] = device[d];
        if (!build(basis, &o, D, &all)) break;
        check_counts(fmo_scatter_name(kinds[k].scatter), &one, &all, devices);
        if (fixed) {
            CHECK(memcmp(one.J, all.J, 2 * num * sizeof *one.J) == 0,
                  "fixed: other bits on %d GPUs", devices);
        } else {
            check_close("J of several GPUs", all.J, one.J, num, (size_t)n, 1e-11 * size, 0.0);
            check_close("K of several GPUs", all.K, one.K, num, (size_t)n, 1e-11 * size, 0.0);
        }
        /* J alone and K alone */
        built J = {.J = memory + 2 * num}, K = {.K = memory + 3 * num};
        memset(memory + 2 * num, 0xff, 2 * num * sizeof *memory);
        if (!build(basis, &o, D, &J) || !build(basis, &o, D, &K)) break;
        check_close("J alone", J.J, one.J, num, (size_t)n, (fixed ? 1e-8 : 1e-11) * size, 0.0);
        check_close("K alone", K.K, one.K, num, (size_t)n, (fixed ? 1e-8 : 1e-11) * size, 0.0);
    }
    free(D);
    free(memory);
    fmo_basis_destroy(basis);
}

/* Mode split, whose batches come from several GPUs in turn: large ones, and many small ones. */
static void check_split(const test_system *s, const int *device, int devices, double size)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t num = (size_t)n * (size_t)n;
    double *const D = random_density(n, size, &seed);
    double *const memory = calloc(4 * num, sizeof *memory);
    static const fmo_reduce reduce[] = {FMO_REDUCE_TREE, FMO_REDUCE_ATOMIC, FMO_REDUCE_SERIAL};
    for (int k = 0; k < 3 && memory && D; k++) {
        built one = {.J = memory, .K = memory + num};
        built all = {.J = memory + 2 * num, .K = memory + 3 * num};
        fmo_fock_options o = options_of(1, device, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 1e-13);
        o.mode = FMO_MODE_SPLIT;
        o.reduce = reduce[k];
        if (!build(basis, &o, D, &one)) break;
        o.no_overlap = k == 2;
        o.memory = k == 1 ? (size_t)(2 * devices) << 20 : 0; /* the least that is accepted */
        o.device_num = devices;
        for (int d = 0; d < devices; d++) o.devices[d] = device[d];
        if (!build(basis, &o, D, &all)) break;
        check_counts("split", &one, &all, devices);
        check_close("J of split", all.J, one.J, num, (size_t)n, 1e-11 * size, 0.0);
        check_close("K of split", all.K, one.K, num, (size_t)n, 1e-11 * size, 0.0);
    }
    free(D);
    free(memory);
    fmo_basis_destroy(basis);
}

/* J of another molecule's density with plans on several GPUs, which the first one builds alone, and
 * a build of its own after it. */
static void check_source(const test_system *s, const test_system *other, const int *device,
                         int devices)
{
    fmo_error err = {FMO_OK, ""};
    fmo_basis *basis[2] = {system_basis(s), system_basis(other)};
    const int n = fmo_basis_ao_num(basis[0]), m = fmo_basis_ao_num(basis[1]);
    const size_t num = (size_t)n * (size_t)n;
    double *const D = random_density(m, 1.0, &seed), *const own = random_density(n, 1.0, &seed);
    double *const J = calloc(4 * num, sizeof *J);
    for (int k = 0; k < 2 && J && D && own; k++) {
        fmo_fock_plan *plan[2] = {NULL, NULL};
        fmo_fock_options o =
            options_of(k ? devices : 1, device, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 1e-13);
        fmo_status status = FMO_OK;
        for (int p = 0; p < 2 && status == FMO_OK; p++)
            status = fmo_fock_plan_create(basis[p], &o, &plan[p], &err);
        fmo_fock_job job = {
            .plan = plan[0], .density = D, .coulomb = J + (size_t)k * 2 * num, .source = plan[1]};
        if (status == FMO_OK) status = fmo_fock_build_batch(&job, 1, &err);
        if (status == FMO_OK)
            status = fmo_fock_build(plan[0], own, J + (size_t)(2 * k + 1) * num, NULL, &err);
        CHECK(status == FMO_OK, "source, %zu functions: %s", num, err.message);
        fmo_fock_plan_destroy(plan[0]);
        fmo_fock_plan_destroy(plan[1]);
    }
    check_close("J of a source", J + 2 * num, J, num, (size_t)n, 1e-11, 0.0);
    check_close("J after it", J + 3 * num, J + num, num, (size_t)n, 1e-11, 0.0);
    free(D);
    free(own);
    free(J);
    for (int k = 0; k < 2; k++) fmo_basis_destroy(basis[k]);
}

/* Plans of a batch, each on one of the GPUs, and a plan of all of them in the same call. */
static void check_batch(const int *device, int devices)
{
    enum { PLANS = 9 };
    fmo_error err = {FMO_OK, ""};
    const fmo_basis *basis[PLANS];
    fmo_fock_plan *plans[PLANS + 1] = {NULL};
    fmo_fock_job jobs[PLANS + 1];
    double *D[PLANS + 1], *got[PLANS + 1], *expected[PLANS + 1];
    fmo_fock_options o =
        options_of(devices, device, FMO_SCATTER_FIXED, FMO_INTEGRALS_DIRECT, 1e-10);
    fmo_fock_options alone = options_of(1, device, FMO_SCATTER_FIXED, FMO_INTEGRALS_DIRECT, 1e-10);
    memset(jobs, 0, sizeof jobs);
    for (int k = 0; k < PLANS; k++) {
        static test_system s;
        system_random(&s, 3 + k % 3, 4, 3 + k % 4, 3, 5.0, &seed);
        basis[k] = system_basis(&s);
    }
    fmo_status status = fmo_fock_plan_create_batch(basis, PLANS, &o, plans, NULL);
    CHECK(status == FMO_OK, "plans of a batch on several GPUs");
    int dealt = 0;
    for (int k = 0; k < PLANS && status == FMO_OK; k++)
        dealt |= 1 << fmo_fock_plan_device(plans[k]);
    for (int d = 0; d < devices; d++)
        CHECK(status != FMO_OK || dealt >> device[d] & 1, "no plan on GPU %d", device[d]);
    if (status == FMO_OK) status = fmo_fock_plan_create(basis[0], &o, &plans[PLANS], &err);
    CHECK(status != FMO_OK || fmo_fock_plan_device(plans[PLANS]) == device[0], "GPU %d",
          fmo_fock_plan_device(plans[PLANS]));
    for (int k = 0; k <= PLANS && status == FMO_OK; k++) {
        const int n = fmo_basis_ao_num(basis[k % PLANS]);
        const size_t num = (size_t)n * (size_t)n;
        built one;
        D[k] = random_density(n, 1.0, &seed);
        got[k] = calloc(2 * num, sizeof *got[k]);
        expected[k] = calloc(2 * num, sizeof *expected[k]);
        one = (built){.J = expected[k], .K = expected[k] + num};
        (void)build(basis[k % PLANS], &alone, D[k], &one);
        jobs[k] = (fmo_fock_job){
            .plan = plans[k], .density = D[k], .coulomb = got[k], .exchange = got[k] + num};
    }
    if (status == FMO_OK) status = fmo_fock_build_batch(jobs, PLANS + 1, &err);
    CHECK(status == FMO_OK, "batch on several GPUs: %s", err.message);
    for (int k = 0; k <= PLANS && status == FMO_OK; k++) {
        const size_t n = (size_t)fmo_basis_ao_num(basis[k % PLANS]);
        CHECK(memcmp(got[k], expected[k], 2 * n * n * sizeof *got[k]) == 0, "job %d: other bits",
              k);
        free(D[k]);
        free(got[k]);
        free(expected[k]);
    }
    for (int k = 0; k <= PLANS; k++) fmo_fock_plan_destroy(plans[k]);
    for (int k = 0; k < PLANS; k++) fmo_basis_destroy((fmo_basis *)basis[k]);
}

static void check_refusals(const fmo_basis *basis)
{
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    const int missing[2] = {0, fmo_gpu_num()};
    fmo_fock_options o = options_of(2, missing, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 1e-10);
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_NO_DEVICE &&
              strstr(err.message, "there are"),
          "a GPU that is not there: %s", err.message);
}

/* Runs the checks with one GPU taken two or three times, and with all GPUs if there are several. */
int main(void)
{
    static const int one_gpu[3] = {0, 0, 0};
    static test_system small, large, d, f, other;
    int every[FMO_DEVICES_MAX], code = 0;
    if (!system_has_gpu(&code)) return code;
    const int few = getenv("FMO_TEST_SMALL") != NULL, gpus = fmo_gpu_num();
    static const int shells[3] = {6, 4, 4};
    system_random(&small, 6, 7, 5, 3, 6.0, &seed);
    system_shuffle_functions(&small, &seed);
    system_random(&large, few ? 8 : 24, few ? 10 : 40, few ? 8 : 30, 4, 16.0, &seed);
    system_random_d(&d, 0, 4, shells, 3, 6.0, &seed);
    system_random_d(&f, 0, 2, shells, 2, 6.0, &seed);
    system_add_shell(&f, 3, 2, &seed);
    system_add_shell(&f, 3, 1, &seed);
    system_random(&other, 3, 4, 5, 3, 5.0, &seed);
    for (int num = 2; num <= 3; num++) {
        check_system(&small, one_gpu, num, 1.0);
        check_system(&large, one_gpu, num, 1.0);
        check_system(&d, one_gpu, num, 1.0);
        check_split(&small, one_gpu, num, 1.0);
        check_split(&large, one_gpu, num, 1.0);
    }
    check_system(&small, one_gpu, 2, 30.0); /* pairs are made again */
    check_split(&small, one_gpu, 2, 30.0);
    check_system(&f, one_gpu, 2, 1.0);
    check_source(&d, &other, one_gpu, 2);
    check_source(&f, &other, one_gpu, 2);
    check_source(&other, &d, one_gpu, 2);
    check_batch(one_gpu, 2);
    if (gpus > 1) {
        const int num = gpus < FMO_DEVICES_MAX ? gpus : FMO_DEVICES_MAX;
        for (int k = 0; k < num; k++) every[k] = k;
        check_system(&small, every, num, 1.0);
        check_system(&large, every, num, 1.0);
        check_system(&d, every, num, 1.0);
        check_system(&f, every, num, 1.0);
        check_system(&small, every, num, 30.0);
        check_split(&small, every, num, 1.0);
        check_split(&large, every, num, 1.0);
        check_source(&d, &other, every, num);
        check_batch(every, num);
    }
    fmo_basis *basis = system_basis(&small);
    if (basis) check_refusals(basis);
    fmo_basis_destroy(basis);
    printf("%d GPUs\n", gpus);
    return check_summary();
}
