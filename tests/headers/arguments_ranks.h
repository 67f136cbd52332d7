/* The calls of arguments.c to ranks and communicators; included there alone. */
#ifndef FMO_TESTS_ARGUMENTS_RANKS_H
#define FMO_TESTS_ARGUMENTS_RANKS_H

/* Functions of a network that only agrees with itself. */
static int first_is_own(void *user, int mine, void *data, size_t bytes, int *who)
{
    (void)data, (void)bytes;
    *who = mine ? ((const ranks_local *)user)->rank : -1;
    return 0;
}
static int send_nothing(void *user, const void *data, size_t bytes)
{
    (void)user, (void)data, (void)bytes;
    return 0;
}
static int receive_nothing(void *user, int rank, void *data, size_t bytes)
{
    (void)user, (void)rank;
    memset(data, 0, bytes);
    return 0;
}

#if FMO_EXPERIMENTS
/* No communicator is made here, so that other arguments are NULL first. */
static void check_comm(void)
{
    fmo_gmpi_options o;
    fmo_gmpi *group = NULL;
    fmo_gmpi_options_init(&o);
    FINE(fmo_gmpi_options_init, "options", (fmo_gmpi_options_init(NULL), 1));
    REFUSED(fmo_gmpi_create, "options", NULL, &group, &err);
    REFUSED(fmo_gmpi_create, "group", &o, NULL, &err);
    const fmo_gmpi_net net = {.size = 1};
    REFUSED(fmo_gmpi_create_over, "options", NULL, &net, &group, &err);
    REFUSED(fmo_gmpi_create_over, "net", &o, NULL, &group, &err);
    REFUSED(fmo_gmpi_create_over, "group", &o, &net, NULL, &err);
    FINE(fmo_gmpi_destroy, "group", (fmo_gmpi_destroy(NULL), 1));
    FINE(fmo_gmpi_size, "group", fmo_gmpi_size(NULL) == 0);
    FINE(fmo_gmpi_first, "group", fmo_gmpi_first(NULL) == 0);
    FINE(fmo_gmpi_local_size, "group", fmo_gmpi_local_size(NULL) == 0);
    FINE(fmo_gmpi_device, "group", fmo_gmpi_device(NULL, 0) == -1);
    FINE(fmo_gmpi_bufs, "group", fmo_gmpi_bufs(NULL, 0) == NULL);
    FINE(fmo_gmpi_address, "group", fmo_gmpi_address(NULL, 0, 0) == NULL);
    FINE(fmo_gmpi_abort, "group", (fmo_gmpi_abort(NULL), 1));
    size_t offset;
    int channel;
    REFUSED(fmo_gmpi_alloc, "group", NULL, 8, &offset, &err);
    REFUSED(fmo_gmpi_channel_create, "group", NULL, 0, 1, 8, &channel, &err);
    FINE(fmo_gmpi_alloc, "offset", fmo_gmpi_alloc(NULL, 8, NULL, NULL) == FMO_ERR_ARGUMENT);
    FINE(fmo_gmpi_channel_create, "channel",
         fmo_gmpi_channel_create(NULL, 0, 1, 8, NULL, NULL) == FMO_ERR_ARGUMENT);
    REFUSED(fmo_gmpi_check, "group", NULL, &err);
#ifdef FMO_TEST_MPI
    REFUSED(fmo_gmpi_net_mpi, "net", NULL, &err);
    REFUSED(fmo_gmpi_create_mpi, "options", NULL, &group, &err);
    REFUSED(fmo_gmpi_create_mpi, "group", &o, NULL, &err);
#endif
}
#endif

/* Functions of ranks, with each pointer NULL in its turn. */
static void check_ranks(void)
{
    ranks_local_world world = {.size = 2};
    ranks_local user;
    fmo_ranks ranks = ranks_local_end(&user, &world, 0);
    ranks.first = first_is_own;
    ranks.send = send_nothing;
    ranks.receive = receive_nothing;
    REFUSED(fmo_ranks_agree, "ranks", NULL, FMO_OK, &err);
    REFUSED(fmo_ranks_broadcast, "ranks", NULL, NULL, 0, &err);
    REFUSED(fmo_ranks_broadcast, "data", &ranks, NULL, 8, &err);
    REFUSED(fmo_ranks_collect, "ranks", NULL, FMO_OK, NULL, 0, NULL, NULL, &err);
    /* of a rank, which is named in the message */
    FINE(fmo_ranks_collect, "take",
         fmo_ranks_collect(&ranks, FMO_OK, NULL, 0, NULL, NULL, NULL) == FMO_ERR_ARGUMENT);
    FINE(fmo_ranks_collect, "user",
         fmo_ranks_collect(&ranks, FMO_OK, NULL, 0, NULL, NULL, NULL) == FMO_ERR_ARGUMENT);
    ranks.rank = 1;
    FINE(fmo_ranks_collect, "data",
         fmo_ranks_collect(&ranks, FMO_OK, NULL, 8, NULL, NULL, NULL) == FMO_ERR_ARGUMENT);
    ranks.rank = 0;
    int device;
    REFUSED(fmo_ranks_gpu, "ranks", NULL, &device, &err);
    REFUSED(fmo_ranks_gpu, "device", &ranks, NULL, &err);
    REFUSED(fmo_fock_serve, "ranks", NULL, NULL, &err);
    FINE(fmo_fock_serve, "own", fmo_fock_serve(&ranks, NULL, NULL) == FMO_ERR_ARGUMENT);
    FINE(fmo_fock_dismiss, "ranks", (fmo_fock_dismiss(NULL), 1));
#ifdef FMO_TEST_MPI
    REFUSED(fmo_ranks_mpi, "ranks", NULL, &err);
#endif
}

#endif
