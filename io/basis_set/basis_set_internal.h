/* The members of a basis set, and the functions by which its readers fill it. Next: set.c
 * (shells), json.c, gaussian.c and nwchem.c (readers). */
#ifndef FMO_IO_BASIS_SET_INTERNAL_H
#define FMO_IO_BASIS_SET_INTERNAL_H

#include <stdbool.h>
#include <fmo/basis_set.h>
#include "io/molecule/molecule_internal.h"
#include "io/text/text.h"

enum {
    FMO_SET_ANG_MOM_MAX = 20,   /* larger values in a file are errors */
    FMO_SHELL_PRIMITIVES = 100, /* of one shell; published sets have fewer than 40 */
    FMO_SHELL_LINES = 10000,    /* lines of one shell, including coefficients of 0 */
    FMO_SET_SHELLS_MAX = 100000 /* shells of all elements together */
};

/* Form of the functions of a shell above p in the file; FMO_FORM_OPEN: not specified. */
typedef enum fmo_set_form { FMO_FORM_OPEN, FMO_FORM_CARTESIAN, FMO_FORM_SPHERICAL } fmo_set_form;

#define FMO_EXPONENT_MIN    1e-10 /* bohr^-2, as in fmo_basis_create */
#define FMO_EXPONENT_MAX    1e12
#define FMO_COEFFICIENT_MAX 1e10

typedef struct fmo_set_shell {
    int number;  /* atomic number of the element */
    int ang_mom; /* shells above FMO_ANG_MOM_MAX are stored for messages only, without primitives */
    fmo_set_form form;
    int prim_begin, prim_num;
} fmo_set_shell;

struct fmo_basis_set {
    char name[64];
    char *path;
    fmo_functions functions;           /* the caller's choice */
    bool has_ecp[FMO_ELEMENT_MAX + 1]; /* has an effective core potential for element [z] */
    int shell_num, prim_num;
    int shell_capacity, prim_capacity;
    fmo_set_shell *shell; /* [shell_num]; the shells of an element are consecutive */
    double *exponent;     /* [prim_num] */
    double *coefficient;  /* [prim_num] of unnormalised Gaussians; includes all normalisation */
};

/* "spdf...", indexed by angular momentum, 0 to FMO_SET_ANG_MOM_MAX; the function returns '?'
 * outside. */
extern const char fmo_ang_mom_letters[FMO_SET_ANG_MOM_MAX + 2];
char fmo_ang_mom_letter(int ang_mom);

/* Returns the number of angular momenta of a shell type ("S", "SP", "L=7"); 0 if it is not a
 * type. */
enum { FMO_TYPE_LETTERS = 8 };
int fmo_basis_shell_type(fmo_word word, int ang_mom[FMO_TYPE_LETTERS]);

/* A contracted shell of an element as a file has it. */
typedef struct fmo_file_shell {
    int number; /* atomic number */
    int ang_mom;
    fmo_set_form form;
    int prim_num;
    const double *exponent, *coefficient; /* [prim_num] of normalised primitives */
} fmo_file_shell;

/* Adds a shell; primitives with coefficient 0 are left out and not counted. where: location for
 * messages ("line 7", "elements/8/electron_shells[0]"). Returns FMO_OK, FMO_ERR_INPUT (values out
 * of range) or FMO_ERR_MEMORY. */
fmo_status fmo_basis_set_add_shell(fmo_basis_set *set, const fmo_text *text, const char *where,
                                   const fmo_file_shell *from);

/* Adds a copy of shell s for another element. Returns FMO_OK, FMO_ERR_INPUT (too many) or
 * FMO_ERR_MEMORY. */
fmo_status fmo_basis_set_repeat_shell(fmo_basis_set *set, const fmo_text *text, int s, int number);

/* The readers: add the shells of the text to an empty set, and set its name if the file has one. */
fmo_status fmo_basis_set_parse_json(fmo_basis_set *set, const fmo_text *text);
fmo_status fmo_basis_set_parse_gaussian(fmo_basis_set *set, fmo_text *text);
fmo_status fmo_basis_set_parse_nwchem(fmo_basis_set *set, fmo_text *text);

/* Returns true if the text is in NWChem's format. Consumes nothing. */
bool fmo_basis_set_is_nwchem(const fmo_text *text);

#endif
