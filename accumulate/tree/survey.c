#include "accumulate/tree/survey.h"

#include <stdlib.h>

void fmo_boxes_largest(const fmo_boxes *boxes, const double *of_item, double *of_box)
{
    for (int b = boxes->num - 1; b >= 0; b--) { /* children come after their parents */
        const fmo_box *box = &boxes->box[b];
        double largest = 0.0;
        for (int n = box->begin; box->leaf >= 0 && n < box->end; n++)
            largest = fmax(largest, of_item[boxes->item[n]]);
        if (box->leaf < 0) largest = fmax(of_box[box->child], of_box[box->child + 1]);
        of_box[b] = largest;
    }
}

typedef struct survey {
    const fmo_boxes_survey *of;
    fmo_box_load *load; /* [box], logarithms */
} survey;

static int is_coarse(const survey *s, const fmo_box *box)
{
    return box->leaf >= 0 || box->end - box->begin <= s->of->coarse;
}

/* Pairs of items of two boxes that are near. */
static double count_near(const survey *s, int a, int b)
{
    const fmo_box *box = s->of->boxes->box;
    int order[2];
    if (fmo_boxes_far(&box[a], &s->load[a], &box[b], &s->load[b], &s->of->rule, order)) return 0.0;
    if (is_coarse(s, &box[a]) && is_coarse(s, &box[b]))
        return (double)(box[a].end - box[a].begin) * (double)(box[b].end - box[b].begin);
    if (!is_coarse(s, &box[b]) && (is_coarse(s, &box[a]) || fmo_box_larger(box, b, a)))
        return count_near(s, a, box[b].child) + count_near(s, a, box[b].child + 1);
    return count_near(s, box[a].child, b) + count_near(s, box[a].child + 1, b);
}

double fmo_boxes_near_share(const fmo_boxes_survey *of)
{
    const fmo_boxes *boxes = of->boxes;
    survey s = {of, malloc(((size_t)boxes->num + 1) * sizeof *s.load)};
    if (!s.load || !boxes->num) {
        free(s.load);
        return 1.0;
    }
    for (int b = boxes->num - 1; b >= 0; b--) {
        const fmo_box *box = &boxes->box[b];
        fmo_box_load *load = &s.load[b];
        *load = (fmo_box_load){of->largest_bound[b], 4.0 * of->weight * of->largest_bound[b],
                               of->largest_moment[b], 0.0};
        for (int n = box->begin; box->leaf >= 0 && n < box->end; n++)
            load->charge += of->moment[boxes->item[n]];
        if (box->leaf < 0) load->charge = s.load[box->child].charge + s.load[box->child + 1].charge;
    }
    for (int b = 0; b < boxes->num; b++) fmo_box_take_logs(&s.load[b]);
    const double near = count_near(&s, 0, 0);
    free(s.load);
    return near / ((double)boxes->item_num * (double)boxes->item_num);
}
