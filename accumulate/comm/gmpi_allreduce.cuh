/* gmpi, transport peer: reductions and barriers of the ranks, by stores into the memory of all
 * ranks. Read before: gmpi_memory.cuh. */
#ifndef FMO_GMPI_ALLREDUCE_CUH
#define FMO_GMPI_ALLREDUCE_CUH

#include "gmpi_memory.cuh"

/* Returns a op b for two elements given by their bits. */
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_combine(int type, int op, unsigned long long a,
                                                    unsigned long long b)
{
#define FMO_GMPI_ONE(T, to, from)                           \
    {                                                       \
        const T x = from(a), y = from(b);                   \
        const T z = op == FMO_GMPI_SUM   ? x + y            \
                    : op == FMO_GMPI_MAX ? (x > y ? x : y)  \
                                         : (x < y ? x : y); \
        return (unsigned long long)to(z);                   \
    }
    switch (type) {
    case FMO_GMPI_DOUBLE:
        FMO_GMPI_ONE(double, __double_as_longlong, __longlong_as_double)
    case FMO_GMPI_FLOAT:
        FMO_GMPI_ONE(float, __float_as_uint, __uint_as_float)
    case FMO_GMPI_INT32:
        FMO_GMPI_ONE(int, (unsigned), (int))
    default:
        FMO_GMPI_ONE(long long, (unsigned long long), (long long))
    }
#undef FMO_GMPI_ONE
}

/* Allreduce by the first 32 threads, one element each. Every rank receives every element of every
 * rank and combines them in the order of the ranks, so that all get the same bits. Two buffers
 * suffice, because a rank that is one reduction ahead has received all elements of the previous
 * one. send NULL: a barrier of the ranks. */
FMO_GMPI_SLOW int fmo_gmpi_peer_allreduce(fmo_gmpi_buf *b, const void *send, void *recv,
                                          unsigned long long count, int type, int op, int comm)
{
    enum { ONCE = 4 }; /* ranks polled together */
    const unsigned lane = fmo_gmpi_thread();
    const unsigned lanes = fmo_gmpi_threads() < 32 ? fmo_gmpi_threads() : 32;
    const unsigned mask = ~0u >> (32 - lanes);
    const unsigned size = send ? (unsigned)fmo_gmpi_type_bytes(type) : 0;
    const int rank = b->rank, ranks = b->size;
    unsigned long long number = fmo_gmpi_load_cached(b->reductions[comm]);
    int code = FMO_GMPI_OK;
    __syncwarp(mask);
    if (send == nullptr) fmo_gmpi_fence(); /* a barrier is a release and an acquire */
    for (unsigned long long at = 0; at < count && code == FMO_GMPI_OK; at += lanes) {
        number++;
        if (at + lane < count) {
            const unsigned char *from = (const unsigned char *)send + (at + lane) * size;
            const unsigned long long mine = send ? fmo_gmpi_word(from, size) : 0;
            unsigned long long sum = 0;
            for (int k = 1; k < ranks; k++) { /* ranks start with different targets */
                const int r = rank + k < ranks ? rank + k : rank + k - ranks;
                fmo_gmpi_store_entry(&b->segment[r]->reduce[comm][number & 1][rank][lane], number,
                                     mine);
            }
            const fmo_gmpi_entry *in = &b->mine->reduce[comm][number & 1][0][lane];
            fmo_gmpi_wait_state w = fmo_gmpi_waiting();
            for (int r = 0; r < ranks && code == FMO_GMPI_OK; r += ONCE) {
                unsigned long long word[ONCE], data[ONCE];
                for (;;) {
                    bool all = true;
                    int missing = r;
#pragma unroll
                    for (int k = 0; k < ONCE; k++) {
                        word[k] = number, data[k] = mine;
                        if (r + k < ranks && r + k != rank)
                            fmo_gmpi_load_entry(in + (r + k) * FMO_GMPI_REDUCE, &word[k], &data[k]);
                    }
                    const unsigned long long abort_word = fmo_gmpi_abort_word(b);
#pragma unroll
                    for (int k = ONCE - 1; k >= 0; k--)
                        if (word[k] != number) all = false, missing = r + k;
                    if (all) break;
                    code = fmo_gmpi_turn(b, &w, abort_word, FMO_GMPI_CALL_REDUCE, missing, 0, comm);
                    if (code != FMO_GMPI_OK) break;
                }
#pragma unroll
                for (int k = 0; k < ONCE; k++)
                    if (r + k < ranks)
                        sum = r + k == 0 ? data[k] : fmo_gmpi_combine(type, op, sum, data[k]);
            }
            if (send && code == FMO_GMPI_OK)
                fmo_gmpi_unword((unsigned char *)recv + (at + lane) * size, sum, size);
        }
        if (__any_sync(mask, code != FMO_GMPI_OK)) code = fmo_gmpi_code_of(b);
    }
    if (send == nullptr) fmo_gmpi_fence();
    __syncwarp(mask);
    if (lane == 0) fmo_gmpi_store_cached(b->reductions[comm], number);
    return code;
}

#endif
