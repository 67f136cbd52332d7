/* Gradient and orbital Hessian of ROHF against finite differences, at orbitals that are not
 * stationary: energies and gradients of orbitals C exp(t k) for random rotations k. */
#include "driver/scf/hessian.h"
#include "tests/support/check.h"
#include "tests/support/molecule.h"

enum { VECTORS = 3 };
static const double step = 1e-4;

/* Sets the orbitals of both channels, [m][m], their density, and the Fock matrices. @return the
 * energy */
static double set_orbitals(fmo_scf_state *s, const double *C)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    for (size_t c = 0; c < 2; c++) {
        op->add(s->la, mm, 1.0, C, 0.0, s->orbitals + c * mm);
        op->multiply(s->la, 2.0, fmo_matrix_of(C, s->m, s->occupied[c]),
                     fmo_transpose_of(C, s->m, s->occupied[c]), 0.0, s->density_o + c * mm);
    }
    fmo_scf_density_from_orthogonal(s);
    return fmo_scf_build(s, FMO_SCF_FULL);
}

/* Moves to the orbitals C exp(t k) with k of a vector, and computes the gradient. h is that of the
 * orbitals C. @return the energy */
static double gradient_at(fmo_hessian *h, double t, const double *vector, const double *C,
                          double *gradient)
{
    fmo_scf_state *const s = h->s;
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    double *const moved = op->allocate(s->la, mm), *const term = op->allocate(s->la, mm),
                  *const next = op->allocate(s->la, mm);
    set_orbitals(s, C);
    fmo_hessian_rotation(h, vector);
    op->add(s->la, mm, 1.0, C, 0.0, moved);
    op->add(s->la, mm, 1.0, C, 0.0, term);
    for (int k = 1; k < 10; k++) { /* Taylor's series */
        op->multiply(s->la, t / k, fmo_matrix_of(h->rotation, s->m, s->m),
                     fmo_matrix_of(term, s->m, s->m), 0.0, next);
        op->add(s->la, mm, 1.0, next, 0.0, term);
        op->add(s->la, mm, 1.0, term, 1.0, moved);
    }
    const double energy = set_orbitals(s, moved);
    fmo_hessian_update(h);
    for (int c = 0; c < 2; c++) fmo_hessian_project(h, c, 1.0, h->error, 0.0, gradient);
    op->release(s->la, moved);
    op->release(s->la, term);
    op->release(s->la, next);
    return energy;
}

static double dot(const fmo_hessian *h, const double *x, const double *y)
{
    double sum = NAN;
    h->s->la->ops->dots(h->s->la, h->size, 1, x, y, &sum);
    return sum;
}

/* Compares with central differences: 2 g x with that of the energy, and x_i H x_j with the mean of
 * x_i g'(x_j) and x_j g'(x_i), since g is the gradient in the basis of the moved orbitals. */
static void compare(const char *name, fmo_hessian *h, const double *C)
{
    fmo_linalg *const la = h->s->la;
    const fmo_linalg_ops *op = la->ops;
    double *const gradient = op->allocate(la, h->size), *const ahead = op->allocate(la, h->size),
                  *const slope = op->allocate(la, VECTORS * h->size);
    unsigned long long seed = 3;
    gradient_at(h, 0.0, h->V, C, gradient);
    for (int v = 0; v < VECTORS; v++) {
        for (size_t k = 0; k < h->size; k++) h->residual[k] = check_random(&seed) - 0.5;
        CHECK(fmo_hessian_add(h, h->residual), "%s: vector %d", name, v);
    }
    for (int v = 0; v < VECTORS; v++) {
        const double *const x = h->V + (size_t)v * h->size;
        double *const of = slope + (size_t)v * h->size;
        const double up = gradient_at(h, step, x, C, ahead), down = gradient_at(h, -step, x, C, of);
        op->add(la, h->size, 0.5 / step, ahead, -0.5 / step, of);
        const double got = (up - down) / (2.0 * step), expected = 2.0 * dot(h, gradient, x);
        CHECK(fabs(got - expected) < 1e-6 && fabs(expected) > 1e-2, "%s: slope %.9f, gradient %.9f",
              name, got, expected);
    }
    for (int i = 0; i < VECTORS; i++)
        for (int j = 0; j < VECTORS; j++) {
            const size_t a = (size_t)i * h->size, b = (size_t)j * h->size;
            const double expected =
                0.5 * (dot(h, h->V + a, slope + b) + dot(h, h->V + b, slope + a));
            const double got = dot(h, h->V + a, h->AV + b);
            CHECK(fabs(got - expected) < 1e-6 && (i != j || fabs(got) > 0.1),
                  "%s: element %d, %d: %.9f, of differences %.9f", name, i, j, got, expected);
        }
    op->release(la, gradient);
    op->release(la, ahead);
    op->release(la, slope);
}

/* A vector that is kept and taken is the same. */
static void check_kept(const char *name, fmo_hessian *h)
{
    fmo_scf_state *const s = h->s;
    double *const kept = s->la->ops->allocate(s->la, 2 * (size_t)s->m * (size_t)s->m), worst = 0.0;
    fmo_hessian_keep(h, h->V, kept);
    fmo_hessian_take(h, kept, h->residual);
    for (size_t k = 0; k < h->size; k++) worst = fmax(worst, fabs(h->V[k] - h->residual[k]));
    CHECK(worst < 1e-12, "%s: a kept vector changes by %g", name, worst);
    s->la->ops->release(s->la, kept);
}

static void test(const char *name, const fmo_dataset *dataset, int charge, int multiplicity)
{
    const fmo_scf_shared alone = {0};
    const fmo_scf_input in = {.basis = fmo_dataset_basis(dataset),
                              .electron_num = fmo_dataset_electron_num(dataset) - charge,
                              .multiplicity = multiplicity};
    fmo_scf_state s = {.n = fmo_basis_ao_num(in.basis), .channels = 2, .restricted = 1};
    fmo_scf_options o;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    o.fock.threads = 2;
    o.fock.cutoff = 0.0;
    s.occupied[0] = (in.electron_num + multiplicity - 1) / 2;
    s.occupied[1] = in.electron_num - s.occupied[0];
    s.orbital_energy = calloc(2 * (size_t)s.n, sizeof(double));
    fmo_scf_result *const r = fmo_scf_new_result(s.n, 2, 1);
    fmo_status status = fmo_scf_open(&in, &o, &alone, &s, r, &err);
    if (status == FMO_OK) fmo_scf_allocate(&s, 2);
    if (status == FMO_OK) status = fmo_scf_one_electron(&s, &in, NULL, r, &err);
    if (status == FMO_OK) status = fmo_scf_orthogonalise(&s, r, 1e-7, &err);
    CHECK(status == FMO_OK && s.la->error.status == FMO_OK, "%s: %s", name, err.message);
    if (status == FMO_OK) {
        const size_t mm = (size_t)s.m * (size_t)s.m;
        unsigned long long seed = 7;
        fmo_hessian h = fmo_hessian_of(&s);
        double *const C = s.la->ops->allocate(s.la, mm);
        fmo_hessian_open(&h);
        for (int c = 0; c < 2; c++)
            s.la->ops->upload(s.la, (size_t)s.n * (size_t)s.n, r->core_hamiltonian,
                              fmo_scf_of_channel(&s, s.core, c));
        fmo_scf_to_orthogonal(&s, s.core, C); /* near orbitals, and not block-diagonal */
        for (size_t k = 0; k < mm; k++) C[k] += check_random(&seed) - 0.5;
        s.la->ops->fold(s.la, s.m, 0.5, 1.0, C);
        s.la->ops->eigen(s.la, s.m, C, s.orbital_energy);
        compare(name, &h, C);
        check_kept(name, &h);
        fmo_hessian_close(&h);
        s.la->ops->release(s.la, C);
    }
    fmo_scf_release(&s);
    fmo_fock_plan_destroy(s.plan);
    if (s.la) s.la->ops->close(s.la);
    free(s.orbital_energy);
    fmo_scf_result_destroy(r);
}

int main(void)
{
    fmo_dataset *const water = molecule_dataset("water001", "6-31g(d)");
    fmo_dataset *const sulfide = molecule_dataset("h2s", "6-31g");
    if (water && sulfide) {
        test("H2O+", water, 1, 2);
        test("H2O, quintet", water, 0, 5);
        test("H2O9+, no closed orbital", water, 9, 2);
        test("H2S, triplet", sulfide, 0, 3);
    }
    fmo_dataset_destroy(water);
    fmo_dataset_destroy(sulfide);
    return check_summary();
}
