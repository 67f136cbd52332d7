/* See normalise.h. */
#include "driver/scf/normalise.h"
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Norms within this distance of 1 are left as they are: rounding, and digits of published basis
 * sets. */
static const double norm_tolerance = 1e-9;

static int is_normalised(const fmo_basis *basis)
{
    const double *const norm = fmo_basis_ao_norm(basis);
    for (int i = 0; i < fmo_basis_ao_num(basis); i++)
        if (!(fabs(norm[i] - 1.0) <= norm_tolerance)) return 0;
    return 1;
}

/* M_ij (norm_i norm_j)^power in place: -1 converts operators from the caller's functions to
 * normalised ones, 1 converts densities. */
static void scale_matrix(size_t n, const double *norm, int power, double *M)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            M[i * n + j] =
                power > 0 ? M[i * n + j] * norm[i] * norm[j] : M[i * n + j] / norm[i] / norm[j];
}

/* Makes a scaled copy of a matrix, unless it is NULL. @return 0 if there is no memory */
static int copy_matrix(size_t n, const double *norm, int power, const double *from, double **to,
                       const double **field)
{
    if (!from) return 1;
    *to = malloc(n * n * sizeof **to);
    if (!*to) return 0;
    memcpy(*to, from, n * n * sizeof **to);
    scale_matrix(n, norm, power, *to);
    *field = *to;
    return 1;
}

/* Makes a basis of normalised functions and copies of the matrices in it, if a norm differs from
 * 1. */
fmo_status fmo_scf_normalise(const fmo_scf_input *input, const fmo_scf_options *options,
                             fmo_scf_normal *to, fmo_error *err)
{
    *to = (fmo_scf_normal){0};
    if (input) to->input = *input;
    if (!input || !input->basis || is_normalised(input->basis) ||
        fmo_scf_check_input(input, options, NULL) != FMO_OK)
        return FMO_OK;
    const size_t n = (size_t)fmo_basis_ao_num(input->basis);
    const double *const density = options->guess == FMO_SCF_GUESS_READ ? input->density : NULL;
    to->norm = malloc(n * sizeof *to->norm);
    if (to->norm) memcpy(to->norm, fmo_basis_ao_norm(input->basis), n * sizeof *to->norm);
    if (to->norm && fmo_basis_normalised(input->basis, &to->basis, err) == FMO_OK &&
        copy_matrix(n, to->norm, -1, input->core_hamiltonian, &to->core,
                    &to->input.core_hamiltonian) &&
        copy_matrix(n, to->norm, -1, input->field, &to->field, &to->input.field) &&
        copy_matrix(n, to->norm, -1, input->projector, &to->projector, &to->input.projector) &&
        copy_matrix(n, to->norm, 1, density, &to->density, &to->input.density)) {
        to->input.basis = to->basis;
        return FMO_OK;
    }
    fmo_scf_normal_free(to);
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCF of %zu functions", n);
}

void fmo_scf_from_normal(const fmo_scf_normal *from, fmo_scf_result *r)
{
    const double *const norm = from->norm;
    if (!norm || !r) return;
    const size_t n = (size_t)r->nao;
    scale_matrix(n, norm, -1, r->density);
    scale_matrix(n, norm, 1, r->fock);
    scale_matrix(n, norm, 1, r->overlap);
    scale_matrix(n, norm, 1, r->core_hamiltonian);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) r->coefficient[k * n + i] /= norm[i];
}

void fmo_scf_normal_free(fmo_scf_normal *normal)
{
    free(normal->norm);
    fmo_basis_destroy(normal->basis);
    free(normal->core);
    free(normal->field);
    free(normal->projector);
    free(normal->density);
    *normal = (fmo_scf_normal){0};
}
