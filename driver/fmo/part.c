/* One or two fragments as a molecule: its nuclei (the detached atom of a cut bond leaves a charge
 * of 1, and all of its functions, with the fragment of the attached atom), functions, one-electron
 * matrices. */
#include "driver/fmo/internal.h"
#include "driver/base/checkgoto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/one_electron.h>

void fmo_part_forget_products(fmo_part *part)
{
    fmo_products_destroy(part->products);
    part->products = NULL;
}

void fmo_part_empty(fmo_part *part)
{
    double **const all[] = {&part->core, &part->overlap, &part->projector, &part->field,
                            &part->density};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        free(*all[k]);
        *all[k] = NULL;
    }
    fmo_part_forget_products(part);
}

void fmo_part_destroy(fmo_part *part)
{
    if (!part) return;
    fmo_part_empty(part);
    fmo_dataset_destroy(part->dataset);
    free(part->atom);
    free(part->charge);
    free(part->coord);
    free(part->begin);
    memset(part, 0, sizeof *part);
}

static fmo_status no_memory(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a fragment");
}

/* Charges by atom of the system, NaN where the part has no such atom. */
static void count_charges(const fmo_fragments *f, const fmo_part *part, double *charge)
{
    const fmo_fragment_system *s = f->system;
    for (int a = 0; a < s->atom_num; a++) {
        const int own = s->fragment[a] == part->fragment[0] ||
                        (part->fragments == 2 && s->fragment[a] == part->fragment[1]);
        charge[a] = own ? s->number[a] : NAN;
    }
    for (int b = 0; b < s->bond_num; b++) {
        const int bda = s->bond[2 * b], own = s->fragment[bda],
                  other = s->fragment[s->bond[2 * b + 1]];
        const int detached =
            own == part->fragment[0] || (part->fragments == 2 && own == part->fragment[1]);
        const int attached =
            other == part->fragment[0] || (part->fragments == 2 && other == part->fragment[1]);
        if (detached && !attached) charge[bda] -= 1.0;
        if (attached && !detached) charge[bda] = (isnan(charge[bda]) ? 0.0 : charge[bda]) + 1.0;
    }
}

static fmo_status list_atoms(const fmo_fragments *f, fmo_part *part, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    double *const charge = malloc((size_t)s->atom_num * sizeof *charge), electrons = 0.0;
    size_t most = 0;
    if (!charge) return no_memory(err);
    count_charges(f, part, charge);
    for (int a = 0; a < s->atom_num; a++) most += !isnan(charge[a]);
    part->atom = malloc(most * sizeof *part->atom);
    part->charge = malloc(most * sizeof *part->charge);
    part->coord = malloc(3 * most * sizeof *part->coord);
    if (!part->atom || !part->charge || !part->coord) {
        free(charge);
        return no_memory(err);
    }
    for (int a = 0; a < s->atom_num; a++) {
        if (isnan(charge[a])) continue;
        part->atom[part->atom_num] = a;
        part->charge[part->atom_num] = charge[a];
        memcpy(part->coord + 3 * part->atom_num, s->coord + 3 * a, 3 * sizeof *s->coord);
        electrons += charge[a];
        part->atom_num++;
    }
    free(charge);
    for (int k = 0; k < part->fragments; k++) electrons -= s->charge[part->fragment[k]];
    part->electron_num = (int)lround(electrons);
    for (int a = 0; a < part->atom_num; a++)
        for (int b = 0; b < a; b++) {
            double r2 = 0.0;
            for (int x = 0; x < 3; x++) {
                const double d = part->coord[3 * a + x] - part->coord[3 * b + x];
                r2 += d * d;
            }
            part->nuclear_repulsion += part->charge[a] * part->charge[b] / sqrt(r2);
        }
    return FMO_OK;
}

/* Functions. Charges of the basis are those of whole atoms: they make the first guess. */
static fmo_status make_basis(const fmo_fragments *f, fmo_part *part, fmo_error *err)
{
    fmo_status status = FMO_OK;
    int *const number = malloc((size_t)part->atom_num * sizeof *number), all = 0;
    fmo_error why = {FMO_OK, ""};
    if (!number) return no_memory(err);
    for (int k = 0; k < part->atom_num; k++) all += number[k] = f->system->number[part->atom[k]];
    const fmo_molecule molecule = {
        .nucleus_num = part->atom_num, .number = number, .coord = part->coord};
    if (fmo_dataset_create_with(&molecule, f->set, f->functions, -(all % 2), &part->dataset,
                                &why) != FMO_OK)
        status =
            fmo_error_set(err, why.status, "fragment %d: %s", part->fragment[0] + 1, why.message);
    free(number);
    if (status != FMO_OK) return status;
    part->basis = fmo_dataset_basis(part->dataset);
    part->nao = fmo_basis_ao_num(part->basis);
    if (part->electron_num > 2 * part->nao)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "fragment %d: %d electrons do not fit into %d functions",
                             part->fragment[0] + 1, part->electron_num, part->nao);
    /* Functions go atom by atom (basis_set.h). */
    int *const ao = malloc((size_t)part->nao * sizeof *ao);
    double *const factor = malloc((size_t)part->nao * sizeof *factor);
    part->begin = calloc((size_t)part->atom_num + 1, sizeof *part->begin);
    if (!ao || !factor || !part->begin) status = no_memory(err);
    for (int k = 0; k < part->atom_num && status == FMO_OK; k++) {
        fmo_basis *atom = NULL;
        status = fmo_basis_atom(part->basis, k, &atom, ao, factor, err);
        part->begin[k + 1] = part->begin[k] + fmo_basis_ao_num(atom);
        fmo_basis_destroy(atom);
    }
    free(ao);
    free(factor);
    return status;
}

static fmo_status make_matrices(fmo_part *part, fmo_error *err)
{
    const size_t size = (size_t)part->nao * (size_t)part->nao;
    fmo_status status = FMO_OK;
    double **const all[] = {&part->core, &part->overlap, &part->field, &part->density};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) *all[k] = calloc(size, sizeof(double));
    if (!part->core || !part->overlap || !part->field || !part->density) status = no_memory(err);
    if (status == FMO_OK) status = fmo_overlap(part->basis, part->overlap, err);
    if (status == FMO_OK) status = fmo_kinetic(part->basis, part->core, err);
    return status;
}

static fmo_status add_attraction(fmo_part *part, fmo_error *err)
{
    const size_t size = (size_t)part->nao * (size_t)part->nao;
    double *const V = malloc(size * sizeof *V);
    if (!V) return no_memory(err);
    const fmo_status status = fmo_charge_attraction(part->basis, (size_t)part->atom_num,
                                                    part->charge, part->coord, V, err);
    for (size_t i = 0; i < size && status == FMO_OK; i++) part->core[i] += V[i];
    free(V);
    return status;
}

/* Of a pair the products that neither of its monomers has. */
static fmo_status make_products_between(const fmo_fragments *f, fmo_part *pair, fmo_error *err)
{
    unsigned *const group = calloc((size_t)pair->atom_num, sizeof *group);
    if (!group) return no_memory(err);
    for (int side = 0; side < 2; side++) {
        const fmo_part *const own = &f->monomer[pair->fragment[side]];
        for (int a = 0, p = 0; a < own->atom_num; a++) { /* both ascend */
            while (pair->atom[p] < own->atom[a]) p++;
            group[p] |= 1u << side;
        }
    }
    const fmo_status status = fmo_products_create_between(pair->basis, group, &pair->products, err);
    free(group);
    return status;
}

fmo_status fmo_part_begin(const fmo_fragments *f, int i, int j, fmo_part *part, fmo_error *err)
{
    fmo_status status;
    memset(part, 0, sizeof *part);
    part->fragment[0] = i;
    part->fragment[1] = j;
    part->fragments = j < 0 ? 1 : 2;
    CHECKGOTO(list_atoms(f, part, err));
    CHECKGOTO(make_basis(f, part, err));
done:
    if (status != FMO_OK) fmo_part_destroy(part);
    return status;
}

fmo_status fmo_part_fill(const fmo_fragments *f, fmo_part *part, fmo_error *err)
{
    fmo_status status;
    CHECKGOTO(make_matrices(part, err));
    CHECKGOTO(fmo_part_project(f, part, err));
    if (part->fragments == 2) {
        CHECKGOTO(make_products_between(f, part, err));
    } else {
        CHECKGOTO(add_attraction(part, err));
        CHECKGOTO(fmo_products_create(part->basis, &part->products, err));
    }
done:
    if (status != FMO_OK) fmo_part_empty(part);
    return status;
}

void fmo_part_add_matrix(const fmo_part *from, const double *X, double kept, const fmo_part *to,
                         double *Y)
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

void fmo_part_populations(const fmo_part *part, const double *density, double *population)
{
    const size_t n = (size_t)part->nao;
    for (int a = 0; a < part->atom_num; a++) {
        population[a] = 0.0;
        for (int i = part->begin[a]; i < part->begin[a + 1]; i++)
            for (size_t k = 0; k < n; k++)
                population[a] += density[(size_t)i * n + k] * part->overlap[k * n + (size_t)i];
    }
}

double fmo_trace(size_t n, const double *A, const double *B)
{
    double sum = 0.0;
    for (size_t i = 0; i < n * n; i++) sum += A[i] * B[i];
    return sum;
}
