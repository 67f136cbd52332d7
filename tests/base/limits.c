/* More threads than possible: requested by options, by the environment (its other ctest entry has
 * OMP_NUM_THREADS=99999999), and where the system limits the threads of a process. libgomp ends a
 * process that cannot start a thread; the library must use fewer, report it, and give the right
 * result. */
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmo/one_electron.h>

#include "tests/support/calls.h"
#include "tests/support/system.h"

/* A user ID without processes: the limit counts all processes of a user. */
static unsigned other_user(void)
{
    return 100000u + (unsigned)getpid();
}

static unsigned long long seed = 3;

/* One build; returns its threads, 0 if it failed. */
static int build(const fmo_basis *basis, fmo_mode mode, int threads, const double *D, double *J,
                 char *notice)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    const fmo_fock_options o = fock_options(mode, threads, 1e-10);
    fmo_fock_profile profile = {.threads = 0};
    fock_build(basis, &o, D, J, J + n * n, &profile);
    strcpy(notice, profile.notice);
    return profile.threads;
}

/* Calls everything that uses threads, in a process that may start at most `most - 1` of them. */
static int in_child(const fmo_basis *basis, const double *D, const double *expected,
                    rlim_t max_threads)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    const struct rlimit limit = {max_threads, max_threads};
    double *const J = malloc(2 * n * n * sizeof *J);
    char notice[sizeof((fmo_fock_profile *)0)->notice];
    if (geteuid() == 0 && (setgid(other_user()) != 0 || setuid(other_user()) != 0))
        return check_skip("no other user to be");
    CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0, "no limit");
    const int possible = fmo_fock_threads(16);
    CHECK(possible >= 1 && (rlim_t)possible <= max_threads, "%d threads with a limit of %d",
          possible, (int)max_threads);
    CHECK(fmo_overlap(basis, J, NULL) == FMO_OK, "overlap");
    const int used = build(basis, FMO_MODE_CPU, 16, D, J, notice);
    CHECK((rlim_t)used <= max_threads && strstr(notice, "instead of 16"), "%d threads, \"%s\"",
          used, notice);
    check_close("J and K under a limit", J, expected, 2 * n * n, n, 1e-11, 1e-13);
    /* and a batch of plans, which are made by several threads */
    fmo_fock_options o;
    fmo_fock_plan *plans[3] = {NULL};
    const fmo_basis *const bases[3] = {basis, basis, basis};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 16;
    CHECK(fmo_fock_plan_create_batch(bases, 3, &o, plans, NULL) == FMO_OK, "a batch of plans");
    for (int k = 0; k < 3 && plans[k]; k++) {
        CHECK(fmo_fock_build(plans[k], D, J, J + n * n, NULL) == FMO_OK, "build %d", k);
        fmo_fock_plan_destroy(plans[k]);
    }
    free(J);
    return check_summary();
}

static void check_limits(const fmo_basis *basis, const double *D, const double *expected)
{
    /* A user other than root may have no processes left. */
    static const rlim_t limits[] = {1, 2, 3, 6};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const rlim_t max_threads = geteuid() == 0 ? limits[k] : 1;
        int status = -1;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            check_count = check_failures = 0;
            exit(in_child(basis, D, expected, max_threads));
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                  (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CHECK_SKIP_CODE),
              "limit of %d: the process ended with status %#x", (int)max_threads, (unsigned)status);
    }
}

/* An address space for a few stacks: the number of threads is reduced. */
static void check_address_space(const fmo_basis *basis, const double *D, const double *expected)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)basis, (void)D, (void)expected; /* the sanitizers' shadow memory needs all of it */
#else
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char notice[sizeof((fmo_fock_profile *)0)->notice];
        double *const J = malloc(2 * n * n * sizeof *J);
        const struct rlimit limit = {(rlim_t)600 << 20, (rlim_t)600 << 20};
        check_count = check_failures = 0;
        CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
        const int used = build(basis, FMO_MODE_CPU, 4096, D, J, notice);
        CHECK(used >= 1 && *notice, "%d threads, \"%s\"", used, notice);
        check_close("J and K in 600 MB", J, expected, 2 * n * n, n, 1e-11, 1e-13);
        free(J);
        exit(check_summary());
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "600 MB: the process ended with status %#x", (unsigned)status);
#endif
}

/* Children come first: a process that has used OpenMP must not use it after a fork. */
int main(void)
{
    static test_system molecule;
    char notice[sizeof((fmo_fock_profile *)0)->notice];
    system_random(&molecule, 3, 4, 2, 3, 4.0, &seed);
    fmo_basis *basis = system_basis(&molecule);
    if (!basis) return check_summary();
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const D = random_density((int)n, 1.0, &seed);
    double *const J = malloc(4 * n * n * sizeof *J), *const expected = J + 2 * n * n;
    CHECK(build(basis, FMO_MODE_CPU, 1, D, expected, notice) == 1 && !*notice, "1 thread: \"%s\"",
          notice);
    check_limits(basis, D, expected);
    check_address_space(basis, D, expected);

    const int max_threads = omp_get_num_procs() > 16 ? 4 * omp_get_num_procs() : 64;
    CHECK(fmo_fock_threads(1) == 1 && fmo_fock_threads(2) == 2, "few threads");
    CHECK(fmo_fock_threads(65536) <= max_threads && fmo_fock_threads(65536) > 1, "%d threads",
          fmo_fock_threads(65536));
    static const fmo_mode modes[] = {FMO_MODE_CPU, FMO_MODE_REFERENCE};
    for (int m = 0; m < 2; m++) {
        const int used = build(basis, modes[m], 65536, D, J, notice);
        CHECK(used >= 1 && used <= max_threads && strstr(notice, "instead of 65536"),
              "%d threads, \"%s\"", used, notice);
        check_close("J and K of 65536 threads", J, expected, 2 * n * n, n, 1e-8, 0.0);
    }
    const int usual = omp_get_max_threads();
    omp_set_num_threads(99999999);
    CHECK(fmo_fock_threads(0) <= max_threads, "OMP_NUM_THREADS of 99999999: %d",
          fmo_fock_threads(0));
    const int used = build(basis, FMO_MODE_CPU, 0, D, J, notice);
    CHECK(used <= max_threads && strstr(notice, "instead of 99999999"), "%d threads, \"%s\"", used,
          notice);
    CHECK(fmo_kinetic(basis, J, NULL) == FMO_OK, "one-electron matrices");
    omp_set_num_threads(usual < max_threads ? usual : max_threads);
    CHECK(build(basis, FMO_MODE_CPU, 2, D, J, notice) == 2 && !*notice, "2 threads: \"%s\"",
          notice);
    free(D);
    free(J);
    fmo_basis_destroy(basis);
    return check_summary();
}
