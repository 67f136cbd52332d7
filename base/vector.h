/* Which instruction set of those that cmake/FmoVector.cmake compiles for this CPU has. */
#ifndef FMO_VECTOR_H
#define FMO_VECTOR_H

typedef enum fmo_vector_set {
    FMO_VECTOR_BASELINE,
    FMO_VECTOR_AVX2,  /* x86-64 alone, as the next */
    FMO_VECTOR_AVX512 /* F, DQ, VL */
} fmo_vector_set;

/* The widest one. */
fmo_vector_set fmo_vector_best(void);

/* The table of that set, of the tables table_baseline, table_avx2 and table_avx512. */
#if defined(__x86_64__)
#define FMO_VECTOR_TABLE(table)                               \
    (fmo_vector_best() == FMO_VECTOR_AVX512 ? &table##_avx512 \
     : fmo_vector_best() == FMO_VECTOR_AVX2 ? &table##_avx2   \
                                            : &table##_baseline)
#else
#define FMO_VECTOR_TABLE(table) (&table##_baseline)
#endif

#endif
