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

/* Kets worker->ordered[first..] in as many lanes as there are: compute and digest. */
FMO_HD void do_lanes(const bra_task *t, const int *ordered, int lanes, const fmo_cpu_group *group,
                     const fmo_real *AB, fmo_real *bra_sum)
{
    const fmo_cpu_pair_list *bras = &t->build->pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &t->build->pairs->list[t->ket_class];
    fmo_cpu_worker *w = t->worker;
    fmo_real acc[FMO_ERI_ACCUMULATORS_MAX], eri[FMO_ERI_INTEGRALS_MAX], CD[4];
    int q[W], at[W];
    for (int l = 0; l < W; l++) {
        q[l] = ordered[l < lanes ? l : 0];
        at[l] = 4 * q[l];
    }
    if (t->nl > 1) fmo_load_rows4(kets->AB, at, CD);
    const int count = pack(kets, q, lanes, t->bra_class == t->ket_class ? t->bra : -1,
                           bras->centre + 4 * (size_t)t->bra, t->nk > 1, group == NULL, w->packed);
    if (group)
        contract(t->eri_class, t->M, t->accumulators, bras, t->bra,
                 w->table + (size_t)group->exponent * TABLE_STRIDE(t->M),
                 (size_t)kets->exponent_num * TABLE_STRIDE(t->M), kets->exponent + group->exponent,
                 count, w->packed, acc);
    else
        contract(t->eri_class, t->M, t->accumulators, bras, t->bra, NULL, 0, NULL, count, w->packed,
                 acc);
    finish(t->eri_class, AB, CD, acc, eri);
    if (t->build->store) {
        const fmo_cpu_store *store = &t->build->store[t->eri_class];
        const size_t size = (size_t)(t->ni * t->nj * t->nk * t->nl) * W, v = w->vector++;
        memcpy(store->ket + v * W, q, sizeof q);
        memcpy(store->eri + v * size, eri, size * sizeof *store->eri);
    }
    digest(t->build, w, t->ni, t->nj, t->nk, t->nl, t->bra_class, t->ket_class, t->bra, q, eri,
           bra_sum);
}

/* First functions of shells i and j, component by component. */
FMO_HD void bra_functions(const bra_task *t, int *ao)
{
    const fmo_cpu_pair_list *bras = &t->build->pairs->list[t->bra_class];
    for (int c = 0; c < t->ni; c++) ao[c] = bras->ao_i[t->bra] + c;
    for (int c = 0; c < t->nj; c++) ao[t->ni + c] = bras->ao_j[t->bra] + c;
}

FMO_HD void begin_bra(const bra_task *t)
{
    int ao[2 * FMO_SHELL_FUNCTIONS_MAX];
    bra_functions(t, ao);
    begin_rows(t->build, t->ni + t->nj, ROW_SIZE(t->ni + t->nj), ao, t->worker);
}

FMO_HD void end_bra(const bra_task *t, const fmo_real *bra_sum)
{
    const fmo_cpu_adding *how = &t->build->adding;
    double *block = t->worker->sums.coulomb[t->bra_class] +
                    (size_t)t->bra * (size_t)fmo_cpu_stride(t->bra_class);
    int ao[2 * FMO_SHELL_FUNCTIONS_MAX];
    bra_functions(t, ao);
    end_rows(t->build, t->ni + t->nj, ROW_SIZE(t->ni + t->nj), ao, t->worker);
    for (int b = 0; b < t->ni * t->nj; b++) {
        double sum = 0.0, lane[W];
        memcpy(lane, &bra_sum[b], sizeof lane);
        for (int l = 0; l < W; l++) sum += lane[l];
        add_one(block + b, sum, how->coulomb_scale, how);
    }
}

/* Computes a bra. */
FMO_HD void build_bra(const bra_task *t)
{
    const fmo_cpu_build *build = t->build;
    fmo_cpu_worker *w = t->worker;
    const int bra = t->bra, same = t->bra_class == t->ket_class;
    const fmo_cpu_pair_list *bras = &build->pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &build->pairs->list[t->ket_class];
    const int shells = build->basis->shell_num, i = bras->i[bra], j = bras->j[bra];
    const int bra_group = bras->group_of[bra];
    const double *di = build->density_max + (size_t)i * (size_t)shells;
    const double *dj = build->density_max + (size_t)j * (size_t)shells;
    const double of_density = fmo_screen_max(4.0 * build->density_largest,
                                             fmo_screen_max(build->row_max[i], build->row_max[j]));
    const double most = build->store ? build->store_factor : of_density;
    int begun = 0, left = 0;
    fmo_real bra_sum[FMO_PAIR_PRODUCTS_MAX], AB[3];
    for (int b = 0; b < FMO_PAIR_PRODUCTS_MAX; b++) bra_sum[b] = fmo_set(0.0);
    for (int x = 0; x < 3; x++) AB[x] = fmo_set(bras->AB[4 * (size_t)bra + (size_t)x]);
    if (build->store) w->vector = build->store[t->eri_class].begin[bra];
    for (int s = 0; s < shells; s++) w->shell_max[s] = fmo_screen_max(di[s], dj[s]);

    for (int g = 0; g < (same ? bra_group + 1 : kets->group_num); g++) {
        const fmo_cpu_group *group = &kets->group[g];
        const int num =
            screen_kets(build, kets, build->pair_max[t->ket_class], w->shell_max, bras->bound[bra],
                        build->pair_max[t->bra_class][bra], most, group->begin,
                        same && g == bra_group ? bra + 1 : group->end, w->ket);
        if (!num) continue;
        if (!begun) begin_bra(t);
        begun = 1;
        w->quartets += num;
        const int full = fmo_cpu_kets_apart(num, W);
        const int64_t prims = order_kets(bras, bra, kets, group->count_max, num, w);
        w->prim_quartets += bras->kept[bra] * prims;
        if (full && w->table_of[g] != bra_group) {
            make_table(bras, &bras->group[bra_group], kets, group, t->M, w->table);
            w->table_of[g] = bra_group;
        }
        for (int first = 0; first < full; first += W)
            do_lanes(t, w->ordered + first, full - first < W ? full - first : W, group, AB,
                     bra_sum);
        for (int n = full; n < num; n++) w->left[left++] = w->ordered[n];
    }
    if (left) {
        memcpy(w->ket, w->left, (size_t)left * sizeof *w->ket);
        (void)order_kets(bras, bra, kets, kets->count_max, left, w);
        for (int first = 0; first < left; first += W)
            do_lanes(t, w->ordered + first, left - first < W ? left - first : W, NULL, AB, bra_sum);
    }
    if (begun) end_bra(t, bra_sum);
}

/* Adds what the store has of a bra. */
FMO_HD void replay_bra(const bra_task *t)
{
    const fmo_cpu_store *store = &t->build->store[t->eri_class];
    const size_t components = (size_t)(t->ni * t->nj * t->nk * t->nl);
    fmo_real bra_sum[FMO_PAIR_PRODUCTS_MAX], eri[FMO_ERI_INTEGRALS_MAX];
    size_t v = store->begin[t->bra];
    if (v == store->begin[t->bra + 1]) return;
    for (int b = 0; b < FMO_PAIR_PRODUCTS_MAX; b++) bra_sum[b] = fmo_set(0.0);
    begin_bra(t);
    for (; v < store->begin[t->bra + 1]; v++) {
        const double *from = store->eri + v * components * W;
        for (size_t c = 0; c < components; c++) eri[c] = fmo_load(from + c * W);
        digest(t->build, t->worker, t->ni, t->nj, t->nk, t->nl, t->bra_class, t->ket_class, t->bra,
               store->ket + v * W, eri, bra_sum);
    }
    end_bra(t, bra_sum);
}

#endif
