/* Exchange between ranks for --scf --batch: checks that all ranks read the same molecules, and
 * sends results to rank 0. See scf_share.h. */
#include "driver/run/scf_share.h"
#include "driver/base/agree.h"
#include "driver/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Compares a hash of the molecules that were read with that of rank 0. */
fmo_status driver_scf_share_check(const fmo_ranks *ranks, const driver_scf_one *one, int num,
                                  fmo_error *err)
{
    uint64_t sum = driver_hash_of_nothing;
    fmo_error differs = {FMO_OK, ""}, scarce = {FMO_OK, ""};
    driver_hash(&sum, &num, sizeof num);
    for (int k = 0; k < num; k++) {
        const fmo_basis_input *in = fmo_dataset_basis_input(one[k].result.dataset);
        const int numbers[] = {one[k].err.status != FMO_OK, one[k].result.frame,
                               one[k].result.electrons, one[k].result.multiplicity};
        driver_hash(&sum, numbers, sizeof numbers);
        if (!in) continue;
        driver_hash(&sum, in->nucleus_charge, (size_t)in->nucleus_num * sizeof *in->nucleus_charge);
        driver_hash(&sum, in->nucleus_coord,
                    3 * (size_t)in->nucleus_num * sizeof *in->nucleus_coord);
        driver_hash(&sum, in->prim_exponent, (size_t)in->prim_num * sizeof *in->prim_exponent);
        driver_hash(&sum, in->prim_coefficient,
                    (size_t)in->prim_num * sizeof *in->prim_coefficient);
    }
    const fmo_status status =
        driver_agree_on(ranks, FMO_OK, sum,
                        "its molecules differ from those of rank 0: every rank reads the files "
                        "itself, so all hosts need the same files, and no pipes",
                        &differs);
    if (status == FMO_OK) return status;
    /* If a rank ran out of memory for a molecule, that is the reason. */
    for (int k = 0; k < num; k++)
        if (one[k].err.status == FMO_ERR_MEMORY)
            fmo_error_set(&scarce, FMO_ERR_MEMORY, "%.200s%s%s",
                          one[k].result.named ? "" : one[k].path, one[k].result.named ? "" : ": ",
                          one[k].err.message);
    const fmo_status lacks = driver_agree(ranks, scarce.status, &scarce);
    return lacks == FMO_OK ? fmo_error_set(err, status, "%s", differs.message)
                           : fmo_error_set(err, lacks, "%s", scarce.message);
}

/* A molecule's result without its arrays, which follow it: the cycles and, if requested, orbital
 * energies, coefficients and density of an SCF with a result. Pointers in it are not valid on the
 * receiving rank. */
typedef struct packed {
    int number, cycle_num, has_scf, named;
    fmo_error err, verdict;
    char scf_notice[sizeof((driver_result *)0)->scf_notice];
    char unused[sizeof((driver_result *)0)->unused];
    double energy, energy_2e, trace_g, norm_g, dipole[3];
    int charge_num;
    fmo_fock_profile profile;
    fmo_scf_result scf;
} packed;

typedef struct block {
    void *data;
    size_t bytes;
} block;

enum { BLOCKS = 9 };

/* Lists the arrays of a result; with `make`, allocates them in a received result (data is NULL if
 * that fails). */
static void list_blocks(driver_result *r, int64_t keep, int make, block b[BLOCKS])
{
    const size_t real = sizeof(double);
    memset(b, 0, BLOCKS * sizeof *b);
    b[0].bytes = (size_t)r->cycle_num * sizeof *r->cycles;
    if (make) r->cycles = b[0].bytes ? malloc(b[0].bytes) : NULL;
    b[0].data = r->cycles;
    if (!r->scf) return;
    fmo_scf_result *const scf = r->scf;
    const size_t n = (size_t)scf->nao, m = (size_t)scf->mo_num;
    const size_t components = 3 * (size_t)scf->nucleus_num; /* of the gradient, if there is one */
    const int beta = scf->unrestricted;
    const struct {
        double **array;
        int kept, given;
        size_t count;
    } all[BLOCKS - 1] = {{&scf->orbital_energy, DRIVER_KEEP_ORBITALS, 1, m},
                         {&scf->coefficient, DRIVER_KEEP_ORBITALS, 1, m * n},
                         {&scf->orbital_energy_beta, DRIVER_KEEP_ORBITALS, beta, m},
                         {&scf->coefficient_beta, DRIVER_KEEP_ORBITALS, beta, m * n},
                         {&scf->density, DRIVER_KEEP_DENSITY, 1, n * n},
                         {&scf->spin_density, DRIVER_KEEP_DENSITY, beta || scf->restricted, n * n},
                         {&scf->nuclear_gradient, -1, 1, components},
                         {&r->charges_of_atoms, -1, 1, DRIVER_CHARGES * (size_t)r->charge_num}};
    for (int k = 1; k < BLOCKS; k++) {
        double **const array = all[k - 1].array;
        if (all[k - 1].given && (all[k - 1].kept < 0 || keep >> all[k - 1].kept & 1))
            b[k].bytes = all[k - 1].count * real;
        if (make) *array = b[k].bytes ? malloc(b[k].bytes) : NULL;
        b[k].data = *array;
    }
}

static size_t size_of(driver_scf_one *one, int64_t keep)
{
    block b[BLOCKS];
    size_t bytes = sizeof(packed);
    list_blocks(&one->result, keep, 0, b);
    for (int k = 0; k < BLOCKS; k++) bytes += b[k].bytes;
    return bytes;
}

/* Packs a result and its arrays; returns the end of the packed data. */
static char *pack(driver_scf_one *one, int number, int64_t keep, char *to)
{
    driver_result *r = &one->result;
    block b[BLOCKS];
    packed p;
    memset(&p, 0, sizeof p); /* padding bytes are sent too */
    p.number = number;
    p.cycle_num = r->cycle_num;
    p.has_scf = r->scf != NULL;
    p.named = r->named;
    p.err = one->err;
    p.verdict = r->scf_verdict;
    memcpy(p.scf_notice, r->scf_notice, sizeof p.scf_notice);
    memcpy(p.unused, r->unused, sizeof p.unused);
    p.energy = r->energy;
    p.energy_2e = r->energy_2e;
    p.trace_g = r->trace_g;
    p.norm_g = r->norm_g;
    memcpy(p.dipole, r->dipole, sizeof p.dipole);
    p.charge_num = r->charge_num;
    p.profile = r->profile;
    if (r->scf) p.scf = *r->scf;
    memcpy(to, &p, sizeof p);
    to += sizeof p;
    list_blocks(r, keep, 0, b);
    for (int k = 0; k < BLOCKS; k++) {
        if (b[k].bytes) memcpy(to, b[k].data, b[k].bytes);
        to += b[k].bytes;
    }
    return to;
}

/* Unpacks a result; returns the beginning of the next one, or NULL if memory is short. */
static const char *unpack(const char *from, driver_scf_one *all, int64_t keep, int *number)
{
    block b[BLOCKS];
    packed p;
    memcpy(&p, from, sizeof p);
    from += sizeof p;
    *number = p.number;
    driver_scf_one *one = &all[p.number];
    driver_result *r = &one->result;
    one->err = p.err;
    r->named = p.named;
    r->scf_verdict = p.verdict;
    memcpy(r->scf_notice, p.scf_notice, sizeof p.scf_notice);
    memcpy(r->unused, p.unused, sizeof p.unused);
    r->energy = p.energy;
    r->energy_2e = p.energy_2e;
    r->trace_g = p.trace_g;
    r->norm_g = p.norm_g;
    memcpy(r->dipole, p.dipole, sizeof p.dipole);
    r->charge_num = p.charge_num;
    r->profile = p.profile;
    r->cycle_num = p.cycle_num;
    if (p.has_scf) {
        r->scf = malloc(sizeof *r->scf);
        if (!r->scf) return NULL;
        *r->scf = p.scf;
        r->scf->coefficient = r->scf->orbital_energy = r->scf->occupation = NULL;
        r->scf->density = r->scf->fock = r->scf->nuclear_gradient = NULL;
        r->scf->overlap = r->scf->core_hamiltonian = NULL;
        r->scf->coefficient_beta = r->scf->orbital_energy_beta = r->scf->occupation_beta = NULL;
        r->scf->spin_density = r->scf->fock_beta = NULL;
    }
    list_blocks(r, keep, 1, b);
    for (int k = 0; k < BLOCKS; k++) {
        if (b[k].bytes && !b[k].data) return NULL;
        if (b[k].bytes) memcpy(b[k].data, from, b[k].bytes);
        from += b[k].bytes;
    }
    return from;
}

typedef struct arrival {
    const driver_scf_shared *of;
    int no_memory;
} arrival;

/* Unpacks all results of one rank. */
static void take(int rank, const void *data, size_t bytes, void *user)
{
    arrival *a = user;
    const char *at = data, *const end = at + bytes;
    (void)rank;
    while (at < end && !a->no_memory) {
        int number;
        at = unpack(at, a->of->one, a->of->keep, &number);
        if (at) a->of->arrived(&a->of->one[number], a->of->user);
        a->no_memory = !at;
    }
}

/* Packs the results of this rank, and collects those of all ranks on rank 0. */
fmo_status driver_scf_share_results(const fmo_ranks *ranks, fmo_status status,
                                    const driver_scf_shared *shared, fmo_error *err)
{
    arrival a = {shared, 0};
    size_t bytes = 0;
    char *buffer = NULL;
    if (ranks->rank > 0 && status == FMO_OK) {
        for (int k = 0; k < shared->num; k++)
            if (shared->mine[k]) bytes += size_of(&shared->one[k], shared->keep);
        buffer = malloc(bytes + 1);
        if (!buffer)
            status =
                fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu bytes of results", bytes);
        char *at = buffer;
        for (int k = 0; k < shared->num && status == FMO_OK; k++)
            if (shared->mine[k]) at = pack(&shared->one[k], k, shared->keep, at);
    }
    status = fmo_ranks_collect(ranks, status, buffer, bytes, take, &a, err);
    free(buffer);
    if (status == FMO_OK && a.no_memory)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for results of other ranks");
    return status;
}
