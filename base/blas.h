/* The BLAS that fmo was configured for (CMake's FMO_BLAS), and the number of its threads, which
 * each library sets by functions of its own. */
#ifndef FMO_BASE_BLAS_H
#define FMO_BASE_BLAS_H

#if FMO_BLAS_MKL
#include <mkl_cblas.h>
#include <mkl_service.h>
#else
#include <cblas.h>
#endif
#include <omp.h>

/* fmo_blas_is_thread_safe: 1 if several threads may call BLAS at the same time, which a sequential
 * OpenBLAS does not allow. fmo_blas_threads: the number of threads of BLAS; a library may give -1
 * where none was set, and one without threads has 1. fmo_blas_threads_max: the number above which
 * more threads are of no use. */
#if FMO_BLAS_MKL
static inline int fmo_blas_is_thread_safe(void)
{
    return 1;
}
static inline int fmo_blas_threads(void)
{
    return MKL_Get_Max_Threads();
}
static inline void fmo_blas_set_threads(int threads)
{
    MKL_Set_Num_Threads(threads);
}
static inline int fmo_blas_threads_max(void)
{
    return omp_get_num_procs();
}
#elif FMO_BLAS_OPENBLAS
static inline int fmo_blas_is_thread_safe(void)
{
    return openblas_get_parallel() != 0;
}
static inline int fmo_blas_threads(void)
{
    return openblas_get_num_threads();
}
static inline void fmo_blas_set_threads(int threads)
{
    openblas_set_num_threads(threads);
}
static inline int fmo_blas_threads_max(void)
{
    return openblas_get_num_procs();
}
#else /* another library, or one that is chosen when a program starts: NULL if it is not there */
#pragma weak openblas_get_parallel
#pragma weak openblas_get_num_threads
#pragma weak openblas_set_num_threads
#pragma weak openblas_get_num_procs
#pragma weak bli_thread_get_num_threads
#pragma weak bli_thread_set_num_threads
int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int);
int openblas_get_num_procs(void);
long bli_thread_get_num_threads(void); /* of BLIS, whose dim_t is as long as a pointer */
void bli_thread_set_num_threads(long);

static inline int fmo_blas_is_thread_safe(void)
{
    return !openblas_get_parallel || openblas_get_parallel() != 0;
}
static inline int fmo_blas_threads(void)
{
    if (openblas_get_num_threads) return openblas_get_num_threads();
    return bli_thread_get_num_threads ? (int)bli_thread_get_num_threads() : 1;
}
static inline void fmo_blas_set_threads(int threads)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(threads);
    else if (bli_thread_set_num_threads)
        bli_thread_set_num_threads(threads);
}
static inline int fmo_blas_threads_max(void)
{
    return openblas_get_num_procs ? openblas_get_num_procs() : omp_get_num_procs();
}
#endif

#endif
