/* Counts a plain list of quartets, on which percent of peak and growth are based: s and p shells
 * with the same exponents are not combined, primitive quartets are screened only by their bounds,
 * and J and K have one density factor. See work.h. */
#include "work.h"
#include "accumulate/plan/plan.h"
#include "accumulate/rules/screen.h"
#include "accumulate/rules/weight.h"
#include "integrals/basis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes the maxima of |D| over blocks of shells, [nshell][nshell]; D is in internal functions.
 * Returns the largest. */
static double block_maxima(const fmo_basis *b, const double *D, double *maxima)
{
    const size_t n = (size_t)b->function_num;
    double largest = 0.0;
    for (int s = 0; s < b->shell_num; s++)
        for (int t = 0; t < b->shell_num; t++) {
            const fmo_shell *A = &b->shell[s], *B = &b->shell[t];
            double block = 0.0;
            const int A_end = A->ao_begin + fmo_shell_functions(A->ang_mom);
            const int B_end = B->ao_begin + fmo_shell_functions(B->ang_mom);
            for (int x = A->ao_begin; x < A_end; x++)
                for (int y = B->ao_begin; y < B_end; y++)
                    block = fmax(block, fabs(D[(size_t)x * n + (size_t)y]));
            maxima[(size_t)s * (size_t)b->shell_num + (size_t)t] = block;
            largest = fmax(largest, block);
        }
    return largest;
}

/* Number of primitive quartets of bra m and ket k whose product of bounds reaches the limit. The
 * bounds of a pair are in descending order, so the number of kets for a bra primitive never
 * increases. */
static int64_t primitives(const fmo_pair_list *bra, int m, const fmo_pair_list *ket, int k,
                          double limit)
{
    int64_t kept = 0, end = ket->begin[k + 1];
    for (int64_t p = bra->begin[m]; p < bra->begin[m + 1] && end > ket->begin[k]; p++) {
        while (end > ket->begin[k] && bra->prim_bound[p] * ket->prim_bound[end - 1] < limit) end--;
        kept += end - ket->begin[k];
    }
    return kept;
}

/* What decides which quartets are computed: the largest elements of |D| of each pair of shells and
 * of all, the weight of J, and the cutoff. */
typedef struct screening {
    const double *maxima; /* [shells][shells] */
    int shells;
    double largest, weight, cutoff;
} screening;

/* Counts one class. Lists are sorted by bound, so the loop over kets ends where no density element
 * could make the quartet significant. */
static void count_class(const fmo_pair_list *bra, const fmo_pair_list *ket, const screening *by,
                        int threads, double *quartets, double *prim_quartets)
{
    double count = 0.0, prims = 0.0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : count, prims) num_threads(threads)
    for (int m = 0; m < bra->num; m++) {
        const int last = bra == ket ? m + 1 : ket->num;
        const double bra_estimate = 4.0 * by->weight * by->largest * bra->bound[m];
        int64_t kept = 0, kept_prims = 0;
        for (int k = 0; k < last && bra_estimate * ket->bound[k] >= by->cutoff; k++) {
            const double d = fmo_screen_density(by->maxima, by->shells, by->weight, bra->i[m],
                                                bra->j[m], ket->i[k], ket->j[k]);
            if (bra->bound[m] * ket->bound[k] * d < by->cutoff) continue;
            kept++;
            kept_prims += primitives(bra, m, ket, k, by->cutoff / d);
        }
        count += (double)kept;
        prims += (double)kept_prims;
    }
    *quartets = count;
    *prim_quartets = prims;
}

static double unscreened(const fmo_basis *b)
{
    double prims = 0.0, squares = 0.0;
    for (int s = 0; s < b->shell_num; s++) {
        const double num = b->shell[s].prim_num;
        prims += num;
        squares += num * num;
    }
    const double pairs = 0.5 * (prims * prims + squares);
    return 0.5 * pairs * pairs;
}

/* Counts all classes and multiplies by their operations. */
fmo_status bench_work_count(const fmo_basis *basis, const double *density, double cutoff,
                            int threads, bench_work *work, fmo_error *err)
{
    static const struct {
        double prim, contracted;
    } flops[] = {
#define ROW(e, name, ...) [e] = {eri_##name##_prim_flop, eri_##name##_finish_flop},
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    };
    const size_t shells = (size_t)basis->shell_num;
    fmo_shell_pairs pairs;
    memset(work, 0, sizeof *work);
    const size_t functions = (size_t)basis->function_num;
    double *maxima = malloc(shells * shells * sizeof *maxima);
    double *D = malloc(functions * functions * sizeof *D);
    if (!maxima || !D) {
        free(maxima);
        free(D);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu x %zu functions", functions,
                             functions);
    }
    fmo_basis_matrix_from_caller(basis, density, FMO_SYMMETRIC_PART, D);
    const screening by = {maxima, basis->shell_num, block_maxima(basis, D, maxima),
                          fmo_screen_coulomb_weight(basis), cutoff};
    free(D);
    const fmo_status status =
        fmo_shell_pairs_make(basis, cutoff * FMO_PRUNE_SHARE, threads, &pairs, err);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && status == FMO_OK; c++) {
        count_class(&pairs.list[fmo_eri_class_bra(c)], &pairs.list[fmo_eri_class_ket(c)], &by,
                    threads, &work->quartets[c], &work->prim_quartets[c]);
        work->quartet_sum += work->quartets[c];
        work->prim_quartet_sum += work->prim_quartets[c];
        work->flop +=
            work->prim_quartets[c] * flops[c].prim + work->quartets[c] * flops[c].contracted;
    }
    work->unscreened_prims = unscreened(basis);
    if (status == FMO_OK) fmo_shell_pairs_free(&pairs);
    free(maxima);
    return status;
}
