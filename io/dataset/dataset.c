/* The data set object: creation, destruction, accessors, and the quantities computed on demand
 * (core Hamiltonian and nuclear repulsion). Next: io/trexio, which reads data sets, and
 * formula.c. */
#include "io/dataset/dataset_internal.h"
#include "base/harmless.h"
#include "integrals/tables.h"
#include <fmo/molecule.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <fmo/one_electron.h>

fmo_dataset *fmo_dataset_new(void)
{
    fmo_dataset *dataset = calloc(1, sizeof *dataset);
    if (!dataset) return NULL;
    if (pthread_mutex_init(&dataset->core_lock, NULL) != 0) {
        free(dataset);
        return NULL;
    }
    dataset->electron_num = -1;
    dataset->energy = NAN;
    return dataset;
}

static void free_input(const fmo_basis_input *input)
{
    const void *const arrays[] = {
        input->nucleus_charge, input->nucleus_coord, input->shell_nucleus,    input->shell_ang_mom,
        input->prim_shell,     input->prim_exponent, input->prim_coefficient, input->ao_shell,
        input->ao_component,   input->ao_factor};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free((void *)arrays[i]);
}

void fmo_dataset_destroy(fmo_dataset *dataset)
{
    if (!dataset) return;
    pthread_mutex_destroy(&dataset->core_lock);
    fmo_basis_destroy(dataset->basis);
    free(dataset->path);
    free(dataset->number);
    free_input(&dataset->input);
    free(dataset->density);
    free(dataset->spin_density);
    free(dataset->core);
    free(dataset->coulomb);
    free(dataset->exchange);
    free(dataset->fock_2e);
    free(dataset->formula);
    free(dataset);
}

static void keep_notice(fmo_dataset *dataset, bool doubt, const char *format, va_list args)
{
    if (dataset->notice_num >= FMO_NOTICE_MAX) return;
    char *text = dataset->notice[dataset->notice_num];
    dataset->doubt[dataset->notice_num++] = doubt;
    vsnprintf(text, FMO_NOTICE_SIZE, format, args);
    fmo_text_harmless(text);
}

void fmo_dataset_note(fmo_dataset *dataset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep_notice(dataset, false, format, args);
    va_end(args);
}

void fmo_dataset_doubt(fmo_dataset *dataset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep_notice(dataset, true, format, args);
    va_end(args);
}

const char *fmo_dataset_path(const fmo_dataset *dataset)
{
    return dataset ? dataset->path : NULL;
}
const char *fmo_dataset_sha256(const fmo_dataset *dataset)
{
    return dataset ? dataset->sha256 : NULL;
}
const fmo_basis *fmo_dataset_basis(const fmo_dataset *dataset)
{
    return dataset ? dataset->basis : NULL;
}
const fmo_basis_input *fmo_dataset_basis_input(const fmo_dataset *dataset)
{
    return dataset ? &dataset->input : NULL;
}

int fmo_dataset_nucleus_number(const fmo_dataset *dataset, int nucleus)
{
    return dataset && nucleus >= 0 && nucleus < dataset->nucleus_num ? dataset->number[nucleus] : 0;
}

const double *fmo_dataset_density(const fmo_dataset *dataset)
{
    return dataset ? dataset->density : NULL;
}
const char *fmo_dataset_density_source(const fmo_dataset *dataset)
{
    return dataset ? dataset->density_source : NULL;
}

const char *fmo_dataset_notice(const fmo_dataset *dataset, int i)
{
    return dataset && i >= 0 && i < dataset->notice_num ? dataset->notice[i] : NULL;
}

bool fmo_dataset_is_doubtful(const fmo_dataset *dataset, int i)
{
    return dataset && i >= 0 && i < dataset->notice_num && dataset->doubt[i];
}

/* Returns T + V, or NULL if there is no memory. */
static double *compute_core(const fmo_dataset *dataset)
{
    size_t n = (size_t)dataset->nao * (size_t)dataset->nao;
    double *T = malloc(n * sizeof *T), *V = malloc(n * sizeof *V);
    if (!T || !V || fmo_kinetic(dataset->basis, T, NULL) != FMO_OK ||
        fmo_nuclear_attraction(dataset->basis, V, NULL) != FMO_OK) {
        free(T);
        free(V);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) T[i] += V[i];
    free(V);
    return T;
}

const double *fmo_dataset_core_hamiltonian(const fmo_dataset *dataset)
{
    if (!dataset) return NULL;
    if (dataset->core_source != FMO_CORE_COMPUTED) return dataset->core;
    /* Nuclear attraction costs as much as a Fock build, and J and K do not need it, so it is
     * computed on demand. A data set is never a const object, so the cast is valid; the lock
     * serialises threads. */
    fmo_dataset *d = (fmo_dataset *)dataset;
    pthread_mutex_lock(&d->core_lock);
    if (!d->core && !d->core_failed) {
        d->core = compute_core(d);
        d->core_failed = !d->core;
    }
    const double *core = d->core;
    pthread_mutex_unlock(&d->core_lock);
    return core;
}

const char *fmo_dataset_core_hamiltonian_source(const fmo_dataset *dataset)
{
    static const char *const text[] = {
        [FMO_CORE_FILE] = "ao_1e_int_core_hamiltonian",
        [FMO_CORE_FILE_SUM] = "ao_1e_int_kinetic + ao_1e_int_potential_n_e",
        [FMO_CORE_FILE_SUM_ECP] = "ao_1e_int_kinetic + ao_1e_int_potential_n_e + ao_1e_int_ecp",
        [FMO_CORE_COMPUTED] = "computed",
    };
    return dataset ? text[dataset->core_source] : NULL;
}

double fmo_dataset_nuclear_repulsion(const fmo_dataset *dataset)
{
    if (!dataset) return NAN;
    fmo_dataset *d = (fmo_dataset *)dataset; /* see above */
    pthread_mutex_lock(&d->core_lock);
    if (!d->repulsion_known) d->nuclear_repulsion = fmo_basis_nuclear_repulsion(d->basis);
    d->repulsion_known = true;
    const double repulsion = d->nuclear_repulsion;
    pthread_mutex_unlock(&d->core_lock);
    return repulsion;
}
int fmo_dataset_electron_num(const fmo_dataset *dataset)
{
    return dataset ? dataset->electron_num : -1;
}
int fmo_dataset_multiplicity(const fmo_dataset *dataset)
{
    return dataset ? dataset->multiplicity : 0;
}
const double *fmo_dataset_spin_density(const fmo_dataset *dataset)
{
    return dataset ? dataset->spin_density : NULL;
}

const double *fmo_dataset_reference_coulomb(const fmo_dataset *dataset)
{
    return dataset ? dataset->coulomb : NULL;
}
const double *fmo_dataset_reference_exchange(const fmo_dataset *dataset)
{
    return dataset ? dataset->exchange : NULL;
}
const double *fmo_dataset_reference_fock_2e(const fmo_dataset *dataset)
{
    return dataset ? dataset->fock_2e : NULL;
}
double fmo_dataset_reference_energy(const fmo_dataset *dataset)
{
    return dataset ? dataset->energy : NAN;
}
const char *fmo_dataset_basis_name(const fmo_dataset *dataset)
{
    return dataset ? dataset->basis_name : NULL;
}
const char *fmo_dataset_formula(const fmo_dataset *dataset)
{
    return dataset ? dataset->formula : NULL;
}

/* Writes the label of an AO, or "?" if there is no such AO; always a terminated string. */
void fmo_dataset_ao_label(const fmo_dataset *dataset, int ao, char *text, size_t size)
{
    static const char *const function[][2][15] = {
        {{"s"}, {"s"}},
        {{"px", "py", "pz"}, {"px", "py", "pz"}},
        {{"d0", "d+1", "d-1", "d+2", "d-2"}, {"dxx", "dxy", "dxz", "dyy", "dyz", "dzz"}},
        {{"f0", "f+1", "f-1", "f+2", "f-2", "f+3", "f-3"},
         {"fxxx", "fxxy", "fxxz", "fxyy", "fxyz", "fxzz", "fyyy", "fyyz", "fyzz", "fzzz"}},
        {{"g0", "g+1", "g-1", "g+2", "g-2", "g+3", "g-3", "g+4", "g-4"},
         {"gxxxx", "gxxxy", "gxxxz", "gxxyy", "gxxyz", "gxxzz", "gxyyy", "gxyyz", "gxyzz", "gxzzz",
          "gyyyy", "gyyyz", "gyyzz", "gyzzz", "gzzzz"}}};
    FMO_STATIC_ASSERT(sizeof function / sizeof *function == FMO_SHELL_KIND_COUNT,
                      "dataset.c: names of functions")
    if (!text || !size) return;
    if (!dataset || ao < 0 || ao >= dataset->nao) {
        snprintf(text, size, "?");
        return;
    }
    const fmo_basis_input *input = &dataset->input;
    int shell = input->ao_shell[ao], nucleus = input->shell_nucleus[shell];
    snprintf(text, size, "%d %s %s", nucleus, fmo_element_symbol(dataset->number[nucleus]),
             function[input->shell_ang_mom[shell]][input->cartesian != 0][input->ao_component[ao]]);
}
