/* `--mode fused`: per pass one screening kernel, then one quartet kernel a class, all on one
 * stream. The strategy is a row of FMO_GPU_VARIANT_TABLE; `auto` is decided here. */
#include "accumulate/gpu_plan.h"
#include "accumulate/gpu_range.h"

#include <math.h>
#include <string.h>

static const fmo_gpu_variant *const variants[] = {
#define ROW(name, ...) &fmo_gpu_variant_##name,
    FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
};

/* Copies under `replicated`: as many as keep J and K within this share of the L2 cache. */
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
static const fmo_gpu_variant *plan_variant(const fmo_fock_plan *plan)
{
    const fmo_scatter s = plan->options.scatter;
    return find_variant(s == FMO_SCATTER_REPLICATED || s == FMO_SCATTER_TILE ? FMO_SCATTER_NATIVE
                                                                             : s,
                        plan->options.commit);
}

static fmo_status fused_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    unsigned copies = 1;
    if (plan->options.scatter == FMO_SCATTER_AUTO) plan->options.scatter = FMO_SCATTER_SEGMENTED;
    if (plan->options.scatter == FMO_SCATTER_BLOCK_SHARED && n > BLOCK_SHARED_AO_MAX)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "scatter = block-shared is for small data, up to %d functions; this "
                             "basis has %zu: use warp-shared",
                             BLOCK_SHARED_AO_MAX, n);
    if (!plan_variant(plan))
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "scatter = %s is not in this build",
                             fmo_scatter_name(plan->options.scatter));
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
    return fmo_gpu_state_create(plan, copies, err);
}

/* Pass by pass: screening, then the quartet kernels of the pass, each between two events. */
static cudaError_t run_passes(const fmo_fock_plan *plan, fmo_gpu_state *g,
                              const fmo_gpu_variant *variant, const fmo_gpu_argument *argument)
{
    cudaError_t code = cudaSuccess;
    for (int p = 0; p < g->passes && code == cudaSuccess; p++) {
        const fmo_gpu_pass *pass = &g->pass[p];
        code = fmo_gpu_screen(plan, g, pass);
        for (int n = 0; n < pass->num && code == cudaSuccess; n++) {
            const fmo_gpu_part *part = &pass->part[n];
            const fmo_gpu_class_view view = fmo_gpu_view(g, part);
            const fmo_gpu_matrices m = fmo_gpu_matrix_view(plan, g, part->eri_class);
            const fmo_gpu_range range(fmo_eri_class_name(part->eri_class));
            int blocks = 0;
            code = variant->resident[part->eri_class](&blocks);
            blocks *= g->processors;
            if ((size_t)blocks * FMO_GPU_THREADS > part->candidates)
                blocks = (int)((part->candidates + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
            if (code == cudaSuccess) code = cudaEventRecord(part->event[0], g->stream);
            if (code == cudaSuccess)
                code = variant->launch[part->eri_class](&view, &m, argument, blocks, g->stream);
            if (code == cudaSuccess) code = cudaEventRecord(part->event[1], g->stream);
        }
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

/* Density in g->density_in to J and K, everything queued on the stream. */
static fmo_status run(fmo_fock_plan *plan, const fmo_gpu_variant *variant, double *coulomb,
                      double *exchange, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_gpu_argument argument = {0.0, &g->counters->sink};
    fmo_status status = FMO_OK;
    cudaError_t code = cudaEventRecord(g->start, g->stream);
    if (code == cudaSuccess) code = fmo_gpu_take_density(plan, g);
    if (code == cudaSuccess && variant->scatter == FMO_SCATTER_FIXED) {
        status = fmo_gpu_fixed_scale(plan, g, &argument.scale, err);
        if (status != FMO_OK) return status;
    }
    if (code == cudaSuccess)
        code = plan->options.scatter == FMO_SCATTER_TILE
                   ? run_tile(plan, g, variant->scatter != FMO_SCATTER_COUNT)
                   : run_passes(plan, g, variant, &argument);
    if (code == cudaSuccess) code = fmo_gpu_finish(plan, g, argument.scale, coulomb, exchange);
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

static fmo_status fused_build(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_fock_profile *profile = &plan->profile;
    const size_t n = (size_t)plan->basis->ao_num, matrix = n * n * sizeof(double);
    fmo_gpu_counters counters;
    double seconds[FMO_ERI_CLASS_COUNT];
    float gpu_ms = 0.0f;
    const fmo_gpu_range range("fused build");
    const double start = fmo_now();
    memcpy(g->host_in, density, matrix);
    cudaError_t code =
        cudaMemcpyAsync(g->density_in, g->host_in, matrix, cudaMemcpyHostToDevice, g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, "copying the density", err);
    fmo_status status = run(plan, plan_variant(plan), g->out, g->out + n * n, err);
    if (status != FMO_OK) return status;
    code = cudaMemcpyAsync(g->host_out, g->out, 2 * matrix, cudaMemcpyDeviceToHost, g->stream);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(&counters, g->counters, sizeof counters, cudaMemcpyDeviceToHost,
                               g->stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, "fused build", err);
    memcpy(plan->coulomb, g->host_out, matrix);
    memcpy(plan->exchange, g->host_out + n * n, matrix);
    const double all = fmo_now() - start;

    code = cudaEventElapsedTime(&gpu_ms, g->start, g->finished);
    if (code == cudaSuccess) code = class_seconds(plan, seconds);
    if (code != cudaSuccess) return fmo_gpu_error(code, "reading the timers", err);
    profile->gpu_seconds = 1e-3 * gpu_ms;
    profile->transfer_seconds = all - profile->gpu_seconds;
    profile->screening_seconds = profile->gpu_seconds;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        fmo_class_profile *p = &profile->classes[c];
        p->quartets = (int64_t)counters.quartets[c];
        p->prim_quartets = (int64_t)counters.prim_quartets[c];
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
        p->seconds = seconds[c];
        p->adds = p->quartets * fmo_gpu_adds_per_quartet((fmo_eri_class)c);
        p->adds_issued = (int64_t)counters.issued[c];
        profile->screening_seconds -= seconds[c];
    }
    fmo_plan_progress(plan, 1.0);
    return FMO_OK;
}

/* The same build with its commits left out, on the density of the last build. */
static fmo_status fused_measure(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    double seconds[FMO_ERI_CLASS_COUNT];
    const fmo_gpu_range range("fused build without commits");
    fmo_status status =
        run(plan, find_variant(FMO_SCATTER_COUNT, FMO_COMMIT_NATIVE), g->out, g->out + n * n, err);
    if (status != FMO_OK) return status;
    cudaError_t code = cudaStreamSynchronize(g->stream);
    if (code == cudaSuccess) code = class_seconds(plan, seconds);
    if (code != cudaSuccess) return fmo_gpu_error(code, "build without commits", err);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        plan->profile.classes[c].compute_seconds = seconds[c];
    return FMO_OK;
}

static fmo_status fused_build_device(fmo_fock_plan *plan, const double *density, double *coulomb,
                                     double *exchange, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const cudaError_t code = cudaMemcpyAsync(g->density_in, density, n * n * sizeof(double),
                                             cudaMemcpyDeviceToDevice, g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, "copying the density", err);
    return run(plan, plan_variant(plan), coulomb, exchange, err);
}

static fmo_status fused_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    const unsigned copies = plan->gpu->copies;
    fmo_gpu_state_destroy(plan);
    return fmo_gpu_state_create(plan, copies, err);
}

/* prepare, build, measure, build_device, new_pairs, release, needs_pairs, host_matrices */
extern "C" const fmo_mode_implementation fmo_mode_fused = {fused_prepare,
                                                           fused_build,
                                                           fused_measure,
                                                           fused_build_device,
                                                           fused_new_pairs,
                                                           fmo_gpu_state_destroy,
                                                           1,
                                                           0};
