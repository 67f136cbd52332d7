/* J alone, K alone, several densities of one molecule, J of another molecule's density. For any
 * mode; shared by accumulate_terms and gpu_terms. */
#ifndef FMO_TERMS_CHECKS_H
#define FMO_TERMS_CHECKS_H

#include "tests/support/system.h"

enum { TERMS_DENSITIES = 11 }; /* more than are built together */

/* A molecule with densities and a plan, and J and K of each density, built one by one. */
typedef struct terms_case {
    int n;
    size_t size;
    fmo_basis *basis;
    fmo_fock_plan *plan;
    double *D[TERMS_DENSITIES], *J[TERMS_DENSITIES], *K[TERMS_DENSITIES];
    double *out_J, *out_K;
} terms_case;

static inline double *terms_alloc(size_t size)
{
    return (double *)malloc(size * sizeof(double));
}

/* A plan of a system, and J and K of several densities, each from a build of its own; 0 if that
 * failed. */
static inline int terms_begin(terms_case *c, const test_system *s, const fmo_fock_options *o,
                              int densities, unsigned long long *seed)
{
    fmo_error err = {FMO_OK, ""};
    memset(c, 0, sizeof *c);
    c->basis = system_basis(s);
    if (!c->basis) return 0;
    c->n = fmo_basis_ao_num(c->basis);
    c->size = (size_t)c->n * (size_t)c->n;
    c->out_J = terms_alloc(c->size);
    c->out_K = terms_alloc(c->size);
    fmo_status status = fmo_fock_plan_create(c->basis, o, &c->plan, &err);
    for (int d = 0; d < densities && status == FMO_OK; d++) {
        c->D[d] = random_density(c->n, 0.5 + 0.2 * d, seed);
        c->J[d] = terms_alloc(c->size);
        c->K[d] = terms_alloc(c->size);
        status = fmo_fock_build(c->plan, c->D[d], c->J[d], c->K[d], &err);
    }
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

static inline void terms_end(terms_case *c)
{
    for (int d = 0; d < TERMS_DENSITIES; d++) {
        free(c->D[d]);
        free(c->J[d]);
        free(c->K[d]);
    }
    free(c->out_J);
    free(c->out_K);
    fmo_fock_plan_destroy(c->plan);
    fmo_basis_destroy(c->basis);
}

/* Quartets of the plan's last build. */
static inline int64_t terms_quartets(const fmo_fock_plan *plan)
{
    fmo_fock_profile profile;
    int64_t sum = 0;
    if (fmo_fock_plan_profile(plan, &profile, NULL) != FMO_OK) return -1;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) sum += profile.classes[c].quartets;
    return sum;
}

/* J alone and K alone are those of a build of both, with no more quartets, and a later build of
 * both is right. */
static inline void terms_check_alone(const test_system *s, const fmo_fock_options *o,
                                     double tolerance, unsigned long long *seed)
{
    terms_case c;
    fmo_error err = {FMO_OK, ""};
    if (terms_begin(&c, s, o, 1, seed)) {
        const int64_t both = terms_quartets(c.plan);
        memset(c.out_J, 0xff, c.size * sizeof *c.out_J);
        CHECK(fmo_fock_build(c.plan, c.D[0], c.out_J, NULL, &err) == FMO_OK, "%s", err.message);
        check_close("J alone", c.out_J, c.J[0], c.size, (size_t)c.n, tolerance, 0.0);
        CHECK(terms_quartets(c.plan) <= both, "J alone has more quartets than J and K");
        memset(c.out_K, 0xff, c.size * sizeof *c.out_K);
        CHECK(fmo_fock_build(c.plan, c.D[0], NULL, c.out_K, &err) == FMO_OK, "%s", err.message);
        check_close("K alone", c.out_K, c.K[0], c.size, (size_t)c.n, tolerance, 0.0);
        CHECK(terms_quartets(c.plan) <= both, "K alone has more quartets than J and K");
        memset(c.out_J, 0xff, c.size * sizeof *c.out_J);
        CHECK(fmo_fock_build(c.plan, c.D[0], c.out_J, c.out_K, &err) == FMO_OK, "%s", err.message);
        check_close("J after J alone", c.out_J, c.J[0], c.size, (size_t)c.n, tolerance, 0.0);
        CHECK(fmo_fock_build(c.plan, c.D[0], NULL, NULL, &err) == FMO_ERR_ARGUMENT,
              "nothing requested: %s", err.message);
    }
    terms_end(&c);
}

/* All densities in one call; some jobs request J or K alone, and one density is invalid. */
static inline void terms_check_densities(const test_system *s, const fmo_fock_options *o,
                                         double tolerance, unsigned long long *seed)
{
    terms_case c;
    fmo_fock_job job[TERMS_DENSITIES];
    fmo_error err = {FMO_OK, ""};
    double *out[2][TERMS_DENSITIES];
    memset(job, 0, sizeof job);
    memset(out, 0, sizeof out);
    if (terms_begin(&c, s, o, TERMS_DENSITIES, seed)) {
        for (int d = 0; d < TERMS_DENSITIES; d++) {
            for (int m = 0; m < 2; m++) {
                out[m][d] = terms_alloc(c.size);
                memset(out[m][d], 0xff, c.size * sizeof(double));
            }
            job[d].plan = c.plan;
            job[d].density = c.D[d];
            job[d].coulomb = d == 4 ? NULL : out[0][d];
            job[d].exchange = d == 2 || d == 6 ? NULL : out[1][d];
        }
        CHECK(fmo_fock_build_batch(job, TERMS_DENSITIES, &err) == FMO_OK, "%s", err.message);
        for (int d = 0; d < TERMS_DENSITIES; d++) {
            CHECK(job[d].status == FMO_OK, "job %d: status %d", d, (int)job[d].status);
            if (job[d].coulomb)
                check_close("J of several", out[0][d], c.J[d], c.size, (size_t)c.n, tolerance, 0.0);
            if (job[d].exchange)
                check_close("K of several", out[1][d], c.K[d], c.size, (size_t)c.n, tolerance, 0.0);
        }
        c.D[3][1] += 1.0; /* not symmetric */
        memset(out[0][3], 0, c.size * sizeof(double));
        CHECK(fmo_fock_build_batch(job, TERMS_DENSITIES, &err) == FMO_ERR_INPUT &&
                  strstr(err.message, "job 3: density"),
              "a bad density among others: %s", err.message);
        for (int d = 0; d < TERMS_DENSITIES; d++)
            CHECK(job[d].status == (d == 3 ? FMO_ERR_INPUT : FMO_OK), "job %d: status %d", d,
                  (int)job[d].status);
        CHECK(out[0][3][0] == 0.0, "a failed job's J was written");
    }
    for (int d = 0; d < TERMS_DENSITIES; d++) {
        free(out[0][d]);
        free(out[1][d]);
    }
    terms_end(&c);
}

/* A system of both molecules, with the functions of b after those of a. */
static inline void terms_join(const test_system *a, const test_system *b, test_system *ab)
{
    *ab = *a;
    ab->cartesian = a->cartesian || b->cartesian; /* where both have d shells, of one form */
    for (int k = 0; k < b->nuclei; k++)
        system_add_atom(ab, b->coord[3 * k], b->coord[3 * k + 1], b->coord[3 * k + 2]);
    for (int k = 0; k < b->shells; k++) {
        ab->nucleus[a->shells + k] = a->nuclei + b->nucleus[k];
        ab->ang_mom[a->shells + k] = b->ang_mom[k];
    }
    ab->shells += b->shells;
    for (int k = 0; k < b->prims; k++, ab->prims++) {
        ab->prim_shell[ab->prims] = a->shells + b->prim_shell[k];
        ab->exponent[ab->prims] = b->exponent[k];
        ab->coefficient[ab->prims] = b->coefficient[k];
    }
    for (int k = 0; k < b->aos; k++, ab->aos++) {
        ab->ao_shell[ab->aos] = a->shells + b->ao_shell[k];
        ab->ao_component[ab->aos] = b->ao_component[k];
        ab->ao_factor[ab->aos] = b->ao_factor[k];
    }
}

/* Requests with a source that are refused: K, a source of another mode, matrices in GPU memory. */
static inline void terms_check_refused_sources(const terms_case *A, const terms_case *B,
                                               const terms_case *AB)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_job job;
    memset(&job, 0, sizeof job);
    job.plan = A->plan;
    job.source = B->plan;
    job.density = B->D[0];
    job.coulomb = A->out_J;
    job.exchange = A->out_K;
    memset(&err, 0, sizeof err);
    CHECK(fmo_fock_build_batch(&job, 1, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "exchange must be NULL"),
          "K of a source: %s", err.message);
    job.exchange = NULL;
    job.source = AB->plan;
    job.density = AB->D[0];
    memset(&err, 0, sizeof err);
    CHECK(fmo_fock_build_batch(&job, 1, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "same mode"),
          "a source of another mode: %s", err.message);
    job.plan = AB->plan;
    memset(&err, 0, sizeof err);
    CHECK(fmo_fock_build_batch_device(&job, 1, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "source"),
          "a source on the device: %s", err.message);
}

/* J of b's density in a's functions is a's block of J of both together, by mode reference; and the
 * interaction of two densities is the same seen from either side. */
static inline void terms_check_source(const test_system *a, const test_system *b,
                                      const fmo_fock_options *o, double tolerance,
                                      unsigned long long *seed)
{
    static test_system ab;
    terms_case A, B, AB;
    fmo_fock_options reference;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&reference);
    reference.mode = FMO_MODE_REFERENCE;
    terms_join(a, b, &ab);
    memset(&B, 0, sizeof B);
    memset(&AB, 0, sizeof AB);
    const int made = terms_begin(&A, a, o, 2, seed) && terms_begin(&B, b, o, 2, seed) &&
                     terms_begin(&AB, &ab, &reference, 1, seed);
    for (int d = 0; d < 2 && made; d++) {
        const size_t n = (size_t)AB.n, na = (size_t)A.n, nb = (size_t)B.n;
        memset(AB.D[0], 0, AB.size * sizeof(double));
        for (size_t i = 0; i < nb; i++)
            memcpy(AB.D[0] + (na + i) * n + na, B.D[d] + i * nb, nb * sizeof(double));
        CHECK(fmo_fock_build(AB.plan, AB.D[0], AB.out_J, NULL, &err) == FMO_OK, "%s", err.message);
        for (size_t i = 0; i < na; i++)
            memcpy(A.out_K + i * na, AB.out_J + i * n, na * sizeof(double));
        memset(A.out_J, 0xff, A.size * sizeof(double));
        memset(B.out_J, 0xff, B.size * sizeof(double));
        fmo_fock_job job[2];
        memset(job, 0, sizeof job);
        job[0].plan = A.plan;
        job[0].source = B.plan;
        job[0].density = B.D[d];
        job[0].coulomb = A.out_J;
        job[1].plan = B.plan;
        job[1].source = A.plan;
        job[1].density = A.D[d];
        job[1].coulomb = B.out_J;
        CHECK(fmo_fock_build_batch(job, 2, &err) == FMO_OK, "%s", err.message);
        check_close("J of a source", A.out_J, A.out_K, A.size, na, tolerance, 0.0);
        double seen[2] = {0.0, 0.0};
        for (size_t x = 0; x < A.size; x++) seen[0] += A.out_J[x] * A.D[d][x];
        for (size_t x = 0; x < B.size; x++) seen[1] += B.out_J[x] * B.D[d][x];
        CHECK(fabs(seen[0] - seen[1]) <= tolerance * (double)(A.size + B.size),
              "two densities: %.15g seen from one, %.15g from the other", seen[0], seen[1]);
        /* the plans build their own as before */
        CHECK(fmo_fock_build(A.plan, A.D[d], A.out_J, A.out_K, &err) == FMO_OK, "%s", err.message);
        check_close("J after a source", A.out_J, A.J[d], A.size, na, tolerance, 0.0);
        check_close("K after a source", A.out_K, A.K[d], A.size, na, tolerance, 0.0);
        /* its own source: the same as none */
        job[0].source = A.plan;
        job[0].density = A.D[d];
        CHECK(fmo_fock_build_batch(job, 1, &err) == FMO_OK, "%s", err.message);
        check_close("J of itself", A.out_J, A.J[d], A.size, na, tolerance, 0.0);
    }
    if (made) terms_check_refused_sources(&A, &B, &AB);
    terms_end(&A);
    terms_end(&B);
    terms_end(&AB);
}

#endif
