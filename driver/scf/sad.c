/* Superposition of atomic densities. Each distinct atom has an SCF of its own in its own shells;
 * the functions of each angular momentum are treated separately, and the electrons of the neutral
 * ground state are spread evenly over the functions of a shell, so that density and Fock matrix
 * stay spherical. In a basis with Cartesian d and f functions the atom uses the spherical ones of
 * each shell: xx + yy + zz stays empty. Source: Van Lenthe et al., J. Comput. Chem. 27, 926
 * (2006). */
#include <fmo/one_electron.h>
#include <fmo/scf.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver/scf/diis.h"
#include "driver/scf/linalg.h"
#include "driver/scf/sad.h"
#include "base/arguments.h"
#include "integrals/harmonics.h"

enum { ATOM_CYCLES = 50, CHANNELS = FMO_SHELL_KIND_COUNT, SHELLS = 256 };
static const double atom_gradient = 1e-6; /* sufficient for a guess */

/* Distributes the electrons of a neutral atom over angular momenta, in the order in which shells
 * fill (electrons in shells of unsupported kinds are dropped), with the exceptions in which d
 * shells take electrons from the s shell above or from the f shell. Ground states: A. Kramida, Yu.
 * Ralchenko, J. Reader, NIST ASD Team, Atomic Spectra Database. */
static void ground_state(double charge, double electrons[CHANNELS])
{
    static const struct {
        int l, capacity;
    } filling[] = {{0, 2}, {0, 2},  {1, 6}, {0, 2}, {1, 6},  {0, 2},  {2, 10}, {1, 6},
                   {0, 2}, {2, 10}, {1, 6}, {0, 2}, {3, 14}, {2, 10}, {1, 6},  {0, 2}};
    enum { S = 0, D = 2, F = 3 };
    static const struct {
        int charge, from, to_d; /* to_d electrons of angular momentum `from` are in d shells */
    } irregular[] = {{24, S, 1}, {29, S, 1}, {41, S, 1}, {42, S, 1}, {44, S, 1},
                     {45, S, 1}, {46, S, 2}, {47, S, 1}, {57, F, 1}, {58, F, 1},
                     {64, F, 1}, {78, S, 1}, {79, S, 1}};
    double left = fmax(0.0, charge);
    for (int l = 0; l < CHANNELS; l++) electrons[l] = 0.0;
    for (size_t k = 0; k < sizeof filling / sizeof filling[0]; k++) {
        const double here = fmin(left, filling[k].capacity);
        if (filling[k].l < CHANNELS) electrons[filling[k].l] += here;
        left -= here;
    }
    for (size_t k = 0; k < sizeof irregular / sizeof irregular[0]; k++) {
        if (charge != irregular[k].charge) continue;
        electrons[irregular[k].from] -= irregular[k].to_d;
        electrons[D] += irregular[k].to_d;
    }
}

typedef struct atom {
    int nao;   /* functions of the basis that fmo_basis_atom made */
    int n;     /* spherical functions: the s shells, then x, y, z of each p shell, ... */
    double *T; /* [n][nao] transformation from basis to spherical functions, by columns; NULL: they
                  are the same */
    int shells[CHANNELS]; /* number of shells by angular momentum */
    double electrons[CHANNELS];
    double *X[CHANNELS];   /* [shells][shells] orthogonal functions of each angular momentum, by
                              columns */
    double *S, *H, *D, *F; /* [n][n] */
    double *density, *J, *K, *work; /* [nao][nao]; work: two of them */
    double *past_fock, *past_error; /* [FMO_DIIS_MAX][n][n] */
} atom;

/* Returns the index of the first spherical function of a shell; component c follows c places
 * later. */
static size_t function_of(const atom *a, int l, int shell)
{
    int before = 0;
    for (int k = 0; k < l; k++) before += a->shells[k] * fmo_shell_spherical(k);
    return (size_t)(before + shell * fmo_shell_spherical(l));
}

/* Extracts the block of an angular momentum (first function of each shell) from an [n][n]
 * matrix. */
static void gather(const atom *a, int l, const double *matrix, double *block)
{
    for (int s = 0; s < a->shells[l]; s++)
        for (int t = 0; t < a->shells[l]; t++)
            block[s * a->shells[l] + t] =
                matrix[function_of(a, l, s) * (size_t)a->n + function_of(a, l, t)];
}

static void scatter(const atom *a, int l, const double *block, double *matrix)
{
    for (int s = 0; s < a->shells[l]; s++)
        for (int t = 0; t < a->shells[l]; t++)
            for (size_t c = 0; c < (size_t)fmo_shell_spherical(l); c++)
                matrix[(function_of(a, l, s) + c) * (size_t)a->n + function_of(a, l, t) + c] =
                    block[s * a->shells[l] + t];
}

/* Fills in T for a basis of Cartesian functions. */
static void fill_transformation(const atom *a)
{
    size_t row = 0, column = 0;
    for (int l = 0; l < CHANNELS; l++)
        for (int s = 0; s < a->shells[l]; s++) {
            for (int m = 0; m < fmo_shell_spherical(l); m++)
                for (int c = 0; c < fmo_shell_functions(l); c++)
                    a->T[row + (size_t)m + (column + (size_t)c) * (size_t)a->n] =
                        fmo_shell_harmonic(l, m, c);
            row += (size_t)fmo_shell_spherical(l);
            column += (size_t)fmo_shell_functions(l);
        }
}

/* Transforms an operator from basis to spherical functions in place. */
static void to_spherical(fmo_linalg *la, const atom *a, double *M)
{
    if (!a->T) return;
    la->ops->multiply(la, 1.0, fmo_matrix_of(a->T, a->n, a->nao), fmo_matrix_of(M, a->nao, a->nao),
                      0.0, a->work);
    la->ops->multiply(la, 1.0, fmo_matrix_of(a->work, a->n, a->nao),
                      fmo_transpose_of(a->T, a->n, a->nao), 0.0, M);
    la->ops->fold(la, a->n, 0.5, 1.0, M);
}

/* Transforms a->D to the functions of the basis, into a->density. */
static void spread_density(fmo_linalg *la, const atom *a)
{
    if (!a->T) {
        memcpy(a->density, a->D, (size_t)a->n * (size_t)a->n * sizeof *a->D);
        return;
    }
    la->ops->multiply(la, 1.0, fmo_transpose_of(a->T, a->n, a->nao),
                      fmo_matrix_of(a->D, a->n, a->n), 0.0, a->work);
    la->ops->multiply(la, 1.0, fmo_matrix_of(a->work, a->nao, a->n),
                      fmo_matrix_of(a->T, a->n, a->nao), 0.0, a->density);
    la->ops->fold(la, a->nao, 0.5, 1.0, a->density);
}

/* X^T M X of the block of an angular momentum, in place; temporary has the same size. */
static void to_orthogonal(fmo_linalg *la, const atom *a, int l, double *M, double *temporary)
{
    const int m = a->shells[l];
    la->ops->multiply(la, 1.0, fmo_matrix_of(M, m, m), fmo_matrix_of(a->X[l], m, m), 0.0,
                      temporary);
    la->ops->multiply(la, 1.0, fmo_transpose_of(a->X[l], m, m), fmo_matrix_of(temporary, m, m), 0.0,
                      M);
}

/* Diagonalises a Fock matrix and computes the density of its fractionally occupied orbitals. */
static void fill_orbitals(fmo_linalg *la, const atom *a, const double *fock, double *density)
{
    const size_t size = (size_t)a->n * (size_t)a->n;
    double *block = a->work, *temporary = a->work + size;
    memset(density, 0, size * sizeof *density);
    for (int l = 0; l < CHANNELS; l++) {
        const int m = a->shells[l];
        if (!m) continue;
        double values[SHELLS], root[SHELLS];
        double left = a->electrons[l] / fmo_shell_spherical(l);
        gather(a, l, fock, block);
        to_orthogonal(la, a, l, block, temporary);
        la->ops->fold(la, m, 0.5, 1.0, block);
        la->ops->eigen(la, m, block, values);
        for (int k = 0; k < m; k++) {
            const double occupation = fmin(left, 2.0);
            left -= occupation;
            root[k] = sqrt(occupation);
        }
        la->ops->scale_columns(la, m, m, root, block);
        la->ops->multiply(la, 1.0, fmo_matrix_of(a->X[l], m, m), fmo_matrix_of(block, m, m), 0.0,
                          temporary);
        la->ops->multiply(la, 1.0, fmo_matrix_of(temporary, m, m),
                          fmo_transpose_of(temporary, m, m), 0.0, block);
        la->ops->fold(la, m, 0.5, 1.0, block);
        scatter(a, l, block, density);
    }
}

/* error = F D S - S D F in the AO basis, which is sufficient for DIIS in a small basis. @return its
 * norm */
static double error_of(fmo_linalg *la, const atom *a, double *error)
{
    const int n = a->n;
    double square = 0.0;
    la->ops->multiply(la, 1.0, fmo_matrix_of(a->F, n, n), fmo_matrix_of(a->D, n, n), 0.0, a->work);
    la->ops->multiply(la, 1.0, fmo_matrix_of(a->work, n, n), fmo_matrix_of(a->S, n, n), 0.0, error);
    la->ops->fold(la, n, 1.0, -1.0, error);
    la->ops->dots(la, (size_t)n * (size_t)n, 1, error, error, &square);
    return sqrt(square);
}

/* Drops the oldest entry of a full DIIS history. */
static void shift(double *past, size_t size)
{
    memmove(past, past + size, (FMO_DIIS_MAX - 1) * size * sizeof *past);
}

/* Iterates the atomic SCF with DIIS until the gradient is small; leaves the density in
 * a->density. */
static void converge_atom(fmo_linalg *la, const atom *a, fmo_fock_plan *plan)
{
    const size_t size = (size_t)a->n * (size_t)a->n, full = (size_t)a->nao * (size_t)a->nao;
    fill_orbitals(la, a, a->H, a->D);
    for (int cycle = 0, held = 0; cycle < ATOM_CYCLES && la->error.status == FMO_OK; cycle++) {
        spread_density(la, a);
        la->ops->fock(la, plan, a->density, a->J, a->K);
        la->ops->add(la, full, -0.5, a->K, 1.0, a->J);
        to_spherical(la, a, a->J);
        la->ops->add(la, size, 1.0, a->H, 0.0, a->F);
        la->ops->add(la, size, 1.0, a->J, 1.0, a->F);
        if (held == FMO_DIIS_MAX) {
            shift(a->past_fock, size);
            shift(a->past_error, size);
            held--;
        }
        memcpy(a->past_fock + (size_t)held * size, a->F, size * sizeof *a->F);
        const double norm = error_of(la, a, a->past_error + (size_t)held * size);
        held++;
        if (norm < atom_gradient) break;
        double B[FMO_DIIS_MAX][FMO_DIIS_MAX], c[FMO_DIIS_MAX];
        for (int i = 0; i < held; i++)
            la->ops->dots(la, size, held, a->past_error, a->past_error + (size_t)i * size, B[i]);
        fmo_diis_coefficients(held, (const double(*)[FMO_DIIS_MAX])B, c);
        la->ops->combine(la, size, held, a->past_fock, c, a->F);
        fill_orbitals(la, a, a->F, a->D);
    }
    spread_density(la, a);
}

/* Computes the orthogonal functions of all angular momenta. @return 0 if functions are linearly
 * dependent */
static int orthogonalise(fmo_linalg *la, const atom *a)
{
    for (int l = 0; l < CHANNELS; l++) {
        if (!a->shells[l]) continue;
        gather(a, l, a->S, a->X[l]);
        if (!la->ops->inverse_cholesky(la, a->shells[l], a->X[l])) return 0;
    }
    return 1;
}

/* Computes the density of an atom whose arrays are allocated, in a->density. */
static fmo_status atomic_density(fmo_linalg *la, const fmo_basis *one, atom *a, fmo_error *err)
{
    fmo_fock_options options;
    fmo_fock_plan *plan = NULL;
    fmo_fock_options_init(&options);
    options.mode = FMO_MODE_CPU;
    options.threads = 1;
    options.cutoff = 1e-12;
    options.integrals = FMO_INTEGRALS_AUTO; /* an atom has few integrals, highly contracted */
    fmo_status status = fmo_overlap(one, a->S, err);
    if (status == FMO_OK) status = fmo_kinetic(one, a->H, err);
    if (status == FMO_OK) status = fmo_nuclear_attraction(one, a->J, err);
    if (status == FMO_OK) status = fmo_fock_plan_create(one, &options, &plan, err);
    if (status == FMO_OK) {
        la->ops->add(la, (size_t)a->nao * (size_t)a->nao, 1.0, a->J, 1.0, a->H);
        to_spherical(la, a, a->S);
        to_spherical(la, a, a->H);
        /* An atom without a density makes a poorer guess; this is not an error. */
        if (orthogonalise(la, a)) converge_atom(la, a, plan);
        status = la->error.status;
        if (status != FMO_OK) fmo_error_set(err, status, "%s", la->error.message);
    }
    fmo_fock_plan_destroy(plan);
    return status;
}

/* Allocates the arrays of an atom and computes its density; density: [nao][nao], zeros on entry. */
static fmo_status density_of(fmo_linalg *la, const fmo_basis *one, double *density, fmo_error *err)
{
    atom a = {.nao = fmo_basis_ao_num(one), .density = density};
    const size_t size = (size_t)a.nao * (size_t)a.nao;
    for (int l = 0; l < CHANNELS; l++) {
        a.shells[l] = fmo_basis_shell_num(one, l);
        a.n += a.shells[l] * fmo_shell_spherical(l);
        if (a.shells[l] > SHELLS) return FMO_OK; /* density stays zero */
    }
    double *memory = calloc((9 + CHANNELS + 2 * FMO_DIIS_MAX) * size, sizeof *memory);
    if (!memory)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for an atom of %d functions", a.nao);
    ground_state(round(fmo_basis_nucleus_charge(one, 0)), a.electrons);
    double *next = memory;
    double **const parts[] = {&a.S, &a.H, &a.D, &a.J, &a.K, &a.F, &a.T, &a.work};
    for (int l = 0; l < CHANNELS; l++, next += size) a.X[l] = next;
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++, next += size) *parts[p] = next;
    a.past_fock = next + size; /* work has two matrices */
    a.past_error = a.past_fock + FMO_DIIS_MAX * size;
    if (a.nao != a.n)
        fill_transformation(&a);
    else
        a.T = NULL;
    const fmo_status status = atomic_density(la, one, &a, err);
    free(memory);
    return status;
}

/* ---- cache of atoms ------------------------------------------------------------------------ */

typedef struct known_atom {
    struct known_atom *next;
    fmo_basis *one;   /* made by fmo_basis_atom from the first atom of its kind */
    double density[]; /* [n][n] in the functions of `one` */
} known_atom;

struct fmo_atoms {
    pthread_mutex_t lock;
    known_atom *first; /* new atoms are inserted at the front and never removed */
};

fmo_status fmo_atoms_create(fmo_atoms **atoms, fmo_error *err)
{
    *atoms = calloc(1, sizeof **atoms);
    if (!*atoms) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the atoms of the guess");
    pthread_mutex_init(&(*atoms)->lock, NULL);
    return FMO_OK;
}

void fmo_atoms_destroy(fmo_atoms *atoms)
{
    if (!atoms) return;
    for (known_atom *a = atoms->first, *next; a; a = next) {
        next = a->next;
        fmo_basis_destroy(a->one);
        free(a);
    }
    pthread_mutex_destroy(&atoms->lock);
    free(atoms);
}

int fmo_atoms_num(fmo_atoms *atoms)
{
    int num = 0;
    pthread_mutex_lock(&atoms->lock);
    for (const known_atom *a = atoms->first; a; a = a->next) num++;
    pthread_mutex_unlock(&atoms->lock);
    return num;
}

/* Computes and adds an atom; on success takes ownership of *one and sets it to NULL. The density
 * does not depend on the atom's position, because all its coordinate differences are zero. */
static fmo_status add_atom(fmo_atoms *atoms, fmo_basis **one, fmo_error *err)
{
    const size_t n = (size_t)fmo_basis_ao_num(*one);
    fmo_linalg *la = NULL;
    known_atom *known = calloc(1, sizeof *known + n * n * sizeof *known->density);
    if (!known) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for an atom");
    fmo_status status = fmo_linalg_open_cpu(1, &la, err);
    if (status == FMO_OK) status = density_of(la, *one, known->density, err);
    if (la) la->ops->close(la);
    if (status != FMO_OK) {
        free(known);
        return status;
    }
    known->one = *one;
    *one = NULL;
    known->next = atoms->first;
    atoms->first = known;
    return FMO_OK;
}

/* Finds or computes the density of the atom `*one`. Other threads wait meanwhile, as they probably
 * need the same atom. */
static fmo_status density_at(fmo_atoms *atoms, fmo_basis **one, const double **density,
                             fmo_error *err)
{
    fmo_status status = FMO_OK;
    pthread_mutex_lock(&atoms->lock);
    const known_atom *known = atoms->first;
    while (known && !fmo_basis_atoms_equal(known->one, 0, *one, 0)) known = known->next;
    if (!known) {
        status = add_atom(atoms, one, err);
        known = atoms->first;
    }
    pthread_mutex_unlock(&atoms->lock);
    *density = status == FMO_OK ? known->density : NULL;
    return status;
}

/* Assembles the block-diagonal density from the cached atoms, in the order and norms of the
 * basis. */
fmo_status fmo_atoms_densities(fmo_atoms *atoms, const fmo_basis *basis, double *density,
                               fmo_error *err)
{
    const int nuclei = fmo_basis_nucleus_num(basis);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    fmo_status status = FMO_OK;
    int *ao = malloc(n * sizeof *ao);
    double *factor = malloc(n * sizeof *factor);
    double *sum = calloc(n * n, sizeof *sum);
    if (!ao || !factor || !sum)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the guess of %zu functions", n);
    for (int b = 0; b < nuclei && status == FMO_OK; b++) {
        fmo_basis *one = NULL;
        const double *block = NULL;
        status = fmo_basis_atom(basis, b, &one, ao, factor, err);
        if (status != FMO_OK || !one) continue;
        const size_t m = (size_t)fmo_basis_ao_num(one);
        status = density_at(atoms, &one, &block, err);
        for (size_t i = 0; i < m && status == FMO_OK; i++)
            for (size_t j = 0; j < m; j++)
                sum[(size_t)ao[i] * n + (size_t)ao[j]] = block[i * m + j] / (factor[i] * factor[j]);
        fmo_basis_destroy(one);
    }
    if (status == FMO_OK) memcpy(density, sum, n * n * sizeof *density);
    free(sum);
    free(factor);
    free(ao);
    return status;
}

fmo_status fmo_scf_atomic_densities(const fmo_basis *basis, double *density, fmo_error *err)
{
    fmo_atoms *atoms = NULL;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_scf_atomic_densities", err, FMO_GIVEN(basis), FMO_GIVEN(density));
    if (status == FMO_OK) status = fmo_atoms_create(&atoms, err);
    if (status == FMO_OK) status = fmo_atoms_densities(atoms, basis, density, err);
    fmo_atoms_destroy(atoms);
    return status;
}
