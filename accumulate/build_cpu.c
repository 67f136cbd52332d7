/* `--mode cpu`: screening, threads and reduction around the kernels of cpu_kernel.c. Class by
 * class, bra pairs are dealt to threads; each collects the ket pairs that survive, orders them by
 * the number of primitives, and runs the kernel. `tree` gives each thread a J and K of its own. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu_kernel.h"
#include "accumulate/plan.h"
#include "accumulate/screen.h"

static const struct {
    fmo_pair_class bra, ket;
    int work; /* rough cost of a primitive quartet, for the progress bar */
} class_info[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, li, lj, lk, ll, bra, ket) \
    [e] = {bra, ket, 1 + 2 * (li + lj + lk + ll) * (li + lj + lk + ll)},
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
};

const fmo_cpu_kernels *fmo_cpu_kernels_choose(void)
{
#if defined(FMO_CPU_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &fmo_cpu_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &fmo_cpu_kernels_avx2;
#endif
    return &fmo_cpu_kernels_baseline;
}

/* What one thread works with. */
typedef struct worker {
    double *own; /* J and K of its own, or NULL */
    double *coulomb, *exchange, *scratch;
    int *ket, *ordered, *count; /* survivors of one bra, in list order and by primitives */
} worker;

static void worker_free(worker *w)
{
    free(w->own);
    free(w->scratch);
    free(w->ket);
    free(w->ordered);
    free(w->count);
}

static int worker_alloc(worker *w, const fmo_fock_plan *plan, int own_matrices)
{
    const size_t n = (size_t)plan->basis->ao_num;
    int pairs = 0, prims = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        if (plan->pairs.list[c].num > pairs) pairs = plan->pairs.list[c].num;
        if (plan->pairs.list[c].prim_max > prims) prims = plan->pairs.list[c].prim_max;
    }
    const size_t bytes = fmo_cpu_scratch_size(prims + 1) * sizeof(double);
    w->scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    w->ket = malloc(((size_t)pairs + 1) * sizeof *w->ket);
    w->ordered = malloc(((size_t)pairs + 1) * sizeof *w->ordered);
    w->count = calloc((size_t)prims + 2, sizeof *w->count);
    if (own_matrices) {
        w->own = calloc(2 * n * n, sizeof *w->own);
        w->coulomb = w->own;
        w->exchange = w->own ? w->own + n * n : NULL;
    } else {
        w->coulomb = plan->coulomb;
        w->exchange = plan->exchange;
    }
    return w->scratch && w->ket && w->ordered && w->count && w->coulomb;
}

/* Ket pairs that survive against one bra, into w->ket; adds to the counts of the class. */
static int screen_bra(const fmo_fock_plan *plan, const fmo_pair_list *bras,
                      const fmo_pair_list *kets, int bra, int ket_end, worker *w,
                      int64_t *prim_quartets)
{
    const double cutoff = plan->options.cutoff;
    const long ns = plan->basis->shell_num;
    const int i = bras->i[bra], j = bras->j[bra];
    const double Q = bras->bound[bra];
    /* No ket can have a larger density factor than this; bounds descend. */
    const double most = fmax(4.0 * plan->density_largest, fmax(plan->row_max[i], plan->row_max[j]));
    int num = 0;
    int64_t prims = 0;
    for (int q = 0; q < ket_end; q++) {
        const double bound = Q * kets->bound[q];
        if (bound * most < cutoff) break;
        if (bound * fmo_screen_density(plan->density_max, ns, i, j, kets->i[q], kets->j[q]) <
            cutoff)
            continue;
        w->ket[num++] = q;
        prims += kets->begin[q + 1] - kets->begin[q];
    }
    *prim_quartets += prims * (bras->begin[bra + 1] - bras->begin[bra]);
    return num;
}

/* Stable counting sort of the survivors by their number of primitive pairs. */
static void order_kets(const fmo_pair_list *kets, int num, worker *w)
{
    memset(w->count, 0, ((size_t)kets->prim_max + 2) * sizeof *w->count);
    for (int q = 0; q < num; q++)
        w->count[kets->begin[w->ket[q] + 1] - kets->begin[w->ket[q]] + 1]++;
    for (int p = 1; p <= kets->prim_max; p++) w->count[p + 1] += w->count[p];
    for (int q = 0; q < num; q++)
        w->ordered[w->count[kets->begin[w->ket[q] + 1] - kets->begin[w->ket[q]]]++] = w->ket[q];
}

static double work_of_class(const fmo_shell_pairs *pairs, int c)
{
    const fmo_pair_list *bra = &pairs->list[class_info[c].bra];
    const fmo_pair_list *ket = &pairs->list[class_info[c].ket];
    return (double)bra->prim_num * (double)ket->prim_num * class_info[c].work;
}

static void build_class(fmo_fock_plan *plan, const fmo_cpu_kernels *kernels, fmo_eri_class c,
                        int atomic, worker *w, double work_done, double work_all)
{
    const fmo_pair_list *bras = &plan->pairs.list[class_info[c].bra];
    const fmo_pair_list *kets = &plan->pairs.list[class_info[c].ket];
    fmo_class_profile *profile = &plan->profile.classes[c];
    const int same = bras == kets;
    const fmo_cpu_task task = {plan->basis, bras,        kets,   plan->density,
                               w->coulomb,  w->exchange, atomic, w->scratch};
    int64_t quartets = 0, prim_quartets = 0;
#pragma omp for schedule(dynamic, 2)
    for (int bra = 0; bra < bras->num; bra++) {
        const int num =
            screen_bra(plan, bras, kets, bra, same ? bra + 1 : kets->num, w, &prim_quartets);
        if (num) {
            order_kets(kets, num, w);
            kernels->kernel[c](&task, bra, w->ordered, num);
            quartets += num;
        }
        if (omp_get_thread_num() == 0 && bra % 16 == 0)
            fmo_plan_progress(plan, (work_done + work_of_class(&plan->pairs, c) * bra / bras->num) /
                                        work_all);
    }
#pragma omp atomic
    profile->quartets += quartets;
#pragma omp atomic
    profile->prim_quartets += prim_quartets;
}

void fmo_cpu_reduce_tree(double *const *own, int threads, size_t size, double *coulomb,
                         double *exchange)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t begin = 0; begin < size; begin += 4096) {
        const size_t end = begin + 4096 < size ? begin + 4096 : size;
        for (int step = 1; step < threads; step *= 2)
            for (int t = 0; t + step < threads; t += 2 * step)
                for (size_t x = begin; x < end; x++) {
                    own[t][x] += own[t + step][x];
                    own[t][size + x] += own[t + step][size + x];
                }
        for (size_t x = begin; x < end; x++) {
            coulomb[x] += own[0][x];
            exchange[x] += own[0][size + x];
        }
    }
}

static fmo_status cpu_build(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    (void)density; /* plan->density is the same in internal order */
    const int threads = plan->options.threads;
    const int atomic = threads > 1 && plan->options.reduce == FMO_REDUCE_ATOMIC;
    const int own = threads > 1 && !atomic;
    const fmo_cpu_kernels *kernels = fmo_cpu_kernels_choose();
    fmo_status status = FMO_OK;
    int failed = 0, team = 1; /* OpenMP may grant fewer threads than asked for */
    double work_all = 1.0, class_start[FMO_ERI_CLASS_COUNT + 1];
    const size_t n = (size_t)plan->basis->ao_num;
    worker *workers = calloc((size_t)threads, sizeof *workers);
    double **matrices = calloc((size_t)threads, sizeof *matrices);
    if (!workers || !matrices) {
        free(workers);
        free(matrices);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads", threads);
    }
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) work_all += work_of_class(&plan->pairs, c);

#pragma omp parallel num_threads(threads)
    {
#pragma omp master
        team = omp_get_num_threads();
        worker *w = &workers[omp_get_thread_num()];
        if (!worker_alloc(w, plan, own)) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp barrier
        double work = 0.0;
        for (int c = 0; c < FMO_ERI_CLASS_COUNT && !failed; c++) {
#pragma omp master
            {
                class_start[c] = fmo_now();
                fmo_plan_progress(plan, work / work_all);
            }
            build_class(plan, kernels, (fmo_eri_class)c, atomic, w, work, work_all);
            work += work_of_class(&plan->pairs, c);
        }
#pragma omp master
        class_start[FMO_ERI_CLASS_COUNT] = fmo_now();
    }
    if (failed) {
        status = fmo_error_set(err, FMO_ERR_MEMORY,
                               "no memory for the J and K of %d threads; use fewer threads or "
                               "reduce = atomic",
                               threads);
        goto done;
    }
    if (own) {
        for (int t = 0; t < team; t++) matrices[t] = workers[t].own;
        fmo_cpu_reduce_tree(matrices, team, n * n, plan->coulomb, plan->exchange);
    }
    plan->profile.threads = team;
    plan->profile.reduce_seconds = fmo_now() - class_start[FMO_ERI_CLASS_COUNT];
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &plan->profile.classes[c];
        p->seconds = class_start[c + 1] - class_start[c];
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
    }
    fmo_plan_progress(plan, 1.0);
done:
    for (int t = 0; t < threads; t++) worker_free(&workers[t]);
    free(workers);
    free(matrices);
    return status;
}

const fmo_mode_implementation fmo_mode_cpu = {
    .build = cpu_build, .needs_pairs = 1, .host_matrices = 1};
