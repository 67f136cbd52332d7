/* Instruction sets of this CPU, of those that cmake/FmoVector.cmake compiles for. */
#ifndef FMO_VECTOR_H
#define FMO_VECTOR_H

typedef enum fmo_vector_set {
    FMO_VECTOR_BASELINE,
    FMO_VECTOR_AVX2,  /* this and the next: x86-64 only */
    FMO_VECTOR_AVX512 /* with F, DQ and VL */
} fmo_vector_set;

/* Returns the widest instruction set that this CPU supports. */
static inline fmo_vector_set fmo_vector_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return FMO_VECTOR_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return FMO_VECTOR_AVX2;
#endif
    return FMO_VECTOR_BASELINE;
}

/* Selects, of table_baseline, table_avx2 and table_avx512, the one for this CPU. */
#if defined(__x86_64__)
#define FMO_VECTOR_TABLE(table)                               \
    (fmo_vector_best() == FMO_VECTOR_AVX512 ? &table##_avx512 \
     : fmo_vector_best() == FMO_VECTOR_AVX2 ? &table##_avx2   \
                                            : &table##_baseline)
#else
#define FMO_VECTOR_TABLE(table) (&table##_baseline)
#endif

#endif
