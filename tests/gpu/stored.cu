/* Integrals stored on the GPU: every strategy and several densities against direct builds and mode
 * cpu, quartets and additions included; `fixed` bit for bit; densities that are too large for the
 * pairs; memory limits; batches and GPU pointers. FMO_TEST_SMALL=1: fewer cases,
 * for compute-sanitizer. */
#include <cuda_runtime.h>
#include <fmo/dataset.h>

#include "tests/gpu/call.h"
#include "tests/support/shipped.h"
#include "tests/support/system.h"

static unsigned long long seed = 4711;
static bool small_run;

typedef struct setting {
    fmo_mode mode;
    fmo_integrals integrals;
    fmo_scatter scatter;
    fmo_commit commit;
    double cutoff;
    size_t memory;
    int measure;
} setting;

static fmo_status make_plan(const fmo_basis *basis, const setting *s, fmo_fock_plan **plan,
                            fmo_error *err)
{
    fmo_fock_options o;
    memset(err, 0, sizeof *err);
    fmo_fock_options_init(&o);
    o.mode = s->mode;
    o.integrals = s->integrals;
    o.scatter = s->scatter;
    o.commit = s->commit;
    o.cutoff = s->cutoff;
    o.memory = s->memory;
    o.measure_accumulation = s->measure;
    o.threads = 2;
    return fmo_fock_plan_create(basis, &o, plan, err);
}

static fmo_fock_plan *plan_of(const char *label, const fmo_basis *basis, const setting *s)
{
    fmo_fock_plan *plan = NULL;
    fmo_error err;
    CHECK(make_plan(basis, s, &plan, &err) == FMO_OK, "%s: %s", label, err.message);
    return plan;
}

/* Builds J and K into JK, whose elements are NaN before. */
static bool build(const char *label, fmo_fock_plan *plan, const double *D, double *JK, size_t size,
                  fmo_fock_profile *profile)
{
    fmo_error err = {FMO_OK, ""};
    memset(JK, 0xff, 2 * size * sizeof *JK);
    const bool good = plan && fmo_fock_build(plan, D, JK, JK + size, &err) == FMO_OK &&
                      (!profile || fmo_fock_plan_profile(plan, profile, &err) == FMO_OK);
    CHECK(good, "%s: %s", label, err.message);
    return good;
}

/* Which quartets a density leaves does not depend on where integrals come from; of those, direct
 * builds keep far ones out of K where a bound by distance allows it
 * (docs/explanation/screening.md).
 */
static void compare_profiles(const char *label, const fmo_fock_profile *stored,
                             const fmo_fock_profile *direct, bool measured)
{
    CHECK(stored->integrals == FMO_INTEGRALS_STORED && direct->integrals == FMO_INTEGRALS_DIRECT,
          "%s: integrals are reported as %s, and %s", label, fmo_integrals_name(stored->integrals),
          fmo_integrals_name(direct->integrals));
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const fmo_class_profile *a = &stored->classes[c], *b = &direct->classes[c];
        const char *name = fmo_eri_class_name((fmo_eri_class)c);
        CHECK(a->quartets == b->quartets && a->quartets_skipped == b->quartets_skipped &&
                  a->prim_quartets == b->prim_quartets,
              "%s %s: %lld quartets of %lld primitives, direct %lld of %lld", label, name,
              (long long)a->quartets, (long long)a->prim_quartets, (long long)b->quartets,
              (long long)b->prim_quartets);
        CHECK(a->adds >= b->adds && a->adds <= 2 * b->adds, "%s %s: %lld adds, direct %lld", label,
              name, (long long)a->adds, (long long)b->adds);
        CHECK(a->adds_issued <= a->adds && (a->adds == 0 || a->adds_issued > 0),
              "%s %s: %lld adds, %lld issued", label, name, (long long)a->adds,
              (long long)a->adds_issued);
        CHECK(!measured || (a->seconds >= 0.0 && a->compute_seconds >= 0.0), "%s %s: no time",
              label, name);
    }
}

/* Does `fixed` lack the resolution for this density? Then with kept integrals too, in both plans,
 * whose pairs follow the largest density they have seen. */
static bool too_large(const char *label, fmo_fock_plan *const stored[2], fmo_fock_plan *direct,
                      const double *D, double *JK, size_t size)
{
    if (fmo_fock_build(direct, D, JK, JK + size, NULL) != FMO_ERR_INPUT) return false;
    for (int plan = 0; plan < 2; plan++)
        CHECK(fmo_fock_build(stored[plan], D, JK, JK + size, NULL) == FMO_ERR_INPUT,
              "%s: not refused", label);
    return true;
}

/* Compares J and K of a plan that stores integrals with those of a plan that recomputes them and of
 * mode cpu, for densities of several sizes. The plan is made for densities up to 8: the larger
 * ones, 10 and 100, force it to make its pairs and stored integrals again. given: the first
 * density, or NULL for a random one. */
static void check_strategy(const char *name, const fmo_basis *basis, const double *given,
                           double cutoff, fmo_scatter scatter, fmo_commit commit, int measure)
{
    static const double sizes[] = {1.0, 0.01, 7.0, 1e-6, 10.0, 100.0, 3.0, 0.0};
    const int densities = small_run ? 2 : (int)(sizeof sizes / sizeof *sizes);
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    setting s = {FMO_MODE_FUSED, FMO_INTEGRALS_STORED, scatter, commit, cutoff, 0, measure};
    double *const stored = (double *)malloc(6 * size * sizeof *stored);
    double *const direct = stored + 2 * size, *const cpu = stored + 4 * size;
    char label[200];
    double largest_norm = 1.0; /* the largest norm of a function */
    for (int i = 0; i < n; i++) largest_norm = fmax(largest_norm, fmo_basis_ao_norm(basis)[i]);
    snprintf(label, sizeof label, "%s, cutoff %g, %s/%s", name, cutoff, fmo_scatter_name(scatter),
             fmo_commit_name(commit));
    fmo_fock_plan *const kept = plan_of(label, basis, &s);
    fmo_fock_plan *const twin = scatter == FMO_SCATTER_FIXED ? plan_of(label, basis, &s) : NULL;
    s.integrals = FMO_INTEGRALS_DIRECT;
    fmo_fock_plan *const plain = plan_of(label, basis, &s);
    s.mode = FMO_MODE_CPU;
    s.scatter = FMO_SCATTER_AUTO;
    fmo_fock_plan *const host = plan_of(label, basis, &s);
    for (int d = 0; d < densities; d++) {
        fmo_fock_profile a, b;
        double *D = random_density(n, sizes[d], &seed), largest = 1.0;
        if (d == 0 && given) memcpy(D, given, size * sizeof *D);
        snprintf(label, sizeof label, "%s, cutoff %g, %s/%s, density %d", name, cutoff,
                 fmo_scatter_name(scatter), fmo_commit_name(commit), d);
        fmo_fock_plan *const both[2] = {kept, twin};
        const bool skip = scatter == FMO_SCATTER_FIXED && kept && twin && plain &&
                          too_large(label, both, plain, D, direct, size);
        if (!skip && build(label, kept, D, stored, size, &a) &&
            build(label, plain, D, direct, size, &b) && build(label, host, D, cpu, size, NULL)) {
            for (size_t x = 0; x < 2 * size; x++) largest = fmax(largest, fabs(cpu[x]));
            /* all quartets: only the order of sums differs; random densities do not decay, so
             * that what screening leaves out grows with the system */
            const double one = cutoff == 0.0 ? 0.0 : n > 60 ? 1e-7 : 1e-8; /* for norm 1 */
            const double screened = one * largest_norm * largest_norm;
            const double tolerance = fmax(screened, 1e-12 * largest);
            check_close(label, stored, direct, 2 * size, (size_t)n, tolerance, 0.0);
            check_close(label, stored, cpu, 2 * size, (size_t)n, tolerance, 0.0);
            compare_profiles(label, &a, &b, measure);
            if (scatter == FMO_SCATTER_FIXED) {
                if (build(label, kept, D, direct, size, NULL))
                    CHECK(!memcmp(stored, direct, 2 * size * sizeof *stored),
                          "%s: other bits in the next build", label);
                if (build(label, twin, D, direct, size, NULL))
                    CHECK(!memcmp(stored, direct, 2 * size * sizeof *stored),
                          "%s: other bits with another plan", label);
            }
        }
        free(D);
    }
    fmo_fock_plan_destroy(kept);
    fmo_fock_plan_destroy(twin);
    fmo_fock_plan_destroy(plain);
    fmo_fock_plan_destroy(host);
    free(stored);
}

static void check_strategies(const char *name, const fmo_basis *basis, const double *given)
{
    const int n = fmo_basis_ao_num(basis);
    for (int s = FMO_SCATTER_AUTO; s < FMO_SCATTER_COUNT; s++) {
        const fmo_scatter scatter = (fmo_scatter)s;
        if (scatter == FMO_SCATTER_TILE) continue; /* check_limits */
        if (scatter == FMO_SCATTER_BLOCK_SHARED && (n > 60 || small_run)) continue;
        for (int c = 0; c < FMO_COMMIT_COUNT; c++) {
            const fmo_commit commit = (fmo_commit)c;
            if (!fmo_scatter_is_built(scatter, commit)) continue;
            if (c != FMO_COMMIT_NATIVE && (!s || !fmo_scatter_takes_commit(scatter))) continue;
            check_strategy(name, basis, given, 1e-10, scatter, commit, 0);
            if (n <= 60) check_strategy(name, basis, given, 0.0, scatter, commit, 0);
        }
    }
    check_strategy(name, basis, given, 1e-10, FMO_SCATTER_SEGMENTED, FMO_COMMIT_NATIVE, 1);
}

static void check_system(const char *name, const test_system *s)
{
    fmo_basis *basis = system_basis(s);
    if (basis) check_strategies(name, basis, NULL);
    fmo_basis_destroy(basis);
}

static void check_dataset(const char *name)
{
    fmo_dataset *data = read_shipped(name);
    if (data) check_strategies(name, fmo_dataset_basis(data), fmo_dataset_density(data));
    fmo_dataset_destroy(data);
}

/* Checks that builds report the expected kind of integrals and give the results of mode cpu. */
static void check_used(const char *label, const fmo_basis *basis, const setting *s,
                       fmo_integrals expected)
{
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 1.0, &seed), *got = (double *)malloc(4 * size * sizeof *got);
    setting cpu = *s;
    fmo_fock_profile profile;
    cpu.mode = FMO_MODE_CPU;
    cpu.memory = 0; /* the GPU has too little memory */
    cpu.integrals = FMO_INTEGRALS_DIRECT;
    cpu.scatter = FMO_SCATTER_AUTO;
    fmo_fock_plan *const plan = plan_of(label, basis, s), *const host = plan_of(label, basis, &cpu);
    for (int run = 0; run < 2; run++) {
        if (!build(label, plan, D, got, size, &profile) ||
            !build(label, host, D, got + 2 * size, size, NULL))
            break;
        CHECK(profile.integrals == expected, "%s: %s", label,
              fmo_integrals_name(profile.integrals));
        check_close(label, got, got + 2 * size, 2 * size, (size_t)n, fmax(1e-8, 100 * s->cutoff),
                    0.0);
    }
    fmo_fock_plan_destroy(plan);
    fmo_fock_plan_destroy(host);
    free(D);
    free(got);
}

static void check_refused(const fmo_basis *basis, const setting *s, fmo_status expected,
                          const char *fragment, const char *other)
{
    fmo_fock_plan *plan = NULL;
    fmo_error err;
    const fmo_status status = make_plan(basis, s, &plan, &err);
    CHECK(status == expected && strstr(err.message, fragment) && strstr(err.message, other),
          "%d: %s", status, err.message);
    CHECK(!plan, "a plan in spite of the error");
}

/* Stored integrals are used if they fit into the memory limit; `auto` falls back to direct ones,
 * `stored` is refused. */
static void check_limits(const fmo_basis *basis)
{
    setting s = {
        FMO_MODE_FUSED, FMO_INTEGRALS_STORED, FMO_SCATTER_AUTO, FMO_COMMIT_NATIVE, 1e-10, 1000, 0};
    check_refused(basis, &s, FMO_ERR_MEMORY, "MB", "auto");
    s.integrals = FMO_INTEGRALS_AUTO;
    check_used("auto with 1000 bytes", basis, &s, FMO_INTEGRALS_DIRECT);
    s.memory = (size_t)1 << 30;
    check_used("auto with 1 GB", basis, &s, FMO_INTEGRALS_STORED);
    s.memory = 0;
    check_used("auto without a limit", basis, &s, FMO_INTEGRALS_STORED);
    s.integrals = FMO_INTEGRALS_STORED;
    check_used("stored without a limit", basis, &s, FMO_INTEGRALS_STORED);

    s.mode = FMO_MODE_SPLIT;
    check_refused(basis, &s, FMO_ERR_UNSUPPORTED, "split", "auto");
    s.mode = FMO_MODE_FUSED;
    s.scatter = FMO_SCATTER_TILE;
    check_refused(basis, &s, FMO_ERR_UNSUPPORTED, "tile", "auto");
    s.integrals = FMO_INTEGRALS_AUTO;
    if (fmo_scatter_is_built(FMO_SCATTER_TILE, FMO_COMMIT_NATIVE))
        check_used("tile, auto", basis, &s, FMO_INTEGRALS_DIRECT);

    /* fmo_fock_workspace includes stored integrals */
    fmo_fock_options o;
    fmo_fock_memory direct, stored;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    CHECK(fmo_fock_workspace(basis, &o, &direct, &err) == FMO_OK, "%s", err.message);
    o.integrals = FMO_INTEGRALS_STORED;
    CHECK(fmo_fock_workspace(basis, &o, &stored, &err) == FMO_OK, "%s", err.message);
    if (err.status == FMO_OK)
        CHECK(stored.device_bytes > direct.device_bytes, "%zu bytes on the GPU, direct %zu",
              stored.device_bytes, direct.device_bytes);
}

/* As little memory as they need: more candidates than the list then holds at a time, so that
 * integrals are found in several passes; 0.1 MB less is refused. */
static void check_passes(void)
{
    static test_system s;
    fmo_error err;
    fmo_fock_plan *plan = NULL;
    double needed = 0.0;
    /* single s functions, far from each other: 16 bytes a task, 8 a candidate, a third are tasks */
    system_random(&s, 60, 60, 0, 1, 14.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (!basis) return;
    setting o = {
        FMO_MODE_FUSED, FMO_INTEGRALS_STORED, FMO_SCATTER_FIXED, FMO_COMMIT_NATIVE, 1e-6, 1, 0};
    CHECK(make_plan(basis, &o, &plan, &err) == FMO_ERR_MEMORY &&
              sscanf(err.message, "integrals = stored needs %lf MB", &needed) == 1,
          "%s", err.message);
    o.memory = (size_t)(1e6 * (needed + 0.1));
    check_used("several passes", basis, &o, FMO_INTEGRALS_STORED);
    o.memory = (size_t)(1e6 * fmax(needed - 0.1, 1e-6));
    check_refused(basis, &o, FMO_ERR_MEMORY, "MB", "auto");
    fmo_basis_destroy(basis);
}

/* Plans with and without stored integrals in one call, one of them several times. */
static void check_batch(const fmo_basis *basis)
{
    enum { PLANS = 3, JOBS = 7 };
    static const int plan_of_job[JOBS] = {0, 1, 0, 2, 0, 1, 2};
    static const fmo_scatter scatter[PLANS] = {FMO_SCATTER_AUTO, FMO_SCATTER_FIXED,
                                               FMO_SCATTER_AUTO};
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    fmo_fock_plan *plan[PLANS];
    fmo_fock_job job[JOBS];
    double *D[JOBS], *got = (double *)malloc((2 * JOBS + 2) * size * sizeof *got);
    double *const expected = got + 2 * JOBS * size;
    fmo_error err = {FMO_OK, ""};
    setting s = {
        FMO_MODE_FUSED, FMO_INTEGRALS_STORED, FMO_SCATTER_AUTO, FMO_COMMIT_NATIVE, 1e-10, 0, 0};
    for (int p = 0; p < PLANS; p++) {
        s.scatter = scatter[p];
        s.integrals = p < 2 ? FMO_INTEGRALS_STORED : FMO_INTEGRALS_DIRECT;
        plan[p] = plan_of("batch", basis, &s);
    }
    s.mode = FMO_MODE_CPU;
    s.scatter = FMO_SCATTER_AUTO;
    fmo_fock_plan *const host = plan_of("batch", basis, &s);
    memset(job, 0, sizeof job);
    for (int k = 0; k < JOBS; k++) {
        D[k] = random_density(n, k == 4 ? 50.0 : 1.0, &seed); /* too large for the pairs */
        job[k].plan = plan[plan_of_job[k]];
        job[k].density = D[k];
        job[k].coulomb = got + 2 * (size_t)k * size;
        job[k].exchange = job[k].coulomb + size;
    }
    memset(got, 0xff, 2 * JOBS * size * sizeof *got);
    CHECK(fmo_fock_build_batch(job, JOBS, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < JOBS; k++)
        if (build("batch", host, D[k], expected, size, NULL))
            check_close("batch", job[k].coulomb, expected, 2 * size, (size_t)n, 1e-8, 1e-12);

    /* with GPU pointers, call after call, waited for at the end */
    double *at = NULL;
    CUDA(cudaMalloc((void **)&at, 3 * JOBS * size * sizeof(double)));
    for (int k = 0; k < JOBS; k++) {
        double *const to = at + 3 * (size_t)k * size;
        if (k == 4) memcpy(D[k], D[0], size * sizeof(double));
        CUDA(cudaMemcpy(to, D[k], size * sizeof(double), cudaMemcpyHostToDevice));
        CUDA(cudaMemset(to + size, 0xff, 2 * size * sizeof(double)));
        job[k].density = to;
        job[k].coulomb = to + size;
        job[k].exchange = to + 2 * size;
    }
    CUDA(cudaDeviceSynchronize());
    CHECK(fmo_fock_build_batch_device(job, JOBS - 1, &err) == FMO_OK, "%s", err.message);
    const fmo_fock_job *last = &job[JOBS - 1];
    CHECK(fmo_fock_build_device(last->plan, last->density, last->coulomb, last->exchange, &err) ==
              FMO_OK,
          "%s", err.message);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < JOBS; k++) {
        CUDA(cudaMemcpy(got, at + (3 * (size_t)k + 1) * size, 2 * size * sizeof(double),
                        cudaMemcpyDeviceToHost));
        if (build("batch on the GPU", host, D[k], expected, size, NULL))
            check_close("batch on the GPU", got, expected, 2 * size, (size_t)n, 1e-8, 1e-12);
    }
    CUDA(cudaFree(at));
    for (int p = 0; p < PLANS; p++) fmo_fock_plan_destroy(plan[p]);
    fmo_fock_plan_destroy(host);
    for (int k = 0; k < JOBS; k++) free(D[k]);
    free(got);
}

/* Runs the checks on small random molecules around warps and tiles, on sp shells, a chain and data
 * sets. */
int main(void)
{
    static test_system s;
    char name[64];
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    small_run = getenv("FMO_TEST_SMALL") != NULL;

    /* one task; less than a warp, less than a tile of 32 tasks more than one, some blocks */
    static const int counts[] = {1, 2, 3, 4, 5, 8, 11};
    for (size_t k = 0; k < (small_run ? 2 : sizeof counts / sizeof *counts); k++) {
        const int shells = counts[k];
        system_random(&s, shells < 5 ? shells : 5, shells, 0, 2, 5.0, &seed);
        snprintf(name, sizeof name, "%d s", shells);
        check_system(name, &s);
        system_random(&s, shells < 5 ? shells : 5, shells / 2, shells, 2, 5.0, &seed);
        snprintf(name, sizeof name, "%d s and %d p", shells / 2, shells);
        if (shells < 9) check_system(name, &s);
    }
    /* sp sets, with and without partners, and functions in the caller's own order */
    memset(&s, 0, sizeof s);
    for (int a = 0; a < (small_run ? 2 : 4); a++) {
        system_add_atom(&s, 2.0 * check_random(&seed), 3.0 * check_random(&seed), 1.5 * (a / 2));
        system_add_shell(&s, 0, 1 + a, &seed);
        if (a != 1) system_add_partner(&s, &seed);
        system_add_shell(&s, a % 2, 2, &seed);
    }
    system_shuffle_functions(&s, &seed);
    check_system("sp sets", &s);
    /* most tasks stay out with most densities */
    memset(&s, 0, sizeof s);
    for (int a = 0; a < (small_run ? 3 : 9); a++) {
        system_add_atom(&s, 3.0 * a, 2.0 * check_random(&seed), 0.0);
        system_add_shell(&s, 0, 2, &seed);
        system_add_shell(&s, 1, 2, &seed);
    }
    check_system("a chain", &s);

    system_random(&s, 4, small_run ? 3 : 9, small_run ? 2 : 6, 4, 5.0, &seed);
    fmo_basis *basis = system_basis(&s);
    if (basis) {
        check_limits(basis);
        check_batch(basis);
    }
    fmo_basis_destroy(basis);
    if (!small_run) check_passes();

    static const char *const names[] = {"he_sto-3g", "h2o_6-31g", "ch3oh_6-31g_shuffled",
                                        "h2o8_6-31g"};
    for (size_t f = 0; f < (small_run ? 1 : sizeof names / sizeof *names); f++)
        check_dataset(names[f]);
    return check_summary();
}
