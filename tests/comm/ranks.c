/* Host ranks of one process, each with a proxy: messages of all lengths, in random order, storms,
 * late ranks; and what goes wrong: lost messages, ranks that never call, messages that are too
 * long, too many requests, bad arguments. Every failure must end all ranks, soon, with one line
 * that says whose fault it was. */
#define _GNU_SOURCE
#include "tests/comm/cases.h"
#include "accumulate/comm/net_local.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

typedef struct world {
    int size;
    fmo_local *local;
    fmo_host_rank *h[FMO_GMPI_RANKS_MAX];
} world;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static world world_open(int size, double timeout, int direct,
                        int (*lose)(void *, int, int, int, int), void *user)
{
    world w = {.size = size, .local = fmo_local_create(size)};
    if (lose) fmo_local_lose(w.local, lose, user);
    for (int r = 0; r < size; r++) {
        fmo_gmpi_net net;
        fmo_local_net(w.local, r, &net);
        w.h[r] = fmo_host_rank_create(&net, timeout, direct);
    }
    return w;
}
static void world_close(world *w)
{
    for (int r = 0; r < w->size; r++) fmo_host_rank_stop(w->h[r]);
    for (int r = 0; r < w->size; r++) fmo_host_rank_destroy(w->h[r]);
    fmo_local_destroy(w->local);
}

static void *run_all(void *user)
{
    comm_all(user);
    return NULL;
}

static void check_all(int size, int direct, long messages)
{
    world w = world_open(size, 60.0, direct, NULL, NULL);
    comm_case c[FMO_GMPI_RANKS_MAX];
    pthread_t thread[FMO_GMPI_RANKS_MAX];
    const double begin = seconds();
    for (int r = 0; r < size; r++) {
        c[r] = (comm_case){w.h[r], r, size, messages, 0};
        pthread_create(&thread[r], NULL, run_all, &c[r]);
    }
    for (int r = 0; r < size; r++) {
        pthread_join(thread[r], NULL);
        CHECK(c[r].wrong == 0, "%d ranks: rank %d: %ld wrong", size, r, c[r].wrong);
    }
    printf("%d ranks%s: %ld messages in random order, and the rest: %.1f s\n", size,
           direct ? ", direct" : "", messages, seconds() - begin);
    world_close(&w);
}

/* Several threads of one rank call at the same time, each with a tag of its own. */
typedef struct caller {
    comm_case c;
    int tag;
} caller;

static void *run_caller(void *user)
{
    caller *k = user;
    comm_case *c = &k->c;
    for (int n = 0; n < 300; n++) {
        fmo_gmpi_request send = FMO_GMPI_NULL, recv = FMO_GMPI_NULL;
        int out[4] = {c->rank, k->tag, n, 0}, in[4] = {-1, -1, -1, -1};
        EXPECT(c, fmo_host_isend(c->h, out, sizeof out, 1 - c->rank, k->tag, 0, &send) == 0);
        EXPECT(c, fmo_host_irecv(c->h, in, sizeof in, 1 - c->rank, k->tag, 0, &recv) == 0);
        EXPECT(c, fmo_host_wait(c->h, &recv) == 0 && fmo_host_wait(c->h, &send) == 0);
        EXPECT(c, in[0] == 1 - c->rank && in[1] == k->tag && in[2] == n);
    }
    return NULL;
}

static void check_concurrent(void)
{
    enum { THREADS = 3 };
    world w = world_open(2, 60.0, 0, NULL, NULL);
    caller k[2 * THREADS];
    pthread_t thread[2 * THREADS];
    for (int t = 0; t < 2 * THREADS; t++) {
        k[t] = (caller){{w.h[t % 2], t % 2, 2, 0, 0}, t / 2};
        pthread_create(&thread[t], NULL, run_caller, &k[t]);
    }
    for (int t = 0; t < 2 * THREADS; t++) {
        pthread_join(thread[t], NULL);
        CHECK(k[t].c.wrong == 0, "caller %d: %ld wrong", t, k[t].c.wrong);
    }
    world_close(&w);
}

/* ---- what goes wrong --------------------------------------------------------------------------
 */

typedef struct fate {
    const char *name;
    void (*body)(comm_case *c);
    int size;
    unsigned waits;    /* bits of the ranks that are told something, the others are not */
    unsigned first;    /* of these, who may find out: on a busy machine any of them is first */
    int code;          /* of whoever is first */
    const char *says;  /* what its line contains */
    const char *other; /* what the lines of the others in `waits` contain when they follow */
} fate;

static void one_message(comm_case *c)
{
    fmo_gmpi_request request = FMO_GMPI_NULL;
    int value = 0;
    if (c->rank == 1) fmo_host_isend(c->h, &value, 4, 0, 7, 0, &request);
    if (c->rank == 0) fmo_host_irecv(c->h, &value, 4, 1, 7, 0, &request);
    if (c->rank == 1) fmo_host_irecv(c->h, &value, 4, 0, 9, 0, &request); /* never comes either */
    fmo_host_wait(c->h, &request);
}
static void nobody_comes(comm_case *c)
{
    fmo_gmpi_request request = FMO_GMPI_NULL;
    int value = 0;
    if (c->rank == 1) return; /* as if it had died */
    fmo_host_irecv(c->h, &value, 4, 1, 3, 2, &request);
    fmo_host_wait(c->h, &request);
}
static void nobody_reduces(comm_case *c)
{
    int value = 0;
    if (c->rank != 1) fmo_host_allreduce(c->h, &value, &value, 1, FMO_GMPI_INT32, FMO_GMPI_SUM, 0);
}
static void too_long(comm_case *c)
{
    fmo_gmpi_request request = FMO_GMPI_NULL;
    static char data[2][FMO_PROXY_PIECE];
    if (c->rank == 1) fmo_host_isend(c->h, data[1], sizeof data[1], 0, 0, 0, &request);
    if (c->rank == 0) fmo_host_irecv(c->h, data[0], 100, 1, 0, 0, &request);
    fmo_host_wait(c->h, &request);
}
static void too_many(comm_case *c)
{
    static int value;
    fmo_gmpi_request request;
    if (c->rank != 0) return;
    int code = FMO_GMPI_OK;
    for (int k = 0; k < FMO_GMPI_SLOTS; k++) {
        code = fmo_host_irecv(c->h, &value, 4, 1, k, 0, &request);
        EXPECT(c, code == FMO_GMPI_OK);
    }
    fmo_host_irecv(c->h, &value, 4, 1, 0, 0, &request);
}
static void bad_tag(comm_case *c)
{
    fmo_gmpi_request request;
    int value = 0;
    if (c->rank == 0) fmo_host_isend(c->h, &value, 4, 1, FMO_GMPI_TAG_MAX + 1, 0, &request);
}
static void bad_rank(comm_case *c)
{
    fmo_gmpi_request request;
    int value = 0;
    if (c->rank == 0) fmo_host_isend(c->h, &value, 4, 2, 0, 0, &request);
}

static int lose_tag_7(void *user, int source, int dest, int tag, int comm)
{
    (void)source, (void)dest, (void)comm;
    atomic_fetch_add((atomic_int *)user, 1);
    return tag == 7;
}

static void *run_body(void *user)
{
    void **pair = user;
    ((const fate *)pair[1])->body(pair[0]);
    return NULL;
}

static void check_fate(const fate *f)
{
    atomic_int lost = 0; /* counted by threads that go on while it is read */
    /* What is not about waiting has time: a busy machine may start a thread late. */
    const double patience = f->code == FMO_GMPI_TIMEOUT ? 0.3 : 30.0;
    world w = world_open(f->size, patience, 0, f->body == one_message ? lose_tag_7 : NULL, &lost);
    comm_case c[FMO_GMPI_RANKS_MAX];
    pthread_t thread[FMO_GMPI_RANKS_MAX];
    void *pair[FMO_GMPI_RANKS_MAX][2];
    char line[FMO_GMPI_RANKS_MAX][400];
    const double begin = seconds();
    for (int r = 0; r < f->size; r++) {
        c[r] = (comm_case){w.h[r], r, f->size, 0, 0};
        pair[r][0] = &c[r], pair[r][1] = (void *)(uintptr_t)f;
        pthread_create(&thread[r], NULL, run_body, pair[r]);
    }
    for (int r = 0; r < f->size; r++) pthread_join(thread[r], NULL);
    const double took = seconds() - begin;
    CHECK(took < 25.0, "%s: took %.1f s", f->name, took);
    unsigned told = 0, found = 0;
    printf("%s (%.2f s)", f->name, took);
    for (int r = 0; r < f->size; r++) {
        const uint64_t word = fmo_host_error(w.h[r]);
        const int code = (int)(word & 255);
        CHECK(c[r].wrong == 0, "%s: rank %d", f->name, r);
        if (!word) continue;
        fmo_comm_describe(word, r, patience, line[r], sizeof line[r]);
        printf("%s%s", told ? "; " : ": ", line[r]);
        told |= 1u << r;
        if (code == f->code && f->first >> r & 1 && strstr(line[r], f->says))
            found |= 1u << r;
        else
            CHECK(code == FMO_GMPI_ABORTED && f->other && strstr(line[r], f->other),
                  "%s: rank %d: '%s', expected '%s'", f->name, r, line[r], f->says);
    }
    putchar('\n');
    CHECK(told == f->waits, "%s: ranks %x were told, expected %x", f->name, told, f->waits);
    CHECK(found != 0, "%s: no rank found out: '%s'", f->name, f->says);
    if (f->body == one_message) CHECK(atomic_load(&lost) > 0, "%s: nothing was sent", f->name);
    world_close(&w);
}

static void check_fates(void)
{
    static const fate fates[] = {
        {"lost", one_message, 2, 3, 3, FMO_GMPI_TIMEOUT, " waited 0.3 s for rank ",
         " failed first"},
        {"dead", nobody_comes, 3, 5, 5, FMO_GMPI_TIMEOUT,
         "for rank 1 (receive, tag 3, communicator 2): it has died, is late, or never called",
         " failed first"},
        {"missing in an allreduce", nobody_reduces, 2, 1, 1, FMO_GMPI_TIMEOUT,
         "another rank is missing", NULL},
        {"too long", too_long, 2, 3, 1, FMO_GMPI_TRUNCATED,
         "rank 0, receive with rank 1, tag 0, communicator 0: the message is longer than",
         "rank 1 ended its send, tag 0, communicator 0: rank 0 failed first"},
        {"too many", too_many, 2, 1, 1, FMO_GMPI_FULL, "all requests are in use", NULL},
        {"bad tag", bad_tag, 2, 1, 1, FMO_GMPI_ARGUMENT, "no such rank, tag", NULL},
        {"bad rank", bad_rank, 2, 1, 1, FMO_GMPI_ARGUMENT, "no such rank, tag", NULL},
    };
    for (size_t k = 0; k < sizeof fates / sizeof *fates; k++) {
        fate f = fates[k];
        check_fate(&f);
    }
}

int main(void)
{
    const int small = getenv("FMO_TEST_SMALL") != NULL;
    check_fates();
    check_concurrent();
    check_all(2, 1, small ? 1000 : 20000);
    check_all(3, 0, small ? 1000 : 20000);
    check_all(4, 0, small ? 10000 : 1000000);
    return check_summary();
}
