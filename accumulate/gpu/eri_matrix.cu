/* All two-electron integrals of many small molecules, with overlap and core Hamiltonian
 * (eri_matrix.h). Each thread computes a shell pair, then, class by class, a quartet; one launch
 * serves all molecules. The arithmetic is shared with the CPU (integrals/eri/eri_matrix_body.inc).
 */
#include <fmo/eri_matrix.h>

#include "accumulate/gpu/call.cuh"
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/range.h"
#include "accumulate/tuning.h"
#include "integrals/eri/eri_matrix_body.inc"

#include <stdlib.h>

namespace {

enum { THREADS = fmo_tuning_gpu_eri_matrix_threads };
const size_t molecules_max = 65535; /* of one launch: blockIdx.y */

/* Number of the pair or quartet that the thread computes; blockIdx.y is the number of the molecule.
 */
__device__ __forceinline__ int first_number(void)
{
    return (int)(blockIdx.x * THREADS + threadIdx.x);
}

/* Makes the primitive pairs of a shell pair. */
__global__ void make_pairs(const fmo_eri_molecule *molecules)
{
    const fmo_eri_molecule &m = molecules[blockIdx.y];
    const int p = first_number();
#define ROW(P, name, li, lj, partner)                                          \
    if (p >= m.pair_begin[FMO_PAIR_##P] && p < m.pair_begin[FMO_PAIR_##P + 1]) \
        fmo_eri_matrix_pair(li, lj, &m, &m.pair[p]);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Overlap and core Hamiltonian; boys: rows of the Boys function's table for each order. */
struct boys_rows {
    const double *of[FMO_PAIR_LOW_L_ORDER_MAX + 1];
};
__global__ void __launch_bounds__(THREADS)
    make_core(const fmo_eri_molecule *molecules, const boys_rows boys)
{
    const fmo_eri_molecule &m = molecules[blockIdx.y];
    const int p = first_number();
#define ROW(P, name, li, lj, partner)                                          \
    if (p >= m.pair_begin[FMO_PAIR_##P] && p < m.pair_begin[FMO_PAIR_##P + 1]) \
        fmo_core_pair(li, lj, &m, boys.of[(li) + (lj)], &m.pair[p]);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Finds the two pairs of quartet number t of a class; quartets of two pairs of one class occur
 * once. Returns false if there is no such quartet. */
template <bool SAME>
__device__ __forceinline__ bool pairs_of(const fmo_eri_molecule &m, int bra_class, int ket_class,
                                         int t, const fmo_eri_pair **bra, const fmo_eri_pair **ket)
{
    const int bras = m.pair_begin[bra_class + 1] - m.pair_begin[bra_class];
    const int kets = m.pair_begin[ket_class + 1] - m.pair_begin[ket_class];
    int b, k;
    if (t >= (SAME ? bras * (bras + 1) / 2 : bras * kets)) return false;
    if constexpr (SAME) {
        fmo_pair_of(t, &b, &k);
    } else {
        b = t / kets;
        k = t % kets;
    }
    *bra = &m.pair[m.pair_begin[bra_class] + b];
    *ket = &m.pair[m.pair_begin[ket_class] + k];
    return true;
}

#define KERNEL(e, name, li, lj, lk, ll, bra_class, ket_class)                                   \
    __global__ void __launch_bounds__(THREADS)                                                  \
        quartets_##name(const fmo_eri_molecule *molecules, const double *boys, double cutoff)   \
    {                                                                                           \
        const fmo_eri_molecule &m = molecules[blockIdx.y];                                      \
        const fmo_eri_pair *bra, *ket;                                                          \
        if (pairs_of<(bra_class) == (ket_class)>(m, bra_class, ket_class, first_number(), &bra, \
                                                 &ket))                                         \
            fmo_eri_matrix_##name(&m, boys, bra, ket, cutoff);                                  \
    }
FMO_ERI_LOW_L_TABLE(KERNEL)
#undef KERNEL

typedef void quartets_kernel(const fmo_eri_molecule *, const double *, double);

/* Data of the launches, class by class; largest: largest number of quartets of a molecule. */
struct low_l_class {
    quartets_kernel *kernel;
    int bra, ket, order;
    long largest;
};
#define ROW(e, name, li, lj, lk, ll, bra, ket) \
    {quartets_##name, bra, ket, (li) + (lj) + (lk) + (ll), 0},
const low_l_class low_l_classes[] = {FMO_ERI_LOW_L_TABLE(ROW)};
#undef ROW

/* Arrays of all molecules, on the host or on the device. */
struct gathered {
    fmo_eri_molecule *molecule;
    fmo_eri_arrays all;
};

/* The arrays of the molecule that begins at *z. */
fmo_eri_arrays arrays_at(const fmo_eri_arrays *all, const fmo_eri_sizes *z)
{
    return {all->shell + z->shells,        all->pair + z->pairs,
            all->exponent + z->primitives, all->coefficient + z->primitives,
            all->factor + z->functions,    all->charge + z->nuclei,
            all->coord + 3 * z->nuclei,    all->ao + z->functions};
}

/* [count] addresses of results for each molecule; overlap, core: NULL if not requested. */
struct results {
    double *const *eri, *const *overlap, *const *core;
};

/* Fills in the staged arrays of all molecules; the pointers in them are addresses on the device. */
void fill(const fmo_basis *const *basis, size_t count, const results *to, const fmo_eri_sizes *at,
          const gathered *host, const gathered *view, fmo_eri_prim *prim)
{
#pragma omp parallel for schedule(static) if (count > fmo_tuning_gpu_eri_matrix_parallel)
    for (size_t k = 0; k < count; k++) {
        fmo_eri_molecule *const m = &host->molecule[k];
        const fmo_eri_arrays own = arrays_at(&host->all, &at[k]);
        const fmo_eri_arrays there = arrays_at(&view->all, &at[k]);
        fmo_eri_matrix_fill(basis[k], m, &own);
        m->shell = there.shell;
        m->pair = there.pair;
        m->exponent = there.exponent;
        m->coefficient = there.coefficient;
        m->ao = there.ao;
        m->factor = there.factor;
        m->charge = there.charge;
        m->coord = there.coord;
        m->prim = prim + at[k].prims;
        m->eri = to->eri[k];
        m->overlap = to->overlap ? to->overlap[k] : NULL;
        m->core = to->core ? to->core[k] : NULL;
    }
}

/* Launches all kernels and waits for them. */
cudaError_t launch(const gathered *host, const gathered *view, size_t count, double cutoff,
                   const fmo_boys_table *boys, cudaStream_t stream)
{
    low_l_class classes[FMO_ERI_LOW_L_COUNT];
    int pairs = 0;
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) classes[c] = low_l_classes[c];
    for (size_t k = 0; k < count; k++) {
        const int *const begin = host->molecule[k].pair_begin;
        if (begin[FMO_PAIR_LOW_L_COUNT] > pairs) pairs = begin[FMO_PAIR_LOW_L_COUNT];
        for (low_l_class &c : classes) {
            const long bras = begin[c.bra + 1] - begin[c.bra];
            const long kets = begin[c.ket + 1] - begin[c.ket];
            const long all = c.bra == c.ket ? bras * (bras + 1) / 2 : bras * kets;
            if (all > c.largest) c.largest = all;
        }
    }
    const auto grid = [&](long numbers) {
        return dim3((unsigned)((numbers + THREADS - 1) / THREADS), (unsigned)count);
    };
    make_pairs<<<grid(pairs), THREADS, 0, stream>>>(view->molecule);
    FMO_GPU_TRY(cudaGetLastError());
    if (host->molecule[0].core) {
        boys_rows rows;
        for (int order = 0; order <= FMO_PAIR_LOW_L_ORDER_MAX; order++)
            rows.of[order] = boys->row[order][0];
        make_core<<<grid(pairs), THREADS, 0, stream>>>(view->molecule, rows);
        FMO_GPU_TRY(cudaGetLastError());
    }
    for (const low_l_class &c : classes) {
        if (!c.largest) continue;
        c.kernel<<<grid(c.largest), THREADS, 0, stream>>>(view->molecule, boys->row[c.order][0],
                                                          cutoff);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaStreamSynchronize(stream);
}

/* Computes the matrices of up to molecules_max molecules. */
fmo_status compute(const fmo_basis *const *basis, size_t count, double cutoff, const results *to,
                   fmo_gpu_device *device, fmo_error *err)
{
    fmo_eri_sizes *const at = (fmo_eri_sizes *)malloc(count * sizeof *at), all = {};
    if (!at) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu molecules", count);
    for (size_t k = 0; k < count; k++) {
        const fmo_eri_sizes z = fmo_eri_matrix_sizes(basis[k]);
        at[k] = all;
        all.shells += z.shells;
        all.pairs += z.pairs;
        all.primitives += z.primitives;
        all.functions += z.functions;
        all.nuclei += z.nuclei;
        all.prims += z.prims;
    }
    gathered host = {}, view = {};
    fmo_eri_prim *prim = NULL;
#define STAGED(name, num)                                                   \
    {                                                                       \
        (num) * sizeof *host.name, (void **)&view.name, (void **)&host.name \
    }
    const fmo_gpu_array arrays[] = {STAGED(molecule, count),
                                    STAGED(all.shell, all.shells),
                                    STAGED(all.pair, all.pairs),
                                    STAGED(all.exponent, all.primitives),
                                    STAGED(all.coefficient, all.primitives),
                                    STAGED(all.factor, all.functions),
                                    STAGED(all.charge, all.nuclei),
                                    STAGED(all.coord, 3 * all.nuclei),
                                    STAGED(all.ao, all.functions),
                                    {all.prims * sizeof *prim, (void **)&prim, NULL}};
#undef STAGED
    enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
    const fmo_boys_table *boys = NULL;
    void *const staged = fmo_gpu_stage(arrays, ARRAYS);
    fmo_status status = FMO_OK;
    if (!staged) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for integrals");
    if (status == FMO_OK) status = fmo_gpu_place_arrays(device, "integrals", arrays, ARRAYS, err);
    if (status == FMO_OK) {
        fill(basis, count, to, at, &host, &view, prim);
        status = fmo_gpu_upload(device, "integrals", staged, arrays, ARRAYS, err);
    }
    cudaError_t code = cudaSuccess;
    if (status == FMO_OK) {
        code = fmo_gpu_boys(&boys);
        if (code == cudaSuccess) code = launch(&host, &view, count, cutoff, boys, device->stream);
    }
    free(staged);
    free(at);
    fmo_gpu_free(device, view.molecule); /* frees all arrays: they are one piece */
    FMO_GPU_CHECK(code, "integrals", err);
    return status;
}

} // namespace

fmo_status fmo_eri_matrices_on_gpu(const fmo_basis *const *basis, size_t count, double cutoff,
                                   double *const *eri, double *const *overlap, double *const *core,
                                   int number, void *stream, fmo_error *err)
{
    if (!count) return FMO_OK;
    fmo_status status = fmo_eri_matrices_check(basis, count, eri, overlap, core, err);
    if (status != FMO_OK) return status;
    const fmo_gpu_range range("integrals of small molecules");
    fmo_gpu_call call(number, stream, err);
    if (call.status != FMO_OK) return call.status;
    const fmo_gpu_device_guard guard(&call.device);
    for (size_t k = 0; k < count && status == FMO_OK; k += molecules_max) {
        const size_t num = count - k < molecules_max ? count - k : molecules_max;
        const results to = {eri + k, overlap ? overlap + k : NULL, core ? core + k : NULL};
        status = compute(basis + k, num, cutoff, &to, &call.device, err);
    }
    return status;
}
