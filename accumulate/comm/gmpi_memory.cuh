/* gmpi: loads, stores and fences with scopes, the memory of a rank, and waits with timeout. All
 * files use the PTX memory model: a fence followed by a relaxed store is a release, a relaxed
 * load followed by a fence is an acquire, and barriers of a block extend both to its other
 * threads (docs/reference/gmpi.md). */
#ifndef FMO_GMPI_MEMORY_CUH
#define FMO_GMPI_MEMORY_CUH

#include "gmpi.h"
#include "gmpi_wire.h"

#define FMO_GMPI_DEVICE static __device__ __forceinline__ __attribute__((unused))
#define FMO_GMPI_SLOW   static __device__ __noinline__ __attribute__((unused))

/* For measurements: with 0 a rank's own state is always loaded from memory, which is correct,
 * too. */
#ifndef FMO_GMPI_CACHED
#define FMO_GMPI_CACHED 1
#endif

/* Memory of a rank's device that other ranks write to. */
struct fmo_gmpi_segment {
    fmo_gmpi_flag abort;                      /* an error word; ends all waits of this rank */
    fmo_gmpi_flag credit[FMO_GMPI_RANKS_MAX]; /* how many of our messages rank r has taken out of
                                               * its inbox */
    fmo_gmpi_flag fetched[FMO_GMPI_SLOTS];    /* 1: the receiver has fetched this send */
    fmo_gmpi_flag arrived[FMO_GMPI_CHANNELS_MAX]; /* messages received through a channel */
    fmo_gmpi_flag emptied[FMO_GMPI_CHANNELS_MAX]; /* messages of ours that the receiver of a
                                                   * channel has released */
    fmo_gmpi_entry inbox[FMO_GMPI_RANKS_MAX][FMO_GMPI_INBOX];
    /* Sequence number and element, by communicator, parity of the number, and rank. */
    fmo_gmpi_entry reduce[FMO_GMPI_COMMS_MAX][2][FMO_GMPI_RANKS_MAX][FMO_GMPI_REDUCE];
    /* 8 bytes of a message and its number + 1. The last member, because only the boxes of
     * existing ranks are allocated. */
    fmo_gmpi_entry box[FMO_GMPI_RANKS_MAX][FMO_GMPI_INBOX][FMO_GMPI_EAGER / 8];
};

enum { FMO_GMPI_FREE, FMO_GMPI_BUSY, FMO_GMPI_SENDING, FMO_GMPI_POSTED, FMO_GMPI_MATCHED };

/* One request. State and generation are one word and change together, so that different uses of a
 * slot cannot be confused. */
struct __align__(64) fmo_gmpi_slot
{
    unsigned life; /* generation 29 bits, state 3 */
    unsigned key, next;
    int peer;
    unsigned long long address, bytes; /* of the receive's buffer */
    unsigned long long message[2];     /* the matched entry */
    unsigned long long index;          /* its number in the inbox */
    int call;
    unsigned unused;
};

/* Messages to one rank, as seen by the sender. */
struct __align__(16) fmo_gmpi_target
{
    unsigned long long sent;
    unsigned long long credit; /* the receiver's credit when it was last read */
};

/* Messages from one rank, as seen by the receiver. Numbers count from 0 without end. */
struct __align__(64) fmo_gmpi_source
{
    unsigned long long low;      /* all messages before it have been taken out */
    unsigned long long edge;     /* all messages before it have been examined */
    unsigned long long credited; /* the value of `low` last sent to the sender */
    unsigned first, last;        /* list of receives that wait, in order: slot + 1; 0: none */
    unsigned lock, unused[7];
    unsigned char taken[FMO_GMPI_INBOX]; /* 0: waits, 1: matched, 2: taken out */
};

/* A persistent channel, as seen by one rank. */
struct __align__(64) fmo_gmpi_row
{
    unsigned char *data;      /* peer: both halves, in the receiver's memory */
    fmo_gmpi_flag *watch;     /* peer: the counter that this end waits for, in its own memory */
    fmo_gmpi_flag *tell;      /* peer: the counter that the other end waits for */
    unsigned long long bytes; /* of a half */
    unsigned long long count; /* messages so far */
    unsigned blocks[2];       /* blocks that have finished a message, by its parity */
    int source, dest;
    unsigned long long offset;
    fmo_gmpi_request request[2];
};

/* The work that the blocks of a rank do together when a request completes. */
struct fmo_gmpi_job {
    unsigned long long from, to, bytes, index;
    int kind, code, slot, peer;
    unsigned key, generation; /* of the receive */
    unsigned theirs, unused;  /* the sender's slot */
};
enum {
    FMO_GMPI_JOB_NONE,
    FMO_GMPI_JOB_LATER,
    FMO_GMPI_JOB_BOX,   /* peer: from a box, by the first block */
    FMO_GMPI_JOB_SMALL, /* proxy: a copy, by the first block */
    FMO_GMPI_JOB_LARGE  /* peer: a copy, by all blocks */
};

/** A rank, in the memory of its device: the first argument of every call, as in the paper. */
struct fmo_gmpi_buf {
    int rank, size;
    int transport;  /* fmo_gmpi_transport */
    int concurrent; /* 1: several blocks may call at the same time */
    int local, ranks_on_device;
    int one_process; /* 1: any address on any rank's device can be accessed */
    int unused;
    fmo_gmpi_segment *mine; /* segment[rank] */
    fmo_gmpi_page *page;
    unsigned long long timeout; /* nanoseconds */
    unsigned long long heap_bytes;
    fmo_gmpi_segment *segment[FMO_GMPI_RANKS_MAX];
    unsigned char *heap[FMO_GMPI_RANKS_MAX];

    unsigned long long error;     /* sticky: the first error word */
    unsigned long long next_look; /* time (ns) of the next read of the host's abort flag */
    fmo_gmpi_job job[2];          /* by parity of the barrier */
    /* Starts a cache line for the barrier. The top bit of `barrier` flips when all blocks have
     * arrived, see fmo_gmpi_blocks_barrier_thread. */
    fmo_gmpi_flag barrier_line;
    unsigned barrier, barrier_unused[31];
    unsigned barriers; /* barriers of several blocks so far, counted by thread 0 of the first
                        * block */
    unsigned next_slot;
    unsigned spare; /* one caller at a time: slot + 1 of the receive completed last, or 0 */
    unsigned unused2;
    unsigned long long ring_tail, ring_taken;
    unsigned long long reductions[FMO_GMPI_COMMS_MAX];
    fmo_gmpi_target target[FMO_GMPI_RANKS_MAX];
    fmo_gmpi_source source[FMO_GMPI_RANKS_MAX];
    fmo_gmpi_slot slot[FMO_GMPI_SLOTS];
    fmo_gmpi_row channel[FMO_GMPI_CHANNELS_MAX];
};

/* ---- memory with scopes ---------------------------------------------------------------------- */

FMO_GMPI_DEVICE void fmo_gmpi_fence(void)
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}
FMO_GMPI_DEVICE void fmo_gmpi_fence_gpu(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
/* A release without a fence, which leaves the caches of the multiprocessor valid. */
FMO_GMPI_DEVICE void fmo_gmpi_store_release(void *p, unsigned long long v)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_load(const void *p)
{
    unsigned long long v;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_load_acquire(const void *p)
{
    unsigned long long v;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
FMO_GMPI_DEVICE void fmo_gmpi_store(void *p, unsigned long long v)
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
/* 16 bytes at once: both words of an entry become visible together. */
FMO_GMPI_DEVICE void fmo_gmpi_load_entry(const fmo_gmpi_entry *p, unsigned long long *a,
                                         unsigned long long *b)
{
    asm volatile("{\n\t.reg .b128 t;\n\tld.relaxed.sys.global.b128 t, [%2];\n\t"
                 "mov.b128 {%0, %1}, t;\n\t}"
                 : "=l"(*a), "=l"(*b)
                 : "l"(p)
                 : "memory");
}
FMO_GMPI_DEVICE void fmo_gmpi_store_entry(fmo_gmpi_entry *p, unsigned long long a,
                                          unsigned long long b)
{
    asm volatile("{\n\t.reg .b128 t;\n\tmov.b128 t, {%1, %2};\n\t"
                 "st.relaxed.sys.global.b128 [%0], t;\n\t}" ::"l"(p),
                 "l"(a), "l"(b)
                 : "memory");
}
/* Acquires at GPU scope, for the blocks of one rank. */
FMO_GMPI_DEVICE unsigned fmo_gmpi_load_gpu(const unsigned *p)
{
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
#define FMO_GMPI_ADD(name, order)                                      \
    FMO_GMPI_DEVICE unsigned name(unsigned *p, unsigned v)             \
    {                                                                  \
        unsigned old;                                                  \
        asm volatile("atom." order ".gpu.global.add.u32 %0, [%1], %2;" \
                     : "=r"(old)                                       \
                     : "l"(p), "r"(v)                                  \
                     : "memory");                                      \
        return old;                                                    \
    }
FMO_GMPI_ADD(fmo_gmpi_add_acquire, "acquire")
FMO_GMPI_ADD(fmo_gmpi_add_acq_rel, "acq_rel")
#undef FMO_GMPI_ADD
/* State that blocks of one rank read while others write it; never from the cache of a
 * multiprocessor. */
template <typename T> FMO_GMPI_DEVICE T fmo_gmpi_load_volatile(const T &x)
{
    return *(const volatile T *)&x;
}
template <typename T, typename V> FMO_GMPI_DEVICE void fmo_gmpi_store_volatile(T &x, V v)
{
    *(volatile T *)&x = (T)v;
}
/* State that is accessed by one caller at a time: under a lock or, without `concurrent`, because
 * calls of a rank are ordered. The synchronisation that lets the next caller proceed, a barrier
 * of the block or an acquire by another block, also makes this state visible, so that it may be
 * cached. */
template <typename T> FMO_GMPI_DEVICE T fmo_gmpi_load_cached(const T &x)
{
    return FMO_GMPI_CACHED ? x : fmo_gmpi_load_volatile(x);
}
template <typename T, typename V> FMO_GMPI_DEVICE void fmo_gmpi_store_cached(T &x, V v)
{
    if (FMO_GMPI_CACHED)
        x = (T)v;
    else
        fmo_gmpi_store_volatile(x, v);
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
/* Called by the owner of the slot. */
FMO_GMPI_DEVICE void fmo_gmpi_state_set(fmo_gmpi_slot *s, unsigned state)
{
    fmo_gmpi_store_volatile(s->life, (fmo_gmpi_load_volatile(s->life) & ~7u) | state);
}

/* ---- threads and blocks ---------------------------------------------------------------------- */

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
/** Number of blocks of a rank, and the index of this block among them. */
FMO_GMPI_DEVICE unsigned fmo_gmpi_blocks(const fmo_gmpi_buf *b)
{
    const unsigned all = gridDim.x * gridDim.y * gridDim.z, ranks = (unsigned)b->ranks_on_device;
    return ranks == 1 ? all : all / ranks; /* avoids a slow division */
}
FMO_GMPI_DEVICE unsigned fmo_gmpi_block(const fmo_gmpi_buf *b)
{
    return fmo_gmpi_grid_block() - (unsigned)b->local * fmo_gmpi_blocks(b);
}

/* ---- errors and waits ------------------------------------------------------------------------ */

/* Stores the first error and notifies the blocks of this rank, the host and the other ranks.
 * Returns the code of the first error. */
FMO_GMPI_SLOW int fmo_gmpi_fail(fmo_gmpi_buf *b, int code, int call, int peer, int tag, int comm)
{
    const unsigned long long word = fmo_gmpi_error_word(code, call, peer, tag, comm);
    if (atomicCAS(&b->error, 0ULL, word) == 0) {
        fmo_gmpi_store(&b->page->error.value, word);
        for (int r = 0; r < b->size; r++)
            if (b->segment[r] && r != b->rank)
                fmo_gmpi_store(&b->segment[r]->abort.value,
                               fmo_gmpi_error_word(FMO_GMPI_ABORTED, call, b->rank, tag, comm));
    }
    fmo_gmpi_store(&b->mine->abort.value, word);
    return (int)(fmo_gmpi_load_volatile(b->error) & 255);
}

/* Returns the abort word of this rank; not 0 if this rank, another rank or the host has ended all
 * waits. */
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_abort_word(const fmo_gmpi_buf *b)
{
    return fmo_gmpi_load(&b->mine->abort.value);
}
/* Returns the error of a rank, or FMO_GMPI_OK. An error that another rank or the host reported
 * becomes the error of this rank. */
FMO_GMPI_DEVICE int fmo_gmpi_code_of(fmo_gmpi_buf *b)
{
    const unsigned long long word = fmo_gmpi_load_volatile(b->error),
                             reported = fmo_gmpi_abort_word(b);
    if (word) return (int)(word & 255);
    if (reported == 0) return FMO_GMPI_OK;
    const unsigned long long before = atomicCAS(&b->error, 0ULL, reported);
    if (before == 0) fmo_gmpi_store(&b->page->error.value, reported);
    return (int)((before ? before : reported) & 255);
}

/* State of one wait: its deadline (0: not yet set) and the number of its iterations. */
struct fmo_gmpi_wait_state {
    unsigned long long until;
    unsigned turn;
};
FMO_GMPI_DEVICE fmo_gmpi_wait_state fmo_gmpi_waiting(void)
{
    fmo_gmpi_wait_state w = {0, 0};
    return w;
}
/* The infrequent part of an iteration: checks the error, the clock, and the host's abort flag.
 * Returns the deadline of the wait, or 0 after an error. */
FMO_GMPI_SLOW unsigned long long fmo_gmpi_late(fmo_gmpi_buf *b, unsigned long long until, int call,
                                               int peer, int tag, int comm)
{
    if (fmo_gmpi_code_of(b) != FMO_GMPI_OK) return 0;
    const unsigned long long now = fmo_gmpi_clock();
    /* A block that waits for a block of its own rank gets twice the timeout, so that the block
     * that waits for another rank reports the cause. */
    if (until == 0) until = now + (call == FMO_GMPI_CALL_GRID ? 2 : 1) * b->timeout;
    int code = FMO_GMPI_OK;
    /* Only one thread of the rank reads the host's flag, at most every 50 microseconds: reads of
     * one line of host memory are serialised, and hundreds of waiting blocks would delay each
     * other. */
    const unsigned long long look = fmo_gmpi_load_volatile(b->next_look);
    if (now > look && atomicCAS(&b->next_look, look, now + 50000) == look) {
        const unsigned long long host = fmo_gmpi_load(&b->page->abort.value);
        const int of = (int)(host >> 16 & 65535) - 1;
        code = (int)(host & 255);
        if (code == FMO_GMPI_ABORTED)
            fmo_gmpi_fail(b, code, call, of, tag, comm);
        else if (host)
            fmo_gmpi_fail(b, code, (int)(host >> 8 & 255), of, (int)(host >> 32 & 0xffffff),
                          (int)(host >> 56));
        if (host) return 0;
    }
    if (now <= until) return until;
    fmo_gmpi_fail(b, FMO_GMPI_TIMEOUT, call, peer, tag, comm);
    return 0;
}
/* One iteration of a wait; returns FMO_GMPI_OK to continue. The caller loads abort_word
 * (fmo_gmpi_abort_word) together with the word it waits for, so that both loads overlap. */
FMO_GMPI_DEVICE int fmo_gmpi_turn(fmo_gmpi_buf *b, fmo_gmpi_wait_state *w,
                                  unsigned long long abort_word, int call, int peer, int tag,
                                  int comm)
{
    if ((++w->turn & 63) != 0 && abort_word == 0) return FMO_GMPI_OK;
    w->until = fmo_gmpi_late(b, w->until, call, peer, tag, comm);
    return w->until ? FMO_GMPI_OK : (int)(fmo_gmpi_load_volatile(b->error) & 255);
}

/* Sets the job of a request that was tested and is not complete: FMO_GMPI_JOB_LATER, or the error
 * code if the rank has failed. */
FMO_GMPI_SLOW void fmo_gmpi_not_yet(fmo_gmpi_buf *b, fmo_gmpi_job *job, int call, int peer,
                                    unsigned key)
{
    if (fmo_gmpi_late(b, 0, call, peer, (int)(key >> 4), (int)(key & 15)))
        job->kind = FMO_GMPI_JOB_LATER;
    else
        job->code = (int)(fmo_gmpi_load_volatile(b->error) & 255);
}

/* Barrier of several blocks, called by thread 0 of each. The first block adds 2^31 - (blocks -
 * 1), the others add 1, so that the last to arrive flips the top bit and leaves the other bits 0,
 * whatever the number of blocks of the next kernel is. */
FMO_GMPI_DEVICE int fmo_gmpi_blocks_barrier_thread(fmo_gmpi_buf *b, unsigned blocks,
                                                   fmo_gmpi_job *job)
{
    const bool first = fmo_gmpi_block(b) == 0;
    unsigned old, add = 1;
    if (first) {
        const unsigned turn = fmo_gmpi_load_cached(b->barriers);
        fmo_gmpi_store_cached(b->barriers, turn + 1);
        add = 0x80000000u - (blocks - 1);
        if (job) {
            fmo_gmpi_job *board = &b->job[turn & 1];
            board->from = job->from, board->to = job->to, board->bytes = job->bytes;
            board->kind = job->kind, board->code = job->code;
        }
    }
    if (first && job && job->kind == FMO_GMPI_JOB_LARGE) {
        /* The entry has been seen: acquires, for all blocks, what another rank wrote before it. */
        fmo_gmpi_fence();
        old = fmo_gmpi_add_acquire(&b->barrier, add);
    } else {
        old = fmo_gmpi_add_acq_rel(&b->barrier, add);
    }
    if ((((old + add) ^ old) & 0x80000000u) == 0) {
        fmo_gmpi_wait_state w = fmo_gmpi_waiting();
        for (;;) {
            const unsigned long long abort_word = fmo_gmpi_abort_word(b);
            if ((fmo_gmpi_load_gpu(&b->barrier) ^ old) & 0x80000000u) break;
            const int code = fmo_gmpi_turn(b, &w, abort_word, FMO_GMPI_CALL_GRID, b->rank, 0, 0);
            if (code != FMO_GMPI_OK) return code;
        }
    }
    if (!first && job) {
        const fmo_gmpi_job *board = &b->job[old >> 31];
        job->from = board->from, job->to = board->to, job->bytes = board->bytes;
        job->kind = board->kind, job->code = board->code;
    }
    return FMO_GMPI_OK;
}
/* Barrier of all blocks of a rank. The job of the first block's thread 0 is copied to thread 0 of
 * the others; job is in shared memory, or NULL. Every thread calls, and gets the code. */
FMO_GMPI_SLOW int fmo_gmpi_blocks_barrier_several(fmo_gmpi_buf *b, unsigned blocks,
                                                  fmo_gmpi_job *job)
{
    int code = FMO_GMPI_OK;
    __syncthreads();
    if (fmo_gmpi_thread() == 0) code = fmo_gmpi_blocks_barrier_thread(b, blocks, job);
    return __syncthreads_or(code != FMO_GMPI_OK) ? fmo_gmpi_code_of(b) : FMO_GMPI_OK;
}
FMO_GMPI_DEVICE int fmo_gmpi_blocks_barrier(fmo_gmpi_buf *b, fmo_gmpi_job *job)
{
    const unsigned blocks = fmo_gmpi_blocks(b);
    if (blocks > 1) return fmo_gmpi_blocks_barrier_several(b, blocks, job);
    __syncthreads();
    return FMO_GMPI_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Thread `thread` of `threads` copies its share. Loads bypass the L1 cache of the multiprocessor,
 * which may hold old data. */
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
        for (; i + 2 * threads < n; i += 3 * threads) { /* three loads at a time */
            uint4 v[3];
#pragma unroll
            for (int k = 0; k < 3; k++) v[k] = __ldcg(f16 + i + k * threads);
#pragma unroll
            for (int k = 0; k < 3; k++) t16[i + k * threads] = v[k];
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

/* Packs at most 8 bytes into a word, and fmo_gmpi_unword() unpacks them; one thread. */
FMO_GMPI_DEVICE unsigned long long fmo_gmpi_word(const void *from, unsigned bytes)
{
    const unsigned char *f = (const unsigned char *)from;
    if (bytes == 8 && ((unsigned long long)f & 7) == 0)
        return fmo_gmpi_load_cached(*(const unsigned long long *)f);
    if (bytes == 8 && ((unsigned long long)f & 3) == 0)
        return (unsigned long long)fmo_gmpi_load_cached(((const unsigned *)f)[1]) << 32 |
               fmo_gmpi_load_cached(*(const unsigned *)f);
    if (bytes == 4 && ((unsigned long long)f & 3) == 0)
        return fmo_gmpi_load_cached(*(const unsigned *)f);
    unsigned long long word = 0;
#pragma unroll 1
    for (unsigned i = 0; i < bytes; i++)
        word |= (unsigned long long)fmo_gmpi_load_cached(f[i]) << 8 * i;
    return word;
}
FMO_GMPI_DEVICE void fmo_gmpi_unword(void *to, unsigned long long word, unsigned bytes)
{
    unsigned char *t = (unsigned char *)to;
    if (bytes == 8 && ((unsigned long long)t & 7) == 0) {
        fmo_gmpi_store_cached(*(unsigned long long *)t, word);
    } else if ((bytes & 3) == 0 && ((unsigned long long)t & 3) == 0) {
        if (bytes > 0) fmo_gmpi_store_cached(*(unsigned *)t, word);
        if (bytes > 4) fmo_gmpi_store_cached(((unsigned *)t)[1], word >> 32);
    } else {
#pragma unroll 1
        for (unsigned i = 0; i < bytes; i++) t[i] = (unsigned char)(word >> 8 * i);
    }
}

#endif
