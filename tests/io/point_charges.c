/* Files of point charges: what is read, in which unit; everything that makes no sense is refused in
 * one line that names file, line and cure. */
#include "tests/io/text.h"

/* All of them are two charges, 0.5 at (0, 0, 1) and -0.25 at (-2, 0, 0), in angstrom or bohr. */
static const struct {
    const char *name, *text;
    int bohr;
} good[] = {
    {"plain", "0.5 0 0 1\n-0.25 -2 0 0\n", 0},
    {"no newline", "0.5 0 0 1\n-0.25 -2 0 0", 0},
    {"blank lines", "\n\t0.5\t0 0  1 \r\n\n  -.25 -2.0 0 0\n\n", 0},
    {"comments", "# two charges\n0.5 0 0 1 # the first\n#-0.25 1 1 1\n-2.5d-1 -2 0 0\n", 0},
    {"byte order",
     "\xEF\xBB\xBF"
     "0.5 0 0 1\n-0.25 -2 0 0\n",
     0},
    {"unit", "# unit=bohr\n0.5 0 0 1\n-0.25 -2 0 0\n", 1},
    {"unit behind", "0.5 0 0 1\n-0.25 -2 0 0 # units: 'Bohr'\n", 1},
    {"no unit", "# unit=e\n0.5 0 0 1\n-0.25 -2 0 0\n", 0},
    {"ORCA", "2\n0.5 0 0 1\n-0.25 -2 0 0\n", 0},
    {"xyz", "2\ncharges of a water\n0.5 0 0 1\n-0.25 -2 0 0\n", 0},
    {"xyz in bohr", "2\nq 1.0 unit=bohr\n0.5 0 0 1\n-0.25 -2 0 0\n", 1},
    {"xyz blank", "# head\n\n 2 # of them\n\n0.5 0 0 1\n-0.25 -2 0 0\n", 0},
};

static const text_case bad[] = {
    {"empty", "\n# nothing\n\n", "has no charges; write lines"},
    {"none", "0\nno charges\n", "has no charges; write lines"},
    {"three", "0.5 0 0\n", "line 1: 3 of 4 numbers; expected charge, x, y, z"},
    {"five", "0.5 0 0 1\n\n0.5 1 1 1 H\n", "line 3: 'H' stands behind charge, x, y, z; remove"},
    {"element", "H 0 0 1\n", "line 1: charge = 'H': expected a finite number"},
    {"word", "0.5 0 zero 1\n", "line 1: y = 'zero': expected a finite number"},
    {"nan", "nan 0 0 1\n", "line 1: charge = 'nan'"},
    {"inf", "0.5 0 0 inf\n", "line 1: z = 'inf'"},
    {"large", "# q\n2e5 0 0 1\n", "line 2: charge = 200000: expected at most 100000 e"},
    {"far", "0.5 0 0 1\n0.5 0 1e6 0\n", "line 2: y: a coordinate beyond 940000 bohr; move"},
    {"few", "3\n0.5 0 0 1\n-0.25 -2 0 0\n", "line 1: 3 charges, but 2 follow; correct"},
    {"many", "\n1\nthe title\n0.5 0 0 1\n-0.25 -2 0 0\n",
     "line 2: 1 charges, but 2 follow (line 3 was taken as a comment); correct"},
    {"number in a comment", "2\n1 2 3 4\n0.5 0 0 1\n-0.25 -2 0 0\n",
     "line 1: 2 charges, but 3 follow; correct"},
    {"first typed wrong", "2\n0.5 O 0 1\n-0.25 -2 0 0\n",
     "line 1: 2 charges, but 1 follow (line 2 was taken as a comment)"},
    {"two titles", "2\nwater\nO H\n", "line 3: charge = 'O'"},
    {"real number", "2.0\n0.5 0 0 1\n-0.25 -2 0 0\n", "line 1: 1 of 4 numbers"},
    {"number later", "0.5 0 0 1\n1\n", "line 2: 1 of 4 numbers"},
    {"nm", "# unit=nm\n0.5 0 0 1\n", "line 1: unit= 'nm': expected bohr or angstrom"},
};

static void check_good(void)
{
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        const char *const path = put_file("good.txt", good[k].text, strlen(good[k].text));
        for (int unit = 0; unit < FMO_UNIT_COUNT; unit++) {
            fmo_error err = {FMO_OK, ""};
            fmo_point_charges *c = NULL;
            CHECK(fmo_point_charges_read(path, (fmo_unit)unit, &c, &err) == FMO_OK, "%s: %s",
                  good[k].name, err.message);
            if (!c) continue;
            const int bohr = unit == FMO_UNIT_FILE ? good[k].bohr : unit == FMO_UNIT_BOHR;
            const double scale = bohr ? 1.0 : 1.0 / FMO_BOHR_IN_ANGSTROM;
            const double charge[] = {0.5, -0.25}, coord[] = {0, 0, scale, -2 * scale, 0, 0};
            CHECK(c->num == 2 && c->line[0] < c->line[1], "%s: %zu charges", good[k].name, c->num);
            CHECK((int)c->unit == (bohr ? FMO_UNIT_BOHR : FMO_UNIT_ANGSTROM), "%s: unit",
                  good[k].name);
            check_close(good[k].name, c->charge, charge, 2, 2, 0.0, 0.0);
            check_close(good[k].name, c->coord, coord, 6, 3, 1e-14, 0.0);
            fmo_point_charges_destroy(c);
        }
    }
}

static void check_bad(void)
{
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *const path = put_file("bad.txt", bad[k].text, strlen(bad[k].text));
        fmo_error err = {FMO_OK, ""};
        fmo_point_charges *c = (fmo_point_charges *)&err;
        CHECK(fmo_point_charges_read(path, FMO_UNIT_FILE, &c, &err) == FMO_ERR_INPUT && !c,
              "%s: read", bad[k].name);
        check_message(bad[k].name, &err, FMO_ERR_INPUT, path, bad[k].expect);
    }
    fmo_error err = {FMO_OK, ""};
    fmo_point_charges *c = NULL;
    CHECK(fmo_point_charges_read("", FMO_UNIT_FILE, &c, &err) == FMO_ERR_INPUT, "no path");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_point_charges_read("x", FMO_UNIT_COUNT, &c, &err) == FMO_ERR_ARGUMENT, "no unit");
}

/* More charges than the first arrays hold. */
static void check_many(void)
{
    enum { MANY = 1000, BYTES = 32 * MANY };
    char *const text = calloc(1, BYTES);
    size_t used = 0;
    for (int k = 0; text && k < MANY; k++)
        used += (size_t)snprintf(text + used, BYTES - used, "%d 0 0 %d\n", k, -k);
    fmo_error err = {FMO_OK, ""};
    fmo_point_charges *c = NULL;
    CHECK(fmo_point_charges_read(put_file("many.txt", text, used), FMO_UNIT_BOHR, &c, &err) ==
              FMO_OK,
          "%s", err.message);
    for (int k = 0; c && k < MANY; k++)
        CHECK(c->charge[k] == k && c->coord[3 * k + 2] == -k && c->line[k] == k + 1, "%d", k);
    fmo_point_charges_destroy(c);
    free(text);
}

int main(void)
{
    if (!mkdtemp(directory)) return 1;
    check_good();
    check_bad();
    check_many();
    folder_remove(directory);
    return check_summary();
}
