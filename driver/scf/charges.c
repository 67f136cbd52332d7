/* Charges and spin populations of the atoms of a result, by Mulliken and by Loewdin; declared in
 * scf.h. Loewdin's depend on the norms of the functions, which are those of PySCF here: 1, but all
 * functions of a Cartesian d, f or g shell have the same factor. */
#include "base/arguments.h"
#include "driver/scf/scf_internal.h"
#include "integrals/basis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct populations {
    size_t n;         /* number of functions */
    int *atom;        /* [n] nucleus of each function */
    double *weight;   /* [n] factors that give the functions the norms of Loewdin's charges */
    double *root;     /* [n][n] S^1/2 of these functions; NULL: only Mulliken's are requested */
    double *scratch;  /* [2][n][n] */
    double *of_atoms; /* [4][nucleus_num] in the order of the arguments of fmo_scf_charges */
} populations;

/* Finds the nucleus and the weight of each function. */
static void describe_functions(const fmo_basis *basis, populations *p)
{
    const double pi = 3.14159265358979323846;
    for (int s = 0; s < basis->shell_num; s++) {
        const fmo_shell *const shell = &basis->shell[s];
        const int l = shell->ang_mom;
        const int count = basis->cartesian ? fmo_shell_functions(l) : fmo_shell_spherical(l);
        const int monomials = count != fmo_shell_spherical(l);
        double odd = 1.0; /* (2l + 1)!!; the norm of x y is sqrt(4 pi / 15) */
        for (int k = 1; k <= l; k++) odd *= 2 * k + 1;
        for (int at = shell->caller_begin; at < shell->caller_begin + count; at++) {
            const int i = basis->ao_caller[at];
            p->atom[i] = shell->nucleus;
            p->weight[i] = monomials ? sqrt(4.0 * pi / odd) / fabs(basis->ao_factor[at])
                                     : 1.0 / basis->ao_norm[i];
        }
    }
}

/* Computes S^1/2 as B B^T with B = V s^1/4 of the eigenvectors V and eigenvalues s of the overlap
 * matrix of the weighted functions; rounding may make an eigenvalue negative. */
static void find_root(fmo_linalg *la, const double *overlap, populations *p)
{
    const int n = (int)p->n;
    double *const B = p->scratch, *const values = p->scratch + p->n * p->n;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            B[i * p->n + j] = p->weight[i] * overlap[i * p->n + j] * p->weight[j];
    la->ops->eigen(la, n, B, values);
    for (size_t k = 0; k < p->n; k++) values[k] = sqrt(sqrt(fmax(values[k], 0.0)));
    la->ops->scale_columns(la, n, n, values, B);
    la->ops->multiply(la, 1.0, fmo_matrix_of(B, n, n), fmo_transpose_of(B, n, n), 0.0, p->root);
}

/* Adds sum_i in A (S^1/2 D S^1/2)_ii of a density to the atoms. */
static void add_loewdin(fmo_linalg *la, const double *density, const populations *p, double *atoms)
{
    const int n = (int)p->n;
    double *const D = p->scratch, *const DR = p->scratch + p->n * p->n;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            D[i * p->n + j] = density[i * p->n + j] / (p->weight[i] * p->weight[j]);
    la->ops->multiply(la, 1.0, fmo_matrix_of(D, n, n), fmo_matrix_of(p->root, n, n), 0.0, DR);
    for (size_t i = 0; i < p->n * p->n; i++) atoms[p->atom[i / p->n]] += p->root[i] * DR[i];
}

/* Adds sum_i in A (D S)_ii of a density to the atoms. */
static void add_mulliken(const double *density, const double *overlap, const populations *p,
                         double *atoms)
{
    for (size_t i = 0; i < p->n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < p->n; j++) sum += density[i * p->n + j] * overlap[i * p->n + j];
        atoms[p->atom[i]] += sum;
    }
}

static fmo_status allocate(size_t nuclei, int loewdin, populations *p, fmo_error *err)
{
    const size_t matrix = loewdin ? p->n * p->n : 0;
    p->atom = calloc(p->n, sizeof *p->atom);
    p->weight = calloc(p->n, sizeof *p->weight);
    p->of_atoms = calloc(4 * nuclei, sizeof *p->of_atoms);
    if (loewdin) p->root = malloc(matrix * sizeof *p->root);
    /* of a matrix and the eigenvalues; for one function that is two numbers, too */
    if (loewdin) p->scratch = malloc(2 * matrix * sizeof *p->scratch);
    if (p->atom && p->weight && p->of_atoms && (!loewdin || (p->root && p->scratch))) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY, "fmo_scf_charges: no memory for %zu functions", p->n);
}

static fmo_status check(const fmo_basis *basis, const fmo_scf_result *result, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_scf_charges", err, FMO_GIVEN(basis), FMO_GIVEN(result));
    if (status != FMO_OK || result->nao == basis->ao_num) return status;
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "fmo_scf_charges: basis: has %d functions, and result->nao is %d",
                         basis->ao_num, result->nao);
}

/* Sums the populations of the density and of the spin density over the atoms; charges are what the
 * nuclei have more. */
fmo_status fmo_scf_charges(const fmo_basis *basis, const fmo_scf_result *result, double *mulliken,
                           double *loewdin, double *mulliken_spin, double *loewdin_spin,
                           fmo_error *err)
{
    fmo_status status = check(basis, result, err);
    if (status != FMO_OK) return status;
    double *const out[4] = {mulliken, loewdin, mulliken_spin, loewdin_spin};
    const double *const density[2] = {result->density, result->spin_density};
    const size_t nuclei = (size_t)basis->nucleus_num;
    populations p = {.n = (size_t)basis->ao_num};
    fmo_linalg *la = NULL;
    status = allocate(nuclei, loewdin || loewdin_spin, &p, err);
    if (status == FMO_OK) describe_functions(basis, &p);
    if (status == FMO_OK && p.root)
        status = fmo_linalg_open_cpu(result->fock_profile.threads, &la, err);
    if (status == FMO_OK && p.root) find_root(la, result->overlap, &p);
    for (int k = 0; k < 4 && status == FMO_OK; k++) {
        double *const atoms = p.of_atoms + (size_t)k * nuclei;
        if (!out[k] || !density[k / 2]) continue; /* closed shells: no spin */
        if (k % 2)
            add_loewdin(la, density[k / 2], &p, atoms);
        else
            add_mulliken(density[k / 2], result->overlap, &p, atoms);
    }
    if (status == FMO_OK && la && la->error.status != FMO_OK)
        status = fmo_error_set(err, la->error.status, "fmo_scf_charges: %s", la->error.message);
    for (size_t a = 0; a < nuclei && status == FMO_OK; a++) {
        const double Z = basis->charge[a];
        for (size_t k = 0; k < 4; k++)
            if (out[k])
                out[k][a] = k < 2 ? Z - p.of_atoms[k * nuclei + a] : p.of_atoms[k * nuclei + a];
    }
    if (la) la->ops->close(la);
    free(p.atom);
    free(p.weight);
    free(p.root);
    free(p.scratch);
    free(p.of_atoms);
    return status;
}
