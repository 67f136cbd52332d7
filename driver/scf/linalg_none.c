/* The GPU backend of a build without CUDA. */
#include "driver/scf/lockstep.h"

fmo_status fmo_linalg_open_gpu(int device, void **stream, fmo_linalg **la, fmo_error *err)
{
    (void)device, (void)stream, (void)la;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}

fmo_status fmo_hands_open_gpu(int device, int threads, fmo_hands **hands, fmo_error *err)
{
    (void)device, (void)threads, (void)hands;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}

void *fmo_hands_begin_loading(void)
{
    return NULL;
}

void fmo_hands_end_loading(void *loading)
{
    (void)loading;
}

int fmo_hands_thread_gpu(void)
{
    return -1;
}
