/* `--mode cpu`: threads and reduction around the kernels of cpu/kernel.c. Task by task, bra pairs
 * are dealt to threads. `tree` gives each thread sums of its own; `fixed` makes the sums integers,
 * which are the same in whatever order they are added. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "accumulate/cpu/kernel.h"
#include "accumulate/plan/plan.h"

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

/* ---- memory --------------------------------------------------------------------------------- */

/* Doubles in a set of sums: X^K, then X^J by pair class. */
static size_t sums_size(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs)
{
    const size_t n = (size_t)plan->basis->ao_num;
    size_t size = n * n;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += (size_t)pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    return size;
}

static fmo_cpu_sums sums_at(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs, double *memory)
{
    const size_t n = (size_t)plan->basis->ao_num;
    fmo_cpu_sums sums = {.exchange = memory};
    memory += n * n;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        sums.coulomb[c] = memory;
        memory += (size_t)pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    }
    return sums;
}

static size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

static double *vector_alloc(size_t doubles)
{
    return aligned_alloc(64, (doubles * sizeof(double) + 127) / 64 * 64);
}

/* Hands out the next `num` items of `size` bytes; without memory it only counts. */
static void *take(char *memory, size_t *used, size_t num, size_t size)
{
    void *const here = memory ? memory + *used : NULL;
    *used += (num * size + 63) / 64 * 64;
    return here;
}

/* Bytes of a worker's arrays, which lie in one piece of memory; NULL: just count. */
static size_t worker_arrays(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs, char *memory,
                            fmo_cpu_worker *w)
{
    const size_t n = (size_t)plan->basis->ao_num, shells = (size_t)plan->basis->shell_num;
    size_t kets = 0, prims = 1, table = 1, groups = 0, used = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        kets = size_max(kets, (size_t)pairs->list[c].num);
        prims = size_max(prims, (size_t)pairs->list[c].count_max);
        groups = size_max(groups, (size_t)pairs->list[c].group_num);
    }
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        table = size_max(table, (size_t)pairs->list[fmo_eri_class_bra(c)].count_max *
                                    (size_t)pairs->list[fmo_eri_class_ket(c)].exponent_num);
    kets += FMO_CPU_WIDTH_MAX; /* whole vectors are stored */
    w->density_rows = take(memory, &used, FMO_CPU_ROW_MAX * n, sizeof *w->density_rows);
    w->exchange_rows = take(memory, &used, FMO_CPU_ROW_MAX * n, sizeof *w->exchange_rows);
    w->shell_max = take(memory, &used, shells, sizeof *w->shell_max);
    w->ket = take(memory, &used, kets, sizeof *w->ket);
    w->ordered = take(memory, &used, kets, sizeof *w->ordered);
    w->left = take(memory, &used, kets, sizeof *w->left);
    w->key = take(memory, &used, kets, sizeof *w->key);
    w->key_count = take(memory, &used, prims * FMO_CPU_DISTANCES + 1, sizeof *w->key_count);
    w->packed =
        take(memory, &used, prims * FMO_CPU_PACK_FIELDS * FMO_CPU_WIDTH_MAX, sizeof *w->packed);
    w->table = take(memory, &used, table * FMO_CPU_TABLE_FIELDS, sizeof *w->table);
    w->table_of = take(memory, &used, groups, sizeof *w->table_of);
    return used;
}

/* Density by pair, its maxima, and a number for each shell. */
static size_t by_pair_size(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs)
{
    size_t size = (size_t)plan->basis->shell_num;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += (size_t)pairs->list[c].num * (size_t)(fmo_cpu_stride(c) + 1);
    return size;
}

static int sums_are_shared(const fmo_fock_plan *plan)
{
    return plan->options.threads > 1 && plan->options.reduce == FMO_REDUCE_ATOMIC;
}

static void cpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const fmo_cpu_state *s = plan->state;
    const size_t threads = (size_t)plan->options.threads;
    fmo_cpu_worker worker;
    memory->host_bytes +=
        sizeof *s + s->pairs.bytes + (size_t)s->work.num * sizeof *s->work.task + s->store_bytes +
        by_pair_size(plan, &s->pairs) * sizeof(double) +
        threads * worker_arrays(plan, &s->pairs, NULL, &worker) +
        (sums_are_shared(plan) ? 1 : threads) * sums_size(plan, &s->pairs) * sizeof(double);
}

/* ---- densities by pair ---------------------------------------------------------------------- */

static void density_by_pair(const fmo_fock_plan *plan, const fmo_cpu_pair_list *list, int c,
                            double *density, double *largest)
{
    const int stride = fmo_cpu_stride(c);
    const int rows = fmo_pair_functions(c, 0, 0), columns = fmo_pair_functions(c, 1, 0);
    const size_t n = (size_t)plan->basis->ao_num, shells = (size_t)plan->basis->shell_num;
    for (int q = 0; q < list->num; q++, density += stride) {
        const double *block = plan->density + (size_t)list->ao_i[q] * n + (size_t)list->ao_j[q];
        memset(density, 0, (size_t)stride * sizeof *density);
        for (int x = 0; x < rows; x++)
            for (int y = 0; y < columns; y++)
                density[x * columns + y] = block[(size_t)x * n + (size_t)y];
        largest[q] = plan->coulomb_weight *
                     plan->density_max[(size_t)list->i[q] * shells + (size_t)list->j[q]];
    }
}

/* ---- fixed point ---------------------------------------------------------------------------- */

/* The power of two by which values below `bound` in sum fill 61 bits. */
static double fixed_scale(double bound)
{
    return bound > 0.0 && isfinite(bound) ? ldexp(1.0, 60 - ilogb(bound)) : 1.0;
}

/* Bounds of any partial sum of X^J and X^K elements, from (ij|kl) <= Q_ij Q_kl:
 * sum_ij |D_ij| Q_ij max Q and max|D| (max_i sum_j Q_ij)^2; twice that, for good measure. */
static void set_scales(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs, double *row,
                       fmo_cpu_adding *adding)
{
    const size_t shells = (size_t)plan->basis->shell_num;
    double coulomb = 0.0, largest = 0.0, row_largest = 0.0;
    memset(row, 0, shells * sizeof *row);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &pairs->list[c];
        const int rows = fmo_pair_functions(c, 0, 0), columns = fmo_pair_functions(c, 1, 0);
        const double size = fmo_pair_products(c, 0);
        for (int q = 0; q < list->num; q++) {
            const size_t i = (size_t)list->i[q], j = (size_t)list->j[q];
            coulomb += size * list->bound[q] * plan->density_max[i * shells + j];
            largest = fmax(largest, list->bound[q]);
            row[i] += columns * list->bound[q];
            if (i != j) row[j] += rows * list->bound[q];
        }
    }
    for (size_t s = 0; s < shells; s++) row_largest = fmax(row_largest, row[s]);
    adding->coulomb_scale = fixed_scale(2.0 * coulomb * largest);
    adding->exchange_scale = fixed_scale(2.0 * plan->density_largest * row_largest * row_largest);
}

/* ---- reduction ------------------------------------------------------------------------------ */

enum { REDUCE_BLOCK = 4096 };

/* own[0] += own[1] + ..., pairwise. */
static void reduce_sums(double *const *own, int threads, size_t size, int fixed)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t begin = 0; begin < size; begin += REDUCE_BLOCK) {
        const size_t end = begin + REDUCE_BLOCK < size ? begin + REDUCE_BLOCK : size;
        for (int step = 1; step < threads; step *= 2) {
            for (int t = 0; t + step < threads; t += 2 * step) {
                if (fixed) {
                    int64_t *to = (int64_t *)own[t];
                    const int64_t *from = (const int64_t *)own[t + step];
                    for (size_t x = begin; x < end; x++) to[x] += from[x];
                } else {
                    for (size_t x = begin; x < end; x++) own[t][x] += own[t + step][x];
                }
            }
        }
    }
}

void fmo_cpu_reduce_tree(double *const *own, int threads, size_t size, double *coulomb,
                         double *exchange)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t begin = 0; begin < size; begin += REDUCE_BLOCK) {
        const size_t end = begin + REDUCE_BLOCK < size ? begin + REDUCE_BLOCK : size;
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

/* Sums -> plan->coulomb, plan->exchange. */
static void give_sums(fmo_fock_plan *plan, const fmo_cpu_pairs *pairs, const fmo_cpu_sums *sums,
                      const fmo_cpu_adding *adding)
{
    const size_t n = (size_t)plan->basis->ao_num;
    const double J = 1.0 / adding->coulomb_scale, K = 1.0 / adding->exchange_scale;
#define VALUE(p, unit) (adding->fixed ? (double)*(const int64_t *)(p) * (unit) : *(p))
    for (size_t x = 0; x < n * n; x++) plan->exchange[x] = VALUE(sums->exchange + x, K);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &pairs->list[c];
        const double *block = sums->coulomb[c];
        const int rows = fmo_pair_functions(c, 0, 0), columns = fmo_pair_functions(c, 1, 0);
        for (int q = 0; q < list->num; q++, block += fmo_cpu_stride(c)) {
            double *to = plan->coulomb + (size_t)list->ao_i[q] * n + (size_t)list->ao_j[q];
            for (int x = 0; x < rows; x++)
                for (int y = 0; y < columns; y++)
                    to[(size_t)x * n + (size_t)y] += VALUE(block + x * columns + y, J);
        }
    }
#undef VALUE
}

/* ---- the build ------------------------------------------------------------------------------ */

static void run_task(fmo_fock_plan *plan, const fmo_cpu_build *build,
                     fmo_cpu_kernel *const *kernels, const fmo_task *task, fmo_cpu_worker *w,
                     double done, double all)
{
    const int c = task->eri_class, bras = task->bra_end - task->bra_begin;
    fmo_class_profile *profile = &plan->profile.classes[c];
    w->quartets = w->prim_quartets = 0;
    for (int g = 0; g < build->pairs->list[fmo_eri_class_ket(c)].group_num; g++)
        w->table_of[g] = -1;
#pragma omp for schedule(dynamic, 2)
    for (int n = 0; n < bras; n++) {
        kernels[c](build, w, task->bra_end - 1 - n); /* the longest lists of kets first */
        if (omp_get_thread_num() == 0 && n % 16 == 0)
            fmo_plan_progress(plan, (done + task->weight * n / bras) / all);
    }
#pragma omp atomic
    profile->quartets += w->quartets;
#pragma omp atomic
    profile->prim_quartets += w->prim_quartets;
}

/* ---- stored integrals ----------------------------------------------------------------------- */

/* No density that the plan's pairs are good for has a larger density factor (screen.h). */
static double store_factor(const fmo_fock_plan *plan)
{
    return 4.0 * plan->coulomb_weight * plan->density_limit;
}

/* Vectors that bra `bra` of a class will have in the store. */
static size_t count_vectors(const fmo_fock_plan *plan, const fmo_cpu_state *s, int c, int bra)
{
    const fmo_cpu_pair_list *bras = &s->pairs.list[fmo_eri_class_bra(c)];
    const fmo_cpu_pair_list *kets = &s->pairs.list[fmo_eri_class_ket(c)];
    const int same = bras == kets, width = s->kernels->width;
    size_t vectors = 0, left = 0;
    for (int g = 0; g < (same ? bras->group_of[bra] + 1 : kets->group_num); g++) {
        const fmo_cpu_group *group = &kets->group[g];
        const int end = same && g == bras->group_of[bra] ? bra + 1 : group->end;
        const int num = fmo_cpu_kets_end(kets, group->begin, end, bras->bound[bra],
                                         store_factor(plan), plan->options.cutoff) -
                        group->begin;
        const int apart = fmo_cpu_kets_apart(num, width);
        vectors += (size_t)((apart + width - 1) / width);
        left += (size_t)(num - apart);
    }
    return vectors + (left + (size_t)width - 1) / (size_t)width;
}

static void store_free(fmo_cpu_state *s)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        free(s->store[c].begin);
        free(s->store[c].ket);
        free(s->store[c].eri);
    }
    memset(s->store, 0, sizeof s->store);
    s->store_bytes = 0;
    s->stored = s->filled = 0;
}

/* Large pages, if the system has them: gigabytes of small ones take longer to get than to fill. */
static void *large_alloc(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < 4 * page) return aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
#if defined(MADV_HUGEPAGE)
    if (memory) (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a wish */
#endif
    return memory;
}

/* Whether a bra of a class is in the work. */
static int has_bra(const fmo_work *work, int c, int bra)
{
    for (int n = 0; n < work->num; n++)
        if ((int)work->task[n].eri_class == c && bra >= work->task[n].bra_begin &&
            bra < work->task[n].bra_end)
            return 1;
    return 0;
}

/* Makes room for all integrals that can matter, if there is enough memory and they are wanted. */
static fmo_status store_prepare(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const int automatic = plan->options.integrals == FMO_INTEGRALS_AUTO;
    const size_t width = (size_t)s->kernels->width;
    if (plan->options.integrals == FMO_INTEGRALS_DIRECT) return FMO_OK;
    /* Without a limit `auto` leaves half of what is free to others. */
    const size_t allowed = fmo_plan_memory(plan) / (automatic && !plan->options.memory ? 2 : 1);
    int good = 1;
    for (int c = 0; good && c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_cpu_store *store = &s->store[c];
        const int bras = s->pairs.list[fmo_eri_class_bra(c)].num;
        store->begin = malloc(((size_t)bras + 1) * sizeof *store->begin);
        good = store->begin != NULL;
        if (!good) break;
        store->begin[0] = 0;
        for (int b = 0; b < bras; b++)
            store->begin[b + 1] =
                store->begin[b] + (has_bra(&s->work, c, b) ? count_vectors(plan, s, c, b) : 0);
        s->store_bytes +=
            ((size_t)bras + 1) * sizeof *store->begin +
            store->begin[bras] * width *
                ((size_t)fmo_eri_class_integrals(c, 0) * sizeof *store->eri + sizeof *store->ket);
    }
    if (good && s->store_bytes <= allowed) {
        for (int c = 0; good && c < FMO_ERI_CLASS_COUNT; c++) {
            fmo_cpu_store *store = &s->store[c];
            const size_t lanes = store->begin[s->pairs.list[fmo_eri_class_bra(c)].num] * width;
            store->ket = large_alloc(lanes * sizeof *store->ket);
            store->eri =
                large_alloc(lanes * (size_t)fmo_eri_class_integrals(c, 0) * sizeof *store->eri);
            good = store->ket && store->eri;
        }
        if (good) {
            s->stored = 1;
            return FMO_OK;
        }
    }
    const double needed = 1e-6 * (double)s->store_bytes;
    store_free(s);
    if (automatic) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "integrals = stored needs %.1f MB, %.1f may be used; use integrals = auto "
                         "or direct, a larger cutoff or more memory",
                         needed, 1e-6 * (double)allowed);
}

/* ---- the mode ------------------------------------------------------------------------------- */

/* What depends on the plan's pairs. */
static fmo_status make_state(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    fmo_work_size size[FMO_PAIR_CLASS_COUNT];
    fmo_status status = fmo_cpu_pairs_make(plan->basis, &plan->pairs, &s->pairs, err);
    if (status != FMO_OK) return status;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        size[c].pairs = s->pairs.list[c].num;
        size[c].prims = (double)plan->pairs.list[c].prim_num;
    }
    status = fmo_plan_make_work(plan, size, &s->work, err);
    return status == FMO_OK ? store_prepare(plan, s, err) : status;
}

static void free_state(fmo_cpu_state *s)
{
    store_free(s);
    fmo_work_free(&s->work);
    fmo_cpu_pairs_free(&s->pairs);
}

static fmo_status cpu_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_cpu_state *s = calloc(1, sizeof *s);
    if (!s) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a cpu plan");
    plan->state = s;
    s->kernels = fmo_cpu_kernels_choose();
    return make_state(plan, s, err);
}

static void cpu_release(fmo_fock_plan *plan)
{
    fmo_cpu_state *s = plan->state;
    if (!s) return;
    free_state(s);
    free(s);
    plan->state = NULL;
}

static fmo_status cpu_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_cpu_state *s = plan->state;
    free_state(s);
    return make_state(plan, s, err);
}

static fmo_status cpu_build(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    (void)density; /* plan->density is the same in internal order */
    fmo_cpu_state *s = plan->state;
    const fmo_cpu_pairs *pairs = &s->pairs;
    const int threads = plan->options.threads;
    const int atomic = sums_are_shared(plan);
    const size_t size = sums_size(plan, pairs);
    fmo_cpu_build build = {.basis = plan->basis,
                           .pairs = pairs,
                           .cutoff = plan->options.cutoff,
                           .density = plan->density,
                           .density_max = plan->density_max,
                           .row_max = plan->row_max,
                           .density_largest = plan->coulomb_weight * plan->density_largest,
                           .adding = {atomic, plan->options.scatter == FMO_SCATTER_FIXED, 1.0, 1.0},
                           .store = s->stored ? s->store : NULL,
                           .store_factor = store_factor(plan)};
    fmo_cpu_kernel *const *kernels = s->filled ? s->kernels->replay : s->kernels->kernel;
    fmo_status status = FMO_OK;
    int failed = 0, team = 1; /* OpenMP may grant fewer threads than asked for */
    const double all = fmo_work_weight(&s->work) + 1.0;
    double ended = 0.0;
    fmo_cpu_worker *workers = calloc((size_t)threads, sizeof *workers);
    char **arrays = calloc((size_t)threads, sizeof *arrays);
    double **own = calloc((size_t)threads, sizeof *own);
    double *by_pair = vector_alloc(by_pair_size(plan, pairs));
    if (!workers || !arrays || !own || !by_pair) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads", threads);
        goto done;
    }
    double *next = by_pair;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const size_t num = (size_t)pairs->list[c].num;
        double *const blocks = next, *const largest = next + num * (size_t)fmo_cpu_stride(c);
        density_by_pair(plan, &pairs->list[c], c, blocks, largest);
        build.pair_density[c] = blocks;
        build.pair_max[c] = largest;
        next = largest + num;
    }
    if (build.adding.fixed) set_scales(plan, pairs, next, &build.adding);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) plan->profile.classes[c].seconds = 0.0;

#pragma omp parallel num_threads(threads)
    {
#pragma omp master
        team = omp_get_num_threads();
        const int t = omp_get_thread_num();
        fmo_cpu_worker *w = &workers[t];
        int good = 1;
        arrays[t] = aligned_alloc(64, worker_arrays(plan, pairs, NULL, w) + 64);
        if (arrays[t])
            worker_arrays(plan, pairs, arrays[t], w);
        else
            good = 0;
        if (!atomic || t == 0) {
            own[t] = vector_alloc(size);
            if (own[t])
                memset(own[t], 0, size * sizeof **own); /* 0.0 is 0 in either form */
            else
                good = 0;
        }
        if (!good) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp barrier
        double done = 0.0, begun = fmo_now();
        if (!failed) w->sums = sums_at(plan, pairs, own[atomic ? 0 : t]);
        for (int n = s->work.num - 1; n >= 0 && !failed; n--) { /* the lightest classes first */
            const fmo_task *task = &s->work.task[n];
#pragma omp master
            fmo_plan_progress(plan, done / all);
            run_task(plan, &build, kernels, task, w, done, all);
            done += task->weight;
#pragma omp master
            {
                const double now = fmo_now();
                plan->profile.classes[task->eri_class].seconds += now - begun;
                begun = now;
            }
        }
#pragma omp master
        ended = fmo_now();
    }
    if (failed) {
        status = fmo_error_set(err, FMO_ERR_MEMORY,
                               "no memory for the J and K of %d threads; use fewer threads or "
                               "reduce = atomic",
                               threads);
        goto done;
    }
    if (!atomic && team > 1) reduce_sums(own, team, size, build.adding.fixed);
    const fmo_cpu_sums sums = sums_at(plan, pairs, own[0]);
    give_sums(plan, pairs, &sums, &build.adding);
    plan->profile.threads = team;
    plan->profile.reduce_seconds = fmo_now() - ended;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &plan->profile.classes[c];
        if (s->filled) {
            p->quartets = s->store[c].quartets;
            p->prim_quartets = s->store[c].prim_quartets;
        } else if (s->stored) {
            s->store[c].quartets = p->quartets;
            s->store[c].prim_quartets = p->prim_quartets;
        }
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
    }
    s->filled = s->stored;
    plan->profile.integrals = s->stored ? FMO_INTEGRALS_STORED : FMO_INTEGRALS_DIRECT;
    fmo_plan_progress(plan, 1.0);
done:
    for (int t = 0; t < threads; t++) {
        if (arrays) free(arrays[t]);
        if (own) free(own[t]);
    }
    free(workers);
    free(arrays);
    free(own);
    free(by_pair);
    return status;
}

const fmo_mode_implementation fmo_mode_cpu = {.prepare = cpu_prepare,
                                              .build = cpu_build,
                                              .new_pairs = cpu_new_pairs,
                                              .release = cpu_release,
                                              .needs_pairs = 1,
                                              .workspace = cpu_workspace};
