/* The six classes of electron repulsion integrals, written once: enum, kernels, reports, tests and
 * docs all come from this table. OpenFMO's names; bra and ket pairs have l_i >= l_j, l_k >= l_l. */
#ifndef FMO_ERI_CLASS_H
#define FMO_ERI_CLASS_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, name, l_i, l_j, l_k, l_l, bra pair class, ket pair class) */
#define FMO_ERI_CLASS_TABLE(X)                                  \
    X(FMO_ERI_SSSS, ssss, 0, 0, 0, 0, FMO_PAIR_SS, FMO_PAIR_SS) \
    X(FMO_ERI_PSSS, psss, 1, 0, 0, 0, FMO_PAIR_PS, FMO_PAIR_SS) \
    X(FMO_ERI_PSPS, psps, 1, 0, 1, 0, FMO_PAIR_PS, FMO_PAIR_PS) \
    X(FMO_ERI_PPSS, ppss, 1, 1, 0, 0, FMO_PAIR_PP, FMO_PAIR_SS) \
    X(FMO_ERI_PPPS, ppps, 1, 1, 1, 0, FMO_PAIR_PP, FMO_PAIR_PS) \
    X(FMO_ERI_PPPP, pppp, 1, 1, 1, 1, FMO_PAIR_PP, FMO_PAIR_PP)

/** Classes of shell pairs. */
typedef enum fmo_pair_class {
    FMO_PAIR_SS,
    FMO_PAIR_PS,
    FMO_PAIR_PP,
    FMO_PAIR_CLASS_COUNT
} fmo_pair_class;

#define FMO_ERI_CLASS_ENUM(e, name, li, lj, lk, ll, bra, ket) e,
/** Classes of electron repulsion integrals. */
typedef enum fmo_eri_class {
    FMO_ERI_CLASS_TABLE(FMO_ERI_CLASS_ENUM) FMO_ERI_CLASS_COUNT
} fmo_eri_class;
#undef FMO_ERI_CLASS_ENUM

FMO_API const char *fmo_eri_class_name(fmo_eri_class eri_class); /**< "ppps"; NULL out of range */

#ifdef __cplusplus
}
#endif
#endif
