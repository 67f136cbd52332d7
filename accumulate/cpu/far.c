/* One pass through the boxes of far.h: multipoles are computed upwards; then, level by level
 * downwards, it is decided which boxes interact, and their potentials are computed; finally the
 * potential of each leaf is converted to X^J of its pairs. Equations:
 * docs/explanation/multipoles.md. */
#include "accumulate/cpu/far.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/kernel.h"

/* A growing list. */
typedef struct int_list {
    int num, capacity;
    int *at;
} int_list;

static int append(int_list *list, int value)
{
    if (list->num == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 32;
        int *const more = realloc(list->at, (size_t)capacity * sizeof *more);
        if (!more) return 0;
        list->at = more;
        list->capacity = capacity;
    }
    list->at[list->num++] = value;
    return 1;
}

typedef struct interaction_list {
    int num, capacity;
    fmo_box_interaction *at;
} interaction_list;

static int append_interaction(interaction_list *list, int box, int order)
{
    if (list->num == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 256;
        fmo_box_interaction *const more = realloc(list->at, (size_t)capacity * sizeof *more);
        if (!more) return 0;
        list->at = more;
        list->capacity = capacity;
    }
    list->at[list->num++] = (fmo_box_interaction){box, order};
    return 1;
}

enum { STRENGTHS = FMO_BOX_ORDER_MAX + 1 };

/* Data of a build that all threads share. */
typedef struct far_job {
    const fmo_cpu_far *far;
    const fmo_cpu_far_input *in;
    fmo_box_view view;
    fmo_box_load *load; /* [box] */
    float *strength;    /* [box][STRENGTHS] strengths of its multipoles by order, maximum over the
                         * densities */
    int_list *open;     /* [box] boxes that are left to the children of the box */
    fmo_cpu_far_build *to;
    int failed;
} far_job;

/* Returns the end of the items of boxes.item, beginning with `begin`, that are of the same class;
 * sets *c to that class. The items of a leaf are sorted by class. */
static int next_class(const far_job *j, const fmo_box *box, int begin, int *c)
{
    const fmo_boxes *boxes = &j->far->boxes;
    int end = begin;
    while (boxes->item[begin] >= j->far->first[*c + 1]) ++*c;
    while (end < box->end && boxes->item[end] < j->far->first[*c + 1]) end++;
    return end;
}

static fmo_far_leaf leaf_of(const far_job *j, const fmo_box *box, int begin, int end, int c)
{
    const fmo_far_leaf leaf = {.list = &j->in->pairs->list[c],
                               .item = j->far->boxes.item + begin,
                               .first = j->far->first[c],
                               .num = end - begin,
                               .centre = box->centre,
                               .order = j->view.order,
                               .derivative = j->far->derivative,
                               .twice = j->far->twice};
    return leaf;
}

/* Computes multipoles and load (tree/decide.h) of a leaf. */
static void collect_leaf(far_job *j, int b)
{
    const fmo_box *box = &j->far->boxes.box[b];
    double *const to = j->view.multipole + (size_t)b * j->view.stride;
    fmo_box_load load = {j->far->largest_bound[b], 0.0, j->far->largest_moment[b], 0.0};
    int c = 0;
    for (int begin = box->begin, end; begin < box->end; begin = end) {
        end = next_class(j, box, begin, &c);
        const fmo_far_leaf leaf = leaf_of(j, box, begin, end, c);
        const size_t of_density = (size_t)leaf.list->num * (size_t)fmo_cpu_stride(c);
        for (int d = 0; d < j->view.densities; d++)
            j->far->kernels->collect[c](&leaf, j->in->density[c] + (size_t)d * of_density,
                                        to + (size_t)d * j->view.size);
        for (int n = begin; n < end; n++) {
            const int item = j->far->boxes.item[n], q = item - j->far->first[c];
            const double D = j->in->largest[c][q]; /* includes the weight of J in screening */
            load.weighted = fmax(load.weighted, 4.0 * D * leaf.list->prim_bounds[q]);
            load.charge += D / j->in->weight * j->far->moment[item];
        }
    }
    j->load[b] = load;
}

/* Combines the loads of the two children of a box. */
static void add_loads(far_job *j, int b)
{
    const fmo_box *box = &j->far->boxes.box[b];
    const fmo_box_load *one = &j->load[box->child], *two = one + 1;
    j->load[b] = (fmo_box_load){j->far->largest_bound[b], fmax(one->weighted, two->weighted),
                                j->far->largest_moment[b], one->charge + two->charge};
}

/* Prepares what decisions need: the logarithms of a box's load and the strengths of its
 * multipoles. */
static void weigh_box(far_job *j, int b)
{
    float *const strength = j->strength + (size_t)b * STRENGTHS;
    fmo_box_take_logs(&j->load[b]);
    for (int d = 0; d < j->view.densities; d++) {
        const double *const M =
            j->view.multipole + (size_t)b * j->view.stride + (size_t)d * j->view.size;
        for (int l = 0; l < STRENGTHS; l++)
            strength[l] = fmaxf(strength[l], (float)fmo_box_strength(&j->far->boxes.box[b], M, l));
    }
}

/* True if this share computes the potential of box b. On the first level with at least 8 boxes
 * for each share, the boxes are distributed together with all boxes below them; boxes above that
 * level are computed by all shares. */
static int is_mine(const far_job *j, int b)
{
    const fmo_boxes *boxes = &j->far->boxes;
    int level = 0, own = b;
    if (j->in->shares < 2) return 1;
    while (level + 1 < boxes->level_num &&
           boxes->level[level + 1] - boxes->level[level] < 8 * j->in->shares)
        level++;
    while (own >= boxes->level[level + 1]) own = boxes->box[own].parent;
    /* Leaves above that level are distributed, too. */
    if (own < boxes->level[level] && boxes->box[own].leaf < 0) return 1;
    return own % j->in->shares == j->in->share;
}

/* Lists of a thread. */
typedef struct scratch {
    int_list stack;
    interaction_list interactions;
    fmo_box_interaction *sorted;
    int sorted_capacity;
} scratch;

/* Sorts interactions by descending order of expansion, because boxes that are processed together
 * use the highest of their orders. The sort is stable. Returns 0 if memory is short. */
static int sort_interactions(scratch *s)
{
    int begin[FMO_BOX_ORDER_MAX + 2] = {0};
    if (s->interactions.num > s->sorted_capacity) {
        free(s->sorted);
        s->sorted_capacity = 2 * s->interactions.num;
        s->sorted = malloc((size_t)s->sorted_capacity * sizeof *s->sorted);
        if (!s->sorted) s->sorted_capacity = 0;
        if (!s->sorted) return 0;
    }
    for (int n = 0; n < s->interactions.num; n++)
        begin[FMO_BOX_ORDER_MAX - s->interactions.at[n].order + 1]++;
    for (int k = 1; k <= FMO_BOX_ORDER_MAX; k++) begin[k] += begin[k - 1];
    for (int n = 0; n < s->interactions.num; n++)
        s->sorted[begin[FMO_BOX_ORDER_MAX - s->interactions.at[n].order]++] = s->interactions.at[n];
    return 1;
}

/* Decides about box b and the boxes that its parent left open. Far boxes interact with b if b
 * belongs to this share; near leaves are listed; larger boxes are replaced by their children; all
 * others are left to the children of b. Returns 0 if memory is short. */
static int settle_box(far_job *j, int b, scratch *s)
{
    const fmo_box *boxes = j->far->boxes.box, *box = &boxes[b];
    const int_list *given = box->parent >= 0 ? &j->open[box->parent] : NULL;
    const int mine = is_mine(j, b);
    fmo_cpu_near *near = box->leaf >= 0 ? &j->to->near[box->leaf] : NULL;
    const fmo_box_criterion criterion = {log(j->in->cutoff), FMO_BOX_ORDER_MAX, 0.0};
    int good = 1;
    s->interactions.num = s->stack.num = 0;
    if (!given) good = append(&s->stack, b);
    for (int n = given ? given->num - 1 : -1; good && n >= 0; n--)
        good = append(&s->stack, given->at[n]);
    while (good && s->stack.num) {
        const int other = s->stack.at[--s->stack.num];
        int order[2];
        if (fmo_boxes_far(box, &j->load[b], &boxes[other], &j->load[other], &criterion, order)) {
            const float *const strength = j->strength + (size_t)other * STRENGTHS;
            if (mine)
                good = append_interaction(&s->interactions, other,
                                          fmo_box_fewer(order[0], box, j->load[b].moment,
                                                        &boxes[other], strength,
                                                        criterion.log_cutoff));
        } else if (near && boxes[other].leaf >= 0) {
            if (near->num == near->capacity) {
                const int capacity = near->capacity ? 2 * near->capacity : 32;
                int *const more = realloc(near->leaf, (size_t)capacity * sizeof *more);
                good = more != NULL;
                if (!good) break;
                near->leaf = more;
                near->capacity = capacity;
            }
            near->leaf[near->num++] = boxes[other].leaf;
        } else if (boxes[other].leaf < 0 && (near || fmo_box_larger(boxes, other, b))) {
            good =
                append(&s->stack, boxes[other].child + 1) && append(&s->stack, boxes[other].child);
        } else {
            good = append(&j->open[b], other);
        }
    }
    if (!good || !sort_interactions(s)) return 0;
    j->far->box_kernels->interact(&j->view, b, s->sorted, s->interactions.num);
#pragma omp atomic
    j->to->interactions += s->interactions.num;
    return 1;
}

/* Adds the potential of a leaf to X^J of its pairs. */
static void give_leaf(far_job *j, int b)
{
    const fmo_box *box = &j->far->boxes.box[b];
    const double *const from = j->view.potential + (size_t)b * j->view.stride;
    int c = 0;
    if (!is_mine(j, b)) return;
    for (int begin = box->begin, end; begin < box->end; begin = end) {
        end = next_class(j, box, begin, &c);
        const fmo_far_leaf leaf = leaf_of(j, box, begin, end, c);
        const size_t of_density = (size_t)leaf.list->num * (size_t)fmo_cpu_stride(c);
        for (int d = 0; d < j->view.densities; d++)
            j->far->kernels->give[c](&leaf, from + (size_t)d * j->view.size,
                                     j->to->coulomb[c] + (size_t)d * of_density);
    }
}

/* Executes the complete pass; called by each thread of a team. */
static void run(far_job *j)
{
    const fmo_boxes *boxes = &j->far->boxes;
    const int width = j->far->box_kernels->width;
    scratch s;
    memset(&s, 0, sizeof s);
#pragma omp for schedule(dynamic, 4)
    for (int leaf = 0; leaf < boxes->leaf_num; leaf++) collect_leaf(j, boxes->of_leaf[leaf]);
    for (int level = boxes->level_num - 1; level > 0; level--) {
        const int begin = boxes->level[level], end = boxes->level[level + 1];
#pragma omp for schedule(dynamic, 4)
        for (int b = begin; b < end; b += width)
            j->far->box_kernels->up(&j->view, b, b + width < end ? b + width : end);
#pragma omp for schedule(static)
        for (int b = begin; b < end; b += 2) add_loads(j, boxes->box[b].parent);
    }
#pragma omp for schedule(static)
    for (int b = 0; b < boxes->num; b++) weigh_box(j, b);
    for (int level = 0; level < boxes->level_num; level++) {
        const int begin = boxes->level[level], end = boxes->level[level + 1];
        if (level > 0) {
#pragma omp for schedule(dynamic, 4)
            for (int b = begin; b < end; b += width)
                j->far->box_kernels->down(&j->view, b, b + width < end ? b + width : end);
        }
#pragma omp for schedule(dynamic, 4)
        for (int b = begin; b < end; b++) {
            if (!settle_box(j, b, &s)) {
#pragma omp atomic write
                j->failed = 1;
            }
        }
    }
#pragma omp for schedule(dynamic, 4)
    for (int leaf = 0; leaf < boxes->leaf_num; leaf++) give_leaf(j, boxes->of_leaf[leaf]);
    free(s.stack.at);
    free(s.interactions.at);
    free(s.sorted);
}

/* Allocates the arrays of a job; returns 0 if memory is short. */
static int begin_job(far_job *j)
{
    const size_t boxes = (size_t)j->far->boxes.num;
    j->load = calloc(boxes + 1, sizeof *j->load);
    j->strength = calloc((boxes + 1) * STRENGTHS, sizeof *j->strength);
    j->open = calloc(boxes + 1, sizeof *j->open);
    j->to->near = calloc((size_t)j->far->boxes.leaf_num + 1, sizeof *j->to->near);
    j->view.multipole = calloc(boxes * j->view.stride + 1, sizeof(double));
    j->view.potential = calloc(boxes * j->view.stride + 1, sizeof(double));
    return j->load && j->strength && j->open && j->to->near && j->view.multipole &&
           j->view.potential;
}

static void end_job(far_job *j)
{
    for (int b = 0; j->open && b < j->far->boxes.num; b++) free(j->open[b].at);
    free(j->open);
    free(j->load);
    free(j->strength);
    free(j->view.multipole);
    free(j->view.potential);
}

/* Returns the number of doubles of X^J. */
static size_t sums_size(const fmo_cpu_pairs *pairs, size_t densities)
{
    size_t size = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += densities * (size_t)pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    return size;
}

/* Allocates the arrays of a build, runs the pass on all threads, and frees what the build does
 * not need. */
fmo_status fmo_cpu_far_build_coulomb(const fmo_cpu_far *far, const fmo_cpu_far_input *input,
                                     fmo_cpu_far_build *to, fmo_error *err)
{
    const size_t densities = (size_t)input->densities;
    const size_t size = 2 * FMO_HARMONIC_TERMS(FMO_BOX_ORDER_MAX);
    far_job j = {.far = far,
                 .in = input,
                 .view = {&far->boxes, FMO_BOX_ORDER_MAX, input->densities, size, size * densities,
                          NULL, NULL},
                 .to = to};
    memset(to, 0, sizeof *to);
    to->memory = calloc(sums_size(input->pairs, densities) + 1, sizeof *to->memory);
    if (begin_job(&j) && to->memory) {
        double *at = to->memory;
        for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
            to->coulomb[c] = at;
            at += densities * (size_t)input->pairs->list[c].num * (size_t)fmo_cpu_stride(c);
        }
#pragma omp parallel num_threads(input->threads)
        run(&j);
    } else {
        j.failed = 1;
    }
    end_job(&j);
    if (!j.failed) return FMO_OK;
    fmo_cpu_far_build_free(far, to);
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the multipoles of %d boxes",
                         far->boxes.num);
}

void fmo_cpu_far_build_free(const fmo_cpu_far *far, fmo_cpu_far_build *build)
{
    for (int l = 0; build->near && l < far->boxes.leaf_num; l++) free(build->near[l].leaf);
    free(build->near);
    free(build->memory);
    memset(build, 0, sizeof *build);
}

size_t fmo_cpu_far_bytes(const fmo_cpu_far *far, const fmo_cpu_pairs *pairs, size_t densities)
{
    const size_t size = 2 * FMO_HARMONIC_TERMS(FMO_BOX_ORDER_MAX) * sizeof(double);
    const size_t boxes = (size_t)far->boxes.num, leaves = (size_t)far->boxes.leaf_num;
    /* The lists of near leaves and the lists that are left to children have about the same number
     * of entries and some unused capacity. About half as many leaves are near as of the larger
     * boxes of near_share. */
    const double entries = 1.5 * far->near_share * (double)leaves * (double)leaves;
    return boxes * (2 * densities * size + sizeof(fmo_box_load) + STRENGTHS * sizeof(float) +
                    sizeof(int_list)) +
           leaves * sizeof(fmo_cpu_near) + (size_t)entries * sizeof(int) +
           sums_size(pairs, densities) * sizeof(double);
}
