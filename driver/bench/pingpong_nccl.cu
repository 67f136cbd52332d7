/* pingpong: sends and receives of NCCL, started by the host. The library is opened when it is
 * wanted, so that fmo-bench runs where it is missing. */
#include "pingpong_gpu.h"
#include "driver/base/clock.h"

#include <dlfcn.h>
#include <nccl.h>

/* What is taken out of the library. */
#define NCCL_TABLE(X)   \
    X(ncclGetUniqueId)  \
    X(ncclCommInitRank) \
    X(ncclCommDestroy)  \
    X(ncclGroupStart)   \
    X(ncclGroupEnd)     \
    X(ncclSend)         \
    X(ncclRecv)         \
    X(ncclGetErrorString)

struct pingpong_nccl {
    void *library;
#define ROW(name) decltype(&::name) name;
    NCCL_TABLE(ROW)
#undef ROW
    const pingpong *p;
    int here, device[2];
    ncclComm_t comm[2];
    cudaStream_t stream[2];
};

pingpong_nccl *pingpong_nccl_open(const pingpong *p, const int devices[2], char *why, size_t size)
{
    pingpong_nccl *n = new pingpong_nccl();
    n->p = p;
    n->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool good = n->library != nullptr;
    snprintf(why, size, "no libnccl.so.2 here");
#define ROW(name_)                                                      \
    if (good) n->name_ = (decltype(n->name_))dlsym(n->library, #name_); \
    good = good && n->name_;
    NCCL_TABLE(ROW)
#undef ROW
    if (!good) {
        delete n;
        return nullptr;
    }
    ncclUniqueId id;
    ncclResult_t code = ncclSuccess;
    n->here = p->processes > 1 ? 1 : 2;
    if (p->rank == 0) code = n->ncclGetUniqueId(&id);
    pingpong_mpi_share(p, &id, sizeof id);
    if (code == ncclSuccess) code = n->ncclGroupStart();
    for (int r = 0; r < n->here && code == ncclSuccess; r++) {
        n->device[r] = devices[r];
        cudaSetDevice(devices[r]);
        cudaStreamCreateWithFlags(&n->stream[r], cudaStreamNonBlocking);
        code = n->ncclCommInitRank(&n->comm[r], 2, id, n->here == 1 ? p->rank : r);
    }
    if (code == ncclSuccess) code = n->ncclGroupEnd();
    if (code == ncclSuccess) return n;
    snprintf(why, size, "NCCL: %.100s", n->ncclGetErrorString(code));
    delete n;
    return nullptr;
}

double pingpong_nccl_seconds(pingpong_nccl *n, void *const data[2], int64_t bytes, int rounds)
{
    ncclResult_t code = ncclSuccess;
    pingpong_mpi_barrier(n->p);
    const double begin = driver_seconds();
    for (int k = 0; k < 2 * rounds && code == ncclSuccess; k++) {
        code = n->ncclGroupStart();
        for (int r = 0; r < n->here && code == ncclSuccess; r++) {
            const int rank = n->here == 1 ? n->p->rank : r;
            code = k % 2 == rank ? n->ncclSend(data[r], (size_t)bytes, ncclChar, 1 - rank,
                                               n->comm[r], n->stream[r])
                                 : n->ncclRecv(data[r], (size_t)bytes, ncclChar, 1 - rank,
                                               n->comm[r], n->stream[r]);
        }
        if (code == ncclSuccess) code = n->ncclGroupEnd();
    }
    for (int r = 0; r < n->here; r++) {
        cudaSetDevice(n->device[r]);
        if (cudaStreamSynchronize(n->stream[r]) != cudaSuccess) code = ncclUnhandledCudaError;
    }
    return code == ncclSuccess ? (driver_seconds() - begin) / (2.0 * rounds) : -1.0;
}

void pingpong_nccl_close(pingpong_nccl *n)
{
    if (!n) return;
    for (int r = 0; r < n->here; r++) {
        cudaSetDevice(n->device[r]);
        n->ncclCommDestroy(n->comm[r]);
        cudaStreamDestroy(n->stream[r]);
    }
    delete n;
}
