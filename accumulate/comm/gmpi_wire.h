/* Data formats that both sides of gmpi share: limits, error codes, and the bits of the 16-byte
 * entries of rings. Used by device code, by the host's proxy, and by host threads that act as
 * ranks. C11, C++17 and CUDA. Next: gmpi.h (set-up), gmpi.cuh (in kernels),
 * docs/reference/gmpi.md. */
#ifndef FMO_GMPI_WIRE_H
#define FMO_GMPI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define FMO_GMPI_HD static __host__ __device__ __forceinline__ __attribute__((unused))
#else
#define FMO_GMPI_HD static inline __attribute__((unused))
#endif

enum {
    FMO_GMPI_RANKS_MAX = 16,
    FMO_GMPI_COMMS_MAX = 8,           /* communicators 0 .. 7: copies of the world */
    FMO_GMPI_TAG_MAX = (1 << 24) - 2, /* tags 0 .. TAG_MAX */
    FMO_GMPI_SLOTS = 512,             /* unfinished requests of a rank */
    FMO_GMPI_INBOX = 512,             /* peer: entries of the inbox for one sender, see gmpi.cuh */
    FMO_GMPI_EAGER = 4096,            /* peer: bytes of a message sent without waiting for its
                                       * receive */
    FMO_GMPI_INLINE = 8,              /* bytes of a message that fit in an entry */
    FMO_GMPI_RING = 512,              /* proxy: entries, two per command */
    FMO_GMPI_STAGE = 32768,           /* proxy: bytes that a kernel stages itself */
    FMO_GMPI_CHANNELS_MAX = 64,       /* persistent channels of a group */
    FMO_GMPI_REDUCE = 32,             /* elements of an allreduce sent together */
    FMO_GMPI_ANY_SOURCE = -1,         /* receives of the transport proxy only */
    FMO_GMPI_ANY_TAG = (1 << 24) - 1, /* receives of the transport proxy only */
    FMO_GMPI_COMM_CHANNELS = 8,       /* internal: messages of persistent channels */
    FMO_GMPI_COMM_CLEAR = 9,          /* internal: the receiver is ready; tag: the sender's slot */
    FMO_GMPI_COMM_BULK = 10,          /* internal: pieces of long messages; tag: the sender's
                                       * slot */
    FMO_GMPI_COMM_CONTROL = 11,       /* internal: notifies all ranks of an error */
    FMO_GMPI_COMM_COUNT = 12
};

/* Element types. X(name, bytes) */
#define FMO_GMPI_TYPE_TABLE(X) \
    X(FMO_GMPI_BYTE, 1)        \
    X(FMO_GMPI_INT32, 4)       \
    X(FMO_GMPI_INT64, 8)       \
    X(FMO_GMPI_FLOAT, 4)       \
    X(FMO_GMPI_DOUBLE, 8)
/* Operations of an allreduce. */
#define FMO_GMPI_OP_TABLE(X) X(FMO_GMPI_SUM) X(FMO_GMPI_MAX) X(FMO_GMPI_MIN)
/* Return codes of calls in kernels; all but FMO_GMPI_OK abort all ranks. X(name, text of the
 * cause) */
#define FMO_GMPI_CODE_TABLE(X)                                                        \
    X(FMO_GMPI_OK, "success")                                                         \
    X(FMO_GMPI_TIMEOUT, "it has died, is late, or never called")                      \
    X(FMO_GMPI_TRUNCATED, "the message is longer than the buffer of the receive")     \
    X(FMO_GMPI_ABORTED, "another rank failed first")                                  \
    X(FMO_GMPI_ARGUMENT, "no such rank, tag, communicator, type or channel")          \
    X(FMO_GMPI_FULL, "all requests are in use: wait for some")                        \
    X(FMO_GMPI_UNREACHABLE, "the buffer is not in memory of fmo_gmpi_alloc, and the " \
                            "ranks are in different processes")                       \
    X(FMO_GMPI_NETWORK, "the network reported an error")
/* The call in which a rank failed. X(name, text) */
#define FMO_GMPI_CALL_TABLE(X)            \
    X(FMO_GMPI_CALL_NONE, "a call")       \
    X(FMO_GMPI_CALL_SEND, "send")         \
    X(FMO_GMPI_CALL_RECV, "receive")      \
    X(FMO_GMPI_CALL_REDUCE, "allreduce")  \
    X(FMO_GMPI_CALL_GRID, "grid barrier") \
    X(FMO_GMPI_CALL_CHANNEL, "channel")   \
    X(FMO_GMPI_CALL_ABORT, "abort")

#define FMO_GMPI_ENUM2(name, x) name,
#define FMO_GMPI_ENUM1(name)    name,
typedef enum fmo_gmpi_type {
    FMO_GMPI_TYPE_TABLE(FMO_GMPI_ENUM2) FMO_GMPI_TYPE_COUNT
} fmo_gmpi_type;
typedef enum fmo_gmpi_op { FMO_GMPI_OP_TABLE(FMO_GMPI_ENUM1) FMO_GMPI_OP_COUNT } fmo_gmpi_op;
typedef enum fmo_gmpi_code {
    FMO_GMPI_CODE_TABLE(FMO_GMPI_ENUM2) FMO_GMPI_CODE_COUNT
} fmo_gmpi_code;
typedef enum fmo_gmpi_call {
    FMO_GMPI_CALL_TABLE(FMO_GMPI_ENUM2) FMO_GMPI_CALL_COUNT
} fmo_gmpi_call;
#undef FMO_GMPI_ENUM1
#undef FMO_GMPI_ENUM2

/** A message in progress, in 8 bytes; FMO_GMPI_NULL is a complete one. It consists of slot and
 * generation, so that a request whose slot has been reused is recognised as complete. */
typedef uint64_t fmo_gmpi_request;
#define FMO_GMPI_NULL ((fmo_gmpi_request)0)

/* 16 bytes, written and read by one access. The lowest bit of the first word tells whether the
 * entry is new: it is 1 in the first turn of the ring, 0 in the second, and so on. */
typedef struct fmo_gmpi_entry {
    uint64_t word[2];
} __attribute__((aligned(16))) fmo_gmpi_entry;

/* A word that others poll, in 128 bytes of its own. */
typedef struct fmo_gmpi_flag {
    uint64_t value;
    uint64_t unused[15];
} __attribute__((aligned(128))) fmo_gmpi_flag;

FMO_GMPI_HD size_t fmo_gmpi_type_bytes(int type)
{
    return type == FMO_GMPI_BYTE ? 1 : type == FMO_GMPI_INT32 || type == FMO_GMPI_FLOAT ? 4 : 8;
}

/* Returns the valid bit of entry `index`, the number of entries written before it to the ring,
 * which has `size` places. The bit changes with each lap. */
FMO_GMPI_HD uint64_t fmo_gmpi_lap(uint64_t index, uint64_t size)
{
    return (index / size & 1) ^ 1;
}

/* ---- requests: slot + 1 in the low word, generation in the high word ------------------------- */

FMO_GMPI_HD fmo_gmpi_request fmo_gmpi_request_make(uint32_t slot, uint32_t generation)
{
    return (uint64_t)generation << 32 | (slot + 1);
}
FMO_GMPI_HD uint32_t fmo_gmpi_request_slot(fmo_gmpi_request request)
{
    return (uint32_t)request - 1;
}
FMO_GMPI_HD uint32_t fmo_gmpi_request_generation(fmo_gmpi_request request)
{
    return (uint32_t)(request >> 32);
}

/* ---- peer: envelopes, the entries of an inbox -------------------------------------------------
 *
 * Word 0: valid bit 1, kind 2, communicator 4, tag 24, bytes 33 bits. Word 1: the message itself
 * (IN_ENTRY), unused (IN_BOX), or 48 bits of an address or offset and 16 of the sender's slot. */

enum { FMO_GMPI_IN_ENTRY, FMO_GMPI_IN_BOX, FMO_GMPI_AT_OFFSET, FMO_GMPI_AT_ADDRESS };

FMO_GMPI_HD uint64_t fmo_gmpi_envelope(uint64_t valid, int kind, int comm, int tag, uint64_t bytes)
{
    return valid | (uint64_t)kind << 1 | (uint64_t)comm << 3 | (uint64_t)tag << 7 | bytes << 31;
}
FMO_GMPI_HD int fmo_gmpi_envelope_kind(uint64_t word)
{
    return (int)(word >> 1 & 3);
}
/* Returns communicator and tag together, by which messages of a rank are matched. */
FMO_GMPI_HD uint32_t fmo_gmpi_envelope_key(uint64_t word)
{
    return (uint32_t)(word >> 3 & 0xfffffff);
}
FMO_GMPI_HD uint32_t fmo_gmpi_key(int comm, int tag)
{
    return (uint32_t)comm | (uint32_t)tag << 4;
}
FMO_GMPI_HD uint64_t fmo_gmpi_envelope_bytes(uint64_t word)
{
    return word >> 31;
}

/* ---- proxy: commands, two entries each --------------------------------------------------------
 *
 * First entry: valid bit 1, call 3, type 3, operation 2, communicator 4, tag 24, slot 10, staged
 * 1 bit; then 32 bits of the other rank and 32 of the slot's generation. Second entry: valid bit
 * 1, bytes 63 bits; then the address. */

typedef struct fmo_gmpi_command {
    int call, type, op, comm, tag, peer, staged;
    uint32_t slot, generation;
    uint64_t bytes, address;
} fmo_gmpi_command;

FMO_GMPI_HD void fmo_gmpi_command_pack(const fmo_gmpi_command *c, uint64_t valid,
                                       fmo_gmpi_entry entry[2])
{
    entry[0].word[0] = valid | (uint64_t)c->call << 1 | (uint64_t)c->type << 4 |
                       (uint64_t)c->op << 7 | (uint64_t)c->comm << 9 | (uint64_t)c->tag << 13 |
                       (uint64_t)c->slot << 37 | (uint64_t)c->staged << 47;
    entry[0].word[1] = (uint64_t)(uint32_t)c->peer << 32 | c->generation;
    entry[1].word[0] = valid | c->bytes << 1;
    entry[1].word[1] = c->address;
}
FMO_GMPI_HD void fmo_gmpi_command_unpack(const fmo_gmpi_entry entry[2], fmo_gmpi_command *c)
{
    const uint64_t w = entry[0].word[0];
    c->call = (int)(w >> 1 & 7);
    c->type = (int)(w >> 4 & 7);
    c->op = (int)(w >> 7 & 3);
    c->comm = (int)(w >> 9 & 15);
    c->tag = (int)(w >> 13 & 0xffffff);
    c->slot = (uint32_t)(w >> 37 & 1023);
    c->staged = (int)(w >> 47 & 1);
    c->peer = (int)(int32_t)(entry[0].word[1] >> 32);
    c->generation = (uint32_t)entry[0].word[1];
    c->bytes = entry[1].word[0] >> 1;
    c->address = entry[1].word[1];
}

/* Completion of a command, 128 bytes apart. Word 0: received bytes in 32 bits, the slot's
 * generation in 24, a fmo_gmpi_code in 8. Word 1: the message, if it has at most 8 bytes. */
typedef struct fmo_gmpi_done {
    fmo_gmpi_entry entry;
    uint64_t unused[14];
} __attribute__((aligned(128))) fmo_gmpi_done;

FMO_GMPI_HD uint64_t fmo_gmpi_done_word(uint64_t bytes, uint32_t generation, int code)
{
    return bytes << 32 | (uint64_t)(generation & 0xffffff) << 8 | (uint64_t)code;
}
FMO_GMPI_HD int fmo_gmpi_done_is(uint64_t word, uint32_t generation)
{
    return (word >> 8 & 0xffffff) == (generation & 0xffffff);
}
FMO_GMPI_HD int fmo_gmpi_done_code(uint64_t word)
{
    return (int)(word & 255);
}
FMO_GMPI_HD uint64_t fmo_gmpi_done_bytes(uint64_t word)
{
    return word >> 32;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Packs the error of a rank: code in 8 bits, call in 8, other rank + 1 in 16, tag in 24,
 * communicator in 8. */
FMO_GMPI_HD uint64_t fmo_gmpi_error_word(int code, int call, int peer, int tag, int comm)
{
    return (uint64_t)(code & 255) | (uint64_t)(call & 255) << 8 |
           (uint64_t)((peer + 1) & 65535) << 16 | (uint64_t)(tag & 0xffffff) << 32 |
           (uint64_t)(comm & 255) << 56;
}

/* Host memory that both a rank's kernels and the host read and write. */
typedef struct fmo_gmpi_page {
    fmo_gmpi_flag error; /* kernel -> host: fmo_gmpi_error_word; 0: none */
    fmo_gmpi_flag abort; /* host -> kernel: nonzero ends all waits */
    fmo_gmpi_flag taken; /* host -> kernel: entries of the ring that have been read */
    fmo_gmpi_entry ring[FMO_GMPI_RING];
    fmo_gmpi_done done[FMO_GMPI_SLOTS];
    /* A message, preceded by 16 bytes that the host writes. */
    struct {
        uint64_t head[2];
        unsigned char data[FMO_GMPI_STAGE];
    } stage[FMO_GMPI_SLOTS];
} fmo_gmpi_page;

#endif
