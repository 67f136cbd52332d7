/* SCFs of a batch and fragments that are divided among ranks, with ranks that are threads: against
 * one process, bit for bit where each rank has one thread; which rank has which result; ranks with
 * different inputs, too little memory, a counter that fails; a state file from which several ranks
 * resume. */
#define _GNU_SOURCE /* dladdr */
#include <stddef.h>
#include <unistd.h>
#include <fmo/dataset.h>
#include <fmo/fragment.h>
#include <fmo/scf.h>

#include "tests/support/calls.h"
#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/ranks_local.h"

enum { NAMES = 6 };
static const char *const names[NAMES] = {"he_sto-3g", "h2o8_sto-3g",    "h2o_6-31g",
                                         "n2_3-21g",  "ch2o_6-31g_sph", "he2_6-31g"};

/* The input and results of a rank. */
typedef struct helper {
    fmo_ranks ranks;
    ranks_local user;
    fmo_status status;
    fmo_error err;
    pthread_t thread;
    int threads;
    long fine;                   /* allocations before the one that fails; -1: none does */
    fmo_dataset *const *dataset; /* of a batch */
    fmo_scf_job job[NAMES];
    int recorded[NAMES];
    const fmo_fragment_system *system; /* of fragments */
    const fmo_basis_set *set;
    fmo_fragment_options options;
    fmo_fragment_result *result;
} helper;

/* Runs all ranks, each as a thread. */
static void run_ranks(ranks_local_world *world, helper *h, int size, void *(*what)(void *))
{
    for (int r = 0; r < size; r++) {
        h[r].ranks = ranks_local_end(&h[r].user, world, r);
        h[r].err = (fmo_error){FMO_OK, ""};
        CHECK(pthread_create(&h[r].thread, NULL, what, &h[r]) == 0, "rank %d", r);
    }
    for (int r = 0; r < size; r++) CHECK(pthread_join(h[r].thread, NULL) == 0, "rank %d", r);
}

/* ---- a batch of SCFs ------------------------------------------------------------------------- */

static void finished(size_t index, fmo_scf_job *job, void *user)
{
    (void)job;
    ((helper *)user)->recorded[index]++;
}

/* Runs a batch of SCFs on one rank, for pthread_create. */
static void *run_batch(void *arg)
{
    helper *h = arg;
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    o.fock.threads = h->threads;
    o.fock.integrals = FMO_INTEGRALS_DIRECT;
    o.finished = finished;
    o.user = h;
    o.deal = h->ranks.size ? &h->ranks : NULL;
    memset(h->job, 0, sizeof h->job);
    memset(h->recorded, 0, sizeof h->recorded);
    for (int k = 0; k < NAMES; k++)
        h->job[k].input =
            (fmo_scf_input){.basis = fmo_dataset_basis(h->dataset[k]),
                            .electron_num = fmo_dataset_electron_num(h->dataset[k]),
                            .nuclear_repulsion = fmo_dataset_nuclear_repulsion(h->dataset[k])};
    h->status = fmo_scf_run_batch(h->job, NAMES, &o, &h->err);
    return NULL;
}

static void free_batch(helper *h)
{
    for (int k = 0; k < NAMES; k++) fmo_scf_result_destroy(h->job[k].result);
}

/* Ranks that share a batch: each molecule is on one rank and has the energy of a run without ranks.
 */
static void check_batch(fmo_dataset *const *dataset, const helper *alone, int size, int threads)
{
    ranks_local_world world;
    helper h[RANKS_LOCAL_MAX] = {0};
    ranks_local_open(&world, size);
    for (int r = 0; r < size; r++) {
        h[r].dataset = dataset;
        h[r].threads = threads;
    }
    run_ranks(&world, h, size, run_batch);
    for (int r = 0; r < size; r++)
        CHECK(h[r].status == FMO_OK, "rank %d of %d: %s", r, size, h[r].err.message);
    for (int k = 0; k < NAMES; k++) {
        int had = 0;
        for (int r = 0; r < size; r++) {
            const fmo_scf_result *got = h[r].job[k].result, *expected = alone->job[k].result;
            CHECK(h[r].recorded[k] == (got != NULL), "%s: rank %d was called %d times", names[k], r,
                  h[r].recorded[k]);
            if (!got) continue;
            had++;
            CHECK(threads == 1 ? got->energy == expected->energy && got->cycles == expected->cycles
                               : fabs(got->energy - expected->energy) < 1e-9,
                  "%s on rank %d of %d: %.17g, alone %.17g", names[k], r, size, got->energy,
                  expected->energy);
        }
        CHECK(had == 1, "%s: %d ranks have it", names[k], had);
    }
    for (int r = 0; r < size; r++) free_batch(&h[r]);
    ranks_local_close(&world);
}

/* A failure of the communicator ends the batch on all ranks. */
static void check_batch_failures(fmo_dataset *const *dataset)
{
    ranks_local_world world;
    helper h[RANKS_LOCAL_MAX] = {0};
    ranks_local_open(&world, 3);
    for (int r = 0; r < 3; r++) {
        h[r].dataset = dataset;
        h[r].threads = 1 + r;
    }
    world.faulty_from = 2;
    run_ranks(&world, h, 3, run_batch);
    for (int r = 0; r < 3; r++) {
        CHECK(h[r].status == FMO_ERR_DEVICE &&
                  strstr(h[r].err.message, "communication between the ranks failed"),
              "%d: %s", r, h[r].err.message);
        free_batch(&h[r]);
    }
    ranks_local_close(&world);
    fmo_scf_options o;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options_init(&o);
    ranks_local_open(&world, 1); /* all ranks would report it */
    h[0].ranks = ranks_local_end(&h[0].user, &world, 0);
    o.deal = o.fock.ranks = &h[0].ranks;
    CHECK_REFUSED(fmo_scf_run_batch(h[0].job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "fock.ranks");
}

/* Runs the batch on 1 to 8 ranks, also with several threads each. */
static void check_batches(void)
{
    fmo_dataset *dataset[NAMES] = {0};
    helper alone = {.dataset = dataset, .threads = 1};
    fmo_error err = {FMO_OK, ""};
    for (int k = 0; k < NAMES; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.h5", FMO_DATASET_DIR, names[k]);
        CHECK(fmo_dataset_read_basis(path, &dataset[k], &err) == FMO_OK, "%s", err.message);
    }
    run_batch(&alone);
    CHECK(alone.status == FMO_OK, "%s", alone.err.message);
    check_batch(dataset, &alone, 1, 1);
    check_batch(dataset, &alone, 2, 1);
    check_batch(dataset, &alone, 4, 1);
    check_batch(dataset, &alone, RANKS_LOCAL_MAX, 1); /* more than there are molecules */
    check_batch(dataset, &alone, 2, 3);
    check_batch_failures(dataset);
    free_batch(&alone);
    for (int k = 0; k < NAMES; k++) fmo_dataset_destroy(dataset[k]);
}

/* ---- fragments ------------------------------------------------------------------------------- */

static void *run_fragments(void *arg)
{
    helper *h = arg;
    h->options.scf.fock.mode = FMO_MODE_CPU;
    h->options.scf.fock.threads = h->threads;
    h->options.scf.deal = h->ranks.size ? &h->ranks : NULL;
    h->status = fmo_fragment_run(h->system, h->set, &h->options, &h->result, &h->err);
    return NULL;
}

static void set_up(helper *h, int count, const fmo_fragment_system *system,
                   const fmo_basis_set *set, int threads)
{
    memset(h, 0, (size_t)count * sizeof *h);
    for (int r = 0; r < count; r++) {
        h[r].system = system;
        h[r].set = set;
        h[r].threads = threads;
        fmo_fragment_options_init(&h[r].options);
    }
}

/* bits: compare bit for bit; else energies to 1e-9 the rest as far as monomers are converged. */
static void compare(const char *name, const fmo_fragment_result *got,
                    const fmo_fragment_result *expected, int bits)
{
    const double tolerance = bits ? 0.0 : 1e-9;
    CHECK(got && fabs(got->energy2 - expected->energy2) <= tolerance, "%s: %.17g, alone %.17g",
          name, got ? got->energy2 : NAN, expected->energy2);
    if (!got) return;
    check_close(name, got->charge2, expected->charge2, (size_t)got->atom_num, 1, 2e4 * tolerance,
                0.0);
    for (int k = 0; k < got->pair_num; k++)
        CHECK(fabs(got->pair[k].total - expected->pair[k].total) <= 100.0 * tolerance,
              "%s: pair %d", name, k);
    for (int k = 0; k < got->fragment_num; k++)
        check_close(name, got->monomer[k].density, expected->monomer[k].density,
                    (size_t)expected->monomer[k].nao * (size_t)expected->monomer[k].nao,
                    (size_t)expected->monomer[k].nao, 1e4 * tolerance, 0.0);
}

/* FMO2 on several ranks agrees with one rank, also after it was resumed from a state file, which
 * rank 0 alone reads and writes. */
static void check_system(const char *file)
{
    static const struct {
        int size, threads, state;
    } ways[] = {{2, 1, 0}, {4, 1, 0}, {3, 1, 1}, {2, 3, 0}};
    char path[512], state[] = "scf_ranks_XXXXXX";
    fmo_fragment_system *system = NULL;
    fmo_basis_set *set = NULL;
    fmo_error err = {FMO_OK, ""};
    helper alone, h[RANKS_LOCAL_MAX];
    ranks_local_world world;
    snprintf(path, sizeof path, "%s/fmo2/%s.json", FMO_DATASET_DIR, file);
    CHECK(fmo_fragment_system_read(path, &system, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_basis_set_read("sto-3g", &set, &err) == FMO_OK, "%s", err.message);
    if (!system || !set) return;
    const int made = mkstemp(state);
    CHECK(made >= 0, "no file for a state");
    if (made >= 0) close(made);
    set_up(&alone, 1, system, set, 1);
    run_fragments(&alone);
    CHECK(alone.status == FMO_OK, "%s", alone.err.message);
    for (size_t w = 0; w < sizeof ways / sizeof *ways && alone.result; w++) {
        char name[96];
        const int size = ways[w].size;
        snprintf(name, sizeof name, "%s, %d ranks of %d threads", file, size, ways[w].threads);
        ranks_local_open(&world, size);
        set_up(h, size, system, set, ways[w].threads);
        for (int r = 0; r < size && ways[w].state; r++) h[r].options.state = state;
        run_ranks(&world, h, size, run_fragments);
        for (int r = 0; r < size; r++) {
            CHECK(h[r].status == FMO_OK, "%s: rank %d: %s", name, r, h[r].err.message);
            CHECK((h[r].result != NULL) == (r == 0), "%s: rank %d", name, r);
            CHECK(world.taken[r] > 0, "%s: rank %d took nothing", name, r);
        }
        compare(name, h[0].result, alone.result, ways[w].threads == 1);
        if (h[0].result) CHECK(h[0].result->ranks == size, "%s: %d", name, h[0].result->ranks);
        fmo_fragment_result_destroy(h[0].result);
        ranks_local_close(&world);
    }
    /* Resumed after two iterations by another number of ranks; rank 0 alone has the file. */
    set_up(h, 1, system, set, 1);
    h[0].options.state = state;
    h[0].options.max_iterations = 2;
    run_fragments(&h[0]);
    CHECK(h[0].status == FMO_ERR_CHECK && !h[0].result, "%s", h[0].err.message);
    ranks_local_open(&world, 3);
    set_up(h, 3, system, set, 1);
    for (int r = 0; r < 3; r++) {
        h[r].options.state = r ? "/nonexistent/state" : state;
        h[r].options.resume = 1;
    }
    run_ranks(&world, h, 3, run_fragments);
    CHECK(h[0].status == FMO_OK && h[0].result && h[0].result->resumed == 2, "%s",
          h[0].err.message);
    if (alone.result) compare("resumed", h[0].result, alone.result, 0);
    fmo_fragment_result_destroy(h[0].result);
    ranks_local_close(&world);
    /* And from finished pairs. */
    ranks_local_open(&world, 2);
    set_up(h, 2, system, set, 1);
    for (int r = 0; r < 2; r++) {
        h[r].options.state = state;
        h[r].options.resume = 1;
    }
    run_ranks(&world, h, 2, run_fragments);
    CHECK(h[0].status == FMO_OK && h[0].result &&
              h[0].result->resumed_pairs == h[0].result->scf_pairs,
          "%s", h[0].err.message);
    if (alone.result) compare("all pairs resumed", h[0].result, alone.result, 0);
    fmo_fragment_result_destroy(h[0].result);
    ranks_local_close(&world);
    remove(state);
    fmo_fragment_result_destroy(alone.result);
    fmo_basis_set_destroy(set);
    fmo_fragment_system_destroy(system);
}

/* All ranks end, with the same line. */
static void check_ends(ranks_local_world *world, helper *h, int size, fmo_status status,
                       const char *words)
{
    run_ranks(world, h, size, run_fragments);
    for (int r = 0; r < size; r++)
        CHECK(h[r].status == status && strstr(h[r].err.message, words) && !h[r].result,
              "rank %d: %s, expected %s", r, h[r].err.message, words);
    ranks_local_close(world);
}

/* An error on one rank, or inputs that differ between ranks, end the run on all ranks with a
 * message that names the rank. */
static void check_refusals(void)
{
    fmo_fragment_system *system = NULL;
    fmo_basis_set *set = NULL, *other = NULL;
    fmo_error err = {FMO_OK, ""};
    ranks_local_world world;
    helper h[3];
    CHECK(fmo_fragment_system_read(FMO_DATASET_DIR "/fmo2/water3_sto-3g.json", &system, &err) ==
              FMO_OK,
          "%s", err.message);
    CHECK(fmo_basis_set_read("sto-3g", &set, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_basis_set_read("6-31g", &other, &err) == FMO_OK, "%s", err.message);
    if (!system || !set || !other) return;
    ranks_local_open(&world, 3);
    set_up(h, 3, system, set, 1);
    h[2].set = other;
    check_ends(&world, h, 3, FMO_ERR_INPUT, "rank 2 on host2: its fragments differ from those");
    ranks_local_open(&world, 3); /* in the fields, in SCFs, and in pairs */
    set_up(h, 3, system, set, 1);
    world.faulty_from = 1;
    check_ends(&world, h, 3, FMO_ERR_DEVICE, "communication between the ranks failed");
    ranks_local_open(&world, 2); /* of rank 0 alone */
    set_up(h, 2, system, set, 1);
    for (int r = 0; r < 2; r++) h[r].options.state = "/nonexistent/state";
    check_ends(&world, h, 2, FMO_ERR_OUTPUT, "/nonexistent/state");
    CHECK(strncmp(h[0].err.message, "rank", 4) != 0, "rank 0 names itself: %s", h[0].err.message);
    ranks_local_open(&world, 2); /* of whichever rank ran it */
    set_up(h, 2, system, set, 1);
    for (int r = 0; r < 2; r++) h[r].options.scf.max_cycles = 1;
    check_ends(&world, h, 2, FMO_ERR_CHECK, "fragment");
    /* Errors that one rank finds before all ranks agree. */
    fmo_fragment_system wrong = *system;
    wrong.bond_num = -1;
    ranks_local_open(&world, 3);
    set_up(h, 3, system, set, 1);
    h[1].system = &wrong;
    check_ends(&world, h, 3, FMO_ERR_INPUT, "rank 1 on host1: ");
    ranks_local_open(&world, 3);
    set_up(h, 3, system, set, 1);
    h[2].options.max_iterations = 0;
    check_ends(&world, h, 3, FMO_ERR_ARGUMENT, "rank 2 on host2: fmo_fragment_run: max_iterations");
    static const size_t other_fields[] = {offsetof(fmo_fragment_options, max_iterations),
                                          offsetof(fmo_fragment_options, scf.diis_size),
                                          offsetof(fmo_fragment_options, scf.orbitals)};
    for (size_t k = 0; k < sizeof other_fields / sizeof *other_fields; k++) {
        ranks_local_open(&world, 2);
        set_up(h, 2, system, set, 1);
        *(int *)((char *)&h[1].options + other_fields[k]) += 1;
        check_ends(&world, h, 2, FMO_ERR_INPUT, "rank 1 on host1: its options");
    }
    set_up(h, 1, system, set, 1);
    h[0].options.scf.fock.ranks = &h[1].ranks;
    run_fragments(&h[0]);
    CHECK(h[0].status == FMO_ERR_ARGUMENT && strstr(h[0].err.message, "scf.deal"), "%s",
          h[0].err.message);
    fmo_basis_set_destroy(set);
    fmo_basis_set_destroy(other);
    fmo_fragment_system_destroy(system);
}

static void *serve(void *arg)
{
    helper *h = arg;
    h->status = fmo_fock_serve(&h->ranks, NULL, &h->err);
    return NULL;
}

/* UHF of a triplet whose builds two ranks share, against one rank. */
static void check_open_shell(void)
{
    fmo_dataset *dataset = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options o;
    fmo_scf_result *result[2] = {NULL};
    ranks_local_world world;
    helper h[2] = {0};
    CHECK(fmo_dataset_read(FMO_DATASET_DIR "/ch2o_6-31g_sph.h5", &dataset, &err) == FMO_OK, "%s",
          err.message);
    const fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                                 .electron_num = fmo_dataset_electron_num(dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset),
                                 .multiplicity = 3};
    ranks_local_open(&world, 2);
    for (int r = 0; r < 2; r++) h[r].ranks = ranks_local_end(&h[r].user, &world, r);
    CHECK(pthread_create(&h[1].thread, NULL, serve, &h[1]) == 0, "rank 1");
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    for (int shared = 0; shared < 2; shared++) {
        o.fock.ranks = shared ? &h[0].ranks : NULL;
        CHECK(fmo_scf_run(&input, &o, &result[shared], &err) == FMO_OK, "%s", err.message);
    }
    fmo_fock_dismiss(&h[0].ranks);
    CHECK(pthread_join(h[1].thread, NULL) == 0 && h[1].status == FMO_OK, "%s", h[1].err.message);
    if (result[0] && result[1])
        CHECK(fabs(result[0]->energy - result[1]->energy) < 1e-9,
              "UHF: %.12f on one rank, %.12f on two", result[0]->energy, result[1]->energy);
    for (int k = 0; k < 2; k++) fmo_scf_result_destroy(result[k]);
    ranks_local_close(&world);
    fmo_dataset_destroy(dataset);
}

static void *run_poor(void *arg)
{
    helper *h = arg;
    failing_malloc_after = h->fine;
    run_fragments(h);
    h->fine = failing_malloc_after;
    failing_malloc_after = -1;
    return NULL;
}

/* Each allocation of one rank fails in its turn: all ranks end with the same error. */
static void check_memory(void)
{
    fmo_fragment_system *system = NULL;
    fmo_basis_set *set = NULL;
    fmo_error err = {FMO_OK, ""};
    ranks_local_world world;
    helper h[2];
    CHECK(fmo_fragment_system_read(FMO_DATASET_DIR "/fmo2/water3_sto-3g.json", &system, &err) ==
                  FMO_OK &&
              fmo_basis_set_read("sto-3g", &set, &err) == FMO_OK,
          "%s", err.message);
    long lacked = 0;
    for (long fine = 0, more = 1; more && FAILING_MALLOC; fine += 1 + fine / 16) {
        const int poor = (int)(fine % 3 == 1); /* rank 0 or 1 */
        ranks_local_open(&world, 2);
        set_up(h, 2, system, set, 1);
        for (int r = 0; r < 2; r++) h[r].fine = r == poor ? fine : -1;
        alarm(120); /* where a rank waits for ever */
        run_ranks(&world, h, 2, run_poor);
        alarm(0);
        CHECK(h[0].status == h[1].status, "allocation %ld of rank %d: %s; %s", fine, poor,
              h[0].err.message, h[1].err.message);
        CHECK(h[0].status == FMO_OK || h[0].status == FMO_ERR_MEMORY,
              "allocation %ld of rank %d: %s", fine, poor, h[0].err.message);
        lacked += h[0].status == FMO_ERR_MEMORY;
        more = h[poor].fine < 0;
        fmo_fragment_result_destroy(h[0].result);
        ranks_local_close(&world);
    }
    CHECK(lacked > 0 || !FAILING_MALLOC, "no allocation failed");
    fmo_basis_set_destroy(set);
    fmo_fragment_system_destroy(system);
}

int main(void)
{
    check_memory();
    check_open_shell();
    check_batches();
    check_system("water3_sto-3g");
    check_system("ethane_sto-3g");
    if (!getenv("FMO_TEST_SMALL")) {
        check_system("water10_sto-3g");
        check_system("gly4_sto-3g");
    }
    check_refusals();
    return check_summary();
}
