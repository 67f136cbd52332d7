/* Densities of each symmetry and operators in mode fused, from the host and in GPU memory, against
 * mode reference; and operators in batches and of J of another molecule's density. */
#include "tests/gpu/call.h"
#include "tests/support/decay_checks.h"
#include "tests/support/system.h"

static unsigned long long seed = 515;

/* A matrix with elements in (-1, 1) of the given symmetry. */
static void fill_density(double *D, int n, fmo_symmetry symmetry)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) D[i * n + j] = 2.0 * check_random(&seed) - 1.0;
    for (int i = 0; i < n && symmetry != FMO_GENERAL; i++)
        for (int j = 0; j <= i; j++)
            D[i * n + j] = symmetry == FMO_SYMMETRIC ? D[j * n + i] : i == j ? 0.0 : -D[j * n + i];
}

/* Builds a job for each symmetry, and J alone, K alone and both of further densities. */
enum { JOBS = FMO_SYMMETRY_COUNT + 3 };
static fmo_symmetry symmetry_of(int job)
{
    static const fmo_symmetry of[JOBS] = {FMO_SYMMETRIC, FMO_ANTISYMMETRIC, FMO_GENERAL,
                                          FMO_GENERAL,   FMO_GENERAL,       FMO_SYMMETRIC};
    return of[job];
}

static void set_jobs(fmo_fock_job *jobs, fmo_fock_plan *plan, fmo_operator op, const double *D,
                     double *out, int n)
{
    const size_t size = (size_t)n * n;
    memset(jobs, 0, JOBS * sizeof *jobs);
    for (int k = 0; k < JOBS; k++) {
        jobs[k].plan = plan;
        jobs[k].symmetry = symmetry_of(k);
        jobs[k].density = D + (size_t)k * size;
        /* of J, of K, and of both */
        if (k != JOBS - 1) jobs[k].coulomb_operator = op;
        if (k != FMO_SYMMETRY_COUNT - 1) jobs[k].exchange_operator = op;
        if (k != FMO_SYMMETRY_COUNT) jobs[k].coulomb = out + 2 * (size_t)k * size;
        if (k != FMO_SYMMETRY_COUNT + 1) jobs[k].exchange = out + (2 * (size_t)k + 1) * size;
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

static void compare(const char *label, const double *got, const double *expected, int n,
                    double within)
{
    const size_t size = (size_t)n * n;
    static const char *const names[] = {"symmetric",  "antisymmetric", "general",
                                        "general, K", "general, J",    "symmetric, last"};
    for (int k = 0; k < JOBS; k++) {
        char text[160];
        snprintf(text, sizeof text, "%s, %s", label, names[k]);
        if (k != FMO_SYMMETRY_COUNT)
            check_close(text, got + 2 * k * size, expected + 2 * k * size, size, (size_t)n, within,
                        0.0);
        if (k != FMO_SYMMETRY_COUNT + 1)
            check_close(text, got + (2 * k + 1) * size, expected + (2 * k + 1) * size, size,
                        (size_t)n, within, 0.0);
    }
}

/* Compares builds of random densities with these options with mode reference, from the host and
 * from GPU memory, and repeats them, since the first builds capture graphs. */
static void check(const char *label, const test_system *s, const fmo_fock_options *options,
                  fmo_operator op, double within)
{
    fmo_basis *const basis = system_basis(s);
    const int n = s->aos;
    const size_t size = (size_t)n * n, bytes = JOBS * size * sizeof(double);
    double *const D = (double *)malloc(bytes), *const expected = (double *)calloc(2, bytes),
                  *const got = (double *)calloc(2, bytes), *in = NULL, *out = NULL;
    fmo_fock_options exact;
    fmo_fock_job jobs[JOBS];
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&exact);
    exact.mode = FMO_MODE_REFERENCE;
    exact.cutoff = 0.0;
    for (int k = 0; k < JOBS; k++) fill_density(D + (size_t)k * size, n, symmetry_of(k));
    fmo_fock_plan *const reference = make_plan(basis, &exact), *const plan =
                                                                   make_plan(basis, options);
    set_jobs(jobs, reference, op, D, expected, n);
    if (reference && plan)
        CHECK(fmo_fock_build_batch(jobs, JOBS, &err) == FMO_OK, "%s", err.message);
    for (int again = 0; again < 2 && reference && plan; again++) {
        memset(got, 0xff, 2 * bytes);
        set_jobs(jobs, plan, op, D, got, n);
        CHECK(fmo_fock_build_batch(jobs, JOBS, &err) == FMO_OK, "%s: %s", label, err.message);
        compare(label, got, expected, n, within);
    }
    if (reference && plan && options->device_num < 2) {
        CUDA(cudaMalloc((void **)&in, bytes));
        CUDA(cudaMalloc((void **)&out, 2 * bytes));
        CUDA(cudaMemcpy(in, D, bytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemset(out, 0xff, 2 * bytes));
        set_jobs(jobs, plan, op, in, out, n);
        CHECK(fmo_fock_build_batch_device(jobs, JOBS, &err) == FMO_OK, "%s: %s", label,
              err.message);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(got, out, 2 * bytes, cudaMemcpyDeviceToHost));
        compare(label, got, expected, n, within);
        CUDA(cudaFree(in));
        CUDA(cudaFree(out));
    }
    fmo_fock_plan_destroy(plan);
    fmo_fock_plan_destroy(reference);
    fmo_basis_destroy(basis);
    free(D);
    free(expected);
    free(got);
}

/* J of an operator from the density of another molecule, in modes cpu and fused, and later builds
 * of the same plans. */
static void check_source(const test_system *a, const test_system *b, fmo_scatter scatter,
                         fmo_operator op)
{
    fmo_fock_options o;
    fmo_error err = {FMO_OK, ""};
    fmo_basis *const basis[2] = {system_basis(a), system_basis(b)};
    const size_t n = (size_t)a->aos, m = (size_t)b->aos;
    double *const D = (double *)malloc(m * m * sizeof(double));
    double *const own = random_density((int)n, 1.0, &seed);
    double *const made = (double *)calloc(6 * n * n, sizeof(double));
    fill_density(D, (int)m, FMO_GENERAL);
    for (int mode = 0; mode < 2; mode++) {
        double *const J = made + 3 * (size_t)mode * n * n;
        fmo_fock_options_init(&o);
        o.mode = mode ? FMO_MODE_FUSED : FMO_MODE_CPU;
        o.scatter = mode ? scatter : FMO_SCATTER_AUTO;
        o.cutoff = 0.0;
        fmo_fock_plan *const plan = make_plan(basis[0], &o), *const source =
                                                                 make_plan(basis[1], &o);
        fmo_fock_job job = {};
        job.plan = plan;
        job.source = source;
        job.density = D;
        job.coulomb = J;
        job.symmetry = FMO_GENERAL;
        job.coulomb_operator = op;
        if (plan && source)
            CHECK(fmo_fock_build_batch(&job, 1, &err) == FMO_OK &&
                      fmo_fock_build(plan, own, J + n * n, J + 2 * n * n, &err) == FMO_OK,
                  "source: %s", err.message);
        fmo_fock_plan_destroy(plan);
        fmo_fock_plan_destroy(source);
    }
    const double within = scatter == FMO_SCATTER_FIXED ? 1e-9 : 1e-10;
    check_close("source", made + 3 * n * n, made, n * n, n, within, 0.0);
    check_close("J and K after a source", made + 4 * n * n, made + n * n, 2 * n * n, n, within,
                0.0);
    for (int k = 0; k < 2; k++) fmo_basis_destroy(basis[k]);
    free(D);
    free(own);
    free(made);
}

/* Operators in a batch of small plans, whose builds of 1/r share launches. */
static void check_batch(const test_system *s, fmo_operator op)
{
    enum { PLANS = 16 };
    fmo_fock_options o;
    fmo_fock_plan *plan[PLANS + 1];
    fmo_fock_job jobs[PLANS + 1] = {};
    fmo_error err = {FMO_OK, ""};
    fmo_basis *const basis = system_basis(s);
    const size_t size = (size_t)s->aos * (size_t)s->aos;
    double *const D = random_density(s->aos, 1.0, &seed);
    double *const out = (double *)calloc(2 * (PLANS + 1) * size, sizeof(double));
    for (int k = 0; k <= PLANS; k++) {
        fmo_fock_options_init(&o);
        o.mode = k < PLANS ? FMO_MODE_FUSED : FMO_MODE_REFERENCE;
        o.cutoff = 0.0;
        jobs[k].plan = plan[k] = make_plan(basis, &o);
        jobs[k].density = D;
        jobs[k].coulomb = out + 2 * (size_t)k * size;
        jobs[k].exchange = out + (2 * (size_t)k + 1) * size;
        jobs[k].coulomb_operator = jobs[k].exchange_operator = op;
    }
    CHECK(fmo_fock_build_batch(jobs, PLANS + 1, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < PLANS; k++)
        check_close("operator in a batch", out + 2 * (size_t)k * size, out + 2 * PLANS * size,
                    2 * size, (size_t)s->aos, 1e-10, 0.0);
    for (int k = 0; k <= PLANS; k++) fmo_fock_plan_destroy(plan[k]);
    fmo_basis_destroy(basis);
    free(D);
    free(out);
}

/* Operators with the strategies that have kernels for K of them, with and without screening. */
static void check_operators(const test_system *p, const test_system *d, const test_system *f)
{
    static const fmo_operator operators[] = {
        {0.0, 1.0, 0.1},  {1.0, -1.0, 0.3}, {0.19, 0.46, 0.33}, {1.0, -1.0, 10.0},
        {-0.5, 2.0, 0.1}, {0.0, 1.0, 1.0},  {0.0, 1.0, 10.0},   {1.0, -1.0, 1.0}};
    static const fmo_scatter scatters[] = {FMO_SCATTER_AUTO, FMO_SCATTER_SEGMENTED,
                                           FMO_SCATTER_FIXED};
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    int number = 0;
    for (const fmo_operator &of : operators)
        for (const fmo_scatter scatter : scatters) {
            if (number++ % 4 && scatter == FMO_SCATTER_SEGMENTED) continue;
            const double within = scatter == FMO_SCATTER_FIXED ? 1e-9 : 1e-10;
            o.scatter = scatter;
            o.cutoff = 0.0;
            check("operator", p, &o, of, within);
            check("operator", d, &o, of, within);
            check("operator", f, &o, of, within);
            o.cutoff = 1e-10;
            check("operator, cutoff", p, &o, of, 1e-8);
            check("operator, cutoff", d, &o, of, 1e-8);
        }
    for (int k = 0; k < 2; k++) {
        check_batch(k ? d : p, operators[1 + k]);
        check_source(p, k ? d : p, FMO_SCATTER_AUTO, operators[k]);
        check_source(d, p, FMO_SCATTER_FIXED, operators[4 - k]);
    }
    static const fmo_operator coulomb = {1.0, 0.0, 0.0};
    check_source(p, f, FMO_SCATTER_FIXED, coulomb);
}

static int has_high_l_kernels(fmo_scatter scatter)
{
    return scatter == FMO_SCATTER_AUTO || scatter == FMO_SCATTER_NATIVE ||
           scatter == FMO_SCATTER_SEGMENTED || scatter == FMO_SCATTER_FIXED ||
           scatter == FMO_SCATTER_REPLICATED;
}

/* Every strategy, stored integrals and two GPUs, for s and p shells, with d and with f shells.
 */
int main(void)
{
    static const fmo_operator coulomb = {0.0, 0.0, 0.0}, short_range = {1.0, -1.0, 0.3};
    static const int kinds[4] = {3, 2, 1, 2};
    static test_system p, d, f;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    system_random_each(&p, &d, &f, kinds, &seed);
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    o.cutoff = 0.0;
    for (int scatter = 0; scatter < FMO_SCATTER_COUNT; scatter++) {
        o.scatter = (fmo_scatter)scatter;
        if (!fmo_scatter_is_built(o.scatter, FMO_COMMIT_NATIVE)) continue;
        if (o.scatter == FMO_SCATTER_TILE) continue; /* refused (accumulate/requests.c) */
        check(fmo_scatter_name(o.scatter), &p, &o, coulomb, 1e-10);
        if (has_high_l_kernels(o.scatter))
            check(fmo_scatter_name(o.scatter), &d, &o, coulomb, 1e-10);
    }
    check_operators(&p, &d, &f);
    o.scatter = FMO_SCATTER_AUTO;
    o.cutoff = 1e-10;
    o.coulomb =
        FMO_COULOMB_BOXES; /* s and p shells: data that the decay needs, also of little work */
    decay_check(&o, 60, 0, 1.0, &seed);
    o.coulomb = FMO_COULOMB_AUTO;
    decay_check(&o, 20, 2, 0.5, &seed);
    decay_check(&o, 14, 3, 1.0, &seed);
    o.scatter = FMO_SCATTER_FIXED;
    decay_check(&o, 14, 2, 2.0, &seed);
    o.cutoff = 0.0;
    o.scatter = FMO_SCATTER_AUTO;
    o.integrals = FMO_INTEGRALS_STORED;
    check("stored", &p, &o, coulomb, 1e-10);
    check("stored, operator", &p, &o, short_range, 1e-10);
    o.integrals = FMO_INTEGRALS_DIRECT;
    if (fmo_gpu_num() > 1) {
        o.device_num = 2;
        o.devices[1] = 1;
        check("two GPUs", &p, &o, coulomb, 1e-10);
        check("two GPUs", &d, &o, coulomb, 1e-10);
        check("two GPUs", &f, &o, coulomb, 1e-10);
        check("two GPUs, operator", &p, &o, short_range, 1e-10);
        check("two GPUs, operator", &d, &o, short_range, 1e-10);
        check("two GPUs, operator", &f, &o, short_range, 1e-10);
        o.scatter = FMO_SCATTER_FIXED;
        o.integrals = FMO_INTEGRALS_STORED;
        check("two GPUs, fixed, stored, operator", &p, &o, short_range, 1e-9);
    }
    return check_summary();
}
