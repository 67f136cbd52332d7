/* Finds GPUs and manages what a plan has of one: stream, events, and memory from cudaMalloc or the
 * device's memory pool. The functions are described in device.h. */
#include "accumulate/gpu/device.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/gpu/pageable.h"

fmo_status fmo_gpu_error(cudaError_t code, const char *what, fmo_error *err)
{
    if (code == cudaErrorMemoryAllocation)
        return fmo_error_set(err, FMO_ERR_MEMORY, "out of GPU memory: %s", what);
    return fmo_error_set(err, FMO_ERR_DEVICE, "GPU fault: %s: %s (%s)", what,
                         cudaGetErrorString(code), cudaGetErrorName(code));
}

extern "C" int fmo_gpu_count(void)
{
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

extern "C" int64_t fmo_gpu_identity(void)
{
    cudaDeviceProp properties;
    int64_t half[2];
    static_assert(sizeof half == sizeof properties.uuid, "device.cu: 16 bytes");
    if (!fmo_gpu_count() || cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 0;
    memcpy(half, &properties.uuid, sizeof half);
    const int64_t both = half[0] ^ half[1];
    return both ? both : 1;
}

/* Checks driver, number of the device, and compute capability (7.5 or higher). */
extern "C" fmo_status fmo_gpu_probe(int *device, fmo_error *err)
{
    int devices = 0, major = 0, minor = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaErrorInsufficientDriver)
        return fmo_error_set(err, FMO_ERR_NO_DEVICE, "no NVIDIA driver, or one too old for CUDA %d",
                             CUDART_VERSION / 1000);
    if (code == cudaErrorNoDevice || (code == cudaSuccess && devices == 0))
        return fmo_error_set(err, FMO_ERR_NO_DEVICE, "no NVIDIA GPU found");
    FMO_GPU_CHECK(code, "counting the GPUs", err);
    if (*device >= devices)
        return fmo_error_set(err, FMO_ERR_NO_DEVICE, "no GPU %d: there are %d, counted from 0",
                             *device, devices);
    if (*device < 0) FMO_GPU_CHECK(cudaGetDevice(device), "querying the current GPU", err);
    FMO_GPU_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, *device),
                  "querying the compute capability", err);
    FMO_GPU_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, *device),
                  "querying the compute capability", err);
    if (10 * major + minor < 75)
        return fmo_error_set(err, FMO_ERR_NO_DEVICE,
                             "GPU %d has compute capability %d.%d, but 7.5 or later is required",
                             *device, major, minor);
    return FMO_OK;
}

fmo_gpu_device_guard::fmo_gpu_device_guard(int device) : before(-1)
{
    int now = -1;
    if (cudaGetDevice(&now) == cudaSuccess && now == device) return;
    before = now;
    (void)cudaSetDevice(device);
}

fmo_gpu_device_guard::~fmo_gpu_device_guard()
{
    if (before >= 0) (void)cudaSetDevice(before);
}

/* Queries the properties of the device. */
static cudaError_t query_properties(fmo_gpu_device *d)
{
    cudaDeviceProp properties;
    FMO_GPU_TRY(cudaGetDeviceProperties(&properties, d->number));
    d->pools = properties.memoryPoolsSupported;
    d->processors = properties.multiProcessorCount;
    d->shared_bytes = properties.sharedMemPerBlockOptin;
    const char *const limit = getenv("FMO_TEST_SHARED_BYTES"); /* tests: as on a smaller GPU */
    const size_t limit_bytes = limit ? (size_t)strtoull(limit, NULL, 10) : SIZE_MAX;
    if (limit_bytes < d->shared_bytes) d->shared_bytes = limit_bytes;
    d->cache_bytes = (size_t)properties.l2CacheSize;
    (void)snprintf(d->name, sizeof d->name, "%.90s", properties.name);
    return cudaSuccess;
}

/* Copies the properties of an open device on the same GPU. */
static void copy_properties(fmo_gpu_device *d, const fmo_gpu_device *like)
{
    d->pools = like->pools;
    d->processors = like->processors;
    d->shared_bytes = like->shared_bytes;
    d->cache_bytes = like->cache_bytes;
    memcpy(d->name, like->name, sizeof d->name);
}

/* Gets the properties, and creates the stream, unless it is the caller's, and the events. */
static cudaError_t open(fmo_gpu_device *d, const fmo_gpu_device *like)
{
    if (like)
        copy_properties(d, like);
    else
        FMO_GPU_TRY(query_properties(d));
    if (!d->pools) d->pooled = 0;
    if (!d->stream) {
        FMO_GPU_TRY(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
        d->own_stream = 1;
    }
    d->last = d->stream;
    FMO_GPU_TRY(cudaEventCreate(&d->start));
    return cudaEventCreate(&d->finished);
}

fmo_status fmo_gpu_device_open(fmo_gpu_device *device, const fmo_fock_options *options, int pooled,
                               fmo_error *err)
{
    return fmo_gpu_device_open_like(device, options, pooled, NULL, err);
}

fmo_status fmo_gpu_device_open_like(fmo_gpu_device *device, const fmo_fock_options *options,
                                    int pooled, const fmo_gpu_device *like, fmo_error *err)
{
    memset(device, 0, sizeof *device);
    device->pooled = pooled;
    device->number = options->device;
    device->memory = options->memory;
    device->stream = (cudaStream_t)options->stream;
    const fmo_gpu_device_guard guard(device);
    /* Clears an error that an earlier call left behind; otherwise cudaGetLastError would report it
     * after the first launch. */
    (void)cudaGetLastError();
    FMO_GPU_CHECK(open(device, like), "preparing the GPU", err);
    return FMO_OK;
}

void fmo_gpu_device_wait(const fmo_gpu_device *d)
{
    if (d->stream) (void)cudaStreamSynchronize(d->stream);
    if (d->finished) (void)cudaEventSynchronize(d->finished); /* may be on another stream */
}

/* Allocates memory, from the pool if `pooled`; the device's stream then waits for the allocation.
 */
static cudaError_t take(fmo_gpu_device *d, int pooled, void **pointer, size_t bytes)
{
    if (!pooled) return cudaMalloc(pointer, bytes);
    if (!d->placed) FMO_GPU_TRY(cudaEventCreateWithFlags(&d->placed, cudaEventDisableTiming));
    FMO_GPU_TRY(cudaMallocAsync(pointer, bytes, cudaStreamLegacy));
    cudaError_t code = cudaEventRecord(d->placed, cudaStreamLegacy);
    if (code == cudaSuccess) code = cudaStreamWaitEvent(d->stream, d->placed, 0);
    if (code != cudaSuccess) (void)cudaFreeAsync(*pointer, cudaStreamLegacy);
    return code;
}

/* Frees memory. No queued work may use it any longer. */
static cudaError_t free_memory(int pooled, void *pointer)
{
    return pooled ? cudaFreeAsync(pointer, cudaStreamLegacy) : cudaFree(pointer);
}

/* True if the memory is part of the device's stock. */
static bool of_stock(const fmo_gpu_device *d, const void *pointer)
{
    return d->stock && (const char *)pointer >= d->stock_begin &&
           (const char *)pointer < d->stock_end;
}

void fmo_gpu_device_close(fmo_gpu_device *d)
{
    const fmo_gpu_device_guard guard(d);
    for (int p = 0; p < d->arena.num; p++)
        if (!of_stock(d, d->arena.piece[p].at)) (void)free_memory(d->pooled, d->arena.piece[p].at);
    free(d->arena.piece);
    if (d->stock && __atomic_sub_fetch(&d->stock->users, 1, __ATOMIC_ACQ_REL) == 0) {
        (void)free_memory(d->stock->pooled, d->stock->at);
        free(d->stock);
    }
    if (d->placed) (void)cudaEventDestroy(d->placed);
    if (d->start) (void)cudaEventDestroy(d->start);
    if (d->finished) (void)cudaEventDestroy(d->finished);
    if (d->own_stream) (void)cudaStreamDestroy(d->stream);
    (void)cudaGetLastError(); /* of things that were never created */
    memset(d, 0, sizeof *d);
}

cudaError_t fmo_gpu_follow(fmo_gpu_device *device, cudaStream_t stream)
{
    if (device->last != stream) FMO_GPU_TRY(cudaStreamWaitEvent(stream, device->finished, 0));
    device->last = stream;
    return cudaSuccess;
}

fmo_status fmo_gpu_available_memory(size_t *bytes, fmo_error *err)
{
    size_t total = 0;
    FMO_GPU_CHECK(cudaMemGetInfo(bytes, &total), "asking for free memory", err);
    return FMO_OK;
}

/* ---- the arena ------------------------------------------------------------------------------ */

/* Bytes that an array takes in a piece of memory: rounded up to 256, the alignment of an
 * allocation. */
static size_t placed_bytes(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Allocates the stock and gives each device its range. Without memory the devices have no stock. */
void fmo_gpu_alloc_stock(fmo_gpu_device *const *device, const size_t *bytes, int num)
{
    fmo_gpu_stock *const stock = (fmo_gpu_stock *)malloc(sizeof *stock);
    size_t all = 0;
    for (int k = 0; k < num; k++) all += placed_bytes(bytes[k]);
    if (!stock || !all || take(device[0], device[0]->pooled, &stock->at, all) != cudaSuccess) {
        /* the error is not sticky: the next check must not see it */
        if (stock && all) (void)cudaGetLastError();
        free(stock);
        return;
    }
    stock->pooled = device[0]->pooled;
    stock->users = num;
    char *at = (char *)stock->at;
    for (int k = 0; k < num; k++) {
        device[k]->stock = stock;
        device[k]->stock_begin = device[k]->stock_at = at;
        device[k]->stock_end = at += placed_bytes(bytes[k]);
    }
}

void *fmo_gpu_stock_left(const fmo_gpu_device *device, size_t bytes)
{
    const bool enough = device->stock && bytes <= (size_t)(device->stock_end - device->stock_at);
    return enough ? device->stock_at : NULL;
}

/* Allocates memory; if that fails, sets a message with the bytes that are needed and free. */
static fmo_status alloc_or_explain(fmo_gpu_device *device, int pooled, const char *what,
                                   size_t bytes, void **pointer, fmo_error *err)
{
    size_t available = 0, total = 0;
    const cudaError_t code = take(device, pooled, pointer, bytes ? bytes : 1);
    if (code == cudaSuccess) return FMO_OK;
    *pointer = NULL;
    (void)cudaGetLastError(); /* the error is not sticky: the next check must not see it */
    if (code != cudaErrorMemoryAllocation) return fmo_gpu_error(code, what, err);
    (void)cudaMemGetInfo(&available, &total);
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "out of GPU memory: %s needs %.3f GB, %.3f of %.3f GB are free", what,
                         1e-9 * (double)bytes, 1e-9 * (double)available, 1e-9 * (double)total);
}

/* Takes memory from the stock or allocates it, and adds it to the arena's list of pieces. */
fmo_status fmo_gpu_alloc(fmo_gpu_device *device, const char *what, size_t bytes, void **pointer,
                         fmo_error *err)
{
    fmo_gpu_arena *const a = &device->arena;
    if (a->num == a->capacity) {
        const int capacity = 2 * a->capacity + 16;
        fmo_gpu_piece *const more =
            (fmo_gpu_piece *)realloc(a->piece, (size_t)capacity * sizeof *more);
        if (!more) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a list of GPU memory");
        a->piece = more;
        a->capacity = capacity;
    }
    const size_t place = placed_bytes(bytes ? bytes : 1);
    *pointer = fmo_gpu_stock_left(device, place);
    if (*pointer) {
        device->stock_at += place;
    } else {
        const fmo_status status =
            alloc_or_explain(device, device->pooled, what, bytes, pointer, err);
        if (status != FMO_OK) return status;
    }
    a->piece[a->num].at = *pointer;
    a->piece[a->num++].bytes = bytes;
    a->bytes += bytes;
    if (a->bytes > a->bytes_max) a->bytes_max = a->bytes;
    return FMO_OK;
}

void fmo_gpu_free(fmo_gpu_device *device, void *pointer)
{
    fmo_gpu_arena *const a = &device->arena;
    int p = 0;
    while (p < a->num && a->piece[p].at != pointer) p++;
    if (p == a->num) return;
    if (!of_stock(device, pointer)) {
        if (device->pooled) fmo_gpu_device_wait(device); /* cudaFree waits by itself */
        (void)free_memory(device->pooled, pointer);
    }
    a->bytes -= a->piece[p].bytes;
    a->piece[p] = a->piece[--a->num];
}

fmo_status fmo_gpu_alloc_temporary(fmo_gpu_device *device, const char *what, size_t bytes,
                                   void **pointer, fmo_error *err)
{
    fmo_gpu_arena *const a = &device->arena;
    const fmo_status status = alloc_or_explain(device, device->pools, what, bytes, pointer, err);
    if (status != FMO_OK) return status;
    a->bytes += bytes;
    if (a->bytes > a->bytes_max) a->bytes_max = a->bytes;
    return FMO_OK;
}

void fmo_gpu_free_temporary(fmo_gpu_device *device, void *pointer, size_t bytes)
{
    if (!pointer) return;
    (void)free_memory(device->pools, pointer);
    device->arena.bytes -= bytes;
}

fmo_status fmo_gpu_alloc_cached(fmo_gpu_device *device, const char *what, size_t bytes,
                                void **pointer, fmo_error *err)
{
    return alloc_or_explain(device, device->pools, what, bytes, pointer, err);
}

void fmo_gpu_free_cached(int device, int pools, void *pointer)
{
    const fmo_gpu_device_guard guard(device);
    if (pointer) (void)free_memory(pools, pointer);
}

size_t fmo_gpu_arrays_bytes(const fmo_gpu_array *array, int num)
{
    size_t bytes = 0;
    for (int n = 0; n < num; n++) bytes += placed_bytes(array[n].bytes);
    return bytes;
}

size_t fmo_gpu_arrays_staged_bytes(const fmo_gpu_array *array, int num)
{
    int staged = 0;
    while (staged < num && array[staged].staged) staged++;
    return fmo_gpu_arrays_bytes(array, staged);
}

fmo_status fmo_gpu_place_arrays(fmo_gpu_device *device, const char *what,
                                const fmo_gpu_array *array, int num, fmo_error *err)
{
    void *memory = NULL;
    const fmo_status status =
        fmo_gpu_alloc(device, what, fmo_gpu_arrays_bytes(array, num), &memory, err);
    if (status == FMO_OK) fmo_gpu_put_arrays(memory, array, num);
    return status;
}

void fmo_gpu_put_arrays(void *memory, const fmo_gpu_array *array, int num)
{
    char *at = (char *)memory;
    for (int n = 0; n < num; at += placed_bytes(array[n++].bytes))
        *array[n].at = array[n].bytes ? at : NULL;
}

void *fmo_gpu_stage(const fmo_gpu_array *array, int num)
{
    char *const memory = (char *)calloc(1, fmo_gpu_arrays_staged_bytes(array, num) + 1);
    size_t at = 0;
    for (int n = 0; n < num && memory && array[n].staged; at += placed_bytes(array[n++].bytes))
        *array[n].staged = memory + at;
    return memory;
}

fmo_status fmo_gpu_upload(const fmo_gpu_device *device, const char *what, const void *staged,
                          const fmo_gpu_array *array, int num, fmo_error *err)
{
    const size_t bytes = fmo_gpu_arrays_staged_bytes(array, num);
    int first = 0; /* the first array with bytes begins the piece */
    while (first < num && !array[first].bytes) first++;
    if (!bytes || first == num) return FMO_OK;
    FMO_GPU_CHECK(fmo_gpu_send(*array[first].at, staged, bytes, device->stream), what, err);
    return FMO_OK;
}
