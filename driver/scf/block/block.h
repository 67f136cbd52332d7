/* SCFs of many small molecules, each in one thread block of a GPU from its integrals to its
 * orbitals (cycles.h). With separate launches for each matrix operation a GPU waits longer for the
 * host than it computes, even for hundreds of molecules at a time. block.c is the host's part,
 * workspace.cu the GPU's. Measurements: docs/log/scf.md, "Many molecules". */
#ifndef FMO_BLOCK_H
#define FMO_BLOCK_H

#include "driver/scf/jobs.h"
#include "driver/scf/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Smallest number of molecules for which thread blocks are used. */
enum { FMO_BLOCKS_MIN = fmo_tuning_block_least };
/* Runs the suitable jobs of the batch in thread blocks, and marks in b->done those that have ended.
 * The others are left to batch.c. */
void fmo_blocks_run(batch *b);

/* ---- workspace.cu ---- */

struct fmo_block_settings;
struct fmo_block_outcome;

/* Largest number of functions of a molecule, if the GPU has enough shared memory. */
enum { FMO_BLOCK_FUNCTIONS = fmo_tuning_block_functions };
/* Returns that number for GPU number `device`, or -1, the thread's current GPU; 0: none. */
int fmo_block_workspace_functions(int device);

/* Input and output of one molecule, in host memory; matrices are [n][n] in the caller's AO
 * order. */
typedef struct fmo_block_task {
    const fmo_basis *basis;
    int n, occupied;
    double nuclear_repulsion;
    const double *field; /* added to the core Hamiltonian; NULL: none */
    double *overlap, *core;
    double *density; /* initial density; overwritten by the final one */
    double *fock, *coefficient, *orbital_energy;
    struct fmo_block_outcome *outcome;
} fmo_block_task;

/* Memory and stream of one GPU, used by one thread. */
typedef struct fmo_block_workspace fmo_block_workspace;
fmo_status fmo_block_workspace_open(int device, fmo_block_workspace **workspace, fmo_error *err);
void fmo_block_workspace_close(fmo_block_workspace *workspace); /* NULL is allowed */
const char *fmo_block_workspace_device(const fmo_block_workspace *workspace);
/* Returns the bytes that the molecules of one run may occupy. */
size_t fmo_block_workspace_bytes(const fmo_block_workspace *workspace);
/* Returns the bytes that a molecule of n functions occupies. */
size_t fmo_block_task_bytes(int n, int diis_size);
/* Runs the SCFs of all tasks; threads: of the host; cutoff: for primitive quartets. The output is
 * valid only if FMO_OK is returned. */
fmo_status fmo_block_workspace_run(fmo_block_workspace *workspace, const fmo_block_task *task,
                                   size_t num, const struct fmo_block_settings *settings,
                                   double cutoff, int threads, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
