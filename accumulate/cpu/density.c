/* Densities as the kernels of mode cpu read them: pair by pair, block by block (build.h). */
#include <string.h>

#include "accumulate/cpu/build.h"

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
