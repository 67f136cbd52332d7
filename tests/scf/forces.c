/* Derivatives of SCF energies with respect to the nuclei, in mode cpu or in the one given as
 * argument (fused without a GPU is skipped): against five-point differences of energies, sums of
 * forces and torques, batches, scaled functions, and what has no forces. */
#include <fmo/scf.h>

#include "tests/support/calls.h"
#include "tests/support/molecule.h"
#include "tests/support/system.h"

enum { ATOMS_MAX = 8 };

static fmo_mode mode = FMO_MODE_CPU;

/* A molecule whose nuclei can be moved. */
typedef struct movable {
    const char *name;
    fmo_basis_input input;
    double coord[3 * ATOMS_MAX];
    int electrons, multiplicity, restricted;
    double linear_dependence; /* 0: the default */
} movable;

static movable movable_of(const char *name, const fmo_dataset *dataset, int charge,
                          int multiplicity)
{
    movable m = {
        .name = name, .input = *fmo_dataset_basis_input(dataset), .multiplicity = multiplicity};
    memcpy(m.coord, m.input.nucleus_coord, 3 * (size_t)m.input.nucleus_num * sizeof(double));
    m.electrons = fmo_dataset_electron_num(dataset) - charge;
    return m;
}

static fmo_basis *basis_of(const movable *m)
{
    fmo_basis_input input = m->input;
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    input.nucleus_coord = m->coord;
    CHECK(fmo_basis_create(&input, &basis, &err) == FMO_OK, "%s", err.message);
    return basis;
}

static fmo_scf_options tight(const movable *m)
{
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = mode;
    o.fock.threads = 1;
    o.restricted = m->restricted;
    o.energy_convergence = 1e-12;
    o.gradient_convergence = 1e-9;
    if (m->linear_dependence > 0.0) o.linear_dependence = m->linear_dependence;
    return o;
}

static fmo_scf_input input_of(const movable *m, const fmo_basis *basis)
{
    return (fmo_scf_input){.basis = basis,
                           .electron_num = m->electrons,
                           .multiplicity = m->multiplicity,
                           .nuclear_repulsion = fmo_basis_nuclear_repulsion(basis)};
}

/* Runs an SCF; free the result. */
static fmo_scf_result *run(const movable *m, const fmo_scf_options *o)
{
    fmo_basis *basis = basis_of(m);
    const fmo_scf_input input = input_of(m, basis);
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_scf_run(&input, o, &r, &err) == FMO_OK, "%s: %s", m->name, err.message);
    fmo_basis_destroy(basis);
    return r;
}

static double energy(movable *m, int component, double step)
{
    const fmo_scf_options o = tight(m);
    const double at = m->coord[component];
    m->coord[component] = at + step;
    fmo_scf_result *r = run(m, &o);
    m->coord[component] = at;
    const double E = r ? r->energy : NAN;
    fmo_scf_result_destroy(r);
    return E;
}

static void check_sums(const movable *m, const double *g)
{
    double force[3] = {0}, torque[3] = {0};
    for (int a = 0; a < m->input.nucleus_num; a++)
        for (int x = 0; x < 3; x++) {
            const int y = (x + 1) % 3, z = (x + 2) % 3;
            force[x] += g[3 * a + x];
            torque[x] += m->coord[3 * a + y] * g[3 * a + z] - m->coord[3 * a + z] * g[3 * a + y];
        }
    for (int x = 0; x < 3; x++)
        CHECK(fabs(force[x]) <= 1e-10 && fabs(torque[x]) <= 1e-9,
              "%s: axis %d: sum of forces %.1e, torque %.1e", m->name, x, force[x], torque[x]);
}

/* The gradient of an SCF, some of its components (under sanitizers one) against differences of
 * energies; in functions of other norms; in a batch. */
static void check(movable *m)
{
    const double h = 2e-3;
    const int stride = getenv("FMO_TEST_SMALL") ? 3 * ATOMS_MAX : 2;
    fmo_scf_options o = tight(m);
    o.forces = 1;
    fmo_scf_result *r = run(m, &o);
    if (!r || !r->nuclear_gradient) {
        CHECK(0, "%s: no forces", m->name);
        return;
    }
    CHECK(r->nucleus_num == m->input.nucleus_num && r->forces_seconds > 0.0, "%s", m->name);
    CHECK((r->dropped > 0) == (m->linear_dependence > 0.0), "%s: %d functions were dropped",
          m->name, r->dropped);
    check_sums(m, r->nuclear_gradient);
    double worst = 0.0;
    for (int k = 0; k < 3 * r->nucleus_num; k += stride) {
        const double expected = (energy(m, k, -2 * h) - 8.0 * energy(m, k, -h) +
                                 8.0 * energy(m, k, h) - energy(m, k, 2 * h)) /
                                (12.0 * h);
        worst = fmax(worst, fabs(r->nuclear_gradient[k] - expected));
        CHECK(fabs(r->nuclear_gradient[k] - expected) <= 1e-8,
              "%s: component %d: %.12f, expected %.12f", m->name, k, r->nuclear_gradient[k],
              expected);
    }
    printf("%s: largest deviation from differences %.1e\n", m->name, worst);
    movable scaled = *m;
    double *factor = malloc((size_t)m->input.ao_num * sizeof *factor);
    for (int i = 0; i < m->input.ao_num; i++)
        factor[i] = pow(10.0, i % 17 - 8) * (m->input.ao_factor ? m->input.ao_factor[i] : 1.0);
    scaled.input.ao_factor = factor;
    fmo_basis *basis = basis_of(&scaled), *plain = basis_of(m);
    fmo_scf_job jobs[2] = {{.input = input_of(m, plain)}, {.input = input_of(m, basis)}};
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_scf_run_batch(jobs, 2, &o, &err) == FMO_OK, "%s: %s", m->name, err.message);
    for (int j = 0; j < 2; j++) {
        CHECK(jobs[j].result && jobs[j].result->nuclear_gradient, "%s: job %d", m->name, j);
        for (int k = 0; jobs[j].result && k < 3 * r->nucleus_num; k++)
            CHECK(fabs(jobs[j].result->nuclear_gradient[k] - r->nuclear_gradient[k]) <= 1e-9,
                  "%s: job %d, component %d: %.12f, %.12f", m->name, j, k,
                  jobs[j].result->nuclear_gradient[k], r->nuclear_gradient[k]);
        fmo_scf_result_destroy(jobs[j].result);
    }
    fmo_basis_destroy(basis);
    fmo_basis_destroy(plain);
    free(factor);
    fmo_scf_result_destroy(r);
}

/* By default the orbital gradient is reduced until forces have five digits or more. */
static void check_defaults(const movable *m)
{
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = mode;
    fmo_scf_result *without = run(m, &o);
    o.forces = 1;
    fmo_scf_result *loose = run(m, &o);
    o = tight(m);
    o.forces = 1;
    fmo_scf_result *exact = run(m, &o);
    CHECK(without && !without->nuclear_gradient && without->nucleus_num == 0, "%s", m->name);
    CHECK(loose && loose->gradient < 1e-5, "%s: orbital gradient %.1e", m->name,
          loose ? loose->gradient : NAN);
    for (int k = 0; loose && exact && k < 3 * exact->nucleus_num; k++)
        CHECK(fabs(loose->nuclear_gradient[k] - exact->nuclear_gradient[k]) <= 2e-6,
              "%s: component %d: %.9f, %.9f", m->name, k, loose->nuclear_gradient[k],
              exact->nuclear_gradient[k]);
    fmo_scf_result_destroy(without);
    fmo_scf_result_destroy(loose);
    fmo_scf_result_destroy(exact);
}

/* An SCF that has not converged has no forces, and matrices of the caller's no derivative. */
static void check_refused(const movable *m)
{
    fmo_basis *basis = basis_of(m);
    fmo_scf_input input = input_of(m, basis);
    fmo_scf_options o = tight(m);
    fmo_scf_result *r = NULL, *again = NULL;
    fmo_error err = {FMO_OK, ""};
    double gradient[3 * ATOMS_MAX] = {7.0};
    o.forces = 1;
    o.max_cycles = 2;
    CHECK(fmo_scf_run(&input, &o, &r, &err) == FMO_ERR_CHECK && r && !r->nuclear_gradient,
          "not converged: %s", err.message);
    CHECK_REFUSED(fmo_scf_gradient(&input, &o, r, gradient, NULL, &err), &err, FMO_ERR_CHECK,
                  "the SCF has not converged");
    fmo_scf_result_destroy(r);
    o.max_cycles = 100;
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_scf_run(&input, &o, &r, &err) == FMO_OK, "%s", err.message);
    input.core_hamiltonian = r->core_hamiltonian; /* that of the basis */
    CHECK(fmo_scf_run(&input, &o, &again, &err) == FMO_OK && again->nuclear_gradient, "%s",
          err.message);
    fmo_scf_result_destroy(again);
    r->core_hamiltonian[0] += 1e-3;
    CHECK_REFUSED(fmo_scf_run(&input, &o, &again, &err), &err, FMO_ERR_UNSUPPORTED,
                  "core Hamiltonian");
    CHECK_REFUSED(fmo_scf_gradient(&input, &o, r, gradient, NULL, &err), &err, FMO_ERR_UNSUPPORTED,
                  "core Hamiltonian");
    input.core_hamiltonian = NULL;
    input.field = r->overlap;
    CHECK_REFUSED(fmo_scf_run(&input, &o, &again, &err), &err, FMO_ERR_UNSUPPORTED,
                  "forces with a field");
    r->nao++;
    input.field = NULL;
    CHECK_REFUSED(fmo_scf_gradient(&input, &o, r, gradient, NULL, &err), &err, FMO_ERR_ARGUMENT,
                  "nao");
    o.forces = 2;
    CHECK_REFUSED(fmo_scf_run(&input, &o, &again, &err), &err, FMO_ERR_ARGUMENT, "forces = 2");
    CHECK(gradient[0] == 7.0 && !again, "an output changed after an error");
    fmo_scf_result_destroy(r);
    fmo_basis_destroy(basis);
}

/* Sets input k of a batch: molecules of several kinds with nuclei displaced at random; molecule BAD
 * has too many electrons. The basis is freed by the caller. */
enum { BATCH_MAX = 200, BAD = 3 };
static fmo_scf_input displaced(const movable *kinds, int kind_num, int k, fmo_basis **basis)
{
    static unsigned long long seed = 20261128;
    movable m = kinds[k % kind_num];
    for (int x = 0; x < 3 * m.input.nucleus_num; x++)
        m.coord[x] += random_between(&seed, -0.1, 0.1);
    if (k == BAD) m.electrons = 1000;
    *basis = basis_of(&m);
    return input_of(&m, *basis);
}

/* A batch against single runs: closed and open shells, one that fails, and SCFs that do not
 * converge in so few cycles as are allowed the second time. On a GPU there are enough of each kind
 * for thread blocks, and single runs for some; for all with FMO_TEST_FULL=1. */
static void check_batch(const movable *kinds, int kind_num)
{
    static fmo_scf_job jobs[BATCH_MAX];
    static fmo_basis *basis[BATCH_MAX];
    const int full = getenv("FMO_TEST_FULL") != NULL, many = full || mode == FMO_MODE_FUSED;
    const int num = many ? BATCH_MAX : 4 * kind_num, step = many && !full ? 7 : 1;
    fmo_scf_options o = tight(&kinds[0]);
    double energy = 0.0, gradient = 0.0;
    o.forces = 1;
    o.fock.threads = 2;
    for (int k = 0; k < num; k++)
        jobs[k] = (fmo_scf_job){.input = displaced(kinds, kind_num, k, &basis[k])};
    (void)fmo_scf_run_batch(jobs, (size_t)num, &o, NULL);
    for (int k = 0; k < num; k++) {
        fmo_scf_result *alone = NULL;
        const fmo_scf_result *const r = jobs[k].result;
        CHECK((jobs[k].status == FMO_OK) == (k != BAD), "job %d: %s", k, jobs[k].err.message);
        CHECK(!r == (k == BAD) && (!r || r->nuclear_gradient), "job %d has no forces", k);
        if (k % step == 0 || k == BAD)
            CHECK(fmo_scf_run(&jobs[k].input, &o, &alone, NULL) == jobs[k].status, "job %d: %s", k,
                  jobs[k].err.message);
        for (int x = 0; r && r->nuclear_gradient && alone && x < 3 * r->nucleus_num; x++)
            gradient = fmax(gradient, fabs(r->nuclear_gradient[x] - alone->nuclear_gradient[x]));
        if (r && alone) energy = fmax(energy, fabs(r->energy - alone->energy));
        fmo_scf_result_destroy(alone);
        fmo_scf_result_destroy(jobs[k].result);
    }
    printf("batch of %d: energies differ by %.1e, gradients by %.1e\n", num, energy, gradient);
    CHECK(energy <= 1e-9 && gradient <= 1e-7, "batch: other energies (%.1e) or gradients (%.1e)",
          energy, gradient);
    o.max_cycles = 3;
    (void)fmo_scf_run_batch(jobs, (size_t)kind_num, &o, NULL);
    for (int k = 0; k < kind_num; k++) {
        CHECK(jobs[k].status != FMO_OK && (!jobs[k].result || !jobs[k].result->nuclear_gradient),
              "job %d: forces of an SCF that has not converged", k);
        fmo_scf_result_destroy(jobs[k].result);
    }
    for (int k = 0; k < num; k++) fmo_basis_destroy(basis[k]);
}

/* A longer copy of an array, which the caller fills in and frees. */
static void *longer(const void *from, size_t size, int num, int more)
{
    char *const to = calloc((size_t)(num + more), size);
    if (!to) abort();
    memcpy(to, from, (size_t)num * size);
    return to;
}

/* Adds a shell of one primitive to a molecule whose arrays are its own. */
static void add_shell(movable *m, int nucleus, int l, double exponent)
{
    fmo_basis_input *const in = &m->input;
    const int functions = in->cartesian ? (l + 1) * (l + 2) / 2 : 2 * l + 1;
    ((int *)in->shell_nucleus)[in->shell_num] = nucleus;
    ((int *)in->shell_ang_mom)[in->shell_num] = l;
    ((int *)in->prim_shell)[in->prim_num] = in->shell_num;
    ((double *)in->prim_exponent)[in->prim_num] = exponent;
    ((double *)in->prim_coefficient)[in->prim_num++] = 1.0;
    for (int c = 0; c < functions; c++, in->ao_num++) {
        ((int *)in->ao_shell)[in->ao_num] = in->shell_num;
        ((int *)in->ao_component)[in->ao_num] = c;
        ((double *)in->ao_factor)[in->ao_num] = 1.0;
    }
    in->shell_num++;
}

/* Forces of water and its cation with g shells on two nuclei and an f shell on the third. */
static void check_high_l(int cartesian)
{
    enum { SHELLS = 3, FUNCTIONS = 15 * SHELLS };
    fmo_dataset *const water = molecule_dataset("water001", "sto-3g");
    if (!water) return;
    movable m = movable_of(
        cartesian ? "water cation, Cartesian g shells" : "water, spherical g shells", water, 0, 1);
    fmo_basis_input *const in = &m.input;
    in->cartesian = cartesian;
    in->shell_nucleus = longer(in->shell_nucleus, sizeof(int), in->shell_num, SHELLS);
    in->shell_ang_mom = longer(in->shell_ang_mom, sizeof(int), in->shell_num, SHELLS);
    in->prim_shell = longer(in->prim_shell, sizeof(int), in->prim_num, SHELLS);
    in->prim_exponent = longer(in->prim_exponent, sizeof(double), in->prim_num, SHELLS);
    in->prim_coefficient = longer(in->prim_coefficient, sizeof(double), in->prim_num, SHELLS);
    in->ao_shell = longer(in->ao_shell, sizeof(int), in->ao_num, FUNCTIONS);
    in->ao_component = longer(in->ao_component, sizeof(int), in->ao_num, FUNCTIONS);
    in->ao_factor = longer(in->ao_factor, sizeof(double), in->ao_num, FUNCTIONS);
    add_shell(&m, 0, 4, 1.3);
    add_shell(&m, 1, 4, 0.9);
    add_shell(&m, 2, 3, 0.8);
    if (cartesian) { /* UHF of the other form */
        m.electrons--;
        m.multiplicity = 2;
    }
    check(&m);
    free((void *)in->shell_nucleus);
    free((void *)in->shell_ang_mom);
    free((void *)in->prim_shell);
    free((void *)in->prim_exponent);
    free((void *)in->prim_coefficient);
    free((void *)in->ao_shell);
    free((void *)in->ao_component);
    free((void *)in->ao_factor);
    fmo_dataset_destroy(water);
}

/* Forces where eigenvectors of the overlap are dropped, whose space moves with the nuclei. There
 * are no Cartesian d shells, of which the eigenvectors would depend on the orientation. */
static void check_dropped(const fmo_dataset *dataset)
{
    movable m = movable_of("functions dropped", dataset, 0, 1);
    m.linear_dependence = 0.06;
    check(&m);
    m = movable_of("UHF, functions dropped", dataset, 1, 2);
    m.linear_dependence = 0.06;
    check(&m);
    m.name = "ROHF, functions dropped";
    m.restricted = 1;
    check(&m);
}

/* Checks forces of water and its cation; with the argument fused on a GPU, which has no g
 * shells. */
int main(int argc, char **argv)
{
    int code = 0;
    if (argc > 1 && strcmp(argv[1], "fused") == 0) mode = FMO_MODE_FUSED;
    if (mode == FMO_MODE_FUSED && !system_has_gpu(&code)) return code;
    fmo_dataset *water = molecule_dataset("water001", "6-31g(d)");
    if (!water) return check_summary();
    movable closed = movable_of("water", water, 0, 1);
    movable cation = movable_of("water, cation", water, 1, 2);
    check(&closed);
    check(&cation);
    cation.restricted = 1;
    cation.name = "water, cation, ROHF";
    check(&cation);
    for (int cartesian = 0; cartesian < 2 && mode == FMO_MODE_CPU; cartesian++)
        check_high_l(cartesian);
    check_defaults(&closed);
    check_refused(&closed);
    cation.restricted = 0;
    fmo_dataset *ammonia = molecule_dataset("nh3", "6-31g"); /* no d shells */
    if (ammonia) {
        if (mode == FMO_MODE_CPU) check_dropped(ammonia);
        const movable kinds[] = {closed, movable_of("ammonia", ammonia, 0, 1), cation};
        check_batch(kinds, 3);
    }
    fmo_dataset_destroy(ammonia);
    fmo_dataset_destroy(water);
    return check_summary();
}
