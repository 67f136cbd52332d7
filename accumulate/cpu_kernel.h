/* The host's inner kernel: one bra pair against a list of ket pairs, quartets in vector lanes. The
 * same source is compiled for several instruction sets; the build picks one at run time. */
#ifndef FMO_CPU_KERNEL_H
#define FMO_CPU_KERNEL_H

#include "integrals/shell_pair.h"

typedef struct fmo_cpu_task {
    const fmo_basis *basis;
    const fmo_pair_list *bra_list, *ket_list;
    const double *density;      /* [nao][nao] internal order */
    double *coulomb, *exchange; /* X^J, X^K to add to */
    int atomic;                 /* other threads add to the same matrices */
    double *scratch;            /* fmo_cpu_scratch_size() doubles, aligned to 64 bytes */
} fmo_cpu_task;

/* Ket pairs ket[0..num-1] of the list against bra pair `bra`; they should be ordered so that
 * neighbours have equal numbers of primitive pairs. */
typedef void fmo_cpu_kernel(const fmo_cpu_task *task, int bra, const int *ket, int num);

/* A shell pair by the first functions of its shells. */
typedef struct fmo_pair_ao {
    int first, second;
} fmo_pair_ao;

/* Quartets whose integrals somebody else computed (mode split): pairs by index, integrals as
 * eri[component][quartet] with `stride` between components, degeneracy factors included. */
typedef struct fmo_cpu_batch {
    const fmo_pair_ao *bra_ao, *ket_ao;
    const int *quartet; /* [num][2] bra, ket */
    const double *eri;
    size_t stride;
} fmo_cpu_batch;

/* Digests quartets [begin, end) of a batch. */
typedef void fmo_cpu_digest(const fmo_cpu_task *task, const fmo_cpu_batch *batch, size_t begin,
                            size_t end);

typedef struct fmo_cpu_kernels {
    const char *name; /* "AVX-512" */
    int width;        /* quartets at a time */
    fmo_cpu_kernel *kernel[FMO_ERI_CLASS_COUNT];
    fmo_cpu_digest *digest[FMO_ERI_CLASS_COUNT];
} fmo_cpu_kernels;

/* Each compiled from cpu_kernel.c. */
extern const fmo_cpu_kernels fmo_cpu_kernels_baseline;
#if defined(FMO_CPU_X86)
extern const fmo_cpu_kernels fmo_cpu_kernels_avx2;
extern const fmo_cpu_kernels fmo_cpu_kernels_avx512;
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* The best kernels for this processor. */
const fmo_cpu_kernels *fmo_cpu_kernels_choose(void);

/* private matrices [threads][2][size] -> coulomb and exchange += their sums, pairwise over threads;
 * the order depends on the number of threads only. */
void fmo_cpu_reduce_tree(double *const *own, int threads, size_t size, double *coulomb,
                         double *exchange);
#ifdef __cplusplus
}
#endif

enum { FMO_CPU_WIDTH_MAX = 8 };

/* Doubles of scratch a thread needs for ket pairs of up to prim_max primitive pairs. */
static inline size_t fmo_cpu_scratch_size(int prim_max)
{
    return (size_t)prim_max * FMO_PAIR_FIELDS * FMO_CPU_WIDTH_MAX;
}

#endif
