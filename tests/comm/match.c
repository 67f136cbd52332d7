/* Matching against a slow model: random receives and messages of several sources, tags and
 * communicators, some with wildcards, are matched as MPI specifies. */
#include "tests/support/check.h"
#include "accumulate/comm/match.h"
#include <fmo/gmpi_wire.h>

enum { MAX = 400 };

typedef struct event {
    fmo_match_item item;
    int receive, partner; /* index of the event that it met; -1 */
} event;

/* MPI's rule: the earliest of the waiting items that matches. */
static int model(const event *events, int n)
{
    for (int m = 0; m < n; m++) {
        const event *r = events[n].receive ? &events[n] : &events[m];
        const event *s = events[n].receive ? &events[m] : &events[n];
        if (events[m].partner >= 0 || events[m].receive == events[n].receive) continue;
        if (r->item.comm != s->item.comm) continue;
        if (r->item.source != FMO_GMPI_ANY_SOURCE && r->item.source != s->item.source) continue;
        if (r->item.tag != FMO_GMPI_ANY_TAG && r->item.tag != s->item.tag) continue;
        return m;
    }
    return -1;
}

/* Random sends and receives, some with wildcards, are matched as a simple model matches them. */
static void check_random_events(unsigned long long seed, int sources, int tags, double wild)
{
    static event events[MAX];
    fmo_match match = {{NULL, NULL}, {NULL, NULL}};
    int met = 0;
    memset(events, 0, sizeof events);
    for (int n = 0; n < MAX; n++) {
        event *e = &events[n];
        e->partner = -1;
        e->receive = check_random(&seed) < 0.5;
        e->item.source = (int)(sources * check_random(&seed));
        e->item.tag = (int)(tags * check_random(&seed));
        e->item.comm = (int)(2 * check_random(&seed));
        if (e->receive && check_random(&seed) < wild) e->item.source = FMO_GMPI_ANY_SOURCE;
        if (e->receive && check_random(&seed) < wild) e->item.tag = FMO_GMPI_ANY_TAG;
        const int expected = model(events, n);
        const fmo_match_item *got =
            e->receive ? fmo_match_post(&match, &e->item) : fmo_match_arrive(&match, &e->item);
        const int have = got ? (int)((const event *)got - events) : -1;
        CHECK(have == expected, "seed %llu: event %d met %d, expected %d", seed, n, have, expected);
        if (have >= 0) e->partner = have, events[have].partner = n, met++;
    }
    CHECK(met > 0, "some must meet");
}

int main(void)
{
    for (unsigned long long seed = 1; seed <= 50; seed++) {
        check_random_events(seed, 1, 1, 0.0);
        check_random_events(seed, 3, 4, 0.0);
        check_random_events(seed, 3, 4, 0.3);
        check_random_events(seed, 16, 50, 0.05);
    }
    return check_summary();
}
