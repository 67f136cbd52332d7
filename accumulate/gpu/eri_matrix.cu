/* All two-electron integrals of many small molecules: a thread for a shell pair, then, class after
 * class, a thread for a quartet, of all molecules in one launch. What it does is shared with the
 * CPU (integrals/eri/eri_matrix_body.h). */
#include <fmo/eri_matrix.h>

#include "accumulate/gpu/call.cuh"
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/range.h"
#include "integrals/arguments.h"
#include "integrals/eri/eri_matrix_body.h"

#include <stdlib.h>

namespace {

enum { THREADS = 128 };
const size_t molecules_max = 65535; /* of a launch: its y */

/* Which molecule a block has, and the first number of its threads. */
__device__ __forceinline__ int first_number(void)
{
    return (int)(blockIdx.x * THREADS + threadIdx.x);
}

__global__ void make_pairs(const fmo_eri_molecule *molecules)
{
    const fmo_eri_molecule &m = molecules[blockIdx.y];
    const int p = first_number();
#define ROW(P, name, li, lj, partner)                                          \
    if (p >= m.pair_begin[FMO_PAIR_##P] && p < m.pair_begin[FMO_PAIR_##P + 1]) \
        fmo_eri_matrix_pair(li, lj, &m, &m.pair[p]);
    FMO_PAIR_LIGHT_TABLE(ROW)
#undef ROW
}

/* Quartet number t of a class: two pairs, of one class each once. */
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
FMO_ERI_LIGHT_TABLE(KERNEL)
#undef KERNEL

typedef void quartets_kernel(const fmo_eri_molecule *, const double *, double);

/* What is launched, class by class; `most` of quartets of a molecule. */
struct light_class {
    quartets_kernel *kernel;
    int bra, ket, order;
    long most;
};
#define ROW(e, name, li, lj, lk, ll, bra, ket) \
    {quartets_##name, bra, ket, (li) + (lj) + (lk) + (ll), 0},
const light_class light_classes[] = {FMO_ERI_LIGHT_TABLE(ROW)};
#undef ROW

/* Arrays of all molecules, on the host and on the device. */
struct gathered {
    fmo_eri_molecule *molecule;
    fmo_eri_shell *shell;
    fmo_eri_pair *pair;
    double *exponent, *coefficient, *factor;
    int *ao;
};

/* Fills in what is staged; views of the device. */
void fill(const fmo_basis *const *basis, size_t count, double *const *eri, const fmo_eri_sizes *at,
          const gathered *host, const gathered *view, fmo_eri_prim *prim)
{
#pragma omp parallel for schedule(static) if (count > 64)
    for (size_t k = 0; k < count; k++) {
        const fmo_eri_sizes *const z = &at[k];
        fmo_eri_molecule *const m = &host->molecule[k];
        fmo_eri_matrix_fill(basis[k], m, host->shell + z->shells, host->pair + z->pairs,
                            host->exponent + z->primitives, host->coefficient + z->primitives,
                            host->ao + z->functions, host->factor + z->functions);
        m->shell = view->shell + z->shells;
        m->pair = view->pair + z->pairs;
        m->exponent = view->exponent + z->primitives;
        m->coefficient = view->coefficient + z->primitives;
        m->ao = view->ao + z->functions;
        m->factor = view->factor + z->functions;
        m->prim = prim + z->prims;
        m->eri = eri[k];
    }
}

cudaError_t launch(const gathered *host, const gathered *view, size_t count, double cutoff,
                   const fmo_boys_table *boys, cudaStream_t stream)
{
    light_class classes[FMO_ERI_LIGHT_COUNT];
    int pairs = 0;
    for (int c = 0; c < FMO_ERI_LIGHT_COUNT; c++) classes[c] = light_classes[c];
    for (size_t k = 0; k < count; k++) {
        const int *const begin = host->molecule[k].pair_begin;
        if (begin[FMO_PAIR_LIGHT_COUNT] > pairs) pairs = begin[FMO_PAIR_LIGHT_COUNT];
        for (light_class &c : classes) {
            const long bras = begin[c.bra + 1] - begin[c.bra];
            const long kets = begin[c.ket + 1] - begin[c.ket];
            const long all = c.bra == c.ket ? bras * (bras + 1) / 2 : bras * kets;
            if (all > c.most) c.most = all;
        }
    }
    const auto grid = [&](long numbers) {
        return dim3((unsigned)((numbers + THREADS - 1) / THREADS), (unsigned)count);
    };
    make_pairs<<<grid(pairs), THREADS, 0, stream>>>(view->molecule);
    FMO_GPU_TRY(cudaGetLastError());
    for (const light_class &c : classes) {
        if (!c.most) continue;
        c.kernel<<<grid(c.most), THREADS, 0, stream>>>(view->molecule, boys->row[c.order][0],
                                                       cutoff);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaStreamSynchronize(stream);
}

/* As many as a launch takes. */
fmo_status compute(const fmo_basis *const *basis, size_t count, double cutoff, double *const *eri,
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
        all.prims += z.prims;
    }
    gathered host = {}, view = {};
    fmo_eri_prim *prim = NULL;
#define STAGED(name, num)                                                   \
    {                                                                       \
        (num) * sizeof *host.name, (void **)&view.name, (void **)&host.name \
    }
    const fmo_gpu_array arrays[] = {STAGED(molecule, count),
                                    STAGED(shell, all.shells),
                                    STAGED(pair, all.pairs),
                                    STAGED(exponent, all.primitives),
                                    STAGED(coefficient, all.primitives),
                                    STAGED(factor, all.functions),
                                    STAGED(ao, all.functions),
                                    {all.prims * sizeof *prim, (void **)&prim, NULL}};
#undef STAGED
    enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
    const fmo_boys_table *boys = NULL;
    void *const staged = fmo_gpu_stage(arrays, ARRAYS);
    fmo_status status = FMO_OK;
    if (!staged) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for integrals");
    if (status == FMO_OK) status = fmo_gpu_place_arrays(device, "integrals", arrays, ARRAYS, err);
    if (status == FMO_OK) {
        fill(basis, count, eri, at, &host, &view, prim);
        status = fmo_gpu_upload(device, "integrals", staged, arrays, ARRAYS, err);
    }
    cudaError_t code = cudaSuccess;
    if (status == FMO_OK) {
        code = fmo_gpu_boys(&boys);
        if (code == cudaSuccess) code = launch(&host, &view, count, cutoff, boys, device->stream);
    }
    free(staged);
    free(at);
    fmo_gpu_free(device, view.molecule); /* the first, and with it all */
    FMO_GPU_CHECK(code, "integrals", err);
    return status;
}

} // namespace

fmo_status fmo_eri_matrices_on_gpu(const fmo_basis *const *basis, size_t count, double cutoff,
                                   double *const *eri, int number, void *stream, fmo_error *err)
{
    const char *const name = "fmo_eri_matrices_on_gpu";
    if (!count) return FMO_OK;
    const fmo_argument given[] = {FMO_GIVEN(basis), FMO_GIVEN(eri)};
    fmo_status status = fmo_arguments_check(name, given, 2, err);
    for (size_t k = 0; k < count && status == FMO_OK; k++) {
        const fmo_argument own[] = {FMO_GIVEN(eri[k])};
        status = fmo_eri_matrix_check(name, basis[k], err);
        if (status == FMO_OK) status = fmo_arguments_check(name, own, 1, err);
    }
    if (status != FMO_OK) return status;
    const fmo_gpu_range range("integrals of small molecules");
    fmo_gpu_call call(number, stream, err);
    if (call.status != FMO_OK) return call.status;
    const fmo_gpu_inside inside(&call.device);
    for (size_t k = 0; k < count && status == FMO_OK; k += molecules_max) {
        const size_t num = count - k < molecules_max ? count - k : molecules_max;
        status = compute(basis + k, num, cutoff, eri + k, &call.device, err);
    }
    return status;
}
