/* One or two fragments as a molecule: nuclei, functions, one-electron matrices. The detached atom
 * of a cut bond also belongs to the fragment of the attached atom, with a nuclear charge of 1 and
 * all of its functions. Functions are declared in internal.h. */
#include "driver/fmo/internal.h"
#include "driver/base/checkgoto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/one_electron.h>

void fmo_subsystem_free_products(fmo_subsystem *subsystem)
{
    fmo_products_destroy(subsystem->products);
    subsystem->products = NULL;
}

void fmo_subsystem_empty(fmo_subsystem *subsystem)
{
    double **const all[] = {&subsystem->core, &subsystem->overlap, &subsystem->projector,
                            &subsystem->field, &subsystem->density};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        free(*all[k]);
        *all[k] = NULL;
    }
    fmo_subsystem_free_products(subsystem);
}

void fmo_subsystem_destroy(fmo_subsystem *subsystem)
{
    if (!subsystem) return;
    fmo_subsystem_empty(subsystem);
    fmo_dataset_destroy(subsystem->dataset);
    free(subsystem->atom);
    free(subsystem->charge);
    free(subsystem->coord);
    free(subsystem->begin);
    memset(subsystem, 0, sizeof *subsystem);
}

static fmo_status no_memory(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a fragment");
}

/* Computes nuclear charges by atom of the system; NaN for atoms that the subsystem does not
 * contain. */
static void count_charges(const fmo_fragments *f, const fmo_subsystem *subsystem, double *charge)
{
    const fmo_fragment_system *s = f->system;
    for (int a = 0; a < s->atom_num; a++) {
        const int own = s->fragment[a] == subsystem->fragment[0] ||
                        (subsystem->fragments == 2 && s->fragment[a] == subsystem->fragment[1]);
        charge[a] = own ? s->number[a] : NAN;
    }
    for (int b = 0; b < s->bond_num; b++) {
        const int bda = s->bond[2 * b], own = s->fragment[bda],
                  other = s->fragment[s->bond[2 * b + 1]];
        const int detached = own == subsystem->fragment[0] ||
                             (subsystem->fragments == 2 && own == subsystem->fragment[1]);
        const int attached = other == subsystem->fragment[0] ||
                             (subsystem->fragments == 2 && other == subsystem->fragment[1]);
        if (detached && !attached) charge[bda] -= 1.0;
        if (attached && !detached) charge[bda] = (isnan(charge[bda]) ? 0.0 : charge[bda]) + 1.0;
    }
}

/* Lists the atoms of the subsystem, and computes its number of electrons and nuclear repulsion. */
static fmo_status list_atoms(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    double *const charge = malloc((size_t)s->atom_num * sizeof *charge), electrons = 0.0;
    size_t capacity = 0;
    if (!charge) return no_memory(err);
    count_charges(f, subsystem, charge);
    for (int a = 0; a < s->atom_num; a++) capacity += !isnan(charge[a]);
    subsystem->atom = malloc(capacity * sizeof *subsystem->atom);
    subsystem->charge = malloc(capacity * sizeof *subsystem->charge);
    subsystem->coord = malloc(3 * capacity * sizeof *subsystem->coord);
    if (!subsystem->atom || !subsystem->charge || !subsystem->coord) {
        free(charge);
        return no_memory(err);
    }
    for (int a = 0; a < s->atom_num; a++) {
        if (isnan(charge[a])) continue;
        subsystem->atom[subsystem->atom_num] = a;
        subsystem->charge[subsystem->atom_num] = charge[a];
        memcpy(subsystem->coord + 3 * subsystem->atom_num, s->coord + 3 * a, 3 * sizeof *s->coord);
        electrons += charge[a];
        subsystem->atom_num++;
    }
    free(charge);
    for (int k = 0; k < subsystem->fragments; k++) electrons -= s->charge[subsystem->fragment[k]];
    subsystem->electron_num = (int)lround(electrons);
    for (int a = 0; a < subsystem->atom_num; a++)
        for (int b = 0; b < a; b++) {
            double r2 = 0.0;
            for (int x = 0; x < 3; x++) {
                const double d = subsystem->coord[3 * a + x] - subsystem->coord[3 * b + x];
                r2 += d * d;
            }
            subsystem->nuclear_repulsion += subsystem->charge[a] * subsystem->charge[b] / sqrt(r2);
        }
    return FMO_OK;
}

/* Makes the basis. The nuclear charges in it are those of whole atoms, which the initial guess
 * needs. */
static fmo_status make_basis(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err)
{
    fmo_status status = FMO_OK;
    int *const number = malloc((size_t)subsystem->atom_num * sizeof *number), all = 0;
    fmo_error why = {FMO_OK, ""};
    if (!number) return no_memory(err);
    for (int k = 0; k < subsystem->atom_num; k++)
        all += number[k] = f->system->number[subsystem->atom[k]];
    const fmo_molecule molecule = {
        .nucleus_num = subsystem->atom_num, .number = number, .coord = subsystem->coord};
    if (fmo_dataset_create_with(&molecule, f->set, f->functions, -(all % 2), &subsystem->dataset,
                                &why) != FMO_OK)
        status = fmo_error_set(err, why.status, "fragment %d: %s", subsystem->fragment[0] + 1,
                               why.message);
    free(number);
    if (status != FMO_OK) return status;
    subsystem->basis = fmo_dataset_basis(subsystem->dataset);
    subsystem->nao = fmo_basis_ao_num(subsystem->basis);
    if (subsystem->electron_num > 2 * subsystem->nao)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "fragment %d: %d electrons do not fit into %d functions",
                             subsystem->fragment[0] + 1, subsystem->electron_num, subsystem->nao);
    /* Functions are ordered atom by atom (basis_set.h). */
    int *const ao = malloc((size_t)subsystem->nao * sizeof *ao);
    double *const factor = malloc((size_t)subsystem->nao * sizeof *factor);
    subsystem->begin = calloc((size_t)subsystem->atom_num + 1, sizeof *subsystem->begin);
    if (!ao || !factor || !subsystem->begin) status = no_memory(err);
    for (int k = 0; k < subsystem->atom_num && status == FMO_OK; k++) {
        fmo_basis *atom = NULL;
        status = fmo_basis_atom(subsystem->basis, k, &atom, ao, factor, err);
        subsystem->begin[k + 1] = subsystem->begin[k] + fmo_basis_ao_num(atom);
        fmo_basis_destroy(atom);
    }
    free(ao);
    free(factor);
    return status;
}

static fmo_status make_matrices(fmo_subsystem *subsystem, fmo_error *err)
{
    const size_t size = (size_t)subsystem->nao * (size_t)subsystem->nao;
    fmo_status status = FMO_OK;
    double **const all[] = {&subsystem->core, &subsystem->overlap, &subsystem->field,
                            &subsystem->density};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) *all[k] = calloc(size, sizeof(double));
    if (!subsystem->core || !subsystem->overlap || !subsystem->field || !subsystem->density)
        status = no_memory(err);
    if (status == FMO_OK) status = fmo_overlap(subsystem->basis, subsystem->overlap, err);
    if (status == FMO_OK) status = fmo_kinetic(subsystem->basis, subsystem->core, err);
    return status;
}

static fmo_status add_attraction(fmo_subsystem *subsystem, fmo_error *err)
{
    const size_t size = (size_t)subsystem->nao * (size_t)subsystem->nao;
    double *const V = malloc(size * sizeof *V);
    if (!V) return no_memory(err);
    const fmo_status status = fmo_charge_attraction(subsystem->basis, (size_t)subsystem->atom_num,
                                                    subsystem->charge, subsystem->coord, V, err);
    for (size_t i = 0; i < size && status == FMO_OK; i++) subsystem->core[i] += V[i];
    free(V);
    return status;
}

/* Makes the products of functions that neither monomer of a pair has. */
static fmo_status make_products_between(const fmo_fragments *f, fmo_subsystem *pair, fmo_error *err)
{
    unsigned *const group = calloc((size_t)pair->atom_num, sizeof *group);
    if (!group) return no_memory(err);
    for (int side = 0; side < 2; side++) {
        const fmo_subsystem *const own = &f->monomer[pair->fragment[side]];
        for (int a = 0, p = 0; a < own->atom_num; a++) { /* both lists ascend */
            while (pair->atom[p] < own->atom[a]) p++;
            group[p] |= 1u << side;
        }
    }
    const fmo_status status = fmo_products_create_between(pair->basis, group, &pair->products, err);
    free(group);
    return status;
}

fmo_status fmo_subsystem_begin(const fmo_fragments *f, int i, int j, fmo_subsystem *subsystem,
                               fmo_error *err)
{
    fmo_status status;
    memset(subsystem, 0, sizeof *subsystem);
    subsystem->fragment[0] = i;
    subsystem->fragment[1] = j;
    subsystem->fragments = j < 0 ? 1 : 2;
    CHECKGOTO(list_atoms(f, subsystem, err));
    CHECKGOTO(make_basis(f, subsystem, err));
done:
    if (status != FMO_OK) fmo_subsystem_destroy(subsystem);
    return status;
}

fmo_status fmo_subsystem_fill(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err)
{
    fmo_status status;
    CHECKGOTO(make_matrices(subsystem, err));
    CHECKGOTO(fmo_subsystem_project(f, subsystem, err));
    if (subsystem->fragments == 2) {
        CHECKGOTO(make_products_between(f, subsystem, err));
    } else {
        CHECKGOTO(add_attraction(subsystem, err));
        CHECKGOTO(fmo_products_create(subsystem->basis, &subsystem->products, err));
    }
done:
    if (status != FMO_OK) fmo_subsystem_empty(subsystem);
    return status;
}

/* Both atom lists ascend, so one pass over them finds the common atoms. */
void fmo_subsystem_add_matrix(const fmo_subsystem *from, const double *X, double kept,
                              const fmo_subsystem *to, double *Y)
{
    const size_t n = (size_t)from->nao, m = (size_t)to->nao;
    for (int a = 0, p = 0; a < from->atom_num; a++) {
        while (p < to->atom_num && to->atom[p] < from->atom[a]) p++;
        if (p == to->atom_num || to->atom[p] != from->atom[a]) continue;
        for (int b = 0, q = 0; b < from->atom_num; b++) {
            while (q < to->atom_num && to->atom[q] < from->atom[b]) q++;
            if (q == to->atom_num || to->atom[q] != from->atom[b]) continue;
            for (int i = 0; i < from->begin[a + 1] - from->begin[a]; i++)
                for (int j = 0; j < from->begin[b + 1] - from->begin[b]; j++) {
                    double *const y =
                        &Y[(size_t)(to->begin[p] + i) * m + (size_t)(to->begin[q] + j)];
                    *y = kept * *y +
                         X[(size_t)(from->begin[a] + i) * n + (size_t)(from->begin[b] + j)];
                }
        }
    }
}

void fmo_subsystem_populations(const fmo_subsystem *subsystem, const double *density,
                               double *population)
{
    const size_t n = (size_t)subsystem->nao;
    for (int a = 0; a < subsystem->atom_num; a++) {
        population[a] = 0.0;
        for (int i = subsystem->begin[a]; i < subsystem->begin[a + 1]; i++)
            for (size_t k = 0; k < n; k++)
                population[a] += density[(size_t)i * n + k] * subsystem->overlap[k * n + (size_t)i];
    }
}

double fmo_trace(size_t n, const double *A, const double *B)
{
    double sum = 0.0;
    for (size_t i = 0; i < n * n; i++) sum += A[i] * B[i];
    return sum;
}
