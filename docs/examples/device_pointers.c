/* J and K from a density in GPU memory, on the caller's stream: no host copies, no waiting between
 * the caller's work and ours. device_pointers DATASET.h5 */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>
#include <fmo/dataset.h>
#include <fmo/fock.h>

static fmo_status cuda(cudaError_t code, fmo_error *err)
{
    if (code == cudaSuccess) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_DEVICE, "%s", cudaGetErrorString(code));
}

/* Builds J and K, and prints their energies. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    fmo_dataset *dataset = NULL;
    fmo_fock_plan *plan = NULL;
    cudaStream_t stream = NULL;
    double *D = NULL, *J = NULL, *K = NULL; /* in GPU memory */
    double *result = NULL;

    status = fmo_gpu_available(&err); /* FMO_ERR_NO_DEVICE without one */
    if (status == FMO_OK) status = fmo_dataset_read(argc > 1 ? argv[1] : "", &dataset, &err);
    if (status != FMO_OK) goto done;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const double *density = fmo_dataset_density(dataset);
    const size_t nao = (size_t)fmo_basis_ao_num(basis), size = nao * nao;
    const size_t bytes = size * sizeof(double);

    status = cuda(cudaStreamCreate(&stream), &err);
    if (status != FMO_OK) goto done;
    fmo_fock_options options;
    fmo_fock_options_init(&options);
    options.mode = FMO_MODE_FUSED;
    options.stream = stream;
    status = fmo_fock_plan_create(basis, &options, &plan, &err);
    if (status != FMO_OK) goto done;

    status = cuda(cudaMalloc((void **)&D, bytes), &err);
    if (status == FMO_OK) status = cuda(cudaMalloc((void **)&J, bytes), &err);
    if (status == FMO_OK) status = cuda(cudaMalloc((void **)&K, bytes), &err);
    if (status != FMO_OK) goto done;

    /* Here a kernel of the caller's would write D; in its place the file's density is copied. What
     * is queued on the stream before the call comes before the build, what is queued after it sees
     * J and K. */
    cudaMemcpyAsync(D, density, bytes, cudaMemcpyHostToDevice, stream);
    status = fmo_fock_build_device(plan, D, J, K, &err); /* returns at once */
    if (status != FMO_OK) goto done;

    result = malloc(2 * bytes);
    if (!result) status = fmo_error_set(&err, FMO_ERR_MEMORY, "no memory for the result");
    if (status != FMO_OK) goto done;
    cudaMemcpyAsync(result, J, bytes, cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(result + size, K, bytes, cudaMemcpyDeviceToHost, stream);
    status = cuda(cudaStreamSynchronize(stream), &err);
    if (status != FMO_OK) goto done;

    double coulomb = 0.0, exchange = 0.0;
    for (size_t x = 0; x < size; x++) {
        coulomb += 0.5 * density[x] * result[x];
        exchange -= 0.25 * density[x] * result[size + x];
    }
    printf("%s: Coulomb energy %.6f, exchange energy %.6f hartree\n", fmo_dataset_formula(dataset),
           coulomb, exchange);
done:
    if (status != FMO_OK) fprintf(stderr, "%s: %s\n", fmo_status_text(status), err.message);
    free(result);
    cudaFree(D);
    cudaFree(J);
    cudaFree(K);
    fmo_fock_plan_destroy(plan); /* before its stream */
    if (stream) cudaStreamDestroy(stream);
    fmo_dataset_destroy(dataset);
    return fmo_status_exit_code(status);
}
