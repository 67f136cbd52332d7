/* Integrals that mode cpu stores and reuses in later builds (options.integrals). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "accumulate/cpu/build.h"

/* Returns an upper bound on the density factor (screen.h) of all densities for which the plan's
 * pairs are valid. */
double fmo_cpu_store_factor(const fmo_fock_plan *plan)
{
    return 4.0 * plan->coulomb_weight * plan->density_limit;
}

size_t fmo_cpu_count_vectors(const fmo_fock_plan *plan, const fmo_cpu_state *s, int c, int bra)
{
    const fmo_cpu_pair_list *bras = &s->pairs.list[fmo_eri_class_bra(c)];
    const fmo_cpu_pair_list *kets = &s->pairs.list[fmo_eri_class_ket(c)];
    const int same = bras == kets, width = s->kernels->width;
    size_t vectors = 0, left = 0;
    for (int f = 0; f < (same ? bras->family_of[bra] + 1 : kets->family_num); f++) {
        const fmo_cpu_family *family = &kets->family[f];
        const int end = same && f == bras->family_of[bra] ? bra + 1 : family->end;
        const int num = fmo_cpu_kets_end(kets, family->begin, end, bras->bound[bra],
                                         fmo_cpu_store_factor(plan), plan->options.cutoff) -
                        family->begin;
        const int in_own_vectors = fmo_cpu_kets_in_own_vectors(num, width);
        vectors += (size_t)((in_own_vectors + width - 1) / width);
        left += (size_t)(num - in_own_vectors);
    }
    return vectors + (left + (size_t)width - 1) / (size_t)width;
}

/* Allocates with huge pages if the system has them, because allocating gigabytes of small pages
 * takes longer than filling them. */
static void *large_alloc(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < 4 * page) return aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
#if defined(MADV_HUGEPAGE)
    if (memory) (void)madvise(memory, bytes, MADV_HUGEPAGE); /* ignored if it fails */
#endif
    return memory;
}

/* ---- reuse pool: plans of a thread pass arrays on to later ones ------------------------------ */

/* Reuse saves the time in which the system clears new memory: docs/log/scf.md, "Many molecules". */
enum { ARRAYS = 2 * FMO_ERI_CLASS_COUNT }; /* ket and eri of each class */
typedef struct piece {
    void *at;
    size_t bytes;
} piece;
static _Thread_local struct {
    int on;
    piece left[ARRAYS]; /* of the plans destroyed last */
} pool;

int fmo_fock_reuse_memory(int on)
{
    const int before = pool.on;
    for (int k = 0; k < ARRAYS && !on; k++) {
        free(pool.left[k].at);
        pool.left[k] = (piece){NULL, 0};
    }
    pool.on = on != 0;
    return before;
}

static void give_array(int array, void *at, size_t bytes)
{
    piece *const left = &pool.left[array];
    if (!pool.on || bytes <= left->bytes) {
        free(at);
        return;
    }
    free(left->at);
    *left = (piece){at, bytes};
}

/* Like malloc; *bytes is the size requested on entry and the size obtained on return. An array of
 * the pool is used if it is large enough and at most IDLE times the size requested. */
static void *take_array(int array, size_t *bytes)
{
    enum { IDLE = 4 };
    piece *const left = &pool.left[array];
    if (!left->at || left->bytes < *bytes || left->bytes / IDLE > *bytes) {
        free(left->at); /* The limit of the new plan does not include it. */
        *left = (piece){NULL, 0};
        return large_alloc(*bytes);
    }
    void *const at = left->at;
    *bytes = left->bytes;
    *left = (piece){NULL, 0};
    return at;
}

void fmo_cpu_store_free(fmo_cpu_state *s)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        free(s->store[c].begin);
        free(s->store[c].bound);
        give_array(2 * c, s->store[c].ket, s->store[c].ket_bytes);
        give_array(2 * c + 1, s->store[c].eri, s->store[c].eri_bytes);
    }
    memset(s->store, 0, sizeof s->store);
    s->store_bytes = 0;
    s->stored = s->filled = 0;
}

/* Computes begin[0..bras], the first vector of each bra, ascending. Bras outside the plan's work
 * have no vectors. */
static void count_store(const fmo_fock_plan *plan, const fmo_cpu_state *s, int c, int bras,
                        size_t *begin)
{
    memset(begin, 0, ((size_t)bras + 1) * sizeof *begin);
    for (int n = 0; n < s->work.num; n++) {
        const fmo_task *task = &s->work.task[n];
        if ((int)task->eri_class != c) continue;
        for (int b = task->bra_begin; b < task->bra_end; b++)
            begin[b + 1] = fmo_cpu_count_vectors(plan, s, c, b);
    }
    for (int b = 0; b < bras; b++) begin[b + 1] += begin[b];
}

/* Counts the vectors of all classes and allocates the store if it fits. If it does not fit,
 * integrals are computed in each build (`auto`), or FMO_ERR_MEMORY is returned (`stored`). */
fmo_status fmo_cpu_store_prepare(fmo_fock_plan *plan, fmo_cpu_state *s, fmo_error *err)
{
    const int automatic = plan->options.integrals == FMO_INTEGRALS_AUTO;
    const size_t width = (size_t)s->kernels->width;
    if (plan->options.integrals == FMO_INTEGRALS_DIRECT) return FMO_OK;
    /* Without a limit `auto` uses at most half of the free memory. */
    const size_t allowed = fmo_plan_memory(plan) / (automatic && !plan->options.memory ? 2 : 1);
    int good = 1;
    for (int c = 0; good && c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_cpu_store *store = &s->store[c];
        const int bras = s->pairs.list[fmo_eri_class_bra(c)].num;
        store->begin = malloc(((size_t)bras + 1) * sizeof *store->begin);
        good = store->begin != NULL;
        if (!good) break;
        count_store(plan, s, c, bras, store->begin);
        s->store_bytes += ((size_t)bras + 1) * sizeof *store->begin +
                          store->begin[bras] *
                              (width * ((size_t)fmo_eri_class_integrals(c, 0) * sizeof *store->eri +
                                        sizeof *store->ket) +
                               sizeof *store->bound);
    }
    if (good && s->store_bytes <= allowed) {
        for (int c = 0; good && c < FMO_ERI_CLASS_COUNT; c++) {
            fmo_cpu_store *store = &s->store[c];
            const size_t lanes = store->begin[s->pairs.list[fmo_eri_class_bra(c)].num] * width;
            store->ket_bytes = lanes * sizeof *store->ket;
            store->eri_bytes = lanes * (size_t)fmo_eri_class_integrals(c, 0) * sizeof *store->eri;
            store->ket = take_array(2 * c, &store->ket_bytes);
            store->eri = take_array(2 * c + 1, &store->eri_bytes);
            store->bound = malloc((lanes / width + 1) * sizeof *store->bound);
            good = store->ket && store->eri && store->bound;
        }
        if (good) {
            s->stored = 1;
            return FMO_OK;
        }
    }
    const double needed = 1e-6 * (double)s->store_bytes;
    fmo_cpu_store_free(s);
    if (automatic) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "integrals = stored needs %.1f MB, %.1f may be used; use integrals = auto "
                         "or direct, a larger cutoff or more memory",
                         needed, 1e-6 * (double)allowed);
}
