/* Every bad file is refused with its field named, quickly, in little memory and without output;
 * every valid variation is read. The cases are in bad_files.c. */
#include "tests/support/check.h"
#include "tests/io/bad_files.h"
#include <fmo/dataset.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECONDS_MAX 1.0
#define MEMORY_MAX  ((rlim_t)2 << 30)

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static int has_notice(const fmo_dataset *dataset, const char *text)
{
    for (int i = 0; fmo_dataset_notice(dataset, i); i++)
        if (strstr(fmo_dataset_notice(dataset, i), text)) return 1;
    return 0;
}

static int has_doubt(const fmo_dataset *dataset, const char *text)
{
    for (int i = 0; fmo_dataset_notice(dataset, i); i++)
        if (fmo_dataset_is_doubtful(dataset, i) && strstr(fmo_dataset_notice(dataset, i), text))
            return 1;
    return 0;
}

/* Reads a bad file: soon, with the expected exit code, and with a message or a notice that contains
 * the expected words. */
static void check_case(const bad_file *bad, const char *path)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    double start = check_cpu_seconds();
    fmo_status status = fmo_dataset_read(path, &dataset, &err);
    double seconds = check_cpu_seconds() - start;
    CHECK(SANITIZED || seconds < SECONDS_MAX, "%s took %.2f s", bad->name, seconds);
    CHECK(fmo_status_exit_code(status) == bad->exit_code, "%s: %s (%s)", bad->name,
          fmo_status_text(status), err.message);
    if (bad->exit_code == 0) {
        CHECK(dataset != NULL && err.status == FMO_OK, "%s: %s", bad->name, err.message);
        if (dataset && *bad->expect)
            CHECK(has_notice(dataset, bad->expect), "%s: no notice says '%s' (but '%s')", bad->name,
                  bad->expect,
                  fmo_dataset_notice(dataset, 0) ? fmo_dataset_notice(dataset, 0) : "");
        if (dataset && *bad->expect)
            CHECK(has_doubt(dataset, bad->expect) == (strncmp(bad->name, "doubt-", 6) == 0),
                  "%s: whether it is doubtful", bad->name);
        else if (dataset)
            CHECK(!fmo_dataset_notice(dataset, 0), "%s: %s", bad->name,
                  fmo_dataset_notice(dataset, 0));
    } else {
        CHECK(dataset == NULL && err.status == status, "%s: a data set in spite of the error",
              bad->name);
        CHECK(strncmp(err.message, path, strlen(path)) == 0, "%s: no file name in '%s'", bad->name,
              err.message);
        CHECK(strstr(err.message, bad->expect) != NULL, "%s: '%s' is not in '%s'", bad->name,
              bad->expect, err.message);
        CHECK(strchr(err.message, ';') || strchr(err.message + strlen(path) + 2, ':'),
              "%s: no cure in '%s'", bad->name, err.message);
        CHECK(strlen(err.message) < sizeof err.message - 1, "%s: message cut", bad->name);
        if (getenv("FMO_TEST_VERBOSE")) printf("%-24s %s\n", bad->name, err.message);
    }
    fmo_dataset_destroy(dataset);
}

/* Output to stderr during a refusal is a mistake, ours or HDF5's. */
static long silent_size(int descriptor)
{
    struct stat info;
    return fstat(descriptor, &info) == 0 ? (long)info.st_size : -1;
}

/* Makes every bad file and reads it under a memory limit; the library must print nothing. */
int main(void)
{
    char directory[] = "/tmp/fmo-io-refusals-XXXXXX", path[128], log_path[128];
    if (!mkdtemp(directory)) return 1;
    snprintf(path, sizeof path, "%s/case.h5", directory);
    snprintf(log_path, sizeof log_path, "%s/stderr", directory);
    struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};
    if (!SANITIZED) setrlimit(RLIMIT_AS, &memory);

    int terminal = dup(2);
    for (int i = 0; i < bad_file_count(); i++) {
        if (bad_file_make(i, FMO_DATASET_DIR "/h2o_sto-3g.h5", path) != 0) return 1;
        FILE *log = freopen(log_path, "w", stderr);
        setvbuf(stderr, NULL, _IONBF, 0);
        long before = check_failures;
        check_case(bad_file_at(i), path);
        CHECK(check_failures != before || (log && silent_size(2) == 0), "%s: printed to stderr",
              bad_file_at(i)->name);
        if (check_failures != before && (log = fopen(log_path, "r"))) {
            char line[1024];
            while (fgets(line, sizeof line, log))
                if (write(terminal, line, strlen(line)) < 0) break;
            fclose(log);
        }
        unlink(path);
        rmdir(path);
    }
    dup2(terminal, 2);
    close(terminal);
    unlink(log_path);
    rmdir(directory);

    fmo_dataset *dataset = (fmo_dataset *)path;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_dataset_read(NULL, &dataset, &err) == FMO_ERR_ARGUMENT && !dataset, "NULL path");
    err.status = FMO_OK;
    CHECK(fmo_dataset_read("", &dataset, &err) == FMO_ERR_INPUT, "empty path");
    CHECK(fmo_dataset_read("/no/such", &dataset, NULL) == FMO_ERR_INPUT, "no error object");
    fmo_dataset_destroy(NULL);
    return check_summary();
}
