/* Loads cuBLAS and cuSOLVER at run time; see nvidia.h. */
#include "driver/scf/nvidia.h"
#include "base/quiet_thread.h"

#include <dlfcn.h>

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name) /* expands NVIDIA's macros before making a string */

fmo_nvidia_calls fmo_nvidia;

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int loaded;

/* Opens a library by the loader's search path, or in the directory where it was at build time. */
void *open(const char *library, const char *path, fmo_error *err)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        (void)fmo_error_set(err, FMO_ERR_DEVICE,
                            "SCF on the GPU: cannot load %s (%s): install it, or use mode cpu",
                            library, dlerror());
    return handle;
}

/* Loads both libraries and looks up all functions. */
fmo_status load(fmo_error *err)
{
#define OPEN(library) open(library, FMO_CUDA_LIBRARY_DIR "/" library, err)
#define X(function)                                                                        \
    fmo_nvidia.function = (decltype(fmo_nvidia.function))dlsym(library, TEXT(function));   \
    if (!fmo_nvidia.function)                                                              \
        return fmo_error_set(err, FMO_ERR_DEVICE,                                          \
                             "SCF on the GPU: the CUDA library has no function %s: is it " \
                             "another version?",                                           \
                             TEXT(function));
    void *library = OPEN("libcublas.so." TEXT(CUBLAS_VER_MAJOR));
    if (!library) return FMO_ERR_DEVICE;
    FMO_CUBLAS_TABLE(X)
    library = OPEN("libcusolver.so." TEXT(CUSOLVER_VER_MAJOR));
    if (!library) return FMO_ERR_DEVICE;
    FMO_CUSOLVER_TABLE(X)
#undef X
    return FMO_OK;
}

} // namespace

fmo_status fmo_nvidia_load(fmo_error *err)
{
    pthread_mutex_lock(&lock);
    const fmo_status status = loaded ? FMO_OK : load(err);
    loaded = status == FMO_OK;
    pthread_mutex_unlock(&lock);
    return status;
}

static void *load_aside(void *user)
{
    (void)user;
    (void)fmo_nvidia_load(NULL); /* fmo_nvidia_end calls it again and returns the error */
    return NULL;
}

void fmo_nvidia_begin(fmo_nvidia_loading *loading)
{
    pthread_mutex_lock(&lock);
    const int there = loaded;
    pthread_mutex_unlock(&lock);
    loading->started = 0;
    if (there) return;
    loading->started = fmo_start_quiet_thread(&loading->thread, load_aside, NULL);
}

fmo_status fmo_nvidia_end(fmo_nvidia_loading *loading, fmo_error *err)
{
    if (loading->started) pthread_join(loading->thread, NULL);
    loading->started = 0;
    return fmo_nvidia_load(err);
}
