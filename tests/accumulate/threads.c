/* Everything from basis to J and K in several POSIX threads at once, each on its own objects and
 * all on one basis: bit for bit what one thread alone gets. Builds use one thread each and no
 * OpenMP team comes into being, so that ThreadSanitizer, which does not know libgomp, can watch
 * (cmake --workflow --preset tsan). */
#include <omp.h>
#include <pthread.h>

#include <fmo/one_electron.h>
#include <fmo/version.h>

#include "tests/support/system.h"

enum { THREADS = 6, TURNS = 3, N_MAX = 48, MATRICES = 9 };

static const struct {
    fmo_mode mode;
    fmo_reduce reduce;
    double cutoff;
} kind[] = {{FMO_MODE_CPU, FMO_REDUCE_TREE, 1e-10},
            {FMO_MODE_CPU, FMO_REDUCE_ATOMIC, 0.0},
            {FMO_MODE_REFERENCE, FMO_REDUCE_TREE, 1e-10}};
enum { KINDS = sizeof kind / sizeof *kind };

/* What all threads share, read-only. */
static const fmo_basis *shared;
static double *density;

/* J and K of every kind, S, T and V. */
typedef struct outcome {
    double matrix[MATRICES][N_MAX * N_MAX];
    size_t workspace;
    double repulsion;
} outcome;

typedef struct worker {
    unsigned long long seed;
    outcome got;
    int failures;
    char first[512];
} worker;

static void note(worker *w, fmo_status status, fmo_status reference, const fmo_error *err)
{
    if (status == reference) return;
    if (!w->failures++)
        snprintf(w->first, sizeof w->first, "status %d: %.400s", status, err->message);
}

static void add_progress(double fraction, void *user)
{
    *(double *)user += fraction;
}

/* Computes J and K in every mode, the workspace and the one-electron matrices of a basis, and
 * provokes an error, whose message must be this thread's own. */
static void compute(const fmo_basis *basis, worker *w)
{
    outcome *o = &w->got;
    fmo_error err = {FMO_OK, ""};
    for (int k = 0; k < KINDS; k++) {
        fmo_fock_plan *plan = NULL;
        fmo_fock_options options;
        fmo_fock_memory memory = {0, 0};
        double progress = 0.0;
        fmo_fock_options_init(&options);
        options.mode = kind[k].mode;
        options.reduce = kind[k].reduce;
        options.cutoff = kind[k].cutoff;
        options.threads = 1;
        options.progress = add_progress;
        options.progress_user = &progress;
        note(w, fmo_fock_plan_create(basis, &options, &plan, &err), FMO_OK, &err);
        fmo_fock_job job = {.plan = plan,
                            .density = density,
                            .coulomb = o->matrix[2 * k],
                            .exchange = o->matrix[2 * k + 1]};
        note(w, fmo_fock_build_batch(&job, 1, &err), FMO_OK, &err);
        note(w, fmo_fock_workspace(basis, &options, &memory, &err), FMO_OK, &err);
        o->workspace += memory.host_bytes;
        fmo_fock_plan_destroy(plan);

        fmo_error expected = {FMO_OK, ""}; /* each thread has its own errors */
        options.threads = -1 - k;
        note(w, fmo_fock_plan_create(basis, &options, &plan, &expected), FMO_ERR_ARGUMENT,
             &expected);
        char text[32];
        snprintf(text, sizeof text, "threads = %d:", -1 - k);
        w->failures += !strstr(expected.message, text);
    }
    note(w, fmo_overlap(basis, o->matrix[6], &err), FMO_OK, &err);
    note(w, fmo_kinetic(basis, o->matrix[7], &err), FMO_OK, &err);
    note(w, fmo_nuclear_attraction(basis, o->matrix[8], &err), FMO_OK, &err);
    o->repulsion = fmo_basis_nuclear_repulsion(basis);
    w->failures += strcmp(fmo_version(), FMO_VERSION_STRING) != 0 ||
                   strcmp(fmo_status_text(FMO_ERR_MEMORY), "out of memory") != 0;
}

static fmo_basis *make_basis(unsigned long long seed)
{
    test_system *s = malloc(sizeof *s);
    system_random(s, 3, 5, 3, 3, 4.0, &seed);
    system_shuffle_functions(s, &seed);
    const fmo_basis_input input = system_input(s);
    fmo_basis *basis = NULL;
    fmo_basis_create(&input, &basis, NULL);
    free(s);
    return basis;
}

/* Computes with a basis of its own first, then with the shared one, whose results are kept. */
static void *run(void *user)
{
    worker *w = user;
    omp_set_num_threads(1); /* for this thread: the one-electron integrals have no option for it */
    for (int turn = 0; turn < TURNS; turn++) {
        fmo_basis *own = make_basis(w->seed);
        memset(&w->got, 0xff, sizeof w->got);
        w->got.workspace = 0;
        compute(own, w);
        fmo_basis_destroy(own);
        w->got.workspace = 0;
        compute(shared, w);
    }
    return NULL;
}

/* Runs several threads at once and compares every matrix bit by bit with that of a single thread.
 */
int main(void)
{
    static worker alone, together[THREADS];
    pthread_t thread[THREADS];
    unsigned long long seed = 2024;
    fmo_basis *basis = make_basis(1);
    CHECK(basis, "no basis");
    if (!basis) return check_summary();
    const int n = fmo_basis_ao_num(basis);
    CHECK(n <= N_MAX, "%d functions", n);
    shared = basis;
    density = random_density(n, 1.0, &seed);

    for (int t = 0; t < THREADS; t++) {
        together[t].seed = 1; /* molecules of one size */
        CHECK(pthread_create(&thread[t], NULL, run, &together[t]) == 0, "thread %d", t);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    alone.seed = 1;
    run(&alone);
    CHECK(alone.failures == 0, "alone: %d failures, first %s", alone.failures, alone.first);
    const size_t size = (size_t)n * (size_t)n;
    for (int t = 0; t < THREADS; t++) {
        const outcome *got = &together[t].got;
        CHECK(together[t].failures == 0, "thread %d: %d failures, first %s", t,
              together[t].failures, together[t].first);
        for (int m = 0; m < MATRICES; m++)
            CHECK(!memcmp(got->matrix[m], alone.got.matrix[m], size * sizeof(double)),
                  "thread %d, matrix %d is not that of one thread alone", t, m);
        CHECK(got->workspace == alone.got.workspace && got->repulsion == alone.got.repulsion,
              "thread %d: workspace %zu, repulsion %.17g", t, got->workspace, got->repulsion);
    }
    for (size_t x = 0; x < size; x++)
        CHECK(fabs(alone.got.matrix[0][x] - alone.got.matrix[4][x]) < 1e-8, "J[%zu]: modes differ",
              x);
    free(density);
    fmo_basis_destroy(basis);
    return check_summary();
}
