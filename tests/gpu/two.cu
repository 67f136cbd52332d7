/* Several densities of one plan in mode fused, K of two of them in one pass: compared with builds
 * of one density each and with mode cpu, from the host and in GPU memory. */
#include "tests/gpu/call.h"
#include "tests/support/system.h"

static unsigned long long seed = 4711;

/* The densities of a case; SUM, ALPHA and BETA are symmetric. */
enum { SUM, ALPHA, BETA, ANTISYMMETRIC, GENERAL, DENSITIES };

/* What a job requests of a density. */
typedef struct request {
    int density;
    bool J, K;
} request;

enum { JOBS_MAX = 5 };
typedef struct requests {
    const char *name;
    int num;
    request job[JOBS_MAX];
    int together; /* jobs built in one pass at the end of the call */
} requests;

static const requests all_requests[] = {
    {"spins", 3, {{SUM, true, false}, {ALPHA, false, true}, {BETA, false, true}}, 3},
    {"K of two", 2, {{ALPHA, false, true}, {BETA, false, true}}, 2},
    {"J and K of two", 2, {{ALPHA, true, true}, {BETA, true, true}}, 2},
    {"J after K", 3, {{BETA, false, true}, {GENERAL, true, false}, {ALPHA, true, true}}, 3},
    {"two symmetries", 2, {{ANTISYMMETRIC, true, true}, {BETA, true, true}}, 2},
    {"general", 2, {{ALPHA, true, true}, {GENERAL, true, true}}, 1},
    {"three", 3, {{SUM, true, true}, {ALPHA, true, true}, {BETA, true, true}}, 1},
    {"five",
     5,
     {{SUM, true, true},
      {ALPHA, false, true},
      {BETA, true, true},
      {GENERAL, false, true},
      {SUM, true, false}},
     1},
};

/* A system with a plan, mode cpu's, and matrices. */
typedef struct test_case {
    const char *label;
    int n;
    size_t size;
    fmo_fock_plan *plan, *cpu;
    double *D, *single, *exact, *got; /* [DENSITIES]; J and K of [JOBS_MAX] */
    double *device_D, *device_out;
    double within;
    bool one_pass,
        bits; /* K of two densities is built in one pass; bits are those of single builds */
} test_case;

/* Fills in the jobs of a request. */
static void set_jobs(const test_case *c, const requests *r, fmo_fock_plan *plan, const double *D,
                     double *out, fmo_fock_job *jobs)
{
    memset(jobs, 0, JOBS_MAX * sizeof *jobs);
    for (int k = 0; k < r->num; k++) {
        const request *of = &r->job[k];
        jobs[k].plan = plan;
        jobs[k].density = D + (size_t)of->density * c->size;
        jobs[k].symmetry = of->density == ANTISYMMETRIC ? FMO_ANTISYMMETRIC
                           : of->density == GENERAL     ? FMO_GENERAL
                                                        : FMO_SYMMETRIC;
        if (of->J) jobs[k].coulomb = out + 2 * (size_t)k * c->size;
        if (of->K) jobs[k].exchange = out + (2 * (size_t)k + 1) * c->size;
    }
}

/* Compares J and K of all jobs; bits: they are equal bit for bit. */
static void compare(const test_case *c, const requests *r, const char *how, const double *expected,
                    double within, bool bits)
{
    for (int k = 0; k < r->num; k++)
        for (int m = 0; m < 2; m++) {
            if (!(m ? r->job[k].K : r->job[k].J)) continue;
            const size_t at = (2 * (size_t)k + (size_t)m) * c->size;
            char text[160];
            snprintf(text, sizeof text, "%s, %s, %s, %c of job %d", c->label, r->name, how,
                     m ? 'K' : 'J', k);
            check_close(text, c->got + at, expected + at, c->size, (size_t)c->n, within, 0.0);
            if (bits)
                CHECK(!memcmp(c->got + at, expected + at, c->size * sizeof(double)), "%s: bits",
                      text);
        }
}

/* Builds the jobs of a request alone, by mode cpu, together from the host, and together in GPU
 * memory; the latter twice, since the first builds capture graphs. */
static void check_requests(const test_case *c, const requests *r)
{
    fmo_fock_job jobs[JOBS_MAX];
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    const size_t out = 2 * JOBS_MAX * c->size * sizeof(double);
    set_jobs(c, r, c->plan, c->D, c->single, jobs);
    for (int k = 0; k < r->num; k++)
        CHECK(fmo_fock_build_batch(&jobs[k], 1, &err) == FMO_OK, "%s: %s", c->label, err.message);
    set_jobs(c, r, c->cpu, c->D, c->exact, jobs);
    CHECK(fmo_fock_build_batch(jobs, (size_t)r->num, &err) == FMO_OK, "%s", err.message);
    for (int again = 0; again < 2; again++) {
        memset(c->got, 0xff, out);
        set_jobs(c, r, c->plan, c->D, c->got, jobs);
        CHECK(fmo_fock_build_batch(jobs, (size_t)r->num, &err) == FMO_OK, "%s: %s", c->label,
              err.message);
        compare(c, r, "alone", c->single, c->within, c->bits);
        compare(c, r, "cpu", c->exact, c->within, false);
        if (fmo_fock_plan_profile(c->plan, &profile, &err) == FMO_OK)
            CHECK(profile.densities == (c->one_pass ? r->together : 1),
                  "%s, %s: %d jobs in one pass", c->label, r->name, profile.densities);
    }
    for (int again = 0; again < 2; again++) {
        CUDA(cudaMemset(c->device_out, 0xff, out));
        set_jobs(c, r, c->plan, c->device_D, c->device_out, jobs);
        CHECK(fmo_fock_build_batch_device(jobs, (size_t)r->num, &err) == FMO_OK, "%s: %s", c->label,
              err.message);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(c->got, c->device_out, out, cudaMemcpyDeviceToHost));
        compare(c, r, "in GPU memory", c->single, c->within, c->bits);
    }
}

/* Makes a plan, or NULL. */
static fmo_fock_plan *make_plan(const fmo_basis *basis, const fmo_fock_options *o)
{
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_fock_plan_create(basis, o, &plan, &err) == FMO_OK, "%s", err.message);
    return plan;
}

/* Makes the densities of a case; beta is factor times a random one, or alpha if factor is 1. */
static void fill_densities(const test_case *c, double factor)
{
    const size_t n = (size_t)c->n;
    double *const D = c->D, *const a = D + ALPHA * c->size, *const b = D + BETA * c->size;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            a[i * n + j] = a[j * n + i] = check_random(&seed) - 0.5;
            const double other = factor * (check_random(&seed) - 0.5);
            b[i * n + j] = b[j * n + i] = factor == 1.0 ? a[i * n + j] : other;
        }
    for (size_t x = 0; x < c->size; x++) {
        D[x] = a[x] + b[x];
        D[GENERAL * c->size + x] = check_random(&seed) - 0.5;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            D[ANTISYMMETRIC * c->size + i * n + j] =
                D[GENERAL * c->size + i * n + j] - D[GENERAL * c->size + j * n + i];
    CUDA(cudaMemcpy(c->device_D, D, DENSITIES * c->size * sizeof(double), cudaMemcpyHostToDevice));
}

/* Builds densities for which a new plan makes its pairs, and its matrices, again; alone they find
 * these. */
static void check_large(test_case *c, const fmo_basis *basis, const fmo_fock_options *options)
{
    const requests *const r = &all_requests[0];
    fmo_fock_job jobs[JOBS_MAX];
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan_destroy(c->plan);
    c->plan = make_plan(basis, options);
    for (size_t x = 0; x < DENSITIES * c->size; x++) c->D[x] *= 100.0;
    set_jobs(c, r, c->plan, c->D, c->got, jobs);
    if (!c->plan) return;
    CHECK(fmo_fock_build_batch(jobs, (size_t)r->num, &err) == FMO_OK, "%s: %s", c->label,
          err.message);
    set_jobs(c, r, c->plan, c->D, c->single, jobs);
    for (int k = 0; k < r->num; k++)
        CHECK(fmo_fock_build_batch(&jobs[k], 1, &err) == FMO_OK, "%s: %s", c->label, err.message);
    compare(c, r, "large", c->single, 1e3 * c->within, false);
}

/* Checks all requests of a system, for strategy auto with alpha and beta alike, different, and of
 * different size. */
static void check(const char *label, const test_system *s, const fmo_fock_options *options,
                  double within, bool one_pass, bool bits)
{
    static const double factors[] = {0.7, 1.0, 0.0, 1e-7};
    fmo_basis *const basis = system_basis(s);
    test_case c = {label, fmo_basis_ao_num(basis)};
    fmo_fock_options cpu = *options;
    cpu.mode = FMO_MODE_CPU;
    cpu.scatter = FMO_SCATTER_AUTO;
    cpu.coulomb = FMO_COULOMB_AUTO;
    cpu.integrals = FMO_INTEGRALS_DIRECT;
    c.size = (size_t)c.n * (size_t)c.n;
    c.plan = make_plan(basis, options);
    c.cpu = make_plan(basis, &cpu);
    const size_t in = DENSITIES * c.size * sizeof(double), out = 2 * JOBS_MAX * c.size;
    c.D = (double *)malloc(in);
    c.single = (double *)malloc(3 * out * sizeof(double));
    c.exact = c.single + out;
    c.got = c.exact + out;
    c.within = within;
    c.one_pass = one_pass;
    c.bits = bits;
    CUDA(cudaMalloc((void **)&c.device_D, in));
    CUDA(cudaMalloc((void **)&c.device_out, out * sizeof(double)));
    for (int f = 0; f < (options->scatter == FMO_SCATTER_AUTO ? 4 : 1) && c.plan && c.cpu; f++) {
        fill_densities(&c, factors[f]);
        for (const requests &r : all_requests) check_requests(&c, &r);
        if (factors[f] != 1.0) continue;
        check_requests(&c, &all_requests[0]); /* `got` has K of alpha, then that of beta */
        check_close("K of equal densities", c.got + 3 * c.size, c.got + 5 * c.size, c.size,
                    (size_t)c.n, 1e-13, 1e-13);
    }
    if (one_pass && c.plan) check_large(&c, basis, options);
    CUDA(cudaFree(c.device_D));
    CUDA(cudaFree(c.device_out));
    free(c.D);
    free(c.single);
    fmo_fock_plan_destroy(c.plan);
    fmo_fock_plan_destroy(c.cpu);
    fmo_basis_destroy(basis);
}

/* A chain, whose ends are far from each other. */
static void make_chain(test_system *s, int atoms)
{
    memset(s, 0, sizeof *s);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, 3.0 * a, 0.7 * (a % 3), 0.4 * (a % 2));
        system_add_shell(s, 0, 6, &seed);
        system_add_shell(s, 0, 3, &seed);
        system_add_partner(s, &seed);
    }
}

/* Strategies with one pass, and options without; s and p, d and f shells; far quartets. */
int main(void)
{
    static const int kinds[4] = {2, 2, 1, 2};
    static const fmo_scatter one_pass[] = {FMO_SCATTER_AUTO, FMO_SCATTER_NATIVE,
                                           FMO_SCATTER_SEGMENTED, FMO_SCATTER_REPLICATED};
    static test_system p, d, f, chain;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    system_random_each(&p, &d, &f, kinds, &seed);
    make_chain(&chain, 20);
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    for (const fmo_scatter scatter : one_pass) {
        o.scatter = scatter;
        o.cutoff = 0.0;
        check("s, p", &p, &o, 1e-10, true, false);
        check("d", &d, &o, 1e-10, true, false);
        if (scatter == FMO_SCATTER_AUTO) check("f", &f, &o, 1e-10, true, false);
        o.cutoff = 1e-10;
        check("d, cutoff", &d, &o, 1e-8, true, false);
    }
    o.scatter = FMO_SCATTER_AUTO;
    check("chain", &chain, &o, 2e-8, true, false);
    o.coulomb = FMO_COULOMB_BOXES;
    check("chain, boxes", &chain, &o, 2e-8, true, false);
    o.coulomb = FMO_COULOMB_AUTO;
    o.integrals = FMO_INTEGRALS_STORED;
    check("stored", &p, &o, 1e-8, false, false);
    o.integrals = FMO_INTEGRALS_DIRECT;
    o.scatter = FMO_SCATTER_FIXED;
    check("fixed", &p, &o, 1e-8, false, true);
    check("fixed, d", &d, &o, 1e-8, false, true);
    return check_summary();
}
