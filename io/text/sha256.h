/* Which bytes a data set was made of. */
#ifndef FMO_IO_TEXT_SHA256_H
#define FMO_IO_TEXT_SHA256_H

#include <fmo/status.h>

/* SHA-256 of an open file from its beginning, 64 hex digits. FMO_OK, FMO_ERR_INPUT (errno) or
 * FMO_ERR_MEMORY. */
fmo_status fmo_sha256_file(int descriptor, char hex[65]);

#endif
