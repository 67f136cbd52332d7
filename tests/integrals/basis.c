/* fmo_basis_create: refused input and its messages, orders of shells and functions that it accepts,
 * what it copies. Reordering is checked by the overlap matrix. */
#include <fmo/one_electron.h>
#include "integrals/basis_internal.h"

#include <limits.h>

#include "tests/support/calls.h"
#include "tests/support/system.h"

/* A molecule in whose arrays the cases below make one element wrong. Shells: 0 s on 0 (2
 * primitives), 1 p on 0 (1), 2 s on 1 (1), 3 p on 1 (2). */
typedef struct molecule {
    double charge[2], coord[6], exponent[6], coefficient[6], ao_factor[8];
    int nucleus[4], ang_mom[4], prim_shell[6], ao_shell[8], ao_component[8];
    fmo_basis_input in;
} molecule;

/* Sets m to a valid molecule of two nuclei with two s and two p shells, which the checks then
 * change. */
static void molecule_set(molecule *m)
{
    static const molecule start = {{6.0, 1.0},
                                   {0.1, -0.2, 0.3, 1.0, 0.4, -1.5},
                                   {3.0, 0.5, 0.8, 0.3, 2.0, 0.4},
                                   {0.4, 0.6, 1.0, 1.0, 0.7, 0.5},
                                   {1, 1, 1, 1, 1, 1, 1, 1},
                                   {0, 0, 1, 1},
                                   {0, 1, 0, 1},
                                   {0, 0, 1, 2, 3, 3},
                                   {0, 1, 1, 1, 2, 3, 3, 3},
                                   {0, 0, 1, 2, 0, 0, 1, 2},
                                   {0}};
    *m = start;
    m->in = (fmo_basis_input){2,
                              m->charge,
                              m->coord,
                              4,
                              m->nucleus,
                              m->ang_mom,
                              6,
                              m->prim_shell,
                              m->exponent,
                              m->coefficient,
                              8,
                              m->ao_shell,
                              m->ao_component,
                              m->ao_factor,
                              0};
}

/* The input is refused with this status and these words. */
static void refused(const molecule *m, fmo_status expected, const char *words)
{
    fmo_error err;
    fmo_basis *basis = (fmo_basis *)&err; /* must become NULL */
    CHECK_REFUSED(fmo_basis_create(&m->in, &basis, &err), &err, expected, words);
    CHECK(!basis, "a basis in spite of \"%s\"", words);
    basis = (fmo_basis *)&err;
    CHECK(fmo_basis_create(&m->in, &basis, NULL) == expected && !basis, "without err: %s", words);
}

#define REFUSED(change, status, fragment) \
    do {                                  \
        molecule m;                       \
        molecule_set(&m);                 \
        change;                           \
        refused(&m, status, fragment);    \
    } while (0)
#define BAD_INPUT(change, fragment) REFUSED(change, FMO_ERR_INPUT, fragment)
#define BAD_ARRAY(field) \
    REFUSED(m.in.field = NULL, FMO_ERR_ARGUMENT, "fmo_basis_create: input->" #field " is NULL")

/* NULL and wrong sizes are refused with a message that names the field, the value and what is
 * expected. */
static void check_refused_sizes(void)
{
    molecule good;
    fmo_error err = {FMO_OK, ""};
    fmo_basis *basis = NULL;
    molecule_set(&good);
    CHECK_REFUSED(fmo_basis_create(NULL, &basis, &err), &err, FMO_ERR_ARGUMENT,
                  "fmo_basis_create: input is NULL");
    CHECK(!basis, "basis in spite of the error");
    CHECK(fmo_basis_create(&good.in, NULL, NULL) == FMO_ERR_ARGUMENT, "NULL output");

    BAD_INPUT(m.in.nucleus_num = 0, "nucleus/num = 0: at least one nucleus");
    BAD_INPUT(m.in.nucleus_num = INT_MIN, "nucleus/num = -2147483648");
    BAD_INPUT(m.in.shell_num = 0, "basis/shell_num = 0: expected 1 to");
    BAD_INPUT(m.in.shell_num = -1, "basis/shell_num = -1: expected 1 to");
    BAD_INPUT(m.in.shell_num = 46341, "basis/shell_num = 46341: expected 1 to 46340");
    BAD_INPUT(m.in.shell_num = INT_MAX, "basis/shell_num = 2147483647");
    BAD_INPUT(m.in.prim_num = 3, "basis/prim_num = 3: fewer primitives than the 4 shells");
    BAD_INPUT(m.in.ao_num = 0, "ao/num = 0: at least one function");
    BAD_INPUT(m.in.ao_num = 7, "ao/num = 7: the 2 s and 2 p shells have 8 functions");
    BAD_ARRAY(nucleus_charge);
    BAD_ARRAY(nucleus_coord);
    BAD_ARRAY(shell_nucleus);
    BAD_ARRAY(shell_ang_mom);
    BAD_ARRAY(prim_shell);
    BAD_ARRAY(prim_exponent);
    BAD_ARRAY(prim_coefficient);
    BAD_ARRAY(ao_shell);
    BAD_ARRAY(ao_component);
    BAD_ARRAY(ao_factor);
}

/* The same for every kind of wrong element of an array; the first error is kept. */
static void check_refusals(void)
{
    molecule good;
    fmo_basis *basis = NULL;
    BAD_INPUT(m.charge[1] = NAN, "nucleus/charge[1] = nan: not finite");
    BAD_INPUT(m.charge[0] = INFINITY, "nucleus/charge[0] = inf: not finite");
    BAD_INPUT(m.coord[3] = NAN, "nucleus/coord[1][0] = nan");
    BAD_INPUT(m.coord[5] = -INFINITY, "nucleus/coord[1][2] = -inf");
    BAD_INPUT(m.coord[1] = 1.1e6, "nucleus/coord[0][1] = 1.1e+06: expected a finite coordinate");
    BAD_INPUT(m.nucleus[2] = 2, "basis/nucleus_index[2] = 2: expected 0 to 1");
    BAD_INPUT(m.nucleus[2] = -1, "basis/nucleus_index[2] = -1: expected 0 to 1");
    BAD_INPUT(m.ang_mom[1] = 5,
              "basis/shell_ang_mom[1] = 5 (h): this build supports s, p, d, f and g");
    BAD_INPUT(m.ang_mom[1] = 3,
              "ao/num = 8: the 2 s, 1 p and 1 f shells have 12 spherical functions");
    BAD_INPUT(m.ang_mom[1] = 2,
              "ao/num = 8: the 2 s, 1 p and 1 d shells have 10 spherical functions");
    BAD_INPUT((m.ang_mom[1] = 2, m.in.cartesian = 1),
              "ao/num = 8: the 2 s, 1 p and 1 d shells have 11 Cartesian functions");
    BAD_INPUT(m.ang_mom[1] = 7, "basis/shell_ang_mom[1] = 7 (k)");
    BAD_INPUT(m.ang_mom[3] = 8,
              "basis/shell_ang_mom[3] = 8: expected 0 (s), 1 (p), 2 (d), 3 (f) or 4 (g)");
    BAD_INPUT(m.ang_mom[3] = -1,
              "basis/shell_ang_mom[3] = -1: expected 0 (s), 1 (p), 2 (d), 3 (f) or 4 (g)");
    BAD_INPUT(m.ang_mom[3] = INT_MAX, "basis/shell_ang_mom[3] = 2147483647");
    BAD_INPUT(m.prim_shell[4] = 4, "basis/shell_index[4] = 4: expected 0 to 3");
    BAD_INPUT(m.prim_shell[4] = -2, "basis/shell_index[4] = -2: expected 0 to 3");
    BAD_INPUT(m.prim_shell[2] = 0, "shell 1 has no primitive with a coefficient other than 0");
    BAD_INPUT(m.coefficient[3] = 0.0, "shell 2 has no primitive with a coefficient other than 0");
    BAD_INPUT(m.exponent[2] = 0.0, "basis/exponent[2] = 0: expected a positive exponent");
    BAD_INPUT(m.exponent[2] = -0.8, "basis/exponent[2] = -0.8: expected a positive exponent");
    BAD_INPUT(m.exponent[2] = NAN, "basis/exponent[2] = nan");
    BAD_INPUT(m.exponent[2] = INFINITY, "basis/exponent[2] = inf");
    BAD_INPUT(m.exponent[2] = 1e-11, "between 1e-10 and 1e12");
    BAD_INPUT(m.coefficient[5] = NAN, "basis/coefficient[5] with its factors = nan");
    BAD_INPUT(m.coefficient[5] = -1e101, "basis/coefficient[5] with its factors = -1e+101");
    BAD_INPUT(m.ao_shell[6] = 4, "ao/shell[6] = 4: expected 0 to 3");
    BAD_INPUT(m.ao_shell[6] = -1, "ao/shell[6] = -1: expected 0 to 3");
    BAD_INPUT(m.ao_component[0] = 1, "component 1 of function 0: expected 0 to 0");
    BAD_INPUT(m.ao_component[7] = 3, "component 3 of function 7: expected 0 to 2");
    BAD_INPUT(m.ao_component[7] = -1, "component -1 of function 7: expected 0 to 2");
    BAD_INPUT(m.ao_component[7] = 1, "functions 6 and 7 are the same function of shell 3");
    BAD_INPUT((m.ao_shell[4] = 0), "functions 0 and 4 are the same function of shell 0");
    BAD_INPUT(m.ao_factor[3] = 0.0, "ao/normalization[3] = 0: expected a finite number other than");
    BAD_INPUT(m.ao_factor[3] = NAN, "ao/normalization[3] = nan");
    BAD_INPUT(m.ao_factor[3] = INFINITY, "ao/normalization[3] = inf");

    /* The first error is the one that is kept. */
    fmo_error first = {FMO_OK, ""};
    molecule_set(&good);
    good.exponent[0] = -1.0;
    fmo_basis_create(&good.in, &basis, &first);
    good.in.shell_num = 0;
    fmo_basis_create(&good.in, &basis, &first);
    CHECK(strstr(first.message, "exponent[0]"), "the first message was lost: %s", first.message);
}

/* The functions that describe a basis return the right numbers, and zero for NULL. */
static void check_queries(void)
{
    molecule m;
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    molecule_set(&m);
    CHECK(fmo_basis_create(&m.in, &basis, &err) == FMO_OK, "%s", err.message);
    CHECK(err.status == FMO_OK && !*err.message, "err written on success");
    CHECK(fmo_basis_ao_num(basis) == 8, "%d functions", fmo_basis_ao_num(basis));
    CHECK(fmo_basis_nucleus_num(basis) == 2, "%d nuclei", fmo_basis_nucleus_num(basis));
    CHECK(fmo_basis_prim_num(basis) == 6, "%d primitives", fmo_basis_prim_num(basis));
    CHECK(fmo_basis_shell_num(basis, 0) == 2 && fmo_basis_shell_num(basis, 1) == 2, "shells");
    CHECK(fmo_basis_shell_num(basis, 2) == 0 && fmo_basis_shell_num(basis, -1) == 0, "d shells");
    fmo_basis_destroy(basis);

    fmo_basis_destroy(NULL);
    CHECK(fmo_basis_ao_num(NULL) == 0 && fmo_basis_nucleus_num(NULL) == 0 &&
              fmo_basis_prim_num(NULL) == 0 && fmo_basis_shell_num(NULL, 0) == 0 &&
              fmo_basis_nuclear_repulsion(NULL) == 0.0,
          "NULL basis");
}

/* The nuclear repulsion is right for two and three nuclei, infinite for coincident ones, and zero
 * for a ghost on a nucleus. */
static void check_repulsion(void)
{
    molecule m;
    fmo_basis *basis = NULL;
    molecule_set(&m);
    if (fmo_basis_create(&m.in, &basis, NULL) == FMO_OK) {
        const double expected = 6.0 / sqrt(0.9 * 0.9 + 0.6 * 0.6 + 1.8 * 1.8);
        CHECK(fabs(fmo_basis_nuclear_repulsion(basis) - expected) < 1e-14, "%.17g, expected %.17g",
              fmo_basis_nuclear_repulsion(basis), expected);
        fmo_basis_destroy(basis);
    }
    memcpy(m.coord + 3, m.coord, 3 * sizeof *m.coord);
    if (fmo_basis_create(&m.in, &basis, NULL) == FMO_OK) {
        CHECK(isinf(fmo_basis_nuclear_repulsion(basis)), "coincident nuclei: %g",
              fmo_basis_nuclear_repulsion(basis));
        fmo_basis_destroy(basis);
    }
    m.charge[1] = 0.0; /* a ghost atom on a nucleus contributes nothing */
    if (fmo_basis_create(&m.in, &basis, NULL) == FMO_OK) {
        CHECK(fmo_basis_nuclear_repulsion(basis) == 0.0, "ghost: %g",
              fmo_basis_nuclear_repulsion(basis));
        fmo_basis_destroy(basis);
    }
    /* three nuclei, with a negative charge among them */
    double charge[3] = {1.0, -2.0, 3.0}, coord[9] = {0, 0, 0, 2, 0, 0, 0, 0, 4};
    m.in.nucleus_num = 3;
    m.in.nucleus_charge = charge;
    m.in.nucleus_coord = coord;
    if (fmo_basis_create(&m.in, &basis, NULL) == FMO_OK) {
        const double expected = -1.0 + 0.75 - 6.0 / sqrt(20.0);
        CHECK(fabs(fmo_basis_nuclear_repulsion(basis) - expected) < 1e-14, "%.17g, expected %.17g",
              fmo_basis_nuclear_repulsion(basis), expected);
        fmo_basis_destroy(basis);
    }
}

static int overlap(const fmo_basis_input *in, double *S)
{
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_status status = fmo_basis_create(in, &basis, &err);
    if (status == FMO_OK) status = fmo_overlap(basis, S, &err);
    fmo_basis_destroy(basis);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

static void permutation(int n, int *p, unsigned long long *seed)
{
    for (int i = 0; i < n; i++) p[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)(check_random(seed) * (i + 1)), t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
}

/* The same basis with nuclei, shells, primitives and functions in random orders, and with zero
 * coefficients added: the overlap follows the functions. */
static void check_orders(void)
{
    enum { SHELLS = 7, AOS = 15 };
    static test_system s;
    unsigned long long seed = 7;
    double S[AOS * AOS], expected[AOS * AOS], got[AOS * AOS];
    system_random(&s, 3, SHELLS - 4, 4, 4, 3.0, &seed);
    system_shuffle_functions(&s, &seed);
    const fmo_basis_input in = {s.nuclei,  s.charge,   s.coord,        s.shells,    s.nucleus,
                                s.ang_mom, s.prims,    s.prim_shell,   s.exponent,  s.coefficient,
                                s.aos,     s.ao_shell, s.ao_component, s.ao_factor, 0};
    CHECK(s.shells == SHELLS && s.aos == AOS, "%d shells, %d functions", s.shells, s.aos);
    if (!overlap(&in, S)) return;
    for (int turn = 0; turn < 20; turn++) {
        static test_system t;
        int nucleus[3], shell[SHELLS], prim[SHELLS * SYSTEM_DEPTH_MAX], ao[AOS];
        memset(&t, 0, sizeof t);
        permutation(3, nucleus, &seed); /* old -> new */
        permutation(SHELLS, shell, &seed);
        permutation(s.prims, prim, &seed);
        permutation(AOS, ao, &seed);
        for (int i = 0; i < 3; i++) {
            t.charge[nucleus[i]] = s.charge[i];
            memcpy(t.coord + 3 * nucleus[i], s.coord + 3 * i, 3 * sizeof *s.coord);
        }
        for (int i = 0; i < SHELLS; i++) {
            t.nucleus[shell[i]] = nucleus[s.nucleus[i]];
            t.ang_mom[shell[i]] = s.ang_mom[i];
        }
        int zeros = 0; /* zero coefficients go in front */
        for (; zeros < turn % 3 * 4; zeros++) {
            t.prim_shell[zeros] = zeros % SHELLS;
            t.exponent[zeros] = 0.7;
            t.coefficient[zeros] = zeros & 1 ? -0.0 : 0.0;
        }
        for (int i = 0; i < s.prims; i++) {
            t.prim_shell[zeros + prim[i]] = shell[s.prim_shell[i]];
            t.exponent[zeros + prim[i]] = s.exponent[i];
            t.coefficient[zeros + prim[i]] = s.coefficient[i];
        }
        for (int i = 0; i < AOS; i++) {
            t.ao_shell[ao[i]] = shell[s.ao_shell[i]];
            t.ao_component[ao[i]] = s.ao_component[i];
            t.ao_factor[ao[i]] = s.ao_factor[i];
        }
        const fmo_basis_input shuffled = {
            3,         t.charge,        t.coord,        SHELLS,      t.nucleus,
            t.ang_mom, s.prims + zeros, t.prim_shell,   t.exponent,  t.coefficient,
            AOS,       t.ao_shell,      t.ao_component, t.ao_factor, 0};
        fmo_basis *basis = NULL;
        if (fmo_basis_create(&shuffled, &basis, NULL) == FMO_OK)
            CHECK(fmo_basis_prim_num(basis) == s.prims, "%d primitives, %d with coefficients",
                  fmo_basis_prim_num(basis), s.prims);
        fmo_basis_destroy(basis);
        if (!overlap(&shuffled, got)) return;
        for (int i = 0; i < AOS; i++)
            for (int j = 0; j < AOS; j++) expected[ao[i] * AOS + ao[j]] = S[i * AOS + j];
        check_close("shuffled", got, expected, AOS * AOS, AOS, 1e-13, 0.0);
    }
}

/* Factors of functions, also unequal and negative ones inside a p shell, and their extremes. */
static void check_factors(void)
{
    molecule m;
    double plain[64], got[64], expected[64];
    molecule_set(&m);
    if (!overlap(&m.in, plain)) return;
    static const double factor[3][8] = {{2.0, -0.5, 3.0, 0.1, -1.0, 1.0, 1e-3, 7.0},
                                        {1e-100, 1, 1, 1, 1, 1, 1, 1e-90},
                                        {1e100, 1e60, 1, 1e-60, 1, 1, 1, 1}};
    for (int set = 0; set < 3; set++) {
        memcpy(m.ao_factor, factor[set], sizeof m.ao_factor);
        if (!overlap(&m.in, got)) return;
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                expected[8 * i + j] = factor[set][i] * factor[set][j] * plain[8 * i + j];
        check_close("factors", got, expected, 64, 8, set ? 1e-290 : 1e-14, 1e-14);
    }
}

/* The caller's arrays may be changed or freed once the basis is there; a copy stands alone. */
static void check_copied(void)
{
    molecule *m = malloc(sizeof *m);
    double before[64], after[64];
    fmo_basis *basis = NULL, *copy = NULL;
    if (!m) return;
    molecule_set(m);
    if (overlap(&m->in, before) && fmo_basis_create(&m->in, &basis, NULL) == FMO_OK) {
        const double repulsion = fmo_basis_nuclear_repulsion(basis);
        memset(m, 0x7f, sizeof *m);
        CHECK(fmo_overlap(basis, after, NULL) == FMO_OK, "overlap");
        CHECK(!memcmp(before, after, sizeof before), "the basis reads the caller's arrays");
        copy = fmo_basis_copy(basis);
        fmo_basis_destroy(basis);
        CHECK(copy && fmo_overlap(copy, after, NULL) == FMO_OK, "overlap of a copy");
        CHECK(!memcmp(before, after, sizeof before), "the copy is not the same");
        CHECK(copy && fmo_basis_nuclear_repulsion(copy) == repulsion, "repulsion of a copy");
        fmo_basis_destroy(copy);
    }
    free(m);
}

/* One s shell, one p shell: the smallest there are. */
static void check_smallest(void)
{
    for (int l = 0; l <= 1; l++) {
        static test_system s;
        unsigned long long seed = 3;
        double S[9];
        memset(&s, 0, sizeof s);
        system_add_atom(&s, 0, 0, 0);
        system_add_shell(&s, l, 1, &seed);
        s.coefficient[0] = pow(2 * s.exponent[0] / M_PI, 0.75) * (l ? 2 * sqrt(s.exponent[0]) : 1);
        fmo_basis *basis = system_basis(&s);
        if (!basis) return;
        CHECK(fmo_basis_shell_num(basis, l) == 1 && fmo_basis_shell_num(basis, 1 - l) == 0,
              "shells");
        CHECK(fmo_overlap(basis, S, NULL) == FMO_OK, "overlap");
        for (int i = 0; i <= 2 * l; i++)
            for (int j = 0; j <= 2 * l; j++)
                CHECK(i == j ? fabs(S[i * (2 * l + 1) + j] - 1) < 1e-14
                             : S[i * (2 * l + 1) + j] == 0.0,
                      "normalised function: S = %.17g", S[i * (2 * l + 1) + j]);
        fmo_basis_destroy(basis);
    }
}

/* Every status has its text and exit code; messages lose control characters, and are cut if they
 * are too long. */
static void check_status(void)
{
#define ROW(name, code, text) \
    CHECK(!strcmp(fmo_status_text(name), text) && fmo_status_exit_code(name) == code, #name);
    FMO_STATUS_TABLE(ROW)
#undef ROW
    CHECK(fmo_status_text((fmo_status)-1) && fmo_status_text((fmo_status)9999), "NULL text");
    CHECK(fmo_status_exit_code((fmo_status)9999) == 1, "exit code of an unknown status");
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_error_set(NULL, FMO_ERR_INPUT, "x") == FMO_ERR_INPUT, "without err");
    CHECK(fmo_error_set(&err, FMO_ERR_INPUT, "a\nb\t%s", "c\x1b[31m") == FMO_ERR_INPUT, "status");
    CHECK(!strcmp(err.message, "a?b?c?[31m"), "control characters: %s", err.message);
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    err = (fmo_error){FMO_OK, ""};
    fmo_error_set(&err, FMO_ERR_INPUT, "%s", text);
    CHECK(strlen(err.message) == sizeof err.message - 1, "long message: %zu", strlen(err.message));
}

int main(void)
{
    check_status();
    check_refused_sizes();
    check_refusals();
    check_queries();
    check_repulsion();
    check_orders();
    check_factors();
    check_copied();
    check_smallest();
    return check_summary();
}
