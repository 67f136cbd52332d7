/* One contracted quartet at a time on the host, for any class; see eri.h. */
#include "integrals/eri/eri.h"

static fmo_prim_pair load_pair(const double *record)
{
    fmo_prim_pair z = {record[FMO_PAIR_P],
                       record[FMO_PAIR_K],
                       {record[FMO_PAIR_X], record[FMO_PAIR_Y], record[FMO_PAIR_Z]},
                       record[FMO_PAIR_HALF]};
    return z;
}

/* Classes of the recursion accumulate integrals in place. */
#define QUARTET(e, name, li, lj, lk, ll, bra_class, ket_class)                                  \
    static void quartet_##name(const fmo_pair_view *bra, const fmo_pair_view *ket, double *eri) \
    {                                                                                           \
        double own[(int)e < (int)FMO_ERI_LOW_L_COUNT ? eri_##name##_acc : 1];                   \
        double *const acc = (int)e < (int)FMO_ERI_LOW_L_COUNT ? own : eri, AC[3];               \
        memset(acc, 0, eri_##name##_acc * sizeof *acc);                                         \
        for (int x = 0; x < 3; x++) AC[x] = bra->A[x] - ket->A[x];                              \
        for (int i = 0; i < bra->prim_num; i++) {                                               \
            const fmo_prim_pair b = load_pair(bra->prim + i * FMO_PAIR_FIELDS);                 \
            for (int j = 0; j < ket->prim_num; j++) {                                           \
                const fmo_prim_pair k = load_pair(ket->prim + j * FMO_PAIR_FIELDS);             \
                fmo_prim_quartet z = fmo_prim_quartet_make(fmo_boys.row[li + lj + lk + ll][0],  \
                                                           li + lj + lk + ll, &b, &k, AC);      \
                for (int x = 0; x < 3; x++) z.AB[x] = bra->AB[x], z.CD[x] = ket->AB[x];         \
                eri_##name##_prim(&z, acc);                                                     \
            }                                                                                   \
        }                                                                                       \
        eri_##name##_finish(bra->AB, ket->AB, acc, eri);                                        \
    }
FMO_ERI_CLASS_TABLE(QUARTET)
#undef QUARTET

typedef void quartet_function(const fmo_pair_view *, const fmo_pair_view *, double *);
static quartet_function *const quartet[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, ...) [e] = quartet_##name,
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
};

void fmo_eri_quartet(fmo_eri_class eri_class, const fmo_pair_view *bra, const fmo_pair_view *ket,
                     double *eri)
{
    quartet[eri_class](bra, ket, eri);
}

const char *fmo_eri_class_name(fmo_eri_class eri_class)
{
    static const char *const name[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, ...) [e] = #name,
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    };
    return (unsigned)eri_class < FMO_ERI_CLASS_COUNT ? name[eri_class] : NULL;
}
