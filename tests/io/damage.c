/* Damaged files: a file that is cut at many lengths, or in which random bytes are changed, is read
 * or refused; nothing crashes, and a refusal has a message. Deterministic; more cases: io_damage
 * CASES [SEED]. */
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include <fmo/dataset.h>

#include <hdf5.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

enum { CASES = 250, CUTS = 120, FLIPS_MAX = 12 }; /* of each file */

/* HDF5 1.10 sometimes requests absurd amounts of memory, handles the failure, reads a few bytes
 * beyond damaged messages and leaks some memory. Only these are suppressed; our own code is
 * watched. */
const char *__asan_default_options(void);
const char *__asan_default_suppressions(void);
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__asan_default_suppressions(void)
{
    return "interceptor_via_lib:libhdf5";
}
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static void store(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size) exit(1);
    fclose(file);
}

static fmo_status try_reading(const char *path, const char *what, long number)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    fmo_status status = fmo_dataset_read(path, &dataset, &err);
    CHECK((status == FMO_OK) == (dataset != NULL), "%s %ld: status and data set", what, number);
    CHECK(status == FMO_OK || status == FMO_ERR_INPUT || status == FMO_ERR_MEMORY, "%s %ld: %s",
          what, number, fmo_status_text(status));
    CHECK(status == FMO_OK || strstr(err.message, path), "%s %ld: message '%s'", what, number,
          err.message);
    fmo_dataset_destroy(dataset);
    return status;
}

static void cut(const char *path, content good)
{
    for (long i = 0; i < CUTS; i++) {
        /* Every short length, then evenly spaced ones up to one byte less than the whole. */
        size_t size = i < CUTS / 3 ? (size_t)i * 25
                                   : good.size - 1 - (size_t)(CUTS - 1 - i) * (good.size / CUTS);
        store(path, good.bytes, size);
        CHECK(try_reading(path, "cut", (long)size) != FMO_OK, "cut to %zu bytes and read", size);
    }
}

/* Reads copies of a file in which some bytes at random places are changed. */
static void flip(const char *path, content good, long cases, unsigned long long seed)
{
    unsigned char *bytes = malloc(good.size);
    long read = 0;
    for (long i = 0; i < cases; i++) {
        unsigned long long state = seed + 7919u * (unsigned long long)i;
        memcpy(bytes, good.bytes, good.size);
        int flips = 1 + (int)(FLIPS_MAX * check_random(&state));
        for (int k = 0; k < flips; k++) {
            size_t at = (size_t)((double)good.size * check_random(&state));
            int value = (int)(256 * check_random(&state)), how = (int)(4 * check_random(&state));
            if (how == 0)
                bytes[at] ^= (unsigned char)(1 << (value % 8));
            else
                bytes[at] = (unsigned char)(how == 1 ? 0 : how == 2 ? 255 : value);
        }
        store(path, bytes, good.size);
        read += try_reading(path, "flip", i) == FMO_OK;
    }
    printf("%ld of %ld damaged files were read, the others refused\n", read, cases);
    free(bytes);
}

/* Reads cut and changed copies of three data sets under a memory limit: [CASES [SEED]]. */
int main(int argc, char **argv)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* else HDF5 may complain when the process ends */
    static const char *const names[] = {"/he_sto-3g.h5", "/h2o_sto-3g.h5",
                                        "/nh3_3-21g_sph_shuffled.h5"};
    long cases = argc > 1 ? atol(argv[1]) : CASES;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    char path[] = "/tmp/fmo-io-damage-XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0) return 1;
    close(descriptor);
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit memory = {(rlim_t)2 << 30, (rlim_t)2 << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char good_path[512];
        snprintf(good_path, sizeof good_path, "%s%s", FMO_DATASET_DIR, names[i]);
        content good = content_load(good_path);
        CHECK(good.size > 1000, "cannot read %s", good_path);
        if (good.size > 1000) {
            cut(path, good);
            flip(path, good, cases, seed + i);
        }
        free(good.bytes);
    }
    unlink(path);
    return check_summary();
}
