/* Potentials and energies of charge distributions (fmo/potential.h) against J of one source after
 * the other, against attraction by charges, and against each other. For either mode; shared by
 * accumulate_potential and gpu_potential. */
#ifndef FMO_POTENTIAL_CHECKS_H
#define FMO_POTENTIAL_CHECKS_H

#include "tests/support/system.h"
#include <fmo/one_electron.h>
#include <fmo/potential.h>

enum { POTENTIAL_SYSTEMS = 4, POTENTIAL_CHARGES = 11 };

typedef struct potential_case {
    int n;
    fmo_basis *basis;
    fmo_fock_plan *plan;
    double *D;
    double charge[POTENTIAL_CHARGES], coord[3 * POTENTIAL_CHARGES];
    fmo_products *products;
    fmo_distribution *distribution;
} potential_case;

static inline double potential_random(unsigned long long *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

/* Its electrons and charges: at once and on the host, or by the call for several, with which a GPU
 * makes them. */
static inline int potential_distribute(potential_case *c, const fmo_potential_options *o,
                                       int together)
{
    fmo_error err = {FMO_OK, ""};
    fmo_status status;
    fmo_distribution_job job = {c->products, c->D, POTENTIAL_CHARGES, c->charge, c->coord, NULL};
    fmo_distribution_destroy(c->distribution);
    if (together)
        status = fmo_distributions_create(&job, 1, o, &err);
    else
        status = fmo_distribution_create(c->products, c->D, POTENTIAL_CHARGES, c->charge, c->coord,
                                         &job.distribution, &err);
    c->distribution = job.distribution;
    CHECK(status == FMO_OK && job.distribution, "%s", err.message);
    return status == FMO_OK;
}

/* Charges on nuclei, like those of ghost atoms, and between them. */
static inline int potential_begin(potential_case *c, const test_system *s,
                                  const fmo_potential_options *options, int together,
                                  unsigned long long *seed)
{
    fmo_fock_options o;
    fmo_error err = {FMO_OK, ""};
    memset(c, 0, sizeof *c);
    c->basis = system_basis(s);
    if (!c->basis) return 0;
    c->n = fmo_basis_ao_num(c->basis);
    c->D = random_density(c->n, 0.7, seed);
    for (int k = 0; k < POTENTIAL_CHARGES; k++) {
        c->charge[k] = potential_random(seed, -3.0, 8.0);
        for (int x = 0; x < 3; x++) c->coord[3 * k + x] = potential_random(seed, -6.0, 6.0);
    }
    for (int x = 0; x < 3; x++) c->coord[x] = 0.0;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.cutoff = 0.0;
    fmo_status status = fmo_fock_plan_create(c->basis, &o, &c->plan, &err);
    if (status == FMO_OK) status = fmo_products_create(c->basis, &c->products, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK && potential_distribute(c, options, together);
}

static inline void potential_end(potential_case *c)
{
    free(c->D);
    fmo_fock_plan_destroy(c->plan);
    fmo_products_destroy(c->products);
    fmo_distribution_destroy(c->distribution);
    fmo_basis_destroy(c->basis);
}

/* Adds the potential of b's distribution in the functions of a, computed by J and attraction. */
static inline void potential_add_reference(const potential_case *a, const potential_case *b,
                                           double *U)
{
    const size_t size = (size_t)a->n * (size_t)a->n;
    double *const J = (double *)malloc(size * sizeof *J);
    fmo_error err = {FMO_OK, ""};
    fmo_fock_job job;
    memset(&job, 0, sizeof job);
    job.plan = a->plan;
    job.source = b->plan;
    job.density = b->D;
    job.coulomb = J;
    CHECK(fmo_fock_build_batch(&job, 1, &err) == FMO_OK, "%s", err.message);
    for (size_t i = 0; i < size; i++) U[i] += J[i];
    CHECK(fmo_charge_attraction(a->basis, POTENTIAL_CHARGES, b->charge, b->coord, J, &err) ==
              FMO_OK,
          "%s", err.message);
    for (size_t i = 0; i < size; i++) U[i] += J[i];
    free(J);
}

static inline double potential_trace(int n, const double *A, const double *B)
{
    double sum = 0.0;
    for (int i = 0; i < n * n; i++) sum += A[i] * B[i];
    return sum;
}

/* The potential of all other systems and of charges in every system, in one call. */
static inline void potential_check_fields(const potential_case *c, const fmo_potential_options *o,
                                          double tolerance)
{
    fmo_potential_job job[POTENTIAL_SYSTEMS];
    const fmo_distribution *source[POTENTIAL_SYSTEMS][POTENTIAL_SYSTEMS];
    double weight[POTENTIAL_SYSTEMS];
    fmo_error err = {FMO_OK, ""};
    memset(job, 0, sizeof job);
    for (int k = 0; k < POTENTIAL_SYSTEMS; k++) {
        const size_t size = (size_t)c[k].n * (size_t)c[k].n;
        job[k].products = c[k].products;
        job[k].source = source[k];
        for (int m = 0; m < POTENTIAL_SYSTEMS; m++)
            if (m != k) source[k][job[k].source_num++] = c[m].distribution;
        if (k == 2) { /* the same by weights */
            for (int m = 0; m < 3; m++) weight[m] = 1.0;
            weight[0] = 0.25;
            weight[3] = 0.75;
            source[k][3] = source[k][0];
            job[k].source_num = 4;
            job[k].weight = weight;
        }
        if (k % 2) { /* its own charges once more */
            job[k].charge = c[k].charge;
            job[k].coord = c[k].coord;
            job[k].charge_num = POTENTIAL_CHARGES;
        }
        job[k].potential = (double *)malloc(size * sizeof(double));
        memset(job[k].potential, 0xff, size * sizeof(double));
    }
    CHECK(fmo_potentials(job, POTENTIAL_SYSTEMS, o, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; k < POTENTIAL_SYSTEMS; k++) {
        const size_t size = (size_t)c[k].n * (size_t)c[k].n;
        double *const U = (double *)calloc(size, sizeof *U);
        for (int m = 0; m < POTENTIAL_SYSTEMS; m++)
            if (m != k) potential_add_reference(&c[k], &c[m], U);
        if (k % 2) {
            double *const V = (double *)malloc(size * sizeof *V);
            CHECK(fmo_charge_attraction(c[k].basis, POTENTIAL_CHARGES, c[k].charge, c[k].coord, V,
                                        &err) == FMO_OK,
                  "%s", err.message);
            for (size_t i = 0; i < size; i++) U[i] += V[i];
            free(V);
        }
        check_close("potential", job[k].potential, U, size, (size_t)c[k].n, tolerance, 1e-12);
        free(U);
        free(job[k].potential);
    }
}

/* Interaction energies of all pairs are symmetric and agree with potentials. */
static inline void potential_check_energies(const potential_case *c, const fmo_potential_options *o,
                                            double tolerance)
{
    fmo_electrostatics_job job[POTENTIAL_SYSTEMS * POTENTIAL_SYSTEMS];
    fmo_error err = {FMO_OK, ""};
    size_t num = 0;
    for (int a = 0; a < POTENTIAL_SYSTEMS; a++)
        for (int b = 0; b < POTENTIAL_SYSTEMS; b++)
            if (a != b)
                job[num++] = (fmo_electrostatics_job){c[a].distribution, c[b].distribution, NAN};
    CHECK(fmo_electrostatics(job, num, o, &err) == FMO_OK, "%s", err.message);
    num = 0;
    for (int a = 0; a < POTENTIAL_SYSTEMS; a++)
        for (int b = 0; b < POTENTIAL_SYSTEMS; b++) {
            if (a == b) continue;
            const double made = job[num++].energy;
            double *const U = (double *)calloc((size_t)(c[a].n * c[a].n), sizeof *U);
            double *const V = (double *)malloc((size_t)(c[b].n * c[b].n) * sizeof *V);
            potential_add_reference(&c[a], &c[b], U);
            double expected = potential_trace(c[a].n, c[a].D, U);
            CHECK(fmo_charge_attraction(c[b].basis, POTENTIAL_CHARGES, c[a].charge, c[a].coord, V,
                                        &err) == FMO_OK,
                  "%s", err.message);
            expected += potential_trace(c[b].n, c[b].D, V);
            for (int i = 0; i < POTENTIAL_CHARGES; i++)
                for (int j = 0; j < POTENTIAL_CHARGES; j++) {
                    double r2 = 0.0;
                    for (int x = 0; x < 3; x++) {
                        const double d = c[a].coord[3 * i + x] - c[b].coord[3 * j + x];
                        r2 += d * d;
                    }
                    expected += c[a].charge[i] * c[b].charge[j] / sqrt(r2);
                }
            free(U);
            free(V);
            CHECK(fabs(made - expected) <= tolerance * fmax(1.0, fabs(expected)),
                  "energy of %d and %d: %.12g, expected %.12g", a, b, made, expected);
            const int mirror = b * (POTENTIAL_SYSTEMS - 1) + (a < b ? a : a - 1);
            CHECK(fabs(made - job[mirror].energy) <= tolerance * fmax(1.0, fabs(made)),
                  "energies of %d and %d: %.15g and %.15g", a, b, made, job[mirror].energy);
        }
}

/* Potentials in products between groups of nuclei: those of all products, but for zeros where both
 * nuclei are in one group; and electrons of these elements alone. Nuclei are in one group, in two,
 * or, the last, in none. */
static inline void potential_check_between(const test_system *s, const potential_case *a,
                                           const potential_case *b,
                                           const fmo_potential_options *options)
{
    unsigned group[SYSTEM_SHELL_MAX];
    const size_t n = (size_t)a->n;
    double *const U = (double *)calloc(4 * n * n, sizeof *U), *const between = U + n * n;
    double *const expected = between + n * n, *const D = expected + n * n;
    const fmo_distribution *const source = b->distribution;
    fmo_potential_options o = *options;
    fmo_potential_job job[2];
    fmo_products *products = NULL;
    fmo_error err = {FMO_OK, ""};
    o.cutoff = 0.0;
    for (size_t i = 0; i < 2 * n * n; i++) U[i] = NAN;
    for (int k = 0; k < s->nuclei; k++) group[k] = k + 1 == s->nuclei ? 0 : 1 + (unsigned)k % 3;
    fmo_status status = fmo_products_create_between(a->basis, group, &products, &err);
    memset(job, 0, sizeof job);
    for (int k = 0; k < 2; k++) {
        job[k].products = k ? products : a->products;
        job[k].source = &source;
        job[k].source_num = 1;
        job[k].potential = U + (size_t)k * n * n;
    }
    if (status == FMO_OK) status = fmo_potentials(job, 2, &o, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    for (size_t i = 0; i < n && status == FMO_OK; i++)
        for (size_t j = 0; j < n; j++) {
            const unsigned both =
                group[s->nucleus[s->ao_shell[i]]] & group[s->nucleus[s->ao_shell[j]]];
            expected[i * n + j] = both ? 0.0 : U[i * n + j];
            D[i * n + j] = both ? 0.0 : a->D[i * n + j];
        }
    check_close("potential between groups", between, expected, n * n, n, 1e-12, 0.0);
    /* a's electrons between groups in b's field, both ways */
    fmo_distribution_job of[2] = {{products, a->D, 0, NULL, NULL, NULL},
                                  {a->products, D, 0, NULL, NULL, NULL}};
    fmo_electrostatics_job energy[2];
    if (status == FMO_OK) status = fmo_distributions_create(of, 2, &o, &err);
    for (int k = 0; k < 2; k++)
        energy[k] = (fmo_electrostatics_job){of[k].distribution, b->distribution, NAN};
    if (status == FMO_OK) status = fmo_electrostatics(energy, 2, &o, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    CHECK(fabs(energy[0].energy - energy[1].energy) <= 1e-11 * fmax(1.0, fabs(energy[1].energy)),
          "electrons between groups: %.14g, expected %.14g", energy[0].energy, energy[1].energy);
    for (int k = 0; k < 2; k++) fmo_distribution_destroy(of[k].distribution);
    fmo_products_destroy(products);
    /* one group: nothing is between */
    for (int k = 0; k < s->nuclei; k++) group[k] = 4;
    status = fmo_products_create_between(a->basis, group, &products, &err);
    job[1].products = products;
    for (size_t i = 0; i < n * n; i++) {
        between[i] = NAN;
        expected[i] = 0.0;
    }
    if (status == FMO_OK) status = fmo_potentials(&job[1], 1, &o, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    CHECK(memcmp(between, expected, n * n * sizeof *expected) == 0, "a potential within one group");
    fmo_products_destroy(products);
    free(U);
}

/* With so many shells that a GPU keeps the products of a call. */
static inline void potential_check_groups(const fmo_potential_options *o, int s_shells,
                                          int p_shells, int depth, unsigned long long *seed)
{
    test_system s, other;
    potential_case a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    system_random(&s, 7, s_shells, p_shells, depth, 5.0, seed);
    system_add_shell(&s, 2, 2, seed);
    system_shuffle_functions(&s, seed);
    system_random(&other, 3, 4, 3, 2, 5.0, seed);
    if (potential_begin(&a, &s, o, 0, seed) && potential_begin(&b, &other, o, 0, seed))
        potential_check_between(&s, &a, &b, o);
    potential_end(&a);
    potential_end(&b);
}

/* All of it, with systems of s, p and d shells; energies need charges apart. */
static inline void potential_check_all(const fmo_potential_options *options, int d_shells,
                                       unsigned long long *seed)
{
    potential_case c[POTENTIAL_SYSTEMS];
    test_system s;
    fmo_potential_options o = *options;
    int good = 1;
    memset(c, 0, sizeof c);
    for (int k = 0; k < POTENTIAL_SYSTEMS; k++) {
        system_random(&s, 3 + k, 4 + k, 3 + k, 1 + k, 5.0, seed);
        for (int m = 0; m < d_shells; m++) system_add_shell(&s, 2, 1 + m, seed);
        system_shuffle_functions(&s, seed);
        for (int p = 1; p < s.prims && k % 2 == 0; p++) /* an exponent that a shell has twice */
            if (s.prim_shell[p] == s.prim_shell[p - 1]) {
                s.exponent[p] = s.exponent[p - 1];
                s.coefficient[p] = 0.7 * s.coefficient[p - 1]; /* else norms are any size */
            }
        good = good && potential_begin(&c[k], &s, options, k % 2 == 0, seed);
    }
    if (good) {
        o.cutoff = 0.0;
        potential_check_fields(c, &o, 1e-11);
        o.cutoff = 1e-10;
        potential_check_fields(c, &o, 1e-9);
        for (int k = 0; k < POTENTIAL_SYSTEMS; k++) { /* no two charges at one place */
            c[k].coord[0] = 7.0 + k;
            (void)potential_distribute(&c[k], options, k % 2 == 0);
        }
        o.cutoff = 0.0;
        potential_check_energies(c, &o, 1e-12);
        o.cutoff = 1e-10;
        potential_check_energies(c, &o, 1e-9);
        o.mode = FMO_MODE_CPU; /* whichever call made them */
        potential_check_fields(c, &o, 1e-9);
        potential_check_energies(c, &o, 1e-9);
    }
    for (int k = 0; k < POTENTIAL_SYSTEMS; k++) potential_end(&c[k]);
    potential_check_groups(options, 8, 7, 2, seed);
    potential_check_groups(options, 35, 28, 5, seed);
}

#endif
