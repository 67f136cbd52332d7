/* Table of the constants of integrals/ that were chosen for speed; see base/tuning_row.h. */
#ifndef FMO_INTEGRALS_TUNING_H
#define FMO_INTEGRALS_TUNING_H

#include "base/tuning_row.h"

#define FMO_INTEGRALS_TUNING_COUNTS(X)                                                            \
    X(pair_thread_prims, 4096,                                                                    \
      "primitive pairs, weighted for d shells, that a thread has to have: waking it costs as "    \
      "much",                                                                                     \
      "not measured")                                                                             \
    X(sort_few, 64, "keys up to which they are sorted by insertion", "not measured")              \
    X(charge_piece, 2048,                                                                         \
      "charges that are processed together, so that their coordinates stay in the L2 cache",      \
      "docs/results/2026-11-22-24d2eb6/cpu-one-electron.txt")                                     \
    X(charge_part, 4 * 2048,                                                                      \
      "charges of a part with its own sums, at least, where charges are divided among threads",   \
      "not measured")                                                                             \
    X(charge_parts, 32, "of these parts, at most", "not measured")                                \
    X(charge_part_numbers, 1 << 22, "elements of all their sums, at most", "not measured")        \
    X(charge_part_pairs, 256, "pairs of centres below which charges are divided", "not measured") \
    X(one_electron_kets, 16, "kets that a task combines with one bra if there are many centres",  \
      "not measured")                                                                             \
    X(one_electron_gradient_parts, 128,                                                           \
      "parts of a one-electron gradient, at most, which threads compute", "not measured")         \
    X(one_electron_thread_work, 10000,                                                            \
      "products of primitives times charges that a thread has to have: about 1 ms",               \
      "not measured")

enum { FMO_INTEGRALS_TUNING_COUNTS(FMO_TUNING_COUNT) };

#endif
