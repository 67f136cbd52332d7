/* The way through the boxes of far.h: multipoles upwards; then level by level downwards, which
 * boxes meet, and what their potential is; at the end X^J of the pairs of each leaf. */
#include "accumulate/cpu/far.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/kernel.h"
#include "accumulate/tuning.h"
#include "integrals/one_electron/hermite.h"
#include "integrals/vector.h"

/* ---- once for a plan ------------------------------------------------------------------------ */

/* c = (d/dx)^t (d/dy)^u (d/dz)^v R_lm with l = t + u + v, a number, m of either sign. By the
 * addition theorem d/dz R_lm = R_(l-1)m, d/dx R_lm = (R_(l-1)(m+1) - R_(l-1)(m-1)) / 2,
 * d/dy R_lm = -i (R_(l-1)(m+1) + R_(l-1)(m-1)) / 2. */
static void differentiate(int t, int u, int v, int m, double c[2])
{
    const int l = t + u + v;
    double up[2], down[2];
    c[0] = c[1] = 0.0;
    if (m > l || m < -l) return;
    if (l == 0) {
        c[0] = 1.0;
    } else if (v > 0) {
        differentiate(t, u, v - 1, m, c);
    } else if (t > 0) {
        differentiate(t - 1, u, v, m + 1, up);
        differentiate(t - 1, u, v, m - 1, down);
        for (int part = 0; part < 2; part++) c[part] = 0.5 * (up[part] - down[part]);
    } else {
        differentiate(t, u - 1, v, m + 1, up);
        differentiate(t, u - 1, v, m - 1, down);
        c[0] = 0.5 * (up[1] + down[1]);
        c[1] = -0.5 * (up[0] + down[0]);
    }
}

static void make_derivatives(fmo_cpu_far *far)
{
    for (int n = 0; n < FMO_FAR_DERIVATIVES; n++) {
        const signed char *const power = fmo_hermite_term[n];
        const int l = FMO_HERMITE_DEGREE(n);
        for (int m = 0; m <= l; m++) {
            double *const c = far->derivative[n] + 2 * fmo_harmonic(l, m);
            differentiate(power[0], power[1], power[2], m, c);
            for (int part = 0; part < 2; part++)
                far->twice[n][2 * fmo_harmonic(l, m) + part] = (m ? 2.0 : 1.0) * c[part];
        }
    }
}

/* Where pair q of a list is, how far it reaches, and the largest moment of a product of its
 * functions: the sums over primitives of its charge, dipole, ... */
static void describe(const fmo_cpu_pair_list *list, int c, int q, double cutoff, fmo_box_item *item,
                     double *moment)
{
    const int la = fmo_pair_ang_mom(c, 0), lb = fmo_pair_ang_mom(c, 1);
    const fmo_cpu_family *family = &list->family[list->family_of[q]];
    const double *prim = list->prim + list->prim_begin[q] * FMO_CPU_PRIM_FIELDS;
    double sum[FMO_PAIR_PRODUCTS_MAX][FMO_HERMITE_MAX] = {{0.0}};
    fmo_hermite_1d E[3];
    memset(item, 0, sizeof *item);
    for (int x = 0; x < 3; x++) item->centre[x] = list->middle[x][q];
    for (int m = 0; m < list->count[q]; m++, prim += FMO_CPU_PRIM_FIELDS) {
        const double p = list->exponent[family->exponent + m];
        double away = 0.0;
        if (prim[FMO_CPU_PRIM_K] == 0.0) continue;
        for (int x = 0; x < 3; x++) {
            const double PA = prim[FMO_CPU_PRIM_X + x];
            const double far = list->centre[4 * (size_t)q + (size_t)x] + PA - item->centre[x];
            away += far * far;
            fmo_hermite_expand(la, lb, PA, PA + list->AB[4 * (size_t)q + (size_t)x], 0.5 / p, E[x]);
        }
        item->radius = fmax(item->radius, sqrt(away));
        item->spread = fmax(item->spread, 1.0 / p);
        for (int a = 0; a < FMO_CARTESIAN(la); a++)
            for (int b = 0; b < FMO_CARTESIAN(lb); b++)
                for (int n = 0; n < FMO_HERMITE_COUNT(la + lb); n++) {
                    const signed char *A = fmo_hermite_term[FMO_HERMITE_COUNT(la - 1) + a];
                    const signed char *B = fmo_hermite_term[FMO_HERMITE_COUNT(lb - 1) + b];
                    double term = FMO_FAR_CHARGE * prim[FMO_CPU_PRIM_K];
                    for (int x = 0; x < 3; x++)
                        term *= fmo_hermite_term[n][x] <= A[x] + B[x]
                                    ? E[x][A[x]][B[x]][fmo_hermite_term[n][x]]
                                    : 0.0;
                    sum[a * FMO_CARTESIAN(lb) + b][n] += term;
                }
    }
    item->reach = sqrt(item->spread * fmo_box_T(list->prim_bounds[q] / cutoff));
    *moment = 0.0;
    for (int ab = 0; ab < fmo_pair_products(c, 0); ab++) {
        double all = 0.0;
        for (int n = 0; n < FMO_HERMITE_COUNT(la + lb); n++) all += fabs(sum[ab][n]);
        *moment = fmax(*moment, all);
    }
}

/* Of each box, from its leaves upwards. */
static void find_largest(const fmo_cpu_pairs *pairs, fmo_cpu_far *far)
{
    const fmo_boxes *boxes = &far->boxes;
    for (int b = boxes->num - 1; b >= 0; b--) {
        const fmo_box *box = &boxes->box[b];
        double bound = 0.0, moment = 0.0;
        for (int n = box->begin; box->leaf >= 0 && n < box->end; n++) {
            const int item = boxes->item[n];
            int c = 0;
            while (item >= far->first[c + 1]) c++;
            bound = fmax(bound, pairs->list[c].prim_bounds[item - far->first[c]]);
            moment = fmax(moment, far->moment[item]);
        }
        for (int half = 0; box->leaf < 0 && half < 2; half++) {
            bound = fmax(bound, far->largest_bound[box->child + half]);
            moment = fmax(moment, far->largest_moment[box->child + half]);
        }
        far->largest_bound[b] = bound;
        far->largest_moment[b] = moment;
    }
}

void fmo_cpu_far_free(fmo_cpu_far *far)
{
    fmo_boxes_free(&far->boxes);
    free(far->moment);
    free(far->largest_bound);
    free(far->largest_moment);
    memset(far, 0, sizeof *far);
}

/* ---- a build -------------------------------------------------------------------------------- */

/* A list that grows. */
typedef struct int_list {
    int num, room;
    int *at;
} int_list;

static int append(int_list *list, int value)
{
    if (list->num == list->room) {
        const int room = list->room ? 2 * list->room : 32;
        int *const more = realloc(list->at, (size_t)room * sizeof *more);
        if (!more) return 0;
        list->at = more;
        list->room = room;
    }
    list->at[list->num++] = value;
    return 1;
}

typedef struct meeting_list {
    int num, room;
    fmo_box_meeting *at;
} meeting_list;

static int append_meeting(meeting_list *list, int box, int order)
{
    if (list->num == list->room) {
        const int room = list->room ? 2 * list->room : 256;
        fmo_box_meeting *const more = realloc(list->at, (size_t)room * sizeof *more);
        if (!more) return 0;
        list->at = more;
        list->room = room;
    }
    list->at[list->num++] = (fmo_box_meeting){box, order};
    return 1;
}

/* What all threads of a build work with. Without expansions they only look who is near. */
typedef struct far_job {
    const fmo_cpu_far *far;
    const fmo_cpu_far_input *in;
    fmo_box_view view;
    fmo_box_load *load; /* [box] */
    int_list *open;     /* [box] boxes that the box's children have to look at */
    fmo_cpu_far_build *to;
    int failed;
} far_job;

/* Of the pairs of a leaf, class by class: their items begin to end of boxes.item. */
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

/* Multipoles and load of a leaf. */
static void collect_leaf(far_job *j, int b)
{
    const fmo_box *box = &j->far->boxes.box[b];
    double *const to = j->view.multipole ? j->view.multipole + (size_t)b * j->view.stride : NULL;
    fmo_box_load load = {j->far->largest_bound[b], 0.0, j->far->largest_moment[b], 0.0};
    int c = 0;
    for (int begin = box->begin, end; begin < box->end; begin = end) {
        end = next_class(j, box, begin, &c);
        const fmo_far_leaf leaf = leaf_of(j, box, begin, end, c);
        const size_t of_density = (size_t)leaf.list->num * (size_t)fmo_cpu_stride(c);
        for (int d = 0; to && d < j->view.densities; d++)
            j->far->kernels->collect[c](&leaf, j->in->density[c] + (size_t)d * of_density,
                                        to + (size_t)d * j->view.size);
        for (int n = begin; n < end; n++) {
            const int item = j->far->boxes.item[n], q = item - j->far->first[c];
            const double weight = j->in->weight, D = to ? j->in->largest[c][q] : weight;
            /* as screening counts it */
            load.weighted = fmax(load.weighted, 4.0 * D * leaf.list->prim_bounds[q]);
            load.charge += D / weight * j->far->moment[item];
        }
    }
    j->load[b] = load;
}

static void add_loads(far_job *j, int b)
{
    const fmo_box *box = &j->far->boxes.box[b];
    const fmo_box_load *one = &j->load[box->child], *two = one + 1;
    j->load[b] = (fmo_box_load){j->far->largest_bound[b], fmax(one->weighted, two->weighted),
                                j->far->largest_moment[b], one->charge + two->charge};
}

/* Boxes whose potential is this share's business: those below one of its boxes of a level with
 * some for everybody, and all above. */
static int is_mine(const far_job *j, int b)
{
    const fmo_boxes *boxes = &j->far->boxes;
    int level = 0, own = b;
    if (j->in->shares < 2) return 1;
    while (level + 1 < boxes->level_num &&
           boxes->level[level + 1] - boxes->level[level] < 8 * j->in->shares)
        level++;
    while (own >= boxes->level[level + 1]) own = boxes->box[own].parent;
    /* leaves above that level belong to somebody, too */
    if (own < boxes->level[level] && boxes->box[own].leaf < 0) return 1;
    return own % j->in->shares == j->in->share;
}

/* A thread's lists. */
typedef struct scratch {
    int_list stack;
    meeting_list meetings;
} scratch;

static int by_order(const void *x, const void *y)
{
    const fmo_box_meeting *a = x, *b = y;
    if (a->order != b->order) return a->order > b->order ? -1 : 1;
    return (a->box > b->box) - (a->box < b->box);
}

/* Box b and those that its parent left open: who meets, who is near, whom its children look at. */
static int settle_box(far_job *j, int b, scratch *s)
{
    const fmo_box *boxes = j->far->boxes.box, *box = &boxes[b];
    const int_list *given = box->parent >= 0 ? &j->open[box->parent] : NULL;
    const int mine = is_mine(j, b);
    fmo_cpu_near *near = box->leaf >= 0 ? &j->to->near[box->leaf] : NULL;
    int good = 1;
    s->meetings.num = s->stack.num = 0;
    if (!given) good = append(&s->stack, b);
    for (int n = given ? given->num - 1 : -1; good && n >= 0; n--)
        good = append(&s->stack, given->at[n]);
    while (good && s->stack.num) {
        const int other = s->stack.at[--s->stack.num];
        int order;
        if (fmo_boxes_far(box, &j->load[b], &boxes[other], &j->load[other], j->in->cutoff,
                          &order)) {
            if (mine && j->view.potential) good = append_meeting(&s->meetings, other, order);
        } else if (near && boxes[other].leaf >= 0) {
            if (near->num == near->room) {
                const int room = near->room ? 2 * near->room : 32;
                int *const more = realloc(near->leaf, (size_t)room * sizeof *more);
                good = more != NULL;
                if (!good) break;
                near->leaf = more;
                near->room = room;
            }
            near->leaf[near->num++] = boxes[other].leaf;
        } else if (boxes[other].leaf < 0 && (near || fmo_box_larger(boxes, other, b))) {
            good =
                append(&s->stack, boxes[other].child + 1) && append(&s->stack, boxes[other].child);
        } else {
            good = append(&j->open[b], other);
        }
    }
    if (!good) return 0;
    if (!j->view.potential) return 1;
    qsort(s->meetings.at, (size_t)s->meetings.num, sizeof *s->meetings.at, by_order);
    j->far->box_kernels->meet(&j->view, b, s->meetings.at, s->meetings.num);
#pragma omp atomic
    j->to->meetings += s->meetings.num;
    return 1;
}

/* X^J of the pairs of a leaf. */
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

/* All of it, by each thread of a team. */
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
            if (j->view.multipole)
                j->far->box_kernels->up(&j->view, b, b + width < end ? b + width : end);
#pragma omp for schedule(static)
        for (int b = begin; b < end; b += 2) add_loads(j, boxes->box[b].parent);
    }
    for (int level = 0; level < boxes->level_num; level++) {
        const int begin = boxes->level[level], end = boxes->level[level + 1];
        if (level > 0 && j->view.potential) {
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
    for (int leaf = 0; leaf < (j->view.potential ? boxes->leaf_num : 0); leaf++)
        give_leaf(j, boxes->of_leaf[leaf]);
    free(s.stack.at);
    free(s.meetings.at);
}

/* Arrays of a job. */
static int begin_job(far_job *j, int with_expansions)
{
    const size_t boxes = (size_t)j->far->boxes.num;
    j->load = calloc(boxes + 1, sizeof *j->load);
    j->open = calloc(boxes + 1, sizeof *j->open);
    j->to->near = calloc((size_t)j->far->boxes.leaf_num + 1, sizeof *j->to->near);
    if (with_expansions) {
        j->view.multipole = calloc(boxes * j->view.stride + 1, sizeof(double));
        j->view.potential = calloc(boxes * j->view.stride + 1, sizeof(double));
        if (!j->view.multipole || !j->view.potential) return 0;
    }
    return j->load && j->open && j->to->near;
}

static void end_job(far_job *j)
{
    for (int b = 0; j->open && b < j->far->boxes.num; b++) free(j->open[b].at);
    free(j->open);
    free(j->load);
    free(j->view.multipole);
    free(j->view.potential);
}

static fmo_status no_memory(const fmo_cpu_far *far, fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the multipoles of %d boxes",
                         far->boxes.num);
}

/* Doubles of X^J. */
static size_t sums_size(const fmo_cpu_pairs *pairs, size_t densities)
{
    size_t size = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        size += densities * (size_t)pairs->list[c].num * (size_t)fmo_cpu_stride(c);
    return size;
}

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
    if (begin_job(&j, 1) && to->memory) {
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
    return no_memory(far, err);
}

void fmo_cpu_far_build_free(const fmo_cpu_far *far, fmo_cpu_far_build *build)
{
    for (int l = 0; build->near && l < far->boxes.leaf_num; l++) free(build->near[l].leaf);
    free(build->near);
    free(build->memory);
    memset(build, 0, sizeof *build);
}

/* ---- what a plan wants to know before there is a density --------------------------------------
 */

/* Who is near, with densities of 1 everywhere. */
static fmo_status survey(const fmo_cpu_pairs *pairs, double weight, double cutoff, int threads,
                         fmo_cpu_far *far, fmo_error *err)
{
    const fmo_cpu_far_input input = {
        .pairs = pairs, .weight = weight, .cutoff = cutoff, .threads = threads, .shares = 1};
    const double leaves = far->boxes.leaf_num;
    fmo_cpu_far_build to = {NULL};
    far_job j = {.far = far, .in = &input, .view = {.boxes = &far->boxes}, .to = &to};
    if (begin_job(&j, 0)) {
#pragma omp parallel num_threads(threads)
        run(&j);
        for (int l = 0; l < far->boxes.leaf_num; l++) far->near_num += (size_t)to.near[l].num;
        for (int b = 0; b < far->boxes.num; b++) far->open += (size_t)j.open[b].num;
        far->near_share = leaves > 0 ? (double)far->near_num / (leaves * leaves) : 1.0;
    } else {
        j.failed = 1;
    }
    end_job(&j);
    fmo_cpu_far_build_free(far, &to);
    return j.failed ? no_memory(far, err) : FMO_OK;
}

size_t fmo_cpu_far_bytes(const fmo_cpu_far *far, const fmo_cpu_pairs *pairs, size_t densities)
{
    const size_t size = 2 * FMO_HARMONIC_TERMS(FMO_BOX_ORDER_MAX) * sizeof(double);
    const size_t boxes = (size_t)far->boxes.num;
    return boxes * (2 * densities * size + sizeof(fmo_box_load) + sizeof(int_list)) +
           (size_t)far->boxes.leaf_num * sizeof(fmo_cpu_near) +
           (far->near_num + far->open) * sizeof(int) + sums_size(pairs, densities) * sizeof(double);
}

fmo_status fmo_cpu_far_make(const fmo_cpu_pairs *pairs, double weight, double cutoff, int threads,
                            fmo_cpu_far *far, fmo_error *err)
{
    int num = 0;
    memset(far, 0, sizeof *far);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        far->first[c] = num;
        num += pairs->list[c].num;
    }
    far->first[FMO_PAIR_CLASS_COUNT] = num;
    fmo_box_item *item = malloc(((size_t)num + 1) * sizeof *item);
    far->moment = malloc(((size_t)num + 1) * sizeof *far->moment);
    int good = item && far->moment;
    for (int c = 0; good && c < FMO_PAIR_CLASS_COUNT; c++)
        for (int q = 0; q < pairs->list[c].num; q++)
            describe(&pairs->list[c], c, q, cutoff, &item[far->first[c] + q],
                     &far->moment[far->first[c] + q]);
    good = good && fmo_boxes_make(item, num, fmo_tuning_cpu_far_leaf, &far->boxes, err) == FMO_OK;
    if (good) {
        const size_t boxes = (size_t)far->boxes.num + 1;
        far->largest_bound = malloc(boxes * sizeof *far->largest_bound);
        far->largest_moment = malloc(boxes * sizeof *far->largest_moment);
        good = far->largest_bound && far->largest_moment;
        far->bytes = far->boxes.bytes + ((size_t)num + 2 * boxes) * sizeof *far->moment;
    }
    free(item);
    if (!good) {
        fmo_cpu_far_free(far);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for boxes of %d pairs", num);
    }
    find_largest(pairs, far);
    make_derivatives(far);
    far->box_kernels = FMO_VECTOR_TABLE(fmo_box_kernels);
    far->kernels = FMO_VECTOR_TABLE(fmo_far_kernels);
    const fmo_status status = survey(pairs, weight, cutoff, threads, far, err);
    if (status != FMO_OK) fmo_cpu_far_free(far);
    return status;
}
