/* forces: the derivative of the two-electron RHF energy with respect to the nuclei, compared with J
 * and K of the same plan, for the systems of `fock` on the GPU or, without one, on the CPU. Next:
 * fock.c. */
#include "fock.h"
#include "driver/base/clock.h"
#include "driver/base/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/gradient.h>

/* Largest number of functions of systems that were not selected by --systems on the CPU, and of
 * those whose derivative is compared with the CPU's; most builds that are timed. */
enum { FORCES_NAO = 160, BUILDS_MAX = 1000 };

/* Cutoff of the derivative with which the result is compared, as a share of that of the plan, and
 * the allowed error. */
static const double exact_share = 1e-4, tolerance = 1e-7;

/* One system. */
typedef struct forces_case {
    bench_run *run;
    const char *name;
    fmo_fock_options options;
    fmo_dataset *dataset;
    fmo_fock_plan *plan;
    int nao, nuclei;
    int derivative;    /* whether the runs compute it, or J and K */
    double of_J, of_K; /* weights of the two parts of the derivative */
    double *density, *coulomb, *exchange, *gradient, error;
} forces_case;

static bool failed(const forces_case *c, fmo_status status, const fmo_error *err)
{
    if (status == FMO_OK) return false;
    bench_fail(c->run, status, "%s: %s", c->name, err->message);
    return true;
}

static fmo_gradient_term term_of(const forces_case *c)
{
    return (fmo_gradient_term){
        .density = c->density, .coulomb_weight = c->of_J, .exchange_weight = c->of_K};
}

static double run_once(void *user, int64_t n)
{
    const forces_case *const c = user;
    const fmo_gradient_term term = term_of(c);
    fmo_error err = {FMO_OK, ""};
    (void)n;
    const double begin = driver_seconds();
    const fmo_status status =
        c->derivative ? fmo_fock_gradient(c->plan, &term, 1, c->gradient, &err)
                      : fmo_fock_build(c->plan, c->density, c->coulomb, c->exchange, &err);
    const double seconds = driver_seconds() - begin;
    return failed(c, status, &err) ? -1.0 : seconds;
}

/* Compares the derivative with that of a much smaller cutoff, of small systems on the CPU. */
static void check(void *user, int64_t n, bench_check *result)
{
    forces_case *const c = user;
    const fmo_gradient_term term = term_of(c);
    const size_t size = 3 * (size_t)c->nuclei;
    fmo_fock_options options = c->options;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    double *const exact = bench_alloc(c->run, size, sizeof *exact, "a gradient");
    (void)n;
    if (!exact) return;
    options.cutoff *= exact_share;
    if (c->nao <= FORCES_NAO) options.mode = FMO_MODE_CPU;
    fmo_status status = fmo_fock_plan_create(fmo_dataset_basis(c->dataset), &options, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_gradient(plan, &term, 1, exact, &err);
    fmo_fock_plan_destroy(plan);
    c->error = 0.0;
    for (size_t x = 0; x < size && !failed(c, status, &err); x++) {
        const double error = fabs(c->gradient[x] - exact[x]);
        if (!(error <= c->error)) c->error = error; /* keeps NaN */
        bench_check_bound(result, c->gradient[x], exact[x],
                          fmax(tolerance, 0.1 * c->options.cutoff));
    }
    free(exact);
}

/* Returns the median time of builds (derivative 0) or derivatives, as many as the options say after
 * one more; negative after an error. */
static double time_runs(forces_case *c, int derivative, double of_J, double of_K)
{
    const bench_options *const o = c->run->options;
    double seconds[BUILDS_MAX], sum = 0.0;
    size_t num = 0;
    c->derivative = derivative;
    c->of_J = of_J;
    c->of_K = of_K;
    if (run_once(c, 1) < 0.0) return -1.0;
    while (num < BUILDS_MAX && (int64_t)num < o->repeat && (num == 0 || sum < o->seconds)) {
        seconds[num] = run_once(c, 1);
        if (seconds[num] < 0.0) return -1.0;
        sum += seconds[num++];
    }
    return driver_spread_of(seconds, num).median;
}

/* Measures a system whose plan is made, and prints its row. */
static void measure(forces_case *c)
{
    bench_run *const run = c->run;
    const bench_task task = {c, 1, 1, 1, NULL, run_once, check};
    const char *const mode = fmo_mode_name(c->options.mode);
    bench_cell cell =
        bench_cell_make(run, run->gpu ? BENCH_ON_GPU : BENCH_ON_CPU, mode, NULL, "gradients");
    const double build = time_runs(c, 0, 1.0, 1.0), of_J = time_runs(c, 1, 1.0, 0.0);
    const double of_K = time_runs(c, 1, 0.0, 1.0);
    if (build < 0.0 || of_J < 0.0 || of_K < 0.0) return;
    snprintf(cell.table, sizeof cell.table, "systems");
    snprintf(cell.row, sizeof cell.row, "%s", c->name);
    snprintf(cell.column, sizeof cell.column, "%s", mode);
    c->of_J = 1.0;
    bench_measure(run, &cell, &task);
    if (run->err.status != FMO_OK) return;
    bench_cell *const kept = &run->cell[run->cell_num - 1];
    bench_cell_number(kept, "nao", c->nao);
    bench_cell_number(kept, "cutoff", c->options.cutoff);
    bench_cell_number(kept, "build_seconds", build);
    bench_cell_number(kept, "of_J_seconds", of_J);
    bench_cell_number(kept, "of_K_seconds", of_K);
    bench_cell_number(kept, "error_gradient", c->error);
    if (run->options->quiet) return;
    printf("  %-22s %5d %12.4g %12.4g %8.2f %9.1e %10.4g %10.4g%s\n", c->name, c->nao, 1e3 * build,
           1e3 * kept->median, kept->median / build, c->error, 1e3 * of_J, 1e3 * of_K,
           kept->check.wrong ? " WRONG" : "");
    fflush(stdout);
}

/* Makes the data set, its density and the plan. Returns false after an error, and for a system that
 * is larger than `max_functions` functions. */
static bool prepare(forces_case *c, const char *geometry, const char *basis, int max_functions)
{
    fmo_error err = {FMO_OK, ""};
    fmo_molecule *molecule = NULL;
    fmo_status status = fmo_molecule_read_xyz(geometry, &molecule, &err);
    if (status == FMO_OK) status = fock_make_dataset(molecule, basis, &c->dataset, &err);
    fmo_molecule_destroy(molecule);
    if (failed(c, status, &err)) return false;
    c->nao = fmo_basis_ao_num(fmo_dataset_basis(c->dataset));
    c->nuclei = fmo_basis_nucleus_num(fmo_dataset_basis(c->dataset));
    const size_t one = (size_t)c->nao * (size_t)c->nao;
    if (c->nao > max_functions) return false;
    c->density = bench_alloc(c->run, 3 * one, sizeof *c->density, "density, J and K");
    c->gradient = bench_alloc(c->run, 3 * (size_t)c->nuclei, sizeof *c->gradient, "a gradient");
    if (!c->density || !c->gradient) return false;
    c->coulomb = c->density + one;
    c->exchange = c->coulomb + one;
    status =
        fock_scf_density(c->dataset, &c->options, (int)c->run->options->cycles, c->density, &err);
    if (status == FMO_OK)
        status = fmo_fock_plan_create(fmo_dataset_basis(c->dataset), &c->options, &c->plan, &err);
    return !failed(c, status, &err);
}

static void run_system(bench_run *run, const char *name, const char *geometry, const char *basis)
{
    const bench_options *const o = run->options;
    forces_case c = {.run = run, .name = name};
    char path[4096];
    bench_geometry_path(o, geometry, sizeof path, path);
    fmo_fock_options_init(&c.options);
    c.options.mode = run->gpu ? FMO_MODE_FUSED : FMO_MODE_CPU;
    c.options.threads = run->threads;
    c.options.cutoff = o->cutoff;
    if (prepare(&c, path, basis, o->systems || run->gpu ? INT32_MAX : FORCES_NAO)) measure(&c);
    fmo_fock_plan_destroy(c.plan);
    fmo_dataset_destroy(c.dataset);
    free(c.density);
    free(c.gradient);
}

/* Measures the single molecules among the systems of `fock`; on the CPU the small ones if --systems
 * selects none. */
void bench_forces(bench_run *run)
{
    const bench_options *const o = run->options;
    static const struct {
        const char *name, *geometry, *basis;
        int fragments;
    } systems[] = {
#define ROW(name, geometry, basis, peer, peer_ms, target_ms, fragments) \
    {name, geometry, basis, fragments},
        FOCK_SYSTEM_TABLE(ROW)
#undef ROW
    };
    if (!o->quiet) {
        printf("\nforces: J and K, and the derivative of their energy, mode %s, cutoff %g; times "
               "in ms; errors in hartree/bohr, against cutoff %g\n",
               fmo_mode_name(run->gpu ? FMO_MODE_FUSED : FMO_MODE_CPU), o->cutoff,
               exact_share * o->cutoff);
        printf("  %-22s %5s %12s %12s %8s %9s %10s %10s\n", "system", "nao", "J and K", "gradient",
               "ratio", "error", "of J", "of K");
    }
    for (size_t s = 0; s < sizeof systems / sizeof *systems && run->err.status == FMO_OK; s++)
        if (systems[s].fragments == 1 && bench_listed(o->systems, systems[s].name))
            run_system(run, systems[s].name, systems[s].geometry, systems[s].basis);
}
