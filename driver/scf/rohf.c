/* What ROHF, whose two channels share one set of orbitals, does differently from UHF: one effective
 * Fock matrix, its orbitals and their occupation (scf_internal.h). C. C. J. Roothaan, Rev. Mod.
 * Phys. 32, 179 (1960). */
#include "driver/scf/scf_internal.h"

#include <math.h>

/* With projectors c, o and v onto closed, open and virtual orbitals, the effective Fock matrix is
 * (F_a + F_b)/2, but F_b between c and o, and F_a between o and v:
 *
 *     (F_a + F_b)/2 + X + X^T,  X = o (F_a - F_b)/2 (v - c),
 *
 * with o = (D_a - D_b)/2 and v - c = 1 - (D_a + D_b)/2. Its error with the density of all electrons
 * contains the orbital gradient: F_a + F_b between v and c, F_a between v and o, F_b between o and
 * c. */
void fmo_scf_effective_fock(fmo_scf_state *s, const double *fock_o, double *effective)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    const double *const D = s->density_o;
    double *const A = s->work, *const B = s->work2;
    op->add(s->la, mm, 0.5, fock_o, 0.0, A);
    op->add(s->la, mm, -0.5, fock_o + mm, 1.0, A);
    op->add(s->la, mm, -0.5, D, 0.0, B);
    op->add(s->la, mm, -0.5, D + mm, 1.0, B);
    op->add_to_diagonal(s->la, s->m, 1.0, B);
    op->multiply(s->la, 1.0, fmo_matrix_of(A, s->m, s->m), fmo_matrix_of(B, s->m, s->m), 0.0,
                 effective);
    op->add(s->la, mm, 0.5, D, 0.0, B);
    op->add(s->la, mm, -0.5, D + mm, 1.0, B);
    op->multiply(s->la, 1.0, fmo_matrix_of(B, s->m, s->m), fmo_matrix_of(effective, s->m, s->m),
                 0.0, A);
    op->fold(s->la, s->m, 1.0, 1.0, A);
    op->add(s->la, mm, 0.5, fock_o, 1.0, A);
    op->add(s->la, mm, 0.5, fock_o + mm, 1.0, A);
    op->add(s->la, mm, 1.0, A, 0.0, effective);
}

void fmo_scf_total_density(fmo_scf_state *s, double *total)
{
    const size_t mm = (size_t)s->m * (size_t)s->m;
    s->la->ops->add(s->la, mm, 0.5, s->density_o, 0.0, total);
    s->la->ops->add(s->la, mm, 0.5, s->density_o + mm, 1.0, total);
}

/* Moves column `from` of C to column `to` <= from, and those between them up by one; likewise the
 * elements of two arrays in host memory. */
static void move_column(fmo_scf_state *s, int from, int to, double *C, double *const array[2])
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t m = (size_t)s->m;
    op->add(s->la, m, 1.0, C + (size_t)from * m, 0.0, s->work);
    for (size_t k = (size_t)from; k > (size_t)to; k--)
        op->add(s->la, m, 1.0, C + (k - 1) * m, 0.0, C + k * m);
    op->add(s->la, m, 1.0, s->work, 0.0, C + (size_t)to * m);
    for (int a = 0; a < 2; a++) {
        const double moved = array[a][from];
        for (int k = from; k > to; k--) array[a][k] = array[a][k - 1];
        array[a][to] = moved;
    }
}

void fmo_scf_energies_in(fmo_scf_state *s, const double *F, const double *C, int num,
                         double *energy)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t m = (size_t)s->m;
    op->multiply(s->la, 1.0, fmo_matrix_of(F, s->m, s->m), fmo_matrix_of(C, s->m, num), 0.0,
                 s->work2);
    for (size_t k = 0; k < (size_t)num; k++)
        op->dots(s->la, m, 1, C + k * m, s->work2 + k * m, &energy[k]);
}

double fmo_scf_restricted_gap(const fmo_scf_state *s, const double *energy, const double *alpha)
{
    double highest[2] = {-INFINITY, -INFINITY}, lowest[2] = {INFINITY, INFINITY};
    for (int k = 0; k < s->m; k++) {
        const double of_spin[2] = {alpha[k], 2.0 * energy[k] - alpha[k]};
        for (int c = 0; c < 2; c++) {
            const int open = k >= s->occupied[1] && k < s->occupied[0];
            if (k < s->occupied[c])
                highest[c] = fmax(highest[c], of_spin[c]);
            else if (c == 0 || open)
                lowest[c] = fmin(lowest[c], of_spin[c]);
        }
    }
    return fmin(lowest[0] - highest[0], lowest[1] - highest[1]);
}

/* The closed orbitals are those of lowest energy, the open ones those of the others in which an
 * alpha electron has the lowest energy, since the eigenvalue of an open orbital is the mean of its
 * energies of both spins and may be above that of a virtual one. */
void fmo_scf_diagonalise_effective(fmo_scf_state *s, double *fock_o)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t m = (size_t)s->m;
    const int closed = s->occupied[1], occupied = s->occupied[0];
    double *const C = fock_o, *const energy = s->orbital_energy, *const alpha = energy + s->n;
    op->eigen(s->la, s->m, C, energy);
    if (occupied < s->m && closed < occupied) {
        fmo_scf_energies_in(s, fock_o + m * m, C, s->m, alpha);
        for (int k = closed; k < occupied; k++) {
            int lowest = k;
            for (int j = k + 1; j < s->m; j++)
                if (alpha[j] < alpha[lowest]) lowest = j;
            move_column(s, lowest, k, C, (double *const[]){energy, alpha});
        }
        s->gap = fmo_scf_restricted_gap(s, energy, alpha);
    }
    op->add(s->la, m * m, 1.0, C, 0.0, fock_o + m * m);
    for (int k = 0; k < s->m; k++) alpha[k] = energy[k];
}

/* Sorts orbitals, energies and occupations by insertion, which is fast for orbitals that are nearly
 * sorted. */
void fmo_scf_sort_orbitals(fmo_scf_result *r)
{
    const size_t n = (size_t)r->nao;
    double *const energy = r->orbital_energy, *const occupation = r->occupation;
    for (int k = 1; k < r->mo_num; k++)
        for (int j = k; j > 0 && energy[j - 1] > energy[j]; j--) {
            double *const upper = r->coefficient + (size_t)j * n, *const lower = upper - n;
            const double e = energy[j], o = occupation[j];
            energy[j] = energy[j - 1];
            energy[j - 1] = e;
            occupation[j] = occupation[j - 1];
            occupation[j - 1] = o;
            for (size_t i = 0; i < n; i++) {
                const double c = upper[i];
                upper[i] = lower[i];
                lower[i] = c;
            }
        }
}
