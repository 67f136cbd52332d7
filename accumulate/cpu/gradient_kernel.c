/* Derivatives of the quartets of one bra with the kets that pass screening, one ket per lane. The
 * density of a quartet is folded before it meets integrals, so that no derivative of an integral is
 * stored: docs/explanation/gradients.md. Screening, sorting and lanes are those of cpu/kernel.c.
 * Compiled once per instruction set, with FMO_CPU_GRADIENT set by CMake. Read next:
 * gradient_quartet.inc, gradient_terms.inc,
 * gradient_low_l.inc. */
#include "accumulate/cpu/gradient_quartet.inc"

/* Of these functions only order_kets() is used. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "accumulate/cpu/kernel_screen.inc"

/* Makes the tables of a class, unless the worker has them. */
static void make_tables(int eri_class, fmo_cpu_gradient_class *c)
{
    const int pairs[2] = {fmo_eri_class_bra(eri_class), fmo_eri_class_ket(eri_class)};
    if (c->eri_class == eri_class) return;
    c->eri_class = eri_class;
    c->order = fmo_eri_class_order(eri_class) + 1;
    c->n = c->order + 1;
    for (int s = 0; s < 2; s++) {
        const int la = fmo_pair_ang_mom(pairs[s], 0), lb = fmo_pair_ang_mom(pairs[s], 1);
        make_terms(la, lb, c->n, &c->terms[s][FMO_CPU_AS_IS]);
        make_terms(la - 1, lb, c->n, &c->terms[s][FMO_CPU_FIRST_LOWER]);
        make_terms(la, lb - 1, c->n, &c->terms[s][FMO_CPU_SECOND_LOWER]);
    }
    for (int u = 0; u < c->order; u++)
        for (int v = 0; u + v < c->order; v++)
            for (int t = 0; t + u + v < c->order; t++)
                c->place[fmo_hermite_index(t, u, v)] = (short)(t + c->n * (u + c->n * v));
}

/* Computes the coefficients of the bra's Hermite terms, times its prefactors. */
static void begin_bra(const gradient_bra *t)
{
    const fmo_cpu_pair_list *const bras = t->bras;
    const fmo_cpu_family *const family = &bras->family[bras->family_of[t->bra]];
    const double *prim = bras->prim + bras->prim_begin[t->bra] * FMO_CPU_PRIM_FIELDS;
    fmo_real AB[3];
    for (int x = 0; x < 3; x++) AB[x] = fmo_set(bras->AB[4 * (size_t)t->bra + (size_t)x]);
    for (int b = 0; b < bras->count[t->bra]; b++, prim += FMO_CPU_PRIM_FIELDS) {
        const double p = bras->exponent[family->exponent + b];
        const double share = t->g->of_pairs[t->bra_class].share[family->exponent + b];
        const double K = half_sqrt_pi * prim[FMO_CPU_PRIM_K];
        const double scale[FMO_CPU_LOWERED] = {K, -share * K, (1.0 - share) * K};
        fmo_real PA[3], *const terms = (fmo_real *)t->worker->vectors; /* not in use yet */
        fmo_hermite_product E;
        for (int x = 0; x < 3; x++) PA[x] = fmo_set(prim[FMO_CPU_PRIM_X + x]);
        expand(&t->tables->terms[FMO_CPU_BRA][0], PA, AB, fmo_set(0.5 / p), E);
        for (int k = 0; k < FMO_CPU_LOWERED; k++) {
            const fmo_cpu_terms *const of = &t->tables->terms[FMO_CPU_BRA][k];
            double *const to = bra_terms(t, b, k);
            fill_terms(of, E, fmo_set(scale[k]), 1.0, terms);
            for (int n = 0; n < of->num; n++) memcpy(&to[n], &terms[n], sizeof *to);
        }
    }
}

/* Writes the pairs in [begin, end) of the ket list that pass screening to ket and returns their
 * number. A quartet passes if its derivatives, bounded by max(Q_ij S_kl, S_ij Q_kl) with the bounds
 * S of the derivatives of pairs, times its density 4 |D_ij D_kl| + |D_ik D_jl| + |D_il D_jk|, reach
 * the cutoff. Quartets of a single nucleus have no derivative. */
static int screen(const gradient_bra *t, const fmo_cpu_family *family, int end, int *ket)
{
    const fmo_cpu_gradient *const g = t->g;
    const fmo_cpu_pair_list *const bras = t->bras, *const kets = t->kets;
    const fmo_cpu_gradient_pairs *const of_bras = &g->of_pairs[t->bra_class];
    const fmo_cpu_gradient_pairs *const of_kets = &g->of_pairs[t->ket_class];
    const fmo_shell *const shell = g->basis->shell;
    const size_t shells = (size_t)g->basis->shell_num;
    const int i = bras->i[t->bra], j = bras->j[t->bra];
    const int nucleus = shell[i].nucleus == shell[j].nucleus ? shell[i].nucleus : -1;
    const double Q = bras->bound[t->bra], S = of_bras->slope[t->bra];
    const double D = 4.0 * of_bras->coulomb_max[t->bra];
    const double *const of_i = g->exchange_max + (size_t)i * shells;
    const double *const of_j = g->exchange_max + (size_t)j * shells;
    const double density_bound = D * g->coulomb_largest + 2.0 * g->row_max[i] * g->row_max[j];
    const double steepest = fmax(Q > 0.0 ? S / Q : 0.0, of_kets->steepest[family - kets->family]);
    int num = 0;
    end = fmo_cpu_kets_end(kets, family->begin, end, Q, density_bound * steepest, g->cutoff);
    for (int q = family->begin; q < end; q += W) {
        const fmo_real ik = fmo_load_each(of_i, kets->i + q), il = fmo_load_each(of_i, kets->j + q);
        const fmo_real jk = fmo_load_each(of_j, kets->i + q), jl = fmo_load_each(of_j, kets->j + q);
        const fmo_real density = D * fmo_load(of_kets->coulomb_max + q) + (ik * jl + il * jk);
        const fmo_real first = Q * fmo_load(of_kets->slope + q),
                       second = S * fmo_load(kets->bound + q);
        const unsigned stay = fmo_lanes_from(first * density, g->cutoff) |
                              fmo_lanes_from(second * density, g->cutoff);
        for (int n = q; n < end && n < q + W; n++) {
            const int of_k = shell[kets->i[n]].nucleus, of_l = shell[kets->j[n]].nucleus;
            ket[num] = n;
            num += (stay >> (n - q) & 1) && !(of_k == nucleus && of_l == nucleus);
        }
    }
    return num;
}

/* Adds the derivatives of a bra's quartets to the sums of the four nuclei of each. */
static void end_bra(const gradient_bra *t, const bra_sums *s)
{
    const fmo_shell *const shell = t->g->basis->shell;
    double *const A = t->worker->sums + 3 * shell[t->bras->i[t->bra]].nucleus;
    double *const B = t->worker->sums + 3 * shell[t->bras->j[t->bra]].nucleus;
    for (int x = 0; x < 3; x++) {
        const double first = fmo_sum_lanes(s->first[x]);
        A[x] += first;
        B[x] += fmo_sum_lanes(s->both[x]) - first;
    }
}

/* Processes all kets of a bra in the order of build_bra (cpu/kernel_bra.inc). */
void FMO_CPU_GRADIENT(int eri_class, const fmo_cpu_gradient *g, fmo_cpu_gradient_worker *worker,
                      int bra)
{
    const int bra_class = fmo_eri_class_bra(eri_class), ket_class = fmo_eri_class_ket(eri_class);
    const fmo_cpu_pair_list *const bras = &g->pairs->list[bra_class];
    const fmo_cpu_pair_list *const kets = &g->pairs->list[ket_class];
    const int same = bra_class == ket_class, bra_family = bras->family_of[bra];
    fmo_cpu_worker *const w = &worker->of_build;
    bra_sums sums;
    int begun = 0, left = 0;
    if (worker->tables->eri_class != eri_class)
        for (int f = 0; f < kets->family_num; f++) w->table_of[f] = -1;
    make_tables(eri_class, worker->tables);
    const gradient_bra t = {.li = fmo_pair_ang_mom(bra_class, 0),
                            .lj = fmo_pair_ang_mom(bra_class, 1),
                            .lk = fmo_pair_ang_mom(ket_class, 0),
                            .ll = fmo_pair_ang_mom(ket_class, 1),
                            .eri_class = eri_class,
                            .bra_class = bra_class,
                            .ket_class = ket_class,
                            .bra = bra,
                            .g = g,
                            .worker = worker,
                            .tables = worker->tables,
                            .bras = bras,
                            .kets = kets,
                            .at = fmo_cpu_gradient_layout_of(eri_class, kets->count_max)};
    memset(&sums, 0, sizeof sums);
    for (int f = 0; f < (same ? bra_family + 1 : kets->family_num); f++) {
        const fmo_cpu_family *const family = &kets->family[f];
        const int num = screen(&t, family, same && f == bra_family ? bra + 1 : family->end, w->ket);
        if (!num) continue;
        if (!begun) begin_bra(&t);
        begun = 1;
        const int full = fmo_cpu_kets_in_own_vectors(num, W);
        (void)order_kets(bras, bra, kets, family->count_max, num, w);
        if (full && w->table_of[f] != bra_family) {
            make_table(bras, &bras->family[bra_family], kets, family, 0, w->table);
            w->table_of[f] = bra_family;
        }
        for (int first = 0; first < full; first += W)
            lanes_of[eri_class](&t, w->ordered + first, full - first < W ? full - first : W, family,
                                &sums);
        for (int n = full; n < num; n++) w->left[left++] = w->ordered[n];
    }
    if (left) {
        memcpy(w->ket, w->left, (size_t)left * sizeof *w->ket);
        (void)order_kets(bras, bra, kets, kets->count_max, left, w);
        for (int first = 0; first < left; first += W)
            lanes_of[eri_class](&t, w->ordered + first, left - first < W ? left - first : W, NULL,
                                &sums);
    }
    if (begun) end_bra(&t, &sums);
}
