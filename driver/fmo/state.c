/* The state of a run in a file, from which an interrupted run can continue; it is written
 * completely or not at all (result.h) after every iteration of the monomers. Format: a line of
 * text, then binary numbers of this machine: counts, a hash of the calculation, energies and
 * densities, finished pairs. */
#include "driver/fmo/internal.h"
#include "driver/base/hash.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/result.h>

static const char head[64] = "fmo fragment state 2\n";

/* Hashes system, basis set, hybrids and all options that determine the densities. */
uint64_t fmo_fragments_identity(const fmo_fragments *f)
{
    const fmo_fragment_system *s = f->system;
    const char *basis = fmo_basis_set_name(f->set);
    const size_t atoms = (size_t)s->atom_num;
    const double numbers[] = {s->aoc_from, s->ptc_from, f->o.projector, f->o.scf.fock.cutoff,
                              f->o.scf.linear_dependence};
    uint64_t sum = driver_hash_of_nothing;
    driver_hash(&sum, s->number, atoms * sizeof *s->number);
    driver_hash(&sum, s->coord, 3 * atoms * sizeof *s->coord);
    driver_hash(&sum, s->fragment, atoms * sizeof *s->fragment);
    driver_hash(&sum, s->charge, (size_t)s->fragment_num * sizeof *s->charge);
    if (s->bond_num) driver_hash(&sum, s->bond, 2 * (size_t)s->bond_num * sizeof *s->bond);
    driver_hash(&sum, numbers, sizeof numbers);
    driver_hash(&sum, basis, strlen(basis));
    driver_hash(&sum, &f->functions, sizeof f->functions);
    for (int k = 0; k < s->fragment_num; k++) {
        const fmo_basis_input *in = fmo_dataset_basis_input(f->monomer[k].dataset);
        const size_t prims = (size_t)in->prim_num;
        driver_hash(&sum, &f->monomer[k].nao, sizeof f->monomer[k].nao);
        driver_hash(&sum, in->prim_exponent, prims * sizeof *in->prim_exponent);
        driver_hash(&sum, in->prim_coefficient, prims * sizeof *in->prim_coefficient);
    }
    for (size_t z = 0; z < sizeof f->hybrids / sizeof f->hybrids[0]; z++) {
        const fmo_hybrids *h = f->hybrids[z];
        if (h)
            driver_hash(&sum, h->coefficient,
                        (size_t)h->orbital_num * (size_t)h->function_num * sizeof *h->coefficient);
    }
    return sum;
}

/* ENERGIES: energies stored per monomer; THRESHOLDS: thresholds to which the monomers were
 * converged. */
enum { ENERGIES = 5, THRESHOLDS = 3 };

typedef struct counts {
    char head[sizeof head];
    uint64_t identity, sum; /* sum: hash of all bytes of the file, with 0 in its own place */
    int32_t iteration, converged;
    double threshold[THRESHOLDS];
} counts;

static void list_thresholds(const fmo_fragments *f, double threshold[THRESHOLDS])
{
    threshold[0] = f->o.convergence;
    threshold[1] = f->o.scf.energy_convergence;
    threshold[2] = f->o.scf.gradient_convergence;
}

/* Returns 1 if the saved monomers have converged to at least the requested thresholds. */
static int is_good(const fmo_fragments *f, const counts *c)
{
    double requested[THRESHOLDS];
    int good = c->converged;
    list_thresholds(f, requested);
    for (int k = 0; k < THRESHOLDS; k++) good = good && c->threshold[k] <= requested[k];
    return good;
}

static uint64_t sum_of(counts c, const char *bytes, size_t size)
{
    uint64_t sum = driver_hash_of_nothing;
    c.sum = 0;
    driver_hash(&sum, &c, sizeof c);
    driver_hash(&sum, bytes + sizeof c, size - sizeof c);
    return sum;
}

static size_t size_of(const fmo_fragments *f)
{
    size_t doubles = 0;
    for (int k = 0; k < f->system->fragment_num; k++)
        doubles += ENERGIES + (size_t)f->monomer[k].nao * (size_t)f->monomer[k].nao;
    return sizeof(counts) + doubles * sizeof(double);
}

typedef struct pairs_head {
    uint64_t identity;
    int64_t count;
} pairs_head;

typedef struct saved_pair {
    int32_t pair, cycles;
    double internal, transfer, total;
} saved_pair;

/* Returns a hash of what pairs depend on in addition to the monomers. */
static uint64_t pairs_identity(const fmo_fragments *f)
{
    const double numbers[] = {f->system->es_dimers_from, f->o.scf.energy_convergence,
                              f->o.scf.gradient_convergence};
    uint64_t sum = driver_hash_of_nothing;
    driver_hash(&sum, numbers, sizeof numbers);
    return sum;
}

static int pairs_done(const fmo_fragments *f)
{
    int count = 0;
    for (int k = 0; k < f->result->pair_num; k++) count += f->pair_done[k];
    return count;
}

static size_t pairs_size(const fmo_fragments *f, int count)
{
    return sizeof(pairs_head) + (size_t)count * sizeof(saved_pair) +
           (size_t)f->system->atom_num * sizeof(double);
}

static void put_pairs(const fmo_fragments *f, int count, char *at)
{
    const pairs_head h = {pairs_identity(f), count};
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    for (int k = 0; k < f->result->pair_num; k++) {
        const fmo_fragment_pair *p = &f->result->pair[k];
        const saved_pair saved = {k, p->cycles, p->internal, p->transfer, p->total};
        if (!f->pair_done[k]) continue;
        memcpy(at, &saved, sizeof saved);
        at += sizeof saved;
    }
    memcpy(at, f->pair_charge, (size_t)f->system->atom_num * sizeof *f->pair_charge);
}

static fmo_status damaged(const fmo_fragments *f, const char *what, fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_INPUT,
                         "%.200s: damaged: %s; leave out --resume to start again", f->o.state,
                         what);
}

/* Reads the pairs behind the monomers, if they were computed with the same thresholds. */
static fmo_status get_pairs(fmo_fragments *f, const char *at, size_t size, fmo_error *err)
{
    pairs_head h;
    const size_t atoms = (size_t)f->system->atom_num;
    if (!size) return FMO_OK;
    if (size < sizeof h) return damaged(f, "it ends within its pairs", err);
    memcpy(&h, at, sizeof h);
    if (h.count < 1 || h.count > f->result->pair_num || size != pairs_size(f, (int)h.count))
        return damaged(f, "the number of pairs does not match its size", err);
    if (h.identity != pairs_identity(f)) return FMO_OK;
    at += sizeof h;
    for (int64_t k = 0; k < h.count; k++, at += sizeof(saved_pair)) {
        saved_pair saved;
        memcpy(&saved, at, sizeof saved);
        if (saved.pair < 0 || saved.pair >= f->result->pair_num || f->pair_done[saved.pair] ||
            !isfinite(saved.internal) || !isfinite(saved.transfer) || !isfinite(saved.total))
            return damaged(f, "a pair has invalid values", err);
        fmo_fragment_pair *p = &f->result->pair[saved.pair];
        f->pair_done[saved.pair] = 1;
        p->cycles = saved.cycles;
        p->internal = saved.internal;
        p->transfer = saved.transfer;
        p->total = saved.total;
    }
    memcpy(f->pair_charge, at, atoms * sizeof *f->pair_charge);
    for (size_t a = 0; a < atoms; a++)
        if (!isfinite(f->pair_charge[a])) return damaged(f, "a charge is not finite", err);
    return FMO_OK;
}

/* Writes counts, monomers and finished pairs. */
fmo_status fmo_state_write(const fmo_fragments *f, int iteration, int converged, fmo_error *err)
{
    const int pairs = pairs_done(f);
    const size_t size = size_of(f) + (pairs ? pairs_size(f, pairs) : 0);
    char *const bytes = malloc(size), *at = bytes + sizeof(counts);
    if (!bytes) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to write the state");
    counts c;
    memset(&c, 0, sizeof c);
    memcpy(c.head, head, sizeof head);
    c.identity = fmo_fragments_identity(f);
    c.iteration = iteration;
    c.converged = converged;
    list_thresholds(f, c.threshold);
    for (int k = 0; k < f->system->fragment_num; k++) {
        const fmo_subsystem *m = &f->monomer[k];
        const double energies[ENERGIES] = {m->energy, m->field_energy, m->homo, m->lumo,
                                           m->projector_energy};
        const size_t matrix = (size_t)m->nao * (size_t)m->nao * sizeof *m->density;
        memcpy(at, energies, sizeof energies);
        memcpy(at + sizeof energies, m->density, matrix);
        at += sizeof energies + matrix;
    }
    if (pairs) put_pairs(f, pairs, at);
    c.sum = sum_of(c, bytes, size);
    memcpy(bytes, &c, sizeof c);
    const fmo_status status = fmo_file_write(f->o.state, bytes, size, err);
    free(bytes);
    return status;
}

/* Reads the whole file, and checks its beginning, hash and minimum size. */
static fmo_status load(const fmo_fragments *f, size_t expected, char **bytes, size_t *size,
                       fmo_error *err)
{
    counts c = {.iteration = 0};
    /* One byte more than the largest possible file, to detect files that are too long. */
    const size_t capacity = expected + pairs_size(f, f->result->pair_num) + 1;
    FILE *file = fopen(f->o.state, "rb");
    if (!file)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%.200s: %s: no state to continue from; leave out --resume",
                             f->o.state, strerror(errno));
    *bytes = malloc(capacity);
    *size = *bytes ? fread(*bytes, 1, capacity, file) : 0;
    fclose(file);
    if (!*bytes) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read the state");
    if (*size < sizeof head || memcmp(*bytes, head, sizeof head) != 0)
        return fmo_error_set(err, FMO_ERR_INPUT, "%.200s: is not a state of a fragment calculation",
                             f->o.state);
    if (*size >= sizeof c) memcpy(&c, *bytes, sizeof c);
    if (*size < sizeof c || c.identity != fmo_fragments_identity(f))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%.200s: is the state of another calculation: system, basis set, "
                             "hybrids, thresholds and cutoff must be the same",
                             f->o.state);
    if (*size < expected || c.sum != sum_of(c, *bytes, *size))
        return damaged(f, "its checksum is wrong", err);
    return FMO_OK;
}

/* Reads the monomers, and the pairs if the monomers have converged sufficiently. */
fmo_status fmo_state_read(fmo_fragments *f, int *iteration, int *converged, fmo_error *err)
{
    const size_t expected = size_of(f);
    size_t size = 0;
    char *bytes = NULL;
    fmo_status status = load(f, expected, &bytes, &size, err);
    const char *at = bytes ? bytes + sizeof(counts) : NULL;
    counts c = {.iteration = 0};
    if (status == FMO_OK) memcpy(&c, bytes, sizeof c);
    for (int k = 0; status == FMO_OK && k < f->system->fragment_num; k++) {
        fmo_subsystem *m = &f->monomer[k];
        double energies[ENERGIES];
        const size_t matrix = (size_t)m->nao * (size_t)m->nao * sizeof *m->density;
        memcpy(energies, at, sizeof energies);
        memcpy(m->density, at + sizeof energies, matrix);
        at += sizeof energies + matrix;
        m->energy = energies[0];
        m->field_energy = energies[1];
        m->homo = energies[2];
        m->lumo = energies[3];
        m->projector_energy = energies[4];
        for (size_t i = 0; i < matrix / sizeof *m->density && status == FMO_OK; i++)
            if (!isfinite(m->density[i])) status = damaged(f, "a density is not finite", err);
    }
    *iteration = c.iteration;
    *converged = is_good(f, &c);
    if (status == FMO_OK && *converged) status = get_pairs(f, at, size - expected, err);
    free(bytes);
    return status;
}
