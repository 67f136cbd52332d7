/* Shares of the work: plans that each do a part of it, added up, against a plan that does all. For
 * any mode; shared by accumulate_work and gpu_work, which link the library's inside. */
#ifndef FMO_WORK_CHECKS_H
#define FMO_WORK_CHECKS_H

#include "tests/support/system.h"

#include "accumulate/plan/plan.h"

/* J and K of one share, or with shares = 1 of all; 0 if that was not possible. */
static inline int work_build(const fmo_basis *basis, const fmo_fock_options *o, int share,
                             int shares, const double *D, double *J, double *K, int64_t *quartets)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    const size_t size = (size_t)fmo_basis_ao_num(basis) * (size_t)fmo_basis_ao_num(basis);
    memset(J, 0xff, size * sizeof *J);
    memset(K, 0xff, size * sizeof *K);
    fmo_status status = fmo_plan_create_share(basis, o, share, shares, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &profile, &err);
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && status == FMO_OK; c++)
        *quartets += profile.classes[c].quartets;
    CHECK(status == FMO_OK, "share %d of %d: %s", share, shares, err.message);
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK;
}

/* Shares of a molecule's work. */
static inline void work_check_system(const test_system *s, fmo_mode mode, fmo_scatter scatter,
                                     fmo_integrals integrals, double tolerance,
                                     unsigned long long *seed)
{
    static const int counts[] = {1, 2, 3, 7, 40};
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    double *const memory = (double *)calloc(6 * size, sizeof *memory);
    double *const D = random_density(n, 1.0, seed);
    double *const J = memory, *const K = J + size, *const all_J = K + size;
    double *const all_K = all_J + size, *const sum_J = all_K + size, *const sum_K = sum_J + size;
    fmo_fock_options o;
    int64_t all = 0;
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.threads = 2;
    o.cutoff =
        1e-13; /* sums below a share of it are left out of K, and which ones goes by shares */
    o.scatter = scatter;
    o.integrals = integrals;
    if (!memory || !D || !work_build(basis, &o, 0, 1, D, all_J, all_K, &all)) goto done;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int64_t quartets = 0;
        memset(sum_J, 0, 2 * size * sizeof *sum_J);
        for (int share = 0; share < counts[c]; share++) {
            if (!work_build(basis, &o, share, counts[c], D, J, K, &quartets)) goto done;
            for (size_t x = 0; x < 2 * size; x++) sum_J[x] += J[x];
        }
        CHECK(quartets == all, "%d shares have %lld quartets, all of them %lld", counts[c],
              (long long)quartets, (long long)all);
        check_close("J of all shares", sum_J, all_J, size, (size_t)n, tolerance, 0.0);
        check_close("K of all shares", sum_K, all_K, size, (size_t)n, tolerance, 0.0);
    }
done:
    free(memory);
    free(D);
    fmo_basis_destroy(basis);
}

/* The same of a random molecule; `shells` of either kind. */
static inline void work_check_shares(fmo_mode mode, fmo_scatter scatter, fmo_integrals integrals,
                                     int shells, double tolerance, unsigned long long *seed)
{
    static test_system s;
    system_random(&s, shells, shells + 3, shells, 3, 4.0 * cbrt(shells), seed);
    work_check_system(&s, mode, scatter, integrals, tolerance, seed);
}

#endif
