/* J and K on the GPU, every strategy, commit and mode, against mode cpu and mode reference: random
 * molecules and densities with sizes around the block constants, empty classes, one shell,
 * coincident atoms, near-linear dependence, a far-apart system, data sets, bit equality of `fixed`,
 * two plans in two threads. FMO_TEST_SMALL=1: fewer cases, for compute-sanitizer; `gpu_fock d`: d
 * shells alone. */
#include <fmo/basis_set.h>
#include <fmo/dataset.h>
#include <fmo/molecule.h>
#include <pthread.h>

#include "integrals/tables.h"
#include "tests/support/molecule.h"
#include "tests/support/system.h"

static unsigned long long seed = 2024;
static int small;

typedef struct setting {
    fmo_mode mode;
    fmo_scatter scatter;
    fmo_commit commit;
    fmo_reduce reduce;
    int threads, no_overlap, measure;
    size_t memory;
} setting;

static void describe(const setting *s, char *text, size_t size)
{
    if (s->mode == FMO_MODE_FUSED)
        snprintf(text, size, "fused %s/%s%s", fmo_scatter_name(s->scatter),
                 fmo_commit_name(s->commit), s->memory ? " little memory" : "");
    else
        snprintf(text, size, "%s %s x%d%s%s", fmo_mode_name(s->mode), fmo_reduce_name(s->reduce),
                 s->threads, s->no_overlap ? " no overlap" : "", s->memory ? " little memory" : "");
}

/* J, K and the profile of a plan of its own with these settings. */
static fmo_status build(const fmo_basis *basis, const setting *s, double cutoff, const double *D,
                        double *J, double *K, fmo_fock_profile *profile, fmo_error *err)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_fock_options_init(&o);
    o.mode = s->mode;
    o.scatter = s->scatter;
    o.commit = s->commit;
    o.reduce = s->reduce;
    o.threads = s->threads;
    o.no_overlap = s->no_overlap;
    o.memory = s->memory;
    o.cutoff = cutoff;
    o.measure_accumulation = s->measure;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, err);
    if (status == FMO_OK && profile) status = fmo_fock_plan_profile(plan, profile, err);
    fmo_fock_plan_destroy(plan);
    return status;
}

/* Whether a setting supports a basis. With d or f shells, or without FMO_EXPERIMENTS, some settings
 * are refused. */
static int goes(const fmo_basis *basis, const setting *s)
{
    if (s->mode == FMO_MODE_FUSED && !fmo_scatter_is_built(s->scatter, s->commit)) return 0;
    const int high_l = fmo_basis_shell_num(basis, 2) > 0 || fmo_basis_shell_num(basis, 3) > 0;
    return !high_l ||
           (s->mode == FMO_MODE_FUSED && fmo_scatter_takes_all_shells(s->scatter, s->commit));
}

/* Every setting that this build of the library has. Returns their number. */
static int settings(setting *list)
{
    int n = 0;
    for (int s = FMO_SCATTER_AUTO; s < FMO_SCATTER_COUNT; s++)
        for (int c = 0; c < FMO_COMMIT_COUNT; c++)
            if (c == FMO_COMMIT_NATIVE || (fmo_scatter_takes_commit((fmo_scatter)s) && s))
                list[n++] = (setting){.mode = FMO_MODE_FUSED,
                                      .scatter = (fmo_scatter)s,
                                      .commit = (fmo_commit)c,
                                      .threads = 1};
    for (int r = 0; r < FMO_REDUCE_COUNT; r++)
        for (int overlap = 0; overlap < 2; overlap++)
            list[n++] = (setting){.mode = FMO_MODE_SPLIT,
                                  .reduce = (fmo_reduce)r,
                                  .threads = 2,
                                  .no_overlap = !overlap};
    list[n++] = (setting){
        .mode = FMO_MODE_FUSED, .scatter = FMO_SCATTER_SEGMENTED, .threads = 1, .memory = 4096};
    list[n++] = (setting){
        .mode = FMO_MODE_SPLIT, .reduce = FMO_REDUCE_TREE, .threads = 2, .memory = (size_t)1 << 21};
    list[n++] = (setting){
        .mode = FMO_MODE_FUSED, .scatter = FMO_SCATTER_NATIVE, .threads = 1, .measure = 1};
    return n;
}

/* Every mode and strategy agrees with mode cpu, and with J0 and K0 if they are given; the numbers
 * of quartets and additions are consistent. */
static void compare(const char *name, const fmo_basis *basis, const double *D, double cutoff,
                    const double *J0, const double *K0, double tolerance)
{
    static setting list[64];
    const int count = settings(list);
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    double *J = malloc(2 * size * sizeof *J), *K = J + size;
    double *Jc = malloc(2 * size * sizeof *Jc), *Kc = Jc + size;
    fmo_fock_profile cpu, gpu;
    fmo_error err = {FMO_OK, ""};
    const setting host = {.mode = FMO_MODE_CPU, .threads = 2};
    CHECK(build(basis, &host, cutoff, D, Jc, Kc, &cpu, &err) == FMO_OK, "%s", err.message);
    double largest = 1.0;
    for (size_t x = 0; x < 2 * size; x++) largest = fmax(largest, fabs(Jc[x]));
    for (int s = 0; s < count; s++) {
        char label[160], what[96];
        describe(&list[s], what, sizeof what);
        snprintf(label, sizeof label, "%s, cutoff %g, %s", name, cutoff, what);
        if (list[s].scatter == FMO_SCATTER_BLOCK_SHARED && (n > 128 || small)) continue;
        memset(J, 0xff, 2 * size * sizeof *J);
        memset(&err, 0, sizeof err);
        const fmo_status status = build(basis, &list[s], cutoff, D, J, K, &gpu, &err);
        if (!goes(basis, &list[s])) {
            CHECK(status == FMO_ERR_UNSUPPORTED &&
                      (strstr(err.message, "d shells") || strstr(err.message, "f shells") ||
                       strstr(err.message, "FMO_EXPERIMENTS")),
                  "%s: %s", label, err.message);
            continue;
        }
        CHECK(status == FMO_OK, "%s: %s", label, err.message);
        if (status != FMO_OK) continue;
        /* all quartets: only the order of sums differs from the CPU */
        const double order = cutoff > 0.0 ? tolerance : 1e-12 * largest;
        check_close(label, J, Jc, size, n, order, 0.0);
        check_close(label, K, Kc, size, n, order, 0.0);
        if (J0) {
            check_close(label, J, J0, size, n, tolerance, 0.0);
            check_close(label, K, K0, size, n, tolerance, 0.0);
        }
        for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
            const fmo_class_profile *a = &gpu.classes[c], *b = &cpu.classes[c];
            /* the GPU screens sp sets and parts of pairs, so with a cutoff it keeps others */
            CHECK((cutoff > 0.0 || a->quartets == b->quartets) &&
                      a->quartets + a->quartets_skipped == b->quartets + b->quartets_skipped,
                  "%s %s: %lld quartets, the CPU has %lld", label,
                  fmo_eri_class_name((fmo_eri_class)c), (long long)a->quartets,
                  (long long)b->quartets);
            if (list[s].mode == FMO_MODE_FUSED)
                CHECK(a->adds_issued <= a->adds && (a->quartets == 0 || a->adds_issued > 0),
                      "%s %s: %lld adds, %lld issued", label, fmo_eri_class_name((fmo_eri_class)c),
                      (long long)a->adds, (long long)a->adds_issued);
            if (list[s].measure && c < FMO_ERI_LOW_L_COUNT)
                CHECK(a->compute_seconds >= 0.0, "%s: no compute time", label);
        }
    }
    free(J);
    free(Jc);
}

/* The same with a random density plus `diagonal` on its diagonal. */
static void compare_basis(const char *name, const fmo_basis *basis, double diagonal)
{
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 1.0, &seed), *J0 = malloc(2 * size * sizeof *J0);
    for (size_t i = 0; i < (size_t)n; i++) D[i * (size_t)n + i] += diagonal;
    fmo_error err = {FMO_OK, ""};
    const setting reference = {.mode = FMO_MODE_REFERENCE, .threads = 2};
    CHECK(build(basis, &reference, 0.0, D, J0, J0 + size, NULL, &err) == FMO_OK, "%s", err.message);
    double largest = 1.0;
    for (size_t x = 0; x < 2 * size; x++) largest = fmax(largest, fabs(J0[x]));
    compare(name, basis, D, 0.0, J0, J0 + size, 1e-10 * fmax(1.0, 1e-2 * largest));
    compare(name, basis, D, 1e-10, J0, J0 + size, 1e-8);
    free(D);
    free(J0);
}

static void compare_system(const char *name, const test_system *s)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    compare_basis(name, basis, 0.0);
    fmo_basis_destroy(basis);
}

/* Large enough for lists of far quartets, with a density that leaves most of them to J alone: with
 * one kernel for all lists of a class, or `apart`, with one for each. */
static void check_far(const char *molecule, int apart)
{
    fmo_dataset *data = molecule_dataset(molecule, "sto-3g");
    fmo_error err = {FMO_OK, ""};
    if (data) {
        const fmo_basis *basis = fmo_dataset_basis(data);
        const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
        const setting tight = {.mode = FMO_MODE_CPU, .threads = 2};
        double *D = malloc(5 * size * sizeof *D), *J = D + size, *again = D + 3 * size;
        for (size_t x = 0; x < size; x++) {
            const double off = fabs((double)(x / n) - (double)(x % n));
            D[x] = (off > 0.0 ? 0.3 : 1.0) * exp(-0.7 * off) * cos(off);
        }
        CHECK(build(basis, &tight, 1e-15, D, J, J + size, NULL, &err) == FMO_OK, "%s", err.message);
        if (small || apart) {
            const setting one = {
                .mode = FMO_MODE_FUSED, .scatter = FMO_SCATTER_SEGMENTED, .threads = 1};
            CHECK(build(basis, &one, 1e-10, D, again, again + size, NULL, &err) == FMO_OK, "%s",
                  err.message);
            check_close(molecule, again, J, 2 * size, n, 1e-8, 0.0);
        } else {
            compare("far", basis, D, 1e-10, J, J + size, 1e-8);
            compare("far", basis, D, 1e-12, J, J + size, 2e-10);
        }
        setting fixed = {.mode = FMO_MODE_FUSED, .scatter = FMO_SCATTER_FIXED, .threads = 1};
        CHECK(build(basis, &fixed, 1e-10, D, J, J + size, NULL, &err) == FMO_OK, "%s", err.message);
        fixed.memory = (size_t)1 << (apart ? 26 : 20);
        CHECK(build(basis, &fixed, 1e-10, D, again, again + size, NULL, &err) == FMO_OK, "%s",
              err.message);
        CHECK(memcmp(J, again, 2 * size * sizeof *J) == 0, "fixed, far: other bits in many passes");
        free(D);
    }
    fmo_dataset_destroy(data);
}

static void check_dataset(const char *name)
{
    fmo_dataset *data = read_shipped(name);
    if (!data) return;
    compare(name, fmo_dataset_basis(data), fmo_dataset_density(data), 0.0,
            fmo_dataset_reference_coulomb(data), fmo_dataset_reference_exchange(data), 1e-10);
    compare(name, fmo_dataset_basis(data), fmo_dataset_density(data), 1e-10,
            fmo_dataset_reference_coulomb(data), fmo_dataset_reference_exchange(data), 1e-8);
    fmo_dataset_destroy(data);
}

/* `fixed`: the same bits in every run, also when the list of quartets is cut into many passes. */
static void check_fixed(const test_system *s)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 1.0, &seed), *a = malloc(4 * size * sizeof *a), *b = a + 2 * size;
    fmo_error err = {FMO_OK, ""};
    setting fixed = {.mode = FMO_MODE_FUSED, .scatter = FMO_SCATTER_FIXED, .threads = 1};
    for (int run = 0; run < 8; run++) {
        static const size_t memory[] = {0, 0, 0, 4096, 40000, 0, 100000, 0};
        fixed.memory = memory[run];
        CHECK(build(basis, &fixed, 1e-10, D, run ? b : a, (run ? b : a) + size, NULL, &err) ==
                  FMO_OK,
              "%s", err.message);
        if (run) CHECK(memcmp(a, b, 2 * size * sizeof *a) == 0, "fixed: run %d differs", run);
    }
    for (size_t x = 0; x < size; x++) D[x] *= 1e9; /* no resolution is left: must be refused */
    memset(b, 0x55, 2 * size * sizeof *b);
    memcpy(a, b, 2 * size * sizeof *b);
    CHECK(build(basis, &fixed, 1e-10, D, b, b + size, NULL, &err) == FMO_ERR_INPUT &&
              strstr(err.message, "fixed"),
          "huge density under fixed: %s", err.message);
    CHECK(memcmp(a, b, 2 * size * sizeof *b) == 0, "outputs touched on error");
    err = (fmo_error){FMO_OK, ""};
    for (size_t x = 0; x < size; x++) D[x] *= 1e297; /* 1e306: more than bounds can hold */
    CHECK(build(basis, &fixed, 1e-10, D, b, b + size, NULL, &err) == FMO_ERR_INPUT &&
              strstr(err.message, "no finite bound"),
          "a density of 1e306 under fixed: %s", err.message);
    CHECK(memcmp(a, b, 2 * size * sizeof *b) == 0, "outputs touched on error");
    for (size_t x = 0; x < size; x++) D[x] *= 1e-300; /* 1e6 and less: back in range */
    for (size_t x = 0; x < size; x++) D[x] *= 1e-306;
    err = (fmo_error){FMO_OK, ""};
    CHECK(build(basis, &fixed, 0.0, D, b, b + size, NULL, &err) == FMO_OK, "%s", err.message);
    for (size_t x = 0; x < size; x++) D[x] = 0.0;
    check_close("a density of 1e-300 under fixed", b, D, size, (size_t)n, 1e-290, 0.0);
    check_close("a density of 1e-300 under fixed", b + size, D, size, (size_t)n, 1e-290, 0.0);
    free(D);
    free(a);
    fmo_basis_destroy(basis);
}

/* `auto` is segmented where neighbours share rows, and turns to native after a build without runs:
 * shells so far apart that a bra meets each ket row once. */
static void check_auto(const test_system *s, int builds, fmo_scatter expected)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 1.0, &seed), *J = malloc(2 * size * sizeof *J);
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    for (int b = 0; b < builds && status == FMO_OK; b++)
        status = fmo_fock_build(plan, D, J, J + size, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    if (status == FMO_OK)
        CHECK(profile.scatter == expected, "auto became %s, expected %s",
              fmo_scatter_name(profile.scatter), fmo_scatter_name(expected));
    fmo_fock_plan_destroy(plan);
    free(D);
    free(J);
    fmo_basis_destroy(basis);
}

typedef struct job {
    const fmo_basis *basis;
    const double *D;
    double *J, *K;
    setting setting;
    fmo_status status;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    j->status = FMO_OK;
    for (int k = 0; k < 5 && j->status == FMO_OK; k++)
        j->status = build(j->basis, &j->setting, 1e-10, j->D, j->J, j->K, NULL, NULL);
    return NULL;
}

/* Two threads that build with two plans, one fused and one split, get the right J and K. */
static void check_threads(const test_system *s)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *D = random_density(n, 1.0, &seed), *m = malloc(6 * size * sizeof *m);
    job jobs[2];
    pthread_t threads[2];
    fmo_error err = {FMO_OK, ""};
    const setting cpu = {.mode = FMO_MODE_CPU, .threads = 1};
    CHECK(build(basis, &cpu, 1e-10, D, m, m + size, NULL, &err) == FMO_OK, "%s", err.message);
    for (int t = 0; t < 2; t++) {
        double *J = m + (size_t)(2 + 2 * t) * size;
        jobs[t] = (job){basis, D, J, J + size, {.mode = FMO_MODE_SPLIT, .threads = 1}, FMO_OK};
        if (t == 0 || !goes(basis, &jobs[t].setting)) jobs[t].setting.mode = FMO_MODE_FUSED;
        pthread_create(&threads[t], NULL, run_job, &jobs[t]);
    }
    for (int t = 0; t < 2; t++) {
        pthread_join(threads[t], NULL);
        CHECK(jobs[t].status == FMO_OK, "thread %d failed", t);
        check_close("two plans in two threads", jobs[t].J, m, 2 * size, (size_t)n, 1e-8, 0.0);
    }
    free(D);
    free(m);
    fmo_basis_destroy(basis);
}

/* 100 p shells on a grid, each a second difference of three primitives with exponents in ratio 1.1:
 * their products are 4e4 times their Schwarz bounds. Which of their quartets are far goes by
 * primitives (integrals/far/decide.h), which integrals_far_decision tests, quartet by quartet:
 * this is the whole build, and does not find it out alone. */
static void check_cancelling(void)
{
    static test_system s;
    const double cutoff = 1e-10, step = 2.2, ratio = 1.1;
    memset(&s, 0, sizeof s);
    for (int a = 0; a < 100; a++) {
        system_add_atom(&s, step * (a % 5) + 0.2 * check_random(&seed),
                        step * (a / 5 % 5) + 0.2 * check_random(&seed),
                        step * (a / 25) + 0.2 * check_random(&seed));
        const int begin = s.prims;
        system_add_shell(&s, 1, 3, &seed);
        for (int k = 0; k < 3; k++) {
            const double x = s.exponent[begin + k] = 0.8 * pow(ratio, k);
            s.coefficient[begin + k] =
                (k == 1 ? -2.0 : 1.0) * pow(2.0 * x / M_PI, 0.75) * 2.0 * sqrt(x);
        }
    }
    fmo_basis *basis = system_basis(&s);
    const size_t n = (size_t)s.aos, size = n * n;
    double *D = malloc(5 * size * sizeof *D), *J = D + size, *K = J + size, *Jc = K + size,
           *Kc = Jc + size;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *A = s.coord + 3 * (i / 3), *B = s.coord + 3 * (j / 3);
            const double r2 = (A[0] - B[0]) * (A[0] - B[0]) + (A[1] - B[1]) * (A[1] - B[1]) +
                              (A[2] - B[2]) * (A[2] - B[2]);
            D[i * n + j] = D[j * n + i] = (2.0 * check_random(&seed) - 1.0) * exp(-sqrt(r2));
        }
    fmo_error err = {FMO_OK, ""};
    const setting host = {.mode = FMO_MODE_CPU, .threads = 0};
    const setting gpu = {.mode = FMO_MODE_FUSED, .scatter = FMO_SCATTER_AUTO, .threads = 1};
    fmo_status status = build(basis, &host, cutoff, D, Jc, Kc, NULL, &err);
    if (status == FMO_OK) status = build(basis, &gpu, cutoff, D, J, K, NULL, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    if (status == FMO_OK) {
        check_close("p shells that cancel, J", J, Jc, size, n, 1e-9, 0.0);
        check_close("p shells that cancel, K", K, Kc, size, n, 2e-9, 0.0);
    }
    free(D);
    fmo_basis_destroy(basis);
}

/* General contractions of up to 14 primitives: 38416 primitive quartets in a quartet, of which many
 * are left out that are of one sign. */
static void check_general(void)
{
    static int sulfur[] = {16, 18}, arsenic[] = {33, 1};
    static double apart[] = {0.0, 0.0, 0.0, 0.0, 1.0, 5.5},
                  bond[] = {0.0, 0.0, 0.0, 1.7, -1.2, 2.0};
    const fmo_molecule of[] = {{.nucleus_num = 2, .number = sulfur, .coord = apart},
                               {.nucleus_num = 2, .number = arsenic, .coord = bond}};
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    CHECK(fmo_basis_set_read("cc-pvdz", &set, &err) == FMO_OK, "%s", err.message);
    for (int m = 0; m < (small ? 1 : 2) && set; m++) {
        fmo_dataset *data = NULL;
        CHECK(fmo_dataset_create(&of[m], set, 0, &data, &err) == FMO_OK, "%s", err.message);
        if (!data) continue;
        compare_basis(m ? "AsH, cc-pVDZ" : "S and Ar, cc-pVDZ", fmo_dataset_basis(data), 3.0);
        fmo_dataset_destroy(data);
    }
    fmo_basis_set_destroy(set);
}

/* d shells, Cartesian and spherical, alone and with others. */
static void check_d(void)
{
    static test_system s;
    static const int shells[][3] = {{0, 0, 1}, {0, 0, 3}, {2, 0, 2}, {0, 3, 2}, {4, 3, 3}};
    char name[64];
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
            if (small && k != 2 && k != 4 - (size_t)cartesian) continue;
            system_random_d(&s, cartesian, k < 4 ? 2 : 3, shells[k], k < 4 ? 3 : 2, 4.0, &seed);
            snprintf(name, sizeof name, "%d s, %d p, %d d, %s", shells[k][0], shells[k][1],
                     shells[k][2], cartesian ? "Cartesian" : "spherical");
            compare_system(name, &s);
        }
        check_fixed(&s);
        system_shuffle_functions(&s, &seed);
        if (!small) compare_system("shuffled functions with d", &s);
    }
    check_threads(&s);

    memset(&s, 0, sizeof s); /* all on one place, and far away */
    for (int a = 0; a < 4; a++) {
        system_add_atom(&s, 0.1, 0.2, a < 2 ? 0.3 : 20.0 * a);
        system_add_shell(&s, 0, small ? 1 : 6, &seed);
        if (a != 1) system_add_partner(&s, &seed);
        system_add_shell(&s, 2, 1 + a % 2, &seed);
    }
    compare_system("coincident and far d", &s);

    static const char *const names[] = {
        "h2o_6-31gd",       "foreign_forge_h2o_6-31gd_cart", "h2s_6-31gd_shuffled",
        "ch2o_cc-pvdz_sph", "h2o_def2-svp_sph_shuffled",     "hbr_def2-svp_sph"};
    for (size_t f = 0; f < (small ? 1 : sizeof names / sizeof *names); f++) check_dataset(names[f]);
    check_general();
}

/* f shells, Cartesian and spherical: each class, and shells of all kinds. */
static void check_f(void)
{
    static test_system s;
    static const int shells[][4] = {{0, 0, 0, 1}, {0, 0, 0, 3}, {2, 0, 0, 2}, {0, 2, 0, 2},
                                    {0, 0, 2, 2}, {1, 1, 1, 1}, {6, 4, 3, 3}};
    char name[64];
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
            const int largest = k == sizeof shells / sizeof *shells - 1;
            if (small && k != 2 && k != 5 - (size_t)cartesian) continue;
            system_random_kinds(&s, cartesian, largest ? 3 : 2, 4, shells[k], largest ? 2 : 3, 4.0,
                                &seed);
            snprintf(name, sizeof name, "%d s, %d p, %d d, %d f, %s", shells[k][0], shells[k][1],
                     shells[k][2], shells[k][3], cartesian ? "Cartesian" : "spherical");
            compare_system(name, &s);
        }
        check_fixed(&s);
    }
    system_shuffle_functions(&s, &seed);
    if (!small) compare_system("shuffled functions with f", &s);
}

/* Quartets of one class, in numbers around those of warps, blocks and rounds of screening. */
static void check_classes(void)
{
    static test_system s;
    char name[64];
    /* n(n+1)/2 pairs: 15 s shells have 7260 quartets, 5 have 120, and single shells one: around
     * warps of 32, blocks of 128, screening rounds of 256 and 1024 */
    static const int counts[] = {1, 2, 3, 4, 5, 7, 8, 11, 16, 22, 23, 32, 33, 45, 46};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int shells = counts[k];
        if (small && shells > 3) break;
        system_random(&s, shells < 9 ? shells : 9, shells, 0, shells < 12 ? 3 : 1, 5.0, &seed);
        snprintf(name, sizeof name, "%d s", shells);
        if (shells < 30) compare_system(name, &s);
        system_random(&s, shells < 9 ? shells : 9, 0, shells, shells < 6 ? 3 : 1, 5.0, &seed);
        snprintf(name, sizeof name, "%d p", shells);
        if (shells < 9) compare_system(name, &s);
        system_random(&s, shells < 9 ? shells : 9, shells, shells, 2, 5.0, &seed);
        snprintf(name, sizeof name, "%d s and p", shells);
        if (shells < 8) compare_system(name, &s);
    }
}

/* Coincident atoms, nearly dependent functions, atoms far from each other. */
static void check_geometries(void)
{
    static test_system s;
    memset(&s, 0, sizeof s);
    for (int a = 0; a < 3; a++) {
        system_add_atom(&s, 0.1, 0.2, a == 2 ? 2.0 : 0.3);
        system_add_shell(&s, 0, small ? 1 : 3, &seed);
        system_add_shell(&s, 1, small ? 1 : 2, &seed);
    }
    compare_system("coincident atoms", &s);
    if (!small) check_cancelling();

    memset(&s, 0, sizeof s);
    for (int a = 0; a < 4; a++) {
        unsigned long long same = 5;
        system_add_atom(&s, 1e-7 * (a % 2), 0.0, a / 2 * 2.0);
        system_add_shell(&s, 0, small ? 1 : 2, &same);
        system_add_shell(&s, 1, small ? 1 : 2, &same);
    }
    compare_system("near-linear dependence", &s);

    memset(&s, 0, sizeof s);
    for (int a = 0; a < 6; a++) {
        system_add_atom(&s, 60.0 * a, -35.0 * a, 0.0);
        system_add_shell(&s, 0, small ? 1 : 3, &seed);
        system_add_shell(&s, 1, small ? 1 : 2, &seed);
    }
    compare_system("far apart", &s);
}

/* Runs the comparison on numbers of shells around warps, blocks and screening rounds, on special
 * geometries and on data sets. */
int main(int argc, char **argv)
{
    static test_system s;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    small = getenv("FMO_TEST_SMALL") != NULL;
    check_d();
    if (argc > 1 && strcmp(argv[1], "d") == 0) return check_summary();
    check_f();
    if (argc > 1 && strcmp(argv[1], "f") == 0) return check_summary();

    check_classes();
    system_random(&s, 4, small ? 3 : 9, small ? 2 : 7, 6, 5.0, &seed);
    compare_system("deep contractions", &s);
    check_fixed(&s);
    check_threads(&s);
    check_auto(&s, 1, FMO_SCATTER_SEGMENTED);
    check_auto(&s, 3, FMO_SCATTER_SEGMENTED);
    {
        static test_system one; /* a single s shell: one quartet, nothing to fold */
        system_random(&one, 1, 1, 0, 1, 1.0, &seed);
        check_auto(&one, 1, FMO_SCATTER_SEGMENTED);
        check_auto(&one, 2, FMO_SCATTER_NATIVE);
    }

    /* sp sets, with partners on other atoms, s and p without partner between them */
    memset(&s, 0, sizeof s);
    for (int a = 0; a < (small ? 2 : 4); a++) {
        system_add_atom(&s, 2.0 * check_random(&seed), 3.0 * check_random(&seed), 1.5 * (a / 2));
        system_add_shell(&s, 0, 1 + a, &seed);
        if (a != 1) system_add_partner(&s, &seed);
        if (a == 2) system_add_shell(&s, 1, 2, &seed);
        system_add_shell(&s, 0, 2, &seed);
        if (a == 3) system_add_partner(&s, &seed);
    }
    compare_system("sp sets", &s);
    check_fixed(&s);

    system_random(&s, 5, small ? 3 : 8, small ? 2 : 5, 3, 5.0, &seed);
    system_shuffle_functions(&s, &seed);
    compare_system("shuffled functions", &s);

    check_geometries();
    static const char *const names[] = {"he_sto-3g",      "h4_sto-3g",     "h2o_sto-3g",
                                        "h2o_6-31g",      "h2s_hcl_6-31g", "ch3oh_6-31g_shuffled",
                                        "ch2o_6-31g_sph", "h2o8_sto-3g",   "h2o8_6-31g"};
    for (size_t f = 0; f < (small ? 3 : sizeof names / sizeof *names); f++) check_dataset(names[f]);
    check_far("water027", 0);
    check_far("water064", 1);
    return check_summary();
}
