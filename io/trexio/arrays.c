/* Arrays of a data set: allocation, reading, and checks that they are finite, symmetric or in
 * range. Declared in reader.h. */
#include "io/trexio/reader.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ASYMMETRY_TOLERANCE 1e-10 /* of the largest element: averaged out below, rejected above */

const char *fmo_field_title(fmo_field_id id)
{
    return fmo_fields[id].title;
}

fmo_status fmo_trexio_no_memory(fmo_reader *r, const char *what, size_t bytes)
{
    return fmo_store_fail(&r->store, FMO_ERR_MEMORY, what, "no memory for its %zu bytes", bytes);
}

/* Allocates an array owned by the caller; *values stays NULL on error. */
fmo_status fmo_trexio_allocate(fmo_reader *r, const char *what, size_t n, size_t item,
                               void **values)
{
    *values = n <= SIZE_MAX / item ? malloc(n ? n * item : 1) : NULL;
    return *values ? FMO_OK : fmo_trexio_no_memory(r, what, n * item);
}

fmo_status fmo_trexio_check_finite(fmo_reader *r, const fmo_field *field, const double *values)
{
    size_t n = fmo_store_values(&r->store, field);
    size_t columns = field->dim[1] ? (size_t)r->store.count[field->dim[1]] : 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(values[i])) continue;
        char index[64] = "";
        if (columns)
            snprintf(index, sizeof index, "[%zu][%zu]", i / columns, i % columns);
        else if (field->dim[0])
            snprintf(index, sizeof index, "[%zu]", i);
        char name[128];
        snprintf(name, sizeof name, "%s%s = %g", field->title, index, values[i]);
        return INPUT(r, name, "expected finite numbers; write the file again");
    }
    return FMO_OK;
}

/* Allocates and reads a checked field: double or int64_t by its kind. Reals must be finite. */
fmo_status fmo_trexio_read_array(fmo_reader *r, fmo_field_id id, void **values)
{
    const fmo_field *field = &fmo_fields[id];
    fmo_status status = fmo_trexio_allocate(r, field->title, fmo_store_values(&r->store, field),
                                            sizeof(double), values);
    if (status != FMO_OK) return status;
    status = fmo_store_read(&r->store, field, *values);
    if (status == FMO_OK && field->kind == KIND_REAL)
        status = fmo_trexio_check_finite(r, field, *values);
    if (status != FMO_OK) {
        free(*values);
        *values = NULL;
    }
    return status;
}

fmo_status fmo_trexio_read_reals(fmo_reader *r, fmo_field_id id, double **values)
{
    void *read = NULL;
    fmo_status status = fmo_trexio_read_array(r, id, &read);
    *values = read;
    return status;
}

/* Reads integers and narrows them to int; values beyond int are errors for every field. */
fmo_status fmo_trexio_read_ints(fmo_reader *r, fmo_field_id id, int **values)
{
    void *read = NULL, *narrow = NULL;
    size_t n = fmo_store_values(&r->store, &fmo_fields[id]);
    fmo_status status = fmo_trexio_read_array(r, id, &read);
    if (status == FMO_OK)
        status = fmo_trexio_allocate(r, fmo_field_title(id), n, sizeof(int), &narrow);
    for (size_t i = 0; status == FMO_OK && i < n; i++) {
        int64_t value = ((int64_t *)read)[i];
        if (value < INT_MIN || value > INT_MAX)
            status = INPUT(r, fmo_field_title(id),
                           "element %zu = %lld is out of range; write the file again", i,
                           (long long)value);
        else
            ((int *)narrow)[i] = (int)value;
    }
    free(read);
    if (status != FMO_OK) {
        free(narrow);
        narrow = NULL;
    }
    *values = narrow;
    return status;
}

/* Rejects a matrix that is not symmetric. Elements are compared as if the functions were
 * normalised: those of operators are divided by the norms of the two functions, those of a density
 * multiplied. */
fmo_status fmo_trexio_check_symmetric(fmo_reader *r, fmo_field_id id, const double *matrix)
{
    const size_t n = (size_t)r->d->nao;
    const bool density = id == FIELD_fmo_density;
    size_t row = 0, column = 0;
    double largest = 0.0, worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double a = matrix[i * n + j], b = matrix[j * n + i];
            const double product = sqrt(r->overlap[i * n + i] * r->overlap[j * n + j]);
            const double norms = density ? product : 1.0 / product;
            largest = fmax(largest, fmax(fabs(a), fabs(b)) * norms);
            if (fabs(a - b) * norms <= worst) continue;
            worst = fabs(a - b) * norms;
            row = i;
            column = j;
        }
    }
    if (worst <= ASYMMETRY_TOLERANCE * largest) return FMO_OK;
    char name[96];
    snprintf(name, sizeof name, "%s[%zu][%zu]", fmo_field_title(id), row, column);
    return INPUT(r, name, "%.15g, and %.15g across the diagonal: not symmetric; write (M + M^T)/2",
                 matrix[row * n + column], matrix[column * n + row]);
}

fmo_status fmo_trexio_symmetrise(fmo_reader *r, fmo_field_id id, double *matrix)
{
    size_t n = (size_t)r->d->nao;
    fmo_status status = fmo_trexio_check_symmetric(r, id, matrix);
    for (size_t i = 0; status == FMO_OK && i < n; i++)
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] = matrix[j * n + i] =
                matrix[i * n + j] + 0.5 * (matrix[j * n + i] - matrix[i * n + j]);
    return status;
}
