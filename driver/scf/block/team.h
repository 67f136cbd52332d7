/* A team works on one small molecule: the threads of a thread block on a GPU, or a single thread on
 * the host, with the same code. All members call the same functions with the same arguments. */
#ifndef FMO_BLOCK_TEAM_H
#define FMO_BLOCK_TEAM_H

#include "integrals/real.h"

enum { FMO_TEAM_WARPS_MAX = 32 };

/* Partial unrolling of long loops, `turns` iterations at a time. */
#if defined(__CUDA_ARCH__)
#define FMO_TEAM_PRAGMA(text) _Pragma(#text)
#define FMO_UNROLL_BY(turns)  FMO_TEAM_PRAGMA(unroll turns)
#else
#define FMO_UNROLL_BY(turns)
#endif

/* Members 0 .. size - 1, in groups (warps) of `lanes`. */
typedef struct fmo_team {
    int rank, size;
    int lane, lanes, group, groups;
    double *sums; /* [FMO_TEAM_WARPS_MAX] in memory shared by the team */
} fmo_team;

/* sums: [FMO_TEAM_WARPS_MAX] in memory shared by the team. */
FMO_HD fmo_team fmo_team_make(double *sums)
{
#if defined(__CUDA_ARCH__)
    const int rank = (int)threadIdx.x, size = (int)blockDim.x;
    const fmo_team t = {rank, size, rank % 32, 32, rank / 32, size / 32, sums};
#else
    const fmo_team t = {0, 1, 0, 1, 0, 1, sums};
#endif
    return t;
}

/* Barrier: afterwards all members see what any of them has written. */
FMO_HD void fmo_team_wait(const fmo_team *t)
{
    (void)t;
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
}

/* Barrier of the lanes of a group. */
FMO_HD void fmo_team_wait_lanes(const fmo_team *t)
{
    (void)t;
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
}

/* Sum over the lanes of a group; all get it. */
FMO_HD double fmo_team_sum_lanes(const fmo_team *t, double x)
{
    (void)t;
#if defined(__CUDA_ARCH__)
    FMO_UNROLL
    for (int offset = 16; offset; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
#endif
    return x;
}

/* Sum over the team in a fixed order; all members get it. */
FMO_HD double fmo_team_sum(const fmo_team *t, double x)
{
    double sum = 0.0;
    x = fmo_team_sum_lanes(t, x);
    fmo_team_wait(t);
    if (t->lane == 0) t->sums[t->group] = x;
    fmo_team_wait(t);
    for (int g = 0; g < t->groups; g++) sum += t->sums[g];
    return sum;
}

#endif
