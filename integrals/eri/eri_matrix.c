/* The integrals of eri_matrix.h on the CPU, and the setup of a molecule for CPU and GPU. */
#include <fmo/eri_matrix.h>

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/stack.h"
#include "integrals/eri/eri_matrix_body.inc"
#include "integrals/pairs/shell_pair.h"

/* Angular momenta of the pairs of s and p shells, by class. */
static const int pair_l[FMO_PAIR_LOW_L_COUNT][2] = {
#define ROW(P, name, li, lj, partner) {li, lj},
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
};

int fmo_eri_matrix_can(const fmo_basis *basis)
{
    if (!basis || !fmo_basis_one_to_one(basis) || basis->ao_num > FMO_ERI_MATRIX_FUNCTIONS)
        return 0;
    for (int s = 0; s < basis->shell_num; s++)
        if (fmo_pair_class_of(basis->shell[s].ang_mom, 0) >= FMO_PAIR_LOW_L_COUNT) return 0;
    return 1;
}

static fmo_status check_basis(const char *call, const fmo_basis *basis, fmo_error *err)
{
    const fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(basis));
    if (status != FMO_OK || fmo_eri_matrix_can(basis)) return status;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "%s: expected a basis of s and p shells with at most %d functions; "
                         "fmo_fock_build takes any",
                         call, FMO_ERI_MATRIX_FUNCTIONS);
}

fmo_status fmo_eri_matrices_check(const fmo_basis *const *basis, size_t count, double *const *eri,
                                  double *const *overlap, double *const *core, fmo_error *err)
{
    const char *const call = "fmo_eri_matrices_on_gpu";
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(basis), FMO_GIVEN(eri));
    if (status == FMO_OK && (overlap || core))
        status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(overlap), FMO_GIVEN(core));
    for (size_t k = 0; k < count && status == FMO_OK; k++) {
        status = check_basis(call, basis[k], err);
        if (status == FMO_OK) status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(eri[k]));
        if (status == FMO_OK && core)
            status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(overlap[k]), FMO_GIVEN(core[k]));
    }
    return status;
}

fmo_eri_sizes fmo_eri_matrix_sizes(const fmo_basis *basis)
{
    const size_t shells = (size_t)basis->shell_num;
    fmo_eri_sizes z = {shells,
                       shells * (shells + 1) / 2,
                       (size_t)basis->prim_num,
                       (size_t)basis->function_num,
                       (size_t)basis->nucleus_num,
                       0};
    for (int i = 0; i < basis->shell_num; i++)
        for (int j = 0; j <= i; j++)
            z.prims += (size_t)basis->shell[i].prim_num * (size_t)basis->shell[j].prim_num;
    return z;
}

/* Copies shells, primitives, functions and nuclei, and lists the pairs class by class. */
void fmo_eri_matrix_fill(const fmo_basis *basis, fmo_eri_molecule *m, const fmo_eri_arrays *to)
{
    const size_t primitives = (size_t)basis->prim_num, functions = (size_t)basis->ao_num;
    const size_t nuclei = (size_t)basis->nucleus_num;
    int pairs = 0, prims = 0;
    m->nao = basis->ao_num;
    m->nuclei = basis->nucleus_num;
    for (int s = 0; s < basis->shell_num; s++) {
        const fmo_shell *const from = &basis->shell[s];
        to->shell[s] = (fmo_eri_shell){
            .prim_begin = from->prim_begin, .prim_num = from->prim_num, .function = from->ao_begin};
        memcpy(to->shell[s].at, from->centre, sizeof to->shell[s].at);
    }
    memcpy(to->exponent, basis->exponent, primitives * sizeof *to->exponent);
    memcpy(to->coefficient, basis->coefficient, primitives * sizeof *to->coefficient);
    memcpy(to->ao, basis->ao_caller, functions * sizeof *to->ao);
    memcpy(to->factor, basis->ao_factor, functions * sizeof *to->factor);
    memcpy(to->charge, basis->charge, nuclei * sizeof *to->charge);
    memcpy(to->coord, basis->coord, 3 * nuclei * sizeof *to->coord);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const int li = pair_l[c][0], lj = pair_l[c][1];
        const int begin_i = fmo_basis_shell_begin(basis, li);
        const int begin_j = fmo_basis_shell_begin(basis, lj);
        m->pair_begin[c] = pairs;
        for (int a = begin_i; a < begin_i + basis->shell_num_l[li]; a++) {
            const int end = li == lj ? a + 1 : begin_j + basis->shell_num_l[lj];
            for (int b = begin_j; b < end; b++) {
                int i = a, j = b;
                fmo_shell_pair_order(basis, &i, &j);
                to->pair[pairs++] = (fmo_eri_pair){i, j, prims};
                prims += basis->shell[i].prim_num * basis->shell[j].prim_num;
            }
        }
    }
    m->pair_begin[FMO_PAIR_LOW_L_COUNT] = pairs;
}

/* Computes the unique quartets of a class. */
#define QUARTETS(e, name, li, lj, lk, ll, bra_class, ket_class)                               \
    for (int b = m->pair_begin[bra_class]; b < m->pair_begin[(bra_class) + 1]; b++) {         \
        const int end = (bra_class) == (ket_class) ? b + 1 : m->pair_begin[(ket_class) + 1];  \
        for (int k = m->pair_begin[ket_class]; k < end; k++)                                  \
            fmo_eri_matrix_##name(m, fmo_boys.row[(li) + (lj) + (lk) + (ll)][0], &m->pair[b], \
                                  &m->pair[k], cutoff);                                       \
    }

#define CORE_PAIRS(P, name, li, lj, partner)                                            \
    for (int p = m->pair_begin[FMO_PAIR_##P]; p < m->pair_begin[FMO_PAIR_##P + 1]; p++) \
        fmo_core_pair(li, lj, m, fmo_boys.row[(li) + (lj)][0], &m->pair[p]);

static void compute(const fmo_eri_molecule *m, double cutoff)
{
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++)
        for (int p = m->pair_begin[c]; p < m->pair_begin[c + 1]; p++)
            fmo_eri_matrix_pair(pair_l[c][0], pair_l[c][1], m, &m->pair[p]);
    if (m->core) {
        FMO_PAIR_LOW_L_TABLE(CORE_PAIRS)
    }
    FMO_ERI_LOW_L_TABLE(QUARTETS)
}

/* Allocates the data of a molecule, fills it and computes its integrals. */
fmo_status fmo_eri_matrix_of(const fmo_basis *basis, double cutoff, double *eri, double *overlap,
                             double *core, fmo_error *err)
{
    const fmo_eri_sizes z = fmo_eri_matrix_sizes(basis);
    fmo_status status = FMO_OK;
    fmo_eri_molecule m = {.eri = eri, .overlap = overlap, .core = core};
    const fmo_eri_arrays to = {.shell = malloc(z.shells * sizeof *to.shell),
                               .pair = malloc(z.pairs * sizeof *to.pair),
                               .exponent = malloc(z.primitives * sizeof *to.exponent),
                               .coefficient = malloc(z.primitives * sizeof *to.coefficient),
                               .factor = malloc(z.functions * sizeof *to.factor),
                               .charge = malloc(z.nuclei * sizeof *to.charge),
                               .coord = malloc(3 * z.nuclei * sizeof *to.coord),
                               .ao = malloc(z.functions * sizeof *to.ao)};
    m.prim = malloc(z.prims * sizeof *m.prim);
    if (to.shell && to.pair && to.exponent && to.coefficient && to.factor && to.charge &&
        to.coord && to.ao && m.prim) {
        fmo_eri_matrix_fill(basis, &m, &to);
        m.shell = to.shell;
        m.pair = to.pair;
        m.exponent = to.exponent;
        m.coefficient = to.coefficient;
        m.ao = to.ao;
        m.factor = to.factor;
        m.charge = to.charge;
        m.coord = to.coord;
        compute(&m, cutoff);
    } else {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the integrals of %d functions",
                               basis->ao_num);
    }
    free(to.shell);
    free(to.pair);
    free(to.exponent);
    free(to.coefficient);
    free(to.factor);
    free(to.charge);
    free(to.coord);
    free(to.ao);
    free(m.prim);
    return status;
}

fmo_status fmo_eri_matrix(const fmo_basis *basis, double cutoff, double *eri, fmo_error *err)
{
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_eri_matrix", err, FMO_GIVEN(eri));
    if (status == FMO_OK) status = check_basis("fmo_eri_matrix", basis, err);
    if (status == FMO_OK) status = fmo_stack_check(0, err);
    return status == FMO_OK ? fmo_eri_matrix_of(basis, cutoff, eri, NULL, NULL, err) : status;
}
