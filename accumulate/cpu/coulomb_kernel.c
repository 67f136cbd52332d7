/* J alone, without integrals: one bra pair with the ket pairs that pass screening. The Hermite
 * potential of each side is computed from the Hermite density of the other: Ahmadi and Almlof,
 * Chem. Phys. Lett. 246, 364 (1995); docs/explanation/theory.md, "J alone". Screening, sorting,
 * lanes and sums are those of cpu/kernel.c, so that threads, ranks and `fixed` need no code here.
 * Compiled once per instruction set, with FMO_CPU_COULOMB set by CMake. Read next:
 * coulomb_hermite.inc, coulomb_sweep.inc.
 *
 * For each vector of kets, densities are converted to Hermite densities, and Hermite potentials
 * are converted back, in the lanes. Gathering and scattering Hermite densities would take more
 * instructions, because they are larger than the density by the number of primitives and more. */
#include "accumulate/cpu/coulomb_hermite.inc"
#include "accumulate/cpu/kernel_digest.inc"
#include "accumulate/cpu/kernel_screen.inc"

extern coulomb_sweep_function
    *const FMO_CPU_SWEEPS[FMO_ERI_CLASS_COUNT][SWEEPS]; /* cpu/coulomb_sweep.c */

/* A class and a bra. */
typedef struct bra_task {
    int eri_class, bra_class, ket_class, bra;
    const fmo_cpu_build *build;
    fmo_cpu_worker *worker;
    const fmo_cpu_pair_list *bras, *kets;
    int bra_products, ket_products, bra_hermite, ket_hermite;
    int what; /* the kind of sweep (TO_BRA ...) */
} bra_task;

/* Working memory of a bra. */
typedef struct bra_state {
    fmo_real AB[3];
    coulomb_pairs own; /* the bra, equal in all lanes */
    double *bra_density;
    fmo_real *bra_sum, *ket_density, *ket_sum;
} bra_state;

/* True if bra and ket are of the same list; the kets then end with the bra itself. */
static int is_same(const bra_task *t)
{
    return t->bras == t->kets;
}

/* Lays out worker->hermite and computes the Hermite density of the bra. The layout is: packed
 * primitives of the bra; Hermite potentials of the bra, densities and potentials of the kets (a
 * vector for each Hermite function, primitive and density); Hermite density of the bra (a double
 * for each). */
static void begin_bra(const bra_task *t, bra_state *s)
{
    const fmo_cpu_build *build = t->build;
    const fmo_cpu_side *side = &build->side[FMO_CPU_BRA];
    const int bra = t->bra, count = t->bras->count[bra], stride = fmo_cpu_stride(t->bra_class);
    const size_t densities = (size_t)build->densities;
    const size_t of_bra = (size_t)(count * t->bra_hermite);
    const size_t of_kets = (size_t)(t->kets->count_max * t->ket_hermite);
    double *memory = t->worker->hermite;
    int q[W];
    for (int l = 0; l < W; l++) q[l] = bra;
    for (int x = 0; x < 3; x++) s->AB[x] = fmo_set(t->bras->AB[4 * (size_t)bra + (size_t)x]);
    (void)pack(t->bras, q, W, -1, t->bras->centre + 4 * (size_t)bra, 1, 0, memory);
    s->own = (coulomb_pairs){.count = count,
                             .packed = memory,
                             .exponents = t->bras->exponent +
                                          t->bras->family[t->bras->family_of[bra]].exponent,
                             .AB = s->AB,
                             .odd = 1.0};
    memory += (size_t)count * FMO_CPU_PACK_FIELDS * W;
    s->bra_sum = (fmo_real *)memory;
    s->ket_density = s->bra_sum + densities * of_bra;
    s->ket_sum = s->ket_density + densities * of_kets;
    s->bra_density = (double *)(s->ket_sum + densities * of_kets);
    if (t->what != TO_BRA) {
        for (size_t d = 0; d < densities; d++) {
            const double *from = side->density[t->bra_class] +
                                 (d * (size_t)t->bras->num + (size_t)bra) * (size_t)stride;
            fmo_real D[FMO_CPU_STRIDE_MAX];
            for (int b = 0; b < t->bra_products; b++) D[b] = fmo_set(from[b]);
            fold_of[t->bra_class](&s->own, D, s->bra_sum);
            for (size_t k = 0; k < of_bra; k++)
                memcpy(&s->bra_density[d * of_bra + k], &s->bra_sum[k], sizeof(double));
        }
    }
    for (size_t k = 0; k < densities * of_bra; k++) s->bra_sum[k] = fmo_set(0.0);
}

/* Converts the Hermite potentials of the bra and adds its block of X^J to the sums. */
static void end_bra(const bra_task *t, const bra_state *s)
{
    const fmo_cpu_adding *how = &t->build->adding;
    double *const sums = t->worker->sums.coulomb[FMO_CPU_BRA][t->bra_class];
    const size_t stride = (size_t)fmo_cpu_stride(t->bra_class);
    const size_t of_bra = (size_t)(s->own.count * t->bra_hermite);
    for (int d = 0; d < t->build->densities && sums; d++) {
        double *const block = sums + ((size_t)d * (size_t)t->bras->num + (size_t)t->bra) * stride;
        fmo_real X[FMO_CPU_STRIDE_MAX];
        for (int b = 0; b < t->bra_products; b++) X[b] = fmo_set(0.0);
        unfold_of[t->bra_class](&s->own, s->bra_sum + (size_t)d * of_bra, X);
        for (int b = 0; b < t->bra_products; b++)
            add_one(block + b, fmo_sum_lanes(X[b]), how->coulomb_scale, how);
    }
}

/* Computes the quartets of up to W kets, ordered[0 .. lanes-1]: Hermite densities of the kets,
 * sweep, X^J of the kets. `family` is NULL if the kets are of several families. */
static void do_lanes(const bra_task *t, const bra_state *s, const int *ordered, int lanes,
                     const fmo_cpu_family *family)
{
    const fmo_cpu_build *build = t->build;
    const fmo_cpu_pair_list *kets = t->kets;
    fmo_cpu_worker *w = t->worker;
    const int stride = fmo_cpu_stride(t->ket_class);
    const size_t of_density = (size_t)kets->num * (size_t)stride;
    const double *const density = build->side[FMO_CPU_KET].density[t->ket_class];
    double *const sums = w->sums.coulomb[FMO_CPU_KET][t->ket_class];
    fmo_real CD[4], block[FMO_CPU_STRIDE_MAX];
    int q[W], at[W];
    for (int l = 0; l < W; l++) {
        q[l] = ordered[l < lanes ? l : 0];
        at[l] = 4 * q[l];
    }
    fmo_load_rows4(kets->AB, at, CD);
    const coulomb_pairs pairs = {.count = pack(kets, q, lanes, is_same(t) ? t->bra : -1,
                                               t->bras->centre + 4 * (size_t)t->bra, 1,
                                               family == NULL, w->packed),
                                 .packed = w->packed,
                                 .exponents = family ? kets->exponent + family->exponent : NULL,
                                 .AB = CD,
                                 .odd = -1.0};
    const size_t of_kets = (size_t)(pairs.count * t->ket_hermite);
    for (int l = 0; l < W; l++) at[l] = q[l] * stride;
    for (int d = 0; d < build->densities && t->what != TO_KET; d++) {
        const double *const from = density + (size_t)d * of_density;
        if (stride == 1)
            block[0] = fmo_load_each(from, at);
        else
            for (int b = 0; b < stride; b += 4) fmo_load_rows4(from + b, at, block + b);
        fold_of[t->ket_class](&pairs, block, s->ket_density + (size_t)d * of_kets);
    }
    for (size_t k = 0; k < (size_t)build->densities * of_kets && t->what != TO_BRA; k++)
        s->ket_sum[k] = fmo_set(0.0);
    const coulomb_sweep all = {
        .bras = s->own.count,
        .kets = pairs.count,
        .densities = build->densities,
        .prim = t->bras->prim + t->bras->prim_begin[t->bra] * FMO_CPU_PRIM_FIELDS,
        .p = s->own.exponents,
        .packed = w->packed,
        .table = family ? w->table + (size_t)family->exponent * TABLE_STRIDE(0) : NULL,
        .table_row = (size_t)kets->exponent_num * TABLE_STRIDE(0),
        .bra_density = s->bra_density,
        .ket_density = s->ket_density,
        .bra_sum = s->bra_sum,
        .ket_sum = s->ket_sum,
        .bra_stride = (size_t)(s->own.count * t->bra_hermite),
        .ket_stride = of_kets};
    FMO_CPU_SWEEPS[t->eri_class][t->what](&all);
    for (int d = 0; d < build->densities && sums; d++) {
        for (int b = 0; b < stride; b++) block[b] = fmo_set(0.0);
        unfold_of[t->ket_class](&pairs, s->ket_sum + (size_t)d * of_kets, block);
        add_coulomb(&build->adding, t->ket_products, stride, sums + (size_t)d * of_density, at,
                    block);
    }
}

/* Processes all kets of a bra in the order of build_bra (cpu/kernel_bra.inc). */
static void coulomb_bra(const bra_task *t)
{
    const fmo_cpu_build *build = t->build;
    fmo_cpu_worker *w = t->worker;
    const int bra = t->bra, same = is_same(t);
    const fmo_cpu_side *const sides = build->side;
    const fmo_cpu_pair_list *const bras = t->bras, *const kets = t->kets;
    const int bra_family = bras->family_of[bra];
    int begun = 0, left = 0;
    bra_state s;
    if (build->near) find_near(build, build->leaf_of[t->bra_class][bra], w);
    const ket_screen screen = {.pair_max = sides[FMO_CPU_KET].largest[t->ket_class],
                               .shell_max = w->shell_max,
                               .near = build->near ? w->near : NULL,
                               .leaf_of = build->leaf_of[t->ket_class],
                               .bra_bound = bras->bound[bra],
                               .bra_max = sides[FMO_CPU_BRA].largest[t->bra_class][bra],
                               .max_factor = 4.0 * build->coulomb_largest};
    for (int f = 0; f < (same ? bra_family + 1 : kets->family_num); f++) {
        const fmo_cpu_family *family = &kets->family[f];
        const int num = screen_kets(build, kets, &screen, family->begin,
                                    same && f == bra_family ? bra + 1 : family->end, w->ket);
        if (!num) continue;
        if (!begun) begin_bra(t, &s);
        begun = 1;
        w->quartets += num;
        const int full = fmo_cpu_kets_in_own_vectors(num, W);
        w->prim_quartets +=
            bras->kept[bra] * order_kets(bras, bra, kets, family->count_max, num, w);
        if (full && w->table_of[f] != bra_family) {
            make_table(bras, &bras->family[bra_family], kets, family, 0, w->table);
            w->table_of[f] = bra_family;
        }
        for (int first = 0; first < full; first += W)
            do_lanes(t, &s, w->ordered + first, full - first < W ? full - first : W, family);
        for (int n = full; n < num; n++) w->left[left++] = w->ordered[n];
    }
    if (left) {
        memcpy(w->ket, w->left, (size_t)left * sizeof *w->ket);
        (void)order_kets(bras, bra, kets, kets->count_max, left, w);
        for (int first = 0; first < left; first += W)
            do_lanes(t, &s, w->ordered + first, left - first < W ? left - first : W, NULL);
    }
    if (begun) end_bra(t, &s);
}

/* Processes bra `bra` of a class, with the kind of sweep that the requested sums need. */
void FMO_CPU_COULOMB(int eri_class, const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra)
{
    const int bra_class = fmo_eri_class_bra(eri_class), ket_class = fmo_eri_class_ket(eri_class);
    const int to_bra = worker->sums.coulomb[FMO_CPU_BRA][bra_class] != NULL;
    const int to_ket = worker->sums.coulomb[FMO_CPU_KET][ket_class] != NULL;
    const bra_task t = {.eri_class = eri_class,
                        .bra_class = bra_class,
                        .ket_class = ket_class,
                        .bra = bra,
                        .build = build,
                        .worker = worker,
                        .bras = &build->side[FMO_CPU_BRA].pairs->list[bra_class],
                        .kets = &build->side[FMO_CPU_KET].pairs->list[ket_class],
                        .bra_products = fmo_pair_products(bra_class, 0),
                        .ket_products = fmo_pair_products(ket_class, 0),
                        .bra_hermite = FMO_HERMITE_COUNT(fmo_pair_order(bra_class)),
                        .ket_hermite = FMO_HERMITE_COUNT(fmo_pair_order(ket_class)),
                        .what = build->densities > 1 ? SEVERAL
                                : to_bra && to_ket   ? TO_BOTH
                                : to_bra             ? TO_BRA
                                                     : TO_KET};
    coulomb_bra(&t);
}
