/* The host's part of mode split: digests integrals that the GPU computed, several quartets at a
 * time. Compiled once per instruction set, like cpu/kernel.c; the terms are those of digest.h. */
#include "accumulate/cpu/kernel.h"

#include "accumulate/rules/digest.h"

enum { W = FMO_SIMD_WIDTH, BLOCK_MAX = FMO_SHELL_FUNCTIONS_MAX * FMO_SHELL_FUNCTIONS_MAX };

static inline void add(double *to, double value, int atomic)
{
    if (atomic) {
#pragma omp atomic
        *to += value;
    } else {
        *to += value;
    }
}

/* First functions of the four shells, lane by lane. */
typedef struct lane_shells {
    int ao[4][W];
} lane_shells;

/* Places of a block of a matrix in each lane: the first function of its rows and columns. */
typedef struct lane_blocks {
    const int *row_ao, *column_ao;
    int rows, columns;
} lane_blocks;

/* Reads a block of the density in each lane. */
FMO_HD void gather_block(const double *density, size_t n, const lane_blocks *at, fmo_real *block)
{
    double in[BLOCK_MAX][W];
    for (int x = 0; x < at->rows; x++)
        for (int y = 0; y < at->columns; y++)
            for (int l = 0; l < W; l++)
                in[x * at->columns + y][l] =
                    density[(size_t)(at->row_ao[l] + x) * n + (size_t)(at->column_ao[l] + y)];
    for (int b = 0; b < at->rows * at->columns; b++) block[b] = fmo_load(in[b]);
}

/* Adds the blocks of the first `lanes` lanes to a matrix. */
FMO_HD void scatter_block(double *matrix, size_t n, const lane_blocks *at, const fmo_real *block,
                          int lanes, int atomic)
{
    double out[BLOCK_MAX][W];
    for (int b = 0; b < at->rows * at->columns; b++) memcpy(out[b], &block[b], sizeof out[b]);
    for (int l = 0; l < lanes; l++) {
        const fmo_block_place p = fmo_digest_place(n, at->row_ao[l], at->column_ao[l]);
        for (int x = 0; x < at->rows; x++)
            for (int y = 0; y < at->columns; y++)
                add(matrix + p.base + (size_t)x * p.row_stride + (size_t)y * p.column_stride,
                    out[x * at->columns + y][l], atomic);
    }
}

/* A row of the digestion table: the shells of the matrix's block and of the density's. */
typedef struct digest_row {
    int to_J, row, column, den_row, den_column;
} digest_row;

/* Adds one row of the digestion table to X^J or X^K. size: functions of the shells. */
FMO_HD void digest_term(const fmo_cpu_task *task, const digest_row t, const int *size,
                        const lane_shells *at, const fmo_real *eri, int lanes)
{
    const size_t n = (size_t)task->basis->function_num;
    const lane_blocks from = {at->ao[t.den_row], at->ao[t.den_column], size[t.den_row],
                              size[t.den_column]};
    const lane_blocks to = {at->ao[t.row], at->ao[t.column], size[t.row], size[t.column]};
    fmo_real den[BLOCK_MAX], block[BLOCK_MAX];
    gather_block(task->density, n, &from, den);
    fmo_digest_contract_sizes(size[0], size[1], size[2], size[3], t.row, t.column, t.den_row,
                              t.den_column, eri, den, block);
    scatter_block(t.to_J ? task->coulomb : task->exchange, n, &to, block, lanes, task->atomic);
}

enum { TO_J = 1, TO_K = 0 };
#define DIGEST_TERM(matrix, row, column, den_row, den_column)                                      \
    digest_term(task, (digest_row){TO_##matrix, row, column, den_row, den_column}, size, &at, eri, \
                lanes);

/* One digestion function for each class. */
#define DIGEST(e, name, li, lj, lk, ll, bra_class, ket_class)                                     \
    static void digest_##name(const fmo_cpu_task *task, const fmo_cpu_batch *batch, size_t begin, \
                              size_t end)                                                         \
    {                                                                                             \
        enum {                                                                                    \
            NI = FMO_CARTESIAN(li),                                                               \
            NJ = FMO_CARTESIAN(lj),                                                               \
            NK = FMO_CARTESIAN(lk),                                                               \
            NL = FMO_CARTESIAN(ll),                                                               \
            SIZE = NI * NJ * NK * NL                                                              \
        };                                                                                        \
        const int size[4] = {NI, NJ, NK, NL};                                                     \
        for (size_t first = begin; first < end; first += W) {                                     \
            const int lanes = end - first < W ? (int)(end - first) : W;                           \
            double in[SIZE][W];                                                                   \
            fmo_real eri[SIZE];                                                                   \
            lane_shells at;                                                                       \
            for (int l = 0; l < W; l++) {                                                         \
                const int *q = batch->quartet + 2 * (first + (size_t)(l < lanes ? l : 0));        \
                at.ao[0][l] = batch->bra_ao[q[0]].first;                                          \
                at.ao[1][l] = batch->bra_ao[q[0]].second;                                         \
                at.ao[2][l] = batch->ket_ao[q[1]].first;                                          \
                at.ao[3][l] = batch->ket_ao[q[1]].second;                                         \
            }                                                                                     \
            for (int x = 0; x < SIZE; x++) {                                                      \
                const double *from = batch->eri + (size_t)x * batch->stride + first;              \
                for (int l = 0; l < W; l++) in[x][l] = l < lanes ? from[l] : 0.0;                 \
                eri[x] = fmo_load(in[x]);                                                         \
            }                                                                                     \
            FMO_DIGEST_TABLE(DIGEST_TERM)                                                         \
        }                                                                                         \
    }
FMO_ERI_LOW_L_TABLE(DIGEST)
#undef DIGEST

fmo_cpu_digest *const FMO_CPU_DIGESTS[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, ...) [e] = digest_##name,
    FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
};
