/* All of one bra: screen, order, compute, digest; or digest what is stored. The steps of
 * cpu/kernel.c put together. */
#ifndef FMO_CPU_KERNEL_BRA_H
#define FMO_CPU_KERNEL_BRA_H

#include "accumulate/cpu/kernel_contract.h"
#include "accumulate/cpu/kernel_digest.h"
#include "accumulate/cpu/kernel_screen.h"

/* A class and a bra, all of it but the pointers known when the kernel is compiled. */
typedef struct bra_task {
    int eri_class, bra_class, ket_class, accumulators, M, ni, nj, nk, nl;
    int bra;
    const fmo_cpu_build *build;
    fmo_cpu_worker *worker;
} bra_task;

/* `rule`, a constant everywhere below: the class is one by the rule (eri/eri_rule.h). All of these
 * share one copy of what follows, in which the class is no constant. */

/* Bra and ket are of one list, which is gone through up to the bra itself. */
FMO_HD int is_same(const bra_task *t)
{
    return t->bra_class == t->ket_class &&
           t->build->side[FMO_CPU_BRA].pairs == t->build->side[FMO_CPU_KET].pairs;
}

/* The densities of a bra, with sums that start from zero. */
typedef struct bra_densities {
    density_at at[FMO_PLAN_DENSITIES_MAX];
    fmo_real sum[FMO_PLAN_DENSITIES_MAX][FMO_PAIR_PRODUCTS_MAX];
} bra_densities;

/* The integrals in the lanes with each density. */
FMO_HD void digest_all(const bra_task *t, int rule, const int *q, const fmo_real *eri,
                       const bra_densities *with)
{
    if (t->build->density)
        for (int d = 0; d < t->build->densities; d++)
            digest(rule, t->build, &with->at[d], 1, t->ni, t->nj, t->nk, t->nl, t->ket_class, q,
                   eri);
    else
        for (int d = 0; d < t->build->densities; d++)
            digest(rule, t->build, &with->at[d], 0, t->ni, t->nj, t->nk, t->nl, t->ket_class, q,
                   eri);
}

/* Integrals of kets q: into the store, if there is one, and digested. */
FMO_HD void end_lanes(const bra_task *t, int rule, const int *q, const fmo_real *eri,
                      const bra_densities *with)
{
    if (t->build->store) {
        const fmo_cpu_store *store = &t->build->store[t->eri_class];
        const size_t size = (size_t)(t->ni * t->nj * t->nk * t->nl) * W;
        const fmo_cpu_pair_list *kets = &t->build->side[FMO_CPU_KET].pairs->list[t->ket_class];
        const size_t v = t->worker->vector++;
        double largest = 0.0;
        for (int l = 0; l < W; l++) largest = fmo_screen_max(largest, kets->bound[q[l]]);
        store->bound[v] = (float)(largest * (1.0 + 0x1p-22)); /* not below it */
        memcpy(store->ket + v * W, q, W * sizeof *q);
        memcpy(store->eri + v * size, eri, size * sizeof *store->eri);
    }
    digest_all(t, rule, q, eri, with);
}

/* Kets worker->ordered[first..] in as many lanes as there are: compute and digest. */
FMO_HD void do_lanes(const bra_task *t, int rule, const int *ordered, int lanes,
                     const fmo_cpu_family *family, const fmo_real *AB, const bra_densities *with)
{
    const fmo_cpu_pair_list *bras = &t->build->side[FMO_CPU_BRA].pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &t->build->side[FMO_CPU_KET].pairs->list[t->ket_class];
    fmo_cpu_worker *w = t->worker;
    fmo_real acc[FMO_ERI_ACCUMULATORS_MAX], eri[FMO_ERI_INTEGRALS_MAX], CD[4];
    int q[W], at[W];
    for (int l = 0; l < W; l++) {
        q[l] = ordered[l < lanes ? l : 0];
        at[l] = 4 * q[l];
    }
    /* classes by the rule have no last step */
    fmo_real *const sums = rule ? eri : acc;
    if (t->nl > 1 || rule) fmo_load_rows4(kets->AB, at, CD);
    const int count = pack(kets, q, lanes, is_same(t) ? t->bra : -1,
                           bras->centre + 4 * (size_t)t->bra, t->nk > 1, family == NULL, w->packed);
    if (family)
        contract(rule, t->eri_class, t->M, t->accumulators, bras, t->bra,
                 w->table + (size_t)family->exponent * TABLE_STRIDE(t->M),
                 (size_t)kets->exponent_num * TABLE_STRIDE(t->M), kets->exponent + family->exponent,
                 count, w->packed, AB, CD, sums);
    else
        contract(rule, t->eri_class, t->M, t->accumulators, bras, t->bra, NULL, 0, NULL, count,
                 w->packed, AB, CD, sums);
    if (!rule) finish(t->eri_class, AB, CD, acc, eri);
    end_lanes(t, rule, q, eri, with);
}

/* Kets of a few vectors whose primitives differ in number would wait for the longest in each: their
 * primitives in lanes instead, one by one, and what these add up to in the lanes of kets. For light
 * classes, which are few numbers before their last step. */
enum { SPREAD_VECTORS = 4 };
union light_accumulators {
#define ROW(e, name, ...) char name[eri_##name##_acc];
    FMO_ERI_LIGHT_TABLE(ROW)
#undef ROW
};
enum { LIGHT_ACCUMULATORS_MAX = sizeof(union light_accumulators) };

/* Do fewer vectors of primitives hold kets ordered[0..num-1] than vectors of kets would take? Each
 * costs some adds, as much as two primitives of the bra. */
FMO_HD int worth_spreading(const bra_task *t, const int *ordered, int num)
{
    const fmo_cpu_pair_list *kets = &t->build->side[FMO_CPU_KET].pairs->list[t->ket_class];
    const int bra_count = t->build->side[FMO_CPU_BRA].pairs->list[t->bra_class].count[t->bra];
    int prims = 0, together = 0;
    for (int n = 0; n < num; n++) {
        prims += kets->count[ordered[n]];
        /* in ascending order */
        if (n % W == W - 1 || n == num - 1) together += kets->count[ordered[n]];
    }
    return W > 1 && (prims + W - 1) / W * (bra_count + 2) < together * bra_count;
}

FMO_HD void do_spread(const bra_task *t, const int *ordered, int num, const fmo_real *AB,
                      const bra_densities *with)
{
    const fmo_cpu_pair_list *bras = &t->build->side[FMO_CPU_BRA].pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &t->build->side[FMO_CPU_KET].pairs->list[t->ket_class];
    fmo_cpu_worker *w = t->worker;
    double total[SPREAD_VECTORS][LIGHT_ACCUMULATORS_MAX][W];
    fmo_real acc[LIGHT_ACCUMULATORS_MAX], eri[FMO_ERI_INTEGRALS_MAX], CD[4];
    int q[W], prim[W], slot[W], at[W], lanes = 0;
    memset(total, 0, (size_t)((num + W - 1) / W) * sizeof *total);
    for (int n = 0; n < num; n++)
        for (int m = 0; m < kets->count[ordered[n]]; m++) {
            q[lanes] = ordered[n];
            prim[lanes] = m;
            slot[lanes++] = n;
            if (lanes < W && (n < num - 1 || m < kets->count[ordered[n]] - 1)) continue;
            for (int l = lanes; l < W; l++) q[l] = q[0], prim[l] = prim[0];
            pack_prims(kets, q, prim, lanes, is_same(t) ? t->bra : -1,
                       bras->centre + 4 * (size_t)t->bra, t->nk > 1, w->packed);
            contract(0, t->eri_class, t->M, t->accumulators, bras, t->bra, NULL, 0, NULL, 1,
                     w->packed, AB, CD, acc);
            for (int a = 0; a < t->accumulators; a++) {
                double lane[W];
                memcpy(lane, &acc[a], sizeof lane);
                for (int l = 0; l < lanes; l++) total[slot[l] / W][a][slot[l] % W] += lane[l];
            }
            lanes = 0;
        }
    for (int first = 0; first < num; first += W) {
        for (int l = 0; l < W; l++) {
            q[l] = ordered[first + l < num ? first + l : first];
            at[l] = 4 * q[l];
        }
        if (t->nl > 1) fmo_load_rows4(kets->AB, at, CD);
        for (int a = 0; a < t->accumulators; a++) acc[a] = fmo_load(total[first / W][a]);
        finish(t->eri_class, AB, CD, acc, eri);
        end_lanes(t, 0, q, eri, with);
    }
}

/* First functions of shells i and j, component by component. */
FMO_HD void bra_functions(const bra_task *t, int *ao)
{
    const fmo_cpu_pair_list *bras = &t->build->side[FMO_CPU_BRA].pairs->list[t->bra_class];
    for (int c = 0; c < t->ni; c++) ao[c] = bras->ao_i[t->bra] + c;
    for (int c = 0; c < t->nj; c++) ao[t->ni + c] = bras->ao_j[t->bra] + c;
}

FMO_HD void begin_bra(const bra_task *t, bra_densities *with)
{
    const fmo_cpu_build *build = t->build;
    const fmo_cpu_side *const sides = build->side;
    const size_t bra_stride = (size_t)fmo_cpu_stride(t->bra_class);
    const size_t bras = bra_stride * (size_t)sides[FMO_CPU_BRA].pairs->list[t->bra_class].num;
    const size_t kets = (size_t)fmo_cpu_stride(t->ket_class) *
                        (size_t)sides[FMO_CPU_KET].pairs->list[t->ket_class].num;
    const size_t rows = (size_t)build->basis->function_num * FMO_CPU_ROW_MAX;
    double *const coulomb = t->worker->sums.coulomb[FMO_CPU_KET][t->ket_class];
    int ao[2 * FMO_SHELL_FUNCTIONS_MAX];
    for (int n = 0; n < build->densities; n++) {
        const size_t d = (size_t)n;
        with->at[d].rows = t->worker->density_rows + d * rows;
        with->at[d].exchange = t->worker->exchange_rows + d * rows;
        with->at[d].bra =
            sides[FMO_CPU_BRA].density[t->bra_class] + d * bras + (size_t)t->bra * bra_stride;
        with->at[d].kets = sides[FMO_CPU_KET].density[t->ket_class] + d * kets;
        with->at[d].coulomb = coulomb ? coulomb + d * kets : NULL;
        with->at[d].bra_sum = with->sum[d];
        with->at[d].near = build->near ? t->worker->near : NULL;
        with->at[d].leaf_of = build->leaf_of[t->ket_class];
        for (int b = 0; b < t->ni * t->nj; b++) with->sum[d][b] = fmo_set(0.0);
    }
    if (!build->density) return;
    bra_functions(t, ao);
    begin_rows(build, t->ni + t->nj, ROW_SIZE(t->ni + t->nj), ao, t->worker);
}

FMO_HD void end_bra(const bra_task *t, const bra_densities *with)
{
    const fmo_cpu_adding *how = &t->build->adding;
    const fmo_cpu_pair_list *bras = &t->build->side[FMO_CPU_BRA].pairs->list[t->bra_class];
    double *const sums = t->worker->sums.coulomb[FMO_CPU_BRA][t->bra_class];
    const size_t stride = (size_t)fmo_cpu_stride(t->bra_class);
    int ao[2 * FMO_SHELL_FUNCTIONS_MAX];
    if (t->build->density) {
        bra_functions(t, ao);
        end_rows(t->build, t->ni + t->nj, ROW_SIZE(t->ni + t->nj), ao, t->worker);
    }
    for (int d = 0; d < t->build->densities && sums; d++) {
        double *block = sums + ((size_t)d * (size_t)bras->num + (size_t)t->bra) * stride;
        for (int b = 0; b < t->ni * t->nj; b++)
            add_one(block + b, fmo_sum_lanes(with->sum[d][b]), how->coulomb_scale, how);
    }
}

/* What screening wants to know of K: shell_max, and the largest element of rows i and j. */
FMO_HD double exchange_of_bra(const bra_task *t)
{
    const fmo_cpu_build *build = t->build;
    const fmo_cpu_pair_list *bras = &build->side[FMO_CPU_BRA].pairs->list[t->bra_class];
    const int shells = build->basis->shell_num, i = bras->i[t->bra], j = bras->j[t->bra];
    if (!build->density) return 0.0; /* shell_max is 0 */
    const double *di = build->density_max + (size_t)i * (size_t)shells;
    const double *dj = build->density_max + (size_t)j * (size_t)shells;
    for (int s = 0; s < shells; s++) t->worker->shell_max[s] = fmo_screen_max(di[s], dj[s]);
    return fmo_screen_max(build->row_max[i], build->row_max[j]);
}

/* Computes a bra. */
FMO_HD void build_bra(const bra_task *t, int rule)
{
    const fmo_cpu_build *build = t->build;
    fmo_cpu_worker *w = t->worker;
    const int bra = t->bra, same = is_same(t);
    const fmo_cpu_side *const sides = build->side;
    const fmo_cpu_pair_list *bras = &sides[FMO_CPU_BRA].pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &sides[FMO_CPU_KET].pairs->list[t->ket_class];
    const int bra_family = bras->family_of[bra];
    const double of_density = fmo_screen_max(4.0 * build->coulomb_largest, exchange_of_bra(t));
    const double most = build->store ? build->store_factor : of_density;
    int begun = 0, left = 0;
    bra_densities with;
    fmo_real AB[3];
    for (int x = 0; x < 3; x++) AB[x] = fmo_set(bras->AB[4 * (size_t)bra + (size_t)x]);
    if (build->near) find_near(build, build->leaf_of[t->bra_class][bra], w);
    if (build->store) w->vector = build->store[t->eri_class].begin[bra];

    for (int f = 0; f < (same ? bra_family + 1 : kets->family_num); f++) {
        const fmo_cpu_family *family = &kets->family[f];
        const int num =
            screen_kets(build, kets, sides[FMO_CPU_KET].largest[t->ket_class], w->shell_max,
                        build->near ? w->near : NULL, build->leaf_of[t->ket_class],
                        bras->bound[bra], sides[FMO_CPU_BRA].largest[t->bra_class][bra], most,
                        family->begin, same && f == bra_family ? bra + 1 : family->end, w->ket);
        if (!num) continue;
        if (!begun) begin_bra(t, &with);
        begun = 1;
        w->quartets += num;
        const int full = fmo_cpu_kets_apart(num, W);
        const int64_t prims = order_kets(bras, bra, kets, family->count_max, num, w);
        w->prim_quartets += bras->kept[bra] * prims;
        if (full && w->table_of[f] != bra_family) {
            make_table(bras, &bras->family[bra_family], kets, family, t->M, w->table);
            w->table_of[f] = bra_family;
        }
        for (int first = 0; first < full; first += W)
            do_lanes(t, rule, w->ordered + first, full - first < W ? full - first : W, family, AB,
                     &with);
        for (int n = full; n < num; n++) w->left[left++] = w->ordered[n];
    }
    if (left) {
        memcpy(w->ket, w->left, (size_t)left * sizeof *w->ket);
        (void)order_kets(bras, bra, kets, kets->count_max, left, w);
        const int most_at_once = SPREAD_VECTORS * W;
        for (int first = 0; first < left; first += most_at_once) {
            const int few = most_at_once < left - first ? most_at_once : left - first;
            const int *const ordered = w->ordered + first;
            const int spread = !rule && worth_spreading(t, ordered, few);
            if (spread) do_spread(t, ordered, few, AB, &with);
            for (int n = 0; n < few && !spread; n += W)
                do_lanes(t, rule, ordered + n, few - n < W ? few - n : W, NULL, AB, &with);
        }
    }
    if (begun) end_bra(t, &with);
}

/* Does any ket of a vector of the store count? `most` bounds the density factor. Looking at each
 * ket takes as long as adding a few integrals, and asking at all as long as adding a few vectors.
 */
enum { MANY_INTEGRALS = 9, MANY_VECTORS = 8 };
FMO_HD int counts(const bra_task *t, size_t v, size_t integrals, double most)
{
    const fmo_cpu_build *build = t->build;
    const fmo_cpu_store *store = &build->store[t->eri_class];
    const fmo_cpu_side *const sides = build->side;
    const fmo_cpu_pair_list *kets = &sides[FMO_CPU_KET].pairs->list[t->ket_class];
    const double bound = sides[FMO_CPU_BRA].pairs->list[t->bra_class].bound[t->bra];
    const double *const shell_max = t->worker->shell_max;
    const int *const q = store->ket + v * W;
    if (bound * (double)store->bound[v] * most < build->cutoff) return 0;
    if (integrals < MANY_INTEGRALS) return 1;
    for (int l = 0; l < W; l++) {
        const double factor =
            fmo_screen_density_by_rows(sides[FMO_CPU_BRA].largest[t->bra_class][t->bra],
                                       sides[FMO_CPU_KET].largest[t->ket_class][q[l]],
                                       shell_max[kets->i[q[l]]], shell_max[kets->j[q[l]]]);
        if (bound * kets->bound[q[l]] * factor >= build->cutoff) return 1;
    }
    return 0;
}

/* Adds what the store has of a bra, where it counts. */
FMO_HD void replay_bra(const bra_task *t, int rule)
{
    const fmo_cpu_store *store = &t->build->store[t->eri_class];
    const size_t components = (size_t)(t->ni * t->nj * t->nk * t->nl);
    const size_t begin = store->begin[t->bra], end = store->begin[t->bra + 1];
    const int screens = t->build->cutoff > 0.0 && end - begin >= MANY_VECTORS;
    const double most =
        screens ? fmo_screen_max(4.0 * t->build->coulomb_largest, exchange_of_bra(t)) : 0.0;
    bra_densities with;
    fmo_real eri[FMO_ERI_INTEGRALS_MAX];
    int begun = 0;
    for (size_t v = begin; v < end; v++) {
        if (screens && !counts(t, v, components, most)) continue;
        if (!begun) begin_bra(t, &with);
        begun = 1;
        const double *from = store->eri + v * components * W;
        for (size_t c = 0; c < components; c++) eri[c] = fmo_load(from + c * W);
        digest_all(t, rule, store->ket + v * W, eri, &with);
    }
    if (begun) end_bra(t, &with);
}

#endif
