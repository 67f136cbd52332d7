/* Derivatives of two-electron energies in mode cpu: one pass over all quartets for each operator,
 * whose bras the threads share. See cpu/gradient.h. */
#include "accumulate/cpu/gradient.h"

#include <omp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/build.h"
#include "accumulate/tuning.h"
#include "base/threads.h"
#include "base/vector.h"

/* Sums over all bras are integers, so that they do not depend on which thread adds what. */
__extension__ typedef __int128 wide;

/* A pass as executed by a team of threads. */
typedef struct job {
    fmo_cpu_gradient *pass;
    fmo_cpu_gradient_kernel *kernel;
    fmo_cpu_shape shape;
    double scale; /* a power of two: sums are multiples of 1/scale */
    int threads, failed;
    int too_large; /* 1: a sum is not finite, or too large for an integer */
    wide *sums;    /* [nucleus][3] */
} job;

/* ---- one pass ------------------------------------------------------------------------------- */

/* Allocates the memory of a thread as one block, which it returns; NULL if memory is short. */
static char *make_worker(const job *j, fmo_cpu_gradient_worker *w)
{
    const fmo_cpu_pairs *const pairs = j->pass->pairs;
    const size_t nuclei = (size_t)j->pass->basis->nucleus_num;
    size_t vectors = 0, prims = 1;
    memset(w, 0, sizeof *w);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const int bras = pairs->list[fmo_eri_class_bra(c)].count_max;
        const int kets = pairs->list[fmo_eri_class_ket(c)].count_max;
        const size_t all = fmo_cpu_gradient_layout_of(c, kets).all;
        if (!bras || !kets) continue;
        const int bra = fmo_eri_class_bra(c);
        const int own = FMO_MD_TERMS(fmo_pair_ang_mom(bra, 0), fmo_pair_ang_mom(bra, 1));
        if (own > w->bra_stride) w->bra_stride = own;
        vectors = all > vectors ? all : vectors;
        prims = (size_t)bras > prims ? (size_t)bras : prims;
    }
    const size_t of_build = (fmo_cpu_worker_arrays(&j->shape, NULL, &w->of_build) + 63) / 64 * 64;
    const size_t stride = (size_t)w->bra_stride, terms = prims * FMO_CPU_LOWERED * stride;
    const size_t of_vectors = (vectors > stride ? vectors : stride) * FMO_CPU_WIDTH_MAX;
    const size_t of_tables = (sizeof *w->tables + 63) / 64 * 64;
    char *const memory = aligned_alloc(
        64,
        (of_build + of_tables + (of_vectors + terms + 3 * nuclei) * sizeof(double) + 63) / 64 * 64);
    if (!memory) return NULL;
    fmo_cpu_worker_arrays(&j->shape, memory, &w->of_build);
    w->tables = (fmo_cpu_gradient_class *)(memory + of_build);
    w->tables->eri_class = -1;
    w->vectors = (double *)(memory + of_build + of_tables);
    w->bra_terms = w->vectors + of_vectors;
    w->sums = w->bra_terms + terms;
    memset(w->sums, 0, 3 * nuclei * sizeof *w->sums);
    return memory;
}

/* Adds the sums of some bras, which are then zero, to those of the thread. */
static void keep_sums(job *j, double *from, wide *to)
{
    for (int x = 0; x < 3 * j->pass->basis->nucleus_num; x++) {
        const double value = from[x] * j->scale;
        if (fabs(value) < 0x1p120) {
            to[x] += (wide)value;
        } else {
#pragma omp atomic write
            j->too_large = 1;
        }
        from[x] = 0.0;
    }
}

/* Body of the parallel region, executed by each thread of the team: all classes, those of the
 * highest angular momenta and the longest lists of kets first. */
static void run_team(job *j)
{
    enum { BRAS = fmo_tuning_cpu_gradient_bras }; /* whose sums become integers together */
    const size_t size = 3 * (size_t)j->pass->basis->nucleus_num;
    fmo_cpu_gradient_worker w;
    char *const memory = make_worker(j, &w);
    wide *const sums = calloc(size, sizeof *sums);
    if (!memory || !sums) {
#pragma omp atomic write
        j->failed = 1;
    }
#pragma omp barrier
    for (int c = FMO_ERI_CLASS_COUNT - 1; c >= 0 && !j->failed; c--) {
        const int bras = j->pass->pairs->list[fmo_eri_class_bra(c)].num;
        if (!j->pass->pairs->list[fmo_eri_class_ket(c)].num) continue;
#pragma omp for schedule(dynamic, 1) nowait
        for (int piece = (bras + BRAS - 1) / BRAS - 1; piece >= 0; piece--) {
            for (int b = BRAS * piece; b < BRAS * (piece + 1) && b < bras; b++)
                j->kernel(c, j->pass, &w, b);
            keep_sums(j, w.sums, sums);
        }
    }
#pragma omp critical(fmo_cpu_gradient)
    for (size_t x = 0; x < size && sums; x++) j->sums[x] += sums[x];
    free(sums);
    free(memory);
}

static fmo_status run_pass(job *j, fmo_error *err)
{
    j->failed = j->too_large = 0;
    if (fmo_threads_alone(j->threads)) {
        run_team(j);
    } else {
#pragma omp parallel num_threads(j->threads)
        run_team(j);
    }
    if (j->too_large)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "fmo_fock_gradient: densities or weights are so large that the "
                             "derivatives are not finite; use smaller ones");
    if (!j->failed) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "fmo_fock_gradient: no memory for %d threads; use fewer", j->threads);
}

/* ---- densities ------------------------------------------------------------------------------ */

/* Returns the largest |D| of a block of two shells. In the inner loop, an index that depends on
 * both loops is an internal error of GCC 12 for aarch64. */
static double block_max(const fmo_basis *basis, const double *D, int i, int j)
{
    const fmo_shell *const A = &basis->shell[i], *const B = &basis->shell[j];
    double largest = 0.0;
    for (int a = 0; a < fmo_shell_functions(A->ang_mom); a++) {
        const double *const row =
            D + (size_t)(A->ao_begin + a) * (size_t)basis->function_num + B->ao_begin;
        for (int b = 0; b < fmo_shell_functions(B->ang_mom); b++)
            largest = fmax(largest, fabs(row[b]));
    }
    return largest;
}

/* Computes the bounds of the densities of a pass, in which each element of g->exchange_max is first
 * a sum of squares. */
static void bound_densities(const fmo_fock_plan *plan, fmo_cpu_gradient *g)
{
    const fmo_basis *const basis = g->basis;
    const size_t shells = (size_t)basis->shell_num;
    memset(g->exchange_max, 0, shells * shells * sizeof *g->exchange_max);
    for (int n = 0; n < g->term_num; n++)
        for (size_t i = 0; i < shells && g->term[n].exchange != 0.0; i++)
            for (size_t j = 0; j < shells; j++) {
                const double D = block_max(basis, g->term[n].density, (int)i, (int)j);
                g->exchange_max[i * shells + j] += fabs(g->term[n].exchange) * D * D;
            }
    for (size_t i = 0; i < shells; i++) {
        g->row_max[i] = 0.0;
        for (size_t j = 0; j < shells; j++) {
            double *const here = &g->exchange_max[i * shells + j];
            *here = sqrt(*here);
            g->row_max[i] = fmax(g->row_max[i], *here);
        }
    }
    g->coulomb_largest = 0.0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *const list = &g->pairs->list[c];
        for (int q = 0; q < list->num; q++) {
            double sum = 0.0;
            for (int n = 0; n < g->term_num; n++) {
                if (g->term[n].coulomb == 0.0) continue;
                const double D = block_max(basis, g->term[n].density, list->i[q], list->j[q]);
                sum += fabs(g->term[n].coulomb) * D * D;
            }
            const double bound = sqrt(plan->coulomb_weight * sum);
            g->of_pairs[c].coulomb_max[q] = bound;
            g->coulomb_largest = fmax(g->coulomb_largest, bound);
        }
    }
}

/* Returns the power of two by which the largest product of two density elements becomes about 2^60.
 * Sums have 127 bits. */
static double scale_of(const fmo_cpu_gradient_term *term, int term_num, size_t elements)
{
    double largest = 0.0;
    for (int n = 0; n < term_num; n++) {
        double D = 0.0;
        for (size_t x = 0; x < elements; x++) D = fmax(D, fabs(term[n].density[x]));
        largest = fmax(largest, D * D * (fabs(term[n].coulomb) + fabs(term[n].exchange)));
    }
    return largest > 0.0 ? ldexp(1.0, (int)fmin(60 - ilogb(largest), 1000)) : 1.0;
}

/* ---- all passes ----------------------------------------------------------------------------- */

/* Sets the weights of the pass for an operator. Returns 0 if neither J nor K of a term has it.
 */
static int weights_of(const fmo_gradient_term *terms, int term_num, fmo_operator op,
                      fmo_cpu_gradient_term *to)
{
    int any = 0;
    for (int n = 0; n < term_num; n++) {
        to[n] = (fmo_cpu_gradient_term){
            terms[n].density,
            fmo_operator_same(terms[n].coulomb_operator, op) ? terms[n].coulomb_weight : 0.0,
            fmo_operator_same(terms[n].exchange_operator, op) ? terms[n].exchange_weight : 0.0};
        any |= to[n].coulomb != 0.0 || to[n].exchange != 0.0;
    }
    return any;
}

/* Returns the operator of part `part` of all terms: of J of term 0, of K of term 0, and so on. */
static fmo_operator operator_of(const fmo_gradient_term *terms, int part)
{
    return part % 2 ? terms[part / 2].exchange_operator : terms[part / 2].coulomb_operator;
}

/* Runs a pass for each operator and adds the results. */
static fmo_status run_passes(fmo_fock_plan *plan, const fmo_gradient_term *terms,
                             fmo_cpu_gradient_term *own, job *j, double *sum, fmo_error *err)
{
    fmo_cpu_gradient *const g = j->pass;
    const int term_num = g->term_num;
    const size_t n = (size_t)g->basis->function_num;
    const size_t size = 3 * (size_t)g->basis->nucleus_num;
    for (int part = 0; part < 2 * term_num; part++) {
        const fmo_operator op = operator_of(terms, part);
        int seen = 0;
        for (int p = 0; p < part; p++) seen |= fmo_operator_same(operator_of(terms, p), op);
        if (seen || !weights_of(terms, term_num, op, own)) continue;
        g->op = fmo_operator_given(op);
        g->is_coulomb = fmo_operator_is_coulomb(op);
        g->cutoff = FMO_GRADIENT_CUTOFF_SHARE * plan->cutoff / fmo_operator_bound(op);
        bound_densities(plan, g);
        j->scale = scale_of(own, term_num, n * n);
        memset(j->sums, 0, size * sizeof *j->sums);
        const fmo_status status = run_pass(j, err);
        if (status != FMO_OK) return status;
        for (size_t x = 0; x < size; x++) sum[x] += (double)j->sums[x] / j->scale;
    }
    return FMO_OK;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Returns a bound on the derivatives of pair n of a list with respect to either centre, in the
 * units of its Schwarz bound. A derivative of a primitive pair is a/p or b/p times that of its
 * Gaussian, whose order is raised by 1: its Schwarz bound is larger by a factor of at most
 * sqrt(p) (2l+1)/sqrt(2l+3), where l is the order, for Hermite functions of one order; and
 * 2ab/p |A-B| times the pair itself. docs/explanation/gradients.md. */
static double slope_of(const fmo_basis *basis, const fmo_pair_list *from, int n)
{
    const double *const AB = from->AB + 3 * (size_t)n;
    const double R = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]);
    const int order = basis->shell[from->i[n]].ang_mom + basis->shell[from->j[n]].ang_mom;
    const double factor = (2 * order + 1) / sqrt(2 * order + 3.0);
    double slope = 0.0;
    for (int64_t m = from->begin[n]; m < from->begin[n + 1]; m++) {
        const double *const prim = from->prim + m * FMO_PAIR_FIELDS, *const PA = prim + FMO_PAIR_X;
        const double p = prim[FMO_PAIR_P];
        const double X = sqrt(PA[0] * PA[0] + PA[1] * PA[1] + PA[2] * PA[2]); /* b/p R */
        slope +=
            from->prim_bound[m] * (factor * sqrt(p) + 2.0 * p * X * (R > 0.0 ? 1.0 - X / R : 0.0));
    }
    return slope;
}

/* Computes the slopes of a class. `index` is working memory, [shell][shell]. */
static void make_slopes(const fmo_fock_plan *plan, int pair_class, const fmo_cpu_pair_list *list,
                        int *index, fmo_cpu_gradient_pairs *to)
{
    const fmo_pair_list *const from = &plan->pairs.list[pair_class];
    const size_t shells = (size_t)plan->basis->shell_num;
    for (int n = 0; n < from->num; n++)
        index[(size_t)from->i[n] * shells + (size_t)from->j[n]] =
            index[(size_t)from->j[n] * shells + (size_t)from->i[n]] = n;
    for (int f = 0; f < list->family_num; f++) {
        to->steepest[f] = 0.0;
        for (int q = list->family[f].begin; q < list->family[f].end; q++) {
            to->slope[q] = slope_of(plan->basis, from,
                                    index[(size_t)list->i[q] * shells + (size_t)list->j[q]]);
            if (list->bound[q] > 0.0)
                to->steepest[f] = fmax(to->steepest[f], to->slope[q] / list->bound[q]);
        }
    }
}

/* Allocates and computes what the passes need of the pairs; returns the memory, or NULL. */
static double *make_pairs(const fmo_fock_plan *plan, fmo_cpu_gradient *g)
{
    const size_t shells = (size_t)plan->basis->shell_num;
    size_t size = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *const list = &g->pairs->list[c];
        size += 2 * ((size_t)list->num + FMO_CPU_WIDTH_MAX) + (size_t)list->family_num +
                2 * (size_t)list->exponent_num;
    }
    double *const memory = calloc(size, sizeof *memory), *next = memory;
    int *const index = malloc(shells * shells * sizeof *index);
    int good = memory && index;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT && good; c++) {
        const fmo_cpu_pair_list *const list = &g->pairs->list[c];
        fmo_cpu_gradient_pairs *const to = &g->of_pairs[c];
        to->slope = next; /* vectors are read past the end of this and the next */
        to->coulomb_max = to->slope + list->num + FMO_CPU_WIDTH_MAX;
        to->steepest = to->coulomb_max + list->num + FMO_CPU_WIDTH_MAX;
        to->first = to->steepest + list->family_num;
        to->share = to->first + list->exponent_num;
        next = to->share + list->exponent_num;
        make_slopes(plan, c, list, index, to);
        good = fmo_cpu_pairs_exponents(plan->basis, list, to->first, to->share);
    }
    free(index);
    if (good) return memory;
    free(memory);
    return NULL;
}

/* Allocates what the passes share, runs them, and gives the result to the caller. */
fmo_status fmo_cpu_build_gradient_by(fmo_cpu_gradient_kernel *kernel, fmo_fock_plan *plan,
                                     const fmo_gradient_term *terms, int term_num, double *gradient,
                                     fmo_error *err)
{
    const fmo_cpu_state *const state = plan->state;
    const size_t shells = (size_t)plan->basis->shell_num;
    const size_t size = 3 * (size_t)plan->basis->nucleus_num;
    fmo_cpu_gradient g = {.basis = plan->basis, .pairs = &state->pairs, .term_num = term_num};
    job j = {.pass = &g,
             .kernel = kernel,
             .shape = {plan, &state->pairs, &state->pairs, 0, 1, 0},
             .threads = state->threads};
    fmo_cpu_gradient_term *const own = calloc((size_t)term_num, sizeof *own);
    double *const doubles = calloc(shells * (shells + 1) + size, sizeof *doubles);
    double *const of_pairs = make_pairs(plan, &g);
    j.sums = calloc(size, sizeof *j.sums);
    fmo_status status = FMO_ERR_MEMORY;
    if (own && doubles && of_pairs && j.sums) {
        double *const sum = doubles + shells * (shells + 1);
        g.exchange_max = doubles;
        g.row_max = g.exchange_max + shells * shells;
        g.term = own;
        status = run_passes(plan, terms, own, &j, sum, err);
        if (status == FMO_OK) memcpy(gradient, sum, size * sizeof *sum);
    } else {
        fmo_error_set(err, status, "fmo_fock_gradient: no memory for %zu shells", shells);
    }
    free(own);
    free(doubles);
    free(of_pairs);
    free(j.sums);
    return status;
}

fmo_status fmo_cpu_build_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                                  double *gradient, fmo_error *err)
{
    return fmo_cpu_build_gradient_by(FMO_VECTOR_TABLE(fmo_cpu_gradient_bra), plan, terms, term_num,
                                     gradient, err);
}
