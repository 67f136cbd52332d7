/* Whether a file can be written, as far as that can be known before hours of computing. */
#ifndef FMO_BASE_OUTPUT_CHECK_H
#define FMO_BASE_OUTPUT_CHECK_H

#include <fmo/status.h>

/** @param[in] option  that names the file: "output", "molden", "json"
 *  @param[in] output  the file to be written
 *  @param[in] input   a file that must not be overwritten, or NULL
 *  @param[in] kind    what that is: "data set", "geometry"
 *  @return FMO_OK, FMO_ERR_OUTPUT with the option named, FMO_ERR_MEMORY */
fmo_status driver_check_output(const char *option, const char *output, const char *input,
                               const char *kind, fmo_error *err);

#endif
