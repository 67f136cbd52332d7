/* Writes the profile as JSON. Within a version, fields are only added. See profile_json.h. */
#include "driver/report/profile_json.h"
#include "driver/report/json.h"
#include "driver/run/properties.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE_VERSION = 2 };

struct driver_json {
    json_t *root;
    json_t *builds; /* borrowed from root */
};

/* Makes a document with its head and an empty list of builds. */
driver_json *driver_json_create(void)
{
    driver_json *json = calloc(1, sizeof *json);
    if (!json) return NULL;
    json->root = driver_json_head("fmo-profile", PROFILE_VERSION);
    json->builds = json_array();
    json_object_set_new(json->root, "device", json_null());
    if (json_object_set_new(json->root, "builds", json->builds) != 0) {
        json_decref(json->root);
        json->root = NULL;
    }
    if (!json->root) {
        free(json);
        return NULL;
    }
    return json;
}

void driver_json_destroy(driver_json *json)
{
    if (!json) return;
    json_decref(json->root);
    free(json);
}

/* Returns the array of ERI classes with their counts, times and costs of accumulation. */
static json_t *classes_of(const fmo_fock_profile *profile)
{
    json_t *classes = json_array();
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && driver_profile_has_classes(profile); c++) {
        if (!driver_profile_has_class(profile, c)) continue;
        const fmo_class_profile *row = &profile->classes[c];
        json_t *entry = json_pack(
            "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
            fmo_eri_class_name((fmo_eri_class)c), "quartets", (json_int_t)row->quartets,
            "quartets_skipped", (json_int_t)row->quartets_skipped, "primitive_quartets",
            (json_int_t)row->prim_quartets, "seconds", driver_json_number(row->seconds), "share",
            driver_json_number(row->seconds / profile->seconds), "compute_seconds",
            driver_json_number(row->compute_seconds), "accumulation_seconds",
            driver_json_number(row->seconds - row->compute_seconds), "accumulation_share",
            driver_json_number(1.0 - row->compute_seconds / row->seconds), "adds",
            profile->device[0] ? json_integer((json_int_t)row->adds) : json_null(), "adds_issued",
            profile->mode == FMO_MODE_FUSED ? json_integer((json_int_t)row->adds_issued)
                                            : json_null());
        if (json_array_append_new(classes, entry) != 0) {
            json_decref(classes);
            return NULL;
        }
    }
    return classes;
}

/* Returns the result of --check with errors, tolerances and the worst element. */
static json_t *check_of(const driver_check *check, const fmo_dataset *dataset)
{
    if (check->status == DRIVER_CHECK_NONE) return json_null();
    if (check->status == DRIVER_CHECK_IMPOSSIBLE)
        return json_pack("{s:s, s:o}", "status", driver_check_status_name(check->status), "reason",
                         driver_json_text(check->reason));
    char row[64], column[64];
    const driver_deviation *worst = &check->matrix[check->worst];
    fmo_dataset_ao_label(dataset, worst->row, row, sizeof row);
    fmo_dataset_ao_label(dataset, worst->column, column, sizeof column);
    json_t *errors = json_object();
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++)
        if (check->matrix[m].compared)
            json_object_set_new(errors, driver_matrix_name((driver_matrix)m),
                                driver_json_number(check->matrix[m].error));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:{s:s, s:i, s:i, s:o, s:o, s:o, s:o}}", "status",
        check->status == DRIVER_CHECK_PASS ? "pass" : "fail", "against", check->against,
        "tolerance", driver_json_number(check->tolerance), "max_error", errors, "energy_tolerance",
        driver_json_number(check->energy_tolerance), "energy_error",
        check->energy.compared ? driver_json_number(check->energy.error) : json_null(), "worst",
        "matrix", driver_matrix_name(check->worst), "row", worst->row, "column", worst->column,
        "row_ao", driver_json_text(row), "column_ao", driver_json_text(column), "got",
        driver_json_number(worst->got), "want", driver_json_number(worst->want));
}

static fmo_status append(driver_json *json, json_t *entry, fmo_error *err)
{
    if (json_array_append_new(json->builds, entry) != 0)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return FMO_OK;
}

/* Returns the array of SCF cycles. */
static json_t *cycles_of(const driver_result *result)
{
    json_t *cycles = json_array();
    for (int i = 0; i < result->cycle_num; i++) {
        const fmo_scf_cycle *c = &result->cycles[i];
        json_t *entry = json_pack(
            "{s:i, s:o, s:o, s:o, s:s, s:s, s:i, s:o, s:o, s:o}", "cycle", c->cycle, "energy",
            driver_json_number(c->energy), "energy_change", driver_json_number(c->energy_change),
            "gradient", driver_json_number(c->gradient), "build", c->full_build ? "full" : "change",
            "extrapolation",
            c->newton        ? "none"
            : c->energy_diis ? "ediis"
                             : "diis",
            "builds", c->builds, "fock_seconds", driver_json_number(c->fock_seconds),
            "solve_seconds", driver_json_number(c->solve_seconds), "other_seconds",
            driver_json_number(c->other_seconds));
        if (json_array_append_new(cycles, entry) != 0) {
            json_decref(cycles);
            return NULL;
        }
    }
    return cycles;
}

/* Returns a derivative of the energy with respect to places, a row for each; null without. */
static json_t *gradient_of(const double *gradient, size_t num)
{
    if (!gradient) return json_null();
    json_t *rows = json_array();
    for (size_t i = 0; i < num; i++) {
        const double *const g = gradient + 3 * i;
        json_array_append_new(rows, json_pack("[o, o, o]", driver_json_number(g[0]),
                                              driver_json_number(g[1]), driver_json_number(g[2])));
    }
    return rows;
}

/* Returns an array of numbers; null without. */
static json_t *numbers_of(const double *values, int count)
{
    if (!values) return json_null();
    json_t *const array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, driver_json_number(values[i]));
    return array;
}

/* Returns the charges and spin populations of the atoms and the dipole moment; null what was not
 * computed. */
static json_t *properties_of(const driver_result *result)
{
    const int n = result->charge_num;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "mulliken_charges",
                     numbers_of(driver_charges_of(result, DRIVER_MULLIKEN), n), "loewdin_charges",
                     numbers_of(driver_charges_of(result, DRIVER_LOEWDIN), n), "mulliken_spins",
                     numbers_of(driver_charges_of(result, DRIVER_MULLIKEN_SPIN), n),
                     "loewdin_spins", numbers_of(driver_charges_of(result, DRIVER_LOEWDIN_SPIN), n),
                     "dipole", numbers_of(isnan(result->dipole[0]) ? NULL : result->dipole, 3));
}

/* Returns the members that only an SCF has. */
static json_t *scf_of(const driver_options *options, const driver_result *result)
{
    const fmo_scf_result *scf = result->scf;
    const fmo_scf_options *requested = &options->scf_options;
    json_t *object = json_pack(
        "{s:b, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o, s:o, "
        "s:o}",
        "converged", scf->converged, "verdict", scf->verdict, "guess",
        fmo_scf_guess_name(requested->guess), "solver", fmo_scf_solver_name(scf->solver),
        "electrons", result->electrons, "mo_num", scf->mo_num, "dropped", scf->dropped, "cycle_num",
        scf->cycles, "full_builds", scf->full_builds, "descents", scf->descents, "builds",
        scf->builds, "newton_cycles", scf->newton_cycles, "rescued", scf->rescued, "energy_change",
        driver_json_number(scf->energy_change), "gradient", driver_json_number(scf->gradient),
        "energy_error", driver_json_number(scf->energy_error), "homo",
        driver_json_number(scf->homo), "lumo", driver_json_number(scf->lumo));
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:o, s:o, s:I, "
        "s:o}",
        "energy_convergence", driver_json_number(requested->energy_convergence),
        "gradient_convergence", driver_json_number(requested->gradient_convergence), "level_shift",
        driver_json_number(requested->level_shift), "overlap_smallest",
        driver_json_number(scf->overlap_smallest), "hessian_lowest",
        driver_json_number(scf->hessian_lowest), "seconds", "total",
        driver_json_number(scf->seconds), "one_electron",
        driver_json_number(scf->one_electron_seconds), "plan",
        driver_json_number(scf->plan_seconds), "guess", driver_json_number(scf->guess_seconds),
        "fock", driver_json_number(scf->fock_seconds), "solve",
        driver_json_number(scf->solve_seconds), "stability",
        driver_json_number(scf->stability_seconds), "forces",
        driver_json_number(scf->forces_seconds), "cycles", cycles_of(result), "nuclear_gradient",
        gradient_of(scf->nuclear_gradient, (size_t)scf->nucleus_num), "point_charges",
        (json_int_t)(result->charges ? result->charges->num : 0), "point_charge_gradient",
        gradient_of(scf->charge_gradient, scf->charge_num));
    json_t *spin = json_pack("{s:s, s:i, s:i, s:o}", "method", driver_scf_method(scf),
                             "multiplicity", scf->multiplicity, "occupied_num", scf->occupied_num,
                             "spin_square", driver_json_number(scf->spin_square));
    json_t *properties = properties_of(result);
    if (!object || !rest || !spin || !properties || json_object_update(object, rest) != 0 ||
        json_object_update(object, spin) != 0 || json_object_update(object, properties) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(rest);
    json_decref(spin);
    json_decref(properties);
    return object;
}

/* Returns the seconds of each GPU for its share of a build; null if fewer than two GPUs shared
 * it. */
static json_t *device_seconds_of(const fmo_fock_profile *profile)
{
    if (isnan(profile->device_seconds[0])) return json_null();
    json_t *array = json_array();
    for (int k = 0; k < profile->devices; k++)
        json_array_append_new(array, driver_json_number(profile->device_seconds[k]));
    return array;
}

/* Returns the members that only builds have, not SCFs. */
static json_t *build_of(const driver_options *options, const driver_result *result)
{
    const fmo_dataset *dataset = result->dataset;
    const fmo_fock_profile *profile = &result->profile;
    double quartets = 0.0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) quartets += (double)profile->classes[c].quartets;
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "repeat", options->repeat, "plan_seconds", driver_json_number(profile->plan_seconds),
        "seconds", driver_json_spread(&result->seconds), "screening_seconds",
        driver_json_number(profile->screening_seconds), "far_seconds",
        driver_json_number(profile->far_seconds), "reduce_seconds",
        driver_json_number(profile->reduce_seconds), "gpu_seconds",
        driver_json_number(profile->gpu_seconds), "device_seconds", device_seconds_of(profile),
        "transfer_seconds", driver_json_number(profile->transfer_seconds), "quartets_per_second",
        driver_json_number(driver_profile_has_classes(profile) ? quartets / result->seconds.median
                                                               : NAN),
        "classes", classes_of(profile), "repeat_difference",
        driver_json_number(result->repeat_difference), "energy", driver_json_number(result->energy),
        "energy_2e", driver_json_number(result->energy_2e), "trace_g",
        driver_json_number(result->trace_g), "norm_g", driver_json_number(result->norm_g), "check",
        check_of(&result->check, dataset));
}

/* Packs what builds and SCFs have in common, and adds the members of the one or the other. */
fmo_status driver_json_add(driver_json *json, const driver_options *options,
                           const driver_result *result, fmo_error *err)
{
    const fmo_dataset *dataset = result->dataset;
    const fmo_fock_profile *profile = &result->profile;
    const bool fused = profile->mode == FMO_MODE_FUSED;
    json_t *notices = json_array();
    for (int i = 0; driver_result_notice(result, i); i++)
        json_array_append_new(notices, driver_json_text(driver_result_notice(result, i)));
    json_t *entry = json_pack(
        "{s:o, s:o, s:o, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i}",
        "dataset", driver_json_text(fmo_dataset_path(dataset)), "sha256",
        driver_json_text(fmo_dataset_sha256(dataset)), "formula",
        driver_json_text(fmo_dataset_formula(dataset)), "nao", result->nao, "basis",
        driver_json_text(fmo_dataset_basis_name(dataset)), "notices", notices, "mode",
        fmo_mode_name(profile->mode), "mode_reason", driver_json_text(profile->mode_reason),
        "scatter",
        fused ? driver_json_text(
                    fmo_scatter_name(result->is_scf ? options->fock.scatter : profile->scatter))
              : json_null(),
        "commit",
        fused ? driver_json_text(
                    fmo_commit_name(result->is_scf ? options->fock.commit : profile->commit))
              : json_null(),
        "reduce",
        driver_mode_reduces(profile->mode) ? driver_json_text(fmo_reduce_name(options->fock.reduce))
                                           : json_null(),
        "integrals",
        profile->mode == FMO_MODE_CPU || (fused && !result->is_scf)
            ? driver_json_text(fmo_integrals_name(profile->integrals))
            : json_null(),
        "coulomb",
        profile->mode == FMO_MODE_CPU ? driver_json_text(fmo_coulomb_name(profile->coulomb))
                                      : json_null(),
        "cutoff", driver_json_number(driver_cutoff(options)), "threads", profile->threads, "ranks",
        profile->ranks > 1 ? profile->ranks : 1, "gpus", profile->devices);
    json_t *rest;
    if (result->is_scf)
        rest = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "plan_seconds",
                         driver_json_number(profile->plan_seconds), "energy",
                         driver_json_number(result->energy), "energy_2e",
                         driver_json_number(result->energy_2e), "trace_g",
                         driver_json_number(result->trace_g), "norm_g",
                         driver_json_number(result->norm_g), "scf", scf_of(options, result));
    else
        rest = build_of(options, result);
    if (!entry || !rest || json_object_update(entry, rest) != 0) {
        json_decref(entry);
        entry = NULL;
    }
    json_decref(rest);
    if (entry && result->frame) json_object_set_new(entry, "frame", json_integer(result->frame));
    if (profile->device[0] &&
        json_object_set_new(json->root, "device",
                            json_pack("{s:o}", "name", driver_json_text(profile->device))))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return append(json, entry, err);
}

fmo_status driver_json_add_failure(driver_json *json, const char *path, int frame,
                                   const fmo_error *failure, fmo_error *err)
{
    json_t *entry = json_pack("{s:o, s:{s:o, s:i}}", "dataset", driver_json_text(path), "error",
                              "message", driver_json_text(failure->message), "exit_code",
                              fmo_status_exit_code(failure->status));
    if (frame) json_object_set_new(entry, "frame", json_integer(frame));
    return append(json, entry, err);
}

fmo_status driver_json_add_restored(driver_json *json, const driver_scf_one *one, fmo_error *err)
{
    json_t *entry = json_pack("{s:o, s:{s:o, s:b}}", "dataset", driver_json_text(one->path),
                              "restored", "energy", driver_json_number(one->result.energy),
                              "converged", one->result.scf_verdict.status == FMO_OK);
    if (one->result.frame) json_object_set_new(entry, "frame", json_integer(one->result.frame));
    return append(json, entry, err);
}

/* Sets the member "batch" from the totals. */
fmo_status driver_json_add_scf_batch(driver_json *json, const driver_scf_totals *totals,
                                     fmo_error *err)
{
    const driver_spread seconds = {totals->seconds, totals->seconds, totals->seconds};
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:o}", "datasets", (json_int_t)(totals->molecules - totals->failed),
        "failed", (json_int_t)totals->failed, "not_converged", (json_int_t)totals->unconverged,
        "seconds", driver_json_spread(&seconds));
    if (json_object_set_new(json->root, "batch", object) != 0 ||
        (totals->ranks > 1 &&
         json_object_set_new(object, "ranks", json_integer(totals->ranks)) != 0))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return FMO_OK;
}

fmo_status driver_json_add_batch(driver_json *json, const driver_batch *batch, fmo_error *err)
{
    json_t *object = json_pack("{s:i, s:o}", "datasets", batch->built, "seconds",
                               driver_json_spread(&batch->seconds));
    if (json_object_set_new(json->root, "batch", object) != 0)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return FMO_OK;
}

fmo_status driver_json_add_deal(driver_json *json, const driver_deal *deal, int ranks,
                                fmo_error *err)
{
    json_t *object = json_pack("{s:i, s:o, s:i, s:o}", "datasets", deal->built, "seconds",
                               driver_json_spread(&deal->seconds), "ranks", ranks, "wall_seconds",
                               driver_json_number(deal->wall_seconds));
    if (json_object_set_new(json->root, "batch", object) != 0)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return FMO_OK;
}

char *driver_json_pack(const driver_json *json)
{
    return json_dumps(json->root, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

fmo_status driver_json_unpack(driver_json *json, const char *text, fmo_error *err)
{
    json_error_t where;
    json_t *other = json_loads(text, 0, &where);
    json_t *device = json_object_get(other, "device");
    const bool good = other &&
                      json_array_extend(json->builds, json_object_get(other, "builds")) == 0 &&
                      (json_is_null(device) || json_object_set(json->root, "device", device) == 0);
    json_decref(other);
    return good ? FMO_OK : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
}

fmo_status driver_json_write(const driver_json *json, FILE *stream, fmo_error *err)
{
    char *document = driver_json_document(json->root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!document) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    fputs(document, stream);
    fputc('\n', stream);
    free(document);
    return FMO_OK;
}
