/* A batch whose jobs are prepared when they start (driver/scf/batch.h): results equal those of jobs
 * that are complete from the start, each job is prepared once, and no more of them are there than
 * run; jobs that cannot be prepared, or not beside others. Argument: a mode, fused without a GPU is
 * skipped; or "concurrent": mode cpu without threads of OpenMP, for ThreadSanitizer. */
#include "driver/scf/batch.h"

#include <pthread.h>

#include "tests/support/shipped.h"

/* MAX: functions of the largest. */
enum { NAMES = 3, COUNT = 70, BAD = 5, THREADS = 3, MAX = 13 };
static const char *const names[NAMES] = {"he2_6-31g", "h2o_6-31g", "h2o_sto-3g"};
static fmo_mode mode;

/* The faults of a trial, and how the jobs run. */
typedef struct trial {
    int bad;      /* a job that cannot be prepared, or -1 */
    int stranger; /* a job that finds no memory beside others, or -1; -2: it did */
    int little;   /* 1: their SCFs have memory for one at a time */
    int fixed;    /* 1: bits of a single run, so on a GPU one by one */
} trial;

/* Jobs whose field is made late, and what has happened to them. */
typedef struct watched {
    trial is;
    fmo_scf_job *jobs;
    pthread_mutex_t lock;
    int prepared[COUNT], release[COUNT], finished[COUNT];
    double there, max_elements; /* squares of functions that are prepared */
    int jobs_there, jobs_max;
} watched;

static size_t square(const watched *w, size_t k)
{
    const size_t n = (size_t)fmo_basis_ao_num(w->jobs[k].input.basis);
    return n * n;
}

/* A field that differs from job to job. */
static double *make_field(size_t size, size_t job)
{
    double *U = malloc(size * sizeof *U);
    const size_t n = (size_t)lround(sqrt((double)size));
    for (size_t i = 0; U && i < size; i++)
        U[i] = 1e-2 * sin((double)(job + 1) * (double)(i / n + i % n + 1));
    return U;
}

static fmo_status refuse(watched *w, const size_t *job, size_t num, fmo_error *err)
{
    for (size_t k = 0; k < num; k++) {
        if ((int)job[k] == w->is.bad)
            return fmo_error_set(err, FMO_ERR_INPUT, "job %zu has a bad day", job[k]);
        if ((int)job[k] == w->is.stranger) {
            w->is.stranger = -2;
            return fmo_error_set(err, FMO_ERR_MEMORY, "no memory beside others");
        }
    }
    return FMO_OK;
}

/* The callback before jobs run: counts them and makes their fields, or refuses one of them. */
static fmo_status prepare(const size_t *job, size_t num, const fmo_fock_options *fock, void *user,
                          fmo_error *err)
{
    watched *w = user;
    pthread_mutex_lock(&w->lock);
    const fmo_status status = refuse(w, job, num, err);
    for (size_t k = 0; k < num && status == FMO_OK; k++) {
        w->prepared[job[k]]++;
        w->there += (double)square(w, job[k]);
        w->jobs_there++;
    }
    if (w->there > w->max_elements) w->max_elements = w->there;
    if (w->jobs_there > w->jobs_max) w->jobs_max = w->jobs_there;
    CHECK(fock->threads >= 1 && fock->threads <= THREADS, "%d threads", fock->threads);
    for (size_t k = 0; k < num; k++)
        CHECK(!w->jobs[job[k]].input.field, "job %zu is there already", job[k]);
    pthread_mutex_unlock(&w->lock);
    for (size_t k = 0; k < num && status == FMO_OK; k++)
        w->jobs[job[k]].input.field = make_field(square(w, job[k]), job[k]);
    return status;
}

static void release(size_t job, void *user)
{
    watched *w = user;
    pthread_mutex_lock(&w->lock);
    w->release[job]++;
    w->there -= (double)square(w, job);
    w->jobs_there--;
    CHECK(w->finished[job] || w->is.little, "job %zu is let go before it has finished", job);
    pthread_mutex_unlock(&w->lock);
    free((void *)(uintptr_t)w->jobs[job].input.field);
    w->jobs[job].input.field = NULL;
}

static void finished(size_t index, fmo_scf_job *job, void *user)
{
    watched *w = user;
    pthread_mutex_lock(&w->lock);
    w->finished[index]++;
    CHECK(w->release[index] + 1 == w->prepared[index] || job->status != FMO_OK,
          "job %zu has finished with nothing there", index);
    pthread_mutex_unlock(&w->lock);
}

static void fill(fmo_dataset *const *dataset, fmo_scf_job *jobs)
{
    memset(jobs, 0, COUNT * sizeof *jobs);
    for (int k = 0; k < COUNT; k++)
        jobs[k].input =
            (fmo_scf_input){.basis = fmo_dataset_basis(dataset[k % NAMES]),
                            .electron_num = fmo_dataset_electron_num(dataset[k % NAMES]),
                            .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset[k % NAMES])};
}

static fmo_scf_options options_of(watched *w)
{
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = mode;
    o.fock.threads = THREADS;
    o.finished = w ? finished : NULL;
    o.user = w;
    return o;
}

/* The same jobs with all fields from the start. */
static void run_whole(fmo_dataset *const *dataset, fmo_scf_job *jobs)
{
    const fmo_scf_options o = options_of(NULL);
    fmo_error err = {FMO_OK, ""};
    watched w = {.jobs = jobs};
    fill(dataset, jobs);
    for (size_t k = 0; k < COUNT; k++) jobs[k].input.field = make_field(square(&w, k), k);
    CHECK(fmo_scf_run_batch(jobs, COUNT, &o, &err) == FMO_OK, "%s", err.message);
    for (size_t k = 0; k < COUNT; k++) free((void *)(uintptr_t)jobs[k].input.field);
}

static void check_job(const watched *w, int k, const fmo_scf_job *whole)
{
    const fmo_scf_job *const job = &w->jobs[k];
    CHECK(w->finished[k] == 1, "job %d finished %d times", k, w->finished[k]);
    if (k == w->is.bad) {
        CHECK(job->status == FMO_ERR_INPUT && strstr(job->err.message, "bad day") && !job->result,
              "job %d: %s", k, job->err.message);
        CHECK(!w->prepared[k] && !w->release[k], "job %d was there", k);
        return;
    }
    CHECK((w->prepared[k] == 1 || (w->is.little && w->prepared[k] == 2)) &&
              w->release[k] == w->prepared[k],
          "job %d: made ready %d times, let go %d times", k, w->prepared[k], w->release[k]);
    CHECK(job->status == FMO_OK && job->result, "job %d: %s", k, job->err.message);
    if (!job->result || !whole->result) return;
    CHECK(fabs(job->result->energy - whole->result->energy) < 1e-9, "job %d: %.12f, whole %.12f", k,
          job->result->energy, whole->result->energy);
}

/* The memory that an SCF of water needs in mode cpu. */
static size_t memory_of_one(const fmo_scf_options *options, const fmo_basis *basis)
{
    fmo_fock_options fock = options->fock;
    fmo_fock_memory need = {0};
    fmo_error err = {FMO_OK, ""};
    fock.threads = 1;
    CHECK(fmo_fock_workspace(basis, &fock, &need, &err) == FMO_OK, "%s", err.message);
    return need.host_bytes;
}

/* Runs a batch with callbacks: every job is prepared and released, few are there at a time, and
 * energies are those of whole runs. */
static void test(fmo_dataset *const *dataset, const fmo_scf_job *whole, trial is)
{
    fmo_scf_job jobs[COUNT];
    watched w = {.is = is, .jobs = jobs};
    const double elements = 3000.0;
    const fmo_batch_callbacks callbacks = {prepare, release, NULL, &w, elements};
    fmo_scf_options o = options_of(&w);
    fmo_error err = {FMO_OK, ""};
    int twice = 0;
    fill(dataset, jobs);
    if (is.fixed) o.fock.scatter = FMO_SCATTER_FIXED;
    if (is.little) o.fock.memory = memory_of_one(&o, jobs[1].input.basis);
    pthread_mutex_init(&w.lock, NULL);
    const fmo_status status = fmo_scf_run_batch_of(jobs, COUNT, &o, &callbacks, NULL, &err);
    CHECK(status == (is.bad < 0 ? FMO_OK : FMO_ERR_INPUT), "%s", err.message);
    for (int k = 0; k < COUNT; k++) check_job(&w, k, &whole[k]);
    for (int k = 0; k < COUNT; k++) twice += w.prepared[k] == 2;
    CHECK(is.stranger < 0 || w.is.stranger == -2, "job %d was not requested", is.stranger);
    CHECK(!is.little || twice, "there was memory for all");
    CHECK(w.jobs_there == 0 && w.there == 0.0, "%d jobs are left", w.jobs_there);
    if (mode == FMO_MODE_CPU)
        CHECK(w.jobs_max <= THREADS, "%d jobs are there for %d threads", w.jobs_max, THREADS);
    else /* lockstep batches of one job too many */
        CHECK(w.max_elements <= elements + 2.0 * MAX * MAX, "%g elements are there, of %g",
              w.max_elements, elements);
    printf("mode %s, bad %d, stranger %d, little %d, fixed %d: at most %d jobs at a time\n",
           fmo_mode_name(mode), is.bad, is.stranger, is.little, is.fixed, w.jobs_max);
    for (int k = 0; k < COUNT; k++) fmo_scf_result_destroy(jobs[k].result);
    pthread_mutex_destroy(&w.lock);
}

/* Batches whose plans stay on the GPU for the next batch: the same energies, also if the jobs
 * change or are fewer. They are too few for an SCF in a thread block (driver/scf/block). */
static void test_kept(const fmo_scf_job *whole)
{
    enum { ALL = 40 };
    const fmo_scf_options o = options_of(NULL);
    fmo_batch_cache *const cache = fmo_batch_cache_create(mode == FMO_MODE_FUSED);
    CHECK(cache, "no memory");
    for (int turn = 0; turn < 4; turn++) {
        fmo_scf_job jobs[COUNT] = {0};
        watched w = {.jobs = jobs};
        fmo_error err = {FMO_OK, ""};
        const size_t count = turn == 3 ? ALL / 2 : ALL;
        const size_t shift = turn == 2; /* each job takes the place of the next */
        for (size_t k = 0; k < count; k++) {
            const size_t job = (k + shift) % COUNT;
            jobs[k].input = whole[job].input;
            jobs[k].input.field = make_field(square(&w, k), job);
        }
        CHECK(fmo_scf_run_batch_of(jobs, count, &o, NULL, cache, &err) == FMO_OK, "turn %d: %s",
              turn, err.message);
        const size_t reused = fmo_batch_cache_reused(cache);
        if (turn == 1 && mode == FMO_MODE_FUSED)
            CHECK(reused > 0, "no plan of the batch before");
        else
            CHECK(reused == 0 || turn > 1, "turn %d: %zu plans of other jobs", turn, reused);
        for (size_t k = 0; k < count; k++) {
            const size_t job = (k + shift) % COUNT;
            CHECK(jobs[k].result && whole[job].result &&
                      fabs(jobs[k].result->energy - whole[job].result->energy) < 1e-9,
                  "turn %d, job %zu: %s", turn, k, jobs[k].err.message);
            fmo_scf_result_destroy(jobs[k].result);
            free((void *)(uintptr_t)jobs[k].input.field);
        }
    }
    fmo_batch_cache_destroy(cache);
}

/* What SCFs keep for the next: orthogonalised functions, and G of their final density. */
enum { AS_BEFORE, SAME_DENSITY, OTHER_DENSITY, OTHER_PROJECTOR, TURNS };

/* Fields of a turn, and densities or projectors. */
static void set_turn(const fmo_scf_job *whole, int turn, size_t k, double *field, double *density,
                     double *projector, fmo_scf_job *job)
{
    const size_t n = (size_t)fmo_basis_ao_num(whole[k].input.basis);
    double *const U = make_field(n * n, k);
    job->input = whole[k].input;
    for (size_t i = 0; i < n * n && U; i++) field[i] = (1.0 + 0.01 * turn) * U[i];
    free(U);
    for (size_t i = 0; i < n * n && turn == OTHER_DENSITY; i++) density[i] *= 0.999;
    projector[0] =
        turn == OTHER_PROJECTOR ? 0.5 : 0.0; /* which projects out an orbital by little */
    job->input.field = field;
    job->input.density = turn == AS_BEFORE ? NULL : density;
    job->input.projector = projector;
}

/* Plans and densities that a batch cache keeps give the same energies in later batches, and only an
 * unchanged density skips the first build. */
static void test_left(const fmo_scf_job *whole)
{
    enum { ALL = 40, SQUARE = MAX * MAX };
    static double field[ALL][SQUARE], density[ALL][SQUARE], projector[ALL][SQUARE];
    fmo_batch_cache *const cache = fmo_batch_cache_create(mode == FMO_MODE_FUSED);
    CHECK(cache, "no memory");
    for (int turn = 0; turn < TURNS; turn++) {
        int known = 0;
        fmo_scf_job jobs[2][ALL];
        fmo_scf_options o = options_of(NULL);
        fmo_error err = {FMO_OK, ""};
        memset(jobs, 0, sizeof jobs);
        o.guess = turn == AS_BEFORE ? FMO_SCF_GUESS_SAD : FMO_SCF_GUESS_READ;
        for (size_t k = 0; k < ALL; k++)
            set_turn(whole, turn, k, field[k], density[k], projector[k], &jobs[0][k]);
        for (int with = 0; with < 2; with++) { /* without them for a reference */
            for (size_t k = 0; k < ALL; k++) jobs[with][k].input = jobs[0][k].input;
            o.loose_fock = with;
            CHECK(fmo_scf_run_batch_of(jobs[with], ALL, &o, NULL, with ? cache : NULL, &err) ==
                      FMO_OK,
                  "turn %d: %s", turn, err.message);
        }
        for (size_t k = 0; k < ALL; k++) {
            const fmo_scf_result *const r = jobs[1][k].result, *const reference = jobs[0][k].result;
            CHECK(r && reference && fabs(r->energy - reference->energy) < 2e-9,
                  "turn %d, job %zu: %s", turn, k, jobs[1][k].err.message);
            if (!r || !reference) continue;
            const size_t bytes = (size_t)r->nao * (size_t)r->nao * sizeof(double);
            CHECK(memcmp(r->overlap, reference->overlap, bytes) == 0, "turn %d: overlap", turn);
            known += r->full_builds == 0;
            CHECK(reference->full_builds > 0, "turn %d: none built", turn);
            memcpy(density[k], r->density, bytes);
        }
        if (turn == SAME_DENSITY && mode == FMO_MODE_FUSED)
            CHECK(known > ALL / 2, "G is known of %d", known);
        else
            CHECK(known == 0, "turn %d: G is taken to be known of %d", turn, known);
        for (size_t k = 0; k < ALL; k++)
            for (int with = 0; with < 2; with++) fmo_scf_result_destroy(jobs[with][k].result);
    }
    fmo_batch_cache_destroy(cache);
}

/* Runs all trials in mode cpu or fused; "concurrent" runs those for ThreadSanitizer. */
int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset[NAMES] = {NULL};
    fmo_scf_job whole[COUNT];
    const int concurrent = argc > 1 && strcmp(argv[1], "concurrent") == 0;
    mode = argc > 1 && strcmp(argv[1], "fused") == 0 ? FMO_MODE_FUSED : FMO_MODE_CPU;
    if (mode == FMO_MODE_FUSED && fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
    for (int k = 0; k < NAMES; k++) {
        dataset[k] = read_shipped(names[k]);
        if (!dataset[k]) return check_summary();
    }
    run_whole(dataset, whole);
    test(dataset, whole, (trial){.bad = -1, .stranger = -1});
    for (int fixed = 0; fixed < (concurrent ? 1 : 2); fixed++) {
        test(dataset, whole, (trial){.bad = BAD, .stranger = -1, .fixed = fixed});
        if (!concurrent)
            test(dataset, whole, (trial){.bad = -1, .stranger = COUNT - 1, .fixed = fixed});
    }
    if (mode == FMO_MODE_CPU && !concurrent)
        test(dataset, whole, (trial){.bad = -1, .stranger = -1, .little = 1});
    if (!concurrent) test_kept(whole);
    if (!concurrent) test_left(whole);
    for (int k = 0; k < COUNT; k++) fmo_scf_result_destroy(whole[k].result);
    for (int k = 0; k < NAMES; k++) fmo_dataset_destroy(dataset[k]);
    return check_summary();
}
