/* The BLAS that fmo was configured for (CMake's FMO_BLAS), and the number of threads
 * of BLAS, for which each library has functions of its own. */
#ifndef FMO_BASE_BLAS_H
#define FMO_BASE_BLAS_H

#if FMO_BLAS_MKL
#include <mkl_cblas.h>
#else
#include <cblas.h>
#endif
#include <omp.h>

#if FMO_BLAS_MKL
int MKL_Get_Max_Threads(void);
void MKL_Set_Num_Threads(int);
#elif !FMO_BLAS_OPENBLAS /* another library, or one that is chosen when programs start */
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
#endif

/* Returns 1 if several threads may call BLAS at the same time; a sequential OpenBLAS does not allow
 * it. */
static inline int fmo_blas_is_thread_safe(void)
{
#if FMO_BLAS_MKL
    return 1;
#elif FMO_BLAS_OPENBLAS
    return openblas_get_parallel() != 0;
#else
    return !openblas_get_parallel || openblas_get_parallel() != 0;
#endif
}

/* Returns the number of threads of BLAS; 1 for a library without threads. */
static inline int fmo_blas_threads(void)
{
#if FMO_BLAS_MKL
    return MKL_Get_Max_Threads();
#elif FMO_BLAS_OPENBLAS
    return openblas_get_num_threads();
#else
    if (openblas_get_num_threads) return openblas_get_num_threads();
    /* -1: not set, and OpenMP's number or 1 */
    const long threads = bli_thread_get_num_threads ? bli_thread_get_num_threads() : 1;
    return threads > 0 ? (int)threads : 1;
#endif
}

static inline void fmo_blas_set_threads(int threads)
{
#if FMO_BLAS_MKL
    MKL_Set_Num_Threads(threads);
#elif FMO_BLAS_OPENBLAS
    openblas_set_num_threads(threads);
#else
    if (openblas_set_num_threads)
        openblas_set_num_threads(threads);
    else if (bli_thread_set_num_threads)
        bli_thread_set_num_threads(threads);
#endif
}

/* Returns the number of threads that can pay: that of processors. */
static inline int fmo_blas_threads_most(void)
{
#if FMO_BLAS_MKL
    return omp_get_num_procs();
#elif FMO_BLAS_OPENBLAS
    return openblas_get_num_procs();
#else
    return openblas_get_num_procs ? openblas_get_num_procs() : omp_get_num_procs();
#endif
}

#endif
