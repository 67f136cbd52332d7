/* The SCF of one small molecule by a team (team.h), from its integrals to its orbitals. It follows
 * cycle.c, but has all integrals in memory and neither cutoffs nor EDIIS. If those would be
 * needed it reports failure, and batch.c runs the molecule as fmo_scf_run does. */
#ifndef FMO_BLOCK_CYCLES_H
#define FMO_BLOCK_CYCLES_H

#include "driver/scf/block/team.h"
#include "driver/scf/criteria.h"
#include "driver/scf/diis_body.inc"
#include "integrals/eri/pair_number.h"

/* Largest number of cycles; molecules that need more are left to batch.c. */
enum { FMO_BLOCK_CYCLES_MAX = 40 };

typedef struct fmo_block_settings {
    double energy_convergence, gradient_convergence, linear_dependence; /* scf.h */
    int diis_size, max_cycles;
} fmo_block_settings;

/* Result of a molecule. */
typedef struct fmo_block_outcome {
    int converged; /* 0: the molecule is left to batch.c, and the other members are invalid */
    int cycles;
    double energy, energy_change, gradient, energy_error; /* as in scf.h, of the last cycle */
    double two_electron_energy, overlap_smallest;
} fmo_block_outcome;

/* A molecule; matrices are [n][n] in the caller's AO order, in memory that all members of the team
 * can access. */
typedef struct fmo_block_molecule {
    int n, occupied;
    double nuclear_repulsion;
    const double *eri; /* fmo/eri_matrix.h */
    const double *overlap;
    const double *field;        /* one-electron matrix that is added to H; NULL: none */
    double *core;               /* H; the field is added to it */
    double *density;            /* initial density; finally the one to which the energy belongs */
    double *fock, *coefficient; /* coefficient: orbitals as rows */
    double *orbital_energy;     /* [n] */
    double *memory;             /* [fmo_block_memory(n, diis_size)] scratch */
    fmo_block_outcome *outcome;
} fmo_block_molecule;

/* Size of `memory` in doubles: X, the density in the orthogonal basis, history of Fock matrices and
 * errors. */
FMO_HD size_t fmo_block_memory(int n, int diis_size)
{
    return (size_t)(2 + 2 * diis_size) * (size_t)n * (size_t)n;
}

/* What the team shares while it runs; in shared memory on a GPU. */
typedef struct fmo_block_control {
    double sums[FMO_TEAM_WARPS_MAX];
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX];                              /* by slot */
    double c[FMO_DIIS_MAX];                                            /* by slot */
    double by_age[FMO_DIIS_MAX][FMO_DIIS_MAX], c_by_age[FMO_DIIS_MAX]; /* used by member 0 only */
} fmo_block_control;

/* Bytes of shared memory: the control structure, followed by three matrices, the density as pairs,
 * a row of integrals per group, and the Jacobi rotations. */
FMO_HD size_t fmo_block_shared(int n, int groups)
{
    const size_t square = (size_t)n * (size_t)n, pairs = (size_t)n * (size_t)(n + 1) / 2;
    return sizeof(fmo_block_control) +
           (3 * square + (size_t)(groups + 1) * pairs) * sizeof(double) +
           (size_t)(n + 1) / 2 * sizeof(fmo_jacobi_rotation);
}

/* State and arrays of a team. */
typedef struct fmo_block {
    const fmo_block_molecule *m;
    fmo_team team;
    fmo_block_control *control;
    double *V, *A, *W; /* shared; V: orbitals in the orthogonal basis, as columns; A, W: scratch */
    double *pairs,
        *rows; /* shared; pairs: D_ik, doubled for i != k; rows: [groups] rows of integrals */
    fmo_jacobi_rotation *rotations; /* shared */
    double *X, *density_o;          /* X^T S X = 1; X^-1 D X^-T */
    double *history_fock, *history_error;
    int newest, num; /* slots of the history */
} fmo_block;

/* Lays out the arrays in shared memory and in the molecule's memory. */
FMO_HD fmo_block fmo_block_make(const fmo_block_molecule *m, int diis_size, void *shared)
{
    fmo_block_control *const control = (fmo_block_control *)shared;
    double *at = (double *)(control + 1);
    const size_t size = (size_t)m->n * (size_t)m->n;
    const size_t pairs = (size_t)m->n * (size_t)(m->n + 1) / 2;
    fmo_block b;
    b.m = m;
    b.team = fmo_team_make(control->sums);
    b.control = control;
    b.V = at;
    b.A = b.V + size;
    b.W = b.A + size;
    b.pairs = b.W + size;
    b.rows = b.pairs + pairs;
    b.rotations = (fmo_jacobi_rotation *)(b.rows + (size_t)b.team.groups * pairs);
    b.X = m->memory;
    b.density_o = b.X + size;
    b.history_fock = b.density_o + size;
    b.history_error = b.history_fock + (size_t)diis_size * size;
    b.newest = -1;
    b.num = 0;
    return b;
}

/* Adds the contributions of a row of integrals (ik|..): J_ik, and K_ij and K_kj for all j; D and K
 * are in shared memory. One group processes a row, and each lane one j: the addresses j (j + 1) / 2
 * + l of the lanes are in different memory banks, and so are l (l + 1) / 2 + j. */
FMO_HD_ONCE void fmo_block_row(const fmo_block *b, int i, int k, double *row, const double *D,
                               double *K)
{
    enum { AT_ONCE = 16 };
    const fmo_team *const t = &b->team;
    const int n = b->m->n, pairs = n * (n + 1) / 2;
    const double *const from = b->m->eri + (size_t)fmo_pair_number(i, k) * (size_t)pairs;
    const double *const Di = D + i * n, *const Dk = D + k * n;
    double coulomb = 0.0;
    /* AT_ONCE loads are in flight at a time. Otherwise the compiler, which must assume that `row`
     * aliases `from`, makes them one after the other, which took four fifths of the time of an
     * SCF. */
    for (int begin = t->lane; begin < pairs; begin += AT_ONCE * t->lanes) {
        double value[AT_ONCE];
        FMO_UNROLL
        for (int x = 0; x < AT_ONCE; x++) {
            const int q = begin + x * t->lanes;
            value[x] = q < pairs ? from[q] : 0.0;
        }
        FMO_UNROLL
        for (int x = 0; x < AT_ONCE; x++) {
            const int q = begin + x * t->lanes;
            if (q >= pairs) continue;
            row[q] = value[x];
            coulomb += value[x] * b->pairs[q];
        }
    }
    coulomb = fmo_team_sum_lanes(t, coulomb);
    if (t->lane == 0) b->m->fock[i * n + k] = b->m->fock[k * n + i] = coulomb;
    fmo_team_wait_lanes(t);
    for (int j = t->lane; j < n; j += 2 * t->lanes) { /* two j at a time */
        const int o = j + t->lanes < n ? j + t->lanes : j;
        const int first_j = j * (j + 1) / 2, first_o = o * (o + 1) / 2;
        double j_k = 0.0, j_i = 0.0, o_k = 0.0, o_i = 0.0;
        FMO_UNROLL_BY(4)
        for (int l = 0; l < n; l++) {
            const double of_j = row[l <= j ? first_j + l : l * (l + 1) / 2 + j];
            const double of_o = row[l <= o ? first_o + l : l * (l + 1) / 2 + o];
            j_k += of_j * Dk[l];
            j_i += of_j * Di[l];
            o_k += of_o * Dk[l];
            o_i += of_o * Di[l];
        }
        K[i * n + j] += j_k;
        if (i != k) K[k * n + j] += j_i;
        if (o == j) continue;
        K[i * n + o] += o_k;
        if (i != k) K[k * n + o] += o_i;
    }
    fmo_team_wait_lanes(t);
}

/* F = H + J - K/2 of the density. Each row of integrals is read once; the rows (ik|..) of a round
 * have no function in common, so that no two groups add to the same row of K. */
FMO_HD_ONCE void fmo_block_fock(const fmo_block *b)
{
    const fmo_block_molecule *const m = b->m;
    const fmo_team *const t = &b->team;
    const int n = m->n, players = n + n % 2;
    double *const D = b->W, *const K = b->A, *const row = b->rows + t->group * (n * (n + 1) / 2);
    for (int e = t->rank; e < n * n; e += t->size) {
        const int k = e / n, l = e % n;
        const double value = m->density[e];
        D[e] = value;
        K[e] = 0.0;
        if (l <= k) b->pairs[fmo_pair_number(k, l)] = k == l ? value : 2.0 * value;
    }
    fmo_team_wait(t);
    for (int i = t->group; i < n; i += t->groups) fmo_block_row(b, i, i, row, D, K);
    for (int s = 0; s < players - 1; s++) {
        fmo_team_wait(t);
        for (int g = t->group; g < players / 2; g += t->groups) {
            int i, k;
            fmo_round_robin_pair(players, s, g, &i, &k);
            if (k < n) fmo_block_row(b, i, k, row, D, K);
        }
    }
    fmo_team_wait(t);
    for (int e = t->rank; e < n * n; e += t->size) {
        const int i = e / n, j = e % n;
        m->fock[e] += m->core[e] - 0.25 * (K[e] + K[j * n + i]);
    }
    fmo_team_wait(t);
}

/* out = X^T A X, symmetric. */
FMO_HD void fmo_block_to_orthogonal(const fmo_block *b, const double *A, double *work, double *out)
{
    const int n = b->m->n;
    fmo_team_multiply(&b->team, n, n, 1.0, fmo_plain(A, n), fmo_plain(b->X, n), work);
    fmo_team_multiply(&b->team, n, n, 1.0, fmo_transposed(b->X, n), fmo_plain(work, n), out);
    fmo_team_symmetrise(&b->team, n, out);
}

/* Computes X by the inverse Cholesky factor of the overlap, as start.c does; returns a lower bound
 * of its smallest eigenvalue, or 0 if it is not positive definite. */
FMO_HD double fmo_block_orthogonalise(const fmo_block *b)
{
    const fmo_team *const t = &b->team;
    const int n = b->m->n;
    double square = 0.0;
    for (int e = t->rank; e < n * n; e += t->size) b->A[e] = b->m->overlap[e];
    fmo_team_wait(t);
    if (!fmo_team_inverse_cholesky(t, n, b->A, b->X)) return 0.0;
    for (int e = t->rank; e < n * n; e += t->size) square += b->X[e] * b->X[e];
    return 1.0 / fmo_team_sum(t, square);
}

/* Adds the symmetric part of the field to H. */
FMO_HD void fmo_block_add_field(const fmo_block *b)
{
    const fmo_block_molecule *const m = b->m;
    const double *const U = m->field;
    for (int e = b->team.rank; U && e < m->n * m->n; e += b->team.size)
        m->core[e] += 0.5 * (U[e] + U[e % m->n * m->n + e / m->n]);
    fmo_team_wait(&b->team);
}

/* Transforms the initial density to the orthogonal basis, X^T S D S X; sets V = 1. */
FMO_HD void fmo_block_begin(const fmo_block *b)
{
    const fmo_team *const t = &b->team;
    const int n = b->m->n;
    const fmo_view S = fmo_plain(b->m->overlap, n);
    fmo_team_multiply(t, n, n, 1.0, fmo_plain(b->m->density, n), S, b->A);
    fmo_team_multiply(t, n, n, 1.0, S, fmo_plain(b->A, n), b->V);
    fmo_block_to_orthogonal(b, b->V, b->W, b->density_o);
    for (int e = t->rank; e < n * n; e += t->size) b->V[e] = e / n == e % n ? 1.0 : 0.0;
    fmo_team_wait(t);
}

/* Returns the energy of the density and its F; *two_electron = tr D (F - H) / 2. */
FMO_HD double fmo_block_energy(const fmo_block *b, double *two_electron)
{
    const fmo_block_molecule *const m = b->m;
    double one = 0.0, two = 0.0;
    for (int e = b->team.rank; e < m->n * m->n; e += b->team.size) {
        one += m->density[e] * m->core[e];
        two += 0.5 * m->density[e] * (m->fock[e] - m->core[e]);
    }
    *two_electron = fmo_team_sum(&b->team, two);
    return m->nuclear_repulsion + fmo_team_sum(&b->team, one) + *two_electron;
}

/* Adds F of this cycle and its error F D - D F to the history; returns the norm of the gradient. */
FMO_HD double fmo_block_add_to_history(fmo_block *b, int size)
{
    const fmo_team *const t = &b->team;
    const int n = b->m->n;
    const size_t square = (size_t)n * (size_t)n;
    b->newest = (b->newest + 1) % size;
    if (b->num < size) b->num++;
    double *const fock = b->history_fock + (size_t)b->newest * square;
    double *const error = b->history_error + (size_t)b->newest * square;
    fmo_block_to_orthogonal(b, b->m->fock, b->W, fock);
    fmo_team_multiply(t, n, n, 1.0, fmo_plain(fock, n), fmo_plain(b->density_o, n), b->W);
    for (int e = t->rank; e < n * n; e += t->size) {
        const int i = e / n, j = e % n;
        error[e] = b->W[e] - b->W[j * n + i];
    }
    fmo_team_wait(t);
    for (int v = t->group; v < b->num; v += t->groups) {
        const double *const other = b->history_error + (size_t)v * square;
        double sum = 0.0;
        for (int e = t->lane; e < n * n; e += t->lanes) sum += other[e] * error[e];
        sum = fmo_team_sum_lanes(t, sum);
        if (t->lane == 0) b->control->B[b->newest][v] = b->control->B[v][b->newest] = sum;
    }
    fmo_team_wait(t);
    return sqrt(0.5 * b->control->B[b->newest][b->newest]);
}

/* A = linear combination of past Fock matrices with Pulay's coefficients. */
FMO_HD void fmo_block_extrapolate(const fmo_block *b, int size)
{
    const fmo_team *const t = &b->team;
    const int n = b->m->n;
    const size_t square = (size_t)n * (size_t)n;
    if (t->rank == 0) { /* from the oldest to the newest */
        double(*const B)[FMO_DIIS_MAX] = b->control->by_age, *const c = b->control->c_by_age;
        int slot[FMO_DIIS_MAX];
        for (int i = 0; i < b->num; i++) slot[i] = (b->newest + 1 + i + size - b->num) % size;
        for (int i = 0; i < b->num; i++)
            for (int j = 0; j < b->num; j++) B[i][j] = b->control->B[slot[i]][slot[j]];
        fmo_pulay_coefficients(b->num, (const double(*)[FMO_DIIS_MAX])B, c);
        for (int i = 0; i < b->num; i++) b->control->c[slot[i]] = c[i];
    }
    fmo_team_wait(t);
    for (int e = t->rank; e < n * n; e += t->size) {
        double sum = 0.0;
        for (int v = 0; v < b->num; v++)
            sum += b->control->c[v] * b->history_fock[(size_t)v * square + (size_t)e];
        b->A[e] = sum;
    }
    fmo_team_wait(t);
}

/* V: orbitals of A, a matrix in the orthogonal basis, in order of energy. The iteration starts from
 * the previous orbitals, which are close. */
FMO_HD void fmo_block_diagonalise(fmo_block *b, const double *A)
{
    const int n = b->m->n;
    fmo_team_multiply(&b->team, n, n, 1.0, fmo_plain(A, n), fmo_plain(b->V, n), b->W);
    fmo_team_multiply(&b->team, n, n, 1.0, fmo_transposed(b->V, n), fmo_plain(b->W, n), b->A);
    fmo_team_jacobi(&b->team, n, b->A, b->V, b->rotations);
    fmo_team_sort(&b->team, n, b->A, b->V, b->W, b->m->orbital_energy);
    double *const sorted = b->W;
    b->W = b->V;
    b->V = sorted;
}

/* Orbitals in the AO basis, as rows: C^T = V^T X^T. */
FMO_HD void fmo_block_orbitals(const fmo_block *b)
{
    const int n = b->m->n;
    fmo_team_multiply(&b->team, n, n, 1.0, fmo_transposed(b->V, n), fmo_transposed(b->X, n),
                      b->m->coefficient);
}

/* Densities of the lowest orbitals, in the orthogonal and in the AO basis. */
FMO_HD void fmo_block_density(const fmo_block *b)
{
    const int n = b->m->n, occupied = b->m->occupied;
    fmo_block_orbitals(b);
    fmo_team_multiply(&b->team, n, occupied, 2.0, fmo_plain(b->V, n), fmo_transposed(b->V, n),
                      b->density_o);
    fmo_team_multiply(&b->team, n, occupied, 2.0, fmo_transposed(b->m->coefficient, n),
                      fmo_plain(b->m->coefficient, n), b->m->density);
}

/* Returns 1 if the density is that of the lowest orbitals V of its own Fock matrix, and the gap is
 * not so small that the stability of the solution has to be checked (criteria.h). */
FMO_HD int fmo_block_is_lowest(const fmo_block *b)
{
    const int n = b->m->n, occupied = b->m->occupied;
    const double *const energy = b->m->orbital_energy;
    double sum = 0.0;
    if (occupied < n && energy[occupied] - energy[occupied - 1] < FMO_SCF_SMALL_GAP) return 0;
    fmo_team_multiply(&b->team, n, n, 1.0, fmo_plain(b->density_o, n), fmo_plain(b->V, n), b->A);
    for (int e = b->team.rank; e < n * n; e += b->team.size)
        if (e % n < occupied) sum += b->V[e] * b->A[e];
    return fmo_team_sum(&b->team, sum) > 2.0 * occupied - FMO_SCF_ABRUPT;
}

/* Runs the whole SCF. The control variables have the same values in all members of the team. */
FMO_HD void fmo_block_run(const fmo_block_molecule *m, const fmo_block_settings *o, void *shared)
{
    fmo_block b = fmo_block_make(m, o->diis_size, shared);
    const int max_cycles =
        o->max_cycles < FMO_BLOCK_CYCLES_MAX ? o->max_cycles : FMO_BLOCK_CYCLES_MAX;
    fmo_scf_error_ratio error_ratio = fmo_scf_error_ratio_begin(o->gradient_convergence);
    fmo_block_outcome out = {0, 0, 0.0, NAN, 0.0, NAN, 0.0, 0.0};
    double lowest = INFINITY, before = INFINITY;
    fmo_block_add_field(&b);
    out.overlap_smallest = fmo_block_orthogonalise(&b);
    int goes_on = out.overlap_smallest > o->linear_dependence;
    if (goes_on) fmo_block_begin(&b);
    while (goes_on && !out.converged) {
        fmo_block_fock(&b);
        const double energy = fmo_block_energy(&b, &out.two_electron_energy);
        out.gradient = fmo_block_add_to_history(&b, o->diis_size);
        out.energy_change = out.cycles ? energy - out.energy : (double)NAN;
        out.energy = energy;
        fmo_scf_error_ratio_update(&error_ratio, before, out.energy_change);
        out.energy_error = fmo_scf_energy_error(&error_ratio, out.gradient);
        out.cycles++;
        before = out.gradient;
        out.converged =
            fmo_scf_within_thresholds(energy, out.energy_change, out.energy_error, out.gradient,
                                      o->energy_convergence, o->gradient_convergence);
        /* the initial density does not come from doubly occupied orbitals, so its energy is not
         * compared */
        const int rises =
            energy > lowest + FMO_SCF_ENERGY_RISE && out.gradient > FMO_SCF_EDIIS_UNTIL;
        if (out.cycles > 1) lowest = fmin(lowest, energy);
        goes_on = isfinite(energy) && isfinite(out.gradient) && !rises && out.cycles < max_cycles;
        if (out.converged || !goes_on) break;
        fmo_block_extrapolate(&b, o->diis_size);
        fmo_block_diagonalise(&b, b.A);
        fmo_block_density(&b);
    }
    if (out.converged) { /* orbitals of the last Fock matrix without extrapolation */
        fmo_block_diagonalise(&b, b.history_fock + (size_t)b.newest * (size_t)m->n * (size_t)m->n);
        fmo_block_orbitals(&b);
        out.converged = fmo_block_is_lowest(&b);
    }
    if (b.team.rank == 0) *m->outcome = out;
}

#endif
