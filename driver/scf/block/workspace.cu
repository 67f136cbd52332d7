/* Small molecules on a GPU: their matrices in one allocation, their integrals (fmo/eri_matrix.h),
 * one thread block each (cycles.h). See block.h. */
#include "driver/scf/block/block.h"

#include <fmo/eri_matrix.h>

#include "accumulate/gpu/check.h"
#include "driver/scf/block/cycles.h"
#include "driver/scf/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads per block, for molecules of up to FEW_FUNCTIONS functions and for larger ones. */
enum {
    THREADS_FEW = fmo_tuning_block_threads_few,
    THREADS = fmo_tuning_block_threads,
    FEW_FUNCTIONS = fmo_tuning_block_few_functions
};

/* Share of the free GPU memory that a workspace uses, and its limit in bytes. */
static const double memory_share = fmo_tuning_block_memory_share,
                    workspace_max = fmo_tuning_block_memory_max;

struct fmo_block_workspace {
    int number, before; /* its GPU; the GPU that was current in the thread */
    cudaStream_t stream;
    char device[96];
    size_t max_bytes;
    char *memory; /* GPU memory */
    size_t bytes;
    double *pinned; /* pinned host memory */
    size_t pinned_num;
};

namespace {

__global__ void __launch_bounds__(THREADS)
    run_molecules(const fmo_block_molecule *molecules, fmo_block_settings settings)
{
    extern __shared__ double shared[];
    fmo_block_run(&molecules[blockIdx.x], &settings, shared);
}

fmo_status workspace_error(cudaError_t code, fmo_error *err)
{
    (void)cudaGetLastError(); /* clears the error */
    return fmo_error_set(err, code == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
                         "SCFs of small molecules on the GPU: %s", cudaGetErrorString(code));
}

cudaError_t grow(fmo_block_workspace *r, size_t bytes, size_t pinned_num)
{
    if (bytes > r->bytes) {
        (void)cudaFree(r->memory);
        r->memory = NULL;
        r->bytes = 0;
        FMO_GPU_TRY(cudaMalloc((void **)&r->memory, bytes));
        r->bytes = bytes;
    }
    if (pinned_num > r->pinned_num) {
        (void)cudaFreeHost(r->pinned);
        r->pinned = NULL;
        r->pinned_num = 0;
        FMO_GPU_TRY(cudaMallocHost((void **)&r->pinned, pinned_num * sizeof *r->pinned));
        r->pinned_num = pinned_num;
    }
    return cudaSuccess;
}

size_t pairs_of(int n)
{
    return (size_t)n * (size_t)(n + 1) / 2;
}

/* Offsets, in doubles, of the arrays of all molecules. Fields (of molecules that have one) and
 * initial densities are copied to the GPU; densities, S, H, F, C, orbital energies and outcomes are
 * copied back; the rest stays on the GPU. */
typedef struct layout {
    size_t field, density, overlap, core, fock, coefficient, energy, outcome, copied, memory, eri;
    size_t end;
} layout;

const size_t outcome_numbers = (sizeof(fmo_block_outcome) + sizeof(double) - 1) / sizeof(double);

/* Computes the offsets. */
layout lay_out(const fmo_block_task *task, size_t num, int diis_size)
{
    layout z = {};
    size_t memory = 0, squares = 0, fields = 0, functions = 0, integrals = 0;
    for (size_t k = 0; k < num; k++) {
        const size_t n = (size_t)task[k].n, pairs = pairs_of(task[k].n);
        squares += n * n;
        fields += task[k].field ? n * n : 0;
        functions += n;
        integrals += pairs * pairs;
        memory += fmo_block_memory(task[k].n, diis_size);
    }
    z.field = 0;
    z.density = z.field + fields;
    z.overlap = z.density + squares;
    z.core = z.overlap + squares;
    z.fock = z.core + squares;
    z.coefficient = z.fock + squares;
    z.energy = z.coefficient + squares;
    z.outcome = z.energy + functions;
    z.copied = z.outcome + num * outcome_numbers;
    z.memory = z.copied;
    z.eri = z.memory + memory;
    z.end = z.eri + integrals;
    return z;
}

/* Pointers of all molecules into GPU memory, as required by fmo_eri_matrices_on_gpu. */
typedef struct pointers {
    const fmo_basis **basis; /* each array: [num] */
    double **eri, **overlap, **core;
} pointers;

/* Sets the pointers into GPU memory: those of the molecules, and those in `to`. */
void set_pointers(const fmo_block_task *task, size_t num, const layout *z, int diis_size,
                  double *device, fmo_block_molecule *molecule, const pointers *to)
{
    size_t square = 0, field = 0, function = 0, memory = 0, integral = 0;
    for (size_t k = 0; k < num; k++) {
        const size_t n = (size_t)task[k].n, pairs = pairs_of(task[k].n);
        fmo_block_molecule *const m = &molecule[k];
        to->basis[k] = task[k].basis;
        to->eri[k] = device + z->eri + integral;
        to->overlap[k] = device + z->overlap + square;
        m->n = task[k].n;
        m->occupied = task[k].occupied;
        m->nuclear_repulsion = task[k].nuclear_repulsion;
        m->eri = to->eri[k];
        m->overlap = to->overlap[k];
        m->field = task[k].field ? device + z->field + field : NULL;
        m->core = to->core[k] = device + z->core + square;
        m->density = device + z->density + square;
        m->fock = device + z->fock + square;
        m->coefficient = device + z->coefficient + square;
        m->orbital_energy = device + z->energy + function;
        m->memory = device + z->memory + memory;
        m->outcome = (fmo_block_outcome *)(device + z->outcome + k * outcome_numbers);
        square += n * n;
        field += m->field ? n * n : 0;
        function += n;
        memory += fmo_block_memory(task[k].n, diis_size);
        integral += pairs * pairs;
    }
}

/* Copies fields and densities of the tasks to pinned memory. */
void copy_input(const fmo_block_task *task, size_t num, const double *device, double *pinned,
                const fmo_block_molecule *molecule, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t k = 0; k < num; k++) {
        const fmo_block_molecule *const m = &molecule[k];
        const size_t bytes = (size_t)m->n * (size_t)m->n * sizeof *pinned;
        memcpy(pinned + (m->density - device), task[k].density, bytes);
        if (m->field) memcpy(pinned + (m->field - device), task[k].field, bytes);
    }
}

/* Copies the results from pinned memory to the tasks. */
void copy_results(const fmo_block_task *task, size_t num, const double *device,
                  const double *pinned, const fmo_block_molecule *molecule, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t k = 0; k < num; k++) {
        const fmo_block_molecule *const m = &molecule[k];
        const size_t n = (size_t)task[k].n, bytes = n * n * sizeof *pinned;
        memcpy(task[k].outcome, pinned + ((const double *)m->outcome - device),
               sizeof *task[k].outcome);
        memcpy(task[k].overlap, pinned + (m->overlap - device), bytes);
        memcpy(task[k].core, pinned + (m->core - device), bytes);
        memcpy(task[k].density, pinned + (m->density - device), bytes);
        memcpy(task[k].fock, pinned + (m->fock - device), bytes);
        memcpy(task[k].coefficient, pinned + (m->coefficient - device), bytes);
        memcpy(task[k].orbital_energy, pinned + (m->orbital_energy - device), n * sizeof *pinned);
    }
}

/* Returns the shared memory in bytes that molecules of up to n functions need. */
size_t shared_bytes(int n)
{
    const size_t few = fmo_block_shared(n < FEW_FUNCTIONS ? n : FEW_FUNCTIONS, THREADS_FEW / 32);
    const size_t more = n > FEW_FUNCTIONS ? fmo_block_shared(n, THREADS / 32) : 0;
    return few > more ? few : more;
}

/* Sets the limit of the kernel's shared memory to the largest that any worker of this GPU may
 * need. */
cudaError_t allow_shared(int number)
{
    return cudaFuncSetAttribute(run_molecules, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)shared_bytes(fmo_block_workspace_functions(number)));
}

/* Launches one kernel per sequence of molecules with the same number of threads. */
cudaError_t launch(const fmo_block_molecule *view, const fmo_block_task *task, size_t num,
                   const fmo_block_settings *settings, cudaStream_t stream)
{
    for (size_t k = 0, end; k < num; k = end) { /* molecules with the same number of threads */
        const bool few = task[k].n <= FEW_FUNCTIONS;
        int largest = 0;
        for (end = k; end < num && (task[end].n <= FEW_FUNCTIONS) == few; end++)
            if (task[end].n > largest) largest = task[end].n;
        const int threads = few ? THREADS_FEW : THREADS;
        const size_t shared = fmo_block_shared(largest, threads / 32);
        run_molecules<<<(unsigned)(end - k), threads, shared, stream>>>(view + k, *settings);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}

} // namespace

/* Finds the largest molecule whose shared memory the GPU can provide. */
int fmo_block_workspace_functions(int device)
{
    int bytes = 0, n = FMO_BLOCK_FUNCTIONS;
    cudaFuncAttributes own;
    if (device < 0 && cudaGetDevice(&device) != cudaSuccess) n = 0;
    if (n && cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
                 cudaSuccess)
        n = 0;
    if (n && cudaFuncGetAttributes(&own, run_molecules) == cudaSuccess)
        while (n && own.sharedSizeBytes + shared_bytes(n) > (size_t)bytes) n--;
    else
        n = 0;
    (void)cudaGetLastError();
    return n;
}

/* Creates the stream and chooses the memory limit. */
fmo_status fmo_block_workspace_open(int device, fmo_block_workspace **workspace, fmo_error *err)
{
    fmo_block_workspace *const r = (fmo_block_workspace *)calloc(1, sizeof *r);
    if (!r) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    cudaDeviceProp properties;
    size_t free_bytes = 0, all = 0;
    cudaError_t code = cudaGetDevice(&r->before);
    r->number = device >= 0 ? device : r->before;
    if (code == cudaSuccess) code = cudaSetDevice(r->number);
    if (code == cudaSuccess) code = cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, r->number);
    if (code == cudaSuccess) code = allow_shared(r->number);
    if (code == cudaSuccess) code = cudaMemGetInfo(&free_bytes, &all);
    if (code != cudaSuccess) {
        fmo_block_workspace_close(r);
        return workspace_error(code, err);
    }
    const double share = memory_share * (double)free_bytes;
    r->max_bytes = (size_t)(share < workspace_max ? share : workspace_max);
    snprintf(r->device, sizeof r->device, "%.90s", properties.name);
    *workspace = r;
    return FMO_OK;
}

void fmo_block_workspace_close(fmo_block_workspace *r)
{
    if (!r) return;
    if (r->stream) (void)cudaStreamDestroy(r->stream);
    (void)cudaFree(r->memory);
    (void)cudaFreeHost(r->pinned);
    (void)cudaSetDevice(r->before);
    free(r);
}

const char *fmo_block_workspace_device(const fmo_block_workspace *r)
{
    return r->device;
}

size_t fmo_block_workspace_bytes(const fmo_block_workspace *r)
{
    return r->max_bytes;
}

size_t fmo_block_task_bytes(int n, int diis_size)
{
    fmo_block_task one = {};
    one.n = n;
    one.field = &one.nuclear_repulsion; /* counts a field in any case */
    return lay_out(&one, 1, diis_size).end * sizeof(double) + sizeof(fmo_block_molecule);
}

/* Copies the input, computes integrals, runs the SCFs and copies the results back, all on one
 * stream. */
fmo_status fmo_block_workspace_run(fmo_block_workspace *r, const fmo_block_task *task, size_t num,
                                   const fmo_block_settings *settings, double cutoff, int threads,
                                   fmo_error *err)
{
    const layout z = lay_out(task, num, settings->diis_size);
    const size_t views = num * sizeof(fmo_block_molecule);
    fmo_block_molecule *const molecule = (fmo_block_molecule *)malloc(views);
    const pointers to = {
        (const fmo_basis **)malloc(num * sizeof *to.basis), (double **)malloc(num * sizeof *to.eri),
        (double **)malloc(num * sizeof *to.overlap), (double **)malloc(num * sizeof *to.core)};
    fmo_status status = FMO_OK;
    cudaError_t code = cudaSuccess;
    if (!molecule || !to.basis || !to.eri || !to.overlap || !to.core)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu small molecules", num);
    else
        code = grow(r, z.end * sizeof(double) + views, z.copied);
    if (status == FMO_OK && code == cudaSuccess) {
        double *const device = (double *)r->memory;
        fmo_block_molecule *const view = (fmo_block_molecule *)(device + z.end);
        set_pointers(task, num, &z, settings->diis_size, device, molecule, &to);
        copy_input(task, num, device, r->pinned, molecule, threads);
        code = cudaMemcpyAsync(device, r->pinned, z.overlap * sizeof *device,
                               cudaMemcpyHostToDevice, r->stream);
        if (code == cudaSuccess)
            code = cudaMemcpyAsync(view, molecule, views, cudaMemcpyHostToDevice, r->stream);
        if (code == cudaSuccess)
            status = fmo_eri_matrices_on_gpu(to.basis, num, cutoff, to.eri, to.overlap, to.core,
                                             r->number, r->stream, err);
        if (code == cudaSuccess && status == FMO_OK)
            code = launch(view, task, num, settings, r->stream);
        if (code == cudaSuccess && status == FMO_OK)
            code = cudaMemcpyAsync(r->pinned + z.density, device + z.density,
                                   (z.copied - z.density) * sizeof *device, cudaMemcpyDeviceToHost,
                                   r->stream);
        const cudaError_t waited = cudaStreamSynchronize(r->stream);
        if (code == cudaSuccess) code = waited;
        if (code == cudaSuccess && status == FMO_OK)
            copy_results(task, num, device, r->pinned, molecule, threads);
    }
    free(molecule);
    free(to.basis);
    free(to.eri);
    free(to.overlap);
    free(to.core);
    return code != cudaSuccess ? workspace_error(code, err) : status;
}
