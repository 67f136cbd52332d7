/* The integral arithmetic of one vector width as plain functions over arrays of lanes. */
#ifndef FMO_TESTS_VECTOR_FORMS_H
#define FMO_TESTS_VECTOR_FORMS_H

#include <fmo/eri_class.h>

#include "integrals/boys/boys.h"

enum { VECTOR_WIDTH_MAX = 8, VECTOR_ORDERS = 17 };

FMO_STATIC_ASSERT((int)VECTOR_ORDERS == (int)FMO_BOYS_ORDER_MAX + 1, "orders of the Boys function")

typedef struct vector_forms {
    int width;
    const char *name;
    void (*rsqrt)(const double *x, double *y);                   /* [width] */
    void (*select)(const double *x, const double *y, double *z); /* z = x < y ? x : y */
    int (*any_below)(const double *x, double limit);
    /* F[m][width], m = 0..order */
    void (*boys[VECTOR_ORDERS])(const double *T, double *F);
    /* Primitive pairs as [prim][field][width], centres as [3][width]; eri[n][width] */
    void (*eri[FMO_ERI_CLASS_COUNT])(int bra_num, const double *bra, int ket_num, const double *ket,
                                     const double *AB, const double *CD, const double *AC,
                                     double *eri);
} vector_forms;

extern const vector_forms vector_forms_1, vector_forms_2, vector_forms_4, vector_forms_8;

#endif
