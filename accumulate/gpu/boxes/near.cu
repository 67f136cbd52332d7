/* Near leaves of each leaf, tiles of pairs that are near to a leaf, and bounds of these tiles for
 * the screening of exchange; equations: docs/explanation/multipoles.md. Next: boxes.cu, which
 * launches these kernels, and interact.cu. */
#include "accumulate/gpu/boxes/descend.cuh"

namespace {

/* Stores the pairs that cells of one level leave to their children; one block for each cell. */
__global__ void __launch_bounds__(THREADS)
    store_open(const __grid_constant__ fmo_gpu_box_view v, int begin)
{
    __shared__ descent w;
    __shared__ int chunk[2];
    const int b = begin + blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int num = 0, first = -1;
    bool full = false; /* the chunks do not suffice */
    if (v.box[b].leaf >= 0) return;
    descend(
        v, b, &w,
        [&](int what, int other, int) {
            const unsigned those = __ballot_sync(0xffffffffu, what == OPENED);
            if (lane == 0) w.found[warp] = __popc(those);
            if (!(those >> lane & 1u)) return make_int2(0, -1);
            return make_int2(other, __popc(those & ((1u << lane) - 1u)));
        },
        [&](int2 found, bool) {
            int to = num + found.y, after = num;
            for (int k = 0; k < WARPS; k++) {
                if (k < warp) to += w.found[k];
                after += w.found[k];
            }
            /* chunk[0] holds the last entry so far, chunk[1] follows it */
            const int chunks = (num + THREADS - 1) / THREADS;
            const bool more = (after + THREADS - 1) / THREADS > chunks;
            if (more) {
                if (threadIdx.x == 0) {
                    chunk[1] = atomicAdd(v.open_num, 1);
                    if (chunk[1] < v.open_chunks && num && !full) v.next_open[chunk[0]] = chunk[1];
                }
                __syncthreads();
                full |= chunk[1] >= v.open_chunks;
                if (!num) first = chunk[1];
            }
            if (found.y >= 0 && !full)
                v.open[(size_t)chunk[to / THREADS >= chunks ? 1 : 0] * THREADS + to % THREADS] =
                    (unsigned)found.x;
            num = after;
            if (!more) return;
            __syncthreads();
            if (threadIdx.x == 0) chunk[0] = chunk[1];
        });
    if (threadIdx.x == 0) v.opened[b] = make_int2(first, full ? -1 : num);
}

/* If the chunks did not suffice for a level, which of its lists are complete depends on the order
 * of execution. None is used then: whether they suffice does not depend on that order. */
__global__ void drop_open(const __grid_constant__ fmo_gpu_box_view v, int begin, int num)
{
    const int b = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (b<num && * v.open_num> v.open_chunks) v.opened[begin + b] = make_int2(-1, -1);
}

/* Marks the leaves that are near to a leaf; one block for each leaf. */
__global__ void __launch_bounds__(THREADS) find_near(const __grid_constant__ fmo_gpu_box_view v)
{
    __shared__ descent w;
    const int leaf = blockIdx.x;
    unsigned *const row = v.near + (size_t)leaf * v.words;
    descend(
        v, v.of_leaf[leaf], &w,
        [&](int what, int other, int) {
            if (what != NEAR) return 0;
            const int near = v.box[other].leaf;
            atomicOr(&row[near / 32], 1u << near % 32);
            return 0;
        },
        [](int, bool) {});
}

/* Marks the tiles with a pair that is near to a leaf: a block for each leaf, a lane for each
 * tile. */
__global__ void __launch_bounds__(THREADS)
    find_near_tiles(const __grid_constant__ fmo_gpu_box_view v)
{
    const unsigned *const row = v.near + (size_t)blockIdx.x * v.words;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const fmo_gpu_box_pairs &box_pairs = v.of[c];
        unsigned *const to = box_pairs.tile_near + (size_t)blockIdx.x * box_pairs.words;
        for (int tile = threadIdx.x; tile / 32 < box_pairs.words; tile += THREADS) {
            unsigned any = 0;
            for (int k = 0; k < FMO_GPU_TILE_PAIRS && tile < box_pairs.tiles; k++) {
                const int leaf = box_pairs.tile_leaf[(size_t)k * box_pairs.tiles + tile];
                if (leaf >= 0) any |= row[leaf / 32] >> leaf % 32 & 1u;
            }
            const unsigned word = __ballot_sync(0xffffffffu, any != 0);
            if (tile % 32 == 0) to[tile / 32] = word;
        }
    }
}

/* Arguments of find_exchange, for the pairs of a class. */
typedef struct exchange_args {
    fmo_gpu_box_pairs box_pairs;
    const fmo_gpu_screen_data *screen;
    const float *block_max; /* [sp_shells][sp_shells] largest |D| */
    int num, sp_shells;
} exchange_args;

/* Computes the exchange bound of a tile (one block) with each padded SP shell s (one thread): the
 * largest bound of a pair ij times the largest |D_is| or |D_js|. */
__global__ void __launch_bounds__(THREADS) find_exchange(const __grid_constant__ exchange_args a)
{
    __shared__ fmo_gpu_screen_data data[FMO_GPU_TILE_PAIRS];
    const int tile = blockIdx.x, begin = tile * FMO_GPU_TILE_PAIRS;
    const int num = min((int)FMO_GPU_TILE_PAIRS, a.num - begin);
    if ((int)threadIdx.x < num) data[threadIdx.x] = a.screen[begin + threadIdx.x];
    __syncthreads();
    for (int s = threadIdx.x; s < a.sp_shells; s += THREADS) {
        float largest = 0.0f;
        for (int k = 0; k < num; k++) {
            const float x = a.block_max[(size_t)data[k].sp_shell.x * a.sp_shells + s];
            const float y = a.block_max[(size_t)data[k].sp_shell.y * a.sp_shells + s];
            largest = fmaxf(largest, data[k].bound * fmaxf(x, y));
        }
        a.box_pairs.tile_exchange[(size_t)s * a.box_pairs.tiles + tile] =
            largest * (1.0f + 5e-7f); /* rounded up */
    }
}

} // namespace

cudaError_t fmo_gpu_box_near(const fmo_gpu_box_view *v, const fmo_boxes *tree, cudaStream_t stream)
{
    FMO_GPU_TRY(
        cudaMemsetAsync(v->near, 0, (size_t)v->leaves * v->words * sizeof *v->near, stream));
    FMO_GPU_TRY(cudaMemsetAsync(v->open_num, 0, sizeof *v->open_num, stream));
    for (int level = STEPS; level < tree->level_num; level += STEPS) {
        const int begin = tree->level[level], num = tree->level[level + 1] - begin;
        store_open<<<num, THREADS, 0, stream>>>(*v, begin);
        FMO_GPU_TRY(cudaGetLastError());
        drop_open<<<(num + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*v, begin, num);
        FMO_GPU_TRY(cudaGetLastError());
    }
    find_near<<<v->leaves, THREADS, 0, stream>>>(*v);
    FMO_GPU_TRY(cudaGetLastError());
    find_near_tiles<<<v->leaves, THREADS, 0, stream>>>(*v);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_box_exchange(const fmo_gpu_box_pairs *box_pairs, const fmo_gpu_pairs *pairs,
                                 const float *block_max, int sp_shells, cudaStream_t stream)
{
    const exchange_args args = {*box_pairs, pairs->screen, block_max, pairs->num, sp_shells};
    if (!pairs->num) return cudaSuccess;
    find_exchange<<<box_pairs->tiles, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}
