/* Nuclei that lie too close. */
#include "io/molecule/molecule_internal.h"

#include <math.h>
#include <stdlib.h>

typedef struct position {
    double x;
    int nucleus;
} position;

static int compare_positions(const void *a, const void *b)
{
    const position *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->nucleus - q->nucleus;
}

fmo_status fmo_molecule_find_close(const fmo_molecule *molecule, bool *found, int *i, int *j)
{
    const int n = molecule->nucleus_num;
    const double *r = molecule->coord;
    position *order = malloc((size_t)n * sizeof *order);
    *found = false;
    if (!order) return FMO_ERR_MEMORY;
    for (int k = 0; k < n; k++) order[k] = (position){r[3 * k], k};
    qsort(order, (size_t)n, sizeof *order, compare_positions);
    for (int a = 0; a < n && !*found; a++) {
        for (int b = a + 1; b < n && order[b].x - order[a].x < FMO_NUCLEUS_DISTANCE_LEAST; b++) {
            const double *p = r + 3 * order[a].nucleus, *q = r + 3 * order[b].nucleus;
            double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
            if (sqrt(dx * dx + dy * dy + dz * dz) >= FMO_NUCLEUS_DISTANCE_LEAST) continue;
            *found = true;
            *i = order[a].nucleus < order[b].nucleus ? order[a].nucleus : order[b].nucleus;
            *j = order[a].nucleus + order[b].nucleus - *i;
            break;
        }
    }
    free(order);
    return FMO_OK;
}
