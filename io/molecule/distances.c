/* Search for nuclei that are too close. Each nucleus is put into a cell of a hashed grid and
 * compared with those of the 27 cells around it, so that the cost grows linearly with the number of
 * nuclei. */
#include "io/molecule/molecule_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct grid {
    const double *coord;
    double edge;
    uint32_t mask;     /* number of buckets - 1 */
    int *first, *next; /* list of the nuclei in each bucket: [mask + 1], [n]; -1 at the end */
} grid;

static uint32_t bucket(const grid *g, const double *r, const int shift[3])
{
    uint64_t hash = 0;
    for (int c = 0; c < 3; c++) {
        const double place = floor(r[c] / g->edge) + shift[c];
        const int64_t cell = fabs(place) < 0x1p62 ? (int64_t)place : 0;
        hash = (hash ^ (uint64_t)cell) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash >> 16) & g->mask;
}

/* Returns the first nucleus of the grid closer to r than the edge of a cell, or -1. */
static int find_near(const grid *g, const double *r)
{
    int found = -1;
    for (int i = 0; i < 27; i++) {
        const int shift[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        for (int k = g->first[bucket(g, r, shift)]; k >= 0; k = g->next[k]) {
            const double *q = g->coord + 3 * (size_t)k;
            double dx = r[0] - q[0], dy = r[1] - q[1], dz = r[2] - q[2];
            if (sqrt(dx * dx + dy * dy + dz * dz) < g->edge && (found < 0 || k < found)) found = k;
        }
    }
    return found;
}

/* Compares each nucleus with the grid of those before it, then adds it to the grid; stops at the
 * first close pair. */
fmo_status fmo_find_close(const double *coord, int n, double distance, bool *found, int *i, int *j)
{
    grid g = {.coord = coord, .edge = distance, .mask = 1023};
    while (g.mask < (uint32_t)n) g.mask = 2 * g.mask + 1;
    g.first = malloc(((size_t)g.mask + 1) * sizeof *g.first);
    g.next = malloc((size_t)n * sizeof *g.next);
    *found = false;
    for (uint32_t b = 0; g.first && b <= g.mask; b++) g.first[b] = -1;
    for (int k = 0; g.first && g.next && k < n && !*found; k++) {
        const double *r = coord + 3 * (size_t)k;
        static const int here[3] = {0, 0, 0};
        int near = find_near(&g, r);
        if (near >= 0) {
            *found = true;
            *i = near;
            *j = k;
        }
        uint32_t b = bucket(&g, r, here);
        g.next[k] = g.first[b];
        g.first[b] = k;
    }
    fmo_status status = g.first && g.next ? FMO_OK : FMO_ERR_MEMORY;
    free(g.first);
    free(g.next);
    return status;
}
