/* Orbitals written as TREXIO and Molden: read back whole, in spite of shuffled functions and
 * unequal factors; refused where they make no sense; never half a file. Other programs read them in
 * with_pyscf.py. */
#include "tests/support/calls.h"
#include "tests/support/shipped.h"
#include "tests/support/folder.h"
#include "tests/io/orbitals.h"
#include <fmo/basis_set.h>
#include <fmo/fock.h>
#include <fmo/one_electron.h>

#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char directory[] = "/tmp/fmo-io-wavefunction-XXXXXX";

/* Shuffled functions, unequal and negative factors, spherical order, general contraction, d and f
 * shells of both forms. */
static const char *const files[] = {"h2o_6-31g.h5",
                                    "ch3oh_6-31g_shuffled.h5",
                                    "nh3_3-21g_sph_shuffled.h5",
                                    "ch2o_6-31g_sph.h5",
                                    "h2_cc-pvdz.h5",
                                    "hehp_sto-3g.h5",
                                    "he_sto-3g.h5",
                                    "h2o_6-31gd.h5",
                                    "h2o_def2-svp_sph_shuffled.h5",
                                    "hbr_def2-svp_sph.h5",
                                    "h2s_6-31gd_shuffled.h5",
                                    "h2o_6-31g2dfp.h5",
                                    "h2o_def2-tzvp_sph_shuffled.h5"};
enum { FILE_COUNT = sizeof files / sizeof files[0] };

static double energy_of(const fmo_dataset *dataset)
{
    size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    const double *D = fmo_dataset_density(dataset), *H = fmo_dataset_core_hamiltonian(dataset);
    double *J = calloc(n * n, sizeof *J), *K = calloc(n * n, sizeof *K);
    const fmo_fock_options options = fock_options(FMO_MODE_CPU, 0, 1e-14);
    double energy = fmo_dataset_nuclear_repulsion(dataset);
    fock_build(fmo_dataset_basis(dataset), &options, D, J, K, NULL);
    for (size_t i = 0; i < n * n; i++) energy += D[i] * (H[i] + 0.5 * J[i] - 0.25 * K[i]);
    free(J);
    free(K);
    return energy;
}

/* --- TREXIO
 * --------------------------------------------------------------------------------------*/

/* A data set that is written as TREXIO with its orbitals and read again has the same content and
 * energy. */
static void check_round_trip(const char *file)
{
    char source[1024];
    snprintf(source, sizeof source, FMO_DATASET_DIR "/%s", file);
    fmo_dataset *a = read_dataset(source);
    if (!a) return;
    const char *path = folder_path(directory, "orbitals.h5");
    test_orbitals o = orbitals_read(a);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_wavefunction_write_trexio(path, a, &o.wf, &err) == FMO_OK, "%s", err.message);
    fmo_dataset *b = read_dataset(path);
    if (b) {
        size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(a));
        CHECK((size_t)fmo_basis_ao_num(fmo_dataset_basis(b)) == n, "%s: nao", file);
        check_close(file, fmo_dataset_density(b), fmo_dataset_density(a), n * n, n, 1e-8, 0.0);
        check_close(file, fmo_dataset_core_hamiltonian(b), fmo_dataset_core_hamiltonian(a), n * n,
                    n, 0.0, 0.0);
        CHECK(strcmp(fmo_dataset_core_hamiltonian_source(b), "ao_1e_int_core_hamiltonian") == 0,
              "%s: core Hamiltonian", file);
        CHECK(fmo_dataset_nuclear_repulsion(a) == fmo_dataset_nuclear_repulsion(b), "%s: repulsion",
              file);
        CHECK(fmo_dataset_electron_num(a) == fmo_dataset_electron_num(b), "%s: electrons", file);
        CHECK(strcmp(fmo_dataset_formula(a), fmo_dataset_formula(b)) == 0, "%s: formula", file);
        CHECK(strcmp(fmo_dataset_basis_name(a), fmo_dataset_basis_name(b)) == 0, "%s: basis", file);
        CHECK(fmo_dataset_reference_energy(b) == o.wf.total_energy, "%s: energy", file);
        CHECK(!fmo_dataset_notice(b, 0), "%s: %s", file, fmo_dataset_notice(b, 0));
        for (int i = 0; i < (int)n; i++) {
            char one[64], two[64];
            fmo_dataset_ao_label(a, i, one, sizeof one);
            fmo_dataset_ao_label(b, i, two, sizeof two);
            CHECK(strcmp(one, two) == 0, "%s: function %d is %s, was %s", file, i, two, one);
        }
        double energy = energy_of(b);
        CHECK(fabs(energy - o.wf.total_energy) < 1e-9, "%s: energy %.12f, was %.12f", file, energy,
              o.wf.total_energy);

        /* Written once more from what was read, the energy is the same to 1e-10. */
        fmo_wavefunction again = o.wf;
        CHECK(fmo_wavefunction_write_trexio(folder_path(directory, "again.h5"), b, &again, &err) ==
                  FMO_OK,
              "%s", err.message);
        fmo_dataset *c = read_dataset(folder_path(directory, "again.h5"));
        if (c)
            CHECK(fabs(energy_of(c) - energy) < 1e-10, "%s: energy %.12f, was %.12f", file,
                  energy_of(c), energy);
        fmo_dataset_destroy(c);
    }
    fmo_dataset_destroy(b);
    orbitals_free(&o);
    fmo_dataset_destroy(a);
}

/* An SCF that did not converge is marked in the file; missing orbitals and energies stay missing.
 */
static void check_unconverged(void)
{
    fmo_dataset *a = read_dataset(FMO_DATASET_DIR "/h2o_sto-3g.h5");
    test_orbitals o = orbitals_read(a);
    const char *path = folder_path(directory, "half.h5");
    fmo_error err = {FMO_OK, ""};
    o.wf.converged = 0;
    o.wf.mo_num = 6; /* fewer orbitals than functions, as after linear dependence */
    o.wf.total_energy = NAN;
    o.wf.method = NULL;
    CHECK(fmo_wavefunction_write_trexio(path, a, &o.wf, &err) == FMO_OK, "%s", err.message);
    fmo_dataset *b = read_dataset(path);
    if (b) {
        const char *notice = fmo_dataset_notice(b, 0);
        CHECK(notice && strstr(notice, "did not converge"), "notice: %s", notice ? notice : "none");
        CHECK(isnan(fmo_dataset_reference_energy(b)), "an energy from nowhere");
        CHECK(fabs(energy_of(b) - fmo_dataset_reference_energy(a)) < 1e-8, "occupied orbitals");
    }
    fmo_dataset_destroy(b);
    orbitals_free(&o);
    fmo_dataset_destroy(a);
}

/* Made from a molecule and a basis set: what is not given is computed. */
static void check_created(void)
{
    int number[] = {8, 1, 1};
    double coord[] = {0, 0, 0.2, 0, 1.4, -0.9, 0, -1.4, -0.9};
    const fmo_molecule mol = {.nucleus_num = 3, .number = number, .coord = coord};
    fmo_basis_set *set = NULL;
    fmo_dataset *a = NULL, *b = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_basis_set_read("mini", &set, &err) == FMO_OK &&
              fmo_dataset_create(&mol, set, 0, &a, &err) == FMO_OK,
          "%s", err.message);
    fmo_basis_set_destroy(set);
    if (!a) return;
    test_orbitals o = orbitals_unit(a);
    const char *path = folder_path(directory, "created.h5");
    CHECK(fmo_wavefunction_write_trexio(path, a, &o.wf, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_dataset_read_basis(path, &b, &err) == FMO_OK, "%s", err.message);
    if (b) {
        size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(b));
        double *S = calloc(n * n, sizeof *S), *T = calloc(n * n, sizeof *T);
        fmo_overlap(fmo_dataset_basis(a), S, NULL);
        fmo_overlap(fmo_dataset_basis(b), T, NULL);
        check_close("overlap", T, S, n * n, n, 1e-15, 0.0);
        CHECK(strcmp(fmo_dataset_basis_name(b), "MINI (Huzinaga)") == 0 ||
                  strcmp(fmo_dataset_basis_name(b), fmo_dataset_basis_name(a)) == 0,
              "basis name '%s'", fmo_dataset_basis_name(b));
        CHECK(fmo_dataset_electron_num(b) == 10, "electrons");
        free(S);
        free(T);
    }
    fmo_dataset_destroy(b);
    orbitals_free(&o);
    fmo_dataset_destroy(a);
}

/* A data set need not have a density if only its basis is needed. */
static void check_basis_only(void)
{
    const char *path = folder_path(directory, "bare.h5");
    fmo_dataset *a = read_dataset(FMO_DATASET_DIR "/h2o_sto-3g.h5"), *b = NULL;
    test_orbitals o = orbitals_read(a);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_wavefunction_write_trexio(path, a, &o.wf, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_dataset_read_basis(path, &b, &err) == FMO_OK && fmo_dataset_density(b), "%s",
          err.message);
    fmo_dataset_destroy(b);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/mo/mo_occupation", H5P_DEFAULT);
    H5Fclose(file);
    b = NULL;
    CHECK(fmo_dataset_read(path, &b, &err) == FMO_ERR_INPUT && !b, "no density, and read");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_dataset_read_basis(path, &b, &err) == FMO_OK, "%s", err.message);
    CHECK(b && !fmo_dataset_density(b), "a density from nowhere");
    CHECK(b && strcmp(fmo_dataset_density_source(b), "none") == 0, "density source");
    CHECK(b && fmo_dataset_electron_num(b) == 10, "electrons");
    fmo_dataset_destroy(b);
    orbitals_free(&o);
    fmo_dataset_destroy(a);
}

/* --- Molden
 * --------------------------------------------------------------------------------------*/

typedef struct molden {
    int nuclei, shells, prims, aos, orbitals;
    bool spherical;
    int number[64], shell_nucleus[256], shell_l[256], prim_shell[1024], ao_shell[512],
        ao_component[512];
    double charge[64], coord[192], exponent[1024], coefficient[1024], factor[512], energy[512],
        occupation[512], C[128 * 128];
} molden;

/* 1/sqrt(<g|g>) of a Gaussian, from the integrals of x^(2l) exp(-2 a r^2) */
static double gaussian_norm(int l, double a)
{
    double square = pow(acos(-1.0) / (2 * a), 1.5);
    for (int k = 1; k <= l; k++) square *= (2 * k - 1) / (4 * a);
    return 1.0 / sqrt(square);
}

/* Function i of a shell in a Molden file: which one it is for fmo_basis_input, and the factor that
 * normalises it. */
static int molden_function(int l, int i, bool spherical, double *factor)
{
    static const int of_d[] = {0, 3, 5, 1, 2, 4}; /* xx yy zz xy xz yz */
    static const int of_f[] = {0, 6, 9, 3, 1, 2,
                               5, 8, 7, 4}; /* xxx yyy zzz xyy xxy xxz xzz yzz yyz
                                               xyz */
    const bool plain = l < 2 || spherical;
    *factor = plain || i < 3 ? 1.0 : sqrt(l == 2 ? 3.0 : i < 9 ? 5.0 : 15.0);
    return plain ? i : l == 2 ? of_d[i] : of_f[i];
}

static bool has_line(FILE *file, const char *text)
{
    char line[512];
    bool found = false;
    while (fgets(line, sizeof line, file)) found |= strcmp(line, text) == 0;
    rewind(file);
    return found;
}

/* An independent reader of our Molden files: sections in order, one item on each line. */
static bool parse_molden(const char *path, molden *m)
{
    char line[512], symbol[8], type;
    int nucleus, n, row = 0;
    double x, c;
    enum { START, ATOMS, GTO, MO } section = START;
    FILE *file = fopen(path, "r");
    memset(m, 0, sizeof *m);
    if (file) m->spherical = has_line(file, "[5D]\n") || has_line(file, "[5D7F]\n");
    if (!file || !fgets(line, sizeof line, file) || strncmp(line, "[Molden Format]", 15) != 0)
        return false;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '[') {
            section = strncmp(line, "[Atoms] AU", 10) == 0 ? ATOMS
                      : strncmp(line, "[GTO]", 5) == 0     ? GTO
                      : strncmp(line, "[MO]", 4) == 0      ? MO
                                                           : START;
        } else if (section == ATOMS) {
            double *r = m->coord + 3 * m->nuclei;
            if (sscanf(line, "%7s %d %d %lf %lf %lf", symbol, &n, &m->number[m->nuclei], r, r + 1,
                       r + 2) != 6 ||
                n != m->nuclei + 1)
                return false;
            m->charge[m->nuclei] = m->number[m->nuclei];
            m->nuclei++;
        } else if (section == GTO && sscanf(line, " %d 0", &nucleus) == 1 && !strchr(line, '.')) {
            continue;
        } else if (section == GTO && sscanf(line, " %c %d %lf", &type, &n, &x) == 3) {
            const int l = type == 'p' ? 1 : type == 'd' ? 2 : type == 'f' ? 3 : 0;
            const int functions = m->spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
            m->shell_nucleus[m->shells] = nucleus - 1;
            m->shell_l[m->shells] = l;
            for (int i = 0; i < functions; i++, m->aos++) {
                m->ao_shell[m->aos] = m->shells;
                m->ao_component[m->aos] = molden_function(l, i, m->spherical, &m->factor[m->aos]);
            }
            for (int k = 0; k < n; k++, m->prims++) {
                if (!fgets(line, sizeof line, file) || sscanf(line, "%lf %lf", &x, &c) != 2)
                    return false;
                m->prim_shell[m->prims] = m->shells;
                m->exponent[m->prims] = x;
                m->coefficient[m->prims] = c * gaussian_norm(l, x);
            }
            m->shells++;
        } else if (section == MO && strstr(line, "Sym=")) {
            m->orbitals++;
            row = 0;
        } else if (section == MO && sscanf(line, " Ene= %lf", &x) == 1) {
            m->energy[m->orbitals - 1] = x;
        } else if (section == MO && sscanf(line, " Occup= %lf", &x) == 1) {
            m->occupation[m->orbitals - 1] = x;
        } else if (section == MO && sscanf(line, "%d %lf", &n, &x) == 2) {
            if (n != ++row || n > m->aos) return false;
            m->C[(m->orbitals - 1) * m->aos + n - 1] = x;
        }
    }
    fclose(file);
    return row == m->aos && m->orbitals <= 128;
}

/* A Molden file has normalised functions and orthonormal orbitals with the core energies, orbital
 * energies and occupations that were written. */
static void check_molden(const char *file)
{
    static molden m;
    char source[1024];
    snprintf(source, sizeof source, FMO_DATASET_DIR "/%s", file);
    fmo_dataset *a = read_dataset(source);
    if (!a) return;
    const char *path = folder_path(directory, "orbitals.molden");
    test_orbitals o = orbitals_read(a);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_wavefunction_write_molden(path, a, &o.wf, &err) == FMO_OK, "%s", err.message);
    CHECK(parse_molden(path, &m), "%s: cannot be parsed", file);
    size_t n = (size_t)m.aos;
    CHECK(m.aos == o.wf.mo_num && m.orbitals == o.wf.mo_num, "%s: %d functions, %d orbitals", file,
          m.aos, m.orbitals);
    const fmo_basis_input input = {.nucleus_num = m.nuclei,
                                   .nucleus_charge = m.charge,
                                   .nucleus_coord = m.coord,
                                   .shell_num = m.shells,
                                   .shell_nucleus = m.shell_nucleus,
                                   .shell_ang_mom = m.shell_l,
                                   .prim_num = m.prims,
                                   .prim_shell = m.prim_shell,
                                   .prim_exponent = m.exponent,
                                   .prim_coefficient = m.coefficient,
                                   .ao_num = m.aos,
                                   .ao_shell = m.ao_shell,
                                   .ao_component = m.ao_component,
                                   .ao_factor = m.factor,
                                   .cartesian = !m.spherical};
    fmo_basis *basis = NULL;
    CHECK(fmo_basis_create(&input, &basis, &err) == FMO_OK, "%s: %s", file, err.message);
    if (basis) {
        double *S = calloc(n * n, sizeof *S), *H = calloc(n * n, sizeof *H);
        double *T = calloc(n * n, sizeof *T);
        fmo_overlap(basis, S, NULL);
        fmo_kinetic(basis, T, NULL);
        fmo_nuclear_attraction(basis, H, NULL);
        const double *core = fmo_dataset_core_hamiltonian(a);
        for (size_t i = 0; i < n; i++)
            CHECK(fabs(S[i * n + i] - 1.0) < 1e-12, "%s: function %zu has norm %g", file, i,
                  S[i * n + i]);
        for (size_t p = 0; p < n; p++) {
            double ours = 0.0, theirs = 0.0;
            for (size_t q = 0; q <= p; q++) {
                double sum = 0.0;
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < n; j++)
                        sum += m.C[p * n + i] * S[i * n + j] * m.C[q * n + j];
                CHECK(fabs(sum - (p == q)) < 1e-9, "%s: <%zu|%zu> = %.12f", file, p, q, sum);
            }
            /* each orbital has the core energy it had: its functions are where they were */
            for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < n; j++) {
                    ours += m.C[p * n + i] * (T[i * n + j] + H[i * n + j]) * m.C[p * n + j];
                    theirs += o.coefficient[p * n + i] * core[i * n + j] * o.coefficient[p * n + j];
                }
            }
            CHECK(fabs(ours - theirs) < 1e-9, "%s: <%zu|h|%zu> = %.12f, was %.12f", file, p, p,
                  ours, theirs);
            CHECK(fabs(m.energy[p] - o.energy[p]) < 1e-12, "%s: energy %zu", file, p);
            CHECK(fabs(m.occupation[p] - o.occupation[p]) < 1e-9, "%s: occupation %zu", file, p);
        }
        free(S);
        free(H);
        free(T);
    }
    fmo_basis_destroy(basis);
    orbitals_free(&o);
    fmo_dataset_destroy(a);
}

/* --- refusals
 * ------------------------------------------------------------------------------------*/

typedef fmo_status (*write_function)(const char *, const fmo_dataset *, const fmo_wavefunction *,
                                     fmo_error *);
static const write_function writers[] = {fmo_wavefunction_write_trexio,
                                         fmo_wavefunction_write_molden};

static void refused(const char *path, const fmo_dataset *dataset, const fmo_wavefunction *wf,
                    fmo_status expected, const char *text)
{
    for (int i = 0; i < 2; i++) {
        fmo_error err = {FMO_OK, ""};
        int before = folder_count(directory, "");
        fmo_status status = writers[i](path, dataset, wf, &err);
        CHECK(status == expected, "%s: %s (%s)", path, fmo_status_text(status), err.message);
        CHECK(strstr(err.message, text) != NULL, "'%s' is not in '%s'", text, err.message);
        CHECK(status != FMO_ERR_OUTPUT || strncmp(err.message, path, strlen(path)) == 0,
              "no path in '%s'", err.message);
        CHECK(folder_count(directory, "") == before, "%s: left something behind", path);
        if (getenv("FMO_TEST_VERBOSE")) printf("%s\n", err.message);
    }
}

/* Orbitals that make no sense and paths that cannot be written are refused by both writers. */
static void check_refusals(void)
{
    fmo_dataset *a = read_dataset(FMO_DATASET_DIR "/h2o_sto-3g.h5");
    test_orbitals o = orbitals_read(a);
    fmo_wavefunction wf = o.wf;
    const char *path = folder_path(directory, "refused");
    refused("", a, &wf, FMO_ERR_ARGUMENT, "the path is empty");
    refused(path, NULL, &wf, FMO_ERR_ARGUMENT, "dataset is NULL");
    refused(path, a, NULL, FMO_ERR_ARGUMENT, "wavefunction is NULL");
    wf.coefficient = NULL;
    refused(path, a, &wf, FMO_ERR_ARGUMENT, "wavefunction->coefficient is NULL");
    wf = o.wf;
    wf.mo_num = 8;
    refused(path, a, &wf, FMO_ERR_ARGUMENT, "mo_num = 8: expected 1 to 7");
    wf.mo_num = 0;
    refused(path, a, &wf, FMO_ERR_ARGUMENT, "mo_num = 0: expected 1 to 7");
    wf = o.wf;
    o.coefficient[10] = NAN;
    refused(path, a, &wf, FMO_ERR_ARGUMENT, "coefficient[1][3] = nan");
    o.coefficient[10] = 0.0;
    o.occupation[2] = 2.5;
    refused(path, a, &wf, FMO_ERR_ARGUMENT, "orbital 2 has energy");
    o.occupation[2] = 2.0;
    refused(directory, a, &wf, FMO_ERR_OUTPUT, "is a directory");
    refused("/dev/null", a, &wf, FMO_ERR_OUTPUT, "not a regular file");
    refused(FMO_DATASET_DIR "/h2o_sto-3g.h5", a, &wf, FMO_ERR_OUTPUT, "is the data set itself");
    refused(folder_path(directory, "none/out"), a, &wf, FMO_ERR_OUTPUT, "cannot create a file");
    refused("/proc/out", a, &wf, FMO_ERR_OUTPUT, "cannot create a file");

    struct rlimit old,
        small = {1000, 1000}; /* a full disk, simulated by a limit on the size of files */
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    refused(path, a, &wf, FMO_ERR_OUTPUT, "File too large");
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    orbitals_free(&o);
    fmo_dataset_destroy(a);
}

int main(void)
{
    unsetenv("FMO_BASIS_PATH");
    if (!mkdtemp(directory)) return 1;
    for (int i = 0; i < FILE_COUNT; i++) check_round_trip(files[i]);
    check_unconverged();
    check_created();
    check_basis_only();
    for (int i = 0; i < FILE_COUNT; i++) check_molden(files[i]);
    check_refusals();
    folder_remove(directory);
    return check_summary();
}
