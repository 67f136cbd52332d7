/* The scatter strategies: ways to add values to matrix elements that many threads update at once.
 * Enum, --help, kernels, headers, tests and benchmarks are generated from one table. The device
 * code of the element strategies is in fmo/atomics.cuh; docs/reference/atomics.md explains them. */
#ifndef FMO_SCATTER_H
#define FMO_SCATTER_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of a strategy. */
typedef enum fmo_strategy_kind {
    FMO_SCATTER_ELEMENT,  /**< add(address, value); independent of loops */
    FMO_SCATTER_SCHEDULE, /**< determines loop order and which thread owns which elements */
    FMO_SCATTER_CHOICE    /**< selects one of the other strategies */
} fmo_strategy_kind;

/** Properties of a strategy in the table. */
enum {
    FMO_ONE_COMMIT = 0,    /**< --commit has no effect */
    FMO_TAKES_COMMIT = 1,  /**< has kernels for each kind of atomic update; `cas` needs
                                FMO_EXPERIMENTS */
    FMO_SUMS_FLOATS = 0,   /**< sums floating-point numbers in arbitrary order */
    FMO_SUMS_INTEGERS = 1, /**< sums fixed-point integers: results do not depend on the order */
    FMO_BUILDS_ALONE = 0,  /**< each build of a batch has its own launches */
    FMO_BUILDS_GROUPS = 1, /**< small builds of a batch share launches (native updates only) */
    FMO_LOW_L_SHELLS = 0,  /**< s and p shells only: published variants, need FMO_EXPERIMENTS */
    FMO_ALL_SHELLS = 1     /**< also d and f shells (native updates only) */
};

/* X(with, enumerator, name, kind, type, commits, sums, batches, shells, determinism, description).
 * - with: passed through, for tables derived from this one.
 * - type: the kernels use the C++ type fmo_scatter_<type> in scatter_<type>.cuh: the strategy's own
 * for element strategies, otherwise that of the element strategy it runs or starts with.
 * - determinism, as in CUB: "not guaranteed": sums of floating-point values may differ in the last
 * bits from run to run; "run-to-run": bitwise reproducible on one GPU model and binary, for any
 * launch shape; "gpu-to-gpu": bitwise reproducible on every GPU. */
#define FMO_SCATTER_TABLE_WITH(X, with)                                                           \
    X(with, FMO_SCATTER_AUTO, "auto", FMO_SCATTER_CHOICE, segmented, FMO_TAKES_COMMIT,            \
      FMO_SUMS_FLOATS, FMO_BUILDS_GROUPS, FMO_ALL_SHELLS, "not guaranteed",                       \
      "chosen from the structure of the problem, then from measured duplication")                 \
    X(with, FMO_SCATTER_NATIVE, "native", FMO_SCATTER_ELEMENT, native, FMO_TAKES_COMMIT,          \
      FMO_SUMS_FLOATS, FMO_BUILDS_GROUPS, FMO_ALL_SHELLS, "not guaranteed",                       \
      "one atomic per value")                                                                     \
    X(with, FMO_SCATTER_WARP_SHARED, "warp-shared", FMO_SCATTER_ELEMENT, warp_shared,             \
      FMO_TAKES_COMMIT, FMO_SUMS_FLOATS, FMO_BUILDS_ALONE, FMO_LOW_L_SHELLS, "not guaranteed",    \
      "one atomic per address of a warp, found through shared memory (2013, Fermi form)")         \
    X(with, FMO_SCATTER_BLOCK_SHARED, "block-shared", FMO_SCATTER_ELEMENT, block_shared,          \
      FMO_TAKES_COMMIT, FMO_SUMS_FLOATS, FMO_BUILDS_ALONE, FMO_LOW_L_SHELLS, "not guaranteed",    \
      "one atomic per address of a block, through shared memory (2013; small data)")              \
    X(with, FMO_SCATTER_WARP_SHUFFLE, "warp-shuffle", FMO_SCATTER_ELEMENT, warp_shuffle,          \
      FMO_TAKES_COMMIT, FMO_SUMS_FLOATS, FMO_BUILDS_ALONE, FMO_LOW_L_SHELLS, "not guaranteed",    \
      "one atomic per address of a warp, found by shuffles (2013, Kepler form)")                  \
    X(with, FMO_SCATTER_WARP_MATCH, "warp-match", FMO_SCATTER_ELEMENT, warp_match,                \
      FMO_TAKES_COMMIT, FMO_SUMS_FLOATS, FMO_BUILDS_ALONE, FMO_LOW_L_SHELLS, "not guaranteed",    \
      "one atomic per address of a warp, found by match_any, summed as a tree")                   \
    X(with, FMO_SCATTER_SEGMENTED, "segmented", FMO_SCATTER_ELEMENT, segmented, FMO_TAKES_COMMIT, \
      FMO_SUMS_FLOATS, FMO_BUILDS_GROUPS, FMO_ALL_SHELLS, "not guaranteed",                       \
      "one atomic per run of adjacent lanes with one address")                                    \
    X(with, FMO_SCATTER_FIXED, "fixed", FMO_SCATTER_ELEMENT, fixed, FMO_ONE_COMMIT,               \
      FMO_SUMS_INTEGERS, FMO_BUILDS_GROUPS, FMO_ALL_SHELLS, "run-to-run",                         \
      "values rounded to 64-bit fixed point, integer atomics: bit-equal for any launch shape")    \
    X(with, FMO_SCATTER_REPLICATED, "replicated", FMO_SCATTER_SCHEDULE, native, FMO_ONE_COMMIT,   \
      FMO_SUMS_FLOATS, FMO_BUILDS_ALONE, FMO_ALL_SHELLS, "not guaranteed",                        \
      "several copies of the matrices, merged at the end")                                        \
    X(with, FMO_SCATTER_TILE, "tile", FMO_SCATTER_SCHEDULE, native, FMO_ONE_COMMIT,               \
      FMO_SUMS_FLOATS, FMO_BUILDS_ALONE, FMO_LOW_L_SHELLS, "not guaranteed",                      \
      "owned tiles or rows in shared memory, flushed once")

/* The same without the argument passed through: X(enumerator, name, kind, type, ...). */
#define FMO_SCATTER_TABLE(X)    FMO_SCATTER_TABLE_WITH(FMO_SCATTER_ROW, X)
#define FMO_SCATTER_ROW(X, ...) X(__VA_ARGS__)

/* Kinds of atomic updates. X(enumerator, name, description) */
#define FMO_COMMIT_TABLE(X)                                                       \
    X(FMO_COMMIT_NATIVE, "native", "the hardware's atomic add (FP64 since 2016)") \
    X(FMO_COMMIT_CAS, "cas", "a compare-and-swap loop, as FP64 needed before")

#define FMO_SCATTER_ENUM_ROW(e, ...)       e,
#define FMO_COMMIT_ENUM_ROW(e, name, text) e,
/** Scatter strategies. */
typedef enum fmo_scatter { FMO_SCATTER_TABLE(FMO_SCATTER_ENUM_ROW) FMO_SCATTER_COUNT } fmo_scatter;
/** Kinds of atomic updates. */
typedef enum fmo_commit { FMO_COMMIT_TABLE(FMO_COMMIT_ENUM_ROW) FMO_COMMIT_COUNT } fmo_commit;
#undef FMO_SCATTER_ENUM_ROW
#undef FMO_COMMIT_ENUM_ROW

FMO_API const char *fmo_scatter_name(fmo_scatter scatter); /**< "native"; NULL if out of range */
FMO_API const char *fmo_scatter_text(fmo_scatter scatter); /**< one line for --help */
FMO_API const char *fmo_scatter_determinism(fmo_scatter scatter); /**< "run-to-run" */
FMO_API int fmo_scatter_takes_commit(fmo_scatter scatter);        /**< 1: --commit has an effect */
FMO_API int fmo_scatter_sums_integers(fmo_scatter scatter);       /**< 1: fixed point */
/** Returns 1 if the strategy, with this kind of update, supports d shells on a GPU. */
FMO_API int fmo_scatter_takes_all_shells(fmo_scatter scatter, fmo_commit commit);
/** Returns 1 if this library contains kernels for the strategy with this kind of update. Published
 *  variants that `auto` never selects are compiled only with the CMake option FMO_EXPERIMENTS. */
FMO_API int fmo_scatter_is_built(fmo_scatter scatter, fmo_commit commit);
FMO_API fmo_strategy_kind fmo_scatter_kind(fmo_scatter scatter); /**< CHOICE if out of range */
/** Returns the element strategy whose kernels run: an element strategy itself, `native` for
 *  `replicated` and `tile`, the initial choice for `auto`; FMO_SCATTER_COUNT if out of range. */
FMO_API fmo_scatter fmo_scatter_kernels(fmo_scatter scatter);
FMO_API const char *fmo_commit_name(fmo_commit commit); /**< "cas"; NULL if out of range */
FMO_API const char *fmo_commit_text(fmo_commit commit); /**< one line for --help */

#ifdef __cplusplus
}
#endif
#endif
