/* The stream of matrix elements to which a Fock build of a data set adds, as bin numbers: the
 * elements of X^J first, then those of X^K, nao^2 each (accumulate/rules/digest.h).
 *
 * Contains the shell pairs of each class that a plan with the default cutoff keeps, in the order of
 * the GPU build (accumulate/rules/pair_order.h): the most deeply contracted first, then by bound in
 * steps of 2^8, then by shell. (The GPU also combines s and p shells with the same exponents into
 * SP shells, divides deeply contracted pairs into segments and renumbers the functions; this is not
 * reproduced here.) The quartets of each class are in the order of the bra pairs; 32 consecutive
 * ones form a warp; a warp adds the six blocks of the digestion table element by element, with 32
 * lanes at a time. If there are more adds than requested, warps are left out evenly. Schwarz
 * screening of quartets is not applied. */
#include "items.h"
#include "accumulate/plan/plan.h"
#include "accumulate/rules/digest.h"
#include "accumulate/rules/pair_order.h"
#include "integrals/pairs/shell_pair.h"
#include "integrals/tables.h"

#include <stdlib.h>
#include <string.h>
#include <fmo/dataset.h>
#include <fmo/eri_class.h>

enum { WARP = 32 };

typedef struct pair_list {
    fmo_pair_rank *pair; /* i and j: shells */
    int64_t num;
} pair_list;

static int by_rank(const void *x, const void *y)
{
    return fmo_pair_rank_compare(x, y);
}

/* Sorts the pairs of a class into that order. */
static void sort_pairs(const fmo_pair_list *from, pair_list *list)
{
    for (int p = 0; p < from->num; p++)
        list->pair[p] = (fmo_pair_rank){.prims = (int)(from->begin[p + 1] - from->begin[p]),
                                        .octet = fmo_pair_octet(from->bound[p]),
                                        .i = from->i[p],
                                        .j = from->j[p]};
    list->num = from->num;
    qsort(list->pair, (size_t)list->num, sizeof *list->pair, by_rank);
}

/* Number of adds of one quartet: the elements of its six blocks. */
static int quartet_adds(const int *l)
{
    int adds = 0;
#define ROW(matrix, row, column, den_row, den_column) \
    adds += fmo_shell_functions(l[row]) * fmo_shell_functions(l[column]);
    FMO_DIGEST_TABLE(ROW)
#undef ROW
    return adds;
}

typedef struct stream {
    int32_t *bin;
    int64_t num, capacity;
    int nao;
} stream;

/* Appends one element of one block for all lanes of a warp. */
static void add_warp(stream *out, const int ao[4][WARP], int lanes, int row, int column, int x,
                     int y, int exchange)
{
    for (int lane = 0; lane < lanes && out->num < out->capacity; lane++) {
        const int r = ao[row][lane], c = ao[column][lane];
        const fmo_block_place p = fmo_digest_place((size_t)out->nao, r, c);
        const size_t at = p.base + (size_t)x * p.row_stride + (size_t)y * p.column_stride;
        out->bin[out->num++] = (int32_t)(at + (size_t)exchange * out->nao * out->nao);
    }
}

static void add_quartets(stream *out, const int *l, const int ao[4][WARP], int lanes)
{
    enum { J = 0, K = 1 };
#define ROW(matrix, row, column, den_row, den_column)            \
    for (int x = 0; x < fmo_shell_functions(l[row]); x++)        \
        for (int y = 0; y < fmo_shell_functions(l[column]); y++) \
            add_warp(out, ao, lanes, row, column, x, y, matrix);
    FMO_DIGEST_TABLE(ROW)
#undef ROW
}

/* Appends the quartets of a class to the stream; one of `every` warps is taken. */
static void walk(const fmo_basis *basis, const pair_list *bra, const pair_list *ket, const int *l,
                 int64_t every, stream *out)
{
    const bool same = bra == ket;
    int ao[4][WARP], lanes = 0;
    int64_t warp = 0;
    for (int64_t b = 0; b < bra->num; b++) {
        const int64_t kets = same ? b + 1 : ket->num;
        for (int64_t k = 0; k < kets; k++) {
            const fmo_pair_rank *ij = &bra->pair[b], *kl = &ket->pair[k];
            const int shell[4] = {ij->i, ij->j, kl->i, kl->j};
            for (int s = 0; s < 4; s++) ao[s][lanes] = basis->shell[shell[s]].ao_begin;
            const bool last = b + 1 == bra->num && k + 1 == kets;
            if (++lanes < WARP && !last) continue;
            if (warp++ % every == 0) add_quartets(out, l, ao, lanes);
            lanes = 0;
        }
    }
}

/* Reads the data set, sorts its shell pairs, counts all adds, and writes the stream. */
int32_t *bench_replay_read(bench_run *run, const char *path, int64_t max_num, int64_t *num,
                           int64_t *bins, int64_t *all)
{
    static const struct {
        int l[4], bra, ket;
    } classes[] = {
#define ROW(e, name, li, lj, lk, ll, bra, ket) {{li, lj, lk, ll}, bra, ket},
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    };
    fmo_dataset *dataset = NULL;
    pair_list list[FMO_PAIR_CLASS_COUNT] = {{NULL, 0}};
    stream out = {NULL, 0, 0, 0};
    fmo_error err = {FMO_OK, ""};
    if (fmo_dataset_read(path, &dataset, &err) != FMO_OK) {
        bench_fail(run, err.status, "%s", err.message);
        return NULL;
    }
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    fmo_shell_pairs pairs;
    fmo_fock_options defaults;
    fmo_fock_options_init(&defaults);
    if (fmo_shell_pairs_make(basis, defaults.cutoff * FMO_PRUNE_SHARE, 1, &pairs, &err) != FMO_OK) {
        bench_fail(run, err.status, "%s: %s", path, err.message);
        fmo_dataset_destroy(dataset);
        return NULL;
    }
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        list[c].pair =
            bench_alloc(run, (size_t)pairs.list[c].num, sizeof *list[c].pair, "shell pairs");
        if (!list[c].pair) goto out;
        sort_pairs(&pairs.list[c], &list[c]);
    }
    *all = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const int64_t bras = list[classes[c].bra].num, kets = list[classes[c].ket].num;
        const int64_t quartets =
            classes[c].bra == classes[c].ket ? bras * (bras + 1) / 2 : bras * kets;
        *all += quartets * quartet_adds(classes[c].l);
    }
    out.nao = basis->function_num;
    *bins = 2 * (int64_t)out.nao * out.nao;
    if (*bins > INT32_MAX) {
        bench_fail(run, FMO_ERR_INPUT, "%s: %d functions: a replay supports at most 32767", path,
                   out.nao);
        goto out;
    }
    out.capacity = *all < max_num ? *all : max_num;
    out.bin = bench_alloc(run, (size_t)out.capacity, sizeof *out.bin, "the replayed addresses");
    if (!out.bin) goto out;
    const int64_t every = max_num > 0 && *all > max_num ? (*all + max_num - 1) / max_num : 1;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        walk(basis, &list[classes[c].bra], &list[classes[c].ket], classes[c].l, every, &out);
    *num = out.num;
    if (out.num == 0 && max_num > 0) {
        bench_fail(run, FMO_ERR_INPUT, "%s: no quartets to replay", path);
        free(out.bin);
        out.bin = NULL;
    }
out:
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) free(list[c].pair);
    fmo_shell_pairs_free(&pairs);
    fmo_dataset_destroy(dataset);
    return out.bin;
}
