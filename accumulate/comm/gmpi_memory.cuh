/* gmpi: loads, stores and fences with scopes; a rank's memory; waits that end. The PTX memory model
 * is meant throughout: a fence and a relaxed store are a release, a relaxed load and a fence an
 * acquire, and barriers of a block carry them over to its other threads (docs/gmpi.md).
 */
#ifndef FMO_GMPI_MEMORY_CUH
#define FMO_GMPI_MEMORY_CUH

#include "gmpi.h"
#include "gmpi_wire.h"

#define FMO_GMPI_DEVICE static __device__ __forceinline__ __attribute__((unused))
#define FMO_GMPI_SLOW   static __device__ __noinline__ __attribute__((unused))

/* What other ranks write to: in the memory of the rank's device. */
struct fmo_gmpi_segment {
    fmo_gmpi_flag abort;                      /* an error word ends all waits here */
    fmo_gmpi_flag credit[FMO_GMPI_RANKS_MAX]; /* how many of our messages rank r has taken out */
    fmo_gmpi_flag fetched[FMO_GMPI_SLOTS];    /* 1: the receiver has fetched this send */
    fmo_gmpi_flag arrived[FMO_GMPI_CHANNELS_MAX]; /* messages that a channel brought */
    fmo_gmpi_flag emptied[FMO_GMPI_CHANNELS_MAX]; /* messages of ours that its receiver released */
    fmo_gmpi_entry inbox[FMO_GMPI_RANKS_MAX][FMO_GMPI_INBOX];
    /* Sequence number and element, by communicator, parity and rank. */
    fmo_gmpi_entry reduce[FMO_GMPI_COMMS_MAX][2][FMO_GMPI_RANKS_MAX][FMO_GMPI_REDUCE];
    unsigned char box[FMO_GMPI_RANKS_MAX][FMO_GMPI_INBOX][FMO_GMPI_EAGER];
};

enum { FMO_GMPI_FREE, FMO_GMPI_BUSY, FMO_GMPI_SENDING, FMO_GMPI_POSTED, FMO_GMPI_MATCHED };

/* One request. State and generation change together, so that nobody mistakes one use for the next.
 */
struct fmo_gmpi_slot {
    unsigned life; /* generation 29 bits, state 3 */
    unsigned key, next, unused;
    int peer, call;
    unsigned long long address, bytes; /* of the receive's buffer */
    unsigned long long message[2];     /* the matched entry */
    unsigned long long index;          /* its number in the inbox */
};

/* Messages from one rank, as its receiver sees them. Numbers count from 0 without end. */
struct fmo_gmpi_source {
    unsigned long long low;      /* all before it have been taken out */
    unsigned long long edge;     /* all before it have been looked at */
    unsigned long long credited; /* what the sender was told */
    unsigned first, last;        /* receives that wait, in order: slot + 1 */
    unsigned lock, unused;
    unsigned char taken[FMO_GMPI_INBOX]; /* 0: waits, 1: matched, 2: taken out */
};

struct fmo_gmpi_row { /* a persistent channel */
    int source, dest;
    unsigned long long offset, bytes, count;
    unsigned blocks[2]; /* that have come to the end of a message, by its parity */
    fmo_gmpi_request request[2];
};

/* What the blocks of a rank do together at the end of a wait. */
struct fmo_gmpi_job {
    unsigned long long from, to, bytes, index;
    int kind, code, slot, peer;
};
enum { FMO_GMPI_JOB_NONE, FMO_GMPI_JOB_LATER, FMO_GMPI_JOB_SMALL, FMO_GMPI_JOB_LARGE };

/** A rank, in the memory of its device: the first argument of every call, as in the paper. */
struct fmo_gmpi_buf {
    int rank, size;
    int transport;  /* fmo_gmpi_transport */
    int concurrent; /* several blocks may call at the same time */
    int local, ranks_on_device;
    int one_process; /* any address of any rank's device can be reached */
    int unused;
    unsigned long long timeout; /* nanoseconds */
    fmo_gmpi_page *page;
    fmo_gmpi_segment *segment[FMO_GMPI_RANKS_MAX];
    unsigned char *heap[FMO_GMPI_RANKS_MAX];
    unsigned long long heap_bytes;

    unsigned long long error;     /* sticky: the first error word */
    unsigned long long next_look; /* when to ask the host again */
    fmo_gmpi_job job[2];          /* by parity of the barrier */
    /* On lines of their own: who arrives must not queue behind those who poll. */
    fmo_gmpi_flag barrier_line;
    unsigned barrier_count, barrier_unused[31];
    fmo_gmpi_flag generation_line;
    unsigned barrier_generation, generation_unused[31];
    unsigned next_slot, unused2;
    unsigned long long ring_tail, ring_taken;
    unsigned long long sent[FMO_GMPI_RANKS_MAX];
    unsigned long long reductions[FMO_GMPI_COMMS_MAX];
    fmo_gmpi_source source[FMO_GMPI_RANKS_MAX];
    fmo_gmpi_slot slot[FMO_GMPI_SLOTS];
    fmo_gmpi_row channel[FMO_GMPI_CHANNELS_MAX];
};

/* ---- memory with scopes -----------------------------------------------------------------------
 */

FMO_GMPI_DEVICE void fmo_gmpi_fence(void)
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}
FMO_GMPI_DEVICE void fmo_gmpi_fence_gpu(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_peek(const void *p)
{
    unsigned long long v;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_peek_acquire(const void *p)
{
    unsigned long long v;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
FMO_GMPI_DEVICE void fmo_gmpi_poke(void *p, unsigned long long v)
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
/* 16 bytes at once: whoever sees half of an entry sees all of it. */
FMO_GMPI_DEVICE void fmo_gmpi_peek_entry(const fmo_gmpi_entry *p, unsigned long long *a,
                                         unsigned long long *b)
{
    asm volatile("{\n\t.reg .b128 t;\n\tld.relaxed.sys.global.b128 t, [%2];\n\t"
                 "mov.b128 {%0, %1}, t;\n\t}"
                 : "=l"(*a), "=l"(*b)
                 : "l"(p)
                 : "memory");
}
FMO_GMPI_DEVICE void fmo_gmpi_poke_entry(fmo_gmpi_entry *p, unsigned long long a,
                                         unsigned long long b)
{
    asm volatile("{\n\t.reg .b128 t;\n\tmov.b128 t, {%1, %2};\n\t"
                 "st.relaxed.sys.global.b128 [%0], t;\n\t}" ::"l"(p),
                 "l"(a), "l"(b)
                 : "memory");
}
/* State that several blocks of one rank share: never from a cache of one of them. */
template <typename T> FMO_GMPI_DEVICE T fmo_gmpi_get(const T &x)
{
    return *(const volatile T *)&x;
}
template <typename T, typename V> FMO_GMPI_DEVICE void fmo_gmpi_set(T &x, V v)
{
    *(volatile T *)&x = (T)v;
}
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_clock(void)
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

FMO_GMPI_DEVICE unsigned fmo_gmpi_life(unsigned generation, unsigned state)
{
    return generation << 3 | state;
}
/* By whoever owns the slot. */
FMO_GMPI_DEVICE void fmo_gmpi_state_set(fmo_gmpi_slot *s, unsigned state)
{
    fmo_gmpi_set(s->life, (fmo_gmpi_get(s->life) & ~7u) | state);
}

/* ---- where a thread stands --------------------------------------------------------------------
 */

FMO_GMPI_DEVICE unsigned fmo_gmpi_thread(void)
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
FMO_GMPI_DEVICE unsigned fmo_gmpi_threads(void)
{
    return blockDim.x * blockDim.y * blockDim.z;
}
FMO_GMPI_DEVICE unsigned fmo_gmpi_grid_block(void)
{
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
/** Blocks of a rank, and the number of this block among them. */
FMO_GMPI_DEVICE unsigned fmo_gmpi_blocks(const fmo_gmpi_buf *b)
{
    return gridDim.x * gridDim.y * gridDim.z / (unsigned)b->ranks_on_device;
}
FMO_GMPI_DEVICE unsigned fmo_gmpi_block(const fmo_gmpi_buf *b)
{
    return fmo_gmpi_grid_block() - (unsigned)b->local * fmo_gmpi_blocks(b);
}

/* ---- errors and waits -------------------------------------------------------------------------
 */

/* Keep the first error and tell everybody: the blocks of this rank, the host, the other ranks. */
FMO_GMPI_SLOW int fmo_gmpi_fail(fmo_gmpi_buf *b, int code, int call, int peer, int tag, int comm)
{
    const unsigned long long word = fmo_gmpi_error_word(code, call, peer, tag, comm);
    if (atomicCAS(&b->error, 0ULL, word) == 0) {
        fmo_gmpi_poke(&b->page->error.value, word);
        for (int r = 0; r < b->size; r++)
            if (b->segment[r] && r != b->rank)
                fmo_gmpi_poke(&b->segment[r]->abort.value,
                              fmo_gmpi_error_word(FMO_GMPI_ABORTED, call, b->rank, tag, comm));
    }
    fmo_gmpi_poke(&b->segment[b->rank]->abort.value, word);
    return (int)(fmo_gmpi_get(b->error) & 255);
}

/* The error of a rank, FMO_GMPI_OK without one; takes over what another rank or the host said. */
FMO_GMPI_DEVICE int fmo_gmpi_code_of(fmo_gmpi_buf *b)
{
    const unsigned long long word = fmo_gmpi_get(b->error);
    if (word) return (int)(word & 255);
    const unsigned long long said = fmo_gmpi_peek(&b->segment[b->rank]->abort.value);
    if (said == 0) return FMO_GMPI_OK;
    if (atomicCAS(&b->error, 0ULL, said) == 0) fmo_gmpi_poke(&b->page->error.value, said);
    return (int)(said & 255);
}

/* One wait. */
struct fmo_gmpi_wait_state {
    unsigned long long until;
    unsigned turn;
};
FMO_GMPI_DEVICE fmo_gmpi_wait_state fmo_gmpi_waiting(void)
{
    fmo_gmpi_wait_state w = {0, 0};
    return w;
}
/* The seldom part of a turn: the clock, and what the host says. */
FMO_GMPI_SLOW int fmo_gmpi_late(fmo_gmpi_buf *b, fmo_gmpi_wait_state *w, int call, int peer,
                                int tag, int comm)
{
    const unsigned long long now = fmo_gmpi_clock();
    /* Blocks that wait for one which waits for another rank let that one say why. */
    if (w->until == 0) w->until = now + (call == FMO_GMPI_CALL_GRID ? 2 : 1) * b->timeout;
    /* One of all threads asks the host, and seldom: reads of one line of its memory stand in a
     * queue, and blocks that wait by the hundred would all wait for it. */
    const unsigned long long look = fmo_gmpi_get(b->next_look);
    if (now > look && atomicCAS(&b->next_look, look, now + 50000) == look) {
        const unsigned long long host = fmo_gmpi_peek(&b->page->abort.value);
        const int code = (int)(host & 255), of = (int)(host >> 16 & 65535) - 1;
        if (code == FMO_GMPI_ABORTED) return fmo_gmpi_fail(b, code, call, of, tag, comm);
        if (host)
            return fmo_gmpi_fail(b, code, (int)(host >> 8 & 255), of, (int)(host >> 32 & 0xffffff),
                                 (int)(host >> 56));
    }
    if (now > w->until) return fmo_gmpi_fail(b, FMO_GMPI_TIMEOUT, call, peer, tag, comm);
    return FMO_GMPI_OK;
}
/* A turn of a wait: FMO_GMPI_OK to go on. Every turn reads the abort flag. */
FMO_GMPI_DEVICE int fmo_gmpi_turn(fmo_gmpi_buf *b, fmo_gmpi_wait_state *w, int call, int peer,
                                  int tag, int comm)
{
    if (fmo_gmpi_peek(&b->segment[b->rank]->abort.value)) return fmo_gmpi_code_of(b);
    if ((++w->turn & 63) == 0) return fmo_gmpi_late(b, w, call, peer, tag, comm);
    return FMO_GMPI_OK;
}

/* All blocks of a rank meet. Thread 0 of the first block brings a job, which thread 0 of the others
 * takes along; job is in shared memory, or NULL. Every thread calls, and gets the code. */
FMO_GMPI_SLOW int fmo_gmpi_meet(fmo_gmpi_buf *b, fmo_gmpi_job *job)
{
    int code = FMO_GMPI_OK;
    const unsigned blocks = fmo_gmpi_blocks(b);
    __syncthreads();
    if (blocks > 1 && fmo_gmpi_thread() == 0) {
        const bool first = fmo_gmpi_block(b) == 0;
        const unsigned generation = fmo_gmpi_get(b->barrier_generation);
        fmo_gmpi_job *board = &b->job[generation & 1];
        if (first && job) {
            fmo_gmpi_set(board->from, job->from), fmo_gmpi_set(board->to, job->to);
            fmo_gmpi_set(board->bytes, job->bytes), fmo_gmpi_set(board->kind, job->kind);
            fmo_gmpi_set(board->code, job->code);
        }
        fmo_gmpi_fence_gpu();
        if (atomicAdd(&b->barrier_count, 1u) == blocks - 1) {
            fmo_gmpi_set(b->barrier_count, 0u);
            fmo_gmpi_fence_gpu();
            atomicAdd(&b->barrier_generation, 1u);
        } else {
            fmo_gmpi_wait_state w = fmo_gmpi_waiting();
            while (fmo_gmpi_get(b->barrier_generation) == generation &&
                   (code = fmo_gmpi_turn(b, &w, FMO_GMPI_CALL_GRID, b->rank, 0, 0)) == FMO_GMPI_OK)
                ;
        }
        fmo_gmpi_fence_gpu();
        if (!first && job && code == FMO_GMPI_OK) {
            job->from = fmo_gmpi_get(board->from), job->to = fmo_gmpi_get(board->to);
            job->bytes = fmo_gmpi_get(board->bytes), job->kind = fmo_gmpi_get(board->kind);
            job->code = fmo_gmpi_get(board->code);
        }
    }
    return __syncthreads_or(code != FMO_GMPI_OK) ? fmo_gmpi_code_of(b) : FMO_GMPI_OK;
}

/* ---- copies -----------------------------------------------------------------------------------
 */

/* Thread `thread` of `threads` copies its part; loads bypass the caches of the multiprocessor,
 * which may hold what stood there before. */
FMO_GMPI_DEVICE void fmo_gmpi_copy(void *to, const void *from, unsigned long long bytes,
                                   unsigned long long thread, unsigned long long threads)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    const unsigned long long both = (unsigned long long)t | (unsigned long long)f;
    unsigned long long done = 0;
    if ((both & 15) == 0) {
        const uint4 *f16 = (const uint4 *)f;
        uint4 *t16 = (uint4 *)t;
        const unsigned long long n = bytes / 16;
        unsigned long long i = thread;
        for (; i + 7 * threads < n; i += 8 * threads) {
            uint4 v[8];
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] = __ldcg(f16 + i + k * threads);
#pragma unroll
            for (int k = 0; k < 8; k++) t16[i + k * threads] = v[k];
        }
        for (; i < n; i += threads) t16[i] = __ldcg(f16 + i);
        done = n * 16;
    } else if ((both & 3) == 0) {
        const unsigned *f4 = (const unsigned *)f;
        unsigned *t4 = (unsigned *)t;
        for (unsigned long long i = thread; i < bytes / 4; i += threads) t4[i] = __ldcg(f4 + i);
        done = bytes / 4 * 4;
    }
    for (unsigned long long i = done + thread; i < bytes; i += threads)
        t[i] = *(const volatile unsigned char *)(f + i);
}

/* At most 8 bytes as a word, and back; one thread. */
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_word(const void *from, unsigned bytes)
{
    const unsigned char *f = (const unsigned char *)from;
    if (bytes == 8 && ((unsigned long long)f & 7) == 0)
        return *(const volatile unsigned long long *)f;
    if (bytes == 4 && ((unsigned long long)f & 3) == 0) return *(const volatile unsigned *)f;
    unsigned long long word = 0;
    for (unsigned i = 0; i < bytes; i++)
        word |= (unsigned long long)*(const volatile unsigned char *)(f + i) << 8 * i;
    return word;
}
FMO_GMPI_DEVICE void fmo_gmpi_unword(void *to, unsigned long long word, unsigned bytes)
{
    unsigned char *t = (unsigned char *)to;
    if (bytes == 8 && ((unsigned long long)t & 7) == 0) {
        *(volatile unsigned long long *)t = word;
    } else if (bytes == 4 && ((unsigned long long)t & 3) == 0) {
        *(volatile unsigned *)t = (unsigned)word;
    } else {
        for (unsigned i = 0; i < bytes; i++) t[i] = (unsigned char)(word >> 8 * i);
    }
}

#endif
