/* What both forms of a group share (group.cu, none.c): names and defaults. */
#ifndef FMO_COMM_GROUP_H
#define FMO_COMM_GROUP_H

#include <fmo/gmpi_net.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Are the options sensible? `over`: a rank behind a network. */
fmo_status fmo_comm_check_options(const fmo_gmpi_options *options, int over, fmo_error *err);

/** An error of a rank as a status and one line. */
fmo_status fmo_comm_error(unsigned long long word, int rank, double timeout, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
