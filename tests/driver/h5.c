/* Helper of the tests of fmo-driver in Python, which cannot read HDF5:
 *   driver_h5 result DATASET OUT CUTOFF         is OUT the right result file of DATASET?
 *   driver_h5 alter IN OUT FIELD INDEX DELTA    copy, then FIELD[INDEX] += DELTA (double field)
 *   driver_h5 scale IN OUT FACTOR FIELD...      copy, then FIELD *= FACTOR
 *   driver_h5 number IN OUT GROUP NAME VALUE    copy, then set an attribute that is a whole number
 *   driver_h5 delete IN OUT FIELD...            copy without these fields
 *   driver_h5 add FILE KIND OBJECT [NAME]       a group, a dataset, or an attribute of an object
 *   driver_h5 molecules FILE                    a line for each molecule of --scf --batch --output
 *   driver_h5 show FILE FIELD                   shape, then values, a line each, of a dataset
 * Exit code 0: yes, done. */
#define _GNU_SOURCE
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "fmo/dataset.h"

#include <stdbool.h>
#include <hdf5.h>

/* Reads an nao x nao matrix of doubles, and checks its shape and type. NULL if that fails; the
 * caller frees. */
static double *read_matrix(hid_t file, const char *field, int nao)
{
    hsize_t shape[2] = {0, 0};
    size_t size = (size_t)nao * (size_t)nao;
    hid_t set = H5Dopen2(file, field, H5P_DEFAULT);
    CHECK(set >= 0, "%s is missing", field);
    if (set < 0) return NULL;
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    CHECK(H5Sget_simple_extent_ndims(space) == 2, "%s: rank", field);
    H5Sget_simple_extent_dims(space, shape, NULL);
    CHECK(shape[0] == (hsize_t)nao && shape[1] == (hsize_t)nao, "%s: shape %lld x %lld", field,
          (long long)shape[0], (long long)shape[1]);
    CHECK(H5Tequal(type, H5T_IEEE_F64LE) > 0, "%s: type", field);
    double *values = NULL;
    if (check_failures == 0) values = malloc(size * sizeof *values);
    if (values && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        CHECK(0, "%s cannot be read", field);
        free(values);
        values = NULL;
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return values;
}

/* A result file agrees with the reference values of its data set and with itself: G = J - K/2, F =
 * H + G. */
static int check_result(const char *input, const char *output, double cutoff)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    CHECK(fmo_dataset_read(input, &dataset, &err) == FMO_OK, "%s", err.message);
    hid_t file = H5Fopen(output, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0, "%s cannot be opened", output);
    if (dataset && file >= 0) {
        double tolerance = fmax(1e-10, 100.0 * cutoff);
        int nao = fmo_basis_ao_num(fmo_dataset_basis(dataset));
        size_t size = (size_t)nao * (size_t)nao, row = (size_t)nao;
        double *J = read_matrix(file, "/fmo/coulomb", nao);
        double *K = read_matrix(file, "/fmo/exchange", nao);
        double *G = read_matrix(file, "/fmo/fock_2e", nao);
        const double *H = fmo_dataset_core_hamiltonian(dataset);
        double *F = H ? read_matrix(file, "/fmo/fock", nao) : NULL;
        const double *expected_J = fmo_dataset_reference_coulomb(dataset);
        const double *expected_K = fmo_dataset_reference_exchange(dataset);
        const double *expected_G = fmo_dataset_reference_fock_2e(dataset);
        double *sum = malloc(size * sizeof *sum);
        if (J && K && G && sum) {
            for (size_t i = 0; i < size; i++) sum[i] = J[i] - 0.5 * K[i];
            check_close("G = J - K/2", G, sum, size, row, 0.0, 0.0);
            for (size_t i = 0; i < size; i++) sum[i] = G[i % row * row + i / row];
            check_close("G is symmetric", G, sum, size, row, 0.0, 0.0);
            if (expected_J) check_close("J", J, expected_J, size, row, tolerance, 0.0);
            if (expected_K) check_close("K", K, expected_K, size, row, tolerance, 0.0);
            if (expected_G) check_close("G", G, expected_G, size, row, tolerance, 0.0);
        }
        if (F && G && sum) {
            for (size_t i = 0; i < size; i++) sum[i] = H[i] + G[i];
            check_close("F = H + G", F, sum, size, row, 0.0, 0.0);
        }
        CHECK(H || H5Lexists(file, "/fmo/fock", H5P_DEFAULT) == 0, "F without H");
        free(J), free(K), free(G), free(F), free(sum);
    }
    if (file >= 0) H5Fclose(file);
    fmo_dataset_destroy(dataset);
    return check_summary();
}

/* Copies a file and adds delta to one element of a field. */
static int alter(const char *from, const char *to, const char *field, long index, double delta)
{
    if (file_copy(from, to) != 0) return 1;
    hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, field, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    hssize_t size = H5Sget_simple_extent_npoints(space);
    CHECK(set >= 0 && index >= 0 && index < size, "%s[%ld] does not exist", field, index);
    double *values = check_failures ? NULL : malloc((size_t)size * sizeof *values);
    if (values) {
        CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "read");
        values[index] += delta;
        CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
              "write");
    }
    free(values);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return check_summary();
}

/* Copies a file and sets an attribute of a group to a whole number. */
static int set_number(const char *from, const char *to, const char *group, const char *name,
                      int64_t value)
{
    if (file_copy(from, to) != 0) return 1;
    const hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t object = H5Gopen2(file, group, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    CHECK(H5Adelete(object, name) >= 0, "%s@%s does not exist", group, name);
    const hid_t attribute =
        H5Acreate2(object, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0, "%s@%s", group, name);
    H5Sclose(space);
    H5Gclose(object);
    H5Aclose(attribute);
    H5Fclose(file);
    return check_summary();
}

/* Copies a file and multiplies whole fields by a factor. */
static int scale(const char *from, const char *to, double factor, char **fields)
{
    if (file_copy(from, to) != 0) return 1;
    hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    for (; *fields && check_failures == 0; fields++) {
        hid_t set = H5Dopen2(file, *fields, H5P_DEFAULT), space = H5Dget_space(set);
        const hssize_t size = H5Sget_simple_extent_npoints(space);
        double *values = size > 0 ? malloc((size_t)size * sizeof *values) : NULL;
        CHECK(values && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
              "%s cannot be read", *fields);
        for (hssize_t i = 0; values && i < size; i++) values[i] *= factor;
        CHECK(values &&
                  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
              "%s cannot be written", *fields);
        free(values);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
    return check_summary();
}

static int add(const char *path, const char *kind, const char *object, const char *name)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t made;
    if (strcmp(kind, "group") == 0)
        made = H5Gcreate2(file, object, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    else if (strcmp(kind, "dataset") == 0)
        made =
            H5Dcreate2(file, object, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    else
        made = H5Acreate_by_name(file, object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT);
    CHECK(made >= 0, "%s: %s %s cannot be added", path, kind, object);
    if (made >= 0) strcmp(kind, "attribute") == 0 ? H5Aclose(made) : H5Oclose(made);
    H5Sclose(space);
    H5Fclose(file);
    return check_failures ? 1 : 0;
}

static int delete_fields(const char *from, const char *to, char **fields)
{
    if (file_copy(from, to) != 0) return 1;
    hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    for (; *fields; fields++)
        CHECK(H5Ldelete(file, *fields, H5P_DEFAULT) >= 0, "%s cannot be deleted", *fields);
    H5Fclose(file);
    return check_summary();
}

/* ---- files of many molecules ----------------------------------------------------------------- */

static void read_attribute(hid_t object, const char *name, hid_t type, void *value)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    CHECK(attribute >= 0 && H5Aread(attribute, type, value) >= 0, "attribute %s", name);
    if (attribute >= 0) H5Aclose(attribute);
}

static void read_text(hid_t object, const char *name, char *text, size_t size)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    CHECK(attribute >= 0 && H5Tget_size(type) < size, "attribute %s", name);
    memset(text, 0, size);
    if (attribute >= 0 && H5Tget_size(type) < size) H5Aread(attribute, type, text);
    H5Tclose(type);
    H5Aclose(attribute);
}

static void read_table(hid_t file, const char *name, hid_t type, long long count, void *values)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    CHECK(H5Sget_simple_extent_npoints(space) == count, "%s: length", name);
    CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "%s", name);
    H5Sclose(space);
    H5Dclose(set);
}

/* Orbitals that give the density, where both are there: D = 2 sum_i c_i c_i^T. */
static const char *check_arrays(hid_t group, long long nao, long long mo, long long occupied)
{
    const bool orbitals = H5Lexists(group, "mo_coefficient", H5P_DEFAULT) > 0;
    const bool density = H5Lexists(group, "density", H5P_DEFAULT) > 0;
    CHECK(orbitals == (H5Lexists(group, "mo_energy", H5P_DEFAULT) > 0), "mo_energy");
    if (orbitals && density) {
        double *D = read_matrix(group, "density", (int)nao);
        double *C = mo == nao ? read_matrix(group, "mo_coefficient", (int)nao) : NULL;
        for (long long i = 0; D && C && i < nao * nao; i++) {
            double sum = 0.0;
            for (long long k = 0; k < occupied; k++)
                sum += 2.0 * C[k * nao + i / nao] * C[k * nao + i % nao];
            CHECK(fabs(sum - D[i]) < 1e-5, "density[%lld] = %g, of the orbitals %g", i, D[i], sum);
        }
        free(D);
        free(C);
    }
    return orbitals && density ? "both" : orbitals ? "orbitals" : density ? "density" : "none";
}

/* Prints one line for each molecule of a file of --scf --batch, and compares its attributes with
 * /summary. */
static int print_molecules(const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), ours = -1;
    CHECK(file >= 0, "%s cannot be opened", path);
    if (file < 0) return check_summary();
    long long count = 0;
    ours = H5Gopen2(file, "/fmo", H5P_DEFAULT);
    read_attribute(ours, "molecule_num", H5T_NATIVE_LLONG, &count);
    double *energy = calloc((size_t)count, sizeof *energy);
    int *converged = calloc((size_t)count, sizeof *converged);
    int *cycles = calloc((size_t)count, sizeof *cycles);
    read_table(file, "/summary/energy", H5T_NATIVE_DOUBLE, count, energy);
    read_table(file, "/summary/converged", H5T_NATIVE_INT, count, converged);
    read_table(file, "/summary/cycles", H5T_NATIVE_INT, count, cycles);
    for (long long k = 0; k < count; k++) {
        char name[64], status[512], input[512], mode[32] = "";
        long long numbers[6];
        static const char *const names[] = {"frame",  "converged", "cycles",
                                            "ao_num", "mo_num",    "occupied_num"};
        double E = 0.0;
        snprintf(name, sizeof name, "/molecules/%lld", k);
        hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
        CHECK(group >= 0, "%s is missing", name);
        for (int n = 0; n < 6; n++) read_attribute(group, names[n], H5T_NATIVE_LLONG, &numbers[n]);
        read_attribute(group, "energy", H5T_NATIVE_DOUBLE, &E);
        read_text(group, "status", status, sizeof status);
        read_text(group, "input", input, sizeof input);
        CHECK((H5Aexists(group, "mode") > 0) == (numbers[2] > 0), "mode of %s", name);
        if (H5Aexists(group, "mode") > 0) read_text(group, "mode", mode, sizeof mode);
        CHECK(memcmp(&E, &energy[k], sizeof E) == 0 && numbers[1] == converged[k] &&
                  numbers[2] == cycles[k],
              "%s: other numbers in /summary", name);
        printf("%s|%lld|%.12f|%lld|%lld|%s|%s|%s\n", input, numbers[0], E, numbers[1], numbers[2],
               check_arrays(group, numbers[3], numbers[4], numbers[5]), status, mode);
        H5Gclose(group);
    }
    free(energy);
    free(converged);
    free(cycles);
    H5Gclose(ours);
    H5Fclose(file);
    return check_failures != 0;
}

/* The shape, as "2 3", then a line for each value: texts as they are, numbers. */
static int show(const char *path, const char *field)
{
    hsize_t shape[2] = {0, 0};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, field, H5P_DEFAULT), type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    CHECK(set >= 0, "%s has no %s", path, field);
    if (set < 0) return check_summary();
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    const size_t size = (size_t)H5Sget_simple_extent_npoints(space), bytes = H5Tget_size(type);
    const H5T_class_t kind = H5Tget_class(type);
    char *values = calloc(size + 1, bytes > 8 ? bytes : 8);
    hid_t as = kind == H5T_STRING    ? H5Tcopy(type)
               : kind == H5T_INTEGER ? H5Tcopy(H5T_NATIVE_LLONG)
                                     : H5Tcopy(H5T_NATIVE_DOUBLE);
    CHECK(values && H5Dread(set, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "%s", field);
    CHECK(kind != H5T_STRING || (H5Tget_cset(type) == H5T_CSET_UTF8 && !H5Tis_variable_str(type)),
          "%s: type", field);
    for (int k = 0; k < rank; k++) printf(k ? " %llu" : "%llu", (unsigned long long)shape[k]);
    printf("\n");
    for (size_t i = 0; values && i < size; i++) {
        if (kind == H5T_STRING) printf("%.*s\n", (int)bytes, values + i * bytes);
        if (kind == H5T_INTEGER) printf("%lld\n", ((long long *)(void *)values)[i]);
        if (kind == H5T_FLOAT) printf("%.17g\n", ((double *)(void *)values)[i]);
    }
    free(values);
    H5Tclose(as);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    return check_failures != 0;
}

/* Runs the command that the first argument names; wrong numbers of arguments are refused. */
int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc == 5 && strcmp(verb, "result") == 0)
        return check_result(argv[2], argv[3], atof(argv[4]));
    if (argc == 7 && strcmp(verb, "alter") == 0)
        return alter(argv[2], argv[3], argv[4], atol(argv[5]), atof(argv[6]));
    if (argc == 7 && strcmp(verb, "number") == 0)
        return set_number(argv[2], argv[3], argv[4], argv[5], atoll(argv[6]));
    if (argc >= 6 && strcmp(verb, "scale") == 0)
        return scale(argv[2], argv[3], atof(argv[4]), argv + 5);
    if (argc >= 5 && strcmp(verb, "add") == 0)
        return add(argv[2], argv[3], argv[4], argc > 5 ? argv[5] : NULL);
    if (argc >= 5 && strcmp(verb, "delete") == 0) return delete_fields(argv[2], argv[3], argv + 4);
    if (argc == 3 && strcmp(verb, "molecules") == 0) return print_molecules(argv[2]);
    if (argc == 4 && strcmp(verb, "show") == 0) return show(argv[2], argv[3]);
    fprintf(stderr, "usage: see the top of h5.c\n");
    return 2;
}
