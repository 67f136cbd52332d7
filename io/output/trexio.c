/* Writes orbitals as a TREXIO file, in the layout of its HDF5 back end, which is built in memory
 * and written by file.c. libtrexio can only write directly to disk, and leaves an incomplete file
 * if the disk is full; the tests read the files with libtrexio. Conventions:
 * docs/reference/dataset-format.md. */
#include "io/basis_set/norm.h"
#include "io/dataset/dataset_internal.h"
#include "io/output/file.h"
#include "io/output/hdf5.h"
#include "io/output/wavefunction_internal.h"
#include <fmo/molecule.h>
#include <fmo/one_electron.h>
#include <fmo/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT_VERSION "2.2.3" /* version of TREXIO with this layout */

/* Arrays of the file that differ from those of the data set. */
typedef struct writer {
    const fmo_dataset *d;
    const fmo_wavefunction *wf;
    hid_t file;
    int64_t count[DIM_COUNT];
    double *shell_factor;                       /* [shell_num] */
    int *prim_shell, *r_power;                  /* [prim_num], sorted by shell; [shell_num] */
    double *exponent, *coefficient, *prim_norm; /* [prim_num] */
    double *overlap_made; /* [nao][nao]; NULL if the caller passed the overlap */
    const double *overlap, *core;
    const char **label; /* [nucleus_num] */
} writer;

static double *reals(int64_t n)
{
    return calloc((size_t)n, sizeof(double));
}

/* Sorts primitives by shell, as other programs expect, and splits each factor into the coefficient
 * of a normalised primitive and the norm. */
static void split_primitives(writer *w, int *next)
{
    const fmo_basis_input *in = &w->d->input;
    for (int k = 0; k < in->prim_num; k++)
        if (in->prim_shell[k] + 1 < in->shell_num) next[in->prim_shell[k] + 1]++;
    for (int s = 1; s < in->shell_num; s++) next[s] += next[s - 1];
    for (int k = 0; k < in->prim_num; k++) {
        int shell = in->prim_shell[k], at = next[shell]++;
        w->prim_shell[at] = shell;
        w->exponent[at] = in->prim_exponent[k];
        w->prim_norm[at] = fmo_primitive_norm(in->shell_ang_mom[shell], in->prim_exponent[k]);
        w->coefficient[at] = in->prim_coefficient[k] / w->prim_norm[at];
    }
    for (int s = 0; s < in->shell_num; s++) w->shell_factor[s] = 1.0;
}

/* Computes all arrays of the file. Returns FMO_OK or FMO_ERR_MEMORY. */
static fmo_status prepare(writer *w)
{
    const fmo_basis_input *in = &w->d->input;
    int64_t nao = w->d->nao;
    w->count[DIM_NUCLEUS] = in->nucleus_num;
    w->count[DIM_SHELL] = in->shell_num;
    w->count[DIM_PRIM] = in->prim_num;
    w->count[DIM_AO] = nao;
    w->count[DIM_MO] = w->wf->mo_num * (w->wf->coefficient_beta ? 2 : 1);
    w->count[DIM_3] = 3;
    w->shell_factor = reals(in->shell_num);
    w->exponent = reals(in->prim_num);
    w->coefficient = reals(in->prim_num);
    w->prim_norm = reals(in->prim_num);
    w->prim_shell = calloc((size_t)in->prim_num, sizeof *w->prim_shell);
    w->r_power = calloc((size_t)in->shell_num, sizeof *w->r_power);
    w->label = calloc((size_t)in->nucleus_num, sizeof *w->label);
    int *next = calloc((size_t)in->shell_num, sizeof *next);
    bool good = w->shell_factor && w->exponent && w->coefficient && w->prim_norm && w->prim_shell &&
                w->r_power && w->label && next;
    if (good) split_primitives(w, next);
    free(next);
    for (int i = 0; good && i < in->nucleus_num; i++)
        w->label[i] = fmo_element_symbol(w->d->number[i]);
    w->core = w->wf->core_hamiltonian;
    if (good && !w->core) w->core = fmo_dataset_core_hamiltonian(w->d);
    w->overlap = w->wf->overlap;
    if (good && !w->overlap) {
        w->overlap = w->overlap_made = reals(nao * nao);
        good = w->overlap_made && fmo_overlap(w->d->basis, w->overlap_made, NULL) == FMO_OK;
    }
    return good && w->core ? FMO_OK : FMO_ERR_MEMORY;
}

/* Counts the electrons of each spin from whole occupations, or else takes those of the data set as
 * paired. Returns false if neither gives them. */
static bool count_electrons(const writer *w, int *up, int *down)
{
    const fmo_wavefunction *const wf = w->wf;
    double sum = 0.0, single = 0.0, off = 0.0, beta = 0.0;
    for (int m = 0; m < wf->mo_num; m++) {
        const double n = wf->occupation[m];
        sum += n;
        single += fabs(n - 1.0) < 1e-6;
        off = fmax(off, fabs(n - round(n)));
        if (wf->occupation_beta) beta += wf->occupation_beta[m];
        if (wf->occupation_beta)
            off = fmax(off, fabs(wf->occupation_beta[m] - round(wf->occupation_beta[m])));
    }
    *up = *down = w->d->electron_num / 2;
    if (off < 1e-6 && sum + beta > 0.5) {
        *up = (int)lround(wf->occupation_beta ? sum : 0.5 * (sum + single));
        *down = (int)lround(wf->occupation_beta ? beta : 0.5 * (sum - single));
    } else if (w->d->electron_num <= 0) {
        *up = *down = (int)lround(0.5 * (sum + beta));
        return *up > 0 && fabs(sum + beta - 2.0 * *up) < 1e-6;
    }
    return *up + *down > 0;
}

/* Makes one list of the values of both spins; NULL if there is no memory. */
static double *join(const double *alpha, const double *beta, size_t count)
{
    double *const both = malloc(2 * count * sizeof *both);
    if (!both) return NULL;
    memcpy(both, alpha, count * sizeof *both);
    memcpy(both + count, beta, count * sizeof *both);
    return both;
}

/* Writes the orbitals of alpha electrons, then those of beta electrons. */
static bool put_both_spins(const writer *w, hid_t group)
{
    const fmo_wavefunction *const wf = w->wf;
    const size_t mo = (size_t)wf->mo_num;
    double *const C = join(wf->coefficient, wf->coefficient_beta, mo * (size_t)w->d->nao);
    double *const n = join(wf->occupation, wf->occupation_beta, mo);
    double *const e = join(wf->energy, wf->energy_beta, mo);
    int *const spin = calloc(2 * mo, sizeof *spin);
    for (size_t m = mo; spin && m < 2 * mo; m++) spin[m] = 1;
    const bool good = C && n && e && spin &&
                      fmo_h5_put_values(group, FIELD_mo_coefficient, w->count, C) &&
                      fmo_h5_put_values(group, FIELD_mo_occupation, w->count, n) &&
                      fmo_h5_put_values(group, FIELD_mo_energy, w->count, e) &&
                      fmo_h5_put_values(group, FIELD_mo_spin, w->count, spin);
    free(C);
    free(n);
    free(e);
    free(spin);
    return good;
}

static bool put_count(hid_t group, fmo_attribute_id id, int64_t value)
{
    return fmo_h5_put_integer(group, fmo_attributes[id].name, H5T_STD_I64LE, value);
}

static bool put_word(hid_t group, fmo_attribute_id id, const char *text)
{
    return fmo_h5_put_text(group, fmo_attributes[id].name, text, H5T_CSET_ASCII);
}

/* --- groups: each function fills one ------------------------------------------------------- */

static bool put_metadata(const writer *w, hid_t group)
{
    static const char *const code[] = {"fmo " FMO_VERSION_STRING};
    (void)w;
    return put_word(group, ATTR_metadata_package_version, LAYOUT_VERSION) &&
           put_count(group, ATTR_metadata_code_num, 1) &&
           fmo_h5_put_strings(group, FMO_METADATA_CODE, 1, code);
}

static bool put_nuclei(const writer *w, hid_t group)
{
    const fmo_basis_input *in = &w->d->input;
    const double repulsion = fmo_dataset_nuclear_repulsion(w->d);
    return put_count(group, ATTR_nucleus_num, in->nucleus_num) &&
           fmo_h5_put_values(group, FIELD_nucleus_charge, w->count, in->nucleus_charge) &&
           fmo_h5_put_values(group, FIELD_nucleus_coord, w->count, in->nucleus_coord) &&
           fmo_h5_put_strings(group, fmo_fields[FIELD_nucleus_label].name, (size_t)in->nucleus_num,
                              w->label) &&
           (!isfinite(repulsion) ||
            fmo_h5_put_real(group, fmo_attributes[ATTR_nucleus_repulsion].name, repulsion));
}

static bool put_electrons(const writer *w, hid_t group)
{
    int up, down;
    return !count_electrons(w, &up, &down) || (put_count(group, ATTR_electron_num, up + down) &&
                                               put_count(group, ATTR_electron_up_num, up) &&
                                               put_count(group, ATTR_electron_dn_num, down));
}

static bool put_pbc(const writer *w, hid_t group)
{
    (void)w;
    return put_count(group, ATTR_pbc_periodic, 0);
}

static bool put_basis(const writer *w, hid_t group)
{
    const fmo_basis_input *in = &w->d->input;
    return put_word(group, ATTR_basis_type, "Gaussian") &&
           put_count(group, ATTR_basis_shell_num, in->shell_num) &&
           put_count(group, ATTR_basis_prim_num, in->prim_num) &&
           fmo_h5_put_values(group, FIELD_basis_nucleus_index, w->count, in->shell_nucleus) &&
           fmo_h5_put_values(group, FIELD_basis_shell_ang_mom, w->count, in->shell_ang_mom) &&
           fmo_h5_put_values(group, FIELD_basis_shell_factor, w->count, w->shell_factor) &&
           fmo_h5_put_values(group, FIELD_basis_r_power, w->count, w->r_power) &&
           fmo_h5_put_values(group, FIELD_basis_shell_index, w->count, w->prim_shell) &&
           fmo_h5_put_values(group, FIELD_basis_exponent, w->count, w->exponent) &&
           fmo_h5_put_values(group, FIELD_basis_coefficient, w->count, w->coefficient) &&
           fmo_h5_put_values(group, FIELD_basis_prim_factor, w->count, w->prim_norm);
}

static bool put_aos(const writer *w, hid_t group)
{
    const fmo_basis_input *in = &w->d->input;
    return put_count(group, ATTR_ao_cartesian, w->d->cartesian) &&
           put_count(group, ATTR_ao_num, w->d->nao) &&
           fmo_h5_put_values(group, FIELD_ao_shell, w->count, in->ao_shell) &&
           fmo_h5_put_values(group, FIELD_ao_normalization, w->count, in->ao_factor);
}

static bool put_integrals(const writer *w, hid_t group)
{
    return fmo_h5_put_values(group, FIELD_ao_1e_int_overlap, w->count, w->overlap) &&
           fmo_h5_put_values(group, FIELD_ao_1e_int_core_hamiltonian, w->count, w->core);
}

static bool put_orbitals(const writer *w, hid_t group)
{
    if (!put_word(group, ATTR_mo_type, w->wf->method ? w->wf->method : "") ||
        !put_count(group, ATTR_mo_num, w->count[DIM_MO]))
        return false;
    if (w->wf->coefficient_beta) return put_both_spins(w, group);
    return fmo_h5_put_values(group, FIELD_mo_coefficient, w->count, w->wf->coefficient) &&
           fmo_h5_put_values(group, FIELD_mo_occupation, w->count, w->wf->occupation) &&
           fmo_h5_put_values(group, FIELD_mo_energy, w->count, w->wf->energy);
}

/* Writes the point charges, which TREXIO has no fields for. Their energy has a name of its own,
 * because /fmo/energy is that of the file's core Hamiltonian. */
static bool put_charges(const writer *w, hid_t group)
{
    const fmo_wavefunction *const wf = w->wf;
    const size_t count[2] = {wf->point_charge_num, 3};
    if (!wf->point_charge_num) return true;
    return fmo_h5_put_integer(group, fmo_attributes[ATTR_fmo_point_charge_num].name, H5T_STD_I64LE,
                              (int64_t)wf->point_charge_num) &&
           (!isfinite(wf->total_energy) || fmo_h5_put_array(group, "energy_with_charges", true, 0,
                                                            count, &wf->total_energy, "hartree")) &&
           fmo_h5_put_array(group, "point_charge", true, 1, count, wf->point_charge, "e") &&
           fmo_h5_put_array(group, "point_charge_coord", true, 2, count, wf->point_charge_coord,
                            "bohr") &&
           (!wf->point_charge_gradient ||
            fmo_h5_put_array(group, "point_charge_gradient", true, 2, count,
                             wf->point_charge_gradient, "hartree/bohr"));
}

/* Writes the charges and spin populations of the atoms and the dipole moment that are present. */
static bool put_properties(const writer *w, hid_t group)
{
    const fmo_wavefunction *const wf = w->wf;
    const size_t nuclei = (size_t)w->d->input.nucleus_num, components = 3;
    const struct {
        const char *name;
        const size_t *count;
        const double *values;
        const char *units;
    } all[] = {{"mulliken_charge", &nuclei, wf->mulliken_charge, "e"},
               {"loewdin_charge", &nuclei, wf->loewdin_charge, "e"},
               {"mulliken_spin", &nuclei, wf->mulliken_spin, NULL},
               {"loewdin_spin", &nuclei, wf->loewdin_spin, NULL},
               {"dipole", &components, wf->dipole, "e bohr"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].values && !fmo_h5_put_array(group, all[k].name, true, 1, all[k].count,
                                               all[k].values, all[k].units))
            return false;
    return true;
}

static bool put_own(const writer *w, hid_t group)
{
    const size_t nuclei[2] = {(size_t)w->d->input.nucleus_num, 3};
    const fmo_attribute *a = fmo_attributes;
    return fmo_h5_put_provenance(group, w->d) &&
           (!w->wf->method ||
            fmo_h5_put_text(group, a[ATTR_fmo_method].name, w->wf->method, H5T_CSET_UTF8)) &&
           (!w->d->basis_name[0] ||
            fmo_h5_put_text(group, a[ATTR_fmo_basis_name].name, w->d->basis_name, H5T_CSET_UTF8)) &&
           fmo_h5_put_integer(group, a[ATTR_fmo_converged].name, H5T_STD_I32LE,
                              w->wf->converged != 0) &&
           (!isfinite(w->wf->total_energy) || w->wf->point_charge_num ||
            fmo_h5_put_values(group, FIELD_fmo_energy, w->count, &w->wf->total_energy)) &&
           (!w->wf->gradient || fmo_h5_put_array(group, "gradient", true, 2, nuclei,
                                                 w->wf->gradient, "hartree/bohr")) &&
           put_properties(w, group) && put_charges(w, group);
}

static bool put_nothing(const writer *w, hid_t group)
{
    (void)w;
    return group >= 0;
}

/* Writes all groups of a TREXIO file, including empty ones: libtrexio creates them all, and some of
 * its functions fail if one is missing. */
static bool put_all(const writer *w)
{
    static const struct {
        const char *name;
        bool (*put)(const writer *, hid_t);
    } groups[] = {{"metadata", put_metadata},   {"nucleus", put_nuclei},
                  {"electron", put_electrons},  {"pbc", put_pbc},
                  {"basis", put_basis},         {"ao", put_aos},
                  {"ao_1e_int", put_integrals}, {"mo", put_orbitals},
                  {FMO_GROUP, put_own},         {"amplitude", put_nothing},
                  {"ao_2e_int", put_nothing},   {"cell", put_nothing},
                  {"csf", put_nothing},         {"determinant", put_nothing},
                  {"ecp", put_nothing},         {"grid", put_nothing},
                  {"jastrow", put_nothing},     {"mo_1e_int", put_nothing},
                  {"mo_2e_int", put_nothing},   {"qmc", put_nothing},
                  {"rdm", put_nothing},         {"state", put_nothing}};
    bool good = true;
    for (size_t i = 0; good && i < sizeof groups / sizeof groups[0]; i++) {
        hid_t group = fmo_h5_put_group(w->file, groups[i].name);
        good = group >= 0 && groups[i].put(w, group);
        if (group >= 0) H5Gclose(group);
    }
    return good;
}

static fmo_status no_memory(const fmo_output *output)
{
    return fmo_output_fail(output, FMO_ERR_MEMORY, "no memory to write it");
}

/* Makes the file in memory with libhdf5, whose messages are kept silent, and writes its bytes. */
static fmo_status write_image(writer *w, fmo_output *output)
{
    const size_t nao = (size_t)w->d->nao, shells = (size_t)w->d->input.shell_num;
    const size_t nuclei = (size_t)w->d->input.nucleus_num, prims = (size_t)w->d->input.prim_num;
    const void *bytes = NULL;
    size_t size = 0;
    fmo_h5_quiet quiet;
    if (!fmo_h5_quiet_begin(&quiet, sizeof(double) * (5 * nao * nao + 6 * (nao + prims + shells) +
                                                      12 * nuclei + 14 * w->wf->point_charge_num)))
        return no_memory(output);
    w->file = fmo_h5_image_create();
    bool good = w->file >= 0 && put_all(w) && fmo_h5_image_bytes(w->file, &bytes, &size);
    fmo_status status = good ? fmo_output_write(output, bytes, size) : no_memory(output);
    if (w->file >= 0) H5Fclose(w->file);
    fmo_h5_quiet_end(&quiet);
    return status;
}

/* Computes the arrays, builds the image and writes it. */
fmo_status fmo_wavefunction_write_trexio(const char *path, const fmo_dataset *dataset,
                                         const fmo_wavefunction *wavefunction, fmo_error *err)
{
    fmo_status status =
        fmo_wavefunction_check(path, dataset, wavefunction, "fmo_wavefunction_write_trexio", err);
    if (status != FMO_OK) return status;
    writer w = {.d = dataset, .wf = wavefunction, .file = -1};
    fmo_output output;
    status = fmo_output_open(&output, path, dataset, err);
    if (status == FMO_OK && prepare(&w) != FMO_OK) status = no_memory(&output);
    if (status == FMO_OK) status = write_image(&w, &output);
    fmo_output_close(&output);
    free(w.shell_factor);
    free(w.exponent);
    free(w.coefficient);
    free(w.prim_norm);
    free(w.prim_shell);
    free(w.r_power);
    free(w.label);
    free(w.overlap_made);
    return status;
}
