/* What an SCF caches for the next SCF of the same molecule. The field of a fragment changes from
 * iteration to iteration, but its functions and projector do not; the next SCF starts from the
 * final density of the last one, whose G is cached. */
#include "driver/scf/scf_internal.h"

#include <stdlib.h>
#include <string.h>

enum { OVERLAP, PROJECTOR, DENSITY, MATRICES };

static size_t matrix_bytes(int n)
{
    return (size_t)n * (size_t)n * sizeof(double);
}

static double *matrix(const fmo_scf_cache *kept, int which)
{
    return kept->host + (size_t)which * (size_t)kept->state.n * (size_t)kept->state.n;
}

/* 1 if a matrix is equal to the cached one, bit for bit. */
static int is_same(const double *now, const double *before, size_t bytes)
{
    return now && memcmp(now, before, bytes) == 0;
}

void fmo_scf_forget_cached(fmo_scf_cache *kept)
{
    free(kept->host);
    *kept = (fmo_scf_cache){0};
}

/* Moves the cached state into *s if molecule, projector and the relevant options are the same. */
int fmo_scf_take_cached(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        fmo_scf_cache *kept, fmo_scf_result *r)
{
    const fmo_scf_state *const from = &kept->state;
    const size_t bytes = matrix_bytes(s->n);
    if (!kept->host || from->n != s->n || from->occupied != s->occupied ||
        kept->diis_size != o->diis_size || kept->linear_dependence != o->linear_dependence ||
        (in->projector ? !is_same(in->projector, matrix(kept, PROJECTOR), bytes)
                       : from->projected.num > 0))
        return 0;
    memcpy(r->overlap, matrix(kept, OVERLAP), bytes);
    r->dropped = kept->dropped;
    r->overlap_smallest = kept->overlap_smallest;
    fmo_scf_state now = *from;
    now.la = s->la;
    now.plan = s->plan;
    now.job = s->job;
    now.solver = s->solver;
    now.devices = s->devices;
    memcpy(now.mode_reason, s->mode_reason, sizeof now.mode_reason);
    now.nuclear_repulsion = s->nuclear_repulsion;
    now.orbital_energy = s->orbital_energy;
    now.fock_seconds = now.solve_seconds = 0.0;
    now.known =
        o->guess == FMO_SCF_GUESS_READ && is_same(in->density, matrix(kept, DENSITY), bytes);
    *s = now;
    kept->state.memory = kept->state.projected.memory =
        NULL; /* the arrays belong to the SCF again */
    fmo_scf_forget_cached(kept);
    return 1;
}

/* Copies the state and the matrices that identify it into the cache. */
int fmo_scf_cache_state(const fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                        const fmo_scf_result *r, fmo_scf_cache *kept)
{
    const size_t bytes = matrix_bytes(s->n);
    *kept = (fmo_scf_cache){.host = malloc(MATRICES * bytes),
                            .state = *s,
                            .diis_size = o->diis_size,
                            .dropped = r->dropped,
                            .linear_dependence = o->linear_dependence,
                            .overlap_smallest = r->overlap_smallest};
    if (!kept->host) {
        *kept = (fmo_scf_cache){0};
        return 0;
    }
    memcpy(matrix(kept, OVERLAP), r->overlap, bytes);
    if (in->projector)
        memcpy(matrix(kept, PROJECTOR), in->projector, bytes);
    else
        memset(matrix(kept, PROJECTOR), 0, bytes);
    memcpy(matrix(kept, DENSITY), r->density, bytes);
    return 1;
}
