/* The distributions that the jobs of a call need (lists.h): which of them have lists on the GPU,
 * and copies of the lists of the others. Next: potentials.cu. */
#include "accumulate/gpu/potential/lists.h"

#include <stdlib.h>
#include <string.h>

/* Collects the distributions of a call and makes missing lists. of: [num], may contain duplicates;
 * is reordered and must outlive g. */
fmo_status fmo_gpu_gather(const fmo_distribution **of, size_t num, fmo_gpu_gathered *g,
                          fmo_gpu_device *device, fmo_error *err)
{
    g->of = of;
    g->num = fmo_gpu_each_once((const void **)of, num);
    g->device = device->number;
    fmo_error why = {FMO_OK, ""};
    fmo_status status = fmo_gpu_lists_need(of, g->num, device, &why);
    if (status == FMO_ERR_MEMORY) status = FMO_OK; /* missing lists are copied */
    if (status != FMO_OK) return fmo_error_set(err, status, "%s", why.message);
    for (size_t k = 0; k < g->num && status == FMO_OK; k++) {
        const fmo_distribution *const d = of[k];
        const fmo_products *const p = d->origin.products;
        if (p && fmo_gpu_lists_of(d, g->device)) {
            for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++)
                g->has[N] |= p->begin[N + 1] > p->begin[N];
            g->has[0] |= d->origin.charge_num > 0;
            continue;
        }
        status = fmo_distribution_ready(d, err);
        g->size += fmo_distribution_size(d);
        for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) g->has[N] |= d->list[N].used > 0;
    }
    return status;
}

/* Fills in the host copies of the lists that are copied with the call. */
void fmo_gpu_fill_gathered(const fmo_gpu_gathered *g)
{
    size_t at = 0;
    for (size_t k = 0; k < g->num; k++) {
        const fmo_distribution *const d = g->of[k];
        const size_t size = fmo_distribution_size(d);
        int num[FMO_GPU_POINT_ORDERS];
        if (fmo_gpu_lists_of(d, g->device)) continue;
        for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) num[N] = d->list[N].num;
        g->lists[k] = fmo_gpu_lay_lists(num, g->view_memory + at);
        for (int N = 0; N < FMO_GPU_POINT_ORDERS; N++) g->lists[k].of[N].used = d->list[N].used;
        if (size) memcpy(g->memory + at, d->memory, size * sizeof *d->memory);
        at += size;
    }
}

/* Returns the lists of a distribution of the call in GPU memory. */
const fmo_gpu_points *fmo_gpu_gathered_lists(const fmo_gpu_gathered *g, const fmo_distribution *d)
{
    const fmo_gpu_points *const cached = fmo_gpu_lists_of(d, g->device);
    if (cached) return cached;
    const fmo_distribution **const found =
        (const fmo_distribution **)bsearch(&d, g->of, g->num, sizeof *g->of, fmo_gpu_by_address);
    return g->view_lists + (found - g->of);
}
