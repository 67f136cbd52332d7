/* Checks of fmo_fock_build_batch for any mode: mixed sizes, a plan several times, errors. Shared by
 * tests/accumulate/batch.c and tests/gpu/batch.cu. */
#ifndef FMO_TESTS_BATCH_CHECKS_H
#define FMO_TESTS_BATCH_CHECKS_H

#include <stdbool.h>

#include "tests/support/calls.h"
#include "tests/support/system.h"

enum { BATCH_PLANS = 4, BATCH_JOBS = 9 };

/* Plans of different sizes, and jobs on them: job k is of plan of[k]. */
typedef struct batch_case {
    fmo_basis *basis[BATCH_PLANS];
    fmo_fock_plan *plan[BATCH_PLANS];
    int nao[BATCH_PLANS];
    double *density[BATCH_JOBS], *coulomb[BATCH_JOBS], *exchange[BATCH_JOBS];
    fmo_fock_job job[BATCH_JOBS];
} batch_case;

/* The same plan twice in a row, later again, and each of the others at least once. */
static const int batch_plan_of[BATCH_JOBS] = {0, 1, 1, 2, 0, 3, 2, 0, 1};

static inline size_t batch_size(const batch_case *b, int job)
{
    const size_t n = (size_t)b->nao[batch_plan_of[job]];
    return n * n;
}

static inline fmo_fock_options batch_options(fmo_mode mode, fmo_scatter scatter)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.scatter = scatter;
    o.threads = scatter == FMO_SCATTER_FIXED ? 2 : 1; /* its bits do not depend on the threads */
    return o;
}

/* Whether a mode and strategy support d shells. */
static inline bool batch_takes_d(fmo_mode mode, fmo_scatter scatter)
{
    if (mode == FMO_MODE_SPLIT) return false;
    return scatter == FMO_SCATTER_AUTO || scatter == FMO_SCATTER_NATIVE ||
           scatter == FMO_SCATTER_SEGMENTED || scatter == FMO_SCATTER_FIXED;
}

/* Plans get the stream given for each, or their own; the last has d shells where the strategy takes
 * them. False if a plan could not be made. */
static inline bool batch_begin(batch_case *b, fmo_mode mode, fmo_scatter scatter,
                               void *const *streams, unsigned long long *seed)
{
    static const struct {
        int atoms, shells[3], depth;
    } size[BATCH_PLANS] = {
        {3, {5, 3, 0}, 3}, {1, {1, 0, 0}, 1}, {6, {14, 9, 0}, 4}, {2, {3, 2, 2}, 6}};
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    bool fine = true;
    memset(b, 0, sizeof *b);
    for (int p = 0; p < BATCH_PLANS; p++) {
        fmo_fock_options o = batch_options(mode, scatter);
        o.stream = streams ? streams[p] : NULL;
        const int shells[3] = {size[p].shells[0], size[p].shells[1],
                               batch_takes_d(mode, scatter) ? size[p].shells[2] : 0};
        system_random_d(&s, 1, size[p].atoms, shells, size[p].depth, 5.0, seed);
        for (int f = 0; f < shells[2]; f++) system_add_shell(&s, 3, 1 + f, seed);
        system_shuffle_functions(&s, seed);
        b->basis[p] = system_basis(&s);
        b->nao[p] = s.aos;
        fine = b->basis[p] && fmo_fock_plan_create(b->basis[p], &o, &b->plan[p], &err) == FMO_OK &&
               fine;
        CHECK(fine, "plan %d, %s: %s", p, fmo_mode_name(mode), err.message);
    }
    for (int k = 0; k < BATCH_JOBS; k++) {
        const size_t bytes = batch_size(b, k) * sizeof(double);
        b->density[k] = random_density(b->nao[batch_plan_of[k]], 1.0, seed);
        b->coulomb[k] = (double *)malloc(bytes);
        b->exchange[k] = (double *)malloc(bytes);
        b->job[k].plan = b->plan[batch_plan_of[k]];
        b->job[k].density = b->density[k];
        b->job[k].coulomb = b->coulomb[k];
        b->job[k].exchange = b->exchange[k];
    }
    return fine;
}

static inline void batch_end(batch_case *b)
{
    for (int p = 0; p < BATCH_PLANS; p++) {
        fmo_fock_plan_destroy(b->plan[p]);
        fmo_basis_destroy(b->basis[p]);
    }
    for (int k = 0; k < BATCH_JOBS; k++) {
        free(b->density[k]);
        free(b->coulomb[k]);
        free(b->exchange[k]);
    }
}

/* Sets every byte of the outputs, so that unwritten elements show. */
static inline void batch_poison(batch_case *b)
{
    for (int k = 0; k < BATCH_JOBS; k++) {
        memset(b->coulomb[k], 0xff, batch_size(b, k) * sizeof(double));
        memset(b->exchange[k], 0xff, batch_size(b, k) * sizeof(double));
    }
}

static inline bool batch_untouched(const batch_case *b, int job)
{
    const unsigned char *J = (const unsigned char *)b->coulomb[job];
    const unsigned char *K = (const unsigned char *)b->exchange[job];
    for (size_t i = 0; i < batch_size(b, job) * sizeof(double); i++)
        if (J[i] != 0xff || K[i] != 0xff) return false;
    return true;
}

/* J and K against a single build on a plan of its own; tolerance 0: bit by bit. */
static inline void compare_single(const char *name, const fmo_basis *basis, int nao,
                                  const fmo_fock_options *options, const double *density,
                                  const double *coulomb, const double *exchange, double tolerance)
{
    const size_t n = (size_t)nao, size = n * n;
    double *J = (double *)malloc(size * sizeof *J), *K = (double *)malloc(size * sizeof *K);
    const int built = fock_build(basis, options, density, J, K, NULL);
    if (built && tolerance == 0.0) {
        CHECK(!memcmp(J, coulomb, size * sizeof *J), "%s: J has other bits", name);
        CHECK(!memcmp(K, exchange, size * sizeof *K), "%s: K has other bits", name);
    } else if (built) {
        check_close(name, coulomb, J, size, n, tolerance, tolerance);
        check_close(name, exchange, K, size, n, tolerance, tolerance);
    }
    free(J);
    free(K);
}

/* The same for a job's results. */
static inline void batch_compare(const batch_case *b, int job, fmo_mode mode, fmo_scatter scatter,
                                 double tolerance)
{
    const int plan = batch_plan_of[job];
    const fmo_fock_options o = batch_options(mode, scatter);
    char name[64];
    snprintf(name, sizeof name, "%s %s, job %d", fmo_mode_name(mode), fmo_scatter_name(scatter),
             job);
    compare_single(name, b->basis[plan], b->nao[plan], &o, b->density[job], b->coulomb[job],
                   b->exchange[job], tolerance);
}

/* All jobs in a call, twice, then a part of them in another order of plans. */
static inline void batch_check_results(fmo_mode mode, fmo_scatter scatter, double tolerance,
                                       unsigned long long *seed)
{
    batch_case b;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_profile profile;
    if (batch_begin(&b, mode, scatter, NULL, seed)) {
        for (int call = 0; call < 3; call++) {
            const int first = call == 2 ? 3 : 0;
            batch_poison(&b);
            CHECK(fmo_fock_build_batch(b.job + first, (size_t)(BATCH_JOBS - first), &err) == FMO_OK,
                  "call %d: %s", call, err.message);
            for (int k = 0; k < BATCH_JOBS; k++) {
                if (k >= first)
                    batch_compare(&b, k, mode, scatter, tolerance);
                else
                    CHECK(batch_untouched(&b, k), "job %d was not in the call", k);
            }
        }
        for (int p = 0; p < BATCH_PLANS; p++)
            CHECK(fmo_fock_plan_profile(b.plan[p], &profile, &err) == FMO_OK &&
                      profile.seconds > 0.0,
                  "profile of plan %d: %s", p, err.message);
        /* a single build on a plan that was in a batch */
        batch_poison(&b);
        CHECK(fmo_fock_build(b.plan[2], b.density[3], b.coulomb[3], b.exchange[3], &err) == FMO_OK,
              "%s", err.message);
        batch_compare(&b, 3, mode, scatter, tolerance);
    }
    batch_end(&b);
}

/* Many molecules of a few kinds: plans made in one call, a density for each. */
typedef struct batch_lockstep {
    size_t count;
    fmo_basis **basis;
    fmo_fock_plan **plan;
    int *nao;
    double **density, **result; /* result: J, then K */
} batch_lockstep;

static inline size_t lockstep_size(const batch_lockstep *c, size_t k)
{
    return (size_t)c->nao[k] * (size_t)c->nao[k];
}

/* One of the molecules is left out, and named, if there is one too many: `count` are good. Some
 * have d and f shells, Cartesian or spherical, where the strategy takes them. */
static inline bool lockstep_begin(batch_lockstep *c, size_t count, const fmo_fock_options *options,
                                  unsigned long long *seed)
{
    static const struct batch_kind {
        int atoms, shells[3], depth;
        double box;
    } kinds[] = {{3, {5, 3, 0}, 3, 5.0},     {1, {1, 0, 0}, 1, 5.0}, {14, {30, 16, 0}, 4, 20.0},
                 {5, {0, 9, 0}, 2, 6.0},     {4, {9, 0, 0}, 5, 6.0}, {2, {3, 2, 0}, 6, 5.0},
                 {12, {26, 18, 0}, 4, 16.0}, {3, {6, 4, 1}, 3, 5.0}, {6, {8, 6, 5}, 2, 12.0},
                 {1, {0, 0, 1}, 4, 5.0}};
    enum { MISSING = 3, KINDS = sizeof kinds / sizeof *kinds, WITHOUT_D = KINDS - 3 };
    static test_system s;
    const fmo_basis **requested = (const fmo_basis **)calloc(count + 1, sizeof *requested);
    fmo_fock_plan **plans = (fmo_fock_plan **)calloc(count + 1, sizeof(fmo_fock_plan *));
    fmo_error *errs = (fmo_error *)calloc(count + 1, sizeof *errs);
    bool fine = true;
    c->count = count;
    c->basis = (fmo_basis **)calloc(count, sizeof(fmo_basis *));
    c->plan = (fmo_fock_plan **)calloc(count, sizeof(fmo_fock_plan *));
    c->nao = (int *)calloc(count, sizeof *c->nao);
    c->density = (double **)calloc(count, sizeof(double *));
    c->result = (double **)calloc(count, sizeof(double *));
    for (size_t k = 0; k < count; k++) {
        const size_t kind =
            k % (batch_takes_d(options->mode, options->scatter) ? KINDS : WITHOUT_D);
        system_random_d(&s, k / KINDS % 2 == 0, kinds[kind].atoms, kinds[kind].shells,
                        kinds[kind].depth, kinds[kind].box, seed);
        for (int f = 0; f < kinds[kind].shells[2] / 2; f++) system_add_shell(&s, 3, 1 + f, seed);
        c->basis[k] = system_basis(&s);
        c->nao[k] = s.aos;
        c->density[k] = random_density(s.aos, 1.0, seed);
        c->result[k] = (double *)malloc(2 * lockstep_size(c, k) * sizeof(double));
        requested[k < MISSING ? k : k + 1] = c->basis[k];
    }
    CHECK(fmo_fock_plan_create_batch(requested, count + 1, options, plans, errs) ==
                  FMO_ERR_ARGUMENT &&
              !plans[MISSING] && errs[MISSING].status == FMO_ERR_ARGUMENT,
          "a missing molecule: %s", errs[MISSING].message);
    for (size_t k = 0; k < count; k++) {
        const size_t from = k < MISSING ? k : k + 1;
        c->plan[k] = plans[from];
        CHECK(c->plan[k] && errs[from].status == FMO_OK, "plan %zu: %s", k, errs[from].message);
        fine = fine && c->plan[k];
    }
    free(requested);
    free(plans);
    free(errs);
    return fine;
}

static inline void lockstep_end(batch_lockstep *c)
{
    for (size_t k = 0; k < c->count; k++) {
        fmo_fock_plan_destroy(c->plan[k]);
        fmo_basis_destroy(c->basis[k]);
        free(c->density[k]);
        free(c->result[k]);
    }
    free(c->basis);
    free(c->plan);
    free(c->nao);
    free(c->density);
    free(c->result);
}

/* The same of all molecules. */
static inline void lockstep_compare(const batch_lockstep *c, const fmo_fock_options *options,
                                    double tolerance, const char *what)
{
    for (size_t k = 0; k < c->count; k++) {
        char name[80];
        snprintf(name, sizeof name, "%s %s, molecule %zu", what, fmo_scatter_name(options->scatter),
                 k);
        compare_single(name, c->basis[k], c->nao[k], options, c->density[k], c->result[k],
                       c->result[k] + lockstep_size(c, k), tolerance);
    }
}

/* Many molecules in one call, twice, and one of them alone afterwards, agree with single builds. */
static inline void batch_check_lockstep(fmo_mode mode, fmo_scatter scatter, size_t count,
                                        double tolerance, unsigned long long *seed)
{
    const fmo_fock_options o = batch_options(mode, scatter);
    batch_lockstep c;
    fmo_error err = {FMO_OK, ""};
    if (lockstep_begin(&c, count, &o, seed)) {
        fmo_fock_job *jobs = (fmo_fock_job *)malloc(count * sizeof *jobs);
        for (size_t k = 0; k < count; k++) {
            memset(&jobs[k], 0, sizeof jobs[k]);
            jobs[k].plan = c.plan[k];
            jobs[k].density = c.density[k];
            jobs[k].coulomb = c.result[k];
            jobs[k].exchange = c.result[k] + lockstep_size(&c, k);
        }
        for (int call = 0; call < 2; call++) {
            for (size_t k = 0; k < count; k++)
                memset(c.result[k], 0xff, 2 * lockstep_size(&c, k) * sizeof(double));
            CHECK(fmo_fock_build_batch(jobs, count, &err) == FMO_OK, "%s", err.message);
            lockstep_compare(&c, &o, tolerance, "many molecules,");
        }
        /* alone afterwards */
        CHECK(fmo_fock_build(c.plan[0], c.density[0], c.result[0],
                             c.result[0] + lockstep_size(&c, 0), &err) == FMO_OK,
              "%s", err.message);
        lockstep_compare(&c, &o, tolerance, "once more alone,");
        free(jobs);
    }
    lockstep_end(&c);
    CHECK(fmo_fock_plan_create_batch(NULL, 0, NULL, NULL, NULL) == FMO_OK, "no plans");
    CHECK(fmo_fock_plan_create_batch(NULL, 1, NULL, NULL, NULL) == FMO_ERR_ARGUMENT, "NULL plans");
}

/* A job that fails is named, its outputs stay untouched, and other jobs and later calls succeed. */
static inline void batch_check_errors(fmo_mode mode, unsigned long long *seed)
{
    enum { BAD = 4 };
    batch_case b;
    char reference[16];
    fmo_error err = {FMO_OK, ""};
    snprintf(reference, sizeof reference, "job %d", BAD);
    CHECK(fmo_fock_build_batch(NULL, 0, &err) == FMO_OK, "no jobs: %s", err.message);
    CHECK(fmo_fock_build_batch(NULL, 1, &err) == FMO_ERR_ARGUMENT, "NULL jobs");
    if (batch_begin(&b, mode, FMO_SCATTER_AUTO, NULL, seed)) {
        batch_poison(&b);
        CHECK(fmo_fock_build_batch(b.job, 0, NULL) == FMO_OK && batch_untouched(&b, 0),
              "count 0 does nothing");
        for (int what = 0; what < 3; what++) {
            fmo_fock_job jobs[BATCH_JOBS];
            memcpy(jobs, b.job, sizeof jobs);
            if (what == 0) jobs[BAD].plan = NULL;
            if (what == 1) jobs[BAD].density = NULL;
            if (what == 2) jobs[BAD].coulomb = jobs[BAD].exchange = NULL;
            memset(&err, 0, sizeof err);
            CHECK(fmo_fock_build_batch(jobs, BATCH_JOBS, &err) == FMO_ERR_ARGUMENT &&
                      strstr(err.message, reference),
                  "NULL %d: %s", what, err.message);
            for (int k = 0; k < BATCH_JOBS; k++)
                CHECK(batch_untouched(&b, k) && jobs[k].status == FMO_ERR_ARGUMENT,
                      "NULL %d: job %d was written", what, k);
        }
        const double good = b.density[BAD][0];
        for (int what = 0; what < 2; what++) {
            const size_t at = what ? 1 : 0;
            const double was = b.density[BAD][at];
            fmo_error own[BATCH_JOBS];
            for (int k = 0; k < BATCH_JOBS; k++) {
                own[k].status = FMO_ERR_CHECK; /* is written over */
                b.job[k].err = &own[k];
                b.job[k].status = FMO_ERR_CHECK;
            }
            b.density[BAD][at] = what ? was + 1.0 : NAN; /* not symmetric; not finite */
            batch_poison(&b);
            memset(&err, 0, sizeof err);
            CHECK(fmo_fock_build_batch(b.job, BATCH_JOBS, &err) == FMO_ERR_INPUT &&
                      strstr(err.message, reference) && strstr(err.message, "density"),
                  "bad density: %s", err.message);
            CHECK(batch_untouched(&b, BAD), "the failed job's outputs were written");
            for (int k = 0; k < BATCH_JOBS; k++) {
                const fmo_status expected = k == BAD ? FMO_ERR_INPUT : FMO_OK;
                CHECK(b.job[k].status == expected && own[k].status == expected, "job %d: %s", k,
                      own[k].message);
                if (k != BAD) batch_compare(&b, k, mode, FMO_SCATTER_AUTO, 1e-9);
                b.job[k].err = NULL;
            }
            CHECK(strstr(own[BAD].message, "density") && !strstr(own[BAD].message, reference), "%s",
                  own[BAD].message);
            CHECK(fmo_fock_build_batch(b.job, BATCH_JOBS, NULL) == FMO_ERR_INPUT,
                  "err may be NULL");
            b.density[BAD][at] = was;
        }
        CHECK(b.density[BAD][0] == good, "restored");
        memset(&err, 0, sizeof err);
        batch_poison(&b);
        CHECK(fmo_fock_build_batch(b.job, BATCH_JOBS, &err) == FMO_OK, "afterwards: %s",
              err.message);
        for (int k = 0; k < BATCH_JOBS; k++) batch_compare(&b, k, mode, FMO_SCATTER_AUTO, 1e-9);
    }
    batch_end(&b);
}

#endif
