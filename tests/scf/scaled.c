/* Modes cpu and reference, builds and SCFs, with functions scaled by 1e-8 to 1e8; norms. */
#include <fmo/one_electron.h>

#include "tests/support/scaled_checks.h"

/* Builds with scaled functions, in modes cpu and reference and with several options. */
static void check_builds(void)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.threads = 2;
    for (int with_d = 0; with_d < 2; with_d++) {
        o.mode = FMO_MODE_CPU;
        check_scaled_builds("cpu", &o, with_d, 1.0, scaled_build_host);
        check_scaled_builds("cpu, large density", &o, with_d, 300.0, scaled_build_host);
        o.integrals = FMO_INTEGRALS_STORED;
        check_scaled_builds("cpu, stored", &o, with_d, 1.0, scaled_build_host);
        o.integrals = FMO_INTEGRALS_DIRECT;
        o.coulomb = FMO_COULOMB_BOXES;
        check_scaled_builds("cpu, boxes", &o, with_d, 1.0, scaled_build_host);
        o.coulomb = FMO_COULOMB_AUTO;
        o.scatter = FMO_SCATTER_FIXED;
        check_scaled_builds("cpu, fixed", &o, with_d, 1.0, scaled_build_host);
        o.scatter = FMO_SCATTER_AUTO;
        o.mode = FMO_MODE_REFERENCE;
        check_scaled_builds("reference", &o, with_d, 1.0, scaled_build_host);
    }
}

/* Compares SCFs over scaled functions with those over the basis set's own: RHF, RHF with strategy
 * fixed and stability, and ROHF. */
static void check_scf(const char *xyz, const char *set)
{
    fmo_dataset *const dataset = molecule_dataset(xyz, set);
    fmo_scf_options o;
    char name[96];
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    o.fock.threads = 2;
    o.energy_convergence = 1e-10;
    snprintf(name, sizeof name, "%s %s", xyz, set);
    if (dataset) check_scaled_scf(name, dataset, &o, 6);
    o.fock.scatter = FMO_SCATTER_FIXED;
    o.stability = FMO_SCF_STABILITY_CHECK;
    snprintf(name, sizeof name, "%s %s, fixed, with stability", xyz, set);
    if (dataset) check_scaled_scf(name, dataset, &o, 4);
    o.stability = FMO_SCF_STABILITY_NONE;
    o.restricted = 1;
    snprintf(name, sizeof name, "%s %s, ROHF", xyz, set);
    if (dataset) check_scaled_scf(name, dataset, &o, 4);
    fmo_dataset_destroy(dataset);
}

/* Norms against the overlap, and the basis of norm 1. */
static void check_norms(void)
{
    static test_system s;
    unsigned long long seed = 5;
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        fmo_error err = {FMO_OK, ""};
        fmo_basis *normalised = NULL;
        scaled_system(&s, 1, cartesian, &seed);
        system_shuffle_functions(&s, &seed);
        fmo_basis *const basis = system_basis(&s);
        const size_t n = (size_t)fmo_basis_ao_num(basis);
        double *const S = (double *)malloc(2 * n * n * sizeof *S), *const T = S + n * n;
        CHECK(fmo_overlap(basis, S, &err) == FMO_OK &&
                  fmo_basis_normalised(basis, &normalised, &err) == FMO_OK &&
                  fmo_overlap(normalised, T, &err) == FMO_OK,
              "%s", err.message);
        for (size_t i = 0; i < n; i++) {
            const double norm = fmo_basis_ao_norm(basis)[i];
            CHECK(fabs(norm - sqrt(S[i * n + i])) <= 1e-13 * norm,
                  "norm of function %zu: %.15g, %.15g", i, norm, sqrt(S[i * n + i]));
            for (size_t j = 0; j < n; j++) S[i * n + j] /= norm * fmo_basis_ao_norm(basis)[j];
            CHECK(fmo_basis_ao_norm(normalised)[i] == 1.0, "norm of a normalised function");
        }
        check_close("overlap of normalised functions", T, S, n * n, n, 1e-13, 0.0);
        fmo_basis_destroy(normalised);
        fmo_basis_destroy(basis);
        free(S);
    }
}

int main(void)
{
    check_norms();
    check_builds();
    check_scf("water001", "6-31g");
    check_scf("h2s", "6-31g(d)");
    return check_summary();
}
