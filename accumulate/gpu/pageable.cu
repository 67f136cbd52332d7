#include "accumulate/gpu/pageable.h"

#include <pthread.h>
#include <string.h>

#include "accumulate/gpu/check.h"

namespace {

/* What the driver takes with the call of a copy to the GPU, without waiting. */
const size_t taken_at_once = (size_t)64 << 10;

/* Page-locked memory for a few calls side by side, kept to the end of the process. A slot belongs
 * to the GPU that its event was made for: the first one, as a rule; others do without. */
enum { SLOTS = 12 };
const size_t slot_bytes = (size_t)512 << 10;
typedef struct slot {
    char *memory;
    int device;
    cudaEvent_t event; /* or NULL; the copy from it that was queued last */
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

/* With the lock. */
void make_slots(void)
{
    slots.tried = true;
    if (cudaHostAlloc((void **)&slots.memory, SLOTS * slot_bytes, cudaHostAllocPortable) !=
        cudaSuccess) {
        (void)cudaGetLastError(); /* not sticky */
        slots.memory = NULL;
    }
    for (int k = 0; k < SLOTS && slots.memory; k++)
        slots.of[k].memory = slots.memory + k * slot_bytes;
}

/* Of those that nobody has, for this GPU or for none yet, the one that was used longest ago. With
 * the lock. */
slot *find_slot(int device)
{
    slot *found = NULL;
    for (int k = 0; k < SLOTS; k++) {
        slot *const s = &slots.of[k];
        if (s->taken || !s->memory || (s->event && s->device != device)) continue;
        if (!found || s->used < found->used) found = s;
    }
    return found;
}

/* NULL: there is none. */
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
    if (!s) return NULL;
    /* after a fault it stays taken: for nobody */
    if (s->event) return cudaEventSynchronize(s->event) == cudaSuccess ? s : NULL;
    s->device = device;
    if (cudaEventCreateWithFlags(&s->event, cudaEventDisableTiming) != cudaSuccess) s->event = NULL;
    return s->event ? s : NULL;
}

void return_slot(slot *s)
{
    (void)pthread_mutex_lock(&slots.lock);
    s->taken = false;
    (void)pthread_mutex_unlock(&slots.lock);
}

/* After a fault nobody gets the slot again, as something may still use it. */
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
