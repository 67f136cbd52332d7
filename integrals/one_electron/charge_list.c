/* Sorts point charges along a space-filling curve; see charge_list.h. */
#include "integrals/one_electron/charge_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "integrals/one_electron/charge_sums.h"

typedef struct place {
    uint64_t key; /* along a space-filling curve */
    size_t index;
} place;

static int by_place(const void *x, const void *y)
{
    const place *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Interleaved bits of x, y and z (Morton order), on a grid of 2^20 cells in each direction. */
static uint64_t place_key(const double *at, const double *low, double unit)
{
    uint64_t cell[3], key = 0;
    for (int x = 0; x < 3; x++) cell[x] = (uint64_t)((at[x] - low[x]) * unit);
    for (int bit = 19; bit >= 0; bit--)
        for (int x = 0; x < 3; x++) key = key << 1 | (cell[x] >> bit & 1);
    return key;
}

/* Sorts the nonzero charges by their Morton keys and writes charges and coordinates as columns. */
fmo_status fmo_charge_list_make(size_t num, const double *charge, const double *coord,
                                fmo_charge_list *list, fmo_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, edge = 1e-3;
    size_t used = 0;
    const size_t padded = (num + FMO_CHARGE_GROUP - 1) / FMO_CHARGE_GROUP * FMO_CHARGE_GROUP;
    place *order = malloc((num ? num : 1) * sizeof *order);
    double *const column = malloc((4 * padded + 1) * sizeof *column);
    *list = (fmo_charge_list){.memory = column, .index = malloc((num ? num : 1) * sizeof(size_t))};
    if (!order || !column || !list->index) {
        free(order);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a list of %zu charges", num);
    }
    for (size_t c = 0; c < num; c++)
        for (int x = 0; x < 3; x++) low[x] = fmin(low[x], coord[3 * c + x]);
    for (size_t c = 0; c < num; c++)
        for (int x = 0; x < 3; x++) edge = fmax(edge, coord[3 * c + x] - low[x]);
    for (size_t c = 0; c < num; c++)
        if (charge[c] != 0.0)
            order[used++] = (place){place_key(coord + 3 * c, low, 1048575.0 / edge), c};
    qsort(order, used, sizeof *order, by_place);
    list->used = used;
    for (size_t k = 0; k < used; k++) list->index[k] = order[k].index;
    list->num = (used + FMO_CHARGE_GROUP - 1) / FMO_CHARGE_GROUP * FMO_CHARGE_GROUP;
    for (size_t k = 0; k < list->num; k++) {
        const size_t c = order[k < used ? k : used - 1].index;
        column[k] = k < used ? charge[c] : 0.0;
        for (int x = 0; x < 3; x++)
            column[(size_t)(1 + x) * list->num + k] = coord[3 * c + (size_t)x];
    }
    list->charge = column;
    for (int x = 0; x < 3; x++) list->coord[x] = column + (size_t)(1 + x) * list->num;
    free(order);
    return FMO_OK;
}

void fmo_charge_list_free(fmo_charge_list *list)
{
    free(list->memory);
    free(list->index);
    *list = (fmo_charge_list){.num = 0};
}

fmo_status fmo_charges_check(const char *call, size_t num, const double *charge,
                             const double *coord, fmo_error *err)
{
    for (size_t c = 0; c < num; c++) {
        if (!isfinite(charge[c]))
            return fmo_error_set(err, FMO_ERR_INPUT, "%s: charge[%zu] = %g: not finite", call, c,
                                 charge[c]);
        for (size_t x = 0; x < 3; x++)
            if (!(fabs(coord[3 * c + x]) <= 1e6))
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "%s: coord[%zu][%zu] = %g: expected a "
                                     "finite coordinate in bohr, at most 1e6 in size",
                                     call, c, x, coord[3 * c + x]);
    }
    return FMO_OK;
}
