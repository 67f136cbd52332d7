/* How texts that we write begin, by which they are known again. */
#ifndef FMO_IO_OUTPUT_KIND_H
#define FMO_IO_OUTPUT_KIND_H

#define FMO_MOLDEN_HEAD "[Molden Format]\n[Title]\nfmo " /* and the version */
#define FMO_JSON_HEAD   "\"format\": \"fmo-"             /* behind "{" and blanks */
#define FMO_STATE_HEAD  "fmo fragment state "            /* as driver/fmo/state.c writes it */

#endif
