/* Whether a file can be written, as far as that can be known before hours of computing. */
#ifndef FMO_RUN_OUTPUT_CHECK_H
#define FMO_RUN_OUTPUT_CHECK_H

#include <fmo/status.h>

/** @param[in] option  "output" or "molden"
 *  @param[in] output  the file to be written
 *  @param[in] input   the file that must not be overwritten
 *  @return FMO_OK, FMO_ERR_OUTPUT with the option named, FMO_ERR_MEMORY */
fmo_status driver_check_output(const char *option, const char *output, const char *input,
                               fmo_error *err);

#endif
