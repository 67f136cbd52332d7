/* The Newton solver: energies of PySCF for molecules whose SCF is difficult (energies_hard.json,
 * energies_rohf_hard.json), with `newton` and where DIIS was followed
 * from a saddle point; energies that never rise; numbers of builds; the same energies as DIIS where
 * that is easy; its use where DIIS is too slow. Arguments: the folder of the lists, the mode,
 * [words that names of difficult molecules must contain]. */
#include <fmo/scf.h>

#include "tests/scf/list.h"

/* What the cycles of an SCF did. */
typedef struct trace {
    const char *name;
    double energy; /* of the last cycle, if that was one of the Newton solver, else NaN */
    double lowest; /* of the cycles of the Newton solver */
    int newton, builds, max_builds;
} trace;

/* Errors of builds and rounding: cutoff 1e-12, energies up to 4000 hartree. */
static const double noise = 1e-10;

static void take_cycle(const fmo_scf_cycle *c, void *user)
{
    trace *const t = user;
    if (getenv("FMO_TEST_VERBOSE"))
        printf("  %3d %18.10f %10.2e %9.2e %d builds\n", c->cycle, c->energy, c->energy_change,
               c->gradient, c->builds);
    t->builds += c->builds;
    if (c->newton) {
        CHECK(!(c->energy > t->energy + noise), "%s: cycle %d rises from %.12f to %.12f", t->name,
              c->cycle, t->energy, c->energy);
        t->newton++;
        t->max_builds = c->builds > t->max_builds ? c->builds : t->max_builds;
        t->lowest = fmin(t->lowest, c->energy);
    }
    t->energy = c->newton ? c->energy : NAN;
}

static fmo_mode mode;

static fmo_scf_options options_of(const scf_entry *entry, fmo_scf_solver solver, trace *t)
{
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = mode;
    o.solver = solver;
    o.energy_convergence = 1e-10;
    o.gradient_convergence = 1e-6;
    o.unrestricted = entry->multiplicity > 0 && !entry->restricted;
    o.restricted = entry->restricted;
    o.guess_mix = entry->multiplicity == 1;
    o.callback = take_cycle;
    o.user = t;
    *t = (trace){.name = entry->name, .energy = NAN, .lowest = INFINITY};
    return o;
}

/* Runs the SCF of an entry, which must converge. */
static fmo_scf_result *run(const scf_entry *entry, const fmo_scf_options *o)
{
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    const fmo_scf_input input = {.basis = fmo_dataset_basis(entry->dataset),
                                 .electron_num = fmo_dataset_electron_num(entry->dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(entry->dataset),
                                 .multiplicity = entry->multiplicity};
    CHECK(fmo_scf_run(&input, o, &r, &err) == FMO_OK, "%s %s: %s", entry->name, entry->basis,
          err.message);
    return r;
}

/* PySCF's energy is reached, at a minimum, from the Newton solver and from DIIS. Where two minima
 * are near the path, rounding may decide which is found: stretched N2 in 6-31G has another one,
 * 0.13 hartree below PySCF's. */
static void check_hard(const scf_entry *entry)
{
    static const fmo_scf_solver solvers[] = {FMO_SCF_SOLVER_NEWTON, FMO_SCF_SOLVER_AUTO};
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        trace t;
        fmo_scf_options o = options_of(entry, solvers[k], &t);
        o.stability = FMO_SCF_STABILITY_FOLLOW;
        fmo_scf_result *const r = run(entry, &o);
        if (!r) continue;
        printf("%-15s %-7s %-11s %18.10f %+.1e %3d cycles, %3d builds, %d descents%s\n",
               entry->name, entry->basis, fmo_scf_solver_name(r->solver), r->energy,
               r->energy - entry->energy, r->cycles, r->builds, r->descents,
               r->rescued ? ", rescued" : "");
        CHECK(r->energy < entry->energy + 1e-7 && r->energy > entry->energy - 0.2,
              "%s %s, %s: got %.10f, expected %.10f or a lower minimum", entry->name, entry->basis,
              fmo_scf_solver_name(solvers[k]), r->energy, entry->energy);
        CHECK(!(r->hessian_lowest < FMO_SCF_UNSTABLE), "%s: unstable, %g", entry->name,
              r->hessian_lowest);
        CHECK(t.newton == r->newton_cycles && (solvers[k] != FMO_SCF_SOLVER_NEWTON || t.newton > 0),
              "%s: %d cycles of newton, result %d", entry->name, t.newton, r->newton_cycles);
        CHECK(t.newton == 0 || r->energy <= t.lowest + noise, "%s: ends at %.10f above %.10f",
              entry->name, r->energy, t.lowest);
        fmo_scf_result_destroy(r);
    }
}

/* Where DIIS finds the minimum, both agree; all builds are those of the cycles. */
static void check_easy(const scf_entry *entry)
{
    double energy[2] = {NAN, NAN};
    for (int newton = 0; newton < 2; newton++) {
        trace t;
        fmo_scf_options o =
            options_of(entry, newton ? FMO_SCF_SOLVER_NEWTON : FMO_SCF_SOLVER_DIAGONALISE, &t);
        fmo_scf_result *const r = run(entry, &o);
        if (!r) continue;
        energy[newton] = r->energy;
        CHECK(r->builds == t.builds + o.guess_mix &&
                  (newton || r->builds == r->cycles + o.guess_mix),
              "%s: %d builds, those of %d cycles %d", entry->name, r->builds, r->cycles, t.builds);
        CHECK(newton ? t.newton > 1 && t.max_builds > 2 : t.newton == 0,
              "%s: %d of %d cycles by newton, at most %d builds", entry->name, t.newton, r->cycles,
              t.max_builds);
        CHECK(!r->rescued && !r->descents, "%s: %s", entry->name, r->verdict);
        fmo_scf_result_destroy(r);
    }
    CHECK(fabs(energy[0] - energy[1]) < 1e-9, "%s %s: DIIS %.12f, newton %.12f", entry->name,
          entry->basis, energy[0], energy[1]);
}

/* Where a level shift slows DIIS down, the Newton solver takes over for the last quarter of the
 * cycles, if these are 40 or more. */
static void check_rescue(const scf_entry *entry, int cycles, int rescued)
{
    trace t;
    fmo_scf_options o = options_of(entry, FMO_SCF_SOLVER_AUTO, &t);
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    const fmo_scf_input input = {.basis = fmo_dataset_basis(entry->dataset),
                                 .electron_num = fmo_dataset_electron_num(entry->dataset),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(entry->dataset),
                                 .multiplicity = entry->multiplicity};
    o.diis_size = 1;
    o.level_shift = 20.0;
    o.max_cycles = cycles;
    const fmo_status status = fmo_scf_run(&input, &o, &r, &err);
    CHECK(status == (rescued ? FMO_OK : FMO_ERR_CHECK) && r, "%s: %s", entry->name, err.message);
    if (!r) return;
    CHECK(r->rescued == rescued && (t.newton > 0) == rescued, "%s: %s", entry->name, r->verdict);
    CHECK(r->cycles <= cycles, "%d of %d cycles", r->cycles, cycles);
    CHECK(!strstr(r->verdict, "Newton") == !rescued, "%s", r->verdict);
    if (rescued)
        CHECK(fabs(r->energy - entry->energy) < 1e-8, "%s: got %.10f, expected %.10f", entry->name,
              r->energy, entry->energy);
    fmo_scf_result_destroy(r);
}

static void check_list(const char *folder, const char *file, const char *const *words, int num,
                       void (*check)(const scf_entry *))
{
    char path[4096];
    scf_entry entry;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    json_t *root = scf_list_read(path);
    for (size_t k = 0; root && scf_list_entry(root, k, &entry); k++) {
        int selected = num == 0;
        for (int word = 0; word < num; word++) selected |= strstr(entry.name, words[word]) != NULL;
        if (selected && entry.dataset) check(&entry);
        fmo_dataset_destroy(entry.dataset);
    }
    json_decref(root);
}

static void rescue(const scf_entry *entry)
{
    check_rescue(entry, 40, 1);
    check_rescue(entry, 30, 0);
}

int main(int argc, char **argv)
{
    static const char *const easy[] = {"LiH", "NH3", "C2H2", "HeH+"}, *const open[] = {"NH2"},
                             *const broken[] = {"stretched"}, *const slow[] = {"LiH"},
                             *const rohf[] = {"NH2", "CH2", "H2 triplet", "C2H5"};
    fmo_error err = {FMO_OK, ""};
    if (argc < 3) return 2;
    mode = scf_mode_of(argv[2]);
    if (!scf_mode_runs(mode, &err)) return check_skip(err.message);
    check_list(argv[1], "energies.json", easy, 4, check_easy);
    check_list(argv[1], "energies_uhf.json", open, 1, check_easy);
    check_list(argv[1], "energies.json", slow, 1, rescue);
    check_list(argv[1], "energies_rohf.json", rohf, 4, check_easy);
    check_list(argv[1], "energies_rohf.json", open, 1, rescue);
    check_list(argv[1], "energies_uhf.json", broken, 1, check_hard);
    check_list(argv[1], "energies_hard.json", (const char *const *)argv + 3, argc - 3, check_hard);
    check_list(argv[1], "energies_rohf_hard.json", (const char *const *)argv + 3, argc - 3,
               check_hard);
    return check_summary();
}
