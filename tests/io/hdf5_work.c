/* The time and memory of our reader of HDF5 are bounded by the size of the file: variable-length
 * strings, datasets that are mostly unwritten, many links to one object. */
#include "tests/support/check.h"
#include "tests/io/must.h"
#include "io/hdf5/heap.h"
#include "io/hdf5/tree.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/fmo-io-work-XXXXXX";

static fmo_h5_code read_tree(fmo_h5_tree *tree)
{
    const int descriptor = open(path, O_RDONLY);
    fmo_h5_code code = fmo_h5_tree_read(tree, descriptor, (uint64_t)lseek(descriptor, 0, SEEK_END));
    close(descriptor);
    return code;
}

/* --- strings -----------------------------------------------------------------------------------*/

enum { COLLECTION = 1 << 20, OBJECT = 24, COLLECTIONS = 2, REFERENCES = 100000 };

static void put(unsigned char *to, uint64_t value, unsigned n)
{
    for (; n-- > 0; value >>= 8) *to++ = (unsigned char)value;
}

/* A collection full of strings of one letter; returns their number. */
static unsigned fill_collection(unsigned char *bytes, char letter)
{
    unsigned n = 0;
    memset(bytes, 0, COLLECTION);
    memcpy(bytes, "GCOL\1", 5);
    put(bytes + 8, COLLECTION, 8);
    for (size_t at = 16; at + OBJECT <= COLLECTION; at += OBJECT) {
        put(bytes + at, ++n, 2);
        put(bytes + at + 8, 1, 8);
        bytes[at + 16] = (unsigned char)letter;
    }
    return n;
}

/* Many references lead to the last strings of two collections, alternately. */
static void strings(void)
{
    unsigned char *bytes = malloc((size_t)COLLECTIONS * COLLECTION);
    unsigned char *references = malloc((size_t)REFERENCES * FMO_H5_REFERENCE);
    const unsigned char **order = malloc(REFERENCES * sizeof *order);
    unsigned last = 0;
    for (int c = 0; c < COLLECTIONS; c++)
        last = fill_collection(bytes + (size_t)c * COLLECTION, (char)('A' + c));
    for (int i = 0; i < REFERENCES; i++) {
        unsigned char *r = references + (size_t)i * FMO_H5_REFERENCE;
        put(r, 1, 4);
        put(r + 4, (uint64_t)(i % COLLECTIONS) * COLLECTION, 8);
        put(r + 12, last, 4);
    }
    const int descriptor = open(path, O_RDWR | O_TRUNC);
    const ssize_t size = (ssize_t)COLLECTIONS * COLLECTION;
    CHECK(write(descriptor, bytes, (size_t)size) == size, "write");
    fmo_h5_file file = {.descriptor = descriptor, .size = (uint64_t)size, .end = (uint64_t)size};
    fmo_h5_strings collection = {.bytes = NULL};
    const double start = check_cpu_seconds();
    long wrong = 0;
    fmo_h5_code code = FMO_H5_OK;
    fmo_h5_strings_order(references, REFERENCES, order);
    for (int k = 0; k < REFERENCES && code == FMO_H5_OK; k++) {
        const char *text = "";
        size_t length = 0;
        const int i = (int)((order[k] - references) / FMO_H5_REFERENCE);
        code = fmo_h5_strings_find(&file, &collection, order[k], &text, &length);
        wrong += length != 1 || *text != 'A' + i % COLLECTIONS;
    }
    const double seconds = check_cpu_seconds() - start;
    CHECK(code == FMO_H5_OK && !wrong, "%s, %ld wrong", file.why, wrong);
    CHECK(seconds < 1.0, "%d strings of %u took %.2f s", REFERENCES, last, seconds);
    /* a collection that was left is read again: files with such references would take too long */
    const char *text;
    size_t length;
    CHECK(fmo_h5_strings_find(&file, &collection, order[0], &text, &length) == FMO_H5_DAMAGED,
          "a collection twice");
    fmo_h5_strings_free(&collection);
    close(descriptor);
    free(bytes);
    free(references);
    free(order);
}

/* --- datasets and links ------------------------------------------------------------------------*/

/* Many datasets that could have as many chunks as the file may, and have one. */
static void sparse_datasets(void)
{
    enum { DATASETS = 1000, SIDE = 30000, SPARE = 256 << 20 };
    const hsize_t dims = SIDE, one = 1, first = 0;
    hid_t file = GET(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t p = GET(H5Pcreate(H5P_DATASET_CREATE)), space = GET(H5Screate_simple(1, &dims, NULL));
    hid_t memory = GET(H5Screate_simple(1, &one, NULL));
    MUST(H5Pset_chunk(p, 1, &one));
    MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &one, NULL));
    for (int i = 0; i < DATASETS; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%d", i);
        hid_t set = GET(H5Dcreate2(file, name, H5T_STD_I8LE, space, H5P_DEFAULT, p, H5P_DEFAULT));
        MUST(H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &i));
        H5Dclose(set);
    }
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(p);
    MUST(H5Fclose(file));
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        fmo_h5_tree tree;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        long pages = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        if (!statm || fscanf(statm, "%ld", &pages) != 1) _exit(2);
        const rlim_t max_bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + SPARE;
        const struct rlimit limit = {max_bytes, max_bytes};
        setrlimit(RLIMIT_AS, &limit);
#endif
        const fmo_h5_code code = read_tree(&tree);
        if (code != FMO_H5_OK) fprintf(stderr, "sparse datasets: %s\n", tree.file.why);
        _exit(code == FMO_H5_OK && tree.node_num == DATASETS + 1 &&
                      tree.node[1].dataset.chunks_there == 1
                  ? 0
                  : 1);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "sparse datasets: %d", status);
}

/* Many groups, each with links to the same many objects. */
static void links(void)
{
    enum { OBJECTS = 12000, GROUPS = 20 };
    char name[32];
    hid_t access = GET(H5Pcreate(H5P_FILE_ACCESS));
    MUST(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    hid_t file = GET(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
    hid_t all = GET(H5Gcreate2(file, "all", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int i = 0; i < OBJECTS; i++) {
        snprintf(name, sizeof name, "%d", i);
        H5Gclose(GET(H5Gcreate2(all, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    }
    for (int g = 0; g < GROUPS; g++) {
        snprintf(name, sizeof name, "group %d", g);
        hid_t group = GET(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        for (int i = 0; i < OBJECTS; i++) {
            snprintf(name, sizeof name, "%d", i);
            MUST(H5Lcreate_hard(all, name, group, name, H5P_DEFAULT, H5P_DEFAULT));
        }
        H5Gclose(group);
    }
    H5Gclose(all);
    MUST(H5Fclose(file));
    H5Pclose(access);
    fmo_h5_tree tree;
    const double start = check_cpu_seconds();
    const fmo_h5_code code = read_tree(&tree);
    const double seconds = check_cpu_seconds() - start;
    CHECK(code == FMO_H5_OK && tree.node_num == OBJECTS + GROUPS + 2, "%s", tree.file.why);
    CHECK(seconds < 1.0, "%d links took %.2f s", GROUPS * OBJECTS, seconds);
    fmo_h5_tree_free(&tree);
}

int main(void)
{
    const int descriptor = mkstemp(path);
    if (descriptor < 0) return 1;
    close(descriptor);
    strings();
    sparse_datasets();
    links();
    unlink(path);
    return check_summary();
}
