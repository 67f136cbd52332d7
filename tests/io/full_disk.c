/* A full disk and a read-only one: a small tmpfs in a mount namespace of the test's own. Every
 * writer reports it in one line and leaves the old file as it was; so does the driver. io_full_disk
 * [FMO-DRIVER]; skipped where such a namespace is not allowed. */
#define _GNU_SOURCE /* unshare */
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/shipped.h"
#include "tests/io/orbitals.h"
#include <fmo/one_electron.h>
#include <fmo/result.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Two pages: the old file fills one, and no new file fits into the other. */
#define DISK "size=8k"
enum { PAGE = 4096 };

static char directory[] = "/tmp/fmo-io-full-disk-XXXXXX";
static const char *const input = FMO_DATASET_DIR "/h2o_6-31g.h5";
static char target[1024];

static bool put_line(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    bool good = fputs(text, file) >= 0;
    return fclose(file) == 0 && good;
}

/* Without root a user namespace is needed first, in which this user is root. */
static bool mount_small_disk(void)
{
    char map[64];
    unsigned uid = geteuid(), gid = getegid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
        snprintf(map, sizeof map, "0 %u 1", uid);
        if (!put_line("/proc/self/setgroups", "deny") || !put_line("/proc/self/uid_map", map))
            return false;
        snprintf(map, sizeof map, "0 %u 1", gid);
        if (!put_line("/proc/self/gid_map", map)) return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("fmo-test", directory, "tmpfs", 0, DISK) == 0;
}

/* The old file is there as it was, and nothing beside it. */
static void check_untouched(const char *what)
{
    char text[16] = "";
    FILE *file = fopen(target, "r");
    CHECK(file && fgets(text, sizeof text, file) && strcmp(text, "old\n") == 0,
          "%s: the old file holds '%s'", what, text);
    if (file) fclose(file);
    CHECK(folder_count(directory, "") == 1, "%s: %d files", what, folder_count(directory, ""));
}

/* Every writer on a full disk fails with a message that gives the reason, and leaves the old file
 * as it was. */
static void check_writers(const char *reason)
{
    static const char *const names[] = {"result", "TREXIO", "Molden"};
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = read_dataset(input);
    if (!dataset) return;
    test_orbitals o = orbitals_read(dataset);
    const double *H = fmo_dataset_core_hamiltonian(dataset);
    const fmo_result result = {
        .nao = o.wf.mo_num, .coulomb = H, .exchange = H, .fock = H, .fock_2e = H, .mode = "cpu"};
    for (int kind = 0; kind < 3; kind++) {
        err = (fmo_error){FMO_OK, ""};
        fmo_status status = kind == 0 ? fmo_result_write(target, dataset, &result, &err)
                            : kind == 1
                                ? fmo_wavefunction_write_trexio(target, dataset, &o.wf, &err)
                                : fmo_wavefunction_write_molden(target, dataset, &o.wf, &err);
        CHECK(status == FMO_ERR_OUTPUT, "%s: %s", names[kind], fmo_status_text(status));
        CHECK(strncmp(err.message, target, strlen(target)) == 0, "%s", err.message);
        CHECK(strstr(err.message, reason) != NULL, "'%s' is not in '%s'", reason, err.message);
        check_untouched(names[kind]);
        if (getenv("FMO_TEST_VERBOSE")) printf("%s\n", err.message);
    }
    orbitals_free(&o);
    fmo_dataset_destroy(dataset);
}

/* The driver on a full disk ends with exit code 3 and one line that gives the reason. */
static void check_driver(const char *driver, const char *reason)
{
    char line[1024] = "", more[1024];
    int ends[2], status = 0;
    if (pipe(ends) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl(driver, driver, input, "--mode", "cpu", "--force", "--output", target, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *errors = fdopen(ends[0], "r");
    CHECK(fgets(line, sizeof line, errors) && !fgets(more, sizeof more, errors), "not one line");
    fclose(errors);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "exit code %d", WEXITSTATUS(status));
    CHECK(strstr(line, target) && strstr(line, reason), "'%s'", line);
    check_untouched("driver");
    if (getenv("FMO_TEST_VERBOSE")) printf("%s", line);
}

static void check_all(int argc, char **argv, const char *reason)
{
    if (argc > 1)
        check_driver(argv[1], reason);
    else
        check_writers(reason);
}

int main(int argc, char **argv)
{
    if (!mkdtemp(directory)) return 1;
    if (sysconf(_SC_PAGESIZE) != PAGE || !mount_small_disk()) {
        rmdir(directory);
        printf("skipped: a small tmpfs cannot be mounted here\n");
        return CHECK_SKIP_CODE;
    }
    snprintf(target, sizeof target, "%s/out", directory);
    CHECK(put_line(target, "old\n"), "cannot write to the small disk");
    check_all(argc, argv, "No space left on device");
    CHECK(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, DISK) == 0, "cannot remount");
    check_all(argc, argv, "Read-only file system");
    umount(directory);
    rmdir(directory);
    return check_summary();
}
