/* Threads of builds and SCFs: with few functions one, whatever was requested, because a team would
 * wait longer than it works; with many functions as requested. What ran before in the process does
 * not matter. The driver's time beside other load: several threads against one. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmo/scf.h>

#include "tests/support/calls.h"
#include "tests/support/check.h"
#include "tests/support/molecule.h"

static int build_threads(const char *name, int requested)
{
    fmo_dataset *const dataset = molecule_dataset(name, "6-31g");
    const size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    double *const D = calloc(3 * n * n + 1, sizeof *D);
    const fmo_fock_options o = fock_options(FMO_MODE_CPU, requested, 1e-10);
    fmo_fock_profile profile = {.threads = 0};
    fock_build(fmo_dataset_basis(dataset), &o, D, D + n * n, D + 2 * n * n, &profile);
    fmo_dataset_destroy(dataset);
    free(D);
    return profile.threads;
}

static int scf_threads(const char *name)
{
    fmo_dataset *const dataset = molecule_dataset(name, "6-31g");
    fmo_scf_options o;
    fmo_scf_result *result = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    const fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                                 .electron_num = fmo_dataset_electron_num(dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
    CHECK(fmo_scf_run(&input, &o, &result, &err) == FMO_OK, "%s: %s", name, err.message);
    const int threads = result ? result->fock_profile.threads : 0;
    fmo_scf_result_destroy(result);
    fmo_dataset_destroy(dataset);
    return threads;
}

/* The fastest of several runs of the driver. */
static double driver_seconds(const char *driver, const char *threads)
{
    double best = INFINITY;
    for (int k = 0; k < 7; k++) {
        struct timespec begin, end;
        int status = -1;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        const pid_t child = fork();
        if (child == 0) {
            (void)execl(driver, driver, FMO_DATASET_DIR "/xyz/water001.xyz", "--basis", "6-31g",
                        "--scf", "--mode", "cpu", "--threads", threads, "--quiet", (char *)NULL);
            _exit(127);
        }
        (void)waitpid(child, &status, 0);
        clock_gettime(CLOCK_MONOTONIC, &end);
        best = fmin(best, (double)(end.tv_sec - begin.tv_sec) +
                              1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    }
    return best;
}

/* With a process that computes on every processor, twice. */
static void check_load(const char *driver)
{
    enum { MAX = 256 };
    pid_t busy[MAX];
    int num = 0;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (; num < 2 * processors && num < MAX; num++) {
        busy[num] = fork();
        if (busy[num] == 0)
            for (volatile long x = 0;; x++) continue;
    }
    const double one = driver_seconds(driver, "1");
    static const char *const more[] = {"2", "4", "8"};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        const double several = driver_seconds(driver, more[k]);
        CHECK(several < 2.0 * one + 0.1, "%s threads: %.3f s, one: %.3f s", more[k], several, one);
    }
    while (num) {
        (void)kill(busy[--num], SIGKILL);
        (void)waitpid(busy[num], NULL, 0);
    }
}

int main(int argc, char **argv)
{
    (void)unsetenv("FMO_TEST_TEAMS");
    if (argc > 1) {
        check_load(argv[1]);
        return check_summary();
    }
    for (int requested = 1; requested <= 8; requested *= 2)
        CHECK(build_threads("water001", requested) == 1, "%d threads for one water",
              build_threads("water001", requested));
    CHECK(build_threads("water008", 2) == 2, "one thread of 2 for eight waters");
    const int first = scf_threads("n2"), second = scf_threads("n2");
    CHECK(first == second, "%d threads in the first SCF, then %d", first, second);
    return check_summary();
}
