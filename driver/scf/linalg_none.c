/* Stubs of the GPU functions in a build without CUDA. */
#include "driver/scf/block/block.h"
#include "driver/scf/lockstep.h"

fmo_status fmo_linalg_open_gpu(int device, void **stream, fmo_linalg **la, fmo_error *err)
{
    (void)device, (void)stream, (void)la;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}

fmo_status fmo_batch_linalg_open_gpu(int device, int threads, fmo_batch_linalg **executor,
                                     fmo_error *err)
{
    (void)device, (void)threads, (void)executor;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}

void *fmo_batch_linalg_begin_loading(void)
{
    return NULL;
}

void fmo_batch_linalg_end_loading(void *loading)
{
    (void)loading;
}

void *fmo_batch_linalg_begin_gpus(const fmo_fock_options *fock)
{
    (void)fock;
    return NULL;
}

void fmo_batch_linalg_end_gpus(void *starting)
{
    (void)starting;
}

int fmo_batch_linalg_thread_gpu(void)
{
    return -1;
}

int fmo_block_workspace_functions(int device)
{
    (void)device;
    return 0;
}

fmo_status fmo_block_workspace_open(int device, fmo_block_workspace **workspace, fmo_error *err)
{
    (void)device, (void)workspace;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}

void fmo_block_workspace_close(fmo_block_workspace *workspace)
{
    (void)workspace;
}

const char *fmo_block_workspace_device(const fmo_block_workspace *workspace)
{
    (void)workspace;
    return "";
}

size_t fmo_block_workspace_bytes(const fmo_block_workspace *workspace)
{
    (void)workspace;
    return 0;
}

size_t fmo_block_task_bytes(int n, int diis_size)
{
    (void)n, (void)diis_size;
    return 0;
}

fmo_status fmo_block_workspace_run(fmo_block_workspace *workspace, const fmo_block_task *task,
                                   size_t num, const struct fmo_block_settings *settings,
                                   double cutoff, int threads, fmo_error *err)
{
    (void)workspace, (void)task, (void)num, (void)settings, (void)cutoff, (void)threads;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}
