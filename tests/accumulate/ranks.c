/* Builds that ranks share (accumulate/plan/ranks.h), on the CPU, with ranks that are threads:
 * against builds of one rank, with `fixed` bit for bit; counts; failures, which all ranks report.
 */
#include "accumulate/rules/rank_gpu.h"
#include "tests/support/calls.h"
#include "tests/support/ranks_local.h"
#include "tests/support/system.h"

enum { THREADS = 2 };

typedef struct helper {
    fmo_ranks ranks;
    ranks_local user;
    fmo_status status;
    fmo_error err;
    pthread_t thread;
} helper;

static void *help(void *arg)
{
    helper *h = arg;
    fmo_fock_options own;
    fmo_fock_options_init(&own);
    own.threads = 1 + h->ranks.rank % THREADS;
    h->status = fmo_fock_serve(&h->ranks, &own, &h->err);
    return NULL;
}

/* Ranks 1 .. size-1 as threads. */
static fmo_ranks open_ranks(ranks_local_world *world, helper *h, int size)
{
    ranks_local_open(world, size);
    for (int r = 0; r < size; r++) {
        memset(&h[r], 0, sizeof h[r]);
        h[r].ranks = ranks_local_end(&h[r].user, world, r);
        if (r > 0) CHECK(pthread_create(&h[r].thread, NULL, help, &h[r]) == 0, "rank %d", r);
    }
    return h[0].ranks;
}

static void close_ranks(ranks_local_world *world, helper *h)
{
    fmo_fock_dismiss(&h[0].ranks);
    for (int r = 1; r < world->size; r++) {
        CHECK(pthread_join(h[r].thread, NULL) == 0, "rank %d", r);
        CHECK(h[r].status == FMO_OK, "rank %d: %s", r, h[r].err.message);
    }
    ranks_local_close(world);
}

typedef struct matrices {
    size_t n, size;
    double *D, *J, *K, *expected_J, *expected_K;
} matrices;

static int64_t quartets_of(const fmo_fock_plan *plan)
{
    fmo_fock_profile profile;
    int64_t quartets = 0;
    if (fmo_fock_plan_profile(plan, &profile, NULL) != FMO_OK) return -1;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        quartets +=
            profile.classes[c].quartets * (c + 1) + 100 * profile.classes[c].quartets_skipped;
    return quartets;
}

/* Which rank has which GPU; all ranks learn each other's. */
typedef struct gpu_asker {
    ranks_local user;
    fmo_ranks ranks;
    int device;
    fmo_status status;
    pthread_t thread;
} gpu_asker;

static void *ask_gpu(void *arg)
{
    gpu_asker *a = arg;
    a->status = fmo_ranks_gpu(&a->ranks, &a->device, NULL);
    return NULL;
}

/* Ranks of one host get different GPUs, whether they see all of them or only their own. */
static void check_gpus(void)
{
    /* two hosts of two GPUs, all visible; a host whose ranks see one GPU each; one without */
    const int64_t first[] = {5, 5, -7, -7, 1, 2, 0, 5};
    const int expected[] = {0, 1, 0, 1, 0, 0, -1, 2};
    for (int r = 0; r < 8; r++)
        CHECK(fmo_rank_gpu(first, r) == expected[r], "rank %d: GPU %d", r, fmo_rank_gpu(first, r));
    ranks_local_world world;
    gpu_asker of[3];
    ranks_local_open(&world, 3);
    for (int r = 0; r < 3; r++) {
        of[r] = (gpu_asker){.device = -5};
        of[r].ranks = ranks_local_end(&of[r].user, &world, r);
        CHECK(pthread_create(&of[r].thread, NULL, ask_gpu, &of[r]) == 0, "rank %d", r);
    }
    for (int r = 0; r < 3; r++) {
        CHECK(pthread_join(of[r].thread, NULL) == 0, "rank %d", r);
        const int has = fmo_gpu_num() > 0 ? r : -1; /* they see the same */
        CHECK(of[r].status == FMO_OK && of[r].device == has, "rank %d: GPU %d", r, of[r].device);
    }
    ranks_local_close(&world);
}

/* One plan, several densities, the last with elements that need new pairs. */
static void check_builds(const fmo_basis *basis, fmo_fock_options o, fmo_ranks *ranks, matrices *m)
{
    static const double factors[] = {1.0, -0.25, 40.0};
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *alone = NULL, *shared = NULL;
    const int fixed = o.scatter == FMO_SCATTER_FIXED;
    CHECK(fmo_fock_plan_create(basis, &o, &alone, &err) == FMO_OK, "%s", err.message);
    o.ranks = ranks;
    CHECK(fmo_fock_plan_create(basis, &o, &shared, &err) == FMO_OK, "%s", err.message);
    for (size_t f = 0; f < sizeof factors / sizeof *factors && shared && alone; f++)
        for (int terms = 1; terms <= 3; terms++) {
            char name[96];
            const double largest = fabs(factors[f]);
            snprintf(name, sizeof name, "%d ranks, %s%s, terms %d, density %g", ranks->size,
                     fixed ? "fixed, " : "", fmo_integrals_name(o.integrals), terms, factors[f]);
            for (size_t x = 0; x < m->size; x++) m->D[x] *= factors[f];
            memset(m->J, 0xff, m->size * sizeof *m->J);
            memset(m->K, 0xff, m->size * sizeof *m->K);
            double *const J = terms & 1 ? m->J : NULL, *const K = terms & 2 ? m->K : NULL;
            fmo_status status = fmo_fock_build(alone, m->D, J ? m->expected_J : NULL,
                                               K ? m->expected_K : NULL, &err);
            if (status == FMO_OK) status = fmo_fock_build(shared, m->D, J, K, &err);
            CHECK(status == FMO_OK, "%s: %s", name, err.message);
            CHECK(quartets_of(alone) == quartets_of(shared), "%s: %lld quartets alone, %lld", name,
                  (long long)quartets_of(alone), (long long)quartets_of(shared));
            const double tolerance = fixed ? 0.0 : 1e-11 * fmax(1.0, largest);
            if (J) check_close(name, J, m->expected_J, m->size, m->n, tolerance, 0.0);
            if (K) check_close(name, K, m->expected_K, m->size, m->n, tolerance, 0.0);
            for (size_t x = 0; x < m->size; x++) m->D[x] /= factors[f];
        }
    fmo_fock_profile profile;
    if (shared && fmo_fock_plan_profile(shared, &profile, &err) == FMO_OK)
        CHECK(profile.ranks == ranks->size, "%d ranks", profile.ranks);
    fmo_fock_plan_destroy(alone);
    fmo_fock_plan_destroy(shared);
}

/* Jobs of each symmetry and of operators, in one call, against those of one rank. J and K of
 * different operators are two builds here, so that under `fixed` J of a general density is rounded
 * otherwise: it is not among them. */
static void check_requests(const fmo_basis *basis, fmo_fock_options o, fmo_ranks *ranks,
                           const matrices *m)
{
    enum { JOBS = 6 };
    static const fmo_operator operators[] = {{0}, {0.0, 1.0, 0.4}, {1.0, -1.0, 0.3}};
    static const int of_J[JOBS] = {0, 1, 1, 1, 2, 0}, of_K[JOBS] = {2, 2, 1, 2, 2, 0};
    const size_t bytes = m->size * sizeof(double);
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan[2] = {NULL};
    double *const out[2] = {calloc(2 * JOBS, bytes), calloc(2 * JOBS, bytes)};
    double *const D[FMO_SYMMETRY_COUNT] = {malloc(bytes), malloc(bytes), malloc(bytes)};
    fmo_fock_job jobs[2][JOBS] = {{{0}}};
    for (size_t x = 0; x < m->size; x++) {
        const double A = 0.1 * ((double)(x / m->n) - (double)(x % m->n)) / (double)m->n;
        D[FMO_SYMMETRIC][x] = m->D[x];
        D[FMO_ANTISYMMETRIC][x] = A;
        D[FMO_GENERAL][x] = m->D[x] + A;
    }
    for (int p = 0; p < 2; p++) {
        o.ranks = p ? ranks : NULL;
        CHECK(fmo_fock_plan_create(basis, &o, &plan[p], &err) == FMO_OK, "%s", err.message);
        for (int k = 0; k < JOBS; k++) {
            double *const at = out[p] + 2 * (size_t)k * m->size;
            jobs[p][k] = (fmo_fock_job){.plan = plan[p],
                                        .symmetry = (fmo_symmetry)(k % FMO_SYMMETRY_COUNT),
                                        .density = D[k % FMO_SYMMETRY_COUNT],
                                        .coulomb = at,
                                        .exchange = k == 4 ? NULL : at + m->size,
                                        .coulomb_operator = operators[of_J[k]],
                                        .exchange_operator = operators[of_K[k]]};
        }
        CHECK(fmo_fock_build_batch(jobs[p], JOBS, &err) == FMO_OK, "%s", err.message);
    }
    for (int k = 0; k < JOBS; k++) {
        char name[64];
        snprintf(name, sizeof name, "%d ranks, request %d", ranks->size, k);
        check_close(name, out[1] + 2 * (size_t)k * m->size, out[0] + 2 * (size_t)k * m->size,
                    2 * m->size, m->n, o.scatter == FMO_SCATTER_FIXED ? 0.0 : 1e-11, 0.0);
    }
    for (int p = 0; p < 2; p++) fmo_fock_plan_destroy(plan[p]);
    for (int p = 0; p < 2; p++) free(out[p]);
    for (int k = 0; k < FMO_SYMMETRY_COUNT; k++) free(D[k]);
}

/* Errors on one rank, and commands that a rank cannot execute, end all ranks. */
static void check_failures_of_ranks(const fmo_basis *basis, matrices *m)
{
    ranks_local_world world;
    helper h[RANKS_LOCAL_MAX];
    fmo_ranks ranks = open_ranks(&world, h, 3);
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 1;
    o.ranks = &ranks;
    memset(m->J, 0xff, m->size * sizeof *m->J);
    memcpy(m->K, m->J, m->size * sizeof *m->K);
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);

    world.altered_bytes = sizeof(uint64_t); /* rank 2 has another partition of the work */
    CHECK_REFUSED(fmo_fock_build(plan, m->D, m->J, NULL, &err), &err, FMO_ERR_UNSUPPORTED,
                  "rank 2 on host2: its pieces of work");
    world.altered_bytes = 0;
    err = (fmo_error){FMO_OK, ""};

    world.faulty_from = 5; /* the counter of work items fails */
    CHECK_REFUSED(fmo_fock_build(plan, m->D, m->J, NULL, &err), &err, FMO_ERR_DEVICE,
                  "work counter");
    world.faulty_from = -1;
    err = (fmo_error){FMO_OK, ""};
    CHECK(memcmp(m->J, m->K, m->size * sizeof *m->J) == 0, "J is touched on errors");

    m->D[1] += 1.0;
    CHECK(fmo_fock_build(plan, m->D, m->J, NULL, &err) == FMO_ERR_INPUT, "%s", err.message);
    m->D[1] -= 1.0;
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_fock_build(plan, m->D, m->J, m->K, &err) == FMO_OK, "after errors: %s", err.message);

    fmo_fock_job job = {.plan = plan, .source = plan, .density = m->D, .coulomb = m->J};
    CHECK_REFUSED(fmo_fock_build_batch(&job, 1, &err), &err, FMO_ERR_ARGUMENT, "shared");
    CHECK_REFUSED(fmo_fock_build_device(plan, m->D, m->J, NULL, &err), &err, FMO_ERR_ARGUMENT,
                  "shared");
    fmo_fock_plan_destroy(plan);
    err = (fmo_error){FMO_OK, ""};

    o.memory = 1000; /* too little memory on every rank: rank 0 is named */
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_MEMORY && !plan &&
              strncmp(err.message, "rank 0 on host0: mode cpu needs", 31) == 0,
          "%s", err.message);
    o.memory = 0;
    err = (fmo_error){FMO_OK, ""};

    o.mode = FMO_MODE_REFERENCE; /* one rank alone, which the notice reports */
    fmo_fock_profile profile;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, m->D, m->J, m->K, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    CHECK(status == FMO_OK && profile.ranks == 1 && strstr(profile.notice, "rank 0 of 3"), "%s %s",
          err.message, status == FMO_OK ? profile.notice : "");
    fmo_fock_plan_destroy(plan);
    o.mode = FMO_MODE_CPU;

    fmo_ranks other = ranks;
    other.rank = 1;
    o.ranks = &other;
    CHECK_REFUSED(fmo_fock_plan_create(basis, &o, &plan, &err), &err, FMO_ERR_ARGUMENT,
                  "fmo_fock_serve");
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_fock_serve(&ranks, NULL, &err) == FMO_ERR_ARGUMENT, "%s", err.message);
    close_ranks(&world, h);
}

/* A system on two and three ranks, with J of far pairs direct or by boxes. */
static void check_system(const test_system *s, fmo_coulomb coulomb, unsigned long long *seed)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    matrices m = {.n = (size_t)fmo_basis_ao_num(basis)};
    m.size = m.n * m.n;
    m.D = random_density((int)m.n, 1.0, seed);
    m.J = calloc(4 * m.size, sizeof *m.J);
    m.K = m.J + m.size, m.expected_J = m.K + m.size, m.expected_K = m.expected_J + m.size;
    for (int size = 2; size <= 3; size++) {
        ranks_local_world world;
        helper h[RANKS_LOCAL_MAX];
        fmo_ranks ranks = open_ranks(&world, h, size);
        for (int fixed = 0; fixed < 2; fixed++) {
            fmo_fock_options o;
            fmo_fock_options_init(&o);
            o.mode = FMO_MODE_CPU;
            o.threads = THREADS;
            o.scatter = fixed ? FMO_SCATTER_FIXED : FMO_SCATTER_AUTO;
            o.coulomb = coulomb;
            check_builds(basis, o, &ranks, &m);
        }
        close_ranks(&world, h);
    }
    free(m.D);
    free(m.J);
    fmo_basis_destroy(basis);
}

/* J of far pairs by the octree: each rank computes a part of them. */
static void check_boxes(void)
{
    static test_system s;
    unsigned long long seed = 24;
    memset(&s, 0, sizeof s);
    for (int a = 0; a < 24; a++) {
        system_add_atom(&s, 3.0 * a, 0.5 * (a % 3), 0.0);
        system_add_shell(&s, a % 2, 2, &seed);
        system_add_shell(&s, 0, 1, &seed);
    }
    check_system(&s, FMO_COULOMB_BOXES, &seed);
}

/* Spherical d functions: ranks add up matrices of Cartesian functions, which are more. */
static void check_spherical(void)
{
    static test_system s;
    static const int shells[3] = {3, 3, 6};
    unsigned long long seed = 25;
    system_random_d(&s, 0, 3, shells, 2, 4.0, &seed);
    check_system(&s, FMO_COULOMB_DIRECT, &seed);
}

/* Runs the checks with 1 to 4 ranks, direct and stored integrals, and with and without `fixed`;
 * every rank must take some of the work items. */
int main(void)
{
    static const fmo_integrals kept[] = {FMO_INTEGRALS_DIRECT, FMO_INTEGRALS_STORED};
    unsigned long long seed = 2026;
    static test_system s;
    const int small = getenv("FMO_TEST_SMALL") != NULL;
    system_random(&s, small ? 5 : 9, small ? 6 : 10, small ? 5 : 8, 3, 9.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (!basis) return 1;
    check_gpus();
    matrices m = {.n = (size_t)fmo_basis_ao_num(basis)};
    m.size = m.n * m.n;
    m.D = random_density((int)m.n, 1.0, &seed);
    double *const memory = calloc(4 * m.size, sizeof *memory);
    if (!m.D || !memory) return 1;
    m.J = memory, m.K = m.J + m.size, m.expected_J = m.K + m.size,
    m.expected_K = m.expected_J + m.size;
    for (int size = 1; size <= 4; size++) {
        ranks_local_world world;
        helper h[RANKS_LOCAL_MAX];
        fmo_ranks ranks = open_ranks(&world, h, size);
        for (int fixed = 0; fixed < 2; fixed++)
            for (int k = 0; k < 2; k++) {
                fmo_fock_options o;
                fmo_fock_options_init(&o);
                o.mode = FMO_MODE_CPU;
                o.threads = THREADS;
                o.cutoff = 1e-13;
                o.scatter = fixed ? FMO_SCATTER_FIXED : FMO_SCATTER_AUTO;
                o.integrals = kept[k];
                check_builds(basis, o, &ranks, &m);
                if (size > 1) check_requests(basis, o, &ranks, &m);
            }
        int64_t work_items = 0;
        for (int r = 0; r < size; r++) work_items += world.taken[r];
        for (int r = 0; r < size && size > 1; r++)
            CHECK(world.taken[r] > 0, "rank %d of %d took nothing of %lld", r, size,
                  (long long)work_items);
        close_ranks(&world, h);
    }
    check_failures_of_ranks(basis, &m);
    check_boxes();
    check_spherical();
    free(m.D);
    free(memory);
    fmo_basis_destroy(basis);
    return check_summary();
}
