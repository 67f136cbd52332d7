/* The cases that every rank runs in the tests of host ranks, whatever the network: ranks are
 * threads of one process (ranks.c) or processes (mpi.c). */
#ifndef FMO_TESTS_COMM_CASES_H
#define FMO_TESTS_COMM_CASES_H

#include "tests/support/check.h"
#include "accumulate/comm/host_rank.h"

#include <unistd.h>

typedef struct comm_case {
    fmo_host_rank *h;
    int rank, size;
    long messages; /* of the random test, all ranks together */
    long wrong;    /* counted here, because CHECK is not safe for several threads */
} comm_case;

#define EXPECT(c, condition)                                                           \
    do {                                                                               \
        if (!(condition)) {                                                            \
            if ((c)->wrong++ < 5)                                                      \
                fprintf(stderr, "rank %d: %s:%d: %s\n", (c)->rank, __FILE__, __LINE__, \
                        #condition);                                                   \
        }                                                                              \
    } while (0)

static inline unsigned char comm_byte(int from, int tag, size_t i)
{
    return (unsigned char)(i * 131 + (size_t)from * 17 + (size_t)tag * 7 + (i >> 8) + (i >> 16));
}
static inline void comm_fill(unsigned char *data, size_t bytes, int from, int tag)
{
    for (size_t i = 0; i < bytes; i++) data[i] = comm_byte(from, tag, i);
}
static inline int comm_same(const unsigned char *data, size_t bytes, int from, int tag)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != comm_byte(from, tag, i)) return 0;
    return 1;
}

/* Neighbours in a ring exchange messages of lengths around every limit, as in the paper: one
 * request for the send and then the receive, so that only Synchronize covers the send. */
static inline void comm_sizes(comm_case *c)
{
    static const size_t sizes[] = {0,
                                   1,
                                   4,
                                   7,
                                   8,
                                   9,
                                   100,
                                   FMO_GMPI_EAGER,
                                   FMO_GMPI_STAGE - 1,
                                   FMO_GMPI_STAGE,
                                   FMO_GMPI_STAGE + 1,
                                   FMO_PROXY_PIECE - 1,
                                   FMO_PROXY_PIECE,
                                   FMO_PROXY_PIECE + 1,
                                   5 * FMO_PROXY_PIECE + 3};
    const int next = (c->rank + 1) % c->size, before = (c->rank + c->size - 1) % c->size;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k];
        unsigned char *out = malloc(n + 1), *in = malloc(n + 1);
        fmo_gmpi_request request = FMO_GMPI_NULL;
        comm_fill(out, n, c->rank, (int)k);
        memset(in, 0xee, n + 1);
        EXPECT(c, fmo_host_isend(c->h, out, n, next, (int)k, 0, &request) == FMO_GMPI_OK);
        EXPECT(c, fmo_host_irecv(c->h, in, n, before, (int)k, 0, &request) == FMO_GMPI_OK);
        EXPECT(c, fmo_host_wait(c->h, &request) == FMO_GMPI_OK);
        EXPECT(c, request == FMO_GMPI_NULL);
        EXPECT(c, comm_same(in, n, before, (int)k) && in[n] == 0xee);
        EXPECT(c, fmo_host_synchronize(c->h) == FMO_GMPI_OK);
        free(out);
        free(in);
    }
}

/* Random keys, windows received in random order; per source, tag and communicator the numbers must
 * come in order. */
static inline void comm_random(comm_case *c)
{
    enum { TAGS = 5, COMMS = 3, MAX = 96 };
    const int peers = c->size - 1, window = MAX / peers;
    const long each = c->messages / (c->size * (long)peers);
    static _Thread_local int sent[FMO_GMPI_RANKS_MAX][TAGS][COMMS];
    static _Thread_local int got[FMO_GMPI_RANKS_MAX][TAGS][COMMS];
    unsigned long long out[FMO_GMPI_RANKS_MAX], in[FMO_GMPI_RANKS_MAX], mine = 99;
    memset(sent, 0, sizeof sent);
    memset(got, 0, sizeof got);
    for (int r = 0; r < c->size; r++) { /* both ends know the keys of their messages */
        out[r] = (unsigned long long)(c->rank * 100 + r + 1);
        in[r] = (unsigned long long)(r * 100 + c->rank + 1);
    }
    for (long done = 0; done < each; done += window) {
        const int n = each - done < window ? (int)(each - done) : window;
        fmo_gmpi_request send[MAX], recv[MAX];
        int data[MAX][2], expected[MAX][2], order[MAX], all = 0;
        int keys[MAX][3];
        for (int r = 0; r < c->size; r++)
            for (int k = 0; k < n && r != c->rank; k++) {
                const int tag = (int)(TAGS * check_random(&out[r]));
                const int comm = (int)(COMMS * check_random(&out[r]));
                const int payload[2] = {sent[r][tag][comm]++, tag * COMMS + comm};
                EXPECT(c, fmo_host_isend(c->h, payload, sizeof payload, r, tag, comm, &send[all]) ==
                              FMO_GMPI_OK);
                keys[all][0] = r;
                keys[all][1] = (int)(TAGS * check_random(&in[r]));
                keys[all][2] = (int)(COMMS * check_random(&in[r]));
                order[all] = all, all++;
            }
        for (int k = all - 1; k > 0; k--) { /* receives in any order */
            const int j = (int)((k + 1) * check_random(&mine)), t = order[k];
            order[k] = order[j], order[j] = t;
        }
        for (int k = 0; k < all; k++) {
            const int *key = keys[order[k]];
            expected[k][0] = got[key[0]][key[1]][key[2]]++;
            expected[k][1] = key[1] * COMMS + key[2];
            EXPECT(c, fmo_host_irecv(c->h, data[k], sizeof data[k], key[0], key[1], key[2],
                                     &recv[k]) == FMO_GMPI_OK);
        }
        for (int k = 0; k < all; k++) { /* and waits in yet another */
            const int w = order[k];
            EXPECT(c, fmo_host_wait(c->h, &recv[w]) == FMO_GMPI_OK);
            EXPECT(c, data[w][0] == expected[w][0] && data[w][1] == expected[w][1]);
        }
        for (int k = 0; k < all; k++) EXPECT(c, fmo_host_wait(c->h, &send[k]) == FMO_GMPI_OK);
        if (c->wrong) return;
    }
}

/* Every rank sends to every rank, as many messages as there are requests, before any rank receives;
 * some are long. */
static inline void comm_storm(comm_case *c)
{
    enum { EACH = 12, LONG = 100000 };
    const int all = c->size * EACH;
    fmo_gmpi_request *request = calloc((size_t)(2 * all), sizeof *request);
    unsigned char *out = malloc(LONG), *in = malloc((size_t)all * LONG);
    comm_fill(out, LONG, 0, 0);
    for (int k = 0; k < all; k++)
        EXPECT(c, fmo_host_isend(c->h, out, k % 3 ? (size_t)k : LONG, k % c->size, k / c->size, 1,
                                 &request[k]) == FMO_GMPI_OK);
    for (int k = 0; k < all; k++)
        EXPECT(c, fmo_host_irecv(c->h, in + (size_t)k * LONG, LONG, k % c->size, k / c->size, 1,
                                 &request[all + k]) == FMO_GMPI_OK);
    for (int k = 0; k < 2 * all; k++) EXPECT(c, fmo_host_wait(c->h, &request[k]) == FMO_GMPI_OK);
    for (int k = 0; k < all; k++) { /* message k / size of rank k % size to this one */
        const int theirs = k / c->size * c->size + c->rank;
        EXPECT(c, comm_same(in + (size_t)k * LONG, theirs % 3 ? (size_t)theirs : LONG, 0, 0));
    }
    free(request);
    free(out);
    free(in);
}

/* Rank 0 receives from any source with any tag. */
static inline void comm_wild(comm_case *c)
{
    fmo_gmpi_request request = FMO_GMPI_NULL;
    long long sum = 0, value = c->rank;
    if (c->rank != 0) {
        EXPECT(c, fmo_host_isend(c->h, &value, sizeof value, 0, c->rank * 3, 2, &request) ==
                      FMO_GMPI_OK);
    } else {
        for (int r = 1; r < c->size; r++) {
            EXPECT(c, fmo_host_irecv(c->h, &value, sizeof value, FMO_GMPI_ANY_SOURCE,
                                     FMO_GMPI_ANY_TAG, 2, &request) == FMO_GMPI_OK);
            EXPECT(c, fmo_host_wait(c->h, &request) == FMO_GMPI_OK);
            sum += value;
        }
        EXPECT(c, sum == c->size * (c->size - 1) / 2);
    }
    EXPECT(c, fmo_host_synchronize(c->h) == FMO_GMPI_OK);
    /* all ranks wait: what a fast one sends in the next case would meet the wildcards too */
    const int one = 1;
    int ranks = 0;
    EXPECT(c, fmo_host_allreduce(c->h, &one, &ranks, 1, FMO_GMPI_INT32, FMO_GMPI_SUM, 0) ==
                  FMO_GMPI_OK);
    EXPECT(c, ranks == c->size);
}

/* Allreduces of doubles, integers and floats, sums, maxima and minima, also in place. */
static inline void comm_reduce(comm_case *c)
{
    enum { N = 5000 }; /* more than are staged at a time */
    double *d = malloc(N * sizeof *d), *e = malloc(N * sizeof *e);
    for (int k = 0; k < N; k++) d[k] = c->rank + 1 + k;
    EXPECT(c, fmo_host_allreduce(c->h, d, e, N, FMO_GMPI_DOUBLE, FMO_GMPI_SUM, 0) == FMO_GMPI_OK);
    for (int k = 0; k < N; k++)
        EXPECT(c, e[k] == c->size * (c->size + 1) / 2 + (double)c->size * k);
    int32_t i = c->rank, m = -1;
    EXPECT(c, fmo_host_allreduce(c->h, &i, &m, 1, FMO_GMPI_INT32, FMO_GMPI_MAX, 1) == FMO_GMPI_OK);
    EXPECT(c, m == c->size - 1);
    int64_t j = 5 + c->rank;
    EXPECT(c, fmo_host_allreduce(c->h, &j, &j, 1, FMO_GMPI_INT64, FMO_GMPI_MIN, 0) == FMO_GMPI_OK);
    EXPECT(c, j == 5);
    float f = 0.5f;
    EXPECT(c, fmo_host_allreduce(c->h, &f, &f, 1, FMO_GMPI_FLOAT, FMO_GMPI_SUM, 0) == FMO_GMPI_OK);
    EXPECT(c, f == 0.5f * (float)c->size);
    free(d);
    free(e);
}

/* A rank that is late, though in time, is waited for; test() does not wait. */
static inline void comm_late(comm_case *c)
{
    const int next = (c->rank + 1) % c->size, before = (c->rank + c->size - 1) % c->size;
    fmo_gmpi_request request = FMO_GMPI_NULL;
    int value = c->rank, other = -1, flag = 1;
    EXPECT(c, fmo_host_irecv(c->h, &other, sizeof other, before, 0, 0, &request) == FMO_GMPI_OK);
    if (before == 0 && c->size > 1) {
        EXPECT(c, fmo_host_test(c->h, &request, &flag) == FMO_GMPI_OK);
        EXPECT(c, flag == 0 && request != FMO_GMPI_NULL);
    }
    if (c->rank == 0) usleep(200000);
    fmo_gmpi_request send = FMO_GMPI_NULL;
    EXPECT(c, fmo_host_isend(c->h, &value, sizeof value, next, 0, 0, &send) == FMO_GMPI_OK);
    do {
        EXPECT(c, fmo_host_test(c->h, &request, &flag) == FMO_GMPI_OK);
    } while (!flag && !c->wrong);
    EXPECT(c, other == before);
    EXPECT(c, fmo_host_wait(c->h, &send) == FMO_GMPI_OK);
}

static inline void comm_all(comm_case *c)
{
    comm_sizes(c);
    comm_reduce(c);
    comm_storm(c);
    comm_wild(c);
    comm_late(c);
    comm_random(c);
    /* No rank ends while others still send. */
    int one = 1;
    EXPECT(c,
           fmo_host_allreduce(c->h, &one, &one, 1, FMO_GMPI_INT32, FMO_GMPI_SUM, 0) == FMO_GMPI_OK);
    EXPECT(c, one == c->size);
    EXPECT(c, fmo_host_error(c->h) == 0);
}

#endif
