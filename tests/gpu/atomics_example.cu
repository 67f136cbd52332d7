/* A histogram with warp-aggregated atomics: the example of docs/reference/atomics.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>
#include <fmo/atomics.cuh>

enum { SAMPLES = 1000003, BINS = 10, THREADS = 128, BLOCKS = 264 };

__global__ void histogram(const double *x, int num, int *count, double *sum)
{
    const fmo_scatter_warp_match<fmo_commit_native> scatter;
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < num; i += BLOCKS * THREADS) {
        const int bin = (int)(x[i] * BINS);
        fmo_atomic_add_warp_match(&count[bin], 1);    /* as atomicAdd, old value included */
        scatter.add(__activemask(), &sum[bin], x[i]); /* faster where it is not needed */
    }
}

int main(void)
{
    int devices, count[BINS], wrong = 0;
    double sum[BINS], *x, *x_device, *sum_device;
    int *count_device;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
        const char *require = getenv("FMO_REQUIRE_GPU");
        printf("skipped: %s\n", cudaGetErrorString(error));
        return require && *require && strcmp(require, "0") != 0 ? 1 : 77;
    }
    x = (double *)malloc(SAMPLES * sizeof *x);
    if (!x) return 1;
    for (int i = 0; i < SAMPLES; i++) x[i] = (i % 1000 + 0.5) / 1000.0;
    cudaMalloc((void **)&x_device, SAMPLES * sizeof *x);
    cudaMalloc((void **)&count_device, sizeof count);
    cudaMalloc((void **)&sum_device, sizeof sum);
    cudaMemcpy(x_device, x, SAMPLES * sizeof *x, cudaMemcpyHostToDevice);
    cudaMemset(count_device, 0, sizeof count);
    cudaMemset(sum_device, 0, sizeof sum);
    histogram<<<BLOCKS, THREADS>>>(x_device, SAMPLES, count_device, sum_device);
    cudaMemcpy(count, count_device, sizeof count, cudaMemcpyDeviceToHost);
    if (cudaMemcpy(sum, sum_device, sizeof sum, cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    for (int i = 0; i < SAMPLES; i++) count[(int)(x[i] * BINS)]--, sum[(int)(x[i] * BINS)] -= x[i];
    for (int b = 0; b < BINS; b++) wrong += count[b] != 0 || !(sum[b] < 1e-6 && sum[b] > -1e-6);
    printf("%d of %d bins wrong\n", wrong, BINS);
    cudaFree(x_device), cudaFree(count_device), cudaFree(sum_device), free(x);
    return wrong != 0;
}
