/* Compares the one-electron energies of the file with computed ones, and finds impossible nuclear
 * charges. This reveals a wrong unit, geometry or charge with which the rest of the file is
 * consistent. The kinetic energy is compared completely, the core Hamiltonian only over some shells
 * (all in small molecules), since nuclear attraction costs as much as a Fock build. A core
 * Hamiltonian with other terms, such as point charges or relativity, also causes a doubt, which
 * --force overrides. */
#include "io/trexio/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <fmo/molecule.h>
#include <fmo/one_electron.h>

#define ENERGY_TOLERANCE 1e-6 /* relative to sqrt(h_i h_j), where h_i = <i|T|i> + |<i|V|i>| */
#define CHARGE_MAX       118.0

/* Limit for the number of shell pairs times nuclei that are compared, which takes some milliseconds
 * unless a molecule has thousands of atoms, and the least number of shells. */
enum { WORK_MAX = 4000, SHELLS_MIN = 8 };

/* A basis of a subset of the shells with all nuclei, and the indices of its functions in the
 * file. */
typedef struct basis_subset {
    fmo_basis *basis;
    int shells, nao;
    int *shell; /* [input.shell_num] index of each shell in the subset; -1 if not in it */
    int *ao;    /* [nao] index of each function in the file */
    int *nucleus, *ang_mom;     /* [shells] */
    int *prim_shell, *ao_shell; /* indices in the subset */
    int *ao_component;          /* [nao] */
    double *exponent, *coefficient, *factor;
} basis_subset;

static void free_subset(basis_subset *p)
{
    fmo_basis_destroy(p->basis);
    void *const arrays[] = {p->shell,       p->ao,       p->nucleus,      p->ang_mom,
                            p->prim_shell,  p->ao_shell, p->ao_component, p->exponent,
                            p->coefficient, p->factor};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
}

/* Returns the number of shells that WORK_MAX allows. */
static int shells_of(const fmo_basis_input *in)
{
    const double shells_max = sqrt(2.0 * WORK_MAX / in->nucleus_num);
    const int shells = shells_max > SHELLS_MIN ? (int)fmin(shells_max, 1e6) : SHELLS_MIN;
    return shells < in->shell_num ? shells : in->shell_num;
}

/* Reports the error of a library call, with its status, as that of a field. */
static fmo_status pass_on(fmo_reader *r, const char *title, fmo_status status, const fmo_error *why)
{
    return status == FMO_OK ? FMO_OK : fmo_store_fail(&r->store, status, title, "%s", why->message);
}

/* Chooses the shells of the subset, copies their data and creates the basis. */
static fmo_status make_subset(fmo_reader *r, basis_subset *p)
{
    const fmo_basis_input *in = &r->d->input;
    const size_t shells = (size_t)shells_of(in), prims = (size_t)in->prim_num,
                 nao = (size_t)in->ao_num;
    int prim_num = 0;
    p->shells = (int)shells;
    p->shell = malloc((size_t)in->shell_num * sizeof *p->shell);
    p->nucleus = malloc(shells * sizeof *p->nucleus);
    p->ang_mom = malloc(shells * sizeof *p->ang_mom);
    p->prim_shell = malloc(prims * sizeof *p->prim_shell);
    p->exponent = malloc(prims * sizeof *p->exponent);
    p->coefficient = malloc(prims * sizeof *p->coefficient);
    p->ao = malloc(nao * sizeof *p->ao);
    p->ao_shell = malloc(nao * sizeof *p->ao_shell);
    p->ao_component = malloc(nao * sizeof *p->ao_component);
    p->factor = malloc(nao * sizeof *p->factor);
    if (!p->shell || !p->nucleus || !p->ang_mom || !p->prim_shell || !p->exponent ||
        !p->coefficient || !p->ao || !p->ao_shell || !p->ao_component || !p->factor)
        return fmo_trexio_no_memory(r, "ao_1e_int", (prims + nao) * 2 * sizeof(double));
    for (int s = 0; s < in->shell_num; s++) p->shell[s] = -1;
    for (size_t k = 0; k < shells; k++) { /* evenly spaced over the shells of the file */
        const int s = (int)(k * (size_t)in->shell_num / shells);
        p->shell[s] = (int)k;
        p->nucleus[k] = in->shell_nucleus[s];
        p->ang_mom[k] = in->shell_ang_mom[s];
    }
    for (int k = 0; k < in->prim_num; k++) {
        const int s = p->shell[in->prim_shell[k]];
        if (s < 0) continue;
        p->prim_shell[prim_num] = s;
        p->exponent[prim_num] = in->prim_exponent[k];
        p->coefficient[prim_num++] = in->prim_coefficient[k];
    }
    for (int i = 0; i < in->ao_num; i++) {
        const int s = p->shell[in->ao_shell[i]];
        if (s < 0) continue;
        p->ao[p->nao] = i;
        p->ao_shell[p->nao] = s;
        p->ao_component[p->nao] = in->ao_component[i];
        p->factor[p->nao++] = in->ao_factor[i];
    }
    const fmo_basis_input input = {.nucleus_num = in->nucleus_num,
                                   .nucleus_charge = in->nucleus_charge,
                                   .nucleus_coord = in->nucleus_coord,
                                   .shell_num = p->shells,
                                   .shell_nucleus = p->nucleus,
                                   .shell_ang_mom = p->ang_mom,
                                   .prim_num = prim_num,
                                   .prim_shell = p->prim_shell,
                                   .prim_exponent = p->exponent,
                                   .prim_coefficient = p->coefficient,
                                   .ao_num = p->nao,
                                   .ao_shell = p->ao_shell,
                                   .ao_component = p->ao_component,
                                   .ao_factor = p->factor,
                                   .cartesian = in->cartesian};
    fmo_error why = {FMO_OK, ""};
    const fmo_status status = fmo_basis_create(&input, &p->basis, &why);
    return pass_on(r, NULL, status, &why);
}

/* Adds a doubt if elements of the file (at ao[i], ao[j]; NULL: at i, j) differ from the computed
 * ones. scale: [n] h_i */
static void compare(fmo_reader *r, const char *title, const double *theirs, const double *ours,
                    const double *scale, const int *ao, int n)
{
    const size_t nao = (size_t)r->d->nao;
    double worst = 0.0;
    int at[2] = {0, 0};
    double got = 0.0, expected = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const size_t fi = (size_t)(ao ? ao[i] : i), fj = (size_t)(ao ? ao[j] : j);
            const double a = theirs[fi * nao + fj], b = ours[(size_t)i * (size_t)n + (size_t)j];
            const double off = fabs(a - b) / sqrt(scale[i] * scale[j]);
            if (off <= worst) continue;
            worst = off;
            at[0] = (int)fi, at[1] = (int)fj;
            got = a, expected = b;
        }
    }
    if (worst <= ENERGY_TOLERANCE) return;
    char bra[48], ket[48];
    fmo_dataset_ao_label(r->d, at[0], bra, sizeof bra);
    fmo_dataset_ao_label(r->d, at[1], ket, sizeof ket);
    fmo_dataset_doubt(
        r->d,
        "%s: [%d][%d] (%s; %s) is %.9g hartree in the file and %.9g from its basis and "
        "nuclei",
        title, at[0], at[1], bra, ket, got, expected);
}

/* Compares the whole kinetic energy matrix. */
static fmo_status check_kinetic(fmo_reader *r)
{
    const size_t n = (size_t)r->d->nao;
    const char *title = fmo_field_title(FIELD_ao_1e_int_kinetic);
    double *theirs = NULL, *ours = NULL, *scale = NULL;
    fmo_error why = {FMO_OK, ""};
    fmo_status status = fmo_trexio_read_reals(r, FIELD_ao_1e_int_kinetic, &theirs);
    if (status == FMO_OK)
        status = fmo_trexio_allocate(r, title, n * n, sizeof(double), (void **)&ours);
    if (status == FMO_OK)
        status = fmo_trexio_allocate(r, title, n, sizeof(double), (void **)&scale);
    if (status == FMO_OK) status = pass_on(r, title, fmo_kinetic(r->d->basis, ours, &why), &why);
    if (status == FMO_OK) {
        for (size_t i = 0; i < n; i++) scale[i] = ours[i * n + i];
        compare(r, title, theirs, ours, scale, NULL, (int)n);
    }
    free(theirs);
    free(ours);
    free(scale);
    return status;
}

/* Compares the core Hamiltonian over the subset of shells. */
static fmo_status check_core(fmo_reader *r)
{
    const char *title = r->d->core_source == FMO_CORE_FILE
                            ? fmo_field_title(FIELD_ao_1e_int_core_hamiltonian)
                            : "ao_1e_int/kinetic + potential_n_e";
    basis_subset p = {0};
    double *T = NULL, *V = NULL, *scale = NULL;
    fmo_error why = {FMO_OK, ""};
    fmo_status status = make_subset(r, &p);
    const size_t n = (size_t)p.nao;
    if (status == FMO_OK) status = fmo_trexio_allocate(r, title, n * n, sizeof *T, (void **)&T);
    if (status == FMO_OK) status = fmo_trexio_allocate(r, title, n * n, sizeof *V, (void **)&V);
    if (status == FMO_OK) status = fmo_trexio_allocate(r, title, n, sizeof *V, (void **)&scale);
    if (status == FMO_OK) status = pass_on(r, title, fmo_kinetic(p.basis, T, &why), &why);
    if (status == FMO_OK)
        status = pass_on(r, title, fmo_nuclear_attraction(p.basis, V, &why), &why);
    if (status == FMO_OK) {
        for (size_t i = 0; i < n; i++) scale[i] = T[i * n + i] + fabs(V[i * n + i]);
        for (size_t i = 0; i < n * n; i++) T[i] += V[i];
        compare(r, title, r->d->core, T, scale, p.ao, p.nao);
    }
    free(T);
    free(V);
    free(scale);
    free_subset(&p);
    return status;
}

static void check_charges(fmo_reader *r)
{
    for (int i = 0; i < r->d->nucleus_num; i++) {
        const double charge = r->d->input.nucleus_charge[i];
        if (charge >= 0.0 && charge <= CHARGE_MAX) continue;
        fmo_dataset_doubt(r->d, "nucleus/charge[%d] = %g: no nucleus has it (0 to %g do)", i,
                          charge, CHARGE_MAX);
        return;
    }
}

fmo_status fmo_trexio_doubt_energies(fmo_reader *r)
{
    fmo_status status = FMO_OK;
    check_charges(r);
    if (r->has[FIELD_ao_1e_int_kinetic]) status = check_kinetic(r);
    if (status == FMO_OK && !r->has_ecp && r->d->core) status = check_core(r);
    return status;
}
