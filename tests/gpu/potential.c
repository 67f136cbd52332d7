/* Potentials of charge distributions on a GPU. */
#include "tests/support/potential_checks.h"

/* Lists that are made again, and calls that are made again, give the same bits. */
static void check_bits(const fmo_potential_options *o, unsigned long long *seed)
{
    potential_case c[2];
    test_system s;
    memset(c, 0, sizeof c);
    fmo_error err = {FMO_OK, ""};
    int good = 1;
    for (int k = 0; k < 2; k++) {
        system_random(&s, 6, 8, 6, 2, 5.0, seed);
        system_add_shell(&s, 2, 2, seed);
        good = good && potential_begin(&c[k], &s, o, 1, seed);
    }
    const size_t size = good ? (size_t)c[0].n * (size_t)c[0].n : 0;
    double *const U = malloc(2 * size * sizeof *U + 1);
    for (int again = 0; again < 4 && good; again++) {
        const fmo_distribution *const source[] = {c[0].distribution, c[1].distribution};
        fmo_potential_job job = {.products = c[0].products, .source = source, .source_num = 2};
        job.potential = again ? U + size : U;
        CHECK(fmo_potentials(&job, 1, o, &err) == FMO_OK, "%s", err.message);
        CHECK(memcmp(U, job.potential, size * sizeof *U) == 0, "other bits in call %d", again);
        if (again == 1)
            for (int k = 0; k < 2; k++) good = good && potential_distribute(&c[k], o, 1);
    }
    free(U);
    for (int k = 0; k < 2; k++) potential_end(&c[k]);
}

/* So many matrices that they come back in several pieces, and all the same. */
static void check_many(const fmo_potential_options *o, unsigned long long *seed)
{
    enum { MANY = 160 };
    potential_case a, b;
    test_system s;
    fmo_error err = {FMO_OK, ""};
    static fmo_potential_job jobs[MANY];
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    system_random(&s, 7, 30, 30, 2, 5.0, seed);
    const int good = potential_begin(&a, &s, o, 0, seed);
    system_random(&s, 2, 2, 2, 1, 5.0, seed);
    if (good && potential_begin(&b, &s, o, 0, seed)) {
        const size_t size = (size_t)a.n * (size_t)a.n;
        const fmo_distribution *const source = b.distribution;
        double *const U = malloc(MANY * size * sizeof *U);
        CHECK(MANY * size > (size_t)2 << 20, "%zu elements are few", MANY * size);
        for (size_t i = 0; i < MANY * size; i++) U[i] = NAN;
        for (int k = 0; k < MANY; k++)
            jobs[k] = (fmo_potential_job){.products = a.products,
                                          .source = &source,
                                          .source_num = 1,
                                          .potential = U + (size_t)k * size};
        CHECK(fmo_potentials(jobs, MANY, o, &err) == FMO_OK, "%s", err.message);
        for (int k = 1; k < MANY; k++)
            CHECK(memcmp(U, U + (size_t)k * size, size * sizeof *U) == 0, "job %d differs", k);
        CHECK(isfinite(U[size - 1]), "no potential");
        free(U);
    }
    potential_end(&a);
    potential_end(&b);
}

int main(void)
{
    unsigned long long seed = 90211;
    fmo_potential_options o;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    fmo_potential_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    for (int d = 0; d <= 3; d += 3)
        for (int again = 0; again < 3; again++) potential_check_all(&o, d, &seed);
    check_bits(&o, &seed);
    check_many(&o, &seed);
    /* dealt to several: one taken three times, then all there are */
    o.device_num = 3;
    potential_check_all(&o, 3, &seed);
    const int gpus = fmo_gpu_num();
    o.device_num = gpus < FMO_DEVICES_MAX ? gpus : FMO_DEVICES_MAX;
    for (int g = 0; g < o.device_num; g++) o.devices[g] = g;
    potential_check_all(&o, 3, &seed);
    printf("%d GPUs\n", gpus);
    return check_summary();
}
