/* Modes fused and split with functions scaled by 1e-8 to 1e8, from the host and in GPU memory;
 * densities in GPU memory that are larger than the plan expects; SCFs alone, in blocks and
 * together. */
#include <cuda_runtime.h>

#include "tests/gpu/call.h"
#include "tests/support/scaled_checks.h"

/* As scaled_build_host with all matrices in GPU memory. The densities of these tests may be larger
 * than plans expect. */
static int build_on_device(const fmo_basis *basis, const fmo_fock_options *o, const double *D,
                           double *JK)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    const double *const norm = fmo_basis_ao_norm(basis);
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    double *there = NULL, largest = 0.0;
    fmo_status status = fmo_fock_plan_create(basis, o, &plan, &err);
    for (size_t x = 0; x < size; x++)
        largest = fmax(largest, fabs(D[x]) * norm[x / n] * norm[x % n]);
    CUDA(cudaMalloc(&there, 3 * size * sizeof *there));
    CUDA(cudaMemcpy(there, D, size * sizeof *there, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    if (status == FMO_OK && largest > 8.0) {
        status = fmo_fock_build_device(plan, there, there + size, there + 2 * size, &err);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(JK, there + size, 2 * size * sizeof *JK, cudaMemcpyDeviceToHost));
        size_t numbers = 0;
        for (size_t x = 0; x < 2 * size; x++) numbers += !isnan(JK[x]);
        CHECK(status == FMO_OK && numbers == 0, "%zu numbers in J and K of a density up to %g: %s",
              numbers, largest, err.message);
        status = fmo_fock_plan_expect(plan, largest, &err);
    }
    if (status == FMO_OK)
        status = fmo_fock_build_device(plan, there, there + size, there + 2 * size, &err);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(JK, there + size, 2 * size * sizeof *JK, cudaMemcpyDeviceToHost));
    CHECK(status == FMO_OK, "%s", err.message);
    fmo_fock_plan_destroy(plan);
    CUDA(cudaFree(there));
    return status == FMO_OK;
}

/* Two builds of one plan in one call, which share their launches where they are small. */
static int build_in_batch(const fmo_basis *basis, const fmo_fock_options *o, const double *D,
                          double *JK)
{
    enum { JOBS = 5 };
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    const fmo_basis *bases[JOBS] = {basis, basis, basis, basis, basis};
    fmo_fock_plan *plan[JOBS] = {NULL};
    fmo_fock_job job[JOBS] = {{0}};
    fmo_error err[JOBS] = {{FMO_OK, ""}}, first = {FMO_OK, ""};
    double *const all = (double *)malloc(JOBS * 2 * size * sizeof *all);
    fmo_status status = fmo_fock_plan_create_batch(bases, JOBS, o, plan, err);
    for (int k = 0; k < JOBS; k++) {
        job[k].plan = plan[k];
        job[k].density = D;
        job[k].coulomb = all + 2 * (size_t)k * size;
        job[k].exchange = job[k].coulomb + size;
    }
    if (status == FMO_OK) status = fmo_fock_build_batch(job, JOBS, &first);
    CHECK(status == FMO_OK, "%s%s", err[0].message, first.message);
    memcpy(JK, all + 2 * (size_t)(JOBS - 1) * size, 2 * size * sizeof *JK);
    for (int k = 0; k < JOBS; k++) fmo_fock_plan_destroy(plan[k]);
    free(all);
    return status == FMO_OK;
}

static void check_fused(fmo_scatter scatter)
{
    fmo_fock_options o;
    char name[96];
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    o.threads = 1;
    o.scatter = scatter;
    for (int with_d = 0; with_d < 2; with_d++) {
        if (with_d && !fmo_scatter_takes_all_shells(scatter, o.commit)) continue;
        snprintf(name, sizeof name, "fused, %s", fmo_scatter_name(scatter));
        check_scaled_builds(name, &o, with_d, 1.0, scaled_build_host);
        const double large = fmo_scatter_sums_integers(scatter) ? 20.0 : 300.0; /* what fits */
        snprintf(name, sizeof name, "fused, %s, large density", fmo_scatter_name(scatter));
        check_scaled_builds(name, &o, with_d, large, scaled_build_host);
        snprintf(name, sizeof name, "fused, %s, in GPU memory", fmo_scatter_name(scatter));
        check_scaled_builds(name, &o, with_d, 1.0, build_on_device);
        snprintf(name, sizeof name, "fused, %s, large in GPU memory", fmo_scatter_name(scatter));
        check_scaled_builds(name, &o, with_d, large, build_on_device);
        snprintf(name, sizeof name, "fused, %s, in a batch", fmo_scatter_name(scatter));
        check_scaled_builds(name, &o, with_d, 1.0, build_in_batch);
    }
}

static void check_others(void)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.threads = 2;
    o.mode = FMO_MODE_SPLIT;
    check_scaled_builds("split", &o, 0, 1.0, scaled_build_host);
    o.mode = FMO_MODE_FUSED;
    o.integrals = FMO_INTEGRALS_STORED;
    check_scaled_builds("fused, stored", &o, 0, 1.0, scaled_build_host);
    o.integrals = FMO_INTEGRALS_DIRECT;
    o.coulomb = FMO_COULOMB_BOXES;
    check_scaled_builds("fused, boxes", &o, 0, 1.0, scaled_build_host);
    o.coulomb = FMO_COULOMB_AUTO;
    o.device_num = 2; /* one GPU taken twice, or two */
    o.devices[1] = fmo_gpu_num() > 1;
    check_scaled_builds("fused, two GPUs", &o, 0, 1.0, scaled_build_host);
    check_scaled_builds("fused, two GPUs", &o, 1, 1.0, scaled_build_host);
}

static void check_scfs(const char *xyz, const char *set, int copies)
{
    fmo_dataset *const dataset = molecule_dataset(xyz, set);
    fmo_scf_options o;
    char name[96];
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_FUSED;
    o.energy_convergence = 1e-10;
    snprintf(name, sizeof name, "%s %s, fused", xyz, set);
    if (dataset) check_scaled_scf(name, dataset, &o, copies);
    fmo_dataset_destroy(dataset);
}

int main(void)
{
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    for (int k = 0; k < FMO_SCATTER_COUNT; k++)
        if (fmo_scatter_kind((fmo_scatter)k) != FMO_SCATTER_CHOICE || k == FMO_SCATTER_AUTO)
            check_fused((fmo_scatter)k);
    check_others();
    check_scfs("water001", "6-31g", 80); /* in blocks */
    check_scfs("h2s", "6-31g(d)", 40);   /* together */
    return check_summary();
}
