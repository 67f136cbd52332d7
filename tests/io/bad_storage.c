/* Changes of a good data set: where and how fields are stored, and bytes of the file. */
#include "tests/io/bad_changes.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- links and storage elsewhere ---------------------------------------------------------------*/

void soft_link(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    MUST(H5Lcreate_soft("/mo/mo_coefficient", w->file, dataset_path(w->what, path), H5P_DEFAULT,
                        H5P_DEFAULT));
}

void external_link(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    dataset_path(w->what, path);
    MUST(H5Lcreate_external(w->in, path, w->file, path, H5P_DEFAULT, H5P_DEFAULT));
}

void external_group(work *w)
{
    MUST(H5Ldelete(w->file, w->what, H5P_DEFAULT));
    MUST(H5Lcreate_external(w->in, w->what, w->file, w->what, H5P_DEFAULT, H5P_DEFAULT));
}

void soft_group(work *w)
{
    if (H5Lexists(w->file, w->what, H5P_DEFAULT) > 0)
        MUST(H5Ldelete(w->file, w->what, H5P_DEFAULT));
    MUST(H5Lcreate_soft("/mo", w->file, w->what, H5P_DEFAULT, H5P_DEFAULT));
}

void root_dataset(work *w)
{
    hid_t space = GET(H5Screate(H5S_SCALAR));
    if (H5Lexists(w->file, w->what, H5P_DEFAULT) > 0)
        MUST(H5Ldelete(w->file, w->what, H5P_DEFAULT));
    hid_t dataset = GET(
        H5Dcreate2(w->file, w->what, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(dataset);
    H5Sclose(space);
}

void extra_group(work *w)
{
    hid_t group = GET(H5Gcreate2(w->file, "my_notes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
}

/* Types within types, which other programs may use for attributes of their own. */
void odd_attributes(work *w)
{
    hsize_t three[] = {3};
    char zero[128] = "";
    hvl_t sequence = {0, NULL};
    hid_t group = GET(H5Gopen2(w->file, "nucleus", H5P_DEFAULT));
    hid_t space = GET(H5Screate(H5S_SCALAR));
    hid_t array = GET(H5Tarray_create2(H5T_NATIVE_INT16, 1, three));
    hid_t truth = GET(H5Tenum_create(H5T_NATIVE_INT8));
    MUST(H5Tenum_insert(truth, "FALSE", "\0"));
    MUST(H5Tenum_insert(truth, "TRUE", "\1"));
    hid_t opaque = GET(H5Tcreate(H5T_OPAQUE, 5));
    MUST(H5Tset_tag(opaque, "a tag"));
    hid_t compound = GET(H5Tcreate(H5T_COMPOUND, 40));
    MUST(H5Tinsert(compound, "a real", 0, H5T_NATIVE_DOUBLE));
    MUST(H5Tinsert(compound, "three integers", 8, array));
    MUST(H5Tinsert(compound, "truth", 14, truth));
    const struct {
        const char *name;
        hid_t type;
        const void *value;
    } odd[] = {{"odd_array", array, zero},
               {"odd_truth", truth, zero},
               {"odd_opaque", opaque, zero},
               {"odd_compound", compound, zero},
               {"odd_sequence", GET(H5Tvlen_create(H5T_NATIVE_INT)), &sequence}};
    for (int i = 0; i < 5; i++) {
        hid_t attribute =
            GET(H5Acreate2(group, odd[i].name, odd[i].type, space, H5P_DEFAULT, H5P_DEFAULT));
        MUST(H5Awrite(attribute, odd[i].type, odd[i].value));
        H5Aclose(attribute);
        H5Tclose(odd[i].type);
    }
    H5Sclose(space);
    H5Gclose(group);
}

void external_storage(work *w)
{
    shape s = shape_of(w->file, w->what);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    MUST(H5Pset_external(properties, "/etc/passwd", 0, s.count * 8));
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, properties, H5T_NATIVE_DOUBLE,
                NULL);
    H5Pclose(properties);
}

void virtual_storage(work *w)
{
    char path[128];
    shape s = shape_of(w->file, w->what);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    hid_t space = GET(H5Screate_simple(s.rank, s.dims, NULL));
    MUST(H5Pset_virtual(properties, space, w->in, dataset_path(w->what, path), space));
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, properties, H5T_NATIVE_DOUBLE,
                NULL);
    H5Sclose(space);
    H5Pclose(properties);
}

/* Chunked with a filter that we do not read, although HDF5 would. */
void odd_filter(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    MUST(H5Pset_chunk(properties, s.rank, s.dims));
    MUST(H5Pset_scaleoffset(properties, H5Z_SO_FLOAT_DSCALE, 12));
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, properties, H5T_NATIVE_DOUBLE,
                values);
    H5Pclose(properties);
    free(values);
}

void compressed(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    hsize_t chunk[2] = {s.dims[0] > 2 ? 2 : 1, 3 < s.dims[1] ? 3 : s.dims[1]};
    MUST(H5Pset_chunk(properties, s.rank, chunk));
    MUST(H5Pset_shuffle(properties));
    MUST(H5Pset_fletcher32(properties));
    MUST(H5Pset_deflate(properties, 9));
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, properties, H5T_NATIVE_DOUBLE,
                values);
    H5Pclose(properties);
    free(values);
}

/* --- huge sizes ------------------------------------------------------------------------------ */

enum { BOMB = 100000 };

/* A file whose ao/num is BOMB, consistent in all but the data, of which there are few. */
void bomb_counts(work *w)
{
    no_one_electron(w);
    only_orbitals(w->file);
    put_number(w->file, "ao/num", BOMB);
    fill_integers(w->file, "ao/shell", BOMB, 0);
    fill_reals(w->file, "ao/normalization", BOMB, 0, 1.0);
    put_number(w->file, "mo/num", 1);
    fill_reals(w->file, "mo/occupation", 1, 0, 2.0);
    delete_dataset(w->file, "mo/energy");
    fill_reals(w->file, "mo/coefficient", 1, BOMB, 1.0);
}

/* Replaces the density by a huge compressed dataset of which one chunk is written. */
static void sparse_chunks(work *w, hsize_t chunk_rows, hsize_t chunk_columns)
{
    char path[128];
    hsize_t dims[2] = {BOMB, BOMB}, chunk[2] = {chunk_rows, chunk_columns}, start[2] = {0, 0};
    bomb_counts(w);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    MUST(H5Pset_chunk(properties, 2, chunk));
    MUST(H5Pset_deflate(properties, 9));
    put_dataset(w->file, "fmo/density", H5T_IEEE_F64LE, 2, dims, properties, H5T_NATIVE_DOUBLE,
                NULL);
    hid_t dataset = GET(H5Dopen2(w->file, dataset_path("fmo/density", path), H5P_DEFAULT));
    hid_t space = GET(H5Dget_space(dataset)), memory = GET(H5Screate_simple(2, chunk, NULL));
    MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, chunk, NULL));
    double *zero = calloc((size_t)(chunk_rows * chunk_columns), sizeof *zero);
    MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, zero));
    free(zero);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Pclose(properties);
}
void bomb_density(work *w)
{
    sparse_chunks(w, 1000, 1000);
}
void bomb_many_chunks(work *w)
{
    sparse_chunks(w, 8, 8);
}

/* A small dataset in one chunk of 128 MiB. */
void bomb_chunk(work *w)
{
    char path[128];
    shape s = shape_of(w->file, w->what);
    hsize_t max_dims[2] = {H5S_UNLIMITED, H5S_UNLIMITED}, chunk[2] = {4096, 4096};
    delete_dataset(w->file, w->what);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    hid_t space = GET(H5Screate_simple(s.rank, s.dims, max_dims));
    MUST(H5Pset_chunk(properties, s.rank, chunk));
    MUST(H5Pset_deflate(properties, 1));
    hid_t dataset = GET(H5Dcreate2(w->file, dataset_path(w->what, path), H5T_IEEE_F64LE, space,
                                   H5P_DEFAULT, properties, H5P_DEFAULT));
    double *values = calloc(s.count, sizeof *values);
    MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    free(values);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(properties);
}

/* --- labels ------------------------------------------------------------------------------------*/

static void put_labels(work *w, hid_t type, const void *values)
{
    hsize_t n = shape_of(w->file, "nucleus/charge").dims[0];
    put_dataset(w->file, "nucleus/label", type, 1, &n, H5P_DEFAULT, type, values);
}

void fixed_labels(work *w)
{
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, 4));
    hsize_t n = shape_of(w->file, "nucleus/charge").dims[0];
    char *text = calloc((size_t)n, 4);
    for (hsize_t i = 0; i < n; i++) memcpy(text + 4 * i, "He  ", 4);
    put_labels(w, type, text);
    free(text);
    H5Tclose(type);
}

void integer_labels(work *w)
{
    fill_integers(w->file, "nucleus/label", shape_of(w->file, "nucleus/charge").dims[0], 8);
}

/* --- bytes -------------------------------------------------------------------------------------*/

void make_missing(work *w)
{
    unlink(w->out);
}
void make_empty(work *w)
{
    if (truncate(w->out, 0) != 0) exit(1);
}
void make_directory(work *w)
{
    unlink(w->out);
    if (mkdir(w->out, 0777) != 0) exit(1);
}
void make_fifo(work *w)
{
    unlink(w->out);
    if (mkfifo(w->out, 0666) != 0) exit(1);
}
void make_short(work *w)
{
    struct stat info;
    if (stat(w->out, &info) != 0 || truncate(w->out, (off_t)(w->value * (double)info.st_size)) != 0)
        exit(1);
}
void make_text(work *w)
{
    FILE *file = fopen(w->out, "w");
    fprintf(file, "O 0.0 0.0 0.0\nH 0.0 0.0 1.8\nH 0.0 1.8 0.0\n");
    fclose(file);
}
void make_other_hdf5(work *w)
{
    hid_t file = GET(H5Fcreate(w->out, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t group = GET(H5Gcreate2(file, "images", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
    H5Fclose(file);
}

/* Overwrite `bytes` at `at` behind every `signature` in the file. */
static void patch(const char *path, const char *signature, long at, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    char *content = malloc((size_t)size);
    rewind(file);
    if (fread(content, 1, (size_t)size, file) != (size_t)size) exit(1);
    for (long i = 0; i + 4 < size; i++) {
        if (memcmp(content + i, signature, 4) != 0) continue;
        fseek(file, i + at, SEEK_SET);
        fwrite(bytes, 1, n, file);
    }
    free(content);
    fclose(file);
}
/* Names of members of a group that would fill the memory of the machine. */
void swell_names(work *w)
{
    patch(w->out, "HEAP", 13, "\1", 1);
}
void break_heap_signature(work *w)
{
    patch(w->out, "GCOL", 0, "gone", 4);
}
void break_heap_sizes(work *w)
{
    patch(w->out, "GCOL", 24, "\0\0\0\0\0\0\0\0", 8); /* the first object now has no size */
    patch(w->out, "GCOL", 16, "\7\0", 2);             /* and another index */
}
