/* What both forms of a group share (group.cu, none.c): names and defaults. */
#ifndef FMO_COMM_GROUP_H
#define FMO_COMM_GROUP_H

#include <fmo/gmpi_net.h>

/* Out of a function that returns a status if an argument is NULL. */
#define FMO_COMM_NEED(argument)                                                                 \
    do {                                                                                        \
        if (!(argument))                                                                        \
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: %s is NULL", __func__, #argument); \
    } while (0)

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
