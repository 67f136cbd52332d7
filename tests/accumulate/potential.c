/* Potentials of charge distributions in mode cpu, refused arguments, and independence of the number
 * of threads. */
#include "tests/support/calls.h"
#include "tests/support/potential_checks.h"

static unsigned long long seed = 90210;

/* The same bits with any number of threads. */
static void check_threads(void)
{
    test_system s;
    potential_case c[2];
    system_random(&s, 6, 9, 8, 3, 6.0, &seed);
    const int good =
        potential_begin(&c[0], &s, NULL, 0, &seed) & potential_begin(&c[1], &s, NULL, 1, &seed);
    if (good) {
        const size_t size = (size_t)c[0].n * (size_t)c[0].n;
        double *const U = (double *)malloc(2 * size * sizeof *U);
        const fmo_distribution *const source = c[1].distribution;
        for (int k = 0; k < 2; k++) {
            fmo_potential_options o;
            fmo_error err = {FMO_OK, ""};
            fmo_potential_job job;
            memset(&job, 0, sizeof job);
            job.products = c[0].products;
            job.source = &source;
            job.source_num = 1;
            job.potential = U + (size_t)k * size;
            fmo_potential_options_init(&o);
            o.threads = k ? 3 : 1;
            CHECK(fmo_potentials(&job, 1, &o, &err) == FMO_OK, "%s", err.message);
        }
        CHECK(!memcmp(U, U + size, size * sizeof *U), "bits depend on threads");
        free(U);
    }
    potential_end(&c[0]);
    potential_end(&c[1]);
}

/* Wrong arguments, charges, coordinates and densities are refused with a message that names them,
 * and no object is handed out. */
static void check_refusals(void)
{
    test_system s;
    potential_case c;
    fmo_error err = {FMO_OK, ""};
    fmo_potential_options o;
    fmo_distribution *d = (fmo_distribution *)&err;
    fmo_products *products = (fmo_products *)&err;
    system_random(&s, 2, 2, 1, 1, 4.0, &seed);
    if (potential_begin(&c, &s, NULL, 1, &seed)) {
        const double bad[4] = {1.0, NAN, 0.0, 0.0};
        CHECK_REFUSED(fmo_products_create(NULL, &products, &err), &err, FMO_ERR_ARGUMENT, "basis");
        CHECK(!products, "products of nothing");
        CHECK_REFUSED(fmo_distribution_create(NULL, c.D, 0, NULL, NULL, &d, &err), &err,
                      FMO_ERR_ARGUMENT, "products");
        CHECK(!d, "a distribution of nothing");
        CHECK_REFUSED(fmo_distribution_create(c.products, NULL, 1, NULL, bad, &d, &err), &err,
                      FMO_ERR_ARGUMENT, "charge");
        CHECK_REFUSED(fmo_distribution_create(c.products, NULL, 1, bad, bad, &d, &err), &err,
                      FMO_ERR_INPUT, "coord[1]");
        CHECK_REFUSED(fmo_distribution_create(c.products, NULL, 2, bad, c.coord, &d, &err), &err,
                      FMO_ERR_INPUT, "charge[1]");
        c.D[1] = INFINITY;
        CHECK_REFUSED(fmo_distribution_create(c.products, c.D, 0, NULL, NULL, &d, &err), &err,
                      FMO_ERR_INPUT, "density[1]");
        fmo_distribution_job two[2] = {{c.products, NULL, 1, c.charge, c.coord, NULL},
                                       {c.products, c.D, 0, NULL, NULL, NULL}};
        two[0].distribution = two[1].distribution = c.distribution;
        CHECK_REFUSED(fmo_distributions_create(two, 2, NULL, &err), &err, FMO_ERR_INPUT,
                      "jobs[1]: density[1]");
        CHECK(!two[0].distribution && !two[1].distribution, "distributions of a call that failed");
        two[1].products = NULL;
        CHECK_REFUSED(fmo_distributions_create(two, 2, NULL, &err), &err, FMO_ERR_ARGUMENT,
                      "jobs[1]: products");
        fmo_potential_options_init(&o);
        o.mode = FMO_MODE_SPLIT;
        two[0].distribution = c.distribution;
        CHECK_REFUSED(fmo_distributions_create(two, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "mode");
        CHECK(!two[0].distribution, "a distribution of a call that was refused");
        CHECK(fmo_distributions_create(NULL, 0, NULL, &err) == FMO_OK, "none: %s", err.message);
        fmo_potential_job job;
        memset(&job, 0, sizeof job);
        CHECK_REFUSED(fmo_potentials(&job, 1, NULL, &err), &err, FMO_ERR_ARGUMENT, "jobs[0]");
        CHECK_REFUSED(fmo_potentials(NULL, 1, NULL, &err), &err, FMO_ERR_ARGUMENT, "jobs");
        CHECK(fmo_potentials(NULL, 0, NULL, &err) == FMO_OK, "no jobs: %s", err.message);
        job.products = c.products;
        job.potential = c.D;
        fmo_potential_options_init(&o);
        o.cutoff = -1.0;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "cutoff");
        fmo_potential_options_init(&o);
        o.mode = FMO_MODE_REFERENCE;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "mode");
        fmo_potential_options_init(&o);
        o.threads = -2;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "threads");
        fmo_potential_options_init(&o);
        o.device_num = FMO_DEVICES_MAX + 1;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "device_num");
        o.device_num = -1;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "device_num");
        o.device_num = 1;
        o.devices[0] = -1;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "device_num");
        o.devices[0] = 1;
        o.device = 0;
        CHECK_REFUSED(fmo_potentials(&job, 1, &o, &err), &err, FMO_ERR_ARGUMENT, "device_num");
        o.devices[0] = 0; /* the same twice, in mode cpu */
        CHECK(fmo_potentials(&job, 1, &o, &err) == FMO_OK, "%s", err.message);
        CHECK(fmo_potentials(&job, 1, NULL, &err) == FMO_OK && c.D[0] == 0.0, "nothing around: %s",
              err.message);
        fmo_electrostatics_job energy = {c.distribution, NULL, 0.0};
        CHECK_REFUSED(fmo_electrostatics(&energy, 1, NULL, &err), &err, FMO_ERR_ARGUMENT,
                      "jobs[0]");
    }
    potential_end(&c);
    fmo_products_destroy(NULL);
    fmo_distribution_destroy(NULL);
}

/* A distribution whose electrons are computed when they are first needed, by two threads at once,
 * after its products and density have been freed. */
static void check_later(void)
{
    potential_case c[2];
    test_system s;
    fmo_error err = {FMO_OK, ""};
    fmo_potential_options fused, o;
    memset(c, 0, sizeof c);
    system_random(&s, 5, 7, 5, 2, 5.0, &seed);
    if (potential_begin(&c[0], &s, NULL, 0, &seed) && potential_begin(&c[1], &s, NULL, 0, &seed)) {
        const size_t size = (size_t)c[0].n * (size_t)c[0].n;
        double *const U = malloc(3 * size * sizeof *U);
        const fmo_distribution *first = c[1].distribution;
        fmo_potential_job job[3];
        fmo_potential_options_init(&fused);
        fused.mode = FMO_MODE_FUSED; /* no GPU has been used so far */
        fmo_distribution_job later = {c[1].products, c[1].D,     POTENTIAL_CHARGES,
                                      c[1].charge,   c[1].coord, NULL};
        CHECK(fmo_distributions_create(&later, 1, &fused, &err) == FMO_OK, "%s", err.message);
        fmo_products_destroy(c[1].products);
        c[1].products = NULL;
        for (int k = 0; k < c[1].n * c[1].n; k++) c[1].D[k] = NAN;
        const fmo_distribution *const second = later.distribution;
        for (int k = 0; k < 3; k++)
            job[k] = (fmo_potential_job){.products = c[0].products,
                                         .source = k ? &second : &first,
                                         .source_num = 1,
                                         .potential = U + (size_t)k * size};
        fmo_potential_options_init(&o);
        o.threads = 2;
        CHECK(fmo_potentials(job, 3, &o, &err) == FMO_OK, "%s", err.message);
        CHECK(memcmp(U, U + size, size * sizeof *U) == 0 &&
                  memcmp(U, U + 2 * size, size * sizeof *U) == 0,
              "other bits of what was made later");
        fmo_distribution_destroy(later.distribution);
        free(U);
    }
    for (int k = 0; k < 2; k++) potential_end(&c[k]);
}

/* The dipole moment against the energy between two opposite charges far away, which is that of the
 * dipole moment up to a relative (6/R)^2 of the octupole. */
static void check_dipole(void)
{
    const double R = 1e5, q = 1e10;
    potential_case c;
    test_system s;
    fmo_error err = {FMO_OK, ""};
    fmo_potential_options fused, o;
    system_random(&s, 6, 9, 8, 3, 6.0, &seed);
    fmo_potential_options_init(&fused);
    fused.mode = FMO_MODE_FUSED; /* the lists are made when they are needed */
    fmo_potential_options_init(&o);
    o.cutoff = 0.0;
    for (int later = 0; later < 2; later++) {
        double dipole[3] = {NAN, NAN, NAN};
        if (!potential_begin(&c, &s, &fused, later, &seed)) return;
        CHECK(fmo_distribution_dipole(c.distribution, dipole, &err) == FMO_OK, "%s", err.message);
        for (int x = 0; x < 3; x++) {
            const double charge[2] = {q, -q};
            double coord[6] = {0.0};
            fmo_electrostatics_job energy = {.a = c.distribution};
            fmo_distribution *far = NULL;
            coord[x] = R;
            coord[3 + x] = -R;
            CHECK(fmo_distribution_create(c.products, NULL, 2, charge, coord, &far, &err) == FMO_OK,
                  "%s", err.message);
            energy.b = far;
            CHECK(fmo_electrostatics(&energy, 1, &o, &err) == FMO_OK, "%s", err.message);
            const double expected = energy.energy * R * R / (2.0 * q);
            CHECK(fabs(dipole[x] - expected) < 1e-7 * (1.0 + fabs(expected)), "dipole[%d] = %g, %g",
                  x, dipole[x], expected);
            fmo_distribution_destroy(far);
        }
        potential_end(&c);
    }
}

int main(void)
{
    fmo_potential_options o;
    fmo_potential_options_init(&o);
    for (int threads = 1; threads <= 3; threads += 2) {
        o.threads = threads;
        potential_check_all(&o, 0, &seed);
        potential_check_all(&o, 3, &seed);
    }
    check_threads();
    check_later();
    check_dipole();
    check_refusals();
    return check_summary();
}
