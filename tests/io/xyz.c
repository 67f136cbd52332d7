/* Files in .xyz format with one molecule or several: what is read; everything that makes no sense
 * is refused in one line that names file, place and cure. */
#include "tests/io/text.h"

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
    {"QM9",
     "2\ngdb 0\t157.7\t1.2*^-6\nH\t 0.\t0\t0.*^-6\t-0.5\nH 0 0 7.4*^-1 1.2*^-6\n1341.3\t 1.*^3\n"
     "[H][H]\t[H][H]\t\nInChI=1S/H2/h1H\tInChI=1S/H2/h1H\n",
     "gdb 0?157.7?1.2*^-6"},
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
    {"rest", "1\n\nHe 0 0 0\n\nThe end.\n",
     "line 5: 'The ...' stands behind the 1 atoms of line 1"},
    {"QM9 by another comment", "1\nngdb 1\nHe 0 0 0\n1341.3\nHe\nInChI=1S/He\n",
     "line 4: '1341.3' stands behind"},
    {"half of QM9", "1\ngdb 1\nHe 0 0 0\n1341.3\nHe\n", "line 4: '1341.3' stands behind"},
    {"power", "1\n\nHe 1.2^-6 0 0\n", "line 3: x = '1.2^-6'"},
    {"no power", "1\n\nHe 1.2*^ 0 0\n", "line 3: x = '1.2*^'"},
    {"frames", "1\n\nHe 0 0 0\n1\n\nHe 0 0 1\n", "line 4: another molecule begins"},
    {"gap", "2\n\nH 0 0 0\n\nH 0 0 1\n", "line 4: is empty; expected element"},
    {"unknown", "1\n\nQq 0 0 0\n", "line 3: 'Qq': not an element"},
    {"dummy", "1\n\nX 0 0 0\n", "line 3: 'X': a ghost atom without an element"},
    {"ghost", "1\n\nGh 0 0 0\n", "line 3: 'Gh': a ghost atom without an element"},
    {"ghosts alone", "1\n\nGh(H) 0 0 0\n", "line 1: all 1 atoms are ghost atoms"},
    {"ghost of nothing", "1\n\nGh(Qq) 0 0 0\n", "line 3: 'Gh(Qq)': not an element"},
    {"dummy element", "1\n\nXO 0 0 0\n", "line 3: 'XO': not an element"},
    {"unit", "1\nunit=au\nHe 0 0 0\n", "line 2: unit= 'au': expected bohr or angstrom"},
    {"nm", "1\nunits: 'nm'\nHe 0 0 0\n", "line 2: unit= 'nm': expected bohr or angstrom"},
    {"far in bohr", "1\nunit=bohr\nHe 1e6 0 0\n", "x = 1e+06: expected at most 9.4e+05 bohr"},
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
    {"charge", "1\ncharge=0.5\nHe 0 0 0\n",
     "line 2: charge= '0.5': expected a whole number from -100000 to 100000; correct"},
    {"blank", "1\ncharge = 0.5\nHe 0 0 0\n", "line 2: charge= '0.5'"},
    {"total charge", "1\n'total_charge'= 1e300\nHe 0 0 0\n", "line 2: total_charge= '1e300'"},
    {"list", "1\ncharge=[2, -2]\nHe 0 0 0\n", "line 2: charge= '[2': expected"},
    {"list in quotes", "1\ncharge=\"2 0 0\"\nHe 0 0 0\n", "line 2: charge= '2 0 0'"},
    {"comma", "1\ncharge=2,5\nHe 0 0 0\n", "line 2: charge= '2'"},
    {"word", "1\ncharge=x\nHe 0 0 0\n",
     "line 2: charge= 'x': expected a whole number from -100000 to 100000; correct the comment"},
    {"word in quotes", "1\nE=-2 'total_charge' = \"plus two\"\nHe 0 0 0\n",
     "line 2: total_charge= 'plus two': expected"},
    {"word and number", "1\ncharge=none charge=x2 charge=1\nHe 0 0 0\n", "line 2: charge= 'x2'"},
    {"word and key", "1\ncharge=x=2\nHe 0 0 0\n", "line 2: charge= 'x=2'"},
    {"word of a multiplicity", "1\nmultiplicity=triplet\nHe 0 0 0\n",
     "line 2: multiplicity= 'triplet': expected a whole number from 1 to 100000"},
    {"minus sign", "1\ncharge=\xE2\x88\x92 2\nHe 0 0 0\n", "line 2: charge= "},
    {"unit", "1\ncharge=-2e\nHe 0 0 0\n", "line 2: charge= '-2e'"},
    {"twice a charge", "1\ncharge=0 total_charge=2\nHe 0 0 0\n", "line 2: charge= is 0 and 2"},
    {"large charge", "1\ncharge=100001\nHe 0 0 0\n", "line 2: charge= '100001'"},
    {"multiplicity", "1\ncharge=0 multiplicity=0\nHe 0 0 0\n", "line 2: multiplicity= '0'"},
    {"order", "1\nProperties=pos:R:3:species:S:1\n0 0 0 He\n", "line 2: Properties="},
    {"UTF-8", "1\n\n\xC3\xA9 0 0 0\n", "line 3: '?\?': not an element"},
    {"control", "1\n\n\x1b[2J 0 0 0\n", "line 3: '?[2J'"},
};

/* A comment of two whole numbers, as Psi4 writes it, beside sulfate. */
static void check_pairs(void)
{
    static const struct {
        const char *comment;
        int charge, multiplicity, notice;
    } say[] = {{"-2 1", -2, 1, 0},
               {" -2\t1 \r", -2, 1, 0},
               {"0 1", 0, 1, 0},
               {"0 3", 0, 3, 0},
               {"-1 2", -1, 2, 0},
               {"+2 1", 2, 1, 0},
               {"-2 2", 0, 0, 1},
               {"-1 1", 0, 0, 1},
               {"0 0", 0, 0, 1},
               {"0 -1", 0, 0, 1},
               {"48 3", 0, 0, 1},
               {"100 1", 0, 0, 1},
               {"-2 1 0", 0, 0, 0},
               {"-2", 0, 0, 0},
               {"-2 1.0", 0, 0, 0},
               {"-2, 1", 0, 0, 0},
               {"-2 1 charge=-1", -1, 0, 0},
               {"", 0, 0, 0}};
    for (size_t k = 0; k < sizeof say / sizeof say[0]; k++) {
        char text[256];
        fmo_error err = {FMO_OK, ""};
        fmo_molecule *mol = NULL;
        snprintf(text, sizeof text,
                 "5\n%s\nS 0 0 0\nO 0.86 0.86 0.86\nO -0.86 -0.86 0.86\nO -0.86 0.86 -0.86\n"
                 "O 0.86 -0.86 -0.86\n",
                 say[k].comment);
        const char *path = put_file("pair.xyz", text, strlen(text));
        CHECK(fmo_molecule_read_xyz(path, &mol, &err) == FMO_OK, "%s: %s", text, err.message);
        CHECK(mol && mol->charge == say[k].charge && mol->multiplicity == say[k].multiplicity &&
                  (strstr(mol->notice, "taken as a title and the charge as 0") != NULL) ==
                      say[k].notice,
              "'%s': charge %d, multiplicity %d, notice '%s'", say[k].comment,
              mol ? mol->charge : -99, mol ? mol->multiplicity : -99, mol ? mol->notice : "");
        fmo_molecule_destroy(mol);
    }
}

/* What comments say of charge and multiplicity. */
static void check_states(void)
{
    static const struct {
        const char *comment;
        int charge, multiplicity;
    } say[] = {{"charge=-1 multiplicity=2", -1, 2},
               {"Properties=species:S:1:pos:R:3 total_charge=\"+2\" pbc=\"F F F\"", 2, 0},
               {"{\"charge\": 1.0, \"spin_multiplicity\": 1}", 1, 1},
               {"overcharge=3 recharge: 4 my_charge=5", 0, 0},
               {"charge: none, charge=2-", -2, 0},
               {"Properties=species:S:1:pos:R:3:charge:R:1 charge=+2.0 multiplicity=1", 2, 1},
               {"Mulliken charge: 0.31", 0, 0},
               {"Charge: -1, multiplicity: 1; charge=-1", -1, 1},
               {"charge= charge='1'", 1, 0},
               {"charge=nan multiplicity=None total_charge=\"\" spin_multiplicity= null", 0, 0},
               {"charge=NaN total_charge='N/A' energy=-2.8 total_charge= charge=2", 2, 0},
               {"charge= energy=-2.8 multiplicity=", 0, 0},
               {"charge: x, total_charge: 'high', Multiplicity: Singlet", 0, 0},
               {"charge=0 charge_a=x charges=\"0.1 x\" formal-charge=y charge_state=z", 0, 0},
               {"Properties=species:S:1:pos:R:3:charge:R:1 net charge", 0, 0},
               {"a charged thing", 0, 0}};
    for (size_t k = 0; k < sizeof say / sizeof say[0]; k++) {
        char text[256];
        fmo_error err = {FMO_OK, ""};
        fmo_molecule *mol = NULL;
        snprintf(text, sizeof text, "1\n%s\nHe 0 0 0\n", say[k].comment);
        const char *path = put_file("state.xyz", text, strlen(text));
        CHECK(fmo_molecule_read_xyz(path, &mol, &err) == FMO_OK, "%s: %s", text, err.message);
        CHECK(mol && mol->charge == say[k].charge && mol->multiplicity == say[k].multiplicity,
              "%s: charge %d, multiplicity %d", say[k].comment, mol ? mol->charge : -99,
              mol ? mol->multiplicity : -99);
        fmo_molecule_destroy(mol);
    }
}

static void check_good_xyz(void)
{
    for (size_t i = 0; i < sizeof good_xyz / sizeof good_xyz[0]; i++) {
        const text_case *c = &good_xyz[i];
        fmo_error err = {FMO_OK, ""};
        fmo_molecule *mol = NULL;
        const char *path = put_file("good.xyz", c->text, strlen(c->text));
        CHECK(fmo_molecule_read_xyz(path, &mol, &err) == FMO_OK, "%s: %s", c->name, err.message);
        if (!mol) continue;
        const double reference[] = {0, 0, 0, 0, 0, 0.74 / 0.52917721092};
        CHECK(mol->nucleus_num == 2 && mol->number[0] == 1 && mol->number[1] == 1, "%s: nuclei",
              c->name);
        check_close(c->name, mol->coord, reference, 6, 3, 0.0, 0.0);
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

/* Wrong .xyz files and paths are refused with a message that names the file. */
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

/* Several frames of a file are read one after the other, with their numbers and comments. */
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

/* The text of a second frame, after a valid one of three lines. */
static const text_case bad_frames[] = {
    {"no number", "He 0 0 1\n", "frame 1: line 4: more atoms than the 1 of line 1"},
    {"words", "1 2\n\nHe 0 0 1\n", "frame 2: line 4: '1 ...': expected the number of atoms alone"},
    {"none", "0\n\n", "frame 2: line 4: 0 atoms"},
    {"cut", "2\n\nHe 0 0 1\nH 0 0", "frame 2: line 7: 2 of 3 coordinates"},
    {"short", "2\na comment\nHe 0 0 1\n", "frame 2: ends after 1 of the 2 atoms of line 4 (line 5"},
    {"many", "46340\n\nHe 0 0 1\n", "frame 2: line 4: 46340 atoms do not fit"},
    {"comment", "1\n", "frame 2: ends after this frame's first line"},
    {"periodic", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nHe 0 0 0\n", "frame 2: line 5: periodic"},
    {"element", "1\n\nQq 0 0 0\n", "frame 2: line 6: 'Qq': not an element"},
    {"twice", "2\n\nHe 0 0 0\nHe 0 0 0\n", "frame 2: line 7: He is at the place of He in line 6"},
};

/* A wrong second frame is refused by its number, and nothing follows it. */
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

/* Frames behind one that cannot be read: "G" or "B" for each that the file has. */
static const struct {
    const char *name, *text, *frames;
} broken_files[] = {
    {"coordinate", "1\n\nHe 0 0 0\n1\n\nHe 0 zero 0\n1\n\nHe 0 0 0\n", "GBG"},
    {"first", "1\n\nQq 0 0 0\n1\n\nHe 0 0 0\n1\n\nHe 0 0 0\n", "BGG"},
    {"last", "1\n\nHe 0 0 0\n1\n\nQq 0 0 0\n", "GB"},
    {"two", "1\n\nHe 0 0 0\n1\n\nQq 0 0 0\n\n1\n\nQq 0 0 0\n1\n\nHe 0 0 0\n", "GBBG"},
    {"count too large", "2\na\nHe 0 0 0\n1\nb\nHe 0 0 0\n1\nc\nHe 0 0 0\n", "BGG"},
    {"count too small", "1\na\nHe 0 0 0\nH 0 0 9\n1\nb\nHe 0 0 0\n", "BG"},
    {"count too small, comment 1", "1\n1\nHe 0 0 0\nH 0 0 9\nH 0 9 9\n1\n1\nHe 0 0 0\n", "BG"},
    {"count no number", "1\n\nHe 0 0 0\nx1\n17\nHe 0 0 0\n1\n18\nHe 0 0 0\n", "GBG"},
    {"count missing", "1\n\nHe 0 0 0\na comment\nHe 0 0 0\n1\n\nHe 0 0 0\n", "GBG"},
    {"words between", "1\n\nHe 0 0 0\nThe end.\n1\n\nHe 0 0 0\n", "GBG"},
    {"absurd count", "1\n\nHe 0 0 0\n99999999\n\nHe 0 0 0\n1\n\nHe 0 0 0\n", "GBG"},
    {"no atoms", "0\n\n1\n\nHe 0 0 0\n", "BG"},
    {"no comment", "2\nHe 0 0 0\nHe 0 0 9\n1\n\nHe 0 0 0\n", "BG"},
    {"periodic", "1\npbc=\"T T T\"\nHe 0 0 0\n1\n\nHe 0 0 0\n", "BG"},
    {"one place", "2\n\nHe 0 0 0\nHe 0 0 0\n1\n\nHe 0 0 0\n", "BG"},
    {"charge", "1\ncharge=x.5 charge=0.5\nHe 0 0 0\n1\n\nHe 0 0 0\n", "BG"},
    {"QM9",
     "1\ngdb 1\nHe 0 0 0 0\n1.5\nHe He\nInChI=1S/He InChI=1S/He\n1\ngdb 2\nHe 0 0 0 "
     "0\n1.5\nHe He\nInChI=1S/He InChI=1S/He\n",
     "GG"},
    {"end", "1\n\nHe 0 0 0\nThe end.\n", "GB"},
    {"count that ends at a count", "4\na\nHe 0 0 0\n1\nb\nHe 0 0 0\n1\nc\nHe 0 0 0\n", "BGG"},
    {"two in a row", "2\na\nHe 0 0 0\n1\nb\nQq 0 0 0\n1\nc\nHe 0 0 0\n", "BBG"},
    {"count of 0", "1\n\nHe 0 0 0\n0\nnothing\n1\n\nHe 0 0 0\n", "GBG"},
    {"nan", "1\n\nHe 0 0 0\n1\n\nHe nan nan nan\n1\n\nHe 0 0 0\n", "GBG"},
    {"empty frames", "\n\n\n1\n\nHe 0 0 0\n\n\n\n1\n\nHe 0 0 0\n\n", "BGG"},
    {"CRLF", "1\r\n\r\nHe 0 0 0\r\n2\r\n\r\nHe 0 0 0\r\n1\r\n\r\nHe 0 0 0\r\n", "GBG"},
    {"minus", "-1\n\nHe 0 0 0\n1\n\nHe 0 0 0\n", "BG"},
    {"two byte order marks",
     "\xEF\xBB\xBF"
     "1\n\nHe 0 0 0\n\xEF\xBB\xBF"
     "1\n\nHe 0 0 0\n",
     "GG"},
    {"cut in an atom", "1\n\nHe 0 0 0\n2\n\nHe 0 0 0\nHe 0", "GB"},
    {"tail of binary", "1\n\nHe 0 0 0\n\x01\x02\x03\n", "GB"},
    {"counts alone", "5\n5\n5\n5\n5\n5\n5\n", "B"},
    {"ghosts", "2\n\nHe 0 0 0\nGh(He) 0 0 3\n2\n\nHe 0 0 0\nHe : 0 0 3\n", "GG"},
};

/* After a wrong frame the reader finds the next good one where it can. */
static void check_broken_files(void)
{
    for (size_t i = 0; i < sizeof broken_files / sizeof broken_files[0]; i++) {
        const char *const name = broken_files[i].name, *const expected = broken_files[i].frames;
        char found[16] = "";
        fmo_error err = {FMO_OK, ""};
        fmo_xyz *xyz = NULL;
        const char *path =
            put_file("broken.xyz", broken_files[i].text, strlen(broken_files[i].text));
        CHECK(fmo_xyz_open(path, &xyz, &err) == FMO_OK, "%s", err.message);
        for (int k = 1; k < (int)sizeof found; k++) {
            fmo_molecule *m = NULL;
            char frame[32];
            err = (fmo_error){FMO_OK, ""};
            const fmo_status status = fmo_xyz_next(xyz, &m, &err);
            snprintf(frame, sizeof frame, ": frame %d: ", k);
            if (status == FMO_OK && !m) break;
            found[k - 1] = status == FMO_OK ? 'G' : 'B';
            CHECK(m ? m->frame == k : strstr(err.message, frame) != NULL, "%s, frame %d: %d, %s",
                  name, k, m ? m->frame : 0, err.message);
            fmo_molecule_destroy(m);
        }
        CHECK(strcmp(found, expected) == 0, "%s: %s, not %s", name, found, expected);
        fmo_xyz_close(xyz);
    }
}

/* The spellings of ghost atoms that other programs use. */
static void check_ghosts(void)
{
    static const char *const names[] = {
        "Gh(O)",  "GH(o1)",   "@O",  "@O2", "ghost-O", "GHOST:O", "ghost.O", "ghost_O",
        "ghostO", "Ghost(O)", "X-O", "x:O", "X_O1",    "O-Bq",    "o-bq",    "BqO",
        "bq-O",   "bq:8",     "O:",  "O :", "O_ghost", "O-Gh",    "gh:O",    "@8"};
    static const char *const nuclei[] = {"O", "O1", "Xe", "Bk",
                                         "Og"}; /* that could look like one */
    char text[256];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        fmo_error err = {FMO_OK, ""};
        snprintf(text, sizeof text, "2\n\nHe 0 0 0\n%s 0 0 3\n", names[k]);
        fmo_molecule *mol = NULL;
        CHECK(fmo_molecule_read_xyz(put_file("ghost.xyz", text, strlen(text)), &mol, &err) ==
                  FMO_OK,
              "%s: %s", names[k], err.message);
        CHECK(mol && mol->number[1] == 8 && mol->ghost && mol->ghost[1] && !mol->ghost[0], "%s",
              names[k]);
        fmo_molecule_destroy(mol);
    }
    for (size_t k = 0; k < sizeof nuclei / sizeof *nuclei; k++) {
        fmo_molecule *mol = NULL;
        snprintf(text, sizeof text, "1\n\n%s 0 0 3\n", nuclei[k]);
        CHECK(fmo_molecule_read_xyz(put_file("no.xyz", text, strlen(text)), &mol, NULL) == FMO_OK &&
                  mol && !mol->ghost,
              "%s", nuclei[k]);
        fmo_molecule_destroy(mol);
    }
    /* functions without charge and electrons */
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *with = create("2\n\nHe 0 0 0\nGh(O) 0 0 3\n", "6-31g", 0, &err);
    CHECK(with && fmo_dataset_electron_num(with) == 2 &&
              fmo_dataset_basis_input(with)->ao_num == 11,
          "%s", err.message);
    CHECK(fmo_dataset_basis_input(with)->nucleus_charge[1] == 0.0 &&
              fmo_dataset_nucleus_number(with, 1) == 8 &&
              strcmp(fmo_dataset_formula(with), "He") == 0,
          "charge %g", fmo_dataset_basis_input(with)->nucleus_charge[1]);
    fmo_dataset_destroy(with);
}

/* The unit is that of the caller, else of the comment, else angstrom. */
static void check_units(void)
{
    static const struct {
        const char *comment;
        fmo_unit unit;
        int bohr;
    } say[] = {{"", FMO_UNIT_FILE, 0},
               {"unit=bohr", FMO_UNIT_FILE, 1},
               {"units: \"Bohr\", charge=0", FMO_UNIT_FILE, 1},
               {"energy=-3 unit=angstrom", FMO_UNIT_FILE, 0},
               {"energy unit: eV", FMO_UNIT_FILE, 0},
               {"runit=bohr bohr", FMO_UNIT_FILE, 0},
               {"unit=bohr", FMO_UNIT_ANGSTROM, 0},
               {"unit=au", FMO_UNIT_BOHR, 1},
               {"", FMO_UNIT_BOHR, 1}};
    for (size_t k = 0; k < sizeof say / sizeof say[0]; k++) {
        char text[128];
        fmo_error err = {FMO_OK, ""};
        fmo_molecule *mol = NULL;
        snprintf(text, sizeof text, "1\n%s\nHe 0 0 3\n", say[k].comment);
        const char *path = put_file("unit.xyz", text, strlen(text));
        CHECK(fmo_molecule_read_xyz_in(path, say[k].unit, &mol, &err) == FMO_OK, "%s", err.message);
        CHECK(mol && mol->coord[2] == (say[k].bohr ? 3.0 : 3.0 / FMO_BOHR_IN_ANGSTROM), "%s: %g",
              say[k].comment, mol ? mol->coord[2] : NAN);
        CHECK(mol && strcmp(mol->title, say[k].comment) == 0, "%s: title", say[k].comment);
        fmo_molecule_destroy(mol);
    }
    fmo_molecule *mol = NULL;
    CHECK(fmo_molecule_read_xyz_in("x", FMO_UNIT_COUNT, &mol, NULL) == FMO_ERR_ARGUMENT, "unit");
}

/* Compressed files name the program that unpacks them; messages name the lines that are skipped. */
static void check_skipped(void)
{
    static const char broken[] = "1\n\nHe 0 0 0\n9\nb\nHe 0 0 0\n1\n\nHe 0 0 0\n";
    fmo_error err = {FMO_OK, ""};
    fmo_xyz *xyz = NULL;
    fmo_molecule *m = NULL;
    refuse_xyz("gzip", "\x1f\x8b\x08\0\0\0", 6, "is compressed; unpack it first (gunzip)");
    refuse_xyz("zstd", "\x28\xb5\x2f\xfd\0\0", 6, "is compressed; unpack it first (unzstd)");
    CHECK(fmo_xyz_open(put_file("skip.xyz", broken, strlen(broken)), &xyz, &err) == FMO_OK, "%s",
          err.message);
    CHECK(fmo_xyz_next(xyz, &m, &err) == FMO_OK && m, "%s", err.message);
    fmo_molecule_destroy(m);
    CHECK(fmo_xyz_next(xyz, &m, &err) == FMO_ERR_INPUT, "taken");
    CHECK(strstr(err.message, "(lines 4 to 6 are skipped)") != NULL, "%s", err.message);
    CHECK(fmo_xyz_next(xyz, &m, &err) == FMO_OK && m && m->frame == 3, "frame 3");
    fmo_molecule_destroy(m);
    fmo_xyz_close(xyz);
}

/* Numbers have a decimal point in every locale. */
static void check_locale(void)
{
    if (!comma_locale()) return;
    check_good_xyz();
    check_states();
    setlocale(LC_ALL, "C");
}

int main(void)
{
    if (!mkdtemp(directory)) return 1;
    check_good_xyz();
    check_pairs();
    check_states();
    check_bad_xyz();
    check_frames();
    check_bad_frames();
    check_broken_files();
    check_ghosts();
    check_units();
    check_skipped();
    check_locale();
    folder_remove(directory);
    return check_summary();
}
