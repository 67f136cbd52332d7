/* pingpong of a build without NCCL. */
#include "pingpong_gpu.h"

pingpong_nccl *pingpong_nccl_open(const pingpong *p, const int devices[2], char *why, size_t size)
{
    (void)p, (void)devices;
    snprintf(why, size, "built without NCCL");
    return nullptr;
}
double pingpong_nccl_seconds(pingpong_nccl *n, void *const data[2], int64_t bytes, int rounds)
{
    (void)n, (void)data, (void)bytes, (void)rounds;
    return -1.0;
}
void pingpong_nccl_close(pingpong_nccl *n)
{
    (void)n;
}
