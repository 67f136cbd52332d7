/* Systems of fragments in datasets/fmo2, and their FMO2 energy in a mode. */
#ifndef FMO_TESTS_FRAGMENT_CASES_H
#define FMO_TESTS_FRAGMENT_CASES_H

#include <fmo/fragment.h>

#include "tests/support/check.h"

static const char *folder;
static fmo_mode mode = FMO_MODE_CPU;

static inline fmo_fragment_system *read_case(const char *name)
{
    char path[1024];
    fmo_error err = {FMO_OK, ""};
    fmo_fragment_system *s = NULL;
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    CHECK(fmo_fragment_system_read(path, &s, &err) == FMO_OK, "%s", err.message);
    if (!s) exit(1);
    return s;
}

static inline fmo_basis_set *read_basis(const char *name)
{
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    CHECK(fmo_basis_set_read(name, &set, &err) == FMO_OK, "%s", err.message);
    if (!set) exit(1);
    return set;
}

static inline fmo_fragment_result *run(const fmo_fragment_system *s, int threads,
                                       double convergence)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fragment_options o;
    fmo_fragment_result *r = NULL;
    fmo_basis_set *set = read_basis(s->basis);
    fmo_fragment_options_init(&o);
    o.scf.fock.mode = mode;
    o.scf.fock.threads = threads;
    if (convergence > 0.0) o.convergence = convergence;
    /* Energies of monomers are off by the gradient. */
    if (convergence > 0.0 && convergence < 1e-10) o.scf.gradient_convergence = 1e-8;
    CHECK(fmo_fragment_run(s, set, &o, &r, &err) == FMO_OK, "%s: %s", s->name, err.message);
    if (!r) exit(1);
    fmo_basis_set_destroy(set);
    return r;
}

#endif
