/* Creates a data set from a molecule and a basis set: each nucleus gets the shells of its element.
 * The functions of a shell are ordered as in a TREXIO file (io/dataset/order.h), so that the data
 * set can be written as one. Next: norm.h. */
#include "io/basis_set/basis_set_internal.h"
#include "io/basis_set/norm.h"
#include "io/dataset/dataset_internal.h"
#include "io/dataset/order.h"
#include "io/text/file.h"
#include "base/arguments.h"
#include "integrals/norms.h"
#include "integrals/tables.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SHOWN_MAX = 128 }; /* bytes of a path shown in messages */

typedef struct maker {
    const fmo_molecule *molecule;
    const fmo_basis_set *set;
    fmo_functions functions;         /* requested form of the functions above p */
    int first[FMO_ELEMENT_MAX + 1];  /* first shell of each element */
    int shells[FMO_ELEMENT_MAX + 1]; /* number of shells of each element, which are consecutive */
    bool cartesian;
    char label[PATH_SHOWN_MAX + 32]; /* name of the molecule, for messages */
    fmo_dataset *d;
    fmo_error *err;
} maker;

#define INPUT(m, ...) fmo_error_set((m)->err, FMO_ERR_INPUT, __VA_ARGS__)

static fmo_status no_memory(const maker *m)
{
    return fmo_error_set(m->err, FMO_ERR_MEMORY, "%s: no memory for a data set", m->label);
}

/* Checks the atomic numbers and coordinates of a molecule, which the caller may have filled in, and
 * that no two nuclei coincide. */
static fmo_status check_molecule(maker *m)
{
    const fmo_molecule *mol = m->molecule;
    if (mol->nucleus_num > FMO_MOLECULE_NUCLEI_MAX)
        return INPUT(m, "%s: %d nuclei: expected 1 to %d, as a basis can have shells; take a part",
                     m->label, mol->nucleus_num, FMO_MOLECULE_NUCLEI_MAX);
    for (int i = 0; i < mol->nucleus_num; i++) {
        if (mol->number[i] < 1 || mol->number[i] > FMO_ELEMENT_MAX)
            return INPUT(m, "%s: number[%d] = %d: expected an atomic number from 1 to %d", m->label,
                         i, mol->number[i], FMO_ELEMENT_MAX);
        for (int c = 0; c < 3; c++)
            if (!isfinite(mol->coord[3 * i + c]))
                return INPUT(m, "%s: coord[%d][%d] = %g: expected a finite number in bohr",
                             m->label, i, c, mol->coord[3 * i + c]);
    }
    bool close;
    int i = 0, j = 0;
    if (fmo_find_close(mol->coord, mol->nucleus_num, FMO_NUCLEUS_DISTANCE_MIN, &close, &i, &j) !=
        FMO_OK)
        return no_memory(m);
    if (close)
        return INPUT(m,
                     "%s: nuclei %d (%s) and %d (%s) are closer than %g bohr; remove one of them",
                     m->label, i, fmo_element_symbol(mol->number[i]), j,
                     fmo_element_symbol(mol->number[j]), FMO_NUCLEUS_DISTANCE_MIN);
    return FMO_OK;
}

/* Finds the shells of each element, and checks that every element of the molecule is in the set and
 * has only supported shells. */
static fmo_status check_set(maker *m)
{
    for (int s = m->set->shell_num - 1; s >= 0; s--) {
        m->first[m->set->shell[s].number] = s;
        m->shells[m->set->shell[s].number]++;
    }
    for (int i = 0; i < m->molecule->nucleus_num; i++) {
        int z = m->molecule->number[i];
        const char *symbol = fmo_element_symbol(z);
        if (!m->shells[z])
            return INPUT(m, "%s: basis set %s has no %s; choose one that has", m->label,
                         m->set->name, symbol);
        if (m->set->has_ecp[z])
            return INPUT(m,
                         "%s: basis set %s has an effective core potential for %s, which is not "
                         "supported; choose an all-electron basis set",
                         m->label, m->set->name, symbol);
        for (int s = 0; s < m->shells[z]; s++) {
            int l = m->set->shell[m->first[z] + s].ang_mom;
            if (l > FMO_ANG_MOM_MAX)
                return INPUT(m,
                             "%s: shell %d of %s in basis set %s is a%s %c shell, and this build "
                             "supports s, p, d, f and g; choose a smaller set such as "
                             "cc-pVTZ, def2-TZVP or def2-QZVP",
                             m->label, s + 1, symbol, m->set->name,
                             strchr("fhilmnoqrsx", fmo_ang_mom_letter(l)) ? "n" : "",
                             fmo_ang_mom_letter(l));
        }
    }
    return FMO_OK;
}

/* Chooses Cartesian or spherical functions for all shells of the data set. */
static fmo_status choose_form(maker *m)
{
    int elements[] = {[FMO_FORM_OPEN] = 0, [FMO_FORM_CARTESIAN] = 0, [FMO_FORM_SPHERICAL] = 0};
    for (int i = 0; i < m->molecule->nucleus_num; i++) {
        const int z = m->molecule->number[i];
        for (int s = m->first[z]; s < m->first[z] + m->shells[z]; s++)
            if (fmo_shell_has_forms(m->set->shell[s].ang_mom)) elements[m->set->shell[s].form] = z;
    }
    const int cartesian = elements[FMO_FORM_CARTESIAN], spherical = elements[FMO_FORM_SPHERICAL];
    if (m->functions != FMO_FUNCTIONS_SET)
        m->cartesian = m->functions == FMO_FUNCTIONS_CARTESIAN;
    else if (cartesian && spherical)
        return INPUT(m,
                     "%s: basis set %s has Cartesian functions for %s and spherical ones for %s; "
                     "choose one of the two for all (fmo-driver: --functions)",
                     m->label, m->set->name, fmo_element_symbol(cartesian),
                     fmo_element_symbol(spherical));
    else
        m->cartesian = !spherical && !elements[FMO_FORM_OPEN];
    return FMO_OK;
}

static bool is_ghost(const maker *m, int i)
{
    return m->molecule->ghost && m->molecule->ghost[i];
}

/* Counts the electrons. Their number is odd only with a multiplicity for it. */
static fmo_status count_electrons(maker *m, int charge)
{
    long long n = -(long long)charge;
    for (int i = 0; i < m->molecule->nucleus_num; i++)
        if (!is_ghost(m, i)) n += m->molecule->number[i];
    if (n < 1 || n > INT_MAX)
        return INPUT(m, "%s: a charge of %d leaves %lld electrons; choose another charge", m->label,
                     charge, n);
    const int multiplicity = m->molecule->multiplicity;
    if (multiplicity <= 1 && n % 2)
        return INPUT(
            m,
            "%s: %lld electron%s with charge %d, an odd number: choose a multiplicity of 2 "
            "or more, or another charge",
            m->label, n, n == 1 ? "" : "s", charge);
    if (multiplicity > 1 && ((n - multiplicity + 1) % 2 || multiplicity - 1 > n))
        return INPUT(m,
                     "%s: %lld electron%s with charge %d cannot have multiplicity %d; choose "
                     "another one, or another charge",
                     m->label, n, n == 1 ? "" : "s", charge, multiplicity);
    m->d->electron_num = (int)n;
    m->d->multiplicity = multiplicity > 1 ? multiplicity : 1;
    return FMO_OK;
}

typedef struct sizes {
    long long shells, prims, aos;
} sizes;

static sizes count_functions(const maker *m)
{
    sizes n = {0, 0, 0};
    for (int i = 0; i < m->molecule->nucleus_num; i++) {
        int z = m->molecule->number[i];
        for (int s = m->first[z]; s < m->first[z] + m->shells[z]; s++) {
            n.shells++;
            n.prims += m->set->shell[s].prim_num;
            n.aos += fmo_shell_functions_of(m->set->shell[s].ang_mom, m->cartesian);
        }
    }
    return n;
}

/* Writable pointers to the arrays of the data set's fmo_basis_input, whose members are const. */
typedef struct arrays {
    double *charge, *coord, *exponent, *coefficient, *factor;
    int *shell_nucleus, *shell_ang_mom, *prim_shell, *ao_shell, *ao_component;
} arrays;

static void fill_shell(const maker *m, const fmo_set_shell *shell, int nucleus, sizes *at,
                       arrays *a)
{
    const fmo_basis_set *set = m->set;
    for (int k = 0; k < shell->prim_num; k++, at->prims++) {
        a->prim_shell[at->prims] = (int)at->shells;
        a->exponent[at->prims] = set->exponent[shell->prim_begin + k];
        a->coefficient[at->prims] = set->coefficient[shell->prim_begin + k];
    }
    for (int k = 0; k < fmo_shell_functions_of(shell->ang_mom, m->cartesian); k++, at->aos++) {
        const int component = fmo_file_component(shell->ang_mom, k, m->cartesian);
        a->ao_shell[at->aos] = (int)at->shells;
        a->ao_component[at->aos] = component;
        a->factor[at->aos] = fmo_function_factor(m->cartesian, shell->ang_mom, component);
    }
    a->shell_nucleus[at->shells] = nucleus;
    a->shell_ang_mom[at->shells++] = shell->ang_mom;
}

static void fill_functions(const maker *m, arrays *a)
{
    sizes at = {0, 0, 0};
    for (int i = 0; i < m->molecule->nucleus_num; i++) {
        int z = m->molecule->number[i];
        a->charge[i] = is_ghost(m, i) ? 0.0 : z;
        for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++)
            for (int s = m->first[z]; s < m->first[z] + m->shells[z]; s++)
                if (m->set->shell[s].ang_mom == l) fill_shell(m, &m->set->shell[s], i, &at, a);
    }
    memcpy(a->coord, m->molecule->coord, 3 * (size_t)m->molecule->nucleus_num * sizeof(double));
}

/* Allocates the arrays of the basis input, which the data set owns even on error, fills them and
 * creates the basis. */
static fmo_status make_basis(maker *m)
{
    sizes n = count_functions(m);
    size_t nuclei = (size_t)m->molecule->nucleus_num;
    if (n.shells >
        FMO_MOLECULE_NUCLEI_MAX) /* limit of fmo_basis_create; primitives and functions follow */
        return INPUT(m, "%s: %lld shells: expected 1 to %d; choose a smaller basis set", m->label,
                     n.shells, FMO_MOLECULE_NUCLEI_MAX);
    size_t prims = (size_t)n.prims, shells = (size_t)n.shells, aos = (size_t)n.aos;
    arrays a = {.charge = malloc(nuclei * sizeof(double)),
                .coord = malloc(3 * nuclei * sizeof(double)),
                .exponent = malloc(prims * sizeof(double)),
                .coefficient = malloc(prims * sizeof(double)),
                .factor = malloc(aos * sizeof(double)),
                .shell_nucleus = malloc(shells * sizeof(int)),
                .shell_ang_mom = malloc(shells * sizeof(int)),
                .prim_shell = malloc(prims * sizeof(int)),
                .ao_shell = malloc(aos * sizeof(int)),
                .ao_component = malloc(aos * sizeof(int))};
    m->d->input = (fmo_basis_input){.nucleus_num = m->molecule->nucleus_num,
                                    .nucleus_charge = a.charge,
                                    .nucleus_coord = a.coord,
                                    .shell_num = (int)n.shells,
                                    .shell_nucleus = a.shell_nucleus,
                                    .shell_ang_mom = a.shell_ang_mom,
                                    .prim_num = (int)n.prims,
                                    .prim_shell = a.prim_shell,
                                    .prim_exponent = a.exponent,
                                    .prim_coefficient = a.coefficient,
                                    .ao_num = (int)n.aos,
                                    .ao_shell = a.ao_shell,
                                    .ao_component = a.ao_component,
                                    .ao_factor = a.factor,
                                    .cartesian = m->cartesian};
    if (!a.charge || !a.coord || !a.exponent || !a.coefficient || !a.factor || !a.shell_nucleus ||
        !a.shell_ang_mom || !a.prim_shell || !a.ao_shell || !a.ao_component)
        return no_memory(m);
    fill_functions(m, &a);
    if (m->d->electron_num > 2 * n.aos)
        return INPUT(m,
                     "%s: %d electrons, and the %lld functions of basis set %s hold %lld; choose "
                     "a larger basis set or another charge",
                     m->label, m->d->electron_num, n.aos, m->set->name, 2 * n.aos);
    return fmo_basis_create(&m->d->input, &m->d->basis, m->err);
}

static fmo_status finish(maker *m)
{
    fmo_dataset *d = m->d;
    d->nao = d->input.ao_num;
    d->nucleus_num = d->input.nucleus_num;
    d->cartesian = m->cartesian;
    d->path = strdup(m->molecule->path ? m->molecule->path : "");
    memcpy(d->sha256, m->molecule->sha256, sizeof d->sha256);
    d->density_source = "none";
    d->core_source = FMO_CORE_COMPUTED;
    snprintf(d->basis_name, sizeof d->basis_name, "%s", m->set->name);
    if (!d->path || fmo_dataset_name_nuclei(d, d->input.nucleus_charge, NULL, 0) != FMO_OK)
        return no_memory(m);
    for (int i = 0; i < d->nucleus_num; i++) d->number[i] = m->molecule->number[i]; /* of ghosts */
    return fmo_dataset_note_close(d) == FMO_OK ? FMO_OK : no_memory(m);
}

/* Implements fmo_dataset_create and fmo_dataset_create_with; call: name of the function, for
 * messages. */
static fmo_status create(const char *call, const fmo_molecule *molecule, const fmo_basis_set *set,
                         fmo_functions functions, int charge, fmo_dataset **dataset, fmo_error *err)
{
    if (dataset) *dataset = NULL;
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(molecule), FMO_GIVEN(set), FMO_GIVEN(dataset));
    if (status == FMO_OK)
        status =
            FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(molecule->number), FMO_GIVEN(molecule->coord));
    if (status == FMO_OK && molecule->nucleus_num < 1)
        status = fmo_error_set(err, FMO_ERR_ARGUMENT,
                               "%s: molecule->nucleus_num = %d: expected at least 1", call,
                               molecule->nucleus_num);
    if (status == FMO_OK && (unsigned)functions >= FMO_FUNCTIONS_COUNT)
        status = fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: functions is none of its enum", call);
    if (status != FMO_OK) return status;
    maker m = {.molecule = molecule,
               .set = set,
               .functions = functions == FMO_FUNCTIONS_SET ? set->functions : functions,
               .d = fmo_dataset_new(),
               .err = err};
    fmo_path_label(molecule->path ? molecule->path : "molecule", m.label, PATH_SHOWN_MAX);
    if (molecule->frame)
        snprintf(m.label + strlen(m.label), sizeof m.label - strlen(m.label), ": frame %d",
                 molecule->frame);
    status = m.d ? check_molecule(&m) : no_memory(&m);
    if (status == FMO_OK) status = check_set(&m);
    if (status == FMO_OK) status = choose_form(&m);
    if (status == FMO_OK) status = count_electrons(&m, charge);
    if (status == FMO_OK) status = make_basis(&m);
    if (status == FMO_OK) status = finish(&m);
    if (status == FMO_OK)
        *dataset = m.d;
    else
        fmo_dataset_destroy(m.d);
    return status;
}

fmo_status fmo_dataset_create(const fmo_molecule *molecule, const fmo_basis_set *set, int charge,
                              fmo_dataset **dataset, fmo_error *err)
{
    return create("fmo_dataset_create", molecule, set, FMO_FUNCTIONS_SET, charge, dataset, err);
}

fmo_status fmo_dataset_create_with(const fmo_molecule *molecule, const fmo_basis_set *set,
                                   fmo_functions functions, int charge, fmo_dataset **dataset,
                                   fmo_error *err)
{
    return create("fmo_dataset_create_with", molecule, set, functions, charge, dataset, err);
}
