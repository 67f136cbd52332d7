/* Replaces the GPU modes in builds without CUDA: every function returns FMO_ERR_NO_DEVICE. */
#include <fmo/eri_matrix.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/plan/gradient.h"
#include "accumulate/potential/points.h"
#include "integrals/eri/eri_matrix_body.inc"

fmo_status fmo_gpu_probe(int *device, fmo_error *err)
{
    (void)device;
    return fmo_error_set(err, FMO_ERR_NO_DEVICE, "built without CUDA");
}

int fmo_gpu_count(void)
{
    return 0;
}

int64_t fmo_gpu_identity(void)
{
    return 0;
}

const fmo_mode_implementation fmo_mode_fused = {0};
const fmo_mode_implementation fmo_mode_split = {0};

void fmo_fused_gradients(fmo_gradient_job *const *jobs, size_t num, fmo_error *const *errs)
{
    (void)jobs;
    for (size_t k = 0; k < num; k++) (void)fmo_gpu_probe(NULL, errs[k]);
}

fmo_status fmo_gpu_potentials(const fmo_potential_job *jobs, size_t count,
                              const fmo_distribution *const *own, double **V, double least,
                              const fmo_potential_options *options, fmo_error *err)
{
    (void)jobs, (void)count, (void)own, (void)V, (void)least, (void)options;
    return fmo_gpu_probe(NULL, err);
}

fmo_status fmo_gpu_electrostatics(fmo_electrostatics_job *jobs, size_t count, double least,
                                  const fmo_potential_options *options, fmo_error *err)
{
    (void)jobs, (void)count, (void)least, (void)options;
    return fmo_gpu_probe(NULL, err);
}

void fmo_gpu_release_cache(struct fmo_gpu_cache *kept)
{
    (void)kept;
}

fmo_status fmo_eri_matrices_on_gpu(const fmo_basis *const *basis, size_t count, double cutoff,
                                   double *const *eri, double *const *overlap, double *const *core,
                                   int device, void *stream, fmo_error *err)
{
    (void)cutoff, (void)device, (void)stream;
    if (!count) return FMO_OK;
    const fmo_status status = fmo_eri_matrices_check(basis, count, eri, overlap, core, err);
    return status == FMO_OK ? fmo_gpu_probe(NULL, err) : status;
}
