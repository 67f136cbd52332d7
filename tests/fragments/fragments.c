/* FMO2-RHF: energies of other programs (docs/explanation/fmo-method.md), invariances, and limits in
 * which it has to be RHF. fragments DATASETS/fmo2 [large | fused]   large: the cases that take a
 * minute; fused: on a GPU, skipped without */
#include "tests/support/calls.h"
#include "tests/fragments/cases.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Energies of repaired OpenFMO, to 5e-7 hartree, of ABINIT-MP, to 5e-7, or of GAMESS, to 2e-6. */
static void check_energy(const char *name, double expected, double tolerance)
{
    fmo_fragment_system *s = read_case(name);
    fmo_fragment_result *r = run(s, 0, 0.0);
    double total = 0.0, charges = 0.0;
    CHECK(fabs(r->energy2 - expected) <= tolerance, "%s: %.9f, expected %.9f within %g", name,
          r->energy2, expected, tolerance);
    for (int a = 0; a < r->atom_num; a++) charges += r->charge2[a];
    for (int k = 0; k < s->fragment_num; k++) total += s->charge[k];
    CHECK(fabs(charges - total) < 1e-6, "%s: charges sum up to %g, expected %g", name, charges,
          total);
    total = r->energy1;
    for (int k = 0; k < r->pair_num; k++) total += r->pair[k].total;
    CHECK(fabs(total - r->energy2) < 1e-10, "%s: pairs do not sum up", name);
    CHECK(r->scf_pairs + r->es_pairs == r->pair_num, "%s: %d pairs of %d", name,
          r->scf_pairs + r->es_pairs, r->pair_num);
    printf("%s: %.9f, %.1e from %.9f, %d iterations, %.2f s\n", name, r->energy2,
           r->energy2 - expected, expected, r->iterations, r->seconds);
    fmo_fragment_result_destroy(r);
    fmo_fragment_system_destroy(s);
}

/* Rotates and translates a system. */
static void rotate(fmo_fragment_system *s)
{
    const double a = 0.7, b = -1.9, c = 2.6;
    const double R[3][3] = {{cos(a) * cos(b), cos(a) * sin(b) * sin(c) - sin(a) * cos(c),
                             cos(a) * sin(b) * cos(c) + sin(a) * sin(c)},
                            {sin(a) * cos(b), sin(a) * sin(b) * sin(c) + cos(a) * cos(c),
                             sin(a) * sin(b) * cos(c) - cos(a) * sin(c)},
                            {-sin(b), cos(b) * sin(c), cos(b) * cos(c)}};
    for (int k = 0; k < s->atom_num; k++) {
        const double r[3] = {s->coord[3 * k], s->coord[3 * k + 1], s->coord[3 * k + 2]};
        for (int i = 0; i < 3; i++)
            s->coord[3 * k + i] = 1.5 * i - 2.0 + R[i][0] * r[0] + R[i][1] * r[1] + R[i][2] * r[2];
    }
}

/* Reverses the order of atoms and fragments. */
static void renumber(fmo_fragment_system *s)
{
    const int n = s->atom_num, f = s->fragment_num;
    for (int a = 0; a < n / 2; a++) {
        const int b = n - 1 - a, number = s->number[a], fragment = s->fragment[a];
        s->number[a] = s->number[b], s->number[b] = number;
        s->fragment[a] = s->fragment[b], s->fragment[b] = fragment;
        for (int i = 0; i < 3; i++) {
            const double x = s->coord[3 * a + i];
            s->coord[3 * a + i] = s->coord[3 * b + i], s->coord[3 * b + i] = x;
        }
    }
    for (int a = 0; a < n; a++) s->fragment[a] = f - 1 - s->fragment[a];
    for (int k = 0; k < f / 2; k++) {
        const int charge = s->charge[k];
        s->charge[k] = s->charge[f - 1 - k], s->charge[f - 1 - k] = charge;
    }
    for (int b = 0; b < 2 * s->bond_num; b++) s->bond[b] = n - 1 - s->bond[b];
}

/* A case in another basis set than its own. */
static fmo_fragment_system *read_case_in(const char *name, const char *basis)
{
    fmo_fragment_system *s = read_case(name);
    free(s->basis);
    s->basis = strdup(basis);
    return s;
}

/* FMO energies do not depend on the number of threads, on rotations and on the order of atoms and
 * fragments. */
static void check_invariance(const char *name, const char *basis, double convergence)
{
    const double first_order = convergence < 1e-10 ? 1e-9 : 3e-8; /* FMO1: that of gradients */
    fmo_fragment_system *s = read_case_in(name, basis);
    fmo_fragment_result *r[4];
    r[0] = run(s, 1, convergence);
    r[1] = run(s, 3, convergence);
    rotate(s);
    r[2] = run(s, 1, convergence);
    renumber(s);
    r[3] = run(s, 1, convergence);
    static const char *const what[] = {"", "three threads", "turned", "renumbered"};
    for (int k = 1; k < 4; k++)
        CHECK(fabs(r[k]->energy2 - r[0]->energy2) <= 1e-9 &&
                  fabs(r[k]->energy1 - r[0]->energy1) <= first_order,
              "%s in %s, %s: FMO1 off by %.1e, FMO2 by %.1e", name, basis, what[k],
              r[k]->energy1 - r[0]->energy1, r[k]->energy2 - r[0]->energy2);
    printf("%s in %s: turned %.1e, renumbered %.1e hartree\n", name, basis,
           r[2]->energy2 - r[0]->energy2, r[3]->energy2 - r[0]->energy2);
    for (int k = 0; k < 4; k++) fmo_fragment_result_destroy(r[k]);
    fmo_fragment_system_destroy(s);
}

/* A system and its copy, so many bohr away. */
static void copy_beside(fmo_fragment_system *s, double away)
{
    const size_t n = (size_t)s->atom_num, f = (size_t)s->fragment_num;
    s->number = realloc(s->number, 2 * n * sizeof *s->number);
    s->coord = realloc(s->coord, 6 * n * sizeof *s->coord);
    s->fragment = realloc(s->fragment, 2 * n * sizeof *s->fragment);
    s->charge = realloc(s->charge, 2 * f * sizeof *s->charge);
    memcpy(s->number + n, s->number, n * sizeof *s->number);
    memcpy(s->coord + 3 * n, s->coord, 3 * n * sizeof *s->coord);
    memcpy(s->charge + f, s->charge, f * sizeof *s->charge);
    for (size_t a = 0; a < n; a++) s->fragment[n + a] = s->fragment[a] + (int)f;
    for (size_t a = n; a < 2 * n; a++) s->coord[3 * a] += away;
    s->atom_num *= 2;
    s->fragment_num *= 2;
}

/* 190 pairs with an SCF, on a GPU two lockstep batches in alternation, against one thread of mode
 * cpu, pair by pair and atom by atom. An atom's charge has the errors of 19 pairs, each of the size
 * of its gradient, 1e-5, while errors of energies are of second order. */
static void check_many_pairs(void)
{
    const fmo_mode requested = mode;
    fmo_fragment_system *s = read_case_in("water10_sto-3g", "6-31g");
    copy_beside(s, 25.0);
    s->es_dimers_from = FMO_FRAGMENT_NOWHERE;
    mode = FMO_MODE_CPU;
    fmo_fragment_result *one = run(s, 1, 1e-9);
    mode = requested;
    fmo_fragment_result *r = run(s, 3, 1e-9);
    double worst = 0.0, charge = 0.0;
    CHECK(r->scf_pairs == 190, "%d pairs with an SCF", r->scf_pairs);
    for (int k = 0; k < r->pair_num; k++)
        worst = fmax(worst, fabs(r->pair[k].total - one->pair[k].total));
    for (int a = 0; a < r->atom_num; a++)
        charge = fmax(charge, fabs(r->charge2[a] - one->charge2[a]));
    printf("190 pairs, mode %s, 3 threads: %.1e from one thread of mode cpu, a pair at most %.1e, "
           "a charge %.1e\n",
           fmo_mode_name(r->mode), r->energy2 - one->energy2, worst, charge);
    CHECK(fabs(r->energy2 - one->energy2) < 1e-8 && worst < 1e-8 && charge < 19 * 1e-5,
          "%.9f, one thread of mode cpu %.9f", r->energy2, one->energy2);
    fmo_fragment_result_destroy(r);
    fmo_fragment_result_destroy(one);
    fmo_fragment_system_destroy(s);
}

/* RHF energy of the whole system without fragments. */
static double rhf(const fmo_fragment_system *s, const fmo_basis_set *set)
{
    fmo_error err = {FMO_OK, ""};
    const fmo_molecule molecule = {
        .nucleus_num = s->atom_num, .number = s->number, .coord = s->coord};
    fmo_dataset *d = NULL;
    fmo_scf_result *r = NULL;
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    o.gradient_convergence = 1e-7;
    CHECK(fmo_dataset_create(&molecule, set, 0, &d, &err) == FMO_OK, "%s", err.message);
    const fmo_scf_input input = {.basis = fmo_dataset_basis(d),
                                 .electron_num = fmo_dataset_electron_num(d),
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(d)};
    CHECK(fmo_scf_run(&input, &o, &r, &err) == FMO_OK, "%s", err.message);
    const double energy = r ? r->energy : NAN;
    fmo_scf_result_destroy(r);
    fmo_dataset_destroy(d);
    return energy;
}

/* The first `count` fragments of a system alone. */
static void keep(fmo_fragment_system *s, int count)
{
    int atoms = 0;
    while (atoms < s->atom_num && s->fragment[atoms] < count) atoms++;
    s->atom_num = atoms;
    s->fragment_num = count;
}

/* For two fragments the energy of their pair is that of RHF, whatever bond is cut. */
static void check_two_fragments(void)
{
    fmo_fragment_system *s = read_case("water3_sto-3g");
    fmo_basis_set *set = read_basis("6-31g");
    keep(s, 2);
    free(s->basis);
    s->basis = strdup("6-31G");
    fmo_fragment_result *r = run(s, 0, 0.0);
    CHECK(fabs(r->energy2 - rhf(s, set)) < 1e-8, "two waters: %.10f, RHF %.10f", r->energy2,
          rhf(s, set));
    fmo_fragment_result_destroy(r);
    keep(s, 1);
    r = run(s, 0, 0.0);
    CHECK(fabs(r->energy2 - rhf(s, set)) < 1e-8, "one water: %.10f", r->energy2);
    CHECK(r->pair_num == 0 && r->energy1 == r->energy2, "one water has no pairs");
    fmo_fragment_result_destroy(r);
    fmo_fragment_system_destroy(s);
    fmo_basis_set_destroy(set);
}

/* As above where one fragment has d shells, spherical ones, and the other has none: H2Se and water
 * in STO-3G. Alone, water's p functions would have another order than in the pair. Three fragments
 * in exact fields have the energy of equations written out with PySCF 2's integrals and SCFs. */
static void check_two_kinds(void)
{
    fmo_fragment_system *s = read_case("water3_sto-3g");
    fmo_basis_set *set = read_basis("sto-3g");
    keep(s, 2);
    s->number[0] = 34;
    fmo_fragment_result *r = run(s, 0, 0.0);
    const double whole = rhf(s, set);
    CHECK(fabs(r->energy2 - whole) < 1e-7, "H2Se and water: %.10f, RHF %.10f", r->energy2, whole);
    fmo_fragment_result_destroy(r);
    fmo_fragment_system_destroy(s);
    fmo_basis_set_destroy(set);
    s = read_case("water3_sto-3g");
    s->number[0] = 34;
    s->aoc_from = s->ptc_from = s->es_dimers_from = FMO_FRAGMENT_NOWHERE;
    r = run(s, 0, 0.0);
    CHECK(fabs(r->energy2 + 2524.0757344073) < 1e-7, "H2Se and two waters: %.10f", r->energy2);
    fmo_fragment_result_destroy(r);
    fmo_fragment_system_destroy(s);
}

/* Two fragments joined by a cut bond have the RHF energy of the whole: the two methyl groups of
 * ethane, and the first two residues of (Gly)4 and the other two. */
static void check_cut_bond(const char *name, const char *basis)
{
    fmo_fragment_system *s = read_case_in(name, basis);
    fmo_basis_set *set = read_basis(basis);
    const int half = s->fragment_num / 2, middle = s->bond_num / 2;
    for (int a = 0; a < s->atom_num; a++) s->fragment[a] /= half;
    s->fragment_num = 2;
    s->bond[0] = s->bond[2 * middle], s->bond[1] = s->bond[2 * middle + 1];
    s->bond_num = 1;
    fmo_fragment_result *r = run(s, 0, 0.0);
    const double whole = rhf(s, set);
    CHECK(fabs(r->energy2 - whole) < 1e-8, "%s in two: %.10f, RHF %.10f", name, r->energy2, whole);
    CHECK(r->pair_num == 1 && r->pair[0].is_bonded, "%s: a bonded pair", name);
    fmo_fragment_result_destroy(r);
    fmo_fragment_system_destroy(s);
    fmo_basis_set_destroy(set);
}

/* Hybrid orbitals that are not published: butane as CH3, CH2-CH2, CH3, or tetrasilane, rotated; the
 * distance from RHF is that with the published ones of 6-31G, 0.03 hartree, because the fragments
 * are small. The error of FMO1 is of first order in the convergence. */
static void check_three_fragments(const char *name, const char *basis, double near)
{
    fmo_fragment_system *s = read_case_in(name, basis);
    fmo_basis_set *set = read_basis(basis);
    fmo_fragment_result *r = run(s, 0, 1e-9);
    const double whole = rhf(s, set);
    CHECK(fabs(r->energy2 - whole) < near, "%s in three, %s: %.10f, RHF %.10f", name, basis,
          r->energy2, whole);
    rotate(s);
    fmo_fragment_result *turned = run(s, 0, 1e-9);
    CHECK(fabs(r->energy1 - turned->energy1) < 3e-8 && fabs(r->energy2 - turned->energy2) < 1e-9,
          "%s in three, %s, turned: FMO1 off by %.1e, FMO2 by %.1e", name, basis,
          turned->energy1 - r->energy1, turned->energy2 - r->energy2);
    printf("%s in three, %s: %.4f from RHF, turned %.1e hartree, %.2f s\n", name, basis,
           r->energy2 - whole, turned->energy2 - r->energy2, r->seconds);
    fmo_fragment_result_destroy(r);
    fmo_fragment_result_destroy(turned);
    fmo_fragment_system_destroy(s);
    fmo_basis_set_destroy(set);
}

/* ---- resuming from a state with pairs ------------------------------------------------------- */

typedef struct killer {
    const char *state;
    long size; /* of the state when the monomers are converged; 0 before */
} killer;

static long size_of_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static void note_converged(const fmo_fragment_iteration *iteration, void *user)
{
    killer *k = user;
    if (iteration->converged) k->size = size_of_file(k->state);
}

/* Ends the process at once as soon as the state file has pairs and more are to be done. */
static void kill_among_pairs(double fraction, void *user)
{
    const killer *k = user;
    if (k->size && fraction < 1.0 && size_of_file(k->state) > k->size) raise(SIGKILL);
}

/* Runs FMO2 with a state file, either to the end or until it is killed among the pairs. */
static fmo_fragment_result *run_with_state(const fmo_fragment_system *s, const char *state,
                                           int resume, int killed)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fragment_options o;
    fmo_fragment_result *r = NULL;
    killer k = {.state = state};
    fmo_basis_set *set = read_basis(s->basis);
    fmo_fragment_options_init(&o);
    o.scf.fock.mode = FMO_MODE_CPU;
    o.scf.fock.threads = 1;
    o.state = state;
    o.resume = resume;
    if (killed) {
        o.iteration = note_converged;
        o.progress = kill_among_pairs;
        o.user = &k;
    }
    CHECK(fmo_fragment_run(s, set, &o, &r, &err) == FMO_OK, "%s", err.message);
    fmo_basis_set_destroy(set);
    return r;
}

/* A run that is killed while it computes pairs, and then resumed, repeats no pair of the state. It
 * precedes any other use of threads, because a forked child has none. */
static void check_pairs_resumed(void)
{
    char state[] = "/tmp/fmo-fragments-XXXXXX";
    const int descriptor = mkstemp(state);
    CHECK(descriptor >= 0, "a file for the state");
    close(descriptor);
    fmo_fragment_system *s = read_case("water10_sto-3g");
    const pid_t child = fork();
    if (child == 0) {
        fmo_fragment_result_destroy(run_with_state(s, state, 0, 1));
        _exit(0);
    }
    int how = 0;
    CHECK(child > 0 && waitpid(child, &how, 0) == child, "a child process");
    CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL,
          "no pairs in the state while there were more to do");
    fmo_fragment_result *resumed = run_with_state(s, state, 1, 0);
    fmo_fragment_result *again = run_with_state(s, state, 1, 0);
    s->es_dimers_from *= 0.9;
    fmo_fragment_result *other = run_with_state(s, state, 1, 0);
    s->es_dimers_from /= 0.9;
    unlink(state);
    fmo_fragment_result *whole = run_with_state(s, state, 0, 0);
    unlink(state);
    CHECK(resumed->resumed_pairs > 0 && resumed->resumed_pairs < resumed->scf_pairs &&
              again->resumed_pairs == again->scf_pairs && again->scf_pairs == whole->scf_pairs,
          "%d pairs of %d from the state, then %d", resumed->resumed_pairs, resumed->scf_pairs,
          again->resumed_pairs);
    CHECK(other->resumed_pairs == 0, "pairs of other thresholds are not taken");
    fmo_fragment_result *const both[] = {resumed, again};
    for (int k = 0; k < 2; k++) {
        CHECK(fabs(both[k]->energy2 - whole->energy2) < 1e-10, "resumed: off by %.1e hartree",
              both[k]->energy2 - whole->energy2);
        for (int a = 0; a < whole->atom_num; a++)
            CHECK(fabs(both[k]->charge2[a] - whole->charge2[a]) < 1e-9, "charge of atom %d", a + 1);
        for (int p = 0; p < whole->pair_num; p++)
            CHECK(fabs(both[k]->pair[p].total - whole->pair[p].total) < 1e-10 &&
                      both[k]->pair[p].cycles == whole->pair[p].cycles,
                  "pair %d", p);
    }
    printf("resumed: %d of %d pairs, %.1e hartree\n", resumed->resumed_pairs, resumed->scf_pairs,
           resumed->energy2 - whole->energy2);
    fmo_fragment_result_destroy(resumed);
    fmo_fragment_result_destroy(again);
    fmo_fragment_result_destroy(other);
    fmo_fragment_result_destroy(whole);
    fmo_fragment_system_destroy(s);
}

/* Progress that was reported: of iterations and then of the pairs. */
typedef struct progress {
    int pairs, calls; /* whether pairs run; calls since they do, or of an iteration */
    int iteration_calls, backwards;
    double last;
} progress;

static void new_stage(const fmo_fragment_iteration *iteration, void *user)
{
    progress *p = user;
    p->pairs = iteration->converged;
    p->iteration_calls += p->calls;
    p->calls = 0;
    p->last = 0.0;
}

static void note_progress(double fraction, void *user)
{
    progress *p = user;
    p->backwards += !(fraction >= p->last && fraction <= 1.0 + 1e-12);
    p->calls++;
    p->last = fraction;
}

/* Progress increases with every monomer, with parts of the electrostatics and with every pair, on
 * the CPU also with every cycle of their SCFs, and never decreases. */
static void check_progress(void)
{
    fmo_fragment_system *s = read_case("water10_sto-3g");
    for (int threads = 1; threads <= 3; threads += 2) {
        progress p = {0};
        fmo_error err = {FMO_OK, ""};
        fmo_fragment_options o;
        fmo_fragment_result *r = NULL;
        fmo_basis_set *set = read_basis(s->basis);
        fmo_fragment_options_init(&o);
        o.scf.fock.mode = mode;
        o.scf.fock.threads = threads;
        o.iteration = new_stage;
        o.progress = note_progress;
        o.user = &p;
        CHECK(fmo_fragment_run(s, set, &o, &r, &err) == FMO_OK && r, "%s", err.message);
        int least = mode == FMO_MODE_CPU ? 8 : 0; /* pieces; on a GPU beside the SCFs */
        for (int k = 0; r && k < r->pair_num; k++)
            least += r->pair[k].is_scf + (mode == FMO_MODE_CPU ? r->pair[k].cycles : 0);
        const int monomers = r ? r->iterations * r->fragment_num : 0;
        CHECK(
            r && p.pairs && p.calls >= least &&
                p.iteration_calls >= (mode == FMO_MODE_CPU ? 3 : 1) * monomers,
            "progress of %d pairs was told %d times, at least %d expected, of iterations %d times",
            r ? r->scf_pairs : 0, p.calls, least, p.iteration_calls);
        CHECK(p.backwards == 0 && fabs(p.last - 1.0) < 1e-12, "%d steps back, the end at %g",
              p.backwards, p.last);
        fmo_fragment_result_destroy(r);
        fmo_basis_set_destroy(set);
    }
    fmo_fragment_system_destroy(s);
}

/* ---- refused systems ------------------------------------------------------------------------ */

static void refused(fmo_fragment_system *s, const char *words)
{
    fmo_error err;
    CHECK_REFUSED(fmo_fragment_system_check(s, &err), &err, FMO_ERR_INPUT, words);
    fmo_fragment_system_destroy(s);
}

/* Systems with wrong charges, fragments, bonds and distances are refused; hybrid orbitals are found
 * by the spellings of basis sets. */
static void check_refusals(void)
{
    fmo_fragment_system *s = read_case("gly4_sto-3g");
    fmo_error err = {FMO_OK, ""};
    fmo_hybrids *h = NULL;
    CHECK(fmo_fragment_electron_num(s, 0) == 38 && fmo_fragment_electron_num(s, 4) == -1,
          "electrons of fragments");
    s->charge[1] = 1;
    refused(s, "fragment 2 has 29 electrons with charge 1, which is odd");
    s = read_case("gly4_sto-3g");
    s->fragment[0] = 4;
    refused(s, "fragment of atom 1 = 5: expected 1 to 4");
    s = read_case("gly4_sto-3g");
    s->bond[0] = 0;
    refused(s, "bohr apart; expected a bond");
    s = read_case("gly4_sto-3g");
    s->bond[2] = s->bond[0], s->bond[3] = s->bond[1];
    refused(s, "is given twice");
    s = read_case("gly4_sto-3g");
    s->coord[3] = s->coord[0], s->coord[4] = s->coord[1], s->coord[5] = s->coord[2];
    refused(s, "atoms 1 (H) and 2 (C) are closer");
    s = read_case("gly4_sto-3g");
    s->aoc_from = 3.0;
    refused(s, "beyond ptc_from");
    CHECK(fmo_hybrids_read(NULL, "sto 3g", 6, &h, &err) == FMO_OK && h->orbital_num == 5 &&
              h->function_num == 5,
          "%s", err.message);
    fmo_hybrids_destroy(h);
    /* Spellings as those of basis sets. */
    CHECK(fmo_hybrids_read(NULL, "6-31g(d,p)", 6, &h, &err) == FMO_OK && h->function_num == 15,
          "%s", err.message);
    fmo_hybrids_destroy(h);
    CHECK(fmo_hybrids_read(NULL, "6-31+G*", 6, &h, &err) == FMO_OK && h->function_num == 19, "%s",
          err.message);
    fmo_hybrids_destroy(h);
    CHECK(fmo_hybrids_read(NULL, "6-31g(d)", 14, &h, &err) == FMO_OK && h->orbital_num == 9 &&
              h->function_num == 19,
          "%s", err.message);
    fmo_hybrids_destroy(h);
    CHECK_REFUSED(fmo_hybrids_read(NULL, "6-31G", 7, &h, &err), &err, FMO_ERR_INPUT,
                  "no hybrid orbitals of N in basis set 6-31G");
    CHECK(!h, "h in spite of the error");
}

static int on_gpu(void)
{
    fmo_error err = {FMO_OK, ""};
    if (fmo_gpu_available(&err) != FMO_OK) return check_skip(err.message);
    mode = FMO_MODE_FUSED;
    check_energy("water3_sto-3g", -224.91061241, 5e-7);
    check_energy("water10_sto-3g", -749.74809652, 5e-7);
    check_energy("gly4_sto-3g", -856.21892652, 5e-7);
    check_energy("gly4_6-31g", -867.03109714, 5e-7);
    check_many_pairs();
    check_progress();
    return check_summary();
}

/* Compares energies with those of other programs and runs all checks; "large" runs the large
 * systems alone, "fused" those for a GPU. */
int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    folder = argv[1];
    if (argc > 2 && strcmp(argv[2], "fused") == 0) return on_gpu();
    if (argc > 2) {
        check_energy("gly4_6-31g", -867.03109714, 5e-7);
        check_energy("water008_6-31g", -607.87960336, 5e-7);
        return check_summary();
    }
    check_pairs_resumed();
    check_refusals();
    check_progress();
    check_energy("water3_sto-3g", -224.91061241, 5e-7);
    check_energy("water10_sto-3g_point-charges", -749.735854973, 2e-6); /* GAMESS */
    check_energy("water10_sto-3g", -749.74809652, 5e-7);
    check_two_fragments();
    check_two_kinds();
    check_cut_bond("ethane_sto-3g", "sto-3g");
    check_cut_bond("ethane_sto-3g", "def2-svp");
    if (!getenv("FMO_TEST_SMALL")) {
        check_energy("gly4_sto-3g", -856.21892652, 5e-7);
        check_energy("gly5_sto-3g", -1095.566312178, 5e-7); /* ABINIT-MP */
        check_energy("gly4_sto-3g_openfmo-defaults", -856.21917020, 5e-7);
        check_energy("water10_sto-3g_exact-esp", -749.74814210, 5e-7);
        check_many_pairs();
        check_energy("water008_sto-3g_exact-esp", -599.70745598, 5e-7);
        check_cut_bond("gly4_sto-3g", "sto-3g");
        check_invariance("gly4_sto-3g", "sto-3g", 1e-9);
        check_invariance("ethane_sto-3g", "6-31g(d)", 1e-9); /* Cartesian d functions */
        check_invariance("ethane_sto-3g", "cc-pvdz", 1e-9);  /* spherical ones, and p as z x y */
        check_three_fragments("butane_6-31gd", "6-31g(d)", 0.035);
        check_three_fragments("butane_6-31gd", "cc-pvdz", 0.035);
        check_three_fragments("tetrasilane_6-31gd", "6-31g(d)", 0.005);
        check_three_fragments("tetrasilane_6-31gd", "sto-3g", 0.005);
    }
    check_invariance("ethane_sto-3g", "sto-3g", 1e-9);
    check_invariance("water3_sto-3g", "sto-3g", 1e-11);
    return check_summary();
}
