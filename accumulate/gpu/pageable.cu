/* Copies through a few slots of page-locked memory that all threads share; pageable.h explains why.
 */
#include "accumulate/gpu/pageable.h"

#include <pthread.h>
#include <string.h>

#include "accumulate/gpu/check.h"
#include "accumulate/tuning.h"

namespace {

/* Largest copy to the GPU that the driver buffers without waiting, in bytes. */
const size_t taken_at_once = fmo_tuning_gpu_send_direct_bytes;

/* Slots of page-locked memory for concurrent copies, allocated once and kept until the process
 * ends. An event belongs to one GPU; a slot that is used with another GPU gets a new event. */
enum { SLOTS = fmo_tuning_gpu_send_slots };
const size_t slot_bytes = fmo_tuning_gpu_send_slot_bytes;
typedef struct slot {
    char *memory;
    int device;
    cudaEvent_t event; /* after the last copy through this slot; or NULL */
    bool taken;
    unsigned long long used;
} slot;
struct {
    pthread_mutex_t lock;
    char *memory;
    bool tried;
    unsigned long long uses;
    slot of[SLOTS];
} slots = {PTHREAD_MUTEX_INITIALIZER, NULL, false, 0, {}};

/* Allocates the slots. The caller holds the lock. */
void make_slots(void)
{
    slots.tried = true;
    if (cudaHostAlloc((void **)&slots.memory, SLOTS * slot_bytes, cudaHostAllocPortable) !=
        cudaSuccess) {
        (void)cudaGetLastError(); /* not a sticky error */
        slots.memory = NULL;
    }
    for (int k = 0; k < SLOTS && slots.memory; k++)
        slots.of[k].memory = slots.memory + k * slot_bytes;
}

/* True if no queued copy uses the slot any longer. */
bool is_unused(const slot *s)
{
    if (!s->event) return true;
    const cudaError_t code = cudaEventQuery(s->event);
    if (code != cudaSuccess) (void)cudaGetLastError();
    return code == cudaSuccess;
}

/* Returns a slot that no thread has taken, or NULL; preferably one without a copy in progress, then
 * one last used with this GPU, then the one used longest ago. The caller holds the lock. */
slot *find_slot(int device)
{
    slot *found = NULL;
    int found_rank = 0;
    for (int k = 0; k < SLOTS; k++) {
        slot *const s = &slots.of[k];
        if (s->taken || !s->memory) continue;
        const int rank = (is_unused(s) ? 2 : 0) + (!s->event || s->device == device ? 1 : 0);
        if (found && (rank < found_rank || (rank == found_rank && s->used >= found->used)))
            continue;
        found = s;
        found_rank = rank;
    }
    return found;
}

/* Waits for copies that use the slot, and gives it an event of this GPU. */
cudaError_t make_own(slot *s, int device)
{
    if (s->event) FMO_GPU_TRY(cudaEventSynchronize(s->event));
    if (s->event && s->device != device) {
        cudaEvent_t const other = s->event;
        s->event = NULL;
        FMO_GPU_TRY(cudaEventDestroy(other));
    }
    s->device = device;
    return s->event ? cudaSuccess : cudaEventCreateWithFlags(&s->event, cudaEventDisableTiming);
}

/* Takes a slot for a copy; NULL if there is none or the copy is too large. */
slot *take_slot(size_t bytes)
{
    int device = -1;
    if (bytes > slot_bytes || cudaGetDevice(&device) != cudaSuccess) return NULL;
    (void)pthread_mutex_lock(&slots.lock);
    if (!slots.tried) make_slots();
    slot *const s = find_slot(device);
    if (s) {
        s->taken = true;
        s->used = ++slots.uses;
    }
    (void)pthread_mutex_unlock(&slots.lock);
    if (!s || make_own(s, device) == cudaSuccess) return s;
    /* the caller copies without a slot, and gets any persistent error itself */
    (void)cudaGetLastError();
    return NULL; /* the slot stays taken and is not used again */
}

/* Makes the slot available to other threads. */
void return_slot(slot *s)
{
    (void)pthread_mutex_lock(&slots.lock);
    s->taken = false;
    (void)pthread_mutex_unlock(&slots.lock);
}

/* Copies through a slot. After an error the slot stays taken, because a copy may still use it. */
cudaError_t send_through(slot *s, void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    memcpy(s->memory, from, bytes);
    FMO_GPU_TRY(cudaMemcpyAsync(to, s->memory, bytes, cudaMemcpyHostToDevice, stream));
    FMO_GPU_TRY(cudaEventRecord(s->event, stream));
    return_slot(s);
    return cudaSuccess;
}

cudaError_t bring_through(slot *s, void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    FMO_GPU_TRY(cudaMemcpyAsync(s->memory, from, bytes, cudaMemcpyDeviceToHost, stream));
    FMO_GPU_TRY(cudaEventRecord(s->event, stream));
    FMO_GPU_TRY(cudaEventSynchronize(s->event));
    memcpy(to, s->memory, bytes);
    return_slot(s);
    return cudaSuccess;
}

} // namespace

cudaError_t fmo_gpu_send(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    if (bytes > taken_at_once) {
        slot *const s = take_slot(bytes);
        if (s) return send_through(s, to, from, bytes, stream);
        FMO_GPU_TRY(cudaStreamSynchronize(stream));
    }
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
}

cudaError_t fmo_gpu_bring(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    slot *const s = take_slot(bytes);
    if (s) return bring_through(s, to, from, bytes, stream);
    FMO_GPU_TRY(cudaStreamSynchronize(stream));
    FMO_GPU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
    return cudaStreamSynchronize(stream);
}
