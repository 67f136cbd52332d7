/* Data sets made from molecules and basis sets: their content, for every format of the set; refused
 * input, in one line that names file, place and cure; large ones within limits of time. */
#include "tests/support/calls.h"
#include "tests/io/text.h"

#include <limits.h>

/* A data set of water from an .xyz file has the right functions, labels, electrons, formula and
 * nuclear repulsion, and no density. */
static void check_created(void)
{
    static const char *const labels[] = {"0 O s",  "0 O s",  "0 O s",  "0 O px", "0 O py",
                                         "0 O pz", "0 O px", "0 O py", "0 O pz", "1 H s",
                                         "1 H s",  "2 H s",  "2 H s"};
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = create(water, "6-31g", 0, &err);
    CHECK(dataset != NULL, "%s", err.message);
    if (!dataset) return;
    CHECK(fmo_basis_ao_num(fmo_dataset_basis(dataset)) == 13, "nao");
    for (int i = 0; i < 13; i++) {
        char label[32];
        fmo_dataset_ao_label(dataset, i, label, sizeof label);
        CHECK(strcmp(label, labels[i]) == 0, "function %d is %s", i, label);
    }
    CHECK(!fmo_dataset_density(dataset), "a density from nowhere");
    CHECK(strcmp(fmo_dataset_density_source(dataset), "none") == 0, "density source");
    CHECK(fmo_dataset_electron_num(dataset) == 10, "electrons");
    CHECK(strcmp(fmo_dataset_basis_name(dataset), "6-31G") == 0, "basis name");
    CHECK(strcmp(fmo_dataset_formula(dataset), "H2O") == 0, "formula");
    CHECK(strlen(fmo_dataset_sha256(dataset)) == 64, "hash");
    CHECK(fmo_dataset_nucleus_number(dataset, 0) == 8 &&
              fmo_dataset_nucleus_number(dataset, 3) == 0,
          "atomic number");
    CHECK(fmo_dataset_core_hamiltonian(dataset) != NULL, "core Hamiltonian");
    const double repulsion = fmo_dataset_nuclear_repulsion(dataset);
    CHECK(fabs(repulsion - fmo_basis_nuclear_repulsion(fmo_dataset_basis(dataset))) == 0.0 &&
              fabs(repulsion - 9.19) < 0.05,
          "nuclear repulsion %.6f", repulsion);
    fmo_dataset_destroy(dataset);
}

/* The same functions whatever the format, the case of a name, or the way a shell is written. */
static void check_same(const char *what, const char *xyz, const char *file, const char *text,
                       const char *other)
{
    char path[1024];
    fmo_error err = {FMO_OK, ""};
    snprintf(path, sizeof path, "%s", put_file(file, text, strlen(text)));
    fmo_dataset *a = create(xyz, path, 0, &err), *b = create(xyz, other, 0, &err);
    CHECK(a && b, "%s: %s", what, err.message);
    if (a && b) {
        size_t n, m;
        double *S = overlap_of(a, &n), *T = overlap_of(b, &m);
        CHECK(n == m, "%s: %zu and %zu functions", what, n, m);
        if (n == m) check_close(what, S, T, n * n, n, 1e-14, 0.0);
        free(S);
        free(T);
    }
    fmo_dataset_destroy(a);
    fmo_dataset_destroy(b);
}

/* The same basis set in Gaussian's format and in JSON, with scale factors and general contractions,
 * gives the same molecule; core potentials are refused. */
static void check_formats(void)
{
    static const char gbs[] =
        "! STO-3G of H and O, with a comment\n\n****\n-H 0 ! hydrogen\nS 3 1.00\n"
        " 3.425250914D+00 1.543289673D-01\n 0.6239137298 0.5353281423\n 0.1688554040 0.4446345422\n"
        "****\nO     0\nS    3   1.00\n      0.1307093214D+03       0.1543289673D+00\n"
        "      0.2380886605D+02       0.5353281423D+00\n      0.6443608313D+01 "
        "0.4446345422D+00\r\nSP   3   1.00\n      0.5033151319D+01 -0.9996722919D-01 "
        "0.1559162750D+00\n      0.1169596125D+01       0.3995128261D+00 0.6076837186D+00\n"
        "      0.3803889600D+00       0.7001154689D+00       0.3919573931D+00\n****\n";
    static const char ecp[] = "\nO 0\nO-ECP 2 10\nd potential\n1\n2 1.0 1.0\n";
    static const char scaled[] = /* exponents of a zeta of 1, scaled by 2^2 and by 1 */
        "H He 0\nS 1 2.0\n 0.25 -3.0\n****\n";
    static const char plain[] =
        "{\"elements\": {\"2\": {\"electron_shells\": [{\"angular_momentum\":"
        " [0], \"exponents\": [1.0], \"coefficients\": [[1]]}]}}}";
    static const char general[] =
        JSON_SET("2", JSON_SHELL("gto_spherical", "[0]", "[\"1.0\", \"0.2\", \"0.05\"]",
                                 "[[\"0.3\", \"0.8\", \"0\"], [\"0.0\", \"0\", \"2.0E+00\"]]"));
    static const char segmented[] = "He 0\nS 2 1.0\n1.0 0.3\n0.2 0.8\nS 1 1.0\n0.05 1.0\n****\n";
    static const char helium[] = "1\n\nHe 0 0 0\n";
    fmo_error err = {FMO_OK, ""};
    check_same("gbs and json", water, "set.gbs", strstr(gbs, "****"), "sto-3g");
    char path[1024];
    snprintf(path, sizeof path, "%s", put_file("plain.json", plain, strlen(plain)));
    check_same("scale factor", helium, "scaled.gbs", scaled, path);
    snprintf(path, sizeof path, "%s", put_file("general.json", general, strlen(general)));
    check_same("general contraction", helium, "segmented.gbs", segmented, path);
    /* The potential in the first of these is for O alone. */
    char both[sizeof gbs + sizeof ecp];
    snprintf(both, sizeof both, "%s%s", gbs, ecp);
    snprintf(path, sizeof path, "%s", put_file("ecp.gbs", both, strlen(both)));
    fmo_dataset *dataset = create("2\n\nH 0 0 0\nH 0 0 1\n", path, 0, &err);
    CHECK(dataset != NULL, "%s", err.message);
    fmo_dataset_destroy(dataset);
    CHECK(!create(water, path, 0, &err), "a potential is ignored");
    check_message("ecp", &err, FMO_ERR_INPUT, directory, "has an effective core potential for O");
}

static void refuse_create(const char *what, const char *xyz, const char *basis, int charge,
                          const char *expect)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = create(xyz, basis, charge, &err);
    CHECK(!dataset, "%s: made", what);
    check_message(what, &err, FMO_ERR_INPUT, directory, expect);
    fmo_dataset_destroy(dataset);
}

/* Molecules that a basis set cannot describe, odd numbers of electrons, and wrong structs of the
 * caller are refused with a cure. */
static void check_refused(void)
{
    static const char polarised[] =
        "H 0\nS 1 1.0\n1 1\n****\nO 0\nS 1 1.0\n9 1\nSP 1 1.0\n1 1 1\nH 1 1.0\n0.8 1\n****\n";
    char path[1024];
    snprintf(path, sizeof path, "%s", put_file("polarised.gbs", polarised, strlen(polarised)));
    refuse_create(
        "h shell", water, path, 0,
        "shell 4 of O in basis set polarised is an h shell, and this build supports s, p, d, f "
        "and g; choose a smaller set such as cc-pVTZ, def2-TZVP or def2-QZVP");
    static const char mixed[] =
        "{\"elements\": {\"1\": {\"electron_shells\": [{\"function_type\": \"gto_cartesian\", "
        "\"angular_momentum\": [2], \"exponents\": [\"1.0\"], \"coefficients\": [[\"1.0\"]]}]}, "
        "\"8\": {\"electron_shells\": [{\"function_type\": \"gto_spherical\", "
        "\"angular_momentum\": [2], \"exponents\": [\"1.0\"], \"coefficients\": [[\"1.0\"]]}]}}}";
    snprintf(path, sizeof path, "%s", put_file("mixed.json", mixed, strlen(mixed)));
    refuse_create("mixed", water, path, 0,
                  "basis set mixed has Cartesian functions for H and spherical ones for O; choose "
                  "one of the two for all");
    refuse_create("element", "1\n\nRb 0 0 0\n", "6-31g", 0, "basis set 6-31G has no Rb; choose");
    refuse_create("odd", water, "6-31g", 1, "9 electrons with charge 1, an odd number");
    refuse_create("none", "1\n\nH 0 0 0\n", "6-31g", 1, "a charge of 1 leaves 0 electrons");
    refuse_create("absurd", "1\n\nH 0 0 0\n", "6-31g", INT_MIN, "leaves 2147483649 electrons");
    refuse_create("grouped", "1\n\nHe 0 0 0\n", "sto-3g", -2, "4 electrons, and the 1 functions");

    /* A molecule of the caller's own. */
    int number[] = {1, 1};
    double coord[] = {0, 0, 0, 0, 0, 1.4};
    fmo_molecule mol = {.nucleus_num = 2, .number = number, .coord = coord};
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_basis_set_read("sto-3g", &set, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_dataset_create(&mol, set, 0, &dataset, &err) == FMO_OK, "%s", err.message);
    fmo_dataset_destroy(dataset);
    coord[5] = 1e-4;
    CHECK(fmo_dataset_create(&mol, set, 0, &dataset, &err) == FMO_ERR_INPUT && !dataset, "close");
    check_message("close", &err, FMO_ERR_INPUT, "molecule", "nuclei 0 (H) and 1 (H) are closer");
    coord[5] = NAN;
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_dataset_create(&mol, set, 0, &dataset, &err) == FMO_ERR_INPUT, "NaN");
    check_message("NaN", &err, FMO_ERR_INPUT, "molecule", "coord[1][2] = nan");
    coord[5] = 1.4;
    number[1] = 0;
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_dataset_create(&mol, set, 0, &dataset, &err) == FMO_ERR_INPUT, "number 0");
    check_message("number", &err, FMO_ERR_INPUT, "molecule", "number[1] = 0: expected");
    CHECK(fmo_dataset_create(NULL, set, 0, &dataset, NULL) == FMO_ERR_ARGUMENT, "NULL");
    CHECK(fmo_dataset_create(&mol, NULL, 0, &dataset, NULL) == FMO_ERR_ARGUMENT, "NULL");
    CHECK(fmo_dataset_create(&mol, set, 0, NULL, NULL) == FMO_ERR_ARGUMENT, "NULL");
    mol.nucleus_num = 0;
    CHECK(fmo_dataset_create(&mol, set, 0, &dataset, NULL) == FMO_ERR_ARGUMENT, "no nuclei");
    fmo_basis_set_destroy(set);
}

/* As many nuclei as there may be, however they lie, and more: read or refused in a time that grows
 * as their number. What compares all with all would take a hundred times the limit. */
static void check_many_nuclei(void)
{
    enum { MAX = 46340, FAR_TOO_MANY = 1000000, LINE = 40 };
    static const double seconds = 10.0;
    char *const text = malloc((size_t)LINE * FAR_TOO_MANY);
    for (int shape = 0; shape < 4 && text; shape++) { /* a line, a plane, one far away, too many */
        const int n = shape == 3 ? FAR_TOO_MANY : MAX, row = shape == 0 ? n : 1 + (int)sqrt(n);
        size_t at = (size_t)sprintf(text, "%d\n\n", n);
        for (int i = 0; i < n; i++)
            at += (size_t)sprintf(text + at, "He %.2f %.2f %.2f\n",
                                  shape == 2 && i == n - 1 ? 4e5 : 0.0, 1.1 * (i % row),
                                  1.1 * (i / row));
        fmo_error err = {FMO_OK, ""};
        fmo_molecule *mol = NULL;
        const char *path = put_file("many.xyz", text, at);
        const double begun = check_cpu_seconds();
        const fmo_status status = fmo_molecule_read_xyz(path, &mol, &err);
        const double taken = check_cpu_seconds() - begun;
        CHECK(taken < seconds, "%d nuclei: %.1f s", n, taken);
        if (shape == 3)
            CHECK(status == FMO_ERR_INPUT && strstr(err.message, "1000000 atoms: expected 1 to"),
                  "%s", err.message);
        else
            CHECK(status == FMO_OK, "%d nuclei: %s", n, err.message);
        printf("%d nuclei, shape %d: %.2f s\n", n, shape, taken);
        fmo_molecule_destroy(mol);
    }
    free(text);

    /* A molecule that a caller made. */
    fmo_molecule many = {.nucleus_num = FAR_TOO_MANY,
                         .number = malloc(FAR_TOO_MANY * sizeof(int)),
                         .coord = calloc(3 * FAR_TOO_MANY, sizeof(double))};
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_basis_set_read("sto-3g", &set, &err) == FMO_OK, "%s", err.message);
    if (many.number && many.coord && set) {
        for (int i = 0; i < FAR_TOO_MANY; i++) {
            many.number[i] = 2;
            many.coord[3 * i] = 2.0 * (i % 1000);
            many.coord[3 * i + 1] = 2.0 * (i / 1000);
        }
        const double begun = check_cpu_seconds();
        CHECK_REFUSED(fmo_dataset_create(&many, set, 0, &dataset, &err), &err, FMO_ERR_INPUT,
                      "1000000 nuclei");
        CHECK(!dataset, "dataset in spite of the error");
        const double taken = check_cpu_seconds() - begun;
        CHECK(taken < seconds, "refused after %.1f s", taken);
    }
    fmo_basis_set_destroy(set);
    free(many.number);
    free(many.coord);
}

/* Numbers have a decimal point in every locale. */
static void check_locale(void)
{
    if (!comma_locale()) return;
    check_formats();
    setlocale(LC_ALL, "C");
}

int main(void)
{
    unsetenv("FMO_BASIS_PATH");
    if (!mkdtemp(directory)) return 1;
    check_created();
    check_formats();
    check_refused();
    check_many_nuclei();
    check_locale();
    folder_remove(directory);
    return check_summary();
}
