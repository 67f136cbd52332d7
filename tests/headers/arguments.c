/* NULL and overlapping arguments of every public function: which are refused, by what name, and
 * what stays unchanged. With --list the program prints what it tries, for
 * tests/headers/arguments.py to compare with the headers. */
#include <fmo/basis_set.h>
#include <fmo/eri_matrix.h>
#include <fmo/fock.h>
#include <fmo/gradient.h>
#include <fmo/fragment.h>
#if FMO_EXPERIMENTS
#include <fmo/gmpi_net.h>
#ifdef FMO_TEST_MPI
#include <fmo/gmpi_mpi.h>
#endif
#endif
#ifdef FMO_TEST_MPI
#include <fmo/ranks_mpi.h>
#endif
#include <fmo/molecule.h>
#include <fmo/one_electron.h>
#include <fmo/one_electron_gradient.h>
#include <fmo/result.h>
#include <fmo/scf.h>
#include <fmo/potential.h>
#include <fmo/wavefunction.h>

#include <unistd.h>

#include "tests/support/calls.h"
#include "tests/support/ranks_local.h"
#include "tests/support/system.h"

static int listing;

static void refused(const char *function, const char *argument, fmo_status status,
                    const fmo_error *err)
{
    char expected[128];
    snprintf(expected, sizeof expected, "%s: %s is NULL", function, argument);
    if (listing) {
        /* "input->density" is a member: the headers have the argument alone */
        if (!strpbrk(argument, ">[")) printf("%s %s\n", function, argument);
        return;
    }
    CHECK(status == FMO_ERR_ARGUMENT && err->status == FMO_ERR_ARGUMENT &&
              !strcmp(err->message, expected),
          "%s: status %d, \"%s\"", expected, status, err->message);
}

/* A call that is refused because an argument is NULL. */
#define REFUSED(function, argument, ...)                                              \
    do {                                                                              \
        fmo_error err = {FMO_OK, ""};                                                 \
        refused(#function, argument, listing ? FMO_OK : function(__VA_ARGS__), &err); \
    } while (0)

/* A call that accepts NULL, and what must be true of it. */
#define FINE(function, argument, holds)                         \
    do {                                                        \
        if (listing)                                            \
            printf("%s %s\n", #function, argument);             \
        else                                                    \
            CHECK(holds, "%s: %s = NULL", #function, argument); \
    } while (0)

#include "tests/headers/arguments_files.h"
#include "tests/headers/arguments_ranks.h"

static unsigned long long seed = 33;
static test_system molecule;

/* One-electron gradients accept NULL for what they do not need. */
static int gradient_without(const fmo_basis *basis, const double *density)
{
    const double point[4] = {1.0, 9.0, 9.0, 9.0};
    double *const gradient = malloc(3 * (size_t)fmo_basis_nucleus_num(basis) * sizeof *gradient);
    const int good = fmo_one_electron_gradient(basis, density, NULL, gradient, NULL) == FMO_OK &&
                     fmo_charge_attraction_gradient(basis, density, 1, point, point + 1, gradient,
                                                    NULL, NULL) == FMO_OK;
    free(gradient);
    return good;
}

/* Functions of bases, with each pointer NULL in its turn. */
static void check_basis(const fmo_basis *basis)
{
    const int n = fmo_basis_ao_num(basis);
    double *const S = calloc((size_t)n * (size_t)n, sizeof *S);
    int *const ao = calloc((size_t)n, sizeof *ao);
    const fmo_basis_input input = system_input(&molecule);
    fmo_basis *made = NULL;
    REFUSED(fmo_basis_create, "input", NULL, &made, &err);
    REFUSED(fmo_basis_create, "basis", &input, NULL, &err);
#define MEMBER(name)                                                   \
    do {                                                               \
        fmo_basis_input bad = input;                                   \
        bad.name = NULL;                                               \
        REFUSED(fmo_basis_create, "input->" #name, &bad, &made, &err); \
    } while (0)
    MEMBER(nucleus_charge);
    MEMBER(nucleus_coord);
    MEMBER(shell_nucleus);
    MEMBER(shell_ang_mom);
    MEMBER(prim_shell);
    MEMBER(prim_exponent);
    MEMBER(prim_coefficient);
    MEMBER(ao_shell);
    MEMBER(ao_component);
    MEMBER(ao_factor);
    CHECK(!made, "a basis of NULL");
    FINE(fmo_basis_ao_num, "basis", fmo_basis_ao_num(NULL) == 0);
    FINE(fmo_basis_nucleus_num, "basis", fmo_basis_nucleus_num(NULL) == 0);
    FINE(fmo_basis_shell_num, "basis", fmo_basis_shell_num(NULL, 0) == 0);
    FINE(fmo_basis_prim_num, "basis", fmo_basis_prim_num(NULL) == 0);
    FINE(fmo_basis_nucleus_charge, "basis", isnan(fmo_basis_nucleus_charge(NULL, 0)));
    FINE(fmo_basis_nuclei_equal, "basis", !fmo_basis_nuclei_equal(NULL, 0, 0));
    FINE(fmo_basis_atoms_equal, "basis", !fmo_basis_atoms_equal(NULL, 0, basis, 0));
    FINE(fmo_basis_atoms_equal, "other", !fmo_basis_atoms_equal(basis, 0, NULL, 0));
    FINE(fmo_basis_nuclear_repulsion, "basis", fmo_basis_nuclear_repulsion(NULL) == 0.0);
    FINE(fmo_basis_destroy, "basis", (fmo_basis_destroy(NULL), 1));
    REFUSED(fmo_basis_atom, "basis", NULL, 0, &made, ao, S, &err);
    REFUSED(fmo_basis_atom, "atom", basis, 0, NULL, ao, S, &err);
    REFUSED(fmo_basis_atom, "ao", basis, 0, &made, NULL, S, &err);
    REFUSED(fmo_basis_atom, "factor", basis, 0, &made, ao, NULL, &err);
    FINE(fmo_basis_ao_norm, "basis", fmo_basis_ao_norm(NULL) == NULL);
    REFUSED(fmo_basis_normalised, "basis", NULL, &made, &err);
    REFUSED(fmo_basis_normalised, "normalised", basis, NULL, &err);
    if (!listing) {
        fmo_error err = {FMO_OK, ""};
        CHECK(fmo_basis_atom(basis, 0, &made, (int *)S, S, &err) == FMO_ERR_ARGUMENT &&
                  strstr(err.message, "ao and factor overlap") && !made,
              "%s", err.message);
    }
    free(S);
    free(ao);
}

/* One-electron integrals and matrices of integrals, with each pointer NULL in its turn. */
static void check_integrals(const fmo_basis *basis)
{
    const int n = fmo_basis_ao_num(basis);
    double *const S = calloc((size_t)n * (size_t)n, sizeof *S);
    REFUSED(fmo_overlap, "basis", NULL, S, &err);
    REFUSED(fmo_overlap, "S", basis, NULL, &err);
    REFUSED(fmo_kinetic, "basis", NULL, S, &err);
    REFUSED(fmo_kinetic, "T", basis, NULL, &err);
    REFUSED(fmo_nuclear_attraction, "basis", NULL, S, &err);
    REFUSED(fmo_nuclear_attraction, "V", basis, NULL, &err);
    REFUSED(fmo_overlap_between, "a", NULL, basis, S, &err);
    REFUSED(fmo_overlap_between, "b", basis, NULL, S, &err);
    REFUSED(fmo_overlap_between, "S", basis, basis, NULL, &err);
    const fmo_basis *const bases[1] = {basis};
    double *const matrices[1] = {S};
    FINE(fmo_eri_matrix_can, "basis", !fmo_eri_matrix_can(NULL));
    REFUSED(fmo_eri_matrix, "basis", NULL, 0.0, S, &err);
    REFUSED(fmo_eri_matrix, "eri", basis, 0.0, NULL, &err);
    REFUSED(fmo_eri_matrices_on_gpu, "basis", NULL, 1, 0.0, matrices, NULL, NULL, -1, NULL, &err);
    REFUSED(fmo_eri_matrices_on_gpu, "eri", bases, 1, 0.0, NULL, NULL, NULL, -1, NULL, &err);
    REFUSED(fmo_eri_matrices_on_gpu, "overlap", bases, 1, 0.0, matrices, NULL, matrices, -1, NULL,
            &err);
    REFUSED(fmo_eri_matrices_on_gpu, "core", bases, 1, 0.0, matrices, matrices, NULL, -1, NULL,
            &err);
    FINE(fmo_eri_matrices_on_gpu, "stream",
         fmo_eri_matrices_on_gpu(bases, 0, 0.0, matrices, NULL, NULL, -1, NULL, NULL) == FMO_OK);
    const double point[4] = {1.0};
    REFUSED(fmo_dipole, "basis", NULL, point, S, &err);
    REFUSED(fmo_dipole, "origin", basis, NULL, S, &err);
    REFUSED(fmo_dipole, "D", basis, point, NULL, &err);
    FINE(fmo_charge_repulsion, "basis", fmo_charge_repulsion(NULL, 1, point, point + 1) == 0.0);
    FINE(fmo_charge_repulsion, "charge", fmo_charge_repulsion(basis, 1, NULL, point) == 0.0);
    FINE(fmo_charge_repulsion, "coord", fmo_charge_repulsion(basis, 1, point, NULL) == 0.0);
    REFUSED(fmo_charge_attraction, "basis", NULL, 1, point, point + 1, S, &err);
    REFUSED(fmo_charge_attraction, "charge", basis, 1, NULL, point, S, &err);
    REFUSED(fmo_charge_attraction, "coord", basis, 1, point, NULL, S, &err);
    REFUSED(fmo_charge_attraction, "V", basis, 1, point, point + 1, NULL, &err);
    REFUSED(fmo_one_electron_gradient, "basis", NULL, S, S, S, &err);
    REFUSED(fmo_one_electron_gradient, "density", basis, NULL, S, S, &err);
    REFUSED(fmo_one_electron_gradient, "gradient", basis, S, S, NULL, &err);
    FINE(fmo_one_electron_gradient, "weighted", gradient_without(basis, S));
    REFUSED(fmo_charge_attraction_gradient, "basis", NULL, S, 1, point, point + 1, S, S, &err);
    REFUSED(fmo_charge_attraction_gradient, "density", basis, NULL, 1, point, point + 1, S, S,
            &err);
    REFUSED(fmo_charge_attraction_gradient, "charge", basis, S, 1, NULL, point, S, S, &err);
    REFUSED(fmo_charge_attraction_gradient, "coord", basis, S, 1, point, NULL, S, S, &err);
    REFUSED(fmo_charge_attraction_gradient, "gradient", basis, S, 1, point, point, NULL, S, &err);
    FINE(fmo_charge_attraction_gradient, "charge_gradient", gradient_without(basis, S));
    free(S);
}

static int refuses_mode(fmo_fock_plan *plan, const double *D, double *J, double *K)
{
    fmo_error err = {FMO_OK, ""};
    return fmo_fock_build_device(plan, D, J, K, &err) == FMO_ERR_ARGUMENT &&
           strstr(err.message, "expected fused");
}

static void check_neither(fmo_fock_plan *plan, const double *D)
{
    static const char expected[] = "coulomb and exchange are NULL: give one of them";
    fmo_error err = {FMO_OK, ""}, device = {FMO_OK, ""};
    if (listing) return;
    CHECK(fmo_fock_build(plan, D, NULL, NULL, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, expected),
          "%s", err.message);
    CHECK(fmo_fock_build_device(plan, D, NULL, NULL, &device) == FMO_ERR_ARGUMENT &&
              strstr(device.message, expected),
          "%s", device.message);
}

/* Functions of potentials and charge distributions, with each pointer NULL in its turn. */
static void check_potential(const fmo_basis *basis)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    const double point[4] = {1.0};
    double *const U = calloc(n * n, sizeof *U);
    const unsigned group = 0;
    fmo_products *products = NULL, *none = NULL;
    fmo_distribution *distribution = NULL, *nothing = NULL;
    fmo_potential_job job = {.potential = U};
    fmo_electrostatics_job energy = {NULL, NULL, 0.0};
    fmo_distribution_job several = {NULL, NULL, 1, point, point + 1, NULL};
    fmo_error own = {FMO_OK, ""};
    REFUSED(fmo_products_create, "basis", NULL, &none, &err);
    REFUSED(fmo_products_create, "products", basis, NULL, &err);
    CHECK(listing || fmo_products_create(basis, &products, &own) == FMO_OK, "%s", own.message);
    REFUSED(fmo_products_create_between, "basis", NULL, &group, &none, &err);
    REFUSED(fmo_products_create_between, "group", basis, NULL, &none, &err);
    REFUSED(fmo_products_create_between, "products", basis, &group, NULL, &err);
    REFUSED(fmo_distribution_create, "products", NULL, U, 1, point, point + 1, &nothing, &err);
    REFUSED(fmo_distribution_create, "charge", products, U, 1, NULL, point, &nothing, &err);
    REFUSED(fmo_distribution_create, "coord", products, U, 1, point, NULL, &nothing, &err);
    REFUSED(fmo_distribution_create, "distribution", products, U, 0, NULL, NULL, NULL, &err);
    REFUSED(fmo_distributions_create, "jobs", NULL, 1, NULL, &err);
    REFUSED(fmo_distribution_dipole, "distribution", NULL, U, &err);
    several.products = products;
    FINE(fmo_distributions_create, "options",
         fmo_distributions_create(&several, 1, NULL, &own) == FMO_OK);
    fmo_distribution_destroy(several.distribution);
    FINE(fmo_distribution_create, "density",
         fmo_distribution_create(products, NULL, 1, point, point + 1, &distribution, &own) ==
             FMO_OK);
    REFUSED(fmo_distribution_dipole, "dipole", distribution, NULL, &err);
    REFUSED(fmo_potentials, "jobs", NULL, 1, NULL, &err);
    REFUSED(fmo_electrostatics, "jobs", NULL, 1, NULL, &err);
    job.products = products;
    energy.a = energy.b = distribution;
    FINE(fmo_potentials, "options", fmo_potentials(&job, 1, NULL, &own) == FMO_OK);
    energy.b = distribution;
    FINE(fmo_electrostatics, "options", fmo_electrostatics(&energy, 1, NULL, &own) == FMO_OK);
    if (!listing) fmo_potential_options_init(NULL);
    FINE(fmo_potential_options_init, "options", 1);
    if (!listing) fmo_products_destroy(NULL);
    FINE(fmo_products_destroy, "products", 1);
    if (!listing) fmo_distribution_destroy(NULL);
    FINE(fmo_distribution_destroy, "distribution", 1);
    fmo_products_destroy(products);
    fmo_distribution_destroy(distribution);
    free(U);
}

/* Functions of Fock builds, with each pointer NULL in its turn. */
static void check_fock(const fmo_basis *basis)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const D = random_density((int)n, 1.0, &seed);
    double *const J = calloc(n * n, sizeof *J), *const K = calloc(n * n, sizeof *K);
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL, *other = NULL;
    fmo_fock_memory memory;
    fmo_fock_profile profile;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 1;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, NULL) == FMO_OK, "plan");
    REFUSED(fmo_fock_plan_create, "basis", NULL, &o, &other, &err);
    REFUSED(fmo_fock_plan_create, "plan", basis, &o, NULL, &err);
    FINE(fmo_fock_plan_create, "options",
         fmo_fock_plan_create(basis, NULL, &other, NULL) == FMO_OK && other);
    fmo_fock_plan_destroy(other);
    FINE(fmo_fock_options_init, "options", (fmo_fock_options_init(NULL), 1));
    FINE(fmo_fock_plan_destroy, "plan", (fmo_fock_plan_destroy(NULL), 1));
    REFUSED(fmo_fock_build, "plan", NULL, D, J, K, &err);
    REFUSED(fmo_fock_build, "density", plan, NULL, J, K, &err);
    FINE(fmo_fock_build, "coulomb", fmo_fock_build(plan, D, NULL, K, NULL) == FMO_OK);
    FINE(fmo_fock_build, "exchange", fmo_fock_build(plan, D, J, NULL, NULL) == FMO_OK);
    check_neither(plan, D);
    REFUSED(fmo_fock_build_device, "plan", NULL, D, J, K, &err);
    REFUSED(fmo_fock_build_device, "density", plan, NULL, J, K, &err);
    /* refused because of the plan's mode, not because of NULL, which plans of gpu_terms accept */
    FINE(fmo_fock_build_device, "coulomb", refuses_mode(plan, D, NULL, K));
    FINE(fmo_fock_build_device, "exchange", refuses_mode(plan, D, J, NULL));
    const fmo_gradient_term term = {.density = D, .coulomb_weight = 1.0};
    REFUSED(fmo_fock_gradient, "plan", NULL, &term, 1, J, &err);
    REFUSED(fmo_fock_gradient, "terms", plan, NULL, 1, J, &err);
    REFUSED(fmo_fock_gradient, "gradient", plan, &term, 1, NULL, &err);
    REFUSED(fmo_fock_gradient_batch, "jobs", NULL, 1, &err);
    REFUSED(fmo_fock_build_batch, "jobs", NULL, 1, &err);
    REFUSED(fmo_fock_build_batch_device, "jobs", NULL, 1, &err);
    REFUSED(fmo_fock_workspace, "basis", NULL, &o, &memory, &err);
    REFUSED(fmo_fock_workspace, "memory", basis, &o, NULL, &err);
    FINE(fmo_fock_workspace, "options",
         fmo_fock_workspace(basis, NULL, &memory, NULL) == FMO_OK ||
             fmo_gpu_available(NULL) == FMO_OK);
    fmo_mode mode = FMO_MODE_COUNT;
    REFUSED(fmo_fock_choose_mode, "mode", basis, &o, NULL, NULL, &err);
    FINE(fmo_fock_choose_mode, "basis",
         fmo_fock_choose_mode(NULL, &o, &mode, NULL, NULL) == FMO_OK && mode == FMO_MODE_CPU);
    FINE(fmo_fock_choose_mode, "options",
         fmo_fock_choose_mode(basis, NULL, &mode, NULL, NULL) == FMO_OK && mode != FMO_MODE_AUTO);
    FINE(fmo_fock_choose_mode, "reason",
         fmo_fock_choose_mode(basis, &o, &mode, NULL, NULL) == FMO_OK);
    REFUSED(fmo_fock_plan_profile, "plan", NULL, &profile, &err);
    REFUSED(fmo_fock_plan_profile, "profile", plan, NULL, &err);
    REFUSED(fmo_fock_plan_expect, "plan", NULL, 8.0, &err);
    REFUSED(fmo_fock_plan_loosen, "plan", NULL, 1e-6, &err);
    FINE(fmo_fock_plan_device, "plan", fmo_fock_plan_device(NULL) == -1);

    fmo_error errs[2] = {{FMO_OK, ""}, {FMO_OK, ""}};
    fmo_fock_plan *plans[2] = {plan, plan};
    const fmo_basis *const list[2] = {basis, NULL};
    FINE(fmo_fock_plan_create_batch, "basis",
         fmo_fock_plan_create_batch(NULL, 2, &o, plans, errs) == FMO_ERR_ARGUMENT && !plans[0] &&
             !plans[1] && strstr(errs[1].message, "fmo_fock_plan_create_batch: basis is NULL"));
    FINE(fmo_fock_plan_create_batch, "plans",
         fmo_fock_plan_create_batch(list, 2, &o, NULL, errs) == FMO_ERR_ARGUMENT &&
             strstr(errs[0].message, "plans is NULL"));
    FINE(fmo_fock_plan_create_batch, "options",
         fmo_fock_plan_create_batch(list, 1, NULL, plans, NULL) == FMO_OK && plans[0]);
    fmo_fock_plan_destroy(listing ? NULL : plans[0]);
    if (!listing) {
        CHECK(fmo_fock_plan_create_batch(list, 2, &o, plans, errs) == FMO_ERR_ARGUMENT &&
                  plans[0] && !plans[1] && strstr(errs[1].message, "basis[1] is NULL"),
              "%s", errs[1].message);
        fmo_fock_plan_destroy(plans[0]);
    }
    fmo_fock_plan_destroy(plan);
    free(D);
    free(J);
    free(K);
}

/* One build with matrices at these places of one array, alone and as a job. */
static void overlapping(const fmo_basis *basis, fmo_fock_plan *plan, const double *D, size_t d,
                        size_t j, size_t k, const char *what)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis), matrix = n * n;
    double *const all = malloc(6 * matrix * sizeof *all), *const was = malloc(6 * matrix * 8);
    for (size_t x = 0; x < 6 * matrix; x++) all[x] = 1.25;
    memcpy(all + d, D, matrix * sizeof *D);
    memcpy(was, all, 6 * matrix * sizeof *all);
    const fmo_status expected = what ? FMO_ERR_ARGUMENT : FMO_OK;
    for (int form = 0; form < 3; form++) {
        fmo_error err = {FMO_OK, ""}, own = {FMO_OK, ""};
        fmo_fock_job job = {
            .plan = plan, .density = all + d, .coulomb = all + j, .exchange = all + k, .err = &own};
        if (!what && form == 1) continue; /* no such plan here */
        const fmo_status status = form == 0 ? fmo_fock_build(plan, all + d, all + j, all + k, &err)
                                  : form == 1
                                      ? fmo_fock_build_device(plan, all + d, all + j, all + k, &err)
                                      : fmo_fock_build_batch(&job, 1, &err);
        CHECK(status == expected && (!what || strstr(err.message, what)), "%d: status %d, \"%s\"",
              form, status, err.message);
        if (form == 2)
            CHECK(job.status == expected && !strcmp(own.message, err.message), "job: %s",
                  own.message);
        if (what)
            CHECK(memcmp(all, was, 6 * matrix * sizeof *all) == 0, "a refused build wrote: %s",
                  what);
    }
    free(all);
    free(was);
}

/* Densities and results that overlap in memory are refused, in one build and between the jobs of a
 * batch. */
static void check_overlaps(const fmo_basis *basis)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis), matrix = n * n;
    double *const D = random_density((int)n, 1.0, &seed);
    fmo_fock_plan *plan = NULL;
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 1;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, NULL) == FMO_OK, "plan");
    overlapping(basis, plan, D, 0, matrix, 2 * matrix, NULL); /* side by side is fine */
    overlapping(basis, plan, D, 2 * matrix, matrix, 0, NULL);
    overlapping(basis, plan, D, 0, matrix, matrix, "coulomb and exchange overlap");
    overlapping(basis, plan, D, 0, matrix, 2 * matrix - 1, "coulomb and exchange overlap");
    overlapping(basis, plan, D, 0, 2 * matrix - 1, matrix, "coulomb and exchange overlap");
    overlapping(basis, plan, D, 0, 0, matrix, "density and coulomb overlap");
    overlapping(basis, plan, D, matrix, 3 * matrix, 2 * matrix - 1, "density and exchange overlap");

    /* Between jobs: densities may be shared, outputs may not. */
    double *const out = malloc(8 * matrix * sizeof *out);
    fmo_fock_job jobs[3] = {{0}};
    for (size_t k = 0; k < 3; k++)
        jobs[k] = (fmo_fock_job){.plan = plan,
                                 .density = D,
                                 .coulomb = out + 2 * k * matrix,
                                 .exchange = out + (2 * k + 1) * matrix};
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_fock_build_batch(jobs, 3, &err) == FMO_OK, "%s", err.message);
    jobs[2].exchange = out + matrix + 1;
    CHECK(fmo_fock_build_batch(jobs, 3, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "job 2: exchange overlaps") && jobs[0].status == FMO_ERR_ARGUMENT,
          "%s", err.message);
    jobs[2].exchange = out + 5 * matrix;
    jobs[1].density = out + 4 * matrix; /* that the last job writes */
    CHECK_REFUSED(fmo_fock_build_batch(jobs, 3, &err), &err, FMO_ERR_ARGUMENT,
                  "job 2: coulomb overlaps density of job 1");
    free(out);
    free(D);
    fmo_fock_plan_destroy(plan);
}

/* Functions of SCFs, with each pointer NULL in its turn. */
static void check_scf(const fmo_basis *basis)
{
    fmo_scf_result *result = NULL;
    fmo_scf_input input = {.basis = basis, .electron_num = 2};
    double *const D = calloc(1 << 16, sizeof *D);
    REFUSED(fmo_scf_run, "input", NULL, NULL, &result, &err);
    REFUSED(fmo_scf_run, "result", &input, NULL, NULL, &err);
    input.basis = NULL;
    REFUSED(fmo_scf_run, "input->basis", &input, NULL, &result, &err);
    CHECK(!result, "a result of NULL");
    input = (fmo_scf_input){.basis = basis, .electron_num = 3}; /* odd: the defaults come before */
    FINE(fmo_scf_run, "options", fmo_scf_run(&input, NULL, &result, NULL) == FMO_ERR_INPUT);
    REFUSED(fmo_scf_run_batch, "jobs", NULL, 1, NULL, &err);
    fmo_scf_result converged = {.nao = -1, .converged = 1, .density = D, .fock = D};
    REFUSED(fmo_scf_gradient, "input", NULL, NULL, &converged, D, NULL, &err);
    REFUSED(fmo_scf_gradient, "result", &input, NULL, NULL, D, NULL, &err);
    REFUSED(fmo_scf_gradient, "gradient", &input, NULL, &converged, NULL, NULL, &err);
    const int late = /* nao is refused after options and charge_gradient */
        fmo_scf_gradient(&input, NULL, &converged, D, NULL, NULL) == FMO_ERR_ARGUMENT;
    FINE(fmo_scf_gradient, "options", late);
    FINE(fmo_scf_gradient, "charge_gradient", late);
    const fmo_scf_result zeros = {
        .nao = fmo_basis_ao_num(basis), .density = D, .spin_density = D, .overlap = D};
    REFUSED(fmo_scf_charges, "basis", NULL, &zeros, D, D, D, D, &err);
    REFUSED(fmo_scf_charges, "result", basis, NULL, D, D, D, D, &err);
    const int none = fmo_scf_charges(basis, &zeros, NULL, NULL, NULL, NULL, NULL) == FMO_OK;
    FINE(fmo_scf_charges, "mulliken", none);
    FINE(fmo_scf_charges, "loewdin", none);
    FINE(fmo_scf_charges, "mulliken_spin", none);
    FINE(fmo_scf_charges, "loewdin_spin", none);
    fmo_scf_job job = {.input = input};
    FINE(fmo_scf_run_batch, "options", fmo_scf_run_batch(&job, 1, NULL, NULL) == FMO_ERR_INPUT);
    FINE(fmo_scf_options_init, "options", (fmo_scf_options_init(NULL), 1));
    FINE(fmo_scf_result_destroy, "result", (fmo_scf_result_destroy(NULL), 1));
    REFUSED(fmo_scf_atomic_densities, "basis", NULL, D, &err);
    REFUSED(fmo_scf_atomic_densities, "density", basis, NULL, &err);
    free(D);
}

/* Functions of fragments, with each pointer NULL in its turn. */
static void check_fragments(void)
{
    int number[1] = {1}, fragment[1] = {0}, charge[1] = {0};
    double coord[3] = {0.0, 0.0, 0.0};
    fmo_fragment_system one = {.atom_num = 1,
                               .number = number,
                               .coord = coord,
                               .fragment = fragment,
                               .fragment_num = 1,
                               .charge = charge};
    fmo_fragment_system *read = NULL;
    fmo_fragment_result *result = NULL;
    fmo_basis_set *set = NULL;
    fmo_hybrids *hybrids = NULL;
    const fmo_result_array array = {.name = "x", .rank = 0, .real = coord};
    REFUSED(fmo_fragment_system_read, "path", NULL, &read, &err);
    REFUSED(fmo_fragment_system_read, "system", "none", NULL, &err);
    REFUSED(fmo_fragment_system_read_pieces, "path", NULL, 1, NULL, &read, &err);
    REFUSED(fmo_fragment_system_read_pieces, "system", "none", 1, NULL, NULL, &err);
    FINE(fmo_fragment_system_read_pieces, "ligands",
         fmo_fragment_system_read_pieces("none", 1, NULL, &read, NULL) == FMO_ERR_INPUT);
    FINE(fmo_fragment_system_destroy, "system", (fmo_fragment_system_destroy(NULL), 1));
    REFUSED(fmo_fragment_system_check, "system", NULL, &err);
    FINE(fmo_fragment_electron_num, "system", fmo_fragment_electron_num(NULL, 0) == -1);
    REFUSED(fmo_hybrids_read, "basis", NULL, NULL, 6, &hybrids, &err);
    REFUSED(fmo_hybrids_read, "hybrids", NULL, "sto-3g", 6, NULL, &err);
    FINE(fmo_hybrids_read, "path", fmo_hybrids_read(NULL, "sto-3g", 6, &hybrids, NULL) == FMO_OK);
    fmo_hybrids_destroy(hybrids);
    FINE(fmo_hybrids_destroy, "hybrids", (fmo_hybrids_destroy(NULL), 1));
    CHECK(listing || fmo_basis_set_read("sto-3g", &set, NULL) == FMO_OK, "sto-3g");
    REFUSED(fmo_fragment_run, "system", NULL, set, NULL, &result, &err);
    REFUSED(fmo_fragment_run, "set", &one, NULL, NULL, &result, &err);
    REFUSED(fmo_fragment_run, "result", &one, set, NULL, NULL, &err);
    /* One electron is refused later than NULL would be. */
    FINE(fmo_fragment_run, "options",
         fmo_fragment_run(&one, set, NULL, &result, NULL) == FMO_ERR_INPUT && !result);
    FINE(fmo_fragment_options_init, "options", (fmo_fragment_options_init(NULL), 1));
    const fmo_fragment_result other = {.fragment_num = 2};
    REFUSED(fmo_fragment_write_pairs, "path", NULL, &one, &other, &err);
    REFUSED(fmo_fragment_write_pairs, "system", "/none/x", NULL, &other, &err);
    REFUSED(fmo_fragment_write_pairs, "result", "/none/x", &one, NULL, &err);
    REFUSED(fmo_fragment_write_map, "path", NULL, &one, &other, NULL, &err);
    REFUSED(fmo_fragment_write_map, "system", "/none/x", NULL, &other, NULL, &err);
    REFUSED(fmo_fragment_write_map, "result", "/none/x", &one, NULL, NULL, &err);
    REFUSED(fmo_fragment_write_page, "path", NULL, &one, &other, NULL, 0, &err);
    REFUSED(fmo_fragment_write_page, "system", "/none/x", NULL, &other, NULL, 0, &err);
    REFUSED(fmo_fragment_write_page, "result", "/none/x", &one, NULL, NULL, 0, &err);
    REFUSED(fmo_fragment_write_cpf, "path", NULL, &one, &other, NULL, &err);
    REFUSED(fmo_fragment_write_cpf, "system", "/none/x", NULL, &other, NULL, &err);
    REFUSED(fmo_fragment_write_cpf, "result", "/none/x", &one, NULL, NULL, &err);
    REFUSED(fmo_fragment_find, "system", NULL, "x", charge, &err);
    REFUSED(fmo_fragment_find, "name", &one, NULL, charge, &err);
    REFUSED(fmo_fragment_find, "fragment", &one, "x", NULL, &err);
    REFUSED(fmo_fragment_pairs_of, "result", NULL, 0, charge, &err);
    REFUSED(fmo_fragment_pairs_of, "pair", &other, 0, NULL, &err);
    /* A result of another system is refused later than NULL would be; one electron also. */
    FINE(fmo_fragment_write_page, "basis",
         fmo_fragment_write_page("/none/x", &one, &other, NULL, 0, NULL) == FMO_ERR_INPUT);
    FINE(fmo_fragment_write_cpf, "basis",
         fmo_fragment_write_cpf("/none/x", &one, &other, NULL, NULL) == FMO_ERR_INPUT);
    FINE(fmo_fragment_write_map, "basis",
         fmo_fragment_write_map("/none/x", &one, &other, NULL, NULL) == FMO_ERR_ARGUMENT);
    FINE(fmo_fragment_result_destroy, "result", (fmo_fragment_result_destroy(NULL), 1));
    REFUSED(fmo_result_write_arrays, "path", NULL, NULL, NULL, NULL, NULL, &array, 1, &err);
    REFUSED(fmo_result_write_arrays, "arrays", "/none/x", NULL, NULL, NULL, NULL, NULL, 1, &err);
    const int taken = listing || fmo_result_write_arrays("/none/x", NULL, NULL, NULL, NULL, &array,
                                                         1, NULL) == FMO_ERR_OUTPUT;
    FINE(fmo_result_write_arrays, "input", taken);
    FINE(fmo_result_write_arrays, "sha256", taken);
    FINE(fmo_result_write_arrays, "basis", taken);
    FINE(fmo_result_write_arrays, "mode", taken);
    fmo_basis_set_destroy(set);
}

/* Runs all checks, or with --list prints each function and argument. */
int main(int argc, char **argv)
{
    listing = argc > 1 && !strcmp(argv[1], "--list");
    system_random(&molecule, 3, 3, 2, 3, 4.0, &seed);
    fmo_basis *basis = system_basis(&molecule);
    if (!basis) return check_summary();
    check_basis(basis);
    check_integrals(basis);
    check_potential(basis);
    check_fock(basis);
    check_scf(basis);
    check_io();
    check_fragments();
#if FMO_EXPERIMENTS
    check_comm();
#endif
    check_ranks();
    if (!listing) check_overlaps(basis);
    fmo_basis_destroy(basis);
    return listing ? 0 : check_summary();
}
