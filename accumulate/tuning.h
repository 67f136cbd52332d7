/* Table of the constants of accumulate/ that were chosen for speed: name, value, description with
 * the unit, and the raw results that support the choice (with the step of docs/log/ladder.md if a
 * file contains several). integrals/tuning.h and driver/base/tuning.h are the tables of the other
 * folders. Constants of accuracy are elsewhere, with their error bounds: rules/screen.h,
 * plan/plan.h and integrals/far. For host and device code. */
#ifndef FMO_TUNING_H
#define FMO_TUNING_H

#include "base/tuning_row.h"

/* X(name, value, description, raw results). The last is "not measured" if no file compares other
 * values; tests/docs/check.py checks that the files exist.
 *
 * "Work" is the number of primitive quartets of a system before screening. */
#define FMO_TUNING_REALS(X)                                                                       \
    X(cpu_thread_work, 1e6,                                                                       \
      "primitive quartets, each times its number of functions, that each thread of a build must " \
      "have, about 1 ms; on a busy machine a team waits longer than that for its threads",        \
      "docs/results/2026-11-27-9a3f86a/cpu-few-functions.txt")                                    \
    X(gpu_depth_small_work, 1e6, "work below which segments of pairs are shortest",               \
      "docs/results/2026-11-20-ee6bf27/h200-depth-scan.txt")                                      \
    X(gpu_depth_middle_work, 3e7, "work below which segments of pairs are of middle length",      \
      "docs/results/2026-11-22-77b1cb3/h200-rungs-37-41.txt 40")                                  \
    X(gpu_far_work, 1e7, "work from which far quartets have separate lists",                      \
      "docs/results/2026-11-22-77b1cb3/h200-rungs-37-41.txt 39")                                  \
    X(gpu_lists_work, 1e9, "work from which each list of a class has a separate kernel",          \
      "docs/results/2026-11-22-77b1cb3/h200-rungs-37-41.txt 40")                                  \
    X(gpu_small_work, 1e8, "work below which a screening block has few slabs",                    \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 43")                                  \
    X(gpu_group_work, 1e9, "work below which builds share launches",                              \
      "docs/results/2026-11-25-9890ee5/h100-group-work.txt 74")                                   \
    X(gpu_gradient_group_elements, 4e6,                                                           \
      "elements of the densities of gradients that share launches, at most: half a GB in "        \
      "6-31G*, while 100 small molecules already fill a GPU",                                     \
      "not measured")                                                                             \
    X(gpu_hermite_beside_work, 1e9,                                                               \
      "work below which J of d shells is assembled as soon as its potentials are ready",          \
      "docs/results/2026-11-25-0bd6029/h100-beside.txt 71")                                       \
    X(gpu_list_share, 0.25, "share of free memory for the lists of quartets", "not measured")     \
    X(gpu_far_share, 0.125, "share of free memory for points of far quartets", "not measured")    \
    X(gpu_stored_share, 0.9, "share of free memory for stored integrals", "not measured")         \
    X(gpu_stored_auto_share, 0.5, "the same where auto decides; the rest is for others",          \
      "docs/results/2026-11-22-77b1cb3/h200-stored.txt")                                          \
    X(gpu_few_runs, 0.8, "atomics issued for each addition, above which auto takes native",       \
      "docs/results/2026-11-22-77b1cb3/h200-strategies.md")                                       \
    X(gpu_copies_elements, 65536.0,                                                               \
      "elements of K in all copies together, up to which auto makes "                             \
      "copies",                                                                                   \
      "docs/results/2026-11-20-d727bbc/h200-rungs-8-14.txt 6")                                    \
    X(gpu_box_close, 30.0, "bohr: closer nuclei are close, few of their pairs are far",           \
      "not measured")                                                                             \
    X(gpu_box_close_share, 0.65,                                                                  \
      "share of pairs of nuclei that are close, up to which auto uses multipoles of boxes",       \
      "docs/results/2026-11-24-918dffa/h200-boxes-steps.txt 54-56")                               \
    X(gpu_box_far_pairs, 3e8, "products of two pairs not close, for auto to use boxes",           \
      "docs/results/2026-11-24-918dffa/h200-boxes-steps.txt 54-56")                               \
    X(gpu_box_worth, 20.0,                                                                        \
      "multiplications of an interaction of boxes for each product of their pairs, at most",      \
      "docs/results/2026-11-24-918dffa/h200-boxes-steps.txt 54-56")                               \
    X(cpu_far_near_share, 0.78,                                                                   \
      "share of products of two shell pairs that are near, estimated with boxes of four leaves "  \
      "and D = 1, up to which auto uses multipoles of boxes",                                     \
      "not measured")                                                                             \
    X(gpu_replicated_share, 0.5, "share of the L2 cache for two matrices under replicated",       \
      "docs/results/2026-11-22-77b1cb3/h200-strategies.md")

#define FMO_TUNING_COUNTS(X)                                                                      \
    X(gpu_threads, 128,                                                                           \
      "threads of a block of quartet kernels: four warps, so that with 255 "                      \
      "registers a thread two blocks fit a multiprocessor",                                       \
      "docs/results/2026-11-22-2380313/sm90-ptxas-registers.txt")                                 \
    X(gpu_depth_small, 2, "primitives of the longest segment of a pair, by work",                 \
      "docs/results/2026-11-20-ee6bf27/h200-depth-scan.txt")                                      \
    X(gpu_depth_middle, 6, "the same", "docs/results/2026-11-20-ee6bf27/h200-depth-scan.txt")     \
    X(gpu_depth_large, 9, "the same", "docs/results/2026-11-22-77b1cb3/h200-rungs-37-41.txt 40")  \
    X(gpu_list_max, 1 << 30, "largest number of quartets in a list",                              \
      "docs/results/2026-11-21-db43f1e/h200-rungs-24-31.txt 31")                                  \
    X(gpu_copies_max, 8, "largest number of copies of K under auto",                              \
      "docs/results/2026-11-20-d727bbc/h200-rungs-8-14.txt 6")                                    \
    X(gpu_replicas_max, 64, "largest number of copies under replicated",                          \
      "docs/results/2026-11-22-77b1cb3/h200-strategies.md")                                       \
    X(gpu_block_shared_ao_max, 128,                                                               \
      "functions up to which block-shared, which compares every pair of threads, is "             \
      "accepted",                                                                                 \
      "docs/results/2026-11-22-77b1cb3/h200-strategies.md")                                       \
    X(gpu_screen_warps, 4, "warps of a screening block; fewer wait less at barriers",             \
      "docs/results/2026-11-22-77b1cb3/h200-rungs-37-41.txt 41")                                  \
    X(gpu_screen_blocks, 12, "blocks of the screening kernels that must fit on a multiprocessor", \
      "docs/results/2026-11-22-e7eae95/h200-rungs-32-36.txt 32")                                  \
    X(gpu_screen_rounds, 4, "tiles of 32 ket pairs that a warp screens in each slab",             \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 43")                                  \
    X(gpu_screen_slabs_small, 2,                                                                  \
      "slabs of a screening block in small systems, which need many blocks with few data "        \
      "each",                                                                                     \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 43")                                  \
    X(gpu_screen_slabs_large, 16, "the same in large systems, for long pieces of lists",          \
      "docs/results/2026-11-22-e7eae95/h200-rungs-32-36.txt 32")                                  \
    X(gpu_screen_queue_large, 1536,                                                               \
      "screened-in quartets that a block of a large system collects before it classifies them",   \
      "docs/results/2026-11-21-db43f1e/h200-rungs-24-31.txt 30")                                  \
    X(gpu_screen_rows_bytes, 36 * 1024, "shared memory that rows of block maxima may take",       \
      "docs/results/2026-11-20-3777c84/h200-ncu-rungs-3-6.txt 5")                                 \
    X(gpu_waves_large, 2,                                                                         \
      "blocks of a kernel in systems with far quartets, as a multiple of those resident on the "  \
      "GPU",                                                                                      \
      "docs/results/2026-11-22-e7eae95/h200-rungs-32-36.txt 36")                                  \
    X(gpu_batch_groups, 4,                                                                        \
      "least number of groups in a batch, so that one group fills the GPU while another "         \
      "ends",                                                                                     \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 45")                                  \
    X(gpu_group_least, 8, "least number of builds in a group",                                    \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 45")                                  \
    X(gpu_group_max, 64, "largest number of builds in a group",                                   \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 42")                                  \
    X(gpu_group_waves, 4, "blocks of a group's kernel, as a multiple of the resident ones",       \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 46")                                  \
    X(batch_waiting, 256, "jobs of a batch that are started together: four groups",               \
      "docs/results/2026-11-22-2380313/h200-rungs-42-46.txt 45")                                  \
    X(gpu_tile_warps, 256, "warps of schedule tile for each multiprocessor",                      \
      "docs/results/2026-11-22-77b1cb3/h200-strategies.md")                                       \
    X(gpu_tile_kets_least, 128, "least number of kets for a warp of schedule tile",               \
      "docs/results/2026-11-22-77b1cb3/h200-strategies.md")                                       \
    X(gpu_stored_piece_least, 32, "least number of consecutive stored quartets of a warp",        \
      "docs/results/2026-11-22-77b1cb3/h200-stored.txt")                                          \
    X(gpu_stored_piece_max, 256,                                                                  \
      "largest such number: neighbouring quartets share rows of the matrices",                    \
      "docs/results/2026-11-22-77b1cb3/h200-stored.txt")                                          \
    X(gpu_stored_pieces, 8,                                                                       \
      "least number of such pieces for each warp, so that the work is balanced",                  \
      "docs/results/2026-11-22-77b1cb3/h200-stored.txt")                                          \
    X(gpu_hermite_few_quartets, 1 << 18,                                                          \
      "products of two pairs of a class with d shells, before screening, below which each pass "  \
      "of a quartet has its own thread",                                                          \
      "docs/results/2026-11-25-63c2b2b/h100-few.txt")                                             \
    X(gpu_hermite_threads, 128, "threads of a block of the kernels for J and Hermite densities",  \
      "not measured")                                                                             \
    X(gpu_hermite_warps, 64,                                                                      \
      "warps a multiprocessor, two for each point of a bra, above which each point has one",      \
      "not measured")                                                                             \
    X(gpu_hermite_chunk_bras, 8,                                                                  \
      "points of bras for each multiprocessor, below which their kets are divided into chunks",   \
      "docs/results/2026-11-23-22d7f4e/h200-rungs-48-53.txt 49-50")                               \
    X(gpu_hermite_chunks_max, 8, "largest number of chunks of kets",                              \
      "docs/results/2026-11-23-22d7f4e/h200-rungs-48-53.txt 49-50")                               \
    X(gpu_hermite_screen_warps, 4, "warps of a block that screens K of d shells", "not measured") \
    X(gpu_hermite_screen_queue, 256,                                                              \
      "screened-in quartets that a warp collects before it writes them", "not measured")          \
    X(gpu_hermite_screen_blocks, 16, "such blocks a multiprocessor if there are fewer bras",      \
      "docs/results/2026-11-23-22d7f4e/h200-rungs-48-53.txt 49-50")                               \
    X(gpu_gradient_group_max, 4096,                                                               \
      "molecules whose gradients share launches, at most; grids have at most 65535",              \
      "not measured")                                                                             \
    X(gpu_gradient_streams, 3, "streams for the classes of K of a gradient, beside that of J",    \
      "not measured")                                                                             \
    X(gpu_gradient_threads, 128, "threads of a block of the kernels for gradients",               \
      "not measured")                                                                             \
    X(gpu_gradient_sums_bytes, 16 << 10, "bytes of sums that such a block keeps, at most",        \
      "not measured")                                                                             \
    X(gpu_gradient_block_bytes, 200 << 10,                                                        \
      "bytes of such a block whose warps compute quartets as matrices, at most", "not measured")  \
    X(gpu_gradient_matrix_bytes, 26 << 10,                                                        \
      "bytes of such a warp up to which it takes several primitive pairs of a ket at a time",     \
      "docs/results/2026-11-29-63a12d2/h200-forces.txt")                                          \
    X(gpu_gradient_density_bytes, 24 << 10,                                                       \
      "bytes of products of density elements that such a warp has at a time", "not measured")     \
    X(gpu_gradient_matrix_columns, 5, "tiles of the ket's products that it has in registers",     \
      "not measured")                                                                             \
    X(gpu_gradient_matrix_rows, 4, "tiles of rows that it computes at a time", "not measured")    \
    X(gpu_gradient_items, 16, "items of work for each warp of K of a gradient", "not measured")   \
    X(cpu_gradient_bras, 8, "bras whose gradients a thread adds up before they become integers",  \
      "not measured")                                                                             \
    X(gpu_box_leaf, 64, "shell pairs in a leaf of the tree of boxes",                             \
      "docs/results/2026-11-24-918dffa/h200-boxes-steps.txt 54-56")                               \
    X(gpu_box_order, 16, "highest order of multipole expansions of boxes", "not measured")        \
    X(cpu_far_pairs, 4000, "shell pairs below which auto does not use boxes", "not measured")     \
    X(cpu_far_survey_leaves, 4,                                                                   \
      "leaves of the smallest boxes that the share of near pairs counts", "not measured")         \
    X(cpu_far_leaf, 40, "shell pairs in a leaf of the tree of boxes", "not measured")             \
    X(rank_pieces, 32, "pieces of work for each thread of a rank", "not measured")                \
    X(split_bytes, 512 << 20, "pinned memory of mode split, without options.memory",              \
      "not measured")                                                                             \
    X(split_bytes_least, 1 << 20, "of a buffer, at least", "not measured")                        \
    X(plans_together, 64, "plans of a batch that one thread makes together, at most",             \
      "not measured")                                                                             \
    X(matrix_thread_bytes, 1 << 20,                                                               \
      "bytes of a matrix that are worth a thread to check or to copy", "not measured")            \
    X(plan_densities, 8, "densities of one plan that mode cpu builds together, at most",          \
      "not measured")                                                                             \
    X(rank_message_bytes, 1 << 24, "bytes of a message between ranks, at most", "not measured")   \
    X(rank_sum_elements, 1 << 21,                                                                 \
      "elements of a matrix that ranks add up in one message, at most", "not measured")           \
    X(cpu_bras, 2, "bras of a task that a thread of mode cpu takes at a time", "not measured")    \
    X(cpu_certain_bytes, 64 << 20, "bytes of a build up to which free memory is not queried",     \
      "not measured")                                                                             \
    X(cpu_reduce_elements, 4096,                                                                  \
      "elements that a thread adds up over the sums of all threads at a time", "not measured")    \
    X(cpu_coulomb_order, 3,                                                                       \
      "angular momentum of a class of s and p shells from which J alone is computed without "     \
      "integrals",                                                                                \
      "docs/results/2026-11-23-2aa88fb/cpu-j-alone.txt")                                          \
    X(tree_survey_pieces, 4096,                                                                   \
      "pairs of cells, shared by all threads, in which near pairs are counted", "not measured")   \
    X(screen_weight_places, 512,                                                                  \
      "nuclei at which the potential for the weight of J is evaluated: about 0.1 s for 1e5 "      \
      "nuclei",                                                                                   \
      "not measured")                                                                             \
    X(screen_weight_runs, 64,                                                                     \
      "runs of shells of one nucleus whose terms of that potential are computed together",        \
      "not measured")                                                                             \
    X(potential_points, 64, "points of a job of potentials that a thread takes at a time",        \
      "not measured")                                                                             \
    X(gpu_potential_jobs, 2048, "jobs of potentials that a GPU gets together, at most",           \
      "not measured")                                                                             \
    X(gpu_energy_jobs, 1 << 18, "jobs of interaction energies that a GPU gets together, at most", \
      "not measured")                                                                             \
    X(gpu_density_threads, 128, "threads of a block that converts densities", "not measured")     \
    X(gpu_zero_threads, 256, "threads of a block that sets memory to zero", "not measured")       \
    X(gpu_zero_rounds, 16, "words of 16 bytes that each of these threads sets", "not measured")   \
    X(gpu_finish_tile, 16, "rows and columns of the tile of J and K that a block writes",         \
      "not measured")                                                                             \
    X(gpu_bound_threads, 1024, "threads of the one block that bounds all sums under fixed",       \
      "not measured")                                                                             \
    X(gpu_add_threads, 256, "threads of a block that adds up the sums of several GPUs",           \
      "not measured")                                                                             \
    X(gpu_add_blocks, 16, "of these blocks a multiprocessor, at most", "not measured")            \
    X(gpu_eri_matrix_threads, 128,                                                                \
      "threads of a block that computes integral matrices of small molecules", "not measured")    \
    X(gpu_eri_matrix_parallel, 64, "molecules above which several threads fill in their arrays",  \
      "not measured")                                                                             \
    X(gpu_send_direct_bytes, 64 << 10,                                                            \
      "bytes of pageable memory up to which the driver copies without waiting", "not measured")   \
    X(gpu_send_slots, 12, "slots of page-locked memory for larger copies", "not measured")        \
    X(gpu_send_slot_bytes, 512 << 10, "bytes of such a slot", "not measured")                     \
    X(gpu_back_doubles, 2 << 20,                                                                  \
      "doubles of a page-locked buffer for results of potentials; allocating it takes 8 ms",      \
      "docs/results/2026-11-26-9e09e48/h100-small-pieces.txt")                                    \
    X(gpu_back_buffers, 8, "of these buffers, one for each concurrent call, at most",             \
      "not measured")                                                                             \
    X(gpu_back_parallel, 16, "arrays above which several threads copy results", "not measured")   \
    X(gpu_potential_threads, 128,                                                                 \
      "threads of a block of the kernels for lists of points and potentials", "not measured")     \
    X(gpu_potential_pieces, 16, "blocks that share the energy of a pair of distributions",        \
      "not measured")                                                                             \
    X(gpu_potential_kept_points, 2048,                                                            \
      "points of a product from which the GPU caches it and converts its potentials to matrices", \
      "docs/results/2026-11-26-4869633/h100-trials.txt")                                          \
    X(gpu_potential_made_doubles, 1 << 28,                                                        \
      "doubles of lists of points that are made together, at most", "not measured")               \
    X(gpu_potential_made, 16384, "distributions whose lists are made together, at most",          \
      "not measured")                                                                             \
    X(gpu_pair_threads, 128, "threads of a block of the kernels over all pairs", "not measured")  \
    X(gpu_pair_row_warps, 4, "warps of a block that makes rows of pairs", "not measured")         \
    X(gpu_pair_row_pieces, 16, "pieces into which the pairs of a shell are divided, at most",     \
      "not measured")                                                                             \
    X(gpu_pair_segment_threads, 64, "threads of a block that makes segments of pairs",            \
      "not measured")                                                                             \
    X(gpu_pair_lay_threads, 128, "threads of a block that puts segments in their place",          \
      "not measured")                                                                             \
    X(gpu_box_warps, 4, "warps of a block of the kernels for boxes", "not measured")              \
    X(gpu_box_chunk, 128, "undecided pairs of cells in a chunk of their list", "not measured")    \
    X(gpu_box_chunks, 6, "chunks of that list for each cell ...", "not measured")                 \
    X(gpu_box_chunks_least, 1024, "... and beside these", "not measured")                         \
    X(gpu_box_levels, 4, "levels of the tree between cells whose undecided pairs are stored",     \
      "not measured")                                                                             \
    X(gpu_box_stack, 2048, "undecided pairs of cells that a block keeps", "not measured")         \
    X(gpu_box_list, 256, "interactions of cells that a block collects before it computes them",   \
      "not measured")                                                                             \
    X(gpu_box_sample, 400, "nuclei from which auto estimates the share of close pairs, at most",  \
      "not measured")                                                                             \
    X(gpu_box_load_boxes, 64, "cells, of the highest levels, whose loads have large blocks",      \
      "not measured")                                                                             \
    X(gpu_box_load_threads_large, 1024, "threads of such a block", "not measured")                \
    X(gpu_box_load_threads_small, 64, "threads of a block for any other cell", "not measured")

/* Resident blocks of quartet kernels per multiprocessor, by class in the order of the class table:
 * the fastest choice, with few register spills except in the last class. A thread has 65536 /
 * (gpu_threads * blocks) registers. docs/results/2026-11-22-2380313/sm90-ptxas-registers.txt,
 * docs/results/2026-11-22-e7eae95/h200-rungs-32-36.txt 36. */
#define FMO_TUNING_GPU_RESIDENT 7, 5, 4, 5, 3, 2

/* The same for K of gradients, by the order of the class; not measured. */
#define FMO_TUNING_GPU_GRADIENT_RESIDENT 4, 3, 2, 2, 2

/* The same for far quartets, indexed by the order of the Boys function of the corresponding near
 * quartet. */
#define FMO_TUNING_GPU_FAR_RESIDENT 8, 6, 4, 3, 2

enum { FMO_TUNING_COUNTS(FMO_TUNING_COUNT) };
FMO_TUNING_REALS(FMO_TUNING_REAL)

#endif
