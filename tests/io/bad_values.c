/* Changes of a good data set: fields that are missing or have another type, shape or value. */
#include "tests/io/bad_changes.h"

#include <math.h>
#include <string.h>

void no_change(work *w)
{
    (void)w;
}
void drop_dataset(work *w)
{
    delete_dataset(w->file, w->what);
}
void drop_attribute(work *w)
{
    delete_attribute(w->file, w->what);
}
void set_number(work *w)
{
    put_number(w->file, w->what, (int64_t)w->value);
}

/* One element of a dataset of numbers (converted to its type). */
void set_element(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    values[w->index] = w->value;
    write_reals(w->file, w->what, values);
    free(values);
}

/* Adds to an element, relative to its value, which an overlap check may or may not detect. */
void scale_element(work *w)
{
    shape s;
    double *values = get_reals(w->file, w->what, &s);
    values[w->index] *= w->value;
    write_reals(w->file, w->what, values);
    free(values);
}

void only_orbitals(hid_t file)
{
    static const char *const own[] = {"fmo/density", "fmo/coulomb", "fmo/exchange", "fmo/fock_2e",
                                      "fmo/energy"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) delete_dataset(file, own[i]);
}

void set_element_without_density(work *w)
{
    only_orbitals(w->file);
    set_element(w);
}

void drop_dataset_without_density(work *w)
{
    only_orbitals(w->file);
    delete_dataset(w->file, w->what);
}

void orbitals_only(work *w)
{
    only_orbitals(w->file);
}

void drop_fmo(work *w)
{
    MUST(H5Ldelete(w->file, "fmo", H5P_DEFAULT));
}

/* The same values, one row more. */
void grow(work *w)
{
    shape s = shape_of(w->file, w->what);
    fill_reals(w->file, w->what, s.dims[0] + 1, s.rank == 2 ? s.dims[1] : 0, 1.0);
}

/* The same values as one long row. */
void flatten(work *w)
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
void retype_int64(work *w)
{
    retype(w, H5T_STD_I64LE);
}
void retype_int16_big(work *w)
{
    retype(w, H5T_STD_I16BE);
}
void retype_float32(work *w)
{
    retype(w, H5T_IEEE_F32LE);
}
void retype_float64(work *w)
{
    retype(w, H5T_IEEE_F64LE);
}
void retype_float64_big(work *w)
{
    retype(w, H5T_IEEE_F64BE);
}

/* Zeros of another type, which is closed. */
static void put_zeros(work *w, hid_t type)
{
    shape s = shape_of(w->file, w->what);
    char *zero = calloc(s.count, H5Tget_size(type));
    put_dataset(w->file, w->what, type, s.rank, s.dims, H5P_DEFAULT, type, zero);
    free(zero);
    H5Tclose(type);
}

void make_strings(work *w)
{
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, 4));
    put_zeros(w, type);
}

void make_compound(work *w)
{
    hid_t type = GET(H5Tcreate(H5T_COMPOUND, 16));
    MUST(H5Tinsert(type, "re", 0, H5T_IEEE_F64LE));
    MUST(H5Tinsert(type, "im", 8, H5T_IEEE_F64LE));
    put_zeros(w, type);
}

void never_written(work *w)
{
    shape s = shape_of(w->file, w->what);
    put_dataset(w->file, w->what, H5T_IEEE_F64LE, s.rank, s.dims, H5P_DEFAULT, H5T_NATIVE_DOUBLE,
                NULL);
}

void null_space(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    hid_t space = GET(H5Screate(H5S_NULL));
    hid_t dataset = GET(H5Dcreate2(w->file, dataset_path(w->what, path), H5T_IEEE_F64LE, space,
                                   H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(dataset);
    H5Sclose(space);
}

void make_group(work *w)
{
    char path[128];
    delete_dataset(w->file, w->what);
    hid_t group = GET(
        H5Gcreate2(w->file, dataset_path(w->what, path), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
}

/* An attribute of another type or shape. */
void attribute_real(work *w)
{
    put_attribute(w->file, w->what, H5T_NATIVE_DOUBLE, &w->value);
}
void attribute_text(work *w)
{
    put_text(w->file, w->what, "seven");
}
void attribute_huge(work *w)
{
    uint64_t value = UINT64_MAX;
    put_attribute(w->file, w->what, H5T_NATIVE_UINT64, &value);
}
void attribute_array(work *w)
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
void attribute_variable(work *w)
{
    const char *text = "2.6.0";
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, H5T_VARIABLE));
    put_attribute(w->file, w->what, type, &text);
    H5Tclose(type);
}
void version_long(work *w)
{
    put_text(w->file, w->what, "2.6.0-0123456789abcdef");
}
void version_nonsense(work *w)
{
    put_text(w->file, w->what, "new");
}
void slater(work *w)
{
    put_text(w->file, w->what, "Slater");
}
void lower_case(work *w)
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
void add_reals_prim(work *w)
{
    add_reals_like(w, "basis/exponent");
}
void add_reals_orbitals(work *w)
{
    add_reals_like(w, "mo/coefficient");
}
void add_integers_mo(work *w)
{
    shape s = shape_of(w->file, "mo/occupation");
    fill_integers(w->file, w->what, s.dims[0], 0);
    if (w->value != 0.0) set_element(w);
}
void add_cell(work *w)
{
    fill_reals(w->file, "cell/a", 3, 0, 10.0);
    if (w->value != 0.0) put_number(w->file, "pbc/periodic", 0);
}

void add_ecp(work *w)
{
    put_number(w->file, "ecp/num", 1);
    if (w->value != 0.0) delete_dataset(w->file, "ao_1e_int/core_hamiltonian");
}
void add_ecp_sum(work *w)
{
    shape s = shape_of(w->file, "ao_1e_int/kinetic");
    add_ecp(w);
    fill_reals(w->file, "ao_1e_int/ecp", s.dims[0], s.dims[1], 0.0);
}

void no_one_electron(work *w)
{
    static const char *const names[] = {"ao_1e_int/overlap", "ao_1e_int/kinetic",
                                        "ao_1e_int/potential_n_e", "ao_1e_int/core_hamiltonian"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) delete_dataset(w->file, names[i]);
}

void zero_atoms(work *w)
{
    put_number(w->file, "nucleus/num", 0);
}

/* All primitives in shell 0: the others are empty. */
void empty_shells(work *w)
{
    fill_integers(w->file, "basis/shell_index", shape_of(w->file, "basis/exponent").dims[0], 0);
}

/* All functions in shell 0. */
void full_shell(work *w)
{
    fill_integers(w->file, "ao/shell", shape_of(w->file, "ao/shell").dims[0], 0);
}

void deep_shell(work *w)
{
    enum { DEPTH = 2000 };
    put_number(w->file, "basis/prim_num", DEPTH);
    fill_integers(w->file, "basis/shell_index", DEPTH, 0);
    fill_reals(w->file, "basis/exponent", DEPTH, 0, 1.0);
    fill_reals(w->file, "basis/coefficient", DEPTH, 0, 1.0);
    fill_reals(w->file, "basis/prim_factor", DEPTH, 0, 1.0);
}

/* As many primitives of coefficient 0. */
void zero_primitives(work *w)
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

/* The core Hamiltonian is the sum of its parts, and one part is wrong. */
void scale_sum(work *w)
{
    delete_dataset(w->file, "ao_1e_int/core_hamiltonian");
    scale_element(w);
}

/* A wrong charge that contradicts nothing else. */
void charge_only(work *w)
{
    no_one_electron(w);
    delete_attribute(w->file, "nucleus/repulsion");
    set_element(w);
}

/* A wrong number of electrons, which the density does not hold. */
static void delete_electrons(work *w)
{
    static const char *const names[] = {"electron/num", "electron/up_num", "electron/dn_num"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) delete_attribute(w->file, names[i]);
}

/* H at 0.1 bohr from O, without integrals that would reveal it. */
void close_nuclei(work *w)
{
    shape s;
    no_one_electron(w);
    delete_electrons(w);
    delete_attribute(w->file, "nucleus/repulsion");
    double *values = get_reals(w->file, "nucleus/coord", &s);
    for (int c = 0; c < 3; c++) values[3 + c] = values[c] + (c == 2 ? 0.1 : 0.0);
    write_reals(w->file, "nucleus/coord", values);
    free(values);
}

void coincident_nuclei(work *w)
{
    shape s;
    no_one_electron(w);
    delete_electrons(w);
    delete_attribute(w->file, "nucleus/repulsion");
    double *values = get_reals(w->file, "nucleus/coord", &s);
    memcpy(values + 3, values, 3 * sizeof *values);
    write_reals(w->file, "nucleus/coord", values);
    free(values);
}

/* Asymmetry of `value` times the largest element. */
void asymmetric(work *w)
{
    shape s;
    double largest = 0.0, *values = get_reals(w->file, w->what, &s);
    for (size_t i = 0; i < s.count; i++) largest = fmax(largest, fabs(values[i]));
    values[1] += w->value * largest;
    write_reals(w->file, w->what, values);
    free(values);
}

void fractional(work *w)
{
    delete_electrons(w);
    set_element_without_density(w);
}

void all_occupied_once(work *w)
{
    delete_electrons(w);
    only_orbitals(w->file);
    fill_reals(w->file, "mo/occupation", shape_of(w->file, "mo/occupation").dims[0], 0, 1.0);
}

void units_ev(work *w)
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
