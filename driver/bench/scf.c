/* scf: RHF of many displaced copies of a molecule, starting from geometries: one after the other,
 * in one call of fmo_scf_run_batch, and by PySCF if the Python has it. Reports molecules per
 * second, and compares energies. Also RHF of a large molecule, and plans alone. Next: fock.c. */
#define _GNU_SOURCE
#include "fock.h"
#include "molecules.h"
#include "driver/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <fmo/basis_set.h>
#include <fmo/scf.h>

/* Ways to run the molecules: SCFs, or only their plans. */
enum { ALONE, BATCH, PYSCF, PLANS, WAYS };
static const char *const way_name[WAYS] = {"one by one", "batch", "PySCF", "plans"};
enum {
    SCFS = 1 << ALONE | 1 << BATCH | 1 << PYSCF,
    ONE_SCF = 1 << ALONE,
    PLANS_ALONE = 1 << PLANS
};

/* The subject of a row: the name of a geometry, or edge^3 waters on a grid. X(name, geometry, edge,
 * basis set, ways, number of molecules with a GPU, number without; 0: left out) */
#define SCF_SYSTEM_TABLE(X)                                                   \
    X("water008/6-31G", "water008", 0, "6-31G", SCFS, 1000, 200)              \
    X("water001/6-31G", "water001", 0, "6-31G", SCFS, 10000, 400)             \
    X("water008/6-31G*", "water008", 0, "6-31G*", SCFS, 1000, 50)             \
    X("water001/cc-pVDZ", "water001", 0, "cc-pVDZ", SCFS, 1000, 200)          \
    X("plans/water008/6-31G", "water008", 0, "6-31G", PLANS_ALONE, 1000, 200) \
    X("plans/water064/6-31G", "water064", 0, "6-31G", PLANS_ALONE, 1, 1)      \
    X("water216/6-31G", "", 6, "6-31G", ONE_SCF, 1, 0)                        \
    X("water512/6-31G", "", 8, "6-31G", ONE_SCF, 1, 0)

typedef struct scf_system {
    const char *name, *geometry;
    int edge;
    const char *basis;
    int ways, many, few;
} scf_system;

static const scf_system systems[] = {
#define ROW(name, geometry, edge, basis, ways, many, few) \
    {name, geometry, edge, basis, ways, many, few},
    SCF_SYSTEM_TABLE(ROW)
#undef ROW
};
enum { SYSTEM_NUM = sizeof systems / sizeof systems[0] };

/* Maximum displacement of a fragment's nuclei, bohr. Tolerances, hartree: `agreed` for the
 * difference between a batch and single runs, `agreed_pyscf` between fmo and PySCF, which uses a
 * slightly different unit of length. */
static const double displacement = 0.05, agreed = 1e-9, agreed_pyscf = 1e-6;

/* Runs RHF of molecules in bohr until the time is over, with PySCF's own basis set of the given
 * name; prints their number, the seconds and the energies. */
static const char pyscf_script[] =
    "import json, sys, time\n"
    "from pyscf import gto, lib, scf\n"
    "lib.num_threads(int(sys.argv[3]))\n"
    "molecules, energies = json.load(open(sys.argv[1])), []\n"
    "begin = time.perf_counter()\n"
    "for atoms in molecules:\n"
    "    if energies and time.perf_counter() - begin > float(sys.argv[4]): break\n"
    "    mf = scf.RHF(gto.M(atom=atoms, basis=sys.argv[2], unit='Bohr', verbose=0))\n"
    "    mf.conv_tol, mf.conv_tol_grad = 1e-9, 3e-5\n"
    "    energies.append(mf.kernel())\n"
    "print(len(energies), time.perf_counter() - begin)\n"
    "for e in energies: print('%.12f' % e)\n";

typedef struct scf_case {
    const scf_system *system;
    fmo_mode mode;
    int count, done;         /* molecules; those completed in the last timing */
    fmo_molecule **molecule; /* [count] */
    fmo_dataset **dataset; /* [count] made and freed in each timing, which begins with geometries */
    double *energy, *alone; /* [count] of the batch; of single runs or PySCF */
    double cpu_seconds;     /* of all threads in the last timing; varies less on a busy machine */
    bench_run *run;
    /* for plans alone */
    const fmo_basis **basis; /* [count] */
    fmo_fock_plan **plan;    /* [count] */
} scf_case;

/* CPU time of this process and of its terminated children, seconds. */
static double cpu_seconds(void)
{
    double seconds = 0.0;
    for (int who = 0; who < 2; who++) {
        struct rusage use;
        if (getrusage(who ? RUSAGE_CHILDREN : RUSAGE_SELF, &use) != 0) return NAN;
        seconds += (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                   1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    }
    return seconds;
}

static fmo_scf_options options_of(const bench_run *run, const scf_case *c)
{
    fmo_scf_options options;
    fmo_scf_options_init(&options);
    options.fock.mode = c->mode;
    options.fock.threads = run->threads;
    options.orbitals = 0; /* only energies */
    return options;
}

static fmo_scf_input input_of(const fmo_dataset *dataset)
{
    return (fmo_scf_input){.basis = fmo_dataset_basis(dataset),
                           .electron_num = fmo_dataset_electron_num(dataset),
                           .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
}

static void drop_datasets(scf_case *c)
{
    for (int k = 0; k < c->count; k++) {
        fmo_dataset_destroy(c->dataset[k]);
        c->dataset[k] = NULL;
    }
}

/* Runs the SCFs one after the other until the time is over. @return seconds */
static double run_alone(bench_run *run, scf_case *c, const fmo_basis_set *set)
{
    const fmo_scf_options options = options_of(run, c);
    fmo_error err = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    const double begin = driver_seconds();
    for (c->done = 0; c->done < c->count && status == FMO_OK; c->done++) {
        fmo_dataset *dataset = NULL;
        fmo_scf_result *result = NULL;
        if (c->done > 0 && driver_seconds() - begin > run->options->seconds) break;
        status = fmo_dataset_create(c->molecule[c->done], set, 0, &dataset, &err);
        if (status == FMO_OK) {
            const fmo_scf_input input = input_of(dataset);
            status = fmo_scf_run(&input, &options, &result, &err);
        }
        if (status == FMO_OK) c->alone[c->done] = result->energy;
        fmo_scf_result_destroy(result);
        fmo_dataset_destroy(dataset);
    }
    const double seconds = driver_seconds() - begin;
    if (status != FMO_OK) bench_fail(run, status, "%s: %s", c->system->name, err.message);
    return seconds;
}

static void take_energy(size_t index, fmo_scf_job *job, void *user)
{
    scf_case *c = user;
    c->energy[index] = job->status == FMO_OK ? job->result->energy : NAN;
    fmo_scf_result_destroy(job->result);
    job->result = NULL;
}

/* Runs all SCFs in one call. @return seconds */
static double run_batch(bench_run *run, scf_case *c, const fmo_basis_set *set)
{
    fmo_scf_options options = options_of(run, c);
    fmo_error err = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    fmo_scf_job *job = bench_alloc(run, (size_t)c->count, sizeof *job, "jobs");
    if (!job) return -1.0;
    options.finished = take_energy;
    options.user = c;
    memset(job, 0, (size_t)c->count * sizeof *job);
    const double begin = driver_seconds();
    for (int k = 0; k < c->count && status == FMO_OK; k++) {
        status = fmo_dataset_create(c->molecule[k], set, 0, &c->dataset[k], &err);
        if (status == FMO_OK) job[k].input = input_of(c->dataset[k]);
    }
    if (status == FMO_OK) status = fmo_scf_run_batch(job, (size_t)c->count, &options, &err);
    drop_datasets(c);
    const double seconds = driver_seconds() - begin;
    c->done = c->count;
    free(job);
    if (status != FMO_OK) bench_fail(run, status, "%s: %s", c->system->name, err.message);
    return seconds;
}

/* ---- PySCF ----------------------------------------------------------------------------------- */

static bool write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f) return false;
    const bool written = fputs(text, f) >= 0;
    return fclose(f) == 0 && written;
}

static bool write_molecules(const char *path, const scf_case *c)
{
    FILE *f = fopen(path, "w");
    if (!f) return false;
    for (int k = 0; k < c->count; k++) {
        const fmo_molecule *m = c->molecule[k];
        for (int i = 0; i < m->nucleus_num; i++)
            fprintf(f, "%s[\"%s\", [%.17g, %.17g, %.17g]]",
                    i   ? ", "
                    : k ? "],\n["
                        : "[[",
                    fmo_element_symbol(m->number[i]), m->coord[3 * i], m->coord[3 * i + 1],
                    m->coord[3 * i + 2]);
    }
    fputs("]]\n", f);
    const bool written = !ferror(f);
    return fclose(f) == 0 && written;
}

/* Runs the SCFs with PySCF, using the Python of --python. @return seconds; NaN if it has no
 * PySCF */
static double run_pyscf(bench_run *run, scf_case *c)
{
    char folder[] = "/tmp/fmo-bench-XXXXXX", script[64], data[64], command[1024];
    double seconds = NAN;
    c->done = 0;
    if (!mkdtemp(folder)) return NAN;
    snprintf(script, sizeof script, "%s/scf.py", folder);
    snprintf(data, sizeof data, "%s/molecules.json", folder);
    snprintf(command, sizeof command, "'%s' %s %s %s %d %g 2>/dev/null", run->options->python,
             script, data, c->system->basis, run->threads, run->options->seconds);
    if (write_text(script, pyscf_script) && write_molecules(data, c)) {
        FILE *f = popen(command, "r");
        if (f && fscanf(f, "%d %lf", &c->done, &seconds) == 2 && c->done <= c->count) {
            for (int k = 0; k < c->done; k++)
                if (fscanf(f, "%lf", &c->alone[k]) != 1) c->alone[k] = NAN;
        } else {
            seconds = NAN;
        }
        if (f && pclose(f) != 0) seconds = NAN;
    }
    (void)remove(script);
    (void)remove(data);
    (void)remove(folder);
    return seconds;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bench_cell cell_of(const bench_run *run, const scf_case *c, int way)
{
    const bool gpu = c->mode == FMO_MODE_FUSED && way != PYSCF;
    bench_cell cell =
        bench_cell_make(run, gpu ? BENCH_ON_GPU : BENCH_ON_CPU,
                        way == PYSCF ? "pyscf" : fmo_mode_name(c->mode), NULL, "molecules");
    snprintf(cell.table, sizeof cell.table, "SCF");
    snprintf(cell.row, sizeof cell.row, way == PLANS ? "%s" : "%s, %s", c->system->name,
             way_name[way]);
    snprintf(cell.column, sizeof cell.column, "%s", fmo_mode_name(c->mode));
    return cell;
}

/* Adds the parameters of a stored cell. */
static void add_parameters(const scf_case *c, bench_cell *cell)
{
    bench_cell_text(cell, "basis", c->system->basis);
    bench_cell_number(cell, "atoms", c->molecule[0]->nucleus_num);
    bench_cell_number(cell, "molecules", c->count);
    bench_cell_number(cell, "threads", c->run->threads);
    bench_cell_number(cell, "cpu_seconds", c->cpu_seconds * c->count / c->done);
}

/* Stores a cell of `done` molecules, extrapolated to all. Energies are compared with the batch's,
 * if there is one. */
static void keep(bench_run *run, const scf_case *c, int way, double seconds)
{
    bench_cell cell = cell_of(run, c, way);
    if (isnan(seconds)) {
        bench_leave_out(run, &cell, "no PySCF: select a Python that has it with --python");
        return;
    }
    cell.items = c->count;
    cell.items_run = c->done;
    cell.extrapolated = c->done < c->count;
    cell.repeat = 1;
    cell.median = cell.min = cell.max = cell.first = seconds * c->count / c->done;
    cell.spread = NAN;
    const bool others = way != BATCH && c->system->ways >> BATCH & 1;
    for (int k = 0; k < c->done && !others; k++)
        bench_check_exact(&cell.check, isfinite(way == BATCH ? c->energy[k] : c->alone[k]));
    for (int k = 0; k < c->done && others; k++)
        bench_check_bound(&cell.check, c->energy[k], c->alone[k],
                          way == PYSCF ? agreed_pyscf : agreed);
    bench_keep(run, &cell);
    add_parameters(c, &run->cell[run->cell_num - 1]);
}

static void print_row(const bench_run *run, const scf_case *c, int way)
{
    const bench_cell *cell = &run->cell[run->cell_num - 1];
    printf("  %-20s %-5s %-10s %9d", c->system->name, way == PYSCF ? "cpu" : fmo_mode_name(c->mode),
           way_name[way], c->count);
    if (*cell->left_out)
        printf("  left out: %s\n", cell->left_out);
    else
        printf(" %9d %10.4g%s %12.4g %10.4g %10.1e%s\n", c->done, cell->median,
               cell->extrapolated ? "~" : " ", (double)cell->items / cell->median,
               c->cpu_seconds * c->count / c->done, cell->check.error,
               cell->check.wrong ? "!" : "");
    fflush(stdout);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Makes the plans of all molecules in one call. Destroying them is not timed. @return seconds */
static double make_plans(void *user, int64_t all)
{
    scf_case *c = user;
    fmo_fock_options options;
    fmo_error err = {FMO_OK, ""};
    (void)all;
    fmo_fock_options_init(&options);
    options.mode = c->mode;
    options.threads = c->run->threads;
    const double before = cpu_seconds(), begin = driver_seconds();
    const fmo_status status =
        c->count > 1
            ? fmo_fock_plan_create_batch(c->basis, (size_t)c->count, &options, c->plan, NULL)
            : fmo_fock_plan_create(c->basis[0], &options, c->plan, &err);
    const double seconds = driver_seconds() - begin;
    c->cpu_seconds = cpu_seconds() - before;
    c->done = 0;
    for (int k = 0; k < c->count; k++) {
        c->done += c->plan[k] != NULL;
        fmo_fock_plan_destroy(c->plan[k]);
    }
    if (status == FMO_OK) return seconds;
    bench_fail(c->run, status, "%s: %d of %d plans were made; %s", c->system->name, c->done,
               c->count, err.message);
    return -1.0;
}

static void check_plans(void *user, int64_t all, bench_check *check)
{
    const scf_case *c = user;
    (void)all;
    bench_check_exact(check, c->done == c->count);
}

/* Measures the plans of all molecules, after one call that is not timed. */
static void measure_plans(bench_run *run, scf_case *c, const fmo_basis_set *set)
{
    const bench_task task = {.user = c,
                             .units = 1,
                             .weight = c->count,
                             .representative = 1,
                             .run = make_plans,
                             .check = check_plans};
    bench_cell cell = cell_of(run, c, PLANS);
    fmo_error err = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    c->basis = bench_alloc(run, (size_t)c->count, sizeof(*c->basis), "plans");
    c->plan = bench_alloc(run, (size_t)c->count, sizeof(*c->plan), "plans");
    for (int k = 0; k < c->count && status == FMO_OK && run->err.status == FMO_OK; k++) {
        status = fmo_dataset_create(c->molecule[k], set, 0, &c->dataset[k], &err);
        if (status == FMO_OK) c->basis[k] = fmo_dataset_basis(c->dataset[k]);
    }
    if (status != FMO_OK) bench_fail(run, status, "%s: %s", c->system->name, err.message);
    /* not timed: the first call starts CUDA */
    if (run->err.status == FMO_OK && make_plans(c, 1) >= 0.0) bench_measure(run, &cell, &task);
    if (run->err.status == FMO_OK) {
        add_parameters(c, &run->cell[run->cell_num - 1]);
        if (!run->options->quiet) print_row(run, c, PLANS);
    }
    drop_datasets(c);
    free(c->basis);
    free(c->plan);
}

static void measure(bench_run *run, scf_case *c, const fmo_basis_set *set)
{
    /* the batch first: the other energies are compared with its */
    static const int order[] = {BATCH, ALONE, PYSCF};
    for (size_t w = 0; w < sizeof order / sizeof order[0] && run->err.status == FMO_OK; w++) {
        const int way = order[w];
        if (!(c->system->ways >> way & 1)) continue;
        const double before = cpu_seconds();
        const double seconds = way == BATCH   ? run_batch(run, c, set)
                               : way == ALONE ? run_alone(run, c, set)
                                              : run_pyscf(run, c);
        if (run->err.status != FMO_OK) return;
        c->cpu_seconds = cpu_seconds() - before;
        keep(run, c, way, seconds);
        if (!run->options->quiet) print_row(run, c, way);
    }
    if (c->system->ways >> PLANS & 1) measure_plans(run, c, set);
}

/* Makes the molecules of a system and measures it in one mode. */
static void run_system(bench_run *run, const scf_system *system, fmo_mode mode)
{
    const int64_t requested = run->options->fragments;
    char path[4096];
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_molecule *from = NULL;
    scf_case c = {.system = system, .mode = mode, .run = run};
    c.count = mode == FMO_MODE_FUSED ? system->many : system->few;
    if (!c.count) return; /* would take hours */
    if (requested > 0 && c.count > 1) c.count = (int)requested;
    const size_t count = (size_t)c.count;
    c.molecule = bench_alloc(run, count, sizeof *c.molecule, "molecules");
    c.dataset = bench_alloc(run, count, sizeof *c.dataset, "molecules");
    c.energy = bench_alloc(run, 2 * count, sizeof *c.energy, "energies");
    if (run->err.status != FMO_OK) goto done;
    memset(c.molecule, 0, count * sizeof *c.molecule);
    memset(c.dataset, 0, count * sizeof *c.dataset);
    c.alone = c.energy + count;
    const uint64_t seed = (uint64_t)run->options->seed;
    bench_geometry_path(run->options, system->geometry, sizeof path, path);
    fmo_status status = fmo_basis_set_read(system->basis, &set, &err);
    if (status == FMO_OK && system->edge)
        status = bench_water_cluster(system->edge, seed, &c.molecule[0], &err);
    else if (status == FMO_OK)
        status = fmo_molecule_read_xyz(path, &from, &err);
    for (size_t k = 0; k < count && from && status == FMO_OK; k++)
        status = bench_displaced(from, displacement, seed + k, &c.molecule[k], &err);
    if (status != FMO_OK)
        bench_fail(run, status, "%s; --geometries names the folder", err.message);
    else
        measure(run, &c, set);
done:
    for (size_t k = 0; k < count && c.molecule; k++) bench_molecule_destroy(c.molecule[k]);
    fmo_molecule_destroy(from);
    fmo_basis_set_destroy(set);
    free(c.molecule);
    free(c.dataset);
    free(c.energy);
}

void bench_scf(bench_run *run)
{
    const bench_options *o = run->options;
    const fmo_mode automatic = run->gpu ? FMO_MODE_FUSED : FMO_MODE_CPU;
    const int64_t modes = o->modes >= 0 ? o->modes : (int64_t)1 << automatic;
    if (!o->quiet)
        printf("\nscf: RHF to 1e-9 hartree from geometries, displaced copies, %d threads; "
               "~ extrapolated from those done in %g s\n  %-20s %-5s %-10s %9s %9s %10s  %12s %10s "
               "%10s\n",
               run->threads, o->seconds, "system", "mode", "how", "molecules", "done", "seconds",
               "molecules/s", "CPU s", "|dE|");
    for (int s = 0; s < SYSTEM_NUM; s++) {
        if (!bench_listed(o->systems, systems[s].name)) continue;
        for (int mode = 0; mode < FMO_MODE_COUNT && run->err.status == FMO_OK; mode++)
            if (modes >> mode & 1) run_system(run, &systems[s], (fmo_mode)mode);
    }
}

const char *bench_scf_system(int system)
{
    return system < SYSTEM_NUM ? systems[system].name : NULL;
}
