/* NCCL, called by the host. The library is loaded when it is needed, so that fmo-bench also runs
 * where it is missing. See ranks_gpu.h. */
#include "ranks_gpu.h"

#include <dlfcn.h>
#include <nccl.h>

/* The functions that are used. */
#define NCCL_TABLE(X)   \
    X(ncclGetUniqueId)  \
    X(ncclCommInitRank) \
    X(ncclCommDestroy)  \
    X(ncclGroupStart)   \
    X(ncclGroupEnd)     \
    X(ncclSend)         \
    X(ncclRecv)         \
    X(ncclAllReduce)    \
    X(ncclReduce)       \
    X(ncclGetErrorString)

struct bench_nccl {
    void *library;
#define ROW(name) decltype(&::name) name;
    NCCL_TABLE(ROW)
#undef ROW
    int first, local_ranks, device[BENCH_RANKS_MAX];
    ncclComm_t comm[BENCH_RANKS_MAX];
    ncclResult_t code;
};

/* Loads the library and creates the communicators of this process's ranks. */
bench_nccl *bench_nccl_open(const bench_world *w, int ranks, const int *devices, char *why,
                            size_t size)
{
    bench_nccl *n = new bench_nccl();
    n->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool good = n->library != nullptr;
    snprintf(why, size, "no libnccl.so.2 here");
#define ROW(name_)                                                      \
    if (good) n->name_ = (decltype(n->name_))dlsym(n->library, #name_); \
    good = good && n->name_;
    NCCL_TABLE(ROW)
#undef ROW
    if (bench_world_max(w, !good) > 0.0) {
        delete n;
        return nullptr;
    }
    ncclUniqueId id;
    n->code = ncclSuccess;
    n->first = w->rank;
    n->local_ranks = w->processes > 1 ? 1 : ranks;
    if (w->rank == 0) n->code = n->ncclGetUniqueId(&id);
    bench_world_share(w, &id, sizeof id);
    bench_nccl_begin(n);
    for (int r = 0; r < n->local_ranks && n->code == ncclSuccess; r++) {
        n->device[r] = devices[r];
        cudaSetDevice(devices[r]);
        n->code = n->ncclCommInitRank(&n->comm[r], ranks, id, n->first + r);
    }
    bench_nccl_end(n);
    if (bench_world_max(w, n->code != ncclSuccess) == 0.0) return n;
    if (n->code == ncclSuccess)
        snprintf(why, size, "not available in another process");
    else
        snprintf(why, size, "NCCL: %.100s", n->ncclGetErrorString(n->code));
    delete n;
    return nullptr;
}

bool bench_nccl_begin(bench_nccl *n)
{
    if (n->code == ncclSuccess) n->code = n->ncclGroupStart();
    return n->code == ncclSuccess;
}
bool bench_nccl_end(bench_nccl *n)
{
    const ncclResult_t code = n->ncclGroupEnd();
    if (n->code == ncclSuccess) n->code = code;
    return n->code == ncclSuccess;
}
bool bench_nccl_send(bench_nccl *n, int rank, const void *data, size_t bytes, int to,
                     cudaStream_t stream)
{
    if (n->code == ncclSuccess)
        n->code = n->ncclSend(data, bytes, ncclChar, to, n->comm[rank - n->first], stream);
    return n->code == ncclSuccess;
}
bool bench_nccl_recv(bench_nccl *n, int rank, void *data, size_t bytes, int from,
                     cudaStream_t stream)
{
    if (n->code == ncclSuccess)
        n->code = n->ncclRecv(data, bytes, ncclChar, from, n->comm[rank - n->first], stream);
    return n->code == ncclSuccess;
}
bool bench_nccl_sum(bench_nccl *n, int rank, const double *data, double *sum, cudaStream_t stream)
{
    if (n->code == ncclSuccess)
        n->code =
            n->ncclAllReduce(data, sum, 1, ncclDouble, ncclSum, n->comm[rank - n->first], stream);
    return n->code == ncclSuccess;
}

bool bench_nccl_add(bench_nccl *n, int rank, double *data, size_t count, cudaStream_t stream)
{
    if (n->code == ncclSuccess)
        n->code = n->ncclReduce(data, data, count, ncclDouble, ncclSum, 0, n->comm[rank - n->first],
                                stream);
    return n->code == ncclSuccess;
}

void bench_nccl_close(bench_nccl *n)
{
    if (!n) return;
    for (int r = 0; r < n->local_ranks; r++) {
        cudaSetDevice(n->device[r]);
        n->ncclCommDestroy(n->comm[r]);
    }
    delete n;
}
