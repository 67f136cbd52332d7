/* Derivatives of one-electron energies, product by product of primitives on pairs of centres. Of
 * the two primitives the more diffuse one is differentiated, d/dA x^i exp(-a x^2) = (2a x^(i+1) - i
 * x^(i-1)) exp(-a x^2), which loses no digits; the derivative with respect to the other centre
 * follows from translational invariance. The density is contracted with the Hermite expansion of a
 * product before the sum over charges (charge_forces.h). docs/explanation/one-electron.md. */
#include <fmo/one_electron_gradient.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/stack.h"
#include "base/threads.h"
#include "base/vector.h"
#include "integrals/one_electron/charge_forces.h"
#include "integrals/one_electron/charge_list.h"
#include "integrals/one_electron/moments_1d.h"
#include "integrals/tuning.h"

enum {
    PARTS = fmo_tuning_one_electron_gradient_parts,
    PART_NUMBERS = fmo_tuning_charge_part_numbers,
    THREAD_WORK = fmo_tuning_one_electron_thread_work
};

/* Matrices that are contracted with derivatives, by position in the arrays below. */
enum { DENSITY, WEIGHTED, MATRICES };

/* What is differentiated. Results are summed in parts, whose number depends only on the sizes, so
 * that results do not depend on the number of threads. */
typedef struct gradient_job {
    fmo_centres centres;
    const double *matrix[MATRICES]; /* WEIGHTED may be NULL */
    int kinetic;                    /* 1: with kinetic energy and overlap */
    fmo_charge_list charges;
    const fmo_charge_force_kernels *kernels;
    int parts;
    size_t stride; /* numbers of a part: [3][charges.num] of charges, [nucleus_num][3] */
    double *sums;  /* [parts][stride] */
} gradient_job;

/* A pair of centres in progress. */
typedef struct gradient_pair {
    const gradient_job *job;
    const fmo_centre *A, *B;
    int filled;              /* 1: block and seen belong to this pair */
    double *block[MATRICES]; /* [functions of A][functions of B], Cartesian */
    double *seen[2][3];      /* coordinates of the charges relative to A and to B */
    const fmo_centre *from[2];
    double *force[3];            /* of the part: derivatives with respect to charges */
    double gradient[2][3];       /* with respect to A and B */
    fmo_product_blocks share[2]; /* blocks of the current product */
} gradient_pair;

/* One-dimensional Hermite expansions, differentiated once. */
typedef double expansion_1d[FMO_HERMITE_POWERS][FMO_HERMITE_POWERS]
                           [FMO_HERMITE_GRADIENT_ORDER_MAX + 1];

/* The block of a matrix over the Cartesian functions of two centres: of both orders of different
 * centres. */
static void fill_block(const gradient_job *job, const fmo_centre *A, const fmo_centre *B,
                       const double *matrix, double *block)
{
    const fmo_centres *const cs = &job->centres;
    const size_t n = (size_t)cs->ao_num;
    memset(block, 0, (size_t)(A->functions * B->functions) * sizeof *block);
    for (int i = A->caller_begin; i < A->caller_end; i++) {
        const fmo_centre_caller *const row = &cs->caller[i];
        for (int j = B->caller_begin; j < B->caller_end; j++) {
            const fmo_centre_caller *const column = &cs->caller[j];
            const size_t p = (size_t)row->index, q = (size_t)column->index;
            const double both = matrix[p * n + q] + matrix[q * n + p];
            const double value = A == B ? 0.5 * both : both;
            for (int k = row->term_begin; k < row->term_end; k++)
                for (int l = column->term_begin; l < column->term_end; l++)
                    block[cs->term[k].function * B->functions + cs->term[l].function] +=
                        value * cs->term[k].factor * cs->term[l].factor;
        }
    }
}

/* The transpose of fmo_product_contract: blocks of a product from the block of its centres. */
static void spread_block(const gradient_pair *pair, const fmo_product *z, const double *block,
                         fmo_product_blocks out)
{
    const fmo_centres *const cs = &pair->job->centres;
    const fmo_centre_prim *const a = &cs->prim[z->prim_a], *const b = &cs->prim[z->prim_b];
    for (int i = 0; i <= z->la; i++)
        for (int j = 0; j <= z->lb; j++)
            memset(out[i][j], 0,
                   (size_t)(fmo_shell_functions(i) * fmo_shell_functions(j)) * sizeof(double));
    for (int i = a->use_begin; i < a->use_end; i++) {
        const fmo_centre_use *const A = &cs->use[i];
        const int na = fmo_shell_functions(A->ang_mom);
        for (int j = b->use_begin; j < b->use_end; j++) {
            const fmo_centre_use *const B = &cs->use[j];
            const int nb = fmo_shell_functions(B->ang_mom);
            const double c = A->coefficient * B->coefficient;
            const double *from = block + A->function * pair->B->functions + B->function;
            double *to = out[A->ang_mom][B->ang_mom];
            for (int m = 0; m < na; m++, from += pair->B->functions)
                for (int n = 0; n < nb; n++) *to++ += c * from[n];
        }
    }
}

/* ---- overlap and kinetic energy -------------------------------------------------------------- */

/* out[i][j]: the derivative with respect to the centre of a side, from integrals with one power
 * more. */
static void derivative_1d(int la, int lb, int side, double exponent, fmo_table_1d s,
                          fmo_table_1d out)
{
    for (int i = 0; i <= la; i++)
        for (int j = 0; j <= lb; j++) {
            const int power = side ? j : i;
            out[i][j] = 2.0 * exponent * (side ? s[i][j + 1] : s[i + 1][j]);
            if (power > 0) out[i][j] -= power * (side ? s[i][j - 1] : s[i - 1][j]);
        }
}

/* Adds D T' - W S' of one product of components to gradient[3]; tables [axis]: overlaps, kinetic
 * energies and their derivatives; a, b: powers. */
static void add_component(const uint8_t *a, const uint8_t *b, const double *weight,
                          fmo_table_1d (*tables)[3], double *gradient)
{
    double s[3], t[3], ds[3], dt[3];
    for (int x = 0; x < 3; x++) {
        s[x] = tables[0][x][a[x]][b[x]];
        t[x] = tables[1][x][a[x]][b[x]];
        ds[x] = tables[2][x][a[x]][b[x]];
        dt[x] = tables[3][x][a[x]][b[x]];
    }
    for (int x = 0; x < 3; x++) {
        const int y = (x + 1) % 3, z = (x + 2) % 3;
        const double T = dt[x] * s[y] * s[z] + ds[x] * (t[y] * s[z] + s[y] * t[z]);
        gradient[x] += weight[DENSITY] * T - weight[WEIGHTED] * ds[x] * s[y] * s[z];
    }
}

/* Adds the derivatives of kinetic energy and overlap of a product with respect to both centres. */
static void add_kinetic(gradient_pair *pair, const fmo_product *z, int side)
{
    fmo_table_1d tables[4][3];
    double gradient[3] = {0.0, 0.0, 0.0};
    for (int x = 0; x < 3; x++) {
        const int la = z->la + !side, lb = z->lb + side;
        fmo_overlap_1d(la, lb, z, x, tables[0][x]);
        fmo_kinetic_1d(la, lb, z, x, tables[0][x], tables[1][x]);
        for (int k = 0; k < 2; k++)
            derivative_1d(z->la, z->lb, side, side ? z->b : z->a, tables[k][x], tables[k + 2][x]);
    }
    for (int i = 0; i <= z->la; i++)
        for (int j = 0; j <= z->lb; j++) {
            if (!(z->kinds_a >> i & 1) || !(z->kinds_b >> j & 1)) continue;
            const int nb = fmo_shell_functions(j);
            for (int k = 0; k < fmo_shell_functions(i) * nb; k++) {
                const double weight[MATRICES] = {pair->share[DENSITY][i][j][k],
                                                 pair->share[WEIGHTED][i][j][k]};
                add_component(fmo_hermite_term[FMO_HERMITE_COUNT(i - 1) + k / nb],
                              fmo_hermite_term[FMO_HERMITE_COUNT(j - 1) + k % nb], weight, tables,
                              gradient);
            }
        }
    for (int x = 0; x < 3; x++) {
        pair->gradient[side][x] += z->scale * gradient[x];
        pair->gradient[!side][x] -= z->scale * gradient[x];
    }
}

/* ---- charges --------------------------------------------------------------------------------- */

/* The expansions of derivatives with respect to the centre of a side, to order i + j + 1; zero
 * above. */
static void derivative_expansion(const fmo_product *z, int side, int x, fmo_hermite_1d E,
                                 expansion_1d out)
{
    const double exponent = side ? z->b : z->a, shift = side ? z->PB[x] : z->PA[x];
    for (int i = 0; i <= z->la; i++)
        for (int j = 0; j <= z->lb; j++)
            for (int t = 0; t <= i + j + 1; t++) {
                const int power = side ? j : i;
                double raised = 0.0;
                if (t > 0) raised += z->half * E[i][j][t - 1];
                if (t <= i + j) raised += shift * E[i][j][t];
                if (t < i + j) raised += (t + 1) * E[i][j][t + 1];
                out[i][j][t] = 2.0 * exponent * raised;
                if (power > 0 && t < i + j)
                    out[i][j][t] -= power * (side ? E[i][j - 1][t] : E[i - 1][j][t]);
            }
}

/* Adds weight E E E to H[tuv], of powers a and b; E: expansions of each axis, whose orders go to
 * the sum of powers plus `more` of the axis. */
static void add_hermite(const uint8_t *a, const uint8_t *b, double weight, const double *const *E,
                        int raised, double *H)
{
    int top[3];
    for (int x = 0; x < 3; x++) top[x] = a[x] + b[x] + (x == raised);
    for (int t = 0; t <= top[0]; t++)
        for (int u = 0; u <= top[1]; u++) {
            const double plane = weight * E[0][t] * E[1][u];
            for (int v = 0; v <= top[2]; v++) H[fmo_hermite_index(t, u, v)] += plane * E[2][v];
        }
}

/* Contracts the density of a product with its Hermite expansion, H[0], and with the derivatives of
 * the expansion along x, y and z, H[1] to H[3]. */
static void contract_hermite(gradient_pair *pair, const fmo_product *z, int side,
                             double (*H)[FMO_HERMITE_GRADIENT_MAX])
{
    fmo_hermite_1d E[3];
    expansion_1d D[3];
    for (int x = 0; x < 3; x++) {
        fmo_hermite_expand(z->la, z->lb, z->PA[x], z->PB[x], z->half, E[x]);
        derivative_expansion(z, side, x, E[x], D[x]);
    }
    memset(H, 0, 4 * sizeof *H);
    for (int i = 0; i <= z->la; i++)
        for (int j = 0; j <= z->lb; j++) {
            if (!(z->kinds_a >> i & 1) || !(z->kinds_b >> j & 1)) continue;
            const int nb = fmo_shell_functions(j);
            for (int k = 0; k < fmo_shell_functions(i) * nb; k++) {
                const uint8_t *const a = fmo_hermite_term[FMO_HERMITE_COUNT(i - 1) + k / nb];
                const uint8_t *const b = fmo_hermite_term[FMO_HERMITE_COUNT(j - 1) + k % nb];
                const double weight = z->scale * pair->share[DENSITY][i][j][k];
                for (int m = 0; m < 4; m++) {
                    const double *line[3];
                    for (int x = 0; x < 3; x++)
                        line[x] = m == x + 1 ? D[x][a[x]][b[x]] : E[x][a[x]][b[x]];
                    add_hermite(a, b, weight, line, m - 1, H[m]);
                }
            }
        }
}

/* Adds the derivatives of the attraction of a product with respect to charges and both centres. */
static void add_attraction(gradient_pair *pair, const fmo_product *z, int side)
{
    double H[4][FMO_HERMITE_GRADIENT_MAX], R[FMO_HERMITE_GRADIENT_MAX];
    const gradient_job *const job = pair->job;
    const int ket = z->b > z->a; /* the tighter primitive, closer to the product's centre */
    const fmo_charge_view view = {job->charges.num, job->charges.charge, pair->seen[ket][0],
                                  pair->seen[ket][1], pair->seen[ket][2]};
    const int order = z->la + z->lb;
    const int class =
        z->la >= z->lb ? fmo_pair_class_of(z->la, z->lb) : fmo_pair_class_of(z->lb, z->la);
    contract_hermite(pair, z, side, H);
    job->kernels->forces[class](&view, ket ? z->PB : z->PA, z->p, H[0], pair->force, R);
    for (int x = 0; x < 3; x++) {
        double all = 0.0, own = 0.0; /* of all charges; of the differentiated centre */
        for (int k = 0; k < FMO_HERMITE_COUNT(order); k++) {
            const uint8_t *const n = fmo_hermite_term[k];
            all +=
                H[0][k] * R[fmo_hermite_index(n[0] + (x == 0), n[1] + (x == 1), n[2] + (x == 2))];
        }
        for (int k = 0; k < FMO_HERMITE_COUNT(order + 1); k++) own -= H[x + 1][k] * R[k];
        pair->gradient[side][x] += own;
        pair->gradient[!side][x] -= own + all;
    }
}

/* ---- pairs of centres ------------------------------------------------------------------------ */

/* Computes the coordinates of the charges relative to a centre, if they are not known. */
static void see_charges(gradient_pair *pair, int side, const fmo_centre *from)
{
    const fmo_charge_list *const list = &pair->job->charges;
    if (pair->from[side] == from) return;
    for (int x = 0; x < 3; x++)
        for (size_t c = 0; c < list->num; c++)
            pair->seen[side][x][c] = list->coord[x][c] - from->at[x];
    pair->from[side] = from;
}

static void add_product(void *user, const fmo_product *z)
{
    gradient_pair *const pair = user;
    const gradient_job *const job = pair->job;
    const int side = z->b <= z->a; /* of the more diffuse primitive: 0 A, 1 B */
    for (int k = 0; k < MATRICES; k++) {
        if (!job->matrix[k]) continue;
        if (!pair->filled) fill_block(job, pair->A, pair->B, job->matrix[k], pair->block[k]);
        spread_block(pair, z, pair->block[k], pair->share[k]);
    }
    if (!pair->filled) {
        see_charges(pair, 0, pair->A);
        see_charges(pair, 1, pair->B);
    }
    pair->filled = 1;
    if (job->kinetic && pair->A->nucleus != pair->B->nucleus) add_kinetic(pair, z, side);
    if (job->charges.num) add_attraction(pair, z, side);
}

/* Computes a part of the sums: some centres, with all those before them. */
static void run_part(const gradient_job *job, int part, gradient_pair *pair)
{
    double *const sums = job->sums + (size_t)part * job->stride;
    double *const nuclei = sums + 3 * job->charges.num;
    const fmo_centres *const cs = &job->centres;
    for (int x = 0; x < 3; x++) pair->force[x] = sums + (size_t)x * job->charges.num;
    for (int bra = part; bra < cs->num; bra += job->parts)
        for (int ket = 0; ket <= bra; ket++) {
            pair->A = &cs->centre[bra];
            pair->B = &cs->centre[ket];
            pair->filled = 0;
            memset(pair->gradient, 0, sizeof pair->gradient);
            if (!fmo_products_each(cs, pair->A, cs, pair->B, add_product, pair)) continue;
            for (int x = 0; x < 3; x++) {
                nuclei[3 * pair->A->nucleus + x] += pair->gradient[0][x];
                nuclei[3 * pair->B->nucleus + x] += pair->gradient[1][x];
            }
        }
}

/* Memory of a thread; NULL if there is none. */
static gradient_pair *make_pair(const gradient_job *job)
{
    const size_t functions = (size_t)fmo_centres_largest(&job->centres);
    const size_t block = functions * functions, charges = job->charges.num;
    gradient_pair *const pair =
        calloc(1, sizeof *pair + (MATRICES * block + 6 * charges) * sizeof(double));
    if (!pair) return NULL;
    double *memory = (double *)(pair + 1);
    pair->job = job;
    for (int k = 0; k < MATRICES; k++, memory += block) pair->block[k] = memory;
    for (int k = 0; k < 6; k++, memory += charges) pair->seen[k / 3][k % 3] = memory;
    return pair;
}

/* Executes all parts by a team, and adds them to the first. */
static fmo_status run_parts(gradient_job *job, fmo_error *err)
{
    const double work = (double)job->centres.basis->prim_num * job->centres.basis->prim_num *
                        (1.0 + (double)job->charges.num / 4);
    const int useful = fmo_threads_for(omp_get_max_threads(), work / THREAD_WORK);
    const int threads = useful > 1 ? fmo_threads(useful) : 1;
    const size_t numbers = job->stride;
    int failed = 0;
    if (fmo_threads_alone(threads)) {
        gradient_pair *const pair = make_pair(job);
        for (int part = 0; pair && part < job->parts; part++) run_part(job, part, pair);
        failed = !pair;
        free(pair);
    } else {
#pragma omp parallel num_threads(threads) reduction(+ : failed)
        {
            gradient_pair *const pair = make_pair(job);
#pragma omp for schedule(dynamic)
            for (int part = 0; part < job->parts; part++)
                if (pair) run_part(job, part, pair);
            failed += !pair;
            free(pair);
        }
    }
    if (failed) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads", threads);
    for (int part = 1; part < job->parts; part++)
        for (size_t k = 0; k < numbers; k++) job->sums[k] += job->sums[(size_t)part * numbers + k];
    return FMO_OK;
}

/* Computes sums of the electrons' part: [3][charges.num], [nucleus_num][3]. The caller has set
 * matrix, kinetic and charges, and calls end_job in any case. */
static fmo_status run_job(const fmo_basis *basis, gradient_job *job, fmo_error *err)
{
    fmo_status status = fmo_stack_check(0, err);
    if (status == FMO_OK) status = fmo_centres_make(basis, &job->centres, err);
    if (status != FMO_OK) return status;
    job->kernels = FMO_VECTOR_TABLE(fmo_charge_force_kernels);
    job->stride = 3 * (job->charges.num + (size_t)basis->nucleus_num);
    job->parts = job->centres.num < PARTS ? job->centres.num : PARTS;
    while (job->parts > 1 && (size_t)job->parts * job->stride > PART_NUMBERS) job->parts--;
    job->sums = calloc((size_t)job->parts * job->stride, sizeof *job->sums);
    if (!job->sums) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a gradient");
    return run_parts(job, err);
}

static void end_job(gradient_job *job)
{
    fmo_charge_list_free(&job->charges);
    fmo_centres_free(&job->centres);
    free(job->sums);
}

/* Adds the derivative of q_A q_B / R_AB to the gradients of both charges.
 * @return 0 if they coincide */
static int add_repulsion(double q, const double *A, const double *B, double *at_A, double *at_B)
{
    const double r[3] = {A[0] - B[0], A[1] - B[1], A[2] - B[2]};
    const double R2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (R2 == 0.0) return 0;
    for (int x = 0; x < 3; x++) {
        const double d = -q * r[x] / (R2 * sqrt(R2));
        at_A[x] += d;
        at_B[x] -= d;
    }
    return 1;
}

static fmo_status add_nuclear_repulsion(const fmo_basis *basis, double *gradient, fmo_error *err)
{
    for (int a = 0; a < basis->nucleus_num; a++)
        for (int b = 0; b < a; b++) {
            const double q = basis->charge[a] * basis->charge[b];
            if (q != 0.0 && !add_repulsion(q, basis->coord + 3 * a, basis->coord + 3 * b,
                                           gradient + 3 * a, gradient + 3 * b))
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "nucleus/coord: nuclei %d and %d (counted from 0) coincide: "
                                     "their repulsion has no derivative",
                                     b, a);
        }
    return FMO_OK;
}

/* Computes the derivatives of kinetic energy, attraction and overlap, and adds those of the
 * operator's centres, the nuclei, and of the nuclear repulsion. */
fmo_status fmo_one_electron_gradient(const fmo_basis *basis, const double *density,
                                     const double *weighted, double *gradient, fmo_error *err)
{
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_one_electron_gradient", err, FMO_GIVEN(basis),
                                            FMO_GIVEN(density), FMO_GIVEN(gradient));
    if (status != FMO_OK) return status;
    const size_t nuclei = (size_t)basis->nucleus_num;
    gradient_job job = {.matrix = {density, weighted}, .kinetic = 1};
    status = fmo_charge_list_make(nuclei, basis->charge, basis->coord, &job.charges, err);
    if (status == FMO_OK) status = run_job(basis, &job, err);
    if (status == FMO_OK) {
        double *const sums = job.sums + 3 * job.charges.num;
        for (size_t c = 0; c < job.charges.used; c++)
            for (size_t x = 0; x < 3; x++)
                sums[3 * job.charges.index[c] + x] += job.sums[x * job.charges.num + c];
        status = add_nuclear_repulsion(basis, sums, err);
        if (status == FMO_OK) memcpy(gradient, sums, 3 * nuclei * sizeof *gradient);
    }
    end_job(&job);
    return status;
}

/* Adds the repulsion of nuclei and charges to the sums of a job. */
static fmo_status add_charge_repulsion(const fmo_basis *basis, const double *coord,
                                       gradient_job *job, fmo_error *err)
{
    const fmo_charge_list *const list = &job->charges;
    for (size_t c = 0; c < list->used; c++) {
        const double *const at = coord + 3 * list->index[c];
        double own[3] = {0.0, 0.0, 0.0};
        for (int n = 0; n < basis->nucleus_num; n++) {
            const double q = basis->charge[n] * list->charge[c];
            if (q != 0.0 &&
                !add_repulsion(q, basis->coord + 3 * n, at, job->sums + 3 * list->num + 3 * n, own))
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "coord[%zu]: this charge is on nucleus %d (counted from 0): "
                                     "their repulsion has no derivative",
                                     list->index[c], n);
        }
        for (size_t x = 0; x < 3; x++) job->sums[x * list->num + c] += own[x];
    }
    return FMO_OK;
}

/* Computes the derivatives of the energy of point charges in the field of electrons and nuclei,
 * with respect to the nuclei and, if charge_gradient is given, to the charges' positions. */
fmo_status fmo_charge_attraction_gradient(const fmo_basis *basis, const double *density,
                                          size_t charge_num, const double *charge,
                                          const double *coord, double *gradient,
                                          double *charge_gradient, fmo_error *err)
{
    static const char call[] = "fmo_charge_attraction_gradient";
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(basis), FMO_GIVEN(density), FMO_GIVEN(gradient));
    if (status == FMO_OK && charge_num > SIZE_MAX / (64 * sizeof(double)))
        status = fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: charge_num = %zu: more than memory has",
                               call, charge_num);
    if (status == FMO_OK && charge_num > 0)
        status = FMO_CHECK_ARGUMENTS(
            call, err, FMO_READ(charge, charge_num * sizeof *charge),
            FMO_READ(coord, 3 * charge_num * sizeof *coord),
            FMO_WRITTEN(gradient, 3 * (size_t)basis->nucleus_num * sizeof *gradient),
            FMO_MAY_WRITE(charge_gradient, 3 * charge_num * sizeof *charge_gradient));
    if (status == FMO_OK) status = fmo_charges_check(call, charge_num, charge, coord, err);
    if (status != FMO_OK) return status;
    gradient_job job = {.matrix = {density, NULL}};
    status = fmo_charge_list_make(charge_num, charge, coord, &job.charges, err);
    if (status == FMO_OK) status = run_job(basis, &job, err);
    if (status == FMO_OK) status = add_charge_repulsion(basis, coord, &job, err);
    if (status == FMO_OK) {
        const fmo_charge_list *const list = &job.charges;
        memcpy(gradient, job.sums + 3 * list->num,
               3 * (size_t)basis->nucleus_num * sizeof *gradient);
        if (charge_gradient) memset(charge_gradient, 0, 3 * charge_num * sizeof *charge_gradient);
        for (size_t c = 0; charge_gradient && c < list->used; c++)
            for (size_t x = 0; x < 3; x++)
                charge_gradient[3 * list->index[c] + x] = job.sums[x * list->num + c];
    }
    end_job(&job);
    return status;
}
