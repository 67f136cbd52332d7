/* The GPU backend of a build without CUDA. */
#include "driver/scf/linalg.h"

fmo_status fmo_linalg_open_gpu(void **stream, fmo_linalg **la, fmo_error *err)
{
    (void)stream, (void)la;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "this build is without CUDA; use mode cpu");
}
