/* The integrals of one contracted quartet, in the registers of one thread: the arithmetic of
 * integrals/eri/ in a loop over the primitive quartets. near.cuh, tile.cuh and the schedules
 * `stored` and split call it. */
#ifndef FMO_GPU_QUARTET_CUH
#define FMO_GPU_QUARTET_CUH

#include "accumulate/rules/digest.h"
#include "accumulate/gpu/types.cuh"
#include "integrals/eri/eri_sp.h"

/* Resident blocks of a multiprocessor, by class, for which the number of registers is limited. */
static __host__ __device__ constexpr int fmo_gpu_resident(int eri_class)
{
    constexpr int blocks[] = {FMO_TUNING_GPU_RESIDENT};
    static_assert(sizeof blocks / sizeof *blocks == FMO_ERI_LOW_L_COUNT,
                  "FMO_TUNING_GPU_RESIDENT: a number for each class");
    return blocks[eri_class];
}

/* The classes as types, generated from the table: for plain pairs (fmo_class_X) and for SP pairs
 * (fmo_sp_class_X), in which a p shell stands for the whole padded SP shell. N0 to N3 are the sizes
 * of the four shells; LJ and LL are the angular momenta of the second shell of bra and ket, which
 * needs A - B if it is not zero. */
#define FMO_GPU_CLASS(prefix, arithmetic, sp, e, name, li, lj, lk, ll, bra, ket)          \
    struct prefix##name {                                                                 \
        static constexpr int id = e, BRA = bra, KET = ket, LJ = lj, LL = ll;              \
        static constexpr int order = fmo_eri_class_order(e);                              \
        static constexpr int N0 = fmo_pair_functions(bra, 0, sp),                         \
                             N1 = fmo_pair_functions(bra, 1, sp),                         \
                             N2 = fmo_pair_functions(ket, 0, sp),                         \
                             N3 = fmo_pair_functions(ket, 1, sp);                         \
        static constexpr bool sp_bra = sp && fmo_pair_partner(bra) != FMO_PAIR_NONE,      \
                              sp_ket = sp && fmo_pair_partner(ket) != FMO_PAIR_NONE;      \
        static constexpr int resident = fmo_gpu_resident(e);                              \
        static constexpr int acc = arithmetic##name##_acc, size = N0 * N1 * N2 * N3;      \
        static __device__ __forceinline__ void prim(const fmo_prim_quartet *z, double rb, \
                                                    double rk, double *a)                 \
        {                                                                                 \
            fmo_gpu_prim_##arithmetic(name);                                              \
        }                                                                                 \
        static __device__ __forceinline__ void finish(const double *AB, const double *CD, \
                                                      const double *a, double *eri)       \
        {                                                                                 \
            arithmetic##name##_finish(AB, CD, a, eri);                                    \
        }                                                                                 \
    };
#define fmo_gpu_prim_eri_(name)    eri_##name##_prim(z, a), (void)rb, (void)rk
#define fmo_gpu_prim_eri_sp_(name) eri_sp_##name##_prim(z, rb, rk, a)
#define FMO_GPU_PLAIN(...)         FMO_GPU_CLASS(fmo_class_, eri_, 0, __VA_ARGS__)
#define FMO_GPU_SP(...)            FMO_GPU_CLASS(fmo_sp_class_, eri_sp_, 1, __VA_ARGS__)
FMO_ERI_LOW_L_TABLE(FMO_GPU_PLAIN)
FMO_ERI_LOW_L_TABLE(FMO_GPU_SP)
#undef FMO_GPU_SP
#undef FMO_GPU_PLAIN
#undef FMO_GPU_CLASS

/* A primitive pair from its fields, loaded in pairs. */
static __device__ __forceinline__ fmo_prim_pair fmo_gpu_prim(double2 pk, double2 xy, double2 zh)
{
    const fmo_prim_pair z = {pk.x, pk.y, {xy.x, xy.y, zh.x}, zh.y};
    return z;
}

/* The threshold for the product of the bounds of two primitive pairs, from the code of the density
 * factor in the list's entry. */
static __device__ __forceinline__ float fmo_gpu_prim_cutoff(const fmo_gpu_class_view &view,
                                                            int2 quartet)
{
    const int code = (quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    return view.prim_cutoff * __int_as_float((code - FMO_GPU_FACTOR_TOP + 127) << 23);
}

typedef struct fmo_gpu_shells {
    int ao[4]; /* first functions */
} fmo_gpu_shells;

/* Loads of data that only one warp needs, once. They bypass the L1 cache, which is left to the
 * table of the Boys function and to D. */
static __device__ __forceinline__ double2 fmo_gpu_load_once(const double2 *from)
{
    double2 to;
    asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(to.x), "=d"(to.y) : "l"(from));
    return to;
}
static __device__ __forceinline__ int2 fmo_gpu_load_once(const int2 *from)
{
    int2 to;
    asm volatile("ld.global.L1::no_allocate.v2.s32 {%0, %1}, [%2];"
                 : "=r"(to.x), "=r"(to.y)
                 : "l"(from));
    return to;
}

/* Computes the integrals eri[C::size] of a quartet, degeneracy factor included. boys: the table for
 * order C::order; OPERATOR: of `op`, otherwise of 1/r. Primitive quartets below the threshold are
 * left out. Returns the first functions of the four shells. */
template <class C, bool OPERATOR = false>
static __device__ __forceinline__ fmo_gpu_shells fmo_gpu_quartet(const fmo_gpu_class_view &view,
                                                                 const double *boys, int2 quartet,
                                                                 double *eri,
                                                                 const fmo_operator *op = NULL)
{
    constexpr bool sp_bra = C::sp_bra, sp_ket = C::sp_ket;
    const int bra_at = quartet.x, ket_at = quartet.y & (FMO_GPU_PAIRS_MAX - 1);
    const int4 bra = __ldg(view.bra.first + bra_at), ket = __ldg(view.ket.first + ket_at);
    const double2 *const bra_prim =
        view.bra.record + __ldg(view.bra.record_at + bra_at) * (unsigned)FMO_GPU_PAIR_TWOS;
    const double2 *ket_prim = view.ket.prim + __ldg(view.ket.prim_at + ket_at);
    const float cutoff = fmo_gpu_prim_cutoff(view, quartet);
    const double same = view.same && bra_at == ket_at ? 0.5 : 1.0;
    double AC[3], acc[C::acc];
    FMO_UNROLL
    for (int x = 0; x < 3; x++)
        AC[x] = __ldg(view.bra.centre + x * view.bra.num + bra_at) -
                __ldg(view.ket.centre + x * view.ket.num + ket_at);
    FMO_UNROLL
    for (int a = 0; a < C::acc; a++) acc[a] = 0.0;
#pragma unroll 1
    for (int m = 0; m < ket.z; m++, ket_prim += FMO_GPU_PAIR_TWOS * ket.w) {
        const double2 ket_tail = fmo_gpu_load_once(ket_prim + 3 * ket.w);
        double2 tail = __ldg(bra_prim + 3); /* of the next primitive */
        fmo_prim_pair k =
            fmo_gpu_prim(fmo_gpu_load_once(ket_prim), fmo_gpu_load_once(ket_prim + ket.w),
                         fmo_gpu_load_once(ket_prim + 2 * ket.w));
        const float limit = cutoff / fmo_gpu_prim_bound(ket_tail);
        if (!(fmo_gpu_prim_bound(tail) >= limit)) break; /* all further kets are smaller */
        k.k *= same;
#pragma unroll 1
        for (int n = 0; n < bra.z; n++) {
            const double2 now = tail, *const record = bra_prim + n * FMO_GPU_PAIR_TWOS;
            if (!(fmo_gpu_prim_bound(now) >= limit)) break; /* all further bras are smaller */
            const fmo_prim_pair b =
                fmo_gpu_prim(__ldg(record), __ldg(record + 1), __ldg(record + 2));
            tail = __ldg(record + FMO_GPU_PAIR_TWOS + 3);
            const fmo_prim_quartet z =
                OPERATOR ? fmo_prim_quartet_make_of(op, boys, C::order, &b, &k, AC)
                         : fmo_prim_quartet_make(boys, C::order, &b, &k, AC);
            C::prim(&z, sp_bra ? now.x : 0.0, sp_ket ? ket_tail.x : 0.0, acc);
        }
    }
    double AB[3], CD[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        AB[x] = C::LJ ? __ldg(view.bra.centre + (3 + x) * view.bra.num + bra_at) : 0.0;
        CD[x] = C::LL ? __ldg(view.ket.centre + (3 + x) * view.ket.num + ket_at) : 0.0;
    }
    C::finish(AB, CD, acc, eri);
    const fmo_gpu_shells at = {{bra.x, bra.y, ket.x, ket.y}};
    return at;
}

#endif
