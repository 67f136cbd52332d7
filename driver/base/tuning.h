/* Table of the constants of driver/fmo and driver/run that were chosen for speed; see
 * base/tuning_row.h. */
#ifndef FMO_DRIVER_BASE_TUNING_H
#define FMO_DRIVER_BASE_TUNING_H

#include "base/tuning_row.h"

#define FMO_DRIVER_TUNING_REALS(X)                                                              \
    X(field_difference_share, 0.1,                                                              \
      "charges of fragments that are not far, of all, up to which the field of far ones is a "  \
      "difference",                                                                             \
      "not measured")                                                                           \
    X(state_write_share, 0.01,                                                                  \
      "time for writing a state, of that since it was last written, up to which it is written", \
      "not measured")                                                                           \
    X(batch_portion_bytes, 256e6, "bytes of the results of molecules that are kept together",   \
      "not measured")

#define FMO_DRIVER_TUNING_COUNTS(X)                                                                \
    X(pairs_cpu, 512, "pairs of fragments of a batch on the CPU, at most", "not measured")         \
    X(pairs_gpu, 6000, "the same in mode fused, where a GPU is idle between batches",              \
      "docs/results/2026-11-25-05c9ef0/h200-fmo.txt")                                              \
    X(pairs_elements, 1 << 24,                                                                     \
      "elements of each kind of matrix of a batch that holds all of them", "not measured")         \
    X(pairs_rank_gpu, 48, "pairs of a piece for a rank with a GPU, at least", "not measured")      \
    X(pairs_state, 8,                                                                              \
      "pairs of a batch on the CPU where a state is written, at least: an interrupted run loses "  \
      "less",                                                                                      \
      "not measured")                                                                              \
    X(pairs_state_thread, 16, "the same for each thread: they wait for the last pair of a batch",  \
      "not measured")                                                                              \
    X(es_pieces, 16, "pieces of the electrostatics, for progress reports", "not measured")         \
    X(fragment_cpu_functions, 20,                                                                  \
      "functions of an SCF up to which it stays on the CPU in mode fused",                         \
      "docs/results/2026-11-25-05c9ef0/h200-fmo.txt")                                              \
    X(fragment_cpu_functions_few, 64, "the same if SCFs are few: the GPU would wait for the host", \
      "not measured")                                                                              \
    X(fragment_few, 4, "SCFs for each thread below which they are few", "not measured")            \
    X(fragment_threads, 16,                                                                        \
      "threads of a host beside its GPUs: more wait for each other longer than they help",         \
      "docs/results/2026-11-26-a18fda3/h100x4-fmo.txt")                                            \
    X(fragment_threads_least, 4, "of these for a rank",                                            \
      "docs/results/2026-11-26-bb6c5ad/h100x4-fmo.txt")                                            \
    X(fragment_concurrent_from, 8,                                                                 \
      "fragments from which each has one thread, however many threads there are",                  \
      "docs/results/2026-11-25-05c9ef0/h200-fmo.txt")                                              \
    X(mix_block, 1 << 14, "elements of a block of fields whose sums have a fixed order",           \
      "not measured")                                                                              \
    X(batch_piece, 16, "data sets of a piece for a rank with a GPU, at least", "not measured")     \
    X(batch_portion, 4096, "molecules whose results are kept together", "not measured")

enum { FMO_DRIVER_TUNING_COUNTS(FMO_TUNING_COUNT) };
FMO_DRIVER_TUNING_REALS(FMO_TUNING_REAL)

#endif
