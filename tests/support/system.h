/* Random small molecules and densities for the Fock tests. */
#ifndef FMO_TESTS_TEST_SYSTEM_H
#define FMO_TESTS_TEST_SYSTEM_H

#include <fmo/fock.h>

#include "tests/support/check.h"

enum { SYSTEM_SHELL_MAX = 256, SYSTEM_DEPTH_MAX = 6 };

typedef struct test_system {
    int nuclei, shells, prims, aos;
    double charge[SYSTEM_SHELL_MAX], coord[3 * SYSTEM_SHELL_MAX];
    int nucleus[SYSTEM_SHELL_MAX], ang_mom[SYSTEM_SHELL_MAX];
    int prim_shell[SYSTEM_SHELL_MAX * SYSTEM_DEPTH_MAX];
    double exponent[SYSTEM_SHELL_MAX * SYSTEM_DEPTH_MAX];
    double coefficient[SYSTEM_SHELL_MAX * SYSTEM_DEPTH_MAX];
    int ao_shell[15 * SYSTEM_SHELL_MAX], ao_component[15 * SYSTEM_SHELL_MAX];
    double ao_factor[15 * SYSTEM_SHELL_MAX];
    int cartesian; /* Cartesian functions of a shell, else spherical ones; set it before adding
                      shells */
} test_system;

static inline void system_add_atom(test_system *s, double x, double y, double z)
{
    s->coord[3 * s->nuclei] = x;
    s->coord[3 * s->nuclei + 1] = y;
    s->coord[3 * s->nuclei + 2] = z;
    s->charge[s->nuclei++] = 1.0;
}

/* A shell on the last atom with random exponents in [0.1, 30) and roughly normalised primitives. */
static inline void system_add_shell(test_system *s, int l, int depth, unsigned long long *seed)
{
    const int shell = s->shells++;
    s->nucleus[shell] = s->nuclei - 1;
    s->ang_mom[shell] = l;
    double norm = 1.0;
    for (int m = 3; m < 2 * l; m += 2) norm /= sqrt(m);
    for (int k = 0; k < depth; k++, s->prims++) {
        const double a = 0.1 * pow(300.0, check_random(seed));
        s->prim_shell[s->prims] = shell;
        s->exponent[s->prims] = a;
        s->coefficient[s->prims] = (0.2 + 0.8 * check_random(seed)) * pow(2 * a / M_PI, 0.75) *
                                   norm * pow(2 * sqrt(a), l) / depth;
    }
    const int functions = s->cartesian ? (l + 1) * (l + 2) / 2 : 2 * l + 1;
    for (int c = 0; c < functions; c++, s->aos++) {
        s->ao_shell[s->aos] = shell;
        s->ao_component[s->aos] = c;
        s->ao_factor[s->aos] = 1.0;
    }
}

/* A p shell that shares exponents with the last shell, which is s: a Pople sp set. */
static inline void system_add_partner(test_system *s, unsigned long long *seed)
{
    const int end = s->prims;
    int depth = 0;
    while (depth < end && s->prim_shell[end - 1 - depth] == s->shells - 1) depth++;
    system_add_shell(s, 1, depth, seed);
    for (int k = end; k < s->prims; k++) {
        const double a = s->exponent[k - depth];
        s->exponent[k] = a;
        s->coefficient[k] =
            (0.2 + 0.8 * check_random(seed)) * pow(2 * a / M_PI, 0.75) * 2 * sqrt(a) / depth;
    }
}

/* s_shells and p_shells spread over atoms at random in a box. */
static inline void system_random(test_system *s, int atoms, int s_shells, int p_shells, int depth,
                                 double box, unsigned long long *seed)
{
    memset(s, 0, sizeof *s);
    int left[2] = {s_shells, p_shells};
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, box * check_random(seed), box * check_random(seed),
                        box * check_random(seed));
        for (int l = 0; l <= 1; l++) {
            const int take = left[l] / (atoms - a);
            for (int k = 0; k < take; k++)
                system_add_shell(s, l, 1 + (int)(check_random(seed) * depth), seed);
            left[l] -= take;
        }
    }
}

/* The same with shells of `kinds` kinds. */
static inline void system_random_kinds(test_system *s, int cartesian, int atoms, int kinds,
                                       const int *shells, int depth, double box,
                                       unsigned long long *seed)
{
    memset(s, 0, sizeof *s);
    s->cartesian = cartesian;
    int left[8] = {0};
    memcpy(left, shells, (size_t)kinds * sizeof *shells);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, box * check_random(seed), box * check_random(seed),
                        box * check_random(seed));
        for (int l = 0; l < kinds; l++) {
            const int take = left[l] / (atoms - a);
            for (int k = 0; k < take; k++)
                system_add_shell(s, l, 1 + (int)(check_random(seed) * depth), seed);
            left[l] -= take;
        }
    }
}

/* The same with d shells. */
static inline void system_random_d(test_system *s, int cartesian, int atoms, const int shells[3],
                                   int depth, double box, unsigned long long *seed)
{
    system_random_kinds(s, cartesian, atoms, 3, shells, depth, box, seed);
}

/* Shuffle the functions and give each a factor of its own, also inside a shell. */
static inline void system_shuffle_functions(test_system *s, unsigned long long *seed)
{
    for (int i = s->aos - 1; i > 0; i--) {
        const int j = (int)(check_random(seed) * (i + 1));
        const int shell = s->ao_shell[i], component = s->ao_component[i];
        s->ao_shell[i] = s->ao_shell[j];
        s->ao_component[i] = s->ao_component[j];
        s->ao_shell[j] = shell;
        s->ao_component[j] = component;
    }
    for (int i = 0; i < s->aos; i++)
        s->ao_factor[i] = (check_random(seed) < 0.5 ? -1 : 1) * (0.3 + 2.0 * check_random(seed));
}

/* Three molecules: of s and p shells, shuffled; with d shells; and with so many shells of each kind
 * up to f. */
static inline void system_random_each(test_system *p, test_system *d, test_system *f,
                                      const int kinds[4], unsigned long long *seed)
{
    static const int shells[3] = {4, 3, 3};
    system_random(p, 5, 7, 6, 3, 6.0, seed);
    system_random_d(d, 0, 3, shells, 3, 5.0, seed);
    system_random_kinds(f, 0, 3, 4, kinds, 2, 5.0, seed);
    system_shuffle_functions(p, seed);
}

static inline fmo_basis_input system_input(const test_system *s)
{
    const fmo_basis_input in = {s->nuclei,       s->charge,      s->coord,    s->shells,
                                s->nucleus,      s->ang_mom,     s->prims,    s->prim_shell,
                                s->exponent,     s->coefficient, s->aos,      s->ao_shell,
                                s->ao_component, s->ao_factor,   s->cartesian};
    return in;
}

static inline fmo_basis *system_basis(const test_system *s)
{
    const fmo_basis_input in = system_input(s);
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_basis_create(&in, &basis, &err);
    CHECK(basis != NULL, "%s", err.message);
    return basis;
}

/* Symmetric with elements in (-size, size). Caller frees. */
static inline double *random_density(int n, double size, unsigned long long *seed)
{
    double *D = (double *)malloc((size_t)n * (size_t)n * sizeof *D);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            D[i * n + j] = D[j * n + i] = size * (2.0 * check_random(seed) - 1.0);
    return D;
}

/* For main() of a GPU test: 1 if there is a GPU; else *code is what to return. */
static inline int system_has_gpu(int *code)
{
    fmo_error err = {FMO_OK, ""};
    const fmo_status status = fmo_gpu_available(&err);
    if (status == FMO_ERR_NO_DEVICE) {
        *code = check_skip(err.message);
        return 0;
    }
    CHECK(status == FMO_OK, "%s", err.message);
    if (status != FMO_OK) *code = check_summary();
    return status == FMO_OK;
}

#endif
