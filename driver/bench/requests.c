/* requests: builds of more than J and K of one symmetric density, compared with that: spins,
 * general densities, operators, several densities. On the GPU or, without one, on the CPU. Next:
 * forces.c, fock.c. */
#include "fock.h"
#include "driver/base/clock.h"
#include "molecules.h"

#include <stdlib.h>
#include <string.h>
#include <fmo/fock.h>

/* WATERS_EDGE: of the cube of waters; CPU_NAO: largest number of functions of systems that were not
 * selected by --systems on the CPU. */
enum { JOBS_MAX = 4, WATERS_EDGE = 6, CPU_NAO = 160 };

/* Allowed error of K of 1/r beside the sum of K of erf and of erfc, in cutoffs. */
static const double tolerance = 100.0;

/* A request: its jobs, one for each density. */
typedef struct bench_request {
    const char *name;
    int jobs;
    fmo_symmetry symmetry;
    int coulombs;       /* the first jobs request J */
    int first_exchange; /* this job and those after it request K */
    fmo_operator of_K;  /* zero: 1/r */
    int against;        /* the request whose time the ratio refers to */
} bench_request;

#define OMEGA 0.3
#define COULOMB       \
    {                 \
        0.0, 0.0, 0.0 \
    }
static const bench_request requests[] = {
    {"J and K", 1, FMO_SYMMETRIC, 1, 0, COULOMB, 0},
    /* J of the sum of both spins' densities, K of each */
    {"two spins", 3, FMO_SYMMETRIC, 1, 1, COULOMB, 0},
    {"general", 1, FMO_GENERAL, 1, 0, COULOMB, 0},
    {"long range", 1, FMO_SYMMETRIC, 1, 0, {0.2, 0.8, OMEGA}, 0},
    {"four densities", 4, FMO_SYMMETRIC, 4, 0, COULOMB, 0},
    {"K", 1, FMO_SYMMETRIC, 0, 0, COULOMB, 5},
    {"K of erf", 1, FMO_SYMMETRIC, 0, 0, {0.0, 1.0, OMEGA}, 5},
    {"K of erfc", 1, FMO_SYMMETRIC, 0, 0, {1.0, -1.0, OMEGA}, 5}};
enum { REQUESTS = sizeof requests / sizeof *requests, OF_K = REQUESTS - 3 };

/* One system. */
typedef struct request_case {
    bench_run *run;
    const char *name;
    fmo_dataset *dataset;
    fmo_fock_plan *plan;
    int nao;
    const bench_request *request;
    double cutoff, *density, *coulomb, *exchange; /* [JOBS_MAX][nao][nao] */
    double *sum;                                  /* [nao][nao] K of 1/r minus those of its parts */
} request_case;

static bool failed(const request_case *c, fmo_status status, const fmo_error *err)
{
    if (status == FMO_OK) return false;
    bench_fail(c->run, status, "%s: %s", c->name, err->message);
    return true;
}

/* Builds what the request says. */
static double run_once(void *user, int64_t n)
{
    const request_case *const c = user;
    const bench_request *const r = c->request;
    const size_t one = (size_t)c->nao * (size_t)c->nao;
    fmo_fock_job jobs[JOBS_MAX];
    fmo_error err = {FMO_OK, ""};
    (void)n;
    memset(jobs, 0, sizeof jobs);
    for (int k = 0; k < r->jobs; k++) {
        const size_t at = (size_t)k * one;
        jobs[k] = (fmo_fock_job){.plan = c->plan,
                                 .density = c->density + at,
                                 .coulomb = k < r->coulombs ? c->coulomb + at : NULL,
                                 .exchange = k >= r->first_exchange ? c->exchange + at : NULL,
                                 .symmetry = r->symmetry,
                                 .exchange_operator = r->of_K};
    }
    const double begin = driver_seconds();
    const fmo_status status = fmo_fock_build_batch(jobs, (size_t)r->jobs, &err);
    const double seconds = driver_seconds() - begin;
    return failed(c, status, &err) ? -1.0 : seconds;
}

/* Adds K to or subtracts it from the sum; with erfc, the last, the sum must be zero. */
static void check(void *user, int64_t n, bench_check *result)
{
    const request_case *const c = user;
    const int number = (int)(c->request - requests);
    const size_t one = (size_t)c->nao * (size_t)c->nao;
    (void)n;
    for (size_t e = 0; e < one && number >= OF_K; e++) {
        c->sum[e] = number == OF_K ? c->exchange[e] : c->sum[e] - c->exchange[e];
        if (number == REQUESTS - 1)
            bench_check_bound(result, c->sum[e], 0.0, tolerance * c->cutoff);
    }
}

/* Fills the densities: the symmetric one with small changes, or with changes that are not
 * symmetric. */
static void fill_densities(const request_case *c, const double *density, fmo_symmetry symmetry)
{
    const int64_t n = c->nao, one = n * n;
    for (int64_t e = 0; e < JOBS_MAX * one; e++) {
        const int64_t i = e % one;
        c->density[e] = fock_density(density, c->nao, (uint64_t)(1 + e / one), i);
        if (symmetry == FMO_GENERAL && i / n > i % n) c->density[e] *= 1.1;
    }
}

/* Times all requests of a system and prints its row. */
static void measure(request_case *c, const double *density, fmo_mode mode)
{
    bench_run *const run = c->run;
    const bench_task task = {c, 1, 1, 1, NULL, run_once, check};
    double seconds[REQUESTS];
    bool wrong = false;
    for (int r = 0; r < REQUESTS; r++) {
        bench_cell cell = bench_cell_make(run, run->gpu ? BENCH_ON_GPU : BENCH_ON_CPU,
                                          fmo_mode_name(mode), NULL, "requests");
        c->request = &requests[r];
        fill_densities(c, density, c->request->symmetry);
        snprintf(cell.table, sizeof cell.table, "requests");
        snprintf(cell.row, sizeof cell.row, "%s", c->name);
        snprintf(cell.column, sizeof cell.column, "%s", c->request->name);
        if (run_once(c, 1) < 0.0) return;
        bench_measure(run, &cell, &task);
        if (run->err.status != FMO_OK) return;
        bench_cell *const kept = &run->cell[run->cell_num - 1];
        seconds[r] = kept->median;
        wrong |= kept->check.wrong > 0;
        bench_cell_number(kept, "nao", c->nao);
        bench_cell_number(kept, "cutoff", c->cutoff);
        bench_cell_number(kept, "relative_time", seconds[r] / seconds[c->request->against]);
    }
    if (run->options->quiet) return;
    printf("  %-22s %5d", c->name, c->nao);
    for (int r = 0; r < REQUESTS; r++)
        if (requests[r].against == r)
            printf(" %9.4g", 1e3 * seconds[r]);
        else
            printf(" %14.2f", seconds[r] / seconds[requests[r].against]);
    printf("%s\n", wrong ? " WRONG" : "");
    fflush(stdout);
}

/* Makes the data set of a file or, if geometry is NULL, of a cluster of waters. */
static fmo_status make_dataset(const bench_options *o, const char *geometry, const char *basis,
                               fmo_dataset **dataset, fmo_error *err)
{
    char path[4096];
    fmo_molecule *molecule = NULL;
    if (geometry) bench_geometry_path(o, geometry, sizeof path, path);
    fmo_status status = geometry
                            ? fmo_molecule_read_xyz(path, &molecule, err)
                            : bench_water_cluster(WATERS_EDGE, (uint64_t)o->seed, &molecule, err);
    if (status == FMO_OK) status = fock_make_dataset(molecule, basis, dataset, err);
    if (geometry)
        fmo_molecule_destroy(molecule);
    else
        bench_molecule_destroy(molecule);
    return status;
}

static void run_system(bench_run *run, const char *name, const char *geometry, const char *basis)
{
    const bench_options *const o = run->options;
    request_case c = {.run = run, .name = name, .cutoff = o->cutoff};
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options options;
    double *density = NULL;
    fmo_fock_options_init(&options);
    options.mode = run->gpu ? FMO_MODE_FUSED : FMO_MODE_CPU;
    options.threads = run->threads;
    options.cutoff = o->cutoff;
    if (failed(&c, make_dataset(o, geometry, basis, &c.dataset, &err), &err)) return;
    c.nao = fmo_basis_ao_num(fmo_dataset_basis(c.dataset));
    const size_t one = (size_t)c.nao * (size_t)c.nao;
    if (run->gpu || o->systems || c.nao <= CPU_NAO)
        density = bench_alloc(run, (3 * JOBS_MAX + 2) * one, sizeof *density, "matrices");
    if (density) {
        c.sum = density + one;
        c.density = c.sum + one;
        c.coulomb = c.density + JOBS_MAX * one;
        c.exchange = c.coulomb + JOBS_MAX * one;
        fmo_status status = fock_scf_density(c.dataset, &options, (int)o->cycles, density, &err);
        if (status == FMO_OK)
            status = fmo_fock_plan_create(fmo_dataset_basis(c.dataset), &options, &c.plan, &err);
        if (!failed(&c, status, &err)) measure(&c, density, options.mode);
    }
    fmo_fock_plan_destroy(c.plan);
    fmo_dataset_destroy(c.dataset);
    free(density);
}

static const struct {
    const char *name, *geometry, *basis;
} systems[] = {
    {"water001/6-31G*", "water001", "6-31G*"}, {"water008/6-31G", "water008", "6-31G"},
    {"water008/6-31G*", "water008", "6-31G*"}, {"alkane_C20H42/6-31G*", "alkane_C20H42", "6-31G*"},
    {"water027/6-31G*", "water027", "6-31G*"}, {"water064/6-31G", "water064", "6-31G"},
    {"water216/6-31G", NULL, "6-31G"}};
enum { SYSTEM_NUM = sizeof systems / sizeof *systems };

const char *bench_requests_system(int system)
{
    return system < SYSTEM_NUM ? systems[system].name : NULL;
}

/* Measures the systems; on the CPU the small ones if --systems selects none. */
void bench_requests(bench_run *run)
{
    const bench_options *const o = run->options;
    if (!o->quiet) {
        printf(
            "\nrequests: mode %s, cutoff %g, omega %g; J and K, and K, in ms, others relative to "
            "these\n  %-22s %5s",
            fmo_mode_name(run->gpu ? FMO_MODE_FUSED : FMO_MODE_CPU), o->cutoff, OMEGA, "system",
            "nao");
        for (int r = 0; r < REQUESTS; r++)
            printf(" %*s", requests[r].against == r ? 9 : 14, requests[r].name);
        putchar('\n');
    }
    for (int s = 0; s < SYSTEM_NUM && run->err.status == FMO_OK; s++)
        if (bench_listed(o->systems, systems[s].name))
            run_system(run, systems[s].name, systems[s].geometry, systems[s].basis);
}
