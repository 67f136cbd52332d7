/* Extrapolates the fields of the monomers by Pulay's DIIS (Chem. Phys. Lett. 73, 393 (1980)): V is
 * the field in which the monomers were computed, U(V) the field of the resulting densities; the
 * next field is sum_k c_k U(V_k) with sum_k c_k = 1 and the smallest norm of sum_k c_k [U(V_k) -
 * V_k]. Fields are linear in the densities, so this is the field of extrapolated densities. */
#include "driver/fmo/internal.h"
#include "driver/base/tuning.h"
#include "driver/scf/diis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums are computed block by block, so that their bits do not depend on the number of threads. */
enum { KEPT = 8, BLOCK = fmo_tuning_mix_block };

struct fmo_mixer {
    size_t size;                          /* number of elements of all fields */
    int held, newest;                     /* number of slots in use, and the last one filled */
    double *V;                            /* [size] field of this iteration */
    double *U[KEPT], *error[KEPT];        /* [size] */
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX]; /* scalar products of errors, by slot */
    double (*product)[KEPT]; /* [number of blocks] partial products of the newest error with all
                                others */
};

static size_t blocks_of(const fmo_mixer *x)
{
    return (x->size + BLOCK - 1) / BLOCK;
}

void fmo_mixer_destroy(fmo_mixer *x)
{
    if (!x) return;
    for (int k = 0; k < KEPT; k++) {
        free(x->U[k]);
        free(x->error[k]);
    }
    free(x->V);
    free(x->product);
    free(x);
}

fmo_mixer *fmo_mixer_create(const fmo_fragments *f)
{
    fmo_mixer *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    for (int k = 0; k < f->system->fragment_num; k++)
        x->size += (size_t)f->monomer[k].nao * (size_t)f->monomer[k].nao;
    x->product = calloc(blocks_of(x) + 1, sizeof *x->product);
    int good = x->product && (x->V = calloc(x->size, sizeof(double))) != NULL;
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

/* Copies the fields of all monomers to or from one array. */
static void copy_fields(fmo_fragments *f, double *array, int to_array)
{
    for (int k = 0; k < f->system->fragment_num; k++) {
        fmo_subsystem *m = &f->monomer[k];
        const size_t size = (size_t)m->nao * (size_t)m->nao;
        memcpy(to_array ? array : m->field, to_array ? m->field : array, size * sizeof *array);
        array += size;
    }
}

/* Computes the newest error and its scalar products with all others. */
static void find_error(fmo_mixer *x, int threads)
{
    const int new = x->newest;
    const size_t blocks = blocks_of(x);
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t b = 0; b < blocks; b++) {
        const size_t begin = b * BLOCK, end = begin + BLOCK < x->size ? begin + BLOCK : x->size;
        for (size_t i = begin; i < end; i++) x->error[new][i] = x->U[new][i] - x->V[i];
        for (int k = 0; k < x->held; k++) {
            double sum = 0.0;
            for (size_t i = begin; i < end; i++) sum += x->error[k][i] * x->error[new][i];
            x->product[b][k] = sum;
        }
    }
    for (int k = 0; k < x->held; k++) {
        double sum = 0.0;
        for (size_t b = 0; b < blocks; b++) sum += x->product[b][k];
        x->B[k][new] = x->B[new][k] = sum;
    }
}

/* V = sum_k c_k U(V_k) */
static void mix(fmo_mixer *x, const int slot[KEPT], const double *c, int threads)
{
    const size_t blocks = blocks_of(x);
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t b = 0; b < blocks; b++) {
        const size_t begin = b * BLOCK, end = begin + BLOCK < x->size ? begin + BLOCK : x->size;
        for (size_t i = begin; i < end; i++) x->V[i] = c[0] * x->U[slot[0]][i];
        for (int k = 1; k < x->held; k++)
            for (size_t i = begin; i < end; i++) x->V[i] += c[k] * x->U[slot[k]][i];
    }
}

/* Adds the new fields to the history and extrapolates; in the first iteration only stores them. */
double fmo_mixer_next(fmo_mixer *x, fmo_fragments *f, int first)
{
    if (first) {
        copy_fields(f, x->V, 1);
        return NAN;
    }
    const int new = x->newest = (x->newest + 1) % KEPT;
    if (x->held < KEPT) x->held++;
    copy_fields(f, x->U[new], 1);
    find_error(x, f->threads);
    /* Slots from the oldest to the newest. */
    int slot[KEPT];
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX], c[FMO_DIIS_MAX];
    for (int k = 0; k < x->held; k++) slot[k] = (new + 1 + k + KEPT - x->held) % KEPT;
    for (int k = 0; k < x->held; k++)
        for (int l = 0; l < x->held; l++) B[k][l] = x->B[slot[k]][slot[l]];
    fmo_diis_coefficients(x->held, (const double(*)[FMO_DIIS_MAX])B, c);
    mix(x, slot, c, f->threads);
    copy_fields(f, x->V, 0);
    return sqrt(x->B[new][new] / f->system->fragment_num);
}
