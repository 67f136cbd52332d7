/* Overlap, dipole moment, kinetic energy and attraction by point charges over contracted shells,
 * computed over Cartesian functions. The first three: products of one-dimensional integrals, by the
 * recursions of Obara and Saika (1986), equations (A2), (A6) and (A12). Attraction: sums over
 * charges for each product of two primitives (charge_sums.h) and one Hermite expansion for all
 * charges together (hermite.h). Products and their neglect: centres.h. Equations:
 * docs/explanation/one-electron.md.
 */
#include <fmo/one_electron.h>

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/stack.h"
#include "base/threads.h"
#include "base/vector.h"
#include "integrals/one_electron/charge_list.h"
#include "integrals/one_electron/charge_sums.h"
#include "integrals/one_electron/moments_1d.h"
#include "integrals/one_electron/products.h"
#include "integrals/tuning.h"

/* Charges are processed in pieces of this number: their coordinates relative to both centres of a
 * pair then stay in the L2 cache. */
enum { CHARGE_PIECE = fmo_tuning_charge_piece };

/* With many charges and few centres, charges too are divided among threads, into parts with their
 * own sums, of at least PART_CHARGES charges; the sums have at most PART_NUMBERS elements. The
 * number of parts depends only on the sizes, so that results do not depend on the number of
 * threads. */
enum {
    PART_CHARGES = fmo_tuning_charge_part,
    PARTS = fmo_tuning_charge_parts,
    PART_NUMBERS = fmo_tuning_charge_part_numbers,
    PART_PAIRS = fmo_tuning_charge_part_pairs
};

/* Number of kets that a task combines with one bra if there are many centres. */
enum { TASK_KETS = fmo_tuning_one_electron_kets };

/* Number of products of primitives, weighted with the number of charges, that justifies a thread:
 * about 1 ms. */
enum { THREAD_WORK = fmo_tuning_one_electron_thread_work };

typedef struct one_electron one_electron;
typedef struct worker worker;

/* Computes the blocks of a product that its shells use. */
typedef void product_function(const worker *w, const fmo_product *z, fmo_product_blocks out);

struct one_electron {
    const fmo_centres *bra, *ket; /* the same, or of two bases */
    product_function *function;
    const fmo_charge_list *charges; /* NULL: none */
    const fmo_charge_kernels *kernels;
    int axis;      /* of a dipole moment: x 0, y 1, z 2 */
    double origin; /* its coordinate on this axis */
    int parts;
    double *out[PARTS]; /* [bra functions][ket functions] in the caller's order */
};

/* Coordinates of a piece of the charges relative to a centre. */
typedef struct seen_charges {
    const fmo_centre *from; /* NULL: not computed yet */
    size_t begin;
    double *coord[3]; /* [CHARGE_PIECE] */
} seen_charges;

struct worker {
    const one_electron *job;
    double *memory;
    const fmo_centre *ket; /* of the current pair */
    seen_charges seen[2];  /* relative to bra and ket */
    size_t begin, num;     /* current piece of the charges */
    double *block;         /* [bra functions][ket functions] of a pair of centres */
};

/* ---- overlap, dipole moment and kinetic energy ----------------------------------------------- */

/* Integrals of x - O from the overlaps s, as those of x - B and, times BO = B - O, of 1. */
FMO_HD void dipole_1d(int la, int lb, const fmo_product *z, int x, double BO, fmo_table_1d s,
                      fmo_table_1d d)
{
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++) {
            d[i][j] = (z->PB[x] + BO) * s[i][j];
            if (i > 0) d[i][j] += z->half * i * s[i - 1][j];
            if (j > 0) d[i][j] += z->half * j * s[i][j - 1];
        }
    }
}

/* Computes one block of overlaps or of kinetic energy integrals. */
FMO_HD void block_of(int la, int lb, int kinetic, double scale, fmo_table_1d *s, fmo_table_1d *t,
                     double *out)
{
    const int base_a = FMO_HERMITE_COUNT(la - 1), base_b = FMO_HERMITE_COUNT(lb - 1);
    FMO_UNROLL
    for (int i = 0; i < FMO_CARTESIAN(la); i++) {
        FMO_UNROLL
        for (int j = 0; j < FMO_CARTESIAN(lb); j++) {
            const uint8_t *const a = fmo_hermite_term[base_a + i];
            const uint8_t *const b = fmo_hermite_term[base_b + j];
            const double S[3] = {s[0][a[0]][b[0]], s[1][a[1]][b[1]], s[2][a[2]][b[2]]};
            double sum = S[0] * S[1] * S[2];
            if (kinetic) {
                const double T[3] = {t[0][a[0]][b[0]], t[1][a[1]][b[1]], t[2][a[2]][b[2]]};
                sum = T[0] * S[1] * S[2] + S[0] * T[1] * S[2] + S[0] * S[1] * T[2];
            }
            out[i * FMO_CARTESIAN(lb) + j] = scale * sum;
        }
    }
}

/* Computes the blocks that a product uses, with these largest angular momenta. */
FMO_HD void blocks_of(int la, int lb, int kinetic, const fmo_product *z, fmo_table_1d *s,
                      fmo_table_1d *t, fmo_product_blocks out)
{
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++)
            if ((z->kinds_a >> i & 1) && (z->kinds_b >> j & 1))
                block_of(i, j, kinetic, z->scale, s, t, out[i][j]);
    }
}

FMO_HD void overlap_of(int la, int lb, int kinetic, const fmo_product *z, fmo_product_blocks out)
{
    fmo_table_1d s[3], t[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        fmo_overlap_1d(la, lb, z, x, s[x]);
        if (kinetic) fmo_kinetic_1d(la, lb, z, x, s[x], t[x]);
    }
    blocks_of(la, lb, kinetic, z, s, t, out);
}

/* The moment along an axis: overlaps, with those of this axis replaced. */
FMO_HD void dipole_of(int la, int lb, const worker *w, const fmo_product *z, fmo_product_blocks out)
{
    fmo_table_1d s[3], d[3];
    const int axis = w->job->axis;
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        fmo_overlap_1d(la, lb, z, x, s[x]);
        memcpy(d[x], s[x], sizeof d[x]);
    }
    dipole_1d(la, lb, z, axis, w->ket->at[axis] - w->job->origin, s[axis], d[axis]);
    blocks_of(la, lb, 0, z, d, NULL, out);
}

static void overlap_product(const worker *w, const fmo_product *z, fmo_product_blocks out)
{
    (void)w;
#define CALL(la, lb) overlap_of(la, lb, 0, z, out);
    FMO_WITH_ANY_ANG_MOM
#undef CALL
}

static void kinetic_product(const worker *w, const fmo_product *z, fmo_product_blocks out)
{
    (void)w;
#define CALL(la, lb) overlap_of(la, lb, 1, z, out);
    FMO_WITH_ANY_ANG_MOM
#undef CALL
}

static void dipole_product(const worker *w, const fmo_product *z, fmo_product_blocks out)
{
#define CALL(la, lb) dipole_of(la, lb, w, z, out);
    FMO_WITH_ANY_ANG_MOM
#undef CALL
}

/* ---- attraction by charges ------------------------------------------------------------------ */

/* Computes the attraction by a piece of the charges. Their coordinates relative to the centre of
 * the tighter primitive, which is closer to the product's centre, are differences computed
 * beforehand, so that a charge on a nucleus loses no digits wherever the molecule is. */
static void attraction_product(const worker *w, const fmo_product *z, fmo_product_blocks out)
{
    double sums[FMO_CHARGE_SUMS_MAX], R[FMO_HERMITE_MAX];
    const int ket = z->b > z->a;
    const seen_charges *const seen = &w->seen[ket];
    const fmo_charge_view view = {w->num, w->job->charges->charge + w->begin, seen->coord[0],
                                  seen->coord[1], seen->coord[2]};
    const int pair =
        z->la >= z->lb ? fmo_pair_class_of(z->la, z->lb) : fmo_pair_class_of(z->lb, z->la);
    w->job->kernels->sums[pair](&view, ket ? z->PB : z->PA, z->p, sums);
#define CALL(la, lb) fmo_hermite_from_sums((la) + (lb), sums, R);
    FMO_WITH_ANY_ANG_MOM
#undef CALL
    fmo_product_potential(z, -z->scale, R, out);
}

static void see_charges(worker *w, int side, const fmo_centre *from)
{
    seen_charges *const seen = &w->seen[side];
    if (seen->from == from && seen->begin == w->begin) return;
    for (int x = 0; x < 3; x++) {
        const double *const all = w->job->charges->coord[x] + w->begin;
        for (size_t c = 0; c < w->num; c++) seen->coord[x][c] = all[c] - from->at[x];
    }
    seen->from = from;
    seen->begin = w->begin;
}

/* ---- pairs of centres ----------------------------------------------------------------------- */

/* A pair of centres in progress. */
typedef struct centre_pair {
    worker *w;
    const fmo_centre *A, *B;
    int found;
} centre_pair;

/* Adds a product to the block of its two centres. */
static void add_product(void *user, const fmo_product *z)
{
    centre_pair *const pair = user;
    worker *const w = pair->w;
    const one_electron *const job = w->job;
    fmo_product_blocks blocks;
    if (!pair->found)
        memset(w->block, 0, (size_t)(pair->A->functions * pair->B->functions) * sizeof *w->block);
    pair->found = 1;
    if (job->charges) see_charges(w, z->b > z->a, z->b > z->a ? pair->B : pair->A);
    job->function(w, z, blocks);
    fmo_product_contract(job->bra, job->ket, z, pair->B->functions, blocks, w->block);
}

/* Computes the blocks of one bra with some kets, for one part of the charges. */
static void run_task(worker *w, int part, int bra, int begin, int end)
{
    const one_electron *const job = w->job;
    const fmo_centre *const A = &job->bra->centre[bra];
    size_t from = 0, to = 1; /* without charges: one piece */
    if (job->charges) {
        const size_t groups = job->charges->num / FMO_CHARGE_GROUP, parts = (size_t)job->parts;
        from = groups * (size_t)part / parts * FMO_CHARGE_GROUP;
        to = groups * (size_t)(part + 1) / parts * FMO_CHARGE_GROUP;
    }
    for (int ket = begin; ket < end; ket++) {
        const fmo_centre *const B = w->ket = &job->ket->centre[ket];
        for (w->begin = from; w->begin < to; w->begin += CHARGE_PIECE) {
            w->num = to - w->begin < CHARGE_PIECE ? to - w->begin : CHARGE_PIECE;
            centre_pair pair = {w, A, B, 0};
            if (!fmo_products_each(job->bra, A, job->ket, B, add_product, &pair)) break;
            fmo_centres_add_block(job->bra, job->ket, A, B, w->block, job->out[part]);
        }
    }
}

/* Allocates the workers' memory. Returns FMO_OK or FMO_ERR_MEMORY. */
static fmo_status make_workers(const one_electron *job, int threads, worker **workers,
                               fmo_error *err)
{
    const size_t block =
        (size_t)fmo_centres_largest(job->bra) * (size_t)fmo_centres_largest(job->ket);
    const size_t seen = job->charges ? CHARGE_PIECE : 0;
    *workers = calloc((size_t)threads, sizeof **workers);
    for (int t = 0; *workers && t < threads; t++) {
        worker *const w = &(*workers)[t];
        w->job = job;
        w->memory = malloc((block + 6 * seen) * sizeof(double));
        if (!w->memory) break;
        for (int side = 0; side < 2; side++)
            for (int x = 0; x < 3; x++)
                w->seen[side].coord[x] = w->memory + (size_t)(3 * side + x) * seen;
        w->block = w->memory + 6 * seen;
    }
    if (*workers && (*workers)[threads - 1].memory) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads", threads);
}

static void free_workers(worker *workers, int threads)
{
    for (int t = 0; workers && t < threads; t++) free(workers[t].memory);
    free(workers);
}

/* Executed by each thread of a team: tasks of one bra and `step` kets. */
static void run_team(one_electron *job, worker *workers, int step, double *out)
{
    const int bras = job->bra->num, kets = job->ket->num, symmetric = job->bra == job->ket;
    const int blocks = (kets + step - 1) / step;
    const long long tasks = (long long)job->parts * bras * blocks;
    const long long rows = job->bra->basis->ao_num;
    const size_t row = (size_t)job->ket->basis->ao_num;
    worker *const w = &workers[omp_get_thread_num()];
#pragma omp for schedule(static)
    for (long long i = 0; i < rows; i++) memset(out + (size_t)i * row, 0, row * sizeof *out);
#pragma omp for schedule(dynamic)
    for (long long task = 0; task < tasks; task++) {
        /* bras with many kets first */
        const int part = (int)(task % job->parts);
        const int bra = bras - 1 - (int)(task / job->parts / blocks);
        const int begin = (int)(task / job->parts % blocks) * step;
        const int last = symmetric ? bra + 1 : kets;
        run_task(w, part, bra, begin, begin + step < last ? begin + step : last);
    }
}

/* Computes out, [bra functions][ket functions] in the caller's order. If there are few pairs of
 * shells but many charges, these are divided into parts with sums of their own. */
static fmo_status run(one_electron *job, double *out, fmo_error *err)
{
    const int bras = job->bra->num, kets = job->ket->num;
    const size_t size = (size_t)job->bra->basis->ao_num * (size_t)job->ket->basis->ao_num;
    const size_t charges = job->charges ? job->charges->num : 0;
    job->parts = 1;
    if ((double)bras * kets < PART_PAIRS)
        while (job->parts < PARTS && charges / (size_t)(job->parts + 1) >= PART_CHARGES &&
               (size_t)job->parts * size <= PART_NUMBERS)
            job->parts++;
    const double work =
        (double)job->bra->basis->prim_num * job->ket->basis->prim_num * (1.0 + (double)charges / 8);
    const double shares = work / THREAD_WORK;
    const int useful = fmo_threads_for(omp_get_max_threads(), shares);
    const int threads = useful > 1 ? fmo_threads(useful) : 1;
    worker *workers = NULL;
    double *parts = NULL;
    fmo_status status = fmo_stack_check(0, err);
    if (status != FMO_OK) return status;
    status = make_workers(job, threads, &workers, err);
    if (status == FMO_OK && job->parts > 1) {
        parts = calloc((size_t)(job->parts - 1) * size, sizeof *parts);
        if (!parts) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for sums of charges");
    }
    if (status != FMO_OK) goto done;
    job->out[0] = out;
    for (int p = 1; p < job->parts; p++) job->out[p] = parts + (size_t)(p - 1) * size;

    const int step = bras >= 4 * TASK_KETS ? TASK_KETS : 1;
    if (fmo_threads_alone(threads)) {
        run_team(job, workers, step, out);
    } else {
#pragma omp parallel num_threads(threads)
        run_team(job, workers, step, out);
    }
    for (int p = 1; p < job->parts; p++)
        for (size_t k = 0; k < size; k++) out[k] += job->out[p][k];
done:
    free(parts);
    free_workers(workers, threads);
    return status;
}

/* Computes a matrix of one basis; charges is NULL for overlap and kinetic energy. */
static fmo_status run_symmetric(const fmo_basis *basis, product_function *function,
                                const fmo_charge_list *charges, double *out, fmo_error *err)
{
    fmo_centres centres;
    fmo_status status = fmo_centres_make(basis, &centres, err);
    one_electron job = {.bra = &centres, .ket = &centres, .function = function, .charges = charges};
    if (charges) job.kernels = FMO_VECTOR_TABLE(fmo_charge_kernels);
    if (status == FMO_OK) status = run(&job, out, err);
    fmo_centres_free(&centres);
    return status;
}

/* ---- attraction matrices ----------------------------------------------------------------------
 */

static fmo_status attraction(const fmo_basis *basis, size_t num, const double *charge,
                             const double *coord, double *V, fmo_error *err)
{
    fmo_charge_list list;
    fmo_status status = fmo_charge_list_make(num, charge, coord, &list, err);
    if (status == FMO_OK) status = run_symmetric(basis, attraction_product, &list, V, err);
    fmo_charge_list_free(&list);
    return status;
}

/* ---- public --------------------------------------------------------------------------------- */

fmo_status fmo_overlap(const fmo_basis *basis, double *S, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_overlap", err, FMO_GIVEN(basis), FMO_GIVEN(S));
    return status == FMO_OK ? run_symmetric(basis, overlap_product, NULL, S, err) : status;
}

fmo_status fmo_overlap_between(const fmo_basis *a, const fmo_basis *b, double *S, fmo_error *err)
{
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_overlap_between", err, FMO_GIVEN(a), FMO_GIVEN(b), FMO_GIVEN(S));
    if (status != FMO_OK) return status;
    fmo_centres bra = {.basis = NULL}, ket = {.basis = NULL};
    status = fmo_centres_make(a, &bra, err);
    if (status == FMO_OK) status = fmo_centres_make(b, &ket, err);
    one_electron job = {.bra = &bra, .ket = &ket, .function = overlap_product};
    if (status == FMO_OK) status = run(&job, S, err);
    fmo_centres_free(&bra);
    fmo_centres_free(&ket);
    return status;
}

fmo_status fmo_kinetic(const fmo_basis *basis, double *T, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_kinetic", err, FMO_GIVEN(basis), FMO_GIVEN(T));
    return status == FMO_OK ? run_symmetric(basis, kinetic_product, NULL, T, err) : status;
}

/* Computes the three dipole matrices, one after the other, about an origin whose coordinates are
 * checked. */
fmo_status fmo_dipole(const fmo_basis *basis, const double *origin, double *D, fmo_error *err)
{
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_dipole", err, FMO_GIVEN(basis), FMO_GIVEN(origin), FMO_GIVEN(D));
    for (int x = 0; status == FMO_OK && x < 3; x++)
        if (!(fabs(origin[x]) <= 1e6))
            status = fmo_error_set(err, FMO_ERR_INPUT,
                                   "fmo_dipole: origin[%d] = %g: expected a finite coordinate in "
                                   "bohr, at most 1e6 in size",
                                   x, origin[x]);
    if (status != FMO_OK) return status;
    const size_t n = (size_t)basis->ao_num;
    fmo_centres centres;
    status = fmo_centres_make(basis, &centres, err);
    for (int x = 0; status == FMO_OK && x < 3; x++) {
        one_electron job = {.bra = &centres,
                            .ket = &centres,
                            .function = dipole_product,
                            .axis = x,
                            .origin = origin[x]};
        status = run(&job, D + (size_t)x * n * n, err);
    }
    fmo_centres_free(&centres);
    return status;
}

fmo_status fmo_nuclear_attraction(const fmo_basis *basis, double *V, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_nuclear_attraction", err, FMO_GIVEN(basis), FMO_GIVEN(V));
    if (status != FMO_OK) return status;
    return attraction(basis, (size_t)basis->nucleus_num, basis->charge, basis->coord, V, err);
}

double fmo_charge_repulsion(const fmo_basis *basis, size_t charge_num, const double *charge,
                            const double *coord)
{
    double energy = 0.0;
    for (int i = 0; basis && charge && coord && i < basis->nucleus_num; i++)
        for (size_t c = 0; c < charge_num; c++) {
            const double *const a = basis->coord + 3 * (size_t)i, *const b = coord + 3 * c;
            const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
            const double charges = basis->charge[i] * charge[c];
            if (charges != 0.0) energy += charges / sqrt(dx * dx + dy * dy + dz * dz);
        }
    return energy;
}

fmo_status fmo_charge_attraction(const fmo_basis *basis, size_t charge_num, const double *charge,
                                 const double *coord, double *V, fmo_error *err)
{
    static const char call[] = "fmo_charge_attraction";
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(basis), FMO_GIVEN(V));
    if (status == FMO_OK && charge_num > SIZE_MAX / (8 * sizeof(double)))
        status = fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: charge_num = %zu: more than memory has",
                               call, charge_num);
    if (status == FMO_OK && charge_num > 0) {
        const size_t n = (size_t)basis->ao_num;
        status = FMO_CHECK_ARGUMENTS(call, err, FMO_READ(charge, charge_num * sizeof *charge),
                                     FMO_READ(coord, 3 * charge_num * sizeof *coord),
                                     FMO_WRITTEN(V, n * n * sizeof *V));
    }
    if (status == FMO_OK) status = fmo_charges_check(call, charge_num, charge, coord, err);
    return status == FMO_OK ? attraction(basis, charge_num, charge, coord, V, err) : status;
}
