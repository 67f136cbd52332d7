/* A rank whose callers are host threads: see host_rank.h. The host's counterpart of
 * gmpi_slots.cuh and gmpi_proxy.cuh. */
#define _GNU_SOURCE
#include "host_rank.h"
#include "ring.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FREE, BUSY, SENDING, WAITING };

/* Generation and state change together, so that different uses of a slot cannot be confused. */
typedef struct host_slot {
    _Atomic uint32_t life; /* generation 29 bits, state 3 */
    void *to;
    int call, peer, tag, comm;
} host_slot;

struct fmo_host_rank {
    fmo_gmpi_page *page;
    void *pieces;
    fmo_gmpi_net net;
    fmo_proxy *proxy;
    double timeout;
    _Atomic uint64_t tail, error;
    _Atomic uint32_t next;
    host_slot slot[FMO_GMPI_SLOTS];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fmo_host_rank_stop(fmo_host_rank *h)
{
    if (h) fmo_proxy_stop(h->proxy);
}

void fmo_host_rank_destroy(fmo_host_rank *h)
{
    if (!h) return;
    fmo_proxy_destroy(h->proxy);
    if (h->net.destroy) h->net.destroy(h->net.user);
    free(h->page);
    free(h->pieces);
    free(h);
}

fmo_host_rank *fmo_host_rank_create(const fmo_gmpi_net *net, double timeout, int direct)
{
    fmo_host_rank *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->net = *net;
    h->timeout = timeout;
    h->page = aligned_alloc(128, (sizeof *h->page + 127) / 128 * 128);
    h->pieces = malloc(2 * (size_t)FMO_PROXY_PIECES * FMO_PROXY_PIECE);
    if (h->page) memset(h->page, 0, sizeof *h->page);
    if (h->page && h->pieces)
        h->proxy = fmo_proxy_create(h->page, h->pieces, net, &fmo_mover_host, direct);
    if (!h->proxy || fmo_proxy_start(h->proxy, NULL, NULL) != 0) {
        fmo_host_rank_destroy(h);
        return NULL;
    }
    return h;
}

uint64_t fmo_host_error(const fmo_host_rank *h)
{
    return atomic_load(&h->error);
}

static int fail(fmo_host_rank *h, int code, int call, int peer, int tag, int comm)
{
    const uint64_t word = fmo_gmpi_error_word(code, call, peer, tag, comm);
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&h->error, &none, word))
        fmo_ring_set(&h->page->error.value, word);
    return (int)(atomic_load(&h->error) & 255);
}

/* Returns the error of this rank, after taking over an error that the proxy or another rank
 * reported. */
static int reported_error(fmo_host_rank *h, const host_slot *s)
{
    const uint64_t word = fmo_ring_get(&h->page->abort.value);
    if (word == 0) return (int)(atomic_load(&h->error) & 255);
    const int code = (int)(word & 255);
    return code == FMO_GMPI_ABORTED
               ? fail(h, code, s->call, (int)(word >> 16 & 65535) - 1, s->tag, s->comm)
               : fail(h, code, (int)(word >> 8 & 255), (int)(word >> 16 & 65535) - 1,
                      (int)(word >> 32 & 0xffffff), (int)(word >> 56));
}

static int ended(fmo_host_rank *h, uint32_t slot, uint32_t generation, uint64_t *word)
{
    *word = fmo_ring_get(&h->page->done[slot].entry.word[0]);
    return fmo_gmpi_done_is(*word, generation);
}

static int slot_take(fmo_host_rank *h, uint32_t *generation)
{
    const uint32_t first = atomic_fetch_add(&h->next, 1);
    uint64_t word;
    for (uint32_t k = 0; k < FMO_GMPI_SLOTS; k++) {
        const uint32_t i = (first + k) % FMO_GMPI_SLOTS;
        uint32_t life = atomic_load(&h->slot[i].life);
        const uint32_t state = life & 7;
        if (state != FREE && !(state == SENDING && ended(h, i, life >> 3, &word))) continue;
        *generation = ((life >> 3) + 1) & 0x1fffffff;
        if (atomic_compare_exchange_strong(&h->slot[i].life, &life, *generation << 3 | BUSY))
            return (int)i;
    }
    return -1;
}

static int give_up(void *user)
{
    fmo_host_rank *h = user;
    return atomic_load(&h->error) != 0 || fmo_ring_get(&h->page->abort.value) != 0;
}

/* A call: its kind (FMO_GMPI_CALL_...), the bytes of its data, their type and how they are reduced,
 * and the envelope of a message. */
typedef struct host_call {
    int kind;
    size_t bytes;
    int type, op;
    int peer, tag, comm;
} host_call;

/* Checks the arguments, takes a slot, stages the data of short messages, and puts a command into
 * the ring. */
static int start(fmo_host_rank *h, const host_call *call, const void *data, void *result,
                 fmo_gmpi_request *request)
{
    const int receives = call->kind == FMO_GMPI_CALL_RECV;
    const int wild = receives && call->peer == FMO_GMPI_ANY_SOURCE;
    if (atomic_load(&h->error)) return (int)(atomic_load(&h->error) & 255);
    if (call->kind != FMO_GMPI_CALL_REDUCE &&
        (call->peer >= h->net.size || (call->peer < 0 && !wild) || call->tag < 0 ||
         call->comm < 0 || call->comm >= FMO_GMPI_COMMS_MAX ||
         call->tag > (receives ? FMO_GMPI_ANY_TAG : FMO_GMPI_TAG_MAX) || call->bytes >> 32))
        return fail(h, FMO_GMPI_ARGUMENT, call->kind, call->peer, call->tag, call->comm);
    uint32_t generation = 0;
    const int slot = slot_take(h, &generation);
    if (slot < 0) return fail(h, FMO_GMPI_FULL, call->kind, call->peer, call->tag, call->comm);
    host_slot *s = &h->slot[slot];
    const fmo_gmpi_command c = {.call = call->kind,
                                .type = call->type,
                                .op = call->op,
                                .comm = call->comm,
                                .tag = call->tag,
                                .peer = call->peer,
                                .staged = call->bytes <= FMO_GMPI_STAGE,
                                .slot = (uint32_t)slot,
                                .generation = generation,
                                .bytes = call->bytes,
                                .address = (uintptr_t)(receives ? result : data)};
    s->to = result;
    s->call = call->kind, s->peer = call->peer, s->tag = call->tag, s->comm = call->comm;
    if (!receives && c.staged && call->bytes) memcpy(h->page->stage[slot].data, data, call->bytes);
    *request = fmo_gmpi_request_make(c.slot, c.generation);
    atomic_store(&s->life,
                 generation << 3 | (call->kind == FMO_GMPI_CALL_SEND ? SENDING : WAITING));
    return fmo_ring_put(h->page, &h->tail, &c, give_up, h) ? FMO_GMPI_OK : reported_error(h, s);
}

int fmo_host_isend(fmo_host_rank *h, const void *data, size_t bytes, int dest, int tag, int comm,
                   fmo_gmpi_request *request)
{
    const host_call send = {FMO_GMPI_CALL_SEND, bytes, FMO_GMPI_BYTE, 0, dest, tag, comm};
    return start(h, &send, data, NULL, request);
}

int fmo_host_irecv(fmo_host_rank *h, void *data, size_t bytes, int source, int tag, int comm,
                   fmo_gmpi_request *request)
{
    const host_call receive = {FMO_GMPI_CALL_RECV, bytes, FMO_GMPI_BYTE, 0, source, tag, comm};
    return start(h, &receive, NULL, data, request);
}

/* Waits for a request, or tests it, copies a received message that was staged, and frees the
 * slot. */
static int finish(fmo_host_rank *h, fmo_gmpi_request *request, int wait, int *flag)
{
    if (flag) *flag = 1;
    if (*request == FMO_GMPI_NULL) return (int)(atomic_load(&h->error) & 255);
    const uint32_t slot = fmo_gmpi_request_slot(*request);
    const uint32_t generation = fmo_gmpi_request_generation(*request);
    host_slot *s = &h->slot[slot];
    uint64_t word;
    double until = 0.0;
    for (unsigned turn = 1;; turn++) {
        if (atomic_load(&s->life) >> 3 != generation) { /* the slot was reused */
            *request = FMO_GMPI_NULL;
            return FMO_GMPI_OK;
        }
        if (ended(h, slot, generation, &word)) break;
        if (fmo_ring_get(&h->page->abort.value) || atomic_load(&h->error))
            return reported_error(h, s);
        if (!wait) {
            if (flag) *flag = 0;
            return FMO_GMPI_OK;
        }
        if (turn % 64) continue;
        const double t = now();
        if (until == 0.0) until = t + h->timeout;
        if (t > until) return fail(h, FMO_GMPI_TIMEOUT, s->call, s->peer, s->tag, s->comm);
        sched_yield();
    }
    *request = FMO_GMPI_NULL;
    /* another thread that sees the end of a send may reuse its slot */
    uint32_t life = generation << 3 | SENDING;
    if (atomic_compare_exchange_strong(&s->life, &life, generation << 3 | FREE) ||
        life != (generation << 3 | WAITING))
        return FMO_GMPI_OK;
    if (fmo_gmpi_done_code(word) != FMO_GMPI_OK)
        return fail(h, fmo_gmpi_done_code(word), s->call, s->peer, s->tag, s->comm);
    const size_t bytes = (size_t)fmo_gmpi_done_bytes(word);
    if (bytes && bytes <= FMO_GMPI_STAGE) memcpy(s->to, h->page->stage[slot].data, bytes);
    atomic_store(&s->life, generation << 3 | FREE);
    return FMO_GMPI_OK;
}

int fmo_host_wait(fmo_host_rank *h, fmo_gmpi_request *request)
{
    return finish(h, request, 1, NULL);
}

int fmo_host_test(fmo_host_rank *h, fmo_gmpi_request *request, int *flag)
{
    return finish(h, request, 0, flag);
}

int fmo_host_allreduce(fmo_host_rank *h, const void *send, void *recv, size_t count,
                       fmo_gmpi_type type, fmo_gmpi_op op, int comm)
{
    const size_t size = fmo_gmpi_type_bytes(type), chunk = FMO_GMPI_STAGE / size;
    if (comm < 0 || comm >= FMO_GMPI_COMMS_MAX || type == FMO_GMPI_BYTE)
        return fail(h, FMO_GMPI_ARGUMENT, FMO_GMPI_CALL_REDUCE, -1, 0, comm);
    for (size_t at = 0; at < count; at += chunk) {
        const size_t n = count - at < chunk ? count - at : chunk;
        fmo_gmpi_request request = FMO_GMPI_NULL;
        const host_call reduce = {FMO_GMPI_CALL_REDUCE, n * size, type, op, -1, 0, comm};
        int code =
            start(h, &reduce, (const char *)send + at * size, (char *)recv + at * size, &request);
        if (code == FMO_GMPI_OK) code = fmo_host_wait(h, &request);
        if (code != FMO_GMPI_OK) return code;
    }
    return FMO_GMPI_OK;
}

int fmo_host_synchronize(fmo_host_rank *h)
{
    for (uint32_t i = 0; i < FMO_GMPI_SLOTS; i++) {
        const uint32_t life = atomic_load(&h->slot[i].life);
        if ((life & 7) != SENDING && (life & 7) != WAITING) continue;
        fmo_gmpi_request request = fmo_gmpi_request_make(i, life >> 3);
        const int code = fmo_host_wait(h, &request);
        if (code != FMO_GMPI_OK) return code;
    }
    return FMO_GMPI_OK;
}

/* ---- error messages -------------------------------------------------------------------------- */

/* Decodes an error word into one line (host_rank.h). */
void fmo_comm_describe(uint64_t word, int rank, double timeout, char *text, size_t size)
{
#define ROW(name, words) words,
    static const char *const codes[] = {FMO_GMPI_CODE_TABLE(ROW)};
    static const char *const calls[] = {FMO_GMPI_CALL_TABLE(ROW)};
#undef ROW
    const unsigned code = (unsigned)(word & 255), call = (unsigned)(word >> 8 & 255);
    const int peer = (int)(word >> 16 & 65535) - 1;
    const int tag = (int)(word >> 32 & 0xffffff), comm = (int)(word >> 56);
    const char *cause = code < FMO_GMPI_CODE_COUNT ? codes[code] : "unknown code";
    const char *what = call < FMO_GMPI_CALL_COUNT ? calls[call] : "unknown call";
    char with[64] = "", of[80] = "";
    if (call == FMO_GMPI_CALL_SEND || call == FMO_GMPI_CALL_RECV)
        snprintf(of, sizeof of, ", tag %d, communicator %d", tag, comm);
    if (call == FMO_GMPI_CALL_CHANNEL) snprintf(of, sizeof of, " %d", tag);
    if (code == FMO_GMPI_ABORTED && peer < 0) {
        snprintf(text, size, "rank %d ended its %s%s: the host called fmo_gmpi_abort", rank, what,
                 of);
        return;
    }
    if (code == FMO_GMPI_ABORTED) {
        snprintf(text, size, "rank %d ended its %s%s: rank %d failed first", rank, what, of, peer);
        return;
    }
    if (peer >= 0) snprintf(with, sizeof with, " with rank %d", peer);
    if (code == FMO_GMPI_TIMEOUT && peer >= 0 && peer != rank)
        snprintf(text, size, "rank %d waited %.3g s for rank %d (%s%s): %s", rank, timeout, peer,
                 what, of, cause);
    else if (code == FMO_GMPI_TIMEOUT)
        snprintf(text, size, "rank %d waited %.3g s (%s%s): %s", rank, timeout, what, of,
                 call == FMO_GMPI_CALL_GRID ? "not all of its blocks came"
                                            : "another rank is missing");
    else
        snprintf(text, size, "rank %d, %s%s%s: %s", rank, what, with, of, cause);
}
