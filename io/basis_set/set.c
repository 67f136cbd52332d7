/* The basis set object: its shells, which are normalised as they are added, and its accessors. */
#include "io/basis_set/basis_set_internal.h"
#include "io/basis_set/norm.h"
#include "integrals/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char fmo_ang_mom_letters[] = "spdfghiklmnoqrtuvwxyz";

char fmo_ang_mom_letter(int ang_mom)
{
    return ang_mom >= 0 && ang_mom <= FMO_SET_ANG_MOM_MAX ? fmo_ang_mom_letters[ang_mom] : '?';
}

/* Reads the letters of a type, or "L=" and a number. */
int fmo_basis_shell_type(fmo_word word, int ang_mom[FMO_TYPE_LETTERS])
{
    long l;
    if (word.size > 2 && strncasecmp(word.at, "L=", 2) == 0 &&
        fmo_text_count((fmo_word){word.at + 2, word.size - 2}, FMO_SET_ANG_MOM_MAX, &l)) {
        ang_mom[0] = (int)l;
        return 1;
    }
    if (word.size > FMO_TYPE_LETTERS) return 0;
    for (size_t i = 0; i < word.size; i++) {
        const char *at = strchr(fmo_ang_mom_letters, word.at[i] | 0x20);
        if (!at || !*at) return 0;
        ang_mom[i] = (int)(at - fmo_ang_mom_letters);
    }
    return (int)word.size;
}

static fmo_status no_memory(const fmo_text *text)
{
    return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
}

/* Ensures space for one more shell and n primitives. */
static fmo_status make_capacity(fmo_basis_set *set, const fmo_text *text, int n)
{
    if (set->shell_num == FMO_SET_SHELLS_MAX)
        return fmo_text_fail(text, 0, FMO_ERR_INPUT, "more than %d shells; split the file",
                             FMO_SET_SHELLS_MAX);
    if (set->shell_num == set->shell_capacity) {
        int capacity = 2 * set->shell_capacity + 64;
        fmo_set_shell *shell = realloc(set->shell, (size_t)capacity * sizeof *shell);
        if (!shell) return no_memory(text);
        set->shell = shell;
        set->shell_capacity = capacity;
    }
    if (set->prim_num + n > set->prim_capacity) {
        int capacity = 2 * set->prim_capacity + 256 + n;
        double *exponent = realloc(set->exponent, (size_t)capacity * sizeof *exponent);
        if (exponent) set->exponent = exponent;
        double *coefficient = realloc(set->coefficient, (size_t)capacity * sizeof *coefficient);
        if (coefficient) set->coefficient = coefficient;
        if (!exponent || !coefficient) return no_memory(text);
        set->prim_capacity = capacity;
    }
    return FMO_OK;
}

/* Checks the primitives, drops those with coefficient 0, normalises the contraction and stores
 * it. */
fmo_status fmo_basis_set_add_shell(fmo_basis_set *set, const fmo_text *text, const char *where,
                                   const fmo_file_shell *from)
{
    const double *const exponent = from->exponent, *const coefficient = from->coefficient;
    const int number = from->number, ang_mom = from->ang_mom;
    const char *symbol = fmo_element_symbol(number);
    const char letter = fmo_ang_mom_letter(ang_mom);
    double squares = 0.0;
    double used_exponent[FMO_SHELL_PRIMITIVES], used_coefficient[FMO_SHELL_PRIMITIVES];
    int used = 0;
    for (int k = 0; k < from->prim_num; k++) {
        if (!(exponent[k] >= FMO_EXPONENT_MIN && exponent[k] <= FMO_EXPONENT_MAX))
            return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                                 "%s: exponent %d of a shell of %s (%c) is %g: expected %g to %g "
                                 "bohr^-2; correct it",
                                 where, k + 1, symbol, letter, exponent[k], FMO_EXPONENT_MIN,
                                 FMO_EXPONENT_MAX);
        if (!(fabs(coefficient[k]) <= FMO_COEFFICIENT_MAX))
            return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                                 "%s: coefficient %d of a shell of %s (%c) is %g: expected at most "
                                 "%g; correct it",
                                 where, k + 1, symbol, letter, coefficient[k], FMO_COEFFICIENT_MAX);
        if (coefficient[k] == 0.0) continue;
        if (used == FMO_SHELL_PRIMITIVES)
            return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                                 "%s: a shell of %s (%c) has more than %d primitives with a "
                                 "coefficient other than 0; split it",
                                 where, symbol, letter, FMO_SHELL_PRIMITIVES);
        used_exponent[used] = exponent[k];
        used_coefficient[used++] = coefficient[k];
        squares += coefficient[k] * coefficient[k];
    }
    fmo_status status = make_capacity(set, text, used);
    if (status != FMO_OK) return status;
    fmo_set_shell shell = {number, ang_mom, from->form, set->prim_num, 0};
    double norm = ang_mom <= FMO_ANG_MOM_MAX
                      ? fmo_contraction_overlap(ang_mom, used, used_exponent, used_coefficient)
                      : 1.0;
    if (!(squares > 0.0 && norm > 1e-12 * squares))
        return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                             "%s: the coefficients of a shell of %s (%c) are 0 or cancel; correct "
                             "them",
                             where, symbol, letter);
    for (int k = 0; ang_mom <= FMO_ANG_MOM_MAX && k < used; k++) {
        int at = shell.prim_begin + shell.prim_num++;
        set->exponent[at] = used_exponent[k];
        set->coefficient[at] =
            used_coefficient[k] * fmo_primitive_norm(ang_mom, used_exponent[k]) / sqrt(norm);
    }
    set->prim_num += shell.prim_num;
    set->shell[set->shell_num++] = shell;
    return FMO_OK;
}

fmo_status fmo_basis_set_repeat_shell(fmo_basis_set *set, const fmo_text *text, int s, int number)
{
    fmo_status status = make_capacity(set, text, 0);
    if (status != FMO_OK) return status;
    fmo_set_shell shell = set->shell[s];
    shell.number = number;
    set->shell[set->shell_num++] = shell;
    return FMO_OK;
}

void fmo_basis_set_destroy(fmo_basis_set *set)
{
    if (!set) return;
    free(set->path);
    free(set->shell);
    free(set->exponent);
    free(set->coefficient);
    free(set);
}

const char *fmo_basis_set_name(const fmo_basis_set *set)
{
    return set ? set->name : NULL;
}
void fmo_basis_set_choose_functions(fmo_basis_set *set, fmo_functions functions)
{
    if (set) set->functions = functions;
}

const char *fmo_functions_name(fmo_functions functions)
{
#define ROW(e, name, text) [e] = name,
    static const char *const names[] = {FMO_FUNCTIONS_TABLE(ROW)};
#undef ROW
    return (int)functions >= 0 && functions < FMO_FUNCTIONS_COUNT ? names[functions] : NULL;
}
const char *fmo_functions_text(fmo_functions functions)
{
#define ROW(e, name, text) [e] = text,
    static const char *const texts[] = {FMO_FUNCTIONS_TABLE(ROW)};
#undef ROW
    return (int)functions >= 0 && functions < FMO_FUNCTIONS_COUNT ? texts[functions] : NULL;
}

const char *fmo_basis_set_path(const fmo_basis_set *set)
{
    return set ? set->path : NULL;
}

int fmo_basis_set_shell_num(const fmo_basis_set *set, int number)
{
    int n = 0;
    for (int s = 0; set && s < set->shell_num; s++) n += set->shell[s].number == number;
    return n;
}
