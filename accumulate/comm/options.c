/* Options of a group, names of transports and error messages: functions that need no GPU. */
#include "group.h"
#include "host_rank.h"

#include <string.h>

void fmo_gmpi_options_init(fmo_gmpi_options *options)
{
    if (!options) return;
    *options = (fmo_gmpi_options){.transport = FMO_GMPI_PEER,
                                  .ranks = 1,
                                  .concurrent = 1,
                                  .heap_bytes = (size_t)64 << 20,
                                  .timeout = 10.0};
}

const char *fmo_gmpi_transport_name(int transport)
{
#define ROW(name, text) text,
    static const char *const names[] = {FMO_GMPI_TRANSPORT_TABLE(ROW)};
#undef ROW
    return transport >= 0 && transport < FMO_GMPI_TRANSPORT_COUNT ? names[transport] : NULL;
}

/* Checks transport, ranks, timeout and the order of devices. */
fmo_status fmo_comm_check_options(const fmo_gmpi_options *options, int over, fmo_error *err)
{
    if (!fmo_gmpi_transport_name((int)options->transport))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "gmpi: transport = %d: expected peer or proxy",
                             (int)options->transport);
    if (over && options->ranks != 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "gmpi: ranks = %d: expected 1, because each process is one rank",
                             options->ranks);
    if (options->ranks < 1 || options->ranks > FMO_GMPI_RANKS_MAX)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "gmpi: ranks = %d: expected 1 to %d",
                             options->ranks, FMO_GMPI_RANKS_MAX);
    if (!(options->timeout > 0.0 && options->timeout <= 1e6))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "gmpi: timeout = %g: expected seconds above 0, at most 1e6",
                             options->timeout);
    for (int r = 2; options->devices && r < options->ranks; r++)
        for (int s = 0; s < r - 1; s++)
            if (options->devices[s] == options->devices[r] &&
                options->devices[r - 1] != options->devices[r])
                return fmo_error_set(
                    err, FMO_ERR_ARGUMENT,
                    "gmpi: devices[%d] = %d = devices[%d]: ranks on the same device must "
                    "be consecutive",
                    r, options->devices[r], s);
    return FMO_OK;
}

fmo_status fmo_comm_error(unsigned long long word, int rank, double timeout, fmo_error *err)
{
    char text[400];
    if (word == 0) return FMO_OK;
    fmo_comm_describe(word, rank, timeout, text, sizeof text);
    return fmo_error_set(err, FMO_ERR_DEVICE, "gmpi: %s", text);
}
