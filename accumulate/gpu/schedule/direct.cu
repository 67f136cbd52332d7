/* `--mode fused`: per pass one screening kernel, then one quartet kernel a class or, in large
 * systems with far quartets, one for each of its lists; with kept integrals only one quartet kernel
 * a class. All are on one stream, or a class on each. The strategy is a row of
 * FMO_GPU_VARIANT_TABLE; `auto` is decided here. */
#include "accumulate/gpu/schedule/fused.h"
#include "accumulate/gpu/range.h"

#include <math.h>
#include <string.h>

static const fmo_gpu_variant *const variants[] = {
#define ROW(name, ...) &fmo_gpu_variant_##name,
    FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
};

/* The rule of `auto`. Structure first: survivors are listed by bra pair, then by the shells of the
 * ket pair, so that neighbouring lanes share X^J_ij always and rows of X^K in runs, which
 * `segmented` folds at the price of a comparison with the neighbour. Then measured duplication:
 * where the first build issued more than this share of its adds as atomics, there are no runs to
 * fold, and `native` saves the comparison. */
static const double few_runs = 0.8;

/* Copies of X^K and of the pairs' sums under `auto`: adds to few addresses wait for each other in
 * the L2 cache, so that small matrices are given copies until they have as many elements as this.
 * Measured on an H200, docs/performance.md. */
#define AUTO_ELEMENTS   65536.0
#define AUTO_COPIES_MAX 8.0

/* Copies under `replicated`: as many as keep two matrices each within this share of the L2 cache.
 */
#define REPLICA_SHARE 0.5

/* block-shared compares every pair of threads of a block for every add: refused beyond this. */
enum { BLOCK_SHARED_AO_MAX = 128 };

/* Shared memory of a `tile` block besides its rows. */
enum { TILE_STATIC_SHARED = 1024 };

static const fmo_gpu_variant *find_variant(fmo_scatter scatter, fmo_commit commit)
{
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        if (variants[v]->scatter == scatter && variants[v]->commit == commit) return variants[v];
    return NULL;
}

/* What runs for the plan's strategy; `replicated` is native on several copies, and `tile` flushes
 * by native atomics. */
const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan)
{
    const fmo_scatter s = plan->options.scatter;
    return find_variant(s == FMO_SCATTER_REPLICATED || s == FMO_SCATTER_TILE ? FMO_SCATTER_NATIVE
                                                                             : s,
                        plan->options.commit);
}

static void capture(fmo_fock_plan *plan, const fmo_gpu_variant *variant);

/* State, kept integrals and graph: what is done once belongs to the plan, not to the first build.
 * The graph of a plan that is to build in groups is left for its first build alone. */
static fmo_status make_state(fmo_fock_plan *plan, unsigned copies, fmo_error *err)
{
    fmo_status status = fmo_gpu_state_create(plan, copies, err);
    if (status == FMO_OK && plan->options.scatter != FMO_SCATTER_TILE)
        status = fmo_gpu_store(plan, err);
    if (status != FMO_OK || (plan->in_batch && fmo_gpu_joins_groups(plan))) return status;
    capture(plan, fmo_gpu_plan_variant(plan));
    if (plan->gpu->graph) (void)cudaGraphUpload(plan->gpu->graph, plan->gpu->stream);
    return FMO_OK;
}

static fmo_status fused_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    unsigned copies = 1;
    if (plan->options.scatter == FMO_SCATTER_AUTO) {
        plan->options.scatter = FMO_SCATTER_SEGMENTED;
        plan->scatter_open = 1;
        copies = (unsigned)fmin(ceil(AUTO_ELEMENTS / (double)(n * n)), AUTO_COPIES_MAX);
    }
    if (plan->options.scatter == FMO_SCATTER_BLOCK_SHARED && n > BLOCK_SHARED_AO_MAX)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "scatter = block-shared is for small data, up to %d functions; this "
                             "basis has %zu: use warp-shared",
                             BLOCK_SHARED_AO_MAX, n);
    if (!fmo_gpu_plan_variant(plan))
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "scatter = %s is not in this build",
                             fmo_scatter_name(plan->options.scatter));
    if (plan->options.scatter == FMO_SCATTER_TILE &&
        plan->options.integrals == FMO_INTEGRALS_STORED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "integrals = stored: scatter = tile has a schedule of its own, which "
                             "computes them in every build; use another scatter, or integrals = "
                             "direct or auto");
    if (plan->options.scatter == FMO_SCATTER_TILE) {
        int device = 0, shared = 0;
        cudaError_t code = cudaGetDevice(&device);
        if (code == cudaSuccess)
            code = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        if (code != cudaSuccess) return fmo_gpu_error(code, "asking for shared memory", err);
        const int most = fmo_gpu_tile_ao_max((size_t)shared - TILE_STATIC_SHARED);
        if (n > (size_t)most)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "scatter = tile keeps rows in shared memory, here up to %d "
                                 "functions; this basis has %zu: use segmented",
                                 most, n);
    }
    if (plan->options.scatter == FMO_SCATTER_REPLICATED) {
        int device = 0, l2 = 0;
        cudaError_t code = cudaGetDevice(&device);
        if (code == cudaSuccess) code = cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device);
        if (code != cudaSuccess) return fmo_gpu_error(code, "asking for the L2 cache", err);
        const double fit = REPLICA_SHARE * l2 / (2.0 * (double)(n * n) * sizeof(double));
        copies = (unsigned)fmin(fmax(fit, 1.0), FMO_GPU_COPIES_MAX);
    }
    plan->profile.scatter = plan->options.scatter;
    plan->profile.commit = plan->options.commit;
    return make_state(plan, copies, err);
}

/* Blocks for one list of a part: what fits the GPU, in large systems twice that, so that kernels
 * end one block after the other, and no more than there is work for. */
static cudaError_t blocks_for(const fmo_gpu_state *g, const fmo_gpu_part *part, const void *kernel,
                              int *blocks)
{
    const cudaError_t code =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, FMO_GPU_THREADS, 0);
    *blocks *= g->processors * (g->far ? 2 : 1);
    if ((size_t)*blocks * FMO_GPU_THREADS > part->candidates)
        *blocks = (int)((part->candidates + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
    return code;
}

/* Systems with fewer primitive quartets have one kernel a class for all its lists. Measured on an
 * H200, docs/performance.md. */
static const double all_lists_work = 1e9;

/* The quartet kernels of a part: one on kept integrals or on the only list, else one for each list,
 * or one for all. */
static cudaError_t launch_part(const fmo_fock_job *job, const fmo_gpu_variant *variant,
                               const fmo_gpu_part *part, cudaStream_t stream)
{
    const fmo_fock_plan *plan = job->plan;
    const fmo_gpu_state *g = plan->gpu;
    const int c = part->eri_class;
    fmo_gpu_one<fmo_gpu_quartet_args> args;
    args.of[0].view = fmo_gpu_view(plan, g, part);
    args.of[0].matrices = fmo_gpu_matrix_view(plan, g, part->eri_class);
    const fmo_gpu_range range(fmo_eri_class_name(part->eri_class));
    int blocks = 0;
    cudaError_t code = cudaSuccess;
    if (g->stored) {
        code = blocks_for(g, part, (const void *)variant->stored[c], &blocks);
        if (code != cudaSuccess) return code;
        variant->stored[c]<<<blocks, FMO_GPU_THREADS, 0, stream>>>(
            args.of[0].view, args.of[0].matrices, fmo_gpu_stored_view(plan, g, part, blocks));
        return cudaGetLastError();
    }
    const bool all = g->far && g->work < all_lists_work;
    const int begin = all ? FMO_GPU_ALL : FMO_GPU_NEAR;
    const int end = all ? FMO_GPU_KERNELS : g->far ? FMO_GPU_LISTS : FMO_GPU_NEAR + 1;
    for (int k = begin; k < end && code == cudaSuccess; k++) {
        fmo_gpu_kernel *const kernel = variant->kernel[k][c];
        if (!kernel) continue;
        code = blocks_for(g, part, (const void *)kernel, &blocks);
        if (code != cudaSuccess) break;
        kernel<<<blocks, FMO_GPU_THREADS, 0, stream>>>(args);
        code = cudaGetLastError();
    }
    return code;
}

/* Streams on which classes run side by side; the stream they start from joins them again. */
typedef struct side_streams {
    cudaStream_t stream[FMO_GPU_PARTS];
    cudaEvent_t fork, join[FMO_GPU_PARTS];
} side_streams;

static cudaError_t side_streams_create(side_streams *side)
{
    cudaError_t code = cudaEventCreateWithFlags(&side->fork, cudaEventDisableTiming);
    for (int n = 0; n < FMO_GPU_PARTS && code == cudaSuccess; n++) {
        code = cudaStreamCreateWithFlags(&side->stream[n], cudaStreamNonBlocking);
        if (code == cudaSuccess)
            code = cudaEventCreateWithFlags(&side->join[n], cudaEventDisableTiming);
    }
    return code;
}

static void side_streams_destroy(side_streams *side)
{
    for (int n = 0; n < FMO_GPU_PARTS; n++) {
        if (side->stream[n]) (void)cudaStreamDestroy(side->stream[n]);
        if (side->join[n]) (void)cudaEventDestroy(side->join[n]);
    }
    if (side->fork) (void)cudaEventDestroy(side->fork);
}

/* Pass by pass: screening, which kernels on kept integrals do themselves, then the quartet kernels
 * of the pass, one after the other, between timers if they are timed; or the classes side by side,
 * so that one fills the GPU where another ends. */
static cudaError_t run_passes(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                              side_streams *side, bool timed)
{
    const fmo_gpu_state *g = group->job->plan->gpu;
    cudaError_t code = cudaSuccess;
    for (int p = 0; p < g->passes && code == cudaSuccess; p++) {
        const fmo_gpu_pass *pass = &g->pass[p];
        if (!g->stored) code = fmo_gpu_screen(group, p);
        if (side && code == cudaSuccess) code = cudaEventRecord(side->fork, group->stream);
        for (int n = 0; n < pass->num && code == cudaSuccess; n++) {
            const fmo_gpu_part *part = &pass->part[n];
            const cudaStream_t stream = side ? side->stream[n] : group->stream;
            if (side) code = cudaStreamWaitEvent(stream, side->fork, 0);
            if (timed && code == cudaSuccess) code = cudaEventRecord(part->event[0], stream);
            if (code == cudaSuccess) code = launch_part(group->job, variant, part, stream);
            if (timed && code == cudaSuccess) code = cudaEventRecord(part->event[1], stream);
            if (side && code == cudaSuccess) code = cudaEventRecord(side->join[n], stream);
        }
        for (int n = 0; n < pass->num && side && code == cudaSuccess; n++)
            code = cudaStreamWaitEvent(group->stream, side->join[n], 0);
    }
    return code;
}

/* `tile`: class by class, the heaviest first; nothing is listed. */
static cudaError_t run_tile(const fmo_fock_plan *plan, fmo_gpu_state *g, bool commits)
{
    cudaError_t code = cudaSuccess;
    for (int c = FMO_ERI_CLASS_COUNT - 1; c >= 0 && code == cudaSuccess; c--) {
        const fmo_gpu_range range(fmo_eri_class_name((fmo_eri_class)c));
        code = cudaEventRecord(g->class_event[c][0], g->stream);
        if (code == cudaSuccess) code = fmo_gpu_tile_launch(plan, g, (fmo_eri_class)c, commits);
        if (code == cudaSuccess) code = cudaEventRecord(g->class_event[c][1], g->stream);
    }
    return code;
}

/* A density to X, everything queued on the group's stream. */
static cudaError_t queue(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                         side_streams *side, bool timed)
{
    fmo_fock_plan *plan = group->job->plan;
    cudaError_t code = fmo_gpu_take_density(group);
    if (code == cudaSuccess && variant->scatter == FMO_SCATTER_FIXED)
        code = fmo_gpu_fixed_scale(group);
    if (code == cudaSuccess && plan->gpu->far) code = fmo_gpu_make_moments(group);
    if (code != cudaSuccess) return code;
    if (plan->options.scatter == FMO_SCATTER_TILE)
        return run_tile(plan, plan->gpu, variant->scatter != FMO_SCATTER_COUNT);
    return run_passes(group, variant, side, timed);
}

/* From density_in on as one graph. Nothing is lost where the capture fails: the launches are then
 * made one by one. */
static void capture(fmo_fock_plan *plan, const fmo_gpu_variant *variant)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_fock_job job = fmo_gpu_own_job(plan);
    fmo_gpu_group group = {&job, 1, NULL};
    side_streams side;
    cudaGraph_t graph = NULL;
    g->graph_tried = 1;
    if (plan->options.scatter == FMO_SCATTER_TILE) return; /* sets attributes of its kernels */
    memset(&side, 0, sizeof side);
    cudaError_t code = cudaStreamCreateWithFlags(&group.stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = side_streams_create(&side);
    if (code == cudaSuccess)
        code = cudaStreamBeginCapture(group.stream, cudaStreamCaptureModeThreadLocal);
    if (code == cudaSuccess) {
        code = queue(&group, variant, &side, false);
        const cudaError_t ended = cudaStreamEndCapture(group.stream, &graph);
        if (code == cudaSuccess && ended == cudaSuccess &&
            cudaGraphInstantiate(&g->graph, graph, 0) != cudaSuccess)
            g->graph = NULL;
    }
    if (graph) (void)cudaGraphDestroy(graph);
    side_streams_destroy(&side);
    if (group.stream) (void)cudaStreamDestroy(group.stream);
    (void)cudaGetLastError();
}

cudaError_t fmo_gpu_enter(fmo_gpu_state *g, cudaStream_t stream)
{
    cudaError_t code = cudaSuccess;
    if (g->last != stream) code = cudaStreamWaitEvent(stream, g->finished, 0);
    g->last = stream;
    return code;
}

/* density_in to J and K, everything queued on the plan's stream. */
static fmo_status run(fmo_fock_plan *plan, const fmo_gpu_variant *variant, bool timed,
                      double *coulomb, double *exchange, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_fock_job job = {plan, g->density_in, coulomb, exchange};
    const fmo_gpu_group group = fmo_gpu_group_of_one(&job);
    const bool fixed = variant->scatter == FMO_SCATTER_FIXED;
    cudaError_t code = cudaSuccess;
    if (timed || plan->options.scatter == FMO_SCATTER_TILE) code = fmo_gpu_make_timers(g);
    if (code == cudaSuccess) code = cudaEventRecord(g->start, g->stream);
    if (!timed && !g->graph_tried) capture(plan, variant);
    if (code == cudaSuccess)
        code = !timed && g->graph ? cudaGraphLaunch(g->graph, g->stream)
                                  : queue(&group, variant, NULL, timed);
    if (code == cudaSuccess && plan->options.scatter != FMO_SCATTER_TILE)
        code = fmo_gpu_spread_coulomb(&group, fixed);
    if (code == cudaSuccess) code = fmo_gpu_finish(&group, fixed);
    if (code == cudaSuccess) code = cudaEventRecord(g->finished, g->stream);
    if (code == cudaSuccess) return FMO_OK;
    return fmo_gpu_error(code, "fused build", err);
}

static cudaError_t add_seconds(const cudaEvent_t *event, double *seconds)
{
    float ms = 0.0f;
    const cudaError_t code = cudaEventElapsedTime(&ms, event[0], event[1]);
    if (code == cudaSuccess) *seconds += 1e-3 * ms;
    return code;
}

/* Seconds of each class in the run that has just finished. */
static cudaError_t class_seconds(const fmo_fock_plan *plan, double *seconds)
{
    const fmo_gpu_state *g = plan->gpu;
    cudaError_t code = cudaSuccess;
    const bool tile = plan->options.scatter == FMO_SCATTER_TILE;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        seconds[c] = 0.0;
        if (tile && code == cudaSuccess) code = add_seconds(g->class_event[c], &seconds[c]);
    }
    for (int p = 0; p < g->passes && !tile; p++)
        for (int n = 0; n < g->pass[p].num && code == cudaSuccess; n++)
            code = add_seconds(g->pass[p].part[n].event, &seconds[g->pass[p].part[n].eri_class]);
    return code;
}

/* What the first build under `auto` says about the choice. */
static void decide_scatter(fmo_fock_plan *plan, const fmo_gpu_counters *counters)
{
    fmo_gpu_state *g = plan->gpu;
    double adds = 0.0, issued = 0.0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        adds += (double)fmo_gpu_adds_made(g, counters, c);
        issued += (double)counters->issued[c];
    }
    plan->scatter_open = 0;
    if (issued <= few_runs * adds) return;
    plan->options.scatter = FMO_SCATTER_NATIVE;
    if (g->graph) (void)cudaGraphExecDestroy(g->graph);
    g->graph = NULL;
    g->graph_tried = 0;
}

cudaError_t fmo_gpu_copy_in(const fmo_fock_job *job, cudaStream_t stream)
{
    fmo_gpu_state *g = job->plan->gpu;
    const size_t n = (size_t)job->plan->basis->ao_num, matrix = n * n * sizeof(double);
    g->begun = fmo_now();
    const cudaError_t code = fmo_gpu_make_pinned(job->plan);
    if (code != cudaSuccess) return code;
    memcpy(g->host_in, job->density, matrix);
    return cudaMemcpyAsync(g->density_in, g->host_in, matrix, cudaMemcpyHostToDevice, stream);
}

cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream)
{
    const fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const cudaError_t code = cudaMemcpyAsync(g->host_out, g->out, 2 * n * n * sizeof(double),
                                             cudaMemcpyDeviceToHost, stream);
    if (code != cudaSuccess) return code;
    return cudaMemcpyAsync(g->host_counters, g->counters, sizeof *g->counters,
                           cudaMemcpyDeviceToHost, stream);
}

fmo_status fmo_gpu_start_one(const fmo_fock_job *job, fmo_error *err)
{
    fmo_fock_plan *plan = job->plan;
    fmo_gpu_state *g = plan->gpu;
    const fmo_fock_job own = fmo_gpu_own_job(plan);
    const fmo_gpu_range range("fused build");
    cudaError_t code = fmo_gpu_enter(g, g->stream);
    if (code == cudaSuccess) code = fmo_gpu_copy_in(job, g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, "copying the density", err);
    const fmo_status status =
        run(plan, fmo_gpu_plan_variant(plan), false, own.coulomb, own.exchange, err);
    if (status != FMO_OK) return status;
    code = fmo_gpu_copy_out(plan, g->stream);
    return code == cudaSuccess ? FMO_OK : fmo_gpu_error(code, "fused build", err);
}

static fmo_status fused_finish(fmo_fock_plan *plan, double *coulomb, double *exchange,
                               fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_fock_profile *profile = &plan->profile;
    const size_t n = (size_t)plan->basis->ao_num, matrix = n * n * sizeof(double);
    const fmo_gpu_counters *counters = g->host_counters;
    float gpu_ms = 0.0f;
    cudaError_t code = cudaStreamSynchronize(g->last);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&gpu_ms, g->start, g->finished);
    if (code != cudaSuccess) return fmo_gpu_error(code, "fused build", err);
    if (plan->options.scatter == FMO_SCATTER_FIXED) {
        const fmo_status status = fmo_gpu_fixed_check(counters, err);
        if (status != FMO_OK) return status;
    }
    memcpy(coulomb, g->host_out, matrix);
    memcpy(exchange, g->host_out + n * n, matrix);
    profile->gpu_seconds = 1e-3 * gpu_ms;
    profile->transfer_seconds = fmo_now() - g->begun - profile->gpu_seconds;
    profile->scatter = plan->options.scatter;
    profile->integrals = g->stored ? FMO_INTEGRALS_STORED : FMO_INTEGRALS_DIRECT;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &profile->classes[c];
        p->quartets = (int64_t)counters->quartets[c];
        p->prim_quartets = (int64_t)counters->prim_quartets[c];
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
        p->adds = fmo_gpu_adds_made(g, counters, c);
        p->adds_issued = (int64_t)counters->issued[c];
    }
    if (plan->scatter_open) decide_scatter(plan, counters); /* for the builds to come */
    fmo_plan_progress(plan, 1.0);
    return FMO_OK;
}

static fmo_status fused_build(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    const fmo_fock_job job = {plan, density, NULL, NULL};
    const fmo_status status = fmo_gpu_start_one(&job, err);
    return status == FMO_OK ? fused_finish(plan, plan->coulomb, plan->exchange, err) : status;
}

/* The build of the last density once more, class after class; its seconds by class, and together.
 */
static fmo_status run_timed(fmo_fock_plan *plan, const fmo_gpu_variant *variant, double *seconds,
                            double *all, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    float ms = 0.0f;
    int *const before = &g->timed_before[variant->scatter == FMO_SCATTER_COUNT];
    fmo_status status = FMO_OK;
    /* a kernel is loaded at its first launch, which is not to be timed */
    for (int run_no = *before ? 1 : 0; run_no < 2 && status == FMO_OK; run_no++)
        status = run(plan, variant, true, g->out, g->out + n * n, err);
    if (status != FMO_OK) return status;
    *before = 1;
    cudaError_t code = cudaStreamSynchronize(g->stream);
    if (code == cudaSuccess) code = class_seconds(plan, seconds);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&ms, g->start, g->finished);
    *all = 1e-3 * ms;
    return code == cudaSuccess ? FMO_OK : fmo_gpu_error(code, "timing the classes", err);
}

static fmo_status fused_measure(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_fock_profile *profile = &plan->profile;
    double seconds[FMO_ERI_CLASS_COUNT], all = 0.0;
    const fmo_gpu_range range("fused build, class after class");
    fmo_status status = run_timed(plan, fmo_gpu_plan_variant(plan), seconds, &all, err);
    if (status != FMO_OK) return status;
    profile->screening_seconds = all;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        profile->classes[c].seconds = seconds[c];
        profile->screening_seconds -= seconds[c];
    }
    if (!plan->options.measure_accumulation) return FMO_OK;
    status =
        run_timed(plan, find_variant(FMO_SCATTER_COUNT, FMO_COMMIT_NATIVE), seconds, &all, err);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && status == FMO_OK; c++)
        profile->classes[c].compute_seconds = seconds[c];
    return status;
}

fmo_status fmo_gpu_device_one(const fmo_fock_job *job, fmo_error *err)
{
    fmo_fock_plan *plan = job->plan;
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    cudaError_t code = fmo_gpu_enter(g, g->stream);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(g->density_in, job->density, n * n * sizeof(double),
                               cudaMemcpyDeviceToDevice, g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, "copying the density", err);
    return run(plan, fmo_gpu_plan_variant(plan), false, job->coulomb, job->exchange, err);
}

static fmo_status fused_build_device(fmo_fock_plan *plan, const double *density, double *coulomb,
                                     double *exchange, fmo_error *err)
{
    const fmo_fock_job job = {plan, density, coulomb, exchange};
    return fmo_gpu_device_one(&job, err);
}

static fmo_status fused_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    const unsigned copies = plan->gpu->copies;
    fmo_gpu_state_destroy(plan);
    return make_state(plan, copies, err);
}

/* In the order of fmo_mode_implementation. */
extern "C" const fmo_mode_implementation fmo_mode_fused = {fused_prepare,
                                                           fused_build,
                                                           fused_measure,
                                                           fused_build_device,
                                                           fused_new_pairs,
                                                           fmo_gpu_state_destroy,
                                                           fmo_gpu_start_many,
                                                           fused_finish,
                                                           fmo_gpu_device_many,
                                                           1,
                                                           0,
                                                           1,
                                                           fmo_gpu_workspace};
