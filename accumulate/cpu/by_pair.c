/* Densities and sums as the kernels of mode cpu read and add to them, pair by pair: densities block
 * by block; the layout of sums in memory, the scales that make them integers (`fixed`), the
 * reduction over threads, and the conversion to J and K. */
#include <math.h>
#include <string.h>

#include "accumulate/cpu/build.h"
#include "accumulate/tuning.h"

/* ---- densities ------------------------------------------------------------------------------- */

/* Returns the number of doubles of the densities by pair and their maxima. */
size_t fmo_cpu_by_pair_size(const fmo_cpu_pairs *pairs, size_t densities)
{
    size_t size = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += (size_t)pairs->list[c].num * (densities * (size_t)fmo_cpu_stride(c) + 1);
    return size;
}

/* Copies the density blocks of one class and their maxima; `largest` stays 0 if only K is
 * requested. */
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

/* Returns a side with the plan's densities, which are written to `memory` (fmo_cpu_by_pair_size
 * doubles). */
fmo_cpu_side fmo_cpu_side_with_density(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
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

fmo_cpu_side fmo_cpu_side_without_density(const fmo_cpu_pairs *pairs, const double *zeros)
{
    fmo_cpu_side side = {.pairs = pairs};
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) side.density[c] = side.largest[c] = zeros;
    return side;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Returns the number of elements of X^K of all densities. */
static size_t exchange_size(const fmo_cpu_shape *s)
{
    const size_t n = (size_t)s->plan->basis->function_num;
    return s->exchange ? s->densities * n * n : 0;
}

/* Returns the number of doubles in a copy of the sums: X^K, then X^J by pair class. */
size_t fmo_cpu_sums_size(const fmo_cpu_shape *s)
{
    size_t size = exchange_size(s);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += s->densities * (size_t)s->pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    return size;
}

fmo_cpu_sums fmo_cpu_sums_at(const fmo_cpu_shape *s, double *memory)
{
    fmo_cpu_sums sums = {.exchange = s->exchange ? memory : NULL};
    memory += exchange_size(s);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        sums.coulomb[FMO_CPU_BRA][c] = sums.coulomb[FMO_CPU_KET][c] = memory;
        memory += s->densities * (size_t)s->pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    }
    return sums;
}

/* Returns the power of two by which sums bounded by `bound` fill 61 bits. It is at most 2^1022,
 * so that its inverse is not below the smallest normal double. */
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

/* Derives the scales from bounds on any partial sum of elements of X^J and X^K. With (ij|kl) <=
 * Q_ij Q_kl these are sum_ij |D_ij| Q_ij max Q and max|D| (max_i sum_j Q_ij)^2, both doubled as a
 * margin. max Q is taken over the pairs to which the sums belong. */
fmo_status fmo_cpu_set_scales(const fmo_fock_plan *plan, const fmo_cpu_pairs *pairs,
                              const fmo_cpu_pairs *of_sums, double bound, double *row,
                              fmo_cpu_adding *adding, fmo_error *err)
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
    limit_J *= 2.0 * bound * largest;
    const double limit_K = 2.0 * bound * plan->density_largest * row_largest * row_largest;
    if (!isfinite(limit_J) || !isfinite(limit_K))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "scatter = fixed: a density with elements up to %.3g leaves no finite "
                             "bound on the Fock matrix; use another strategy",
                             plan->density_largest);
    adding->coulomb_scale = fixed_scale(limit_J);
    adding->exchange_scale = fixed_scale(limit_K);
    return FMO_OK;
}

enum { REDUCE_BLOCK = fmo_tuning_cpu_reduce_elements };

void fmo_cpu_reduce_sums(double *const *own, int threads, size_t size, int fixed)
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

void fmo_cpu_add_far(const fmo_cpu_shape *s, const fmo_cpu_far_build *far,
                     const fmo_cpu_adding *adding, const fmo_cpu_sums *to)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const size_t num = s->densities * (size_t)s->pairs->list[c].num * (size_t)fmo_cpu_stride(c);
        double *const sum = to->coulomb[FMO_CPU_BRA][c];
        for (size_t x = 0; x < num; x++) {
            if (adding->fixed)
                ((int64_t *)sum)[x] += llrint(far->coulomb[c][x] * adding->coulomb_scale);
            else
                sum[x] += far->coulomb[c][x];
        }
    }
}

/* Converts X^K and the blocks of X^J to matrices in internal order; on several ranks under
 * `fixed` the integers are copied instead. */
void fmo_cpu_give_sums(fmo_fock_plan *plan, const fmo_cpu_shape *shape, const fmo_cpu_sums *sums,
                       const fmo_cpu_adding *adding)
{
    fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num;
    const double J = 1.0 / adding->coulomb_scale, K = 1.0 / adding->exchange_scale;
    /* Integers are kept until the sums of all ranks have been added. */
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
