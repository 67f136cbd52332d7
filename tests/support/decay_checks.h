/* Screening of erfc(omega r)/r by its decay with distance, in a chain of atoms; for accumulate and
 * gpu tests of requests. */
#ifndef FMO_DECAY_CHECKS_H
#define FMO_DECAY_CHECKS_H

#include "tests/support/system.h"

/* Builds J and K of a density with an operator, and returns the number of quartets. */
static inline int64_t decay_build(const fmo_basis *basis, const fmo_fock_options *o,
                                  fmo_operator op, const double *D, double *out)
{
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    int64_t quartets = 0;
    const size_t size = (size_t)fmo_basis_ao_num(basis) * (size_t)fmo_basis_ao_num(basis);
    fmo_fock_job job;
    memset(&job, 0, sizeof job);
    fmo_status status = fmo_fock_plan_create(basis, o, &plan, &err);
    job.plan = plan;
    job.density = D;
    job.coulomb = out;
    job.exchange = out + size;
    job.coulomb_operator = job.exchange_operator = op;
    if (status == FMO_OK) status = fmo_fock_build_batch(&job, 1, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && status == FMO_OK; c++)
        quartets += profile.classes[c].quartets;
    fmo_fock_plan_destroy(plan);
    return quartets;
}

/* A chain of atoms in steps of 3 bohr with s and p shells, and others of angular momentum `high`
 * unless it is 0. Compares erfc at
 * cutoff 1e-10 with a tight cutoff and an operator that differs by less than rounding but is not
 * erfc, and so is screened by Schwarz bounds alone. The decay must save quartets. */
static inline void decay_check(const fmo_fock_options *options, int atoms, int high, double omega,
                               unsigned long long *seed)
{
    static test_system s;
    const fmo_operator of = {1.0, -1.0, omega}, other = {1.0 + 1e-13, -1.0, omega};
    fmo_fock_options tight;
    memset(&s, 0, sizeof s);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(&s, 3.0 * a, 0.7 * (a % 3), 0.4 * (a % 2));
        system_add_shell(&s, 0, 3, seed);
        system_add_shell(&s, 0, 1, seed);
        system_add_partner(&s, seed);
        if (high && a % 3 == 0) system_add_shell(&s, high, 1, seed);
    }
    fmo_basis *const basis = system_basis(&s);
    const size_t n = (size_t)s.aos, size = n * n;
    double *const D = random_density(s.aos, 1.0, seed);
    double *const out = (double *)calloc(6 * size, sizeof *out);
    fmo_fock_options_init(&tight);
    tight.mode = FMO_MODE_CPU;
    tight.cutoff = 1e-14;
    (void)decay_build(basis, &tight, other, D, out);
    const int64_t few = decay_build(basis, options, of, D, out + 2 * size);
    const int64_t many = decay_build(basis, options, other, D, out + 4 * size);
    check_close("erfc", out + 2 * size, out, 2 * size, n, 1e-8, 0.0);
    check_close("nearly erfc", out + 4 * size, out, 2 * size, n, 1e-8, 0.0);
    printf("%s, omega %g, l up to %d: %lld quartets, %lld by Schwarz bounds\n",
           fmo_mode_name(options->mode), omega, high ? high : 1, (long long)few, (long long)many);
    CHECK(few < 0.9 * (double)many, "omega %g: %lld quartets of %lld", omega, (long long)few,
          (long long)many);
    free(out);
    free(D);
    fmo_basis_destroy(basis);
}

#endif
