/* Basis sets: their content, names and forms; everything that makes no sense is refused in one line
 * that names file, place and cure. */
#include "tests/io/text.h"

static const text_case bad_json[] = {
    {"syntax", "{\"elements\": ", "line 1: not valid JSON"},
    {"twice", "{\"elements\": {\"1\": {}, \"1\": {}}}", "not valid JSON (duplicate object key"},
    {"no elements", "{\"name\": \"x\"}", "elements: missing"},
    {"empty", "{\"elements\": {}}", "holds no shells"},
    {"element", JSON_SET("He", ""), "elements/He: expected an atomic number"},
    {"element 0", JSON_SET("0", ""), "elements/0: expected an atomic number"},
    {"element 119", JSON_SET("119", ""), "elements/119: expected an atomic number"},
    {"no object", "{\"elements\": {\"1\": 3}}", "elements/1 (H): expected an object"},
    {"no array", "{\"elements\": {\"1\": {\"electron_shells\": 3}}}", "elements/1 (H): expected"},
    {"no shell", JSON_SET("1", "3"), "elements/1 (H)/electron_shells[0]/angular_momentum"},
    {"Slater", JSON_SET("1", JSON_SHELL("sto", "[0]", "[\"1\"]", "[[\"1\"]]")),
     "electron_shells[0]/function_type = 'sto': only Gaussians"},
    {"l", JSON_SET("1", JSON_SHELL("gto", "[-1]", "[\"1\"]", "[[\"1\"]]")),
     "angular_momentum[0]: expected an integer"},
    {"l text", JSON_SET("1", JSON_SHELL("gto", "[\"s\"]", "[\"1\"]", "[[\"1\"]]")),
     "angular_momentum[0]: expected an integer"},
    {"no exponents", JSON_SET("1", JSON_SHELL("gto", "[0]", "[]", "[[\"1\"]]")),
     "exponents: expected an array of 1 to 10000"},
    {"number", JSON_SET("1", JSON_SHELL("gto", "[0]", "[\"1,0\"]", "[[\"1\"]]")),
     "exponents[0] = '1,0': expected a finite number"},
    {"null", JSON_SET("1", JSON_SHELL("gto", "[0]", "[null]", "[[\"1\"]]")),
     "exponents[0] = '': expected a finite number"},
    {"negative", JSON_SET("8", JSON_SHELL("gto", "[0]", "[\"-1\"]", "[[\"1\"]]")),
     "elements/8 (O)/electron_shells[0]: exponent 1 of a shell of O (s) is -1: expected"},
    {"zero", JSON_SET("1", JSON_SHELL("gto", "[0]", "[\"0\"]", "[[\"1\"]]")),
     "exponent 1 of a shell of H (s) is 0: expected"},
    {"rows", JSON_SET("1", JSON_SHELL("gto", "[0, 1]", "[\"1\"]", "[[\"1\"]]")),
     "coefficients: expected one array for each angular momentum"},
    {"columns", JSON_SET("1", JSON_SHELL("gto", "[0]", "[\"1\"]", "[[\"1\", \"2\"]]")),
     "coefficients[0]: expected an array of 1 numbers"},
    {"nothing", JSON_SET("1", JSON_SHELL("gto", "[0]", "[\"1\"]", "[[\"0\"]]")),
     "the coefficients of a shell of H (s) are 0 or cancel"},
    {"cancel", JSON_SET("1", JSON_SHELL("gto", "[0]", "[\"1\", \"1\"]", "[[\"1\", \"-1\"]]")),
     "the coefficients of a shell of H (s) are 0 or cancel"},
    {"large", JSON_SET("1", JSON_SHELL("gto", "[0]", "[\"1\"]", "[[\"1e300\"]]")),
     "coefficient 1 of a shell of H (s) is 1e+300"},
};

static const text_case bad_gbs[] = {
    {"other format", "$DATA\nHYDROGEN\nS 1\n", "line 1: '$DATA': expected the element"},
    {"NWChem, no end", "BASIS \"ao basis\" PRINT\nH S\n1 1\n", "ends within a block BASIS"},
    {"NWChem, no primitives", "BASIS\nH S\nHe S\n1 1\nEND\n",
     "line 2: a shell of H without primitives"},
    {"NWChem, twice", "BASIS\nH S\n1 1\nHe S\n1 1\nH P\n1 1\nEND\n",
     "line 6: H is defined a second"},
    {"NWChem, columns", "BASIS\nH SP\n1 1\nEND\n", "line 3: 2 numbers; expected an exponent and 2"},
    {"NWChem, rows", "BASIS\nH S\n1 1\n2 1 1\nEND\n",
     "line 4: 3 numbers; expected an exponent and 1"},
    {"NWChem, word", "BASIS\nH S\n1 one\nEND\n", "line 3: 'one': expected a finite number"},
    {"NWChem, no shell", "BASIS\n1 1\nEND\n", "line 2: expected an element and a shell"},
    {"NWChem, library", "BASIS\n* library 6-31g\nEND\n", "line 2: names a set of NWChem's library"},
    {"NWChem, negative", "H S\n-1 1\n", "line 1: exponent 1 of a shell of H (s) is -1: expected"},
    {"no zero", "H\nS 1 1.0\n1 1\n****\n", "line 1: expected element symbols and a 0"},
    {"element", "Qq 0\nS 1 1.0\n1 1\n****\n", "line 1: 'Qq': expected the element"},
    {"twice", "H 0\nS 1 1.0\n1 1\n****\nH 0\nS 1 1.0\n1 1\n****\n",
     "line 5: H is defined a second"},
    {"no end", "! x\nH 0\nS 1 1.0\n1 1\n", "line 4: the file ends within the block of H"},
    {"in shell", "H 0\nS 2 1.0\n1 1\n", "line 3: the file ends within a shell of H"},
    {"type", "H 0\nX1 1 1.0\n1 1\n****\n", "line 2: 'X1': expected a shell"},
    {"count", "H 0\nS x 1.0\n1 1\n****\n", "line 2: expected a number of primitives"},
    {"zero", "H 0\nS 0 1.0\n****\n", "line 2: expected a number of primitives"},
    {"many", "H 0\nS 10001 1.0\n1 1\n****\n",
     "line 2: expected a number of primitives from 1 to 10000"},
    {"scale", "H 0\nS 1 0.0\n1 1\n****\n", "line 2: '0.0': expected a scale factor"},
    {"more", "H 0\nS 1 1.0 1.0\n1 1\n****\n", "line 2: '1.0': expected a type"},
    {"number", "H 0\nS 1 1.0\n1 one\n****\n", "line 3: 'one': expected a finite number"},
    {"columns", "H 0\nSP 1 1.0\n1 1\n****\n", "line 3: 2 numbers; expected an exponent and 2"},
    {"column", "H 0\nS 1 1.0\n1 1 1\n****\n", "line 3: '1': more than an exponent and 1"},
    {"negative", "H 0\nS 1 1.0\n-1 1\n****\n", "line 2: exponent 1 of a shell of H (s) is -1"},
    {"no shells", "H 0\n****\n", "holds no shells"},
    {"comment", "! nothing\n\n", "holds no shells"},
};

static void refuse_set(const char *file, const text_case *c, const char *text, size_t size)
{
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = (fmo_basis_set *)directory;
    const char *path = put_file(file, text, size);
    CHECK(fmo_basis_set_read(path, &set, &err) == FMO_ERR_INPUT && !set, "%s: read", c->name);
    check_message(c->name, &err, FMO_ERR_INPUT, path, c->expect);
}

/* Wrong basis-set files and unknown names are refused with a message that names the file and a
 * cure. */
static void check_bad_sets(void)
{
    for (size_t i = 0; i < sizeof bad_json / sizeof bad_json[0]; i++)
        refuse_set("bad.json", &bad_json[i], bad_json[i].text, strlen(bad_json[i].text));
    for (size_t i = 0; i < sizeof bad_gbs / sizeof bad_gbs[0]; i++)
        refuse_set("bad.gbs", &bad_gbs[i], bad_gbs[i].text, strlen(bad_gbs[i].text));
    const text_case binary = {"binary", "", "holds binary data"};
    refuse_set("bad.gbs", &binary, "H 0\n\0", 5);
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    CHECK(fmo_basis_set_read("7-42g*", &set, &err) == FMO_ERR_INPUT, "unknown name");
    check_message("unknown", &err, FMO_ERR_INPUT, "basis set '7-42g*' is not known", "6-31g, ");
    CHECK(strstr(err.message, "sto-6g, or give the path of a .json or .gbs file"), "cut: %s",
          err.message);
    CHECK(strstr(err.message, "sto-3g") && strstr(err.message, "mini"), "list: %s", err.message);
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_basis_set_read("", &set, &err) == FMO_ERR_INPUT, "no name");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_basis_set_read("./no-such.json", &set, &err) == FMO_ERR_INPUT, "no file");
    check_message("no file", &err, FMO_ERR_INPUT, "./no-such.json", "cannot open it");
    CHECK(fmo_basis_set_read(NULL, &set, NULL) == FMO_ERR_ARGUMENT, "NULL");
    CHECK(fmo_basis_set_read("sto-3g", NULL, NULL) == FMO_ERR_ARGUMENT, "NULL");
    fmo_basis_set_destroy(NULL);
}

/* The next name of a list such as "sto-3g, 6-31g(d,p), mini", cut off; NULL at the end. */
static char *next_name(char **list)
{
    char *name = *list, *end = name ? strstr(name, ", ") : NULL;
    if (end) *end = '\0';
    *list = end ? end + 2 : NULL;
    return name && *name ? name : NULL;
}

/* Spellings of the same set, and the functions of its d shells. */
static void check_spellings(void)
{
    static const struct {
        const char *names[8];
        const char *is;
        int nao; /* of water */
    } sets[] = {
        {{"6-31G*", "6-31g*", "6-31G(d)", "631g(d)", "6-31g (d)", "631G*"}, "6-31G*", 19},
        {{"6-31G**", "6-31g(d,p)", "6-31G(d, p)", "631g**"}, "6-31G**", 25},
        {{"6-31+G*", "6-31+g(d)", "631+g*"}, "6-31+G*", 23},
        {{"6-31+G**", "6-31+G(d,p)"}, "6-31+G**", 29},
        {{"6-31++G**", "6-31++g(d,p)", "631++G(d,p)"}, "6-31++G**", 31},
        {{"6-311G*", "6-311g(d)"}, "6-311G*", 24},
        {{"6-311G**", "6-311g(d,p)"}, "6-311G**", 30},
        {{"cc-pVDZ", "ccpvdz", "cc-pvdz", "CC PVDZ", "cc_pvdz"}, "cc-pVDZ", 24},
        {{"def2-SVP", "def2svp", "DEF2_SVP", "def2 svp"}, "def2-SVP", 24},
    };
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        for (int k = 0; k < 8 && sets[s].names[k]; k++) {
            const char *name = sets[s].names[k];
            fmo_error err = {FMO_OK, ""};
            fmo_basis_set *set = NULL;
            CHECK(fmo_basis_set_read(name, &set, &err) == FMO_OK, "%s: %s", name, err.message);
            CHECK(set && strcmp(fmo_basis_set_name(set), sets[s].is) == 0, "%s is %s", name,
                  set ? fmo_basis_set_name(set) : "nothing");
            fmo_basis_set_destroy(set);
            fmo_dataset *dataset = create(water, name, 0, &err);
            CHECK(dataset && fmo_basis_ao_num(fmo_dataset_basis(dataset)) == sets[s].nao,
                  "%s: %d functions, not %d", name, fmo_basis_ao_num(fmo_dataset_basis(dataset)),
                  sets[s].nao);
            fmo_dataset_destroy(dataset);
        }
    /* Names that differ in a bracket alone are different sets. */
    static const char *const others[] = {"def2-SV(P)", "6-31gd", "6-31g(p)",
                                         "6-31g***",   "*",      "(d)"};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        fmo_basis_set *set = NULL;
        CHECK(fmo_basis_set_read(others[k], &set, NULL) == FMO_ERR_INPUT, "%s is %s", others[k],
              fmo_basis_set_name(set));
        fmo_basis_set_destroy(set);
    }
}

/* One set in the formats of Psi4 and NWChem gives the same functions; d functions are Cartesian or
 * spherical as the file specifies. A set with effective core potentials is refused. */
static void check_formats(void)
{
    static const char psi4[] =
        "cartesian\n****\nH     0\nS   2   1.00\n 5.4 0.15D+00\n 0.8 0.9\nS 1 "
        "1.00\n 0.18 1\n****\nO     0\nSP   2   1.00\n 9.0 0.4 0.1\n 1.1 "
        "0.7 0.8\nD   1   1.00\n 0.8 1\n****\n";
    static const char nwchem[] =
        "# a set\nBASIS \"ao basis\" CARTESIAN PRINT\n#BASIS SET: (3s) -> [2s]\nH    S\n  5.4   "
        "0.15d+00  0.0 # core\n 0.8 0.9 0\n 0.18 0 1\nO    SP\n 9.0 0.4 0.1\n 1.1 0.7 0.8\nO  "
        "D\n0.8 1.0\nEND\n";
    static const struct {
        const char *file, *text, *instead;
        int functions;
    } files[] = {{"psi4.gbs", psi4, NULL, 4 + 2 + 2 + 6},
                 {"psi4.gbs", psi4, "spherical", 4 + 2 + 2 + 5},
                 {"set.nw", nwchem, NULL, 4 + 2 + 2 + 6},
                 {"set.nwchem", nwchem, "SPHERICAL", 4 + 2 + 2 + 5},
                 {"open.nw", nwchem, "         ", 4 + 2 + 2 + 6}}; /* NWChem's default */
    double norm[sizeof files / sizeof *files];
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char text[1024];
        fmo_error err = {FMO_OK, ""};
        snprintf(text, sizeof text, "%s", files[k].text);
        char *form = strstr(text, k < 2 ? "cartesian" : "CARTESIAN");
        if (files[k].instead) memcpy(form, files[k].instead, 9);
        char path[1024];
        snprintf(path, sizeof path, "%s", put_file(files[k].file, text, strlen(text)));
        fmo_dataset *d = create(water, path, 0, &err);
        CHECK(d && fmo_basis_ao_num(fmo_dataset_basis(d)) == files[k].functions, "%s: %s, %d",
              files[k].file, err.message, d ? fmo_basis_ao_num(fmo_dataset_basis(d)) : 0);
        size_t n = 0;
        double *S = d ? overlap_of(d, &n) : NULL;
        norm[k] = 0.0;
        for (size_t i = 0; i < n * n; i++) norm[k] += S[i] * S[i];
        free(S);
        fmo_dataset_destroy(d);
    }
    CHECK(fabs(norm[0] - norm[2]) < 1e-12 && fabs(norm[1] - norm[3]) < 1e-12 &&
              fabs(norm[0] - norm[4]) < 1e-12,
          "the same set gives %.15g and %.15g, %.15g and %.15g, %.15g", norm[0], norm[2], norm[1],
          norm[3], norm[4]);
    static const char ecp[] = "BASIS SPHERICAL\nH S\n1 1\nO S\n1 1\nEND\nECP\nO nelec 2\nO ul\n2 1 "
                              "1\nEND\n";
    fmo_error err = {FMO_OK, ""};
    char path[1024];
    snprintf(path, sizeof path, "%s", put_file("ecp.nw", ecp, strlen(ecp)));
    CHECK(!create(water, path, 0, &err) && strstr(err.message, "effective core potential for O"),
          "%s", err.message);
}

/* The labels of a data set's functions on its first nucleus from the first d function on. */
static void check_d_labels(const char *basis, fmo_functions functions, int cartesian, int p_first,
                           const char *p_name, int first, const char *const names[6])
{
    fmo_molecule *mol = NULL;
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    fmo_error err = {FMO_OK, ""};
    char label[32];
    CHECK(fmo_molecule_read_xyz(put_file("molecule.xyz", water, strlen(water)), &mol, &err) ==
                  FMO_OK &&
              fmo_basis_set_read(basis, &set, &err) == FMO_OK,
          "%s", err.message);
    fmo_basis_set_choose_functions(set, functions);
    CHECK(fmo_dataset_create(mol, set, 0, &dataset, &err) == FMO_OK, "%s", err.message);
    if (dataset) {
        CHECK(fmo_dataset_basis_input(dataset)->cartesian == cartesian, "%s: form", basis);
        fmo_dataset_ao_label(dataset, p_first, label, sizeof label);
        CHECK(strcmp(label, p_name) == 0, "%s: %s, not %s", basis, label, p_name);
        for (int k = 0; k < 6 && names[k]; k++) {
            fmo_dataset_ao_label(dataset, first + k, label, sizeof label);
            CHECK(strcmp(label, names[k]) == 0, "%s: %s, not %s", basis, label, names[k]);
        }
    }
    fmo_dataset_destroy(dataset);
    fmo_basis_set_destroy(set);
    fmo_molecule_destroy(mol);
}

/* d functions are Cartesian or spherical as the set or the caller says, and their labels and order
 * show it. */
static void check_forms(void)
{
    static const char *const xx[] = {"0 O dxx", "0 O dxy", "0 O dxz",
                                     "0 O dyy", "0 O dyz", "0 O dzz"};
    static const char *const m0[6] = {"0 O d0", "0 O d+1", "0 O d-1", "0 O d+2", "0 O d-2"};
    static const char *const none[6] = {NULL};
    static const char open[] =
        "H 0\nS 1 1.0\n1 1\n****\nO 0\nS 1 1.0\n9 1\nSP 1 1.0\n1 1 1\nD 1 1.0\n0.8 1\n****\n";
    char path[1024];
    check_d_labels("6-31g*", FMO_FUNCTIONS_SET, 1, 3, "0 O px", 9, xx);
    check_d_labels("6-31g*", FMO_FUNCTIONS_CARTESIAN, 1, 3, "0 O px", 9, xx);
    check_d_labels("6-31g*", FMO_FUNCTIONS_SPHERICAL, 0, 3, "0 O pz", 9, m0);
    check_d_labels("def2-svp", FMO_FUNCTIONS_SET, 0, 3, "0 O pz", 9, m0);
    check_d_labels("def2-svp", FMO_FUNCTIONS_CARTESIAN, 1, 3, "0 O px", 9, xx);
    check_d_labels("6-31g", FMO_FUNCTIONS_SET, 1, 3, "0 O px", 0, none); /* no d shells */
    /* A file in Gaussian's format does not specify the form: spherical, as in Gaussian. */
    snprintf(path, sizeof path, "%s", put_file("open.gbs", open, strlen(open)));
    check_d_labels(path, FMO_FUNCTIONS_SET, 0, 2, "0 O pz", 5, m0);
    check_d_labels(path, FMO_FUNCTIONS_CARTESIAN, 1, 2, "0 O px", 5, xx);
    for (int f = 0; f < FMO_FUNCTIONS_COUNT; f++)
        CHECK(fmo_functions_name((fmo_functions)f) && fmo_functions_text((fmo_functions)f),
              "functions %d have no name", f);
    CHECK(!fmo_functions_name(FMO_FUNCTIONS_COUNT) && !fmo_functions_text((fmo_functions)-1),
          "names of nothing");
    fmo_basis_set_choose_functions(NULL, FMO_FUNCTIONS_SET);
}

/* A set is found by all spellings of its name; FMO_BASIS_PATH comes before the shipped sets. */
static void check_names(void)
{
    static const char *const names[] = {"6-31G", "6-31g", "631g", "6_31G", " 6-31 g "};
    char list[1024];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fmo_error err = {FMO_OK, ""};
        fmo_basis_set *set = NULL;
        CHECK(fmo_basis_set_read(names[i], &set, &err) == FMO_OK, "%s: %s", names[i], err.message);
        if (!set) continue;
        CHECK(strcmp(fmo_basis_set_name(set), "6-31G") == 0, "%s", fmo_basis_set_name(set));
        CHECK(fmo_basis_set_shell_num(set, 8) == 5 && fmo_basis_set_shell_num(set, 1) == 2 &&
                  fmo_basis_set_shell_num(set, 37) == 0 && fmo_basis_set_shell_num(set, -1) == 0,
              "shells of O: %d", fmo_basis_set_shell_num(set, 8));
        fmo_basis_set_destroy(set);
    }
    fmo_basis_set_list(list, sizeof list);
    char *rest = list;
    for (char *name; (name = next_name(&rest));) {
        fmo_error err = {FMO_OK, ""};
        fmo_basis_set *set = NULL;
        CHECK(fmo_basis_set_read(name, &set, &err) == FMO_OK, "%s: %s", name, err.message);
        fmo_basis_set_destroy(set);
    }
    /* FMO_BASIS_PATH comes first; what it does not have comes from the others. */
    const char *own = "H 0\nS 1 1.0\n1 1\n****\n";
    put_file("sto-3g.gbs", own, strlen(own));
    char path[1024];
    snprintf(path, sizeof path, "/no/such/folder::%s", directory);
    setenv("FMO_BASIS_PATH", path, 1);
    fmo_basis_set *set = NULL, *other = NULL;
    CHECK(fmo_basis_set_read("STO-3G", &set, NULL) == FMO_OK &&
              strncmp(fmo_basis_set_path(set), directory, strlen(directory)) == 0,
          "FMO_BASIS_PATH is not used");
    CHECK(fmo_basis_set_read("MINI", &other, NULL) == FMO_OK, "MINI is not found");
    fmo_basis_set_destroy(set);
    put_file("STO3G.bas", own, strlen(own)); /* of several, the first in the alphabet */
    CHECK(fmo_basis_set_read("sto-3g", &set, NULL) == FMO_OK &&
              strstr(fmo_basis_set_path(set), "STO3G.bas"),
          "%s", fmo_basis_set_path(set));
    unsetenv("FMO_BASIS_PATH");
    fmo_basis_set_destroy(set);
    fmo_basis_set_destroy(other);
}

/* Every shipped set, with every element it has: all functions are normalised to 1. */
static void check_normalised(void)
{
    char list[1024];
    fmo_basis_set_list(list, sizeof list);
    int sets = 0;
    char *rest = list;
    for (char *name; (name = next_name(&rest)); sets++) {
        fmo_basis_set *set = NULL;
        fmo_basis_set_read(name, &set, NULL);
        int number[72], n = 0, electrons = 0;
        double coord[216];
        for (int z = 1; set && z <= 36; z++) {
            for (int twice = 0; twice < 2 && fmo_basis_set_shell_num(set, z); twice++) {
                coord[3 * n] = 3.0 * n, coord[3 * n + 1] = 0.1 * n, coord[3 * n + 2] = 0.0;
                electrons += number[n++] = z;
            }
        }
        CHECK(n >= 22, "%s has %d elements", name, n / 2);
        const fmo_molecule mol = {.nucleus_num = n, .number = number, .coord = coord};
        fmo_dataset *dataset = NULL;
        fmo_error err = {FMO_OK, ""};
        CHECK(fmo_dataset_create(&mol, set, 0, &dataset, &err) == FMO_OK, "%s: %s", name,
              err.message);
        if (dataset) {
            size_t nao;
            double *S = overlap_of(dataset, &nao), worst = 0.0;
            for (size_t i = 0; i < nao; i++) worst = fmax(worst, fabs(S[i * nao + i] - 1.0));
            CHECK(worst < 1e-13, "%s: norm off by %g", name, worst);
            CHECK(fmo_dataset_electron_num(dataset) == electrons, "electrons");
            CHECK(!*fmo_dataset_path(dataset) && !*fmo_dataset_sha256(dataset), "origin");
            free(S);
        }
        fmo_dataset_destroy(dataset);
        fmo_basis_set_destroy(set);
    }
    CHECK(sets >= 10, "%d sets ship", sets);
}

/* Primitives of coefficient 0 are as if they were not there, in either format; the limit is for the
 * others. */
static void check_zero_primitives(void)
{
    static const int zeros[] = {0, 1, 99, 100, 3000}, others[] = {1, 100, 101};
    static char text[1 << 20];
    for (size_t z = 0; z < sizeof zeros / sizeof *zeros; z++)
        for (size_t o = 0; o < sizeof others / sizeof *others; o++)
            for (int json = 0; json < 2; json++) {
                const int n = zeros[z] + others[o];
                fmo_error err = {FMO_OK, ""};
                fmo_basis_set *set = NULL;
                size_t at = 0;
#define ADD(...) at += (size_t)snprintf(text + at, sizeof text - at, __VA_ARGS__)
                if (json) {
                    ADD("{\"elements\": {\"2\": {\"electron_shells\": [{\"function_type\": "
                        "\"gto\", \"angular_momentum\": [0, 1], \"exponents\": [");
                    for (int k = 0; k < n; k++) ADD("%s\"%.6f\"", k ? "," : "", 0.5 + 0.01 * k);
                    for (int c = 0; c < 2; c++) {
                        ADD(c ? "],[" : "], \"coefficients\": [[");
                        for (int k = 0; k < n; k++)
                            ADD("%s\"%d\"", k ? "," : "", k >= zeros[z] ? k % 7 + 1 : 0);
                    }
                    ADD("]]}]}}}");
                } else {
                    ADD("He 0\nSP %d 1.0\n", n);
                    for (int k = 0; k < n; k++)
                        ADD("%.6f %d %d\n", 0.5 + 0.01 * k, k >= zeros[z] ? k % 7 + 1 : 0,
                            k >= zeros[z] ? k % 7 + 1 : 0);
                    ADD("****\n");
                }
#undef ADD
                char path[1024];
                snprintf(path, sizeof path, "%s",
                         put_file(json ? "zero.json" : "zero.gbs", text, at));
                const fmo_status status = fmo_basis_set_read(path, &set, &err);
                if (others[o] > 100) {
                    CHECK(status == FMO_ERR_INPUT && !set, "%d of %d zeros", zeros[z], n);
                    check_message("zeros", &err, FMO_ERR_INPUT, path,
                                  "has more than 100 primitives with a coefficient other than 0");
                    continue;
                }
                CHECK(status == FMO_OK, "%d of %d zeros: %s", zeros[z], n, err.message);
                fmo_basis_set_destroy(set);
                fmo_dataset *dataset = create("1\n\nHe 0 0 0\n", path, 0, &err);
                CHECK(dataset && fmo_basis_prim_num(fmo_dataset_basis(dataset)) == 2 * others[o],
                      "%d of %d zeros: %d primitives, %s", zeros[z], n,
                      dataset ? fmo_basis_prim_num(fmo_dataset_basis(dataset)) : -1, err.message);
                fmo_dataset_destroy(dataset);
            }
}

int main(void)
{
    unsetenv("FMO_BASIS_PATH");
    if (!mkdtemp(directory)) return 1;
    check_bad_sets();
    check_names();
    check_spellings();
    check_formats();
    check_forms();
    check_normalised();
    check_zero_primitives();
    folder_remove(directory);
    return check_summary();
}
