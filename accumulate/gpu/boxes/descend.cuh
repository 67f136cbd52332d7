/* The descent of a block through the tree of cells to one of them, which finds the cells that it
 * interacts with and its near leaves. For near.cu and interact.cu alone. */
#ifndef FMO_GPU_BOX_DESCEND_CUH
#define FMO_GPU_BOX_DESCEND_CUH

#include "accumulate/gpu/boxes/interact.h"
#include "accumulate/tuning.h"

namespace {

enum { WARPS = fmo_tuning_gpu_box_warps, THREADS = 32 * WARPS };

/* The state of a block's descent to its target cell. `open` is a stack of undecided pairs: a cell
 * on the path from the root to the target, stored as its level, and any other cell. The threads of
 * the block examine the top entries, one each, so that the stack stays small; when it is nearly
 * full they examine fewer at a time, in the end one by one, which needs no more than two entries
 * for each level (RESERVE). The descent begins with the pairs that the lowest ancestor at a
 * STEPS-th level has left to its children, if they are stored, or else with the root and the root.
 * path: the cells from the root to the target. pushed, found: number of entries that each warp
 * pushes, and that it finds. */
enum {
    STEPS = fmo_tuning_gpu_box_levels,
    DEPTH_BITS = 6,
    BOX_BITS = 32 - DEPTH_BITS,
    DEPTH_MAX = 1 << DEPTH_BITS,
    OPEN = fmo_tuning_gpu_box_stack,
    RESERVE = 2 * DEPTH_MAX + 2
};
static_assert((int)DEPTH_MAX >= (int)FMO_GPU_BOX_LEVELS_MAX, "levels");
static_assert((unsigned)FMO_GPU_BOXES_MAX == 1u << BOX_BITS, "boxes");

typedef struct descent {
    unsigned open[OPEN];
    int path[DEPTH_MAX];
    int pushed[WARPS], found[WARPS];
} descent;

/* The decision for a cell of the path and another cell. LEFT: an ancestor of the target interacts
 * with it, nothing remains to be done; INTERACT: the target interacts with it; NEAR: both are
 * leaves and near; OPENED: undecided, left to the target's children; CUT_OWN, CUT_OTHER: undecided,
 * the cell of the path or the other one is replaced by its children. */
enum { LEFT, INTERACT, NEAR, OPENED, CUT_OWN, CUT_OTHER };

/* Decides on `own`, a cell of the path to `target`, and `other`. Far cells interact, and order[0]
 * becomes the order of the potential in `own`; else the larger is divided, but never the target. */
__device__ __forceinline__ int decide(const fmo_gpu_box_view &v, int own, int other, int target,
                                      int order[2])
{
    if (fmo_boxes_far(&v.box[own], &v.log_load[own], &v.box[other], &v.log_load[other],
                      &v.criterion, order))
        return own == target ? INTERACT : LEFT;
    const bool own_leaf = v.box[own].leaf >= 0, other_leaf = v.box[other].leaf >= 0;
    if (own_leaf && other_leaf) return NEAR;
    if (!other_leaf && (own_leaf || fmo_box_larger(v.box, other, own))) return CUT_OTHER;
    return own == target ? OPENED : CUT_OWN;
}

/* Descends the tree to the target. In each round every thread of the block calls found(what, other,
 * order) for the pair that it has examined (LEFT if it has none); then all call done(value that
 * found returned, whether this is the last round). */
template <class Found, class Done>
__device__ __forceinline__ void descend(const fmo_gpu_box_view &v, int target, descent *w,
                                        const Found &found, const Done &done)
{
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int depth = 0, top = 0, chunk = -1, given = 1, at_depth = 0;
    for (int b = target; v.box[b].parent >= 0; b = v.box[b].parent) depth++;
    if (thread == 0)
        for (int b = target, d = depth; d >= 0; b = v.box[b].parent, d--) w->path[d] = b;
    __syncthreads();
    for (int d = (depth - 1) / STEPS * STEPS; d > 0; d -= STEPS) {
        const int2 opened = v.opened[w->path[d]];
        if (opened.y < 0) continue; /* not stored */
        chunk = opened.x;
        given = opened.y;
        at_depth = d + 1;
        break;
    }
    while (top || given) {
        if (!top) { /* reads the next stored entries, or starts with the pair of two roots */
            top = given < THREADS ? given : (int)THREADS;
            if (thread < top)
                w->open[thread] = (unsigned)at_depth << BOX_BITS |
                                  (chunk < 0 ? 0u : v.open[(size_t)chunk * THREADS + thread]);
            given -= top;
            if (given) chunk = v.next_open[chunk];
            __syncthreads();
        }
        const int capacity = OPEN - RESERVE - top;
        int num = top < THREADS ? top : THREADS;
        if (num > capacity) num = capacity > 1 ? capacity : 1;
        unsigned entry = 0, push[2] = {0, 0};
        int what = LEFT, order[2] = {0, 0}, pushes = 0;
        if (thread < num) {
            entry = w->open[top - num + thread];
            const int at = (int)(entry >> BOX_BITS);
            const unsigned other = entry & (FMO_GPU_BOXES_MAX - 1u);
            what = decide(v, w->path[at], (int)other, target, order);
            if (what == CUT_OWN) {
                push[0] = (unsigned)(at + 1) << BOX_BITS | other;
                pushes = 1;
            }
            if (what == CUT_OTHER) {
                const unsigned child = (unsigned)v.box[other].child;
                push[0] = (unsigned)at << BOX_BITS | child;
                push[1] = push[0] + 1u;
                pushes = 2;
            }
        }
        const unsigned below = (1u << lane) - 1u;
        const unsigned some = __ballot_sync(0xffffffffu, pushes > 0);
        const unsigned two = __ballot_sync(0xffffffffu, pushes > 1);
        if (lane == 0) w->pushed[warp] = __popc(some) + __popc(two);
        const auto what_found = found(what, (int)(entry & (FMO_GPU_BOXES_MAX - 1u)), order[0]);
        __syncthreads();
        int to = top - num + __popc(some & below) + __popc(two & below);
        top -= num;
        for (int k = 0; k < WARPS; k++) {
            if (k < warp) to += w->pushed[k];
            top += w->pushed[k];
        }
        for (int k = 0; k < pushes; k++) w->open[to + k] = push[k];
        done(what_found, !top && !given);
        __syncthreads();
    }
}
static_assert((int)THREADS == (int)FMO_GPU_BOX_CHUNK, "a thread for each of a chunk");

} // namespace

#endif
