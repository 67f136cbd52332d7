/* All classes together: one contracted quartet at a time on the host (Schwarz bounds, tests),
 * and the loop over primitive quartets that every build shares. */
#ifndef FMO_ERI_H
#define FMO_ERI_H

#include <fmo/eri_class.h>
#include "integrals/tables.h"
/* The arithmetic of every class, a header each. What the compiler does not know of a class of the
 * table, eri_xxxx_acc to begin with, is to be found there. */
#include "integrals/eri/eri_ssss.h"
#include "integrals/eri/eri_psss.h"
#include "integrals/eri/eri_psps.h"
#include "integrals/eri/eri_ppss.h"
#include "integrals/eri/eri_ppps.h"
#include "integrals/eri/eri_pppp.h"
#include "integrals/eri/eri_md.h"

/* The most accumulators of a class. */
union fmo_eri_accumulators {
#define ROW(e, name, ...) char name[eri_##name##_acc];
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
};
enum { FMO_ERI_ACCUMULATORS_MAX = sizeof(union fmo_eri_accumulators) };

/* The most H(p|cd) of a class by the rule. */
union fmo_md_hermites {
#define ROW(e, name, ...) char name[eri_##name##_hermite];
    FMO_ERI_HIGH_L_TABLE(ROW)
#undef ROW
};
enum { FMO_MD_HERMITE_MAX = sizeof(union fmo_md_hermites) };

/* A contracted shell pair in memory: prim_num records of FMO_PAIR_FIELDS doubles. */
typedef struct fmo_pair_view {
    int prim_num;
    const double *prim;
    const double *AB; /* [3] A - B, bohr */
    const double *A;  /* [3] first centre */
} fmo_pair_view;

/* eri[fmo_eri_class_integrals] of one contracted quartet, hartree; the order is that of
 * eri_common.h. */
void fmo_eri_quartet(fmo_eri_class eri_class, const fmo_pair_view *bra, const fmo_pair_view *ket,
                     double *eri);

#endif
