/* One GPU as a plan uses it: its number and properties, the stream that work is queued on, and an
 * arena of device memory. Every call that works on a device makes it current with
 * fmo_gpu_device_guard, which restores the caller's choice of a GPU. C++ only. */
#ifndef FMO_GPU_DEVICE_H
#define FMO_GPU_DEVICE_H

#include <stddef.h>

#include <fmo/fock.h>
#include "accumulate/gpu/check.h"

/* A piece of device memory; it is freed with the device, or earlier by fmo_gpu_free. */
typedef struct fmo_gpu_piece {
    void *at;
    size_t bytes;
} fmo_gpu_piece;
typedef struct fmo_gpu_arena {
    fmo_gpu_piece *piece;
    int num, capacity;
    size_t bytes, bytes_max; /* bytes in use, and the largest value they have had */
} fmo_gpu_arena;

/* One allocation that one or several plans take memory from. It is freed with the last of them. */
typedef struct fmo_gpu_stock {
    void *at;
    int pooled;
    int users; /* changed atomically */
} fmo_gpu_stock;

typedef struct fmo_gpu_device {
    int number;                       /* as numbered by CUDA */
    int processors;                   /* number of multiprocessors */
    size_t shared_bytes, cache_bytes; /* shared memory of a block, at most; L2 cache */
    size_t memory; /* largest number of bytes that builds may use, options.memory; 0: no limit */
    char name[96];
    cudaStream_t stream; /* the caller's; the device's own if own_stream is set */
    int own_stream;
    cudaStream_t last;           /* stream of the last build, which ends with `finished` */
    cudaEvent_t start, finished; /* around the kernels of the last build */
    /* Memory comes from the device's memory pool (cudaMallocAsync), because plans of a batch are
     * made and destroyed by the hundred and cudaFree would wait each time for all other work of the
     * GPU. It is always allocated and freed on the default stream: if blocks were freed on a
     * thousand streams that no longer exist, each allocation would search for 6 ms
     * (docs/results/2026-11-23-904c2d5/h200-pool.txt). */
    int pooled;
    int pools;          /* the GPU supports memory pools */
    cudaEvent_t placed; /* recorded after the last allocation from the pool; NULL: there was none */
    fmo_gpu_arena arena;
    /* the arena takes memory from here as long as there is any; may be NULL */
    fmo_gpu_stock *stock;
    /* this device's range of it, and where the unused rest begins */
    char *stock_begin, *stock_at, *stock_end;
} fmo_gpu_device;

/* Creates stream and events on the GPU that the options name; pooled: as in fmo_gpu_device. After
 * an error the caller must close the device, too. */
fmo_status fmo_gpu_device_open(fmo_gpu_device *device, const fmo_fock_options *options, int pooled,
                               fmo_error *err);
/* The same, copying the properties from `like`, an open device on the same GPU; NULL: they are
 * queried. */
fmo_status fmo_gpu_device_open_like(fmo_gpu_device *device, const fmo_fock_options *options,
                                    int pooled, const fmo_gpu_device *like, fmo_error *err);
/* Waits for the last build. */
void fmo_gpu_device_wait(const fmo_gpu_device *device);
/* Frees everything. The caller must have waited for all queued work. */
void fmo_gpu_device_close(fmo_gpu_device *device);

/* While it is in scope the device is the thread's current GPU; then the previous one is current
 * again. */
struct fmo_gpu_device_guard {
    explicit fmo_gpu_device_guard(int device);
    explicit fmo_gpu_device_guard(const fmo_gpu_device *device)
        : fmo_gpu_device_guard(device->number)
    {
    }
    ~fmo_gpu_device_guard();
    fmo_gpu_device_guard(const fmo_gpu_device_guard &) = delete;
    fmo_gpu_device_guard &operator=(const fmo_gpu_device_guard &) = delete;

  private:
    int before; /* the previous GPU; -1: the same */
};

/* Makes work that is queued on the stream after this call wait for the device's last build. */
cudaError_t fmo_gpu_follow(fmo_gpu_device *device, cudaStream_t stream);

/* Free memory of the current device in bytes. */
fmo_status fmo_gpu_available_memory(size_t *bytes, fmo_error *err);

/* Allocates memory of the arena; `what` names it in error messages. Returns FMO_OK, FMO_ERR_MEMORY
 * (the message says how much is free) or FMO_ERR_DEVICE. */
fmo_status fmo_gpu_alloc(fmo_gpu_device *device, const char *what, size_t bytes, void **pointer,
                         fmo_error *err);
/* Allocates one stock for `num` devices, all of one GPU, whose arenas will take bytes[k] each. One
 * allocation replaces dozens, in each of which the driver would hold a lock that all threads need.
 * If there is not enough memory, the devices allocate for themselves later. Work on the stream of
 * device 0 is ordered after the allocation; other streams must wait for that. */
void fmo_gpu_alloc_stock(fmo_gpu_device *const *device, const size_t *bytes, int num);
/* Returns `bytes` of the stock that the device has not used yet, for temporary data until the next
 * fmo_gpu_alloc; NULL if fewer are left. */
void *fmo_gpu_stock_left(const fmo_gpu_device *device, size_t bytes);
/* Frees a piece early; NULL is allowed. Memory of a stock stays allocated until the stock is freed.
 */
void fmo_gpu_free(fmo_gpu_device *device, void *pointer);

/* Temporary memory, freed before the call that allocates it returns. It comes from the device's
 * pool if there is one, because cudaMalloc and cudaFree would take longer than the work done in it.
 * When it is freed, no queued work may use it any longer. */
fmo_status fmo_gpu_alloc_temporary(fmo_gpu_device *device, const char *what, size_t bytes,
                                   void **pointer, fmo_error *err);
void fmo_gpu_free_temporary(fmo_gpu_device *device, void *pointer, size_t bytes);

/* Memory that outlives the device; work queued on the device's stream is ordered after the
 * allocation. fmo_gpu_free_cached frees it, given CUDA's number of the GPU and `pools` of the
 * device; no queued work may use it any longer. */
fmo_status fmo_gpu_alloc_cached(fmo_gpu_device *device, const char *what, size_t bytes,
                                void **pointer, fmo_error *err);
void fmo_gpu_free_cached(int device, int pools, void *pointer);

/* One of several arrays that share one piece of memory, which begins with the first. Arrays that
 * are also staged in host memory must come first; they are filled in there and copied together. */
typedef struct fmo_gpu_array {
    size_t bytes;
    void **at;     /* gets the address on the device; NULL if bytes is 0 */
    void **staged; /* gets the address on the host; NULL: the array is not staged */
} fmo_gpu_array;

/* Bytes of all arrays; of the staged ones. */
size_t fmo_gpu_arrays_bytes(const fmo_gpu_array *array, int num);
size_t fmo_gpu_arrays_staged_bytes(const fmo_gpu_array *array, int num);

/* Sets the arrays' device addresses to places in `memory`. */
void fmo_gpu_put_arrays(void *memory, const fmo_gpu_array *array, int num);
/* Allocates the arrays on the device. */
fmo_status fmo_gpu_place_arrays(fmo_gpu_device *device, const char *what,
                                const fmo_gpu_array *array, int num, fmo_error *err);
/* Allocates zeroed host memory for the staged arrays, to be released with free(); NULL if there is
 * no memory. */
void *fmo_gpu_stage(const fmo_gpu_array *array, int num);
/* Copies the staged arrays to the device; later work on its stream sees them. cudaMemcpy would not
 * do, because it may return before its data have arrived, and non-blocking streams do not wait for
 * it. The pageable host memory may be freed after the call. */
fmo_status fmo_gpu_upload(const fmo_gpu_device *device, const char *what, const void *staged,
                          const fmo_gpu_array *array, int num, fmo_error *err);

#endif
