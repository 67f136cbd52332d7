/* Writes orbitals as a Molden file (G. Schaftenaar, J. H. Noordik, J. Comput.-Aided Mol. Des. 14,
 * 123 (2000)). Contraction coefficients refer to normalised primitives; contractions and functions
 * are normalised. Functions are ordered nucleus by nucleus, first s shells, then p (x y z), then d
 * (xx yy zz xy xz yz, or after [5D] m = 0 +1 -1 +2 -2), f and g. Next: io/basis_set/norm.h. */
#define _GNU_SOURCE /* uselocale, open_memstream */
#include "io/basis_set/norm.h"
#include "io/dataset/dataset_internal.h"
#include "io/dataset/order.h"
#include "io/output/file.h"
#include "io/output/kind.h"
#include "io/output/wavefunction_internal.h"
#include "integrals/norms.h"
#include <fmo/molecule.h>
#include <fmo/version.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct writer {
    const fmo_dataset *d;
    const fmo_wavefunction *wf;
    FILE *stream;
    int *order;      /* [shell_num] index of each shell in the file */
    int *prim_begin; /* [shell_num+1] offsets into prim */
    int *prim;       /* [prim_num] indices of primitives, shell by shell */
    int *ao;         /* [nao] index in the data set of each function of the file */
    double *scale;   /* [nao] by function of the file: the data set's function is scale times the
                        file's */
} writer;

FMO_STATIC_ASSERT(FMO_SHELL_KIND_COUNT == 5,
                  "molden.c: order of shells and of functions, marks like "
                  "[5D], for s, p, d, f and g alone")
enum { KINDS = FMO_SHELL_KIND_COUNT };

/* Returns the component (fmo_basis_input.ao_component) of function k of a shell in the file. */
static int component_of(int ang_mom, int k, bool cartesian)
{
    static const int place[KINDS][15] = {{0},
                                         {0, 1, 2},
                                         {0, 3, 5, 1, 2, 4},
                                         {0, 6, 9, 3, 1, 2, 5, 8, 7, 4},
                                         {0, 10, 14, 1, 2, 6, 11, 9, 13, 3, 5, 12, 4, 7, 8}};
    return cartesian ? place[ang_mom][k] : k;
}

/* Sorts shells by nucleus, then by angular momentum, by a stable counting sort. next: workspace. */
static void order_shells(writer *w, int *next)
{
    const fmo_basis_input *in = &w->d->input;
    for (int n = 0; n <= KINDS * in->nucleus_num; n++) next[n] = 0;
    for (int s = 0; s < in->shell_num; s++)
        next[KINDS * in->shell_nucleus[s] + in->shell_ang_mom[s] + 1]++;
    for (int n = 1; n <= KINDS * in->nucleus_num; n++) next[n] += next[n - 1];
    for (int s = 0; s < in->shell_num; s++)
        w->order[next[KINDS * in->shell_nucleus[s] + in->shell_ang_mom[s]]++] = s;
}

static void group_primitives(writer *w)
{
    const fmo_basis_input *in = &w->d->input;
    for (int k = 0; k < in->prim_num; k++) w->prim_begin[in->prim_shell[k] + 1]++;
    for (int s = 0; s < in->shell_num; s++) w->prim_begin[s + 1] += w->prim_begin[s];
    for (int k = in->prim_num - 1; k >= 0; k--) /* moves the ends of shells to their beginnings */
        w->prim[--w->prim_begin[in->prim_shell[k] + 1]] = k;
    for (int s = 0; s < in->shell_num; s++) w->prim_begin[s] = w->prim_begin[s + 1];
    w->prim_begin[in->shell_num] = in->prim_num;
}

/* Computes exponents, and coefficients of normalised primitives, of a shell. Returns the number of
 * its primitives. */
static int contraction(const writer *w, int shell, double *exponent, double *coefficient)
{
    const fmo_basis_input *in = &w->d->input;
    int n = 0;
    for (int p = w->prim_begin[shell]; p < w->prim_begin[shell + 1]; p++, n++) {
        int k = w->prim[p];
        exponent[n] = in->prim_exponent[k];
        coefficient[n] =
            in->prim_coefficient[k] / fmo_primitive_norm(in->shell_ang_mom[shell], exponent[n]);
    }
    return n;
}

/* Writes [5D7F] or [5D], which means the same, for spherical functions, and [9G] for those of g
 * shells; without it, functions in a Molden file are Cartesian. */
static void put_form(const writer *w)
{
    const fmo_basis_input *in = &w->d->input;
    int largest = 0;
    for (int s = 0; s < in->shell_num; s++)
        if (in->shell_ang_mom[s] > largest) largest = in->shell_ang_mom[s];
    if (fmo_shell_has_forms(largest) && !w->d->cartesian)
        fprintf(w->stream, "%s%s", largest > 2 ? "[5D7F]\n" : "[5D]\n",
                largest > 3 ? "[9G]\n" : "");
}

static void put_atoms(const writer *w)
{
    const fmo_basis_input *in = &w->d->input;
    fprintf(w->stream, FMO_MOLDEN_HEAD FMO_VERSION_STRING "\n[Atoms] AU\n");
    for (int i = 0; i < in->nucleus_num; i++)
        fprintf(w->stream, "%-2s %6d %3d %24.16e %24.16e %24.16e\n",
                fmo_element_symbol(w->d->number[i]), i + 1,
                in->nucleus_charge[i] != 0.0 ? w->d->number[i] : 0, /* 0: a ghost atom */
                in->nucleus_coord[3 * i], in->nucleus_coord[3 * i + 1],
                in->nucleus_coord[3 * i + 2]);
}

/* Writes the basis, and stores the index and scale of each of its functions (w->ao, w->scale).
 * ao_of: index of each component of each shell in the data set. */
static void put_basis(writer *w, double *exponent, double *coefficient, const int *ao_of)
{
    const fmo_basis_input *in = &w->d->input;
    int at = 0, next = 0;
    fprintf(w->stream, "[GTO]\n");
    for (int nucleus = 0; nucleus < in->nucleus_num; nucleus++) {
        fprintf(w->stream, "%6d 0\n", nucleus + 1);
        for (; at < in->shell_num && in->shell_nucleus[w->order[at]] == nucleus; at++) {
            int shell = w->order[at], l = in->shell_ang_mom[shell];
            int n = contraction(w, shell, exponent, coefficient);
            double norm = sqrt(fmo_contraction_overlap(l, n, exponent, coefficient));
            fprintf(w->stream, " %c %4d 1.00\n", fmo_shell_letter(l), n);
            for (int k = 0; k < n; k++)
                fprintf(w->stream, "%24.16e %24.16e\n", exponent[k], coefficient[k] / norm);
            for (int k = 0; k < fmo_shell_functions_of(l, w->d->cartesian); k++, next++) {
                const int c = component_of(l, k, w->d->cartesian);
                w->ao[next] = ao_of[FMO_SHELL_FUNCTIONS_MAX * shell + c];
                w->scale[next] =
                    norm * in->ao_factor[w->ao[next]] / fmo_function_factor(w->d->cartesian, l, c);
            }
        }
        fprintf(w->stream, "\n");
    }
}

/* Writes the orbitals of one spin. */
static void put_orbitals(const writer *w, const char *spin, const double *coefficient,
                         const double *energy, const double *occupation)
{
    size_t nao = (size_t)w->d->nao;
    for (int m = 0; m < w->wf->mo_num; m++) {
        const double *c = coefficient + (size_t)m * nao;
        fprintf(w->stream, " Sym= A\n Ene= %.16e\n Spin= %s\n Occup= %.10f\n", energy[m], spin,
                occupation[m]);
        for (size_t i = 0; i < nao; i++)
            fprintf(w->stream, "%6zu %24.16e\n", i + 1, w->scale[i] * c[w->ao[i]]);
    }
}

/* Writes the whole text into a memory stream. Returns false if there is no memory. */
static bool put_all(writer *w)
{
    const fmo_basis_input *in = &w->d->input;
    size_t shells = (size_t)in->shell_num, prims = (size_t)in->prim_num, nao = (size_t)w->d->nao;
    w->order = calloc(shells, sizeof *w->order);
    w->prim_begin = calloc(shells + 1, sizeof *w->prim_begin);
    w->prim = calloc(prims, sizeof *w->prim);
    w->ao = calloc(nao, sizeof *w->ao);
    w->scale = calloc(nao, sizeof *w->scale);
    int *next = calloc(KINDS * (size_t)in->nucleus_num + 1, sizeof *next);
    int *ao_of = calloc(FMO_SHELL_FUNCTIONS_MAX * shells, sizeof *ao_of);
    double *exponent = calloc(prims, sizeof *exponent);
    double *coefficient = calloc(prims, sizeof *coefficient);
    bool good = w->order && w->prim_begin && w->prim && w->ao && w->scale && next && ao_of &&
                exponent && coefficient;
    if (good) {
        order_shells(w, next);
        group_primitives(w);
        for (size_t i = 0; i < nao; i++)
            ao_of[FMO_SHELL_FUNCTIONS_MAX * in->ao_shell[i] + in->ao_component[i]] = (int)i;
        put_atoms(w);
        put_basis(w, exponent, coefficient, ao_of);
        put_form(w);
        fprintf(w->stream, "[MO]\n");
        put_orbitals(w, "Alpha", w->wf->coefficient, w->wf->energy, w->wf->occupation);
        if (w->wf->coefficient_beta)
            put_orbitals(w, "Beta", w->wf->coefficient_beta, w->wf->energy_beta,
                         w->wf->occupation_beta);
    }
    free(next);
    free(ao_of);
    free(exponent);
    free(coefficient);
    free(w->order);
    free(w->prim_begin);
    free(w->prim);
    free(w->ao);
    free(w->scale);
    return good;
}

/* Formats the text in the "C" locale of this thread, then writes the file. */
fmo_status fmo_wavefunction_write_molden(const char *path, const fmo_dataset *dataset,
                                         const fmo_wavefunction *wavefunction, fmo_error *err)
{
    fmo_status status =
        fmo_wavefunction_check(path, dataset, wavefunction, "fmo_wavefunction_write_molden", err);
    if (status != FMO_OK) return status;
    writer w = {.d = dataset, .wf = wavefunction};
    fmo_output output;
    char *text = NULL;
    size_t size = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* for decimal points */
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    status = fmo_output_open(&output, path, dataset, err);
    if (status == FMO_OK) {
        w.stream = plain ? open_memstream(&text, &size) : NULL;
        bool good = w.stream && put_all(&w) && !ferror(w.stream);
        if (w.stream && fclose(w.stream) != 0) good = false;
        if (!good) status = fmo_output_fail(&output, FMO_ERR_MEMORY, "no memory to write it");
    }
    if (status == FMO_OK) status = fmo_output_write(&output, text, size);
    fmo_output_close(&output);
    if (before) uselocale(before);
    if (plain) freelocale(plain);
    free(text);
    return status;
}
