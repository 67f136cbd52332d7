/* Table of the constants of driver/scf that were chosen for speed; see base/tuning_row.h. */
#ifndef FMO_SCF_TUNING_H
#define FMO_SCF_TUNING_H

#include "base/tuning_row.h"

#define FMO_SCF_TUNING_REALS(X)                                                                   \
    X(scf_blas_thread_work, 4e6,                                                                  \
      "multiplications of a matrix product that a BLAS with several threads has to have",         \
      "not measured")                                                                             \
    X(scf_soon_cubes, 2e5,                                                                        \
      "cubed functions of an SCF for each thread up to which auto starts no GPU: they take 0.1 "  \
      "s, and CUDA 0.3 to start",                                                                 \
      "docs/results/2026-11-26-4e037fe/h100-auto.txt")                                            \
    X(lockstep_bytes, 16e9, "bytes of the matrices of a lockstep batch, at most", "not measured") \
    X(lockstep_kept_share, 1.0 / 32, "of a GPU's memory, which its pool keeps", "not measured")   \
    X(block_cpu_seconds, 1.8e-3, "seconds of an SCF of 13 functions on one CPU thread, for auto", \
      "not measured")                                                                             \
    X(block_cpu_power, 2.25, "power of the number of functions with which they grow",             \
      "not measured")                                                                             \
    X(block_gpu_begins, 0.3, "seconds that a GPU takes to start", "not measured")                 \
    X(block_memory_share, 0.2,                                                                    \
      "of the free GPU memory, for molecules that are solved in thread blocks", "not measured")   \
    X(block_memory_max, 6e9, "bytes of the same, at most", "not measured")

#define FMO_SCF_TUNING_COUNTS(X)                                                                   \
    X(scf_purify_from, 48,                                                                         \
      "functions from which purification is faster than the eigenproblem on a GPU",                \
      "not measured")                                                                              \
    X(scf_small, 48,                                                                               \
      "rows and columns up to which matrices have loops of our own: a BLAS is slower",             \
      "not measured")                                                                              \
    X(scf_small_product, 32, "the same for products", "not measured")                              \
    X(scf_gpu_threads, 256, "threads of a block of the kernels for matrices", "not measured")      \
    X(scf_gpu_blocks, 4096, "of these blocks, at most", "not measured")                            \
    X(lockstep_matrix_blocks, 64, "of these blocks for each matrix of a lockstep batch, at most",  \
      "not measured")                                                                              \
    X(scf_cpu_cube, 1600,                                                                          \
      "cubed functions for each thread up to which auto leaves molecules of a batch on the CPU",   \
      "not measured")                                                                              \
    X(lockstep_functions, 512, "functions of a molecule that advances in lockstep, at most",       \
      "not measured")                                                                              \
    X(lockstep_max, 512, "molecules of a lockstep batch, at most", "not measured")                 \
    X(lockstep_least, 32, "molecules of a lockstep batch before there are several",                \
      "not measured")                                                                              \
    X(lockstep_eigen_alike, 16, "matrices of one size from which cuSOLVER gets them",              \
      "not measured")                                                                              \
    X(lockstep_eigen_functions, 48, "their rows, at least", "not measured")                        \
    X(lockstep_product_group, 8, "matrix products of one size from which they are one call",       \
      "not measured")                                                                              \
    X(lockstep_purify_first, 20,                                                                   \
      "steps of purifications before the host asks whether they are done", "not measured")         \
    X(lockstep_purify_next, 4, "steps between the next such questions", "not measured")            \
    X(lockstep_portion, 2 << 20, "numbers of a piece of page-locked memory: 16 MB",                \
      "docs/results/2026-11-26-9e09e48/h100-small-pieces.txt")                                     \
    X(lockstep_spares, 16,                                                                         \
      "pieces of page-locked memory that are kept: allocating one takes 8 ms", "not measured")     \
    X(block_least, 64, "molecules from which thread blocks solve them", "not measured")            \
    X(block_chunk_least, 256, "molecules of a launch, at least", "not measured")                   \
    X(block_chunk_max, 2048, "molecules of a launch, at most", "not measured")                     \
    X(block_workers, 2, "host threads for each GPU: one prepares while the other waits",           \
      "not measured")                                                                              \
    X(block_functions, 56, "functions of a molecule that a thread block solves, at most",          \
      "not measured")                                                                              \
    X(block_threads_few, 128, "threads of a block for molecules of few functions", "not measured") \
    X(block_threads, 256, "threads of a block for larger ones", "not measured")                    \
    X(block_few_functions, 20, "functions that are few", "not measured")

enum { FMO_SCF_TUNING_COUNTS(FMO_TUNING_COUNT) };
FMO_SCF_TUNING_REALS(FMO_TUNING_REAL)

#endif
