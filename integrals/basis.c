/* Checks and copies a basis, and sorts its shells and functions into internal order; see
 * basis_internal.h. */
#include "base/arguments.h"
#include "integrals/basis_internal.h"
#include "integrals/norms.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest allowed counts: the index of a shell pair and those of coordinates must fit an int, and
 * array sizes must not be computed from meaningless counts. */
enum { FMO_SHELL_MAX = 46340, FMO_NUCLEUS_MAX = 1 << 24, FMO_PRIM_MAX = 1 << 24 };

/* Checks the counts and that no array is NULL. */
static fmo_status check_sizes(const fmo_basis_input *input, fmo_error *err)
{
    const int functions = fmo_shell_functions_of(FMO_ANG_MOM_MAX, 1);
    if (input->nucleus_num < 1)
        return fmo_error_set(err, FMO_ERR_INPUT, "nucleus/num = %d: at least one nucleus is needed",
                             input->nucleus_num);
    if (input->nucleus_num > FMO_NUCLEUS_MAX)
        return fmo_error_set(err, FMO_ERR_INPUT, "nucleus/num = %d: expected %d at most",
                             input->nucleus_num, FMO_NUCLEUS_MAX);
    if (input->shell_num < 1 || input->shell_num > FMO_SHELL_MAX)
        return fmo_error_set(err, FMO_ERR_INPUT, "basis/shell_num = %d: expected 1 to %d",
                             input->shell_num, FMO_SHELL_MAX);
    if (input->prim_num < input->shell_num)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "basis/prim_num = %d: fewer primitives than the %d shells",
                             input->prim_num, input->shell_num);
    if (input->prim_num > FMO_PRIM_MAX)
        return fmo_error_set(err, FMO_ERR_INPUT, "basis/prim_num = %d: expected %d at most",
                             input->prim_num, FMO_PRIM_MAX);
    if (input->ao_num < 1)
        return fmo_error_set(err, FMO_ERR_INPUT, "ao/num = %d: at least one function is needed",
                             input->ao_num);
    if (input->ao_num > functions * input->shell_num)
        return fmo_error_set(
            err, FMO_ERR_INPUT, "ao/num = %d: expected %d at most for %d shells, %d functions each",
            input->ao_num, functions * input->shell_num, input->shell_num, functions);
    return FMO_CHECK_ARGUMENTS("fmo_basis_create", err, FMO_GIVEN(input->nucleus_charge),
                               FMO_GIVEN(input->nucleus_coord), FMO_GIVEN(input->shell_nucleus),
                               FMO_GIVEN(input->shell_ang_mom), FMO_GIVEN(input->prim_shell),
                               FMO_GIVEN(input->prim_exponent), FMO_GIVEN(input->prim_coefficient),
                               FMO_GIVEN(input->ao_shell), FMO_GIVEN(input->ao_component),
                               FMO_GIVEN(input->ao_factor));
}

/* Separator before item l in a list of shell kinds: none, a comma, or `word` before the last. */
static const char *before_kind(int l, const char *word)
{
    return l == 0 ? "" : l < FMO_ANG_MOM_MAX ? ", " : word;
}

/* The supported kinds of shells as text: "s and p"; with numbers "0 (s) or 1 (p)". */
static const char *kinds_text(int numbers, char *text, size_t size)
{
    size_t at = 0;
    for (int l = 0; l < FMO_SHELL_KIND_COUNT && at < size; l++) {
        const char *before = before_kind(l, numbers ? " or " : " and ");
        const char letter = fmo_shell_letter(l);
        at += (size_t)(numbers ? snprintf(text + at, size - at, "%s%d (%c)", before, l, letter)
                               : snprintf(text + at, size - at, "%s%c", before, letter));
    }
    return text;
}

static fmo_status check_ang_mom(const fmo_basis_input *in, int s, fmo_error *err)
{
    static const char letters[] = "spdfghik"; /* the usual letters */
    const int l = in->shell_ang_mom[s];
    char text[80];
    if (l > FMO_ANG_MOM_MAX && l < (int)sizeof letters - 1)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "basis/shell_ang_mom[%d] = %d (%c): this build supports %s; "
                             "use a basis such as 6-31G*, cc-pVTZ or def2-TZVP",
                             s, l, letters[l], kinds_text(0, text, sizeof text));
    if (l < 0 || l > FMO_ANG_MOM_MAX)
        return fmo_error_set(err, FMO_ERR_INPUT, "basis/shell_ang_mom[%d] = %d: expected %s", s, l,
                             kinds_text(1, text, sizeof text));
    return FMO_OK;
}

/* Checks all values: finite, in range, and with valid indices. */
static fmo_status check_values(const fmo_basis_input *in, fmo_error *err)
{
    for (int i = 0; i < in->nucleus_num; i++) {
        if (!isfinite(in->nucleus_charge[i]))
            return fmo_error_set(err, FMO_ERR_INPUT, "nucleus/charge[%d] = %g: not finite", i,
                                 in->nucleus_charge[i]);
        for (int c = 0; c < 3; c++)
            if (!(fabs(in->nucleus_coord[3 * i + c]) <= 1e6))
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "nucleus/coord[%d][%d] = %g: expected a finite coordinate in "
                                     "bohr, at most 1e6 in size",
                                     i, c, in->nucleus_coord[3 * i + c]);
    }
    for (int s = 0; s < in->shell_num; s++) {
        const fmo_status status = check_ang_mom(in, s, err);
        if (status != FMO_OK) return status;
        if (in->shell_nucleus[s] < 0 || in->shell_nucleus[s] >= in->nucleus_num)
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "basis/nucleus_index[%d] = %d: expected 0 to %d", s,
                                 in->shell_nucleus[s], in->nucleus_num - 1);
    }
    for (int k = 0; k < in->prim_num; k++) {
        if (in->prim_shell[k] < 0 || in->prim_shell[k] >= in->shell_num)
            return fmo_error_set(err, FMO_ERR_INPUT, "basis/shell_index[%d] = %d: expected 0 to %d",
                                 k, in->prim_shell[k], in->shell_num - 1);
        double a = in->prim_exponent[k];
        if (!(a >= 1e-10 && a <= 1e12))
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "basis/exponent[%d] = %g: expected a positive exponent in bohr^-2 "
                                 "between 1e-10 and 1e12",
                                 k, a);
        if (!(fabs(in->prim_coefficient[k]) <= 1e100))
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "basis/coefficient[%d] with its factors = %g: not a finite number "
                                 "of reasonable size",
                                 k, in->prim_coefficient[k]);
    }
    for (int a = 0; a < in->ao_num; a++) {
        if (in->ao_shell[a] < 0 || in->ao_shell[a] >= in->shell_num)
            return fmo_error_set(err, FMO_ERR_INPUT, "ao/shell[%d] = %d: expected 0 to %d", a,
                                 in->ao_shell[a], in->shell_num - 1);
        const int last =
            fmo_shell_functions_of(in->shell_ang_mom[in->ao_shell[a]], in->cartesian) - 1;
        if (in->ao_component[a] < 0 || in->ao_component[a] > last)
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "component %d of function %d: expected 0 to %d",
                                 in->ao_component[a], a, last);
        double f = fabs(in->ao_factor[a]);
        if (!(f >= 1e-100 && f <= 1e100))
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "ao/normalization[%d] = %g: expected a finite number other than 0",
                                 a, in->ao_factor[a]);
    }
    return FMO_OK;
}

void fmo_basis_destroy(fmo_basis *basis)
{
    if (!basis) return;
    free(basis->charge);
    free(basis->coord);
    free(basis->shell);
    free(basis->exponent);
    free(basis->coefficient);
    free(basis->ao_caller);
    free(basis->ao_factor);
    free(basis->ao_norm);
    free(basis);
}

/* Allocates a basis with these counts; returns NULL if there is no memory. */
static fmo_basis *basis_alloc(int nucleus_num, int shell_num, int prim_num, int ao_num)
{
    fmo_basis *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    const size_t nuclei = (size_t)nucleus_num, prims = (size_t)prim_num, aos = (size_t)ao_num;
    b->nucleus_num = nucleus_num;
    b->shell_num = shell_num;
    b->prim_num = prim_num;
    b->ao_num = ao_num;
    b->charge = malloc(nuclei * sizeof *b->charge);
    b->coord = malloc(3 * nuclei * sizeof *b->coord);
    b->shell = calloc((size_t)shell_num, sizeof *b->shell);
    b->exponent = malloc(prims * sizeof *b->exponent);
    b->coefficient = malloc(prims * sizeof *b->coefficient);
    b->ao_caller = malloc(aos * sizeof *b->ao_caller);
    b->ao_factor = malloc(aos * sizeof *b->ao_factor);
    b->ao_norm = malloc(aos * sizeof *b->ao_norm);
    if (b->charge && b->coord && b->shell && b->exponent && b->coefficient && b->ao_caller &&
        b->ao_factor && b->ao_norm)
        return b;
    fmo_basis_destroy(b);
    return NULL;
}

enum { BASIS_ARRAYS = 8 };
typedef struct basis_array {
    void *at;
    size_t bytes;
} basis_array;

/* Lists all arrays of a basis with their sizes. */
static void arrays_of(const fmo_basis *b, basis_array array[BASIS_ARRAYS])
{
    const size_t nuclei = (size_t)b->nucleus_num, shells = (size_t)b->shell_num;
    const size_t prims = (size_t)b->prim_num, aos = (size_t)b->ao_num;
    const basis_array all[BASIS_ARRAYS] = {{b->charge, nuclei * sizeof *b->charge},
                                           {b->coord, 3 * nuclei * sizeof *b->coord},
                                           {b->shell, shells * sizeof *b->shell},
                                           {b->exponent, prims * sizeof *b->exponent},
                                           {b->coefficient, prims * sizeof *b->coefficient},
                                           {b->ao_caller, aos * sizeof *b->ao_caller},
                                           {b->ao_factor, aos * sizeof *b->ao_factor},
                                           {b->ao_norm, aos * sizeof *b->ao_norm}};
    memcpy(array, all, sizeof all);
}

/* Copies the members that do not determine array sizes. */
static void copy_counts(fmo_basis *b, const fmo_basis *from)
{
    b->function_num = from->function_num;
    b->cartesian = from->cartesian;
    memcpy(b->shell_num_l, from->shell_num_l, sizeof b->shell_num_l);
}

fmo_basis *fmo_basis_copy(const fmo_basis *from)
{
    basis_array to_array[BASIS_ARRAYS], from_array[BASIS_ARRAYS];
    fmo_basis *b = basis_alloc(from->nucleus_num, from->shell_num, from->prim_num, from->ao_num);
    if (!b) return NULL;
    copy_counts(b, from);
    arrays_of(b, to_array);
    arrays_of(from, from_array);
    for (int a = 0; a < BASIS_ARRAYS; a++)
        memcpy(to_array[a].at, from_array[a].at, to_array[a].bytes);
    return b;
}

size_t fmo_basis_pack(const fmo_basis *basis, void *bytes)
{
    basis_array array[BASIS_ARRAYS];
    char *to = bytes;
    size_t size = sizeof *basis;
    arrays_of(basis, array);
    if (to) memcpy(to, basis, sizeof *basis); /* the pointers in it are not used */
    for (int a = 0; a < BASIS_ARRAYS; size += array[a++].bytes)
        if (to) memcpy(to + size, array[a].at, array[a].bytes);
    return size;
}

fmo_basis *fmo_basis_unpack(const void *bytes)
{
    basis_array array[BASIS_ARRAYS];
    fmo_basis head;
    const char *from = bytes;
    memcpy(&head, from, sizeof head);
    fmo_basis *b = basis_alloc(head.nucleus_num, head.shell_num, head.prim_num, head.ao_num);
    if (!b) return NULL;
    copy_counts(b, &head);
    arrays_of(b, array);
    from += sizeof head;
    for (int a = 0; a < BASIS_ARRAYS; from += array[a++].bytes)
        memcpy(array[a].at, from, array[a].bytes);
    return b;
}

/* "4 s and 2 p": the shells of a basis as text, for messages. */
static const char *shells_text(const fmo_basis *b, char *text, size_t size)
{
    size_t at = 0;
    int left = 0;
    for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) left += b->shell_num_l[l] > 0;
    for (int l = 0; l < FMO_SHELL_KIND_COUNT && at < size; l++) {
        if (!b->shell_num_l[l]) continue;
        const char *const before = at == 0 ? "" : left == 1 ? " and " : ", ";
        at += (size_t)snprintf(text + at, size - at, "%s%d %c", before, b->shell_num_l[l],
                               fmo_shell_letter(l));
        left--;
    }
    return text;
}

/* Returns 1 if the basis has shells that differ in Cartesian and spherical form. */
static int form_matters(const fmo_basis *b)
{
    int matters = 0;
    for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++)
        matters |= b->shell_num_l[l] && fmo_shell_functions(l) != fmo_shell_spherical(l);
    return matters;
}

/* Sorts the shells by angular momentum; position[s] is the internal index of the caller's shell s.
 */
static fmo_status fill_shells(const fmo_basis_input *in, fmo_basis *b, int *position,
                              fmo_error *err)
{
    int next = 0, ao = 0, aos = 0; /* internal functions; the caller's functions */
    for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) {
        const int begin = next;
        for (int s = 0; s < in->shell_num; s++) {
            if (in->shell_ang_mom[s] != l) continue;
            fmo_shell *shell = &b->shell[next];
            shell->ang_mom = l;
            shell->nucleus = in->shell_nucleus[s];
            memcpy(shell->centre, in->nucleus_coord + 3 * shell->nucleus, sizeof shell->centre);
            shell->ao_begin = ao;
            shell->caller_begin = aos;
            ao += fmo_shell_functions(l);
            aos += fmo_shell_functions_of(l, in->cartesian);
            position[s] = next++;
        }
        b->shell_num_l[l] = next - begin;
    }
    b->function_num = ao;
    char text[200];
    if (aos != in->ao_num)
        return fmo_error_set(err, FMO_ERR_INPUT, "ao/num = %d: the %s shells have %d%s functions",
                             in->ao_num, shells_text(b, text, sizeof text), aos,
                             !form_matters(b) ? ""
                             : in->cartesian  ? " Cartesian"
                                              : " spherical");
    return FMO_OK;
}

/* Copies the primitives with nonzero coefficients, shell by shell in internal order. */
static fmo_status fill_primitives(const fmo_basis_input *in, fmo_basis *b, const int *position,
                                  fmo_error *err)
{
    for (int k = 0; k < in->prim_num; k++)
        if (in->prim_coefficient[k] != 0.0) b->shell[position[in->prim_shell[k]]].prim_num++;
    int begin = 0;
    for (int s = 0; s < in->shell_num; s++) {
        fmo_shell *shell = &b->shell[position[s]];
        if (!shell->prim_num)
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "basis/shell_index: shell %d has no primitive with a coefficient "
                                 "other than 0",
                                 s);
    }
    for (int s = 0; s < in->shell_num; s++) {
        b->shell[s].prim_begin = begin;
        begin += b->shell[s].prim_num;
        b->shell[s].prim_num = 0;
    }
    b->prim_num = begin;
    for (int k = 0; k < in->prim_num; k++) {
        if (in->prim_coefficient[k] == 0.0) continue;
        int s = position[in->prim_shell[k]];
        int at = b->shell[s].prim_begin + b->shell[s].prim_num++;
        b->exponent[at] = in->prim_exponent[k];
        b->coefficient[at] = in->prim_coefficient[k];
    }
    return FMO_OK;
}

static fmo_status fill_functions(const fmo_basis_input *in, fmo_basis *b, const int *position,
                                 fmo_error *err)
{
    for (int a = 0; a < in->ao_num; a++) b->ao_caller[a] = -1;
    for (int a = 0; a < in->ao_num; a++) {
        int s = position[in->ao_shell[a]];
        int at = b->shell[s].caller_begin + in->ao_component[a];
        if (b->ao_caller[at] >= 0)
            return fmo_error_set(err, FMO_ERR_INPUT,
                                 "ao/shell: functions %d and %d are the same function of shell %d",
                                 b->ao_caller[at], a, in->ao_shell[a]);
        b->ao_caller[at] = a;
        b->ao_factor[at] = in->ao_factor[a];
    }
    return FMO_OK; /* the counts agree and no function occurs twice, so every function has been set
                    */
}

/* Checks the input, then fills shells, functions and primitives and normalises the shells. */
fmo_status fmo_basis_create(const fmo_basis_input *input, fmo_basis **basis, fmo_error *err)
{
    if (basis) *basis = NULL;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_basis_create", err, FMO_GIVEN(input), FMO_GIVEN(basis));
    if (status == FMO_OK) status = check_sizes(input, err);
    if (status == FMO_OK) status = check_values(input, err);
    if (status != FMO_OK) return status;

    fmo_basis *b =
        basis_alloc(input->nucleus_num, input->shell_num, input->prim_num, input->ao_num);
    int *position = malloc((size_t)input->shell_num * sizeof *position);
    if (!b || !position) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a basis of %d functions",
                               input->ao_num);
        goto done;
    }
    b->cartesian = input->cartesian != 0;
    memcpy(b->charge, input->nucleus_charge, (size_t)b->nucleus_num * sizeof *b->charge);
    memcpy(b->coord, input->nucleus_coord, 3 * (size_t)b->nucleus_num * sizeof *b->coord);
    status = fill_shells(input, b, position, err);
    if (status == FMO_OK) status = fill_functions(input, b, position, err);
    if (status == FMO_OK) status = fill_primitives(input, b, position, err);
    if (status == FMO_OK) status = fmo_basis_normalise_shells(b, err);
done:
    free(position);
    if (status == FMO_OK)
        *basis = b;
    else
        fmo_basis_destroy(b);
    return status;
}

int fmo_basis_ao_num(const fmo_basis *basis)
{
    return basis ? basis->ao_num : 0;
}
int fmo_basis_nucleus_num(const fmo_basis *basis)
{
    return basis ? basis->nucleus_num : 0;
}
int fmo_basis_prim_num(const fmo_basis *basis)
{
    return basis ? basis->prim_num : 0;
}

int fmo_basis_shell_num(const fmo_basis *basis, int ang_mom)
{
    return basis && ang_mom >= 0 && ang_mom <= FMO_ANG_MOM_MAX ? basis->shell_num_l[ang_mom] : 0;
}

double fmo_basis_nucleus_charge(const fmo_basis *basis, int nucleus)
{
    return basis && nucleus >= 0 && nucleus < basis->nucleus_num ? basis->charge[nucleus] : NAN;
}

/* Returns the next shell of a nucleus from s on, or shell_num. */
static int next_shell(const fmo_basis *b, int nucleus, int s)
{
    while (s < b->shell_num && b->shell[s].nucleus != nucleus) s++;
    return s;
}

int fmo_basis_atoms_equal(const fmo_basis *basis, int a, const fmo_basis *other, int b)
{
    if (!basis || !other || a < 0 || b < 0 || a >= basis->nucleus_num || b >= other->nucleus_num ||
        basis->charge[a] != other->charge[b])
        return 0;
    int s = next_shell(basis, a, 0), t = next_shell(other, b, 0);
    for (; s < basis->shell_num && t < other->shell_num;
         s = next_shell(basis, a, s + 1), t = next_shell(other, b, t + 1)) {
        const fmo_shell *x = &basis->shell[s], *y = &other->shell[t];
        if (x->ang_mom != y->ang_mom || x->prim_num != y->prim_num) return 0;
        const size_t size = (size_t)x->prim_num * sizeof(double);
        if (memcmp(basis->exponent + x->prim_begin, other->exponent + y->prim_begin, size) != 0 ||
            memcmp(basis->coefficient + x->prim_begin, other->coefficient + y->prim_begin, size) !=
                0)
            return 0;
    }
    return s == basis->shell_num && t == other->shell_num;
}

int fmo_basis_nuclei_equal(const fmo_basis *basis, int a, int b)
{
    return fmo_basis_atoms_equal(basis, a, basis, b);
}

const double *fmo_basis_ao_norm(const fmo_basis *basis)
{
    return basis ? basis->ao_norm : NULL;
}

fmo_status fmo_basis_normalised(const fmo_basis *basis, fmo_basis **normalised, fmo_error *err)
{
    if (normalised) *normalised = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_basis_normalised", err, FMO_GIVEN(basis), FMO_GIVEN(normalised));
    if (checked != FMO_OK) return checked;
    fmo_basis *const b = fmo_basis_copy(basis);
    if (!b)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a basis of %d functions",
                             basis->ao_num);
    for (int at = 0; at < b->ao_num; at++) b->ao_factor[at] /= b->ao_norm[b->ao_caller[at]];
    for (int ao = 0; ao < b->ao_num; ao++) b->ao_norm[ao] = 1.0;
    *normalised = b;
    return FMO_OK;
}

/* Counts the shells of a nucleus, then copies them into a new basis. */
fmo_status fmo_basis_atom(const fmo_basis *basis, int nucleus, fmo_basis **atom, int *ao,
                          double *factor, fmo_error *err)
{
    if (atom) *atom = NULL;
    const fmo_status checked = FMO_CHECK_ARGUMENTS(
        "fmo_basis_atom", err, FMO_GIVEN(basis), FMO_GIVEN(atom), FMO_GIVEN(ao), FMO_GIVEN(factor));
    if (checked != FMO_OK) return checked;
    if (nucleus < 0 || nucleus >= basis->nucleus_num)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_basis_atom: nucleus %d of %d", nucleus,
                             basis->nucleus_num);
    int shells = 0, prims = 0, aos = 0;
    for (int s = next_shell(basis, nucleus, 0); s < basis->shell_num;
         s = next_shell(basis, nucleus, s + 1)) {
        shells++;
        prims += basis->shell[s].prim_num;
        aos += fmo_shell_functions_of(basis->shell[s].ang_mom, basis->cartesian);
    }
    if (!shells) return FMO_OK;
    const fmo_status apart =
        FMO_CHECK_ARGUMENTS("fmo_basis_atom", err, FMO_WRITTEN(ao, (size_t)aos * sizeof *ao),
                            FMO_WRITTEN(factor, (size_t)aos * sizeof *factor));
    if (apart != FMO_OK) return apart;
    fmo_basis *b = basis_alloc(1, shells, prims, aos);
    if (!b) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a basis of %d functions", aos);
    b->charge[0] = basis->charge[nucleus];
    memcpy(b->coord, basis->coord + 3 * nucleus, 3 * sizeof *b->coord);
    b->cartesian = basis->cartesian;
    int at = 0, prim = 0, function = 0;
    for (int s = next_shell(basis, nucleus, 0); s < basis->shell_num;
         s = next_shell(basis, nucleus, s + 1), at++) {
        const fmo_shell *from = &basis->shell[s];
        fmo_shell *to = &b->shell[at];
        *to = *from;
        to->nucleus = 0;
        to->prim_begin = prim;
        to->ao_begin = b->function_num;
        to->caller_begin = function;
        b->function_num += fmo_shell_functions(from->ang_mom);
        const size_t size = (size_t)from->prim_num * sizeof(double);
        memcpy(b->exponent + prim, basis->exponent + from->prim_begin, size);
        memcpy(b->coefficient + prim, basis->coefficient + from->prim_begin, size);
        prim += from->prim_num;
        for (int m = 0; m < fmo_shell_functions_of(from->ang_mom, b->cartesian); m++, function++) {
            b->ao_caller[function] = function;
            ao[function] = basis->ao_caller[from->caller_begin + m];
            factor[function] = basis->ao_factor[from->caller_begin + m];
            b->ao_factor[function] = 1.0;
            b->ao_norm[function] = fmo_function_norm(b->cartesian, from->ang_mom, m);
        }
        b->shell_num_l[from->ang_mom]++;
    }
    *atom = b;
    return FMO_OK;
}

double fmo_basis_nuclear_repulsion(const fmo_basis *basis)
{
    double energy = 0.0;
    for (int i = 1; basis && i < basis->nucleus_num; i++) {
        for (int j = 0; j < i; j++) {
            const double *a = basis->coord + 3 * i, *b = basis->coord + 3 * j;
            double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
            double charges = basis->charge[i] * basis->charge[j];
            if (charges != 0.0) energy += charges / sqrt(dx * dx + dy * dy + dz * dz);
        }
    }
    return energy;
}
