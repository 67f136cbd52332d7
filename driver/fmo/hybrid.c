/* Cut bonds: rotates hybrid orbitals into the direction of the bond, and computes the projector
 * that keeps electrons out of hybrids that belong to the other side,
 *     P = B sum_k S |chi_k><chi_k| S.
 * The fragment of the detached atom must not occupy the hybrid along the bond (row 0); the fragment
 * of the attached atom, which contains the detached one as a ghost, must not occupy the others.
 * Theory: docs/explanation/fmo-method.md, "Cut bonds". */
#include "driver/fmo/internal.h"
#include "integrals/harmonics.h"
#include "integrals/shell_from.h"

#include <math.h>
#include <stdlib.h>

enum { FUNCTIONS_MAX = 128 }; /* functions of one atom */

fmo_status fmo_fragment_read_hybrids(fmo_fragments *f, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    fmo_status status = FMO_OK;
    for (int b = 0; b < s->bond_num && status == FMO_OK; b++) {
        const int number = s->number[s->bond[2 * b]];
        if (!f->hybrids[number])
            status = fmo_hybrids_read(f->o.hybrids, fmo_basis_set_name(f->set), number,
                                      &f->hybrids[number], err);
    }
    return status;
}

/* Returns in the columns x, y, z of R a right-handed frame whose z axis points from a to b. */
static void frame(const double *a, const double *b, double R[3][3])
{
    double z[3], x[3], norm = 0.0;
    int least = 0;
    for (int i = 0; i < 3; i++) norm += (b[i] - a[i]) * (b[i] - a[i]);
    for (int i = 0; i < 3; i++) z[i] = (b[i] - a[i]) / sqrt(norm);
    for (int i = 1; i < 3; i++)
        if (fabs(z[i]) < fabs(z[least])) least = i;
    for (int i = 0; i < 3; i++) x[i] = (i == least) - z[least] * z[i];
    norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3; i++) {
        R[i][0] = x[i] /= norm;
        R[i][2] = z[i];
    }
    for (int i = 0; i < 3; i++)
        R[i][1] = z[(i + 1) % 3] * x[(i + 2) % 3] - z[(i + 2) % 3] * x[(i + 1) % 3];
}

/* Functions of one atom in the order of the hybrids: internal function i, in the order of
 * ao_component, is function ao[i] of the subsystem, which equals factor[i] times function i. */
typedef struct atom_functions {
    int s_num, p_num, d_num, count;
    int d_size; /* functions of a d shell: 6 or 5 */
    int *ao;
    double *factor;
} atom_functions;

/* Coefficient of element (i, j) of the matrix M in a d function r^T M r. Spherical functions have
 * traceless matrices, on which those of a shell are orthogonal; Cartesian functions span all
 * symmetric matrices. */
static double form_coefficient(int size, int m, int i, int j)
{
    const int c = i == 0 ? j : i + j + 1; /* i <= j: xx xy xz yy yz zz */
    return fmo_caller_coefficient(size == fmo_shell_functions(2), 2, m, c) * (i == j ? 1.0 : 0.5);
}

/* Rotates d functions from the axes of the frame R to the axes x, y, z: M becomes R M R^T. */
static void turn_d(int size, double R[3][3], const double *local, double *turned)
{
    double M[3][3] = {{0.0}}, half[3][3] = {{0.0}}, T[3][3] = {{0.0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < size; m++)
                M[i][j] += local[m] * form_coefficient(size, m, i < j ? i : j, i < j ? j : i);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) half[i][j] += R[i][k] * M[k][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) T[i][j] += half[i][k] * R[j][k];
    for (int m = 0; m < size; m++) {
        double in = 0.0, norm = 0.0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double coefficient = form_coefficient(size, m, i < j ? i : j, i < j ? j : i);
                in += coefficient * T[i][j];
                norm += coefficient * coefficient;
            }
        turned[m] = in / norm;
    }
}

/* Adds a rotated hybrid of an atom of the subsystem: v = sqrt(B) S chi, [nao]; P += v v^T. */
static void add_orbital(fmo_subsystem *subsystem, const double *hybrid, const atom_functions *atom,
                        double R[3][3], double B, double *v)
{
    const size_t n = (size_t)subsystem->nao;
    double local[FUNCTIONS_MAX], chi[FUNCTIONS_MAX];
    const int p_begin = atom->s_num, d_begin = p_begin + 3 * atom->p_num;
    for (int i = 0; i < atom->count; i++) chi[i] = local[i] = hybrid[i] * atom->factor[i];
    for (int p = p_begin; p < d_begin; p += 3)
        for (int i = 0; i < 3; i++)
            chi[p + i] = R[i][0] * local[p] + R[i][1] * local[p + 1] + R[i][2] * local[p + 2];
    for (int d = d_begin; d < atom->count; d += atom->d_size)
        turn_d(atom->d_size, R, local + d, chi + d);
    for (size_t i = 0; i < n; i++) {
        v[i] = 0.0;
        for (int k = 0; k < atom->count; k++)
            v[i] += sqrt(B) * subsystem->overlap[i * n + (size_t)atom->ao[k]] * chi[k] /
                    atom->factor[k];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) subsystem->projector[i * n + j] += v[i] * v[j];
}

static int holds(const fmo_subsystem *subsystem, int fragment)
{
    return subsystem->fragment[0] == fragment ||
           (subsystem->fragments == 2 && subsystem->fragment[1] == fragment);
}

/* Adds the projector of one cut bond; the subsystem contains its detached atom bda, and the
 * attached atom baa if `attached`. Checks that hybrids and basis set have the same functions. */
static fmo_status project_bond(const fmo_fragments *f, fmo_subsystem *subsystem, int bda, int baa,
                               int attached, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    const fmo_hybrids *h = f->hybrids[s->number[bda]];
    const size_t n = (size_t)subsystem->nao;
    int k = 0;
    while (subsystem->atom[k] != bda) k++;
    fmo_basis *basis = NULL;
    double R[3][3];
    atom_functions atom = {.ao = malloc(n * sizeof *atom.ao),
                           .factor = malloc(n * sizeof *atom.factor)};
    fmo_status status = atom.ao && atom.factor
                            ? fmo_basis_atom(subsystem->basis, k, &basis, atom.ao, atom.factor, err)
                            : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for hybrid orbitals");
    atom.s_num = fmo_basis_shell_num(basis, 0);
    atom.p_num = fmo_basis_shell_num(basis, 1);
    atom.d_num = fmo_basis_shell_num(basis, 2);
    atom.count = fmo_basis_ao_num(basis);
    const int high_l = fmo_basis_shell_from(basis, FMO_UNROLLED_ANG_MOM_MAX + 1);
    if (status == FMO_OK && high_l > 0)
        status = fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                               "a bond is cut at %s, which has %c shells in basis set %s: hybrid "
                               "orbitals have s, p and d functions; use a basis set without %c "
                               "shells, or do not cut at this atom",
                               fmo_element_symbol(s->number[bda]), fmo_shell_letter(high_l),
                               fmo_basis_set_name(f->set), fmo_shell_letter(high_l));
    if (atom.d_num) atom.d_size = (atom.count - atom.s_num - 3 * atom.p_num) / atom.d_num;
    if (status == FMO_OK && (h->function_num != atom.count || h->function_num > FUNCTIONS_MAX))
        status = fmo_error_set(err, FMO_ERR_INPUT,
                               "the hybrid orbitals of %s for basis set %s have %d functions, and "
                               "the atom has %d: %d s, %d p and %d d shells",
                               fmo_element_symbol(s->number[bda]), fmo_basis_set_name(f->set),
                               h->function_num, atom.count, atom.s_num, atom.p_num, atom.d_num);
    if (status == FMO_OK && !subsystem->projector) {
        subsystem->projector = calloc(n * n, sizeof *subsystem->projector);
        if (!subsystem->projector) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for P");
    }
    double *const v = malloc(n * sizeof *v);
    if (status == FMO_OK && !v) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for P");
    if (status == FMO_OK) {
        frame(s->coord + 3 * bda, s->coord + 3 * baa, R);
        for (int row = attached ? 1 : 0; row < (attached ? h->orbital_num : 1); row++)
            add_orbital(subsystem, h->coefficient + row * h->function_num, &atom, R, f->o.projector,
                        v);
    }
    fmo_basis_destroy(basis);
    free(v);
    free(atom.ao);
    free(atom.factor);
    return status;
}

fmo_status fmo_subsystem_project(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    fmo_status status = FMO_OK;
    for (int b = 0; b < s->bond_num && status == FMO_OK; b++) {
        const int bda = s->bond[2 * b], baa = s->bond[2 * b + 1];
        const int detached = holds(subsystem, s->fragment[bda]);
        const int attached = holds(subsystem, s->fragment[baa]);
        if (detached != attached) status = project_bond(f, subsystem, bda, baa, attached, err);
    }
    return status;
}
