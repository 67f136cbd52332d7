/* Sorting a basis by nucleus and exponent (centres.h). */
#include "integrals/one_electron/centres.h"

#include <math.h>
#include <stdlib.h>

/* A primitive of a shell, before those with one exponent are put together. */
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

/* The norm of a shell's functions, of Cartesian components the smallest; 0 where it cannot be told,
 * so that nothing of the shell is ever negligible. */
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

/* ln of |c|/norm (pi/2a)^(3/4) (1 + r)^l (1 + a); r: see docs/theory.md. */
static double prim_size(double a, double c, double norm, int ang_mom)
{
    const double r = sqrt((2 * FMO_ANG_MOM_MAX + 1) / (2.0 * a));
    if (norm == 0.0) return INFINITY;
    return log(fabs(c)) - log(norm) + 0.75 * log(M_PI / (2.0 * a)) + ang_mom * log1p(r) + log1p(a);
}

/* The primitives of one centre, from its shells. */
static void fill_prims(fmo_centres *cs, fmo_centre *centre, loose_prim *loose, int *prims,
                       int *uses)
{
    const fmo_basis *basis = cs->basis;
    size_t n = 0;
    centre->functions = centre->ang_mom = 0;
    for (int s = centre->shell_begin; s < centre->shell_end; s++) {
        const fmo_shell *shell = &basis->shell[cs->shell[s]];
        const double norm = shell_norm(basis, shell);
        for (int k = shell->prim_begin; k < shell->prim_begin + shell->prim_num; k++) {
            const double a = basis->exponent[k], c = basis->coefficient[k];
            loose[n++] = (loose_prim){a, c, prim_size(a, c, norm, shell->ang_mom), shell->ang_mom,
                                      centre->functions};
        }
        centre->functions += fmo_shell_functions(shell->ang_mom);
        if (shell->ang_mom > centre->ang_mom) centre->ang_mom = shell->ang_mom;
    }
    qsort(loose, n, sizeof *loose, by_exponent);
    centre->prim_begin = *prims;
    for (size_t k = 0; k < n; k++) {
        if (k == 0 || loose[k].exponent != loose[k - 1].exponent)
            cs->prim[(*prims)++] =
                (fmo_centre_prim){loose[k].exponent, -INFINITY, 0.0, *uses, *uses, 0, 0};
        fmo_centre_prim *prim = &cs->prim[*prims - 1];
        prim->size = fmax(prim->size, loose[k].size);
        prim->kinds |= 1u << loose[k].ang_mom;
        if (loose[k].ang_mom > prim->ang_mom) prim->ang_mom = loose[k].ang_mom;
        cs->use[prim->use_end++] =
            (fmo_centre_use){loose[k].ang_mom, loose[k].function, loose[k].coefficient};
        ++*uses;
    }
    centre->prim_end = *prims;
    double rest = -INFINITY;
    for (int k = centre->prim_end - 1; k >= centre->prim_begin; k--)
        cs->prim[k].rest = rest = fmax(rest, cs->prim[k].size);
}

/* Shells by nucleus, then in the order of the basis: a counting sort. */
static void sort_shells(fmo_centres *cs, int *begin)
{
    const fmo_basis *basis = cs->basis;
    for (int n = 0; n <= basis->nucleus_num; n++) begin[n] = 0;
    for (int s = 0; s < basis->shell_num; s++) begin[basis->shell[s].nucleus + 1]++;
    for (int n = 0; n < basis->nucleus_num; n++) begin[n + 1] += begin[n];
    for (int s = 0; s < basis->shell_num; s++) cs->shell[begin[basis->shell[s].nucleus]++] = s;
}

fmo_status fmo_centres_make(const fmo_basis *basis, fmo_centres *cs, fmo_error *err)
{
    const size_t shells = (size_t)basis->shell_num, prim_num = (size_t)basis->prim_num;
    *cs = (fmo_centres){.basis = basis};
    cs->centre = malloc(shells * sizeof *cs->centre); /* each has a shell */
    cs->prim = malloc(prim_num * sizeof *cs->prim);
    cs->use = malloc(prim_num * sizeof *cs->use);
    cs->shell = malloc(shells * sizeof *cs->shell);
    loose_prim *loose = malloc(prim_num * sizeof *loose);
    int *begin = malloc(((size_t)basis->nucleus_num + 1) * sizeof *begin), prims = 0, uses = 0;
    fmo_status status = FMO_OK;
    if (!cs->centre || !cs->prim || !cs->use || !cs->shell || !loose || !begin) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a list of %d shells",
                               basis->shell_num);
        goto done;
    }
    sort_shells(cs, begin);
    for (int s = 0; s < basis->shell_num;) {
        const fmo_shell *first = &basis->shell[cs->shell[s]];
        fmo_centre *centre = &cs->centre[cs->num++];
        for (int x = 0; x < 3; x++) centre->at[x] = first->center[x];
        centre->shell_begin = s;
        for (int functions = 0; s < basis->shell_num; s++) {
            const fmo_shell *shell = &basis->shell[cs->shell[s]];
            functions += fmo_shell_functions(shell->ang_mom);
            if (shell->nucleus != first->nucleus || functions > FMO_CENTRE_FUNCTIONS) break;
        }
        centre->shell_end = s;
        fill_prims(cs, centre, loose, &prims, &uses);
    }
done:
    free(loose);
    free(begin);
    return status;
}

void fmo_centres_free(fmo_centres *cs)
{
    free(cs->centre);
    free(cs->prim);
    free(cs->use);
    free(cs->shell);
    *cs = (fmo_centres){.basis = NULL};
}
