/* Our own reader of HDF5 (io/hdf5): every way in which HDF5 stores an array gives the same data
 * set; files that make libhdf5 crash, hang or return wrong data are refused; no values are invented
 * where memory or descriptors run out. Thousands of mutated files: fuzz/mutants.c. */
#include "tests/support/calls.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/io/repack.h"
#include "io/hdf5/tree.h"
#include <fmo/dataset.h>

#include <fcntl.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/fmo-io-hdf5-XXXXXX", made[128];

static int same(const double *a, const double *b, size_t n)
{
    return a && b && memcmp(a, b, n * sizeof *a) == 0;
}

/* The data set of a file has the values of another. */
static void check_equal(const char *name, const fmo_dataset *good, const char *path)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *d = NULL;
    CHECK(fmo_dataset_read(path, &d, &err) == FMO_OK, "%s: %s", name, err.message);
    if (!d) return;
    const fmo_basis_input *p = fmo_dataset_basis_input(good), *q = fmo_dataset_basis_input(d);
    size_t n = (size_t)p->ao_num;
    CHECK(p->ao_num == q->ao_num && p->prim_num == q->prim_num, "%s: sizes", name);
    if (p->ao_num == q->ao_num && p->prim_num == q->prim_num) {
        CHECK(same(p->prim_exponent, q->prim_exponent, (size_t)p->prim_num), "%s: exponents", name);
        CHECK(same(p->nucleus_coord, q->nucleus_coord, 3 * (size_t)p->nucleus_num), "%s: places",
              name);
        CHECK(same(fmo_dataset_density(good), fmo_dataset_density(d), n * n), "%s: density", name);
        CHECK(same(fmo_dataset_reference_exchange(good), fmo_dataset_reference_exchange(d), n * n),
              "%s: exchange", name);
        CHECK(same(fmo_dataset_core_hamiltonian(good), fmo_dataset_core_hamiltonian(d), n * n),
              "%s: core Hamiltonian", name);
        CHECK(strcmp(fmo_dataset_formula(good), fmo_dataset_formula(d)) == 0, "%s: labels", name);
    }
    fmo_dataset_destroy(d);
}

/* --- storage -----------------------------------------------------------------------------------*/

static const io_storage storages[] = {
    {.name = "plain"},
    {.name = "newest", .latest = 1},
    {.name = "newest, many attributes", .latest = 1, .attributes = 40},
    {.name = "user block", .user_block = 512},
    {.name = "user block, newest", .latest = 1, .user_block = 4096},
    {.name = "chunks", .chunk = 3},
    {.name = "one chunk", .chunk = 1000},
    {.name = "tiny chunks", .chunk = 1},
    {.name = "gzip", .chunk = 5, .deflate = 9},
    {.name = "shuffle", .chunk = 5, .shuffle = 1},
    {.name = "fletcher32", .chunk = 4, .fletcher = 1},
    {.name = "all filters", .chunk = 7, .deflate = 1, .shuffle = 1, .fletcher = 1},
    {.name = "all filters, resizable",
     .chunk = 7,
     .deflate = 1,
     .shuffle = 1,
     .fletcher = 1,
     .grow = 2},
    {.name = "one chunk, newest", .latest = 1, .chunk = 1000},
    {.name = "one chunk, gzip, newest", .latest = 1, .chunk = 1000, .deflate = 6},
    {.name = "fixed array", .latest = 1, .chunk = 3},
    {.name = "fixed array in pages", .latest = 1, .chunk = 1},
    {.name = "fixed array, filters", .latest = 1, .chunk = 3, .deflate = 6, .fletcher = 1},
    {.name = "extensible array", .latest = 1, .chunk = 1, .grow = 1},
    {.name = "extensible array, filters",
     .latest = 1,
     .chunk = 2,
     .deflate = 6,
     .shuffle = 1,
     .grow = 1},
    {.name = "B-tree 2", .latest = 1, .chunk = 2, .grow = 2},
    {.name = "B-tree 2, filters", .latest = 1, .chunk = 1, .deflate = 6, .grow = 2},
};

static void storage_forms(void)
{
    static const char *const names[] = {"/nh3_3-21g_sph_shuffled.h5", "/h2o8_sto-3g.h5"};
    for (int f = 0; f < 2; f++) {
        char in[512];
        fmo_error err = {FMO_OK, ""};
        fmo_dataset *good = NULL;
        snprintf(in, sizeof in, "%s%s", FMO_DATASET_DIR, names[f]);
        CHECK(fmo_dataset_read(in, &good, &err) == FMO_OK, "%s", err.message);
        for (size_t i = 0; good && i < sizeof storages / sizeof storages[0]; i++) {
            io_repack(in, made, &storages[i]);
            check_equal(storages[i].name, good, made);
            unlink(made);
        }
        fmo_dataset_destroy(good);
    }
}

/* An array of so many chunks that the blocks of its index are in pages. */
static void many_chunks(void)
{
    enum { N = 200000, SIDE = 8 };
    size_t bytes = (size_t)N * SIDE * sizeof(int64_t);
    int64_t *values = malloc(bytes), *read = calloc(1, bytes);
    for (int i = 0; i < N * SIDE; i++) values[i] = i * 7;
    hsize_t n = N * SIDE, max_size = H5S_UNLIMITED, one = SIDE;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_chunk(properties, 1, &one);
    hid_t file = H5Fcreate(made, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(1, &n, &max_size);
    hid_t set = H5Dcreate2(file, "x", H5T_STD_I64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    CHECK(H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "write");
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(properties);
    H5Pclose(access);
    fmo_h5_tree tree;
    int descriptor = open(made, O_RDONLY);
    fmo_h5_code code =
        fmo_h5_tree_read(&tree, descriptor, (uint64_t)lseek(descriptor, 0, SEEK_END));
    CHECK(code == FMO_H5_OK, "many chunks: %s", tree.file.why);
    const fmo_h5_link *link = code == FMO_H5_OK ? fmo_h5_tree_link(&tree.node[0], "x") : NULL;
    CHECK(link != NULL, "many chunks: no link");
    if (link) {
        const fmo_h5_dataset *d = &tree.node[link->node].dataset;
        CHECK(d->chunks_there == N, "%llu chunks", (unsigned long long)d->chunks_there);
        CHECK(fmo_h5_dataset_read(&tree.file, d, read) == FMO_H5_OK, "%s", tree.file.why);
        CHECK(memcmp(values, read, bytes) == 0, "many chunks: values");
    }
    fmo_h5_tree_free(&tree);
    close(descriptor);
    unlink(made);
    free(values);
    free(read);
}

/* A file that is refused with these words, and a cure. */
static void check_refused(const char *path, const char *expect)
{
    fmo_error err;
    fmo_dataset *d = NULL;
    CHECK_REFUSED(fmo_dataset_read(path, &d, &err), &err, FMO_ERR_INPUT, expect);
    CHECK(!d && strchr(err.message, ';') != NULL, "no cure in '%s'", err.message);
    fmo_dataset_destroy(d);
}

/* A dataset of the made file again, stored in another way; max_dims: limits of its shape, or NULL.
 */
static void store_again(hid_t file, const char *name, const hsize_t *max_dims, hid_t properties)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    void *values = calloc((size_t)H5Sget_simple_extent_npoints(space), H5Tget_size(type));
    CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "read %s", name);
    H5Dclose(set);
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Sset_extent_simple(space, rank, dims, max_dims);
    set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    CHECK(set >= 0, "create %s", name);
    CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "write %s", name);
    if (H5Tis_variable_str(type) > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
    free(values);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static hid_t open_latest(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t file = H5Fopen(made, H5F_ACC_RDWR, access);
    H5Pclose(access);
    return file;
}

/* A dataset of 3 x 4 integers that no data set needs, with a filter that is not read, under each of
 * the indexes of chunks: the file is read all the same. */
static void unknown_filters(const fmo_dataset *good)
{
    static const struct {
        const char *name;
        hsize_t chunk[2], max_dims[2];
    } cases[] = {{"single", {3, 4}, {3, 4}},
                 {"fixed", {1, 2}, {3, 4}},
                 {"extensible", {1, 2}, {H5S_UNLIMITED, 4}},
                 {"B-tree 2", {1, 2}, {H5S_UNLIMITED, H5S_UNLIMITED}}};
    const hsize_t dims[2] = {3, 4}, density[2] = {7, 7};
    const int values[12] = {1, 2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hid_t file = open_latest(), p = H5Pcreate(H5P_DATASET_CREATE);
        hid_t space = H5Screate_simple(2, dims, cases[i].max_dims);
        H5Pset_chunk(p, 2, cases[i].chunk);
        H5Pset_scaleoffset(p, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
        hid_t set =
            H5Dcreate2(file, "fmo/extra", H5T_STD_I32LE, space, H5P_DEFAULT, p, H5P_DEFAULT);
        CHECK(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "write");
        H5Dclose(set);
        H5Fclose(file);
        check_equal(cases[i].name, good, made);
        file = open_latest();
        H5Ldelete(file, "fmo/extra", H5P_DEFAULT);
        H5Fclose(file);
        H5Sclose(space);
        H5Pclose(p);
    }
    hid_t file = open_latest(), p = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(p, 2, density);
    H5Pset_scaleoffset(p, H5Z_SO_FLOAT_DSCALE, 10);
    store_again(file, "fmo/density", NULL, p);
    H5Pclose(p);
    H5Fclose(file);
    check_refused(made, "/fmo/density: filter 6 (scaleoffset): only gzip, shuffle and fletcher32");
}

/* Chunks allocated at once for a shape that may grow; labels with shuffle, which HDF5 does not
 * apply to strings of any length. */
static void other_storage(const char *in)
{
    static const io_storage newest = {.latest = 1};
    const hsize_t three[2] = {3, 3}, one = 2;
    const hsize_t limits[][2] = {{7, 7}, {7, 20}, {20, 7}, {16, 11}};
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *good = NULL;
    CHECK(fmo_dataset_read(in, &good, &err) == FMO_OK, "%s", err.message);
    if (!good) return;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        io_repack(in, made, &newest);
        hid_t file = open_latest(), p = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(p, 2, three);
        H5Pset_alloc_time(p, H5D_ALLOC_TIME_EARLY);
        store_again(file, "fmo/density", limits[i], p);
        H5Pclose(p);
        H5Fclose(file);
        check_equal("allocated early", good, made);
    }
    io_repack(in, made, &newest);
    hid_t file = open_latest(), p = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(p, 1, &one);
    H5Pset_shuffle(p);
    H5Pset_deflate(p, 4);
    store_again(file, "nucleus/nucleus_label", NULL, p);
    H5Pclose(p);
    H5Fclose(file);
    check_equal("shuffled labels", good, made);
    unknown_filters(good);
    fmo_dataset_destroy(good);
    unlink(made);
}

/* --- files that broke libhdf5 ------------------------------------------------------------------*/

static void refused_files(void)
{
    static const char *const cases[][2] = {
        {"btree_selfchild_segv", "a B-tree is inconsistent"},           /* recursion without end */
        {"layout_v2_sigfpe", "a storage layout older than HDF5 1.6.3"}, /* division by zero */
        {"missing_chunk_silent", "/fmo/density: a chunk is outside the shape"}, /* read as zeros */
        {"short_chunk_segv", "/fmo/density: a chunk does not inflate to its 2000000 bytes"},
        {"userblock_attr_read", "an attribute is inconsistent"}, /* reads past its end */
        {"userblock_heap_loop", "the names of a group do not fit the file"}, /* loop, 8 GB */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/refused/%s.h5", FMO_DATASET_DIR, cases[i][0]);
        check_refused(path, cases[i][1]);
    }
}

/* Names with escape sequences and line ends; a type of variable length. */
static void harmless_names(void)
{
    static const char *const cases[][2] = {{"basisname-esc", "?[31mRED?]0;pwned??[2J"},
                                           {"basisname-newline", "a?check: pass"},
                                           {"basistype-vlen", "6-31g"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[512];
        fmo_error err = {FMO_OK, ""};
        fmo_dataset *d = NULL;
        snprintf(path, sizeof path, "%s/%s.h5", FMO_TEST_HDF5_DIR, cases[i][0]);
        CHECK(fmo_dataset_read(path, &d, &err) == FMO_OK, "%s", err.message);
        const char *name = d ? fmo_dataset_basis_name(d) : "";
        CHECK(strncmp(name, cases[i][1], strlen(cases[i][1])) == 0, "'%s'", name);
        fmo_dataset_destroy(d);
    }
    check_refused("/no\nsuch\x1b[31mfile", "/no?such?[31mfile: cannot open it");
}

/* --- other damage ---------------------------------------------------------------------------- */

static hid_t copy_of(const char *name)
{
    static const io_storage chunks = {.chunk = 4};
    char in[512];
    snprintf(in, sizeof in, "%s/%s", FMO_DATASET_DIR, name);
    io_repack(in, made, &chunks);
    return H5Fopen(made, H5F_ACC_RDWR, H5P_DEFAULT);
}

/* Files that another program is writing, that lack a chunk or a dataset, or whose J is not
 * symmetric are refused by name. */
static void other_damage(void)
{
    hid_t file = copy_of("h2o_sto-3g.h5");
    check_refused(made, "another program is writing the file");
    CHECK(H5Lmove(file, "fmo/density", file, "fmo/densitz", H5P_DEFAULT, H5P_DEFAULT) >= 0, "move");
    H5Fclose(file);
    check_refused(made, "/fmo/density: missing, and there is 'densitz'");

    file = copy_of("h2o_sto-3g.h5"); /* as many chunks as were written, and not more */
    hsize_t dims[2] = {7, 7}, chunk[2] = {4, 4}, zero[2] = {0, 0};
    double values[16] = {0};
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, dims, NULL);
    hid_t memory = H5Screate_simple(2, chunk, NULL);
    H5Pset_chunk(properties, 2, chunk);
    H5Ldelete(file, "fmo/density", H5P_DEFAULT);
    hid_t set = H5Dcreate2(file, "fmo/density", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties,
                           H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, zero, NULL, chunk, NULL);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0, "write");
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(properties);
    H5Fclose(file);
    check_refused(made, "/fmo/density: only 1 of its 4 chunks are there");

    file = copy_of("h2o_sto-3g.h5"); /* J that is not symmetric */
    double J[49];
    set = H5Dopen2(file, "fmo/coulomb", H5P_DEFAULT);
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, J);
    J[1] += 1e-3;
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, J);
    H5Dclose(set);
    H5Fclose(file);
    check_refused(made, "/fmo/coulomb[1][0]");
    unlink(made);
}

/* Chunks that record which filters were skipped: without gzip, as HDF5 stores them where it gains
 * nothing, the values are the same; any other is refused, because one bit of the mask would change
 * the values. */
static void skipped_filters(void)
{
    enum { N = 7, SHUFFLE = 1, GZIP = 2 };
    static const unsigned masks[] = {0, GZIP, SHUFFLE, SHUFFLE | GZIP};
    static const char *const matrix = "ao_1e_int/ao_1e_int_core_hamiltonian";
    double H[N * N];
    unsigned char shuffled[sizeof H], packed[2 * sizeof H];
    char in[512];
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *good = NULL;
    snprintf(in, sizeof in, "%s/h2o_sto-3g.h5", FMO_DATASET_DIR);
    CHECK(fmo_dataset_read(in, &good, &err) == FMO_OK, "%s", err.message);
    for (size_t m = 0; m < sizeof masks / sizeof *masks && good; m++) {
        hid_t file = copy_of("h2o_sto-3g.h5"), set = H5Dopen2(file, matrix, H5P_DEFAULT);
        CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, H) >= 0, "read");
        H5Dclose(set);
        H5Ldelete(file, matrix, H5P_DEFAULT);
        const hsize_t dims[2] = {N, N}, zero[2] = {0, 0};
        hid_t space = H5Screate_simple(2, dims, NULL), p = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(p, 2, dims);
        H5Pset_shuffle(p);
        H5Pset_deflate(p, 6);
        set = H5Dcreate2(file, matrix, H5T_IEEE_F64LE, space, H5P_DEFAULT, p, H5P_DEFAULT);
        for (size_t i = 0; i < sizeof H; i++)
            shuffled[i % 8 * N * N + i / 8] = ((const unsigned char *)H)[i];
        const unsigned char *bytes = masks[m] & SHUFFLE ? (const unsigned char *)H : shuffled;
        uLongf size = sizeof packed;
        if (masks[m] & GZIP)
            memcpy(packed, bytes, size = sizeof H);
        else
            CHECK(compress(packed, &size, bytes, sizeof H) == Z_OK, "compress");
        CHECK(H5Dwrite_chunk(set, H5P_DEFAULT, masks[m], zero, size, packed) >= 0, "write");
        H5Dclose(set);
        H5Pclose(p);
        H5Sclose(space);
        H5Fclose(file);
        if (masks[m] & SHUFFLE)
            check_refused(made, "ao_1e_int/core_hamiltonian: a chunk was stored without one of its "
                                "filters, and that filter is not gzip; rewrite the file with "
                                "h5repack -f NONE IN OUT");
        else
            check_equal(masks[m] ? "chunk without gzip" : "chunk with all filters", good, made);
    }
    fmo_dataset_destroy(good);
    unlink(made);
}

/* Without descriptors, or with little memory, the file is not called damaged. */
static void no_resources(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        fmo_error err = {FMO_OK, ""};
        fmo_dataset *d = NULL;
        setrlimit(RLIMIT_NOFILE, &none);
        fmo_dataset_read(FMO_DATASET_DIR "/h2o_sto-3g.h5", &d, &err);
        _exit(strstr(err.message, "Too many open files; close some") ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "no descriptors: %d", status);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    for (int kib = 0; kib < 2048; kib += 64) {
        pid = fork();
        if (pid == 0) {
            long pages = 0;
            FILE *file = fopen("/proc/self/statm", "r");
            if (!file || fscanf(file, "%ld", &pages) != 1) _exit(2);
            fclose(file);
            rlim_t limit = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)kib * 1024;
            struct rlimit memory = {limit, limit};
            fmo_error err = {FMO_OK, ""};
            fmo_dataset *d = NULL;
            setrlimit(RLIMIT_AS, &memory);
            fmo_status read = fmo_dataset_read(FMO_DATASET_DIR "/h2o8_6-31g.h5", &d, &err);
            if (read == FMO_ERR_INPUT) fprintf(stderr, "%s\n", err.message);
            _exit(read == FMO_OK || read == FMO_ERR_MEMORY ? 0 : 1);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%d KiB: %d", kib, status);
    }
#endif
}

int main(void)
{
    omp_set_num_threads(1); /* a child of a process with threads would wait for them */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (!mkdtemp(folder)) return 1;
    snprintf(made, sizeof made, "%s/made.h5", folder);
    no_resources();
    storage_forms();
    many_chunks();
    other_storage(FMO_DATASET_DIR "/h2o_sto-3g.h5");
    refused_files();
    harmless_names();
    other_damage();
    skipped_filters();
    rmdir(folder);
    return check_summary();
}
