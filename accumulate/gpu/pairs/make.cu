/* Makes the SP shell pairs of one plan, or of several together, on the GPU
 * (docs/explanation/gpu/plans.md). Shells are copied to the GPU and sizes back; the lists stay in
 * the layout of types.cuh. This is the host's part, the kernels are in make.cuh. Segments are found
 * in the order of SP shells, so that a stable sort by length and bound completes the order
 * (rules/pair_order.h). */
#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/pairs/make.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace {

/* The state while lists are made for some plans, with two pieces of GPU memory: `up`, which is
 * filled in on the host, and `work`. */
typedef struct making {
    fmo_fock_plan *const *plan;
    int num;
    fmo_gpu_device *device; /* that of the first plan, whose stream is used */
    char *up, *up_at;       /* host; device */
    size_t up_bytes, used;
    void *work; /* device */
    size_t work_bytes;
    molecule *of;
    row *rows;
    int row_num;
    int *depth;
    const int *order[FMO_PLANS_TOGETHER]; /* shells of each plan by SP shells: s, then p */
    target *to;
    row_size *sizes; /* host */
    arguments args;
} making;

/* Reserves n elements of `up`; returns their host address and sets *on_device. */
template <class T> T *put(making *m, size_t n, T **on_device)
{
    T *const at = (T *)(m->up + m->used);
    *on_device = (T *)(m->up_at + m->used);
    m->used += (n * sizeof(T) + 255) / 256 * 256;
    return at;
}

/* Number of s and p shells. */
int low_l_shells(const fmo_basis *b)
{
    int num = 0;
    for (int l = 0; l < FMO_SHELL_LOW_L_COUNT; l++) num += b->shell_num_l[l];
    return num;
}

/* Number of shells i (side 0) or j of a class; in a class whose pairs are contained in those of
 * another class, only shells without partner. */
int shells_of(const fmo_gpu_state *g, const fmo_basis *b, int pair_class, int side)
{
    return fmo_pair_including(pair_class) != FMO_PAIR_NONE
               ? g->functions.single_s
               : b->shell_num_l[fmo_pair_ang_mom(pair_class, side)];
}

/* Number of shells j of a row: as few as a warp processes at a time, but so that a shell i with
 * `prims` primitives has at most ROW_PIECES rows. */
int piece_of(int shells, int prims)
{
    const int pairs = 32 / row_width(prims), row_pairs = pairs * ROW_PIECES;
    return pairs * ((shells + row_pairs - 1) / row_pairs);
}

/* Upper limit of the number of rows of a class. */
size_t max_rows(const fmo_gpu_state *g, const fmo_basis *b, int pair_class)
{
    return shells_of(g, b, pair_class, 1) ? (size_t)shells_of(g, b, pair_class, 0) * ROW_PIECES : 0;
}

/* Fills in the shells of plan k, their primitives and their order by SP shells.
 * partner: work space, [shells]. */
void put_molecule(making *m, int k, int *partner)
{
    const fmo_fock_plan *const plan = m->plan[k];
    const fmo_basis *const b = plan->basis;
    const fmo_gpu_functions *const f = &plan->gpu->functions;
    const int shells = low_l_shells(b), s_num = b->shell_num_l[0];
    molecule *const mol = &m->of[k];
    gpu_shell *shell, *shell_at;
    double *exponent, *exponent_at, *coefficient, *coefficient_at;
    int *order, *order_at;
    shell = put(m, (size_t)shells, &shell_at);
    exponent = put(m, (size_t)b->prim_num, &exponent_at);
    coefficient = put(m, (size_t)b->prim_num, &coefficient_at);
    order = put(m, (size_t)shells, &order_at);
    fmo_sp_partners(b, partner);
    memcpy(exponent, b->exponent, (size_t)b->prim_num * sizeof *exponent);
    memcpy(coefficient, b->coefficient, (size_t)b->prim_num * sizeof *coefficient);
    int *const p_order = order + s_num;
    m->order[k] = order;
    for (int i = 0; i < shells; i++) {
        const fmo_shell *const from = &b->shell[i];
        gpu_shell *const to = &shell[i];
        memset(to, 0, sizeof *to);
        memcpy(to->centre, from->centre, sizeof to->centre);
        to->smallest = to->largest = b->exponent[from->prim_begin];
        for (int p = from->prim_begin + 1; p < from->prim_begin + from->prim_num; p++) {
            to->smallest = fmin(to->smallest, b->exponent[p]);
            to->largest = fmax(to->largest, b->exponent[p]);
        }
        to->prim_begin = from->prim_begin;
        to->prim_num = from->prim_num;
        to->partner = partner[i];
        to->sp_shell = f->sp_shell_of[i];
        to->first = fmo_gpu_first_function(f, b, i);
        if (i >= s_num)
            p_order[to->sp_shell - f->single_s] = i;
        else if (to->partner < 0)
            order[to->sp_shell] = i;
    }
    for (int p = 0, s = f->single_s; p < shells - s_num; p++)
        if (partner[p_order[p]] >= 0) order[s++] = partner[p_order[p]];
    mol->shell = shell_at;
    mol->exponent = exponent_at;
    mol->coefficient = coefficient_at;
    mol->order[0] = order_at;
    mol->order[1] = order_at + s_num;
    mol->threshold = fmo_shell_pairs_threshold(&plan->pairs);
}
static_assert(FMO_SHELL_LOW_L_COUNT == 2, "s shells, then p shells");

/* Fills in the rows of plan k, class by class. */
void put_rows(making *m, int k)
{
    const fmo_fock_plan *const plan = m->plan[k];
    const fmo_basis *const b = plan->basis;
    const int *const order = m->order[k], *const p_order = order + b->shell_num_l[0];
    for (int c = 0; c < CLASSES; c++) {
        const int num = shells_of(plan->gpu, b, c, 0), others = shells_of(plan->gpu, b, c, 1);
        const int *const first = fmo_pair_ang_mom(c, 0) ? p_order : order;
        for (int n = 0; n < num; n++) {
            const int piece = piece_of(others, b->shell[first[n]].prim_num);
            for (int begin = 0; begin < others; begin += piece) {
                const int end = begin + piece < others ? begin + piece : others;
                const row own = {k, c, first[n], begin, end, 0, 0};
                m->rows[m->row_num++] = own;
            }
        }
    }
}

/* Returns the bytes of `up` and sets the upper limit of the number of rows. */
size_t measure(const making *m, int *rows)
{
    size_t bytes = 0, all = 0;
    *rows = 0;
    for (int k = 0; k < m->num; k++) {
        const fmo_basis *const b = m->plan[k]->basis;
        const size_t shells = (size_t)low_l_shells(b), prims = (size_t)b->prim_num;
        bytes += shells * (sizeof(gpu_shell) + sizeof(int)) + 2 * prims * sizeof(double) + 4 * 256;
        for (int c = 0; c < CLASSES; c++) all += max_rows(m->plan[k]->gpu, b, c);
    }
    *rows = (int)all;
    bytes += (size_t)m->num * (sizeof(molecule) + sizeof(int) + CLASSES * sizeof(target)) +
             all * sizeof(row) + 4 * 256;
    return (bytes + 255) / 256 * 256;
}

/* Number of blocks of of_block elements. */
int blocks_for(int num, int of_block)
{
    return (num + of_block - 1) / of_block;
}

/* Copies the shells to the GPU, runs the counting pass and copies the sizes of the rows back. */
fmo_status count_pairs(making *m, fmo_error *err)
{
    int rows = 0, shells = 1;
    const cudaStream_t stream = m->device->stream;
    m->up_bytes = measure(m, &rows);
    for (int k = 0; k < m->num; k++)
        if (m->plan[k]->basis->shell_num > shells) shells = m->plan[k]->basis->shell_num;
    const size_t size_bytes = ((size_t)rows + 1) * sizeof(row_size);
    int *const partner = (int *)malloc((size_t)shells * sizeof *partner);
    m->up = (char *)calloc(1, m->up_bytes);
    m->sizes = (row_size *)malloc(size_bytes);
    if (!partner || !m->up || !m->sizes) {
        free(partner);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d rows of shell pairs", rows);
    }
    const fmo_status status =
        fmo_gpu_alloc(m->device, "shells", m->up_bytes + size_bytes, (void **)&m->up_at, err);
    if (status == FMO_OK) {
        molecule *of_at;
        m->of = put(m, (size_t)m->num, &of_at);
        m->depth = put(m, (size_t)m->num, (int **)&m->args.depth);
        m->to = put(m, (size_t)m->num * CLASSES, (target **)&m->args.to);
        for (int k = 0; k < m->num; k++) put_molecule(m, k, partner);
        m->rows = put(m, 0, &m->args.rows); /* the last: it may be shorter */
        for (int k = 0; k < m->num; k++) put_rows(m, k);
        m->used += (size_t)m->row_num * sizeof *m->rows;
        m->args.of = of_at;
        m->args.row_num = m->row_num;
        m->args.sizes = (row_size *)(m->up_at + m->up_bytes);
    }
    free(partner);
    if (status != FMO_OK || !m->row_num) return status;
    FMO_GPU_CHECK(fmo_gpu_send(m->up_at, m->up, m->used, stream), "copying shells", err);
    process_rows<false><<<blocks_for(m->row_num, ROW_WARPS), 32 * ROW_WARPS, 0, stream>>>(m->args);
    FMO_GPU_CHECK(cudaGetLastError(), "counting shell pairs", err);
    FMO_GPU_CHECK(
        fmo_gpu_bring(m->sizes, m->args.sizes, (size_t)m->row_num * sizeof *m->sizes, stream),
        "counting shell pairs", err);
    return FMO_OK;
}

/* Sums the numbers of primitives of a plan's rows and chooses the length of its segments, which
 * follows from them; returns the choice (depth_of). rows: those of the plan. */
int find_depth(fmo_gpu_state *g, const row *rows, const row_size *sizes, int num)
{
    for (int n = 0; n < num; n++) g->prim_num[rows[n].pair_class] += (int64_t)sizes[n].records;
    fmo_gpu_count_primitive_quartets(g);
    const int depth = fmo_gpu_contraction_depth(g->primitives);
    for (int d = 0; d < DEPTHS; d++)
        if (depth_of(d) == depth) return d;
    return 0;
}

/* Sets the numbers of pairs of a plan and its work; *bytes: the memory that the plan will
 * allocate. */
fmo_status size_plan(const fmo_fock_plan *plan, const row *rows, const row_size *sizes, int num,
                     int d, size_t *bytes, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    size_t segments[CLASSES] = {};
    for (int n = 0; n < num; n++) segments[rows[n].pair_class] += sizes[n].segments[d];
    for (int c = 0; c < CLASSES; c++) {
        const size_t values = (size_t)(g->prim_num[c] + 1) * FMO_GPU_PAIR_FIELDS;
        if (values / 2 > UINT32_MAX || g->functions.nao > UINT16_MAX ||
            segments[c] > FMO_GPU_PAIRS_MAX)
            return fmo_error_set(err, FMO_ERR_MEMORY,
                                 "%zu pairs of shells, %lld of primitives, %d functions are more "
                                 "than the GPU's indices hold",
                                 segments[c], (long long)g->prim_num[c], g->functions.nao);
        g->pairs[c].num = (int)segments[c];
        g->arrays.sums_size += segments[c] * (size_t)fmo_pair_products(c, g->functions.sp);
    }
    const fmo_status status = fmo_gpu_make_work(plan, g, err);
    if (status == FMO_OK) *bytes = fmo_gpu_state_bytes(plan);
    return status;
}

/* Allocates the arrays of one class of a plan and describes them to the kernels. */
fmo_status place_list(fmo_gpu_state *g, int pair_class, target *to, fmo_error *err)
{
    const int sp = g->functions.sp;
    fmo_gpu_pairs *const pairs = &g->pairs[pair_class];
    const size_t records = (size_t)g->prim_num[pair_class];
    const fmo_gpu_list_arrays lists = fmo_gpu_find_list_arrays(
        pairs, pair_class, (size_t)pairs->num, (records + 1) * FMO_GPU_PAIR_FIELDS, sp);
    const fmo_status status =
        fmo_gpu_place_arrays(&g->device, "shell pairs", lists.array, lists.num, err);
    if (status != FMO_OK) return status;
    to->num = pairs->num;
    to->tiles = pairs->num / FMO_GPU_TILE_PAIRS + 1;
    to->shift = fmo_pair_functions(pair_class, 0, sp) - fmo_pair_functions(pair_class, 0, 0);
    to->records = records;
    to->first = (int4 *)pairs->first;
    to->screen = pairs->screen;
    to->prim_at = (unsigned *)pairs->prim_at;
    to->record_at = (unsigned *)pairs->record_at;
    to->tile_bound = (float *)pairs->tile_bound;
    to->centre = (double *)pairs->centre;
    to->prim = (double2 *)pairs->prim;
    to->record = (double2 *)pairs->record;
    to->shell_bound = (unsigned long long *)g->arrays.shell_bound;
    return FMO_OK;
}

/* Allocates the pairs' memory of a plan, which is first used on the given stream. No pairs are made
 * for a plan for which this fails. */
fmo_status place_plan(const fmo_fock_plan *plan, cudaStream_t stream, target *to, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    const size_t bytes = (size_t)g->functions.sp_shells * sizeof *g->arrays.shell_bound;
    fmo_status status = FMO_OK;
    if (fmo_scatter_sums_integers(plan->options.scatter))
        status = fmo_gpu_alloc(&g->device, "Schwarz bounds", bytes, (void **)&g->arrays.shell_bound,
                               err);
    for (int c = 0; c < CLASSES && status == FMO_OK; c++) status = place_list(g, c, &to[c], err);
    if (status != FMO_OK) return status;
    if (g->device.placed)
        FMO_GPU_CHECK(cudaStreamWaitEvent(stream, g->device.placed, 0), "shell pairs", err);
    if (g->arrays.shell_bound)
        FMO_GPU_CHECK(cudaMemsetAsync(g->arrays.shell_bound, 0, bytes, stream), "Schwarz bounds",
                      err);
    return FMO_OK;
}

/* Runs the second pass, bounds, sorting and layout. records, segments: those of all plans; largest:
 * the largest number of segments of a class. */
fmo_status fill(making *m, size_t records, size_t segments, int largest, fmo_error *err)
{
    arguments *const a = &m->args;
    const cudaStream_t stream = m->device->stream;
    const size_t counts = (size_t)m->num * CLASSES * (FMO_GPU_DEPTH_MAX + 1);
    unsigned *key_out = NULL, *order_out = NULL;
    char *temporary = NULL;
    size_t temporary_bytes = 0;
    int key_bits = DEPTH_BITS + OCTET_BITS;
    while (m->num * CLASSES > 1 << (key_bits - DEPTH_BITS - OCTET_BITS)) key_bits++;
    FMO_GPU_CHECK(cub::DeviceRadixSort::SortPairs(NULL, temporary_bytes, a->key, key_out, a->order,
                                                  order_out, (int)segments, 0, key_bits, stream),
                  "sorting shell pairs", err);
    const fmo_gpu_array arrays[] = {
        {records * sizeof *a->bound, (void **)&a->bound, NULL},
        {records * FMO_GPU_PAIR_TWOS * sizeof *a->record, (void **)&a->record, NULL},
        {segments * sizeof *a->segments, (void **)&a->segments, NULL},
        {segments * sizeof *a->key, (void **)&a->key, NULL},
        {segments * sizeof *a->key, (void **)&key_out, NULL},
        {segments * sizeof *a->order, (void **)&a->order, NULL},
        {segments * sizeof *a->order, (void **)&order_out, NULL},
        {segments * sizeof *a->segment_bound, (void **)&a->segment_bound, NULL},
        {counts * sizeof *a->count, (void **)&a->count, NULL},
        {temporary_bytes, (void **)&temporary, NULL},
    };
    const int num = sizeof arrays / sizeof *arrays;
    m->work_bytes = fmo_gpu_arrays_bytes(arrays, num);
    /* in memory that the first plan will use later, if that suffices */
    void *memory = fmo_gpu_stock_left(m->device, m->work_bytes);
    if (!memory) {
        const fmo_status status = fmo_gpu_alloc_temporary(
            m->device, "shell pairs that are being made", m->work_bytes, &m->work, err);
        if (status != FMO_OK) return status;
        memory = m->work;
    }
    fmo_gpu_put_arrays(memory, arrays, num);
    FMO_GPU_CHECK(fmo_gpu_boys(&a->boys), "the table of the Boys function", err);
    FMO_GPU_CHECK(fmo_gpu_send(m->up_at, m->up, m->used, stream), "copying shells", err);
    FMO_GPU_CHECK(cudaMemsetAsync(a->count, 0, counts * sizeof *a->count, stream),
                  "making shell pairs", err);
    if (m->row_num)
        process_rows<true><<<blocks_for(m->row_num, ROW_WARPS), 32 * ROW_WARPS, 0, stream>>>(*a);
    FMO_GPU_CHECK(cudaGetLastError(), "making shell pairs", err);
    const dim3 bounds(blocks_for(largest, SEGMENT_THREADS), m->num * CLASSES);
    bound_segments<<<bounds, SEGMENT_THREADS, 0, stream>>>(*a);
    FMO_GPU_CHECK(cudaGetLastError(), "bounds of shell pairs", err);
    FMO_GPU_CHECK(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, a->key, key_out,
                                                  a->order, order_out, (int)segments, 0, key_bits,
                                                  stream),
                  "sorting shell pairs", err);
    a->order = order_out;
    const dim3 lists(blocks_for(largest + FMO_GPU_TILE_PAIRS, LAY_THREADS), m->num * CLASSES);
    lay_out<<<lists, LAY_THREADS, 0, stream>>>(*a);
    FMO_GPU_CHECK(cudaGetLastError(), "laying out shell pairs", err);
    return FMO_OK;
}

/* Sizes and allocates the plans from the sizes of their rows, tells each row where its segments and
 * primitives begin, and runs the remaining kernels. A plan for which memory does not suffice is
 * left out, with its error in errs. */
fmo_status make_lists(making *m, fmo_error *errs, fmo_error *err)
{
    fmo_gpu_device *stocked[FMO_PLANS_TOGETHER];
    size_t bytes[FMO_PLANS_TOGETHER], records = 0, segments = 0;
    size_t left = m->plan[0]->gpu->available; /* free bytes of the GPU's memory */
    int end[FMO_PLANS_TOGETHER], choice[FMO_PLANS_TOGETHER], largest = 1, kept_rows = 0, good = 0;
    for (int k = 0, begin = 0; k < m->num; begin = end[k++]) {
        for (end[k] = begin; end[k] < m->row_num && m->rows[end[k]].molecule == k;) end[k]++;
        const int num = end[k] - begin;
        choice[k] = find_depth(m->plan[k]->gpu, m->rows + begin, m->sizes + begin, num);
        m->depth[k] = depth_of(choice[k]);
        m->plan[k]->gpu->available = left;
        if (size_plan(m->plan[k], m->rows + begin, m->sizes + begin, num, choice[k], &bytes[good],
                      &errs[k]) != FMO_OK)
            continue;
        left = left > bytes[good] ? left - bytes[good] : 1;
        stocked[good++] = &m->plan[k]->gpu->device;
    }
    if (good) fmo_gpu_alloc_stock(stocked, bytes, good);
    for (int k = 0; k < m->num; k++) {
        target *const to = &m->to[(size_t)k * CLASSES];
        if (!m->plan[k]->gpu->device.stock) m->plan[k]->gpu->available = 0; /* queried again */
        if (errs[k].status != FMO_OK ||
            place_plan(m->plan[k], m->device->stream, to, &errs[k]) != FMO_OK) {
            memset(to, 0, CLASSES * sizeof *to);
            continue;
        }
        const int begin = k ? end[k - 1] : 0;
        for (int n = begin; n < end[k]; n++) {
            row *const own = &m->rows[kept_rows];
            *own = m->rows[n];
            own->segment = (unsigned)segments;
            own->record = (unsigned)records;
            if (n == begin || own->pair_class != own[-1].pair_class)
                to[own->pair_class].segment = (unsigned)segments;
            segments += m->sizes[n].segments[choice[k]];
            records += m->sizes[n].records;
            kept_rows++;
        }
        for (int c = 0; c < CLASSES; c++)
            if (to[c].num > largest) largest = to[c].num;
    }
    m->row_num = m->args.row_num = kept_rows;
    if (records > UINT32_MAX || segments > INT_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "%zu pairs of shells, %zu of primitives are more than the GPU's "
                             "indices hold",
                             segments, records);
    return fill(m, records, segments, largest, err);
}

} // namespace

/* An error of all plans together is reported for each plan that has none of its own. */
void fmo_gpu_make_sp_pairs(fmo_fock_plan *const *plan, int num, fmo_error *errs)
{
    making m = {};
    fmo_error err = {FMO_OK, ""};
    m.plan = plan;
    m.num = num;
    m.device = &plan[0]->gpu->device;
    fmo_status status = count_pairs(&m, &err);
    if (status == FMO_OK) status = make_lists(&m, errs, &err);
    /* temporary memory may be freed only when no kernel uses it any longer */
    if (status == FMO_OK) {
        const cudaError_t code = cudaStreamSynchronize(m.device->stream);
        if (code != cudaSuccess) status = fmo_gpu_error(code, "making shell pairs", &err);
    }
    fmo_gpu_free_temporary(m.device, m.work, m.work_bytes);
    if (m.device->pooled) fmo_gpu_free(m.device, m.up_at);
    free(m.up);
    free(m.sizes);
    for (int k = 0; k < num; k++)
        if (status != FMO_OK && errs[k].status == FMO_OK) errs[k] = err;
}
