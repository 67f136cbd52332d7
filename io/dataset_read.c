/* Reading a data set: a list of steps, each of which checks before it allocates and stops at the
 * first thing wrong. Conventions: docs/dataset-format.md. Layers below: h5.h, fields.h. */
#include "io/dataset_internal.h"
#include "io/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fmo/one_electron.h>

#define ASYMMETRY_TOLERANCE  1e-10 /* of the largest element: averaged away below, refused above */
#define OVERLAP_TOLERANCE    1e-8  /* of sqrt(S_ii S_jj), between the file's overlap and ours */
#define OCCUPATION_TOLERANCE 1e-8  /* rounding of an occupation that means 0 or 2 */
#define TRACE_TOLERANCE      1e-6  /* electrons */
#define REPULSION_TOLERANCE  1e-6  /* hartree */

enum {
    DEPTH_MOST = 100,  /* primitives of one shell; published bases stay below 40 */
    VERSION_MOST = 15, /* libtrexio 2.2 keeps the version in 16 bytes */
    LABEL_SLOT = 16
};

typedef struct reader {
    const char *path;
    int descriptor;
    struct stat before;
    fmo_h5 h5;
    trexio_t *trexio;
    bool has[FIELD_COUNT];
    bool has_ecp;
    bool density_needed;
    fmo_dataset *d;
    double *overlap; /* [nao][nao] our own */
} reader;

#define INPUT(r, title, ...) fmo_h5_fail(&(r)->h5, FMO_ERR_INPUT, title, __VA_ARGS__)

static const char *title(fmo_field_id id)
{
    return fmo_fields[id].title;
}

static fmo_status no_memory(const reader *r, const char *what, size_t bytes)
{
    return fmo_h5_fail(&r->h5, FMO_ERR_MEMORY, what, "no memory for its %.1f MiB",
                       (double)bytes / 1048576.0);
}

/* An array of the caller's; *values stays NULL on error. */
static fmo_status allocate(const reader *r, const char *what, size_t n, size_t item, void **values)
{
    *values = n <= SIZE_MAX / item ? malloc(n ? n * item : 1) : NULL;
    return *values ? FMO_OK : no_memory(r, what, n * item);
}

/* --- opening -----------------------------------------------------------------------------------*/

static fmo_status open_file(reader *r)
{
    r->descriptor = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->descriptor < 0 || fstat(r->descriptor, &r->before) != 0)
        return INPUT(r, NULL, "cannot open it: %s; check the path and the permissions",
                     strerror(errno));
    if (S_ISDIR(r->before.st_mode))
        return INPUT(r, NULL,
                     "is a directory; expected an HDF5 file (a TREXIO text directory has to be "
                     "converted)");
    if (!S_ISREG(r->before.st_mode))
        return INPUT(r, NULL, "is not a regular file; copy its content into one");
    if (r->before.st_size == 0) return INPUT(r, NULL, "the file is empty; copy it again");
    r->h5.size = (uint64_t)r->before.st_size;
    r->h5.descriptor = r->descriptor;
    return FMO_OK;
}

static fmo_status open_hdf5(reader *r)
{
    return fmo_h5_open(&r->h5, r->path);
}

/* libtrexio trusts what it opens, so whatever would trip it is checked first. */
static fmo_status open_trexio(reader *r)
{
    const fmo_attribute *version = &fmo_attributes[ATTR_metadata_package_version];
    char text[VERSION_MOST + 1];
    int numbers[3];
    if (!fmo_h5_has_attribute(&r->h5, version))
        return INPUT(r, version->title,
                     "missing: HDF5, but not TREXIO; write the file with TREXIO 2 or newer");
    if (!fmo_h5_is_short_string(&r->h5, version, VERSION_MOST) ||
        fmo_h5_read_string(&r->h5, version, text, sizeof text) != FMO_OK ||
        sscanf(text, "%3d.%5d.%5d", &numbers[0], &numbers[1], &numbers[2]) != 3 || numbers[0] < 1)
        return INPUT(r, version->title,
                     "expected a version such as 2.6.0 as a string of fixed length; write the file "
                     "with TREXIO 2 or newer");
    trexio_exit_code code = TREXIO_FAILURE;
    r->trexio = trexio_open(r->path, 'r', TREXIO_HDF5, &code);
    if (!r->trexio)
        return INPUT(r, NULL,
                     "libtrexio cannot open it (%s); write the file with TREXIO 2 or newer",
                     trexio_string_of_error(code));
    return FMO_OK;
}

/* --- arrays ------------------------------------------------------------------------------------*/

static fmo_status check_finite(const reader *r, const fmo_field *field, const double *values)
{
    size_t n = fmo_h5_values(&r->h5, field);
    size_t columns = field->dim[1] ? (size_t)r->h5.count[field->dim[1]] : 0;
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

/* Allocate and read a checked field: double or int64_t by its kind. Reals are finite. */
static fmo_status read_array(const reader *r, fmo_field_id id, void **values)
{
    const fmo_field *field = &fmo_fields[id];
    fmo_status status =
        allocate(r, field->title, fmo_h5_values(&r->h5, field), sizeof(double), values);
    if (status != FMO_OK) return status;
    trexio_exit_code code = TREXIO_SUCCESS;
    if (field->read_real)
        code = field->read_real(r->trexio, *values);
    else if (field->read_integer)
        code = field->read_integer(r->trexio, *values);
    else
        status = fmo_h5_read(&r->h5, field, *values);
    if (code != TREXIO_SUCCESS)
        status = INPUT(r, field->title,
                       "its data cannot be read (%s); the file is damaged: copy it again",
                       trexio_string_of_error(code));
    if (status == FMO_OK && field->kind == KIND_REAL) status = check_finite(r, field, *values);
    if (status != FMO_OK) {
        free(*values);
        *values = NULL;
    }
    return status;
}

static fmo_status read_reals(const reader *r, fmo_field_id id, double **values)
{
    void *read = NULL;
    fmo_status status = read_array(r, id, &read);
    *values = read;
    return status;
}

/* Integers narrowed to int; larger ones are out of any range that is meant here. */
static fmo_status read_ints(const reader *r, fmo_field_id id, int **values)
{
    void *read = NULL, *narrow = NULL;
    size_t n = fmo_h5_values(&r->h5, &fmo_fields[id]);
    fmo_status status = read_array(r, id, &read);
    if (status == FMO_OK) status = allocate(r, title(id), n, sizeof(int), &narrow);
    for (size_t i = 0; status == FMO_OK && i < n; i++) {
        int64_t value = ((int64_t *)read)[i];
        if (value < INT_MIN || value > INT_MAX)
            status = INPUT(r, title(id), "element %zu = %lld is out of range; write the file again",
                           i, (long long)value);
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

/* --- sizes, and what is in the file ------------------------------------------------------------*/

static fmo_status read_counts(reader *r)
{
    r->h5.count[DIM_3] = 3;
    for (int d = DIM_NUCLEUS; d < DIM_3; d++) {
        const fmo_attribute *attribute = &fmo_attributes[fmo_counts[d].attribute];
        int64_t count;
        if (!fmo_h5_has_attribute(&r->h5, attribute)) {
            if (d == DIM_MO) continue; /* needed without a density only: see find_fields */
            return INPUT(r, attribute->title, "missing; write the group %s with TREXIO",
                         attribute->group);
        }
        fmo_status status = fmo_h5_read_integer(&r->h5, attribute, &count);
        if (status != FMO_OK) return status;
        if (count < 1 || count > fmo_counts[d].largest) {
            char name[64];
            snprintf(name, sizeof name, "%s = %lld", attribute->title, (long long)count);
            return INPUT(r, name, "expected 1 to %lld; write the group %s again",
                         (long long)fmo_counts[d].largest, attribute->group);
        }
        r->h5.count[d] = count;
    }
    r->d->nao = (int)r->h5.count[DIM_AO];
    r->d->nucleus_num = (int)r->h5.count[DIM_NUCLEUS];
    return FMO_OK;
}

/* Every field we know is checked where it exists, whether it will be used or not. */
static fmo_status find_fields(reader *r)
{
    for (int id = 0; id < FIELD_COUNT; id++) {
        const fmo_field *field = &fmo_fields[id];
        fmo_status status = fmo_h5_find(&r->h5, field, &r->has[id]);
        if (status != FMO_OK) return status;
        if (!r->has[id]) continue;
        for (int d = 0; d < 2; d++)
            if (field->dim[d] == DIM_MO && !r->h5.count[DIM_MO])
                return INPUT(r, fmo_attributes[ATTR_mo_num].title,
                             "missing, and %s is there; write the group mo with TREXIO",
                             field->title);
        status = fmo_h5_check(&r->h5, field);
        if (status == FMO_OK && strcmp(field->group, FMO_GROUP) == 0)
            status = fmo_h5_check_units(&r->h5, field);
        if (status != FMO_OK) return status;
    }
    return FMO_OK;
}

static fmo_status check_required(reader *r)
{
    static const struct {
        fmo_field_id id;
        const char *cure;
    } required[] = {
        {FIELD_nucleus_charge, "write the nuclear charges"},
        {FIELD_nucleus_coord, "write the coordinates in bohr"},
        {FIELD_basis_nucleus_index, "write the nucleus of each shell"},
        {FIELD_basis_shell_ang_mom, "write the angular momentum of each shell"},
        {FIELD_basis_shell_factor, "a missing factor is never taken as 1; write it"},
        {FIELD_basis_shell_index, "write the shell of each primitive"},
        {FIELD_basis_exponent, "write the exponents"},
        {FIELD_basis_coefficient, "write the contraction coefficients"},
        {FIELD_basis_prim_factor, "a missing factor is never taken as 1; write it"},
        {FIELD_ao_shell, "write the shell of each function"},
        {FIELD_ao_normalization, "a missing factor is never taken as 1; write it"},
    };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (!r->has[required[i].id])
            return INPUT(r, title(required[i].id), "missing; %s", required[i].cure);
    if (r->has[FIELD_fmo_density] || !r->density_needed) return FMO_OK;
    if (!r->has[FIELD_mo_coefficient])
        return INPUT(r, title(FIELD_mo_coefficient),
                     "missing; write orbitals with occupations, or /fmo/density");
    if (!r->has[FIELD_mo_occupation])
        return INPUT(r, title(FIELD_mo_occupation),
                     "missing; write the occupations, or /fmo/density");
    return FMO_OK;
}

/* Would the arrays of this file fit it, and this machine? */
static fmo_status check_memory(reader *r)
{
    uint64_t square = (uint64_t)r->d->nao * (uint64_t)r->d->nao * sizeof(double);
    if (!fmo_h5_plausible(square, r->h5.size)) {
        char name[64];
        snprintf(name, sizeof name, "%s = %d", fmo_attributes[ATTR_ao_num].title, r->d->nao);
        return INPUT(r, name, "not plausible in a file of %llu bytes; write the file again",
                     (unsigned long long)r->h5.size);
    }
    double need = 2.0 * (double)square; /* density and our overlap */
    for (int id = 0; id < FIELD_COUNT; id++)
        if (r->has[id] && fmo_fields[id].dim[1])
            need += (double)fmo_h5_values(&r->h5, &fmo_fields[id]) * sizeof(double);
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (have > 0.0 && need > have)
        return fmo_h5_fail(&r->h5, FMO_ERR_MEMORY, NULL,
                           "reading it needs %.1f GiB of memory and this machine has %.1f GiB",
                           need / 1073741824.0, have / 1073741824.0);
    return FMO_OK;
}

/* --- what we do not support, by name -----------------------------------------------------------*/

static fmo_status check_basis_type(reader *r)
{
    const fmo_attribute *type = &fmo_attributes[ATTR_basis_type];
    char text[64];
    if (!fmo_h5_has_attribute(&r->h5, type))
        return INPUT(r, type->title, "missing; expected 'Gaussian'");
    fmo_status status = fmo_h5_read_string(&r->h5, type, text, sizeof text);
    if (status == FMO_OK && strcasecmp(text, "Gaussian") != 0)
        status =
            INPUT(r, type->title, "'%s': only 'Gaussian' is supported; choose another basis", text);
    return status;
}

static fmo_status check_zero_array(reader *r, fmo_field_id id)
{
    const fmo_field *field = &fmo_fields[id];
    size_t n = fmo_h5_values(&r->h5, field), columns = 0;
    if (field->dim[1]) columns = (size_t)r->h5.count[field->dim[1]];
    void *values = NULL;
    fmo_status status = read_array(r, id, &values);
    for (size_t i = 0; status == FMO_OK && i < n; i++) {
        double value =
            field->kind == KIND_REAL ? ((double *)values)[i] : (double)((int64_t *)values)[i];
        if (value == 0.0) continue;
        char name[96];
        if (columns)
            snprintf(name, sizeof name, "%s[%zu][%zu] = %g", field->title, i / columns, i % columns,
                     value);
        else
            snprintf(name, sizeof name, "%s[%zu] = %g", field->title, i, value);
        status = INPUT(r, name, "%s; %s", field->note, field->cure);
    }
    free(values);
    return status;
}

static fmo_status check_periodic(reader *r)
{
    const fmo_attribute *periodic = &fmo_attributes[ATTR_pbc_periodic];
    int64_t value = -1;
    if (fmo_h5_has_attribute(&r->h5, periodic)) {
        fmo_status status = fmo_h5_read_integer(&r->h5, periodic, &value);
        if (status != FMO_OK) return status;
        if (value != 0)
            return INPUT(r, periodic->title,
                         "periodic systems are not supported; cut out a molecule");
        return FMO_OK;
    }
    static const fmo_field cell = {.group = FMO_CELL_GROUP, .name = FMO_CELL_A, .title = "cell/a"};
    bool found = false;
    fmo_status status = fmo_h5_find(&r->h5, &cell, &found);
    if (status == FMO_OK && found)
        status = INPUT(r, cell.title,
                       "periodic systems are not supported; if this one is a molecule in a box, "
                       "write pbc/periodic = 0");
    return status;
}

static fmo_status check_ecp(reader *r)
{
    r->has_ecp = fmo_h5_has_attribute(&r->h5, &fmo_attributes[ATTR_ecp_num]);
    bool sum = r->has[FIELD_ao_1e_int_kinetic] && r->has[FIELD_ao_1e_int_potential_n_e] &&
               r->has[FIELD_ao_1e_int_ecp];
    if (r->has_ecp && !r->has[FIELD_ao_1e_int_core_hamiltonian] && !sum)
        return INPUT(r, fmo_attributes[ATTR_ecp_num].title,
                     "integrals over an effective core potential are not computed here; write "
                     "ao_1e_int/core_hamiltonian");
    return FMO_OK;
}

static fmo_status check_format(reader *r)
{
    const fmo_attribute *format = &fmo_attributes[ATTR_fmo_format_version];
    int64_t version = FMO_FORMAT_VERSION;
    if (!fmo_h5_has_attribute(&r->h5, format)) return FMO_OK;
    fmo_status status = fmo_h5_read_integer(&r->h5, format, &version);
    if (status == FMO_OK && version != FMO_FORMAT_VERSION)
        status = INPUT(r, format->title, "%lld, and this build reads %d; use a matching fmo",
                       (long long)version, FMO_FORMAT_VERSION);
    return status;
}

static fmo_status refuse_by_name(reader *r)
{
    static fmo_status (*const checks[])(reader *) = {check_format, check_basis_type, check_periodic,
                                                     check_ecp};
    static const fmo_field_id zero[] = {
#define ROW(group, name, ...) FIELD_##group##_##name,
        FMO_ZERO_ARRAY_TABLE(ROW)
#undef ROW
    };
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < sizeof checks / sizeof checks[0]; i++)
        status = checks[i](r);
    for (size_t i = 0; status == FMO_OK && i < sizeof zero / sizeof zero[0]; i++)
        if (r->has[zero[i]]) status = check_zero_array(r, zero[i]);
    return status;
}

/* --- the basis ---------------------------------------------------------------------------------*/

typedef struct basis_arrays {
    double *charge, *coord, *shell_factor, *exponent, *coefficient, *prim_factor, *normalization;
    int *shell_nucleus, *shell_ang_mom, *prim_shell, *ao_shell, *ao_component;
    int *used; /* [shell_num] functions or primitives of a shell seen so far */
} basis_arrays;

static bool in_range(int value, int64_t count)
{
    return value >= 0 && value < count;
}

/* Functions of a shell come in the standard order among themselves, other shells' in between. */
static fmo_status find_components(reader *r, basis_arrays *b)
{
    static const int spherical_axis[] = {2, 0, 1}; /* m = 0, +1, -1: z, x, y */
    for (int ao = 0; ao < r->d->nao; ao++) {
        int shell = b->ao_shell[ao], l = 0, component = 0;
        /* An index or an l out of range is left for fmo_basis_create to report. */
        if (in_range(shell, r->h5.count[DIM_SHELL])) {
            l = b->shell_ang_mom[shell] == 1;
            component = b->used[shell]++;
            if (component > 2 * l && in_range(b->shell_ang_mom[shell], 2)) {
                char name[64];
                snprintf(name, sizeof name, "%s[%d] = %d", title(FIELD_ao_shell), ao, shell);
                return INPUT(r, name,
                             "shell %d is %s shell and has more than %d function%s; write "
                             "each function once",
                             shell, l ? "a p" : "an s", 2 * l + 1, l ? "s" : "");
            }
        }
        if (l && !r->d->cartesian && component < 3) component = spherical_axis[component];
        b->ao_component[ao] = l && component < 3 ? component : 0;
    }
    return FMO_OK;
}

/* One factor for each primitive: coefficient times shell_factor times prim_factor. */
static fmo_status multiply_factors(reader *r, basis_arrays *b)
{
    memset(b->used, 0, (size_t)r->h5.count[DIM_SHELL] * sizeof *b->used);
    for (int64_t k = 0; k < r->h5.count[DIM_PRIM]; k++) {
        int shell = b->prim_shell[k];
        b->coefficient[k] *= b->prim_factor[k];
        if (!in_range(shell, r->h5.count[DIM_SHELL])) continue; /* reported by fmo_basis_create */
        b->coefficient[k] *= b->shell_factor[shell];
        if (++b->used[shell] > DEPTH_MOST)
            return INPUT(r, title(FIELD_basis_shell_index),
                         "shell %d has more than %d primitives; split it or write the file again",
                         shell, DEPTH_MOST);
    }
    return FMO_OK;
}

/* From here on the arrays that the basis is made of are the data set's. */
static void hand_over(reader *r, basis_arrays *b)
{
    r->d->input = (fmo_basis_input){.nucleus_num = r->d->nucleus_num,
                                    .nucleus_charge = b->charge,
                                    .nucleus_coord = b->coord,
                                    .shell_num = (int)r->h5.count[DIM_SHELL],
                                    .shell_nucleus = b->shell_nucleus,
                                    .shell_ang_mom = b->shell_ang_mom,
                                    .prim_num = (int)r->h5.count[DIM_PRIM],
                                    .prim_shell = b->prim_shell,
                                    .prim_exponent = b->exponent,
                                    .prim_coefficient = b->coefficient,
                                    .ao_num = r->d->nao,
                                    .ao_shell = b->ao_shell,
                                    .ao_component = b->ao_component,
                                    .ao_factor = b->normalization};
}

static fmo_status create_basis(reader *r)
{
    fmo_error why = {FMO_OK, ""};
    fmo_status status = fmo_basis_create(&r->d->input, &r->d->basis, &why);
    if (status != FMO_OK) fmo_h5_fail(&r->h5, status, NULL, "%s", why.message);
    return status;
}

static fmo_status read_cartesian(reader *r)
{
    const fmo_attribute *attribute = &fmo_attributes[ATTR_ao_cartesian];
    int64_t value = 0;
    if (!fmo_h5_has_attribute(&r->h5, attribute))
        return INPUT(r, attribute->title, "missing; write 1 (p functions x, y, z) or 0 (z, x, y)");
    fmo_status status = fmo_h5_read_integer(&r->h5, attribute, &value);
    if (status == FMO_OK && value != 0 && value != 1)
        status = INPUT(r, attribute->title, "%lld; expected 1 (p functions x, y, z) or 0 (z, x, y)",
                       (long long)value);
    r->d->cartesian = value == 1;
    return status;
}

static fmo_status read_basis(reader *r)
{
    basis_arrays b = {0};
    size_t nao = (size_t)r->d->nao, shells = (size_t)r->h5.count[DIM_SHELL];
    const struct {
        fmo_field_id id;
        double **values;
    } reals[] = {
        {FIELD_nucleus_charge, &b.charge},           {FIELD_nucleus_coord, &b.coord},
        {FIELD_basis_shell_factor, &b.shell_factor}, {FIELD_basis_exponent, &b.exponent},
        {FIELD_basis_coefficient, &b.coefficient},   {FIELD_basis_prim_factor, &b.prim_factor},
        {FIELD_ao_normalization, &b.normalization}};
    const struct {
        fmo_field_id id;
        int **values;
    } ints[] = {{FIELD_basis_nucleus_index, &b.shell_nucleus},
                {FIELD_basis_shell_ang_mom, &b.shell_ang_mom},
                {FIELD_basis_shell_index, &b.prim_shell},
                {FIELD_ao_shell, &b.ao_shell}};
    fmo_status status = read_cartesian(r);
    for (size_t i = 0; status == FMO_OK && i < sizeof reals / sizeof reals[0]; i++)
        status = read_reals(r, reals[i].id, reals[i].values);
    for (size_t i = 0; status == FMO_OK && i < sizeof ints / sizeof ints[0]; i++)
        status = read_ints(r, ints[i].id, ints[i].values);
    b.used = calloc(shells, sizeof *b.used);
    b.ao_component = calloc(nao, sizeof *b.ao_component);
    if (status == FMO_OK && (!b.used || !b.ao_component))
        status = no_memory(r, "basis", (nao + shells) * sizeof(int));
    if (status == FMO_OK) status = find_components(r, &b);
    if (status == FMO_OK) status = multiply_factors(r, &b);
    hand_over(r, &b);
    if (status == FMO_OK) status = create_basis(r);
    free(b.shell_factor);
    free(b.prim_factor);
    free(b.used);
    return status;
}

static fmo_status read_names(reader *r)
{
    char *labels = NULL;
    fmo_status status = FMO_OK;
    if (r->has[FIELD_nucleus_label]) {
        labels = calloc((size_t)r->d->nucleus_num, LABEL_SLOT);
        if (!labels) return no_memory(r, title(FIELD_nucleus_label), LABEL_SLOT);
        status = fmo_h5_read_strings(&r->h5, &fmo_fields[FIELD_nucleus_label], labels, LABEL_SLOT);
    }
    if (status == FMO_OK &&
        fmo_dataset_name_nuclei(r->d, r->d->input.nucleus_charge, labels, LABEL_SLOT) != FMO_OK)
        status = no_memory(r, title(FIELD_nucleus_label), LABEL_SLOT);
    free(labels);
    static const fmo_attribute_id names[] = {ATTR_fmo_basis_name, ATTR_fmo_basis};
    for (int i = 0; status == FMO_OK && i < 2 && !r->d->basis_name[0]; i++)
        if (fmo_h5_is_short_string(&r->h5, &fmo_attributes[names[i]], 256)) /* else: no matter */
            status = fmo_h5_read_string(&r->h5, &fmo_attributes[names[i]], r->d->basis_name,
                                        sizeof r->d->basis_name);
    return status;
}

/* --- matrices ----------------------------------------------------------------------------------*/

/* Our overlap against the file's: any misread convention shows here. */
static fmo_status check_overlap(reader *r)
{
    size_t n = (size_t)r->d->nao;
    double *theirs = NULL;
    fmo_status status =
        allocate(r, title(FIELD_ao_1e_int_overlap), n * n, sizeof(double), (void **)&r->overlap);
    if (status == FMO_OK) {
        fmo_error why = {FMO_OK, ""};
        status = fmo_overlap(r->d->basis, r->overlap, &why);
        if (status != FMO_OK) fmo_h5_fail(&r->h5, status, NULL, "%s", why.message);
    }
    if (status != FMO_OK || !r->has[FIELD_ao_1e_int_overlap]) return status;
    status = read_reals(r, FIELD_ao_1e_int_overlap, &theirs);
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
        snprintf(name, sizeof name, "%s[%zu][%zu]", title(FIELD_ao_1e_int_overlap), at / n, at % n);
        status = INPUT(r, name,
                       "<%s|%s> is %.9g in the file and %.9g from its basis; factors, AO order or "
                       "coordinates do not follow TREXIO: correct the program that wrote it",
                       bra, ket, theirs[at], r->overlap[at]);
    }
    free(theirs);
    return status;
}

/* Rounding is averaged away; a matrix that is not symmetric is refused. */
static fmo_status symmetrize(reader *r, fmo_field_id id, double *matrix)
{
    size_t n = (size_t)r->d->nao, row = 0, column = 0;
    double largest = 0.0, worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double off = fabs(matrix[i * n + j] - matrix[j * n + i]);
            if (off > worst) {
                worst = off;
                row = i;
                column = j;
            }
        }
    }
    for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(matrix[i]));
    if (worst > ASYMMETRY_TOLERANCE * largest) {
        char name[96];
        snprintf(name, sizeof name, "%s[%zu][%zu]", title(id), row, column);
        return INPUT(r, name,
                     "%.15g, and %.15g across the diagonal: not symmetric; write (M + M^T)/2",
                     matrix[row * n + column], matrix[column * n + row]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] = matrix[j * n + i] =
                matrix[i * n + j] + 0.5 * (matrix[j * n + i] - matrix[i * n + j]);
    return FMO_OK;
}

/* D = sum_m n_m C_m C_m^T. Each element is summed in the order of m whatever the threads do, so
 * that the density, and with it a bit-reproducible build, depends on the file alone. */
static void add_orbitals(size_t nao, size_t nmo, const double *C, const double *occupation,
                         double *D)
{
    enum { ROWS = 16, COLUMNS = 512 }; /* a tile of D and the C rows it needs stay in L2 */
    size_t tiles = (nao + ROWS - 1) / ROWS;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (nao > 256)
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

static fmo_status check_occupations(reader *r, const double *occupation)
{
    int64_t fractional = 0, first = -1;
    for (int64_t m = 0; m < r->h5.count[DIM_MO]; m++) {
        double n = occupation[m];
        if (n < -OCCUPATION_TOLERANCE || n > 2.0 + OCCUPATION_TOLERANCE) {
            char name[96];
            snprintf(name, sizeof name, "%s[%lld] = %g", title(FIELD_mo_occupation), (long long)m,
                     n);
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
                         title(FIELD_mo_occupation), (long long)fractional, (long long)first,
                         occupation[first]);
    return FMO_OK;
}

static fmo_status density_from_orbitals(reader *r)
{
    double *C = NULL, *occupation = NULL;
    size_t n = (size_t)r->d->nao;
    fmo_status status = read_reals(r, FIELD_mo_occupation, &occupation);
    if (status == FMO_OK) status = check_occupations(r, occupation);
    if (status == FMO_OK) status = read_reals(r, FIELD_mo_coefficient, &C);
    if (status == FMO_OK) {
        r->d->density = calloc(n * n, sizeof(double));
        if (!r->d->density) status = no_memory(r, title(FIELD_fmo_density), n * n * sizeof(double));
    }
    if (status == FMO_OK) {
        add_orbitals(n, (size_t)r->h5.count[DIM_MO], C, occupation, r->d->density);
        status = check_finite(r, &fmo_fields[FIELD_fmo_density], r->d->density);
    }
    r->d->density_source = "mo_coefficient and mo_occupation";
    free(occupation);
    free(C);
    return status;
}

static fmo_status read_density(reader *r)
{
    if (!r->has[FIELD_fmo_density]) {
        if (r->has[FIELD_mo_coefficient] && r->has[FIELD_mo_occupation])
            return density_from_orbitals(r);
        r->d->density_source = "none";
        return FMO_OK;
    }
    r->d->density_source = "/fmo/density";
    fmo_status status = read_reals(r, FIELD_fmo_density, &r->d->density);
    if (status == FMO_OK) status = symmetrize(r, FIELD_fmo_density, r->d->density);
    return status;
}

static fmo_status add_matrix(reader *r, fmo_field_id id)
{
    size_t n = (size_t)r->d->nao;
    double *values = NULL;
    fmo_status status = read_reals(r, id, &values);
    if (status == FMO_OK) status = symmetrize(r, id, values);
    if (status == FMO_OK && !r->d->core) {
        r->d->core = values;
        return FMO_OK;
    }
    for (size_t i = 0; status == FMO_OK && i < n * n; i++) r->d->core[i] += values[i];
    free(values);
    return status;
}

static fmo_status read_core(reader *r)
{
    static const fmo_field_id sum[] = {FIELD_ao_1e_int_kinetic, FIELD_ao_1e_int_potential_n_e,
                                       FIELD_ao_1e_int_ecp};
    if (r->has[FIELD_ao_1e_int_core_hamiltonian]) {
        r->d->core_source = FMO_CORE_FILE;
        return add_matrix(r, FIELD_ao_1e_int_core_hamiltonian);
    }
    if (!r->has[sum[0]] || !r->has[sum[1]]) {
        r->d->core_source = FMO_CORE_COMPUTED;
        return FMO_OK;
    }
    int parts = r->has[sum[2]] ? 3 : 2;
    r->d->core_source = parts == 3 ? FMO_CORE_FILE_SUM_ECP : FMO_CORE_FILE_SUM;
    fmo_status status = FMO_OK;
    for (int i = 0; status == FMO_OK && i < parts; i++) status = add_matrix(r, sum[i]);
    return status;
}

static fmo_status read_references(reader *r)
{
    const struct {
        fmo_field_id id;
        double **values;
    } matrices[] = {{FIELD_fmo_coulomb, &r->d->coulomb},
                    {FIELD_fmo_exchange, &r->d->exchange},
                    {FIELD_fmo_fock_2e, &r->d->fock_2e}};
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < sizeof matrices / sizeof matrices[0]; i++)
        if (r->has[matrices[i].id]) status = read_reals(r, matrices[i].id, matrices[i].values);
    if (status == FMO_OK && r->has[FIELD_fmo_energy]) {
        double *energy = NULL;
        status = read_reals(r, FIELD_fmo_energy, &energy);
        if (status == FMO_OK) r->d->energy = *energy;
        free(energy);
    }
    return status;
}

/* The orbitals of an SCF that did not converge are read, and said to be such. */
static fmo_status note_convergence(reader *r)
{
    const fmo_attribute *converged = &fmo_attributes[ATTR_fmo_converged];
    int64_t value = 1;
    fmo_status status = FMO_OK;
    if (fmo_h5_has_attribute(&r->h5, converged))
        status = fmo_h5_read_integer(&r->h5, converged, &value);
    if (status == FMO_OK && !value && r->d->density)
        fmo_dataset_note(r->d, "the orbitals are those of an SCF that did not converge");
    return status;
}

/* --- numbers -----------------------------------------------------------------------------------*/

static fmo_status read_repulsion(reader *r)
{
    const fmo_attribute *attribute = &fmo_attributes[ATTR_nucleus_repulsion];
    double ours = fmo_basis_nuclear_repulsion(r->d->basis), theirs = ours;
    if (!isfinite(ours))
        fmo_dataset_note(r->d, "nucleus/coord: two charged nuclei coincide, so there is no energy");
    if (fmo_h5_has_attribute(&r->h5, attribute)) {
        fmo_status status = fmo_h5_read_real(&r->h5, attribute, &theirs);
        if (status != FMO_OK) return status;
        if (!isfinite(theirs))
            return INPUT(r, attribute->title, "%g; expected a finite energy in hartree", theirs);
        if (fabs(theirs - ours) > REPULSION_TOLERANCE && isfinite(ours))
            fmo_dataset_note(r->d,
                             "nucleus/repulsion: %.9g hartree in the file, %.9g from its "
                             "charges and coordinates; the file's is used",
                             theirs, ours);
    }
    r->d->nuclear_repulsion = theirs;
    return FMO_OK;
}

static fmo_status read_electrons(reader *r)
{
    enum { TOTAL, UP, DOWN };
    static const fmo_attribute_id ids[] = {ATTR_electron_num, ATTR_electron_up_num,
                                           ATTR_electron_dn_num};
    int64_t number[] = {-1, -1, -1};
    for (int i = TOTAL; i <= DOWN; i++) {
        const fmo_attribute *attribute = &fmo_attributes[ids[i]];
        if (!fmo_h5_has_attribute(&r->h5, attribute)) continue;
        fmo_status status = fmo_h5_read_integer(&r->h5, attribute, &number[i]);
        if (status != FMO_OK) return status;
        if (number[i] < (i == TOTAL) || number[i] > INT_MAX)
            return INPUT(r, attribute->title, "%lld electrons; write their true number",
                         (long long)number[i]);
    }
    const char *total = fmo_attributes[ATTR_electron_num].title;
    if (number[TOTAL] > 0 && number[TOTAL] % 2)
        return INPUT(r, total,
                     "%lld is odd: only closed shells are supported; choose another "
                     "charge",
                     (long long)number[TOTAL]);
    if (number[UP] >= 0 && number[DOWN] >= 0) {
        if (number[UP] != number[DOWN])
            return INPUT(r, fmo_attributes[ATTR_electron_up_num].title,
                         "%lld, and electron/dn_num is %lld: only closed shells are supported; "
                         "choose another charge or spin",
                         (long long)number[UP], (long long)number[DOWN]);
        if (number[TOTAL] < 0) number[TOTAL] = number[UP] + number[DOWN];
        if (number[TOTAL] != number[UP] + number[DOWN])
            return INPUT(r, total, "%lld, but up_num and dn_num add up to %lld; correct one",
                         (long long)number[TOTAL], (long long)(number[UP] + number[DOWN]));
    }
    if (number[TOTAL] > INT_MAX)
        return INPUT(r, total, "%lld electrons; write their true number", (long long)number[TOTAL]);
    r->d->electron_num = number[TOTAL] < 0 ? -1 : (int)number[TOTAL];
    return FMO_OK;
}

static fmo_status check_trace(reader *r)
{
    size_t n = (size_t)r->d->nao;
    double trace = 0.0;
    if (!r->d->density) return FMO_OK;
    for (size_t i = 0; i < n * n; i++) trace += r->d->density[i] * r->overlap[i];
    if (r->d->electron_num >= 0 && !(fabs(trace - r->d->electron_num) <= TRACE_TOLERANCE))
        fmo_dataset_note(r->d, "the density holds %.9g electrons and electron/num is %d", trace,
                         r->d->electron_num);
    return FMO_OK;
}

/* --- the hash, and whether it is still the same file -------------------------------------------*/

static fmo_status hash_file(reader *r)
{
    fmo_status status = fmo_sha256_file(r->descriptor, r->d->sha256);
    if (status == FMO_ERR_MEMORY) return no_memory(r, "SHA-256", 65536);
    struct stat after, named;
    if (status != FMO_OK || fstat(r->descriptor, &after) != 0)
        return INPUT(r, NULL, "cannot be read to its end: %s", strerror(errno));
    if (stat(r->path, &named) != 0 || named.st_dev != r->before.st_dev ||
        named.st_ino != r->before.st_ino || after.st_size != r->before.st_size ||
        after.st_mtim.tv_sec != r->before.st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != r->before.st_mtim.tv_nsec)
        return INPUT(r, NULL, "changed while it was read; wait for the program that writes it");
    return FMO_OK;
}

static fmo_status read_file(const char *path, bool density_needed, fmo_dataset **dataset,
                            fmo_error *err)
{
    static fmo_status (*const steps[])(reader *) = {
        open_file,      open_hdf5,      open_trexio,    read_counts,     find_fields,
        check_required, check_memory,   refuse_by_name, read_basis,      read_names,
        check_overlap,  read_density,   read_core,      read_references, note_convergence,
        read_repulsion, read_electrons, check_trace,    hash_file};
    if (dataset) *dataset = NULL;
    if (!path || !dataset) return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_dataset_read: NULL");
    if (!*path) return fmo_error_set(err, FMO_ERR_INPUT, "the path is empty; name a data set");
    reader r = {
        .path = path, .descriptor = -1, .density_needed = density_needed, .d = fmo_dataset_new()};
    r.h5.file = -1;
    r.h5.err = err;
    fmo_h5_label(path, r.h5.label, sizeof r.h5.label);
    if (r.d) r.d->path = strdup(path);
    if (!r.d || !r.d->path) {
        fmo_dataset_destroy(r.d);
        return fmo_error_set(err, FMO_ERR_MEMORY, "%s: no memory to read it", r.h5.label);
    }
    fmo_h5_quiet quiet;
    fmo_h5_quiet_begin(&quiet);
    fmo_status status = FMO_OK;
    for (size_t i = 0; status == FMO_OK && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&r);
    if (r.trexio) trexio_close(r.trexio);
    fmo_h5_close(&r.h5);
    fmo_h5_quiet_end(&quiet);
    if (r.descriptor >= 0) close(r.descriptor);
    free(r.overlap);
    if (status == FMO_OK)
        *dataset = r.d;
    else
        fmo_dataset_destroy(r.d);
    return status;
}

fmo_status fmo_dataset_read(const char *path, fmo_dataset **dataset, fmo_error *err)
{
    return read_file(path, true, dataset, err);
}

fmo_status fmo_dataset_read_basis(const char *path, fmo_dataset **dataset, fmo_error *err)
{
    return read_file(path, false, dataset, err);
}
