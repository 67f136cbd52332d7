/* Shifts and interactions of the expansions of cells, one cell per SIMD lane; see tree/kernel.h.
 * Compiled once per instruction set, with FMO_SIMD_WIDTH and FMO_BOX_KERNELS (the name of the table
 * below) set by CMake. */
#include "accumulate/tree/kernel.h"

enum { W = FMO_SIMD_WIDTH };
enum { SIZE = 2 * FMO_BOX_TERMS_MAX };

/* out[number][lane] = from[lane][number]; 0 in lanes from `num` on */
static void gather(const double *const *from, int num, int size, fmo_real *out)
{
    for (int t = 0; t < size; t++) {
        double lane[W] = {0};
        for (int l = 0; l < num; l++) lane[l] = from[l][t];
        out[t] = fmo_load(lane);
    }
}

/* Centres of the lanes' first cells relative to their second ones; 1 in lanes from `num` on. */
static void differences(const fmo_boxes *boxes, const int *first, const int *second, int num,
                        fmo_real *x)
{
    double lane[3][W];
    for (int l = 0; l < W; l++)
        for (int k = 0; k < 3; k++)
            lane[k][l] =
                l < num ? boxes->box[first[l]].centre[k] - boxes->box[second[l]].centre[k] : 1.0;
    for (int k = 0; k < 3; k++) x[k] = fmo_load(lane[k]);
}

/* Shifts the multipoles of cells [begin, end) to their parents, or (down) the potentials of the
 * parents to them. */
static void pass(const fmo_box_view *v, int begin, int end, int down)
{
    const int num = end - begin, size = 2 * FMO_HARMONIC_TERMS(v->order);
    double *const expansions = down ? v->potential : v->multipole;
    fmo_real R[SIZE], given[SIZE], made[SIZE], x[3];
    int child[W], parent[W];
    for (int l = 0; l < num; l++) {
        child[l] = begin + l;
        parent[l] = v->boxes->box[begin + l].parent;
    }
    const int *const from = down ? parent : child, *const to = down ? child : parent;
    differences(v->boxes, child, parent, num, x);
    fmo_harmonics_regular(v->order, x[0], x[1], x[2], R);
    for (int d = 0; d < v->densities; d++) {
        double *const of_density = expansions + (size_t)d * v->size;
        const double *own[W];
        for (int l = 0; l < num; l++) own[l] = of_density + (size_t)from[l] * v->stride;
        gather(own, num, size, given);
        memset(made, 0, (size_t)size * sizeof *made);
        if (down)
            fmo_potential_shift(v->order, given, v->order, R, made);
        else
            fmo_multipoles_shift(v->order, given, v->order, R, made);
        for (int l = 0; l < num; l++) {
            double *const sum = of_density + (size_t)to[l] * v->stride;
            for (int t = 0; t < size; t++) sum[t] += made[t][l];
        }
    }
}

static void up(const fmo_box_view *v, int begin, int end)
{
    pass(v, begin, end, 0);
}

static void down(const fmo_box_view *v, int begin, int end)
{
    pass(v, begin, end, 1);
}

/* Adds to the potential of cell `to` that of the multipoles of up to W other cells. */
static void interact(const fmo_box_view *v, int to, const fmo_box_interaction *from, int num)
{
    fmo_real I[SIZE], M[SIZE], alternate[SIZE], sum[SIZE], x[3];
    const int lanes = num < W ? num : W;
    int here[W], there[W], order = 0;
    for (int l = 0; l < lanes; l++) {
        here[l] = to;
        there[l] = from[l].box;
        if (from[l].order > order) order = from[l].order;
    }
    const int size = 2 * FMO_HARMONIC_TERMS(order);
    differences(v->boxes, here, there, lanes, x);
    fmo_harmonics_irregular(order, x[0], x[1], x[2], I);
    for (int d = 0; d < v->densities; d++) {
        const double *multipoles[W];
        for (int l = 0; l < lanes; l++)
            multipoles[l] = v->multipole + (size_t)there[l] * v->stride + (size_t)d * v->size;
        gather(multipoles, lanes, size, M);
        for (int l = 0; l <= order; l++)
            for (int m = 0; m <= l; m++)
                for (int part = 0; part < 2; part++) {
                    const int t = 2 * fmo_harmonic(l, m) + part;
                    alternate[t] = m & 1 ? -M[t] : M[t];
                }
        memset(sum, 0, (size_t)size * sizeof *sum);
        fmo_multipoles_interact(order, M, alternate, I, sum);
        double *own = v->potential + (size_t)to * v->stride + (size_t)d * v->size;
        for (int t = 0; t < size; t++) own[t] += fmo_sum_lanes(sum[t]);
    }
}

static void interact_all(const fmo_box_view *v, int to, const fmo_box_interaction *from, int num)
{
    for (int n = 0; n < num; n += W) interact(v, to, from + n, num - n);
}

const fmo_box_kernels FMO_BOX_KERNELS = {
    .width = W, .up = up, .down = down, .interact = interact_all};
