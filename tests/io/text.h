/* Molecules and basis sets as texts: files of them in a folder of the test's own, and the errors
 * that name these files. */
#ifndef FMO_TESTS_IO_TEXT_H
#define FMO_TESTS_IO_TEXT_H

#include "tests/support/check.h"
#include "tests/io/folder.h"
#include <fmo/basis_set.h>
#include <fmo/one_electron.h>

#include <locale.h>

static char directory[] = "/tmp/fmo-io-text-XXXXXX";
static const char *const water =
    "3\nwater\nO 0.0 0.0 0.1173\nH 0.0 0.7572 -0.4692\nH 0.0 -0.7572 -0.4692\n";

typedef struct text_case {
    const char *name, *text, *expect;
} text_case;

/* Shells and sets in JSON. */
#define JSON_SHELL(type, l, exponents, coefficients)                                           \
    "{\"function_type\": \"" type "\", \"angular_momentum\": " l ", \"exponents\": " exponents \
    ", \"coefficients\": " coefficients "}"
#define JSON_SET(element, shell) \
    "{\"name\": \"test\", \"elements\": {\"" element "\": {\"electron_shells\": [" shell "]}}}"

static inline const char *put_file(const char *name, const char *text, size_t size)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0) exit(1);
    return path;
}

/* An error begins with `begin`, has `expect` in it and a cure. */
static inline void check_message(const char *what, const fmo_error *err, fmo_status status,
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

static inline fmo_dataset *create(const char *xyz, const char *basis, int charge, fmo_error *err)
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

static inline double *overlap_of(const fmo_dataset *dataset, size_t *n)
{
    *n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    double *S = calloc(*n * *n, sizeof *S);
    CHECK(fmo_overlap(fmo_dataset_basis(dataset), S, NULL) == FMO_OK, "overlap");
    return S;
}

/* A locale whose numbers have a comma, until setlocale(LC_ALL, "C"); 0: there is none here. */
static inline int comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i])) return 1;
    printf("no locale with a decimal comma here\n");
    return 0;
}

#endif
