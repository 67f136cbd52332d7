/* --profile=json: the document described in docs/reference/profile-json.md and
 * docs/reference/profile.schema.json. */
#ifndef FMO_DRIVER_PROFILE_JSON_H
#define FMO_DRIVER_PROFILE_JSON_H

#include "driver/cli/options.h"
#include "driver/run/batch.h"
#include "driver/run/deal.h"
#include "driver/run/scf_batch.h"

typedef struct driver_json driver_json;

/** An empty document; NULL when there is no memory. */
driver_json *driver_json_create(void);
void driver_json_destroy(driver_json *json); /**< NULL is fine */

/** Append one data set. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add(driver_json *json, const driver_options *options,
                           const driver_result *result, fmo_error *err);

/** Append a data set that failed: its path, its frame there (0: none) and the message.
 *  @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add_failure(driver_json *json, const char *path, int frame,
                                   const fmo_error *failure, fmo_error *err);

/** Record what the one call of --batch took. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add_batch(driver_json *json, const driver_batch *batch, fmo_error *err);

/** The same of one that was dealt out to ranks. */
fmo_status driver_json_add_deal(driver_json *json, const driver_deal *deal, int ranks,
                                fmo_error *err);

/** A document as text, to be free()d, and its data sets at the end of another one's.
 *  @return NULL without memory */
char *driver_json_pack(const driver_json *json);
fmo_status driver_json_unpack(driver_json *json, const char *text, fmo_error *err);
/** The same of --scf --batch. */
fmo_status driver_json_add_scf_batch(driver_json *json, const driver_scf_totals *totals,
                                     fmo_error *err);

/** @return FMO_OK, FMO_ERR_MEMORY; write errors are left to ferror(stream) */
fmo_status driver_json_write(const driver_json *json, FILE *stream, fmo_error *err);

#endif
