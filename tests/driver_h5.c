/* Helper of driver_cli.py, which cannot read HDF5:
 *   driver_h5 result DATASET OUT CUTOFF         is OUT the right result file of DATASET?
 *   driver_h5 alter IN OUT FIELD INDEX DELTA    copy, then FIELD[INDEX] += DELTA (double field)
 *   driver_h5 scale IN OUT FACTOR FIELD...      copy, then FIELD *= FACTOR
 *   driver_h5 delete IN OUT FIELD...            copy without these fields
 * Exit code 0: yes, done. */
#define _GNU_SOURCE
#include "check.h"
#include "fmo/dataset.h"

#include <hdf5.h>

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
        const double *wantJ = fmo_dataset_reference_coulomb(dataset);
        const double *wantK = fmo_dataset_reference_exchange(dataset);
        const double *wantG = fmo_dataset_reference_fock_2e(dataset);
        double *sum = malloc(size * sizeof *sum);
        if (J && K && G && sum) {
            for (size_t i = 0; i < size; i++) sum[i] = J[i] - 0.5 * K[i];
            check_close("G = J - K/2", G, sum, size, row, 0.0, 0.0);
            for (size_t i = 0; i < size; i++) sum[i] = G[i % row * row + i / row];
            check_close("G is symmetric", G, sum, size, row, 0.0, 0.0);
            if (wantJ) check_close("J", J, wantJ, size, row, tolerance, 0.0);
            if (wantK) check_close("K", K, wantK, size, row, tolerance, 0.0);
            if (wantG) check_close("G", G, wantG, size, row, tolerance, 0.0);
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

static int copy_file(const char *from, const char *to)
{
    char block[1 << 16];
    size_t got;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in && out, "cannot copy %s to %s", from, to);
    while (in && out && (got = fread(block, 1, sizeof block, in)) > 0)
        CHECK(fwrite(block, 1, got, out) == got, "cannot write %s", to);
    if (in) fclose(in);
    if (out) CHECK(fclose(out) == 0, "cannot write %s", to);
    return check_failures == 0;
}

static int alter(const char *from, const char *to, const char *field, long index, double delta)
{
    if (!copy_file(from, to)) return check_summary();
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

static int scale(const char *from, const char *to, double factor, char **fields)
{
    if (!copy_file(from, to)) return check_summary();
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

static int delete_fields(const char *from, const char *to, char **fields)
{
    if (!copy_file(from, to)) return check_summary();
    hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    for (; *fields; fields++)
        CHECK(H5Ldelete(file, *fields, H5P_DEFAULT) >= 0, "%s cannot be deleted", *fields);
    H5Fclose(file);
    return check_summary();
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc == 5 && strcmp(verb, "result") == 0)
        return check_result(argv[2], argv[3], atof(argv[4]));
    if (argc == 7 && strcmp(verb, "alter") == 0)
        return alter(argv[2], argv[3], argv[4], atol(argv[5]), atof(argv[6]));
    if (argc >= 6 && strcmp(verb, "scale") == 0)
        return scale(argv[2], argv[3], atof(argv[4]), argv + 5);
    if (argc >= 5 && strcmp(verb, "delete") == 0) return delete_fields(argv[2], argv[3], argv + 4);
    fprintf(stderr, "usage: see the top of driver_h5.c\n");
    return 2;
}
