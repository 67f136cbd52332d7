/* Sorts a basis by nucleus and exponent; see centres.h. */
#include "integrals/one_electron/centres.h"

#include <math.h>
#include <stdlib.h>

/* A primitive of a shell, before primitives with equal exponents are merged. */
typedef struct loose_prim {
    double exponent, coefficient, size;
    int ang_mom, function;
} loose_prim;

static int by_exponent(const void *x, const void *y)
{
    const loose_prim *a = x, *b = y;
    if (a->exponent != b->exponent) return a->exponent < b->exponent ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

/* The norm of a shell's functions, the smallest of its Cartesian components; 0 if it cannot be
 * computed, so that no primitive of the shell is ever negligible. */
static double shell_norm(const fmo_basis *basis, const fmo_shell *shell)
{
    const double *a = basis->exponent + shell->prim_begin;
    const double *c = basis->coefficient + shell->prim_begin;
    double square = 0.0;
    for (int k = 0; k < shell->prim_num; k++) {
        for (int l = 0; l < shell->prim_num; l++) {
            const double p = a[k] + a[l];
            square += c[k] * c[l] * pow(M_PI / p, 1.5) * pow(0.5 / p, shell->ang_mom);
        }
    }
    return square > 0.0 && isfinite(square) ? sqrt(square) : 0.0;
}

/* ln of |c|/norm (pi/2a)^(3/4) (1 + r)^l (1 + a); for r see docs/explanation/one-electron.md. */
static double prim_size(double a, double c, double norm, int ang_mom)
{
    const double r = sqrt((2 * FMO_ANG_MOM_MAX + 1) / (2.0 * a));
    if (norm == 0.0) return INFINITY;
    return log(fabs(c)) - log(norm) + 0.75 * log(M_PI / (2.0 * a)) + ang_mom * log1p(r) + log1p(a);
}

/* Progress of filling the lists. */
typedef struct filling {
    int *shell;        /* [basis->shell_num] shells sorted by nucleus */
    loose_prim *loose; /* [basis->prim_num] */
    size_t loose_num;  /* of the current centre */
    int prims, uses, callers, terms;
} filling;

/* Adds the caller's functions of a shell, as linear combinations of Cartesian ones. */
static void add_callers(fmo_centres *cs, const fmo_shell *shell, int function, filling *f)
{
    const fmo_basis *basis = cs->basis;
    fmo_shell_transform part;
    const int num = fmo_basis_shell_transform(basis, shell, part);
    for (int m = 0; m < num; m++) {
        const int begin = f->terms;
        for (int c = 0; c < fmo_shell_functions(shell->ang_mom); c++)
            if (part[m][c] != 0.0)
                cs->term[f->terms++] = (fmo_centre_term){function + c, part[m][c]};
        cs->caller[f->callers++] =
            (fmo_centre_caller){basis->ao_caller[shell->caller_begin + m], begin, f->terms};
    }
}

static void add_shell(fmo_centres *cs, fmo_centre *centre, const fmo_shell *shell, filling *f)
{
    const fmo_basis *basis = cs->basis;
    const double norm = shell_norm(basis, shell);
    for (int k = shell->prim_begin; k < shell->prim_begin + shell->prim_num; k++) {
        const double a = basis->exponent[k], c = basis->coefficient[k];
        f->loose[f->loose_num++] = (loose_prim){a, c, prim_size(a, c, norm, shell->ang_mom),
                                                shell->ang_mom, centre->functions};
    }
    add_callers(cs, shell, centre->functions, f);
    centre->functions += fmo_shell_functions(shell->ang_mom);
    if (shell->ang_mom > centre->ang_mom) centre->ang_mom = shell->ang_mom;
}

/* Merges the primitives of a centre's shells by exponent. */
static void merge_prims(fmo_centres *cs, fmo_centre *centre, filling *f)
{
    const loose_prim *const loose = f->loose;
    qsort(f->loose, f->loose_num, sizeof *f->loose, by_exponent);
    centre->prim_begin = f->prims;
    for (size_t k = 0; k < f->loose_num; k++) {
        if (k == 0 || loose[k].exponent != loose[k - 1].exponent)
            cs->prim[f->prims++] =
                (fmo_centre_prim){loose[k].exponent, -INFINITY, 0.0, f->uses, f->uses, 0, 0};
        fmo_centre_prim *const prim = &cs->prim[f->prims - 1];
        fmo_centre_use *const last = &cs->use[f->uses - 1];
        prim->size = fmax(prim->size, loose[k].size);
        /* A shell with an exponent that occurs twice uses it once, with the sum of the
         * coefficients, so that a function is found once among the uses. */
        if (prim->use_end > prim->use_begin && last->function == loose[k].function) {
            last->coefficient += loose[k].coefficient;
            prim->size += M_LN2;
            continue;
        }
        prim->kinds |= 1u << loose[k].ang_mom;
        if (loose[k].ang_mom > prim->ang_mom) prim->ang_mom = loose[k].ang_mom;
        cs->use[f->uses++] =
            (fmo_centre_use){loose[k].ang_mom, loose[k].function, loose[k].coefficient};
        prim->use_end = f->uses;
    }
    centre->prim_end = f->prims;
    double rest = -INFINITY;
    for (int k = centre->prim_end - 1; k >= centre->prim_begin; k--)
        cs->prim[k].rest = rest = fmax(rest, cs->prim[k].size);
}

/* Sorts the shells by nucleus, otherwise in the order of the basis: a counting sort. */
static void sort_shells(const fmo_basis *basis, int *begin, int *shell)
{
    for (int n = 0; n <= basis->nucleus_num; n++) begin[n] = 0;
    for (int s = 0; s < basis->shell_num; s++) begin[basis->shell[s].nucleus + 1]++;
    for (int n = 0; n < basis->nucleus_num; n++) begin[n + 1] += begin[n];
    for (int s = 0; s < basis->shell_num; s++) shell[begin[basis->shell[s].nucleus]++] = s;
}

/* Makes the next centre, from shell s of the sorted ones on; returns the shell after its last. */
static int add_centre(fmo_centres *cs, int s, filling *f)
{
    const fmo_basis *basis = cs->basis;
    const fmo_shell *const first = &basis->shell[f->shell[s]];
    fmo_centre *const centre = &cs->centre[cs->num++];
    *centre = (fmo_centre){.nucleus = first->nucleus, .caller_begin = f->callers};
    for (int x = 0; x < 3; x++) centre->at[x] = first->centre[x];
    f->loose_num = 0;
    for (; s < basis->shell_num; s++) {
        const fmo_shell *const shell = &basis->shell[f->shell[s]];
        const int functions = centre->functions + fmo_shell_functions(shell->ang_mom);
        if (shell->nucleus != first->nucleus || functions > FMO_CENTRE_FUNCTIONS) break;
        add_shell(cs, centre, shell, f);
    }
    centre->caller_end = f->callers;
    merge_prims(cs, centre, f);
    return s;
}

/* Allocates the lists and fills them centre by centre. */
fmo_status fmo_centres_make(const fmo_basis *basis, fmo_centres *cs, fmo_error *err)
{
    const size_t shells = (size_t)basis->shell_num, prims = (size_t)basis->prim_num;
    size_t callers = 0, terms = 0;
    for (size_t s = 0; s < shells; s++) {
        const size_t functions = (size_t)fmo_shell_functions(basis->shell[s].ang_mom);
        callers += functions;
        terms += functions * functions;
    }
    filling f = {.shell = malloc(shells * sizeof *f.shell),
                 .loose = malloc(prims * sizeof *f.loose)};
    int *begin = malloc(((size_t)basis->nucleus_num + 1) * sizeof *begin);
    *cs = (fmo_centres){.basis = basis,
                        .ao_num = basis->ao_num,
                        .centre = malloc(shells * sizeof *cs->centre), /* each has a shell */
                        .prim = malloc(prims * sizeof *cs->prim),
                        .use = malloc(prims * sizeof *cs->use),
                        .caller = malloc(callers * sizeof *cs->caller),
                        .term = malloc(terms * sizeof *cs->term)};
    fmo_status status = FMO_OK;
    if (cs->centre && cs->prim && cs->use && cs->caller && cs->term && f.shell && f.loose &&
        begin) {
        sort_shells(basis, begin, f.shell);
        for (int s = 0; s < basis->shell_num;) s = add_centre(cs, s, &f);
    } else {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a list of %d shells",
                               basis->shell_num);
    }
    free(f.shell);
    free(f.loose);
    free(begin);
    return status;
}

void fmo_centres_free(fmo_centres *cs)
{
    free(cs->centre);
    free(cs->prim);
    free(cs->use);
    free(cs->caller);
    free(cs->term);
    *cs = (fmo_centres){.basis = NULL};
}
