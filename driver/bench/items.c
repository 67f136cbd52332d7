/* Items on the host: tables, filling, counting. See items.h. */
#include "items.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

uint64_t *bench_zipf_table(bench_run *run, int64_t bins, double exponent)
{
    uint64_t *table = bench_alloc(run, (size_t)bins, sizeof *table, "the Zipf table");
    if (!table) return NULL;
    double sum = 0.0, total = 0.0;
    for (int64_t k = 0; k < bins; k++) total += pow((double)k + 1.0, -exponent);
    for (int64_t k = 0; k < bins; k++) {
        sum += pow((double)k + 1.0, -exponent);
        const double part = sum / total * 0x1p64;
        table[k] = part < 0x1p64 ? (uint64_t)part : UINT64_MAX;
    }
    table[bins - 1] = UINT64_MAX;
    return table;
}

void bench_items_fill(const bench_items *items, int64_t count, int32_t *ids, double *numbers)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        if (ids)
            ids[i] = (int32_t)bench_item_id(items, i);
        else
            numbers[i] = bench_item_number(items, i);
    }
}

static int64_t item_bin(const bench_items *items, bench_input input, int64_t i)
{
    return input == BENCH_IDS ? bench_item_id(items, i)
                              : bench_bin(bench_item_number(items, i), items->bins);
}

/* Counts with private bins if they are few, or else with atomics. */
void bench_items_count(const bench_items *items, bench_input input, int64_t n, int64_t *counts)
{
    enum { PRIVATE_BINS = 1 << 16 }; /* 512 KB of counters per thread fit into L2 */
    memset(counts, 0, (size_t)items->bins * sizeof *counts);
#pragma omp parallel
    {
        int64_t *mine = NULL;
        if (items->bins <= PRIVATE_BINS) mine = calloc((size_t)items->bins, sizeof *mine);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            const int64_t bin = item_bin(items, input, i);
            if (mine) {
                mine[bin]++;
            } else {
#pragma omp atomic
                counts[bin]++;
            }
        }
        if (mine) {
#pragma omp critical
            for (int64_t b = 0; b < items->bins; b++) counts[b] += mine[b];
        }
        free(mine);
    }
}
