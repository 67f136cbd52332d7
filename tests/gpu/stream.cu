/* A caller's own stream, GPU pointers in and out without a host synchronisation, and a GPU whose
 * memory is used up: a clear error, and a working plan once there is memory again. */
#include <cuda_runtime.h>

#include "tests/gpu/call.h"
#include "tests/support/system.h"

static unsigned long long seed = 77;

static fmo_fock_plan *make_plan(const fmo_basis *basis, fmo_mode mode, fmo_scatter scatter,
                                cudaStream_t stream, fmo_status expected, fmo_error *err)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    memset(err, 0, sizeof *err);
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.scatter = scatter;
    o.threads = 1;
    o.stream = stream;
    const fmo_status status = fmo_fock_plan_create(basis, &o, &plan, err);
    CHECK(status == expected, "%s: status %d, expected %d: %s", fmo_mode_name(mode), status,
          expected, err->message);
    return plan;
}

/* Three densities queued one after the other on one stream, results compared at the end. */
static void check_stream(const fmo_basis *basis, fmo_scatter scatter, bool own_stream)
{
    enum { DENSITIES = 3 };
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    fmo_error err = {FMO_OK, ""};
    cudaStream_t stream = NULL;
    if (own_stream) CUDA(cudaStreamCreate(&stream));
    fmo_fock_plan *gpu = make_plan(basis, FMO_MODE_FUSED, scatter, stream, FMO_OK, &err);
    fmo_fock_plan *cpu = make_plan(basis, FMO_MODE_CPU, FMO_SCATTER_AUTO, NULL, FMO_OK, &err);
    double *expected = (double *)malloc(2 * size * sizeof(double));
    double *got = (double *)malloc(2 * DENSITIES * size * sizeof(double)), *D[DENSITIES];
    double *on_gpu = NULL;
    CUDA(cudaMalloc(&on_gpu, 3 * DENSITIES * size * sizeof(double)));
    for (int d = 0; d < DENSITIES && gpu; d++) {
        double *at = on_gpu + 3 * (size_t)d * size;
        D[d] = random_density(n, 1.0, &seed);
        CUDA(cudaMemcpy(at, D[d], size * sizeof(double), cudaMemcpyHostToDevice));
        /* it may return before its data are there, and a plan's own stream does not wait for it */
        CUDA(cudaDeviceSynchronize());
        CHECK(fmo_fock_build_device(gpu, at, at + size, at + 2 * size, &err) == FMO_OK, "%s",
              err.message);
        /* on a stream of the plan's own the caller can only wait for the device */
        if (own_stream)
            CUDA(cudaMemcpyAsync(got + 2 * (size_t)d * size, at + size, 2 * size * sizeof(double),
                                 cudaMemcpyDeviceToHost, stream));
    }
    if (own_stream)
        CUDA(cudaStreamSynchronize(stream));
    else
        CUDA(cudaDeviceSynchronize());
    for (int d = 0; d < DENSITIES && gpu && cpu; d++) {
        if (!own_stream)
            CUDA(cudaMemcpy(got + 2 * (size_t)d * size, on_gpu + (3 * (size_t)d + 1) * size,
                            2 * size * sizeof(double), cudaMemcpyDeviceToHost));
        CHECK(fmo_fock_build(cpu, D[d], expected, expected + size, &err) == FMO_OK, "%s",
              err.message);
        /* both with the default cutoff, but the GPU screens sp sets */
        check_close(fmo_scatter_name(scatter), got + 2 * (size_t)d * size, expected, 2 * size,
                    (size_t)n, 1e-8, 0.0);
        free(D[d]);
    }
    CHECK(fmo_fock_build_device(cpu, expected, expected + size, got, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "fused"),
          "device pointers for a cpu plan: %s", err.message);
    fmo_fock_plan_destroy(gpu);
    fmo_fock_plan_destroy(cpu);
    CUDA(cudaFree(on_gpu));
    if (own_stream) CUDA(cudaStreamDestroy(stream));
    free(expected);
    free(got);
}

/* All GPU memory is allocated by someone else. */
static void check_full(const fmo_basis *basis)
{
    enum { HOLDS = 4096 };
    static void *hold[HOLDS];
    int held = 0;
    fmo_error err = {FMO_OK, ""};
    for (size_t bytes = (size_t)1 << 36; bytes >= 4096 && held < HOLDS;) {
        if (cudaMalloc(&hold[held], bytes) == cudaSuccess) {
            held++;
        } else {
            (void)cudaGetLastError();
            bytes /= 2;
        }
    }
    static const fmo_mode modes[] = {FMO_MODE_FUSED, FMO_MODE_SPLIT};
    for (int m = 0; m < 2; m++) {
        fmo_fock_plan *plan =
            make_plan(basis, modes[m], FMO_SCATTER_AUTO, NULL, FMO_ERR_MEMORY, &err);
        CHECK(plan == NULL && strstr(err.message, "GPU memory"), "message: %s", err.message);
        fmo_fock_plan_destroy(plan);
    }
    for (int h = 0; h < held; h++) CUDA(cudaFree(hold[h]));
    fmo_fock_plan_destroy(make_plan(basis, FMO_MODE_FUSED, FMO_SCATTER_AUTO, NULL, FMO_OK, &err));
}

/* Runs the checks of builds on a caller's stream, with and without its own memory, and with a full
 * GPU. */
int main(void)
{
    static test_system s;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    system_random(&s, 4, 9, 6, 4, 5.0, &seed);
    fmo_basis *basis = system_basis(&s);
    static const fmo_scatter scatters[] = {FMO_SCATTER_AUTO, FMO_SCATTER_NATIVE, FMO_SCATTER_FIXED,
                                           FMO_SCATTER_TILE, FMO_SCATTER_REPLICATED};
    for (int k = 0; k < 5 && basis; k++) {
        if (!fmo_scatter_is_built(scatters[k], FMO_COMMIT_NATIVE)) continue;
        check_stream(basis, scatters[k], true);
        check_stream(basis, scatters[k], false);
    }
    /* not under compute-sanitizer, which keeps memory for itself */
    if (basis && !getenv("FMO_TEST_SMALL")) {
        test_system large;
        memset(&large, 0, sizeof large);
        fmo_basis_destroy(basis);
        system_random(&large, 9, 180, 20, 3, 9.0, &seed); /* matrices of more than a few pages */
        basis = system_basis(&large);
        if (basis) check_full(basis);
    }
    fmo_basis_destroy(basis);
    return check_summary();
}
