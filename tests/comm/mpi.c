/* Host ranks that are processes of mpirun: the cases of cases.h over MPI, and ranks that fail.
 *   mpirun -np N comm_mpi all MESSAGES   everything
 *   mpirun -np N comm_mpi mute           rank 1 never calls: the others end and say so, and it
 * hears mpirun -np N comm_mpi kill           rank 1 is killed amid messages
 */
#define _GNU_SOURCE
#include "tests/comm/cases.h"

#include <fmo/gmpi_mpi.h>
#include <mpi.h>
#include <signal.h>

enum { GAVE_UP = 7 }; /* a tag of MPI */

static void mute(comm_case *c)
{
    char line[400];
    int value = 0;
    fmo_gmpi_request request = FMO_GMPI_NULL;
    if (c->rank == 1) {
        /* It is alive, and calls nothing of gmpi until all others have given up. */
        for (int n = 1; n < c->size; n++)
            MPI_Recv(&value, 0, MPI_INT, MPI_ANY_SOURCE, GAVE_UP, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        fmo_host_irecv(c->h, &value, sizeof value, 0, 5, 0, &request);
    } else {
        fmo_host_irecv(c->h, &value, sizeof value, 1, 4, 0, &request);
    }
    const int code = fmo_host_wait(c->h, &request);
    if (c->rank != 1) MPI_Send(&value, 0, MPI_INT, 1, GAVE_UP, MPI_COMM_WORLD);
    fmo_comm_describe(fmo_host_error(c->h), c->rank, 0.3, line, sizeof line);
    printf("rank %d: %s\n", c->rank, line);
    if (c->rank == 1)
        EXPECT(c, code == FMO_GMPI_ABORTED && strstr(line, "failed first"));
    else
        EXPECT(c, code == FMO_GMPI_ABORTED ||
                      strstr(line, "waited 0.3 s for rank 1 (receive, tag 4, communicator 0)"));
}

static void stream(comm_case *c)
{
    const int next = (c->rank + 1) % c->size, before = (c->rank + c->size - 1) % c->size;
    for (int n = 0;; n++) {
        fmo_gmpi_request send = FMO_GMPI_NULL, recv = FMO_GMPI_NULL;
        int in;
        if (n == 1000 && c->rank == 1) raise(SIGKILL);
        if (fmo_host_isend(c->h, &n, sizeof n, next, 0, 0, &send) != FMO_GMPI_OK ||
            fmo_host_irecv(c->h, &in, sizeof in, before, 0, 0, &recv) != FMO_GMPI_OK ||
            fmo_host_wait(c->h, &recv) != FMO_GMPI_OK || fmo_host_wait(c->h, &send) != FMO_GMPI_OK)
            return;
    }
}

int main(int argc, char **argv)
{
    int level = 0;
    fmo_gmpi_net net;
    fmo_error err = {FMO_OK, ""};
    const char *what = argc > 1 ? argv[1] : "all";
    if (fmo_gmpi_net_mpi(&net, &err) != FMO_ERR_UNSUPPORTED ||
        !strstr(err.message, "MPI_Init_thread"))
        return fprintf(stderr, "before MPI_Init_thread: '%s'\n", err.message), 1;
    err = (fmo_error){FMO_OK, ""};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (fmo_gmpi_net_mpi(&net, &err) != FMO_OK) return fprintf(stderr, "%s\n", err.message), 1;
    const int bad = strcmp(what, "all") != 0;
    fmo_host_rank *h = fmo_host_rank_create(&net, bad ? 0.3 : 120.0, 0);
    if (!h) return fprintf(stderr, "no rank\n"), 1;
    comm_case c = {h, net.rank, net.size, argc > 2 ? atol(argv[2]) : 10000, 0};
    if (strcmp(what, "mute") == 0)
        mute(&c);
    else if (strcmp(what, "kill") == 0)
        stream(&c);
    else
        comm_all(&c);
    if (c.wrong == 0 && c.rank == 0) printf("%d processes: %s: good\n", c.size, what);
    fflush(stdout);
    fmo_host_rank_stop(h);
    fmo_host_rank_destroy(h);
    MPI_Finalize();
    return c.wrong != 0;
}
