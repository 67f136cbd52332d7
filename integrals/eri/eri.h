/* All integral classes: headers with their arithmetic, and one contracted quartet at a time on the
 * host (for Schwarz bounds and tests). */
#ifndef FMO_ERI_H
#define FMO_ERI_H

#include <fmo/eri_class.h>
#include "integrals/tables.h"
/* One header for the arithmetic of each class of s and p shells, and one for all others, without f
 * shells and with them. If the compiler misses eri_xxxx_acc of a new class, it belongs here. */
#include "integrals/eri/eri_ssss.h"
#include "integrals/eri/eri_psss.h"
#include "integrals/eri/eri_psps.h"
#include "integrals/eri/eri_ppss.h"
#include "integrals/eri/eri_ppps.h"
#include "integrals/eri/eri_pppp.h"
#include "integrals/eri/eri_md.h"
#if !defined(__CUDACC__)
#include "integrals/eri/eri_any.h"
#endif

/* The largest number of H(p|cd) of a class: that of the class of the highest shells. */
enum { FMO_MD_HERMITE_MAX = FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX) * FMO_PAIR_PRODUCTS_MAX };

/* A contracted shell pair in memory: prim_num records of FMO_PAIR_FIELDS doubles. */
typedef struct fmo_pair_view {
    int prim_num;
    const double *prim;
    const double *AB; /* [3] A - B, bohr */
    const double *A;  /* [3] first centre */
} fmo_pair_view;

/* Computes eri[fmo_eri_class_integrals] of one contracted quartet in hartree, in the order of
 * eri_common.h. */
void fmo_eri_quartet(fmo_eri_class eri_class, const fmo_pair_view *bra, const fmo_pair_view *ket,
                     double *eri);

#endif
