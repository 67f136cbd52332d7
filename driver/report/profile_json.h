/* --profile=json: the document described in docs/reference/profile-json.md and
 * docs/reference/profile.schema.json. */
#ifndef FMO_DRIVER_PROFILE_JSON_H
#define FMO_DRIVER_PROFILE_JSON_H

#include "driver/cli/options.h"
#include "driver/run/batch.h"
#include "driver/run/deal.h"
#include "driver/run/scf_batch.h"

typedef struct driver_json driver_json;

/** Returns an empty document; NULL if memory is short. */
driver_json *driver_json_create(void);
void driver_json_destroy(driver_json *json); /**< json may be NULL */

/** Appends one data set. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add(driver_json *json, const driver_options *options,
                           const driver_result *result, fmo_error *err);

/** Appends a data set that failed: its path, its frame (0: none) and the message.
 *  @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add_failure(driver_json *json, const char *path, int frame,
                                   const fmo_error *failure, fmo_error *err);

/** Appends a molecule whose result is that of an earlier run. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add_restored(driver_json *json, const driver_scf_one *one, fmo_error *err);

/** Sets the time of the one call of --batch. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add_batch(driver_json *json, const driver_batch *batch, fmo_error *err);

/** The same for a batch that was distributed among ranks. */
fmo_status driver_json_add_deal(driver_json *json, const driver_deal *deal, int ranks,
                                fmo_error *err);

/** pack returns a document as text, to be freed, or NULL if memory is short; unpack appends the
 *  data sets of such a text to another document. */
char *driver_json_pack(const driver_json *json);
fmo_status driver_json_unpack(driver_json *json, const char *text, fmo_error *err);
/** Sets the totals of --scf --batch. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_add_scf_batch(driver_json *json, const driver_scf_totals *totals,
                                     fmo_error *err);

/** Writes the document. The caller checks for write errors with ferror(stream).
 *  @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_json_write(const driver_json *json, FILE *stream, fmo_error *err);

#endif
