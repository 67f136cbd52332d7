/* Declarations common to groups with CUDA (group.cu) and without (none.c): checks and error
 * messages. */
#ifndef FMO_COMM_GROUP_H
#define FMO_COMM_GROUP_H

#include <fmo/gmpi_net.h>

/* Returns FMO_ERR_ARGUMENT from the calling function if an argument is NULL. */
#define FMO_COMM_NEED(argument)                                                                 \
    do {                                                                                        \
        if (!(argument))                                                                        \
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: %s is NULL", __func__, #argument); \
    } while (0)

#ifdef __cplusplus
extern "C" {
#endif

/** Checks the options. `over`: the rank is behind a network. */
fmo_status fmo_comm_check_options(const fmo_gmpi_options *options, int over, fmo_error *err);

/** Converts an error word of a rank to a status and a message of one line. */
fmo_status fmo_comm_error(unsigned long long word, int rank, double timeout, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
