/* FMO2-RHF by brute force: whole matrices, mode reference, plain iterations; energies and the
 * electrostatic part of pairs of three waters. fragments_brute DATASETS/fmo2 */
#include <fmo/one_electron.h>

#include "tests/fragments/cases.h"

typedef struct whole {
    int n;
    double *T, *V, *J, *D; /* of the whole system; V of all nuclei */
    fmo_fock_plan *plan;
    const fmo_fragment_system *s;
    const fmo_basis_set *set;
    const int *begin; /* [fragment_num + 1] first function of each fragment */
    const fmo_basis *basis;
} whole;

/* RHF of some fragments in the field of the densities D of the others; their density into out. */
static double part_energy(whole *w, const int *list, int count, double *out, double *U_energy)
{
    fmo_error err = {FMO_OK, ""};
    int ao[64], n = 0, atoms = 0, number[64];
    double coord[192];
    for (int k = 0; k < count; k++) {
        for (int i = w->begin[list[k]]; i < w->begin[list[k] + 1]; i++) ao[n++] = i;
        for (int a = 0; a < w->s->atom_num; a++) {
            if (w->s->fragment[a] != list[k]) continue;
            number[atoms] = w->s->number[a];
            memcpy(coord + 3 * atoms++, w->s->coord + 3 * a, 3 * sizeof *coord);
        }
    }
    const fmo_molecule molecule = {.nucleus_num = atoms, .number = number, .coord = coord};
    fmo_dataset *d = NULL;
    CHECK(fmo_dataset_create(&molecule, w->set, 0, &d, &err) == FMO_OK, "%s", err.message);
    const fmo_basis *basis = fmo_dataset_basis(d);
    const size_t N = (size_t)w->n, size = (size_t)(n * n);
    double *rest = calloc(N * N, sizeof *rest), *J = calloc(N * N, sizeof *J);
    double *K = calloc(N * N, sizeof *K), *own = calloc(size, sizeof *own);
    double *H = calloc(size, sizeof *H), *U = calloc(size, sizeof *U);
    memcpy(rest, w->D, N * N * sizeof *rest);
    for (int i = 0; i < n; i++)
        for (size_t j = 0; j < N; j++)
            rest[(size_t)ao[i] * N + j] = rest[j * N + (size_t)ao[i]] = 0;
    CHECK(fmo_fock_build(w->plan, rest, J, K, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_nuclear_attraction(basis, own, &err) == FMO_OK, "%s", err.message);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const size_t at = (size_t)ao[i] * N + (size_t)ao[j];
            U[i * n + j] = w->V[at] - own[i * n + j] + J[at];
            H[i * n + j] = w->T[at] + w->V[at] + J[at];
        }
    fmo_scf_options o;
    fmo_scf_result *r = NULL;
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_REFERENCE;
    o.gradient_convergence = 1e-8;
    o.energy_convergence = 1e-11;
    const fmo_scf_input input = {.basis = basis,
                                 .electron_num = fmo_dataset_electron_num(d),
                                 .core_hamiltonian = H,
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(d)};
    CHECK(fmo_scf_run(&input, &o, &r, &err) == FMO_OK, "%s", err.message);
    double energy = r->energy, old = 0.0;
    *U_energy = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const size_t at = (size_t)ao[i] * N + (size_t)ao[j];
            energy -= r->density[i * n + j] * U[i * n + j];
            *U_energy += r->density[i * n + j] * U[i * n + j];
            old += w->D[at] * U[i * n + j]; /* of D^I (+) D^J: off-diagonal blocks are 0 */
            if (out) out[at] = r->density[i * n + j];
        }
    *U_energy -= old;
    fmo_scf_result_destroy(r);
    fmo_dataset_destroy(d);
    free(rest), free(J), free(K), free(own), free(H), free(U);
    return energy;
}

/* Electrostatics of two monomers, of their blocks of whole matrices. */
static double pair_electrostatics(const whole *w, int i, int j)
{
    fmo_error err = {FMO_OK, ""};
    const int pair[] = {i, j};
    const size_t N = (size_t)w->n;
    double energy = 0.0, *D[2], *V = calloc(N * N, sizeof *V), *K = calloc(N * N, sizeof *K);
    double charge[2][64], coord[2][192];
    int atoms[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        D[k] = calloc(N * N, sizeof *D[k]);
        for (int a = w->begin[pair[k]]; a < w->begin[pair[k] + 1]; a++)
            for (int b = w->begin[pair[k]]; b < w->begin[pair[k] + 1]; b++)
                D[k][(size_t)a * N + (size_t)b] = w->D[(size_t)a * N + (size_t)b];
        for (int a = 0; a < w->s->atom_num; a++) {
            if (w->s->fragment[a] != pair[k]) continue;
            memcpy(coord[k] + 3 * atoms[k], w->s->coord + 3 * a, 3 * sizeof(double));
            charge[k][atoms[k]++] = w->s->number[a];
        }
    }
    for (int k = 0; k < 2; k++) {
        CHECK(fmo_charge_attraction(w->basis, atoms[k], charge[k], coord[k], V, &err) == FMO_OK,
              "%s", err.message);
        for (size_t at = 0; at < N * N; at++) energy += D[1 - k][at] * V[at];
    }
    CHECK(fmo_fock_build(w->plan, D[0], V, K, &err) == FMO_OK, "%s", err.message);
    for (size_t at = 0; at < N * N; at++) energy += D[1][at] * V[at];
    for (int a = 0; a < atoms[0]; a++)
        for (int b = 0; b < atoms[1]; b++) {
            const double *p = coord[0] + 3 * a, *q = coord[1] + 3 * b;
            energy +=
                charge[0][a] * charge[1][b] / hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
        }
    free(D[0]), free(D[1]), free(V), free(K);
    return energy;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    folder = argv[1];
    fmo_error err = {FMO_OK, ""};
    fmo_fragment_system *s = read_case("water3_sto-3g");
    s->aoc_from = s->ptc_from = s->es_dimers_from = 1e9;
    fmo_fragment_result *r = run(s, 0, 1e-10);
    fmo_basis_set *set = read_basis(s->basis);
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_REFERENCE;
    const fmo_molecule molecule = {
        .nucleus_num = s->atom_num, .number = s->number, .coord = s->coord};
    const int begin[] = {0, 7, 14, 21};
    fmo_dataset *d = NULL;
    whole w = {.n = 21, .s = s, .set = set, .begin = begin};
    const size_t size = (size_t)(w.n * w.n);
    double *next = calloc(size, sizeof *next), energy = 0.0, before = 1.0, total = 0.0, change;
    w.T = calloc(size, sizeof *w.T), w.V = calloc(size, sizeof *w.V);
    w.D = calloc(size, sizeof *w.D);
    CHECK(fmo_dataset_create(&molecule, set, 0, &d, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_fock_plan_create(fmo_dataset_basis(d), &o, &w.plan, &err) == FMO_OK, "%s",
          err.message);
    w.basis = fmo_dataset_basis(d);
    CHECK(fmo_kinetic(fmo_dataset_basis(d), w.T, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_nuclear_attraction(fmo_dataset_basis(d), w.V, &err) == FMO_OK, "%s", err.message);
    /* Bare nuclei around the first time would be a field that nothing screens: start from atoms. */
    double *atoms = calloc(size, sizeof *atoms);
    CHECK(fmo_scf_atomic_densities(fmo_dataset_basis(d), atoms, &err) == FMO_OK, "%s", err.message);
    memcpy(w.D, atoms, size * sizeof *atoms);
    double monomer[3];
    for (int it = 0; it < 100 && fabs(energy - before) > 1e-11; it++) {
        before = energy;
        energy = 0.0;
        for (int k = 0; k < 3; k++) energy += monomer[k] = part_energy(&w, &k, 1, next, &change);
        memcpy(w.D, next, size * sizeof *next);
    }
    total = energy;
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) {
            const int both[] = {i, j};
            total += part_energy(&w, both, 2, NULL, &change) - monomer[i] - monomer[j];
            total += change;
        }
    for (int k = 0; k < r->pair_num; k++) {
        const fmo_fragment_pair *p = &r->pair[k];
        const double es = pair_electrostatics(&w, p->i, p->j);
        CHECK(fabs(p->electrostatic - es) < 1e-7,
              "brute force: electrostatics of %d, %d: %.10f, %.10f", p->i + 1, p->j + 1, es,
              p->electrostatic);
        printf("brute force: electrostatics of %d, %d %.1e hartree\n", p->i + 1, p->j + 1,
               p->electrostatic - es);
    }
    CHECK(fabs(r->energy1 - energy) < 1e-8 && fabs(r->energy2 - total) < 1e-8,
          "brute force: FMO1 %.10f, FMO2 %.10f; ours %.10f, %.10f", energy, total, r->energy1,
          r->energy2);
    printf("brute force: FMO1 %.1e, FMO2 %.1e hartree\n", r->energy1 - energy, r->energy2 - total);
    fmo_fock_plan_destroy(w.plan);
    fmo_dataset_destroy(d);
    fmo_basis_set_destroy(set);
    fmo_fragment_result_destroy(r);
    fmo_fragment_system_destroy(s);
    free(next), free(w.T), free(w.V), free(w.D), free(atoms);
    return check_summary();
}
