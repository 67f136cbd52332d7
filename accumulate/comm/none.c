/* gmpi in builds without CUDA: no group can be created, and all other functions handle NULL. */
#include "group.h"

#include <stddef.h>

#define NO_CUDA "gmpi: built without CUDA; configure with -DFMO_CUDA=ON"

fmo_status fmo_gmpi_create(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    FMO_COMM_NEED(options);
    FMO_COMM_NEED(group);
    const fmo_status status = fmo_comm_check_options(options, 0, err);
    *group = NULL;
    return status != FMO_OK ? status : fmo_error_set(err, FMO_ERR_UNSUPPORTED, NO_CUDA);
}
fmo_status fmo_gmpi_create_over(const fmo_gmpi_options *options, const fmo_gmpi_net *net,
                                fmo_gmpi **group, fmo_error *err)
{
    FMO_COMM_NEED(options);
    FMO_COMM_NEED(net);
    FMO_COMM_NEED(group);
    const fmo_status status = fmo_comm_check_options(options, 1, err);
    *group = NULL;
    net->destroy(net->user);
    return status != FMO_OK ? status : fmo_error_set(err, FMO_ERR_UNSUPPORTED, NO_CUDA);
}
void fmo_gmpi_destroy(fmo_gmpi *group)
{
    (void)group;
}
int fmo_gmpi_size(const fmo_gmpi *group)
{
    (void)group;
    return 0;
}
int fmo_gmpi_first(const fmo_gmpi *group)
{
    (void)group;
    return 0;
}
int fmo_gmpi_local_size(const fmo_gmpi *group)
{
    (void)group;
    return 0;
}
int fmo_gmpi_device(const fmo_gmpi *group, int rank)
{
    (void)group, (void)rank;
    return -1;
}
void *fmo_gmpi_bufs(const fmo_gmpi *group, int rank)
{
    (void)group, (void)rank;
    return NULL;
}
fmo_status fmo_gmpi_alloc(fmo_gmpi *group, size_t bytes, size_t *offset, fmo_error *err)
{
    FMO_COMM_NEED(group);
    FMO_COMM_NEED(offset);
    (void)group, (void)bytes, (void)offset;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, NO_CUDA);
}
void *fmo_gmpi_address(const fmo_gmpi *group, int rank, size_t offset)
{
    (void)group, (void)rank, (void)offset;
    return NULL;
}
fmo_status fmo_gmpi_channel_create(fmo_gmpi *group, int source, int dest, size_t bytes,
                                   int *channel, fmo_error *err)
{
    FMO_COMM_NEED(group);
    FMO_COMM_NEED(channel);
    (void)group, (void)source, (void)dest, (void)bytes, (void)channel;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, NO_CUDA);
}
fmo_status fmo_gmpi_check(const fmo_gmpi *group, fmo_error *err)
{
    FMO_COMM_NEED(group);
    (void)group;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, NO_CUDA);
}
void fmo_gmpi_abort(fmo_gmpi *group)
{
    (void)group;
}
