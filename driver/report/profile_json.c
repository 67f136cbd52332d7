/* The profile as JSON. Versioned: fields are only ever added within a version. What is not a
 * number becomes null; text that is not UTF-8 gets '?' for the bytes that are not ASCII. */
#include "driver/report/profile_json.h"
#include "driver/report/host.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/version.h>

enum { PROFILE_VERSION = 1 };

struct driver_json {
    json_t *root;
    json_t *builds; /* borrowed from root */
};

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *value)
{
    if (!value) return json_null();
    json_t *string = json_string(value);
    if (string) return string;
    char *copy = strdup(value);
    if (!copy) return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

driver_json *driver_json_create(void)
{
    char cpu[128];
    driver_json *json = calloc(1, sizeof *json);
    if (!json) return NULL;
    driver_host_cpu(cpu, sizeof cpu);
    json->builds = json_array();
    /* "o" takes the reference over, and json_pack fails as a whole on a NULL among them. */
    json->root = json_pack("{s:s, s:i, s:s, s:o, s:{s:o, s:i}, s:n, s:o}", "format", "fmo-profile",
                           "version", PROFILE_VERSION, "fmo_version", FMO_VERSION_STRING, "commit",
                           text(driver_host_commit()), "host", "cpu", text(cpu), "cores",
                           driver_host_cores(), "device", "builds", json->builds);
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

static json_t *classes_of(const fmo_fock_profile *profile)
{
    json_t *classes = json_array();
    for (int c = 0; c < FMO_ERI_CLASS_COUNT && driver_profile_has_classes(profile); c++) {
        const fmo_class_profile *row = &profile->classes[c];
        json_t *entry = json_pack(
            "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
            fmo_eri_class_name((fmo_eri_class)c), "quartets", (json_int_t)row->quartets,
            "quartets_skipped", (json_int_t)row->quartets_skipped, "primitive_quartets",
            (json_int_t)row->prim_quartets, "seconds", number(row->seconds), "share",
            number(row->seconds / profile->seconds), "compute_seconds",
            number(row->compute_seconds), "accumulation_seconds",
            number(row->seconds - row->compute_seconds), "accumulation_share",
            number(1.0 - row->compute_seconds / row->seconds), "adds",
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

static json_t *check_of(const driver_check *check, const fmo_dataset *dataset)
{
    if (check->status == DRIVER_CHECK_NONE) return json_null();
    if (check->status == DRIVER_CHECK_IMPOSSIBLE)
        return json_pack("{s:s, s:o}", "status", driver_check_status_name(check->status), "reason",
                         text(check->reason));
    char row[64], column[64];
    const driver_deviation *worst = &check->matrix[check->worst];
    fmo_dataset_ao_label(dataset, worst->row, row, sizeof row);
    fmo_dataset_ao_label(dataset, worst->column, column, sizeof column);
    json_t *errors = json_object();
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++)
        if (check->matrix[m].compared)
            json_object_set_new(errors, driver_matrix_name((driver_matrix)m),
                                number(check->matrix[m].error));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:{s:s, s:i, s:i, s:o, s:o, s:o, s:o}}",
                     "status", check->status == DRIVER_CHECK_PASS ? "pass" : "fail", "against",
                     check->against, "tolerance", number(check->tolerance), "max_error", errors,
                     "energy_tolerance", number(check->energy_tolerance), "energy_error",
                     check->energy.compared ? number(check->energy.error) : json_null(), "worst",
                     "matrix", driver_matrix_name(check->worst), "row", worst->row, "column",
                     worst->column, "row_ao", text(row), "column_ao", text(column), "got",
                     number(worst->got), "want", number(worst->want));
}

static fmo_status append(driver_json *json, json_t *entry, fmo_error *err)
{
    if (json_array_append_new(json->builds, entry) != 0)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return FMO_OK;
}

static json_t *cycles_of(const driver_result *result)
{
    json_t *cycles = json_array();
    for (int i = 0; i < result->cycle_num; i++) {
        const fmo_scf_cycle *c = &result->cycles[i];
        json_t *entry = json_pack(
            "{s:i, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o}", "cycle", c->cycle, "energy",
            number(c->energy), "energy_change", number(c->energy_change), "gradient",
            number(c->gradient), "build", c->full_build ? "full" : "change", "extrapolation",
            c->energy_diis ? "ediis" : "diis", "fock_seconds", number(c->fock_seconds),
            "solve_seconds", number(c->solve_seconds), "other_seconds", number(c->other_seconds));
        if (json_array_append_new(cycles, entry) != 0) {
            json_decref(cycles);
            return NULL;
        }
    }
    return cycles;
}

static json_t *scf_of(const driver_options *options, const driver_result *result)
{
    const fmo_scf_result *scf = result->scf;
    const fmo_scf_options *asked = &options->scf_options;
    json_t *object = json_pack(
        "{s:b, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "converged",
        scf->converged, "verdict", scf->verdict, "guess", fmo_scf_guess_name(asked->guess),
        "solver", fmo_scf_solver_name(scf->solver), "electrons", 2 * scf->occupied_num, "mo_num",
        scf->mo_num, "dropped", scf->dropped, "cycle_num", scf->cycles, "full_builds",
        scf->full_builds, "descents", scf->descents, "energy_change", number(scf->energy_change),
        "gradient", number(scf->gradient), "homo", number(scf->homo), "lumo", number(scf->lumo));
    json_t *rest =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:o}",
                  "energy_convergence", number(asked->energy_convergence), "gradient_convergence",
                  number(asked->gradient_convergence), "level_shift", number(asked->level_shift),
                  "overlap_smallest", number(scf->overlap_smallest), "hessian_lowest",
                  number(scf->hessian_lowest), "seconds", "total", number(scf->seconds),
                  "one_electron", number(scf->one_electron_seconds), "plan",
                  number(scf->plan_seconds), "guess", number(scf->guess_seconds), "fock",
                  number(scf->fock_seconds), "solve", number(scf->solve_seconds), "stability",
                  number(scf->stability_seconds), "cycles", cycles_of(result));
    if (!object || !rest || json_object_update(object, rest) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(rest);
    return object;
}

/* What only builds have. */
static json_t *build_of(const driver_options *options, const driver_result *result)
{
    const fmo_dataset *dataset = result->dataset;
    const fmo_fock_profile *profile = &result->profile;
    double quartets = 0.0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) quartets += (double)profile->classes[c].quartets;
    json_t *seconds = json_pack("{s:o, s:o, s:o}", "min", number(result->seconds_min), "median",
                                number(result->seconds_median), "max", number(result->seconds_max));
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "repeat",
        options->repeat, "plan_seconds", number(profile->plan_seconds), "seconds", seconds,
        "screening_seconds", number(profile->screening_seconds), "reduce_seconds",
        number(profile->reduce_seconds), "gpu_seconds", number(profile->gpu_seconds),
        "transfer_seconds", number(profile->transfer_seconds), "quartets_per_second",
        number(driver_profile_has_classes(profile) ? quartets / result->seconds_median : NAN),
        "classes", classes_of(profile), "repeat_difference", number(result->repeat_difference),
        "energy", number(result->energy), "energy_2e", number(result->energy_2e), "trace_g",
        number(result->trace_g), "norm_g", number(result->norm_g), "check",
        check_of(&result->check, dataset));
}

fmo_status driver_json_add(driver_json *json, const driver_options *options,
                           const driver_result *result, fmo_error *err)
{
    const fmo_dataset *dataset = result->dataset;
    const fmo_fock_profile *profile = &result->profile;
    const bool fused = profile->mode == FMO_MODE_FUSED;
    json_t *notices = json_array();
    for (int i = 0; fmo_dataset_notice(dataset, i); i++)
        json_array_append_new(notices, text(fmo_dataset_notice(dataset, i)));
    json_t *entry = json_pack(
        "{s:o, s:o, s:o, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "dataset",
        text(fmo_dataset_path(dataset)), "sha256", text(fmo_dataset_sha256(dataset)), "formula",
        text(fmo_dataset_formula(dataset)), "nao", result->nao, "basis",
        text(fmo_dataset_basis_name(dataset)), "notices", notices, "mode",
        fmo_mode_name(profile->mode), "mode_reason", text(profile->mode_reason), "scatter",
        fused ? text(fmo_scatter_name(result->scf ? options->fock.scatter : profile->scatter))
              : json_null(),
        "commit",
        fused ? text(fmo_commit_name(result->scf ? options->fock.commit : profile->commit))
              : json_null(),
        "reduce",
        driver_mode_reduces(profile->mode) ? text(fmo_reduce_name(options->fock.reduce))
                                           : json_null(),
        "integrals",
        profile->mode == FMO_MODE_CPU || (fused && !result->scf)
            ? text(fmo_integrals_name(profile->integrals))
            : json_null(),
        "cutoff", number(driver_cutoff(options)), "threads", profile->threads);
    json_t *rest;
    if (result->scf)
        rest = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "plan_seconds",
                         number(profile->plan_seconds), "energy", number(result->energy),
                         "energy_2e", number(result->energy_2e), "trace_g", number(result->trace_g),
                         "norm_g", number(result->norm_g), "scf", scf_of(options, result));
    else
        rest = build_of(options, result);
    if (!entry || !rest || json_object_update(entry, rest) != 0) {
        json_decref(entry);
        entry = NULL;
    }
    json_decref(rest);
    if (profile->device[0] &&
        json_object_set_new(json->root, "device",
                            json_pack("{s:o}", "name", text(profile->device))))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return append(json, entry, err);
}

fmo_status driver_json_add_failure(driver_json *json, const char *path, const fmo_error *failure,
                                   fmo_error *err)
{
    return append(json,
                  json_pack("{s:o, s:{s:o, s:i}}", "dataset", text(path), "error", "message",
                            text(failure->message), "exit_code",
                            fmo_status_exit_code(failure->status)),
                  err);
}

fmo_status driver_json_add_batch(driver_json *json, const driver_batch *batch, fmo_error *err)
{
    json_t *object = json_pack("{s:i, s:{s:o, s:o, s:o}}", "datasets", batch->built, "seconds",
                               "min", number(batch->seconds_min), "median",
                               number(batch->seconds_median), "max", number(batch->seconds_max));
    if (json_object_set_new(json->root, "batch", object) != 0)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    return FMO_OK;
}

fmo_status driver_json_write(const driver_json *json, FILE *stream, fmo_error *err)
{
    char *document = json_dumps(json->root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!document) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the profile");
    fputs(document, stream);
    fputc('\n', stream);
    free(document);
    return FMO_OK;
}
