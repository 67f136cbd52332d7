/* Detects a parallel launch, loads MPI only then, and divides cores and GPUs of a host among its
 * ranks. See ranks.h. */
#define _GNU_SOURCE
#include "driver/run/ranks.h"
#include "driver/base/agree.h"
#include "base/threads.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Environment variables set by launchers: Open MPI; MPICH and PMI of Slurm; MVAPICH; Slurm. */
static const struct {
    const char *size, *rank;
} starters[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                {"PMI_SIZE", "PMI_RANK"},
                {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

/* Returns the number of processes that were started together, and this process's number; 1 and 0 if
 * no launcher's variables are set. */
static int size_and_number(int *number)
{
    *number = 0;
    for (size_t k = 0; k < sizeof starters / sizeof *starters; k++) {
        const char *const size = getenv(starters[k].size), *const rank = getenv(starters[k].rank);
        if (!size || !rank || atoi(size) < 2) continue;
        *number = atoi(rank);
        return atoi(size);
    }
    return 1;
}

int driver_ranks_size(void)
{
    int number;
    return size_and_number(&number);
}

int driver_ranks_number(void)
{
    int number;
    size_and_number(&number);
    return number;
}

/* Opens the communicator of `size` processes, 2 or more. */
#ifdef FMO_DRIVER_MPI
typedef fmo_status open_mpi(fmo_ranks *ranks, fmo_error *err);

/* Loads libfmo_mpi, opens the communicator, and checks that MPI knows of all processes. */
static fmo_status open_network(driver_ranks *ranks, int size, fmo_error *err)
{
    /* MPI's plug-ins look up MPI symbols in the global scope. */
    ranks->library = dlopen(FMO_DRIVER_MPI, RTLD_NOW | RTLD_GLOBAL);
    void *const symbol = ranks->library ? dlsym(ranks->library, "fmo_ranks_mpi") : NULL;
    if (!symbol)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "started as %d processes, but MPI cannot be loaded: %s", size,
                             dlerror());
    open_mpi *open;
    memcpy(&open, &symbol, sizeof open); /* ISO C: no cast from object to function pointer */
    const fmo_status status = open(&ranks->net, err);
    if (status != FMO_OK) {
        ranks->net.size = 1;
        return status;
    }
    if (ranks->net.size == size) return FMO_OK;
    const int known = ranks->net.size;
    driver_ranks_close(ranks);
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "started as %d processes, but MPI reports %d: fmo was built with another "
                         "MPI than this mpirun's",
                         size, known);
}
#else
static fmo_status open_network(driver_ranks *ranks, int size, fmo_error *err)
{
    (void)ranks;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "started as %d processes, but built without MPI: each would do all of the "
                         "work; start it without mpirun, or build it with -DFMO_MPI=ON",
                         size);
}
#endif

fmo_status driver_ranks_open(driver_ranks *ranks, fmo_error *err)
{
    int number;
    const int size = size_and_number(&number);
    memset(ranks, 0, sizeof *ranks);
    ranks->net.size = 1;
    return size < 2 ? FMO_OK : open_network(ranks, size, err);
}

void driver_ranks_close(driver_ranks *ranks)
{
    if (ranks->net.user) ranks->net.destroy(ranks->net.user);
    memset(ranks, 0, sizeof *ranks); /* the library stays loaded: MPI cannot be unloaded */
    ranks->net.size = 1;
}

/* Compares the digests of all options with those of rank 0. */
fmo_status driver_ranks_agree(const driver_ranks *ranks, const driver_options *options,
                              fmo_status status, fmo_error *err)
{
    uint64_t own[DRIVER_DIGEST_MAX], first[DRIVER_DIGEST_MAX];
    if (ranks->net.size < 2) return status;
    status = driver_agree(&ranks->net, status, err);
    if (status != FMO_OK) return status;
    driver_options_digest(options, own);
    memcpy(first, own, sizeof first);
    status = fmo_ranks_broadcast(&ranks->net, first, sizeof first, err);
    if (status != FMO_OK) return status;
    for (int k = 0; k < DRIVER_DIGEST_MAX; k++)
        if (own[k] != first[k])
            fmo_error_set(err, FMO_ERR_ARGUMENT,
                          "%s%s: not the same as on rank 0; all ranks need the same command line, "
                          "except --threads",
                          k == DRIVER_DIGEST_MAX - 1 ? "" : "--", driver_options_digest_name(k));
    status = err->status;
    return driver_agree(&ranks->net, status, err);
}

/* Makes only this rank's GPU visible to CUDA, whose start-up time grows with the number of visible
 * GPUs. This applies if the host has a GPU for each of its ranks and the environment does not set
 * CUDA_VISIBLE_DEVICES. GPUs are counted by their device files, because CUDA cannot be queried
 * before it starts. */
static void show_own(const fmo_ranks *net)
{
    enum { FILES = 64 };
    char text[32];
    int gpus = 0;
    for (int k = 0; k < FILES; k++) {
        (void)snprintf(text, sizeof text, "/dev/nvidia%d", k);
        gpus += access(text, R_OK | W_OK) == 0;
    }
    if (gpus < net->node_size) return;
    (void)snprintf(text, sizeof text, "%d", net->node_rank);
    (void)setenv("CUDA_VISIBLE_DEVICES", text, 0);
}

/* Sets the number of threads and the GPU of this rank. */
fmo_status driver_ranks_divide(driver_ranks *ranks, driver_options *options, fmo_error *err)
{
    fmo_fock_options *const fock = &options->fock;
    /* fragments use more threads if they run on the CPU (fmo_fragment_run) */
    if (!fmo_threads_are_specified(fock->threads) && !options->fragments)
        fock->threads = ranks->net.cores;
    fock->ranks = &ranks->net;
    if (fock->device_num == 1) fock->device_num = 0; /* one GPU for each rank, not the same */
    if (fock->mode == FMO_MODE_CPU || fock->mode == FMO_MODE_REFERENCE) return FMO_OK;
    /* the call is collective: the number of GPUs may differ between hosts */
    int device = -1;
    if (!fock->device_num) show_own(&ranks->net);
    const fmo_status status = fmo_ranks_gpu(&ranks->net, &device, err);
    if (!fock->device_num) fock->device = device;
    return status;
}

/* Prefixes an error about memory or a device with the rank and its host. */
void driver_ranks_name(const fmo_ranks *ranks, fmo_error *err)
{
    if (err->status != FMO_ERR_MEMORY && err->status != FMO_ERR_NO_DEVICE &&
        err->status != FMO_ERR_DEVICE)
        return;
    const fmo_error plain = *err;
    err->status = FMO_OK;
    fmo_error_set(err, plain.status, "rank %d on %s: %.400s", ranks->rank, ranks->host,
                  plain.message[0] ? plain.message : fmo_status_text(plain.status));
}
