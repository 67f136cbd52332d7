/* Memory of a build of mode cpu: what it allocates, and how many threads, copies of the sums and
 * densities at a time fit. */
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/build.h"
#include "accumulate/tuning.h"

static size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

double *fmo_cpu_vector_alloc(size_t doubles)
{
    return aligned_alloc(64, (doubles * sizeof(double) + 127) / 64 * 64);
}

/* Takes the next `num` items of `size` bytes, aligned to 64 bytes. If `memory` is NULL, it only
 * adds their size to *used and returns NULL. */
static void *take(char *memory, size_t *used, size_t num, size_t size)
{
    void *const here = memory ? memory + *used : NULL;
    *used += (num * size + 63) / 64 * 64;
    return here;
}

/* Lays out the arrays of a worker in `memory` and returns their size in bytes. With NULL it only
 * computes the size. */
size_t fmo_cpu_worker_arrays(const fmo_cpu_shape *s, char *memory, fmo_cpu_worker *w)
{
    const fmo_cpu_pairs *const sides[2] = {s->pairs, s->source};
    const size_t n = s->exchange ? s->densities * (size_t)s->plan->basis->function_num : 0;
    const size_t shells = size_max((size_t)s->plan->basis->shell_num, s->source_shells);
    const fmo_cpu_state *state = s->plan->state;
    const size_t leaves = state->goes_far ? (size_t)state->far.boxes.leaf_num : 0;
    size_t kets = 0, prims = 1, table = 1, families = 0, hermite = 1, half = 0, eri = 0, used = 0,
           products = 0;
    for (int c = 0; c < 2 * FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &sides[c % 2]->list[c / 2];
        kets = size_max(kets, (size_t)list->num);
        prims = size_max(prims, (size_t)list->count_max);
        families = size_max(families, (size_t)list->family_num);
        if (list->num) products = size_max(products, (size_t)fmo_pair_products(c / 2, 0));
        hermite = size_max(hermite, (size_t)list->count_max *
                                        (size_t)FMO_HERMITE_COUNT(fmo_pair_order(c / 2)));
    }
    for (int c = 0; c < 2 * FMO_ERI_CLASS_COUNT; c++) { /* either side may be the bra */
        const fmo_cpu_pair_list *bra = &sides[c % 2]->list[fmo_eri_class_bra(c / 2)];
        const fmo_cpu_pair_list *ket = &sides[1 - c % 2]->list[fmo_eri_class_ket(c / 2)];
        table = size_max(table, (size_t)bra->count_max * (size_t)ket->exponent_num);
        if (c / 2 < FMO_ERI_LOW_L_COUNT || !bra->num || !ket->num) continue;
        eri = size_max(eri, (size_t)fmo_eri_class_integrals(c / 2, 0));
        half =
            size_max(half, (size_t)fmo_pair_products(fmo_eri_class_ket(c / 2), 0) *
                               (size_t)FMO_HERMITE_COUNT(fmo_pair_order(fmo_eri_class_bra(c / 2))));
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
    w->hermite = take(memory, &used,
                      size_max(half * FMO_CPU_WIDTH_MAX,
                               prims * FMO_CPU_PACK_FIELDS * FMO_CPU_WIDTH_MAX +
                                   s->densities * hermite * (3 * FMO_CPU_WIDTH_MAX + 1)),
                      sizeof *w->hermite);
    w->integrals = take(memory, &used, eri * FMO_CPU_WIDTH_MAX, sizeof *w->integrals);
    w->bra_sums =
        take(memory, &used, s->densities * products * FMO_CPU_WIDTH_MAX, sizeof *w->bra_sums);
    w->table_of = take(memory, &used, families, sizeof *w->table_of);
    w->near = take(memory, &used, leaves, sizeof *w->near);
    w->near_of = -1;
    if (memory) memset(w->near, 0, leaves * sizeof *w->near);
    if (memory) memset(w->shell_max, 0, shells * sizeof *w->shell_max);
    return used;
}

/* Bytes of a build: common to all threads, per thread, and per copy of the sums. */
typedef struct needs {
    size_t all, thread, sums;
} needs;

static needs needs_of(const fmo_cpu_shape *s)
{
    fmo_cpu_worker worker;
    const fmo_cpu_state *state = s->plan->state;
    const size_t far = state->goes_far ? fmo_cpu_far_bytes(&state->far, s->pairs, s->densities) : 0;
    const size_t shells = (size_t)s->plan->basis->shell_num;
    const needs n = {
        (fmo_cpu_by_pair_size(s->pairs, s->densities) + shells) * sizeof(double) + 128 + far,
        fmo_cpu_worker_arrays(s, NULL, &worker) + 64 + sizeof worker + 2 * sizeof(void *),
        fmo_cpu_sums_size(s) * sizeof(double) + 128};
    return n;
}

/* Returns the bytes of a build of J and K of `densities` of the plan's own densities. */
static needs needs_of_own(const fmo_fock_plan *plan, const fmo_cpu_state *s, int densities)
{
    const fmo_cpu_shape shape = {plan, &s->pairs, &s->pairs, 0, (size_t)densities, 1};
    return needs_of(&shape);
}

/* Below this size the free memory of the system is not queried. */
static const size_t unchecked_bytes = fmo_tuning_cpu_certain_bytes;

/* Reduces first the copies of the sums, then the threads, until a build fits in the memory that may
 * be used. Returns FMO_ERR_MEMORY if one thread with one copy does not fit. */
fmo_status fmo_cpu_choose_copies(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const needs n = needs_of_own(plan, s, 1);
    const size_t requested = (size_t)plan->options.threads;
    const size_t all_copies = plan->options.reduce == FMO_REDUCE_ATOMIC ? 1 : requested;
    const size_t all = n.all + requested * n.thread + all_copies * n.sums;
    size_t threads = requested, copies = all_copies;
    if (plan->options.memory || all > unchecked_bytes) {
        const size_t allowed = fmo_plan_memory(plan), least = n.all + n.thread + n.sums;
        if (least > allowed)
            return fmo_error_set(
                err, FMO_ERR_MEMORY,
                "mode cpu needs %.3f MB of work space with 1 thread, but may use only %.3f MB; "
                "increase options.memory, or use a GPU (mode fused)",
                1e-6 * (double)least, 1e-6 * (double)allowed);
        const size_t left = allowed - n.all - n.sums; /* with one copy of the sums */
        if (threads > left / n.thread) threads = left / n.thread;
        const size_t fit = 1 + (left - threads * n.thread) / n.sums;
        if (copies > fit) copies = fit;
        if (copies > threads) copies = threads;
        if (threads < requested || copies < all_copies)
            fmo_plan_note(
                plan,
                "memory suffices for %zu of %zu threads and %zu of %zu copies of the Fock matrix; "
                "all need %.3f MB, %.3f MB may be used",
                threads, requested, copies, all_copies, 1e-6 * (double)all, 1e-6 * (double)allowed);
    }
    s->threads = (int)threads;
    s->copies = (int)copies;
    return FMO_OK;
}

/* Returns the number of densities at a time that fit in memory. */
int fmo_cpu_densities(const fmo_fock_plan *plan)
{
    const fmo_cpu_state *s = plan->state;
    int densities = FMO_PLAN_DENSITIES_MAX;
    for (; densities > 1; densities--) {
        const needs n = needs_of_own(plan, s, densities);
        const size_t all = n.all + (size_t)s->threads * n.thread + (size_t)s->copies * n.sums;
        if (!plan->options.memory && all <= unchecked_bytes) break;
        if (all <= fmo_plan_memory(plan)) break;
    }
    return densities;
}

void fmo_cpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const fmo_cpu_state *s = plan->state;
    const needs n = needs_of_own(plan, s, 1);
    memory->host_bytes += sizeof *s + s->pairs.bytes + (size_t)s->work.num * sizeof *s->work.task +
                          s->store_bytes + s->far.bytes + n.all + (size_t)s->threads * n.thread +
                          (size_t)s->copies * n.sums;
}
