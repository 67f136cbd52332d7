/* The history of Fock matrices, errors and densities of an SCF, and their extrapolation by DIIS or
 * EDIIS (diis.h). Called by cycle.c. */
#include "driver/scf/criteria.h"
#include "driver/scf/scf_internal.h"

#include <math.h>

/* Lists the slots from the oldest to the newest. */
static void slots_by_age(const fmo_scf_history *h, int slot[])
{
    for (int i = 0; i < h->num; i++) slot[i] = (h->newest + 1 + i + (h->size - h->num)) % h->size;
}

/* error = F D - D F, all [m][m]. */
static void commutator(fmo_scf_state *s, const double *F, const double *D, double *error)
{
    const fmo_linalg_ops *op = s->la->ops;
    op->multiply(s->la, 1.0, fmo_matrix_of(F, s->m, s->m), fmo_matrix_of(D, s->m, s->m), 0.0,
                 error);
    op->fold(s->la, s->m, 1.0, -1.0, error);
}

/* Stores F and D of this cycle in the orthogonal basis, and the error F D - D F, whose norm is sqrt
 * 2 times that of the gradient 2 F_ai. @return the norm of the gradient, hartree */
double fmo_scf_history_add(fmo_scf_state *s, fmo_scf_history *h, double energy)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    const size_t size = (size_t)s->channels * mm;
    const int errors_num = s->restricted ? 1 : s->channels; /* number of matrices in an error */
    const size_t error_size = (size_t)errors_num * mm;
    h->newest = (h->newest + 1) % h->size;
    if (h->newest == h->guess) h->guess = -1; /* overwritten */
    if (h->num < h->size) h->num++;
    const size_t newest = (size_t)h->newest;
    double *const fock = s->history_fock + newest * size,
                  *const error = s->history_error + newest * error_size,
                  *const density = s->history_density + newest * size;
    for (size_t c = 0; c < (size_t)s->channels; c++) {
        fmo_scf_fock_to_orthogonal(s, s->fock + c * nn, fock + c * mm);
        if (!s->restricted) commutator(s, fock + c * mm, s->density_o + c * mm, error + c * mm);
    }
    if (s->restricted) {
        double *const effective = s->history_effective + newest * size;
        fmo_scf_effective_fock(s, fock, effective);
        op->add(s->la, mm, 1.0, fock, 0.0, effective + mm);
        fmo_scf_total_density(s, s->work);
        commutator(s, effective, s->work, error);
    }
    op->add(s->la, size, 1.0, s->density_o, 0.0, density);
    h->energy[h->newest] = energy;
    double row[FMO_DIIS_MAX], column[FMO_DIIS_MAX], errors[FMO_DIIS_MAX];
    op->dots(s->la, error_size, h->num, s->history_error, error, errors);
    op->dots(s->la, size, h->num, s->history_fock, density, row);    /* tr D_new F_v */
    op->dots(s->la, size, h->num, s->history_density, fock, column); /* tr D_v F_new */
    for (int v = 0; v < h->num; v++) {
        h->B[h->newest][v] = h->B[v][h->newest] = errors[v] / errors_num;
        h->T[h->newest][v] = row[v] / s->channels;
        h->T[v][h->newest] = column[v] / s->channels;
    }
    return sqrt(0.5 * h->B[h->newest][h->newest]);
}

/* Returns 1 if the last density differs much from the one before (criteria.h). */
int fmo_scf_changed_abruptly(const fmo_scf_history *h)
{
    const int a = h->newest, b = (a + h->size - 1) % h->size;
    return h->num > 1 && fabs(h->T[a][a] - h->T[a][b] - h->T[b][a] + h->T[b][b]) > FMO_SCF_ABRUPT;
}

/* Computes the extrapolated Fock matrices by DIIS or EDIIS, of ROHF the effective one and that of
 * alpha electrons; plain: the last ones without extrapolation. */
void fmo_scf_extrapolate(fmo_scf_state *s, const fmo_scf_history *h, int ediis, int plain,
                         double *fock_o)
{
    int slot[FMO_DIIS_MAX], m = 0;
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX], T[FMO_DIIS_MAX][FMO_DIIS_MAX];
    double E[FMO_DIIS_MAX] = {0.0}, c[FMO_DIIS_MAX] = {0.0}, by_slot[FMO_DIIS_MAX] = {0.0};
    slots_by_age(h, slot);
    for (int i = 0; i < h->num; i++)
        if (h->num == 1 || !ediis || slot[i] != h->guess) slot[m++] = slot[i];
    for (int i = 0; i < m; i++) {
        E[i] = h->energy[slot[i]];
        for (int j = 0; j < m; j++) {
            B[i][j] = h->B[slot[i]][slot[j]];
            T[i][j] = h->T[slot[i]][slot[j]];
        }
    }
    if (plain)
        c[m - 1] = 1.0;
    else if (ediis)
        fmo_ediis_coefficients(m, E, (const double(*)[FMO_DIIS_MAX])T, c);
    else
        fmo_diis_coefficients(m, (const double(*)[FMO_DIIS_MAX])B, c);
    for (int i = 0; i < m; i++) by_slot[slot[i]] = c[i];
    s->la->ops->combine(s->la, (size_t)s->channels * (size_t)s->m * (size_t)s->m, h->num,
                        s->restricted ? s->history_effective : s->history_fock, by_slot, fock_o);
}
