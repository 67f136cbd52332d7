/* A data set and its copy with rescaled functions, density, orbitals and matrices describe the same
 * molecule: both are read, doubted or refused, with and without a fault, and both give the same
 * Molden file. */
#include "tests/support/shipped.h"
#include "tests/support/folder.h"
#include "tests/io/must.h"
#include "tests/io/orbitals.h"
#include <fmo/dataset.h>

static char directory[] = "/tmp/fmo-io-scaled-XXXXXX";
static unsigned long long seed = 8128;

enum { AO_MAX = 64, SHELL_MAX = 64 };

/* chi_i of the copy is shell[s] ao[i] times that of the file, s the shell of i. */
typedef struct scaling {
    double shell[SHELL_MAX], ao[AO_MAX], all[AO_MAX];
} scaling;

/* An element of a matrix that is changed, in units of its size: of sqrt(M_ii M_jj), or of the
 * density of its largest element. Only above the diagonal where `one_side`. */
typedef struct fault {
    const char *what, *name;
    double change;
    int i, j, one_side;
} fault;

static double *load(hid_t file, const char *name, size_t *num)
{
    const hid_t set = GET(H5Dopen2(file, name, H5P_DEFAULT)), space = GET(H5Dget_space(set));
    *num = (size_t)H5Sget_simple_extent_npoints(space);
    double *const values = malloc(*num * sizeof *values);
    MUST(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    MUST(H5Sclose(space));
    MUST(H5Dclose(set));
    return values;
}

static void store(hid_t file, const char *name, double *values)
{
    const hid_t set = GET(H5Dopen2(file, name, H5P_DEFAULT));
    MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    MUST(H5Dclose(set));
    free(values);
}

static void apply_fault(const fault *f, double *M, size_t n)
{
    double size = sqrt(fabs(M[(size_t)f->i * (n + 1)] * M[(size_t)f->j * (n + 1)]));
    for (size_t x = 0; x < n * n && strstr(f->name, "density"); x++) size = fmax(size, fabs(M[x]));
    M[(size_t)f->i * n + (size_t)f->j] += f->change * size;
    if (!f->one_side && f->i != f->j) M[(size_t)f->j * n + (size_t)f->i] += f->change * size;
}

/* Every array that follows the functions. */
static void make_copy(const char *from, const char *path, const scaling *s, const fault *f)
{
    static const struct {
        const char *name;
        int power;
    } matrices[] = {{"ao_1e_int/ao_1e_int_overlap", 1},
                    {"ao_1e_int/ao_1e_int_kinetic", 1},
                    {"ao_1e_int/ao_1e_int_core_hamiltonian", 1},
                    {"ao_1e_int/ao_1e_int_potential_n_e", 1},
                    {"fmo/coulomb", 1},
                    {"fmo/exchange", 1},
                    {"fmo/fock_2e", 1},
                    {"fmo/density", -1}};
    const content bytes = content_load(from);
    FILE *const stream = fopen(path, "wb");
    CHECK(stream && fwrite(bytes.bytes, 1, bytes.size, stream) == bytes.size, "%s", path);
    fclose(stream);
    free(bytes.bytes);
    const hid_t file = GET(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT));
    size_t n, num;
    double *values = load(file, "ao/ao_normalization", &n);
    for (size_t i = 0; i < n; i++) values[i] *= s->ao[i];
    store(file, "ao/ao_normalization", values);
    values = load(file, "basis/basis_shell_factor", &num);
    for (size_t k = 0; k < num; k++) values[k] *= s->shell[k];
    store(file, "basis/basis_shell_factor", values);
    values = load(file, "mo/mo_coefficient", &num);
    for (size_t x = 0; x < num; x++) values[x] /= s->all[x % n];
    store(file, "mo/mo_coefficient", values);
    for (size_t m = 0; m < sizeof matrices / sizeof matrices[0]; m++) {
        values = load(file, matrices[m].name, &num);
        if (f && !strcmp(f->name, matrices[m].name)) apply_fault(f, values, n);
        for (size_t x = 0; x < num; x++)
            values[x] *= pow(s->all[x / n] * s->all[x % n], matrices[m].power);
        store(file, matrices[m].name, values);
    }
    MUST(H5Fclose(file));
}

/* all from the others; shells by the file. */
static void finish_scaling(const char *path, scaling *s)
{
    const hid_t file = GET(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    size_t n;
    double *const shell = load(file, "ao/ao_shell", &n);
    for (size_t i = 0; i < n; i++) s->all[i] = s->ao[i] * s->shell[(int)shell[i]];
    free(shell);
    MUST(H5Fclose(file));
}

/* "refused", "doubted" or "read". */
static const char *judge(const char *path, fmo_error *err)
{
    fmo_dataset *dataset = NULL;
    const fmo_status status = fmo_dataset_read(path, &dataset, err);
    bool doubted = false;
    for (int i = 0; status == FMO_OK && fmo_dataset_notice(dataset, i); i++)
        doubted |= fmo_dataset_is_doubtful(dataset, i);
    fmo_dataset_destroy(dataset);
    return status != FMO_OK ? "refused" : doubted ? "doubted" : "read";
}

/* Numbers of two Molden files, word by word. */
static void compare_molden(const char *a, const char *b, const char *what)
{
    FILE *const left = fopen(a, "r"), *const right = fopen(b, "r");
    char word[2][128];
    int differ = 0, words = 0;
    while (fscanf(left, "%127s", word[0]) == 1 && ++words) {
        if (fscanf(right, "%127s", word[1]) != 1) word[1][0] = '\0';
        char *end[2];
        const double x = strtod(word[0], &end[0]), y = strtod(word[1], &end[1]);
        differ += *end[0] || *end[1] ? strcmp(word[0], word[1]) != 0
                                     : !(fabs(x - y) <= 1e-12 + 1e-12 * fabs(x));
    }
    CHECK(words > 100 && !differ && fscanf(right, "%127s", word[1]) != 1,
          "%s: %d of %d words of the Molden file differ", what, differ, words);
    fclose(left);
    fclose(right);
}

static void write_molden(const char *source, const char *path)
{
    fmo_dataset *dataset = read_dataset(source);
    fmo_error err = {FMO_OK, ""};
    if (!dataset) return;
    test_orbitals o = orbitals_read(dataset);
    CHECK(fmo_wavefunction_write_molden(path, dataset, &o.wf, &err) == FMO_OK, "%s", err.message);
    orbitals_free(&o);
    fmo_dataset_destroy(dataset);
}

static const fault faults[] = {
    {"density, one side, much", "fmo/density", 1e-8, 1, 7, 1},
    {"density, one side, rounding", "fmo/density", 1e-12, 1, 7, 1},
    {"density, both sides", "fmo/density", 1e-2, 1, 1, 0},
    {"J, one side", "fmo/coulomb", 1e-8, 2, 5, 1},
    {"J, one side, rounding", "fmo/coulomb", 1e-13, 2, 5, 1},
    {"core Hamiltonian, one side", "ao_1e_int/ao_1e_int_core_hamiltonian", 1e-8, 0, 3, 1},
    {"core Hamiltonian", "ao_1e_int/ao_1e_int_core_hamiltonian", 1e-4, 0, 3, 0},
    {"core Hamiltonian, rounding", "ao_1e_int/ao_1e_int_core_hamiltonian", 1e-9, 0, 3, 0},
    {"kinetic energy", "ao_1e_int/ao_1e_int_kinetic", 1e-4, 4, 6, 0},
    {"overlap", "ao_1e_int/ao_1e_int_overlap", 1e-6, 3, 8, 0},
    {"overlap, rounding", "ao_1e_int/ao_1e_int_overlap", 1e-10, 3, 8, 0}};
enum { FAULTS = sizeof faults / sizeof *faults };

/* A data set with rescaled functions is read, doubted or refused as the original is, for each fault
 * and eight scalings, and gives the same orbitals. */
static void check_file(const char *name)
{
    char source[1024], copy[256], molden[2][256];
    scaling s;
    int counts[3] = {0, 0, 0}; /* of judgements, by their first letter's order */
    snprintf(source, sizeof source, FMO_DATASET_DIR "/%s", name);
    snprintf(copy, sizeof copy, "%s/copy.h5", directory);
    for (int k = 0; k < 2; k++) snprintf(molden[k], sizeof molden[k], "%s/%d.molden", directory, k);
    write_molden(source, molden[0]);
    for (int f = -1; f < FAULTS; f++) {
        const fault *const with = f < 0 ? NULL : &faults[f];
        const char *first = "";
        for (int way = 0; way < 8; way++) {
            /* as it is; all of one size; all by shell and by function; one function alone */
            static const double sizes[] = {1.0, 1e-8, 1e-3, 1e3, 1e8};
            char what[160];
            fmo_error err = {FMO_OK, ""};
            for (int k = 0; k < SHELL_MAX; k++)
                s.shell[k] = way >= 6 ? pow(10.0, 8.0 * check_random(&seed) - 4.0) : 1.0;
            for (int i = 0; i < AO_MAX; i++)
                s.ao[i] = way < 5    ? sizes[way]
                          : way >= 6 ? pow(10.0, 8.0 * check_random(&seed) - 4.0)
                                     : (i == 7 ? 1e-8 : 1.0);
            finish_scaling(source, &s);
            make_copy(source, copy, &s, with);
            const char *const now = judge(copy, &err);
            snprintf(what, sizeof what, "%s, %s, way %d", name, with ? with->what : "no fault",
                     way);
            if (way == 0) {
                first = now;
                counts[*now == 'd' ? 0 : now[2] == 'a' ? 1 : 2]++;
            }
            CHECK(!strcmp(now, first), "%s: %s, the original %s: %s", what, now, first,
                  err.message);
            if (f >= 0) continue;
            CHECK(!strcmp(now, "read"), "%s: %s", what, now);
            write_molden(copy, molden[1]);
            compare_molden(molden[0], molden[1], what);
        }
    }
    CHECK(counts[0] >= 2 && counts[1] >= 4 && counts[2] >= 4, "%s: %d doubted, %d read, %d refused",
          name, counts[0], counts[1], counts[2]);
}

int main(void)
{
    if (!mkdtemp(directory)) return 1;
    check_file("h2o_6-31g.h5");
    check_file("h2o_6-31gd.h5");
    check_file("h2o_def2-svp_sph_shuffled.h5");
    folder_remove(directory);
    return check_summary();
}
