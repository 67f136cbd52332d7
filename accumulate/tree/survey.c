/* Largest values of cells, and the share of near pairs of pairs; see survey.h. */
#include "accumulate/tree/survey.h"
#include "accumulate/tuning.h"

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
    fmo_box_load *load; /* [cell] logarithms */
} survey;

static int is_coarse(const survey *s, const fmo_box *box)
{
    return box->leaf >= 0 || box->end - box->begin <= s->of->coarse;
}

/* A pair of cells. compare() returns 0 if they are far, 1 if they are near and coarse, 2 if they
 * are near and were divided into two[]. */
typedef struct pair {
    int a, b;
} pair;

static int compare(const survey *s, pair p, pair two[2])
{
    const fmo_box *box = s->of->boxes->box, *a = &box[p.a], *b = &box[p.b];
    int order[2];
    if (fmo_boxes_far(a, &s->load[p.a], b, &s->load[p.b], &s->of->criterion, order)) return 0;
    if (is_coarse(s, a) && is_coarse(s, b)) return 1;
    const int cut_b = !is_coarse(s, b) && (is_coarse(s, a) || fmo_box_larger(box, p.b, p.a));
    for (int half = 0; half < 2; half++)
        two[half] = cut_b ? (pair){p.a, b->child + half} : (pair){a->child + half, p.b};
    return 2;
}

static double items_of(const survey *s, pair p)
{
    const fmo_box *a = &s->of->boxes->box[p.a], *b = &s->of->boxes->box[p.b];
    return (double)(a->end - a->begin) * (double)(b->end - b->begin);
}

/* Number of near pairs of items of two cells. */
static double count_near(const survey *s, pair p)
{
    pair two[2];
    const int what = compare(s, p, two);
    if (what < 2) return what ? items_of(s, p) : 0.0;
    return count_near(s, two[0]) + count_near(s, two[1]);
}

/* Number of near pairs of items of the whole tree: divides the root with itself into pairs of cells
 * until there are enough for all threads, which count their pairs. The sums are integers, so that
 * their order does not matter. */
static double count_all(const survey *s)
{
    enum { PIECES = fmo_tuning_tree_survey_pieces };
    pair piece[PIECES] = {{0, 0}};
    int num = 1;
    double near = 0.0;
    for (int n = 0; n < num && num + 1 < PIECES; n++) {
        pair two[2];
        const int what = compare(s, piece[n], two);
        if (what == 1) near += items_of(s, piece[n]);
        if (what == 2) {
            piece[num++] = two[0];
            piece[num++] = two[1];
        }
        piece[n].a = -1;
    }
#pragma omp parallel for num_threads(s->of->threads) schedule(dynamic) reduction(+ : near)
    for (int n = 0; n < num; n++)
        if (piece[n].a >= 0) near += count_near(s, piece[n]);
    return near;
}

/* Computes the loads of the cells for a density of 1 and counts the near pairs. */
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
    const double near = count_all(&s);
    free(s.load);
    return near / ((double)boxes->item_num * (double)boxes->item_num);
}
