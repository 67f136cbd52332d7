/* The plan/execute interface of fock.h: refused arguments and their messages, outputs that an error
 * leaves untouched, plans and threads side by side, several builds on one plan, progress, memory,
 * names. */
#include <omp.h>
#include <pthread.h>

#include "base/blas.h"
#include "tests/support/calls.h"
#include "tests/support/system.h"
#include "integrals/tables.h"

enum { N_MAX = 64 };

static unsigned long long seed = 4711;
static test_system molecule;

static fmo_basis *make_basis(void)
{
    system_random(&molecule, 4, 5, 3, 3, 4.0, &seed);
    system_shuffle_functions(&molecule, &seed);
    return system_basis(&molecule);
}

static fmo_fock_options options_of(fmo_mode mode, int threads)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.threads = threads;
    return o;
}

/* Every mode, reduction, class, strategy and update has its name and text, and numbers outside the
 * tables have none. */
static void check_names(void)
{
    static const char *const mode[] = {"auto", "cpu", "reference", "fused", "split"};
    static const char *const reduce[] = {"tree", "atomic", "serial"};
    static const char *const eri_class[] = {
        "ssss", "psss", "psps", "ppss", "ppps", "pppp", "dsss", "dsps", "dspp", "dsds", "dpss",
        "dpps", "dppp", "dpds", "dpdp", "ddss", "ddps", "ddpp", "ddds", "dddp", "dddd", "fsss",
        "fsps", "fspp", "fsds", "fsdp", "fsdd", "fsfs", "fpss", "fpps", "fppp", "fpds", "fpdp",
        "fpdd", "fpfs", "fpfp", "fdss", "fdps", "fdpp", "fdds", "fddp", "fddd", "fdfs", "fdfp",
        "fdfd", "ffss", "ffps", "ffpp", "ffds", "ffdp", "ffdd", "fffs", "fffp", "fffd", "ffff",
        "gsss", "gsps", "gspp", "gsds", "gsdp", "gsdd", "gsfs", "gsfp", "gsfd", "gsff", "gsgs",
        "gpss", "gpps", "gppp", "gpds", "gpdp", "gpdd", "gpfs", "gpfp", "gpfd", "gpff", "gpgs",
        "gpgp", "gdss", "gdps", "gdpp", "gdds", "gddp", "gddd", "gdfs", "gdfp", "gdfd", "gdff",
        "gdgs", "gdgp", "gdgd", "gfss", "gfps", "gfpp", "gfds", "gfdp", "gfdd", "gffs", "gffp",
        "gffd", "gfff", "gfgs", "gfgp", "gfgd", "gfgf", "ggss", "ggps", "ggpp", "ggds", "ggdp",
        "ggdd", "ggfs", "ggfp", "ggfd", "ggff", "gggs", "gggp", "gggd", "gggf", "gggg"};
    _Static_assert(sizeof eri_class / sizeof *eri_class == FMO_ERI_CLASS_COUNT, "names of classes");
    for (int i = 0; i < FMO_MODE_COUNT; i++)
        CHECK(!strcmp(fmo_mode_name((fmo_mode)i), mode[i]) && *fmo_mode_text((fmo_mode)i),
              "mode %d", i);
    for (int i = 0; i < FMO_REDUCE_COUNT; i++)
        CHECK(!strcmp(fmo_reduce_name((fmo_reduce)i), reduce[i]) && *fmo_reduce_text((fmo_reduce)i),
              "reduce %d", i);
    for (int i = 0; i < FMO_ERI_CLASS_COUNT; i++)
        CHECK(!strcmp(fmo_eri_class_name((fmo_eri_class)i), eri_class[i]), "class %d", i);
    for (int i = 0; i < FMO_SCATTER_COUNT; i++)
        CHECK(*fmo_scatter_name((fmo_scatter)i) && *fmo_scatter_text((fmo_scatter)i) &&
                  *fmo_scatter_determinism((fmo_scatter)i),
              "scatter %d", i);
    CHECK(!strcmp(fmo_scatter_name(FMO_SCATTER_WARP_MATCH), "warp-match") &&
              !strcmp(fmo_scatter_determinism(FMO_SCATTER_FIXED), "run-to-run") &&
              fmo_scatter_takes_commit(FMO_SCATTER_NATIVE) &&
              !fmo_scatter_takes_commit(FMO_SCATTER_FIXED) &&
              fmo_scatter_kind(FMO_SCATTER_TILE) == FMO_SCATTER_SCHEDULE,
          "scatter table");
    CHECK(!strcmp(fmo_commit_name(FMO_COMMIT_NATIVE), "native") &&
              !strcmp(fmo_commit_name(FMO_COMMIT_CAS), "cas") && *fmo_commit_text(FMO_COMMIT_CAS),
          "commit table");
    static const int outside[] = {-1, 1000, -2147483647 - 1, 2147483647};
    for (int i = 0; i < 4; i++)
        CHECK(!fmo_mode_name((fmo_mode)outside[i]) && !fmo_mode_text((fmo_mode)outside[i]) &&
                  !fmo_reduce_name((fmo_reduce)outside[i]) &&
                  !fmo_reduce_text((fmo_reduce)outside[i]) &&
                  !fmo_eri_class_name((fmo_eri_class)outside[i]) &&
                  !fmo_scatter_name((fmo_scatter)outside[i]) &&
                  !fmo_scatter_text((fmo_scatter)outside[i]) &&
                  !fmo_scatter_determinism((fmo_scatter)outside[i]) &&
                  !fmo_scatter_takes_commit((fmo_scatter)outside[i]) &&
                  fmo_scatter_kind((fmo_scatter)outside[i]) == FMO_SCATTER_CHOICE &&
                  !fmo_commit_name((fmo_commit)outside[i]) &&
                  !fmo_commit_text((fmo_commit)outside[i]),
              "a name for %d", outside[i]);
    CHECK(!fmo_mode_name(FMO_MODE_COUNT) && !fmo_reduce_name(FMO_REDUCE_COUNT) &&
              !fmo_eri_class_name(FMO_ERI_CLASS_COUNT),
          "a name for the count");
}

#define REFUSED(field, value, fragment)                              \
    do {                                                             \
        fmo_fock_options bad = options_of(FMO_MODE_CPU, 1);          \
        bad.field = value;                                           \
        check_plan_refused(basis, &bad, FMO_ERR_ARGUMENT, fragment); \
    } while (0)

/* The defaults of the options; every value out of range is refused; GPU modes are there or are
 * refused by name; device pointers are refused in mode cpu. */
static void check_options(const fmo_basis *basis)
{
    fmo_fock_options o;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    memset(&o, 0xff, sizeof o);
    fmo_fock_options_init(&o);
    CHECK(o.mode == FMO_MODE_AUTO && o.reduce == FMO_REDUCE_TREE && o.threads == 0 &&
              o.cutoff == 1e-10 && o.memory == 0 && !o.progress && !o.progress_user &&
              o.scatter == FMO_SCATTER_AUTO && o.commit == FMO_COMMIT_NATIVE && !o.no_overlap &&
              !o.measure_accumulation && o.device == -1 && !o.stream,
          "defaults");
    fmo_fock_options_init(NULL);

    check_plan_refused(NULL, &o, FMO_ERR_ARGUMENT, "fmo_fock_plan_create: basis is NULL");
    CHECK(fmo_fock_plan_create(basis, &o, NULL, NULL) == FMO_ERR_ARGUMENT, "NULL plan");

    REFUSED(mode, (fmo_mode)FMO_MODE_COUNT, "options.mode = 5: no such mode");
    REFUSED(mode, (fmo_mode)-1, "options.mode = -1: no such mode");
    REFUSED(reduce, (fmo_reduce)FMO_REDUCE_COUNT, "options.reduce = 3: no such form");
    REFUSED(reduce, FMO_REDUCE_SERIAL, "reduce = serial belongs to mode split");
    REFUSED(scatter, FMO_SCATTER_COUNT, "no such strategy");
    REFUSED(scatter, (fmo_scatter)-1, "options.scatter = -1: no such strategy");
    REFUSED(commit, FMO_COMMIT_COUNT, "options.commit = 2: no such form");
    REFUSED(threads, -1, "options.threads = -1: expected 0 to 65536");
    REFUSED(threads, 65537, "options.threads = 65537");
    REFUSED(cutoff, -1e-12, "options.cutoff = -1e-12: expected 0 to 1");
    REFUSED(cutoff, NAN, "options.cutoff = nan");
    REFUSED(cutoff, INFINITY, "options.cutoff = inf");
    REFUSED(cutoff, 1.5, "options.cutoff = 1.5");
    REFUSED(device, -2, "options.device = -2: expected the number of a GPU, or -1");
    REFUSED(device_num, -1, "options.device_num = -1: expected 0 to 16");
    REFUSED(device_num, FMO_DEVICES_MAX + 1, "options.device_num = 17: expected 0 to 16");

    o = options_of(FMO_MODE_REFERENCE, 1);
    o.integrals = FMO_INTEGRALS_STORED;
    check_plan_refused(basis, &o, FMO_ERR_UNSUPPORTED,
                       "stored belongs to modes cpu and fused; mode reference");

    /* GPU modes are available, or are refused by name. */
    static const fmo_mode gpu[] = {FMO_MODE_FUSED, FMO_MODE_SPLIT};
    for (int m = 0; m < 2; m++) {
        o = options_of(gpu[m], 1);
        err = (fmo_error){FMO_OK, ""};
        const fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
        CHECK(status == FMO_OK || status == FMO_ERR_UNSUPPORTED || status == FMO_ERR_NO_DEVICE,
              "mode %s: %s", fmo_mode_name(gpu[m]), err.message);
        CHECK((status == FMO_OK) == (plan != NULL), "plan and status disagree");
        if (status != FMO_OK)
            CHECK(strstr(err.message, fmo_mode_name(gpu[m])) && strstr(err.message, "cpu"),
                  "the message names neither mode nor cure: %s", err.message);
        fmo_fock_plan_destroy(plan);
    }
    fmo_fock_plan_destroy(NULL);

    /* Whether there is a GPU agrees with what the modes report. */
    err = (fmo_error){FMO_OK, ""};
    const fmo_status available = fmo_gpu_available(&err);
    CHECK(available == FMO_OK || (available == FMO_ERR_NO_DEVICE && *err.message), "%s",
          err.message);
    o = options_of(FMO_MODE_CPU, 1);
    static double device[3 * N_MAX * N_MAX]; /* GPU pointers are for a plan of mode fused */
    CHECK(fmo_fock_plan_create(basis, &o, &plan, NULL) == FMO_OK, "plan");
    CHECK_REFUSED(fmo_fock_build_device(plan, device, device + N_MAX * N_MAX,
                                        device + 2 * N_MAX * N_MAX, &err),
                  &err, FMO_ERR_ARGUMENT, "the plan's mode is cpu, expected fused");
    CHECK(fmo_fock_build_device(NULL, device, device, device, NULL) == FMO_ERR_ARGUMENT,
          "build_device of NULL");
    fmo_fock_plan_destroy(plan);
}

/* Several GPUs: options that exclude each other, and modes without a GPU. */
static void check_devices(const fmo_basis *basis)
{
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options o = options_of(FMO_MODE_AUTO, 1);
    o.device_num = 2;
    o.devices[1] = -1;
    check_plan_refused(basis, &o, FMO_ERR_ARGUMENT,
                       "options.devices[1] = -1: expected the number of a GPU");
    const fmo_basis *const both[2] = {basis, basis};
    fmo_fock_plan *plans[2] = {NULL, NULL};
    fmo_error errs[2];
    CHECK(fmo_fock_plan_create_batch(both, 2, &o, plans, errs) == FMO_ERR_ARGUMENT && !plans[0] &&
              !plans[1] && strstr(errs[1].message, "options.devices[1] = -1"),
          "a batch: %s", errs[1].message);
    o.devices[1] = 1;
    o.device = 1;
    check_plan_refused(basis, &o, FMO_ERR_ARGUMENT,
                       "options.device = 1 and options.devices: give one of them");
    o.device = -1;
    o.devices[0] = o.devices[1] = 1000; /* a GPU requested by number: no other mode replaces it */
    err.status = FMO_OK;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_NO_DEVICE && !plan, "%s",
          err.message);
    fmo_mode mode = FMO_MODE_COUNT;
    err.status = FMO_OK;
    CHECK(fmo_fock_choose_mode(basis, &o, &mode, NULL, &err) == FMO_ERR_NO_DEVICE, "%s",
          err.message);
    o.mode = FMO_MODE_CPU;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_fock_plan_device(plan) == -1 && fmo_fock_plan_device(NULL) == -1, "no GPU");
    fmo_fock_plan_destroy(plan);
    CHECK(fmo_gpu_num() >= 0 && (fmo_gpu_num() > 0 || fmo_gpu_available(NULL) != FMO_OK), "%d GPUs",
          fmo_gpu_num());
}

/* Mode auto reports which mode it chose and why; NULL options are the defaults. */
static void check_auto(const fmo_basis *basis, const double *D)
{
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    const int usual = omp_get_max_threads();
    omp_set_num_threads(2);
    CHECK(fmo_fock_plan_create(basis, NULL, &plan, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_fock_build(plan, D, J, K, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK, "%s", err.message);
    CHECK(profile.mode == FMO_MODE_CPU || profile.mode == FMO_MODE_FUSED, "auto became %d",
          profile.mode);
    fmo_mode mode = FMO_MODE_COUNT;
    char reason[160] = "";
    CHECK(fmo_fock_choose_mode(basis, NULL, &mode, reason, &err) == FMO_OK &&
              mode == profile.mode && strcmp(reason, profile.mode_reason) == 0,
          "requested: %s (%s); the plan: %s (%s)", fmo_mode_name(mode), reason,
          fmo_mode_name(profile.mode), profile.mode_reason);
    CHECK(*profile.mode_reason, "no reason given for mode %s", fmo_mode_name(profile.mode));
    if (profile.mode == FMO_MODE_CPU)
        CHECK(profile.threads == 2, "threads = 0 with OpenMP at 2: %d", profile.threads);
    fmo_fock_plan_destroy(plan);
    omp_set_num_threads(usual);
}

/* Densities that are refused, and what they leave behind. */
static void check_density(const fmo_basis *basis, const double *D, fmo_mode mode)
{
    static double bad[N_MAX * N_MAX], J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    static double J0[N_MAX * N_MAX], K0[N_MAX * N_MAX];
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    const fmo_fock_options o = options_of(mode, 2);
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    if (!plan) return;
    CHECK_REFUSED(fmo_fock_plan_profile(plan, &profile, &err), &err, FMO_ERR_ARGUMENT,
                  "nothing has been built");
    CHECK(fmo_fock_plan_profile(NULL, &profile, NULL) == FMO_ERR_ARGUMENT &&
              fmo_fock_plan_profile(plan, NULL, NULL) == FMO_ERR_ARGUMENT,
          "profile of NULL");
    CHECK(fmo_fock_build(NULL, D, J, K, NULL) == FMO_ERR_ARGUMENT &&
              fmo_fock_build(plan, NULL, J, K, NULL) == FMO_ERR_ARGUMENT &&
              fmo_fock_build(plan, D, NULL, NULL, NULL) == FMO_ERR_ARGUMENT,
          "build with NULL");
    CHECK(fmo_fock_build(plan, D, J0, K0, &(fmo_error){FMO_OK, ""}) == FMO_OK, "build");

    const struct {
        int row, column;
        double value;
        const char *fragment;
    } cases[] = {{2, 1, NAN, "density[2][1] = nan: not finite"},
                 {n - 1, n - 1, INFINITY, "= inf: not finite"},
                 {0, 0, -INFINITY, "density[0][0] = -inf: not finite"},
                 {3, 2, D[3 * n + 2] + 1e-8, "density[3][2] - density[2][3] = 1e-08: expected a"},
                 {0, n - 1, 40.0, "expected a symmetric density"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        memcpy(bad, D, size * sizeof *bad);
        bad[cases[c].row * n + cases[c].column] = cases[c].value;
        for (size_t x = 0; x < size; x++) J[x] = K[x] = 0.1 + (double)x;
        err = (fmo_error){FMO_OK, ""};
        CHECK(fmo_fock_build(plan, bad, J, K, &err) == FMO_ERR_INPUT, "accepted: %s",
              cases[c].fragment);
        CHECK(strstr(err.message, cases[c].fragment), "message \"%s\" lacks \"%s\"", err.message,
              cases[c].fragment);
        size_t touched = 0;
        for (size_t x = 0; x < size; x++) touched += J[x] != 0.1 + (double)x || K[x] != J[x];
        CHECK(!touched, "%zu elements written in spite of the error", touched);
        CHECK(fmo_fock_plan_profile(plan, &profile, NULL) == FMO_ERR_ARGUMENT,
              "a profile of a build that failed");
    }
    /* The plan still gives the right result afterwards. */
    CHECK(fmo_fock_build(plan, D, J, K, NULL) == FMO_OK, "build after errors");
    check_close("J after errors", J, J0, size, (size_t)n, 1e-11, 0.0);
    check_close("K after errors", K, K0, size, (size_t)n, 1e-11, 0.0);

    /* Asymmetry within 1e-10 of the largest element is averaged away. */
    memcpy(bad, D, size * sizeof *bad);
    bad[1] += 4e-11, bad[n] -= 4e-11;
    CHECK(fmo_fock_build(plan, bad, J, K, NULL) == FMO_OK, "slight asymmetry");
    check_close("J, averaged", J, J0, size, (size_t)n, 1e-11, 0.0);

    /* No density, no integrals. */
    memset(bad, 0, size * sizeof *bad);
    CHECK(fmo_fock_build(plan, bad, J, K, NULL) == FMO_OK, "zero density");
    for (size_t x = 0; x < size; x++) CHECK(J[x] == 0.0 && K[x] == 0.0, "element %zu", x);
    fmo_fock_plan_destroy(plan);
}

/* A build on a used plan equals that of a new plan, bit for bit with one thread. The basis is
 * destroyed before. */
static void check_reuse(fmo_mode mode)
{
    enum { DENSITIES = 3 };
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    static double J0[DENSITIES][N_MAX * N_MAX], K0[DENSITIES][N_MAX * N_MAX];
    double *D[DENSITIES];
    fmo_basis *basis = make_basis();
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    const fmo_fock_options o = options_of(mode, 1);
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    for (int d = 0; d < DENSITIES; d++) {
        D[d] = random_density(n, d ? 1.0 : 0.1, &seed);
        fock_build(basis, &o, D[d], J0[d], K0[d], NULL);
    }
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    fmo_basis_destroy(basis);
    for (int turn = 0; turn < 7; turn++) {
        const int d = turn * 2 % DENSITIES;
        memset(J, 0xff, sizeof J);
        memset(K, 0xff, sizeof K);
        CHECK(fmo_fock_build(plan, D[d], J, K, &err) == FMO_OK, "%s", err.message);
        CHECK(!memcmp(J, J0[d], size * sizeof *J) && !memcmp(K, K0[d], size * sizeof *K),
              "mode %s: build %d on one plan is not that of a fresh plan", fmo_mode_name(mode),
              turn);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                CHECK(J[i * n + j] == J[j * n + i] && K[i * n + j] == K[j * n + i],
                      "(%d,%d) not symmetric", i, j);
    }
    /* A density beyond the pruning limit, then the small one again: within the cutoff. */
    double *large = random_density(n, 500.0, &seed);
    CHECK(fmo_fock_build(plan, large, J, K, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_fock_build(plan, D[1], J, K, &err) == FMO_OK, "%s", err.message);
    check_close("J after a large density", J, J0[1], size, (size_t)n, 1e-10, 0.0);
    check_close("K after a large density", K, K0[1], size, (size_t)n, 1e-10, 0.0);
    free(large);
    for (int d = 0; d < DENSITIES; d++) free(D[d]);
    fmo_fock_plan_destroy(plan);
}

/* One plan and many builds, as one of several at a time. */
typedef struct job {
    const fmo_basis *basis;
    const double *D, *J0, *K0;
    fmo_fock_options options;
    double error;
    int failures;
} job;

static void run_job(job *j)
{
    const size_t n = (size_t)fmo_basis_ao_num(j->basis);
    double *J = malloc(2 * n * n * sizeof *J), *K = J + n * n;
    fmo_fock_plan *plan = NULL;
    j->failures = fmo_fock_plan_create(j->basis, &j->options, &plan, NULL) != FMO_OK;
    for (int turn = 0; plan && turn < 8; turn++) {
        j->failures += fmo_fock_build(plan, j->D, J, K, NULL) != FMO_OK;
        for (size_t x = 0; x < n * n; x++)
            j->error = fmax(j->error, fmax(fabs(J[x] - j->J0[x]), fabs(K[x] - j->K0[x])));
    }
    fmo_fock_plan_destroy(plan);
    free(J);
}

static void *run_thread(void *user)
{
    run_job(user);
    return NULL;
}

enum { JOBS = 4 };

static void make_jobs(const fmo_basis *basis, const double *D, const double *J0, const double *K0,
                      job *jobs)
{
    for (int t = 0; t < JOBS; t++) {
        jobs[t] = (job){basis, D, J0, K0, options_of(FMO_MODE_CPU, 2), 0.0, 0};
        if (t == 1) jobs[t].options.reduce = FMO_REDUCE_ATOMIC;
        if (t > 1) jobs[t].options.mode = FMO_MODE_REFERENCE;
    }
}

static void check_jobs(const char *name, const job *jobs)
{
    for (int t = 0; t < JOBS; t++)
        CHECK(jobs[t].failures == 0 && jobs[t].error < 1e-8, "%s, job %d: %d failures, error %.3g",
              name, t, jobs[t].failures, jobs[t].error);
}

/* Plans that are built in POSIX threads and in OpenMP threads of the caller at the same time give
 * the same J and K as alone, and BLAS's number of threads is restored. */
static void check_side_by_side(const fmo_basis *basis, const double *D)
{
    static double J0[N_MAX * N_MAX], K0[N_MAX * N_MAX];
    const fmo_fock_options o = options_of(FMO_MODE_REFERENCE, 1);
    const int blas_threads = fmo_blas_threads();
    pthread_t thread[JOBS];
    job jobs[JOBS];
    if (!fock_build(basis, &o, D, J0, K0, NULL)) return;

    make_jobs(basis, D, J0, K0, jobs);
    for (int t = 0; t < JOBS; t++) pthread_create(&thread[t], NULL, run_thread, &jobs[t]);
    for (int t = 0; t < JOBS; t++) pthread_join(thread[t], NULL);
    check_jobs("POSIX threads", jobs);
    CHECK(fmo_blas_threads() == blas_threads, "BLAS threads: %d, were %d", fmo_blas_threads(),
          blas_threads);

    /* Inside the caller's parallel region OpenMP grants one thread where two are requested. */
    make_jobs(basis, D, J0, K0, jobs);
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int t = 0; t < JOBS; t++) run_job(&jobs[t]);
    check_jobs("OpenMP threads", jobs);
}

/* A build uses the number of threads that was requested, its profile is consistent, and it leaves
 * BLAS's number of threads as it was. */
static void check_threads(const fmo_basis *basis, const double *D)
{
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    for (int threads = 1; threads <= 3; threads++) {
        const fmo_fock_options o = options_of(FMO_MODE_CPU, threads);
        fmo_fock_plan *plan = NULL;
        fmo_fock_profile profile;
        CHECK(fmo_fock_plan_create(basis, &o, &plan, NULL) == FMO_OK &&
                  fmo_fock_build(plan, D, J, K, NULL) == FMO_OK &&
                  fmo_fock_plan_profile(plan, &profile, NULL) == FMO_OK,
              "build");
        CHECK(profile.threads == threads, "requested %d threads, used %d", threads,
              profile.threads);
        CHECK(profile.mode == FMO_MODE_CPU && !*profile.mode_reason, "a reason without auto: %s",
              profile.mode_reason);
        CHECK(profile.seconds > 0 && profile.plan_seconds > 0 && profile.reduce_seconds >= 0,
              "times");
        double classes = 0.0;
        for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
            const fmo_class_profile *p = &profile.classes[c];
            if (p->quartets) classes += p->seconds;
            const int there = c < FMO_ERI_LOW_L_COUNT; /* s and p shells */
            CHECK((p->quartets > 0) == there && p->quartets_skipped >= 0 &&
                      p->prim_quartets >= p->quartets,
                  "class %s: %lld quartets, %lld primitive", fmo_eri_class_name((fmo_eri_class)c),
                  (long long)p->quartets, (long long)p->prim_quartets);
        }
        CHECK(classes <= profile.seconds, "classes take %g s of %g s", classes, profile.seconds);
        fmo_fock_plan_destroy(plan);
    }
    for (int before = 1; before <= 2;
         before++) { /* BLAS's number of threads follows and is restored */
        const int usual = fmo_blas_threads();
        const fmo_fock_options o = options_of(FMO_MODE_REFERENCE, 3 - before);
        fmo_blas_set_threads(before);
        fock_build(basis, &o, D, J, K, NULL);
        CHECK(fmo_blas_threads() == before, "BLAS threads: %d, were %d", fmo_blas_threads(),
              before);
        fmo_blas_set_threads(usual);
    }
}

typedef struct progress_log {
    int calls, falling, outside, foreign;
    double last;
    pthread_t thread;
} progress_log;

static void note_progress(double fraction, void *user)
{
    progress_log *log = user;
    log->calls++;
    log->falling += fraction < log->last;
    log->outside += !(fraction >= 0.0 && fraction <= 1.0);
    log->foreign += !pthread_equal(pthread_self(), log->thread);
    log->last = fraction;
}

static void check_progress(const fmo_basis *basis, const double *D)
{
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    static const fmo_mode mode[] = {FMO_MODE_CPU, FMO_MODE_REFERENCE};
    for (int m = 0; m < 2; m++)
        for (int threads = 1; threads <= 3; threads++) {
            progress_log log = {0, 0, 0, 0, 0.0, pthread_self()};
            fmo_fock_options o = options_of(mode[m], threads);
            o.progress = note_progress;
            o.progress_user = &log;
            fock_build(basis, &o, D, J, K, NULL);
            CHECK(log.calls >= 2 && !log.falling && !log.outside && !log.foreign && log.last == 1.0,
                  "mode %s, %d threads: %d calls, %d falling, %d outside 0..1, %d from other "
                  "threads, last %g",
                  fmo_mode_name(mode[m]), threads, log.calls, log.falling, log.outside, log.foreign,
                  log.last);
        }
}

/* A plan refuses a second call during a build; here the call comes from its progress callback. */
typedef struct second_call {
    fmo_fock_plan *plan;
    const double *D;
    int calls;
} second_call;

static void call_again(double fraction, void *user)
{
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    second_call *c = user;
    fmo_fock_job again = {.plan = c->plan, .density = c->D, .coulomb = J, .exchange = K};
    fmo_error err = {FMO_OK, ""}, batch = {FMO_OK, ""};
    (void)fraction;
    J[0] = K[0] = 4711.0;
    CHECK_REFUSED(fmo_fock_build(c->plan, c->D, J, K, &err), &err, FMO_ERR_ARGUMENT,
                  "another thread");
    CHECK(fmo_fock_build_batch(&again, 1, &batch) == FMO_ERR_ARGUMENT &&
              again.status == FMO_ERR_ARGUMENT && strstr(batch.message, "job 0: another thread"),
          "a plan in use: %s", batch.message);
    CHECK(J[0] == 4711.0 && K[0] == 4711.0, "a refused call wrote its matrices");
    c->calls++;
}

static void check_in_use(const fmo_basis *basis, const double *D)
{
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    fmo_error err = {FMO_OK, ""};
    second_call call = {NULL, D, 0};
    fmo_fock_options o = options_of(FMO_MODE_CPU, 2);
    o.progress = call_again;
    o.progress_user = &call;
    CHECK(fmo_fock_plan_create(basis, &o, &call.plan, &err) == FMO_OK, "%s", err.message);
    for (int n = 0; n < 2 && call.plan; n++)
        CHECK(fmo_fock_build(call.plan, D, J, K, &err) == FMO_OK, "%s", err.message);
    CHECK(call.calls >= 4, "%d calls", call.calls);
    fmo_fock_plan_destroy(call.plan);
}

/* Mode reference is refused before it allocates if its integrals do not fit into the memory limit.
 */
static void check_memory(const fmo_basis *basis, const double *D)
{
    static double J[N_MAX * N_MAX], K[N_MAX * N_MAX];
    const double n = fmo_basis_ao_num(basis);
    fmo_fock_options o = options_of(FMO_MODE_REFERENCE, 1);
    o.memory = 1;
    check_plan_refused(basis, &o, FMO_ERR_MEMORY, "mode reference stores all");
    o.memory = (size_t)(8 * n * n * n * n); /* just the tensor, without the tenth kept free */
    check_plan_refused(basis, &o, FMO_ERR_MEMORY, "use mode cpu");
    o.memory = (size_t)(8 * n * n * n * n * 1.2);
    fock_build(basis, &o, D, J, K, NULL);

    /* A tensor that no machine has, refused before anything is allocated. */
    static test_system s;
    system_random(&s, 100, 0, 250, 1, 100.0, &seed);
    fmo_basis *large = system_basis(&s);
    o.memory = 0;
    if (large)
        check_plan_refused(large, &o, FMO_ERR_MEMORY, "mode reference stores all 750^4 integrals");
    fmo_basis_destroy(large);
}

/* Runs all checks on one small molecule. */
int main(void)
{
    fmo_basis *basis = make_basis();
    check_names();
    if (!basis) return check_summary();
    const int n = fmo_basis_ao_num(basis);
    CHECK(n <= N_MAX, "%d functions", n);
    double *D = random_density(n, 1.0, &seed);
    check_options(basis);
    check_auto(basis, D);
    check_devices(basis);
    check_density(basis, D, FMO_MODE_CPU);
    check_density(basis, D, FMO_MODE_REFERENCE);
    check_reuse(FMO_MODE_CPU);
    check_reuse(FMO_MODE_REFERENCE);
    check_side_by_side(basis, D);
    check_threads(basis, D);
    check_progress(basis, D);
    check_in_use(basis, D);
    check_memory(basis, D);
    free(D);
    fmo_basis_destroy(basis);
    return check_summary();
}
