/* The density, read as such or made from orbitals, and the overlap matrix computed from the basis,
 * which reveals conventions that the program that wrote the file did not follow. Next: reader.h. */
#include "io/trexio/reader.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <fmo/one_electron.h>

#define OVERLAP_TOLERANCE    1e-8 /* difference relative to sqrt(S_ii S_jj) */
#define OCCUPATION_TOLERANCE 1e-8 /* deviation from 0 or 2 */
#define TRACE_TOLERANCE      1e-6 /* electrons */

/* Computes the overlap matrix and compares it with that of the file, if any: a difference reveals
 * wrong factors, AO order or coordinates. */
fmo_status fmo_trexio_check_overlap(fmo_reader *r)
{
    size_t n = (size_t)r->d->nao;
    double *theirs = NULL;
    fmo_status status = fmo_trexio_allocate(r, fmo_field_title(FIELD_ao_1e_int_overlap), n * n,
                                            sizeof(double), (void **)&r->overlap);
    if (status == FMO_OK) {
        fmo_error why = {FMO_OK, ""};
        status = fmo_overlap(r->d->basis, r->overlap, &why);
        if (status != FMO_OK) fmo_store_fail(&r->store, status, NULL, "%s", why.message);
    }
    if (status != FMO_OK || !r->has[FIELD_ao_1e_int_overlap]) return status;
    status = fmo_trexio_read_reals(r, FIELD_ao_1e_int_overlap, &theirs);
    double worst = 0.0;
    size_t at = 0;
    for (size_t i = 0; status == FMO_OK && i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double scale = sqrt(r->overlap[i * n + i] * r->overlap[j * n + j]);
            double off = fabs(theirs[i * n + j] - r->overlap[i * n + j]) / scale;
            if (!(off <= worst)) {
                worst = off;
                at = i * n + j;
            }
        }
    }
    if (status == FMO_OK && !(worst <= OVERLAP_TOLERANCE)) {
        char bra[48], ket[48], name[96];
        fmo_dataset_ao_label(r->d, (int)(at / n), bra, sizeof bra);
        fmo_dataset_ao_label(r->d, (int)(at % n), ket, sizeof ket);
        snprintf(name, sizeof name, "%s[%zu][%zu]", fmo_field_title(FIELD_ao_1e_int_overlap),
                 at / n, at % n);
        status = INPUT(r, name,
                       "<%s|%s> is %.9g in the file and %.9g from its basis; factors, AO order or "
                       "coordinates do not follow TREXIO: correct the program that wrote it",
                       bra, ket, theirs[at], r->overlap[at]);
    }
    free(theirs);
    return status;
}

/* Adds D = sum_m n_m C_m C_m^T. Each element is summed in the order of m, independently of the
 * threads, so that the density, and so a bit-reproducible build, depends on the file alone. */
static void add_orbitals(size_t nao, size_t nmo, const double *C, const double *occupation,
                         double *D)
{
    enum { ROWS = 16, COLUMNS = 512 }; /* a tile of D and the rows of C that it needs fit into L2 */
    size_t tiles = (nao + ROWS - 1) / ROWS;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(nao > 256 ? fmo_threads(0) : 1)
#endif
    for (size_t tile = 0; tile < tiles; tile++) {
        size_t i0 = tile * ROWS, i1 = i0 + ROWS < nao ? i0 + ROWS : nao;
        for (size_t j0 = 0; j0 < i1; j0 += COLUMNS) {
            size_t j1 = j0 + COLUMNS < i1 ? j0 + COLUMNS : i1;
            for (size_t m = 0; m < nmo; m++) {
                const double *c = C + m * nao;
                if (occupation[m] <= 0.0) continue;
                for (size_t i = i0; i < i1; i++) {
                    double factor = occupation[m] * c[i];
                    for (size_t j = j0; j < j1; j++) D[i * nao + j] += factor * c[j];
                }
            }
        }
    }
    for (size_t i = 0; i < nao; i++)
        for (size_t j = 0; j < i; j++) D[j * nao + i] = D[i * nao + j];
}

/* Checks that occupations are 0 to 2, and adds a notice if any is fractional. */
static fmo_status check_occupations(fmo_reader *r, const double *occupation)
{
    int64_t fractional = 0, first = -1;
    for (int64_t m = 0; m < r->store.count[DIM_MO]; m++) {
        double n = occupation[m];
        if (n < -OCCUPATION_TOLERANCE || n > 2.0 + OCCUPATION_TOLERANCE) {
            char name[96];
            snprintf(name, sizeof name, "%s[%lld] = %g", fmo_field_title(FIELD_mo_occupation),
                     (long long)m, n);
            return INPUT(r, name, "expected 0 to 2; write the occupations of spatial orbitals");
        }
        if (fabs(n) > OCCUPATION_TOLERANCE && fabs(n - 2.0) > OCCUPATION_TOLERANCE) {
            if (first < 0) first = m;
            fractional++;
        }
    }
    if (fractional)
        fmo_dataset_note(r->d,
                         "%s: %lld orbitals are neither empty nor doubly occupied, the first "
                         "is orbital %lld with %.6g; J and K are of the density they give",
                         fmo_field_title(FIELD_mo_occupation), (long long)fractional,
                         (long long)first, occupation[first]);
    return FMO_OK;
}

/* Makes the density from mo/coefficient and mo/occupation. */
static fmo_status density_from_orbitals(fmo_reader *r)
{
    double *C = NULL, *occupation = NULL;
    size_t n = (size_t)r->d->nao;
    fmo_status status = fmo_trexio_read_reals(r, FIELD_mo_occupation, &occupation);
    if (status == FMO_OK) status = check_occupations(r, occupation);
    if (status == FMO_OK) status = fmo_trexio_read_reals(r, FIELD_mo_coefficient, &C);
    if (status == FMO_OK) {
        r->d->density = calloc(n * n, sizeof(double));
        if (!r->d->density)
            status =
                fmo_trexio_no_memory(r, fmo_field_title(FIELD_fmo_density), n * n * sizeof(double));
    }
    if (status == FMO_OK) {
        add_orbitals(n, (size_t)r->store.count[DIM_MO], C, occupation, r->d->density);
        status = fmo_trexio_check_finite(r, &fmo_fields[FIELD_fmo_density], r->d->density);
    }
    r->d->density_source = "mo_coefficient and mo_occupation";
    free(occupation);
    free(C);
    return status;
}

fmo_status fmo_trexio_read_density(fmo_reader *r)
{
    if (!r->has[FIELD_fmo_density]) {
        if (r->has[FIELD_mo_coefficient] && r->has[FIELD_mo_occupation])
            return density_from_orbitals(r);
        r->d->density_source = "none";
        return FMO_OK;
    }
    r->d->density_source = "/fmo/density";
    fmo_status status = fmo_trexio_read_reals(r, FIELD_fmo_density, &r->d->density);
    if (status == FMO_OK) status = fmo_trexio_symmetrize(r, FIELD_fmo_density, r->d->density);
    return status;
}

fmo_status fmo_trexio_check_trace(fmo_reader *r)
{
    size_t n = (size_t)r->d->nao;
    double trace = 0.0;
    if (!r->d->density) return FMO_OK;
    for (size_t i = 0; i < n * n; i++) trace += r->d->density[i] * r->overlap[i];
    if (r->d->electron_num >= 0 && !(fabs(trace - r->d->electron_num) <= TRACE_TOLERANCE))
        fmo_dataset_doubt(r->d, "the density holds %.9g electrons and electron/num is %d", trace,
                          r->d->electron_num);
    return FMO_OK;
}
