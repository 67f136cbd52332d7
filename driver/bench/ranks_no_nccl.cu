/* The functions of ranks_gpu.h for a build without NCCL. */
#include "ranks_gpu.h"

bench_nccl *bench_nccl_open(const bench_world *, int, const int *, char *why, size_t size)
{
    snprintf(why, size, "built without NCCL");
    return nullptr;
}
void bench_nccl_close(bench_nccl *) {}
bool bench_nccl_begin(bench_nccl *)
{
    return false;
}
bool bench_nccl_end(bench_nccl *)
{
    return false;
}
bool bench_nccl_send(bench_nccl *, int, const void *, size_t, int, cudaStream_t)
{
    return false;
}
bool bench_nccl_recv(bench_nccl *, int, void *, size_t, int, cudaStream_t)
{
    return false;
}
bool bench_nccl_sum(bench_nccl *, int, const double *, double *, cudaStream_t)
{
    return false;
}
bool bench_nccl_add(bench_nccl *, int, double *, size_t, cudaStream_t)
{
    return false;
}
