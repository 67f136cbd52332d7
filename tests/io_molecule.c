/* Molecules, basis sets and the data sets made of them: what is read, and that everything that
 * makes no sense is refused in one line that names file, place and cure. */
#include "check.h"
#include "io_folder.h"
#include <fmo/basis_set.h>
#include <fmo/one_electron.h>

#include <limits.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/fmo-io-molecule-XXXXXX";
static const char *const water =
    "3\nwater\nO 0.0 0.0 0.1173\nH 0.0 0.7572 -0.4692\nH 0.0 -0.7572 -0.4692\n";

static const char *put_file(const char *name, const char *text, size_t size)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0) exit(1);
    return path;
}

static void check_message(const char *what, const fmo_error *err, fmo_status status,
                          const char *begin, const char *expect)
{
    CHECK(err->status == status, "%s: status differs", what);
    CHECK(strncmp(err->message, begin, strlen(begin)) == 0, "%s: '%s' does not begin with '%s'",
          what, err->message, begin);
    CHECK(strstr(err->message, expect) != NULL, "%s: '%s' is not in '%s'", what, expect,
          err->message);
    CHECK(strlen(err->message) < sizeof err->message - 1, "%s: message cut", what);
    CHECK(strchr(err->message, ';') || strstr(err->message, "expected") ||
              strchr(err->message + strlen(begin) + 1, ':'),
          "%s: no cure in '%s'", what, err->message);
    if (getenv("FMO_TEST_VERBOSE")) printf("%-16s %s\n", what, err->message);
}

/* --- xyz
 * -----------------------------------------------------------------------------------------*/

typedef struct text_case {
    const char *name, *text, *expect;
} text_case;

static const text_case good_xyz[] = {
    {"plain", "2\nhydrogen\nH 0 0 0\nH 0 0 0.74\n", "hydrogen"},
    {"no newline", "2\n\nH 0 0 0\nH 0 0 0.74", ""},
    {"CRLF", "2\r\nhydrogen\r\nH 0 0 0\r\nH 0 0 0.74\r\n", "hydrogen"},
    {"tabs", "\t2 \n\nH\t0\t0\t0\n  H  0\t0  .74  \n", ""},
    {"any case", "2\n\nh 0 0 0\nH1 0 0 7.4e-1\n", ""},
    {"numbers", "2\n\n1 0 0 0\n1 -0. +0 7.4D-01\n", ""},
    {"columns", "2\n\nH 0 0 0 0.1 x\nH 0 0 0.74 -0.1 y\n", ""},
    {"blank end", "2\n\nH 0 0 0\nH 0 0 0.74\n\n  \n\n", ""},
    {"byte order",
     "\xEF\xBB\xBF"
     "2\n\nH 0 0 0\nH 0 0 0.74\n",
     ""},
    {"extended",
     "2\nProperties=species:S:1:pos:R:3:forces:R:3 pbc=\"F F F\"\nH 0 0 0 1 1 1\nH 0 0 0.74 1 1 "
     "1\n",
     "Properties=species:S:1:pos:R:3:forces:R:3 pbc=\"F F F\""},
    {"box", "2\nLattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"F F F\"\nH 0 0 0\nH 0 0 0.74\n",
     "Lattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"F F F\""},
    {"box of 0", "2\nLattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"0 0 0\"\nH 0 0 0\nH 0 0 0.74\n",
     "Lattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"0 0 0\""},
    {"box of false", "2\nPBC=[false, False, FALSE]\nH 0 0 0\nH 0 0 0.74\n",
     "PBC=[false, False, FALSE]"},
    {"escape", "2\na\x1b[2Jb \xc3\xa9 \xc2\x9b \xff\nH 0 0 0\nH 0 0 0.74\n", "a?[2Jb \xc3\xa9 ? ?"},
    {"box of quotes",
     "2\n\"Lattice\"=\"9 0 0 0 9 0 0 0 9\" \"pbc\"=\"F F F\"\nH 0 0 0\nH 0 0 0.74\n",
     "\"Lattice\"=\"9 0 0 0 9 0 0 0 9\" \"pbc\"=\"F F F\""},
    {"cell of false", "2\ncell=\"9 9 9\" pbc: F F F\nH 0 0 0\nH 0 0 0.74\n",
     "cell=\"9 9 9\" pbc: F F F"},
    {"cell comment", "2\ncell: 3T3 fibroblasts, supercell=2\nH 0 0 0\nH 0 0 0.74\n",
     "cell: 3T3 fibroblasts, supercell=2"},
    {"T comment", "2\nThe Title pbc\nH 0 0 0\nH 0 0 0.74\n", "The Title pbc"},
};

static const text_case bad_xyz[] = {
    {"empty line", "\n\nH 0 0 0\n", "line 1: is empty; expected the number of atoms"},
    {"no count", "H 0 0 0\nH 0 0 1\n", "line 1: 'H ...': expected the number of atoms"},
    {"count word", "two\n\nH 0 0 0\n", "line 1: 'two'"},
    {"real count", "2.0\n\nH 0 0 0\nH 0 0 1\n", "line 1: '2.0'"},
    {"no atoms", "0\n\n", "line 1: 0 atoms"},
    {"minus", "-1\n\n", "line 1: '-1'"},
    {"absurd", "999999999\n\nH 0 0 0\n", "line 1: 999999999 atoms"},
    {"overflow", "99999999999999999999\n\nH 0 0 0\n", "line 1: '99999999999999999999'"},
    {"too many", "46341\n\nH 0 0 0\n", "line 1: 46341 atoms: expected 1 to 46340"},
    {"many", "46340\n\nH 0 0 0\n", "line 1: 46340 atoms do not fit"},
    {"one line", "2\n", "ends after its first line"},
    {"short", "3\n\nH 0 0 0\nH 0 0 1\n", "line 1: 3 atoms do not fit in a file of 19 bytes"},
    {"shorter", "3\n\nH 0 0 0   \nH 0 0 1   \n", "ends after 2 of the 3 atoms"},
    {"no comment", "2\nH 0 0 0\nH 0 0 1\n", "ends after 1 of the 2 atoms of line 1 (line 2 is a"},
    {"extra", "1\n\nHe 0 0 0\nHe 0 0 1\n", "line 4: more atoms than the 1 of line 1"},
    {"frames", "1\n\nHe 0 0 0\n1\n\nHe 0 0 1\n", "line 4: another molecule begins"},
    {"gap", "2\n\nH 0 0 0\n\nH 0 0 1\n", "line 4: is empty; expected element"},
    {"unknown", "1\n\nQq 0 0 0\n", "line 3: 'Qq': not an element"},
    {"dummy", "1\n\nX 0 0 0\n", "line 3: 'X': not an element"},
    {"ghost", "1\n\nGh 0 0 0\n", "line 3: 'Gh': not an element"},
    {"deuterium", "1\n\nD 0 0 0\n", "isotopes are written as their element"},
    {"number 119", "1\n\n119 0 0 0\n", "line 3: '119': not an element"},
    {"number 0", "1\n\n0 0 0 0\n", "line 3: '0': not an element"},
    {"columns", "2\n\nHe 0 0\nHe 0 0 1 1 1\n", "line 3: 2 of 3 coordinates"},
    {"word", "1\n\nHe 0 zero 0\n", "line 3: y = 'zero': expected a finite number in angstrom"},
    {"nan", "1\n\nHe 0 0 nan\n", "line 3: z = 'nan'"},
    {"inf", "1\n\nHe inf 0 0\n", "line 3: x = 'inf'"},
    {"hex", "1\n\nHe 0x1p3 0 0\n", "line 3: x = '0x1p3'"},
    {"comma", "1\n\nHe 0,5 0 0\n", "line 3: x = '0,5'"},
    {"large", "1\n\nHe 1e999 0 0\n", "line 3: x = '1e999'"},
    {"far", "1\n\nHe 1e6 0 0\n", "line 3: x = 1e+06: expected at most"},
    {"long",
     "1\n\nHe 0.0000000000000000000000000000000000000000000000000000000000000000000000000"
     "00000000000000000000000000000000000000000000000000000000000000000 0 0\n",
     "line 3: x = '0.0000000000000000000000000000000000...'"},
    {"twice", "3\n\nHe 1 2 3\nNe 9 9 9\nHe 1 2 3.0001\n",
     "line 5: He is at the place of He in line 3"},
    {"crystal", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"pbc", "1\npbc=\"F F T\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"pbc true", "1\npbc=\"true true true\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"pbc 1", "1\npbc=\"1 1 1\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"pbc list", "1\npbc=[False, False, True]\nHe 0 0 0\n", "line 2: periodic systems"},
    {"PBC", "1\nPBC = 'T T T'\nHe 0 0 0\n", "line 2: periodic systems"},
    {"lattice", "1\nlattice=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"tab lattice", "1\na box:\tLattice=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n",
     "line 2: periodic systems"},
    {"quoted lattice", "1\n\"Lattice\"=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n",
     "line 2: periodic systems"},
    {"quoted pbc", "1\n'pbc'=\"T T T\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"both quoted", "1\n\"Lattice\"=\"9 0 0 0 9 0 0 0 9\" \"pbc\"=\"T T T\"\nHe 0 0 0\n",
     "line 2: periodic systems"},
    {"JSON pbc", "1\n{\"pbc\": [true, true, true]}\nHe 0 0 0\n", "line 2: periodic systems"},
    {"cell", "1\ncell=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n", "line 2: periodic systems"},
    {"unit cell", "1\nunit_cell: 9 9 9 90 90 90\nHe 0 0 0\n", "line 2: periodic systems"},
    {"cell list", "1\nE=-1 Cell=[[9.0, 0, 0], [0, 9, 0], [0, 0, 9]]\nHe 0 0 0\n",
     "line 2: periodic systems"},
    {"i-PI", "1\n# CELL(abcH): 9.0 9.0 9.0 90.0 90.0 90.0 Step: 0 Bead: 0\nHe 0 0 0\n",
     "line 2: periodic systems"},
    {"order", "1\nProperties=pos:R:3:species:S:1\n0 0 0 He\n", "line 2: Properties="},
    {"UTF-8", "1\n\n\xC3\xA9 0 0 0\n", "line 3: '?\?': not an element"},
    {"control", "1\n\n\x1b[2J 0 0 0\n", "line 3: '?[2J'"},
};

static void check_good_xyz(void)
{
    for (size_t i = 0; i < sizeof good_xyz / sizeof good_xyz[0]; i++) {
        const text_case *c = &good_xyz[i];
        fmo_error err = {FMO_OK, ""};
        fmo_molecule *mol = NULL;
        const char *path = put_file("good.xyz", c->text, strlen(c->text));
        CHECK(fmo_molecule_read_xyz(path, &mol, &err) == FMO_OK, "%s: %s", c->name, err.message);
        if (!mol) continue;
        const double want[] = {0, 0, 0, 0, 0, 0.74 / 0.52917721092};
        CHECK(mol->nucleus_num == 2 && mol->number[0] == 1 && mol->number[1] == 1, "%s: nuclei",
              c->name);
        check_close(c->name, mol->coord, want, 6, 3, 0.0, 0.0);
        CHECK(strcmp(mol->comment, c->expect) == 0, "%s: comment '%s'", c->name, mol->comment);
        CHECK(strcmp(mol->path, path) == 0 && strlen(mol->sha256) == 64, "%s: origin", c->name);
        fmo_molecule_destroy(mol);
    }
}

static void refuse_xyz(const char *name, const char *text, size_t size, const char *expect)
{
    fmo_error err = {FMO_OK, ""};
    fmo_molecule *mol = (fmo_molecule *)directory;
    const char *path = put_file("bad.xyz", text, size);
    CHECK(fmo_molecule_read_xyz(path, &mol, &err) == FMO_ERR_INPUT && !mol, "%s: read", name);
    check_message(name, &err, FMO_ERR_INPUT, path, expect);
}

static void check_bad_xyz(void)
{
    for (size_t i = 0; i < sizeof bad_xyz / sizeof bad_xyz[0]; i++)
        refuse_xyz(bad_xyz[i].name, bad_xyz[i].text, strlen(bad_xyz[i].text), bad_xyz[i].expect);
    refuse_xyz("empty", "", 0, "the file is empty; expected an .xyz file");
    refuse_xyz("binary", "2\n\nH 0 0 0\0\nH 0 0 1\n", 20, "holds binary data");

    fmo_error err = {FMO_OK, ""};
    fmo_molecule *mol = NULL;
    CHECK(fmo_molecule_read_xyz(directory, &mol, &err) == FMO_ERR_INPUT, "directory");
    check_message("directory", &err, FMO_ERR_INPUT, directory, "is a directory");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_molecule_read_xyz("/dev/null", &mol, &err) == FMO_ERR_INPUT, "device");
    check_message("device", &err, FMO_ERR_INPUT, "/dev/null", "not a regular file");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_molecule_read_xyz("/no/such.xyz", &mol, &err) == FMO_ERR_INPUT, "missing");
    check_message("missing", &err, FMO_ERR_INPUT, "/no/such.xyz", "cannot open it");
    CHECK(fmo_molecule_read_xyz("", &mol, NULL) == FMO_ERR_INPUT, "no path");
    CHECK(fmo_molecule_read_xyz(NULL, &mol, NULL) == FMO_ERR_ARGUMENT, "NULL");
    CHECK(fmo_molecule_read_xyz("x", NULL, NULL) == FMO_ERR_ARGUMENT, "NULL");
    fmo_molecule_destroy(NULL);
}

/* --- basis sets
 * ----------------------------------------------------------------------------------*/

#define JSON_SHELL(type, l, exponents, coefficients)                                           \
    "{\"function_type\": \"" type "\", \"angular_momentum\": " l ", \"exponents\": " exponents \
    ", \"coefficients\": " coefficients "}"
#define JSON_SET(element, shell) \
    "{\"name\": \"test\", \"elements\": {\"" element "\": {\"electron_shells\": [" shell "]}}}"

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
    {"other format", "BASIS \"ao basis\" PRINT\nH S\n", "line 1: 'BASIS': expected the element"},
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

static fmo_dataset *create(const char *xyz, const char *basis, int charge, fmo_error *err)
{
    fmo_molecule *mol = NULL;
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    if (fmo_molecule_read_xyz(put_file("molecule.xyz", xyz, strlen(xyz)), &mol, err) == FMO_OK &&
        fmo_basis_set_read(basis, &set, err) == FMO_OK)
        fmo_dataset_create(mol, set, charge, &dataset, err);
    fmo_molecule_destroy(mol);
    fmo_basis_set_destroy(set);
    return dataset;
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
    /* A file in Gaussian's format does not say: spherical, as in Gaussian. */
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

/* --- data sets
 * -----------------------------------------------------------------------------------*/

static double *overlap_of(const fmo_dataset *dataset, size_t *n)
{
    *n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    double *S = calloc(*n * *n, sizeof *S);
    CHECK(fmo_overlap(fmo_dataset_basis(dataset), S, NULL) == FMO_OK, "overlap");
    return S;
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

static void check_refused(void)
{
    static const char polarised[] =
        "H 0\nS 1 1.0\n1 1\n****\nO 0\nS 1 1.0\n9 1\nSP 1 1.0\n1 1 1\nF 1 1.0\n0.8 1\n****\n";
    char path[1024];
    snprintf(path, sizeof path, "%s", put_file("polarised.gbs", polarised, strlen(polarised)));
    refuse_create("f shell", water, path, 0,
                  "shell 4 of O in basis set polarised is an f shell, and this build supports s, p "
                  "and d; choose a smaller set such as 6-31G(d,p), cc-pVDZ or def2-SVP");
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
    refuse_create("odd", water, "6-31g", 1, "9 electrons with charge 1 are odd");
    refuse_create("none", "1\n\nH 0 0 0\n", "6-31g", 1, "a charge of 1 leaves 0 electrons");
    refuse_create("absurd", "1\n\nH 0 0 0\n", "6-31g", INT_MIN, "leaves 2147483649 electrons");
    refuse_create("crowded", "1\n\nHe 0 0 0\n", "sto-3g", -2, "4 electrons, and the 1 functions");

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

/* Numbers have a point wherever the program runs. */
static void check_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!setlocale(LC_ALL, names[i])) continue;
        check_good_xyz();
        check_formats();
        setlocale(LC_ALL, "C");
        return;
    }
    printf("no locale with a decimal comma here\n");
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

/* As many nuclei as there may be, however they lie, and more: read or refused in a time that grows
 * as their number. What compares all with all would take a hundred times the limit. */
static void check_many_nuclei(void)
{
    enum { MOST = 46340, FAR_TOO_MANY = 1000000, LINE = 40 };
    static const double seconds = 10.0;
    char *const text = malloc((size_t)LINE * FAR_TOO_MANY);
    for (int shape = 0; shape < 4 && text; shape++) { /* a line, a plane, one far away, too many */
        const int n = shape == 3 ? FAR_TOO_MANY : MOST, row = shape == 0 ? n : 1 + (int)sqrt(n);
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
        CHECK(fmo_dataset_create(&many, set, 0, &dataset, &err) == FMO_ERR_INPUT && !dataset &&
                  strstr(err.message, "1000000 nuclei"),
              "%s", err.message);
        const double taken = check_cpu_seconds() - begun;
        CHECK(taken < seconds, "refused after %.1f s", taken);
    }
    fmo_basis_set_destroy(set);
    free(many.number);
    free(many.coord);
}

/* ---- several molecules in a file ------------------------------------------------------------ */

static void check_frames(void)
{
    static const char text[] = "2\nfirst\nH 0 0 0\nH 0 0 0.7\n1\nsecond\nHe 1 2 3\n \n\n3\n\n"
                               "O 0 0 0\nH 0 0.7 0.6\nH 0 -0.7 0.6\n\n";
    static const char one[] = "1\n\nHe 0 0 0\n\n";
    static const int nuclei[] = {2, 1, 3};
    fmo_error err = {FMO_OK, ""};
    fmo_xyz *xyz = NULL;
    fmo_molecule *m = NULL;
    CHECK(fmo_xyz_open(put_file("frames.xyz", text, strlen(text)), &xyz, &err) == FMO_OK, "%s",
          err.message);
    for (int k = 0; k < 3; k++) {
        CHECK(fmo_xyz_next(xyz, &m, &err) == FMO_OK && m, "frame %d: %s", k + 1, err.message);
        if (m)
            CHECK(m->nucleus_num == nuclei[k] && m->frame == k + 1 && m->path, "frame %d: %d, %d",
                  k + 1, m->nucleus_num, m->frame);
        if (m && k == 1)
            CHECK(m->number[0] == 2 && strcmp(m->comment, "second") == 0 &&
                      fabs(m->coord[2] * FMO_BOHR_IN_ANGSTROM - 3.0) < 1e-12,
                  "frame 2: %s", m->comment);
        fmo_molecule_destroy(m);
    }
    for (int k = 0; k < 2; k++)
        CHECK(fmo_xyz_next(xyz, &m, &err) == FMO_OK && !m, "a fourth frame: %s", err.message);
    fmo_xyz_close(xyz);

    /* the only one has no number */
    CHECK(fmo_xyz_open(put_file("one.xyz", one, strlen(one)), &xyz, &err) == FMO_OK, "%s",
          err.message);
    CHECK(fmo_xyz_next(xyz, &m, &err) == FMO_OK && m && m->frame == 0, "one: %s", err.message);
    fmo_molecule_destroy(m);
    fmo_xyz_close(xyz);
}

/* What stands in a second frame, behind a good one of three lines. */
static const text_case bad_frames[] = {
    {"no number", "He 0 0 1\n", "frame 1: line 4: more atoms than the 1 of line 1"},
    {"words", "1 2\n\nHe 0 0 1\n", "frame 1: line 4: more atoms than the 1 of line 1"},
    {"none", "0\n\n", "frame 2: line 4: 0 atoms"},
    {"cut", "2\n\nHe 0 0 1\nH 0 0", "frame 2: line 7: 2 of 3 coordinates"},
    {"short", "2\na comment\nHe 0 0 1\n", "frame 2: ends after 1 of the 2 atoms of line 4 (line 5"},
    {"many", "46340\n\nHe 0 0 1\n", "frame 2: line 4: 46340 atoms do not fit"},
    {"comment", "1\n", "frame 2: ends after this frame's first line"},
    {"periodic", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n", "frame 2: line 5: periodic"},
    {"element", "1\n\nQq 0 0 0\n", "frame 2: line 6: 'Qq': not an element"},
    {"twice", "2\n\nHe 0 0 0\nHe 0 0 0\n", "frame 2: line 7: He is at the place of He in line 6"},
};

static void check_bad_frames(void)
{
    for (size_t i = 0; i < sizeof bad_frames / sizeof bad_frames[0]; i++) {
        char text[256];
        fmo_error err = {FMO_OK, ""};
        fmo_xyz *xyz = NULL;
        fmo_molecule *m = NULL;
        fmo_status status = FMO_OK;
        snprintf(text, sizeof text, "1\n\nHe 9 9 9\n%s", bad_frames[i].text);
        const char *path = put_file("bad.xyz", text, strlen(text));
        CHECK(fmo_xyz_open(path, &xyz, &err) == FMO_OK, "%s", err.message);
        for (int k = 0; k < 2 && status == FMO_OK; k++) {
            status = fmo_xyz_next(xyz, &m, &err);
            fmo_molecule_destroy(m);
        }
        CHECK(status == FMO_ERR_INPUT, "%s: taken", bad_frames[i].name);
        check_message(bad_frames[i].name, &err, FMO_ERR_INPUT, path, bad_frames[i].expect);
        CHECK(fmo_xyz_next(xyz, &m, NULL) == FMO_OK && !m, "%s: goes on", bad_frames[i].name);
        fmo_xyz_close(xyz);
    }
}

int main(void)
{
    unsetenv("FMO_BASIS_PATH");
    if (!mkdtemp(directory)) return 1;
    check_good_xyz();
    check_bad_xyz();
    check_frames();
    check_bad_frames();
    check_bad_sets();
    check_names();
    check_spellings();
    check_forms();
    check_normalised();
    check_created();
    check_formats();
    check_refused();
    check_zero_primitives();
    check_many_nuclei();
    check_locale();
    folder_remove(directory);
    return check_summary();
}
