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
#include "accumulate/rules/digest.h"
#include "integrals/vector.h"

const fmo_cpu_kernels *fmo_cpu_kernels_choose(void)
{
    return FMO_VECTOR_TABLE(fmo_cpu_kernels);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* What decides how much memory a build takes. */
typedef struct cpu_shape {
    const fmo_fock_plan *plan;
    const fmo_cpu_pairs *pairs;  /* the plan's */
    const fmo_cpu_pairs *source; /* of which the density is; the same or another's */
    size_t source_shells;
    size_t densities;
    int exchange; /* K is wanted */
} cpu_shape;

/* Elements of X^K, all densities. */
static size_t exchange_size(const cpu_shape *s)
{
    const size_t n = (size_t)s->plan->basis->function_num;
    return s->exchange ? s->densities * n * n : 0;
}

/* Doubles in a set of sums: X^K, then X^J by pair class. */
static size_t sums_size(const cpu_shape *s)
{
    size_t size = exchange_size(s);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += s->densities * (size_t)s->pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    return size;
}

/* The plan's sums as those of both sides. */
static fmo_cpu_sums sums_at(const cpu_shape *s, double *memory)
{
    fmo_cpu_sums sums = {.exchange = s->exchange ? memory : NULL};
    memory += exchange_size(s);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        sums.coulomb[FMO_CPU_BRA][c] = sums.coulomb[FMO_CPU_KET][c] = memory;
        memory += s->densities * (size_t)s->pairs->list[c].num * (size_t)fmo_cpu_stride(c);
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
static size_t worker_arrays(const cpu_shape *s, char *memory, fmo_cpu_worker *w)
{
    const fmo_cpu_pairs *const sides[2] = {s->pairs, s->source};
    const size_t n = s->exchange ? s->densities * (size_t)s->plan->basis->function_num : 0;
    const size_t shells = size_max((size_t)s->plan->basis->shell_num, s->source_shells);
    size_t kets = 0, prims = 1, table = 1, families = 0, used = 0;
    for (int c = 0; c < 2 * FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &sides[c % 2]->list[c / 2];
        kets = size_max(kets, (size_t)list->num);
        prims = size_max(prims, (size_t)list->count_max);
        families = size_max(families, (size_t)list->family_num);
    }
    for (int c = 0; c < 2 * FMO_ERI_CLASS_COUNT; c++) { /* either side may be the bra */
        const fmo_cpu_pair_list *bra = &sides[c % 2]->list[fmo_eri_class_bra(c / 2)];
        const fmo_cpu_pair_list *ket = &sides[1 - c % 2]->list[fmo_eri_class_ket(c / 2)];
        table = size_max(table, (size_t)bra->count_max * (size_t)ket->exponent_num);
    }
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
    w->table_of = take(memory, &used, families, sizeof *w->table_of);
    if (memory) memset(w->shell_max, 0, shells * sizeof *w->shell_max);
    return used;
}

/* Doubles of the densities by pair and their maxima. */
static size_t by_pair_size(const fmo_cpu_pairs *pairs, size_t densities)
{
    size_t size = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += (size_t)pairs->list[c].num * (densities * (size_t)fmo_cpu_stride(c) + 1);
    return size;
}

/* What a build allocates: for all, for each thread, for each set of sums. */
typedef struct needs {
    size_t all, thread, sums;
} needs;

static needs needs_of(const cpu_shape *s)
{
    fmo_cpu_worker worker;
    const size_t shells = (size_t)s->plan->basis->shell_num;
    const needs n = {(by_pair_size(s->pairs, s->densities) + shells) * sizeof(double) + 128,
                     worker_arrays(s, NULL, &worker) + 64 + sizeof worker + 2 * sizeof(void *),
                     sums_size(s) * sizeof(double) + 128};
    return n;
}

/* Of J and K of so many of the plan's own densities. */
static needs needs_of_own(const fmo_fock_plan *plan, const fmo_cpu_state *s, int densities)
{
    const cpu_shape shape = {plan, &s->pairs, &s->pairs, 0, (size_t)densities, 1};
    return needs_of(&shape);
}

/* Below this nobody asks the system what is free. */
static const size_t always_there = (size_t)64 << 20;

/* How many threads and sets of sums there is memory for: fewer sets before fewer threads. */
static fmo_status choose_copies(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const needs n = needs_of_own(plan, s, 1);
    const size_t asked = (size_t)plan->options.threads;
    const size_t wanted = plan->options.reduce == FMO_REDUCE_ATOMIC ? 1 : asked;
    const size_t all = n.all + asked * n.thread + wanted * n.sums;
    size_t threads = asked, copies = wanted;
    if (plan->options.memory || all > always_there) {
        const size_t allowed = fmo_plan_memory(plan), least = n.all + n.thread + n.sums;
        if (least > allowed)
            return fmo_error_set(err, FMO_ERR_MEMORY,
                                 "mode cpu needs %.3f MB of work space with 1 thread, %.3f may be "
                                 "used; allow more memory, or use a GPU (mode fused)",
                                 1e-6 * (double)least, 1e-6 * (double)allowed);
        const size_t left = allowed - n.all - n.sums; /* with one set */
        if (threads > left / n.thread) threads = left / n.thread;
        const size_t fit = 1 + (left - threads * n.thread) / n.sums;
        if (copies > fit) copies = fit;
        if (copies > threads) copies = threads;
        if (threads < asked || copies < wanted)
            fmo_plan_note(plan,
                          "%zu of %zu threads and %zu of %zu copies of the Fock matrix, which "
                          "together would take %.3f MB of %.3f",
                          threads, asked, copies, wanted, 1e-6 * (double)all,
                          1e-6 * (double)allowed);
    }
    s->threads = (int)threads;
    s->copies = (int)copies;
    return FMO_OK;
}

/* Densities that there is memory for at a time. */
static int cpu_densities(const fmo_fock_plan *plan)
{
    const fmo_cpu_state *s = plan->state;
    int densities = FMO_PLAN_DENSITIES_MAX;
    for (; densities > 1; densities--) {
        const needs n = needs_of_own(plan, s, densities);
        const size_t all = n.all + (size_t)s->threads * n.thread + (size_t)s->copies * n.sums;
        if (!plan->options.memory && all <= always_there) break;
        if (all <= fmo_plan_memory(plan)) break;
    }
    return densities;
}

static void cpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const fmo_cpu_state *s = plan->state;
    const needs n = needs_of_own(plan, s, 1);
    memory->host_bytes += sizeof *s + s->pairs.bytes + (size_t)s->work.num * sizeof *s->work.task +
                          s->store_bytes + n.all + (size_t)s->threads * n.thread +
                          (size_t)s->copies * n.sums;
}

/* ---- densities by pair ---------------------------------------------------------------------- */

/* Those of one class; `largest` stays 0 where only K is wanted. */
static void density_by_pair(const fmo_fock_plan *plan, const fmo_cpu_pair_list *list, int c,
                            int with_J, double *density, double *largest)
{
    const fmo_plan_matrices *m = &plan->matrices;
    const int stride = fmo_cpu_stride(c);
    const int rows = fmo_pair_functions(c, 0, 0), columns = fmo_pair_functions(c, 1, 0);
    const size_t n = (size_t)plan->basis->function_num, shells = (size_t)plan->basis->shell_num;
    for (int d = 0; d < m->num; d++) {
        for (int q = 0; q < list->num; q++, density += stride) {
            const double *block =
                m->density + ((size_t)d * n + (size_t)list->ao_i[q]) * n + (size_t)list->ao_j[q];
            memset(density, 0, (size_t)stride * sizeof *density);
            for (int x = 0; x < rows; x++)
                for (int y = 0; y < columns; y++)
                    density[x * columns + y] = block[(size_t)x * n + (size_t)y];
        }
    }
    for (int q = 0; q < list->num; q++)
        largest[q] = with_J ? plan->coulomb_weight *
                                  m->density_max[(size_t)list->i[q] * shells + (size_t)list->j[q]]
                            : 0.0;
}

/* A side with the plan's densities; they go to `memory`, by_pair_size of it. */
static fmo_cpu_side side_with_density(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                                      int with_J, double *memory)
{
    fmo_cpu_side side = {.pairs = pairs};
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const size_t num = (size_t)pairs->list[c].num;
        double *const largest =
            memory + (size_t)plan->matrices.num * num * (size_t)fmo_cpu_stride(c);
        density_by_pair(plan, &pairs->list[c], c, with_J, memory, largest);
        side.density[c] = memory;
        side.largest[c] = largest;
        memory = largest + num;
    }
    return side;
}

/* A side without: D is zero everywhere. `zeros` holds one density of the largest class. */
static fmo_cpu_side side_without_density(const fmo_cpu_pairs *pairs, const double *zeros)
{
    fmo_cpu_side side = {.pairs = pairs};
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) side.density[c] = side.largest[c] = zeros;
    return side;
}

/* ---- fixed point ---------------------------------------------------------------------------- */

/* The power of two by which values below `bound` in sum fill 61 bits; at most 2^1022, so that its
 * inverse is the smallest number that a double has with all digits. */
static double fixed_scale(double bound)
{
    return bound > 0.0 ? ldexp(1.0, (int)fmin(60 - ilogb(bound), 1022)) : 1.0;
}

static double largest_bound(const fmo_cpu_pairs *pairs)
{
    double largest = 0.0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        for (int q = 0; q < pairs->list[c].num; q++)
            largest = fmax(largest, pairs->list[c].bound[q]);
    return largest;
}

/* Bounds of any partial sum of X^J and X^K elements, from (ij|kl) <= Q_ij Q_kl:
 * sum_ij |D_ij| Q_ij max Q and max|D| (max_i sum_j Q_ij)^2; twice that, for good measure. Pairs,
 * density and `row`, a number for each shell, are those of the owner of the density; max Q is that
 * of the pairs whose sums these are. Without finite bounds there are no scales, and FMO_ERR_INPUT.
 */
static fmo_status set_scales(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                             const fmo_cpu_pairs *of_sums, double *row, fmo_cpu_adding *adding,
                             fmo_error *err)
{
    const size_t shells = (size_t)plan->basis->shell_num;
    const double largest = largest_bound(of_sums);
    double limit_J = 0.0, row_largest = 0.0;
    memset(row, 0, shells * sizeof *row);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &pairs->list[c];
        const int rows = fmo_pair_functions(c, 0, 0), columns = fmo_pair_functions(c, 1, 0);
        const double size = fmo_pair_products(c, 0);
        for (int q = 0; q < list->num; q++) {
            const size_t i = (size_t)list->i[q], j = (size_t)list->j[q];
            limit_J += size * list->bound[q] * plan->matrices.density_max[i * shells + j];
            row[i] += columns * list->bound[q];
            if (i != j) row[j] += rows * list->bound[q];
        }
    }
    for (size_t s = 0; s < shells; s++) row_largest = fmax(row_largest, row[s]);
    limit_J *= 2.0 * largest;
    const double limit_K = 2.0 * plan->density_largest * row_largest * row_largest;
    if (!isfinite(limit_J) || !isfinite(limit_K))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "scatter = fixed: a density with elements up to %.3g leaves no finite "
                             "bound on the Fock matrix; use another strategy",
                             plan->density_largest);
    adding->coulomb_scale = fixed_scale(limit_J);
    adding->exchange_scale = fixed_scale(limit_K);
    return FMO_OK;
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

/* Sums -> plan->matrices. */
static void give_sums(fmo_fock_plan *plan, const cpu_shape *shape, const fmo_cpu_sums *sums,
                      const fmo_cpu_adding *adding)
{
    fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num;
    const double J = 1.0 / adding->coulomb_scale, K = 1.0 / adding->exchange_scale;
    /* integers stay what they are until those of all ranks are added up */
    const int raw = adding->fixed && plan->shared.pieces > 0;
    m->coulomb_unit = raw ? J : 0.0;
    m->exchange_unit = raw ? K : 0.0;
#define VALUE(p, unit) (adding->fixed ? (double)*(const int64_t *)(p) * (unit) : *(p))
    if (raw && shape->exchange)
        memcpy(m->exchange, sums->exchange, exchange_size(shape) * sizeof(double));
    for (size_t x = 0; x < exchange_size(shape) && !raw; x++)
        m->exchange[x] = VALUE(sums->exchange + x, K);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &shape->pairs->list[c];
        const double *block = sums->coulomb[FMO_CPU_BRA][c];
        const int rows = fmo_pair_functions(c, 0, 0), columns = fmo_pair_functions(c, 1, 0);
        for (size_t d = 0; d < shape->densities; d++) {
            for (int q = 0; q < list->num; q++, block += fmo_cpu_stride(c)) {
                double *to =
                    m->coulomb + (d * n + (size_t)list->ao_i[q]) * n + (size_t)list->ao_j[q];
                for (int x = 0; x < rows; x++)
                    for (int y = 0; y < columns; y++)
                        if (raw)
                            memcpy(to + (size_t)x * n + (size_t)y, block + x * columns + y,
                                   sizeof *to);
                        else
                            to[(size_t)x * n + (size_t)y] += VALUE(block + x * columns + y, J);
            }
        }
    }
#undef VALUE
}

/* ---- the build ------------------------------------------------------------------------------ */

/* What a thread has done of a build. */
typedef struct progress {
    double done, all; /* weights */
} progress;

static void run_task(fmo_fock_plan *plan, const fmo_cpu_build *build,
                     fmo_cpu_kernel *const *kernels, const fmo_task *task, fmo_cpu_worker *w,
                     const progress *at)
{
    const int c = task->eri_class, bras = task->bra_end - task->bra_begin;
    fmo_class_profile *profile = &plan->profile.classes[c];
    w->quartets = w->prim_quartets = 0;
    for (int f = 0; f < build->side[FMO_CPU_KET].pairs->list[fmo_eri_class_ket(c)].family_num; f++)
        w->table_of[f] = -1;
#pragma omp for schedule(dynamic, 2)
    for (int n = 0; n < bras; n++) {
        kernels[c](build, w, task->bra_end - 1 - n); /* the longest lists of kets first */
        if (omp_get_thread_num() == 0 && n % 16 == 0)
            fmo_plan_progress(plan, (at->done + task->weight * n / bras) / at->all);
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
    for (int f = 0; f < (same ? bras->family_of[bra] + 1 : kets->family_num); f++) {
        const fmo_cpu_family *family = &kets->family[f];
        const int end = same && f == bras->family_of[bra] ? bra + 1 : family->end;
        const int num = fmo_cpu_kets_end(kets, family->begin, end, bras->bound[bra],
                                         store_factor(plan), plan->options.cutoff) -
                        family->begin;
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

/* The vectors of each bra, those of bras outside the work left out: begin[0..bras], ascending. */
static void count_store(const fmo_fock_plan *plan, const fmo_cpu_state *s, int c, int bras,
                        size_t *begin)
{
    memset(begin, 0, ((size_t)bras + 1) * sizeof *begin);
    for (int n = 0; n < s->work.num; n++) {
        const fmo_task *task = &s->work.task[n];
        if ((int)task->eri_class != c) continue;
        for (int b = task->bra_begin; b < task->bra_end; b++)
            begin[b + 1] = count_vectors(plan, s, c, b);
    }
    for (int b = 0; b < bras; b++) begin[b + 1] += begin[b];
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
        count_store(plan, s, c, bras, store->begin);
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

static void sizes_of(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs, fmo_work_size *size)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        size[c].pairs = pairs->list[c].num;
        size[c].prims = (double)plan->pairs.list[c].prim_num;
    }
}

/* ---- pieces for several ranks ------------------------------------------------------------- */

static void mix(uint64_t *hash, const void *data, size_t bytes)
{
    const unsigned char *c = data;
    for (size_t k = 0; k < bytes; k++)
        *hash = (*hash ^ c[k]) * UINT64_C(1099511628211); /* FNV-1a */
}

/* Of what pieces are numbers of, and where bits count, of what bits come from. */
static uint64_t fingerprint_of(const fmo_fock_plan *plan, const fmo_cpu_state *s)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &s->pairs.list[c];
        const size_t num = (size_t)list->num;
        mix(&hash, list->ao_i, num * sizeof *list->ao_i);
        mix(&hash, list->ao_j, num * sizeof *list->ao_j);
        if (plan->options.scatter == FMO_SCATTER_FIXED)
            mix(&hash, list->bound, num * sizeof *list->bound);
    }
    for (int n = 0; n < s->work.num; n++) {
        const fmo_task *task = &s->work.task[n];
        const int piece[] = {(int)task->eri_class, task->bra_begin, task->bra_end};
        mix(&hash, piece, sizeof piece);
    }
    if (plan->options.scatter == FMO_SCATTER_FIXED)
        mix(&hash, &s->kernels->width, sizeof s->kernels->width);
    return hash;
}

/* Vectors of integrals in a piece: what it costs, within its class. */
static double vectors_in(const fmo_fock_plan *plan, const fmo_cpu_state *s, const fmo_task *task)
{
    double vectors = 0.0;
    for (int b = task->bra_begin; b < task->bra_end; b++)
        vectors += (double)count_vectors(plan, s, (int)task->eri_class, b);
    return vectors;
}

/* Integrals that are kept stay with one rank, so pieces are dealt once, to the rank that has least
 * of their class so far: all ranks deal alike, and each keeps its own. */
static fmo_status deal_work(const fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const fmo_ranks *ranks = plan->options.ranks;
    double *const load = calloc((size_t)ranks->size * FMO_ERI_CLASS_COUNT, sizeof *load);
    int kept = 0;
    if (!load) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to deal out work");
    for (int n = 0; n < s->work.num; n++) {
        const fmo_task task = s->work.task[n];
        double *const of_class = load + (size_t)ranks->size * (size_t)task.eri_class;
        int least = 0;
        for (int k = 1; k < ranks->size; k++) {
            /* classes begin with different ranks, as some have fewer pieces than there are ranks */
            const int r = (k + (int)task.eri_class) % ranks->size;
            if (of_class[r] < of_class[least]) least = r;
        }
        of_class[least] += vectors_in(plan, s, &task);
        if (least == ranks->rank) s->work.task[kept++] = task;
    }
    s->work.num = kept;
    s->dealt = 1;
    free(load);
    return FMO_OK;
}

/* What depends on the plan's pairs. */
static fmo_status make_state(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    fmo_work_size size[FMO_PAIR_CLASS_COUNT];
    fmo_status status = fmo_cpu_pairs_make(plan->basis, &plan->pairs, &s->pairs, err);
    if (status != FMO_OK) return status;
    sizes_of(plan, &s->pairs, size);
    status = fmo_plan_make_work(plan, size, 0, &s->work, err);
    s->dealt = 0;
    if (status == FMO_OK && plan->shared.pieces > 0) {
        plan->shared.fingerprint = fingerprint_of(plan, s);
        if (plan->options.integrals != FMO_INTEGRALS_DIRECT) status = deal_work(plan, s, err);
    }
    if (status == FMO_OK) status = choose_copies(plan, s, err);
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

/* A list of tasks, and what its bras and kets are. */
typedef struct cpu_part {
    const fmo_work *work;
    fmo_cpu_build build;
    int adds[2]; /* whether the sums of each side are the plan's */
} cpu_part;

/* Parts of a build, gone through by a team of threads. */
typedef struct cpu_job {
    fmo_fock_plan *plan;
    cpu_shape shape;
    const cpu_part *part;
    int parts;
    fmo_cpu_kernel *const *kernels;
    int fixed;
    int threads, copies;     /* and sets of sums, each for every copies-th thread */
    fmo_cpu_worker *workers; /* [threads] */
    char **arrays;           /* [threads] */
    double **own;            /* [copies] sums */
    int team;                /* OpenMP may grant fewer threads than asked for */
    double ended;
    const fmo_ranks *ranks; /* the work's pieces come from their counter; NULL: see `next` */
    int64_t next;           /* piece of the work that nobody has yet */
    int fault;              /* of the ranks' network */
} cpu_job;

/* One thread's memory; 0 without. */
static int make_worker(cpu_job *j, int t)
{
    const size_t size = sums_size(&j->shape);
    fmo_cpu_worker *w = &j->workers[t];
    j->arrays[t] = aligned_alloc(64, worker_arrays(&j->shape, NULL, w) + 64);
    if (j->arrays[t]) worker_arrays(&j->shape, j->arrays[t], w);
    if (t >= j->copies) return j->arrays[t] != NULL;
    j->own[t] = vector_alloc(size);
    if (j->own[t]) memset(j->own[t], 0, size * sizeof **j->own); /* 0.0 is 0 in either form */
    return j->arrays[t] && j->own[t];
}

/* One thread's share of all tasks, the lightest classes first. */
static void run_parts(cpu_job *j, int t)
{
    fmo_fock_plan *plan = j->plan;
    fmo_cpu_worker *w = &j->workers[t];
    progress at = {0.0, 1.0};
    double begun = fmo_now();
    for (int p = 0; p < j->parts; p++) at.all += fmo_work_weight(j->part[p].work);
    for (int p = 0; p < j->parts; p++) {
        const cpu_part *part = &j->part[p];
        w->sums = sums_at(&j->shape, j->own[t % j->copies]);
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < FMO_PAIR_CLASS_COUNT && !part->adds[side]; c++)
                w->sums.coulomb[side][c] = NULL;
        for (int n = part->work->num - 1; n >= 0; n--) {
            const fmo_task *task = &part->work->task[n];
#pragma omp master
            fmo_plan_progress(plan, at.done / at.all);
            run_task(plan, &part->build, j->kernels, task, w, &at);
            at.done += task->weight;
#pragma omp master
            {
                const double now = fmo_now();
                plan->profile.classes[task->eri_class].seconds += now - begun;
                begun = now;
            }
        }
    }
}

/* The next piece of the work for one thread; NULL when there is none. */
static const fmo_task *next_piece(cpu_job *j, int64_t *number)
{
    const fmo_work *work = j->part[0].work;
    int fault = 0;
#pragma omp critical(fmo_cpu_next_piece)
    {
        *number = j->next;
        if (!j->ranks)
            j->next++;
        else if (!j->fault)
            j->fault = j->ranks->next(j->ranks->user, number);
        fault = j->fault;
    }
    return fault || *number >= work->num ? NULL : &work->task[*number];
}

/* Pieces of the work, those of one thread: it takes the next one when it is done with one, and
 * waits for nobody. */
static void run_pieces(cpu_job *j, int t)
{
    fmo_fock_plan *plan = j->plan;
    const cpu_part *part = &j->part[0];
    fmo_cpu_worker *w = &j->workers[t];
    const fmo_task *task;
    int64_t number;
    double begun = fmo_now();
    w->sums = sums_at(&j->shape, j->own[t % j->copies]);
    while ((task = next_piece(j, &number)) != NULL) {
        const int c = (int)task->eri_class;
        const fmo_cpu_pair_list *kets =
            &part->build.side[FMO_CPU_KET].pairs->list[fmo_eri_class_ket(c)];
        fmo_class_profile *profile = &plan->profile.classes[c];
        w->quartets = w->prim_quartets = 0;
        for (int g = 0; g < kets->family_num; g++) w->table_of[g] = -1;
        for (int b = task->bra_end - 1; b >= task->bra_begin; b--)
            j->kernels[c](&part->build, w, b);
#pragma omp atomic
        profile->quartets += w->quartets;
#pragma omp atomic
        profile->prim_quartets += w->prim_quartets;
#pragma omp master
        {
            const double now = fmo_now();
            profile->seconds += now - begun;
            begun = now;
            fmo_plan_progress(plan, (double)number / part->work->num);
        }
    }
}

/* All parts on all threads, and the sums to plan->matrices. */
static fmo_status run_job(cpu_job *j, fmo_error *err)
{
    fmo_fock_plan *plan = j->plan;
    const int threads = j->threads;
    fmo_status status = FMO_OK;
    int failed = 0;
    j->workers = calloc((size_t)threads, sizeof *j->workers);
    j->arrays = calloc((size_t)threads, sizeof *j->arrays);
    j->own = calloc((size_t)threads, sizeof *j->own);
    if (!j->workers || !j->arrays || !j->own) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d threads", threads);
        goto done;
    }
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) plan->profile.classes[c].seconds = 0.0;

#pragma omp parallel num_threads(threads)
    {
#pragma omp master
        j->team = omp_get_num_threads();
        if (!make_worker(j, omp_get_thread_num())) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp barrier
        if (!failed && plan->shared.pieces > 0) {
            run_pieces(j, omp_get_thread_num());
#pragma omp barrier
        } else if (!failed) {
            run_parts(j, omp_get_thread_num());
        }
#pragma omp master
        j->ended = fmo_now();
    }
    if (j->fault)
        status = fmo_error_set(err, FMO_ERR_DEVICE, "the ranks' counter of work does not answer");
    if (failed) {
        status = fmo_error_set(err, FMO_ERR_MEMORY,
                               "no memory for %d copies of the Fock matrix and %d threads; give a "
                               "limit in options.memory, or use fewer threads",
                               j->copies, threads);
    }
    if (status != FMO_OK) goto done;
    const int used = j->team < j->copies ? j->team : j->copies;
    if (used > 1) reduce_sums(j->own, used, sums_size(&j->shape), j->fixed);
    const fmo_cpu_sums sums = sums_at(&j->shape, j->own[0]);
    give_sums(plan, &j->shape, &sums, &j->part[0].build.adding);
    plan->profile.threads = j->team;
    plan->profile.reduce_seconds = fmo_now() - j->ended;
done:
    for (int t = 0; t < threads; t++) {
        if (j->arrays) free(j->arrays[t]);
        if (j->own) free(j->own[t]);
    }
    free(j->workers);
    free(j->arrays);
    free(j->own);
    return status;
}

/* What all parts of a build have in common. */
static fmo_cpu_build common_build(const fmo_fock_plan *plan, int densities, int fixed, int atomic)
{
    const fmo_cpu_build build = {.basis = plan->basis,
                                 .densities = densities,
                                 .cutoff = plan->options.cutoff,
                                 .adding = {atomic, fixed, 1.0, 1.0}};
    return build;
}

/* J and K of the plan's own densities. */
static fmo_status build_own(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_cpu_state *s = plan->state;
    const fmo_plan_matrices *m = &plan->matrices;
    const int fixed = plan->options.scatter == FMO_SCATTER_FIXED;
    const int with_J = (m->wanted & FMO_TERMS_J) != 0, with_K = (m->wanted & FMO_TERMS_K) != 0;
    cpu_part part = {.work = &s->work, .adds = {1, 1}};
    cpu_job j = {.plan = plan,
                 .shape = {plan, &s->pairs, &s->pairs, 0, (size_t)m->num, with_K},
                 .part = &part,
                 .parts = 1,
                 .kernels = s->filled ? s->kernels->replay : s->kernels->kernel,
                 .fixed = fixed,
                 .threads = s->threads,
                 .copies = s->copies,
                 .ranks = plan->shared.pieces > 0 && !s->dealt ? plan->shared.ranks : NULL};
    const size_t by_pair = by_pair_size(&s->pairs, (size_t)m->num);
    double *const memory = vector_alloc(by_pair + (size_t)plan->basis->shell_num);
    if (!memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d densities", m->num);
    part.build = common_build(plan, m->num, fixed, j.copies < j.threads);
    part.build.side[FMO_CPU_BRA] = part.build.side[FMO_CPU_KET] =
        side_with_density(plan, &s->pairs, with_J, memory);
    part.build.coulomb_largest = with_J ? plan->coulomb_weight * plan->density_largest : 0.0;
    if (with_K) {
        part.build.density = m->density;
        part.build.density_max = m->density_max;
        part.build.row_max = m->row_max;
    }
    part.build.store = s->stored ? s->store : NULL;
    part.build.store_factor = store_factor(plan);
    fmo_status status = FMO_OK;
    if (fixed)
        status = set_scales(plan, &s->pairs, &s->pairs, memory + by_pair, &part.build.adding, err);
    if (status == FMO_OK) status = run_job(&j, err);
    free(memory);
    if (status != FMO_OK) return status;
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
    return FMO_OK;
}

/* J of another plan's density: the plan's pairs are the bras of some tasks and the kets of others,
 * as classes have their heavier pair first. */
static fmo_status build_from_source(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err)
{
    fmo_cpu_state *s = plan->state, *from = source->state;
    const int fixed = plan->options.scatter == FMO_SCATTER_FIXED, num = source->matrices.num;
    const size_t by_pair = by_pair_size(&from->pairs, (size_t)num);
    const size_t zeros = by_pair_size(&s->pairs, (size_t)num);
    fmo_work work[2] = {{0, NULL}, {0, NULL}};
    fmo_work_size size[2][FMO_PAIR_CLASS_COUNT];
    cpu_part part[2];
    cpu_job j = {
        .plan = plan,
        .shape = {plan, &s->pairs, &from->pairs, (size_t)source->basis->shell_num, (size_t)num, 0},
        .part = part,
        .parts = 2,
        .kernels = s->kernels->kernel,
        .fixed = fixed,
        .threads = s->threads,
        .copies = s->copies};
    double *const memory = vector_alloc(by_pair + zeros + (size_t)source->basis->shell_num);
    fmo_status status = FMO_OK;
    if (!memory) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d densities", num);
    memset(memory + by_pair, 0, zeros * sizeof *memory);
    sizes_of(plan, &s->pairs, size[0]);
    sizes_of(source, &from->pairs, size[1]);
    const fmo_cpu_side sides[2] = {side_without_density(&s->pairs, memory + by_pair),
                                   side_with_density(source, &from->pairs, 1, memory)};
    for (int p = 0; p < 2 && status == FMO_OK; p++) {
        const int other = 1 - p; /* the plan's pairs are bras, then kets */
        part[p].work = &work[p];
        part[p].adds[FMO_CPU_BRA] = p == 0;
        part[p].adds[FMO_CPU_KET] = p == 1;
        part[p].build = common_build(plan, num, fixed, j.copies < j.threads);
        part[p].build.side[FMO_CPU_BRA] = sides[p];
        part[p].build.side[FMO_CPU_KET] = sides[other];
        part[p].build.coulomb_largest = source->coulomb_weight * source->density_largest;
        if (fixed)
            status = set_scales(source, &from->pairs, &s->pairs, memory + by_pair + zeros,
                                &part[p].build.adding, err);
        if (status == FMO_OK)
            status = fmo_work_between(size[p], size[other], p == 1, &work[p], err);
    }
    if (status == FMO_OK) status = run_job(&j, err);
    plan->profile.integrals = FMO_INTEGRALS_DIRECT;
    fmo_work_free(&work[0]);
    fmo_work_free(&work[1]);
    free(memory);
    return status;
}

static fmo_status cpu_build(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err)
{
    const fmo_status status = source ? build_from_source(plan, source, err) : build_own(plan, err);
    if (status == FMO_OK) fmo_plan_progress(plan, 1.0);
    return status;
}

const fmo_mode_implementation fmo_mode_cpu = {.prepare = cpu_prepare,
                                              .build = cpu_build,
                                              .densities = cpu_densities,
                                              .takes_source = 1,
                                              .new_pairs = cpu_new_pairs,
                                              .release = cpu_release,
                                              .needs_pairs = 1,
                                              .workspace = cpu_workspace};
