/* SCFs of many small molecules, each by a block of a GPU's threads from its integrals to its
 * orbitals (cycles.h): a GPU that is asked for one matrix product after the other waits longer for
 * the host than it computes, even where it is asked for those of hundreds of molecules at a time.
 * block.c has the host's part, space.cu the GPU's. docs/log/scf.md, "Many molecules". */
#ifndef FMO_BLOCK_H
#define FMO_BLOCK_H

#include "driver/scf/lockstep_batches.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the jobs of the batch that go this way, and marks in b->done those that have ended. The
 * others are for the ordinary ways. */
void fmo_blocks_run(batch *b);

/* ---- space.cu ---- */

struct fmo_block_settings;
struct fmo_block_outcome;

/* Functions that a molecule has at most, where the GPU has the memory that a block shares. */
enum { FMO_BLOCK_FUNCTIONS = 56 };
/* And on a GPU, by CUDA's number, or -1, the thread's; 0: none. */
int fmo_block_workspace_functions(int device);

/* What one molecule brings and takes, in memory of the host: matrices [n][n] in the caller's AO
 * order. */
typedef struct fmo_block_task {
    const fmo_basis *basis;
    int n, occupied;
    double nuclear_repulsion;
    const double *field; /* to be added to the core Hamiltonian; NULL: none */
    double *overlap, *core;
    double *density; /* the first one; then the last */
    double *fock, *coefficient, *orbital_energy;
    struct fmo_block_outcome *outcome;
} fmo_block_task;

/* Memory of one GPU, for the thread that has it. */
typedef struct fmo_block_workspace fmo_block_workspace;
fmo_status fmo_block_workspace_open(int device, fmo_block_workspace **capacity, fmo_error *err);
void fmo_block_workspace_close(fmo_block_workspace *capacity); /* NULL is fine */
const char *fmo_block_workspace_device(const fmo_block_workspace *capacity);
/* Bytes that molecules may take there. */
size_t fmo_block_workspace_bytes(const fmo_block_workspace *capacity);
size_t fmo_block_task_bytes(int n, int diis_size);
/* All of them at once; `threads` of the host. What is written counts where there is no error. */
fmo_status fmo_block_workspace_run(fmo_block_workspace *capacity, const fmo_block_task *task,
                                   size_t num, const struct fmo_block_settings *settings,
                                   double cutoff, int threads, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
