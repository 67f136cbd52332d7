/* What a basis set holds, and how its two readers fill it. */
#ifndef FMO_IO_BASIS_SET_INTERNAL_H
#define FMO_IO_BASIS_SET_INTERNAL_H

#include <stdbool.h>
#include <fmo/basis_set.h>
#include "io/molecule/molecule_internal.h"
#include "io/text/text.h"

enum {
    FMO_ANG_MOM_MOST = 20,       /* larger ones are no angular momenta */
    FMO_SHELL_PRIMITIVES = 100,  /* of one shell; published sets stay below 40 */
    FMO_SHELL_LINES = 10000,     /* the same with those whose coefficient is 0 */
    FMO_SET_SHELLS_MOST = 100000 /* of all elements */
};

/* What the functions of a shell above p are, by the file. */
typedef enum fmo_set_form { FMO_FORM_OPEN, FMO_FORM_CARTESIAN, FMO_FORM_SPHERICAL } fmo_set_form;

#define FMO_EXPONENT_LEAST   1e-10 /* bohr^-2, as fmo_basis_create has it */
#define FMO_EXPONENT_MOST    1e12
#define FMO_COEFFICIENT_MOST 1e10

typedef struct fmo_set_shell {
    int number;  /* of the element */
    int ang_mom; /* shells above FMO_ANG_MOM_MAX are kept for their name alone, without primitives
                  */
    fmo_set_form form;
    int prim_begin, prim_num;
} fmo_set_shell;

struct fmo_basis_set {
    char name[64];
    char *path;
    fmo_functions functions;            /* the caller's choice */
    bool has_ecp[FMO_ELEMENT_MOST + 1]; /* the set wants an effective core potential there */
    int shell_num, prim_num;
    int shell_capacity, prim_capacity;
    fmo_set_shell *shell; /* [shell_num] the shells of an element are neighbours */
    double *exponent;     /* [prim_num] */
    double *coefficient;  /* [prim_num] of plain Gaussians, everything normalised */
};

/* "spdf...", and the letter of an angular momentum 0 to FMO_ANG_MOM_MOST */
extern const char fmo_ang_mom_letters[FMO_ANG_MOM_MOST + 2];
char fmo_ang_mom_letter(int ang_mom);

/* Add one contracted shell, given the coefficients of normalised primitives; those of 0 are left
 * out, and do not count. where: how messages call it ("line 7", "elements/8/electron_shells[0]").
 * FMO_OK, FMO_ERR_INPUT (values out of range) or FMO_ERR_MEMORY. */
fmo_status fmo_basis_set_add_shell(fmo_basis_set *set, const fmo_text *text, const char *where,
                                   int number, int ang_mom, fmo_set_form form, int n,
                                   const double *exponent, const double *coefficient);

/* Shell s, once more for another element. FMO_OK, FMO_ERR_INPUT (too many) or FMO_ERR_MEMORY. */
fmo_status fmo_basis_set_repeat_shell(fmo_basis_set *set, const fmo_text *text, int s, int number);

/* The readers. The set is empty and gets its shells, and its name if the file has one. */
fmo_status fmo_basis_set_parse_json(fmo_basis_set *set, const fmo_text *text);
fmo_status fmo_basis_set_parse_gaussian(fmo_basis_set *set, fmo_text *text);

#endif
