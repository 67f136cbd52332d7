/* Data sets read and results written in several POSIX threads at once: HDF5 itself is seldom built
 * for that, so the library lets one thread at a time use it. */
#include <pthread.h>
#include <unistd.h>

#include <fmo/dataset.h>
#include <fmo/result.h>

#include "tests/support/check.h"

enum { THREADS = 8, TURNS = 25 };

static const char *const name[] = {"h2o_6-31g.h5", "h2o8_sto-3g.h5", "n2_3-21g.h5",
                                   "ch3oh_6-31g_shuffled.h5"};
enum { NAMES = sizeof name / sizeof *name };
static fmo_dataset *alone[NAMES];

typedef struct worker {
    int number, failures;
    char first[600];
} worker;

static void note(worker *w, int good, const char *what, const char *message)
{
    if (!good && !w->failures++) snprintf(w->first, sizeof w->first, "%s: %s", what, message);
}

static void *run(void *user)
{
    worker *w = user;
    char path[512], output[64];
    snprintf(output, sizeof output, "io_threads_%ld_%d.h5", (long)getpid(), w->number);
    for (int turn = 0; turn < TURNS; turn++) {
        const int which = (w->number + turn) % NAMES;
        fmo_dataset *d = NULL;
        fmo_error err = {FMO_OK, ""};
        snprintf(path, sizeof path, "%s/%s", FMO_DATASET_DIR, name[which]);
        note(w, fmo_dataset_read(path, &d, &err) == FMO_OK, name[which], err.message);
        if (!d) continue;
        const int n = fmo_basis_ao_num(fmo_dataset_basis(d));
        const size_t bytes = (size_t)n * (size_t)n * sizeof(double);
        note(w,
             !memcmp(fmo_dataset_density(d), fmo_dataset_density(alone[which]), bytes) &&
                 !memcmp(fmo_dataset_core_hamiltonian(d),
                         fmo_dataset_core_hamiltonian(alone[which]), bytes),
             name[which], "not what one thread alone reads");
        const fmo_result result = {.nao = n,
                                   .coulomb = fmo_dataset_reference_coulomb(d),
                                   .energy = 1.0,
                                   .mode = "cpu",
                                   .cutoff = 1e-10};
        note(w, fmo_result_write(output, d, &result, &err) == FMO_OK, output, err.message);
        fmo_dataset_destroy(d);

        fmo_error refusal = {FMO_OK, ""}; /* and errors, which HDF5 keeps in globals of its own */
        d = NULL;
        note(w,
             fmo_dataset_read("/nowhere.h5", &d, &refusal) == FMO_ERR_INPUT && !d &&
                 strstr(refusal.message, "/nowhere.h5"),
             "a file that is not there", refusal.message);
    }
    unlink(output);
    return NULL;
}

int main(void)
{
    static worker workers[THREADS];
    pthread_t thread[THREADS];
    for (int k = 0; k < NAMES; k++) {
        char path[512];
        fmo_error err = {FMO_OK, ""};
        snprintf(path, sizeof path, "%s/%s", FMO_DATASET_DIR, name[k]);
        CHECK(fmo_dataset_read(path, &alone[k], &err) == FMO_OK, "%s", err.message);
        if (!alone[k]) return check_summary();
    }
    for (int t = 0; t < THREADS; t++) {
        workers[t].number = t;
        CHECK(pthread_create(&thread[t], NULL, run, &workers[t]) == 0, "thread %d", t);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        CHECK(workers[t].failures == 0, "thread %d: %d failures, first %s", t, workers[t].failures,
              workers[t].first);
    }
    for (int k = 0; k < NAMES; k++) fmo_dataset_destroy(alone[k]);
    return check_summary();
}
