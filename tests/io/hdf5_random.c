/* Our reader of HDF5 against libhdf5 on random valid files (draw.c): links, kinds of objects,
 * types, shapes, storage, each chunk, values and attributes are what libhdf5 says.
 * io_hdf5_random [FILES [SEED [FIRST]]]     FIRST: of the files, which are kept then, to look at */
#include "tests/support/check.h"
#include "tests/io/draw.h"
#include "tests/support/folder.h"
#include "tests/io/must.h"
#include "io/hdf5/attribute.h"
#include "io/hdf5/heap.h"
#include "io/hdf5/tree.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 1000, SEED = 20261127, RANK_MAX = 8, NODES_MAX = 1 << 14 };

typedef struct reading {
    fmo_h5_tree tree;
    bool seen[NODES_MAX];
    long file;        /* number */
    const char *what; /* that is compared */
} reading;

static struct {
    long files, odd, datasets, values, chunks, attributes, links, unread, index[6];
} counts;

#define SAME(r, cond) CHECK(cond, "file %ld: %.60s", (r)->file, (r)->what)

/* --- types, shapes -----------------------------------------------------------------------------*/

/* A datatype has the class, size, sign and byte order that HDF5 reports. */
static void compare_types(const reading *r, const fmo_h5_type *ours, hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    const bool heap = H5Tis_variable_str(type) > 0, big = H5Tget_order(type) == H5T_ORDER_BE;
    const size_t size = heap ? FMO_H5_REFERENCE : H5Tget_size(type);
    SAME(r, class == H5T_VLEN || ours->size == size);
    if (class == H5T_INTEGER) {
        const bool plain = (size & (size - 1)) == 0 && size <= 8 &&
                           H5Tget_precision(type) == 8 * size && H5Tget_offset(type) == 0;
        SAME(r, ours->class == FMO_H5_INTEGER && ours->plain == plain);
        SAME(r, ours->big == big && ours->is_signed == (H5Tget_sign(type) == H5T_SGN_2));
    } else if (class == H5T_FLOAT) {
        const bool plain = H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
        SAME(r, ours->class == FMO_H5_REAL && ours->plain == plain && ours->big == big);
    } else if (class == H5T_STRING)
        SAME(r, ours->plain && ours->class == (heap ? FMO_H5_TEXT_HEAP : FMO_H5_TEXT));
    else
        SAME(r, ours->class == FMO_H5_CLASS_OTHER && !ours->plain);
}

static void compare_spaces(const reading *r, const fmo_h5_space *ours, hid_t space)
{
    hsize_t dims[RANK_MAX], max_dims[RANK_MAX];
    const int rank = H5Sget_simple_extent_dims(space, dims, max_dims);
    SAME(r, ours->null == (H5Sget_simple_extent_type(space) == H5S_NULL));
    SAME(r, (int)ours->rank == rank);
    for (int d = 0; d < rank && (int)ours->rank == rank; d++)
        SAME(r, ours->dim[d] == dims[d] && ours->max_dim[d] == max_dims[d]);
    SAME(r, ours->values == (uint64_t)H5Sget_simple_extent_npoints(space));
}

/* --- values ------------------------------------------------------------------------------------*/

/* Strings of any length, sorted as a reader of data sets does. */
static void compare_texts(reading *r, const unsigned char *references, char *const *texts, size_t n)
{
    fmo_h5_strings strings = {.bytes = NULL};
    const unsigned char **order = malloc(n * sizeof *order);
    fmo_h5_strings_order(references, n, order);
    for (size_t k = 0; k < n; k++) {
        const char *theirs = texts[(size_t)(order[k] - references) / FMO_H5_REFERENCE], *text;
        size_t size;
        SAME(r, fmo_h5_strings_find(&r->tree.file, &strings, order[k], &text, &size) == FMO_H5_OK);
        if (!theirs) theirs = "";
        SAME(r, strlen(theirs) == size && (!size || memcmp(theirs, text, size) == 0));
    }
    fmo_h5_strings_free(&strings);
    free(order);
}

/* Compares what both have read; theirs is in the file's type, or char * and hvl_t. */
static void compare_values(reading *r, hid_t type, const unsigned char *ours, const void *theirs,
                           size_t n)
{
    if (H5Tis_variable_str(type) > 0)
        compare_texts(r, ours, theirs, n);
    else if (H5Tget_class(type) != H5T_VLEN)
        SAME(r, memcmp(ours, theirs, n * H5Tget_size(type)) == 0);
}

static void free_theirs(hid_t type, hid_t space, void *values)
{
    if (H5Tis_variable_str(type) > 0 || H5Tget_class(type) == H5T_VLEN)
        MUST(H5Dvlen_reclaim(type, space, H5P_DEFAULT, values));
    free(values);
}

/* --- attributes --------------------------------------------------------------------------------*/

typedef struct visit {
    reading *r;
    size_t node, count;
} visit;

/* An attribute is found by its name, and its type, shape and values are those that HDF5 reads. */
static herr_t compare_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    visit *v = data;
    fmo_h5_file *file = &v->r->tree.file;
    hid_t theirs = GET(H5Aopen(object, name, H5P_DEFAULT));
    hid_t type = GET(H5Aget_type(theirs)), space = GET(H5Aget_space(theirs));
    const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    fmo_h5_attribute ours;
    bool found;
    (void)info;
    v->r->what = name;
    v->count++;
    counts.attributes++;
    const fmo_h5_code code =
        fmo_h5_attribute_find(file, &v->r->tree.node[v->node].object, name, &found, &ours);
    CHECK(code == FMO_H5_OK && found, "file %ld: %.60s: %s", v->r->file, name, file->why);
    if (code == FMO_H5_OK && found) {
        compare_types(v->r, &ours.type, type);
        compare_spaces(v->r, &ours.space, space);
        void *values = calloc(n + 1, H5Tget_size(type));
        if (n && !ours.space.null) MUST(H5Aread(theirs, type, values));
        SAME(v->r, fmo_bytes_left(&ours.value) == n * ours.type.size);
        if (n) compare_values(v->r, type, ours.value.at, values, n);
        free_theirs(type, space, values);
    }
    file->why[0] = '\0';
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(theirs);
    return 0;
}

static void compare_attributes(reading *r, hid_t object, size_t node)
{
    visit v = {.r = r, .node = node};
    const fmo_h5_object *o = &r->tree.node[node].object;
    size_t count = 0;
    for (size_t i = 0; i < o->message_num; i++) count += o->message[i].type == FMO_H5_ATTRIBUTE;
    MUST(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, compare_attribute, &v));
    SAME(r, count == v.count);
}

/* --- datasets ----------------------------------------------------------------------------------*/

/* The next of our chunks is the one that libhdf5 has at a place, or neither has one there. */
static void compare_chunk(const reading *r, const fmo_h5_dataset *d, hid_t set, uint64_t at,
                          size_t *next)
{
    hsize_t offset[RANK_MAX], size = 0;
    haddr_t address = HADDR_UNDEF;
    uint64_t rest = at;
    unsigned mask = 0;
    for (unsigned i = d->space.rank; i-- > 0; rest /= d->grid[i])
        offset[i] = rest % d->grid[i] * d->chunk_dim[i];
    MUST(H5Dget_chunk_info_by_coord(set, offset, &mask, &address, &size));
    const fmo_h5_chunk *ours = *next < d->chunks_there ? &d->chunk[*next] : NULL;
    const bool there = ours && ours->at == at;
    SAME(r, there == (address != HADDR_UNDEF));
    if (!there) return;
    SAME(r, ours->size == size && ours->mask == mask);
    ++*next;
    counts.chunks++;
}

static void compare_chunks(const reading *r, const fmo_h5_dataset *d, hid_t set, hid_t space)
{
    hsize_t n = 0;
    size_t next = 0;
    counts.index[d->index]++;
    if (!d->plausible) return; /* not listed, and no reason to refuse it here */
    if (d->chunk_num) MUST(H5Dget_num_chunks(set, space, &n));
    SAME(r, d->chunks_there == n);
    /* HDF5 1.10 gives chunks of extensible arrays wrong places unless the first dimension grows */
    if (d->chunk_num > 60 || /* libhdf5 goes through all of them for each */
        (d->index == FMO_H5_INDEX_EXTENSIBLE && d->space.max_dim[0] != UINT64_MAX))
        return;
    for (uint64_t at = 0; at < d->chunk_num; at++) compare_chunk(r, d, set, at, &next);
    SAME(r, next == d->chunks_there);
}

static bool is_whole(const fmo_h5_dataset *d)
{
    const bool there = d->storage == FMO_H5_COMPACT ||
                       (d->storage == FMO_H5_CONTIGUOUS && d->stored) ||
                       (d->storage == FMO_H5_CHUNKED && d->chunks_there == d->chunk_num);
    return there && d->odd_filter < 0 && d->space.values > 0;
}

/* Where the values are, and the values if all of them are there. */
static void compare_data(reading *r, const fmo_h5_dataset *d, hid_t set, hid_t type, hid_t space)
{
    static const H5D_layout_t layouts[] = {[FMO_H5_COMPACT] = H5D_COMPACT,
                                           [FMO_H5_CONTIGUOUS] = H5D_CONTIGUOUS,
                                           [FMO_H5_CHUNKED] = H5D_CHUNKED,
                                           [FMO_H5_ELSEWHERE_EXTERNAL] = H5D_CONTIGUOUS,
                                           [FMO_H5_ELSEWHERE_VIRTUAL] = H5D_VIRTUAL};
    hid_t properties = GET(H5Dget_create_plist(set));
    const bool external = H5Pget_external_count(properties) > 0;
    SAME(r, H5Pget_layout(properties) == layouts[d->storage]);
    SAME(r, external == (d->storage == FMO_H5_ELSEWHERE_EXTERNAL));
    H5Pclose(properties);
    if (external) return;
    if (d->plausible && d->space.values) /* libhdf5 may keep chunks of no values */
        SAME(r, d->stored == H5Dget_storage_size(set));
    if (d->storage == FMO_H5_CHUNKED) compare_chunks(r, d, set, space);
    if (!is_whole(d) || H5Tget_class(type) == H5T_VLEN) return;
    const size_t n = (size_t)d->space.values;
    unsigned char *ours = malloc(n * d->type.size);
    void *theirs = calloc(n, H5Tget_size(type));
    const fmo_h5_code code = fmo_h5_dataset_read(&r->tree.file, d, ours);
    CHECK(code == FMO_H5_OK, "file %ld: %.60s: %s", r->file, r->what, r->tree.file.why);
    r->tree.file.why[0] = '\0';
    MUST(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, theirs));
    if (code == FMO_H5_OK) compare_values(r, type, ours, theirs, n);
    free_theirs(type, space, theirs);
    free(ours);
    counts.values++;
}

/* Whether our reader may leave this dataset unread, with a reason. */
static bool is_odd(hid_t set, hid_t type)
{
    hid_t properties = GET(H5Dget_create_plist(set));
    unsigned options = 0;
    if (H5Pget_layout(properties) == H5D_CHUNKED) MUST(H5Pget_chunk_opts(properties, &options));
    H5Pclose(properties);
    return H5Tcommitted(type) > 0 || options;
}

static void compare_dataset(reading *r, hid_t set, size_t node)
{
    const fmo_h5_dataset *d = &r->tree.node[node].dataset;
    hid_t type = GET(H5Dget_type(set)), space = GET(H5Dget_space(set));
    counts.datasets++;
    CHECK(d->code == FMO_H5_OK || (is_odd(set, type) && d->why[0]), "file %ld: %.60s: %s", r->file,
          r->what, d->why);
    if (d->code == FMO_H5_OK) {
        compare_types(r, &d->type, type);
        compare_spaces(r, &d->space, space);
        compare_data(r, d, set, type, space);
    } else
        counts.unread++;
    H5Sclose(space);
    H5Tclose(type);
}

/* --- groups ------------------------------------------------------------------------------------*/

static void compare_object(reading *r, hid_t object, size_t node);

static herr_t compare_link(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    visit *v = data;
    const fmo_h5_link *ours = fmo_h5_tree_link(&v->r->tree.node[v->node], name);
    v->r->what = name;
    v->count++;
    counts.links++;
    SAME(v->r, ours && ours->hard == (info->type == H5L_TYPE_HARD));
    if (!ours || info->type != H5L_TYPE_HARD || v->r->seen[ours->node]) return 0;
    hid_t object = GET(H5Oopen(group, name, H5P_DEFAULT));
    compare_object(v->r, object, ours->node);
    H5Oclose(object);
    return 0;
}

static void compare_object(reading *r, hid_t object, size_t node)
{
    const H5I_type_t kind = H5Iget_type(object);
    const fmo_h5_kind expected = kind == H5I_GROUP || kind == H5I_FILE ? FMO_H5_GROUP
                                 : kind == H5I_DATASET                 ? FMO_H5_DATASET
                                                                       : FMO_H5_OTHER;
    r->seen[node] = true;
    SAME(r, r->tree.node[node].kind == expected);
    if (expected == FMO_H5_DATASET) compare_dataset(r, object, node);
    compare_attributes(r, object, node);
    if (expected != FMO_H5_GROUP) return;
    visit v = {.r = r, .node = node};
    MUST(H5Literate(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, compare_link, &v));
    SAME(r, r->tree.node[node].link_num == v.count);
}

/* Reads a file with both libraries and compares all objects; a file with unsupported parts may be
 * refused. */
static void compare_file(const char *path, long number, bool odd)
{
    static reading r;
    const int descriptor = open(path, O_RDONLY);
    memset(&r, 0, sizeof r);
    r.file = number;
    r.what = "/";
    const fmo_h5_code code =
        fmo_h5_tree_read(&r.tree, descriptor, (uint64_t)lseek(descriptor, 0, SEEK_END));
    CHECK(code == FMO_H5_OK || (odd && code == FMO_H5_UNSUPPORTED && r.tree.file.why[0]),
          "file %ld: %s: %s", number, r.tree.where ? r.tree.where : "", r.tree.file.why);
    counts.files++;
    counts.odd += code != FMO_H5_OK;
    if (code == FMO_H5_OK) {
        hid_t file = GET(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
        compare_object(&r, file, 0);
        MUST(H5Fclose(file));
    }
    fmo_h5_tree_free(&r.tree);
    close(descriptor);
}

enum { BATCH = 50, NOT_DRAWN = 0, DRAWN, DRAWN_ODD };

/* Files of a batch, in processes of their own, as libhdf5 crashes and gives up at times: such a
 * file stays NOT_DRAWN, and another process goes on. state[n]: shared with them. */
static void draw_batch(const char *folder, unsigned long long seed, long first, long n, char *state)
{
    memset(state, NOT_DRAWN, BATCH);
    fflush(stdout);
    for (long i = 0; i < n; i++) {
        const pid_t pid = fork();
        if (pid == 0) {
            if (!freopen("/dev/null", "w", stderr)) _exit(1);
            for (; i < n; i++) {
                char path[64];
                bool odd = false;
                snprintf(path, sizeof path, "%s/%ld", folder, first + i);
                io_draw_file(path, seed, first + i, &odd);
                state[i] = odd ? DRAWN_ODD : DRAWN;
            }
            _exit(0);
        }
        CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid, "no process");
        while (i < n && state[i] != NOT_DRAWN) i++;
    }
}

static void compare_batch(const char *folder, long first, long n, const char *state, bool keep)
{
    for (long i = 0; i < n; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%ld", folder, first + i);
        if (state[i] != NOT_DRAWN)
            compare_file(path, first + i, state[i] == DRAWN_ODD);
        else
            printf("file %ld: libhdf5 does not write it\n", first + i);
        if (!keep) unlink(path);
    }
}

/* Writes and compares random files in batches: [FILES [SEED [FIRST]]]. */
int main(int argc, char **argv)
{
    const long few = getenv("FMO_TEST_SMALL") ? FILES / 5 : FILES;
    const long files = argc > 1 ? atol(argv[1]) : few, first = argc > 3 ? atol(argv[3]) : 0;
    const unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : SEED;
    char folder[] = "/tmp/fmo-io-random-XXXXXX";
    char *state = mmap(NULL, BATCH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!mkdtemp(folder) || state == MAP_FAILED) return 1;
    for (long i = 0; i < files; i += BATCH) {
        const long n = files - i < BATCH ? files - i : BATCH;
        draw_batch(folder, seed, first + i, n, state);
        compare_batch(folder, first + i, n, state, argc > 3);
    }
    CHECK(counts.files > 0.95 * (double)files, "%ld of %ld files", counts.files, files);
    printf(
        "%ld files (%ld with what is not read), %ld links, %ld attributes, %ld datasets (%ld not "
        "read, %ld whole), %ld chunks; indexes: %ld B-trees 1, %ld single, %ld implicit, %ld "
        "fixed arrays, %ld extensible arrays, %ld B-trees 2\n",
        counts.files, counts.odd, counts.links, counts.attributes, counts.datasets, counts.unread,
        counts.values, counts.chunks, counts.index[0], counts.index[1], counts.index[2],
        counts.index[3], counts.index[4], counts.index[5]);
    if (argc > 3)
        printf("%s\n", folder);
    else
        folder_remove(folder);
    return check_summary();
}
