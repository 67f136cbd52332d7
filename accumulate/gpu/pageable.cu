#include "accumulate/gpu/pageable.h"

#include <pthread.h>
#include <string.h>

#include "accumulate/gpu/check.h"

namespace {

/* What the driver takes with the call of a copy to the GPU, without waiting. */
const size_t taken_at_once = (size_t)64 << 10;

/* Page-locked memory for a few calls side by side, kept to the end of the process. An event is of
 * one GPU; a slot goes to another when that needs it. */
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

/* Nothing uses it any longer. */
bool is_over(const slot *s)
{
    if (!s->event) return true;
    const cudaError_t code = cudaEventQuery(s->event);
    if (code != cudaSuccess) (void)cudaGetLastError();
    return code == cudaSuccess;
}

/* Of those that nobody has the one that was used longest ago, one that is over before others, and
 * then one of this GPU. With the lock. */
slot *find_slot(int device)
{
    slot *found = NULL;
    int found_rank = 0;
    for (int k = 0; k < SLOTS; k++) {
        slot *const s = &slots.of[k];
        if (s->taken || !s->memory) continue;
        const int rank = (is_over(s) ? 2 : 0) + (!s->event || s->device == device ? 1 : 0);
        if (found && (rank < found_rank || (rank == found_rank && s->used >= found->used)))
            continue;
        found = s;
        found_rank = rank;
    }
    return found;
}

/* Waits for what uses the slot, and makes it this GPU's. */
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
    if (!s || make_own(s, device) == cudaSuccess) return s;
    (void)cudaGetLastError(); /* the caller's copy does without, and interacts what lasts */
    return NULL;              /* the slot stays taken: for nobody */
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
