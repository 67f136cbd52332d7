/* One contracted quartet in the registers of one thread: the arithmetic of integrals/eri_*.h over
 * all its primitive quartets. */
#ifndef FMO_GPU_QUARTET_CUH
#define FMO_GPU_QUARTET_CUH

#include "accumulate/digest.h"
#include "accumulate/gpu_types.cuh"
#include "integrals/eri.h"

/* Blocks that must fit a multiprocessor, by class: what the register need allows without spills
 * (ptxas, docs/gpu.md). 65536 registers / (FMO_GPU_THREADS * resident) a thread. */
template <int eri_class> struct fmo_gpu_resident_blocks;
template <> struct fmo_gpu_resident_blocks<FMO_ERI_SSSS> {
    static constexpr int value = 6;
};
template <> struct fmo_gpu_resident_blocks<FMO_ERI_PSSS> {
    static constexpr int value = 5;
};
template <> struct fmo_gpu_resident_blocks<FMO_ERI_PSPS> {
    static constexpr int value = 5;
};
template <> struct fmo_gpu_resident_blocks<FMO_ERI_PPSS> {
    static constexpr int value = 5;
};
template <> struct fmo_gpu_resident_blocks<FMO_ERI_PPPS> {
    static constexpr int value = 3;
};
template <> struct fmo_gpu_resident_blocks<FMO_ERI_PPPP> {
    static constexpr int value = 2;
};

/* The classes as types, from the table. */
#define FMO_GPU_CLASS(e, name, li, lj, lk, ll, bra_class, ket_class)                           \
    struct fmo_class_##name {                                                                  \
        static constexpr int id = e, LI = li, LJ = lj, LK = lk, LL = ll,                       \
                             order = li + lj + lk + ll;                                        \
        static constexpr int resident = fmo_gpu_resident_blocks<e>::value;                     \
        static constexpr int acc = eri_##name##_acc;                                           \
        static constexpr int size = (2 * li + 1) * (2 * lj + 1) * (2 * lk + 1) * (2 * ll + 1); \
        static __device__ __forceinline__ void prim(const fmo_prim_quartet *z, double *a)      \
        {                                                                                      \
            eri_##name##_prim(z, a);                                                           \
        }                                                                                      \
        static __device__ __forceinline__ void finish(const double *AB, const double *CD,      \
                                                      const double *a, double *eri)            \
        {                                                                                      \
            eri_##name##_finish(AB, CD, a, eri);                                               \
        }                                                                                      \
    };
FMO_ERI_CLASS_TABLE(FMO_GPU_CLASS)
#undef FMO_GPU_CLASS

/* First function of an internal shell: s shells come first. */
static __device__ __forceinline__ int fmo_gpu_ao(int l, int shell, int s_shells)
{
    return l ? 3 * shell - 2 * s_shells : shell;
}

static __device__ __forceinline__ fmo_prim_pair fmo_gpu_prim(const double *prim, size_t at,
                                                             int stride)
{
    fmo_prim_pair z;
    z.p = __ldg(prim + at + FMO_PAIR_P * (size_t)stride);
    z.k = __ldg(prim + at + FMO_PAIR_K * (size_t)stride);
    FMO_UNROLL
    for (int x = 0; x < 3; x++) z.d[x] = __ldg(prim + at + (FMO_PAIR_X + x) * (size_t)stride);
    z.half = __ldg(prim + at + FMO_PAIR_HALF * (size_t)stride);
    return z;
}

/* The same from records: for a bra, which the lanes of a warp mostly share. */
static __device__ __forceinline__ fmo_prim_pair fmo_gpu_record(const double2 *record)
{
    const double2 a = __ldg(record), b = __ldg(record + 1), c = __ldg(record + 2);
    fmo_prim_pair z = {a.x, a.y, {b.x, b.y, c.x}, c.y};
    return z;
}

typedef struct fmo_gpu_shells {
    int ao[4];
} fmo_gpu_shells;

/* eri[C::size], degeneracy factor included; `boys` is the table of order C::order. Returns where
 * the four shells start. */
template <class C>
static __device__ __forceinline__ fmo_gpu_shells fmo_gpu_quartet(const fmo_gpu_class_view &view,
                                                                 const double *boys, int s_shells,
                                                                 int2 quartet, double *eri)
{
    const int4 bra = __ldg(view.bra.shell + quartet.x), ket = __ldg(view.ket.shell + quartet.y);
    const double2 *const bra_records =
        view.bra.record + (size_t)__ldg(view.bra.record_at + quartet.x) * (FMO_PAIR_FIELDS / 2);
    const size_t ket_at = __ldg(view.ket.prim_at + quartet.y);
    double AC[3], acc[C::acc];
    FMO_UNROLL
    for (int x = 0; x < 3; x++)
        AC[x] = __ldg(view.bra.center + (size_t)x * view.bra.num + quartet.x) -
                __ldg(view.ket.center + (size_t)x * view.ket.num + quartet.y);
    FMO_UNROLL
    for (int a = 0; a < C::acc; a++) acc[a] = 0.0;
    for (int m = 0; m < ket.z; m++) {
        const fmo_prim_pair k =
            fmo_gpu_prim(view.ket.prim, ket_at + (size_t)m * FMO_PAIR_FIELDS * ket.w, ket.w);
        for (int n = 0; n < bra.z; n++) {
            const fmo_prim_pair b = fmo_gpu_record(bra_records + n * (FMO_PAIR_FIELDS / 2));
            const fmo_prim_quartet z = fmo_prim_quartet_make(boys, C::order, &b, &k, AC);
            C::prim(&z, acc);
        }
    }
    double AB[3], CD[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        AB[x] = C::LJ ? __ldg(view.bra.center + (size_t)(3 + x) * view.bra.num + quartet.x) : 0.0;
        CD[x] = C::LL ? __ldg(view.ket.center + (size_t)(3 + x) * view.ket.num + quartet.y) : 0.0;
    }
    const double factor =
        fmo_digest_degeneracy(bra.x == bra.y, ket.x == ket.y, view.same && quartet.x == quartet.y);
    FMO_UNROLL
    for (int a = 0; a < C::acc; a++) acc[a] *= factor;
    C::finish(AB, CD, acc, eri);

    fmo_gpu_shells at;
    at.ao[0] = fmo_gpu_ao(C::LI, bra.x, s_shells);
    at.ao[1] = fmo_gpu_ao(C::LJ, bra.y, s_shells);
    at.ao[2] = fmo_gpu_ao(C::LK, ket.x, s_shells);
    at.ao[3] = fmo_gpu_ao(C::LL, ket.y, s_shells);
    return at;
}

#endif
