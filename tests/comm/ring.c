/* The ring between a rank and its proxy: every bit of a command arrives, no command is lost or
 * duplicated, those of one producer stay in order, and a full ring makes producers wait. */
#define _GNU_SOURCE
#include "tests/support/check.h"
#include "accumulate/comm/ring.h"

#include <pthread.h>
#include <sched.h>

enum { PRODUCERS = 4 };

static fmo_gmpi_page *new_page(void)
{
    fmo_gmpi_page *page = aligned_alloc(128, (sizeof *page + 127) / 128 * 128);
    if (page) memset(page, 0, sizeof *page);
    return page;
}

/* Commands, envelopes and requests are the same after they are packed and unpacked, with edge and
 * random values. */
static void check_bits(void)
{
    unsigned long long seed = 7;
    const fmo_gmpi_command edges[2] = {{.call = 7,
                                        .type = 7,
                                        .op = 3,
                                        .comm = 15,
                                        .tag = 0xffffff,
                                        .peer = -1,
                                        .staged = 1,
                                        .slot = 1023,
                                        .generation = 0xffffffff,
                                        .bytes = ~0ULL >> 1,
                                        .address = ~0ULL},
                                       {.peer = 15}};
    for (int n = 0; n < 1000; n++) {
        fmo_gmpi_command c = edges[n & 1], d;
        if (n >= 2) {
            c.call = (int)(8 * check_random(&seed));
            c.tag = (int)(0x1000000 * check_random(&seed));
            c.slot = (uint32_t)(256 * check_random(&seed));
            c.comm = (int)(12 * check_random(&seed));
            c.bytes = (uint64_t)(1e12 * check_random(&seed));
            c.address = (uint64_t)(1e15 * check_random(&seed));
        }
        fmo_gmpi_entry e[2];
        fmo_gmpi_command_pack(&c, (uint64_t)n & 1, e);
        fmo_gmpi_command_unpack(e, &d);
        CHECK(c.call == d.call && c.type == d.type && c.op == d.op && c.comm == d.comm &&
                  c.tag == d.tag && c.peer == d.peer && c.staged == d.staged && c.slot == d.slot &&
                  c.generation == d.generation && c.bytes == d.bytes && c.address == d.address,
              "command %d does not come back as it was", n);
        CHECK((e[0].word[0] & 1) == (uint64_t)(n & 1) && (e[1].word[0] & 1) == (uint64_t)(n & 1),
              "command %d: valid bits", n);
    }
    for (int kind = 0; kind < 4; kind++) {
        const uint64_t w = fmo_gmpi_envelope(1, kind, 11, FMO_GMPI_TAG_MAX, 0xffffffff);
        CHECK((w & 1) == 1 && fmo_gmpi_envelope_kind(w) == kind &&
                  fmo_gmpi_envelope_key(w) == fmo_gmpi_key(11, FMO_GMPI_TAG_MAX) &&
                  fmo_gmpi_envelope_bytes(w) == 0xffffffff,
              "envelope of kind %d", kind);
    }
    CHECK(sizeof(fmo_gmpi_request) == 8, "a request has 8 bytes");
    const fmo_gmpi_request r = fmo_gmpi_request_make(255, 77);
    CHECK(fmo_gmpi_request_slot(r) == 255 && fmo_gmpi_request_generation(r) == 77, "request");
}

typedef struct producer {
    fmo_gmpi_page *page;
    _Atomic uint64_t *tail;
    int number, count;
} producer;

static void *produce(void *user)
{
    const producer *p = user;
    for (int n = 0; n < p->count; n++) {
        const fmo_gmpi_command c = {.call = FMO_GMPI_CALL_SEND,
                                    .peer = p->number,
                                    .bytes = (uint64_t)n,
                                    .address = (uint64_t)n * 3 + (uint64_t)p->number};
        fmo_ring_put(p->page, p->tail, &c, NULL, NULL);
    }
    return NULL;
}

/* Commands that several threads put into a ring arrive complete and, for each thread, in order. */
static void check_threads(int count)
{
    fmo_gmpi_page *page = new_page();
    _Atomic uint64_t tail = 0;
    uint64_t next = 0;
    pthread_t thread[PRODUCERS];
    producer p[PRODUCERS];
    int seen[PRODUCERS] = {0}, wrong = 0;
    fmo_gmpi_command c;
    CHECK(page && fmo_ring_take(page, &next, &c) == 0 && next == 0, "an empty ring has nothing");
    for (int t = 0; t < PRODUCERS; t++) {
        p[t] = (producer){page, &tail, t, count};
        pthread_create(&thread[t], NULL, produce, &p[t]);
    }
    for (int left = PRODUCERS * count; left > 0;) {
        if (!fmo_ring_take(page, &next, &c)) {
            sched_yield();
            continue;
        }
        left--;
        if (c.peer < 0 || c.peer >= PRODUCERS || c.bytes != (uint64_t)seen[c.peer] ||
            c.address != c.bytes * 3 + (uint64_t)c.peer)
            wrong++;
        else
            seen[c.peer]++;
    }
    for (int t = 0; t < PRODUCERS; t++) pthread_join(thread[t], NULL);
    CHECK(wrong == 0, "%d of %d commands out of order or changed", wrong, PRODUCERS * count);
    CHECK(fmo_ring_take(page, &next, &c) == 0, "nothing is left");
    free(page);
}

static int now(void *user)
{
    return ++*(int *)user > 3;
}

static void check_full(void)
{
    fmo_gmpi_page *page = new_page();
    _Atomic uint64_t tail = 0;
    uint64_t next = 0;
    int requested = 0, put = 0;
    fmo_gmpi_command c = {.call = FMO_GMPI_CALL_RECV};
    while (put < FMO_GMPI_RING && fmo_ring_put(page, &tail, &c, now, &requested)) put++;
    CHECK(put == FMO_GMPI_RING / 2, "%d commands fit, expected %d", put, FMO_GMPI_RING / 2);
    CHECK(requested == 4, "a full ring asks whether to give up");
    for (int n = 0; n < put; n++) CHECK(fmo_ring_take(page, &next, &c), "command %d", n);
    CHECK(fmo_ring_take(page, &next, &c) == 0, "entries of the lap before are not taken again");
    free(page);
}

int main(void)
{
    check_bits();
    check_full();
    check_threads(getenv("FMO_TEST_SMALL") ? 5000 : 100000);
    return check_summary();
}
