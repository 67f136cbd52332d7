/* The stream of matrix elements that a Fock build of a data set adds to, as bin numbers: X^J first,
 * then X^K, nao^2 each (accumulate/rules/digest.h).
 *
 * Shell pairs i >= j of each class, without those whose most diffuse primitives overlap by less
 * than 1e-10, in the order of the GPU build: deepest contractions first, then by i, then by j. For
 * each class, quartets bra by bra; 32 consecutive ones are a warp; a warp adds the six
 * blocks of the digestion table, element by element, its 32 lanes side by side. If there are more
 * adds than asked for, warps are left out evenly. Schwarz screening is not repeated here. */
#include "items.h"
#include "accumulate/rules/digest.h"
#include "integrals/basis_internal.h"
#include "integrals/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/dataset.h>
#include <fmo/eri_class.h>

enum { WARP = 32 };

typedef struct pair {
    int depth, i, j;
} pair;
typedef struct pair_list {
    pair *pair;
    int64_t num;
} pair_list;

static int by_depth(const void *x, const void *y)
{
    const pair *a = x, *b = y;
    if (a->depth != b->depth) return a->depth < b->depth ? 1 : -1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    return (a->j > b->j) - (a->j < b->j);
}

static double most_diffuse(const fmo_basis *basis, const fmo_shell *shell)
{
    double exponent = INFINITY;
    for (int p = 0; p < shell->prim_num; p++)
        exponent = fmin(exponent, basis->exponent[shell->prim_begin + p]);
    return exponent;
}

static bool overlap(const fmo_basis *basis, const fmo_shell *s, const fmo_shell *t)
{
    const double a = most_diffuse(basis, s), b = most_diffuse(basis, t), least = 1e-10;
    double distance2 = 0.0;
    for (int x = 0; x < 3; x++)
        distance2 += (s->center[x] - t->center[x]) * (s->center[x] - t->center[x]);
    return a * b / (a + b) * distance2 <= -log(least);
}

static void make_pairs(const fmo_basis *basis, int pair_class, pair_list *list)
{
    const int li = fmo_pair_ang_mom(pair_class, 0), lj = fmo_pair_ang_mom(pair_class, 1);
    list->num = 0;
    for (int i = 0; i < basis->shell_num; i++) {
        for (int j = 0; j < basis->shell_num; j++) {
            const fmo_shell *s = &basis->shell[i], *t = &basis->shell[j];
            if (s->ang_mom != li || t->ang_mom != lj || (li == lj && j > i)) continue;
            if (!overlap(basis, s, t)) continue;
            list->pair[list->num++] = (pair){s->prim_num * t->prim_num, i, j};
        }
    }
    qsort(list->pair, (size_t)list->num, sizeof *list->pair, by_depth);
}

/* Adds of one quartet: elements of its six blocks. */
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
    int64_t num, most;
    int nao;
} stream;

/* One element of one block for all lanes of a warp. */
static void add_warp(stream *out, const int ao[4][WARP], int lanes, int row, int column, int x,
                     int y, int exchange)
{
    for (int lane = 0; lane < lanes && out->num < out->most; lane++) {
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

/* Quartets of a class; `every`: of the warps, one in so many goes into the stream. */
static void walk(const fmo_basis *basis, const pair_list *bra, const pair_list *ket, const int *l,
                 int64_t every, stream *out)
{
    const bool same = bra == ket;
    int ao[4][WARP], lanes = 0;
    int64_t warp = 0;
    for (int64_t b = 0; b < bra->num; b++) {
        const int64_t kets = same ? b + 1 : ket->num;
        for (int64_t k = 0; k < kets; k++) {
            const pair *ij = &bra->pair[b], *kl = &ket->pair[k];
            const int shell[4] = {ij->i, ij->j, kl->i, kl->j};
            for (int s = 0; s < 4; s++) ao[s][lanes] = basis->shell[shell[s]].ao_begin;
            const bool last = b + 1 == bra->num && k + 1 == kets;
            if (++lanes < WARP && !last) continue;
            if (warp++ % every == 0) add_quartets(out, l, ao, lanes);
            lanes = 0;
        }
    }
}

int32_t *bench_replay_read(bench_run *run, const char *path, int64_t most, int64_t *num,
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
    const size_t shells = (size_t)basis->shell_num;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        list[c].pair = bench_alloc(run, shells * shells, sizeof(pair), "shell pairs");
        if (!list[c].pair) goto out;
        make_pairs(basis, c, &list[c]);
    }
    *all = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const int64_t bras = list[classes[c].bra].num, kets = list[classes[c].ket].num;
        const int64_t quartets =
            classes[c].bra == classes[c].ket ? bras * (bras + 1) / 2 : bras * kets;
        *all += quartets * quartet_adds(classes[c].l);
    }
    out.nao = basis->ao_num;
    *bins = 2 * (int64_t)out.nao * out.nao;
    if (*bins > INT32_MAX) {
        bench_fail(run, FMO_ERR_INPUT, "%s: %d functions are more than a replay takes (32767)",
                   path, out.nao);
        goto out;
    }
    out.most = *all < most ? *all : most;
    out.bin = bench_alloc(run, (size_t)out.most, sizeof *out.bin, "the replayed addresses");
    if (!out.bin) goto out;
    const int64_t every = most > 0 && *all > most ? (*all + most - 1) / most : 1;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        walk(basis, &list[classes[c].bra], &list[classes[c].ket], classes[c].l, every, &out);
    *num = out.num;
    if (out.num == 0 && most > 0) {
        bench_fail(run, FMO_ERR_INPUT, "%s: no quartets to replay", path);
        free(out.bin);
        out.bin = NULL;
    }
out:
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) free(list[c].pair);
    fmo_dataset_destroy(dataset);
    return out.bin;
}
