/* The proxy of a rank: see proxy.h. */
#define _GNU_SOURCE
#include "proxy.h"
#include "ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Polls without progress before a thread yields: far more than a message takes. */
enum { IDLE_POLLS = 4096 };

typedef enum op_state {
    OP_IDLE,
    OP_FIRST, /* the first packet: 16 bytes, and the message if it is short */
    OP_CLEAR, /* send: until the receiver is ready; receive: until no other receive uses the
               * pieces */
    OP_BULK,  /* the pieces */
    OP_REDUCE
} op_state;

typedef struct op {
    op_state state;
    fmo_gmpi_command command;
    void *handle, *clear; /* of the network */
    uint64_t ready;       /* data of the message "ready", without meaning */
    uint64_t total, issued, moved;
    int peer; /* of a receive: the sender */
    int tag;  /* of the pieces: the sender's slot */
} op;

typedef enum piece_state { PIECE_FREE, PIECE_COPIES, PIECE_TRAVELS } piece_state;

typedef struct piece {
    piece_state state;
    int slot;
    uint64_t at, bytes;
    void *handle;
} piece;

/* Pieces in the order in which they were issued. */
typedef struct pipe_line {
    piece piece[FMO_PROXY_PIECES];
    unsigned first, count;
} pipe_line;

struct fmo_proxy {
    fmo_gmpi_page *page;
    unsigned char *memory;
    fmo_gmpi_net net;
    fmo_mover mover;
    int direct, notified, failed;
    uint64_t next; /* entries of the ring */
    op op[FMO_GMPI_SLOTS];
    int active[FMO_GMPI_SLOTS], actives; /* slots in order of arrival */
    int receiving;                       /* slot of the receive that uses the pieces; -1: none */
    pipe_line out, in;
    pthread_t thread;
    int running;
    _Atomic int stop;
    void (*prepare)(void *);
    void *prepare_user;
};

/* ---- a mover for host memory ----------------------------------------------------------------- */

static int host_start(void *user, int work_item, void *to, const void *from, size_t bytes)
{
    (void)user, (void)work_item;
    memcpy(to, from, bytes);
    return 0;
}
static int host_test(void *user, int work_item, int *done)
{
    (void)user, (void)work_item;
    *done = 1;
    return 0;
}
const fmo_mover fmo_mover_host = {NULL, host_start, host_test};

/* ---- errors ---------------------------------------------------------------------------------- */

/* Ends this rank's waits; poll() notifies the other ranks. */
static void fail(fmo_proxy *p, int code, int call, int peer, int tag, int comm)
{
    if (p->failed) return;
    p->failed = 1;
    if (fmo_ring_get(&p->page->abort.value)) return; /* an earlier error or abort */
    fmo_ring_set(&p->page->abort.value, fmo_gmpi_error_word(code, call, peer, tag, comm));
}
static void fail_op(fmo_proxy *p, const op *o, int code)
{
    fail(p, code, o->command.call, o->peer, o->command.tag, o->command.comm);
}

static void finish(fmo_proxy *p, op *o, int code, uint64_t bytes)
{
    const uint32_t slot = o->command.slot;
    uint64_t word = 0;
    if (bytes <= FMO_GMPI_INLINE) memcpy(&word, p->page->stage[slot].data, (size_t)bytes);
    o->state = OP_IDLE;
    fmo_ring_write(&p->page->done[slot].entry,
                   fmo_gmpi_done_word(bytes, o->command.generation, code), word);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static unsigned char *piece_memory(fmo_proxy *p, const pipe_line *line, unsigned which)
{
    return p->memory + ((size_t)which + (line == &p->in ? FMO_PROXY_PIECES : 0)) * FMO_PROXY_PIECE;
}
static int work_item_of(const fmo_proxy *p, const pipe_line *line, unsigned which)
{
    return (int)which + (line == &p->in ? FMO_PROXY_PIECES : 0);
}

/* Issues pieces of this operation while some are free. Returns whether any was issued. */
static int issue(fmo_proxy *p, pipe_line *line, op *o)
{
    int moved = 0, fault = 0;
    while (line->count < FMO_PROXY_PIECES && o->issued < o->total && !fault) {
        const unsigned which = (line->first + line->count++) % FMO_PROXY_PIECES;
        piece *q = &line->piece[which];
        const uint64_t rest = o->total - o->issued;
        *q = (piece){.slot = (int)o->command.slot,
                     .at = o->issued,
                     .bytes = rest < FMO_PROXY_PIECE ? rest : FMO_PROXY_PIECE};
        o->issued += q->bytes;
        unsigned char *memory = piece_memory(p, line, which);
        if (line == &p->out) {
            q->state = PIECE_COPIES;
            fault = p->mover.start(p->mover.user, work_item_of(p, line, which), memory,
                                   (const unsigned char *)(uintptr_t)o->command.address + q->at,
                                   (size_t)q->bytes);
        } else {
            q->state = PIECE_TRAVELS;
            fault = p->net.irecv(p->net.user, memory, (size_t)q->bytes, o->peer, o->tag,
                                 FMO_GMPI_COMM_BULK, &q->handle);
        }
        moved = 1;
    }
    if (fault) fail_op(p, o, FMO_GMPI_NETWORK);
    return moved;
}

/* Advances pieces: outgoing ones from the copy to the network, in order, incoming ones in the
 * opposite direction. Returns whether there was any progress. */
static int advance(fmo_proxy *p, pipe_line *line)
{
    int moved = 0;
    for (unsigned k = 0; k < line->count; k++) {
        const unsigned which = (line->first + k) % FMO_PROXY_PIECES;
        piece *q = &line->piece[which];
        op *o = &p->op[q->slot];
        int done = 0, fault = 0;
        if (q->state == PIECE_COPIES) {
            fault = p->mover.test(p->mover.user, work_item_of(p, line, which), &done);
            if (!fault && !done && line == &p->out) break; /* later ones must not overtake */
            if (done && line == &p->out) {
                q->state = PIECE_TRAVELS;
                fault = p->net.isend(p->net.user, piece_memory(p, line, which), (size_t)q->bytes,
                                     o->peer, o->tag, FMO_GMPI_COMM_BULK, &q->handle);
                moved = 1;
                done = 0;
            }
        } else if (q->state == PIECE_TRAVELS) {
            fault = p->net.test(p->net.user, &q->handle, &done);
            if (done && !fault && line == &p->in) {
                q->state = PIECE_COPIES;
                fault = p->mover.start(p->mover.user, work_item_of(p, line, which),
                                       (unsigned char *)(uintptr_t)o->command.address + q->at,
                                       piece_memory(p, line, which), (size_t)q->bytes);
                moved = 1;
                done = 0;
            }
        }
        if (fault) {
            fail_op(p, o, FMO_GMPI_NETWORK);
            return 1;
        }
        if (done) {
            q->state = PIECE_FREE;
            o->moved += q->bytes;
            moved = 1;
        }
    }
    while (line->count && line->piece[line->first].state == PIECE_FREE) {
        line->first = (line->first + 1) % FMO_PROXY_PIECES;
        line->count--;
    }
    return moved;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Starts the operation of a new command. */
static void begin(fmo_proxy *p, const fmo_gmpi_command *c)
{
    op *o = &p->op[c->slot % FMO_GMPI_SLOTS];
    int fault = 0;
    uint64_t *head = p->page->stage[c->slot % FMO_GMPI_SLOTS].head;
    *o = (op){
        .state = OP_FIRST, .command = *c, .peer = c->peer, .tag = (int)c->slot, .total = c->bytes};
    p->active[p->actives++] = (int)c->slot;
    if (c->call == FMO_GMPI_CALL_SEND) {
        head[0] = c->bytes;
        head[1] = (uint64_t)p->net.rank << 32 | c->slot;
        if (!c->staged)
            fault = p->net.irecv(p->net.user, &o->ready, sizeof o->ready, c->peer, (int)c->slot,
                                 FMO_GMPI_COMM_CLEAR, &o->clear);
        if (!fault)
            fault = p->net.isend(p->net.user, head, 16 + (c->staged ? (size_t)c->bytes : 0),
                                 c->peer, c->tag, c->comm, &o->handle);
    } else if (c->call == FMO_GMPI_CALL_RECV) {
        fault = p->net.irecv(p->net.user, head, 16 + FMO_GMPI_STAGE, c->peer, c->tag, c->comm,
                             &o->handle);
    } else if (c->call == FMO_GMPI_CALL_REDUCE) {
        o->state = OP_REDUCE;
        fault = p->net.iallreduce(p->net.user, p->page->stage[c->slot].data,
                                  (size_t)c->bytes / fmo_gmpi_type_bytes(c->type),
                                  (fmo_gmpi_type)c->type, (fmo_gmpi_op)c->op, c->comm, &o->handle);
    } else {
        fault = 1;
    }
    if (fault) fail_op(p, o, FMO_GMPI_NETWORK);
}

/* Handles the first packet of a receive: it holds the message, or its length and the sender's
 * slot. */
static void first_came(fmo_proxy *p, op *o)
{
    const uint64_t *head = p->page->stage[o->command.slot].head;
    o->peer = (int)(head[1] >> 32);
    o->tag = (int)(head[1] & 0xffffffff);
    if (head[0] > o->command.bytes) {
        finish(p, o, FMO_GMPI_TRUNCATED, 0);
        fail_op(p, o, FMO_GMPI_TRUNCATED);
    } else if (head[0] <= FMO_GMPI_STAGE) {
        finish(p, o, FMO_GMPI_OK, head[0]);
    } else {
        o->total = head[0];
        o->state = OP_CLEAR;
    }
}

/* Sends "ready" to the sender if no other receive uses the pieces (proxy.h). Returns 1, 0 if it
 * has to wait, -1 after an error. */
static int clear_to_send(fmo_proxy *p, op *o)
{
    if (p->receiving >= 0) return 0;
    p->receiving = (int)o->command.slot;
    o->state = OP_BULK;
    return p->net.isend(p->net.user, &o->ready, sizeof o->ready, o->peer, o->tag,
                        FMO_GMPI_COMM_CLEAR, &o->clear) == 0
               ? 1
               : -1;
}

/* Sends or receives as one message from the rank's memory, which the network can access.
 * @return 1 progress, 0 none, -1 error */
static int bulk_direct(fmo_proxy *p, op *o)
{
    int done = 0;
    void *memory = (void *)(uintptr_t)o->command.address;
    if (o->issued == 0) {
        o->issued = o->total;
        const int fault = o->command.call == FMO_GMPI_CALL_SEND
                              ? p->net.isend(p->net.user, memory, (size_t)o->total, o->peer, o->tag,
                                             FMO_GMPI_COMM_BULK, &o->handle)
                              : p->net.irecv(p->net.user, memory, (size_t)o->total, o->peer, o->tag,
                                             FMO_GMPI_COMM_BULK, &o->handle);
        return fault ? -1 : 1;
    }
    if (o->moved < o->total && p->net.test(p->net.user, &o->handle, &done) != 0) return -1;
    if (done) o->moved = o->total;
    return done;
}

static int bulk(fmo_proxy *p, op *o)
{
    const int sends = o->command.call == FMO_GMPI_CALL_SEND;
    int moved = p->direct ? bulk_direct(p, o) : issue(p, sends ? &p->out : &p->in, o);
    if (moved < 0 || o->moved < o->total) return moved;
    int done = 1;
    if (!sends && p->net.test(p->net.user, &o->clear, &done) != 0) return -1;
    if (!done) return moved; /* the "ready" message is still being sent from *o */
    if (!sends) p->receiving = -1;
    finish(p, o, FMO_GMPI_OK, o->total);
    return 1;
}

/* Advances an operation by one state. Returns 1 if there was progress, 0 if not, -1 after an
 * error. */
static int progress(fmo_proxy *p, op *o)
{
    int done = 0;
    const int sends = o->command.call == FMO_GMPI_CALL_SEND;
    switch (o->state) {
    case OP_IDLE:
        return 0;
    case OP_FIRST:
        if (p->net.test(p->net.user, &o->handle, &done) != 0) return -1;
        if (!done) return 0;
        if (!sends)
            first_came(p, o);
        else if (o->command.staged)
            finish(p, o, FMO_GMPI_OK, 0);
        else
            o->state = OP_CLEAR;
        return 1;
    case OP_CLEAR:
        if (!sends) return clear_to_send(p, o);
        if (p->net.test(p->net.user, &o->clear, &done) != 0) return -1;
        if (done) o->state = OP_BULK;
        return done;
    case OP_BULK:
        return bulk(p, o);
    case OP_REDUCE:
        if (p->net.test(p->net.user, &o->handle, &done) != 0) return -1;
        if (done) finish(p, o, FMO_GMPI_OK, o->command.bytes);
        return done;
    }
    return 0;
}

/* Exchanges errors: notifies other ranks of this rank's error, and takes over theirs. */
static void errors(fmo_proxy *p)
{
    const int theirs = p->net.aborted(p->net.user);
    if (theirs) fail(p, FMO_GMPI_ABORTED, FMO_GMPI_CALL_NONE, theirs - 1, 0, 0);
    if (!p->notified && (p->failed || fmo_ring_get(&p->page->error.value))) {
        p->notified = 1;
        if (!theirs) p->net.abort(p->net.user);
    }
}

/* Executes one round of polling (proxy.h). */
int fmo_proxy_poll(fmo_proxy *p)
{
    fmo_gmpi_command command;
    int moved = 0;
    errors(p);
    if (p->failed) return 0;
    while (p->actives < FMO_GMPI_SLOTS && fmo_ring_take(p->page, &p->next, &command)) {
        begin(p, &command);
        moved = 1;
    }
    moved |= advance(p, &p->out) | advance(p, &p->in);
    int kept = 0;
    for (int a = 0; a < p->actives; a++) {
        op *o = &p->op[p->active[a]];
        const int did = p->failed ? 0 : progress(p, o);
        if (did < 0) fail_op(p, o, FMO_GMPI_NETWORK);
        moved |= did;
        if (o->state != OP_IDLE) p->active[kept++] = p->active[a];
    }
    p->actives = kept;
    return moved != 0;
}

/* ---- the thread ------------------------------------------------------------------------------ */

fmo_proxy *fmo_proxy_create(fmo_gmpi_page *page, void *pieces, const fmo_gmpi_net *net,
                            const fmo_mover *mover, int direct)
{
    fmo_proxy *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->page = page;
    p->memory = pieces;
    p->net = *net;
    p->mover = *mover;
    p->direct = direct;
    p->receiving = -1;
    return p;
}

static void *run(void *user)
{
    fmo_proxy *p = user;
    int idle = 0;
    if (p->prepare) p->prepare(p->prepare_user);
    while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        idle = fmo_proxy_poll(p) ? 0 : idle + 1;
        if (idle > IDLE_POLLS) sched_yield();
    }
    return NULL;
}

int fmo_proxy_start(fmo_proxy *p, void (*prepare)(void *user), void *user)
{
    p->prepare = prepare;
    p->prepare_user = user;
    const int code = pthread_create(&p->thread, NULL, run, p);
    p->running = code == 0;
    return code;
}

void fmo_proxy_stop(fmo_proxy *p)
{
    if (!p || !p->running) return;
    atomic_store(&p->stop, 1);
    pthread_join(p->thread, NULL);
    p->running = 0;
    errors(p); /* errors of the last moment, so that other ranks need not wait for their timeout */
}

/* Frees a completed handle; an unfinished one stays with the network, which is destroyed next. */
static void drop(fmo_proxy *p, void **handle)
{
    int done = 0;
    if (*handle) p->net.test(p->net.user, handle, &done);
}

void fmo_proxy_destroy(fmo_proxy *p)
{
    if (!p) return;
    fmo_proxy_stop(p);
    for (int s = 0; s < FMO_GMPI_SLOTS; s++) {
        drop(p, &p->op[s].handle);
        drop(p, &p->op[s].clear);
    }
    for (int k = 0; k < FMO_PROXY_PIECES; k++) {
        drop(p, &p->out.piece[k].handle);
        drop(p, &p->in.piece[k].handle);
    }
    free(p);
}
