/* A group of ranks on GPUs: memory, peer access, host pages and proxies. Read next:
 * gmpi_memory.cuh, whose structures are set up here, and proxy.c. */
#include <fmo/gmpi.cuh>
#include <fmo/gmpi_net.h>
#include "group.h"
#include "net_local.h"
#include "proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

/* Restores the thread's current device at the end of a scope. */
struct device_keeper {
    int before = -1;
    device_keeper()
    {
        if (cudaGetDevice(&before) != cudaSuccess) before = -1, (void)cudaGetLastError();
    }
    ~device_keeper()
    {
        if (before >= 0) cudaSetDevice(before);
    }
};

struct cuda_mover {
    int device;
    cudaStream_t stream[2]; /* out, in: neither waits for kernels */
    cudaEvent_t event[2 * FMO_PROXY_PIECES];
};

struct local_rank {
    int device;
    unsigned char *memory; /* the segment, then the heap */
    fmo_gmpi_page *page;   /* pinned */
    void *pieces;          /* pinned; transport proxy */
    cuda_mover mover;
    fmo_proxy *proxy;
    fmo_gmpi_buf *buf; /* device */
    fmo_gmpi_buf host; /* what was written there at set-up */
};

/* What processes exchange at the start. */
struct introduction {
    cudaIpcMemHandle_t handle;
    cudaUUID_t gpu;
    char machine[64];
    unsigned long long heap_bytes;
    int transport, fault;
};

fmo_status fault(cudaError_t code, const char *what, fmo_error *err)
{
    (void)cudaGetLastError();
    return fmo_error_set(err, code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                         "gmpi: %s: %s", what, cudaGetErrorString(code));
}

} // namespace

#define TRY(call, what)                                             \
    do {                                                            \
        const cudaError_t code_ = (call);                           \
        if (code_ != cudaSuccess) return fault(code_, (what), err); \
    } while (0)

struct fmo_gmpi {
    fmo_gmpi_options options;
    int size, first, local_size;
    local_rank rank[FMO_GMPI_RANKS_MAX]; /* ranks of this process, by number - first */
    void *opened[FMO_GMPI_RANKS_MAX];    /* memory of ranks of other processes */
    size_t used;
    int channels;
    fmo_local *local;
    fmo_gmpi_net net[FMO_GMPI_RANKS_MAX];
    bool several_processes;
};

namespace {

/* Allocates a group. Its copies of device structures need an alignment of 128 bytes, which calloc
 * does not guarantee. */
fmo_gmpi *new_group(void)
{
    fmo_gmpi *g = (fmo_gmpi *)aligned_alloc(alignof(fmo_gmpi), sizeof(fmo_gmpi));
    if (g) memset((void *)g, 0, sizeof *g);
    return g;
}

/* Returns the size of a segment with boxes for existing ranks only. */
size_t segment_bytes(int ranks)
{
    const size_t box = sizeof(fmo_gmpi_segment::box[0]);
    return (offsetof(fmo_gmpi_segment, box) + (size_t)ranks * box + 255) / 256 * 256;
}

extern "C" int mover_start(void *user, int work_item, void *to, const void *from, size_t bytes)
{
    cuda_mover *m = (cuda_mover *)user;
    cudaStream_t stream = m->stream[work_item >= FMO_PROXY_PIECES];
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream) != cudaSuccess ||
           cudaEventRecord(m->event[work_item], stream) != cudaSuccess;
}
extern "C" int mover_test(void *user, int work_item, int *done)
{
    const cudaError_t code = cudaEventQuery(((cuda_mover *)user)->event[work_item]);
    *done = code == cudaSuccess;
    return code != cudaSuccess && code != cudaErrorNotReady;
}
extern "C" void mover_prepare(void *user)
{
    cudaSetDevice(((cuda_mover *)user)->device);
}

/* Chooses and checks the device of each rank of this process. */
fmo_status check_devices(fmo_gmpi *g, fmo_error *err)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        return fmo_error_set(err, FMO_ERR_NO_DEVICE, "gmpi: no NVIDIA GPU found; check nvidia-smi");
    }
    for (int r = 0; r < g->local_size; r++) {
        int cooperative = 0;
        const int device = g->options.devices     ? g->options.devices[r]
                           : g->several_processes ? g->net[0].node_rank % count
                                                  : r;
        if (device < 0 || device >= count)
            return fmo_error_set(err, FMO_ERR_NO_DEVICE,
                                 "gmpi: rank %d: no device %d; expected 0 to %d", r, device,
                                 count - 1);
        TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device), "device");
        if (!cooperative)
            return fmo_error_set(
                err, FMO_ERR_UNSUPPORTED,
                "gmpi: device %d does not support cooperative launch; use another GPU", device);
        g->rank[r].device = device;
    }
    return FMO_OK;
}

/* Creates the streams, events and pinned pieces with which a proxy copies long messages. */
fmo_status make_mover(local_rank *l, fmo_error *err)
{
    cuda_mover *m = &l->mover;
    m->device = l->device;
    for (int s = 0; s < 2; s++)
        TRY(cudaStreamCreateWithFlags(&m->stream[s], cudaStreamNonBlocking), "stream");
    for (int e = 0; e < 2 * FMO_PROXY_PIECES; e++)
        TRY(cudaEventCreateWithFlags(&m->event[e], cudaEventDisableTiming), "event");
    TRY(cudaHostAlloc(&l->pieces, 2 * (size_t)FMO_PROXY_PIECES * FMO_PROXY_PIECE,
                      cudaHostAllocPortable),
        "pinned memory");
    /* The first copies allocate memory, which would block if a kernel were waiting. */
    for (int e = 0; e < 2 * FMO_PROXY_PIECES; e++) {
        unsigned char *piece = (unsigned char *)l->pieces + (size_t)e * FMO_PROXY_PIECE;
        void *to = e < FMO_PROXY_PIECES ? (void *)piece : (void *)l->memory;
        const void *from = e < FMO_PROXY_PIECES ? (void *)l->memory : (void *)piece;
        memset(piece, 0, FMO_PROXY_PIECE);
        static_assert(sizeof(fmo_gmpi_segment::box[0]) >= FMO_PROXY_PIECE, "less than a piece");
        if (mover_start(m, e, to, from, FMO_PROXY_PIECE))
            return fault(cudaGetLastError(), "copies", err);
    }
    for (int s = 0; s < 2; s++) TRY(cudaStreamSynchronize(m->stream[s]), "copies");
    return FMO_OK;
}

/* Allocates the memory of the ranks, and the array of bufs on each device. */
fmo_status make_memory(fmo_gmpi *g, fmo_error *err)
{
    for (int r = 0; r < g->local_size; r++) {
        local_rank *l = &g->rank[r];
        TRY(cudaSetDevice(l->device), "device");
        const size_t bytes = segment_bytes(g->size) + g->options.heap_bytes;
        TRY(cudaMalloc((void **)&l->memory, bytes), "memory");
        TRY(cudaMemset(l->memory, 0, bytes), "memory");
        TRY(cudaHostAlloc((void **)&l->page, sizeof *l->page,
                          cudaHostAllocPortable | cudaHostAllocMapped),
            "pinned memory");
        memset(l->page, 0, sizeof *l->page);
        if (r > 0 && g->rank[r - 1].device == l->device) {
            l->buf = g->rank[r - 1].buf + 1;
            l->host.local = g->rank[r - 1].host.local + 1;
        } else {
            int count = 1;
            while (r + count < g->local_size && g->rank[r + count].device == l->device) count++;
            TRY(cudaMalloc((void **)&l->buf, (size_t)count * sizeof *l->buf), "memory");
            for (int k = 0; k < count; k++) g->rank[r + k].host.ranks_on_device = count;
        }
        const fmo_status status =
            g->options.transport == FMO_GMPI_PROXY ? make_mover(l, err) : FMO_OK;
        if (status != FMO_OK) return status;
        TRY(cudaDeviceSynchronize(), "memory");
    }
    return FMO_OK;
}

/* Enables peer access between all devices of this process. */
fmo_status enable_peers(fmo_gmpi *g, fmo_error *err)
{
    for (int r = 0; r < g->local_size; r++)
        for (int s = 0; s < g->local_size; s++) {
            const int from = g->rank[r].device, to = g->rank[s].device;
            int can = 0;
            if (from == to) continue;
            TRY(cudaDeviceCanAccessPeer(&can, from, to), "peer access");
            if (!can)
                return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                                     "gmpi: device %d cannot access the memory of device %d; use "
                                     "transport = proxy",
                                     from, to);
            TRY(cudaSetDevice(from), "device");
            const cudaError_t code = cudaDeviceEnablePeerAccess(to, 0);
            if (code == cudaErrorPeerAccessAlreadyEnabled)
                (void)cudaGetLastError();
            else
                TRY(code, "peer access");
        }
    return FMO_OK;
}

/* Exchanges addresses and settings between processes; with the transport peer they open each
 * other's memory. Processes that failed before take part, too, so that the others do not wait for
 * them. */
fmo_status synchronise_processes(fmo_gmpi *g, fmo_status status, fmo_error *err)
{
    introduction mine, all[FMO_GMPI_RANKS_MAX];
    const fmo_gmpi_net *net = &g->net[0];
    const local_rank *l = &g->rank[0];
    memset(&mine, 0, sizeof mine);
    mine.heap_bytes = g->options.heap_bytes;
    mine.transport = (int)g->options.transport;
    if (status == FMO_OK) {
        cudaDeviceProp properties;
        gethostname(mine.machine, sizeof mine.machine - 1);
        cudaError_t code = cudaGetDeviceProperties(&properties, l->device);
        mine.gpu = properties.uuid;
        if (code == cudaSuccess && g->options.transport == FMO_GMPI_PEER && g->size > 1)
            code = cudaIpcGetMemHandle(&mine.handle, l->memory);
        if (code != cudaSuccess) status = fault(code, "CUDA IPC", err);
    }
    mine.fault = status != FMO_OK;
    if (net->exchange(net->user, &mine, all, sizeof mine) != 0)
        return fmo_error_set(
            err, FMO_ERR_DEVICE,
            "gmpi: the ranks could not exchange their addresses; check the network");
    for (int r = 0; r < g->size; r++) {
        if (all[r].fault && status == FMO_OK)
            return fmo_error_set(err, FMO_ERR_DEVICE,
                                 "gmpi: rank %d could not start; see its own error message", r);
        if (status != FMO_OK) return status;
        if (all[r].heap_bytes != mine.heap_bytes || all[r].transport != mine.transport)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "gmpi: ranks %d and %d have different options; give all ranks the "
                                 "same transport and heap_bytes",
                                 r, g->first);
        const bool here = strcmp(all[r].machine, mine.machine) == 0;
        if (r != g->first && here && memcmp(&all[r].gpu, &mine.gpu, sizeof mine.gpu) == 0)
            return fmo_error_set(
                err, FMO_ERR_UNSUPPORTED,
                "gmpi: ranks %d and %d are two processes on one GPU, where their kernels may not "
                "run concurrently; start one process with two ranks instead",
                r, g->first);
        if (r != g->first && !here && g->options.transport == FMO_GMPI_PEER)
            return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                                 "gmpi: ranks %d and %d are on different machines (%.60s, %.60s); "
                                 "use transport = proxy",
                                 r, g->first, all[r].machine, mine.machine);
    }
    for (int r = 0; r < g->size && g->options.transport == FMO_GMPI_PEER; r++)
        if (r != g->first)
            TRY(cudaIpcOpenMemHandle(&g->opened[r], all[r].handle, cudaIpcMemLazyEnablePeerAccess),
                "CUDA IPC, memory of another process");
    return FMO_OK;
}

/* Writes the fmo_gmpi_buf of each rank of this process to its device. */
fmo_status write_bufs(fmo_gmpi *g, fmo_error *err)
{
    for (int r = 0; r < g->local_size; r++) {
        local_rank *l = &g->rank[r];
        fmo_gmpi_buf *h = &l->host;
        h->rank = g->first + r, h->size = g->size;
        h->transport = (int)g->options.transport;
        h->concurrent = g->options.concurrent;
        h->one_process = g->local_size == g->size;
        h->timeout = (unsigned long long)(1e9 * g->options.timeout);
        h->page = l->page;
        h->heap_bytes = g->options.heap_bytes;
        for (int s = 0; s < g->size; s++) {
            const int local = s - g->first;
            unsigned char *memory = local >= 0 && local < g->local_size
                                        ? g->rank[local].memory
                                        : (unsigned char *)g->opened[s];
            if (g->options.transport != FMO_GMPI_PEER && local != r) memory = nullptr;
            h->segment[s] = (fmo_gmpi_segment *)memory;
            h->heap[s] = memory ? memory + segment_bytes(g->size) : nullptr;
        }
        h->mine = h->segment[h->rank];
        TRY(cudaMemcpy(l->buf, h, sizeof *h, cudaMemcpyHostToDevice), "set-up");
    }
    return FMO_OK;
}

/* Sets the addresses of a channel that a rank's kernels need. */
void set_ends(const fmo_gmpi_buf *h, fmo_gmpi_row *row, int number)
{
    const bool out = h->rank == row->source;
    if (!out && h->rank != row->dest) return;
    fmo_gmpi_segment *other = h->segment[out ? row->dest : row->source];
    row->data = h->heap[row->dest] + row->offset;
    row->watch = out ? &h->mine->emptied[number] : &h->mine->arrived[number];
    row->tell = out ? &other->arrived[number] : &other->emptied[number];
}

fmo_status start_proxies(fmo_gmpi *g, fmo_error *err)
{
    for (int r = 0; r < g->local_size; r++) {
        local_rank *l = &g->rank[r];
        const fmo_mover mover = {&l->mover, mover_start, mover_test};
        l->proxy = fmo_proxy_create(l->page, l->pieces, &g->net[r], &mover, g->options.cuda_aware);
        if (!l->proxy || fmo_proxy_start(l->proxy, mover_prepare, &l->mover) != 0)
            return fmo_error_set(err, FMO_ERR_MEMORY,
                                 "gmpi: cannot start the thread of a proxy; reduce the number of "
                                 "processes or threads, or raise their limit (ulimit -u)");
    }
    return FMO_OK;
}

fmo_status build(fmo_gmpi *g, fmo_error *err)
{
    device_keeper keeper;
    const bool peer = g->options.transport == FMO_GMPI_PEER;
    fmo_status status = check_devices(g, err);
    if (status == FMO_OK && !g->several_processes && peer) status = enable_peers(g, err);
    if (status == FMO_OK) status = make_memory(g, err);
    if (g->several_processes) status = synchronise_processes(g, status, err);
    if (status == FMO_OK) status = write_bufs(g, err);
    if (status == FMO_OK && !peer) status = start_proxies(g, err);
    return status;
}

void free_rank(fmo_gmpi *g, int r)
{
    local_rank *l = &g->rank[r];
    cudaSetDevice(l->device);
    for (int s = 0; s < 2; s++)
        if (l->mover.stream[s]) cudaStreamDestroy(l->mover.stream[s]);
    for (int e = 0; e < 2 * FMO_PROXY_PIECES; e++)
        if (l->mover.event[e]) cudaEventDestroy(l->mover.event[e]);
    cudaFree(l->memory);
    if (r == 0 || g->rank[r - 1].device != l->device) cudaFree(l->buf);
    cudaFreeHost(l->page);
    cudaFreeHost(l->pieces);
}

} // namespace

extern "C" {

/* Creates a group within this process (gmpi.h). */
fmo_status fmo_gmpi_create(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    FMO_COMM_NEED(options);
    FMO_COMM_NEED(group);
    *group = nullptr;
    const fmo_status checked = fmo_comm_check_options(options, 0, err);
    if (checked != FMO_OK) return checked;
    fmo_gmpi *g = new_group();
    if (g) g->local = fmo_local_create(options->ranks);
    if (!g || !g->local) {
        free(g);
        return fmo_error_set(err, FMO_ERR_MEMORY, "gmpi: no memory for a group");
    }
    g->options = *options;
    g->size = g->local_size = options->ranks;
    for (int r = 0; r < g->size; r++) fmo_local_net(g->local, r, &g->net[r]);
    const fmo_status status = build(g, err);
    g->options.devices = nullptr; /* belongs to the caller */
    if (status == FMO_OK)
        *group = g;
    else
        fmo_gmpi_destroy(g);
    return status;
}

/* Creates a group with one rank in this process (gmpi_net.h). */
fmo_status fmo_gmpi_create_over(const fmo_gmpi_options *options, const fmo_gmpi_net *net,
                                fmo_gmpi **group, fmo_error *err)
{
    FMO_COMM_NEED(options);
    FMO_COMM_NEED(net);
    FMO_COMM_NEED(group);
    *group = nullptr;
    fmo_gmpi *g = new_group();
    if (!g) {
        net->destroy(net->user);
        return fmo_error_set(err, FMO_ERR_MEMORY, "gmpi: no memory for a group");
    }
    g->options = *options;
    g->several_processes = true;
    g->net[0] = *net;
    g->size = net->size, g->first = net->rank, g->local_size = 1;
    fmo_status status = fmo_comm_check_options(options, 1, err);
    if (status == FMO_OK) status = build(g, err);
    g->options.devices = nullptr;
    if (status == FMO_OK)
        *group = g;
    else
        fmo_gmpi_destroy(g);
    return status;
}

void fmo_gmpi_destroy(fmo_gmpi *g)
{
    if (!g) return;
    device_keeper keeper;
    for (int r = 0; r < g->local_size; r++) fmo_proxy_stop(g->rank[r].proxy);
    for (int r = 0; r < g->local_size; r++) fmo_proxy_destroy(g->rank[r].proxy);
    for (int r = 0; r < g->size; r++)
        if (g->opened[r]) cudaIpcCloseMemHandle(g->opened[r]);
    if (g->several_processes)
        g->net[0].destroy(g->net[0].user); /* its barrier ensures that no rank uses our
                                            * memory any more */
    fmo_local_destroy(g->local);
    for (int r = 0; r < g->local_size; r++) free_rank(g, r);
    (void)cudaGetLastError();
    free(g);
}

int fmo_gmpi_size(const fmo_gmpi *g)
{
    return g ? g->size : 0;
}
int fmo_gmpi_first(const fmo_gmpi *g)
{
    return g ? g->first : 0;
}
int fmo_gmpi_local_size(const fmo_gmpi *g)
{
    return g ? g->local_size : 0;
}

static const local_rank *local_of(const fmo_gmpi *g, int rank)
{
    return g && rank >= g->first && rank < g->first + g->local_size ? &g->rank[rank - g->first]
                                                                    : nullptr;
}

int fmo_gmpi_device(const fmo_gmpi *g, int rank)
{
    const local_rank *l = local_of(g, rank);
    return l ? l->device : -1;
}
void *fmo_gmpi_bufs(const fmo_gmpi *g, int rank)
{
    const local_rank *l = local_of(g, rank);
    return l ? l->buf - l->host.local : nullptr;
}
void *fmo_gmpi_address(const fmo_gmpi *g, int rank, size_t offset)
{
    const local_rank *l = local_of(g, rank);
    return l ? l->memory + segment_bytes(g->size) + offset : nullptr;
}

fmo_status fmo_gmpi_alloc(fmo_gmpi *g, size_t bytes, size_t *offset, fmo_error *err)
{
    if (!g) return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: group is NULL", __func__);
    FMO_COMM_NEED(offset);
    const size_t at = (g->used + 255) / 256 * 256;
    if (at > g->options.heap_bytes || bytes > g->options.heap_bytes - at)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "gmpi: cannot allocate %zu bytes, only %zu of heap_bytes = %zu are "
                             "free; increase heap_bytes",
                             bytes, at > g->options.heap_bytes ? 0 : g->options.heap_bytes - at,
                             g->options.heap_bytes);
    *offset = at;
    g->used = at + bytes;
    return FMO_OK;
}

/* Allocates the buffers of a channel and writes its row to each rank of this process (gmpi.h). */
fmo_status fmo_gmpi_channel_create(fmo_gmpi *g, int source, int dest, size_t bytes, int *channel,
                                   fmo_error *err)
{
    if (!g) return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: group is NULL", __func__);
    FMO_COMM_NEED(channel);
    device_keeper keeper;
    size_t offset = 0;
    if (source < 0 || source >= g->size || dest < 0 || dest >= g->size || source == dest)
        return fmo_error_set(
            err, FMO_ERR_ARGUMENT,
            "gmpi: channel from rank %d to rank %d: expected two different ranks from 0 to %d",
            source, dest, g->size - 1);
    if (bytes == 0 || bytes >> 31)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "gmpi: channel of %zu bytes: expected 1 to 2^31 - 1", bytes);
    if (g->channels == FMO_GMPI_CHANNELS_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "gmpi: more than %d channels; use messages with tags instead",
                             (int)FMO_GMPI_CHANNELS_MAX);
    const size_t half = (bytes + 255) / 256 * 256;
    const size_t halves = g->options.transport == FMO_GMPI_PEER ? 2 : 4;
    const fmo_status status = fmo_gmpi_alloc(g, halves * half, &offset, err);
    if (status != FMO_OK) return status;
    for (int r = 0; r < g->local_size; r++) {
        fmo_gmpi_row *row = &g->rank[r].host.channel[g->channels];
        row->source = source, row->dest = dest, row->offset = offset, row->bytes = half;
        if (g->options.transport == FMO_GMPI_PEER) set_ends(&g->rank[r].host, row, g->channels);
        TRY(cudaSetDevice(g->rank[r].device), "device");
        TRY(cudaMemcpy(&g->rank[r].buf->channel[g->channels], row, sizeof *row,
                       cudaMemcpyHostToDevice),
            "channel");
    }
    *channel = g->channels++;
    return FMO_OK;
}

fmo_status fmo_gmpi_check(const fmo_gmpi *g, fmo_error *err)
{
    if (!g) return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: group is NULL", __func__);
    /* A rank's own error is reported first, then an abort by the host, then an abort caused by
     * another rank. */
    for (int cause = 0; cause < 3; cause++)
        for (int r = 0; r < g->local_size; r++) {
            const volatile uint64_t *error = &g->rank[r].page->error.value;
            const uint64_t word = *error;
            const int own = (word & 255) != FMO_GMPI_ABORTED ? 0 : word >> 16 & 65535 ? 2 : 1;
            if (word && own == cause)
                return fmo_comm_error(word, g->first + r, g->options.timeout, err);
        }
    return FMO_OK;
}

void fmo_gmpi_abort(fmo_gmpi *g)
{
    if (!g) return;
    for (int r = 0; r < g->local_size; r++) {
        volatile uint64_t *abort = &g->rank[r].page->abort.value;
        *abort = fmo_gmpi_error_word(FMO_GMPI_ABORTED, FMO_GMPI_CALL_ABORT, -1, 0, 0);
    }
}

} // extern "C"
