/* Compiled once per vector width, with the flags of the library's kernels: FMO_SIMD_WIDTH,
 * VECTOR_FORMS (the name of the table below) and VECTOR_NAME come from CMake. */
#include "tests/integrals/vector_forms.h"

#include "integrals/eri/eri.h"

enum { W = FMO_SIMD_WIDTH };

static void store(double *to, fmo_real x)
{
    memcpy(to, &x, sizeof x);
}

static void rsqrt_lanes(const double *x, double *y)
{
    store(y, fmo_rsqrt(fmo_load(x)));
}

static void select_lanes(const double *x, const double *y, double *z)
{
#if FMO_SIMD_WIDTH == 1
    *z = *x < *y ? *x : *y;
#else
    const fmo_real a = fmo_load(x), b = fmo_load(y);
    store(z, fmo_select(a < b, a, b));
#endif
}

static int any_below(const double *x, double limit)
{
#if FMO_SIMD_WIDTH == 1
    return *x < limit;
#else
    return fmo_any(fmo_load(x) < limit);
#endif
}

#define BOYS(M)                                               \
    static void boys_##M(const double *T, double *F)          \
    {                                                         \
        fmo_real f[M + 1];                                    \
        fmo_boys_eval(fmo_boys.row[M][0], fmo_load(T), M, f); \
        for (int m = 0; m <= M; m++) store(F + m * W, f[m]);  \
    }
BOYS(0)
BOYS(1)
BOYS(2)
BOYS(3)
BOYS(4)
BOYS(5)
BOYS(6)
BOYS(7)
BOYS(8)
BOYS(9)
BOYS(10)
BOYS(11)
BOYS(12)
BOYS(13)
BOYS(14)
BOYS(15)
BOYS(16)

/* Integrals of a vector of quartets, too many for a stack. */
static fmo_real acc[FMO_ERI_INTEGRALS_MAX], out[FMO_ERI_INTEGRALS_MAX];

static fmo_prim_pair load_pair(const double *prim)
{
    fmo_prim_pair z;
    z.p = fmo_load(prim + FMO_PAIR_P * W);
    z.k = fmo_load(prim + FMO_PAIR_K * W);
    for (int x = 0; x < 3; x++) z.d[x] = fmo_load(prim + (FMO_PAIR_X + x) * W);
    z.half = fmo_load(prim + FMO_PAIR_HALF * W);
    return z;
}

#define ERI(e, name, li, lj, lk, ll, bra_class, ket_class)                                       \
    static void eri_lanes_##name(int bra_num, const double *bra, int ket_num, const double *ket, \
                                 const double *AB, const double *CD, const double *AC,           \
                                 double *eri)                                                    \
    {                                                                                            \
        fmo_real ab[3], cd[3], ac[3];                                                            \
        for (int x = 0; x < 3; x++) {                                                            \
            ab[x] = fmo_load(AB + x * W);                                                        \
            cd[x] = fmo_load(CD + x * W);                                                        \
            ac[x] = fmo_load(AC + x * W);                                                        \
        }                                                                                        \
        for (int a = 0; a < eri_##name##_acc; a++) acc[a] = fmo_set(0.0);                        \
        for (int b = 0; b < bra_num; b++) {                                                      \
            for (int k = 0; k < ket_num; k++) {                                                  \
                const fmo_prim_pair p = load_pair(bra + b * FMO_PAIR_FIELDS * W);                \
                const fmo_prim_pair q = load_pair(ket + k * FMO_PAIR_FIELDS * W);                \
                fmo_prim_quartet z = fmo_prim_quartet_make(fmo_boys.row[li + lj + lk + ll][0],   \
                                                           li + lj + lk + ll, &p, &q, ac);       \
                for (int x = 0; x < 3; x++) z.AB[x] = ab[x], z.CD[x] = cd[x];                    \
                eri_##name##_prim(&z, acc);                                                      \
            }                                                                                    \
        }                                                                                        \
        eri_##name##_finish(ab, cd, acc, out);                                                   \
        for (int n = 0; n < fmo_eri_class_integrals(e, 0); n++) store(eri + n * W, out[n]);      \
    }
FMO_ERI_CLASS_TABLE(ERI)

const vector_forms VECTOR_FORMS = {
    .width = W,
    .name = VECTOR_NAME,
    .rsqrt = rsqrt_lanes,
    .select = select_lanes,
    .any_below = any_below,
    .boys = {boys_0, boys_1, boys_2, boys_3, boys_4, boys_5, boys_6, boys_7, boys_8, boys_9,
             boys_10, boys_11, boys_12, boys_13, boys_14, boys_15, boys_16},
    .eri =
        {
#define ROW(e, name, ...) [e] = eri_lanes_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
};
