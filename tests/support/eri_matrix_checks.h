/* Matrices of all two-electron integrals (fmo/eri_matrix.h) of data sets: made with the functions
 * shuffled, normalised otherwise, spherical or not. */
#ifndef FMO_TESTS_ERI_MATRIX_CHECKS_H
#define FMO_TESTS_ERI_MATRIX_CHECKS_H

#include <fmo/eri_matrix.h>
#include <fmo/one_electron.h>

#include "tests/support/shipped.h"

enum { ERI_SYSTEMS = 7 };
static const char *const eri_systems[ERI_SYSTEMS] = {
    "h2o_6-31g", "hehp_sto-3g",          "ch2o_6-31g_sph",        "n2_3-21g",
    "he_sto-3g", "ch3oh_6-31g_shuffled", "nh3_3-21g_sph_shuffled"};

static inline size_t eri_pairs(const fmo_basis *basis)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    return n * (n + 1) / 2;
}

/* That of a basis, on the CPU; to be freed. */
static inline double *eri_matrix_of(const fmo_basis *basis, double cutoff)
{
    const size_t pairs = eri_pairs(basis);
    fmo_error err = {FMO_OK, ""};
    double *const eri = (double *)malloc(pairs * pairs * sizeof *eri);
    CHECK(eri && fmo_eri_matrix(basis, cutoff, eri, &err) == FMO_OK, "%s", err.message);
    return eri;
}

/* Overlap and core Hamiltonian, on the CPU. */
static inline void eri_core_of(const fmo_basis *basis, double *S, double *H)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const V = (double *)malloc(n * n * sizeof *V);
    CHECK(V && fmo_overlap(basis, S, NULL) == FMO_OK && fmo_kinetic(basis, H, NULL) == FMO_OK &&
              fmo_nuclear_attraction(basis, V, NULL) == FMO_OK,
          "one-electron integrals");
    for (size_t e = 0; V && e < n * n; e++) H[e] += V[e];
    free(V);
}

#endif
