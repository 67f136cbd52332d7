/* cuBLAS and cuSOLVER are loaded when they are first needed, completely, and once. With an argument
 * a library of that name without functions is found first: it is refused by the function's name. */
#include "tests/support/check.h"
#include "driver/scf/nvidia.h"

#include <pthread.h>
#include <string.h>

static void *load(void *user)
{
    fmo_error err = {FMO_OK, ""};
    fmo_nvidia_loading loading;
    fmo_nvidia_begin(&loading);
    *(fmo_status *)user = fmo_nvidia_end(&loading, &err);
    return NULL;
}

/* Several threads that load the libraries at once all succeed, and every function is there. */
static void check_loaded(void)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    fmo_status status[THREADS];
    for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, load, &status[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        CHECK(status[t] == FMO_OK, "thread %d: status %d", t, (int)status[t]);
    }
#define X(function) CHECK(fmo_nvidia.function != NULL, "%s is missing", #function);
    FMO_CUBLAS_TABLE(X)
    FMO_CUSOLVER_TABLE(X)
#undef X
    if (fmo_nvidia.cublasGetStatusString) {
        const char *const text = fmo_nvidia.cublasGetStatusString(CUBLAS_STATUS_SUCCESS);
        CHECK(text && strcasestr(text, "success"), "another function than requested: %s", text);
    }
}

static void check_refused(void)
{
    for (int again = 0; again < 2; again++) {
        fmo_error err = {FMO_OK, ""};
        const fmo_status status = fmo_nvidia_load(&err);
        CHECK(status == FMO_ERR_DEVICE, "status %d", (int)status);
        CHECK(strstr(err.message, "no function cublasCreate_v2"), "message: %s", err.message);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        check_refused();
    else
        check_loaded();
    return check_summary();
}
