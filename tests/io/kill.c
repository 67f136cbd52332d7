/* A writer that is killed at any moment leaves the old file or the new one, byte for byte, and the
 * next write removes what it left beside. io_kill [FMO-DRIVER]: with the driver's path, the driver
 * is killed. */
#include "tests/support/check.h"
#include "driver/base/clock.h"
#include "io/output/file.h"
#include "tests/support/folder.h"
#include "tests/support/shipped.h"
#include "tests/io/orbitals.h"
#include <fmo/one_electron.h>
#include <fmo/result.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 100 };

static char directory[] = "/tmp/fmo-io-kill-XXXXXX";
static const char *const input = FMO_DATASET_DIR "/h2o_6-31g.h5";
static char target[1024];

static bool same(content a, content b)
{
    return a.bytes && b.bytes && a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* Kill a child after a random share of `seconds`; true if it was still running. */
static bool kill_after(pid_t child, double seconds, unsigned long long *seed)
{
    double wait = check_random(seed) * seconds;
    int status = 0;
    struct timespec t = {(time_t)wait, (long)(1e9 * (wait - floor(wait)))};
    nanosleep(&t, NULL);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* --- our own writers
 * -----------------------------------------------------------------------------*/

typedef struct job {
    const fmo_dataset *dataset;
    fmo_wavefunction wf;

    int kind; /* 0 result, 1 TREXIO, 2 Molden */
} job;

static const char *const kind_names[] = {"result", "TREXIO", "Molden"};

/* Writes one of two versions of a file of the job's kind; they differ in the energy. */
static fmo_status write_once(const job *j, int version, fmo_error *err)
{
    fmo_wavefunction wf = j->wf;
    const double *H = fmo_dataset_core_hamiltonian(j->dataset);
    double energy = wf.energy[0] + version;
    double *energies = malloc((size_t)wf.mo_num * sizeof *energies);
    memcpy(energies, wf.energy, (size_t)wf.mo_num * sizeof *energies);
    energies[0] = energy;
    wf.energy = energies;
    const fmo_result result = {.nao = fmo_basis_ao_num(fmo_dataset_basis(j->dataset)),
                               .fock = H,
                               .coulomb = H,
                               .exchange = H,
                               .energy = energy,
                               .mode = "cpu"};
    fmo_status status = j->kind == 0 ? fmo_result_write(target, j->dataset, &result, err)
                        : j->kind == 1
                            ? fmo_wavefunction_write_trexio(target, j->dataset, &wf, err)
                            : fmo_wavefunction_write_molden(target, j->dataset, &wf, err);
    free(energies);
    return status;
}

/* A writer that is killed at a random moment leaves the old or the new file, whole, and the next
 * write removes temporary files. */
static void check_writer(job *j, unsigned long long *seed)
{
    content version[2];
    fmo_error err = {FMO_OK, ""};
    double start = driver_seconds();
    for (int v = 0; v < 2; v++) {
        CHECK(write_once(j, v, &err) == FMO_OK, "%s", err.message);
        version[v] = content_load(target);
    }
    double seconds = driver_seconds() - start; /* two writes */
    CHECK(!same(version[0], version[1]), "%s: both versions are the same", kind_names[j->kind]);
    int old = 0, killed = 0, strays = 0;
    for (int i = 0; i < KILLS; i++) {
        CHECK(write_once(j, 0, &err) == FMO_OK, "%s", err.message);
        CHECK(folder_count(directory, ".tmp") == 0, "%s: something is left", kind_names[j->kind]);
        pid_t child = fork();
        if (child == 0) {
            write_once(j, 1, NULL);
            _exit(0);
        }
        killed += kill_after(child, seconds, seed);
        content now_there = content_load(target);
        bool is_old = same(now_there, version[0]);
        CHECK(is_old || same(now_there, version[1]), "%s: kill %d left a broken file of %zu bytes",
              kind_names[j->kind], i, now_there.size);
        old += is_old;
        strays += folder_count(directory, ".tmp");
        free(now_there.bytes);
    }
    CHECK(killed > 0, "%s: no kill came in time", kind_names[j->kind]);
    printf(
        "%s: of %d kills %d came in time; %d left the old file, %d the new one, %d a temporary\n",
        kind_names[j->kind], KILLS, killed, old, KILLS - old, strays);
    CHECK(write_once(j, 0, &err) == FMO_OK, "%s", err.message);
    CHECK(folder_count(directory, ".tmp") == 0, "temporaries are left");
    CHECK(folder_count(directory, "") == 1, "%d files are left", folder_count(directory, ""));
    for (int v = 0; v < 2; v++) free(version[v].bytes);
}

/* Makes a file with a text; its name contains a process id, and its inode number plus `off`. */
static int make_file(const char *text, long pid, long off, char path[1024])
{
    struct stat info;
    char first[1024];
    snprintf(first, sizeof first, "%s/first", directory);
    int file = open(first, O_CREAT | O_EXCL | O_WRONLY, 0600);
    CHECK(file >= 0 && fstat(file, &info) == 0, "no file");
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text), "cannot write");
    snprintf(path, 1024, "%s/.fmo-result-%ld-%lld.tmp", directory, pid,
             (long long)info.st_ino + off);
    CHECK(rename(first, path) == 0, "cannot rename");
    return file;
}

/* Of all temporary files in a folder only those of our own dead writers are removed. */
static void check_others(const job *j)
{
    static const char *const names[] = {".fmo-result-2-0.tmp", ".fmo-result-.tmp",
                                        ".fmo-result-notes.tmp", "fmo-result-3-0.tmp", "x.tmp"};
    enum { NAMES = sizeof names / sizeof names[0] };
    char path[NAMES][1024], live[1024], dead[1024], copy[1024], linked[1024], second[1024];
    fmo_error err = {FMO_OK, ""};
    for (int i = 0; i < NAMES; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", directory, names[i]);
        close(open(path[i], O_CREAT | O_WRONLY, 0600));
    }
    int lives = make_file("of a live writer", 1, 0, live);
    flock(lives, LOCK_EX);
    close(make_file("of a dead writer", 2, 0, dead));
    close(make_file("a user's copy of one", 3, 1, copy));
    close(make_file("a user's second name for one", 4, 0, linked));
    snprintf(second, sizeof second, "%s/kept", directory);
    CHECK(link(linked, second) == 0, "cannot link");
    CHECK(write_once(j, 0, &err) == FMO_OK, "%s", err.message);
    CHECK(access(live, F_OK) == 0, "the temporary of a live writer was removed");
    CHECK(access(dead, F_OK) != 0, "the temporary of a dead writer is left");
    CHECK(access(copy, F_OK) == 0, "a user's copy was removed");
    CHECK(access(linked, F_OK) == 0, "a user's link was removed");
    for (int i = 0; i < NAMES; i++) {
        CHECK(access(path[i], F_OK) == 0, "%s was removed", names[i]);
        unlink(path[i]);
    }
    close(lives);
    unlink(live);
    unlink(copy);
    unlink(linked);
    unlink(second);
}

/* The same on file systems that cannot make files without a name. */
static void check_named(void)
{
    fmo_error err = {FMO_OK, ""};
    fmo_output output;
    CHECK(fmo_output_open(&output, target, NULL, &err) == FMO_OK, "%s", err.message);
    output.no_tmpfile = true;
    CHECK(fmo_output_write(&output, "named", 5) == FMO_OK, "%s", err.message);
    fmo_output_close(&output);
    content there = content_load(target);
    CHECK(there.size == 5 && memcmp(there.bytes, "named", 5) == 0, "%zu bytes", there.size);
    free(there.bytes);
    CHECK(folder_count(directory, "") == 1, "%d files are left", folder_count(directory, ""));
}

/* Runs the check for results, TREXIO and Molden files, then the checks of files of other processes.
 */
static void check_writers(void)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = read_dataset(input);
    unsigned long long seed = 20;
    if (!dataset) return;
    test_orbitals o = orbitals_read(dataset);
    job j = {.dataset = dataset, .wf = o.wf};
    size_t n = (size_t)o.wf.mo_num;
    double *S = calloc(n * n, sizeof *S); /* OpenMP does not run in a child without exec */
    CHECK(S && fmo_overlap(fmo_dataset_basis(dataset), S, &err) == FMO_OK, "%s", err.message);
    j.wf.overlap = S;
    for (j.kind = 0; j.kind < 3; j.kind++) check_writer(&j, &seed);
    j.kind = 0;
    check_others(&j);
    check_named();
    free(S);
    orbitals_free(&o);
    fmo_dataset_destroy(dataset);
}

/* --- the driver
 * ----------------------------------------------------------------------------------*/

static pid_t start_driver(const char *driver, const char *cutoff)
{
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, 1);
        execl(driver, driver, input, "--mode", "cpu", "--threads", "1", "--reduce", "tree",
              "--cutoff", cutoff, "--output", target, (char *)NULL);
        _exit(127);
    }
    return child;
}

static bool run_driver(const char *driver, const char *cutoff)
{
    int status = -1;
    return waitpid(start_driver(driver, cutoff), &status, 0) > 0 && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* The same for the driver, whose --output is killed at random moments. */
static void check_driver(const char *driver)
{
    static const char *const cutoff[] = {"1e-10", "1e-11"}; /* it is stored in the file */
    content version[2];
    unsigned long long seed = 4;
    double start = driver_seconds();
    for (int v = 0; v < 2; v++) {
        CHECK(run_driver(driver, cutoff[v]), "%s fails", driver);
        version[v] = content_load(target);
    }
    double seconds = 0.5 * (driver_seconds() - start);
    CHECK(!same(version[0], version[1]), "both versions are the same");
    int killed = 0, changes = 0, v = 1;
    for (int i = 0; i < KILLS && version[0].bytes && version[1].bytes; i++) {
        killed += kill_after(start_driver(driver, cutoff[1 - v]), 1.2 * seconds, &seed);
        content there = content_load(target);
        int is = same(there, version[0]) ? 0 : same(there, version[1]) ? 1 : -1;
        CHECK(is >= 0, "kill %d left a broken file of %zu bytes", i, there.size);
        changes += is == 1 - v;
        if (is >= 0) v = is;
        free(there.bytes);
    }
    CHECK(killed > 0, "no kill came in time");
    printf("driver: of %d kills %d came in time; %d runs had replaced the file\n", KILLS, killed,
           changes);
    CHECK(run_driver(driver, cutoff[0]), "%s fails", driver);
    CHECK(folder_count(directory, "") == 1, "%d files are left", folder_count(directory, ""));
    for (v = 0; v < 2; v++) free(version[v].bytes);
}

int main(int argc, char **argv)
{
    if (!mkdtemp(directory)) return 1;
    snprintf(target, sizeof target, "%s/out", directory);
    if (argc > 1)
        check_driver(argv[1]);
    else
        check_writers();
    folder_remove(directory);
    return check_summary();
}
