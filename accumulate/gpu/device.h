/* One GPU as a plan uses it: which one, what it has, the stream that work goes to, and an arena of
 * device memory. Every call that works on a device enters it (fmo_gpu_inside) and leaves the
 * caller's choice of a GPU as it was. C++ only. */
#ifndef FMO_GPU_DEVICE_H
#define FMO_GPU_DEVICE_H

#include <stddef.h>

#include <fmo/fock.h>
#include "accumulate/gpu/check.h"

/* Device memory that lives as long as the device, or until it is given back. */
typedef struct fmo_gpu_piece {
    void *at;
    size_t bytes;
} fmo_gpu_piece;
typedef struct fmo_gpu_arena {
    fmo_gpu_piece *piece;
    int num, capacity;
    size_t bytes, bytes_most; /* their sum, and the largest that it has been */
} fmo_gpu_arena;

/* Memory taken at once for what one or several plans will ask for; it goes with the last of them.
 */
typedef struct fmo_gpu_stock {
    void *at;
    int pooled;
    int users; /* changed atomically */
} fmo_gpu_stock;

typedef struct fmo_gpu_device {
    int number;                       /* CUDA's */
    int processors;                   /* multiprocessors */
    size_t shared_bytes, cache_bytes; /* shared memory that a block may have; L2 */
    size_t memory;                    /* bytes that builds may take, options.memory; 0: no limit */
    char name[96];
    cudaStream_t stream; /* the caller's or its own */
    int own_stream;
    cudaStream_t last;           /* where the last build is queued; it ends with `finished` */
    cudaEvent_t start, finished; /* of the last build's kernels */
    /* Memory comes from the device's pool: plans of a batch come and go by the hundred, and
     * cudaFree would wait each time for whatever else the GPU is doing. It is taken and given back
     * on the default stream, one for all: among blocks that were given back on a thousand streams,
     * which are gone, the pool searches for 6 ms each time
     * (docs/results/2026-11-23-904c2d5/h200-pool.txt). */
    int pooled;
    int pools;          /* the GPU has such pools */
    cudaEvent_t placed; /* the last memory from the pool is there; NULL: there was none */
    fmo_gpu_arena arena;
    fmo_gpu_stock *stock; /* where the arena takes memory from as long as it lasts; or NULL */
    char *stock_begin, *stock_at, *stock_end; /* this device's segment of it; what is left of it */
} fmo_gpu_device;

/* Stream and events on the GPU that the options name; pooled: as above. On error there may be
 * something to close. */
fmo_status fmo_gpu_device_open(fmo_gpu_device *device, const fmo_fock_options *options, int pooled,
                               fmo_error *err);
/* The same beside an open one of the same GPU, which need not be asked again; like: or NULL. */
fmo_status fmo_gpu_device_open_like(fmo_gpu_device *device, const fmo_fock_options *options,
                                    int pooled, const fmo_gpu_device *like, fmo_error *err);
/* Waits for the last build. */
void fmo_gpu_device_wait(const fmo_gpu_device *device);
/* Gives everything back; nothing may be queued any longer: the caller has waited. */
void fmo_gpu_device_close(fmo_gpu_device *device);

/* While it is in scope the thread uses the device; then the one that it used before. */
struct fmo_gpu_inside {
    explicit fmo_gpu_inside(int device);
    explicit fmo_gpu_inside(const fmo_gpu_device *device) : fmo_gpu_inside(device->number) {}
    ~fmo_gpu_inside();
    fmo_gpu_inside(const fmo_gpu_inside &) = delete;
    fmo_gpu_inside &operator=(const fmo_gpu_inside &) = delete;

  private:
    int before; /* -1: the same */
};

/* What is queued on a stream from here on comes after the device's last build. */
cudaError_t fmo_gpu_follow(fmo_gpu_device *device, cudaStream_t stream);

/* Free memory, bytes, of the device that the thread is inside of. */
fmo_status fmo_gpu_available_memory(size_t *bytes, fmo_error *err);

/* Memory of the arena. FMO_OK, FMO_ERR_MEMORY (the message says how much is free) or
 * FMO_ERR_DEVICE. */
fmo_status fmo_gpu_alloc(fmo_gpu_device *device, const char *what, size_t bytes, void **pointer,
                         fmo_error *err);
/* Takes memory at once for what so many devices of one GPU, whose arenas are in use together, will
 * ask for, each of them `bytes`: one call of the driver, which has a lock for all threads, for
 * dozens. Where there is none, they ask for theirs by themselves. What is queued on the stream of
 * the first comes after it; others have to wait for that. */
void fmo_gpu_stock_up(fmo_gpu_device *const *device, const size_t *bytes, int num);
/* So many bytes of a stock that the device has not asked for yet, for a while; NULL: there are not
 * as many left. */
void *fmo_gpu_stock_left(const fmo_gpu_device *device, size_t bytes);
/* Gives a piece back before the end; NULL is fine. Of a stock it goes with the rest. */
void fmo_gpu_free(fmo_gpu_device *device, void *pointer);

/* Memory that is given back before the call that takes it returns, from the pool of the device if
 * there is one: cudaMalloc and cudaFree would take longer than what is made in it. Nothing queued
 * may use it any longer when it goes. */
fmo_status fmo_gpu_alloc_passing(fmo_gpu_device *device, const char *what, size_t bytes,
                                 void **pointer, fmo_error *err);
void fmo_gpu_free_passing(fmo_gpu_device *device, void *pointer, size_t bytes);

/* Memory that outlives the device, for what is queued on its stream from here on; and gives it
 * back, by CUDA's number of the GPU and `pools` of the device. Nothing queued may use it any
 * longer. */
fmo_status fmo_gpu_alloc_cached(fmo_gpu_device *device, const char *what, size_t bytes,
                                void **pointer, fmo_error *err);
void fmo_gpu_let_memory_go(int device, int pools, void *pointer);

/* Arrays that share one piece of memory, which begins with the first. Those with a place in host
 * memory (`staged`) come first; they are filled in there and copied together. */
typedef struct fmo_gpu_array {
    size_t bytes;
    void **at;     /* where it is on the device; NULL if it has no bytes */
    void **staged; /* where it is on the host; NULL: it is not staged */
} fmo_gpu_array;

/* Bytes of all of them; of those that are staged. */
size_t fmo_gpu_arrays_bytes(const fmo_gpu_array *array, int num);
size_t fmo_gpu_arrays_staged_bytes(const fmo_gpu_array *array, int num);

/* Where the arrays are in a piece of memory of the device. */
void fmo_gpu_put_arrays(void *memory, const fmo_gpu_array *array, int num);
/* Places the arrays on the device. */
fmo_status fmo_gpu_place_arrays(fmo_gpu_device *device, const char *what,
                                const fmo_gpu_array *array, int num, fmo_error *err);
/* Places them in zeroed host memory, to be freed with free(); NULL without memory. */
void *fmo_gpu_stage(const fmo_gpu_array *array, int num);
/* Copies what is staged, for what comes later on the device's stream. cudaMemcpy would not do: it
 * may return before its data are there, and streams that do not block do not wait for it. The host
 * memory is pageable, so that it may be freed afterwards. */
fmo_status fmo_gpu_upload(const fmo_gpu_device *device, const char *what, const void *staged,
                          const fmo_gpu_array *array, int num, fmo_error *err);

#endif
