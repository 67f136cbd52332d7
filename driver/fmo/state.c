/* What a run has reached, in a file of its own, so that a killed run goes on: written whole or not
 * at all (result.h), after every iteration of the monomers. A line of text, then numbers of this
 * machine: sizes, the sum that says which calculation it is, energies and densities. */
#include "driver/fmo/internal.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/result.h>

static const char head[64] = "fmo fragment state 1\n";

/* FNV-1a, 64 bits. */
static void hash(uint64_t *sum, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++) *sum = (*sum ^ b[i]) * 1099511628211u;
}

/* Of everything that the densities depend on. */
static uint64_t identity(const fmo_fragments *f)
{
    const fmo_fragment_system *s = f->system;
    const char *basis = fmo_basis_set_name(f->set);
    const size_t atoms = (size_t)s->atom_num;
    const double numbers[] = {s->aoc_from, s->ptc_from, f->o.projector, f->o.scf.fock.cutoff};
    uint64_t sum = 14695981039346656037u;
    hash(&sum, s->number, atoms * sizeof *s->number);
    hash(&sum, s->coord, 3 * atoms * sizeof *s->coord);
    hash(&sum, s->fragment, atoms * sizeof *s->fragment);
    hash(&sum, s->charge, (size_t)s->fragment_num * sizeof *s->charge);
    if (s->bond_num) hash(&sum, s->bond, 2 * (size_t)s->bond_num * sizeof *s->bond);
    hash(&sum, numbers, sizeof numbers);
    hash(&sum, basis, strlen(basis));
    for (int k = 0; k < s->fragment_num; k++) {
        const fmo_basis_input *in = fmo_dataset_basis_input(f->monomer[k].dataset);
        const size_t prims = (size_t)in->prim_num;
        hash(&sum, &f->monomer[k].nao, sizeof f->monomer[k].nao);
        hash(&sum, in->prim_exponent, prims * sizeof *in->prim_exponent);
        hash(&sum, in->prim_coefficient, prims * sizeof *in->prim_coefficient);
    }
    for (size_t z = 0; z < sizeof f->hybrids / sizeof f->hybrids[0]; z++) {
        const fmo_hybrids *h = f->hybrids[z];
        if (h)
            hash(&sum, h->coefficient,
                 (size_t)h->orbital_num * (size_t)h->function_num * sizeof *h->coefficient);
    }
    return sum;
}

typedef struct counts {
    char head[sizeof head];
    uint64_t identity;
    int32_t iteration, converged;
} counts;

enum { ENERGIES = 5 };

static size_t size_of(const fmo_fragments *f)
{
    size_t doubles = 0;
    for (int k = 0; k < f->system->fragment_num; k++)
        doubles += ENERGIES + (size_t)f->monomer[k].nao * (size_t)f->monomer[k].nao;
    return sizeof(counts) + doubles * sizeof(double);
}

fmo_status fmo_state_write(const fmo_fragments *f, int iteration, int converged, fmo_error *err)
{
    const size_t size = size_of(f);
    char *const bytes = malloc(size), *at = bytes + sizeof(counts);
    if (!bytes) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to write the state");
    counts c = {.identity = identity(f), .iteration = iteration, .converged = converged};
    memcpy(c.head, head, sizeof head);
    memcpy(bytes, &c, sizeof c);
    for (int k = 0; k < f->system->fragment_num; k++) {
        const fmo_part *m = &f->monomer[k];
        const double energies[ENERGIES] = {m->energy, m->field_energy, m->homo, m->lumo,
                                           m->projector_energy};
        const size_t matrix = (size_t)m->nao * (size_t)m->nao * sizeof *m->density;
        memcpy(at, energies, sizeof energies);
        memcpy(at + sizeof energies, m->density, matrix);
        at += sizeof energies + matrix;
    }
    const fmo_status status = fmo_file_write(f->o.state, bytes, size, err);
    free(bytes);
    return status;
}

/* All bytes of the file, which has to have as many as are expected, and the right beginning. */
static fmo_status load(const fmo_fragments *f, char *bytes, size_t size, fmo_error *err)
{
    counts c = {.iteration = 0};
    FILE *file = fopen(f->o.state, "rb");
    if (!file)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%.200s: %s: there is no state to go on from; "
                             "leave out --resume",
                             f->o.state, strerror(errno));
    const size_t got = fread(bytes, 1, size, file);
    const int more = got == size && fgetc(file) != EOF;
    fclose(file);
    if (got < sizeof head || memcmp(bytes, head, sizeof head) != 0)
        return fmo_error_set(err, FMO_ERR_INPUT, "%.200s: is not a state of a fragment calculation",
                             f->o.state);
    if (got >= sizeof c) memcpy(&c, bytes, sizeof c);
    if (got != size || more || c.identity != identity(f))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%.200s: is the state of another calculation: system, basis set, "
                             "hybrids, thresholds and cutoff have to be the same",
                             f->o.state);
    return FMO_OK;
}

fmo_status fmo_state_read(fmo_fragments *f, int *iteration, int *converged, fmo_error *err)
{
    const size_t size = size_of(f);
    char *const bytes = malloc(size), *at = bytes + sizeof(counts);
    if (!bytes) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read the state");
    fmo_status status = load(f, bytes, size, err);
    counts c = {.iteration = 0};
    if (status == FMO_OK) memcpy(&c, bytes, sizeof c);
    for (int k = 0; status == FMO_OK && k < f->system->fragment_num; k++) {
        fmo_part *m = &f->monomer[k];
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
            if (!isfinite(m->density[i]))
                status = fmo_error_set(err, FMO_ERR_INPUT,
                                       "%.200s: damaged: a density is not finite", f->o.state);
    }
    *iteration = c.iteration;
    *converged = c.converged;
    free(bytes);
    return status;
}
