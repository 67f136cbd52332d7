/* The arithmetic of gradients on a GPU (integrals/eri/eri_gradient.h) and its shell pairs
 * (accumulate/gpu/gradient/lists.h), on the host against mode cpu. */
#include <fmo/gradient.h>

#include "accumulate/gpu/gradient/lists.h"
#include "integrals/eri/eri_gradient_low.h"

#include "tests/support/system.h"

static unsigned long long seed = 90125;

enum { COMPONENTS_MAX = 64 };

/* A molecule whose gradient is computed here. */
typedef struct host_gradient {
    const fmo_basis *basis;
    fmo_gradient_lists lists;
    fmo_gradient_tables tables;
    double *D; /* [function_num][function_num] */
} host_gradient;

static fmo_gradient_side side_of(const fmo_gradient_list *list, int pair_class, int prim)
{
    const fmo_gradient_pair *const pair = &list->pair[list->pair_of[prim]];
    fmo_gradient_side side = {.pair_class = pair_class,
                              .la = fmo_pair_ang_mom(pair_class, 0),
                              .lb = fmo_pair_ang_mom(pair_class, 1),
                              .a = pair->functions[0],
                              .b = pair->functions[1],
                              .prim = list->prim[prim]};
    memcpy(side.AB, pair->AB, sizeof side.AB);
    return side;
}

static void add(double *gradient, int nucleus, double sign, const double *of)
{
    for (int x = 0; x < 3; x++) gradient[3 * nucleus + x] += sign * of[x];
}

/* Adds the derivatives of all primitive quartets of two pairs. */
static void add_quartet(const host_gradient *h, const int *classes, int bra, int ket,
                        fmo_gradient_quartet *z, double *gradient)
{
    const fmo_gradient_list *const bras = &h->lists.of[classes[0]];
    const fmo_gradient_list *const kets = &h->lists.of[classes[1]];
    const fmo_gradient_pair *const b = &bras->pair[bra], *const k = &kets->pair[ket];
    double sum[9] = {0.0};
    for (int x = 0; x < 3; x++) z->AC[x] = b->A[x] - k->A[x];
    for (int m = b->begin; m < b->begin + b->num; m++)
        for (int n = k->begin; n < k->begin + k->num; n++) {
            z->bra = side_of(bras, classes[0], m);
            z->ket = side_of(kets, classes[1], n);
            if (bras == kets && bra == ket) z->bra.prim.k *= 0.5;
            fmo_gradient_low_exchange(z->bra.la, z->bra.lb, z->ket.la, z->ket.lb, z, sum);
        }
    add(gradient, b->nucleus[0], 1.0, sum);
    add(gradient, b->nucleus[1], 1.0, sum + 3);
    add(gradient, b->nucleus[1], -1.0, sum);
    add(gradient, k->nucleus[0], 1.0, sum + 6);
    add(gradient, k->nucleus[1], -1.0, sum + 3);
    add(gradient, k->nucleus[1], -1.0, sum + 6);
}

static void exchange_gradient(const host_gradient *h, fmo_operator op, double weight,
                              double *gradient)
{
    const fmo_gradient_density term = {h->D, -weight};
    fmo_gradient_quartet z = {.boys = fmo_boys.row[0][0],
                              .op = op,
                              .term = &term,
                              .term_num = 1,
                              .nao = h->basis->function_num};
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) {
        const int classes[2] = {fmo_eri_class_bra(c), fmo_eri_class_ket(c)};
        const int same = classes[0] == classes[1];
        for (int b = 0; b < h->lists.of[classes[0]].num; b++)
            for (int k = 0; k < (same ? b + 1 : h->lists.of[classes[1]].num); k++)
                add_quartet(h, classes, b, k, &z, gradient);
    }
}

/* Where fmo_md_derivatives stores a Hermite function. */
static int place(int order, int k)
{
    return fmo_slice_power(k, 0) +
           (order + 1) * (fmo_slice_power(k, 1) + (order + 1) * fmo_slice_power(k, 2));
}

/* Adds the potential V[p] to order L at P, exponent p, of the points of a list. */
static void add_potential(const host_gradient *h, fmo_operator op, int pair_class, const double *P,
                          double p, int L, double *V)
{
    static double r[(FMO_GRADIENT_ORDER_MAX + 1) * (FMO_GRADIENT_ORDER_MAX + 1) *
                    (FMO_GRADIENT_ORDER_MAX + 1)];
    const fmo_gradient_list *const list = &h->lists.of[pair_class];
    const int order = L + fmo_pair_order(pair_class);
    for (int n = 0; n < list->prim_num; n++) {
        const fmo_gradient_side side = side_of(list, pair_class, n);
        const double *const A = list->pair[list->pair_of[n]].A;
        double block[FMO_GRADIENT_SPLITS_MAX], H[FMO_GRADIENT_PAIR_MAX] = {0.0};
        double PQ[3], R2 = 0.0, start[FMO_GRADIENT_ORDER_MAX + 1];
        const double q = side.prim.p, rs = fmo_rsqrt(p + q);
        for (int x = 0; x < 3; x++) {
            PQ[x] = P[x] - (A[x] + side.prim.PA[x]);
            R2 += PQ[x] * PQ[x];
        }
        fmo_gradient_pair_density(&h->tables, &side, h->D, h->basis->function_num,
                                  2.0 * side.prim.k, block);
        fmo_gradient_hermite(&h->tables, &side, block, H);
        fmo_gradient_start(fmo_boys.row[0][0], op, order, p * q * (rs * rs), R2, rs, start);
        fmo_md_derivatives(order, start, PQ, r);
        for (int k = 0; k < FMO_HERMITE_COUNT(L); k++)
            for (int m = 0; m < FMO_HERMITE_COUNT(fmo_pair_order(pair_class)); m++)
                V[k] +=
                    (fmo_slice_order(m) % 2 ? -1 : 1) * H[m] * r[place(order, k) + place(order, m)];
    }
}

/* Adds the gradient of the Coulomb energy: of each primitive pair in the potential of all
 * others. */
static void coulomb_gradient(const host_gradient *h, fmo_operator op, double weight,
                             double *gradient)
{
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++) {
        const fmo_gradient_list *const list = &h->lists.of[c];
        for (int n = 0; n < list->prim_num; n++) {
            const fmo_gradient_pair *const pair = &list->pair[list->pair_of[n]];
            const fmo_gradient_side side = side_of(list, c, n);
            double V[FMO_GRADIENT_RAISED_MAX] = {0.0}, sum[6] = {0.0}, P[3];
            double block[FMO_GRADIENT_SPLITS_MAX];
            for (int x = 0; x < 3; x++) P[x] = pair->A[x] + side.prim.PA[x];
            for (int k = 0; k < FMO_PAIR_GPU_COUNT; k++)
                add_potential(h, op, k, P, side.prim.p, side.la + side.lb + 1, V);
            fmo_gradient_pair_density(&h->tables, &side, h->D, h->basis->function_num,
                                      2.0 * weight * side.prim.k, block);
            fmo_gradient_in_potential(&h->tables, &side, block, V, 1, sum);
            add(gradient, pair->nucleus[0], 1.0, sum);
            add(gradient, pair->nucleus[1], -1.0, sum);
            add(gradient, pair->nucleus[1], 1.0, sum + 3);
        }
    }
}

/* The Coulomb part, or both, against mode cpu. */
static void check(const char *name, const test_system *s, int parts, fmo_operator op)
{
    fmo_basis *const basis = system_basis(s);
    const size_t n = (size_t)basis->function_num;
    const int num = 3 * s->nuclei;
    double *const density = random_density(s->aos, 1.0, &seed);
    host_gradient h = {.basis = basis, .D = malloc(n * n * sizeof *h.D)};
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.cutoff = 0.0;
    o.threads = 1;
    fmo_basis_matrix_from_caller(basis, density, FMO_SYMMETRIC_PART, h.D);
    fmo_gradient_make_tables(&h.tables);
    CHECK(fmo_gradient_make_lists(basis, 0.0, 2, 1, &h.lists, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    for (int part = 0; part < parts && plan; part++) {
        const fmo_gradient_term term = {density, part == 0, part == 1, op, op};
        double expected[COMPONENTS_MAX], got[COMPONENTS_MAX] = {0.0}, largest = 0.0;
        CHECK(fmo_fock_gradient(plan, &term, 1, expected, &err) == FMO_OK, "%s", err.message);
        for (int x = 0; x < num; x++) largest = fmax(largest, fabs(expected[x]));
        (part ? exchange_gradient : coulomb_gradient)(
            &h, op.full == 0.0 && op.long_range == 0.0 ? (fmo_operator){1.0, 0.0, 0.0} : op, 1.0,
            got);
        const double worst = check_close(name, got, expected, (size_t)num, 3, 1e-12 * largest, 0.0);
        printf("%s, %s: largest component %.3g, difference %.1e\n", name, part ? "K" : "J", largest,
               worst);
    }
    fmo_fock_plan_destroy(plan);
    fmo_gradient_free_lists(&h.lists);
    free(h.D);
    free(density);
    fmo_basis_destroy(basis);
}

/* Compares the arithmetic of the GPU's gradients, run on the host, with mode cpu; of d and f shells
 * J alone, since their K is computed by warps. */
int main(void)
{
    static test_system s, sp, d, pure, f;
    static const fmo_operator plain = {0.0, 0.0, 0.0}, mixed = {0.19, 0.46, 0.33};
    system_random(&s, 3, 3, 2, 2, 3.0, &seed);
    system_shuffle_functions(&s, &seed);
    for (int a = 0; a < 3; a++) {
        system_add_atom(&sp, 1.1 * a, 0.4 * (a % 2), 0.3 * a * a);
        system_add_shell(&sp, 0, 2, &seed);
        system_add_partner(&sp, &seed);
    }
    system_random_d(&d, 1, 3, (const int[3]){1, 2, 2}, 2, 3.0, &seed);
    system_random_d(&pure, 0, 2, (const int[3]){1, 1, 2}, 2, 3.0, &seed);
    system_random_kinds(&f, 1, 3, 4, (const int[4]){1, 1, 1, 2}, 2, 3.0, &seed);
    check("s, p", &s, 2, plain);
    check("sp", &sp, 2, plain);
    check("sp, range-separated", &sp, 2, mixed);
    check("d", &d, 1, plain);
    check("spherical d, range-separated", &pure, 1, mixed);
    check("f", &f, 1, plain);
    return check_summary();
}
