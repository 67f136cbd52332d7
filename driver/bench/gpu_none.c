/* Stubs of the GPU parts for a build without CUDA: bench_gpu_open reports that there is no GPU, and
 * the others are never called. */
#include "fock.h"
#if FMO_EXPERIMENTS
#include "himeno_ranks.h"
#endif

fmo_status bench_gpu_open(bench_run *run)
{
    run->gpu = false;
    snprintf(run->no_gpu, sizeof run->no_gpu, "built without CUDA");
    return FMO_OK;
}

#define ROW(name, kind, text)                                 \
    void bench_##name##_gpu(bench_run *run, const void *what) \
    {                                                         \
        (void)run, (void)what;                                \
    }
BENCH_EXPERIMENT_TABLE(ROW)

#if FMO_EXPERIMENTS
void himeno_ranks_gpu(bench_run *run, const bench_world *world)
{
    (void)run, (void)world;
}
#endif

void *fock_stream_create(bench_run *run)
{
    (void)run;
    return NULL;
}
void fock_stream_destroy(void *stream)
{
    (void)stream;
}
