/* Makes the tree of boxes.h: each cell is halved along its longest side. A cell has four sides: x,
 * y, z and the reach of its pairs. */
#include "accumulate/tree/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double side_of(const fmo_box_item *item, int side)
{
    return side < 3 ? item->centre[side] : item->reach;
}

static void measure(const fmo_box_item *item, const int *of, int num, double low[4], double high[4])
{
    for (int s = 0; s < 4; s++) {
        low[s] = HUGE_VAL;
        high[s] = -HUGE_VAL;
    }
    for (int n = 0; n < num; n++) {
        for (int s = 0; s < 4; s++) {
            const double x = side_of(&item[of[n]], s);
            if (x < low[s]) low[s] = x;
            if (x > high[s]) high[s] = x;
        }
    }
}

/* Computes centre, extent, radius and spread of a cell from the range of its items. */
static void settle(const fmo_box_item *item, const int *of, int num, const double low[4],
                   const double high[4], fmo_box *box)
{
    for (int x = 0; x < 3; x++) box->centre[x] = 0.5 * (low[x] + high[x]);
    box->extent = box->radius = box->spread = 0.0;
    for (int n = 0; n < num; n++) {
        const fmo_box_item *i = &item[of[n]];
        const double x = i->centre[0] - box->centre[0], y = i->centre[1] - box->centre[1],
                     z = i->centre[2] - box->centre[2];
        const double away = sqrt(x * x + y * y + z * z);
        box->extent = fmax(box->extent, away + i->extent);
        box->radius = fmax(box->radius, away + i->radius);
        box->spread = fmax(box->spread, i->spread);
    }
}

/* Partitions of[0..num-1] so that items below the middle of the longest side come first, with the
 * order otherwise kept. Returns the number of those, or 0 if the items are too close to be divided.
 */
static int cut(const fmo_box_item *item, int *of, int num, const double low[4],
               const double high[4], int *scratch)
{
    int longest = 0, below = 0, above = 0;
    for (int s = 1; s < 4; s++)
        if (high[s] - low[s] > high[longest] - low[longest]) longest = s;
    const double middle = 0.5 * (low[longest] + high[longest]);
    if (!(high[longest] - low[longest] > 1e-6)) return 0;
    for (int n = 0; n < num; n++) {
        if (side_of(&item[of[n]], longest) < middle)
            of[below++] = of[n];
        else
            scratch[above++] = of[n];
    }
    memcpy(of + below, scratch, (size_t)above * sizeof *of);
    return above ? below : 0;
}

/* Computes the data of a cell and, if it has more items than a leaf, divides it; box->child is then
 * the number of items of the first half, or 0 for a leaf. scratch: [box->end] */
static void settle_and_cut(const fmo_box_item *item, int *items, int leaf, int *scratch,
                           fmo_box *box)
{
    int *const of = items + box->begin;
    const int own = box->end - box->begin;
    double low[4], high[4];
    measure(item, of, own, low, high);
    settle(item, of, own, low, high, box);
    box->child = own > leaf ? cut(item, of, own, low, high, scratch + box->begin) : 0;
}

/* Makes space for one more cell or level. Returns 0 if there is no memory. */
static int grow(void **array, size_t size, int have, int *capacity)
{
    if (have < *capacity) return 1;
    const int more_capacity = *capacity ? 2 * *capacity : 64;
    void *const more = realloc(*array, (size_t)more_capacity * size);
    if (!more) return 0;
    *array = more;
    *capacity = more_capacity;
    return 1;
}

/* Builds the tree level by level; the cells of a level are divided in parallel. */
fmo_status fmo_boxes_make(const fmo_box_item *item, int num, int leaf, int threads, fmo_boxes *to,
                          fmo_error *err)
{
    int capacity = 0, levels = 0, good = 1;
    int *const scratch = malloc(((size_t)num + 1) * sizeof *scratch);
    memset(to, 0, sizeof *to);
    to->item = malloc(((size_t)num + 1) * sizeof *to->item);
    to->leaf_of = malloc(((size_t)num + 1) * sizeof *to->leaf_of);
    good = scratch && to->item && to->leaf_of &&
           grow((void **)&to->box, sizeof *to->box, 0, &capacity);
    if (!good) goto done;
    to->item_num = num;
    for (int n = 0; n < num; n++) to->item[n] = n;
    to->box[0] = (fmo_box){.begin = 0, .end = num, .parent = -1, .child = -1, .leaf = -1};
    to->num = num > 0;
    for (int begin = 0; good && begin < to->num; begin = to->level[to->level_num]) {
        const int end = to->num;
        good = grow((void **)&to->level, sizeof *to->level, to->level_num + 1, &levels);
        if (!good) break;
        to->level[to->level_num++] = begin;
        to->level[to->level_num] = end;
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (end - begin > 1)
        for (int b = begin; b < end; b++)
            settle_and_cut(item, to->item, leaf, scratch, &to->box[b]);
        for (int b = begin; good && b < end; b++) {
            const int below = to->box[b].child;
            to->box[b].child = -1;
            if (!below) {
                to->box[b].leaf = to->leaf_num++;
                for (int n = to->box[b].begin; n < to->box[b].end; n++)
                    to->leaf_of[to->item[n]] = to->box[b].leaf;
                continue;
            }
            for (int half = 0; good && half < 2; half++) {
                good = grow((void **)&to->box, sizeof *to->box, to->num, &capacity);
                if (!good) break;
                const fmo_box *parent = &to->box[b];
                to->box[to->num++] = (fmo_box){
                    .begin = half ? parent->begin + below : parent->begin,
                    .end = half ? parent->end : parent->begin + below,
                    .parent = b,
                    .child = -1,
                    .leaf = -1,
                };
                if (!half) to->box[b].child = to->num - 1;
            }
        }
    }
    to->of_leaf = good ? malloc(((size_t)to->leaf_num + 1) * sizeof *to->of_leaf) : NULL;
    good = to->of_leaf != NULL;
    for (int b = 0; good && b < to->num; b++)
        if (to->box[b].leaf >= 0) to->of_leaf[to->box[b].leaf] = b;
    to->bytes = (size_t)capacity * sizeof *to->box + (size_t)levels * sizeof *to->level +
                ((size_t)to->leaf_num + 2 * (size_t)num) * sizeof *to->item;
done:
    free(scratch);
    if (good) return FMO_OK;
    fmo_boxes_free(to);
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for boxes of %d pairs", num);
}

void fmo_boxes_free(fmo_boxes *boxes)
{
    free(boxes->box);
    free(boxes->level);
    free(boxes->item);
    free(boxes->leaf_of);
    free(boxes->of_leaf);
    memset(boxes, 0, sizeof *boxes);
}
