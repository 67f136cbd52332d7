/* The field of all other fragments K on a part x,
 *     U = sum_K [ - sum_A Z_A (m|1/r_A|n) + V^K ],
 * V^K by the distance R(x,K): sum_ls D^K_ls (mn|ls) when near; with (D^K S)_ss on the diagonal
 * alone farther away; and far away nuclei and electrons together as Mulliken charges. */
#include "driver/fmo/internal.h"
#include "driver/base/checkgoto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/one_electron.h>

void fmo_field_update(fmo_fragments *f)
{
    for (int k = 0; k < f->system->fragment_num; k++) {
        const fmo_part *m = &f->monomer[k];
        const size_t n = (size_t)m->nao, size = n * n * sizeof(double);
        double *const diagonal = f->diagonal[k];
        /* Changes hold the old ones until the new ones are known. */
        for (size_t i = 0; i < n * n; i++) f->density_change[k][i] = m->density[i] - f->seen[k][i];
        memcpy(f->seen[k], m->density, size);
        memcpy(f->diagonal_change[k], diagonal, size);
        memset(diagonal, 0, size);
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < n; l++)
                diagonal[i * n + i] += m->density[i * n + l] * m->overlap[l * n + i];
        for (size_t i = 0; i < n * n; i++)
            f->diagonal_change[k][i] = diagonal[i] - f->diagonal_change[k][i];
        fmo_part_populations(m, m->density, f->mulliken[k]);
        for (int a = 0; a < m->atom_num; a++) f->mulliken[k][a] = m->charge[a] - f->mulliken[k][a];
    }
}

static fmo_seen seen_as(const fmo_fragments *f, const fmo_part *part, int k)
{
    const int n = f->system->fragment_num;
    double R = f->distance[part->fragment[0] * n + k];
    if (part->fragments == 2) R = fmin(R, f->distance[part->fragment[1] * n + k]);
    if (R < f->system->aoc_from) return FMO_SEEN_EXACT;
    return R < f->system->ptc_from ? FMO_SEEN_AOC : FMO_SEEN_CHARGES;
}

fmo_status fmo_field_coulomb(fmo_fragments *f, const fmo_part *part, int k, const double *D,
                             double *J, fmo_error *err)
{
    fmo_fock_job job = {
        .plan = part->plan, .source = f->source[k], .density = D, .coulomb = J, .err = err};
    return fmo_fock_build_batch(&job, 1, err);
}

/* Adds J of every fragment that is not seen as charges to an array. Sources that others are using
 * come later. */
static fmo_status add_coulomb(fmo_fragments *f, fmo_part *part, double *J, int *todo, int count,
                              double *sum, fmo_error *err)
{
    const size_t size = (size_t)part->nao * (size_t)part->nao;
    fmo_status status = FMO_OK;
    for (int at = 0; count > 0 && status == FMO_OK;) {
        if (at >= count) at = 0;
        const int k = todo[at];
        if (!omp_test_lock(&f->lock[k])) {
            if (at + 1 < count) {
                at++;
                continue;
            }
            omp_set_lock(&f->lock[k]);
        }
        const int exact = seen_as(f, part, k) == FMO_SEEN_EXACT;
        const double *const D = part->coulomb ? exact ? f->density_change[k] : f->diagonal_change[k]
                                : exact ? f->monomer[k].density
                                              : f->diagonal[k];
        status = fmo_field_coulomb(f, part, k, D, J, err);
        omp_unset_lock(&f->lock[k]);
        for (size_t i = 0; i < size && status == FMO_OK; i++) sum[i] += J[i];
        todo[at] = todo[--count];
    }
    return status;
}

fmo_status fmo_field_of(fmo_fragments *f, fmo_part *part, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    const size_t size = (size_t)part->nao * (size_t)part->nao;
    const size_t most = (size_t)(s->atom_num + s->bond_num);
    double *const charge = malloc(most * sizeof *charge);
    double *const coord = malloc(3 * most * sizeof *coord), *const J = malloc(size * sizeof *J);
    int *const todo = malloc((size_t)s->fragment_num * sizeof *todo), count = 0, charges = 0;
    fmo_status status = FMO_OK;
    if (!charge || !coord || !J || !todo) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a field");
        goto done;
    }
    for (int k = 0; k < s->fragment_num; k++) {
        const fmo_part *m = &f->monomer[k];
        if (k == part->fragment[0] || (part->fragments == 2 && k == part->fragment[1])) continue;
        const int point = seen_as(f, part, k) == FMO_SEEN_CHARGES;
        memcpy(charge + charges, point ? f->mulliken[k] : m->charge,
               (size_t)m->atom_num * sizeof *charge);
        memcpy(coord + 3 * charges, m->coord, 3 * (size_t)m->atom_num * sizeof *coord);
        charges += m->atom_num;
        if (!point) todo[count++] = k;
    }
    memset(part->field, 0, size * sizeof *part->field);
    if (charges)
        CHECKGOTO(
            fmo_charge_attraction(part->basis, (size_t)charges, charge, coord, part->field, err));
    double *const sum = part->coulomb ? part->coulomb : part->field;
    CHECKGOTO(add_coulomb(f, part, J, todo, count, sum, err));
    for (size_t i = 0; i < size && part->coulomb; i++) part->field[i] += part->coulomb[i];
done:
    free(charge);
    free(coord);
    free(J);
    free(todo);
    return status;
}
