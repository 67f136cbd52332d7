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
                if (occupation[m] == 0.0) continue;
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

/* What the orbitals of a file are. */
typedef struct orbitals {
    double *occupation;                /* [mo_num] */
    int *spin;                         /* [mo_num] 0 or 1; NULL: one set for both spins */
    double *C;                         /* [mo_num][nao] */
    int64_t fractional, first, single; /* number of fractional occupations, the first of them, and
                                          the number of occupations of 1 */
} orbitals;

/* Checks that occupations are 0 to 2, or 0 to 1 in orbitals of one spin, and counts those of 1 and
 * those that are fractional. */
static fmo_status check_occupations(fmo_reader *r, orbitals *o)
{
    const double max_occupation = o->spin ? 1.0 : 2.0;
    o->first = -1;
    for (int64_t m = 0; m < r->store.count[DIM_MO]; m++) {
        const double n = o->occupation[m];
        if (n < -OCCUPATION_TOLERANCE || n > max_occupation + OCCUPATION_TOLERANCE) {
            char name[96];
            snprintf(name, sizeof name, "%s[%lld] = %g", fmo_field_title(FIELD_mo_occupation),
                     (long long)m, n);
            return o->spin ? INPUT(r, name,
                                   "expected 0 to 1, since mo/spin has both spins; write the "
                                   "occupations of spin orbitals")
                           : INPUT(r, name,
                                   "expected 0 to 2; write the occupations of spatial orbitals");
        }
        if (fabs(n - 1.0) <= OCCUPATION_TOLERANCE) {
            o->single++;
            if (o->first < 0 && !o->spin) o->first = m;
        } else if (fabs(n) > OCCUPATION_TOLERANCE &&
                   fabs(n - max_occupation) > OCCUPATION_TOLERANCE) {
            o->fractional++;
            if (o->first < 0) o->first = m;
        }
    }
    return FMO_OK;
}

/* Whether one set of orbitals is that of an open shell: as many are singly occupied as electrons
 * are unpaired. */
static bool is_restricted_open_shell(const fmo_reader *r, const orbitals *o)
{
    return !o->spin && !o->fractional && r->d->multiplicity > 1 &&
           o->single == r->d->multiplicity - 1;
}

/* Adds a notice about occupations that are not those of a closed shell or of one spin, and rejects
 * orbitals of one spin alone. */
static fmo_status judge_occupations(fmo_reader *r, const orbitals *o)
{
    const int64_t odd = o->fractional + (o->spin ? 0 : o->single);
    double sum = 0.0;
    for (int64_t m = 0; m < r->store.count[DIM_MO]; m++) sum += o->occupation[m];
    if (!o->spin && r->d->multiplicity > 1 && !is_restricted_open_shell(r, o) && o->single == odd &&
        sum < r->d->electron_num - TRACE_TOLERANCE)
        return INPUT(r, fmo_field_title(FIELD_mo_occupation),
                     "the sum is %g, of %d electrons: these are orbitals of one spin; write those "
                     "of both, and mo/spin",
                     sum, r->d->electron_num);
    if (odd && !is_restricted_open_shell(r, o))
        fmo_dataset_note(r->d,
                         "%s: %lld orbitals are neither empty nor %s occupied, the first "
                         "is orbital %lld with %.6g; J and K are of the density they give",
                         fmo_field_title(FIELD_mo_occupation), (long long)odd,
                         o->spin ? "singly" : "doubly", (long long)o->first,
                         o->occupation[o->first]);
    return FMO_OK;
}

/* Reads orbitals, occupations and spins; spins that are all up count as none. */
static fmo_status read_orbitals(fmo_reader *r, orbitals *o)
{
    bool down = false;
    fmo_status status = fmo_trexio_read_reals(r, FIELD_mo_occupation, &o->occupation);
    if (status == FMO_OK && r->has[FIELD_mo_spin])
        status = fmo_trexio_read_ints(r, FIELD_mo_spin, &o->spin);
    for (int64_t m = 0; status == FMO_OK && o->spin && m < r->store.count[DIM_MO]; m++)
        down = down || o->spin[m] != 0;
    if (!down) {
        free(o->spin);
        o->spin = NULL;
    }
    if (status == FMO_OK) status = check_occupations(r, o);
    if (status == FMO_OK) status = judge_occupations(r, o);
    return status == FMO_OK ? fmo_trexio_read_reals(r, FIELD_mo_coefficient, &o->C) : status;
}

/* Makes one density from orbitals with these occupations. */
static fmo_status make_density(fmo_reader *r, const orbitals *o, double **density)
{
    const size_t n = (size_t)r->d->nao;
    *density = calloc(n * n, sizeof(double));
    if (!*density)
        return fmo_trexio_no_memory(r, fmo_field_title(FIELD_fmo_density), n * n * sizeof(double));
    add_orbitals(n, (size_t)r->store.count[DIM_MO], o->C, o->occupation, *density);
    return fmo_trexio_check_finite(r, &fmo_fields[FIELD_fmo_density], *density);
}

/* Makes the density, and that of the spin if there are unpaired electrons or orbitals of both
 * spins, from mo/coefficient, mo/occupation and mo/spin. */
static fmo_status density_from_orbitals(fmo_reader *r)
{
    orbitals o = {.spin = NULL};
    fmo_status status = read_orbitals(r, &o);
    for (int64_t m = 0; status == FMO_OK && m < r->store.count[DIM_MO]; m++)
        if (o.occupation[m] < 0.0) o.occupation[m] = 0.0; /* within the tolerance */
    if (status == FMO_OK) status = make_density(r, &o, &r->d->density);
    const bool open = is_restricted_open_shell(r, &o);
    for (int64_t m = 0; status == FMO_OK && m < r->store.count[DIM_MO]; m++) {
        if (o.spin && o.spin[m]) o.occupation[m] = -o.occupation[m];
        if (open && o.occupation[m] > 1.5) o.occupation[m] = 0.0;
    }
    if (status == FMO_OK && (o.spin || open)) status = make_density(r, &o, &r->d->spin_density);
    r->d->density_source = o.spin ? "mo_coefficient and mo_occupation, sum of both spins"
                                  : "mo_coefficient and mo_occupation";
    free(o.occupation);
    free(o.spin);
    free(o.C);
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
    if (status == FMO_OK) status = fmo_trexio_symmetrise(r, FIELD_fmo_density, r->d->density);
    return status;
}

/* Compares the electrons of the density with those of the file: all, and the unpaired ones. */
fmo_status fmo_trexio_check_trace(fmo_reader *r)
{
    const fmo_dataset *const d = r->d;
    size_t n = (size_t)d->nao;
    double trace = 0.0, unpaired = 0.0;
    if (!d->density || d->electron_num < 0) return FMO_OK;
    for (size_t i = 0; i < n * n; i++) {
        trace += d->density[i] * r->overlap[i];
        if (d->spin_density) unpaired += d->spin_density[i] * r->overlap[i];
    }
    if (!(fabs(trace - d->electron_num) <= TRACE_TOLERANCE))
        fmo_dataset_doubt(r->d, "the density holds %.9g electrons and electron/num is %d", trace,
                          d->electron_num);
    else if (d->spin_density && d->multiplicity > 0 &&
             !(fabs(unpaired - (d->multiplicity - 1)) <= TRACE_TOLERANCE))
        fmo_dataset_doubt(r->d,
                          "the orbitals hold %.9g electrons of spin up and %.9g of spin down, but "
                          "electron/up_num is %d and dn_num %d",
                          0.5 * (trace + unpaired), 0.5 * (trace - unpaired),
                          (d->electron_num + d->multiplicity - 1) / 2,
                          (d->electron_num - d->multiplicity + 1) / 2);
    return FMO_OK;
}
