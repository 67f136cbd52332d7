/* Cut bonds: hybrid orbitals turned into the bond, and the projector that keeps electrons out of
 * those that belong to the other side,
 *     P = B sum_k S |chi_k><chi_k| S.
 * The side of the detached atom may not use the hybrid along the bond (row 0), the side of the
 * attached atom, which has the detached one as a ghost, not the others. */
#include "driver/fmo/internal.h"

#include <math.h>
#include <stdlib.h>

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

/* Columns x, y, z of a right-handed frame whose z points from a to b. */
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

/* Adds one turned hybrid of an atom of the part: v = sqrt(B) S chi, P += v v^T. */
static void add_orbital(fmo_part *part, const double *hybrid, int begin, int s_num, int p_num,
                        double R[3][3], double B)
{
    const size_t n = (size_t)part->nao;
    double chi[128], *const v = part->lift + n * (size_t)part->lifted++;
    for (int i = 0; i < s_num; i++) chi[i] = hybrid[i];
    for (int p = 0; p < p_num; p++)
        for (int i = 0; i < 3; i++) {
            const double *local = hybrid + s_num + 3 * p;
            chi[s_num + 3 * p + i] = R[i][0] * local[0] + R[i][1] * local[1] + R[i][2] * local[2];
        }
    for (size_t i = 0; i < n; i++) {
        v[i] = 0.0;
        for (int k = 0; k < s_num + 3 * p_num; k++)
            v[i] += sqrt(B) * part->overlap[i * n + (size_t)(begin + k)] * chi[k];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) part->projector[i * n + j] += v[i] * v[j];
}

static int holds(const fmo_part *part, int fragment)
{
    return part->fragment[0] == fragment || (part->fragments == 2 && part->fragment[1] == fragment);
}

/* The detached atom of a bond in a part: number of its shells, and P. */
static fmo_status project_bond(const fmo_fragments *f, fmo_part *part, int bda, int baa,
                               int attached, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    const fmo_hybrids *h = f->hybrids[s->number[bda]];
    const size_t n = (size_t)part->nao;
    int k = 0;
    while (part->atom[k] != bda) k++;
    fmo_basis *atom = NULL;
    int *const ao = malloc(n * sizeof *ao);
    double *const factor = malloc(n * sizeof *factor), R[3][3];
    fmo_status status = ao && factor
                            ? fmo_basis_atom(part->basis, k, &atom, ao, factor, err)
                            : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for hybrid orbitals");
    const int s_num = fmo_basis_shell_num(atom, 0), p_num = fmo_basis_shell_num(atom, 1);
    if (status == FMO_OK && (h->function_num != s_num + 3 * p_num || h->function_num > 128 ||
                             h->function_num != part->begin[k + 1] - part->begin[k]))
        status = fmo_error_set(err, FMO_ERR_INPUT,
                               "the hybrid orbitals of %s for basis set %s have %d functions, and "
                               "the atom has %d s and %d p shells",
                               fmo_element_symbol(s->number[bda]), fmo_basis_set_name(f->set),
                               h->function_num, s_num, p_num);
    if (status == FMO_OK && !part->projector) {
        part->projector = calloc(n * n, sizeof *part->projector);
        if (!part->projector) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for P");
    }
    if (status == FMO_OK) {
        const size_t rows = (size_t)(part->lifted + h->orbital_num);
        double *const more = realloc(part->lift, rows * n * sizeof *more);
        if (more) part->lift = more;
        if (!more) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for P");
    }
    if (status == FMO_OK) {
        frame(s->coord + 3 * bda, s->coord + 3 * baa, R);
        for (int row = attached ? 1 : 0; row < (attached ? h->orbital_num : 1); row++)
            add_orbital(part, h->coefficient + row * h->function_num, part->begin[k], s_num, p_num,
                        R, f->o.projector);
    }
    fmo_basis_destroy(atom);
    free(ao);
    free(factor);
    return status;
}

fmo_status fmo_part_project(const fmo_fragments *f, fmo_part *part, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    fmo_status status = FMO_OK;
    for (int b = 0; b < s->bond_num && status == FMO_OK; b++) {
        const int bda = s->bond[2 * b], baa = s->bond[2 * b + 1];
        const int detached = holds(part, s->fragment[bda]);
        const int attached = holds(part, s->fragment[baa]);
        if (detached != attached) status = project_bond(f, part, bda, baa, attached, err);
    }
    return status;
}
