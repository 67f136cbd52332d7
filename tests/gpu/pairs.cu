/* Sp pairs that the GPU makes (accumulate/gpu/pairs/make.cu) against those of the host
 * (integrals/pairs/shell_pair.c), cut and sorted here: the same pairs in the same order, primitives
 * with the same bits, bounds rounded up. Plans by themselves and together. FMO_TEST_SMALL=1: few.
 */
#include <cuda_runtime.h>

#include "accumulate/gpu/pairs/pairs.h"
#include "accumulate/rules/pair_order.h"
#include "tests/gpu/call.h"
#include "tests/support/system.h"

static unsigned long long seed = 7;

typedef struct host_share {
    fmo_pair_rank rank;
    int pair;
    double bound;
} host_share;

static int by_rank(const void *x, const void *y)
{
    return fmo_pair_rank_compare(&((const host_share *)x)->rank, &((const host_share *)y)->rank);
}

template <class T> static T *down(const T *from, size_t num)
{
    T *const to = (T *)malloc((num + 1) * sizeof *to);
    if (num) CUDA(cudaMemcpy(to, from, num * sizeof *to, cudaMemcpyDeviceToHost));
    return to;
}

/* Copies of a list of the GPU's on the host; the number of primitives that differ in bits. */
typedef struct copied_list {
    int4 *at;
    fmo_gpu_screen_data *data;
    double *centre;
    double2 *record, *prim;
    unsigned *record_at, *prim_at;
    size_t other_bits;
} copied_list;

/* A segment of a pair, number n of the list, as make_list of gpu/pairs/stage.cu would have it. */
static void compare_segment(const fmo_fock_plan *plan, const fmo_pair_list *list, int pair_class,
                            const host_share *segment, int n, int stride, copied_list *copied)
{
    const fmo_gpu_functions *const f = &plan->gpu->functions;
    const fmo_basis *const b = plan->basis;
    const int4 *const at = copied->at;
    const fmo_gpu_screen_data *const data = copied->data;
    const double *const centre = copied->centre;
    const double2 *const record = copied->record, *const prim = copied->prim;
    const unsigned *const record_at = copied->record_at, *const prim_at = copied->prim_at;
    const int i = list->i[segment->pair], j = list->j[segment->pair], prims = segment->rank.prims;
    const int num = plan->gpu->pairs[pair_class].num;
    const int shift = fmo_pair_functions(pair_class, 0, 1) - fmo_pair_functions(pair_class, 0, 0);
    const int64_t begin = list->begin[segment->pair] + segment->rank.begin;
    const float bound = nextafterf((float)segment->bound, INFINITY);
    unsigned counts = (unsigned)prims << FMO_GPU_TALLY_PRIMS;
    if (!segment->rank.begin)
        counts |= 1u << FMO_GPU_TALLY_PAIRS | (unsigned)(list->ratio[begin] != 0.0)
                                                  << FMO_GPU_TALLY_INCLUDED;
    CHECK(at[n].x == fmo_gpu_first_function(f, b, i) - shift &&
              at[n].y == fmo_gpu_first_function(f, b, j) && at[n].z == prims && at[n].w == stride,
          "segment %d: functions %d %d, %d primitives, stride %d", n, at[n].x, at[n].y, at[n].z,
          at[n].w);
    CHECK(data[n].sp_shell.x == segment->rank.i && data[n].sp_shell.y == segment->rank.j &&
              data[n].counts == counts,
          "segment %d: SP shells %d %d, counts %x, expected %d %d %x", n, data[n].sp_shell.x,
          data[n].sp_shell.y, data[n].counts, segment->rank.i, segment->rank.j, counts);
    CHECK((double)data[n].bound >= segment->bound * (1.0 - 1e-13) &&
              fabsf(data[n].bound - bound) <= 1.3e-7f * bound,
          "segment %d: bound %.9g, expected %.9g", n, data[n].bound, bound);
    for (int x = 0; x < 3; x++)
        CHECK(centre[(size_t)x * num + n] == b->shell[i].centre[x] &&
                  centre[(size_t)(3 + x) * num + n] == list->AB[3 * (size_t)segment->pair + x],
              "segment %d: centres", n);
    for (int m = 0; m < prims; m++) {
        double expected[FMO_GPU_PAIR_FIELDS], got[FMO_GPU_PAIR_FIELDS];
        const float prim_bound = (float)list->prim_bound[begin + m];
        memcpy(expected, list->prim + (begin + m) * FMO_PAIR_FIELDS,
               FMO_PAIR_FIELDS * sizeof *expected);
        if (i == j) expected[FMO_PAIR_K] *= 0.5;
        expected[FMO_GPU_PAIR_RATIO] =
            (segment->rank.i == segment->rank.j ? 0.5 : 1.0) * list->ratio[begin + m];
        expected[FMO_GPU_PAIR_BOUND] = 0.0;
        memcpy(expected + FMO_GPU_PAIR_BOUND, &prim_bound, sizeof prim_bound);
        memcpy(got, record + ((size_t)record_at[n] + m) * FMO_GPU_PAIR_TWOS, sizeof got);
        for (int t = 0; t < FMO_GPU_PAIR_TWOS; t++) {
            const double2 two = prim[prim_at[n] + (size_t)(m * FMO_GPU_PAIR_TWOS + t) * stride];
            CHECK(memcmp(&two, &got[2 * t], sizeof two) == 0, "segment %d: primitive %d elsewhere",
                  n, m);
        }
        copied->other_bits += memcmp(expected, got, sizeof got) != 0;
        for (int t = 0; t < FMO_GPU_PAIR_BOUND; t++)
            CHECK(fabs(got[t] - expected[t]) <= 1e-15 * fabs(expected[t]),
                  "segment %d, primitive %d, field %d: %.17g, expected %.17g", n, m, t, got[t],
                  expected[t]);
    }
}

/* The segments of one pair class that the GPU makes are those of the host, in the same order, with
 * the same bounds and primitives. */
static void compare_list(const fmo_fock_plan *plan, const fmo_pair_list *list, int pair_class,
                         double *shell_bound, size_t *other_bits)
{
    const fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_pairs *const pairs = &g->pairs[pair_class];
    const int depth = fmo_gpu_contraction_depth(g->primitives);
    const size_t num = (size_t)pairs->num, tiles = num / FMO_GPU_TILE_PAIRS + 1;
    const size_t twos = (size_t)(list->prim_num + 1) * FMO_GPU_PAIR_TWOS;
    host_share *const segment =
        (host_share *)malloc((size_t)(list->prim_num + 1) * sizeof *segment);
    int n = 0;
    for (int p = 0; p < list->num; p++) {
        const int prims = (int)(list->begin[p + 1] - list->begin[p]);
        const int segments = (prims + depth - 1) / depth;
        const int i = g->functions.sp_shell_of[list->i[p]];
        const int j = g->functions.sp_shell_of[list->j[p]];
        shell_bound[i] = fmax(shell_bound[i], list->bound[p]);
        shell_bound[j] = fmax(shell_bound[j], list->bound[p]);
        for (int k = 0, begin = 0; k < segments; k++) {
            const int some = (prims - begin) / (segments - k);
            const double bound =
                segments == 1 ? list->bound[p]
                              : fmo_shell_pair_segment_bound(
                                    plan->basis, (fmo_pair_class)pair_class, list, p, begin, some);
            segment[n].rank = {some, fmo_pair_octet(bound), i, j, begin};
            segment[n].pair = p;
            segment[n++].bound = bound;
            begin += some;
        }
    }
    qsort(segment, (size_t)n, sizeof *segment, by_rank);
    CHECK(n == pairs->num && list->prim_num == g->prim_num[pair_class],
          "class %d: %d segments, %lld primitives, expected %d, %lld", pair_class, pairs->num,
          (long long)g->prim_num[pair_class], n, (long long)list->prim_num);
    if (n != pairs->num || list->prim_num != g->prim_num[pair_class]) {
        free(segment);
        return;
    }
    copied_list copied = {down(pairs->first, num),      down(pairs->screen, num),
                          down(pairs->centre, 6 * num), down(pairs->record, twos),
                          down(pairs->prim, twos),      down(pairs->record_at, num),
                          down(pairs->prim_at, num),    0};
    float *const tile = down(pairs->tile_bound, tiles);
    for (int first = 0, end; first < n; first = end) {
        for (end = first; end < n && segment[end].rank.prims == segment[first].rank.prims;) end++;
        for (int k = first; k < end; k++)
            compare_segment(plan, list, pair_class, &segment[k], k, end - first, &copied);
    }
    for (size_t t = 0; t < tiles; t++) {
        float largest = 0.0f;
        for (size_t k = t * FMO_GPU_TILE_PAIRS; k < (t + 1) * FMO_GPU_TILE_PAIRS && k < num; k++)
            largest = fmaxf(largest, copied.data[k].bound);
        CHECK(tile[t] == largest, "tile %zu: %g, expected %g", t, tile[t], largest);
    }
    free(segment);
    *other_bits += copied.other_bits;
    free(copied.at);
    free(copied.data);
    free(copied.centre);
    free(copied.record);
    free(copied.prim);
    free(copied.record_at);
    free(copied.prim_at);
    free(tile);
}

/* All pair classes of a plan, and the largest bound of each shell, agree with those of the host. */
static void compare(const char *name, const fmo_fock_plan *plan)
{
    const fmo_gpu_state *const g = plan->gpu;
    const size_t sp_shells = (size_t)g->functions.sp_shells;
    fmo_shell_pairs pairs;
    fmo_error err = {FMO_OK, ""};
    size_t other_bits = 0;
    double *const expected = (double *)calloc(sp_shells, sizeof *expected);
    CHECK(fmo_sp_pairs_make(plan->basis, plan->pairs.prune, 1, &pairs, &err) == FMO_OK, "%s",
          err.message);
    CHECK(pairs.scale == plan->pairs.scale, "%s: scale %.17g, expected %.17g", name,
          plan->pairs.scale, pairs.scale);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        CHECK(pairs.list[c].all == plan->pairs.list[c].all, "%s: class %d", name, c);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++)
        compare_list(plan, &pairs.list[c], c, expected, &other_bits);
    if (g->arrays.shell_bound) {
        double *const got = down(g->arrays.shell_bound, sp_shells);
        check_close("bounds of SP shells", got, expected, sp_shells, sp_shells, 0.0, 1e-13);
        free(got);
    }
    printf("%-22s %6d %6d %6d segments, %lld primitives, %zu with other bits\n", name,
           g->pairs[0].num, g->pairs[1].num, g->pairs[2].num,
           (long long)(g->prim_num[0] + g->prim_num[1] + g->prim_num[2]), other_bits);
    free(expected);
    fmo_shell_pairs_free(&pairs);
}

/* Atoms with shells of all kinds: s, p, SP and d. */
static fmo_basis *make_basis(int atoms, double box, int high_l)
{
    static test_system s;
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    memset(&s, 0, sizeof s);
    s.cartesian = 1;
    for (int a = 0; a < atoms; a++) {
        system_add_atom(&s, box * check_random(&seed), box * check_random(&seed),
                        box * check_random(&seed));
        for (int k = 0; k < 2; k++)
            system_add_shell(&s, 0, 1 + (int)(check_random(&seed) * 6), &seed);
        if (check_random(&seed) < 0.7) system_add_partner(&s, &seed);
        if (check_random(&seed) < 0.5) system_add_shell(&s, 1, 1 + a % 4, &seed);
        if (high_l && check_random(&seed) < 0.5) system_add_shell(&s, 2, 1 + a % 2, &seed);
    }
    system_shuffle_functions(&s, &seed);
    const fmo_basis_input input = system_input(&s);
    CHECK(fmo_basis_create(&input, &basis, &err) == FMO_OK, "%s", err.message);
    return basis;
}

static void check_one(const char *name, int atoms, double box, int high_l, double cutoff,
                      fmo_scatter scatter)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_basis *const basis = make_basis(atoms, box, high_l);
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    o.cutoff = cutoff;
    o.scatter = scatter;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    if (plan) compare(name, plan);
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
}

/* Of many sizes, more than are made at a time; one of them is missing. */
static void check_batch(int count)
{
    enum { MAX = 200 };
    fmo_basis *basis[MAX];
    fmo_fock_plan *plan[MAX];
    fmo_error errs[MAX];
    fmo_fock_options o;
    char name[32];
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    o.scatter = FMO_SCATTER_FIXED;
    for (int k = 0; k < count; k++)
        basis[k] = k == 3 ? NULL : make_basis(1 + k % 7, 2.0 + k % 5, k % 11 == 0);
    const fmo_status status = fmo_fock_plan_create_batch(basis, (size_t)count, &o, plan, errs);
    CHECK(status == FMO_ERR_ARGUMENT && errs[3].status == FMO_ERR_ARGUMENT && !plan[3],
          "a molecule is missing: %d", status);
    for (int k = 0; k < count; k++) {
        if (k == 3) continue;
        snprintf(name, sizeof name, "%d of a batch", k);
        CHECK(plan[k] && errs[k].status == FMO_OK, "%d: %s", k, errs[k].message);
        if (plan[k]) compare(name, plan[k]);
        fmo_fock_plan_destroy(plan[k]);
        fmo_basis_destroy(basis[k]);
    }
}

/* Runs the comparison on molecules from one atom to 60, and on a batch. */
int main(void)
{
    const char *const small = getenv("FMO_TEST_SMALL");
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    check_one("one atom", 1, 1.0, 0, 1e-10, FMO_SCATTER_AUTO);
    check_one("small", 6, 4.0, 0, 1e-10, FMO_SCATTER_AUTO);
    check_one("small, fixed", 6, 4.0, 0, 1e-10, FMO_SCATTER_FIXED);
    check_one("small, uncut", 5, 12.0, 0, 0.0, FMO_SCATTER_FIXED);
    check_one("with d shells", 6, 5.0, 1, 1e-10, FMO_SCATTER_AUTO);
    if (small && strcmp(small, "0") != 0) {
        check_batch(6);
        return check_summary();
    }
    check_one("middle", 30, 12.0, 0, 1e-10, FMO_SCATTER_AUTO);
    check_one("large", 60, 25.0, 0, 1e-12, FMO_SCATTER_FIXED);
    check_one("far apart", 60, 400.0, 0, 1e-10, FMO_SCATTER_FIXED);
    check_batch(200);
    return check_summary();
}
