/* The table of bad files and the code that makes them. See io_bad_files.h. */
#include "io_bad_files.h"

#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a mutator works on. Any HDF5 call that fails ends the program: the test itself is broken. */
typedef struct work {
    hid_t file;       /* open for writing, or -1 */
    const char *in;   /* path of the good file */
    const char *out;  /* path of the file being made */
    const char *what; /* argument of the case: a dataset or attribute, or NULL */
    double value;     /* argument of the case */
    int index;        /* argument of the case: an element */
} work;

#define MUST(call)                                                            \
    do {                                                                      \
        if ((call) < 0) {                                                     \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

static hid_t must(hid_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
    return id;
}
#define GET(call) must(call, #call)

/* --- tools -------------------------------------------------------------------------------------*/

/* TREXIO's attribute "group/name" is attribute group_name of /group; ours has no prefix. */
static hid_t attribute_group(hid_t file, const char *what, char name[160])
{
    char group[64];
    const char *slash = strchr(what, '/');
    snprintf(group, sizeof group, "%.*s", (int)(slash - what), what);
    bool own = strcmp(group, "fmo") == 0;
    snprintf(name, 160, "%s%s%s", own ? "" : group, own ? "" : "_", slash + 1);
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0)
        return GET(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return GET(H5Gopen2(file, group, H5P_DEFAULT));
}

/* HDF5 path of dataset "group/name". */
static const char *dataset_path(const char *what, char path[128])
{
    const char *slash = strchr(what, '/');
    if (strncmp(what, "fmo/", 4) == 0)
        snprintf(path, 128, "/%s", what);
    else
        snprintf(path, 128, "/%.*s/%.*s_%s", (int)(slash - what), what, (int)(slash - what), what,
                 slash + 1);
    return path;
}

static void delete_dataset(hid_t file, const char *what)
{
    char path[128];
    dataset_path(what, path);
    char group[128];
    snprintf(group, sizeof group, "%s", path);
    *strrchr(group, '/') = '\0';
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0) {
        hid_t made = GET(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Gclose(made);
    }
    if (H5Lexists(file, path, H5P_DEFAULT) > 0) MUST(H5Ldelete(file, path, H5P_DEFAULT));
}

static void delete_attribute(hid_t file, const char *what)
{
    char name[160];
    hid_t group = attribute_group(file, what, name);
    if (H5Aexists(group, name) > 0) MUST(H5Adelete(group, name));
    H5Gclose(group);
}

static void put_attribute(hid_t file, const char *what, hid_t type, const void *value)
{
    char name[160];
    delete_attribute(file, what);
    hid_t group = attribute_group(file, what, name), space = GET(H5Screate(H5S_SCALAR));
    hid_t attribute = GET(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Awrite(attribute, type, value));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Gclose(group);
}

static void put_number(hid_t file, const char *what, int64_t value)
{
    put_attribute(file, what, H5T_NATIVE_INT64, &value);
}

static void put_text(hid_t file, const char *what, const char *text)
{
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, strlen(text) + 1));
    put_attribute(file, what, type, text);
    H5Tclose(type);
}

/* Create a dataset; with values NULL it is not written, properties may be H5P_DEFAULT. */
static void put_dataset(hid_t file, const char *what, hid_t type, int rank, const hsize_t *dims,
                        hid_t properties, hid_t memory_type, const void *values)
{
    char path[128];
    delete_dataset(file, what);
    hid_t space = rank ? GET(H5Screate_simple(rank, dims, NULL)) : GET(H5Screate(H5S_SCALAR));
    hid_t dataset = GET(H5Dcreate2(file, dataset_path(what, path), type, space, H5P_DEFAULT,
                                   properties, H5P_DEFAULT));
    if (values) MUST(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(dataset);
    H5Sclose(space);
}

/* n numbers, all `value`. */
static void fill_reals(hid_t file, const char *what, hsize_t n, hsize_t m, double value)
{
    hsize_t dims[2] = {n, m};
    size_t count = (size_t)(n * (m ? m : 1));
    double *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = value;
    put_dataset(file, what, H5T_IEEE_F64LE, m ? 2 : 1, dims, H5P_DEFAULT, H5T_NATIVE_DOUBLE,
                values);
    free(values);
}

static void fill_integers(hid_t file, const char *what, hsize_t n, int64_t value)
{
    int64_t *values = malloc((size_t)n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = value;
    put_dataset(file, what, H5T_STD_I64LE, 1, &n, H5P_DEFAULT, H5T_NATIVE_INT64, values);
    free(values);
}

typedef struct shape {
    int rank;
    hsize_t dims[2];
    size_t count;
} shape;

static shape shape_of(hid_t file, const char *what)
{
    char path[128];
    shape s = {0, {1, 1}, 1};
    hid_t dataset = GET(H5Dopen2(file, dataset_path(what, path), H5P_DEFAULT));
    hid_t space = GET(H5Dget_space(dataset));
    s.rank = H5Sget_simple_extent_dims(space, s.dims, NULL);
    s.count = (size_t)(s.dims[0] * s.dims[1]);
    H5Sclose(space);
    H5Dclose(dataset);
    return s;
}

static double *get_reals(hid_t file, const char *what, shape *s)
{
    char path[128];
    *s = shape_of(file, what);
    double *values = malloc(s->count * sizeof *values);
    hid_t dataset = GET(H5Dopen2(file, dataset_path(what, path), H5P_DEFAULT));
    MUST(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(dataset);
    return values;
}

static void write_reals(hid_t file, const char *what, const double *values)
{
    char path[128];
    hid_t dataset = GET(H5Dopen2(file, dataset_path(what, path), H5P_DEFAULT));
    MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(dataset);
}

/* --- mutators ----------------------------------------------------------------------------------*/

static void no_change(work *w)
{
    (void)w;
}
static void drop_dataset(work *w)
{
    delete_dataset(w->file, w->what);
}
static void drop_attribute(work *w)
{
    delete_attribute(w->file, w->what);
}
static void set_number(work *w)
{
    put_number(w->file, w->what, (int64_t)w->value);
}

/* One element of a dataset of numbers (converted to its type). */
static void set_element(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    values[w->index] = w->value;
    write_reals(w->file, w->what, values);
    free(values);
}

/* Add to an element, relative to itself, which an overlap check may or may not see. */
static void scale_element(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    values[w->index] *= w->value;
    write_reals(w->file, w->what, values);
    free(values);
}

static void only_orbitals(hid_t file)
{
    static const char *const own[] = {"fmo/density", "fmo/coulomb", "fmo/exchange", "fmo/fock_2e",
                                      "fmo/energy"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) delete_dataset(file, own[i]);
}

static void set_element_without_density(work *w)
{
    only_orbitals(w->file);
    set_element(w);
}

static void drop_dataset_without_density(work *w)
{
    only_orbitals(w->file);
    delete_dataset(w->file, w->what);
}

static void orbitals_only(work *w)
{
    only_orbitals(w->file);
}

static void drop_fmo(work *w)
{
    MUST(H5Ldelete(w->file, "fmo", H5P_DEFAULT));
}

/* The same values, one row more. */
static void grow(work *w)
{
    shape s = shape_of(w->file, w->what);
    fill_reals(w->file, w->what, s.dims[0] + 1, s.rank == 2 ? s.dims[1] : 0, 1.0);
}

/* The same values as one long row. */
static void flatten(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    hsize_t n = s.count;
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, 1, &n, H5P_DEFAULT, H5T_NATIVE_DOUBLE, values);
    free(values);
}

/* Retype: reals to this type, values kept where the type can hold them. */
static void retype(work *w, hid_t type)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    put_dataset(w->file, w->what, type, s.rank, s.dims, H5P_DEFAULT, H5T_NATIVE_DOUBLE, values);
    free(values);
}
static void retype_int64(work *w)
{
    retype(w, H5T_STD_I64LE);
}
static void retype_int16_big(work *w)
{
    retype(w, H5T_STD_I16BE);
}
static void retype_float32(work *w)
{
    retype(w, H5T_IEEE_F32LE);
}
static void retype_float64(work *w)
{
    retype(w, H5T_IEEE_F64LE);
}
static void retype_float64_big(work *w)
{
    retype(w, H5T_IEEE_F64BE);
}

static void make_strings(work *w)
{
    shape s = shape_of(w->file, w->what);
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, 4));
    char *text = calloc(s.count, 4);
    put_dataset(w->file, w->what, type, s.rank, s.dims, H5P_DEFAULT, type, text);
    free(text);
    H5Tclose(type);
}

static void make_compound(work *w)
{
    shape s = shape_of(w->file, w->what);
    hid_t type = GET(H5Tcreate(H5T_COMPOUND, 16));
    MUST(H5Tinsert(type, "re", 0, H5T_IEEE_F64LE));
    MUST(H5Tinsert(type, "im", 8, H5T_IEEE_F64LE));
    char *zero = calloc(s.count, 16);
    put_dataset(w->file, w->what, type, s.rank, s.dims, H5P_DEFAULT, type, zero);
    free(zero);
    H5Tclose(type);
}

static void never_written(work *w)
{
    shape s = shape_of(w->file, w->what);
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, H5P_DEFAULT, H5T_NATIVE_DOUBLE,
                NULL);
}

static void null_space(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    hid_t space = GET(H5Screate(H5S_NULL));
    hid_t dataset = GET(H5Dcreate2(w->file, dataset_path(w->what, path), H5T_IEEE_F64LE, space,
                                   H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(dataset);
    H5Sclose(space);
}

static void make_group(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    hid_t group = GET(
        H5Gcreate2(w->file, dataset_path(w->what, path), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
}

/* An attribute of another type or shape. */
static void attribute_real(work *w)
{
    put_attribute(w->file, w->what, H5T_NATIVE_DOUBLE, &w->value);
}
static void attribute_text(work *w)
{
    put_text(w->file, w->what, "seven");
}
static void attribute_huge(work *w)
{
    uint64_t value = UINT64_MAX;
    put_attribute(w->file, w->what, H5T_NATIVE_UINT64, &value);
}
static void attribute_array(work *w)
{
    char name[160];
    hsize_t n = 3;
    int64_t values[] = {7, 7, 7};
    delete_attribute(w->file, w->what);
    hid_t group = attribute_group(w->file, w->what, name);
    hid_t space = GET(H5Screate_simple(1, &n, NULL));
    hid_t attribute = GET(H5Acreate2(group, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Awrite(attribute, H5T_NATIVE_INT64, values));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Gclose(group);
}
static void attribute_variable(work *w)
{
    const char *text = "2.6.0";
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, H5T_VARIABLE));
    put_attribute(w->file, w->what, type, &text);
    H5Tclose(type);
}
static void version_long(work *w)
{
    put_text(w->file, w->what, "2.6.0-0123456789abcdef");
}
static void version_nonsense(work *w)
{
    put_text(w->file, w->what, "new");
}
static void slater(work *w)
{
    put_text(w->file, w->what, "Slater");
}
static void lower_case(work *w)
{
    put_text(w->file, w->what, "gaussian");
}

/* New datasets with the dimension of another. */
static void add_reals_like(work *w, const char *like)
{
    shape s = shape_of(w->file, like);
    fill_reals(w->file, w->what, s.dims[0], s.rank == 2 ? s.dims[1] : 0, 0.0);
    if (w->value != 0.0) set_element(w);
}
static void add_reals_prim(work *w)
{
    add_reals_like(w, "basis/exponent");
}
static void add_reals_orbitals(work *w)
{
    add_reals_like(w, "mo/coefficient");
}
static void add_integers_mo(work *w)
{
    shape s = shape_of(w->file, "mo/occupation");
    fill_integers(w->file, w->what, s.dims[0], 0);
    if (w->value != 0.0) set_element(w);
}
static void add_cell(work *w)
{
    fill_reals(w->file, "cell/a", 3, 0, 10.0);
    if (w->value != 0.0) put_number(w->file, "pbc/periodic", 0);
}

static void add_ecp(work *w)
{
    put_number(w->file, "ecp/num", 1);
    if (w->value != 0.0) delete_dataset(w->file, "ao_1e_int/core_hamiltonian");
}
static void add_ecp_sum(work *w)
{
    shape s = shape_of(w->file, "ao_1e_int/kinetic");
    add_ecp(w);
    fill_reals(w->file, "ao_1e_int/ecp", s.dims[0], s.dims[1], 0.0);
}

static void no_one_electron(work *w)
{
    static const char *const names[] = {"ao_1e_int/overlap", "ao_1e_int/kinetic",
                                        "ao_1e_int/potential_n_e", "ao_1e_int/core_hamiltonian"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) delete_dataset(w->file, names[i]);
}

static void zero_atoms(work *w)
{
    put_number(w->file, "nucleus/num", 0);
}

/* All primitives in shell 0: the others are empty. */
static void empty_shells(work *w)
{
    fill_integers(w->file, "basis/shell_index", shape_of(w->file, "basis/exponent").dims[0], 0);
}

/* All functions in shell 0. */
static void full_shell(work *w)
{
    fill_integers(w->file, "ao/shell", shape_of(w->file, "ao/shell").dims[0], 0);
}

static void deep_shell(work *w)
{
    enum { DEPTH = 2000 };
    put_number(w->file, "basis/prim_num", DEPTH);
    fill_integers(w->file, "basis/shell_index", DEPTH, 0);
    fill_reals(w->file, "basis/exponent", DEPTH, 0, 1.0);
    fill_reals(w->file, "basis/coefficient", DEPTH, 0, 1.0);
    fill_reals(w->file, "basis/prim_factor", DEPTH, 0, 1.0);
}

/* As many primitives of coefficient 0. */
static void zero_primitives(work *w)
{
    enum { DEPTH = 150 };
    shape s;
    int64_t shell[DEPTH + 64] = {0};
    char path[128];
    static const char *const names[] = {"basis/exponent", "basis/coefficient", "basis/prim_factor"};
    hid_t set = GET(H5Dopen2(w->file, dataset_path("basis/shell_index", path), H5P_DEFAULT));
    MUST(H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, shell));
    H5Dclose(set);
    hsize_t n = shape_of(w->file, "basis/exponent").dims[0] + DEPTH;
    for (int i = 0; i < 3; i++) {
        double *old = get_reals(w->file, names[i], &s), more[DEPTH + 64];
        for (hsize_t k = 0; k < n; k++) more[k] = k < s.count ? old[k] : i == 1 ? 0.0 : 1.0;
        put_dataset(w->file, names[i], H5T_IEEE_F64LE, 1, &n, H5P_DEFAULT, H5T_NATIVE_DOUBLE, more);
        free(old);
    }
    put_dataset(w->file, "basis/shell_index", H5T_STD_I64LE, 1, &n, H5P_DEFAULT, H5T_NATIVE_INT64,
                shell);
    put_number(w->file, "basis/prim_num", (int64_t)n);
}

/* H at 0.1 bohr of O, without integrals that would tell. */
/* The core Hamiltonian is the sum, and one part is off. */
static void scale_sum(work *w)
{
    delete_dataset(w->file, "ao_1e_int/core_hamiltonian");
    scale_element(w);
}

/* A charge that nothing else contradicts. */
static void charge_only(work *w)
{
    no_one_electron(w);
    delete_attribute(w->file, "nucleus/repulsion");
    set_element(w);
}

/* How many there are: the density does not hold them any longer. */
static void forget_electrons(work *w)
{
    static const char *const names[] = {"electron/num", "electron/up_num", "electron/dn_num"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) delete_attribute(w->file, names[i]);
}

static void close_nuclei(work *w)
{
    shape s;
    no_one_electron(w);
    forget_electrons(w);
    delete_attribute(w->file, "nucleus/repulsion");
    double *values = get_reals(w->file, "nucleus/coord", &s);
    for (int c = 0; c < 3; c++) values[3 + c] = values[c] + (c == 2 ? 0.1 : 0.0);
    write_reals(w->file, "nucleus/coord", values);
    free(values);
}

static void coincident_nuclei(work *w)
{
    shape s;
    no_one_electron(w);
    forget_electrons(w);
    delete_attribute(w->file, "nucleus/repulsion");
    double *values = get_reals(w->file, "nucleus/coord", &s);
    memcpy(values + 3, values, 3 * sizeof *values);
    write_reals(w->file, "nucleus/coord", values);
    free(values);
}

/* Asymmetry of `value` times the largest element. */
static void asymmetric(work *w)
{
    shape s;
    double largest = 0.0, *values = get_reals(w->file, w->what, &s);
    for (size_t i = 0; i < s.count; i++) largest = fmax(largest, fabs(values[i]));
    values[1] += w->value * largest;
    write_reals(w->file, w->what, values);
    free(values);
}

static void fractional(work *w)
{
    forget_electrons(w);
    set_element_without_density(w);
}

static void all_occupied_once(work *w)
{
    forget_electrons(w);
    only_orbitals(w->file);
    fill_reals(w->file, "mo/occupation", shape_of(w->file, "mo/occupation").dims[0], 0, 1.0);
}

static void units_ev(work *w)
{
    char path[128];
    hid_t dataset = GET(H5Dopen2(w->file, dataset_path(w->what, path), H5P_DEFAULT));
    if (H5Aexists(dataset, "units") > 0) MUST(H5Adelete(dataset, "units"));
    hid_t type = GET(H5Tcopy(H5T_C_S1)), space = GET(H5Screate(H5S_SCALAR));
    MUST(H5Tset_size(type, 3));
    hid_t attribute = GET(H5Acreate2(dataset, "units", type, space, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Awrite(attribute, type, "eV"));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
}

/* --- links and storage elsewhere ---------------------------------------------------------------*/

static void soft_link(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    MUST(H5Lcreate_soft("/mo/mo_coefficient", w->file, dataset_path(w->what, path), H5P_DEFAULT,
                        H5P_DEFAULT));
}

static void external_link(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    dataset_path(w->what, path);
    MUST(H5Lcreate_external(w->in, path, w->file, path, H5P_DEFAULT, H5P_DEFAULT));
}

static void external_group(work *w)
{
    MUST(H5Ldelete(w->file, w->what, H5P_DEFAULT));
    MUST(H5Lcreate_external(w->in, w->what, w->file, w->what, H5P_DEFAULT, H5P_DEFAULT));
}

static void soft_group(work *w)
{
    if (H5Lexists(w->file, w->what, H5P_DEFAULT) > 0)
        MUST(H5Ldelete(w->file, w->what, H5P_DEFAULT));
    MUST(H5Lcreate_soft("/mo", w->file, w->what, H5P_DEFAULT, H5P_DEFAULT));
}

static void root_dataset(work *w)
{
    hid_t space = GET(H5Screate(H5S_SCALAR));
    if (H5Lexists(w->file, w->what, H5P_DEFAULT) > 0)
        MUST(H5Ldelete(w->file, w->what, H5P_DEFAULT));
    hid_t dataset = GET(
        H5Dcreate2(w->file, w->what, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(dataset);
    H5Sclose(space);
}

static void extra_group(work *w)
{
    hid_t group = GET(H5Gcreate2(w->file, "my_notes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
}

/* Types within types, which other programs may use for attributes of their own. */
static void odd_attributes(work *w)
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

static void external_storage(work *w)
{
    shape s = shape_of(w->file, w->what);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    MUST(H5Pset_external(properties, "/etc/passwd", 0, s.count * 8));
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, properties, H5T_NATIVE_DOUBLE,
                NULL);
    H5Pclose(properties);
}

static void virtual_storage(work *w)
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
static void odd_filter(work *w)
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

static void compressed(work *w)
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

/* --- bombs -------------------------------------------------------------------------------------*/

enum { BOMB = 100000 };

/* A file whose ao/num is BOMB, everything consistent except that nothing this large is in it. */
static void bomb_counts(work *w)
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
static void bomb_density(work *w)
{
    sparse_chunks(w, 1000, 1000);
}
static void bomb_many_chunks(work *w)
{
    sparse_chunks(w, 8, 8);
}

/* A small dataset in one chunk of 128 MiB. */
static void bomb_chunk(work *w)
{
    char path[128];
    shape s = shape_of(w->file, w->what);
    hsize_t most[2] = {H5S_UNLIMITED, H5S_UNLIMITED}, chunk[2] = {4096, 4096};
    delete_dataset(w->file, w->what);
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    hid_t space = GET(H5Screate_simple(s.rank, s.dims, most));
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

static void fixed_labels(work *w)
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

static void integer_labels(work *w)
{
    fill_integers(w->file, "nucleus/label", shape_of(w->file, "nucleus/charge").dims[0], 8);
}

/* --- bytes -------------------------------------------------------------------------------------*/

static void make_missing(work *w)
{
    unlink(w->out);
}
static void make_empty(work *w)
{
    if (truncate(w->out, 0) != 0) exit(1);
}
static void make_directory(work *w)
{
    unlink(w->out);
    if (mkdir(w->out, 0777) != 0) exit(1);
}
static void make_fifo(work *w)
{
    unlink(w->out);
    if (mkfifo(w->out, 0666) != 0) exit(1);
}
static void make_short(work *w)
{
    struct stat info;
    if (stat(w->out, &info) != 0 || truncate(w->out, (off_t)(w->value * (double)info.st_size)) != 0)
        exit(1);
}
static void make_text(work *w)
{
    FILE *file = fopen(w->out, "w");
    fprintf(file, "O 0.0 0.0 0.0\nH 0.0 0.0 1.8\nH 0.0 1.8 0.0\n");
    fclose(file);
}
static void make_other_hdf5(work *w)
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
static void swell_names(work *w)
{
    patch(w->out, "HEAP", 13, "\1", 1);
}
static void break_heap_signature(work *w)
{
    patch(w->out, "GCOL", 0, "gone", 4);
}
static void break_heap_sizes(work *w)
{
    patch(w->out, "GCOL", 24, "\0\0\0\0\0\0\0\0", 8); /* the first object now has no size */
    patch(w->out, "GCOL", 16, "\7\0", 2);             /* and another index */
}

/* --- the table ---------------------------------------------------------------------------------*/

enum { HDF5_CHANGE, BYTE_CHANGE };

typedef struct row {
    bad_file bad;
    int kind;
    void (*mutate)(work *);
    const char *what;
    double value;
    int index;
} row;

#define REFUSED(name, mutate, what, value, index, expect)          \
    {                                                              \
        {name, 3, expect}, HDF5_CHANGE, mutate, what, value, index \
    }
#define BYTES(name, mutate, value, expect)                     \
    {                                                          \
        {name, 3, expect}, BYTE_CHANGE, mutate, NULL, value, 0 \
    }
#define READ(name, mutate, what, value, index, expect)             \
    {                                                              \
        {name, 0, expect}, HDF5_CHANGE, mutate, what, value, index \
    }

static const row rows[] = {
    /* Not a data set at all. */
    BYTES("missing-file", make_missing, 0, "cannot open it: No such file or directory"),
    BYTES("empty-file", make_empty, 0, "the file is empty"),
    BYTES("directory", make_directory, 0, "is a directory"),
    BYTES("fifo", make_fifo, 0, "is not a regular file"),
    BYTES("not-hdf5", make_text, 0, "not an HDF5 file"),
    BYTES("truncated-half", make_short, 0.5, "truncated"),
    BYTES("truncated-end", make_short, 0.999, "truncated"),
    BYTES("truncated-header", make_short, 0.001, "damaged"),
    BYTES("not-trexio", make_other_hdf5, 0, "metadata/package_version: missing"),
    REFUSED("no-version", drop_attribute, "metadata/package_version", 0, 0,
            "metadata/package_version: missing"),
    REFUSED("version-long", version_long, "metadata/package_version", 0, 0,
            "metadata/package_version: expected a version"),
    REFUSED("version-nonsense", version_nonsense, "metadata/package_version", 0, 0,
            "metadata/package_version: expected a version"),
    REFUSED("version-variable", attribute_variable, "metadata/package_version", 0, 0,
            "metadata/package_version: expected a version"),
    REFUSED("version-number", set_number, "metadata/package_version", 2, 0,
            "metadata/package_version: expected a version"),

    /* Counts. */
    REFUSED("no-atoms", zero_atoms, NULL, 0, 0, "nucleus/num = 0: expected 1"),
    REFUSED("negative-atoms", set_number, "nucleus/num", -3, 0, "nucleus/num = -3"),
    REFUSED("absurd-atoms", set_number, "nucleus/num", 1e15, 0, "nucleus/num = 1000000000000000"),
    REFUSED("many-atoms", set_number, "nucleus/num", 46341, 0, "nucleus/num = 46341"),
    REFUSED("absurd-shells", set_number, "basis/shell_num", 1e9, 0, "basis/shell_num = 1000000000"),
    REFUSED("absurd-prims", set_number, "basis/prim_num", 1e12, 0, "basis/prim_num"),
    REFUSED("absurd-functions", attribute_huge, "ao/num", 0, 0, "ao/num = 9223372036854775807"),
    REFUSED("zero-functions", set_number, "ao/num", 0, 0, "ao/num = 0"),
    REFUSED("zero-orbitals", set_number, "mo/num", 0, 0, "mo/num = 0"),
    REFUSED("wrong-atoms", set_number, "nucleus/num", 4, 0,
            "nucleus/charge: expected the shape [4]"),
    REFUSED("no-nucleus-num", drop_attribute, "nucleus/num", 0, 0, "nucleus/num: missing"),
    REFUSED("no-shell-num", drop_attribute, "basis/shell_num", 0, 0, "basis/shell_num: missing"),
    REFUSED("no-prim-num", drop_attribute, "basis/prim_num", 0, 0, "basis/prim_num: missing"),
    REFUSED("no-ao-num", drop_attribute, "ao/num", 0, 0, "ao/num: missing"),
    REFUSED("no-mo-num", drop_attribute, "mo/num", 0, 0, "mo/num: missing"),
    REFUSED("real-ao-num", attribute_real, "ao/num", 7, 0, "ao/num: expected integers"),
    REFUSED("text-ao-num", attribute_text, "ao/num", 0, 0, "ao/num: expected integers"),
    REFUSED("array-ao-num", attribute_array, "ao/num", 0, 0, "ao/num: expected one value"),

    /* Missing fields. */
    REFUSED("no-charge", drop_dataset, "nucleus/charge", 0, 0, "nucleus/charge: missing"),
    REFUSED("no-coord", drop_dataset, "nucleus/coord", 0, 0, "nucleus/coord: missing"),
    REFUSED("no-nucleus-index", drop_dataset, "basis/nucleus_index", 0, 0,
            "basis/nucleus_index: missing"),
    REFUSED("no-ang-mom", drop_dataset, "basis/shell_ang_mom", 0, 0,
            "basis/shell_ang_mom: missing"),
    REFUSED("no-shell-factor", drop_dataset, "basis/shell_factor", 0, 0,
            "basis/shell_factor: missing"),
    REFUSED("no-shell-index", drop_dataset, "basis/shell_index", 0, 0,
            "basis/shell_index: missing"),
    REFUSED("no-exponent", drop_dataset, "basis/exponent", 0, 0, "basis/exponent: missing"),
    REFUSED("no-coefficient", drop_dataset, "basis/coefficient", 0, 0,
            "basis/coefficient: missing"),
    REFUSED("no-prim-factor", drop_dataset, "basis/prim_factor", 0, 0,
            "basis/prim_factor: missing"),
    REFUSED("no-ao-shell", drop_dataset, "ao/shell", 0, 0, "ao/shell: missing"),
    REFUSED("no-normalization", drop_dataset, "ao/normalization", 0, 0,
            "ao/normalization: missing"),
    REFUSED("no-cartesian", drop_attribute, "ao/cartesian", 0, 0, "ao/cartesian: missing"),
    REFUSED("no-basis-type", drop_attribute, "basis/type", 0, 0, "basis/type: missing"),
    REFUSED("no-mo-coefficient", drop_dataset_without_density, "mo/coefficient", 0, 0,
            "mo/coefficient: missing"),
    REFUSED("no-occupation", drop_dataset_without_density, "mo/occupation", 0, 0,
            "mo/occupation: missing"),

    /* Wrong shapes and types. */
    REFUSED("long-exponent", grow, "basis/exponent", 0, 0, "basis/exponent: expected the shape ["),
    REFUSED("long-density", grow, "fmo/density", 0, 0, "/fmo/density: expected the shape ["),
    REFUSED("flat-density", flatten, "fmo/density", 0, 0, "/fmo/density: expected the shape ["),
    REFUSED("flat-coord", flatten, "nucleus/coord", 0, 0, "nucleus/coord: expected the shape ["),
    REFUSED("long-orbitals", grow, "mo/coefficient", 0, 0, "mo/coefficient: expected the shape ["),
    REFUSED("long-coulomb", grow, "fmo/coulomb", 0, 0, "/fmo/coulomb: expected the shape ["),
    REFUSED("long-overlap", grow, "ao_1e_int/overlap", 0, 0,
            "ao_1e_int/overlap: expected the shape ["),
    REFUSED("null-density", null_space, "fmo/density", 0, 0, "/fmo/density: expected the shape ["),
    REFUSED("group-density", make_group, "fmo/density", 0, 0,
            "/fmo/density: expected a dataset, found a group"),
    REFUSED("integer-exponent", retype_int64, "basis/exponent", 0, 0,
            "basis/exponent: expected real numbers"),
    REFUSED("float32-coord", retype_float32, "nucleus/coord", 0, 0,
            "nucleus/coord: expected real numbers (float64)"),
    REFUSED("real-shell-index", retype_float64, "basis/shell_index", 0, 0,
            "basis/shell_index: expected integers"),
    REFUSED("text-occupation", make_strings, "mo/occupation", 0, 0,
            "mo/occupation: expected real numbers"),
    REFUSED("complex-density", make_compound, "fmo/density", 0, 0,
            "/fmo/density: expected real numbers"),
    REFUSED("integer-label", integer_labels, NULL, 0, 0, "nucleus/label: expected strings"),
    REFUSED("density-never-written", never_written, "fmo/density", 0, 0,
            "/fmo/density: declared but never written"),

    /* Values that are no numbers. */
    REFUSED("nan-charge", set_element, "nucleus/charge", NAN, 1, "nucleus/charge[1] = nan"),
    REFUSED("inf-coord", set_element, "nucleus/coord", INFINITY, 5, "nucleus/coord[1][2] = inf"),
    REFUSED("nan-shell-factor", set_element, "basis/shell_factor", NAN, 0,
            "basis/shell_factor[0] = nan"),
    REFUSED("nan-exponent", set_element, "basis/exponent", NAN, 3, "basis/exponent[3] = nan"),
    REFUSED("inf-coefficient", set_element, "basis/coefficient", -INFINITY, 2,
            "basis/coefficient[2] = -inf"),
    REFUSED("nan-prim-factor", set_element, "basis/prim_factor", NAN, 1,
            "basis/prim_factor[1] = nan"),
    REFUSED("nan-normalization", set_element, "ao/normalization", NAN, 6,
            "ao/normalization[6] = nan"),
    REFUSED("nan-overlap", set_element, "ao_1e_int/overlap", NAN, 8,
            "ao_1e_int/overlap[1][1] = nan"),
    REFUSED("nan-core", set_element, "ao_1e_int/core_hamiltonian", NAN, 8,
            "ao_1e_int/core_hamiltonian[1][1] = nan"),
    REFUSED("nan-density", set_element, "fmo/density", NAN, 9, "/fmo/density[1][2] = nan"),
    REFUSED("inf-coulomb", set_element, "fmo/coulomb", INFINITY, 9, "/fmo/coulomb[1][2] = inf"),
    REFUSED("nan-exchange", set_element, "fmo/exchange", NAN, 0, "/fmo/exchange[0][0] = nan"),
    REFUSED("nan-fock", set_element, "fmo/fock_2e", NAN, 0, "/fmo/fock_2e[0][0] = nan"),
    REFUSED("nan-energy", set_element, "fmo/energy", NAN, 0, "/fmo/energy = nan"),
    REFUSED("zero-energy", set_element, "fmo/energy", 0, 0, "/fmo/energy: 0 hartree"),
    REFUSED("nan-orbital", set_element_without_density, "mo/coefficient", NAN, 9,
            "mo/coefficient[1][2] = nan"),
    REFUSED("nan-occupation", set_element_without_density, "mo/occupation", NAN, 1,
            "mo/occupation[1] = nan"),
    REFUSED("nan-repulsion", attribute_real, "nucleus/repulsion", NAN, 0, "nucleus/repulsion: nan"),
    REFUSED("integer-repulsion", set_number, "nucleus/repulsion", 9, 0,
            "nucleus/repulsion: expected real numbers"),

    /* Values out of range. */
    REFUSED("nucleus-index-range", set_element, "basis/nucleus_index", 3, 1,
            "basis/nucleus_index[1] = 3"),
    REFUSED("nucleus-index-negative", set_element, "basis/nucleus_index", -1, 0,
            "basis/nucleus_index[0] = -1"),
    REFUSED("shell-index-range", set_element, "basis/shell_index", 500, 2,
            "basis/shell_index[2] = 500"),
    REFUSED("shell-index-huge", set_element, "basis/shell_index", 4294967296.0, 2,
            "basis/shell_index: element 2 = 4294967296"),
    REFUSED("ao-shell-range", set_element, "ao/shell", 99, 3, "ao/shell[3] = 99"),
    REFUSED("ao-shell-negative", set_element, "ao/shell", -7, 0, "ao/shell[0] = -7"),
    REFUSED("ao-shell-full", full_shell, NULL, 0, 0, "ao/shell[1] = 0: shell 0 is an s shell"),
    REFUSED("d-shell", set_element, "basis/shell_ang_mom", 2, 2, "ao/num = 7: the"),
    REFUSED("f-shell", set_element, "basis/shell_ang_mom", 3, 2,
            "basis/shell_ang_mom[2] = 3 (f): this build supports s, p and d"),
    REFUSED("g-shell", set_element, "basis/shell_ang_mom", 4, 2, "basis/shell_ang_mom[2] = 4 (g)"),
    REFUSED("negative-shell", set_element, "basis/shell_ang_mom", -1, 2,
            "basis/shell_ang_mom[2] = -1"),
    REFUSED("absurd-shell", set_element, "basis/shell_ang_mom", 1e9, 2,
            "basis/shell_ang_mom[2] = 1000000000"),
    REFUSED("p-to-s", set_element, "basis/shell_ang_mom", 0, 2, "ao/shell["),
    REFUSED("s-to-p", set_element, "basis/shell_ang_mom", 1, 0, "ao/num = 7"),
    REFUSED("zero-exponent", set_element, "basis/exponent", 0, 4, "basis/exponent[4] = 0"),
    REFUSED("negative-exponent", set_element, "basis/exponent", -1.5, 4,
            "basis/exponent[4] = -1.5"),
    REFUSED("huge-exponent", set_element, "basis/exponent", 1e300, 4, "basis/exponent[4] = 1e+300"),
    REFUSED("huge-coefficient", set_element, "basis/coefficient", 1e300, 4, "basis/coefficient[4]"),
    REFUSED("zero-normalization", set_element, "ao/normalization", 0, 4, "ao/normalization[4] = 0"),
    REFUSED("far-nucleus", set_element, "nucleus/coord", 1e30, 0, "nucleus/coord[0][0] = 1e+30"),
    REFUSED("empty-shell", empty_shells, NULL, 0, 0, "basis/shell_index: shell 1"),
    REFUSED("deep-shell", deep_shell, NULL, 0, 0, "basis/shell_index: shell 0 has more than 100"),
    REFUSED("cartesian-two", set_number, "ao/cartesian", 2, 0, "ao/cartesian: 2"),

    /* Conventions, which only the overlap can tell. */
    REFUSED("wrong-order", set_number, "ao/cartesian", 0, 0, "ao_1e_int/overlap["),
    REFUSED("wrong-normalization", scale_element, "ao/normalization", 1.001, 3,
            "ao_1e_int/overlap[3][3]"),
    REFUSED("wrong-factor", scale_element, "basis/prim_factor", 1.0001, 0, "ao_1e_int/overlap["),
    REFUSED("wrong-place", scale_element, "nucleus/coord", 1.01, 4, "ao_1e_int/overlap["),
    REFUSED("wrong-overlap", scale_element, "ao_1e_int/overlap", 1.001, 8,
            "ao_1e_int/overlap[1][1]"),

    /* Density. */
    REFUSED("asymmetric-density", asymmetric, "fmo/density", 1e-8, 0, "/fmo/density[1][0]"),
    REFUSED("asymmetric-core", asymmetric, "ao_1e_int/core_hamiltonian", 1e-6, 0,
            "ao_1e_int/core_hamiltonian[1][0]"),
    REFUSED("occupation-high", set_element_without_density, "mo/occupation", 2.5, 0,
            "mo/occupation[0] = 2.5"),
    REFUSED("occupation-negative", set_element_without_density, "mo/occupation", -0.5, 2,
            "mo/occupation[2] = -0.5"),

    /* What is not supported. */
    REFUSED("slater", slater, "basis/type", 0, 0, "basis/type: 'Slater'"),
    REFUSED("r-power", set_element, "basis/r_power", 1, 2, "basis/r_power[2] = 1"),
    REFUSED("imaginary-exponent", add_reals_prim, "basis/exponent_im", 0.5, 3,
            "basis/exponent_im[3] = 0.5"),
    REFUSED("imaginary-coefficient", add_reals_prim, "basis/coefficient_im", 0.5, 3,
            "basis/coefficient_im[3] = 0.5"),
    REFUSED("oscillating", add_reals_prim, "basis/oscillation_arg", 0.5, 1,
            "basis/oscillation_arg[1] = 0.5"),
    REFUSED("complex-orbitals", add_reals_orbitals, "mo/coefficient_im", 0.5, 8,
            "mo/coefficient_im[1][1] = 0.5"),
    REFUSED("two-spins", add_integers_mo, "mo/spin", 1, 4, "mo/spin[4] = 1"),
    REFUSED("k-points", add_integers_mo, "mo/k_point", 2, 1, "mo/k_point[1] = 2"),
    REFUSED("periodic", set_number, "pbc/periodic", 1, 0, "pbc/periodic: periodic systems"),
    REFUSED("cell", add_cell, NULL, 0, 0, "cell/a: periodic systems"),
    REFUSED("ecp", add_ecp, NULL, 1, 0, "ao_1e_int/core_hamiltonian"),
    REFUSED("odd-electrons", set_number, "electron/num", 9, 0, "electron/num: 9 is odd"),
    REFUSED("triplet", set_number, "electron/up_num", 6, 0, "electron/up_num: 6"),
    REFUSED("electron-sum", set_number, "electron/num", 12, 0, "electron/num: 12"),
    REFUSED("no-electrons", set_number, "electron/num", 0, 0, "electron/num: 0"),
    REFUSED("negative-electrons", set_number, "electron/dn_num", -5, 0, "electron/dn_num: -5"),
    REFUSED("new-format", set_number, "fmo/format_version", 2, 0, "format_version"),
    REFUSED("units-ev", units_ev, "fmo/coulomb", 0, 0, "/fmo/coulomb: units are 'eV'"),

    /* Data elsewhere, and bombs. */
    REFUSED("soft-link", soft_link, "fmo/density", 0, 0, "/fmo/density: a soft or external link"),
    REFUSED("external-link", external_link, "fmo/density", 0, 0,
            "/fmo/density: a soft or external link"),
    REFUSED("external-group", external_group, "mo", 0, 0, "/mo: a soft or external link"),
    REFUSED("external-unused-group", external_group, "rdm", 0, 0, "/rdm: a soft or external link"),
    REFUSED("soft-group", soft_group, "elsewhere", 0, 0, "/elsewhere: a soft or external link"),
    REFUSED("root-dataset", root_dataset, "grid", 0, 0, "/grid: expected a group"),
    REFUSED("external-storage", external_storage, "fmo/density", 0, 0,
            "/fmo/density: its data are in another file (external storage)"),
    REFUSED("virtual-storage", virtual_storage, "fmo/density", 0, 0,
            "/fmo/density: its data are in another file (virtual storage)"),
    REFUSED("odd-filter", odd_filter, "fmo/density", 0, 0, "/fmo/density: filter"),
    REFUSED("bomb-counts", bomb_counts, NULL, 0, 0, "ao/num = 100000: not plausible"),
    REFUSED("bomb-density", bomb_density, NULL, 0, 0, "/fmo/density: 80000000000 bytes"),
    REFUSED("bomb-many-chunks", bomb_many_chunks, NULL, 0, 0, "/fmo/density: 156250000 chunks"),
    REFUSED("bomb-chunk", bomb_chunk, "fmo/density", 0, 0, "/fmo/density: 1 chunks of 134217728"),
    BYTES("names-size", swell_names, 0, "the names of a group do not fit the file"),
    BYTES("heap-signature", break_heap_signature, 0, "nucleus/label: string 0 cannot be read"),
    BYTES("heap-sizes", break_heap_sizes, 0, "nucleus/label: string 0 cannot be read"),

    /* To be read, some with a notice. */
    READ("good", no_change, NULL, 0, 0, ""),
    READ("good-orbitals", orbitals_only, NULL, 0, 0, ""),
    READ("good-no-fmo", drop_fmo, NULL, 0, 0, ""),
    READ("good-no-integrals", no_one_electron, NULL, 0, 0, ""),
    READ("good-sum", drop_dataset, "ao_1e_int/core_hamiltonian", 0, 0, ""),
    READ("good-no-labels", drop_dataset, "nucleus/label", 0, 0, ""),
    READ("good-fixed-labels", fixed_labels, NULL, 0, 0, ""),
    READ("good-no-r-power", drop_dataset, "basis/r_power", 0, 0, ""),
    READ("good-no-electron-num", drop_attribute, "electron/num", 0, 0, ""),
    READ("good-no-repulsion", drop_attribute, "nucleus/repulsion", 0, 0, ""),
    READ("good-extra-group", extra_group, NULL, 0, 0, ""),
    READ("good-odd-attributes", odd_attributes, NULL, 0, 0, ""),
    READ("good-lower-case", lower_case, "basis/type", 0, 0, ""),
    READ("good-big-endian", retype_float64_big, "nucleus/coord", 0, 0, ""),
    READ("good-int16", retype_int16_big, "basis/shell_index", 0, 0, ""),
    READ("good-compressed", compressed, "fmo/density", 0, 0, ""),
    READ("good-zero-imaginary", add_reals_prim, "basis/exponent_im", 0, 0, ""),
    READ("good-one-spin", add_integers_mo, "mo/spin", 0, 0, ""),
    READ("good-box", add_cell, NULL, 1, 0, ""),
    READ("good-ecp", add_ecp, NULL, 0, 0, ""),
    READ("good-ecp-sum", add_ecp_sum, NULL, 1, 0, ""),
    READ("good-asymmetry", asymmetric, "fmo/density", 1e-12, 0, ""),
    READ("good-variable-name", attribute_variable, "fmo/basis_name", 0, 0, ""),
    READ("good-extra-attribute", set_number, "fmo/nao", 7, 0, ""),
    READ("notice-fractional", fractional, "mo/occupation", 1.5, 4,
         "mo/occupation: 1 orbitals are neither empty nor doubly occupied"),
    READ("notice-singly", all_occupied_once, NULL, 0, 0, "mo/occupation: 7 orbitals"),
    READ("doubt-trace", scale_element, "fmo/density", 1.001, 0, "and electron/num is 10"),
    READ("doubt-repulsion", attribute_real, "nucleus/repulsion", 9.0, 0, "nucleus/repulsion: 9"),
    READ("doubt-kinetic", scale_element, "ao_1e_int/kinetic", 1.001, 0,
         "ao_1e_int/kinetic: [0][0] (0 O s; 0 O s) is"),
    READ("doubt-core", scale_element, "ao_1e_int/core_hamiltonian", 1.00001, 8,
         "ao_1e_int/core_hamiltonian: [1][1] (0 O s; 0 O s) is"),
    READ("doubt-core-sum", scale_sum, "ao_1e_int/potential_n_e", 1.001, 0,
         "ao_1e_int/kinetic + potential_n_e: [0][0]"),
    READ("doubt-charge", charge_only, "nucleus/charge", 119, 0, "nucleus/charge[0] = 119"),
    READ("doubt-negative-charge", charge_only, "nucleus/charge", -1, 1, "nucleus/charge[1] = -1"),
    READ("good-zero-primitives", zero_primitives, NULL, 0, 0, ""),
    READ("notice-close", close_nuclei, NULL, 0, 0, "nuclei 0 (O) and 1 (H) are closer than 0.3"),
    READ("notice-coincident", coincident_nuclei, NULL, 0, 0, "two charged nuclei coincide"),
};

int bad_file_count(void)
{
    return (int)(sizeof rows / sizeof rows[0]);
}
const bad_file *bad_file_at(int i)
{
    return &rows[i].bad;
}

static int copy_file(const char *in, const char *out)
{
    char block[65536];
    FILE *from = fopen(in, "rb"), *to = from ? fopen(out, "wb") : NULL;
    size_t n;
    while (to && (n = fread(block, 1, sizeof block, from)) > 0) fwrite(block, 1, n, to);
    int bad = !to || ferror(from) || ferror(to);
    if (from) fclose(from);
    if (to && fclose(to) != 0) bad = 1;
    if (bad) fprintf(stderr, "cannot copy %s to %s\n", in, out);
    return bad;
}

int bad_file_make(int i, const char *in, const char *out)
{
    const row *r = &rows[i];
    work w = {
        .file = -1, .in = in, .out = out, .what = r->what, .value = r->value, .index = r->index};
    if (copy_file(in, out) != 0) return 1;
    if (r->kind == HDF5_CHANGE) w.file = GET(H5Fopen(out, H5F_ACC_RDWR, H5P_DEFAULT));
    r->mutate(&w);
    if (w.file >= 0) MUST(H5Fclose(w.file));
    return 0;
}
