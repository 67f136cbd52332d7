/* One bra pair against a list of ket pairs: compute the quartets lane by lane, digest them, add.
 * Compiled once per instruction set with FMO_SIMD_WIDTH and FMO_CPU_KERNELS (the name of the table
 * below) set by CMake; the arithmetic is that of integrals/eri_*.h and digest.h. */
#include "accumulate/cpu_kernel.h"

#include "accumulate/digest.h"

enum { W = FMO_SIMD_WIDTH, BLOCK_MAX = 9 };

#if FMO_SIMD_WIDTH == 1
#define LANE(v, l) (v)
#else
#define LANE(v, l) ((v)[l])
#endif

static inline void add(double *to, double value, int atomic)
{
    if (atomic) {
#pragma omp atomic
        *to += value;
    } else {
        *to += value;
    }
}

/* Primitive pairs of the lanes, transposed: packed[m][field][lane]. Lanes with fewer primitives,
 * and lanes beyond the last ket, get a prefactor of 0. Returns how many primitives. */
static inline int pack(const fmo_pair_list *list, const int *ket, int lanes, double *packed)
{
    int most = 0;
    for (int l = 0; l < lanes; l++) {
        const int count = (int)(list->begin[ket[l] + 1] - list->begin[ket[l]]);
        if (count > most) most = count;
    }
    for (int l = 0; l < W; l++) {
        const int n = ket[l < lanes ? l : 0];
        const int count = (int)(list->begin[n + 1] - list->begin[n]);
        const double *prim = list->prim + list->begin[n] * FMO_PAIR_FIELDS;
        for (int m = 0; m < most; m++) {
            const double *from = prim + (m < count ? m : 0) * FMO_PAIR_FIELDS;
            double *to = packed + (size_t)m * FMO_PAIR_FIELDS * W + l;
            for (int f = 0; f < FMO_PAIR_FIELDS; f++) to[f * W] = from[f];
            if (m >= count || l >= lanes) to[FMO_PAIR_K * W] = 0.0;
        }
    }
    return most;
}

FMO_HD fmo_prim_pair load_lanes(const double *packed)
{
    fmo_prim_pair z;
    z.p = fmo_load(packed + FMO_PAIR_P * W);
    z.k = fmo_load(packed + FMO_PAIR_K * W);
    for (int x = 0; x < 3; x++) z.d[x] = fmo_load(packed + (FMO_PAIR_X + x) * W);
    z.half = fmo_load(packed + FMO_PAIR_HALF * W);
    return z;
}

FMO_HD fmo_prim_pair broadcast(const double *prim)
{
    fmo_prim_pair z;
    z.p = fmo_set(prim[FMO_PAIR_P]);
    z.k = fmo_set(prim[FMO_PAIR_K]);
    for (int x = 0; x < 3; x++) z.d[x] = fmo_set(prim[FMO_PAIR_X + x]);
    z.half = fmo_set(prim[FMO_PAIR_HALF]);
    return z;
}

/* The AO offsets of the four shells, lane by lane; bra shells are the same in all. */
typedef struct lane_shells {
    int ao[4][W];
} lane_shells;

FMO_HD void gather_block(const double *density, size_t n, const int *row_ao, const int *column_ao,
                         int rows, int columns, fmo_real *block)
{
    double in[BLOCK_MAX][W];
    for (int x = 0; x < rows; x++)
        for (int y = 0; y < columns; y++)
            for (int l = 0; l < W; l++)
                in[x * columns + y][l] =
                    density[(size_t)(row_ao[l] + x) * n + (size_t)(column_ao[l] + y)];
    for (int b = 0; b < rows * columns; b++) block[b] = fmo_load(in[b]);
}

FMO_HD void scatter_block(double *matrix, size_t n, const int *row_ao, const int *column_ao,
                          int rows, int columns, const fmo_real *block, int lanes, int atomic)
{
    double out[BLOCK_MAX][W];
    for (int b = 0; b < rows * columns; b++) memcpy(out[b], &block[b], sizeof out[b]);
    for (int l = 0; l < lanes; l++) {
        const fmo_block_place p = fmo_digest_place(n, row_ao[l], column_ao[l]);
        for (int x = 0; x < rows; x++)
            for (int y = 0; y < columns; y++)
                add(matrix + p.base + (size_t)x * p.row_stride + (size_t)y * p.column_stride,
                    out[x * columns + y][l], atomic);
    }
}

/* One row of the digestion table. Where all lanes share a bra, the first row, X^J_ij, has one
 * address for all of them: with bra_sum it is summed there and added by the caller. */
FMO_HD void digest_term(const fmo_cpu_task *task, int is_coulomb, int row, int column, int den_row,
                        int den_column, int l0, int l1, int l2, int l3, const lane_shells *at,
                        const fmo_real *eri, int lanes, fmo_real *bra_sum)
{
    const size_t n = (size_t)task->basis->ao_num;
    const int rows = fmo_digest_size(row, l0, l1, l2, l3);
    const int columns = fmo_digest_size(column, l0, l1, l2, l3);
    fmo_real den[BLOCK_MAX], block[BLOCK_MAX];
    gather_block(task->density, n, at->ao[den_row], at->ao[den_column],
                 fmo_digest_size(den_row, l0, l1, l2, l3),
                 fmo_digest_size(den_column, l0, l1, l2, l3), den);
    fmo_digest_contract(l0, l1, l2, l3, row, column, den_row, den_column, eri, den, block);
    if (bra_sum && row == 0 && column == 1) {
        for (int b = 0; b < rows * columns; b++) bra_sum[b] += block[b];
        return;
    }
    scatter_block(is_coulomb ? task->coulomb : task->exchange, n, at->ao[row], at->ao[column], rows,
                  columns, block, lanes, task->atomic);
}

enum { TERM_J = 1, TERM_K = 0 };
#define DIGEST_TERM(matrix, row, column, den_row, den_column)                                    \
    digest_term(task, TERM_##matrix, row, column, den_row, den_column, LI, LJ, LK, LL, &at, eri, \
                lanes, bra_sum);

/* The kernel of one class; LI .. LL are its angular momenta. */
#define KERNEL(e, name, LI_, LJ_, LK_, LL_, bra_class, ket_class)                             \
    static void kernel_##name(const fmo_cpu_task *task, int bra, const int *ket, int num)     \
    {                                                                                         \
        enum { LI = LI_, LJ = LJ_, LK = LK_, LL = LL_, SAME_CLASS = bra_class == ket_class }; \
        const fmo_basis *basis = task->basis;                                                 \
        const fmo_pair_list *bras = task->bra_list, *kets = task->ket_list;                   \
        const size_t n = (size_t)basis->ao_num;                                               \
        const int i = bras->i[bra], j = bras->j[bra];                                         \
        const fmo_pair_view bra_view = fmo_pair_list_view(basis, bras, bra);                  \
        fmo_real AB[3], bra_sum[BLOCK_MAX];                                                   \
        lane_shells at;                                                                       \
        for (int x = 0; x < 3; x++) AB[x] = fmo_set(bra_view.AB[x]);                          \
        for (int b = 0; b < BLOCK_MAX; b++) bra_sum[b] = fmo_set(0.0);                        \
        for (int l = 0; l < W; l++) {                                                         \
            at.ao[0][l] = basis->shell[i].ao_begin;                                           \
            at.ao[1][l] = basis->shell[j].ao_begin;                                           \
        }                                                                                     \
        for (int first = 0; first < num; first += W) {                                        \
            const int lanes = num - first < W ? num - first : W;                              \
            const int prims = pack(kets, ket + first, lanes, task->scratch);                  \
            double factors[W], centres[6][W];                                                 \
            fmo_real acc[eri_##name##_acc], eri[FMO_ERI_MAX], AC[3], CD[3];                   \
            for (int l = 0; l < W; l++) {                                                     \
                const int q = ket[first + (l < lanes ? l : 0)];                               \
                const int k = kets->i[q], m = kets->j[q];                                     \
                at.ao[2][l] = basis->shell[k].ao_begin;                                       \
                at.ao[3][l] = basis->shell[m].ao_begin;                                       \
                factors[l] = fmo_digest_degeneracy(i == j, k == m, SAME_CLASS && q == bra);   \
                for (int x = 0; x < 3; x++) {                                                 \
                    centres[x][l] = bra_view.A[x] - basis->shell[k].center[x];                \
                    centres[3 + x][l] = kets->AB[3 * (size_t)q + x];                          \
                }                                                                             \
            }                                                                                 \
            for (int x = 0; x < 3; x++) {                                                     \
                AC[x] = fmo_load(centres[x]);                                                 \
                CD[x] = fmo_load(centres[3 + x]);                                             \
            }                                                                                 \
            for (int a = 0; a < eri_##name##_acc; a++) acc[a] = fmo_set(0.0);                 \
            for (int bp = 0; bp < bra_view.prim_num; bp++) {                                  \
                const fmo_prim_pair b = broadcast(bra_view.prim + bp * FMO_PAIR_FIELDS);      \
                for (int kp = 0; kp < prims; kp++) {                                          \
                    const fmo_prim_pair k =                                                   \
                        load_lanes(task->scratch + (size_t)kp * FMO_PAIR_FIELDS * W);         \
                    const fmo_prim_quartet z = fmo_prim_quartet_make(                         \
                        fmo_boys.row[LI + LJ + LK + LL][0], LI + LJ + LK + LL, &b, &k, AC);   \
                    eri_##name##_prim(&z, acc);                                               \
                }                                                                             \
            }                                                                                 \
            for (int a = 0; a < eri_##name##_acc; a++) acc[a] *= fmo_load(factors);           \
            eri_##name##_finish(AB, CD, acc, eri);                                            \
            FMO_DIGEST_TABLE(DIGEST_TERM)                                                     \
        }                                                                                     \
        const fmo_block_place p = fmo_digest_place(n, at.ao[0][0], at.ao[1][0]);              \
        for (int x = 0; x < 2 * LI + 1; x++) {                                                \
            for (int y = 0; y < 2 * LJ + 1; y++) {                                            \
                double sum = 0.0;                                                             \
                for (int l = 0; l < W; l++) sum += LANE(bra_sum[x * (2 * LJ + 1) + y], l);    \
                add(task->coulomb + p.base + (size_t)x * p.row_stride +                       \
                        (size_t)y * p.column_stride,                                          \
                    sum, task->atomic);                                                       \
            }                                                                                 \
        }                                                                                     \
    }
FMO_ERI_CLASS_TABLE(KERNEL)
#undef KERNEL

/* The digestion alone, of integrals computed elsewhere. */
#define DIGEST(e, name, LI_, LJ_, LK_, LL_, bra_class, ket_class)                                 \
    static void digest_##name(const fmo_cpu_task *task, const fmo_cpu_batch *batch, size_t begin, \
                              size_t end)                                                         \
    {                                                                                             \
        enum {                                                                                    \
            LI = LI_,                                                                             \
            LJ = LJ_,                                                                             \
            LK = LK_,                                                                             \
            LL = LL_,                                                                             \
            SIZE = (2 * LI + 1) * (2 * LJ + 1) * (2 * LK + 1) * (2 * LL + 1)                      \
        };                                                                                        \
        fmo_real *const bra_sum = NULL;                                                           \
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
FMO_ERI_CLASS_TABLE(DIGEST)
#undef DIGEST

const fmo_cpu_kernels FMO_CPU_KERNELS = {
    .name = FMO_CPU_NAME,
    .width = W,
    .kernel =
        {
#define ROW(e, name, ...) [e] = kernel_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .digest =
        {
#define ROW(e, name, ...) [e] = digest_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
};
