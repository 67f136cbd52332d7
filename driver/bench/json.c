/* Results as JSON, "fmo-bench" version 2 (docs/reference/bench.md). Within a version, fields are
 * only added. */
#include "bench.h"
#include "driver/report/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/result.h>

enum { BENCH_JSON_VERSION = 2 };

/* Returns null for "". */
static json_t *text(const char *value)
{
    return driver_json_text(value && *value ? value : NULL);
}

static json_t *device_json(const bench_run *run)
{
    const bench_device *d = &run->device;
    if (!run->gpu) return json_null();
    return json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:I, s:i, s:i, s:o}", "name", text(d->name),
                     "multiprocessors", d->sms, "compute_capability", d->capability, "l2_bytes",
                     d->l2_bytes, "l2_window_bytes", d->window_bytes, "shared_bytes",
                     d->shared_bytes, "memory_bytes", (json_int_t)d->memory, "driver", d->driver,
                     "runtime", d->runtime, "fp64_flops",
                     driver_json_number(d->fp64_flops > 0.0 ? d->fp64_flops : NAN));
}

static json_t *check_json(const bench_check *check)
{
    if (check->kind == BENCH_CHECK_NONE) return json_null();
    const char *status = check->wrong ? "fail" : "pass";
    if (check->kind == BENCH_EXACT)
        return json_pack("{s:s, s:s, s:I}", "status", status, "kind", "exact", "wrong",
                         (json_int_t)check->wrong);
    return json_pack("{s:s, s:s, s:I, s:o, s:o}", "status", status, "kind", "bound", "wrong",
                     (json_int_t)check->wrong, "error", driver_json_number(check->error), "bound",
                     driver_json_number(check->bound));
}

/* Returns a cell; without the measurement if it was left out. */
static json_t *cell_json(const bench_cell *cell)
{
    json_t *parameters = json_object();
    for (int p = 0; p < cell->param_num; p++)
        json_object_set_new(parameters, cell->param[p].name,
                            cell->param[p].text ? text(cell->param[p].text)
                                                : driver_json_number(cell->param[p].number));
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s}", "experiment",
                               bench_experiment_name(cell->experiment), "table", cell->table, "row",
                               cell->row, "column", cell->column, "where",
                               bench_place_name(cell->place), "method", cell->method, "commit",
                               text(cell->commit), "parameters", parameters, "unit", cell->unit);
    if (!object) return NULL;
    json_object_set_new(object, "note", text(cell->note));
    json_object_set_new(object, "left_out", text(cell->left_out));
    if (*cell->left_out) return object;
    const double rate =
        cell->items > 0 && cell->median > 0.0 ? (double)cell->items / cell->median : NAN;
    const driver_spread seconds = {cell->min, cell->median, cell->max};
    json_t *measured =
        json_pack("{s:I, s:I, s:b, s:i, s:o, s:o, s:o, s:o, s:o}", "items", (json_int_t)cell->items,
                  "items_run", (json_int_t)cell->items_run, "extrapolated", (int)cell->extrapolated,
                  "repeat", cell->repeat, "spread", driver_json_number(cell->spread), "seconds",
                  driver_json_spread(&seconds), "rate", driver_json_number(rate), "ratio",
                  isfinite(cell->ratio) ? json_pack("{s:s, s:o}", "to", cell->against, "value",
                                                    driver_json_number(cell->ratio))
                                        : json_null(),
                  "check", check_json(&cell->check));
    if (measured) json_object_update(object, measured);
    json_decref(measured);
    return object;
}

/* Packs all cells with the device and the options, and writes the file. */
fmo_status bench_json_write(const bench_run *run, const char *path, fmo_error *err)
{
    json_t *results = json_array();
    for (int c = 0; c < run->cell_num; c++)
        json_array_append_new(results, cell_json(&run->cell[c]));
    json_t *root = driver_json_head("fmo-bench", BENCH_JSON_VERSION);
    json_t *rest = json_pack("{s:o, s:o, s:{s:I, s:f, s:I}, s:o}", "device", device_json(run),
                             "gpu_left_out", text(run->no_gpu), "options", "repeat",
                             (json_int_t)run->options->repeat, "seconds", run->options->seconds,
                             "seed", (json_int_t)run->options->seed, "results", results);
    if (!rest || json_object_update(root, rest) != 0 ||
        json_object_set_new(json_object_get(root, "host"), "threads", json_integer(run->threads)) !=
            0) {
        json_decref(root);
        root = NULL;
    }
    json_decref(rest);
    char *document =
        root ? driver_json_document(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
    const size_t length = document ? strlen(document) : 0;
    fmo_status status = FMO_OK;
    if (document) {
        document[length] = '\n'; /* replaces the terminating zero */
        status = fmo_file_write(path, document, length + 1, err);
    } else {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %s", path);
    }
    free(document);
    json_decref(root);
    return status;
}
