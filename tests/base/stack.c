/* Threads with little stack: what the library does in them it does, or it refuses, in one line that
 * names the cure. stack SIZE: everything in a POSIX thread with a stack of so many KB, and as it is
 * in a team; each time in a process of its own, which is to end by itself. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmo/fragment.h>
#include <fmo/one_electron.h>
#include <fmo/scf.h>

#include "tests/support/check.h"
#include "tests/support/molecule.h"
#include "tests/support/system.h"

static fmo_dataset *dataset;
static fmo_basis *with_g;
static int team;

static void answered(const char *what, fmo_status status, const fmo_error *err)
{
    CHECK(status == FMO_OK || (status == FMO_ERR_MEMORY && strstr(err->message, "stack")),
          "%s: status %d, %s", what, (int)status, err->message);
    CHECK(!team || status == FMO_OK, "%s of a team: %s", what, err->message);
}

/* Runs a build of J and K of the unit matrix, and of J alone. */
static void build(const char *what, const fmo_basis *basis, const fmo_fock_options *o)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const D = calloc(3 * n * n, sizeof *D);
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    for (size_t i = 0; i < n; i++) D[i * n + i] = 1.0;
    fmo_status status = fmo_fock_plan_create(basis, o, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, D + n * n, D + 2 * n * n, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, D + n * n, NULL, &err);
    answered(what, status, &err);
    fmo_fock_profile profile;
    if (team && status == FMO_OK && fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK)
        CHECK(strstr(profile.notice, "OMP_STACKSIZE") ? profile.threads == 1 : profile.threads == 2,
              "%d threads, \"%s\"", profile.threads, profile.notice);
    fmo_fock_plan_destroy(plan);
    free(D);
}

/* Runs builds with d and with g shells, one-electron matrices and an SCF. */
static void *run(void *user)
{
    const fmo_basis *const basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const D = calloc(2 * n * n, sizeof *D);
    fmo_fock_options o;
    fmo_error err = {FMO_OK, ""}, none = err;
    (void)user;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = team ? 2 : 1;
    build("build", basis, &o);
    build("build with g shells", with_g, &o);
    answered("overlap", fmo_overlap(basis, D + n * n, &err), &err);
    err = none;
    answered("attraction", fmo_nuclear_attraction(basis, D + n * n, &err), &err);
    fmo_scf_options scf;
    fmo_scf_result *result = NULL;
    fmo_scf_options_init(&scf);
    scf.fock = o;
    scf.fock.cutoff = 1e-12;
    const fmo_scf_input input = {.basis = basis,
                                 .electron_num = fmo_dataset_electron_num(dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
    err = none;
    answered("SCF", fmo_scf_run(&input, &scf, &result, &err), &err);
    fmo_scf_result_destroy(result);
    free(D);
    return NULL;
}

/* Body of a child process: makes the calls of run() in a thread with a stack of this size or, if
 * `team` is set, in OpenMP's threads, whose stack size is in the environment of the child. */
static int in_child(size_t kilobytes)
{
    pthread_attr_t attr;
    pthread_t thread;
    static test_system system;
    static const int shells[] = {1, 0, 0, 1, 1};
    unsigned long long seed = 5;
    dataset = molecule_dataset("ch2o", "cc-pvdz");
    system_random_kinds(&system, 0, 1, 5, shells, 2, 3.0, &seed);
    with_g = system_basis(&system);
    if (!dataset || !with_g) return 1;
    if (team) {
        run(NULL);
    } else {
        pthread_attr_init(&attr);
        CHECK(pthread_attr_setstacksize(&attr, kilobytes << 10) == 0, "%zu KB", kilobytes);
        /* The C library refuses less than it needs itself. */
        const int started = pthread_create(&thread, &attr, run, NULL) == 0;
        CHECK(started ? pthread_join(thread, NULL) == 0 : kilobytes < 128, "%zu KB", kilobytes);
        pthread_attr_destroy(&attr);
    }
    fmo_dataset_destroy(dataset);
    fmo_basis_destroy(with_g);
    return check_summary();
}

/* Runs the program again in a child process for each size of stack, once for a thread and once for
 * a team; no child may crash. */
int main(int argc, char **argv)
{
    static const char *const sizes[] = {"64",  "128", "256", "384",  "460", "512",
                                        "576", "640", "880", "1024", "8192"};
    if (argc > 2) {
        team = strcmp(argv[1], "team") == 0;
        return in_child((size_t)atol(argv[2]));
    }
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        const char *const size = sizes[k / 2], *const how = k % 2 ? "team" : "thread";
        char stack[32];
        int status = -1;
        snprintf(stack, sizeof stack, "%sk", size);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            if (k % 2) (void)setenv("OMP_STACKSIZE", stack, 1);
            (void)execl(argv[0], argv[0], how, size, (char *)NULL);
            _exit(127);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
              "%s of %s KB: the process ended with status %#x", how, size, (unsigned)status);
    }
    return check_summary();
}
