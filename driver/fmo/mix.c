/* Fields from one iteration of the monomers to the next, by Pulay's DIIS (Chem. Phys. Lett. 73, 393
 * (1980)): V is the field that monomers were solved in, U(V) the field of the densities that came
 * of it, and the next one is sum_k c_k U(V_k) with sum_k c_k = 1 and the least norm of sum_k c_k
 * [U(V_k) - V_k]. Fields are linear in densities, so this is the field of mixed densities. */
#include "driver/fmo/internal.h"
#include "driver/scf/diis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 8 };

struct fmo_mixer {
    size_t size;                          /* elements of all fields */
    int held, newest;                     /* slots in use, and the last one filled */
    double *V;                            /* [size] of this iteration */
    double *U[KEPT], *error[KEPT];        /* [size] */
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX]; /* products of errors, by slot */
};

void fmo_mixer_destroy(fmo_mixer *x)
{
    if (!x) return;
    for (int k = 0; k < KEPT; k++) {
        free(x->U[k]);
        free(x->error[k]);
    }
    free(x->V);
    free(x);
}

fmo_mixer *fmo_mixer_create(const fmo_fragments *f)
{
    fmo_mixer *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    for (int k = 0; k < f->system->fragment_num; k++)
        x->size += (size_t)f->monomer[k].nao * (size_t)f->monomer[k].nao;
    int good = (x->V = calloc(x->size, sizeof(double))) != NULL;
    for (int k = 0; k < KEPT && good; k++) {
        x->U[k] = calloc(x->size, sizeof(double));
        x->error[k] = calloc(x->size, sizeof(double));
        good = x->U[k] && x->error[k];
    }
    x->newest = -1;
    if (good) return x;
    fmo_mixer_destroy(x);
    return NULL;
}

/* All fields in a row, to or from an array. */
static void copy_fields(fmo_fragments *f, double *array, int to_array)
{
    for (int k = 0; k < f->system->fragment_num; k++) {
        fmo_part *m = &f->monomer[k];
        const size_t size = (size_t)m->nao * (size_t)m->nao;
        memcpy(to_array ? array : m->field, to_array ? m->field : array, size * sizeof *array);
        array += size;
    }
}

double fmo_mixer_next(fmo_mixer *x, fmo_fragments *f, int first)
{
    if (first) {
        copy_fields(f, x->V, 1);
        return NAN;
    }
    const int new = x->newest = (x->newest + 1) % KEPT;
    if (x->held < KEPT) x->held++;
    copy_fields(f, x->U[new], 1);
    for (size_t i = 0; i < x->size; i++) x->error[new][i] = x->U[new][i] - x->V[i];
    for (int k = 0; k < x->held; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < x->size; i++) sum += x->error[k][i] * x->error[new][i];
        x->B[k][new] = x->B[new][k] = sum;
    }
    /* Slots from the oldest to the newest. */
    int slot[KEPT];
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX], c[FMO_DIIS_MAX];
    for (int k = 0; k < x->held; k++) slot[k] = (new + 1 + k + KEPT - x->held) % KEPT;
    for (int k = 0; k < x->held; k++)
        for (int l = 0; l < x->held; l++) B[k][l] = x->B[slot[k]][slot[l]];
    fmo_diis_coefficients(x->held, (const double(*)[FMO_DIIS_MAX])B, c);
    memset(x->V, 0, x->size * sizeof *x->V);
    for (int k = 0; k < x->held; k++)
        for (size_t i = 0; i < x->size; i++) x->V[i] += c[k] * x->U[slot[k]][i];
    copy_fields(f, x->V, 0);
    return sqrt(x->B[new][new] / f->system->fragment_num);
}
